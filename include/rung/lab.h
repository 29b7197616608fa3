/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * lab: experiments. A spec (a small JSON file) becomes a list of runs. A run does what `rung train` does with the same
 * words. It is a pure function of its canonical text, and the hash of that text is its id. A store (one SQLite file,
 * docs/store.md) holds finished runs with everything that was measured. A finished run enters the store in one
 * transaction and is never repeated; an unfinished one continues from its checkpoint. The only module that includes
 * SQLite. Layer 6.
 */
#ifndef RUNG_LAB_H
#define RUNG_LAB_H

#include "rung/base.h"
#include "rung/par.h"
#include "rung/train.h"

RUNG_API_BEGIN

/* ---- sweep: a spec and its runs -------------------------------------------------------------------------------- */

#define RUNG_RUN_ID     33 /* 32 hexadecimal digits and the end: half a SHA-256 */
#define RUNG_SWEEP_MOST 1000000

/* True if the text is a run id. Readers of stores check every id that they return, because ids become file names. */
bool rung_run_id_ok(const char *id);

typedef struct rung_sweep rung_sweep;

/* Reads a spec and numbers its runs from 0. A run that occurs twice counts once, at its first place. RUNG_INPUT for an
 * unknown key, with its place and the nearest known key, and for every value that `rung train` would refuse. */
rung_status rung_sweep_open(rung_sweep **out, const char *path, rung_error *err);
/* The same from memory; messages call the text `name`. Refuses more than `most` runs. */
rung_status rung_sweep_parse(rung_sweep **out, const char *text, size_t len, const char *name, size_t most,
                             rung_error *err);
void rung_sweep_free(rung_sweep *sweep);
const char *rung_sweep_name(const rung_sweep *sweep);
const char *rung_sweep_question(const rung_sweep *sweep); /* "" if none */
double rung_sweep_success(const rung_sweep *sweep);       /* a run succeeds if its test accuracy is at least this */
size_t rung_sweep_count(const rung_sweep *sweep);
size_t rung_sweep_repeated(const rung_sweep *sweep); /* repeated runs that were left out */
const char *rung_sweep_id(const rung_sweep *sweep, size_t index);
/* The id under which a store keeps the spec: the first digits of the SHA-256 of its text. */
void rung_sweep_spec_id(char id[RUNG_RUN_ID], const rung_sweep *sweep);

/* One run, spelled out. */
typedef struct rung_sweep_run {
    char id[RUNG_RUN_ID];
    char *canonical;  /* rung_train_canonical of conf */
    char *keys;       /* {"arch": "full", "task": "eva", "task.N": 8, ...}: every key that decides the result */
    char *label;      /* label of its case; "" if it has none */
    uint64_t cell;    /* equal for runs that differ only in their seed and in the keys that the spec says to choose */
    uint64_t setting; /* equal for runs that differ only in their seed */
    rung_train_spec conf;    /* borrows from this struct, so do not copy or move it */
    rung_train_options text; /* the same as rung_train_options */
    rung_buf task_text;
    rung_arena arena;
} rung_sweep_run;

/* Clear it also when this fails. */
rung_status rung_sweep_run_init(rung_sweep_run *run, const rung_sweep *sweep, size_t index, rung_error *err);
void rung_sweep_run_clear(rung_sweep_run *run);

/* ---- store ----------------------------------------------------------------------------------------------------- */

typedef struct rung_store rung_store; /* one connection; only one thread may use it at a time */

typedef enum rung_store_mode {
    RUNG_STORE_READ = 1, /* the file must exist; nothing is written */
    RUNG_STORE_WRITE,    /* the file is made if it is missing */
} rung_store_mode;

/* Opens a store and waits up to wait_s seconds for other processes that hold the file. RUNG_INPUT: the file is no
 * store, is damaged, or has a later version. RUNG_SYSTEM: the disk is full, or the store stays locked. A store that is
 * opened for reading and that no process has open is read without locks and without files beside it, so it may lie on a
 * read-only medium; if another process then writes it, reading fails. */
rung_status rung_store_open(rung_store **out, const char *path, rung_store_mode mode, double wait_s, rung_error *err);
void rung_store_close(rung_store *store);
const char *rung_store_path(const rung_store *store);

typedef enum rung_outcome {
    RUNG_OUTCOME_FINISHED = 1, /* all steps */
    RUNG_OUTCOME_STOPPED,      /* stopped early, by the rule that its keys declare */
    RUNG_OUTCOME_DIVERGED,     /* loss or gradient became NaN or infinite; nothing was evaluated after that */
} rung_outcome;
extern const char *const rung_outcome_names[]; /* [outcome-1] */

/* What the theorems of bound.h say of this architecture at this size in numbers of `bits` bits. They speak of the exact
 * evaluator: every operation rounded, sums from left to right. */
typedef struct rung_run_theory {
    int bits;             /* p */
    rung_verdict verdict; /* CANNOT or UNKNOWN */
    const char *bound;    /* the row that decides or comes closest; "" when none applies */
    const char *statement;
    double margin;              /* lhs / rhs of that row; CANNOT above 1 */
    double ceiling;             /* accuracy that no weights exceed; 0: none */
    double n_threshold, log2_n; /* smallest prompt length with a proof; 0: none known */
    bool trivial;
} rung_run_theory;

/* The same before anything is run. Reads only task, arch, heads, dk, dv and causal of conf, and leaves the statement
 * empty. */
rung_status rung_lab_theory(rung_run_theory *theory, const rung_train_spec *conf, rung_error *err);

/* True if the theorems speak of an accuracy that this evaluator measured: the exact one, in a format of at most
 * theory->bits bits. Any other accuracy has no ceiling and cannot contradict one. */
bool rung_theory_speaks(const rung_run_theory *theory, const char *test_numbers);
/* If conf->test_numbers is unset and the theorems say CANNOT or have a ceiling, sets it to a format of which they
 * speak. */
rung_status rung_lab_choose_test(rung_train_spec *conf, rung_error *err);

/* A finished run. Missing numbers are NaN. Texts are borrowed until the next row. */
typedef struct rung_run_row {
    int64_t number; /* in this store */
    const char *id, *canonical, *keys;
    const char *arch, *task; /* task: its name; the parameters are among the keys */
    uint64_t seed;
    double rate;
    bool random_labels;
    rung_outcome outcome;
    uint64_t step, steps;
    double loss, accuracy;           /* training data, exponential means of the last steps */
    double eval_loss, eval_accuracy; /* of the last evaluation during training: choose settings by this */
    double test_loss,
        test_accuracy; /* after training, on prompts of a stream by which nothing was chosen: report this */
    uint64_t test_targets, test_right;
    /* evaluator of the test: RUNG_TEST_FAST, or the format of the exact evaluator; "" without a test */
    const char *test_numbers;
    double chance, majority;
    uint64_t tokens; /* length of a prompt */
    uint64_t parameters;
    uint64_t layers, full_layers, recurrent_layers;
    uint64_t state_bits;   /* of all recurrent layers, convolutions and windows included, at theory.bits per number */
    uint64_t level_bits;   /* of one level of all log-linear layers */
    uint64_t message_bits; /* what a token receives from a prefix in the largest full layer */
    uint64_t kv_bits_per_token; /* of caches that grow */
    rung_run_theory theory;
    double seconds; /* of training; after an interruption, of the last attempt */
    bool resumed;
    double finished_at; /* seconds since 1970 */
    const char *version, *kernels, *host;
    /* Of the sweep that was asked for; "" and 0 if the whole store was read. */
    const char *label;
    uint64_t place, cell, setting;
    bool chosen; /* its setting has the best mean eval_accuracy of its cell; ties go to the smaller mean eval_loss */
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

/* A file that belongs to a run: "model" (safetensors), "certificate", ... */
typedef struct rung_artefact {
    int64_t run;
    const char *kind, *name, *sha256;
    const void *bytes;
    size_t size;
} rung_artefact;
typedef bool rung_artefact_each(void *context, const rung_artefact *artefact);
/* Lists the artefacts of a run (0: of all runs) and of a kind (NULL: of all kinds). RUNG_INPUT if the bytes of one do
 * not have its digest. */
rung_status rung_store_artefacts(rung_store *store, int64_t run, const char *kind, rung_artefact_each *each,
                                 void *context, rung_error *err);
/* Adds or replaces an artefact of the run `id`. Fills in sha256 and run->number. */
rung_status rung_store_attach(rung_store *store, const char *id, const rung_artefact *artefact, rung_error *err);

/* Copies the runs, metrics, artefacts and sweeps that `from` has and `store` lacks, in one transaction. If both have a
 * run, it must be the same; otherwise the message names it. Timings and machines may differ. */
rung_status rung_store_merge(rung_store *store, const char *from, size_t *added, size_t *same, double wait_s,
                             rung_error *err);

/* ---- probes: what served models have answered ------------------------------------------------------------------ */

/* One attempt of a request to a server, and its reply. */
typedef struct rung_exchange {
    const char *hash; /* of url and request, by rung_exchange_hash */
    const char *url;
    const char *request; /* the body that was sent; "" for GET */
    int64_t http;        /* HTTP status; 0: no reply */
    const char *problem; /* why the reply cannot be used; "" if it can */
    const void *reply;
    size_t size;
    uint64_t attempt; /* from 0 */
    double seconds;
} rung_exchange;
void rung_exchange_hash(char hex[65], const char *url, const char *request);
rung_status rung_store_exchange_add(rung_store *store, const rung_exchange *exchange, rung_error *err);
/* Appends the usable reply with this hash to `reply`; *http stays 0 if there is none. */
rung_status rung_store_exchange_find(rung_buf *reply, int64_t *http, rung_store *store, const char *hash,
                                     rung_error *err);
rung_status rung_store_exchange_count(size_t *count, rung_store *store, rung_error *err);

/* One model asked one task in one way. */
typedef struct rung_probe_row {
    int64_t number;             /* in this store */
    const char *id;             /* half a SHA-256 of `canonical`, like the id of a run */
    const char *canonical;      /* everything that affects which questions are asked, as JSON */
    const char *source;         /* "probe", or the harness that a log comes from */
    const char *model, *server; /* server: root address, or the file of a log */
    const char *task;           /* name */
    double added;               /* seconds since 1970; filled in */
} rung_probe_row;

/* All answers to questions of one kind. Missing numbers are NaN, missing texts "". */
typedef struct rung_probe_cell {
    uint64_t place;        /* index within the probe */
    const char *mode;      /* "direct", "one-hop", "shuffled" or "thinking"; "log" for a log */
    const char *keys;      /* {"L": 2, "n": 16} */
    const char *canonical; /* the task with its parameters */
    uint64_t depth, facts; /* L and n; 0: the task has none */
    double chance;         /* accuracy of a random guess among the answers */
    double majority;       /* accuracy of the best guess that does not read the question */
    uint64_t asked,
        /* right: the first token ranks the right answer highest among the possible ones; for a log, its own score */
        right;
    uint64_t text_right;  /* right judged by the generated text */
    uint64_t off;         /* no possible answer among the likeliest tokens, or none named in the text */
    uint64_t cut;         /* the chain of thought did not end; counted in asked, never in right */
    double mass;          /* mean probability of the right answer */
    double prompt_tokens; /* mean number of tokens, as the server counts */
    const char *verdict;  /* verdict of the bounds for the given configuration; "" without one */
    const char *bound, *statement;
    double ceiling, margin;
} rung_probe_cell;

typedef struct rung_probe_answer {
    uint64_t cell;    /* index of its cell */
    uint64_t index;   /* index of the instance */
    const char *hash; /* of the exchange; "" if it came from a log */
    const char *wanted, *said;
    bool right, text_right, off, cut;
    double mass;
} rung_probe_answer;

/* The depth interval of a model; rung_depth in probe.h says what it means. */
typedef struct rung_probe_depth {
    const char *keys; /* the other keys of the grid: {"n": 16} */
    uint64_t facts;
    double threshold, confidence;
    uint64_t low, high, deepest; /* deepest: the largest depth of the grid */
    bool settled;                /* low = high */
} rung_probe_depth;

/* Adds the probe, or finds it by its id. */
rung_status rung_store_probe_put(int64_t *number, rung_store *store, const rung_probe_row *row, rung_error *err);
/* Replace what the store has. All answers enter in one transaction. */
rung_status rung_store_probe_cell_put(rung_store *store, int64_t probe, const rung_probe_cell *cell, rung_error *err);
rung_status rung_store_probe_answers_put(rung_store *store, int64_t probe, const rung_probe_answer *answers,
                                         size_t count, rung_error *err);
rung_status rung_store_probe_depth_put(rung_store *store, int64_t probe, const rung_probe_depth *depth,
                                       rung_error *err);
/* Texts are borrowed until the next row. A store of version 1 has no probes. `each` returns false to stop. */
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

/* ---- doing it -------------------------------------------------------------------------------------------------- */

/* Progress of a sweep. The threads that do the runs report it, at most ten times a second each. */
typedef struct rung_lab_progress {
    size_t total;           /* runs of this shard */
    size_t before;          /* those of them that were in the store at the start */
    size_t done, succeeded; /* done: since the start; succeeded: includes the runs that were in the store */
    size_t elsewhere;       /* claimed by other live processes */
    size_t index;           /* the run that this report is about */
    const rung_train_state *state;
    bool finished; /* this run is now in the store */
    double left_s; /* estimated seconds for the rest; NaN if unknown */
} rung_lab_progress;

typedef struct rung_lab_options {
    size_t jobs;           /* runs at the same time; 0: processors / threads */
    size_t threads;        /* per run; 0: 1 */
    size_t shard, shards;  /* takes the runs whose index is shard modulo shards; shards 0: all runs */
    const rung_team *team; /* NULL: alone; otherwise all ranks call rung_lab_sweep */
    double wait_s;
    double cost_s;             /* estimated seconds for all remaining runs, from rung_lab_estimate; 0: unknown */
    bool (*go)(void *context); /* return false to stop with checkpoints; may be NULL; called from several threads */
    void (*on_progress)(void *context, const rung_lab_progress *progress); /* may be NULL; one call at a time */
    void *context;
} rung_lab_options;

typedef struct rung_lab_sum {
    size_t total, before, done, succeeded, diverged, elsewhere, left;
    bool stopped; /* by go() */
} rung_lab_sum;

/* Does all runs of the shard that are neither in the store nor claimed by a live process. First merges the stores that
 * ranks of an earlier sweep left behind (STORE.rank1, ...). In a team rank 0 hands out the runs and has all of them in
 * its store at the end. The other ranks return an empty sum, and succeed unless rank 0 fails. */
rung_status rung_lab_sweep(rung_lab_sum *sum, const rung_sweep *sweep, const char *store, const rung_lab_options *conf,
                           rung_error *err);

/* Only merges the stores that ranks left behind, except those of live ranks. For readers of the store. */
rung_status rung_store_adopt(rung_store *store, rung_error *err);

/* Does one run: claims it, trains it, stores it. For callers that hand out the work themselves. */
typedef enum rung_lab_did {
    RUNG_LAB_DONE = 1,  /* now in the store */
    RUNG_LAB_WAS_DONE,  /* was in the store before */
    RUNG_LAB_ELSEWHERE, /* claimed by another live process */
    RUNG_LAB_STOPPED,   /* go() returned false; a checkpoint exists */
} rung_lab_did;
rung_status rung_lab_run(rung_lab_did *did, rung_store *store, const rung_sweep *sweep, size_t index,
                         const rung_lab_options *conf, rung_error *err);
/* Writes spec and plan into the store. rung_lab_sweep calls it. */
rung_status rung_store_plan(rung_store *store, const rung_sweep *sweep, rung_error *err);

/* Upper estimate of the seconds that the missing runs of the shard take on one thread; `store` may be NULL. Times a few
 * steps of every kind of run (same layers, sizes and task) and so finds out whether they can be trained at all. Kinds
 * that do not fit into budget_s count as the mean of the others. */
typedef struct rung_lab_cost {
    size_t runs, done, kinds, measured;
    double seconds;
} rung_lab_cost;
rung_status rung_lab_estimate(rung_lab_cost *cost, const rung_sweep *sweep, rung_store *store,
                              const rung_lab_options *conf, double budget_s, rung_error *err);

/* ---- export -------------------------------------------------------------------------------------------------------
 *
 * Rows of stores in the formats of other programs. */

/* The number of the last sweep of this name: a spec that was changed is another sweep. NULL: 0, which stands for all
 * runs. */
rung_status rung_store_find_sweep(int64_t *number, rung_store *store, const char *name, rung_error *err);
/* Puts the certificate at `path` beside the run whose model has this SHA-256, so the store must have kept that
 * ("keep-models": true). rung report shows it in the cell of the run. */
rung_status rung_store_attach_certificate(const char *store, const char *sha256, const char *path, rung_error *err);

typedef enum rung_export_format { RUNG_EXPORT_CSV = 1, RUNG_EXPORT_JSONL } rung_export_format;

typedef struct rung_store_export {
    rung_store *store; /* the one at work */
    int64_t sweep;     /* in it; 0: all runs */
    rung_export_format format;
    bool metrics;
    const char *directory;                                                             /* of events or models */
    char run[RUNG_RUN_ID];                                                             /* whose model is at work */
    rung_status (*put)(void *context, const void *bytes, size_t len, rung_error *err); /* lines go there */
    void *context;
    bool (*interrupted)(void); /* NULL: never */
    rung_buf text;             /* not written yet */
    char **key;                /* columns of keys that occur, CSV */
    size_t keys, room;
    uint64_t seen[64]; /* kinds of runs whose keys are known */
    size_t seens;
    rung_arena arena;
    size_t runs;
    const rung_probe_row *probe; /* at work */
    rung_status status;
    rung_error *err;
} rung_store_export;

void rung_store_export_init(rung_store_export *x);
void rung_store_export_clear(rung_store_export *x);
/* Collects the keys of the store at work; head and rows come after all stores have been asked. */
rung_status rung_store_export_columns(rung_store_export *x, rung_error *err);
rung_status rung_store_export_head(rung_store_export *x, rung_error *err);
rung_status rung_store_export_rows(rung_store_export *x, rung_error *err);
rung_status rung_store_export_flush(rung_store_export *x, rung_error *err);
/* The cells of probes instead of runs; CSV begins with rung_store_export_cell_head. */
void rung_store_export_cell_head(rung_store_export *x);
rung_status rung_store_export_cells(rung_store_export *x, rung_error *err);
rung_status rung_store_export_events(rung_store_export *x, rung_error *err);
/* Models that were kept, as ID.safetensors; x->runs counts them. */
rung_status rung_store_export_models(rung_store_export *x, rung_error *err);

rung_part rung_part_sqlite(void);

RUNG_API_END

#endif
