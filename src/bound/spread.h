/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * How many values a few functions of a large enough set take (docs/theory.md, Lemma S, which proves both).
 *
 * Lemma S (spread): t coordinates with disjoint alphabets of q values each, and a set K of functions of density at
 * least 2^-D. For every x there are x functions in K that together take at least Theta(t,q,D,x) = C_x pairs
 * (coordinate, value), where
 *
 *   C_0 = 0, C_{j+1} = C_j + h for any h with (h-1)/t < p and t KL((h-1)/t || p) > D, p = 1 - C_j/(tq).
 *
 * KL is the binary divergence in bits. It falls as C_j grows, so a gain h that passes at the last of several steps
 * passes at all of them, and whole runs of steps are taken at once. The largest h is best; with many coordinates a
 * ladder of gains that falls by a ratio is nearly as good.
 *
 * Lemma S' (random spread): x <= q independent uniform functions on T coordinates take fewer than Theta pairs with
 * probability at most 2^-budget, if for some 0 < y < 1
 *
 *   T sum_{j<x} log2(y + (1-y) j/q) - Theta log2 y <= -budget.
 *
 * Whole numbers are doubles here, exact up to 2^53.
 */
#ifndef RUNG_BOUND_SPREAD_H
#define RUNG_BOUND_SPREAD_H

#include "bound_rows.h"

/* Lemma S in doubles, for searching. D may be 0; x >= 1. The next gain after h is at most ladder h. */
double spread_estimate(double t, double q, double D, double x, double ladder);
/* Certified: a whole number that Theta certainly reaches. D is an interval; t q is below 2^52, or t = 1. */
double spread_surely(rung_certified *sheet, double t, double q, rung_ival D, double x, double ladder);

/* The same, step by step: `count` functions with `gain` new pairs each, then the next run; at most `room` runs. */
typedef struct spread_run {
    uint64_t gain, count;
} spread_run;
size_t spread_runs(spread_run *run, size_t room, rung_certified *sheet, double t, double q, rung_ival D, double x,
                   double ladder);

/* Ladders for the search and for the result: complete up to t = 16 and t = 200. */
#define SPREAD_ROUGH 0.94
#define SPREAD_FINE  0.995

/* Values of x functions of a class of density 2^-D: by lemma S, with *y = 0; if its numbers would not fit, by S' with
 * this y. Certified with the fine ladder. */
double spread_from_class(double *y, double t, double q, double D, double x, double ladder);
rung_ival spread_from_class_surely(rung_certified *sheet, double t, double q, rung_ival D, double x, double y);

/* Lemma S' in doubles: -sum_{j<x} log2(y + (1-y) j/q), or slightly less. */
double spread_random_bits(double y, double x, double q);
/* The y in [from, to] with nearly the largest Theta/T if budget/T is `budget`; returns that Theta/T. */
double spread_random_rate(double *y, double from, double to, double x, double q, double budget);
/* Certified: Theta = ceil((T bits - budget) / -log2 y), an interval whose lower end is certainly reached. Not positive
 * if nothing is. */
rung_ival spread_random_surely(rung_certified *sheet, rung_ival T, double y, double x, double q, rung_ival budget);

#endif
