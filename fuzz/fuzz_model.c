/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: a model file. Whatever opens and is small is run, in fp32 and in bf16, in both forms; in bf16 the
 * two forms must agree on the status and on every bit. The seeds (fuzz/corpus/model) are small models of every kind.
 */
#include "rung/model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { TOKENS = 9 };

static void require(bool holds)
{
    if (!holds) abort();
}

/* Small enough for hundreds of runs a second; a state may be larger than the weights that fill it. */
static bool is_small(const rung_model *model)
{
    const rung_arch *arch = rung_model_get_arch(model);
    size_t state = 0;
    if (rung_model_parameters(model) > 20000 || arch->layer_count > 16) return false;
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            size_t one = rung_mech_state_capacity(conf, TOKENS), scratch = conf->mech->scratch(conf, TOKENS);
            if (one > 100000 || scratch > 1000000) return false;
            state += one;
        }
    return state <= 200000;
}

/* Read-outs at the first and at the last token. */
static rung_status run(double *out, const rung_program *program, const rung_model_spec *spec, rung_form form)
{
    uint32_t token[TOKENS];
    rung_session *session = NULL;
    rung_error err = {""};
    const size_t at[] = {0, TOKENS - 1};
    float *feature = calloc(TOKENS * spec->d_in + 1, sizeof *feature);
    require(feature != NULL);
    for (size_t t = 0; t < TOKENS; t++) token[t] = spec->vocab ? (uint32_t)(t * 5 % spec->vocab) : 0;
    for (size_t i = 0; i < TOKENS * spec->d_in; i++) feature[i] = (float)((i * 37 % 19) / 8.0 - 1);
    require(rung_session_new(&session, program, TOKENS, &err) == RUNG_OK);
    rung_prompt prompt = {
        .token = spec->vocab ? token : NULL, .feature = spec->vocab ? NULL : feature, .tokens = TOKENS};
    rung_status status = rung_session_run(session, out, &prompt, form, at, 2, &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    require(status == RUNG_OK || status == RUNG_INPUT);
    if (status == RUNG_OK) {
        uint8_t *packed = calloc((size_t)rung_session_state_bits(session) / 8 + 1, 1);
        require(packed != NULL && rung_session_pack(session, packed, &err) == RUNG_OK);
        free(packed);
    }
    rung_session_free(session);
    free(feature);
    return status;
}

static void run_both_forms(const rung_model *model, const rung_fmt *numbers)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    rung_program *program = NULL;
    rung_error err = {""};
    rung_status status = rung_program_new(&program, model, &(rung_evaluator){.numbers = numbers, .threads = 1}, &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    require(status == RUNG_OK || status == RUNG_INPUT);
    if (status != RUNG_OK) return;
    size_t count = 2 * spec->answers;
    double *scan = calloc(count, sizeof *scan), *step = calloc(count, sizeof *step);
    require(scan && step);
    rung_status of_scan = run(scan, program, spec, RUNG_FORM_SCAN), of_step = run(step, program, spec, RUNG_FORM_STEP);
    if (numbers) require(of_scan == of_step);
    if (numbers && of_scan == RUNG_OK) require(memcmp(scan, step, count * sizeof *scan) == 0);
    free(scan), free(step);
    rung_program_free(program);
}

/* The first 8 bytes of a file are the length of its header, little endian. */
static size_t header_length(const uint8_t *data, size_t size)
{
    uint64_t length = 0;
    for (size_t i = 0; size >= 8 && i < 8; i++) length |= (uint64_t)data[i] << 8 * i;
    return length <= size - 8 && size >= 8 ? (size_t)length : 0;
}

/* Half of the time changes only the header and corrects its length. Otherwise the reader would refuse every change of
 * the header. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t length = header_length(data, size), room = max_size - size + length;
    if (length == 0 || max_size <= size || seed % 2) return LLVMFuzzerMutate(data, size, max_size);
    uint8_t *header = malloc(room), *rest = malloc(size);
    require(header && rest);
    memcpy(header, data + 8, length), memcpy(rest, data + 8 + length, size - 8 - length);
    size_t changed = LLVMFuzzerMutate(header, length, room), rest_size = size - 8 - length;
    for (size_t i = 0; i < 8; i++) data[i] = (uint8_t)((uint64_t)changed >> 8 * i);
    memcpy(data + 8, header, changed), memcpy(data + 8 + changed, rest, rest_size);
    free(header), free(rest);
    return 8 + changed + rest_size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rung_fmt bf16;
    rung_model *model = NULL;
    rung_error err = {""};
    if (!bf16.bits) require(rung_fmt_parse(&bf16, "bf16", &err) == RUNG_OK);
    rung_status status = rung_model_open_bytes(&model, data, size, "fuzz", &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    if (status != RUNG_OK) {
        require(status == RUNG_INPUT);
        return 0;
    }
    if (is_small(model)) {
        run_both_forms(model, NULL);
        run_both_forms(model, &bf16);
    }
    rung_model_close(model);
    return 0;
}
