/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * plain_locale: numbers are read and written with a point, whatever locale the program has set that uses this library. Private
 * to base.
 */
#ifndef RUNG_BASE_PLAIN_LOCALE_H
#define RUNG_BASE_PLAIN_LOCALE_H

/* strtod, and "%.*g" into text[size]. */
double rung_plain_strtod(const char *text, char **end);
void rung_plain_format(char *text, unsigned long size, int digits, double value);

#endif
