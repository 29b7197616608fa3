/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Searches good parameters for theorem K1 with three functions or more: a pattern search over t, x_l, q_l, n_l and,
 * where the tokens of z_1 are listed, g. In the first form every cost grows with W, so that all n_l stay 1.
 */
#include "compose_thought.h"
#include "search.h"
#include "spread.h"

#include <math.h>

/* Values of points that are not allowed, or at which a function takes no value; they fall towards allowed points. */
enum { NOT_ALLOWED = 100000, NOTHING = 10000 };

static double letters_of(const thinking *k)
{
    double letters = 1;
    for (size_t l = 1; l < k->L; l++) letters *= k->q[l];
    return letters;
}

static double words_of(const thinking *k)
{
    double W = 1;
    for (size_t l = 1; l < k->L; l++) W *= k->n[l];
    return W;
}

/* Products stay below 2^52, so that they are exact. */
bool thought_allowed(const thinking *k)
{
    for (size_t l = 1; l < k->L; l++)
        if (!(k->x[l] >= 1 && k->x[l] <= k->q[l] && k->n[l] >= 1)) return false;
    double letters = letters_of(k);
    return k->t >= 1 && k->g >= 0 && k->t * letters < 0x1p52 && k->g <= letters;
}

double thought_log2_values(const thinking *k)
{
    return log2(k->task.V > 0 ? k->task.V : k->t * letters_of(k) * words_of(k));
}

double thought_tokens(const thinking *k)
{
    long double table = (long double)k->t * letters_of(k), tokens = table + 2;
    for (size_t l = 1; l < k->L; l++) {
        if (l == k->L - 1) tokens += table * (long double)(k->task.L - k->L);
        tokens += table *= k->n[l];
    }
    return compose_round_up(tokens < 0x1p63L ? tokens : tokens * (1 + 0x1p-58L));
}

/* ---- one point --------------------------------------------------------------------------------------------------- */

static double first_values(thinking *k, double g)
{
    k->y[1] = 0;
    if (k->relays && k->before == 0) return k->t * k->x[1];
    double held = k->relays ? (double)k->before : (double)k->c * words_of(k) + (double)k->beside;
    return spread_from_class(&k->y[1], k->t, k->q[1], held / g, k->x[1], SPREAD_FINE);
}

static double first_cost(const thinking *k, double g)
{
    double c = (double)k->c, W = words_of(k);
    if (!k->relays) return (double)k->beside + c * (W + W * k->t);
    double listed = k->before ? W * k->t : W;
    if (k->after) listed += k->t + k->t * letters_of(k) + (k->x[1] - 1) * g * k->t;
    return (double)k->before + (double)k->after + c * listed;
}

/* log2 of D_L / (n Theta log2 V), or a large number that falls with the bits that are missing. */
static double deficit(thinking *k)
{
    double g = k->g > 0 ? k->g : letters_of(k);
    double theta = first_values(k, g), D = first_cost(k, g), contexts = words_of(k) * k->t;
    for (size_t l = 2; l < k->L; l++) {
        double T = k->n[l - 1] * theta, budget = k->x[l] * D + 1;
        double rate = spread_random_rate(&k->y[l], 0x1p-50, 0.9999, k->x[l], k->q[l], budget / T);
        if (!(rate > 0)) return NOTHING * ((double)(k->L - l) + 1e-3 * fmin(log2(fmax(budget / T, 1)), 500));
        theta = rate * T, contexts *= k->x[l - 1];
        D = budget + (double)k->c * contexts + (k->relays ? (double)k->before : 0);
    }
    double reached = k->n[k->L - 1] * theta * thought_log2_values(k);
    return reached > 0 ? log2(D / reached) : NOTHING;
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static bool lists_tokens(const thinking *k)
{
    return k->relays && k->after;
}

/* The point is t, then x_l and the excess of q_l over x_l in 16ths of x_l, then n_l, then g. */
enum { SIXTEENTHS = 16 };

static void take(thinking *k, const double *point)
{
    size_t next = 0;
    k->t = point[next++];
    for (size_t l = 1; l < k->L; l++) {
        k->x[l] = point[next++];
        k->q[l] = k->x[l] + floor(k->x[l] * (point[next++] - 1) / SIXTEENTHS);
    }
    for (size_t l = 1; l < k->L; l++) k->n[l] = k->relays ? point[next++] : 1;
    k->g = lists_tokens(k) ? point[next] : 0;
}

static double value_at(const double *point, const void *context)
{
    thinking k = *(const thinking *)context;
    take(&k, point);
    if (!thought_allowed(&k)) return NOT_ALLOWED + k.t + k.g + log2(letters_of(&k));
    double fails = deficit(&k);
    if (fails >= NOTHING) return fails;
    return log2(thought_tokens(&k)) + 1000 * fmax(0, fails + 1e-12);
}

static search_box box_of(const thinking *k)
{
    double most = 64 * (1 + (double)k->c + (double)k->beside + (double)k->before + (double)k->after);
    search_box box = {.count = 1 + 2 * (k->L - 1)};
    if (k->relays) box.count += k->L - 1;
    if (lists_tokens(k)) box.count++;
    for (size_t i = 0; i < box.count; i++) box.low[i] = 1, box.high[i] = fmin(most, 0x1p40);
    return box;
}

/* x_l and n_l near powers of c/log V, alphabets of one to a few times x_l. */
static void starts(search *s, const thinking *k)
{
    double each = fmax(2, (double)k->c / 8), held = 1 + (double)k->before + (double)k->after + (double)k->beside;
    for (double t = 1; t <= 4; t *= 4)
        for (double scale = 0.5; scale <= 8; scale *= 2)
            for (double grow = 1; grow <= 4; grow *= 2) {
                double point[SEARCH_DIMS] = {t};
                size_t next = 1;
                for (size_t l = 1; l < k->L; l++) {
                    point[next++] = each * scale * pow(grow, (double)(k->L - l));
                    point[next++] = 1 + SIXTEENTHS / 2;
                }
                for (size_t l = 1; l < k->L && k->relays; l++)
                    point[next++] = fmax(1, held / (double)(k->c + 1) * scale);
                if (lists_tokens(k)) point[next] = fmax(1, (double)k->before);
                search_try(s, point);
                search_try_near(s, point, 1.5, 24);
            }
}

bool thought_choose(thinking *k)
{
    search s;
    search_box box = box_of(k);
    search_init(&s, &box, value_at, k, 10);
    s.budget = 60000;
    starts(&s, k);
    search_try_random(&s, 2000);
    if (!(search_run(&s) < NOTHING)) return false;
    take(k, s.best);
    return thought_allowed(k) && deficit(k) < 0.01;
}
