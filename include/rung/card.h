/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * card: what a designer or an operator of a model decides with, on one page. What its layers hold at a context, read
 * for every decoded token, and save against dense attention; what they provably can and cannot do, with the evidence;
 * and the same for layers that are changed in one respect. A card is a record. Text, JSON, HTML and SVG are renderings
 * of it. Every number says whether it is of one layer or of all, of one sequence or of the batch, and its unit.
 * Layer 8.
 */
#ifndef RUNG_CARD_H
#define RUNG_CARD_H

#include "rung/claim.h"
#include "rung/decide.h"
#include "rung/num.h"
#include "rung/recall.h"
#include "rung/render.h"

RUNG_API_BEGIN

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* How many bits one number has, and who says so. */
typedef struct rung_card_numbers {
    int kv_bits;                      /* of keys, values, keys of indexers, and inputs that a convolution keeps */
    int state_bits;                   /* of recurrent states */
    const char *kv_from, *state_from; /* "the file", "the published code", "asked for", "assumed" */
} rung_card_numbers;

/* Bytes. Sums saturate at UINT64_MAX. */
typedef struct rung_card_bytes {
    uint64_t cache;  /* keys and values of layers that keep every token */
    uint64_t index;  /* keys of the indexers of sparse layers */
    uint64_t window; /* keys and values of windows and chunks */
    uint64_t state;  /* recurrent states */
    uint64_t conv;   /* inputs that convolutions keep */
    uint64_t total;
} rung_card_bytes;

/* What one layer holds of one sequence of so many tokens. Of log-linear attention it is the most that it holds at any
 * token up to there. */
rung_card_bytes rung_card_held(const rung_ledger_layer *layer, uint64_t tokens, const rung_card_numbers *numbers);
/* What one layer reads to decode the token behind so many. Weights are not counted. Of layers that select it is what
 * they open, and what they select by. */
rung_card_bytes rung_card_read(const rung_ledger_layer *layer, uint64_t tokens, const rung_card_numbers *numbers);
/* The sums over all layers. */
rung_card_bytes rung_card_held_by(const rung_ledger *ledger, uint64_t tokens, const rung_card_numbers *numbers);
rung_card_bytes rung_card_read_by(const rung_ledger *ledger, uint64_t tokens, const rung_card_numbers *numbers);

/* The most tokens of which `sequences` sequences fit into so many bytes; UINT64_MAX: nothing grows. */
uint64_t rung_card_tokens_in(uint64_t bytes, uint64_t sequences, const rung_ledger *ledger,
                             const rung_card_numbers *numbers);
/* The length from which on `a` never holds more than `b`; 0: there is none. */
uint64_t rung_card_break_even(const rung_ledger *a, const rung_ledger *b, const rung_card_numbers *numbers);

/* "3.22 GB (3.00 GiB)", and "3.22 GB" */
void rung_card_put_bytes(rung_buf *out, uint64_t bytes);
void rung_card_put_bytes_short(rung_buf *out, uint64_t bytes);

/* ---- other layers ------------------------------------------------------------------------------------------------ */

/* The layers of `from` with one change, as a subject of its own:
 *   ratio=R:F         R layers that do not grow, then F full ones, over and over; as many layers as before
 *   window=W          every window has W tokens
 *   NAME=full         every layer of this mechanism becomes a full one of the model's attention sizes
 *   NAME=window:W     likewise a window
 *   NAME=OTHER        another recurrent mechanism, with a state of the same size; OTHER:N has N elements
 *   dense             every layer that does not grow becomes a full one
 *   recurrent         every full layer becomes what the most frequent other layer is
 * RUNG_USAGE, with what to try, for a change that the layers do not allow. `from` must outlive it. */
rung_status rung_card_variant(rung_subject **out, const rung_subject *from, const char *change, rung_error *err);

/* ---- engines ----------------------------------------------------------------------------------------------------- */

/* What a server reserves, where its rule was read. */
typedef struct rung_engine {
    const char *name;   /* "vllm" */
    const char *rule;   /* one sentence */
    const char *source; /* the repository, the commit and the file in which it stands */
    /* Bytes that `sequences` sequences of so many tokens reserve. False, with `why`, if the rule does not cover these
     * layers. */
    bool (*reserves)(uint64_t *bytes, const char **why, const rung_ledger *ledger, uint64_t tokens, uint64_t sequences,
                     const rung_card_numbers *numbers);
} rung_engine;

size_t rung_engine_count(void);
const rung_engine *rung_engine_at(size_t index);
const rung_engine *rung_engine_get(const char *name);
const char *rung_engine_name_at(size_t index); /* NULL past the end */

/* ---- abilities --------------------------------------------------------------------------------------------------- */

/* One verdict of rung_decide, kept. */
typedef struct rung_card_verdict {
    rung_verdict verdict; /* 0: not asked */
    rung_basis basis;
    const char *by;        /* the theorem, or the construction */
    const char *task;      /* canonical text; what was asked for if the size is free */
    bool any_size;         /* it is about some size with at most `tokens` tokens, else about exactly this one */
    uint64_t tokens;       /* of the prompt, or the most that it may have */
    const char *statement; /* what was shown, with its numbers; for UNKNOWN why */
    const char *about;     /* the arithmetic */
    bool trivial;          /* it separates no mechanism from another */
} rung_card_verdict;

typedef enum rung_ability_kind {
    RUNG_ABILITY_LOOKUP = 0,  /* eva: a table of entries, then the place of one */
    RUNG_ABILITY_COMPOSITION, /* seqcomp: functions in sequence */
    RUNG_ABILITY_TWO_SUM,     /* two-sum form=query */
    RUNG_ABILITY_EACH,        /* two-sum form=position: asked at every number, before later ones are read */
    RUNG_ABILITIES,
} rung_ability_kind;
extern const char *const rung_ability_names[]; /* [kind] */

/* CAN at one size, CANNOT from another one on, and UNKNOWN elsewhere. */
typedef struct rung_card_ability {
    const char *unit;         /* what sizes count: "entries", "functions", "numbers" */
    uint64_t can_at;          /* the largest size with CAN that was looked for; 0: none */
    uint64_t cannot_from;     /* every size from here on, or up to asked_up_to if that is not 0; 0: none */
    uint64_t asked_up_to;     /* the largest size that was asked, where larger ones do not follow; 0: they follow */
    rung_card_verdict can;    /* the evidence for can_at */
    rung_card_verdict cannot; /* the evidence for cannot_from */
    const char *otherwise;    /* why other sizes are UNKNOWN; "" if none is */
} rung_card_ability;

/* The measured law of recall (rung/recall.h), with the predictions that several cards share. Several threads may use
 * one. */
typedef struct rung_card_law rung_card_law;
rung_status rung_card_law_new(rung_card_law **out, rung_error *err);
void rung_card_law_free(rung_card_law *law);

/* The tables that the law is asked about. */
enum { RUNG_CARD_LAW_VALUES = 32 };
#define RUNG_CARD_LAW_ACCURACY 0.9

/* What the layers with a state remember, if the full ones are taken away. */
typedef struct rung_card_recall {
    size_t layers;       /* with a state; 0: none, and then nothing else is filled in */
    uint64_t state_bits; /* of all of them, as theorem A counts them */
    /* The least number of entries of a table, each of as many values as there are entries, of which it is proved that
     * no weights of these layers alone recall all; 0: none, and `proved` says why */
    uint64_t limit;
    rung_card_verdict proved;
    /* Measured, not proved: how many entries one layer of the most frequent sort looks up after training */
    bool asked_law;            /* a law was given */
    const char *law_mechanism; /* of that layer */
    rung_recall_state law_state;
    rung_recall_answer measured; /* measured.no_law says why there is none */
} rung_card_recall;

/* ---- cards ------------------------------------------------------------------------------------------------------- */

typedef struct rung_card_options {
    uint64_t context;          /* tokens of one sequence; 0: what the file states, else RUNG_CARD_CONTEXT */
    uint64_t batch;            /* sequences at once; 0: 1 */
    const rung_fmt *kv;        /* format of caches; NULL: what the file says, else bf16 */
    const rung_fmt *state;     /* format of states; NULL: what the file or its family says, else that of caches */
    uint64_t budget;           /* bytes for what layers hold, without weights; 0: none */
    const rung_engine *engine; /* NULL: nothing is said of what a server reserves */
    bool memory_only;          /* leave the abilities out */
    uint64_t lookup_entries;   /* entries of the largest table that weights are looked for; 0: 64 */
    /* proofs about weights that several cards share; NULL: this card has its own */
    rung_lookup_proofs *proofs;
    rung_card_law *law; /* NULL: no measured law is shown */
} rung_card_options;

#define RUNG_CARD_CONTEXT UINT64_C(131072)

/* Layers that hold the same. */
typedef struct rung_card_kind {
    const char *mechanism;
    const rung_ledger_layer *layer; /* one of them */
    size_t count;
    rung_card_bytes held; /* one sequence, all of these layers together */
    rung_card_bytes read; /* for one decoded token, all of these layers together */
} rung_card_kind;

/* A variant of the same model that the card is held against. */
typedef struct rung_card_baseline {
    bool exists;
    const char *why;      /* it does not exist: why */
    const char *order;    /* of its layers */
    rung_card_bytes held; /* one sequence */
    rung_card_bytes read;
    uint64_t growth; /* bytes per token, all layers */
} rung_card_baseline;

typedef struct rung_card {
    const char *name;   /* file or arch text, and the changes */
    const char *family; /* "" if none */
    const char *order;  /* "12*(3*gdelta,full)" */
    const rung_ledger *ledger;
    rung_ledger_sum layers;
    uint64_t context, batch;
    bool context_from_file;
    rung_card_numbers numbers;

    rung_card_bytes held; /* one sequence of `context` tokens, all layers */
    rung_card_bytes read; /* for one decoded token, all layers */
    uint64_t growth;      /* bytes that all caches gain per token at the context; windows that are full gain nothing */
    uint64_t batch_held;  /* bytes of the whole batch */
    rung_card_kind *kind;
    size_t kinds;

    rung_card_baseline dense;     /* every layer that does not grow replaced by a full one of the model's sizes */
    rung_card_baseline recurrent; /* every full layer replaced by the most frequent other one */
    uint64_t break_even;          /* tokens from which on it holds no more than `dense`; 0: never, or no such variant */

    uint64_t budget;           /* bytes; 0: none was given */
    uint64_t budget_tokens;    /* per sequence, for the whole batch in the budget; UINT64_MAX: nothing grows */
    uint64_t budget_sequences; /* of `context` tokens */

    const rung_engine *engine; /* NULL: none was named */
    bool has_reserved;
    uint64_t reserved;        /* bytes of the whole batch */
    const char *reserved_why; /* has_reserved is false: why */

    bool has_abilities;
    const char *about; /* the arithmetic that theorems speak of; that of weights is in their evidence */
    rung_card_ability ability[RUNG_ABILITIES];
    rung_card_recall recall;
    uint64_t reach; /* tokens back that windows alone can see, all window layers together; 0: no windows */
    size_t reach_layers;

    const char **note; /* of the ledger, and of the card */
    size_t notes;
    rung_arena arena;
} rung_card;

/* Fills a card. The subject must outlive it. Clear it also when this fails. */
rung_status rung_card_make(rung_card *card, const rung_subject *subject, const char *name,
                           const rung_card_options *options, rung_error *err);
void rung_card_clear(rung_card *card);

/* Members of an object. */
void rung_card_json(rung_jout *out, const rung_card *card);
/* One JSON document, rung.card/1, with one entry of "cards" per card. */
void rung_cards_json(rung_buf *out, const rung_card *cards, size_t count);
/* One HTML page that stands alone, without scripts. */
void rung_cards_html(rung_buf *out, const rung_card *cards, size_t count);

RUNG_API_END

#endif
