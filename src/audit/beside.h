/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: what stands beside this program.
 */
#ifndef RUNG_AUDIT_BESIDE_H
#define RUNG_AUDIT_BESIDE_H

#include <stddef.h>

/* The path of `tail` in the directory of this program; "" if that is not known or too long. */
void audit_beside(char *path, size_t size, const char *tail);

#endif
