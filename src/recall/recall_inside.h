/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: the forms of the law as functions, least squares, and what a law keeps.
 */
#ifndef RUNG_RECALL_INSIDE_H
#define RUNG_RECALL_INSIDE_H

#include "rung/recall.h"

/* ---- detection: one of V values out of noise --------------------------------------------------------------------- */

#define RECALL_STEPS   512
#define RECALL_PER_ONE 32 /* steps of the table per unit of distance */

/* The probability that the score of the right value is the largest of V, if it is `distance` above the mean of the
 * others and every score has Gaussian noise of variance 1; tabulated, with its slope. */
typedef struct recall_detector {
    size_t values;
    double right[RECALL_STEPS + 1], slope[RECALL_STEPS + 1];
} recall_detector;

void recall_detector_init(recall_detector *detector, size_t values);
double recall_detect(const recall_detector *detector, double distance);
/* The distance at which the probability is so large; INFINITY from 1 on. */
double recall_detect_inverse(const recall_detector *detector, double right);

/* ---- forms ------------------------------------------------------------------------------------------------------- */

/* `logs` are the logarithms of the parameters; the detector is that of `values`. */
double recall_form_accuracy(rung_recall_form form, const double *logs, const rung_recall_state *state, double entries,
                            const recall_detector *detector);
double recall_form_entries(rung_recall_form form, const double *logs, const rung_recall_state *state, double accuracy,
                           const recall_detector *detector);

/* ---- least squares ----------------------------------------------------------------------------------------------- */

/* A cell as a fit sees it: with another accuracy in a bootstrap, or with weight 0 if it is held out. */
typedef struct recall_point {
    const rung_recall_cell *cell;
    const recall_detector *detector;
    double accuracy;
    double weight;
} recall_point;

/* Minimises the weighted sum of squared residuals over the logarithms of the parameters and returns it. `logs` is the
 * start with `warm`, else the start is the best point of a grid. */
double recall_least_squares(double *logs, rung_recall_form form, const recall_point *points, size_t count, bool warm);

/* ---- law --------------------------------------------------------------------------------------------------------- */

/* Cells from this accuracy on say only that the state was large enough: they do not determine where recall ends. */
#define RECALL_FULL       0.99
#define RECALL_REPLICATES 500

/* One replicate of the bootstrap: parameters of the chosen form, and a residual of a held-out state. */
typedef struct recall_replicate {
    double logs[RUNG_RECALL_PARAMETERS];
    double residual;
} recall_replicate;

typedef struct recall_fitted {
    rung_recall_mechanism shown;
    recall_point *point; /* the cells of the mechanism */
    double logs[RUNG_RECALL_FORMS][RUNG_RECALL_PARAMETERS];
    double *held[RUNG_RECALL_FORMS]; /* measured less predicted, each cell by a fit without the cells of its state */
    recall_replicate *replicate;     /* RECALL_REPLICATES of them, of the chosen form */
} recall_fitted;

struct rung_recall_law {
    rung_arena arena;
    recall_fitted *mechanism;
    size_t mechanisms;
    recall_detector *detector;
    size_t detectors;
    rung_recall_form chosen;
    double held_error[RUNG_RECALL_FORMS];
};

const recall_fitted *recall_fitted_get(const rung_recall_law *law, const char *mechanism);

/* Fills the replicates; `scratch` has room for the cells of the mechanism. */
void recall_bootstrap(recall_fitted *fitted, rung_recall_form form, recall_point *scratch);
/* The 2.5 % and 97.5 % quantiles; sorts the values. */
void recall_interval(double *low, double *high, double *values, size_t count);

#endif
