/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: the slow phase of the Ziv test.
 */
#ifndef RUNG_NUM_SLOW_H
#define RUNG_NUM_SLOW_H

#include "rung/num.h"

/* Any fn except sqrt, at a finite x that is not a special argument of fn (see fn.c). Correct for every format. */
double rung_slow_fn(const rung_fmt *fmt, rung_fn fn, double x);

#endif
