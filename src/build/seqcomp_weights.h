/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to build: the two forms of the construction `seqcomp`.
 */
#ifndef RUNG_BUILD_SEQCOMP_WEIGHTS_H
#define RUNG_BUILD_SEQCOMP_WEIGHTS_H

#include "seqcomp_parts.h"

typedef enum seqcomp_keys { SEQCOMP_KEYS_BITS, SEQCOMP_KEYS_TRIG, SEQCOMP_KEYS_QUADRATIC } seqcomp_keys;

/* keys=trig and keys=quadratic: an address is one number (seqcomp_scalar.c). */
rung_status seqcomp_build_scalar(rung_sheet *s, const rung_build *b, const seqcomp *t, const seqcomp_plan *plan,
                                 seqcomp_keys keys, rung_error *err);

#endif
