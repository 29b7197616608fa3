/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The forms of the law.
 *
 * keys, pairs, bits: accuracy = 1/V + (1 - 1/V) / (1 + (load / (half capacity))^steepness), with
 *   keys   load n,          capacity K
 *   pairs  load 2 n ln n,   capacity K dv
 *   bits   load n log2 V,   capacity K dv
 *
 * overlap: a state of K key dimensions reads entry i as the projection of n values onto K of n dimensions (the keys as
 * a tight frame). The projection keeps K/n of the right value and adds K/n (1 - K/n) of the variance of a value as
 * noise. So signal over noise is K / (n - K), exact while n <= K. Values span r = min(dv, V - 1) dimensions, over which
 * the noise spreads: gamma = gain r K / (n - K). V values at equal distances and noise of that size are told apart
 * with the probability that the largest of V Gaussian scores is the right one, whose mean is sqrt(gamma V / (V - 1))
 * larger. Gain is 1 if all that is so. For n much larger than K = d and V = n this is d dv = 2 n ln n.
 */
#include <math.h>

#include "recall_inside.h"

const char *const rung_recall_form_names[] = {"keys", "pairs", "bits", "overlap", NULL};
const char *const rung_recall_form_statements[] = {
    "entries ~ heads dk",
    "2 entries ln entries ~ heads dk dv",
    "entries log2 values ~ heads dk dv",
    "entries - heads dk ~ heads dk min(dv, values - 1), and all while entries <= heads dk",
    NULL,
};

size_t rung_recall_form_parameters(rung_recall_form form)
{
    return form == RUNG_RECALL_OVERLAP ? 1 : 2;
}

const char *rung_recall_parameter_name(rung_recall_form form, size_t index)
{
    if (index >= rung_recall_form_parameters(form)) return NULL;
    return form == RUNG_RECALL_OVERLAP ? "gain" : index == 0 ? "half" : "steepness";
}

/* ---- detection --------------------------------------------------------------------------------------------------- */

#define NODES_FROM (-8)
#define NODES_TO   8

static double density(double x)
{
    return exp(-0.5 * x * x) * 0.39894228040143267794;
}

/* The logarithm of the normal distribution function. */
static double log_below(double x)
{
    return x > 0 ? log1p(-0.5 * erfc(x * M_SQRT1_2)) : log(0.5 * erfc(-x * M_SQRT1_2));
}

/* The sum over nodes 1/16 apart of density(x) below(x + distance)^(V-1). All arguments lie on one grid of 1/32. */
void recall_detector_init(recall_detector *detector, size_t values)
{
    enum { GRID = (NODES_TO - NODES_FROM) * RECALL_PER_ONE + RECALL_STEPS };
    double below[GRID + 1], others = (double)values - 1;
    detector->values = values;
    for (size_t i = 0; i <= GRID; i++) below[i] = log_below(NODES_FROM + (double)i / RECALL_PER_ONE);
    for (size_t s = 0; s <= RECALL_STEPS; s++) {
        double right = 0, slope = 0;
        for (size_t i = 0; i <= (NODES_TO - NODES_FROM) * RECALL_PER_ONE; i += 2) {
            double x = NODES_FROM + (double)i / RECALL_PER_ONE;
            double weight = density(x) * (2.0 / RECALL_PER_ONE), distance = (double)s / RECALL_PER_ONE;
            right += weight * exp(others * below[i + s]);
            slope += weight * others * exp((others - 1) * below[i + s]) * density(x + distance);
        }
        detector->right[s] = right;
        detector->slope[s] = slope;
    }
}

/* Cubic between the steps of the table. */
double recall_detect(const recall_detector *detector, double distance)
{
    double place = distance * RECALL_PER_ONE, width = 1.0 / RECALL_PER_ONE;
    if (!(place < RECALL_STEPS)) return 1;
    size_t s = (size_t)place;
    double t = place - (double)s, u = 1 - t;
    const double *p = &detector->right[s], *m = &detector->slope[s];
    double value = u * u * (1 + 2 * t) * p[0] + t * t * (3 - 2 * t) * p[1] + width * t * u * (u * m[0] - t * m[1]);
    return fmin(value, 1);
}

double recall_detect_inverse(const recall_detector *detector, double right)
{
    double low = 0, high = (double)RECALL_STEPS / RECALL_PER_ONE;
    if (right >= recall_detect(detector, nextafter(high, 0))) return INFINITY;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (recall_detect(detector, middle) < right)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* ---- overlap ----------------------------------------------------------------------------------------------------- */

static double keys_of(const rung_recall_state *state)
{
    return (double)state->heads * (double)state->dk;
}

/* gain r K; gamma is this over n - K. */
static double signal_of(const double *logs, const rung_recall_state *state, size_t values)
{
    return exp(logs[0]) * fmin((double)state->dv, (double)values - 1) * keys_of(state);
}

static double overlap_accuracy(const double *logs, const rung_recall_state *state, double entries,
                               const recall_detector *detector)
{
    double spare = entries - keys_of(state), values = (double)detector->values;
    if (spare <= 0) return 1;
    return recall_detect(detector, sqrt(signal_of(logs, state, detector->values) / spare * values / (values - 1)));
}

static double overlap_entries(const double *logs, const rung_recall_state *state, double accuracy,
                              const recall_detector *detector)
{
    double distance = recall_detect_inverse(detector, accuracy), values = (double)detector->values;
    if (!isfinite(distance)) return keys_of(state);
    double gamma = distance * distance * (values - 1) / values;
    return keys_of(state) + signal_of(logs, state, detector->values) / gamma;
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */

static double load_of(rung_recall_form form, double entries, size_t values)
{
    if (form == RUNG_RECALL_PAIRS) return 2 * entries * log(fmax(entries, 1));
    return form == RUNG_RECALL_BITS ? entries * log2((double)values) : entries;
}

static double entries_of(rung_recall_form form, double load, size_t values)
{
    if (form == RUNG_RECALL_BITS) return load / log2((double)values);
    if (form == RUNG_RECALL_KEYS) return load;
    double low = 1, high = load + 3; /* 2 n ln n > n from 2 on */
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        if (load_of(form, middle, values) < load)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* half times the capacity of the state */
static double half_load(rung_recall_form form, const double *logs, const rung_recall_state *state)
{
    double capacity = keys_of(state) * (form == RUNG_RECALL_KEYS ? 1 : (double)state->dv);
    return exp(logs[0]) * capacity;
}

double recall_form_accuracy(rung_recall_form form, const double *logs, const rung_recall_state *state, double entries,
                            const recall_detector *detector)
{
    if (form == RUNG_RECALL_OVERLAP) return overlap_accuracy(logs, state, entries, detector);
    double chance = 1 / (double)detector->values;
    double load = load_of(form, entries, detector->values) / half_load(form, logs, state);
    return chance + (1 - chance) / (1 + pow(load, exp(logs[1])));
}

double recall_form_entries(rung_recall_form form, const double *logs, const rung_recall_state *state, double accuracy,
                           const recall_detector *detector)
{
    if (form == RUNG_RECALL_OVERLAP) return overlap_entries(logs, state, accuracy, detector);
    double chance = 1 / (double)detector->values, share = (accuracy - chance) / (1 - chance);
    if (share >= 1) return 0;
    double load = half_load(form, logs, state) * pow((1 - share) / share, exp(-logs[1]));
    return entries_of(form, load, detector->values);
}
