/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The blocks around the attention of a published model: norms, residual stream, rotary positions. A family is in the
 * list when its published code was read and does what RUNG_BLOCK_STREAM says; a file that brings its own code or its
 * own weights format says nothing about that code.
 */
#include "reader.h"

#include <math.h>

/* Families with pre-norm blocks, RMSNorm with a weight, and biases at most on projections. Queries and keys are rotated
 * and not changed otherwise. */
static const struct {
    const char *type, *model; /* model_type, architectures[0] */
} plain[] = {
    {"llama", "LlamaForCausalLM"},     {"mistral", "MistralForCausalLM"}, {"qwen2", "Qwen2ForCausalLM"},
    {"mixtral", "MixtralForCausalLM"}, {"phi3", "Phi3ForCausalLM"},
};

/* Largest epsilon in a norm for which the witness is valid. */
#define EPSILON_MAX 1e-5

static void set(cfg_reader *r, rung_block_fact fact, rung_fact is, const char *why)
{
    r->ledger->block.known[fact] = (rung_known){is, why};
}

static bool real_in(double *out, const cfg_reader *r, const char *keys)
{
    const rung_json *found = cfg_find_in(r->config, keys);
    return found && rung_json_real(out, found) && isfinite(*out);
}

static bool is_plain(const cfg_reader *r)
{
    const char *model = rung_json_string(rung_json_at(cfg_find(r, "architectures"), 0));
    for (size_t i = 0; i < RUNG_COUNT(plain); i++)
        if (strcmp(plain[i].type, r->type) == 0) return model && strcmp(plain[i].model, model) == 0;
    return false;
}

static void read_stream(cfg_reader *r)
{
    double epsilon = EPSILON_MAX;
    if (!is_plain(r))
        set(r, RUNG_BLOCK_STREAM, RUNG_NOT_ESTABLISHED,
            "norms and residual stream are known of llama, mistral, mixtral, phi3 and qwen2, by model_type and "
            "architectures");
    else if (cfg_has(r, "auto_map"))
        set(r, RUNG_BLOCK_STREAM, RUNG_NOT_ESTABLISHED, "the file brings code of its own (auto_map)");
    else if (cfg_has(r, "quantization_config"))
        set(r, RUNG_BLOCK_STREAM, RUNG_NOT_ESTABLISHED, "the weights are quantized");
    else if (real_in(&epsilon, r, "rms_norm_eps") && !(epsilon >= 0 && epsilon <= EPSILON_MAX))
        set(r, RUNG_BLOCK_STREAM, RUNG_NOT_ESTABLISHED, "rms_norm_eps is above 1e-5");
    else
        set(r, RUNG_BLOCK_STREAM, RUNG_ESTABLISHED, "the published code of the family");
}

/* The rescaling of Llama 3.1 does not change angles whose wavelength is below the old context / high_freq_factor. */
static bool read_rescaling(rung_block *b, const cfg_reader *r)
{
    const char *type = cfg_find_text(r, "rope_scaling.rope_type rope_scaling.type rope_parameters.rope_type");
    double old, high;
    b->wave = INFINITY;
    if (!type) return !cfg_has(r, "rope_scaling");
    if (strcmp(type, "default") == 0) return true;
    if (strcmp(type, "llama3") != 0) return false;
    if (!real_in(&old, r,
                 "rope_scaling.original_max_position_embeddings rope_parameters.original_max_position_embeddings") ||
        !real_in(&high, r, "rope_scaling.high_freq_factor rope_parameters.high_freq_factor") || !(high > 0))
        return false;
    b->wave = old / high;
    return true;
}

static void read_rotary(cfg_reader *r)
{
    rung_block *b = &r->ledger->block;
    b->partial = 1;
    if (!is_plain(r))
        set(r, RUNG_BLOCK_ROTARY, RUNG_NOT_ESTABLISHED, "the positions of this family were not read");
    else if (!real_in(&b->rope_theta, r, "rope_theta rope_parameters.rope_theta") || !(b->rope_theta > 1))
        set(r, RUNG_BLOCK_ROTARY, RUNG_NOT_ESTABLISHED, "the file has no rope_theta");
    else if (!read_rescaling(b, r))
        set(r, RUNG_BLOCK_ROTARY, RUNG_NOT_ESTABLISHED, "the angles of the positions are rescaled (rope_scaling)");
    else if (real_in(&b->partial, r, "partial_rotary_factor rope_parameters.partial_rotary_factor") &&
             !(b->partial > 0 && b->partial <= 1))
        set(r, RUNG_BLOCK_ROTARY, RUNG_NOT_ESTABLISHED, "partial_rotary_factor is not in (0, 1]");
    else
        set(r, RUNG_BLOCK_ROTARY, RUNG_ESTABLISHED, "rope_theta, and the published code of the family");
}

static void read_sizes(cfg_reader *r)
{
    rung_block *b = &r->ledger->block;
    double hidden, vocab;
    if (!real_in(&hidden, r, "hidden_size") || !real_in(&vocab, r, "vocab_size") ||
        !(hidden >= 1 && hidden <= 0x1p30) || !(vocab >= 1 && vocab <= 0x1p30)) {
        set(r, RUNG_BLOCK_SIZES, RUNG_NOT_ESTABLISHED, "the file has no hidden_size or no vocab_size");
        return;
    }
    b->hidden = (uint64_t)hidden, b->vocab = (uint64_t)vocab;
    set(r, RUNG_BLOCK_SIZES, RUNG_ESTABLISHED, "hidden_size and vocab_size");
}

void cfg_read_block(cfg_reader *r)
{
    read_stream(r);
    read_rotary(r);
    read_sizes(r);
}
