/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What tests of attacks share: attacked models with random weights, an attack in one call, and certificates looked at a second time: the
 * sessions are run again here, and rung-check is asked where it has been built.
 */
#ifndef RUNG_TESTS_VICTIM_TEST_H
#define RUNG_TESTS_VICTIM_TEST_H

#include <sys/wait.h>
#include <unistd.h>

#include "rung/attack.h"
#include "testing.h"

/* A random model of one shape, and its task. */
typedef struct prey {
    const char *arch, *numbers, *task;
    size_t dk, dv;
    bool no_positions;
    uint64_t seed;
} prey;

typedef struct caught {
    char path[96];
    rung_model *model;
    rung_program *program;
    rung_task_conf task;
    rung_attacked attacked;
} caught;

static inline rung_task_conf task_of(const char *text)
{
    char copy[256];
    const char *words[16];
    size_t count = 0;
    rung_task_conf conf;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    CHECK(rung_task_conf_init(&conf, words[0], words + 1, count - 1, &check_err));
    return conf;
}

/* The attacked model points into c: do not move it. */
static inline void catch_model(caught *c, const char *numbers)
{
    rung_model *model = NULL;
    CHECK(rung_model_open(&model, c->path, &check_err));
    c->model = model;
    c->attacked = (rung_attacked){.model = model, .task = &c->task};
    CHECK(rung_fmt_parse(&c->attacked.numbers, numbers, &check_err));
    CHECK(rung_program_new(&c->program, model, &(rung_evaluator){.numbers = &c->attacked.numbers, .threads = 1},
                           &check_err));
    c->attacked.program = c->program;
}

static inline void catch_prey(caught *c, prey p)
{
    memset(c, 0, sizeof *c);
    c->task = task_of(p.task);
    snprintf(c->path, sizeof c->path, "/tmp/rung-test-attack-%ld.safetensors", (long)getpid());
    rung_model_spec spec = {.arch = p.arch,
                            .task = "",
                            .mlp = "none",
                            .vocab = c->task.vocab,
                            .answers = c->task.answers,
                            .max_tokens = c->task.tokens,
                            .d_model = 12,
                            .d_mlp = 1,
                            .heads = 1,
                            .dk = p.dk,
                            .dv = p.dv,
                            .positions = p.no_positions ? RUNG_POS_NONE : RUNG_POS_LEARNED,
                            .norm = RUNG_NORM_NONE,
                            .causal = true};
    CHECK(rung_model_write_random(c->path, &spec, p.seed ? p.seed : 1, &check_err));
    catch_model(c, p.numbers);
}

static inline void release(caught *c)
{
    rung_program_free(c->program);
    rung_model_close(c->model);
    unlink(c->path);
}

static inline rung_budget budget_of(double seconds)
{
    return (rung_budget){.seconds = seconds, .memory = (size_t)512 << 20, .threads = 2, .seed = 1};
}

/* ---- a second look ----------------------------------------------------------------------------------------------------------- */

static inline void run_prefix(rung_session *session, const uint32_t *token, size_t count, double *out)
{
    size_t last = count - 1;
    rung_session_reset(session);
    CHECK(rung_session_run(session, out, &(rung_prompt){.token = token, .tokens = count}, RUNG_FORM_STEP, &last, 1,
                           &check_err));
}

static inline int32_t oracle_of(const caught *c, const uint32_t *token)
{
    rung_instance instance;
    CHECK(rung_instance_init(&instance, &c->task, &check_err));
    memcpy(instance.token, token, c->task.tokens * sizeof *token);
    instance.tokens = c->task.tokens;
    CHECK(c->task.task->solve(&instance, &c->task, &check_err));
    int32_t answer = instance.target[c->task.tokens - 1];
    rung_instance_clear(&instance);
    return answer;
}

/* rung-check stands two directories above the test. */
static inline void ask_rung_check(const caught *c, const rung_cert *cert)
{
    char self[512], command[1200], text[128];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return;
    self[length] = '\0';
    for (int up = 0; up < 3 && strrchr(self, '/'); up++) *strrchr(self, '/') = '\0';
    snprintf(command, sizeof command, "%s/rung-check", self);
    if (access(command, X_OK) != 0) return;
    snprintf(text, sizeof text, "%s.cert", c->path);
    CHECK(rung_cert_write(text, cert, &check_err));
    snprintf(command, sizeof command, "%s/rung-check %s %s > %s.out 2>&1", self, text, c->path, c->path);
    int status = system(command);
    unlink(text);
    snprintf(text, sizeof text, "%s.out", c->path);
    unlink(text);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 10) fail_msg("rung-check ends with %d", WEXITSTATUS(status));
}

/* Steps instead of scans, and the numbers themselves instead of the runner's word. */
static inline void confirm(const caught *c, const rung_cert *cert)
{
    rung_session *s[2] = {NULL, NULL};
    const rung_model_spec *spec = rung_model_get_spec(c->model);
    double *out = calloc(spec->answers, sizeof *out), *view[2];
    size_t sides = cert->kind == RUNG_CERT_WRONG_ANSWER ? 1 : 2;
    for (size_t i = 0; i < sides; i++) {
        CHECK(rung_session_new(&s[i], c->program, cert->tokens, &check_err));
        assert_int_equal(oracle_of(c, cert->prompt[i]), cert->right[i]);
        bool state = cert->kind == RUNG_CERT_STATE_COLLISION;
        run_prefix(s[i], cert->prompt[i], state ? cert->prefix : cert->tokens, out);
        view[i] = calloc(spec->d_model, sizeof(double));
        rung_session_view(s[i], view[i]);
    }
    if (sides == 1)
        assert_int_not_equal(rung_argmax(out, spec->answers), cert->right[0]);
    else
        assert_int_not_equal(cert->right[0], cert->right[1]);
    if (cert->kind == RUNG_CERT_STATE_COLLISION) {
        size_t bytes = (size_t)(rung_session_state_bits(s[0]) + 7) / 8;
        uint8_t *x = calloc(bytes, 1), *y = calloc(bytes, 1);
        CHECK(rung_session_pack(s[0], x, &check_err));
        CHECK(rung_session_pack(s[1], y, &check_err));
        assert_memory_equal(x, y, bytes);
        free(x);
        free(y);
    } else if (sides == 2) {
        assert_memory_equal(view[0], view[1], spec->d_model * sizeof(double));
    }
    for (size_t i = 0; i < sides; i++) {
        rung_session_free(s[i]);
        free(view[i]);
    }
    free(out);
    char why[200];
    if (rung_attack_certifiable(&c->attacked, cert->kind, why, sizeof why)) ask_rung_check(c, cert);
}

/* Runs one row as the command does, with shrinking left out; a found certificate is confirmed. */
static inline bool breaks_with(const char *attack, caught *c, rung_budget budget, char *report)
{
    const rung_attack *row = rung_attack_get(attack);
    rung_break result = {0};
    char why[200] = "";
    assert_non_null(row);
    double expected = row->expect(&c->attacked, &budget, why, sizeof why);
    if (expected < 0) {
        assert_true(strlen(why) > 0);
        return false;
    }
    CHECK(row->run(&result, &c->attacked, &budget, &check_err));
    if (result.found) {
        assert_true(row->kinds & 1u << result.cert.kind);
        confirm(c, &result.cert);
    }
    assert_true(strlen(result.report) > 0);
    if (report) snprintf(report, sizeof result.report, "%s", result.report);
    bool found = result.found;
    rung_break_clear(&result);
    return found;
}

static inline bool prey_breaks(const char *attack, prey p, double seconds, char *report)
{
    caught c;
    catch_prey(&c, p);
    bool found = breaks_with(attack, &c, budget_of(seconds), report);
    release(&c);
    return found;
}

#endif
