/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The theorem of docs/drift.md on adversarial trials; soak_bounds.c takes ten million of them. That the bound is not
 * far from what can happen, that half of it would not do, and its constants at a case that can be computed by hand.
 */
#include "drift/trials.h"

#include "effort.h"

static void never_exceeded(void **state)
{
    (void)state;
    enum { TRIES = 100 };
    rung_numbers numbers[TRIAL_NUMBERS];
    trial best;
    trial_formats(numbers);
    double state_most = 0, output_most = 0;
    for (uint64_t seed = 0; seed < effort(1000, 40); seed++) {
        const trial_result found = trial_climb(numbers, seed, TRIES, 1, &best);
        if (!(found.state <= 1 && found.output <= 1))
            fail_msg("seed %llu: %s in %s: %g of the bound of the state, %g of that of the output",
                     (unsigned long long)seed, best.conf.mech->name, best.numbers->name, found.state, found.output);
        state_most = fmax(state_most, found.state), output_most = fmax(output_most, found.output);
    }
    assert_true(state_most > 0.5 && output_most > 0.3);
}

static void half_of_it_is_too_little(void **state)
{
    (void)state;
    rung_numbers numbers[TRIAL_NUMBERS];
    trial best;
    bool exceeded = false;
    trial_formats(numbers);
    for (uint64_t seed = 0; seed < 400 && !exceeded; seed++)
        exceeded = trial_climb(numbers, seed, 100, 0.5, &best).state > 1;
    assert_true(exceeded);
}

/* One number, no decay: 1, then half a unit of bf16 again and again. Every one of them is swallowed, and each adds
 * exactly 2^-8 to the distance. The bound of a token is 2^-8 times the size before storing, and some of f32. */
static void swallowed_ones(void **state)
{
    (void)state;
    rung_numbers numbers;
    CHECK(rung_numbers_parse(&numbers, "f32,state=bf16", &check_err));
    trial t = {.conf = {.mech = rung_mech_get("mamba2"), .heads = 1, .dk = 1, .dv = 1, .causal = true},
               .numbers = &numbers,
               .tokens = TRIAL_TOKENS};
    for (size_t token = 0; token < t.tokens; token++)
        t.in[0][token][0] = t.in[1][token][0] = 1, t.in[2][token][0] = token ? 0x1p-8 : 1;
    const trial_result found = trial_run(&t, 1);
    assert_true(found.state > 0.94 && found.state <= 1);
    double row[4] = {1, 1, 0x1p-8, 0};
    const double *rows[RUNG_MECH_INPUT_MAX] = {&row[0], &row[1], &row[2], &row[3]};
    rung_drift_token facts;
    char why[160];
    assert_true(rung_drift_token_of(&facts, &t.conf, rows, 0, why, sizeof why));
    const rung_drift_step step = rung_drift_step_bound(&facts, &t.conf, &numbers, 1, false);
    assert_true(step.stored >= 0x1p-8 * (1 + 0x1p-8));
    assert_true(step.stored <= 0x1p-8 * (1 + 0x1p-8) + 8 * 0x1p-24);
}

static void what_has_no_bound(void **state)
{
    (void)state;
    rung_numbers numbers;
    rung_drift_token facts;
    char why[160];
    CHECK(rung_numbers_parse(&numbers, "f32,state=e4m3fn", &check_err));
    rung_mech_conf conf = {.mech = rung_mech_get("mamba2"), .heads = 1, .dk = 1, .dv = 1, .causal = true};
    double row[4] = {1, 1, 1, 0.25};
    const double *rows[RUNG_MECH_INPUT_MAX] = {&row[0], &row[1], &row[2], &row[3]};
    assert_false(rung_drift_token_of(&facts, &conf, rows, 0, why, sizeof why)); /* grows */
    assert_non_null(strstr(why, "above 1"));
    row[3] = 0;
    assert_true(rung_drift_token_of(&facts, &conf, rows, 0, why, sizeof why));
    assert_true(rung_drift_step_bound(&facts, &conf, &numbers, 400, false).stored < INFINITY);
    assert_true(isinf(rung_drift_step_bound(&facts, &conf, &numbers, 448, false).stored)); /* 449 is cut off */
    /* a product beyond double is no bound, and not a number is none either */
    CHECK(rung_numbers_parse(&numbers, "e11m4", &check_err));
    row[0] = 1e10, row[1] = row[2] = 1e153;
    assert_true(rung_drift_token_of(&facts, &conf, rows, 0, why, sizeof why));
    assert_true(rung_drift_step_bound(&facts, &conf, &numbers, 0, true).output == INFINITY);
    row[0] = row[2] = 1, row[1] = NAN;
    assert_false(rung_drift_token_of(&facts, &conf, rows, 0, why, sizeof why));
    conf.mech = rung_mech_get("rnn");
    assert_false(rung_drift_token_of(&facts, &conf, rows, 0, why, sizeof why));
    /* sums: n times without a decay, 1 / (1 - gamma) with one */
    assert_true(rung_drift_sum(0.5, 1, 8) >= 4 && rung_drift_sum(0.5, 1, 8) < 4.0001);
    assert_true(rung_drift_sum(1, 0.5, 1000) >= 2 && rung_drift_sum(1, 0.5, 1000) < 2.0001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_exceeded),
        cmocka_unit_test(half_of_it_is_too_little),
        cmocka_unit_test(swallowed_ones),
        cmocka_unit_test(what_has_no_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
