/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ledgers: opening by content, names, notes, totals; nothing here knows a format.
 */
#include "reader.h"
#include "state_sizes.h"

void cfg_ledger_note(rung_ledger *ledger, const char *text, rung_error *err)
{
    for (size_t i = 0; i < ledger->note_count; i++)
        if (strcmp(ledger->note[i], text) == 0) return;
    char **notes = rung_arena_alloc(&ledger->arena, ledger->note_count + 1, sizeof *notes, err);
    char *copy = rung_arena_strdup(&ledger->arena, text, err);
    if (!notes || !copy) return; /* a missing note is not a failure */
    for (size_t i = 0; i < ledger->note_count; i++) notes[i] = ledger->note[i];
    notes[ledger->note_count++] = copy;
    ledger->note = notes;
}

void cfg_ledger_know(rung_ledger *ledger, rung_ledger_fact fact, rung_fact is, const char *format, ...)
{
    va_list args;
    char text[320];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *why = rung_arena_strdup(&ledger->arena, text, NULL);
    ledger->known[fact] = why ? (rung_known){is, why} : (rung_known){RUNG_NOT_ESTABLISHED, "out of memory"};
}

rung_status cfg_ledger_repeat(rung_ledger *ledger, size_t passes, const char *file, rung_error *err)
{
    size_t once = ledger->layer_count;
    if (passes <= 1) return RUNG_OK;
    if (passes > LAYERS_MAX || once * passes > LAYERS_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: %zu layers in %zu passes, and at most %d are read", SHOW(file), once,
                         passes, LAYERS_MAX);
    rung_ledger_layer *all = rung_arena_alloc(&ledger->arena, once * passes, sizeof *all, err);
    if (!all) return RUNG_SYSTEM;
    for (size_t i = 0; i < once * passes; i++) all[i] = ledger->layer[i % once];
    ledger->layer = all;
    ledger->layer_count = once * passes;
    return RUNG_OK;
}

void cfg_layer_name(rung_ledger_layer *held, const char *part)
{
    size_t used = strlen(held->mechanism);
    snprintf(held->mechanism + used, sizeof held->mechanism - used, "%s%s", used ? "+" : "", part);
}

void cfg_layer_kinds(rung_ledger_layer *held, unsigned kinds)
{
    held->full = kinds & KIND_FULL;
    held->recurrent = kinds & KIND_RECURRENT;
    held->window = kinds & KIND_WINDOW;
    held->chunk = kinds & KIND_CHUNK;
    held->sparse = kinds & KIND_SPARSE;
    held->mlp = kinds & KIND_MLP;
}

static bool overflows(const rung_ledger_layer *held)
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
    else if ((status = cfg_refuse_other_bytes(bytes, size, name, err)) == RUNG_OK)
        status = rung_json_parse_python(&doc, bytes, size, name, err);
    if (!status)
        status = gguf ? cfg_ledger_from_gguf(ledger, gguf, name, err) : cfg_ledger_from_json(ledger, doc, name, err);
    RUNG_NEXT(status, cfg_ledger_finish(ledger, name, err));
    rung_gguf_close(gguf);
    rung_json_free(doc);
    if (status) rung_ledger_clear(ledger);
    return status;
}

static rung_status open_file(rung_ledger *ledger, const char *path, rung_error *err)
{
    rung_file_map map;
    RUNG_TRY(rung_file_open_map(&map, path, err));
    rung_status status = rung_ledger_open_bytes(ledger, map.bytes, map.size, path, err);
    rung_file_close_map(&map);
    return status;
}

rung_status rung_ledger_open(rung_ledger *ledger, const char *path, rung_error *err)
{
    *ledger = (rung_ledger){0};
    if (!cfg_is_directory(path)) return open_file(ledger, path, err);
    rung_buf inside;
    rung_buf_init(&inside);
    rung_status status = cfg_find_in_directory(&inside, path, err);
    RUNG_NEXT(status, open_file(ledger, inside.text, err));
    rung_buf_clear(&inside);
    return status;
}

void rung_ledger_clear(rung_ledger *ledger)
{
    rung_arena_clear(&ledger->arena);
    *ledger = (rung_ledger){0};
}

static rung_ledger_elements elements_of(const rung_ledger_layer *held)
{
    return (rung_ledger_elements){.state_elements = held->state_elements,
                                  .conv_elements = held->conv_elements,
                                  .extra_elements = held->extra_elements,
                                  .window_elements = held->window_elements,
                                  .kv_per_token = held->kv_per_token,
                                  .index_per_token = held->index_elements};
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void join(rung_ledger_elements *all, rung_ledger_elements one, uint64_t (*with)(uint64_t, uint64_t))
{
    all->state_elements = with(all->state_elements, one.state_elements);
    all->conv_elements = with(all->conv_elements, one.conv_elements);
    all->extra_elements = with(all->extra_elements, one.extra_elements);
    all->window_elements = with(all->window_elements, one.window_elements);
    all->kv_per_token = with(all->kv_per_token, one.kv_per_token);
    all->index_per_token = with(all->index_per_token, one.index_per_token);
}

rung_ledger_sum rung_ledger_total(const rung_ledger *ledger)
{
    rung_ledger_sum sum = {.total = ledger->layer_count};
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_ledger_layer *held = &ledger->layer[i];
        sum.full += held->full;
        sum.recurrent += held->recurrent;
        sum.window += held->window;
        sum.chunk += held->chunk;
        sum.sparse += held->sparse;
        sum.mlp += held->mlp;
        sum.both += held->recurrent && (held->full || held->window || held->sparse || held->chunk);
        join(&sum.all, elements_of(held), cfg_plus);
        join(&sum.largest, elements_of(held), larger);
    }
    return sum;
}

bool rung_ledger_layer_same(const rung_ledger_layer *a, const rung_ledger_layer *b)
{
    return strcmp(a->mechanism, b->mechanism) == 0 && a->full == b->full && a->recurrent == b->recurrent &&
           a->window == b->window && a->chunk == b->chunk && a->sparse == b->sparse && a->mlp == b->mlp &&
           a->state_elements == b->state_elements && a->conv_elements == b->conv_elements &&
           a->extra_elements == b->extra_elements && a->window_elements == b->window_elements &&
           a->kv_per_token == b->kv_per_token && a->levels == b->levels && a->heads == b->heads &&
           a->value_dim == b->value_dim && a->key_dim == b->key_dim && a->window_size == b->window_size &&
           a->block == b->block && a->top == b->top && a->index_elements == b->index_elements &&
           a->summary_elements == b->summary_elements && a->state_heads == b->state_heads &&
           a->state_key_dim == b->state_key_dim && a->state_value_dim == b->state_value_dim &&
           a->state_row == b->state_row && a->state_units == b->state_units;
}
