/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung attn: one mechanism on given tensors, for laying results beside other implementations.
 */
#include "output.h"
#include "rung/attn.h"

typedef struct attn_values {
    const char *in, *out, *numbers, *scale;
    int64_t form, dtype, threads;
    bool state, encoder, grad;
} attn_values;

static const char *const forms[] = {"scan", "step", NULL};

static rung_status report(const rung_attn *a, const tool_call *call, rung_error *err)
{
    const attn_values *v = call->values;
    rung_carry carry = a->conf.mech->carry(&a->conf, a->tokens);
    int bits = a->exact ? a->fmt.bits : 32;
    rung_buf text;
    rung_buf_init(&text);
    if (call->json) {
        rung_jout out;
        rung_jout_begin(&out, &text, "rung.attn/1", true);
        rung_jout_string(&out, "mechanism", a->conf.mech->name);
        rung_jout_string(&out, "numbers", v->numbers);
        rung_jout_int(&out, "tokens", (int64_t)a->tokens);
        rung_jout_int(&out, "heads", (int64_t)a->conf.heads);
        rung_jout_int(&out, "dk", (int64_t)a->conf.dk);
        rung_jout_int(&out, "dv", (int64_t)a->conf.dv);
        rung_jout_int(&out, "recurrent_elements", (int64_t)carry.recurrent);
        rung_jout_int(&out, "window_elements", (int64_t)carry.window);
        rung_jout_int(&out, "cache_elements", (int64_t)carry.cache);
        rung_jout_int(&out, "state_bits", (int64_t)a->state_elements * bits);
        rung_jout_flat_array(&out, "gradients");
        for (size_t i = 0; a->conf.mech->inputs[i].name; i++)
            if (a->din[i]) rung_jout_string(&out, NULL, a->conf.mech->inputs[i].name);
        rung_jout_end(&out);
        rung_jout_string(&out, "out", v->out);
        rung_jout_finish(&out);
    } else {
        rung_buf_printf(&text, "%s: o [%zu,%zu,%zu]%s in %s; carries %zu numbers (%zu bits) past the last token\n",
                        v->out, a->tokens, a->conf.heads, a->conf.dv, v->grad ? " and gradients" : "", v->numbers,
                        a->state_elements, a->state_elements * (size_t)bits);
    }
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

/* ---- command --------------------------------------------------------------------------------------------------- */

static void note(void *context, const char *text)
{
    tool_note(context, "%s", text);
}

static int run_attn(const tool_call *call, rung_error *err)
{
    const attn_values *v = call->values;
    rung_attn a;
    if (!v->in || !v->out) return rung_fail(err, RUNG_USAGE, "give --in FILE and --out FILE, both safetensors");
    const rung_attn_options ask = {.mech = call->argument[0],
                                   .pair = call->pair,
                                   .pairs = call->pairs,
                                   .in = v->in,
                                   .out = v->out,
                                   .numbers = v->numbers,
                                   .scale = v->scale,
                                   .dtype = (size_t)v->dtype,
                                   .step = v->form == 1,
                                   .state = v->state,
                                   .encoder = v->encoder,
                                   .grad = v->grad,
                                   .threads = (size_t)v->threads,
                                   .context = (void *)call,
                                   .note = note};
    rung_status status = rung_attn_run(&a, &ask, err);
    RUNG_NEXT(status, report(&a, call, err));
    rung_attn_clear(&a);
    return status;
}

const tool_command tool_command_attn = {
    .name = "attn",
    .summary = "one mechanism on given tensors, to lay beside other implementations",
    .details =
        "Inputs are tensors [T,H,d] named as 'rung list mechanisms NAME' says, F32, F64, BF16 or F16; constants "
        "of a layer "
        "have no T. They are used as given: q is not scaled, k is not normalised, g is the natural logarithm of "
        "a decay. The "
        "output is o [T,H,dv]. With --grad also the gradients of sum(do * o), do a tensor [T,H,dv] of the input "
        "file or ones: dq for q and so on, constants included. A choice of blocks or tokens has no gradient; the "
        "indexer of dsa gets that of its own loss (docs/mechanisms/dsa.md).",
    .examples =
        (const tool_example[]){
            {"rung attn gdelta --in x.safetensors --out y.safetensors", "q, k, v, beta, g to o"},
            {"rung attn full --in x.safetensors --out y.safetensors --scale 0.125", "softmax of q.k/8"},
            {"rung attn linear phi=relu norm=0 --in x.safetensors --out y.safetensors --state", "and the final state"},
            {"rung attn gla --in x.safetensors --out y.safetensors --grad", "and the gradients dq, dk, dv, dg"},
            {"rung attn mamba2 --in x.safetensors --out y.safetensors --numbers bf16", "every operation in bf16"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "MECH", .help = "a mechanism", .least = 1, .most = 1, .names = tool_mech_name_at},
            {0},
        },
    .pairs = "parameters of the mechanism",
    .options =
        (const rung_option[]){
            {.name = "in",
             .letter = 'i',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(attn_values, in),
             .metavar = "FILE",
             .help = "safetensors with the inputs",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(attn_values, out),
             .metavar = "FILE",
             .help = "safetensors to write",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "state",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(attn_values, state),
             .help = "also write what is carried past the last token"},
            {.name = "grad",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(attn_values, grad),
             .help = "also write the gradients d<input> of sum(do * o), do from the input file or ones (fp32)"},
            {.name = "scale",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(attn_values, scale),
             .metavar = "S",
             .help = "multiply the query by S first"},
            {.name = "numbers",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(attn_values, numbers),
             .metavar = "FORMAT",
             .help = "fp32 (fast), or f64, f32, bf16, f16, eXmY, qI.F (exact)",
             .fallback = "fp32"},
            {.name = "form",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(attn_values, form),
             .metavar = "FORM",
             .help = "many tokens at once, or one by one",
             .fallback = "scan",
             .choices = forms},
            {.name = "dtype",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(attn_values, dtype),
             .metavar = "TYPE",
             .help = "type of the numbers in the output file",
             .fallback = "F32",
             .choices = rung_attn_dtypes},
            {.name = "encoder",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(attn_values, encoder),
             .help = "no causal mask"},
            RUNG_OPTION_THREADS(attn_values, threads),
            {0},
        },
    .values_size = sizeof(attn_values),
    .run = run_attn,
};
