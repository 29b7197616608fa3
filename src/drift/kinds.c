/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Which layers are measured: groups of an architecture, layers that a configuration states, and layers of a model of
 * ours with their inputs on a prompt of its task. What carries no state of a fixed size, or is not known well enough, is
 * left out by name.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drift_inside.h"
#include "rung/claim.h"
#include "rung/task.h"

enum { CARD_VALUES_MAX = 128 };

RUNG_PRINTF(2, 3)
static void leave_out(rung_drift_kinds *kinds, const char *format, ...)
{
    char note[160];
    va_list args;
    va_start(args, format);
    vsnprintf(note, sizeof note, format, args);
    va_end(args);
    for (size_t i = 0; i < kinds->notes; i++)
        if (strcmp(kinds->note[i], note) == 0) return;
    if (kinds->notes < RUNG_DRIFT_NOTES) memcpy(kinds->note[kinds->notes++], note, sizeof note);
}

static bool same_conf(const rung_mech_conf *a, const rung_mech_conf *b)
{
    bool same = a->mech == b->mech && a->heads == b->heads && a->dk == b->dk && a->dv == b->dv;
    for (size_t i = 0; same && a->mech->params[i].name; i++) same = a->params[i].number == b->params[i].number;
    return same;
}

static rung_status add_kind(rung_drift_kinds *kinds, const rung_mech_conf *conf, rung_drift_kind **out, rung_error *err)
{
    if (kinds->count == RUNG_DRIFT_KINDS)
        return rung_fail(err, RUNG_USAGE, "more than %d kinds of recurrent layers", RUNG_DRIFT_KINDS);
    *out = &kinds->kind[kinds->count++];
    **out = (rung_drift_kind){.conf = *conf, .layers = 1};
    (*out)->conf.causal = true;
    return RUNG_OK;
}

/* The same kind again, or a new one. */
static rung_status count_kind(rung_drift_kinds *kinds, const rung_mech_conf *conf, size_t layer, rung_error *err)
{
    rung_drift_kind *kind;
    for (size_t i = 0; i < kinds->count; i++)
        if (same_conf(&kinds->kind[i].conf, conf)) {
            kinds->kind[i].layers++;
            return RUNG_OK;
        }
    RUNG_TRY(add_kind(kinds, conf, &kind, err));
    kind->first = layer;
    return RUNG_OK;
}

static rung_status finish(rung_drift_kinds *kinds, const char *name, rung_error *err)
{
    for (size_t i = 0; i < kinds->count; i++) {
        rung_drift_kind *k = &kinds->kind[i];
        if (!k->label[0] && kinds->count > 1)
            snprintf(k->label, sizeof k->label, "%zu layer%s from layer %zu on", k->layers, k->layers == 1 ? "" : "s",
                     k->first);
    }
    if (kinds->count) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "%s: no layer carries a state that is rounded at every token; drift is for recurrent mechanisms "
                     "such as gdelta, kda, mamba2, delta, rwkv7",
                     name);
}

/* ---- an architecture --------------------------------------------------------------------------------------------- */

rung_status rung_drift_kinds_arch(rung_drift_kinds *kinds, const char *text, const rung_arch_defaults *defaults,
                                  rung_error *err)
{
    *kinds = (rung_drift_kinds){0};
    rung_arena_init(&kinds->arena);
    RUNG_TRY(rung_arch_parse(&kinds->arch, text, defaults, err));
    for (size_t l = 0; l < kinds->arch.layer_count; l++)
        for (size_t g = 0; g < kinds->arch.layer[l].group_count; g++) {
            const rung_mech_conf *conf = &kinds->arch.layer[l].group[g];
            if (conf->mech->keeps != RUNG_KEEPS_HEADS)
                leave_out(kinds, "%s carries no state that is rounded at every token; it is left out",
                          conf->mech->name);
            else
                RUNG_TRY(count_kind(kinds, conf, l, err));
        }
    return finish(kinds, text, err);
}

/* ---- a configuration --------------------------------------------------------------------------------------------- */

/* One head with the sizes that the file states. Columns of a state do not depend on each other, so at most
 * CARD_VALUES_MAX of them are run. */
static rung_status take_ledger_layer(rung_drift_kinds *kinds, const rung_ledger_layer *layer, size_t index,
                                     rung_error *err)
{
    const rung_mech *mech = rung_mech_get(layer->mechanism);
    if (!layer->recurrent) {
        leave_out(kinds, "%s carries no state that is rounded at every token; it is left out",
                  layer->mechanism[0] ? layer->mechanism : "an MLP");
        return RUNG_OK;
    }
    if (!mech || mech->keeps != RUNG_KEEPS_HEADS || mech->transition == RUNG_TRANSITION_NOT_STATED) {
        leave_out(kinds, "%s: rung has no drift of such a layer; it is left out", layer->mechanism);
        return RUNG_OK;
    }
    if (layer->state_heads == 0 || layer->state_key_dim == 0 || layer->state_value_dim == 0 ||
        layer->state_key_dim > 4096) {
        leave_out(kinds, "%s: the file does not state the sizes of its state; it is left out", layer->mechanism);
        return RUNG_OK;
    }
    rung_mech_conf conf = {.mech = mech, .heads = 1, .dk = (size_t)layer->state_key_dim, .causal = true};
    conf.dv = layer->state_value_dim < CARD_VALUES_MAX ? (size_t)layer->state_value_dim : CARD_VALUES_MAX;
    rung_param_defaults(conf.params, mech->params);
    return count_kind(kinds, &conf, index, err);
}

static rung_status take_card(rung_drift_kinds *kinds, const char *path, rung_error *err)
{
    rung_subject *subject = NULL;
    RUNG_TRY(rung_subject_file(&subject, path, err));
    const rung_ledger *ledger = rung_subject_ledger(subject);
    rung_status status = RUNG_OK;
    for (size_t l = 0; status == RUNG_OK && l < ledger->layer_count; l++)
        status = take_ledger_layer(kinds, &ledger->layer[l], l, err);
    rung_subject_free(subject);
    return status;
}

/* ---- a model of ours --------------------------------------------------------------------------------------------- */

/* A prompt of the model's task on its way through the layers, in f64. */
typedef struct tour {
    rung_drift_kinds *kinds;
    const rung_arch *arch;
    rung_rows *rows;
    size_t tokens;
} tour;

static rung_status keep_inputs(tour *t, const rung_mech_conf *conf, const double *const *in, size_t layer, size_t group,
                               rung_error *err)
{
    rung_drift_kind *kind;
    RUNG_TRY(add_kind(t->kinds, conf, &kind, err));
    kind->tokens = t->tokens;
    snprintf(kind->label, sizeof kind->label, "layer %zu, group %zu", layer, group);
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        const rung_mech_input *input = &conf->mech->inputs[i];
        const size_t numbers = rung_mech_row(input, conf) * (rung_mech_is_constant(input) ? 1 : t->tokens);
        if (numbers == 0) continue;
        double *x = rung_arena_alloc(&t->kinds->arena, numbers, sizeof *x, err);
        if (!x) return RUNG_SYSTEM;
        memcpy(x, in[i], numbers * sizeof *x);
        kind->rows[i] = x;
    }
    return RUNG_OK;
}

static rung_status take_group(tour *t, const rung_fmt *f64, size_t layer, size_t group, rung_error *err)
{
    const rung_mech_conf *conf = &t->arch->layer[layer].group[group];
    rung_arena *arena = &t->kinds->arena;
    rung_stretch_exact s = {.conf = conf, .fmt = f64, .tokens = t->tokens};
    double *conv = rung_arena_alloc(arena, rung_head_group_conv_elements(conf) + 1, sizeof *conv, err);
    s.scratch_size = conf->mech->scratch(conf, t->tokens);
    s.o = rung_arena_alloc(arena, t->tokens * conf->heads * conf->dv, sizeof *s.o, err);
    s.state = rung_arena_alloc(arena, rung_mech_state_capacity(conf, t->tokens) + 1, sizeof *s.state, err);
    s.scratch = rung_arena_alloc(arena, s.scratch_size + 1, sizeof *s.scratch, err);
    if (!conv || !s.o || !s.state || !s.scratch) return RUNG_SYSTEM;
    rung_rows_inputs(t->rows, s.in, conv, layer, group);
    if (conf->mech->keeps == RUNG_KEEPS_HEADS)
        RUNG_TRY(keep_inputs(t, conf, s.in, layer, group, err));
    else
        leave_out(t->kinds, "%s carries no state that is rounded at every token; it is left out", conf->mech->name);
    rung_stretch_scan_exact(&s, 1);
    rung_rows_answer(t->rows, s.o, layer, group);
    return RUNG_OK;
}

static rung_status walk_layers(tour *t, const rung_fmt *f64, rung_error *err)
{
    for (size_t l = 0; l < t->arch->layer_count; l++) {
        for (size_t g = 0; g < t->arch->layer[l].group_count; g++) RUNG_TRY(take_group(t, f64, l, g, err));
        RUNG_TRY(rung_rows_finish(t->rows, l, err));
    }
    return RUNG_OK;
}

static rung_status walk_prompt(rung_drift_kinds *kinds, const rung_model *model, const rung_instance *prompt,
                               rung_error *err)
{
    rung_fmt f64;
    rung_program *program = NULL;
    RUNG_TRY(rung_fmt_parse(&f64, "f64", err));
    RUNG_TRY(rung_program_new(&program, model, &(rung_evaluator){.numbers = &f64, .threads = 1}, err));
    tour t = {.kinds = kinds, .arch = rung_model_get_arch(model), .tokens = prompt->tokens};
    const rung_prompt shown = {.token = prompt->token, .feature = prompt->feature, .tokens = prompt->tokens};
    rung_status status = rung_rows_new(&t.rows, program, &shown, 0, err);
    if (status == RUNG_OK) {
        status = walk_layers(&t, &f64, err);
        rung_rows_free(t.rows);
    }
    rung_program_free(program);
    return status;
}

static rung_status take_prompt(rung_drift_kinds *kinds, const rung_model *model, const char *path, uint64_t seed,
                               rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    rung_task_conf task;
    rung_instance prompt;
    if (!*spec->task)
        return rung_fail(err, RUNG_USAGE, "%s: the file names no task, so there is no prompt for its layers", path);
    if (!spec->causal)
        return rung_fail(err, RUNG_USAGE, "%s: an encoder has no state that is stored at every token", path);
    RUNG_TRY(rung_task_conf_parse(&task, spec->task, err));
    RUNG_TRY(rung_instance_init(&prompt, &task, err));
    rung_status status = rung_task_make(&prompt, &task, seed, 0, err);
    RUNG_NEXT(status, walk_prompt(kinds, model, &prompt, err));
    rung_instance_clear(&prompt);
    return status;
}

static bool is_model(const char *path)
{
    const size_t len = strlen(path);
    return len > 12 && strcmp(path + len - 12, ".safetensors") == 0;
}

rung_status rung_drift_kinds_file(rung_drift_kinds *kinds, const char *path, uint64_t seed, rung_error *err)
{
    *kinds = (rung_drift_kinds){0};
    rung_arena_init(&kinds->arena);
    rung_status status = RUNG_OK;
    if (is_model(path)) {
        rung_model *model = NULL;
        RUNG_TRY(rung_model_open(&model, path, err));
        status = take_prompt(kinds, model, path, seed, err);
        rung_model_close(model);
    } else {
        status = take_card(kinds, path, err);
    }
    RUNG_NEXT(status, finish(kinds, path, err));
    return status;
}

void rung_drift_kinds_clear(rung_drift_kinds *kinds)
{
    rung_arch_clear(&kinds->arch);
    rung_arena_clear(&kinds->arena);
}
