/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * recall: how many entries of a table a recurrent layer looks up after training. This is a law fitted to measurements,
 * not a theorem: it never makes a verdict. Four forms of the law are fitted to the cells of experiments/recall-law and
 * compared on states that the fit did not see. docs/recall.md has the forms, the fits and what they fail to predict.
 * Layer 3.
 */
#ifndef RUNG_RECALL_H
#define RUNG_RECALL_H

#include "rung/base.h"

RUNG_API_BEGIN

/* What is said wherever a number of the law is shown. */
#define RUNG_RECALL_STATUS "measured, not proved"

/* ---- forms ------------------------------------------------------------------------------------------------------- */

/* K = heads dk, n entries, V values. A load is divided by the capacity that the form gives a state; accuracy falls with
 * the quotient. */
typedef enum rung_recall_form {
    RUNG_RECALL_KEYS = 0, /* n against K: entries per key dimension */
    RUNG_RECALL_PAIRS,    /* 2 n ln n against K dv: the threshold of a linear memory of random pairs */
    RUNG_RECALL_BITS,     /* n log2 V against K dv: bits per number */
    RUNG_RECALL_OVERLAP,  /* exact while n <= K; beyond it, the noise of n keys that overlap in K dimensions */
    RUNG_RECALL_FORMS,
} rung_recall_form;
extern const char *const rung_recall_form_names[];      /* [form], NULL at the end */
extern const char *const rung_recall_form_statements[]; /* [form]: the formula */

#define RUNG_RECALL_PARAMETERS 2
/* How many parameters a form has for each mechanism, and their names. */
size_t rung_recall_form_parameters(rung_recall_form form);
const char *rung_recall_parameter_name(rung_recall_form form, size_t index);

/* ---- what was measured ------------------------------------------------------------------------------------------- */

/* The sizes of a state. Heads that share their keys count as one head that has the value dimensions of all of them; so
 * do state_heads, state_key_dim and state_value_dim of a rung_ledger_layer. */
typedef struct rung_recall_state {
    size_t heads, dk, dv;
} rung_recall_state;

/* Runs of one layer that differ in their seed. */
typedef struct rung_recall_cell {
    const char *mechanism;
    rung_recall_state state;
    size_t entries, values;
    double accuracy;       /* mean over seeds of the test after training */
    double standard_error; /* of this mean */
} rung_recall_cell;

/* The cells of docs/experiments/recall-law.full.csv. */
const rung_recall_cell *rung_recall_cells(size_t *count);

/* ---- the law ----------------------------------------------------------------------------------------------------- */

/* One form for one mechanism. */
typedef struct rung_recall_fit {
    double parameter[RUNG_RECALL_PARAMETERS];
    double error;      /* root of the mean square residual of accuracies */
    double held_error; /* the same, each cell predicted by a fit without the cells of its state */
} rung_recall_fit;

/* A mechanism with at least RUNG_RECALL_LEAST_STATES different states. */
typedef struct rung_recall_mechanism {
    const char *name;
    size_t cells, states;
    rung_recall_fit fit[RUNG_RECALL_FORMS];
    size_t entries_low, entries_high, values_low, values_high; /* measured */
    rung_recall_state low, high;                               /* smallest and largest of each size */
} rung_recall_mechanism;

#define RUNG_RECALL_LEAST_STATES 3

typedef struct rung_recall_law rung_recall_law;

/* Fits every form to every mechanism of the cells, which must outlive the law, and the chosen one to 500 samples of
 * them. This takes some 0.1 s: make one law for many questions, which then take a millisecond each. RUNG_INPUT for a cell that is none: a
 * size of 0, one value, an accuracy outside [0, 1]. */
rung_status rung_recall_law_new(rung_recall_law **law, const rung_recall_cell *cells, size_t count, rung_error *err);
void rung_recall_law_free(rung_recall_law *law);

size_t rung_recall_mechanisms(const rung_recall_law *law);
const rung_recall_mechanism *rung_recall_mechanism_at(const rung_recall_law *law, size_t index);
const rung_recall_mechanism *rung_recall_mechanism_get(const rung_recall_law *law, const char *name); /* or NULL */
/* The form with the smallest held_error over the cells of all mechanisms, and that error for each form. */
rung_recall_form rung_recall_chosen(const rung_recall_law *law);
double rung_recall_held_error(const rung_recall_law *law, rung_recall_form form);

/* ---- predictions ------------------------------------------------------------------------------------------------- */

typedef struct rung_recall_question {
    const char *mechanism; /* as in rung_mech */
    rung_recall_state state;
    size_t values;   /* kinds of values, at least 2 */
    double accuracy; /* of looking up one entry, between chance and 1 */
} rung_recall_question;

/* How many entries a trained layer looks up at the accuracy. */
typedef struct rung_recall_answer {
    const char *no_law; /* why there is none: "this mechanism was not measured"; NULL: there is one */
    rung_recall_form form;
    double entries;
    double low, high; /* 95 % prediction interval: bootstrap over cells and seeds, and residuals of held-out states */
    bool beyond;      /* a size is outside of what was measured: an extrapolation */
} rung_recall_answer;

/* RUNG_USAGE for a size of 0, fewer than two values, or an accuracy that chance has or that is above 1. */
rung_status rung_recall_predict(rung_recall_answer *answer, const rung_recall_law *law,
                                const rung_recall_question *question, rung_error *err);
/* The same by any form, without an interval; NAN: the mechanism was not measured. */
double rung_recall_entries(const rung_recall_law *law, rung_recall_form form, const rung_recall_question *question);
/* The accuracy of looking up one of n entries; NAN: the mechanism was not measured. */
double rung_recall_accuracy(const rung_recall_law *law, rung_recall_form form, const char *mechanism,
                            const rung_recall_state *state, double entries, size_t values);

/* ---- numbers that others published ------------------------------------------------------------------------------- */

#define RUNG_RECALL_TESTS_MAX 8

/* A row of experiments/recall-published.csv: the mean accuracy over tests with so many entries each. */
typedef struct rung_recall_published {
    const char *source, *model; /* who published it; which of their models, with what was read from where */
    const char *mechanism;
    rung_recall_state state;
    size_t values;
    size_t tests, entries[RUNG_RECALL_TESTS_MAX];
    double accuracy;
} rung_recall_published;

const rung_recall_published *rung_recall_published_rows(size_t *count);

/* What the law says of it. */
typedef struct rung_recall_score {
    bool law;                            /* the mechanism was measured; else nothing else is filled in */
    double predicted[RUNG_RECALL_FORMS]; /* mean accuracy over the tests */
    double low, high;                    /* 95 % prediction interval of the chosen form */
} rung_recall_score;

rung_status rung_recall_compare(rung_recall_score *score, const rung_recall_law *law, const rung_recall_published *row,
                                rung_error *err);

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* As one JSON object, rung.recall/1: forms and mechanisms; with a question its answer, without one (both NULL) the
 * scores of published numbers. */
rung_status rung_recall_json(rung_buf *out, const rung_recall_law *law, const rung_recall_question *question,
                             const rung_recall_answer *answer, rung_error *err);

RUNG_API_END

#endif
