/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the roundings of one token add to the distance between a computed state and the exact recurrence. docs/drift.md
 * has the theorem with its proof; the names here are those there. Every number below is a sum of products of numbers
 * that are not negative, so a double is at most 2^-53 per operation below the exact value, and a last factor of 1 +
 * 2^-40 makes it an upper bound.
 */
#include "drift_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double up(double x)
{
    return x * (1 + 0x1p-40);
}

double rung_drift_norm(const double *x, size_t n)
{
    double sum = 0;
    bool any = false;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i], any |= x[i] != 0;
    /* squares below 2^-1074 may vanish */
    return sqrt(sum) * (1 + (double)(n + 8) * 0x1p-52) + (any ? sqrt((double)n) * 0x1p-536 : 0);
}

double rung_drift_sum(double step, double gamma, size_t tokens)
{
    double n = (double)tokens;
    if (!(gamma < 1)) return up(step * n);
    /* (1 - gamma^n) / (1 - gamma) <= min(n, 1 / (1 - gamma)); 1 - gamma is exact for gamma >= 1/2, else off by 2^-53 */
    return up(step * fmin(n, 1 / (1 - gamma)));
}

/* ---- one rounding ------------------------------------------------------------------------------------------------ */

/* |stored x - x| <= relative |x| + of_block (largest magnitude of its block) + absolute, as long as |x| <= largest. */
typedef struct rounding {
    double relative, of_block, absolute, largest;
} rounding;

static rounding of_code(const rung_stored *s, bool stochastic)
{
    const rung_fmt *f = &s->code;
    const double part = stochastic ? 1 : 0.5; /* of the distance of neighbours */
    rounding r = {.largest = f->largest};
    if (f->kind == RUNG_FMT_FLOAT) r.relative = ldexp(2 * part, -(f->mantissa_bits + 1));
    r.absolute = fmax(part * f->spacing, 0x1p-1074);
    return r;
}

/* Codes times a scale, which is rounded to f32, bf16, f16 or a power of two. */
static rounding of_scaled(const rung_stored *s, const rung_fmt *acc, bool stochastic)
{
    const rounding code = of_code(s, stochastic);
    const double most = s->code.largest, unit = ldexp(1, -(acc->mantissa_bits + 1));
    rounding r = {.relative = code.relative, .largest = 0x1p90};
    if (s->scaling == RUNG_SCALE_POWER) {
        const double top = ldexp(1, ilogb(most));
        /* numbers of the block go up to 2 top scale, codes only up to `most` */
        r.of_block = code.absolute / top + fmax(0, 1 - most / (2 * top));
        r.absolute = code.absolute * 0x1p-127;
    } else {
        const double scale = ldexp(1, -(s->scale.mantissa_bits + 1));
        r.of_block = code.absolute / most * (1 + 2 * scale) + 4 * scale;
        /* a scale below 2^-100 counts as zero; one that is a subnormal of f16 is off by 2^-25 */
        r.absolute = most * fmax(0x1p-99, 2 * s->scale.spacing);
        r.largest = fmin(r.largest, most * s->scale.largest / 2);
    }
    r.relative = r.relative * (1 + unit) + 2 * unit;
    r.of_block = r.of_block * (1 + unit);
    r.absolute = r.absolute * (1 + unit) + acc->spacing;
    return r;
}

static rounding rounding_of(const rung_numbers *numbers, rung_quantity quantity)
{
    const rung_stored *s = &numbers->of[quantity];
    const bool stochastic = numbers->stochastic && quantity == RUNG_QUANTITY_STATE;
    return s->scaling == RUNG_SCALE_NONE ? of_code(s, stochastic) : of_scaled(s, &numbers->acc, stochastic);
}

/* A vector of `n` numbers of this norm after rounding: how far it is off. */
static double off(rounding r, double norm, size_t n)
{
    return r.relative * norm + r.absolute * sqrt((double)n);
}

/* ---- a token ----------------------------------------------------------------------------------------------------- */

/* Where the inputs of a row are; SIZE_MAX: there is none. */
typedef struct places {
    size_t q, k, v, beta, decay, a, b;
} places;

static places places_of(const rung_mech *mech)
{
    if (mech->transition == RUNG_TRANSITION_RANK_ONE)
        return (places){.q = 0, .decay = 1, .k = 2, .v = 3, .a = 4, .b = 5, .beta = SIZE_MAX};
    places p = {0, 1, 2, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    for (size_t i = 0; mech->inputs[i].name; i++) {
        if (mech->inputs[i].quantity == RUNG_QUANTITY_BETA) p.beta = i;
        if (mech->inputs[i].quantity == RUNG_QUANTITY_GATE) p.decay = i;
    }
    return p;
}

static const double *row_of(const rung_mech_conf *conf, const double *const *in, size_t input, size_t head)
{
    return in[input] + head * (rung_mech_row(&conf->mech->inputs[input], conf) / conf->heads);
}

/* The largest decay and the smallest, and the largest magnitude of a logarithm. */
static void take_decays(rung_drift_token *t, double *least, const rung_mech_conf *conf, const double *const *in,
                        size_t input, size_t head)
{
    const double *g = row_of(conf, in, input, head);
    size_t n = rung_mech_row(&conf->mech->inputs[input], conf) / conf->heads;
    *least = INFINITY, t->decay = 0, t->log_decay = 0;
    t->decays = true, t->decay_is_log = conf->mech->transition == RUNG_TRANSITION_MATRIX;
    for (size_t j = 0; j < n; j++) {
        double decay = t->decay_is_log ? exp(g[j]) * (1 + 0x1p-50) : g[j];
        if (t->decay_is_log && g[j] <= 0) decay = fmin(decay, 1);
        if (isnan(g[j]) || isnan(decay)) decay = INFINITY;
        t->decay = fmax(t->decay, decay), *least = fmin(*least, t->decay_is_log ? decay * (1 - 0x1p-49) : decay);
        if (t->decay_is_log) t->log_decay = fmax(t->log_decay, fabs(g[j]));
    }
}

/* An upper bound of |diag(w) + b a^T|. With b = -c a + d it is at most |diag(w) - c a a^T| + |d| |a|; the first matrix is
 * symmetric, and its eigenvalues lie between min w - c |a|^2 and max w. */
static double rank_one_norm(const rung_drift_token *t, double least, const double *a, const double *b, size_t n)
{
    double ab = 0, aa = 0, dd = 0;
    for (size_t j = 0; j < n; j++) ab += a[j] * b[j], aa += a[j] * a[j];
    double c = aa > 0 ? fmax(0, -ab / aa) : 0;
    for (size_t j = 0; j < n; j++) {
        double d = fabs(b[j] + c * a[j]) + 0x1p-51 * (fabs(b[j]) + c * fabs(a[j]));
        if (b[j] == -c * a[j] && (c == 1 || c == 0)) d = 0; /* exact products */
        dd += d * d;
    }
    double symmetric = fmax(t->decay, up(c * t->remove * t->remove) - least);
    double near = symmetric + up(sqrt(dd) * t->remove), far = up(t->decay + t->remove * t->replace);
    return dd > 0 ? up(fmin(near, far)) : fmin(symmetric, far);
}

static bool refuse(char *why, size_t size, const char *text)
{
    snprintf(why, size, "%s", text);
    return false;
}

bool rung_drift_token_of(rung_drift_token *t, const rung_mech_conf *conf, const double *const *in, size_t head,
                         char *why, size_t size)
{
    const rung_mech *mech = conf->mech;
    if (mech->transition == RUNG_TRANSITION_NOT_STATED) {
        snprintf(why, size, "%s does not state an affine step", mech->name);
        return false;
    }
    const places p = places_of(mech);
    double least = 1;
    *t = (rung_drift_token){.decay = 1, .rate = 1, .swing = 1};
    t->query = rung_drift_norm(row_of(conf, in, p.q, head), conf->dk);
    t->key = rung_drift_norm(row_of(conf, in, p.k, head), conf->dk);
    t->value = rung_drift_norm(row_of(conf, in, p.v, head), conf->dv);
    if (p.decay != SIZE_MAX) take_decays(t, &least, conf, in, p.decay, head);
    if (!(least >= 0)) return refuse(why, size, "a decay is negative");
    t->contraction = t->decay;
    if (p.beta != SIZE_MAX) {
        t->rate = row_of(conf, in, p.beta, head)[0], t->corrects = true;
        if (!(t->rate >= 0)) return refuse(why, size, "a rate beta is negative");
        t->swing = fmax(1, up(t->rate * t->key * t->key) - 1);
        t->contraction = t->swing > 1 ? up(t->swing * t->decay) : t->decay;
    }
    if (p.a != SIZE_MAX) {
        const double *a = row_of(conf, in, p.a, head), *b = row_of(conf, in, p.b, head);
        t->remove = rung_drift_norm(a, conf->dk), t->replace = rung_drift_norm(b, conf->dk);
        t->contraction = rank_one_norm(t, least, a, b, conf->dk);
    }
    double all = t->contraction + t->decay + t->key + t->value + t->query + t->remove + t->replace;
    if (!(all < INFINITY)) return refuse(why, size, "an input is infinite or not a number");
    if (t->decay > 1) return refuse(why, size, "a decay is above 1");
    return true;
}

/* ---- the theorem ------------------------------------------------------------------------------------------------- */

/* What all steps share: u and eta of acc, the factor of a dot product of dk terms, inputs after rounding. */
typedef struct setting {
    const rung_drift_token *t;
    double u, eta, gamma, n, dk, dv; /* n = dk dv */
    double root_n, root_dv;
    double off_key, off_value, off_query, off_remove, off_replace, off_rate, off_decay;
    double largest, seen; /* of acc; the largest magnitude that may come up */
} setting;

static void see(setting *s, double size)
{
    if (isnan(size)) size = INFINITY; /* and stays: what comes later may be small */
    s->seen = fmax(s->seen, size);
}

static double off_input(const rung_mech_conf *conf, const rung_numbers *numbers, size_t input, double norm, size_t n)
{
    return off(rounding_of(numbers, conf->mech->inputs[input].quantity), norm, n);
}

/* |computed decay - decay| of a channel. */
static double off_decay(const rung_drift_token *t, const setting *s, rounding gate)
{
    if (!t->decays) return 0;
    if (!t->decay_is_log) return gate.relative * t->decay + gate.absolute;
    if (isinf(t->log_decay)) return 1 + s->u + s->eta; /* both are between 0 and 1 */
    const double off_log = gate.relative * t->log_decay + gate.absolute;
    const double before = off_log < 1 ? off_log * fmin(1, t->decay * (1 + 2 * off_log)) : 1;
    return before + s->u * (t->decay + before) + s->eta;
}

static setting setting_of(const rung_drift_token *t, const rung_mech_conf *conf, const rung_numbers *numbers)
{
    const places p = places_of(conf->mech);
    const rounding acc = rounding_of(numbers, RUNG_QUANTITY_ACC);
    setting s = {.t = t, .u = acc.relative, .eta = acc.absolute, .dk = (double)conf->dk, .dv = (double)conf->dv};
    s.n = s.dk * s.dv, s.root_n = sqrt(s.n), s.root_dv = sqrt(s.dv), s.largest = acc.largest;
    s.gamma = s.dk * s.u < 1 ? s.dk * s.u / (1 - s.dk * s.u) : INFINITY;
    s.off_key = off_input(conf, numbers, p.k, t->key, conf->dk);
    s.off_value = off_input(conf, numbers, p.v, t->value, conf->dv);
    s.off_query = off_input(conf, numbers, p.q, t->query, conf->dk);
    if (p.a != SIZE_MAX) s.off_remove = off_input(conf, numbers, p.a, t->remove, conf->dk);
    if (p.b != SIZE_MAX) s.off_replace = off_input(conf, numbers, p.b, t->replace, conf->dk);
    if (t->corrects) s.off_rate = off(rounding_of(numbers, RUNG_QUANTITY_BETA), t->rate, 1);
    s.off_decay = off_decay(t, &s, rounding_of(numbers, RUNG_QUANTITY_GATE));
    /* inputs must be in the range of their formats */
    const double act = rounding_of(numbers, RUNG_QUANTITY_ACT).largest;
    const double gate = rounding_of(numbers, RUNG_QUANTITY_GATE).largest;
    const double rate = rounding_of(numbers, RUNG_QUANTITY_BETA).largest;
    const double inputs = fmax(fmax(t->key, t->query), fmax(fmax(t->remove, t->replace), t->value));
    if (inputs > act || (t->decays && !isinf(t->log_decay) && fmax(t->log_decay, t->decay) > gate) ||
        (t->corrects && t->rate > rate))
        see(&s, INFINITY);
    return s;
}

/* Lemma 3: a product M^T x with computed M of norm m and a rounded x, against that with the exact x. */
static double off_product(setting *s, double m, double x, double off_x)
{
    const double below = s->dk * s->eta * (1 + s->gamma) * s->root_dv;
    see(s, (1 + s->gamma) * (x + off_x) * m + below);
    return s->gamma * (x + off_x) * m + below + off_x * m;
}

/* Lemma 4: S + x y^T with computed S of norm m, against S + x y^T with the exact x and y. */
static double off_outer(setting *s, double m, double x, double off_x, double y, double off_y)
{
    const double xs = x + off_x, ys = y + off_y, product = s->u * xs * ys + s->eta * s->root_n;
    const double sum = m + xs * ys + product;
    see(s, sum);
    return off_x * ys + x * off_y + product + s->u * sum + s->eta * s->root_n;
}

static double error_of_matrix(setting *s, double m)
{
    const rung_drift_token *t = s->t;
    double fade = 0, faded = m;
    if (t->decays) {
        fade = s->off_decay * m + s->u * (t->decay + s->off_decay) * m + s->eta * s->root_n;
        faded = t->decay * m + fade;
        see(s, t->decay + s->off_decay);
    }
    if (!t->corrects) return fade + off_outer(s, faded, t->key, s->off_key, t->value, s->off_value);
    const double off_read = off_product(s, faded, t->key, s->off_key), w = t->value + t->key * faded;
    const double off_difference = s->off_value + off_read, off_w = off_difference + s->u * (w + off_difference);
    const double ws = w + off_w;
    const double off_u = s->off_rate * ws + t->rate * off_w + s->u * (t->rate + s->off_rate) * ws + s->eta * s->root_dv;
    see(s, ws);
    see(s, t->rate * w + off_u);
    return t->swing * fade + off_outer(s, faded, t->key, s->off_key, t->rate * w, off_u);
}

static double error_of_rank_one(setting *s, double m)
{
    const rung_drift_token *t = s->t;
    const double off_s = off_product(s, m, t->remove, s->off_remove), read = t->remove * m;
    const double fade = s->off_decay * m + s->u * (t->decay + s->off_decay) * m + s->eta * s->root_n;
    const double faded = t->decay * m + fade;
    const double replaced = off_outer(s, faded, t->replace, s->off_replace, read, off_s);
    const double after = faded + t->replace * read + replaced;
    return fade + replaced + off_outer(s, after, t->key, s->off_key, t->value, s->off_value);
}

/* Whether numbers of acc are stored in this quantity as they are. */
static bool changes_nothing(const rung_numbers *numbers, rung_quantity quantity)
{
    if (quantity == RUNG_QUANTITY_STATE && numbers->stochastic) return false;
    return strcmp(numbers->of[quantity].name, numbers->of[RUNG_QUANTITY_ACC].name) == 0;
}

rung_drift_step rung_drift_step_bound(const rung_drift_token *token, const rung_mech_conf *conf,
                                      const rung_numbers *numbers, double norm, bool store_act)
{
    setting s = setting_of(token, conf, numbers);
    const bool rank_one = conf->mech->transition == RUNG_TRANSITION_RANK_ONE;
    const double error = rank_one ? error_of_rank_one(&s, norm) : error_of_matrix(&s, norm);
    const double exact = token->contraction * norm + (token->corrects ? token->rate : 1) * token->key * token->value;
    const double before = exact + error;
    const rung_stored *kept = &numbers->of[RUNG_QUANTITY_STATE];
    const rounding store = rounding_of(numbers, RUNG_QUANTITY_STATE), act = rounding_of(numbers, RUNG_QUANTITY_ACT);
    const double block = sqrt(fmin((double)kept->block, s.dv));
    const double storing = changes_nothing(numbers, RUNG_QUANTITY_STATE)
                               ? 0
                               : (store.relative + store.of_block * block) * before + store.absolute * s.root_n;
    double output = off_product(&s, before, token->query, s.off_query) + token->query * error;
    if (store_act && !changes_nothing(numbers, RUNG_QUANTITY_ACT)) {
        const double size = token->query * before + output;
        output = size <= act.largest ? output + off(act, size, conf->dv) : INFINITY;
    }
    see(&s, before);
    rung_drift_step step = {
        .error = up(error), .stored = up(error + storing), .output = up(output), .norm = up(before + storing)};
    const bool outside = !(s.seen <= s.largest) || !(before <= store.largest);
    if (!(step.output < INFINITY)) step.output = INFINITY;
    if (outside || !(step.stored < INFINITY)) step = (rung_drift_step){INFINITY, INFINITY, INFINITY, INFINITY};
    return step;
}
