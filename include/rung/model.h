/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * model: the language of architectures, model files, and the evaluators that run them. A model is data: a
 * safetensors file whose metadata holds the architecture and the shapes. The fast evaluator (fp32) and the
 * exact one (any format of num.h, every stored number and every operation rounded) run the same file.
 * Layer 3.
 *
 * An immutable model, an immutable program (the model prepared for one kind of numbers), and mutable
 * sessions.
 */
#ifndef RUNG_MODEL_H
#define RUNG_MODEL_H

#include "rung/base.h"
#include "rung/io.h"
#include "rung/mech.h"
#include "rung/num.h"

RUNG_API_BEGIN

/* ---- arch: one language for architectures ------------------------------------------------------------------------ */

/* clang-format off */
/*   arch  := item { "," item }
 *   item  := [count "*"] ( mix | "(" arch ")" | hybrid )
 *   mix   := mech [ "@" heads ] { "|" mech "@" heads }     several mechanisms in one layer: a head-wise hybrid
 *   mech  := name { ":" key "=" value }                    keys of the mechanism, and dk, dv of its heads
 *   hybrid := "hybrid(" L ";" a_1 "," ... "," a_L ")"      L full layers, the k-th followed by a_k linear ones
 */
/* clang-format on */
#define RUNG_GROUPS_MAX 8
#define RUNG_LAYERS_MAX 65536

/* Layers that come from the same item of the text share their groups. */
typedef struct rung_layer {
    size_t group_count;
    const rung_mech_conf *group;
} rung_layer;

typedef struct rung_arch {
    size_t layer_count;
    rung_layer *layer;
    rung_arena arena; /* owns the groups */
} rung_arch;

/* Numbers that the short convolutions of a group of heads carry past a position. */
size_t rung_head_group_conv_elements(const rung_mech_conf *conf);

/* Values for what an arch string does not state. */
typedef struct rung_arch_defaults {
    size_t heads, dk, dv;
    bool causal;
} rung_arch_defaults;

/* Messages show the text, a caret under the wrong place, and what was expected there. */
rung_status rung_arch_parse(rung_arch *arch, const char *text, const rung_arch_defaults *defaults, rung_error *err);
void rung_arch_clear(rung_arch *arch);
/* Prints the layers as text that parses back to the same layers. Equal layers in a row are written once, with a
 * count; what a hybrid stands for is written out. */
void rung_arch_print(rung_buf *out, const rung_arch *arch);

/* ---- shape of a model -------------------------------------------------------------------------------------------- */

typedef enum rung_positions {
    RUNG_POS_NONE = 1,
    RUNG_POS_LEARNED,
    RUNG_POS_SINUSOIDAL, /* a stored table, like a learned one */
    RUNG_POS_ROTARY,     /* stored tables of cosines and sines, applied to queries and keys */
} rung_positions;

typedef enum rung_norm { RUNG_NORM_NONE = 1, RUNG_NORM_RMS, RUNG_NORM_LAYER } rung_norm;

typedef enum rung_mlp {
    RUNG_MLP_NONE = 1,
    RUNG_MLP_RELU,
    RUNG_MLP_GELU,
    RUNG_MLP_SWIGLU,
    /* an arbitrary function: named coordinates, rounded to integers, are the key; the row of that key is assigned to
     * other named coordinates; a missing key is an error */
    RUNG_MLP_TABLE,
    RUNG_MLP_GELU_TANH,  /* the approximation of gelu that GPT-2 uses: x sigmoid(1.5957691 (x + 0.044715 x^3)) */
    RUNG_MLP_GEGLU_TANH, /* as swiglu, with that approximation on the gate (Gemma) */
} rung_mlp;

/* swiglu and geglu_tanh: a second projection, `gate`, is activated and multiplies the first. */
bool rung_mlp_is_gated(rung_mlp kind);

extern const char *const rung_positions_names[], *const rung_norm_names[], *const rung_mlp_names[]; /* [kind-1] */

typedef struct rung_model_spec {
    const char *arch;      /* as the user wrote it */
    const char *task;      /* canonical text of the task, or "" */
    const char *mlp;       /* one word for all layers, or one per layer separated by commas */
    size_t vocab, d_in;    /* token ids, or features per token; one of them is 0 */
    size_t answers;        /* rows of the read-out */
    size_t max_tokens;     /* rows of the position tables; without such tables there is no limit */
    size_t d_model, d_mlp; /* residual stream and hidden layer */
    size_t heads, dk, dv;  /* used where the arch string states none */
    rung_positions positions;
    rung_norm norm;
    bool causal;
    /* number of chain-of-thought tokens: the last `thoughts` token ids and read-out rows. If row answers-thoughts+e is
     * the argmax, token vocab-thoughts+e is appended and decoding continues */
    size_t thoughts;
    /* what every norm adds to a mean square before its root; 0: RUNG_NORM_EPSILON. Rows of length 1 add 1e-6. */
    double norm_epsilon;
} rung_model_spec;

#define RUNG_NORM_EPSILON 1e-5
/* What the norms of a model add: norm_epsilon, or RUNG_NORM_EPSILON. */
double rung_model_norm_epsilon(const rung_model_spec *spec);

/* ---- model ------------------------------------------------------------------------------------------------------- */

typedef struct rung_model rung_model;

/* Checks the metadata, and that the file has every tensor that the architecture needs, with its shape, and no other.
 * The file stays mapped. */
rung_status rung_model_open(rung_model **out, const char *path, rung_error *err);
rung_status rung_model_open_bytes(rung_model **out, const void *bytes, size_t size, const char *name, rung_error *err);
void rung_model_close(rung_model *model);
/* Writes the bytes of the model to `path`: those of the file it was opened from, or those in memory. */
rung_status rung_model_save(const rung_model *model, const char *path, rung_error *err);
const rung_model_spec *rung_model_get_spec(const rung_model *model);
const rung_arch *rung_model_get_arch(const rung_model *model);
rung_mlp rung_model_mlp(const rung_model *model, size_t layer);
size_t rung_model_parameters(const rung_model *model);
void rung_model_digest(char hex[65], const rung_model *model);
/* Returns a tensor as it is in the file, or NULL. */
const rung_tensor *rung_model_tensor(const rung_model *model, const char *name);
const char *rung_model_made_by(const rung_model *model);

/* Checks a spec as opening a file with it would, but without tensors. */
rung_status rung_model_spec_check(const rung_model_spec *spec, rung_error *err);
/* Writes random weights, which are a pure function of spec and seed. There are no biases. mlp = table is refused. */
rung_status rung_model_write_random(const char *path, const rung_model_spec *spec, uint64_t seed, rung_error *err);
/* Makes the same file in memory. The model owns it. */
rung_status rung_model_random(rung_model **out, const rung_model_spec *spec, uint64_t seed, rung_error *err);
/* Calls visit for every tensor that the spec needs, or may have (optional), in file order. A dimension of 0 means that
 * the file chooses the size (the rows of a table). */
typedef rung_status rung_model_visit(void *context, const char *name, const size_t *shape, size_t rank, bool optional,
                                     rung_error *err);
rung_status rung_model_each_tensor(const rung_model_spec *spec, rung_model_visit *visit, void *context,
                                   rung_error *err);
/* Writes given tensors, for constructions. They must be the tensors that the spec needs. `made_by` goes into the
 * metadata. */
rung_status rung_model_write(const char *path, const rung_model_spec *spec, const rung_tensor *tensors, size_t count,
                             const char *made_by, rung_error *err);
/* Makes the same file in memory. The model owns it. */
rung_status rung_model_from_tensors(rung_model **out, const rung_model_spec *spec, const rung_tensor *tensors,
                                    size_t count, const char *made_by, rung_error *err);

/* ---- program and session ----------------------------------------------------------------------------------------- */

/* Bits that are carried past a position, by kind: see rung_carry. */
typedef struct rung_carry_bits {
    uint64_t recurrent, window, cache, conv;
} rung_carry_bits;

typedef struct rung_program rung_program;
typedef struct rung_session rung_session;

/* How a model is evaluated. */
typedef struct rung_evaluator {
    const rung_fmt *numbers; /* NULL: the fast evaluator (fp32). With `mixed`: its acc */
    /* NULL: everything is in `numbers`. Otherwise every quantity in its own format. The model must be causal, and its
     * mechanisms must state how they keep what they carry (rung_mech.keeps). */
    const rung_numbers *mixed;
    rung_softmax softmax; /* any order except online needs a number format, and mechanisms that implement it */
    size_t threads;       /* 0: all processors */
} rung_evaluator;

/* The model must outlive the program. The format is copied. */
rung_status rung_program_new(rung_program **out, const rung_model *model, const rung_evaluator *how, rung_error *err);
void rung_program_free(rung_program *program);

/* A session holds the state of every layer, for up to max_tokens tokens. Several sessions may share a
 * program; one session belongs to one thread at a time. */
rung_status rung_session_new(rung_session **out, const rung_program *program, size_t max_tokens, rung_error *err);
void rung_session_free(rung_session *session);
void rung_session_reset(rung_session *session);
/* Makes `to` equal to `from`, so that every query of a multi-query prompt can continue from the same prefix. */
rung_status rung_session_copy(rung_session *to, const rung_session *from, rung_error *err);

/* The form in which the mechanisms run. In the exact evaluator both give the same bits. */
typedef enum rung_form { RUNG_FORM_SCAN = 1, RUNG_FORM_STEP } rung_form;

typedef struct rung_prompt {
    const uint32_t *token; /* tokens, or features: */
    const float *feature;  /* [tokens][d_in] */
    size_t tokens;
} rung_prompt;

/* Appends the prompt to what the session has seen, and writes the read-out at the chosen positions of this prompt: out
 * = [at_count][answers]. An encoder takes its whole input in one call. A NaN, a token outside the vocabulary or a
 * missing table key is RUNG_INPUT; the session must then be reset. The last layer is computed only for the tokens in
 * `at`, so errors at its other tokens are not reported. */
rung_status rung_session_run(rung_session *session, double *out, const rung_prompt *prompt, rung_form form,
                             const size_t *at, size_t at_count, rung_error *err);
/* Chain of thought, for causal models over tokens. Reads the prompt and then the model's own thought tokens, until the
 * argmax of the read-out is not a thought token or the session is full. Writes the last read-out [answers] and the
 * number of thought tokens. A model without thought tokens answers immediately. */
rung_status rung_session_run_thoughts(rung_session *session, double *out, size_t *thoughts, const rung_prompt *prompt,
                                      rung_form form, rung_error *err);
size_t rung_session_tokens(const rung_session *session);
/* The number of elements that the layer carries now, by kind, for all groups together. */
rung_carry rung_session_carry(const rung_session *session, size_t layer);
/* Bits of what a layer carries now, by kind. */
rung_carry_bits rung_session_carry_bits(const rung_session *session, size_t layer);
uint64_t rung_session_state_bits(const rung_session *session); /* all layers */
/* Writes the carried state of all layers as one string of rung_session_state_bits bits (see rung_num_pack). Two
 * prefixes are compared by these strings. out has (bits+7)/8 bytes. */
rung_status rung_session_pack(const rung_session *session, uint8_t *out, rung_error *err);
/* The bits of a view, and a view as such a string: the numbers in the format of act. */
uint64_t rung_program_view_bits(const rung_program *program);
void rung_program_pack_view(const rung_program *program, uint8_t *out, const double *view);
/* Writes the residual stream of the last token in `at` of the last run, after the last layer and before the final norm:
 * [d_model]. Every read-out is a function of it. */
void rung_session_view(const rung_session *session, double *out);
/* Returns the index of the largest entry; the lowest one among equals. */
size_t rung_argmax(const double *x, size_t count);

/* ---- one layer at a time ----------------------------------------------------------------------------------------- */

/* Consecutive tokens of a prompt that pass through the layers of an exact, causal program, one layer at a time. A
 * player of a protocol does this between messages. The caller runs the mechanisms (rung_stretch_*_exact, or in another
 * way) and so decides what passes from one stretch of tokens to the next. The bits are those of rung_session_run. */
typedef struct rung_rows rung_rows;

/* Embeds the tokens at positions pos, pos+1, ... of a prompt. The program must outlive the rows. */
rung_status rung_rows_new(rung_rows **out, const rung_program *program, const rung_prompt *prompt, size_t pos,
                          rung_error *err);
void rung_rows_free(rung_rows *rows);
const double *rung_rows_stream(const rung_rows *rows); /* [tokens][d_model], the current residual stream */
/* Computes the inputs of one group of heads: in[i] = [tokens][row], or the constant, or NULL when it is not used. They
 * are valid until the next call. `conv` is the state of the short convolutions (rung_head_group_conv_elements numbers, zero
 * at the start of a prompt). It is read, and replaced by the state that the next stretch needs. */
void rung_rows_inputs(rung_rows *rows, const double *in[RUNG_MECH_INPUT_MAX], double *conv, size_t layer, size_t group);
/* Takes the outputs of the heads of the group: o = [tokens][H][dv]. The caller calls it once for every group, then
 * finish. */
void rung_rows_answer(rung_rows *rows, const double *o, size_t layer, size_t group);
/* Applies gates, output projection and MLP, and so completes the layer. RUNG_INPUT for a NaN or a missing table key. */
rung_status rung_rows_finish(rung_rows *rows, size_t layer, rung_error *err);
/* Writes the read-out of one token of the stretch, [answers]. */
rung_status rung_rows_read_out(rung_rows *rows, double *out, size_t at, rung_error *err);

RUNG_API_END

#endif
