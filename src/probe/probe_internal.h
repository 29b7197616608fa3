/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to probe: its cells, the wording of requests, and what was found out about the server.
 */
#ifndef RUNG_PROBE_INTERNAL_H
#define RUNG_PROBE_INTERNAL_H

#include "rung/probe.h"

#define PROBE_KEYS 8

/* ---- grid (probe_grid.c) ----------------------------------------------------------------------------------------------- */

typedef struct probe_axis {
    char key[16];
    rung_sizes values;
} probe_axis;

typedef struct probe_grid {
    probe_axis axis[PROBE_KEYS];
    size_t count;
} probe_grid;

/* "L=1..6,n=16,64,256" */
rung_status probe_grid_parse(probe_grid *grid, const char *text, rung_error *err);
/* Number of cells; the last key varies fastest. */
size_t probe_grid_cells(const probe_grid *grid);
int64_t probe_grid_value(const probe_grid *grid, size_t cell, size_t axis);
/* The task of a cell: L and n in the task's own parameters, then the user's parameters, which override them. small: at
 * most 4 facts, for examples. */
rung_status probe_grid_task(rung_task_conf *conf, const probe_grid *grid, size_t cell, const rung_probe_options *probe,
                            bool small, rung_error *err);
/* The key that is the depth of the task: "L", or the task's own name for it; SIZE_MAX if none. Likewise for facts. */
size_t probe_grid_depth_axis(const probe_grid *grid, const char *task);
size_t probe_grid_facts_axis(const probe_grid *grid, const char *task);

/* ---- requests (wording.c) ---------------------------------------------------------------------------------------- */

typedef enum probe_quiet { PROBE_QUIET_NONE = 0, PROBE_QUIET_KWARGS, PROBE_QUIET_EFFORT } probe_quiet;
extern const char *const probe_quiet_names[];

/* How requests to this server are written. */
typedef struct probe_dialect {
    rung_probe_api api;
    probe_quiet quiet; /* how the chain of thought is switched off */
    size_t top;
} probe_dialect;

const char *probe_path(const probe_dialect *dialect);
/* Writes one question: asks for the first token with its log-probabilities, or (think) for a text of at most this many
 * tokens. */
void probe_body(rung_buf *out, const probe_dialect *dialect, const rung_probe_options *conf, const char *prompt,
                size_t chain_of_thought_tokens);
/* For /tokenize: vLLM and SGLang call the text "prompt", llama.cpp calls it "content". */
void probe_tokenize_body(rung_buf *out, const char *model, const char *text, bool content);
/* Checks that `extra` is a JSON object and sets no member that our requests set. */
rung_status probe_extra_check(const char *extra, rung_error *err);

/* ---- the probe --------------------------------------------------------------------------------------------------- */

typedef enum probe_mode {
    PROBE_DIRECT = 0,
    PROBE_ONE_HOP,
    PROBE_SHUFFLED,
    PROBE_CHAIN_OF_THOUGHT,
    PROBE_MODES
} probe_mode;
extern const char *const probe_mode_names[];

typedef struct probe_cell {
    rung_probe_cell sum;
    probe_mode mode;
    size_t grid_cell;
    rung_task_conf task, example;
    rung_text_options options;
    size_t names, answers;
    size_t next; /* index of the next instance to ask */
    double mass_sum, tokens_sum;
    uint64_t mass_count, tokens_count;
    rung_buf keys, canonical;
    char bound[32], statement[384];
    rung_buf refusal;
} probe_cell;

struct rung_probe {
    rung_probe_options conf;
    probe_grid grid;
    probe_cell *cell;
    size_t cells;
    rung_probe_depth *depth;
    rung_buf *depth_keys;
    size_t depths;
    size_t names_needed;
    const char **pool; /* words that are one token */
    size_t pool_count;
    probe_dialect dialect;
    rung_probe_server server;
    rung_buf fingerprint, canonical;
    bool tested, stopped;
    int64_t number;
    size_t done, planned;
};

/* A prompt with its answers, made for one question. */
typedef struct probe_question {
    rung_buf prompt;
    const char **answers; /* [count], in `text` */
    size_t count, wanted;
    rung_arena arena;
} probe_question;

/* Makes a question. Clear it also when this fails. names: the pool; the choice for this instance is a function of seed,
 * cell and index. */
rung_status probe_question_init(probe_question *question, const probe_cell *cell, const rung_probe_options *conf,
                                const char *const *names, size_t count, bool cue, uint64_t index, rung_error *err);
void probe_question_clear(probe_question *question);

/* ---- names (names.c) --------------------------------------------------------------------------------------------- */

rung_status probe_names_find(rung_probe *probe, rung_error *err);
/* Checks that answers that are no names (yes, none, the words of a task) are one token each, if only one token is
 * generated. */
rung_status probe_answers_check(rung_probe *probe, rung_error *err);

/* The number of questions that a cell gets before the depth is decided. */
size_t probe_wanted(const rung_probe_options *conf, probe_mode mode);

/* ---- progress (ask_cells.c) -------------------------------------------------------------------------------------------- */

void probe_report_progress(const rung_probe *probe, const char *doing, const probe_cell *cell);

#endif
