/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench: options, and which measurement they ask for.
 */
#include <string.h>

#include "bench_print.h"
#include "rung/train.h"

static const char *const what_names[] = {"exact",  "break",  "peak",   "products", "step",
                                         "mixers", "length", "memory", NULL};

static rung_status run_exact(size_t *missed, const tool_call *call, const rung_bench_options *conf, rung_error *err)
{
    const rung_bench_watch watch = tool_bench_shown(call);
    rung_bench_exact_report report;
    rung_status status = rung_bench_exact(&report, conf, &watch, err);
    *missed = report.missed;
    RUNG_TRY(status);
    return tool_bench_exact_end(call, &report, err);
}

static rung_status run_break(size_t *missed, const tool_call *call, const rung_bench_options *conf, rung_error *err)
{
    const rung_bench_watch watch = tool_bench_shown(call);
    rung_bench_break_report report;
    rung_status status = rung_bench_break(&report, conf, &watch, err);
    *missed = report.missed;
    RUNG_TRY(status);
    return tool_bench_break_end(call, &report, err);
}

static rung_status run_speed(size_t *missed, const tool_call *call, const rung_bench_options *conf, rung_error *err)
{
    const rung_bench_watch watch = tool_bench_shown(call);
    rung_bench_report report;
    rung_status status = rung_bench_speed(&report, call->argument[0], conf, &watch, err);
    RUNG_NEXT(status, tool_bench_speed_end(call, &report, err));
    *missed = report.missed;
    rung_bench_report_clear(&report);
    return status;
}

static int run_bench(const tool_call *call, rung_error *err)
{
    rung_bench_options conf = *(const rung_bench_options *)call->values;
    const char *subject = call->argument[0];
    size_t missed = 0, known = 0;
    while (what_names[known] && strcmp(what_names[known], subject) != 0) known++;
    if (!what_names[known]) return rung_fail_unknown(err, "subject", subject, what_names, RUNG_COUNT(what_names) - 1);
    conf.seed = call->seed;
    rung_status status = strcmp(subject, "exact") == 0   ? run_exact(&missed, call, &conf, err)
                         : strcmp(subject, "break") == 0 ? run_break(&missed, call, &conf, err)
                                                         : run_speed(&missed, call, &conf, err);
    return status != RUNG_OK ? (int)status : missed ? RUNG_NEGATIVE : 0;
}

#define INT_ROW(name_, field, low_, high_, help_, fallback_)                                                           \
    {                                                                                                                  \
        .name = name_, .kind = RUNG_OPTION_INT, .at = offsetof(rung_bench_options, field), .metavar = "N",             \
        .help = help_, .fallback = fallback_, .low = low_, .high = high_                                               \
    }

const tool_command tool_command_bench = {
    .name = "bench",
    .summary = "how fast this is: exact numbers, attacks, training, beside PyTorch",
    .details =
        "exact: one causal layer of softmax attention with one head, in every kind of format and in a vectorised fp32 "
        "kernel "
        "that cares for speed alone, in turns. The ratio is the median of the ratios of processor time, which other "
        "programs on the machine disturb little. At the standard sizes it has a bar: 3.5 for floats with at most 10 "
        "mantissa bits, 8 for all others.\n"
        "break: attacks on models with random weights that must succeed in time, and rung-check beside one pass of a "
        "scalar "
        "evaluator. A few minutes.\n"
        "peak: fp32 multiply-adds in registers, what all speeds are shares of. products: the matrix products of a "
        "training "
        "step, one thread.\n"
        "step: whole training steps. mixers: one mechanism alone, forward and backward. Both in turns with PyTorch, "
        "where /usr/bin/python3 or --peer has it, after losses, outputs and gradients have been found equal; wall "
        "time. "
        "PyTorch gets the instruction set and the threads of rung, in two spellings: the usual one, and the best of "
        "several forms (groups of sequences, scaled_dot_product_attention, fused AdamW, torch.compile), tried out "
        "first. With a BLAS that does not suit the processor nothing is judged: that is an error.\n"
        "length: tokens per second of recurrent mechanisms in a short and a long sequence.\n"
        "memory: what one training step needs at most.\n"
        "Bars count at the standard sizes only, and not with --quick.",
    .examples =
        (const tool_example[]){
            {"rung bench exact", "all formats at n = 4096; a few seconds"},
            {"rung bench exact --numbers bf16 --tokens 1024", "one format, other sizes: no bar"},
            {"rung bench exact --json > bench.json", "the same for a program"},
            {"rung bench break", "attacks that must succeed within their time"},
            {"rung bench step", "training beside PyTorch; two minutes"},
            {"rung bench step --arch gdelta:unit=1 --layers 2 --tokens 512", "another architecture"},
            {"rung bench mixers --mech delta", "one mechanism"},
            {"rung bench step --peer build/peer", "beside the PyTorch that make peer has installed"},
            {"rung bench step --compute bf16 --d-model 256 --no-peer", "products in bf16 beside fp32"},
            {"RUNG_ISA=avx2 rung bench step", "without AVX-512, on both sides and in the peak"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "WHAT",
             .help = "exact, break, peak, products, step, mixers, length or memory",
             .least = 1,
             .most = 1,
             .choices = what_names},
            {0},
        },
    .options =
        (const rung_option[]){
            {.name = "numbers",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(rung_bench_options, numbers),
             .metavar = "FORMAT",
             .help = "exact: one format (f64, f32, bf16, f16, eXmY, qI.F) instead of the usual ones"},
            {.name = "tokens",
             .kind = RUNG_OPTION_SIZES,
             .at = offsetof(rung_bench_options, tokens),
             .metavar = "N,...",
             .help = "lengths (exact 4096, step 64,256, mixers 1024, length 256,4096, memory 4096)",
             .low = 1,
             .high = 1 << 20},
            INT_ROW("dim", dim, 0, 4096, "dk and dv of exact, mixers, length; 0: 24, 64, 64", "0"),
            {.name = "mech",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(rung_bench_options, mech),
             .metavar = "NAME",
             .help = "mixers, length: this one only",
             .names = tool_mech_name_at},
            {.name = "arch",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(rung_bench_options, arch),
             .metavar = "ARCH",
             .help = "step, memory: what one layer is",
             .fallback = "full"},
            {.name = "compute",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(rung_bench_options, compute),
             .metavar = "FORMAT",
             .help = "step: bf16 measures rung train --compute bf16 beside fp32 as well",
             .fallback = "fp32",
             .choices = rung_compute_names},
            {.name = "layers",
             .kind = RUNG_OPTION_SIZES,
             .at = offsetof(rung_bench_options, layers),
             .metavar = "N,...",
             .help = "step, memory: layers (2,4 and 2)",
             .low = 1,
             .high = 1024},
            INT_ROW("batch", batch, 0, 1 << 20, "sequences; 0: step 64, mixers and length 32, memory 4", "0"),
            INT_ROW("heads", heads, 1, 1024, "step, mixers, length, memory: heads", "4"),
            INT_ROW("d-model", d_model, 1, 1 << 16, "step, memory: width of the stream", "128"),
            INT_ROW("vocab", vocab, 2, 1 << 20, "step, memory: tokens and answers", "64"),
            INT_ROW("runs", runs, 5, RUNG_BENCH_RUNS_MAX, "turns of which the median is taken", "5"),
            {.name = "quick",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(rung_bench_options, quick),
             .help = "two turns and no bars (not exact, break)"},
            {.name = "peer",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(rung_bench_options, peer),
             .metavar = "DIR",
             .help =
                 "step, mixers: PyTorch of this virtual environment (make peer) or python, not of /usr/bin/python3"},
            {.name = "no-peer",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(rung_bench_options, no_peer),
             .help = "step, mixers: without PyTorch"},
            INT_ROW("seeds", seeds, 0, 100, "break: models for each attack, 0 for the usual number", "0"),
            INT_ROW("threads", threads, 0, 256, "worker threads of both sides, 0 for all cores", "0"),
            {0},
        },
    .values_size = sizeof(rung_bench_options),
    .negative = "a bar is missed",
    .helper = true,
    .run = run_bench,
};
