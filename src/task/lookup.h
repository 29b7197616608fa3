/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One table and one query, in the two forms that several tasks share. Private to the module.
 *
 * Positions: entry i is the token id f(i), the query x is the id values + x. The key of an entry is its
 * position. Pairs: an entry is the id key * values + value, the query is keys * values + key. The keys are
 * `entries` distinct ones of [keys] in random order, so neither the position nor the order of an entry says
 * anything about its key. With `repeats` only the asked key is the only one of its kind; the others are independent.
 */
#ifndef RUNG_TASK_LOOKUP_H
#define RUNG_TASK_LOOKUP_H

#include "common.h"

typedef struct rung_lookup {
    bool pairs;
    size_t entries, values;
    size_t keys;  /* equals `entries` in the form of positions */
    bool zipf;    /* values follow Zipf's law; otherwise they are uniform */
    bool repeats; /* pairs: keys that are not asked for may occur more than once; needs two keys for two entries */
} rung_lookup;

/* Fills tokens, vocab, answers and the levels, and stores the shape in conf->derived. RUNG_USAGE when the sizes do not
 * fit; `param` is the parameter to lower. */
rung_status rung_lookup_resolve(rung_task_conf *conf, const rung_lookup *lookup, const char *param, rung_error *err);
/* Returns the stored shape. */
rung_lookup rung_lookup_of(const rung_task_conf *conf);
/* The first id of the queries. Smaller ids are entries. */
size_t rung_lookup_first_query(const rung_lookup *lookup);

/* The members of a row. The query is uniform, values follow `zipf`. The players are the table and the query. */
rung_status rung_lookup_generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err);
rung_status rung_lookup_solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err);
void rung_lookup_players(rung_instance *instance, const rung_task_conf *conf);
int32_t rung_lookup_vote(const rung_task_conf *conf, uint32_t token);
rung_ids rung_lookup_ids(const rung_task_conf *conf, size_t pos);

#endif
