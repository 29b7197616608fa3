/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the parts of the config reader share. A file is read in two steps: a spelling says what kind each layer is
 * (spelling.c), then sizes are looked up and turned into elements (attention.c, mixer.c, state_sizes.c). A failure sticks:
 * the first one is kept, and everything after it does nothing of consequence.
 */
#ifndef RUNG_CONFIG_READER_H
#define RUNG_CONFIG_READER_H

#include <string.h>

#include "rung/config.h"
#include "rung/io.h"

/* ---- kinds of layers ---- */

enum {
    KIND_FULL = 1,
    KIND_RECURRENT = 2,
    KIND_WINDOW = 4,
    KIND_CHUNK = 8,
    KIND_SPARSE = 16,
    KIND_MLP = 32, /* no token mixing */
    KIND_ATTENDS = KIND_FULL | KIND_WINDOW | KIND_CHUNK | KIND_SPARSE,
};

#define LAYERS_MAX 4096 /* far more than any model has; a larger count means damage */

/* What a spelling states about one layer. */
typedef struct cfg_plan {
    unsigned kinds;
    uint64_t ratio;        /* tokens per entry of a compressing sparse layer; 0: none */
    uint64_t idle_window;  /* of a full layer: a window that is at least as long as the context */
    const rung_json *own;  /* an object with sizes for this layer only, or NULL */
    const rung_json *over; /* its entry of per_layer_config, which overrides the model; or NULL */
    bool cross;            /* attends only to another modality */
} cfg_plan;

/* ---- families ---- */

enum {
    FAMILY_LAST_FULL = 1,    /* the last layer is full, whatever the pattern says */
    FAMILY_DOUBLED = 2,      /* every counted layer has two attention blocks */
    FAMILY_LIST_WINS = 4,    /* the list of layers overrides their stated number */
    FAMILY_FIRST_FULL = 8,   /* the first layer of the pattern of the class is full */
    FAMILY_FROM_END = 16,    /* the pattern of the class ends with the last layer */
    FAMILY_DENSE_FIRST = 32, /* global_attn_every_n_layers counts from the first layer */
    FAMILY_SHIPS_CODE = 64,  /* checkpoints ship the published code */
    FAMILY_TWO_VALUES = 128, /* a query head sums values of two heads */
    FAMILY_UNSURE = 256,     /* some size or kind is uncertain */
    FAMILY_SOME_FULL = 512,  /* the last layer is full if the pattern of the class leaves none */
    /* What a token sees; at most one of these. */
    FAMILY_CAUSAL = 1 << 12,
    FAMILY_ENCODER = 1 << 13,   /* both sides */
    FAMILY_ASKS = 1 << 14,      /* both sides, unless is_decoder is true */
    FAMILY_DIFFUSION = 1 << 15, /* both sides, a sequence is refined in steps */
    FAMILY_PREFIX = 1 << 16,    /* both sides within the prompt */
    FAMILY_SEES = FAMILY_CAUSAL | FAMILY_ENCODER | FAMILY_ASKS | FAMILY_DIFFUSION | FAMILY_PREFIX,
};

typedef struct cfg_family {
    const char *type;  /* model_type */
    const char *mixer; /* the recurrent mechanism: a name of mixer.c, or NULL */
    /* kinds if the file does not state them, tiled: see family.c; NULL: the class does not fix them */
    const char *pattern;
    const char *may; /* letters of all kinds that the published code can make; NULL: unknown */
    unsigned flags;
    int state_bits; /* bits of the recurrent state in the published code; 0: those of the model */
} cfg_family;

/* The kinds that a letter of a pattern stands for; 0 if it is not such a letter. */
unsigned cfg_letter(char letter);
/* The letter of a combination of kinds; '?' when there is none. */
char cfg_letter_of(unsigned kinds);
/* Returns a row of zeros when the type is unknown. */
const cfg_family *cfg_family_of(const char *type);
/* True if a model of this type contains a text model of another type and does not change its layers. */
bool cfg_is_wrapper(const char *type);
/* Finds the default of the configuration class. Returns false when there is none. */
bool cfg_class_default(double *value, const char *type, const char *key);

/* ---- the reader ---- */

enum { NEST_MAX = 4 };

typedef struct cfg_reader {
    const char *name;                 /* of the file */
    const rung_json *config;          /* the object that describes the text model */
    const rung_json *outer[NEST_MAX]; /* the objects around it, innermost first */
    size_t outer_count;
    const char *type; /* model_type, "" if there is none */
    const cfg_family *family;
    rung_ledger *ledger;
    cfg_plan *layer;
    size_t layers;         /* 0: not known yet */
    const rung_json *over; /* per_layer_config of the current layer, or NULL */
    const char *doubt;     /* the first reason why kinds or sizes are uncertain; NULL: none so far */
    const char *sharing;   /* which layers read what others keep; NULL: none so far */
    rung_buf defaults;     /* "key=value, ...": values that came from the class */
    rung_status status;    /* the first failure */
    rung_error *err;
} cfg_reader;

/* Records the first failure. The message begins with the name of the file. */
void cfg_fail(cfg_reader *r, const char *format, ...) RUNG_PRINTF(2, 3);
void cfg_note(cfg_reader *r, const char *format, ...) RUNG_PRINTF(2, 3);
/* Records that kinds and sizes are uncertain. Only the first reason is kept. */
void cfg_doubt(cfg_reader *r, const char *format, ...) RUNG_PRINTF(2, 3);

/* A word of the file that is safe in a message: at most 47 characters, printable ASCII only. */
typedef struct cfg_shown {
    char text[48];
} cfg_shown;
const char *cfg_show(cfg_shown *out, const char *word);
#define SHOW(word) cfg_show(&(cfg_shown){{0}}, word)

/* In all of these, `keys` is a list of spellings separated by blanks, tried in order; "a.b" is the member b of a. A
 * value that is null or "auto" counts as absent. Order of places: the text model, the defaults of its class, the
 * objects around it. */
const rung_json *cfg_find(const cfg_reader *r, const char *keys);
const rung_json *cfg_find_in(const rung_json *object, const char *keys);
bool cfg_has(const cfg_reader *r, const char *keys);
bool cfg_find_size(uint64_t *out, cfg_reader *r, const char *keys);
bool cfg_find_size_in(uint64_t *out, cfg_reader *r, const rung_json *object, const char *keys);
/* Where a list stands for the number, its entry for the layer. */
bool cfg_find_size_at(uint64_t *out, cfg_reader *r, const char *keys, size_t layer);
/* Fails when there is none; 0 then. */
uint64_t cfg_need_size(cfg_reader *r, const char *keys, const char *what);
uint64_t cfg_size_or(cfg_reader *r, const char *keys, uint64_t fallback);
double cfg_real_or(cfg_reader *r, const char *keys, double fallback);
bool cfg_flag_or(cfg_reader *r, const char *keys, bool fallback);
const char *cfg_find_text(const cfg_reader *r, const char *keys); /* NULL when there is none */

/* a / b, which must go without remainder; fails otherwise. */
uint64_t cfg_divide(cfg_reader *r, uint64_t a, uint64_t b, const char *what);

/* Allocates the layers. `stated` is what the spelling says, 0 when it says nothing; what the file counts must agree. */
bool cfg_have_layers(cfg_reader *r, const char *spelling, size_t stated);

/* ---- keys: known_keys.c ---- */

/* Whether the reader uses the key or knows that it changes no layer. */
bool cfg_key_is_known(const char *key);
/* '*' at either end of the pattern stands for any characters. */
bool cfg_key_matches(const char *pattern, const char *key);
/* null, false, 0, "" and empty lists and objects switch nothing on. */
bool cfg_is_off(const rung_json *value);

/* ---- steps ---- */

rung_status cfg_refuse_other_file(const rung_json *root, const char *name, rung_error *err); /* other.c */
rung_status cfg_refuse_other_bytes(const void *bytes, size_t size, const char *name, rung_error *err);
bool cfg_is_directory(const char *path);
/* Appends the path of the configuration in a directory; refuses one without, saying what it has instead. */
rung_status cfg_find_in_directory(rung_buf *file, const char *path, rung_error *err);
void cfg_read_overrides(cfg_reader *r);     /* override.c: layers that differ from what the model says */
void cfg_repeat_passes(cfg_reader *r);      /* passes.c: layers that run more than once */
void cfg_read_premises(cfg_reader *r);      /* layer_premises.c */
void cfg_doubt_ignored_keys(cfg_reader *r); /* ignored_keys.c: keys that the family does not read */

void cfg_read_kinds(cfg_reader *r);                                        /* spelling.c */
void cfg_read_attention(rung_ledger_layer *held, cfg_reader *r, size_t i); /* attention.c */
void cfg_read_sparse(rung_ledger_layer *held, cfg_reader *r, size_t i);    /* selection.c */
void cfg_read_block(cfg_reader *r);                                        /* block_premises.c */
typedef struct cfg_mixer cfg_mixer;
const cfg_mixer *cfg_find_mixer(cfg_reader *r);                                                /* mixer.c */
void cfg_read_mixer(rung_ledger_layer *held, cfg_reader *r, const cfg_mixer *mixer, size_t i); /* mixer.c */

/* The query heads, key and value heads and their sizes of one attention. */
typedef struct cfg_heads {
    uint64_t query, kv, key_dim, value_dim;
} cfg_heads;

#define CFG_CONTEXT_KEYS                                                                                               \
    "max_position_embeddings model_max_length context_length n_positions max_seq_len max_sequence_length "             \
    "max_seq_length seq_length n_ctx max_context_length"

/* Hidden size, one of several spellings; fails when it is absent. */
uint64_t cfg_hidden_size(cfg_reader *r);

/* ---- ledgers, whatever they come from: ledger.c ---- */

void cfg_ledger_note(rung_ledger *ledger, const char *text, rung_error *err);
void cfg_layer_kinds(rung_ledger_layer *held, unsigned kinds);
void cfg_layer_name(rung_ledger_layer *held, const char *part); /* "mamba2" then "full": "mamba2+full" */
/* A premise with its reason, which is copied. Out of memory leaves it not established. */
void cfg_ledger_know(rung_ledger *ledger, rung_ledger_fact fact, rung_fact is, const char *format, ...)
    RUNG_PRINTF(4, 5);
/* The layers `passes` times one after the other. */
rung_status cfg_ledger_repeat(rung_ledger *ledger, size_t passes, const char *file, rung_error *err);
rung_status cfg_ledger_finish(rung_ledger *ledger, const char *file, rung_error *err);
rung_status cfg_ledger_from_gguf(rung_ledger *ledger, const rung_gguf *file, const char *name, rung_error *err);
rung_status cfg_ledger_from_json(rung_ledger *ledger, const rung_json_doc *doc, const char *name, rung_error *err);

#endif
