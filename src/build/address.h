/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Addresses: how a key says which number it stands for, so that the product with a query is largest exactly at the
 * wanted one. Only the query is scaled, so that the gap between the best score and the next is what one asked for.
 *
 *   bits       K = (A, 1-A), Q = g (P, 1-P) over the bits: score g (b - differing bits), next best g below.    d = 2b
 *   sign       K = 2A-1, Q = (g/2)(2P-1): score (g/2)(b - 2 differing bits).                                    d = b
 *   trig       K = (cos tA, sin tA), Q = c (cos tP, sin tP), t = 2 pi/n: score c cos t(P-A), c = g/(1-cos t).    d = 2
 *   quadratic  K = (A, A^2), Q = g (2P, -1): score g (P^2 - (P-A)^2).                                            d = 2
 *
 * The mass of all wrong keys relative to the right one, if every address occurs at most once:
 *   bits, sign (1 + e^-g)^b - 1;  trig sum_k e^-c(1-cos kt);  quadratic at most 2 sum_k e^-g k^2.
 * A zero key has the score 0, which is lower than the right one by g b, (g/2) b, c. (Tokens without an address have no
 * zero key with quadratic ones, but addresses beyond the last.)
 */
#ifndef RUNG_BUILD_ADDRESS_H
#define RUNG_BUILD_ADDRESS_H

#include "sheet.h"

typedef enum address_kind { ADDRESS_BITS, ADDRESS_SIGN, ADDRESS_TRIG, ADDRESS_QUADRATIC } address_kind;
extern const char *const address_names[];

typedef struct address {
    address_kind kind;
    size_t count; /* the addresses are 0 .. count-1 */
    size_t dim;
    double gap;
    size_t idle; /* tokens with a zero key, which stand for no address */
} address;

address address_init(address_kind kind, size_t count, double gap);
/* Writes the key or the query of one address into row `row`, columns col .. col+dim-1. */
void address_key(const address *a, const sheet_matrix *m, size_t row, size_t col, size_t number);
void address_query(const address *a, const sheet_matrix *m, size_t row, size_t col, size_t number);
/* Mass of the wrong keys relative to the right one, at most, when every address occurs at most once. */
double address_leak(const address *a);

#endif
