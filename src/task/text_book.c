/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Names of a text, see text_book.h: a hash table from (role, name) to id. Without fixed names a role deals its ids in
 * the order in which names appear.
 */
#include "text_book.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"

#define ANY_ROLE SIZE_MAX /* for fixed names, whose id is the index in the list */

typedef struct slot {
    const char *name; /* NULL: free */
    size_t len, role, id;
} slot;

struct rung_text_book {
    char *text;
    rung_text_spelling spelling;
    rung_role roles[RUNG_TEXT_ROLES];
    size_t dealt[RUNG_TEXT_ROLES];
    size_t answers;
    bool fixed;
    slot *slots;
    size_t mask;
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool ends_name(char c)
{
    return c == '\0' || strchr(" \t\n\r\v\f.,:;?!|()<>", c) != NULL;
}

size_t rung_text_name_len(const char *text)
{
    size_t len = 0;
    while (!ends_name(text[len])) len++;
    return len;
}

static rung_status check_name(const char *name, size_t index, rung_error *err)
{
    static const char *const taken[] = {"yes", "no", "none"};
    size_t len = rung_text_name_len(name);
    if (len == 0 || name[len])
        return rung_fail(
            err, RUNG_USAGE,
            "name %zu, '%.40s': a name is not empty and has no white space and none of . , : ; ? ! | ( ) < >", index,
            name);
    for (size_t i = 0; i < RUNG_COUNT(taken); i++)
        if (strcmp(name, taken[i]) == 0)
            return rung_fail(err, RUNG_USAGE, "name %zu, '%s', is a fixed answer word; choose another name", index,
                             name);
    return RUNG_OK;
}

static size_t slots_for(size_t count)
{
    size_t slots = 2;
    while (slots < 2 * count + 2) slots *= 2;
    return slots;
}

/* Returns the slot of the name, or the free slot where it belongs. The table is never more than half full. */
static slot *slot_of(const rung_text_book *book, size_t role, const char *name, size_t len)
{
    size_t i = (size_t)(rung_hash64(name, len) + role * 0x9e3779b97f4a7c15u) & book->mask;
    for (;; i = (i + 1) & book->mask) {
        slot *s = &book->slots[i];
        if (!s->name || (s->role == role && s->len == len && memcmp(s->name, name, len) == 0)) return s;
    }
}

static rung_status enter_names(rung_text_book *book, const char *const *names, size_t count, rung_error *err)
{
    for (size_t i = 0; i < count; i++) {
        RUNG_TRY(check_name(names[i], i, err));
        size_t len = strlen(names[i]);
        slot *s = slot_of(book, ANY_ROLE, names[i], len);
        if (s->name)
            return rung_fail(err, RUNG_USAGE, "names %zu and %zu are both '%s'; names must differ", s->id, i, names[i]);
        *s = (slot){names[i], len, ANY_ROLE, i};
    }
    return RUNG_OK;
}

static rung_status allocate_slots(rung_text_book *book, size_t count, rung_error *err)
{
    size_t slots = slots_for(count);
    book->slots = rung_calloc(slots, sizeof *book->slots, err);
    book->mask = slots - 1;
    return book->slots ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rung_text_names_check(const char *const *names, size_t count, rung_error *err)
{
    rung_text_book book = {0};
    rung_status status = allocate_slots(&book, count, err);
    RUNG_NEXT(status, enter_names(&book, names, count, err));
    free(book.slots);
    return status;
}

/* ---- book -------------------------------------------------------------------------------------------------------- */

const char *rung_text_last_paragraph(const char *text)
{
    const char *start = text;
    for (const char *at = text; (at = strstr(at, "\n\n")) != NULL; at++)
        if (at[2 + strspn(at + 2, " \t\r\n")]) start = at + 2;
    return start + strspn(start, " \t\r\n");
}

static char *copy_trimmed(const char *text, rung_error *err)
{
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1])) len--;
    char *copy = rung_calloc(len + 1, 1, err);
    if (copy) memcpy(copy, text, len);
    return copy;
}

rung_status rung_text_book_new(rung_text_book **out, const char *text, rung_text_spelling spelling,
                               const rung_role *roles, size_t role_count, size_t answers, rung_error *err)
{
    *out = NULL;
    rung_text_book *book = rung_calloc(1, sizeof *book, err);
    if (!book) return RUNG_SYSTEM;
    book->spelling = spelling;
    book->answers = answers;
    if (role_count) memcpy(book->roles, roles, role_count * sizeof *roles);
    book->text = copy_trimmed(text, err);
    /* There are at most as many names as spaces before them. */
    size_t names = 0;
    for (const char *at = book->text; at && role_count && *at; at++) names += *at == ' ';
    if (!book->text || allocate_slots(book, names, err) != RUNG_OK) {
        rung_text_book_free(book);
        return RUNG_SYSTEM;
    }
    *out = book;
    return RUNG_OK;
}

rung_status rung_text_book_fix(rung_text_book *book, const char *const *names, size_t count, rung_error *err)
{
    free(book->slots);
    book->fixed = true;
    RUNG_TRY(allocate_slots(book, count, err));
    return enter_names(book, names, count, err);
}

const char *rung_text_book_text(const rung_text_book *book)
{
    return book->text;
}

rung_text_spelling rung_text_book_spelling(const rung_text_book *book)
{
    return book->spelling;
}

void rung_text_book_free(rung_text_book *book)
{
    if (!book) return;
    free(book->slots);
    free(book->text);
    free(book);
}

static size_t fixed_id(const rung_text_book *book, size_t role, const char *name, size_t len)
{
    const slot *s = slot_of(book, ANY_ROLE, name, len);
    const rung_role *r = &book->roles[role];
    return s->name && s->id >= r->first && s->id - r->first < r->size ? s->id - r->first : SIZE_MAX;
}

size_t rung_text_book_id(rung_text_book *book, size_t role, const char *name, size_t len)
{
    if (book->fixed) return fixed_id(book, role, name, len);
    slot *s = slot_of(book, role, name, len);
    if (s->name) return s->id;
    if (book->dealt[role] == book->roles[role].size) return SIZE_MAX;
    *s = (slot){name, len, role, book->dealt[role]++};
    return s->id;
}

void rung_text_book_answer(rung_buf *out, const rung_text_book *book, const rung_task_conf *conf, int32_t answer)
{
    bool named = book->answers != RUNG_NO_ROLE;
    size_t role = book->fixed ? ANY_ROLE : book->answers;
    size_t id = (size_t)answer + (named && book->fixed ? book->roles[book->answers].first : 0);
    if (named && (size_t)answer < book->roles[book->answers].size)
        for (size_t i = 0; i <= book->mask; i++) {
            const slot *s = &book->slots[i];
            if (!s->name || s->role != role || s->id != id) continue;
            rung_buf_add(out, s->name, s->len);
            return;
        }
    /* A number could be the name of another answer. Brackets occur in no name. */
    bool unnamed = named && (size_t)answer < book->roles[book->answers].size;
    if (unnamed) rung_buf_putc(out, '<');
    rung_task_answer_write(out, conf, answer);
    if (unnamed) rung_buf_putc(out, '>');
}
