/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Which premises each theorem needs, written down a second time, and a claim that it refutes. Take away one premise that it needs,
 * as not established and as violated: the row must then be refused and name it. Violate one that it does not need: it must
 * still refute. What a premise is for is shown by the models of test_counter_models.c.
 */
#include "compose_test.h"

#define LAYERS "causal kinds once own-cache"
#define STATES LAYERS " state layout"
#define SCANS  STATES " order ends at-once"
#define ONE    LAYERS " layout order ends at-once"
#define THINKS STATES " order ends counted"

#define ENDLESS (UINT64_C(1) << 62)

typedef struct theorem {
    const char *id, *needs;
    const char *layers, *task; /* that it refutes, in numbers of one bit */
    uint64_t n;
    const char *never;  /* why it refutes nothing; NULL: it does */
    rung_kernel kernel; /* 0: online */
    uint64_t tile;
} theorem;

static const char far_away[] = "holds from prompts of more than 2^64 tokens on";

/* "T": one layer that selects two tokens. "S": one layer that opens one block of 16 and has summaries of 8 bits; "SS": two with
 * blocks of 64. "H": full beside a state of 4 bits; "HH" and "HHH": two and three of them. */
static const theorem theorems[] = {
    {"A", STATES, "R10", "eva N=16", 0, NULL, 0, 0},
    {"A-compose", STATES, "R10", "seqcomp L=2 N0=4 n=4", 0, NULL, 0, 0},
    {"A'", SCANS, "R1 F8", "seqcomp L=1 N0=32", 0, NULL, 0, 0},
    {"B0", SCANS, "F4 R48", "seqcomp L=2 N0=8 n=8", 0, NULL, 0, 0},
    {"B", SCANS, "R4 F4", "seqcomp L=2", ENDLESS, NULL, 0, 0},
    {"C0", SCANS, "F4 F4", "seqcomp L=2", ENDLESS, NULL, 0, 0},
    {"Ce", SCANS, "F4 F4 R4", "seqcomp L=2", ENDLESS, NULL, 0, 0},
    {"C1", SCANS, "F4 R1 F4", "seqcomp L=2", ENDLESS, NULL, 0, 0},
    {"two-pass", ONE, "F8", "seqcomp L=2 N0=8 n=2", 0, NULL, 0, 0},
    {"eager", ONE, "F8", "seqcomp L=2 N0=8 n=2", 0, NULL, RUNG_KERNEL_EAGER, 0},
    {"split", ONE, "F8", "seqcomp L=2 N0=8 n=2", 0, NULL, RUNG_KERNEL_SPLIT, 8},
    {"dsa-one", LAYERS " layout ends at-once", "T", "seqcomp L=2 N0=8 n=1", 0, NULL, 0, 0},
    {"D", SCANS, "F4 R4 F4", "seqcomp L=3", ENDLESS, NULL, 0, 0},
    {"D-pure", SCANS, "F4 F4 F4", "seqcomp L=3", ENDLESS, NULL, 0, 0},
    {"E", SCANS, "F4 F4 R4 F4", "seqcomp L=3", ENDLESS, NULL, 0, 0},
    {"cut", STATES, "R10", "string-equality N=16", 0, NULL, 0, 0},
    {"cut-one", SCANS, "F10", "string-equality N=16", 0, NULL, 0, 0},
    {"causal", "causal layout at-once", "F10", "two-sum form=position", 0, NULL, 0, 0},
    {"sparse", LAYERS " summary layout ends at-once", "S", "two-sum N=512 M=512", 0, NULL, 0, 0},
    {"SP", LAYERS " state summary layout ends at-once", "SS", "two-sum N=11712 M=8388607", 0, NULL, 0, 0},
    {"average", SCANS, "F10", "q-sparse-average N=64 q=8", 0, NULL, 0, 0},
    {"headwise", SCANS, "H", "seqcomp L=1 N0=32", 0, NULL, 0, 0},
    {"K1", THINKS, "F4", "seqcomp L=2 N0=16 n=2", 0, NULL, 0, 0},
    {"H2", SCANS, "HH", "seqcomp L=2", ENDLESS, NULL, 0, 0},
    {"H", SCANS, "HHH", "seqcomp L=3", ENDLESS, NULL, 0, 0},
    {"K", THINKS, "F1 F1", "seqcomp L=5", ENDLESS, NULL, 0, 0},
    {"published-full", SCANS, "F4", "seqcomp L=1", UINT64_MAX, far_away, 0, 0},
    {"published-hybrid", SCANS, "F4", "seqcomp L=2", UINT64_MAX, far_away, 0, 0},
    {"published-sparse", LAYERS, "S", "two-sum N=512 M=512", 0, "has no constant", 0, 0},
};

static rung_ledger *layers_to_refute(stack *s, const char *text)
{
    rung_ledger_layer selects = {
        .sparse = true, .heads = 1, .block = 16, .top = 1, .summary_elements = 8, .value_dim = 2, .key_dim = 2};
    rung_ledger_layer beside = full_bits(10, 1);
    beside.recurrent = true, beside.state_elements = 4;
    rung_ledger_layer single = {.sparse = true, .heads = 1, .block = 1, .top = 2, .index_elements = 1, .value_dim = 1};
    if (strcmp(text, "S") == 0) return stack_of(s, 1, &selects);
    if (strcmp(text, "SS") == 0) {
        selects.block = 64, selects.value_dim = 4;
        return stack_of(s, 2, (rung_ledger_layer[]){selects, selects});
    }
    if (strcmp(text, "T") == 0) return stack_of(s, 1, &single);
    if (strcmp(text, "H") == 0) return stack_of(s, 1, &beside);
    if (strcmp(text, "HH") == 0) return stack_of(s, 2, (rung_ledger_layer[]){beside, beside});
    if (strcmp(text, "HHH") == 0) return stack_of(s, 3, (rung_ledger_layer[]){beside, beside, beside});
    return layers_of(s, text);
}

/* ---- one fact at a time ------------------------------------------------------------------------------------------------------ */

/* Makes one premise of a claim to be something; false where no claim of that kind can be made. */
static bool set_premise(rung_ledger *ledger, rung_claim_spec *about, rung_premise premise, rung_fact fact)
{
    static const rung_ledger_fact of_layers[] = {[RUNG_PREMISE_CAUSAL] = RUNG_LEDGER_CAUSAL,
                                                 [RUNG_PREMISE_KINDS] = RUNG_LEDGER_KINDS,
                                                 [RUNG_PREMISE_ONCE] = RUNG_LEDGER_ONCE,
                                                 [RUNG_PREMISE_OWN_CACHE] = RUNG_LEDGER_OWN_CACHE};
    switch (premise) {
    case RUNG_PREMISE_STATE:
        about->kernel = fact == RUNG_VIOLATED ? RUNG_KERNEL_FAST : 0; /* both come before the order */
        return true;
    case RUNG_PREMISE_ORDER:
        about->kernel = RUNG_KERNEL_REVERSE; /* which no theorem about sums covers */
        return fact == RUNG_VIOLATED;
    case RUNG_PREMISE_SUMMARY:
        about->kernel = RUNG_KERNEL_FAST;
        return fact == RUNG_NOT_ESTABLISHED;
    case RUNG_PREMISE_LAYOUT:
        about->layout = fact;
        return true;
    case RUNG_PREMISE_ENDS:
        about->ends = fact;
        return true;
    case RUNG_PREMISE_AT_ONCE:
        about->at_once = fact;
        return true;
    case RUNG_PREMISE_COUNTED:
        about->at_once = RUNG_VIOLATED, about->thoughts = 0;
        return fact == RUNG_NOT_ESTABLISHED;
    default:
        ledger->known[of_layers[premise]] = (rung_known){fact, NULL};
        return true;
    }
}

static rung_bound_answer claim_answer(const rung_ledger *ledger, const rung_claim_spec *about, const char *id)
{
    static rung_bound_report report;
    rung_subject *subject;
    rung_claim *claim;
    CHECK(rung_subject_layers(&subject, ledger, &check_err));
    CHECK(rung_claim_new(&claim, subject, about, &check_err));
    CHECK(rung_bound_answers(&report, claim, false, &check_err));
    rung_claim_free(claim);
    rung_subject_free(subject);
    for (size_t i = 0; i < report.count; i++)
        if (strcmp(report.answer[i].bound->id, id) == 0) return report.answer[i];
    fail_msg("%s does not speak of %s", id, about->task->task->name);
    return report.answer[0];
}

static bool is_listed(const char *words, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += len)
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len])) return true;
    return false;
}

/* Theorems about thoughts are asked about one of them. */
static uint64_t thoughts_of(const theorem *t)
{
    return is_listed(t->needs, "counted") ? 1 : 0;
}

static rung_claim_spec about_theorem(const theorem *t, const rung_task_conf *task)
{
    rung_claim_spec about = rung_claim_spec_of_prompt(task, t->n);
    rung_claim_spec_set_bits(&about, 1);
    about.message = RUNG_MESSAGE_NUMERATOR;
    if (thoughts_of(t)) about.at_once = RUNG_VIOLATED, about.thoughts = thoughts_of(t);
    if (t->kernel) about.kernel = t->kernel, about.tile = t->tile;
    return about;
}

static bool needs(const theorem *t, rung_premise premise)
{
    return is_listed(t->needs, rung_premise_names[premise]);
}

/* What another kernel does to premises that come later in the order of the enumeration. */
static bool kernel_breaks(const theorem *t, rung_premise premise)
{
    if (premise == RUNG_PREMISE_STATE) return needs(t, RUNG_PREMISE_ORDER) || needs(t, RUNG_PREMISE_SUMMARY);
    if (premise == RUNG_PREMISE_SUMMARY) return needs(t, RUNG_PREMISE_STATE) || needs(t, RUNG_PREMISE_ORDER);
    return false;
}

/* Thoughts that nobody counts are thoughts. */
static bool thoughts_break(const theorem *t, rung_premise premise)
{
    return premise == RUNG_PREMISE_COUNTED && needs(t, RUNG_PREMISE_AT_ONCE);
}

/* ---- the checks ------------------------------------------------------------------------------------------------------------------ */

static void check_without(const theorem *t, const rung_task_conf *task, rung_premise premise, rung_fact fact)
{
    stack s;
    rung_ledger *ledger = layers_to_refute(&s, t->layers);
    rung_claim_spec about = about_theorem(t, task);
    if (!set_premise(ledger, &about, premise, fact)) return;
    if (premise == RUNG_PREMISE_SUMMARY && needs(t, RUNG_PREMISE_STATE)) return; /* the same kernels establish both */
    rung_bound_answer answer = claim_answer(ledger, &about, t->id);
    if (answer.applies || answer.verdict == RUNG_CANNOT || answer.missing != (int)premise)
        fail_msg("%s without %s (%s): applies %d, missing %d", t->id, rung_premise_names[premise],
                 rung_fact_names[fact], answer.applies, answer.missing);
    if (!strstr(answer.premise, rung_premise_text(premise))) fail_msg("%s: %s", t->id, answer.premise);
}

static void check_unneeded(const theorem *t, const rung_task_conf *task, rung_premise premise)
{
    stack s;
    rung_ledger *ledger = layers_to_refute(&s, t->layers);
    rung_claim_spec about = about_theorem(t, task);
    bool never_violated = premise == RUNG_PREMISE_SUMMARY || premise == RUNG_PREMISE_COUNTED;
    rung_fact fact = never_violated ? RUNG_NOT_ESTABLISHED : RUNG_VIOLATED;
    if (t->never || kernel_breaks(t, premise) || thoughts_break(t, premise)) return;
    assert_true(set_premise(ledger, &about, premise, fact));
    rung_bound_answer answer = claim_answer(ledger, &about, t->id);
    if (answer.verdict != RUNG_CANNOT)
        fail_msg("%s does not need %s, and yet: %s", t->id, rung_premise_names[premise], answer.premise);
}

static void check_theorem(const theorem *t)
{
    rung_task_conf task = task_of(t->task);
    stack s;
    rung_ledger *ledger = layers_to_refute(&s, t->layers);
    rung_claim_spec about = about_theorem(t, &task);
    rung_bound_answer answer = claim_answer(ledger, &about, t->id);
    assert_int_equal(answer.missing, -1);
    if ((answer.verdict == RUNG_CANNOT) == (t->never != NULL))
        fail_msg("%s: %s; %s (%g > %g)", t->id, answer.premise, answer.statement, answer.lhs, answer.rhs);
    for (int p = 0; p < RUNG_PREMISES; p++) {
        if (!needs(t, (rung_premise)p)) {
            check_unneeded(t, &task, (rung_premise)p);
            continue;
        }
        check_without(t, &task, (rung_premise)p, RUNG_NOT_ESTABLISHED);
        check_without(t, &task, (rung_premise)p, RUNG_VIOLATED);
    }
}

static void test_every_premise_of_every_theorem(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(theorems); i++) check_theorem(&theorems[i]);
}

/* The table above is about all rows, in their order, and says of each what it says itself. */
static void test_every_theorem_is_listed(void **state)
{
    (void)state;
    assert_int_equal(rung_bound_count(), RUNG_COUNT(theorems));
    for (size_t i = 0; i < RUNG_COUNT(theorems); i++) {
        const rung_bound *bound = rung_bound_at(i);
        unsigned bits = 0;
        assert_string_equal(bound->id, theorems[i].id);
        for (int p = 0; p < RUNG_PREMISES; p++)
            if (needs(&theorems[i], (rung_premise)p)) bits |= RUNG_NEEDS(p);
        if (bits != bound->needs) fail_msg("%s needs %#x, and the table says %#x", bound->id, bound->needs, bits);
    }
}

/* ---- nothing is established by itself ------------------------------------------------------------------------------------------- */

/* Layers of which nothing is known, and a question of which nothing is said. */
static void test_nothing_applies_where_nothing_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(theorems); i++) {
        rung_task_conf task = task_of(theorems[i].task);
        stack s;
        rung_ledger *ledger = layers_to_refute(&s, theorems[i].layers);
        rung_claim_spec about = about_theorem(&theorems[i], &task), nothing = {.task = &task, .n = theorems[i].n};
        rung_claim_spec_set_bits(&nothing, 1);
        rung_bound_answer answer = claim_answer(ledger, &nothing, theorems[i].id);
        assert_true(answer.verdict == RUNG_UNKNOWN && (!answer.applies || theorems[i].never));
        memset(ledger->known, 0, sizeof ledger->known);
        answer = claim_answer(ledger, &about, theorems[i].id);
        assert_true(answer.verdict == RUNG_UNKNOWN && !answer.applies);
    }
}

/* ---- layers of other kinds --------------------------------------------------------------------------------------------------------- */

/* What is done to the layers that a theorem refutes; afterwards only the theorems of `still` may refute them. */
typedef struct change {
    const char *what, *still;
    void (*apply)(rung_ledger *ledger);
} change;

static void add_layer(rung_ledger *ledger, rung_ledger_layer held)
{
    assert_true(ledger->layer_count < LAYERS_MAX);
    ledger->layer[ledger->layer_count++] = held;
}

static void select_too(rung_ledger *ledger)
{
    add_layer(ledger, (rung_ledger_layer){
                          .sparse = true, .heads = 1, .block = 4, .top = 1, .summary_elements = 1, .value_dim = 1});
}

static void scan_too(rung_ledger *ledger)
{
    add_layer(ledger, full_bits(5, 1));
}

static void levels_too(rung_ledger *ledger)
{
    add_layer(ledger, (rung_ledger_layer){.recurrent = true, .levels = true, .state_elements = 1});
}

static void state_too(rung_ledger *ledger)
{
    add_layer(ledger, recurrent_bits(1));
}

static void state_beside(rung_ledger *ledger)
{
    for (size_t i = 0; i < ledger->layer_count; i++)
        if (ledger->layer[i].full || ledger->layer[i].sparse)
            ledger->layer[i].recurrent = true, ledger->layer[i].state_elements++;
}

/* A state of no size that anybody knows. */
static void recurrence_beside(rung_ledger *ledger)
{
    for (size_t i = 0; i < ledger->layer_count; i++) ledger->layer[i].recurrent = true;
}

static void convolve(rung_ledger *ledger)
{
    for (size_t i = 0; i < ledger->layer_count; i++)
        ledger->layer[i].conv_elements = 64, ledger->layer[i].recurrent = true;
}

static void hold_much(rung_ledger *ledger)
{
    for (size_t i = 0; i < ledger->layer_count; i++) ledger->layer[i].extra_elements = UINT64_MAX;
}

/* More bits than any prompt has, in a window and in a convolution. */
static void window_too(rung_ledger *ledger)
{
    add_layer(ledger,
              (rung_ledger_layer){.window = true, .window_elements = UINT64_C(1) << 40, .heads = 1, .value_dim = 1});
}

static void chunk_too(rung_ledger *ledger)
{
    add_layer(ledger,
              (rung_ledger_layer){.chunk = true, .window_elements = UINT64_C(1) << 40, .heads = 1, .value_dim = 1});
}

static void convolution_too(rung_ledger *ledger)
{
    add_layer(ledger, (rung_ledger_layer){.recurrent = true, .conv_elements = UINT64_C(1) << 40});
}

static void extra_too(rung_ledger *ledger)
{
    add_layer(ledger, (rung_ledger_layer){.recurrent = true, .extra_elements = UINT64_C(1) << 40});
}

/* Theorems that choose sizes up to ENDLESS still refute layers of 2^40 bits: their prompts are longer. */
static const change changes[] = {
    {"a layer that selects", "causal", select_too},
    {"one more full layer", "causal", scan_too},
    {"a layer with levels", "causal A A-compose cut", levels_too},
    {"one more state", "causal A A-compose A' B0 B Ce D D-pure E cut H2 H K", state_too},
    {"a state beside attention", "causal A A-compose A' B0 B D cut cut-one headwise K1 H2 SP H K", state_beside},
    {"a recurrence beside attention", "causal A A-compose A' B0 B D cut cut-one headwise K1 H2 SP H K",
     recurrence_beside},
    {"a convolution before each layer", "causal B C0 Ce D D-pure E K", convolve},
    {"more bits than fit", "causal", hold_much},
    {"a large window", "causal B Ce D D-pure E H2 H K", window_too},
    {"a large chunk", "causal B Ce D D-pure E H2 H K", chunk_too},
    {"a large convolution", "causal B Ce D D-pure E H2 H K", convolution_too},
    {"a large state of another kind", "causal B Ce D D-pure E H2 H K", extra_too},
};

/* The row alone, because others take long; what does not fit is refused before a row is asked. */
static bool still_refutes(const theorem *t, const rung_ledger *ledger, const rung_task_conf *task)
{
    question q = question_of(ledger, task, t->n);
    q.most_thoughts = thoughts_of(t);
    if (t->kernel) q.kernel = t->kernel, q.tile = t->tile;
    q.message = RUNG_MESSAGE_NUMERATOR;
    rung_arithmetic one_bit = rung_arithmetic_plain(RUNG_KERNEL_ONLINE, 1, q.message);
    if (rung_pattern_of(ledger, &one_bit).overflow) {
        rung_claim_spec about = about_theorem(t, task);
        return claim_answer(ledger, &about, t->id).verdict == RUNG_CANNOT;
    }
    rung_bound_answer answer = answer_of(&q, t->id);
    return answer.applies && answer.holds;
}

static void check_change(const theorem *t, const change *c)
{
    rung_task_conf task = task_of(t->task);
    stack s;
    rung_ledger *ledger = layers_to_refute(&s, t->layers);
    c->apply(ledger);
    if (still_refutes(t, ledger, &task)) fail_msg("%s refutes with %s", t->id, c->what);
}

static void test_layers_of_other_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(theorems); i++)
        for (size_t k = 0; k < RUNG_COUNT(changes); k++)
            if (!is_listed(changes[k].still, theorems[i].id)) check_change(&theorems[i], &changes[k]);
}

/* A recurrent layer between two layers with full heads hands the pointer on, whatever stands beside the heads. */
static void test_nothing_between_layers_of_heads(void **state)
{
    rung_ledger_layer beside = full_bits(10, 1), three[3];
    rung_task_conf task = task_of("seqcomp L=2");
    stack s;
    (void)state;
    beside.recurrent = true, beside.state_elements = 4;
    three[0] = beside, three[1] = recurrent_bits(4), three[2] = beside;
    question q = question_of(stack_of(&s, 3, three), &task, ENDLESS);
    assert_false(answer_of(&q, "H2").applies);
    assert_false(answer_of(&q, "C1").applies);
}

/* The array of a pattern ends at 64 full layers. */
static void test_too_many_full_layers(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(theorems); i++) {
        rung_ledger_layer many[LAYERS_MAX + 8];
        rung_task_conf task = task_of(theorems[i].task);
        rung_claim_spec about = about_theorem(&theorems[i], &task);
        for (size_t k = 0; k < RUNG_COUNT(many); k++) many[k] = full_bits(5, 1);
        rung_ledger ledger = {
            .name = "many", .family = "", .spelling = "", .layer_count = RUNG_COUNT(many), .layer = many};
        for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++) ledger.known[f].is = RUNG_ESTABLISHED;
        rung_bound_answer answer = claim_answer(&ledger, &about, theorems[i].id);
        assert_true(answer.verdict != RUNG_CANNOT || strcmp(theorems[i].id, "causal") == 0);
    }
}

/* One layer that selects blocks, with something about it that the theorem does not know. */
static void test_other_selections(void **state)
{
    static const rung_ledger_layer sparse = {
        .sparse = true, .heads = 1, .block = 16, .top = 1, .summary_elements = 8, .value_dim = 2, .key_dim = 2};
    rung_ledger_layer other[10];
    rung_task_conf task = task_of("two-sum N=512 M=512"), position = task_of("two-sum N=512 M=512 form=global");
    rung_claim_spec about = rung_claim_spec_of_prompt(&task, 0);
    stack s;
    (void)state;
    rung_claim_spec_set_bits(&about, 1);
    for (size_t i = 0; i < RUNG_COUNT(other); i++) other[i] = sparse;
    other[0].full = true, other[1].recurrent = true, other[2].window = true, other[3].chunk = true;
    other[4].conv_elements = 1, other[5].block = 1, other[6].summary_overlaps = true, other[7].summary_elements = 0;
    other[8].top = 512, other[9].window_size = 512;
    assert_int_equal(claim_answer(stack_of(&s, 1, &sparse), &about, "sparse").verdict, RUNG_CANNOT);
    for (size_t i = 0; i < RUNG_COUNT(other); i++)
        if (claim_answer(stack_of(&s, 1, &other[i]), &about, "sparse").verdict == RUNG_CANNOT)
            fail_msg("sparse refutes case %d", (int)i);
    about.task = &position;
    assert_int_equal(claim_answer(stack_of(&s, 1, &sparse), &about, "sparse").verdict, RUNG_UNKNOWN);
}

/* Questions and layers that a theorem does not speak of: it must decline, not only fail to refute. */
static const struct {
    const char *id, *layers, *task;
    uint64_t n;
} declined[] = {
    {"A", "F4", "eva", 0},
    {"A", "R4", "eva", 1},
    {"A-compose", "F4", "seqcomp L=1", 0},
    {"A'", "F8", "seqcomp L=2 N0=32 n=1", 0},
    {"A'", "R4", "seqcomp L=1", 0},
    {"A'", "F4 F4", "seqcomp L=1", 0},
    {"B0", "F4 R4", "seqcomp L=1", ENDLESS},
    {"B0", "R4 F4", "seqcomp L=2", ENDLESS},
    {"B0", "F4 F4", "seqcomp L=2", ENDLESS},
    {"B", "R4 F4", "seqcomp L=1", ENDLESS},
    {"B", "F4 R4", "seqcomp L=2", ENDLESS},
    {"B", "R4 F4 F4", "seqcomp L=2", ENDLESS},
    {"C0", "F4 F4", "seqcomp L=1", ENDLESS},
    {"C0", "F4", "seqcomp L=2", ENDLESS},
    {"C0", "R4 F4 F4", "seqcomp L=2", ENDLESS},
    {"C0", "F4 R4 F4", "seqcomp L=2", ENDLESS},
    {"C0", "F4 F4 R4", "seqcomp L=2", ENDLESS},
    {"C0", "F4 F4 F4", "seqcomp L=2", ENDLESS},
    {"Ce", "F4 F4 R4", "seqcomp L=1", ENDLESS},
    {"Ce", "F4 F4", "seqcomp L=2", ENDLESS},
    {"Ce", "F4 R4 F4 R4", "seqcomp L=2", ENDLESS},
    {"C1", "F4 R1 F4", "seqcomp L=1", ENDLESS},
    {"C1", "F4 F4", "seqcomp L=2", ENDLESS},
    {"C1", "R1 F4 R1 F4", "seqcomp L=2", ENDLESS},
    {"C1", "F4 R1 F4 R1", "seqcomp L=2", ENDLESS},
    {"C1", "F4 R50 F4", "seqcomp L=2", ENDLESS},
    {"D", "F4 R4 F4", "seqcomp L=3 N0=4", 0},
    {"D", "F4 R4 F4", "seqcomp L=3 flat=1", ENDLESS},
    {"D", "F4 R4 F4", "seqcomp L=2", ENDLESS},
    {"D", "R4 F4", "seqcomp L=3", ENDLESS},
    {"D", "F4 R4 F4 F4 F4 F4 F4 F4", "seqcomp L=8 N0=1 n=1", 0},
    {"D", "F4 R4 F4 F4 F4 F4 F4 F4", "seqcomp L=8", ENDLESS},
    {"D-pure", "F4 F4 F4", "seqcomp L=3 flat=1", ENDLESS},
    {"D-pure", "F4 F4 F4", "seqcomp L=2", ENDLESS},
    {"D-pure", "F4 F4", "seqcomp L=3", ENDLESS},
    {"D-pure", "F4 R4 F4 F4", "seqcomp L=3", ENDLESS},
    {"D-pure", "F4 F4 F4 F4 F4 F4 F4 F4", "seqcomp L=8", ENDLESS},
    {"D-pure", "F4 F4 R4 F4", "seqcomp L=3", ENDLESS},
    {"E", "F4 F4 F4", "seqcomp L=3", ENDLESS},
    {"E", "F4 F4 F4 R4", "seqcomp L=3", ENDLESS},
    {"E", "F4 F4 R4", "seqcomp L=2", ENDLESS},
    {"E", "F4 F4 R4 F4", "seqcomp L=2", ENDLESS},
    {"E", "F4 R4 F4 R4 F4", "seqcomp L=3", ENDLESS},
    {"E", "R4 F4 F4 R4 F4", "seqcomp L=3", ENDLESS},
    {"E", "F4 F4 R4 F4", "seqcomp L=3 flat=1", ENDLESS},
    {"cut", "F4", "string-equality", 0},
    {"cut", "R4", "two-sum form=position", 0},
    {"cut-one", "R4", "string-equality", 0},
    {"cut-one", "F4 F4", "string-equality", 0},
    {"cut-one", "R4 F4", "string-equality", 0},
    {"cut-one", "F4", "two-sum form=query", 0},
    {"cut-one", "F4", "two-sum form=position", 0},
    {"cut-one", "F4", "q-sparse-average", 0},
    {"cut-one", "F4", "c-gram c=2", 0},
    {"causal", "F10", "two-sum form=query", 0},
    {"causal", "F10", "two-sum form=global", 0},
    {"causal", "F10", "three-sum form=last", 0},
    {"average", "F4 F4", "q-sparse-average", 0},
    {"average", "R4 F4", "q-sparse-average", 0},
    {"average", "F4", "q-sparse-average q=3", 3},
    {"headwise", "F4", "seqcomp L=1", 0},
    {"headwise", "R4 F4", "seqcomp L=1", 0},
    {"K1", "F4", "seqcomp L=2 N0=16", 0}, /* no thought */
    {"H2", "F4 F4", "seqcomp L=2", ENDLESS},
    {"H2", "HH", "seqcomp L=1", ENDLESS},
    {"H2", "H", "seqcomp L=2", ENDLESS},
    {"H", "HHH", "seqcomp L=2", ENDLESS},
    {"H", "HHH", "seqcomp L=3 N0=4", 0},
    {"H", "HH", "seqcomp L=3", ENDLESS},
    {"H", "F4 F4 F4", "seqcomp L=3", ENDLESS},
    {"K", "F4 F4", "seqcomp L=5", ENDLESS}, /* no thought */
};

/* The same with a number of thoughts. */
static const struct {
    const char *layers, *task;
    uint64_t n, thoughts;
} thinking[] = {
    {"F4", "seqcomp L=2 N0=16", 0, 2},          {"F4", "seqcomp L=1 N0=16", 0, 1},
    {"F4 F4", "seqcomp L=2 N0=16", 0, 1},       {"R4", "seqcomp L=2 N0=16", 0, 1},
    {"R4 F4", "seqcomp L=2 N0=16", 0, 1},       {"F4 R4", "seqcomp L=2 N0=16", 0, 1},
    {"R4 F4", "seqcomp L=3", ENDLESS, 2},       {"F4", "seqcomp L=3 N0=16", 0, 2},
    {"F4", "seqcomp L=3 flat=1", ENDLESS, 2},   {"F4", "seqcomp L=8", ENDLESS, 7},
    {"F4", "seqcomp L=2", ENDLESS, UINT64_MAX}, {"S", "seqcomp L=2 N0=16", 0, 1},
};

static void test_what_k1_does_not_speak_of(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(thinking); i++) {
        rung_task_conf task = task_of(thinking[i].task);
        stack s;
        question q = question_of(layers_to_refute(&s, thinking[i].layers), &task, thinking[i].n);
        q.message = RUNG_MESSAGE_NUMERATOR, q.most_thoughts = thinking[i].thoughts;
        rung_bound_answer answer = answer_of(&q, "K1");
        if (answer.applies) fail_msg("K1 speaks of case %d: %s", (int)i, answer.statement);
    }
}

static void test_what_a_theorem_does_not_speak_of(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(declined); i++) {
        rung_task_conf task = task_of(declined[i].task);
        stack s;
        question q = question_of(layers_to_refute(&s, declined[i].layers), &task, declined[i].n);
        q.message = RUNG_MESSAGE_NUMERATOR;
        rung_bound_answer answer = answer_of(&q, declined[i].id);
        if (answer.applies)
            fail_msg("%s speaks of %s, %s: %s", declined[i].id, declined[i].layers, declined[i].task, answer.statement);
    }
}

/* For the right reason: a search that finds nothing would decline as well, after a long time or outside of its arrays. */
static void test_why_a_theorem_declines(void **state)
{
    static const char *const cases[][3] = {
        {"R4 F4", "seqcomp L=3", "at least two full layers"},
        {"F4 R4 F4 F4 F4 F4 F4 F4", "seqcomp L=8", "at most 6 functions"},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_task_conf task = task_of(cases[i][1]);
        stack s;
        question q = question_of(layers_to_refute(&s, cases[i][0]), &task, ENDLESS);
        rung_bound_answer answer = answer_of(&q, "D");
        if (answer.applies || !strstr(answer.premise, cases[i][2])) fail_msg("%s: %s", cases[i][0], answer.premise);
    }
}

/* An accumulator without a size of queries: what depends on them cannot be counted. */
static void test_queries_of_unknown_size(void **state)
{
    rung_ledger_layer layer = full_bits(10, 0);
    rung_task_conf task = task_of("q-sparse-average N=64 q=8");
    stack s;
    question q = question_of(stack_of(&s, 1, &layer), &task, 0);
    (void)state;
    assert_false(reported(&q, "average").applies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_theorem_is_listed),
        cmocka_unit_test(test_every_premise_of_every_theorem),
        cmocka_unit_test(test_nothing_applies_where_nothing_is_known),
        cmocka_unit_test(test_layers_of_other_kinds),
        cmocka_unit_test(test_nothing_between_layers_of_heads),
        cmocka_unit_test(test_too_many_full_layers),
        cmocka_unit_test(test_other_selections),
        cmocka_unit_test(test_what_a_theorem_does_not_speak_of),
        cmocka_unit_test(test_what_k1_does_not_speak_of),
        cmocka_unit_test(test_why_a_theorem_declines),
        cmocka_unit_test(test_queries_of_unknown_size),
    };
    return cmocka_run_group_tests_name("premises of theorems", tests, NULL, NULL);
}
