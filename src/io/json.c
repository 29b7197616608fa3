/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A read-only view of a JSON document. jansson parses (strictly: duplicate keys, bad UTF-8, nesting beyond
 * 2048 levels and NUL inside strings are refused); a table of nodes beside its tree gives members by position
 * in O(1) and by key in O(log n), with nothing to convert or count when it is used. Nothing is written here.
 */
#include "io_internal.h"

#include <jansson.h>
#include <stdlib.h>

struct rung_json {
    rung_json_kind kind;
    const json_t *value;      /* borrowed from the document's tree */
    const char *key;          /* of a member, else NULL */
    double real;              /* of RUNG_JSON_REAL */
    rung_json *items;         /* of an array or object, in document order */
    const rung_json **by_key; /* of an object: the same members sorted by key */
    size_t len;
};

struct rung_json_doc {
    json_t *tree;
    bool marked; /* parsed from text that went through io_json_mark_words */
    rung_arena arena;
    rung_json root;
};

/* ---- building the node table ---- */

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(const rung_json *const *)a)->key, (*(const rung_json *const *)b)->key);
}

static rung_json_kind kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return RUNG_JSON_OBJECT;
    case JSON_ARRAY:
        return RUNG_JSON_ARRAY;
    case JSON_STRING:
        return RUNG_JSON_STRING;
    case JSON_INTEGER:
        return RUNG_JSON_INT;
    case JSON_REAL:
        return RUNG_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return RUNG_JSON_BOOL;
    default:
        return RUNG_JSON_NULL;
    }
}

static rung_status build_node(rung_json_doc *doc, rung_json *node, const json_t *value, rung_error *err);

static rung_status build_array(rung_json_doc *doc, rung_json *node, rung_error *err)
{
    for (size_t i = 0; i < node->len; i++) {
        RUNG_TRY(build_node(doc, &node->items[i], json_array_get(node->value, i), err));
    }
    return RUNG_OK;
}

static rung_status build_object(rung_json_doc *doc, rung_json *node, rung_error *err)
{
    node->by_key = rung_arena_alloc(&doc->arena, node->len, sizeof(rung_json *), err);
    if (!node->by_key) return RUNG_SYSTEM;
    json_t *object = (json_t *)node->value; /* jansson's iterators are not const, but nothing is changed */
    size_t i = 0;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at), i++) {
        rung_json *member = &node->items[i];
        RUNG_TRY(build_node(doc, member, json_object_iter_value(at), err));
        member->key = json_object_iter_key(at);
        if (doc->marked && io_json_marked_word(&(double){0}, member->key))
            return rung_fail(err, RUNG_INPUT, "a bare Infinity or NaN stands where a key should");
        node->by_key[i] = member;
    }
    qsort(node->by_key, node->len, sizeof(rung_json *), compare_keys);
    return RUNG_OK;
}

/* The depth of the recursion is bounded by jansson's limit of 2048 levels. */
static rung_status build_node(rung_json_doc *doc, rung_json *node, const json_t *value, rung_error *err)
{
    node->value = value;
    node->kind = kind_of(value);
    node->len = json_is_array(value) ? json_array_size(value) : json_object_size(value);
    if (node->kind == RUNG_JSON_REAL) node->real = json_real_value(value);
    if (doc->marked && json_is_string(value) && io_json_marked_word(&node->real, json_string_value(value)))
        node->kind = RUNG_JSON_REAL;
    if (node->len == 0) return RUNG_OK; /* scalars, [] and {} */
    node->items = rung_arena_alloc(&doc->arena, node->len, sizeof *node->items, err);
    if (!node->items) return RUNG_SYSTEM;
    return node->kind == RUNG_JSON_ARRAY ? build_array(doc, node, err) : build_object(doc, node, err);
}

/* ---- opening ---- */

static rung_status refuse_text(const char *text, size_t len, const char *name, const json_error_t *at, rung_error *err)
{
    const char *hint = "", *kind = rung_file_kind(text, len);
    if (at->line <= 1 && at->column <= 16 && kind && strcmp(kind, "JSON") != 0 && strcmp(kind, "text") != 0 && len > 0)
        return rung_fail(err, RUNG_INPUT, "%s: is %s, and JSON was expected", LABEL(name), kind);
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        hint = "; the file starts with a byte order mark, remove it";
    else if (strstr(at->text, "unable to decode byte"))
        hint = "; the text is not UTF-8";
    else if (strstr(at->text, "too big integer"))
        hint = "; integers must fit into 64 bits";
    else if (at->line <= 1 && kind && strcmp(kind, "text") == 0 && !strchr("tfn\"-0123456789", *text))
        hint = "; the file is text, and no JSON";
    else if (strstr(at->text, "Infinity") || strstr(at->text, "NaN"))
        hint = "; JSON has no such number";
    return rung_fail(err, RUNG_INPUT, "%s:%d:%d: %s%s", LABEL(name), at->line, at->column, LABEL(at->text), hint);
}

static rung_status parse(rung_json_doc **out, const char *text, size_t len, bool marked, const char *name,
                         rung_error *err)
{
    json_error_t at;
    *out = NULL;
    json_t *tree = json_loadb(len ? text : "", len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &at);
    if (!tree) return refuse_text(text, len, name, &at, err);
    rung_json_doc *doc = rung_calloc(1, sizeof *doc, err);
    if (!doc) {
        json_decref(tree);
        return RUNG_SYSTEM;
    }
    doc->tree = tree;
    doc->marked = marked;
    rung_arena_init(&doc->arena);
    rung_status status = build_node(doc, &doc->root, tree, err);
    if (status) {
        rung_json_free(doc);
        return rung_fail_at(err, status, "%s", LABEL(name));
    }
    *out = doc;
    return RUNG_OK;
}

rung_status rung_json_parse(rung_json_doc **out, const char *text, size_t len, const char *name, rung_error *err)
{
    return parse(out, text, len, false, name, err);
}

rung_status rung_json_parse_python(rung_json_doc **out, const char *text, size_t len, const char *name, rung_error *err)
{
    rung_buf buf;
    rung_buf_init(&buf);
    if (len == 0) text = "";
    bool marked = io_json_mark_words(&buf, text, len);
    *out = NULL;
    rung_status status = rung_buf_ok(&buf, err);
    if (!status)
        status = marked ? parse(out, buf.text, buf.len, true, name, err) : parse(out, text, len, false, name, err);
    rung_buf_clear(&buf);
    return status;
}

typedef rung_status parse_fn(rung_json_doc **out, const char *text, size_t len, const char *name, rung_error *err);

static rung_status open_with(parse_fn *parse_text, rung_json_doc **out, const char *path, rung_error *err)
{
    rung_file_map map;
    *out = NULL;
    RUNG_TRY(rung_file_open_map(&map, path, err));
    rung_status status = parse_text(out, (const char *)map.bytes, map.size, path, err);
    rung_file_close_map(&map);
    return status;
}

rung_status rung_json_open(rung_json_doc **out, const char *path, rung_error *err)
{
    return open_with(rung_json_parse, out, path, err);
}

rung_status rung_json_open_python(rung_json_doc **out, const char *path, rung_error *err)
{
    return open_with(rung_json_parse_python, out, path, err);
}

void rung_json_free(rung_json_doc *doc)
{
    if (!doc) return;
    rung_arena_clear(&doc->arena);
    json_decref(doc->tree);
    free(doc);
}

/* ---- looking ---- */

const rung_json *rung_json_root(const rung_json_doc *doc)
{
    return &doc->root;
}

rung_json_kind rung_json_kind_of(const rung_json *value)
{
    return value ? value->kind : (rung_json_kind)0;
}

const rung_json *rung_json_get(const rung_json *object, const char *key)
{
    if (!object || object->kind != RUNG_JSON_OBJECT || object->len == 0) return NULL;
    rung_json wanted = {.key = key};
    const rung_json *wanted_at = &wanted;
    const rung_json **found = bsearch(&wanted_at, object->by_key, object->len, sizeof *object->by_key, compare_keys);
    return found ? *found : NULL;
}

size_t rung_json_len(const rung_json *value)
{
    return value ? value->len : 0;
}

static const rung_json *item_at(const rung_json *value, rung_json_kind kind, size_t index)
{
    return value && value->kind == kind && index < value->len ? &value->items[index] : NULL;
}

const rung_json *rung_json_at(const rung_json *array, size_t index)
{
    return item_at(array, RUNG_JSON_ARRAY, index);
}

const rung_json *rung_json_value_at(const rung_json *object, size_t index)
{
    return item_at(object, RUNG_JSON_OBJECT, index);
}

const char *rung_json_key_at(const rung_json *object, size_t index)
{
    const rung_json *member = rung_json_value_at(object, index);
    return member ? member->key : NULL;
}

const char *rung_json_string(const rung_json *value)
{
    return value && value->kind == RUNG_JSON_STRING ? json_string_value(value->value) : NULL;
}

const char *rung_json_scalar_text(char room[RUNG_JSON_SCALAR_TEXT], const rung_json *value)
{
    double real;
    bool flag;
    if (rung_json_bool(&flag, value)) return flag ? "true" : "false";
    if (rung_json_kind_of(value) == RUNG_JSON_INT)
        snprintf(room, RUNG_JSON_SCALAR_TEXT, "%lld", (long long)json_integer_value(value->value));
    else if (rung_json_real(&real, value))
        rung_real_text(room, real);
    else
        return rung_json_string(value);
    return room;
}

bool rung_json_int(int64_t *out, const rung_json *value)
{
    if (!value || value->kind != RUNG_JSON_INT) return false;
    *out = json_integer_value(value->value);
    return true;
}

bool rung_json_real(double *out, const rung_json *value)
{
    if (!value) return false;
    if (value->kind == RUNG_JSON_REAL)
        *out = value->real;
    else if (value->kind == RUNG_JSON_INT)
        *out = (double)json_integer_value(value->value);
    else
        return false;
    return true;
}

bool rung_json_bool(bool *out, const rung_json *value)
{
    if (!value || value->kind != RUNG_JSON_BOOL) return false;
    *out = json_is_true(value->value);
    return true;
}
