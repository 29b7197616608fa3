/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A probe and what it would cost, for programs.
 */
#include <math.h>
#include <string.h>

#include "rung/probe.h"
#include "rung/render.h"
#include "rung/verify.h"

static void json_server(rung_jout *out, const rung_probe_server *s)
{
    rung_jout_object(out, "server");
    rung_jout_string(out, "api", rung_probe_api_names[s->api]);
    rung_jout_string(out, "thinking_off_by", s->thinking);
    rung_jout_string(out, "tokenizer", s->tokenizer);
    rung_jout_int(out, "logprobs", (int64_t)s->top);
    rung_jout_int(out, "names", (int64_t)s->names);
    rung_jout_int(out, "context", (int64_t)s->context);
    rung_jout_string(out, "fingerprint", s->fingerprint);
    rung_jout_end(out);
}

static void json_bound(rung_jout *out, const rung_probe_cell *c)
{
    if (!*c->verdict) return;
    rung_jout_string(out, "verdict", c->verdict);
    rung_jout_string(out, "bound", c->bound);
    rung_jout_string(out, "statement", c->statement);
    rung_jout_real(out, "margin", c->margin);
    rung_jout_real(out, "ceiling", c->ceiling);
}

static void json_cell(rung_jout *out, const rung_probe *probe, size_t index)
{
    const rung_probe_cell *c = rung_probe_cell_at(probe, index);
    rung_interval interval = rung_wilson(c->right, c->asked);
    rung_jout_object(out, NULL);
    rung_jout_string(out, "mode", c->mode);
    rung_jout_string(out, "task", c->canonical);
    rung_jout_int(out, "depth", (int64_t)c->depth);
    rung_jout_int(out, "facts", (int64_t)c->facts);
    rung_jout_real(out, "chance", c->chance);
    rung_jout_real(out, "majority", c->majority);
    rung_jout_int(out, "asked", (int64_t)c->asked);
    rung_jout_int(out, "right", (int64_t)c->right);
    rung_jout_real(out, "accuracy", c->asked ? (double)c->right / (double)c->asked : (double)NAN);
    rung_jout_flat_array(out, "wilson");
    rung_jout_real(out, NULL, interval.low);
    rung_jout_real(out, NULL, interval.high);
    rung_jout_end(out);
    rung_jout_int(out, "text_right", (int64_t)c->text_right);
    rung_jout_int(out, "off", (int64_t)c->off);
    rung_jout_int(out, "cut", (int64_t)c->cut);
    rung_jout_real(out, "mass", c->mass);
    rung_jout_real(out, "prompt_tokens", c->prompt_tokens);
    json_bound(out, c);
    if (strcmp(c->mode, "direct") == 0)
        rung_jout_string(out, "finding", rung_probe_finding_names[rung_probe_finding_of(probe, index)]);
    if (*rung_probe_refusal(probe, index)) rung_jout_string(out, "refusal", rung_probe_refusal(probe, index));
    rung_jout_end(out);
}

static void json_depth(rung_jout *out, const rung_probe_depth *d)
{
    rung_jout_flat_object(out, NULL);
    rung_jout_string(out, "words", d->keys);
    rung_jout_int(out, "facts", (int64_t)d->facts);
    rung_jout_real(out, "threshold", d->threshold);
    rung_jout_real(out, "confidence", d->confidence);
    rung_jout_int(out, "low", (int64_t)d->low);
    rung_jout_int(out, "high", (int64_t)d->high);
    rung_jout_int(out, "deepest", (int64_t)d->deepest);
    rung_jout_end(out);
}

void rung_probe_json(rung_jout *out, const rung_probe *probe)
{
    json_server(out, rung_probe_server_of(probe));
    rung_jout_bool(out, "stopped", rung_probe_stopped(probe));
    rung_jout_array(out, "cells");
    for (size_t i = 0; i < rung_probe_cell_count(probe); i++) json_cell(out, probe, i);
    rung_jout_end(out);
    rung_jout_array(out, "depths");
    for (size_t i = 0; i < rung_probe_depth_count(probe); i++) json_depth(out, rung_probe_depth_at(probe, i));
    rung_jout_end(out);
}

void rung_probe_cost_json(rung_jout *out, const rung_probe_cost *cost)
{
    rung_jout_int(out, "cells", (int64_t)cost->cells);
    rung_jout_int(out, "names", (int64_t)cost->names);
    rung_jout_int(out, "requests", (int64_t)cost->requests);
    rung_jout_int(out, "requests_most", (int64_t)cost->requests_most);
    rung_jout_int(out, "tokens", (int64_t)cost->tokens);
    rung_jout_int(out, "tokens_most", (int64_t)cost->tokens_most);
    rung_jout_int(out, "longest_prompt", (int64_t)cost->longest);
}

bool rung_probe_says_something(const rung_probe *probe)
{
    for (size_t i = 0; i < rung_probe_cell_count(probe); i++) {
        rung_probe_finding finding = rung_probe_finding_of(probe, i);
        if (strcmp(rung_probe_cell_at(probe, i)->mode, "direct") == 0 && finding != RUNG_FINDING_UNREAD &&
            finding != RUNG_FINDING_REFUSED)
            return true;
    }
    return false;
}
