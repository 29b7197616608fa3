/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The parts of the page; the build turns these files into bytes.
 */
#include "look.h"

const char explore_html[] = {
#include "explore.html.inc"
    0};
const char explore_css[] = {
#include "explore.css.inc"
    0};
const char explore_js[] = {
#include "explore.js.inc"
    0};
