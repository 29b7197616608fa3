/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: JSON text, strict and as Python writes it. The whole tree is walked, by position and by key.
 */
#include "fuzz_tensor.h"

#include <string.h>

static void walk(const rung_json *value)
{
    int64_t integer;
    double real;
    bool truth;
    rung_json_kind kind = rung_json_kind_of(value);
    require(rung_json_int(&integer, value) == (kind == RUNG_JSON_INT));
    require(rung_json_real(&real, value) == (kind == RUNG_JSON_INT || kind == RUNG_JSON_REAL));
    require(rung_json_bool(&truth, value) == (kind == RUNG_JSON_BOOL));
    const char *string = rung_json_string(value);
    require((string != NULL) == (kind == RUNG_JSON_STRING));
    if (string) require(strlen(string) < SIZE_MAX);
    for (size_t i = 0; i < rung_json_len(value); i++) {
        if (kind == RUNG_JSON_ARRAY) {
            walk(rung_json_at(value, i));
            continue;
        }
        const rung_json *member = rung_json_value_at(value, i);
        require(rung_json_get(value, rung_json_key_at(value, i)) == member);
        walk(member);
    }
}

/* Returns whether it parsed, after walking and freeing the tree. */
static bool check(rung_status status, rung_json_doc *doc, const rung_error *err)
{
    require((status == RUNG_OK) == (doc != NULL));
    require((status == RUNG_OK) == (err->text[0] == '\0'));
    if (doc) walk(rung_json_root(doc));
    rung_json_free(doc);
    return status == RUNG_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rung_json_doc *doc;
    rung_error err = {{0}}, python_err = {{0}};
    rung_status status = rung_json_parse(&doc, (const char *)data, size, "fuzz", &err);
    bool strict = check(status, doc, &err);
    status = rung_json_parse_python(&doc, (const char *)data, size, "fuzz", &python_err);
    bool python = check(status, doc, &python_err);
    require(!strict || python); /* Python's dialect accepts everything that strict JSON does */
    return 0;
}
