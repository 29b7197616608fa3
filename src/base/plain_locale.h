/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * plain_locale: reads and writes numbers with a decimal point, in whatever locale the calling program runs. Private to
 * base.
 */
#ifndef RUNG_BASE_PLAIN_LOCALE_H
#define RUNG_BASE_PLAIN_LOCALE_H

/* strtod, and snprintf of "%.*g" into text[size], both in the "C" locale. */
double rung_plain_strtod(const char *text, char **end);
void rung_plain_format(char *text, unsigned long size, int digits, double value);

#endif
