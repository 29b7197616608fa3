/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * mech: attention mechanisms. Each is one registry row: its equations, its inputs, the number of elements
 * that it carries past a position, and two implementations (fast fp32, exact p-bit), each in two forms:
 *
 *   step  update: h_t = G(h_{t-1}, x_t), then read: y_t = f(h_t, x_t). One token, explicit state, readable.
 *   scan  many tokens of one head at once, vectorised. In the exact evaluator it does the same roundings in
 * the same order as the step form, so both give the same bits.
 *
 * A mechanism sees tensors, not weights: q, k, v and what else it needs, as they leave the projections of a
 * layer. Nothing is scaled or normalised behind the caller's back. Without a mask (an encoder) every token is
 * absorbed first and every query then reads the same state. Layer 2.
 */
#ifndef RUNG_MECH_H
#define RUNG_MECH_H

#include "rung/base.h"
#include "rung/num.h"

RUNG_API_BEGIN

#define RUNG_MECH_INPUT_MAX 12

/* With these limits H dk dv and the r dv of every feature map stay below 2^57, so neither their products nor their bits
 * overflow. Only a product with the number of tokens can, and that one saturates (see carry). */
#define RUNG_HEADS_MAX ((size_t)1 << 16)
#define RUNG_DIM_MAX   ((size_t)1 << 20)

/* Shape of an input. Most inputs have one row per token. From RUNG_DIM_CONSTANT on they belong to the layer and are the
 * same for every token. */
typedef enum rung_mech_dim {
    RUNG_DIM_KEY = 1,                      /* [H][dk] */
    RUNG_DIM_VALUE,                        /* [H][dv] */
    RUNG_DIM_HEAD,                         /* [H] */
    RUNG_DIM_LEVELS,                       /* [H][levels], levels a parameter of the mechanism */
    RUNG_DIM_BRANCHES,                     /* [H][3] */
    RUNG_DIM_FOUR_VALUES,                  /* [H][4 dv] */
    RUNG_DIM_INDEX_QUERY,                  /* [HI][DI], parameters of the mechanism */
    RUNG_DIM_INDEX_KEY,                    /* [DI] */
    RUNG_DIM_INDEX_HEAD,                   /* [HI] */
    RUNG_DIM_CONSTANT,                     /* not a shape: the first of those below */
    RUNG_DIM_OF_VALUE = RUNG_DIM_CONSTANT, /* [H][dv] */
    RUNG_DIM_OF_STATE,                     /* [H][dv][dk] */
    RUNG_DIM_OF_SQUARE,                    /* [H][dv][dv] */
    RUNG_DIM_OF_FOUR,                      /* [H][4 dv][dv] */
    RUNG_DIM_OF_BLOCK_KEY,                 /* [B][dk], B a parameter: added to a token by its place in the block */
    RUNG_DIM_OF_BLOCK_VALUE,               /* [B][dv] */
    RUNG_DIM_OF_COMPRESS_KEY,              /* [dk][B dk] */
    RUNG_DIM_OF_COMPRESS_VALUE,            /* [dv][B dv] */
    RUNG_DIM_OF_KEY_SQUARE,                /* [dk][dk] */
    RUNG_DIM_OF_VALUE_SQUARE,              /* [dv][dv] */
} rung_mech_dim;

/* How a model layer computes the input from the residual stream x. */
typedef enum rung_mech_source {
    RUNG_FROM_LINEAR = 1,  /* W x + b */
    RUNG_FROM_GATE,        /* sigmoid(W x + b) */
    RUNG_FROM_DECAY,       /* -e^{A} softplus(W x + b), A one number per head: the logarithm of a decay */
    RUNG_FROM_TIMED,       /* (W x + b) softplus(z), where z is the W x + b of the decay input: the values of Mamba-2 */
    RUNG_FROM_LOG_GATE,    /* -softplus(-(W x + b)) / 16: the logarithm of a sigmoid, divided by 16 as in GLA */
    RUNG_FROM_SOFTPLUS,    /* softplus(W x + b) */
    RUNG_FROM_KEEP,        /* e^{-e^{-1/2} sigmoid(W x + b)}: a decay in (0.545, 1), as in RWKV-7 */
    RUNG_FROM_REMOVAL,     /* -(W x + b), scaled to length 1 in each head */
    RUNG_FROM_REPLACEMENT, /* minus the previous input, times sigmoid(W x + b) */
    RUNG_FROM_RATE,        /* one number per head, the same at every token: the logarithm of a decay, as in RetNet */
    RUNG_FROM_PARAMETER,   /* a tensor of the layer, unchanged (for constants) */
} rung_mech_source;

struct rung_mech_conf;
struct rung_backward;

typedef struct rung_mech_input {
    const char *name;
    rung_mech_dim dim;
    rung_mech_source source;
    bool rotary; /* rotary positions may be applied */
    const char *meaning;
    bool (*used)(const struct rung_mech_conf *conf); /* whether it is used with these parameters; NULL: always */
    rung_quantity quantity; /* whose format it is stored in before the mechanism reads it; ACC: it is not stored */
} rung_mech_input;

/* Sizes of one row, or of one constant. */
typedef struct rung_shape {
    size_t rank, dim[3];
} rung_shape;

struct rung_mech;

/* The order in which softmax attention adds its keys. The lower bounds hold for the first order only: if the maximum is
 * known beforehand, or keys are added from the last to the first, a layer can do what they exclude. Only the exact
 * evaluator distinguishes them. */
typedef enum rung_softmax {
    RUNG_SOFTMAX_ONLINE = 0, /* from position 0 upwards with a running maximum */
    RUNG_SOFTMAX_TWO_PASS,   /* first finds the maximum of all scores, then adds from position 0 upwards */
    RUNG_SOFTMAX_REVERSE,    /* online, from the last position downwards */
} rung_softmax;
extern const char *const rung_softmax_names[];

/* One mechanism with its sizes, as an arch string states it for a group of heads. */
typedef struct rung_mech_conf {
    const struct rung_mech *mech;
    size_t heads, dk, dv; /* H, key and value dimension of a head */
    bool causal;
    rung_value params[RUNG_PARAM_MAX]; /* parallel to mech->params */

    /* What published layers do before and after the mechanism. The model does it, not the mechanism. */
    size_t conv;   /* width of a causal convolution per channel of q, k, v (then silu); 0: none */
    bool gate;     /* the output of a head is normalised (rms) and multiplied by silu(W x) */
    bool out_gate; /* the output is multiplied by sigmoid(W x); not with gate */
    bool unit;     /* q and k of a head are scaled to length 1 */
    bool neg;      /* beta of a delta rule is doubled; with |k| = 1 a transition then has eigenvalues in [-1, 1] */
    /* q and k of a head are divided by the root of their mean square, and multiplied by learnt weights; not with unit */
    bool qk_norm;
    double scale; /* q is multiplied by it, after everything else; 0: by nothing */

    /* heads of keys and values, each shared by as many neighbouring heads of queries; 0: every head has its own */
    size_t kv_heads;

    rung_softmax softmax; /* chosen by the evaluator; not part of the architecture */
} rung_mech_conf;

/* Numbers (elements, not bits) that are carried past a position, by kind. Each takes p bits. */
typedef struct rung_carry {
    /* does not grow with the position (log-linear attention: grows as the number of one-bits of the position) */
    size_t recurrent;
    size_t window; /* keys and values of the last tokens */
    size_t cache;  /* keys and values of all tokens */
    size_t conv;   /* inputs that a short convolution needs later */
} rung_carry;

/* What a mechanism passes from token to token. Theorems, attacks and protocols use the class and the traits of a row,
 * never its name. No theorem applies to a row that does not state its class. */
typedef enum rung_class {
    RUNG_CLASS_NONE = 0,  /* not stated */
    RUNG_CLASS_SCAN,      /* a query scans all earlier tokens with an accumulator of dv + 2 numbers per head */
    RUNG_CLASS_STATE,     /* a state that does not grow: carry().recurrent */
    RUNG_CLASS_WINDOW,    /* keys and values of the last tokens: carry().window */
    RUNG_CLASS_LEVELS,    /* one state for every one-bit of the position: carry().recurrent */
    RUNG_CLASS_BLOCKS,    /* blocks with summaries, some of which a query selects: selects() */
    RUNG_CLASS_TOP,       /* single tokens that a query selects: selects() */
    RUNG_CLASS_TOKENWISE, /* nothing passes from token to token */
} rung_class;
extern const char *const rung_class_names[]; /* [class] */

enum {
    RUNG_TRAIT_SOFTMAX = 1,    /* a query weighs what it reads by a softmax */
    RUNG_TRAIT_FADES = 2,      /* stored content decays or is dropped with time */
    RUNG_TRAIT_OVERWRITES = 4, /* a token removes the old content of its key (delta rules) */
    RUNG_TRAIT_SUM = 8,        /* for some parameters the state is a sum of one term per token */
    RUNG_TRAIT_CERTIFIED = 16, /* docs/certificate.md defines it, so rung-check can run it */
};

/* What a query reads in the classes BLOCKS and TOP. Numbers are for all heads together unless stated otherwise. */
typedef struct rung_selection {
    size_t block;             /* tokens in a block; TOP: 1 */
    size_t top;               /* blocks, or tokens, that one head selects */
    size_t window;            /* number of last tokens that it reads as well */
    size_t summary;           /* numbers in the summary of a block; 0 if there are no summaries */
    size_t index;             /* numbers per token that the indexer keeps */
    bool summary_by_position; /* a summary may be any function of the last token of the block */
    bool summary_is_mean;     /* the summary is the mean of keys and of values */
} rung_selection;

/* Which sizes may be enlarged without changing a bit of the other results in the exact evaluator: additional
 * coordinates or heads whose projections, biases and constants are zero have no effect. tests/witness checks every row
 * that states it. */
typedef enum rung_pads {
    RUNG_PADS_KEYS = 1,   /* key coordinates appended to the others */
    RUNG_PADS_VALUES = 2, /* value coordinates appended to the others; their outputs are 0 */
    RUNG_PADS_HEADS = 4,  /* heads appended to the others; their outputs are 0 */
    RUNG_PADS_IDLE = 8,   /* no size, but a layer whose weights are all zero gives finite outputs */
    RUNG_PADS_ALL = 15,
} rung_pads;

/* How the carried numbers of a row lie in the state array, for formats by quantity. */
typedef enum rung_keeps {
    RUNG_KEEPS_NOT_STATED = 0, /* mixed formats are refused */
    RUNG_KEEPS_HEADS,          /* a state: the numbers of head 0, of head 1, ...; every token may change all of them */
    RUNG_KEEPS_TOKENS,         /* slots of tokens: for every head a key and a value, which never change */
} rung_keeps;

/* The affine step of a state, for proofs about its roundings (docs/drift.md). */
typedef enum rung_transition {
    RUNG_TRANSITION_NOT_STATED = 0, /* no proof applies */
    /* S <- diag(e^g) S, if there is a g; u = v, or u = beta (v - S^T k) if there is a beta; S <- S + k u^T. Inputs q, k,
     * v, and those two, in the order of the operations of src/mech/matrix_ops.c */
    RUNG_TRANSITION_MATRIX,
    /* S <- diag(w) S + b (a^T S) + k v^T. Inputs r, w, k, v, a, b, in the order of the operations of
     * src/mech/rwkv7.c */
    RUNG_TRANSITION_RANK_ONE,
} rung_transition;

typedef struct rung_mech {
    const char *name;
    const char *summary;
    const char *equation; /* as the code computes it, in the same order */
    const char *carries;  /* the formula of carry() in words, per layer */
    const char *source;   /* paper */
    const rung_param *params;
    const rung_mech_input *inputs; /* ends with a NULL name */
    rung_class class_of;           /* what theorems may assume */
    unsigned traits;               /* RUNG_TRAIT_... */
    bool recurrent;                /* carries a state that does not grow */
    bool causal_only;              /* is undefined without a causal mask */
    bool any_softmax; /* the exact forms implement every order of rung_softmax; other rows are online only */
    bool shares_keys; /* conf.kv_heads may be set */
    rung_keeps keeps;
    rung_transition transition;

    /* A set of rung_pads. NULL: unknown, so no size may change. */
    unsigned (*pads)(const rung_mech_conf *conf);
    /* Refuses sizes that the mechanism cannot have, beyond the limits above; NULL: none. Callers use
     * rung_mech_check. */
    rung_status (*check)(const rung_mech_conf *conf, rung_error *err);
    /* The number of elements carried after `tokens` tokens. They are the first elements of the state array. SIZE_MAX if
     * the number does not fit. */
    rung_carry (*carry)(const rung_mech_conf *conf, size_t tokens);
    /* RUNG_KEEPS_TOKENS: the slot of a token. */
    size_t (*slot)(const rung_mech_conf *conf, size_t pos);
    /* What a query selects (BLOCKS and TOP); NULL for the other classes. */
    rung_selection (*selects)(const rung_mech_conf *conf);
    /* Size of a state array that is enough for any number of tokens up to `tokens`. NULL: carry never decreases, so
     * carry(tokens) is enough. */
    size_t (*capacity)(const rung_mech_conf *conf, size_t tokens);
    /* Scratch elements that one worker needs for any function below, if at most `tokens` tokens have been absorbed
     * after the call. */
    size_t (*scratch)(const rung_mech_conf *conf, size_t tokens);

    /* Step form, all heads. in[i] is the token's row of input i (NULL when it is not used), o its row [H][dv]. `seen`
     * is the number of tokens absorbed before read is called; for a causal query at position `pos` it is pos + 1. */
    void (*update_f32)(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *scratch);
    void (*read_f32)(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *scratch);
    void (*update_exact)(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *scratch);
    void (*read_exact)(double *o, const double *state, const double *const *in, size_t pos, size_t seen,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch);

    /* Update and read in one call, for a mechanism whose query reads before its own token is merged. NULL: call update,
     * then read. */
    void (*step_f32)(float *o, float *state, const float *const *in, size_t pos, const rung_mech_conf *conf,
                     float *scratch);
    void (*step_exact)(double *o, double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                       const rung_fmt *fmt, double *scratch);

    /* Scan form, one head: tokens pos .. pos+tokens-1, in[i] = [tokens][row], o = [tokens][H][dv]. The state goes from
     * that after pos tokens to that after pos+tokens. An encoder has pos = 0 and passes all tokens. */
    void (*scan_f32)(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *scratch);
    void (*scan_exact)(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch);

    /* For a mechanism whose queries do not depend on each other, otherwise NULL. Computes the outputs of one head for
     * queries number first .. first+count-1 of `at`, which lists tokens of this stretch in ascending order (NULL: all
     * its tokens). o = [asked][H][dv], indexed by number. The state is that after pos tokens and does not change: a
     * scan is all queries followed by update for every token. The bits are the same as in a scan of all tokens. */
    void (*ask_f32)(float *o, const float *state, const float *const *in, size_t pos, size_t tokens, const size_t *at,
                    size_t first, size_t count, size_t head, const rung_mech_conf *conf, float *scratch);
    void (*ask_exact)(double *o, const double *state, const double *const *in, size_t pos, size_t tokens,
                      const size_t *at, size_t first, size_t count, size_t head, const rung_mech_conf *conf,
                      const rung_fmt *fmt, double *scratch);

    /* Backward pass in fp32 of one head of the stretch. The scratch is that of one worker. NULL: cannot be trained. */
    void (*backward_f32)(const struct rung_backward *b, size_t head);
    /* for a stretch that ends after pos + tokens tokens */
    size_t (*backward_scratch)(const rung_mech_conf *conf, size_t tokens);
    bool forks; /* backward_f32 accepts a state before the stretch and gradients of states */
} rung_mech;

size_t rung_mech_count(void);
const rung_mech *rung_mech_at(size_t index);
const rung_mech *rung_mech_get(const char *name); /* NULL if unknown */
/* The nearest known name for an unknown one, or NULL. */
const char *rung_mech_nearest(const char *name);

/* Refuses with a message that names the size or parameter. All other functions require a conf that has passed. */
rung_status rung_mech_check(const rung_mech_conf *conf, rung_error *err);
/* The shape of an input and its text ("[H,dk]"). Rank 0: it is not used with these parameters. */
rung_shape rung_mech_shape(const rung_mech_input *input, const rung_mech_conf *conf);
const char *rung_mech_dim_text(rung_mech_dim dim);
bool rung_mech_is_constant(const rung_mech_input *input);
/* Heads of keys and values; and the one that a head of queries reads. */
size_t rung_mech_kv_heads(const rung_mech_conf *conf);
size_t rung_mech_kv_head(const rung_mech_conf *conf, size_t head);
/* Heads in the row of an input of queries, keys or values. */
size_t rung_mech_input_heads(const rung_mech_input *input, const rung_mech_conf *conf);
/* q or k: what conf.unit and conf.qk_norm normalise. q: what conf.scale multiplies. */
bool rung_mech_is_query_or_key(const rung_mech_input *input);
bool rung_mech_is_query(const rung_mech_input *input);
/* The index of the input that is the logarithm of a decay; the number of inputs where there is none. */
size_t rung_mech_decay_input(const rung_mech *mech);
/* Elements of one token's row of an input, or of the whole constant; 0 when it is not used. */
size_t rung_mech_row(const rung_mech_input *input, const rung_mech_conf *conf);
size_t rung_mech_inputs(const rung_mech *mech);
/* Elements carried after `tokens` tokens, and the size of a state array for up to `tokens` tokens. */
size_t rung_mech_state_elements(const rung_mech_conf *conf, size_t tokens);
size_t rung_mech_state_capacity(const rung_mech_conf *conf, size_t tokens);
/* One causal token: calls step_*, or update and read. */
void rung_mech_step_f32(float *o, float *state, const float *const *in, size_t pos, const rung_mech_conf *conf,
                        float *scratch);
void rung_mech_step_exact(double *o, double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                          const rung_fmt *fmt, double *scratch);
size_t rung_carry_total(rung_carry carry);

/* Carried numbers in the order of the state array are units of two parts, again and again: a head of a state is
 * head_size / dv rows of dv numbers and one row of the rest; a head of a token is a key and a value. Numbers of one row
 * may share scales. */
typedef struct rung_kept {
    struct {
        size_t rows, row;
    } part[2];
} rung_kept;
rung_kept rung_mech_kept(const rung_mech_conf *conf);
rung_quantity rung_mech_kept_quantity(const rung_mech *mech); /* STATE or CACHE */
/* How it is stored after so many tokens. */
const rung_stored *rung_mech_stored(const rung_mech *mech, const rung_numbers *numbers, size_t tokens);
size_t rung_kept_elements(const rung_kept *kept); /* of a unit */
size_t rung_kept_scales(const rung_kept *kept, const rung_stored *stored);
uint64_t rung_kept_bits(const rung_kept *kept, const rung_stored *stored);
/* Bits of what is carried after `tokens` tokens in these formats; UINT64_MAX if the number does not fit. */
uint64_t rung_mech_state_bits(const rung_mech_conf *conf, const rung_numbers *numbers, size_t tokens);
/* The value of a parameter. The name must be in the mechanism's table. */
int64_t rung_mech_param(const rung_mech_conf *conf, const char *name);

/* ---- a stretch of tokens through one mechanism, all heads -------------------------------------------------------- */

/* in[i] = [tokens][row], or the constant; NULL when it is not used. scratch has scratch_size elements for every worker,
 * as the row's scratch() says for pos + tokens. `at` lists the `asked` tokens whose outputs are wanted, in ascending
 * order; NULL for all. o has room for all tokens; its first rows become those outputs. */
typedef struct rung_stretch_f32 {
    const rung_mech_conf *conf;
    float *o, *state;
    const float *in[RUNG_MECH_INPUT_MAX];
    size_t pos, tokens;
    const size_t *at;
    size_t asked;
    float *scratch;
    size_t scratch_size;
} rung_stretch_f32;

/* The formats in which a stretch stores its state after every token, or after every chunk of tokens. */
typedef struct rung_keeper {
    const rung_numbers *numbers;
    size_t layer, group; /* for stochastic rounding */
    double *scales;      /* [units][rung_kept_scales]; NULL: the format has none */
} rung_keeper;

typedef struct rung_stretch_exact {
    const rung_mech_conf *conf;
    const rung_fmt *fmt;
    const rung_keeper *keeper; /* NULL: the state is in fmt. Otherwise fmt is the acc of its numbers */
    double *o, *state;
    const double *in[RUNG_MECH_INPUT_MAX];
    size_t pos, tokens;
    const size_t *at;
    size_t asked;
    double *scratch;
    size_t scratch_size;
} rung_stretch_exact;

/* Scan form distributes heads (and queries, where they are independent) over up to `threads` workers. Step form goes
 * token by token. */
void rung_stretch_scan_f32(const rung_stretch_f32 *s, size_t threads);
void rung_stretch_step_f32(const rung_stretch_f32 *s);
void rung_stretch_scan_exact(const rung_stretch_exact *s, size_t threads);
void rung_stretch_step_exact(const rung_stretch_exact *s);

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* A stretch that has been scanned, and the gradient of a loss with respect to its outputs. The gradients of the inputs
 * are ADDED to din, in the shapes of `in`; NULL where one is not wanted. Nothing of size tokens x tokens is stored: it
 * is computed again. A choice (of blocks, of tokens) has no gradient; the indexer of dsa gets the gradient of its own
 * loss (docs/mechanisms/dsa.md), independent of g. Heads run one after the other, because some share inputs (the mlp of
 * sparse).
 *
 * A stretch may continue a prefix that several stretches share. `state` is the state from which the scan started.
 * `dstate` has the layout of the state. On entry it is the gradient with respect to the state after the stretch, on
 * return that with respect to the state before it. (In a cache the rows of this stretch move to din, and the rows
 * before it are added to.) */
typedef struct rung_backward {
    const rung_mech_conf *conf;
    const float *in[RUNG_MECH_INPUT_MAX];
    float *din[RUNG_MECH_INPUT_MAX];
    const float *o, *g; /* [tokens][H][dv]: the outputs and their gradient */
    const float *state; /* after pos tokens; NULL: pos = 0 */
    float *dstate;      /* NULL: no gradient with respect to the state after the stretch, and pos = 0 */
    size_t pos, tokens;
    float *scratch;
} rung_backward;

RUNG_API_END

#endif
