/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Interruptions: kill -9 at any moment, stops, several processes on one store, claims of the dead. The store in the end is
 * that of an undisturbed sweep, and a run that was recorded once is not touched again. RUNG_SOAK: 100 kills.
 */
#include "lab_test.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

static char *undisturbed;

static int make_reference(void **state)
{
    if (make_dir(state) != 0) return -1;
    rung_sweep *sweep = parse(small_spec);
    do_sweep(sweep, in_dir("reference.db"), (rung_lab_options){.jobs = 2});
    undisturbed = list_store(in_dir("reference.db"), false);
    rung_sweep_free(sweep);
    return 0;
}

static int drop_reference(void **state)
{
    free(undisturbed);
    return remove_dir(state);
}

static void expect_undisturbed(const char *path)
{
    char *text = list_store(path, false);
    assert_string_equal(text, undisturbed);
    free(text);
}

static pid_t sweep_in_child(const rung_sweep *sweep, const char *path, size_t jobs)
{
    pid_t child = fork();
    if (child == 0) {
        rung_lab_options conf = {.jobs = jobs, .wait_s = 60};
        rung_lab_sum sum;
        rung_error err = {""};
        rung_status status = rung_lab_sweep(&sum, sweep, path, &conf, &err);
        if (status != RUNG_OK) fprintf(stderr, "%s\n", err.text);
        _exit(status == RUNG_OK ? (int)sum.done : 200 + (int)status);
    }
    assert_true(child > 0);
    return child;
}

static void sleep_us(uint64_t us)
{
    nanosleep(&(struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000}, NULL);
}

/* Every line of the earlier listing is in the later one, times included: nothing lost, nothing done twice. */
static void expect_kept(const char *before, const char *after)
{
    while (before && *before) {
        size_t len = strcspn(before, "\n");
        char *line = strndup(before, len);
        if (!strstr(after, line)) fail_msg("lost or changed: %.60s", line);
        free(line);
        before += len + 1;
    }
}

/* Until the sweep is done or has been killed so often; returns how often it was. */
static size_t kill_at_random_moments(const char *name, size_t kills, size_t jobs, uint64_t seed)
{
    rung_sweep *sweep = parse(small_spec);
    const char *path = strdup(in_dir(name));
    rung_rng rng;
    size_t killed = 0;
    char *before = NULL;
    rung_rng_init(&rng, seed, 1, 0);
    for (bool over = false; !over && killed < kills;) {
        int result;
        pid_t child = sweep_in_child(sweep, path, jobs);
        sleep_us(rung_rng_below(&rng, 1 << rung_rng_below(&rng, SANITIZED ? 21 : 18)));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &result, 0), child);
        killed += WIFSIGNALED(result);
        over = WIFEXITED(result);
        if (over && WEXITSTATUS(result) >= 200) fail_msg("after %zu kills: %d", killed, WEXITSTATUS(result));
        if (access(path, F_OK) != 0) continue;
        rung_store *store = open_store(path, RUNG_STORE_WRITE); /* a kill may have come before the tables */
        rung_store_close(store);
        char *after = list_store(path, true);
        expect_kept(before, after);
        free(before);
        before = after;
        over = over || count_lines(before) == 12;
    }
    do_sweep(sweep, path, (rung_lab_options){.jobs = jobs});
    expect_undisturbed(path);
    free(before);
    free((char *)path);
    rung_sweep_free(sweep);
    return killed;
}

static void kills_lose_no_finished_run_and_repeat_none(void **state)
{
    size_t kills = getenv("RUNG_SOAK") ? 100 : effort(20, 6);
    (void)state;
    for (size_t round = 0, all = 0; all < kills; round++) {
        char name[32];
        snprintf(name, sizeof name, "kill-%zu.db", round);
        all += kill_at_random_moments(name, kills - all < 10 ? kills - all : 10, 1 + round % 2, round);
        assert_true(round < 1000);
    }
}

/* ---- stops ------------------------------------------------------------------------------------------------------------------------ */

static bool go_for_a_while(void *context)
{
    return atomic_fetch_sub((atomic_int *)context, 1) > 0;
}

static void a_stopped_sweep_goes_on_from_its_checkpoints(void **state)
{
    (void)state;
    rung_sweep *sweep = parse(small_spec);
    bool stopped_inside = false;
    size_t rounds = 0;
    for (rung_lab_sum sum = {.left = 1}; sum.left; rounds++) {
        atomic_int calls = 37;
        sum = do_sweep(sweep, in_dir("stop.db"),
                       (rung_lab_options){.jobs = 1 + rounds % 2, .go = go_for_a_while, .context = &calls});
        assert_int_equal(sum.stopped, sum.left > 0 || calls <= 0);
        stopped_inside = stopped_inside || access(in_dir("stop.db.work"), F_OK) == 0;
        assert_true(rounds < 200);
    }
    assert_true(stopped_inside && rounds > 3);
    expect_undisturbed(in_dir("stop.db"));
    rung_sweep_free(sweep);
}

static void checkpoints_that_are_damaged_or_lack_metrics_begin_anew(void **state)
{
    (void)state;
    rung_sweep *sweep = parse(small_spec);
    static const char *const damage[] = {"for f in %s/d.db.work/*.checkpoint; do truncate -s 100 $f; done",
                                         "rm -f %s/d.db.work/*.metrics",
                                         "for f in %s/d.db.work/*.metrics; do echo x > $f; done",
                                         "for f in %s/d.db.work/*.metrics; do tail -n 1 $f > $f.t; mv $f.t $f; done"};
    for (size_t i = 0; i < RUNG_COUNT(damage); i++) {
        atomic_int calls = 25; /* behind the second evaluation of the first run */
        char command[300];
        remove(in_dir("d.db"));
        rung_lab_sum sum =
            do_sweep(sweep, in_dir("d.db"), (rung_lab_options){.jobs = 1, .go = go_for_a_while, .context = &calls});
        assert_true(sum.stopped && sum.left == 12);
        snprintf(command, sizeof command, damage[i], test_dir);
        assert_int_equal(system(command), 0);
        do_sweep(sweep, in_dir("d.db"), (rung_lab_options){.jobs = 2});
        expect_undisturbed(in_dir("d.db"));
    }
    rung_sweep_free(sweep);
}

static bool count_resumed(void *context, const rung_run_row *row)
{
    *(size_t *)context += row->resumed;
    return true;
}

/* After a kill the metrics may be ahead of the checkpoint. The run goes on nevertheless, and no line is there twice. */
static void lines_behind_the_checkpoint_are_dropped_and_the_run_goes_on(void **state)
{
    (void)state;
    rung_sweep *sweep = parse(small_spec);
    atomic_int calls = 25;
    char path[256];
    size_t resumed = 0;
    rung_error err = {""};
    do_sweep(sweep, in_dir("ahead.db"), (rung_lab_options){.jobs = 1, .go = go_for_a_while, .context = &calls});
    snprintf(path, sizeof path, "%s.work/%s.metrics", in_dir("ahead.db"), rung_sweep_id(sweep, 0));
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs("30 0x1p0 0x1p0 0x1p0 0x1p0 0x1p0 0x1p0\n", file);
    fclose(file);
    do_sweep(sweep, in_dir("ahead.db"), (rung_lab_options){.jobs = 2});
    expect_undisturbed(in_dir("ahead.db"));
    rung_store *store = open_store(in_dir("ahead.db"), RUNG_STORE_READ);
    assert_int_equal(rung_store_runs(store, 0, count_resumed, &resumed, &err), RUNG_OK);
    assert_int_equal(resumed, 1);
    rung_store_close(store);
    rung_sweep_free(sweep);
}

/* ---- several processes ---------------------------------------------------------------------------------------------------------- */

static void several_sweeps_on_one_store_share_the_work(void **state)
{
    (void)state;
    rung_sweep *sweep = parse(small_spec);
    pid_t child[3];
    int done = 0;
    for (size_t i = 0; i < 3; i++) child[i] = sweep_in_child(sweep, in_dir("shared.db"), 1 + i % 2);
    for (size_t i = 0; i < 3; i++) {
        int result;
        assert_int_equal(waitpid(child[i], &result, 0), child[i]);
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) < 200);
        done += WEXITSTATUS(result);
    }
    assert_int_equal(done, 12); /* each run once */
    expect_undisturbed(in_dir("shared.db"));
    rung_sweep_free(sweep);
}

static void claim_as(const char *path, const char *id, const char *host, const char *boot, int64_t pid, int64_t started,
                     double beat)
{
    sqlite3 *db;
    char sql[512];
    snprintf(sql, sizeof sql,
             "INSERT OR REPLACE INTO claims VALUES('%s', '%s', '%s', '%s', %" PRId64 ", %" PRId64 ", %f)", id, host,
             boot, "", pid, started, beat);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* A claim of a process that cannot be seen from here holds for ten minutes; one of an earlier boot of this host does not. */
static void claims_of_others_hold_while_they_live(void **state)
{
    (void)state;
    rung_sweep *sweep = parse(small_spec);
    char host[256] = "";
    double now = (double)time(NULL);
    const char *path = in_dir("claims.db");
    rung_lab_sum sum;
    gethostname(host, sizeof host - 1);
    do_sweep(sweep, path, (rung_lab_options){.jobs = 1, .shard = 11, .shards = 12});
    claim_as(path, rung_sweep_id(sweep, 0), "elsewhere", "b", 1, 1, now - 60);
    claim_as(path, rung_sweep_id(sweep, 1), "elsewhere", "b", 1, 1, now - 3600);
    claim_as(path, rung_sweep_id(sweep, 2), host, "earlier boot", 1, 1, now);
    sum = do_sweep(sweep, path, (rung_lab_options){.jobs = 2});
    assert_true(sum.elsewhere == 1 && sum.before == 1 && sum.done == 10 && sum.left == 0);
    claim_as(path, rung_sweep_id(sweep, 0), "elsewhere", "b", 1, 1, now - 3600);
    sum = do_sweep(sweep, path, (rung_lab_options){.jobs = 2});
    assert_true(sum.elsewhere == 0 && sum.before == 11 && sum.done == 1);
    expect_undisturbed(path);
    rung_sweep_free(sweep);
}

typedef struct rival {
    const rung_sweep *sweep;
    const char *path;
    int calls;
} rival;

/* In the middle of a run its claim is taken over by somebody who then finishes first. */
static bool be_overtaken(void *context)
{
    rival *r = context;
    rung_lab_did did;
    rung_error err = {""};
    if (++r->calls != 15) return true;
    claim_as(r->path, rung_sweep_id(r->sweep, 0), "elsewhere", "b", 1, 1, 0);
    rung_store *store = open_store(r->path, RUNG_STORE_WRITE);
    assert_int_equal(rung_lab_run(&did, store, r->sweep, 0, &(rung_lab_options){.wait_s = 5}, &err), RUNG_OK);
    assert_int_equal(did, RUNG_LAB_DONE);
    rung_store_close(store);
    return true;
}

static void a_run_that_two_have_done_is_recorded_once(void **state)
{
    (void)state;
    rung_sweep *sweep = parse(small_spec);
    rival r = {.sweep = sweep, .path = in_dir("rival.db")};
    rung_lab_options conf = {.wait_s = 5, .go = be_overtaken, .context = &r};
    rung_store *store = open_store(r.path, RUNG_STORE_WRITE);
    rung_lab_did did;
    rung_error err = {""};
    size_t count;
    rung_status status = rung_lab_run(&did, store, sweep, 0, &conf, &err);
    if (status != RUNG_OK) fail_msg("%s", err.text);
    assert_int_equal(did, RUNG_LAB_WAS_DONE);
    assert_int_equal(rung_store_run_count(&count, store, &err), RUNG_OK);
    assert_int_equal(count, 1);
    rung_store_close(store);
    do_sweep(sweep, r.path, (rung_lab_options){.jobs = 2});
    expect_undisturbed(r.path);
    rung_sweep_free(sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kills_lose_no_finished_run_and_repeat_none),
        cmocka_unit_test(a_stopped_sweep_goes_on_from_its_checkpoints),
        cmocka_unit_test(checkpoints_that_are_damaged_or_lack_metrics_begin_anew),
        cmocka_unit_test(lines_behind_the_checkpoint_are_dropped_and_the_run_goes_on),
        cmocka_unit_test(several_sweeps_on_one_store_share_the_work),
        cmocka_unit_test(claims_of_others_hold_while_they_live),
        cmocka_unit_test(a_run_that_two_have_done_is_recorded_once),
    };
    return cmocka_run_group_tests(tests, make_reference, drop_reference);
}
