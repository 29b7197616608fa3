/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: other programs, run in directories of their own.
 */
#ifndef RUNG_AUDIT_BESIDE_H
#define RUNG_AUDIT_BESIDE_H

#include "rung/base.h"

enum { AUDIT_ABSENT = 127 }; /* the exit code of a program that is not there */

/* Runs a program of PATH in a directory, with stdout and stderr into the file `log` there. `code` becomes its exit
 * code, -1 if a signal has stopped it. */
rung_status audit_run(int *code, const char *directory, char *const words[], rung_error *err);
void audit_read_log(char *text, size_t size, const char *directory);
/* Makes a new directory below TMPDIR. */
rung_status audit_make_directory(char *path, size_t size, const char *what, rung_error *err);
/* Removes these files, up to a NULL, and the directory. */
void audit_remove_directory(const char *path, const char *const *names);

#endif
