/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Least squares over one or two parameters: the best point of a grid, then Gauss-Newton with damping (Levenberg,
 * Marquardt). The parameters are logarithms, so they stay positive.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recall_inside.h"

#define LOG_MOST 12.0

static double residual_of(rung_recall_form form, const double *logs, const recall_point *p)
{
    return p->accuracy - recall_form_accuracy(form, logs, &p->cell->state, (double)p->cell->entries, p->detector);
}

static double squares(rung_recall_form form, const double *logs, const recall_point *points, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (points[i].weight == 0) continue;
        double r = residual_of(form, logs, &points[i]);
        sum += points[i].weight * r * r;
    }
    return sum;
}

static void try_start(double *logs, double *least, const double *start, rung_recall_form form,
                      const recall_point *points, size_t count)
{
    double sum = squares(form, start, points, count);
    if (sum >= *least) return;
    *least = sum;
    memcpy(logs, start, RUNG_RECALL_PARAMETERS * sizeof *logs);
}

static void best_of_grid(double *logs, rung_recall_form form, const recall_point *points, size_t count)
{
    double least = INFINITY;
    size_t steepnesses = rung_recall_form_parameters(form) == 2 ? 9 : 1;
    for (int i = -16; i <= 16; i++)
        for (size_t j = 0; j < steepnesses; j++) {
            double start[RUNG_RECALL_PARAMETERS] = {0.25 * i, 0.4 * (double)j - 0.8};
            try_start(logs, &least, start, form, points, count);
        }
}

/* The gradient of half the sum of squares and the Gauss-Newton matrix. */
typedef struct normal_equations {
    double gradient[RUNG_RECALL_PARAMETERS];
    double matrix[RUNG_RECALL_PARAMETERS][RUNG_RECALL_PARAMETERS];
} normal_equations;

/* The slope of a predicted accuracy in one parameter, by central differences. */
static double slope_of(rung_recall_form form, const double *logs, size_t parameter, const recall_point *p)
{
    const double step = 1e-5;
    double more[RUNG_RECALL_PARAMETERS], less[RUNG_RECALL_PARAMETERS];
    memcpy(more, logs, sizeof more);
    memcpy(less, logs, sizeof less);
    more[parameter] += step;
    less[parameter] -= step;
    return (residual_of(form, less, p) - residual_of(form, more, p)) / (2 * step);
}

static void linearise(normal_equations *eq, rung_recall_form form, const double *logs, const recall_point *points,
                      size_t count)
{
    size_t n = rung_recall_form_parameters(form);
    memset(eq, 0, sizeof *eq);
    for (size_t i = 0; i < count; i++) {
        const recall_point *p = &points[i];
        if (p->weight == 0) continue;
        double slope[RUNG_RECALL_PARAMETERS] = {0}, r = residual_of(form, logs, p);
        for (size_t a = 0; a < n; a++) slope[a] = slope_of(form, logs, a, p);
        for (size_t a = 0; a < n; a++) {
            eq->gradient[a] += p->weight * slope[a] * r;
            for (size_t b = 0; b < n; b++) eq->matrix[a][b] += p->weight * slope[a] * slope[b];
        }
    }
}

/* The damped step; false if the matrix is singular: the points do not determine the parameters. */
static bool solve(double *step, const normal_equations *eq, double damping, size_t n)
{
    double a = eq->matrix[0][0] * (1 + damping), d = eq->matrix[1][1] * (1 + damping), b = eq->matrix[0][1];
    if (n == 1) {
        if (!(a > 0)) return false;
        step[0] = eq->gradient[0] / a;
        return true;
    }
    double determinant = a * d - b * b;
    if (!(determinant > 0)) return false;
    step[0] = (d * eq->gradient[0] - b * eq->gradient[1]) / determinant;
    step[1] = (a * eq->gradient[1] - b * eq->gradient[0]) / determinant;
    return true;
}

static bool within(const double *logs, size_t n)
{
    for (size_t a = 0; a < n; a++)
        if (!(fabs(logs[a]) <= LOG_MOST)) return false;
    return true;
}

double recall_least_squares(double *logs, rung_recall_form form, const recall_point *points, size_t count, bool warm)
{
    size_t n = rung_recall_form_parameters(form);
    if (!warm) best_of_grid(logs, form, points, count);
    double sum = squares(form, logs, points, count), damping = 1e-3;
    for (int i = 0; i < 200 && damping < 1e12; i++) {
        normal_equations eq;
        double step[RUNG_RECALL_PARAMETERS] = {0}, next[RUNG_RECALL_PARAMETERS] = {0}, length = 0;
        linearise(&eq, form, logs, points, count);
        if (!solve(step, &eq, damping, n)) break;
        for (size_t a = 0; a < n; a++) {
            next[a] = logs[a] + step[a];
            length = fmax(length, fabs(step[a]));
        }
        double reached = within(next, n) ? squares(form, next, points, count) : INFINITY;
        if (reached <= sum) {
            memcpy(logs, next, n * sizeof *logs);
            sum = reached;
            damping *= 0.1;
        } else {
            damping *= 10;
        }
        if (length < 1e-11) break;
    }
    return sum;
}

/* ---- bootstrap --------------------------------------------------------------------------------------------------- */

/* Cells drawn with replacement; the accuracy of each is drawn again around its mean over seeds. */
static void draw_points(recall_point *drawn, const recall_fitted *fitted, rung_rng *rng)
{
    size_t count = fitted->shown.cells;
    for (size_t i = 0; i < count; i++) {
        drawn[i] = fitted->point[rung_rng_below(rng, count)];
        double accuracy = drawn[i].accuracy + drawn[i].cell->standard_error * rung_rng_normal(rng);
        drawn[i].accuracy = fmin(fmax(accuracy, 0), 1);
    }
}

/* A residual of a cell that says where recall ends. There is one: recall_fitted has such cells only. */
static double draw_residual(const recall_fitted *fitted, rung_recall_form form, rung_rng *rng)
{
    for (;;) {
        size_t i = (size_t)rung_rng_below(rng, fitted->shown.cells);
        if (fitted->point[i].accuracy < RECALL_FULL) return fitted->held[form][i];
    }
}

void recall_bootstrap(recall_fitted *fitted, rung_recall_form form, recall_point *scratch)
{
    const char *name = fitted->shown.name;
    for (size_t b = 0; b < RECALL_REPLICATES; b++) {
        recall_replicate *r = &fitted->replicate[b];
        rung_rng rng;
        rung_rng_init(&rng, 1, rung_hash64(name, strlen(name)), b);
        draw_points(scratch, fitted, &rng);
        memcpy(r->logs, fitted->logs[form], sizeof r->logs);
        recall_least_squares(r->logs, form, scratch, fitted->shown.cells, true);
        r->residual = draw_residual(fitted, form, &rng);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t i = (size_t)place;
    if (i + 1 >= count) return sorted[count - 1];
    return sorted[i] + (place - (double)i) * (sorted[i + 1] - sorted[i]);
}

void recall_interval(double *low, double *high, double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    *low = quantile(values, count, 0.025);
    *high = quantile(values, count, 0.975);
}
