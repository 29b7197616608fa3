/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Whole runs: errors against a recurrence in long double, proofs against both, curves, the same for any number of
 * threads, and what is refused.
 */
#include "drift/trials.h"

#include <unistd.h>

#include "rung/io.h"

static rung_drift_options options(const char *numbers)
{
    rung_drift_options ask = {.inputs = RUNG_DRIFT_RANDOM,
                              .tokens = 200,
                              .decay = 0.99,
                              .pairs = 3,
                              .values = 16,
                              .decays = {0.99, 0.9},
                              .decay_count = 2,
                              .seed = 1};
    CHECK(rung_numbers_parse(&ask.numbers, numbers, &check_err));
    return ask;
}

/* The inputs of a trial as a file. */
static void write_trial(const trial *t, const char *path)
{
    static double x[TRIAL_INPUTS][TRIAL_TOKENS * TRIAL_DIM];
    rung_tensor tensor[TRIAL_INPUTS];
    const rung_mech_input *input = t->conf.mech->inputs;
    size_t count = 0;
    for (; input[count].name; count++) {
        const size_t row = rung_mech_row(&input[count], &t->conf);
        for (size_t token = 0; token < t->tokens; token++)
            memcpy(x[count] + token * row, t->in[count][token], row * sizeof(double));
        const rung_shape shape = rung_mech_shape(&input[count], &t->conf);
        tensor[count] = (rung_tensor){.name = input[count].name,
                                      .dtype = RUNG_F64,
                                      .dtype_name = "F64",
                                      .rank = 1 + shape.rank,
                                      .shape = {t->tokens, shape.dim[0], shape.dim[1]},
                                      .elements = t->tokens * row,
                                      .bytes = (const uint8_t *)x[count],
                                      .size_bytes = t->tokens * row * sizeof(double)};
    }
    CHECK(rung_safetensors_write(path, tensor, count, NULL, 0, &check_err));
}

/* The relative error of the state in the formats of the trial, with the recurrence in long double. */
static double error_of(const trial *t)
{
    static double scratch[4096];
    double S[TRIAL_DIM * TRIAL_DIM] = {0}, o[TRIAL_DIM];
    trial_state exact = {0};
    long double off = 0, size = 0;
    for (size_t token = 0; token < t->tokens; token++) {
        trial_served(t, token, S, o, scratch);
        if (t->conf.mech->transition == RUNG_TRANSITION_MATRIX)
            trial_exact_matrix(&exact, t, token);
        else
            trial_exact_rank_one(&exact, t, token);
    }
    for (size_t j = 0; j < t->conf.dk; j++)
        for (size_t i = 0; i < t->conf.dv; i++) {
            long double d = (long double)S[j * t->conf.dv + i] - exact.S[j][i];
            off += d * d, size += exact.S[j][i] * exact.S[j][i];
        }
    return size > 0 ? (double)sqrtl(off / size) : 0;
}

/* What a file gives is the error that a second program finds, and lies under both bounds. */
static void errors_of_files(void **state)
{
    (void)state;
    char path[] = "/tmp/rung-drift-XXXXXX.safetensors";
    rung_numbers numbers[TRIAL_NUMBERS];
    rung_rng rng;
    const int file = mkstemps(path, 12);
    assert_true(file >= 0);
    trial_formats(numbers);
    rung_rng_init(&rng, 7, 0, 0);
    size_t proved = 0, compared = 0, near = 0;
    for (size_t i = 0; i < 300; i++) {
        trial t;
        rung_drift d;
        trial_draw(&t, numbers, &rng);
        write_trial(&t, path);
        rung_drift_options ask = options("f32");
        ask.numbers = *t.numbers, ask.inputs = RUNG_DRIFT_FILE, ask.file = path, ask.pairs = 0;
        rung_mech_conf conf = t.conf;
        CHECK(rung_drift_sizes(&conf, path, &check_err));
        assert_true(conf.dk == t.conf.dk && conf.dv == t.conf.dv && conf.heads == 1);
        CHECK(rung_drift_run(&d, &conf, &ask, &check_err));
        const size_t last = d.points - 1;
        assert_int_equal(d.at[last], t.tokens);
        const double expected = error_of(&t), found = d.part[0].state[last];
        if (isfinite(found) && d.norm[last] > 1e-6 && !t.numbers->stochastic) {
            compared++;
            if (fabs(found - expected) > 1e-9 * (1 + expected))
                fail_msg("%s in %s: %.17g, expected %.17g", conf.mech->name, t.numbers->name, found, expected);
        }
        if (d.proof.applies && d.proof.theorem[last] < INFINITY && isfinite(found)) {
            proved++;
            const double reference = d.proof.reference[last];
            assert_true(found <= (d.proof.run[last] + reference) * (1 + 1e-12));
            assert_true(found <= (d.proof.theorem[last] + reference) * (1 + 1e-12));
            near += reference < 1e-9; /* long keys stretch what is off in f64, too */
        }
        rung_drift_clear(&d);
    }
    assert_true(compared > 150 && proved > 100 && near > proved / 2);
    remove(path);
    close(file);
}

static void json_of(rung_buf *out, const rung_drift *d)
{
    rung_jout json;
    rung_buf_init(out);
    rung_jout_begin(&json, out, "test", false);
    rung_jout_array(&json, "layers");
    rung_drift_json(&json, d);
    rung_jout_end(&json);
    rung_jout_finish(&json);
}

/* Every recurrent row runs; where its step is stated there are proofs and curves. The number of threads does not
 * matter. */
static void every_row(void **state)
{
    (void)state;
    size_t stated = 0;
    for (size_t m = 0; m < rung_mech_count(); m++) {
        rung_mech_conf conf = {.mech = rung_mech_at(m), .heads = 1, .dk = 8, .dv = 6, .causal = true};
        rung_param_defaults(conf.params, conf.mech->params);
        rung_drift_options ask = options("served:bf16");
        rung_error err;
        rung_drift one, three;
        if (conf.mech->keeps != RUNG_KEEPS_HEADS) {
            assert_int_equal(rung_drift_run(&one, &conf, &ask, &err), RUNG_USAGE);
            assert_message(err, conf.mech->name, "no state");
            rung_drift_clear(&one);
            continue;
        }
        ask.threads = 1;
        CHECK(rung_drift_run(&one, &conf, &ask, &check_err));
        ask.threads = 3;
        CHECK(rung_drift_run(&three, &conf, &ask, &check_err));
        rung_buf a, b, text;
        json_of(&a, &one), json_of(&b, &three);
        assert_string_equal(a.text, b.text);
        rung_buf_init(&text);
        rung_drift_verdict(&text, &one);
        assert_non_null(strstr(text.text, "measured: after 200 tokens"));
        /* what is measured does not hang on what is proved */
        for (size_t i = 0; i < one.points; i++) {
            assert_true(one.norm[i] > 0 && one.norm[i] < INFINITY);
            for (size_t p = 0; p < one.parts; p++) assert_true(one.part[p].state[i] > 0 && one.part[p].state[i] < 0.1);
        }
        const bool known = conf.mech->transition != RUNG_TRANSITION_NOT_STATED;
        stated += known;
        assert_true(one.proof.applies == known && (one.curves > 0) == known);
        rung_buf_clear(&text), rung_buf_clear(&a), rung_buf_clear(&b);
        rung_drift_clear(&one), rung_drift_clear(&three);
    }
    assert_int_equal(stated, 7);
}

static const rung_drift_part *part_named(const rung_drift *d, const char *name)
{
    for (size_t p = 0; p < d->parts; p++)
        if (strcmp(d->part[p].name, name) == 0) return &d->part[p];
    return NULL;
}

/* Chunks are for the state alone as well as for everything, and the theorem knows them. */
static void chunks(void **state)
{
    (void)state;
    rung_mech_conf conf = {.mech = rung_mech_get("delta"), .heads = 1, .dk = 8, .dv = 8, .causal = true};
    rung_drift_options ask = options("f64,state=bf16,chunk=32");
    rung_drift some, each;
    ask.tokens = 256, ask.pairs = 0;
    CHECK(rung_drift_run(&some, &conf, &ask, &check_err));
    CHECK(rung_numbers_parse(&ask.numbers, "f64,state=bf16", &check_err));
    CHECK(rung_drift_run(&each, &conf, &ask, &check_err));
    const size_t last = some.points - 1;
    assert_non_null(strstr(part_named(&some, "state")->numbers, "chunk=32"));
    assert_true(part_named(&some, "state")->state[last] == some.part[0].state[last]);
    assert_true(some.part[0].state[last] < 0.5 * each.part[0].state[last]);
    assert_true(some.proof.theorem[last] < 0.1 * each.proof.theorem[last]);
    assert_true(some.part[0].state[last] <= some.proof.run[last] && some.proof.run[last] <= some.proof.theorem[last]);
    rung_drift_clear(&some), rung_drift_clear(&each);
}

static void assert_verdict(const rung_drift *d, const char *expected)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_drift_verdict(&text, d);
    if (!strstr(text.text, expected)) fail_msg("no '%s' in:\n%s", expected, text.text);
    rung_buf_clear(&text);
}

/* Tokens [1, 1, value, log decay] of mamba2 with one number. */
static void run_numbers(rung_drift *d, const char *numbers, const double *value, double log_decay, size_t tokens)
{
    static rung_mech_conf conf;
    static double one[16], decay[16];
    conf = (rung_mech_conf){.mech = rung_mech_get("mamba2"), .heads = 1, .dk = 1, .dv = 1, .causal = true};
    rung_drift_options ask = options(numbers);
    for (size_t t = 0; t < tokens; t++) one[t] = 1, decay[t] = log_decay;
    const double *rows[RUNG_MECH_INPUT_MAX] = {one, one, value, decay};
    ask.inputs = RUNG_DRIFT_PROMPT, ask.rows = rows, ask.row_tokens = tokens, ask.pairs = 0;
    CHECK(rung_drift_run(d, &conf, &ask, &check_err));
}

/* What is said when no bound holds: never that one does. */
static void no_bounds(void **state)
{
    (void)state;
    rung_drift d;
    /* 300, 600: cut off at 448; in this run that is an error like any other, for all runs there is no bound */
    run_numbers(&d, "f32,state=e4m3fn", (const double[]){300, 300}, 0, 2);
    assert_true(d.part[0].state[0] > 0.25 && d.part[0].state[0] < 0.27); /* 448 against 600 */
    assert_true(d.proof.run[0] >= d.part[0].state[0] && isinf(d.proof.theorem[0]));
    assert_verdict(&d, "No bound for all runs with these norms: numbers may leave the range of their formats.");
    rung_drift_clear(&d);
    /* 2^100 overflows f16 */
    run_numbers(&d, "f32,state=f16", (const double[]){0x1p100}, 0, 1);
    assert_true(isinf(d.part[0].state[0]) && isinf(d.proof.run[0]) && isinf(d.proof.theorem[0]));
    assert_verdict(&d, "after 1 token the state holds numbers that are infinite or not a number");
    assert_verdict(&d, "no bound for this run: the state has left the range of the numbers");
    rung_drift_clear(&d);
    /* a decay of e: measured, not proved, and f64 goes on */
    run_numbers(&d, "f32,state=bf16", (const double[]){1, 1, 1}, 1, 3);
    assert_true(d.norm[0] > 11.1 && d.norm[0] < 11.2 && d.part[0].state[0] < 0.01); /* 1 + e + e^2 */
    assert_verdict(&d, "proved: nothing; a decay is above 1");
    rung_drift_clear(&d);
    run_numbers(&d, "f32,state=bf16", (const double[]){0, 0}, 0, 2);
    assert_true(d.part[0].state[0] == 0);
    assert_verdict(&d, "no bound for this run: the state in f64 is 0");
    rung_drift_clear(&d);
}

/* In f64 nothing is lost, and a narrow state loses pairs; a wide state keeps them. */
static void curves(void **state)
{
    (void)state;
    rung_mech_conf conf = {.mech = rung_mech_get("gdelta"), .heads = 1, .dk = 16, .dv = 16, .causal = true};
    rung_drift_options ask = options("f32,state=e8m2");
    rung_drift d;
    ask.decays[0] = 1, ask.decay_count = 1, ask.tokens = 4096;
    CHECK(rung_drift_run(&d, &conf, &ask, &check_err));
    assert_int_equal(d.curves, 4);
    for (size_t c = 0; c < d.curves; c++) {
        const rung_drift_curve *curve = &d.curve[c];
        const bool wide = strcmp(curve->name, "f64") == 0 || strcmp(curve->name, "state=acc") == 0;
        if (wide) assert_true(curve->whole == d.age[d.ages - 1] && curve->half == SIZE_MAX);
        if (strcmp(curve->name, "all") == 0) assert_true(curve->half < 4096 && curve->whole < curve->half);
    }
    rung_buf text;
    rung_buf_init(&text);
    rung_drift_verdict(&text, &d);
    assert_non_null(strstr(text.text, "state in e8m2, decay 1: all 3 pairs are read up to"));
    assert_non_null(strstr(text.text, "keep the state in f32"));
    rung_buf_clear(&text);
    rung_drift_svg(&text, &d);
    assert_non_null(strstr(text.text, "</svg>"));
    rung_buf_clear(&text);
    rung_drift_clear(&d);
}

/* A repeated token that a search has found moves the state further than random ones. */
static void search(void **state)
{
    (void)state;
    rung_mech_conf conf = {.mech = rung_mech_get("mamba2"), .heads = 1, .dk = 8, .dv = 8, .causal = true};
    rung_drift_options ask = options("f32,state=bf16");
    rung_drift random, worst;
    ask.pairs = 0, ask.tokens = 256;
    CHECK(rung_drift_run(&random, &conf, &ask, &check_err));
    ask.inputs = RUNG_DRIFT_WORST;
    CHECK(rung_drift_run(&worst, &conf, &ask, &check_err));
    assert_true(worst.part[0].state[worst.points - 1] > 2 * random.part[0].state[random.points - 1]);
    rung_drift_clear(&random), rung_drift_clear(&worst);
}

static void refusals(void **state)
{
    (void)state;
    rung_mech_conf conf = {.mech = rung_mech_get("delta"), .heads = 1, .dk = 8, .dv = 8, .causal = true};
    rung_drift_options ask = options("f32,state=bf16");
    rung_drift d;
    rung_error err;
    ask.pairs = 5;
    assert_int_equal(rung_drift_run(&d, &conf, &ask, &err), RUNG_USAGE);
    assert_message(err, "1 to dk/2 pairs", "--pairs 1 to 4");
    rung_drift_clear(&d);
    ask.pairs = 2, ask.decay = 1.5;
    assert_int_equal(rung_drift_run(&d, &conf, &ask, &err), RUNG_USAGE);
    assert_message(err, "decay", "1.5");
    rung_drift_clear(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_files), cmocka_unit_test(every_row), cmocka_unit_test(chunks),
        cmocka_unit_test(no_bounds),       cmocka_unit_test(curves),    cmocka_unit_test(search),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
