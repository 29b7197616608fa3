/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * How the cost of each mechanism grows: time per token of the fast scan at rising lengths, as ratios in one run, and
 * the numbers that it needs per token. Fails when a recurrent mechanism does not stay constant, log-linear grows faster
 * than its logarithm, sparse attention faster than n/B + kB, or memory faster than the tokens.
 */
#include "rung/mech.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The lengths that are compared. Quadratic mechanisms would take too long at the lengths of the others. Log-linear
 * attention needs several levels above its chunks to show its logarithm. */
enum { HEADS = 1, DIM = 32, SHORT = 2048, LONG = 16384, SHORT_LINEAR = 512, LONG_LINEAR = 4096, REPEATS = 5 };

/* The predicted growth of the time per token with the length n. */
typedef enum growth { CONSTANT, LOGARITHM, BLOCKS, LINEAR } growth;

typedef struct bench_case {
    const char *name, *word;
    growth growth;
} bench_case;

static const bench_case cases[] = {
    {"full", NULL, LINEAR},
    {"window", "W=64", CONSTANT},
    {"linear", NULL, CONSTANT},
    {"retnet", NULL, CONSTANT},
    {"gla", NULL, CONSTANT},
    {"mamba2", NULL, CONSTANT},
    {"delta", NULL, CONSTANT},
    {"gdelta", NULL, CONSTANT},
    {"kda", NULL, CONSTANT},
    {"mamba", NULL, CONSTANT},
    {"rwkv7", NULL, CONSTANT},
    {"rnn", "kind=tanh", CONSTANT},
    {"rnn", "kind=lstm", CONSTANT},
    {"loglinear", "base=linear", LOGARITHM},
    {"loglinear", "base=mamba2", LOGARITHM},
    {"loglinear", "base=gdelta", LOGARITHM},
    {"sparse", "B=32", BLOCKS},
    {"dsa", NULL, LINEAR},
};

static const char *const growth_words[] = {"1", "log n", "n/B + kB", "n"};

static double expected_ratio(growth g)
{
    double n0 = g == LINEAR ? SHORT_LINEAR : SHORT, n1 = g == LINEAR ? LONG_LINEAR : LONG, B = 32, k = 4;
    if (g == LOGARITHM) return log2(n1) / log2(n0);
    if (g == BLOCKS) return (n1 / B + k * B) / (n0 / B + k * B);
    return g == LINEAR ? n1 / n0 : 1;
}

static void fill(float *x, size_t count, const rung_mech_input *input, rung_rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        double z = 0.3 * rung_rng_normal(rng);
        if (input->source == RUNG_FROM_GATE || input->source == RUNG_FROM_KEEP) z = rung_rng_unit(rng);
        if (input->source == RUNG_FROM_DECAY || input->source == RUNG_FROM_LOG_GATE || input->source == RUNG_FROM_RATE)
            /* slow decay, because otherwise the oldest states would be subnormal numbers */
            z = -1e-4 * rung_rng_unit(rng);
        if (input->source == RUNG_FROM_SOFTPLUS) z = 0.1 * rung_rng_unit(rng);
        if (strcmp(input->name, "A") == 0) z = -1 - rung_rng_unit(rng);
        x[i] = (float)z;
    }
}

/* One mechanism at one length, ready to run. */
typedef struct subject {
    rung_stretch_f32 s;
    rung_arena arena;
    size_t state;
    double numbers; /* held per token: inputs, state, scratch */
    double seconds; /* per token, the best so far */
} subject;

static float *take(subject *it, size_t count)
{
    rung_error err = {{0}};
    float *x = rung_arena_alloc(&it->arena, count, sizeof *x, &err);
    if (!x) {
        fprintf(stderr, "%s\n", err.text);
        exit(RUNG_SYSTEM);
    }
    it->numbers += (double)count / (double)it->s.tokens;
    return x;
}

static void prepare(subject *it, const rung_mech_conf *conf, size_t tokens)
{
    rung_rng rng;
    rung_rng_init(&rng, 1, 2, tokens);
    *it = (subject){.s = {.conf = conf, .tokens = tokens, .scratch_size = conf->mech->scratch(conf, tokens)},
                    .state = rung_mech_state_capacity(conf, tokens),
                    .seconds = INFINITY};
    rung_arena_init(&it->arena);
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        const rung_mech_input *input = &conf->mech->inputs[i];
        size_t count = rung_mech_row(input, conf) * (rung_mech_is_constant(input) ? 1 : tokens);
        if (count == 0) continue;
        float *x = take(it, count);
        fill(x, count, input, &rng);
        it->s.in[i] = x;
    }
    it->s.o = take(it, tokens * conf->heads * conf->dv);
    it->s.state = take(it, it->state);
    it->s.scratch = take(it, it->s.scratch_size);
}

/* CPU time of this process, so that other programs on the machine do not count. */
static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_once(subject *it)
{
    memset(it->s.state, 0, it->state * sizeof *it->s.state);
    double start = cpu_s();
    rung_stretch_scan_f32(&it->s, 1);
    it->seconds = fmin(it->seconds, (cpu_s() - start) / (double)it->s.tokens);
}

/* Runs both lengths in turns, so that a busy machine slows down both. The short one runs as often as the ratio of the
 * lengths. */
static void compare(subject *at_short, subject *at_long)
{
    for (int r = 0; r < REPEATS; r++) {
        for (size_t i = 0; i < at_long->s.tokens / at_short->s.tokens; i++) run_once(at_short);
        run_once(at_long);
    }
}

int main(void)
{
    int failures = 0;
    printf("fast scan, one head, dk = dv = %d, one thread\n%-24s %10s %10s %8s %10s %10s\n", DIM, "mechanism",
           "us/token", "us/token", "ratio", "theory", "numbers");
    printf("%-24s %10d %10d %8s %10s %10s\n", "tokens", SHORT, LONG, "", "", "per token");
    printf("%-24s %10d %10d\n", "tokens (theory n)", SHORT_LINEAR, LONG_LINEAR);
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        char label[48];
        rung_error err = {{0}};
        rung_mech_conf conf = {
            .mech = rung_mech_get(cases[i].name), .heads = HEADS, .dk = DIM, .dv = DIM, .causal = true};
        if (!conf.mech) continue;
        rung_param_defaults(conf.params, conf.mech->params);
        if (cases[i].word && rung_param_set(conf.params, conf.mech->params, cases[i].word, cases[i].name, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return RUNG_USAGE;
        }
        bool linear = cases[i].growth == LINEAR;
        subject at_short, at_long;
        prepare(&at_short, &conf, linear ? SHORT_LINEAR : SHORT);
        prepare(&at_long, &conf, linear ? LONG_LINEAR : LONG);
        compare(&at_short, &at_long);
        double ratio = at_long.seconds / at_short.seconds, theory = expected_ratio(cases[i].growth);
        bool slow = ratio > 1.6 * theory, fat = at_long.numbers > 1.1 * at_short.numbers;
        snprintf(label, sizeof label, "%s%s%s", cases[i].name, cases[i].word ? " " : "",
                 cases[i].word ? cases[i].word : "");
        printf("%-24s %10.3f %10.3f %8.2f %10s %10.1f%s%s\n", label, 1e6 * at_short.seconds, 1e6 * at_long.seconds,
               ratio, growth_words[cases[i].growth], at_long.numbers, slow ? "  grows too fast" : "",
               fat ? "  memory grows too fast" : "");
        failures += slow || fat;
        rung_arena_clear(&at_short.arena);
        rung_arena_clear(&at_long.arena);
    }
    return failures ? 1 : 0;
}
