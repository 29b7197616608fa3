/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * bound: what an architecture provably cannot do. The layers of a claim (claim.h) become a pattern of full and
 * recurrent layers with their bits. Each bound is one registry row: a theorem that lists the premises it needs, and an
 * inequality that is evaluated with the numbers of the claim and certified (num.h), never decided by a rounded double.
 * A row is refused before it is asked unless all its premises are established. docs/theory.md states and proves every
 * row. An inequality that does not hold says nothing: the verdict is then UNKNOWN, never CAN. Layer 6.
 */
#ifndef RUNG_BOUND_H
#define RUNG_BOUND_H

#include "rung/base.h"
#include "rung/claim.h"
#include "rung/render.h"

RUNG_API_BEGIN

/* ---- the layers as the theorems see them ----------------------------------------------------------------------- */

#define RUNG_PATTERN_FULL_MAX 64

/* R^{r_0} F R^{r_1} F ... F R^{r_F}: bits, not layers. An F may have recurrent heads beside its full ones. Layers
 * without token mixing are left out. */
typedef struct rung_pattern {
    size_t full;      /* F, layers with full heads */
    size_t recurrent; /* layers with a state: R, and F with recurrent heads beside */
    uint64_t state[RUNG_PATTERN_FULL_MAX +
                   1]; /* [i]: sum of the bits of the R layers before the first F, ..., after the last F */
    size_t layers[RUNG_PATTERN_FULL_MAX + 1]; /* [i]: number of those layers */
    uint64_t beside[RUNG_PATTERN_FULL_MAX];   /* [i]: bits of the recurrent heads beside the full ones of layer F i+1 */
    bool has_beside[RUNG_PATTERN_FULL_MAX];   /* [i]: there are such heads */
    uint64_t message;                         /* c: bits of the largest full layer's accumulator */
    uint64_t all_state;                       /* sum of state[] and beside[] */
    uint64_t level[RUNG_PATTERN_FULL_MAX + 1]; /* [i]: of these layers, bits of one level of the log-linear ones */
    uint64_t levels_state;                     /* bits of one level, all log-linear layers together (not in state[]) */
    bool headwise;                             /* some layer is full and recurrent at once: its heads differ */
    bool sparse;                               /* some layer selects blocks, or tokens in a way that is no scan */
    size_t top;                                /* how many of the full ones select single tokens instead */
    bool chunk;    /* some layer is chunked: it counts as recurrent, and its cache as its state */
    bool overflow; /* a number does not fit into 63 bits: nothing may be concluded */
    bool too_many; /* more full layers than the array holds: only statements about F are valid */
} rung_pattern;

rung_pattern rung_pattern_of(const rung_ledger *ledger, const rung_arithmetic *arithmetic);

/* One layer of the pattern, in bits. A layer of the ledger is none (it mixes no tokens), one or two (a convolution
 * in front). */
typedef struct rung_spec {
    bool full, recurrent, sparse; /* full and recurrent: side by side */
    bool top;                     /* full: it selects single tokens, and the message is its list of them */
    uint64_t state;               /* carried past a position, log-linear states apart */
    uint64_t level;               /* of log-linear attention: one level */
    uint64_t message;             /* accumulator of a full layer */
} rung_spec;
/* From the first layer to the last; `specs` has room for two per layer of the ledger. The pattern is their sum. */
size_t rung_specs_of(rung_spec *specs, const rung_ledger *ledger, const rung_arithmetic *arithmetic, bool *overflow);

/* The bits that one layer carries over a cut of the prompt. */
typedef struct rung_layer_bits {
    uint64_t carried; /* state, convolution and window; for log-linear attention one level */
    uint64_t message; /* accumulator of a full layer; 0 for other layers */
} rung_layer_bits;
rung_layer_bits rung_layer_bits_of(const rung_ledger_layer *held, const rung_arithmetic *arithmetic);

/* All layers of a claim together. */
typedef struct rung_ledger_view {
    rung_ledger_sum sum;
    uint64_t carried_bits, message_bits;                 /* sums over all layers; UINT64_MAX: more than fits */
    uint64_t largest_carried_bits, largest_message_bits; /* of the layer with the most */
    bool levels;                                         /* some layer has log-linear attention: one level of it */
    uint64_t caches;                                     /* layers with a cache that grows */
    uint64_t growth_bits;                                /* that all caches and indexers gain per token */
} rung_ledger_view;
rung_ledger_view rung_ledger_view_of(const rung_claim *claim);

/* Layers that hold the same. */
typedef struct rung_ledger_kind {
    size_t first, count; /* the first of them, and how many there are */
} rung_ledger_kind;
/* Fills `out` in the order of the first layers. More kinds than `most`: returns most + 1. */
size_t rung_ledger_kinds(rung_ledger_kind *out, size_t most, const rung_ledger *ledger);

/* Elements of its recurrent state; UINT64_MAX: more than fits. */
uint64_t rung_held_state(const rung_ledger_layer *held);
/* The mechanism of a layer, "mlp" where it has none. */
const char *rung_held_mechanism(const rung_ledger_layer *held);
/* "12*(3*gdelta,full)": mechanisms in order, repetitions counted. */
void rung_ledger_order(rung_buf *out, const rung_ledger *ledger);
/* "48 layers: 12 full, 36 recurrent" */
void rung_ledger_counts(rung_buf *out, const rung_ledger_sum *sum);
void rung_ledger_counts_json(rung_jout *out, const rung_ledger_sum *sum); /* the same, as the object "layers" */
/* Members of an object: input, arithmetic, premises, layers, ledger, per_layer, notes. */
void rung_ledger_json(rung_jout *out, const rung_claim *claim, const char *name);

typedef struct rung_ledger_shown {
    const rung_claim *claim;
    const char *name;
    bool order;      /* say in which order the layers are: the name does not */
    uint64_t tokens; /* the length at which caches are drawn; the same for all */
} rung_ledger_shown;
/* One panel per claim, a bar for each layer. Above the line the bytes that it holds: a solid bar for what stays the same
 * size, a light one for a cache that grows, on a solid foot for one token. Below the line what crosses a position:
 * states and windows, and of a full layer what it hands to a token. All panels have the same logarithmic scale. */
void rung_ledger_svg(rung_buf *out, const rung_ledger_shown *claims, size_t count);

/* Prints "R^2 F F|R R" for people; F|R has full and recurrent heads. */
void rung_pattern_print(rung_buf *out, const rung_pattern *pattern);

/* ---- answers --------------------------------------------------------------------------------------------------- */

/* The instance of a theorem that was decided: sizes of the task, and what the proof chooses. Whole numbers; 0 where
 * the theorem has no such number. */
typedef struct rung_bound_point {
    bool known;                     /* all numbers fit */
    bool free;                      /* the proof chose the sizes of the task too */
    uint64_t N0, n, V;              /* composition: N_0, n_{L-1}, V. A table: n entries with V values */
    uint64_t x0, x1;                /* B0 */
    uint64_t t, q, g, x, beta, G;   /* B, C0, Ce */
    uint64_t prefix, a, b;          /* cut: tokens before it, and the numbers of the count */
    int count;                      /* cut: its kind */
    uint64_t kappa, opened, blocks; /* sparse, SP: bits of a summary, blocks opened, m */
    uint64_t block, M, least;       /* sparse: B, M, u' */
    uint64_t heard, state, near;    /* SP: bits that a token hears, of states, and blocks that the query sees anyway */
    size_t steps;                   /* K1 with two thoughts or more: functions after z_1 and before the last */
    struct {
        uint64_t x, q;
        double y; /* of Lemma S' */
    } step[4];
} rung_bound_point;

typedef struct rung_bound_answer {
    const struct rung_bound *bound;
    /* all premises are established and the theorem covers these layers; otherwise `premise` says why not */
    bool applies;
    int missing;          /* the first premise (rung_premise) that is not established; -1: all are */
    char premise[256];    /* what is assumed, or what is missing */
    char statement[384];  /* the inequality with the numbers filled in, and the values of its free parameters */
    double lhs, rhs;      /* CANNOT needs lhs > rhs; lhs rounded down, rhs rounded up */
    bool holds;           /* lhs > rhs is certain */
    const char *trivial;  /* why it separates no mechanism from another; NULL: it is not trivial */
    rung_verdict verdict; /* CANNOT or UNKNOWN */
    double margin;        /* lhs / rhs */
    double n_threshold;   /* smallest n for which a proof was found; 0: none, or not searched. Above 2^53 use log2_n */
    double log2_n;        /* log2 of the threshold if it is too large for a double to be exact, else 0 */
    bool exact;           /* an exhaustive search shows that the threshold is the minimum of this inequality */
    double ceiling;       /* mean accuracy over prompts that no weights exceed; 0: none */
    const char *ceiling_over; /* the distribution of these prompts; NULL: the prompts that the task draws */
    rung_bound_point point;   /* of the inequality that `holds` is about */
} rung_bound_answer;

struct bound_question; /* src/bound/bound_rows.h */

#define RUNG_COVERS(kernel) (1u << (kernel))

typedef struct rung_bound {
    const char *id;      /* "A", "B0", "published-hybrid" */
    const char *summary; /* one line */
    const char *task;    /* tasks that it covers, separated by spaces */
    const char *source;  /* the publication, or "ours" */
    const char *checked; /* "proof checked by search at small sizes", "proof on paper only", "published" */
    const char *section; /* its section in docs/theory.md */
    /* premises that the proof uses, as RUNG_NEEDS bits; the row is asked only if all of them are established */
    unsigned needs;
    /* Kernels that the proof covers besides the left-to-right scan of RUNG_KERNEL_ONLINE, as RUNG_COVERS bits. Only for
     * rows that need RUNG_PREMISE_ORDER; the others do not depend on the order of sums. */
    unsigned kernels;
    /* The proof uses of a state only that it is a function of the prefix, of so many bits. Log-linear layers then count with
     * all the levels that they can have within the prompt. */
    bool levels_are_states;
    /* Fills in everything but bound, verdict and margin. */
    rung_status (*evaluate)(rung_bound_answer *answer, const struct bound_question *q, const rung_pattern *p,
                            rung_error *err);
} rung_bound;

/* Whether the row may be asked about claims with this kernel. */
bool rung_bound_covers(const rung_bound *bound, rung_kernel kernel);

size_t rung_bound_count(void);
const rung_bound *rung_bound_at(size_t index);
const rung_bound *rung_bound_get(const char *id);

#define RUNG_BOUND_MAX 32

/* The answers of every row that covers the task. The verdict is CANNOT if one of them holds; `trivial` is set if only
 * trivial ones hold. */
typedef struct rung_bound_report {
    rung_pattern pattern;
    rung_bound_answer answer[RUNG_BOUND_MAX];
    size_t count;
    rung_verdict verdict;
    const char *trivial; /* the verdict is CANNOT by trivial rows only, and why */
} rung_bound_report;

/* What the theorems say of the claim, which must have a task. With `thresholds` it also searches the smallest n for
 * which each would hold, which costs time. Callers outside of this library call rung_decide. */
rung_status rung_bound_answers(rung_bound_report *report, const rung_claim *claim, bool thresholds, rung_error *err);

/* The row that decides. If the verdict is CANNOT, a row that holds, preferably not a trivial one; otherwise the
 * applicable row with the largest margin. NULL: no row applies. */
const rung_bound_answer *rung_bound_decisive(const rung_bound_report *report);
/* The lowest ceiling over the prompts that the task draws; 0: none. It may come from another row than the decisive
 * one. */
double rung_bound_ceiling(const rung_bound_report *report);

/* ---- the published theorem with its numbers ---------------------------------------------------------------------- */

#define RUNG_PUBLISHED_MAX 10

/* The parameters of the proof of Ye et al. 2026, Theorem B.2, for the layers of a claim, as logarithms to base 2. Indices
 * are those of the paper. */
typedef struct rung_published {
    bool applies; /* the theorem covers the layers; otherwise `why` says why not */
    char why[160];
    size_t L;
    uint64_t width;                                 /* H d p */
    uint64_t state[RUNG_PUBLISHED_MAX + 1];         /* [k]: bits of the recurrent layers after the k-th full one */
    double log2_K, log2_m, log2_tokens;             /* rounded up */
    double log2_n[RUNG_PUBLISHED_MAX];              /* [1 .. L-1] */
    double log2_x[RUNG_PUBLISHED_MAX];              /* [0 .. L-1] */
    double log2_theta[RUNG_PUBLISHED_MAX];          /* [1 .. L-1] */
    double log2_log2_delta[RUNG_PUBLISHED_MAX + 1]; /* [2 .. L] */
    double slack[RUNG_PUBLISHED_MAX]; /* [1 .. L-1]: (12), log2 of right over left, rounded down; infinite: no states */
    double end_slack;                 /* log2 of n_{L-1} Theta_{L-1} log2 N_{L-1} over log2 Delta_L, rounded down */
    bool holds;                       /* (12) for all l, and the end, surely */
} rung_published;

/* The claim must be about seqcomp; otherwise RUNG_USAGE. */
rung_status rung_published_of(rung_published *out, const rung_claim *claim, rung_error *err);
/* A member "published". */
void rung_published_json(rung_jout *out, const rung_published *published);

/* ---- proofs that Coq checks ------------------------------------------------------------------------------------ */

/* A file for coqc, whose theorem is the claim (proofs/README.md has the form), or why there is none. */
typedef struct rung_proof {
    bool written;     /* `text` is the file */
    const char *file; /* of proofs/, where the theorem is proved: "TheoremB0.v"; NULL where it is not */
    char theorem[64]; /* its name there */
    char why[256];    /* not written: why */
    char checked[32]; /* who has checked it, "coqc 8.16.1"; "": nobody so far */
    rung_buf text;
} rung_proof;

/* The instance of `answer`, which is about the claim. Nothing is written unless the answer is CANNOT, Coq has the
 * theorem, and its own checker surely accepts the numbers. Clear the proof also when this fails. */
rung_status rung_proof_write(rung_proof *proof, const rung_claim *claim, const rung_bound_answer *answer,
                             rung_error *err);
void rung_proof_clear(rung_proof *proof);

RUNG_API_END

#endif
