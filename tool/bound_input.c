/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Subjects from arguments of the command line; see bound_input.h.
 */
#include "bound_input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- arch text ------------------------------------------------------------------------------------------------- */

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

static rung_status open_arch(rung_subject **subject, const char *text, const tool_ledger_options *options,
                             rung_error *err)
{
    if (looks_like_file(text)) return rung_fail(err, RUNG_INPUT, "%s: there is no such file", text);
    const rung_arch_defaults defaults = {.heads = (size_t)options->heads,
                                         .dk = (size_t)(options->dk ? options->dk : options->head_dim),
                                         .dv = (size_t)(options->dv ? options->dv : options->head_dim),
                                         .causal = true};
    rung_status status = rung_subject_arch(subject, text, &defaults, err);
    return status == RUNG_USAGE ? rung_fail_at(err, status, "no file has this name, so it is read as layers") : status;
}

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

void tool_read_bits(rung_claim_spec *about, const tool_ledger_options *w)
{
    about->accumulator_bits = (int)(w->accumulator_bits ? w->accumulator_bits : w->bits);
    about->state_bits = (int)(w->state_bits ? w->state_bits : w->bits);
    about->cache_bits = (int)(w->cache_bits ? w->cache_bits : w->bits);
    about->message = (rung_message)w->message;
}

rung_status tool_bound_input_open(tool_bound_input *input, const char *text, const tool_ledger_options *options,
                                  const rung_claim_spec *about, rung_error *err)
{
    struct stat there;
    *input = (tool_bound_input){.text = text};
    input->is_arch = stat(text, &there) != 0;
    rung_status status =
        input->is_arch ? open_arch(&input->subject, text, options, err) : rung_subject_file(&input->subject, text, err);
    RUNG_TRY(status);
    return rung_claim_new(&input->claim, input->subject, about, err);
}

void tool_bound_input_clear(tool_bound_input *input)
{
    rung_claim_free(input->claim);
    rung_subject_free(input->subject);
}

rung_status tool_bound_inputs_open(tool_bound_input **inputs, const tool_call *call, const tool_ledger_options *options,
                                   const rung_claim_spec *about, rung_error *err)
{
    size_t opened = 0;
    tool_bound_input *all = rung_calloc(call->arguments + 1, sizeof *all, err);
    rung_status status = all ? RUNG_OK : RUNG_SYSTEM;
    while (status == RUNG_OK && opened < call->arguments) {
        status = tool_bound_input_open(&all[opened], call->argument[opened], options, about, err);
        opened++;
    }
    if (status != RUNG_OK) tool_bound_inputs_close(all, opened);
    *inputs = status == RUNG_OK ? all : NULL;
    return status;
}

void tool_bound_inputs_close(tool_bound_input *inputs, size_t count)
{
    for (size_t i = 0; inputs && i < count; i++) tool_bound_input_clear(&inputs[i]);
    free(inputs);
}

const char *tool_kernel_name_at(size_t index)
{
    static const char *const words[] = {"online", "two-pass", "eager", "split:256", "tiles:64", "reverse", "fast"};
    return index < RUNG_COUNT(words) ? words[index] : NULL;
}
