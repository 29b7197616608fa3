/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The pieces that texts over names are put together from, each to write and to read; see text_form.h.
 */
#include <string.h>

#include "text_book.h"

void rung_scribe_say(rung_scribe *scribe, const char *literal)
{
    if (scribe->reading)
        rung_scan_literal(&scribe->scan, literal);
    else
        rung_buf_puts(scribe->out, literal);
}

void rung_scribe_put(rung_scribe *scribe, const char *facts, const char *table)
{
    rung_scribe_say(scribe, scribe->spelling == RUNG_TEXT_FACTS ? facts : table);
}

static void read_name(rung_scribe *scribe, size_t role, size_t *id)
{
    *id = 0;
    if (scribe->scan.status != RUNG_OK) return;
    const char *name = scribe->scan.at;
    size_t len = rung_text_name_len(name);
    if (len == 0) {
        rung_scan_fail(&scribe->scan, "a name");
        return;
    }
    size_t found = rung_text_book_id(scribe->book, role, name, len);
    if (found == SIZE_MAX) {
        rung_scan_fail(&scribe->scan, "a name that this prompt has room for");
        return;
    }
    *id = found;
    scribe->scan.at += len;
}

void rung_scribe_name(rung_scribe *scribe, size_t role, size_t *id)
{
    rung_scribe_say(scribe, " ");
    if (scribe->reading)
        read_name(scribe, role, id);
    else
        rung_buf_puts(scribe->out, scribe->names[scribe->roles[role].first + *id]);
}

void rung_scribe_number(rung_scribe *scribe, size_t high, size_t *number)
{
    rung_scribe_say(scribe, " ");
    if (scribe->reading)
        *number = rung_scan_number(&scribe->scan, high);
    else
        rung_buf_printf(scribe->out, "%zu", *number);
}

void rung_scribe_constant(rung_scribe *scribe, size_t number)
{
    char text[24];
    snprintf(text, sizeof text, " %zu", number);
    rung_scribe_say(scribe, text);
}

void rung_scribe_word(rung_scribe *scribe, const char *const *words, size_t count, size_t *index)
{
    rung_scribe_say(scribe, " ");
    if (!scribe->reading) {
        rung_buf_puts(scribe->out, words[*index]);
        return;
    }
    size_t len = rung_text_name_len(scribe->scan.at);
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) != len || strncmp(words[i], scribe->scan.at, len) != 0) continue;
        *index = i;
        rung_scan_literal(&scribe->scan, words[i]);
        return;
    }
    *index = 0;
    rung_scan_fail(&scribe->scan, "a relation of this prompt");
}

bool rung_scribe_choose(rung_scribe *scribe, bool written, const char *literal)
{
    if (!scribe->reading) return written;
    return strncmp(scribe->scan.at, literal, strlen(literal)) == 0;
}

void rung_scribe_token(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t place,
                       size_t token)
{
    if (!scribe->reading || scribe->scan.status != RUNG_OK) return;
    if (place >= conf->tokens || instance->token[place] != UINT32_MAX)
        rung_scan_fail(&scribe->scan, "before this an entry that is not stated twice");
    else
        instance->token[place] = (uint32_t)token;
}
