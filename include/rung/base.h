/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * base: what every other module stands on. Status and messages, memory, text, random numbers, hashes,
 * files, progress, CPU features, and tables of parameters and options. Layer 0: includes nothing of ours.
 */
#ifndef RUNG_BASE_H
#define RUNG_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The version; scripts/version.sh writes it here and into the files that cannot read it here. RUNG_VERSION is the text
 * "MAJOR.MINOR.PATCH". */
#define RUNG_VERSION_MAJOR                     0
#define RUNG_VERSION_MINOR                     2
#define RUNG_VERSION_PATCH                     0
#define RUNG_VERSION_NUMBER                    (RUNG_VERSION_MAJOR * 10000 + RUNG_VERSION_MINOR * 100 + RUNG_VERSION_PATCH)
#define RUNG_VERSION                           RUNG_VERSION_TEXT(RUNG_VERSION_MAJOR, RUNG_VERSION_MINOR, RUNG_VERSION_PATCH)
#define RUNG_VERSION_TEXT(major, minor, patch) RUNG_VERSION_JOIN(major, minor, patch)
#define RUNG_VERSION_JOIN(major, minor, patch) #major "." #minor "." #patch

/* What stands between these two in a public header has C linkage, and the shared library exports it. Everything else in the
 * library is hidden. */
#if defined(__GNUC__)
#define RUNG_EXPORTS_BEGIN _Pragma("GCC visibility push(default)")
#define RUNG_EXPORTS_END   _Pragma("GCC visibility pop")
#else
#define RUNG_EXPORTS_BEGIN
#define RUNG_EXPORTS_END
#endif
#ifdef __cplusplus
#define RUNG_API_BEGIN                                                                                                 \
    RUNG_EXPORTS_BEGIN extern "C"                                                                                      \
    {
#define RUNG_API_END                                                                                                   \
    }                                                                                                                  \
    RUNG_EXPORTS_END
#else
#define RUNG_API_BEGIN RUNG_EXPORTS_BEGIN
#define RUNG_API_END   RUNG_EXPORTS_END
#endif

#if defined(__GNUC__)
#define RUNG_PRINTF(fmt_index, first_arg) __attribute__((format(printf, fmt_index, first_arg)))
#else
#define RUNG_PRINTF(fmt_index, first_arg)
#endif

#define RUNG_COUNT(array) (sizeof(array) / sizeof((array)[0]))

RUNG_API_BEGIN

/* The version of the library that runs; RUNG_VERSION is that of the header. */
const char *rung_version(void);

/* ---- status ------------------------------------------------------------------------------------------ */

/* The kind of a failure that is not the fault of the program. The numbers are the exit codes of the command. */
typedef enum rung_status {
    RUNG_OK = 0,
    RUNG_USAGE = 2,  /* the caller asked for something that does not exist or does not fit */
    RUNG_INPUT = 3,  /* a file or text that cannot be read or understood */
    RUNG_SYSTEM = 4, /* memory, disk, network */
} rung_status;

/* A verdict of mathematics. Zero is not a verdict, so zeroed memory never looks like one. CAN_SAMPLED is weaker than
 * CAN: the weights were right on every prompt of a sample. */
typedef enum rung_verdict { RUNG_CAN = 1, RUNG_CANNOT = 2, RUNG_UNKNOWN = 3, RUNG_CAN_SAMPLED = 4 } rung_verdict;

/* What is known of a premise. A premise that nobody has established is zero, and does not count. */
typedef enum rung_fact { RUNG_NOT_ESTABLISHED = 0, RUNG_ESTABLISHED = 1, RUNG_VIOLATED = 2 } rung_fact;

/* A fact with its reason: what established it, what contradicts it, or what is missing. `why` must outlive the fact;
 * NULL if nothing was examined. */
typedef struct rung_known {
    rung_fact is;
    const char *why;
} rung_known;

/* One complete message: it names the object and says what to try. Empty when nothing failed. */
typedef struct rung_error {
    char text[512];
} rung_error;

/* Writes the message and returns `status`. `err` may be NULL. */
rung_status rung_fail(rung_error *err, rung_status status, const char *format, ...) RUNG_PRINTF(3, 4);
/* Puts "<prefix>: " before the existing message, for callers that know where the failure happened. Returns `status`. */
rung_status rung_fail_at(rung_error *err, rung_status status, const char *format, ...) RUNG_PRINTF(3, 4);
/* "unknown <what> '<word>'; did you mean '<nearest>'? known: a, b, c". Returns RUNG_USAGE. */
rung_status rung_fail_unknown(rung_error *err, const char *what, const char *name, const char *const *candidates,
                              size_t count);

/* How a caller passes a failure on. RUNG_TRY(call) returns the failure from the function at once: use it where nothing
 * has to be released. RUNG_NEXT(status, call) makes the call only if `status` is still RUNG_OK: use it where something
 * has to be released at the end. */
#define RUNG_TRY(...)                                                                                                  \
    do {                                                                                                               \
        rung_status rung_tried = (__VA_ARGS__);                                                                        \
        if (rung_tried != RUNG_OK) return rung_tried;                                                                  \
    } while (0)
#define RUNG_NEXT(status, ...)                                                                                         \
    do {                                                                                                               \
        if ((status) == RUNG_OK) (status) = (__VA_ARGS__);                                                             \
    } while (0)

/* ---- sizes ------------------------------------------------------------------------------------------- */

/* Both return false when the result does not fit into size_t, and then leave *out unchanged. */
bool rung_size_mul(size_t *out, size_t a, size_t b);
bool rung_size_add(size_t *out, size_t a, size_t b);

/* ---- arena: many allocations, one free ---------------------------------------------------------------- */

typedef struct rung_arena {
    struct rung_arena_block *head;
    size_t bytes;  /* handed out so far */
    size_t mapped; /* blocks that are mappings of their own */
} rung_arena;

void rung_arena_init(rung_arena *arena);
void rung_arena_clear(rung_arena *arena);
/* Zeroed memory for count items of `size` bytes, aligned to 64. NULL, with a message, when the product overflows
 * or memory is out. count = 0 gives a valid pointer. What is never written takes no memory, except that the system may
 * give items of 2 MiB and more in pages of 2 MiB. */
void *rung_arena_alloc(rung_arena *arena, size_t count, size_t size, rung_error *err);
char *rung_arena_strdup(rung_arena *arena, const char *text, rung_error *err);

/* Zeroed heap memory for count items; NULL with a message on overflow or exhaustion. Free with free(). */
void *rung_calloc(size_t count, size_t size, rung_error *err);

/* ---- buf: growing text or bytes ------------------------------------------------------------------------ */

/* Appending returns nothing. When memory runs out `failed` is set and stays set; rung_buf_ok reports it at the end. */
typedef struct rung_buf {
    char *text; /* NUL-terminated whenever not NULL */
    size_t len, cap;
    bool failed;
} rung_buf;

void rung_buf_init(rung_buf *buf);
void rung_buf_clear(rung_buf *buf);
void rung_buf_reset(rung_buf *buf); /* len = 0, memory kept */
void rung_buf_add(rung_buf *buf, const void *bytes, size_t len);
void rung_buf_puts(rung_buf *buf, const char *text);
void rung_buf_putc(rung_buf *buf, char c);
void rung_buf_printf(rung_buf *buf, const char *format, ...) RUNG_PRINTF(2, 3);
/* A JSON string literal with its quotes; `text` is UTF-8. */
void rung_buf_json_string(rung_buf *buf, const char *text);
/* The shortest decimal number that reads back as `value`, which is finite. */
#define RUNG_REAL_TEXT 32
void rung_real_text(char text[RUNG_REAL_TEXT], double value);
void rung_buf_real(rung_buf *buf, double value);
/* Appends `count` numbers, each after a space. The text is the same in every locale. NaN is written as "nan". */
void rung_buf_reals(rung_buf *buf, const double *values, size_t count);
/* Reads `count` numbers, decimal or hexadecimal, in any locale. Returns the text after the last one, or NULL if there
 * are fewer. */
const char *rung_read_reals(double *values, size_t count, const char *text);
rung_status rung_buf_ok(const rung_buf *buf, rung_error *err);

/* ---- text from outside ---------------------------------------------------------------------------------- */

/* Returns the length in bytes of the first character of text[0..len) if it is safe to show: well-formed UTF-8, and not
 * a control character (C0, DEL, C1), a line separator or a mark of text direction. Otherwise returns 0. */
size_t rung_text_visible(const char *text, size_t len);
/* True if the text has at most `most` bytes, and rung_text_visible accepts every character. Used for names. */
bool rung_text_is_plain(const char *text, size_t most);
/* Appends the text for a terminal. Every character that rung_text_visible refuses becomes '?'. */
void rung_buf_shown(rung_buf *out, const char *text);
/* Does the same in place, for a message of ours that quotes foreign text. Tabs stay. A line break stays if two spaces
 * follow. */
void rung_text_hide(char *text);
/* Appends a CSV cell, quoted if necessary. A cell that a spreadsheet would take for a formula gets a leading
 * apostrophe. */
void rung_buf_csv(rung_buf *out, const char *text);

/* ---- words --------------------------------------------------------------------------------------------- */

/* The candidate that other programs call `name` (`lr` is `rate`), else the nearest one by edit distance, or NULL when
 * none is near enough to be a misspelling. */
const char *rung_nearest_name(const char *name, const char *const *candidates, size_t count);
/* Returns a candidate that begins with `name`, else the nearest candidate, else NULL. */
const char *rung_guess_name(const char *name, const char *const *candidates, size_t count);
/* A whole decimal integer in [low, high]; false when text is anything else. */
bool rung_parse_int(int64_t *out, const char *text, int64_t low, int64_t high);

/* ---- rng: the same stream on every machine -------------------------------------------------------------- */

/* xoshiro256**, seeded by splitmix64 from (seed, stream, index). No floating point enters integer draws, and no
 * libm enters real ones, so the bytes are a pure function of the three numbers. */
typedef struct rung_rng {
    uint64_t s[4];
} rung_rng;

void rung_rng_init(rung_rng *rng, uint64_t seed, uint64_t stream, uint64_t index);
uint64_t rung_rng_u64(rung_rng *rng);
uint64_t rung_rng_below(rung_rng *rng, uint64_t bound); /* uniform in [0, bound), unbiased; bound >= 1 */
double rung_rng_unit(rung_rng *rng);                    /* k / 2^53, k uniform in [0, 2^53) */
/* Has mean 0 and variance 1 and is bounded: the sum of twelve units minus six, which needs no libm. */
double rung_rng_normal(rung_rng *rng);
void rung_rng_shuffle(rung_rng *rng, uint32_t *items, size_t count);
/* Draws k distinct numbers of [0, n) in random order; k <= n. O(k) expected time if k is small compared with n. */
rung_status rung_rng_sample(rung_rng *rng, uint32_t *out, size_t k, uint32_t n, rung_error *err);

/* ---- hash ---------------------------------------------------------------------------------------------- */

typedef struct rung_sha256 {
    uint32_t h[8];
    uint64_t bytes;
    uint8_t block[64];
} rung_sha256;

void rung_sha256_init(rung_sha256 *sha);
void rung_sha256_add(rung_sha256 *sha, const void *bytes, size_t len);
void rung_sha256_final(rung_sha256 *sha, uint8_t digest[32]);
void rung_sha256_hex(char hex[65], const void *bytes, size_t len);
uint64_t rung_hash64(const void *bytes, size_t len); /* FNV-1a with a final mix, for hash tables and rng streams */

/* ---- file ---------------------------------------------------------------------------------------------- */

/* A whole file, read-only, mapped. An empty file has bytes = a valid pointer and size 0. */
typedef struct rung_file_map {
    const uint8_t *bytes;
    size_t size;
} rung_file_map;

rung_status rung_file_open_map(rung_file_map *map, const char *path, rung_error *err);
void rung_file_close_map(rung_file_map *map);

/* Writes path.tmp-XXXX beside `path` and renames it on commit, so a reader never sees half a file. Exactly one of
 * commit and abandon must follow a successful begin. "-" is not special here. */
typedef struct rung_file_writer {
    FILE *stream;
    char *path, *temporary;
} rung_file_writer;

rung_status rung_file_begin(rung_file_writer *writer, const char *path, rung_error *err);
rung_status rung_file_commit(rung_file_writer *writer, rung_error *err);
void rung_file_abandon(rung_file_writer *writer);
/* Calls begin, writes all bytes, and calls commit. */
rung_status rung_file_write(const char *path, const void *bytes, size_t len, rung_error *err);
/* Makes the directory, and those above it, unless they are there. */
rung_status rung_directory_make(const char *path, rung_error *err);

/* ---- progress ------------------------------------------------------------------------------------------- */

/* One status line on stderr. It is redrawn at most ten times a second, and only when stderr is a terminal. */
typedef struct rung_progress {
    const char *what;
    uint64_t total, done;
    double started_s, drawn_s;
    bool visible;
} rung_progress;

void rung_progress_start(rung_progress *progress, const char *what, uint64_t total);
void rung_progress_tick(rung_progress *progress, uint64_t done);
void rung_progress_finish(rung_progress *progress); /* erases the line */
double rung_wall_s(void);                           /* seconds of a monotonic clock */

/* ---- cpu ------------------------------------------------------------------------------------------------ */

/* Instruction sets for which there are kernels, in ascending order. No machine has sets of both kinds, so that they
 * share numbers. */
typedef enum rung_isa {
    RUNG_ISA_REF = 0,
    RUNG_ISA_AVX2 = 1,   /* x86-64 */
    RUNG_ISA_AVX512 = 2, /* x86-64 */
    RUNG_ISA_NEON = 1,   /* aarch64 */
} rung_isa;

/* The best set that this CPU supports and that the environment variable RUNG_ISA allows: ref, avx2, avx512 or
 * avx512_bf16 on x86-64, ref or neon on aarch64. */
rung_isa rung_cpu_isa(void);
/* True if this CPU has AVX512_BF16 beside AVX-512, and RUNG_ISA is not set or allows it. */
bool rung_cpu_bf16(void);
/* Returns RUNG_USAGE when RUNG_ISA has any other value, because rung_cpu_isa would ignore it. */
rung_status rung_cpu_check(rung_error *err);
/* For tests. rung_cpu_isa reads the environment only once; this makes the next call read it again. */
void rung_cpu_forget(void);
const char *rung_isa_name(rung_isa isa); /* NULL: no set of this kind of processor */
/* Writes the path of `tail` in the directory of the running program. Returns false, and an empty text, if that is not known or
 * has no room. */
bool rung_beside_program(char *path, size_t size, const char *tail);
size_t rung_cpu_threads(void); /* online processors, or RUNG_THREADS when it is set to 1..256 */

/* ---- part: a library of somebody else ---------------------------------------------------------------------- */

/* What a module was built with. `rung doctor` shows them. */
typedef struct rung_part {
    const char *name, *version; /* version of the library that runs; NULL: built without it */
    const char *gives;          /* what there is with it */
    const char *package;        /* of Debian, to build with it */
} rung_part;

/* ---- param: key=value pairs against a table -------------------------------------------------------------- */

typedef enum rung_param_kind {
    RUNG_PARAM_INT,    /* low <= value <= high */
    RUNG_PARAM_LIST,   /* comma-separated integers, each in [low, high], at most RUNG_LIST_MAX */
    RUNG_PARAM_CHOICE, /* one of `choices`; the value is its index */
    RUNG_PARAM_REAL,   /* low <= value <= high, in `real` */
    /* 0 or 1. The canonical text names it only if it is not the fallback: a table may get one later, and the texts that
     * exist keep their meaning, their bytes and their hashes */
    RUNG_PARAM_SWITCH,
} rung_param_kind;

#define RUNG_LIST_MAX  16
#define RUNG_PARAM_MAX 16

typedef struct rung_param {
    const char *name;
    rung_param_kind kind;
    int64_t fallback, low, high; /* fallback of a choice: its index */
    const char *const *choices;  /* NULL-terminated, for RUNG_PARAM_CHOICE */
    const char *help;            /* one line, which names the symbol that the theory uses */
} rung_param;

typedef struct rung_value {
    bool set; /* true if the user gave the value, false if it is the fallback */
    int64_t number;
    int64_t list[RUNG_LIST_MAX];
    size_t list_len;
    double real;
} rung_value;

/* Counts the rows of a table; the row after the last one has the name NULL. Arrays of values have one per row. */
size_t rung_param_count(const rung_param *table);
void rung_param_defaults(rung_value *values, const rung_param *table);
/* Reads one "key=value". Messages name `owner` (such as "task eva"). For an unknown key the message suggests the
 * nearest one. */
rung_status rung_param_set(rung_value *values, const rung_param *table, const char *word, const char *owner,
                           rung_error *err);
/* Returns the index of a name, or SIZE_MAX. */
size_t rung_param_find(const rung_param *table, const char *name);
/* Appends "a=1<separator>b=2,3" with every parameter in table order, but for switches at their fallback: the
 * canonical text of a configuration. */
void rung_param_print(rung_buf *out, const rung_value *values, const rung_param *table, const char *separator);

/* ---- option: named values of a struct ----------------------------------------------------------------------- */

/* Each struct of options has one table. Parsing, range checks, messages, help, the manual and completions are all made
 * from its rows. A row stores the offset of its field, so that tables are constant. The options of a command and the
 * keys of a run are such tables. */
#define RUNG_OPTION_MAX 64 /* rows of one table: `given` has one bit for each */

typedef enum rung_option_kind {
    RUNG_OPTION_FLAG = 1, /* bool */
    RUNG_OPTION_STRING,   /* const char *, borrowed; NULL when absent */
    RUNG_OPTION_INT,      /* int64_t in [low, high] */
    RUNG_OPTION_SIZES,    /* rung_sizes: comma-separated integers, each in [low, high] */
    RUNG_OPTION_CHOICE,   /* int64_t: index into `choices` */
    RUNG_OPTION_REAL,     /* double, finite */
} rung_option_kind;

typedef struct rung_sizes {
    int64_t at[RUNG_LIST_MAX];
    size_t len;
} rung_sizes;

/* The index-th name of a registry, or NULL past the end. Completions offer these names. */
typedef const char *rung_names(size_t index);
typedef enum rung_complete { RUNG_COMPLETE_NOTHING = 0, RUNG_COMPLETE_FILE, RUNG_COMPLETE_DIR } rung_complete;

typedef struct rung_option {
    const char *name; /* long name without dashes; NULL ends a table */
    char letter;      /* short form, 0 for none */
    rung_option_kind kind;
    size_t at;                  /* offsetof(struct of values, field) */
    const char *metavar;        /* "N", "FILE"; not for flags */
    const char *help;           /* one line, no full stop */
    const char *fallback;       /* the default as the user would type it; NULL means 0, NULL or empty */
    int64_t low, high;          /* range of an integer, or of each integer of a list */
    const char *const *choices; /* NULL-terminated */
    rung_names *names;          /* completion candidates of a string */
    rung_complete complete;
    const char *alone; /* the value of an option that stands alone or before something that is no number; NULL: it must
                          have a value */
} rung_option;

/* Converts `text` (NULL for a flag) and stores it in the row's field. A message starts with `prefix` and the row's
 * name. */
rung_status rung_option_set(void *values, const rung_option *row, const char *text, const char *prefix,
                            rung_error *err);
/* Stores the defaults of a table, by the same conversion as rung_option_set. */
rung_status rung_option_defaults(void *values, const rung_option *table, rung_error *err);
/* Copies the field of the row from one struct to another. */
void rung_option_copy(void *to, const void *from, const rung_option *row);
/* Returns the row of a name, or NULL. */
const rung_option *rung_option_find(const rung_option *table, const char *name);

/* The usual row for --threads. Results never depend on the number of threads. */
#define RUNG_OPTION_THREADS(type, field)                                                                               \
    {                                                                                                                  \
        .name = "threads", .kind = RUNG_OPTION_INT, .at = offsetof(type, field), .metavar = "N",                       \
        .help = "worker threads, 0 for all cores; the result is the same", .fallback = "0", .low = 0, .high = 256      \
    }

RUNG_API_END

#endif
