/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: rung-check on a certificate and a model, both foreign. The input is the certificate up to a NUL,
 * then the model. Where the certificate has a line `model`, the digest of the model is put there, or no change of the
 * model would ever be looked at. Whatever the verdict, it is one of three, and everything is freed.
 */
int rung_check_main(int argc, char **argv);
#define main rung_check_main
#include "../check/rung-check.c"
#undef main

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Longer inputs would only be slower. */
enum { MEMORY = 1 << 26, LONGEST = 20000 };

/* Accepted statements are printed. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return freopen("/dev/null", "w", stdout) == NULL;
}

static void insert_digest(unsigned char *text, size_t size, struct bytes model)
{
    static const char word[] = "\nmodel ";
    char digest[65];
    for (size_t i = 0; i + sizeof word - 1 + 64 < size; i++) {
        if (memcmp(text + i, word, sizeof word - 1) != 0) continue;
        sha256(digest, model.data, model.size);
        memcpy(text + i + sizeof word - 1, digest, 64);
        return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    if (!zero || size > LONGEST) return 0;
    /* Separate copies, so that AddressSanitizer sees a read beyond either end. */
    struct bytes certificate = {malloc((size_t)(zero - data) + 1), (size_t)(zero - data)};
    struct bytes model = {malloc(size), size - certificate.size - 1};
    if (!certificate.data || !model.data) abort();
    memcpy(certificate.data, data, certificate.size);
    memcpy(model.data, zero + 1, model.size);
    unsigned char *exact = realloc(model.data, model.size ? model.size : 1);
    model.data = exact ? exact : model.data;
    insert_digest(certificate.data, certificate.size, model);
    enum verdict verdict = judge(certificate, model, MEMORY);
    if (verdict != ACCEPTED && verdict != REJECTED && verdict != MALFORMED) abort();
    if (run.blocks || run.used) abort();
    free(certificate.data);
    free(model.data);
    return 0;
}
