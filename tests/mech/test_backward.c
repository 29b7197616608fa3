/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of every mechanism that has them. The loss is a random linear function of the outputs and of the state that
 * is left behind; its derivative along a random direction of one input, or along one coordinate of it, is the central
 * difference of the exact evaluator in f64, step by step: another program than the one that is tested. Then what a caller
 * relies on: gradients are added, an unwanted one changes no other, a stretch cut in two and a prefix that two stretches
 * share give what the whole stretches give. The indexer of dsa has a loss of its own, which is added to that of every
 * stretch.
 */
#include "dsa_loss.h"

/* Of the length of the gradient: fp32 sums of a few hundred terms, conditioned like the forward pass. */
static const double TOLERANCE = 2e-4;
/* In a double the rounding of the loss gives 1e-16 / 1e-6 and the third derivative 1e-12. */
static const double NUDGE = 1e-6;

static const struct {
    size_t heads, dk, dv;
} shapes[] = {{1, 1, 1}, {2, 3, 5}, {3, 5, 2}, {1, 4, 4}, {2, 1, 6}, {2, 7, 1}, {1, 9, 17}, {1, 33, 18}, {2, 16, 40}};
enum { SMALL = 7 }; /* the others are wider than a register or a panel */

/* ---- a stretch and its loss -------------------------------------------------------------------------------------------- */

typedef struct problem {
    const mech_case *what;
    rung_mech_conf conf;
    rung_fmt fmt;
    mech_inputs in;                    /* of pos + tokens tokens */
    size_t pos, tokens, before, after; /* elements of the state before and after the stretch */
    float *state, *o;                  /* what the stretch starts from, and its outputs */
    double *start;                     /* the same state */
    float *g, *g_state;                /* the loss is g . o + g_state . (state after) */
    bool weighs_state;
    dsa_target target; /* dsa only */
} problem;

static size_t outputs(const problem *p)
{
    return p->tokens * p->conf.heads * p->conf.dv;
}

static size_t end_of(const problem *p)
{
    return p->pos + p->tokens;
}

static bool has_indexer(const problem *p)
{
    return mech_is(&p->conf, "dsa");
}

static dsa_stretch indexer_of(const problem *p)
{
    dsa_stretch d = {.conf = &p->conf, .in = &p->in, .state = p->start, .pos = p->pos, .end = end_of(p)};
    if (!has_indexer(p)) return d;
    d.k = (size_t)rung_mech_param(&p->conf, "k");
    d.HI = (size_t)rung_mech_param(&p->conf, "HI"), d.DI = (size_t)rung_mech_param(&p->conf, "DI");
    return d;
}

static void draw_normals(float *x, size_t n, rung_rng *rng)
{
    for (size_t i = 0; i < n; i++) x[i] = (float)rung_rng_normal(rng);
}

/* Runs the fast scan from the state of the problem; what it leaves is dropped. */
static void scan_outputs(problem *p)
{
    float *left = mech_alloc_state(&p->conf, end_of(p), sizeof *left);
    memcpy(left, p->state, p->before * sizeof *left);
    scan_f32(p->o, left, &p->in, p->pos, p->tokens, &p->conf);
    free(left);
}

static void set_state(problem *p)
{
    double *o = mech_alloc(p->pos * p->conf.heads * p->conf.dv, sizeof *o);
    double *left = mech_alloc_state(&p->conf, end_of(p), sizeof *left);
    step_exact(o, left, &p->in, 0, p->pos, &p->conf, &p->fmt);
    for (size_t i = 0; i < p->before; i++) p->start[i] = p->state[i] = (float)left[i];
    free(left), free(o);
}

/* Keys of length 1 in one dimension are +1 and -1: equal scores, among which a nudge chooses. Other lengths tell them apart. */
static void break_ties(problem *p, rung_rng *rng)
{
    for (size_t i = 0; i < p->in.count; i++) {
        size_t n = p->conf.mech->inputs[i].dim == RUNG_DIM_KEY ? p->in.row[i] * p->in.rows[i] : 0;
        for (size_t e = 0; e < n; e++)
            p->in.f[i][e] *= (float)(0.5 + rung_rng_unit(rng)), p->in.x[i][e] = p->in.f[i][e];
    }
}

static problem problem_new(const mech_case *c, size_t shape, bool causal, size_t pos, size_t tokens, bool weighs_state,
                           uint64_t seed)
{
    problem p = {.what = c, .pos = pos, .tokens = tokens, .weighs_state = weighs_state};
    rung_error err = {""};
    rung_rng rng;
    rung_rng_init(&rng, seed, 7, 0);
    assert_int_equal(rung_fmt_parse(&p.fmt, "f64", &err), RUNG_OK);
    p.conf = mech_conf(c, shapes[shape].heads, shapes[shape].dk, shapes[shape].dv, causal);
    p.in = draw_inputs(&p.conf, pos + tokens, seed % 2, seed);
    if (mech_selects(c)) break_ties(&p, &rng);
    p.before = rung_mech_state_elements(&p.conf, pos), p.after = rung_mech_state_elements(&p.conf, end_of(&p));
    p.state = mech_alloc(p.before, sizeof *p.state), p.start = mech_alloc(p.before, sizeof *p.start);
    p.o = mech_alloc(outputs(&p), sizeof *p.o);
    p.g = mech_alloc(outputs(&p), sizeof *p.g), p.g_state = mech_alloc(p.after, sizeof *p.g_state);
    draw_normals(p.g, outputs(&p), &rng);
    if (weighs_state) draw_normals(p.g_state, p.after, &rng);
    if (pos) set_state(&p);
    scan_outputs(&p);
    const dsa_stretch indexer = indexer_of(&p);
    if (has_indexer(&p)) p.target = dsa_target_new(&indexer);
    return p;
}

static void problem_free(problem *p)
{
    free_inputs(&p->in);
    free(p->state), free(p->start), free(p->o), free(p->g), free(p->g_state), free(p->target.p);
}

static double loss(const problem *p)
{
    double *o = mech_alloc(outputs(p), sizeof *o), sum = 0;
    double *state = mech_alloc_state(&p->conf, end_of(p), sizeof *state);
    memcpy(state, p->start, p->before * sizeof *state);
    step_exact(o, state, &p->in, p->pos, p->tokens, &p->conf, &p->fmt);
    for (size_t i = 0; i < outputs(p); i++) sum += p->g[i] * o[i];
    for (size_t i = 0; p->weighs_state && i < p->after; i++) sum += p->g_state[i] * state[i];
    free(state), free(o);
    const dsa_stretch indexer = indexer_of(p);
    return has_indexer(p) ? sum + dsa_loss(&indexer, &p->target) : sum;
}

/* ---- its gradient ------------------------------------------------------------------------------------------------------ */

typedef struct gradient {
    size_t count, size[RUNG_MECH_INPUT_MAX];
    float *din[RUNG_MECH_INPUT_MAX], *dstate; /* dstate of the capacity of the state */
} gradient;

/* Room for the inputs of the stretch, all zero. */
static gradient gradient_new(const problem *p)
{
    gradient d = {.count = p->in.count};
    for (size_t i = 0; i < d.count; i++) {
        d.size[i] = p->in.row[i] * (rung_mech_is_constant(&p->conf.mech->inputs[i]) ? 1 : p->tokens);
        d.din[i] = d.size[i] ? mech_alloc(d.size[i], sizeof *d.din[i]) : NULL;
    }
    d.dstate = mech_alloc_state(&p->conf, end_of(p), sizeof *d.dstate);
    return d;
}

static void gradient_free(gradient *d)
{
    for (size_t i = 0; i < d->count; i++) free(d->din[i]);
    free(d->dstate);
}

/* dstate NULL: the state after does not matter. The heads in descending order: they must not depend on each other. */
static void run_backward(float *const *din, float *dstate, const problem *p)
{
    const rung_mech *mech = p->conf.mech;
    size_t count = mech->backward_scratch(&p->conf, end_of(p));
    float *scratch = memset(mech_alloc(count, sizeof *scratch), 0xff, count * sizeof *scratch);
    rung_backward b = {.conf = &p->conf,
                       .o = p->o,
                       .g = p->g,
                       .state = p->pos ? p->state : NULL,
                       .dstate = dstate,
                       .pos = p->pos,
                       .tokens = p->tokens,
                       .scratch = scratch};
    inputs_at_f32(b.in, &p->in, p->pos);
    for (size_t i = 0; i < p->in.count; i++) b.din[i] = din[i];
    for (size_t h = p->conf.heads; h-- > 0;) mech->backward_f32(&b, h);
    free(scratch);
}

static gradient gradient_of(const problem *p)
{
    gradient d = gradient_new(p);
    bool states = p->weighs_state || p->pos;
    memcpy(d.dstate, p->g_state, p->after * sizeof *d.dstate);
    run_backward(d.din, states ? d.dstate : NULL, p);
    return d;
}

/* ---- central differences ----------------------------------------------------------------------------------------------- */

static double slope(const problem *p, double *x, const double *direction, size_t n)
{
    double *kept = memcpy(mech_alloc(n, sizeof *kept), x, n * sizeof *x), rise;
    for (size_t i = 0; i < n; i++) x[i] = kept[i] + NUDGE * direction[i];
    rise = loss(p);
    for (size_t i = 0; i < n; i++) x[i] = kept[i] - NUDGE * direction[i];
    rise -= loss(p);
    memcpy(x, kept, n * sizeof *x);
    free(kept);
    return rise / (2 * NUDGE);
}

static double length_of(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * x[i];
    return sqrt(sum);
}

/* Summaries that a relu has set to 0 have equal scores, among which a nudge would choose: they stay. */
static void keep_ties(double *direction, const double *x, size_t n, const problem *p)
{
    for (size_t i = 0; mech_selects(p->what) && i < n; i++)
        if (x[i] == 0) direction[i] = 0;
}

static void check_slope(const problem *p, const float *got, double *x, double *direction, size_t n, const char *name,
                        const char *along)
{
    keep_ties(direction, x, n, p);
    double want = slope(p, x, direction, n), have = 0, size = length_of(got, n);
    for (size_t i = 0; i < n; i++) have += direction[i] * got[i];
    if (fabs(want - have) <= TOLERANCE * (size + fabs(want)) + 1e-5)
        return; /* what is 0 comes as the noise of terms of size 1 */
    fail_msg("%s %s H=%zu dk=%zu dv=%zu causal=%d pos=%zu tokens=%zu: the slope of %s along %s is %.9g, not %.9g "
             "(length %.3g)",
             p->what->name, p->what->words, p->conf.heads, p->conf.dk, p->conf.dv, p->conf.causal, p->pos, p->tokens,
             name, along, want, have, size);
}

/* Along a direction in which everything moves, and along two coordinates (one under the sanitizers). */
static void check_gradient(const problem *p, const float *got, double *x, size_t n, const char *name, rung_rng *rng)
{
    double *direction = mech_alloc(n, sizeof *direction);
    for (size_t i = 0; i < n; i++) direction[i] = rung_rng_normal(rng);
    check_slope(p, got, x, direction, n, name, "a random direction");
    for (size_t trial = 0; n && trial < effort(2, 1); trial++) {
        size_t at = (size_t)rung_rng_below(rng, n);
        memset(direction, 0, n * sizeof *direction);
        direction[at] = 1;
        check_slope(p, got, x, direction, n, name, "one coordinate");
    }
    free(direction);
}

static void check_problem(problem *p, uint64_t seed)
{
    gradient d = gradient_of(p);
    rung_rng rng;
    rung_rng_init(&rng, seed, 8, 0);
    for (size_t i = 0; i < d.count; i++) {
        size_t skip = rung_mech_is_constant(&p->conf.mech->inputs[i]) ? 0 : p->pos * p->in.row[i];
        if (d.size[i]) check_gradient(p, d.din[i], p->in.x[i] + skip, d.size[i], p->conf.mech->inputs[i].name, &rng);
    }
    if (p->pos) check_gradient(p, d.dstate, p->start, p->before, "the state", &rng);
    gradient_free(&d);
}

/* The mechanism that the command line names; NULL: all. */
static const char *only;

static bool is_trained(const mech_case *c)
{
    return rung_mech_get(c->name)->backward_f32 != NULL && (!only || strcmp(only, c->name) == 0);
}

static bool forks(const mech_case *c)
{
    return is_trained(c) && rung_mech_get(c->name)->forks;
}

static size_t pick(const size_t *from, size_t count, uint64_t seed)
{
    return from[seed % count];
}

static size_t shape_for(uint64_t seed)
{
    return seed % SMALL;
}

static void test_gradients_are_the_slopes_of_the_exact_evaluator(void **state)
{
    static const size_t tokens[] = {1, 2, 5, 17, 64, 65, 131};
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (uint64_t seed = 0; is_trained(&mech_cases[c]) && seed < effort(14, 7); seed++) {
            bool causal = seed % 3 != 2 || !mech_allows(&mech_cases[c], false);
            problem p = problem_new(&mech_cases[c], shape_for(seed + c), causal, 0,
                                    pick(tokens, RUNG_COUNT(tokens), seed), false, 100 * c + seed);
            check_problem(&p, seed);
            problem_free(&p);
        }
}

/* Those that take tokens in chunks. */
static bool is_chunked(const mech_case *c)
{
    static const char *const names[] = {"linear", "retnet", "gla",   "mamba2", "delta",
                                        "gdelta", "kda",    "mamba", "rwkv7",  "loglinear"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++)
        if (strcmp(names[i], c->name) == 0) return is_trained(c) && !strstr(c->words, "taylor2");
    return false;
}

static void test_gradients_of_heads_wider_than_a_panel(void **state)
{
    static const size_t tokens[] = {33, 66};
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        if (is_chunked(&mech_cases[c])) {
            problem p = problem_new(&mech_cases[c], SMALL + c % (RUNG_COUNT(shapes) - SMALL), true, 5,
                                    pick(tokens, RUNG_COUNT(tokens), c / 2), true, 9000 + c);
            check_problem(&p, c);
            problem_free(&p);
        }
}

static void test_gradients_pass_through_the_states_before_and_after(void **state)
{
    static const size_t tokens[] = {1, 3, 64, 70}, before[] = {0, 1, 6, 63, 64, 67};
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (uint64_t seed = 0; forks(&mech_cases[c]) && seed < effort(12, 6); seed++) {
            problem p = problem_new(&mech_cases[c], shape_for(seed + c), true, pick(before, RUNG_COUNT(before), seed),
                                    pick(tokens, RUNG_COUNT(tokens), seed), true, 5000 + 100 * c + seed);
            check_problem(&p, seed);
            problem_free(&p);
        }
}

/* ---- what callers rely on ---------------------------------------------------------------------------------------------- */

/* got is no farther from want than rounding explains. */
static void assert_near(const float *got, const float *want, size_t n, const problem *p, const char *what)
{
    double size = length_of(want, n), far = 0;
    for (size_t i = 0; i < n; i++) far += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
    if (sqrt(far) <= 1e-4 * size + 1e-5) return;
    fail_msg("%s of %s %s H=%zu dk=%zu dv=%zu pos=%zu tokens=%zu: off by %g of %g", what, p->what->name, p->what->words,
             p->conf.heads, p->conf.dk, p->conf.dv, p->pos, p->tokens, sqrt(far), size);
}

static void test_gradients_are_added_to_what_is_there(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++) {
        if (!is_trained(&mech_cases[c])) continue;
        problem p = problem_new(&mech_cases[c], 1, true, 0, 67, false, c);
        gradient once = gradient_of(&p), twice = gradient_of(&p);
        run_backward(twice.din, NULL, &p);
        for (size_t i = 0; i < once.count; i++)
            for (size_t e = 0; e < once.size[i]; e++) once.din[i][e] *= 2;
        for (size_t i = 0; i < once.count; i++)
            assert_near(twice.din[i], once.din[i], once.size[i], &p, "twice the gradient");
        gradient_free(&once), gradient_free(&twice), problem_free(&p);
    }
}

static void test_a_gradient_that_is_not_wanted_changes_no_other(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (uint64_t seed = 0; is_trained(&mech_cases[c]) && seed < 4; seed++) {
            bool causal = seed % 2 || !mech_allows(&mech_cases[c], false);
            problem p = problem_new(&mech_cases[c], 2, causal, 0, 66, false, 10 * c + seed);
            gradient all = gradient_of(&p), some = gradient_new(&p);
            float *din[RUNG_MECH_INPUT_MAX];
            rung_rng rng;
            rung_rng_init(&rng, seed, 9, 0);
            for (size_t i = 0; i < all.count; i++) din[i] = rung_rng_below(&rng, 2) ? some.din[i] : NULL;
            run_backward(din, NULL, &p);
            for (size_t i = 0; i < all.count; i++)
                if (din[i]) assert_memory_equal(din[i], all.din[i], all.size[i] * sizeof *din[i]);
            gradient_free(&all), gradient_free(&some), problem_free(&p);
        }
}

/* A part of the stretch: tokens first .. first+tokens-1 of the whole, with the gradients of its outputs. The inputs are
 * the whole's; give them back with the part's own buffers only. */
static problem part_of(const problem *whole, size_t first, size_t tokens)
{
    problem p = *whole;
    size_t row = p.conf.heads * p.conf.dv;
    p.pos = whole->pos + first, p.tokens = tokens;
    p.before = rung_mech_state_elements(&p.conf, p.pos), p.after = rung_mech_state_elements(&p.conf, end_of(&p));
    p.state = mech_alloc(p.before, sizeof *p.state), p.start = mech_alloc(p.before, sizeof *p.start);
    p.o = whole->o + first * row, p.g = whole->g + first * row, p.g_state = NULL;
    if (p.pos) set_state(&p);
    return p;
}

static void part_free(problem *p)
{
    free(p->state), free(p->start);
}

/* din of a part, as pointers into the gradient of the whole. */
static void din_at(float *din[RUNG_MECH_INPUT_MAX], const gradient *d, const problem *p, size_t token)
{
    for (size_t i = 0; i < d->count; i++)
        din[i] = !d->din[i] || rung_mech_is_constant(&p->conf.mech->inputs[i]) ? d->din[i]
                                                                               : d->din[i] + token * p->in.row[i];
}

static void test_a_stretch_cut_in_two_has_the_gradient_of_the_whole(void **state)
{
    static const size_t cuts[] = {1, 7, 31, 32, 64, 65, 80};
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (uint64_t seed = 0; forks(&mech_cases[c]) && seed < 7; seed++) {
            problem p = problem_new(&mech_cases[c], shape_for(seed), true, 0, 81, true, 31 * c + seed);
            size_t cut = pick(cuts, RUNG_COUNT(cuts), seed);
            gradient whole = gradient_of(&p), parts = gradient_new(&p);
            problem left = part_of(&p, 0, cut), right = part_of(&p, cut, p.tokens - cut);
            float *din[RUNG_MECH_INPUT_MAX];
            memcpy(parts.dstate, p.g_state, p.after * sizeof *parts.dstate);
            din_at(din, &parts, &p, cut);
            run_backward(din, parts.dstate, &right);
            run_backward(parts.din, parts.dstate, &left);
            for (size_t i = 0; i < whole.count; i++)
                assert_near(parts.din[i], whole.din[i], whole.size[i], &p, p.conf.mech->inputs[i].name);
            part_free(&left), part_free(&right);
            gradient_free(&whole), gradient_free(&parts), problem_free(&p);
        }
}

/* Two stretches with the same first tokens. */
static void copy_prefix(problem *to, const problem *from, size_t tokens)
{
    for (size_t i = 0; i < to->in.count; i++) {
        size_t n = to->in.row[i] * (rung_mech_is_constant(&to->conf.mech->inputs[i]) ? 1 : tokens);
        if (!to->in.f[i]) continue;
        memcpy(to->in.f[i], from->in.f[i], n * sizeof *to->in.f[i]);
        memcpy(to->in.x[i], from->in.x[i], n * sizeof *to->in.x[i]);
    }
    scan_outputs(to);
}

static void add_to(float *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] += from[i];
}

/* Gradients of the continuation of p alone: its inputs into d, its state after the prefix into d.dstate. */
static void back_to_prefix(gradient *d, const problem *p, size_t prefix)
{
    problem rest = part_of(p, prefix, p->tokens - prefix);
    float *din[RUNG_MECH_INPUT_MAX];
    memcpy(d->dstate, p->g_state, p->after * sizeof *d->dstate);
    din_at(din, d, p, prefix);
    run_backward(din, d->dstate, &rest);
    part_free(&rest);
}

/* The indexer's loss of a shared prefix is that of one stretch, not of two. */
static bool is_indexers(const problem *p, size_t input)
{
    return has_indexer(p) && p->conf.mech->inputs[input].dim >= RUNG_DIM_INDEX_QUERY;
}

static void test_a_shared_prefix_has_the_sum_of_the_gradients(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (uint64_t seed = 0; forks(&mech_cases[c]) && seed < 4; seed++) {
            size_t prefix = seed % 2 ? 70 : 13, shape = shape_for(seed + 1);
            problem a = problem_new(&mech_cases[c], shape, true, 0, prefix + 9, true, 57 * c + seed);
            problem b = problem_new(&mech_cases[c], shape, true, 0, prefix + 3, true, 57 * c + seed + 1000);
            copy_prefix(&b, &a, prefix);
            gradient whole_a = gradient_of(&a), whole_b = gradient_of(&b);
            gradient of_a = gradient_new(&a), of_b = gradient_new(&b);
            back_to_prefix(&of_a, &a, prefix), back_to_prefix(&of_b, &b, prefix);
            problem shared = part_of(&a, 0, prefix);
            add_to(of_a.dstate, of_b.dstate, rung_mech_state_elements(&a.conf, prefix));
            /* the outputs of the prefix weigh in both losses */
            float *both = mech_alloc(outputs(&shared), sizeof *both);
            add_to(both, a.g, outputs(&shared)), add_to(both, b.g, outputs(&shared));
            shared.g = both;
            run_backward(of_a.din, of_a.dstate, &shared);
            for (size_t i = 0; i < whole_a.count; i++) {
                bool constant = rung_mech_is_constant(&a.conf.mech->inputs[i]);
                size_t n = constant ? whole_a.size[i] : prefix * a.in.row[i];
                if (!whole_a.din[i] || is_indexers(&a, i)) continue;
                if (constant) add_to(of_a.din[i], of_b.din[i], n); /* its continuation */
                add_to(whole_a.din[i], whole_b.din[i], n);
                assert_near(of_a.din[i], whole_a.din[i], n, &a, a.conf.mech->inputs[i].name);
            }
            free(both), part_free(&shared);
            gradient_free(&whole_a), gradient_free(&whole_b), gradient_free(&of_a), gradient_free(&of_b);
            problem_free(&a), problem_free(&b);
        }
}

/* The cases above are a list of their own: a mechanism that is added must be trained and tested, or say why not. */
static void test_no_mechanism_is_without_a_gradient(void **state)
{
    (void)state;
    for (size_t i = 0; i < rung_mech_count(); i++) {
        const rung_mech *mech = rung_mech_at(i);
        bool tested = false;
        for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++) tested |= strcmp(mech_cases[c].name, mech->name) == 0;
        if (!mech->backward_f32 || !mech->backward_scratch) fail_msg("%s has no backward pass", mech->name);
        if (!tested) fail_msg("%s is not among the cases", mech->name);
    }
}

int main(int argc, char **argv)
{
    only = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_are_the_slopes_of_the_exact_evaluator),
        cmocka_unit_test(test_no_mechanism_is_without_a_gradient),
        cmocka_unit_test(test_gradients_of_heads_wider_than_a_panel),
        cmocka_unit_test(test_gradients_pass_through_the_states_before_and_after),
        cmocka_unit_test(test_gradients_are_added_to_what_is_there),
        cmocka_unit_test(test_a_gradient_that_is_not_wanted_changes_no_other),
        cmocka_unit_test(test_a_stretch_cut_in_two_has_the_gradient_of_the_whole),
        cmocka_unit_test(test_a_shared_prefix_has_the_sum_of_the_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
