/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * utf8: finds well-formed UTF-8 sequences. Private to base.
 */
#ifndef RUNG_BASE_UTF8_H
#define RUNG_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed sequence at the start of text[0..len), 1 to 4; 0 when there is none (Unicode 15,
 * table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF). */
size_t rung_utf8_sequence(const char *text, size_t len);

#endif
