/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reads the table T of an additive state out of a model: what one token at one position adds to a state of zeros. It
 * uses the mechanism's own step, so that feature maps, the normaliser and every rounding are those of the model.
 * Log-linear attention has one matrix per binary digit of the position; after 2^k tokens that is one matrix, so the
 * prefix ends there.
 */
#include "additive.h"

#include <stdlib.h>
#include <string.h>

/* ---- does it fit? ------------------------------------------------------------------------------------------------ */

static bool has_levels(const rung_mech_conf *conf)
{
    return conf->mech->class_of == RUNG_CLASS_LEVELS;
}

static bool is_sum(const rung_mech_conf *conf)
{
    if (rung_head_group_conv_elements(conf) > 0) return false;
    if (has_levels(conf)) return rung_mech_param(conf, "base") == 0;
    return conf->mech->traits & RUNG_TRAIT_SUM;
}

static bool layer_is_sum(const rung_layer *layer)
{
    for (size_t g = 0; g < layer->group_count; g++)
        if (!is_sum(&layer->group[g])) return false;
    return true;
}

bool rung_additive_suits(const rung_attacked *attacked, char *why, size_t size)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    const char *lacks = NULL;
    if (!rung_attacked_suits(attacked, why, size)) return false;
    if (attacked->numbers.kind != RUNG_FMT_FIXED)
        lacks = "addition rounds in a float format, so the state is not a sum";
    else if (arch->layer_count != 1)
        lacks = "the state of a second layer is not a sum over the tokens";
    else if (!layer_is_sum(&arch->layer[0]))
        lacks = "the layer is not linear or loglinear:base=linear without convolutions";
    else if (attacked->task->tokens < 3)
        lacks = "the prompts are too short";
    if (lacks) snprintf(why, size, "%s", lacks);
    return !lacks;
}

/* ---- where to cut ------------------------------------------------------------------------------------------------ */

/* The first player's tokens; if the layer is log-linear, the largest power of two in them. */
static size_t cut_of(const rung_attacked *attacked, const rung_instance *instance)
{
    const rung_layer *layer = &rung_model_get_arch(attacked->model)->layer[0];
    size_t cut = instance->player_count > 1 ? instance->player[0].len : instance->tokens - 1, power = 1;
    if (cut == 0 || cut >= instance->tokens) cut = instance->tokens - 1;
    while (power <= cut / 2) power *= 2;
    for (size_t g = 0; g < layer->group_count; g++)
        if (has_levels(&layer->group[g])) return power;
    return cut;
}

void rung_additive_sizes(double *bits, size_t *places, double *choices, const rung_attacked *attacked)
{
    rung_instance instance = {0};
    size_t numbers = 0;
    const rung_layer *layer = &rung_model_get_arch(attacked->model)->layer[0];
    *places = attacked->task->tokens - 1;
    if (rung_instance_init(&instance, attacked->task, NULL) == RUNG_OK &&
        rung_task_make(&instance, attacked->task, 1, 0, NULL) == RUNG_OK)
        *places = cut_of(attacked, &instance);
    rung_instance_clear(&instance);
    for (size_t g = 0; g < layer->group_count; g++) numbers += rung_mech_state_elements(&layer->group[g], *places);
    *bits = (double)numbers * attacked->numbers.bits;
    *choices = (double)attacked->task->task->ids(attacked->task, *places - 1).count;
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

/* More tokens per place only cost memory: 512 tokens already have 2^18 differences at every place. */
enum { CHOICES_MAX = 512, CHOICES_TIED = 48, FREE_TRIALS = 8 };

typedef struct selection {
    runner *h;
    const uint32_t *base; /* a prompt */
    size_t places, most;  /* most: choices of a place */
    size_t *count;        /* [places] */
    uint32_t *token;      /* [places][most] */
    uint32_t *scratch;    /* [tokens] */
} selection;

static rung_ids ids_at(const runner *h, size_t pos)
{
    return h->attacked->task->task->ids(h->attacked->task, pos);
}

/* True if arbitrary ids at these places still make prompts. */
static bool places_are_free(const selection *s, rung_rng *rng)
{
    for (size_t trial = 0; trial < FREE_TRIALS; trial++) {
        memcpy(s->scratch, s->base, s->h->tokens * sizeof *s->base);
        for (size_t j = 0; j < s->places; j++) {
            rung_ids ids = ids_at(s->h, j);
            s->scratch[j] = (uint32_t)(ids.first + rung_rng_below(rng, ids.count));
        }
        if (rung_runner_oracle(s->h, s->scratch) == RUNG_NO_TARGET) return false;
    }
    return true;
}

static void accept(selection *s, size_t place, uint32_t token)
{
    s->token[place * s->most + s->count[place]++] = token;
}

/* At most `most` ids, spread over the run; the same for equal runs. */
static void choose_freely(selection *s)
{
    for (size_t j = 0; j < s->places; j++) {
        rung_ids ids = ids_at(s->h, j);
        size_t count = ids.count < s->most ? ids.count : s->most;
        for (size_t c = 0; c < count; c++) accept(s, j, (uint32_t)(ids.first + c * ids.count / count));
    }
}

static bool is_prompt_with(selection *s, size_t place, uint32_t token)
{
    uint32_t before = s->scratch[place];
    s->scratch[place] = token;
    bool is = rung_runner_oracle(s->h, s->scratch) != RUNG_NO_TARGET;
    s->scratch[place] = before;
    return is;
}

/* Chooses tokens that may stand here in the prompt, and at no other place but where they stand now. Such choices of all
 * places are compatible (the keys of pairs, of which no two may be equal). */
static void choose_tied(selection *s)
{
    enum { ORACLES = 1 << 17 };
    memcpy(s->scratch, s->base, s->h->tokens * sizeof *s->base);
    for (size_t j = 0; j < s->places; j++) {
        rung_ids ids = ids_at(s->h, j);
        size_t stride = ids.count * s->places / ORACLES + 1, other = j ? j - 1 : s->places - 1;
        for (size_t c = 0; c < ids.count && s->count[j] < s->most; c += stride) {
            uint32_t token = (uint32_t)(ids.first + c);
            if (is_prompt_with(s, j, token) && (other == j || !is_prompt_with(s, other, token))) accept(s, j, token);
        }
        if (s->count[j] == 0) accept(s, j, s->base[j]);
    }
}

static size_t most_choices(size_t places, size_t dims, bool free_places, const rung_budget *budget)
{
    size_t room = budget->memory / 8 / (places * (dims + 2) * sizeof(int64_t)),
           most = free_places ? CHOICES_MAX : CHOICES_TIED;
    if (most > room) most = room;
    return most < 2 ? 2 : most;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What one token adds to a state of zeros. */
typedef struct absorber {
    double *state, *o, *scratch;
    const rung_fmt *fmt;
} absorber;

static void put_row(int64_t *row, absorber *w, const rung_mech_conf *conf, const double *const *in, size_t token)
{
    const double *at[RUNG_MECH_INPUT_MAX] = {0};
    size_t elements = rung_mech_state_elements(conf, 1);
    for (size_t i = 0; i < rung_mech_inputs(conf->mech); i++) {
        bool constant = rung_mech_is_constant(&conf->mech->inputs[i]);
        at[i] = in[i] && !constant ? in[i] + token * rung_mech_row(&conf->mech->inputs[i], conf) : in[i];
    }
    memset(w->state, 0, elements * sizeof *w->state);
    rung_mech_step_exact(w->o, w->state, at, 0, conf, w->fmt, w->scratch);
    for (size_t i = 0; i < elements; i++) row[i] = (int64_t)(w->state[i] / w->fmt->spacing); /* exact: a power of two */
}

/* The c-th choice of every place at once; this is a prompt of its own. */
static rung_status put_choice(additive *sums, absorber *w, const runner *h, uint32_t *token, size_t c, rung_error *err)
{
    const rung_layer *layer = &rung_model_get_arch(h->attacked->model)->layer[0];
    const double *in[RUNG_MECH_INPUT_MAX];
    rung_rows *rows = NULL;
    for (size_t j = 0; j < sums->places; j++)
        token[j] = sums->token[sums->first[j] + (c < additive_choices(sums, j) ? c : 0)];
    rung_status status =
        rung_rows_new(&rows, h->attacked->program, &(rung_prompt){.token = token, .tokens = sums->places}, 0, err);
    RUNG_TRY(status);
    for (size_t g = 0, at = 0; g < layer->group_count; g++) {
        rung_rows_inputs(rows, in, NULL, 0, g);
        for (size_t j = 0; j < sums->places; j++)
            if (c < additive_choices(sums, j))
                put_row(sums->row + (sums->first[j] + c) * sums->dims + at, w, &layer->group[g], in, j);
        at += rung_mech_state_elements(&layer->group[g], sums->places);
    }
    rung_rows_free(rows);
    return RUNG_OK;
}

static rung_status absorber_init(absorber *w, rung_arena *arena, const rung_attacked *attacked, rung_error *err)
{
    const rung_layer *layer = &rung_model_get_arch(attacked->model)->layer[0];
    size_t state = 1, o = 1, scratch = 1;
    for (size_t g = 0; g < layer->group_count; g++) {
        const rung_mech_conf *conf = &layer->group[g];
        size_t s = rung_mech_state_capacity(conf, 1), r = conf->heads * conf->dv, t = conf->mech->scratch(conf, 1);
        if (s > state) state = s;
        if (r > o) o = r;
        if (t > scratch) scratch = t;
    }
    w->fmt = &attacked->numbers;
    w->state = rung_arena_alloc(arena, state, sizeof(double), err);
    w->o = rung_arena_alloc(arena, o, sizeof(double), err);
    w->scratch = rung_arena_alloc(arena, scratch, sizeof(double), err);
    return w->state && w->o && w->scratch ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status fill_rows(additive *sums, const selection *s, rung_arena *arena, rung_error *err)
{
    absorber w;
    size_t most = 0;
    rung_status status = absorber_init(&w, arena, s->h->attacked, err);
    for (size_t j = 0; j < sums->places; j++) {
        memcpy(sums->token + sums->first[j], s->token + j * s->most, s->count[j] * sizeof *s->token);
        if (s->count[j] > most) most = s->count[j];
    }
    for (size_t c = 0; c < most && status == RUNG_OK; c++) status = put_choice(sums, &w, s->h, s->scratch, c, err);
    return status;
}

static rung_status allocate_selection(selection *s, rung_arena *arena, rung_error *err)
{
    s->scratch = rung_arena_alloc(arena, s->h->tokens, sizeof *s->scratch, err);
    s->count = rung_arena_alloc(arena, s->places, sizeof *s->count, err);
    return s->scratch && s->count ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status select_and_fill(additive *sums, selection *s, rung_arena *arena, const rung_budget *budget,
                                   rung_error *err)
{
    const rung_layer *layer = &rung_model_get_arch(s->h->attacked->model)->layer[0];
    const rung_fmt *fmt = &s->h->attacked->numbers;
    rung_rng rng;
    size_t dims = 0;
    RUNG_TRY(allocate_selection(s, arena, err));
    rung_rng_init(&rng, budget->seed, 60, 0);
    for (size_t g = 0; g < layer->group_count; g++) dims += rung_mech_state_elements(&layer->group[g], s->places);
    bool free_places = places_are_free(s, &rng);
    s->most = most_choices(s->places, dims, free_places, budget);
    s->token = rung_arena_alloc(arena, s->places, s->most * sizeof *s->token, err);
    if (!s->token) return RUNG_SYSTEM;
    if (free_places)
        choose_freely(s);
    else
        choose_tied(s);
    RUNG_TRY(rung_additive_init(sums, s->places, s->count, dims, err));
    RUNG_TRY(fill_rows(sums, s, arena, err));
    sums->bits = dims * (size_t)fmt->bits;
    rung_additive_seal(sums, fmt->largest / fmt->spacing);
    return RUNG_OK;
}

rung_status rung_additive_of_state(additive *sums, uint32_t *base, runner *h, const rung_budget *budget,
                                   rung_error *err)
{
    rung_arena arena;
    memset(sums, 0, sizeof *sums);
    if (!rung_runner_draw(h, base, budget->seed, 0))
        return rung_fail(err, RUNG_USAGE, "the task generates no prompt of full length");
    selection s = {.h = h, .base = base, .places = cut_of(h->attacked, &h->instance)};
    rung_arena_init(&arena);
    rung_status status = select_and_fill(sums, &s, &arena, budget, err);
    rung_arena_clear(&arena);
    return status;
}
