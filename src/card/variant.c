/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The same model with other layers: another ratio, another window, another mechanism, and the two ends, dense and
 * recurrent. Sizes come from the model itself: a new full layer has those of its attention, a new recurrent one has a
 * state as large as the one that it replaces.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "card_inside.h"
#include "rung/mech.h"

typedef rung_ledger_layer held;

enum { PART_MAX = 4096, TOKENS_MAX_DIGITS = 12 };

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* ---- what a layer is --------------------------------------------------------------------------------------------- */

static bool mixes(const held *layer)
{
    return layer->full || layer->recurrent || layer->window || layer->chunk || layer->sparse;
}

/* Keeps every token. A layer with two kinds of heads is none of the two sorts below. */
static bool is_full(const held *layer)
{
    return layer->full && !layer->recurrent && !layer->sparse;
}

/* Holds the same at every length, once its windows are full. */
static bool is_bounded(const held *layer)
{
    return mixes(layer) && !layer->full && !layer->sparse;
}

static bool is_both(const held *layer)
{
    return layer->full && layer->recurrent;
}

static void name_layer(held *layer, const char *mechanism)
{
    snprintf(layer->mechanism, sizeof layer->mechanism, "%s", mechanism);
}

/* The attention of a layer alone, over all tokens. A window becomes as wide as the sequence. */
static held as_full(const held *from)
{
    held layer = {.full = true,
                  .heads = from->heads,
                  .key_dim = from->key_dim,
                  .value_dim = from->value_dim,
                  .kv_per_token = from->kv_per_token};
    if (!layer.kv_per_token && from->window_size) layer.kv_per_token = from->window_elements / from->window_size;
    name_layer(&layer, "full");
    return layer;
}

static held as_window(const held *attention, uint64_t size)
{
    held layer = as_full(attention);
    layer.full = false, layer.window = true;
    layer.window_size = size, layer.window_elements = times(layer.kv_per_token, size), layer.kv_per_token = 0;
    name_layer(&layer, "window");
    return layer;
}

held card_recurrent_part(const held *from)
{
    held layer = *from;
    if (!from->full) return layer;
    char *plus = strrchr(layer.mechanism, '+');
    layer.full = false, layer.kv_per_token = layer.heads = layer.key_dim = layer.value_dim = 0;
    if (plus) *plus = 0;
    return layer;
}

/* ---- what the model has ------------------------------------------------------------------------------------------ */

/* The attention sizes of the model: of its first full layer, else of the full heads of a layer, else of a window. */
static bool find_attention(held *out, const rung_ledger *ledger)
{
    const held *best = NULL;
    int rank = 0;
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const held *layer = &ledger->layer[i];
        int is = is_full(layer) && layer->kv_per_token          ? 3
                 : layer->full && layer->kv_per_token           ? 2
                 : layer->window_elements && layer->window_size ? 1
                                                                : 0;
        if (is > rank) best = layer, rank = is;
    }
    if (!best) return false;
    *out = rank == 3 ? *best : as_full(best);
    return true;
}

/* The layer that is there most often among those that do not grow. */
static bool find_bounded(held *out, const rung_ledger *ledger)
{
    size_t most = 0;
    for (size_t i = 0; i < ledger->layer_count; i++) {
        size_t count = 0;
        if (!is_bounded(&ledger->layer[i])) continue;
        for (size_t j = 0; j < ledger->layer_count; j++)
            count += rung_ledger_layer_same(&ledger->layer[i], &ledger->layer[j]);
        if (count > most) most = count, *out = ledger->layer[i];
    }
    return most > 0;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

typedef struct change {
    const rung_ledger *ledger;
    const char *text;
    held attention, bounded;
    bool has_attention, has_bounded;
    held *layer; /* in and out */
    rung_error *err;
} change;

static rung_status no_attention(const change *c)
{
    return rung_fail(c->err, RUNG_USAGE, "%s: %s has no attention to take sizes from", c->text, c->ledger->name);
}

static rung_status no_bounded(const change *c)
{
    return rung_fail(c->err, RUNG_USAGE, "%s: %s has no layer whose memory does not grow", c->text, c->ledger->name);
}

static rung_status make_dense(change *c)
{
    bool replaces = false;
    for (size_t i = 0; i < c->ledger->layer_count; i++) replaces |= is_bounded(&c->layer[i]) || is_both(&c->layer[i]);
    if (replaces && !c->has_attention) return no_attention(c);
    for (size_t i = 0; i < c->ledger->layer_count; i++)
        if (is_bounded(&c->layer[i]) || is_both(&c->layer[i])) c->layer[i] = c->attention;
    return RUNG_OK;
}

static rung_status make_recurrent(change *c)
{
    for (size_t i = 0; i < c->ledger->layer_count; i++) {
        held *layer = &c->layer[i];
        if (is_both(layer)) {
            *layer = card_recurrent_part(layer);
        } else if (layer->full || layer->sparse) {
            if (!c->has_bounded) return no_bounded(c);
            *layer = c->bounded;
        }
    }
    return RUNG_OK;
}

/* Reads a whole number that ends at `end`. */
static bool read_number(uint64_t *out, const char *text, char end)
{
    char *after;
    if (!isdigit((unsigned char)text[0]) || strlen(text) > 32) return false;
    size_t digits = strspn(text, "0123456789");
    *out = strtoull(text, &after, 10);
    return digits <= TOKENS_MAX_DIGITS && *after == end;
}

static rung_status set_ratio(change *c, const char *value)
{
    uint64_t bounded, full;
    const char *colon = strchr(value, ':');
    if (!colon || !read_number(&bounded, value, ':') || !read_number(&full, colon + 1, 0) || bounded > PART_MAX ||
        full > PART_MAX || bounded + full == 0)
        return rung_fail(c->err, RUNG_USAGE,
                         "%s: write two counts, such as ratio=7:1, seven layers that do not grow to one full one",
                         c->text);
    for (size_t i = 0; i < c->ledger->layer_count; i++)
        if (c->layer[i].sparse || is_both(&c->layer[i]))
            return rung_fail(c->err, RUNG_USAGE, "%s: layer %zu of %s (%s) is neither full nor without a growing cache",
                             c->text, i + 1, c->ledger->name, c->layer[i].mechanism);
    if (full && !c->has_attention) return no_attention(c);
    if (bounded && !c->has_bounded) return no_bounded(c);
    size_t at = 0;
    for (size_t i = 0; i < c->ledger->layer_count; i++) {
        if (!mixes(&c->layer[i])) continue;
        c->layer[i] = at++ % (bounded + full) < bounded ? c->bounded : c->attention;
    }
    return RUNG_OK;
}

static rung_status set_window(change *c, const char *value)
{
    uint64_t size;
    size_t changed = 0;
    if (!read_number(&size, value, 0) || !size)
        return rung_fail(c->err, RUNG_USAGE, "%s: write a number of tokens, such as window=4096", c->text);
    for (size_t i = 0; i < c->ledger->layer_count; i++) {
        held *layer = &c->layer[i];
        if ((!layer->window && !layer->chunk) || !layer->window_size) continue;
        layer->window_elements = times(layer->window_elements / layer->window_size, size), layer->window_size = size;
        changed++;
    }
    return changed ? RUNG_OK : rung_fail(c->err, RUNG_USAGE, "%s: %s has no windows", c->text, c->ledger->name);
}

/* A mechanism with a state, and the elements of its state: "mamba2", "mamba2:1048576". */
static rung_status as_recurrent(held *layer, const change *c, const char *value)
{
    char name[48];
    const char *colon = strchr(value, ':');
    size_t len = colon ? (size_t)(colon - value) : strlen(value);
    uint64_t elements = rung_held_state(layer);
    snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : 0), value);
    const rung_mech *mech = rung_mech_get(name);
    if (!mech || (mech->class_of != RUNG_CLASS_STATE && mech->class_of != RUNG_CLASS_LEVELS))
        return rung_fail(c->err, RUNG_USAGE,
                         "%s: '%s' is no mechanism with a state ('rung list mechanisms'); or write full or window:W",
                         c->text, name);
    if (colon && (!read_number(&elements, colon + 1, 0) || !elements))
        return rung_fail(c->err, RUNG_USAGE, "%s: write the elements of the state of one layer behind the colon",
                         c->text);
    if (!elements)
        return rung_fail(c->err, RUNG_USAGE,
                         "%s: the layers that are replaced have no state; say how many elements the new one has, "
                         "such as %s:524288",
                         c->text, name);
    bool same = elements == layer->state_elements;
    *layer = (held){.recurrent = true,
                    .state_elements = elements,
                    .state_heads = same ? layer->state_heads : 0,
                    .state_key_dim = same ? layer->state_key_dim : 0,
                    .state_value_dim = same ? layer->state_value_dim : 0,
                    .conv_elements = layer->conv_elements,
                    .levels = mech->class_of == RUNG_CLASS_LEVELS};
    name_layer(layer, name);
    return RUNG_OK;
}

static rung_status replace_layer(held *layer, const change *c, const char *value)
{
    uint64_t size;
    bool window = strncmp(value, "window:", 7) == 0;
    if (strcmp(value, "full") != 0 && !window) return as_recurrent(layer, c, value);
    if (!c->has_attention) return no_attention(c);
    if (window && (!read_number(&size, value + 7, 0) || !size))
        return rung_fail(c->err, RUNG_USAGE, "%s: write the tokens of the window, such as window:4096", c->text);
    *layer = window ? as_window(&c->attention, size) : c->attention;
    return RUNG_OK;
}

static rung_status replace_mechanism(change *c, const char *name, const char *value)
{
    size_t changed = 0;
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < c->ledger->layer_count; i++) {
        if (strcmp(rung_held_mechanism(&c->layer[i]), name) != 0 || !mixes(&c->layer[i])) continue;
        status = replace_layer(&c->layer[i], c, value);
        changed++;
    }
    if (status != RUNG_OK || changed) return status;
    rung_buf order;
    rung_buf_init(&order);
    rung_ledger_order(&order, c->ledger);
    rung_fail(c->err, RUNG_USAGE, "%s: no layer of %s is '%s'; its layers are %.200s; or change ratio or window",
              c->text, c->ledger->name, name, order.text ? order.text : "");
    rung_buf_clear(&order);
    return RUNG_USAGE;
}

static rung_status apply(change *c)
{
    char name[64];
    const char *equals = strchr(c->text, '=');
    size_t len = equals ? (size_t)(equals - c->text) : 0;
    if (strcmp(c->text, "dense") == 0) return make_dense(c);
    if (strcmp(c->text, "recurrent") == 0) return make_recurrent(c);
    if (!len || len >= sizeof name || !equals[1])
        return rung_fail(c->err, RUNG_USAGE,
                         "'%s' is no change; write ratio=7:1, window=4096, NAME=OTHER, dense or recurrent", c->text);
    snprintf(name, sizeof name, "%.*s", (int)len, c->text);
    if (strcmp(name, "ratio") == 0) return set_ratio(c, equals + 1);
    if (strcmp(name, "window") == 0 && isdigit((unsigned char)equals[1])) return set_window(c, equals + 1);
    return replace_mechanism(c, name, equals + 1);
}

rung_status rung_card_variant(rung_subject **out, const rung_subject *from, const char *text, rung_error *err)
{
    const rung_ledger *ledger = rung_subject_ledger(from);
    change c = {.ledger = ledger, .text = text, .err = err};
    *out = NULL;
    c.layer = rung_calloc(ledger->layer_count + 1, sizeof *c.layer, err);
    if (!c.layer) return RUNG_SYSTEM;
    for (size_t i = 0; i < ledger->layer_count; i++) c.layer[i] = ledger->layer[i];
    c.has_attention = find_attention(&c.attention, ledger);
    c.has_bounded = find_bounded(&c.bounded, ledger);
    rung_status status = apply(&c);
    RUNG_NEXT(status, rung_subject_replace(out, from, c.layer, ledger->layer_count, err));
    free(c.layer);
    return status;
}
