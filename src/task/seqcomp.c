/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * L-SeqComp, sequential function composition (Chen, Peng, Wu 2024): i_0 = z_0, i_1 = z_1(i_0),
 * i_{l+1} = z_{l+1}(w_l, i_l); the answer is i_L. With N_0 = m and N_l = n_l N_{l-1}: z_1 : [N_0] -> [N_0],
 * z_{l+1} : [n_l] x [N_{l-1}] -> [N_l], the pair read as u = w_l N_{l-1} + i_l, and z_L has V values. flat=1
 * keeps every range at [N_0].
 *
 * Prompt: z_L, ..., z_1, z_0, w, one token per table entry, one for z_0 and one for
 * w = w_1 + n_1 (w_2 + n_2 (w_3 + ...)). order=first puts w in front: the ablation in which few layers
 * suffice.
 */
#include "seqcomp.h"

#include <stdlib.h>
#include <string.h>

#include "task_rows.h"
#include "text_form.h"

static const char *const forms[] = {"position", "pair", NULL};
static const char *const orders[] = {"last", "first", NULL};
static const char *const dist_names[] = {"uniform", "identity", NULL};

static const rung_param params[] = {
    {"L", RUNG_PARAM_INT, 2, 1, RUNG_SEQCOMP_LEVELS_MAX, NULL, "L, functions to compose"},
    {"N0", RUNG_PARAM_INT, 4, 1, (int64_t)RUNG_TASK_VOCAB_MAX, NULL, "N_0 = m, values of z_0"},
    {"n", RUNG_PARAM_LIST, 0, 1, (int64_t)RUNG_TASK_VOCAB_MAX, NULL,
     "n_1,...,n_{L-1}; one number stands for all; none: 2"},
    {"V", RUNG_PARAM_INT, 0, 0, (int64_t)RUNG_TASK_VOCAB_MAX, NULL, "V, values of z_L; 0: N_{L-1}, and N_0 when flat"},
    {"flat", RUNG_PARAM_INT, 0, 0, 1, NULL, "1: every table has values in [N_0]"},
    {"order", RUNG_PARAM_CHOICE, 0, 0, 0, orders, "place of w in the prompt"},
    {"form", RUNG_PARAM_CHOICE, 0, 0, 0, forms, "argument of an entry: its position, or named in the entry, shuffled"},
    {"dist", RUNG_PARAM_CHOICE, 0, 0, 0, dist_names, "tables: all uniform, or z_1 the identity and the others uniform"},
    {0},
};

static const char *const what_to_lower = "L, N0 or n";

/* ---- shape -------------------------------------------------------------------------------------------- */

size_t rung_seqcomp_entry_ids(const rung_seqcomp *shape, size_t level)
{
    return shape->range[level] * (shape->pairs ? shape->args[level] : 1);
}

uint32_t rung_seqcomp_entry(const rung_seqcomp *shape, size_t level, size_t u, size_t value)
{
    size_t offset = shape->pairs ? u * shape->range[level] + value : value;
    return (uint32_t)(shape->first_id[level] + offset);
}

void rung_seqcomp_decode(size_t *u, size_t *value, const rung_seqcomp *shape, size_t level, size_t position,
                         uint32_t token)
{
    size_t offset = token - shape->first_id[level];
    *u = shape->pairs ? offset / shape->range[level] : position - shape->start[level];
    *value = offset % shape->range[level];
}

static bool fill_sizes(rung_seqcomp *shape, const rung_task_conf *conf)
{
    bool flat = rung_task_param(conf, "flat") == 1;
    size_t m = (size_t)rung_task_param(conf, "N0");
    const rung_value *n = rung_task_value(conf, "n");
    shape->levels = (size_t)rung_task_param(conf, "L");
    shape->range[0] = m;
    shape->w_count = 1;
    for (size_t l = 1; l <= shape->levels; l++) {
        shape->n[l - 1] = l == 1 ? 1 : (size_t)n->list[l - 2];
        if (!rung_size_mul(&shape->args[l], shape->n[l - 1], shape->range[l - 1])) return false;
        if (!rung_size_mul(&shape->w_count, shape->w_count, shape->n[l - 1])) return false;
        shape->range[l] = flat ? m : shape->args[l];
    }
    shape->range[shape->levels] = (size_t)rung_task_param(conf, "V");
    return true;
}

static bool fill_ids(rung_seqcomp *shape)
{
    size_t id = 0, ids;
    for (size_t l = 1; l <= shape->levels; l++) {
        shape->first_id[l] = id;
        if (!rung_size_mul(&ids, shape->range[l], shape->pairs ? shape->args[l] : 1)) return false;
        if (!rung_size_add(&id, id, ids)) return false;
    }
    shape->z0_id = id;
    return rung_size_add(&shape->w_id, id, shape->range[0]);
}

static bool fill_positions(rung_seqcomp *shape)
{
    size_t at = shape->w_first ? 1 : 0;
    for (size_t l = shape->levels; l >= 1; l--) {
        shape->start[l] = at;
        if (!rung_size_add(&at, at, shape->args[l])) return false;
    }
    shape->z0_at = at;
    shape->w_at = shape->w_first ? 0 : at + 1;
    return at < SIZE_MAX - 1;
}

bool rung_seqcomp_shape(rung_seqcomp *shape, const rung_task_conf *conf)
{
    memset(shape, 0, sizeof *shape);
    shape->pairs = rung_task_param(conf, "form") == 1;
    shape->w_first = rung_task_param(conf, "order") == 1;
    shape->identity = rung_task_param(conf, "dist") == 1;
    return fill_sizes(shape, conf) && fill_ids(shape) && fill_positions(shape);
}

/* ---- resolve ------------------------------------------------------------------------------------------ */

/* Completes the list to n_1, ..., n_{L-1}. */
static rung_status fill_list(rung_task_conf *conf, rung_error *err)
{
    rung_value *n = &conf->params[rung_param_find(conf->task->params, "n")];
    size_t want = (size_t)rung_task_param(conf, "L") - 1;
    if (n->list_len == 0) n->list[0] = 2;
    if (n->list_len <= 1 && want > 0) {
        for (size_t i = 1; i < want; i++) n->list[i] = n->list[0];
        n->list_len = want;
    }
    n->number = n->list[0];
    if (n->list_len == want) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "task seqcomp: n has %zu numbers, and L=%zu needs %zu (n_1 to n_{L-1})",
                     n->list_len, want + 1, want);
}

/* V defaults to the natural range of the composition. A smaller or larger V only changes the values of the last
 * function, because nothing is looked up by them. */
static rung_status fill_values(rung_task_conf *conf, rung_error *err)
{
    const rung_value *n = rung_task_value(conf, "n");
    bool flat = rung_task_param(conf, "flat") == 1;
    size_t most = (size_t)rung_task_param(conf, "N0");
    for (size_t i = 0; i < n->list_len && !flat; i++)
        if (!rung_size_mul(&most, most, (size_t)n->list[i])) return rung_task_too_large(conf, what_to_lower, err);
    if (most > RUNG_TASK_TOKENS_MAX) return rung_task_too_large(conf, what_to_lower, err);
    rung_task_param_default(conf, "V", (int64_t)most);
    size_t v = (size_t)rung_task_param(conf, "V");
    if (flat && v != most)
        return rung_fail(err, RUNG_USAGE, "task seqcomp: V=%zu, and flat=1 makes it N0=%zu; leave V out", v, most);
    return RUNG_OK;
}

/* A random value of z_level(u). */
static size_t draw_entry(const rung_seqcomp *shape, size_t level, size_t u, rung_rng *rng)
{
    return level == 1 && shape->identity ? u : rung_rng_below(rng, shape->range[level]);
}

/* For one random choice of the tables, counts how many of the (z_0, w) lead to each value. Returns the largest
 * count. */
static uint64_t largest_preimage(uint64_t *from, uint64_t *to, const rung_seqcomp *shape, rung_rng *rng)
{
    for (size_t i = 0; i < shape->range[0]; i++) from[i] = 1;
    for (size_t l = 1; l <= shape->levels; l++) {
        memset(to, 0, shape->range[l] * sizeof *to);
        for (size_t u = 0; u < shape->args[l]; u++) to[draw_entry(shape, l, u, rng)] += from[u % shape->range[l - 1]];
        memcpy(from, to, shape->range[l] * sizeof *to);
    }
    uint64_t most = 0;
    for (size_t v = 0; v < shape->range[shape->levels]; v++)
        if (from[v] > most) most = from[v];
    return most;
}

/* The mean share of the likeliest answer when the tables are known and (z_0, w) is not, over draws with a fixed seed. */
static rung_status draw_majority(double *majority, const rung_seqcomp *shape, size_t tokens, rung_error *err)
{
    size_t widest = 0;
    for (size_t l = 0; l <= shape->levels; l++)
        if (shape->range[l] > widest) widest = shape->range[l];
    /* The cost of a draw is that of the longer of the two. */
    size_t draws = widest <= tokens ? ((size_t)1 << 21) / tokens + 1 : ((size_t)1 << 24) / widest + 8;
    uint64_t *counts = rung_calloc(2 * widest, sizeof *counts, err);
    if (!counts) return RUNG_SYSTEM;
    double total = 0;
    rung_rng rng;
    rung_rng_init(&rng, shape->range[0], shape->w_count, shape->levels);
    for (size_t d = 0; d < draws; d++) total += (double)largest_preimage(counts, counts + widest, shape, &rng);
    free(counts);
    *majority = total / (double)draws / ((double)shape->range[0] * (double)shape->w_count);
    return RUNG_OK;
}

/* Drawing takes 20 ms. A sweep asks for the same task a thousand times in a row, and cards of a thousand files for the
 * same few. So the last results are kept. */
static rung_status drawn_majority(double *majority, const rung_seqcomp *shape, size_t tokens, rung_error *err)
{
    enum { KEPT = 16 };
    static _Thread_local struct {
        rung_seqcomp shape;
        double majority;
    } kept[KEPT];
    static _Thread_local size_t next;
    for (size_t i = 0; i < KEPT; i++) {
        if (memcmp(&kept[i].shape, shape, sizeof *shape) != 0) continue;
        *majority = kept[i].majority;
        return RUNG_OK;
    }
    RUNG_TRY(draw_majority(majority, shape, tokens, err));
    kept[next].shape = *shape;
    kept[next].majority = *majority;
    next = (next + 1) % KEPT;
    return RUNG_OK;
}

/* With one function the answer would be z_0 itself, and for V < N_0 there is no identity. */
static rung_status check_dist(const rung_task_conf *conf, rung_error *err)
{
    if (rung_task_param(conf, "dist") == 0 || rung_task_param(conf, "L") > 1) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "task seqcomp: dist=identity makes z_1 the identity, and with L=1 it is all there is; take L=2");
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    rung_seqcomp shape;
    RUNG_TRY(check_dist(conf, err));
    RUNG_TRY(fill_list(conf, err));
    RUNG_TRY(fill_values(conf, err));
    if (!rung_seqcomp_shape(&shape, conf)) return rung_task_too_large(conf, what_to_lower, err);
    for (size_t l = 1; l <= shape.levels; l++) conf->derived[l - 1] = shape.args[l];
    conf->tokens = shape.z0_at + (shape.w_first ? 1 : 2);
    if (!rung_size_add(&conf->vocab, shape.w_id, shape.w_count)) return rung_task_too_large(conf, what_to_lower, err);
    conf->answers = shape.range[shape.levels];
    RUNG_TRY(rung_task_check_limits(conf, what_to_lower, err));
    conf->chance = 1 / (double)conf->answers;
    if (shape.levels > 1) return drawn_majority(&conf->majority, &shape, conf->tokens, err);
    conf->majority = rung_task_majority_of_table(shape.args[1], conf->answers);
    return RUNG_OK;
}

/* ---- prompt ------------------------------------------------------------------------------------------- */

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    (void)err;
    rung_seqcomp shape;
    rung_seqcomp_shape(&shape, conf);
    instance->tokens = conf->tokens;
    for (size_t l = shape.levels; l >= 1; l--) {
        uint32_t *block = instance->token + shape.start[l];
        for (size_t u = 0; u < shape.args[l]; u++)
            block[u] = rung_seqcomp_entry(&shape, l, u, draw_entry(&shape, l, u, rng));
        if (shape.pairs) rung_rng_shuffle(rng, block, shape.args[l]);
    }
    instance->token[shape.z0_at] = (uint32_t)(shape.z0_id + rung_rng_below(rng, shape.range[0]));
    instance->token[shape.w_at] = (uint32_t)(shape.w_id + rung_rng_below(rng, shape.w_count));
    return RUNG_OK;
}

/* Sets table[u] := z_level(u), and checks the types and arguments of the block. */
static rung_status read_level(uint32_t *table, const rung_instance *instance, const rung_task_conf *conf,
                              const rung_seqcomp *shape, size_t level, rung_error *err)
{
    char what[32];
    snprintf(what, sizeof what, "an entry of z_%zu", level);
    memset(table, 0xff, shape->args[level] * sizeof *table);
    for (size_t i = 0; i < shape->args[level]; i++) {
        size_t position = shape->start[level] + i, u, value;
        uint32_t offset;
        RUNG_TRY(rung_task_expect_token(&offset, instance, conf, position, shape->first_id[level],
                                        rung_seqcomp_entry_ids(shape, level), what, err));
        rung_seqcomp_decode(&u, &value, shape, level, position, instance->token[position]);
        if (table[u] != UINT32_MAX)
            return rung_fail(err, RUNG_INPUT, "task seqcomp: position %zu repeats argument %zu of z_%zu", position, u,
                             level);
        table[u] = (uint32_t)value;
    }
    return RUNG_OK;
}

static rung_status compose(size_t *answer, uint32_t *table, const rung_instance *instance, const rung_task_conf *conf,
                           const rung_seqcomp *shape, rung_error *err)
{
    uint32_t i = 0, w = 0;
    rung_status status =
        rung_task_expect_token(&i, instance, conf, shape->z0_at, shape->z0_id, shape->range[0], "z_0", err);
    RUNG_NEXT(status, rung_task_expect_token(&w, instance, conf, shape->w_at, shape->w_id, shape->w_count, "w", err));
    for (size_t l = 1; l <= shape->levels && status == RUNG_OK; l++) {
        status = read_level(table, instance, conf, shape, l, err);
        if (status != RUNG_OK) break;
        size_t digit = w % shape->n[l - 1]; /* w_{l-1}; n[0] = 1 makes w_0 = 0 */
        w /= (uint32_t)shape->n[l - 1];
        i = table[digit * shape->range[l - 1] + i];
    }
    *answer = i;
    return status;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    rung_seqcomp shape;
    rung_seqcomp_shape(&shape, conf);
    RUNG_TRY(rung_task_expect_tokens(instance, conf, conf->tokens, err));
    uint32_t *table = rung_calloc(conf->tokens, sizeof *table, err);
    if (!table) return RUNG_SYSTEM;
    size_t answer = 0;
    rung_status status = compose(&answer, table, instance, conf, &shape, err);
    free(table);
    RUNG_TRY(status);
    for (size_t t = 0; t < instance->tokens; t++) instance->target[t] = RUNG_NO_TARGET;
    instance->target[instance->tokens - 1] = (int32_t)answer;
    return RUNG_OK;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    rung_seqcomp shape;
    char name[24];
    rung_seqcomp_shape(&shape, conf);
    instance->player_count = 0;
    if (shape.w_first) rung_task_player_add(instance, "w", 1);
    for (size_t l = shape.levels; l >= 1; l--) {
        snprintf(name, sizeof name, "z_%zu", l);
        rung_task_player_add(instance, name, shape.args[l]);
    }
    rung_task_player_add(instance, "z_0", 1);
    if (!shape.w_first) rung_task_player_add(instance, "w", 1);
}

/* ---- text --------------------------------------------------------------------------------------------- */

static size_t level_of(const rung_seqcomp *shape, uint32_t token)
{
    size_t level = shape->levels;
    while (level > 1 && token < shape->first_id[level]) level--;
    return level;
}

/* z2:7 is the value 7 of z_2, z2(3):7 the same with its argument, z0:1 is z_0, w:5 is w. */
static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    rung_seqcomp shape;
    rung_seqcomp_shape(&shape, conf);
    if (token >= shape.w_id) {
        rung_buf_printf(out, "w:%zu", token - shape.w_id);
        return;
    }
    if (token >= shape.z0_id) {
        rung_buf_printf(out, "z0:%zu", token - shape.z0_id);
        return;
    }
    size_t u, value, level = level_of(&shape, token);
    rung_seqcomp_decode(&u, &value, &shape, level, shape.start[level], token);
    if (shape.pairs)
        rung_buf_printf(out, "z%zu(%zu):%zu", level, u, value);
    else
        rung_buf_printf(out, "z%zu:%zu", level, value);
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    rung_seqcomp shape;
    size_t number[3]; /* level, argument, value; without the argument in the form of positions */
    rung_seqcomp_shape(&shape, conf);
    size_t count = rung_task_word_numbers(number, 3, word, len);
    if (word[0] == 'w') return (uint32_t)(shape.w_id + number[0]);
    if (number[0] == 0) return (uint32_t)(shape.z0_id + number[1]);
    if (number[0] > shape.levels || count != (shape.pairs ? 3 : 2)) return UINT32_MAX;
    return rung_seqcomp_entry(&shape, number[0], number[1], number[shape.pairs ? 2 : 1]);
}

static int32_t vote(const rung_task_conf *conf, uint32_t token)
{
    rung_seqcomp shape;
    rung_seqcomp_shape(&shape, conf);
    if (token < shape.first_id[shape.levels] || token >= shape.z0_id) return RUNG_NO_TARGET;
    return (int32_t)((token - shape.first_id[shape.levels]) % conf->answers);
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    rung_seqcomp shape;
    rung_seqcomp_shape(&shape, conf);
    if (pos == shape.z0_at) return (rung_ids){shape.z0_id, shape.range[0]};
    if (pos == shape.w_at) return (rung_ids){shape.w_id, shape.w_count};
    size_t level = 1; /* z_L comes first */
    while (pos < shape.start[level]) level++;
    return (rung_ids){shape.first_id[level], rung_seqcomp_entry_ids(&shape, level)};
}

const rung_task rung_task_seqcomp = {
    .name = "seqcomp",
    .summary = "L-SeqComp: compose L functions whose tables precede z_0 and w",
    .source = "Chen, Peng, Wu 2024 (L-sequential function composition)",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .vote = vote,
    .story_write = rung_seqcomp_facts_write,
    .story_read = rung_seqcomp_facts_read,
    .story_answer = rung_seqcomp_facts_answer,
    .token_read = token_read,
    RUNG_TASK_IDS(ids),
    .text = &rung_text_seqcomp,
};
