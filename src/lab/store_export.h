/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: fields of rows in the formats of other programs.
 */
#ifndef RUNG_LAB_STORE_EXPORT_H
#define RUNG_LAB_STORE_EXPORT_H

#include "rung/lab.h"

/* One value: JSON, or a field of CSV; what does not exist is null or nothing. */
typedef enum lab_field_kind {
    LAB_FIELD_TEXT = 1,
    LAB_FIELD_COUNT,
    LAB_FIELD_REAL,
    LAB_FIELD_FLAG,
    LAB_FIELD_NUMBER, /* a real that is 0 where there is none */
} lab_field_kind;
typedef struct lab_field {
    const char *name;
    lab_field_kind kind;
    size_t at; /* in the row */
} lab_field;
void lab_export_names(rung_store_export *x, const lab_field *fields, size_t count);
void lab_export_fields(rung_store_export *x, const void *row, const lab_field *fields, size_t count);
/* Writes what has gathered, if it is much; false: stop. */
bool lab_export_more(rung_store_export *x);

#endif
