/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The leak probe: silent on every task of the registry, loud on tasks that leak on purpose.
 */
#include <math.h>

#include "every_task.h"

static void check_leak(const char *text)
{
    prompts p;
    prompts_open(&p, text);
    bool words = p.conf.answers > 0;
    prompts_close(&p);
    if (words) prompts_no_leak(text, 3000);
}

static void no_predictor_without_attention_exceeds_the_declared_level(void **state)
{
    (void)state;
    for_each_task(check_leak);
}

/* A task that leaks on purpose, in the way its parameter says, with a declared level of 1/4. */
static const char *const leaks[] = {"uniform", "constant", "place", "count", "mostly", NULL};
static const rung_param leaky_params[] = {{"dist", RUNG_PARAM_CHOICE, 0, 0, 0, leaks, "how the answer leaks"}, {0}};

static rung_status leaky_generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    (void)conf, (void)err;
    instance->tokens = 8;
    for (size_t t = 0; t < 8; t++) instance->token[t] = (uint32_t)rung_rng_below(rng, 4);
    return RUNG_OK;
}

static int32_t most_frequent(const uint32_t *token)
{
    size_t count[4] = {0}, best = 0;
    for (size_t t = 0; t < 8; t++) count[token[t]]++;
    for (size_t v = 1; v < 4; v++)
        if (count[v] > count[best]) best = v;
    return (int32_t)best;
}

static rung_status leaky_solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    (void)err;
    uint32_t hash = 0; /* a fair answer: nothing that counts or stands in one place */
    for (size_t t = 0; t < 8; t++) hash = (hash * 5 + instance->token[t]) % 1009;
    int64_t dist = rung_task_param(conf, "dist");
    for (size_t t = 4; t < 8; t++) instance->target[t] = (int32_t)((uint32_t)(hash + t * 7) * 2654435761u >> 30);
    if (dist == 1)
        for (size_t t = 4; t < 8; t++) instance->target[t] = 2;
    if (dist == 2 || (dist == 4 && instance->token[0] > 0)) /* always, or three times in four */
        for (size_t t = 4; t < 8; t++) instance->target[t] = (int32_t)t - 4;
    if (dist == 3) instance->target[4] = instance->target[5] = instance->target[6] = RUNG_NO_TARGET;
    if (dist == 3) instance->target[7] = most_frequent(instance->token);
    return RUNG_OK;
}

static int32_t leaky_vote(const rung_task_conf *conf, uint32_t token)
{
    (void)conf;
    return (int32_t)token;
}

static const rung_task leaky = {
    .name = "leaky",
    .params = leaky_params,
    .generate = leaky_generate,
    .solve = leaky_solve,
    .vote = leaky_vote,
};

static rung_leak probe_leaky(int64_t dist)
{
    rung_task_conf conf = {.task = &leaky, .tokens = 8, .vocab = 4, .answers = 4, .chance = 0.25, .majority = 0.25};
    rung_leak leak;
    rung_error err;
    conf.params[0].number = dist;
    assert_int_equal(rung_task_leak(&leak, &conf, 5, 1001, &err), RUNG_OK);
    assert_int_equal(leak.tested, (dist == 3 ? 1 : 4) * 501);
    assert_true(leak.declared == 0.25);
    assert_true(fabs(leak.slack - 4 * sqrt(0.25 * 0.75 / 501)) < 1e-12);
    return leak;
}

static void the_probe_finds_planted_leaks_and_only_those(void **state)
{
    (void)state;
    rung_leak fair = probe_leaky(0), constant = probe_leaky(1), place = probe_leaky(2), count = probe_leaky(3);
    rung_leak mostly = probe_leaky(4);
    double limit = fair.declared + fair.slack;
    assert_true(fair.majority < limit && fair.position < limit && fair.frequency < limit);
    assert_true(constant.majority == 1 && constant.position == 1 && constant.frequency < limit);
    assert_true(place.majority < limit && place.position == 1 && place.frequency < limit);
    assert_true(mostly.majority < limit && mostly.position > 0.7 && mostly.position < 0.9);
    assert_true(count.majority < 0.6 && count.position < 0.6 && count.frequency == 1);
}

static void the_probe_says_when_it_cannot_probe(void **state)
{
    (void)state;
    rung_task_conf conf = {.task = &leaky, .tokens = 8, .vocab = 4, .answers = 4, .majority = 0.25};
    rung_leak leak;
    rung_error err = {{0}};
    assert_int_equal(rung_task_leak(&leak, &conf, 5, 1, &err), RUNG_USAGE);
    assert_true(err.text[0] != 0);
    conf.majority = 1e-9; /* one lucky hit among rare answers is no leak */
    assert_int_equal(rung_task_leak(&leak, &conf, 5, 200, &err), RUNG_OK);
    assert_true(fabs(leak.slack - 4 * sqrt(0.01 * 0.99 / 100)) < 1e-12);
    conf.answers = 0; /* vector targets */
    assert_int_equal(rung_task_leak(&leak, &conf, 5, 10, &err), RUNG_OK);
    assert_int_equal(leak.tested, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_predictor_without_attention_exceeds_the_declared_level),
        cmocka_unit_test(the_probe_finds_planted_leaks_and_only_those),
        cmocka_unit_test(the_probe_says_when_it_cannot_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
