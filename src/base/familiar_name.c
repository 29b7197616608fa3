/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Words that people bring from other programs, and ours for the same thing. Letter case, '-' and '_' do not count.
 * A word may have several of ours: the first that is among the candidates is meant.
 */
#include "familiar_name.h"
#include "rung/base.h"

#include <string.h>

typedef struct pair {
    const char *theirs, *ours;
} pair;

static const pair PAIRS[] = {
    /* options */
    {"lr", "rate"},
    {"learningrate", "rate"},
    {"batchsize", "batch"},
    {"bs", "batch"},
    {"epochs", "steps"},
    {"iters", "steps"},
    {"iterations", "steps"},
    {"maxsteps", "steps"},
    {"numsteps", "steps"},
    {"layers", "arch"},
    {"model", "arch"},
    {"architecture", "arch"},
    {"hiddensize", "d-model"},
    {"hiddendim", "d-model"},
    {"embeddim", "d-model"},
    {"width", "d-model"},
    {"intermediatesize", "d-mlp"},
    {"numheads", "heads"},
    {"nheads", "heads"},
    {"headsize", "head-dim"},
    {"dhead", "head-dim"},
    {"dtype", "numbers"},
    {"precision", "numbers"},
    {"format", "numbers"},
    {"output", "out"},
    {"logdir", "tensorboard"},
    {"numsamples", "samples"},
    {"count", "samples"},
    {"samples", "count"},
    {"context", "n"},
    {"seqlen", "n"},
    {"sequencelength", "n"},
    {"length", "n"},
    {"plot", "svg"},
    {"workers", "threads"},
    {"numworkers", "threads"},
    {"jobs", "threads"},
    /* mechanisms */
    {"attention", "full"},
    {"fullattention", "full"},
    {"selfattention", "full"},
    {"softmax", "full"},
    {"sdpa", "full"},
    {"mha", "full"},
    {"gqa", "full"},
    {"mqa", "full"},
    {"transformer", "full"},
    {"linearattention", "linear"},
    {"gateddeltanet", "gdelta"},
    {"gateddelta", "gdelta"},
    {"gdn", "gdelta"},
    {"deltanet", "delta"},
    {"kimi", "kda"},
    {"kimidelta", "kda"},
    {"kimideltaattention", "kda"},
    {"retention", "retnet"},
    {"gatedlinearattention", "gla"},
    {"mamba1", "mamba"},
    {"s6", "mamba"},
    {"ssd", "mamba2"},
    {"rwkv", "rwkv7"},
    {"swa", "window"},
    {"sliding", "window"},
    {"slidingwindow", "window"},
    {"slidingattention", "window"},
    {"local", "window"},
    {"localattention", "window"},
    {"nsa", "sparse"},
    {"moba", "sparse"},
    {"blocksparse", "sparse"},
    {"lightningindexer", "dsa"},
    {"lstm", "rnn"},
    /* numbers */
    {"fp64", "f64"},
    {"float64", "f64"},
    {"double", "f64"},
    {"fp32", "f32"},
    {"float32", "f32"},
    {"float", "f32"},
    {"single", "f32"},
    {"bfloat16", "bf16"},
    {"fp16", "f16"},
    {"float16", "f16"},
    {"half", "f16"},
    {"fp8", "e4m3"},
    {"float8", "e4m3"},
    {"fp8e4m3", "e4m3"},
    {"float8e4m3", "e4m3"},
    {"fp8e5m2", "e5m2"},
    {"float8e5m2", "e5m2"},
    /* tasks */
    {"recall", "mqar"},
    {"associativerecall", "assoc-recall"},
    {"copy", "selective-copy"},
    {"composition", "seqcomp"},
    {"compose", "seqcomp"},
    {"2sum", "two-sum"},
    {"3sum", "three-sum"},
    {"lookup", "eva"},
    /* commands */
    {"generate", "task"},
    {"fit", "train"},
    {"eval", "verify"},
    {"evaluate", "verify"},
    {"test", "verify"},
    {"attack", "break"},
    {"proof", "bound"},
    {"prove", "bound"},
    {"theorem", "bound"},
};

static bool same_word(const char *word, const char *plain)
{
    for (; *word; word++) {
        if (*word == '-' || *word == '_') continue;
        char c = *word >= 'A' && *word <= 'Z' ? (char)(*word - 'A' + 'a') : *word;
        if (c != *plain++) return false;
    }
    return *plain == '\0';
}

static const char *among(const char *name, const char *const *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(candidates[i], name) == 0) return candidates[i];
    return NULL;
}

const char *rung_familiar_name(const char *name, const char *const *candidates, size_t count)
{
    const char *meant = NULL;
    for (size_t i = 0; i < RUNG_COUNT(PAIRS) && !meant; i++)
        if (same_word(name, PAIRS[i].theirs)) meant = among(PAIRS[i].ours, candidates, count);
    return meant;
}
