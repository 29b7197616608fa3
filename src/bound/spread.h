/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Lemma S (spread): t coordinates with disjoint alphabets of q values each, and a set K of functions of density at least
 * 2^-D. Then for every x there are x functions in K that together take at least Theta(t,q,D,x) pairs (coordinate, value):
 *
 *   C_0 = 0; with C_j pairs credited, a uniform function has an uncredited value at a coordinate with mean probability
 *   p = 1 - C_j/(tq); the number of such coordinates is at most h-1 with probability at most 2^-t KL((h-1)/t || p) when
 *   (h-1)/t < p (Chernoff, and concavity for unequal probabilities); if that is below 2^-D, some function of K has h new
 *   pairs: C_{j+1} = C_j + h.
 *
 * Any h that passes the test will do; the largest is best. KL is the binary divergence in bits.
 */
#ifndef RUNG_BOUND_SPREAD_H
#define RUNG_BOUND_SPREAD_H

#include "rows.h"

/* In doubles, for searching. D may be 0; x >= 1. Stops early when nothing more is gained. */
double spread_estimate(uint64_t t, uint64_t q, double D, uint64_t x);

/* Certified: a number that Theta surely reaches, at most spread_estimate; D as an interval. Each step's h is guessed in
 * doubles and then proved, or lowered until it is. */
uint64_t spread_surely(rung_certified *sheet, uint64_t t, uint64_t q, rung_ival D, uint64_t x);

#endif
