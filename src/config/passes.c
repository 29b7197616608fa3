/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Layers that run more than once for each token. Where the published code is known, a ledger has an entry for each run:
 * every pass has its own caches.
 */
#include "reader.h"
#include "state_sizes.h"

/* Ouro: all layers run total_ut_steps times, each pass with its own keys and values. */
static void repeat_ouro(cfg_reader *r)
{
    size_t passes = (size_t)cfg_size_or(r, "total_ut_steps", 1);
    if (passes == 0) cfg_fail(r, "'total_ut_steps' must be at least 1");
    if (!r->status) r->status = cfg_ledger_repeat(r->ledger, passes, r->name, r->err);
}

/* IQuest-Loop: a later pass attends to the keys of the first one, and also to its own window. */
static void repeat_iquest(cfg_reader *r)
{
    size_t once = r->ledger->layer_count, passes = (size_t)cfg_size_or(r, "loop_num", 1);
    uint64_t window = passes > 1 ? cfg_need_size(r, "loop_window_size", "window of the later passes") : 0;
    if (passes == 0) cfg_fail(r, "'loop_num' must be at least 1");
    if (passes > 1 && window == 0) cfg_fail(r, "'loop_window_size' must be at least 1");
    if (r->status) return;
    r->status = cfg_ledger_repeat(r->ledger, passes, r->name, r->err);
    for (size_t i = once; !r->status && i < r->ledger->layer_count; i++) {
        rung_ledger_layer *held = &r->ledger->layer[i];
        held->window_elements = cfg_times(window, held->kv_per_token);
        held->kv_per_token = 0;
        held->window_size = window;
        held->full = false, held->window = true;
        snprintf(held->mechanism, sizeof held->mechanism, "window");
    }
    if (passes > 1) cfg_doubt(r, "a later pass attends to the keys of the first one as well as to its own window");
    if (passes > 1) r->sharing = "the later passes read the keys and values of the first one";
}

static const struct {
    const char *type;
    void (*repeat)(cfg_reader *r);
} families[] = {{"ouro", repeat_ouro}, {"iquestloopcoder", repeat_iquest}};

void cfg_repeat_passes(cfg_reader *r)
{
    for (size_t i = 0; i < RUNG_COUNT(families); i++)
        if (strcmp(families[i].type, r->type) == 0) families[i].repeat(r);
}
