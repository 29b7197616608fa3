/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The proofs of theorems B0, B, C0, C1 and Ce, step by step on random models (dataflow.h) and all instances of a small task: each
 * "is a function of" is compared, and that equal listed messages give equal answers. Every proof with one message or one
 * class left out must fail. RUNG_SOAK takes many more models. Counting (lemmas S and T) is tested elsewhere.
 */
#include "dataflow.h"

/* ---- two functions on all instances -------------------------------------------------------------------------------------- */

enum { VALUES = 2, FIRST_MAX = 64, SECOND_MAX = 27 };

/* z_1 varies on its last `free` entries, and z_0 is one of these. */
typedef struct sizes {
    int N0, free, n1;
} sizes;

typedef struct two {
    sizes z;
    flow_model m;
    int first, second; /* how many z_2 and z_1 */
    int cut2, cut1;    /* after z_2, after z_1 */
    int q0, q1;        /* the tokens z_0 and w */
    int last;          /* number of layers */
    flow *run;
} two;

static flow *at(const two *p, int i, int j, int u, int w)
{
    return &p->run[((i * p->second + j) * p->z.free + u) * p->z.n1 + w];
}

static void run_instance(const two *p, int i, int j, int u, int w)
{
    int token[FLOW_TOKENS], fixed = p->z.N0 - p->z.free;
    int next = put_table(token, 0, i, p->cut2, VALUES);
    next = put_table(token, next, 0, fixed, p->z.N0);
    next = put_table(token, next, j, p->z.free, p->z.N0);
    token[next++] = fixed + u;
    token[next++] = w;
    flow_run(at(p, i, j, u, w), &p->m, token, next);
}

static void two_run(two *p, const sizes *z, const flow_model *m)
{
    *p = (two){.z = *z, .m = *m, .first = power(VALUES, z->N0 * z->n1), .second = power(z->N0, z->free)};
    p->cut2 = z->N0 * z->n1, p->cut1 = p->cut2 + z->N0;
    p->q0 = p->cut1, p->q1 = p->q0 + 1, p->last = (int)strlen(m->layers);
    assert_true(p->first <= FIRST_MAX && p->second <= SECOND_MAX);
    p->run = malloc((size_t)(p->first * p->second * z->free * z->n1) * sizeof *p->run);
    assert_non_null(p->run);
    for (int i = 0; i < p->first; i++)
        for (int j = 0; j < p->second; j++)
            for (int u = 0; u < z->free; u++)
                for (int w = 0; w < z->n1; w++) run_instance(p, i, j, u, w);
}

/* What may be left out of a proof. */
enum { CLASS_FIRST, CLASS_SECOND, NU1, NU0, STATES, TAU, RHO, NU1_LATER, NU0_LATER, RHO_LATER, OWN_BATCH, PARTS };

/* ---- B0 and B: R^a F R^b ---------------------------------------------------------------------------------------------------- */

typedef struct one_full {
    const two *p;
    claims *c;
    int a, b;
    bool in_R[FIRST_MAX], in_K[SECOND_MAX];
    int i, j; /* members of both classes */
} one_full;

/* The class of z_2 whose states before F are those of most, and the class of z_1 with the states of most after it. */
static void b_classes(one_full *o)
{
    const two *p = o->p;
    int sigma[FIRST_MAX];
    for (int i = 0; i < p->first; i++) sigma[i] = states_at(at(p, i, 0, 0, 0), &p->m, 0, o->a, p->cut2);
    int common = most_frequent(sigma, p->first);
    for (int i = p->first; i-- > 0;)
        if ((o->in_R[i] = sigma[i] == common || !keeps(o->c, CLASS_FIRST))) o->i = i;
    for (int j = 0; j < p->second; j++) sigma[j] = states_at(at(p, o->i, j, 0, 0), &p->m, 0, o->a, p->cut1);
    common = most_frequent(sigma, p->second);
    for (int j = p->second; j-- > 0;)
        if ((o->in_K[j] = sigma[j] == common || !keeps(o->c, CLASS_SECOND))) o->j = j;
}

/* On the classes: what enters F, and what w and z_0 receive of z_2 in it. */
static void b_claims_at(const one_full *o, int i, int j, int u, int w)
{
    const two *p = o->p;
    claims *c = o->c;
    const flow *f = at(p, i, j, u, w), *same_z2 = at(p, i, o->j, u, w), *same_z1 = at(p, o->i, j, u, w);
    const flow *fixed = at(p, o->i, o->j, u, w);
    claim(c, states_at(f, &p->m, 0, o->a, p->cut1) == states_at(same_z1, &p->m, 0, o->a, p->cut1),
          "the states that leave z_1 before F are a function of z_1");
    for (int t = p->cut2; t < p->cut1; t++)
        claim(c, f->value[o->a][t] == same_z1->value[o->a][t], "tokens of z_1 enter F as functions of z_1");
    for (int t = p->cut2; t < p->cut1 - p->z.free; t++)
        claim(c, f->acc[o->a][t][p->cut2] == same_z2->acc[o->a][t][p->cut2], "constant tokens of z_1 hear the same");
    claim(c, f->value[o->a][p->q0] == at(p, o->i, o->j, u, 0)->value[o->a][p->q0],
          "z_0 enters F as a function of itself");
    claim(c, f->value[o->a][p->q1] == fixed->value[o->a][p->q1], "w enters F as a function of w and z_0");
    claim(c, f->acc[o->a][p->q0][p->cut2] == same_z2->acc[o->a][p->q0][p->cut2], "what z_0 hears is free of z_1");
    claim(c, f->acc[o->a][p->q1][p->cut2] == same_z2->acc[o->a][p->q1][p->cut2], "what w hears is free of z_1");
    if (o->a == 0)
        claim(c, f->acc[0][p->q1][p->cut2] == at(p, i, j, 0, w)->acc[0][p->q1][p->cut2],
              "with F first, what w hears is free of z_0");
}

/* Two lists: the states that leave z_1, or those that leave z_2 and what the tokens of z_1 hear. */
static void b_answers(const one_full *o, int j, int u, int w, bool once)
{
    const two *p = o->p;
    static answers a;
    a.now++;
    for (int i = 0; i < p->first; i++) {
        if (!o->in_R[i]) continue;
        const flow *f = at(p, i, j, u, w);
        listing l = {.c = o->c, .room = 1};
        list(&l, NU1, f->acc[o->a][p->q1][p->cut2], FLOW_LETTERS);
        if (o->b) list(&l, NU0, f->acc[o->a][p->q0][p->cut2], FLOW_LETTERS);
        if (o->b && !once) list(&l, STATES, states_at(f, &p->m, o->a + 1, p->last, p->cut1), 1 << o->b);
        if (o->b && once) list(&l, TAU, states_at(f, &p->m, o->a + 1, p->last, p->cut2), 1 << o->b);
        for (int t = p->cut2; o->b && once && t < p->cut1; t++) list(&l, RHO, f->acc[o->a][t][p->cut2], FLOW_LETTERS);
        claim_answer(o->c, &a, l.key, f->value[p->last][p->q1],
                     once ? "the answer follows from the states after z_2" : "the answer follows from the list");
    }
}

static void check_b(claims *c, const two *p)
{
    one_full o = {.p = p, .c = c, .a = (int)strcspn(p->m.layers, "F")};
    o.b = p->last - o.a - 1;
    b_classes(&o);
    for (int j = 0; j < p->second; j++)
        for (int u = 0; o.in_K[j] && u < p->z.free; u++)
            for (int w = 0; w < p->z.n1; w++) {
                for (int i = 0; i < p->first; i++)
                    if (o.in_R[i]) b_claims_at(&o, i, j, u, w);
                b_answers(&o, j, u, w, false);
                b_answers(&o, j, u, w, true);
            }
}

/* ---- C0 and Ce: F F R^e ------------------------------------------------------------------------------------------------------- */

typedef struct two_full {
    const two *p;
    claims *c;
    int f1, f2, e; /* the two full layers, and how many come after them */
    int beta;      /* w's of one batch: 1 in C0 */
    bool in_R[FIRST_MAX], in_K[SECOND_MAX];
    int i, j;
} two_full;

/* z_2 with the accumulators of most in layer 1, of all w. */
static void c_class_first(two_full *o)
{
    const two *p = o->p;
    int heard[FIRST_MAX];
    for (int i = 0; i < p->first; i++) {
        heard[i] = 0;
        for (int w = 0; w < p->z.n1; w++)
            heard[i] = heard[i] * FLOW_LETTERS + at(p, i, 0, 0, w)->acc[o->f1][p->q1][p->cut2];
    }
    int common = most_frequent(heard, p->first);
    for (int i = p->first; i-- > 0;)
        if ((o->in_R[i] = heard[i] == common || !keeps(o->c, CLASS_FIRST))) o->i = i;
}

/* z_1 with the accumulators of most in layer 1, of the w of the batch that begins with w. */
static void c_class_second(two_full *o, int w)
{
    const two *p = o->p;
    int heard[SECOND_MAX];
    if (!keeps(o->c, OWN_BATCH)) w = (w + 1) % p->z.n1;
    for (int j = 0; j < p->second; j++) {
        heard[j] = 0;
        for (int k = 0; k < o->beta && w + k < p->z.n1; k++)
            heard[j] = heard[j] * FLOW_LETTERS + at(p, o->i, j, 0, w + k)->acc[o->f1][p->q1][p->cut1];
    }
    int common = most_frequent(heard, p->second);
    for (int j = p->second; j-- > 0;)
        if ((o->in_K[j] = heard[j] == common || !keeps(o->c, CLASS_SECOND))) o->j = j;
}

/* On all instances: what is heard in layer 1. */
static void c_claims_first(const two_full *o, int i, int j, int u, int w)
{
    const two *p = o->p;
    const flow *f = at(p, i, j, u, w), *other = at(p, i, (j + 1) % p->second, u, w);
    claim(o->c, f->acc[o->f1][p->q1][p->cut2] == at(p, i, 0, 0, w)->acc[o->f1][p->q1][p->cut2],
          "in layer 1 what w hears is a function of w");
    claim(o->c, f->acc[o->f1][p->q0][p->cut2] == at(p, i, 0, u, 0)->acc[o->f1][p->q0][p->cut2],
          "in layer 1 what z_0 hears is a function of z_0");
    for (int t = p->cut2; t < p->cut1; t++)
        if (f->value[0][t] == other->value[0][t])
            claim(o->c, f->acc[o->f1][t][p->cut2] == other->acc[o->f1][t][p->cut2],
                  "in layer 1 what a token of z_1 hears is a function of its index and value");
}

/* On the classes. */
static void c_claims_second(const two_full *o, int i, int j, int u, int w)
{
    const two *p = o->p;
    const flow *f = at(p, i, j, u, w);
    claim(o->c, f->acc[o->f1][p->q1][p->cut1] == at(p, o->i, j, u, w)->acc[o->f1][p->q1][p->cut1],
          "in layer 1 what w hears of z_1 is a function of z_1");
    claim(o->c, f->value[o->f2][p->q1] == at(p, o->i, o->j, u, w)->value[o->f2][p->q1],
          "w enters layer 2 as a function of w and z_0");
    claim(o->c, f->acc[o->f2][p->q1][p->cut2] == at(p, i, o->j, u, w)->acc[o->f2][p->q1][p->cut2],
          "in layer 2 what w hears is free of z_1");
    if (o->e)
        claim(o->c, f->acc[o->f2][p->q0][p->cut2] == at(p, i, j, u, 0)->acc[o->f2][p->q0][p->cut2],
              "in layer 2 what z_0 hears is free of w");
}

static void c_list(listing *l, const two_full *o, const flow *f, bool once)
{
    const two *p = o->p;
    list(l, NU1_LATER, f->acc[o->f2][p->q1][p->cut2], FLOW_LETTERS);
    list(l, NU0, f->acc[o->f1][p->q0][p->cut2], FLOW_LETTERS);
    for (int t = p->cut2; t < p->cut1; t++) list(l, RHO, f->acc[o->f1][t][p->cut2], FLOW_LETTERS);
    if (!o->e) return;
    list(l, NU0_LATER, f->acc[o->f2][p->q0][p->cut2], FLOW_LETTERS);
    if (!once) list(l, STATES, states_at(f, &p->m, o->f2 + 1, p->last, p->cut1), 1 << o->e);
    if (once) list(l, TAU, states_at(f, &p->m, o->f2 + 1, p->last, p->cut2), 1 << o->e);
    for (int t = p->cut2; once && t < p->cut1; t++) list(l, RHO_LATER, f->acc[o->f2][t][p->cut2], FLOW_LETTERS);
}

static void c_answers(const two_full *o, int j, int u, int w, bool once)
{
    static answers a;
    a.now++;
    for (int i = 0; i < o->p->first; i++) {
        if (!o->in_R[i]) continue;
        const flow *f = at(o->p, i, j, u, w);
        listing l = {.c = o->c, .room = 1};
        c_list(&l, o, f, once);
        claim_answer(o->c, &a, l.key, f->value[o->p->last][o->p->q1],
                     once ? "the answer follows from the states after z_2" : "the answer follows from the list");
    }
}

static void check_c_at(two_full *o, int j, int u, int w)
{
    for (int i = 0; i < o->p->first; i++) {
        c_claims_first(o, i, j, u, w);
        if (o->in_R[i] && o->in_K[j]) c_claims_second(o, i, j, u, w);
    }
    if (!o->in_K[j]) return;
    c_answers(o, j, u, w, false);
    c_answers(o, j, u, w, true);
}

static void check_c_batches(claims *c, const two *p, int beta)
{
    const char *layers = p->m.layers, *last = strrchr(layers, 'F');
    two_full o = {.p = p, .c = c, .f1 = (int)(strchr(layers, 'F') - layers), .f2 = (int)(last - layers), .beta = beta};
    o.e = p->last - o.f2 - 1;
    c_class_first(&o);
    for (int w = 0; w < p->z.n1; w++) {
        if (w % beta == 0) c_class_second(&o, w);
        for (int j = 0; j < p->second; j++)
            for (int u = 0; u < p->z.free; u++) check_c_at(&o, j, u, w);
    }
}

/* Batches of one w each, and one batch of all. */
static void check_c(claims *c, const two *p)
{
    check_c_batches(c, p, 1);
    check_c_batches(c, p, p->z.n1);
}

/* ---- C1: F R^b F -------------------------------------------------------------------------------------------------------------- */

/* What is fixed of z_2 first, as far as a context reads it. */
static listing c1_fixed(claims *c, const two *p, const flow *f, int f2)
{
    listing l = {.c = c, .room = 1};
    list(&l, NU1, f->acc[0][p->q1][p->cut2], FLOW_LETTERS);
    list(&l, NU0, f->acc[0][p->q0][p->cut2], FLOW_LETTERS);
    for (int t = p->cut2; t < p->cut1; t++) list(&l, RHO, f->acc[0][t][p->cut2], FLOW_LETTERS);
    list(&l, TAU, states_at(f, &p->m, 1, f2, p->cut2), 1 << (f2 - 1));
    return l;
}

/* The class of z_1, and the states between z_0 and w. */
static int c1_kept(claims *c, const two *p, const flow *f, int f2)
{
    listing l = {.c = c, .room = 1};
    list(&l, CLASS_SECOND, f->acc[0][p->q1][p->cut1], FLOW_LETTERS);
    list(&l, STATES, states_at(f, &p->m, 1, f2, p->q1), 1 << (f2 - 1));
    return l.key;
}

/* One z_1 with all z_2: below layer 2 nothing else of z_2 is known, and the answer follows. */
static void c1_claims_below(claims *c, const two *p, int j, int u, int w, int f2)
{
    static answers entered, answer;
    answer.now++;
    for (int t = p->cut2; t <= p->q1; t++) {
        entered.now++;
        for (int i = 0; i < p->first; i++) {
            const flow *f = at(p, i, j, u, w);
            claim_answer(c, &entered, c1_fixed(c, p, f, f2).key, f->value[f2][t],
                         "what enters layer 2 below z_2 follows from what is fixed");
        }
    }
    for (int i = 0; i < p->first; i++) {
        const flow *f = at(p, i, j, u, w);
        listing l = c1_fixed(c, p, f, f2);
        list(&l, NU1_LATER, f->acc[f2][p->q1][p->cut2], FLOW_LETTERS);
        claim_answer(c, &answer, l.key, f->value[p->last][p->q1], "the answer follows from the list");
    }
}

/* All z_1 that are kept together: w asks z_2 the same in layer 2. */
static void c1_claims_kept(claims *c, const two *p, int u, int w, int f2)
{
    static answers entered, heard;
    entered.now++;
    for (int i = 0; i < p->first; i++) {
        heard.now++;
        for (int j = 0; j < p->second; j++) {
            const flow *f = at(p, i, j, u, w);
            int kept = c1_kept(c, p, f, f2);
            claim_answer(c, &entered, kept, f->value[f2][p->q1], "w enters layer 2 as a function of w and z_0");
            claim_answer(c, &heard, kept, f->acc[f2][p->q1][p->cut2], "in layer 2 what w hears is free of z_1");
        }
    }
}

static void check_c1(claims *c, const two *p)
{
    int f2 = (int)(strrchr(p->m.layers, 'F') - p->m.layers);
    for (int u = 0; u < p->z.free; u++)
        for (int w = 0; w < p->z.n1; w++) {
            for (int j = 0; j < p->second; j++) c1_claims_below(c, p, j, u, w, f2);
            c1_claims_kept(c, p, u, w, f2);
        }
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------- */

typedef void check(claims *c, const two *p);

static const sizes small[] = {{2, 2, 2}, {3, 2, 2}, {3, 3, 1}, {2, 1, 3}};

/* So many models of every size. */
static void run_models(claims *c, check *proof, const char *layers, int models, bool backwards)
{
    for (int k = 0; k < models; k++)
        for (size_t s = 0; s < RUNG_COUNT(small); s++) {
            two p;
            two_run(&p, &small[s], &(flow_model){layers, stir((uint64_t)k, s), backwards});
            proof(c, &p);
            free(p.run);
        }
}

static int models_per_pattern(void)
{
    return getenv("RUNG_SOAK") ? 400 : 6;
}

static long assert_proof_holds(check *proof, const char *layers)
{
    claims c = {0};
    run_models(&c, proof, layers, models_per_pattern(), false);
    if (c.failed) fail_msg("%s: %ld of %ld comparisons fail: %s", layers, c.failed, c.compared, c.first);
    return c.compared;
}

/* Without a part that it needs, the proof is refuted by some model. */
static int assert_parts_needed(check *proof, const char *layers, unsigned parts)
{
    int caught = 0;
    for (int part = 0; part < PARTS; part++) {
        if (!(parts >> part & 1)) continue;
        claims c = {.without = 1u << part};
        for (int models = 1; !c.failed && models <= 32; models *= 2) run_models(&c, proof, layers, models, false);
        if (!c.failed) fail_msg("%s: the proof without part %d was not caught", layers, part);
        caught++;
    }
    return caught;
}

static void assert_order_needed(check *proof, const char *layers)
{
    claims c = {0};
    run_models(&c, proof, layers, 4, true);
    if (!c.failed) fail_msg("%s: a sum from right to left was not noticed", layers);
}

#define PART(name) (1u << (name))

static void test_one_full_layer(void **state)
{
    static const struct {
        const char *layers;
        unsigned parts;
    } cases[] = {
        {"F", PART(NU1)},
        {"FR", PART(NU1) | PART(NU0) | PART(STATES) | PART(TAU) | PART(RHO)},
        {"RF", PART(CLASS_FIRST) | PART(CLASS_SECOND) | PART(NU1)},
        {"RFR", PART(CLASS_FIRST) | PART(CLASS_SECOND) | PART(NU1) | PART(NU0) | PART(STATES) | PART(TAU) | PART(RHO)},
        {"RRFR", PART(CLASS_FIRST) | PART(CLASS_SECOND) | PART(NU1) | PART(NU0) | PART(STATES) | PART(TAU) | PART(RHO)},
        {"RFRR", PART(CLASS_FIRST) | PART(CLASS_SECOND) | PART(NU1) | PART(NU0) | PART(STATES) | PART(TAU) | PART(RHO)},
    };
    long compared = 0;
    int caught = 0;
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        compared += assert_proof_holds(check_b, cases[i].layers);
        caught += assert_parts_needed(check_b, cases[i].layers, cases[i].parts);
        assert_order_needed(check_b, cases[i].layers);
    }
    print_message("B0 and B: %ld comparisons, %d wrong proofs caught\n", compared, caught);
    assert_true(compared >= 50000);
}

static void test_two_full_layers(void **state)
{
    const unsigned both = PART(CLASS_FIRST) | PART(CLASS_SECOND) | PART(OWN_BATCH) | PART(NU1_LATER) | PART(NU0) |
                          PART(RHO),
                   after = both | PART(NU0_LATER) | PART(STATES) | PART(TAU) | PART(RHO_LATER);
    static const char *const layers[] = {"FF", "FFR", "FFRR"};
    long compared = 0;
    int caught = 0;
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(layers); i++) {
        compared += assert_proof_holds(check_c, layers[i]);
        caught += assert_parts_needed(check_c, layers[i], layers[i][2] ? after : both);
        assert_order_needed(check_c, layers[i]);
    }
    print_message("C0 and Ce: %ld comparisons, %d wrong proofs caught\n", compared, caught);
    assert_true(compared >= 50000);
}

static void test_a_thin_relay(void **state)
{
    const unsigned parts =
        PART(NU1) | PART(NU0) | PART(RHO) | PART(TAU) | PART(CLASS_SECOND) | PART(STATES) | PART(NU1_LATER);
    static const char *const layers[] = {"FRF", "FRRF"};
    long compared = 0;
    int caught = 0;
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(layers); i++) {
        compared += assert_proof_holds(check_c1, layers[i]);
        caught += assert_parts_needed(check_c1, layers[i], parts);
        assert_order_needed(check_c1, layers[i]);
    }
    print_message("C1: %ld comparisons, %d wrong proofs caught\n", compared, caught);
    assert_true(compared >= 50000);
}

/* A recurrent layer before the last full one hands the pointer on: the proof must not go through. */
static void test_recurrent_layer_between_breaks_the_proof(void **state)
{
    static const char *const layers[] = {"RFF", "FRF"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(layers); i++) {
        claims c = {0};
        for (int k = 0; k < 8; k++) {
            two p;
            two_run(&p, &small[1], &(flow_model){layers[i], (uint64_t)k, false});
            check_c(&c, &p);
            free(p.run);
        }
        if (!c.failed) fail_msg("%s passes as F F", layers[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_full_layer),
        cmocka_unit_test(test_two_full_layers),
        cmocka_unit_test(test_a_thin_relay),
        cmocka_unit_test(test_recurrent_layer_between_breaks_the_proof),
    };
    return cmocka_run_group_tests_name("dataflow", tests, NULL, NULL);
}
