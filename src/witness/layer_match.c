/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Does an architecture contain the layers of a smaller one? docs/contains.md has the definition, and the proof that the
 * bits are then the same. Layers are matched from the last to the first, each to the latest one that has everything it
 * needs. If any matching in order exists, this finds one. All other layers must be able to be idle.
 */
#include "embed.h"

#include <string.h>

/* ---- one group of heads ------------------------------------------------------------------------------------------ */

static bool same_value(const rung_value *a, const rung_value *b)
{
    if (a->number != b->number || a->real != b->real || a->list_len != b->list_len) return false;
    return memcmp(a->list, b->list, a->list_len * sizeof a->list[0]) == 0;
}

static const char *other_parameter(const rung_mech_conf *small, const rung_mech_conf *large)
{
    for (size_t i = 0; small->mech->params[i].name; i++)
        if (!same_value(&small->params[i], &large->params[i])) return small->mech->params[i].name;
    if (small->unit != large->unit) return "unit";
    if (small->gate != large->gate) return "gate";
    if (small->out_gate != large->out_gate) return "outgate";
    if (small->neg != large->neg) return "neg";
    if (small->qk_norm != large->qk_norm) return "qknorm";
    if (small->kv_heads != large->kv_heads) return "kv";
    if (small->scale < large->scale || small->scale > large->scale) return "scale";
    return NULL;
}

static unsigned pads_of(const rung_mech_conf *conf)
{
    return conf->mech->pads ? conf->mech->pads(conf) : 0;
}

/* True if a size may grow from `has` to `wants`, that is if additional zeros change nothing. */
static bool may_grow(const rung_mech_conf *large, const char *what, size_t has, size_t wants, rung_pads flag,
                     rung_error *err)
{
    if (wants == has) return true;
    if (wants < has) {
        rung_fail(err, RUNG_USAGE, "%s = %zu is below %zu", what, wants, has);
        return false;
    }
    if (pads_of(large) & flag) return true;
    rung_fail(err, RUNG_USAGE, "with %s = %zu instead of %zu, zeros would count in %s", what, wants, has,
              large->mech->name);
    return false;
}

/* A convolution is followed by silu, and no taps undo that: if the small layer has no convolution, the large one must
 * have none. Zero taps before the others change nothing. */
static bool conv_fits(const rung_mech_conf *small, const rung_mech_conf *large, rung_error *err)
{
    if (small->conv == large->conv || (small->conv && large->conv > small->conv)) return true;
    if (small->conv == 0)
        rung_fail(err, RUNG_USAGE, "conv=%zu: silu follows a convolution, and no weights make that the identity",
                  large->conv);
    else
        rung_fail(err, RUNG_USAGE, "conv=%zu is narrower than conv=%zu", large->conv, small->conv);
    return false;
}

static bool group_fits(const rung_mech_conf *small, const rung_mech_conf *large, rung_error *err)
{
    if (small->mech != large->mech) {
        rung_fail(err, RUNG_USAGE, "it is %s", large->mech->name);
        return false;
    }
    const char *other = other_parameter(small, large);
    if (other) {
        rung_fail(err, RUNG_USAGE, "its %s is another", other);
        return false;
    }
    if (small->causal != large->causal) {
        rung_fail(err, RUNG_USAGE, "one has a causal mask and the other has none");
        return false;
    }
    if (small->gate && small->dv != large->dv) {
        rung_fail(err, RUNG_USAGE, "dv = %zu instead of %zu, but the norm of its gate divides by dv", large->dv,
                  small->dv);
        return false;
    }
    if (small->qk_norm && small->dk != large->dk) {
        rung_fail(err, RUNG_USAGE, "dk = %zu instead of %zu, but the norm of its queries and keys divides by dk",
                  large->dk, small->dk);
        return false;
    }
    return conv_fits(small, large, err) && may_grow(large, "heads", small->heads, large->heads, RUNG_PADS_HEADS, err) &&
           may_grow(large, "dk", small->dk, large->dk, RUNG_PADS_KEYS, err) &&
           may_grow(large, "dv", small->dv, large->dv, RUNG_PADS_VALUES, err);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* Matches groups in their order, so that the output projection adds in the same order. */
static bool layer_fits(embed_layer *out, const rung_layer *small, const rung_layer *large, rung_error *err)
{
    size_t next = 0;
    for (size_t g = 0; g < large->group_count; g++) {
        bool fits = next < small->group_count && group_fits(&small->group[next], &large->group[g], err);
        out->group[g] = fits ? next++ : NOBODY;
    }
    return next == small->group_count;
}

static void set_idle(embed_layer *layer)
{
    *layer = (embed_layer){.from = NOBODY, .mlp = NOBODY};
    for (size_t g = 0; g < RUNG_GROUPS_MAX; g++) layer->group[g] = NOBODY;
}

static rung_status check_idle(const embed_layer *layer, const rung_layer *large, size_t index, rung_error *err)
{
    for (size_t g = 0; g < large->group_count; g++)
        if (layer->group[g] == NOBODY && !(pads_of(&large->group[g]) & RUNG_PADS_IDLE))
            return rung_fail(err, RUNG_USAGE, "layer %zu: %s with these parameters cannot be made idle by weights of 0",
                             index, large->group[g].mech->name);
    return RUNG_OK;
}

static rung_status no_match(size_t index, const rung_arch *small, const rung_error *why, rung_error *err)
{
    return rung_fail(err, RUNG_USAGE, "no layer is left for layer %zu (%s) of the construction%s%s", index,
                     small->layer[index].group[0].mech->name,
                     why->text[0] ? "; for the last layer that was tried: " : "", why->text);
}

rung_status embed_match(embed_layer *layer, const rung_arch *small, const rung_arch *large, rung_error *err)
{
    size_t left = small->layer_count;
    rung_error why = {{0}}, nearest = {{0}};
    for (size_t i = large->layer_count; i-- > 0;) {
        set_idle(&layer[i]);
        if (left == 0) continue;
        embed_layer found = layer[i];
        bool fits = layer_fits(&found, &small->layer[left - 1], &large->layer[i], &why);
        if (fits)
            layer[i] = found, layer[i].from = layer[i].mlp = --left, nearest.text[0] = '\0';
        else if (!nearest.text[0] || large->layer[i].group[0].mech == small->layer[left - 1].group[0].mech)
            nearest = why;
    }
    if (left) return no_match(left - 1, small, &nearest, err);
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < large->layer_count; i++)
        status = check_idle(&layer[i], &large->layer[i], i, err);
    return status;
}
