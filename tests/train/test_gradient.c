/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Whole networks: the forward pass against the evaluators, and the gradient of every tensor against central differences of
 * the exact evaluator in double, over all mechanisms and everything that a layer puts around them; shared prefixes against
 * prompts of their own; the same bytes for any number of threads.
 */
#include "train_test.h"

static size_t wrong; /* tensors with a wrong gradient: all are named before the test fails */

typedef struct variant {
    const char *arch, *mlp;
    rung_positions positions;
    rung_norm norm;
    size_t d_in;
    bool encoder, vectors, biases;
} variant;

/* Every mechanism, conv, gate, unit, every source, MLPs, norms, positions, features, vectors, two groups. */
static const variant variants[] = {
    {"full", "none", RUNG_POS_LEARNED, RUNG_NORM_NONE, 0, false, false, false},
    {"full,linear", "relu", RUNG_POS_LEARNED, RUNG_NORM_RMS, 0, false, false, false},
    {"full", "gelu", RUNG_POS_ROTARY, RUNG_NORM_LAYER, 0, false, false, true},
    {"window:W=3", "swiglu", RUNG_POS_SINUSOIDAL, RUNG_NORM_LAYER, 0, false, false, true},
    {"linear", "none", RUNG_POS_NONE, RUNG_NORM_NONE, 3, false, true, true},
    {"retnet", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, false},
    {"gla:gate=1", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, false},
    {"mamba2:conv=3", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, true},
    {"full:qknorm=1:scale=0.5,delta:unit=1:scale=0.7", "gelu", RUNG_POS_ROTARY, RUNG_NORM_RMS, 0, false, false, false},
    {"full:outgate=1,linear:outgate=1@1|window:W=2@2", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, false},
    {"full,linear", "geglu_tanh,gelu_tanh", RUNG_POS_LEARNED, RUNG_NORM_RMS, 0, false, false, false},
    {"full:kv=2:qknorm=1@4,window:W=3:kv=1@2", "relu", RUNG_POS_ROTARY, RUNG_NORM_RMS, 0, false, false, false},
    {"gdelta:qknorm=1:conv=2@1|window:W=3:qknorm=1@2", "none", RUNG_POS_NONE, RUNG_NORM_LAYER, 0, false, false, false},
    {"delta:unit=1:conv=4:neg=1", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, false},
    {"gdelta:unit=1:conv=2:gate=1", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, true},
    {"kda:unit=1", "none", RUNG_POS_NONE, RUNG_NORM_LAYER, 0, false, false, false},
    {"mamba:conv=2", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, true},
    {"rwkv7", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, true},
    {"rnn", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, true},
    {"loglinear", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, false},
    {"loglinear:base=gdelta:unit=1:conv=2", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, false},
    {"sparse:B=2:k=1:shared=1:dk=4:dv=4", "none", RUNG_POS_LEARNED, RUNG_NORM_RMS, 0, false, false, false},
    {"sparse:B=3:k=1:comp=mlp", "none", RUNG_POS_ROTARY, RUNG_NORM_RMS, 0, false, false, true},
    {"rnn:kind=lstm", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, true},
    {"linear:phi=taylor2:norm=0", "none", RUNG_POS_NONE, RUNG_NORM_RMS, 0, false, false, false},
    {"sparse:B=2:k=2:W=3:branches=nsa", "none", RUNG_POS_LEARNED, RUNG_NORM_RMS, 0, false, false, false},
    {"dsa:k=4", "none", RUNG_POS_LEARNED, RUNG_NORM_RMS, 0, false, false, false},
    {"full@1|gdelta:gate=1@2", "swiglu", RUNG_POS_LEARNED, RUNG_NORM_RMS, 0, false, false, true},
    {"full", "relu", RUNG_POS_LEARNED, RUNG_NORM_RMS, 0, true, false, false},
};

static rung_model_spec spec_of(const variant *v)
{
    rung_model_spec spec = small_spec(v->arch);
    spec.mlp = v->mlp;
    spec.positions = v->positions;
    spec.norm = v->norm;
    if (v->d_in) spec.vocab = 0, spec.d_in = v->d_in;
    spec.causal = !v->encoder;
    return spec;
}

typedef struct growing {
    const rung_model *model;
    rung_tensor tensor[256];
    float *data[256];
    size_t count;
    bool biases;
    rung_rng rng;
} growing;

/* Every tensor of the random model, with the biases that a file may have, all moved away from their round first values. */
static rung_status grow_tensor(void *context, const char *name, const size_t *shape, size_t rank, bool optional,
                               rung_error *err)
{
    growing *g = context;
    const rung_tensor *old = rung_model_tensor(g->model, name);
    size_t elements = 1;
    (void)err;
    if (optional && !g->biases) return RUNG_OK;
    for (size_t i = 0; i < rank; i++) elements *= shape[i];
    float *data = calloc(elements, sizeof *data);
    assert_non_null(data);
    if (old) CHECK(rung_tensor_to_f32(data, old, &check_err));
    bool table = strncmp(name, "rotary", 6) == 0;
    for (size_t i = 0; i < elements && !table; i++) data[i] += 0.2f * (float)rung_rng_normal(&g->rng);
    g->data[g->count] = data;
    g->tensor[g->count++] = (rung_tensor){.name = strdup(name),
                                          .dtype = RUNG_F32,
                                          .dtype_name = "F32",
                                          .rank = rank,
                                          .shape = {shape[0], rank > 1 ? shape[1] : 0, rank > 2 ? shape[2] : 0},
                                          .elements = elements,
                                          .bytes = (const uint8_t *)data,
                                          .size_bytes = elements * sizeof *data};
    return RUNG_OK;
}

static rung_net *net_of(const variant *v, const rung_model_spec *spec)
{
    rung_model *start = NULL, *model = NULL;
    rung_net *net = NULL;
    growing *g = calloc(1, sizeof *g);
    assert_non_null(g);
    CHECK(rung_model_random(&start, spec, 5, &check_err));
    g->model = start, g->biases = v->biases;
    rung_rng_init(&g->rng, 3, 1, 4);
    CHECK(rung_model_each_tensor(spec, grow_tensor, g, &check_err));
    CHECK(rung_model_from_tensors(&model, spec, g->tensor, g->count, "test", &check_err));
    CHECK(rung_net_from_model(&net, model, &check_err));
    for (size_t i = 0; i < g->count; i++) {
        free(g->data[i]);
        free((char *)g->tensor[i].name);
    }
    rung_model_close(model);
    rung_model_close(start);
    free(g);
    return net;
}

static double *doubles_of(rung_net *net)
{
    double *values = calloc(rung_net_parameters(net), sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < rung_net_parameters(net); i++) values[i] = (double)rung_net_values(net)[i];
    return values;
}

static double shifted_loss(rung_net *net, const rung_model_spec *spec, const test_batch *b, const double *values,
                           const double *direction, const rung_net_tensor *t, double by)
{
    double *moved = calloc(rung_net_parameters(net), sizeof *moved);
    assert_non_null(moved);
    memcpy(moved, values, rung_net_parameters(net) * sizeof *moved);
    for (size_t i = 0; i < t->elements; i++) moved[t->offset + i] += by * direction[i];
    rung_model *model = model_of(net, moved, spec);
    double loss = loss_by_sessions(model, b, "f64");
    rung_model_close(model);
    free(moved);
    return loss;
}

static bool is_fixed(const rung_net_tensor *t, const rung_model_spec *spec)
{
    return strncmp(t->name, "rotary", 6) == 0 ||
           (spec->positions == RUNG_POS_SINUSOIDAL && strcmp(t->name, "positions") == 0);
}

/* The indexer of dsa has a loss of its own, which is not in the loss of the batch (its gradient is tested with the mechanism). */
static bool is_index(const rung_net_tensor *t)
{
    return strstr(t->name, ".iq.") || strstr(t->name, ".ik.") || strstr(t->name, ".iw.");
}

/* d loss / d direction, for a random direction in one tensor. */
static void check_tensor(rung_net *net, const rung_model_spec *spec, const test_batch *b, const float *grad,
                         const double *values, const rung_net_tensor *t, const char *arch)
{
    const double step = 1e-5;
    double *direction = calloc(t->elements, sizeof *direction), along = 0, size = 0;
    rung_rng rng;
    assert_non_null(direction);
    rung_rng_init(&rng, 8, t->offset, 0);
    for (size_t i = 0; i < t->elements; i++) {
        direction[i] = rung_rng_normal(&rng);
        along += direction[i] * (double)grad[t->offset + i];
        size += (double)grad[t->offset + i] * (double)grad[t->offset + i];
    }
    if (is_fixed(t, spec)) {
        assert_true(size == 0);
    } else if (is_index(t)) {
        assert_true(size > 0 && isfinite(size));
    } else {
        double slope = (shifted_loss(net, spec, b, values, direction, t, step) -
                        shifted_loss(net, spec, b, values, direction, t, -step)) /
                       (2 * step);
        if (!(fabs(slope - along) <= 1e-3 * fabs(slope) + 2e-4 * sqrt(size) + 2e-7))
            wrong++, print_error("%s: %s: gradient says %g, differences say %g (norm %g)\n", arch, t->name, along,
                                 slope, sqrt(size));
    }
    free(direction);
}

static void check_net(const variant *v, rung_batch shape, bool differences)
{
    rung_model_spec spec = spec_of(v);
    rung_net *net = net_of(v, &spec);
    if (shape.queries && !rung_net_forks(net)) {
        rung_net_free(net);
        return;
    }
    test_batch b = batch_new(&spec, shape, v->vectors, 0, 4);
    rung_tape *tape = NULL;
    rung_loss loss, again;
    float *grad = calloc(rung_net_parameters(net), sizeof *grad);
    double *values = doubles_of(net);
    assert_non_null(grad);
    CHECK(rung_tape_new(&tape, net, &b.batch, 1, &check_err));
    CHECK(rung_net_gradient(&loss, grad, net, tape, &b.batch, &check_err));
    CHECK(rung_net_loss(&again, net, tape, &b.batch, &check_err));
    assert_true(loss.loss == again.loss && loss.right == again.right && loss.targets == again.targets);
    rung_model *model = model_of(net, values, &spec);
    double fast = loss_by_sessions(model, &b, NULL), exact = loss_by_sessions(model, &b, "f64");
    if (!(fabs(fast - loss.loss) <= 2e-6 * (1 + fabs(fast))) || !(fabs(exact - loss.loss) <= 1e-5 * (1 + fabs(exact))))
        fail_msg("%s: loss %.9g, evaluators %.9g and %.9g", v->arch, loss.loss, fast, exact);
    for (size_t i = 0; differences && i < rung_net_tensor_count(net); i++)
        check_tensor(net, &spec, &b, grad, values, rung_net_tensor_at(net, i), v->arch);
    rung_model_close(model);
    rung_tape_free(tape);
    rung_net_free(net);
    batch_free(&b);
    free(values);
    free(grad);
}

static void gradients_are_those_of_the_evaluator_in_double(void **state)
{
    (void)state;
    for (size_t m = 0; m < rung_mech_count(); m++) { /* none of the registry is forgotten */
        size_t found = 0, len = strlen(rung_mech_at(m)->name);
        for (size_t i = 0; i < RUNG_COUNT(variants); i++)
            found +=
                strncmp(variants[i].arch, rung_mech_at(m)->name, len) == 0 &&
                !strchr("abcdefghijklmnopqrstuvwxyz0123456789", variants[i].arch[len] ? variants[i].arch[len] : ':');
        if (!found) fail_msg("%s is not tested", rung_mech_at(m)->name);
    }
    for (size_t i = 0; i < RUNG_COUNT(variants); i++)
        check_net(&variants[i], (rung_batch){.sequences = 2, .prefix = 7}, true);
    assert_int_equal(wrong, 0);
}

static void questions_share_a_prefix_and_do_not_see_each_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(variants); i++)
        check_net(&variants[i], (rung_batch){.sequences = 1, .prefix = 5, .queries = 3, .each = 2}, true);
    check_net(&variants[0], (rung_batch){.sequences = 2, .prefix = 0, .queries = 2, .each = 3}, true);
    assert_int_equal(wrong, 0);
}

/* ---- layers that are told something ---------------------------------------------------------------------------------- */

static void layer_targets_have_the_slope_of_the_loss(void **state)
{
    (void)state;
    const variant v = {"2*full", "relu", RUNG_POS_LEARNED, RUNG_NORM_RMS, 0, false, false, false};
    rung_model_spec spec = spec_of(&v);
    rung_net *net = net_of(&v, &spec);
    test_batch b = batch_new(&spec, (rung_batch){.sequences = 3, .prefix = 6}, false, 2, 9);
    rung_tape *tape = NULL;
    rung_loss plain, loss, high, low;
    CHECK(rung_net_add_layer_losses(net, 4, 0.5, 1, &check_err));
    float *grad = calloc(rung_net_parameters(net), sizeof *grad), *values = rung_net_values(net);
    assert_non_null(grad);
    CHECK(rung_tape_new(&tape, net, &b.batch, 2, &check_err));
    rung_batch without_layer_targets = b.batch;
    without_layer_targets.layer_target = NULL;
    CHECK(rung_net_loss(&plain, net, tape, &without_layer_targets, &check_err));
    CHECK(rung_net_gradient(&loss, grad, net, tape, &b.batch, &check_err));
    assert_true(fabs(loss.loss - plain.loss - 0.5 * log(4)) < 0.05); /* what small weights know of four classes */
    for (size_t i = 0; i < rung_net_tensor_count(net); i++) {
        const rung_net_tensor *t = rung_net_tensor_at(net, i);
        double along = 0, step = 2e-3;
        rung_rng rng;
        float kept[256];
        assert_true(t->elements <= 256);
        memcpy(kept, values + t->offset, t->elements * sizeof *kept);
        for (int side = 0; side < 2; side++) {
            rung_rng_init(&rng, 1, i, 0);
            for (size_t e = 0; e < t->elements; e++) {
                double direction = rung_rng_normal(&rng);
                values[t->offset + e] = kept[e] + (float)(direction * (side ? -step : step));
                if (side) along += direction * (double)grad[t->offset + e];
            }
            CHECK(rung_net_loss(side ? &low : &high, net, tape, &b.batch, &check_err));
        }
        memcpy(values + t->offset, kept, t->elements * sizeof *kept);
        double slope = (high.loss - low.loss) / (2 * step);
        if (!(fabs(slope - along) <= 1e-2 * fabs(slope) + 2e-3))
            fail_msg("%s: gradient says %g, differences say %g", t->name, along, slope);
    }
    rung_tape_free(tape);
    rung_net_free(net);
    batch_free(&b);
    free(grad);
}

/* ---- products of bf16 numbers ------------------------------------------------------------------------------------------ */

static double distance(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

/* Rounding to 8 bits moves a factor by at most 2^-9 of it. Here that moves the gradients of most tensors by less than 7 %
 * of their norm, by a third where a relu switches, and by half where sparse opens another block. A projection that is
 * missing or transposed moves its own by all of it. */
static void check_bf16(const variant *v, rung_batch shape)
{
    rung_model_spec spec = spec_of(v);
    rung_net *net = net_of(v, &spec);
    size_t parameters = rung_net_parameters(net);
    test_batch b = batch_new(&spec, shape, v->vectors, 0, 4);
    rung_tape *tape = NULL;
    rung_loss in_fp32, loss, measured;
    float *grad = calloc(2 * parameters, sizeof *grad), *other = grad + parameters;
    assert_non_null(grad);
    CHECK(rung_tape_new(&tape, net, &b.batch, 1, &check_err));
    CHECK(rung_net_gradient(&in_fp32, grad, net, tape, &b.batch, &check_err));
    CHECK(rung_tape_compute(tape, RUNG_COMPUTE_BF16, &check_err));
    CHECK(rung_net_gradient(&loss, other, net, tape, &b.batch, &check_err));
    CHECK(rung_net_loss(&measured, net, tape, &b.batch, &check_err));
    assert_true(measured.loss == in_fp32.loss); /* evaluations are in fp32 */
    assert_true(loss.loss != in_fp32.loss && fabs(loss.loss - in_fp32.loss) < 0.01 * fabs(in_fp32.loss));
    double all = 0;
    for (size_t i = 0; i < parameters; i++) all = hypot(all, (double)grad[i]);
    for (size_t i = 0; i < rung_net_tensor_count(net); i++) {
        const rung_net_tensor *t = rung_net_tensor_at(net, i);
        double away = distance(grad + t->offset, other + t->offset, t->elements), size = 0;
        for (size_t e = 0; e < t->elements; e++) size = hypot(size, (double)grad[t->offset + e]);
        if (t->projects && size > 0 && away == 0) fail_msg("%s: %s does not depend on bf16", v->arch, t->name);
        if (!(away <= 0.6 * size + 0.01 * all))
            wrong++, print_error("%s: %s: the gradient moved by %g of %g\n", v->arch, t->name, away, size);
    }
    rung_tape_free(tape);
    rung_net_free(net);
    batch_free(&b);
    free(grad);
}

static void bf16_moves_gradients_a_little(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(variants); i++)
        check_bf16(&variants[i], (rung_batch){.sequences = 11, .prefix = 13});
    assert_int_equal(wrong, 0);
}

/* ---- determinism ------------------------------------------------------------------------------------------------------- */

static void check_threads(rung_compute compute)
{
    const variant v = {"linear,gdelta", "swiglu", RUNG_POS_LEARNED, RUNG_NORM_RMS, 0, false, false, false};
    const size_t sizes[] = {1, 3, 8, 19};
    rung_model_spec spec = spec_of(&v);
    rung_net *net = net_of(&v, &spec);
    for (size_t n = 0; n < RUNG_COUNT(sizes); n++) {
        test_batch b =
            batch_new(&spec, (rung_batch){.sequences = sizes[n], .prefix = 9, .queries = 2, .each = 2}, false, 0, n);
        float *first = NULL;
        for (size_t threads = 1; threads <= 3; threads++) {
            rung_tape *tape = NULL;
            rung_loss loss;
            float *grad = calloc(rung_net_parameters(net), sizeof *grad);
            assert_non_null(grad);
            CHECK(rung_tape_new(&tape, net, &b.batch, threads, &check_err));
            CHECK(rung_tape_compute(tape, compute, &check_err));
            for (int repeat = 0; repeat < 2; repeat++) /* a used workspace is as good as a new one */
                CHECK(rung_net_gradient(&loss, grad, net, tape, &b.batch, &check_err));
            if (first) assert_memory_equal(first, grad, rung_net_parameters(net) * sizeof *grad);
            rung_tape_free(tape);
            if (first)
                free(grad);
            else
                first = grad;
        }
        free(first);
        batch_free(&b);
    }
    rung_net_free(net);
}

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    check_threads(RUNG_COMPUTE_FP32);
    check_threads(RUNG_COMPUTE_BF16);
}

/* The second batch tells the layers nothing, so that nothing goes through what the first one has told them by. */
static void a_gradient_does_not_remember_the_one_before(void **state)
{
    (void)state;
    const variant v = {"2*full", "gelu", RUNG_POS_LEARNED, RUNG_NORM_LAYER, 0, false, false, false};
    rung_model_spec spec = spec_of(&v);
    rung_net *net = net_of(&v, &spec);
    test_batch told = batch_new(&spec, (rung_batch){.sequences = 9, .prefix = 6}, false, 2, 3);
    test_batch plain = batch_new(&spec, (rung_batch){.sequences = 9, .prefix = 6}, false, 0, 4);
    rung_loss loss;
    CHECK(rung_net_add_layer_losses(net, 4, 0.5, 1, &check_err));
    float *grad[2] = {calloc(rung_net_parameters(net), sizeof **grad), calloc(rung_net_parameters(net), sizeof **grad)};
    assert_true(grad[0] && grad[1]);
    for (int used = 0; used < 2; used++) {
        rung_tape *tape = NULL;
        CHECK(rung_tape_new(&tape, net, &told.batch, 2, &check_err));
        if (used) CHECK(rung_net_gradient(&loss, grad[used], net, tape, &told.batch, &check_err));
        CHECK(rung_net_gradient(&loss, grad[used], net, tape, &plain.batch, &check_err));
        rung_tape_free(tape);
    }
    assert_memory_equal(grad[0], grad[1], rung_net_parameters(net) * sizeof **grad);
    free(grad[0]), free(grad[1]);
    batch_free(&told), batch_free(&plain);
    rung_net_free(net);
}

/* Weights near 2^-46 have gradients that are products of three of them: below 2^-126, where processors are slow. They are 0. */
static void no_gradient_is_subnormal(void **state)
{
    (void)state;
#if defined(__SSE2__) || defined(__aarch64__)
    const variant v = {"2*full", "none", RUNG_POS_LEARNED, RUNG_NORM_NONE, 0, false, false, false};
    rung_model_spec spec = spec_of(&v);
    rung_net *net = net_of(&v, &spec);
    test_batch b = batch_new(&spec, (rung_batch){.sequences = 9, .prefix = 6}, false, 0, 4);
    rung_tape *tape = NULL;
    rung_loss loss;
    size_t count = rung_net_parameters(net);
    float *grad = calloc(count, sizeof *grad);
    assert_non_null(grad);
    for (size_t i = 0; i < count; i++) rung_net_values(net)[i] *= 0x1p-46f;
    CHECK(rung_tape_new(&tape, net, &b.batch, 2, &check_err));
    CHECK(rung_net_gradient(&loss, grad, net, tape, &b.batch, &check_err));
    for (size_t i = 0; i < count; i++) assert_int_not_equal(fpclassify(grad[i]), FP_SUBNORMAL);
    rung_tape_free(tape);
    free(grad);
    batch_free(&b);
    rung_net_free(net);
#endif
}

/* ---- the rest ------------------------------------------------------------------------------------------------------------ */

static void new_networks_start_where_random_models_do(void **state)
{
    (void)state;
    const variant v = {"linear,delta:conv=2", "gelu", RUNG_POS_ROTARY, RUNG_NORM_LAYER, 0, false, false, false};
    rung_model_spec spec = spec_of(&v);
    rung_net *net = NULL;
    rung_model *model = NULL, *written = NULL;
    char path[64];
    snprintf(path, sizeof path, "/tmp/rung-test-train-%ld.safetensors", (long)getpid());
    CHECK(rung_net_new(&net, &spec, 12, &check_err));
    CHECK(rung_model_random(&model, &spec, 12, &check_err));
    CHECK(rung_net_add_layer_losses(net, 3, 1, 0, &check_err)); /* is not written */
    CHECK(rung_net_write(net, path, "test", &check_err));
    CHECK(rung_model_open(&written, path, &check_err));
    assert_int_equal(rung_model_parameters(written), rung_model_parameters(model));
    for (size_t i = 0; i < rung_net_tensor_count(net); i++) {
        const rung_net_tensor *t = rung_net_tensor_at(net, i);
        const rung_tensor *want = rung_model_tensor(model, t->name), *got = rung_model_tensor(written, t->name);
        if (strncmp(t->name, "told", 4) == 0) {
            assert_null(got);
            continue;
        }
        assert_non_null(want);
        assert_int_equal(want->size_bytes, got->size_bytes);
        assert_memory_equal(want->bytes, got->bytes, want->size_bytes);
        bool matrix = t->rank == 2 && strstr(t->name, ".weight") && strcmp(t->name, "embed.weight") != 0;
        assert_true(t->decays == matrix);
    }
    unlink(path);
    rung_model_close(written);
    rung_model_close(model);
    rung_net_free(net);
}

static const float *values_of(rung_net *net, const char *name, size_t *count)
{
    for (size_t i = 0; i < rung_net_tensor_count(net); i++)
        if (strcmp(rung_net_tensor_at(net, i)->name, name) == 0) {
            *count = rung_net_tensor_at(net, i)->elements;
            return rung_net_values(net) + rung_net_tensor_at(net, i)->offset;
        }
    fail_msg("no tensor %s", name);
    return NULL;
}

/* The gain of values changes the values of softmax attention and nothing else. */
static void the_gain_of_values_changes_values_only(void **state)
{
    (void)state;
    const variant v = {"linear,full", "gelu", RUNG_POS_LEARNED, RUNG_NORM_LAYER, 0, false, false, false};
    rung_model_spec spec = spec_of(&v);
    rung_net *plain = NULL, *scaled = NULL;
    CHECK(rung_net_new(&plain, &spec, 12, &check_err));
    CHECK(rung_net_new(&scaled, &spec, 12, &check_err));
    rung_net_scale(plain, 0.5, 1, 1, 2);
    rung_net_scale(scaled, 0.5, 1, 3, 2);
    size_t changed = 0;
    for (size_t i = 0; i < rung_net_tensor_count(plain); i++) {
        const rung_net_tensor *t = rung_net_tensor_at(plain, i);
        bool values = strncmp(t->name, "layers.1.mix", 12) == 0 && strstr(t->name, ".v.weight");
        for (size_t j = t->offset; j < t->offset + t->elements; j++) {
            float want = rung_net_values(plain)[j] * (values ? 3 : 1);
            assert_true(fabsf(rung_net_values(scaled)[j] - want) <= 1e-6f * fabsf(want));
        }
        changed += values;
    }
    assert_int_equal(changed, 1);
    rung_net_free(plain);
    rung_net_free(scaled);
}

/* Position t has the codes of its two digits, so positions form parallelograms: p(b q + r) - p(b q) does not depend on
 * q. */
static void factored_positions_are_sums_of_two_codes(void **state)
{
    (void)state;
    const variant v = {"full", "none", RUNG_POS_LEARNED, RUNG_NORM_NONE, 0, false, false, false};
    rung_model_spec spec = spec_of(&v);
    rung_error err;
    rung_net *net = NULL;
    size_t count = 0, d = spec.d_model, base = 5;
    CHECK(rung_net_new(&net, &spec, 3, &check_err));
    const float *p = values_of(net, "positions", &count);
    float *drawn = calloc(count, sizeof *drawn);
    assert_non_null(drawn);
    memcpy(drawn, p, count * sizeof *drawn);
    assert_int_equal(rung_net_factor_positions(net, 1, &err), RUNG_USAGE);
    assert_int_equal(rung_net_factor_positions(net, spec.max_tokens, &err), RUNG_USAGE);
    assert_memory_equal(drawn, p, count * sizeof *drawn);
    CHECK(rung_net_factor_positions(net, base, &check_err));
    for (size_t t = 0; t < spec.max_tokens; t++)
        for (size_t j = 0; j < d; j++) {
            float want = (drawn[t % base * d + j] + drawn[(base + t / base) * d + j]) * 0.70710678f;
            assert_true(fabsf(p[t * d + j] - want) < 1e-6f);
        }
    free(drawn);
    rung_net_free(net);
    spec.positions = RUNG_POS_ROTARY;
    CHECK(rung_net_new(&net, &spec, 3, &check_err));
    assert_int_equal(rung_net_factor_positions(net, base, &err), RUNG_USAGE);
    rung_net_free(net);
}

static void rounded_weights_are_what_the_forward_pass_and_the_file_see(void **state)
{
    (void)state;
    const variant v = {"linear", "relu", RUNG_POS_LEARNED, RUNG_NORM_RMS, 0, false, false, false};
    rung_model_spec spec = spec_of(&v);
    rung_net *net = net_of(&v, &spec);
    rung_fmt fmt;
    rung_tape *tape = NULL;
    rung_loss loss;
    test_batch b = batch_new(&spec, (rung_batch){.sequences = 2, .prefix = 6}, false, 0, 4);
    CHECK(rung_fmt_parse(&fmt, "e4m2", &check_err));
    double *values = doubles_of(net);
    for (size_t i = 0; i < rung_net_parameters(net); i++) values[i] = rung_num_round(&fmt, values[i]);
    rung_net_quantise(net, &fmt);
    CHECK(rung_tape_new(&tape, net, &b.batch, 1, &check_err));
    CHECK(rung_net_loss(&loss, net, tape, &b.batch, &check_err));
    rung_model *model = model_of(net, values, &spec);
    assert_true(fabs(loss.loss - loss_by_sessions(model, &b, NULL)) < 1e-5);
    assert_true(rung_net_values(net)[0] != (float)values[0]); /* the optimiser's own stay */
    rung_model_close(model);
    rung_tape_free(tape);
    rung_net_free(net);
    batch_free(&b);
    free(values);
}

static void what_has_no_gradient_is_refused(void **state)
{
    (void)state;
    rung_net *net = NULL;
    rung_error err;
    rung_model_spec spec = small_spec("linear");
    spec.mlp = "table";
    assert_int_equal(rung_net_new(&net, &spec, 1, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "table"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_the_evaluator_in_double),
        cmocka_unit_test(questions_share_a_prefix_and_do_not_see_each_other),
        cmocka_unit_test(layer_targets_have_the_slope_of_the_loss),
        cmocka_unit_test(bf16_moves_gradients_a_little),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(a_gradient_does_not_remember_the_one_before),
        cmocka_unit_test(no_gradient_is_subnormal),
        cmocka_unit_test(new_networks_start_where_random_models_do),
        cmocka_unit_test(the_gain_of_values_changes_values_only),
        cmocka_unit_test(factored_positions_are_sums_of_two_codes),
        cmocka_unit_test(rounded_weights_are_what_the_forward_pass_and_the_file_see),
        cmocka_unit_test(what_has_no_gradient_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
