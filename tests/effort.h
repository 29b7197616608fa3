/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * How much a test repeats. A computation costs about ten times as much under the sanitizers, and a memory error does not hide
 * behind one prompt of a thousand: there every path is taken, with fewer repetitions or at smaller sizes. The run without
 * sanitizers, which is about numbers, does everything. Not for leaving out a path.
 */
#ifndef RUNG_TESTS_EFFORT_H
#define RUNG_TESTS_EFFORT_H

#include <stddef.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* So many repetitions, or fewer under the sanitizers. */
static inline size_t effort(size_t full, size_t sanitized)
{
    return SANITIZED ? sanitized : full;
}

#endif
