/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Chain of thought: the model reads its own thought tokens until it answers.
 */
#include "walk.h"

rung_status rung_session_run_thoughts(rung_session *s, double *out, size_t *thoughts, const rung_prompt *prompt,
                                      rung_form form, rung_error *err)
{
    const rung_model_spec *spec = &s->program->model->spec;
    size_t last = prompt->tokens - 1, first_thought = spec->answers - spec->thoughts;
    *thoughts = 0;
    if (!prompt->token || !spec->causal)
        return rung_fail(err, RUNG_USAGE, "a chain of thought needs a causal model over tokens");
    rung_status status = rung_session_run(s, out, prompt, form, &last, 1, err);
    while (status == RUNG_OK && s->tokens < s->max_tokens) {
        size_t row = rung_argmax(out, spec->answers);
        if (row < first_thought) break;
        uint32_t word = (uint32_t)(spec->vocab - spec->thoughts + (row - first_thought));
        const size_t here = 0;
        status = rung_session_run(s, out, &(rung_prompt){.token = &word, .tokens = 1}, form, &here, 1, err);
        ++*thoughts;
    }
    return status;
}
