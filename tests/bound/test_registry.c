/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Every row of the mechanism registry states its class, and its class is what carry() says. A row that states none is a mechanism
 * of which nothing is known: no theorem may speak of layers that have one.
 */
#include "../../src/claim/subject.h"
#include "rows_test.h"

static const size_t lengths[] = {1, 2, 3, 7, 31, 32, 33, 255, 256, 1000, 4095, 4096, (size_t)1 << 20};

static rung_mech_conf conf_of(const rung_mech *mech)
{
    rung_mech_conf conf = {.mech = mech, .heads = 2, .dk = 4, .dv = 3, .causal = true};
    rung_param_defaults(conf.params, mech->params);
    if (rung_mech_check(&conf, &check_err) == RUNG_OK) return conf;
    conf.dv = 4;
    CHECK(rung_mech_check(&conf, &check_err));
    return conf;
}

/* ---- what a class says of carry() ---------------------------------------------------------------------------------------------- */

static void check_scan(const rung_mech_conf *conf, size_t tokens, rung_carry now)
{
    (void)conf;
    assert_int_equal(now.recurrent + now.window + now.conv, 0);
    assert_true(now.cache >= tokens); /* grows by at least a number per token */
}

static void check_state(const rung_mech_conf *conf, size_t tokens, rung_carry now)
{
    (void)tokens;
    assert_int_equal(now.window + now.cache + now.conv, 0);
    assert_true(now.recurrent > 0);
    assert_int_equal(now.recurrent, conf->mech->carry(conf, 1).recurrent);
}

static void check_window(const rung_mech_conf *conf, size_t tokens, rung_carry now)
{
    size_t most = (size_t)rung_mech_param(conf, "W") * conf->heads * (conf->dk + conf->dv);
    (void)tokens;
    assert_int_equal(now.recurrent + now.cache + now.conv, 0);
    assert_true(now.window > 0 && now.window <= most);
    assert_int_equal(conf->mech->carry(conf, (size_t)1 << 40).window, most);
}

static void check_levels(const rung_mech_conf *conf, size_t tokens, rung_carry now)
{
    size_t one = conf->mech->carry(conf, 1).recurrent;
    assert_int_equal(now.window + now.cache + now.conv, 0);
    assert_true(one > 0);
    assert_int_equal(now.recurrent, one * (size_t)__builtin_popcountll(tokens));
}

static void check_selecting(const rung_mech_conf *conf, size_t tokens, rung_carry now)
{
    assert_int_equal(now.recurrent + now.window + now.conv, 0);
    assert_true(now.cache >= tokens);
    assert_non_null(conf->mech->selects);
    rung_selection s = conf->mech->selects(conf);
    assert_true(s.top > 0);
    if (conf->mech->class_of == RUNG_CLASS_TOP)
        assert_true(s.block == 1 && s.summary == 0);
    else
        assert_true(s.block > 1 && s.summary > 0);
}

static void check_tokenwise(const rung_mech_conf *conf, size_t tokens, rung_carry now)
{
    (void)conf, (void)tokens;
    assert_int_equal(rung_carry_total(now), 0);
}

typedef void check_class(const rung_mech_conf *conf, size_t tokens, rung_carry now);

static check_class *const checks[] = {
    [RUNG_CLASS_SCAN] = check_scan,           [RUNG_CLASS_STATE] = check_state,      [RUNG_CLASS_WINDOW] = check_window,
    [RUNG_CLASS_LEVELS] = check_levels,       [RUNG_CLASS_BLOCKS] = check_selecting, [RUNG_CLASS_TOP] = check_selecting,
    [RUNG_CLASS_TOKENWISE] = check_tokenwise,
};

static bool selects(rung_class class_of)
{
    return class_of == RUNG_CLASS_BLOCKS || class_of == RUNG_CLASS_TOP;
}

static void test_every_row_states_its_class(void **state)
{
    (void)state;
    for (size_t i = 0; i < rung_mech_count(); i++) {
        const rung_mech *mech = rung_mech_at(i);
        rung_mech_conf conf = conf_of(mech);
        if (mech->class_of <= RUNG_CLASS_NONE || (size_t)mech->class_of >= RUNG_COUNT(checks))
            fail_msg("%s does not state its class", mech->name);
        print_message("%s: %s\n", mech->name, rung_class_names[mech->class_of]);
        for (size_t k = 0; k < RUNG_COUNT(lengths); k++)
            checks[mech->class_of](&conf, lengths[k], mech->carry(&conf, lengths[k]));
        assert_true(selects(mech->class_of) == (mech->selects != NULL));
        assert_true(mech->recurrent == (mech->class_of == RUNG_CLASS_STATE || mech->class_of == RUNG_CLASS_LEVELS));
        if (mech->any_softmax) assert_true(mech->traits & RUNG_TRAIT_SOFTMAX);
    }
}

/* ---- what a layer of each class is for the theorems ------------------------------------------------------------------------------- */

static rung_ledger_layer held_of(const rung_mech_conf *conf, rung_known known[RUNG_LEDGER_FACTS])
{
    rung_layer layer = {1, conf};
    rung_arch arch = {.layer_count = 1, .layer = &layer};
    rung_ledger ledger;
    CHECK(claim_ledger_of_arch(&ledger, &arch, "one layer", &check_err));
    rung_ledger_layer held = ledger.layer[0];
    memcpy(known, ledger.known, sizeof ledger.known);
    rung_ledger_clear(&ledger);
    return held;
}

/* All that carry() says crosses a cut is in the ledger. */
static void test_every_row_becomes_its_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < rung_mech_count(); i++) {
        rung_mech_conf conf = conf_of(rung_mech_at(i));
        rung_known known[RUNG_LEDGER_FACTS];
        rung_ledger_layer held = held_of(&conf, known);
        rung_class class_of = conf.mech->class_of;
        for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++) assert_int_equal(known[f].is, RUNG_ESTABLISHED);
        assert_true(held.full == (class_of == RUNG_CLASS_SCAN));
        assert_true(held.recurrent == (class_of == RUNG_CLASS_STATE || class_of == RUNG_CLASS_LEVELS));
        assert_true(held.levels == (class_of == RUNG_CLASS_LEVELS));
        assert_true(held.window == (class_of == RUNG_CLASS_WINDOW));
        assert_true(held.sparse == selects(class_of));
        assert_true(held.mlp == (class_of == RUNG_CLASS_TOKENWISE) && !held.chunk);
        rung_carry far = conf.mech->carry(&conf, (size_t)1 << 40);
        assert_int_equal(held.state_elements, far.recurrent);
        assert_int_equal(held.window_elements, far.window);
        /* the keys of an indexer are counted apart */
        uint64_t index = held.sparse ? held.index_elements : 0;
        assert_int_equal(held.kv_per_token + index, conf.mech->carry(&conf, 1).cache);
        if (held.sparse) {
            rung_selection told = conf.mech->selects(&conf);
            assert_true(held.block == told.block && held.top == told.top && held.window_size == told.window);
            assert_true(held.summary_elements == told.summary && held.index_elements == told.index);
            assert_true(held.summary_by_position == told.summary_by_position);
        }
        if (held.window) assert_int_equal(held.window_size, rung_mech_param(&conf, "W"));
        if (held.full || held.sparse || held.window)
            assert_true(held.heads == 2 && held.value_dim == conf.dv && held.key_dim == 4);
    }
}

/* A summary that the last token of a block says as it likes. */
static void test_a_summary_by_position(void **state)
{
    static const char *const texts[] = {"sparse:comp=mean", "sparse:comp=given"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        rung_subject *subject;
        CHECK(rung_subject_arch(&subject, texts[i], &(rung_arch_defaults){1, 2, 2, true}, &check_err));
        assert_int_equal(rung_subject_ledger(subject)->layer[0].summary_by_position, i);
        rung_subject_free(subject);
    }
}

/* A row that says that nothing passes from token to token; beside another mechanism the layer is that of the other one. */
static void test_a_token_wise_row(void **state)
{
    rung_mech alone = *rung_mech_get("full");
    alone.class_of = RUNG_CLASS_TOKENWISE;
    rung_mech_conf group[2] = {conf_of(&alone), conf_of(rung_mech_get("linear"))};
    rung_layer layer[2] = {{1, group}, {2, group}};
    rung_arch arch = {.layer_count = 2, .layer = layer};
    rung_ledger ledger;
    (void)state;
    CHECK(claim_ledger_of_arch(&ledger, &arch, "token-wise", &check_err));
    assert_int_equal(ledger.known[RUNG_LEDGER_KINDS].is, RUNG_ESTABLISHED);
    assert_true(ledger.layer[0].mlp && !ledger.layer[0].full && !ledger.layer[0].heads);
    assert_true(!ledger.layer[1].mlp && ledger.layer[1].recurrent);
    rung_ledger_clear(&ledger);
}

/* A convolution, an encoder, and a second group of heads. */
static void test_what_stands_around_a_mechanism(void **state)
{
    rung_mech_conf group[2] = {conf_of(rung_mech_get("full")), conf_of(rung_mech_get("linear"))};
    rung_known known[RUNG_LEDGER_FACTS];
    (void)state;
    group[0].conv = 3;
    rung_ledger_layer held = held_of(&group[0], known);
    assert_true(held.full && held.recurrent && held.conv_elements == rung_head_group_conv_elements(&group[0]));
    assert_int_equal(held.conv_elements, 2 * 2 * (4 + 4 + 3));
    group[0].conv = 0, group[0].causal = false;
    held_of(&group[0], known);
    assert_int_equal(known[RUNG_LEDGER_CAUSAL].is, RUNG_VIOLATED);
    group[0].causal = true;
    rung_layer layer = {2, group};
    rung_arch arch = {.layer_count = 1, .layer = &layer};
    rung_ledger ledger;
    CHECK(claim_ledger_of_arch(&ledger, &arch, "both", &check_err));
    assert_true(ledger.layer[0].full && ledger.layer[0].recurrent && ledger.layer[0].state_elements > 0);
    assert_int_equal(ledger.layer[0].heads, 2);
    rung_ledger_clear(&ledger);
}

/* ---- a row that states nothing ----------------------------------------------------------------------------------------------------- */

/* Whatever it carries: a growing cache, a state, or nothing that anybody counts. */
static rung_carry carry_cache(const rung_mech_conf *conf, size_t tokens)
{
    return (rung_carry){.cache = tokens * conf->heads};
}

static rung_carry carry_state(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return (rung_carry){.recurrent = conf->heads};
}

static rung_carry carry_nothing(const rung_mech_conf *conf, size_t tokens)
{
    (void)conf, (void)tokens;
    return (rung_carry){0};
}

static const rung_param no_params[] = {{0}};
static const rung_mech_input no_inputs[] = {{.name = NULL}};

typedef rung_carry carry_of(const rung_mech_conf *conf, size_t tokens);

static size_t refuted_of(rung_subject *subject, const char *task, uint64_t n)
{
    static rung_bound_report report;
    rung_task_conf conf = task_of(task);
    rung_claim_spec about = rung_claim_spec_of_prompt(&conf, n);
    rung_claim *claim;
    rung_claim_spec_set_bits(&about, 1);
    CHECK(rung_claim_new(&claim, subject, &about, &check_err));
    assert_int_equal(rung_claim_premise(claim, RUNG_PREMISE_KINDS).is, RUNG_NOT_ESTABLISHED);
    CHECK(rung_bound_answers(&report, claim, false, &check_err));
    rung_claim_free(claim);
    size_t refuted = 0;
    for (size_t i = 0; i < report.count; i++)
        if (report.answer[i].verdict == RUNG_CANNOT && strcmp(report.answer[i].bound->id, "causal") != 0) refuted++;
    return refuted;
}

/* The layers: the unknown row alone, beside and between others. The row `causal` is about the mask alone. */
static void check_unknown_row(carry_of *carry)
{
    static const char *const asks[] = {"eva", "seqcomp L=1", "seqcomp L=2", "seqcomp L=3"};
    rung_mech nobody = {.name = "nobody", .params = no_params, .inputs = no_inputs, .carry = carry};
    rung_mech_conf unknown = {.mech = &nobody, .heads = 1, .dk = 1, .dv = 1, .causal = true};
    rung_mech_conf group[3][2] = {
        {unknown}, {conf_of(rung_mech_get("full")), unknown}, {conf_of(rung_mech_get("rnn")), unknown}};
    rung_layer layer[] = {{1, group[0]}, {1, group[1]}, {1, group[2]}, {2, group[1]}, {2, group[2]}};
    static const size_t stacks[][2] = {{0, 1}, {0, 2}, {0, 3}, {3, 4}, {4, 5}};
    for (size_t k = 0; k < RUNG_COUNT(stacks); k++) {
        rung_arch arch = {.layer_count = stacks[k][1] - stacks[k][0], .layer = layer + stacks[k][0]};
        rung_ledger ledger;
        rung_subject *subject;
        CHECK(claim_ledger_of_arch(&ledger, &arch, "unknown", &check_err));
        CHECK(rung_subject_layers(&subject, &ledger, &check_err));
        for (size_t i = 0; i < rung_task_count(); i++)
            assert_int_equal(refuted_of(subject, rung_task_at(i)->name, 0), 0);
        for (size_t i = 0; i < RUNG_COUNT(asks); i++)
            assert_int_equal(refuted_of(subject, asks[i], UINT64_C(1) << 50), 0);
        rung_subject_free(subject);
        rung_ledger_clear(&ledger);
    }
}

static void test_a_row_without_a_class_gets_no_theorem(void **state)
{
    (void)state;
    check_unknown_row(carry_cache);
    check_unknown_row(carry_state);
    check_unknown_row(carry_nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_states_its_class),
        cmocka_unit_test(test_every_row_becomes_its_kind),
        cmocka_unit_test(test_a_summary_by_position),
        cmocka_unit_test(test_a_token_wise_row),
        cmocka_unit_test(test_what_stands_around_a_mechanism),
        cmocka_unit_test(test_a_row_without_a_class_gets_no_theorem),
    };
    return cmocka_run_group_tests_name("classes of mechanisms", tests, NULL, NULL);
}
