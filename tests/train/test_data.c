/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Batches of training: every question of every prompt against the oracle of the task, simple prompts are as simple as they
 * say, layers are told what composition says, thoughts are what is said on the way, streams do not meet, and shared and repeated
 * prefixes ask the same.
 */
#include "../../src/train/data.h"
#include "train_test.h"

typedef struct test_data {
    rung_train_spec conf;
    rung_buf task;
    rung_net *net;
    train_data *data;
} test_data;

static void data_open(test_data *d, const char *arch, const char *task, size_t queries, size_t prompts)
{
    rung_task_conf *conf = &d->conf.task;
    CHECK(rung_task_conf_parse(conf, task, &check_err));
    rung_buf_init(&d->task);
    rung_task_canonical(&d->task, conf);
    d->conf.model = small_spec(arch);
    d->conf.model.task = d->task.text;
    d->conf.model.vocab = conf->vocab, d->conf.model.d_in = conf->d_in;
    d->conf.model.answers = conf->answers ? conf->answers : conf->d_out;
    d->conf.model.max_tokens = conf->tokens;
    d->conf.queries = queries;
    d->conf.threads = 2;
    CHECK(rung_train_add_thoughts(&d->conf, &check_err));
    CHECK(rung_net_new(&d->net, &d->conf.model, 1, &check_err));
    CHECK(train_data_new(&d->data, &d->conf, d->net, prompts, &check_err));
}

static void data_close(test_data *d)
{
    train_data_free(d->data);
    rung_net_free(d->net);
    rung_buf_clear(&d->task);
}

/* Solves each prompt of the batch again, put together from its parts. */
static void assert_solved(const test_data *d, const rung_batch *b)
{
    const rung_task_conf *task = &d->conf.task;
    size_t row = b->prefix + b->queries * b->each, runs = b->queries ? b->queries : 1;
    size_t length = b->prefix + (b->queries ? b->each : 0);
    rung_instance instance;
    CHECK(rung_instance_init(&instance, task, &check_err));
    assert_int_equal(length, task->tokens);
    for (size_t s = 0; s < b->sequences; s++)
        for (size_t q = 0; q < runs; q++) {
            const uint32_t *token = b->token + s * row;
            const int32_t *target = b->target + s * row;
            instance.tokens = length;
            memcpy(instance.token, token, b->prefix * sizeof *token);
            if (b->queries)
                memcpy(instance.token + b->prefix, token + b->prefix + q * b->each, b->each * sizeof *token);
            CHECK(task->task->solve(&instance, task, &check_err));
            int32_t chain[RUNG_LIST_MAX + 1];
            if (train_is_seqcomp(task)) {
                size_t last = train_seqcomp_chain(chain, instance.token, task);
                assert_int_equal(chain[last], instance.target[length - 1]);
            }
            assert_memory_equal(instance.target, target, b->prefix * sizeof *target);
            if (b->queries)
                assert_memory_equal(instance.target + b->prefix, target + b->prefix + q * b->each,
                                    b->each * sizeof *target);
        }
    rung_instance_clear(&instance);
}

static void every_question_has_the_answer_of_the_oracle(void **state)
{
    (void)state;
    const struct {
        const char *task;
        size_t queries;
    } cases[] = {
        {"eva N=5 V=3", 4},
        {"eva N=5 V=3 form=pair K=9", 4},
        {"eva N=2 V=3 form=pair K=200", 4}, /* of 200 keys two are there */
        {"eva N=5 V=3 dist=zipf", 4},
        {"seqcomp L=3 N0=3 n=2,3", 5},
        {"seqcomp L=2 N0=4", 0},
        {"seqcomp L=2 N0=4 n=3 dist=identity", 6},
        {"mqar", 0},
        {"k-hop", 0},
        {"index", 3},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        test_data d = {0};
        data_open(&d, "linear", cases[i].task, cases[i].queries, 11);
        for (uint64_t first = 0; first < 33; first += 11) {
            CHECK(train_data_fill(d.data, TRAIN_STREAM_LEARN, first, false, &check_err));
            assert_solved(&d, train_data_batch(d.data));
        }
        data_close(&d);
    }
}

static void shared_and_repeated_prefixes_ask_the_same(void **state)
{
    (void)state;
    test_data shared = {0};
    data_open(&shared, "linear", "eva N=5 V=3", 4, 6);
    test_data again = {0};
    data_open(&again, "linear", "eva N=5 V=3", 4, 6);
    const rung_batch *a = train_data_batch(shared.data), *b = train_data_batch(again.data);
    CHECK(train_data_fill(shared.data, TRAIN_STREAM_LEARN, 60, false, &check_err));
    CHECK(train_data_fill(again.data, TRAIN_STREAM_LEARN, 12, false, &check_err));
    CHECK(train_data_fill(again.data, TRAIN_STREAM_LEARN, 60, false, &check_err)); /* the past does not matter */
    assert_int_equal(a->queries, 4);
    assert_memory_equal(a->token, b->token, train_data_tokens(shared.data) * sizeof *a->token);
    CHECK(train_data_fill(again.data, TRAIN_STREAM_EVAL, 60, false, &check_err));
    assert_memory_not_equal(a->token, b->token, train_data_tokens(shared.data) * sizeof *a->token);
    data_close(&again);
    again = (test_data){0};
    again.conf.model.causal = false; /* an encoder cannot fork */
    CHECK(rung_task_conf_parse(&again.conf.task, "eva N=5 V=3", &check_err));
    rung_buf_init(&again.task);
    again.conf.model = small_spec("linear");
    again.conf.model.causal = false;
    again.conf.model.vocab = again.conf.task.vocab, again.conf.model.answers = again.conf.task.answers;
    again.conf.queries = 4, again.conf.threads = 1;
    CHECK(rung_net_new(&again.net, &again.conf.model, 1, &check_err));
    CHECK(train_data_new(&again.data, &again.conf, again.net, 6, &check_err));
    CHECK(train_data_fill(again.data, TRAIN_STREAM_LEARN, 60, false, &check_err));
    b = train_data_batch(again.data);
    assert_true(b->queries == 0 && b->sequences == 24 && b->prefix == 6);
    for (size_t s = 0; s < 6; s++)
        for (size_t q = 0; q < 4; q++) {
            const uint32_t *one = b->token + (s * 4 + q) * 6, *all = a->token + s * 9;
            assert_memory_equal(one, all, 5 * sizeof *one);
            assert_int_equal(one[5], all[5 + q]);
            assert_int_equal(b->target[(s * 4 + q) * 6 + 5], a->target[s * 9 + 5 + q]);
        }
    data_close(&again);
    data_close(&shared);
}

/* Entries of z_2 are the first 12 tokens: u = 3 w + i. */
static void mixes_make_tables_simple_and_layers_are_told_the_chain(void **state)
{
    (void)state;
    test_data d = {.conf = {.mix_first = 0.4, .mix_second = 0.3, .layer_targets = 1}};
    size_t of_w = 0, of_argument = 0, prompts = 200, kept = 0;
    data_open(&d, "4*linear", "seqcomp L=2 N0=3 n=4 flat=1", 2, prompts);
    assert_int_equal(train_data_classes(&d.conf), 3);
    CHECK(train_data_fill(d.data, TRAIN_STREAM_LEARN, 0, true, &check_err));
    const rung_batch *b = train_data_batch(d.data);
    assert_solved(&d, b);
    for (size_t s = 0; s < prompts; s++) {
        const uint32_t *token = b->token + s * 19;
        bool w_matters = false, argument_matters = false;
        for (size_t u = 0; u < 12; u++) {
            w_matters = w_matters || token[u] != token[u % 3];
            argument_matters = argument_matters || token[u] != token[u / 3 * 3];
        }
        of_w += !w_matters, of_argument += !argument_matters, kept += w_matters && argument_matters;
        for (size_t q = 0; q < 2; q++) {
            size_t at = s * 19 + 15 + 2 * q, all = prompts * 19;
            int32_t i0 = (int32_t)(b->token[at] - 6), w = (int32_t)(b->token[at + 1] - 9);
            int32_t i1 = (int32_t)token[12 + i0], i2 = b->target[at + 1]; /* z_1 has the first ids */
            assert_int_equal(token[3 * w + i1] - 3, i2);
            const int32_t want[] = {i0, i1, i2, RUNG_NO_TARGET};
            for (size_t l = 0; l < 4; l++) {
                assert_int_equal(b->layer_target[l * all + at + 1], want[l]);
                assert_int_equal(b->layer_target[l * all + at], RUNG_NO_TARGET);
            }
        }
    }
    assert_true(of_w > 50 && of_w < 110 && of_argument > 35 && of_argument < 85 && kept > 30);
    CHECK(train_data_fill(d.data, TRAIN_STREAM_LEARN, 0, false, &check_err));
    for (size_t s = 0; s < 20; s++) {
        bool w_matters = false;
        for (size_t u = 0; u < 12; u++) w_matters = w_matters || b->token[s * 19 + u] != b->token[s * 19 + u % 3];
        assert_true(w_matters);
    }
    data_close(&d);
}

/* One question of seqcomp L=2 N0=3 n=4 with T thoughts: the tokens z_0, w and the thoughts from `at` on, and i_0, i_1, i_2 by
 * hand. Ids: z_1 0..2, then those of z_2, z_0 and w; numbers of thoughts: (w, i) of the first, then those of the second. */
typedef struct thought_case {
    const char *task;
    size_t thoughts, says[3]; /* i_l of each pass */
    size_t z2_values;
    size_t told[3][2]; /* [pass][layer] */
} thought_case;

static void assert_thoughts(const test_data *d, const rung_batch *b, const thought_case *c, size_t first, size_t at)
{
    size_t all = train_data_tokens(d->data), z0_id = 3 + c->z2_values, w_id = z0_id + 3, before = 0;
    const uint32_t *table = b->token + first;
    size_t i0 = b->token[at] - z0_id, w = b->token[at + 1] - w_id, i1 = table[12 + i0], i2 = table[3 * w + i1] - 3;
    const size_t chain[] = {i0, i1, i2}, values[] = {3, 3};
    assert_true(i0 < 3 && w < 4);
    for (size_t p = 0; p < c->thoughts; p++) {
        size_t l = c->says[p], number = before + w * values[l] + chain[l];
        assert_int_equal(b->target[at + 1 + p], d->conf.task.answers + number);
        assert_int_equal(b->token[at + 2 + p], d->conf.task.vocab + number);
        before += 4 * values[l];
    }
    assert_int_equal(d->conf.model.thoughts, before);
    assert_int_equal(b->target[at + 1 + c->thoughts], i2);
    assert_int_equal(b->target[at], RUNG_NO_TARGET);
    for (size_t p = 0; p <= c->thoughts; p++) {
        for (size_t l = 0; l < 2; l++) assert_int_equal(b->layer_target[l * all + at + 1 + p], chain[c->told[p][l]]);
        assert_int_equal(b->layer_target[2 * all + at + 1 + p], RUNG_NO_TARGET);
    }
}

static void thoughts_say_the_values_on_the_way(void **state)
{
    (void)state;
    /* With one thought, i_1: two looks, then one. With two, i_0 and i_1. Later passes are told late. */
    static const thought_case cases[] = {
        {"seqcomp L=2 N0=3 n=4 flat=1", 1, {1, 2}, 3, {{0, 1}, {1, 1}}},
        {"seqcomp L=2 N0=3 n=4", 1, {1, 2}, 12, {{0, 1}, {1, 1}}},
        {"seqcomp L=2 N0=3 n=4", 2, {0, 1, 2}, 12, {{0, 0}, {0, 0}, {1, 1}}},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        const thought_case *c = &cases[i];
        test_data d = {.conf = {.layer_targets = 1, .thoughts = c->thoughts}};
        size_t queries = 3, each = 2 + c->thoughts, prompts = 9;
        data_open(&d, "3*linear", c->task, queries, prompts);
        assert_int_equal(d.conf.model.max_tokens, 17 + c->thoughts);
        CHECK(train_data_fill(d.data, TRAIN_STREAM_LEARN, 0, false, &check_err));
        const rung_batch *b = train_data_batch(d.data);
        assert_int_equal(b->thoughts, c->thoughts);
        assert_int_equal(b->each, each);
        for (size_t s = 0; s < prompts; s++)
            for (size_t q = 0; q < queries; q++) {
                size_t first = s * (15 + queries * each);
                assert_thoughts(&d, b, c, first, first + 15 + q * each);
            }
        data_close(&d);
    }
}

static void random_labels_leave_thoughts_alone(void **state)
{
    (void)state;
    test_data plain = {.conf = {.thoughts = 1}}, random = {.conf = {.thoughts = 1, .random_labels = true}};
    data_open(&plain, "linear", "seqcomp L=2 N0=4 flat=1", 0, 64);
    data_open(&random, "linear", "seqcomp L=2 N0=4 flat=1", 0, 64);
    CHECK(train_data_fill(plain.data, TRAIN_STREAM_LEARN, 0, false, &check_err));
    CHECK(train_data_fill(random.data, TRAIN_STREAM_LEARN, 0, false, &check_err));
    const rung_batch *a = train_data_batch(plain.data), *b = train_data_batch(random.data);
    size_t changed = 0, tokens = train_data_tokens(plain.data);
    assert_memory_equal(a->token, b->token, tokens * sizeof *a->token);
    for (size_t t = 0; t < tokens; t++) {
        if (a->target[t] == RUNG_NO_TARGET || a->target[t] >= 4)
            assert_int_equal(a->target[t], b->target[t]);
        else
            changed += a->target[t] != b->target[t];
    }
    assert_true(changed > 32 && changed < 64); /* three of four */
    data_close(&plain);
    data_close(&random);
}

/* Share of the most common answer among all questions of some batches. */
static double most_common(const test_data *d, size_t batches)
{
    size_t count[64] = {0}, all = 0, most = 0;
    assert_true(d->conf.task.answers <= RUNG_COUNT(count));
    for (size_t i = 0; i < batches; i++) {
        CHECK(train_data_fill(d->data, TRAIN_STREAM_LEARN, i * 64, false, &check_err));
        const rung_batch *b = train_data_batch(d->data);
        for (size_t t = 0; t < b->sequences * (b->prefix + b->queries * b->each); t++)
            if (b->target[t] != RUNG_NO_TARGET) count[b->target[t]]++, all++;
    }
    for (size_t a = 0; a < RUNG_COUNT(count); a++) most = count[a] > most ? count[a] : most;
    return (double)most / (double)all;
}

/* Otherwise an accuracy that looks like learning is a guess. Of uniform questions about two-sum four in five are "no". */
static void the_answers_of_several_questions_are_as_even_as_those_of_one(void **state)
{
    (void)state;
    static const char *const tasks[] = {"two-sum N=8 M=32", "eva N=8 V=4", "index N=8 V=4", "retrieval N=8",
                                        "assoc-recall N=8 V=8"};
    for (size_t i = 0; i < RUNG_COUNT(tasks); i++) {
        test_data d = {0};
        data_open(&d, "full", tasks[i], 16, 64);
        double share = most_common(&d, 4), chance = d.conf.task.chance;
        if (share > chance + 0.05) fail_msg("%s: an answer has the share %g, chance is %g", tasks[i], share, chance);
        data_close(&d);
    }
}

static void questions_that_cannot_be_drawn_are_refused(void **state)
{
    (void)state;
    const char *const tasks[] = {"mqar", "seqcomp L=2 N0=4 form=pair", "nearest-neighbour",
                                 "two-sum N=4 M=16 dist=hard", "assoc-recall N=4 V=8 dist=distinct"};
    for (size_t i = 0; i < RUNG_COUNT(tasks); i++) {
        test_data d = {0};
        rung_error err;
        data_open(&d, "linear", tasks[i], 0, 3);
        train_data *data = NULL;
        d.conf.queries = 2;
        assert_int_equal(train_data_new(&data, &d.conf, d.net, 3, &err), RUNG_USAGE);
        d.conf.queries = 0, d.conf.thoughts = 1;
        assert_int_equal(rung_train_add_thoughts(&d.conf, &err), RUNG_USAGE);
        data_close(&d);
    }
}

/* ---- few values and growth ------------------------------------------------------------------------------------------ */

static size_t distinct(const uint32_t *token, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++) seen = seen || token[j] == token[i];
        found += !seen;
    }
    return found;
}

/* Tables of 16 entries have at most 1, 2, 4, 8 or 16 values, each with probability 1/5, in the share of prompts that
 * was asked for; never without a mix. The answers are those of the oracle. */
static void few_values_are_as_few_as_they_say(void **state)
{
    (void)state;
    const char *const tasks[] = {"eva N=16 V=1000", "seqcomp L=1 N0=16 V=1000", "two-sum N=16 M=1000 form=query"};
    const size_t prompts = 1000;
    for (size_t i = 0; i < RUNG_COUNT(tasks); i++) {
        test_data d = {.conf = {.few_values = 0.5}};
        size_t one = 0, two = 0, at_most_eight = 0;
        data_open(&d, "linear", tasks[i], 3, prompts);
        const rung_batch *b = train_data_batch(d.data);
        size_t row = b->prefix + b->queries * b->each;
        CHECK(train_data_fill(d.data, TRAIN_STREAM_LEARN, 0, true, &check_err));
        assert_solved(&d, b);
        for (size_t s = 0; s < prompts; s++) {
            size_t values = distinct(b->token + s * row, 16);
            one += values == 1, two += values == 2, at_most_eight += values <= 8;
        }
        /* g entries stay as they are, and of 1000 random values nearly all differ */
        assert_true(one > 60 && one < 140 && two > 60 && two < 140 && at_most_eight > 320 && at_most_eight < 480);
        CHECK(train_data_fill(d.data, TRAIN_STREAM_LEARN, 0, false, &check_err));
        for (size_t s = 0; s < prompts; s++) assert_true(distinct(b->token + s * row, 16) > 8);
        data_close(&d);
    }
}

/* sigma has few values and is no permutation then, tau stays one; each answer is the entry of sigma that tau names. */
static void percom_has_few_values_too(void **state)
{
    (void)state;
    enum { PROMPTS = 1000, N = 16 };
    size_t one = 0, all = 0;
    test_data d = {.conf = {.few_values = 1}};
    data_open(&d, "linear", "percom N=16", 0, PROMPTS);
    const rung_batch *b = train_data_batch(d.data);
    CHECK(train_data_fill(d.data, TRAIN_STREAM_LEARN, 0, true, &check_err));
    for (size_t s = 0; s < PROMPTS; s++) {
        const uint32_t *sigma = b->token + s * 2 * N, *tau = sigma + N;
        const int32_t *target = b->target + s * 2 * N;
        size_t values = distinct(sigma, N);
        one += values == 1, all += values == N;
        assert_int_equal(distinct(tau, N), N);
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(target[i], RUNG_NO_TARGET);
            assert_true(tau[i] >= N && tau[i] < 2 * N);
            for (size_t j = 0; j < N; j++)
                if (tau[i] == N + j) assert_int_equal(target[N + i], sigma[j]);
        }
    }
    /* g = 1, 2, 4, 8, 16, equally likely */
    assert_true(one > 140 && one < 260 && all > 0);
    CHECK(train_data_fill(d.data, TRAIN_STREAM_TEST, 0, false, &check_err));
    for (size_t s = 0; s < PROMPTS; s++) assert_int_equal(distinct(b->token + s * 2 * N, N), N);
    data_close(&d);
}

/* Two tables have few values each, independently. */
static void each_table_has_few_values_of_its_own(void **state)
{
    (void)state;
    const size_t prompts = 1000;
    size_t both = 0, first = 0, second = 0;
    test_data d = {.conf = {.few_values = 1}};
    data_open(&d, "linear", "seqcomp L=2 N0=16 n=2 V=1000", 2, prompts);
    const rung_batch *b = train_data_batch(d.data);
    size_t row = b->prefix + b->queries * b->each;
    CHECK(train_data_fill(d.data, TRAIN_STREAM_LEARN, 0, true, &check_err));
    assert_solved(&d, b);
    for (size_t s = 0; s < prompts; s++) {
        bool a = distinct(b->token + s * row, 32) == 1, z = distinct(b->token + s * row + 32, 16) == 1;
        first += z, second += a, both += a && z;
    }
    /* 1/5 of z_1, 1/6 of z_2, which has 32 entries, and 1/30 of both */
    assert_true(first > 140 && first < 260 && second > 110 && second < 230 && both > 10 && both < 70);
    data_close(&d);
}

/* A uniform number has a partner among few values rarely, and then a prompt of few values teaches nothing. */
static void questions_about_few_values_have_partners(void **state)
{
    (void)state;
    const size_t prompts = 400, queries = 4;
    size_t yes = 0;
    test_data d = {.conf = {.few_values = 1}};
    data_open(&d, "linear", "two-sum N=16 M=1000 form=query", queries, prompts);
    const rung_batch *b = train_data_batch(d.data);
    CHECK(train_data_fill(d.data, TRAIN_STREAM_LEARN, 0, true, &check_err));
    assert_solved(&d, b);
    size_t row = b->prefix + b->queries * b->each;
    for (size_t s = 0; s < prompts; s++)
        for (size_t q = 0; q < queries; q++) yes += b->target[s * row + b->prefix + q] == 1;
    assert_true(yes > 720 && yes < 880);
    data_close(&d);
}

/* While a part of the tables grows, questions and values of z_1 stay in it; evaluations ask about everything. */
static void growth_asks_about_the_first_entries(void **state)
{
    (void)state;
    const size_t prompts = 60;
    test_data d = {0};
    data_open(&d, "linear", "seqcomp L=2 N0=8 n=4 flat=1", 3, prompts);
    const rung_batch *b = train_data_batch(d.data);
    size_t row = b->prefix + b->queries * b->each;
    train_data_grow(d.data, 0.5);
    for (int asked = 0; asked < 2; asked++) {
        uint32_t z0 = 0, w = 0, i1 = 0;
        CHECK(train_data_fill(d.data, asked ? TRAIN_STREAM_EVAL : TRAIN_STREAM_LEARN, 0, true, &check_err));
        assert_solved(&d, b);
        for (size_t s = 0; s < prompts; s++) {
            const uint32_t *token = b->token + s * row; /* ids: z_1 0..7, z_2 8..15, z_0 16..23, w 24..27 */
            for (size_t u = 0; u < 8; u++) i1 = token[32 + u] > i1 ? token[32 + u] : i1;
            for (size_t q = 0; q < 3; q++) {
                z0 = token[40 + 2 * q] > z0 ? token[40 + 2 * q] : z0;
                w = token[41 + 2 * q] > w ? token[41 + 2 * q] : w;
            }
        }
        assert_int_equal(z0, asked ? 23 : 19);
        assert_int_equal(w, asked ? 27 : 25);
        assert_int_equal(i1, asked ? 7 : 3);
    }
    data_close(&d);
}

static void what_has_no_few_values_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *task, *word;
        rung_train_spec conf;
    } cases[] = {
        {"eva N=5 V=3 form=pair K=9", "values alone", {.few_values = 0.5, .queries = 2}},
        {"seqcomp L=2 N0=4 order=first", "few values", {.few_values = 0.5}},
        {"eva N=5 V=3", "--queries", {.grow = 0.5}},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_error err;
        rung_train_spec conf;
        rung_buf text;
        rung_train_state end;
        small_run(&conf, &text, "linear", cases[i].task);
        conf.few_values = cases[i].conf.few_values, conf.grow = cases[i].conf.grow,
        conf.queries = cases[i].conf.queries;
        conf.steps = 1;
        assert_int_equal(rung_train_run(&end, &conf, NULL, NULL, NULL, NULL, &err), RUNG_USAGE);
        assert_non_null(strstr(err.text, cases[i].word));
        rung_buf_clear(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_question_has_the_answer_of_the_oracle),
        cmocka_unit_test(shared_and_repeated_prefixes_ask_the_same),
        cmocka_unit_test(mixes_make_tables_simple_and_layers_are_told_the_chain),
        cmocka_unit_test(thoughts_say_the_values_on_the_way),
        cmocka_unit_test(random_labels_leave_thoughts_alone),
        cmocka_unit_test(the_answers_of_several_questions_are_as_even_as_those_of_one),
        cmocka_unit_test(questions_that_cannot_be_drawn_are_refused),
        cmocka_unit_test(few_values_are_as_few_as_they_say),
        cmocka_unit_test(percom_has_few_values_too),
        cmocka_unit_test(each_table_has_few_values_of_its_own),
        cmocka_unit_test(questions_about_few_values_have_partners),
        cmocka_unit_test(growth_asks_about_the_first_entries),
        cmocka_unit_test(what_has_no_few_values_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
