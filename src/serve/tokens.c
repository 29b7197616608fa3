/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tokens of texts; see tokens.h.
 */
#include "tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define BYTES     256
#define WORDS_MAX ((size_t)1 << 20) /* its table takes about 64 MB */

struct serve_tokens {
    rung_buf text;   /* all words, each with a NUL behind it */
    size_t *start;   /* [count] offsets into the text */
    uint32_t *slots; /* word + 1, or 0 if free; a power of two, at most half full */
    size_t count, room, mask, longest;
};

/* ---- lists of ids ------------------------------------------------------------------------------------------------ */

void serve_ids_add(serve_ids *ids, uint32_t id)
{
    if (ids->failed) return;
    if (ids->count == ids->room) {
        size_t room = ids->room ? 2 * ids->room : 256;
        uint32_t *grown = realloc(ids->id, room * sizeof *grown);
        if (!grown) {
            ids->failed = true;
            return;
        }
        ids->id = grown;
        ids->room = room;
    }
    ids->id[ids->count++] = id;
}

void serve_ids_clear(serve_ids *ids)
{
    free(ids->id);
    *ids = (serve_ids){0};
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static const char *word_at(const serve_tokens *t, size_t word)
{
    return t->text.text + t->start[word];
}

/* The slot of the word, or the free slot where it belongs. */
static uint32_t *slot_of(const serve_tokens *t, const char *word, size_t len)
{
    for (size_t i = (size_t)rung_hash64(word, len) & t->mask;; i = (i + 1) & t->mask) {
        uint32_t held = t->slots[i];
        if (!held) return &t->slots[i];
        const char *other = word_at(t, held - 1);
        if (strncmp(other, word, len) == 0 && other[len] == '\0') return &t->slots[i];
    }
}

static void add_word(serve_tokens *t, const char *word, size_t len)
{
    uint32_t *slot = slot_of(t, word, len);
    if (*slot || len == 0 || t->text.failed || t->count == t->room) return;
    t->start[t->count++] = t->text.len;
    *slot = (uint32_t)t->count;
    rung_buf_add(&t->text, word, len);
    rung_buf_putc(&t->text, '\0');
    if (len > t->longest) t->longest = len;
}

void serve_thought_text(rung_buf *out, size_t e)
{
    rung_buf_printf(out, "thought%zu", e);
}

static void add_task_words(serve_tokens *t, const rung_task_conf *task, size_t thoughts)
{
    rung_buf word;
    rung_buf_init(&word);
    for (size_t i = 0; i < task->vocab + task->answers + thoughts; i++) {
        rung_buf_reset(&word);
        if (i < task->vocab)
            task->task->token_word(&word, task, (uint32_t)i);
        else if (i < task->vocab + task->answers)
            rung_task_answer_write(&word, task, (int32_t)(i - task->vocab));
        else
            serve_thought_text(&word, i - task->vocab - task->answers);
        if (word.failed) t->text.failed = true;
        if (!word.failed) add_word(t, word.text, word.len);
    }
    rung_buf_clear(&word);
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || (unsigned char)c >= 0x80;
}

/* Adds the words that stand between the names and numbers of a text. */
static void add_letters(serve_tokens *t, const char *text)
{
    while (*text) {
        size_t len = 0, letters = 0;
        for (; in_word(text[len]); len++) letters += isalpha((unsigned char)text[len]) != 0;
        if (len && len == letters) add_word(t, text, len);
        text += len ? len : 1;
    }
}

/* Adds the words of sample texts, whose names contain digits. */
static rung_status add_text_words(serve_tokens *t, const rung_task_conf *task, rung_error *err)
{
    rung_instance instance = {0};
    size_t count = rung_text_names(task, RUNG_TEXT_FACTS);
    char(*name)[24] = rung_calloc(count + 1, sizeof *name, err);
    const char **names = rung_calloc(count + 1, sizeof *names, err);
    rung_buf text;
    rung_buf_init(&text);
    rung_status status = name && names ? rung_instance_init(&instance, task, err) : RUNG_SYSTEM;
    for (size_t i = 0; i < count && status == RUNG_OK; i++) {
        snprintf(name[i], sizeof name[i], "x%zu", i);
        names[i] = name[i];
    }
    RUNG_NEXT(status, rung_task_make(&instance, task, 0, 0, err));
    for (unsigned code = 0; code < 8 && status == RUNG_OK; code++) {
        rung_text_options options = {.spelling = code & 1 ? RUNG_TEXT_TABLE : RUNG_TEXT_FACTS,
                                     .chain_of_thought = (code & 2) != 0,
                                     .hops = code & 4 ? 1 : 0,
                                     .cue = true};
        if (rung_text_check(task, &options, NULL) != RUNG_OK) continue;
        rung_buf_reset(&text);
        rung_text_write(&text, &instance, task, names, &options);
        status = rung_buf_ok(&text, err);
        if (status == RUNG_OK) add_letters(t, text.text);
    }
    rung_buf_clear(&text);
    rung_instance_clear(&instance);
    free(names);
    free(name);
    return status;
}

static rung_status allocate(serve_tokens *t, size_t words, rung_error *err)
{
    size_t slots = 2;
    while (slots < 2 * words) slots *= 2;
    t->room = words;
    t->mask = slots - 1;
    t->start = rung_calloc(words, sizeof *t->start, err);
    t->slots = rung_calloc(slots, sizeof *t->slots, err);
    return t->start && t->slots ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status fill(serve_tokens *t, const rung_task_conf *task, size_t thoughts, rung_error *err)
{
    size_t names = 0, fixed = 200; /* a text has far fewer fixed words than that */
    while (rung_text_candidate_at(names)) names++;
    size_t words = task->vocab + task->answers + thoughts + names + fixed;
    if (words > WORDS_MAX)
        return rung_fail(err, RUNG_USAGE,
                         "the task has %zu words, but a tokenizer has at most %zu; serve a smaller task", words,
                         WORDS_MAX);
    RUNG_TRY(allocate(t, words, err));
    add_task_words(t, task, thoughts);
    for (size_t i = 0; i < names; i++) add_word(t, rung_text_candidate_at(i), strlen(rung_text_candidate_at(i)));
    RUNG_TRY(add_text_words(t, task, err));
    return rung_buf_ok(&t->text, err);
}

rung_status serve_tokens_new(serve_tokens **out, const rung_task_conf *task, size_t thoughts, rung_error *err)
{
    *out = NULL;
    serve_tokens *t = rung_calloc(1, sizeof *t, err);
    if (!t) return RUNG_SYSTEM;
    rung_buf_init(&t->text);
    rung_status status = fill(t, task, thoughts, err);
    if (status == RUNG_OK)
        *out = t;
    else
        serve_tokens_free(t);
    return status;
}

void serve_tokens_free(serve_tokens *t)
{
    if (!t) return;
    rung_buf_clear(&t->text);
    free(t->start);
    free(t->slots);
    free(t);
}

size_t serve_tokens_count(const serve_tokens *t)
{
    return BYTES + 2 * t->count;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Finds the longest word at this place; returns its bytes, and its id without a space. A word ends at white space, or
 * at anything but letters and digits. The search stops at the length of the longest known word, so that a long run of
 * letters takes linear time. */
static size_t match(uint32_t *id, const serve_tokens *t, const char *text)
{
    size_t run = 0, word = 0;
    while (run <= t->longest && text[run] && !is_space(text[run])) run++;
    while (word < run && in_word(text[word])) word++;
    const size_t lengths[] = {run, word};
    for (size_t i = 0; i < RUNG_COUNT(lengths); i++) {
        if (lengths[i] == 0 || lengths[i] > t->longest) continue;
        uint32_t held = *slot_of(t, text, lengths[i]);
        if (!held) continue;
        *id = BYTES + 2 * (held - 1);
        return lengths[i];
    }
    return 0;
}

void serve_tokens_encode(serve_ids *out, const serve_tokens *t, const char *text, size_t most)
{
    while (*text && out->count <= most && !out->failed) {
        uint32_t id = 0;
        size_t space = *text == ' ', len = match(&id, t, text + space);
        if (len) {
            serve_ids_add(out, id + (uint32_t)space);
            text += space + len;
            continue;
        }
        /* An unknown word is spelled in bytes to its end: no word begins in its middle. */
        do {
            serve_ids_add(out, (unsigned char)*text++);
        } while (in_word(text[-1]) && in_word(*text) && out->count <= most);
    }
}

void serve_tokens_piece(rung_buf *out, const serve_tokens *t, uint32_t id)
{
    if (id < BYTES) {
        rung_buf_putc(out, (char)id);
        return;
    }
    if ((id - BYTES) % 2) rung_buf_putc(out, ' ');
    rung_buf_puts(out, word_at(t, (id - BYTES) / 2));
}
