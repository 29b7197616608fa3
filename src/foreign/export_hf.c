/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A target as a folder of Hugging Face: config.json, model.safetensors, and a tokenizer whose words are those of the
 * vocabulary, separated by spaces. Names of tensors are those that import reads (families.c).
 */
#include "export_inside.h"
#include "foreign_inside.h"
#include "rung/render.h"

#include <string.h>

enum { PATH_LEN = 4096, TENSORS_OF_LAYER = 18, TENSORS_BESIDE = 6 };

typedef struct folder {
    const target *t;
    const foreign_names *names;
    const char *prefix; /* before all names but that of the read-out */
    bool llama, attention_bias, mlp_bias;
    rung_tensor *tensor;
    size_t count;
    char other[32]; /* the word of the last id */
    rung_arena arena;
    rung_error *err;
} folder;

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

/* cols = 0: a vector. */
static rung_status put(folder *f, const char *pattern, size_t layer, const char *suffix, const float *value,
                       size_t rows, size_t cols)
{
    char name[FOREIGN_NAME_MAX];
    foreign_layer_name(name, f->prefix, pattern, layer, suffix);
    const char *kept = rung_arena_strdup(&f->arena, name, f->err);
    size_t elements = cols ? rows * cols : rows;
    f->tensor[f->count++] = (rung_tensor){.name = kept,
                                          .dtype = RUNG_F32,
                                          .rank = cols ? 2 : 1,
                                          .shape = {rows, cols},
                                          .elements = elements,
                                          .bytes = (const uint8_t *)value,
                                          .size_bytes = elements * sizeof *value};
    return kept ? RUNG_OK : RUNG_SYSTEM;
}

/* gpt2 stores matrices as [in][out]. */
static rung_status put_linear(folder *f, const char *pattern, size_t layer, const target_linear *l, bool bias)
{
    const float *weight = l->weight;
    if (!f->llama) {
        float *turned = rung_arena_alloc(&f->arena, l->rows * l->cols, sizeof *turned, f->err);
        if (!turned) return RUNG_SYSTEM;
        for (size_t r = 0; r < l->rows; r++)
            for (size_t c = 0; c < l->cols; c++) turned[c * l->rows + r] = l->weight[r * l->cols + c];
        weight = turned;
    }
    RUNG_TRY(put(f, pattern, layer, ".weight", weight, f->llama ? l->rows : l->cols, f->llama ? l->cols : l->rows));
    return bias ? put(f, pattern, layer, ".bias", l->bias, l->rows, 0) : RUNG_OK;
}

static rung_status put_norm(folder *f, const char *pattern, size_t layer, const target_norm *norm)
{
    RUNG_TRY(put(f, pattern, layer, ".weight", norm->weight, f->t->d_model, 0));
    return norm->bias ? put(f, pattern, layer, ".bias", norm->bias, f->t->d_model, 0) : RUNG_OK;
}

static rung_status put_attention(folder *f, size_t i, const target_layer *l)
{
    const foreign_names *n = f->names;
    target_linear qkv;
    if (f->llama) {
        RUNG_TRY(put_linear(f, n->q, i, &l->q, f->attention_bias));
        RUNG_TRY(put_linear(f, n->k, i, &l->k, f->attention_bias));
        RUNG_TRY(put_linear(f, n->v, i, &l->v, f->attention_bias));
    } else {
        RUNG_TRY(target_joint(&qkv, l, &f->arena, f->err));
        RUNG_TRY(put_linear(f, n->qkv, i, &qkv, true));
    }
    return put_linear(f, n->out, i, &l->out, f->attention_bias);
}

static rung_status put_layer(folder *f, size_t i)
{
    const target_layer *l = &f->t->layer[i];
    const foreign_names *n = f->names;
    RUNG_TRY(put_norm(f, n->norm1, i, &l->norm1));
    RUNG_TRY(put_attention(f, i, l));
    RUNG_TRY(put_norm(f, n->norm2, i, &l->norm2));
    if (f->llama) RUNG_TRY(put_linear(f, n->gate, i, &l->gate, f->mlp_bias));
    RUNG_TRY(put_linear(f, n->up, i, &l->up, f->mlp_bias));
    return put_linear(f, n->down, i, &l->down, f->mlp_bias);
}

static rung_status put_all(folder *f)
{
    const target *t = f->t;
    const foreign_names *n = f->names;
    f->tensor = rung_arena_alloc(&f->arena, t->layers * TENSORS_OF_LAYER + TENSORS_BESIDE, sizeof *f->tensor, f->err);
    if (!f->tensor) return RUNG_SYSTEM;
    RUNG_TRY(put(f, n->embed, 0, ".weight", t->embed, t->vocab, t->d_model));
    if (t->positions) RUNG_TRY(put(f, n->positions, 0, ".weight", t->positions, t->context, t->d_model));
    for (size_t i = 0; i < t->layers; i++) RUNG_TRY(put_layer(f, i));
    RUNG_TRY(put_norm(f, n->final_norm, 0, &t->final));
    f->prefix = "";
    return put(f, n->readout, 0, ".weight", t->readout.weight, t->vocab, t->d_model);
}

static bool has_bias(const target_linear *l)
{
    for (size_t i = 0; i < l->rows; i++)
        if (l->bias[i] != 0) return true;
    return false;
}

/* llama has biases of a kind in all layers or in none. */
static void choose_biases(folder *f)
{
    f->attention_bias = f->mlp_bias = !f->llama;
    for (size_t i = 0; f->llama && i < f->t->layers; i++) {
        const target_layer *l = &f->t->layer[i];
        f->attention_bias |= has_bias(&l->q) || has_bias(&l->k) || has_bias(&l->v) || has_bias(&l->out);
        f->mlp_bias |= has_bias(&l->gate) || has_bias(&l->up) || has_bias(&l->down);
    }
}

/* ---- config.json ------------------------------------------------------------------------------------------------- */

static void config_llama(rung_jout *out, const folder *f)
{
    const target *t = f->t;
    rung_jout_bool(out, "attention_bias", f->attention_bias);
    rung_jout_int(out, "head_dim", (int64_t)t->dim);
    rung_jout_string(out, "hidden_act", "silu");
    rung_jout_int(out, "hidden_size", (int64_t)t->d_model);
    rung_jout_int(out, "intermediate_size", (int64_t)t->d_mlp);
    rung_jout_int(out, "max_position_embeddings", (int64_t)t->context);
    rung_jout_bool(out, "mlp_bias", f->mlp_bias);
    rung_jout_int(out, "num_attention_heads", (int64_t)t->heads);
    rung_jout_int(out, "num_hidden_layers", (int64_t)t->layers);
    rung_jout_int(out, "num_key_value_heads", (int64_t)t->heads);
    rung_jout_real(out, "rms_norm_eps", t->epsilon);
    rung_jout_real(out, "rope_theta", t->rotary_base);
}

static void config_gpt2(rung_jout *out, const folder *f)
{
    static const char *const dropouts[] = {"attn_pdrop", "embd_pdrop", "resid_pdrop"};
    const target *t = f->t;
    rung_jout_string(out, "activation_function", t->erf ? "gelu" : "gelu_new");
    rung_jout_real(out, "layer_norm_epsilon", t->epsilon);
    rung_jout_int(out, "n_embd", (int64_t)t->d_model);
    rung_jout_int(out, "n_head", (int64_t)t->heads);
    rung_jout_int(out, "n_inner", (int64_t)t->d_mlp);
    rung_jout_int(out, "n_layer", (int64_t)t->layers);
    rung_jout_int(out, "n_positions", (int64_t)t->context);
    for (size_t i = 0; i < RUNG_COUNT(dropouts); i++) rung_jout_real(out, dropouts[i], 0);
}

static void config(rung_buf *text, const folder *f)
{
    rung_jout out;
    rung_jout_begin(&out, text, NULL, true);
    rung_jout_flat_array(&out, "architectures");
    rung_jout_string(&out, NULL, f->llama ? "LlamaForCausalLM" : "GPT2LMHeadModel");
    rung_jout_end(&out);
    rung_jout_string(&out, "model_type", rung_export_family_names[f->t->family]);
    (f->llama ? config_llama : config_gpt2)(&out, f);
    rung_jout_null(&out, "bos_token_id");
    rung_jout_null(&out, "eos_token_id");
    rung_jout_bool(&out, "tie_word_embeddings", false);
    rung_jout_string(&out, "torch_dtype", "float32");
    rung_jout_int(&out, "vocab_size", (int64_t)f->t->vocab);
    rung_jout_finish(&out);
}

/* ---- the tokenizer ----------------------------------------------------------------------------------------------- */

static bool is_word(const target *t, const char *text)
{
    for (size_t i = 0; i < t->vocab; i++)
        if (strcmp(t->word[i], text) == 0) return true;
    return false;
}

static void tokenizer(rung_buf *text, const folder *f)
{
    rung_jout out;
    rung_jout_begin(&out, text, NULL, true);
    rung_jout_string(&out, "version", "1.0");
    rung_jout_flat_array(&out, "added_tokens");
    rung_jout_end(&out);
    rung_jout_object(&out, "pre_tokenizer");
    rung_jout_string(&out, "type", "WhitespaceSplit");
    rung_jout_end(&out);
    rung_jout_object(&out, "model");
    rung_jout_string(&out, "type", "WordLevel");
    rung_jout_string(&out, "unk_token", f->other);
    rung_jout_object(&out, "vocab");
    for (size_t i = 0; i < f->t->vocab; i++)
        rung_jout_int(&out, i + 1 < f->t->vocab ? f->t->word[i] : f->other, (int64_t)i);
    rung_jout_end(&out);
    rung_jout_end(&out);
    rung_jout_finish(&out);
}

static void tokenizer_config(rung_buf *text, const folder *f)
{
    rung_jout out;
    rung_jout_begin(&out, text, NULL, true);
    rung_jout_bool(&out, "clean_up_tokenization_spaces", false);
    rung_jout_int(&out, "model_max_length", (int64_t)f->t->context);
    rung_jout_string(&out, "tokenizer_class", "PreTrainedTokenizerFast");
    rung_jout_string(&out, "unk_token", f->other);
    rung_jout_finish(&out);
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static rung_status write_text(const folder *f, const char *path, const char *name,
                              void (*write)(rung_buf *text, const folder *f))
{
    char full[PATH_LEN];
    rung_buf text;
    rung_buf_init(&text);
    write(&text, f);
    snprintf(full, sizeof full, "%s/%s", path, name);
    rung_status status = rung_buf_ok(&text, f->err);
    RUNG_NEXT(status, rung_file_write(full, text.text, text.len, f->err));
    rung_buf_clear(&text);
    return status;
}

/* The weights come last: a folder that has them is complete. */
static rung_status write_all(folder *f, const char *path)
{
    static const rung_meta meta = {"format", "pt"};
    char weights[PATH_LEN];
    if (strlen(path) + 32 > PATH_LEN) return rung_fail(f->err, RUNG_USAGE, "the name of the folder is too long");
    choose_biases(f);
    RUNG_TRY(put_all(f));
    snprintf(f->other, sizeof f->other, "[other]");
    while (is_word(f->t, f->other) && strlen(f->other) + 1 < sizeof f->other) strcat(f->other, "_");
    RUNG_TRY(rung_directory_make(path, f->err));
    RUNG_TRY(write_text(f, path, "config.json", config));
    RUNG_TRY(write_text(f, path, "tokenizer.json", tokenizer));
    RUNG_TRY(write_text(f, path, "tokenizer_config.json", tokenizer_config));
    snprintf(weights, sizeof weights, "%s/model.safetensors", path);
    return rung_safetensors_write(weights, f->tensor, f->count, &meta, 1, f->err);
}

rung_status export_write_hf(const target *t, const char *path, rung_error *err)
{
    bool llama = t->family == RUNG_EXPORT_LLAMA;
    folder f = {.t = t,
                .names = llama ? &foreign_names_llama : &foreign_names_gpt2,
                .prefix = llama ? "" : "transformer.",
                .llama = llama,
                .err = err};
    rung_arena_init(&f.arena);
    rung_status status = write_all(&f, path);
    rung_arena_clear(&f.arena);
    return status;
}
