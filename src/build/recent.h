/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A layer that hands every token what stands 1, 2, ..., m places before it, one head for each: the first half of
 * recalling by content. Any of these mechanisms can do it, P = m+1:
 *
 *   full            the position is the key, the wanted position the query (code_match.h).          dk = 2 log T
 *   window          W = P; the key is the position mod P, the query refuses all residues but one.    dk = P
 *   delta           k = e_(t mod P), beta = 1: what is written replaces what stood there P tokens ago; q = e_((t-j) mod
 *                   P) reads it back. The state is a ring of P values.
 *   gdelta, kda     the same with a decay of 1.
 *   retnet          the same keys without replacing: the ring holds v_(t-j) and, weaker by gamma^P, what stood there
 *                   before; gamma^-j makes up for the decay.
 *   linear          the same without a decay: keys grow as B^t and queries shrink as B^-(t-j), so the newest value
 *                   outweighs the older ones of its place by B^P. The range of the numbers ends that soon.
 *
 * In real arithmetic a handed value of 0 is at most `error`, and one of 1 at least 1 - error (retnet and linear: not
 * below 1). Before there are j tokens, something in [0,1] is handed over.
 */
#ifndef RUNG_BUILD_RECENT_H
#define RUNG_BUILD_RECENT_H

#include "sheet.h"

typedef enum recent_kind {
    RECENT_FULL,
    RECENT_WINDOW,
    RECENT_DELTA,
    RECENT_GDELTA,
    RECENT_KDA,
    RECENT_RETNET,
    RECENT_LINEAR,
} recent_kind;

/* The parameters `by` and `gap` of a construction that uses such a layer. */
extern const rung_param recent_params[];
extern const char recent_instead[]; /* what to try if no gap suffices */

typedef struct recent {
    recent_kind kind;
    size_t tokens, back; /* T, m */
    size_t from, width;  /* coordinates that are handed over */
    size_t to;           /* m slots of `width` coordinates: the nearest token first */
    size_t place, wanted;
} recent;

recent recent_init(const rung_build *b, size_t back);
double recent_error(const recent *r, double gap);
/* Allocates coordinates for positions and slots. r->from and r->width must be set. */
void recent_coords(rung_sheet *s, recent *r);
/* Prints the layer as text, for sheet_layers. */
void recent_arch(char *out, size_t size, const recent *r);
/* Writes the weights of layer 0, and the positions. */
void recent_write(rung_sheet *s, const recent *r, double gap);

#endif
