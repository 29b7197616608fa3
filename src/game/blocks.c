/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Plays protocols of block-sparse attention: a reader sees what it has opened and nothing else, and what it opens and is
 * told is counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rung/game.h"

/* Everything that tokens were told so far: [layer][token][slot]. */
typedef struct blocks_play {
    const rung_blocks_game *game;
    const uint64_t *numbers;
    uint64_t query, *told;
    size_t tokens; /* with the query */
    rung_blocks_result *result;
} blocks_play;

struct rung_blocks_reader {
    blocks_play *play;
    size_t token, layer;
    unsigned char *open; /* [block] */
    size_t opened;
    uint64_t bits;
};

rung_status rung_blocks_game_init(rung_blocks_game *game, const rung_task_conf *task, size_t block, rung_error *err)
{
    if (strcmp(task->task->name, "two-sum") != 0 || rung_task_param(task, "form") != 0 ||
        rung_task_param(task, "blank"))
        return rung_fail(err, RUNG_USAGE, "this protocol is about two-sum with form=query and without a blank");
    uint64_t N = (uint64_t)rung_task_param(task, "N");
    if (block < 1 || N % block)
        return rung_fail(err, RUNG_USAGE, "%llu numbers do not fill blocks of %zu; choose --block so that it divides N",
                         (unsigned long long)N, block);
    *game = (rung_blocks_game){block, (size_t)(N / block), (uint64_t)rung_task_param(task, "M")};
    return RUNG_OK;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static void broken(const rung_blocks_reader *r, const char *what, size_t which)
{
    char *text = r->play->result->broken;
    if (!text[0])
        snprintf(text, sizeof r->play->result->broken, "layer %zu: token %zu %s %zu", r->layer, r->token, what, which);
}

static size_t block_of(const rung_blocks_reader *r, size_t token)
{
    return token / r->play->game->block;
}

static bool may_read(const rung_blocks_reader *r, size_t token)
{
    if (token == r->token) return true;
    bool there = token + 1 < r->play->tokens && r->open[block_of(r, token)];
    if (!there) broken(r, "reads without opening its block token", token);
    return there;
}

static uint64_t *told_to(const blocks_play *p, size_t layer, size_t token)
{
    return p->told + ((layer - 1) * p->tokens + token) * RUNG_BLOCKS_SLOTS;
}

size_t rung_blocks_token(const rung_blocks_reader *r)
{
    return r->token;
}

uint64_t rung_blocks_number(rung_blocks_reader *r, size_t token)
{
    if (!may_read(r, token)) return 0;
    return token + 1 == r->play->tokens ? r->play->query : r->play->numbers[token];
}

uint64_t rung_blocks_told(rung_blocks_reader *r, size_t token, size_t layer, size_t slot)
{
    if (!may_read(r, token)) return 0;
    if (layer < 1 || layer >= r->layer || slot >= RUNG_BLOCKS_SLOTS) {
        broken(r, "asks what will be told in layer", layer);
        return 0;
    }
    return told_to(r->play, layer, token)[slot];
}

void rung_blocks_open(rung_blocks_reader *r, size_t block)
{
    if (block >= r->play->game->blocks || block >= block_of(r, r->token)) {
        broken(r, "opens block", block);
        return;
    }
    r->opened += !r->open[block];
    r->open[block] = 1;
}

void rung_blocks_tell(rung_blocks_reader *r, size_t slot, uint64_t value, unsigned bits)
{
    if (slot >= RUNG_BLOCKS_SLOTS || bits > 64 || (bits < 64 && value >> bits)) {
        broken(r, "is told a number that has more bits than counted, in slot", slot);
        return;
    }
    told_to(r->play, r->layer, r->token)[slot] = value;
    r->bits += bits;
}

/* ---- playing ----------------------------------------------------------------------------------------------------- */

static void count(rung_blocks_result *result, const rung_blocks_reader *r)
{
    bool query = r->token + 1 == r->play->tokens;
    size_t *most = (query ? result->query_opens : result->token_opens) + r->layer - 1;
    if (r->opened > *most) *most = r->opened;
    if (r->bits > result->bits[r->layer - 1]) result->bits[r->layer - 1] = r->bits;
}

static void play_layer(blocks_play *p, const rung_blocks_protocol *protocol, size_t layer, unsigned char *open)
{
    for (size_t token = 0; token < p->tokens; token++) {
        rung_blocks_reader r = {.play = p, .token = token, .layer = layer, .open = open};
        memset(open, 0, p->game->blocks);
        protocol->read(&r, p->game, layer);
        count(p->result, &r);
    }
}

static bool is_member(const rung_blocks_game *game, const uint64_t *numbers, uint64_t query)
{
    for (size_t i = 0; i < game->block * game->blocks; i++)
        if ((numbers[i] + query) % game->M == 0) return true;
    return false;
}

rung_status rung_blocks_play(rung_blocks_result *result, const rung_blocks_game *game,
                             const rung_blocks_protocol *protocol, const uint64_t *numbers, uint64_t query,
                             rung_error *err)
{
    RUNG_TRY(protocol->fits(game, err));
    blocks_play p = {game, numbers, query, NULL, game->block * game->blocks + 1, result};
    size_t items;
    if (!rung_size_mul(&items, p.tokens, protocol->layers * RUNG_BLOCKS_SLOTS))
        return rung_fail(err, RUNG_USAGE, "%zu numbers are too many to play", p.tokens - 1);
    p.told = rung_calloc(items, sizeof *p.told, err);
    unsigned char *open = rung_calloc(game->blocks + 1, 1, err);
    if (p.told && open) {
        for (size_t layer = 1; layer <= protocol->layers; layer++) play_layer(&p, protocol, layer, open);
        rung_blocks_reader last = {.play = &p, .token = p.tokens - 1, .layer = protocol->layers + 1, .open = open};
        memset(open, 0, game->blocks);
        result->prompts++;
        result->right += protocol->answer(&last, game) == is_member(game, numbers, query);
    }
    bool there = p.told && open;
    free(p.told);
    free(open);
    return there ? RUNG_OK : RUNG_SYSTEM;
}

/* ---- prompts of several kinds ------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum { RANDOM, SORTED, EQUAL, ALIKE, FEW, KINDS };

static void draw_numbers(uint64_t *numbers, const rung_blocks_game *game, uint64_t kind, rung_rng *rng)
{
    size_t n = game->block * game->blocks;
    uint64_t few = game->M < 8 ? game->M : 8;
    for (size_t i = 0; i < n; i++)
        numbers[i] = kind == EQUAL   ? 5 % game->M
                     : kind == ALIKE ? i % game->block % game->M
                     : kind == FEW   ? rung_rng_below(rng, few)
                                     : rung_rng_below(rng, game->M);
    if (kind == SORTED) qsort(numbers, n, sizeof *numbers, by_value);
}

/* Half of the queries ask for a number that is there. In a third of the prompts one value stands nowhere, or in one
 * place. */
static uint64_t draw_query(uint64_t *numbers, const rung_blocks_game *game, rung_rng *rng)
{
    size_t n = game->block * game->blocks;
    uint64_t wanted = rung_rng_below(rng, 2) ? numbers[rung_rng_below(rng, n)] : rung_rng_below(rng, game->M);
    if (rung_rng_below(rng, 3) == 0) {
        wanted = game->M - 1;
        for (size_t i = 0; i < n; i++)
            if (numbers[i] == wanted) numbers[i] = 0;
        if (rung_rng_below(rng, 2)) numbers[rung_rng_below(rng, n)] = wanted;
    }
    return (game->M - wanted) % game->M;
}

rung_status rung_blocks_run(rung_blocks_result *result, const rung_blocks_game *game,
                            const rung_blocks_protocol *protocol, uint64_t prompts, uint64_t seed, rung_error *err)
{
    *result = (rung_blocks_result){0};
    RUNG_TRY(protocol->fits(game, err));
    uint64_t *numbers = rung_calloc(game->block * game->blocks, sizeof *numbers, err);
    if (!numbers) return RUNG_SYSTEM;
    rung_status status = RUNG_OK;
    for (uint64_t i = 0; i < prompts && status == RUNG_OK && !result->broken[0]; i++) {
        rung_rng rng;
        rung_rng_init(&rng, seed, 0xb10c, i);
        draw_numbers(numbers, game, i % KINDS, &rng);
        uint64_t query = draw_query(numbers, game, &rng);
        status = rung_blocks_play(result, game, protocol, numbers, query, err);
    }
    free(numbers);
    return status;
}

bool rung_blocks_won(const rung_blocks_result *result)
{
    return result->prompts > 0 && result->right == result->prompts && !result->broken[0];
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_layer(rung_jout *out, const rung_blocks_result *r, size_t layer)
{
    rung_jout_flat_object(out, NULL);
    rung_jout_int(out, "layer", (int64_t)layer);
    rung_jout_int(out, "query_opens", (int64_t)r->query_opens[layer - 1]);
    rung_jout_int(out, "token_opens", (int64_t)r->token_opens[layer - 1]);
    rung_jout_int(out, "bits_told", (int64_t)r->bits[layer - 1]);
    rung_jout_end(out);
}

void rung_blocks_json(rung_buf *out, const rung_blocks_game *game, const rung_blocks_protocol *protocol,
                      const rung_blocks_result *result)
{
    rung_jout j;
    rung_jout_begin(&j, out, "rung.blocks/1", true);
    rung_jout_string(&j, "protocol", protocol->name);
    rung_jout_int(&j, "block", (int64_t)game->block);
    rung_jout_int(&j, "blocks", (int64_t)game->blocks);
    rung_jout_int(&j, "M", (int64_t)game->M);
    rung_jout_array(&j, "layers");
    for (size_t layer = 1; layer <= protocol->layers; layer++) put_layer(&j, result, layer);
    rung_jout_end(&j);
    rung_jout_int(&j, "prompts", (int64_t)result->prompts);
    rung_jout_int(&j, "right", (int64_t)result->right);
    rung_jout_string(&j, "broken_rule", result->broken[0] ? result->broken : NULL);
    rung_jout_bool(&j, "won", rung_blocks_won(result));
    rung_jout_finish(&j);
}
