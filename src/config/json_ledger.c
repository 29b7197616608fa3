/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A ledger from a config.json: the text model is found, the layers get their kinds, then their sizes.
 */
#include "reader.h"
#include "state_sizes.h"

/* ---- the object that describes the text model ---- */

static void descend(cfg_reader *r)
{
    static const char nested[] = "text_config llm_config llm_cfg language_config thinker_config lm_config text_cfg";
    while (r->outer_count < NEST_MAX) {
        const rung_json *inner = cfg_find_in(r->config, nested);
        if (rung_json_kind_of(inner) != RUNG_JSON_OBJECT) return;
        memmove(&r->outer[1], &r->outer[0], r->outer_count * sizeof *r->outer);
        r->outer[0] = r->config;
        r->outer_count++;
        r->config = inner;
    }
}

/* If a text model has no type, the type of the object around it is used. */
static const char *type_of(cfg_reader *r)
{
    const rung_json *type = cfg_find(r, "model_type");
    const char *name = rung_json_string(type);
    if (type && !name) cfg_fail(r, "'model_type' must be a text");
    if (!name) return "";
    bool inside = r->outer_count > 0 && !cfg_find_in(r->config, "model_type");
    return inside && strcmp(name, "deepseek_vl_v2") == 0 ? "deepseek_v2" : name;
}

/* Refuses a file that states neither a number of layers, nor a list of them, nor a width: everything would be a default
 * of the class. */
static void refuse_emptiness(cfg_reader *r)
{
    static const char nested[] = "text_config llm_config language_config thinker_config";
    static const char sizes[] =
        "num_hidden_layers n_layer n_layers num_layers num_blocks num_transformer_layers hidden_size d_model n_embd "
        "embedding_dim layer_types layers_block_type hybrid_override_pattern block_configs";
    /* A text model may leave all its sizes to its class, if it is there and says which class that is. */
    static const char told[] = "vocab_size max_position_embeddings rms_norm_eps num_key_value_heads intermediate_size";
    bool named = r->outer_count > 0 && cfg_find_in(r->config, "model_type") && cfg_find_in(r->config, told);
    if (cfg_find_in(r->config, sizes) || named) return;
    if (r->outer_count == 0 && rung_json_kind_of(rung_json_get(r->config, "text_config")) == RUNG_JSON_NULL)
        cfg_fail(r, "'text_config' is null, so nothing is said of the text model");
    else if (r->outer_count == 0 && cfg_is_wrapper(r->type))
        cfg_fail(r, "'%s' holds a text model, and the file has none; looked for: %s", SHOW(r->type), nested);
    else if (r->type[0] && !cfg_has(r, sizes))
        cfg_fail(r, "says nothing of its layers: no num_hidden_layers, no hidden_size; is it cut short?");
    else if (!r->type[0] && !cfg_has(r, sizes) && !cfg_has(r, "dim emb_dim n_embed model_dim num_attention_heads"))
        cfg_fail(r, "describes no model: no model_type and no number of layers; give the config.json of the model");
}

/* Several names of one number. A class keeps one of them, so all that a file has must agree. */
static void refuse_contradiction(cfg_reader *r)
{
    static const char *const names[][5] = {
        {"num_hidden_layers", "n_layer", "n_layers"},
        {"hidden_size", "n_embd", "d_model", "n_embed"},
        {"num_attention_heads", "n_head", "n_heads"},
        {"num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_head_kv"},
        {"max_position_embeddings", "n_positions"},
    };
    double first, second;
    for (size_t i = 0; i < RUNG_COUNT(names); i++)
        for (size_t a = 0; names[i][a]; a++)
            for (size_t b = a + 1; names[i][b]; b++)
                if (rung_json_real(&first, rung_json_get(r->config, names[i][a])) &&
                    rung_json_real(&second, rung_json_get(r->config, names[i][b])) && first != second)
                    cfg_fail(r, "'%s' is %g and '%s' is %g, and they are two names of one number", names[i][a], first,
                             names[i][b], second);
}

static const char *family_name(const cfg_reader *r)
{
    const char *architecture = rung_json_string(rung_json_at(cfg_find(r, "architectures"), 0));
    return r->type[0] ? r->type : architecture ? architecture : "";
}

static char *shown_copy(cfg_reader *r, const char *word)
{
    char *copy = rung_arena_strdup(&r->ledger->arena, SHOW(word), r->err);
    if (!copy) r->status = RUNG_SYSTEM;
    return copy;
}

/* ---- numbers and context ---- */

static int bits_of(const char *dtype)
{
    static const struct {
        const char *name;
        int bits;
    } known[] = {{"float32", 32},      {"float", 32},      {"fp32", 32}, {"bfloat16", 16}, {"bf16", 16},
                 {"float16", 16},      {"half", 16},       {"fp16", 16}, {"float64", 64},  {"double", 64},
                 {"float8_e4m3fn", 8}, {"float8_e5m2", 8}, {"fp8", 8}};
    if (!dtype) return 0;
    if (strncmp(dtype, "torch.", 6) == 0) dtype += 6;
    for (size_t i = 0; i < RUNG_COUNT(known); i++)
        if (strcmp(known[i].name, dtype) == 0) return known[i].bits;
    return 0;
}

static void read_numbers(cfg_reader *r)
{
    rung_ledger *ledger = r->ledger;
    int named = bits_of(cfg_find_text(r, "mamba_ssm_dtype mamba_ssm_cache_dtype inference_state_dtype ssm_state_dtype "
                                         "mamba_cache_dtype"));
    ledger->number_bits = bits_of(cfg_find_text(r, "dtype torch_dtype"));
    ledger->state_bits = named;
    for (size_t i = 0; named == 32 && i < ledger->layer_count; i++)
        ledger->layer[i].fp32_state = ledger->layer[i].recurrent;
    if (named == 0 && r->family->state_bits) {
        ledger->state_bits = r->family->state_bits;
        cfg_note(r, "the published code keeps the recurrent state in %d bits; the file does not say",
                 r->family->state_bits);
    }
}

static void read_context(cfg_reader *r)
{
    r->ledger->context = cfg_size_or(r, CFG_CONTEXT_KEYS, 0);
}

/* ---- layers ---- */

static void read_layer(rung_ledger_layer *held, cfg_reader *r, const cfg_mixer *mixer, size_t i)
{
    unsigned kinds = r->layer[i].kinds;
    r->over = r->layer[i].over;
    cfg_layer_kinds(held, kinds);
    if (held->recurrent) cfg_read_mixer(held, r, mixer, i);
    if (kinds & KIND_ATTENDS) cfg_read_attention(held, r, i);
    if (held->mlp) cfg_layer_name(held, r->layer[i].cross ? "cross" : "mlp");
    r->over = NULL;
}

static bool any_kind(const cfg_reader *r, unsigned kinds)
{
    for (size_t i = 0; i < r->layers; i++)
        if (r->layer[i].kinds & kinds) return true;
    return false;
}

static void read_layers(cfg_reader *r)
{
    rung_ledger *ledger = r->ledger;
    const cfg_mixer *mixer = any_kind(r, KIND_RECURRENT) ? cfg_find_mixer(r) : NULL;
    if (r->status) return;
    ledger->layer = rung_arena_alloc(&ledger->arena, r->layers, sizeof *ledger->layer, r->err);
    if (!ledger->layer) {
        r->status = RUNG_SYSTEM;
        return;
    }
    ledger->layer_count = r->layers;
    for (size_t i = 0; i < r->layers && !r->status; i++) read_layer(&ledger->layer[i], r, mixer, i);
}

/* ---- notes ---- */

static void note_sharing(cfg_reader *r)
{
    size_t shared = 0;
    for (size_t i = 0; i < r->layers; i++) {
        const rung_ledger_layer *held = &r->ledger->layer[i];
        shared += held->heads > 0 && held->kv_per_token == 0 && held->window_elements == 0;
    }
    if (shared) cfg_note(r, "%zu layers use the cache of others", shared);
}

static void note_bounds(cfg_reader *r)
{
    bool latent = false, compressed = false, selected = false;
    for (size_t i = 0; i < r->layers; i++) {
        latent |= r->ledger->layer[i].heads > 0 && cfg_has(r, "kv_lora_rank");
        compressed |= r->layer[i].ratio > 0;
        selected |= r->ledger->layer[i].sparse && cfg_has(r, "sparse_config.dense_len");
    }
    if (latent)
        cfg_note(r, "latent attention: value_dim is the larger of kv_lora_rank and v_head_dim, because servers may "
                    "sum latents or values");
    if (compressed)
        cfg_note(r, "compressing layers: the cache is counted as if nothing were compressed and keys were not also "
                    "values; it is smaller");
    if (selected) cfg_note(r, "attends fully below %zu tokens", (size_t)cfg_size_or(r, "sparse_config.dense_len", 0));
    if (r->ledger->layer_count && rung_ledger_total(r->ledger).all.extra_elements)
        cfg_note(r, "angles and the last key and value of Mamba-3 are counted apart from its state");
}

static void note_defaults(cfg_reader *r)
{
    if (r->defaults.len) cfg_note(r, "defaults of the class of %s: %s", SHOW(r->type), r->defaults.text);
}

/* ---- all of it ---- */

static void read_all(cfg_reader *r)
{
    rung_ledger *ledger = r->ledger;
    r->type = type_of(r);
    r->family = cfg_family_of(r->type);
    ledger->family = shown_copy(r, family_name(r));
    ledger->spelling = shown_copy(r, "");
    if (cfg_flag_or(r, "is_encoder_decoder", false))
        cfg_fail(r, "is an encoder with a decoder ('is_encoder_decoder' is true); only decoders are read");
    refuse_emptiness(r);
    refuse_contradiction(r);
    if (!r->status) read_context(r);
    if (!r->status) cfg_read_kinds(r);
    if (!r->status) cfg_read_overrides(r);
    if (!r->status) read_layers(r);
    if (!r->status) read_numbers(r);
    if (!r->status) cfg_repeat_passes(r);
    if (r->status) return;
    cfg_read_block(r);
    note_sharing(r);
    note_bounds(r);
    note_defaults(r);
    cfg_read_premises(r);
}

rung_status cfg_ledger_from_json(rung_ledger *ledger, const rung_json_doc *doc, const char *name, rung_error *err)
{
    cfg_reader r = {.name = name, .config = rung_json_root(doc), .ledger = ledger, .err = err};
    if (rung_json_kind_of(r.config) != RUNG_JSON_OBJECT)
        return rung_fail(err, RUNG_INPUT, "%s: is JSON, but not a configuration: its root is not an object",
                         SHOW(name));
    rung_status status = cfg_refuse_other_file(r.config, name, err);
    RUNG_TRY(status);
    rung_buf_init(&r.defaults);
    descend(&r);
    read_all(&r);
    rung_buf_clear(&r.defaults);
    return r.status;
}
