/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Recipes: runs that learn their task, by name. docs/training.md states how many seeds each one takes to 0.99, and
 * `scripts/learn.sh recipes` measures it.
 */
#include "rung/train.h"

#include <string.h>

const char *const rung_recipe_names[] = {"none", "eva", "mqar", "two-sum", "compose", NULL};

static const rung_recipe recipes[] = {
    {.name = "eva",
     .learns = "one full layer looks up one of 64 values",
     .task = "eva N=64 V=64",
     .option = {"arch", "full", "queries", "64", "batch", "8", "few-values", "0.7", "rate", "0.004", "steps", "600",
                "stop-at", "0.995"}},
    {.name = "mqar",
     .learns = "two layers of the delta rule recall four pairs among 64 tokens",
     .task = "mqar T=64 vocab=256",
     .option = {"arch", "2*delta:conv=4:unit=1", "dk", "32", "dv", "32", "batch", "64", "rate", "0.003", "steps",
                "2500", "stop-at", "0.99"}},
    {.name = "two-sum",
     .learns = "four full heads say whether a number has a partner among 64",
     .task = "two-sum N=64 M=128",
     .option = {"arch",  "full", "heads",      "4",   "dk",   "16",    "dv",    "4",    "queries", "64",
                "batch", "8",    "few-values", "0.7", "rate", "0.004", "steps", "3000", "stop-at", "0.99"}},
    {.name = "compose",
     .learns = "two full layers behind a window of two tokens compose two functions at 146 tokens",
     .task = "seqcomp L=2 N0=16 n=8 V=16",
     .option = {"arch",
                "window:W=2:dk=1:dv=8,2*full",
                "dk",
                "32",
                "dv",
                "8",
                "norm",
                "layer",
                "mlp",
                "gelu,none,none",
                "d-mlp",
                "128",
                "queries",
                "64",
                "batch",
                "8",
                "layer-targets",
                "4",
                "few-values",
                "0.7",
                "mix-w",
                "0.23",
                "mix-argument",
                "0.23",
                "position-base",
                "16",
                "rate",
                "0.003",
                "steps",
                "1500",
                "stop-at",
                "0.995"}},
};

const rung_recipe *rung_recipe_at(size_t index)
{
    return index < RUNG_COUNT(recipes) ? &recipes[index] : NULL;
}

const rung_recipe *rung_recipe_get(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(recipes); i++)
        if (strcmp(recipes[i].name, name) == 0) return &recipes[i];
    return NULL;
}

void rung_recipe_words(rung_buf *out, const rung_recipe *recipe)
{
    rung_buf_printf(out, "--task %s", recipe->task);
    for (size_t i = 0; recipe->option[i]; i += 2) {
        const char *value = recipe->option[i + 1], *quote = strpbrk(value, "*(;|") ? "'" : "";
        rung_buf_printf(out, " --%s %s%s%s", recipe->option[i], quote, value, quote);
    }
}
