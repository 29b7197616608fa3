/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung game: protocols of the communication game behind the lower bounds for hybrids. See docs/game.md.
 */
#include "rung/game.h"

#include <string.h>

#include "output.h"

typedef struct game_values {
    rung_sizes a;
    int64_t heads, head_dim, bits, samples, block;
    const char *svg;
} game_values;

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void print_rules(rung_buf *out, const rung_game *game, const rung_game_protocol *protocol)
{
    rung_buf_printf(out, "%s: %s\n\ntask     ", protocol->name, protocol->summary);
    rung_task_canonical(out, &game->task);
    rung_buf_printf(out, ", %zu tokens\ngame     ", game->task.tokens);
    rung_game_vector(out, game);
    rung_buf_printf(out, ": %zu epoch%s, each a soft round and then so many linear rounds\n", game->epochs,
                    game->epochs == 1 ? "" : "s");
    rung_buf_printf(out,
                    "allowed  soft 2Hdp = %llu bits for each token of the receiver, linear Hd(d+1)p = %llu bits\n\n",
                    (unsigned long long)game->soft_bits, (unsigned long long)game->linear_bits);
}

static void print_letters(rung_buf *out, const rung_game_result *r)
{
    rung_buf_puts(out, "  epoch  round     from  to        bits     allowed\n");
    for (size_t i = 0; i < r->letters; i++) {
        const rung_game_letter *l = &r->letter[i];
        char from[24], to[24];
        rung_game_player_name(from, l->from);
        rung_game_player_name(to, l->to);
        rung_buf_printf(out, "  %5zu  %-8s  %-4s  %-4s  %8llu  %10llu\n", l->epoch, l->round ? "linear" : "soft", from,
                        to, (unsigned long long)l->bits, (unsigned long long)l->allowed);
    }
}

static void print_result(rung_buf *out, const rung_game_result *r)
{
    print_letters(out, r);
    if (r->broken[0]) {
        rung_buf_printf(out, "\nagainst the rules: %s\n", r->broken);
        return;
    }
    rung_buf_printf(out, "\n%llu of %llu prompts right%s\n", (unsigned long long)r->right,
                    (unsigned long long)r->prompts, r->every ? ", which are all prompts of the task" : "");
    if (r->leaked)
        rung_buf_printf(out, "against the rules: %llu of %llu messages change with what other players hold\n",
                        (unsigned long long)r->leaked, (unsigned long long)r->repeated);
    else
        rung_buf_printf(out, "%llu messages sent again while the other players held another prompt: all the same\n",
                        (unsigned long long)r->repeated);
}

static int list_protocols(rung_error *err)
{
    rung_buf out;
    rung_buf_init(&out);
    for (size_t i = 0; i < rung_game_protocol_count(); i++)
        rung_buf_printf(&out, "%-9s  %s\n", rung_game_protocol_at(i)->name, rung_game_protocol_at(i)->summary);
    for (size_t i = 0; i < rung_blocks_protocol_count(); i++)
        rung_buf_printf(&out, "%-9s  %s\n", rung_blocks_protocol_at(i)->name, rung_blocks_protocol_at(i)->summary);
    rung_status status = tool_out_buf(&out, err);
    rung_buf_clear(&out);
    return status;
}

static void print_blocks(rung_buf *out, const rung_blocks_game *game, const rung_blocks_protocol *protocol,
                         const rung_blocks_result *r)
{
    rung_buf_printf(out,
                    "%s: %s\n\ntask     two-sum form=query, %zu blocks of %zu numbers below %llu, then the query\n\n",
                    protocol->name, protocol->summary, game->blocks, game->block, (unsigned long long)game->M);
    rung_buf_puts(out, "  layer  query opens  a token opens  bits told to a token\n");
    for (size_t i = 0; i < protocol->layers; i++)
        rung_buf_printf(out, "  %5zu  %11zu  %13zu  %20llu\n", i + 1, r->query_opens[i], r->token_opens[i],
                        (unsigned long long)r->bits[i]);
    if (r->broken[0])
        rung_buf_printf(out, "\nagainst the rules: %s\n", r->broken);
    else
        rung_buf_printf(out, "\n%llu of %llu prompts right\n", (unsigned long long)r->right,
                        (unsigned long long)r->prompts);
}

/* ---- command ----------------------------------------------------------------------------------------------------- */

static rung_status make_game(rung_game *game, const tool_call *call, const rung_game_protocol *protocol,
                             rung_error *err)
{
    const game_values *v = call->values;
    rung_task_conf task;
    RUNG_TRY(rung_task_conf_init(&task, "seqcomp", call->pair, call->pairs, err));
    rung_game_options options = {
        .task = &task, .linear_rounds = v->a, .heads = v->heads, .head_dim = v->head_dim, .bits = v->bits};
    if (!tool_call_given(call, "a")) protocol->rounds(&options.linear_rounds, (size_t)rung_task_param(&task, "L"));
    return rung_game_init(game, &options, err);
}

static rung_status write_svg(const char *path, const rung_buf *svg, rung_error *err)
{
    RUNG_TRY(rung_buf_ok(svg, err));
    return rung_file_write(path, svg->text, svg->len, err);
}

static rung_status show(const rung_game *game, const rung_game_protocol *protocol, const rung_game_result *result,
                        const tool_call *call, rung_error *err)
{
    const game_values *v = call->values;
    rung_status status = RUNG_OK;
    rung_buf out, svg;
    rung_buf_init(&out);
    rung_buf_init(&svg);
    if (v->svg) {
        rung_game_svg(&svg, game, protocol, result);
        status = write_svg(v->svg, &svg, err);
    }
    if (call->json) {
        rung_game_json(&out, game, protocol, result);
    } else {
        print_rules(&out, game, protocol);
        print_result(&out, result);
    }
    RUNG_NEXT(status, tool_out_buf(&out, err));
    if (status == RUNG_OK && v->svg) tool_note(call, "wrote %s", v->svg);
    rung_buf_clear(&svg);
    rung_buf_clear(&out);
    return status;
}

enum { BLOCKS_SAMPLES = 20 };

static int run_blocks(const tool_call *call, const rung_blocks_protocol *protocol, rung_error *err)
{
    const game_values *v = call->values;
    rung_task_conf task;
    rung_blocks_game game;
    rung_blocks_result result;
    if (tool_call_given(call, "a") || v->svg)
        return rung_fail(err, RUNG_USAGE, "--a and --svg are for the other protocols: %s has fixed layers",
                         protocol->name);
    RUNG_TRY(rung_task_conf_init(&task, "two-sum", call->pair, call->pairs, err));
    RUNG_TRY(rung_blocks_game_init(&game, &task, (size_t)v->block, err));
    uint64_t samples = v->samples ? (uint64_t)v->samples : BLOCKS_SAMPLES;
    RUNG_TRY(rung_blocks_run(&result, &game, protocol, samples, (uint64_t)call->seed, err));
    rung_buf out;
    rung_buf_init(&out);
    if (call->json)
        rung_blocks_json(&out, &game, protocol, &result);
    else
        print_blocks(&out, &game, protocol, &result);
    rung_status status = tool_out_buf(&out, err);
    rung_buf_clear(&out);
    return status != RUNG_OK ? (int)status : rung_blocks_won(&result) ? 0 : RUNG_NEGATIVE;
}

static const char *protocol_name_at(size_t index)
{
    size_t first = rung_game_protocol_count();
    if (index < first) return rung_game_protocol_name_at(index);
    return index - first < rung_blocks_protocol_count() ? rung_blocks_protocol_at(index - first)->name : NULL;
}

static int run_game(const tool_call *call, rung_error *err)
{
    const game_values *v = call->values;
    const rung_game_protocol *protocol;
    rung_game game;
    rung_game_result result;
    if (call->arguments == 0) return list_protocols(err);
    const rung_blocks_protocol *blocks = rung_blocks_protocol_get(call->argument[0]);
    if (blocks) return run_blocks(call, blocks, err);
    RUNG_TRY(rung_game_protocol_get(&protocol, call->argument[0], err));
    RUNG_TRY(make_game(&game, call, protocol, err));
    const rung_game_run_options options = {.samples = (uint64_t)v->samples, .seed = (uint64_t)call->seed};
    rung_status status = rung_game_run(&result, &game, protocol, &options, err);
    RUNG_NEXT(status, show(&game, protocol, &result, call, err));
    bool won = rung_game_won(&result);
    rung_game_result_clear(&result);
    return status != RUNG_OK ? (int)status : won ? 0 : RUNG_NEGATIVE;
}

const tool_command tool_command_game = {
    .name = "game",
    .summary = "protocols of the game in which bounds for hybrids are proved",
    .details = "Players hold w, z0, z1, ..., zL of seqcomp. An epoch is a full layer: in its soft round each player "
               "shows all that it knows to those before it in the prompt, and each of these answers with 2Hdp bits for "
               "each of its tokens. Then come a_1 linear layers, each a message of Hd(d+1)p bits from player to "
               "player. A protocol may send any function of what the sender knows; it need not be a model.\n"
               "The command plays a protocol on every prompt, or on a sample, checks the length of every message, and "
               "sends messages again while the other players hold another prompt. Without a name it lists "
               "the protocols. docs/game.md has the rules, and docs/erratum.md what the relay shows.\n"
               "sort-six and sort-four play another game: block-sparse attention on two-sum. A token opens earlier "
               "blocks and is told any function of them; the command counts opened blocks and bits.",
    .examples =
        (const tool_example[]){
            {"rung game relay L=2 N0=2 n=2 --head-dim 1 --bits 1", "two functions in the game (2;1,0), every prompt"},
            {"rung game pointer L=3 N0=2 n=2,2 --bits 4 --samples 1000", "three functions with four full layers"},
            {"rung game relay L=2 N0=220 n=341 --head-dim 2 --bits 26 --samples 20 --svg relay.svg",
             "at sizes that two full layers alone cannot do, with a picture"},
            {"rung game sort-six N=1024 M=2048 --block 64", "membership in 16 blocks, in six sparse layers"},
            {"rung game", "list the protocols"},
            {0},
        },
    .arguments =
        (const tool_argument[]){{.metavar = "PROTOCOL",
                                 .help = "relay, pointer, bitmap, columns, sort-six or sort-four; none: list them",
                                 .least = 0,
                                 .most = 1,
                                 .names = protocol_name_at},
                                {0}},
    .pairs = "parameters of seqcomp, for sort-six and sort-four of two-sum",
    .options =
        (const rung_option[]){
            {.name = "a",
             .kind = RUNG_OPTION_SIZES,
             .at = offsetof(game_values, a),
             .metavar = "a_1,...",
             .help = "linear rounds after each epoch; its length is the number of epochs (default: what the protocol "
                     "needs)",
             .low = 0,
             .high = 1000},
            {.name = "heads",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(game_values, heads),
             .metavar = "H",
             .help = "heads",
             .fallback = "1",
             .low = 1,
             .high = 1 << 20},
            {.name = "head-dim",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(game_values, head_dim),
             .metavar = "d",
             .help = "dimension of a head",
             .fallback = "2",
             .low = 1,
             .high = 1 << 20},
            {.name = "bits",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(game_values, bits),
             .metavar = "p",
             .help = "bits of a number",
             .fallback = "16",
             .low = 1,
             .high = 1 << 16},
            {.name = "block",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(game_values, block),
             .metavar = "B",
             .help = "numbers of a block, for sort-six and sort-four",
             .fallback = "64",
             .low = 1,
             .high = 1 << 20},
            {.name = "samples",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(game_values, samples),
             .metavar = "N",
             .help = "play N prompts instead of all (sort-six and sort-four: instead of 20)",
             .fallback = "0",
             .low = 0,
             .high = INT64_MAX / 2},
            {.name = "svg",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(game_values, svg),
             .metavar = "FILE",
             .help = "write a picture (SVG)",
             .complete = RUNG_COMPLETE_FILE},
            {0},
        },
    .values_size = sizeof(game_values),
    .negative = "an answer was wrong, or a rule was broken",
    .run = run_game,
};
