/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung probe: a served language model on our tasks.
 */
#include <string.h>
#include <unistd.h>

#include "bound_input.h"
#include "output.h"
#include "probe.h"

typedef struct probe_values {
    const char *base_url, *model, *task, *grid, *config, *out, *key_env, *ca_file, *extra, *kernel;
    int64_t spelling, api, samples, most, controls, shots, top, thinking, concurrency, timeout, retries, rpm, body,
        wait;
    double threshold, confidence;
    bool dry_run;
    tool_ledger_options ledger;
} probe_values;

typedef struct job {
    const tool_call *call;
    const probe_values *v;
    rung_client *client;
    rung_store *store;
    tool_bound_input input;
    rung_kernel kernel; /* 0: not given */
    uint64_t tile;
    rung_probe *probe;
    double drawn_s;
    bool drawn;
    bool fresh, untested; /* the store is new; the server has not passed its test */
} job;

/* ---- progress -------------------------------------------------------------------------------------------------- */

static bool may_go_on(void *context)
{
    (void)context;
    return !tool_signal_pending();
}

static void draw(void *context, const rung_probe_progress *progress)
{
    job *j = context;
    double now = rung_wall_s();
    if (!isatty(STDERR_FILENO) || j->call->quiet || now - j->drawn_s < 0.1) return;
    j->drawn_s = now;
    j->drawn = true;
    fprintf(stderr, "\r\033[K%s", progress->doing);
    if (progress->cell)
        fprintf(stderr, " %s  %llu of %llu right  %zu/%zu", progress->cell->keys,
                (unsigned long long)progress->cell->right, (unsigned long long)progress->cell->asked, progress->done,
                progress->planned);
    fflush(stderr);
}

/* ---- setting up ------------------------------------------------------------------------------------------------ */

static rung_status check_values(const job *j, rung_error *err)
{
    const probe_values *v = j->v;
    if (!v->model) return rung_fail(err, RUNG_USAGE, "which model? give --model NAME, as /v1/models calls it");
    if (!v->base_url && !v->dry_run)
        return rung_fail(err, RUNG_USAGE,
                         "which server? give --base-url, for example --base-url http://127.0.0.1:8000/v1");
    if (!(v->threshold > 0 && v->threshold < 1))
        return rung_fail(err, RUNG_USAGE, "--threshold must be between 0 and 1");
    if (!(v->confidence >= 0.5 && v->confidence < 1))
        return rung_fail(err, RUNG_USAGE, "--confidence must be at least 0.5 and below 1");
    return RUNG_OK;
}

static rung_probe_options conf_of(job *j)
{
    const probe_values *v = j->v;
    rung_probe_options conf = {
        .client = j->client,
        .store = j->store,
        .model = v->model,
        .task = v->task,
        .pairs = j->call->pair,
        .pair_count = j->call->pairs,
        .grid = v->grid,
        .spelling = (rung_text_spelling)(v->spelling + 1),
        .api = (rung_probe_api)v->api,
        .extra = v->extra,
        .seed = (uint64_t)j->call->seed,
        .samples = (size_t)v->samples,
        .most = (size_t)v->most,
        .controls = (size_t)v->controls,
        .shots = (size_t)v->shots,
        .top = (size_t)v->top,
        .chain_of_thought_tokens = (size_t)v->thinking,
        .threshold = v->threshold,
        .confidence = v->confidence,
        .go = may_go_on,
        .on_progress = draw,
        .context = j,
    };
    if (v->config) {
        conf.subject = j->input.subject;
        if (j->kernel) conf.about.kernel = j->kernel, conf.about.tile = j->tile;
    }
    return conf;
}

static rung_status open_client(job *j, rung_error *err)
{
    const probe_values *v = j->v;
    rung_client_options conf = {.base_url = v->base_url,
                                .key_variable = v->key_env,
                                .ca_file = v->ca_file,
                                .concurrency = (size_t)v->concurrency,
                                .retries = (size_t)v->retries,
                                .timeout_s = (double)v->timeout,
                                .rpm = (double)v->rpm,
                                .body_most = (size_t)v->body << 20,
                                .go = may_go_on,
                                .context = j};
    rung_status status = tool_out_place(v->out, err);
    j->fresh = access(v->out, F_OK) != 0;
    RUNG_NEXT(status, rung_store_open(&j->store, v->out, RUNG_STORE_WRITE, (double)v->wait, err));
    conf.store = j->store;
    RUNG_NEXT(status, rung_client_new(&j->client, &conf, err));
    if (status == RUNG_OK && rung_client_key_exposed(j->client))
        tool_note(j->call, "the key goes over the network unencrypted: %s", rung_client_root(j->client));
    return status;
}

/* ---- showing --------------------------------------------------------------------------------------------------- */

static rung_status show(const job *j, const rung_probe_cost *cost, rung_error *err)
{
    rung_buf text;
    rung_jout out;
    rung_buf_init(&text);
    if (j->call->json) {
        rung_jout_begin(&out, &text, "rung.probe/1", true);
        rung_jout_string(&out, "model", j->v->model);
        rung_jout_string(&out, "task", j->v->task);
        rung_jout_int(&out, "seed", j->call->seed);
        if (cost) rung_probe_cost_json(&out, cost);
        if (!cost) {
            rung_jout_string(&out, "base_url", rung_client_root(j->client));
            rung_jout_string(&out, "store", j->v->out);
            rung_jout_int(&out, "probe", rung_probe_number(j->probe));
            rung_probe_json(&out, j->probe);
        }
        rung_jout_finish(&out);
    } else if (cost) {
        tool_probe_cost_print(&text, cost);
    } else {
        tool_probe_print(&text, j->probe);
    }
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

static void note_server(const job *j)
{
    const rung_probe_server *s = rung_probe_server_of(j->probe);
    tool_note(j->call, "%s: %s, %zu log-probabilities, thoughts off by %s, %zu names of one token by %s", j->v->model,
              rung_probe_api_names[s->api], s->top, s->thinking, s->names, s->tokenizer);
}

static void note_sum(const job *j)
{
    rung_client_sum sum = rung_client_total(j->client);
    tool_note(j->call, "%zu requests: %zu attempts, %zu replies from %s", sum.asked, sum.attempts, sum.stored,
              j->v->out);
    if (rung_probe_stopped(j->probe)) tool_note(j->call, "stopped; the same command goes on");
}

static int ask_all(job *j, rung_error *err)
{
    rung_status status = rung_probe_test(j->probe, err);
    j->untested = status != RUNG_OK;
    if (j->drawn) fputs("\r\033[K", stderr);
    if (status == RUNG_OK && !rung_probe_stopped(j->probe)) note_server(j);
    RUNG_NEXT(status, rung_probe_run(j->probe, err));
    if (j->drawn) fputs("\r\033[K", stderr);
    RUNG_TRY(status);
    note_sum(j);
    status = show(j, NULL, err);
    return status == RUNG_OK && !rung_probe_says_something(j->probe) ? RUNG_NEGATIVE : (int)status;
}

static int estimate(job *j, rung_error *err)
{
    rung_probe_cost cost;
    RUNG_TRY(rung_probe_estimate(&cost, j->probe, err));
    return show(j, &cost, err);
}

static int run_probe(const tool_call *call, rung_error *err)
{
    job j = {.call = call, .v = call->values};
    tool_signals_defer(true);
    int status = check_values(&j, err);
    rung_claim_spec layers = {0};
    if (!status && j.v->kernel) status = rung_kernel_parse(&j.kernel, &j.tile, j.v->kernel, err);
    if (!status && j.v->config) status = tool_bound_input_open(&j.input, j.v->config, &j.v->ledger, &layers, err);
    if (!status && !j.v->dry_run) status = open_client(&j, err);
    if (!status) {
        rung_probe_options conf = conf_of(&j);
        if (j.v->config) status = tool_read_bits(&conf.about, &j.v->ledger, err);
        RUNG_NEXT(status, rung_probe_new(&j.probe, &conf, err));
    }
    RUNG_NEXT(status, j.v->dry_run ? estimate(&j, err) : ask_all(&j, err));
    rung_probe_free(j.probe);
    rung_client_free(j.client);
    rung_store_close(j.store);
    if (j.fresh && j.untested) unlink(j.v->out); /* it has nothing but questions of the test */
    if (j.v->config) tool_bound_input_clear(&j.input);
    return status;
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

#define TEXT(row, field, meta, text, value)                                                                            \
    {                                                                                                                  \
        .name = row, .kind = RUNG_OPTION_STRING, .at = offsetof(probe_values, field), .metavar = meta, .help = text,   \
        .fallback = value                                                                                              \
    }
#define FILE_ROW(row, short, field, meta, text, value)                                                                 \
    {                                                                                                                  \
        .name = row, .letter = short, .kind = RUNG_OPTION_STRING, .at = offsetof(probe_values, field),                 \
        .metavar = meta, .help = text, .fallback = value, .complete = RUNG_COMPLETE_FILE                               \
    }
#define NUMBER(row, field, meta, text, value, least, greatest)                                                         \
    {                                                                                                                  \
        .name = row, .kind = RUNG_OPTION_INT, .at = offsetof(probe_values, field), .metavar = meta, .help = text,      \
        .fallback = value, .low = least, .high = greatest                                                              \
    }
#define REAL(row, field, text, value)                                                                                  \
    {                                                                                                                  \
        .name = row, .kind = RUNG_OPTION_REAL, .at = offsetof(probe_values, field), .metavar = "X", .help = text,      \
        .fallback = value                                                                                              \
    }

static const rung_option options[] = {
    TEXT("base-url", base_url, "URL", "the server: http://host:port or https://..., with or without /v1", NULL),
    TEXT("model", model, "NAME", "the model, as /v1/models calls it", NULL),
    {.name = "task",
     .kind = RUNG_OPTION_STRING,
     .at = offsetof(probe_values, task),
     .metavar = "TASK",
     .help = "a task; see 'rung list tasks'",
     .fallback = "seqcomp",
     .names = rung_task_name_at},
    TEXT("grid", grid, "GRID", "keys with values; L is the depth, n the facts, others are parameters", "L=1..4,n=8,16"),
    FILE_ROW("config", 'c', config, "FILE",
             "a config.json, a GGUF file or a model of ours: what the bounds say of it, beside every cell", NULL),
    FILE_ROW("out", 'o', out, "STORE", "the store that has every request, reply and result", "probe.db"),
    {.name = "spelling",
     .kind = RUNG_OPTION_CHOICE,
     .at = offsetof(probe_values, spelling),
     .metavar = "HOW",
     .help = "prose, lines of a table, or the words of the task",
     .fallback = "facts",
     .choices = rung_text_spelling_names},
    {.name = "api",
     .kind = RUNG_OPTION_CHOICE,
     .at = offsetof(probe_values, api),
     .metavar = "API",
     .help = "how to ask; auto: completions, else chat",
     .fallback = "auto",
     .choices = rung_probe_api_names},
    NUMBER("samples", samples, "N", "questions of a cell", "40", 1, 1000000),
    NUMBER("most", most, "N", "questions of a cell at most, where the depth is not decided", "200", 1, 1000000),
    NUMBER("controls", controls, "N", "questions of each control cell; 0: no controls", "20", 0, 1000000),
    NUMBER("shots", shots, "N", "solved examples before a question", "1", 0, 16),
    NUMBER("top", top, "N", "log-probabilities to ask for; servers give up to 20", "20", 2, RUNG_REPLY_TOP),
    NUMBER("thinking", thinking, "N", "also ask with steps written out, of at most N tokens; 0: do not", "0", 0,
           1 << 20),
    REAL("threshold", threshold, "accuracy that counts as able", "0.5"),
    REAL("confidence", confidence, "of the interval of the depth", "0.95"),
    NUMBER("concurrency", concurrency, "N", "requests at the same time", "8", 1, 1024),
    NUMBER("timeout", timeout, "S", "seconds for one attempt", "300", 1, 86400),
    NUMBER("retries", retries, "N", "further attempts when a server or the network has a weak moment", "3", 0, 100),
    NUMBER("rpm", rpm, "N", "requests per minute at most; 0: no limit", "0", 0, 10000000),
    NUMBER("max-reply", body, "MIB", "size of a reply at most", "16", 1, 1024),
    TEXT("api-key-env", key_env, "NAME", "the environment variable that holds the key; never the key itself", NULL),
    FILE_ROW("ca-file", 0, ca_file, "FILE", "certificates to trust instead of the system's", NULL),
    TEXT("extra", extra, "JSON", "an object whose members every request gets", NULL),
    NUMBER("wait", wait, "S", "seconds to wait for a store that another program holds", "60", 0, 86400),
    {.name = "dry-run",
     .kind = RUNG_OPTION_FLAG,
     .at = offsetof(probe_values, dry_run),
     .help = "say how many requests and tokens it would take, and ask nobody"},
    {.name = "kernel",
     .kind = RUNG_OPTION_STRING,
     .at = offsetof(probe_values, kernel),
     .metavar = "ORDER",
     .help = "with --config: the order in which the server adds up; theorems speak of it, and no server says it",
     .names = tool_kernel_name_at},
    RUNG_LEDGER_OPTIONS(probe_values, ledger),
    {0},
};

const tool_command tool_command_probe = {
    .name = "probe",
    .summary = "how deep a served language model composes, and what it recalls",
    .details = "Asks a server with the OpenAI interface (vLLM, SGLang, llama.cpp, rung serve) questions whose answer "
               "is one token, "
               "and scores the first generated token: what the model does in one forward pass. Names are words that "
               "are one token of "
               "the served tokenizer. A self-test comes first and stops with a reason where the server cannot give "
               "what is needed. "
               "docs/probing.md says how to start servers, and what the numbers mean.\n"
               "Controls: the same facts with a question of one look (one-hop), and in random order (shuffled). The "
               "depth is the "
               "largest one up to which accuracy stays at the threshold, with an interval; questions are added where "
               "it is not "
               "decided.\n"
               "Every request and reply is in the store; the same command goes on where it was stopped, and asks "
               "nothing twice. "
               "Ctrl-C finishes what is under way. A cell says nothing when the server refuses it, or when not even "
               "one look into its "
               "facts is above the threshold.",
    .examples =
        (const tool_example[]){
            {"rung probe --base-url http://127.0.0.1:8000/v1 --model Qwen3 --dry-run", "what it would take"},
            {"rung probe --base-url http://127.0.0.1:8000/v1 --model Qwen3 --grid L=1..6,n=16,64 -c config.json",
             "depth by number of facts, beside the bounds"},
            {"rung probe --base-url http://127.0.0.1:8000 --model m --task assoc-recall --grid n=16,64,256", "recall"},
            {"rung probe --base-url https://host/v1 --model m --api-key-env OPENAI_API_KEY --rpm 60",
             "with a key, once a second"},
            {0},
        },
    .pairs = "parameters of the task, the same in all cells",
    .options = options,
    .values_size = sizeof(probe_values),
    .negative = "no cell says anything",
    .run = run_probe,
};
