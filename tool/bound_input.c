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

static rung_status read_numbers(rung_claim_spec *about, const tool_ledger_options *w, rung_error *err)
{
    rung_numbers numbers;
    if (w->bits || w->accumulator_bits || w->state_bits || w->cache_bits)
        return rung_fail(err, RUNG_USAGE, "--numbers says all bits; leave --bits and its like out, or --numbers");
    RUNG_TRY(rung_numbers_parse(&numbers, w->numbers, err));
    rung_claim_spec_set_numbers(about, &numbers);
    return RUNG_OK;
}

rung_status tool_read_bits(rung_claim_spec *about, const tool_ledger_options *w, rung_error *err)
{
    about->message = (rung_message)w->message;
    if (w->numbers) return read_numbers(about, w, err);
    about->accumulator_bits = (int)(w->accumulator_bits ? w->accumulator_bits : w->bits);
    about->state_bits = (int)(w->state_bits ? w->state_bits : w->bits);
    about->cache_bits = (int)(w->cache_bits ? w->cache_bits : w->bits);
    return RUNG_OK;
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

/* Opens one more input, or leaves it out. */
static rung_status open_next(tool_bound_inputs *inputs, size_t index, const tool_call *call,
                             const tool_ledger_options *options, const rung_claim_spec *about, rung_error *err)
{
    tool_bound_input *input = &inputs->at[inputs->count];
    rung_status status = tool_bound_input_open(input, call->argument[index], options, about, err);
    if (status == RUNG_OK) {
        inputs->count++;
        return RUNG_OK;
    }
    tool_bound_input_clear(input);
    bool last_hope = inputs->count == 0 && index + 1 == call->arguments;
    if (status != RUNG_INPUT || last_hope) return status;
    fprintf(stderr, "rung %s: %s\n", call->command->name, err->text);
    inputs->refused++;
    return RUNG_OK;
}

rung_status tool_bound_inputs_open(tool_bound_inputs *inputs, const tool_call *call, const tool_ledger_options *options,
                                   const rung_claim_spec *about, rung_error *err)
{
    *inputs = (tool_bound_inputs){.at = rung_calloc(call->arguments + 1, sizeof *inputs->at, err)};
    rung_status status = inputs->at ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < call->arguments; i++)
        status = open_next(inputs, i, call, options, about, err);
    if (status != RUNG_OK) tool_bound_inputs_close(inputs, (int)status, err);
    return status;
}

int tool_bound_inputs_close(tool_bound_inputs *inputs, int code, rung_error *err)
{
    for (size_t i = 0; i < inputs->count; i++) tool_bound_input_clear(&inputs->at[i]);
    free(inputs->at);
    if (!inputs->refused || (code != RUNG_OK && code != RUNG_NEGATIVE)) return code;
    return (int)rung_fail(err, RUNG_INPUT, "%zu of %zu inputs cannot be read, see above; the others are shown",
                          inputs->refused, inputs->refused + inputs->count);
}

const char *tool_kernel_name_at(size_t index)
{
    static const char *const words[] = {"online", "two-pass", "eager", "split:256", "tiles:64", "reverse", "fast"};
    return index < RUNG_COUNT(words) ? words[index] : NULL;
}
