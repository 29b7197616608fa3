/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The architecture language: a recursive-descent parser for the grammar in model.h, and the printer.
 */
#include "rung/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32, WORD_MAX = 64 };

typedef struct parser {
    const char *text, *at;
    const rung_arch_defaults *defaults;
    rung_arch *arch;
    size_t capacity;
    int depth;
    rung_error *err;
} parser;

/* Writes "arch string, column 8: expected ..." with the text and a caret below it. Long texts are shortened. */
static rung_status expected(const parser *p, const char *at, const char *what)
{
    enum { BEFORE = 40, AFTER = 30 };
    size_t column = (size_t)(at - p->text), left = column > BEFORE ? column - BEFORE : 0;
    size_t shown = strlen(p->text + left);
    if (shown > column - left + AFTER) shown = column - left + AFTER;
    return rung_fail(p->err, RUNG_USAGE, "arch string, column %zu: %s\n  %.*s\n  %*s^", column + 1, what, (int)shown,
                     p->text + left, (int)(column - left), "");
}

static void skip_spaces(parser *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
}

static bool accept(parser *p, char c)
{
    skip_spaces(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

static rung_status read_number_from(parser *p, size_t *out, size_t low, size_t high, const char *what)
{
    skip_spaces(p);
    const char *start = p->at;
    size_t value = 0;
    char message[128];
    while (isdigit((unsigned char)*p->at) && value <= high) value = value * 10 + (size_t)(*p->at++ - '0');
    if (p->at == start || value < low || value > high) {
        snprintf(message, sizeof message, "expected %s, a number from %zu to %zu", what, low, high);
        return expected(p, start, message);
    }
    *out = value;
    return RUNG_OK;
}

static rung_status read_number(parser *p, size_t *out, size_t high, const char *what)
{
    return read_number_from(p, out, 1, high, what);
}

/* Reads letters, digits and the given extra characters. A word that is too long is refused, because a truncated word
 * could mean something else. */
static bool read_word(parser *p, char word[WORD_MAX], const char *extra)
{
    size_t len = 0;
    skip_spaces(p);
    while (isalnum((unsigned char)p->at[len]) || (p->at[len] && strchr(extra, p->at[len]))) len++;
    if (len == 0 || len >= WORD_MAX) return false;
    memcpy(word, p->at, len);
    word[len] = 0;
    p->at += len;
    return true;
}

/* Keys that every mechanism accepts: sizes of a head, and what a layer does before and after the mechanism. */
enum {
    COMMON_DK,
    COMMON_DV,
    COMMON_CONV,
    COMMON_GATE,
    COMMON_UNIT,
    COMMON_NEG,
    COMMON_QKNORM,
    COMMON_SCALE,
    COMMON_KV,
    COMMON_OUTGATE,
    COMMON_COUNT
};
static const rung_param common_params[] = {
    [COMMON_DK] = {"dk", RUNG_PARAM_INT, 1, 1, (int64_t)RUNG_DIM_MAX, NULL, "key dimension of a head"},
    [COMMON_DV] = {"dv", RUNG_PARAM_INT, 1, 1, (int64_t)RUNG_DIM_MAX, NULL, "value dimension of a head"},
    [COMMON_CONV] = {"conv", RUNG_PARAM_INT, 0, 0, 64, NULL, "width of a causal convolution over q, k, v, then silu"},
    [COMMON_GATE] = {"gate", RUNG_PARAM_INT, 0, 0, 1, NULL, "1: output of a head, normalised, times silu(W x)"},
    [COMMON_UNIT] = {"unit", RUNG_PARAM_INT, 0, 0, 1, NULL, "1: q and k of a head are scaled to length 1"},
    [COMMON_NEG] = {"neg", RUNG_PARAM_INT, 0, 0, 1, NULL, "1: beta of a delta rule is doubled"},
    [COMMON_QKNORM] = {"qknorm", RUNG_PARAM_INT, 0, 0, 1, NULL,
                       "1: q and k of a head, normalised (rms), times weights"},
    [COMMON_SCALE] = {"scale", RUNG_PARAM_REAL, 0, 0, 65536, NULL, "factor of q, after length 1 and rotation; 0: none"},
    [COMMON_KV] = {"kv", RUNG_PARAM_INT, 0, 0, (int64_t)RUNG_HEADS_MAX, NULL, "heads of keys and values; 0: all heads"},
    [COMMON_OUTGATE] = {"outgate", RUNG_PARAM_INT, 0, 0, 1, NULL, "1: output times sigmoid(W x), without a norm"},
    [COMMON_COUNT] = {0},
};

/* Sets a key of the given table. Messages say where, and a key may be given only once. */
static rung_status set_key(parser *p, rung_value *values, const rung_param *table, const char *owner, const char *key,
                           const char *value, const char *at)
{
    char word[2 * WORD_MAX];
    rung_error inner = {{0}};
    size_t index = rung_param_find(table, key);
    if (index != SIZE_MAX && values[index].set) return expected(p, at, "the key is given twice");
    snprintf(word, sizeof word, "%s=%s", key, value);
    return rung_param_set(values, table, word, owner, &inner) == RUNG_OK ? RUNG_OK : expected(p, at, inner.text);
}

static rung_status read_key(parser *p, rung_mech_conf *conf, rung_value common[COMMON_COUNT])
{
    char key[WORD_MAX], value[WORD_MAX], owner[WORD_MAX];
    skip_spaces(p);
    const char *start = p->at;
    if (!read_word(p, key, "_") || !accept(p, '=')) return expected(p, start, "expected key=value after ':'");
    skip_spaces(p);
    const char *value_at = p->at;
    if (!read_word(p, value, "._-")) return expected(p, value_at, "expected a value of 1 to 63 letters after '='");
    snprintf(owner, sizeof owner, "mechanism %s", conf->mech->name);
    if (rung_param_find(common_params, key) != SIZE_MAX)
        return set_key(p, common, common_params, owner, key, value, value_at);
    return set_key(p, conf->params, conf->mech->params, owner, key, value, start);
}

static void take_common(rung_mech_conf *conf, const rung_value common[COMMON_COUNT], const rung_arch_defaults *defaults)
{
    conf->dk = common[COMMON_DK].set ? (size_t)common[COMMON_DK].number : defaults->dk;
    conf->dv = common[COMMON_DV].set ? (size_t)common[COMMON_DV].number : defaults->dv;
    conf->conv = (size_t)common[COMMON_CONV].number;
    conf->gate = common[COMMON_GATE].number != 0;
    conf->out_gate = common[COMMON_OUTGATE].number != 0;
    conf->unit = common[COMMON_UNIT].number != 0;
    conf->neg = common[COMMON_NEG].number != 0;
    conf->qk_norm = common[COMMON_QKNORM].number != 0;
    conf->scale = common[COMMON_SCALE].real;
    conf->kv_heads = (size_t)common[COMMON_KV].number;
    if (conf->kv_heads == conf->heads) conf->kv_heads = 0;
}

static bool has_input(const rung_mech_conf *conf, const char *name)
{
    for (const rung_mech_input *input = conf->mech->inputs; input->name; input++)
        if (strcmp(input->name, name) == 0) return rung_mech_row(input, conf) > 0;
    return false;
}

static rung_status read_mech(parser *p, rung_mech_conf *conf, bool *has_heads)
{
    char name[WORD_MAX], message[160];
    skip_spaces(p);
    const char *start = p->at;
    if (!read_word(p, name, "-_")) return expected(p, start, "expected a mechanism, a count or '('");
    conf->mech = rung_mech_get(name);
    if (!conf->mech) {
        const char *near = rung_mech_nearest(name);
        snprintf(message, sizeof message, "unknown mechanism '%s'; %s%s%s'rung list mechanisms' names them", name,
                 near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
        return expected(p, start, message);
    }
    conf->causal = p->defaults->causal;
    rung_param_defaults(conf->params, conf->mech->params);
    rung_value common[COMMON_COUNT];
    rung_param_defaults(common, common_params);
    rung_status status = RUNG_OK;
    while (status == RUNG_OK && accept(p, ':')) status = read_key(p, conf, common);
    *has_heads = status == RUNG_OK && accept(p, '@');
    if (*has_heads) status = read_number(p, &conf->heads, RUNG_HEADS_MAX, "heads after '@'");
    RUNG_TRY(status);
    if (!*has_heads) conf->heads = p->defaults->heads;
    take_common(conf, common, p->defaults);
    rung_error inner = {{0}};
    if (rung_mech_check(conf, &inner) != RUNG_OK) return expected(p, start, inner.text);
    bool has_keys = has_input(conf, "q") && has_input(conf, "k");
    if (conf->unit && !has_keys) return expected(p, start, "unit=1 needs a mechanism with q and k");
    if (conf->qk_norm && !has_keys) return expected(p, start, "qknorm=1 needs a mechanism with q and k");
    if (conf->scale > 0 && !has_keys) return expected(p, start, "scale needs a mechanism with q and k");
    if (conf->gate && conf->out_gate) return expected(p, start, "gate=1 and outgate=1 exclude each other");
    if (conf->unit && conf->qk_norm) return expected(p, start, "unit=1 and qknorm=1 exclude each other");
    if (conf->neg && !has_input(conf, "beta")) return expected(p, start, "neg=1 needs a delta rule, which has beta");
    return RUNG_OK;
}

static rung_status read_mix(parser *p, rung_layer *layer)
{
    rung_mech_conf group[RUNG_GROUPS_MAX] = {{0}};
    size_t count = 0;
    bool has_heads = false, all_have_heads = true;
    do {
        skip_spaces(p);
        if (count == RUNG_GROUPS_MAX) return expected(p, p->at, "too many mechanisms in one layer (8)");
        const char *start = p->at;
        RUNG_TRY(read_mech(p, &group[count++], &has_heads));
        all_have_heads = all_have_heads && has_heads;
        if (count > 1 && !all_have_heads)
            return expected(p, start, "a head-wise mix needs '@heads' after every mechanism, as in full@1|linear@1");
    } while (accept(p, '|'));
    rung_mech_conf *kept = rung_arena_alloc(&p->arch->arena, count, sizeof *kept, p->err);
    if (!kept) return RUNG_SYSTEM;
    memcpy(kept, group, count * sizeof *kept);
    *layer = (rung_layer){count, kept};
    return RUNG_OK;
}

static rung_status append(parser *p, const rung_layer *layer, const char *at)
{
    rung_arch *arch = p->arch;
    if (arch->layer_count == RUNG_LAYERS_MAX) return expected(p, at, "more than 65536 layers");
    if (arch->layer_count == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 8;
        rung_layer *grown = realloc(arch->layer, capacity * sizeof *grown);
        if (!grown) return rung_fail(p->err, RUNG_SYSTEM, "out of memory for %zu layers", capacity);
        arch->layer = grown, p->capacity = capacity;
    }
    arch->layer[arch->layer_count++] = *layer;
    return RUNG_OK;
}

static rung_status read_arch(parser *p);

/* Repeats the layers from `first` on until there are `count` copies. */
static rung_status repeat(parser *p, size_t first, size_t count, const char *at)
{
    size_t len = p->arch->layer_count - first;
    rung_status status = RUNG_OK;
    for (size_t copy = 1; status == RUNG_OK && copy < count; copy++)
        for (size_t i = 0; status == RUNG_OK && i < len; i++) {
            rung_layer layer = p->arch->layer[first + i];
            status = append(p, &layer, at);
        }
    return status;
}

/* ---- hybrid(L; a_1, ..., a_L) ------------------------------------------------------------------------------------ */

/* Reads "hybrid(", or nothing. */
static bool accept_hybrid(parser *p)
{
    static const char word[] = "hybrid";
    const char *start = p->at;
    if (strncmp(p->at, word, sizeof word - 1) != 0) return false;
    p->at += sizeof word - 1;
    if (accept(p, '(')) return true;
    p->at = start;
    return false;
}

/* Appends `count` layers of a mechanism without keys. They share their group. */
static rung_status append_plain(parser *p, const char *name, size_t count, const char *at)
{
    parser inner = *p;
    rung_layer layer;
    inner.text = inner.at = name;
    RUNG_TRY(read_mix(&inner, &layer));
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < count; i++) status = append(p, &layer, at);
    return status;
}

static rung_status read_hybrid(parser *p, const char *start)
{
    size_t full = 0, linear = 0;
    RUNG_TRY(read_number(p, &full, RUNG_LAYERS_MAX, "L, the full layers"));
    if (!accept(p, ';')) return expected(p, p->at, "expected ';' after L, as in hybrid(2;1,0)");
    for (size_t k = 0; k < full; k++) {
        if (k && !accept(p, ',')) return expected(p, p->at, "expected ',': a hybrid has one a_k for each full layer");
        RUNG_TRY(read_number_from(p, &linear, 0, RUNG_LAYERS_MAX, "a_k, the linear layers after a full one"));
        RUNG_TRY(append_plain(p, "full", 1, start));
        RUNG_TRY(append_plain(p, "linear", linear, start));
    }
    return accept(p, ')') ? RUNG_OK : expected(p, p->at, "expected ')': a hybrid has one a_k for each full layer");
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

static rung_status read_item(parser *p)
{
    skip_spaces(p);
    const char *start = p->at;
    size_t count = 1, first = p->arch->layer_count;
    rung_status status = RUNG_OK;
    if (isdigit((unsigned char)*p->at)) {
        status = read_number(p, &count, RUNG_LAYERS_MAX, "a count of layers");
        if (status == RUNG_OK && !accept(p, '*')) return expected(p, p->at, "expected '*' after the count");
    }
    RUNG_TRY(status);
    if (accept(p, '(')) {
        if (++p->depth > DEPTH_MAX) return expected(p, start, "parentheses nest deeper than 32");
        status = read_arch(p);
        if (status == RUNG_OK && !accept(p, ')')) return expected(p, p->at, "expected ',' or ')'");
        p->depth--;
    } else if (accept_hybrid(p)) {
        status = read_hybrid(p, start);
    } else {
        rung_layer layer;
        status = read_mix(p, &layer);
        RUNG_NEXT(status, append(p, &layer, start));
    }
    RUNG_TRY(status);
    return repeat(p, first, count, start);
}

static rung_status read_arch(parser *p)
{
    rung_status status;
    do status = read_item(p);
    while (status == RUNG_OK && accept(p, ','));
    return status;
}

rung_status rung_arch_parse(rung_arch *arch, const char *text, const rung_arch_defaults *defaults, rung_error *err)
{
    parser p = {.text = text, .at = text, .defaults = defaults, .arch = arch, .err = err};
    memset(arch, 0, sizeof *arch);
    rung_arena_init(&arch->arena);
    rung_status status = read_arch(&p);
    skip_spaces(&p);
    if (status == RUNG_OK && *p.at) status = expected(&p, p.at, "expected ',' or the end");
    if (status != RUNG_OK) rung_arch_clear(arch);
    return status;
}

void rung_arch_clear(rung_arch *arch)
{
    free(arch->layer);
    rung_arena_clear(&arch->arena);
    memset(arch, 0, sizeof *arch);
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static void print_mech(rung_buf *out, const rung_mech_conf *conf)
{
    rung_buf_puts(out, conf->mech->name);
    if (rung_param_count(conf->mech->params)) {
        rung_buf_putc(out, ':');
        rung_param_print(out, conf->params, conf->mech->params, ":");
    }
    rung_buf_printf(out, ":dk=%zu:dv=%zu", conf->dk, conf->dv);
    if (conf->conv) rung_buf_printf(out, ":conv=%zu", conf->conv);
    if (conf->gate) rung_buf_puts(out, ":gate=1");
    if (conf->out_gate) rung_buf_puts(out, ":outgate=1");
    if (conf->unit) rung_buf_puts(out, ":unit=1");
    if (conf->neg) rung_buf_puts(out, ":neg=1");
    if (conf->qk_norm) rung_buf_puts(out, ":qknorm=1");
    if (conf->scale > 0) {
        rung_buf_puts(out, ":scale=");
        rung_buf_real(out, conf->scale);
    }
    if (conf->kv_heads) rung_buf_printf(out, ":kv=%zu", conf->kv_heads);
    rung_buf_printf(out, "@%zu", conf->heads);
}

static void print_layer(rung_buf *out, const rung_layer *layer)
{
    for (size_t g = 0; g < layer->group_count; g++) {
        if (g) rung_buf_putc(out, '|');
        print_mech(out, &layer->group[g]);
    }
}

void rung_arch_print(rung_buf *out, const rung_arch *arch)
{
    rung_buf here, next;
    rung_buf_init(&here), rung_buf_init(&next);
    for (size_t i = 0; i < arch->layer_count;) {
        size_t run = 1;
        rung_buf_reset(&here);
        print_layer(&here, &arch->layer[i]);
        for (; i + run < arch->layer_count; run++) {
            rung_buf_reset(&next);
            print_layer(&next, &arch->layer[i + run]);
            if (here.len != next.len || memcmp(here.text, next.text, here.len) != 0) break;
        }
        if (i) rung_buf_putc(out, ',');
        if (run > 1) rung_buf_printf(out, "%zu*", run);
        rung_buf_add(out, here.text, here.len);
        i += run;
    }
    out->failed = out->failed || here.failed || next.failed;
    rung_buf_clear(&here), rung_buf_clear(&next);
}
