/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The shape of a model: its text in the metadata of a file, its checks, and the tensors that it needs. The
 * names of the tensors are written here and nowhere else.
 */
#include "model_internal.h"

#include <string.h>

const char *const rung_positions_names[] = {"none", "learned", "sinusoidal", "rotary", NULL};
const char *const rung_norm_names[] = {"none", "rms", "layer", NULL};
const char *const rung_mlp_names[] = {"none", "relu", "gelu", "swiglu", "table", "gelu_tanh", "geglu_tanh", NULL};

bool rung_mlp_is_gated(rung_mlp kind)
{
    return kind == RUNG_MLP_SWIGLU || kind == RUNG_MLP_GEGLU_TANH;
}

#define SIZE_LIMIT ((size_t)1 << 31)

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static size_t word_index(const char *const *words, const char *word, size_t len)
{
    for (size_t i = 0; words[i]; i++)
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0) return i;
    return SIZE_MAX;
}

static rung_status parse_mlp(rung_mlp *mlp, const char *text, size_t layers, rung_error *err)
{
    size_t count = 0;
    const char *at = text;
    for (;; at++) {
        size_t len = strcspn(at, ","), kind = word_index(rung_mlp_names, at, len);
        if (kind == SIZE_MAX)
            return rung_fail(err, RUNG_USAGE,
                             "mlp '%.*s' is not one of none, relu, gelu, gelu_tanh, swiglu, geglu_tanh, table",
                             (int)len, at);
        if (count < layers) mlp[count] = (rung_mlp)(kind + 1);
        count++;
        at += len;
        if (!*at) break;
    }
    for (size_t i = 1; count == 1 && i < layers; i++) mlp[i] = mlp[0];
    if (count != 1 && count != layers)
        return rung_fail(err, RUNG_USAGE, "mlp lists %zu kinds for %zu layers; give one for all or one per layer",
                         count, layers);
    return RUNG_OK;
}

static rung_status check_sizes(const rung_model_spec *spec, rung_error *err)
{
    const struct {
        const char *name;
        size_t value, low;
    } sizes[] = {
        {"vocab", spec->vocab, 0},           {"d_in", spec->d_in, 0},       {"answers", spec->answers, 1},
        {"max_tokens", spec->max_tokens, 1}, {"d_model", spec->d_model, 1}, {"d_mlp", spec->d_mlp, 0},
        {"heads", spec->heads, 1},           {"dk", spec->dk, 1},           {"dv", spec->dv, 1},
        {"thoughts", spec->thoughts, 0},
    };
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
        if (sizes[i].value < sizes[i].low || sizes[i].value > SIZE_LIMIT)
            return rung_fail(err, RUNG_USAGE, "model: %s = %zu is outside %zu..2^31", sizes[i].name, sizes[i].value,
                             sizes[i].low);
    if (!(spec->norm_epsilon >= 0 && spec->norm_epsilon <= 1)) /* NaN too */
        return rung_fail(err, RUNG_USAGE, "model: norm_epsilon = %g is outside 0..1", spec->norm_epsilon);
    if ((spec->vocab == 0) == (spec->d_in == 0))
        return rung_fail(err, RUNG_USAGE, "model: exactly one of vocab (tokens) and d_in (features) must be above 0");
    if (spec->thoughts && (spec->thoughts >= spec->vocab || spec->thoughts >= spec->answers || !spec->causal))
        return rung_fail(
            err, RUNG_USAGE,
            "model: %zu thoughts need a causal model with more token ids (%zu) and answers (%zu) than that",
            spec->thoughts, spec->vocab, spec->answers);
    return RUNG_OK;
}

static rung_status check_layers(const rung_model_spec *spec, const rung_arch *arch, const rung_mlp *mlp,
                                rung_error *err)
{
    for (size_t i = 0; i < arch->layer_count; i++) {
        if (mlp[i] != RUNG_MLP_NONE && mlp[i] != RUNG_MLP_TABLE && spec->d_mlp == 0)
            return rung_fail(err, RUNG_USAGE, "model: layer %zu has an MLP, so d_mlp must be above 0", i);
        for (size_t g = 0; spec->positions == RUNG_POS_ROTARY && g < arch->layer[i].group_count; g++) {
            size_t dk = arch->layer[i].group[g].dk;
            if (dk != spec->dk || dk % 2)
                return rung_fail(err, RUNG_USAGE,
                                 "model: rotary positions need the same even dk everywhere; layer %zu has dk=%zu and "
                                 "the tables %zu",
                                 i, dk, spec->dk);
        }
    }
    return RUNG_OK;
}

rung_status rung_model_spec_parse(rung_arch *arch, rung_mlp **mlp, const rung_model_spec *spec, rung_arena *arena,
                                  rung_error *err)
{
    rung_arch_defaults defaults = {spec->heads, spec->dk, spec->dv, spec->causal};
    RUNG_TRY(check_sizes(spec, err));
    RUNG_TRY(rung_arch_parse(arch, spec->arch, &defaults, err));
    *mlp = rung_arena_alloc(arena, arch->layer_count, sizeof **mlp, err);
    rung_status status = *mlp ? parse_mlp(*mlp, spec->mlp, arch->layer_count, err) : RUNG_SYSTEM;
    RUNG_NEXT(status, check_layers(spec, arch, *mlp, err));
    if (status != RUNG_OK) rung_arch_clear(arch);
    return status;
}

rung_status rung_model_spec_check(const rung_model_spec *spec, rung_error *err)
{
    rung_arena arena;
    rung_arch arch;
    rung_mlp *mlp;
    rung_arena_init(&arena);
    rung_status status = rung_model_spec_parse(&arch, &mlp, spec, &arena, err);
    if (status == RUNG_OK) rung_arch_clear(&arch);
    rung_arena_clear(&arena);
    return status;
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

double rung_model_norm_epsilon(const rung_model_spec *spec)
{
    return spec->norm_epsilon > 0 ? spec->norm_epsilon : RUNG_NORM_EPSILON;
}

/* A model with the usual epsilon does not state it, so that its file is the same as ever. */
static bool states_epsilon(const rung_model_spec *spec)
{
    return rung_model_norm_epsilon(spec) < RUNG_NORM_EPSILON || rung_model_norm_epsilon(spec) > RUNG_NORM_EPSILON;
}

void rung_model_spec_print(rung_buf *out, const rung_model_spec *spec)
{
    rung_buf_puts(out, "{\"mlp\":");
    rung_buf_json_string(out, spec->mlp);
    rung_buf_printf(
        out,
        ",\"vocab\":%zu,\"d_in\":%zu,\"answers\":%zu,\"max_tokens\":%zu,\"d_model\":%zu,\"d_mlp\":%zu,"
        "\"heads\":%zu,\"dk\":%zu,\"dv\":%zu,\"positions\":\"%s\",\"norm\":\"%s\",\"causal\":%s,\"thoughts\":%zu",
        spec->vocab, spec->d_in, spec->answers, spec->max_tokens, spec->d_model, spec->d_mlp, spec->heads, spec->dk,
        spec->dv, rung_positions_names[spec->positions - 1], rung_norm_names[spec->norm - 1],
        spec->causal ? "true" : "false", spec->thoughts);
    if (states_epsilon(spec)) {
        rung_buf_puts(out, ",\"norm_epsilon\":");
        rung_buf_real(out, spec->norm_epsilon);
    }
    rung_buf_putc(out, '}');
}

static rung_status read_size(size_t *out, const rung_json *object, const char *key, const char *file, rung_error *err)
{
    int64_t number;
    const rung_json *value = rung_json_get(object, key);
    if (!value || !rung_json_int(&number, value) || number < 0 || number > (int64_t)SIZE_LIMIT)
        return rung_fail(err, RUNG_INPUT, "%s: metadata rung.config needs \"%s\", an integer from 0 to 2^31", file,
                         key);
    *out = (size_t)number;
    return RUNG_OK;
}

static rung_status read_choice(size_t *out, const rung_json *object, const char *key, const char *const *words,
                               const char *file, rung_error *err)
{
    const char *word = rung_json_string(rung_json_get(object, key));
    *out = word ? word_index(words, word, strlen(word)) : SIZE_MAX;
    if (*out == SIZE_MAX)
        return rung_fail(err, RUNG_INPUT,
                         "%s: metadata rung.config: \"%s\" is missing or not a known word (such as %s)", file, key,
                         words[0]);
    return RUNG_OK;
}

static rung_status check_keys(const rung_json *config, const char *const *known, size_t count, const char *file,
                              rung_error *err)
{
    for (size_t i = 0; i < rung_json_len(config); i++) {
        const char *key = rung_json_key_at(config, i);
        bool found = false;
        for (size_t k = 0; k < count; k++) found = found || strcmp(key, known[k]) == 0;
        if (found) continue;
        const char *near = rung_nearest_name(key, known, count);
        return rung_fail(err, RUNG_INPUT, "%s: metadata rung.config: unknown key \"%.40s\"%s%s%s", file, key,
                         near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    return RUNG_OK;
}

static rung_status read_epsilon(double *out, const rung_json *config, const char *file, rung_error *err)
{
    const rung_json *value = rung_json_get(config, "norm_epsilon");
    if (!value || (rung_json_real(out, value) && *out > 0 && *out <= 1)) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT,
                     "%s: metadata rung.config: \"norm_epsilon\" is not a number above 0 and at most 1", file);
}

static rung_status read_config(rung_model_spec *spec, const rung_json *config, rung_arena *arena, const char *file,
                               rung_error *err)
{
    const struct {
        const char *key;
        size_t *out;
    } sizes[] = {
        {"vocab", &spec->vocab},           {"d_in", &spec->d_in},       {"answers", &spec->answers},
        {"max_tokens", &spec->max_tokens}, {"d_model", &spec->d_model}, {"d_mlp", &spec->d_mlp},
        {"heads", &spec->heads},           {"dk", &spec->dk},           {"dv", &spec->dv},
    };
    const rung_json *thoughts = rung_json_get(config, "thoughts");
    if (rung_json_kind_of(config) != RUNG_JSON_OBJECT)
        return rung_fail(err, RUNG_INPUT, "%s: metadata rung.config is not a JSON object", file);
    enum { WORDS = 6 };
    const char *known[RUNG_COUNT(sizes) + WORDS] = {"mlp", "positions", "norm", "causal", "thoughts", "norm_epsilon"};
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) known[WORDS + i] = sizes[i].key;
    status = check_keys(config, known, RUNG_COUNT(known), file, err);
    for (size_t i = 0; status == RUNG_OK && i < RUNG_COUNT(sizes); i++)
        status = read_size(sizes[i].out, config, sizes[i].key, file, err);
    if (status == RUNG_OK && thoughts) status = read_size(&spec->thoughts, config, "thoughts", file, err);
    RUNG_NEXT(status, read_epsilon(&spec->norm_epsilon, config, file, err));
    size_t positions = 0, norm = 0;
    RUNG_TRY(status);
    status = read_choice(&positions, config, "positions", rung_positions_names, file, err);
    RUNG_TRY(status);
    status = read_choice(&norm, config, "norm", rung_norm_names, file, err);
    RUNG_TRY(status);
    spec->positions = (rung_positions)(positions + 1), spec->norm = (rung_norm)(norm + 1);
    if (!rung_json_bool(&spec->causal, rung_json_get(config, "causal")))
        return rung_fail(err, RUNG_INPUT, "%s: metadata rung.config needs \"causal\": true or false", file);
    const char *mlp = rung_json_string(rung_json_get(config, "mlp"));
    if (!mlp) return rung_fail(err, RUNG_INPUT, "%s: metadata rung.config needs \"mlp\", a text", file);
    spec->mlp = rung_arena_strdup(arena, mlp, err);
    return spec->mlp ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rung_model_spec_read(rung_model_spec *spec, const rung_safetensors *file, rung_arena *arena,
                                 rung_error *err)
{
    const char *name = rung_safetensors_name(file), *arch = rung_safetensors_meta(file, "rung.arch");
    const char *config = rung_safetensors_meta(file, "rung.config"), *task = rung_safetensors_meta(file, "rung.task");
    const char *format = rung_safetensors_meta(file, "rung.format");
    memset(spec, 0, sizeof *spec);
    if (format && strcmp(format, RUNG_MODEL_FORMAT) != 0)
        return rung_fail(err, RUNG_INPUT, "%s: metadata rung.format is '%.40s', this program reads %s", name, format,
                         RUNG_MODEL_FORMAT);
    if (!format || !arch || !config)
        return rung_fail(
            err, RUNG_INPUT,
            "%s is not a model of ours: its metadata lacks %s ('rung build' makes one; docs/files.md lists "
            "the keys)",
            name,
            !format ? "rung.format"
            : !arch ? "rung.arch"
                    : "rung.config");
    spec->arch = rung_arena_strdup(arena, arch, err);
    spec->task = rung_arena_strdup(arena, task ? task : "", err);
    if (!spec->arch || !spec->task) return RUNG_SYSTEM;
    rung_json_doc *doc;
    rung_status status = rung_json_parse(&doc, config, strlen(config), "metadata rung.config", err);
    if (status != RUNG_OK) return rung_fail_at(err, status, "%s", name);
    status = read_config(spec, rung_json_root(doc), arena, name, err);
    rung_json_free(doc);
    return status;
}
