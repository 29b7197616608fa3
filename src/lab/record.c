/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Writes to a store: a finished run with everything that belongs to it, the plan of a sweep, artefacts. Each is one
 * transaction.
 */
#include "store.h"
#include "sweep_spec.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- machine and version ----------------------------------------------------------------------------------------- */

static void read_cpu(char *out, size_t size)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "?");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", colon + 2);
        break;
    }
    if (file) fclose(file);
}

static rung_status find_machine(int64_t *number, const rung_store *store, rung_error *err)
{
    static const char same[] = "SELECT number FROM machines WHERE host = ?1 AND cpu = ?2 AND cores = ?3"
                               " AND memory_bytes = ?4 AND system = ?5";
    static const char add[] = "INSERT INTO machines(host, cpu, cores, memory_bytes, system) VALUES(?1, ?2, ?3, ?4, ?5)"
                              " RETURNING number";
    char cpu[256], system[512] = "?";
    struct utsname name = {.nodename = "?"};
    if (uname(&name) == 0)
        snprintf(system, sizeof system, "%.100s %.100s %.100s", name.sysname, name.release, name.machine);
    int64_t cores = (int64_t)sysconf(_SC_NPROCESSORS_ONLN);
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    read_cpu(cpu, sizeof cpu);
    rung_status status = lab_sql_int(number, store, 0, err, same, "ssiis", name.nodename, cpu, cores, memory, system);
    if (status != RUNG_OK || *number) return status;
    return lab_sql_int(number, store, 0, err, add, "ssiis", name.nodename, cpu, cores, memory, system);
}

static rung_status find_version(int64_t *number, const rung_store *store, rung_compute compute, rung_error *err)
{
    static const char same[] = "SELECT number FROM versions WHERE rung = ?1 AND sqlite = ?2 AND compiler = ?3"
                               " AND kernels = ?4";
    static const char add[] = "INSERT INTO versions(rung, sqlite, compiler, kernels) VALUES(?1, ?2, ?3, ?4)"
                              " RETURNING number";
    const char *kernels = rung_compute_set(compute);
    rung_status status =
        lab_sql_int(number, store, 0, err, same, "ssss", RUNG_VERSION, sqlite3_libversion(), __VERSION__, kernels);
    if (status != RUNG_OK || *number) return status;
    return lab_sql_int(number, store, 0, err, add, "ssss", RUNG_VERSION, sqlite3_libversion(), __VERSION__, kernels);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static const char *outcome_of(const rung_train_state *state)
{
    rung_outcome outcome = state->diverged        ? RUNG_OUTCOME_DIVERGED
                           : state->stopped_early ? RUNG_OUTCOME_STOPPED
                                                  : RUNG_OUTCOME_FINISHED;
    return rung_outcome_names[outcome - 1];
}

static double or_none(double value)
{
    return isfinite(value) ? value : NAN;
}

static rung_status insert_run(int64_t *number, const rung_store *store, const rung_sweep_run *run,
                              const rung_train_state *state, const lab_untrained *facts, rung_error *err)
{
    static const char sql[] =
        "INSERT INTO runs(id, canonical, words, arch, task, seed, rate, random_labels, outcome, step, steps, loss,"
        " accuracy, eval_loss, eval_accuracy, test_loss, test_accuracy, test_targets, test_right, chance, majority,"
        " tokens, parameters, layers, full_layers, recurrent_layers, state_bits, level_bits, message_bits,"
        " kv_bits_per_token, seconds, resumed, finished_at, version, machine, test_numbers)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING number";
    const rung_train_spec *conf = &run->conf;
    const rung_run_row *f = &facts->row;
    const char *numbers = rung_train_tests_exactly(conf) ? conf->test_numbers : RUNG_TEST_FAST;
    bool fell = state->diverged; /* evaluations before the divergence stay in the metrics, but are no result */
    int64_t version, machine;
    if (!conf->test_prompts) numbers = NULL;
    RUNG_TRY(find_version(&version, store, conf->compute, err));
    RUNG_TRY(find_machine(&machine, store, err));
    return lab_sql_int(
        number, store, 0, err, sql, "sssssidisiiddddddiiddiiiiiiiiididiis", run->id, run->canonical, run->keys,
        conf->model.arch, conf->task.task->name, (int64_t)conf->seed, conf->adamw.rate, (int64_t)conf->random_labels,
        outcome_of(state), (int64_t)state->step, (int64_t)conf->steps, or_none(state->loss), or_none(state->accuracy),
        fell ? NAN : or_none(state->eval_loss), fell ? NAN : or_none(state->eval_accuracy), or_none(state->test_loss),
        or_none(state->test_accuracy), (int64_t)state->test_targets, (int64_t)state->test_right, conf->task.chance,
        conf->task.majority, (int64_t)conf->task.tokens, (int64_t)state->parameters, (int64_t)f->layers,
        (int64_t)f->full_layers, (int64_t)f->recurrent_layers, (int64_t)f->state_bits, (int64_t)f->level_bits,
        (int64_t)f->message_bits, (int64_t)f->kv_bits_per_token, state->seconds, (int64_t)state->resumed, lab_now(),
        version, machine, numbers);
}

static rung_status insert_theory(const rung_store *store, int64_t run, const lab_untrained *facts, rung_error *err)
{
    const rung_run_theory *t = &facts->row.theory;
    return lab_sql_do(store, err, "INSERT INTO theory VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "iisssddddi", run,
                      (int64_t)t->bits, t->verdict == RUNG_CANNOT ? "CANNOT" : "UNKNOWN", facts->bound,
                      facts->statement, t->margin, t->ceiling, t->n_threshold, t->log2_n, (int64_t)t->trivial);
}

static rung_status insert_metrics(const rung_store *store, int64_t run, const lab_metrics *metrics, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < metrics->count; i++) {
        const rung_metric *m = &metrics->row[i];
        status = lab_sql_do(store, err, "INSERT INTO metrics VALUES(?, ?, ?, ?, ?, ?, ?, ?)", "iidddddd", run,
                            (int64_t)m->step, or_none(m->loss), or_none(m->accuracy), or_none(m->rate),
                            or_none(m->gradient), or_none(m->eval_loss), or_none(m->eval_accuracy));
    }
    return status;
}

rung_status lab_insert_artefact(const rung_store *store, const rung_artefact *a, rung_error *err)
{
    char hex[65];
    rung_sha256_hex(hex, a->bytes, a->size);
    return lab_sql_do(store, err,
                      "INSERT OR REPLACE INTO artefacts(run, kind, name, sha256, size, content)"
                      " VALUES(?, ?, ?, ?, ?, ?)",
                      "isssib", a->run, a->kind, a->name, hex, (int64_t)a->size, a->bytes, a->size);
}

static rung_status insert_model(const rung_store *store, int64_t run, const char *model, rung_error *err)
{
    rung_file_map map;
    RUNG_TRY(rung_file_open_map(&map, model, err));
    rung_artefact a = {.run = run, .kind = "model", .name = "model.safetensors", .bytes = map.bytes, .size = map.size};
    rung_status status = lab_insert_artefact(store, &a, err);
    rung_file_close_map(&map);
    return status;
}

static rung_status insert_all(rung_lab_did *did, const rung_store *store, const rung_sweep_run *run,
                              const rung_train_state *state, const lab_metrics *metrics, const lab_untrained *facts,
                              const char *model, rung_error *err)
{
    int64_t number;
    rung_status status = lab_sql_int(&number, store, 0, err, "SELECT number FROM runs WHERE id = ?", "s", run->id);
    *did = number ? RUNG_LAB_WAS_DONE : RUNG_LAB_DONE;
    if (status != RUNG_OK || number) return status;
    status = insert_run(&number, store, run, state, facts, err);
    RUNG_NEXT(status, insert_theory(store, number, facts, err));
    RUNG_NEXT(status, insert_metrics(store, number, metrics, err));
    if (status == RUNG_OK && model) status = insert_model(store, number, model, err);
    RUNG_TRY(status);
    return lab_lease_drop(store, run->id, err);
}

rung_status lab_record(rung_lab_did *did, const rung_store *store, const rung_sweep_run *run,
                       const rung_train_state *state, const lab_metrics *metrics, const char *model, rung_error *err)
{
    lab_untrained facts;
    RUNG_TRY(lab_untrained_of(&facts, &run->conf, err));
    RUNG_TRY(lab_sql_begin(store, err));
    rung_status status = insert_all(did, store, run, state, metrics, &facts, model, err);
    return lab_sql_end(store, status, err);
}

/* ---- artefacts of others ----------------------------------------------------------------------------------------- */

rung_status rung_store_attach(rung_store *store, const char *id, const rung_artefact *artefact, rung_error *err)
{
    rung_artefact a = *artefact;
    rung_status status = lab_sql_int(&a.run, store, 0, err, "SELECT number FROM runs WHERE id = ?", "s", id);
    if (status == RUNG_OK && !a.run) return rung_fail(err, RUNG_USAGE, "%s has no finished run %s", store->path, id);
    RUNG_TRY(status);
    return lab_insert_artefact(store, &a, err);
}

/* ---- plan -------------------------------------------------------------------------------------------------------- */

static rung_status insert_place(const rung_store *store, int64_t number, const rung_sweep *sweep, size_t index,
                                rung_error *err)
{
    rung_sweep_run run;
    rung_status status = rung_sweep_run_init(&run, sweep, index, err);
    RUNG_NEXT(status, lab_sql_do(store, err, "INSERT INTO plan VALUES(?, ?, ?, ?, ?, ?)", "iissii", number,
                                 (int64_t)index, run.id, run.label, (int64_t)run.cell, (int64_t)run.setting));
    rung_sweep_run_clear(&run);
    return status;
}

/* True if the plan in the store has other runs than the sweep has now. */
static rung_status find_change(bool *changed, const rung_store *store, int64_t number, const rung_sweep *sweep,
                               rung_error *err)
{
    sqlite3_stmt *s;
    bool row = true;
    rung_status status =
        lab_sql_open(&s, store, err, "SELECT place, run FROM plan WHERE sweep = ? ORDER BY place", "i", number);
    *changed = false;
    while (status == RUNG_OK && row && !*changed) {
        status = lab_sql_next(&row, &s, store, err);
        if (status != RUNG_OK || !row) break;
        uint64_t place = lab_count_at(s, 0);
        *changed = place < sweep->runs && strcmp(lab_text_at(s, 1), sweep->planned[place].id) != 0;
    }
    sqlite3_finalize(s);
    return status;
}

/* The same spec may give other runs than with an earlier version of rung: if a theorem now speaks of a run, its test
 * uses the exact evaluator. */
static rung_status renew_plan(const rung_store *store, int64_t number, const rung_sweep *sweep, rung_error *err)
{
    bool changed;
    rung_status status = find_change(&changed, store, number, sweep, err);
    for (size_t i = 0; status == RUNG_OK && changed && i < sweep->runs; i++)
        status = lab_sql_do(store, err, "UPDATE plan SET run = ?3 WHERE sweep = ?1 AND place = ?2 AND run <> ?3", "iis",
                            number, (int64_t)i, sweep->planned[i].id);
    return status;
}

static rung_status insert_plan(const rung_store *store, const rung_sweep *sweep, const char *id, rung_error *err)
{
    int64_t number;
    RUNG_TRY(lab_sql_int(&number, store, 0, err, "SELECT number FROM sweeps WHERE id = ?", "s", id));
    if (number) return renew_plan(store, number, sweep, err);
    rung_status status =
        lab_sql_int(&number, store, 0, err,
                    "INSERT INTO sweeps(id, name, question, success, text, added) VALUES(?, ?, ?, ?, ?, ?)"
                    " RETURNING number",
                    "sssdsd", id, sweep->name, sweep->question, sweep->success, sweep->text, lab_now());
    for (size_t i = 0; status == RUNG_OK && i < sweep->runs; i++) status = insert_place(store, number, sweep, i, err);
    return status;
}

rung_status rung_store_plan(rung_store *store, const rung_sweep *sweep, rung_error *err)
{
    char id[RUNG_RUN_ID];
    rung_sweep_spec_id(id, sweep);
    RUNG_TRY(lab_sql_begin(store, err));
    return lab_sql_end(store, insert_plan(store, sweep, id, err), err);
}
