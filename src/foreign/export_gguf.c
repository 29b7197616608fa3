/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A target as a GGUF file of version 3: keys, tensor infos, tensors in F32. The tokenizer takes the longest word that
 * the text goes on with; every word begins with a space, and the last id is a space alone. llama.cpp never ends if text
 * begins like a word and no id fits, so this id is needed.
 */
#include "export_inside.h"

#include <string.h>

enum { ALIGNMENT = 32, TYPE_F32 = 0, NAME_MAX_LEN = 64 };
enum { KEY_U32 = 4, KEY_I32 = 5, KEY_F32 = 6, KEY_BOOL = 7, KEY_STRING = 8, KEY_ARRAY = 9 };

typedef struct gguf_out {
    const target *t;
    const char *arch;
    rung_buf keys, infos;
    uint64_t key_count, tensor_count, offset;
    rung_file_writer file;
    bool writing; /* the tensors, after the infos have been collected */
    bool failed;  /* a write */
} gguf_out;

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static void add_number(rung_buf *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) rung_buf_putc(out, (char)(value >> (8 * i)));
}

static void add_text(rung_buf *out, const char *text)
{
    add_number(out, strlen(text), 8);
    rung_buf_puts(out, text);
}

static void begin_key(gguf_out *g, const char *key, uint32_t type)
{
    char full[NAME_MAX_LEN];
    bool own = *key == '.';
    snprintf(full, sizeof full, "%s%s", own ? g->arch : "", key);
    add_text(&g->keys, full);
    add_number(&g->keys, type, 4);
    g->key_count++;
}

static void key_text(gguf_out *g, const char *key, const char *text)
{
    begin_key(g, key, KEY_STRING);
    add_text(&g->keys, text);
}

static void key_size(gguf_out *g, const char *key, size_t value)
{
    begin_key(g, key, KEY_U32);
    add_number(&g->keys, value, 4);
}

static void key_real(gguf_out *g, const char *key, double value)
{
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    begin_key(g, key, KEY_F32);
    add_number(&g->keys, bits, 4);
}

static void begin_array(gguf_out *g, const char *key, uint32_t type, size_t count)
{
    begin_key(g, key, KEY_ARRAY);
    add_number(&g->keys, type, 4);
    add_number(&g->keys, count, 8);
}

/* The text of a word as this tokenizer stores it: a literal of Python. */
static void add_word(rung_buf *out, const char *word)
{
    rung_buf literal;
    rung_buf_init(&literal);
    rung_buf_puts(&literal, " ");
    for (; *word; word++) {
        if (*word == '\\' || *word == '\'') rung_buf_putc(&literal, '\\');
        rung_buf_putc(&literal, *word);
    }
    out->failed = out->failed || literal.failed;
    if (literal.text) add_text(out, literal.text);
    rung_buf_clear(&literal);
}

static void add_tokenizer(gguf_out *g)
{
    key_text(g, "tokenizer.ggml.model", "rwkv");
    begin_array(g, "tokenizer.ggml.tokens", KEY_STRING, g->t->vocab);
    for (size_t i = 0; i < g->t->vocab; i++) add_word(&g->keys, g->t->word[i]);
    key_size(g, "tokenizer.ggml.unknown_token_id", g->t->vocab - 1);
}

static void add_keys(gguf_out *g, const rung_model *model)
{
    const target *t = g->t;
    const rung_model_spec *spec = rung_model_get_spec(model);
    bool llama = t->family == RUNG_EXPORT_LLAMA;
    key_text(g, "general.architecture", g->arch);
    key_text(g, "general.name", spec->task && *spec->task ? spec->task : spec->arch);
    if (rung_model_made_by(model)) key_text(g, "general.description", rung_model_made_by(model));
    key_size(g, "general.file_type", 0); /* all F32 */
    key_size(g, ".context_length", t->context);
    key_size(g, ".embedding_length", t->d_model);
    key_size(g, ".block_count", t->layers);
    key_size(g, ".feed_forward_length", t->d_mlp);
    key_size(g, ".attention.head_count", t->heads);
    key_real(g, llama ? ".attention.layer_norm_rms_epsilon" : ".attention.layer_norm_epsilon", t->epsilon);
    if (llama) {
        key_size(g, ".attention.key_length", t->dim);
        key_size(g, ".attention.value_length", t->dim);
        key_size(g, ".rope.dimension_count", t->dim);
        key_real(g, ".rope.freq_base", t->rotary_base);
    }
    add_tokenizer(g);
}

/* ---- tensors: one pass for the infos, one for the values --------------------------------------------------------- */

static void write_values(gguf_out *g, const float *value, size_t count)
{
    static const char zeros[ALIGNMENT] = {0};
    size_t bytes = count * sizeof *value, rest = (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
    g->failed = g->failed || fwrite(value, sizeof *value, count, g->file.stream) != count ||
                fwrite(zeros, 1, rest, g->file.stream) != rest;
}

/* cols = 0: a vector. */
static void tensor(gguf_out *g, const char *name, const float *value, size_t rows, size_t cols)
{
    size_t count = cols ? rows * cols : rows, bytes = count * sizeof *value;
    if (g->writing) {
        write_values(g, value, count);
        return;
    }
    add_text(&g->infos, name);
    add_number(&g->infos, cols ? 2 : 1, 4);
    if (cols) add_number(&g->infos, cols, 8); /* the fastest dimension comes first */
    add_number(&g->infos, rows, 8);
    add_number(&g->infos, TYPE_F32, 4);
    add_number(&g->infos, g->offset, 8);
    g->offset += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    g->tensor_count++;
}

static bool is_zero(const float *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (value[i] != 0) return false;
    return true;
}

/* gpt2 always has biases, llama where they are not zero. */
static void layer_linear(gguf_out *g, size_t layer, const char *what, const target_linear *l)
{
    char name[NAME_MAX_LEN];
    snprintf(name, sizeof name, "blk.%zu.%s.weight", layer, what);
    tensor(g, name, l->weight, l->rows, l->cols);
    snprintf(name, sizeof name, "blk.%zu.%s.bias", layer, what);
    if (g->t->family == RUNG_EXPORT_GPT2 || !is_zero(l->bias, l->rows)) tensor(g, name, l->bias, l->rows, 0);
}

static void norm(gguf_out *g, const char *prefix, const target_norm *n)
{
    char name[NAME_MAX_LEN];
    snprintf(name, sizeof name, "%s.weight", prefix);
    tensor(g, name, n->weight, g->t->d_model, 0);
    snprintf(name, sizeof name, "%s.bias", prefix);
    if (n->bias) tensor(g, name, n->bias, g->t->d_model, 0);
}

static void layer_norm(gguf_out *g, size_t layer, const char *what, const target_norm *n)
{
    char name[NAME_MAX_LEN];
    snprintf(name, sizeof name, "blk.%zu.%s", layer, what);
    norm(g, name, n);
}

/* Rows of halves as rows of neighbours: llama files rotate (2i, 2i+1). */
static rung_status neighbours(target_linear *to, const target_linear *from, const target *t, rung_arena *arena,
                              rung_error *err)
{
    *to = *from;
    to->weight = rung_arena_alloc(arena, from->rows * from->cols, sizeof(float), err);
    to->bias = rung_arena_alloc(arena, from->rows, sizeof(float), err);
    if (!to->weight || !to->bias) return RUNG_SYSTEM;
    for (size_t row = 0; row < from->rows; row++) {
        size_t head = row / t->dim, c = row % t->dim, source = head * t->dim + c / 2 + c % 2 * (t->dim / 2);
        memcpy(to->weight + row * to->cols, from->weight + source * from->cols, from->cols * sizeof(float));
        to->bias[row] = from->bias[source];
    }
    return RUNG_OK;
}

static rung_status attention(gguf_out *g, size_t layer, const target_layer *l, rung_arena *arena, rung_error *err)
{
    target_linear q, k, qkv;
    if (g->t->family == RUNG_EXPORT_GPT2) {
        RUNG_TRY(target_joint(&qkv, l, arena, err));
        layer_linear(g, layer, "attn_qkv", &qkv);
    } else {
        RUNG_TRY(neighbours(&q, &l->q, g->t, arena, err));
        RUNG_TRY(neighbours(&k, &l->k, g->t, arena, err));
        layer_linear(g, layer, "attn_q", &q);
        layer_linear(g, layer, "attn_k", &k);
        layer_linear(g, layer, "attn_v", &l->v);
    }
    layer_linear(g, layer, "attn_output", &l->out);
    return RUNG_OK;
}

static rung_status one_layer(gguf_out *g, size_t layer, rung_error *err)
{
    const target_layer *l = &g->t->layer[layer];
    rung_arena arena;
    rung_arena_init(&arena);
    layer_norm(g, layer, "attn_norm", &l->norm1);
    rung_status status = attention(g, layer, l, &arena, err);
    rung_arena_clear(&arena);
    RUNG_TRY(status);
    layer_norm(g, layer, "ffn_norm", &l->norm2);
    if (l->gate.weight) layer_linear(g, layer, "ffn_gate", &l->gate);
    layer_linear(g, layer, "ffn_up", &l->up);
    layer_linear(g, layer, "ffn_down", &l->down);
    return RUNG_OK;
}

static rung_status tensors(gguf_out *g, rung_error *err)
{
    const target *t = g->t;
    tensor(g, "token_embd.weight", t->embed, t->vocab, t->d_model);
    if (t->positions) tensor(g, "position_embd.weight", t->positions, t->context, t->d_model);
    for (size_t i = 0; i < t->layers; i++) RUNG_TRY(one_layer(g, i, err));
    norm(g, "output_norm", &t->final);
    tensor(g, "output.weight", t->readout.weight, t->vocab, t->d_model);
    return RUNG_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void write_buf(gguf_out *g, const rung_buf *buf)
{
    g->failed = g->failed || fwrite(buf->text, 1, buf->len, g->file.stream) != buf->len;
}

static rung_status write_all(gguf_out *g, rung_error *err)
{
    rung_buf head;
    rung_buf_init(&head);
    rung_buf_puts(&head, "GGUF");
    add_number(&head, 3, 4);
    add_number(&head, g->tensor_count, 8);
    add_number(&head, g->key_count, 8);
    rung_buf_add(&head, g->keys.text, g->keys.len);
    rung_buf_add(&head, g->infos.text, g->infos.len);
    while (head.len % ALIGNMENT && !head.failed) rung_buf_putc(&head, 0);
    rung_status status = rung_buf_ok(&head, err);
    if (status == RUNG_OK) write_buf(g, &head);
    rung_buf_clear(&head);
    RUNG_TRY(status);
    g->writing = true;
    return tensors(g, err);
}

static rung_status write_file(gguf_out *g, const char *path, rung_error *err)
{
    RUNG_TRY(tensors(g, err));
    RUNG_TRY(rung_buf_ok(&g->keys, err));
    RUNG_TRY(rung_buf_ok(&g->infos, err));
    RUNG_TRY(rung_file_begin(&g->file, path, err));
    rung_status status = write_all(g, err);
    if (status == RUNG_OK && g->failed)
        status = rung_fail(err, RUNG_SYSTEM, "cannot write '%s'; check the free space", path);
    if (status == RUNG_OK) return rung_file_commit(&g->file, err);
    rung_file_abandon(&g->file);
    return status;
}

rung_status export_write_gguf(const target *t, const rung_model *model, const char *path, rung_error *err)
{
    gguf_out g = {.t = t, .arch = rung_export_family_names[t->family]};
    if (t->erf)
        return rung_fail(err, RUNG_INPUT,
                         "an MLP of gelu has no place in gpt2 of GGUF, which computes an approximation (gelu_tanh)");
    rung_buf_init(&g.keys);
    rung_buf_init(&g.infos);
    add_keys(&g, model);
    rung_status status = write_file(&g, path, err);
    rung_buf_clear(&g.keys);
    rung_buf_clear(&g.infos);
    return status;
}
