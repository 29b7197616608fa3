/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Questions; see bound_ask.h.
 */
#include "bound_ask.h"

rung_question rung_bound_question(const rung_bound_ask *ask, const rung_bound_input *input)
{
    return (rung_question){.ledger = &input->ledger,
                           .task = ask->task,
                           .n = ask->n,
                           .bits = input->bits,
                           .message = (rung_message)ask->words->message,
                           .softmax = ask->softmax,
                           .tokens_after = ask->tokens_after,
                           .thresholds = ask->thresholds};
}
