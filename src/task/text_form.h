/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Text over chosen names: what a task adds. A form says how one entry and the question are put; the same function
 * writes and reads, so that the two cannot disagree. Private to the module.
 */
#ifndef RUNG_TASK_TEXT_FORM_H
#define RUNG_TASK_TEXT_FORM_H

#include "rung/task.h"
#include "story.h"

#define RUNG_TEXT_ROLES 40 /* seqcomp has the most: a role for each i_l and each w_l */
#define RUNG_NO_ROLE    SIZE_MAX

/* Ids [0, size) of one kind. They use names [first, first + size) of the caller's list. Roles that cannot be confused
 * may share names. */
typedef struct rung_role {
    size_t first, size;
} rung_role;

/* Writes to `out`, or reads from `scan` and assigns ids. After the first failure a reader does nothing. */
typedef struct rung_scribe {
    bool reading;
    rung_text_spelling spelling; /* facts or table */
    rung_buf *out;
    const char *const *names;
    const rung_role *roles;
    rung_scan scan;
    struct rung_text_book *book;
} rung_scribe;

/* Each of these functions appends its argument, or reads it from the text. */
void rung_scribe_say(rung_scribe *scribe, const char *literal);
/* A literal that depends on the spelling. */
void rung_scribe_put(rung_scribe *scribe, const char *facts, const char *table);
/* A space and a name. */
void rung_scribe_name(rung_scribe *scribe, size_t role, size_t *id);
/* A space and a decimal number in [0, high]. */
void rung_scribe_number(rung_scribe *scribe, size_t high, size_t *number);
/* A space and this number. */
void rung_scribe_constant(rung_scribe *scribe, size_t number);
/* A space and one of the words [0, count). */
void rung_scribe_word(rung_scribe *scribe, const char *const *words, size_t count, size_t *index);
/* Which of several questions it is: `written` when writing, or whether the text continues with `literal` when
 * reading. */
bool rung_scribe_choose(rung_scribe *scribe, bool written, const char *literal);
/* A reader stores a token at a free place. It fails if `place` is out of range or taken. */
void rung_scribe_token(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t place,
                       size_t token);

typedef struct rung_text_form {
    bool ordered;      /* entries cannot be shuffled */
    bool list;         /* entries are bare items of one list, not sentences */
    const char *reply; /* what to answer with, such as "one name" */
    /* Returns the number of roles, at most RUNG_TEXT_ROLES. */
    size_t (*roles)(rung_role *roles, const rung_task_conf *conf);
    /* The role of the answers after this many hops (0: all); RUNG_NO_ROLE when they are not names. */
    size_t (*answer_role)(const rung_task_conf *conf, size_t hops);
    size_t (*entries)(const rung_task_conf *conf);
    /* Entry i in prompt order. A reader passes 0, 1, ... and finds out which entry the text has. */
    void (*entry)(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i);
    void (*question)(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t hops);
    /* The largest number of hops of the question; NULL: 1. */
    size_t (*hops)(const rung_task_conf *conf);
    /* The answer after fewer hops; NULL where hops is 1: the task's own answer. */
    size_t (*answer)(const rung_instance *instance, const rung_task_conf *conf, size_t hops);
    /* Refuses parameters for which there is no text; NULL: none. */
    rung_status (*check)(const rung_task_conf *conf, size_t hops, rung_error *err);
} rung_text_form;

extern const rung_text_form rung_text_seqcomp, rung_text_lookup, rung_text_index, rung_text_assoc_recall,
    rung_text_k_hop, rung_text_two_sum, rung_text_parity, rung_text_self_compose, rung_text_variable_tracking;

#endif
