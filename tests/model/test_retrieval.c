/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A construction as ordinary weights: one retrieval head with binary addresses reads a function of N entries out of its
 * prompt, f(0) .. f(N-1), x -> f(x). With b address bits, Q = s(2P-1), K = 2A-1, V = bits of the value, the score is
 * s(b - 2 Ham(P, A)), the wrong mass is at most (1+e^{-2s})^b - 1 of the right one, and every bit rounds to the right
 * side of 1/2 when that is below 1. With s = 0 all entries weigh the same and the answer cannot depend on x.
 */
#include "model_test.h"

enum { N_MAX = 16, B_MAX = 4, D_MAX = 4 * B_MAX, VOCAB_MAX = 2 * N_MAX };

/* Coordinates of the residual stream: own address, wanted address, bits of the value, and what the head brings. */
typedef struct head {
    size_t N, b, d;
    float embed[VOCAB_MAX * D_MAX], positions[(N_MAX + 1) * D_MAX];
    float q[B_MAX * D_MAX], k[B_MAX * D_MAX], v[B_MAX * D_MAX], out[D_MAX * B_MAX];
    float readout[N_MAX * D_MAX], bias[N_MAX];
} head;

static float bit(size_t number, size_t index)
{
    return (float)(number >> index & 1);
}

static void fill(head *h, size_t N, size_t b, float s)
{
    memset(h, 0, sizeof *h);
    h->N = N, h->b = b, h->d = 4 * b;
    for (size_t i = 0; i < b; i++) {
        for (size_t n = 0; n < N; n++) {
            h->positions[n * h->d + i] = 2 * bit(n, i) - 1;
            h->embed[(N + n) * h->d + b + i] = 2 * bit(n, i) - 1; /* the token that asks for n */
            h->embed[n * h->d + 2 * b + i] = bit(n, i);           /* the token that says n */
            h->readout[n * h->d + 3 * b + i] = 2 * bit(n, i) - 1;
            h->bias[n] -= bit(n, i) - 0.5f;
        }
        h->q[i * h->d + b + i] = s;
        h->k[i * h->d + i] = 1;
        h->v[i * h->d + 2 * b + i] = 1;
        h->out[(3 * b + i) * b + i] = 1;
    }
}

static rung_model *open_head(const head *h)
{
    rung_model *model = NULL;
    rung_model_spec spec = small_spec("full");
    spec.vocab = 2 * h->N, spec.answers = h->N, spec.max_tokens = h->N + 1, spec.d_model = h->d;
    spec.heads = 1, spec.dk = spec.dv = h->b, spec.positions = RUNG_POS_LEARNED, spec.task = "eva";
    const rung_tensor all[] = {
        tensor_of("embed.weight", h->embed, 2, 2 * h->N, h->d),
        tensor_of("positions", h->positions, 2, h->N + 1, h->d),
        tensor_of("layers.0.mix.0.q.weight", h->q, 2, h->b, h->d),
        tensor_of("layers.0.mix.0.k.weight", h->k, 2, h->b, h->d),
        tensor_of("layers.0.mix.0.v.weight", h->v, 2, h->b, h->d),
        tensor_of("layers.0.out.weight", h->out, 2, h->d, h->b),
        tensor_of("readout.weight", h->readout, 2, h->N, h->d),
        tensor_of("readout.bias", h->bias, 1, h->N, 0),
    };
    CHECK(rung_model_write(test_path(), &spec, all, RUNG_COUNT(all), "retrieval head", &check_err));
    CHECK(rung_model_open(&model, test_path(), &check_err));
    return model;
}

/* Right answers over all x, every x a fork of the same prefix. */
static size_t right_answers(const rung_program *program, const uint32_t *f, size_t N, rung_form form)
{
    rung_session *prefix = session_of(program, N + 1), *query = session_of(program, N + 1);
    rung_prompt table = {.token = f, .tokens = N};
    size_t right = 0, at = 0;
    CHECK(rung_session_run(prefix, NULL, &table, form, NULL, 0, &check_err));
    for (size_t x = 0; x < N; x++) {
        double logits[N_MAX];
        uint32_t token = (uint32_t)(N + x);
        rung_prompt ask = {.token = &token, .tokens = 1};
        CHECK(rung_session_copy(query, prefix, &check_err));
        CHECK(rung_session_run(query, logits, &ask, form, &at, 1, &check_err));
        right += rung_argmax(logits, N) == f[x];
    }
    rung_session_free(prefix), rung_session_free(query);
    return right;
}

static size_t right_of_random(size_t N, size_t b, float s, const char *format, rung_form form, size_t functions)
{
    static head h;
    rung_rng rng;
    size_t right = 0;
    fill(&h, N, b, s);
    rung_model *model = open_head(&h);
    rung_program *program = program_of(model, format, 1);
    rung_rng_init(&rng, 77, N, 0);
    for (size_t n = 0; n < functions; n++) {
        uint32_t f[N_MAX];
        for (size_t i = 0; i < N; i++) f[i] = (uint32_t)rung_rng_below(&rng, N);
        right += right_answers(program, f, N, form);
    }
    rung_program_free(program), rung_model_close(model);
    return right;
}

static const struct {
    size_t N, b;
} sizes[] = {{8, 3}, {11, 4}, {16, 4}};
static const char *const formats[] = {NULL, "f64", "f32", "bf16", "e8m3", "e5m2", "q4.6"};
enum { FUNCTIONS = 10 };

static void a_retrieval_head_is_always_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++)
            for (rung_form form = RUNG_FORM_SCAN; form <= RUNG_FORM_STEP; form++) {
                size_t N = sizes[i].N, right = right_of_random(N, sizes[i].b, 2, formats[f], form, FUNCTIONS);
                if (right != FUNCTIONS * N)
                    fail_msg("N=%zu in %s: %zu of %zu right", N, formats[f] ? formats[f] : "fp32", right,
                             FUNCTIONS * N);
            }
}

/* The least scale of the theory, s = ln(3b)/2: (1 + 1/3b)^b - 1 < 0.4. */
static void the_least_scale_of_the_theory_suffices(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
        float s = 0.5f * logf(3 * (float)sizes[i].b);
        for (size_t f = 0; f < 3; f++) /* fp32, f64, f32 */
            assert_int_equal(right_of_random(sizes[i].N, sizes[i].b, s, formats[f], RUNG_FORM_SCAN, FUNCTIONS),
                             FUNCTIONS * sizes[i].N);
    }
}

static void without_a_scale_it_cannot_know_the_address(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            size_t N = sizes[i].N, right = right_of_random(N, sizes[i].b, 0, formats[f], RUNG_FORM_SCAN, FUNCTIONS);
            if (2 * right >= FUNCTIONS * N) fail_msg("N=%zu: %zu of %zu right by luck?", N, right, FUNCTIONS * N);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_retrieval_head_is_always_right),
        cmocka_unit_test(the_least_scale_of_the_theory_suffices),
        cmocka_unit_test(without_a_scale_it_cannot_know_the_address),
    };
    return cmocka_run_group_tests_name("model: retrieval", tests, NULL, remove_test_file);
}
