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

/* ---- arch: one language for architectures
 * ---------------------------------------------------------------------
 *
 *   arch  := item { "," item }
 *   item  := [count "*"] ( mix | "(" arch ")" )
 *   mix   := mech [ "@" heads ] { "|" mech "@" heads }       several mechanisms in one layer: a head-wise
 * hybrid mech  := name { ":" key "=" value }                      keys of the mechanism, and dk, dv of its
 * heads
 */
#define RUNG_GROUPS_MAX 8
#define RUNG_LAYERS_MAX 65536

/* Layers that come from the same place of the text share their groups. */
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
size_t rung_group_conv_elements(const rung_mech_conf *conf);

/* What an arch string leaves open. */
typedef struct rung_arch_defaults {
    size_t heads, dk, dv;
    bool causal;
} rung_arch_defaults;

/* Messages show the text, a caret under the place, and what was expected there. */
rung_status rung_arch_parse(rung_arch *arch, const char *text, const rung_arch_defaults *defaults, rung_error *err);
void rung_arch_clear(rung_arch *arch);
/* The layers as text that parses back to the same ones; runs of equal layers are counted. */
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
    RUNG_MLP_TABLE, /* an arbitrary function: named coordinates, rounded to integers, select the row that is
                       assigned to other named coordinates; a missing key is an error */
} rung_mlp;

extern const char *const rung_positions_words[], *const rung_norm_words[], *const rung_mlp_words[]; /* [kind-1] */

typedef struct rung_model_spec {
    const char *arch;      /* as the user wrote it */
    const char *task;      /* canonical text of the task, or "" */
    const char *mlp;       /* one word for all layers, or one per layer separated by commas */
    size_t vocab, d_in;    /* token ids, or features per token; one of them is 0 */
    size_t answers;        /* rows of the read-out */
    size_t max_tokens;     /* rows of the position tables; no limit where there are none */
    size_t d_model, d_mlp; /* residual stream and hidden layer */
    size_t heads, dk, dv;  /* what the arch leaves open */
    rung_positions positions;
    rung_norm norm;
    bool causal;
    size_t thoughts; /* the last so many token ids and read-out rows are thoughts: row answers-thoughts+e, when it wins,
                        says token vocab-thoughts+e and the model goes on */
} rung_model_spec;

/* ---- model ------------------------------------------------------------------------------------------------------- */

typedef struct rung_model rung_model;

/* Checks the metadata, that every tensor that the architecture needs is there with its shape, and that no
 * other is: nothing is dropped in silence. The file stays mapped. */
rung_status rung_model_open(rung_model **out, const char *path, rung_error *err);
rung_status rung_model_open_bytes(rung_model **out, const void *bytes, size_t size, const char *name, rung_error *err);
void rung_model_close(rung_model *model);
/* Writes the file that the model was opened from, or that it is in memory, byte for byte. */
rung_status rung_model_save(const rung_model *model, const char *path, rung_error *err);
const rung_model_spec *rung_model_get_spec(const rung_model *model);
const rung_arch *rung_model_get_arch(const rung_model *model);
rung_mlp rung_model_mlp(const rung_model *model, size_t layer);
size_t rung_model_parameters(const rung_model *model);
void rung_model_digest(char hex[65], const rung_model *model);
/* A tensor as the file has it, or NULL. */
const rung_tensor *rung_model_tensor(const rung_model *model, const char *name);
const char *rung_model_made_by(const rung_model *model);

/* Checks a spec as opening a file with it would, without tensors. */
rung_status rung_model_spec_check(const rung_model_spec *spec, rung_error *err);
/* Random weights: a pure function of spec and seed. Biases are absent, tables (mlp = table) are refused. */
rung_status rung_model_write_random(const char *path, const rung_model_spec *spec, uint64_t seed, rung_error *err);
/* The same file in memory; the model owns it. */
rung_status rung_model_random(rung_model **out, const rung_model_spec *spec, uint64_t seed, rung_error *err);
/* Calls visit for every tensor that the spec needs (optional: may have), in file order. A dimension of 0 is up to the
 * file (the rows of a table). */
typedef rung_status rung_model_visit(void *context, const char *name, const size_t *shape, size_t rank, bool optional,
                                     rung_error *err);
rung_status rung_model_each_tensor(const rung_model_spec *spec, rung_model_visit *visit, void *context,
                                   rung_error *err);
/* Given tensors, for constructions: the tensors must be those that the spec needs. `made_by` goes into the
 * metadata. */
rung_status rung_model_write(const char *path, const rung_model_spec *spec, const rung_tensor *tensors, size_t count,
                             const char *made_by, rung_error *err);
/* The same file in memory; the model owns it. */
rung_status rung_model_from_tensors(rung_model **out, const rung_model_spec *spec, const rung_tensor *tensors,
                                    size_t count, const char *made_by, rung_error *err);

/* ---- program and session ----------------------------------------------------------------------------------------- */

typedef struct rung_program rung_program;
typedef struct rung_session rung_session;

/* How a model is evaluated. */
typedef struct rung_evaluator {
    const rung_fmt *numbers; /* NULL: fast fp32 */
    rung_softmax softmax;    /* another order than online needs a format, and mechanisms that know it */
    size_t threads;          /* 0: all */
} rung_evaluator;

/* The model must outlive the program; the format is copied. */
rung_status rung_program_new(rung_program **out, const rung_model *model, const rung_evaluator *how, rung_error *err);
void rung_program_free(rung_program *program);

/* A session holds the state of every layer, for up to max_tokens tokens. Several sessions may share a
 * program; one session belongs to one thread at a time. */
rung_status rung_session_new(rung_session **out, const rung_program *program, size_t max_tokens, rung_error *err);
void rung_session_free(rung_session *session);
void rung_session_reset(rung_session *session);
/* The destination becomes what the source is: every query of a multi-query prompt continues from the same
 * prefix. */
rung_status rung_session_copy(rung_session *to, const rung_session *from, rung_error *err);

/* How the mechanisms are run; both give the same bits in the exact evaluator. */
typedef enum rung_form { RUNG_FORM_SCAN = 1, RUNG_FORM_STEP } rung_form;

typedef struct rung_prompt {
    const uint32_t *token; /* or */
    const float *feature;  /* [tokens][d_in] */
    size_t tokens;
} rung_prompt;

/* Consumes the prompt after what the session has seen and writes the read-out at the chosen positions of this
 * prompt: out = [at_count][answers]. An encoder takes its whole input in one call. A NaN, a token outside the
 * vocabulary or a missing table key is RUNG_INPUT; the session must then be reset. In the last layer nothing is computed
 * for tokens that are not asked, so what would go wrong there does not. */
rung_status rung_session_run(rung_session *session, double *out, const rung_prompt *prompt, rung_form form,
                             const size_t *at, size_t at_count, rung_error *err);
/* Chain of thought, for causal models over tokens: consumes the prompt and then the model's own thoughts, until the
 * largest read-out row is no thought or the session is full. Writes the last read-out [answers] and the number of
 * thoughts. A model without thoughts answers at once. */
rung_status rung_session_think(rung_session *session, double *out, size_t *thoughts, const rung_prompt *prompt,
                               rung_form form, rung_error *err);
size_t rung_session_tokens(const rung_session *session);
/* Elements that the layer carries now, by kind, all groups together. */
rung_carry rung_session_carry(const rung_session *session, size_t layer);
/* Bits per element: p of the format, 32 for fp32. */
int rung_session_number_bits(const rung_session *session);
uint64_t rung_session_state_bits(const rung_session *session); /* all layers */
/* The carried state of all layers as one bit string of rung_session_state_bits bits (see rung_num_pack): what
 * two prefixes are compared by. out has (bits+7)/8 bytes. */
rung_status rung_session_pack(const rung_session *session, uint8_t *out, rung_error *err);
/* The residual stream of the last token that was asked in the last run, after the last layer and before the final norm:
 * [d_model]. What every read-out is a function of. */
void rung_session_view(const rung_session *session, double *out);
/* Index of the largest entry, the lowest one among equals. */
size_t rung_argmax(const double *x, size_t count);

/* ---- one layer at a time ------------------------------------------------------------------------------------------- */

/* Consecutive tokens of a prompt on their way through the layers of an exact, causal program: what a player of a protocol
 * does by itself, between the messages. The mechanisms are run by the caller (rung_stretch_*_exact, or in another way), who
 * thereby says what passes from one stretch of tokens to the next. The bits are those of rung_session_run. */
typedef struct rung_rows rung_rows;

/* Embeds the tokens as positions pos, pos+1, ... of a prompt. The program must outlive it. */
rung_status rung_rows_new(rung_rows **out, const rung_program *program, const rung_prompt *prompt, size_t pos,
                          rung_error *err);
void rung_rows_free(rung_rows *rows);
const double *rung_rows_stream(const rung_rows *rows); /* [tokens][d_model], now */
/* The inputs of one group of heads: in[i] = [tokens][row], or the constant, or NULL when it is not used; valid until the next
 * call. `conv` is what short convolutions carry over (rung_group_conv_elements numbers, zero at the start of a prompt):
 * read, and replaced by what the next stretch needs. */
void rung_rows_inputs(rung_rows *rows, const double *in[RUNG_MECH_INPUT_MAX], double *conv, size_t layer, size_t group);
/* What the heads of the group answered: o = [tokens][H][dv]. Every group once, then finish. */
void rung_rows_answer(rung_rows *rows, const double *o, size_t layer, size_t group);
/* Gates, output projection and MLP: the stream after the layer. RUNG_INPUT for a NaN or a missing table key. */
rung_status rung_rows_finish(rung_rows *rows, size_t layer, rung_error *err);
/* The read-out of one token of the stretch, [answers]. */
rung_status rung_rows_read_out(rung_rows *rows, double *out, size_t at, rung_error *err);

RUNG_API_END

#endif
