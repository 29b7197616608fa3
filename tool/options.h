/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The option table of a subcommand: one row per option, and from the same rows parsing, range errors,
 * did-you-mean,
 * --help, the shell completions and the man page. A row says where its value goes as an offset into the
 * struct of values of the command, so that tables are constant and a command has no global variables.
 */
#ifndef RUNG_TOOL_OPTIONS_H
#define RUNG_TOOL_OPTIONS_H

#include "rung/base.h"

#define RUNG_OPTION_MAX 64 /* rows of one table: `given` has one bit for each */

typedef enum rung_option_kind {
    RUNG_OPTION_FLAG = 1, /* bool */
    RUNG_OPTION_STRING,   /* const char *, borrowed from the command line; NULL when absent */
    RUNG_OPTION_INT,      /* int64_t in [low, high] */
    RUNG_OPTION_SIZES,    /* rung_sizes: comma-separated integers, each in [low, high] */
    RUNG_OPTION_CHOICE,   /* int64_t: index into `choices` */
} rung_option_kind;

typedef struct rung_sizes {
    int64_t at[RUNG_LIST_MAX];
    size_t len;
} rung_sizes;

/* The index-th name of a registry, NULL past the end: what completions offer. */
typedef const char *rung_names(size_t index);
typedef enum rung_complete { RUNG_COMPLETE_NOTHING = 0, RUNG_COMPLETE_FILE, RUNG_COMPLETE_DIR } rung_complete;

typedef struct rung_option {
    const char *name; /* long name without dashes; NULL ends a table */
    char letter;      /* short form, 0 for none */
    rung_option_kind kind;
    size_t at;                  /* offsetof(struct of values, field) */
    const char *metavar;        /* "N", "FILE"; not for flags */
    const char *help;           /* one line, no full stop */
    const char *fallback;       /* the default, as one would type it; NULL: zero, NULL, empty */
    int64_t low, high;          /* of an integer, or of each integer of a list */
    const char *const *choices; /* NULL-terminated */
    rung_names *names;          /* completion candidates of a string */
    rung_complete complete;
} rung_option;

/* One row of the positional arguments. Only the last row may have most > 1. */
typedef struct rung_argument {
    const char *metavar; /* NULL ends a table */
    const char *help;
    size_t least, most; /* most = SIZE_MAX: any number */
    const char *const *choices;
    rung_names *names;
    rung_complete complete;
} rung_argument;

struct rung_call;

/* The rows that every command has: --json, --quiet, --seed, --help. Offsets are into rung_call. */
extern const rung_option rung_options_common[];

/* Reads argv[0..argc) (without the program and the command) into `call`, whose command and values are set.
 * Options and arguments mix freely; "--" ends the options. The arrays of the call live in the arena. */
rung_status rung_options_parse(struct rung_call *call, int argc, char *const *argv, rung_arena *arena, rung_error *err);

/* The row of a long name in the command's table or the common one, or NULL. */
const rung_option *rung_options_find(const rung_option *table, const char *name);
/* "-o, --out FILE" for help and manual; choices are spelled out. */
void rung_option_spell(rung_buf *out, const rung_option *option);
/* The candidate that begins with `word`, else the nearest by edit distance, else NULL. */
const char *rung_options_guess(const char *word, const char *const *candidates, size_t count);

#endif
