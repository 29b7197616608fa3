/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung serve: a model of ours behind the HTTP interface of language models.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "rung/serve.h"
#include "serving.h"
#include "worker.h"

typedef struct serve_values {
    tool_worker_options subject;
    const char *listen, *name, *key_env, *allow_host, *log;
    int64_t port, tokens, body, connections, timeout;
} serve_values;

/* The file without its directories and its ending. */
static void name_of_file(rung_buf *out, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *end = strstr(base, ".safetensors");
    rung_buf_add(out, base, end && end > base ? (size_t)(end - base) : strlen(base));
}

static rung_status find_key(const char **key, const serve_values *v, rung_error *err)
{
    *key = v->key_env ? getenv(v->key_env) : NULL;
    if (v->key_env && (!*key || !**key))
        return rung_fail(err, RUNG_USAGE, "--api-key-env: the environment variable %s is not set, or empty",
                         v->key_env);
    return RUNG_OK;
}

static rung_status open_log(FILE **log, const serve_values *v, const tool_call *call, rung_error *err)
{
    *log = call->quiet ? NULL : stderr;
    if (!v->log) return RUNG_OK;
    *log = fopen(v->log, "a");
    return *log ? RUNG_OK : rung_fail(err, RUNG_SYSTEM, "%s: %s", v->log, strerror(errno));
}

/* The grid of rung probe whose prompts this model takes, where there is one. */
static void put_probe(rung_buf *out, const rung_task_conf *task, const char *name)
{
    const char *kind = task->task->name;
    if (strcmp(kind, "seqcomp") == 0 && rung_task_param(task, "n") == 1 && rung_task_param(task, "flat") == 1)
        rung_buf_printf(out, "probe    rung probe --base-url URL --model %s --grid n=%lld,L=%lld\n", name,
                        (long long)rung_task_param(task, "N0"), (long long)rung_task_param(task, "L"));
    else if (strcmp(kind, "eva") == 0)
        rung_buf_printf(out, "probe    rung probe --base-url URL --model %s --task eva --grid n=%lld V=%lld\n", name,
                        (long long)rung_task_param(task, "N"), (long long)rung_task_param(task, "V"));
    else if (strcmp(kind, "seqcomp") == 0)
        rung_buf_puts(out, "probe    none has prompts of this size; rung probe takes those of n=1 flat=1\n");
}

static rung_status announce(const rung_server *server, const tool_worker *s, const char *name, const tool_call *call,
                            rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    if (call->json) {
        rung_jout json;
        rung_jout_begin(&json, &text, "rung.serve/1", true);
        rung_jout_string(&json, "url", rung_server_url(server));
        rung_jout_string(&json, "name", name);
        tool_worker_json(&json, s, call);
        rung_jout_finish(&json);
    } else {
        tool_worker_print(&text, s);
        rung_buf_printf(&text, "name     %s\n", name);
        put_probe(&text, &s->task, name);
        rung_buf_printf(&text, "listening on %s\n", rung_server_url(server));
    }
    rung_status status = tool_out_buf(&text, err);
    RUNG_NEXT(status, tool_out_finish(err)); /* a script waits for the port */
    rung_buf_clear(&text);
    return status;
}

static rung_status serve_until_signal(const rung_service *service, const tool_worker *s, const char *name,
                                      const tool_call *call, rung_error *err)
{
    const serve_values *v = call->values;
    FILE *log = NULL;
    rung_server *server = NULL;
    RUNG_TRY(open_log(&log, v, call, err));
    rung_server_options options = {
        .address = v->listen,
        .port = (uint16_t)v->port,
        .connections = (size_t)v->connections,
        .body_bytes = (size_t)v->body,
        .timeout_s = (unsigned)v->timeout,
        .threads = (size_t)v->subject.threads,
        .allow_host = v->allow_host,
        .log = log,
    };
    rung_status status = rung_server_open(&server, service, &options, err);
    RUNG_NEXT(status, announce(server, s, name, call, err));
    if (status == RUNG_OK) tool_serve_until_signal(server);
    rung_server_close(server);
    if (v->log) fclose(log);
    return status;
}

static int run_serve(const tool_call *call, rung_error *err)
{
    const serve_values *v = call->values;
    const char *key = NULL;
    tool_worker s = {0};
    rung_program *program = NULL;
    rung_service *service = NULL;
    rung_buf name;
    rung_buf_init(&name);
    rung_status status = find_key(&key, v, err);
    RUNG_NEXT(status, tool_worker_open(&s, call, &v->subject, err));
    /* Requests run side by side; each of them on one thread. */
    rung_evaluator how = s.how;
    how.threads = 1;
    RUNG_NEXT(status, rung_program_new(&program, s.model, &how, err));
    if (v->name)
        rung_buf_puts(&name, v->name);
    else
        name_of_file(&name, call->argument[0]);
    RUNG_NEXT(status, rung_buf_ok(&name, err));
    rung_service_options options = {.name = name.text, .key = key, .max_tokens = (size_t)v->tokens};
    RUNG_NEXT(status, rung_service_new(&service, s.model, program, &s.task, &options, err));
    RUNG_NEXT(status, serve_until_signal(service, &s, name.text, call, err));
    rung_service_free(service);
    rung_program_free(program);
    tool_worker_close(&s);
    rung_buf_clear(&name);
    return status;
}

const tool_command tool_command_serve = {
    .name = "serve",
    .summary = "a model of ours behind the HTTP interface of language models",
    .details = "Answers /v1/completions, /v1/chat/completions, /tokenize, /detokenize, /v1/models and /health in the "
               "shapes of "
               "vLLM. A prompt is the text of an instance of the model's task: facts, a table, or the task's own words "
               "(docs/probing.md). Equal requests have equal replies.\n"
               "SIGINT and SIGTERM end the server after the requests in flight.",
    .examples =
        (const tool_example[]){
            {"rung serve m.safetensors", "on http://127.0.0.1:8000"},
            {"rung serve m.safetensors --port 0 --quiet", "on any free port, which is printed; no log"},
            {"RUNG_KEY=... rung serve m.safetensors --listen 0.0.0.0 --api-key-env RUNG_KEY", "for others, with a key"},
            {0},
        },
    .arguments = (const tool_argument[]){RUNG_SUBJECT_ARGUMENT, {0}},
    .pairs = "parameters of the task",
    .options =
        (const rung_option[]){
            RUNG_SUBJECT_OPTIONS(serve_values, subject),
            {.name = "listen",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(serve_values, listen),
             .metavar = "ADDRESS",
             .help = "numeric address to listen on; others than loopback let others in",
             .fallback = "127.0.0.1"},
            {.name = "port",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(serve_values, port),
             .metavar = "N",
             .help = "TCP port; 0 for any that is free",
             .fallback = "8000",
             .low = 0,
             .high = 65535},
            {.name = "name",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(serve_values, name),
             .metavar = "ID",
             .help = "id of the model in requests and replies; default: the name of the file"},
            {.name = "api-key-env",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(serve_values, key_env),
             .metavar = "NAME",
             .help = "environment variable with the key that requests must have"},
            {.name = "allow-host",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(serve_values, allow_host),
             .metavar = "NAMES",
             .help = "names, with commas between them, that Host and Origin of a request may have beside localhost and "
                     "numeric addresses; * for any"},
            {.name = "log",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(serve_values, log),
             .metavar = "FILE",
             .help = "append a line per request to FILE; default: stderr",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "max-prompt",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(serve_values, tokens),
             .metavar = "N",
             .help = "tokens of a prompt at most",
             .fallback = "65536",
             .low = 1,
             .high = 1 << 24},
            {.name = "max-body",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(serve_values, body),
             .metavar = "BYTES",
             .help = "bytes of a request at most",
             .fallback = "4194304",
             .low = 64,
             .high = 1 << 30},
            {.name = "max-connections",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(serve_values, connections),
             .metavar = "N",
             .help = "connections at the same time; further ones are closed",
             .fallback = "256",
             .low = 1,
             .high = 10000},
            {.name = "timeout",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(serve_values, timeout),
             .metavar = "SECONDS",
             .help = "for a request to arrive, and for those in flight at the end",
             .fallback = "60",
             .low = 1,
             .high = 86400},
            {0},
        },
    .values_size = sizeof(serve_values),
    .run = run_serve,
};
