/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * In the place of SQLite's header where SQLite is absent. rung_store_open refuses, so there is never a connection, and none of
 * these functions is reached; they are here so that the rest of the module compiles and the library has all its functions.
 */
#ifndef RUNG_LAB_WITHOUT_SQLITE3_H
#define RUNG_LAB_WITHOUT_SQLITE3_H

#include <stddef.h>
#include <stdint.h>

#define RUNG_WITHOUT_SQLITE3                                                                                           \
    "this rung was built without SQLite and has no stores; install libsqlite3-dev and build it again"

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef int64_t sqlite3_int64;

enum {
    SQLITE_OK,
    SQLITE_ERROR,
    SQLITE_PERM,
    SQLITE_BUSY,
    SQLITE_LOCKED,
    SQLITE_NOMEM,
    SQLITE_READONLY,
    SQLITE_INTERRUPT,
    SQLITE_IOERR,
    SQLITE_CORRUPT,
    SQLITE_FULL,
    SQLITE_CANTOPEN,
    SQLITE_PROTOCOL,
    SQLITE_AUTH,
    SQLITE_NOTADB,
    SQLITE_ROW,
    SQLITE_DONE,
    SQLITE_NULL,
    SQLITE_OPEN_READONLY = 1,
    SQLITE_OPEN_READWRITE = 2,
    SQLITE_OPEN_CREATE = 4,
    SQLITE_OPEN_URI = 8,
    SQLITE_OPEN_NOMUTEX = 16
};

static inline int rung_without_sqlite3(void)
{
    return SQLITE_ERROR;
}

#define SQLITE_STATIC NULL

#define sqlite3_libversion()                        "none"
#define sqlite3_open_v2(address, db, flags, vfs)    ((void)(address), *(db) = NULL, (void)(flags), rung_without_sqlite3())
#define sqlite3_close(db)                           ((void)(db))
#define sqlite3_errmsg(db)                          ((void)(db), "")
#define sqlite3_errcode(db)                         ((void)(db), rung_without_sqlite3())
#define sqlite3_system_errno(db)                    ((void)(db), 0)
#define sqlite3_exec(db, sql, each, context, error) ((void)(db), (void)(sql), rung_without_sqlite3())
#define sqlite3_prepare_v2(db, sql, len, out, tail) ((void)(db), (void)(sql), *(out) = NULL, rung_without_sqlite3())
#define sqlite3_step(s)                             ((void)(s), rung_without_sqlite3())
#define sqlite3_reset(s)                            ((void)(s))
#define sqlite3_finalize(s)                         ((void)(s))
#define sqlite3_bind_text(s, at, text, len, free)   ((void)(s), (void)(at), (void)(text), rung_without_sqlite3())
#define sqlite3_bind_blob64(s, at, bytes, len, free)                                                                   \
    ((void)(s), (void)(at), (void)(bytes), (void)(len), rung_without_sqlite3())
#define sqlite3_bind_int64(s, at, value)          ((void)(s), (void)(at), (void)(value), rung_without_sqlite3())
#define sqlite3_bind_double(s, at, value)         ((void)(s), (void)(at), (void)(value), rung_without_sqlite3())
#define sqlite3_column_type(s, i)                 ((void)(s), (void)(i), SQLITE_NULL)
#define sqlite3_column_int(s, i)                  ((void)(s), (void)(i), 0)
#define sqlite3_column_int64(s, i)                ((void)(s), (void)(i), (sqlite3_int64)0)
#define sqlite3_column_double(s, i)               ((void)(s), (void)(i), 0.0)
#define sqlite3_column_text(s, i)                 ((void)(s), (void)(i), (const unsigned char *)"")
#define sqlite3_column_blob(s, i)                 ((void)(s), (void)(i), (const void *)"")
#define sqlite3_column_bytes(s, i)                ((void)(s), (void)(i), 0)
#define sqlite3_get_autocommit(db)                ((void)(db), 1)
#define sqlite3_busy_timeout(db, ms)              ((void)(db), (void)(ms))
#define sqlite3_extended_result_codes(db, on)     ((void)(db))
#define sqlite3_db_config(db, what, value, out)   ((void)(db), (void)(value))
#define sqlite3_progress_handler(db, steps, f, x) ((void)(db), (void)(f), (void)(x))

#endif
