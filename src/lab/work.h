/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Doing one run, and the files of those that are unfinished.
 */
#ifndef RUNG_LAB_WORK_H
#define RUNG_LAB_WORK_H

#include "spec.h"
#include "store.h"

/* The directory beside the store, made if need be. */
rung_status lab_work_directory(rung_buf *out, const char *store, rung_error *err);
/* Removes what belongs to runs that are in the store, and the directory if it is empty. */
void lab_work_clean(rung_store *store);

/* Called after every step of a run; false stops it. */
typedef bool lab_step(void *context, const rung_train_conf *conf, const rung_train_state *state);

/* Claims, trains, records. `state` is that of the end. */
rung_status lab_do_run(rung_lab_did *did, rung_train_state *state, rung_store *store, const rung_sweep *sweep,
                       size_t index, size_t threads, lab_step *step, void *context, rung_error *err);

#endif
