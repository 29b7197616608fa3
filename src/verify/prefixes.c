/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Prompts in the order of an enumeration differ from the one before in their last positions only: all queries of a
 * table follow each other, and so do tables with the same beginning. The state after a prefix is kept where the
 * choices fork, in one session for each such place, and a prompt continues from the longest prefix that it shares with
 * the one before. In the exact evaluator a continued session has the bits of a whole run, so nothing changes but the
 * time. A prefix on which the model stops is not kept: then whole prompts are run, and their messages are those of
 * whole runs.
 */
#include "prefixes.h"

#include <stdlib.h>
#include <string.h>

/* Forks from the end of the prompt on, until so many prompts follow each other before an earlier position changes:
 * what is computed again after that is a small part. */
enum { FORKS_MOST = 12, ENOUGH = 256 };

struct rung_prefixes {
    rung_judge *judge;
    size_t count, length[FORKS_MOST]; /* of the prefixes, ascending */
    rung_session *saved[FORKS_MOST];
    size_t ready;           /* so many of them are filled */
    rung_instance previous; /* the prompt that they were filled from */
};

static void find_forks(rung_prefixes *p)
{
    const rung_task_conf *task = p->judge->task;
    uint64_t behind = 1;
    size_t from_end[FORKS_MOST], count = 0;
    for (size_t pos = task->tokens; pos-- > 1 && count < FORKS_MOST && behind < ENOUGH;) {
        uint64_t choices = task->task->choices(task, pos);
        if (choices < 2) continue;
        from_end[count++] = pos;
        behind = choices < ENOUGH ? behind * choices : ENOUGH;
    }
    for (size_t i = 0; i < count; i++) p->length[i] = from_end[count - 1 - i];
    p->count = count;
}

rung_status prefixes_new(rung_prefixes **out, rung_judge *judge, rung_error *err)
{
    *out = NULL;
    if (!judge->task->task->choices || !judge->spec->causal) return RUNG_OK;
    rung_prefixes *p = rung_calloc(1, sizeof *p, err);
    if (!p) return RUNG_SYSTEM;
    p->judge = judge;
    find_forks(p);
    rung_status status = rung_instance_init(&p->previous, judge->task, err);
    for (size_t i = 0; i < p->count; i++)
        RUNG_NEXT(status, rung_session_new(&p->saved[i], judge->program, p->length[i], err));
    if (status == RUNG_OK)
        *out = p;
    else
        prefixes_free(p);
    return status;
}

void prefixes_free(rung_prefixes *p)
{
    if (!p) return;
    for (size_t i = 0; i < FORKS_MOST; i++) rung_session_free(p->saved[i]);
    rung_instance_clear(&p->previous);
    free(p);
}

static bool same_row(const rung_task_conf *task, const rung_instance *a, const rung_instance *b, size_t t)
{
    if (task->vocab && a->token[t] != b->token[t]) return false;
    return !task->d_in ||
           memcmp(a->feature + t * task->d_in, b->feature + t * task->d_in, task->d_in * sizeof *a->feature) == 0;
}

static size_t shared_with_previous(const rung_prefixes *p)
{
    const rung_instance *now = &p->judge->instance;
    size_t most = p->previous.tokens < now->tokens ? p->previous.tokens : now->tokens, t = 0;
    while (t < most && same_row(p->judge->task, &p->previous, now, t)) t++;
    return t;
}

static void remember(rung_prefixes *p)
{
    const rung_task_conf *task = p->judge->task;
    const rung_instance *now = &p->judge->instance;
    p->previous.tokens = now->tokens;
    if (task->vocab) memcpy(p->previous.token, now->token, now->tokens * sizeof *now->token);
    if (task->d_in) memcpy(p->previous.feature, now->feature, now->tokens * task->d_in * sizeof *now->feature);
}

/* Fills saved[ready] from the session, which is at the prefix before it. */
static bool fill_next(rung_prefixes *p)
{
    rung_session *session = p->judge->session;
    rung_error ignored;
    size_t from = rung_session_tokens(session);
    rung_prompt part = rung_judge_prompt(p->judge, from, p->length[p->ready] - from);
    if (rung_session_run(session, NULL, &part, RUNG_FORM_SCAN, NULL, 0, &ignored) != RUNG_OK ||
        rung_session_copy(p->saved[p->ready], session, &ignored) != RUNG_OK)
        return false;
    p->ready++;
    return true;
}

void prefixes_continue(size_t *tokens, rung_prefixes *p)
{
    rung_judge *j = p->judge;
    rung_error ignored;
    size_t shared = shared_with_previous(p), most = j->targets ? j->at[0] : 0;
    bool well = true;
    while (p->ready > 0 && p->length[p->ready - 1] > shared) p->ready--;
    remember(p);
    size_t from = p->ready;
    while (from > 0 && p->length[from - 1] > most) from--;
    if (from > 0)
        well = rung_session_copy(j->session, p->saved[from - 1], &ignored) == RUNG_OK;
    else
        rung_session_reset(j->session);
    if (from == p->ready)
        while (well && p->ready < p->count && p->length[p->ready] <= most) well = fill_next(p);
    if (!well) rung_session_reset(j->session);
    *tokens = rung_session_tokens(j->session);
}
