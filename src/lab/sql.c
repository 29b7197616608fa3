/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * SQLite with our statuses and messages. For a full disk, a lock and a damaged file our message says what to do,
 * instead of SQLite's.
 */
#include "store.h"

#include "rung/io.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double lab_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- immutable files --------------------------------------------------------------------------------------------- */

rung_status lab_sql_address(rung_buf *out, const char *path, const char *options, rung_error *err)
{
    rung_buf_puts(out, *path == '/' ? "file://" : "file:");
    for (const char *c = path; *c; c++) {
        if (strchr("?#%", *c) || (unsigned char)*c <= ' ')
            rung_buf_printf(out, "%%%02x", (unsigned char)*c);
        else
            rung_buf_putc(out, *c);
    }
    rung_buf_puts(out, options);
    return rung_buf_ok(out, err);
}

static rung_status check_still(const rung_store *store, rung_error *err)
{
    struct stat now;
    if (!store->still) return RUNG_OK;
    if (stat(store->path, &now) == 0 && now.st_ino == store->seen.st_ino && now.st_size == store->seen.st_size &&
        now.st_mtim.tv_sec == store->seen.st_mtim.tv_sec && now.st_mtim.tv_nsec == store->seen.st_mtim.tv_nsec)
        return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM, "another process wrote %s while it was read; repeat the command", store->path);
}

static rung_status fail_disk(const rung_store *store, rung_error *err)
{
    int number = sqlite3_system_errno(store->db);
    return rung_fail(err, RUNG_SYSTEM, "cannot write %s%s%s; finished runs are kept; repeat the command to continue",
                     store->path, number ? ": " : "", number ? strerror(number) : "");
}

/* What the file is, from its first bytes. */
static const char *kind_of(const char *path)
{
    unsigned char bytes[512];
    FILE *file = fopen(path, "rb");
    if (!file) return "not an SQLite file";
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const char *kind = rung_file_kind(bytes, size);
    return !kind ? "not an SQLite file" : strstr(kind, "SQLite") ? "damaged at its beginning" : kind;
}

rung_status lab_sql_fail(const rung_store *store, rung_error *err)
{
    const char *path = store->path;
    if (store->db && sqlite3_errcode(store->db) == SQLITE_INTERRUPT)
        return rung_fail(err, RUNG_INPUT,
                         "%s: a query takes more work than a store of this size can need; the store is damaged or was "
                         "made to waste time",
                         path);
    if (check_still(store, err) != RUNG_OK) return RUNG_SYSTEM; /* if it was written meanwhile, it only looks damaged */
    switch (sqlite3_errcode(store->db) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return rung_fail(err, RUNG_SYSTEM,
                         "%s is locked by another program, even after %g s; end that program, or wait longer (--wait)",
                         path, store->wait_s);
    case SQLITE_FULL:
        return rung_fail(err, RUNG_SYSTEM,
                         "%s: the disk is full; finished runs are kept; free some space and repeat the command", path);
    case SQLITE_IOERR:
        return fail_disk(store, err);
    case SQLITE_NOTADB:
        return rung_fail(err, RUNG_INPUT, "%s is no store: it is %s", path, kind_of(path));
    case SQLITE_CORRUPT:
        return rung_fail(
            err, RUNG_INPUT,
            "%s is damaged (%s); 'sqlite3 %s .recover' saves what can be read, or start with another store", path,
            sqlite3_errmsg(store->db), path);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
        return rung_fail(err, RUNG_SYSTEM,
                         "cannot open %s: %s%s%s; if its directory is read-only and a file %s-wal lies beside it, copy "
                         "both elsewhere",
                         path, sqlite3_errmsg(store->db), errno ? ": " : "", errno ? strerror(errno) : "", path);
    case SQLITE_NOMEM:
        return rung_fail(err, RUNG_SYSTEM, "%s: out of memory", path);
    default:
        return rung_fail(err, RUNG_INPUT, "%s: %s", path, sqlite3_errmsg(store->db));
    }
}

rung_status lab_sql_exec(const rung_store *store, const char *sql, rung_error *err)
{
    errno = 0;
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? RUNG_OK : lab_sql_fail(store, err);
}

static int bind_all(sqlite3_stmt *statement, const char *kinds, va_list values)
{
    int code = SQLITE_OK;
    for (int at = 1; code == SQLITE_OK && *kinds; kinds++, at++) {
        switch (*kinds) {
        case 's':
            code = sqlite3_bind_text(statement, at, va_arg(values, const char *), -1, SQLITE_STATIC);
            break;
        case 'i':
            code = sqlite3_bind_int64(statement, at, va_arg(values, int64_t));
            break;
        case 'd':
            code = sqlite3_bind_double(statement, at, va_arg(values, double));
            break;
        default: {
            const void *bytes = va_arg(values, const void *);
            code = sqlite3_bind_blob64(statement, at, bytes, va_arg(values, size_t), SQLITE_STATIC);
        }
        }
    }
    return code;
}

static rung_status open_with(sqlite3_stmt **out, const rung_store *store, rung_error *err, const char *sql,
                             const char *kinds, va_list values)
{
    errno = 0;
    *out = NULL;
    if (store->meter) *store->meter = 0;
    if (sqlite3_prepare_v2(store->db, sql, -1, out, NULL) == SQLITE_OK && bind_all(*out, kinds, values) == SQLITE_OK)
        return RUNG_OK;
    rung_status status = lab_sql_fail(store, err);
    sqlite3_finalize(*out);
    *out = NULL;
    return status;
}

rung_status lab_sql_open(sqlite3_stmt **out, const rung_store *store, rung_error *err, const char *sql,
                         const char *kinds, ...)
{
    va_list values;
    va_start(values, kinds);
    rung_status status = open_with(out, store, err, sql, kinds, values);
    va_end(values);
    return status;
}

rung_status lab_sql_next(bool *row, sqlite3_stmt **statement, const rung_store *store, rung_error *err)
{
    int code = sqlite3_step(*statement);
    *row = code == SQLITE_ROW;
    if (*row) return RUNG_OK;
    rung_status status = code == SQLITE_DONE ? check_still(store, err) : lab_sql_fail(store, err);
    sqlite3_finalize(*statement);
    *statement = NULL;
    return status;
}

static rung_status first_int(int64_t *out, const rung_store *store, rung_error *err, const char *sql, const char *kinds,
                             va_list values)
{
    sqlite3_stmt *statement;
    bool row;
    rung_status status = open_with(&statement, store, err, sql, kinds, values);
    RUNG_NEXT(status, lab_sql_next(&row, &statement, store, err));
    if (status != RUNG_OK || !row) return status;
    if (out) *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return check_still(store, err);
}

rung_status lab_sql_do(const rung_store *store, rung_error *err, const char *sql, const char *kinds, ...)
{
    va_list values;
    va_start(values, kinds);
    rung_status status = first_int(NULL, store, err, sql, kinds, values);
    va_end(values);
    return status;
}

rung_status lab_sql_int(int64_t *out, const rung_store *store, int64_t fallback, rung_error *err, const char *sql,
                        const char *kinds, ...)
{
    va_list values;
    *out = fallback;
    va_start(values, kinds);
    rung_status status = first_int(out, store, err, sql, kinds, values);
    va_end(values);
    return status;
}

rung_status lab_sql_begin(const rung_store *store, rung_error *err)
{
    return lab_sql_exec(store, "BEGIN IMMEDIATE", err);
}

rung_status lab_sql_end(const rung_store *store, rung_status status, rung_error *err)
{
    RUNG_NEXT(status, lab_sql_exec(store, "COMMIT", err));
    if (status != RUNG_OK && !sqlite3_get_autocommit(store->db)) sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}
