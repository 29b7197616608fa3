/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The vocabulary of an exported model: the words of its task. An answer is the token of the same word, so that what the
 * engine generates can be read on. The last id has no word: it stands for text that is none. Without a task tokens are t0, t1, ... and answers a0, a1, ...
 */
#include "export_inside.h"

#include <stdlib.h>
#include <string.h>

typedef struct named_id {
    const char *word;
    size_t id;
} named_id;

typedef struct word_list {
    target *t;
    named_id *sorted; /* the tokens, by word */
    bool *answers;    /* whether a token answers already */
    rung_task_conf conf;
    bool task; /* conf is set, and its ids are those of the model */
    size_t tokens, thoughts;
    rung_buf text;
    rung_error *err;
} word_list;

static rung_status read_conf(word_list *w, const rung_model_spec *spec)
{
    w->tokens = spec->vocab, w->thoughts = spec->thoughts;
    if (!spec->task || !*spec->task) return RUNG_OK;
    RUNG_TRY(rung_task_conf_parse(&w->conf, spec->task, w->err));
    w->task = w->conf.vocab + spec->thoughts == spec->vocab && w->conf.answers + spec->thoughts == spec->answers &&
              w->conf.task->token_word;
    return RUNG_OK;
}

static void write_token(word_list *w, size_t id)
{
    size_t words = w->tokens - w->thoughts;
    rung_buf_reset(&w->text);
    if (!w->task)
        rung_buf_printf(&w->text, "t%zu", id);
    else if (id >= words)
        rung_buf_printf(&w->text, "thought%zu", id - words);
    else
        w->conf.task->token_word(&w->text, &w->conf, (uint32_t)id);
}

static rung_status keep_word(word_list *w, size_t id)
{
    RUNG_TRY(rung_buf_ok(&w->text, w->err));
    w->t->word[id] = rung_arena_strdup(&w->t->arena, w->text.text, w->err);
    return w->t->word[id] ? RUNG_OK : RUNG_SYSTEM;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(((const named_id *)a)->word, ((const named_id *)b)->word);
}

static rung_status sort_tokens(word_list *w)
{
    w->sorted = rung_arena_alloc(&w->t->arena, w->tokens, sizeof *w->sorted, w->err);
    w->answers = rung_arena_alloc(&w->t->arena, w->tokens, sizeof *w->answers, w->err);
    if (!w->sorted || !w->answers) return RUNG_SYSTEM;
    for (size_t id = 0; id < w->tokens; id++) w->sorted[id] = (named_id){w->t->word[id], id};
    qsort(w->sorted, w->tokens, sizeof *w->sorted, compare_words);
    for (size_t i = 1; i < w->tokens; i++)
        if (compare_words(&w->sorted[i - 1], &w->sorted[i]) == 0)
            return rung_fail(w->err, RUNG_INPUT, "two tokens have the word '%s', and a vocabulary needs different ones",
                             w->sorted[i].word);
    return RUNG_OK;
}

/* Answers that are thoughts are the tokens of these thoughts; the others are compared by word. */
static rung_status place_answer(word_list *w, size_t answer, size_t answers)
{
    target *t = w->t;
    named_id *same = NULL;
    if (answer >= answers - w->thoughts) {
        t->answer[answer] = w->tokens - answers + answer;
        return RUNG_OK;
    }
    rung_buf_reset(&w->text);
    if (w->task)
        rung_task_answer_write(&w->text, &w->conf, (int32_t)answer);
    else
        rung_buf_printf(&w->text, "a%zu", answer);
    RUNG_TRY(rung_buf_ok(&w->text, w->err));
    if (w->task) same = bsearch(&(named_id){w->text.text, 0}, w->sorted, w->tokens, sizeof *w->sorted, compare_words);
    if (!same) {
        t->answer[answer] = t->vocab;
        return keep_word(w, t->vocab++);
    }
    if (w->answers[same->id])
        return rung_fail(w->err, RUNG_INPUT, "two answers have the word '%s', so one id cannot tell them apart",
                         same->word);
    w->answers[same->id] = true;
    t->answer[answer] = same->id;
    return RUNG_OK;
}

static rung_status make_words(word_list *w, const rung_model_spec *spec)
{
    target *t = w->t;
    t->word = rung_arena_alloc(&t->arena, spec->vocab + spec->answers + 1, sizeof *t->word, w->err);
    t->answer = rung_arena_alloc(&t->arena, spec->answers, sizeof *t->answer, w->err);
    if (!t->word || !t->answer) return RUNG_SYSTEM;
    RUNG_TRY(read_conf(w, spec));
    for (t->vocab = 0; t->vocab < spec->vocab; t->vocab++) {
        write_token(w, t->vocab);
        RUNG_TRY(keep_word(w, t->vocab));
    }
    RUNG_TRY(sort_tokens(w));
    for (size_t a = 0; a < spec->answers; a++) RUNG_TRY(place_answer(w, a, spec->answers));
    t->word[t->vocab++] = ""; /* no word: all other text */
    return RUNG_OK;
}

rung_status target_words(target *t, const rung_model *model, rung_error *err)
{
    word_list w = {.t = t, .err = err};
    rung_buf_init(&w.text);
    rung_status status = make_words(&w, rung_model_get_spec(model));
    rung_buf_clear(&w.text);
    return status;
}
