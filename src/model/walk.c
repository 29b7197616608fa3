/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The one walk over the layers, for both arithmetics:
 *   x = embedding + position;  per layer: x += Out(mix(norm1 x)), x += MLP(norm2 x);  logits = Readout(final_norm x).
 * All tokens of a call pass one layer before the next begins, so memory is linear in the tokens of the call.
 */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The largest row of each buffer that any group or layer needs. */
typedef struct widths {
    size_t in[RUNG_MECH_INPUT_MAX], mixed, hidden, gate, scratch;
    size_t padded; /* rows times width, in total */
} widths;

/* Numbers that a convolution reads: the tokens and the width-1 rows before them. SIZE_MAX if they do not fit. */
static size_t padded_size(size_t tokens, size_t width, size_t row)
{
    size_t size = SIZE_MAX;
    return rung_size_add(&tokens, tokens, width - 1) && rung_size_mul(&size, tokens, row) ? size : SIZE_MAX;
}

static widths widths_of(const rung_model *model, size_t pos, size_t tokens)
{
    const rung_arch *arch = &model->arch;
    widths w = {0};
    for (size_t i = 0; i < arch->layer_count; i++) {
        /* The file has tensors of size d_mlp only if there is such a layer. In other files d_mlp may be any number. */
        if (model->mlp[i] != RUNG_MLP_NONE && model->mlp[i] != RUNG_MLP_TABLE) w.hidden = model->spec.d_mlp;
        w.mixed = larger(w.mixed, rung_layer_width(&arch->layer[i]));
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            w.scratch = larger(w.scratch, conf->mech->scratch(conf, pos + tokens));
            if (conf->gate || conf->out_gate) w.gate = larger(w.gate, conf->heads * conf->dv);
            for (size_t k = 0; conf->mech->inputs[k].name; k++) {
                const rung_mech_input *input = &conf->mech->inputs[k];
                if (rung_mech_is_constant(input)) continue;
                w.in[k] = larger(w.in[k], rung_mech_row(input, conf));
                if (rung_input_has_conv(input, conf))
                    w.padded = larger(w.padded, padded_size(tokens, conf->conv, rung_mech_row(input, conf)));
            }
        }
    }
    return w;
}

static bool take(walk *w, reals *out, size_t row)
{
    size_t count;
    if (!rung_size_mul(&count, row, w->tokens)) {
        rung_fail(w->err, RUNG_SYSTEM, "%zu tokens of %zu numbers do not fit into memory", w->tokens, row);
        return false;
    }
    *out = rung_reals_alloc(w->p, &w->arena, count, w->err);
    return reals_set(*out);
}

rung_status rung_walk_buffers(walk *w)
{
    const rung_model_spec *spec = &w->p->model->spec;
    widths need = widths_of(w->p->model, w->pos, w->tokens);
    bool ok = take(w, &w->x, spec->d_model) && take(w, &w->h, spec->d_model) && take(w, &w->y, spec->d_model);
    for (size_t i = 0; ok && i < RUNG_MECH_INPUT_MAX; i++) ok = take(w, &w->in[i], need.in[i]);
    ok = ok && take(w, &w->mixed, need.mixed) && take(w, &w->part, need.mixed);
    ok = ok && take(w, &w->hidden, need.hidden) && take(w, &w->gate, larger(need.hidden, need.gate));
    if (!ok) return RUNG_SYSTEM;
    w->padded = rung_reals_alloc(w->p, &w->arena, need.padded, w->err);
    if (!reals_set(w->padded)) return RUNG_SYSTEM;
    w->scratch_size = need.scratch;
    size_t scratch = SIZE_MAX; /* the allocation refuses it */
    rung_size_mul(&scratch, need.scratch, w->p->threads);
    w->scratch = rung_reals_alloc(w->p, &w->arena, scratch, w->err);
    return reals_set(w->scratch) ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status embed_tokens(walk *w, const uint32_t *token)
{
    size_t vocab = w->p->model->spec.vocab;
    if (!token) return rung_fail(w->err, RUNG_USAGE, "the model reads tokens, the prompt has features");
    for (size_t t = 0; t < w->tokens; t++) {
        if (token[t] >= vocab)
            return rung_fail(w->err, RUNG_INPUT, "token %zu of the prompt is id %u, the vocabulary ends at %zu", t,
                             token[t], vocab - 1);
        rung_reals_copy(reals_at(w->x, t * w->d_model), reals_at(w->p->embed, token[t] * w->d_model), w->d_model);
    }
    walk_store(w, w->x, RUNG_QUANTITY_ACT, w->tokens * w->d_model);
    return RUNG_OK;
}

static rung_status embed_features(walk *w, const float *feature)
{
    size_t count = w->tokens * w->p->model->spec.d_in;
    reals raw = rung_reals_alloc(w->p, &w->arena, count, w->err);
    if (!feature) return rung_fail(w->err, RUNG_USAGE, "the model reads features, the prompt has tokens");
    if (!reals_set(raw)) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) {
        if (raw.x) raw.x[i] = (double)feature[i];
        if (raw.f) raw.f[i] = feature[i];
    }
    if (raw.x) rung_stored_keep(&w->p->numbers.of[RUNG_QUANTITY_ACT], &w->p->fmt, raw.x, 1, count, NULL, NULL);
    walk_linear(w, w->x, raw, &w->p->feature);
    return RUNG_OK;
}

/* x += y, stored as activations. */
static void add_stored(walk *w, reals x, reals y)
{
    w->ops->add(w->p, x, y, w->tokens * w->d_model);
    walk_store(w, x, RUNG_QUANTITY_ACT, w->tokens * w->d_model);
}

rung_status rung_walk_embed(walk *w, const rung_prompt *prompt)
{
    const rung_model_spec *spec = &w->p->model->spec;
    if (spec->positions != RUNG_POS_NONE && w->pos + w->tokens > spec->max_tokens)
        return rung_fail(w->err, RUNG_INPUT, "%zu tokens are more than the %zu positions of the model",
                         w->pos + w->tokens, spec->max_tokens);
    rung_status status = spec->vocab ? embed_tokens(w, prompt->token) : embed_features(w, prompt->feature);
    if (status == RUNG_OK && reals_set(w->p->positions))
        add_stored(w, w->x, reals_at(w->p->positions, w->pos * w->d_model));
    return status;
}

reals rung_walk_normed(walk *w, const norm_weights *weights)
{
    if (!reals_set(weights->weight)) return w->x;
    w->ops->norm(w->p, w->h, w->x, weights, w->tokens);
    walk_store(w, w->h, RUNG_QUANTITY_ACT, w->tokens * w->d_model);
    return w->h;
}

void rung_walk_place(walk *w, const layer_weights *layer, size_t group)
{
    const rung_mech_conf *conf = layer->group[group].conf;
    size_t offset = 0, width = conf->heads * conf->dv, total = layer->out.cols;
    for (size_t g = 0; g < group; g++) offset += layer->group[g].conf->heads * layer->group[g].conf->dv;
    for (size_t t = 0; t < w->tokens; t++)
        rung_reals_copy(reals_at(w->mixed, t * total + offset), reals_at(w->part, t * width), width);
}

void rung_walk_project(walk *w, const layer_weights *layer)
{
    walk_linear(w, w->y, w->mixed, &layer->out);
    add_stored(w, w->x, w->y);
}

static bool is_last(const walk *w, size_t index)
{
    return index + 1 == w->p->model->arch.layer_count;
}

/* Moves the rows of the tokens in `asked` to the front. `to` may be `from`, because they ascend. */
static void gather_asked(const walk *w, reals to, reals from)
{
    for (size_t i = 0; i < w->asked_count; i++)
        if (w->asked[i] != i || to.x != from.x || to.f != from.f)
            rung_reals_copy(reals_at(to, i * w->d_model), reals_at(from, w->asked[i] * w->d_model), w->d_model);
}

/* The position in the call to which row `row` of x belongs. */
static size_t position_of(const walk *w, size_t row, bool narrowed)
{
    return narrowed ? w->asked[row] : row;
}

/* numbers = [rows][row] belong to the rows of x from `first` on. narrowed: x holds only the tokens in `asked`. */
static rung_status refuse_nan(const walk *w, reals numbers, size_t row, size_t first, size_t rows, bool narrowed,
                              const char *where)
{
    size_t nan = rung_reals_find_nan(numbers, rows * row);
    if (nan == SIZE_MAX) return RUNG_OK;
    return rung_fail(
        w->err, RUNG_INPUT,
        "%s, position %zu: not a number in %s (inf - inf, 0 * inf or 0 / 0); try a format with more exponent "
        "bits, or smaller weights",
        where, w->pos + position_of(w, first + nan / row, narrowed), w->p->exact ? w->p->numbers.name : "fp32");
}

/* Tokens whose read-out is not wanted have no output that could be checked. But the mechanism keeps their inputs (in a
 * cache) or their effect (in a recurrent state), so those are checked. */
static rung_status refuse_nan_kept(const walk *w, const mixing *m, size_t index)
{
    char where[48];
    snprintf(where, sizeof where, "layer %zu", index);
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && m->conf->mech->inputs[i].name; i++) {
        const rung_mech_input *input = &m->conf->mech->inputs[i];
        size_t row = rung_mech_row(input, m->conf);
        if (row && !rung_mech_is_constant(input)) status = refuse_nan(w, m->in[i], row, 0, m->tokens, false, where);
    }
    if (status != RUNG_OK || !m->conf->mech->recurrent) return status;
    size_t elements = rung_mech_state_elements(m->conf, m->pos + m->tokens);
    return refuse_nan(w, m->state, elements ? elements : 1, m->tokens - 1, elements ? 1 : 0, false, where);
}

/* In the last layer all tokens enter the states, but only those in `asked` need a query and what follows it. */
static rung_status mix(walk *w, const layer_weights *layer, size_t index)
{
    rung_status status = RUNG_OK;
    reals h = rung_walk_normed(w, &layer->norm1), kept = h;
    bool last = is_last(w, index);
    size_t all = w->tokens, rows = last ? w->asked_count : all;
    if (last) gather_asked(w, kept = w->y, h);
    for (size_t g = 0; g < layer->group_count; g++) {
        const rung_mech_conf *conf = layer->group[g].conf;
        mixing m = {.conf = conf,
                    .out = layer->group_count > 1 ? w->part : w->mixed,
                    .state = w->session->state[index][g].mech,
                    .pos = w->pos,
                    .tokens = all,
                    .at = last ? w->asked : NULL,
                    .asked = rows,
                    .scratch = w->scratch,
                    .scratch_size = w->scratch_size};
        rung_walk_inputs(w, m.in, &layer->group[g], &w->session->state[index][g], h);
        const rung_keeper keeper = {&w->p->numbers, index, g, w->session->state[index][g].scales};
        if (w->p->exact && w->p->numbers.mixed) m.keeper = &keeper;
        (w->form == RUNG_FORM_STEP ? w->ops->step : w->ops->scan)(w->p, &m);
        walk_store(w, m.out, RUNG_QUANTITY_ACT, rows * conf->heads * conf->dv);
        if (last && status == RUNG_OK) status = refuse_nan_kept(w, &m, index);
        w->tokens = rows;
        rung_walk_gate(w, m.out, &layer->group[g], kept);
        if (layer->group_count > 1) rung_walk_place(w, layer, g);
        w->tokens = all;
    }
    if (last) gather_asked(w, w->x, w->x);
    w->tokens = rows;
    rung_walk_project(w, layer);
    return status;
}

static rung_status apply_table(walk *w, const layer_weights *layer, size_t index)
{
    RUNG_TRY(rung_table_apply(w->x, &layer->table, w->tokens, is_last(w, index) ? w->asked : NULL, w->d_model, index,
                              w->err));
    walk_store(w, w->x, RUNG_QUANTITY_ACT, w->tokens * w->d_model);
    return RUNG_OK;
}

static rung_status apply_mlp(walk *w, const layer_weights *layer, size_t index)
{
    size_t hidden = w->tokens * w->p->model->spec.d_mlp;
    if (layer->mlp == RUNG_MLP_NONE) return RUNG_OK;
    if (layer->mlp == RUNG_MLP_TABLE) return apply_table(w, layer, index);
    reals h = rung_walk_normed(w, &layer->norm2);
    walk_linear(w, w->hidden, h, &layer->up);
    if (layer->mlp == RUNG_MLP_RELU) w->ops->activate(w->p, w->hidden, ACT_RELU, hidden);
    if (layer->mlp == RUNG_MLP_GELU) w->ops->activate(w->p, w->hidden, ACT_GELU, hidden);
    if (layer->mlp == RUNG_MLP_GELU_TANH) w->ops->activate(w->p, w->hidden, ACT_GELU_TANH, hidden);
    if (rung_mlp_is_gated(layer->mlp)) {
        walk_linear(w, w->gate, h, &layer->gate);
        w->ops->activate(w->p, w->gate, layer->mlp == RUNG_MLP_SWIGLU ? ACT_SILU : ACT_GELU_TANH, hidden);
        walk_store(w, w->gate, RUNG_QUANTITY_ACT, hidden);
        w->ops->multiply(w->p, w->hidden, w->gate, hidden);
    }
    walk_store(w, w->hidden, RUNG_QUANTITY_ACT, hidden);
    walk_linear(w, w->y, w->hidden, &layer->down);
    add_stored(w, w->x, w->y);
    return RUNG_OK;
}

/* Runs the MLP, and checks the results of the MLP and of the mechanism. */
rung_status rung_walk_close(walk *w, size_t index, bool narrowed)
{
    char where[48];
    rung_status status = RUNG_OK;
    snprintf(where, sizeof where, "layer %zu", index);
    /* A table assigns coordinates, so it could overwrite a NaN that the state has kept. */
    if (w->p->layer[index].mlp == RUNG_MLP_TABLE)
        status = refuse_nan(w, w->x, w->d_model, 0, w->tokens, narrowed, where);
    RUNG_TRY(status);
    RUNG_TRY(apply_mlp(w, &w->p->layer[index], index));
    return refuse_nan(w, w->x, w->d_model, 0, w->tokens, narrowed, where);
}

static rung_status walk_layers(walk *w)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < w->p->model->arch.layer_count; i++) {
        status = mix(w, &w->p->layer[i], i);
        RUNG_NEXT(status, rung_walk_close(w, i, is_last(w, i)));
    }
    if (status == RUNG_OK && w->asked_count)
        rung_reals_copy(w->session->view, reals_at(w->x, (w->asked_count - 1) * w->d_model), w->d_model);
    return status;
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the wanted positions and removes duplicates. */
static rung_status sort_asked(walk *w, const size_t *at, size_t at_count)
{
    w->asked = rung_arena_alloc(&w->arena, at_count, sizeof *w->asked, w->err);
    if (!w->asked) return RUNG_SYSTEM;
    if (at_count) memcpy(w->asked, at, at_count * sizeof *at);
    qsort(w->asked, at_count, sizeof *w->asked, by_size);
    for (size_t i = 0; i < at_count; i++)
        if (i == 0 || w->asked[i] != w->asked[i - 1]) w->asked[w->asked_count++] = w->asked[i];
    return RUNG_OK;
}

static size_t row_of(const walk *w, size_t position)
{
    const size_t *found = bsearch(&position, w->asked, w->asked_count, sizeof *w->asked, by_size);
    return (size_t)(found - w->asked);
}

rung_status rung_walk_read_row(walk *w, double *out, reals row, reals h, size_t at, bool narrowed)
{
    size_t answers = w->p->model->spec.answers;
    w->ops->linear(w->p, row, reals_at(h, at * w->d_model), &w->p->readout, 1);
    walk_store(w, row, RUNG_QUANTITY_ACT, answers);
    for (size_t a = 0; a < answers; a++) out[a] = rung_reals_get(row, a);
    return refuse_nan(w, row, answers, at, 1, narrowed, "read-out");
}

static rung_status read_out(walk *w, double *out, const size_t *at, size_t at_count)
{
    size_t answers = w->p->model->spec.answers;
    reals h = rung_walk_normed(w, &w->p->final_norm), row = rung_reals_alloc(w->p, &w->arena, answers, w->err);
    rung_status status = reals_set(row) ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < at_count; i++) {
        size_t source = row_of(w, at[i]);
        status = rung_walk_read_row(w, out + i * answers, row, h, source, true);
    }
    return status;
}

static rung_status check_call(const rung_session *s, const rung_prompt *prompt, const size_t *at, size_t at_count,
                              rung_error *err)
{
    if (s->broken) return rung_fail(err, RUNG_USAGE, "the session failed before; reset it first");
    if (prompt->tokens == 0) return rung_fail(err, RUNG_USAGE, "the prompt has no tokens");
    if (prompt->tokens > s->max_tokens - s->tokens)
        return rung_fail(err, RUNG_USAGE, "the session has room for %zu tokens and has seen %zu; %zu more do not fit",
                         s->max_tokens, s->tokens, prompt->tokens);
    if (!s->program->model->spec.causal && s->tokens)
        return rung_fail(err, RUNG_USAGE, "an encoder takes its whole input in one call; reset the session first");
    for (size_t i = 0; i < at_count; i++)
        if (at[i] >= prompt->tokens)
            return rung_fail(err, RUNG_USAGE, "read-out asked at token %zu of a prompt of %zu", at[i], prompt->tokens);
    return RUNG_OK;
}

rung_status rung_session_run(rung_session *s, double *out, const rung_prompt *prompt, rung_form form, const size_t *at,
                             size_t at_count, rung_error *err)
{
    RUNG_TRY(check_call(s, prompt, at, at_count, err));
    walk w = {.session = s,
              .p = s->program,
              .ops = s->program->ops,
              .pos = s->tokens,
              .tokens = prompt->tokens,
              .d_model = s->program->model->spec.d_model,
              .form = form,
              .err = err};
    rung_arena_init(&w.arena);
    rung_status status = rung_walk_buffers(&w);
    RUNG_NEXT(status, sort_asked(&w, at, at_count));
    RUNG_NEXT(status, rung_walk_embed(&w, prompt));
    RUNG_NEXT(status, walk_layers(&w));
    RUNG_NEXT(status, read_out(&w, out, at, at_count));
    s->broken = status != RUNG_OK;
    if (status == RUNG_OK) s->tokens += prompt->tokens;
    rung_arena_clear(&w.arena);
    return status;
}
