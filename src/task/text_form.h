/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Text over chosen names: what a task adds. A form says how one entry and the question are put; the same function writes
 * and reads, so that the two cannot disagree. Private to the module.
 */
#ifndef RUNG_TASK_TEXT_FORM_H
#define RUNG_TASK_TEXT_FORM_H

#include "facts.h"
#include "rung/task.h"

#define RUNG_TEXT_ROLES 40 /* seqcomp has the most: a role for each i_l and each w_l */
#define RUNG_NO_ROLE    SIZE_MAX

/* Ids [0, size) of one kind. Names [first, first + size) of the caller's list are theirs; roles that cannot be confused may
 * share names. */
typedef struct rung_role {
    size_t first, size;
} rung_role;

/* Writes to `out`, or reads from `scan` and gives out ids. The first failure of a reader sticks. */
typedef struct rung_scribe {
    bool reading;
    rung_text_spelling spelling; /* facts or table */
    rung_buf *out;
    const char *const *names;
    const rung_role *roles;
    rung_scan scan;
    struct rung_text_book *book;
} rung_scribe;

/* Each of these appends its argument, or expects it and fills it in. */
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
/* The one that is written, or the one that the text goes on with: which of several questions it is. */
bool rung_scribe_choose(rung_scribe *scribe, bool written, const char *literal);
/* A reader puts a token where none was; `place` is out of range or taken: a failure. */
void rung_scribe_token(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t place,
                       size_t token);

typedef struct rung_text_form {
    bool ordered;      /* entries cannot be shuffled */
    bool list;         /* entries are bare items of one list, not sentences */
    const char *reply; /* "one name": what to answer with */
    /* Returns how many; at most RUNG_TEXT_ROLES. */
    size_t (*roles)(rung_role *roles, const rung_task_conf *conf);
    /* The role of the answers after so many hops (0: all); RUNG_NO_ROLE when they are no names. */
    size_t (*answer_role)(const rung_task_conf *conf, size_t hops);
    size_t (*entries)(const rung_task_conf *conf);
    /* Entry i in prompt order. A reader is given 0, 1, ... and finds out what stands there. */
    void (*entry)(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i);
    void (*question)(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t hops);
    /* How many hops the question has at most; NULL: 1. */
    size_t (*hops)(const rung_task_conf *conf);
    /* After fewer hops than that; NULL where hops is 1: the task's own. */
    size_t (*answer)(const rung_instance *instance, const rung_task_conf *conf, size_t hops);
    /* Parameters for which there is no text; NULL: none. */
    rung_status (*check)(const rung_task_conf *conf, size_t hops, rung_error *err);
} rung_text_form;

extern const rung_text_form rung_text_seqcomp, rung_text_lookup, rung_text_index, rung_text_assoc_recall,
    rung_text_k_hop, rung_text_two_sum, rung_text_parity, rung_text_self_compose;

#endif
