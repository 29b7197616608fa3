/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The other ranks of an MPI job. The command is not linked with MPI: rung-mpi.so (mpi/rung-mpi.c) is, and is opened
 * when mpirun has started us.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "mpi_entry.h"

/* How long a rank that has failed waits for the others to fail with it. */
#define PATIENCE_S 10.0

static const rung_mpi *mpi;
static const rung_team *joined;
static size_t early_rank; /* as the environment says, while nobody has joined */

/* Beside the command, or where `make install` puts it. */
static bool find_library(char *out, size_t size)
{
    static const char *const places[] = {"rung-mpi.so", "../lib/rung/rung-mpi.so"};
    for (size_t i = 0; i < RUNG_COUNT(places); i++)
        if (rung_beside_program(out, size, places[i]) && access(out, R_OK) == 0) return true;
    return false;
}

bool tool_team_possible(void)
{
    char path[4096];
    return find_library(path, sizeof path);
}

static rung_status open_library(rung_error *err)
{
    char path[4096];
    if (!find_library(path, sizeof path)) return rung_fail(err, RUNG_SYSTEM, "rung-mpi.so has gone away");
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* global: MPI loads parts of its own that refer to it */
    if (!library)
        return rung_fail(err, RUNG_SYSTEM, "%s; is the MPI that it was built with still installed?", dlerror());
    mpi = dlsym(library, RUNG_MPI_SYMBOL);
    if (!mpi || strcmp(mpi->version, RUNG_VERSION) != 0) {
        mpi = NULL;
        return rung_fail(err, RUNG_SYSTEM, "%s is not of this version, %s; run 'make mpi' again", path, RUNG_VERSION);
    }
    return RUNG_OK;
}

void tool_team_find(rung_doctor_row *out)
{
    rung_error err = {""};
    *out = (rung_doctor_row){.group = "beside", .name = "rung-mpi.so", .gives = "sweeps and training by mpirun"};
    if (!tool_team_possible()) {
        out->health = RUNG_HEALTH_ABSENT;
        snprintf(out->remedy, sizeof out->remedy, "make mpi");
    } else if (!mpi && open_library(&err) != RUNG_OK) {
        out->health = RUNG_HEALTH_BROKEN;
        snprintf(out->remedy, sizeof out->remedy, "%s", err.text);
    } else {
        out->health = RUNG_HEALTH_FOUND;
        snprintf(out->detail, sizeof out->detail, "%s", mpi->version);
    }
}

rung_status tool_team_join(const rung_team **team, const tool_cluster *found, rung_error *err)
{
    *team = NULL;
    if (found->ranks < 2) return RUNG_OK;
    RUNG_TRY(open_library(err));
    joined = mpi->join(found->ranks, err);
    *team = joined;
    return joined ? RUNG_OK : RUNG_SYSTEM;
}

void tool_team_expect(const tool_cluster *found)
{
    early_rank = found->ranks > 1 ? found->rank : 0;
}

size_t tool_team_rank(void)
{
    return joined ? joined->rank : early_rank;
}

int tool_team_leave(int code, const char *message)
{
    if (!joined && early_rank && *message && code != RUNG_USAGE)
        fprintf(stderr, "rung: rank %zu: %s\n", early_rank, message); /* wrong words are the same for all */
    if (!joined) return code;
    bool failed = code > RUNG_NEGATIVE && code < 128; /* those of signals have been agreed upon */
    if (mpi->leave(failed ? PATIENCE_S : -1)) return joined->rank ? 0 : code;
    if (joined->rank && *message) fprintf(stderr, "rung: rank %zu: %s\n", joined->rank, message);
    mpi->abort(code);
    return code;
}
