/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * probe: asks a served language model the questions of our tasks. It has a client for servers with the OpenAI
 * interface, readers of their replies, the probe itself (names, self-test, cells, depth) and readers of the sample logs
 * of other harnesses. Results go to a store (lab.h). The only module that includes libcurl. Layer 7.
 */
#ifndef RUNG_PROBE_H
#define RUNG_PROBE_H

#include "rung/base.h"
#include "rung/claim.h"
#include "rung/lab.h"
#include "rung/render.h"
#include "rung/task.h"

RUNG_API_BEGIN

/* ---- client ---------------------------------------------------------------------------------------------------- */

/* Sends many requests to one server, several at a time. Repeats a request after a transient error of the server or the
 * network. Records every attempt in a store, and does not send a request whose reply is in the store. */
typedef struct rung_client rung_client;

typedef struct rung_client_options {
    const char *base_url; /* http://host:port or https://..., with or without /v1; without user, query or fragment */
    const char *key_variable;  /* environment variable that holds the key; NULL: no key is sent */
    const char *ca_file;       /* certificates to trust instead of the system's; NULL: the system's */
    size_t concurrency;        /* requests at the same time; 0: 8 */
    size_t retries;            /* attempts after the first one */
    double timeout_s;          /* seconds for one attempt; 0: 300 */
    double drip_s;             /* seconds from the first byte of a reply to its last; 0: 30 */
    double rpm;                /* requests per minute, attempts included; 0: no limit */
    double backoff_s;          /* wait before the first repetition, doubled each time up to 30 s; 0: 1 */
    double patience_s;         /* the longest Retry-After that the client obeys; 0: 600 */
    size_t body_most;          /* largest reply in bytes; 0: 16 MiB */
    rung_store *store;         /* may be NULL; must outlive the client */
    bool (*go)(void *context); /* return false to finish the requests in flight and start no new ones; may be NULL */
    void *context;
} rung_client_options;

/* One request: POST of a JSON body, or GET when body is NULL. The strings are borrowed until the request is done. */
typedef struct rung_client_request {
    const char *path; /* below the root of the server: "/v1/completions", "/tokenize" */
    const char *body;
    bool fresh; /* ask the server even if the store has a reply: for questions about its present condition */
} rung_client_request;

/* A complete reply with status 2xx whose body is JSON; for a tolerated status, the error text of the server. */
typedef struct rung_client_response {
    long http;
    const char *body;  /* NUL-terminated, unchanged. Only for parsing, because a server may echo the key */
    const char *shown; /* the same without the key: for messages and files */
    size_t shown_len;
    size_t len;
    bool stored;    /* it came from the store */
    double seconds; /* of the attempt that succeeded */
} rung_client_response;

/* Return false to stop, as with go(). */
typedef bool rung_client_response_each(void *context, size_t index, const rung_client_response *answer);

typedef struct rung_client_sum {
    size_t asked, stored, attempts, done;
    bool stopped; /* by go() or each() */
} rung_client_sum;

rung_status rung_client_new(rung_client **out, const rung_client_options *conf, rung_error *err);
void rung_client_free(rung_client *client);
/* Calls `each` once per request, in the order in which they end. A status 4xx, or an error that remains after the last
 * attempt, ends the call after the requests in flight, with a message that names the address and quotes the server. If
 * `tolerant`, statuses 400, 404, 405, 422 and 501 count as answers; they are recorded but never reused. */
rung_status rung_client_run(rung_client_sum *sum, rung_client *client, const rung_client_request *asks, size_t count,
                            bool tolerant, rung_client_response_each *each, void *context, rung_error *err);
/* Sums over all calls. */
rung_client_sum rung_client_total(const rung_client *client);
/* "http://host:port" as typed, without /v1 and without a slash at the end. */
const char *rung_client_root(const rung_client *client);
/* True if the key would travel unencrypted to another machine. */
bool rung_client_key_exposed(const rung_client *client);

/* Seconds that a Retry-After header asks for: whole seconds, or an HTTP date relative to `now` (seconds since 1970).
 * Negative if it is neither. */
double rung_retry_after(const char *value, double now);
/* Seconds to wait before repetition `attempt` (from 0) if the server gives no advice: base * 2^attempt up to 30 s,
 * times a number in [0.5, 1] that depends on the seed, so that many clients do not return at the same moment. */
double rung_retry_backoff(double base_s, size_t attempt, uint64_t seed);

/* ---- replies --------------------------------------------------------------------------------------------------- */

/* A candidate for the first generated token. */
typedef struct rung_option_token {
    const char *text;
    double logprob; /* at most 0; -INFINITY is possible */
} rung_option_token;

#define RUNG_REPLY_TOP 64 /* candidates that are read; servers give up to 20 */

/* What a completion or chat completion says, in any of the shapes of vLLM, SGLang, llama.cpp and OpenAI. */
typedef struct rung_reply {
    const char *text;      /* the generated text, without a separated chain of thought */
    const char *reasoning; /* the chain of thought if the server separates it; "" if not */
    const char *finish;    /* "stop", "length", ...; "" if the server does not say */
    const char *model, *fingerprint;
    int64_t prompt_tokens, completion_tokens; /* -1: the server does not say */
    bool truncated;                           /* the server says that it cut the prompt */
    bool logprobs;                            /* there are log-probabilities for the first generated token */
    size_t tops;
    /* candidates for the first generated token, the likeliest first; contains the generated one */
    rung_option_token top[RUNG_REPLY_TOP];
    rung_arena arena;
} rung_reply;

/* Accepts any bytes. RUNG_INPUT, with what is missing, if they are no such reply. Refuses log-probabilities that are
 * above 0 or no numbers. Clear the reply also when this fails. */
rung_status rung_reply_parse(rung_reply *reply, const char *body, size_t len, rung_error *err);
/* Parses the answer of the client. The unchanged bytes are parsed; messages, and everything that is kept, do not
 * contain the key. */
rung_status rung_reply_take(rung_reply *reply, const rung_client_response *answer, rung_error *err);
void rung_reply_clear(rung_reply *reply);
/* How many tokens /tokenize counted. *most is the longest context that it reports, 0 if none. */
rung_status rung_reply_tokens(size_t *count, size_t *most, const char *body, size_t len, rung_error *err);
/* Reads /v1/models: whether it lists `model`, the longest context that it reports (0: none), and the names for
 * messages. */
rung_status rung_reply_models(bool *found, size_t *most, rung_buf *names, const char *model, const char *body,
                              size_t len, rung_error *err);
/* Makes one printable line, of at most `most` bytes, from an error reply of any shape (JSON, HTML, anything). */
void rung_reply_complaint(rung_buf *out, const char *body, size_t len, size_t most);

/* ---- depth ----------------------------------------------------------------------------------------------------- */

/* Whether the accuracy at one depth is above or below the threshold. Decided sequentially, while the answers come
 * in. */
typedef enum rung_side { RUNG_SIDE_OPEN = 0, RUNG_SIDE_ABOVE, RUNG_SIDE_BELOW } rung_side;

/* log of the evidence that the accuracy is above theta in (0, 1): an average of likelihood ratios against theta. If the
 * accuracy is not above theta, the probability that this ever exceeds log(1/a) is at most a; valid under optional
 * stopping. */
double rung_depth_evidence(uint64_t right, uint64_t wrong, double theta);
rung_side rung_depth_side(uint64_t right, uint64_t wrong, double theta, double confidence, size_t depths);

/* Depths are numbered from 1 here; side[i] belongs to depth i+1. D is the largest depth such that the accuracy at every
 * depth 1, ..., D is at least theta; D = 0 if it is below theta at depth 1. With probability at least `confidence` over
 * the draw of the questions, low <= D <= high, for any rule that chooses how many questions are asked at which
 * depth. */
typedef struct rung_depth {
    size_t low, high;
} rung_depth;
rung_depth rung_depth_of(const rung_side *side, size_t depths);
/* The depth to ask next: the first open one that can still change D and that has had fewer than `most` questions.
 * SIZE_MAX: none. */
size_t rung_depth_next(const rung_side *side, const uint64_t *asked, uint64_t most, size_t depths);

/* ---- the probe ------------------------------------------------------------------------------------------------- */

typedef enum rung_probe_api { RUNG_PROBE_AUTO = 0, RUNG_PROBE_COMPLETIONS, RUNG_PROBE_CHAT } rung_probe_api;
extern const char *const rung_probe_api_names[];

/* Progress of a probe. */
typedef struct rung_probe_progress {
    const char *doing;           /* "self-test", "names", or the mode of a cell */
    const rung_probe_cell *cell; /* may be NULL */
    size_t done, planned;        /* in questions; planned grows if the depth needs more */
} rung_probe_progress;

typedef struct rung_probe_options {
    rung_client *client; /* may be NULL until the first question */
    rung_store *store;   /* may be NULL */
    const char *model;
    const char *task;
    const char *const *pairs; /* parameters of the task that are the same in all cells */
    size_t pair_count;
    /* "L=1..6,n=16,64": keys with values; L and n mean depth and facts, other keys are parameters of the task */
    const char *grid;
    rung_text_spelling spelling;
    rung_probe_api api;
    const char *extra; /* members of a JSON object that are added to every request; NULL: none */
    uint64_t seed;
    size_t samples;                 /* questions per cell */
    size_t most;                    /* largest number of questions per cell if the depth needs more */
    size_t controls;                /* questions per control cell; 0: no controls */
    size_t shots;                   /* solved examples before each question, different ones each time */
    size_t top;                     /* log-probabilities to ask for, up to RUNG_REPLY_TOP */
    size_t chain_of_thought_tokens; /* ask also with a chain of thought of at most this many tokens; 0: do not */
    double threshold, confidence;
    const rung_subject *subject; /* its verdict is put beside every cell; NULL: none */
    rung_claim_spec about;       /* arithmetic of the claims; each cell supplies the rest */
    bool (*go)(void *context);   /* as in rung_client_options */
    void (*on_progress)(void *context, const rung_probe_progress *progress);
    void *context;
} rung_probe_options;

typedef struct rung_probe rung_probe;

/* Reads the grid and checks every cell; sends no request. Copies conf; what conf points to must outlive the probe. */
rung_status rung_probe_new(rung_probe **out, const rung_probe_options *conf, rung_error *err);
void rung_probe_free(rung_probe *probe);

/* Estimate of the cost without asking the server: one token per word or sign of the prompts. */
typedef struct rung_probe_cost {
    size_t cells, names;
    uint64_t requests, requests_most; /* requests_most: if the depth needs as many questions as allowed */
    uint64_t tokens, tokens_most;     /* of prompts and answers; tokens_most as requests_most */
    uint64_t longest;                 /* tokens of the longest prompt */
} rung_probe_cost;
rung_status rung_probe_estimate(rung_probe_cost *cost, const rung_probe *probe, rung_error *err);

/* What the self-test found. */
typedef struct rung_probe_server {
    rung_probe_api api;
    const char *thinking;    /* how the chain of thought is switched off: "no template", "chat_template_kwargs", ... */
    const char *tokenizer;   /* "/tokenize" or "usage.prompt_tokens" */
    size_t top;              /* log-probabilities that it returns */
    size_t names;            /* number of words that are one token */
    uint64_t context;        /* longest context in tokens; 0: the server does not say */
    const char *fingerprint; /* "" if none */
} rung_probe_server;

/* Finds out what the server can do and which words are one token of its tokenizer. RUNG_INPUT, with the reason, if it
 * lacks what a probe needs: it gives no log-probabilities, its chain of thought cannot be switched off, or it cuts
 * prompts. */
rung_status rung_probe_test(rung_probe *probe, rung_error *err);
const rung_probe_server *rung_probe_server_of(const rung_probe *probe);
/* Asks all questions; runs the self-test first if it has not been run. Answers enter the store as they come, so an
 * interruption loses none. */
rung_status rung_probe_run(rung_probe *probe, rung_error *err);
bool rung_probe_stopped(const rung_probe *probe);   /* by go() */
int64_t rung_probe_number(const rung_probe *probe); /* in the store; 0: none */

/* What follows from the accuracy of a cell, its threshold and its control. */
typedef enum rung_probe_finding {
    RUNG_FINDING_OPEN = 0, /* the interval contains the threshold */
    RUNG_FINDING_DOES,     /* the interval is above the threshold */
    RUNG_FINDING_FAILS, /* below it, but one look into the same facts is above: the model reads and does not compose */
    /* below it, and one look into the same facts is below too: nothing follows about composition */
    RUNG_FINDING_UNREAD,
    RUNG_FINDING_BELOW,   /* below it, and there is no control that could explain why */
    RUNG_FINDING_REFUSED, /* the server refused the question */
} rung_probe_finding;
extern const char *const rung_probe_finding_names[]; /* [finding] */

size_t rung_probe_cell_count(const rung_probe *probe);
const rung_probe_cell *rung_probe_cell_at(const rung_probe *probe, size_t index);
rung_probe_finding rung_probe_finding_of(const rung_probe *probe, size_t index);
/* For a direct cell: the index of its control cell in that mode, or SIZE_MAX. */
size_t rung_probe_control_of(const rung_probe *probe, size_t index, const char *mode);
/* What the server said when it refused the cell; "" if it did not refuse. */
const char *rung_probe_refusal(const rung_probe *probe, size_t index);
size_t rung_probe_depth_count(const rung_probe *probe); /* 0: the grid has no depths */
const rung_probe_depth *rung_probe_depth_at(const rung_probe *probe, size_t index);

/* ---- scoring --------------------------------------------------------------------------------------------------- */

typedef struct rung_score {
    bool right, text_right;
    bool off;    /* no possible answer among the likeliest tokens; with a chain of thought, no answer in the text */
    bool cut;    /* the chain of thought did not end */
    double mass; /* probability of the right answer, as far as the likeliest tokens show; NaN: it is not among them */
    size_t said; /* index of the likeliest answer, or SIZE_MAX */
} rung_score;

/* Compares the first generated token with the possible answers. Spellings of one answer (with and without a space) add
 * up. With `prefixes`, a token that begins exactly one answer counts for it, because in a chat an answer may be several
 * tokens. */
rung_score rung_score_first(const rung_reply *reply, const char *const *answers, size_t count, size_t wanted,
                            bool prefixes);
/* Scores the last line "Answer: NAME" of the text. */
rung_score rung_score_chain_of_thought(const rung_reply *reply, const char *const *answers, size_t count,
                                       size_t wanted);

/* ---- logs of other harnesses ----------------------------------------------------------------------------------- */

typedef enum rung_log_kind { RUNG_LOG_AUTO = 0, RUNG_LOG_LM_EVAL, RUNG_LOG_RULER, RUNG_LOG_INSPECT } rung_log_kind;
extern const char *const rung_log_kind_names[];

typedef struct rung_log_record {
    uint64_t index;
    const char *wanted, *said;
    bool right;
} rung_log_record;

typedef struct rung_log {
    rung_log_kind kind;
    const char *model, *task; /* as the log states; "" if it does not */
    rung_log_record *record;
    size_t count;
    size_t repeated; /* records of further filters or epochs, which are left out */
    rung_arena arena;
} rung_log;

/* Reads a log; RUNG_LOG_AUTO detects the kind. Samples of lm-evaluation-harness (samples_*.jsonl): the metrics that the
 * file lists decide, and above one half is right. Predictions of RULER (JSON lines with "pred"): right if all outputs
 * occur in it. A log of inspect (JSON): the first score decides, "C" or at least one half is right. Accepts any bytes;
 * RUNG_INPUT names the line and what is missing. Clear the log also when this fails. */
rung_status rung_log_read(rung_log *log, const void *bytes, size_t size, const char *name, rung_log_kind kind,
                          rung_error *err);
void rung_log_clear(rung_log *log);

/* ---- for programs ---------------------------------------------------------------------------------------------- */

/* Members of an object. */
void rung_probe_json(rung_jout *out, const rung_probe *probe);
void rung_probe_cost_json(rung_jout *out, const rung_probe_cost *cost);
/* Whether some cell says something about the model. */
bool rung_probe_says_something(const rung_probe *probe);

rung_part rung_part_curl(void);

RUNG_API_END

#endif
