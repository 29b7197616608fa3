/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Descents along the coordinates from log-uniform starts; the same points for the same question.
 */
#include "search.h"

#include <math.h>
#include <string.h>

enum { KEPT = 12 };

typedef struct found {
    uint64_t point[SEARCH_DIMS];
    double value;
} found;

static void draw(uint64_t *point, const search_box *box, rung_rng *rng)
{
    for (size_t i = 0; i < box->count; i++) {
        double low = log2((double)box->low[i]), high = log2((double)box->high[i] + 1);
        double x = floor(exp2(low + (high - low) * rung_rng_unit(rng)));
        point[i] = x < (double)box->low[i] ? box->low[i] : x > (double)box->high[i] ? box->high[i] : (uint64_t)x;
    }
}

/* Steps along one coordinate: small ones, and factors for the scale. */
static uint64_t moved(uint64_t x, int step)
{
    static const double factors[] = {1.02, 1.1, 1.3, 1.7, 2.5, 6};
    static const uint64_t adds[] = {1, 2, 3, 7, 20};
    bool up = step % 2 == 0;
    size_t kind = (size_t)step / 2;
    if (kind < RUNG_COUNT(adds)) return up ? x + adds[kind] : x > adds[kind] ? x - adds[kind] : 0;
    double factor = factors[kind - RUNG_COUNT(adds)];
    double y = up ? (double)x * factor : (double)x / factor;
    return y < 9e18 ? (uint64_t)y : x;
}

enum { STEPS = 22 };

static bool allowed(uint64_t x, const search_box *box, size_t i)
{
    return x >= box->low[i] && x <= box->high[i];
}

/* Moves one coordinate, or two at a time in opposite directions, as long as that helps. */
static void descend(found *best, const search_box *box, search_value *value, const void *context)
{
    bool better = true;
    for (int rounds = 0; better && rounds < 400; rounds++) {
        better = false;
        for (size_t i = 0; i < box->count; i++)
            for (int step = 0; step < STEPS; step++) {
                found next = *best;
                next.point[i] = moved(best->point[i], step);
                if (next.point[i] == best->point[i] || !allowed(next.point[i], box, i)) continue;
                next.value = value(next.point, context);
                if (next.value < best->value) *best = next, better = true;
            }
        for (size_t i = 0; i < box->count && !better; i++)
            for (size_t k = 0; k < box->count; k++)
                for (int step = 0; i != k && step < STEPS; step++) {
                    found next = *best;
                    next.point[i] = moved(best->point[i], step), next.point[k] = moved(best->point[k], step ^ 1);
                    if (!allowed(next.point[i], box, i) || !allowed(next.point[k], box, k)) continue;
                    next.value = value(next.point, context);
                    if (next.value < best->value) *best = next, better = true;
                }
    }
}

/* Keeps the best few starts, sorted. */
static void keep(found kept[KEPT], const found *new)
{
    for (size_t i = 0; i < KEPT; i++)
        if (new->value < kept[i].value) {
            memmove(&kept[i + 1], &kept[i], (KEPT - 1 - i) * sizeof kept[0]);
            kept[i] = *new;
            return;
        }
}

double search_least(uint64_t *point, bool started, const search_box *box, search_value *value, const void *context,
                    size_t starts)
{
    found kept[KEPT], best = {.value = INFINITY};
    rung_rng rng;
    rung_rng_init(&rng, 1, 0x5ea2c4, box->count);
    for (size_t i = 0; i < KEPT; i++) kept[i] = (found){.value = INFINITY};
    for (size_t i = 0; i < starts + started; i++) {
        found start = {.value = INFINITY};
        if (started && i == 0)
            memcpy(start.point, point, box->count * sizeof *point);
        else
            draw(start.point, box, &rng);
        start.value = value(start.point, context);
        keep(kept, &start);
    }
    for (size_t i = 0; i < KEPT && kept[i].value < INFINITY; i++) {
        descend(&kept[i], box, value, context);
        if (kept[i].value < best.value) best = kept[i];
    }
    if (best.value < INFINITY) memcpy(point, best.point, box->count * sizeof *point);
    return best.value;
}
