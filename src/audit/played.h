/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: the parts of a protocol that was played.
 */
#ifndef RUNG_AUDIT_PLAYED_H
#define RUNG_AUDIT_PLAYED_H

#include "rung/audit.h"

/* Tokens from a position on that receive something in a layer. */
size_t audit_receivers(const rung_played *p, size_t layer, size_t from);
/* Fills ledger and agreement. */
rung_status audit_ledger(rung_played *p, rung_error *err);

#endif
