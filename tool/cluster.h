/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the environment says about other processes: mpirun and Slurm (cluster.c), and working with them (team.c).
 */
#ifndef RUNG_TOOL_CLUSTER_H
#define RUNG_TOOL_CLUSTER_H

#include "output.h"
#include "rung/doctor.h"
#include "rung/par.h"

/* What was found; zero if nothing. */
typedef struct tool_cluster {
    bool alone;                /* nothing is looked for */
    size_t rank, ranks, local; /* of an MPI job, and how many of its ranks are on this host; ranks 0: none */
    size_t task, tasks;        /* of a step of Slurm without MPI; tasks 0: none */
    size_t shard, shards;      /* of job array and tasks together; shards 0: none */
    size_t cpus;               /* for this process, from Slurm; 0: not said */
    char ranks_from[64], shard_from[64], cpus_from[64]; /* where it comes from, for people */
} tool_cluster;

/* Ranks, tasks and cpus. RUNG_SYSTEM, with what to install, when there are ranks and no MPI. */
rung_status tool_cluster_look(tool_cluster *found, bool alone, rung_error *err);
/* After that: the shard. RUNG_USAGE when the array has no order. */
rung_status tool_cluster_shard(tool_cluster *found, rung_error *err);
/* Threads that a process should have by itself: those that Slurm says, or a share of the cores. */
size_t tool_cluster_threads(const tool_cluster *found);

/* Whether rung-mpi.so is where it can be found. */
bool tool_team_possible(void);
/* What it is, for rung doctor. */
void tool_team_find(rung_doctor_row *out);
/* Joins the other ranks; NULL when there are none. */
rung_status tool_team_join(const rung_team **team, const tool_cluster *found, rung_error *err);
/* Who is told by what tool_cluster_look has found, so that a mistake is told once also before joining. */
void tool_team_expect(const tool_cluster *found);
/* The rank, or 0. */
size_t tool_team_rank(void);
/* The end of the process in a team: waits for the others, and returns the exit code, which rank 0 alone may have.
 * When they do not come after a failure, their end too. `message` is told then if this is not rank 0. Without a
 * team: the code. */
int tool_team_leave(int code, const char *message);

#endif
