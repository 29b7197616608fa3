/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * No bound contradicts a construction. Constructions with random words are built, run on every prompt of their small task, and
 * judged right in the narrowest format of a ladder; no row may then say CANNOT of their layers and these bits, nor of random
 * architectures that contain these layers (the others pass everything on, more bits may stay unused). The same layers with fewer
 * bits must be refuted here and there: else the check could not fail. Protocols of any number of bits are in
 * test_compose_protocols.c.
 */
#include "build/random_build.h"
#include "effort.h"
#include "rows_test.h"
#include "rung/verify.h"

enum { SPACE_MAX = 3000 };

/* ---- right in how many bits ------------------------------------------------------------------------------------------------ */

static bool right_on_all_prompts(const rung_model *model, const rung_task_conf *task, const char *format)
{
    static rung_verify_result result;
    rung_fmt fmt;
    CHECK(rung_fmt_parse(&fmt, format, &check_err));
    rung_verify_options conf = {.method = RUNG_EXHAUSTIVE, .how = {.numbers = &fmt, .threads = 1}};
    CHECK(rung_verify_run(&result, model, task, &conf, &check_err));
    bool right = result.complete && result.prompts > 0 && result.wrong == 0;
    rung_verify_clear(&result);
    return right;
}

/* The narrowest format of the ladder in which the model is right; 0: none. */
static int bits_needed(const rung_model *model, const rung_task_conf *task)
{
    static const char *const ladder[] = {"q1.1", "e2m1", "q2.2", "e3m1", "e4m1", "e4m3", "e8m1", "bf16", "f32"};
    rung_fmt fmt;
    for (size_t i = 0; i < RUNG_COUNT(ladder); i++) {
        if (!right_on_all_prompts(model, task, ladder[i])) continue;
        CHECK(rung_fmt_parse(&fmt, ladder[i], &check_err));
        return fmt.bits;
    }
    return 0;
}

/* ---- architectures that contain it -------------------------------------------------------------------------------------------- */

static rung_ledger_layer other_layer(void)
{
    switch (between(0, 3)) {
    case 0:
        return full_bits(between(3, 20), between(1, 8));
    case 1:
        return (rung_ledger_layer){
            .window = true, .window_elements = between(1, 40), .heads = 1, .value_dim = 2, .key_dim = 2};
    default:
        return recurrent_bits(between(1, 60));
    }
}

static void enlarge(rung_ledger_layer *layer)
{
    if (layer->heads && between(0, 1)) layer->heads += between(0, 2), layer->value_dim += between(0, 2);
    if (layer->recurrent && between(0, 1)) layer->state_elements += between(0, 9);
}

/* All layers in their order, some larger, and up to three others between them. */
static rung_ledger *draw_containing(stack *s, const rung_ledger *solved)
{
    rung_ledger_layer layer[LAYERS_MAX];
    size_t count = 0, others = between(0, 3);
    for (size_t i = 0; i <= solved->layer_count; i++) {
        while (others && (i == solved->layer_count || between(0, 2) == 0)) layer[count++] = other_layer(), others--;
        if (i == solved->layer_count) break;
        layer[count] = solved->layer[i];
        enlarge(&layer[count++]);
    }
    rung_ledger *ledger = stack_of(s, count, layer);
    memcpy(ledger->known, solved->known, sizeof ledger->known);
    return ledger;
}

/* The same in the language of architectures: mechanisms that a ledger does not tell apart, heads beside, convolutions and gates. */
static void put_other(rung_buf *out, bool causal)
{
    static const char *const others[] = {"linear:dk=2:dv=2",        "window:W=4:dk=1:dv=1",   "rnn:dv=3",
                                         "full:conv=2:dk=1:dv=2",   "gdelta:conv=4:gate=1",   "mamba2:dk=2:dv=3",
                                         "sparse:B=4:k=1",          "loglinear:dk=2:dv=2",    "dsa:k=2",
                                         "linear:gate=1:dk=2:dv=2", "full:dk=1:dv=1@1|rnn@1", "full:unit=1:dk=2:dv=2"};
    rung_buf_puts(out, causal ? others[between(0, RUNG_COUNT(others) - 1)] : "full:dk=2:dv=2");
}

static void put_layer(rung_buf *out, const rung_layer *layer, bool causal)
{
    rung_arch one = {.layer_count = 1, .layer = (rung_layer *)(uintptr_t)layer};
    rung_arch_print(out, &one);
    if (causal && layer->group_count == 1 && between(0, 3) == 0) rung_buf_puts(out, "|linear:dk=2:dv=1@1");
}

static rung_subject *draw_arch_containing(const rung_model *model)
{
    const rung_arch *arch = rung_model_get_arch(model);
    const rung_model_spec *spec = rung_model_get_spec(model);
    rung_subject *subject;
    rung_buf text;
    rung_buf_init(&text);
    for (size_t i = 0, others = between(0, 2); i <= arch->layer_count; i++) {
        for (; others && (i == arch->layer_count || between(0, 2) == 0); others--) {
            if (text.len) rung_buf_putc(&text, ',');
            put_other(&text, spec->causal);
        }
        if (i == arch->layer_count) break;
        if (text.len) rung_buf_putc(&text, ',');
        put_layer(&text, &arch->layer[i], spec->causal);
    }
    CHECK(rung_subject_arch(&subject, text.text, &(rung_arch_defaults){1, 4, 4, spec->causal}, &check_err));
    rung_buf_clear(&text);
    return subject;
}

/* ---- the check -------------------------------------------------------------------------------------------------------------- */

typedef struct tally {
    int solved, refused, wrong, questions;
    int near[64]; /* by row: layers of the same kind with fewer bits are refuted */
} tally;

static question question_about(const rung_ledger *ledger, const rung_task_conf *task, int bits, uint64_t thoughts)
{
    question q = question_of(ledger, task, 0);
    q.bits = bits, q.thoughts = thoughts > 0, q.most_thoughts = thoughts;
    return q;
}

static void assert_not_refuted(tally *n, const question *q, const char *text)
{
    static rung_bound_report report;
    n->questions++;
    run_bounds(&report, q);
    for (size_t i = 0; i < report.count; i++)
        if (report.answer[i].verdict == RUNG_CANNOT)
            fail_msg("%s: %s refutes what was built: %s", text, report.answer[i].bound->id, report.answer[i].statement);
}

static void count_near(tally *n, const question *q)
{
    static rung_bound_report report;
    run_bounds(&report, q);
    for (size_t i = 0; i < report.count; i++)
        for (size_t k = 0; k < rung_bound_count(); k++)
            if (report.answer[i].verdict == RUNG_CANNOT && report.answer[i].bound == rung_bound_at(k)) n->near[k]++;
}

static void check_solved(tally *n, const rung_build *b, const rung_model *model, int bits, int variants,
                         const char *text)
{
    rung_subject *subject;
    CHECK(rung_subject_model(&subject, model, text, &check_err));
    const rung_ledger *ledger = rung_subject_ledger(subject);
    const rung_model_spec *spec = rung_model_get_spec(model);
    uint64_t thoughts = spec->thoughts ? spec->max_tokens - b->task.tokens : 0; /* at most */
    question q = question_about(NULL, &b->task, bits, 0); /* the subject knows about its thoughts */
    q.subject = subject;
    assert_not_refuted(n, &q, text);
    for (int k = 0; k < variants; k++) {
        stack s;
        q = question_about(draw_containing(&s, ledger), &b->task, bits + (int)between(0, 3), thoughts);
        assert_not_refuted(n, &q, text);
    }
    for (int k = 0; k < variants / 4; k++) {
        rung_subject *larger = draw_arch_containing(model);
        q = question_about(NULL, &b->task, bits, thoughts);
        q.subject = larger;
        for (size_t i = 0; i < RUNG_COUNT(q.more); i++) q.more[i] = (int)between(0, 3);
        assert_not_refuted(n, &q, text);
        rung_subject_free(larger);
    }
    q = question_about(ledger, &b->task, 1, thoughts);
    count_near(n, &q);
    n->solved++;
    rung_subject_free(subject);
}

static void check_drawn(tally *n, int variants)
{
    rung_build b;
    rung_model *model = NULL;
    char text[512];
    if (!draw_build(&b, &model, text, sizeof text, templates[between(0, RUNG_COUNT(templates) - 1)])) {
        n->refused++;
        return;
    }
    uint64_t space = rung_task_space(&b.task);
    bool small = b.task.answers > 0 && space > 0 && space <= SPACE_MAX;
    int bits = small ? bits_needed(model, &b.task) : 0;
    if (bits)
        check_solved(n, &b, model, bits, variants, text);
    else
        n->wrong++;
    rung_model_close(model);
}

static void test_constructions(void **state)
{
    static tally n;
    int solved = getenv("RUNG_SOAK") ? 3000 : (int)effort(120, 40);
    (void)state;
    rung_rng_init(&rng, 17, 5, 0);
    while (n.solved < solved) check_drawn(&n, 900);
    print_message("%d constructions right, %d refused, %d not right or too large; %d questions, none contradicted\n",
                  n.solved, n.refused, n.wrong, n.questions);
    for (size_t k = 0; k < rung_bound_count(); k++)
        if (n.near[k]) print_message("with one bit per number %s refutes %d\n", rung_bound_at(k)->id, n.near[k]);
    assert_true(n.questions >= (int)effort(100000, 25000));
    assert_true(n.near[0] > 0); /* tables that just fit into a state */
}

/* Larger ones, in the formats that docs/constructions/seqcomp.md says: with keys of bits one bit of mantissa suffices. Some
 * sizes are given, and then all sizes up to a length: every one has such layers. */
static void test_compositions_of_any_size(void **state)
{
    static const char *const large[] = {
        "seqcomp L=1 N0=2..400 linear=none/first/after",
        "seqcomp L=2..4 N0=2..20 n=1..4 linear=none/first/after form=position/pair",
        "seqcomp L=2..4 N0=2..20 flat=1 linear=none/first/after",
        "seqcomp-cot L=1..3 N0=2..8 full=1..3 linear=none/first",
        "seqcomp-encoder L=1..5 N0=2..8",
    };
    static tally n;
    (void)state;
    rung_rng_init(&rng, 18, 5, 0);
    for (int i = 0; n.solved < (int)effort(60, 20); i++) {
        rung_build b;
        rung_model *model = NULL;
        char text[512];
        if (!draw_build(&b, &model, text, sizeof text, large[(size_t)i % RUNG_COUNT(large)])) continue;
        check_solved(&n, &b, model, 10, 100, text);
        rung_model_close(model);
    }
    print_message("%d large compositions, %d questions\n", n.solved, n.questions);
}

/* R, F, or H with both kinds of heads. */
static void assert_length_not_refuted(const char *layers, uint64_t L, uint64_t tokens, uint64_t thoughts)
{
    char task[32];
    stack s;
    snprintf(task, sizeof task, "seqcomp L=%d", (int)L);
    rung_task_conf conf = task_of(task);
    static tally n;
    rung_ledger_layer layer[LAYERS_MAX];
    uint64_t code = 2;
    while ((UINT64_C(1) << code / 2) < tokens) code += 2; /* two numbers for every bit of a pointer */
    size_t count = strlen(layers);
    for (size_t i = 0; i < count; i++) {
        layer[i] = layers[i] == 'R' ? recurrent_bits(code) : full_bits(code + 2, code * (L + 1));
        if (layers[i] == 'H') layer[i].recurrent = true, layer[i].state_elements = code;
    }
    question q = question_of(stack_of(&s, count, layer), &conf, tokens);
    q.bits = 10, q.thoughts = thoughts > 0, q.most_thoughts = thoughts;
    assert_not_refuted(&n, &q, layers);
}

/* F layers and T thoughts compose L functions if F (T+1) >= L+1, or with a recurrent layer in front if F (T+1) >= L. */
static void assert_thoughts_not_refuted(uint64_t L, uint64_t tokens)
{
    for (size_t full = 1; full <= 3; full++)
        for (int relay = 0; relay <= 1; relay++) {
            char layers[8] = "RFFFFF", heads[8] = "RHHHHH";
            layers[full + 1] = heads[full + 1] = '\0';
            uint64_t need = L + 1 - (uint64_t)relay, passes = (need + full - 1) / full;
            assert_length_not_refuted(layers + !relay, L, tokens, passes - 1);
            assert_length_not_refuted(heads + !relay, L, tokens, passes - 1);
        }
}

static void test_compositions_of_all_sizes(void **state)
{
    (void)state;
    for (uint64_t L = 1; L <= 6; L++)
        for (uint64_t tokens = 16; tokens <= UINT64_C(1) << 40; tokens *= 16) {
            char all[8] = "FFFFFFF", first[8] = "RFFFFFF", after[8] = "FRFFFFF";
            all[L + 1] = first[L + 1] = after[L + 1] = '\0';
            assert_length_not_refuted(all, L, tokens, 0);
            assert_length_not_refuted(first, L, tokens, 0);
            assert_length_not_refuted(after, L, tokens, 0);
            for (size_t i = 0; i <= L; i++) all[i] = 'H', first[i] = i ? 'H' : 'R', after[i] = i == 1 ? 'R' : 'H';
            assert_length_not_refuted(all, L, tokens, 0);
            assert_length_not_refuted(first, L, tokens, 0);
            assert_length_not_refuted(after, L, tokens, 0);
            assert_thoughts_not_refuted(L, tokens);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constructions),
        cmocka_unit_test(test_compositions_of_any_size),
        cmocka_unit_test(test_compositions_of_all_sizes),
    };
    return cmocka_run_group_tests_name("bounds and constructions", tests, NULL, NULL);
}
