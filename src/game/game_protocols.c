/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Protocols that compose L functions: i_0 = z_0, i_1 = z_1(i_0), i_(l+1) = z_(l+1)(w_l, i_l). docs/game.md says how many
 * bits each needs.
 *   relay    one linear round after the first soft one hands i_1 to w, which then asks one table per epoch: L epochs
 *   pointer  the same without a linear round: w learns i_1 from z_0 in an epoch of its own: L + 1 epochs
 *   bitmap   w learns its row of every table at once: one epoch, and messages as long as a row
 *   columns  two functions in two epochs: every entry of z_1 learns the column of its value
 */
#include <string.h>

#include "rung/game.h"

enum { W = 0, Z0 = 1 };

static size_t table(size_t l)
{
    return l + 1;
}

/* The entry of z_l, l >= 1, for the argument i_(l-1); w stands for the digits that it holds. */
static size_t entry(const rung_game *game, const rung_game_view *w, size_t l, uint64_t argument)
{
    uint64_t digit = l > 1 ? rung_game_input(w, l - 2) : 0;
    return (size_t)(digit * game->range[l - 1] + argument);
}

static unsigned width_of(const rung_game *game, size_t l)
{
    return rung_game_width(game->range[l]);
}

static rung_status need(const rung_game *game, size_t epochs, size_t first, const char *name, rung_error *err)
{
    if (game->epochs >= epochs && game->linear_rounds[0] >= first) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "%s needs %zu epochs%s to compose %zu functions; say --a with that many numbers",
                     name, epochs, first ? ", with a linear round after the first (a_1 >= 1)," : "", game->functions);
}

static void zeros(rung_sizes *rounds, size_t count)
{
    memset(rounds, 0, sizeof *rounds);
    rounds->len = count < RUNG_LIST_MAX ? count : RUNG_LIST_MAX;
}

/* ---- relay and pointer --------------------------------------------------------------------------------------------- */

/* z_1 answers z_0 in the first epoch. */
static void tell_first(rung_game_message *out, const rung_game *game, const rung_game_view *z1,
                       const rung_game_view *z0)
{
    rung_game_send(out, rung_game_input(z1, (size_t)rung_game_input(z0, 0)), width_of(game, 1));
}

/* z_l answers w, which knows i_(l-1). */
static void tell_next(rung_game_message *out, const rung_game *game, size_t l, uint64_t argument,
                      const rung_game_view *zl, const rung_game_view *w)
{
    rung_game_send(out, rung_game_input(zl, entry(game, w, l, argument)), width_of(game, l));
}

static void relay_rounds(rung_sizes *rounds, size_t functions)
{
    zeros(rounds, functions);
    rounds->at[0] = 1;
}

static rung_status relay_fits(const rung_game *game, rung_error *err)
{
    return need(game, game->functions, 1, "relay", err);
}

/* What w knows as i_l after epoch l. */
static uint64_t relay_pointer(const rung_game *game, const rung_game_view *w, size_t l)
{
    return l == 1 ? rung_game_linear(w, 1, 1, 0, width_of(game, 1))
                  : rung_game_soft(w, l, table(l), 0, width_of(game, l));
}

static void relay_soft(rung_game_message *out, const rung_game *game, size_t epoch, size_t from, size_t to,
                       const rung_game_view *of_from, const rung_game_view *of_to)
{
    if (epoch == 1 && from == table(1) && to == Z0) tell_first(out, game, of_from, of_to);
    if (epoch >= 2 && from == table(epoch) && to == W)
        tell_next(out, game, epoch, relay_pointer(game, of_to, epoch - 1), of_from, of_to);
}

static void relay_linear(rung_game_message *out, const rung_game *game, size_t epoch, size_t round, size_t from,
                         const rung_game_view *of_from)
{
    if (epoch == 1 && round == 1 && from == Z0)
        rung_game_send(out, rung_game_soft(of_from, 1, table(1), 0, width_of(game, 1)), width_of(game, 1));
}

static uint64_t relay_answer(const rung_game *game, const rung_game_view *w)
{
    return relay_pointer(game, w, game->functions);
}

static void pointer_rounds(rung_sizes *rounds, size_t functions)
{
    zeros(rounds, functions + 1);
}

static rung_status pointer_fits(const rung_game *game, rung_error *err)
{
    return need(game, game->functions + 1, 0, "pointer", err);
}

/* What w knows as i_l after epoch l + 1. */
static uint64_t pointer_known(const rung_game *game, const rung_game_view *w, size_t l)
{
    return rung_game_soft(w, l + 1, l == 1 ? Z0 : table(l), 0, width_of(game, l));
}

static void pointer_soft(rung_game_message *out, const rung_game *game, size_t epoch, size_t from, size_t to,
                         const rung_game_view *of_from, const rung_game_view *of_to)
{
    if (epoch == 1 && from == table(1) && to == Z0) tell_first(out, game, of_from, of_to);
    if (epoch == 2 && from == Z0 && to == W)
        rung_game_send(out, rung_game_soft(of_from, 1, table(1), 0, width_of(game, 1)), width_of(game, 1));
    if (epoch >= 3 && from == table(epoch - 1) && to == W)
        tell_next(out, game, epoch - 1, pointer_known(game, of_to, epoch - 2), of_from, of_to);
}

static uint64_t pointer_answer(const rung_game *game, const rung_game_view *w)
{
    return pointer_known(game, w, game->functions);
}

/* ---- bitmap ------------------------------------------------------------------------------------------------------ */

static void bitmap_rounds(rung_sizes *rounds, size_t functions)
{
    (void)functions;
    zeros(rounds, 1);
}

static rung_status bitmap_fits(const rung_game *game, rung_error *err)
{
    return need(game, 1, 0, "bitmap", err);
}

static void bitmap_soft(rung_game_message *out, const rung_game *game, size_t epoch, size_t from, size_t to,
                        const rung_game_view *of_from, const rung_game_view *of_to)
{
    if (epoch != 1 || to != W) return;
    if (from == Z0) {
        rung_game_send(out, rung_game_input(of_from, 0), width_of(game, 0));
        return;
    }
    size_t l = from - 1;
    for (size_t i = 0; i < game->range[l - 1]; i++)
        rung_game_send(out, rung_game_input(of_from, entry(game, of_to, l, i)), width_of(game, l));
}

static uint64_t bitmap_answer(const rung_game *game, const rung_game_view *w)
{
    uint64_t i = rung_game_soft(w, 1, Z0, 0, width_of(game, 0));
    for (size_t l = 1; l <= game->functions; l++)
        i = rung_game_soft(w, 1, table(l), i * width_of(game, l), width_of(game, l));
    return i;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static void columns_rounds(rung_sizes *rounds, size_t functions)
{
    (void)functions;
    zeros(rounds, 2);
}

static rung_status columns_fits(const rung_game *game, rung_error *err)
{
    if (game->functions == 2) return need(game, 2, 0, "columns", err);
    return rung_fail(err, RUNG_USAGE, "columns composes two functions, not %zu; say L=2", game->functions);
}

/* z_2 tells the entries of z_1, one after the other, z_2(w, value) for every w. */
static void tell_columns(rung_game_message *out, const rung_game *game, const rung_game_view *z2,
                         const rung_game_view *z1)
{
    for (size_t u = 0; u < rung_game_inputs(z1); u++)
        for (size_t digit = 0; digit < game->n[1]; digit++)
            rung_game_send(out, rung_game_input(z2, (size_t)(digit * game->range[1] + rung_game_input(z1, u))),
                           width_of(game, 2));
}

static void columns_soft(rung_game_message *out, const rung_game *game, size_t epoch, size_t from, size_t to,
                         const rung_game_view *of_from, const rung_game_view *of_to)
{
    unsigned width = width_of(game, 2);
    if (epoch == 1 && from == table(2) && to == table(1)) tell_columns(out, game, of_from, of_to);
    if (epoch == 1 && from == Z0 && to == W) rung_game_send(out, rung_game_input(of_from, 0), width_of(game, 0));
    if (epoch == 2 && from == table(1) && to == W) {
        uint64_t z0 = rung_game_soft(of_to, 1, Z0, 0, width_of(game, 0));
        uint64_t at = (z0 * game->n[1] + rung_game_input(of_to, 0)) * width;
        rung_game_send(out, rung_game_soft(of_from, 1, table(2), at, width), width);
    }
}

static uint64_t columns_answer(const rung_game *game, const rung_game_view *w)
{
    return rung_game_soft(w, 2, table(1), 0, width_of(game, 2));
}

/* ---- registry ---------------------------------------------------------------------------------------------------- */

static const rung_game_protocol rows[] = {
    {"relay", "L epochs and one linear round after the first: z0 hands z1(z0) to w", relay_rounds, relay_fits,
     relay_soft, relay_linear, relay_answer},
    {"pointer", "L+1 epochs: z0 learns z1(z0), w learns it from z0, then asks table by table", pointer_rounds,
     pointer_fits, pointer_soft, NULL, pointer_answer},
    {"bitmap", "one epoch: w learns its whole row of every table (a bitmap if V = 2)", bitmap_rounds, bitmap_fits,
     bitmap_soft, NULL, bitmap_answer},
    {"columns", "two epochs for two functions: every entry of z1 learns the column of its value", columns_rounds,
     columns_fits, columns_soft, NULL, columns_answer},
};

size_t rung_game_protocol_count(void)
{
    return RUNG_COUNT(rows);
}

const rung_game_protocol *rung_game_protocol_at(size_t index)
{
    return &rows[index];
}

const char *rung_game_protocol_name_at(size_t index)
{
    return index < RUNG_COUNT(rows) ? rows[index].name : NULL;
}

rung_status rung_game_protocol_get(const rung_game_protocol **out, const char *name, rung_error *err)
{
    const char *names[RUNG_COUNT(rows)];
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) {
        names[i] = rows[i].name;
        if (strcmp(rows[i].name, name) == 0) *out = &rows[i];
        if (strcmp(rows[i].name, name) == 0) return RUNG_OK;
    }
    return rung_fail_unknown(err, "protocol", name, names, RUNG_COUNT(rows));
}
