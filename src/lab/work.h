/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to lab: does one run, and handles the files of unfinished ones.
 */
#ifndef RUNG_LAB_WORK_H
#define RUNG_LAB_WORK_H

#include "store.h"
#include "sweep_spec.h"

/* Makes the directory beside the store if it is missing. */
rung_status lab_work_directory(rung_buf *out, const char *store, rung_error *err);
/* Removes the files of runs that are in the store, and the directory if it is empty. */
void lab_work_clean(rung_store *store);

/* Called after every step of a run; return false to stop it. */
typedef bool lab_step(void *context, const rung_train_spec *conf, const rung_train_state *state);

/* Claims, trains and records a run. `state` is its final state. */
rung_status lab_do_run(rung_lab_did *did, rung_train_state *state, rung_store *store, const rung_sweep *sweep,
                       size_t index, size_t threads, lab_step *step, void *context, rung_error *err);

#endif
