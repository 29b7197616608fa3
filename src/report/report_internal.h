/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to report: runs as they were read, their settings and cells, and their keys. The values of a key
 * are numbered ("levels"), so that grouping compares integers.
 */
#ifndef RUNG_REPORT_INTERNAL_H
#define RUNG_REPORT_INTERNAL_H

#include "rung/report.h"

/* ---- index (hash_index.c): 64-bit keys to numbers --------------------------------------------------------------------- */

/* Keys are hashes. Among 2^20 of them two are equal by chance with probability 2^-25. */
typedef struct report_index {
    uint64_t *key;
    size_t *value;
    size_t count, room; /* room: a power of two, or 0 */
} report_index;

void report_index_clear(report_index *index);
/* Finds or adds the value of `key`; a new one has *fresh = true and value 0. NULL: out of memory. */
size_t *report_index_put(report_index *index, uint64_t key, bool *fresh, rung_error *err);
const size_t *report_index_get(const report_index *index, uint64_t key); /* NULL if absent */
uint64_t report_hash(uint64_t seed, uint64_t value);
uint64_t report_hash_text(const char *text);

/* Grows an array so that one more item of `size` bytes fits. NULL: out of memory. */
void *report_grow(void *items, size_t count, size_t *room, size_t size, rung_error *err);

/* ---- what was read (load.c) -------------------------------------------------------------------------------------- */

#define REPORT_VARYING 64         /* largest number of varying keys: bits of a mask */
#define REPORT_ABSENT  UINT32_MAX /* level of a key that a run lacks */

typedef struct report_level {
    const char *text;
    double number; /* NaN: a word */
} report_level;

typedef struct report_key {
    const char *name;
    report_level *level;
    size_t levels, room;
    /* Set by varying_keys.c from the cells. */
    bool chosen;  /* differs inside a cell */
    bool varies;  /* has several levels */
    bool numeric; /* all of them numbers */
    bool kept;    /* not determined by the other kept keys, so it is used as a series, panel or axis label */
    bool tied;    /* a number of the task that the architecture determines: an axis, but no label */
} report_key;

typedef struct report_run {
    uint64_t id; /* hash of the run id */
    size_t store, setting;
    int64_t number; /* in its store */
    uint64_t seed;
    double test_accuracy, eval_accuracy, eval_loss;
    uint64_t test_targets, test_right;
    bool diverged;
    const char *certificate, *certificate_name, *certificate_sha256;
} report_run;

typedef struct report_setting {
    rung_run_row row;
    uint64_t hash;   /* hash of the store; breaks ties */
    uint32_t *level; /* [number of keys when it was read] */
    size_t levels;
    size_t cell, first, runs; /* first and runs: range in report_group.order */
    rung_estimate accuracy, evaluated, success;
    double eval_accuracy, eval_loss; /* means; NaN: none */
    size_t succeeded, diverged;
} report_setting;

typedef struct report_cell {
    size_t chosen;          /* index of its setting */
    size_t first, settings; /* range in report_group.by_cell */
} report_cell;

typedef struct report_group {
    rung_run_group shown; /* must be first */
    char *id;             /* id of the sweep; "" if none */
    report_key *key;
    size_t keys, key_room;
    report_run *run;
    size_t runs, run_room;
    report_setting *setting;
    size_t settings, setting_room;
    report_cell *cell;
    size_t cells, cell_room;
    size_t *order;                  /* runs by setting */
    size_t *by_cell;                /* settings by cell */
    size_t mixers;                  /* number of different sets of mechanisms beside full ones; 2: two or more */
    size_t varying[REPORT_VARYING]; /* keys of shown.key */
    report_index run_index, setting_index, cell_index, key_index, level_index;
    report_index colour_index; /* name of a series to its colour, the same in all figures of the group */
} report_group;

typedef struct report_store {
    const char *path, *version, *kernels, *host;
    size_t runs, probes;
} report_store;

/* A model asked one task in one way (probed.c). */
typedef struct report_probe {
    const char *id, *canonical, *source, *model, *server, *task;
    const char *name; /* name of its series */
    size_t series;    /* index of that name within the task */
    size_t next;      /* next probe of the same task; 0: none */
    uint64_t asked;   /* questions in all cells */
    rung_probe_cell *cell;
    rung_probe_depth *depth;
    size_t cells, cell_room, depths, depth_room;
} report_probe;

struct rung_report {
    rung_arena arena;
    report_probe *probe;
    size_t probes, probe_room;
    report_index probe_index; /* by id */
    rung_probed *probed;      /* in the arena */
    size_t probed_count;
    report_group **group; /* pointers, because shown points into a group: groups must not move */
    size_t groups, group_room;
    report_store *store;
    size_t stores, store_room;
    report_index seen; /* runs of all groups */
    double latest;     /* finished_at of the last run */
    double wait_s;
};

/* The level of a key in a setting. */
static inline uint32_t report_level_of(const report_setting *setting, size_t key)
{
    return key < setting->levels ? setting->level[key] : REPORT_ABSENT;
}

static inline const report_setting *report_chosen(const report_group *group, size_t cell)
{
    return &group->setting[group->cell[cell].chosen];
}

/* A copy that lives as long as the report. */
const char *report_keep(rung_report *report, const char *text, rung_error *err);
/* printf into the arena; NULL: out of memory. */
const char *report_say(rung_report *report, rung_error *err, const char *format, ...) RUNG_PRINTF(3, 4);
/* Prints numbers for axes and names: 0.003, 65536, 2^57; without digit grouping. */
void report_number(char out[32], double value);

/* ---- steps of rung_report_make ----------------------------------------------------------------------------------- */

rung_status report_aggregate(rung_report *report, report_group *group, rung_error *err); /* aggregate.c */
rung_status report_find_keys(rung_report *report, report_group *group, rung_error *err); /* varying_keys.c */
rung_status report_make_figures(rung_report *report, report_group *group, rung_error *err);
rung_status report_make_heats(rung_report *report, report_group *group, rung_error *err);
rung_status report_make_curves(rung_report *report, report_group *group, rung_error *err);

/* Makes a slug of the letters and digits of a text, for file names and anchors. `plain` if it has none. */
void report_slug(char out[64], const char *text, const char *plain);

/* ---- probes ------------------------------------------------------------------------------------------------------ */

rung_status report_read_probes(rung_report *report, rung_store *store, rung_error *err); /* probed.c */
rung_status report_make_probes(rung_report *report, rung_error *err);
void report_free_probes(rung_report *report);
rung_status report_make_probe_figures(rung_report *report, rung_probed *probed, rung_error *err); /* probe_figures.c */

/* ---- axes (axes.c) ----------------------------------------------------------------------------------------------- */

/* A number of every cell that can be an axis: a numeric key, or a column of the run. */
typedef struct report_axis {
    size_t key;    /* SIZE_MAX: a column */
    size_t column; /* offset in rung_run_row */
    const char *name, *slug;
    bool layers; /* number of full or recurrent layers: the other number then belongs to the series */
    bool family; /* varies with the architecture and with no numeric key: a series is then a family of architectures */
    uint64_t behind; /* varying keys (bits) on which the value depends: they do not name series */
} report_axis;

#define REPORT_AXES 12

/* Finds the varying axes; keys come first. */
size_t report_axes(report_axis axis[REPORT_AXES], const report_group *group, rung_error *err);
/* NaN: the cell has no value. */
double report_axis_value(const report_group *group, const report_axis *axis, size_t cell);
/* The mechanisms of an architecture in their order, without counts and parameters: "full+linear" for 2*full,linear. */
void report_family(char *out, size_t size, const char *arch);
/* The same without full attention. Returns out. */
const char *report_recurrent(char *out, size_t size, const char *arch);

/* ---- panels (panels.c): cells sorted into figures and series ----------------------------------------------------- */

typedef struct report_slot {
    size_t cell, panel, series;
    double x;
} report_slot;

typedef struct report_panels {
    report_slot *slot; /* sorted by panel, series, x */
    size_t slots;
    const char **panel, **series; /* names */
    size_t *colour;               /* of series */
    size_t panels, all_series;
} report_panels;

typedef enum report_split {
    REPORT_SPLIT_FEW = 1, /* other numeric keys name series while these are few, else panels */
    REPORT_SPLIT_ALL,     /* all other keys name panels */
} report_split;

/* `second` is another axis; may be NULL. Cells without a value are left out. */
rung_status report_panels_init(report_panels *p, rung_report *report, report_group *group, const report_axis *axis,
                               const report_axis *second, report_split split, rung_error *err);
void report_panels_clear(report_panels *p);

/* ---- embedded files (assets.c) ----------------------------------------------------------------------------------- */

extern const char report_css[], report_js[], report_plot_js[],
    report_plot_css[]; /* plot: "" if the library was absent at build time */

/* ---- text (escape.c) ----------------------------------------------------------------------------------------------- */

void report_csv_real(rung_buf *out, double value); /* empty if NaN */
/* Writes at most `most` characters of UTF-8, with "..." if it cuts. */
void report_cut(rung_buf *out, const char *text, size_t most);

/* ---- drawing (svg.c) --------------------------------------------------------------------------------------------- */

#define REPORT_COLOURS 8

/* Opens an SVG. alone: with size, style and background. sized: keeps its size in a page. */
void report_svg_open(rung_buf *out, double width, double height, bool alone, bool sized);
/* Writes the variables and rules that figures inside a page need. */
void report_svg_colours(rung_buf *out, bool for_dark);
void report_svg_rules(rung_buf *out);
/* Draws a line of 26 x 14 with the marker of a series or guide; the origin is at the left, in the middle. */
void report_svg_swatch(rung_buf *out, const rung_series *series, const rung_guide *guide);
/* Writes the legend of a figure in the page. The script finds entries by their number. */
void report_legend_html(rung_buf *out, const rung_chart *figure);

#endif
