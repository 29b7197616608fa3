/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung drift: what narrow formats do to a recurrent state. See docs/drift.md.
 */
#include <stdlib.h>
#include <string.h>

#include "drift_print.h"
#include "output.h"
#include "rung/model.h"

typedef struct drift_values {
    const char *numbers, *in, *svg, *decays;
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

/* Different groups of heads that carry a state; others are named and left out. */
static rung_status pick_groups(const rung_mech_conf **conf, size_t *count, const rung_arch *arch, const tool_call *call,
                               rung_error *err)
{
    enum { KINDS_MAX = 16 };
    *count = 0;
    for (size_t l = 0; l < arch->layer_count; l++)
        for (size_t g = 0; g < arch->layer[l].group_count; g++) {
            const rung_mech_conf *c = &arch->layer[l].group[g];
            bool known = false;
            for (size_t i = 0; i < *count; i++) known = known || conf[i] == c;
            if (known) continue;
            if (c->mech->keeps != RUNG_KEEPS_HEADS) {
                tool_note(call, "note: layer %zu: %s carries no state that is rounded at every token; it is left out",
                          l, c->mech->name);
                continue;
            }
            if (*count == KINDS_MAX)
                return rung_fail(err, RUNG_USAGE, "more than %d kinds of recurrent layers", KINDS_MAX);
            conf[(*count)++] = c;
        }
    if (*count) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "%s: no layer carries a state that is rounded at every token; drift is for "
                     "recurrent mechanisms such as gdelta, kda, mamba2, delta, rwkv7",
                     call->argument[0]);
}

static rung_status run_kinds(const rung_arch *arch, const rung_drift_options *ask, const tool_call *call,
                             rung_error *err)
{
    const drift_values *v = call->values;
    const rung_mech_conf *conf[16];
    rung_mech_conf sized;
    size_t count, done = 0;
    RUNG_TRY(pick_groups(conf, &count, arch, call, err));
    if (v->in && count > 1)
        return rung_fail(err, RUNG_USAGE, "--in has the inputs of one kind of layer; %s has %zu", call->argument[0],
                         count);
    if (v->svg && count > 1)
        return rung_fail(err, RUNG_USAGE, "--svg shows one kind of layer; %s has %zu", call->argument[0], count);
    if (v->in) {
        sized = *conf[0], conf[0] = &sized;
        RUNG_TRY(rung_drift_sizes(&sized, v->in, err));
    }
    rung_drift *d = rung_calloc(count, sizeof *d, err);
    if (!d) return RUNG_SYSTEM;
    rung_status status = RUNG_OK;
    for (; status == RUNG_OK && done < count; done++) status = rung_drift_run(&d[done], conf[done], ask, err);
    RUNG_NEXT(status, show(d, count, call, err));
    for (size_t i = 0; i < done; i++) rung_drift_clear(&d[i]);
    free(d);
    return status;
}

static int run_drift(const tool_call *call, rung_error *err)
{
    const drift_values *v = call->values;
    const rung_arch_defaults defaults = {
        .heads = (size_t)v->heads, .dk = (size_t)v->dk, .dv = (size_t)v->dv, .causal = true};
    rung_drift_options ask;
    rung_progress progress = {0};
    rung_arch arch;
    RUNG_TRY(read_options(&ask, call, err));
    RUNG_TRY(v->svg ? tool_out_place(v->svg, err) : RUNG_OK);
    if (!call->quiet) ask.progress = &progress;
    RUNG_TRY(rung_arch_parse(&arch, call->argument[0], &defaults, err));
    rung_status status = run_kinds(&arch, &ask, call, err);
    rung_arch_clear(&arch);
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
        "this run, and one of a theorem that holds for all inputs of these sizes; and how long stored pairs can be "
        "read, "
        "with the formats asked for, with f64, with a state in the format of acc, and with stochastic rounding. "
        "docs/drift.md has the protocol, the theorem and its proof.\n"
        "The argument is a mechanism, or layers as 'rung list arch' says; each different recurrent one is shown.",
    .examples =
        (const tool_example[]){
            {"rung drift gdelta", "a state in bf16 over 131072 tokens"},
            {"rung drift mamba2 --numbers served:fp8,state=e4m3fn --tokens 4096", "a state in 8 bits"},
            {"rung drift kda:dk=128:dv=128 --inputs worst --svg drift.svg", "inputs found by a search, and a picture"},
            {"rung drift delta --in layer.npz --numbers f32,state=bf16,round=stochastic", "tensors of a file"},
            {0},
        },
    .arguments = (const tool_argument[]){{.metavar = "MECH",
                                          .help = "a recurrent mechanism, or layers such as 3*gdelta,full",
                                          .least = 1,
                                          .most = 1,
                                          .names = tool_mech_name_at},
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
            RUNG_OPTION_THREADS(drift_values, threads),
            {0},
        },
    .values_size = sizeof(drift_values),
    .run = run_drift,
};
