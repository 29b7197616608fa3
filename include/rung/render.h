/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Records as JSON, HTML and SVG: a writer of JSON, text without markup, and a plot of points. Layer 1: depends on base.
 */
#ifndef RUNG_RENDER_H
#define RUNG_RENDER_H

#include "rung/base.h"

RUNG_API_BEGIN

/* CAN, CANNOT, UNKNOWN, SAMPLED: [verdict - 1], NULL at the end. */
extern const char *const rung_verdict_names[];

/* ---- JSON ---------------------------------------------------------------------------------------------------------
 *
 * Writes JSON into a buffer: nesting, commas, indentation. The caller closes what it opens; an unbalanced document is a
 * broken program and asserts. Values inside an array have the key NULL. */

#define RUNG_JOUT_DEPTH 16

typedef struct rung_jout {
    rung_buf *buf;
    bool pretty; /* one value per line, or one line in all */
    size_t depth;
    char close[RUNG_JOUT_DEPTH]; /* '}' or ']' of the open levels */
    bool filled[RUNG_JOUT_DEPTH];
    size_t flat; /* level from which everything stays on one line; 0: none */
} rung_jout;

/* Opens the top object. With a schema ("rung.list/1") that is its first member. */
void rung_jout_begin(rung_jout *out, rung_buf *buf, const char *schema, bool pretty);
/* Closes the top object and the line. */
void rung_jout_finish(rung_jout *out);

void rung_jout_object(rung_jout *out, const char *key);
void rung_jout_array(rung_jout *out, const char *key);
/* An object or array that stays on one line even in a pretty document. */
void rung_jout_flat_object(rung_jout *out, const char *key);
void rung_jout_flat_array(rung_jout *out, const char *key);
void rung_jout_end(rung_jout *out); /* the innermost open object or array */

void rung_jout_string(rung_jout *out, const char *key, const char *value); /* NULL gives null */
void rung_jout_int(rung_jout *out, const char *key, int64_t value);
void rung_jout_count(rung_jout *out, const char *key, uint64_t value); /* at most INT64_MAX: sums saturate there */
void rung_jout_real(rung_jout *out, const char *key, double value); /* shortest that reads back; null if not finite */
void rung_jout_float(rung_jout *out, const char *key, float value); /* shortest that reads back as a float */
void rung_jout_bool(rung_jout *out, const char *key, bool value);
void rung_jout_null(rung_jout *out, const char *key);
/* A string that `write` makes of `what`. */
void rung_jout_written(rung_jout *out, const char *key, void (*write)(rung_buf *text, const void *what),
                       const void *what);

/* ---- HTML and SVG ---------------------------------------------------------------------------------------------- */

/* Text as HTML or XML, in quotes too: no markup, no control characters, no broken UTF-8. */
void rung_text_escape(rung_buf *out, const char *text);
/* Length of the UTF-8 character at `text` in bytes; 0: there is none. Overlong forms, surrogates and U+FFFE.. are
 * none. */
size_t rung_text_character(const char *text);
/* One <text> of SVG, escaped. `kind` is its CSS class. */
void rung_svg_text(rung_buf *out, double x, double y, const char *kind, const char *anchor, const char *text);

/* ---- points and a line ----------------------------------------------------------------------------------------- */

/* A picture of points and a line through them, as SVG that stands alone: light and dark, no script. */
typedef struct rung_plot {
    const char *title, *subtitle, *x_name, *y_name;
    const double *x, *y;     /* points */
    const char *const *mark; /* what is written under the axis at each point, or NULL */
    size_t count;
    bool line; /* y = intercept + slope x */
    double intercept, slope;
    const char *line_name;
} rung_plot;

void rung_plot_svg(rung_buf *out, const rung_plot *plot);

/* Least squares through at least two points with different x; false otherwise. */
bool rung_plot_fit(double *intercept, double *slope, const double *x, const double *y, size_t count);

RUNG_API_END

#endif
