/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The three orders of the exact softmax against a second way: docs/numbers.md written down over the scalar operations,
 * one query at a time, from a list of the keys that it sees. Step and scan form, every instruction set, scans in parts,
 * chosen queries, formats of every route, and numbers at the edges: zeros of both signs, subnormals, infinities, NaN.
 */
#include "mech_test.h"

typedef struct problem {
    rung_mech_conf conf;
    rung_fmt fmt;
    mech_inputs in;
    double *want; /* [tokens][H][dv] */
} problem;

/* ---- the second way ------------------------------------------------------------------------------------------------ */

static bool sees(const rung_mech_conf *conf, size_t t, size_t j)
{
    size_t window = mech_is(conf, "window") ? (size_t)rung_mech_param(conf, "W") : SIZE_MAX;
    size_t distance = t > j ? t - j : j - t;
    return distance < window && (!conf->causal || j <= t);
}

static double score_of(const problem *p, size_t t, size_t j, size_t h)
{
    const double *q = p->in.x[0] + (t * p->conf.heads + h) * p->conf.dk;
    const double *k = p->in.x[1] + (j * p->conf.heads + h) * p->conf.dk;
    double sum = 0;
    for (size_t i = 0; i < p->conf.dk; i++) sum = rung_num_add(&p->fmt, sum, rung_num_mul(&p->fmt, q[i], k[i]));
    return sum;
}

static double exp_of(const rung_fmt *fmt, double a, double b)
{
    return rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, a, b));
}

/* One coordinate of one query: den is computed once per coordinate, which costs time and no thought. */
static double coordinate(const problem *p, const size_t *key, const double *score, size_t keys, size_t h, size_t i)
{
    const rung_fmt *fmt = &p->fmt;
    double m = fmt->kind == RUNG_FMT_FIXED ? fmt->smallest : -INFINITY, den = 0, num = 0;
    bool two_pass = p->conf.softmax == RUNG_SOFTMAX_TWO_PASS;
    for (size_t j = 0; two_pass && j < keys; j++)
        if (score[j] > m) m = score[j];
    for (size_t n = 0; n < keys; n++) {
        size_t j = p->conf.softmax == RUNG_SOFTMAX_REVERSE ? keys - 1 - n : n;
        double v = p->in.x[2][(key[j] * p->conf.heads + h) * p->conf.dv + i];
        if (!two_pass) {
            double higher = score[j] > m ? score[j] : m, a = exp_of(fmt, m, higher);
            den = rung_num_mul(fmt, den, a), num = rung_num_mul(fmt, num, a), m = higher;
        }
        double e = exp_of(fmt, score[j], m);
        den = rung_num_add(fmt, den, e), num = rung_num_add(fmt, num, rung_num_mul(fmt, e, v));
    }
    return rung_num_div(fmt, num, den);
}

static void solve(problem *p)
{
    size_t T = p->in.tokens, H = p->conf.heads, dv = p->conf.dv, *key = mech_alloc(T, sizeof *key);
    double *score = mech_alloc(T, sizeof *score);
    p->want = mech_alloc(T * H * dv, sizeof *p->want);
    for (size_t t = 0; t < T; t++)
        for (size_t h = 0; h < H; h++) {
            size_t keys = 0;
            for (size_t j = 0; j < T; j++)
                if (sees(&p->conf, t, j)) key[keys] = j, score[keys++] = score_of(p, t, j, h);
            for (size_t i = 0; i < dv; i++) p->want[(t * H + h) * dv + i] = coordinate(p, key, score, keys, h, i);
        }
    free(key), free(score);
}

/* ---- what is compared ---------------------------------------------------------------------------------------------- */

static void assert_outputs(const problem *p, const double *got, const char *what)
{
    char text[128];
    snprintf(text, sizeof text, "%s in %s, softmax %s", what, p->fmt.name, rung_softmax_names[p->conf.softmax]);
    assert_same_numbers(got, p->want, p->in.tokens * p->conf.heads * p->conf.dv, &p->conf, text);
}

static void assert_asked(const problem *p, rung_rng *rng)
{
    size_t T = p->in.tokens, row = p->conf.heads * p->conf.dv, asked = 0, *at = mech_alloc(T, sizeof *at);
    uint64_t rare = 1 + rung_rng_below(rng, 8);
    for (size_t t = 0; t < T; t++)
        if (t + 1 == T || rung_rng_below(rng, rare) == 0) at[asked++] = t;
    double *o = mech_alloc(T * row, sizeof *o), *state = mech_alloc_state(&p->conf, T, sizeof *state);
    double *scratch = mech_alloc_scratch(&p->conf, T, sizeof *scratch);
    const double *in[RUNG_MECH_INPUT_MAX];
    inputs_at_exact(in, &p->in, 0);
    size_t half = asked / 2;
    for (size_t h = 0; h < p->conf.heads; h++) {
        p->conf.mech->ask_exact(o, state, in, 0, T, at, half, asked - half, h, &p->conf, &p->fmt, scratch);
        p->conf.mech->ask_exact(o, state, in, 0, T, at, 0, half, h, &p->conf, &p->fmt, scratch);
    }
    for (size_t i = 0; i < asked; i++)
        assert_same_numbers(o + i * row, p->want + at[i] * row, row, &p->conf, "asked query");
    free(at), free(o), free(state), free(scratch);
}

static void assert_scans(const problem *p, rung_rng *rng)
{
    size_t T = p->in.tokens, row = p->conf.heads * p->conf.dv;
    double *o = mech_alloc(T * row, sizeof *o);
    for (int parts = 1; parts <= (p->conf.causal ? 2 : 1); parts++) {
        double *state = mech_alloc_state(&p->conf, T, sizeof *state);
        size_t cut = parts == 1 ? T : (size_t)rung_rng_below(rng, T);
        if (cut > 0) scan_exact(o, state, &p->in, 0, cut, &p->conf, &p->fmt);
        if (cut < T) scan_exact(o + cut * row, state, &p->in, cut, T - cut, &p->conf, &p->fmt);
        assert_outputs(p, o, parts == 1 ? "scan" : "scan in two parts");
        free(state);
    }
    free(o);
}

static void assert_all_ways(problem *p, rung_rng *rng)
{
    size_t T = p->in.tokens;
    double *o = mech_alloc(T * p->conf.heads * p->conf.dv, sizeof *o);
    double *state = mech_alloc_state(&p->conf, T, sizeof *state);
    solve(p);
    step_exact(o, state, &p->in, 0, T, &p->conf, &p->fmt);
    assert_outputs(p, o, "step");
    unsetenv("RUNG_ISA"), rung_cpu_forget();
    for (int isa = (int)rung_cpu_isa(); isa >= RUNG_ISA_REF; isa--) {
        assert_int_equal(setenv("RUNG_ISA", rung_isa_name((rung_isa)isa), 1), 0);
        rung_cpu_forget();
        assert_scans(p, rng);
        assert_asked(p, rng);
        unsetenv("RUNG_ISA"), rung_cpu_forget();
    }
    free(o), free(state), free(p->want);
}

/* ---- problems ------------------------------------------------------------------------------------------------------- */

static const char *const formats[] = {"f64",   "f32",   "bf16",   "f16",    "e8m10", "e8m1",  "e7m10",
                                      "e7m3",  "e5m2",  "e4m3",   "e3m4",   "e2m1",  "e9m5",  "e8m11",
                                      "e8m25", "e4m20", "e10m25", "e11m25", "e11m3", "q3.12", "q6.20",
                                      "q0.7",  "q1.1",  "q13.13", "q20.30", "q4.44", "q2.46"};
static const mech_case cases[] = {{"full", ""},       {"window", "W=1"},  {"window", "W=3"},
                                  {"window", "W=17"}, {"window", "W=64"}, {"window", "W=100"}};

static rung_fmt format_named(const char *name)
{
    rung_fmt fmt;
    rung_error err = {""};
    if (rung_fmt_parse(&fmt, name, &err) != RUNG_OK) fail_msg("%s", err.text);
    return fmt;
}

/* Ordinary numbers; so large that scores overflow; as large as just fits; so small that products underflow; sharp scores;
 * values that are small or zeros of either sign under sharp scores, where a -0 can come out; odd numbers. */
typedef enum flavour { ORDINARY, LARGE, FULL_RANGE, TINY, SHARP, SIGNS, EDGES, FLAVOURS } flavour;

static double odd_number(const rung_fmt *fmt, rung_rng *rng)
{
    const double odd[] = {0.0, -0.0, fmt->largest, -fmt->largest, fmt->spacing, -fmt->spacing, fmt->least_normal,
                          1,   -1};
    const double bad[] = {INFINITY, -INFINITY, NAN};
    if (fmt->kind == RUNG_FMT_FLOAT && rung_rng_below(rng, 60) == 0) return bad[rung_rng_below(rng, 3)];
    return rung_num_round(fmt, odd[rung_rng_below(rng, RUNG_COUNT(odd))]);
}

static double signed_speck(const rung_fmt *fmt, rung_rng *rng)
{
    const double specks[] = {-0.0, -0.0, 0.0, -fmt->spacing, -8 * fmt->spacing, fmt->spacing};
    return specks[rung_rng_below(rng, RUNG_COUNT(specks))];
}

static void flavour_inputs(problem *p, flavour taste, rung_rng *rng)
{
    double reach = p->fmt.kind == RUNG_FMT_FIXED ? p->fmt.integer_bits : ilogb(p->fmt.largest);
    for (size_t i = 0; i < p->in.count; i++)
        for (size_t e = 0; e < p->in.rows[i] * p->in.row[i]; e++) {
            double *x = &p->in.x[i][e];
            if (taste == LARGE) *x *= exp2(reach * (0.3 + 0.3 * rung_rng_unit(rng)));
            if (taste == FULL_RANGE) *x *= exp2(i == 2 ? reach - 4 : (reach - 3) / 2);
            if (taste == TINY) *x *= exp2(-reach * rung_rng_unit(rng));
            if ((taste == SHARP || taste == SIGNS) && i < 2) *x *= 8;
            if (taste == SIGNS && i == 2) *x = signed_speck(&p->fmt, rng);
            *x = rung_num_round(&p->fmt, *x);
            if (taste == EDGES && rung_rng_below(rng, 4) == 0) *x = odd_number(&p->fmt, rng);
        }
}

static void try(const mech_case *c, const char *format, size_t T, size_t heads, size_t dk, size_t dv, bool causal,
                flavour taste, rung_rng *rng)
{
    problem p = {.conf = mech_conf(c, heads, dk, dv, causal), .fmt = format_named(format)};
    p.in = draw_inputs(&p.conf, T, true, rung_rng_below(rng, 1u << 30));
    flavour_inputs(&p, taste, rng);
    for (p.conf.softmax = RUNG_SOFTMAX_ONLINE; p.conf.softmax <= RUNG_SOFTMAX_REVERSE; p.conf.softmax++)
        assert_all_ways(&p, rng);
    free_inputs(&p.in);
}

static void every_order_in_every_format_and_form(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 21, 0, 0);
    for (size_t round = 0; round < effort(4, 1); round++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++)
            for (flavour taste = ORDINARY; taste < FLAVOURS; taste++) {
                const mech_case *c = &cases[rung_rng_below(&rng, RUNG_COUNT(cases))];
                size_t T = 1 + (size_t)rung_rng_below(&rng, rung_rng_below(&rng, 3) ? 40 : 90);
                size_t dk = 1 + (size_t)rung_rng_below(&rng, 6), dv = 1 + (size_t)rung_rng_below(&rng, 4);
                try(c, formats[f], T, 1 + (size_t)rung_rng_below(&rng, 2), dk, dv, rung_rng_below(&rng, 2), taste,
                    &rng);
            }
}

/* Every place where a block of lanes or a stretch of coordinates may end. */
static void every_length_and_width(void **state)
{
    (void)state;
    static const char *const few[] = {"bf16", "f16", "f32", "e8m25", "q6.9", "e4m3"};
    rung_rng rng;
    rung_rng_init(&rng, 22, 0, 0);
    for (size_t T = 1; T <= 200; T += T < 130 ? effort(1, 9) : 23)
        try(&cases[T % RUNG_COUNT(cases)], few[T % RUNG_COUNT(few)], T, 1, 1 + T % 3, 1, T % 4 != 0, ORDINARY, &rng);
    for (size_t d = 1; d <= 128; d += effort(1, 11)) {
        try(&cases[0], few[d % RUNG_COUNT(few)], 5, 1, d, 1, true, ORDINARY, &rng);
        try(&cases[0], few[(d + 1) % RUNG_COUNT(few)], 5, 1, 1, d, true, ORDINARY, &rng);
    }
}

/* Otherwise the option would choose between three names of one thing. */
static void the_orders_differ_in_the_last_bits_and_agree_before_them(void **state)
{
    (void)state;
    enum { T = 60, DV = 4, ORDERS = 3 };
    rung_fmt fmt = format_named("f32");
    rung_mech_conf conf = mech_conf(&cases[0], 1, 4, DV, true);
    mech_inputs in = draw_inputs(&conf, T, true, 5);
    double o[ORDERS][T * DV];
    for (int s = 0; s < ORDERS; s++) {
        double *room = mech_alloc_state(&conf, T, sizeof *room);
        conf.softmax = (rung_softmax)s;
        scan_exact(o[s], room, &in, 0, T, &conf, &fmt);
        free(room);
    }
    for (int a = 0; a < ORDERS; a++)
        for (int b = 0; b < a; b++) {
            size_t different = 0;
            for (size_t i = 0; i < T * DV; i++) {
                assert_true(fabs(o[a][i] - o[b][i]) < 1e-5);
                different += o[a][i] != o[b][i];
            }
            if (different < T / 4) fail_msg("orders %d and %d differ in %zu places only", a, b, different);
        }
    free_inputs(&in);
}

/* e3m1 has two significant bits. Three keys have the score 1 and the last one 1.5: exp(-0.5) = 0.6065 -> 0.5, since 0.5
 * and 0.75 are neighbours. Online: den = 1, 2, 3, then 3 * 0.5 + 1 = 2.5, a tie of 2 and 3 -> 2. Two passes: 0.5, 1, 1.5,
 * 2.5 -> 2. Reverse: 1, 1.5, 2, 2.5 -> 2. */
static void a_case_worked_out_by_hand(void **state)
{
    (void)state;
    rung_fmt fmt = format_named("e3m1");
    rung_mech_conf conf = mech_conf(&cases[0], 1, 1, 1, true);
    double q[] = {1, 1, 1, 1}, k[] = {1, 1, 1, 1.5}, v[] = {1, 1, 1, 3}, o[4];
    const double *in[RUNG_MECH_INPUT_MAX] = {q, k, v};
    /* Online: num = 3 * 0.5 + 3 = 4.5 -> 4, as 6 is next. Two passes: 0.5, 1, 1.5, 4.5 -> 4. Reverse: 3, 3.5 -> 4, a tie,
     * 4.5 -> 4, 4.5 -> 4. All give 4 / 2. */
    for (conf.softmax = RUNG_SOFTMAX_ONLINE; conf.softmax <= RUNG_SOFTMAX_REVERSE; conf.softmax++) {
        double room[8] = {0}, *scratch = mech_alloc_scratch(&conf, 4, sizeof *scratch);
        conf.mech->scan_exact(o, room, in, 0, 4, 0, &conf, &fmt, scratch);
        if (o[3] != 2) fail_msg("softmax %s gives %g, not 2", rung_softmax_names[conf.softmax], o[3]);
        free(scratch);
    }
    /* Online: num = 1.5 + 2 = 3.5 -> 4, and so in two passes; reverse: 2, 2.5 -> 2, 2.5 -> 2, 2.5 -> 2. */
    const double want[] = {2, 2, 1};
    v[3] = 2;
    for (conf.softmax = RUNG_SOFTMAX_ONLINE; conf.softmax <= RUNG_SOFTMAX_REVERSE; conf.softmax++) {
        double room[8] = {0}, *scratch = mech_alloc_scratch(&conf, 4, sizeof *scratch);
        conf.mech->scan_exact(o, room, in, 0, 4, 0, &conf, &fmt, scratch);
        if (o[3] != want[conf.softmax]) fail_msg("softmax %s gives %g", rung_softmax_names[conf.softmax], o[3]);
        free(scratch);
    }
}

/* Scores of 0.6 times the largest value and minus that: both are values, their difference is not, and exp(-inf) = 0 is not
 * what exp of the true difference rounds to in these formats. */
static void a_difference_that_overflows_is_minus_infinity(void **state)
{
    (void)state;
    static const char *const names[] = {"e2m10", "e2m7", "e2m20", "e3m25"};
    rung_rng rng;
    rung_rng_init(&rng, 23, 0, 0);
    for (size_t f = 0; f < RUNG_COUNT(names); f++) {
        problem p = {.conf = mech_conf(&cases[0], 1, 4, 1, true), .fmt = format_named(names[f])};
        p.in = draw_inputs(&p.conf, 4, true, f);
        double part = sqrt(0.6 * p.fmt.largest / 4);
        for (size_t e = 0; e < 16; e++)
            p.in.x[0][e] = rung_num_round(&p.fmt, part),
            p.in.x[1][e] = rung_num_round(&p.fmt, e / 4 % 2 ? part : -part);
        for (size_t e = 0; e < 4; e++) p.in.x[2][e] = e % 2 ? 0.5 : 1;
        for (p.conf.softmax = RUNG_SOFTMAX_ONLINE; p.conf.softmax <= RUNG_SOFTMAX_REVERSE; p.conf.softmax++)
            assert_all_ways(&p, &rng);
        double gap = 1.2 * p.fmt.largest;
        assert_true(gap > p.fmt.largest && rung_num_fn(&p.fmt, RUNG_FN_EXP, -gap) > 0);
        free_inputs(&p.in);
    }
}

/* ---- a stretch shares its queries among threads --------------------------------------------------------------------- */

enum { LONG = 150, THREADS = 3 };

static size_t every_seventh(size_t *at, size_t tokens)
{
    size_t count = 0;
    for (size_t t = 3; t < tokens; t += 7) at[count++] = t;
    return count;
}

static void assert_stretch(const problem *p, size_t threads, const size_t *at, size_t asked)
{
    size_t row = p->conf.heads * p->conf.dv, size = p->conf.mech->scratch(&p->conf, LONG);
    rung_stretch_exact s = {.conf = &p->conf, .fmt = &p->fmt, .tokens = LONG, .at = at, .asked = asked};
    s.o = mech_alloc(LONG * row, sizeof *s.o), s.state = mech_alloc_state(&p->conf, LONG, sizeof *s.state);
    s.scratch = mech_alloc(size * threads, sizeof *s.scratch), s.scratch_size = size;
    inputs_at_exact(s.in, &p->in, 0);
    rung_stretch_scan_exact(&s, threads);
    for (size_t i = 0; i < (at ? asked : LONG); i++)
        assert_same_numbers(s.o + i * row, p->want + (at ? at[i] : i) * row, row, &p->conf, "stretch");
    free(s.o), free(s.state), free(s.scratch);
}

static void assert_stretch_f32(const problem *p, size_t threads, const size_t *at, size_t asked)
{
    size_t row = p->conf.heads * p->conf.dv;
    rung_stretch_f32 s = {.conf = &p->conf, .tokens = LONG, .at = at, .asked = asked};
    s.o = mech_alloc(LONG * row, sizeof *s.o), s.state = mech_alloc_state(&p->conf, LONG, sizeof *s.state);
    s.scratch_size = p->conf.mech->scratch(&p->conf, LONG);
    s.scratch = mech_alloc(s.scratch_size * threads, sizeof *s.scratch);
    inputs_at_f32(s.in, &p->in, 0);
    rung_stretch_scan_f32(&s, threads);
    for (size_t i = 0; i < (at ? asked : LONG) * row; i++) {
        double want = p->want[(at ? at[i / row] : i / row) * row + i % row];
        if (!(fabs((double)s.o[i] - want) < 1e-4)) fail_msg("fast, number %zu is %g, not %g", i, (double)s.o[i], want);
    }
    free(s.o), free(s.state), free(s.scratch);
}

static void threads_share_the_queries_of_a_stretch(void **state)
{
    (void)state;
    size_t at[LONG], asked = every_seventh(at, LONG);
    for (size_t c = 0; c < RUNG_COUNT(cases); c++)
        for (int causal = 0; causal < 2; causal++) {
            problem p = {.conf = mech_conf(&cases[c], 2, 3, 2, causal), .fmt = format_named("f32")};
            p.in = draw_inputs(&p.conf, LONG, true, c);
            round_inputs(&p.in, &p.fmt);
            solve(&p);
            for (size_t threads = 1; threads <= THREADS; threads++) {
                assert_stretch(&p, threads, NULL, 0);
                assert_stretch(&p, threads, at, asked);
                assert_stretch(&p, threads, at, 0);
                assert_stretch_f32(&p, threads, NULL, 0);
                assert_stretch_f32(&p, threads, at, asked);
            }
            free(p.want), free_inputs(&p.in);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_in_every_format_and_form),
        cmocka_unit_test(every_length_and_width),
        cmocka_unit_test(the_orders_differ_in_the_last_bits_and_agree_before_them),
        cmocka_unit_test(a_case_worked_out_by_hand),
        cmocka_unit_test(a_difference_that_overflows_is_minus_infinity),
        cmocka_unit_test(threads_share_the_queries_of_a_stretch),
    };
    return cmocka_run_group_tests_name("mech: softmax", tests, NULL, NULL);
}
