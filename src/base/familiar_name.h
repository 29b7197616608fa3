/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * familiar_name: words of other programs. Private to base.
 */
#ifndef RUNG_BASE_FAMILIAR_NAME_H
#define RUNG_BASE_FAMILIAR_NAME_H

#include <stddef.h>

/* The candidate that other programs call `name`, or NULL. */
const char *rung_familiar_name(const char *name, const char *const *candidates, size_t count);

#endif
