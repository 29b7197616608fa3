/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ledgers: opening by content, names, notes, totals; nothing here knows a format.
 */
#include "reader.h"
#include "state.h"

#define CONFIG_MOST (4 << 20) /* bytes of a config.json */

void cfg_ledger_note(rung_ledger *ledger, const char *text, rung_error *err)
{
    for (size_t i = 0; i < ledger->note_count; i++)
        if (strcmp(ledger->note[i], text) == 0) return;
    char **notes = rung_arena_alloc(&ledger->arena, ledger->note_count + 1, sizeof *notes, err);
    char *copy = rung_arena_strdup(&ledger->arena, text, err);
    if (!notes || !copy) return; /* a note is no reason to fail */
    for (size_t i = 0; i < ledger->note_count; i++) notes[i] = ledger->note[i];
    notes[ledger->note_count++] = copy;
    ledger->note = notes;
}

void cfg_held_name(rung_held *held, const char *part)
{
    size_t used = strlen(held->mechanism);
    snprintf(held->mechanism + used, sizeof held->mechanism - used, "%s%s", used ? "+" : "", part);
}

void cfg_held_kinds(rung_held *held, unsigned kinds)
{
    held->full = kinds & KIND_FULL;
    held->recurrent = kinds & KIND_RECURRENT;
    held->window = kinds & KIND_WINDOW;
    held->chunk = kinds & KIND_CHUNK;
    held->sparse = kinds & KIND_SPARSE;
    held->mlp = kinds & KIND_MLP;
}

static bool overflows(const rung_held *held)
{
    uint64_t of_heads = cfg_times(held->heads, cfg_plus(held->value_dim, 2));
    return held->state_elements == UINT64_MAX || held->conv_elements == UINT64_MAX ||
           held->window_elements == UINT64_MAX || held->kv_per_token == UINT64_MAX ||
           held->extra_elements == UINT64_MAX || held->summary_elements == UINT64_MAX ||
           held->index_elements == UINT64_MAX || of_heads == UINT64_MAX;
}

rung_status cfg_ledger_finish(rung_ledger *ledger, const char *file, rung_error *err)
{
    for (size_t i = 0; i < ledger->layer_count; i++)
        if (overflows(&ledger->layer[i]))
            return rung_fail(err, RUNG_INPUT, "%s: the sizes of layer %zu overflow; this is no real model", SHOW(file),
                             i);
    return RUNG_OK;
}

rung_status rung_ledger_open_bytes(rung_ledger *ledger, const void *bytes, size_t size, const char *name,
                                   rung_error *err)
{
    rung_gguf *gguf = NULL;
    rung_json_doc *doc = NULL;
    rung_status status;
    *ledger = (rung_ledger){0};
    rung_arena_init(&ledger->arena);
    ledger->name = rung_arena_strdup(&ledger->arena, name, err);
    if (!ledger->name)
        status = RUNG_SYSTEM;
    else if (rung_gguf_magic(bytes, size))
        status = rung_gguf_open_bytes(&gguf, bytes, size, name, err);
    else if (size > CONFIG_MOST) /* a tree of JSON takes fifty times the memory of its text */
        status = rung_fail(err, RUNG_INPUT, "%s has %zu bytes, and no configuration of a model has more than %d", name,
                           size, CONFIG_MOST);
    else
        status = rung_json_parse_python(&doc, bytes, size, name, err);
    if (!status)
        status = gguf ? cfg_ledger_from_gguf(ledger, gguf, name, err) : cfg_ledger_from_json(ledger, doc, name, err);
    if (!status) status = cfg_ledger_finish(ledger, name, err);
    rung_gguf_close(gguf);
    rung_json_free(doc);
    if (status) rung_ledger_clear(ledger);
    return status;
}

rung_status rung_ledger_open(rung_ledger *ledger, const char *path, rung_error *err)
{
    rung_file_map map;
    *ledger = (rung_ledger){0};
    rung_status status = rung_file_open_map(&map, path, err);
    if (status) return status;
    status = rung_ledger_open_bytes(ledger, map.bytes, map.size, path, err);
    rung_file_close_map(&map);
    return status;
}

void rung_ledger_clear(rung_ledger *ledger)
{
    rung_arena_clear(&ledger->arena);
    *ledger = (rung_ledger){0};
}

rung_ledger_sum rung_ledger_total(const rung_ledger *ledger)
{
    rung_ledger_sum sum = {.total = ledger->layer_count};
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_held *held = &ledger->layer[i];
        sum.full += held->full;
        sum.recurrent += held->recurrent;
        sum.window += held->window;
        sum.chunk += held->chunk;
        sum.sparse += held->sparse;
        sum.mlp += held->mlp;
        sum.both += held->recurrent && (held->full || held->window || held->sparse || held->chunk);
        sum.state_elements = cfg_plus(sum.state_elements, held->state_elements);
        sum.conv_elements = cfg_plus(sum.conv_elements, held->conv_elements);
        sum.extra_elements = cfg_plus(sum.extra_elements, held->extra_elements);
        sum.window_elements = cfg_plus(sum.window_elements, held->window_elements);
        if (held->kv_per_token > sum.kv_elements_per_token) sum.kv_elements_per_token = held->kv_per_token;
    }
    return sum;
}
