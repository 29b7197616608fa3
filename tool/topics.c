/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The topics of rung help, as tables.
 */
#include "topics.h"

#include <string.h>

static const tool_topic TOPICS[] = {
    {
        .name = "arch",
        .summary = "how layers are written",
        .examples =
            (const tool_example[]){
                {"rung bound 'full,4*linear'", "one full layer, then four linear ones"},
                {"rung bound '12*(3*gdelta,full)' --heads 16 --head-dim 128", "48 layers, every fourth is full"},
                {"rung bound 'full@2|mamba2@6'", "one layer: 2 full heads beside 6 recurrent ones"},
                {"rung bound 'window:W=128,full:dk=64:dv=64'", "keys of a mechanism, and sizes of its heads"},
                {"rung list mechanisms gdelta", "the keys of one mechanism"},
                {0},
            },
        .terms =
            (const tool_example[]){
                {"a,b", "layer a, then layer b"},
                {"3*a", "three layers a; 3*(a,b) repeats both"},
                {"a@h", "a layer with h heads of a; without @h it has the heads of --heads"},
                {"a@h|b@k", "h heads of a and k heads of b in one layer, on the same input"},
                {"a:key=value", "a key of the mechanism; also dk, dv (sizes of a head), conv (a short convolution "
                                "before it), gate, outgate, unit, qknorm, scale, kv, neg"},
                {"hybrid(L;a1,...,aL)", "L full layers, the k-th followed by ak linear ones"},
                {0},
            },
        .more = "Quote it: shells read * ( ) and |. 'rung list mechanisms' has all names; docs/mechanisms has a page "
                "for each.",
    },
    {
        .name = "numbers",
        .summary = "in which numbers a model is computed",
        .examples =
            (const tool_example[]){
                {"rung run m.safetensors --numbers bf16", "every stored number and every operation rounded to bf16"},
                {"rung verify m.safetensors --numbers e8m3", "floats with 8 exponent and 3 mantissa bits"},
                {"rung verify m.safetensors --numbers q3.12", "fixed point: 3 integer and 12 fraction bits"},
                {"rung precision lookup N=64 keys=sign", "the smallest format in which a construction is right"},
                {0},
            },
        .terms =
            (const tool_example[]){
                {"fp32", "the fast evaluator: kernels in fp32, sums in chunks. No theorem speaks of it"},
                {"f64, f32, bf16, f16", "the exact evaluator in these formats: one rounding per operation, sums from "
                                        "left to right, the same bits on every machine"},
                {"eXmY", "a float with X exponent bits (2 to 11) and Y mantissa bits (1 to 25), IEEE-like"},
                {"qI.F", "fixed point with I integer and F fraction bits, I+F from 1 to 52, saturating"},
                {"served:NAME", "mixed formats as servers have them: bf16, state32, fp8, int8"},
                {"f32,state=bf16", "a format or a set, then what differs: weights, act, acc, state, cache, gate, beta"},
                {"f32,state=int8/row", "with a scale: int8, int4, e4m3fn, e2m1fn for a row or a block; mxfp8, mxfp4"},
                {"chunk=64", "states are stored every 64 tokens, not after each"},
                {"round=stochastic,seed=7", "states rounded by chance, the same for the same seed"},
                {0},
            },
        .more = "fp32 and f32 are two evaluators. docs/numbers.md states every operation and its order.",
    },
    {
        .name = "tasks",
        .summary = "how problems and their sizes are written",
        .examples =
            (const tool_example[]){
                {"rung list tasks", "all of them"},
                {"rung task eva --help", "the parameters of one"},
                {"rung task seqcomp L=2 N0=4 n=3 --format text --count 1", "an instance, with its answer"},
                {"rung bound full --head-dim 2 --bits 8 --task seqcomp L=2 --n 500", "some size of up to 500 tokens"},
                {0},
            },
        .terms =
            (const tool_example[]){
                {"key=value", "a parameter of the task, without dashes; what is left out has a default"},
                {"--n N", "rung bound: the size is free, the prompt has at most N tokens"},
                {"--seed S", "which instances: the same seed gives the same prompts everywhere"},
                {0},
            },
        .more = "docs/tasks.md defines every task.",
    },
    {
        .name = "verdicts",
        .summary = "what CAN, CANNOT, SAMPLED and UNKNOWN mean",
        .examples =
            (const tool_example[]){
                {"rung bound linear --head-dim 2 --bits 8 --task eva N=64", "a verdict with its reason"},
                {"rung bound linear --head-dim 2 --bits 8 --task eva N=64 --expect CANNOT", "for scripts: exit code 1 "
                                                                                            "if it is another one"},
                {"rung bound linear --head-dim 2 --bits 8 --task eva N=64 --proof claim.v", "the same for Coq"},
                {0},
            },
        .terms =
            (const tool_example[]){
                {"CANNOT", "no weights of these layers answer every prompt: a theorem whose premises are established "
                           "and whose inequality holds at these numbers, or a certificate about one model"},
                {"CAN", "weights exist that are right on every prompt, by a proof or by running all of them"},
                {"SAMPLED", "weights were right on every prompt of a sample; this proves nothing about the others"},
                {"UNKNOWN", "none of these"},
                {0},
            },
        .more = "Each verdict names its arithmetic and the premises that it rests on: docs/theory.md.",
    },
};

size_t tool_topic_count(void)
{
    return RUNG_COUNT(TOPICS);
}

const tool_topic *tool_topic_at(size_t index)
{
    return &TOPICS[index];
}

const tool_topic *tool_topic_get(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(TOPICS); i++)
        if (strcmp(TOPICS[i].name, name) == 0) return &TOPICS[i];
    return NULL;
}
