/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The same function in a larger architecture: the tensors of a small model, filled up with zeros. docs/contains.md
 * proves that the bits are the same.
 *
 * The MLP of the last small layer is put after the last large one. Idle layers leave the stream unchanged, so this is
 * the same function, and a table is still asked only about tokens whose answer is wanted.
 */
#include "embed.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger models are refused. */
#define PARAMETERS_MAX 3e8

typedef struct embedding {
    const rung_model *small;
    const rung_arch *arch; /* the large one */
    const embed_layer *layer;
    rung_model_spec spec; /* of the large model */
    rung_tensor *tensor;
    size_t count, capacity;
    double parameters;
    rung_arena arena;
} embedding;

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static rung_status add_tensor(embedding *e, const char *name, const size_t *shape, size_t rank, rung_dtype dtype,
                              uint8_t *bytes, rung_error *err)
{
    if (e->count == e->capacity) {
        size_t capacity = e->capacity ? 2 * e->capacity : 64;
        rung_tensor *grown = realloc(e->tensor, capacity * sizeof *grown);
        if (!grown) return rung_fail(err, RUNG_SYSTEM, "out of memory for %zu tensors", capacity);
        e->tensor = grown, e->capacity = capacity;
    }
    rung_tensor *t = &e->tensor[e->count];
    *t = (rung_tensor){.name = rung_arena_strdup(&e->arena, name, err),
                       .dtype = dtype,
                       .dtype_name = rung_dtype_name(dtype),
                       .rank = rank,
                       .elements = 1,
                       .bytes = bytes};
    if (!t->name) return RUNG_SYSTEM;
    for (size_t i = 0; i < rank; i++) t->shape[i] = shape[i], t->elements *= shape[i];
    t->size_bytes = t->elements * rung_dtype_bytes(dtype);
    e->count++;
    return RUNG_OK;
}

static uint8_t *zeros(embedding *e, const size_t *shape, size_t rank, rung_dtype dtype, rung_error *err)
{
    size_t elements = 1;
    for (size_t i = 0; i < rank; i++)
        if (!rung_size_mul(&elements, elements, shape[i])) elements = SIZE_MAX;
    e->parameters += (double)elements;
    if (e->parameters > PARAMETERS_MAX) {
        rung_fail(err, RUNG_USAGE, "the larger model has more than %.0g parameters, too many to write", PARAMETERS_MAX);
        return NULL;
    }
    return rung_arena_alloc(&e->arena, elements, rung_dtype_bytes(dtype), err);
}

/* True if the model is too large or there is no memory; both end the embedding. */
static rung_status refused(const embedding *e)
{
    return e->parameters > PARAMETERS_MAX ? RUNG_USAGE : RUNG_SYSTEM;
}

static rung_status add_zeros(embedding *e, const char *name, const size_t *shape, size_t rank, rung_error *err)
{
    uint8_t *bytes = zeros(e, shape, rank, RUNG_F32, err);
    return bytes ? add_tensor(e, name, shape, rank, RUNG_F32, bytes, err) : refused(e);
}

static rung_status add_ones(embedding *e, const char *name, size_t count, rung_error *err)
{
    uint8_t *bytes = zeros(e, &count, 1, RUNG_F32, err);
    const float one = 1;
    for (size_t i = 0; bytes && i < count; i++) memcpy(bytes + i * sizeof one, &one, sizeof one);
    return bytes ? add_tensor(e, name, &count, 1, RUNG_F32, bytes, err) : refused(e);
}

/* Copies the tensor `source` of the small model unchanged. An optional one may be absent. */
static rung_status add_copy(embedding *e, const char *name, const char *source, bool optional, rung_error *err)
{
    const rung_tensor *t = rung_model_tensor(e->small, source);
    if (!t && optional) return RUNG_OK;
    if (!t) return rung_fail(err, RUNG_INPUT, "the small model has no tensor %s", source);
    uint8_t *bytes = zeros(e, t->shape, t->rank, t->dtype, err);
    if (!bytes) return refused(e);
    memcpy(bytes, t->bytes, t->size_bytes);
    return add_tensor(e, name, t->shape, t->rank, t->dtype, bytes, err);
}

/* ---- a block among zeros ----------------------------------------------------------------------------------------- */

enum { BLOCK_RANK = 5 };

/* The dimensions of a tensor: those of an input, and last the input of a projection, the taps of a convolution, or
 * nothing. */
typedef struct block {
    size_t dim[BLOCK_RANK];
} block;

static size_t block_elements(const block *b)
{
    size_t elements = 1;
    for (size_t i = 0; i < BLOCK_RANK; i++) elements *= b->dim[i];
    return elements;
}

/* Copies index by index. Along the last dimension, the entries go to the end, where the newest taps are. */
static void place_block(uint8_t *to, const block *large, const uint8_t *from, const block *small, size_t size)
{
    size_t at[BLOCK_RANK] = {0}, count = block_elements(small);
    for (size_t i = 0; i < BLOCK_RANK; i++) assert(small->dim[i] <= large->dim[i]);
    for (size_t n = 0; n < count; n++) {
        size_t place = 0;
        for (size_t i = 0; i < BLOCK_RANK; i++)
            place = place * large->dim[i] + at[i] + (i + 1 == BLOCK_RANK ? large->dim[i] - small->dim[i] : 0);
        memcpy(to + place * size, from + n * size, size);
        for (size_t i = BLOCK_RANK; i-- > 0 && ++at[i] == small->dim[i];) at[i] = 0;
    }
}

/* [H][dk] and so on; the four gates of an LSTM are four blocks of dv. */
static block block_of_input(const rung_mech_input *input, const rung_mech_conf *conf)
{
    rung_shape shape = rung_mech_shape(input, conf);
    block b = {{1, 1, 1, 1, 1}};
    bool four = input->dim == RUNG_DIM_FOUR_VALUES || input->dim == RUNG_DIM_OF_FOUR;
    for (size_t i = 0, at = 0; i < shape.rank; i++) {
        b.dim[at++] = four && i == 1 ? 4 : shape.dim[i];
        if (four && i == 1) b.dim[at++] = shape.dim[i] / 4;
    }
    return b;
}

static const rung_mech_input *input_named(const rung_mech_conf *conf, const char *name, size_t len)
{
    for (const rung_mech_input *input = conf->mech->inputs; input->name; input++)
        if (strlen(input->name) == len && memcmp(input->name, name, len) == 0 && rung_mech_row(input, conf))
            return input;
    return NULL;
}

/* `part` is "q.weight", "q_norm", "g.A", "gate.weight", "gate_norm", "U", ... */
static block block_of_part(const char *part, const rung_mech_conf *conf, size_t d_model)
{
    size_t len = strcspn(part, ".");
    const char *kind = part + len;
    const rung_mech_input *input = input_named(conf, part, len);
    block b = {{1, 1, 1, 1, 1}};
    if (strcmp(kind, ".A") == 0)
        b.dim[0] = conf->heads;
    else if (input)
        b = block_of_input(input, conf);
    else if (strcmp(part, "gate_norm") == 0)
        b.dim[0] = conf->dv;
    else if (strcmp(part, "q_norm") == 0 || strcmp(part, "k_norm") == 0)
        b.dim[0] = conf->dk;
    else
        b.dim[0] = conf->heads, b.dim[1] = conf->dv;
    b.dim[BLOCK_RANK - 1] = strcmp(kind, ".weight") == 0 ? d_model : strcmp(kind, ".conv") == 0 ? conf->conv : 1;
    return b;
}

typedef struct wanted {
    const char *name;
    const size_t *shape;
    size_t rank;
    bool optional;
} wanted;

/* One tensor of a group of heads; `part` is what follows layers.I.mix.G. */
static rung_status add_mix(embedding *e, const wanted *w, size_t layer, size_t group, const char *part, rung_error *err)
{
    const embed_layer *at = &e->layer[layer];
    size_t from = at->group[group];
    char source[128];
    if (from == NOBODY) return w->optional ? RUNG_OK : add_zeros(e, w->name, w->shape, w->rank, err);
    snprintf(source, sizeof source, "layers.%zu.mix.%zu.%s", at->from, from, part);
    const rung_tensor *t = rung_model_tensor(e->small, source);
    if (!t && w->optional) return RUNG_OK;
    if (!t) return rung_fail(err, RUNG_INPUT, "the small model has no tensor %s", source);
    const rung_mech_conf *small = &rung_model_get_arch(e->small)->layer[at->from].group[from];
    block has = block_of_part(part, small, e->spec.d_model);
    block wants = block_of_part(part, &e->arch->layer[layer].group[group], e->spec.d_model);
    uint8_t *bytes = zeros(e, w->shape, w->rank, t->dtype, err);
    if (!bytes) return refused(e);
    place_block(bytes, &wants, t->bytes, &has, rung_dtype_bytes(t->dtype));
    return add_tensor(e, w->name, w->shape, w->rank, t->dtype, bytes, err);
}

/* [d_model][all groups: H dv]: copies the columns of every group that is in use. */
static rung_status add_out(embedding *e, const wanted *w, size_t layer, rung_error *err)
{
    const embed_layer *at = &e->layer[layer];
    if (at->from == NOBODY) return w->optional ? RUNG_OK : add_zeros(e, w->name, w->shape, w->rank, err);
    char source[64];
    snprintf(source, sizeof source, "layers.%zu.out.weight", at->from);
    const rung_tensor *t = rung_model_tensor(e->small, source);
    const rung_layer *small = &rung_model_get_arch(e->small)->layer[at->from], *large = &e->arch->layer[layer];
    if (!t) return rung_fail(err, RUNG_INPUT, "the small model has no tensor %s", source);
    size_t size = rung_dtype_bytes(t->dtype), column = 0, source_column = 0;
    uint8_t *bytes = zeros(e, w->shape, w->rank, t->dtype, err);
    if (!bytes) return refused(e);
    for (size_t g = 0; g < large->group_count; g++) {
        const rung_mech_conf *wide = &large->group[g];
        const rung_mech_conf *conf = at->group[g] == NOBODY ? NULL : &small->group[at->group[g]];
        for (size_t row = 0; conf && row < w->shape[0]; row++)
            for (size_t h = 0; h < conf->heads; h++)
                memcpy(bytes + (row * w->shape[1] + column + h * wide->dv) * size,
                       t->bytes + (row * t->shape[1] + source_column + h * conf->dv) * size, conf->dv * size);
        column += wide->heads * wide->dv;
        if (conf) source_column += conf->heads * conf->dv;
    }
    return add_tensor(e, w->name, w->shape, w->rank, t->dtype, bytes, err);
}

/* ---- all tensors ------------------------------------------------------------------------------------------------- */

/* layers.I.REST of the large model is layers.from.REST of the small one. */
static rung_status add_of_layer(embedding *e, const wanted *w, size_t from, const char *rest, rung_error *err)
{
    char source[128];
    snprintf(source, sizeof source, "layers.%zu.%s", from, rest);
    return add_copy(e, w->name, source, w->optional, err);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static rung_status add_layer_part(embedding *e, const wanted *w, size_t layer, const char *rest, rung_error *err)
{
    const embed_layer *at = &e->layer[layer];
    size_t group;
    int used = 0;
    if (sscanf(rest, "mix.%zu.%n", &group, &used) == 1 && used) return add_mix(e, w, layer, group, rest + used, err);
    if (strcmp(rest, "out.weight") == 0) return add_out(e, w, layer, err);
    if (begins(rest, "mlp.") || begins(rest, "norm2.")) return add_of_layer(e, w, at->mlp, rest, err);
    if (at->from != NOBODY) return add_of_layer(e, w, at->from, rest, err);
    if (w->optional) return RUNG_OK;
    return add_ones(e, w->name, w->shape[0], err); /* norm1.weight of an idle layer */
}

static rung_status add_wanted(void *context, const char *name, const size_t *shape, size_t rank, bool optional,
                              rung_error *err)
{
    embedding *e = context;
    wanted w = {name, shape, rank, optional};
    size_t layer;
    int used = 0;
    if (sscanf(name, "layers.%zu.%n", &layer, &used) == 1 && used)
        return add_layer_part(e, &w, layer, name + used, err);
    return add_copy(e, name, name, optional, err);
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

/* One word per layer. The MLP of the last small layer moves to the end. */
static rung_status spell_mlps(rung_buf *out, const embedding *e, rung_error *err)
{
    for (size_t i = 0; i < e->arch->layer_count; i++) {
        size_t from = e->layer[i].mlp;
        rung_mlp kind = from == NOBODY ? RUNG_MLP_NONE : rung_model_mlp(e->small, from);
        rung_buf_printf(out, "%s%s", i ? "," : "", rung_mlp_names[kind - 1]);
    }
    return rung_buf_ok(out, err);
}

static void move_last_mlp(embed_layer *layer, size_t layers, size_t small_layers)
{
    for (size_t i = 0; i < layers; i++)
        if (layer[i].mlp == small_layers - 1) layer[i].mlp = NOBODY;
    layer[layers - 1].mlp = small_layers - 1;
}

static rung_status write_embedded(rung_model **out, embedding *e, rung_error *err)
{
    rung_buf mlp, made_by;
    rung_buf_init(&mlp);
    rung_buf_init(&made_by);
    rung_buf_printf(&made_by, "%s, among the layers of %s", rung_model_made_by(e->small), e->spec.arch);
    rung_status status = spell_mlps(&mlp, e, err);
    e->spec.mlp = mlp.text;
    RUNG_NEXT(status, rung_buf_ok(&made_by, err));
    RUNG_NEXT(status, rung_model_each_tensor(&e->spec, add_wanted, e, err));
    RUNG_NEXT(status, rung_model_from_tensors(out, &e->spec, e->tensor, e->count, made_by.text, err));
    rung_buf_clear(&mlp);
    rung_buf_clear(&made_by);
    return status;
}

static rung_status embed_into(rung_model **out, const rung_model *small, const char *text, const rung_arch *large,
                              const rung_arch_defaults *defaults, rung_error *err)
{
    embedding e = {.small = small, .arch = large, .spec = *rung_model_get_spec(small)};
    const rung_arch *arch = rung_model_get_arch(small);
    rung_arena_init(&e.arena);
    embed_layer *layer = rung_arena_alloc(&e.arena, large->layer_count, sizeof *layer, err);
    rung_status status = layer ? embed_match(layer, arch, large, err) : RUNG_SYSTEM;
    if (status == RUNG_OK) {
        move_last_mlp(layer, large->layer_count, arch->layer_count);
        e.layer = layer, e.spec.arch = text;
        e.spec.heads = defaults->heads, e.spec.dk = defaults->dk, e.spec.dv = defaults->dv;
        status = write_embedded(out, &e, err);
    }
    free(e.tensor);
    rung_arena_clear(&e.arena);
    return status;
}

rung_status rung_embed(rung_model **out, const rung_model *small, const char *text, const rung_arch_defaults *defaults,
                       rung_error *err)
{
    rung_arch large;
    if (rung_model_get_spec(small)->causal != defaults->causal)
        return rung_fail(err, RUNG_USAGE, "one of the two models has a causal mask and the other has none");
    if (rung_model_get_spec(small)->positions == RUNG_POS_ROTARY && rung_model_get_spec(small)->dk != defaults->dk)
        return rung_fail(err, RUNG_USAGE, "rotary positions rotate all dk = %zu coordinates, but the heads have %zu",
                         rung_model_get_spec(small)->dk, defaults->dk);
    RUNG_TRY(rung_arch_parse(&large, text, defaults, err));
    rung_status status = embed_into(out, small, text, &large, defaults, err);
    rung_arch_clear(&large);
    return status;
}

rung_status rung_embed_check(const rung_model *small, const rung_arch *large, rung_error *err)
{
    embed_layer *layer = rung_calloc(large->layer_count, sizeof *layer, err);
    if (!layer) return RUNG_SYSTEM;
    rung_status status = embed_match(layer, rung_model_get_arch(small), large, err);
    free(layer);
    return status;
}
