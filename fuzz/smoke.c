/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A main for a fuzz target without libFuzzer, for the seconds in `make test`: smoke SECONDS CORPUS [ARTIFACT [SEED]].
 * It runs every file of the directory CORPUS, then mutations of them until the time is over. It has no feedback from
 * coverage (`make fuzz` has), but it needs no build of its own: it is linked with the objects of the sanitized tests.
 * The same seed gives the same inputs. When a sanitizer, abort() or TIMEOUT seconds end the process, it writes the
 * input to ARTIFACT.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>

enum { TIMEOUT = 20, SIZE_MAX_OF_INPUT = 1 << 20, MUTATIONS_MAX = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) __attribute__((weak));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
__attribute__((visibility("default"))) const char *__asan_default_options(void); /* the sanitizer looks for it */

typedef struct input {
    uint8_t *bytes;
    size_t size;
} input;

static input *corpus;
static size_t corpus_count;
static const char *artifact;
static const uint8_t *current; /* what the target is reading */
static size_t current_size;
static uint64_t rng_state;

/* abort() of a target is then a report as well, with the input kept. */
const char *__asan_default_options(void)
{
    return "handle_abort=1";
}

static void keep_input(void)
{
    if (!artifact || !current) return;
    FILE *file = fopen(artifact, "wb");
    if (!file) return;
    fwrite(current, 1, current_size, file);
    fclose(file);
    fprintf(stderr, "the input is in %s (%zu bytes)\n", artifact, current_size);
}

static void too_slow(int signal)
{
    (void)signal;
    fprintf(stderr, "an input takes more than %d s\n", TIMEOUT);
    abort();
}

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s\n", what, name);
    exit(2);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static uint64_t draw(void) /* splitmix64 */
{
    uint64_t z = rng_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t below(size_t n)
{
    return n ? (size_t)(draw() % n) : 0;
}

static void read_input(const char *path)
{
    FILE *file = fopen(path, "rb");
    input in = {malloc(SIZE_MAX_OF_INPUT), 0};
    if (!file || !in.bytes) fail("cannot read", path);
    in.size = fread(in.bytes, 1, SIZE_MAX_OF_INPUT, file);
    fclose(file);
    corpus = realloc(corpus, (corpus_count + 1) * sizeof *corpus);
    if (!corpus) fail("no memory", path);
    corpus[corpus_count++] = in;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their names, so that a seed means the same everywhere. */
static void read_corpus(const char *directory)
{
    char **names = NULL;
    size_t count = 0;
    DIR *dir = opendir(directory);
    if (!dir) fail("cannot open", directory);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        size_t bytes = strlen(directory) + strlen(entry->d_name) + 2;
        names = realloc(names, (count + 1) * sizeof *names);
        if (!names || !(names[count] = malloc(bytes))) fail("no memory", directory);
        snprintf(names[count++], bytes, "%s/%s", directory, entry->d_name);
    }
    closedir(dir);
    if (!count) fail("nothing in", directory);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        read_input(names[i]);
        free(names[i]);
    }
    free(names);
}

/* ---- mutations --------------------------------------------------------------------------------------------------- */

/* Puts `count` bytes at `at`, in place of `gone` bytes, where the result fits. */
static void replace(input *in, size_t at, size_t gone, const uint8_t *bytes, size_t count)
{
    if (in->size - gone + count > SIZE_MAX_OF_INPUT) return;
    memmove(in->bytes + at + count, in->bytes + at + gone, in->size - at - gone);
    if (count) memmove(in->bytes + at, bytes, count);
    in->size = in->size - gone + count;
}

static size_t span(size_t most) /* 1 to most, more often short */
{
    size_t n = most ? 1 + below(most) : 0;
    return n > 8 && draw() % 4 ? 1 + below(8) : n;
}

static void put_number(input *in, size_t at)
{
    static const uint64_t numbers[] = {
        0, 1, 7, 8, 127, 128, 255, 256, 32767, 65535, INT32_MAX, UINT32_MAX, UINT64_C(1) << 32, INT64_MAX, UINT64_MAX};
    uint64_t value = numbers[below(sizeof numbers / sizeof *numbers)];
    uint8_t bytes[24];
    if (draw() % 2) { /* as text */
        size_t digits = 0;
        while (at + digits < in->size && in->bytes[at + digits] >= '0' && in->bytes[at + digits] <= '9') digits++;
        int length = snprintf((char *)bytes, sizeof bytes, draw() % 4 ? "%llu" : "-%llu", (unsigned long long)value);
        replace(in, at, digits, bytes, (size_t)length);
        return;
    }
    size_t width = (size_t)1 << below(4);
    for (size_t i = 0; i < width; i++) bytes[i] = (uint8_t)(value >> 8 * i);
    replace(in, at, width < in->size - at ? width : in->size - at, bytes, width);
}

static void copy_from(input *in, size_t at, const input *other)
{
    uint8_t bytes[4096];
    size_t from = below(other->size), count = span(other->size - from);
    if (count > sizeof bytes) count = sizeof bytes;
    if (!count) return;
    memcpy(bytes, other->bytes + from, count); /* `other` may be `in` */
    size_t gone = draw() % 2 ? 0 : (count < in->size - at ? count : in->size - at);
    replace(in, at, gone, bytes, count);
}

/* Moves to the next digit half of the time: sizes are written with them. */
static size_t place(const input *in)
{
    size_t at = below(in->size + 1);
    if (draw() % 2) return at;
    for (size_t i = at; i < in->size; i++)
        if (in->bytes[i] >= '0' && in->bytes[i] <= '9') return i;
    return at;
}

static void mutate(input *in)
{
    size_t at = place(in), rest = in->size - at;
    uint8_t byte = (uint8_t)draw();
    switch (draw() % 7) {
    case 0:
        if (rest) in->bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        replace(in, at, rest ? 1 : 0, &byte, 1);
        break;
    case 2:
        replace(in, at, 0, &byte, 1);
        break;
    case 3:
        replace(in, at, span(rest), NULL, 0);
        break;
    case 4:
        put_number(in, at);
        break;
    case 5:
        copy_from(in, at, in);
        break;
    default:
        copy_from(in, at, &corpus[below(corpus_count)]);
        break;
    }
}

/* What a target's own mutator calls for a part of the input. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    static uint8_t room[SIZE_MAX_OF_INPUT];
    input part = {room, size};
    memcpy(room, data, size);
    mutate(&part);
    if (part.size > max_size) part.size = max_size;
    memcpy(data, room, part.size);
    return part.size;
}

static void mutate_input(input *in)
{
    if (LLVMFuzzerCustomMutator)
        in->size = LLVMFuzzerCustomMutator(in->bytes, in->size, SIZE_MAX_OF_INPUT, (unsigned)draw());
    else
        mutate(in);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* In a block of just its size, so that a read too far is seen. */
static void run(const input *in)
{
    uint8_t *bytes = malloc(in->size ? in->size : 1);
    if (!bytes) fail("no memory", "for an input");
    memcpy(bytes, in->bytes, in->size);
    current = bytes, current_size = in->size;
    alarm(TIMEOUT);
    (void)LLVMFuzzerTestOneInput(bytes, in->size);
    alarm(0);
    current = NULL;
    free(bytes);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc < 3) fail("usage", "smoke SECONDS CORPUS [ARTIFACT [SEED]]");
    double end = now() + atof(argv[1]);
    artifact = argc > 3 ? argv[3] : NULL;
    rng_state = argc > 4 ? strtoull(argv[4], NULL, 10) : (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
    fprintf(stderr, "seed %llu\n", (unsigned long long)rng_state);
    read_corpus(argv[2]);
    __sanitizer_set_death_callback(keep_input);
    signal(SIGALRM, too_slow);
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    for (size_t i = 0; i < corpus_count; i++) run(&corpus[i]);
    __lsan_do_leak_check();
    input in = {malloc(SIZE_MAX_OF_INPUT), 0};
    if (!in.bytes) fail("no memory", "for an input");
    size_t runs = 0;
    for (; now() < end; runs++) {
        const input *from = &corpus[below(corpus_count)];
        memcpy(in.bytes, from->bytes, in.size = from->size);
        for (size_t i = 1 + below(MUTATIONS_MAX); i > 0; i--) mutate_input(&in);
        run(&in);
    }
    fprintf(stderr, "%zu files of the corpus, %zu mutations\n", corpus_count, runs);
    for (size_t i = 0; i < corpus_count; i++) free(corpus[i].bytes);
    free(corpus);
    free(in.bytes);
    return 0;
}
