/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to attack: the rows of the registry, in their order.
 */
#ifndef RUNG_ATTACK_ROWS_H
#define RUNG_ATTACK_ROWS_H

#include "rung/attack.h"

#define RUNG_ATTACKS(X)                                                                                                \
    X(swallow)                                                                                                         \
    X(forget)                                                                                                          \
    X(overwrite)                                                                                                       \
    X(relation)                                                                                                        \
    X(wagner)                                                                                                          \
    X(middle)                                                                                                          \
    X(block)                                                                                                           \
    X(compose)                                                                                                         \
    X(decompose)                                                                                                       \
    X(invisible)                                                                                                       \
    X(collide)                                                                                                         \
    X(climb)

#define X(name) extern const rung_attack rung_attack_##name;
RUNG_ATTACKS(X)
#undef X

#endif
