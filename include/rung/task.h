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

/* A task with its parameters and everything that is derived from them. */
typedef struct rung_task_conf {
    const struct rung_task *task;
    rung_value params[RUNG_PARAM_MAX]; /* parallel to task->params */

    /* filled by resolve() */
    size_t tokens;                 /* prompt length; the maximum if lengths vary */
    size_t vocab;                  /* token ids are [0, vocab); 0 when the input is features */
    size_t answers;                /* answer ids are [0, answers); 0 when the target is a vector */
    size_t d_in, d_out;            /* features per token and target vector, else 0 */
    double chance;                 /* accuracy of a uniformly random answer */
    double majority;               /* best accuracy without reading the query; no leak may exceed it */
    size_t derived[RUNG_LIST_MAX]; /* numbers of the task, such as N_0, N_1, ... of seqcomp */
} rung_task_conf;

/* The tokens that one player of the communication protocol holds. */
typedef struct rung_span {
    char name[16];
    size_t start, len;
} rung_span;

typedef struct rung_instance {
    size_t tokens;
    uint32_t *token;     /* [tokens] */
    float *feature;      /* [tokens][d_in] */
    int32_t *target;     /* [tokens] answer at each position; RUNG_NO_TARGET where there is no question */
    float *target_value; /* [tokens][d_out] for vector targets; a row is valid where target[t] is 0 */
    size_t player_count;
    rung_span player[RUNG_PLAYERS_MAX]; /* in prompt order; together they cover the prompt */
} rung_instance;

/* A range of token ids. */
typedef struct rung_ids {
    size_t first, count;
} rung_ids;

typedef struct rung_task {
    const char *name;
    const char *summary;
    const char *source; /* theorem or paper */
    const rung_param *params;
    /* The parameter "dist" chooses the distribution of the generator. Its first word is the default, "uniform". */

    /* Checks the parameters together and fills the derived fields of conf. */
    rung_status (*resolve)(rung_task_conf *conf, rung_error *err);
    /* Fills tokens, token or feature. Buffers are zeroed and large enough for conf->tokens. */
    rung_status (*generate)(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err);
    /* The oracle. Fills target (and target_value) from the prompt alone. RUNG_INPUT when the tokens are not a prompt of
     * this task; the message names the position. It never reads outside its buffers, whatever the tokens are. */
    rung_status (*solve)(rung_instance *instance, const rung_task_conf *conf, rung_error *err);
    /* Fills player and player_count. NULL: one player holds everything before the last token, another the last
     * token. */
    void (*players)(rung_instance *instance, const rung_task_conf *conf);
    /* The token as one word without spaces, unique among the ids; NULL for feature tasks. */
    void (*token_word)(rung_buf *out, const rung_task_conf *conf, uint32_t token);
    /* The answer as one word; NULL: the decimal number. */
    void (*answer_word)(rung_buf *out, const rung_task_conf *conf, int32_t answer);
    /* For the leak probe: the answer that a token suggests to a predictor that only counts (the value of a table
     * entry), or RUNG_NO_TARGET. NULL: no token suggests an answer. */
    int32_t (*vote)(const rung_task_conf *conf, uint32_t token);
    /* Write the prompt as prose about invented people and places, and read it. NULL: the task has symbols only.
     * story_read fills tokens and token from text that story_write made. */
    void (*story_write)(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf);
    rung_status (*story_read)(rung_instance *instance, const char *text, const rung_task_conf *conf, rung_error *err);
    /* Writes the answer with the name that the facts use. NULL: as answer_word. */
    void (*story_answer)(rung_buf *out, const rung_task_conf *conf, int32_t answer);
    /* Parses a token word of `len` bytes. For text that is not a token word the result is unspecified: the caller
     * prints the id back and compares. NULL: reading searches the whole vocabulary, which is slow when it is large. */
    uint32_t (*token_read)(const rung_task_conf *conf, const char *word, size_t len);
    /* All prompts, as a product of independent choices per position. `choices` is the number of choices at `pos` (at
     * least 1; UINT64_MAX if it does not fit). `choose` writes the index-th one into token or feature, which is zero.
     * The product may contain sequences that are not prompts (two equal keys): solve() refuses them, or they break the
     * promise. Real vectors are chosen from a finite grid. NULL: not enumerable. */
    uint64_t (*choices)(const rung_task_conf *conf, size_t pos);
    void (*choose)(rung_instance *instance, const rung_task_conf *conf, size_t pos, uint64_t index);
    /* For tasks over tokens: the range of ids from which `pos` is chosen. NULL for the others. */
    rung_ids (*ids)(const rung_task_conf *conf, size_t pos);
    /* True if the last token is drawn so that all answers are equally likely, which a uniform last token would not
     * give. */
    bool balanced;
    /* A property of every prompt of the task that the generator guarantees but the oracle does not need (a margin,
     * different keys). Called on prompts that solve() accepts. NULL: there is none. */
    bool (*promise)(const rung_instance *instance, const rung_task_conf *conf);
    /* Text over chosen names (rung_text_*). NULL: there is none. */
    const struct rung_text_form *text;
} rung_task;

size_t rung_task_count(void);
const rung_task *rung_task_at(size_t index);
const rung_task *rung_task_get(const char *name);
const char *rung_task_nearest(const char *name);
const char *rung_task_name_at(size_t index); /* a rung_names */

/* Sets the defaults, reads words "key=value", then calls resolve. */
rung_status rung_task_conf_init(rung_task_conf *conf, const char *name, const char *const *pairs, size_t count,
                                rung_error *err);
int64_t rung_task_param(const rung_task_conf *conf, const char *name);
const rung_value *rung_task_value(const rung_task_conf *conf, const char *name);
/* Prints "eva N=16 V=16 ...": every parameter in table order. It parses back to the same conf. */
void rung_task_canonical(rung_buf *out, const rung_task_conf *conf);
/* Parses the canonical text. */
rung_status rung_task_conf_parse(rung_task_conf *conf, const char *canonical, rung_error *err);

rung_status rung_instance_init(rung_instance *instance, const rung_task_conf *conf, rung_error *err);
void rung_instance_clear(rung_instance *instance);
/* Generates and solves instance number `index` of the seed. */
rung_status rung_task_make(rung_instance *instance, const rung_task_conf *conf, uint64_t seed, uint64_t index,
                           rung_error *err);
/* The number of elements in the product of choices. UINT64_MAX if it does not fit, 0 if the task cannot be
 * enumerated. */
uint64_t rung_task_space(const rung_task_conf *conf);
/* Writes the index-th element (the last position varies fastest) and solves it. *is_prompt tells whether it is a prompt
 * of the task. RUNG_USAGE when the index is too large. */
rung_status rung_task_unrank(rung_instance *instance, bool *is_prompt, const rung_task_conf *conf, uint64_t index,
                             rung_error *err);
/* The last position with a target; SIZE_MAX if there is none. */
size_t rung_instance_last_target(const rung_instance *instance);

/* Symbols: the words of the tokens separated by spaces. Reading fills tokens and token and clears the targets. Its cost
 * is linear in the text and, for rows without token_read, in the vocabulary. A task over features has no symbols:
 * writing appends nothing, and reading is RUNG_USAGE. */
void rung_task_symbols_write(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf);
rung_status rung_task_symbols_read(rung_instance *instance, const char *text, const rung_task_conf *conf,
                                   rung_error *err);
void rung_task_answer_write(rung_buf *out, const rung_task_conf *conf, int32_t answer);

/* The accuracy of predictors without attention on `count` >= 2 instances. They are fitted on one half and tested on the
 * other. A task with vector targets has no such predictors: tested = 0. */
typedef struct rung_leak {
    size_t tested;   /* targets in the test half */
    double majority; /* the most common answer of the fit half */
    double position; /* the most common answer at this target position */
    /* the answer that most tokens before the target suggest (see vote); the smallest id among equals */
    double frequency;
    double declared; /* conf->majority */
    double slack;    /* four standard deviations of the test half; a score above declared + slack is a leak */
} rung_leak;
rung_status rung_task_leak(rung_leak *leak, const rung_task_conf *conf, uint64_t seed, size_t count, rung_error *err);

/* ---- text for models that other people trained ------------------------------------------------------------------- */

/* A prompt as text over names that the caller chooses, for instance words that are one token each in the tokenizer of a
 * served model. All other words of the text are fixed, so that the answer is one name (or "none", "yes", "no").
 *   facts  "The mentor of apple at river is stone."       one sentence per entry of a table
 *   table  "| mentor | apple | river | stone |"           one line per entry
 *   words  "z2:0 z2:5 ... z0:2 w:1"                       the task's own words, one per token; every task over tokens
 * A space precedes every name, and the answer after the cue, so a name is the same token everywhere. */
typedef enum rung_text_spelling { RUNG_TEXT_FACTS = 1, RUNG_TEXT_TABLE, RUNG_TEXT_WORDS } rung_text_spelling;
extern const char *const rung_text_spelling_names[]; /* [spelling-1], NULL-terminated */

typedef struct rung_text_options {
    rung_text_spelling spelling;
    /* entries are in random order with levels mixed; otherwise as in the prompt. Refused if the order has a meaning */
    bool shuffled;
    uint64_t seed;       /* seed of that order */
    bool question_first; /* the question precedes the entries; otherwise it follows them */
    /* 0: the task's question. 1: the control question, which needs one lookup in the same entries: seqcomp asks for
     * i_1, k-hop makes one hop, two-sum names the partner. A task of one lookup is its own control. Other values:
     * i_hops of seqcomp, or that many hops of k-hop; at most as many as the task has */
    size_t hops;
    bool chain_of_thought; /* asks for steps and then a last line "Answer: NAME"; otherwise for one name only */
    bool cue;              /* ends with "Answer:", for completion; a chat message has no cue */
    bool solved;           /* appends the cue, the answer and a blank line, as an example to put before a prompt */
} rung_text_options;

/* Checks that the task with these parameters has that spelling. RUNG_USAGE with a suggestion when it has not. */
rung_status rung_text_check(const rung_task_conf *conf, const rung_text_options *options, rung_error *err);
/* The number of names that a prompt needs; 0 for words, and for tasks over numbers. */
size_t rung_text_names(const rung_task_conf *conf, rung_text_spelling spelling);
/* Names must be different and not empty, must not contain white space or any of . , : ; ? ! | ( ) < > and must not be
 * yes, no or none. */
rung_status rung_text_names_check(const char *const *names, size_t count, rung_error *err);
/* Short common English words to choose names from. In most tokenizers each is one token. NULL past the end; a
 * rung_names. They pass rung_text_names_check. */
const char *rung_text_candidate_at(size_t index);

/* Appends the text of a prompt whose answers are known (rung_task_make). The caller has called rung_text_check.
 * names[rung_text_names] (NULL when that is 0) are assigned to the roles in order, so callers shuffle them per
 * instance. The text contains no blank line except the one that ends a solved example. */
void rung_text_write(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf, const char *const *names,
                     const rung_text_options *options);
/* The number of possible answers of the question, and its answer in [0, count). chance = 1 / count. */
size_t rung_text_answers(const rung_task_conf *conf, const rung_text_options *options);
size_t rung_text_answer(const rung_instance *instance, const rung_task_conf *conf, const rung_text_options *options);
/* Appends an answer as a reply should contain it, without a leading space. */
void rung_text_answer_write(rung_buf *out, const rung_task_conf *conf, const char *const *names,
                            const rung_text_options *options, size_t answer);

/* What files for evaluation harnesses say behind a prompt: a paragraph of its own, and the beginning of the answer. */
#define RUNG_TEXT_REPLY_FORM "Reply with the answer only, one word."
#define RUNG_TEXT_REPLY_CUE  "Answer:"

/* Reads such a text, with any options: it finds the spelling, the order and the names. Text before the last blank line
 * is skipped (examples), and so is a last paragraph that only says the form of the answer. Names get ids in the order in which they appear. So the prompt is the written one up to a
 * renaming of ids within their roles, and its answer is the id of the same name. With `names` (not NULL) the ids are
 * those that rung_text_write was given. Questions with fewer hops are read only where a prompt can express them
 * (k-hop). Fills tokens and token, and clears the targets. RUNG_INPUT if it is not such a text; the message contains
 * the byte. */
typedef struct rung_text_book rung_text_book;
rung_status rung_text_read(rung_instance *instance, rung_text_book **book, const char *text, const rung_task_conf *conf,
                           const char *const *names, rung_error *err);
/* Writes the answer id with the name that the text used. If the text has no name for it, writes it as
 * rung_task_answer_write does, in < >. */
void rung_text_book_answer(rung_buf *out, const rung_text_book *book, const rung_task_conf *conf, int32_t answer);
rung_text_spelling rung_text_book_spelling(const rung_text_book *book);
void rung_text_book_free(rung_text_book *book);

RUNG_API_END

#endif
