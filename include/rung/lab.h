/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * lab: experiments. A spec (a small JSON file) becomes a list of runs; a run is what `rung train` does with the same words
 * and a pure function of its canonical text, whose hash is its id. A store (one SQLite file, docs/store.md) holds finished
 * runs with everything that was measured. Nothing that is finished is ever lost or done again: a run enters the store in one
 * transaction, and unfinished ones go on from their checkpoints. The only module that includes SQLite. Layer 6.
 */
#ifndef RUNG_LAB_H
#define RUNG_LAB_H

#include "rung/base.h"
#include "rung/par.h"
#include "rung/train.h"

RUNG_API_BEGIN

/* ---- sweep: a spec and its runs ------------------------------------------------------------------------------------------ */

#define RUNG_RUN_ID     33 /* 32 hexadecimal digits and the end: half a SHA-256 */
#define RUNG_SWEEP_MOST 1000000

/* Whether it is one: readers of stores have checked every id that they hand out, and only ids become names of files. */
bool rung_run_id_ok(const char *id);

typedef struct rung_sweep rung_sweep;

/* Reads a spec and numbers its runs from 0 on; a run that occurs twice counts once, where it occurs first. Unknown keys are
 * RUNG_INPUT with the place and the nearest known key; so is every value that `rung train` would refuse. */
rung_status rung_sweep_open(rung_sweep **out, const char *path, rung_error *err);
/* The same from memory; `name` stands for the file in messages. More than `most` runs are refused. */
rung_status rung_sweep_parse(rung_sweep **out, const char *text, size_t len, const char *name, size_t most,
                             rung_error *err);
void rung_sweep_free(rung_sweep *sweep);
const char *rung_sweep_name(const rung_sweep *sweep);
const char *rung_sweep_question(const rung_sweep *sweep); /* "" if none */
double rung_sweep_success(const rung_sweep *sweep);       /* test accuracy from which a run counts as a success */
size_t rung_sweep_count(const rung_sweep *sweep);
size_t rung_sweep_repeated(const rung_sweep *sweep); /* runs that occurred again and were left out */
const char *rung_sweep_id(const rung_sweep *sweep, size_t index);

/* One run, spelled out. */
typedef struct rung_sweep_run {
    char id[RUNG_RUN_ID];
    char *canonical;       /* rung_train_canonical of conf */
    char *words;           /* {"arch": "full", "task": "eva", "task.N": 8, ...}: every key that decides the result */
    char *label;           /* of its case; "" if none */
    uint64_t cell;         /* equal for runs that differ in their seed and in the keys that the spec says to choose */
    uint64_t setting;      /* equal for runs that differ in their seed only */
    rung_train_conf conf;  /* borrows from the run, which must not move */
    rung_train_words text; /* the same as words */
    rung_buf task_text;
    rung_arena arena;
} rung_sweep_run;

/* Clear it also when this fails. */
rung_status rung_sweep_run_init(rung_sweep_run *run, const rung_sweep *sweep, size_t index, rung_error *err);
void rung_sweep_run_clear(rung_sweep_run *run);

/* ---- store ------------------------------------------------------------------------------------------------------------------- */

typedef struct rung_store rung_store; /* one connection: belongs to one thread at a time */

typedef enum rung_store_mode {
    RUNG_STORE_READ = 1, /* must exist; nothing is written */
    RUNG_STORE_WRITE,    /* made if need be */
} rung_store_mode;

/* wait_s: how long to wait for other processes that hold the file. A file that is no store, a damaged one and one of a later
 * version are RUNG_INPUT; a full disk and a store that stays locked are RUNG_SYSTEM. A store that is only read and that nobody
 * has open is read without locks and without files beside it, so that it may lie on a medium that cannot be written; if somebody
 * writes it meanwhile, reading fails. */
rung_status rung_store_open(rung_store **out, const char *path, rung_store_mode mode, double wait_s, rung_error *err);
void rung_store_close(rung_store *store);
const char *rung_store_path(const rung_store *store);

typedef enum rung_outcome {
    RUNG_OUTCOME_FINISHED = 1, /* all steps */
    RUNG_OUTCOME_STOPPED,      /* early, by the rule that its words declare */
    RUNG_OUTCOME_DIVERGED,     /* loss or gradient became no number; nothing was evaluated after that */
} rung_outcome;
extern const char *const rung_outcome_words[]; /* [outcome-1] */

/* What the theorems of bound.h say of this architecture at this size in numbers of `bits` bits, every operation rounded and
 * sums from left to right: of the exact evaluator. */
typedef struct rung_run_theory {
    int bits;             /* p */
    rung_verdict verdict; /* CANNOT or UNKNOWN */
    const char *bound;    /* the row that decides or comes closest; "" when none applies */
    const char *statement;
    double margin;              /* lhs / rhs of that row; CANNOT above 1 */
    double ceiling;             /* accuracy that cannot be exceeded; 0: none */
    double n_threshold, log2_n; /* smallest prompt with a proof; 0: none is known */
    bool trivial;
} rung_run_theory;

/* The same before anything is run; of conf, only task, arch, heads, dk, dv and causal are looked at. No statement. */
rung_status rung_lab_theory(rung_run_theory *theory, const rung_train_conf *conf, rung_error *err);

/* Whether the theorems speak of an accuracy that this evaluator has measured: the exact one, in a format of at most so many
 * bits. Beside any other accuracy there is no ceiling, and nothing that it could contradict. */
bool rung_theory_speaks(const rung_run_theory *theory, const char *test_numbers);
/* Sets conf->test_numbers, unless it is said, to a format of the theorems where these say CANNOT or have a ceiling. */
rung_status rung_lab_choose_test(rung_train_conf *conf, rung_error *err);

/* A finished run. Numbers that do not exist are NaN. Texts are borrowed until the next row. */
typedef struct rung_run_row {
    int64_t number; /* in this store */
    const char *id, *canonical, *words;
    const char *arch, *task; /* task: the name; its parameters are among the words */
    uint64_t seed;
    double rate;
    bool random_labels;
    rung_outcome outcome;
    uint64_t step, steps;
    double loss, accuracy;           /* training data, exponential means of the last steps */
    double eval_loss, eval_accuracy; /* of the last evaluation during training: choose a setting by this */
    double test_loss, test_accuracy; /* after training, prompts of a stream that nothing was chosen by: report this */
    uint64_t test_targets, test_right;
    const char *test_numbers; /* what measures the test: RUNG_TEST_FAST, or the format of the exact evaluator; "" when
                                 there is no test */
    double chance, majority;
    uint64_t tokens; /* of a prompt */
    uint64_t parameters;
    uint64_t layers, full_layers, recurrent_layers;
    uint64_t state_bits;        /* all recurrent layers, convolutions and windows included, at 32 bits per number */
    uint64_t level_bits;        /* log-linear layers: of one level */
    uint64_t message_bits;      /* what a token receives from a prefix in the largest full layer */
    uint64_t kv_bits_per_token; /* caches that grow */
    rung_run_theory theory;
    double seconds; /* of training; of the last attempt when it was interrupted */
    bool resumed;
    double finished_at; /* seconds since 1970 */
    const char *version, *kernels, *host;
    /* Of the sweep that was asked for; "" and 0 when the runs of a whole store were. */
    const char *label;
    uint64_t place, cell, setting;
    bool chosen; /* its setting has the best mean eval_accuracy of its cell (then the smaller mean eval_loss) */
} rung_run_row;

/* All finished runs (sweep = 0) or those of one sweep, in the order of its plan. `each` returns false to stop. */
typedef bool rung_run_each(void *context, const rung_run_row *row);
rung_status rung_store_runs(rung_store *store, int64_t sweep, rung_run_each *each, void *context, rung_error *err);
rung_status rung_store_run_count(size_t *count, rung_store *store, rung_error *err);
rung_status rung_store_has(bool *has, rung_store *store, const char *id, rung_error *err);

/* One evaluation during training. */
typedef struct rung_metric {
    uint64_t step;
    double loss, accuracy, rate, gradient, eval_loss, eval_accuracy;
} rung_metric;
typedef bool rung_metric_each(void *context, const rung_metric *metric);
rung_status rung_store_metrics(rung_store *store, int64_t run, rung_metric_each *each, void *context, rung_error *err);

typedef struct rung_sweep_row {
    int64_t number;
    const char *id, *name, *question, *text; /* text: the spec itself */
    double success;
    uint64_t planned, done, succeeded;
} rung_sweep_row;
typedef bool rung_sweep_each(void *context, const rung_sweep_row *row);
rung_status rung_store_sweeps(rung_store *store, rung_sweep_each *each, void *context, rung_error *err);

/* Something that belongs to a run: "model" (safetensors), "certificate", ... */
typedef struct rung_artefact {
    int64_t run;
    const char *kind, *name, *sha256;
    const void *bytes;
    size_t size;
} rung_artefact;
typedef bool rung_artefact_each(void *context, const rung_artefact *artefact);
/* Those of a run (0: of all) and of a kind (NULL: of all). One whose bytes do not have its digest is RUNG_INPUT. */
rung_status rung_store_artefacts(rung_store *store, int64_t run, const char *kind, rung_artefact_each *each,
                                 void *context, rung_error *err);
/* Adds or replaces; sha256 and run->number are filled in. `id` names the run. */
rung_status rung_store_attach(rung_store *store, const char *id, const rung_artefact *artefact, rung_error *err);

/* Copies what `from` has and `store` has not: runs, metrics, artefacts, sweeps. A run that both have must be the same, or
 * the message names it; timings and machines may differ. One transaction. */
rung_status rung_store_merge(rung_store *store, const char *from, size_t *added, size_t *same, double wait_s,
                             rung_error *err);

/* ---- probes: what served models have answered --------------------------------------------------------------------------------- */

/* One attempt of a request to a server, with what came back. */
typedef struct rung_exchange {
    const char *hash; /* of url and request, by rung_exchange_hash */
    const char *url;
    const char *request; /* the body that was sent; "" for GET */
    int64_t http;        /* status; 0: no reply */
    const char *problem; /* why the reply cannot be used; "" when it can */
    const void *reply;
    size_t size;
    uint64_t attempt; /* from 0 */
    double seconds;
} rung_exchange;
void rung_exchange_hash(char hex[65], const char *url, const char *request);
rung_status rung_store_exchange_add(rung_store *store, const rung_exchange *exchange, rung_error *err);
/* The usable reply of a hash, appended to `reply`; *http stays 0 when there is none. */
rung_status rung_store_exchange_find(rung_buf *reply, int64_t *http, rung_store *store, const char *hash,
                                     rung_error *err);
rung_status rung_store_exchange_count(size_t *count, rung_store *store, rung_error *err);

/* One model asked one task in one way. */
typedef struct rung_probe_row {
    int64_t number;             /* in this store */
    const char *id;             /* half a SHA-256 of canonical, as of a run */
    const char *canonical;      /* everything that decides which questions are asked, as JSON */
    const char *source;         /* "probe", or the harness that a log comes from */
    const char *model, *server; /* server: root address or file */
    const char *task;           /* name */
    double added;               /* seconds since 1970; filled in */
} rung_probe_row;

/* All answers to questions of one kind. Numbers that do not exist are NaN, texts "". */
typedef struct rung_probe_cell {
    uint64_t place;        /* within the probe */
    const char *mode;      /* "direct", "one-hop", "shuffled", "thinking"; of a log "log" */
    const char *words;     /* {"L": 2, "n": 16} */
    const char *canonical; /* the task with its parameters */
    uint64_t depth, facts; /* L and n; 0: the task has none */
    double chance;         /* of a guess among the answers */
    double majority;       /* the best guess without reading the question */
    uint64_t asked, right; /* right: the likeliest of the possible answers by the first token; of a log its own score */
    uint64_t text_right;   /* by the generated text */
    uint64_t off;          /* no possible answer was among the likeliest tokens, or the text names none */
    uint64_t cut;          /* thinking that did not come to an end; in asked, never in right */
    double mass;           /* mean probability of the right answer */
    double prompt_tokens;  /* mean, as the server counts */
    const char *verdict;   /* of the bounds for the given configuration; "" without one */
    const char *bound, *statement;
    double ceiling, margin;
} rung_probe_cell;

typedef struct rung_probe_answer {
    uint64_t cell;    /* place */
    uint64_t index;   /* of the instance */
    const char *hash; /* of the exchange; "" when it came from a log */
    const char *wanted, *said;
    bool right, text_right, off, cut;
    double mass;
} rung_probe_answer;

/* How deep: see rung_depth in probe.h for what the interval means. */
typedef struct rung_probe_depth {
    const char *words; /* the other keys of the grid: {"n": 16} */
    uint64_t facts;
    double threshold, confidence;
    uint64_t low, high, deepest; /* deepest: the largest depth of the grid */
    bool settled;                /* low = high */
} rung_probe_depth;

/* Adds the probe, or finds it by its id. */
rung_status rung_store_probe_put(int64_t *number, rung_store *store, const rung_probe_row *row, rung_error *err);
/* These replace what is there. Answers: all of them in one transaction. */
rung_status rung_store_probe_cell_put(rung_store *store, int64_t probe, const rung_probe_cell *cell, rung_error *err);
rung_status rung_store_probe_answers_put(rung_store *store, int64_t probe, const rung_probe_answer *answers,
                                         size_t count, rung_error *err);
rung_status rung_store_probe_depth_put(rung_store *store, int64_t probe, const rung_probe_depth *depth,
                                       rung_error *err);
/* Texts are borrowed until the next row. A store of version 1 has none. `each` returns false to stop. */
typedef bool rung_probe_each(void *context, const rung_probe_row *row);
typedef bool rung_probe_cell_each(void *context, const rung_probe_cell *cell);
typedef bool rung_probe_answer_each(void *context, const rung_probe_answer *answer);
typedef bool rung_probe_depth_each(void *context, const rung_probe_depth *depth);
rung_status rung_store_probes(rung_store *store, rung_probe_each *each, void *context, rung_error *err);
rung_status rung_store_probe_cells(rung_store *store, int64_t probe, rung_probe_cell_each *each, void *context,
                                   rung_error *err);
rung_status rung_store_probe_answers(rung_store *store, int64_t probe, rung_probe_answer_each *each, void *context,
                                     rung_error *err);
rung_status rung_store_probe_depths(rung_store *store, int64_t probe, rung_probe_depth_each *each, void *context,
                                    rung_error *err);

/* ---- doing it -------------------------------------------------------------------------------------------------------------- */

/* Where a run is, for progress; called from the threads that do the runs, at most ten times a second each. */
typedef struct rung_lab_news {
    size_t total;           /* runs of this shard */
    size_t before;          /* of them, in the store when it began */
    size_t done, succeeded; /* since; successes of the runs in the store included */
    size_t elsewhere;       /* at work in another process */
    size_t index;           /* the run that this is about */
    const rung_train_state *state;
    bool finished; /* this run is now in the store */
    double left_s; /* estimate for what is left; NaN when nothing is known */
} rung_lab_news;

typedef struct rung_lab_conf {
    size_t jobs;           /* runs at the same time; 0: processors / threads */
    size_t threads;        /* of one run; 0: 1 */
    size_t shard, shards;  /* runs whose index is shard modulo shards; shards 0: all */
    const rung_team *team; /* all ranks call rung_lab_sweep; NULL: alone */
    double wait_s;
    double cost_s;             /* estimated time of all that is to be done, from rung_lab_estimate; 0: none */
    bool (*go)(void *context); /* false: stop with checkpoints; may be NULL; called from several threads */
    void (*tell)(void *context, const rung_lab_news *news); /* may be NULL; one call at a time */
    void *context;
} rung_lab_conf;

typedef struct rung_lab_sum {
    size_t total, before, done, succeeded, diverged, elsewhere, left;
    bool stopped; /* by go() */
} rung_lab_sum;

/* Does all runs of the shard that are neither in the store nor at work in a process that lives. What ranks of an earlier sweep
 * have left (STORE.rank1, ...) is taken in first. In a team rank 0 hands out the runs and in the end has all in its store; the
 * others have an empty sum, and succeed unless rank 0 fails. */
rung_status rung_lab_sweep(rung_lab_sum *sum, const rung_sweep *sweep, const char *store, const rung_lab_conf *conf,
                           rung_error *err);

/* That first part alone, for those who want to know what is in the store; leaves them to ranks that live. */
rung_status rung_store_adopt(rung_store *store, rung_error *err);

/* One run, for those who hand out the work themselves: claims it, trains, stores it. */
typedef enum rung_lab_did {
    RUNG_LAB_DONE = 1,  /* now in the store */
    RUNG_LAB_WAS_DONE,  /* before */
    RUNG_LAB_ELSEWHERE, /* a process that lives is at it */
    RUNG_LAB_STOPPED,   /* go() said so; a checkpoint is there */
} rung_lab_did;
rung_status rung_lab_run(rung_lab_did *did, rung_store *store, const rung_sweep *sweep, size_t index,
                         const rung_lab_conf *conf, rung_error *err);
/* Writes spec and plan into the store; rung_lab_sweep does it itself. */
rung_status rung_store_plan(rung_store *store, const rung_sweep *sweep, rung_error *err);

/* Seconds that the runs of the shard that `store` (may be NULL) lacks would take on one thread, at most, from a few steps of
 * every kind of run (same layers, sizes and task); it also finds out whether they can be trained at all. Kinds beyond
 * budget_s count as the mean of the others. */
typedef struct rung_lab_cost {
    size_t runs, done, kinds, measured;
    double seconds;
} rung_lab_cost;
rung_status rung_lab_estimate(rung_lab_cost *cost, const rung_sweep *sweep, rung_store *store,
                              const rung_lab_conf *conf, double budget_s, rung_error *err);

RUNG_API_END

#endif
