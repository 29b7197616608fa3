/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * report: what the runs of stores say, with intervals, beside what theory says; as one HTML page and as figures in SVG and
 * CSV. A point of a figure is a cell: all runs that differ in their seed only, at the setting (usually the learning rate) that
 * the evaluation during training chose; its value is the test that nothing was chosen by. Cells are never averaged.
 * Figures, heat maps and tables are general: series, axes, guides; the stores are one source of them. Layer 7.
 */
#ifndef RUNG_REPORT_H
#define RUNG_REPORT_H

#include "rung/base.h"
#include "rung/lab.h"

RUNG_API_BEGIN

/* ---- intervals ------------------------------------------------------------------------------------------------------------ */

/* An estimate with a 95 % interval; NaN where there is none (a mean of one value has no interval). */
typedef struct rung_estimate {
    double mean, low, high;
    size_t count;
} rung_estimate;

/* The 97.5 % quantile of Student's t with df > 0 degrees of freedom. */
double rung_student_quantile(double df);
/* Student's t for the mean of independent values, which are finite. Not cut to a range. */
rung_estimate rung_estimate_mean(const double *values, size_t count);
/* Wilson's score interval for a rate. */
rung_estimate rung_estimate_rate(size_t hits, size_t count);

/* ---- figures -------------------------------------------------------------------------------------------------------------- */

typedef enum rung_mark {
    RUNG_MARK_CANNOT = 1, /* theory, where it speaks of what measured the point: not on every prompt */
    RUNG_MARK_CHOSEN = 2, /* of several settings */
    RUNG_MARK_ABOVE = 4,  /* the whole interval is above a ceiling of theory: one of the two is wrong */
} rung_mark;

#define RUNG_NO_CELL SIZE_MAX

typedef struct rung_point {
    double x, y, low, high; /* low, high: NaN without an interval */
    double ceiling;         /* of theory at this point; 0: none */
    unsigned marks;
    size_t count; /* runs behind it */
    size_t cell;  /* of the group, or RUNG_NO_CELL */
} rung_point;

typedef struct rung_series {
    const char *name;        /* several may share one: one entry of the legend */
    const char *detail;      /* tells those apart ("seed 3"); may be NULL */
    const rung_point *point; /* by x */
    size_t count;
    bool line;     /* points are joined */
    bool dots;     /* points are drawn */
    bool control;  /* random labels: must stay at chance */
    size_t colour; /* of the palette, modulo its length */
} rung_series;

typedef enum rung_guide_kind { RUNG_GUIDE_CHANCE = 1, RUNG_GUIDE_MAJORITY, RUNG_GUIDE_THRESHOLD } rung_guide_kind;

/* A line that no run has drawn. A threshold is vertical: x[0], from bottom to top. */
typedef struct rung_guide {
    rung_guide_kind kind;
    const char *name;
    const double *x, *y;
    size_t count;
    size_t colour; /* of the series that a threshold is about */
} rung_guide;

typedef struct rung_axis {
    const char *name;
    bool log;
    double low, high;   /* of the data */
    const double *tick; /* where numbers stand; NULL: round ones */
    size_t ticks;
} rung_axis;

typedef struct rung_chart {
    const char *id; /* letters, digits, '-' and '_': a file name and an anchor */
    const char *title, *subtitle;
    rung_axis x, y;
    const rung_series *series;
    size_t series_count;
    const rung_guide *guide;
    size_t guides;
    const char *left_out; /* what is not drawn; "" if nothing */
    const char *measured; /* which evaluator has; NULL: nothing to say */
    const char *unit;     /* what the count of a point counts, in the singular; NULL: "run" */
} rung_chart;

typedef struct rung_heat_cell {
    double value; /* 0 ... 1, NaN: none */
    double ceiling;
    unsigned marks;
    size_t count; /* runs */
    size_t among; /* cells of which the best one by the evaluation during training is shown */
    size_t cell;
} rung_heat_cell;

typedef struct rung_heat {
    const char *id, *title, *subtitle, *x_name, *y_name;
    const char *const *column, *const *row; /* what stands at the axes */
    size_t columns, rows;
    const rung_heat_cell *cell; /* [row][column], row 0 at the bottom */
    const char *measured;       /* which evaluator has */
} rung_heat;

/* Alone (a file with its own style) or inside a page that has the style. */
void rung_chart_svg(rung_buf *out, const rung_chart *figure, bool alone);
void rung_heat_svg(rung_buf *out, const rung_heat *heat, bool alone);
void rung_chart_csv(rung_buf *out, const rung_chart *figure);
void rung_heat_csv(rung_buf *out, const rung_heat *heat);

/* Text as HTML or XML, in quotes too: no markup, no control characters, no broken UTF-8. */
void rung_text_escape(rung_buf *out, const char *text);
/* One <text>, escaped. */
void rung_svg_text(rung_buf *out, double x, double y, const char *style, const char *anchor, const char *text);

/* ---- groups and cells ------------------------------------------------------------------------------------------------------- */

typedef struct rung_cell {
    const rung_run_row
        *row; /* of one of its chosen runs: what all of them share (sizes, theory, rate). No id, words or results */
    rung_estimate accuracy;  /* test, over the runs that have one */
    rung_estimate success;   /* of all runs; a diverged one is no success */
    rung_estimate evaluated; /* evaluation during training */
    size_t runs, succeeded, diverged;
    size_t settings; /* of which this one was chosen */
    bool spoken;     /* the theorems speak of the evaluator that measured `accuracy`: rung_theory_speaks */
    double ceiling;  /* that no weights exceed; 0: none, or it is not about this evaluator */
    bool above;      /* RUNG_MARK_ABOVE */
    const char *certificate, *certificate_name, *certificate_sha256; /* text; NULL if none */
} rung_cell;

/* A key that has several values among the cells. */
typedef struct rung_key {
    const char *name; /* as in the words of a run */
    bool numeric;
    bool chosen; /* varies inside cells: what was selected */
} rung_key;

/* A sweep, or the runs of no sweep (name ""). */
typedef struct rung_group {
    const char *name, *question, *slug; /* slug: for file names, unique */
    const char *spec;                   /* id of the sweep: the first 32 digits of the SHA-256 of its spec; "" */
    double success;
    uint64_t planned; /* 0: no plan */
    size_t runs, settings, cells, diverged;
    size_t key_count; /* those that vary, in the order of the words */
    const rung_key *key;
    const rung_cell *cell;
    const rung_chart *figure; /* accuracy and success in turns, then rates */
    size_t figures, rates;    /* the last `rates` of them are about the chosen keys */
    const rung_heat *heat;
    size_t heats;
    const rung_chart *curve;
    size_t curves;        /* figures */
    size_t curves_drawn;  /* runs */
    const char *left_out; /* figures that are not drawn; "" if none */
    size_t controls;      /* cells with random labels */
    size_t controls_off;  /* of them, those whose interval does not reach down to chance */
    size_t above;         /* cells above a ceiling */
    size_t certificates;
} rung_group;

/* The value of a varying key in a cell, as one would type it; "" if the cell has no such key. Lives as long as the report. */
const char *rung_group_value(const rung_group *group, size_t cell, size_t key);

/* Any word of a cell, whether it varies or not, as one would type it; "" if it has none. */
const char *rung_group_word(const rung_group *group, size_t cell, const char *key);
/* Its task with all parameters, "eva N=8 V=4 ...". */
void rung_group_task(rung_buf *out, const rung_group *group, size_t cell);
/* The seeds of its runs, in the order of the plan, cell->runs of them. */
uint64_t rung_group_seed(const rung_group *group, size_t cell, size_t run);

/* ---- probed models ------------------------------------------------------------------------------------------------------------ */

/* What a served model answered to questions of one kind. Texts live as long as the report. */
typedef struct rung_probed_cell {
    const char *model;  /* with whatever tells several probes of one model apart */
    size_t number;      /* of the model within the task, from 0 */
    const char *others; /* words of the grid beside depth and facts: "V=4"; "" */
    const char *source, *server;
    rung_probe_cell cell;
    rung_estimate accuracy; /* Wilson */
    bool above;             /* RUNG_MARK_ABOVE */
} rung_probed_cell;

typedef struct rung_probed_depth {
    const char *model;
    const char *place; /* the words that it holds for: "n=16" */
    rung_probe_depth depth;
} rung_probed_depth;

/* One task, and all models that were asked it. */
typedef struct rung_probed {
    const char *task, *slug;
    size_t models, cells, depths, figures;
    uint64_t answers;
    const rung_probed_cell *cell;
    const rung_probed_depth *depth;
    const rung_chart *figure; /* accuracy against depth for each number of facts; without depths, against facts */
    const char *left_out;     /* figures that are not drawn; "" if none */
    size_t above;             /* cells above a ceiling */
    size_t empty;             /* cells without answers: refused, or not asked yet */
    size_t unread;            /* controls of one look that are below the threshold of their probe */
} rung_probed;

/* ---- report ---------------------------------------------------------------------------------------------------------------- */

typedef struct rung_report rung_report;

rung_status rung_report_new(rung_report **out, rung_error *err);
void rung_report_free(rung_report *report);
/* Reads a store. A run that is in several counts once; sweeps of the same spec are one group. Of a probe that is in several,
 * the one with more answers counts. */
rung_status rung_report_add(rung_report *report, const char *path, double wait_s, rung_error *err);
/* Aggregates what was added and reads the curves; once, after the last store. */
rung_status rung_report_make(rung_report *report, rung_error *err);
size_t rung_report_groups(const rung_report *report);
const rung_group *rung_report_group(const rung_report *report, size_t index);
size_t rung_report_runs(const rung_report *report); /* distinct */
size_t rung_report_probed_count(const rung_report *report);
const rung_probed *rung_report_probed(const rung_report *report, size_t index);

/* One page, complete: nothing is loaded from elsewhere. */
void rung_report_page(rung_buf *out, const rung_report *report);
/* Whether the plots of the page are interactive: the library was there when this was built. */
bool rung_report_interactive(void);
/* The cells of a group: one line each. */
void rung_group_csv(rung_buf *out, const rung_group *group);
void rung_probed_csv(rung_buf *out, const rung_probed *probed);
void rung_probed_depths_csv(rung_buf *out, const rung_probed *probed);

RUNG_API_END

#endif
