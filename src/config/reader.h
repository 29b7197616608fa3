/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the parts of the config reader share. A file is read in two steps: a spelling says what kind each layer is
 * (spelling.c), then sizes are looked up and turned into elements (attention.c, mixer.c, state.c). A failure sticks: the
 * first one is kept, and everything after it does nothing of consequence.
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

#define LAYERS_MAX 4096 /* no model comes near; a count beyond it is damage */

/* What a spelling says of one layer. */
typedef struct cfg_plan {
    unsigned kinds;
    uint64_t ratio;       /* tokens per entry of a compressing sparse layer; 0: none */
    uint64_t idle_window; /* of a full layer: a window no shorter than the context */
    const rung_json *own; /* an object with sizes of this layer alone, or NULL */
} cfg_plan;

/* ---- families ---- */

enum {
    FAMILY_LAST_FULL = 1, /* the last layer attends fully whatever the pattern says */
    FAMILY_DOUBLED = 2,   /* two attention blocks for every layer that is counted */
    FAMILY_LIST_WINS = 4, /* the list of layers decides, not their stated number */
};

typedef struct cfg_family {
    const char *type;    /* model_type */
    const char *mixer;   /* the recurrent mechanism: a name of mixer.c, or NULL */
    const char *pattern; /* kinds when the file does not say, tiled: see family.c; NULL: not fixed by the class */
    unsigned flags;
    int state_bits; /* of the recurrent state in the published code; 0: that of the model */
} cfg_family;

/* The kinds that a letter of a pattern stands for; 0 when it is none. */
unsigned cfg_letter(char letter);
/* A row of zeros when the type is unknown. */
const cfg_family *cfg_family_of(const char *type);
/* The default of the configuration class, false when there is none. */
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
    size_t layers;      /* 0: not known yet */
    rung_buf defaults;  /* "key=value, ...": what came from the class */
    rung_status status; /* the first failure */
    rung_error *err;
} cfg_reader;

/* Keeps the first failure; the message begins with the file. */
void cfg_fail(cfg_reader *r, const char *format, ...) RUNG_PRINTF(2, 3);
void cfg_note(cfg_reader *r, const char *format, ...) RUNG_PRINTF(2, 3);

/* A word of the file made fit for a line: at most 47 characters, nothing but printable ASCII. */
typedef struct cfg_shown {
    char text[48];
} cfg_shown;
const char *cfg_show(cfg_shown *out, const char *word);
#define SHOW(word) cfg_show(&(cfg_shown){{0}}, word)

/* In all of these, `keys` is a list of spellings separated by blanks, tried in order; "a.b" is the member b of a. A value
 * that is null or "auto" counts as absent. Order of places: the text model, the defaults of its class, the objects
 * around it. */
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

/* ---- steps ---- */

void cfg_read_kinds(cfg_reader *r);                                /* spelling.c */
void cfg_read_attention(rung_held *held, cfg_reader *r, size_t i); /* attention.c */
void cfg_read_sparse(rung_held *held, cfg_reader *r, size_t i);    /* sparse.c */
void cfg_read_block(cfg_reader *r);                                /* block.c */
typedef struct cfg_mixer cfg_mixer;
const cfg_mixer *cfg_find_mixer(cfg_reader *r);                                        /* mixer.c */
void cfg_read_mixer(rung_held *held, cfg_reader *r, const cfg_mixer *mixer, size_t i); /* mixer.c */

/* The query heads, key and value heads and their sizes of one attention. */
typedef struct cfg_heads {
    uint64_t query, kv, key_dim, value_dim;
} cfg_heads;

/* Hidden size, one of several spellings; fails when it is absent. */
uint64_t cfg_hidden_size(cfg_reader *r);

/* ---- ledgers, whatever they come from: ledger.c ---- */

void cfg_ledger_note(rung_ledger *ledger, const char *text, rung_error *err);
void cfg_held_kinds(rung_held *held, unsigned kinds);
void cfg_held_name(rung_held *held, const char *part); /* "mamba2" then "full": "mamba2+full" */
rung_status cfg_ledger_finish(rung_ledger *ledger, const char *file, rung_error *err);
rung_status cfg_ledger_from_gguf(rung_ledger *ledger, const rung_gguf *file, const char *name, rung_error *err);
rung_status cfg_ledger_from_json(rung_ledger *ledger, const rung_json_doc *doc, const char *name, rung_error *err);

#endif
