/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Readers for logs of other harnesses: one record per question, right or wrong by the harness' own score. Pure
 * functions of bytes; a log may contain anything.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rung/io.h"
#include "rung/probe.h"

const char *const rung_log_kind_names[] = {"auto", "lm-eval", "ruler", "inspect", NULL};

typedef struct reading {
    rung_log *log;
    size_t room;
    /* filter of the first record of lm-eval; records of other filters are other readings of the same replies */
    const char *filter;
    const char *name;
    size_t line;
    rung_error *err;
} reading;

static rung_status bad(const reading *r, const char *what)
{
    return rung_fail(r->err, RUNG_INPUT, "%.200s, %s %zu: %s", r->name,
                     r->log->kind == RUNG_LOG_INSPECT ? "sample" : "line", r->line, what);
}

static rung_status keep(const char **out, reading *r, const char *text)
{
    *out = rung_arena_strdup(&r->log->arena, text ? text : "", r->err);
    return *out ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status add_record(reading *r, uint64_t index, const char *wanted, const char *said, bool right)
{
    rung_log *log = r->log;
    if (log->count == r->room) {
        size_t room = r->room ? 2 * r->room : 64, bytes;
        rung_log_record *more = rung_size_mul(&bytes, room, sizeof *more) ? realloc(log->record, bytes) : NULL;
        if (!more) return rung_fail(r->err, RUNG_SYSTEM, "out of memory");
        log->record = more;
        r->room = room;
    }
    rung_log_record record = {.index = index, .right = right};
    rung_status status = keep(&record.wanted, r, wanted);
    RUNG_NEXT(status, keep(&record.said, r, said));
    if (status == RUNG_OK) log->record[log->count++] = record;
    return status;
}

/* A string, or the first string in nested lists. */
static const char *first_text(const rung_json *value)
{
    for (int depth = 0; depth < 4 && rung_json_kind_of(value) == RUNG_JSON_ARRAY; depth++)
        value = rung_json_at(value, 0);
    return rung_json_string(value);
}

/* ---- lm-evaluation-harness --------------------------------------------------------------------------------------- */

static bool score_of(bool *right, const rung_json *record)
{
    static const char *const usual[] = {"exact_match", "acc", "acc_norm", "contains", "score"};
    const rung_json *metrics = rung_json_get(record, "metrics");
    double score;
    bool truth;
    const size_t listed = rung_json_kind_of(metrics) == RUNG_JSON_ARRAY ? rung_json_len(metrics) : 0;
    for (size_t i = 0; i < listed + RUNG_COUNT(usual); i++) {
        const char *key = i < listed ? rung_json_string(rung_json_at(metrics, i)) : usual[i - listed];
        const rung_json *value = key ? rung_json_get(record, key) : NULL;
        if (rung_json_bool(&truth, value)) return *right = truth, true;
        if (rung_json_real(&score, value)) return *right = score > 0.5, true;
    }
    return false;
}

static rung_status read_lm_eval(reading *r, const rung_json *record)
{
    char room[RUNG_JSON_SCALAR_TEXT];
    int64_t id;
    bool right;
    const char *filter = rung_json_string(rung_json_get(record, "filter"));
    const char *target = rung_json_scalar_text(room, rung_json_get(record, "target"));
    if (!rung_json_int(&id, rung_json_get(record, "doc_id")) || id < 0) return bad(r, "no 'doc_id'");
    if (!r->filter) {
        RUNG_TRY(keep(&r->filter, r, filter));
    }
    if (strcmp(r->filter, filter ? filter : "") != 0) {
        r->log->repeated++;
        return RUNG_OK;
    }
    if (!score_of(&right, record)) return bad(r, "none of its metrics is a number");
    const rung_json *said = rung_json_get(record, "filtered_resps");
    return add_record(r, (uint64_t)id, target ? target : first_text(rung_json_get(record, "target")),
                      first_text(said ? said : rung_json_get(record, "resps")), right);
}

/* ---- RULER ------------------------------------------------------------------------------------------------------- */

static bool contains(const char *text, const char *part)
{
    size_t len = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, len) == 0) return true;
    return len == 0;
}

static rung_status read_ruler(reading *r, const rung_json *record)
{
    const rung_json *outputs = rung_json_get(record, "outputs");
    const char *pred = rung_json_string(rung_json_get(record, "pred"));
    int64_t index;
    bool right = rung_json_len(outputs) > 0;
    if (!rung_json_int(&index, rung_json_get(record, "index")) || index < 0) return bad(r, "no 'index'");
    if (rung_json_kind_of(outputs) != RUNG_JSON_ARRAY) return bad(r, "no list 'outputs'");
    if (!pred) return bad(r, "no 'pred': this file has data, not predictions");
    for (size_t i = 0; right && i < rung_json_len(outputs); i++) {
        char room[RUNG_JSON_SCALAR_TEXT];
        const char *wanted = rung_json_scalar_text(room, rung_json_at(outputs, i));
        right = wanted && contains(pred, wanted);
    }
    return add_record(r, (uint64_t)index, first_text(outputs), pred, right);
}

/* ---- inspect ----------------------------------------------------------------------------------------------------- */

static bool value_of(bool *right, const rung_json *value)
{
    double number;
    const char *text = rung_json_string(value);
    if (rung_json_bool(right, value)) return true;
    if (rung_json_real(&number, value)) return *right = number >= 0.5, true;
    if (text) *right = strcmp(text, "C") == 0;
    return text != NULL;
}

static rung_status read_sample(reading *r, const rung_json *sample)
{
    const rung_json *scores = rung_json_get(sample, "scores");
    const rung_json *first =
        rung_json_kind_of(scores) == RUNG_JSON_OBJECT && rung_json_len(scores) ? rung_json_value_at(scores, 0) : NULL;
    int64_t epoch;
    bool right;
    if (rung_json_int(&epoch, rung_json_get(sample, "epoch")) && epoch > 1) {
        r->log->repeated++;
        return RUNG_OK;
    }
    if (!value_of(&right, rung_json_get(first, "value"))) return bad(r, "no score; the log has not been scored");
    const char *said = rung_json_string(rung_json_get(rung_json_get(sample, "output"), "completion"));
    return add_record(r, r->line - 1, first_text(rung_json_get(sample, "target")), said, right);
}

static rung_status read_inspect(reading *r, const rung_json *root)
{
    const rung_json *eval = rung_json_get(root, "eval"), *samples = rung_json_get(root, "samples");
    if (rung_json_kind_of(samples) != RUNG_JSON_ARRAY)
        return rung_fail(r->err, RUNG_INPUT, "%.200s has no list 'samples'", r->name);
    rung_status status = keep(&r->log->model, r, rung_json_string(rung_json_get(eval, "model")));
    RUNG_NEXT(status, keep(&r->log->task, r, rung_json_string(rung_json_get(eval, "task"))));
    for (size_t i = 0; status == RUNG_OK && i < rung_json_len(samples); i++) {
        r->line = i + 1;
        status = read_sample(r, rung_json_at(samples, i));
    }
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static rung_log_kind kind_of(const rung_json *root)
{
    if (rung_json_get(root, "samples") || rung_json_get(root, "eval")) return RUNG_LOG_INSPECT;
    if (rung_json_get(root, "doc_id")) return RUNG_LOG_LM_EVAL;
    if (rung_json_get(root, "outputs") || rung_json_get(root, "pred")) return RUNG_LOG_RULER;
    return RUNG_LOG_AUTO;
}

static rung_status read_document(reading *r, const rung_json *root)
{
    rung_log_kind found = kind_of(root);
    if (r->log->kind == RUNG_LOG_AUTO) r->log->kind = found;
    switch (r->log->kind) {
    case RUNG_LOG_LM_EVAL:
        return read_lm_eval(r, root);
    case RUNG_LOG_RULER:
        return read_ruler(r, root);
    case RUNG_LOG_INSPECT:
        return read_inspect(r, root);
    default:
        return bad(r, "this is neither samples of lm-evaluation-harness nor predictions of RULER nor a log of inspect; "
                      "name the kind with --kind");
    }
}

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isspace((unsigned char)text[i])) return false;
    return true;
}

static rung_status read_text(reading *r, const char *text, size_t len)
{
    rung_json_doc *doc = NULL;
    char name[256];
    snprintf(name, sizeof name, "%.200s, line %zu", r->name, r->line);
    RUNG_TRY(rung_json_parse_python(&doc, text, len, name, r->err));
    rung_status status = read_document(r, rung_json_root(doc));
    rung_json_free(doc);
    return status;
}

static rung_status read_lines(reading *r, const char *text, size_t size)
{
    rung_status status = RUNG_OK;
    for (size_t at = 0; status == RUNG_OK && at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t len = end ? (size_t)(end - text) - at : size - at;
        r->line++;
        if (!is_blank(text + at, len)) status = read_text(r, text + at, len);
        at += len + 1;
    }
    return status;
}

/* A log of inspect is one document over many lines; the others have one document per line. */
static bool is_one_document(const char *text, size_t size)
{
    const char *end = memchr(text, '\n', size);
    rung_json_doc *doc = NULL;
    if (!end || rung_json_parse_python(&doc, text, (size_t)(end - text), "", NULL) != RUNG_OK) return true;
    rung_json_free(doc);
    return is_blank(end, size - (size_t)(end - text));
}

rung_status rung_log_read(rung_log *log, const void *bytes, size_t size, const char *name, rung_log_kind kind,
                          rung_error *err)
{
    *log = (rung_log){.kind = kind, .model = "", .task = ""};
    rung_arena_init(&log->arena);
    reading r = {.log = log, .name = name, .err = err};
    if (size >= 4 && memcmp(bytes, "PK\003\004", 4) == 0)
        return rung_fail(err, RUNG_INPUT,
                         "%.200s is a packed log of inspect; unpack it: inspect log dump FILE > log.json", name);
    rung_status status;
    if (size && is_one_document(bytes, size)) {
        r.line = 1;
        status = read_text(&r, bytes, size);
    } else {
        status = read_lines(&r, bytes, size);
    }
    if (status == RUNG_OK && !log->count) status = rung_fail(err, RUNG_INPUT, "%.200s has no answers", name);
    return status;
}

void rung_log_clear(rung_log *log)
{
    free(log->record);
    log->record = NULL;
    rung_arena_clear(&log->arena);
}
