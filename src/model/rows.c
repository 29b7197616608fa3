/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A stretch of tokens, one layer at a time: the walk of walk.c without a session. The caller runs the mechanisms.
 */
#include "walk.h"

#include <stdlib.h>

struct rung_rows {
    walk w;
    reals h, logits; /* h: the normed stream of the current layer */
};

rung_status rung_rows_new(rung_rows **out, const rung_program *program, const rung_prompt *prompt, size_t pos,
                          rung_error *err)
{
    const rung_model_spec *spec = &program->model->spec;
    if (!program->exact || !spec->causal)
        return rung_fail(err, RUNG_USAGE, "one layer at a time needs a causal model and a number format");
    if (program->numbers.mixed)
        return rung_fail(err, RUNG_USAGE, "one layer at a time takes one number format for everything, not %s",
                         program->numbers.name);
    if (prompt->tokens == 0) return rung_fail(err, RUNG_USAGE, "the stretch has no tokens");
    rung_rows *rows = rung_calloc(1, sizeof *rows, err);
    if (!rows) return RUNG_SYSTEM;
    rows->w = (walk){
        .p = program, .ops = program->ops, .pos = pos, .tokens = prompt->tokens, .d_model = spec->d_model, .err = err};
    rung_arena_init(&rows->w.arena);
    rung_status status = rung_walk_buffers(&rows->w);
    rows->logits = rung_reals_alloc(program, &rows->w.arena, spec->answers, err);
    if (status == RUNG_OK && !reals_set(rows->logits)) status = RUNG_SYSTEM;
    RUNG_NEXT(status, rung_walk_embed(&rows->w, prompt));
    rows->h = rows->w.x;
    if (status != RUNG_OK) {
        rung_rows_free(rows);
        return status;
    }
    *out = rows;
    return RUNG_OK;
}

void rung_rows_free(rung_rows *rows)
{
    if (!rows) return;
    rung_arena_clear(&rows->w.arena);
    free(rows);
}

const double *rung_rows_stream(const rung_rows *rows)
{
    return rows->w.x.x;
}

void rung_rows_inputs(rung_rows *rows, const double *in[RUNG_MECH_INPUT_MAX], double *conv, size_t layer, size_t group)
{
    const layer_weights *weights = &rows->w.p->layer[layer];
    group_state state = {.conv = {.x = conv}};
    reals made[RUNG_MECH_INPUT_MAX] = {0};
    rows->h = rung_walk_normed(&rows->w, &weights->norm1);
    rung_walk_inputs(&rows->w, made, &weights->group[group], &state, rows->h);
    for (size_t i = 0; i < RUNG_MECH_INPUT_MAX; i++) in[i] = made[i].x;
}

void rung_rows_answer(rung_rows *rows, const double *o, size_t layer, size_t group)
{
    walk *w = &rows->w;
    const layer_weights *weights = &w->p->layer[layer];
    const rung_mech_conf *conf = weights->group[group].conf;
    reals part = w->part;
    for (size_t i = 0; i < w->tokens * conf->heads * conf->dv; i++) part.x[i] = o[i];
    rung_walk_gate(w, part, &weights->group[group], rows->h);
    rung_walk_place(w, weights, group);
}

rung_status rung_rows_finish(rung_rows *rows, size_t layer, rung_error *err)
{
    rows->w.err = err;
    rung_walk_project(&rows->w, &rows->w.p->layer[layer]);
    return rung_walk_close(&rows->w, layer, false);
}

rung_status rung_rows_read_out(rung_rows *rows, double *out, size_t at, rung_error *err)
{
    if (at >= rows->w.tokens)
        return rung_fail(err, RUNG_USAGE, "row %zu of %zu: there is no such token", at, rows->w.tokens);
    rows->w.err = err;
    return rung_walk_read_row(&rows->w, out, rows->logits, rung_walk_normed(&rows->w, &rows->w.p->final_norm), at,
                              false);
}
