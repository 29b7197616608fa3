/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Code that the task files share: size limits, the usual "dist" row, checks of a prompt, the level of the most
 * frequent value, and players. Private to the module.
 */
#ifndef RUNG_TASK_COMMON_H
#define RUNG_TASK_COMMON_H

#include "rung/task.h"

/* A prompt of 2^26 tokens is 256 MB of ids, and every mechanism allocates several times that. A vocabulary of 2^24
 * keeps ids exact in float32, which embeddings and exported arrays use. */
#define RUNG_TASK_TOKENS_MAX ((size_t)1 << 26)
#define RUNG_TASK_VOCAB_MAX  ((size_t)1 << 24)

/* The row "dist" of a task whose only distribution is the uniform one. */
extern const char *const rung_task_uniform_only[];
#define RUNG_TASK_DIST_UNIFORM                                                                                         \
    {                                                                                                                  \
        "dist", RUNG_PARAM_CHOICE, 0, 0, 0, rung_task_uniform_only, "distribution of the prompts"                      \
    }

/* Sets a parameter that the user left at 0 ("choose for me"), so that the canonical text states its value. */
void rung_task_param_default(rung_task_conf *conf, const char *name, int64_t number);

/* RUNG_USAGE when conf->tokens, vocab or answers is above its limit; the message says to lower `param`. */
rung_status rung_task_check_limits(const rung_task_conf *conf, const char *param, rung_error *err);
/* The same message for products that do not fit into size_t. */
rung_status rung_task_too_large(const rung_task_conf *conf, const char *param, rung_error *err);

/* Returns RUNG_USAGE with the names of the existing tasks. */
rung_status rung_task_unknown(const char *name, rung_error *err);
/* Removes tokens, players and targets, before text is read. */
void rung_task_forget(rung_instance *instance, const rung_task_conf *conf);
/* The same, and sets all numbers to zero, before a prompt is generated. */
void rung_task_blank(rung_instance *instance, const rung_task_conf *conf);
/* Solves the prompt and fills in its players. */
rung_status rung_task_finish(rung_instance *instance, const rung_task_conf *conf, rung_error *err);

/* The members `choices` and `choose` for rows that have `ids`. */
uint64_t rung_task_ids_choices(const rung_task_conf *conf, size_t pos);
void rung_task_ids_choose(rung_instance *instance, const rung_task_conf *conf, size_t pos, uint64_t index);
#define RUNG_TASK_IDS(function) .ids = (function), .choices = rung_task_ids_choices, .choose = rung_task_ids_choose
/* The range of all ids, at every position. */
rung_ids rung_task_any_id(const rung_task_conf *conf, size_t pos);

/* RUNG_INPUT unless the prompt has `want` tokens. */
rung_status rung_task_expect_tokens(const rung_instance *instance, const rung_task_conf *conf, size_t want,
                                    rung_error *err);
/* Returns RUNG_INPUT unless token[position] is in [first, first + count). *value is its distance from `first`. `what`
 * names the expected token in the message ("a table entry"). */
rung_status rung_task_expect_token(uint32_t *value, const rung_instance *instance, const rung_task_conf *conf,
                                   size_t position, size_t first, size_t count, const char *what, rung_error *err);

/* Reads the decimal numbers in the word from left to right, at most `max` of them, and sets the rest of `numbers` to
 * zero. Numbers that overflow come out wrong; the reader notices when it compares. Returns how many there were. */
size_t rung_task_word_numbers(size_t *numbers, size_t max, const char *word, size_t len);

/* E[max_v #{i : f(i) = v}] / entries for a uniform f : [entries] -> [values]: the score of always naming the most
 * frequent value of a random table. Exact (up to rounding) for at most 64 entries. Above that, the mean of draws with a
 * fixed seed, 2^21 entries in total, whose standard error is below 2^-11. A pure function of the two numbers. */
double rung_task_majority_of_table(size_t entries, size_t values);

/* A number v in [0, values) with the weight 1/(v+1): Zipf's law, computed with whole numbers only. values in [1,
 * 2^62]. */
uint64_t rung_task_zipf(rung_rng *rng, uint64_t values);
/* The level for tables whose entries follow Zipf's law: the mean of draws, as above. */
double rung_task_majority_of_zipf(size_t entries, size_t values);

/* The mean of score / entries over uniform tables with that many entries, of which count[v] have the value v:
 * fixed-seed draws, 2^21 entries in total. Returns 1 when memory runs out, which is the safe side for a level. */
typedef double rung_task_score(const uint32_t *count, const uint32_t *table, size_t entries);
double rung_task_mean_over_tables(size_t entries, size_t values, rung_task_score *score);

/* The level of a task whose answers have no closed form: the best score of the leak probe's predictors. Uses a fixed
 * seed that no caller uses, and 2^21 tokens, but at least 64 and at most 4096 instances. The derived fields other than
 * majority must be filled. */
rung_status rung_task_majority_by_probe(rung_task_conf *conf, rung_error *err);

/* Two players: `first` holds everything before `cut`, `second` the rest. */
void rung_task_players_two(rung_instance *instance, size_t cut, const char *first, const char *second);
/* Appends one player that holds the next `len` tokens. */
void rung_task_player_add(rung_instance *instance, const char *name, size_t len);

#endif
