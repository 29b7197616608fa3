/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A reader of Python pickles that builds plain values and calls nothing. Private to io.
 */
#ifndef RUNG_IO_PICKLE_H
#define RUNG_IO_PICKLE_H

#include "io_internal.h"

typedef enum pickle_kind {
    PICKLE_NONE = 1,
    PICKLE_BOOL,
    PICKLE_INT,
    PICKLE_REAL,
    PICKLE_TEXT,
    PICKLE_GLOBAL,     /* text: "module name" */
    PICKLE_TUPLE,      /* items */
    PICKLE_LIST,       /* items */
    PICKLE_DICT,       /* items: key, value, key, value */
    PICKLE_CALL,       /* items: the global, its tuple of arguments. Nothing was called. */
    PICKLE_PERSISTENT, /* items: the tuple that names an object outside the pickle */
} pickle_kind;

typedef struct pickle_value pickle_value;
struct pickle_value {
    pickle_kind kind;
    int64_t integer; /* PICKLE_BOOL, PICKLE_INT */
    const char *text;
    const pickle_value **item;
    size_t count, room;
};

/* Reads protocols 2 to 5. All values come from the arena. A pickle with an opcode outside the list in pickle.c is
 * refused; so are more values than the pickle has bytes. */
rung_status io_pickle_read(const pickle_value **out, rung_arena *arena, const uint8_t *bytes, size_t size,
                           rung_error *err);
bool io_pickle_is_global(const pickle_value *value, const char *name);

#endif
