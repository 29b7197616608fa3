/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Several processes at one run: the same curve, checkpoint and model to the last bit for any number of ranks, also when the
 * number changes on the way and whoever stops it; nobody but rank 0 touches files; ranks that do not belong together are told.
 * The team here is a piece of shared memory between forked processes, so that no MPI is needed.
 */
#include "train_test.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { RANKS_MOST = 9, ROOM = 1 << 25, CURVE = 64 };

typedef struct shared {
    atomic_size_t arrived;
    size_t exchanges[RANKS_MOST];
    rung_status status[RANKS_MOST];
    char message[RANKS_MOST][256];
    double curve[RANKS_MOST][CURVE][3];
    double tested[RANKS_MOST][2]; /* loss and accuracy of the last test */
    unsigned char room[ROOM];
} shared;

static shared *board;
static char directory[] = "/tmp/rung-test-team-XXXXXX";

/* ---- team ------------------------------------------------------------------------------------------------------------------ */

typedef struct member {
    size_t rank, size, round;
} member;

/* No clock: a rank that does not come is a hanging test, which the alarm ends. */
static void wait_for_all(member *m)
{
    m->round++;
    atomic_fetch_add(&board->arrived, 1);
    while (atomic_load(&board->arrived) < m->round * m->size) sched_yield();
}

static void exchange(void *context, const rung_parcel *parcel, size_t parcels)
{
    member *m = context;
    for (int reading = 0; reading < 2; reading++) {
        size_t at = 0;
        for (size_t i = 0; i < parcels; i++) {
            if (at + parcel[i].size > ROOM || parcel[i].from == parcel[i].to) _exit(99);
            if (!reading && parcel[i].from == m->rank) memcpy(board->room + at, parcel[i].bytes, parcel[i].size);
            if (reading && parcel[i].to == m->rank) memcpy(parcel[i].bytes, board->room + at, parcel[i].size);
            at += parcel[i].size;
        }
        wait_for_all(m);
    }
    board->exchanges[m->rank]++;
}

/* ---- runs -------------------------------------------------------------------------------------------------------------------- */

typedef struct job {
    rung_train_spec conf;
    rung_buf task;
    size_t stop_rank;
    uint64_t stop_step; /* 0: none */
    const char *name;   /* of the files */
    bool other_seed;    /* at the last rank */
} job;

typedef struct watcher {
    const job *job;
    size_t rank;
} watcher;

static void path_of(char out[256], const char *name, size_t rank, const char *ending)
{
    snprintf(out, 256, "%s/%s-%zu.%s", directory, name, rank, ending);
}

static bool note(void *context, const rung_train_state *s, bool evaluated)
{
    const watcher *w = context;
    double *at = board->curve[w->rank][s->step - 1];
    (void)evaluated;
    at[0] = s->loss, at[1] = s->gradient, at[2] = s->eval_loss;
    return !(w->job->stop_step == s->step && w->job->stop_rank == w->rank);
}

static void work(const job *j, size_t rank, size_t size)
{
    char checkpoint[256], model[256];
    rung_error err = {""};
    rung_train_state state = {0};
    member me = {.rank = rank, .size = size};
    rung_team team = {.rank = rank, .size = size, .context = &me, .exchange = exchange};
    rung_train_spec conf = j->conf;
    watcher w = {j, rank};
    if (size) conf.team = &team;
    if (j->other_seed && rank + 1 == size) conf.seed++;
    path_of(checkpoint, j->name, rank, "checkpoint");
    path_of(model, j->name, rank, "safetensors");
    board->status[rank] = rung_train_run(&state, &conf, model, checkpoint, note, &w, &err);
    board->tested[rank][0] = state.test_loss, board->tested[rank][1] = state.test_accuracy;
    snprintf(board->message[rank], sizeof board->message[rank], "%.250s", err.text);
}

/* size 0: no team at all. */
static void run_ranks(const job *j, size_t size)
{
    pid_t child[RANKS_MOST];
    size_t ranks = size ? size : 1;
    atomic_store(&board->arrived, 0);
    memset(board->curve, 0, sizeof board->curve);
    memset(board->exchanges, 0, sizeof board->exchanges);
    for (size_t r = 0; r < ranks; r++) {
        child[r] = fork();
        assert_true(child[r] >= 0);
        if (child[r]) continue;
        alarm(300);
        work(j, r, size);
        _exit(0);
    }
    for (size_t r = 0; r < ranks; r++) {
        int status = -1;
        assert_int_equal(waitpid(child[r], &status, 0), child[r]);
        assert_int_equal(status, 0);
    }
}

static void job_init(job *j, const char *name, const char *arch, const char *task)
{
    *j = (job){.name = name};
    small_run(&j->conf, &j->task, arch, task);
    j->conf.model.mlp = "gelu", j->conf.model.d_model = 24, j->conf.model.d_mlp = 40;
    j->conf.steps = 12;
    j->conf.batch = 19;
    j->conf.eval_every = 5;
    j->conf.test_prompts = 20;
}

static void assert_same_file(const char *a, const char *b, const char *ending)
{
    char one_path[256], two_path[256];
    rung_file_map one, two;
    path_of(one_path, a, 0, ending);
    path_of(two_path, b, 0, ending);
    CHECK(rung_file_open_map(&one, one_path, &check_err));
    CHECK(rung_file_open_map(&two, two_path, &check_err));
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.bytes, two.bytes, one.size);
    rung_file_close_map(&one);
    rung_file_close_map(&two);
}

static void remove_files(const char *name)
{
    char path[256];
    for (size_t r = 0; r < RANKS_MOST; r++) {
        path_of(path, name, r, "checkpoint");
        unlink(path);
        path_of(path, name, r, "safetensors");
        unlink(path);
    }
}

static void assert_only_first_writes(const char *name)
{
    char path[256];
    for (size_t r = 1; r < RANKS_MOST; r++) {
        path_of(path, name, r, "checkpoint");
        assert_int_not_equal(access(path, F_OK), 0);
        path_of(path, name, r, "safetensors");
        assert_int_not_equal(access(path, F_OK), 0);
    }
}

static void assert_all_ok(size_t ranks)
{
    for (size_t r = 0; r < ranks; r++)
        if (board->status[r] != RUNG_OK) fail_msg("rank %zu: %s", r, board->message[r]);
}

/* ---- cases ------------------------------------------------------------------------------------------------------------------- */

typedef struct kind {
    const char *arch, *task;
    size_t batch, accumulate, queries;
    const char *test_numbers;
    size_t d_mlp;
} kind;

/* Fewer prompts than slices, slices of unequal size, several batches per step, questions that share a prompt, and a
 * gradient of several chunks. */
static const kind kinds[] = {
    {"full,linear", "eva N=5 V=3", 19, 1, 0, NULL, 40},
    {"2*gdelta", "eva N=4 V=6", 5, 2, 0, "bf16", 40},
    {"2*full", "seqcomp L=2 N0=3 n=3 flat=1", 8, 1, 4, "f32", 40},
    {"2*full", "eva N=3 V=3", 9, 1, 0, NULL, 3001},
};

static void same_bits_for_any_number_of_ranks(void **state)
{
    static double alone[CURVE][3];
    double tested[2];
    (void)state;
    for (size_t k = 0; k < RUNG_COUNT(kinds); k++) {
        job j;
        job_init(&j, "alone", kinds[k].arch, kinds[k].task);
        j.conf.batch = kinds[k].batch, j.conf.accumulate = kinds[k].accumulate, j.conf.queries = kinds[k].queries;
        j.conf.test_numbers = kinds[k].test_numbers, j.conf.model.d_mlp = kinds[k].d_mlp;
        remove_files("alone");
        run_ranks(&j, 0);
        assert_all_ok(1);
        memcpy(alone, board->curve[0], sizeof alone);
        memcpy(tested, board->tested[0], sizeof tested);
        assert_true(tested[0] > 0);
        assert_true(alone[j.conf.steps - 1][0] > 0);
        for (size_t size = 1; size <= 8; size++) {
            j.name = "team";
            j.conf.threads = 1 + size % 2;
            remove_files("team");
            run_ranks(&j, size);
            assert_all_ok(size);
            for (size_t r = 0; r < size; r++) {
                assert_memory_equal(board->curve[r], alone, j.conf.steps * sizeof alone[0]);
                assert_memory_equal(board->tested[r], tested, sizeof tested);
                assert_int_equal(board->exchanges[r] > 0, size > 1);
            }
            assert_same_file("alone", "team", "checkpoint");
            assert_same_file("alone", "team", "safetensors");
            assert_only_first_writes("team");
        }
        rung_buf_clear(&j.task);
    }
}

static void any_rank_may_stop_and_any_number_goes_on(void **state)
{
    static const struct {
        size_t ranks, stop_rank;
        uint64_t step;
    } leg[] = {{4, 3, 3}, {2, 0, 6}, {0, 0, 8}, {3, 1, 9}, {8, 0, 0}};
    job j;
    (void)state;
    job_init(&j, "alone", "full", "eva N=5 V=3");
    remove_files("alone");
    run_ranks(&j, 0);
    j.name = "legs";
    remove_files("legs");
    for (size_t i = 0; i < RUNG_COUNT(leg); i++) {
        j.stop_rank = leg[i].stop_rank, j.stop_step = leg[i].step;
        run_ranks(&j, leg[i].ranks);
        assert_all_ok(leg[i].ranks ? leg[i].ranks : 1);
        if (leg[i].step) /* nobody has gone further */
            for (size_t r = 0; r < leg[i].ranks; r++) assert_true(board->curve[r][leg[i].step][0] == 0);
    }
    assert_same_file("alone", "legs", "checkpoint");
    assert_same_file("alone", "legs", "safetensors");
    assert_only_first_writes("legs");
    rung_buf_clear(&j.task);
}

static void what_does_not_belong_together_is_refused_everywhere(void **state)
{
    job j;
    char path[256];
    (void)state;
    job_init(&j, "refused", "full", "eva N=5 V=3");
    remove_files("refused");
    j.other_seed = true;
    run_ranks(&j, 3);
    for (size_t r = 0; r < 3; r++) {
        assert_int_equal(board->status[r], RUNG_USAGE);
        assert_non_null(strstr(board->message[r], "ranks 0 and 2 do not have the same words"));
    }
    j.other_seed = false;
    run_ranks(&j, 9);
    for (size_t r = 0; r < 9; r++) {
        assert_int_equal(board->status[r], RUNG_USAGE);
        assert_non_null(strstr(board->message[r], "9 processes are too many"));
    }
    path_of(path, "refused", 0, "checkpoint");
    CHECK(rung_file_write(path, "rubbish", 7, &check_err)); /* rank 0 alone can see what is wrong with it */
    run_ranks(&j, 2);
    assert_int_equal(board->status[0], RUNG_INPUT);
    assert_int_equal(board->status[1], RUNG_INPUT);
    assert_non_null(strstr(board->message[0], "refused-0.checkpoint"));
    assert_string_equal(board->message[1], "rank 0 has failed");
    rung_buf_clear(&j.task);
}

/* ---- main -------------------------------------------------------------------------------------------------------------------- */

static int begin(void **state)
{
    (void)state;
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return board != MAP_FAILED && mkdtemp(directory) ? 0 : 1;
}

static int end(void **state)
{
    char command[160];
    (void)state;
    munmap(board, sizeof *board);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_any_number_of_ranks),
        cmocka_unit_test(any_rank_may_stop_and_any_number_goes_on),
        cmocka_unit_test(what_does_not_belong_together_is_refused_everywhere),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
