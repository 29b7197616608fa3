/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The count of what a mechanism carries past a position: the formulas by hand; the packed state has exactly that many
 * bits; what lies beyond is never read; and what lies inside matters, so that nothing is counted for nothing.
 */
#include "mech_test.h"

enum { ROOM = 24, MORE = 8 }; /* tokens that the state has room for, and that follow the prefix */

static const size_t prefixes[] = {1, 2, 5, 7, 8, 15};
static const struct {
    size_t heads, dk, dv;
} shapes[] = {{1, 1, 1}, {3, 2, 4}, {2, 5, 3}};

/* ---- formulas --------------------------------------------------------------------------------------------------------- */

static void assert_carry(const mech_case *c, size_t tokens, bool causal, size_t recurrent, size_t window, size_t cache)
{
    rung_mech_conf conf = mech_conf(c, 3, 4, 5, causal);
    rung_carry carry = conf.mech->carry(&conf, tokens);
    if (carry.recurrent != recurrent || carry.window != window || carry.cache != cache)
        fail_msg("%s %s after %zu tokens: %zu recurrent, %zu window, %zu cache; not %zu, %zu, %zu", c->name, c->words,
                 tokens, carry.recurrent, carry.window, carry.cache, recurrent, window, cache);
    assert_int_equal(rung_carry_total(carry), recurrent + window + cache);
    assert_int_equal(rung_mech_state_elements(&conf, tokens), recurrent + window + cache);
    assert_int_equal(conf.mech->recurrent, recurrent > 0);
}

/* H = 3, dk = 4, dv = 5. */
static void formulas_by_hand(void **state)
{
    (void)state;
    const mech_case full = {"full", ""}, w4 = {"window", "W=4"}, linear = {"linear", ""};
    const mech_case bare = {"linear", "norm=0"}, taylor = {"linear", "phi=taylor2"}, delta = {"delta", ""};
    const mech_case taylor_bare = {"linear", "phi=taylor2 norm=0"}, gdelta = {"gdelta", ""};
    const mech_case tanh_ = {"rnn", "kind=tanh"}, lstm = {"rnn", "kind=lstm"};
    const mech_case matrices[] = {{"retnet", ""}, {"gla", ""},   {"mamba2", ""},
                                  {"kda", ""},    {"mamba", ""}, {"rwkv7", ""}};
    const mech_case shared = {"sparse", "B=7 shared=1"};
    const mech_case sparse = {"sparse", "B=7"}, single = {"sparse", "B=1"}, dsa = {"dsa", "DI=6"};
    for (size_t t = 0; t < 40; t++) {
        assert_carry(&full, t, true, 0, 0, t * 3 * (4 + 5));
        assert_carry(&full, t, false, 0, 0, t * 3 * (4 + 5));
        assert_carry(&w4, t, true, 0, (t < 4 ? t : 4) * 3 * (4 + 5), 0);
        assert_carry(&w4, t, false, 0, 0, t * 3 * (4 + 5));              /* both sides: all keys stay */
        assert_carry(&sparse, t, true, 0, 0, (t + t / 7) * 3 * (4 + 5)); /* a summary for every 7 tokens */
        assert_carry(&shared, t, true, 0, 0, (2 * t + t / 7) * 3 * 4);   /* of one vector, and dv is dk */
        assert_carry(&single, t, true, 0, 0, 2 * t * 3 * (4 + 5));
        assert_carry(&dsa, t, true, 0, 0, t * (3 * (4 + 5) + 6));
        assert_carry(&linear, t, true, 3 * 4 * (5 + 1), 0, 0);
        assert_carry(&bare, t, true, 3 * 4 * 5, 0, 0);
        assert_carry(&taylor, t, true, 3 * (1 + 4 + 16) * (5 + 1), 0, 0);
        assert_carry(&taylor_bare, t, true, 3 * (1 + 4 + 16) * 5, 0, 0);
        assert_carry(&delta, t, true, 3 * 4 * 5, 0, 0);
        assert_carry(&gdelta, t, true, 3 * 4 * 5, 0, 0);
        for (size_t i = 0; i < RUNG_COUNT(matrices); i++) assert_carry(&matrices[i], t, true, 3 * 4 * 5, 0, 0);
        assert_carry(&tanh_, t, true, 3 * 5, 0, 0);
        assert_carry(&lstm, t, true, 3 * 2 * 5, 0, 0);
    }
}

static void sizes_that_do_not_fit_saturate(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++) {
        rung_mech_conf conf = mech_conf(&mech_cases[c], 1, 4, 4, true);
        conf.heads = RUNG_HEADS_MAX, conf.dk = conf.dv = RUNG_DIM_MAX;
        bool taylor = mech_is(&conf, "linear") && strcmp(mech_word(&conf, "phi"), "taylor2") == 0;
        if (taylor) conf.dk = 1024;
        assert_int_equal(rung_mech_check(&conf, NULL), RUNG_OK);
        size_t most = rung_mech_state_elements(&conf, SIZE_MAX), slot = RUNG_HEADS_MAX * (2 * RUNG_DIM_MAX);
        if (mech_is(&conf, "full") || mech_selects(&mech_cases[c])) assert_true(most == SIZE_MAX);
        if (mech_is(&conf, "window")) assert_true(most == (size_t)rung_mech_param(&conf, "W") * slot);
        if (mech_is(&conf, "loglinear")) /* SIZE_MAX has 64 digits */
            assert_true(most == 64 * (RUNG_HEADS_MAX * RUNG_DIM_MAX * RUNG_DIM_MAX));
        else if (conf.mech->recurrent) /* the bits of the widest format still fit into 64 */
            assert_true(most / RUNG_HEADS_MAX / (taylor ? 1024 : 1) >= RUNG_DIM_MAX && most < (size_t)1 << 57);
        assert_true(conf.mech->scratch(&conf, 1) < (size_t)1 << 43); /* the LSTM transposes 4 dv dv numbers */
    }
    const mech_case wide = {"window", "W=2147483647"};
    rung_mech_conf conf = mech_conf(&wide, RUNG_HEADS_MAX, RUNG_DIM_MAX, RUNG_DIM_MAX, true);
    assert_true(rung_mech_state_elements(&conf, SIZE_MAX) == SIZE_MAX);
    assert_true(rung_carry_total((rung_carry){.recurrent = SIZE_MAX, .window = 1}) == SIZE_MAX);
    assert_true(rung_carry_total((rung_carry){.recurrent = 1, .window = 1, .cache = SIZE_MAX - 1}) == SIZE_MAX);
}

static void expect_refused(rung_mech_conf conf, const char *phrase)
{
    rung_error err = {""};
    assert_int_equal(rung_mech_check(&conf, &err), RUNG_USAGE);
    if (!strstr(err.text, phrase)) fail_msg("'%s' lacks '%s'", err.text, phrase);
}

static void sizes_outside_the_limits_are_refused(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++) {
        rung_mech_conf good = mech_conf(&mech_cases[c], 1, 1, 1, true), bad = good;
        bad.heads = RUNG_HEADS_MAX + 1, expect_refused(bad, "heads = 65537"), bad = good;
        bad.dk = RUNG_DIM_MAX + 1, expect_refused(bad, "dk = 1048577"), bad = good;
        bad.dv = RUNG_DIM_MAX + 1, expect_refused(bad, "dv = 1048577"), bad = good;
        bad.dv = 0, expect_refused(bad, "dv = 0");
    }
    const mech_case taylor = {"linear", "phi=taylor2"};
    rung_mech_conf conf = mech_conf(&taylor, 1, 1024, 1, true);
    conf.dk = 1025, expect_refused(conf, "dk=1025 is above 1024");
}

/* ---- bits ------------------------------------------------------------------------------------------------------------- */

static void packed_state_has_exactly_carry_times_p_bits(void **state)
{
    (void)state;
    static const char *const formats[] = {"f32", "e4m3", "e8m3", "e2m1", "q6.9", "f64"};
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (size_t n = 0; n < RUNG_COUNT(prefixes); n++) {
            rung_fmt fmt;
            rung_mech_conf conf = mech_conf(&mech_cases[c], 3, 2, 3, true);
            assert_int_equal(rung_fmt_parse(&fmt, formats[(c + n) % RUNG_COUNT(formats)], NULL), RUNG_OK);
            mech_inputs in = draw_inputs(&conf, prefixes[n], true, n);
            round_inputs(&in, &fmt);
            size_t carried = rung_mech_state_elements(&conf, prefixes[n]), bits = carried * (size_t)fmt.bits;
            double *S = mech_alloc_state(&conf, prefixes[n], sizeof *S), *back = mech_alloc(carried, sizeof *back);
            double *o = mech_alloc(prefixes[n] * 9, sizeof *o);
            uint8_t *packed = mech_alloc(bits / 8 + 2, 1);
            memset(packed, 0xa5, bits / 8 + 2);
            step_exact(o, S, &in, 0, prefixes[n], &conf, &fmt);
            rung_num_pack(packed, &fmt, S, carried);
            assert_int_equal(packed[(bits + 7) / 8], 0xa5); /* nothing after the last byte */
            if (bits % 8) assert_int_equal(packed[bits / 8] & (0xff >> bits % 8), 0);
            rung_num_unpack(back, &fmt, packed, carried);
            assert_same_numbers(back, S, carried, &conf, "unpacked state");
            free(S), free(back), free(o), free(packed), free_inputs(&in);
        }
}

/* ---- what matters ------------------------------------------------------------------------------------------------------ */

typedef struct world {
    rung_mech_conf conf;
    rung_fmt fmt;
    mech_inputs in;
    size_t prefix, elements, outputs;
    double *state, *copy, *want, *o;
} world;

static world new_world(const mech_case *c, size_t prefix, size_t shape)
{
    world w = {.prefix = prefix};
    w.conf = mech_conf(c, shapes[shape].heads, shapes[shape].dk, shapes[shape].dv, true);
    assert_int_equal(rung_fmt_parse(&w.fmt, "f64", NULL), RUNG_OK);
    w.in = draw_inputs(&w.conf, prefix + MORE, true, 31 * prefix + shape);
    w.elements = rung_mech_state_capacity(&w.conf, ROOM), w.outputs = MORE * w.conf.heads * w.conf.dv;
    w.state = mech_alloc(w.elements, sizeof(double)), w.copy = mech_alloc(w.elements, sizeof(double));
    w.want = mech_alloc(w.outputs, sizeof(double)), w.o = mech_alloc(prefix * w.outputs, sizeof(double));
    scan_exact(w.o, w.state, &w.in, 0, prefix, &w.conf, &w.fmt);
    memcpy(w.copy, w.state, w.elements * sizeof(double));
    scan_exact(w.want, w.copy, &w.in, prefix, MORE, &w.conf, &w.fmt);
    return w;
}

static void free_world(world *w)
{
    free(w->state), free(w->copy), free(w->want), free(w->o), free_inputs(&w->in);
}

/* Does another number in place `element` of the prefix's state change any later output, of either form? */
static bool matters(world *w, size_t element)
{
    bool changed = false;
    for (int form = 0; form < 2; form++) {
        memcpy(w->copy, w->state, w->elements * sizeof(double));
        w->copy[element] = 1.25 * w->copy[element] + 0.375;
        (form ? step_exact : scan_exact)(w->o, w->copy, &w->in, w->prefix, MORE, &w->conf, &w->fmt);
        for (size_t i = 0; i < w->outputs; i++) changed = changed || !same_number(w->o[i], w->want[i]);
    }
    return changed;
}

/* A causal window of W has W slots after W tokens, but the oldest of them, token t-W in slot t mod W, is out of sight
 * of every later query: its place is taken before it is read. */
static bool out_of_sight(const world *w, size_t element)
{
    if (!mech_is(&w->conf, "window")) return false;
    size_t W = (size_t)rung_mech_param(&w->conf, "W"), slot = w->conf.heads * (w->conf.dk + w->conf.dv);
    return w->prefix >= W && element / slot == w->prefix % W;
}

/* One visible key has weight 1 whatever it is; W = 2 leaves one old key beside the new one, which does matter. */
static void carried_numbers_matter_and_others_do_not(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (size_t s = 0; s < RUNG_COUNT(shapes); s++)
            for (size_t n = 0; n < RUNG_COUNT(prefixes); n++) {
                if ((c + s + n) % effort(1, 5) != 0) continue; /* three and six have no factor in common with it */
                world w = new_world(&mech_cases[c], prefixes[n], s);
                size_t carried = rung_mech_state_elements(&w.conf, w.prefix);
                for (size_t e = 0; e < w.elements; e++) {
                    bool expected = e < carried && !out_of_sight(&w, e);
                    if (mech_selects(&mech_cases[c]) && expected) continue;
                    if (matters(&w, e) != expected)
                        fail_msg("%s %s dk=%zu dv=%zu after %zu tokens: element %zu of %zu carried (%zu in all) %s",
                                 mech_cases[c].name, mech_cases[c].words, w.conf.dk, w.conf.dv, w.prefix, e, carried,
                                 w.elements, expected ? "changes nothing" : "changes a later output");
                }
                free_world(&w);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_by_hand),
        cmocka_unit_test(sizes_that_do_not_fit_saturate),
        cmocka_unit_test(sizes_outside_the_limits_are_refused),
        cmocka_unit_test(packed_state_has_exactly_carry_times_p_bits),
        cmocka_unit_test(carried_numbers_matter_and_others_do_not),
    };
    return cmocka_run_group_tests_name("mech: carry", tests, NULL, NULL);
}
