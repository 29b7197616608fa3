/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * probe: a served language model on our tasks. A client for servers with the OpenAI interface, readers of what they reply,
 * the probe itself (names, self-test, cells, depth) and readers of the sample logs of other harnesses. What a probe finds is
 * in a store (lab.h). The only module that includes libcurl. Layer 7.
 */
#ifndef RUNG_PROBE_H
#define RUNG_PROBE_H

#include "rung/base.h"
#include "rung/claim.h"
#include "rung/lab.h"
#include "rung/render.h"
#include "rung/task.h"

/* ---- client -------------------------------------------------------------------------------------------------------------- */

/* Many requests to one server: some at a time, each tried again when the server or the way to it had a weak moment, every
 * attempt recorded in a store, and none repeated whose reply is there. */
typedef struct rung_client rung_client;

typedef struct rung_client_conf {
    const char *base_url;      /* http://host:port or https://..., with or without /v1; no user, query or fragment */
    const char *key_variable;  /* environment variable that holds the key; NULL: no key is sent */
    const char *ca_file;       /* certificates to trust instead of the system's; NULL: the system's */
    size_t concurrency;        /* requests at the same time; 0: 8 */
    size_t retries;            /* after the first attempt */
    double timeout_s;          /* of one attempt; 0: 300 */
    double drip_s;             /* from the first byte of a reply to its last; 0: 30 */
    double rpm;                /* requests per minute, attempts included; 0: no limit */
    double backoff_s;          /* before the first repetition, doubled each time up to 30 s; 0: 1 */
    double patience_s;         /* the longest Retry-After that is obeyed; 0: 600 */
    size_t body_most;          /* bytes of a reply; 0: 16 MiB */
    rung_store *store;         /* may be NULL; must outlive the client */
    bool (*go)(void *context); /* false: what is under way is finished and nothing new begun; may be NULL */
    void *context;
} rung_client_conf;

/* One request: POST of a JSON body, or GET when body is NULL. Strings are borrowed until it is done. */
typedef struct rung_ask {
    const char *path; /* below the root of the server: "/v1/completions", "/tokenize" */
    const char *body;
    bool fresh; /* asked even when the reply is in the store: what is asked of the server as it is now */
} rung_ask;

/* What came back: a complete reply with status 2xx whose body is JSON, or for a tolerated status what the server said. */
typedef struct rung_answer {
    long http;
    const char *body;  /* NUL-terminated, as it came: for parsing alone, because a server may echo the key */
    const char *shown; /* the same without the key: for messages and for keeping */
    size_t shown_len;
    size_t len;
    bool stored;    /* it was in the store */
    double seconds; /* of the attempt that succeeded */
} rung_answer;

/* Returns false to stop as go() does. */
typedef bool rung_answer_each(void *context, size_t index, const rung_answer *answer);

typedef struct rung_client_sum {
    size_t asked, stored, attempts, done;
    bool stopped; /* by go() or each() */
} rung_client_sum;

rung_status rung_client_new(rung_client **out, const rung_client_conf *conf, rung_error *err);
void rung_client_free(rung_client *client);
/* Calls `each` once per request, in the order in which they end. Status 4xx and what is still wrong after the last attempt end
 * the whole (after what is under way), with a message that names the place and what the server said; with tolerant, 400, 404,
 * 405, 422 and 501 are answers too, which are recorded but never reused. */
rung_status rung_client_run(rung_client_sum *sum, rung_client *client, const rung_ask *asks, size_t count,
                            bool tolerant, rung_answer_each *each, void *context, rung_error *err);
/* Counts of all calls together. */
rung_client_sum rung_client_total(const rung_client *client);
/* "http://host:port" as typed, without /v1 and a slash at the end. */
const char *rung_client_root(const rung_client *client);
/* Whether a key would go over the network unencrypted to another machine. */
bool rung_client_key_exposed(const rung_client *client);

/* Seconds that a Retry-After header asks for: whole seconds, or an HTTP date seen from `now` (seconds since 1970). Negative
 * when it is neither. */
double rung_retry_after(const char *value, double now);
/* Before repetition `attempt` (from 0), without advice from the server: base * 2^attempt up to 30 s, times a number in
 * [0.5, 1] that the seed decides, so that many clients do not come back at once. */
double rung_retry_backoff(double base_s, size_t attempt, uint64_t seed);

/* ---- replies -------------------------------------------------------------------------------------------------------------- */

/* A token that the model might have said first. */
typedef struct rung_option_token {
    const char *text;
    double logprob; /* at most 0; -INFINITY is possible */
} rung_option_token;

#define RUNG_REPLY_TOP 64 /* entries that are read; servers give up to 20 */

/* What a completion or chat completion says, in any of the shapes of vLLM, SGLang, llama.cpp and OpenAI. */
typedef struct rung_reply {
    const char *text;      /* what was generated, without separated thoughts */
    const char *reasoning; /* thoughts that the server separated; "" if none */
    const char *finish;    /* "stop", "length", ...; "" if not said */
    const char *model, *fingerprint;
    int64_t prompt_tokens, completion_tokens; /* -1: not said */
    bool truncated;                           /* the server says that it cut the prompt */
    bool logprobs;                            /* there are some for the first generated token */
    size_t tops;
    rung_option_token top[RUNG_REPLY_TOP]; /* of the first generated token, itself included; the likeliest first */
    rung_arena arena;
} rung_reply;

/* Any bytes: RUNG_INPUT, with what is missing, where it is no such reply. Log-probabilities that are no numbers or above 0 are
 * refused. Clear it also when this fails. */
rung_status rung_reply_parse(rung_reply *reply, const char *body, size_t len, rung_error *err);
/* The same of what the client hands over: it is read as it came; a message about it, and what is kept of it, have no key. */
rung_status rung_reply_take(rung_reply *reply, const rung_answer *answer, rung_error *err);
void rung_reply_clear(rung_reply *reply);
/* How many tokens /tokenize counted; *most is the longest context it tells of, 0 if none. */
rung_status rung_reply_tokens(size_t *count, size_t *most, const char *body, size_t len, rung_error *err);
/* /v1/models: whether `model` is among them, the longest context it tells of (0: none), and for messages the names. */
rung_status rung_reply_models(bool *found, size_t *most, rung_buf *names, const char *model, const char *body,
                              size_t len, rung_error *err);
/* One printable line from an error reply of any shape (JSON, a page of HTML, anything), at most `most` bytes. */
void rung_reply_complaint(rung_buf *out, const char *body, size_t len, size_t most);

/* ---- depth ----------------------------------------------------------------------------------------------------------------- */

/* Whether the accuracy at one depth is above or below the threshold; decided while the answers come in. */
typedef enum rung_side { RUNG_SIDE_OPEN = 0, RUNG_SIDE_ABOVE, RUNG_SIDE_BELOW } rung_side;

/* log of the evidence that the accuracy is above theta in (0, 1): an average of likelihood ratios against theta. If it is
 * not, this ever exceeds log(1/a) with probability at most a, whenever one looks and whyever one stops. */
double rung_depth_evidence(uint64_t right, uint64_t wrong, double theta);
rung_side rung_depth_side(uint64_t right, uint64_t wrong, double theta, double confidence, size_t depths);

/* Depths are numbered from 1 here; side[i] is that of depth i+1. D is the largest depth such that the accuracy at every depth
 * 1, ..., D is at least theta (0: not even at depth 1). With probability at least `confidence` over the draw of the questions,
 * low <= D <= high, for any rule that says how many questions are asked at which depth. */
typedef struct rung_depth {
    size_t low, high;
} rung_depth;
rung_depth rung_depth_of(const rung_side *side, size_t depths);
/* Where to ask next: the first open depth that D can still depend on and that has had fewer than `most` questions; SIZE_MAX:
 * nowhere. */
size_t rung_depth_next(const rung_side *side, const uint64_t *asked, uint64_t most, size_t depths);

/* ---- the probe ------------------------------------------------------------------------------------------------------------- */

typedef enum rung_probe_api { RUNG_PROBE_AUTO = 0, RUNG_PROBE_COMPLETIONS, RUNG_PROBE_CHAT } rung_probe_api;
extern const char *const rung_probe_api_words[];

/* Where a probe is, for progress. */
typedef struct rung_probe_news {
    const char *doing;           /* "self-test", "names", or the mode of a cell */
    const rung_probe_cell *cell; /* may be NULL */
    size_t done, planned;        /* questions; planned grows where depth needs more */
} rung_probe_news;

typedef struct rung_probe_conf {
    rung_client *client; /* may be NULL until something is asked */
    rung_store *store;   /* may be NULL */
    const char *model;
    const char *task;
    const char *const *words; /* parameters of the task that are the same in all cells */
    size_t word_count;
    const char *grid; /* "L=1..6,n=16,64": keys with values; L and n stand for depth and facts, others are parameters */
    rung_text_spelling spelling;
    rung_probe_api api;
    const char *extra; /* members of a JSON object that every request gets; NULL: none */
    uint64_t seed;
    size_t samples;      /* questions of a cell */
    size_t most;         /* at most, where the depth needs more */
    size_t controls;     /* questions of a control cell; 0: no controls */
    size_t shots;        /* solved examples before the question, new ones each time */
    size_t top;          /* log-probabilities to ask for, up to RUNG_REPLY_TOP */
    size_t think_tokens; /* also with steps written out, of at most so many tokens; 0: without */
    double threshold, confidence;
    const rung_subject *subject; /* what is decided of it is put beside every cell; NULL: nothing */
    rung_about about;            /* arithmetic of the claims; the rest is that of each cell */
    bool (*go)(void *context);   /* as in rung_client_conf */
    void (*tell)(void *context, const rung_probe_news *news);
    void *context;
} rung_probe_conf;

typedef struct rung_probe rung_probe;

/* Reads the grid and checks every cell; asks nobody. The conf is copied, what it points to must live on. */
rung_status rung_probe_new(rung_probe **out, const rung_probe_conf *conf, rung_error *err);
void rung_probe_free(rung_probe *probe);

/* What it would take, estimated without asking: a token per word or sign of the prompts. */
typedef struct rung_probe_cost {
    size_t cells, names;
    uint64_t requests, requests_most; /* with as many questions as depth may need */
    uint64_t tokens, tokens_most;     /* of prompts and answers */
    uint64_t longest;                 /* prompt */
} rung_probe_cost;
rung_status rung_probe_estimate(rung_probe_cost *cost, const rung_probe *probe, rung_error *err);

/* What the self-test found. */
typedef struct rung_probe_server {
    rung_probe_api api;
    const char *thinking;    /* how thoughts are kept off: "no template", "chat_template_kwargs", ... */
    const char *tokenizer;   /* "/tokenize" or "usage.prompt_tokens" */
    size_t top;              /* log-probabilities that it gives */
    size_t names;            /* words that are one token */
    uint64_t context;        /* 0: not told */
    const char *fingerprint; /* "" if none */
} rung_probe_server;

/* Finds out what the server can do and which words are one token of its tokenizer. RUNG_INPUT, with the reason, when it
 * cannot give what a probe needs: no log-probabilities, thoughts that cannot be switched off, prompts that are cut. */
rung_status rung_probe_test(rung_probe *probe, rung_error *err);
const rung_probe_server *rung_probe_server_of(const rung_probe *probe);
/* Asks everything, the self-test first if it was not made. What is done is in the store, whatever happens. */
rung_status rung_probe_run(rung_probe *probe, rung_error *err);
bool rung_probe_stopped(const rung_probe *probe);   /* by go() */
int64_t rung_probe_number(const rung_probe *probe); /* in the store; 0: none */

/* What a cell says, of its accuracy against the threshold and of its control. */
typedef enum rung_probe_finding {
    RUNG_FINDING_OPEN = 0, /* the interval contains the threshold */
    RUNG_FINDING_DOES,     /* above */
    RUNG_FINDING_FAILS,    /* below, while one look into the same facts is above: reads, and does not compose */
    RUNG_FINDING_UNREAD,   /* below, and so is one look: nothing follows about composition */
    RUNG_FINDING_BELOW,    /* below, and there is no control that would tell why */
    RUNG_FINDING_REFUSED,  /* the server did not take the question */
} rung_probe_finding;
extern const char *const rung_probe_finding_words[]; /* [finding] */

size_t rung_probe_cell_count(const rung_probe *probe);
const rung_probe_cell *rung_probe_cell_at(const rung_probe *probe, size_t index);
rung_probe_finding rung_probe_finding_of(const rung_probe *probe, size_t index);
/* Of a direct cell: the index of the cell that is its control in that mode, or SIZE_MAX. */
size_t rung_probe_control_of(const rung_probe *probe, size_t index, const char *mode);
/* What the server said when it refused the cell; "" if it did not. */
const char *rung_probe_refusal(const rung_probe *probe, size_t index);
size_t rung_probe_depth_count(const rung_probe *probe); /* 0: the grid has no depths */
const rung_probe_depth *rung_probe_depth_at(const rung_probe *probe, size_t index);

/* ---- scoring ---------------------------------------------------------------------------------------------------------------- */

typedef struct rung_score {
    bool right, text_right;
    bool off;    /* no possible answer among the likeliest tokens, or (thinking) no answer in the text */
    bool cut;    /* thinking did not come to an end */
    double mass; /* probability of the right answer as far as the likeliest tokens tell; NaN: it is not among them */
    size_t said; /* index of the likeliest answer, or SIZE_MAX */
} rung_score;

/* The first generated token against the possible answers; several spellings of one (with a space, without) are added. With
 * `prefixes` a token that begins exactly one of them counts for it: in a chat an answer may be more than one token. */
rung_score rung_score_first(const rung_reply *reply, const char *const *answers, size_t count, size_t wanted,
                            bool prefixes);
/* The last line "Answer: NAME" of the text. */
rung_score rung_score_thinking(const rung_reply *reply, const char *const *answers, size_t count, size_t wanted);

/* ---- logs of other harnesses ------------------------------------------------------------------------------------------------- */

typedef enum rung_log_kind { RUNG_LOG_AUTO = 0, RUNG_LOG_LM_EVAL, RUNG_LOG_RULER, RUNG_LOG_INSPECT } rung_log_kind;
extern const char *const rung_log_kind_words[];

typedef struct rung_log_record {
    uint64_t index;
    const char *wanted, *said;
    bool right;
} rung_log_record;

typedef struct rung_log {
    rung_log_kind kind;
    const char *model, *task; /* as the log says; "" if it does not */
    rung_log_record *record;
    size_t count;
    size_t repeated; /* records of further filters or epochs, which were left out */
    rung_arena arena;
} rung_log;

/* Samples of lm-evaluation-harness (samples_*.jsonl: the metrics that it lists decide, above one half is right), predictions of
 * RULER (JSON lines with "pred": right when all outputs occur in it) or a log of inspect (JSON: the first score, "C" or at least one
 * half). kind AUTO finds out which. Any bytes: RUNG_INPUT with the line and what is missing. Clear it also when this fails. */
rung_status rung_log_read(rung_log *log, const void *bytes, size_t size, const char *name, rung_log_kind kind,
                          rung_error *err);
void rung_log_clear(rung_log *log);

/* ---- for programs --------------------------------------------------------------------------------------------------- */

/* Members of an object. */
void rung_probe_json(rung_jout *out, const rung_probe *probe);
void rung_probe_cost_json(rung_jout *out, const rung_probe_cost *cost);
/* Whether some cell says something about the model. */
bool rung_probe_says_something(const rung_probe *probe);

#endif
