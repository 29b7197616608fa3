/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What bound, compare and probe take from the command line: architectures as text, configurations, GGUF files or
 * models of ours, each as the subject of a claim.
 */
#ifndef RUNG_TOOL_BOUND_INPUT_H
#define RUNG_TOOL_BOUND_INPUT_H

#include "command.h"
#include "rung/bound.h"

/* Part of a command's values; its rows are RUNG_LEDGER_OPTIONS. */
typedef struct tool_ledger_options {
    int64_t heads, head_dim, dk, dv;                        /* of arch text; dk, dv 0: head_dim */
    int64_t bits, accumulator_bits, state_bits, cache_bits; /* 0: what the input says */
    int64_t message;
    const char *numbers; /* NULL: bits as above */
} tool_ledger_options;

typedef struct tool_bound_input {
    const char *text; /* as it was typed */
    bool is_arch;
    rung_subject *subject;
    rung_claim *claim;
} tool_bound_input;

/* The bits that the options say. */
rung_status tool_read_bits(rung_claim_spec *about, const tool_ledger_options *options, rung_error *err);

/* A file where there is one of that name (a directory: its config.json), else an arch; the claim is about it. Clear
 * it also when this fails. */
rung_status tool_bound_input_open(tool_bound_input *input, const char *text, const tool_ledger_options *options,
                                  const rung_claim_spec *about, rung_error *err);
void tool_bound_input_clear(tool_bound_input *input);

/* All arguments of a call, in order. Of several, a file that cannot be read or understood is complained about and left
 * out: a thousand files should not be lost for one. */
typedef struct tool_bound_inputs {
    tool_bound_input *at;
    size_t count, refused;
} tool_bound_inputs;

/* On failure nothing is left to clear. It fails if no input is left. */
rung_status tool_bound_inputs_open(tool_bound_inputs *inputs, const tool_call *call, const tool_ledger_options *options,
                                   const rung_claim_spec *about, rung_error *err);
/* Releases them. Returns the code of the command: if it has succeeded and inputs were left out, it says so. */
int tool_bound_inputs_close(tool_bound_inputs *inputs, int code, rung_error *err);

#define RUNG_LEDGER_ARGUMENT(fewest)                                                                                   \
    {                                                                                                                  \
        .metavar = "ARCH|FILE", .help = "layers such as full,4*linear, or a config.json, GGUF or .safetensors file",   \
        .least = fewest, .most = SIZE_MAX, .complete = RUNG_COMPLETE_FILE                                              \
    }

#define RUNG_LEDGER_ROW(type, row, path, least, greatest, text, value)                                                 \
    {                                                                                                                  \
        .name = row, .kind = RUNG_OPTION_INT, .at = offsetof(type, path), .metavar = "N", .help = text,                \
        .fallback = value, .low = least, .high = greatest                                                              \
    }

#define RUNG_LEDGER_OPTIONS(type, field)                                                                               \
    RUNG_LEDGER_ROW(type, "bits", field.bits, 0, 65536,                                                                \
                    "p, bits of every number, which servers choose; 0: as the input says, else 32", "0"),              \
        RUNG_LEDGER_ROW(type, "accumulator-bits", field.accumulator_bits, 0, 65536,                                    \
                        "bits of accumulators alone; 0: as --bits, else 32 whatever a file's dtype", "0"),             \
        RUNG_LEDGER_ROW(type, "state-bits", field.state_bits, 0, 65536, "bits of recurrent states alone", "0"),        \
        RUNG_LEDGER_ROW(type, "cache-bits", field.cache_bits, 0, 65536,                                                \
                        "bits of cached keys, values and inputs alone", "0"),                                          \
        RUNG_LEDGER_ROW(type, "heads", field.heads, 1, 1 << 16, "heads where an arch names none", "1"),                \
        RUNG_LEDGER_ROW(type, "head-dim", field.head_dim, 1, 1 << 20, "dk and dv where an arch names none", "16"),     \
        RUNG_LEDGER_ROW(type, "dk", field.dk, 0, 1 << 20, "key dimension alone, 0: as --head-dim", "0"),               \
        RUNG_LEDGER_ROW(type, "dv", field.dv, 0, 1 << 20, "value dimension alone, 0: as --head-dim", "0"),             \
        {.name = "numbers",                                                                                            \
         .kind = RUNG_OPTION_STRING,                                                                                   \
         .at = offsetof(type, field.numbers),                                                                          \
         .metavar = "FORMATS",                                                                                         \
         .help = "instead of bits: the formats that rung run takes, such as served:bf16,state=f32"},                   \
    {                                                                                                                  \
        .name = "message", .kind = RUNG_OPTION_CHOICE, .at = offsetof(type, field.message), .metavar = "KIND",         \
        .help = "what a full layer hands over: H(dv+2)p, H(dv+1)p or 2Hdp bits", .fallback = "online",                 \
        .choices = rung_message_names                                                                                  \
    }

/* The words of --kernel, for completions. */
const char *tool_kernel_name_at(size_t index);

#endif
