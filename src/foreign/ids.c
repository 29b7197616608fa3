/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Lists of token ids: numbers and ranges, separated by commas.
 */
#include "foreign_inside.h"

#include <ctype.h>
#include <stdlib.h>

static bool read_id(size_t *id, const char **at, size_t vocab)
{
    size_t value = 0;
    if (!isdigit((unsigned char)**at)) return false;
    for (; isdigit((unsigned char)**at); (*at)++) {
        value = 10 * value + (size_t)(**at - '0');
        if (value >= vocab) return false;
    }
    *id = value;
    return true;
}

static rung_status all_ids(size_t **ids, size_t *count, rung_arena *arena, size_t vocab, rung_error *err)
{
    *ids = rung_arena_alloc(arena, vocab, sizeof **ids, err);
    if (!*ids) return RUNG_SYSTEM;
    for (size_t i = 0; i < vocab; i++) (*ids)[i] = i;
    *count = vocab;
    return RUNG_OK;
}

/* An id may occur once, so a list has at most vocab of them. */
static bool add_range(size_t *ids, size_t *count, bool *seen, size_t first, size_t last)
{
    for (size_t id = first; id <= last; id++) {
        if (seen[id]) return false;
        seen[id] = true;
        ids[(*count)++] = id;
    }
    return true;
}

static bool read_list(size_t *ids, size_t *count, bool *seen, const char **at, size_t vocab)
{
    for (;; (*at)++) {
        size_t first, last;
        if (!read_id(&first, at, vocab)) return false;
        last = first;
        if (**at == '-') {
            (*at)++;
            if (!read_id(&last, at, vocab) || last < first) return false;
        }
        if (!add_range(ids, count, seen, first, last)) return false;
        if (**at != ',') return **at == '\0';
    }
}

rung_status foreign_ids_read(size_t **ids, size_t *count, rung_arena *arena, const char *text, const char *what,
                             size_t vocab, rung_error *err)
{
    if (!text) return all_ids(ids, count, arena, vocab, err);
    const char *at = text;
    bool *seen = rung_arena_alloc(arena, vocab, sizeof *seen, err);
    *ids = rung_arena_alloc(arena, vocab, sizeof **ids, err);
    *count = 0;
    if (!seen || !*ids) return RUNG_SYSTEM;
    if (read_list(*ids, count, seen, &at, vocab)) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "--%s %s: at character %td: wanted are ids from 0 to %zu, each once, such as 17-20,0-16", what,
                     text, at - text + 1, vocab - 1);
}
