/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Sessions: the one walk over the layers, and the state that it leaves behind.
 *   x = embedding + position;  per layer: x += Out(mix(norm1 x)), x += MLP(norm2 x);  logits =
 * Readout(final_norm x). All tokens of a call pass one layer before the next begins, so memory is linear in
 * the tokens of the call.
 */
#include "eval.h"

#include <stdlib.h>
#include <string.h>

struct rung_session {
    const rung_program *program;
    size_t tokens, max_tokens;
    reals **state; /* [layer][group] */
    rung_arena arena;
    bool broken; /* a run failed half-way: the state belongs to no prefix */
};

static const rung_layer *layer_of(const rung_session *s, size_t layer)
{
    return &s->program->model->arch.layer[layer];
}

static size_t layer_count(const rung_session *s)
{
    return s->program->model->arch.layer_count;
}

/* ---- life
 * ---------------------------------------------------------------------------------------------------- */

static rung_status allocate_state(rung_session *s, rung_error *err)
{
    s->state = rung_arena_alloc(&s->arena, layer_count(s), sizeof *s->state, err);
    if (!s->state) return RUNG_SYSTEM;
    for (size_t i = 0; i < layer_count(s); i++) {
        const rung_layer *layer = layer_of(s, i);
        s->state[i] = rung_arena_alloc(&s->arena, layer->group_count, sizeof **s->state, err);
        for (size_t g = 0; s->state[i] && g < layer->group_count; g++) {
            size_t elements = rung_mech_state_elements(&layer->group[g], s->max_tokens);
            s->state[i][g] = rung_reals_alloc(s->program, &s->arena, elements, err);
            if (!reals_set(s->state[i][g])) return RUNG_SYSTEM;
        }
        if (!s->state[i]) return RUNG_SYSTEM;
    }
    return RUNG_OK;
}

rung_status rung_session_new(rung_session **out, const rung_program *program, size_t max_tokens, rung_error *err)
{
    rung_session *s = rung_calloc(1, sizeof *s, err);
    if (!s) return RUNG_SYSTEM;
    s->program = program, s->max_tokens = max_tokens;
    rung_arena_init(&s->arena);
    rung_status status = allocate_state(s, err);
    if (status != RUNG_OK) {
        rung_session_free(s);
        return status;
    }
    *out = s;
    return RUNG_OK;
}

void rung_session_free(rung_session *s)
{
    if (!s) return;
    rung_arena_clear(&s->arena);
    free(s);
}

static void zero(reals r, size_t count)
{
    if (r.x) memset(r.x, 0, count * sizeof *r.x);
    if (r.f) memset(r.f, 0, count * sizeof *r.f);
}

void rung_session_reset(rung_session *s)
{
    for (size_t i = 0; i < layer_count(s); i++)
        for (size_t g = 0; g < layer_of(s, i)->group_count; g++)
            zero(s->state[i][g], rung_mech_state_elements(&layer_of(s, i)->group[g], s->max_tokens));
    s->tokens = 0;
    s->broken = false;
}

rung_status rung_session_copy(rung_session *to, const rung_session *from, rung_error *err)
{
    if (to->program != from->program)
        return rung_fail(err, RUNG_USAGE, "a session can only be copied to one of the same program");
    if (to->max_tokens < from->tokens)
        return rung_fail(err, RUNG_USAGE, "the session has room for %zu tokens, the copied one holds %zu",
                         to->max_tokens, from->tokens);
    if (to == from) return RUNG_OK;
    for (size_t i = 0; i < layer_count(to); i++) /* what lies beyond the carried numbers is never read */
        for (size_t g = 0; g < layer_of(to, i)->group_count; g++)
            rung_reals_copy(to->state[i][g], from->state[i][g],
                            rung_mech_state_elements(&layer_of(to, i)->group[g], from->tokens));
    to->tokens = from->tokens;
    to->broken = from->broken;
    return RUNG_OK;
}

/* ---- the walk
 * --------------------------------------------------------------------------------------------------- */

/* Buffers of one call, in an arena of its own. */
typedef struct walk {
    rung_session *session;
    const rung_program *p;
    const arith *ops;
    size_t pos, tokens, d_model;
    rung_form form;
    reals x, h, y, in[RUNG_MECH_INPUT_MAX], mixed, part, hidden, gate, scratch;
    size_t scratch_size;
    rung_arena arena;
    rung_error *err;
} walk;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The largest row that any group or layer needs of each buffer. */
typedef struct widths {
    size_t in[RUNG_MECH_INPUT_MAX], mixed, hidden, scratch;
} widths;

static widths widths_of(const rung_model *model, size_t tokens)
{
    const rung_arch *arch = &model->arch;
    widths w = {0};
    for (size_t i = 0; i < arch->layer_count; i++) {
        /* d_mlp is backed by tensors only where there is such a layer; elsewhere a file may say any number. */
        if (model->mlp[i] != RUNG_MLP_NONE && model->mlp[i] != RUNG_MLP_TABLE) w.hidden = model->spec.d_mlp;
        w.mixed = larger(w.mixed, rung_layer_width(&arch->layer[i]));
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            w.scratch = larger(w.scratch, conf->mech->scratch(conf, tokens));
            for (size_t k = 0; conf->mech->inputs[k].name; k++)
                w.in[k] = larger(w.in[k], rung_mech_row(&conf->mech->inputs[k], conf));
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

static rung_status walk_buffers(walk *w)
{
    const rung_model_spec *spec = &w->p->model->spec;
    widths need = widths_of(w->p->model, w->pos + w->tokens);
    bool ok = take(w, &w->x, spec->d_model) && take(w, &w->h, spec->d_model) && take(w, &w->y, spec->d_model);
    for (size_t i = 0; ok && i < RUNG_MECH_INPUT_MAX && need.in[i]; i++) ok = take(w, &w->in[i], need.in[i]);
    ok = ok && take(w, &w->mixed, need.mixed) && take(w, &w->part, need.mixed);
    ok = ok && take(w, &w->hidden, need.hidden) && take(w, &w->gate, need.hidden);
    if (!ok) return RUNG_SYSTEM;
    w->scratch_size = need.scratch;
    size_t scratch = SIZE_MAX; /* refused by the allocation */
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
    return RUNG_OK;
}

static rung_status embed_features(walk *w, const float *feature)
{
    size_t count = w->tokens * w->p->model->spec.d_in;
    reals raw = rung_reals_alloc(w->p, &w->arena, count, w->err);
    if (!feature) return rung_fail(w->err, RUNG_USAGE, "the model reads features, the prompt has tokens");
    if (!reals_set(raw)) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) {
        if (raw.x) raw.x[i] = rung_num_round(&w->p->fmt, (double)feature[i]);
        if (raw.f) raw.f[i] = feature[i];
    }
    w->ops->linear(w->p, w->x, raw, &w->p->feature, w->tokens);
    return RUNG_OK;
}

static rung_status embed(walk *w, const rung_prompt *prompt)
{
    const rung_model_spec *spec = &w->p->model->spec;
    if (spec->positions != RUNG_POS_NONE && w->pos + w->tokens > spec->max_tokens)
        return rung_fail(w->err, RUNG_INPUT, "%zu tokens are more than the %zu positions of the model",
                         w->pos + w->tokens, spec->max_tokens);
    rung_status status = spec->vocab ? embed_tokens(w, prompt->token) : embed_features(w, prompt->feature);
    if (status == RUNG_OK && reals_set(w->p->positions))
        w->ops->add(w->p, w->x, reals_at(w->p->positions, w->pos * w->d_model), w->tokens * w->d_model);
    return status;
}

/* h = norm(x), or x itself where the model has no norms. */
static reals normed(walk *w, const norm_weights *weights)
{
    if (!reals_set(weights->weight)) return w->x;
    w->ops->norm(w->p, w->h, w->x, weights, w->tokens);
    return w->h;
}

static void make_inputs(walk *w, const group_weights *group, reals h)
{
    const rung_mech_conf *conf = group->conf;
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        const rung_mech_input *input = &conf->mech->inputs[i];
        size_t row = rung_mech_row(input, conf);
        w->ops->linear(w->p, w->in[i], h, &group->input[i], w->tokens);
        if (input->source == RUNG_FROM_GATE) w->ops->activate(w->p, w->in[i], ACT_SIGMOID, w->tokens * row);
        if (input->source == RUNG_FROM_DECAY) w->ops->decay(w->p, w->in[i], group->rate[i], w->tokens, row);
        if (input->rotary && reals_set(w->p->cos)) w->ops->rotate(w->p, w->in[i], w->pos, w->tokens, conf->heads);
    }
}

/* Columns [offset, offset+width) of `mixed`, from the rows of one group. */
static void place_columns(walk *w, size_t offset, size_t width, size_t total)
{
    for (size_t t = 0; t < w->tokens; t++)
        rung_reals_copy(reals_at(w->mixed, t * total + offset), reals_at(w->part, t * width), width);
}

static void mix(walk *w, const layer_weights *layer, size_t index)
{
    reals h = normed(w, &layer->norm1);
    size_t offset = 0, total = layer->out.cols;
    for (size_t g = 0; g < layer->group_count; g++) {
        const rung_mech_conf *conf = layer->group[g].conf;
        size_t width = conf->heads * conf->dv;
        make_inputs(w, &layer->group[g], h);
        mixing m = {.conf = conf,
                    .out = layer->group_count > 1 ? w->part : w->mixed,
                    .state = w->session->state[index][g],
                    .pos = w->pos,
                    .tokens = w->tokens,
                    .scratch = w->scratch,
                    .scratch_size = w->scratch_size};
        memcpy(m.in, w->in, sizeof m.in);
        (w->form == RUNG_FORM_STEP ? w->ops->step : w->ops->scan)(w->p, &m);
        if (layer->group_count > 1) place_columns(w, offset, width, total);
        offset += width;
    }
    w->ops->linear(w->p, w->y, w->mixed, &layer->out, w->tokens);
    w->ops->add(w->p, w->x, w->y, w->tokens * w->d_model);
}

static rung_status apply_mlp(walk *w, const layer_weights *layer, size_t index)
{
    size_t hidden = w->tokens * w->p->model->spec.d_mlp;
    if (layer->mlp == RUNG_MLP_NONE) return RUNG_OK;
    if (layer->mlp == RUNG_MLP_TABLE)
        return rung_table_apply(w->x, &layer->table, w->tokens, w->d_model, index, w->err);
    reals h = normed(w, &layer->norm2);
    w->ops->linear(w->p, w->hidden, h, &layer->up, w->tokens);
    if (layer->mlp == RUNG_MLP_RELU) w->ops->activate(w->p, w->hidden, ACT_RELU, hidden);
    if (layer->mlp == RUNG_MLP_GELU) w->ops->activate(w->p, w->hidden, ACT_GELU, hidden);
    if (layer->mlp == RUNG_MLP_SWIGLU) {
        w->ops->linear(w->p, w->gate, h, &layer->gate, w->tokens);
        w->ops->activate(w->p, w->gate, ACT_SILU, hidden);
        w->ops->multiply(w->p, w->hidden, w->gate, hidden);
    }
    w->ops->linear(w->p, w->y, w->hidden, &layer->down, w->tokens);
    w->ops->add(w->p, w->x, w->y, w->tokens * w->d_model);
    return RUNG_OK;
}

/* numbers = [rows][row], of the tokens from `first` of this call on. */
static rung_status refuse_nan(const walk *w, reals numbers, size_t row, size_t first, size_t rows, const char *where)
{
    size_t nan = rung_reals_find_nan(numbers, rows * row);
    if (nan == SIZE_MAX) return RUNG_OK;
    return rung_fail(
        w->err, RUNG_INPUT,
        "%s, position %zu: not a number in %s (inf - inf, 0 * inf or 0 / 0); try a format with more exponent "
        "bits, or smaller weights",
        where, w->pos + first + nan / row, w->p->exact ? w->p->fmt.name : "fp32");
}

static rung_status walk_layers(walk *w)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < w->p->model->arch.layer_count; i++) {
        char where[48];
        snprintf(where, sizeof where, "layer %zu", i);
        mix(w, &w->p->layer[i], i);
        /* A table assigns: it could overwrite a NaN that the state has kept. */
        if (w->p->layer[i].mlp == RUNG_MLP_TABLE) status = refuse_nan(w, w->x, w->d_model, 0, w->tokens, where);
        if (status == RUNG_OK) status = apply_mlp(w, &w->p->layer[i], i);
        if (status == RUNG_OK) status = refuse_nan(w, w->x, w->d_model, 0, w->tokens, where);
    }
    return status;
}

static rung_status read_out(walk *w, double *out, const size_t *at, size_t at_count)
{
    size_t answers = w->p->model->spec.answers;
    reals h = normed(w, &w->p->final_norm), row = rung_reals_alloc(w->p, &w->arena, answers, w->err);
    rung_status status = reals_set(row) ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < at_count; i++) {
        w->ops->linear(w->p, row, reals_at(h, at[i] * w->d_model), &w->p->readout, 1);
        status = refuse_nan(w, row, answers, at[i], 1, "read-out");
        for (size_t a = 0; a < answers; a++) out[i * answers + a] = rung_reals_get(row, a);
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
    rung_status status = check_call(s, prompt, at, at_count, err);
    if (status != RUNG_OK) return status;
    walk w = {.session = s,
              .p = s->program,
              .ops = s->program->ops,
              .pos = s->tokens,
              .tokens = prompt->tokens,
              .d_model = s->program->model->spec.d_model,
              .form = form,
              .err = err};
    rung_arena_init(&w.arena);
    status = walk_buffers(&w);
    if (status == RUNG_OK) status = embed(&w, prompt);
    if (status == RUNG_OK) status = walk_layers(&w);
    if (status == RUNG_OK) status = read_out(&w, out, at, at_count);
    s->broken = status != RUNG_OK;
    if (status == RUNG_OK) s->tokens += prompt->tokens;
    rung_arena_clear(&w.arena);
    return status;
}

/* ---- what is carried
 * ---------------------------------------------------------------------------------------------- */

size_t rung_session_tokens(const rung_session *s)
{
    return s->tokens;
}

rung_carry rung_session_carry(const rung_session *s, size_t layer)
{
    rung_carry sum = {0};
    for (size_t g = 0; g < layer_of(s, layer)->group_count; g++) {
        const rung_mech_conf *conf = &layer_of(s, layer)->group[g];
        rung_carry one = conf->mech->carry(conf, s->tokens);
        sum.recurrent += one.recurrent, sum.window += one.window, sum.cache += one.cache;
    }
    return sum;
}

int rung_session_number_bits(const rung_session *s)
{
    return s->program->exact ? s->program->fmt.bits : 32;
}

uint64_t rung_session_state_bits(const rung_session *s)
{
    uint64_t elements = 0;
    for (size_t i = 0; i < layer_count(s); i++) elements += rung_carry_total(rung_session_carry(s, i));
    return elements * (uint64_t)rung_session_number_bits(s);
}

/* All carried numbers in one run, so that codes of any width can follow each other without gaps. */
static size_t gather(double *to, const rung_session *s)
{
    size_t count = 0;
    for (size_t i = 0; i < layer_count(s); i++)
        for (size_t g = 0; g < layer_of(s, i)->group_count; g++) {
            size_t elements = rung_mech_state_elements(&layer_of(s, i)->group[g], s->tokens);
            for (size_t e = 0; e < elements; e++) to[count++] = rung_reals_get(s->state[i][g], e);
        }
    return count;
}

rung_status rung_session_pack(const rung_session *s, uint8_t *out, rung_error *err)
{
    rung_fmt f32;
    if (s->broken) return rung_fail(err, RUNG_USAGE, "the session failed before, its state belongs to no prefix");
    size_t elements = (size_t)(rung_session_state_bits(s) / (uint64_t)rung_session_number_bits(s));
    double *all = rung_calloc(elements, sizeof *all, err);
    if (!all) return RUNG_SYSTEM;
    rung_status status = rung_fmt_parse(&f32, "f32", err);
    if (status == RUNG_OK) rung_num_pack(out, s->program->exact ? &s->program->fmt : &f32, all, gather(all, s));
    free(all);
    return status;
}

size_t rung_argmax(const double *x, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (x[i] > x[best]) best = i;
    return best;
}
