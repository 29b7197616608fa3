/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Searches good parameters for theorem D. With all of them but n_1 fixed, and the y of Lemma S' too, the number of w,
 * the sizes of the tables, what is fixed of them and the values reached are linear in n_1: the least n_1 is a quotient,
 * but for log2 V. The best y depends on n_1 again, so both are computed alternately. What remains is a pattern search
 * over t, g, x_l, q_l and n_2 .. n_{L-1}. It starts where the dominant terms balance: x_{L-1}, n_{L-1}, x_{L-2}, ... as
 * c to the powers 1, 2, 3, 5, 8, ... (Fibonacci), and also with smaller powers because logarithms help.
 *
 * D-pure: the loss of the first class is c W/g bits. The search chooses the loss, and g follows from W.
 */
#include "compose_deep.h"
#include "search.h"
#include "spread.h"

#include <math.h>

/* Intermediate numbers of the search exceed the range of double, but not of long double. */
typedef struct line {
    long double at0, slope; /* at0 + slope n_1 */
} line;

static line plus(line a, line b)
{
    return (line){a.at0 + b.at0, a.slope + b.slope};
}

static line times(line a, long double b)
{
    return (line){a.at0 * b, a.slope * b};
}

static line constant(long double x)
{
    return (line){x, 0};
}

static long double at(line a, long double n1)
{
    return a.at0 + a.slope * n1;
}

typedef struct plan {
    deep d;
    double loss; /* D-pure: bits of the first class for each function, c W/g */
    line W, M1, table[DEEP_MAX], theta[DEEP_MAX], cost[DEEP_MAX + 1]; /* N_l, Theta_l, D_l */
    long double n1;
    double log2_V; /* with which n_1 was computed: very near the pole of the quotient it is more accurate than n_1 */
} plan;

enum { LOSS_UNITS = 1024 };
/* LARGEST: log2 of the largest V that is searched. TOO_LARGE: value of a point at which V would be larger. NOTHING:
 * value of a point at which a function takes no value. */
enum { LARGEST = 1000, TOO_LARGE = 100000, NOTHING = 10000000 };
static const double least_y = 0x1p-50, most_y = 0.9999;

static long double N0_of(const deep *d)
{
    long double N0 = d->t;
    for (size_t l = 1; l < d->L; l++) N0 *= d->q[l];
    return N0;
}

/* g t <= N_0, certainly: products below 2^64 are exact, others have an error of a few parts in 2^64. */
static bool cells_fit(const deep *d)
{
    long double N0 = N0_of(d);
    return (long double)d->g * d->t <= (N0 < 0x1p64L ? N0 : N0 * (1 - 0x1p-50L));
}

bool deep_allowed(const deep *d)
{
    for (size_t l = 1; l < d->L; l++)
        if (!(d->x[l] >= 1 && d->x[l] <= d->q[l] && d->n[l] >= 1)) return false;
    return d->t >= 1 && d->g >= 1 && cells_fit(d);
}

double deep_log2_values(const deep *d)
{
    long double table = N0_of(d);
    for (size_t l = 1; l < d->L; l++) table *= d->n[l];
    return (double)log2l(d->task.V > 0 ? (long double)d->task.V : table);
}

long double deep_tokens(const deep *d)
{
    long double table = N0_of(d), tokens = table + 2;
    for (size_t l = 1; l < d->L; l++) {
        if (l == d->L - 1) tokens += table * (long double)(d->task.L - d->L);
        tokens += table *= d->n[l];
    }
    return tokens < 0x1p63L ? tokens
                            : tokens * (1 + 0x1p-58L); /* exact below; above, this covers some tens of roundings */
}

double deep_seen(const deep *d, size_t l)
{
    size_t layers = (d->pure ? l + 1 : l) - (l == d->L - 1);
    return (double)(d->asks && d->asks < layers ? d->asks : layers);
}

bool deep_others_ask(const deep *d, size_t l)
{
    return !d->asks || (d->pure ? l + 1 : l) <= d->asks;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void lay_sizes(plan *p)
{
    const deep *d = &p->d;
    long double N0 = N0_of(d), others = 1;
    p->table[0] = constant(N0);
    for (size_t l = 1; l < d->L; l++) {
        if (l > 1) others *= d->n[l];
        p->table[l] = (line){0, N0 * others};
    }
    p->W = (line){0, others};
    long double each = (d->x[1] - 1) * d->t / p->loss; /* pure: g = (c W + s_1) / loss */
    p->M1 = d->pure ? plus(constant(N0 + each * (long double)d->r[0]), times(p->W, each * (long double)d->c))
                    : constant(N0 + (d->x[1] - 1) * (long double)d->g * d->t);
}

/* Theta_1 and D_2. */
static void lay_first(plan *p)
{
    deep *d = &p->d;
    long double c = (long double)d->c, states = (long double)d->r[0] + (long double)d->r[d->pure ? 2 : 1];
    double loss = d->pure ? p->loss : (double)d->r[0] / d->g, values = d->t * d->x[1];
    bool known = d->pure || d->r[0]; /* w may know z_0 */
    d->y[1] = 0;
    if (known) values = spread_from_class(&d->y[1], d->t, d->q[1], loss, d->x[1], SPREAD_ROUGH);
    p->theta[1] = constant(values);
    line listed = plus(plus(times(p->W, known ? d->t : 1), constant(d->t)), p->M1);
    if (d->pure) listed = plus(plus(listed, plus(p->W, p->M1)), constant((long double)d->t * d->x[1]));
    p->cost[2] = plus(times(listed, c), constant(states));
}

static line lower_tokens(const plan *p, size_t l)
{
    line lower = p->M1;
    for (size_t i = 2; i < l; i++) lower = times(plus(lower, p->table[i - 1]), p->d.x[i]);
    return lower;
}

/* D_{l+1} from D_l. min() of the last step is taken at the n_1 of the previous round. */
static line next_cost(const plan *p, size_t l)
{
    const deep *d = &p->d;
    bool last = l == d->L - 1;
    long double x = d->x[l], contexts = d->t, c = (long double)d->c, seen = deep_seen(d, l);
    long double after = (long double)d->r[d->pure ? d->L : l], states = 0;
    for (size_t i = 1; i < l; i++) contexts *= d->x[i];
    for (size_t i = 0; i < l + d->pure + !last; i++) states += (long double)d->r[i];
    line tokens = times(p->table[l - 1], x);
    if (last) tokens = plus(tokens, times(p->table[d->L - 2], (long double)(d->task.L - d->L)));
    line listed = plus(times(p->W, contexts), times(tokens, seen));
    if ((!last || after > 0) && deep_others_ask(d, l))
        listed = plus(listed, plus(constant(contexts), lower_tokens(p, l)));
    if (last) states += (long double)d->beside_last;
    line cost = plus(plus(times(p->cost[l], x), constant(1 + states)), times(listed, c));
    if (!last || after == 0) return cost;
    line once = plus(constant(after), times(tokens, c));
    return plus(cost, x * after < at(once, p->n1) ? constant(x * after) : once);
}

/* Theta_l, with the y that is best at the n_1 of the previous round (infinite in the first). False if there is none;
 * *worst is then the number of missing bits per coordinate. */
static bool lay_values(plan *p, size_t l, double *worst)
{
    deep *d = &p->d;
    line T = times(p->theta[l - 1], d->n[l - 1]), budget = plus(times(p->cost[l], d->x[l]), constant(1));
    if (l == 2) T = (line){0, p->theta[1].at0};
    bool first = isinf(p->n1);
    double each = (double)(first ? budget.slope / T.slope : at(budget, p->n1) / at(T, p->n1));
    double from = first ? least_y : pow(d->y[l], 2.5), to = first ? most_y : pow(d->y[l], 0.4);
    *worst = each;
    double rate = spread_random_rate(&d->y[l], fmax(from, least_y), fmin(to, most_y), d->x[l], d->q[l], each);
    double bits = spread_random_bits(d->y[l], d->x[l], d->q[l]);
    p->theta[l] = times(plus(times(T, bits), times(budget, -1)), 1 / -log2(d->y[l]));
    return rate > 0;
}

/* The n_1 at which n_{L-1} Theta_{L-1} log2 V = D_L, by bisection over log2 V. False if log2 V would be larger than
 * LARGEST; *worst then rises with it. */
static bool solve(plan *p, double *worst)
{
    const deep *d = &p->d;
    line values = times(p->theta[d->L - 1], d->n[d->L - 1]), cost = p->cost[d->L];
    long double whole = p->table[d->L - 1].slope;
    double fixed = d->task.V > 0 ? log2(d->task.V) : INFINITY, least = (double)(cost.slope / values.slope);
    double low = fmax(least, (double)log2l(whole)), high = 2 * low + 64;
    *worst = TOO_LARGE * (1 + 0.1 * log2(fmax(fmax(low / LARGEST, least / fixed), 1)));
    if (values.slope <= 0 || low > LARGEST || fixed <= least) return false;
    for (int i = 0; i < 60 && high - low > 1e-12 * high; i++) {
        double V = (low + high) / 2;
        long double rest = cost.at0 - values.at0 * V, per = values.slope * V - cost.slope;
        if (per <= 0 || log2l(fmaxl(rest / per, 1)) + log2l(whole) > V)
            low = V;
        else
            high = V;
    }
    p->log2_V = high = d->task.V > 0 ? fixed : high;
    p->n1 = fmaxl((cost.at0 - values.at0 * high) / (values.slope * high - cost.slope), 1);
    return high <= LARGEST;
}

/* Theta_l and D_l of one round. False, with a penalty, if a function takes no value. */
static bool lay_steps(plan *p, double *worst)
{
    const size_t L = p->d.L;
    for (size_t l = 2; l < L; l++) {
        if (!lay_values(p, l, worst)) {
            *worst = NOTHING * ((double)(L - l) + 1e-3 * fmin(log2(fmax(*worst, 1)), 500));
            return false;
        }
        p->cost[l + 1] = next_cost(p, l);
    }
    return true;
}

static double log2_tokens(const plan *p)
{
    const deep *d = &p->d;
    long double tokens = (long double)(d->task.L - d->L) * at(p->table[d->L - 2], p->n1) + 2;
    for (size_t l = 0; l < d->L; l++) tokens += at(p->table[l], p->n1);
    return (double)log2l(tokens);
}

/* ---- first search: n_1 follows ----------------------------------------------------------------------------------- */

/* Reads t, g (D-pure: the loss in units), then x_l, q_l for l = 1 .. L'-1. Returns the number of coordinates that it
 * read. */
static size_t take_common(deep *d, const double *point)
{
    size_t next = 2;
    d->t = point[0], d->g = point[1];
    for (size_t l = 1; l < d->L; l++) d->x[l] = point[next++], d->q[l] = point[next++];
    return next;
}

static bool enough_letters(const deep *d)
{
    for (size_t l = 1; l < d->L; l++)
        if (d->x[l] > d->q[l]) return false;
    return true;
}

/* By how much g t exceeds N_0, as a penalty that no gain elsewhere outweighs. */
static double too_many_cells(long double cells, long double N0)
{
    return 1000 * fmax(0, (double)log2l(cells / N0) + 1e-9);
}

/* Then n_2 .. n_{L'-1}. */
static void take_free(plan *p, const double *point)
{
    size_t next = take_common(&p->d, point);
    p->d.n[1] = 1, p->loss = point[1] / LOSS_UNITS, p->n1 = INFINITY;
    for (size_t l = 2; l < p->d.L; l++) p->d.n[l] = point[next++];
}

/* pure: c W + s_1 */
static long double heard_first(const plan *p, long double n1)
{
    return (long double)p->d.c * at(p->W, n1) + (long double)p->d.r[0];
}

/* log2 of the prompt; where something is not allowed, more than that. */
static double free_value(plan *p)
{
    double worst = 0;
    lay_sizes(p);
    if (p->table[p->d.L - 1].slope > 0x1p4000L)
        return TOO_LARGE * (1 + 1e-4 * (double)log2l(p->table[p->d.L - 1].slope));
    lay_first(p);
    for (int round = 0; round < 3; round++)
        if (!lay_steps(p, &worst) || !solve(p, &worst)) return worst;
    double least = fmax(log2_tokens(p), p->log2_V);
    if (!p->d.pure)
        return cells_fit(&p->d) ? least : least + too_many_cells((long double)p->d.g * p->d.t, N0_of(&p->d));
    return least + too_many_cells(heard_first(p, p->n1) * p->d.t / p->loss, N0_of(&p->d));
}

static double free_value_at(const double *point, const void *context)
{
    plan p = *(const plan *)context;
    take_free(&p, point);
    return enough_letters(&p.d) ? free_value(&p) : INFINITY;
}

/* The point where the dominant terms balance, powers scaled by `scale`. D-pure needs t c W/g bits of loss beside c (t X
 * + ...): t as c x_1, n_1 as c x_2 ... x_{L-1}, g t near N_0. */
static void balanced(double *point, const deep *d, double t, double loss, double scale)
{
    double smaller = 1, power = 1, inner = 1, log2_c = scale * log2((double)d->c), x[DEEP_MAX], n[DEEP_MAX];
    for (size_t l = d->L; --l > 0;) {
        x[l] = exp2(fmin(power * log2_c, 800)), power += smaller, smaller = power - smaller;
        n[l] = exp2(fmin(power * log2_c, 800)), power += smaller, smaller = power - smaller;
        if (l > 1) inner *= 4 * x[l];
    }
    double W = exp2(log2_c) * inner;
    for (size_t l = 2; l < d->L; l++) W *= n[l];
    point[0] = d->pure ? t * exp2(log2_c) * x[1] : t;
    point[1] = d->pure ? loss * point[0] * LOSS_UNITS : (double)d->r[0] / loss;
    size_t next = 2;
    for (size_t l = 1; l < d->L; l++) point[next++] = x[l], point[next++] = 2 * x[l];
    if (d->pure) point[3] = fmax(point[3], 2 * ((double)d->c * W + (double)d->r[0]) / (loss * point[0] * inner));
    for (size_t l = 2; l < d->L; l++) point[next++] = n[l];
}

static search_box box_of(const deep *d, size_t sizes)
{
    search_box box = {.count = 2 * d->L + sizes};
    for (size_t i = 0; i < box.count; i++) box.low[i] = 1, box.high[i] = 0x1p900;
    if (!d->pure && d->r[0] == 0) box.high[1] = 1; /* g affects only the class of z_1 */
    return box;
}

/* Largest number of evaluations of both searches: a few seconds for L' = 6, much less for 3. */
enum { BUDGET = 120000 };

static bool choose_free(plan *p)
{
    search s;
    search_box box = box_of(&p->d, p->d.L - 2);
    search_init(&s, &box, free_value_at, p, 8);
    s.budget = BUDGET;
    for (double scale = 0.2; scale < 1.5; scale += 0.1)
        for (double t = 1; t <= 8; t *= 2)
            for (double loss = 0.125; loss <= 8; loss *= 4) {
                double point[SEARCH_DIMS];
                balanced(point, &p->d, t, loss, scale);
                search_try(&s, point);
                search_try_near(&s, point, 1, 3);
            }
    if (search_run(&s) > LARGEST) return false;
    take_free(p, s.best);
    return free_value(p) <= LARGEST;
}

/* ---- second search: n_1 and g as whole numbers ------------------------------------------------------------------- */

/* After the common ones n_1 .. n_{L'-1}. */
static void take_whole(plan *p, const double *point)
{
    size_t next = take_common(&p->d, point);
    long double W = 1;
    for (size_t l = 1; l < p->d.L; l++) p->d.n[l] = point[next++], W *= p->d.n[l];
    p->n1 = p->d.n[1], p->loss = (double)(((long double)p->d.c * W + (long double)p->d.r[0]) / p->d.g);
}

/* log2 of the prompt length, plus a penalty for the deficit of the inequality. */
static double whole_value(plan *p)
{
    double worst = 0;
    size_t last = p->d.L - 1;
    lay_sizes(p);
    lay_first(p);
    if (!lay_steps(p, &worst)) return worst;
    double V = p->d.task.V > 0 ? log2(p->d.task.V) : (double)log2l(at(p->table[last], p->n1));
    long double reached = at(p->theta[last], p->n1) * p->d.n[last] * V, cost = at(p->cost[p->d.L], p->n1);
    double fails = reached > 0 ? fmax(0, (double)log2l(cost / reached) + 1e-12) : 1000;
    return log2_tokens(p) + 1000 * fails +
           (cells_fit(&p->d) ? 0 : too_many_cells((long double)p->d.g * p->d.t, N0_of(&p->d)));
}

static double whole_value_at(const double *point, const void *context)
{
    plan p = *(const plan *)context;
    take_whole(&p, point);
    return enough_letters(&p.d) ? whole_value(&p) : INFINITY;
}

static void choose_whole(plan *p)
{
    search s;
    deep *d = &p->d;
    search_box box = box_of(d, d->L - 1);
    double point[SEARCH_DIMS] = {d->t, d->g};
    size_t next = 2;
    d->n[1] = (double)ceill(p->n1 * (1 + 1e-12L));
    if (d->pure) point[1] = (double)ceill(heard_first(p, d->n[1]) / p->loss);
    for (size_t l = 1; l < d->L; l++) point[next++] = d->x[l], point[next++] = d->q[l];
    for (size_t l = 1; l < d->L; l++) point[next++] = d->n[l];
    search_init(&s, &box, whole_value_at, p, 1);
    s.budget = BUDGET;
    search_try(&s, point);
    search_run(&s);
    take_whole(p, s.best);
    whole_value(p);
}

bool deep_choose(deep *d)
{
    plan p = {.d = *d};
    if (!choose_free(&p)) return false;
    choose_whole(&p);
    *d = p.d;
    return deep_allowed(d);
}
