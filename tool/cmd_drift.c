/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung drift: what narrow formats do to a recurrent state. See docs/drift.md.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "drift_print.h"
#include "output.h"

typedef struct drift_values {
    const char *numbers, *in, *svg, *decays, *cert, *model;
    int64_t inputs, tokens, heads, dk, dv, pairs, kinds, threads;
    double decay;
} drift_values;

static const char *const sources[] = {"random", "recall", "worst", NULL};

/* "1,0.9999,0.999" */
static rung_status read_decays(rung_drift_options *ask, const char *text, rung_error *err)
{
    const char *all = text;
    for (ask->decay_count = 0; *text;) {
        char *end;
        double decay = strtod(text, &end);
        if (end == text || (*end != ',' && *end) || !(decay > 0 && decay <= 1) || ask->decay_count == RUNG_DRIFT_DECAYS)
            return rung_fail(err, RUNG_USAGE,
                             "--decays '%.60s': write up to %d decays above 0 and at most 1, such as "
                             "1,0.9999,0.999",
                             all, RUNG_DRIFT_DECAYS);
        ask->decays[ask->decay_count++] = decay;
        text = *end ? end + 1 : end;
    }
    return RUNG_OK;
}

static rung_status read_options(rung_drift_options *ask, const tool_call *call, rung_error *err)
{
    const drift_values *v = call->values;
    *ask = (rung_drift_options){.inputs = v->in ? RUNG_DRIFT_FILE : (rung_drift_source)v->inputs,
                                .file = v->in,
                                .tokens = (size_t)v->tokens,
                                .decay = v->decay,
                                .pairs = (size_t)v->pairs,
                                .values = (size_t)v->kinds,
                                .seed = (uint64_t)call->seed,
                                .threads = (size_t)v->threads};
    if (v->in && tool_call_given(call, "inputs"))
        return rung_fail(err, RUNG_USAGE, "--in gives the inputs; leave --inputs out, or --in");
    rung_status status = rung_numbers_parse(&ask->numbers, v->numbers, err);
    if (status != RUNG_OK) return rung_fail_at(err, RUNG_USAGE, "--numbers");
    return read_decays(ask, v->decays, err);
}

static rung_status show(const rung_drift *d, size_t count, const tool_call *call, rung_error *err)
{
    const drift_values *v = call->values;
    rung_buf out;
    rung_buf_init(&out);
    if (call->json) {
        rung_jout json;
        rung_jout_begin(&json, &out, "rung.drift/1", true);
        rung_jout_array(&json, "layers");
        for (size_t i = 0; i < count; i++) rung_drift_json(&json, &d[i]);
        rung_jout_end(&json);
        rung_jout_finish(&json);
    } else {
        for (size_t i = 0; i < count; i++) {
            if (i) rung_buf_putc(&out, '\n');
            tool_drift_print(&out, &d[i]);
        }
    }
    rung_status status = tool_out_buf(&out, err);
    rung_buf_clear(&out);
    if (status != RUNG_OK || !v->svg) return status;
    rung_drift_svg(&out, &d[0]);
    status = rung_buf_ok(&out, err);
    RUNG_NEXT(status, rung_file_write(v->svg, out.text, out.len, err));
    rung_buf_clear(&out);
    return status;
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static rung_status run_kind(rung_drift *d, rung_drift_kind *kind, const rung_drift_options *options, rung_error *err)
{
    rung_drift_options ask = *options;
    if (kind->tokens) {
        ask.inputs = RUNG_DRIFT_PROMPT, ask.rows = kind->rows, ask.row_tokens = kind->tokens;
        if (kind->tokens < ask.tokens) ask.tokens = kind->tokens;
        ask.pairs = 0; /* the curves are about made-up pairs, not about the model */
    }
    rung_status status = rung_drift_run(d, &kind->conf, &ask, err);
    snprintf(d->label, sizeof d->label, "%s", kind->label);
    return status;
}

static rung_status check_kinds(const rung_drift_kinds *kinds, const tool_call *call, rung_error *err)
{
    const drift_values *v = call->values;
    for (size_t i = 0; i < kinds->notes; i++) tool_note(call, "note: %s", kinds->note[i]);
    const char *one = v->in ? "--in has the inputs of" : v->svg ? "--svg shows" : v->cert ? "--cert is about" : NULL;
    if (one && kinds->count > 1)
        return rung_fail(err, RUNG_USAGE, "%s one kind of layer; %s has %zu", one, call->argument[0], kinds->count);
    if (kinds->kind[0].tokens && (v->in || tool_call_given(call, "inputs")))
        return rung_fail(err, RUNG_USAGE, "the inputs of a model's layers come from a prompt; leave --%s out",
                         v->in ? "in" : "inputs");
    return RUNG_OK;
}

static rung_status certify(const rung_drift_kind *kind, const rung_drift_options *ask, const tool_call *call,
                           rung_error *err)
{
    const drift_values *v = call->values;
    rung_drift_loss loss;
    RUNG_TRY(rung_drift_certify(&loss, &kind->conf, ask, v->model, v->cert, err));
    if (!loss.found) {
        tool_note(call, "note: no certificate: within a minute no attack has found a token that is lost");
        return RUNG_OK;
    }
    tool_note(call, "%s: %s; %s keeps nothing of token %zu after %zu tokens%s", v->cert, loss.how, loss.arch,
              loss.token, loss.lost_by, loss.certifiable ? "" : "; rung-check does not support it");
    return RUNG_OK;
}

static rung_status run_kinds(rung_drift_kinds *kinds, const rung_drift_options *ask, const tool_call *call,
                             rung_error *err)
{
    const drift_values *v = call->values;
    size_t done = 0;
    RUNG_TRY(check_kinds(kinds, call, err));
    if (v->in) RUNG_TRY(rung_drift_sizes(&kinds->kind[0].conf, v->in, err));
    rung_drift *d = rung_calloc(kinds->count, sizeof *d, err);
    if (!d) return RUNG_SYSTEM;
    rung_status status = RUNG_OK;
    for (; status == RUNG_OK && done < kinds->count; done++) status = run_kind(&d[done], &kinds->kind[done], ask, err);
    if (status == RUNG_OK && v->cert) status = certify(&kinds->kind[0], ask, call, err);
    RUNG_NEXT(status, show(d, kinds->count, call, err));
    for (size_t i = 0; i < done; i++) rung_drift_clear(&d[i]);
    free(d);
    return status;
}

static bool looks_like_file(const char *text)
{
    struct stat there;
    const size_t len = strlen(text);
    return strchr(text, '/') || stat(text, &there) == 0 || (len > 5 && strcmp(text + len - 5, ".json") == 0) ||
           (len > 12 && strcmp(text + len - 12, ".safetensors") == 0);
}

static rung_status check_paths(const drift_values *v, rung_error *err)
{
    RUNG_TRY(v->svg ? tool_out_place(v->svg, err) : RUNG_OK);
    if (!v->cert != !v->model)
        return rung_fail(err, RUNG_USAGE, "a certificate is about a model: give --cert FILE and --model FILE");
    RUNG_TRY(v->cert ? tool_out_place(v->cert, err) : RUNG_OK);
    return v->model ? tool_out_place(v->model, err) : RUNG_OK;
}

static int run_drift(const tool_call *call, rung_error *err)
{
    const drift_values *v = call->values;
    const rung_arch_defaults defaults = {
        .heads = (size_t)v->heads, .dk = (size_t)v->dk, .dv = (size_t)v->dv, .causal = true};
    rung_drift_options ask;
    rung_progress progress = {0};
    RUNG_TRY(read_options(&ask, call, err));
    RUNG_TRY(check_paths(v, err));
    if (!call->quiet) ask.progress = &progress;
    rung_drift_kinds *kinds = rung_calloc(1, sizeof *kinds, err);
    if (!kinds) return RUNG_SYSTEM;
    rung_status status = looks_like_file(call->argument[0])
                             ? rung_drift_kinds_file(kinds, call->argument[0], ask.seed, err)
                             : rung_drift_kinds_arch(kinds, call->argument[0], &defaults, err);
    RUNG_NEXT(status, run_kinds(kinds, &ask, call, err));
    rung_drift_kinds_clear(kinds);
    free(kinds);
    return status;
}

#define SIZE_ROW(word, field, letter, text, least, most, standard)                                                     \
    {                                                                                                                  \
        .name = word, .kind = RUNG_OPTION_INT, .at = offsetof(drift_values, field), .metavar = letter, .help = text,   \
        .fallback = standard, .low = least, .high = most                                                               \
    }

const tool_command tool_command_drift = {
    .name = "drift",
    .summary = "what narrow formats do to a recurrent state over many tokens",
    .details =
        "The same inputs go through a mechanism in f64 and in the formats of --numbers. Shown are the distance of the "
        "two "
        "after 2^6, 2^7, ... tokens, for all formats together and for one quantity at a time; a bound that is proved "
        "for "
        "this run, and one of a theorem for every run in which inputs and states have these norms; and how long stored "
        "pairs can be read, "
        "with the formats asked for, with f64, with a state in the format of acc, and with stochastic rounding. "
        "docs/drift.md has the protocol, the theorem and its proof.\n"
        "The argument is a mechanism, or layers in the arch language: each different recurrent one is shown. Or a "
        "config.json or GGUF file: one head of each recurrent kind with the sizes that the file states. Or a model of "
        "ours (.safetensors): each recurrent layer on what it gets, in f64, on prompt 0 of its task.",
    .examples =
        (const tool_example[]){
            {"rung drift gdelta", "a state in bf16 over 131072 tokens"},
            {"rung drift mamba2 --numbers served:fp8,state=e4m3fn --tokens 4096", "a state in 8 bits"},
            {"rung drift kda:dk=128:dv=128 --inputs worst --svg drift.svg", "inputs found by a search, and a picture"},
            {"rung drift delta --in layer.npz --numbers f32,state=bf16,round=stochastic", "tensors of a file"},
            {"rung drift mamba2 --numbers e8m7 --cert lost.cert --model lost.safetensors", "and proof of a loss"},
            {"rung drift config.json --tokens 4096", "the recurrent layers of a published model"},
            {0},
        },
    .arguments = (const tool_argument[]){{.metavar = "MECH|FILE",
                                          .help = "a recurrent mechanism, layers such as 3*gdelta,full, or a file",
                                          .least = 1,
                                          .most = 1,
                                          .names = tool_mech_name_at,
                                          .complete = RUNG_COMPLETE_FILE},
                                         {0}},
    .options =
        (const rung_option[]){
            {.name = "numbers",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(drift_values, numbers),
             .metavar = "FORMATS",
             .help = "the formats that rung run takes, such as served:state32 or f32,state=int8/row",
             .fallback = "served:bf16"},
            {.name = "inputs",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(drift_values, inputs),
             .metavar = "KIND",
             .help = "of the errors: random tokens, pairs and distractors, or found by a search",
             .fallback = "random",
             .choices = sources},
            {.name = "in",
             .letter = 'i',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(drift_values, in),
             .metavar = "FILE",
             .help = "safetensors or npz with the inputs of the mechanism instead",
             .complete = RUNG_COMPLETE_FILE},
            SIZE_ROW("tokens", tokens, "N", "the longest prefix", 1, 1 << 24, "131072"),
            {.name = "decay",
             .kind = RUNG_OPTION_REAL,
             .at = offsetof(drift_values, decay),
             .metavar = "D",
             .help = "mean decay of a token (geometric mean of twice a uniform part)",
             .fallback = "0.999"},
            {.name = "decays",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(drift_values, decays),
             .metavar = "LIST",
             .help = "decays of the curves of recall",
             .fallback = "1,0.9999,0.999,0.99"},
            SIZE_ROW("pairs", pairs, "N", "stored pairs of the curves; 0: no curves", 0, 65536, "16"),
            SIZE_ROW("values", kinds, "N", "different values, of which the nearest is read", 2, 65536, "64"),
            SIZE_ROW("heads", heads, "H", "heads where an arch names none", 1, 1 << 16, "1"),
            SIZE_ROW("dk", dk, "N", "key dimension of a head where an arch names none", 1, 4096, "64"),
            SIZE_ROW("dv", dv, "N", "value dimension of a head where an arch names none", 1, 4096, "64"),
            {.name = "svg",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(drift_values, svg),
             .metavar = "FILE",
             .help = "also write the errors and the curves as a picture",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "cert",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(drift_values, cert),
             .metavar = "FILE",
             .help = "also look for a token that these formats lose, and write a certificate for rung-check",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "model",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(drift_values, model),
             .metavar = "FILE",
             .help = "where the model that the certificate is about goes",
             .complete = RUNG_COMPLETE_FILE},
            RUNG_OPTION_THREADS(drift_values, threads),
            {0},
        },
    .values_size = sizeof(drift_values),
    .run = run_drift,
};
