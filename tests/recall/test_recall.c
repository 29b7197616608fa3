/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The law of recall: fits to made-up cells recover the form and the parameters that made them, intervals contain the
 * truth, predictions grow with the state, and a mechanism without measurements gets no law.
 */
#include "testing.h"

#include <math.h>
#include <string.h>

#include "../../src/recall/recall_inside.h"
#include "rung/mech.h"

/* ---- made-up cells ------------------------------------------------------------------------------------------------ */

#define MADE 40

/* Cells of five states and two numbers of values that follow a form exactly, but for noise of the given size. */
static void make_cells(rung_recall_cell *cells, rung_recall_form form, const double *parameters, double noise)
{
    static const rung_recall_state states[] = {{1, 8, 8}, {1, 4, 4}, {1, 4, 16}, {2, 8, 4}, {1, 16, 16}};
    double logs[RUNG_RECALL_PARAMETERS] = {log(parameters[0]), log(parameters[1])};
    rung_rng rng;
    rung_rng_init(&rng, 7, 1, (uint64_t)form);
    recall_detector detector[2];
    recall_detector_init(&detector[0], 4);
    recall_detector_init(&detector[1], 32);
    for (size_t i = 0; i < MADE; i++) {
        const rung_recall_state *s = &states[i % 5];
        const recall_detector *d = &detector[i / 5 % 2];
        size_t entries = s->heads * s->dk * (2 + i / 10) / 2;
        double accuracy = recall_form_accuracy(form, logs, s, (double)entries, d) + noise * rung_rng_normal(&rng);
        cells[i] = (rung_recall_cell){"made", *s, entries, d->values, fmin(fmax(accuracy, 0), 1), noise};
    }
}

static rung_recall_law *law_of(const rung_recall_cell *cells, size_t count)
{
    rung_recall_law *law;
    CHECK(rung_recall_law_new(&law, cells, count, &check_err));
    return law;
}

static const double truths[RUNG_RECALL_FORMS][RUNG_RECALL_PARAMETERS] = {{2.5, 3}, {2.2, 1.5}, {1.8, 2}, {0.8, 1}};

static void test_recovers_form_and_parameters(void **state)
{
    (void)state;
    for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++) {
        rung_recall_cell cells[MADE];
        make_cells(cells, form, truths[form], 0);
        rung_recall_law *law = law_of(cells, MADE);
        const rung_recall_mechanism *m = rung_recall_mechanism_get(law, "made");
        assert_non_null(m);
        assert_int_equal(m->cells, MADE);
        assert_int_equal(rung_recall_chosen(law), form);
        for (size_t a = 0; a < rung_recall_form_parameters(form); a++)
            assert_near(m->fit[form].parameter[a], truths[form][a], 1e-6);
        assert_true(m->fit[form].error < 1e-7 && m->fit[form].held_error < 1e-7);
        for (rung_recall_form other = 0; other < RUNG_RECALL_FORMS; other++)
            if (other != form) assert_true(m->fit[other].held_error > 0.01);
        rung_recall_law_free(law);
    }
}

static void test_interval_contains_the_truth(void **state)
{
    (void)state;
    for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++) {
        rung_recall_cell cells[MADE];
        rung_recall_answer answer, again;
        const rung_recall_question question = {"made", {1, 8, 8}, 32, 0.8};
        double logs[RUNG_RECALL_PARAMETERS] = {log(truths[form][0]), log(truths[form][1])};
        recall_detector detector;
        recall_detector_init(&detector, question.values);
        double truth = recall_form_entries(form, logs, &question.state, question.accuracy, &detector);
        make_cells(cells, form, truths[form], 0.01);
        rung_recall_law *law = law_of(cells, MADE);
        CHECK(rung_recall_predict(&answer, law, &question, &check_err));
        assert_int_equal(answer.form, form);
        assert_null(answer.no_law);
        assert_true(answer.low <= truth && truth <= answer.high);
        assert_true(answer.low < answer.entries && answer.entries < answer.high);
        assert_true(answer.high < 1.25 * answer.low);
        CHECK(rung_recall_predict(&again, law, &question, &check_err));
        assert_true(again.low == answer.low && again.high == answer.high);
        rung_recall_law_free(law);
    }
}

/* Noise of 0.05 makes wider intervals than noise of 0.01. */
static void test_interval_grows_with_noise(void **state)
{
    (void)state;
    double width[2];
    for (size_t i = 0; i < 2; i++) {
        rung_recall_cell cells[MADE];
        rung_recall_answer answer;
        make_cells(cells, RUNG_RECALL_OVERLAP, truths[RUNG_RECALL_OVERLAP], i ? 0.05 : 0.01);
        rung_recall_law *law = law_of(cells, MADE);
        CHECK(rung_recall_predict(&answer, law, &(rung_recall_question){"made", {1, 8, 8}, 32, 0.8}, &check_err));
        width[i] = answer.high - answer.low;
        rung_recall_law_free(law);
    }
    assert_true(width[1] > 2 * width[0]);
}

/* A new layer differs from the law by as much as the measured ones do, not only by the error of the fit. */
static void test_interval_is_one_of_prediction(void **state)
{
    (void)state;
    const double noise = 0.03, asked = 0.8;
    const rung_recall_question question = {"made", {1, 8, 8}, 32, asked};
    double logs[RUNG_RECALL_PARAMETERS] = {log(truths[RUNG_RECALL_OVERLAP][0])};
    rung_recall_cell cells[MADE];
    rung_recall_answer answer;
    rung_recall_score score;
    recall_detector detector;
    recall_detector_init(&detector, question.values);
    make_cells(cells, RUNG_RECALL_OVERLAP, truths[RUNG_RECALL_OVERLAP], noise);
    for (size_t i = 0; i < MADE; i++) cells[i].standard_error = 0;
    rung_recall_law *law = law_of(cells, MADE);
    CHECK(rung_recall_predict(&answer, law, &question, &check_err));
    for (int sign = -1; sign <= 1; sign += 2) {
        double entries =
            recall_form_entries(RUNG_RECALL_OVERLAP, logs, &question.state, asked + sign * 1.3 * noise, &detector);
        assert_true(answer.low < entries && entries < answer.high);
    }
    const rung_recall_published row = {"", "", "made", question.state, question.values, 1, {14}, 0};
    CHECK(rung_recall_compare(&score, law, &row, &check_err));
    double predicted = score.predicted[RUNG_RECALL_OVERLAP];
    assert_true(predicted > 0.5 && predicted < 0.9);
    assert_true(score.low < predicted - noise && score.high > predicted + noise);
    assert_true(score.low > predicted - 4 * noise && score.high < predicted + 4 * noise);
    rung_recall_law_free(law);
}

/* Values span no more than V - 1 dimensions: more value dimensions do not help. Fewer do harm. */
static void test_overlap_needs_no_more_dimensions_than_values(void **state)
{
    (void)state;
    double logs[RUNG_RECALL_PARAMETERS] = {0}, at[3];
    recall_detector detector;
    recall_detector_init(&detector, 9);
    for (size_t i = 0; i < 3; i++)
        at[i] =
            recall_form_entries(RUNG_RECALL_OVERLAP, logs, &(rung_recall_state){1, 8, (size_t)4 << i}, 0.8, &detector);
    assert_true(at[0] < at[1]);
    assert_near(at[1], at[2], 1e-9);
}

/* ---- forms ----------------------------------------------------------------------------------------------------- */

/* Two values: the right score exceeds one other, and the difference of two scores has variance 2. */
static void test_detection_of_two(void **state)
{
    (void)state;
    recall_detector detector;
    recall_detector_init(&detector, 2);
    for (double distance = 0; distance < 9; distance += 0.37)
        assert_near(recall_detect(&detector, distance), 0.5 * erfc(-distance / 2), 1e-8);
}

/* Counted: how often the right one of V noisy scores is the largest. */
static void test_detection_is_what_counting_finds(void **state)
{
    (void)state;
    enum { TRIALS = 40000 };
    static const size_t values[] = {4, 32};
    for (size_t v = 0; v < 2; v++) {
        recall_detector detector;
        recall_detector_init(&detector, values[v]);
        assert_near(recall_detect(&detector, 0), 1.0 / (double)values[v], 1e-9);
        for (double distance = 1; distance < 4; distance += 1) {
            rung_rng rng;
            rung_rng_init(&rng, 3, values[v], (uint64_t)distance);
            size_t right = 0;
            for (size_t t = 0; t < TRIALS; t++) {
                double mine = distance + rung_rng_normal(&rng);
                bool largest = true;
                for (size_t i = 1; i < values[v]; i++) largest &= rung_rng_normal(&rng) < mine;
                right += largest;
            }
            assert_near(recall_detect(&detector, distance), (double)right / TRIALS, 0.012);
        }
    }
}

static void test_entries_and_accuracy_are_inverse(void **state)
{
    (void)state;
    const rung_recall_state s = {2, 8, 16};
    recall_detector detector;
    recall_detector_init(&detector, 300);
    for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++) {
        double logs[RUNG_RECALL_PARAMETERS] = {log(truths[form][0]), log(truths[form][1])};
        for (double accuracy = 0.05; accuracy < 1; accuracy += 0.05) {
            double entries = recall_form_entries(form, logs, &s, accuracy, &detector);
            assert_near(recall_form_accuracy(form, logs, &s, entries, &detector), accuracy, 1e-7);
        }
    }
}

/* While there are no more entries than key dimensions nothing is lost, whatever the gain. */
static void test_overlap_is_exact_up_to_the_keys(void **state)
{
    (void)state;
    recall_detector detector;
    recall_detector_init(&detector, 1000);
    for (double gain = 0.01; gain < 10; gain *= 10) {
        double logs[RUNG_RECALL_PARAMETERS] = {log(gain), 0};
        const rung_recall_state s = {3, 5, 7};
        assert_true(recall_form_accuracy(RUNG_RECALL_OVERLAP, logs, &s, 15, &detector) == 1);
        assert_true(recall_form_accuracy(RUNG_RECALL_OVERLAP, logs, &s, 150, &detector) < 0.9);
        assert_near(recall_form_entries(RUNG_RECALL_OVERLAP, logs, &s, 1, &detector), 15, 1e-12);
    }
}

/* ---- what was measured ------------------------------------------------------------------------------------------- */

static rung_recall_law *measured(void)
{
    size_t count;
    const rung_recall_cell *cells = rung_recall_cells(&count);
    return law_of(cells, count);
}

static void test_cells_are_of_mechanisms(void **state)
{
    (void)state;
    size_t count;
    const rung_recall_cell *cells = rung_recall_cells(&count);
    assert_true(count >= 50);
    for (size_t i = 0; i < count; i++) assert_non_null(rung_mech_get(cells[i].mechanism));
}

static void test_predictions_grow_with_the_state(void **state)
{
    (void)state;
    rung_recall_law *law = measured();
    for (size_t i = 0; i < rung_recall_mechanisms(law); i++) {
        const char *name = rung_recall_mechanism_at(law, i)->name;
        double last = 0, last_low = 0, last_high = 0;
        for (size_t step = 0; step < 6; step++) { /* heads and dk in turn */
            const rung_recall_question q = {name, {(size_t)1 << (step + 1) / 2, (size_t)4 << step / 2, 8}, 32, 0.9};
            rung_recall_answer answer;
            CHECK(rung_recall_predict(&answer, law, &q, &check_err));
            assert_true(answer.entries > last && answer.low > last_low && answer.high > last_high);
            assert_true(answer.low <= answer.entries && answer.entries <= answer.high);
            last = answer.entries, last_low = answer.low, last_high = answer.high;
            for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++) {
                rung_recall_question more = q;
                more.state.heads++;
                assert_true(rung_recall_entries(law, form, &more) > rung_recall_entries(law, form, &q));
                more = q;
                more.state.dk++;
                assert_true(rung_recall_entries(law, form, &more) > rung_recall_entries(law, form, &q));
            }
        }
    }
    rung_recall_law_free(law);
}

/* A state of 32-bit numbers carries no more than its bits: what the law says is all looked up has to fit. */
static void test_predictions_fit_into_the_bits(void **state)
{
    (void)state;
    rung_recall_law *law = measured();
    for (size_t i = 0; i < rung_recall_mechanisms(law); i++)
        for (size_t values = 2; values <= 65536; values *= 8)
            for (size_t dv = 1; dv <= 256; dv *= 4) {
                const rung_recall_question q = {rung_recall_mechanism_at(law, i)->name, {2, 64, dv}, values, 1};
                double entries = rung_recall_entries(law, rung_recall_chosen(law), &q);
                assert_true(entries * log2((double)values) <= 32.0 * 2 * 64 * (double)dv);
            }
    rung_recall_law_free(law);
}

static void test_no_law_without_measurements(void **state)
{
    (void)state;
    rung_recall_law *law = measured();
    rung_recall_answer answer;
    const rung_recall_question q = {"retnet", {1, 8, 8}, 32, 0.9};
    CHECK(rung_recall_predict(&answer, law, &q, &check_err));
    assert_string_equal(answer.no_law, "this mechanism was not measured");
    assert_true(isnan(rung_recall_entries(law, RUNG_RECALL_KEYS, &q)));
    assert_true(isnan(rung_recall_accuracy(law, RUNG_RECALL_KEYS, "retnet", &q.state, 8, 32)));
    rung_recall_law_free(law);
    /* Two states do not say how recall depends on the state. */
    rung_recall_cell cells[MADE];
    make_cells(cells, RUNG_RECALL_KEYS, truths[RUNG_RECALL_KEYS], 0);
    size_t kept = 0;
    for (size_t i = 0; i < MADE; i++)
        if (i % 5 < 2) cells[kept++] = cells[i];
    law = law_of(cells, kept);
    assert_int_equal(rung_recall_mechanisms(law), 0);
    rung_recall_law_free(law);
    law = law_of(cells, 0);
    assert_int_equal(rung_recall_mechanisms(law), 0);
    rung_recall_law_free(law);
}

static void test_published_rows_are_scored(void **state)
{
    (void)state;
    rung_recall_law *law = measured();
    size_t count, scored = 0;
    const rung_recall_published *rows = rung_recall_published_rows(&count);
    for (size_t i = 0; i < count; i++) {
        rung_recall_score score;
        CHECK(rung_recall_compare(&score, law, &rows[i], &check_err));
        assert_true(score.law == (rung_recall_mechanism_get(law, rows[i].mechanism) != NULL));
        if (!score.law) continue;
        scored++;
        rung_recall_form chosen = rung_recall_chosen(law);
        double sum = 0;
        for (size_t t = 0; t < rows[i].tests; t++)
            sum += rung_recall_accuracy(law, chosen, rows[i].mechanism, &rows[i].state, (double)rows[i].entries[t],
                                        rows[i].values);
        assert_near(score.predicted[chosen], sum / (double)rows[i].tests, 1e-12);
        assert_true(score.low <= score.high && score.high <= 1);
    }
    assert_true(scored >= 5);
    rung_recall_law_free(law);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    (void)state;
    rung_recall_law *law;
    static const rung_recall_cell bad[] = {
        {"", {1, 8, 8}, 8, 4, 0.5, 0},      {NULL, {1, 8, 8}, 8, 4, 0.5, 0},     {"delta", {0, 8, 8}, 8, 4, 0.5, 0},
        {"delta", {1, 8, 8}, 0, 4, 0.5, 0}, {"delta", {1, 8, 8}, 8, 1, 0.5, 0},  {"delta", {1, 8, 8}, 8, 4, 1.5, 0},
        {"delta", {1, 8, 8}, 8, 4, NAN, 0}, {"delta", {1, 8, 8}, 8, 4, 0.5, -1},
    };
    for (size_t i = 0; i < RUNG_COUNT(bad); i++) {
        assert_int_equal(rung_recall_law_new(&law, &bad[i], 1, &check_err), RUNG_INPUT);
        assert_null(law);
    }
    law = measured();
    rung_recall_answer answer;
    static const rung_recall_question questions[] = {
        {"delta", {0, 8, 8}, 32, 0.9}, {"delta", {1, 8, 0}, 32, 0.9}, {"delta", {1, 8, 8}, 1, 0.9},
        {"delta", {1, 8, 8}, 4, 0.25}, {"delta", {1, 8, 8}, 4, 1.01}, {"delta", {1, 8, 8}, 4, NAN},
    };
    for (size_t i = 0; i < RUNG_COUNT(questions); i++)
        assert_int_equal(rung_recall_predict(&answer, law, &questions[i], &check_err), RUNG_USAGE);
    rung_recall_law_free(law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recovers_form_and_parameters),
        cmocka_unit_test(test_interval_contains_the_truth),
        cmocka_unit_test(test_interval_grows_with_noise),
        cmocka_unit_test(test_interval_is_one_of_prediction),
        cmocka_unit_test(test_overlap_needs_no_more_dimensions_than_values),
        cmocka_unit_test(test_detection_of_two),
        cmocka_unit_test(test_detection_is_what_counting_finds),
        cmocka_unit_test(test_entries_and_accuracy_are_inverse),
        cmocka_unit_test(test_overlap_is_exact_up_to_the_keys),
        cmocka_unit_test(test_cells_are_of_mechanisms),
        cmocka_unit_test(test_predictions_grow_with_the_state),
        cmocka_unit_test(test_predictions_fit_into_the_bits),
        cmocka_unit_test(test_no_law_without_measurements),
        cmocka_unit_test(test_published_rows_are_scored),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
