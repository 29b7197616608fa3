/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * task: the problems. Each is one registry row: generator, exact oracle, chance and majority level, the split into
 * players, and text in both directions. An instance is a pure function of (task, parameters, seed, index). Layer 2.
 *
 * Tokens: one id per token; an id stands for a pair of type and value ("table entry with value 7", "query 3").
 * Answers are ids of their own, [0, answers). Tasks over real vectors have features [T, d_in] instead of tokens.
 */
#ifndef RUNG_TASK_H
#define RUNG_TASK_H

#include "rung/base.h"

RUNG_API_BEGIN

#define RUNG_PLAYERS_MAX (RUNG_LIST_MAX + 4)
#define RUNG_NO_TARGET   (-1)

struct rung_task;

/* A task with its parameters and everything that follows from them. */
typedef struct rung_task_conf {
    const struct rung_task *task;
    rung_value params[RUNG_PARAM_MAX]; /* parallel to task->params */

    /* filled by resolve() */
    size_t tokens;                 /* prompt length; the longest one where lengths vary */
    size_t vocab;                  /* token ids are [0, vocab); 0 when the input is features */
    size_t answers;                /* answer ids are [0, answers); 0 when the target is a vector */
    size_t d_in, d_out;            /* features per token and target vector, else 0 */
    double chance;                 /* accuracy of a uniform guess among the answers */
    double majority;               /* best accuracy without reading the query: what no leak may exceed */
    size_t derived[RUNG_LIST_MAX]; /* the task's own numbers, e.g. N_0, N_1, ... of seqcomp */
} rung_task_conf;

/* A run of tokens that one player of the communication protocol holds. */
typedef struct rung_span {
    char name[16];
    size_t start, len;
} rung_span;

typedef struct rung_instance {
    size_t tokens;
    uint32_t *token;     /* [tokens] */
    float *feature;      /* [tokens][d_in] */
    int32_t *target;     /* [tokens] answer at each position, RUNG_NO_TARGET where none is asked */
    float *target_value; /* [tokens][d_out] for vector targets; rows are meaningful where target[t] is 0 */
    size_t player_count;
    rung_span player[RUNG_PLAYERS_MAX]; /* in prompt order, covering the prompt */
} rung_instance;

/* A run of token ids. */
typedef struct rung_ids {
    size_t first, count;
} rung_ids;

typedef struct rung_task {
    const char *name;
    const char *summary;
    const char *source; /* theorem or paper */
    const rung_param *params;
    /* Distributions of the generator: words of the parameter "dist", the first is the default "uniform". */

    /* Checks the parameters together and fills the derived fields of conf. */
    rung_status (*resolve)(rung_task_conf *conf, rung_error *err);
    /* Fills tokens, token or feature. Buffers are zeroed and large enough for conf->tokens. */
    rung_status (*generate)(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err);
    /* The oracle: fills target (and target_value) from the prompt alone. RUNG_INPUT when the tokens are not a
     * prompt of this task; the message names the position. Never reads outside its buffers whatever the tokens. */
    rung_status (*solve)(rung_instance *instance, const rung_task_conf *conf, rung_error *err);
    /* Fills player and player_count. NULL: everything before the last token, and the last token. */
    void (*players)(rung_instance *instance, const rung_task_conf *conf);
    /* The token as one word without spaces, unique among the ids; NULL for feature tasks. */
    void (*token_word)(rung_buf *out, const rung_task_conf *conf, uint32_t token);
    /* The answer as one word; NULL: the decimal number. */
    void (*answer_word)(rung_buf *out, const rung_task_conf *conf, int32_t answer);
    /* The answer that a token votes for if one merely counts (the value of a table entry), or RUNG_NO_TARGET: what
     * the frequency-only predictor of the leak probe sees. NULL: none. */
    int32_t (*vote)(const rung_task_conf *conf, uint32_t token);
    /* Prose about invented people and places, and back. NULL: the task has symbols only. facts_read fills tokens
     * and token from text that facts_write made. */
    void (*facts_write)(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf);
    rung_status (*facts_read)(rung_instance *instance, const char *text, const rung_task_conf *conf, rung_error *err);
    /* The answer under the name that the facts give it. NULL: as answer_word. */
    void (*facts_answer)(rung_buf *out, const rung_task_conf *conf, int32_t answer);
    /* The id that a word of `len` bytes stands for if it is a word at all; the caller writes the id and compares, so
     * any id will do for others. NULL: reading searches the whole vocabulary, which is slow when it is large. */
    uint32_t (*token_read)(const rung_task_conf *conf, const char *word, size_t len);
    /* Every prompt, as a product of independent choices per position: how many there are at `pos` (at least 1, UINT64_MAX
     * for more than fit), and writing the index-th into token or feature, which is zero. The product may hold rows that
     * are no prompts (two equal keys): solve() refuses them, or they break the promise. Real vectors choose from a finite
     * grid. NULL: not enumerable. */
    uint64_t (*choices)(const rung_task_conf *conf, size_t pos);
    void (*choose)(rung_instance *instance, const rung_task_conf *conf, size_t pos, uint64_t index);
    /* Tasks over tokens choose from a run of ids, and this is the run; NULL for the others. */
    rung_ids (*ids)(const rung_task_conf *conf, size_t pos);
    /* The last token asks so that every answer is equally likely, which a uniform one does not. */
    bool balanced;
    /* What every prompt of the task has, and its generator guarantees, but the oracle could answer without (a margin,
     * different keys); called on what solve() takes. NULL: nothing. */
    bool (*promise)(const rung_instance *instance, const rung_task_conf *conf);
    /* Text over chosen names (rung_text_*). NULL: none. */
    const struct rung_text_form *text;
} rung_task;

size_t rung_task_count(void);
const rung_task *rung_task_at(size_t index);
const rung_task *rung_task_get(const char *name);
const char *rung_task_nearest(const char *name);
const char *rung_task_name_at(size_t index); /* a rung_names */

/* Defaults, then words "key=value", then resolve. */
rung_status rung_task_conf_init(rung_task_conf *conf, const char *name, const char *const *words, size_t count,
                                rung_error *err);
int64_t rung_task_param(const rung_task_conf *conf, const char *name);
const rung_value *rung_task_value(const rung_task_conf *conf, const char *name);
/* "eva N=16 V=16 ...": every parameter in table order; parses back to the same conf. */
void rung_task_canonical(rung_buf *out, const rung_task_conf *conf);
/* The reverse. */
rung_status rung_task_conf_parse(rung_task_conf *conf, const char *canonical, rung_error *err);

rung_status rung_instance_init(rung_instance *instance, const rung_task_conf *conf, rung_error *err);
void rung_instance_clear(rung_instance *instance);
/* Generates and solves instance number `index` of the seed. */
rung_status rung_task_make(rung_instance *instance, const rung_task_conf *conf, uint64_t seed, uint64_t index,
                           rung_error *err);
/* Elements of the product of choices; UINT64_MAX for more than fit, 0 when the task cannot be enumerated. */
uint64_t rung_task_space(const rung_task_conf *conf);
/* The index-th of them (the last position varies fastest), solved; *is_prompt says whether it is a prompt of the task.
 * RUNG_USAGE when there are not so many. */
rung_status rung_task_unrank(rung_instance *instance, bool *is_prompt, const rung_task_conf *conf, uint64_t index,
                             rung_error *err);
/* Last position that has a target; SIZE_MAX if none. */
size_t rung_instance_last_target(const rung_instance *instance);

/* Text. Symbols: the words of the tokens separated by spaces. Reading fills tokens and token and forgets the targets;
 * its cost is linear in the text and, for rows without token_read, in the vocabulary. A task over features has no symbols: writing adds nothing, reading is
 * RUNG_USAGE. */
void rung_task_symbols_write(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf);
rung_status rung_task_symbols_read(rung_instance *instance, const char *text, const rung_task_conf *conf,
                                   rung_error *err);
void rung_task_answer_write(rung_buf *out, const rung_task_conf *conf, int32_t answer);

/* What predictors without attention score on `count` >= 2 instances, half of them to fit and half to test. A task with
 * vector targets has none: tested = 0. */
typedef struct rung_leak {
    size_t tested;    /* targets in the test half */
    double majority;  /* the most common answer of the fit half */
    double position;  /* the most common answer at this target position */
    double frequency; /* the most frequent vote in the prompt up to the target, the smallest id among equals */
    double declared;  /* conf->majority */
    double slack;     /* four standard deviations of the test half: above declared + slack is a leak */
} rung_leak;
rung_status rung_task_leak(rung_leak *leak, const rung_task_conf *conf, uint64_t seed, size_t count, rung_error *err);

/* ---- text for models that other people trained ---------------------------------------------------------------------- */

/* A prompt as text over names that the caller chooses, for instance words that are one token each in the tokenizer of a
 * served model. Everything else in the text is fixed words, so that the answer is one name (or "none", "yes", "no").
 *   facts  "The mentor of apple at river is stone."       one sentence per entry of a table
 *   table  "| mentor | apple | river | stone |"           one line per entry
 *   words  "z2:0 z2:5 ... z0:2 w:1"                       the task's own words, one per token; every task over tokens
 * A name always follows a space, and so does the answer after the cue, so a name is the same token wherever it stands. */
typedef enum rung_text_spelling { RUNG_TEXT_FACTS = 1, RUNG_TEXT_TABLE, RUNG_TEXT_WORDS } rung_text_spelling;
extern const char *const rung_text_spelling_words[]; /* [spelling-1], NULL-terminated */

typedef struct rung_text_options {
    rung_text_spelling spelling;
    bool
        shuffled; /* entries in random order, levels mixed; otherwise as in the prompt. Not where order has a meaning */
    uint64_t seed;       /* of that order */
    bool question_first; /* before the entries; otherwise after them */
    size_t hops;         /* 0: the task's question. 1: the control, which needs one look into the same entries: seqcomp
                            asks for i_1, k-hop makes one hop, two-sum names the partner. Tasks of one look are their own
                            control. Between: i_hops of seqcomp, that many hops of k-hop; never more than the task has */
    bool think;          /* asks for steps and then a last line "Answer: NAME"; otherwise for one name only */
    bool cue;            /* ends in "Answer:", for completion; a chat message goes without */
    bool solved;         /* adds the cue, the answer and a blank line: an example to put before a prompt */
} rung_text_options;

/* Does the task with these parameters have that spelling? RUNG_USAGE, with what to do, when it has not. */
rung_status rung_text_check(const rung_task_conf *conf, const rung_text_options *options, rung_error *err);
/* How many names a prompt needs; 0 for words, and for tasks over numbers. */
size_t rung_text_names(const rung_task_conf *conf, rung_text_spelling spelling);
/* Names must be different, not empty, without white space or any of . , : ; ? ! | ( ) < > and not yes, no or none. */
rung_status rung_text_names_check(const char *const *names, size_t count, rung_error *err);
/* Short common English words to choose names from: likely to be one token each, which the tokenizer decides. NULL past the
 * end; a rung_names. They pass rung_text_names_check. */
const char *rung_text_candidate_at(size_t index);

/* Appends the text of a prompt whose answers are known (rung_task_make). The caller has called rung_text_check;
 * names[rung_text_names] (NULL when that is 0) are dealt to the roles in order, so shuffle them per instance. There is no
 * blank line in the text but the one that ends a solved example. */
void rung_text_write(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf, const char *const *names,
                     const rung_text_options *options);
/* The answers that the question may have, [0, count), and the one that it has. chance = 1 / count. */
size_t rung_text_answers(const rung_task_conf *conf, const rung_text_options *options);
size_t rung_text_answer(const rung_instance *instance, const rung_task_conf *conf, const rung_text_options *options);
/* Appends an answer as the reply should have it, without a space before it. */
void rung_text_answer_write(rung_buf *out, const rung_task_conf *conf, const char *const *names,
                            const rung_text_options *options, size_t answer);

/* The reverse, for any options: what spelling it is, in which order, with which names is found out. What stands before
 * the last blank line is not read (examples). Names are dealt to ids as they appear, so the prompt is the written one up
 * to a renaming of ids within their roles, and its answer is the id of the same name; with `names` (not NULL) ids are
 * those that rung_text_write was given. Questions with hops are read where the prompt can express them (k-hop).
 * Fills tokens and token, forgets the targets. RUNG_INPUT: not such a text; the message has the byte. */
typedef struct rung_text_book rung_text_book;
rung_status rung_text_read(rung_instance *instance, rung_text_book **book, const char *text, const rung_task_conf *conf,
                           const char *const *names, rung_error *err);
/* The answer id as the text called it; where it had no name for it, as rung_task_answer_write does, in < >. */
void rung_text_book_answer(rung_buf *out, const rung_text_book *book, const rung_task_conf *conf, int32_t answer);
rung_text_spelling rung_text_book_spelling(const rung_text_book *book);
void rung_text_book_free(rung_text_book *book);

RUNG_API_END

#endif
