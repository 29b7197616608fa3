/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What mpirun and Slurm have put into the environment. Open MPI: OMPI_COMM_WORLD_*; MPICH and srun --mpi=pmi2:
 * PMI_*; srun --mpi=pmix: PMIX_RANK. A step of Slurm is known by SLURM_STEP_NUM_TASKS, which only srun sets: in a
 * batch script there are SLURM_PROCID and SLURM_NTASKS too, but the script runs once. docs/cluster.md has it for
 * users.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

#define MOST (1 << 20)

/* false: not set, or no such number. */
static bool number_of(size_t *out, const char *name, size_t most)
{
    const char *text = getenv(name);
    int64_t number;
    if (!text || !rung_parse_int(&number, text, 0, (int64_t)most)) return false;
    *out = (size_t)number;
    return true;
}

/* ---- MPI ------------------------------------------------------------------------------------------------------- */

static bool look_for_pair(tool_cluster *c, const char *rank, const char *size, const char *local)
{
    size_t number, ranks;
    if (!number_of(&number, rank, MOST) || !number_of(&ranks, size, MOST) || number >= ranks) return false;
    c->rank = number, c->ranks = ranks;
    if (!number_of(&c->local, local, MOST) || c->local == 0) c->local = 1;
    return true;
}

/* Whether these ranks are the tasks of srun, which then may have nothing to do with MPI. */
static bool is_step(const tool_cluster *c)
{
    return c->tasks == c->ranks && c->task == c->rank;
}

static void look_for_mpi(tool_cluster *c)
{
    bool by_mpirun = look_for_pair(c, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE");
    bool found = by_mpirun || look_for_pair(c, "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS") ||
                 look_for_pair(c, "PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS_PER_NODE");
    bool by_srun = !by_mpirun && is_step(c);
    if (by_mpirun) c->tasks = c->task = 0; /* of the daemons that mpirun has started by srun */
    if (!found || c->ranks < 2 || (by_srun && !tool_team_possible())) {
        c->ranks = c->rank = 0;
        return;
    }
    c->tasks = c->task = 0; /* the same as the ranks */
    snprintf(c->ranks_from, sizeof c->ranks_from, "%s", by_srun ? "srun" : "mpirun");
}

/* ---- Slurm ----------------------------------------------------------------------------------------------------- */

static void look_for_tasks(tool_cluster *c)
{
    size_t task, tasks;
    if (!number_of(&tasks, "SLURM_STEP_NUM_TASKS", MOST) || !number_of(&task, "SLURM_PROCID", MOST)) return;
    if (tasks > 1 && task < tasks) c->task = task, c->tasks = tasks;
}

/* Place in the array: its numbers go from MIN in steps of STEP. A list like 1,4,5 has no such order. */
static rung_status look_for_array(size_t *place, size_t *places, rung_error *err)
{
    size_t id, count, least = 0, most, step = 1;
    *place = 0, *places = 1;
    if (!getenv("SLURM_ARRAY_TASK_ID") || !getenv("SLURM_ARRAY_TASK_COUNT")) return RUNG_OK;
    bool ok = number_of(&id, "SLURM_ARRAY_TASK_ID", INT32_MAX) && number_of(&count, "SLURM_ARRAY_TASK_COUNT", MOST);
    if (ok && getenv("SLURM_ARRAY_TASK_MIN")) ok = number_of(&least, "SLURM_ARRAY_TASK_MIN", INT32_MAX);
    if (ok && getenv("SLURM_ARRAY_TASK_STEP")) ok = number_of(&step, "SLURM_ARRAY_TASK_STEP", INT32_MAX);
    if (ok && count == 1) return RUNG_OK;
    ok = ok && step > 0 && id >= least && (id - least) % step == 0 && (id - least) / step < count;
    if (ok && getenv("SLURM_ARRAY_TASK_MAX"))
        ok = number_of(&most, "SLURM_ARRAY_TASK_MAX", INT32_MAX) && most == least + (count - 1) * step;
    if (!ok)
        return rung_fail(err, RUNG_USAGE,
                         "SLURM_ARRAY_TASK_ID %s is not in a row of SLURM_ARRAY_TASK_COUNT %s tasks; give --shard, or "
                         "--alone for all runs",
                         getenv("SLURM_ARRAY_TASK_ID"), getenv("SLURM_ARRAY_TASK_COUNT"));
    *place = (id - least) / step, *places = count;
    return RUNG_OK;
}

rung_status tool_cluster_shard(tool_cluster *c, rung_error *err)
{
    size_t place, places, tasks = c->tasks ? c->tasks : 1;
    if (c->alone) return RUNG_OK;
    rung_status status = look_for_array(&place, &places, err);
    if (status != RUNG_OK || places * tasks < 2) return status;
    c->shard = place * tasks + c->task, c->shards = places * tasks;
    snprintf(c->shard_from, sizeof c->shard_from, "%s%s%s", places > 1 ? "SLURM_ARRAY_TASK_ID" : "",
             places > 1 && tasks > 1 ? " and " : "", tasks > 1 ? "SLURM_PROCID" : "");
    return RUNG_OK;
}

static void look_for_cpus(tool_cluster *c)
{
    if (getenv("RUNG_THREADS") || !number_of(&c->cpus, "SLURM_CPUS_PER_TASK", 256)) c->cpus = 0;
    if (c->cpus) snprintf(c->cpus_from, sizeof c->cpus_from, "SLURM_CPUS_PER_TASK");
}

/* ---- both ------------------------------------------------------------------------------------------------------ */

rung_status tool_cluster_look(tool_cluster *found, bool alone, rung_error *err)
{
    *found = (tool_cluster){.alone = alone};
    if (alone) return RUNG_OK;
    look_for_tasks(found);
    look_for_mpi(found);
    look_for_cpus(found);
    tool_team_expect(found);
    if (found->ranks && !tool_team_possible())
        return rung_fail(
            err, RUNG_SYSTEM,
            "%s has started %zu processes, but this rung has no MPI: rung-mpi.so is not beside it. Install "
            "libopenmpi-dev and openmpi-bin and run 'make mpi'; or use --alone",
            found->ranks_from, found->ranks);
    return RUNG_OK;
}

size_t tool_cluster_threads(const tool_cluster *found)
{
    bool asked = getenv("RUNG_THREADS"); /* for each process, like --threads */
    size_t cores = rung_cpu_threads(), sharers = found->ranks && !asked ? found->local : 1;
    if (found->cpus) return found->cpus;
    return cores > sharers ? cores / sharers : 1;
}
