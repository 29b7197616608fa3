/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One set of formats on its way through a stream, and the search for a stream that drifts far.
 */
#include "drift_inside.h"

#include <math.h>
#include <string.h>

static rung_status room_for(drift_walk *w, const drift_stream *s, rung_arena *arena, rung_error *err)
{
    const rung_mech_input *input = w->conf->mech->inputs;
    for (size_t i = 0; input[i].name; i++) {
        size_t row = rung_mech_row(&input[i], w->conf);
        if (row == 0) continue;
        double *x = rung_arena_alloc(arena, rung_mech_is_constant(&input[i]) ? row : row * w->room, sizeof *x, err);
        if (!x) return RUNG_SYSTEM;
        w->in[i] = x;
        if (!rung_mech_is_constant(&input[i])) continue;
        memcpy(x, s->constant[i], row * sizeof *x);
        rung_stored_keep(&w->numbers.of[input[i].quantity], &w->numbers.acc, x, 1, row, NULL, NULL);
    }
    return RUNG_OK;
}

rung_status drift_walk_new(drift_walk *w, const rung_mech_conf *conf, const rung_numbers *numbers,
                           const drift_stream *s, size_t room, rung_arena *arena, rung_error *err)
{
    *w = (drift_walk){.conf = conf, .numbers = *numbers, .room = room};
    const rung_kept kept = rung_mech_kept(conf);
    const size_t scales = conf->heads * rung_kept_scales(&kept, &numbers->of[RUNG_QUANTITY_STATE]);
    w->elements = rung_mech_state_elements(conf, 1);
    w->scratch_size = conf->mech->scratch(conf, SIZE_MAX / 2);
    w->state = rung_arena_alloc(arena, w->elements, sizeof *w->state, err);
    w->o = rung_arena_alloc(arena, room * conf->heads * conf->dv, sizeof *w->o, err);
    w->scratch = rung_arena_alloc(arena, w->scratch_size, sizeof *w->scratch, err);
    w->keeper = (rung_keeper){.numbers = NULL};
    if (scales) w->keeper.scales = rung_arena_alloc(arena, scales, sizeof *w->keeper.scales, err);
    if (!w->state || !w->o || !w->scratch || (scales && !w->keeper.scales)) return RUNG_SYSTEM;
    return room_for(w, s, arena, err);
}

void drift_walk_take(drift_walk *w, double *const *in, size_t pos, size_t count)
{
    const rung_mech_input *input = w->conf->mech->inputs;
    const rung_numbers *n = &w->numbers;
    w->keeper.numbers = n;
    rung_stretch_exact stretch = {.conf = w->conf,
                                  .fmt = &n->acc,
                                  .keeper = n->mixed ? &w->keeper : NULL,
                                  .o = w->o,
                                  .state = w->state,
                                  .pos = pos,
                                  .tokens = count,
                                  .scratch = w->scratch,
                                  .scratch_size = w->scratch_size};
    for (size_t i = 0; input[i].name; i++) {
        stretch.in[i] = w->in[i];
        if (!w->in[i] || rung_mech_is_constant(&input[i])) continue;
        size_t numbers = count * rung_mech_row(&input[i], w->conf);
        memcpy(w->in[i], in[i], numbers * sizeof **w->in);
        rung_stored_keep(&n->of[input[i].quantity], &n->acc, w->in[i], 1, numbers, NULL, NULL);
    }
    rung_stretch_scan_exact(&stretch, 1);
    rung_stored_keep(&n->of[RUNG_QUANTITY_ACT], &n->acc, w->o, 1, count * w->conf->heads * w->conf->dv, NULL, NULL);
}

void drift_walk_ask(drift_walk *w, double *out, const double *query, size_t count, size_t pos)
{
    const rung_mech_conf *conf = w->conf;
    const double *in[RUNG_MECH_INPUT_MAX];
    for (size_t i = 0; conf->mech->inputs[i].name; i++) in[i] = w->in[i];
    for (size_t c = 0; c < count; c++) {
        memcpy(w->in[0], query + c * conf->dk, conf->dk * sizeof **w->in);
        rung_stored_keep(&w->numbers.of[RUNG_QUANTITY_ACT], &w->numbers.acc, w->in[0], 1, conf->dk, NULL, NULL);
        conf->mech->read_exact(w->o, w->state, in, pos, pos + 1, conf, &w->numbers.acc, w->scratch);
        memcpy(out + c * conf->dv, w->o, conf->dv * sizeof *out);
    }
}

/* ---- search ------------------------------------------------------------------------------------------------------ */

enum { SEARCH_TOKENS = 256, SEARCH_TRIES = 96 };

/* |state - exact| / |exact| after SEARCH_TOKENS tokens of the pattern. */
static double drift_of(drift_stream *s, drift_walk *walk, drift_walk *exact, double *const *in)
{
    double off = 0, size = 0;
    memset(walk->state, 0, walk->elements * sizeof *walk->state);
    memset(exact->state, 0, exact->elements * sizeof *exact->state);
    for (size_t t = 0; t < SEARCH_TOKENS; t += walk->room) {
        drift_stream_fill(s, in, t, walk->room);
        drift_walk_take(walk, in, t, walk->room);
        drift_walk_take(exact, in, t, walk->room);
    }
    for (size_t e = 0; e < walk->elements; e++) {
        double d = walk->state[e] - exact->state[e];
        off += d * d, size += exact->state[e] * exact->state[e];
    }
    double drift = sqrt(off / size);
    return drift < INFINITY ? drift : -1; /* a state that is infinite or 0 is no find */
}

/* Redraws some tokens of the pattern, or makes them alike. */
static void change(drift_stream *s, double *const *draw, uint64_t try)
{
    const rung_mech_input *input = s->conf->mech->inputs;
    rung_rng rng;
    rung_rng_init(&rng, s->seed, 0x5ea4c4, try);
    const uint64_t way = rung_rng_below(&rng, 4);
    const size_t at = rung_rng_below(&rng, s->period), from = rung_rng_below(&rng, s->period);
    double scale = ldexp(1, (int)rung_rng_below(&rng, 8) - 6);
    drift_random_rows(s->conf, s->decay, s->seed + 1 + try, draw, 0, s->period);
    for (size_t i = 0; input[i].name; i++) {
        size_t row = rung_mech_row(&input[i], s->conf);
        if (!s->rows[i]) continue;
        if (way == 0) memcpy(s->rows[i] + at * row, draw[i] + at * row, row * sizeof **draw);
        if (way == 1) memcpy(s->rows[i] + at * row, s->rows[i] + from * row, row * sizeof **draw);
        for (size_t e = 0; way == 2 && e < row && input[i].dim == RUNG_DIM_VALUE; e++)
            s->rows[i][at * row + e] *= scale;
        for (size_t t = 0; way == 3 && t < s->period; t++)
            memmove(s->rows[i] + t * row, s->rows[i] + at * row, row * sizeof **draw);
    }
}

rung_status drift_search(drift_stream *s, const rung_numbers *numbers, rung_arena *arena, rung_error *err)
{
    const rung_mech_input *input = s->conf->mech->inputs;
    drift_walk walk, exact;
    rung_fmt f64;
    rung_numbers wide;
    double *draw[RUNG_MECH_INPUT_MAX] = {0}, *in[RUNG_MECH_INPUT_MAX] = {0}, *best[RUNG_MECH_INPUT_MAX] = {0};
    RUNG_TRY(rung_fmt_parse(&f64, "f64", err));
    rung_numbers_of_fmt(&wide, &f64);
    RUNG_TRY(drift_walk_new(&walk, s->conf, numbers, s, 64, arena, err));
    RUNG_TRY(drift_walk_new(&exact, s->conf, &wide, s, 64, arena, err));
    for (size_t i = 0; input[i].name; i++) {
        if (!s->rows[i]) continue;
        size_t row = rung_mech_row(&input[i], s->conf);
        draw[i] = rung_arena_alloc(arena, s->period * row, sizeof **draw, err);
        best[i] = rung_arena_alloc(arena, s->period * row, sizeof **best, err);
        in[i] = rung_arena_alloc(arena, walk.room * row, sizeof **in, err);
        if (!draw[i] || !best[i] || !in[i]) return RUNG_SYSTEM;
    }
    drift_random_rows(s->conf, s->decay, s->seed, s->rows, 0, s->period);
    double record = drift_of(s, &walk, &exact, in);
    for (uint64_t try = 0; try < SEARCH_TRIES; try++) {
        for (size_t i = 0; input[i].name; i++)
            if (best[i]) memcpy(best[i], s->rows[i], s->period * rung_mech_row(&input[i], s->conf) * sizeof **best);
        change(s, draw, try);
        double found = drift_of(s, &walk, &exact, in);
        if (found > record) {
            record = found;
            continue;
        }
        for (size_t i = 0; input[i].name; i++)
            if (best[i]) memcpy(s->rows[i], best[i], s->period * rung_mech_row(&input[i], s->conf) * sizeof **best);
    }
    return RUNG_OK;
}
