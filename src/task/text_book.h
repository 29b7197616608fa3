/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The names of a text: which id a name of a role stands for, and back. Private to the module.
 */
#ifndef RUNG_TASK_TEXT_BOOK_H
#define RUNG_TASK_TEXT_BOOK_H

#include "text_form.h"

/* Copies the text, without trailing white space. `answers` is the role that names the answers, or RUNG_NO_ROLE. */
rung_status rung_text_book_new(rung_text_book **out, const char *text, rung_text_spelling spelling,
                               const rung_role *roles, size_t role_count, size_t answers, rung_error *err);
/* From now on accepts only these names, with the ids that a writer gives them. They must outlive the book. */
rung_status rung_text_book_fix(rung_text_book *book, const char *const *names, size_t count, rung_error *err);
const char *rung_text_book_text(const rung_text_book *book);
/* The id of the name [name, name + len), which is part of the text. SIZE_MAX when the role has no room for another
 * name, or the name is not among the fixed ones. */
size_t rung_text_book_id(rung_text_book *book, size_t role, const char *name, size_t len);
/* Length in bytes of the name at this place; 0 if there is none. */
size_t rung_text_name_len(const char *text);
/* Returns the text after the last blank line that is followed by something. */
const char *rung_text_last_paragraph(const char *text);

#endif
