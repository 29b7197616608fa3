/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench step: whole training steps (forward, loss, backward, AdamW) in turns with the same steps in PyTorch,
 * from the same weights on the same tokens: the losses of the first steps must agree before anything is timed. Wall
 * time on both sides. rung bench memory: what one step needs at most, in a process of its own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_peer.h"
#include "bench_train.h"

/* Steps whose losses are compared; they also warm up. */
enum { CHECKED = 5 };
/* What one side does in a round takes at least so long: enough for a clock and a scheduler. */
static const double round_s = 0.3;

static bench_trainee_shape shape_of(const rung_bench_report *report, size_t batch)
{
    const rung_bench_options *v = report->conf;
    return (bench_trainee_shape){.arch = v->arch,
                                 .batch = bench_or_usual(v->batch, batch),
                                 .vocab = (size_t)v->vocab,
                                 .d_model = (size_t)v->d_model,
                                 .heads = (size_t)v->heads,
                                 .threads = report->threads,
                                 .compute = RUNG_COMPUTE_FP32,
                                 .seed = (uint64_t)v->seed};
}

/* ---- the same model on the other side -------------------------------------------------------------------------- */

static rung_status ask_step(rung_json_doc **answer, bench_peer *peer, const bench_trainee *t, const char *path,
                            bool compile, rung_error *err)
{
    rung_jout question;
    rung_buf text;
    bench_peer_question(&question, &text, "step");
    rung_jout_string(&question, "model", path);
    rung_jout_int(&question, "steps", CHECKED);
    rung_jout_bool(&question, "compile", compile);
    rung_jout_int(&question, "batch", (int64_t)t->shape.batch);
    rung_jout_int(&question, "tokens", (int64_t)t->shape.tokens);
    rung_jout_int(&question, "vocab", (int64_t)t->shape.vocab);
    rung_jout_int(&question, "heads", (int64_t)t->shape.heads);
    rung_jout_real(&question, "rate", t->adamw.rate);
    rung_jout_real(&question, "beta1", t->adamw.beta1);
    rung_jout_real(&question, "beta2", t->adamw.beta2);
    rung_jout_real(&question, "epsilon", t->adamw.epsilon);
    rung_jout_real(&question, "decay", t->adamw.decay);
    return bench_peer_ask(answer, peer, &question, err);
}

/* fp32 sums in another order move a loss by some 2e-7 of it, also after a few steps; a forgotten weight decay by
 * 1e-4. */
static rung_status compare_losses(const rung_json_doc *answer, const double *ours, rung_error *err)
{
    const rung_json *all = rung_json_get(rung_json_root(answer), "losses");
    for (size_t s = 0; s < BENCH_SPELLINGS; s++)
        for (size_t i = 0; i < CHECKED; i++) {
            double theirs = NAN;
            rung_json_real(&theirs, rung_json_at(rung_json_get(all, bench_spellings[s]), i));
            if (!(fabs(theirs - ours[i]) <= 1e-5 * fabs(ours[i])))
                return rung_fail(err, RUNG_SYSTEM,
                                 "PyTorch does not compute the same: its loss in step %zu is %g, ours %g", i, theirs,
                                 ours[i]);
        }
    return RUNG_OK;
}

static rung_status meet_peer(bench_peer *peer, rung_bench_row *row, const bench_trainee *t, const double *losses,
                             const char *path, const rung_bench_report *report, rung_error *err)
{
    rung_json_doc *answer;
    double group = NAN;
    RUNG_TRY(ask_step(&answer, peer, t, path, report->judged, err));
    rung_status status = compare_losses(answer, losses, err);
    rung_json_real(&group, rung_json_get(rung_json_root(answer), "group"));
    bench_row_number(row, "pytorch_best_sequences_at_a_time", group);
    if (status == RUNG_OK) bench_peer_note_form(report, row, rung_json_root(answer));
    rung_json_free(answer);
    return status;
}

/* ---- rounds ---------------------------------------------------------------------------------------------------- */

typedef struct step_rounds {
    bench_samples speed, gflops, bf16, peer[BENCH_SPELLINGS]; /* thousand tokens per second */
} step_rounds;

static rung_status time_ours(double *seconds, bench_trainee *t, size_t times, rung_error *err)
{
    double loss, start = rung_wall_s();
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < times && status == RUNG_OK; i++) status = bench_trainee_step(&loss, t, err);
    *seconds = (rung_wall_s() - start) / (double)times;
    return status;
}

/* The same steps with products of bf16 numbers, if they are asked for. */
static rung_status time_bf16(step_rounds *r, bench_trainee *other, size_t times, rung_error *err)
{
    double seconds, thousand = 1e-3 * (double)(other->shape.batch * other->shape.tokens);
    if (!other->net) return RUNG_OK;
    RUNG_TRY(time_ours(&seconds, other, times, err));
    bench_samples_add(&r->bf16, thousand / seconds);
    return RUNG_OK;
}

/* The peak, ours, theirs in both spellings: one after the other, so that a slow phase of the machine meets all. */
static rung_status play_rounds(step_rounds *r, bench_trainee *t, bench_trainee *other, bench_peer *peer,
                               rung_bench_report *report, rung_error *err)
{
    double seconds, thousand = 1e-3 * (double)(t->shape.batch * t->shape.tokens);
    rung_status status = time_ours(&seconds, t, 1, err);
    size_t times = bench_times(seconds, round_s, report->conf), their_times[BENCH_SPELLINGS];
    for (size_t s = 0; s < BENCH_SPELLINGS && peer->process && status == RUNG_OK; s++) {
        status = bench_peer_time(&seconds, peer, s, "step", 1, err);
        their_times[s] = bench_times(seconds, round_s, report->conf);
    }
    for (size_t run = 0; run < report->runs && status == RUNG_OK; run++) {
        bench_report_peak(report);
        status = time_ours(&seconds, t, times, err);
        bench_samples_add(&r->speed, thousand / seconds);
        bench_samples_add(&r->gflops, 1e-6 * t->flops * thousand / seconds);
        RUNG_NEXT(status, time_bf16(r, other, times, err));
        for (size_t s = 0; s < BENCH_SPELLINGS && peer->process && status == RUNG_OK; s++) {
            status = bench_peer_time(&seconds, peer, s, "step", their_times[s], err);
            bench_samples_add(&r->peer[s], thousand / seconds);
        }
    }
    return status;
}

/* ---- bars ------------------------------------------------------------------------------------------------------ */

/* For a decoder of 2 or 4 layers, 4 heads, batch 64, vocab 64. With d_model 128: times the best form of PyTorch, and the
 * share of the peak; with d_model 256 the share alone. */
static const double current_bar = 1.7, older_bar = 2;
static const double share_bar = 0.70, wide_share_bar = 0.75;

static bool is_usual(const bench_trainee_shape *s)
{
    return strcmp(s->arch, "full") == 0 && s->heads == 4 && s->batch == 64 && s->vocab == 64 &&
           (s->layers == 2 || s->layers == 4) && (s->tokens == 64 || s->tokens == 256 || s->tokens == 1024);
}

static double share_bar_of(const bench_trainee_shape *s)
{
    if (!is_usual(s) || rung_cpu_isa() == RUNG_ISA_REF) return NAN;
    return s->d_model == 128 ? share_bar : s->d_model == 256 ? wide_share_bar : NAN;
}

/* bf16 beside fp32 where the processor has AVX512_BF16: for d_model 256. */
static const double bf16_bar = 1.5;

static void fill_bf16(rung_bench_row *row, const step_rounds *r, const bench_trainee_shape *shape)
{
    bench_samples quotient;
    if (!r->bf16.count) return;
    bench_row_samples(row, "bf16_ktok_per_s", &r->bf16);
    bench_samples_divide(&quotient, &r->bf16, &r->speed);
    rung_bench_figure *ratio = bench_row_samples(row, "bf16_to_fp32", &quotient);
    if (rung_cpu_bf16() && is_usual(shape) && shape->d_model == 256) ratio->bar = bf16_bar;
}

static void fill_row(rung_bench_row *row, const step_rounds *r, const bench_trainee_shape *shape,
                     const rung_bench_report *report, const bench_peer *peer)
{
    static const char *const speeds[] = {"pytorch_ktok_per_s", "pytorch_best_ktok_per_s"};
    static const char *const ratios[] = {"ratio", "ratio_to_best"};
    bench_samples quotient;
    bool judged = is_usual(shape) && shape->d_model == 128;
    bench_row_samples(row, "ktok_per_s", &r->speed);
    bench_row_samples(row, "gflops", &r->gflops);
    bench_report_share(row, "share_of_peak", &r->gflops, report)->bar = share_bar_of(shape);
    fill_bf16(row, r, shape);
    for (size_t s = 0; s < BENCH_SPELLINGS && r->peer[s].count; s++) {
        bench_row_samples(row, speeds[s], &r->peer[s]);
        bench_samples_divide(&quotient, &r->speed, &r->peer[s]);
        /* Bars are for the best form, and for a processor with AVX-512. */
        rung_bench_figure *ratio = bench_row_samples(row, ratios[s], &quotient);
        if (s == 1 && judged && rung_cpu_isa() == RUNG_ISA_AVX512) ratio->bar = peer->current ? current_bar : older_bar;
    }
}

/* ---- the subjects ---------------------------------------------------------------------------------------------- */

static rung_status prepare(rung_bench_row *row, bench_trainee *t, bench_peer *peer, const rung_bench_report *report,
                           rung_error *err)
{
    char path[64] = "";
    double losses[CHECKED];
    rung_status status = peer->process ? bench_file(path, err) : RUNG_OK;
    if (status == RUNG_OK && peer->process) status = rung_net_write(t->net, path, "rung bench", err);
    for (size_t i = 0; i < CHECKED && status == RUNG_OK; i++) status = bench_trainee_step(&losses[i], t, err);
    if (status == RUNG_OK && !isfinite(losses[CHECKED - 1]))
        status = rung_fail(err, RUNG_USAGE, "%s: the loss is no number after %d steps; a delta rule needs unit=1",
                           t->shape.arch, CHECKED);
    if (status == RUNG_OK) bench_row_number(row, "loss_at_first", losses[0]);
    if (status == RUNG_OK && peer->process) status = meet_peer(peer, row, t, losses, path, report, err);
    if (*path) unlink(path);
    return status;
}

static rung_status measure(rung_bench_report *report, bench_peer *peer, const bench_trainee_shape *shape,
                           rung_error *err)
{
    bench_peer nobody = {0}, *other = strcmp(shape->arch, "full") == 0 ? peer : &nobody;
    rung_bench_row row = {.count = 0};
    bench_trainee t, bf16 = {.net = NULL};
    bench_trainee_shape bf16_shape = *shape;
    bf16_shape.compute = RUNG_COMPUTE_BF16;
    step_rounds *r = rung_calloc(1, sizeof *r, err);
    if (!r) return RUNG_SYSTEM;
    snprintf(row.name, sizeof row.name, "%zu layers, %zu tokens", shape->layers, shape->tokens);
    rung_status status = bench_trainee_init(&t, shape, err);
    if (status == RUNG_OK && report->conf->compute + 1 == RUNG_COMPUTE_BF16)
        status = bench_trainee_init(&bf16, &bf16_shape, err);
    RUNG_NEXT(status, prepare(&row, &t, other, report, err));
    RUNG_NEXT(status, play_rounds(r, &t, &bf16, other, report, err));
    if (status == RUNG_OK) fill_row(&row, r, shape, report, peer);
    RUNG_NEXT(status, bench_report_row(report, &row, err));
    bench_trainee_clear(&t);
    if (bf16.net) bench_trainee_clear(&bf16);
    free(r);
    return status;
}

rung_status bench_step(rung_bench_report *report, rung_error *err)
{
    static const rung_sizes usual_layers = {{2, 4}, 2}, usual_tokens = {{64, 256}, 2};
    const rung_bench_options *v = report->conf;
    const rung_sizes *layers = v->layers.len ? &v->layers : &usual_layers;
    const rung_sizes *tokens = v->tokens.len ? &v->tokens : &usual_tokens;
    bench_peer peer = {0};
    bench_trainee_shape shape = shape_of(report, 64);
    rung_status status = bench_report_room(report, layers->len * tokens->len, err);
    RUNG_NEXT(status, bench_peer_start(&peer, report, err));
    if (peer.process && strcmp(shape.arch, "full") != 0)
        bench_note(report, "PyTorch trains --arch full only: rung is measured alone");
    for (size_t l = 0; l < layers->len; l++)
        for (size_t n = 0; n < tokens->len && status == RUNG_OK; n++) {
            shape.layers = (size_t)layers->at[l], shape.tokens = (size_t)tokens->at[n];
            status = measure(report, &peer, &shape, err);
        }
    bench_peer_stop(&peer);
    return status;
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* In the child: two steps, then what the process had at most goes into the pipe; 0 says that it failed. */
static void measure_in_child(int out, const bench_trainee_shape *shape)
{
    bench_trainee t;
    rung_error err;
    double loss;
    size_t bytes = 0;
    rung_status status = bench_trainee_init(&t, shape, &err);
    for (int i = 0; i < 2 && status == RUNG_OK; i++) status = bench_trainee_step(&loss, &t, &err);
    if (status == RUNG_OK) bytes = bench_peak_memory();
    if (status != RUNG_OK) fprintf(stderr, "rung: %s\n", err.text);
    ssize_t written = write(out, &bytes, sizeof bytes);
    _exit(written == (ssize_t)sizeof bytes ? 0 : RUNG_SYSTEM);
}

static rung_status memory_of(size_t *bytes, const bench_trainee_shape *shape, rung_error *err)
{
    int ends[2];
    if (pipe(ends) != 0) return rung_fail(err, RUNG_SYSTEM, "no pipe can be made");
    fflush(NULL);
    pid_t child = fork(); /* before this process has any memory worth speaking of */
    if (child == 0) measure_in_child(ends[1], shape);
    close(ends[1]);
    *bytes = 0;
    bool ok = child > 0 && read(ends[0], bytes, sizeof *bytes) == (ssize_t)sizeof *bytes && *bytes;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return ok ? RUNG_OK
              : rung_fail(err, RUNG_SYSTEM, "the memory of a step at %zu tokens could not be measured", shape->tokens);
}

rung_status bench_memory(rung_bench_report *report, rung_error *err)
{
    static const rung_sizes usual_layers = {{2}, 1}, usual_tokens = {{4096}, 1};
    const rung_bench_options *v = report->conf;
    const rung_sizes *layers = v->layers.len ? &v->layers : &usual_layers;
    const rung_sizes *tokens = v->tokens.len ? &v->tokens : &usual_tokens;
    bench_trainee_shape shape = shape_of(report, 4);
    rung_status status = bench_report_room(report, layers->len * tokens->len, err);
    for (size_t l = 0; l < layers->len; l++)
        for (size_t n = 0; n < tokens->len && status == RUNG_OK; n++) {
            rung_bench_row row = {.count = 0};
            size_t bytes;
            shape.layers = (size_t)layers->at[l], shape.tokens = (size_t)tokens->at[n];
            status = memory_of(&bytes, &shape, err);
            snprintf(row.name, sizeof row.name, "%zu layers, %zu tokens, batch %zu", shape.layers, shape.tokens,
                     shape.batch);
            rung_bench_figure *f = bench_row_number(&row, "peak_mib", (double)bytes / 1048576);
            f->most = true;
            if (shape.layers == 2 && shape.tokens == 4096 && shape.d_model == 128 && shape.batch == 4) f->bar = 1024;
            RUNG_NEXT(status, bench_report_row(report, &row, err));
        }
    return status;
}
