/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The proofs of theorems D, D-pure and E for three functions, on random models (dataflow.h): the classes and lists of the base, what is
 * the same on them, and the step to the answer. Every proof with one message or one class left out must fail. Lists are taken
 * for one w, z_0 and z_1 at a time: what holds where these are equal holds where all are. RUNG_SOAK takes some hundred models.
 */
#include "dataflow.h"

/* z_3 has n_2 N_1 entries with 2 values, z_2 has N_1 with `letters` values, z_1 has N_0 with N_0 values. Of the w some. */
typedef struct sizes {
    int N0, N1, N2, letters, w;
} sizes;

enum { THIRD_MAX = 1024, SECOND_MAX = 16, FIRST_MAX = 4, OUTER_MAX = 4096 };

/* What may be left out: classes of the outer tables and of z_1; of the base what w, z_0, the tokens of z_1 hear of the outer
 * tables, and the states; of the step what the tokens of z_2 hear of z_3 before the upper layer and in it, what w, z_0, the tokens of z_1
 * hear in it, and the states before and after it. */
enum {
    CLASS_OUTER,
    CLASS_FIRST,
    BASE_W,
    BASE_Z0,
    BASE_Z1,
    BASE_STATES,
    STEP_Z2,
    STEP_Z2_UPPER,
    STEP_W,
    STEP_Z0,
    STEP_Z1,
    STEP_STATES,
    STEP_STATES_AFTER,
    PARTS
};

typedef struct three {
    sizes z;
    flow_model m;
    claims *c;
    int third, second, first, outer; /* how many z_3, z_2, z_1; pairs of the first two */
    int cut3, cut2, cut1, q0, q1;
    bool pure;           /* D-pure and E: three full layers */
    int lower, upper;    /* the first and the last full layer */
    int last, groups[3]; /* layers; recurrent ones before, between and after the full ones */
    bool in_outer[OUTER_MAX], in_first[FIRST_MAX];
    int some_outer, some_first; /* members */
    flow *run, *same_z2;        /* of the context at hand, by outer tables; with some_first for z_1 */
} three;

static void run_instance(flow *out, const three *p, int outer, int j, int u, int w)
{
    int token[FLOW_TOKENS];
    int next = put_table(token, 0, outer / p->second, p->z.N2, 2);
    next = put_table(token, next, outer % p->second, p->z.N1, p->z.letters);
    next = put_table(token, next, j, p->z.N0, p->z.N0);
    token[next++] = u;
    token[next++] = w;
    flow_run(out, &p->m, token, next);
}

static void three_init(three *p, claims *c, const sizes *z, const flow_model *m)
{
    const char *layers = m->layers;
    *p = (three){.z = *z, .m = *m, .c = c, .third = power(2, z->N2), .second = power(z->letters, z->N1)};
    p->first = power(z->N0, z->N0), p->outer = p->third * p->second;
    p->cut3 = z->N2, p->cut2 = p->cut3 + z->N1, p->cut1 = p->cut2 + z->N0, p->q0 = p->cut1, p->q1 = p->q0 + 1;
    int full = 0, between = 0;
    for (const char *at = layers; *at; at++) full += *at == 'F';
    for (const char *at = layers; at < strrchr(layers, 'F'); at++) between += *at == 'R';
    p->pure = full == 3;
    p->lower = (int)(strchr(layers, 'F') - layers), p->upper = (int)(strrchr(layers, 'F') - layers);
    p->last = (int)strlen(layers);
    p->groups[0] = p->lower, p->groups[1] = p->pure ? between : p->upper - p->lower - 1,
    p->groups[2] = p->last - p->upper - 1;
    assert_true(p->outer <= OUTER_MAX && p->first <= FIRST_MAX);
    p->run = malloc((size_t)p->outer * sizeof *p->run);
    p->same_z2 = malloc((size_t)p->outer * sizeof *p->run);
    assert_true(p->run && p->same_z2);
}

static void three_clear(three *p)
{
    free(p->run);
    free(p->same_z2);
}

/* ---- classes --------------------------------------------------------------------------------------------------------------- */

/* By which the classes are formed, at the cut after z_2 or z_1. D: the states before the first full layer. D-pure and E: what
 * all w have heard in it. */
static int class_letter(const three *p, int outer, int j, int cut)
{
    int letter = 0;
    flow f;
    for (int w = 0; w < (p->pure ? p->z.w : 1); w++) {
        run_instance(&f, p, outer, j, 0, w);
        letter = p->pure ? letter * FLOW_LETTERS + f.acc[p->lower][p->q1][cut] : states_at(&f, &p->m, 0, p->lower, cut);
    }
    return letter;
}

static void classes(three *p)
{
    static int letter[OUTER_MAX];
    for (int o = 0; o < p->outer; o++) letter[o] = class_letter(p, o, 0, p->cut2);
    int common = most_frequent(letter, p->outer);
    for (int o = p->outer; o-- > 0;)
        if ((p->in_outer[o] = letter[o] == common || !keeps(p->c, CLASS_OUTER))) p->some_outer = o;
    for (int j = 0; j < p->first; j++) letter[j] = class_letter(p, p->some_outer, j, p->cut1);
    common = most_frequent(letter, p->first);
    for (int j = p->first; j-- > 0;)
        if ((p->in_first[j] = letter[j] == common || !keeps(p->c, CLASS_FIRST))) p->some_first = j;
}

/* ---- the base ---------------------------------------------------------------------------------------------------------------- */

/* On the classes: what w and z_0 hear does not depend on z_1; p->run has z_1 = j, p->same_z2 has a fixed one. */
static void base_claims(const three *p, int outer)
{
    const flow *f = &p->run[outer], *other = &p->same_z2[outer], *same_z1 = &p->run[p->some_outer];
    int entered = p->lower + p->pure;
    while (p->m.layers[entered] != 'F') entered++; /* only where a recurrent layer stands before the second full one */
    claim(p->c, f->acc[p->lower][p->q0][p->cut2] == other->acc[p->lower][p->q0][p->cut2],
          "what z_0 hears first is free of z_1");
    claim(p->c, f->value[entered][p->q1] == p->same_z2[p->some_outer].value[entered][p->q1],
          "w enters as a function of w and z_0");
    claim(p->c, f->acc[entered][p->q1][p->cut2] == other->acc[entered][p->q1][p->cut2], "what w hears is free of z_1");
    for (int t = p->cut2; t < p->cut1; t++)
        claim(p->c, f->value[p->lower][t] == same_z1->value[p->lower][t],
              "tokens of z_1 enter the first full layer as functions of z_1");
}

/* The lower tokens' accumulators over all outer tables in the full layers below the upper one, and the states. */
static int base_key(const three *p, const flow *f)
{
    listing l = {.c = p->c, .room = 1};
    for (int layer = p->lower; layer < p->upper; layer++) {
        if (p->m.layers[layer] != 'F') continue;
        list(&l, BASE_W, f->acc[layer][p->q1][p->cut2], FLOW_LETTERS);
        list(&l, BASE_Z0, f->acc[layer][p->q0][p->cut2], FLOW_LETTERS);
        for (int t = p->cut2; t < p->cut1; t++) list(&l, BASE_Z1, f->acc[layer][t][p->cut2], FLOW_LETTERS);
    }
    list(&l, BASE_STATES, states_at(f, &p->m, p->lower, p->upper, p->cut2), 1 << p->groups[1]);
    return l.key;
}

/* Tokens of z_1, z_0 and w enter the upper layer in the same way wherever the base is the same. */
static void invariant_claims(const three *p, const flow *f, const flow *same_base)
{
    for (int t = p->cut2; t <= p->q1; t++)
        claim(p->c, f->value[p->upper][t] == same_base->value[p->upper][t],
              "below the upper layer nothing depends on the outer tables");
}

/* ---- the step ------------------------------------------------------------------------------------------------------------------ */

/* Two outer pairs with the same z_3: the upper layer has told the lower tokens the same of it. */
static void step_claims(const three *p, const flow *f, const flow *same_z3)
{
    for (int t = p->cut2; t <= p->q1; t++)
        claim(p->c, f->acc[p->upper][t][p->cut3] == same_z3->acc[p->upper][t][p->cut3],
              "what the lower tokens hear of z_3 in the upper layer is free of z_2");
}

/* What is fixed of z_3. Last states: those that leave z_2, or (once) those that leave z_3 and what z_2 hears in the upper layer. */
static int step_key(const three *p, const flow *f, bool once)
{
    listing l = {.c = p->c, .room = 1};
    int after = p->groups[2];
    list(&l, STEP_STATES, states_at(f, &p->m, 0, p->upper, p->cut3), 1 << (p->groups[0] + p->groups[1]));
    for (int t = p->cut3; t < p->cut2; t++)
        for (int layer = p->lower; layer < p->upper; layer++)
            if (p->m.layers[layer] == 'F') list(&l, STEP_Z2, f->acc[layer][t][p->cut3], FLOW_LETTERS);
    list(&l, STEP_W, f->acc[p->upper][p->q1][p->cut3], FLOW_LETTERS);
    if (!after) return l.key;
    list(&l, STEP_Z0, f->acc[p->upper][p->q0][p->cut3], FLOW_LETTERS);
    for (int t = p->cut2; t < p->cut1; t++) list(&l, STEP_Z1, f->acc[p->upper][t][p->cut3], FLOW_LETTERS);
    list(&l, STEP_STATES_AFTER, states_at(f, &p->m, p->upper + 1, p->last, once ? p->cut3 : p->cut2), 1 << after);
    for (int t = p->cut3; once && t < p->cut2; t++) list(&l, STEP_Z2_UPPER, f->acc[p->upper][t][p->cut3], FLOW_LETTERS);
    return l.key;
}

/* All outer tables of the class with this base and this z_2. */
static void answer_claims(const three *p, int base, const int *base_of, int second, bool once)
{
    static answers a;
    a.now++;
    for (int third = 0; third < p->third; third++) {
        int outer = third * p->second + second;
        if (p->in_outer[outer] && base_of[outer] == base)
            claim_answer(p->c, &a, step_key(p, &p->run[outer], once), p->run[outer].value[p->last][p->q1],
                         "the answer follows from the lists");
    }
}

static void claims_of_base(const three *p, int base, const int *base_of)
{
    int some = -1, with_third[2] = {-1, -1};
    for (int o = 0; o < p->outer; o++) {
        if (!p->in_outer[o] || base_of[o] != base) continue;
        if (some < 0) some = o;
        invariant_claims(p, &p->run[o], &p->run[some]);
        if (with_third[0] == o / p->second) step_claims(p, &p->run[o], &p->run[with_third[1]]);
        with_third[0] = o / p->second, with_third[1] = o;
    }
    for (int second = 0; some >= 0 && second < p->second; second++) {
        answer_claims(p, base, base_of, second, false);
        if (p->groups[2]) answer_claims(p, base, base_of, second, true);
    }
}

/* One z_1 of its class, one z_0 and one w, with all outer tables. */
static void check_context(const three *p, int j, int u, int w)
{
    static int base_of[OUTER_MAX];
    int most = 0;
    for (int o = 0; o < p->outer; o++) {
        if (!p->in_outer[o]) continue;
        run_instance(&p->run[o], p, o, j, u, w);
        run_instance(&p->same_z2[o], p, o, p->some_first, u, w);
        base_of[o] = base_key(p, &p->run[o]);
        if (base_of[o] > most) most = base_of[o];
    }
    for (int o = 0; o < p->outer; o++)
        if (p->in_outer[o]) base_claims(p, o);
    for (int base = 0; base <= most; base++) claims_of_base(p, base, base_of);
}

static void check_model(claims *c, const sizes *z, const flow_model *m)
{
    three p;
    three_init(&p, c, z, m);
    classes(&p);
    for (int j = 0; j < p.first; j++)
        for (int u = 0; p.in_first[j] && u < p.z.N0; u++)
            for (int w = 0; w < p.z.w; w++) check_context(&p, j, u, w);
    three_clear(&p);
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------ */

static const sizes few_rows = {2, 2, 8, 2, 2}, many_columns = {2, 2, 10, 2, 2}, more_rows = {2, 4, 8, 2, 1};

static long assert_proof_holds(const char *layers, int models)
{
    claims c = {0};
    for (int k = 0; k < models; k++) {
        flow_model m = {layers, stir(77, (uint64_t)k), false};
        check_model(&c, k % 4 == 0 ? &few_rows : k % 4 == 3 ? &more_rows : &many_columns, &m);
    }
    if (c.failed) fail_msg("%s: %ld of %ld comparisons fail: %s", layers, c.failed, c.compared, c.first);
    return c.compared;
}

static void assert_part_needed(const char *layers, int part)
{
    claims c = {.without = 1u << part};
    for (int k = 0; !c.failed && k < 24; k++)
        check_model(&c, &few_rows, &(flow_model){layers, stir(78, (uint64_t)k), false});
    if (!c.failed) fail_msg("%s: the proof without part %d was not caught", layers, part);
}

static void check_layers(const char *const *layers, size_t count, const char *name)
{
    int models = getenv("RUNG_SOAK") ? 60 : 1;
    long compared = 0;
    for (size_t i = 0; i < count; i++) compared += assert_proof_holds(layers[i], models);
    print_message("%s: %ld comparisons on %d models\n", name, compared, models * (int)count);
}

static void test_two_full_layers_among_recurrent(void **state)
{
    static const char *const layers[] = {"RFRFR", "FRFR", "RFRF", "FRF", "FFR", "RFF", "RFFR", "FF"};
    (void)state;
    check_layers(layers, RUNG_COUNT(layers), "D");
}

static void test_three_full_layers(void **state)
{
    static const char *const layers[] = {"FFF", "FFFR"};
    (void)state;
    check_layers(layers, RUNG_COUNT(layers), "D-pure");
}

static void test_recurrent_layers_after_the_second_full_one(void **state)
{
    static const char *const layers[] = {"FFRF", "FFRRF", "FFRFR"};
    (void)state;
    check_layers(layers, RUNG_COUNT(layers), "E");
    for (int part = 0; part < PARTS; part++) assert_part_needed("FFRFR", part);
}

/* A recurrent layer before the second full one hands the pointer on. Where it stands between the first two, it is exactly
 * the step that Theorem B.2 of Ye et al. takes for a_1 = 1. */
static void test_recurrent_layer_before_the_second_full_one_breaks_the_proof(void **state)
{
    static const char *const layers[] = {"FRFF", "RFFF", "FRFFR"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(layers); i++) {
        claims c = {0};
        for (int k = 0; !c.failed && k < 8; k++)
            check_model(&c, &few_rows, &(flow_model){layers[i], stir(79, (uint64_t)k), false});
        if (!c.failed) fail_msg("%s passes", layers[i]);
    }
}

static void test_every_part_is_needed(void **state)
{
    (void)state;
    for (int part = 0; part < PARTS; part++) assert_part_needed("RFRFR", part);
    for (int part = 0; part < PARTS; part++)
        if (part != BASE_STATES && part != STEP_STATES) assert_part_needed("FFFR", part);
}

static void test_order_is_needed(void **state)
{
    static const char *const layers[] = {"RFRFR", "FFF", "FFRF"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(layers); i++) {
        claims c = {0};
        check_model(&c, &few_rows, &(flow_model){layers[i], 5, true});
        assert_true(c.failed > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_full_layers_among_recurrent),
        cmocka_unit_test(test_three_full_layers),
        cmocka_unit_test(test_recurrent_layers_after_the_second_full_one),
        cmocka_unit_test(test_recurrent_layer_before_the_second_full_one_breaks_the_proof),
        cmocka_unit_test(test_every_part_is_needed),
        cmocka_unit_test(test_order_is_needed),
    };
    return cmocka_run_group_tests_name("dataflow, three functions", tests, NULL, NULL);
}
