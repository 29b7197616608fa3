/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: prompts as text. The first line is a letter, 's' for symbols, 'f' for facts or 'n' for text over
 * names, and a configuration of a task; the rest is the text. What is read must be within the vocabulary, must be
 * solved or refused, and must come back the same after it is written and read again.
 */
#include "rung/task.h"

#include <stdlib.h>
#include <string.h>

#define CACHED 256 /* configurations; resolving one can take as long as reading ten thousand texts */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

/* Small enough for a thousand texts a second. */
static bool is_small(const rung_task_conf *conf)
{
    return conf->tokens <= 1024 && conf->vocab <= 65536;
}

static bool numbers_are_short(const char *text)
{
    size_t digits = 0;
    for (; *text; text++) {
        digits = *text >= '0' && *text <= '9' ? digits + 1 : 0;
        if (digits > 2) return false; /* resolving sizes in the millions takes seconds */
    }
    return true;
}

/* Returns the configuration of the text, from the cache if possible; NULL when there is none or it is large. */
static const rung_task_conf *configure(const char *text)
{
    static struct {
        char text[64];
        rung_task_conf conf;
    } cache[CACHED];
    static size_t used;
    if (strlen(text) >= sizeof cache[0].text || !numbers_are_short(text)) return NULL;
    for (size_t i = 0; i < used; i++)
        if (strcmp(cache[i].text, text) == 0) return cache[i].conf.task ? &cache[i].conf : NULL;
    if (used == CACHED) return NULL;
    strcpy(cache[used].text, text);
    rung_task_conf *conf = &cache[used++].conf;
    rung_error err = {{0}};
    rung_status status = rung_task_conf_parse(conf, text, &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    if (status != RUNG_OK || !is_small(conf)) memset(conf, 0, sizeof *conf);
    return conf->task ? conf : NULL;
}

static rung_status read_text(rung_instance *instance, const rung_task_conf *conf, bool facts, const char *text)
{
    rung_error err = {{0}};
    rung_status status =
        facts ? conf->task->story_read(instance, text, conf, &err) : rung_task_symbols_read(instance, text, conf, &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    require(status == RUNG_OK || instance->tokens == 0);
    return status;
}

static void check_tokens(rung_instance *instance, const rung_task_conf *conf)
{
    rung_error err = {{0}};
    require(instance->tokens > 0 && instance->tokens <= conf->tokens);
    for (size_t t = 0; t < instance->tokens; t++) require(instance->token[t] < conf->vocab);
    rung_status status = conf->task->solve(instance, conf, &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    for (size_t t = 0; status == RUNG_OK && t < instance->tokens; t++)
        require(instance->target[t] >= RUNG_NO_TARGET && instance->target[t] < (int64_t)conf->answers);
}

static void check_round_trip(const rung_instance *instance, const rung_task_conf *conf, bool facts)
{
    rung_instance again;
    rung_buf text;
    rung_buf_init(&text);
    require(rung_instance_init(&again, conf, NULL) == RUNG_OK);
    if (facts)
        conf->task->story_write(&text, instance, conf);
    else
        rung_task_symbols_write(&text, instance, conf);
    require(read_text(&again, conf, facts, text.text) == RUNG_OK);
    require(again.tokens == instance->tokens);
    require(memcmp(again.token, instance->token, again.tokens * sizeof *again.token) == 0);
    rung_instance_clear(&again);
    rung_buf_clear(&text);
}

/* Names get ids as they appear in the text, so text that is written with other names has other ids. It is only read. */
static void check_names(const rung_task_conf *conf, const char *text)
{
    rung_instance instance;
    rung_text_book *book = NULL;
    rung_error err = {{0}};
    require(rung_instance_init(&instance, conf, NULL) == RUNG_OK);
    rung_status status = rung_text_read(&instance, &book, text, conf, NULL, &err);
    require((status == RUNG_OK) == (err.text[0] == '\0') && (status == RUNG_OK) == (book != NULL));
    if (status == RUNG_OK) check_tokens(&instance, conf);
    rung_text_book_free(book);
    rung_instance_clear(&instance);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(size + 1, 1);
    require(text != NULL);
    if (size) memcpy(text, data, size);
    char *line_end = strchr(text, '\n');
    const rung_task_conf *conf = NULL;
    bool facts = text[0] == 'f';
    if (line_end && line_end > text) {
        *line_end = '\0';
        conf = configure(text + 1);
    }
    rung_instance instance;
    if (conf && text[0] == 'n') {
        check_names(conf, line_end + 1);
    } else if (conf && (!facts || conf->task->story_read)) {
        require(rung_instance_init(&instance, conf, NULL) == RUNG_OK);
        if (read_text(&instance, conf, facts, line_end + 1) == RUNG_OK) {
            check_tokens(&instance, conf);
            check_round_trip(&instance, conf, facts);
        }
        rung_instance_clear(&instance);
    }
    free(text);
    return 0;
}
