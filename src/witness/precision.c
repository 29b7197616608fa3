/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Searches smallest formats. Whether a construction is right in a format is decided by the worst case if there is a
 * proof, else by all prompts, else by a sample. At the edge rightness is not monotone in the mantissa, so formats are
 * tried upwards one by one, and the next two are checked as well.
 */
#include "rung/witness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = 64 };

typedef struct search {
    const rung_precision_options *conf;
    const char *pair[PAIRS_MAX];
    size_t pairs;
    char gap_pair[48];
    rung_evidence evidence;
    char reason[256];
    size_t tokens;
} search;

/* Judges the model at this gap in this format. */
static rung_status verdict_of(bool *right, search *s, const rung_model *model, const rung_task_conf *task,
                              const rung_fmt *fmt, rung_error *err)
{
    rung_verify_options conf = {.samples = s->conf->samples,
                                .seed = s->conf->seed,
                                .how = {.numbers = fmt, .softmax = s->conf->softmax, .threads = s->conf->threads},
                                .interrupted = s->conf->interrupted};
    rung_finding found;
    RUNG_TRY(rung_finding_of(&found, model, task, &conf, s->conf->exhaustive_limit, err));
    *right = found.right, s->evidence = found.evidence;
    snprintf(s->reason, sizeof s->reason, "%s", found.reason);
    return RUNG_OK;
}

static bool has_gap(const rung_construction *how)
{
    return rung_param_find(how->params, "gap") != SIZE_MAX;
}

/* gap = 0: the construction chooses it. *built is false if it refuses this gap. */
static rung_status build_with(rung_model **model, rung_build *b, bool *built, search *s, double gap, rung_error *err)
{
    size_t pairs = s->pairs;
    if (gap > 0) {
        snprintf(s->gap_pair, sizeof s->gap_pair, "gap=%.10g", gap);
        s->pair[pairs++] = s->gap_pair;
    }
    rung_status status = rung_build_init(b, s->conf->construction, s->pair, pairs, err);
    RUNG_NEXT(status, rung_build_model(model, b, err));
    *built = status == RUNG_OK;
    return status == RUNG_USAGE && gap > 0 ? RUNG_OK : status;
}

static rung_status right_with(bool *right, search *s, double gap, const rung_fmt *fmt, rung_error *err)
{
    rung_build b;
    rung_model *model;
    bool built;
    *right = false;
    rung_status status = build_with(&model, &b, &built, s, gap, err);
    if (status != RUNG_OK || !built) return status;
    s->tokens = b.task.tokens;
    status = verdict_of(right, s, model, &b.task, fmt, err);
    rung_model_close(model);
    return status;
}

/* Gaps that are tried in each format, the construction's own choice first. If the gap is too small, wrong keys leak; if
 * it is too large, the format cannot resolve the scores. */
static const double gaps[] = {0,   0.8,  0.95, 1.1, 1.25, 1.4, 1.5, 1.6, 1.75, 1.9, 2,  2.25,
                              2.5, 2.75, 3,    3.5, 4,    5,   6,   7,   8,    10,  12, 16};

static rung_status right_somehow(bool *right, double *gap, search *s, const rung_fmt *fmt, bool choose, rung_error *err)
{
    rung_status status = RUNG_OK;
    *right = false;
    for (size_t i = 0; status == RUNG_OK && !*right && i < (choose ? RUNG_COUNT(gaps) : 1); i++) {
        *gap = gaps[i];
        status = right_with(right, s, gaps[i], fmt, err);
    }
    return status;
}

/* ---- the next larger format -------------------------------------------------------------------------------------- */

/* The formats in rising order: eXm1, eXm2, ...; or q0.1, q0.2 q1.1, q0.3 q1.2 q2.1, ... */
static bool format_at(rung_fmt *fmt, const rung_precision_options *conf, int size, int variant)
{
    char name[24];
    rung_error err = {{0}};
    if (conf->exponent_bits) {
        if (variant) return false;
        snprintf(name, sizeof name, "e%dm%d", conf->exponent_bits, size);
    } else {
        if (variant >= size) return false;
        snprintf(name, sizeof name, "q%d.%d", variant, size - variant);
    }
    return rung_fmt_parse(fmt, name, &err) == RUNG_OK;
}

static rung_status right_at_size(bool *right, rung_precision *out, search *s, int size, bool choose, rung_error *err)
{
    rung_status status = RUNG_OK;
    rung_fmt fmt;
    *right = false;
    for (int variant = 0; status == RUNG_OK && !*right && format_at(&fmt, s->conf, size, variant); variant++) {
        double gap = 0;
        status = right_somehow(right, &gap, s, &fmt, choose, err);
        if (*right && !out->found) {
            out->format = fmt, out->gap = gap;
            out->evidence = s->evidence;
            snprintf(out->reason, sizeof out->reason, "%s", s->reason);
        }
    }
    return status;
}

/* ---- the smallest gap -------------------------------------------------------------------------------------------- */

/* Bisects to a hundredth, between a gap that is refused or wrong and one that is right. */
static rung_status search_gap(rung_precision *out, search *s, rung_error *err)
{
    double low = 0, high = out->gap > 0 ? out->gap : 64;
    bool right = false;
    rung_status status = RUNG_OK;
    for (size_t i = 1; status == RUNG_OK && out->gap == 0 && !right && i < RUNG_COUNT(gaps); i++) {
        high = gaps[i];
        status = right_with(&right, s, high, &out->format, err);
    }
    if (status != RUNG_OK || (out->gap == 0 && !right)) return status;
    while (status == RUNG_OK && high - low > 0.01) {
        double middle = round((low + high) / 2 * 100) / 100;
        if (middle <= low || middle >= high) break;
        status = right_with(&right, s, middle, &out->format, err);
        if (right)
            high = middle;
        else
            low = middle;
    }
    out->least_gap = high;
    return status;
}

rung_status rung_precision_search(rung_precision *out, const rung_precision_options *conf, const char *size,
                                  rung_error *err)
{
    search s = {.conf = conf, .pairs = conf->pairs};
    const rung_construction *how = rung_construction_get(conf->construction);
    rung_status status = RUNG_OK;
    bool right = false;
    if (conf->pairs + 3 > PAIRS_MAX) return rung_fail(err, RUNG_USAGE, "too many key=value pairs");
    for (size_t i = 0; i < conf->pairs; i++) s.pair[i] = conf->pair[i];
    s.pair[s.pairs++] = size;
    *out = (rung_precision){0};
    bool choose = how && has_gap(how);
    for (size_t i = 0; i < conf->pairs; i++) choose = choose && strncmp(conf->pair[i], "gap=", 4) != 0;
    int at = 1;
    for (; status == RUNG_OK && !right && at <= conf->most; at++) {
        if (conf->interrupted && conf->interrupted()) return RUNG_OK;
        status = right_at_size(&right, out, &s, at, choose, err);
    }
    out->found = right, out->tokens = s.tokens;
    out->steady = right;
    for (int more = 0; status == RUNG_OK && right && out->steady && more < 2 && at + more <= conf->most; more++)
        status = right_at_size(&out->steady, out, &s, at + more, choose, err);
    if (status == RUNG_OK && right && choose) status = search_gap(out, &s, err);
    return status;
}
