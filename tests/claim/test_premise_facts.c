/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Where each fact of a claim comes from: layers, arithmetic, prompt, subject. What nobody says is not established.
 */

#include "rung/claim.h"
#include "testing.h"

static rung_subject *arch(const char *text, bool causal)
{
    rung_subject *subject;
    CHECK(rung_subject_arch(&subject, text, &(rung_arch_defaults){1, 4, 4, causal}, &check_err));
    return subject;
}

static rung_task_conf task(const char *name, const char *word)
{
    rung_task_conf conf;
    CHECK(rung_task_conf_init(&conf, name, &word, word ? 1 : 0, &check_err));
    return conf;
}

static rung_claim *claim(const rung_subject *subject, const rung_claim_spec *about)
{
    rung_claim *c;
    CHECK(rung_claim_new(&c, subject, about, &check_err));
    return c;
}

/* '+' established, '-' violated, '?' not established, in the order of rung_premise. */
static void assert_facts(const rung_subject *subject, const rung_claim_spec *about, const char *expected)
{
    rung_claim *c = claim(subject, about);
    char found[RUNG_PREMISES + 1] = {0};
    for (int p = 0; p < RUNG_PREMISES; p++) {
        rung_known known = rung_claim_premise(c, (rung_premise)p);
        found[p] = "?+-"[known.is];
        if (known.is == RUNG_VIOLATED && !known.why)
            fail_msg("%s is violated, and nobody says why", rung_premise_names[p]);
    }
    if (strcmp(found, expected) != 0) fail_msg("facts %s, expected %s", found, expected);
    rung_claim_free(c);
}

static void test_all_established(void **state)
{
    rung_subject *subject = arch("full,linear,window:W=4,rnn", true);
    rung_task_conf eva = task("eva", NULL);
    rung_claim_spec about = rung_claim_spec_of_prompt(&eva, 0);
    (void)state;
    assert_facts(subject, &about, "+++++++++++");
    rung_subject_free(subject);
}

static void test_nothing_said(void **state)
{
    rung_subject *subject = arch("full", true);
    (void)state;
    assert_facts(subject, &(rung_claim_spec){0}, "++++???????");
    rung_claim_spec of_layers = rung_claim_spec_of_prompt(NULL, 0); /* of the layers alone */
    assert_facts(subject, &of_layers, "+++++++++++");
    rung_subject_free(subject);
}

static void test_kernels(void **state)
{
    static const char *const facts[] = {"++++???++++", "+++++++++++", "+++++-+++++", "+++++-+++++",
                                        "+++++-+++++", "+++++-+++++", "+++++-+++++", "++++--?++++"};
    rung_subject *subject = arch("full", true);
    rung_task_conf eva = task("eva", NULL);
    rung_claim_spec about = rung_claim_spec_of_prompt(&eva, 0);
    (void)state;
    about.tile = 4;
    for (int kernel = 0; kernel <= RUNG_KERNEL_FAST; kernel++) {
        about.kernel = (rung_kernel)kernel;
        assert_facts(subject, &about, facts[kernel]);
    }
    about.tile = 0; /* a tile of no size that anybody knows */
    about.kernel = RUNG_KERNEL_SPLIT, assert_facts(subject, &about, "+++++?+++++");
    about.kernel = RUNG_KERNEL_TILES, assert_facts(subject, &about, "+++++?+++++");
    about.kernel = RUNG_KERNEL_FAST;
    rung_claim *c = claim(subject, &about); /* the fast one: also what is not known has a reason */
    assert_non_null(rung_claim_premise(c, RUNG_PREMISE_SUMMARY).why);
    rung_claim_free(c);
    rung_subject_free(subject);
}

static void test_words_for_kernels(void **state)
{
    static const struct {
        const char *word;
        rung_kernel kernel;
        uint64_t tile;
    } good[] = {{"online", RUNG_KERNEL_ONLINE, 0}, {"two-pass", RUNG_KERNEL_TWO_PASS, 0},
                {"eager", RUNG_KERNEL_EAGER, 0},   {"split:256", RUNG_KERNEL_SPLIT, 256},
                {"tiles:1", RUNG_KERNEL_TILES, 1}, {"reverse", RUNG_KERNEL_REVERSE, 0},
                {"fast", RUNG_KERNEL_FAST, 0},     {"split:999999999", RUNG_KERNEL_SPLIT, 999999999}};
    static const char *const bad[] = {"",       "onlin",    "online:3", "split",    "split:",          "split:0",
                                      "tiles:", "tiles:-1", "tiles:3x", "split: 3", "split:1000000000"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(good); i++) {
        rung_kernel kernel;
        uint64_t tile;
        CHECK(rung_kernel_parse(&kernel, &tile, good[i].word, &check_err));
        assert_true(kernel == good[i].kernel && tile == good[i].tile);
    }
    for (size_t i = 0; i < RUNG_COUNT(bad); i++) {
        rung_kernel kernel;
        uint64_t tile;
        assert_int_equal(rung_kernel_parse(&kernel, &tile, bad[i], &check_err), RUNG_USAGE);
        assert_non_null(strstr(check_err.text, bad[i]));
    }
}

static void test_prompt(void **state)
{
    rung_subject *subject = arch("full", true);
    rung_task_conf first = task("seqcomp", "order=first"), last = task("seqcomp", "order=last");
    rung_claim_spec about = rung_claim_spec_of_prompt(&last, 0);
    (void)state;
    assert_facts(subject, &about, "+++++++++++");
    about.ends = RUNG_VIOLATED, about.at_once = RUNG_NOT_ESTABLISHED;
    assert_facts(subject, &about, "++++++++-??");
    about.layout = RUNG_VIOLATED, about.ends = RUNG_NOT_ESTABLISHED, about.at_once = RUNG_VIOLATED;
    assert_facts(subject, &about, "+++++++-?-?");
    about.thoughts = 3;
    assert_facts(subject, &about, "+++++++-?-+");
    about.at_once = RUNG_NOT_ESTABLISHED;
    assert_facts(subject, &about, "+++++++-???");
    about = rung_claim_spec_of_prompt(&first, 0);
    assert_facts(subject, &about, "+++++++-+++");
    about.layout = RUNG_NOT_ESTABLISHED;
    assert_facts(subject, &about, "+++++++?+++");
    rung_subject_free(subject);
}

static void test_encoder(void **state)
{
    rung_subject *subject = arch("2*full", false);
    rung_task_conf eva = task("eva", NULL);
    rung_claim_spec about = rung_claim_spec_of_prompt(&eva, 0);
    (void)state;
    assert_facts(subject, &about, "-++++++++++");
    rung_subject_free(subject);
}

static void test_thoughts(void **state)
{
    const rung_model_spec spec = {.arch = "full",
                                  .task = "",
                                  .mlp = "none",
                                  .vocab = 4,
                                  .answers = 3,
                                  .max_tokens = 8,
                                  .d_model = 2,
                                  .heads = 1,
                                  .dk = 1,
                                  .dv = 1,
                                  .positions = RUNG_POS_NONE,
                                  .norm = RUNG_NORM_NONE,
                                  .causal = true,
                                  .thoughts = 1};
    rung_task_conf eva = task("eva", NULL);
    rung_claim_spec about = rung_claim_spec_of_prompt(&eva, 0);
    rung_model *model;
    rung_subject *subject, *again;
    (void)state;
    CHECK(rung_model_random(&model, &spec, 1, &check_err));
    CHECK(rung_subject_model(&subject, model, "m", &check_err));
    assert_facts(subject, &about, "+++++++++-?");
    CHECK(rung_subject_repeat(&again, subject, 0, 1, 3, &check_err)); /* more layers, the same thoughts */
    assert_facts(again, &about, "+++++++++-?");
    rung_subject_free(again);
    rung_subject_free(subject);
    rung_model_close(model);
    /* A run counts only answers after its own number of thoughts; what else may follow is not known. */
    rung_train_spec run = {.model = spec, .thoughts = 3};
    rung_claim *claim;
    CHECK(rung_subject_run(&subject, &run, &check_err));
    assert_facts(subject, &about, "+++++++++-+");
    CHECK(rung_claim_new(&claim, subject, &about, &check_err));
    assert_int_equal(rung_claim_thoughts(claim), 3);
    rung_claim_free(claim);
    about.at_once = RUNG_NOT_ESTABLISHED;
    assert_facts(subject, &about, "+++++++++-?");
    about.at_once = RUNG_VIOLATED, about.thoughts = 5;
    assert_facts(subject, &about, "+++++++++-?");
    rung_subject_free(subject);
}

/* What a reader leaves open, and a layer of which it does not know what it is. */
static void test_layers_of_a_file(void **state)
{
    rung_ledger_layer layer[] = {{.full = true, .heads = 1, .value_dim = 1, .key_dim = 1}, {.mlp = true}};
    rung_ledger ledger = {.name = "file", .family = "", .spelling = "", .layer_count = 2, .layer = layer};
    rung_task_conf eva = task("eva", NULL);
    rung_claim_spec about = rung_claim_spec_of_prompt(&eva, 0);
    rung_subject *subject;
    (void)state;
    CHECK(rung_subject_layers(&subject, &ledger, &check_err));
    assert_facts(subject, &about, "????+++++++");
    for (int f = 0; f < RUNG_LEDGER_FACTS; f++) {
        static const char *const facts[] = {"+???+++++++", "?+??+++++++", "??+?+++++++", "???++++++++"};
        memset(ledger.known, 0, sizeof ledger.known);
        ledger.known[f].is = RUNG_ESTABLISHED;
        assert_facts(subject, &about, facts[f]);
    }
    for (int f = 0; f < RUNG_LEDGER_FACTS; f++) ledger.known[f].is = RUNG_ESTABLISHED;
    layer[1].mlp = false;
    assert_facts(subject, &about, "+?+++++++++");
    ledger.known[RUNG_LEDGER_KINDS] = (rung_known){RUNG_VIOLATED, "the kinds change with the length"};
    assert_facts(subject, &about, "+-+++++++++");
    ledger.known[RUNG_LEDGER_KINDS].is = RUNG_ESTABLISHED;
    const rung_ledger_layer kinds[] = {{.full = true},  {.recurrent = true}, {.window = true},
                                       {.chunk = true}, {.sparse = true},    {.mlp = true}};
    for (size_t i = 0; i < RUNG_COUNT(kinds); i++) {
        layer[1] = kinds[i];
        assert_facts(subject, &about, "+++++++++++");
    }
    rung_subject_free(subject);
}

/* Where nobody says how wide numbers are: accumulators have 32 bits whatever a file's dtype, states what the file says of states. */
static void test_bits(void **state)
{
    rung_ledger_layer layer = {.full = true, .heads = 1, .value_dim = 1, .key_dim = 1};
    static const struct {
        int number, state, expected[3];
    } cases[] = {{0, 0, {32, 32, 32}},
                 {16, 0, {32, 32, 16}},
                 {8, 0, {32, 32, 16}},
                 {64, 0, {64, 64, 64}},
                 {16, 16, {32, 16, 16}}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_ledger ledger = {.name = "file", .family = "", .spelling = "", .layer_count = 1, .layer = &layer};
        rung_subject *subject;
        ledger.number_bits = cases[i].number, ledger.state_bits = cases[i].state;
        CHECK(rung_subject_layers(&subject, &ledger, &check_err));
        rung_claim *c = claim(subject, &(rung_claim_spec){0});
        const rung_arithmetic *a = rung_claim_arithmetic(c);
        assert_int_equal(a->accumulator_bits, cases[i].expected[0]);
        assert_int_equal(a->state_bits, cases[i].expected[1]);
        assert_int_equal(a->cache_bits, cases[i].expected[2]);
        rung_claim_free(c);
        c = claim(subject, &(rung_claim_spec){.accumulator_bits = 7, .state_bits = 5, .cache_bits = 3});
        a = rung_claim_arithmetic(c);
        assert_true(a->accumulator_bits == 7 && a->state_bits == 5 && a->cache_bits == 3);
        rung_claim_free(c);
        rung_subject_free(subject);
    }
}

/* A length that the options fix stays, whatever n says. */
static void test_lengths(void **state)
{
    static const char *const fixed[][2] = {
        {"eva", "N=8"}, {"seqcomp", "N0=3"}, {"seqcomp", "n=3"}, {"mqar", "T=64"}, {"is-tree", "n=9"}};
    static const char *const open[][2] = {{"eva", "V=8"}, {"seqcomp", "L=3"}, {"two-sum", "M=9"}, {"c-gram", "c=2"}};
    rung_subject *subject = arch("full", true);
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(fixed); i++) {
        rung_task_conf conf = task(fixed[i][0], fixed[i][1]);
        rung_claim_spec about = rung_claim_spec_of_prompt(&conf, 5000);
        rung_claim *c = claim(subject, &about);
        assert_int_equal(rung_claim_n(c), 0);
        rung_claim_free(c);
        about.n = conf.tokens - 1;
        assert_int_equal(rung_claim_new(&c, subject, &about, &check_err), RUNG_USAGE);
    }
    for (size_t i = 0; i < RUNG_COUNT(open); i++) {
        rung_task_conf conf = task(open[i][0], open[i][1]);
        rung_claim_spec about = rung_claim_spec_of_prompt(&conf, 5000);
        rung_claim *c = claim(subject, &about);
        assert_int_equal(rung_claim_n(c), 5000);
        rung_claim_free(c);
    }
    rung_subject_free(subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_established),  cmocka_unit_test(test_nothing_said),
        cmocka_unit_test(test_kernels),          cmocka_unit_test(test_words_for_kernels),
        cmocka_unit_test(test_prompt),           cmocka_unit_test(test_encoder),
        cmocka_unit_test(test_thoughts),         cmocka_unit_test(test_bits),
        cmocka_unit_test(test_layers_of_a_file), cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests_name("facts of a claim", tests, NULL, NULL);
}
