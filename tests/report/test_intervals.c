/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Intervals against other ways to compute them: the t quantile by integrating its density, Wilson by solving the equation that
 * defines it, means by the plain formula.
 */

#include "rung/report.h"
#include "testing.h"

/* P(|T| <= t) by Simpson's rule. */
static double mass_within(double df, double t)
{
    double front = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * M_PI), sum = 0;
    int steps = 20000;
    for (int i = 0; i <= steps; i++) {
        double x = t * i / steps, weight = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
        sum += weight * pow(1 + x * x / df, -(df + 1) / 2);
    }
    return 2 * front * sum * t / steps / 3;
}

static void t_quantiles_leave_five_percent_outside(void **state)
{
    (void)state;
    for (int df = 1; df <= 60; df++) assert_near(mass_within(df, rung_student_quantile(df)), 0.95, 1e-8);
}

static void t_quantiles_are_those_of_printed_tables(void **state)
{
    (void)state;
    assert_near(rung_student_quantile(1), 12.7062, 1e-4);
    assert_near(rung_student_quantile(2), 4.30265, 1e-5);
    assert_near(rung_student_quantile(4), 2.77645, 1e-5);
    assert_near(rung_student_quantile(30), 2.04227, 1e-5);
    assert_near(rung_student_quantile(1e6), 1.95996, 1e-5);
}

static void a_mean_has_the_interval_of_student(void **state)
{
    (void)state;
    const double values[] = {0.5, 0.75, 1, 0.25};
    rung_estimate e = rung_estimate_mean(values, 4);
    double half = 3.182446305284263 * sqrt(0.3125 / 3 / 4); /* squares around 0.625: 0.3125 */
    assert_near(e.mean, 0.625, 1e-15);
    assert_near(e.low, 0.625 - half, 1e-10);
    assert_near(e.high, 0.625 + half, 1e-10);
}

static void one_value_has_no_interval_and_none_has_no_mean(void **state)
{
    (void)state;
    const double one = 0.5;
    rung_estimate e = rung_estimate_mean(&one, 1), none = rung_estimate_mean(&one, 0);
    assert_true(e.mean == 0.5 && isnan(e.low) && isnan(e.high) && e.count == 1);
    assert_true(isnan(none.mean) && isnan(none.low));
    assert_true(isnan(rung_estimate_rate(0, 0).mean));
}

static void equal_values_have_an_empty_interval(void **state)
{
    (void)state;
    const double values[] = {1, 1, 1, 1, 1};
    rung_estimate e = rung_estimate_mean(values, 5);
    assert_true(e.mean == 1 && e.low == 1 && e.high == 1);
}

/* Wilson: the limits are the p with (x - p)^2 n = z^2 p (1 - p). */
static void limits_of_a_rate_solve_the_equation_of_wilson(void **state)
{
    (void)state;
    const double z = 1.959963984540054;
    for (size_t n = 1; n <= 40; n++)
        for (size_t k = 0; k <= n; k++) {
            rung_estimate e = rung_estimate_rate(k, n);
            double x = (double)k / (double)n, limit[2] = {e.low, e.high};
            assert_true(e.low <= x && x <= e.high && e.low >= 0 && e.high <= 1 && e.low < e.high);
            for (int i = 0; i < 2; i++)
                assert_near((x - limit[i]) * (x - limit[i]) * (double)n, z * z * limit[i] * (1 - limit[i]), 1e-9);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_quantiles_leave_five_percent_outside),
        cmocka_unit_test(t_quantiles_are_those_of_printed_tables),
        cmocka_unit_test(a_mean_has_the_interval_of_student),
        cmocka_unit_test(one_value_has_no_interval_and_none_has_no_mean),
        cmocka_unit_test(equal_values_have_an_empty_interval),
        cmocka_unit_test(limits_of_a_rate_solve_the_equation_of_wilson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
