/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What rung-mpi.so offers to the command, which opens it when it was started by mpirun. So that neither the command
 * nor the library is linked with MPI.
 */
#ifndef RUNG_TOOL_MPI_ENTRY_H
#define RUNG_TOOL_MPI_ENTRY_H

#include "rung/par.h"

#define RUNG_MPI_SYMBOL "rung_mpi_entry"

typedef struct rung_mpi {
    const char *version; /* RUNG_VERSION: must be that of the command */
    /* Starts MPI. NULL and a message if the processes that MPI sees are not `size`. */
    const rung_team *(*join)(size_t size, rung_error *err);
    /* Ends it when all ranks have come here, and returns true. When some have not within `patience_s` (below 0: never
     * mind how long it takes), returns false; then only abort is left. */
    bool (*leave)(double patience_s);
    void (*abort)(int code); /* ends all ranks */
} rung_mpi;

extern const rung_mpi rung_mpi_entry;

#endif
