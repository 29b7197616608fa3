/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Models that do what a theorem forbids because one of its premises does not hold for them. Each is run and right; the claim
 * about it is not CANNOT; and the same claim with that one premise taken for granted is CANNOT: so the premise matters.
 */
#include "build/build_test.h"
#include "hand_made.h"

enum { SAMPLES = 600 };

/* ---- two claims that differ in one thing ------------------------------------------------------------------------------------- */

static rung_bound_report judge(const rung_subject *subject, const rung_claim_spec *about)
{
    static rung_bound_report report;
    rung_claim *claim;
    CHECK(rung_claim_new(&claim, subject, about, &check_err));
    CHECK(rung_bound_answers(&report, claim, false, &check_err));
    rung_claim_free(claim);
    return report;
}

static const rung_bound_answer *row_of(const rung_bound_report *report, const char *id)
{
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->answer[i].bound->id, id) == 0) return &report->answer[i];
    fail_msg("no row %s", id);
    return NULL;
}

static void assert_not_refuted(const rung_subject *subject, const rung_claim_spec *about)
{
    rung_bound_report report = judge(subject, about);
    for (size_t i = 0; i < report.count; i++)
        if (report.answer[i].verdict == RUNG_CANNOT)
            fail_msg("%s refutes what was run: %s", report.answer[i].bound->id, report.answer[i].statement);
}

static void assert_refuted_by(const char *id, const rung_subject *subject, const rung_claim_spec *about)
{
    rung_bound_report report = judge(subject, about);
    const rung_bound_answer *answer = row_of(&report, id);
    if (answer->verdict != RUNG_CANNOT) fail_msg("%s does not refute: %s; %s", id, answer->premise, answer->statement);
}

static void assert_missing(const char *id, rung_premise premise, const rung_subject *subject,
                           const rung_claim_spec *about)
{
    rung_bound_report report = judge(subject, about);
    const rung_bound_answer *answer = row_of(&report, id);
    assert_false(answer->applies);
    assert_int_equal(answer->missing, (int)premise);
}

static rung_subject *subject_of(const rung_model *model)
{
    rung_subject *subject;
    CHECK(rung_subject_model(&subject, model, "by hand", &check_err));
    return subject;
}

static rung_subject *arch_of(const char *text, size_t heads, size_t dk, size_t dv)
{
    rung_subject *subject;
    CHECK(rung_subject_arch(&subject, text, &(rung_arch_defaults){heads, dk, dv, true}, &check_err));
    return subject;
}

/* Layers of which the test says what they are. */
static rung_subject *layers_as(stack *s, size_t count, const rung_ledger_layer *layer)
{
    rung_subject *subject;
    CHECK(rung_subject_layers(&subject, stack_of(s, count, layer), &check_err));
    return subject;
}

static rung_claim_spec about_bits(const rung_task_conf *task, int bits)
{
    rung_claim_spec about = rung_claim_spec_of_prompt(task, 0);
    rung_claim_spec_set_bits(&about, bits);
    return about;
}

static void assert_right(const rung_model *model, const rung_task_conf *task, const char *format, rung_softmax softmax)
{
    assert_int_equal(wrong_of_model(model, task, format, softmax, SAMPLES), 0);
}

/* ---- kinds: a convolution before attention -------------------------------------------------------------------------------------- */

/* The convolution as nothing, and as recurrent heads beside full ones: both are what it is not. */
static rung_ledger_layer without_convolution(const rung_subject *subject)
{
    rung_ledger_layer held = rung_subject_ledger(subject)->layer[0];
    assert_true(held.full && held.conv_elements > 0);
    held.conv_elements = 0, held.recurrent = false;
    return held;
}

static rung_ledger_layer convolution_beside(const rung_subject *subject)
{
    rung_ledger_layer held = rung_subject_ledger(subject)->layer[0];
    held.state_elements = held.conv_elements, held.conv_elements = 0;
    return held;
}

static void check_convolution(rung_model *model, const rung_task_conf *task, const char *plain, const char *beside)
{
    rung_subject *subject = subject_of(model), *other;
    rung_claim_spec about = about_bits(task, 32);
    stack s;
    assert_right(model, task, NULL, RUNG_SOFTMAX_ONLINE);
    assert_right(model, task, "f32", RUNG_SOFTMAX_ONLINE);
    assert_not_refuted(subject, &about);
    rung_ledger_layer held = without_convolution(subject);
    other = layers_as(&s, 1, &held);
    assert_refuted_by(plain, other, &about);
    rung_subject_free(other);
    held = convolution_beside(subject);
    other = layers_as(&s, 1, &held);
    assert_refuted_by(beside, other, &about);
    rung_subject_free(other);
    rung_subject_free(subject);
    rung_model_close(model);
}

static void test_convolution_composes(void **state)
{
    rung_task_conf task = task_of("seqcomp L=1 N0=64");
    (void)state;
    check_convolution(conv_composes(&task), &task, "A'", "headwise");
}

static void test_convolution_continues(void **state)
{
    rung_task_conf task = task_of("c-gram c=3 N=600 V=256");
    (void)state;
    check_convolution(conv_continues(&task), &task, "cut-one", "cut-one");
}

/* ---- at once: thoughts ------------------------------------------------------------------------------------------------------------ */

static void test_thoughts_open_blocks(void **state)
{
    rung_task_conf task = task_of("two-sum N=192 M=512");
    rung_model *model = opens_one_by_one(&task, 64);
    rung_subject *subject = subject_of(model), *silent = arch_of(rung_model_get_spec(model)->arch, 1, 5, 1);
    rung_claim_spec about = about_bits(&task, 32);
    (void)state;
    assert_right(model, &task, NULL, RUNG_SOFTMAX_ONLINE);
    assert_right(model, &task, "f32", RUNG_SOFTMAX_ONLINE);
    assert_not_refuted(subject, &about);
    assert_missing("sparse", RUNG_PREMISE_AT_ONCE, subject, &about);
    assert_refuted_by("sparse", silent, &about);
    rung_subject_free(silent);
    rung_subject_free(subject);
    rung_model_close(model);
}

/* ---- state and order: another evaluator ------------------------------------------------------------------------------------------ */

/* Right in the fast evaluator, of which the row says nothing; wrong in the exact one, where it refutes. */
static void check_fast(rung_model *model, const rung_task_conf *task, const char *id, rung_premise premise)
{
    rung_subject *subject = subject_of(model);
    rung_claim_spec fast = about_bits(task, 32), exact = fast;
    fast.kernel = RUNG_KERNEL_FAST;
    assert_right(model, task, NULL, RUNG_SOFTMAX_ONLINE);
    assert_not_refuted(subject, &fast);
    assert_missing(id, premise, subject, &fast);
    assert_true(goes_wrong_model(model, task, "f32", SAMPLES));
    assert_refuted_by(id, subject, &exact);
    rung_subject_free(subject);
    rung_model_close(model);
}

static void test_clamp_of_the_fast_evaluator(void **state)
{
    rung_task_conf task = task_of("seqcomp L=1 N0=75 V=16");
    (void)state;
    check_fast(clamp_composes(&task), &task, "A'", RUNG_PREMISE_STATE); /* the first of two that it violates */
}

static void test_chunk_of_the_fast_evaluator(void **state)
{
    rung_task_conf task = task_of("eva N=31 V=16 form=pair K=31");
    (void)state;
    check_fast(chunk_looks_up(&task), &task, "A", RUNG_PREMISE_STATE);
}

static void test_other_orders_of_the_sum(void **state)
{
    static const rung_kernel kernels[] = {RUNG_KERNEL_TWO_PASS, RUNG_KERNEL_REVERSE};
    static const rung_softmax orders[] = {RUNG_SOFTMAX_TWO_PASS, RUNG_SOFTMAX_REVERSE};
    rung_build b = build_of("loophole N0=60");
    rung_model *model = model_of(&b);
    rung_subject *subject = subject_of(model);
    rung_claim_spec about = about_bits(&b.task, 32);
    (void)state;
    assert_true(goes_wrong_model(model, &b.task, "f32", SAMPLES));
    assert_refuted_by("A'", subject, &about);
    for (size_t i = 0; i < RUNG_COUNT(kernels); i++) {
        about.kernel = kernels[i];
        assert_right(model, &b.task, "f32", orders[i]);
        assert_not_refuted(subject, &about);
        assert_missing("A'", RUNG_PREMISE_ORDER, subject, &about);
    }
    rung_subject_free(subject);
    rung_model_close(model);
}

/* ---- causal: an encoder ------------------------------------------------------------------------------------------------------------ */

static void test_encoder_sees_later_tokens(void **state)
{
    rung_build b = build_of("q-sparse-average N=4 q=3 d=1");
    rung_model *model = model_of(&b);
    rung_subject *subject = subject_of(model), *causal;
    rung_claim_spec about = about_bits(&b.task, 32);
    stack s;
    trial t = trial_begin(model, &b.task, "f32", RUNG_SOFTMAX_ONLINE);
    (void)state;
    trial_sample(&t, SAMPLES);
    assert_int_equal(t.wrong, 0);
    assert_true(t.distance < 1.0 / 3);
    trial_end(&t);
    assert_not_refuted(subject, &about);
    assert_missing("causal", RUNG_PREMISE_CAUSAL, subject, &about);
    causal = layers_as(&s, 1, rung_subject_ledger(subject)->layer);
    assert_refuted_by("causal", causal, &about);
    rung_subject_free(causal);
    rung_subject_free(subject);
    rung_model_close(model);
}

/* ---- layout: what is asked stands elsewhere ---------------------------------------------------------------------------------------- */

static void test_order_of_the_prompt(void **state)
{
    rung_task_conf first = task_of("seqcomp L=1 N0=40 order=first"), last = task_of("seqcomp L=1 N0=40");
    rung_model *model = last_token_asks(&first);
    rung_subject *subject = subject_of(model);
    rung_claim_spec about = about_bits(&first, 32), other = about_bits(&last, 32);
    (void)state;
    assert_right(model, &first, "f32", RUNG_SOFTMAX_ONLINE);
    assert_not_refuted(subject, &about);
    assert_missing("A'", RUNG_PREMISE_LAYOUT, subject, &about);
    assert_refuted_by("A'", subject, &other);
    rung_subject_free(subject);
    rung_model_close(model);
}

/* ---- once and own-cache: what a file may leave out ------------------------------------------------------------------------------------ */

/* One layer in a file, which runs twice: the model with that layer written down twice does what one layer cannot. */
static void test_layer_that_runs_twice(void **state)
{
    rung_task_conf task = task_of("seqcomp L=1 N0=64");
    rung_model *model = loop_composes(&task);
    rung_subject *subject = subject_of(model), *once;
    rung_claim_spec about = about_bits(&task, 32);
    stack s;
    (void)state;
    assert_right(model, &task, "f32", RUNG_SOFTMAX_ONLINE);
    assert_not_refuted(subject, &about);
    once = layers_as(&s, 1, rung_subject_ledger(subject)->layer);
    assert_refuted_by("A'", once, &about);
    for (rung_fact fact = RUNG_NOT_ESTABLISHED; fact <= RUNG_VIOLATED; fact++) {
        s.ledger.known[RUNG_LEDGER_ONCE].is = fact;
        if (fact == RUNG_ESTABLISHED) continue;
        assert_not_refuted(once, &about);
        assert_missing("A'", RUNG_PREMISE_ONCE, once, &about);
    }
    rung_subject_free(once);
    rung_subject_free(subject);
    rung_model_close(model);
}

/* A layer of which a file says "window", and which in truth reads the cache that the full layer before it keeps: two full layers
 * compose, a full one and a window of a few tokens do not. */
static void test_layer_that_reads_the_cache_of_another(void **state)
{
    rung_build b = build_of("seqcomp L=1 N0=64 linear=none");
    rung_model *model = model_of(&b);
    rung_subject *subject = subject_of(model), *shared;
    rung_claim_spec about = about_bits(&b.task, 10); /* in numbers of e8m1 the keys of bits are exact */
    const rung_ledger *ledger = rung_subject_ledger(subject);
    stack s;
    (void)state;
    assert_right(model, &b.task, "e8m1", RUNG_SOFTMAX_ONLINE);
    assert_not_refuted(subject, &about);
    assert_int_equal(ledger->layer_count, 2);
    rung_ledger_layer layer[2] = {ledger->layer[0],
                                  {.window = true, .window_size = 1, .heads = 1, .value_dim = 1, .key_dim = 1}};
    shared = layers_as(&s, 2, layer);
    assert_refuted_by("A'", shared, &about);
    s.ledger.known[RUNG_LEDGER_OWN_CACHE] = (rung_known){RUNG_VIOLATED, "the second layer reads the first one's cache"};
    assert_not_refuted(shared, &about);
    assert_missing("A'", RUNG_PREMISE_OWN_CACHE, shared, &about);
    rung_subject_free(shared);
    rung_subject_free(subject);
    rung_model_close(model);
}

/* ---- counted: one thought more ------------------------------------------------------------------------------------------------------- */

/* One full layer and two thoughts compose two functions, at a size at which one thought is not enough. */
static void test_one_more_thought(void **state)
{
    rung_build b = build_of("seqcomp-cot L=2 N0=128 n=1");
    rung_model *model = model_of(&b);
    rung_subject *subject = subject_of(model), *layers;
    rung_claim_spec about = about_bits(&b.task, 10);
    (void)state;
    CHECK(rung_subject_layers(&layers, rung_subject_ledger(subject), &check_err));
    assert_right(model, &b.task, "e8m1", RUNG_SOFTMAX_ONLINE);
    about.at_once = RUNG_VIOLATED;
    assert_not_refuted(layers, &about);
    assert_missing("K1", RUNG_PREMISE_COUNTED, layers, &about);
    about.thoughts = 2;
    assert_not_refuted(layers, &about);
    about.thoughts = 1;
    assert_refuted_by("K1", layers, &about);
    assert_missing("K1", RUNG_PREMISE_COUNTED, subject, &about); /* the model itself says two */
    rung_subject_free(layers);
    rung_subject_free(subject);
    rung_model_close(model);
}

/* ---- sizes that are fixed ---------------------------------------------------------------------------------------------------------------- */

static rung_claim_spec about_length(const rung_task_conf *task, uint64_t n, int bits)
{
    rung_claim_spec about = rung_claim_spec_of_prompt(task, n);
    rung_claim_spec_set_bits(&about, bits);
    return about;
}

static void check_length(const char *arch, size_t dim, const char *fixed, const char *free, uint64_t n, int bits,
                         const char *id)
{
    rung_subject *subject = arch_of(arch, 1, dim, dim);
    rung_task_conf few = task_of(fixed), many = task_of(free);
    rung_claim_spec about = about_length(&few, n, bits), other = about_length(&many, n, bits);
    assert_not_refuted(subject, &about);
    assert_refuted_by(id, subject, &other);
    rung_subject_free(subject);
}

/* A length never changes an alphabet that the options fix: one value needs no state, two keys have two values. */
static void test_alphabets_that_are_fixed(void **state)
{
    (void)state;
    check_length("rnn:dv=4", 4, "eva V=1", "eva", 100, 16, "A");
    check_length("linear", 2, "eva form=pair K=20 V=2", "eva form=pair V=2", 1000, 16, "A");
    check_length("linear", 4, "assoc-recall K=20 V=2", "assoc-recall V=2", 10000, 16, "cut");
    check_length("full@1|linear@1", 4, "seqcomp L=2 V=1", "seqcomp L=2", 100, 8, "headwise");
    check_length("full", 4, "seqcomp L=1 V=1", "seqcomp L=1", 1000, 16, "A'");
    check_length("linear", 4, "seqcomp L=2 V=1", "seqcomp L=2", 1000, 16, "A-compose");
}

/* Twelve values of one bit in a state of one number, with a prompt of 13 tokens. */
static void test_two_values_that_fit(void **state)
{
    rung_build b = build_of("eva-recurrent N=12 V=2 pack=12");
    rung_model *model = model_of(&b);
    rung_subject *subject = subject_of(model);
    rung_task_conf two = task_of("eva V=2"), any = task_of("eva");
    (void)state;
    assert_right(model, &b.task, "f32", RUNG_SOFTMAX_ONLINE);
    rung_claim_spec about = about_length(&two, 13, 32), other = about_length(&any, 13, 32);
    assert_not_refuted(subject, &about);
    assert_refuted_by("A", subject, &other); /* 12 values of 12 kinds are 43 bits */
    rung_subject_free(subject);
    rung_model_close(model);
}

/* What the words fix is never outgrown: with N=8 a length of 10000 is not asked about, and one that is too short is an error. */
static void test_lengths_that_are_fixed(void **state)
{
    rung_subject *subject = arch_of("linear", 1, 8, 8);
    rung_task_conf task = task_of("assoc-recall N=8 K=8 V=2");
    rung_claim_spec about = about_length(&task, 10000, 16);
    rung_claim *claim;
    (void)state;
    assert_not_refuted(subject, &about);
    about.n = 5;
    assert_int_equal(rung_claim_new(&claim, subject, &about, &check_err), RUNG_USAGE);
    assert_null(claim);
    rung_subject_free(subject);
}

/* ---- every premise ------------------------------------------------------------------------------------------------------------- */

typedef void shown(void **state);

/* What a premise is for: a model that violates it, alone or with others that its theorem needs less, or why none is known. */
static const struct {
    shown *model[3];
    const char *none;
} shown_by[RUNG_PREMISES] = {
    [RUNG_PREMISE_CAUSAL] = {{test_encoder_sees_later_tokens}, NULL},
    [RUNG_PREMISE_KINDS] = {{test_convolution_composes, test_convolution_continues}, NULL},
    [RUNG_PREMISE_ONCE] = {{test_layer_that_runs_twice}, NULL},
    [RUNG_PREMISE_OWN_CACHE] = {{test_layer_that_reads_the_cache_of_another}, NULL},
    [RUNG_PREMISE_STATE] = {{test_chunk_of_the_fast_evaluator}, NULL},
    [RUNG_PREMISE_ORDER] = {{test_other_orders_of_the_sum, test_clamp_of_the_fast_evaluator}, NULL},
    [RUNG_PREMISE_SUMMARY] =
        {{NULL},
         "the evaluators here keep one summary per block; only the fast one adds it up in an order that "
         "nobody has described, and no model is known that gains by that"},
    [RUNG_PREMISE_LAYOUT] = {{test_order_of_the_prompt}, NULL},
    [RUNG_PREMISE_ENDS] =
        {{NULL},
         "a token after the last one of the task is one more receiver, and the proofs count receivers; no "
         "model is known for which one more is enough"},
    [RUNG_PREMISE_AT_ONCE] = {{test_thoughts_open_blocks}, NULL},
    [RUNG_PREMISE_COUNTED] = {{test_one_more_thought}, NULL},
};

static void test_every_premise_is_shown_or_has_a_reason(void **state)
{
    (void)state;
    for (size_t p = 0; p < RUNG_PREMISES; p++)
        if ((shown_by[p].model[0] != NULL) == (shown_by[p].none != NULL))
            fail_msg("premise %s: a model, or a reason why there is none", rung_premise_names[p]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convolution_composes),
        cmocka_unit_test(test_convolution_continues),
        cmocka_unit_test(test_thoughts_open_blocks),
        cmocka_unit_test(test_clamp_of_the_fast_evaluator),
        cmocka_unit_test(test_chunk_of_the_fast_evaluator),
        cmocka_unit_test(test_other_orders_of_the_sum),
        cmocka_unit_test(test_encoder_sees_later_tokens),
        cmocka_unit_test(test_order_of_the_prompt),
        cmocka_unit_test(test_layer_that_runs_twice),
        cmocka_unit_test(test_layer_that_reads_the_cache_of_another),
        cmocka_unit_test(test_one_more_thought),
        cmocka_unit_test(test_alphabets_that_are_fixed),
        cmocka_unit_test(test_two_values_that_fit),
        cmocka_unit_test(test_lengths_that_are_fixed),
        cmocka_unit_test(test_every_premise_is_shown_or_has_a_reason),
    };
    return cmocka_run_group_tests_name("models that violate a premise", tests, NULL, NULL);
}
