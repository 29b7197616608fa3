/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Opens a store. docs/store.md describes the schema below; every change of the schema needs a new user_version.
 */
#include "store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 0x52554e47 /* "RUNG" */
#define SCHEMA_VERSION 3

const char *const rung_outcome_names[] = {"finished", "stopped", "diverged", NULL};

static const char schema[] =
    "CREATE TABLE versions(number INTEGER PRIMARY KEY, rung TEXT, sqlite TEXT, compiler TEXT, kernels TEXT);"
    "CREATE TABLE machines(number INTEGER PRIMARY KEY, host TEXT, cpu TEXT, cores INTEGER, memory_bytes INTEGER,"
    " system TEXT);"
    "CREATE TABLE runs(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, canonical TEXT NOT NULL, words TEXT NOT "
    "NULL,"
    " arch TEXT, task TEXT, seed INTEGER, rate REAL, random_labels INTEGER, outcome TEXT NOT NULL, step INTEGER,"
    " steps INTEGER, loss REAL, accuracy REAL, eval_loss REAL, eval_accuracy REAL, test_loss REAL, test_accuracy REAL,"
    " test_targets INTEGER, test_right INTEGER, chance REAL, majority REAL, tokens INTEGER, parameters INTEGER,"
    " layers INTEGER, full_layers INTEGER, recurrent_layers INTEGER, state_bits INTEGER, level_bits INTEGER,"
    " message_bits INTEGER, kv_bits_per_token INTEGER, seconds REAL, resumed INTEGER, finished_at REAL,"
    " version INTEGER REFERENCES versions, machine INTEGER REFERENCES machines);"
    "CREATE TABLE theory(run INTEGER PRIMARY KEY REFERENCES runs, bits INTEGER, verdict TEXT, bound TEXT,"
    " statement TEXT, margin REAL, ceiling REAL, n_threshold REAL, log2_n REAL, trivial INTEGER);"
    "CREATE TABLE metrics(run INTEGER REFERENCES runs, step INTEGER, loss REAL, accuracy REAL, rate REAL, gradient "
    "REAL,"
    " eval_loss REAL, eval_accuracy REAL, PRIMARY KEY(run, step)) WITHOUT ROWID;"
    "CREATE TABLE artefacts(run INTEGER REFERENCES runs, kind TEXT, name TEXT, sha256 TEXT, size INTEGER, content BLOB,"
    " PRIMARY KEY(run, kind, name));"
    "CREATE TABLE sweeps(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT, question TEXT, success REAL,"
    " text TEXT, added REAL);"
    "CREATE TABLE plan(sweep INTEGER REFERENCES sweeps, place INTEGER, run TEXT NOT NULL, label TEXT, cell INTEGER,"
    " setting INTEGER, PRIMARY KEY(sweep, place)) WITHOUT ROWID;"
    "CREATE TABLE claims(run TEXT PRIMARY KEY, host TEXT, boot TEXT, space TEXT, pid INTEGER, started INTEGER,"
    " beat REAL) WITHOUT ROWID;"
    "CREATE VIEW parameters AS SELECT runs.number AS run, key, value FROM runs, json_each(runs.words);"
    "CREATE VIEW results AS " LAB_RESULTS ";"
    "PRAGMA application_id = 1381322311;"
    "PRAGMA user_version = 1;";
_Static_assert(APPLICATION_ID == 1381322311, "as in the text above");

/* Adds the column that names the evaluator of test_accuracy. Before, it was always the fast one. */
static const char test_numbers[] = "ALTER TABLE runs ADD COLUMN test_numbers TEXT;"
                                   "UPDATE runs SET test_numbers = '" RUNG_TEST_FAST "' WHERE test_targets > 0;"
                                   "PRAGMA user_version = 3;";

/* Step [v] leads from version v to v + 1. A new store takes all steps. */
static const char *const steps[SCHEMA_VERSION] = {[0] = schema, [1] = lab_probe_schema, [2] = test_numbers};

/* ---- what the file is -------------------------------------------------------------------------------------------- */

/* The version of the schema; 0: the file is empty. */
static rung_status find_version(int64_t *version, const rung_store *store, rung_error *err)
{
    int64_t id, tables;
    rung_status status = lab_sql_int(&id, store, 0, err, "PRAGMA application_id", "");
    RUNG_NEXT(status, lab_sql_int(version, store, 0, err, "PRAGMA user_version", ""));
    RUNG_NEXT(status, lab_sql_int(&tables, store, 0, err, "SELECT count(*) FROM sqlite_master", ""));
    if (status != RUNG_OK || (id == 0 && *version == 0 && tables == 0)) return status;
    if (id != APPLICATION_ID || *version < 1)
        return rung_fail(err, RUNG_INPUT, "%s is an SQLite file, but not a store of rung", store->path);
    if (*version > SCHEMA_VERSION)
        return rung_fail(err, RUNG_INPUT,
                         "%s has version %lld of the schema, but this rung knows versions up to %d; use a newer rung",
                         store->path, (long long)*version, SCHEMA_VERSION);
    return RUNG_OK;
}

/* Refuses a file that is shorter than its number of pages. SQLite would notice only when it reads the missing page. */
static rung_status check_length(const rung_store *store, rung_error *err)
{
    int64_t pages, page;
    struct stat info;
    rung_status status = lab_sql_int(&pages, store, 0, err, "PRAGMA page_count", "");
    RUNG_NEXT(status, lab_sql_int(&page, store, 0, err, "PRAGMA page_size", ""));
    if (status != RUNG_OK || stat(store->path, &info) != 0) return status;
    char wal[4096];
    struct stat log;
    snprintf(wal, sizeof wal, "%.4000s-wal", store->path);
    bool pending = stat(wal, &log) == 0 && log.st_size > 0; /* the missing pages may still be in the WAL */
    if (!pending && (int64_t)info.st_size < pages * page)
        return rung_fail(err, RUNG_INPUT,
                         "%s is damaged: it has %lld bytes of %lld; use a copy, or start another store", store->path,
                         (long long)info.st_size, (long long)(pages * page));
    return RUNG_OK;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* SQLite does not wait for locks when it switches to WAL, so this does. */
static rung_status switch_to_wal(const rung_store *store, rung_error *err)
{
    double until = rung_wall_s() + store->wait_s;
    rung_status status;
    do {
        status = lab_sql_do(store, err, "PRAGMA journal_mode = WAL", "");
        if (status == RUNG_OK || (sqlite3_errcode(store->db) & 0xff) != SQLITE_BUSY) return status;
        usleep(20000);
    } while (rung_wall_s() < until);
    return status;
}

static rung_status make_schema(const rung_store *store, rung_error *err)
{
    int64_t version;
    RUNG_TRY(switch_to_wal(store, err));
    rung_status status = lab_sql_begin(store, err);
    RUNG_TRY(status);
    status = find_version(&version, store, err); /* asked again, because another process may have done it meanwhile */
    for (; status == RUNG_OK && version < SCHEMA_VERSION; version++) status = lab_sql_exec(store, steps[version], err);
    return lab_sql_end(store, status, err);
}

static rung_status prepare(rung_store *store, rung_store_mode mode, rung_error *err)
{
    int64_t version = 0;
    rung_status status = lab_sql_exec(store, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF", err);
    RUNG_NEXT(status, find_version(&version, store, err));
    if (status == RUNG_OK && version == 0 && mode == RUNG_STORE_READ)
        return rung_fail(err, RUNG_INPUT, "%s is empty, so it is not a store", store->path);
    if (status == RUNG_OK && version < SCHEMA_VERSION && mode == RUNG_STORE_WRITE) status = make_schema(store, err);
    store->version = version < SCHEMA_VERSION && mode == RUNG_STORE_READ ? version : SCHEMA_VERSION;
    RUNG_TRY(status);
    RUNG_TRY(lab_check_schema(store, store->version, err));
    return check_length(store, err);
}

/* True if another process holds the whole file: SQLite's exclusive lock is a write lock of these bytes (its file
 * format, section 2.3). A connection that was opened as immutable does not check this lock. */
static bool is_locked(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    struct flock bytes = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0x40000000, .l_len = 512};
    bool locked = fcntl(file, F_GETLK, &bytes) == 0 && bytes.l_type != F_UNLCK;
    close(file);
    return locked;
}

/* True if no process has the store open. Otherwise it has a WAL or a journal beside it, or a lock in it. The lock must
 * be tested last: if this process has the store open, there is a WAL, and closing the file here would drop that
 * connection's locks. */
static bool is_still(const char *path)
{
    static const char *const endings[] = {"-wal", "-journal"};
    char name[4096];
    bool quiet = true;
    for (size_t i = 0; i < RUNG_COUNT(endings); i++)
        quiet = quiet && (size_t)snprintf(name, sizeof name, "%s%s", path, endings[i]) < sizeof name &&
                access(name, F_OK) != 0;
    return quiet && !is_locked(path);
}

#define METER_STEP 100000

static int tick(void *context)
{
    rung_store *store = context;
    *store->meter += METER_STEP;
    return *store->meter > store->budget;
}

/* Limits the work of a statement. A query takes a few hundred instructions per row; a damaged or hostile store must not
 * keep us busy forever. */
rung_status lab_store_limit(rung_store *store, uint64_t bytes, rung_error *err)
{
    if (!store->meter) store->meter = rung_calloc(1, sizeof *store->meter, err);
    if (!store->meter) return RUNG_SYSTEM;
    store->budget = UINT64_C(1000000000) + 200 * bytes;
    sqlite3_progress_handler(store->db, METER_STEP, tick, store);
    return RUNG_OK;
}

void lab_store_free_of_limits(rung_store *store)
{
    sqlite3_progress_handler(store->db, 0, NULL, NULL);
    free(store->meter);
    store->meter = NULL;
}

/* Treats the schema of the file as untrusted data: it may not call functions with side effects, and its pages cannot be
 * overwritten. */
static void distrust(sqlite3 *db)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
}

static rung_status connect_by(rung_store *store, rung_store_mode mode, const char *address, rung_error *err)
{
    int flags = mode == RUNG_STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(address, &store->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return store->db ? lab_sql_fail(store, err) : rung_fail(err, RUNG_SYSTEM, "%s: out of memory", store->path);
    distrust(store->db);
    sqlite3_busy_timeout(store->db, (int)(store->wait_s * 1000));
    rung_status status = RUNG_OK;
    if (mode == RUNG_STORE_READ) status = lab_store_limit(store, (uint64_t)store->seen.st_size, err);
    RUNG_TRY(status);
    return prepare(store, mode, err);
}

static rung_status connect_to(rung_store *store, rung_store_mode mode, rung_error *err)
{
    if (stat(store->path, &store->seen) != 0 && mode == RUNG_STORE_READ)
        return rung_fail(err, RUNG_INPUT, "%s does not exist", store->path);
    rung_buf address;
    rung_buf_init(&address);
    store->still = mode == RUNG_STORE_READ && S_ISREG(store->seen.st_mode) && is_still(store->path);
    rung_status status = lab_sql_address(&address, store->path, store->still ? "?immutable=1" : "", err);
    RUNG_NEXT(status, connect_by(store, mode, address.text, err));
    rung_buf_clear(&address);
    return status;
}

rung_status rung_store_open(rung_store **out, const char *path, rung_store_mode mode, double wait_s, rung_error *err)
{
#ifdef RUNG_WITHOUT_SQLITE3
    return rung_fail(err, RUNG_SYSTEM, "%s: " RUNG_WITHOUT_SQLITE3, path);
#endif
    rung_store *store = rung_calloc(1, sizeof *store, err);
    if (!store) return RUNG_SYSTEM;
    store->wait_s = wait_s;
    store->path = strdup(path);
    rung_status status = store->path ? connect_to(store, mode, err) : rung_fail(err, RUNG_SYSTEM, "out of memory");
    if (status != RUNG_OK) {
        rung_store_close(store);
        return status;
    }
    *out = store;
    return RUNG_OK;
}

void rung_store_close(rung_store *store)
{
    if (!store) return;
    sqlite3_close(store->db);
    free(store->meter);
    free(store->path);
    free(store);
}

const char *rung_store_path(const rung_store *store)
{
    return store->path;
}

rung_part rung_part_sqlite(void)
{
    rung_part part = {
        .name = "SQLite", .gives = "stores: sweep, report, export, merge, import, probe", .package = "libsqlite3-dev"};
#ifndef RUNG_WITHOUT_SQLITE3
    part.version = sqlite3_libversion();
#endif
    return part;
}
