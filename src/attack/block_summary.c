/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The summary of one block of a sparse layer, as the last token of a prompt sees it: taken from the state of that layer
 * after a run one layer at a time, and only if no head opens the block.
 */
#include "certify.h"

#include <stdlib.h>

/* The state is a row of slots [H][dk+dv]: B tokens, then the summary of their block, then the next B tokens
 * (docs/certificate.md, what a layer carries). */
typedef struct slots {
    const rung_mech_conf *conf;
    size_t B, k, W;
    bool own;
    const double *state;
} slots;

static const rung_mech_conf *mean_layer(const rung_attacked *attacked, size_t layer)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    if (layer >= arch->layer_count || arch->layer[layer].group_count != 1) return NULL;
    const rung_mech_conf *conf = arch->layer[layer].group;
    bool blocks = conf->mech->class_of == RUNG_CLASS_BLOCKS && conf->mech->selects(conf).summary_is_mean;
    return blocks ? conf : NULL;
}

bool rung_block_size(size_t *size, const rung_attacked *attacked, size_t layer)
{
    const rung_mech_conf *conf = mean_layer(attacked, layer);
    if (conf) *size = (size_t)rung_mech_param(conf, "B");
    return conf != NULL;
}

static const double *summary_of(const slots *s, size_t block, size_t head)
{
    size_t pair = s->conf->dk + s->conf->dv;
    return s->state + (block * (s->B + 1) + s->B) * s->conf->heads * pair + head * pair;
}

/* Among equal scores the lower block comes first. */
static bool head_opens(const slots *s, const double *q, size_t block, size_t head, size_t pos, const rung_fmt *fmt)
{
    size_t candidates = s->own ? pos / s->B : (pos + 1) / s->B, before = 0;
    if (block >= candidates) return true; /* the query's own block, or one that is not complete */
    double score = rung_num_dot(fmt, q, summary_of(s, block, head), s->conf->dk);
    for (size_t b = 0; b < candidates; b++) {
        double other = rung_num_dot(fmt, q, summary_of(s, b, head), s->conf->dk);
        before += other > score || (other == score && b < block);
    }
    return before < s->k;
}

static bool is_closed(const slots *s, const double *last_q, size_t block, size_t pos, const rung_fmt *fmt)
{
    size_t reach = s->W > pos ? 0 : pos + 1 - s->W;
    if (s->W && reach < (block + 1) * s->B) return false;
    for (size_t h = 0; h < s->conf->heads; h++)
        if (head_opens(s, last_q + h * s->conf->dk, block, h, pos, fmt)) return false;
    return true;
}

static rung_status summary_hex(char **hex, const slots *s, size_t block, const rung_fmt *fmt, rung_error *err)
{
    size_t pair = s->conf->dk + s->conf->dv, count = s->conf->heads * pair, bits = count * (size_t)fmt->bits;
    uint8_t *packed = rung_calloc(bits / 8 + 1, 1, err);
    if (!packed) return RUNG_SYSTEM;
    rung_num_pack(packed, fmt, summary_of(s, block, 0), count);
    *hex = rung_cert_hex(packed, bits, err);
    free(packed);
    return *hex ? RUNG_OK : RUNG_SYSTEM;
}

/* ---- a run up to the layer --------------------------------------------------------------------------------------- */

/* Memory of one group of heads, for all tokens of a prompt. */
typedef struct pass {
    rung_arena arena;
    double *state, *conv;
    rung_stretch_exact stretch;
} pass;

/* Runs the group and leaves its state; the inputs stay valid until the next call. */
static rung_status pass_group(pass *p, rung_rows *rows, const rung_attacked *attacked, size_t layer, size_t group,
                              rung_error *err)
{
    const rung_mech_conf *conf = &rung_model_get_arch(attacked->model)->layer[layer].group[group];
    size_t tokens = attacked->task->tokens, scratch = conf->mech->scratch(conf, tokens), out = SIZE_MAX;
    rung_size_mul(&out, tokens, conf->heads * conf->dv);
    p->state = rung_arena_alloc(&p->arena, rung_mech_state_capacity(conf, tokens), sizeof(double), err);
    p->conv = p->state ? rung_arena_alloc(&p->arena, rung_head_group_conv_elements(conf), sizeof(double), err) : NULL;
    double *o = p->conv ? rung_arena_alloc(&p->arena, out, sizeof(double), err) : NULL;
    double *room = o ? rung_arena_alloc(&p->arena, scratch, sizeof(double), err) : NULL;
    if (!room) return RUNG_SYSTEM;
    p->stretch = (rung_stretch_exact){.conf = conf,
                                      .fmt = &attacked->numbers,
                                      .o = o,
                                      .state = p->state,
                                      .tokens = tokens,
                                      .scratch = room,
                                      .scratch_size = scratch};
    rung_rows_inputs(rows, p->stretch.in, p->conv, layer, group);
    rung_stretch_scan_exact(&p->stretch, 1);
    return RUNG_OK;
}

static rung_status pass_layer(rung_rows *rows, const rung_attacked *attacked, size_t layer, rung_error *err)
{
    size_t groups = rung_model_get_arch(attacked->model)->layer[layer].group_count;
    rung_status status = RUNG_OK;
    for (size_t g = 0; status == RUNG_OK && g < groups; g++) {
        pass p = {0};
        rung_arena_init(&p.arena);
        status = pass_group(&p, rows, attacked, layer, g, err);
        if (status == RUNG_OK) rung_rows_answer(rows, p.stretch.o, layer, g);
        rung_arena_clear(&p.arena);
    }
    RUNG_TRY(status);
    return rung_rows_finish(rows, layer, err);
}

static rung_status read_summary(char **hex, rung_rows *rows, const rung_attacked *attacked, size_t layer, size_t block,
                                rung_error *err)
{
    const rung_mech_conf *conf = mean_layer(attacked, layer);
    size_t pos = attacked->task->tokens - 1;
    pass p = {0};
    rung_arena_init(&p.arena);
    rung_status status = pass_group(&p, rows, attacked, layer, 0, err);
    slots s = {.conf = conf,
               .B = (size_t)rung_mech_param(conf, "B"),
               .k = (size_t)rung_mech_param(conf, "k"),
               .W = (size_t)rung_mech_param(conf, "W"),
               .own = rung_mech_param(conf, "own") != 0,
               .state = p.state};
    if (status == RUNG_OK &&
        is_closed(&s, p.stretch.in[0] + pos * conf->heads * conf->dk, block, pos, &attacked->numbers))
        status = summary_hex(hex, &s, block, &attacked->numbers, err);
    rung_arena_clear(&p.arena);
    return status;
}

rung_status rung_block_summary(char **hex, const rung_attacked *attacked, const uint32_t *token, size_t layer,
                               size_t block, rung_error *err)
{
    rung_prompt prompt = {.token = token, .tokens = attacked->task->tokens};
    rung_rows *rows = NULL;
    *hex = NULL;
    rung_status status = rung_rows_new(&rows, attacked->program, &prompt, 0, err);
    for (size_t i = 0; status == RUNG_OK && i < layer; i++) status = pass_layer(rows, attacked, i, err);
    RUNG_NEXT(status, read_summary(hex, rows, attacked, layer, block, err));
    rung_rows_free(rows);
    return status;
}
