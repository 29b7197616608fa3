/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung sweep: all runs of a spec, into a store.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "report_print.h"
#include "rung/lab.h"
#include "rung/render.h"

typedef struct sweep_values {
    const char *out, *shard;
    int64_t jobs, threads, wait;
    bool dry_run, no_estimate, alone;
} sweep_values;

typedef struct job {
    const tool_call *call;
    const sweep_values *values;
    rung_sweep *sweep;
    rung_buf store;
    rung_lab_options conf;
    rung_lab_cost cost;
    rung_lab_sum sum;
    tool_cluster cluster;
    bool sharded; /* the shard comes from the environment */
    double drawn_s;
    bool drawn;
} job;

/* ---- words ----------------------------------------------------------------------------------------------------- */

/* "i/n", i from 0 on. */
static rung_status read_shard(job *j, const char *text, const char *from, rung_error *err)
{
    char first[24];
    const char *slash = strchr(text, '/');
    int64_t shard, shards;
    snprintf(first, sizeof first, "%.*s", slash ? (int)(slash - text) : 0, text);
    if (!slash || !rung_parse_int(&shards, slash + 1, 1, 1 << 20) || !rung_parse_int(&shard, first, 0, shards - 1))
        return rung_fail(err, RUNG_USAGE, "%s: '%s' is not i/n with 0 <= i < n, as in 0/4", from, text);
    j->conf.shard = (size_t)shard, j->conf.shards = (size_t)shards;
    return RUNG_OK;
}

/* Given, or that of a job array of Slurm and of tasks that are not connected by MPI. */
static rung_status find_shard(job *j, rung_error *err)
{
    if (j->values->shard) return read_shard(j, j->values->shard, "--shard", err);
    rung_status status = tool_cluster_shard(&j->cluster, err);
    j->conf.shard = j->cluster.shard, j->conf.shards = j->cluster.shards;
    j->sharded = j->cluster.shards > 1;
    return status;
}

/* The given file, or NAME.db after the spec; shards that were not asked for get one each, because they may be on
 * hosts that cannot share one. */
static rung_status name_store(job *j, rung_error *err)
{
    if (j->values->out) {
        rung_buf_puts(&j->store, j->values->out);
    } else {
        const char *spec = j->call->argument[0], *dot = strrchr(spec, '.');
        bool ending = dot && dot != spec && !strchr(dot, '/');
        rung_buf_add(&j->store, spec, ending ? (size_t)(dot - spec) : strlen(spec));
        if (j->sharded) rung_buf_printf(&j->store, ".%zu-of-%zu", j->conf.shard, j->conf.shards);
        rung_buf_puts(&j->store, ".db");
    }
    return rung_buf_ok(&j->store, err);
}

/* ---- plan ------------------------------------------------------------------------------------------------------ */

static void put_duration(rung_buf *out, double seconds)
{
    if (seconds < 90)
        rung_buf_printf(out, "%.0f s", ceil(seconds));
    else if (seconds < 5400)
        rung_buf_printf(out, "%.0f min", ceil(seconds / 60));
    else
        rung_buf_printf(out, "%.1f h", seconds / 3600);
}

/* Of this process: as many as fit on its cores, which in an MPI job are one unless Slurm says more. */
static size_t jobs_of(const job *j)
{
    size_t threads = (size_t)j->values->threads, cores = j->cluster.cpus;
    if (!cores) cores = j->cluster.ranks ? 1 : rung_cpu_threads();
    return j->values->jobs ? (size_t)j->values->jobs : cores > threads ? cores / threads : 1;
}

static size_t all_jobs_of(const job *j)
{
    return jobs_of(j) * (j->cluster.ranks ? j->cluster.ranks : 1);
}

static void print_plan(rung_buf *out, const job *j)
{
    const rung_lab_cost *c = &j->cost;
    size_t left = c->runs - c->done;
    rung_buf_printf(out, "%s: %zu run%s, %zu in %s\n", rung_sweep_name(j->sweep), c->runs, c->runs == 1 ? "" : "s",
                    c->done, j->store.text);
    if (*rung_sweep_question(j->sweep)) rung_buf_printf(out, "question  %s\n", rung_sweep_question(j->sweep));
    if (j->conf.shards > 1)
        rung_buf_printf(out, "shard     %zu/%zu%s%s\n", j->conf.shard, j->conf.shards, j->sharded ? ", from " : "",
                        j->sharded ? j->cluster.shard_from : "");
    if (j->cluster.cpus) rung_buf_printf(out, "cpus      %zu, from %s\n", j->cluster.cpus, j->cluster.cpus_from);
    if (j->cluster.ranks) rung_buf_printf(out, "ranks     %zu, from %s\n", j->cluster.ranks, j->cluster.ranks_from);
    if (rung_sweep_repeated(j->sweep))
        rung_buf_printf(out, "repeated  %zu in the spec, counted once\n", rung_sweep_repeated(j->sweep));
    rung_buf_printf(out, "success   a test accuracy of %g\n", rung_sweep_success(j->sweep));
    if (left && c->measured) {
        rung_buf_printf(out, "to do     %zu, at most about ", left);
        put_duration(out, c->seconds / (double)all_jobs_of(j));
        rung_buf_printf(out, " (%zu at a time; %zu of %zu kinds measured)\n", all_jobs_of(j), c->measured, c->kinds);
    } else {
        rung_buf_printf(out, "to do     %zu\n", left);
    }
}

static rung_status estimate(job *j, rung_error *err)
{
    rung_store *store = NULL;
    rung_status status = RUNG_OK;
    rung_store_mode mode = j->values->dry_run ? RUNG_STORE_READ : RUNG_STORE_WRITE;
    if (access(j->store.text, F_OK) == 0) status = rung_store_open(&store, j->store.text, mode, j->conf.wait_s, err);
    if (status == RUNG_OK && store && !j->values->dry_run) status = rung_store_adopt(store, err);
    RUNG_NEXT(status, rung_lab_estimate(&j->cost, j->sweep, store, &j->conf, j->values->no_estimate ? 0 : 5, err));
    rung_store_close(store);
    j->conf.cost_s = j->cost.seconds;
    return status;
}

/* ---- progress -------------------------------------------------------------------------------------------------- */

static bool may_go_on(void *context)
{
    (void)context;
    return !tool_signal_pending();
}

static void draw(void *context, const rung_lab_progress *n)
{
    job *j = context;
    double now = rung_wall_s();
    size_t done = n->before + n->done;
    rung_buf line;
    if (!isatty(STDERR_FILENO) || j->call->quiet || (!n->finished && now - j->drawn_s < 0.2)) return;
    j->drawn_s = now;
    j->drawn = true;
    rung_buf_init(&line);
    rung_buf_printf(&line, "\r\033[K%zu/%zu runs  %zu succeeded (%.0f %%)", done, n->total, n->succeeded,
                    done ? 100.0 * (double)n->succeeded / (double)done : 0.0);
    if (n->elsewhere) rung_buf_printf(&line, "  %zu elsewhere", n->elsewhere);
    rung_buf_printf(&line, "  run %zu: step %" PRIu64 " loss %.4f", n->index, n->state->step, n->state->loss);
    if (isfinite(n->left_s)) {
        rung_buf_puts(&line, "  ETA ");
        put_duration(&line, n->left_s > 0 ? n->left_s : 0);
    }
    if (!line.failed) fputs(line.text, stderr);
    fflush(stderr);
    rung_buf_clear(&line);
}

/* ---- report ---------------------------------------------------------------------------------------------------- */

static void print_sum(rung_buf *out, const job *j)
{
    const rung_lab_sum *s = &j->sum;
    size_t known = s->before + s->done;
    rung_buf_printf(out, "done      %zu now, %zu before%s", s->done, s->before, s->diverged ? "" : "\n");
    if (s->diverged) rung_buf_printf(out, "; %zu diverged\n", s->diverged);
    if (s->elsewhere) rung_buf_printf(out, "elsewhere %zu, at work in another process\n", s->elsewhere);
    if (s->left) rung_buf_printf(out, "left      %zu\n", s->left);
    if (known)
        rung_buf_printf(out, "succeeded %s%zu of %zu%s\n", tool_style_bold(), s->succeeded, known, tool_style_off());
}

/* The cells of this sweep that the store has by now. */
static rung_status print_results(rung_buf *out, const job *j, rung_error *err)
{
    char spec[RUNG_RUN_ID];
    rung_report *report;
    rung_sweep_spec_id(spec, j->sweep);
    RUNG_TRY(rung_report_new(&report, err));
    rung_status status = rung_report_add(report, j->store.text, 10, err);
    RUNG_NEXT(status, rung_report_make(report, err));
    for (size_t i = 0; status == RUNG_OK && i < rung_report_groups(report); i++) {
        const rung_run_group *group = rung_report_group(report, i);
        if (strcmp(group->spec, spec) == 0) tool_report_print_cells(out, group);
    }
    rung_report_free(report);
    return status;
}

static void json_plan(rung_jout *out, const job *j)
{
    rung_jout_string(out, "name", rung_sweep_name(j->sweep));
    rung_jout_string(out, "question", rung_sweep_question(j->sweep));
    rung_jout_string(out, "store", j->store.text);
    rung_jout_real(out, "success", rung_sweep_success(j->sweep));
    rung_jout_int(out, "shard", (int64_t)j->conf.shard);
    rung_jout_int(out, "shards", (int64_t)(j->conf.shards ? j->conf.shards : 1));
    rung_jout_int(out, "runs", (int64_t)j->cost.runs);
    rung_jout_int(out, "repeated", (int64_t)rung_sweep_repeated(j->sweep));
    rung_jout_int(out, "before", (int64_t)j->cost.done);
    rung_jout_int(out, "jobs", (int64_t)all_jobs_of(j));
    rung_jout_int(out, "ranks", (int64_t)(j->cluster.ranks ? j->cluster.ranks : 1));
    rung_jout_real(out, "estimated_seconds", j->cost.measured ? j->cost.seconds / (double)all_jobs_of(j) : (double)NAN);
}

static void json_sum(rung_jout *out, const job *j)
{
    rung_jout_int(out, "done", (int64_t)j->sum.done);
    rung_jout_int(out, "succeeded", (int64_t)j->sum.succeeded);
    rung_jout_int(out, "diverged", (int64_t)j->sum.diverged);
    rung_jout_int(out, "elsewhere", (int64_t)j->sum.elsewhere);
    rung_jout_int(out, "left", (int64_t)j->sum.left);
}

static rung_status json_runs(rung_jout *out, const job *j, rung_error *err)
{
    size_t step = j->conf.shards ? j->conf.shards : 1;
    rung_status status = RUNG_OK;
    rung_jout_array(out, "plan");
    for (size_t i = j->conf.shard; status == RUNG_OK && i < rung_sweep_count(j->sweep); i += step) {
        rung_sweep_run run;
        status = rung_sweep_run_init(&run, j->sweep, i, err);
        if (status == RUNG_OK) {
            rung_jout_flat_object(out, NULL);
            rung_jout_string(out, "id", run.id);
            rung_jout_string(out, "label", run.label);
            rung_jout_string(out, "run", run.canonical);
            rung_jout_end(out);
        }
        rung_sweep_run_clear(&run);
    }
    rung_jout_end(out);
    return status;
}

static void print_dry_run(rung_buf *out, const rung_sweep_run *run)
{
    const rung_train_spec *conf = &run->conf;
    rung_buf_printf(out, "%.8s  %s%s%s, %s", run->id, run->label, *run->label ? ": " : "", conf->model.arch,
                    conf->model.task);
    if (conf->thoughts) rung_buf_printf(out, ", %zu thought%s", conf->thoughts, conf->thoughts > 1 ? "s" : "");
    rung_buf_printf(out, ", rate %g, seed %" PRIu64 "%s\n", conf->adamw.rate, conf->seed,
                    conf->random_labels ? ", random labels" : "");
}

static rung_status print_dry_runs(rung_buf *out, const job *j, rung_error *err)
{
    size_t step = j->conf.shards ? j->conf.shards : 1;
    rung_status status = RUNG_OK;
    for (size_t i = j->conf.shard; status == RUNG_OK && i < rung_sweep_count(j->sweep); i += step) {
        rung_sweep_run run;
        status = rung_sweep_run_init(&run, j->sweep, i, err);
        if (status == RUNG_OK) print_dry_run(out, &run);
        rung_sweep_run_clear(&run);
    }
    return status;
}

/* ---- command --------------------------------------------------------------------------------------------------- */

static rung_status show(const job *j, bool plan, bool end, rung_error *err)
{
    rung_status status = RUNG_OK;
    rung_buf text;
    rung_jout out;
    rung_buf_init(&text);
    if (j->call->json) {
        rung_jout_begin(&out, &text, "rung.sweep/1", true);
        json_plan(&out, j);
        if (end) json_sum(&out, j);
        if (plan) status = json_runs(&out, j, err);
        rung_jout_finish(&out);
    } else {
        if (!end) print_plan(&text, j);
        if (plan) status = print_dry_runs(&text, j, err);
        if (end) print_sum(&text, j);
        if (end && j->sum.before + j->sum.done) status = print_results(&text, j, err);
    }
    RUNG_NEXT(status, tool_out_buf(&text, err));
    if (status == RUNG_OK && !end) status = tool_out_finish(err);
    rung_buf_clear(&text);
    return status;
}

/* What was left when SIGUSR1 came is done by whoever is started again. */
static void note_end(const job *j)
{
    if (!j->sum.left && !j->sum.elsewhere) tool_signal_finished();
    if (j->sum.stopped && j->sum.left)
        tool_note(j->call, "stopped with %zu runs left; the same command goes on", j->sum.left);
}

static rung_status run_all(job *j, rung_error *err)
{
    rung_status status = j->call->json ? RUNG_OK : show(j, false, false, err);
    if (status != RUNG_OK || tool_signal_pending()) return status;
    status = tool_team_join(&j->conf.team, &j->cluster, err); /* from here on the others count on us */
    RUNG_NEXT(status, rung_lab_sweep(&j->sum, j->sweep, j->store.text, &j->conf, err));
    if (j->drawn) fputs("\r\033[K", stderr);
    RUNG_TRY(status);
    note_end(j);
    return show(j, false, true, err);
}

/* A rank that is not the first one says nothing, and has no part in the plan. */
static rung_status follow(job *j, rung_error *err)
{
    if (j->values->dry_run) return RUNG_OK;
    RUNG_TRY(tool_team_join(&j->conf.team, &j->cluster, err));
    return rung_lab_sweep(&j->sum, j->sweep, j->store.text, &j->conf, err);
}

static rung_status start(job *j, rung_error *err)
{
    rung_status status = tool_cluster_look(&j->cluster, j->values->alone, err);
    RUNG_NEXT(status, find_shard(j, err));
    RUNG_NEXT(status, name_store(j, err));
    RUNG_NEXT(status, tool_out_spares(j->store.text, j->call->argument[0], err));
    RUNG_NEXT(status, rung_sweep_open(&j->sweep, j->call->argument[0], err));
    j->conf.jobs = jobs_of(j);
    return status;
}

static rung_status lead(job *j, rung_error *err)
{
    RUNG_TRY(j->values->dry_run ? RUNG_OK : tool_out_place(j->store.text, err));
    RUNG_TRY(estimate(j, err));
    return j->values->dry_run ? show(j, true, false, err) : run_all(j, err);
}

static int run_sweep(const tool_call *call, rung_error *err)
{
    const sweep_values *v = call->values;
    job j = {.call = call, .values = v};
    j.conf = (rung_lab_options){
        .threads = (size_t)v->threads, .wait_s = (double)v->wait, .go = may_go_on, .on_progress = draw, .context = &j};
    rung_buf_init(&j.store);
    tool_signals_defer(true);
    rung_status status = start(&j, err);
    RUNG_NEXT(status, j.cluster.rank ? follow(&j, err) : lead(&j, err));
    rung_sweep_free(j.sweep);
    rung_buf_clear(&j.store);
    return status;
}

const tool_command tool_command_sweep = {
    .name = "sweep",
    .summary = "many runs of train from one file, into a store",
    .details =
        "SPEC is a JSON object: \"base\" has keys of 'rung train', \"grid\" lists of values for keys (\"task.N\" is "
        "the "
        "parameter N of the task), \"cases\" further objects that overrule them; docs/lab.md has all of it. A run is "
        "what "
        "'rung train' does with the same options, and its result does not depend on who does it, when, or beside "
        "what.\n"
        "Finished runs are in the store, an SQLite file (docs/store.md), and are not done again. Whatever interrupts a "
        "sweep, kill -9 included, the same command goes on; runs that were at work go on from their checkpoints. "
        "Several "
        "sweeps may work on one store at the same time.\n"
        "'mpirun -n N rung sweep SPEC' hands out the runs to N processes; rank 0 has the store, and in the end "
        "everything is "
        "in it. In a Slurm job array, and under srun without MPI, the default of --shard comes from "
        "SLURM_ARRAY_TASK_ID and "
        "SLURM_PROCID, that of --jobs from SLURM_CPUS_PER_TASK. The plan says what was found. SIGUSR1 ends a sweep "
        "like "
        "SIGTERM, with exit code 138 when something is left to do; docs/cluster.md has scripts.",
    .examples =
        (const tool_example[]){
            {"rung sweep depth.json --dry-run", "the plan, and what it would cost"},
            {"rung sweep depth.json", "do it, into depth.db"},
            {"rung sweep depth.json -o a.db --shard 0/4", "every fourth run, for the first of four machines"},
            {"rung sweep depth.json --jobs 1 --threads 8", "one run at a time, with eight threads"},
            {"mpirun -n 16 rung sweep depth.json", "sixteen processes on one host or several"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "SPEC",
             .help = "the experiment as a JSON file",
             .least = 1,
             .most = 1,
             .complete = RUNG_COMPLETE_FILE},
            {0},
        },
    .options =
        (const rung_option[]){
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(sweep_values, out),
             .metavar = "STORE",
             .help = "the store (default: SPEC with the ending .db)",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "jobs",
             .letter = 'j',
             .kind = RUNG_OPTION_INT,
             .at = offsetof(sweep_values, jobs),
             .metavar = "N",
             .help = "runs at the same time, 0 for as many as fit on the cores",
             .fallback = "0",
             .low = 0,
             .high = 256},
            {.name = "threads",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(sweep_values, threads),
             .metavar = "N",
             .help = "threads of one run; the result is the same",
             .fallback = "1",
             .low = 1,
             .high = 256},
            {.name = "shard",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(sweep_values, shard),
             .metavar = "I/N",
             .help = "only every N-th run, from number I on"},
            {.name = "wait",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(sweep_values, wait),
             .metavar = "S",
             .help = "seconds to wait for a store that another program holds",
             .fallback = "60",
             .low = 0,
             .high = 86400},
            {.name = "dry-run",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(sweep_values, dry_run),
             .help = "print the plan and do nothing"},
            {.name = "no-estimate",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(sweep_values, no_estimate),
             .help = "do not measure the time of a few steps first"},
            {.name = "alone",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(sweep_values, alone),
             .help = "take no notice of mpirun and Slurm"},
            {0},
        },
    .values_size = sizeof(sweep_values),
    .run = run_sweep,
};
