/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Heads of queries that share heads of keys and values (kv): the same numbers, to the last bit, as with a copy of the
 * keys and values for every head, in every form, order of the softmax and cut; and gradients that are the sums of those
 * of the copies.
 */
#include "rung/mech.h"

#include "testing.h"

#include <stdlib.h>
#include <string.h>

enum { TOKENS = 150, HEADS = 6, DK = 5, DV = 3, CUT = 67 };

typedef struct world {
    rung_mech_conf shared, copied;
    size_t kv;
    double *q, *k, *v, *wide_k, *wide_v, *g; /* [TOKENS][heads][...] */
    rung_fmt fmt;
} world;

static double *draw(size_t count, uint64_t seed)
{
    double *x = malloc(count * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)(float)((double)(seed >> 40) / (1 << 22) - 2);
    }
    return x;
}

/* Every head of queries gets a copy of its head of keys. */
static double *copies(const double *x, size_t kv, size_t width)
{
    double *wide = malloc(TOKENS * HEADS * width * sizeof *wide);
    for (size_t t = 0; t < TOKENS; t++)
        for (size_t h = 0; h < HEADS; h++)
            memcpy(wide + (t * HEADS + h) * width, x + (t * kv + h * kv / HEADS) * width, width * sizeof *wide);
    return wide;
}

static world world_of(const char *mech, size_t window, size_t kv, bool causal, uint64_t seed)
{
    world w = {.kv = kv};
    w.copied = (rung_mech_conf){.mech = rung_mech_get(mech), .heads = HEADS, .dk = DK, .dv = DV, .causal = causal};
    rung_param_defaults(w.copied.params, w.copied.mech->params);
    if (window) w.copied.params[0].number = (int64_t)window;
    w.shared = w.copied, w.shared.kv_heads = kv;
    CHECK(rung_mech_check(&w.shared, &check_err));
    w.q = draw(TOKENS * HEADS * DK, seed), w.g = draw(TOKENS * HEADS * DV, seed + 1);
    w.k = draw(TOKENS * kv * DK, seed + 2), w.v = draw(TOKENS * kv * DV, seed + 3);
    w.wide_k = copies(w.k, kv, DK), w.wide_v = copies(w.v, kv, DV);
    CHECK(rung_fmt_parse(&w.fmt, "e8m9", &check_err));
    double *all[] = {w.q, w.k, w.v, w.wide_k, w.wide_v};
    size_t count[] = {HEADS * DK, kv * DK, kv * DV, HEADS * DK, HEADS * DV};
    for (size_t i = 0; i < RUNG_COUNT(all); i++)
        for (size_t e = 0; e < TOKENS * count[i]; e++) all[i][e] = rung_num_round(&w.fmt, all[i][e]);
    return w;
}

static void clear(world *w)
{
    free(w->q), free(w->k), free(w->v), free(w->wide_k), free(w->wide_v), free(w->g);
}

static float *floats(const double *x, size_t count)
{
    float *y = malloc(count * sizeof *y);
    for (size_t i = 0; i < count; i++) y[i] = (float)x[i];
    return y;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* The outputs of all tokens, in stretches that end at `cut` and at the end. */
static double *exact(const world *w, bool shares, bool step, size_t cut, rung_softmax order, size_t threads)
{
    rung_mech_conf conf = shares ? w->shared : w->copied;
    conf.softmax = order;
    size_t heads = rung_mech_kv_heads(&conf), scratch = conf.mech->scratch(&conf, TOKENS);
    double *o = calloc(TOKENS * HEADS * DV, sizeof *o), *room = calloc(scratch * threads, sizeof *room);
    double *state = calloc(rung_mech_state_capacity(&conf, TOKENS), sizeof *state);
    const double *k = shares ? w->k : w->wide_k, *v = shares ? w->v : w->wide_v;
    for (size_t from = 0, to = cut; from < TOKENS; from = to, to = TOKENS) {
        rung_stretch_exact s = {.conf = &conf,
                                .fmt = &w->fmt,
                                .o = o + from * HEADS * DV,
                                .state = state,
                                .in = {w->q + from * HEADS * DK, k + from * heads * DK, v + from * heads * DV},
                                .pos = from,
                                .tokens = to - from,
                                .scratch = room,
                                .scratch_size = scratch};
        if (step)
            rung_stretch_step_exact(&s);
        else
            rung_stretch_scan_exact(&s, threads);
    }
    free(room), free(state);
    return o;
}

static float *fast(const world *w, bool shares, bool step, size_t cut, size_t threads)
{
    rung_mech_conf conf = shares ? w->shared : w->copied;
    size_t heads = rung_mech_kv_heads(&conf), scratch = conf.mech->scratch(&conf, TOKENS);
    float *o = calloc(TOKENS * HEADS * DV, sizeof *o), *room = calloc(scratch * threads, sizeof *room);
    float *state = calloc(rung_mech_state_capacity(&conf, TOKENS), sizeof *state);
    float *q = floats(w->q, TOKENS * HEADS * DK), *k = floats(shares ? w->k : w->wide_k, TOKENS * heads * DK);
    float *v = floats(shares ? w->v : w->wide_v, TOKENS * heads * DV);
    for (size_t from = 0, to = cut; from < TOKENS; from = to, to = TOKENS) {
        rung_stretch_f32 s = {.conf = &conf,
                              .o = o + from * HEADS * DV,
                              .state = state,
                              .in = {q + from * HEADS * DK, k + from * heads * DK, v + from * heads * DV},
                              .pos = from,
                              .tokens = to - from,
                              .scratch = room,
                              .scratch_size = scratch};
        if (step)
            rung_stretch_step_f32(&s);
        else
            rung_stretch_scan_f32(&s, threads);
    }
    free(room), free(state), free(q), free(k), free(v);
    return o;
}

static void compare_forward(const char *mech, size_t window, size_t kv, bool causal)
{
    world w = world_of(mech, window, kv, causal, kv + window);
    for (int way = 0; way < 12; way++) {
        bool step = way % 2;
        size_t cut = causal && way / 2 % 2 ? CUT : TOKENS, threads = step ? 1 : 2;
        rung_softmax order = (rung_softmax)(way / 4);
        double *a = exact(&w, true, step, cut, order, threads), *b = exact(&w, false, step, cut, order, threads);
        assert_memory_equal(a, b, TOKENS * HEADS * DV * sizeof *a);
        free(a), free(b);
        float *c = fast(&w, true, step, cut, threads), *d = fast(&w, false, step, cut, threads);
        assert_memory_equal(c, d, TOKENS * HEADS * DV * sizeof *c);
        free(c), free(d);
    }
    clear(&w);
}

static void shared_keys_give_the_bits_of_copies(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 3};
    for (size_t i = 0; i < RUNG_COUNT(counts); i++) {
        compare_forward("full", 0, counts[i], true);
        compare_forward("full", 0, counts[i], false);
        compare_forward("window", 1, counts[i], true);
        compare_forward("window", 40, counts[i], true);
        compare_forward("window", 7, counts[i], false);
    }
}

/* The heads of a scan one after the other, as a caller without rung_stretch would run them. */
static void scans_of_single_heads_store_a_key_once(void **state)
{
    (void)state;
    world w = world_of("window", 9, 2, true, 5);
    size_t scratch = w.shared.mech->scratch(&w.shared, TOKENS);
    double *o = calloc(TOKENS * HEADS * DV, sizeof *o), *room = calloc(scratch, sizeof *room);
    double *kept = calloc(rung_mech_state_capacity(&w.shared, TOKENS), sizeof *kept);
    for (size_t from = 0, to = CUT; from < TOKENS; from = to, to = TOKENS) {
        const double *in[] = {w.q + from * HEADS * DK, w.k + from * 2 * DK, w.v + from * 2 * DV};
        for (size_t h = 0; h < HEADS; h++)
            w.shared.mech->scan_exact(o + from * HEADS * DV, kept, in, from, to - from, h, &w.shared, &w.fmt, room);
    }
    double *want = exact(&w, false, true, TOKENS, RUNG_SOFTMAX_ONLINE, 1);
    assert_memory_equal(o, want, TOKENS * HEADS * DV * sizeof *o);
    free(o), free(room), free(kept), free(want);
    clear(&w);
}

static void what_is_carried_has_the_heads_of_keys(void **state)
{
    (void)state;
    world full = world_of("full", 0, 2, true, 1), window = world_of("window", 16, 3, true, 1);
    assert_int_equal(rung_mech_state_elements(&full.shared, 100), 100 * 2 * (DK + DV));
    assert_int_equal(rung_mech_state_elements(&full.copied, 100), 100 * HEADS * (DK + DV));
    assert_int_equal(rung_mech_state_elements(&window.shared, 100), 16 * 3 * (DK + DV));
    clear(&full), clear(&window);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

typedef struct slopes {
    float *q, *k, *v, *state;
} slopes;

/* Gradients of the tokens from CUT on, and of the state before them. */
static slopes gradients(const world *w, bool shares)
{
    const rung_mech_conf *conf = shares ? &w->shared : &w->copied;
    size_t heads = rung_mech_kv_heads(conf), rest = TOKENS - CUT, elements = rung_mech_state_capacity(conf, TOKENS);
    size_t scratch = conf->mech->scratch(conf, TOKENS), back = conf->mech->backward_scratch(conf, TOKENS);
    float *q = floats(w->q, TOKENS * HEADS * DK), *k = floats(shares ? w->k : w->wide_k, TOKENS * heads * DK);
    float *v = floats(shares ? w->v : w->wide_v, TOKENS * heads * DV), *g = floats(w->g, TOKENS * HEADS * DV);
    float *o = calloc(TOKENS * HEADS * DV, sizeof *o), *room = calloc(scratch + back, sizeof *room);
    float *state = calloc(elements, sizeof *state), *before = calloc(elements, sizeof *before);
    slopes s = {calloc(rest * HEADS * DK, sizeof(float)), calloc(rest * heads * DK, sizeof(float)),
                calloc(rest * heads * DV, sizeof(float)), calloc(elements, sizeof(float))};
    rung_stretch_f32 first = {.conf = conf, .o = o, .state = state, .in = {q, k, v}, .tokens = CUT};
    first.scratch = room, first.scratch_size = scratch;
    rung_stretch_scan_f32(&first, 1);
    memcpy(before, state, elements * sizeof *state);
    rung_stretch_f32 second = first;
    second.o = o + CUT * HEADS * DV, second.pos = CUT, second.tokens = rest;
    second.in[0] = q + CUT * HEADS * DK, second.in[1] = k + CUT * heads * DK, second.in[2] = v + CUT * heads * DV;
    rung_stretch_scan_f32(&second, 1);
    /* a gradient of the state after the stretch: the same for every copy of a number, or their sum for a shared one */
    size_t kept = elements / heads / (DK + DV);
    for (size_t slot = 0; slot < kept; slot++)
        for (size_t h = 0; h < heads; h++)
            for (size_t i = 0; i < DK + DV; i++)
                s.state[(slot * heads + h) * (DK + DV) + i] =
                    (float)(slot % 5 + i) / 8 * (shares ? (float)HEADS / (float)heads : 1);
    rung_backward b = {.conf = conf,
                       .in = {second.in[0], second.in[1], second.in[2]},
                       .din = {s.q, s.k, s.v},
                       .o = second.o,
                       .g = g + CUT * HEADS * DV,
                       .state = before,
                       .dstate = s.state,
                       .pos = CUT,
                       .tokens = rest,
                       .scratch = room};
    for (size_t h = 0; h < HEADS; h++) conf->mech->backward_f32(&b, h);
    free(q), free(k), free(v), free(g), free(o), free(room), free(state), free(before);
    return s;
}

static void near(const float *got, const float *want, size_t count, const char *what)
{
    float most = 0;
    for (size_t i = 0; i < count; i++) most = fabsf(want[i]) > most ? fabsf(want[i]) : most;
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(got[i] - want[i]) <= 2e-6f * most + 1e-7f))
            fail_msg("%s %zu: %.9g instead of %.9g", what, i, (double)got[i], (double)want[i]);
    assert_true(most > 0);
}

/* Sums over the heads that share. */
static float *summed(const float *wide, size_t rows, size_t kv, size_t width)
{
    float *sum = calloc(rows * kv * width, sizeof *sum);
    for (size_t r = 0; r < rows; r++)
        for (size_t h = 0; h < HEADS; h++)
            for (size_t i = 0; i < width; i++)
                sum[(r * kv + h * kv / HEADS) * width + i] += wide[(r * HEADS + h) * width + i];
    return sum;
}

static void compare_gradients(const char *mech, size_t window, size_t kv)
{
    world w = world_of(mech, window, kv, true, 77 + kv);
    slopes a = gradients(&w, true), b = gradients(&w, false);
    size_t rest = TOKENS - CUT, slots = rung_mech_state_capacity(&w.shared, TOKENS) / kv / (DK + DV);
    float *k = summed(b.k, rest, kv, DK), *v = summed(b.v, rest, kv, DV), *s = summed(b.state, slots, kv, DK + DV);
    near(a.q, b.q, rest * HEADS * DK, "dq");
    near(a.k, k, rest * kv * DK, "dk");
    near(a.v, v, rest * kv * DV, "dv");
    near(a.state, s, slots * kv * (DK + DV), "dstate");
    free(k), free(v), free(s), free(a.q), free(a.k), free(a.v), free(a.state);
    free(b.q), free(b.k), free(b.v), free(b.state);
    clear(&w);
}

static void gradients_are_sums_over_the_heads_that_share(void **state)
{
    (void)state;
    for (size_t kv = 1; kv <= 3; kv++) {
        compare_gradients("full", 0, kv);
        compare_gradients("window", 11, kv);
        compare_gradients("window", 1000, kv);
    }
}

static void what_cannot_be_shared_is_refused(void **state)
{
    (void)state;
    rung_mech_conf conf = {.mech = rung_mech_get("full"), .heads = 6, .dk = 2, .dv = 2, .causal = true, .kv_heads = 4};
    rung_error err = {{0}};
    assert_int_equal(rung_mech_check(&conf, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "cannot share kv=4"));
    conf.kv_heads = 12;
    assert_int_equal(rung_mech_check(&conf, &err), RUNG_USAGE);
    conf.mech = rung_mech_get("delta"), conf.kv_heads = 2;
    assert_int_equal(rung_mech_check(&conf, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "delta has no heads that share"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_keys_give_the_bits_of_copies),
        cmocka_unit_test(scans_of_single_heads_store_a_key_once),
        cmocka_unit_test(what_is_carried_has_the_heads_of_keys),
        cmocka_unit_test(gradients_are_sums_over_the_heads_that_share),
        cmocka_unit_test(what_cannot_be_shared_is_refused),
    };
    return cmocka_run_group_tests_name("mech: shared keys", tests, NULL, NULL);
}
