/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung replay: a certificate in an engine that people serve with.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "output.h"
#include "rung/audit.h"

enum { EXPECT_NOTHING, EXPECT_ERRS, EXPECT_RIGHT };

typedef struct replay_values {
    const char *engines;
    int64_t engine, cache, expect;
} replay_values;

static const char *const cache_names[] = {"f16", "f32", NULL};
static const char *const expect_names[] = {"none", "errs", "right", NULL};

static void print_answer(rung_buf *out, const rung_replayed *x, size_t p, const char *where,
                         const rung_replayed_answer *a, bool leads)
{
    rung_buf word;
    rung_buf_init(&word);
    if (a->answer != RUNG_NO_TARGET) rung_explained_answer(&word, &x->explained, a->answer);
    bool right = a->answer == x->explained.cert.right[p];
    rung_buf_printf(out, "  %-22s %-6s %s", where, a->answer == RUNG_NO_TARGET ? "stops" : word.text,
                    right ? "right" : "wrong");
    if (leads && a->answer != RUNG_NO_TARGET && a->lead == 0) rung_buf_puts(out, ", as good as another answer");
    if (leads && a->answer != RUNG_NO_TARGET && a->lead != 0)
        rung_buf_printf(out, ", %.3g %s the best other answer", fabs(a->lead), a->lead > 0 ? "above" : "below");
    rung_buf_putc(out, '\n');
    out->failed = out->failed || word.failed;
    rung_buf_clear(&word);
}

static void print_text(rung_buf *out, const rung_replayed *x)
{
    const rung_explained *e = &x->explained;
    rung_buf_printf(out, "%s of %s, in %s\n", rung_cert_kind_names[e->cert.kind - 1], e->cert.numbers, x->engine);
    for (size_t p = 0; p < e->prompts; p++) {
        const rung_replayed_answer certified = {e->given[p], 0};
        rung_buf_printf(out, "\nprompt %zu of %zu tokens, the right answer is ", p + 1, e->cert.tokens);
        rung_explained_answer(out, e, e->cert.right[p]);
        rung_buf_putc(out, '\n');
        print_answer(out, x, p, e->cert.numbers, &certified, false);
        print_answer(out, x, p, "fp32, order of rung", &x->here[p], true);
        print_answer(out, x, p, x->engine, &x->there[p], true);
    }
    rung_buf_printf(out, "\nerrs on %zu of %zu prompt%s\n%s\n", x->errs, e->prompts, e->prompts == 1 ? "" : "s",
                    rung_replayed_so(x));
}

static rung_status show(const tool_call *call, const rung_replayed *x, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    (call->json ? rung_replay_json : print_text)(&text, x);
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

static int run_replay(const tool_call *call, rung_error *err)
{
    const replay_values *v = call->values;
    const rung_replay_options options = {(rung_replay_engine)v->engine, v->engines, v->cache ? "F32" : "F16"};
    rung_replayed *x = rung_calloc(1, sizeof *x, err);
    if (!x) return RUNG_SYSTEM;
    rung_status status = rung_replay(x, call->argument[0], call->argument[1], &options, err);
    RUNG_NEXT(status, show(call, x, err));
    bool other = (v->expect == EXPECT_ERRS && !x->errs) || (v->expect == EXPECT_RIGHT && x->errs);
    rung_replayed_clear(x);
    free(x);
    return status == RUNG_OK && other ? RUNG_NEGATIVE : (int)status;
}

const tool_command tool_command_replay = {
    .name = "replay",
    .summary = "a certificate of failure, replayed in llama.cpp or ONNX Runtime",
    .details =
        "Writes the model for the engine, asks it the prompts of the certificate, and says whether it errs on them. A "
        "certificate is about one number format and one order of operations; the engine has its own. So beside the "
        "engine stands what fp32 answers in the order of rung. The engine is a package of node; `make npm-engines` "
        "installs both. docs/replay.md says what follows from an answer.",
    .examples =
        (const tool_example[]){
            {"rung replay m.cert m.safetensors --engine onnxruntime", "does ONNX Runtime err on the same prompt?"},
            {"rung replay m.cert m.safetensors --engine llama.cpp --cache f32 --expect errs",
             "exit code 1 if it does not"},
            {0},
        },
    .arguments = (const tool_argument[]){{.metavar = "CERT",
                                          .help = "a certificate, as docs/certificate.md describes it",
                                          .least = 1,
                                          .most = 1,
                                          .complete = RUNG_COMPLETE_FILE},
                                         {.metavar = "MODEL",
                                          .help = "the model that it is about",
                                          .least = 1,
                                          .most = 1,
                                          .complete = RUNG_COMPLETE_FILE},
                                         {0}},
    .options =
        (const rung_option[]){
            {.name = "engine",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(replay_values, engine),
             .metavar = "ENGINE",
             .fallback = "llama.cpp",
             .choices = rung_replay_engine_names,
             .help = "which one"},
            {.name = "engines",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(replay_values, engines),
             .metavar = "DIR",
             .help = "the folder with node_modules (RUNG_ENGINES, else npm-engines beside rung)",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "cache",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(replay_values, cache),
             .metavar = "TYPE",
             .fallback = "f16",
             .choices = cache_names,
             .help = "numbers of the cache of llama.cpp"},
            {.name = "expect",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(replay_values, expect),
             .metavar = "WHAT",
             .fallback = "none",
             .choices = expect_names,
             .help = "exit with 1 if the engine is right on all prompts (errs), or errs on one (right)"},
            {0},
        },
    .values_size = sizeof(replay_values),
    .negative = "--expect names the other result",
    .run = run_replay,
};
