/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A game and its result as JSON.
 */
#include "rung/game.h"

static void canonical(rung_buf *text, const void *what)
{
    rung_task_canonical(text, what);
}

static void put_letter(rung_jout *out, const rung_game_letter *l)
{
    char name[24];
    rung_jout_flat_object(out, NULL);
    rung_jout_int(out, "epoch", (int64_t)l->epoch);
    rung_jout_string(out, "kind", l->round ? "linear" : "soft");
    rung_jout_int(out, "round", (int64_t)l->round);
    rung_game_player_name(name, l->from);
    rung_jout_string(out, "from", name);
    rung_game_player_name(name, l->to);
    rung_jout_string(out, "to", name);
    rung_jout_int(out, "bits", (int64_t)l->bits);
    rung_jout_int(out, "allowed_bits", (int64_t)l->allowed);
    rung_jout_end(out);
}

static void put_rules(rung_jout *out, const rung_game *game)
{
    rung_jout_written(out, "task", canonical, &game->task);
    rung_jout_int(out, "functions", (int64_t)game->functions);
    rung_jout_int(out, "epochs", (int64_t)game->epochs);
    rung_jout_flat_array(out, "linear_rounds");
    for (size_t i = 0; i < game->epochs; i++) rung_jout_int(out, NULL, (int64_t)game->linear_rounds[i]);
    rung_jout_end(out);
    rung_jout_int(out, "soft_bits_per_token", (int64_t)game->soft_bits);
    rung_jout_int(out, "linear_bits", (int64_t)game->linear_bits);
}

void rung_game_json(rung_buf *out, const rung_game *game, const rung_game_protocol *protocol,
                    const rung_game_result *result)
{
    rung_jout j;
    rung_jout_begin(&j, out, "rung.game/1", true);
    rung_jout_string(&j, "protocol", protocol->name);
    put_rules(&j, game);
    rung_jout_array(&j, "messages_of_first_prompt");
    for (size_t i = 0; i < result->letters; i++) put_letter(&j, &result->letter[i]);
    rung_jout_end(&j);
    rung_jout_int(&j, "longest_soft_bits_per_token", (int64_t)result->longest[0]);
    rung_jout_int(&j, "longest_linear_bits", (int64_t)result->longest[1]);
    rung_jout_int(&j, "prompts", (int64_t)result->prompts);
    rung_jout_int(&j, "right", (int64_t)result->right);
    rung_jout_bool(&j, "every_prompt", result->every);
    rung_jout_string(&j, "broken_rule", result->broken[0] ? result->broken : NULL);
    rung_jout_int(&j, "messages_repeated", (int64_t)result->repeated);
    rung_jout_int(&j, "messages_leaked", (int64_t)result->leaked);
    rung_jout_bool(&j, "won", rung_game_won(result));
    rung_jout_finish(&j);
}
