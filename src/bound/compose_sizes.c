/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Sizes of sequential composition.
 */
#include "compose_sizes.h"

#include <math.h>

compose_task compose_of(const bound_question *q)
{
    const rung_task_conf *t = q->task;
    const rung_value *n = rung_task_value(t, "n"), *V = rung_task_value(t, "V");
    compose_task c = {.L = (uint64_t)rung_task_param(t, "L"),
                      .free = q->n != 0,
                      .flat = rung_task_param(t, "flat") == 1,
                      .identity = rung_task_param(t, "dist") == 1,
                      .V = V->set ? (double)V->number : 0,
                      .size = {(double)rung_task_param(t, "N0"), 1, (double)V->number}};
    if (q->arithmetic->kernel == RUNG_KERNEL_TILES) c.lost = (double)q->arithmetic->tile - 1;
    if (c.L > 1) c.row = c.flat ? c.size.N0 : (double)t->derived[c.L - 2];
    if (c.L > 1) c.size.n1 = (double)n->list[n->list_len - 1];
    for (uint64_t l = 1; l + 1 < c.L; l++) c.middle += (double)t->derived[l];
    return c;
}

double compose_values(const compose_task *t, double N0, double entries)
{
    if (!t->free) return t->size.V;
    if (t->flat) return N0;
    return t->V > 0 ? t->V : entries;
}

rung_ival compose_values_log2(rung_certified *s, const compose_task *t, double N0, rung_ival entries)
{
    if (!t->free) return rung_ival_log2(s, rung_ival_real(s, t->size.V));
    if (t->flat) return rung_ival_log2(s, rung_ival_real(s, N0));
    return rung_ival_log2(s, t->V > 0 ? rung_ival_real(s, t->V) : entries);
}

double compose_round_up(long double x)
{
    double near = (double)x;
    return (long double)near < x ? nextafter(near, INFINITY) : near;
}

/* Sums of whole long doubles are exact below 2^64. Above, a factor of 1 + 2^-60 covers the few roundings. */
double compose_tokens(const compose_task *t, double N0, double n1)
{
    long double tokens = (long double)N0 * n1 + (long double)(t->L - 1) * N0 + 2;
    return compose_round_up(tokens < 0x1p63L ? tokens : tokens * (1 + 0x1p-60L));
}

double compose_middle(const compose_task *t, double N0)
{
    return t->lost + (t->free ? (t->L > 2 ? (double)(t->L - 2) : 0) * N0 : t->middle);
}

double compose_least_n1(bool (*holds)(double n1, const void *context), const void *context)
{
    double low = 0, high = 1;
    while (!holds(high, context)) {
        low = high, high *= 2;
        if (high > 0x1p60) return 0;
    }
    while (high - low > fmax(1, high * 0x1p-50)) {
        double middle = low + floor((high - low) / 2);
        if (holds(middle, context))
            high = middle;
        else
            low = middle;
    }
    return high;
}

rung_ival compose_product(rung_certified *s, double a, double b)
{
    return rung_ival_mul(s, rung_ival_real(s, a), rung_ival_real(s, b));
}

rung_status compose_decide(rung_bound_answer *answer, const compose_task *t, bound_side *side, const void *context,
                           double *grow, rung_error *err)
{
    rung_status status = bound_decide(answer, side, context, err);
    double step = fmax(1, floor(*grow * 1e-15));
    for (int i = 0; t->free && status == RUNG_OK && !answer->holds && i < 40; i++, step *= 2) {
        *grow += step;
        status = bound_decide(answer, side, context, err);
    }
    return status;
}

void compose_finish(rung_bound_answer *answer, const bound_question *q, const compose_task *t, double tokens,
                    bool exact)
{
    if (!t->free) return;
    answer->n_threshold = answer->holds ? tokens : 0;
    answer->log2_n = answer->holds && tokens >= 0x1p53 ? log2(tokens) : 0;
    answer->exact = answer->holds && exact && !q->levels;
    if (q->levels && (long double)tokens > (long double)q->n) answer->n_threshold = answer->log2_n = 0;
    if (answer->holds && (long double)tokens > (long double)q->n) {
        answer->holds = false;
        answer->margin = (double)q->n / tokens;
    }
}

rung_bound_point compose_point(const compose_task *t, double N0, double n1)
{
    rung_bound_point p = {.free = t->free, .known = N0 >= 1 && n1 >= 1 && N0 * n1 < 0x1p61};
    if (!p.known) return p;
    p.N0 = (uint64_t)N0, p.n = (uint64_t)n1;
    p.V = !t->free ? (uint64_t)t->size.V : t->flat ? p.N0 : t->V > 0 ? (uint64_t)t->V : p.N0 * p.n;
    return p;
}
