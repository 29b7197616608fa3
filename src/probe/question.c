/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One question as text: solved examples, then the instance. Names are drawn anew for each, so that earlier prompts do
 * not help.
 */
#include <string.h>

#include "probe_internal.h"

#define EXAMPLE_STREAM 0x6578616d706c65 /* "example": instances that are never asked */
#define NAME_STREAM    0x6e616d6573     /* "names" */

/* Draws `need` names of the pool in random order. */
static rung_status draw_names(const char ***out, probe_question *q, size_t need, const char *const *pool, size_t count,
                              rung_rng *rng, rung_error *err)
{
    uint32_t *pick = rung_arena_alloc(&q->arena, need, sizeof *pick, err);
    const char **names = rung_arena_alloc(&q->arena, need, sizeof *names, err);
    if (!pick || !names) return RUNG_SYSTEM;
    if (need > count)
        return rung_fail(err, RUNG_USAGE, "a prompt needs %zu names, but there are %zu; use fewer facts", need, count);
    rung_status status = need ? rung_rng_sample(rng, pick, need, (uint32_t)count, err) : RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < need; i++) names[i] = pool[pick[i]];
    *out = names;
    return status;
}

static rung_status put_instance(probe_question *q, const rung_instance *instance, const rung_task_conf *task,
                                const rung_text_options *options, const char *const *names, rung_error *err)
{
    rung_text_write(&q->prompt, instance, task, names, options);
    return rung_buf_ok(&q->prompt, err);
}

static rung_status put_examples(probe_question *q, const probe_cell *cell, const rung_probe_options *conf,
                                const char *const *pool, size_t count, uint64_t index, rung_rng *rng, rung_error *err)
{
    rung_instance instance;
    rung_text_options options = cell->options;
    options.solved = true;
    options.chain_of_thought = false;
    if (!conf->shots || cell->options.chain_of_thought)
        return RUNG_OK; /* an example without steps would teach the model to skip them */
    rung_status status = rung_instance_init(&instance, &cell->example, err);
    RUNG_TRY(status);
    for (size_t i = 0; status == RUNG_OK && i < conf->shots; i++) {
        const char **names;
        options.seed++;
        status = draw_names(&names, q, rung_text_names(&cell->example, options.spelling), pool, count, rng, err);
        RUNG_NEXT(status,
                  rung_task_make(&instance, &cell->example, conf->seed ^ EXAMPLE_STREAM, index * conf->shots + i, err));
        RUNG_NEXT(status, put_instance(q, &instance, &cell->example, &options, names, err));
    }
    rung_instance_clear(&instance);
    return status;
}

static rung_status put_answers(probe_question *q, const rung_instance *instance, const probe_cell *cell,
                               const rung_text_options *options, const char *const *names, rung_error *err)
{
    rung_buf word;
    rung_status status = RUNG_OK;
    q->count = rung_text_answers(&cell->task, options);
    q->wanted = rung_text_answer(instance, &cell->task, options);
    q->answers = rung_arena_alloc(&q->arena, q->count, sizeof *q->answers, err);
    if (!q->answers) return RUNG_SYSTEM;
    rung_buf_init(&word);
    for (size_t i = 0; status == RUNG_OK && i < q->count; i++) {
        rung_buf_reset(&word);
        rung_text_answer_write(&word, &cell->task, names, options, i);
        status = rung_buf_ok(&word, err);
        if (status == RUNG_OK) q->answers[i] = rung_arena_strdup(&q->arena, word.text, err);
        if (status == RUNG_OK && !q->answers[i]) status = RUNG_SYSTEM;
    }
    rung_buf_clear(&word);
    return status;
}

static rung_status put_question(probe_question *q, const rung_instance *instance, const probe_cell *cell,
                                const rung_probe_options *conf, const char *const *pool, size_t count, bool cue,
                                uint64_t index, rung_error *err)
{
    const char **names;
    rung_rng rng;
    rung_text_options options = cell->options;
    /* Controls have the names and facts of the cell that they control, because the stream does not depend on the
     * mode. */
    rung_rng_init(&rng, conf->seed, NAME_STREAM + cell->grid_cell, index);
    options.cue = cue;
    options.seed = rung_rng_u64(&rng);
    RUNG_TRY(draw_names(&names, q, cell->names, pool, count, &rng, err));
    RUNG_TRY(put_examples(q, cell, conf, pool, count, index, &rng, err));
    RUNG_TRY(put_instance(q, instance, &cell->task, &options, names, err));
    return put_answers(q, instance, cell, &options, names, err);
}

rung_status probe_question_init(probe_question *q, const probe_cell *cell, const rung_probe_options *conf,
                                const char *const *names, size_t count, bool cue, uint64_t index, rung_error *err)
{
    rung_instance instance;
    memset(q, 0, sizeof *q);
    rung_buf_init(&q->prompt);
    rung_arena_init(&q->arena);
    RUNG_TRY(rung_instance_init(&instance, &cell->task, err));
    rung_status status = rung_task_make(&instance, &cell->task, conf->seed, index, err);
    RUNG_NEXT(status, put_question(q, &instance, cell, conf, names, count, cue, index, err));
    rung_instance_clear(&instance);
    return status;
}

void probe_question_clear(probe_question *q)
{
    rung_buf_clear(&q->prompt);
    rung_arena_clear(&q->arena);
}
