/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The answers of served models: exchanges with servers, probes, their cells, answers and depths. docs/store.md
 * describes the tables.
 */
#include "store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char lab_probe_schema[] =
    "CREATE TABLE exchanges(number INTEGER PRIMARY KEY, hash TEXT NOT NULL, url TEXT NOT NULL, request TEXT NOT NULL,"
    " http INTEGER, problem TEXT NOT NULL, reply BLOB, attempt INTEGER, seconds REAL, at REAL);"
    "CREATE INDEX exchanges_by_hash ON exchanges(hash);"
    "CREATE TABLE probes(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, canonical TEXT NOT NULL, source TEXT,"
    " model TEXT, server TEXT, task TEXT, added REAL);"
    "CREATE TABLE probe_cells(probe INTEGER REFERENCES probes, place INTEGER, mode TEXT, words TEXT, canonical TEXT,"
    " depth INTEGER, facts INTEGER, chance REAL, majority REAL, asked INTEGER, \"right\" INTEGER, text_right INTEGER, "
    "off INTEGER,"
    " cut INTEGER, mass REAL, prompt_tokens REAL, verdict TEXT, bound TEXT, statement TEXT, ceiling REAL, margin REAL,"
    " PRIMARY KEY(probe, place)) WITHOUT ROWID;"
    "CREATE TABLE probe_answers(probe INTEGER REFERENCES probes, cell INTEGER, item INTEGER, hash TEXT, wanted TEXT,"
    " said TEXT, \"right\" INTEGER, text_right INTEGER, off INTEGER, cut INTEGER, mass REAL,"
    " PRIMARY KEY(probe, cell, item)) WITHOUT ROWID;"
    "CREATE TABLE probe_depths(probe INTEGER REFERENCES probes, words TEXT, facts INTEGER, threshold REAL,"
    " confidence REAL, low INTEGER, high INTEGER, deepest INTEGER, PRIMARY KEY(probe, words)) WITHOUT ROWID;"
    "PRAGMA user_version = 2;";

static bool has_probes(const rung_store *store)
{
    return store->version >= 2;
}

/* ---- exchanges --------------------------------------------------------------------------------------------------- */

void rung_exchange_hash(char hex[65], const char *url, const char *request)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[32];
    rung_sha256 sha;
    rung_sha256_init(&sha);
    rung_sha256_add(&sha, "rung.request/1\n", 15);
    rung_sha256_add(&sha, url, strlen(url));
    rung_sha256_add(&sha, "\n", 1);
    rung_sha256_add(&sha, request, strlen(request));
    rung_sha256_final(&sha, digest);
    for (size_t i = 0; i < 32; i++) hex[2 * i] = digits[digest[i] >> 4], hex[2 * i + 1] = digits[digest[i] & 15];
    hex[64] = '\0';
}

rung_status rung_store_exchange_add(rung_store *store, const rung_exchange *x, rung_error *err)
{
    return lab_sql_do(store, err,
                      "INSERT INTO exchanges(hash, url, request, http, problem, reply, attempt, seconds, at)"
                      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      "sssisbidd", x->hash, x->url, x->request, x->http, x->problem, x->reply, x->size,
                      (int64_t)x->attempt, x->seconds, lab_now());
}

rung_status rung_store_exchange_find(rung_buf *reply, int64_t *http, rung_store *store, const char *hash,
                                     rung_error *err)
{
    sqlite3_stmt *s;
    bool row;
    *http = 0;
    if (!has_probes(store)) return RUNG_OK;
    rung_status status = lab_sql_open(
        &s, store, err, "SELECT http, reply FROM exchanges WHERE hash = ? AND problem = '' ORDER BY number LIMIT 1",
        "s", hash);
    RUNG_NEXT(status, lab_sql_next(&row, &s, store, err));
    if (status != RUNG_OK || !row) return status;
    *http = sqlite3_column_int64(s, 0);
    const void *bytes = sqlite3_column_blob(s, 1);
    rung_buf_add(reply, bytes ? bytes : "", (size_t)sqlite3_column_bytes(s, 1));
    sqlite3_finalize(s);
    return rung_buf_ok(reply, err);
}

rung_status rung_store_exchange_count(size_t *count, rung_store *store, rung_error *err)
{
    int64_t number = 0;
    rung_status status = RUNG_OK;
    if (has_probes(store)) status = lab_sql_int(&number, store, 0, err, "SELECT count(*) FROM exchanges", "");
    *count = (size_t)number;
    return status;
}

/* ---- what may be in them ----------------------------------------------------------------------------------------- */

static rung_status check_probe(const rung_store *store, const rung_probe_row *p, bool canonical_ok, rung_error *err)
{
    const lab_name names[] = {{"source", p->source}, {"model", p->model}, {"server", p->server}, {"task", p->task}};
    RUNG_TRY(lab_check_id(store, "probes", p->number, p->id, err));
    RUNG_TRY(lab_check_object(store, "probes", p->number, "canonical", canonical_ok, err));
    return lab_check_names(store, "probes", p->number, names, RUNG_COUNT(names), err);
}

static rung_status check_cell(const rung_store *store, const rung_probe_cell *c, bool keys_ok, rung_error *err)
{
    const lab_name names[] = {{"mode", c->mode},
                              {"canonical", c->canonical},
                              {"verdict", c->verdict},
                              {"bound", c->bound},
                              {"statement", c->statement}};
    const int64_t place = (int64_t)c->place;
    rung_status status = lab_check_object(store, "probe_cells", place, "words", keys_ok, err);
    RUNG_NEXT(status, lab_check_names(store, "probe_cells", place, names, RUNG_COUNT(names), err));
    if (status != RUNG_OK ||
        (c->right <= c->asked && c->text_right <= c->asked && c->cut <= c->asked && c->off <= c->asked))
        return status;
    return rung_fail(err, RUNG_INPUT, "%s: cell %lld of a probe has more right answers than questions", store->path,
                     (long long)place);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

rung_status rung_store_probe_put(int64_t *number, rung_store *store, const rung_probe_row *row, rung_error *err)
{
    rung_status status = check_probe(store, row, true, err); /* refuse to write what could not be read again */
    RUNG_TRY(status);
    RUNG_TRY(lab_sql_do(store, err,
                        "INSERT OR IGNORE INTO probes(id, canonical, source, model, server, task, added)"
                        " VALUES(?, ?, ?, ?, ?, ?, ?)",
                        "ssssssd", row->id, row->canonical, row->source, row->model, row->server, row->task,
                        lab_now()));
    return lab_sql_int(number, store, 0, err, "SELECT number FROM probes WHERE id = ?", "s", row->id);
}

rung_status rung_store_probe_cell_put(rung_store *store, int64_t probe, const rung_probe_cell *c, rung_error *err)
{
    return lab_sql_do(
        store, err,
        "INSERT OR REPLACE INTO probe_cells VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "iisssiiddiiiiiddsssdd", probe, (int64_t)c->place, c->mode, c->keys, c->canonical, (int64_t)c->depth,
        (int64_t)c->facts, c->chance, c->majority, (int64_t)c->asked, (int64_t)c->right, (int64_t)c->text_right,
        (int64_t)c->off, (int64_t)c->cut, c->mass, c->prompt_tokens, c->verdict, c->bound, c->statement, c->ceiling,
        c->margin);
}

static rung_status put_answer(const rung_store *store, int64_t probe, const rung_probe_answer *a, rung_error *err)
{
    return lab_sql_do(store, err, "INSERT OR REPLACE INTO probe_answers VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      "iiisssiiiid", probe, (int64_t)a->cell, (int64_t)a->index, a->hash, a->wanted, a->said,
                      (int64_t)a->right, (int64_t)a->text_right, (int64_t)a->off, (int64_t)a->cut, a->mass);
}

rung_status rung_store_probe_answers_put(rung_store *store, int64_t probe, const rung_probe_answer *answers,
                                         size_t count, rung_error *err)
{
    rung_status status = lab_sql_begin(store, err);
    RUNG_TRY(status);
    for (size_t i = 0; status == RUNG_OK && i < count; i++) status = put_answer(store, probe, &answers[i], err);
    return lab_sql_end(store, status, err);
}

rung_status rung_store_probe_depth_put(rung_store *store, int64_t probe, const rung_probe_depth *d, rung_error *err)
{
    return lab_sql_do(store, err, "INSERT OR REPLACE INTO probe_depths VALUES(?, ?, ?, ?, ?, ?, ?, ?)", "isiddiii",
                      probe, d->keys, (int64_t)d->facts, d->threshold, d->confidence, (int64_t)d->low, (int64_t)d->high,
                      (int64_t)d->deepest);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Checks a row and passes it to `each`. *more says whether to continue. */
typedef rung_status take_row(bool *more, void *context, void *each, const rung_store *store, sqlite3_stmt *s,
                             rung_error *err);

static rung_status read_rows(rung_store *store, const char *sql, int64_t probe, take_row *take, void *each,
                             void *context, rung_error *err)
{
    sqlite3_stmt *s = NULL;
    bool row = true;
    if (!has_probes(store)) return RUNG_OK;
    rung_status status = probe ? lab_sql_open(&s, store, err, sql, "i", probe) : lab_sql_open(&s, store, err, sql, "");
    while (status == RUNG_OK && row) {
        status = lab_sql_next(&row, &s, store, err);
        if (status == RUNG_OK && row) status = take(&row, context, each, store, s, err);
    }
    sqlite3_finalize(s);
    return status;
}

static rung_status take_probe(bool *more, void *context, void *each, const rung_store *store, sqlite3_stmt *s,
                              rung_error *err)
{
    rung_probe_row row = {
        .number = sqlite3_column_int64(s, 0),
        .id = lab_text_at(s, 1),
        .canonical = lab_text_at(s, 2),
        .source = lab_text_at(s, 3),
        .model = lab_text_at(s, 4),
        .server = lab_text_at(s, 5),
        .task = lab_text_at(s, 6),
        .added = lab_real_at(s, 7),
    };
    rung_status status = check_probe(store, &row, sqlite3_column_int(s, 8), err);
    if (status == RUNG_OK) *more = (*(rung_probe_each **)each)(context, &row);
    return status;
}

static rung_status take_cell(bool *more, void *context, void *each, const rung_store *store, sqlite3_stmt *s,
                             rung_error *err)
{
    rung_probe_cell cell = {
        .place = lab_count_at(s, 0),
        .mode = lab_text_at(s, 1),
        .keys = lab_text_at(s, 2),
        .canonical = lab_text_at(s, 3),
        .depth = lab_count_at(s, 4),
        .facts = lab_count_at(s, 5),
        .chance = lab_real_at(s, 6),
        .asked = lab_count_at(s, 7),
        .right = lab_count_at(s, 8),
        .text_right = lab_count_at(s, 9),
        .off = lab_count_at(s, 10),
        .cut = lab_count_at(s, 11),
        .mass = lab_real_at(s, 12),
        .prompt_tokens = lab_real_at(s, 13),
        .verdict = lab_text_at(s, 14),
        .bound = lab_text_at(s, 15),
        .statement = lab_text_at(s, 16),
        .ceiling = lab_real_at(s, 17),
        .margin = lab_real_at(s, 18),
        .majority = lab_real_at(s, 19),
    };
    rung_status status = check_cell(store, &cell, sqlite3_column_int(s, 20), err);
    if (status == RUNG_OK) *more = (*(rung_probe_cell_each **)each)(context, &cell);
    return status;
}

static rung_status take_answer(bool *more, void *context, void *each, const rung_store *store, sqlite3_stmt *s,
                               rung_error *err)
{
    rung_probe_answer answer = {
        .cell = lab_count_at(s, 0),
        .index = lab_count_at(s, 1),
        .hash = lab_text_at(s, 2),
        .wanted = lab_text_at(s, 3),
        .said = lab_text_at(s, 4),
        .right = sqlite3_column_int(s, 5),
        .text_right = sqlite3_column_int(s, 6),
        .off = sqlite3_column_int(s, 7),
        .cut = sqlite3_column_int(s, 8),
        .mass = lab_real_at(s, 9),
    };
    (void)store, (void)err; /* any answer text is valid */
    *more = (*(rung_probe_answer_each **)each)(context, &answer);
    return RUNG_OK;
}

static rung_status take_depth(bool *more, void *context, void *each, const rung_store *store, sqlite3_stmt *s,
                              rung_error *err)
{
    rung_probe_depth depth = {
        .keys = lab_text_at(s, 0),
        .facts = lab_count_at(s, 1),
        .threshold = lab_real_at(s, 2),
        .confidence = lab_real_at(s, 3),
        .low = lab_count_at(s, 4),
        .high = lab_count_at(s, 5),
        .deepest = lab_count_at(s, 6),
    };
    depth.settled = depth.low == depth.high;
    rung_status status = lab_check_object(store, "probe_depths", 0, "words", sqlite3_column_int(s, 7), err);
    if (status == RUNG_OK) *more = (*(rung_probe_depth_each **)each)(context, &depth);
    return status;
}

rung_status rung_store_probes(rung_store *store, rung_probe_each *each, void *context, rung_error *err)
{
    static const char sql[] = "SELECT number, id, canonical, source, model, server, task, added,"
                              " " LAB_IS_OBJECT("canonical") " FROM probes ORDER BY number";
    return read_rows(store, sql, 0, take_probe, &each, context, err);
}

rung_status rung_store_probe_cells(rung_store *store, int64_t probe, rung_probe_cell_each *each, void *context,
                                   rung_error *err)
{
    static const char sql[] =
        "SELECT place, mode, words, canonical, depth, facts, chance, asked, \"right\", text_right, off, cut, mass,"
        " prompt_tokens, verdict, bound, statement, ceiling, margin, majority, " LAB_IS_OBJECT(
            "words") " FROM probe_cells WHERE probe = ? ORDER "
                     "BY place";
    return read_rows(store, sql, probe, take_cell, &each, context, err);
}

rung_status rung_store_probe_answers(rung_store *store, int64_t probe, rung_probe_answer_each *each, void *context,
                                     rung_error *err)
{
    static const char sql[] = "SELECT cell, item, hash, wanted, said, \"right\", text_right, off, cut, mass"
                              " FROM probe_answers WHERE probe = ? ORDER BY cell, item";
    return read_rows(store, sql, probe, take_answer, &each, context, err);
}

rung_status rung_store_probe_depths(rung_store *store, int64_t probe, rung_probe_depth_each *each, void *context,
                                    rung_error *err)
{
    static const char sql[] = "SELECT words, facts, threshold, confidence, low, high, deepest,"
                              " " LAB_IS_OBJECT("words") " FROM probe_depths"
                                                         " WHERE probe = ? ORDER BY facts, words";
    return read_rows(store, sql, probe, take_depth, &each, context, err);
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* If both stores have a probe, its cells and depths come from the one that asked more questions. */
static const char merge_sql[] =
    "INSERT INTO exchanges(hash, url, request, http, problem, reply, attempt, seconds, at)"
    " SELECT hash, url, request, http, problem, reply, attempt, seconds, at FROM src.exchanges x WHERE NOT EXISTS"
    " (SELECT 1 FROM exchanges e WHERE e.hash = x.hash AND e.at = x.at) ORDER BY x.number;"
    "INSERT OR IGNORE INTO probes(id, canonical, source, model, server, task, added)"
    " SELECT id, canonical, source, model, server, task, added FROM src.probes ORDER BY number;"
    "CREATE TEMP TABLE probe_pairs AS SELECT b.number AS old, a.number AS new,"
    " (SELECT coalesce(sum(asked), 0) FROM src.probe_cells WHERE probe = b.number) >="
    " (SELECT coalesce(sum(asked), 0) FROM probe_cells WHERE probe = a.number) AS further"
    " FROM src.probes b JOIN probes a ON a.id = b.id;"
    "INSERT OR IGNORE INTO probe_answers SELECT p.new, cell, item, hash, wanted, said, \"right\", text_right, off, cut,"
    " mass FROM src.probe_answers x JOIN probe_pairs p ON p.old = x.probe;"
    "INSERT OR REPLACE INTO probe_cells SELECT p.new, place, mode, words, canonical, depth, facts, chance, majority, "
    "asked,"
    " \"right\", text_right, off, cut, mass, prompt_tokens, verdict, bound, statement, ceiling, margin"
    " FROM src.probe_cells x JOIN probe_pairs p ON p.old = x.probe WHERE p.further;"
    "INSERT OR REPLACE INTO probe_depths SELECT p.new, words, facts, threshold, confidence, low, high, deepest"
    " FROM src.probe_depths x JOIN probe_pairs p ON p.old = x.probe WHERE p.further;"
    "DROP TABLE temp.probe_pairs;";

rung_status lab_merge_probes(const rung_store *store, rung_error *err)
{
    int64_t version;
    rung_status status = lab_sql_int(&version, store, 0, err, "PRAGMA src.user_version", "");
    return status == RUNG_OK && version >= 2 ? lab_sql_exec(store, merge_sql, err) : status;
}
