/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Text over chosen names; the contract is in rung/task.h. A text has three parts, each of them one line but for tables:
 *     Facts: The guide of apple is stone. ...
 *     Question: ... Answer with one name only.
 *     Answer:
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "text_book.h"
#include "text_form.h"

const char *const rung_text_spelling_names[] = {"facts", "table", "words", NULL};

#define LABEL_FACTS      "Facts:"
#define LABEL_TABLE      "Table:"
#define LABEL_QUESTION   "Question:"
#define CUE              "Answer:"
#define REPLY            " Answer with "
#define REPLY_END        " only."
#define CHAIN_OF_THOUGHT " Think step by step. End with a line that says Answer: and "

static size_t most_hops(const rung_task_conf *conf)
{
    const rung_text_form *form = conf->task->text;
    return form->hops ? form->hops(conf) : 1;
}

/* The number of hops of the answer; 0: the task's own. */
static size_t answer_hops(const rung_task_conf *conf, const rung_text_options *options)
{
    return options->spelling != RUNG_TEXT_WORDS && conf->task->text->answer ? options->hops : 0;
}

static rung_status check_words(const rung_task_conf *conf, const rung_text_options *options, rung_error *err)
{
    const char *name = conf->task->name;
    if (!conf->task->token_word)
        return rung_fail(err, RUNG_USAGE, "task %s has feature vectors, which have no text", name);
    if (options->shuffled || options->question_first || options->hops || options->chain_of_thought)
        return rung_fail(err, RUNG_USAGE,
                         "text of task %s: the spelling words is the prompt as it is; shuffled entries, another place "
                         "of the question, fewer hops and steps need the spelling facts or table",
                         name);
    return RUNG_OK;
}

rung_status rung_text_check(const rung_task_conf *conf, const rung_text_options *options, rung_error *err)
{
    const char *name = conf->task->name;
    if (options->spelling == RUNG_TEXT_WORDS) return check_words(conf, options, err);
    const rung_text_form *form = conf->task->text;
    if (!form)
        return rung_fail(err, RUNG_USAGE, "task %s has no text over names; take the spelling words, or another task",
                         name);
    if (options->shuffled && form->ordered)
        return rung_fail(err, RUNG_USAGE,
                         "text of task %s: the order of its entries has a meaning; do not shuffle them", name);
    if (options->hops > 1 && options->hops > most_hops(conf))
        return rung_fail(err, RUNG_USAGE, "text of task %s: %zu hops, and with these parameters it has %zu", name,
                         options->hops, most_hops(conf));
    return form->check ? form->check(conf, options->hops, err) : RUNG_OK;
}

size_t rung_text_names(const rung_task_conf *conf, rung_text_spelling spelling)
{
    if (spelling == RUNG_TEXT_WORDS || !conf->task->text) return 0;
    rung_role roles[RUNG_TEXT_ROLES];
    size_t count = conf->task->text->roles(roles, conf), most = 0;
    for (size_t r = 0; r < count; r++)
        if (roles[r].first + roles[r].size > most) most = roles[r].first + roles[r].size;
    return most;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

size_t rung_text_answers(const rung_task_conf *conf, const rung_text_options *options)
{
    size_t hops = answer_hops(conf, options);
    if (!hops) return conf->answers;
    rung_role roles[RUNG_TEXT_ROLES];
    size_t last = conf->task->text->answer_role(conf, 0), role = conf->task->text->answer_role(conf, hops);
    conf->task->text->roles(roles, conf);
    return role == last ? conf->answers : roles[role].size; /* "none" is an answer after any number of hops */
}

size_t rung_text_answer(const rung_instance *instance, const rung_task_conf *conf, const rung_text_options *options)
{
    size_t hops = answer_hops(conf, options);
    if (hops) return conf->task->text->answer(instance, conf, hops);
    return (size_t)instance->target[rung_instance_last_target(instance)];
}

void rung_text_answer_write(rung_buf *out, const rung_task_conf *conf, const char *const *names,
                            const rung_text_options *options, size_t answer)
{
    if (options->spelling != RUNG_TEXT_WORDS) {
        rung_role roles[RUNG_TEXT_ROLES];
        size_t role = conf->task->text->answer_role(conf, answer_hops(conf, options));
        conf->task->text->roles(roles, conf);
        if (role != RUNG_NO_ROLE && answer < roles[role].size) {
            rung_buf_puts(out, names[roles[role].first + answer]);
            return;
        }
    }
    rung_task_answer_write(out, conf, (int32_t)answer);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static uint32_t *entry_order(size_t count, const rung_text_options *options)
{
    uint32_t *order = rung_calloc(count, sizeof *order, NULL);
    if (!order) return NULL;
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    if (!options->shuffled) return order;
    rung_rng rng;
    rung_rng_init(&rng, options->seed, 0x74657874, 0); /* its own stream: "text" */
    rung_rng_shuffle(&rng, order, count);
    return order;
}

static void put_entries(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, const uint32_t *order)
{
    const rung_text_form *form = conf->task->text;
    size_t count = form->entries(conf);
    rung_scribe_put(scribe, LABEL_FACTS, LABEL_TABLE);
    for (size_t i = 0; i < count && scribe->scan.status == RUNG_OK; i++) {
        rung_scribe_put(scribe, "", "\n");
        form->entry(scribe, instance, conf, order ? order[i] : i);
        if (form->list) rung_scribe_put(scribe, i + 1 < count ? "," : ".", "");
    }
}

static void put_question(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t hops,
                         bool chain_of_thought)
{
    const rung_text_form *form = conf->task->text;
    rung_scribe_say(scribe, LABEL_QUESTION);
    form->question(scribe, instance, conf, hops);
    chain_of_thought = rung_scribe_choose(scribe, chain_of_thought, CHAIN_OF_THOUGHT);
    rung_scribe_say(scribe, chain_of_thought ? CHAIN_OF_THOUGHT : REPLY);
    rung_scribe_say(scribe, form->reply);
    rung_scribe_say(scribe, chain_of_thought ? "." : REPLY_END);
}

/* Writes both parts and what is between them. */
static void put_parts(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf,
                      const rung_text_options *options, const uint32_t *order)
{
    if (!options->question_first) {
        put_entries(scribe, instance, conf, order);
        rung_scribe_say(scribe, "\n");
    }
    put_question(scribe, instance, conf, options->hops, options->chain_of_thought);
    if (options->question_first) {
        rung_scribe_say(scribe, "\n");
        put_entries(scribe, instance, conf, order);
    }
}

static void write_answer(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf,
                         const char *const *names, const rung_text_options *options)
{
    rung_buf_putc(out, ' ');
    rung_text_answer_write(out, conf, names, options, rung_text_answer(instance, conf, options));
    rung_buf_puts(out, "\n\n");
}

static void write_form(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf,
                       const char *const *names, const rung_text_options *options)
{
    rung_role roles[RUNG_TEXT_ROLES];
    conf->task->text->roles(roles, conf);
    rung_scribe scribe = {.spelling = options->spelling, .out = out, .names = names, .roles = roles};
    rung_instance shared = *instance; /* writing does not change it, but the forms are shared with the reader */
    uint32_t *order = entry_order(conf->task->text->entries(conf), options);
    if (!order) out->failed = true;
    if (order) put_parts(&scribe, &shared, conf, options, order);
    free(order);
    if (options->cue || options->solved) rung_buf_puts(out, "\n" CUE);
}

void rung_text_write(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf, const char *const *names,
                     const rung_text_options *options)
{
    if (options->spelling == RUNG_TEXT_WORDS)
        rung_task_symbols_write(out, instance, conf);
    else
        write_form(out, instance, conf, names, options);
    if (options->solved) write_answer(out, instance, conf, names, options);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static rung_text_spelling spelling_of(const char *text)
{
    if (starts(text, LABEL_FACTS)) return RUNG_TEXT_FACTS;
    if (starts(text, LABEL_TABLE)) return RUNG_TEXT_TABLE;
    if (!starts(text, LABEL_QUESTION)) return RUNG_TEXT_WORDS;
    return strstr(text, "\n" LABEL_TABLE) ? RUNG_TEXT_TABLE : RUNG_TEXT_FACTS;
}

static rung_status read_form(rung_instance *instance, rung_text_book *book, const rung_task_conf *conf, rung_error *err)
{
    const char *text = rung_text_book_text(book);
    rung_scribe scribe = {.reading = true, .spelling = rung_text_book_spelling(book), .book = book};
    rung_scan_init(&scribe.scan, text, err);
    rung_facts_begin(instance, conf);
    rung_text_options order = {.question_first = starts(text, LABEL_QUESTION)};
    put_parts(&scribe, instance, conf, &order, NULL);
    if (scribe.scan.status == RUNG_OK && *scribe.scan.at) rung_scribe_say(&scribe, "\n" CUE);
    if (rung_scan_end(&scribe.scan) != RUNG_OK) return scribe.scan.status;
    instance->tokens = conf->tokens;
    return RUNG_OK;
}

/* Where the last paragraph says the form of the answer, as in the files for evaluation harnesses, and nothing else. */
static bool says_form(const char *paragraph)
{
    size_t len = strlen(RUNG_TEXT_REPLY_FORM);
    if (strncmp(paragraph, RUNG_TEXT_REPLY_FORM, len) != 0) return false;
    paragraph += len + strspn(paragraph + len, " \t\r\n");
    if (strncmp(paragraph, RUNG_TEXT_REPLY_CUE, strlen(RUNG_TEXT_REPLY_CUE)) == 0)
        paragraph += strlen(RUNG_TEXT_REPLY_CUE);
    return paragraph[strspn(paragraph, " \t\r\n")] == '\0';
}

static rung_status read_paragraph(rung_instance *instance, rung_text_book **book, const char *paragraph,
                                  const rung_task_conf *conf, const char *const *names, rung_error *err)
{
    rung_text_spelling spelling = spelling_of(paragraph);
    rung_text_options options = {.spelling = spelling};
    rung_status status = rung_text_check(conf, &options, err);
    *book = NULL;
    if (status != RUNG_OK) return RUNG_INPUT;
    rung_role roles[RUNG_TEXT_ROLES];
    size_t count = spelling == RUNG_TEXT_WORDS ? 0 : conf->task->text->roles(roles, conf);
    size_t answers = count ? conf->task->text->answer_role(conf, 0) : RUNG_NO_ROLE;
    status = rung_text_book_new(book, paragraph, spelling, roles, count, answers, err);
    if (status == RUNG_OK && names) status = rung_text_book_fix(*book, names, rung_text_names(conf, spelling), err);
    RUNG_NEXT(status, spelling == RUNG_TEXT_WORDS
                          ? rung_task_symbols_read(instance, rung_text_book_text(*book), conf, err)
                          : read_form(instance, *book, conf, err));
    if (status == RUNG_OK) return RUNG_OK;
    rung_text_book_free(*book);
    *book = NULL;
    return status;
}

rung_status rung_text_read(rung_instance *instance, rung_text_book **book, const char *text, const rung_task_conf *conf,
                           const char *const *names, rung_error *err)
{
    const char *paragraph = rung_text_last_paragraph(text);
    if (paragraph == text || !says_form(paragraph)) return read_paragraph(instance, book, paragraph, conf, names, err);
    char *before = strndup(text, (size_t)(paragraph - text));
    if (!before) return rung_fail(err, RUNG_SYSTEM, "out of memory for a text of %zu bytes", strlen(text));
    rung_status status = read_paragraph(instance, book, rung_text_last_paragraph(before), conf, names, err);
    free(before);
    return status;
}
