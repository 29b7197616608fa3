/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Steering: finds a prefix that makes every number of a state large. From time to time it measures what each token
 * would add to the state at the end of the prefix. It chooses the prefix token by token, each time the one that most
 * lowers, to first order, the cost -sum log(1 - e^-r_e), where r_e is what entry e loses, in typical updates. That
 * favours entries that are still small, and ignores those that are large enough. Near the end it runs the first few
 * tokens of that ranking, and counts only the tokens that are nearest to being lost. A repeated token makes some
 * entries grow fast and others hardly; a steered prefix makes all of them grow.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attempts.h"
#include "rung/kern.h"

/* Early tokens are random. The others are chosen in stretches, each from the true state. */
enum { EARLY_TOKENS = 24, STRETCH = 32, TOKENS_MAX = 4096, TRIED = 16, TRIALS_MAX = 1024, FOCUS = 8, FOCUS_TIMES = 4 };
#define HARD      30.0              /* an entry that only e^-30 of the tokens change does not change */
#define SOFT      0.3               /* measured: 0.05 keeps wrong signs forever, 1 lets small entries stay small */
#define TABLE_MAX ((size_t)1 << 20) /* largest table: it is read once for every chosen token */

/* A token of the table, and how many entries it is expected to change. */
typedef struct lost {
    size_t moves, row;
} lost;

typedef struct steering {
    runner *h;
    rung_session *fork, *best;
    rung_ids ids;                           /* ids at the steered positions */
    size_t tokens;                          /* rows of the table */
    size_t elements;                        /* of a state */
    uint32_t *token;                        /* [tokens] */
    float *update;                          /* [tokens][elements]: what a token adds */
    float *pull;                            /* [elements]: how much an entry should grow, with its sign */
    float *gain;                            /* [tokens] */
    double *state, *at;                     /* [elements] */
    double *copy, *conv, *answer, *scratch; /* of one group of heads */
    double *size;                           /* [elements]: of a typical update, root mean square */
    lost *order;                            /* [tokens] */
} steering;

/* Number of tokens in the table: all, or as many as time and memory allow. */
static size_t table_rows(const rung_ids *ids, size_t elements, size_t memory)
{
    size_t fit = memory / 8 / (elements * sizeof(float) + 64), rows = TABLE_MAX / elements;
    if (rows > fit) rows = fit;
    if (rows > TOKENS_MAX) rows = TOKENS_MAX;
    return rows < ids->count ? rows : ids->count;
}

/* The largest size of one kind that a group of heads needs: state, convolution, answer, scratch. */
static size_t group_room(const rung_attacked *attacked, size_t tokens, int kind)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    size_t most = 1;
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            size_t need = kind == 0   ? rung_mech_state_capacity(conf, tokens + 1)
                          : kind == 1 ? rung_head_group_conv_elements(conf)
                          : kind == 2 ? conf->heads * conf->dv
                                      : conf->mech->scratch(conf, tokens + 1);
            most = need > most ? need : most;
        }
    return most;
}

static rung_status steering_init(steering *s, runner *h, size_t pos, size_t memory, rung_error *err)
{
    const rung_attacked *attacked = h->attacked;
    *s = (steering){.h = h, .ids = attacked->task->task->ids(attacked->task, pos)};
    s->elements = (size_t)(rung_attacked_state_bits(attacked, pos) / (uint64_t)attacked->numbers.bits);
    s->tokens = s->elements ? table_rows(&s->ids, s->elements, memory) : 0;
    if (s->tokens < 2) return RUNG_OK;
    s->token = rung_calloc(s->tokens, sizeof *s->token, err);
    s->update = rung_calloc(s->tokens * s->elements, sizeof *s->update, err);
    s->pull = rung_calloc(s->elements, sizeof *s->pull, err);
    s->gain = rung_calloc(s->tokens, sizeof *s->gain, err);
    s->state = rung_calloc(s->elements, sizeof *s->state, err);
    s->at = rung_calloc(s->elements, sizeof *s->at, err);
    s->size = rung_calloc(s->elements, sizeof *s->size, err);
    s->copy = rung_calloc(group_room(attacked, pos, 0), sizeof(double), err);
    s->conv = rung_calloc(group_room(attacked, pos, 1), sizeof(double), err);
    s->answer = rung_calloc(group_room(attacked, pos, 2), sizeof(double), err);
    s->scratch = rung_calloc(group_room(attacked, pos, 3), sizeof(double), err);
    s->order = rung_calloc(s->tokens, sizeof *s->order, err);
    if (!s->token || !s->update || !s->pull || !s->gain || !s->state || !s->at || !s->size || !s->order || !s->copy ||
        !s->conv || !s->answer || !s->scratch)
        return RUNG_SYSTEM;
    RUNG_TRY(rung_session_new(&s->best, attacked->program, h->tokens, err));
    return rung_session_new(&s->fork, attacked->program, h->tokens, err);
}

static void steering_clear(steering *s)
{
    rung_session_free(s->fork);
    rung_session_free(s->best);
    free(s->token);
    free(s->update);
    free(s->pull);
    free(s->gain);
    free(s->state);
    free(s->at);
    free(s->size);
    free(s->order);
    free(s->copy);
    free(s->conv);
    free(s->answer);
    free(s->scratch);
}

static rung_status read_state(double *to, steering *s, const rung_session *session, rung_error *err)
{
    rung_status status = rung_runner_pack(s->h, session, err);
    if (status == RUNG_OK) rung_num_unpack(to, &s->h->attacked->numbers, s->h->state, s->elements);
    return status;
}

/* Forks h's session, and runs one more token; the state is in s->at. */
static rung_status step(steering *s, size_t i, rung_error *err)
{
    rung_prompt one = {.token = &s->token[i], .tokens = 1};
    rung_status status = rung_session_copy(s->fork, s->h->session, err);
    s->h->evaluations++;
    RUNG_TRY(status);
    RUNG_TRY(rung_session_run(s->fork, NULL, &one, RUNG_FORM_STEP, NULL, 0, err));
    return read_state(s->at, s, s->fork, err);
}

/* One group of heads of a token: what it would add to an empty state, and its output with the true state. */
static const double *probe_group(steering *s, rung_rows *rows, float *update, const double *state, size_t pos,
                                 size_t layer, size_t group)
{
    const rung_mech_conf *conf = &rung_model_get_arch(s->h->attacked->model)->layer[layer].group[group];
    const rung_fmt *fmt = &s->h->attacked->numbers;
    const double *in[RUNG_MECH_INPUT_MAX];
    size_t elements = rung_mech_state_elements(conf, pos), conv = rung_head_group_conv_elements(conf);
    memcpy(s->conv, state + elements, conv * sizeof *state);
    rung_rows_inputs(rows, in, s->conv, layer, group);
    memset(s->copy, 0, elements * sizeof *s->copy);
    conf->mech->update_exact(s->copy, in, pos, conf, fmt, s->scratch);
    for (size_t e = 0; e < elements; e++) update[e] = (float)s->copy[e];
    memset(update + elements, 0, conv * sizeof *update);
    memcpy(s->copy, state, elements * sizeof *state);
    rung_mech_step_exact(s->answer, s->copy, in, pos, conf, fmt, s->scratch);
    rung_rows_answer(rows, s->answer, layer, group);
    return state + elements + conv;
}

/* What a token would add as token number `pos` of a prompt, with the outputs of s->state, before rounding loses
 * anything. */
static rung_status probe(steering *s, float *update, uint32_t token, size_t pos, rung_error *err)
{
    const rung_arch *arch = rung_model_get_arch(s->h->attacked->model);
    rung_prompt one = {.token = &token, .tokens = 1};
    const double *state = s->state;
    rung_rows *rows = NULL;
    rung_status status = rung_rows_new(&rows, s->h->attacked->program, &one, pos, err);
    s->h->evaluations++;
    for (size_t i = 0; i < arch->layer_count && status == RUNG_OK; i++) {
        for (size_t g = 0; g < arch->layer[i].group_count; g++)
            state = probe_group(s, rows, update + (state - s->state), state, pos, i, g);
        if (i + 1 < arch->layer_count) status = rung_rows_finish(rows, i, err);
    }
    rung_rows_free(rows);
    if (status == RUNG_INPUT)
        memset(update, 0, s->elements * sizeof *update); /* it stops the model, so it adds nothing */
    return status == RUNG_INPUT ? RUNG_OK : status;
}

/* Root mean squares over the first `count` tokens of the order. */
static void set_sizes(steering *s, size_t count)
{
    memset(s->size, 0, s->elements * sizeof *s->size);
    for (size_t i = 0; i < count; i++) {
        const float *update = s->update + s->order[i].row * s->elements;
        for (size_t e = 0; e < s->elements; e++) s->size[e] += (double)update[e] * (double)update[e];
    }
    for (size_t e = 0; e < s->elements; e++) s->size[e] = sqrt(s->size[e] / (double)count);
}

/* Fills in the table: what every token would add at the end of the prefix. */
static rung_status measure(steering *s, size_t end, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < s->tokens && status == RUNG_OK; i++) {
        s->order[i].row = i;
        status = probe(s, s->update + i * s->elements, s->token[i], end, err);
    }
    if (status == RUNG_OK) set_sizes(s, s->tokens);
    return status;
}

static void choose_tokens(steering *s, rung_rng *rng)
{
    for (size_t i = 0; i < s->tokens; i++) {
        size_t choice = s->tokens == s->ids.count ? i : (size_t)rung_rng_below(rng, s->ids.count);
        s->token[i] = (uint32_t)(s->ids.first + choice);
    }
}

/* Updates below this are lost: half a unit in the last place of a float, between two binades. Fixed point loses nothing
 * until it saturates, and then everything. */
static double lost_below(const steering *s, double state)
{
    const rung_fmt *fmt = &s->h->attacked->numbers;
    if (fmt->kind == RUNG_FMT_FIXED) return fabs(state) >= fmt->largest ? HUGE_VAL : fabs(state) * 1e-3;
    return ldexp(fabs(state), -fmt->mantissa_bits - 2);
}

/* The same in typical updates: e^-r is about the share of tokens that still change entry e. */
static double hardness(const steering *s, const double *state, size_t e)
{
    return s->size[e] > 0 ? fmin(lost_below(s, state[e]) / s->size[e], HARD) : HARD;
}

/* -log of the share of tokens that leave entry e unchanged. */
static double cost_of_entry(const steering *s, const double *state, size_t e)
{
    return -log(-expm1(-fmax(hardness(s, state, e), SOFT)));
}

/* The change of the cost by a step to s->at; near the end it changes few entries. */
static double cost_of_step(const steering *s)
{
    double sum = 0;
    for (size_t e = 0; e < s->elements; e++)
        if (s->at[e] != s->state[e]) sum += cost_of_entry(s, s->at, e) - cost_of_entry(s, s->state, e);
    return sum;
}

/* The derivative of that cost. It is limited near zero, so that an entry may still change its sign. */
static void set_pull(steering *s)
{
    for (size_t e = 0; e < s->elements; e++) {
        double hard = hardness(s, s->state, e), growth = expm1(hard);
        s->pull[e] = hard >= HARD ? 0 : (float)(copysign(1, s->state[e]) / (s->size[e] * fmax(growth, SOFT)));
    }
}

/* The tokens with the largest gains to first order, the best one first. */
static size_t rank(size_t best[TRIED], steering *s)
{
    size_t count = 0;
    set_pull(s);
    rung_kernels_get()->linear(s->gain, s->pull, s->update, NULL, 1, s->tokens, s->elements);
    for (size_t i = 0; i < s->tokens; i++) {
        size_t at = count;
        while (at > 0 && s->gain[i] > s->gain[best[at - 1]]) at--;
        if (at == TRIED) continue;
        count += count < TRIED;
        for (size_t j = count - 1; j > at; j--) best[j] = best[j - 1];
        best[at] = i;
    }
    return count;
}

/* Chooses by the table alone. The simulated state takes the update, rounded as the model would. */
static uint32_t choose_by_table(steering *s)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    const rung_fmt *fmt = &s->h->attacked->numbers;
    size_t best[TRIED];
    rank(best, s);
    for (size_t e = 0; e < s->elements; e++) s->at[e] = (double)s->update[best[0] * s->elements + e];
    num->round(fmt, s->at, s->at, s->elements);
    num->add(fmt, s->state, s->state, s->at, s->elements);
    return s->token[best[0]];
}

/* Chooses by running the best few. h's session and s->state take the step. */
static rung_status choose_by_trial(uint32_t *token, steering *s, rung_error *err)
{
    size_t best[TRIED], count = rank(best, s);
    double least = HUGE_VAL;
    rung_status status = RUNG_OK;
    *token = s->token[best[0]];
    for (size_t i = 0; i < count && status == RUNG_OK; i++) {
        status = step(s, best[i], err);
        if (status == RUNG_INPUT) continue;
        if (status != RUNG_OK) break;
        double cost = cost_of_step(s);
        if (cost >= least) continue;
        least = cost;
        *token = s->token[best[i]];
        rung_session *other = s->fork;
        s->fork = s->best, s->best = other;
    }
    if (status == RUNG_INPUT) status = RUNG_OK;
    RUNG_TRY(status);
    status = rung_session_copy(s->h->session, s->best, err);
    RUNG_TRY(status);
    return read_state(s->state, s, s->h->session, err);
}

static int by_moves(const void *a, const void *b)
{
    const lost *x = a, *y = b;
    if (x->moves != y->moves) return x->moves < y->moves ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* From now on counts only the tokens that are nearest to being lost at the end. */
static rung_status refocus(steering *s, size_t end, rung_error *err)
{
    RUNG_TRY(measure(s, end, err));
    for (size_t i = 0; i < s->tokens; i++) {
        const float *update = s->update + i * s->elements;
        s->order[i] = (lost){.row = i};
        for (size_t e = 0; e < s->elements; e++)
            s->order[i].moves += fabs((double)update[e]) > lost_below(s, s->state[e]);
    }
    qsort(s->order, s->tokens, sizeof *s->order, by_moves);
    set_sizes(s, s->tokens < FOCUS ? s->tokens : FOCUS);
    return RUNG_OK;
}

static bool is_steered(const steering *s, size_t pos)
{
    rung_ids ids = s->h->attacked->task->task->ids(s->h->attacked->task, pos);
    return ids.first == s->ids.first && ids.count == s->ids.count;
}

static rung_status go_on(steering *s, const uint32_t *token, size_t from, size_t to, rung_error *err)
{
    rung_prompt part = {.token = token + from, .tokens = to - from};
    return rung_session_run(s->h->session, NULL, &part, RUNG_FORM_SCAN, NULL, 0, err);
}

static rung_status advance(steering *s, uint32_t *token, size_t at, rung_error *err)
{
    if (is_steered(s, at)) return choose_by_trial(&token[at], s, err);
    RUNG_TRY(go_on(s, token, at, at + 1, err));
    return read_state(s->state, s, s->h->session, err);
}

/* Chooses the last positions by runs; after a quarter of them for the tokens in focus. */
static rung_status finish(steering *s, const steer_to *to, uint32_t *token, size_t at, const attempts *c,
                          rung_error *err)
{
    rung_status status = RUNG_OK;
    size_t aim = at + (to->end - at) / 4, every = (to->end - aim) / FOCUS_TIMES + 1;
    for (; at < to->end && status == RUNG_OK && rung_budget_left(c->budget, c->began) > 0; at++) {
        if (at >= aim && (at - aim) % every == 0) status = refocus(s, to->end, err);
        RUNG_NEXT(status, advance(s, token, at, err));
    }
    return status == RUNG_OK && at == to->end ? to->look(to->context, token, at, err) : status;
}

static rung_status steer(steering *s, const steer_to *to, uint32_t *token, rung_rng *rng, const attempts *c,
                         rung_error *err)
{
    size_t end = to->end, at = end > 2 * EARLY_TOKENS ? EARLY_TOKENS : 1;
    size_t trials = end - at < TRIALS_MAX ? at : end - TRIALS_MAX, measured = at;
    rung_session_reset(s->h->session);
    choose_tokens(s, rng);
    rung_status status = go_on(s, token, 0, at, err);
    RUNG_NEXT(status, read_state(s->state, s, s->h->session, err));
    RUNG_NEXT(status, measure(s, end, err));
    while (status == RUNG_OK && at < trials && rung_budget_left(c->budget, c->began) > 0) {
        size_t next = at + STRETCH < trials ? at + STRETCH : trials;
        for (size_t pos = at; pos < next; pos++)
            if (is_steered(s, pos)) token[pos] = choose_by_table(s);
        status = go_on(s, token, at, next, err);
        RUNG_NEXT(status, read_state(s->state, s, s->h->session, err));
        if (status == RUNG_OK && next >= 4 * measured) status = measure(s, end, err), measured = next;
        at = next;
    }
    RUNG_TRY(status);
    return finish(s, to, token, at, c, err);
}

/* Log-linear attention reads a state before it updates it, in one step, so what a token adds cannot be told apart. */
static bool updates_alone(const rung_attacked *attacked)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++)
            if (!arch->layer[i].group[g].mech->update_exact) return false;
    return true;
}

rung_status rung_runner_steer(const attempts *c, runner *h, const steer_to *to, uint32_t *token, rung_rng *rng,
                              rung_error *err)
{
    steering s;
    size_t end = to->end, workers = rung_attempts_workers(h->attacked, c->budget);
    if (end < 2 || rung_attacked_state_bits(h->attacked, 1) != rung_attacked_state_bits(h->attacked, end))
        return RUNG_OK;
    if (!updates_alone(h->attacked)) return RUNG_OK;
    rung_status status = steering_init(&s, h, end, c->budget->memory / (workers ? workers : 1), err);
    if (status == RUNG_OK && s.tokens >= 2) status = steer(&s, to, token, rng, c, err);
    steering_clear(&s);
    return status;
}
