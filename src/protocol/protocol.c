/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The players in a line: checks them, gives turns, carries the messages and counts them. There is one epoch per layer
 * and group of heads; the groups of a layer see the same streams and do not see each other.
 */
#include "player.h"

#include <stdlib.h>
#include <string.h>

const char *const rung_sent_names[] = {"state",  "accumulators", "summaries", "opened",
                                       "window", "queries",      "choice",    NULL};

typedef struct game {
    const rung_protocol *rules;
    const rung_arch *arch;
    player *player;
    size_t players;
    rung_transcript *t;
    double *state; /* [state_bits / p], in the order of rung_session_pack */
    size_t filled;
    rung_arena arena;
    rung_error *err;
} game;

/* ---- which models the protocol covers ---------------------------------------------------------------------------- */

static bool is_class(const rung_mech_conf *conf, rung_class which)
{
    return conf->mech->class_of == which;
}

static rung_status group_covers(const rung_mech_conf *conf, size_t layer, rung_error *err)
{
    if (is_class(conf, RUNG_CLASS_TOP))
        return rung_fail(err, RUNG_USAGE,
                         "layer %zu: %s selects single tokens by a key of every earlier one: what a token needs to "
                         "know grows with the prompt, and no short message is known",
                         layer, conf->mech->name);
    if (!rung_state_of_mech(conf) && !is_class(conf, RUNG_CLASS_SCAN) && !is_class(conf, RUNG_CLASS_BLOCKS))
        return rung_fail(err, RUNG_USAGE, "layer %zu: no protocol is known for %s, whose cache grows", layer,
                         conf->mech->name);
    return RUNG_OK;
}

rung_status rung_protocol_covers(const rung_model *model, rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    const rung_arch *arch = rung_model_get_arch(model);
    rung_status status = RUNG_OK;
    if (!spec->causal)
        return rung_fail(err, RUNG_USAGE,
                         "the model is an encoder: every player would need messages from every later one, so there is "
                         "no one-way protocol");
    if (!spec->vocab)
        return rung_fail(
            err, RUNG_USAGE,
            "the model reads real vectors, but players hold tokens; use a task over tokens ('rung list tasks')");
    for (size_t l = 0; status == RUNG_OK && l < arch->layer_count; l++)
        for (size_t g = 0; status == RUNG_OK && g < arch->layer[l].group_count; g++)
            status = group_covers(&arch->layer[l].group[g], l, err);
    return status;
}

/* The least number of tokens that consists of whole blocks in every sparse layer; 0: there is no sparse layer. Values
 * beyond `most` need not be exact. */
static size_t common_block(const rung_arch *arch, size_t most)
{
    size_t common = 0;
    for (size_t l = 0; l < arch->layer_count; l++)
        for (size_t g = 0; g < arch->layer[l].group_count; g++) {
            if (!is_class(&arch->layer[l].group[g], RUNG_CLASS_BLOCKS)) continue;
            size_t B = rung_blocks_of(&arch->layer[l].group[g]).B, multiple = common ? common : B;
            while (multiple % B && multiple < most) multiple += common;
            common = multiple % B ? most : multiple;
        }
    return common;
}

static rung_status task_players(rung_span **out, size_t *count, const rung_instance *instance, rung_error *err)
{
    *out = rung_calloc(instance->player_count, sizeof **out, err);
    *count = 0;
    for (size_t i = 0; *out && i < instance->player_count; i++)
        if (instance->player[i].len) (*out)[(*count)++] = instance->player[i];
    return *out ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rung_protocol_players(rung_span **out, size_t *count, const rung_model *model,
                                  const rung_instance *instance, rung_error *err)
{
    size_t n = instance->tokens, B = common_block(rung_model_get_arch(model), n);
    *out = NULL;
    if (!B) return task_players(out, count, instance, err);
    *count = n / B + (n % B != 0);
    *out = rung_calloc(*count, sizeof **out, err);
    for (size_t i = 0; *out && i < *count; i++) {
        rung_span *span = &(*out)[i];
        span->start = i * B, span->len = n - span->start < B ? n - span->start : B;
        char name[32];
        snprintf(name, sizeof name, "block %zu", i);
        snprintf(span->name, sizeof span->name, "%.15s", name);
    }
    return *out ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status check_rules(const rung_protocol *rules, rung_error *err)
{
    size_t next = 0, B = common_block(rung_model_get_arch(rules->model), rules->tokens);
    for (size_t i = 0; i < rules->player_count; i++) {
        const rung_span *span = &rules->player[i];
        if (span->start != next || span->len == 0 || span->len > rules->tokens - next)
            return rung_fail(err, RUNG_USAGE, "player %s does not begin at token %zu, where the previous one ends",
                             span->name, next);
        if (B && next % B)
            return rung_fail(err, RUNG_USAGE, "player %s begins at token %zu, inside a block of %zu tokens", span->name,
                             next, B);
        next += span->len;
    }
    if (next != rules->tokens || next == 0)
        return rung_fail(err, RUNG_USAGE, "the players hold %zu of the %zu tokens", next, rules->tokens);
    for (size_t i = 0; i < rules->at_count; i++)
        if (rules->at[i] >= rules->tokens || (i && rules->at[i] <= rules->at[i - 1]))
            return rung_fail(err, RUNG_USAGE,
                             "token %zu cannot be asked: it does not exist, or the order is not rising", rules->at[i]);
    return rung_protocol_covers(rules->model, err);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void count_letter(rung_transcript *t, const rung_letter *letter)
{
    t->sent[letter->what] += letter->bits, t->letters[letter->what]++;
    if (letter->what >= RUNG_SENT_COUNTED) return;
    for (size_t cut = letter->from; cut < letter->to; cut++)
        t->bits[(letter->layer * t->cuts + cut) * RUNG_SENT_COUNTED + letter->what] += letter->bits;
}

/* Delivers a message and counts it. An empty message is not sent. */
static rung_status deliver(game *g, rung_letter *letter, const epoch *e, rung_sent what, const player *from,
                           const player *to, size_t whose)
{
    letter->what = what, letter->layer = e->layer, letter->group = e->group;
    letter->from = from->index, letter->to = to->index, letter->whose = whose;
    if (!letter->bits) return RUNG_OK;
    count_letter(g->t, letter);
    return g->rules->tap ? g->rules->tap(g->rules->context, letter, g->err) : RUNG_OK;
}

/* ---- epochs ------------------------------------------------------------------------------------------------------ */

static void next_turn(epoch *e)
{
    e->turn++;
    rung_arena_clear(&e->work[e->turn % 2]);
}

static void remember(game *g, const double *numbers, size_t count)
{
    memcpy(g->state + g->filled, numbers, count * sizeof *numbers);
    g->filled += count;
}

/* Passes states along the line, and makes the inputs of every player. tail: the state of the last player,
 * [rung_state_elements]. */
static rung_status pass_states(game *g, epoch *e, double *tail)
{
    rung_status status = RUNG_OK;
    rung_letter received = {0};
    double *numbers;
    for (size_t i = 0; status == RUNG_OK && i < g->players; i++) {
        player *p = &g->player[i];
        size_t end = p->start + p->tokens, elements = rung_state_elements(e->conf, end);
        next_turn(e);
        status = rung_player_begin(p, e);
        RUNG_NEXT(status, rung_state_turn(p, &numbers, i ? &received : NULL, e));
        if (status != RUNG_OK) break;
        if (i + 1 == g->players) {
            memcpy(tail, numbers, elements * sizeof *tail);
            break;
        }
        received = (rung_letter){.first = end, .count = 1};
        status = rung_letter_pack(&received, numbers, elements, e);
        RUNG_NEXT(status, deliver(g, &received, e, RUNG_SENT_STATE, p, p + 1, i + 1));
    }
    return status;
}

/* Passes the accumulators of one player's tokens by all earlier players. */
static rung_status pass_accumulators(game *g, epoch *e, player *owner)
{
    rung_status status = RUNG_OK;
    rung_letter shown = {0}, acc[2] = {{0}};
    const rung_letter *got = NULL;
    next_turn(e);
    for (size_t j = 0; status == RUNG_OK && owner->asks && j < owner->index; j++) {
        rung_letter *next = &acc[j % 2];
        status = rung_full_queries(owner, &shown, e);
        RUNG_NEXT(status, deliver(g, &shown, e, RUNG_SENT_QUERIES, owner, &g->player[j], owner->index));
        RUNG_NEXT(status, rung_full_add(&g->player[j], next, got, &shown, e));
        RUNG_NEXT(status, deliver(g, next, e, RUNG_SENT_ACCUMULATORS, &g->player[j], &g->player[j + 1], owner->index));
        got = next;
    }
    RUNG_TRY(status);
    return rung_full_end(owner, got, e);
}

static rung_status play_full(game *g, epoch *e)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < g->players; i++) {
        status = pass_accumulators(g, e, &g->player[i]);
        rung_full_cache(g->state + g->filled, &g->player[i], e);
        g->filled += g->player[i].tokens * rung_mech_kv_heads(e->conf) * (e->conf->dk + e->conf->dv);
    }
    return status;
}

/* Gets what `to` needs of an earlier player's blocks. */
static rung_status open_blocks(game *g, epoch *e, desk *d, player *from, player *to)
{
    blocks b = rung_blocks_of(e->conf);
    size_t first = rung_sparse_window_first(to, e), end = from->start + from->tokens;
    rung_letter choice = {.first = from->start / b.B, .count = from->tokens / b.B}, rows = {0}, shown = {0};
    rung_status status = rung_sparse_choice(&choice, d, e);
    if (status == RUNG_OK && to->asks) status = deliver(g, &choice, e, RUNG_SENT_CHOICE, to, from, to->index);
    RUNG_NEXT(status, rung_sparse_open(from, &rows, &choice, e));
    RUNG_NEXT(status, deliver(g, &rows, e, RUNG_SENT_OPENED, from, to, to->index));
    RUNG_NEXT(status, rung_sparse_take_opened(d, &rows, e));
    if (status != RUNG_OK || first >= end) return status;
    status = rung_sparse_show(from, &shown, first > from->start ? first : from->start, end, e);
    RUNG_TRY(status);
    RUNG_TRY(deliver(g, &shown, e, RUNG_SENT_WINDOW, from, to, to->index));
    return rung_sparse_take_shown(d, &shown, e);
}

static rung_status play_sparse(game *g, epoch *e)
{
    blocks b = rung_blocks_of(e->conf);
    rung_letter received = {0};
    desk d;
    rung_status status = rung_sparse_desk(&d, e);
    for (size_t i = 0; status == RUNG_OK && i < g->players; i++) {
        player *p = &g->player[i];
        next_turn(e);
        status = rung_sparse_lay_out(p, &d, i ? &received : NULL, e);
        if (status != RUNG_OK) break;
        size_t held = rung_blocks_elements(p->start + p->tokens, &b) - rung_blocks_elements(p->start, &b);
        remember(g, p->own, held);
        if (i + 1 < g->players) status = rung_sparse_summaries(p, &received, &d, e);
        if (status == RUNG_OK && i + 1 < g->players)
            status = deliver(g, &received, e, RUNG_SENT_SUMMARIES, p, p + 1, i + 1);
        RUNG_NEXT(status, rung_sparse_choose(p, &d, e));
        for (size_t j = 0; status == RUNG_OK && j < i; j++) status = open_blocks(g, e, &d, &g->player[j], p);
        if (status == RUNG_OK) rung_sparse_read(p, &d, e);
    }
    return status;
}

static rung_status play_group(game *g, epoch *e)
{
    size_t elements = rung_state_elements(e->conf, e->tokens);
    double *tail = rung_epoch_keep(e, elements, 1);
    rung_status status = tail ? pass_states(g, e, tail) : RUNG_SYSTEM;
    if (status == RUNG_OK && is_class(e->conf, RUNG_CLASS_SCAN)) status = play_full(g, e);
    if (status == RUNG_OK && is_class(e->conf, RUNG_CLASS_BLOCKS)) status = play_sparse(g, e);
    if (status == RUNG_OK) remember(g, tail, elements);
    for (size_t i = 0; status == RUNG_OK && i < g->players; i++) rung_player_answer(&g->player[i], e);
    return status;
}

static rung_status play_layer(game *g, size_t layer)
{
    rung_status status = RUNG_OK;
    bool last = layer + 1 == g->arch->layer_count;
    for (size_t i = 0; status == RUNG_OK && i < g->arch->layer[layer].group_count; i++) {
        epoch e = {.conf = &g->arch->layer[layer].group[i],
                   .fmt = g->rules->numbers,
                   .layer = layer,
                   .group = i,
                   .tokens = g->rules->tokens,
                   .last = last,
                   .err = g->err};
        rung_arena_init(&e.keep), rung_arena_init(&e.work[0]), rung_arena_init(&e.work[1]);
        status = play_group(g, &e);
        rung_arena_clear(&e.keep), rung_arena_clear(&e.work[0]), rung_arena_clear(&e.work[1]);
    }
    for (size_t i = 0; status == RUNG_OK && i < g->players; i++)
        status = rung_player_finish(&g->player[i], layer, last, g->err);
    return status;
}

/* ---- the whole protocol ------------------------------------------------------------------------------------------ */

static rung_status carried_elements(size_t *out, const game *g)
{
    size_t sum = 0;
    for (size_t l = 0; l < g->arch->layer_count; l++)
        for (size_t i = 0; i < g->arch->layer[l].group_count; i++) {
            const rung_mech_conf *conf = &g->arch->layer[l].group[i];
            if (!rung_size_add(&sum, sum, rung_mech_state_elements(conf, g->rules->tokens)) ||
                !rung_size_add(&sum, sum, rung_head_group_conv_elements(conf)))
                return rung_fail(g->err, RUNG_SYSTEM, "the carried numbers of %zu tokens do not fit into memory",
                                 g->rules->tokens);
        }
    *out = sum;
    return RUNG_OK;
}

static rung_status allocate(game *g, size_t *elements)
{
    rung_transcript *t = g->t;
    size_t cells, answers = rung_model_get_spec(g->rules->model)->answers;
    t->layers = g->arch->layer_count, t->cuts = g->rules->player_count - 1;
    if (!rung_size_mul(&cells, t->layers, t->cuts * RUNG_SENT_COUNTED))
        return rung_fail(g->err, RUNG_SYSTEM, "%zu layers and %zu players do not fit into memory", t->layers,
                         t->cuts + 1);
    RUNG_TRY(carried_elements(elements, g));
    t->bits = rung_calloc(cells, sizeof *t->bits, g->err);
    t->out = rung_calloc(g->rules->at_count, answers * sizeof *t->out, g->err);
    t->state_bits = (uint64_t)*elements * (uint64_t)g->rules->numbers->bits;
    t->state = rung_calloc((size_t)t->state_bits / 8 + 1, 1, g->err);
    g->state = rung_arena_alloc(&g->arena, *elements, sizeof *g->state, g->err);
    g->player = rung_arena_alloc(&g->arena, g->rules->player_count, sizeof *g->player, g->err);
    return t->bits && t->out && t->state && g->state && g->player ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status read_outs(game *g)
{
    rung_status status = RUNG_OK;
    size_t answers = rung_model_get_spec(g->rules->model)->answers, i = 0;
    for (size_t n = 0; status == RUNG_OK && n < g->rules->at_count; n++) {
        size_t at = g->rules->at[n];
        while (at >= g->player[i].start + g->player[i].tokens) i++;
        status = rung_player_read_out(&g->player[i], g->t->out + n * answers, at - g->player[i].start, g->err);
    }
    return status;
}

static rung_status play(game *g)
{
    size_t elements = 0;
    rung_status status = allocate(g, &elements);
    for (; status == RUNG_OK && g->players < g->rules->player_count; g->players++)
        status = rung_player_init(&g->player[g->players], g->rules, &g->rules->player[g->players], g->players,
                                  &g->arena, g->err);
    for (size_t l = 0; status == RUNG_OK && l < g->arch->layer_count; l++) status = play_layer(g, l);
    RUNG_NEXT(status, read_outs(g));
    RUNG_NEXT(status, rung_numbers_have_codes(g->state, elements, g->rules->numbers, "the state", g->err));
    if (status == RUNG_OK) rung_num_pack(g->t->state, g->rules->numbers, g->state, elements);
    return status;
}

rung_status rung_protocol_play(rung_transcript *out, const rung_protocol *rules, rung_error *err)
{
    game g = {.rules = rules, .arch = rung_model_get_arch(rules->model), .t = out, .err = err};
    *out = (rung_transcript){0};
    RUNG_TRY(check_rules(rules, err));
    rung_arena_init(&g.arena);
    rung_status status = play(&g);
    for (size_t i = 0; i < g.players; i++) rung_player_clear(&g.player[i]);
    rung_arena_clear(&g.arena);
    return status;
}

void rung_transcript_clear(rung_transcript *t)
{
    free(t->bits), free(t->out), free(t->state);
    *t = (rung_transcript){0};
}

uint64_t rung_transcript_bits(const rung_transcript *t, size_t layer, size_t cut)
{
    uint64_t sum = 0;
    for (size_t w = 0; w < RUNG_SENT_COUNTED; w++) sum += t->bits[(layer * t->cuts + cut) * RUNG_SENT_COUNTED + w];
    return sum;
}

uint64_t rung_transcript_total(const rung_transcript *t)
{
    uint64_t sum = 0;
    for (size_t w = 0; w < RUNG_SENT_COUNTED; w++) sum += t->sent[w];
    return sum;
}
