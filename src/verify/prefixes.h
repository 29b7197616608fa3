/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to verify: prompts that begin alike continue from a saved session.
 */
#ifndef RUNG_VERIFY_PREFIXES_H
#define RUNG_VERIFY_PREFIXES_H

#include "rung/verify.h"

/* For a judge that runs the prompts of rung_task_unrank in their order. NULL in *out: nothing can be shared. The judge
 * must outlive the result. */
rung_status prefixes_new(rung_prefixes **out, rung_judge *judge, rung_error *err);
void prefixes_free(rung_prefixes *p);
/* Brings the judge's session, whatever it holds, to the state after the first *tokens tokens of its prompt. They end
 * before the first question. */
void prefixes_continue(size_t *tokens, rung_prefixes *p);

#endif
