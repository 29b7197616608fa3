/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Finds out what the server can do before anything is measured. Otherwise a server that silently leaves something out
 * would look like a model that knows nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe_internal.h"

/* One trial: a dialect, a question, and the result. */
typedef struct trial {
    rung_probe *probe;
    const probe_question *question;
    bool refused, fine;
    rung_buf reason;
} trial;

/* ---- judging a reply --------------------------------------------------------------------------------------------- */

static bool begins_thought(const char *text)
{
    static const char *const marks[] = {"<think",  "<|channel|>", "<thinking",
                                        "<reason", "[THINK]",     "<|begin_of_thought|>"};
    while (*text == ' ' || *text == '\n') text++;
    for (size_t i = 0; i < RUNG_COUNT(marks); i++)
        if (strncmp(text, marks[i], strlen(marks[i])) == 0) return true;
    return false;
}

static double mass_of_all(const rung_reply *reply)
{
    double sum = 0;
    for (size_t i = 0; i < reply->tops; i++) sum += exp(reply->top[i].logprob);
    return sum;
}

/* Every word of a prompt is at least one token. */
static int64_t count_words(const char *text)
{
    int64_t words = 0;
    for (bool inside = false; *text; text++) {
        bool letter = *text != ' ' && *text != '\n';
        words += letter && !inside;
        inside = letter;
    }
    return words;
}

/* What a probe lacks in this reply; NULL: nothing. */
static const char *objection(const rung_reply *r, const char *prompt)
{
    if (r->truncated) return "the server cut the prompt; give it a longer context";
    if (r->prompt_tokens >= 0 && r->prompt_tokens < count_words(prompt))
        return "the server counts fewer tokens than the prompt has words, so it cut the prompt; give it a longer "
               "context";
    if (*r->reasoning || begins_thought(r->text) || (r->tops && begins_thought(r->top[0].text)))
        return "the template adds a chain of thought before the answer, so it is not one forward pass; switch it off "
               "in the server, or use --api completions";
    if (r->completion_tokens > 1) return "the server generated more than one token, but was asked for one";
    if (!r->logprobs)
        return "the server gives no log-probabilities of generated tokens; start it so that it does (vLLM: "
               "--max-logprobs 20; llama.cpp and SGLang give them by default)";
    if (r->tops < 2) return "the server gives only one log-probability, but the likeliest few are needed";
    if (mass_of_all(r) > 1.01) return "the probabilities of the likeliest tokens add up to more than 1";
    return NULL;
}

static bool judge(void *context, size_t index, const rung_client_response *answer)
{
    trial *t = context;
    rung_reply reply;
    rung_error err;
    (void)index;
    if (answer->http >= 400) {
        t->refused = true;
        rung_reply_complaint(&t->reason, answer->shown, answer->shown_len, 200);
        return true;
    }
    if (rung_reply_take(&reply, answer, &err) != RUNG_OK) {
        rung_buf_puts(&t->reason, err.text);
    } else {
        const char *why = objection(&reply, t->question->prompt.text);
        t->fine = !why;
        if (why) rung_buf_puts(&t->reason, why);
        t->probe->server.top = reply.tops;
        rung_buf_reset(&t->probe->fingerprint);
        rung_buf_puts(&t->probe->fingerprint, reply.fingerprint);
    }
    rung_reply_clear(&reply);
    return true;
}

/* ---- trying ------------------------------------------------------------------------------------------------------ */

static rung_status ask_cell(trial *t, const probe_cell *cell, rung_error *err)
{
    rung_probe *probe = t->probe;
    probe_question question;
    rung_buf body;
    rung_client_sum sum = {0};
    bool cue = probe->dialect.api == RUNG_PROBE_COMPLETIONS;
    rung_buf_init(&body);
    rung_status status =
        probe_question_init(&question, cell, &probe->conf, probe->pool, probe->pool_count, cue, 0, err);
    if (status == RUNG_OK) {
        t->question = &question;
        probe_body(&body, &probe->dialect, &probe->conf, question.prompt.text, 0);
        status = rung_buf_ok(&body, err);
    }
    if (status == RUNG_OK) {
        rung_client_request ask = {probe_path(&probe->dialect), body.text, true};
        status = rung_client_run(&sum, probe->conf.client, &ask, 1, true, judge, t, err);
        if (sum.stopped) probe->stopped = true;
    }
    probe_question_clear(&question);
    rung_buf_clear(&body);
    return status;
}

/* A rung server may refuse a question that its model was not made for. Another cell of the grid may work. */
static rung_status try_dialect(trial *t, rung_error *err)
{
    rung_probe *probe = t->probe;
    rung_status status = RUNG_OK;
    size_t tried = 0;
    for (size_t i = 0; status == RUNG_OK && i < probe->cells && tried < 24 && !probe->stopped; i++) {
        if (probe->cell[i].mode != PROBE_DIRECT) continue;
        tried++;
        t->refused = false;
        rung_buf_reset(&t->reason);
        status = ask_cell(t, &probe->cell[i], err);
        if (!t->refused) break;
    }
    return status;
}

static const probe_dialect dialects[] = {
    {RUNG_PROBE_COMPLETIONS, PROBE_QUIET_NONE, 0}, {RUNG_PROBE_COMPLETIONS, PROBE_QUIET_NONE, 5},
    {RUNG_PROBE_CHAT, PROBE_QUIET_KWARGS, 0},      {RUNG_PROBE_CHAT, PROBE_QUIET_EFFORT, 0},
    {RUNG_PROBE_CHAT, PROBE_QUIET_NONE, 0},        {RUNG_PROBE_CHAT, PROBE_QUIET_NONE, 5},
};

static bool is_wanted(const rung_probe_options *conf, const probe_dialect *d)
{
    return (conf->api == RUNG_PROBE_AUTO || conf->api == d->api) && d->top < conf->top;
}

/* Chooses the first dialect that works. If none does, reports the most informative error: a reply that lacks something
 * says more than a refusal. */
static rung_status choose_dialect(trial *t, rung_error *err)
{
    rung_probe *probe = t->probe;
    rung_status status = RUNG_OK;
    rung_buf telling;
    bool told_refusal = true;
    rung_buf_init(&telling);
    for (size_t i = 0; status == RUNG_OK && i < RUNG_COUNT(dialects) && !t->fine && !probe->stopped; i++) {
        if (!is_wanted(&probe->conf, &dialects[i])) continue;
        probe->dialect = dialects[i];
        if (!probe->dialect.top) probe->dialect.top = probe->conf.top;
        status = try_dialect(t, err);
        if (t->fine || status != RUNG_OK || (!told_refusal && t->refused)) continue;
        told_refusal = t->refused;
        rung_buf_reset(&telling);
        rung_buf_printf(&telling, "%s: %s", probe_path(&probe->dialect), t->reason.text ? t->reason.text : "");
    }
    if (status == RUNG_OK && !t->fine && !probe->stopped)
        status = rung_fail(err, RUNG_INPUT, "self-test: %s", telling.text ? telling.text : "out of memory");
    rung_buf_clear(&telling);
    return status;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

typedef struct listing {
    bool found, known;
    size_t most;
    rung_buf names;
    const char *model;
} listing;

static bool take_models(void *context, size_t index, const rung_client_response *answer)
{
    listing *l = context;
    (void)index;
    bool found;
    size_t most;
    rung_buf names = {0};
    if (answer->http >= 400) return true;
    l->known = rung_reply_models(&l->found, &l->most, &names, l->model, answer->body, answer->len, NULL) == RUNG_OK;
    /* The list for the message comes from the reply without the key. */
    if (rung_reply_models(&found, &most, &l->names, l->model, answer->shown, answer->shown_len, NULL) != RUNG_OK)
        rung_buf_reset(&l->names);
    rung_buf_clear(&names);
    return true;
}

static rung_status check_model(rung_probe *probe, rung_error *err)
{
    listing l = {.model = probe->conf.model};
    rung_client_request ask = {"/v1/models", NULL, true};
    rung_client_sum sum = {0};
    rung_buf_init(&l.names);
    rung_status status = rung_client_run(&sum, probe->conf.client, &ask, 1, true, take_models, &l, err);
    if (sum.stopped) probe->stopped = true;
    probe->server.context = l.most;
    if (status == RUNG_OK && l.known && !l.found)
        status = rung_fail(err, RUNG_USAGE, "the server has no model '%.100s'; it has %.200s", probe->conf.model,
                           l.names.text ? l.names.text : "none");
    rung_buf_clear(&l.names);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Until the tokenizer has been asked, the first words serve as names; no answer is scored with them. */
static rung_status provisional_names(rung_probe *probe, rung_error *err)
{
    size_t count = probe->names_needed;
    probe->pool = rung_calloc(count, sizeof *probe->pool, err);
    if (!probe->pool) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) {
        probe->pool[i] = rung_text_candidate_at(i);
        if (!probe->pool[i])
            return rung_fail(err, RUNG_USAGE, "the grid needs %zu names, but there are %zu words; use fewer facts",
                             count, i);
    }
    probe->pool_count = count;
    return RUNG_OK;
}

rung_status rung_probe_test(rung_probe *probe, rung_error *err)
{
    trial t = {.probe = probe};
    rung_buf_init(&t.reason);
    probe_report_progress(probe, "self-test", NULL);
    rung_status status = check_model(probe, err);
    if (status == RUNG_OK && !probe->stopped && !probe->pool) status = provisional_names(probe, err);
    if (status == RUNG_OK && !probe->stopped) status = choose_dialect(&t, err);
    if (status == RUNG_OK && !probe->stopped && probe->names_needed) {
        probe_report_progress(probe, "names", NULL);
        status = probe_names_find(probe, err);
    }
    if (status == RUNG_OK && !probe->stopped) status = probe_answers_check(probe, err);
    probe->server.api = probe->dialect.api;
    probe->server.thinking = probe_quiet_names[probe->dialect.quiet];
    probe->server.fingerprint = probe->fingerprint.text ? probe->fingerprint.text : "";
    if (!probe->server.tokenizer) probe->server.tokenizer = "not needed";
    probe->tested = status == RUNG_OK && !probe->stopped;
    rung_buf_clear(&t.reason);
    return status;
}

const rung_probe_server *rung_probe_server_of(const rung_probe *probe)
{
    return &probe->server;
}
