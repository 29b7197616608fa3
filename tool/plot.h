/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A picture of points and a line through them, as SVG that stands alone: light and dark, no script.
 */
#ifndef RUNG_TOOL_PLOT_H
#define RUNG_TOOL_PLOT_H

#include "rung/report.h"

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

#endif
