/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The worst case against brute force: every prompt through the real evaluator. A wrong proof is the worst that can happen,
 * so every premise of the proof is broken here once.
 */
#include "../../src/verify/worst_case_lookup.h"
#include "../../src/verify/worst_case_sum.h"
#include "worst_case_models.h"

/* ---- verdicts ---------------------------------------------------------------------------------------------------------- */

typedef struct tally {
    size_t proved, refuted, unknown;
} tally;

static void compare_with_brute_force(tally *t, const rung_model *model, const rung_task_conf *task, const char *format,
                                     bool decided)
{
    rung_verify_result result = worst_case(model, task, format);
    uint64_t wrong = brute_force(model, task, format, NULL, NULL);
    if (result.verdict == RUNG_CAN && wrong)
        fail_msg("%s: proved, but %llu are wrong", format, (unsigned long long)wrong);
    if (result.verdict == RUNG_CANNOT && !wrong) fail_msg("%s: refuted, but none is wrong", format);
    if (result.verdict == RUNG_UNKNOWN && decided) fail_msg("%s: unknown: %s", format, result.reason);
    if (result.verdict == RUNG_CANNOT) assert_witness(&result, model, task, format);
    if (result.verdict == RUNG_CAN) assert_true(result.margin >= 0 && result.cases > 0 && !result.witness);
    t->proved += result.verdict == RUNG_CAN, t->refuted += result.verdict == RUNG_CANNOT;
    t->unknown += result.verdict == RUNG_UNKNOWN;
    free(result.witness);
}

static const char *const formats[] = {"e8m1", "e8m2", "e8m3", "e8m4", "e5m2", "q3.4", "q4.2"};

/* The formats that the i-th of a row of models is tried in: all; under the sanitizers one of three, each in turn. */
static bool tried_in(size_t i, size_t format)
{
    return (i + format) % effort(1, 3) == 0;
}

static void sweep(tally *t, recipe r, const double *scales, size_t count, bool decided)
{
    rung_task_conf task = eva_task(r.n, r.v);
    for (size_t s = 0; s < count; s++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            if (!tried_in(s, f)) continue;
            r.scale = scales[s];
            rung_model *model = make_lookup(&r);
            compare_with_brute_force(t, model, &task, formats[f], decided);
            rung_model_close(model);
        }
}

static void verdict_is_that_of_every_table(void **state)
{
    static const recipe recipes[] = {
        {.n = 2, .v = 2},
        {.n = 4, .v = 4},
        {.n = 8, .v = 2},
        {.n = 4, .v = 3},
        {.n = 5, .v = 2},
        {.n = 4, .v = 4, .pairs = true},
        {.n = 3, .v = 4},
        {.n = 1, .v = 3},
        {.n = 4, .v = 4, .own_value = 1},
        {.n = 4, .v = 4, .own_value = -1, .own_key = 0.5},
        {.n = 4, .v = 4, .bent = true},
    };
    static const double scales[] = {0.25, 0.5, 0.75, 1, 1.5, 3, 40};
    tally t = {0};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(recipes); i++) sweep(&t, recipes[i], scales, RUNG_COUNT(scales), true);
    assert_true(t.proved > effort(50, 15) && t.refuted > effort(50, 15));
}

static void scalar_values_are_decided_too(void **state)
{
    static const double scales[] = {0.5, 1, 2, 4};
    tally t = {0};
    (void)state;
    sweep(&t, (recipe){.n = 4, .v = 4, .scalar = true}, scales, RUNG_COUNT(scales), true);
    sweep(&t, (recipe){.n = 3, .v = 5, .scalar = true}, scales, RUNG_COUNT(scales), true);
    assert_true(t.proved > effort(5, 1) && t.refuted > effort(5, 1));
}

static void membership_agrees_with_every_prompt(void **state)
{
    static const double gaps[] = {0.5, 2, 4, 8, 16};
    static const char *const names[] = {"e8m2", "e8m4", "e8m7", "q6.6", "e5m10"};
    tally t = {0};
    (void)state;
    for (size_t m = 4; m <= 8; m++)
        for (size_t g = 0; g < RUNG_COUNT(gaps); g++) {
            sum_recipe r = {
                .n = m > 6 ? 2 : 3, .m = m, .gap = gaps[g], .blank = g % 2 == 0 || m % 2, .no_table = m == 7};
            rung_task_conf task = sum_task(&r);
            rung_model *model = make_sum(&r);
            for (size_t f = 0; f < RUNG_COUNT(names); f++)
                if (tried_in(m + g, f)) compare_with_brute_force(&t, model, &task, names[f], false);
            rung_model_close(model);
        }
    assert_true(t.proved > effort(20, 6) && t.refuted > effort(20, 6) && t.unknown < effort(40, 14));
}

/* ---- extremes ----------------------------------------------------------------------------------------------------------- */

enum { SMALL = 8 }; /* coordinates, values of one, queries */

/* Least and largest output of every coordinate, by query and by the value at the wanted position. */
/* percom: what is proved is right on every pair of permutations; what is refuted has a witness. The extremal tables are
 * no permutations, so some models stay undecided. */
static void many_queries_agree_with_every_pair_of_permutations(void **state)
{
    static const recipe recipes[] = {
        {.n = 1, .v = 1},
        {.n = 2, .v = 2},
        {.n = 3, .v = 3},
        {.n = 4, .v = 4},
        {.n = 3, .v = 3, .pairs = true},
        {.n = 3, .v = 3, .own_value = 1},
        {.n = 3, .v = 3, .own_value = -1, .own_key = 0.5},
        {.n = 3, .v = 3, .own_key = 1},
        {.n = 3, .v = 3, .bent = true},
        {.n = 3, .v = 3, .scalar = true},
    };
    static const double scales[] = {0.25, 0.5, 1, 2, 5, 40};
    tally t = {0};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(recipes); i++) {
        rung_task_conf task = percom_task(recipes[i].n);
        for (size_t s = 0; s < RUNG_COUNT(scales); s++)
            for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
                if (!tried_in(i + s, f)) continue;
                recipe r = recipes[i];
                r.many = true, r.scale = scales[s];
                rung_model *model = make_lookup(&r);
                compare_with_brute_force(&t, model, &task, formats[f], false);
                rung_model_close(model);
            }
    }
    assert_true(t.proved > effort(50, 15) && t.refuted > effort(50, 15));
}

static void many_queries_that_differ_by_place_or_token_are_not_proved(void **state)
{
    static const struct {
        recipe r;
        const char *because;
    } cases[] = {{{.n = 4, .v = 4, .scale = 4, .many = true, .place_asks = true}, "not all the same vector"},
                 {{.n = 4, .v = 4, .scale = 4, .many = true, .asked_in_key = true}, "depend on the token"},
                 {{.n = 4, .v = 4, .scale = 4, .many = true, .asked_in_value = true}, "depend on the token"},
                 {{.n = 4, .v = 4, .scale = 4, .many = true, .token_in_key = true}, "keys of table positions"},
                 {{.n = 4, .v = 4, .scale = 4, .many = true, .position_value = true}, "values of table positions"}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_model *model = make_lookup(&cases[i].r);
        rung_task_conf task = percom_task(cases[i].r.n);
        rung_verify_result result = worst_case(model, &task, "e8m4");
        assert_int_equal(result.verdict, RUNG_UNKNOWN);
        if (!strstr(result.reason, cases[i].because)) fail_msg("'%s', not '%s'", result.reason, cases[i].because);
        rung_model_close(model);
    }
}

typedef struct seen {
    const recipe *r;
    size_t dv;
    bool met[SMALL][SMALL][SMALL];
    wc_span y[SMALL][SMALL][SMALL];
} seen;

static size_t place_in_set(const recipe *r, size_t token, size_t i)
{
    return r->scalar ? token : token >> i % layout_of(r).dv & 1;
}

static void see(void *context, const rung_instance *in, const double *out)
{
    seen *s = context;
    size_t query = in->token[s->r->n] - s->r->v, token = in->token[query];
    for (size_t i = 0; i < s->dv; i++) {
        size_t u = place_in_set(s->r, token, i);
        bool *met = &s->met[query][i][u];
        wc_span *y = &s->y[query][i][u];
        *y = *met ? wc_hull(*y, wc_point(out[i])) : wc_point(out[i]);
        *met = true;
    }
}

/* The private parts, as the verifier puts them together. */
static void compute_extremes(seen *s, const rung_model *model, const rung_task_conf *task, const char *format)
{
    wc_weights w;
    rung_fmt fmt = format_of(format);
    rung_verify_result result;
    memset(&result, 0, sizeof result);
    CHECK(wc_weights_load(&w, model, &fmt, &check_err));
    wc_run run = {.result = &result, .model = model, .task = task, .w = &w};
    lookup l = {.run = &run, .queries = 1};
    rung_arena_init(&l.arena);
    CHECK(wc_lookup_prepare(&l, &run, &check_err));
    lookup_worker wk;
    assert_true(wc_lookup_worker(&wk, &l, NULL));
    assert_true(wc_lookup_extremes(&l, &wk, 0, l.entries));
    for (size_t x = 0; x < l.entries; x++)
        for (size_t i = 0; i < w.mixed; i++)
            for (size_t u = 0; u < l.offset[i + 1] - l.offset[i]; u++)
                s->y[x][i][u] = wk.y[x * l.offset[w.mixed] + l.offset[i] + u];
    rung_arena_clear(&l.arena);
    wc_weights_clear(&w);
}

static void extremes_are_attained(void **state)
{
    static const recipe recipes[] = {{.n = 4, .v = 4, .scale = 0.75},
                                     {.n = 8, .v = 2, .scale = 0.5, .own_value = 0.5, .own_key = 0.25},
                                     {.n = 4, .v = 4, .scale = 1.5, .scalar = true},
                                     {.n = 5, .v = 4, .scale = 0.3, .pairs = true, .own_value = -3},
                                     {.n = 4, .v = 4, .scale = 1.2, .bent = true},
                                     {.n = 4, .v = 4, .scale = 0}, /* the wanted key is no new maximum */
                                     {.n = 8, .v = 2, .scale = -0.5},
                                     {.n = 4, .v = 4, .scale = 0.6, .two_heads = true}};
    (void)state;
    for (size_t n = 0; n < RUNG_COUNT(recipes); n++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            if (!tried_in(n, f)) continue;
            recipe r = recipes[n];
            r.no_table = true; /* the read-out shows the outputs of the head */
            rung_task_conf task = eva_task(r.n, r.v);
            rung_model *model = make_lookup(&r);
            static seen brute, computed;
            memset(&brute, 0, sizeof brute), memset(&computed, 0, sizeof computed);
            brute.r = &r, brute.dv = layout_of(&r).dv * (r.two_heads ? 2 : 1);
            brute_force(model, &task, formats[f], see, &brute);
            compute_extremes(&computed, model, &task, formats[f]);
            for (size_t x = 0; x < r.n; x++)
                for (size_t i = 0; i < brute.dv; i++)
                    for (size_t u = 0; u < (r.scalar ? r.v : 2); u++) {
                        wc_span a = brute.y[x][i][u], b = computed.y[x][i][u];
                        if (a.lo != b.lo || a.hi != b.hi)
                            fail_msg("recipe %zu %s query %zu coordinate %zu value %zu: [%a, %a], not [%a, %a]", n,
                                     formats[f], x, i, u, b.lo, b.hi, a.lo, a.hi);
                    }
            rung_model_close(model);
        }
}

/* ---- premises ------------------------------------------------------------------------------------------------------------ */

static void assert_unknown(const recipe *r, const char *format, const char *because)
{
    rung_model *model = make_lookup(r);
    rung_task_conf task = eva_task(r->n, r->v);
    rung_verify_result result = worst_case(model, &task, format);
    assert_int_equal(result.verdict, RUNG_UNKNOWN);
    if (!strstr(result.reason, because)) fail_msg("the reason is '%s', not '%s'", result.reason, because);
    rung_model_close(model);
}

static void keys_that_see_the_token_are_not_proved(void **state)
{
    (void)state;
    assert_unknown(&(recipe){.n = 4, .v = 4, .scale = 2, .token_in_key = true}, "e8m4", "depend on the token");
}

static void values_that_see_the_position_are_not_proved(void **state)
{
    (void)state;
    assert_unknown(&(recipe){.n = 4, .v = 4, .scale = 2, .position_value = true}, "e8m4", "depend on the position");
}

/* Prompts that are right at the query and stop at another token. */
static void a_table_that_lacks_a_key_of_other_tokens_is_not_proved(void **state)
{
    static const double scales[] = {0.5, 2, 4};
    tally t = {0};
    (void)state;
    sweep(&t, (recipe){.n = 4, .v = 3, .drop_row = 4}, scales, RUNG_COUNT(scales), false);
    assert_true(t.proved < RUNG_COUNT(scales) * RUNG_COUNT(formats));
    sweep(&t, (recipe){.n = 4, .v = 4, .drop_row = 2}, scales, RUNG_COUNT(scales), true);
    sweep(&t, (recipe){.n = 4, .v = 4, .asking_entries = true}, scales, RUNG_COUNT(scales), true);
    sweep(&t, (recipe){.n = 3, .v = 3, .asking_entries = true, .scalar = true}, scales, RUNG_COUNT(scales), false);
    t = (tally){0};
    sweep(&t, (recipe){.n = 4, .v = 2, .asking_entries = true, .lift = true}, scales, RUNG_COUNT(scales), false);
    assert_true(t.proved > 0);
    t.proved = 0;
    sweep(&t, (recipe){.n = 4, .v = 2, .asking_entries = true, .lift = true, .drop_row = 2}, scales, RUNG_COUNT(scales),
          false);
    assert_int_equal(t.proved, 0);
}

/* In e8m8 the average of fifteen times 63 is 64, which the table does not have. Nobody asks there, so the model does not stop;
 * the proof speaks of all tokens and is cautious. */
static void a_token_before_the_query_that_leaves_the_table_is_not_proved(void **state)
{
    recipe r = {.n = 64, .v = 64, .scale = 4, .scalar = true};
    rung_task_conf task = eva_task(64, 64);
    rung_model *model = make_lookup(&r);
    (void)state;
    rung_verify_result result = worst_case(model, &task, "e8m8");
    assert_int_equal(result.verdict, RUNG_UNKNOWN);
    assert_null(result.witness);
    rung_model_close(model);
}

static void answers_that_cannot_be_told_apart_are_refuted(void **state)
{
    static const double scales[] = {2, 4};
    tally t = {0};
    (void)state;
    sweep(&t, (recipe){.n = 4, .v = 4, .twin_answers = true}, scales, RUNG_COUNT(scales), true);
    sweep(&t, (recipe){.n = 4, .v = 4, .twin_tokens = true}, scales, RUNG_COUNT(scales), true);
    assert_int_equal(t.proved, 0);
}

static void a_key_that_reads_two_coordinates_is_bounded(void **state)
{
    static const double scales[] = {1, 2, 4};
    static const double spreads[] = {0.0625, -0.25, 0.5};
    tally t = {0};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(spreads); i++)
        sweep(&t, (recipe){.n = 4, .v = 4, .spread = spreads[i]}, scales, RUNG_COUNT(scales), false);
    sweep(&t, (recipe){.n = 4, .v = 4, .spread = 0.25, .two_heads = true}, scales, RUNG_COUNT(scales), false);
    assert_true(t.proved > effort(5, 1) && t.refuted > effort(5, 1));
}

static void other_models_are_unknown(void **state)
{
    recipe r = {.n = 4, .v = 4, .scale = 2};
    rung_model *model = make_lookup(&r);
    rung_task_conf task = eva_task(4, 4), other;
    rung_verify_result result;
    rung_error err;
    rung_fmt fmt = format_of("e8m4");
    (void)state;
    memset(&result, 0, sizeof result);
    CHECK(rung_worst_case(&result, model, &task, &(rung_verify_options){.method = RUNG_WORST_CASE}, &check_err));
    assert_int_equal(result.verdict, RUNG_UNKNOWN);
    CHECK(rung_worst_case(&result, model, &task,
                          &(rung_verify_options){.how = {.numbers = &fmt, .softmax = RUNG_SOFTMAX_REVERSE}},
                          &check_err));
    assert_int_equal(result.verdict, RUNG_UNKNOWN);
    CHECK(rung_task_conf_init(&other, "parity", NULL, 0, &check_err));
    CHECK(rung_worst_case(&result, model, &other, &(rung_verify_options){.how = {.numbers = &fmt}}, &check_err));
    assert_int_equal(result.verdict, RUNG_UNKNOWN);
    assert_int_equal(rung_worst_case_total(&other), 0);
    assert_int_equal(rung_worst_case_total(&task), 4);
    other = eva_task(5, 4);
    assert_int_equal(rung_worst_case(&result, model, &other, &(rung_verify_options){.how = {.numbers = &fmt}}, &err),
                     RUNG_USAGE);
    rung_model_close(model);
}

/* ---- what sampling misses -------------------------------------------------------------------------------------------------- */

static uint64_t wrong_samples(const rung_model *model, const rung_task_conf *task, const char *format, size_t count)
{
    rung_program *program = NULL;
    rung_session *session = NULL;
    rung_instance in;
    rung_fmt fmt = format_of(format);
    uint64_t wrong = 0;
    CHECK(rung_program_new(&program, model, &(rung_evaluator){.numbers = &fmt, .threads = 1}, &check_err));
    CHECK(rung_session_new(&session, program, task->tokens, &check_err));
    CHECK(rung_instance_init(&in, task, &check_err));
    for (size_t i = 0; i < count; i++) {
        CHECK(rung_task_make(&in, task, 1, i, &check_err));
        wrong += !answers_right(session, &in, task->answers, NULL);
    }
    rung_instance_clear(&in);
    rung_session_free(session), rung_program_free(program);
    return wrong;
}

/* (1 + e^-2s)^6 - 1 is 1.03 at s = 1.03: only tables that agree against the wanted bit go wrong. */
static void a_scale_a_little_too_small_passes_samples_and_is_refuted(void **state)
{
    recipe r = {.n = 64, .v = 64, .scale = 1.03};
    rung_task_conf task = eva_task(64, 64);
    rung_model *model = make_lookup(&r);
    (void)state;
    rung_verify_result result = worst_case(model, &task, "e8m9");
    assert_int_equal(result.verdict, RUNG_CANNOT);
    assert_witness(&result, model, &task, "e8m9");
    assert_int_equal(wrong_samples(model, &task, "e8m9", effort(1000, 100)), 0);
    free(result.witness);
    rung_model_close(model);
    r.scale = 1.3;
    model = make_lookup(&r);
    result = worst_case(model, &task, "e8m9");
    assert_int_equal(result.verdict, RUNG_CAN);
    rung_model_close(model);
}

static bool always(void)
{
    return true;
}

static void an_interrupted_proof_is_none(void **state)
{
    recipe r = {.n = 256, .v = 256, .scale = 2};
    rung_task_conf task = eva_task(256, 256);
    rung_model *model = make_lookup(&r);
    rung_verify_result result;
    rung_fmt fmt = format_of("e8m4");
    (void)state;
    memset(&result, 0, sizeof result);
    CHECK(rung_worst_case(&result, model, &task,
                          &(rung_verify_options){.how = {.numbers = &fmt, .threads = 1}, .interrupted = always},
                          &check_err));
    assert_int_equal(result.verdict, RUNG_UNKNOWN);
    assert_false(result.complete);
    double start_s = rung_wall_s();
    result = worst_case(model, &task, "e8m4");
    assert_int_equal(result.verdict, RUNG_CAN);
    assert_true(rung_wall_s() - start_s < 5); /* 0.02 s of work; the machine may be busy */
    rung_model_close(model);
}

/* ---- membership ------------------------------------------------------------------------------------------------------------- */

/* Every output that occurs lies in the bounds of its query and answer. */
typedef struct bounded {
    const sum_recipe *r;
    const char *format;
    wc_span y[16][2];
} bounded;

static void lies_within(void *context, const rung_instance *in, const double *out)
{
    const bounded *b = context;
    size_t last = in->tokens - 1, query = in->token[last] - b->r->m;
    wc_span y = b->y[query][in->target[last]];
    if (!(y.lo <= out[1] && out[1] <= y.hi))
        fail_msg("M = %zu %s query %zu: %a is outside [%a, %a]", b->r->m, b->format, query, out[1], y.lo, y.hi);
}

static void bound_outputs(bounded *b, const rung_model *model, const rung_task_conf *task)
{
    wc_weights w;
    rung_fmt fmt = format_of(b->format);
    rung_verify_result result;
    memset(&result, 0, sizeof result);
    CHECK(wc_weights_load(&w, model, &fmt, &check_err));
    wc_run run = {.result = &result, .model = model, .task = task, .w = &w};
    member_task t = {.run = &run};
    static member_worker wk;
    rung_arena_init(&t.arena);
    CHECK(wc_member_prepare(&t, &run));
    assert_true(wc_member_worker(&wk, &t, NULL));
    for (size_t y = 0; y < t.modulus; y++) {
        assert_true(wc_member_bounds(&t, &wk, y));
        b->y[y][0] = wk.y[0], b->y[y][1] = wk.y[1];
    }
    rung_arena_clear(&t.arena);
    wc_weights_clear(&w);
}

static void bounds_hold_for_every_prompt(void **state)
{
    static const sum_recipe recipes[] = {{.n = 3, .m = 5, .gap = 0.3},
                                         {.n = 3, .m = 6, .gap = 1, .mixed = true},
                                         {.n = 4, .m = 4, .gap = 0.5, .mixed = true, .blank = true},
                                         {.n = 4, .m = 5, .gap = 3, .blank = true},
                                         {.n = 3, .m = 6, .gap = -1, .mixed = true, .blank = true}};
    (void)state;
    for (size_t n = 0; n < RUNG_COUNT(recipes); n++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            if (!tried_in(n, f)) continue;
            sum_recipe r = recipes[n];
            r.no_table = true; /* the read-out of yes is the output of the head */
            bounded b = {.r = &r, .format = formats[f]};
            rung_task_conf task = sum_task(&r);
            rung_model *model = make_sum(&r);
            bound_outputs(&b, model, &task);
            brute_force(model, &task, formats[f], lies_within, &b);
            rung_model_close(model);
        }
}

static void numbers_whose_keys_see_the_position_are_not_proved(void **state)
{
    sum_recipe r = {.n = 3, .m = 5, .gap = 8, .blank = true, .position_key = true};
    rung_task_conf task = sum_task(&r);
    rung_model *model = make_sum(&r);
    (void)state;
    rung_verify_result result = worst_case(model, &task, "e8m7");
    assert_int_equal(result.verdict, RUNG_UNKNOWN);
    rung_model_close(model);
}

static void membership_needs_all_keys_of_the_table(void **state)
{
    sum_recipe r = {.n = 3, .m = 5, .gap = 8, .blank = true, .drop_zero = true};
    rung_task_conf task = sum_task(&r);
    rung_model *model = make_sum(&r);
    (void)state;
    rung_verify_result result = worst_case(model, &task, "e8m7");
    assert_int_not_equal(result.verdict, RUNG_CAN);
    free(result.witness);
    rung_model_close(model);
}

/* Many copies of the closest miss outweigh the blank: no prompt of random numbers shows it. */
static void copies_of_the_closest_miss_are_found(void **state)
{
    sum_recipe r = {.n = 40, .m = 16, .gap = 6, .blank = true};
    rung_task_conf task = sum_task(&r);
    rung_model *model = make_sum(&r);
    (void)state;
    rung_verify_result result = worst_case(model, &task, "e8m12");
    assert_int_equal(result.verdict, RUNG_CANNOT);
    assert_witness(&result, model, &task, "e8m12");
    assert_int_equal(wrong_samples(model, &task, "e8m12", effort(300, 50)), 0);
    free(result.witness);
    rung_model_close(model);
    r.gap = 12;
    model = make_sum(&r);
    result = worst_case(model, &task, "e8m12");
    assert_int_equal(result.verdict, RUNG_CAN);
    rung_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict_is_that_of_every_table),
        cmocka_unit_test(scalar_values_are_decided_too),
        cmocka_unit_test(many_queries_agree_with_every_pair_of_permutations),
        cmocka_unit_test(many_queries_that_differ_by_place_or_token_are_not_proved),
        cmocka_unit_test(extremes_are_attained),
        cmocka_unit_test(keys_that_see_the_token_are_not_proved),
        cmocka_unit_test(values_that_see_the_position_are_not_proved),
        cmocka_unit_test(a_table_that_lacks_a_key_of_other_tokens_is_not_proved),
        cmocka_unit_test(a_token_before_the_query_that_leaves_the_table_is_not_proved),
        cmocka_unit_test(answers_that_cannot_be_told_apart_are_refuted),
        cmocka_unit_test(a_key_that_reads_two_coordinates_is_bounded),
        cmocka_unit_test(other_models_are_unknown),
        cmocka_unit_test(a_scale_a_little_too_small_passes_samples_and_is_refuted),
        cmocka_unit_test(an_interrupted_proof_is_none),
        cmocka_unit_test(membership_agrees_with_every_prompt),
        cmocka_unit_test(bounds_hold_for_every_prompt),
        cmocka_unit_test(numbers_whose_keys_see_the_position_are_not_proved),
        cmocka_unit_test(membership_needs_all_keys_of_the_table),
        cmocka_unit_test(copies_of_the_closest_miss_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
