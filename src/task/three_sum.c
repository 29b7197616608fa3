/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * three-sum: Match3 of Sanford, Hsu, Telgarsky 2023. N numbers in [M]; for number i, are there j1, j2 with
 * x_i + x_j1 + x_j2 = 0 mod M? Asked of every number (form=position) or of the last one only (form=last). The
 * definition lets i, j1, j2 coincide (self=1); self=0 wants three different positions. One layer needs
 * mpH = Omega(N / log log N) (their Theorem 7); more layers are conjectured not to help.
 *
 * Numbers drawn at random are all yes once M is much below N^2, so M >= (N+2)(N+3) is required; see
 * draw_lonely.
 */
#include <stdlib.h>

#include "common.h"
#include "halves.h"
#include "residues.h"
#include "task_rows.h"
#include "yes_no.h"

enum { FORM_POSITION, FORM_LAST };

static const char *const form_names[] = {"position", "last", NULL};
static const char *const dist_names[] = {"uniform", "hard", NULL};

/* (N+2)(N+3) <= M < 2^24 holds up to N = 4093. */
static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 3, 4093, NULL, "numbers in the prompt"},
    {"M", RUNG_PARAM_INT, 512, 30, (1 << 24) - 1, NULL, "modulus, at least (N+2)(N+3)"},
    {"form", RUNG_PARAM_CHOICE, 0, 0, 0, form_names, "what is asked: of each number, of the last only"},
    {"self", RUNG_PARAM_INT, 1, 0, 1, NULL, "may the three positions coincide?"},
    {"dist", RUNG_PARAM_CHOICE, 0, 0, 0, dist_names, "uniform, or disjointness in disguise (form=last)"},
    {0},
};

typedef struct three_sum {
    size_t numbers, modulus;
    bool self;
} three_sum;

static three_sum three_sum_of(const rung_task_conf *conf)
{
    return (three_sum){
        .numbers = (size_t)rung_task_param(conf, "N"),
        .modulus = (size_t)rung_task_param(conf, "M"),
        .self = rung_task_param(conf, "self") != 0,
    };
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    three_sum sum = three_sum_of(conf);
    bool hard = rung_task_param(conf, "dist") != 0;
    size_t least = (sum.numbers + 2) * (sum.numbers + 3);
    if (sum.modulus < least)
        return rung_fail(err, RUNG_USAGE, "task three-sum: N=%zu needs M >= (N+2)(N+3) = %zu, not %zu", sum.numbers,
                         least, sum.modulus);
    if (hard && rung_task_param(conf, "form") != FORM_LAST)
        return rung_fail(err, RUNG_USAGE, "task three-sum: dist=hard makes one number hard; it needs form=last");
    if (hard && sum.numbers < 5)
        return rung_fail(err, RUNG_USAGE, "task three-sum: dist=hard needs N >= 5, not %zu", sum.numbers);
    conf->tokens = sum.numbers;
    conf->vocab = sum.modulus;
    rung_task_yes_no(conf);
    return RUNG_OK;
}

/* ---- generator --------------------------------------------------------------------------------------- */

/* Marks of a residue. */
#define PRESENT 1u
#define THIRD   2u /* completes a triple with two numbers that are already there */

struct board {
    uint32_t *x;
    uint8_t *mark; /* [M] */
    size_t count;
    const three_sum *sum;
};

static void place(struct board *board, uint32_t v)
{
    size_t modulus = board->sum->modulus;
    for (size_t i = 0; i < board->count; i++) board->mark[rung_residue_third(board->x[i], v, modulus)] |= THIRD;
    if (board->sum->self) board->mark[rung_residue_third(v, v, modulus)] |= THIRD;
    board->mark[v] |= PRESENT;
    board->x[board->count++] = v;
}

/* True if w would be part of a triple; with self also as 2w + x_j = 0 or 3w = 0. */
static bool completes(const struct board *board, uint32_t w)
{
    size_t modulus = board->sum->modulus;
    if (board->mark[w] & THIRD) return true;
    if (!board->sum->self) return false;
    return (board->mark[rung_residue_third(w, w, modulus)] & PRESENT) || 3 * (size_t)w % modulus == 0;
}

/* Draws a uniform residue that is in no triple, by rejection. With c < N numbers placed at most c(c+1)/2 residues are
 * thirds, 2c solve 2w + x_j = 0 and 3 solve 3w = 0. These are fewer than (N+2)(N+3)/2 <= M/2, so a draw succeeds with
 * probability above 1/2. */
static uint32_t draw_lonely(const struct board *board, rung_rng *rng)
{
    uint32_t w;
    do w = (uint32_t)rung_rng_below(rng, board->sum->modulus);
    while (completes(board, w));
    return w;
}

/* Draws N/6 triples on average, then numbers in no triple, so that half of the numbers have the answer yes. A later
 * number that is in no triple does not put an earlier one into a triple either. */
static void draw_position(struct board *board, rung_rng *rng)
{
    size_t modulus = board->sum->modulus, triples = rung_residue_share(board->sum->numbers, 6, rng);
    for (size_t i = 0; i < triples; i++) {
        uint32_t a = (uint32_t)rung_rng_below(rng, modulus), b = (uint32_t)rung_rng_below(rng, modulus);
        place(board, a);
        place(board, b);
        place(board, rung_residue_third(a, b, modulus));
    }
    while (board->count < board->sum->numbers) place(board, draw_lonely(board, rng));
    rung_rng_shuffle(rng, board->x, board->count);
}

/* The first N - 1 numbers do not depend on the coin. */
static void draw_last(struct board *board, rung_rng *rng)
{
    size_t before = board->sum->numbers - 1;
    while (board->count < before) place(board, (uint32_t)rung_rng_below(rng, board->sum->modulus));
    uint32_t last = draw_lonely(board, rng);
    if (rung_rng_below(rng, 2)) {
        size_t i = (size_t)rung_rng_below(rng, before), step = 1 + (size_t)rung_rng_below(rng, before - 1);
        last = rung_residue_third(board->x[i], board->x[(i + step) % before], board->sum->modulus);
    }
    place(board, last);
}

/* Encodes disjointness, h = floor((N-1)/2): Alice writes element e as e + 2, Bob as -(e + 3), everything else is 1. The
 * last number 1 is in a triple iff an element is common. Every other sum of 1 and two of these is in [3, 2h + 3], in [M
 * - h, M + h - 1] without M, or in [2M - 2h - 3, 2M - 3]. */
static rung_status draw_last_hard(struct board *board, rung_rng *rng, rung_error *err)
{
    size_t h = (board->sum->numbers - 1) / 2;
    uint8_t *a = rung_calloc(h, 2, err);
    if (!a) return RUNG_SYSTEM;
    rung_meeting meeting = rung_rng_below(rng, 2) ? RUNG_MEET_ONCE : RUNG_MEET_NEVER;
    rung_status status = rung_meeting_draw(a, a + h, h, rung_meeting_size(h), meeting, rng, err);
    board->count = board->sum->numbers;
    for (size_t i = 0; i < board->count; i++) board->x[i] = 1;
    for (size_t e = 0; e < h; e++) {
        if (a[e]) board->x[e] = (uint32_t)e + 2;
        if (a[h + e]) board->x[h + e] = (uint32_t)(board->sum->modulus - (e + 3));
    }
    free(a);
    return status;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    three_sum sum = three_sum_of(conf);
    struct board board = {.x = instance->token, .sum = &sum};
    instance->tokens = conf->tokens;
    if (rung_task_param(conf, "dist")) return draw_last_hard(&board, rng, err);
    board.mark = rung_calloc(sum.modulus, 1, err);
    if (!board.mark) return RUNG_SYSTEM;
    (rung_task_param(conf, "form") == FORM_LAST ? draw_last : draw_position)(&board, rng);
    free(board.mark);
    return RUNG_OK;
}

/* ---- oracle ------------------------------------------------------------------------------------------ */

/* O(N) with the table of counts. */
static bool in_triple(const uint32_t *count, const uint32_t *x, size_t i, const three_sum *sum)
{
    for (size_t j = 0; j < sum->numbers; j++) {
        uint32_t w = rung_residue_third(x[i], x[j], sum->modulus);
        if (sum->self && count[w] > 0) return true;
        if (!sum->self && j != i && count[w] > (uint32_t)(w == x[i]) + (uint32_t)(w == x[j])) return true;
    }
    return false;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    three_sum sum = three_sum_of(conf);
    rung_status status = rung_task_expect_tokens(instance, conf, conf->tokens, err);
    RUNG_TRY(status);
    uint32_t *count = rung_residue_counts(&status, instance, conf, 0, sum.numbers, sum.modulus, err);
    if (!count) return status;
    size_t last = sum.numbers - 1;
    rung_task_answer_last(instance, in_triple(count, instance->token, last, &sum));
    if (rung_task_param(conf, "form") == FORM_POSITION)
        for (size_t i = 0; i < last; i++) instance->target[i] = in_triple(count, instance->token, i, &sum);
    free(count);
    return RUNG_OK;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    size_t asker = rung_task_param(conf, "form") == FORM_LAST;
    rung_halves_split(instance, (instance->tokens - asker) / 2, asker);
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    (void)conf;
    rung_buf_printf(out, "%u", token);
}

const rung_task rung_task_three_sum = {
    .name = "three-sum",
    .summary = "N numbers modulo M: which are in a triple that sums to 0?",
    .source = "Match3 of Sanford, Hsu, Telgarsky 2023, Theorem 7",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_task_yes_no_word,
    RUNG_TASK_IDS(rung_task_any_id),
};
