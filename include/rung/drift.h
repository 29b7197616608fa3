/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * drift: what happens to a recurrent state whose numbers are stored in narrow formats. The same inputs go through a
 * mechanism in f64 and in the formats, and the two are compared after 2^6, 2^7, ... tokens. docs/drift.md states and
 * proves the bounds. Layer 7.
 */
#ifndef RUNG_DRIFT_H
#define RUNG_DRIFT_H

#include "rung/base.h"
#include "rung/mech.h"
#include "rung/model.h"
#include "rung/render.h"

RUNG_API_BEGIN

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

/* What a proof needs of one token and one head, for the inputs before they are rounded. Numbers are upper bounds, and
 * norms are Euclidean. */
typedef struct rung_drift_token {
    double contraction;       /* of the linear part of the step, in the spectral norm */
    double decay, log_decay;  /* largest decay of a channel; largest magnitude of its logarithm (0: given itself) */
    double rate;              /* beta */
    double swing;             /* max(1, |1 - beta |k|^2|): of I - beta k k^T */
    double key, value, query; /* |k|, |v|, |q| */
    double remove, replace;   /* |a|, |b| of RUNG_TRANSITION_RANK_ONE */
    bool decays, decay_is_log, corrects;
} rung_drift_token;

/* What one token adds to the distance from the exact recurrence. */
typedef struct rung_drift_step {
    double error;  /* |computed step - exact step| from the same state, in the Frobenius norm, before it is stored */
    double stored; /* the same after storing: at least `error` */
    double output; /* |computed output - q^T (state after the exact step from the same state)| */
    double norm;   /* of the computed state after it is stored */
} rung_drift_step;

/* The facts of one token and head. False, with the reason in `why`, if no proof applies: the row does not state its
 * transition, a decay is above 1, or a number is not finite. in[i] is the token's row. */
bool rung_drift_token_of(rung_drift_token *token, const rung_mech_conf *conf, const double *const *in, size_t head,
                         char *why, size_t size);
/* Bounds of one token for a computed state of at most `norm`. Every bound is rounded upwards; INFINITY where a number
 * may leave the range of its format. `store_act` says whether the output is stored in `act` at the end. */
rung_drift_step rung_drift_step_bound(const rung_drift_token *token, const rung_mech_conf *conf,
                                      const rung_numbers *numbers, double norm, bool store_act);
/* The bound after `tokens` tokens of which each adds at most `step`: step * (1 + gamma + ... + gamma^(tokens-1)),
 * gamma <= 1, rounded upwards. */
double rung_drift_sum(double step, double gamma, size_t tokens);
/* The Frobenius norm of x[0..n), rounded upwards. */
double rung_drift_norm(const double *x, size_t n);

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

typedef enum rung_drift_source {
    RUNG_DRIFT_RANDOM, /* keys of length 1, values of about length 1, rates and decays at random */
    RUNG_DRIFT_RECALL, /* pairs, then distractors with keys orthogonal to those of the pairs */
    RUNG_DRIFT_WORST,  /* a short stretch of tokens, again and again, which a search has found to drift most */
    RUNG_DRIFT_FILE,   /* tensors of a file */
    RUNG_DRIFT_PROMPT, /* what a layer of a model gets on a prompt (rung_drift_kinds) */
} rung_drift_source;
extern const char *const rung_drift_source_names[]; /* NULL at the end */

#define RUNG_DRIFT_POINTS 32
#define RUNG_DRIFT_PARTS  12
#define RUNG_DRIFT_DECAYS 8
#define RUNG_DRIFT_AGES   72

typedef struct rung_drift_options {
    rung_numbers numbers;
    rung_drift_source inputs;
    const char *file; /* RUNG_DRIFT_FILE: safetensors or npz with the inputs of the mechanism */
    /* RUNG_DRIFT_PROMPT: the inputs of `row_tokens` tokens, in the shapes of rung_stretch_exact; they are not copied */
    const double *const *rows;
    size_t row_tokens;
    size_t tokens;                    /* the longest prefix; a file may have fewer */
    double decay;                     /* the mean decay of a token, in (0, 1] */
    size_t pairs;                     /* stored pairs of the recall curve; 0: no curve */
    size_t values;                    /* different values, of which the nearest is read */
    double decays[RUNG_DRIFT_DECAYS]; /* of the recall curves */
    size_t decay_count;
    uint64_t seed;
    size_t threads; /* 0: all */
    rung_progress *progress;
} rung_drift_options;

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* One set of formats against f64. */
typedef struct rung_drift_part {
    const char *name; /* "all", "state", "gate", ... */
    char numbers[256];
    double state[RUNG_DRIFT_POINTS];  /* |state - exact| / |exact|, Frobenius */
    double output[RUNG_DRIFT_POINTS]; /* the same of the outputs of the last RUNG_DRIFT_WINDOW tokens together */
} rung_drift_part;
#define RUNG_DRIFT_WINDOW 64

/* All numbers relative to the norm of the state in f64; INFINITY: no bound. */
typedef struct rung_drift_proof {
    bool applies;
    char why_not[160];
    const char *why_no_run, *why_no_theorem; /* why there is no bound at the end; NULL: there is one */
    double reference[RUNG_DRIFT_POINTS];     /* how far the state in f64 is from the reals, at most */
    double run[RUNG_DRIFT_POINTS];           /* how far the state in the formats is from the reals, at most: this run */
    double theorem[RUNG_DRIFT_POINTS];       /* the same by the theorem, which knows the norms but not the roundings */
} rung_drift_proof;

/* Tokens that should have changed the state, and did not. */
typedef struct rung_drift_lost {
    size_t first;                    /* the first token of which the stored state keeps nothing; SIZE_MAX: none */
    double share[RUNG_DRIFT_POINTS]; /* of the changes of entries up to there, how many are rounded away */
} rung_drift_lost;

/* How many of the pairs are still read correctly, by the number of tokens after them. */
typedef struct rung_drift_curve {
    const char *name;
    char numbers[256];
    double decay;
    size_t kept[RUNG_DRIFT_AGES];
    size_t whole; /* all pairs are read up to this age; 0: not at the first */
    size_t half;  /* from this age on at most half of them are read; SIZE_MAX: not up to the last age */
} rung_drift_curve;

typedef struct rung_drift {
    const rung_mech_conf *conf;
    char label[64]; /* which layers these are, for the caller to set */
    char numbers[256];
    rung_drift_source inputs;
    double decay;
    uint64_t seed;
    size_t points, at[RUNG_DRIFT_POINTS]; /* 2^6, 2^7, ... and the last */
    double norm[RUNG_DRIFT_POINTS];       /* of the state in f64 */
    size_t parts;
    rung_drift_part part[RUNG_DRIFT_PARTS]; /* part[0]: the formats asked for */
    rung_drift_proof proof;
    rung_drift_lost lost;
    size_t pairs, values, ages, age[RUNG_DRIFT_AGES];
    char why_no_curve[160];
    size_t curves;
    rung_drift_curve *curve;
    rung_arena arena;
} rung_drift;

/* Refuses mechanisms that carry no state of a fixed size. Clear the result also after a failure. */
rung_status rung_drift_run(rung_drift *drift, const rung_mech_conf *conf, const rung_drift_options *ask,
                           rung_error *err);
/* The sizes of the tensors of a file: heads, dk and dv of the conf, which names the mechanism. */
rung_status rung_drift_sizes(rung_mech_conf *conf, const char *file, rung_error *err);
void rung_drift_clear(rung_drift *drift);

/* What a person should do, in sentences; each says whether it is measured or proved. */
void rung_drift_verdict(rung_buf *out, const rung_drift *drift);
void rung_drift_json(rung_jout *out, const rung_drift *drift); /* one object in an array */
void rung_drift_svg(rung_buf *out, const rung_drift *drift);

/* ---- layers ------------------------------------------------------------------------------------------------------ */

#define RUNG_DRIFT_KINDS 64
#define RUNG_DRIFT_NOTES 16

/* Layers that are measured together. */
typedef struct rung_drift_kind {
    rung_mech_conf conf;
    char label[64]; /* "" if there is only one kind */
    size_t layers, first;
    const double *rows[RUNG_MECH_INPUT_MAX]; /* of a model: the inputs of `tokens` tokens */
    size_t tokens;
} rung_drift_kind;

typedef struct rung_drift_kinds {
    size_t count, notes;
    rung_drift_kind kind[RUNG_DRIFT_KINDS];
    char note[RUNG_DRIFT_NOTES][160]; /* what is left out, and why */
    rung_arch arch;
    rung_arena arena;
} rung_drift_kinds;

/* The different recurrent groups of heads of an architecture. Clear them also after a failure. */
rung_status rung_drift_kinds_arch(rung_drift_kinds *kinds, const char *text, const rung_arch_defaults *defaults,
                                  rung_error *err);
/* Those of a configuration or a GGUF header, one head each; or the layers of a model of ours (.safetensors), with what
 * they get, in f64, on prompt 0 of its task. */
rung_status rung_drift_kinds_file(rung_drift_kinds *kinds, const char *path, uint64_t seed, rung_error *err);
void rung_drift_kinds_clear(rung_drift_kinds *kinds);

/* ---- a certificate ----------------------------------------------------------------------------------------------- */

/* A state collision: a token of which a model of one layer, with random weights, keeps nothing. */
typedef struct rung_drift_loss {
    bool found;
    bool certifiable;      /* rung-check supports it */
    char arch[64];         /* the layer of the model */
    char how[480];         /* the attack, and what it says */
    size_t token, lost_by; /* the first token that is lost; after so many tokens nothing of it is left */
} rung_drift_loss;

/* Looks, for at most a minute, for a token that `ask->numbers` lose, on the task eva, and writes model and certificate
 * if there is one. Sizes of a head are at most 8 by 8. */
rung_status rung_drift_certify(rung_drift_loss *loss, const rung_mech_conf *conf, const rung_drift_options *ask,
                               const char *model, const char *cert, rung_error *err);

RUNG_API_END

#endif
