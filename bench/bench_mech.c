/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * How the cost of each mechanism grows: time per token of the fast scan at rising lengths, as ratios in one run, and the
 * numbers that it needs per token. Fails when a recurrent mechanism does not stay constant, log-linear grows faster
 * than its logarithm, sparse attention faster than n/B + kB, or memory faster than the tokens.
 */
#include "rung/mech.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lengths that are compared: quadratic mechanisms would take too long at the others' lengths, and log-linear attention
 * needs several levels above its chunks to show its logarithm. */
enum { HEADS = 1, DIM = 32, SHORT = 2048, LONG = 16384, SHORT_LINEAR = 512, LONG_LINEAR = 4096, REPEATS = 5 };

/* What theory says of the time of one token at length n. */
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
            z = -0.1 * rung_rng_unit(rng);
        if (input->source == RUNG_FROM_SOFTPLUS) z = 0.1 * rung_rng_unit(rng);
        if (strcmp(input->name, "A") == 0) z = -1 - rung_rng_unit(rng);
        x[i] = (float)z;
    }
}

/* Seconds per token, best of several, and numbers held per token. */
typedef struct cost {
    double seconds, numbers;
} cost;

static cost measure(const rung_mech_conf *conf, size_t tokens)
{
    rung_arena arena;
    rung_rng rng;
    rung_error err = {{0}};
    rung_stretch_f32 s = {.conf = conf, .tokens = tokens, .scratch_size = conf->mech->scratch(conf, tokens)};
    size_t state = rung_mech_state_capacity(conf, tokens);
    cost best = {INFINITY, (double)(s.scratch_size + state) / (double)tokens};
    rung_arena_init(&arena);
    rung_rng_init(&rng, 1, 2, tokens);
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        const rung_mech_input *input = &conf->mech->inputs[i];
        size_t count = rung_mech_row(input, conf) * (rung_mech_is_constant(input) ? 1 : tokens);
        if (count == 0) continue;
        float *x = rung_arena_alloc(&arena, count, sizeof *x, &err);
        if (!x) exit(RUNG_SYSTEM);
        fill(x, count, input, &rng);
        s.in[i] = x;
        best.numbers += (double)count / (double)tokens;
    }
    s.o = rung_arena_alloc(&arena, tokens * conf->heads * conf->dv, sizeof *s.o, &err);
    s.state = rung_arena_alloc(&arena, state, sizeof *s.state, &err);
    s.scratch = rung_arena_alloc(&arena, s.scratch_size, sizeof *s.scratch, &err);
    if (!s.o || !s.state || !s.scratch) exit(RUNG_SYSTEM);
    for (int r = 0; r < REPEATS; r++) {
        memset(s.state, 0, state * sizeof *s.state);
        double start = rung_wall_s();
        rung_stretch_scan_f32(&s, 1);
        best.seconds = fmin(best.seconds, (rung_wall_s() - start) / (double)tokens);
    }
    rung_arena_clear(&arena);
    return best;
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
        cost at_short = measure(&conf, linear ? SHORT_LINEAR : SHORT),
             at_long = measure(&conf, linear ? LONG_LINEAR : LONG);
        double ratio = at_long.seconds / at_short.seconds, theory = expected_ratio(cases[i].growth);
        bool slow = ratio > 1.6 * theory, fat = at_long.numbers > 1.1 * at_short.numbers;
        snprintf(label, sizeof label, "%s%s%s", cases[i].name, cases[i].word ? " " : "",
                 cases[i].word ? cases[i].word : "");
        printf("%-24s %10.3f %10.3f %8.2f %10s %10.1f%s%s\n", label, 1e6 * at_short.seconds, 1e6 * at_long.seconds,
               ratio, growth_words[cases[i].growth], at_long.numbers, slow ? "  grows too fast" : "",
               fat ? "  memory grows too fast" : "");
        failures += slow || fat;
    }
    return failures ? 1 : 0;
}
