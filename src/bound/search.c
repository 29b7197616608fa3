/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Pattern search: steps along one coordinate, or two at once, by factors that shrink while no step helps.
 */
#include "search.h"

#include <math.h>
#include <string.h>

void search_init(search *s, const search_box *box, search_value *value, const void *context, size_t kept)
{
    size_t most = RUNG_COUNT(s->start);
    *s = (search){
        .box = *box, .value = value, .context = context, .kept = kept < most ? kept : most, .budget = SIZE_MAX};
    s->least = INFINITY;
    for (size_t i = 0; i < s->kept; i++) s->start_value[i] = INFINITY;
}

static double clamped(const search_box *box, size_t i, double x)
{
    return fmin(fmax(x, box->low[i]), box->high[i]);
}

void search_try(search *s, const double *point)
{
    double inside[SEARCH_DIMS] = {0};
    for (size_t i = 0; i < s->box.count; i++) inside[i] = clamped(&s->box, i, floor(point[i]));
    double value = s->value(inside, s->context);
    s->evaluations++;
    size_t at = 0, last = s->kept - 1;
    while (at < s->kept && !(value < s->start_value[at])) at++;
    if (at == s->kept || (at > 0 && value == s->start_value[at - 1])) return;
    memmove(&s->start[at + 1], &s->start[at], (last - at) * sizeof s->start[0]);
    memmove(&s->start_value[at + 1], &s->start_value[at], (last - at) * sizeof s->start_value[0]);
    memcpy(s->start[at], inside, sizeof inside);
    s->start_value[at] = value;
}

void search_try_random(search *s, size_t count)
{
    rung_rng rng;
    rung_rng_init(&rng, 1, 0x5ea2c4, s->box.count);
    for (size_t n = 0; n < count; n++) {
        double point[SEARCH_DIMS];
        for (size_t i = 0; i < s->box.count; i++) {
            double low = log2(s->box.low[i]), high = log2(s->box.high[i] + 1);
            point[i] = exp2(low + (high - low) * rung_rng_unit(&rng));
        }
        search_try(s, point);
    }
}

void search_try_near(search *s, const double *point, double width, size_t count)
{
    rung_rng rng;
    rung_rng_init(&rng, 2, 0x5ea2c4, s->box.count);
    for (size_t n = 0; n < count; n++) {
        double near[SEARCH_DIMS];
        for (size_t i = 0; i < s->box.count; i++) near[i] = point[i] * exp2(width * rung_rng_normal(&rng));
        search_try(s, near);
    }
}

/* ---- descent ----------------------------------------------------------------------------------------------------- */

typedef struct walker {
    double point[SEARCH_DIMS], value;
} walker;

static double stepped(double x, double factor, bool up)
{
    return up ? fmax(x + 1, floor(x * factor)) : fmin(x - 1, ceil(x / factor));
}

/* Moves coordinate i by one step; false at the border. */
static bool move(walker *w, const search_box *box, size_t i, double factor, bool up)
{
    double x = clamped(box, i, stepped(w->point[i], factor, up));
    if (x == w->point[i]) return false;
    w->point[i] = x;
    return true;
}

/* A gain below a part in 10^9 is ignored. */
static bool take_if_better(walker *w, walker *next, search *s)
{
    if (s->evaluations++ > s->budget) return false;
    next->value = s->value(next->point, s->context);
    if (!(next->value < w->value - 1e-9 * fabs(w->value))) return false;
    *w = *next;
    return true;
}

static bool single_steps(walker *w, search *s, double factor)
{
    bool better = false;
    for (size_t i = 0; i < s->box.count; i++)
        for (int up = 0; up < 2; up++)
            for (walker next = *w; move(&next, &s->box, i, factor, up) && take_if_better(w, &next, s);) better = true;
    return better;
}

static bool double_steps(walker *w, search *s, double factor)
{
    bool better = false;
    for (size_t i = 0; i < s->box.count; i++)
        for (size_t k = 0; k < i; k++)
            for (int way = 0; way < 4; way++)
                for (walker next = *w; move(&next, &s->box, i, factor, way & 1) &&
                                       move(&next, &s->box, k, factor, way & 2) && take_if_better(w, &next, s);)
                    better = true;
    return better;
}

static void descend(walker *w, search *s)
{
    static const double factors[] = {8, 3, 1.8, 1.35, 1.15, 1.06, 1.025, 1.01, 1.003, 1.001, 1.0002, 1};
    double before = INFINITY;
    for (int cycle = 0; cycle < 20 && w->value < before - 1e-6 * fabs(w->value); cycle++) {
        before = w->value;
        for (size_t level = 0; level < RUNG_COUNT(factors); level++) {
            int rounds = 0;
            while ((single_steps(w, s, factors[level]) || double_steps(w, s, factors[level])) && ++rounds < 12) {}
        }
    }
}

double search_run(search *s)
{
    for (size_t i = 0; i < s->kept && s->start_value[i] < INFINITY; i++) {
        walker w = {.value = s->start_value[i]};
        memcpy(w.point, s->start[i], sizeof w.point);
        descend(&w, s);
        if (!(w.value < s->least)) continue;
        s->least = w.value;
        memcpy(s->best, w.point, sizeof w.point);
    }
    return s->least;
}
