/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Files that are part of the page; the build turns them into bytes. The plot library (uPlot, MIT) is fetched when
 * building and is not in this tree. Without it two of these are empty, and the page has its figures as SVG only.
 */
#include "report_internal.h"

const char report_css[] = {
#include "page.css.inc"
    0};
const char report_js[] = {
#include "page.js.inc"
    0};
const char report_plot_js[] = {
#include "plot.js.inc"
    0};
const char report_plot_css[] = {
#include "plot.css.inc"
    0};
