/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What is claimed, held against what happens: rung-check beside us as a second opinion, a certificate run again by
 * our own evaluator, and a model played as a protocol against the evaluator and against the ledger of its layers.
 * Each function fills a record; commands and pictures show it. Layer 7: depends on bound, claim, protocol, verify
 * and below.
 */
#ifndef RUNG_AUDIT_H
#define RUNG_AUDIT_H

#include "rung/bound.h"
#include "rung/cert.h"
#include "rung/protocol.h"
#include "rung/verify.h"

RUNG_API_BEGIN

/* ---- the second opinion ---------------------------------------------------------------------------------------- */

/* Exit codes of rung-check, and the code that stands for a rung-check that was not found. */
enum { RUNG_SECOND_ACCEPTED = 10, RUNG_SECOND_REJECTED = 20, RUNG_SECOND_ABSENT = 127 };

/* Runs rung-check, which shares no code with this library, as a process of its own; `code` becomes its exit code. It
 * is looked for beside this program, then in PATH. RUNG_SYSTEM when it cannot be run (RUNG_SECOND_ABSENT) or was
 * stopped by a signal (code 0). */
rung_status rung_second_opinion(int *code, const char *cert, const char *model, rung_error *err);

/* What `rung-check --version` of that program says, "rung-check VERSION". RUNG_SYSTEM, with what to do, if it is not
 * there or says nothing. */
rung_status rung_second_opinion_version(char *text, size_t size, rung_error *err);

/* ---- the second opinion in a page ---------------------------------------------------------------------------------
 *
 * rung-check as WebAssembly, for pages that carry certificates. */

/* False if it was built without a compiler for WebAssembly; the functions below then write nothing. */
bool rung_checker_there(void);
/* Once, at the end of a page. The policy of the page must allow 'wasm-unsafe-eval'. nonce may be NULL. */
void rung_checker_put_script(rung_buf *out, const char *nonce);
/* A button that checks a certificate; without a model (NULL) a field in which the reader chooses its file. It is hidden
 * where scripts do not run. */
void rung_checker_put(rung_buf *out, const char *certificate, size_t certificate_size, const void *model,
                      size_t model_size);

/* ---- Coq ------------------------------------------------------------------------------------------------------- */

/* Fills proof->checked with "coqc 8.16.1" if coqc accepts the file and it rests on no axiom. RUNG_SYSTEM with what
 * to install or to run where coqc or the compiled proofs are missing, and with what coqc says where it does not
 * accept the file. The proofs are looked for in the directory RUNG_PROOFS, in `proofs` beside this program, and in
 * ../share/rung/proofs. */
rung_status rung_coq_check(rung_proof *proof, rung_error *err);

/* Whether coqc and the compiled proofs are where rung_coq_check looks for them; RUNG_SYSTEM with what to do if not. */
rung_status rung_coq_look(rung_error *err);

/* The last part of a path that coqc accepts: a name of letters, digits and _ that does not begin with a digit, then
 * ".v". */
bool rung_coq_name(const char *path);

/* ---- a certificate, explained -------------------------------------------------------------------------------------
 *
 * The words of its tokens, where its prompts differ, what the oracle says of them, and, with the model, what that
 * answers. rung-check decides whether a certificate is true; this shows it. */

typedef struct rung_explained {
    rung_cert cert;
    rung_task_conf task;
    rung_numbers numbers;
    size_t prompts;  /* 1 or 2 */
    size_t differ;   /* tokens in which the two prompts differ */
    char fault[320]; /* what was seen to be untrue, or "" */
    bool has_model;
    int32_t given[2]; /* what the model answers to each prompt; RUNG_NO_TARGET: a NaN or a missing key stopped it */
} rung_explained;

/* Token that both runs have in common from here on: what the certificate says is the same lies before it. */
size_t rung_explained_merge(const rung_explained *x);
bool rung_explained_differs(const rung_explained *x, size_t token);
/* Words of tokens and answers; "#7" for an id that the task does not have. */
void rung_explained_token(rung_buf *out, const rung_explained *x, size_t prompt, size_t token);
void rung_explained_answer(rung_buf *out, const rung_explained *x, int32_t answer);
/* The kind in a few words, what is equal, and what follows. */
const char *rung_explained_title(const rung_explained *x);
void rung_explained_equal(rung_buf *out, const rung_explained *x);
const char *rung_explained_so(const rung_explained *x);
/* The colliding numbers, as digits: state or view; NULL for a wrong answer. Numbers that they are, 0 if that is not
 * certain. */
const char *rung_explained_hex(const rung_explained *x);
size_t rung_explained_numbers(const rung_explained *x, const char *hex);

/* Reads the certificate, asks the oracle about its prompts, and runs the model on them unless `model` is NULL. What is
 * untrue becomes x->fault; only what cannot be read or run is a failure. Clear it also then. */
rung_status rung_explain(rung_explained *x, const char *certificate, const char *model, rung_error *err);
void rung_explained_clear(rung_explained *x);
/* As one JSON object, rung.explain/1. */
void rung_explain_json(rung_buf *out, const rung_explained *x);
/* As a picture that stands alone. */
void rung_explain_svg(rung_buf *out, const rung_explained *x);

/* ---- a certificate, replayed in an engine that people serve with --------------------------------------------------
 *
 * A certificate is about the exact evaluator in one number format. An engine computes in F32, in an order of its own.
 * Whether it errs on the same prompts is a question of its own, which the engine answers. docs/replay.md. */

typedef enum rung_replay_engine { RUNG_ENGINE_LLAMA_CPP, RUNG_ENGINE_ONNX_RUNTIME } rung_replay_engine;
extern const char *const rung_replay_engine_names[]; /* [rung_replay_engine], up to a NULL */

typedef struct rung_replay_options {
    rung_replay_engine engine;
    const char *modules; /* the folder that has node_modules of the engine; NULL: RUNG_ENGINES, else npm-engines beside
                            this program */
    const char *cache;   /* llama.cpp: the type of its cache, F16 or F32; NULL: F16, as people serve */
} rung_replay_options;

/* What one arithmetic answers to one prompt. */
typedef struct rung_replayed_answer {
    int32_t answer; /* RUNG_NO_TARGET: it stops there */
    double lead;    /* the score of the right answer minus the best other one; meaningless where it stops */
} rung_replayed_answer;

typedef struct rung_replayed {
    rung_explained explained; /* its `given` are the answers in the arithmetic of the certificate */
    char engine[96];          /* as it calls itself */
    rung_replay_options options;
    rung_replayed_answer here[2], there[2]; /* fp32 in the order of rung; the engine */
    size_t errs;                            /* on how many of the prompts the engine errs */
} rung_replayed;

/* Writes the model for the engine, starts it with node, and asks the prompts. RUNG_INPUT: the certificate is untrue, or
 * the model has no place in the engine. RUNG_SYSTEM, with the line that installs it, where the engine is missing. Clear
 * it in any case. */
rung_status rung_replay(rung_replayed *x, const char *certificate, const char *model,
                        const rung_replay_options *options, rung_error *err);
void rung_replayed_clear(rung_replayed *x);
/* What follows, in one sentence. */
const char *rung_replayed_so(const rung_replayed *x);
/* As one JSON object, rung.replay/1. */
void rung_replay_json(rung_buf *out, const rung_replayed *x);

/* ---- a protocol, played and compared --------------------------------------------------------------------------- */

/* How the bits that were sent compare to what `rung bound` counts for the same layers. */
typedef enum rung_ledger_agreement {
    RUNG_LEDGER_EQUAL = 1,
    RUNG_LEDGER_LESS, /* the ledger counts more: a bound from it still holds */
    RUNG_LEDGER_MORE, /* a bug */
} rung_ledger_agreement;

typedef struct rung_play {
    const rung_model *model;
    const rung_task_conf *task;
    const rung_evaluator *how; /* exact numbers */
    uint64_t seed, index;      /* of the prompt */
    const char *trace;         /* every message goes into this file, a JSON object per line; NULL: none */
} rung_play;

typedef struct rung_played {
    rung_play play;
    rung_program *program;
    rung_judge judge; /* the evaluator that has seen the whole prompt */
    uint32_t *token;  /* the prompt, and the thoughts that the last player said */
    size_t tokens;
    rung_span *player;
    size_t players;
    size_t *at; /* asked tokens */
    size_t asked;
    rung_transcript transcript;
    rung_letter *opened; /* messages of RUNG_SENT_OPENED without their bytes, for the picture */
    size_t opened_count, opened_room;
    uint64_t *ledger; /* [layers][cuts]: what rung bound counts of states, accumulators and summaries */
    rung_ledger_agreement agreement;
    /* What the game of docs/game.md counts: 2Hdp bits for every earlier player and every token of a player in a full
     * layer, and the states; 0 if a layer is sparse */
    uint64_t game_bits;
} rung_played;

/* Plays the protocol, and holds it against the evaluator, bit for bit, and against the ledger; a difference that
 * must not be is RUNG_SYSTEM. The arguments must outlive `p`, which must not move. Clear it also after a failure. */
rung_status rung_played_make(rung_played *p, const rung_play *play, rung_error *err);
void rung_played_clear(rung_played *p);

/* Bits of one kind that pass a cut in a layer. */
uint64_t rung_played_bits(const rung_played *p, size_t layer, size_t cut, rung_sent what);
/* "full+linear" */
void rung_played_mechanisms(rung_buf *out, const rung_played *p, size_t layer);
/* The first tokens of a player as words, at most `most` characters. */
void rung_played_words(rung_buf *out, const rung_played *p, size_t player, size_t most);
/* As a picture that stands alone. */
void rung_played_svg(rung_buf *out, const rung_played *p);

RUNG_API_END

#endif
