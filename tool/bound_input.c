/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ledgers from words of the command line; see bound_input.h.
 */
#include "bound_input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ARCH_BITS = 32 };

/* ---- files ---------------------------------------------------------------------------------------------------------------- */

/* Eight bytes of header length, of which the highest is 0, then the header; text has no zeros. */
static rung_status is_safetensors(bool *is, const char *path, rung_error *err)
{
    rung_file_map map;
    rung_status status = rung_file_open_map(&map, path, err);
    if (status != RUNG_OK) return status;
    *is = map.size > 8 && map.bytes[7] == 0 && map.bytes[8] == '{' && memcmp(map.bytes, "GGUF", 4) != 0;
    rung_file_close_map(&map);
    return RUNG_OK;
}

static rung_status open_model(rung_ledger *ledger, const char *path, rung_error *err)
{
    rung_model *model;
    rung_status status = rung_model_open(&model, path, err);
    if (status != RUNG_OK) return status;
    status = rung_ledger_of_model(ledger, model, path, err);
    rung_model_close(model);
    return status;
}

static rung_status open_file(rung_ledger *ledger, const char *path, rung_error *err)
{
    bool ours;
    rung_status status = is_safetensors(&ours, path, err);
    if (status != RUNG_OK) return status;
    return ours ? open_model(ledger, path, err) : rung_ledger_open(ledger, path, err);
}

/* ---- arch text ------------------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), tail = strlen(end);
    return len >= tail && strcmp(text + len - tail, end) == 0;
}

/* No arch has a slash or ends like this. */
static bool looks_like_file(const char *text)
{
    return strchr(text, '/') || ends_with(text, ".json") || ends_with(text, ".gguf") || ends_with(text, ".safetensors");
}

rung_arch_defaults rung_bound_input_defaults(const rung_ledger_words *words, size_t head_dim)
{
    int64_t d = head_dim ? (int64_t)head_dim : words->head_dim;
    return (rung_arch_defaults){.heads = (size_t)words->heads,
                                .dk = (size_t)(words->dk && !head_dim ? words->dk : d),
                                .dv = (size_t)(words->dv && !head_dim ? words->dv : d),
                                .causal = true};
}

static rung_status open_arch(rung_ledger *ledger, const char *text, const rung_ledger_words *words, rung_error *err)
{
    if (looks_like_file(text)) return rung_fail(err, RUNG_INPUT, "%s: there is no such file", text);
    rung_arch_defaults defaults = rung_bound_input_defaults(words, 0);
    rung_status status = rung_ledger_of_arch(ledger, text, &defaults, err);
    return status == RUNG_USAGE ? rung_fail_at(err, status, "no file has this name, so it is read as layers") : status;
}

/* ---- inputs --------------------------------------------------------------------------------------------------------------- */

static void choose_bits(rung_bound_input *input, const rung_ledger_words *words)
{
    const rung_ledger *ledger = &input->ledger;
    if (words->bits)
        input->bits = (int)words->bits, input->bits_from = "--bits";
    else if (ledger->state_bits)
        input->bits = ledger->state_bits, input->bits_from = "the states of the file; servers choose it: --bits";
    else if (ledger->number_bits)
        input->bits = ledger->number_bits, input->bits_from = "the dtype of the file; servers choose it: --bits";
    else
        input->bits = ARCH_BITS, input->bits_from = "nothing says; choose it: --bits";
}

rung_status rung_bound_input_open(rung_bound_input *input, const char *text, const rung_ledger_words *words,
                                  rung_error *err)
{
    struct stat there;
    rung_status status;
    *input = (rung_bound_input){.text = text};
    input->is_arch = stat(text, &there) != 0;
    if (input->is_arch)
        status = open_arch(&input->ledger, text, words, err);
    else
        status =
            S_ISDIR(there.st_mode) ? rung_ledger_open(&input->ledger, text, err) : open_file(&input->ledger, text, err);
    if (status == RUNG_OK) choose_bits(input, words);
    return status;
}

void rung_bound_input_clear(rung_bound_input *input)
{
    rung_ledger_clear(&input->ledger);
}

rung_status rung_bound_inputs_open(rung_bound_input **inputs, const rung_call *call, const rung_ledger_words *words,
                                   rung_error *err)
{
    size_t opened = 0;
    rung_bound_input *all = rung_calloc(call->arguments + 1, sizeof *all, err);
    rung_status status = all ? RUNG_OK : RUNG_SYSTEM;
    while (status == RUNG_OK && opened < call->arguments) {
        status = rung_bound_input_open(&all[opened], call->argument[opened], words, err);
        if (status == RUNG_OK) opened++;
    }
    if (status != RUNG_OK) rung_bound_inputs_close(all, opened);
    *inputs = status == RUNG_OK ? all : NULL;
    return status;
}

void rung_bound_inputs_close(rung_bound_input *inputs, size_t count)
{
    for (size_t i = 0; inputs && i < count; i++) rung_bound_input_clear(&inputs[i]);
    free(inputs);
}
