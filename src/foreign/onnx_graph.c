/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * ONNX files are protocol buffers: a field is a varint of its number and kind, then a varint, 4 bytes, or a length and
 * bytes. Numbers of fields are those of onnx.proto, which ONNX promises not to change.
 */
#include "onnx_graph.h"

#include <string.h>

/* Opset 18 and version 8 of the file format are of 2022: every runtime since then reads them. */
enum { OPSET = 18, IR_VERSION = 8, CONTRIB_VERSION = 1, FILE_MAX = 0x7fffffff };
enum { KIND_VARINT = 0, KIND_BYTES = 2, KIND_FOUR = 5 };
static const char contrib_domain[] = "com.microsoft";

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static void put_varint(rung_buf *out, uint64_t value)
{
    for (; value >= 128; value >>= 7) rung_buf_putc(out, (char)(value | 128));
    rung_buf_putc(out, (char)value);
}

static void put_int(rung_buf *out, unsigned field, int64_t value)
{
    put_varint(out, field << 3 | KIND_VARINT);
    put_varint(out, (uint64_t)value);
}

static void put_head(rung_buf *out, unsigned field, size_t len)
{
    put_varint(out, field << 3 | KIND_BYTES);
    put_varint(out, len);
}

static void put_bytes(rung_buf *out, unsigned field, const void *bytes, size_t len)
{
    put_head(out, field, len);
    rung_buf_add(out, bytes, len);
}

static void put_text(rung_buf *out, unsigned field, const char *text)
{
    put_bytes(out, field, text, strlen(text));
}

static void put_real(rung_buf *out, unsigned field, double value)
{
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_varint(out, field << 3 | KIND_FOUR);
    for (int i = 0; i < 4; i++) rung_buf_putc(out, (char)(bits >> (8 * i)));
}

/* A message as a field of another one; the inner one is cleared. */
static void put_message(rung_buf *out, unsigned field, rung_buf *inner)
{
    out->failed = out->failed || inner->failed;
    if (!inner->failed) put_bytes(out, field, inner->text, inner->len);
    rung_buf_clear(inner);
}

/* ---- the graph --------------------------------------------------------------------------------------------------- */

void onnx_graph_init(onnx_graph *g, rung_error *err)
{
    *g = (onnx_graph){.err = err};
    rung_arena_init(&g->arena);
    rung_buf_init(&g->nodes);
    rung_buf_init(&g->initializers);
    rung_buf_init(&g->inputs);
    rung_buf_init(&g->outputs);
    rung_buf_init(&g->metadata);
}

void onnx_graph_clear(onnx_graph *g)
{
    rung_buf_clear(&g->nodes);
    rung_buf_clear(&g->initializers);
    rung_buf_clear(&g->inputs);
    rung_buf_clear(&g->outputs);
    rung_buf_clear(&g->metadata);
    rung_arena_clear(&g->arena);
}

static onnx_value keep_name(onnx_graph *g, const char *name)
{
    char *kept = rung_arena_strdup(&g->arena, name, g->err);
    if (!kept) g->status = RUNG_SYSTEM;
    return kept ? kept : "";
}

static onnx_value new_name(onnx_graph *g)
{
    char name[32];
    snprintf(name, sizeof name, "v%zu", g->values++);
    return keep_name(g, name);
}

static void put_attribute(rung_buf *node, const onnx_attribute *a)
{
    rung_buf inner;
    rung_buf_init(&inner);
    put_text(&inner, 1, a->name);
    if (a->kind == ONNX_ATTRIBUTE_REAL) put_real(&inner, 2, a->real);
    if (a->kind == ONNX_ATTRIBUTE_INT) put_int(&inner, 3, a->number);
    if (a->kind == ONNX_ATTRIBUTE_TEXT) put_text(&inner, 4, a->text);
    for (size_t i = 0; a->kind == ONNX_ATTRIBUTE_INTS && i < a->count; i++) put_int(&inner, 8, a->numbers[i]);
    put_int(&inner, 20, a->kind);
    put_message(node, 5, &inner);
}

static void put_node(onnx_graph *g, const char *op, const char *domain, const onnx_value *in, const onnx_value *out,
                     const onnx_attribute *attributes)
{
    rung_buf node;
    rung_buf_init(&node);
    for (; *in; in++) put_text(&node, 1, *in);
    for (const onnx_value *o = out; *o; o++) put_text(&node, 2, *o);
    put_text(&node, 3, out[0]);
    put_text(&node, 4, op);
    for (; attributes && attributes->name; attributes++) put_attribute(&node, attributes);
    if (domain) put_text(&node, 7, domain);
    put_message(&g->nodes, 1, &node);
}

onnx_value onnx_node(onnx_graph *g, const char *op, const onnx_value *in, const onnx_attribute *attributes)
{
    onnx_value out = new_name(g);
    put_node(g, op, NULL, in, (const onnx_value[]){out, NULL}, attributes);
    return out;
}

onnx_value onnx_contrib_node(onnx_graph *g, const char *op, const onnx_value *in, const onnx_attribute *attributes)
{
    onnx_value out = new_name(g), second = new_name(g);
    put_node(g, op, contrib_domain, in, (const onnx_value[]){out, second, NULL}, attributes);
    g->contrib = true;
    return out;
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

static onnx_value put_tensor(onnx_graph *g, const char *name, onnx_type type, const size_t *shape, size_t rank,
                             const void *bytes, size_t len)
{
    rung_buf tensor;
    onnx_value kept = name ? keep_name(g, name) : new_name(g);
    rung_buf_init(&tensor);
    for (size_t i = 0; i < rank; i++) put_int(&tensor, 1, (int64_t)shape[i]);
    put_int(&tensor, 2, type);
    put_text(&tensor, 8, kept);
    put_bytes(&tensor, 9, bytes, len);
    put_message(&g->initializers, 5, &tensor);
    return kept;
}

onnx_value onnx_floats(onnx_graph *g, const char *name, const float *value, const size_t *shape, size_t rank)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) count *= shape[i];
    return put_tensor(g, name, ONNX_FLOAT, shape, rank, value, count * sizeof *value);
}

onnx_value onnx_ints(onnx_graph *g, const int64_t *value, size_t count)
{
    return put_tensor(g, NULL, ONNX_INT64, &count, 1, value, count * sizeof *value);
}

onnx_value onnx_bools(onnx_graph *g, const bool *value, size_t count)
{
    return put_tensor(g, NULL, ONNX_BOOL, &count, 1, value, count * sizeof *value);
}

onnx_value onnx_real(onnx_graph *g, double value)
{
    float number = (float)value;
    return put_tensor(g, NULL, ONNX_FLOAT, NULL, 0, &number, sizeof number);
}

onnx_value onnx_int(onnx_graph *g, int64_t value)
{
    return onnx_ints(g, &value, 1);
}

onnx_value onnx_scalar_int(onnx_graph *g, int64_t value)
{
    return put_tensor(g, NULL, ONNX_INT64, NULL, 0, &value, sizeof value);
}

/* ---- inputs and outputs ------------------------------------------------------------------------------------------ */

static void put_value_info(rung_buf *out, unsigned field, const char *name, onnx_type type, const onnx_dim *dims,
                           size_t rank)
{
    rung_buf shape, tensor, kind, info;
    rung_buf_init(&shape);
    rung_buf_init(&tensor);
    rung_buf_init(&kind);
    rung_buf_init(&info);
    for (size_t i = 0; i < rank; i++) {
        rung_buf dim;
        rung_buf_init(&dim);
        if (dims[i].name)
            put_text(&dim, 2, dims[i].name);
        else
            put_int(&dim, 1, (int64_t)dims[i].size);
        put_message(&shape, 1, &dim);
    }
    put_int(&tensor, 1, type);
    put_message(&tensor, 2, &shape);
    put_message(&kind, 1, &tensor);
    put_text(&info, 1, name);
    put_message(&info, 2, &kind);
    put_message(out, field, &info);
}

onnx_value onnx_input(onnx_graph *g, const char *name, onnx_type type, const onnx_dim *dims, size_t rank)
{
    put_value_info(&g->inputs, 11, name, type, dims, rank);
    return keep_name(g, name);
}

void onnx_output(onnx_graph *g, const char *name, onnx_value from, const onnx_dim *dims, size_t rank)
{
    put_node(g, "Identity", NULL, (const onnx_value[]){from, NULL}, (const onnx_value[]){name, NULL}, NULL);
    put_value_info(&g->outputs, 12, name, ONNX_FLOAT, dims, rank);
}

void onnx_metadata(onnx_graph *g, const char *key, const char *text)
{
    rung_buf entry;
    rung_buf_init(&entry);
    put_text(&entry, 1, key);
    put_text(&entry, 2, text);
    put_message(&g->metadata, 14, &entry);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void put_opset(rung_buf *out, const char *domain, int64_t version)
{
    rung_buf inner;
    rung_buf_init(&inner);
    if (domain) put_text(&inner, 1, domain);
    put_int(&inner, 2, version);
    put_message(out, 8, &inner);
}

static rung_status write_parts(const onnx_graph *g, const rung_buf *head, const char *path, rung_error *err)
{
    const rung_buf *const part[] = {head, &g->nodes, &g->initializers, &g->inputs, &g->outputs};
    rung_file_writer file;
    bool failed = false;
    RUNG_TRY(rung_file_begin(&file, path, err));
    for (size_t i = 0; i < RUNG_COUNT(part); i++)
        failed = failed || fwrite(part[i]->text, 1, part[i]->len, file.stream) != part[i]->len;
    if (!failed) return rung_file_commit(&file, err);
    rung_file_abandon(&file);
    return rung_fail(err, RUNG_SYSTEM, "cannot write '%s'; check the free space", path);
}

static rung_status check_parts(const onnx_graph *g, const rung_buf *head, size_t graph, rung_error *err)
{
    RUNG_TRY(g->status);
    RUNG_TRY(rung_buf_ok(&g->nodes, err));
    RUNG_TRY(rung_buf_ok(&g->initializers, err));
    RUNG_TRY(rung_buf_ok(&g->inputs, err));
    RUNG_TRY(rung_buf_ok(&g->outputs, err));
    RUNG_TRY(rung_buf_ok(head, err));
    if (graph + head->len <= FILE_MAX) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT, "an ONNX file has less than 2 GiB, and this one would have %zu bytes",
                     graph + head->len);
}

/* The graph is the last field, so its parts need no copy. */
rung_status onnx_graph_write(const onnx_graph *g, const char *path, rung_error *err)
{
    static const char name[] = "rung";
    size_t graph = g->nodes.len + g->initializers.len + g->inputs.len + g->outputs.len + 2 + strlen(name);
    rung_buf head;
    rung_buf_init(&head);
    put_int(&head, 1, IR_VERSION);
    put_text(&head, 2, name);
    put_opset(&head, NULL, OPSET);
    if (g->contrib) put_opset(&head, contrib_domain, CONTRIB_VERSION);
    rung_buf_add(&head, g->metadata.text, g->metadata.len);
    head.failed = head.failed || g->metadata.failed;
    put_head(&head, 7, graph);
    put_text(&head, 2, name);
    rung_status status = check_parts(g, &head, graph, err);
    RUNG_NEXT(status, write_parts(g, &head, path, err));
    rung_buf_clear(&head);
    return status;
}
