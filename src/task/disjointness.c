/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * disjointness: a and b in {0,1}^N, is there an i with a_i = b_i = 1? (The answer "yes" means that the sets
 * meet.) Like string-equality it needs N bits across the middle of one layer or in a recurrent state, here
 * even with randomness (Razborov 1992), and two layers of logarithmic size do it.
 *
 * Both sets always have k elements, so the number of ones says nothing.
 */
#include <stdlib.h>

#include "common.h"
#include "halves.h"
#include "task_rows.h"
#include "yes_no.h"

static const char *const dist_names[] = {"uniform", "hard", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 2, 1 << 24, NULL, "bits per set; the prompt has 2N tokens"},
    {"k", RUNG_PARAM_INT, 0, 0, 1 << 23, NULL, "elements of each set; 0: (N+1)/4, as in the lower bound"},
    {"dist", RUNG_PARAM_CHOICE, 0, 0, 0, dist_names, "sets that meet: anyhow (uniform), in one element (hard)"},
    {0},
};

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t bits = (size_t)rung_task_param(conf, "N");
    rung_task_param_default(conf, "k", (int64_t)rung_meeting_size(bits));
    size_t size = (size_t)rung_task_param(conf, "k");
    if (2 * size > bits)
        return rung_fail(err, RUNG_USAGE,
                         "task disjointness: two disjoint sets of k=%zu do not fit into N=%zu; lower k", size, bits);
    rung_halves_resolve(conf, bits);
    return RUNG_OK;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    size_t bits = conf->derived[0];
    uint8_t *a = rung_calloc(bits, 2, err);
    if (!a) return RUNG_SYSTEM;
    rung_meeting meeting = RUNG_MEET_NEVER;
    if (rung_rng_below(rng, 2)) meeting = rung_task_param(conf, "dist") ? RUNG_MEET_ONCE : RUNG_MEET_SOME;
    rung_status status = rung_meeting_draw(a, a + bits, bits, (size_t)rung_task_param(conf, "k"), meeting, rng, err);
    rung_halves_write(instance, a, a + bits, bits);
    free(a);
    return status;
}

static int32_t meet(const uint8_t *a, const uint8_t *b, size_t bits)
{
    for (size_t i = 0; i < bits; i++)
        if (a[i] && b[i]) return 1;
    return 0;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    return rung_halves_solve(instance, conf, meet, err);
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    (void)conf;
    rung_halves_word(out, token, 'a', 'b');
}

/* Many ones make a common element likely. So a one votes yes and a zero votes no. */
static int32_t vote(const rung_task_conf *conf, uint32_t token)
{
    (void)conf;
    return (int32_t)(token % 2);
}

const rung_task rung_task_disjointness = {
    .name = "disjointness",
    .summary = "a and b of N bits each: is there a place where both are 1?",
    .source = "Razborov 1992; Bhattamishra et al. 2024; needs N bits across the middle",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = rung_halves_players,
    .token_word = token_word,
    .answer_word = rung_task_yes_no_word,
    .vote = vote,
    RUNG_TASK_IDS(rung_halves_ids),
};
