/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The proofs of H2, H and K1 (recurrent heads beside full ones, thoughts) on random models (dataflow.h) and all instances of a small
 * task. A proof is a list of sentences "these things determine those"; each is compared on all prompts. Every proof with one thing left out of
 * its lists must fail, and so must the proofs on layers for which they are false. RUNG_SOAK takes more models.
 */
#include "dataflow.h"

/* ---- all prompts of a task with two or three functions ------------------------------------------------------------------- */

enum { TABLES = 3 };

/* z_L first. Sizes from z_1 on: entries and values of each table. z_1 has N_0 values, so that z_0 may be one of its indices. */
typedef struct task {
    int functions, entries[TABLES + 1], values[TABLES + 1], w;
} task;

static const task two_small = {2, {0, 2, 4}, {0, 2, 2}, 2}, two_wide = {2, {0, 3, 3}, {0, 3, 2}, 1};
static const task three_small = {3, {0, 2, 4, 4}, {0, 2, 2, 2}, 2};

typedef struct world {
    const task *z;
    flow_model m;
    int thoughts;
    claims *c;
    int cut[TABLES + 2]; /* [l]: tokens before the end of z_l */
    int q0, q1, tokens;
    size_t prompts;
    flow *run;
    int (*token)[FLOW_TOKENS];
} world;

static size_t count_prompts(const task *z)
{
    size_t count = (size_t)(z->entries[1] * z->w);
    for (int l = 1; l <= z->functions; l++) count *= (size_t)power(z->values[l], z->entries[l]);
    return count;
}

static void write_prompt(const world *p, int *token, size_t index)
{
    const task *z = p->z;
    token[p->q1] = (int)(index % (size_t)z->w), index /= (size_t)z->w;
    token[p->q0] = (int)(index % (size_t)z->entries[1]), index /= (size_t)z->entries[1];
    for (int l = 1, at = p->q0; l <= z->functions; l++) {
        at -= z->entries[l];
        size_t tables = (size_t)power(z->values[l], z->entries[l]);
        put_table(token, at, (int)(index % tables), z->entries[l], z->values[l]);
        index /= tables;
    }
}

static void world_run(world *p)
{
    int at = 0;
    for (int l = p->z->functions; l >= 1; l--) p->cut[l] = at += p->z->entries[l];
    p->q0 = at, p->q1 = at + 1, p->tokens = at + 2;
    p->prompts = count_prompts(p->z);
    p->run = malloc(p->prompts * sizeof *p->run), p->token = malloc(p->prompts * sizeof *p->token);
    assert_true(p->run && p->token);
    for (size_t i = 0; i < p->prompts; i++) {
        write_prompt(p, p->token[i], i);
        flow_run(&p->run[i], &p->m, p->token[i], p->tokens);
        flow_think(&p->run[i], &p->m, p->tokens, p->thoughts);
    }
}

static void world_clear(world *p)
{
    free(p->run);
    free(p->token);
}

/* ---- sentences --------------------------------------------------------------------------------------------------------------- */

/* What may be left out of a proof. */
enum {
    CLASS,       /* that w has heard the same when it leaves z_1 */
    CLASS_STATE, /* that the states are the same there */
    W_FIRST,     /* what w hears of the outer tables in the first full layer */
    Z0_FIRST,
    Z1_FIRST,
    STATE_FIRST, /* its states */
    W_SECOND,    /* in the second */
    Z0_SECOND,
    Z1_SECOND,
    STATE_SECOND, /* states of what comes between */
    OUTER_STATES, /* the step: states that leave z_3 */
    Z2_FIRST,
    Z2_SECOND,
    W_THIRD,
    AFTER, /* what layers after the last full one need */
    PARTS
};

/* One side of a sentence on one prompt. */
typedef struct seen {
    const world *p;
    const flow *f;
    const int *token;
    uint64_t hash;
} seen;

static void add(seen *s, uint64_t x)
{
    s->hash = stir(s->hash, x);
}

static void add_tokens(seen *s, int from, int to)
{
    for (int t = from; t < to; t++) add(s, (uint64_t)s->token[t]);
}

static void add_table(seen *s, int l)
{
    add_tokens(s, s->p->cut[l] - s->p->z->entries[l], s->p->cut[l]);
}

static void add_query(seen *s)
{
    add_tokens(s, s->p->q0, s->p->q1 + 1);
}

/* What tokens from .. to-1 have heard at a cut in a full layer. */
static void add_heard(seen *s, int part, int layer, int from, int to, int cut)
{
    for (int t = from; keeps(s->p->c, part) && t < to; t++) add(s, s->f->acc[layer][t][cut]);
}

static void add_states(seen *s, int part, int from, int to, int cut)
{
    if (keeps(s->p->c, part)) add(s, (uint64_t)states_at(s->f, &s->p->m, from, to, cut));
}

static void add_values(seen *s, int layer, int from, int to)
{
    for (int t = from; t < to; t++) add(s, s->f->value[layer][t]);
}

typedef void side(seen *s);

typedef struct known {
    uint64_t key, value;
    bool there;
} known;

/* Wherever `left` is the same, `right` is. */
static void determines(const world *p, side *left, side *right, const char *what)
{
    size_t room = 1;
    while (room < 2 * p->prompts) room *= 2;
    known *table = calloc(room, sizeof *table);
    assert_non_null(table);
    for (size_t i = 0; i < p->prompts; i++) {
        seen a = {p, &p->run[i], p->token[i], 1}, b = {p, &p->run[i], p->token[i], 2};
        left(&a), right(&b);
        size_t at = a.hash & (room - 1);
        while (table[at].there && table[at].key != a.hash) at = (at + 1) & (room - 1);
        if (table[at].there)
            claim(p->c, table[at].value == b.hash, what);
        else
            table[at] = (known){a.hash, b.hash, true};
    }
    free(table);
}

/* ---- the layers of a proof ------------------------------------------------------------------------------------------------- */

static bool has_full_heads(char layer)
{
    return layer != 'R';
}

/* The n-th layer with full heads, from 1. */
static int full_layer(const world *p, int n)
{
    for (int layer = 0; p->m.layers[layer]; layer++)
        if (has_full_heads(p->m.layers[layer]) && --n == 0) return layer;
    return -1;
}

static int last_layer(const world *p)
{
    return (int)strlen(p->m.layers);
}

/* ---- H2: two layers with full heads, two functions --------------------------------------------------------------------------- */

/* The class of z_1 is one for all z_0. */
static void left_w_alone(seen *s)
{
    for (int l = 1; l <= s->p->z->functions; l++) add_table(s, l);
    add_tokens(s, s->p->q1, s->p->q1 + 1);
}

static void right_w_heard(seen *s)
{
    for (int l = 1; l <= 2; l++) add(s, s->f->acc[full_layer(s->p, 1)][s->p->q1][s->p->cut[l]]);
}

static void left_class(seen *s)
{
    add_query(s);
    add_heard(s, CLASS, full_layer(s->p, 1), s->p->q1, s->p->q1 + 1, s->p->cut[1]);
    add_states(s, CLASS_STATE, 0, full_layer(s->p, 1) + 1, s->p->cut[1]);
}

static void right_enters(seen *s)
{
    add_values(s, full_layer(s->p, 1) + 1, s->p->q1, s->p->q1 + 1);
}

static void left_class_and_outer(seen *s)
{
    left_class(s);
    for (int l = 2; l <= s->p->z->functions; l++) add_table(s, l);
}

static void right_w_second(seen *s)
{
    add(s, s->f->acc[full_layer(s->p, 2)][s->p->q1][s->p->cut[2]]);
}

/* What the first layer tells the tokens after z_2, and its states. */
static void list_first(seen *s)
{
    const world *p = s->p;
    int layer = full_layer(p, 1);
    add_heard(s, W_FIRST, layer, p->q1, p->q1 + 1, p->cut[2]);
    add_heard(s, Z0_FIRST, layer, p->q0, p->q0 + 1, p->cut[2]);
    add_heard(s, Z1_FIRST, layer, p->cut[2], p->cut[1], p->cut[2]);
    add_states(s, STATE_FIRST, 0, layer + 1, p->cut[2]);
}

static void left_first(seen *s)
{
    add_table(s, 1), add_query(s);
    list_first(s);
}

static void right_lower_enter(seen *s)
{
    add_values(s, full_layer(s->p, 1) + 1, s->p->cut[2], s->p->q1 + 1);
}

/* Heads of the second layer read what the first one wrote. Layers after it also need what it tells z_0 and z_1. */
static void left_h2(seen *s)
{
    const world *p = s->p;
    int layer = full_layer(p, 2);
    left_first(s);
    add_heard(s, W_SECOND, layer, p->q1, p->q1 + 1, p->cut[2]);
    add_states(s, STATE_SECOND, layer, last_layer(p), p->cut[2]);
    if (layer + 1 < last_layer(p)) add_heard(s, AFTER, layer, p->cut[2], p->q1, p->cut[2]);
}

static void right_answer(seen *s)
{
    int last = last_layer(s->p), at = s->p->q1 + s->p->thoughts;
    add_values(s, last, at, at + 1);
}

static void left_index_and_value(seen *s)
{
    add_table(s, 2);
    add_tokens(s, s->p->cut[2], s->p->cut[2] + 1);
}

static void right_first_of_z1(seen *s)
{
    add(s, s->f->acc[full_layer(s->p, 1)][s->p->cut[2]][s->p->cut[2]]);
}

static void check_h2(const world *p)
{
    determines(p, left_w_alone, right_w_heard, "what w hears first is free of z_0");
    determines(p, left_index_and_value, right_first_of_z1, "a token of z_1 hears what its index and value determine");
    determines(p, left_class, right_enters, "in its class w enters layer 2 as a function of w and z_0");
    determines(p, left_class_and_outer, right_w_second, "in its class what w hears of z_2 in layer 2 is free of z_1");
    determines(p, left_first, right_lower_enter, "the list of layer 1 determines what it writes");
    determines(p, left_h2, right_answer, "the lists determine the answer");
}

/* ---- H: three layers with full heads, three functions --------------------------------------------------------------------------- */

static void list_second(seen *s)
{
    const world *p = s->p;
    int layer = full_layer(p, 2);
    add_heard(s, W_SECOND, layer, p->q1, p->q1 + 1, p->cut[2]);
    add_heard(s, Z0_SECOND, layer, p->q0, p->q0 + 1, p->cut[2]);
    add_heard(s, Z1_SECOND, layer, p->cut[2], p->cut[1], p->cut[2]);
    add_states(s, STATE_SECOND, full_layer(p, 1) + 1, full_layer(p, 3), p->cut[2]);
}

static void left_base(seen *s)
{
    left_first(s);
    list_second(s);
}

static void right_invariant(seen *s)
{
    add_values(s, full_layer(s->p, 3), s->p->cut[2], s->p->q1 + 1);
}

static void left_base_and_z3(seen *s)
{
    left_base(s);
    add_table(s, 3);
}

static void right_lower_hear_third(seen *s)
{
    for (int t = s->p->cut[2]; t <= s->p->q1; t++) add(s, s->f->acc[full_layer(s->p, 3)][t][s->p->cut[3]]);
}

static void left_h3(seen *s)
{
    const world *p = s->p;
    int third = full_layer(p, 3);
    left_base(s);
    add_table(s, 2);
    add_states(s, OUTER_STATES, 0, last_layer(p), p->cut[3]);
    add_heard(s, Z2_FIRST, full_layer(p, 1), p->cut[3], p->cut[2], p->cut[3]);
    add_heard(s, Z2_SECOND, full_layer(p, 2), p->cut[3], p->cut[2], p->cut[3]);
    add_heard(s, W_THIRD, third, p->q1, p->q1 + 1, p->cut[3]);
    if (third + 1 < last_layer(p)) add_heard(s, AFTER, third, p->cut[3], p->q1, p->cut[3]);
}

static void check_h3(const world *p)
{
    determines(p, left_w_alone, right_w_heard, "what w hears first is free of z_0");
    determines(p, left_class, right_enters, "in its class w enters layer 2 as a function of w and z_0");
    determines(p, left_class_and_outer, right_w_second, "in its class what w hears in layer 2 is free of z_1");
    determines(p, left_base, right_invariant, "the base determines what enters the third full layer below z_2");
    determines(p, left_base_and_z3, right_lower_hear_third, "what lower tokens hear of z_3 there is free of z_2");
    determines(p, left_h3, right_answer, "the lists determine the answer");
}

/* ---- K1, first form: one layer with full heads, a thought less than functions ---------------------------------------------------- */

static int receiver(const world *p, int n)
{
    return p->q1 + n - 1;
}

static void right_thought(seen *s)
{
    add_values(s, 0, receiver(s->p, 2), receiver(s->p, 2) + 1);
}

static void right_second_hears(seen *s)
{
    add(s, s->f->acc[0][receiver(s->p, 2)][s->p->cut[2]]);
}

static void left_two_receivers(seen *s)
{
    const world *p = s->p;
    add_table(s, 1), add_query(s);
    add_heard(s, W_FIRST, 0, receiver(p, 1), receiver(p, 1) + 1, p->cut[2]);
    add_states(s, STATE_FIRST, 0, 1, p->cut[2]);
    add_heard(s, W_SECOND, 0, receiver(p, 2), receiver(p, 2) + 1, p->cut[2]);
}

static void right_second_says(seen *s)
{
    add_values(s, 1, receiver(s->p, 2), receiver(s->p, 2) + 1);
}

static void left_two_and_z3(seen *s)
{
    left_two_receivers(s);
    add_table(s, 3);
}

static void right_third_hears(seen *s)
{
    add(s, s->f->acc[0][receiver(s->p, 3)][s->p->cut[3]]);
}

static void left_three_receivers(seen *s)
{
    const world *p = s->p;
    left_two_receivers(s);
    add_table(s, 2);
    add_heard(s, W_THIRD, 0, receiver(p, 3), receiver(p, 3) + 1, p->cut[3]);
}

static void check_k1(const world *p)
{
    determines(p, left_w_alone, right_w_heard, "what w hears first is free of z_0");
    determines(p, left_class, right_thought, "in its class the thought is a function of w and z_0");
    determines(p, left_class_and_outer, right_second_hears, "in its class what it hears is free of z_1");
    if (p->z->functions == 2) {
        determines(p, left_two_receivers, right_answer, "two messages determine the answer");
        return;
    }
    determines(p, left_two_receivers, right_second_says, "two messages determine what the first thought says");
    determines(p, left_two_and_z3, right_third_hears, "what the second thought hears of z_3 is free of z_2");
    determines(p, left_three_receivers, right_answer, "three messages determine the answer");
}

/* ---- K1, second form: recurrent layers, two thoughts less than functions -------------------------------------------------------- */

static void left_relayed_class(seen *s)
{
    const world *p = s->p;
    for (int l = 2; l <= 3; l++) add_table(s, l);
    add_query(s);
    add_states(s, CLASS_STATE, 0, full_layer(p, 1), p->cut[1]);
}

static void right_w_first(seen *s)
{
    add(s, s->f->acc[full_layer(s->p, 1)][s->p->q1][s->p->cut[2]]);
}

/* The whole first pass below z_2. */
static void left_pass(seen *s)
{
    const world *p = s->p;
    int full = full_layer(p, 1);
    add_table(s, 1), add_query(s);
    add_states(s, STATE_FIRST, 0, full, p->cut[2]);
    add_heard(s, W_FIRST, full, p->q1, p->q1 + 1, p->cut[2]);
    if (full + 1 == last_layer(p)) return;
    add_states(s, STATE_SECOND, full + 1, last_layer(p), p->cut[2]);
    add_heard(s, Z0_FIRST, full, p->q0, p->q0 + 1, p->cut[2]);
    add_heard(s, Z1_FIRST, full, p->cut[2], p->cut[1], p->cut[2]);
}

static void left_pass_and_z3(seen *s)
{
    left_pass(s);
    add_table(s, 3);
}

static void right_thought_hears(seen *s)
{
    add(s, s->f->acc[full_layer(s->p, 1)][receiver(s->p, 2)][s->p->cut[3]]);
}

static void left_relayed(seen *s)
{
    const world *p = s->p;
    int full = full_layer(p, 1), thought = receiver(p, 2);
    left_pass(s);
    add_table(s, 2);
    add_states(s, OUTER_STATES, 0, full, p->cut[3]);
    add_heard(s, W_SECOND, full, thought, thought + 1, p->cut[3]);
}

static void check_k1_relayed(const world *p)
{
    determines(p, left_relayed_class, right_w_first, "in its class what w hears is free of z_1");
    determines(p, left_pass, right_thought, "the first pass below z_2 determines the thought");
    determines(p, left_pass_and_z3, right_thought_hears, "what the thought hears of z_3 is free of z_2");
    determines(p, left_relayed, right_answer, "the lists determine the answer");
}

/* ---- tests --------------------------------------------------------------------------------------------------------------------- */

typedef void check(const world *p);

typedef struct proof {
    check *check;
    const task *z;
    const char *layers;
    int thoughts;
    unsigned parts; /* that it needs */
} proof;

static void run_model(claims *c, const proof *of, uint64_t seed, bool backwards)
{
    world p = {.z = of->z, .m = {of->layers, seed, backwards}, .thoughts = of->thoughts, .c = c};
    world_run(&p);
    of->check(&p);
    world_clear(&p);
}

static long assert_holds(const proof *of)
{
    claims c = {0};
    int models = getenv("RUNG_SOAK") ? 60 : of->z->functions == 2 ? 6 : 2;
    for (int k = 0; k < models; k++) run_model(&c, of, stir(91, (uint64_t)k), false);
    if (c.failed) fail_msg("%s: %ld of %ld comparisons fail: %s", of->layers, c.failed, c.compared, c.first);
    return c.compared;
}

static int assert_parts_needed(const proof *of)
{
    int caught = 0;
    for (int part = 0; part < PARTS; part++) {
        if (!(of->parts >> part & 1)) continue;
        claims c = {.without = 1u << part};
        for (int k = 0; !c.failed && k < 60; k++) run_model(&c, of, stir(92, (uint64_t)k), false);
        if (!c.failed) fail_msg("%s: the proof without part %d was not caught", of->layers, part);
        caught++;
    }
    return caught;
}

static void assert_fails(const proof *of, bool backwards)
{
    claims c = {0};
    for (int k = 0; !c.failed && k < 60; k++) run_model(&c, of, stir(93, (uint64_t)k), backwards);
    if (!c.failed) fail_msg("%s passes%s", of->layers, backwards ? " from right to left" : "");
}

static void check_proofs(const proof *proofs, size_t count, const char *name)
{
    long compared = 0;
    int caught = 0;
    for (size_t i = 0; i < count; i++) {
        compared += assert_holds(&proofs[i]);
        caught += assert_parts_needed(&proofs[i]);
        assert_fails(&proofs[i], true);
    }
    print_message("%s: %ld comparisons, %d wrong proofs caught\n", name, compared, caught);
}

#define PART(name) (1u << (name))

enum {
    FIRST = PART(CLASS) | PART(W_FIRST) | PART(Z0_FIRST) | PART(Z1_FIRST),
    BESIDE = PART(CLASS_STATE) | PART(STATE_FIRST),
    H2_PARTS = FIRST | PART(W_SECOND),
};

static void test_two_layers(void **state)
{
    static const proof proofs[] = {
        {check_h2, &two_small, "HH", 0, H2_PARTS | BESIDE | PART(STATE_SECOND)},
        {check_h2, &two_small, "HF", 0, H2_PARTS | BESIDE},
        {check_h2, &two_small, "FH", 0, H2_PARTS | PART(STATE_SECOND)},
        {check_h2, &two_wide, "HH", 0, 0},
        {check_h2, &two_small, "HHR", 0, H2_PARTS | BESIDE | PART(STATE_SECOND) | PART(AFTER)},
        {check_h2, &two_small, "HFRR", 0, H2_PARTS | BESIDE | PART(STATE_SECOND) | PART(AFTER)},
    };
    (void)state;
    check_proofs(proofs, RUNG_COUNT(proofs), "H2");
}

static void test_three_layers(void **state)
{
    const unsigned base =
        FIRST | PART(W_SECOND) | PART(Z0_SECOND) | PART(Z1_SECOND) | PART(Z2_FIRST) | PART(Z2_SECOND) | PART(W_THIRD);
    const proof proofs[] = {
        {check_h3, &three_small, "HHH", 0, base | BESIDE | PART(STATE_SECOND) | PART(OUTER_STATES)},
        {check_h3, &three_small, "HFF", 0, 0},
        {check_h3, &three_small, "HFH", 0, 0},
        {check_h3, &three_small, "HFRF", 0, 0},
        {check_h3, &three_small, "HFRFR", 0, BESIDE | PART(STATE_SECOND) | PART(OUTER_STATES) | PART(AFTER)},
    };
    (void)state;
    check_proofs(proofs, RUNG_COUNT(proofs), "H");
}

static void test_thoughts(void **state)
{
    static const proof proofs[] = {
        {check_k1, &two_small, "F", 1, PART(CLASS) | PART(W_FIRST) | PART(W_SECOND)},
        {check_k1, &two_wide, "F", 1, 0},
        {check_k1, &two_small, "H", 1, PART(CLASS) | BESIDE | PART(W_FIRST) | PART(W_SECOND)},
        {check_k1, &three_small, "F", 2, PART(CLASS) | PART(W_FIRST) | PART(W_SECOND) | PART(W_THIRD)},
        {check_k1, &three_small, "H", 2, BESIDE | PART(W_THIRD)},
    };
    (void)state;
    check_proofs(proofs, RUNG_COUNT(proofs), "K1");
}

static void test_thoughts_and_recurrent_layers(void **state)
{
    const unsigned every = PART(W_FIRST) | PART(W_SECOND),
                   before = PART(CLASS_STATE) | PART(STATE_FIRST) | PART(OUTER_STATES),
                   after = PART(STATE_SECOND) | PART(Z0_FIRST) | PART(Z1_FIRST);
    const proof proofs[] = {
        {check_k1_relayed, &three_small, "F", 1, every},
        {check_k1_relayed, &three_small, "FR", 1, every | after},
        {check_k1_relayed, &three_small, "RF", 1, every | before},
        {check_k1_relayed, &three_small, "RFR", 1, every | before | after},
    };
    (void)state;
    check_proofs(proofs, RUNG_COUNT(proofs), "K1 with recurrent layers");
}

/* A recurrent layer before the second layer with full heads, or before the only one, hands the pointer on. One thought more than the proof
 * counts is one more receiver. */
static void test_where_the_proofs_must_fail(void **state)
{
    static const proof proofs[] = {
        {check_h2, &two_small, "RHH", 0, 0},          {check_h2, &two_small, "HRH", 0, 0},
        {check_h3, &three_small, "FRFF", 0, 0},       {check_h3, &three_small, "RFFF", 0, 0},
        {check_h3, &three_small, "HRHH", 0, 0},       {check_k1, &two_small, "RF", 1, 0},
        {check_k1, &two_small, "FR", 1, 0},           {check_k1, &two_small, "F", 2, 0},
        {check_k1_relayed, &three_small, "FR", 2, 0},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(proofs); i++) assert_fails(&proofs[i], false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_layers),
        cmocka_unit_test(test_three_layers),
        cmocka_unit_test(test_thoughts),
        cmocka_unit_test(test_thoughts_and_recurrent_layers),
        cmocka_unit_test(test_where_the_proofs_must_fail),
    };
    return cmocka_run_group_tests_name("dataflow, heads and thoughts", tests, NULL, NULL);
}
