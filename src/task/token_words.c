/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Prompts as words, and back. A row only says how an id is written, so reading is a join: the distinct words
 * of the text go into a hash table, then every id of the vocabulary is written and looked up. That is linear
 * in text and vocabulary, needs memory for the text only, and holds for any vocabulary that a task may have.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define UNRESOLVED UINT32_MAX /* above every id, because vocabularies end at 2^24 */

void rung_task_symbols_write(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf)
{
    if (!conf->task->token_word) return;
    for (size_t t = 0; t < instance->tokens; t++) {
        if (t > 0) rung_buf_putc(out, ' ');
        conf->task->token_word(out, conf, instance->token[t]);
    }
}

void rung_task_answer_write(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    if (conf->task->answer_word)
        conf->task->answer_word(out, conf, answer);
    else
        rung_buf_printf(out, "%d", (int)answer);
}

typedef struct slot {
    const char *word; /* into the text; NULL: free */
    size_t len;
    uint32_t id;
} slot;

typedef struct word_table {
    slot *slots;
    size_t mask;
    size_t distinct, resolved;
} word_table;

/* Returns the slot of the word, or the free slot where it belongs. The table is never more than half full. */
static size_t slot_of(const word_table *table, const char *word, size_t len)
{
    size_t i = (size_t)rung_hash64(word, len) & table->mask;
    for (;; i = (i + 1) & table->mask) {
        const slot *s = &table->slots[i];
        if (!s->word || (s->len == len && memcmp(s->word, word, len) == 0)) return i;
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns the next word at or after `at`, or NULL at the end of the text. */
static const char *next_word(size_t *len, const char *at)
{
    while (is_space(*at)) at++;
    size_t n = 0;
    while (at[n] && !is_space(at[n])) n++;
    *len = n;
    return n ? at : NULL;
}

static size_t count_words(const char *text)
{
    size_t count = 0, len;
    for (const char *w = next_word(&len, text); w; w = next_word(&len, w + len)) count++;
    return count;
}

/* Enters the words in the table, and stores the slot of word t in token[t]. */
static void enter_words(word_table *table, uint32_t *token, const char *text)
{
    size_t len;
    for (const char *w = next_word(&len, text); w; w = next_word(&len, w + len)) {
        size_t i = slot_of(table, w, len);
        if (!table->slots[i].word) {
            table->slots[i] = (slot){w, len, UNRESOLVED};
            table->distinct++;
        }
        *token++ = (uint32_t)i;
    }
}

static rung_status resolve_words(word_table *table, const rung_task_conf *conf, rung_error *err)
{
    rung_buf word;
    rung_buf_init(&word);
    for (size_t id = 0; id < conf->vocab && table->resolved < table->distinct; id++) {
        rung_buf_reset(&word);
        conf->task->token_word(&word, conf, (uint32_t)id);
        if (word.failed) break;
        slot *s = &table->slots[slot_of(table, word.text, word.len)];
        if (!s->word || s->id != UNRESOLVED) continue;
        s->id = (uint32_t)id;
        table->resolved++;
    }
    rung_status status = rung_buf_ok(&word, err);
    rung_buf_clear(&word);
    return status;
}

static rung_status unknown_word(const char *word, size_t len, size_t position, const rung_task_conf *conf,
                                rung_error *err)
{
    rung_buf sample;
    rung_buf_init(&sample);
    conf->task->token_word(&sample, conf, 0);
    rung_fail(err, RUNG_INPUT, "position %zu: '%.*s' is not a word of task %s with these parameters; one is '%s'",
              position, (int)(len < 60 ? len : 60), word, conf->task->name, sample.failed ? "" : sample.text);
    rung_buf_clear(&sample);
    return RUNG_INPUT;
}

static rung_status join_words(rung_instance *instance, word_table *table, const char *text, size_t count,
                              const rung_task_conf *conf, rung_error *err)
{
    enter_words(table, instance->token, text);
    rung_status status = resolve_words(table, conf, err);
    for (size_t t = 0; t < count && status == RUNG_OK; t++) {
        const slot *s = &table->slots[instance->token[t]];
        if (s->id == UNRESOLVED) return unknown_word(s->word, s->len, t, conf, err);
        instance->token[t] = s->id;
    }
    return status;
}

static rung_status search_words(rung_instance *instance, const char *text, size_t count, const rung_task_conf *conf,
                                rung_error *err)
{
    size_t slots = 2;
    while (slots < 2 * count) slots *= 2;
    word_table table = {.slots = rung_calloc(slots, sizeof(slot), err), .mask = slots - 1};
    if (!table.slots) return RUNG_SYSTEM;
    rung_status status = join_words(instance, &table, text, count, conf, err);
    free(table.slots);
    return status;
}

static bool is_word_of(rung_buf *scratch, uint32_t id, const char *word, size_t len, const rung_task_conf *conf)
{
    if (id >= conf->vocab) return false;
    rung_buf_reset(scratch);
    conf->task->token_word(scratch, conf, id);
    return !scratch->failed && scratch->len == len && memcmp(scratch->text, word, len) == 0;
}

static rung_status parse_words(rung_instance *instance, const char *text, const rung_task_conf *conf, rung_error *err)
{
    size_t len, t = 0;
    rung_status status = RUNG_OK;
    rung_buf scratch;
    rung_buf_init(&scratch);
    for (const char *w = next_word(&len, text); w && status == RUNG_OK; w = next_word(&len, w + len), t++) {
        uint32_t id = conf->task->token_read(conf, w, len);
        if (is_word_of(&scratch, id, w, len, conf))
            instance->token[t] = id;
        else
            status = unknown_word(w, len, t, conf, err);
    }
    if (scratch.failed) status = rung_buf_ok(&scratch, err);
    rung_buf_clear(&scratch);
    return status;
}

rung_status rung_task_symbols_read(rung_instance *instance, const char *text, const rung_task_conf *conf,
                                   rung_error *err)
{
    rung_task_forget(instance, conf);
    if (!conf->task->token_word)
        return rung_fail(err, RUNG_USAGE, "task %s has feature vectors, which have no words; use a binary format",
                         conf->task->name);
    size_t count = count_words(text);
    if (count == 0 || count > conf->tokens)
        return rung_fail(err, RUNG_INPUT, "%zu words, and a prompt of task %s with these parameters has %s%zu", count,
                         conf->task->name, count ? "at most " : "", conf->tokens);
    rung_status status = conf->task->token_read ? parse_words(instance, text, conf, err)
                                                : search_words(instance, text, count, conf, err);
    if (status == RUNG_OK) instance->tokens = count;
    return status;
}
