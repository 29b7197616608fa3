/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table of results: rows are architectures, columns are tasks, and a cell holds a verdict that was reached here:
 * CANNOT by a theorem whose inequality holds at these sizes, with a certificate of one model that fails; CAN by
 * weights that were built and checked; UNKNOWN otherwise. Beside it stands what such layers have learned, where they
 * were trained. Layer 10: depends on report, lab, decide, audit and below.
 */
#ifndef RUNG_TABLE_H
#define RUNG_TABLE_H

#include "rung/bound.h"
#include "rung/build.h"
#include "rung/report.h"
#include "rung/verify.h"

RUNG_API_BEGIN

#define RUNG_TABLE_ROWS    15
#define RUNG_TABLE_COLS    4
#define RUNG_TABLE_SEQCOMP 2  /* the column whose number of functions L varies */
#define RUNG_TABLE_TRAINED 3  /* L of L-SeqComp that are trained, at most */
#define RUNG_TABLE_LAYERS  17 /* rows of the question how deep: those of the table, then more full layers */
#define RUNG_TABLE_DEPTH   4  /* L of that question, at most */

/* Runs of one architecture that differ in their seed only, at the rate that their evaluations chose. */
typedef struct rung_table_trained {
    char arch[96], task[256], version[32], seeds[200];
    size_t d_model, heads, dk, dv, steps, runs, succeeded;
    size_t thoughts; /* that the models write before they answer */
    size_t settings; /* rates, of which one was chosen */
    double rate, chance;
    rung_estimate accuracy; /* of the test after training, over seeds */
    char test_numbers[32];  /* of the evaluator that measured it, as in rung_run_row */
    /* What theory says of these layers with these sizes in exact arithmetic of the bits of test_numbers, at most 32. */
    size_t tokens;
    rung_verdict verdict; /* CANNOT or UNKNOWN */
    bool spoken;          /* it speaks of the evaluator that measured */
    double ceiling;       /* NaN: none, or it is not about this evaluator */
    char bound[32];
    /* A prompt, or a pair, on which the model of one of these runs fails; rung-check accepted it when the summary was
     * made. NULL: none. */
    char *cert;
    uint64_t cert_seed;
    char cert_kind[20], cert_numbers[16];
    char cert_file[200]; /* where rung_table_read_trained or rung_table_train has put it; "": nowhere */
} rung_table_trained;

typedef struct rung_table_cell {
    size_t tokens; /* of a prompt */
    rung_verdict verdict;
    bool proved;       /* CAN for every prompt, by the worst case */
    uint64_t prompts;  /* CAN on a sample of so many */
    char model[128];   /* file of the weights, CAN */
    char arch[160];    /* their layers */
    char command[160]; /* that builds them */
    char bound[16];    /* id of the theorem, CANNOT */
    char statement[384];
    bool trivial;
    double lhs, rhs;
    char proof[160];    /* file for coqc; "": not asked for, or Coq has no such theorem */
    char on_paper[256]; /* why Coq has none; "": it has */
    char cert[160],
        cert_model[200]; /* files of a model that fails and its certificate, which rung-check has accepted; "" if no
                                        attack found one */
    char cert_kind[20], cert_numbers[16], cert_attack[20], cert_how[400];
    char nearest[200];                 /* UNKNOWN: what comes closest, or why nothing applies */
    const rung_table_trained *trained; /* NULL: no run. Of L-SeqComp that of L = 2 */
} rung_table_cell;

/* How many functions these layers compose: L = 1 to RUNG_TABLE_DEPTH. Both halves may hold, at different lengths of the
 * prompt and sizes of the heads. */
typedef struct rung_table_depth {
    bool cannot;        /* a theorem refutes the layers with small heads, from `tokens` on */
    double tokens;      /* prompt length, rounded up; infinite: above 2^1023 */
    double log2_tokens; /* where `tokens` is not exact, else 0 */
    char bound[16], statement[384], nearest[200];
    rung_verdict can; /* CAN or SAMPLED by weights in heads as large as they need; UNKNOWN: none are known */
    bool proved;
    uint64_t prompts;
    size_t can_tokens; /* of the prompts that they solve */
    char build[96], arch[160];
    const rung_table_trained *trained; /* NULL: no run */
} rung_table_depth;

/* What is idle in a larger architecture still solves the task: weights for `full` are weights for `3*full`. */
typedef struct rung_table_row {
    const char *title, *arch;
    const char *brief;                  /* the title in at most 12 letters */
    bool thinks;                        /* thoughts follow the prompt: each is a receiver that no theorem counts */
    const char *build[RUNG_TABLE_COLS]; /* construction and parameters; NULL: none is known */
    const char *claim[RUNG_TABLE_COLS]; /* what the paper states of the width Hdp, or NULL */
    const char *task[RUNG_TABLE_COLS]; /* a larger instance than that of the column, which the theorem needs; or NULL */
    const char *deep[RUNG_TABLE_DEPTH]; /* construction for L = 1, 2, ...; NULL: none is known */
} rung_table_row;

typedef struct rung_table_col {
    const char *title, *task;
    const char *symbol; /* what the paper calls it */
} rung_table_col;

typedef struct rung_table {
    rung_fmt fmt;
    rung_task_conf task[RUNG_TABLE_COLS];
    rung_table_cell cell[RUNG_TABLE_ROWS][RUNG_TABLE_COLS];
    rung_table_depth depth[RUNG_TABLE_LAYERS][RUNG_TABLE_DEPTH]; /* [row][L - 1] */
    bool deep;                                                   /* it was asked how deep */
    rung_table_trained *trained;
    size_t trained_count;
    char spec[40];  /* of the sweep: digits of the SHA-256 */
    double success; /* test accuracy from which a run of it counts as a success */
    bool quick;     /* trained just now */
    bool shipped;   /* the summary that is part of this program */
    bool proofs;    /* write files for coqc */
} rung_table;

extern const rung_table_row rung_table_rows[RUNG_TABLE_LAYERS];
extern const rung_table_col rung_table_cols[RUNG_TABLE_COLS];

/* How the table is made. */
typedef struct rung_table_options {
    const char *directory; /* for models and certificates; it exists */
    uint64_t samples;      /* prompts of a sample, where there is no proof */
    size_t threads;
    uint64_t seed;
    bool certificates;         /* also break a model for each CANNOT, and have rung-check confirm it */
    rung_progress *progress;   /* NULL: none; restarted with what is being done */
    bool (*interrupted)(void); /* NULL: never; polled while models are trained */
} rung_table_options;

/* An empty table in this number format. Clear it also when this fails. */
rung_status rung_table_init(rung_table *table, const char *numbers, rung_error *err);
void rung_table_clear(rung_table *table);

/* Trained accuracies from an answer of rung report --json; NULL: from the one that is part of this program. Its
 * certificates become files of `directory`. An interval above a proved ceiling is RUNG_SYSTEM, if the exact evaluator
 * has measured it; two widths in one column are RUNG_INPUT. */
rung_status rung_table_read_trained(rung_table *table, const char *path, const char *directory, rung_error *err);
/* The same from a small sweep that is done now, into a store in the directory. */
rung_status rung_table_train(rung_table *table, const rung_table_options *conf, rung_error *err);
/* Decides every cell. */
rung_status rung_table_fill(rung_table *table, const rung_table_options *conf, rung_error *err);

/* How many functions the layers compose, for every row and L. A second or two for each L above 2. */
rung_status rung_table_dive(rung_table *table, const rung_table_options *conf, rung_error *err);

/* The one size at which all rows of a column were trained; a summary with two of them is refused. */
typedef struct rung_table_sizes {
    size_t runs; /* cells with a run; 0: the rest is not set */
    size_t d_model, heads, dk, dv;
    size_t tokens[RUNG_TABLE_TRAINED]; /* of L-SeqComp [L - 1], else [0]; 0: no run */
} rung_table_sizes;
rung_table_sizes rung_table_width(const rung_table *table, size_t col);
/* NULL: no run. L counts for L-SeqComp only. */
const rung_table_trained *rung_table_run(const rung_table *table, size_t row, size_t col, size_t L);

/* What a trained accuracy says beside the verdict of its cell. */
typedef enum rung_table_lesson {
    RUNG_TABLE_LEARNT = 1,  /* the mean reaches the success that the spec declares */
    RUNG_TABLE_NOT_LEARNT,  /* weights exist, and training did not find them */
    RUNG_TABLE_CEILING,     /* no weights of these layers are right on more than `ceiling` at the trained size */
    RUNG_TABLE_NOT_ALWAYS,  /* none are always right at the trained size; no ceiling is known */
    RUNG_TABLE_NOTHING_SAID /* no theorem forbids the trained size, and no weights are known */
} rung_table_lesson;
rung_table_lesson rung_table_learnt(const rung_table *table, const rung_table_trained *trained, rung_verdict verdict);

/* One self-contained page, no network. It holds the certificates of `directory` and their models, and checks them where scripts run. */
void rung_table_page(rung_buf *out, const rung_table *table, const char *directory);
/* One JSON object, rung.table/4. */
void rung_table_json(rung_buf *out, const rung_table *table);

RUNG_API_END

#endif
