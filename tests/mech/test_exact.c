/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The exact evaluator has two forms of every mechanism, one readable and one vectorised, and they must give the same
 * bits: outputs and state, in every format, on every instruction set, wherever a scan is cut, and with infinities and
 * NaN in the inputs.
 */
#include "mech_test.h"

static const char *const named_formats[] = {"f64",    "f32",    "bf16", "f16",  "e4m3", "e5m2",
                                            "e11m25", "e10m25", "e2m1", "q6.9", "q0.7", "q20.30"};
enum { NAMED = sizeof named_formats / sizeof named_formats[0], RANDOM_FORMATS = 10, FORMATS = NAMED + RANDOM_FORMATS };

static rung_fmt format_at(size_t index)
{
    rung_fmt fmt;
    rung_error err = {""};
    char name[32];
    rung_rng rng;
    rung_rng_init(&rng, 11, index, 0);
    snprintf(name, sizeof name, "e%dm%d", 2 + (int)rung_rng_below(&rng, 10), 1 + (int)rung_rng_below(&rng, 25));
    if (rung_fmt_parse(&fmt, index < NAMED ? named_formats[index] : name, &err) != RUNG_OK) fail_msg("%s", err.text);
    return fmt;
}

typedef struct pair {
    size_t outputs, elements;
    double *o[2], *state[2]; /* step, scan */
} pair;

static pair new_pair(const rung_mech_conf *conf, size_t tokens)
{
    pair p = {.outputs = tokens * conf->heads * conf->dv, .elements = rung_mech_state_elements(conf, tokens)};
    for (int i = 0; i < 2; i++) {
        p.o[i] = mech_alloc(p.outputs, sizeof(double));
        p.state[i] = mech_alloc_state(conf, tokens, sizeof(double));
    }
    return p;
}

static void free_pair(pair *p)
{
    for (int i = 0; i < 2; i++) free(p->o[i]), free(p->state[i]);
}

/* A scan in `parts` pieces of random size, on one instruction set. */
static void scan_in_parts(pair *p, const mech_inputs *in, const rung_mech_conf *conf, const rung_fmt *fmt, size_t parts,
                          rung_rng *rng)
{
    memset(p->state[1], 0, p->elements * sizeof(double));
    for (size_t i = 0; i < p->outputs; i++) p->o[1][i] = 0x1.23p99; /* no output of any format below */
    for (size_t done = 0; done < in->tokens;) {
        size_t left = in->tokens - done, count = parts-- > 1 ? 1 + (size_t)rung_rng_below(rng, left) : left;
        scan_exact(p->o[1] + done * conf->heads * conf->dv, p->state[1], in, done, count, conf, fmt);
        done += count;
    }
}

static void assert_forms_agree(const mech_inputs *in, const rung_mech_conf *conf, const rung_fmt *fmt, rung_rng *rng)
{
    pair p = new_pair(conf, in->tokens);
    char what[64];
    step_exact(p.o[0], p.state[0], in, 0, in->tokens, conf, fmt);
    unsetenv("RUNG_ISA"), rung_cpu_forget();
    for (int isa = (int)rung_cpu_isa(); isa >= RUNG_ISA_REF; isa--) {
        assert_int_equal(setenv("RUNG_ISA", rung_isa_name((rung_isa)isa), 1), 0);
        rung_cpu_forget();
        assert_string_equal(rung_num_kernels_get()->name, rung_isa_name((rung_isa)isa));
        for (size_t parts = 1; parts <= (conf->causal ? 4 : 1); parts += 3) {
            scan_in_parts(&p, in, conf, fmt, parts, rng);
            snprintf(what, sizeof what, "scan, %s, %s, %zu parts,", fmt->name, rung_isa_name((rung_isa)isa), parts);
            assert_same_numbers(p.o[1], p.o[0], p.outputs, conf, what);
            snprintf(what, sizeof what, "state, %s, %s, %zu parts,", fmt->name, rung_isa_name((rung_isa)isa), parts);
            assert_same_numbers(p.state[1], p.state[0], p.elements, conf, what);
        }
        unsetenv("RUNG_ISA"), rung_cpu_forget();
    }
    free_pair(&p);
}

static void assert_all_are_values(const mech_inputs *in, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    pair p = new_pair(conf, in->tokens);
    step_exact(p.o[0], p.state[0], in, 0, in->tokens, conf, fmt);
    for (size_t i = 0; i < p.outputs; i++)
        if (!isnan(p.o[0][i])) assert_true(rung_num_is_value(fmt, p.o[0][i]));
    for (size_t i = 0; i < p.elements; i++)
        if (!isnan(p.state[0][i])) assert_true(rung_num_is_value(fmt, p.state[0][i]));
    free_pair(&p);
}

static void step_and_scan_give_the_same_bits(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 20, 63, 64, 65, 70, 130};
    rung_rng rng;
    rung_rng_init(&rng, 3, 0, 0);
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (size_t f = 0; f < FORMATS; f++)
            for (int causal = !mech_allows(&mech_cases[c], false); causal < 2; causal++) {
                if ((c + f) % effort(1, 3) != 0) continue; /* each format with a third of the mechanisms */
                rung_fmt fmt = format_at(f);
                size_t heads = 1 + (size_t)rung_rng_below(&rng, 3), dk = 1 + (size_t)rung_rng_below(&rng, 5);
                size_t dv = 1 + (size_t)rung_rng_below(&rng, 9);
                size_t tokens = lengths[rung_rng_below(&rng, RUNG_COUNT(lengths))];
                rung_mech_conf conf = mech_conf(&mech_cases[c], heads, dk, dv, causal);
                mech_inputs in = draw_inputs(&conf, tokens, false, 100 * c + f);
                round_inputs(&in, &fmt);
                assert_forms_agree(&in, &conf, &fmt, &rng);
                assert_all_are_values(&in, &conf, &fmt);
                free_inputs(&in);
            }
}

/* Heads wider than the 64 numbers that lanes are copied to at a time. */
static void wide_heads_give_the_same_bits(void **state)
{
    (void)state;
    rung_rng rng;
    rung_fmt fmt = format_at(2);
    rung_rng_init(&rng, 6, 0, 0);
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++) {
        rung_mech_conf conf =
            mech_conf(&mech_cases[c], 1, strcmp(mech_cases[c].name, "linear") == 0 ? 70 : 7, 131, true);
        mech_inputs in = draw_inputs(&conf, 3, false, c);
        round_inputs(&in, &fmt);
        assert_forms_agree(&in, &conf, &fmt, &rng);
        free_inputs(&in);
    }
}

/* Blocks of 64 queries: one key more or less than a block, and windows that start inside one. */
static void block_edges_of_the_softmax_scan(void **state)
{
    (void)state;
    rung_rng rng;
    rung_fmt fmt = format_at(2);
    rung_rng_init(&rng, 4, 0, 0);
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (size_t tokens = 62; tokens <= 130; tokens += tokens == 66 ? 61 : 1)
            for (int causal = !mech_allows(&mech_cases[c], false); causal < 2; causal++) {
                rung_mech_conf conf = mech_conf(&mech_cases[c], 1, 2, 1, causal);
                mech_inputs in = draw_inputs(&conf, tokens, false, tokens);
                round_inputs(&in, &fmt);
                assert_forms_agree(&in, &conf, &fmt, &rng);
                free_inputs(&in);
            }
}

static void put_somewhere(mech_inputs *in, double value, rung_rng *rng)
{
    size_t input;
    do input = (size_t)rung_rng_below(rng, in->count);
    while (in->rows[input] == 0);
    in->x[input][rung_rng_below(rng, in->rows[input] * in->row[input])] = value;
}

static void infinities_and_nan_take_the_same_way_in_both_forms(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY, -0.0};
    rung_rng rng;
    rung_rng_init(&rng, 5, 0, 0);
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (size_t f = 0; f < FORMATS; f++)
            for (int causal = !mech_allows(&mech_cases[c], false); causal < 2; causal++) {
                rung_fmt fmt = format_at(f);
                rung_mech_conf conf = mech_conf(&mech_cases[c], 2, 2, 3, causal);
                mech_inputs in = draw_inputs(&conf, 12, false, f);
                round_inputs(&in, &fmt);
                for (int i = 0; i < 3; i++) {
                    double value = bad[rung_rng_below(&rng, RUNG_COUNT(bad))];
                    put_somewhere(&in, fmt.kind == RUNG_FMT_FIXED ? NAN : value, &rng);
                }
                assert_forms_agree(&in, &conf, &fmt, &rng);
                free_inputs(&in);
            }
}

/* A NaN marks an error: it may not vanish. In a query it must fill that head's output; in a key or value it must
 * reach what the token's own query reads, in this head and in no other. Both evaluators. */
static void a_nan_reaches_the_outputs_of_its_head_and_no_other(void **state)
{
    (void)state;
    enum { T = 6, BAD = 3, H = 2, D = 2 };
    rung_fmt fmt = format_at(1);
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (size_t input = 0; input < rung_mech_inputs(rung_mech_get(mech_cases[c].name)); input++) {
            rung_mech_conf conf = mech_conf(&mech_cases[c], H, D, D, true);
            size_t each = rung_mech_row(&conf.mech->inputs[input], &conf) / H;
            if (each == 0 || rung_mech_is_constant(&conf.mech->inputs[input]) || mech_selects(&mech_cases[c])) continue;
            mech_inputs in = draw_inputs(&conf, T, true, c);
            in.x[input][(BAD * H + 1) * each] = NAN, in.f[input][(BAD * H + 1) * each] = NAN;
            pair p = new_pair(&conf, T);
            float *o = mech_alloc(p.outputs, sizeof *o), *s = mech_alloc_state(&conf, T, sizeof *s);
            step_exact(p.o[0], p.state[0], &in, 0, T, &conf, &fmt);
            scan_f32(o, s, &in, 0, T, &conf);
            for (size_t i = 0; i < T * H * D; i++) {
                size_t t = i / (H * D), h = i / D % H;
                rung_mech_dim dim = conf.mech->inputs[input].dim;
                bool may = h == 1 && t >= BAD, value_only = dim == RUNG_DIM_VALUE || dim == RUNG_DIM_FOUR_VALUES;
                bool must = h == 1 && t == BAD && (!value_only || i % D == 0);
                if ((isnan(p.o[0][i]) && !may) || (!isnan(p.o[0][i]) && must) || isnan(o[i]) != isnan(p.o[0][i]))
                    fail_msg("%s %s, NaN in %s: output %zu is %g exact and %g fast", mech_cases[c].name,
                             mech_cases[c].words, conf.mech->inputs[input].name, i, p.o[0][i], (double)o[i]);
            }
            free(o), free(s), free_pair(&p), free_inputs(&in);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_and_scan_give_the_same_bits),
        cmocka_unit_test(wide_heads_give_the_same_bits),
        cmocka_unit_test(block_edges_of_the_softmax_scan),
        cmocka_unit_test(infinities_and_nan_take_the_same_way_in_both_forms),
        cmocka_unit_test(a_nan_reaches_the_outputs_of_its_head_and_no_other),
    };
    return cmocka_run_group_tests_name("mech: exact", tests, NULL, NULL);
}
