/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * report: the results of runs in stores, with intervals, beside the verdicts of theory, as one HTML page and as figures
 * in SVG and CSV. A point of a figure is a cell: all runs that differ in their seed only, at the setting (usually the
 * learning rate) that the evaluation during training chose. Its value is the test, by which nothing was chosen. Cells
 * are never averaged. Figures, heat maps and tables are general: series, axes, guides. Stores are one source of them.
 * Layer 7.
 */
#ifndef RUNG_REPORT_H
#define RUNG_REPORT_H

#include "rung/base.h"
#include "rung/lab.h"
#include "rung/render.h"

RUNG_API_BEGIN

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* An estimate with a 95 % interval. NaN if there is none; a mean of one value has no interval. */
typedef struct rung_estimate {
    double mean, low, high;
    size_t count;
} rung_estimate;

/* The 97.5 % quantile of Student's t with df > 0 degrees of freedom. */
double rung_student_quantile(double df);
/* Student's t interval for the mean of independent, finite values. It is not cut to a range. */
rung_estimate rung_estimate_mean(const double *values, size_t count);
/* Wilson's score interval for a rate. */
rung_estimate rung_estimate_rate(size_t hits, size_t count);

/* ---- figures ----------------------------------------------------------------------------------------------------- */

typedef enum rung_mark {
    RUNG_MARK_CANNOT = 1, /* theory says CANNOT of what measured the point: not right on every prompt */
    RUNG_MARK_CHOSEN = 2, /* chosen among several settings */
    RUNG_MARK_ABOVE = 4,  /* the whole interval is above a proved ceiling: the measurement or the theory is wrong */
} rung_mark;

#define RUNG_NO_CELL SIZE_MAX

typedef struct rung_point {
    double x, y, low, high; /* low and high are NaN without an interval */
    double ceiling;         /* proved ceiling at this point; 0: none */
    unsigned marks;
    size_t count; /* runs behind it */
    size_t cell;  /* index in the group, or RUNG_NO_CELL */
} rung_point;

typedef struct rung_series {
    const char *name;        /* series of the same name share one legend entry */
    const char *detail;      /* distinguishes series of the same name ("seed 3"); may be NULL */
    const rung_point *point; /* in rising x */
    size_t count;
    bool line;     /* points are joined */
    bool dots;     /* points are drawn */
    bool control;  /* trained on random labels: must stay at chance */
    size_t colour; /* index into the palette, modulo its length */
} rung_series;

typedef enum rung_guide_kind { RUNG_GUIDE_CHANCE = 1, RUNG_GUIDE_MAJORITY, RUNG_GUIDE_THRESHOLD } rung_guide_kind;

/* A line that is no measurement. A threshold is vertical, at x[0], over the whole height. */
typedef struct rung_guide {
    rung_guide_kind kind;
    const char *name;
    const double *x, *y;
    size_t count;
    size_t colour; /* colour of the series that a threshold belongs to */
} rung_guide;

typedef struct rung_axis {
    const char *name;
    bool log;
    double low, high;   /* range of the data */
    const double *tick; /* positions of the labels; NULL: round numbers */
    size_t ticks;
} rung_axis;

typedef struct rung_chart {
    const char *id; /* letters, digits, '-' and '_'; used as file name and anchor */
    const char *title, *subtitle;
    rung_axis x, y;
    const rung_series *series;
    size_t series_count;
    const rung_guide *guide;
    size_t guides;
    const char *left_out; /* what is not drawn; "" if nothing */
    const char *measured; /* which evaluator measured; NULL: not stated */
    const char *unit;     /* what the count of a point counts, in the singular; NULL: "run" */
} rung_chart;

typedef struct rung_heat_cell {
    double value; /* 0 ... 1, NaN: none */
    double ceiling;
    unsigned marks;
    size_t count; /* runs */
    size_t among; /* number of cells of which the best one by the evaluation during training is shown */
    size_t cell;
} rung_heat_cell;

typedef struct rung_heat {
    const char *id, *title, *subtitle, *x_name, *y_name;
    const char *const *column, *const *row; /* labels of the axes */
    size_t columns, rows;
    const rung_heat_cell *cell; /* [row][column], row 0 at the bottom */
    const char *measured;       /* which evaluator measured */
} rung_heat;

/* Writes an SVG: `alone` as a file with its own style, otherwise for a page that has the style. */
void rung_chart_svg(rung_buf *out, const rung_chart *figure, bool alone);
void rung_heat_svg(rung_buf *out, const rung_heat *heat, bool alone);
void rung_chart_csv(rung_buf *out, const rung_chart *figure);
void rung_heat_csv(rung_buf *out, const rung_heat *heat);

/* ---- groups and cells -------------------------------------------------------------------------------------------- */

typedef struct rung_cell {
    /* one of its chosen runs: only what all of them share (sizes, theory, rate) is set, no id, words or results */
    const rung_run_row *row;
    rung_estimate accuracy;  /* test accuracy, over the runs that have a test */
    rung_estimate success;   /* share of successes among all runs; a diverged run is no success */
    rung_estimate evaluated; /* accuracy of the evaluation during training */
    size_t runs, succeeded, diverged;
    size_t settings; /* number of settings from which this one was chosen */
    bool spoken;     /* the theorems speak of the evaluator that measured `accuracy`: rung_theory_speaks */
    double ceiling;  /* accuracy that no weights exceed; 0: none, or it is not about this evaluator */
    bool above;      /* RUNG_MARK_ABOVE */
    const char *certificate, *certificate_name, *certificate_sha256; /* its text; NULL if none */
    uint64_t certificate_seed;                                       /* of the run whose model it is about */
} rung_cell;

/* A key that has several values among the cells. */
typedef struct rung_key {
    const char *name; /* as in the keys of a run */
    bool numeric;
    bool chosen; /* varies inside cells: the best value was chosen */
} rung_key;

/* A sweep, or the runs of no sweep (name ""). */
typedef struct rung_run_group {
    const char *name, *question, *slug; /* slug: for file names, unique */
    const char *spec; /* id of the sweep: the first 32 digits of the SHA-256 of its spec; "" if there is no sweep */
    double success;
    uint64_t planned; /* number of planned runs; 0: no plan */
    size_t runs, settings, cells, diverged;
    size_t key_count; /* number of varying keys, in the order of the keys */
    const rung_key *key;
    const rung_cell *cell;
    const rung_chart *figure; /* accuracy and success alternating, then the figures about rates */
    size_t figures, rates;    /* the last `rates` of them are about the chosen keys */
    const rung_heat *heat;
    size_t heats;
    const rung_chart *curve;
    size_t curves;        /* number of figures */
    size_t curves_drawn;  /* number of runs in them */
    const char *left_out; /* why figures are missing; "" if none is */
    size_t controls;      /* cells with random labels */
    size_t controls_off;  /* those of them whose interval does not reach down to chance */
    size_t above;         /* cells above a ceiling */
    size_t certificates;
} rung_run_group;

/* The value of a varying key in a cell, as a user would type it; "" if the cell has no such key. Lives as long as the
 * report. */
const char *rung_run_group_value(const rung_run_group *group, size_t cell, size_t key);

/* Any key of a cell, varying or not, as a user would type it; "" if the cell has none. */
const char *rung_run_group_value_of(const rung_run_group *group, size_t cell, const char *key);
/* The task of a cell with all parameters, "eva N=8 V=4 ...". */
void rung_run_group_task(rung_buf *out, const rung_run_group *group, size_t cell);
/* The seed of run `run` of a cell; there are cell->runs of them, in the order of the plan. */
uint64_t rung_run_group_seed(const rung_run_group *group, size_t cell, size_t run);

/* ---- probed models ----------------------------------------------------------------------------------------------- */

/* The answers of a served model to questions of one kind. Texts live as long as the report. */
typedef struct rung_probed_cell {
    const char *model;  /* includes what distinguishes several probes of one model */
    size_t number;      /* index of the model within the task, from 0 */
    const char *others; /* keys of the grid other than depth and facts: "V=4"; "" if none */
    const char *source, *server;
    rung_probe_cell cell;
    rung_estimate accuracy; /* with Wilson's interval */
    bool above;             /* RUNG_MARK_ABOVE */
} rung_probed_cell;

typedef struct rung_probed_depth {
    const char *model;
    const char *place; /* the values of the other keys: "n=16" */
    rung_probe_depth depth;
} rung_probed_depth;

/* One task, and all models that were asked. */
typedef struct rung_probed {
    const char *task, *slug;
    size_t models, cells, depths, figures;
    uint64_t answers;
    const rung_probed_cell *cell;
    const rung_probed_depth *depth;
    const rung_chart
        *figure;          /* accuracy against depth for each number of facts; if there are no depths, against facts */
    const char *left_out; /* why figures are missing; "" if none is */
    size_t above;         /* cells above a ceiling */
    size_t empty;         /* cells without answers: refused, or not yet asked */
    size_t unread;        /* one-look controls that are below the threshold of their probe */
} rung_probed;

/* ---- report ------------------------------------------------------------------------------------------------------ */

typedef struct rung_report rung_report;

rung_status rung_report_new(rung_report **out, rung_error *err);
void rung_report_free(rung_report *report);
/* Reads a store. A run that occurs in several stores counts once; sweeps of the same spec become one group. If several
 * stores have the same probe, the one with more answers counts. */
rung_status rung_report_add(rung_report *report, const char *path, double wait_s, rung_error *err);
/* Aggregates the stores and reads the curves. Call it once, after the last store. */
rung_status rung_report_make(rung_report *report, rung_error *err);
size_t rung_report_groups(const rung_report *report);
const rung_run_group *rung_report_group(const rung_report *report, size_t index);
size_t rung_report_runs(const rung_report *report); /* distinct runs */
size_t rung_report_probed_count(const rung_report *report);
const rung_probed *rung_report_probed(const rung_report *report, size_t index);

/* Writes one complete page, which loads nothing from elsewhere. */
void rung_report_page(rung_buf *out, const rung_report *report);
/* For programs: one JSON object, rung.report/1, every cell with its intervals. */
void rung_report_json(rung_buf *out, const rung_report *report);
/* True if the plots of the page are interactive, that is if the plotting library was present at build time. */
bool rung_report_interactive(void);
/* The cells of a group, one line each. */
void rung_run_group_csv(rung_buf *out, const rung_run_group *group);
void rung_probed_csv(rung_buf *out, const rung_probed *probed);
void rung_probed_depths_csv(rung_buf *out, const rung_probed *probed);

RUNG_API_END

#endif
