/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The selective scan of Mamba: every channel c has its own diagonal recurrence over dk states n,
 *   h_cn <- e^{dt_c A_cn} h_cn + (dt_c x_c) B_n,   y_c = sum_n C_n h_cn + D_c x_c.
 * x, dt [H][dv]; B, C [H][dk], shared by the channels of a head (H = 1 is the published layer); A [H][dv][dk] and D
 * [H][dv] belong to the layer. State: h as [H][dk][dv], so that channels are lanes.
 *
 * Order: e^{r(dt A)} is one function of one product; h = r(r(e h) + r(r(dt x) B)); the sum over n runs from 0 upwards
 * and r(D x) is added last.
 */
#include "mamba.h"

#include <math.h>
#include <string.h>

static size_t head_size(const rung_mech_conf *conf)
{
    return conf->dk * conf->dv;
}

static rung_carry carry(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return (rung_carry){.recurrent = conf->heads * head_size(conf)};
}

/* Scratch: blocks of rates and states. The step forms need A transposed to [dk][dv], and rows of lanes. */
static size_t scratch(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return 2 * rung_mamba_blocks_size(conf) + 2 * conf->dv;
}

/* ---- blocks of channels ------------------------------------------------------------------------------------------ */

size_t rung_mamba_blocks_size(const rung_mech_conf *conf)
{
    return (conf->dv + RUNG_SELECTIVE - 1) / RUNG_SELECTIVE * RUNG_SELECTIVE * conf->dk;
}

/* Where channel c of state n is among the blocks. */
static size_t place_of(size_t n, size_t c, const rung_mech_conf *conf)
{
    return c / RUNG_SELECTIVE * RUNG_SELECTIVE * conf->dk + n * RUNG_SELECTIVE + c % RUNG_SELECTIVE;
}

void rung_mamba_rates(float *rates, const float *A, const rung_mech_conf *conf)
{
    const float log2_e = 1.44269504f;
    memset(rates, 0, rung_mamba_blocks_size(conf) * sizeof *rates);
    for (size_t c = 0; c < conf->dv; c++)
        for (size_t n = 0; n < conf->dk; n++) rates[place_of(n, c, conf)] = A[c * conf->dk + n] * log2_e;
}

void rung_mamba_open(float *blocks, const float *h, const rung_mech_conf *conf)
{
    memset(blocks, 0, rung_mamba_blocks_size(conf) * sizeof *blocks);
    for (size_t n = 0; h && n < conf->dk; n++)
        for (size_t c = 0; c < conf->dv; c++) blocks[place_of(n, c, conf)] = h[n * conf->dv + c];
}

void rung_mamba_close(float *h, const float *blocks, const rung_mech_conf *conf)
{
    for (size_t n = 0; n < conf->dk; n++)
        for (size_t c = 0; c < conf->dv; c++) h[n * conf->dv + c] = blocks[place_of(n, c, conf)];
}

void rung_mamba_add_rates(float *dA, const float *blocks, const rung_mech_conf *conf)
{
    for (size_t c = 0; c < conf->dv; c++)
        for (size_t n = 0; n < conf->dk; n++) dA[c * conf->dk + n] += blocks[place_of(n, c, conf)];
}

rung_selective rung_mamba_block(const float *const *in, size_t first, size_t tokens, size_t channel, size_t head,
                                const rung_mech_conf *conf)
{
    size_t row = first * conf->heads + head, value = row * conf->dv + channel, key = row * conf->dk;
    return (rung_selective){.tokens = tokens,
                            .states = conf->dk,
                            .channels = size_min(RUNG_SELECTIVE, conf->dv - channel),
                            .value_row = conf->heads * conf->dv,
                            .key_row = conf->heads * conf->dk,
                            .x = in[MAMBA_X] + value,
                            .dt = in[MAMBA_DT] + value,
                            .B = in[MAMBA_B] + key,
                            .C = in[MAMBA_C] + key,
                            .D = in[MAMBA_D] + head * conf->dv + channel};
}

/* ---- fast -------------------------------------------------------------------------------------------------------- */

static void transpose_f32(float *to, const float *A, const rung_mech_conf *conf)
{
    for (size_t c = 0; c < conf->dv; c++)
        for (size_t n = 0; n < conf->dk; n++) to[n * conf->dv + c] = A[c * conf->dk + n];
}

/* One head, one token; At = A transposed, work = two rows of lanes. */
static void absorb_f32(float *h, const float *x, const float *dt, const float *B, const float *At,
                       const rung_mech_conf *conf, float *work)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t dv = conf->dv;
    float *decay = work, *push = work + dv;
    for (size_t c = 0; c < dv; c++) push[c] = dt[c] * x[c];
    for (size_t n = 0; n < conf->dk; n++) {
        float *row = h + n * dv;
        for (size_t c = 0; c < dv; c++) decay[c] = dt[c] * At[n * dv + c];
        kern->exp(decay, decay, dv);
        for (size_t c = 0; c < dv; c++) row[c] = decay[c] * row[c] + push[c] * B[n];
    }
}

static void query_f32(float *y, const float *h, const float *x, const float *C, const float *D,
                      const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    for (size_t c = 0; c < conf->dv; c++) y[c] = D[c] * x[c];
    for (size_t n = 0; n < conf->dk; n++) kern->axpy(y, C[n], h + n * conf->dv, conf->dv);
}

static void update_f32(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *scratch_)
{
    (void)pos;
    for (size_t g = 0; g < conf->heads; g++) {
        transpose_f32(scratch_, in[MAMBA_A] + g * head_size(conf), conf);
        absorb_f32(state + g * head_size(conf), in[MAMBA_X] + g * conf->dv, in[MAMBA_DT] + g * conf->dv,
                   in[MAMBA_B] + g * conf->dk, scratch_, conf, scratch_ + head_size(conf));
    }
}

static void read_f32(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *scratch_)
{
    (void)pos, (void)seen, (void)scratch_;
    for (size_t g = 0; g < conf->heads; g++)
        query_f32(o + g * conf->dv, state + g * head_size(conf), in[MAMBA_X] + g * conf->dv, in[MAMBA_C] + g * conf->dk,
                  in[MAMBA_D] + g * conf->dv, conf);
}

/* Tokens that go through one block of channels before the next block takes them: their rows stay in the first cache. */
enum { SEGMENT = 32 };

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *scratch_)
{
    float *own = state + head * head_size(conf), *rates = scratch_, *h = rates + rung_mamba_blocks_size(conf);
    (void)pos;
    rung_mamba_rates(rates, in[MAMBA_A] + head * head_size(conf), conf);
    rung_mamba_open(h, own, conf);
    for (size_t t = 0; t < tokens; t += SEGMENT)
        for (size_t c = 0; c < conf->dv; c += RUNG_SELECTIVE) {
            rung_selective p = rung_mamba_block(in, t, size_min(SEGMENT, tokens - t), c, head, conf);
            p.rates = rates + c * conf->dk;
            p.h = h + c * conf->dk;
            if (conf->causal) p.y = o + (t * conf->heads + head) * conf->dv + c;
            rung_chunk_kernels_get()->selective_scan(&p);
        }
    rung_mamba_close(own, h, conf);
    for (size_t t = 0; !conf->causal && t < tokens; t++) { /* an encoder reads the last state */
        size_t key = (t * conf->heads + head) * conf->dk, value = (t * conf->heads + head) * conf->dv;
        query_f32(o + value, own, in[MAMBA_X] + value, in[MAMBA_C] + key, in[MAMBA_D] + head * conf->dv, conf);
    }
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

static void update_exact(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *scratch_)
{
    size_t dk = conf->dk, dv = conf->dv;
    (void)pos, (void)scratch_;
    for (size_t g = 0; g < conf->heads; g++)
        for (size_t c = 0; c < dv; c++) {
            double dt = in[MAMBA_DT][g * dv + c], push = rung_num_mul(fmt, dt, in[MAMBA_X][g * dv + c]);
            for (size_t n = 0; n < dk; n++) {
                double *h = &state[g * head_size(conf) + n * dv + c], A = in[MAMBA_A][(g * dv + c) * dk + n];
                double decay = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_mul(fmt, dt, A));
                *h = rung_num_add(fmt, rung_num_mul(fmt, decay, *h), rung_num_mul(fmt, push, in[MAMBA_B][g * dk + n]));
            }
        }
}

static void read_exact(double *o, const double *state, const double *const *in, size_t pos, size_t seen,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    size_t dk = conf->dk, dv = conf->dv;
    (void)pos, (void)seen, (void)scratch_;
    for (size_t g = 0; g < conf->heads; g++)
        for (size_t c = 0; c < dv; c++) {
            double sum = 0;
            for (size_t n = 0; n < dk; n++)
                sum = rung_num_add(fmt, sum,
                                   rung_num_mul(fmt, state[g * head_size(conf) + n * dv + c], in[MAMBA_C][g * dk + n]));
            o[g * dv + c] = rung_num_add(fmt, sum, rung_num_mul(fmt, in[MAMBA_D][g * dv + c], in[MAMBA_X][g * dv + c]));
        }
}

/* The same roundings with the channels as lanes; work = two rows. */
static void absorb_lanes(double *h, const double *x, const double *dt, const double *B, const double *At,
                         const rung_mech_conf *conf, const rung_fmt *fmt, double *work)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    size_t dv = conf->dv;
    double *decay = work, *push = work + dv;
    num->mul(fmt, push, dt, x, dv);
    for (size_t n = 0; n < conf->dk; n++) {
        double *row = h + n * dv;
        num->mul(fmt, decay, dt, At + n * dv, dv);
        num->fn(fmt, RUNG_FN_EXP, decay, decay, dv);
        num->mul(fmt, row, decay, row, dv);
        num->scale_add(fmt, row, push, B[n], dv);
    }
}

static void query_lanes(double *y, const double *h, const double *x, const double *C, const double *D,
                        const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    memset(y, 0, conf->dv * sizeof *y);
    for (size_t n = 0; n < conf->dk; n++) num->scale_add(fmt, y, h + n * conf->dv, C[n], conf->dv);
    num->mul_add(fmt, y, D, x, conf->dv);
}

static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    double *h = state + head * head_size(conf), *At = scratch_, *work = scratch_ + head_size(conf);
    const double *A = in[MAMBA_A] + head * head_size(conf);
    (void)pos;
    for (size_t c = 0; c < conf->dv; c++)
        for (size_t n = 0; n < conf->dk; n++) At[n * conf->dv + c] = A[c * conf->dk + n];
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t t = 0; t < tokens; t++) {
            size_t key = (t * conf->heads + head) * conf->dk, value = (t * conf->heads + head) * conf->dv;
            if (pass == 0)
                absorb_lanes(h, in[MAMBA_X] + value, in[MAMBA_DT] + value, in[MAMBA_B] + key, At, conf, fmt, work);
            if (pass == !conf->causal)
                query_lanes(o + value, h, in[MAMBA_X] + value, in[MAMBA_C] + key, in[MAMBA_D] + head * conf->dv, conf,
                            fmt);
        }
}

/* ---- row --------------------------------------------------------------------------------------------------------- */

static const rung_param no_params[] = {{0}};
static const rung_mech_input inputs[] = {
    {"x", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "input of each channel", NULL, RUNG_QUANTITY_ACT},
    {"dt", RUNG_DIM_VALUE, RUNG_FROM_SOFTPLUS, false, "step size of each channel", NULL, RUNG_QUANTITY_GATE},
    {"B", RUNG_DIM_KEY, RUNG_FROM_LINEAR, false, "where the input enters the states", NULL, RUNG_QUANTITY_ACT},
    {"C", RUNG_DIM_KEY, RUNG_FROM_LINEAR, false, "how the states are read", NULL, RUNG_QUANTITY_ACT},
    {"A", RUNG_DIM_OF_STATE, RUNG_FROM_PARAMETER, false, "rates of the states, negative", NULL, RUNG_QUANTITY_GATE},
    {"D", RUNG_DIM_OF_VALUE, RUNG_FROM_PARAMETER, false, "how much of x passes by", NULL, RUNG_QUANTITY_WEIGHTS},
    {0},
};

const rung_mech rung_mech_mamba = {
    .name = "mamba",
    .class_of = RUNG_CLASS_STATE,
    .traits = RUNG_TRAIT_FADES,
    .summary = "selective scan (Mamba)",
    .equation = "h_cn <- e^(dt_c A_cn) h_cn + dt_c x_c B_n, y_c = sum_n C_n h_cn + D_c x_c; dk states per channel",
    .carries = "H dk dv",
    .source = "Gu, Dao 2023",
    .params = no_params,
    .inputs = inputs,
    .recurrent = true,
    .keeps = RUNG_KEEPS_HEADS,
    .pads = rung_pads_all,
    .carry = carry,
    .scratch = scratch,
    RUNG_MECH_FORMS,
    .backward_f32 = rung_mamba_backward_f32,
    .backward_scratch = rung_mamba_backward_scratch,
    .forks = true,
};
