/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Proves that a lookup by rotary positions is right on every prompt in a format. What the proof assumes is checked in
 * the numbers of the exact evaluator:
 *   1. all values have the same key, bit for bit, so the weights of the softmax depend only on the place asked for;
 *   2. coordinate i of a value is c_i or -c_i as its bit says, and 0 of a query.
 * The output of a head in a coordinate is then monotone in every value: weights are not negative and rounding is
 * monotone. If the wanted bit is 1, the output is least when all other table entries have 0 there, and largest when
 * they have 1. With all signs turned it is the same. So two prompts for every place give low_x <= |output| <= high_x
 * for all prompts.
 *   3. The read-out adds up b numbers with signs. All signs are right in the wanted row and at least one is wrong in
 *      any other, which is at least 2 low / high of the largest; the roundings of two sums of b terms are less.
 */
#include "rotary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IN_QUERY = 0, IN_KEY = 1, IN_VALUE = 2 }; /* among the inputs q, k, v */

typedef struct proof {
    const rotary_lookup *l;
    const rung_fmt *fmt;
    rung_program *program;
    rung_session *session;
    uint32_t *token;
    double *key, *value, *one; /* of one token; `one` is the value whose bits are all 1 */
    double *queries, *keys;    /* [entries + 1][head] */
    double *values;            /* [entries + 1][bits]; the other coordinates of a head are zero and do not count */
    double *answer, *state, *scratch, *view, *out;
    size_t scratch_size;
    rung_mech_conf conf; /* of the head, with the order of its softmax */
    double low, high;    /* of all answers so far */
    char *reason;
    size_t size;
    rung_arena arena;
    rung_error *err;
} proof;

static bool unproved(proof *p, const char *why)
{
    snprintf(p->reason, p->size, "%s", why);
    return false;
}

/* ---- keys and values --------------------------------------------------------------------------------------------- */

/* Computes key (not rotated) and value of one token. The first token's key is kept, and the others are compared with
 * it. */
static rung_status look_at_token(proof *p, bool *same, uint32_t token, bool first)
{
    const double *in[RUNG_MECH_INPUT_MAX] = {NULL};
    rung_rows *rows = NULL;
    rung_prompt prompt = {.token = &token, .tokens = 1};
    size_t bytes = p->l->head * sizeof(double);
    RUNG_TRY(rung_rows_new(&rows, p->program, &prompt, 0, p->err));
    rung_rows_inputs(rows, in, NULL, 0, 0);
    if (first) memcpy(p->key, in[IN_KEY], bytes);
    *same = memcmp(p->key, in[IN_KEY], bytes) == 0;
    memcpy(p->value, in[IN_VALUE], bytes);
    rung_rows_free(rows);
    return RUNG_OK;
}

/* True if coordinate i is `one` or its negative, as the bits of the code say, and 0 after the bits. */
static bool has_signs(const proof *p, const double *one, size_t code)
{
    for (size_t i = 0; i < p->l->head; i++) {
        double want = i >= p->l->bits ? 0 : code >> i & 1 ? one[i] : -one[i];
        if (p->value[i] != want || (i < p->l->bits && !(one[i] > 0))) return false;
    }
    return true;
}

static rung_status check_tokens(proof *p, bool *holds)
{
    size_t values = (size_t)1 << p->l->bits;
    bool same = true;
    *holds = false;
    rung_status status = look_at_token(p, &same, (uint32_t)values - 1, true);
    memcpy(p->one, p->value, p->l->head * sizeof *p->one);
    for (size_t v = 0; status == RUNG_OK && v < values; v++) {
        status = look_at_token(p, &same, (uint32_t)v, false);
        if (status == RUNG_OK && !same) return unproved(p, "values have different keys in this format"), RUNG_OK;
        if (status == RUNG_OK && !has_signs(p, p->one, v))
            return unproved(p, "values are not signs in this format"), RUNG_OK;
    }
    for (size_t x = 0; status == RUNG_OK && x < p->l->entries; x++) {
        status = look_at_token(p, &same, (uint32_t)(values + x), false);
        for (size_t i = 0; status == RUNG_OK && i < p->l->head; i++)
            if (p->value[i] != 0) return unproved(p, "a query has a non-zero value in this format"), RUNG_OK;
    }
    *holds = status == RUNG_OK;
    return status;
}

/* ---- extremal prompts -------------------------------------------------------------------------------------------- */

/* Queries, keys and values of all places, and of the query for `place`, as the layer makes them. The entries are all 0;
 * their keys are those of any value. */
static rung_status load_entries(proof *p)
{
    const double *in[RUNG_MECH_INPUT_MAX] = {NULL};
    rung_rows *rows = NULL;
    size_t entries = p->l->entries;
    memset(p->token, 0, entries * sizeof *p->token);
    rung_prompt prompt = {.token = p->token, .tokens = entries};
    RUNG_TRY(rung_rows_new(&rows, p->program, &prompt, 0, p->err));
    rung_rows_inputs(rows, in, NULL, 0, 0);
    memcpy(p->keys, in[IN_KEY], entries * p->l->head * sizeof *p->keys);
    rung_rows_free(rows);
    return RUNG_OK;
}

static rung_status load_query(proof *p, size_t place)
{
    const double *in[RUNG_MECH_INPUT_MAX] = {NULL};
    rung_rows *rows = NULL;
    uint32_t token = (uint32_t)(((size_t)1 << p->l->bits) + place);
    rung_prompt prompt = {.token = &token, .tokens = 1};
    size_t last = p->l->entries * p->l->head, bytes = p->l->head * sizeof(double);
    RUNG_TRY(rung_rows_new(&rows, p->program, &prompt, p->l->entries, p->err));
    rung_rows_inputs(rows, in, NULL, 0, 0);
    memcpy(p->queries + last, in[IN_QUERY], bytes);
    memcpy(p->keys + last, in[IN_KEY], bytes);
    memcpy(p->values + p->l->entries * p->l->bits, in[IN_VALUE], p->l->bits * sizeof(double));
    rung_rows_free(rows);
    return RUNG_OK;
}

/* The place has the value 1 in every bit, and every other place has `others` times it. */
static void attend(proof *p, size_t place, double others)
{
    size_t bits = p->l->bits, entries = p->l->entries;
    for (size_t j = 0; j < entries; j++)
        for (size_t i = 0; i < bits; i++) p->values[j * bits + i] = (j == place ? 1 : others) * p->one[i];
    rung_stretch_exact s = {.conf = &p->conf,
                            .fmt = p->fmt,
                            .o = p->answer,
                            .state = p->state,
                            .in = {p->queries, p->keys, p->values},
                            .tokens = entries + 1,
                            .at = &entries,
                            .asked = 1,
                            .scratch = p->scratch,
                            .scratch_size = p->scratch_size};
    rung_stretch_scan_exact(&s, 1);
}

/* Runs the same prompt through the whole model and compares the answer in its stream. */
static rung_status model_agrees(proof *p, bool *agrees, size_t place, uint32_t others)
{
    size_t entries = p->l->entries, values = (size_t)1 << p->l->bits;
    rung_error why = {{0}};
    for (size_t j = 0; j < entries; j++) p->token[j] = j == place ? (uint32_t)values - 1 : others;
    p->token[entries] = (uint32_t)(values + place);
    rung_session_reset(p->session);
    rung_prompt prompt = {.token = p->token, .tokens = entries + 1};
    rung_status status = rung_session_run(p->session, p->out, &prompt, RUNG_FORM_SCAN, &entries, 1, &why);
    *agrees = false;
    if (status == RUNG_INPUT) return RUNG_OK; /* the model stops, so there is no proof */
    if (status != RUNG_OK) return *p->err = why, status;
    rung_session_view(p->session, p->view);
    *agrees = memcmp(p->view + rotary_answer_place(p->l), p->answer, p->l->bits * sizeof *p->view) == 0;
    return RUNG_OK;
}

static bool widen(proof *p)
{
    bool finite = true;
    for (size_t i = 0; i < p->l->bits; i++) {
        finite = finite && isfinite(p->answer[i]);
        p->low = fmin(p->low, p->answer[i]), p->high = fmax(p->high, p->answer[i]);
    }
    return finite && p->low > 0;
}

/* At the first and the last place it runs the whole model as well. */
static rung_status check_place(proof *p, bool *holds, size_t place)
{
    uint32_t ones = (uint32_t)((size_t)1 << p->l->bits) - 1;
    bool whole = place == 0 || place + 1 == p->l->entries, agrees = true;
    rung_status status = load_query(p, place);
    *holds = status == RUNG_OK;
    for (int high = 0; status == RUNG_OK && *holds && high < 2; high++) {
        attend(p, place, high ? 1 : -1);
        *holds = widen(p);
        if (whole && *holds) status = model_agrees(p, &agrees, place, high ? ones : 0);
        if (status == RUNG_OK && !agrees) return *holds = unproved(p, "the model stops in this format"), RUNG_OK;
    }
    if (status == RUNG_OK && !*holds) unproved(p, "other entries outweigh the wanted one in this format");
    return status;
}

static rung_status check_places(proof *p, bool *holds)
{
    rung_status status = load_entries(p);
    p->low = INFINITY, p->high = 0, *holds = status == RUNG_OK;
    for (size_t x = 0; status == RUNG_OK && *holds && x < p->l->entries; x++) status = check_place(p, holds, x);
    return status;
}

/* Norm and read-out: ratios change by at most six roundings, a sum of b terms by (b-1) roundings of at most b of
 * them. */
static bool read_out_is_right(proof *p)
{
    double u = ldexp(1, -p->fmt->mantissa_bits - 1), b = (double)p->l->bits;
    double least = p->low / p->high * (1 - 8 * u), lost = b * b * u / (1 - b * u);
    if (b * u < 0.25 && least > lost) return true;
    return unproved(p, "the read-out rounds away a bit in this format");
}

static rung_status prove(proof *p, bool *proved)
{
    rung_status status = check_tokens(p, proved);
    if (status == RUNG_OK && *proved) status = check_places(p, proved);
    if (status != RUNG_OK || !*proved) return status;
    *proved = read_out_is_right(p);
    if (*proved)
        snprintf(p->reason, p->size,
                 "keys depend on the position alone and values are signs, so 2 extremal prompts for each of %zu places "
                 "decide; the wanted value keeps at least %.3g of its weight",
                 p->l->entries, p->low / p->high);
    return RUNG_OK;
}

static double *take(proof *p, size_t rows, size_t cols)
{
    size_t count = 0;
    bool fits = rung_size_mul(&count, rows, cols);
    return fits ? rung_arena_alloc(&p->arena, count, sizeof(double), p->err) : NULL;
}

static rung_status make_room(proof *p)
{
    size_t head = p->l->head, tokens = p->l->entries + 1;
    p->scratch_size = p->conf.mech->scratch(&p->conf, tokens);
    p->token = rung_arena_alloc(&p->arena, tokens, sizeof *p->token, p->err);
    p->key = take(p, 1, head), p->value = take(p, 1, head), p->one = take(p, 1, head);
    p->queries = take(p, tokens, head), p->keys = take(p, tokens, head), p->values = take(p, tokens, p->l->bits);
    p->answer = take(p, tokens, p->l->bits), p->state = take(p, 1, rung_mech_state_capacity(&p->conf, tokens));
    p->scratch = take(p, 1, p->scratch_size), p->view = take(p, 1, p->l->hidden);
    p->out = take(p, (size_t)1 << p->l->bits, 1);
    bool all = p->token && p->key && p->value && p->one && p->queries && p->keys && p->values && p->answer &&
               p->state && p->scratch && p->view && p->out;
    return all ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rotary_prove(bool *proved, char *reason, size_t size, const rung_model *model, const rotary_lookup *l,
                         const rung_evaluator *how, rung_error *err)
{
    proof p = {.l = l, .fmt = how->numbers, .reason = reason, .size = size, .err = err};
    *proved = false;
    if (how->numbers->kind == RUNG_FMT_FIXED || how->numbers->mantissa_bits > 25)
        return unproved(&p, "the proof is for floats of up to 25 bits of mantissa"), RUNG_OK;
    rung_arena_init(&p.arena);
    p.conf = rung_model_get_arch(model)->layer[0].group[0];
    p.conf.softmax = how->softmax, p.conf.dv = l->bits;
    rung_status status = make_room(&p);
    RUNG_NEXT(status, rung_program_new(&p.program, model, how, err));
    RUNG_NEXT(status, rung_session_new(&p.session, p.program, l->entries + 1, err));
    RUNG_NEXT(status, prove(&p, proved));
    rung_session_free(p.session);
    rung_program_free(p.program);
    rung_arena_clear(&p.arena);
    return status;
}
