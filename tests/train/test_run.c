/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Whole runs: the same bytes for any number of threads, after a stop and after a kill; what is learnt and what must not be;
 * batches against the oracle; refusals; the update rule against its definition in double; event files read back.
 */
#include "train_test.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static char directory[] = "/tmp/rung-test-run-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[4][128];
    static size_t turn;
    char *out = path[turn++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", directory, name);
    return out;
}

static void remove_file(const char *name)
{
    unlink(path_of(name));
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : 1;
}

static int remove_directory(void **state)
{
    char command[160];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

typedef struct test_run {
    rung_train_spec conf;
    rung_buf task;
} test_run;

static void run_init(test_run *r, const char *arch, const char *task)
{
    small_run(&r->conf, &r->task, arch, task);
    r->conf.steps = 24;
    r->conf.batch = 10;
    r->conf.eval_every = 7;
}

static void run_clear(test_run *r)
{
    rung_buf_clear(&r->task);
}

static void assert_same_files(const char *a, const char *b)
{
    rung_file_map one, two;
    CHECK(rung_file_open_map(&one, path_of(a), &check_err));
    CHECK(rung_file_open_map(&two, path_of(b), &check_err));
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.bytes, two.bytes, one.size);
    rung_file_close_map(&one);
    rung_file_close_map(&two);
}

/* ---- the same bytes ----------------------------------------------------------------------------------------------------- */

static const char *const runs[][2] = {
    {"full,gdelta:conv=2", "eva N=6 V=4"},
    {"2*full", "seqcomp L=2 N0=3 n=2 flat=1"},
};

static void set_extras(test_run *r, size_t which)
{
    r->conf.queries = which ? 3 : 0;
    r->conf.layer_targets = which ? 0.5 : 0;
    r->conf.mix_first = r->conf.mix_second = which ? 0.3 : 0;
    r->conf.accumulate = which ? 1 : 2;
    r->conf.numbers = which ? "bf16" : NULL;
    r->conf.few_values = which ? 0.5 : 0;
    r->conf.grow = which ? 0.8 : 0;
    r->conf.layer_goal = which ? 0.4 : 0, r->conf.layer_rest = which ? 0.25 : 0;
    r->conf.value_gain = which ? 2 : 1, r->conf.position_base = which ? 3 : 0;
}

static bool stop_at_ten(void *context, const rung_train_state *state, bool evaluated)
{
    (void)context;
    (void)evaluated;
    return state->step != 10;
}

static void threads_and_stops_do_not_show(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(runs); i++) {
        test_run r;
        rung_train_state end;
        run_init(&r, runs[i][0], runs[i][1]);
        set_extras(&r, i);
        remove_file("a.ckpt");
        remove_file("b.ckpt");
        CHECK(rung_train_run(&end, &r.conf, path_of("a"), path_of("a.ckpt"), NULL, NULL, &check_err));
        assert_true(end.finished && end.step == 24 && !end.resumed);
        r.conf.threads = 2;
        r.conf.checkpoint_every = 4;
        CHECK(rung_train_run(&end, &r.conf, path_of("b"), path_of("b.ckpt"), stop_at_ten, NULL, &check_err));
        assert_true(!end.finished && end.step == 10);
        CHECK(rung_train_run(&end, &r.conf, path_of("b"), path_of("b.ckpt"), NULL, NULL, &check_err));
        assert_true(end.finished && end.resumed);
        assert_same_files("a", "b");
        assert_same_files("a.ckpt", "b.ckpt");
        CHECK(rung_train_run(&end, &r.conf, path_of("b"), path_of("b.ckpt"), NULL, NULL, &check_err)); /* again: over */
        assert_same_files("a", "b");
        run_clear(&r);
    }
}

/* A child is killed at any moment, several times; what it leaves is the old checkpoint or the new one. */
static void a_kill_loses_steps_but_changes_nothing(void **state)
{
    (void)state;
    test_run r;
    rung_train_state end;
    run_init(&r, runs[0][0], runs[0][1]);
    r.conf.steps = 60;
    r.conf.checkpoint_every = 1;
    remove_file("a.ckpt");
    remove_file("k.ckpt");
    CHECK(rung_train_run(&end, &r.conf, path_of("a"), path_of("a.ckpt"), NULL, NULL, &check_err));
    for (int kill_number = 0; kill_number < 6; kill_number++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            rung_error err;
            _exit(rung_train_run(&end, &r.conf, path_of("k"), path_of("k.ckpt"), NULL, NULL, &err) == RUNG_OK ? 0 : 1);
        }
        nanosleep(&(struct timespec){.tv_nsec = 9000000L * (kill_number + 1)}, NULL);
        kill(child, SIGKILL);
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) || WEXITSTATUS(how) == 0);
    }
    CHECK(rung_train_run(&end, &r.conf, path_of("k"), path_of("k.ckpt"), NULL, NULL, &check_err));
    assert_same_files("a", "k");
    assert_same_files("a.ckpt", "k.ckpt");
    run_clear(&r);
}

static void a_checkpoint_of_another_run_is_refused_by_name(void **state)
{
    (void)state;
    test_run r;
    rung_train_state end;
    rung_error err;
    run_init(&r, runs[0][0], runs[0][1]);
    remove_file("a.ckpt");
    CHECK(rung_train_run(&end, &r.conf, path_of("a"), path_of("a.ckpt"), NULL, NULL, &check_err));
    r.conf.adamw.rate = 1e-3;
    assert_int_equal(rung_train_run(&end, &r.conf, path_of("a"), path_of("a.ckpt"), NULL, NULL, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "rate=0.001"));
    CHECK(rung_file_write(path_of("a.ckpt"), "rubbish", 7, &check_err));
    assert_int_equal(rung_train_run(&end, &r.conf, path_of("a"), path_of("a.ckpt"), NULL, NULL, &err), RUNG_INPUT);
    run_clear(&r);
}

/* ---- learning -------------------------------------------------------------------------------------------------------------- */

static void a_lookup_is_learnt_stops_early_and_random_labels_are_not(void **state)
{
    (void)state;
    test_run r;
    rung_train_state end;
    run_init(&r, "full", "eva N=4 V=4");
    r.conf.steps = 2000;
    r.conf.batch = 32;
    r.conf.adamw.rate = 1e-2;
    r.conf.eval_every = 50;
    r.conf.eval_prompts = 128;
    r.conf.stop_at = 0.99;
    r.conf.threads = 2;
    CHECK(rung_train_run(&end, &r.conf, path_of("l"), NULL, NULL, NULL, &check_err));
    assert_true(end.stopped_early && end.step < 2000 && end.eval_accuracy >= 0.99);
    r.conf.random_labels = true;
    r.conf.steps = 200;
    r.conf.eval_prompts = 2048;
    CHECK(rung_train_run(&end, &r.conf, path_of("l"), NULL, NULL, NULL, &check_err));
    assert_true(!end.stopped_early && fabs(end.eval_accuracy - 0.25) < 4 * sqrt(0.25 * 0.75 / 2048));
    run_clear(&r);
}

/* ---- auxiliary losses that fade ------------------------------------------------------------------------------------- */

typedef struct fading {
    double goal, before; /* before: accuracy of the read-out after the last step; NaN: there was none */
    size_t faded, full;
} fading;

static bool watch_fading(void *context, const rung_train_state *state, bool evaluated)
{
    fading *f = context;
    (void)evaluated;
    assert_int_equal(state->layers, 2);
    const rung_train_layer *first = &state->layer[0], *last = &state->layer[1];
    assert_true(isnan(last->target_loss) && isnan(last->target_accuracy) && !isnan(first->target_loss));
    bool fades = f->before >= f->goal; /* false for NaN */
    assert_true(first->target_weight == (fades ? 1 : 4));
    fades ? f->faded++ : f->full++;
    f->before = first->target_accuracy;
    /* The parts of the gradient make the whole. */
    double sum = first->gradient * first->gradient + last->gradient * last->gradient +
                 state->outer_gradient * state->outer_gradient;
    assert_true(fabs(sqrt(sum) - state->gradient) <= 1e-5 * state->gradient);
    return true;
}

static void an_auxiliary_loss_fades_while_its_readout_is_right(void **state)
{
    (void)state;
    test_run r;
    rung_train_state end;
    fading f = {.goal = 0.8, .before = NAN};
    run_init(&r, "window:W=2,full", "seqcomp L=1 N0=4");
    r.conf.steps = 300;
    r.conf.adamw.rate = 1e-2;
    r.conf.layer_targets = 4, r.conf.layer_goal = f.goal, r.conf.layer_rest = 0.25;
    CHECK(rung_train_run(&end, &r.conf, NULL, NULL, watch_fading, &f, &check_err));
    assert_true(f.full > 5 && f.faded > 50);
    assert_null(end.layer);
    run_clear(&r);
}

/* Two batches of eight prompts are the sixteen prompts of one. */
static void accumulated_batches_are_one_large_batch(void **state)
{
    (void)state;
    test_run r;
    rung_train_state one, two;
    run_init(&r, "full", "eva N=4 V=4");
    r.conf.steps = 12;
    r.conf.batch = 16;
    r.conf.eval_prompts = 32;
    CHECK(rung_train_run(&one, &r.conf, path_of("l"), NULL, NULL, NULL, &check_err));
    r.conf.batch = 8;
    r.conf.accumulate = 2;
    CHECK(rung_train_run(&two, &r.conf, path_of("l"), NULL, NULL, NULL, &check_err));
    assert_true(fabs(one.loss - two.loss) < 1e-4 && fabs(one.gradient - two.gradient) < 1e-3 * one.gradient);
    assert_true(fabs(one.eval_loss - two.eval_loss) < 1e-4);
    run_clear(&r);
}

/* ---- refusals ----------------------------------------------------------------------------------------------------------------- */

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    test_run r;
    rung_train_state end;
    rung_error err;
    run_init(&r, "full", "eva N=4 V=4");
    const rung_train_spec good = r.conf;
    r.conf.layer_targets = 1;
    assert_int_equal(rung_train_run(&end, &r.conf, path_of("l"), NULL, NULL, NULL, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "seqcomp"));
    r.conf = good, r.conf.mix_first = 0.7, r.conf.mix_second = 0.7;
    assert_int_equal(rung_train_run(&end, &r.conf, path_of("l"), NULL, NULL, NULL, &err), RUNG_USAGE);
    r.conf = good, r.conf.batch = 0;
    assert_int_equal(rung_train_run(&end, &r.conf, path_of("l"), NULL, NULL, NULL, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "batch"));
    r.conf = good, r.conf.adamw.rate = 1000, r.conf.adamw.clip = 0, r.conf.steps = 200;
    r.conf.model.norm = RUNG_NORM_NONE;
    rung_status status = rung_train_run(&end, &r.conf, path_of("l"), NULL, NULL, NULL, &err);
    assert_true(status == RUNG_OK || strstr(err.text, "no number"));
    run_clear(&r);
}

/* ---- AdamW ------------------------------------------------------------------------------------------------------------------- */

/* A small net with AdamW's means and a gradient, all zero. */
typedef struct optimizer {
    rung_net *net;
    size_t count;
    float *m, *v, *g;
} optimizer;

static optimizer optimizer_new(void)
{
    rung_model_spec spec = small_spec("linear");
    optimizer o = {0};
    CHECK(rung_net_new(&o.net, &spec, 3, &check_err));
    o.count = rung_net_parameters(o.net);
    o.m = calloc(o.count, sizeof *o.m), o.v = calloc(o.count, sizeof *o.v), o.g = calloc(o.count, sizeof *o.g);
    assert_true(o.m && o.v && o.g);
    return o;
}

static void optimizer_free(optimizer *o)
{
    rung_net_free(o->net);
    free(o->m);
    free(o->v);
    free(o->g);
}

static void adamw_follows_its_definition_in_double(void **state)
{
    (void)state;
    optimizer o = optimizer_new();
    size_t count = o.count;
    double *w = calloc(count, sizeof *w), *dm = calloc(count, sizeof *dm), *dv = calloc(count, sizeof *dv);
    assert_true(w && dm && dv);
    rung_adamw conf = {3e-3, 0.9, 0.98, 1e-8, 0.1, 0.5, RUNG_SCHEDULE_LINEAR, 3, 20};
    rung_rng rng;
    rung_rng_init(&rng, 1, 2, 3);
    for (size_t i = 0; i < count; i++) w[i] = (double)rung_net_values(o.net)[i];
    for (uint64_t step = 0; step < 15; step++) {
        double square = 0, t = (double)step + 1;
        double rate = step < 3 ? 3e-3 * t / 3 : 3e-3 * (1 - (double)(step - 3) / 17);
        assert_true(fabs(rate - rung_adamw_rate(&conf, step)) < 1e-12);
        for (size_t i = 0; i < count; i++) o.g[i] = (float)(0.05 * rung_rng_normal(&rng));
        for (size_t i = 0; i < count; i++) square += (double)o.g[i] * (double)o.g[i];
        double scale = fmin(1, 0.5 / (sqrt(square) + 1e-6));
        for (size_t n = 0; n < rung_net_tensor_count(o.net); n++) {
            const rung_net_tensor *tensor = rung_net_tensor_at(o.net, n);
            for (size_t i = tensor->offset; i < tensor->offset + tensor->elements; i++) {
                double gi = scale * (double)o.g[i];
                dm[i] = 0.9 * dm[i] + 0.1 * gi;
                dv[i] = 0.98 * dv[i] + 0.02 * gi * gi;
                if (tensor->decays) w[i] -= rate * 0.1 * w[i];
                w[i] -= rate * (dm[i] / (1 - pow(0.9, t))) / (sqrt(dv[i] / (1 - pow(0.98, t))) + 1e-8);
            }
        }
        double norm = rung_adamw_step(o.net, o.m, o.v, o.g, &conf, step);
        assert_true(fabs(norm - sqrt(square)) < 1e-6 * norm);
    }
    for (size_t i = 0; i < count; i++) assert_true(fabs(w[i] - (double)rung_net_values(o.net)[i]) < 1e-5);
    optimizer_free(&o);
    free(w);
    free(dm);
    free(dv);
}

/* Means that nothing adds to would go through numbers below 2^-126, slowly; they are 0 there. After a step such numbers are numbers again. */
static void tiny_means_become_zero_and_nothing_else_does(void **state)
{
    (void)state;
    optimizer o = optimizer_new();
    for (size_t i = 0; i < o.count; i++) o.m[i] = 0x1p-126f, o.v[i] = 0x1p-120f;
    rung_adamw conf = {3e-3, 0.9, 0.98, 1e-8, 0, 0, RUNG_SCHEDULE_CONSTANT, 0, 20};
    rung_adamw_step(o.net, o.m, o.v, o.g, &conf, 0);
#if defined(__SSE2__) || defined(__aarch64__)
    for (size_t i = 0; i < o.count; i++) assert_true(o.m[i] == 0 && o.v[i] > 0);
#endif
    volatile float least = 0x1p-126f, half = least / 2;
    assert_true(half > 0 && half + half == least);
    optimizer_free(&o);
}

/* ---- events --------------------------------------------------------------------------------------------------------------------- */

static uint32_t crc_bitwise(const uint8_t *bytes, size_t count)
{
    uint32_t c = ~0u;
    for (size_t i = 0; i < count; i++)
        for (int bit = 0; bit < 8; bit++) {
            uint32_t in = (bytes[i] >> bit ^ c) & 1;
            c = c >> 1 ^ (in ? 0x82f63b78u : 0);
        }
    return ~c;
}

static uint32_t unmask(const uint8_t *at)
{
    uint32_t masked = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    uint32_t rotated = masked - 0xa282ead8u;
    return rotated >> 17 | rotated << 15;
}

static void event_files_have_framed_records_with_their_numbers(void **state)
{
    (void)state;
    rung_events *events = NULL;
    rung_file_map map;
    char command[200], path[300] = "";
    assert_int_equal(crc_bitwise((const uint8_t *)"123456789", 9), 0xe3069283u); /* the check value of CRC-32C */
    CHECK(rung_events_open(&events, path_of("tb"), 1700000000, &check_err));
    CHECK(rung_events_scalar(events, "train/loss", 0.5f, 300, 1700000001, &check_err));
    rung_events_close(events);
    snprintf(command, sizeof command, "ls %s/events.out.tfevents.*", path_of("tb"));
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_non_null(fgets(path, sizeof path, list));
    pclose(list);
    path[strcspn(path, "\n")] = 0;
    CHECK(rung_file_open_map(&map, path, &check_err));
    size_t at = 0, records = 0;
    const uint8_t *last = NULL;
    size_t last_length = 0;
    while (at < map.size) {
        assert_true(map.size - at > 16);
        size_t length = map.bytes[at];
        for (size_t i = 1; i < 8; i++) assert_int_equal(map.bytes[at + i], 0);
        assert_int_equal(unmask(map.bytes + at + 8), crc_bitwise(map.bytes + at, 8));
        assert_int_equal(unmask(map.bytes + at + 12 + length), crc_bitwise(map.bytes + at + 12, length));
        last = map.bytes + at + 12, last_length = length;
        at += 16 + length, records++;
    }
    assert_int_equal(records, 2);
    /* wall_time; step 300 = 0xac 0x02; summary { value { tag "train/loss"; simple_value 0.5 } } */
    static const uint8_t want[] = {0x10, 0xac, 0x02, 0x2a, 0x13, 0x0a, 0x11, 0x0a, 0x0a, 't',  'r',  'a',
                                   'i',  'n',  '/',  'l',  'o',  's',  's',  0x15, 0x00, 0x00, 0x00, 0x3f};
    assert_int_equal(last_length, 9 + sizeof want);
    assert_int_equal(last[0], 0x09);
    assert_memory_equal(last + 9, want, sizeof want);
    rung_file_close_map(&map);
}

/* ---- the last test ------------------------------------------------------------------------------------------------------- */

/* A model file and prompts 0, 1, ... of the third stream, for the evaluator of `rung run`. */
typedef struct judge {
    const rung_train_spec *conf;
    rung_model *model;
    rung_program *program;
    rung_session *session;
    rung_instance instance;
    double logits[64];
} judge;

static void judge_open(judge *j, const char *path, const rung_train_spec *conf)
{
    j->conf = conf;
    CHECK(rung_model_open(&j->model, path, &check_err));
    CHECK(rung_program_new(&j->program, j->model, &(rung_evaluator){.threads = 1}, &check_err));
    CHECK(rung_session_new(&j->session, j->program, conf->task.tokens + conf->thoughts, &check_err));
    CHECK(rung_instance_init(&j->instance, &conf->task, &check_err));
    assert_true(conf->model.answers <= RUNG_COUNT(j->logits));
}

static void judge_close(judge *j)
{
    rung_instance_clear(&j->instance);
    rung_session_free(j->session);
    rung_program_free(j->program);
    rung_model_close(j->model);
}

static rung_prompt judge_prompt(judge *j, size_t index)
{
    const uint64_t stream[2] = {j->conf->seed, 3};
    CHECK(rung_task_make(&j->instance, &j->conf->task, rung_hash64(stream, sizeof stream), index, &check_err));
    rung_session_reset(j->session);
    return (rung_prompt){.token = j->instance.token, .tokens = j->instance.tokens};
}

static size_t count_right(const char *path, const rung_train_spec *conf, size_t prompts)
{
    judge j;
    size_t right = 0;
    judge_open(&j, path, conf);
    for (size_t i = 0; i < prompts; i++) {
        rung_prompt prompt = judge_prompt(&j, i);
        size_t last = prompt.tokens - 1;
        CHECK(rung_session_run(j.session, j.logits, &prompt, RUNG_FORM_SCAN, &last, 1, &check_err));
        right += rung_argmax(j.logits, conf->task.answers) == (size_t)j.instance.target[last];
    }
    judge_close(&j);
    return right;
}

static void the_last_test_has_its_own_prompts_and_changes_nothing(void **state)
{
    test_run r;
    rung_train_state without, with;
    (void)state;
    run_init(&r, "full", "eva N=4 V=4");
    r.conf.steps = 60;
    CHECK(rung_train_run(&without, &r.conf, NULL, NULL, NULL, NULL, &check_err)); /* NULL: no model is written */
    assert_true(isnan(without.test_accuracy) && without.test_targets == 0);
    r.conf.test_prompts = 95; /* ten batches of ten */
    CHECK(rung_train_run(&with, &r.conf, path_of("tested"), NULL, NULL, NULL, &check_err));
    assert_true(with.loss == without.loss && with.eval_loss == without.eval_loss);
    assert_int_equal(with.test_targets, 100);
    assert_true(with.test_accuracy == (double)with.test_right / 100);
    assert_int_equal(with.test_right, count_right(path_of("tested"), &r.conf, 100));
    assert_true(with.test_right > 25 &&
                with.test_right < 100); /* neither chance nor all, or a wrong stream would not show */
    remove_file("tested");
    run_clear(&r);
}

/* Whether the model, left to itself, says i_1 and then the answer: seqcomp L=2 N0=3 n=2 flat=1 is z_2 (6 tokens with ids 3..),
 * z_1 (3, ids 0..), z_0 (ids 6..), w (ids 9..). */
static bool thinks_right(judge *j, const rung_prompt *prompt, bool *answers_right)
{
    const uint32_t *token = prompt->token;
    size_t i1 = token[6 + token[9] - 6], w = token[10] - 9, thought = 3 + w * 3 + i1, last = prompt->tokens - 1;
    const size_t here = 0;
    CHECK(rung_session_run(j->session, j->logits, prompt, RUNG_FORM_SCAN, &last, 1, &check_err));
    size_t first = rung_argmax(j->logits, j->conf->model.answers);
    uint32_t word = (uint32_t)(j->conf->task.vocab + (first < 3 ? 0 : first - 3));
    CHECK(rung_session_run(j->session, j->logits, &(rung_prompt){.token = &word, .tokens = 1}, RUNG_FORM_SCAN, &here, 1,
                           &check_err));
    *answers_right = first >= 3 && rung_argmax(j->logits, j->conf->model.answers) == (size_t)j->instance.target[last];
    return first == thought && *answers_right;
}

static void a_question_is_right_when_every_thought_is(void **state)
{
    test_run r;
    rung_train_state end;
    judge j;
    size_t all = 0, lucky = 0;
    (void)state;
    run_init(&r, "full", "seqcomp L=2 N0=3 n=2 flat=1");
    r.conf.steps = 500, r.conf.test_prompts = 200, r.conf.thoughts = 1;
    CHECK(rung_train_add_thoughts(&r.conf, &check_err));
    CHECK(rung_train_run(&end, &r.conf, path_of("thinks"), NULL, NULL, NULL, &check_err));
    judge_open(&j, path_of("thinks"), &r.conf);
    for (size_t i = 0; i < 200; i++) {
        rung_prompt prompt = judge_prompt(&j, i);
        bool answers_right = false;
        bool right = thinks_right(&j, &prompt, &answers_right);
        all += right, lucky += answers_right && !right;
    }
    judge_close(&j);
    assert_int_equal(end.test_targets, 200);
    assert_int_equal(end.test_right, all);
    assert_true(all > 40 && all < 200 && lucky > 0); /* else a count of answers alone would not show */
    r.conf.test_numbers =
        "f64"; /* the exact evaluator counts in the same way; no answer of these hangs on a rounding */
    CHECK(rung_train_run(&end, &r.conf, NULL, NULL, NULL, NULL, &check_err));
    assert_int_equal(end.test_targets, 200);
    assert_int_equal(end.test_right, all);
    remove_file("thinks");
    run_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_stops_do_not_show),
        cmocka_unit_test(a_kill_loses_steps_but_changes_nothing),
        cmocka_unit_test(a_checkpoint_of_another_run_is_refused_by_name),
        cmocka_unit_test(a_lookup_is_learnt_stops_early_and_random_labels_are_not),
        cmocka_unit_test(accumulated_batches_are_one_large_batch),
        cmocka_unit_test(an_auxiliary_loss_fades_while_its_readout_is_right),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(adamw_follows_its_definition_in_double),
        cmocka_unit_test(tiny_means_become_zero_and_nothing_else_does),
        cmocka_unit_test(the_last_test_has_its_own_prompts_and_changes_nothing),
        cmocka_unit_test(a_question_is_right_when_every_thought_is),
        cmocka_unit_test(event_files_have_framed_records_with_their_numbers),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
