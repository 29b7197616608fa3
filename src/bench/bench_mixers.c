/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench mixers: each mechanism alone, forward and forward with backward, in turns with the same in PyTorch:
 * softmax attention as matrix products, the recurrent ones in the chunked forms of their papers. Outputs and
 * gradients must agree first. rung bench length: whether a token costs as much in a long sequence as in a short one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_mixer.h"
#include "bench_peer.h"

/* Bars: how many times as long both passes take in PyTorch, in its usual spelling and in its best one, and the share of
 * the fp32 peak that the forward pass reaches, counted as bench_mixer_flops does. NAN: none. */
static const struct subject {
    const char *mech;
    double ratio_bar, best_bar, share_bar;
} subjects[] = {
    {"full", 5, 3, NAN},       {"linear", 5, NAN, 0.40}, {"gla", 5, NAN, 0.40},        {"retnet", 5, NAN, 0.40},
    {"mamba2", 5, NAN, 0.40},  {"delta", 5, NAN, 0.35},  {"gdelta", 5, NAN, 0.35},     {"kda", NAN, NAN, 0.35},
    {"rwkv7", NAN, NAN, 0.30}, {"mamba", NAN, NAN, NAN}, {"loglinear", NAN, NAN, NAN},
};

enum { BATCH = 32, HEADS = 4, TOKENS = 1024, DIM = 64 };
static const double round_s = 0.1; /* at least, for one kind of work */

/* Whether the subject is asked for. */
static bool is_wanted(const struct subject *s, const rung_bench_options *v)
{
    return !v->mech || strcmp(v->mech, s->mech) == 0;
}

static rung_status check_mech(const rung_bench_options *v, rung_error *err)
{
    const char *names[RUNG_COUNT(subjects)];
    for (size_t i = 0; i < RUNG_COUNT(subjects); i++) {
        names[i] = subjects[i].mech;
        if (is_wanted(&subjects[i], v)) return RUNG_OK;
    }
    return rung_fail_unknown(err, "mechanism", v->mech, names, RUNG_COUNT(names));
}

/* ---- the same inputs on the other side ------------------------------------------------------------------------- */

static void describe_noise(rung_jout *question, const char *key, const char *name, const bench_noise_range *noise,
                           size_t width, bool scalar)
{
    rung_jout_object(question, key);
    rung_jout_string(question, "name", name);
    rung_jout_int(question, "stream", noise->stream);
    rung_jout_int(question, "width", (int64_t)width);
    rung_jout_bool(question, "scalar", scalar);
    rung_jout_float(question, "low", noise->low);
    rung_jout_float(question, "high", noise->high);
    rung_jout_end(question);
}

static rung_status ask_mixer(rung_json_doc **answer, bench_peer *peer, const bench_mixer *m, bool compile,
                             rung_error *err)
{
    static const bench_noise_range upstream = {BENCH_MIXER_UPSTREAM, -1, 1};
    const rung_mech_input *inputs = m->conf.mech->inputs;
    rung_jout question;
    rung_buf text;
    bench_peer_question(&question, &text, "mixer");
    rung_jout_string(&question, "mech", m->conf.mech->name);
    rung_jout_int(&question, "batch", (int64_t)m->batch);
    rung_jout_int(&question, "heads", (int64_t)m->conf.heads);
    rung_jout_int(&question, "tokens", (int64_t)m->tokens);
    rung_jout_bool(&question, "compile", compile);
    rung_jout_array(&question, "inputs");
    for (size_t i = 0; inputs[i].name; i++)
        if (m->row[i])
            describe_noise(&question, NULL, inputs[i].name, &m->noise[i], m->row[i] / m->conf.heads,
                           inputs[i].dim == RUNG_DIM_HEAD);
    rung_jout_end(&question);
    describe_noise(&question, "upstream", "upstream", &upstream, m->conf.dv, false);
    return bench_peer_ask(answer, peer, &question, err);
}

/* fp32 in another order: a thousandth of the root of the squares, which a product with noise is a fraction of. */
static rung_status agree(const rung_json *sums, const char *name, const float *x, size_t count, rung_error *err)
{
    double ours[2], theirs[2] = {NAN, NAN};
    const rung_json *pair = rung_json_get(sums, name);
    bench_mixer_sums(ours, x, count);
    for (size_t i = 0; i < 2; i++) rung_json_real(&theirs[i], rung_json_at(pair, i));
    if (fabs(ours[0] - theirs[0]) <= 1e-3 * ours[0] && fabs(ours[1] - theirs[1]) <= 1e-3 * sqrt(ours[0]))
        return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM,
                     "PyTorch does not compute the same %s: squares %g and product with noise %g, ours %g and %g", name,
                     theirs[0], theirs[1], ours[0], ours[1]);
}

static rung_status compare_all(const rung_json *sums, const bench_mixer *m, rung_error *err)
{
    const rung_mech_input *inputs = m->conf.mech->inputs;
    rung_status status = agree(sums, "o", m->o, bench_mixer_outputs(m), err);
    for (size_t i = 0; inputs[i].name && status == RUNG_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "d%.24s", inputs[i].name);
        if (m->row[i]) status = agree(sums, name, m->din[i], m->row[i] * m->batch * m->tokens, err);
    }
    return status;
}

/* *met = false: PyTorch has no form of this mechanism, or not at this length. */
static rung_status meet_peer(bool *met, rung_bench_row *row, bench_peer *peer, bench_mixer *m,
                             const rung_bench_report *report, rung_error *err)
{
    rung_json_doc *answer;
    bool absent = false;
    double group = NAN;
    *met = false;
    if (!peer->process || (m->tokens > 64 && m->tokens % 64)) return RUNG_OK;
    rung_status status = ask_mixer(&answer, peer, m, report->judged, err);
    RUNG_TRY(status);
    const rung_json *root = rung_json_root(answer), *sums = rung_json_get(root, "sums");
    rung_json_bool(&absent, rung_json_get(root, "absent"));
    if (!absent) bench_mixer_backward(m);
    for (size_t s = 0; s < BENCH_SPELLINGS && !absent && status == RUNG_OK; s++)
        status = compare_all(rung_json_get(sums, bench_spellings[s]), m, err);
    if (!absent && rung_json_real(&group, rung_json_get(root, "group")))
        bench_row_number(row, "pytorch_best_heads_at_a_time", group);
    if (!absent && status == RUNG_OK) bench_peer_note_form(report, row, root);
    rung_json_free(answer);
    *met = !absent;
    return status;
}

/* ---- mixers ---------------------------------------------------------------------------------------------------- */

/* [0]: forward, [1]: forward and backward. */
typedef struct mixer_rounds {
    bench_samples ours[2], gflops, peer[BENCH_SPELLINGS][2]; /* milliseconds */
} mixer_rounds;

static rung_status play_rounds(mixer_rounds *r, bench_mixer *m, bench_peer *peer, rung_bench_report *report,
                               rung_error *err)
{
    static const char *const works[2] = {"forward", "backward"};
    const double flops = bench_mixer_flops(&m->conf, m->tokens) * (double)(m->batch * m->tokens);
    size_t times[2];
    rung_status status = RUNG_OK;
    for (int w = 0; w < 2; w++) times[w] = bench_times(bench_mixer_time(m, w, 1), round_s, report->conf);
    for (size_t run = 0; run < report->runs && status == RUNG_OK; run++) {
        bench_report_peak(report);
        for (int w = 0; w < 2; w++) bench_samples_add(&r->ours[w], 1e3 * bench_mixer_time(m, w, times[w]));
        bench_samples_add(&r->gflops, 1e-6 * flops / r->ours[0].at[run]);
        for (size_t s = 0; s < BENCH_SPELLINGS && peer; s++)
            for (int w = 0; w < 2 && status == RUNG_OK; w++) {
                double seconds = 0;
                status = bench_peer_time(&seconds, peer, s, works[w], 1, err);
                bench_samples_add(&r->peer[s][w], 1e3 * seconds);
            }
    }
    return status;
}

static void fill_peer(rung_bench_row *row, const mixer_rounds *r, const double bars[BENCH_SPELLINGS])
{
    static const char *const times[BENCH_SPELLINGS][2] = {
        {"pytorch_forward_ms", "pytorch_forward_backward_ms"},
        {"pytorch_best_forward_ms", "pytorch_best_forward_backward_ms"}};
    static const char *const ratios[BENCH_SPELLINGS][2] = {{"forward_ratio", "ratio"},
                                                           {"forward_ratio_to_best", "ratio_to_best"}};
    bench_samples quotient;
    for (size_t s = 0; s < BENCH_SPELLINGS && r->peer[s][0].count; s++)
        for (int w = 0; w < 2; w++) {
            bench_row_samples(row, times[s][w], &r->peer[s][w]);
            bench_samples_divide(&quotient, &r->peer[s][w], &r->ours[w]);
            bench_row_samples(row, ratios[s][w], &quotient)->bar = w == 1 ? bars[s] : NAN;
        }
}

/* The bars are for the usual sizes; ratios for AVX-512, shares for any vectors. */
static void fill_row(rung_bench_row *row, const mixer_rounds *r, const struct subject *s, const bench_mixer *m,
                     const rung_bench_report *report)
{
    static const double none[BENCH_SPELLINGS] = {NAN, NAN};
    bool usual = m->batch == BATCH && m->conf.heads == HEADS && m->tokens == TOKENS && m->conf.dk == DIM;
    bench_row_samples(row, "forward_ms", &r->ours[0]);
    bench_row_samples(row, "forward_backward_ms", &r->ours[1]);
    bench_report_share(row, "forward_share_of_peak", &r->gflops, report)->bar =
        usual && rung_cpu_isa() != RUNG_ISA_REF ? s->share_bar : NAN;
    fill_peer(row, r, usual && rung_cpu_isa() == RUNG_ISA_AVX512 ? (const double[]){s->ratio_bar, s->best_bar} : none);
}

static rung_status init_mixer(bench_mixer *m, const rung_bench_report *report, const char *mech, size_t batch,
                              size_t tokens, rung_error *err)
{
    const rung_bench_options *v = report->conf;
    return bench_mixer_init(m, mech, batch, (size_t)v->heads, tokens, bench_or_usual(v->dim, DIM), report->threads,
                            err);
}

static rung_status measure_mixer(rung_bench_report *report, bench_peer *peer, const struct subject *s, size_t tokens,
                                 rung_error *err)
{
    const rung_bench_options *v = report->conf;
    rung_bench_row row = {.count = 0};
    bench_mixer m;
    bool met = false;
    mixer_rounds *r = rung_calloc(1, sizeof *r, err);
    if (!r) return RUNG_SYSTEM;
    snprintf(row.name, sizeof row.name, "%s, %zu tokens", s->mech, tokens);
    rung_status status = init_mixer(&m, report, s->mech, bench_or_usual(v->batch, BATCH), tokens, err);
    RUNG_NEXT(status, meet_peer(&met, &row, peer, &m, report, err));
    RUNG_NEXT(status, play_rounds(r, &m, met ? peer : NULL, report, err));
    if (status == RUNG_OK) fill_row(&row, r, s, &m, report);
    RUNG_NEXT(status, bench_report_row(report, &row, err));
    bench_mixer_clear(&m);
    free(r);
    return status;
}

rung_status bench_mixers(rung_bench_report *report, rung_error *err)
{
    static const rung_sizes usual_tokens = {{TOKENS}, 1};
    const rung_bench_options *v = report->conf;
    const rung_sizes *tokens = v->tokens.len ? &v->tokens : &usual_tokens;
    bench_peer peer = {0};
    rung_status status = check_mech(v, err);
    RUNG_NEXT(status, bench_report_room(report, RUNG_COUNT(subjects) * tokens->len, err));
    RUNG_NEXT(status, bench_peer_start(&peer, report, err));
    for (size_t i = 0; i < RUNG_COUNT(subjects); i++)
        for (size_t n = 0; n < tokens->len && status == RUNG_OK; n++)
            if (is_wanted(&subjects[i], v))
                status = measure_mixer(report, &peer, &subjects[i], (size_t)tokens->at[n], err);
    bench_peer_stop(&peer);
    return status;
}

/* ---- length ---------------------------------------------------------------------------------------------------- */

enum { SHORT = 256, LONG = 4096 };

typedef struct length_rounds {
    bench_samples speed[2][2]; /* [forward, both][short, long]: thousand tokens per second of processor time */
} length_rounds;

static void fill_length(rung_bench_row *row, const length_rounds *r, const bench_mixer *shorter,
                        const bench_mixer *longer)
{
    static const char *const keys[2][3] = {
        {"forward_ktok_per_cpu_s_short", "forward_ktok_per_cpu_s_long", "forward_long_to_short"},
        {"both_ktok_per_cpu_s_short", "both_ktok_per_cpu_s_long", "both_long_to_short"},
    };
    bool usual = shorter->tokens == SHORT && longer->tokens == LONG;
    /* Constant work per token; that of log-linear attention grows as its levels do. */
    double law = shorter->conf.mech->class_of == RUNG_CLASS_LEVELS
                     ? log2((double)shorter->tokens) / log2((double)longer->tokens)
                     : 1;
    bench_samples quotient;
    for (int w = 0; w < 2; w++) {
        for (int n = 0; n < 2; n++) bench_row_samples(row, keys[w][n], &r->speed[w][n]);
        bench_samples_divide(&quotient, &r->speed[w][1], &r->speed[w][0]);
        bench_row_samples(row, keys[w][2], &quotient)->bar = usual ? 0.85 * law : NAN;
    }
}

/* Processor time: other programs do not count, and both sides are ours. */
static double tokens_per_cpu_s(bench_mixer *m, bool backward, size_t times)
{
    double start = bench_cpu_s();
    bench_mixer_time(m, backward, times);
    return (double)(times * m->batch * m->tokens) / (bench_cpu_s() - start);
}

/* Both lengths in turns; there are as many tokens of each. */
static void play_lengths(length_rounds *r, bench_mixer m[2], const rung_bench_report *report)
{
    for (int w = 0; w < 2; w++) {
        size_t times = bench_times(bench_mixer_time(&m[1], w, 1), round_s, report->conf);
        bench_mixer_time(&m[0], w, 1);
        for (size_t run = 0; run < report->runs; run++)
            for (int n = 0; n < 2; n++) bench_samples_add(&r->speed[w][n], 1e-3 * tokens_per_cpu_s(&m[n], w, times));
    }
}

static rung_status measure_length(rung_bench_report *report, const char *mech, size_t shorter, size_t longer,
                                  rung_error *err)
{
    const rung_bench_options *v = report->conf;
    size_t batch = bench_or_usual(v->batch, BATCH), few = batch * shorter / longer;
    rung_bench_row row = {.count = 0};
    bench_mixer m[2] = {0};
    length_rounds *r = rung_calloc(1, sizeof *r, err);
    if (!r) return RUNG_SYSTEM;
    snprintf(row.name, sizeof row.name, "%s, %zu and %zu tokens", mech, shorter, longer);
    rung_status status = init_mixer(&m[0], report, mech, batch, shorter, err);
    RUNG_NEXT(status, init_mixer(&m[1], report, mech, few ? few : 1, longer, err));
    if (status == RUNG_OK) {
        play_lengths(r, m, report);
        fill_length(&row, r, &m[0], &m[1]);
        status = bench_report_row(report, &row, err);
    }
    for (int n = 0; n < 2; n++) bench_mixer_clear(&m[n]);
    free(r);
    return status;
}

rung_status bench_length(rung_bench_report *report, rung_error *err)
{
    const rung_bench_options *v = report->conf;
    rung_status status = check_mech(v, err);
    if (status == RUNG_OK && v->tokens.len && (v->tokens.len != 2 || v->tokens.at[0] > v->tokens.at[1]))
        status = rung_fail(err, RUNG_USAGE, "bench length compares two lengths: --tokens 256,4096");
    RUNG_NEXT(status, bench_report_room(report, RUNG_COUNT(subjects), err));
    size_t shorter = v->tokens.len ? (size_t)v->tokens.at[0] : SHORT,
           longer = v->tokens.len ? (size_t)v->tokens.at[1] : LONG;
    for (size_t i = 0; i < RUNG_COUNT(subjects) && status == RUNG_OK; i++)
        if (is_wanted(&subjects[i], v) && rung_mech_get(subjects[i].mech)->recurrent)
            status = measure_length(report, subjects[i].mech, shorter, longer, err);
    return status;
}
