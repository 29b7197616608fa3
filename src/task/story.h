/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Prose for the facts form: names of invented people and places, an order of sentences that says nothing
 * about positions, and a reader for what the writers wrote. Private to the module.
 */
#ifndef RUNG_TASK_STORY_H
#define RUNG_TASK_STORY_H

#include "rung/task.h"

typedef enum rung_name_kind { RUNG_NAME_PERSON, RUNG_NAME_PLACE } rung_name_kind;

/* Ids [0, universe) and names are in bijection. The bijection is fixed and must never change. Neighbouring ids have
 * unlike names. universe <= 70^4 = 24010000, which is above the limit of vocabularies. */
void rung_name_write(rung_buf *out, rung_name_kind kind, size_t id, size_t universe);

/* Reads the text from front to back. After the first failure all calls do nothing, so a reader checks once at the
 * end. */
typedef struct rung_scan {
    const char *text, *at;
    rung_status status;
    rung_error *err;
} rung_scan;

void rung_scan_init(rung_scan *scan, const char *text, rung_error *err);
void rung_scan_literal(rung_scan *scan, const char *literal);
/* Reads a name. Returns 0 after a failure. */
size_t rung_scan_name(rung_scan *scan, rung_name_kind kind, size_t universe);
/* Reads a decimal number in [0, high]. Returns 0 after a failure. */
size_t rung_scan_number(rung_scan *scan, size_t high);
/* Checks that only white space follows. */
rung_status rung_scan_end(rung_scan *scan);
rung_status rung_scan_fail(rung_scan *scan, const char *wanted);

/* A permutation of [0, count) that is a function of the tokens and of `salt`. NULL when memory runs out; the caller
 * frees it. */
uint32_t *rung_facts_order(const rung_instance *instance, size_t count, uint64_t salt);
/* Clears the instance before its tokens are read: every token id becomes UINT32_MAX, every target none. */
void rung_facts_begin(rung_instance *instance, const rung_task_conf *conf);

#endif
