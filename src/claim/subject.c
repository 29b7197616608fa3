/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Subjects: one constructor for each kind.
 */
#include "subject.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static rung_subject *subject_new(rung_subject_kind kind, rung_error *err)
{
    rung_subject *s = rung_calloc(1, sizeof *s, err);
    if (!s) return NULL;
    s->kind = kind;
    rung_arena_init(&s->own.arena);
    s->ledger = &s->own;
    s->at_once = (rung_known){RUNG_ESTABLISHED, "the layers have no chain of thought of their own"};
    return s;
}

void rung_subject_free(rung_subject *s)
{
    if (!s) return;
    rung_ledger_clear(&s->own);
    free(s);
}

/* Returns a finished subject, or frees it. */
static rung_status hand_over(rung_subject **out, rung_subject *s, rung_status status)
{
    *out = status == RUNG_OK ? s : NULL;
    if (status != RUNG_OK) rung_subject_free(s);
    return status;
}

/* ---- layers of our own ------------------------------------------------------------------------------------------- */

static rung_status take_arch(rung_subject *s, const rung_arch *arch, const char *text, const char *name,
                             const rung_arch_defaults *defaults, rung_error *err)
{
    RUNG_TRY(claim_ledger_of_arch(&s->own, arch, name, err));
    s->arch = rung_arena_strdup(&s->own.arena, text, err);
    s->defaults = *defaults;
    s->ours = true;
    return s->arch ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rung_subject_arch(rung_subject **out, const char *text, const rung_arch_defaults *defaults, rung_error *err)
{
    rung_arch arch;
    *out = NULL;
    RUNG_TRY(rung_arch_parse(&arch, text, defaults, err));
    rung_subject *s = subject_new(RUNG_SUBJECT_ARCH, err);
    rung_status status = s ? take_arch(s, &arch, text, text, defaults, err) : RUNG_SYSTEM;
    rung_arch_clear(&arch);
    return hand_over(out, s, status);
}

rung_status rung_subject_model(rung_subject **out, const rung_model *model, const char *name, rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    const rung_arch_defaults defaults = {spec->heads, spec->dk, spec->dv, spec->causal};
    rung_subject *s = subject_new(RUNG_SUBJECT_MODEL, err);
    rung_status status = s ? take_arch(s, rung_model_get_arch(model), spec->arch, name, &defaults, err) : RUNG_SYSTEM;
    if (status == RUNG_OK && spec->thoughts)
        s->at_once = (rung_known){RUNG_VIOLATED, "the model has a chain of thought before it answers"};
    return hand_over(out, s, status);
}

rung_status rung_subject_run(rung_subject **out, const rung_train_spec *conf, rung_error *err)
{
    const rung_model_spec *m = &conf->model;
    const rung_arch_defaults defaults = {m->heads, m->dk, m->dv, m->causal};
    rung_status status = rung_subject_arch(out, m->arch, &defaults, err);
    if (status != RUNG_OK || !conf->thoughts) return status;
    (*out)->at_once = (rung_known){RUNG_VIOLATED, "the run trains a chain of thought before the answer"};
    (*out)->thoughts = conf->thoughts;
    return RUNG_OK;
}

/* ---- layers that a file describes -------------------------------------------------------------------------------- */

rung_status rung_subject_layers(rung_subject **out, const rung_ledger *ledger, rung_error *err)
{
    rung_subject *s = subject_new(RUNG_SUBJECT_LAYERS, err);
    if (s) s->ledger = ledger;
    return hand_over(out, s, s ? RUNG_OK : RUNG_SYSTEM);
}

/* A safetensors file starts with the header length in eight bytes, of which the highest is 0. A text has no zero
 * bytes. */
static rung_status is_safetensors(bool *is, const char *path, rung_error *err)
{
    rung_file_map map;
    RUNG_TRY(rung_file_open_map(&map, path, err));
    *is = map.size > 8 && map.bytes[7] == 0 && map.bytes[8] == '{' && memcmp(map.bytes, "GGUF", 4) != 0;
    rung_file_close_map(&map);
    return RUNG_OK;
}

static rung_status model_file(rung_subject **out, const char *path, rung_error *err)
{
    rung_model *model;
    RUNG_TRY(rung_model_open(&model, path, err));
    rung_status status = rung_subject_model(out, model, path, err);
    rung_model_close(model);
    return status;
}

static rung_status ledger_file(rung_subject **out, const char *path, rung_error *err)
{
    rung_subject *s = subject_new(RUNG_SUBJECT_LAYERS, err);
    return hand_over(out, s, s ? rung_ledger_open(&s->own, path, err) : RUNG_SYSTEM);
}

static rung_status plain_file(rung_subject **out, const char *path, rung_error *err)
{
    bool ours;
    RUNG_TRY(is_safetensors(&ours, path, err));
    return ours ? model_file(out, path, err) : ledger_file(out, path, err);
}

/* A directory stands for its config.json. */
rung_status rung_subject_file(rung_subject **out, const char *path, rung_error *err)
{
    struct stat there;
    *out = NULL;
    bool directory = stat(path, &there) == 0 && S_ISDIR(there.st_mode);
    return directory ? ledger_file(out, path, err) : plain_file(out, path, err);
}

/* ---- more of the same -------------------------------------------------------------------------------------------- */

/* A copy of the ledger but for its layers, which are zero. */
static rung_subject *subject_like(const rung_subject *from, size_t layers, rung_error *err)
{
    rung_subject *s = subject_new(RUNG_SUBJECT_LAYERS, err);
    rung_ledger_layer *layer = s ? rung_arena_alloc(&s->own.arena, layers + 1, sizeof *layer, err) : NULL;
    if (!layer) return rung_subject_free(s), NULL;
    rung_arena arena = s->own.arena;
    s->own = *from->ledger;
    s->own.arena = arena, s->own.layer = layer, s->own.layer_count = layers;
    s->at_once = from->at_once, s->thoughts = from->thoughts, s->ours = from->ours;
    return s;
}

rung_status rung_subject_repeat(rung_subject **out, const rung_subject *from, size_t first, size_t count, size_t times,
                                rung_error *err)
{
    const rung_ledger *old = from->ledger;
    size_t after = first + count, rest = old->layer_count - after;
    rung_subject *s = subject_like(from, first + times + rest, err);
    rung_ledger_layer *layer = s ? s->own.layer : NULL;
    for (size_t i = 0; s && i < first; i++) layer[i] = old->layer[i];
    for (size_t i = 0; s && i < times; i++) layer[first + i] = old->layer[first];
    for (size_t i = 0; s && i < rest; i++) layer[first + times + i] = old->layer[after + i];
    return hand_over(out, s, s ? RUNG_OK : RUNG_SYSTEM);
}

static bool has_mechanism(const rung_ledger *ledger, const char *mechanism)
{
    for (size_t i = 0; i < ledger->layer_count; i++)
        if (strcmp(ledger->layer[i].mechanism, mechanism) == 0) return true;
    return false;
}

rung_status rung_subject_replace(rung_subject **out, const rung_subject *from, const rung_ledger_layer *layers,
                                 size_t count, rung_error *err)
{
    rung_subject *s = subject_like(from, count, err);
    for (size_t i = 0; s && i < count; i++) {
        s->own.layer[i] = layers[i];
        if (has_mechanism(from->ledger, layers[i].mechanism)) continue;
        for (size_t f = 0; f < RUNG_BLOCK_FACTS; f++)
            s->own.block.known[f] = (rung_known){RUNG_NOT_ESTABLISHED, "layers were replaced by others"};
    }
    return hand_over(out, s, s ? RUNG_OK : RUNG_SYSTEM);
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

rung_subject_kind rung_subject_kind_of(const rung_subject *s)
{
    return s->kind;
}

const rung_ledger *rung_subject_ledger(const rung_subject *s)
{
    return s->ledger;
}

const char *rung_subject_arch_text(const rung_subject *s)
{
    return s->arch;
}

const rung_arch_defaults *rung_subject_arch_defaults(const rung_subject *s)
{
    return s->arch ? &s->defaults : NULL;
}
