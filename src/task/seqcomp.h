/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The sizes and ids of an instance of L-SeqComp, shared by the task and by its prose. Private to the module.
 */
#ifndef RUNG_TASK_SEQCOMP_H
#define RUNG_TASK_SEQCOMP_H

#include "common.h"

#define RUNG_SEQCOMP_LEVELS_MAX RUNG_LIST_MAX

/* Level l = 1..L is the table z_l. Its argument is u = w_{l-1} * range[l-1] + i_{l-1} with w_{l-1} in [n[l-1]]. z_1 has
 * no such digit: n[0] = 1 and w_0 = 0. */
typedef struct rung_seqcomp {
    size_t levels;                                /* L */
    size_t n[RUNG_SEQCOMP_LEVELS_MAX];            /* n_l; [0] is 1 */
    size_t range[RUNG_SEQCOMP_LEVELS_MAX + 1];    /* values of i_l, l = 0..L; range[L] = V */
    size_t args[RUNG_SEQCOMP_LEVELS_MAX + 1];     /* entries of z_l, l = 1..L: N_{l-1} of the theory */
    size_t first_id[RUNG_SEQCOMP_LEVELS_MAX + 1]; /* of the entries of z_l */
    size_t start[RUNG_SEQCOMP_LEVELS_MAX + 1];    /* position of the first entry of z_l */
    size_t z0_id, w_id;                           /* first ids of z_0 and w */
    size_t z0_at, w_at;                           /* their positions */
    size_t w_count;                               /* n_1 n_2 ... n_{L-1} */
    bool pairs, w_first;
    bool identity; /* z_1 of generated prompts is the identity */
} rung_seqcomp;

/* Returns false when a size does not fit into size_t. */
bool rung_seqcomp_shape(rung_seqcomp *shape, const rung_task_conf *conf);
/* Ids per entry of z_l. */
size_t rung_seqcomp_entry_ids(const rung_seqcomp *shape, size_t level);
/* The token of the entry z_level(u) = value. */
uint32_t rung_seqcomp_entry(const rung_seqcomp *shape, size_t level, size_t u, size_t value);
/* The inverse, for a token of that level at `position`. */
void rung_seqcomp_decode(size_t *u, size_t *value, const rung_seqcomp *shape, size_t level, size_t position,
                         uint32_t token);

/* Prose (seqcomp_story.c), and the noun for z_l, l = 1..L. */
extern const char *const rung_seqcomp_relations[RUNG_SEQCOMP_LEVELS_MAX + 1];
void rung_seqcomp_facts_write(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf);
rung_status rung_seqcomp_facts_read(rung_instance *instance, const char *text, const rung_task_conf *conf,
                                    rung_error *err);
void rung_seqcomp_facts_answer(rung_buf *out, const rung_task_conf *conf, int32_t answer);

#endif
