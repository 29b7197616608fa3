/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung explore: cards, verdicts and ledgers on a local page.
 */
#include "bound_input.h"
#include "output.h"
#include "rung/explore.h"
#include "serving.h"

typedef struct explore_values {
    int64_t port, heads, head_dim;
    bool log;
} explore_values;

static rung_status announce(const rung_server *server, const tool_call *call, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    if (call->json) {
        rung_jout json;
        rung_jout_begin(&json, &text, "rung.explore-server/1", true);
        rung_jout_string(&json, "url", rung_server_url(server));
        rung_jout_finish(&json);
    } else {
        rung_buf_printf(&text, "open %s/ in a browser; Ctrl-C ends it\n", rung_server_url(server));
    }
    rung_status status = tool_out_buf(&text, err);
    RUNG_NEXT(status, tool_out_finish(err)); /* a script waits for the port */
    rung_buf_clear(&text);
    return status;
}

static rung_status serve_explorer(const rung_explorer *explorer, const tool_call *call, rung_error *err)
{
    const explore_values *v = call->values;
    rung_server *server = NULL;
    /* A file of 16 MiB has 22 MiB in base64. */
    const rung_server_options options = {.address = "127.0.0.1",
                                         .port = (uint16_t)v->port,
                                         .connections = 64,
                                         .body_bytes = (size_t)24 << 20,
                                         .timeout_s = 30,
                                         .log = v->log ? stderr : NULL};
    rung_status status = rung_server_open_with(&server, rung_explorer_answer, explorer, &options, err);
    RUNG_NEXT(status, announce(server, call, err));
    if (status == RUNG_OK) tool_serve_until_signal(server);
    rung_server_close(server);
    return status;
}

static int run_explore(const tool_call *call, rung_error *err)
{
    const explore_values *v = call->values;
    rung_explorer *explorer = NULL;
    const rung_explorer_options options = {
        .input = call->argument, .inputs = call->arguments, .heads = (size_t)v->heads, .head_dim = (size_t)v->head_dim};
    rung_status status = rung_explorer_new(&explorer, &options, err);
    RUNG_NEXT(status, serve_explorer(explorer, call, err));
    rung_explorer_free(explorer);
    return status;
}

const tool_command tool_command_explore = {
    .name = "explore",
    .summary = "cards, verdicts and ledgers on a local page",
    .details =
        "Opens a page on this machine (127.0.0.1, nothing else can reach it). Type layers, choose a file that was "
        "named here, or drop a config.json or a GGUF file of at most 16 MiB on it. It shows the layers, what they "
        "hold, the card, and a task with every theorem. Sliders change the context, the share of full layers, the "
        "length of the prompt and the bits of a number. The page names the commands that print the same, and a "
        "link that shows the same. It needs no network and keeps nothing.\n"
        "SIGINT and SIGTERM end it.",
    .examples =
        (const tool_example[]){
            {"rung explore", "type layers, or drop a file"},
            {"rung explore config.json '12*(3*gdelta,full)' --port 8080", "two inputs to choose from"},
            {0},
        },
    .arguments = (const tool_argument[]){RUNG_LEDGER_ARGUMENT(0), {0}},
    .options =
        (const rung_option[]){
            {.name = "port",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(explore_values, port),
             .metavar = "N",
             .help = "TCP port; 0 for any that is free",
             .fallback = "0",
             .low = 0,
             .high = 65535},
            {.name = "heads",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(explore_values, heads),
             .metavar = "N",
             .help = "heads where layers name none",
             .fallback = "8",
             .low = 1,
             .high = 65536},
            {.name = "head-dim",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(explore_values, head_dim),
             .metavar = "N",
             .help = "dk and dv where layers name none",
             .fallback = "64",
             .low = 1,
             .high = 65536},
            {.name = "log",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(explore_values, log),
             .help = "a line per request on stderr"},
            {0},
        },
    .values_size = sizeof(explore_values),
    .run = run_explore,
};
