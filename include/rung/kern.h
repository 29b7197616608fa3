/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * kern: the fp32 kernels of the fast evaluator. A table of function pointers: the reference kernels fill it, an
 * instruction set overrides. Sums run in 16 fixed lanes, then over the lanes pairwise, and in products along one chain
 * of fused multiply-adds, so the bytes do not depend on the instruction set or on the number of threads. Kernels never
 * allocate and never fail. Layer 1.
 */
#ifndef RUNG_KERN_H
#define RUNG_KERN_H

#include "rung/base.h"

RUNG_API_BEGIN

/* The second factor of a product, prepared once and used for many first factors. Its columns are stored in strips of
 * RUNG_PANEL columns, each strip row after row; the last strip is filled up with zeros. The first rows of a panel are
 * the panel of the first rows. */
#define RUNG_PANEL 32

static inline size_t rung_panels_size(size_t inner, size_t cols)
{
    return (cols + RUNG_PANEL - 1) / RUNG_PANEL * RUNG_PANEL * inner;
}

/* Rows of memory that will be needed soon: `rows` of `width` floats, `row` apart. A list has RUNG_CHUNK_ERRANDS of
 * them. */
typedef struct rung_chunk_rows {
    const float *at;
    size_t row, rows, width;
} rung_chunk_rows;
#define RUNG_CHUNK_ERRANDS 8

/* y[rows][cols] = (start + bias + x w) factor. Element (i, k) of x is x[i * x_row + k * x_inner], so that x may be the
 * transpose of what is stored. If w_row is 0, w comes in panels, and panel_rows is the number of rows of a strip if
 * that is more than `inner` (0: it is `inner`). Otherwise w is a plain matrix with element (k, c) at panels[k * w_row +
 * c]. Rows of y and of factor are y_row apart, rows of start are start_row apart. start, bias (one row) and factor may
 * be NULL; start may be y. Every element is (start + bias), then one fused multiply-add after the other for k from 0
 * upwards, then times its factor. y must not overlap x. */
typedef struct rung_product {
    float *y;
    const float *x, *panels, *start, *bias, *factor;
    size_t rows, cols, inner;
    size_t y_row, x_row, x_inner, w_row, start_row, panel_rows;
    const rung_chunk_rows *next; /* a list, or NULL; rung_chunk_kernels.product asks for them */
} rung_product;

typedef enum rung_act {
    RUNG_ACT_SILU,
    RUNG_ACT_SIGMOID,
    RUNG_ACT_SOFTPLUS,
    RUNG_ACT_LOG_GATE,  /* -softplus(-x) / 16 */
    RUNG_ACT_KEEP,      /* e^{-e^{-1/2} sigmoid(x)} */
    RUNG_ACT_GELU_TANH, /* x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)) */
} rung_act;

/* The constants of one AdamW step, the same for all parameters: the gradient is g clip, and w is multiplied by
 * `keep`. */
typedef struct rung_adam_step {
    float beta1, beta2, rest1, rest2, epsilon, step, root, keep, clip;
} rung_adam_step;

typedef struct rung_kernels {
    const char *name;
    float (*dot)(const float *a, const float *b, size_t n);
    void (*axpy)(float *y, float a, const float *x, size_t n);               /* y += a x */
    void (*fade_axpy)(float *y, float f, float a, const float *x, size_t n); /* y = f y + a x */
    void (*scale)(float *y, float a, size_t n);                              /* y *= a */
    void (*exp)(float *y, const float *x, size_t n); /* relative error below 2^-22, 0 below -86.9; y may be x */
    /* y[T][n] = x[T][m] w[n][m]^T + bias[n]. bias may be NULL. y must not overlap x. */
    void (*linear)(float *y, const float *x, const float *w, const float *bias, size_t T, size_t n, size_t m);
    /* Makes the panels of w = [inner][cols], whose element (k, c) is w[k * w_inner + c * w_col]. `panels` has
     * rung_panels_size(inner, cols) floats. */
    void (*pack)(float *panels, const float *w, size_t inner, size_t cols, size_t w_inner, size_t w_col);
    void (*multiply)(const rung_product *p);
    /* s are the scores of a query with `cols` keys, a multiple of RUNG_PANEL. The query sees keys [first, end), at
     * least one. soften replaces their scores by e^(s - max), the others by 0, and returns the sum. The backward
     * function gets dp, the gradients of the weights s / sum, and replaces them by the gradients of the scores. */
    float (*soften)(float *s, size_t first, size_t end, size_t cols);
    float (*soften_back)(float *s, float *dp, size_t first, size_t end, size_t cols);
    void (*times)(float *y, const float *x, size_t n);                 /* y *= x */
    void (*add_rows)(float *y, const float *x, size_t rows, size_t n); /* y[n] += each row of x[rows][n], in order */
    float (*sum)(const float *x, size_t n);
    double (*square_sum)(const float *x, size_t n);
    /* Norm of rows of d numbers: y = (x - mean) / sqrt(mean square + epsilon) w + b. The mean is subtracted only if
     * `centre`; w and b may be NULL. The backward function adds to dx, dw and db (which may be NULL); `room` has 2 d
     * floats. */
    void (*norm)(float *y, const float *x, const float *w, const float *b, size_t rows, size_t d, bool centre,
                 float epsilon);
    void (*norm_back)(float *dx, float *dw, float *db, const float *dy, const float *x, const float *w, size_t rows,
                      size_t d, bool centre, float epsilon, float *room);
    /* y = f(x), and x is replaced by f'(x), which the backward pass needs. */
    void (*relu)(float *y, float *x, size_t n);
    void (*gelu)(float *y, float *x, size_t n);
    /* y = f(x), where y may be x; and g *= f'(x). */
    void (*activate)(float *y, const float *x, rung_act act, size_t n);
    void (*activate_back)(float *g, const float *x, rung_act act, size_t n);
    void (*adam)(float *w, float *m, float *v, const float *g, size_t n, const rung_adam_step *u);
} rung_kernels;

const rung_kernels *rung_kernels_of(rung_isa isa);
const rung_kernels *rung_kernels_get(void); /* of rung_cpu_isa() */

/* ---- products of bf16 numbers ------------------------------------------------------------------------------------ */

/* Two neighbours along the inner index, rounded to bf16, are a word: the one with the even index in its lower half. If
 * the number of them is odd, the last half is 0. y = (start + bias + x w) factor as in rung_product, with words for x
 * and w: `pairs` of them are the inner index. Element (i, k) of x is x[i * x_row + k * x_pair]. If w_row is 0, w comes
 * in panels; otherwise element (k, c) is w[k * w_row + c].
 *
 * Every element is (start + bias), then for each word from 0 upwards one fused multiply-add of the odd numbers and one
 * of the even numbers, in fp32, then times its factor. Each operation rounds to nearest even. A number below 2^-126
 * counts as 0, and becomes 0 if it is a result (after it has been rounded to 24 bits). This is what the instruction
 * VDPBF16PS computes. So the bytes do not depend on the instruction set, except for the sign and payload of a NaN. */
typedef struct rung_bf16_product {
    float *y;
    const uint32_t *x, *w;
    const float *start, *bias, *factor;
    size_t rows, cols, pairs;
    size_t y_row, x_row, x_pair, w_row, start_row;
} rung_bf16_product;

typedef struct rung_bf16_kernels {
    const char *name;
    void (*multiply)(const rung_bf16_product *p);
    /* The words of x[rows][cols]: of neighbours in a row, out = [rows][(cols + 1) / 2]; of neighbours in a column, out =
     * [(rows + 1) / 2][cols]. Rounds to nearest even; below 2^-126 to 0. */
    void (*pair_rows)(uint32_t *out, const float *x, size_t rows, size_t cols);
    void (*pair_cols)(uint32_t *out, const float *x, size_t rows, size_t cols);
} rung_bf16_kernels;

/* NULL if the build has none with these instructions, or the machine cannot run them. */
const rung_bf16_kernels *rung_bf16_kernels_of(rung_isa isa, bool with_bf16);
/* The best that rung_cpu_isa and rung_cpu_bf16 allow. VDPBF16PS is used only if it gives the bytes of the reference on
 * hard cases, which are tried once. */
const rung_bf16_kernels *rung_bf16_kernels_get(void);

/* The operations of a chunk of n <= RUNG_CHUNK tokens of a recurrence, besides products. A matrix of pairs (t, s) of
 * its tokens has rows of RUNG_CHUNK floats, so that it is a panel too. Sums of lanes and chains of products are the
 * same for every instruction set. */
#define RUNG_CHUNK    RUNG_PANEL
#define RUNG_SUBCHUNK 16 /* tokens whose pairs are computed one by one if every channel has its own decay */

/* The selective scan of Mamba on `channels` <= RUNG_SELECTIVE channels of one head:
 *   h_n <- 2^(dt rates_n) h_n + (dt x) B_n,   y = sum over n of C_n h_n + D x.
 * h and rates have rows of RUNG_SELECTIVE floats, one row per state n; rates and h are zero beyond the channels. Rows
 * of x, dt, y and g are value_row apart from token to token, those of B and C key_row. y NULL: nothing is read; then
 * `kept` and `decays`, if not NULL, get h after every token and the decays of every token. */
#define RUNG_SELECTIVE 16

typedef struct rung_selective {
    size_t tokens, states, channels, value_row, key_row;
    const float *x, *dt, *B, *C, *D, *rates;
    float *h, *y, *kept, *decays;
} rung_selective;

/* The same tokens backwards, from the last to the first. `first` is h before them; dh is the gradient of h after them
 * and becomes that of `first`. Adds to the others, which may be NULL (except drates: the gradient of the natural rates,
 * which are the rates times ln 2). g NULL: nothing was read. `met` has room for 2 states RUNG_SELECTIVE floats. */
typedef struct rung_selective_back {
    rung_selective scan; /* with kept and decays; y and h are not used */
    const float *first, *g;
    float *dh, *drates, *dx, *ddt, *dB, *dC, *dD, *met;
} rung_selective_back;

/* What n tokens read: o_t = after_t (before_t S^T x_t + the sum over j of pairs_tj values_j). S is in panels of dk rows,
 * the values are in panels of value_rows rows. Of row t of the pairs the first `inner` elements count; 0: those up to
 * the end of the eight tokens that t belongs to, at most n. before, after NULL: 1. */
typedef struct rung_chunk_read {
    float *o;
    const float *x, *S, *before, *pairs, *values, *after;
    size_t o_row, x_row, n, dk, dv, value_rows, inner;
    rung_chunk_rows next[RUNG_CHUNK_ERRANDS]; /* brought to the second cache meanwhile */
} rung_chunk_read;

/* What n tokens leave: S_i <- fade_i S_i + the sum over j < n of x_ji values_j, where faded numbers below 2^-102 become
 * 0. x_ji is x[i x_row + j x_inner], one of which is 1; fade_i is fade[i fade_step], NULL: 1. S is in panels of dk rows,
 * the values in panels of value_rows rows. */
typedef struct rung_chunk_leave {
    float *S;
    const float *x, *values, *fade;
    size_t x_row, x_inner, fade_step, n, dk, dv, value_rows;
    rung_chunk_rows next[RUNG_CHUNK_ERRANDS];
} rung_chunk_leave;

/* The backward function of crossed_pairs and of the rows of a chunk of RWKV-7 that have faded from its start or to its
 * end. `reads` and `asks` are the gradients of A and B; from_r and from_a [n][d] those of r_t E_t0 and a_t E_(t-1)0,
 * to_b and to_k those of b_j and k_j times E up to the end; through [d] is what meets of the state before the chunk and
 * of the gradient of the state after it. since, until as in channel_decays. Adds to the gradients, which may be NULL.
 * Rows of inputs and gradients are `row` apart. */
typedef struct rung_crossed_back {
    const float *r, *a, *b, *k, *w, *reads, *asks, *from_r, *from_a, *to_b, *to_k, *through, *since, *until;
    float *dr, *da, *db, *dk, *dw;
    size_t row, n, d;
} rung_crossed_back;

typedef struct rung_chunk_kernels {
    /* A product without bias and factor, with a stride of x that is 1. The bytes are those of rung_kernels.multiply. */
    void (*product)(const rung_product *p);
    /* Returns whether all outputs are finite. */
    bool (*read_state)(const rung_chunk_read *p);
    void (*leave_state)(const rung_chunk_leave *p);
    /* On rows of n floats, in this order: y = a_t x (y may be x), y += a_t x, out_t = x . y; then element by element, y
     * = x a (y may be x) and y += x a. */
    void (*scale_rows)(float *y, size_t y_row, const float *x, size_t x_row, const float *a, size_t rows, size_t n);
    void (*add_rows)(float *y, size_t y_row, const float *x, size_t x_row, const float *a, size_t rows, size_t n);
    /* y *= a_t, and results below 2^-102 become 0, because products with subnormal numbers are slow. a_step 0: one a
     * for all rows. */
    void (*fade_rows)(float *y, size_t y_row, const float *a, size_t a_step, size_t rows, size_t n);
    void (*dot_rows)(float *out, const float *x, size_t x_row, const float *y, size_t y_row, size_t rows, size_t n);
    void (*multiply_rows)(float *y, size_t y_row, const float *x, size_t x_row, const float *a, size_t a_row,
                          size_t rows, size_t n);
    void (*add_products)(float *y, size_t y_row, const float *x, size_t x_row, const float *a, size_t a_row,
                         size_t rows, size_t n);
    /* For every token t in turn: z += f_t, norm_t = z . p_t. Rows of d floats. */
    void (*running_norms)(float *norm, float *z, const float *p, const float *f, size_t n, size_t d);
    bool (*finite_rows)(const float *x, size_t x_row, size_t rows, size_t n);
    void (*exp_rows)(float *y, size_t y_row, const float *x, size_t x_row, size_t rows, size_t n);
    /* y = x + 1 where x > 0, else e^x. The backward function, of one row, adds dy times the slope to dx. */
    void (*elu1)(float *y, size_t y_row, const float *x, size_t x_row, size_t rows, size_t n);
    void (*undo_elu1)(float *dx, const float *x, const float *y, const float *dy, size_t n);

    /* One decay w_t per token: E_ts = w_(s+1) ... w_t for s <= t, else 0. */
    void (*pair_decays)(float *E, const float *w, size_t n);
    /* A_ts *= sign E_ts where s + before <= t, else 0. E may be NULL, which means ones. */
    void (*mask_pairs)(float *A, const float *E, size_t n, size_t before, float sign);
    /* W_ts += A_ts dA_ts where s + before <= t. */
    void (*add_weights)(float *W, const float *A, const float *dA, size_t n, size_t before);
    /* dg_r += sum over s < r <= t of W_ts (W is transposed: [s][t]), plus the weights of each t with the state before
     * the chunk, plus those of each s with the state after it, plus the weight of the state that passes through the
     * chunk. */
    void (*sum_decays)(float *dg, size_t dg_row, const float *W, const float *from_start, const float *to_end,
                       float through, size_t n);
    /* A_ts *= lambda_t[l], where l is the number of binary digits of (t xor s); the last of `levels` numbers is used
     * for all larger l. The backward function adds to dlambda_t[l] the sum of A_ts dA_ts over the s of level l. */
    void (*weigh_levels)(float *A, const float *lambda, size_t lambda_row, size_t levels, size_t n);
    void (*sum_levels)(float *dlambda, size_t lambda_row, size_t levels, const float *A, const float *dA, size_t n);
    /* For rows t upwards (or downwards): r_t += sum of M_ts u_s over the rows before it, then u_t = beta_t r_t. M_ts is
     * M[t m_row + s m_col]. u is a panel with panel_rows rows; rows of r have room for whole vectors of 16. */
    void (*solve_block)(float *u, float *r, size_t r_row, const float *M, size_t m_row, size_t m_col, const float *beta,
                        size_t rows, size_t cols, size_t panel_rows, bool downwards);

    /* A decay per channel: w has rows of d floats, n <= RUNG_SUBCHUNK. since_t = w_0 ... w_t, until_s = w_(s+1) ...
     * w_(n-1). */
    void (*channel_decays)(float *since, float *until, const float *w, size_t n, size_t d);
    /* A_ts = sum of q_t E_ts k_s for s <= t, B_ts = -sum of k_t E_ts k_s for s < t (B may be NULL; with it q_row is
     * k_row). The rest of RUNG_SUBCHUNK columns becomes 0. */
    void (*channel_pairs)(float *A, float *B, const float *q, size_t q_row, const float *k, size_t k_row,
                          const float *w, size_t n, size_t d);
    /* A_ts = sum of q_t E_ts b_s for s <= t, B_ts = sum of a_t E_(t-1)s b_s for s < t; and RUNG_SUBCHUNK columns behind
     * them the same with k in the place of b. All others of n rows of RUNG_CHUNK become 0. Rows of w are w_row apart,
     * those of q, a, b and k `row`. */
    void (*crossed_pairs)(float *A, float *B, const float *q, const float *a, const float *b, const float *k,
                          size_t row, const float *w, size_t w_row, size_t n, size_t d);
    void (*undo_crossed)(const rung_crossed_back *p);
    /* The backward function of A or B of channel_pairs, with x = q or k and s + before <= t. Adds to dx, dk and dg.
     * `faded` has n d floats. */
    void (*undo_channel_pairs)(float *dx, size_t dx_row, float *dk, size_t dk_row, float *dg, size_t dg_row,
                               const float *dA, const float *x, size_t x_row, const float *k, size_t k_row,
                               const float *w, size_t n, size_t d, size_t before, float *faded);
    /* dg_r += through + the sum of from_start over t >= r + the sum of to_end over s < r. Rows have d floats. */
    void (*sum_channel_decays)(float *dg, size_t dg_row, const float *from_start, const float *to_end,
                               const float *through, size_t n, size_t d);

    void (*selective_scan)(const rung_selective *p);
    void (*selective_undo)(const rung_selective_back *p);
} rung_chunk_kernels;

const rung_chunk_kernels *rung_chunk_kernels_of(rung_isa isa);
const rung_chunk_kernels *rung_chunk_kernels_get(void);

/* The reference speed of `rung bench`: causal softmax attention of one head in fp32 with a lane per query, as fast as
 * plain C gets. Computes queries first .. first+count-1, count <= RUNG_YARDSTICK_QUERIES; q, k = [tokens][dk], v, o =
 * [tokens][dv]; scratch has RUNG_YARDSTICK_QUERIES (dk+dv+1) floats. Its last bits depend on the instruction set. */
#define RUNG_YARDSTICK_QUERIES 64
typedef void rung_yardstick(float *o, const float *q, const float *k, const float *v, size_t first, size_t count,
                            size_t dk, size_t dv, float *scratch);
rung_yardstick *rung_yardstick_get(void); /* of rung_cpu_isa() */

/* The peak speed, of which `rung bench` prints speeds as shares: thousands of rounds of independent fused multiply-adds
 * in registers (reference: multiply and add). Returns the number of floating-point operations. `sink` holds a number,
 * which they begin with, and gets a meaningless one, so that the compiler keeps the loop. */
typedef double rung_peak(float *sink, size_t thousands);
rung_peak *rung_peak_get(void); /* of rung_cpu_isa() */

RUNG_API_END

#endif
