/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Stores: what a sweep leaves in them, putting several together, and what happens when the file is damaged, foreign, locked or
 * cannot grow.
 */
#include "lab_test.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- contents ----------------------------------------------------------------------------------------------------------------- */

static bool check_row(void *context, const rung_run_row *r)
{
    size_t *rows = context;
    assert_true(r->test_targets == 32 && r->test_accuracy == (double)r->test_right / 32);
    assert_int_equal(r->step, 30);
    assert_true(isfinite(r->eval_accuracy) && isfinite(r->loss) && r->seconds > 0);
    assert_int_equal(r->outcome, RUNG_OUTCOME_FINISHED);
    assert_string_equal(r->task, "eva");
    assert_true(r->chance == 0.5 && r->tokens == 4);
    /* one head: numerator of 4, denominator and maximum; linear: 4 x 4 and a normaliser of 4 */
    if (strcmp(r->arch, "full") == 0) assert_int_equal(r->message_bits, (4 + 2) * 32);
    if (strcmp(r->arch, "linear") == 0) assert_int_equal(r->state_bits, (4 * 4 + 4) * 32);
    if (strcmp(r->arch, "linear") == 0) assert_string_equal(r->theory.bound, "A");
    assert_int_equal(r->place, (*rows)++);
    return true;
}

static bool check_sweep(void *context, const rung_sweep_row *row)
{
    size_t *succeeded = context;
    assert_string_equal(row->name, "small");
    assert_string_equal(row->text, small_spec);
    assert_int_equal(row->planned, 12);
    assert_int_equal(row->done, 12);
    *succeeded = row->succeeded;
    return true;
}

typedef struct choice {
    double mean[4];
    bool chosen[4];
} choice;

static bool take_choice(void *context, const rung_run_row *r)
{
    choice *c = context;
    size_t setting = (strcmp(r->arch, "linear") == 0) * 2 + (r->rate > 0.005);
    c->mean[setting] += r->eval_accuracy / 3;
    c->chosen[setting] = r->chosen;
    return true;
}

static void a_sweep_leaves_everything_in_the_store(void **state)
{
    (void)state;
    rung_sweep *sweep = parse(small_spec);
    rung_lab_sum sum = do_sweep(sweep, in_dir("a.db"), (rung_lab_options){.jobs = 2});
    rung_error err = {""};
    size_t rows = 0, succeeded = 99;
    choice c = {0};
    assert_true(sum.total == 12 && sum.done == 12 && sum.before == 0 && sum.left == 0 && sum.elsewhere == 0);
    rung_store *store = open_store(in_dir("a.db"), RUNG_STORE_READ);
    assert_int_equal(rung_store_runs(store, 1, check_row, &rows, &err), RUNG_OK);
    assert_int_equal(rows, 12);
    assert_int_equal(rung_store_sweeps(store, check_sweep, &succeeded, &err), RUNG_OK);
    assert_int_equal(succeeded, sum.succeeded);
    assert_int_equal(rung_store_runs(store, 1, take_choice, &c, &err), RUNG_OK);
    for (size_t arch = 0; arch < 4; arch += 2) { /* the better rate by the evaluation, not by the test */
        assert_int_equal(c.chosen[arch] + c.chosen[arch + 1], 1);
        assert_true(c.mean[arch + c.chosen[arch + 1]] >= c.mean[arch + c.chosen[arch]]);
    }
    rung_store_close(store);
    assert_int_not_equal(access(in_dir("a.db.work"), F_OK), 0);
    sum = do_sweep(sweep, in_dir("a.db"), (rung_lab_options){.jobs = 2});
    assert_true(sum.done == 0 && sum.before == 12 && sum.succeeded == succeeded);
    rung_sweep_free(sweep);
}

/* The theorem of counting by hand: eva with N entries of log2 V bits against 20 numbers of 32 bits. The spec fixes V = 2, and a
 * threshold keeps it. */
static void the_threshold_is_that_of_the_counting_bound(void **state)
{
    (void)state;
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(in_dir("a.db"), &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT margin, n_threshold, verdict FROM results WHERE arch = 'linear' LIMIT 1", -1, &s,
                           NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_true(fabs(sqlite3_column_double(s, 0) - 3.0 * 1 / (20 * 32)) < 1e-9);
    double entries = 2;
    while (entries * 1 <= 20 * 32) entries++;
    assert_true(sqlite3_column_double(s, 1) == entries + 1);
    assert_string_equal((const char *)sqlite3_column_text(s, 2), "UNKNOWN");
    sqlite3_finalize(s);
    sqlite3_close(db);
}

static void jobs_threads_and_shards_do_not_change_a_bit(void **state)
{
    (void)state;
    rung_sweep *sweep = parse(small_spec);
    char *a = list_store(in_dir("a.db"), false);
    do_sweep(sweep, in_dir("b.db"), (rung_lab_options){.jobs = 1, .threads = 3});
    char *b = list_store(in_dir("b.db"), false);
    assert_int_equal(count_lines(a), 12);
    assert_string_equal(a, b);
    for (size_t i = 0; i < 3; i++) {
        const char *names[] = {"s0.db", "s1.db", "s2.db"};
        rung_lab_sum sum = do_sweep(sweep, in_dir(names[i]), (rung_lab_options){.jobs = 1, .shard = i, .shards = 3});
        assert_int_equal(sum.done, 4);
    }
    free(a);
    free(b);
    rung_sweep_free(sweep);
}

/* ---- merge ---------------------------------------------------------------------------------------------------------------------- */

static void merged_shards_are_the_whole(void **state)
{
    (void)state;
    rung_store *store = open_store(in_dir("merged.db"), RUNG_STORE_WRITE);
    const char *names[] = {"s0.db", "s1.db", "s2.db", "s1.db", "a.db"};
    const size_t fresh[] = {4, 4, 4, 0, 0}, there[] = {0, 0, 0, 4, 12};
    rung_error err = {""};
    for (size_t i = 0; i < 5; i++) {
        size_t added = 99, same = 99;
        rung_status status = rung_store_merge(store, in_dir(names[i]), &added, &same, 5, &err);
        if (status != RUNG_OK) fail_msg("%s", err.text);
        assert_int_equal(added, fresh[i]);
        assert_int_equal(same, there[i]);
    }
    rung_store_close(store);
    char *whole = list_store(in_dir("a.db"), false), *merged = list_store(in_dir("merged.db"), false);
    assert_string_equal(whole, merged);
    free(whole);
    free(merged);
}

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

static void a_run_that_differs_is_named_and_nothing_is_taken(void **state)
{
    static const char *const forgeries[] = {
        "UPDATE runs SET test_right = test_right + 1 WHERE number = 3",
        "UPDATE runs SET loss = NULL WHERE number = 3",
        "UPDATE metrics SET eval_loss = eval_loss + 1e-15 WHERE run = 3 AND step = 20",
        "DELETE FROM metrics WHERE run = 3 AND step = 10",
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(forgeries); i++) {
        char command[400];
        size_t added, same;
        rung_error err = {""};
        rung_sweep *sweep = parse(small_spec);
        snprintf(command, sizeof command, "cp %s %s", in_dir("a.db"), in_dir("forged.db"));
        assert_int_equal(system(command), 0);
        change(in_dir("forged.db"), forgeries[i]);
        rung_store *store = open_store(in_dir("merged.db"), RUNG_STORE_WRITE);
        assert_int_equal(rung_store_merge(store, in_dir("forged.db"), &added, &same, 5, &err), RUNG_INPUT);
        sqlite3 *db;
        sqlite3_stmt *s;
        sqlite3_open(in_dir("forged.db"), &db);
        sqlite3_prepare_v2(db, "SELECT id FROM runs WHERE number = 3", -1, &s, NULL);
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        assert_non_null(strstr(err.text, (const char *)sqlite3_column_text(s, 0)));
        sqlite3_finalize(s);
        sqlite3_close(db);
        rung_store_close(store);
        rung_sweep_free(sweep);
    }
    char *whole = list_store(in_dir("a.db"), false), *merged = list_store(in_dir("merged.db"), false);
    assert_string_equal(whole, merged);
    free(whole);
    free(merged);
}

/* ---- artefacts ------------------------------------------------------------------------------------------------------------------ */

static bool keep_artefact(void *context, const rung_artefact *a)
{
    rung_buf *out = context;
    rung_buf_printf(out, "%s/%s %s;", a->kind, a->name, a->sha256);
    if (strcmp(a->kind, "model") == 0)
        assert_int_equal(rung_file_write(in_dir("m.safetensors"), a->bytes, a->size, NULL), RUNG_OK);
    return true;
}

static void models_are_kept_when_asked_for_and_others_can_be_attached(void **state)
{
    (void)state;
    rung_sweep *sweep =
        parse("{\"keep-models\": true, \"base\": {\"task\": \"eva N=3 V=2\", \"steps\": 5, \"d-model\": 8}}");
    rung_error err = {""};
    rung_buf list;
    rung_model *model;
    rung_buf_init(&list);
    do_sweep(sweep, in_dir("kept.db"), (rung_lab_options){.jobs = 1});
    rung_store *store = open_store(in_dir("kept.db"), RUNG_STORE_WRITE);
    rung_artefact mine = {.kind = "certificate", .name = "x.cert", .bytes = "abc", .size = 3};
    assert_int_equal(rung_store_attach(store, rung_sweep_id(sweep, 0), &mine, &err), RUNG_OK);
    assert_int_equal(rung_store_attach(store, "00000000000000000000000000000000", &mine, &err), RUNG_USAGE);
    assert_int_equal(rung_store_artefacts(store, 1, NULL, keep_artefact, &list, &err), RUNG_OK);
    assert_non_null(strstr(list.text, "certificate/x.cert ba7816bf")); /* SHA-256 of "abc" */
    assert_non_null(strstr(list.text, "model/model.safetensors "));
    if (rung_model_open(&model, in_dir("m.safetensors"), &err) != RUNG_OK) fail_msg("%s", err.text);
    rung_model_close(model);
    rung_store_close(store);
    rung_buf_clear(&list);
    rung_sweep_free(sweep);
}

/* ---- diverged --------------------------------------------------------------------------------------------------------------------- */

static bool check_diverged(void *context, const rung_run_row *r)
{
    (*(size_t *)context)++;
    assert_int_equal(r->outcome, RUNG_OUTCOME_DIVERGED);
    assert_true(isnan(r->test_accuracy) && isnan(r->eval_accuracy) && r->test_targets == 0);
    return true;
}

static void a_run_that_diverges_is_a_result_and_not_done_again(void **state)
{
    (void)state;
    rung_sweep *sweep =
        parse("{\"base\": {\"task\": \"eva N=3 V=2\", \"steps\": 200, \"d-model\": 8, \"rate\": 1000, \"clip\": 0,"
              " \"norm\": \"none\", \"decay\": 1000, \"warmup\": 0, \"schedule\": \"constant\"}}");
    rung_error err = {""};
    size_t rows = 0;
    rung_lab_sum sum = do_sweep(sweep, in_dir("diverged.db"), (rung_lab_options){.jobs = 1});
    assert_true(sum.done == 1 && sum.diverged == 1 && sum.succeeded == 0);
    sum = do_sweep(sweep, in_dir("diverged.db"), (rung_lab_options){.jobs = 1});
    assert_true(sum.done == 0 && sum.before == 1);
    rung_store *store = open_store(in_dir("diverged.db"), RUNG_STORE_READ);
    assert_int_equal(rung_store_runs(store, 0, check_diverged, &rows, &err), RUNG_OK);
    assert_int_equal(rows, 1);
    rung_store_close(store);
    rung_sweep_free(sweep);
}

/* ---- files that are no good -------------------------------------------------------------------------------------------------------- */

static void refuse_store(const char *path, rung_status want, const char *says)
{
    rung_store *store;
    rung_error err = {""};
    for (int mode = RUNG_STORE_READ; mode <= RUNG_STORE_WRITE; mode++) {
        rung_status status = rung_store_open(&store, path, (rung_store_mode)mode, 0.1, &err);
        if (status != want || !strstr(err.text, path) || !strstr(err.text, says))
            fail_msg("status %d, '%s' should say '%s'", (int)status, err.text, says);
    }
}

static void what_is_no_store_is_refused(void **state)
{
    (void)state;
    char garbage[5000];
    rung_store *store;
    rung_error err = {""};
    for (size_t i = 0; i < sizeof garbage; i++) garbage[i] = (char)(i * 7919 >> 3);
    assert_int_equal(rung_file_write(in_dir("garbage.db"), garbage, sizeof garbage, NULL), RUNG_OK);
    refuse_store(in_dir("garbage.db"), RUNG_INPUT, "is no store: it is ");
    change(in_dir("foreign.db"), "CREATE TABLE t(x)");
    refuse_store(in_dir("foreign.db"), RUNG_INPUT, "not a store of rung");
    change(in_dir("later.db"), "CREATE TABLE t(x); PRAGMA application_id = 1381322311; PRAGMA user_version = 99");
    refuse_store(in_dir("later.db"), RUNG_INPUT, "version 99");
    assert_int_equal(rung_store_open(&store, in_dir("absent.db"), RUNG_STORE_READ, 1, &err), RUNG_INPUT);
    assert_int_equal(rung_store_open(&store, "/nonexistent/x.db", RUNG_STORE_WRITE, 1, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "/nonexistent/x.db"));
}

static bool count_row(void *context, const rung_run_row *r)
{
    (void)r;
    ++*(size_t *)context;
    return true;
}

/* Cut anywhere, or with a page of noise: said, or the runs are all there; never a crash, never fewer runs in silence. */
static void a_damaged_store_is_noticed(void **state)
{
    (void)state;
    rung_file_map map;
    rung_rng rng;
    size_t noticed = 0, tries = effort(120, 30);
    rung_rng_init(&rng, 7, 0, 0);
    assert_int_equal(rung_file_open_map(&map, in_dir("a.db"), NULL), RUNG_OK);
    uint8_t *copy = malloc(map.size);
    for (size_t i = 0; i < tries; i++) {
        size_t size = map.size, rows = 0;
        rung_store *store = NULL;
        rung_error err = {""};
        memcpy(copy, map.bytes, size);
        if (i % 2)
            size = rung_rng_below(&rng, size - 1) + 1;
        else
            for (size_t k = 0, at = rung_rng_below(&rng, size / 4096) * 4096; k < 4096; k++)
                copy[at + k] = (uint8_t)rung_rng_u64(&rng);
        assert_int_equal(rung_file_write(in_dir("damaged.db"), copy, size, NULL), RUNG_OK);
        rung_status status = rung_store_open(&store, in_dir("damaged.db"), RUNG_STORE_READ, 0, &err);
        if (status == RUNG_OK) status = rung_store_runs(store, 0, count_row, &rows, &err);
        rung_store_close(store);
        if (status == RUNG_OK && rows != 12) fail_msg("try %zu: %zu rows and no word", i, rows);
        if (status != RUNG_OK && !strstr(err.text, "damaged.db")) fail_msg("try %zu: '%s'", i, err.text);
        if (i % 2) assert_int_equal(status, RUNG_INPUT);
        noticed += status != RUNG_OK;
    }
    assert_true(noticed >= tries / 2);
    free(copy);
    rung_file_close_map(&map);
}

static void a_locked_store_is_waited_for_and_then_said(void **state)
{
    (void)state;
    rung_sweep *sweep = parse(small_spec);
    rung_lab_options conf = {.jobs = 1, .wait_s = 0.2};
    rung_lab_sum sum;
    rung_error err = {""};
    sqlite3 *db;
    do_sweep(sweep, in_dir("locked.db"), (rung_lab_options){.jobs = 1, .shard = 0, .shards = 4});
    assert_int_equal(sqlite3_open(in_dir("locked.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(rung_lab_sweep(&sum, sweep, in_dir("locked.db"), &conf, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "locked by another program"));
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    sum = do_sweep(sweep, in_dir("locked.db"), (rung_lab_options){.jobs = 1});
    assert_true(sum.before == 3 && sum.done == 9);
    rung_sweep_free(sweep);
}

/* No file may grow beyond so many bytes: as on a full disk, wherever it happens to hit. */
static int sweep_with_limit(const rung_sweep *sweep, const char *path, rlim_t bytes)
{
    pid_t child = fork();
    int result = 0;
    if (child == 0) {
        rung_lab_options conf = {.jobs = 1, .wait_s = 5};
        rung_lab_sum sum;
        rung_error err = {""};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
        rung_status status = rung_lab_sweep(&sum, sweep, path, &conf, &err);
        _exit(status == RUNG_OK && sum.left == 0 ? 0 : err.text[0] ? 40 + (int)status : 99);
    }
    assert_true(child > 0 && waitpid(child, &result, 0) == child);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static void when_nothing_can_be_written_any_more_nothing_finished_is_lost(void **state)
{
    (void)state;
    rung_sweep *sweep = parse(small_spec);
    size_t failed = 0, before = 0;
    for (rlim_t bytes = 1000; bytes < 400000; bytes = bytes * (SANITIZED ? 3 : 2)) {
        int code = sweep_with_limit(sweep, in_dir("full.db"), bytes);
        if (code != 0 && code != 40 + RUNG_SYSTEM) fail_msg("limit %lu: code %d", (unsigned long)bytes, code);
        failed += code != 0;
        size_t rows = 0;
        rung_store *store = NULL;
        rung_error err = {""};
        if (rung_store_open(&store, in_dir("full.db"), RUNG_STORE_WRITE, 5, &err) != RUNG_OK) fail_msg("%s", err.text);
        assert_int_equal(rung_store_runs(store, 0, count_row, &rows, &err), RUNG_OK);
        assert_true(rows >= before);
        before = rows;
        rung_store_close(store);
    }
    assert_true(failed >= 2);
    do_sweep(sweep, in_dir("full.db"), (rung_lab_options){.jobs = 2});
    char *whole = list_store(in_dir("a.db"), false), *full = list_store(in_dir("full.db"), false);
    assert_string_equal(whole, full);
    free(whole);
    free(full);
    rung_sweep_free(sweep);
}

/* Nobody has it open, so it is read without locks; then somebody writes: what was read before and after would not fit. */
static void a_store_that_changes_under_a_reader_is_said(void **state)
{
    (void)state;
    rung_error err;
    rung_store *reader, *writer;
    size_t count;
    const char *path = in_dir("still.db");
    assert_int_equal(rung_store_open(&writer, path, RUNG_STORE_WRITE, 5, &err), RUNG_OK);
    rung_store_close(writer);
    struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    assert_int_equal(rung_store_open(&reader, path, RUNG_STORE_READ, 5, &err), RUNG_OK);
    assert_int_equal(rung_store_run_count(&count, reader, &err), RUNG_OK);
    char beside[160];
    snprintf(beside, sizeof beside, "%s-shm", path);
    assert_int_not_equal(access(beside, F_OK), 0);
    assert_int_equal(rung_store_open(&writer, path, RUNG_STORE_WRITE, 5, &err), RUNG_OK);
    rung_probe_row row = {.id = "0123456789abcdef0123456789abcdef",
                          .canonical = "{}",
                          .source = "probe",
                          .model = "m",
                          .server = "s",
                          .task = "eva"};
    int64_t number;
    assert_int_equal(rung_store_probe_put(&number, writer, &row, &err), RUNG_OK);
    rung_store_close(writer); /* takes the log into the file */
    assert_int_equal(rung_store_run_count(&count, reader, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "while it was read"));
    rung_store_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_that_changes_under_a_reader_is_said),
        cmocka_unit_test(a_sweep_leaves_everything_in_the_store), /* a.db of the others */
        cmocka_unit_test(the_threshold_is_that_of_the_counting_bound),
        cmocka_unit_test(jobs_threads_and_shards_do_not_change_a_bit),
        cmocka_unit_test(merged_shards_are_the_whole),
        cmocka_unit_test(a_run_that_differs_is_named_and_nothing_is_taken),
        cmocka_unit_test(models_are_kept_when_asked_for_and_others_can_be_attached),
        cmocka_unit_test(a_run_that_diverges_is_a_result_and_not_done_again),
        cmocka_unit_test(what_is_no_store_is_refused),
        cmocka_unit_test(a_damaged_store_is_noticed),
        cmocka_unit_test(a_locked_store_is_waited_for_and_then_said),
        cmocka_unit_test(when_nothing_can_be_written_any_more_nothing_finished_is_lost),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
