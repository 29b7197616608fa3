/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Measurements of `rung bench` as text, row by row, and as one JSON object at the end.
 */
#include "bench_print.h"

#include <math.h>

#include "output.h"
#include "rung/render.h"

static rung_status put_now(rung_buf *text, rung_error *err)
{
    rung_status status = tool_out_buf(text, err);
    rung_buf_clear(text);
    RUNG_TRY(status);
    return tool_out_finish(err);
}

/* ---- speed ----------------------------------------------------------------------------------------------------- */

/* "share_of_peak" as words. */
static void print_key(rung_buf *out, const char *key)
{
    size_t width = 0;
    for (; *key; key++, width++) rung_buf_putc(out, *key == '_' ? ' ' : *key);
    for (; width < 30; width++) rung_buf_putc(out, ' ');
}

static void print_number(rung_buf *out, double value, int width)
{
    double size = fabs(value);
    int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3;
    rung_buf_printf(out, "%*.*f", width, decimals, value);
}

static void print_figure(rung_buf *out, const rung_bench_figure *f)
{
    rung_buf_puts(out, "  ");
    print_key(out, f->key);
    print_number(out, f->value, 10);
    if (f->rounds) {
        rung_buf_puts(out, "  (");
        print_number(out, f->low, 0);
        rung_buf_puts(out, " to ");
        print_number(out, f->high, 0);
        rung_buf_putc(out, ')');
    }
    if (!isnan(f->bar)) {
        rung_buf_puts(out, f->most ? "  bar: at most " : "  bar: at least ");
        print_number(out, f->bar, 0);
    }
    rung_buf_puts(out, rung_bench_figure_missed(f) ? ", missed\n" : "\n");
}

static void print_speed_head(rung_buf *out, const rung_bench_report *report)
{
    rung_buf_printf(out, "%s, %zu %s, medians of %zu rounds (least to largest)%s%s\n", rung_isa_name(rung_cpu_isa()),
                    report->threads, report->threads == 1 ? "thread" : "threads", report->runs,
                    *report->peer ? "; beside " : "", report->peer);
}

static rung_status show_speed(void *context, const rung_bench_report *report, rung_error *err)
{
    const tool_call *call = context;
    const rung_bench_row *row = &report->rows[report->count - 1];
    rung_buf text;
    if (call->json) return RUNG_OK;
    rung_buf_init(&text);
    if (report->count == 1) print_speed_head(&text, report);
    rung_buf_printf(&text, "%s\n", row->name);
    for (size_t i = 0; i < row->count; i++) print_figure(&text, &row->figure[i]);
    return put_now(&text, err);
}

static void json_figure(rung_jout *out, const rung_bench_figure *f)
{
    rung_jout_flat_object(out, f->key);
    rung_jout_real(out, "value", f->value);
    if (f->rounds) {
        rung_jout_real(out, "low", f->low);
        rung_jout_real(out, "high", f->high);
    }
    if (!isnan(f->bar)) {
        rung_jout_real(out, f->most ? "at_most" : "at_least", f->bar);
        rung_jout_bool(out, "missed", rung_bench_figure_missed(f));
    }
    rung_jout_end(out);
}

static void json_speed(rung_buf *text, const rung_bench_report *report)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.bench-speed/1", true);
    rung_jout_string(&out, "subject", report->subject);
    rung_jout_string(&out, "instruction_set", rung_isa_name(rung_cpu_isa()));
    rung_jout_int(&out, "threads", (int64_t)report->threads);
    rung_jout_int(&out, "rounds", (int64_t)report->runs);
    rung_jout_string(&out, "peer", *report->peer ? report->peer : NULL);
    rung_jout_real(&out, "cores_busy_with_other_programs", report->others);
    rung_jout_array(&out, "rows");
    for (const rung_bench_row *row = report->rows; row < report->rows + report->count; row++) {
        rung_jout_object(&out, NULL);
        rung_jout_string(&out, "name", row->name);
        for (size_t i = 0; i < row->count; i++) json_figure(&out, &row->figure[i]);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_finish(&out);
}

/* ---- exact ----------------------------------------------------------------------------------------------------- */

static void print_exact_head(rung_buf *out, const rung_bench_exact_report *b)
{
    rung_buf_printf(out,
                    "exact softmax attention against fp32 (%s), one causal layer, one head, n = %zu, dk = dv = %zu, "
                    "%zu %s\n%-8s %12s %12s %8s %6s %14s %14s\n",
                    rung_isa_name(rung_cpu_isa()), b->tokens, b->dim, b->threads,
                    b->threads == 1 ? "thread" : "threads", "format", "exact ms", "fp32 ms", "ratio", "bar",
                    "bytes at n", "bytes at 2n");
}

static void print_exact_row(rung_buf *out, const rung_bench_exact_row *r)
{
    char bar[16] = "-";
    if (!isnan(r->bar)) snprintf(bar, sizeof bar, "%.3g", r->bar);
    rung_buf_printf(out, "%-8s %12.3f %12.3f %8.2f %6s %14zu %14zu%s\n", r->fmt.name, r->exact_ms, r->fp32_ms, r->ratio,
                    bar, r->state_bytes, r->twice_bytes, rung_bench_too_slow(r) ? "  too slow" : "");
}

static void print_mixed_row(rung_buf *out, const rung_bench_mixed_row *r, bool first)
{
    char bar[16] = "-";
    if (!isnan(r->bar)) snprintf(bar, sizeof bar, "%.0f", r->bar);
    if (first)
        rung_buf_printf(out, "\ngdelta,full in mixed formats against f32, one thread\n%-32s %12s %12s %8s %6s\n",
                        "formats", "mixed ms", "f32 ms", "ratio", "bar");
    rung_buf_printf(out, "%-32s %12.3f %12.3f %8.2f %6s%s\n", r->numbers, r->mixed_ms, r->single_ms, r->ratio, bar,
                    rung_bench_mixed_too_slow(r) ? "  too slow" : "");
}

static void json_mixed(rung_jout *out, const rung_bench_exact_report *b)
{
    rung_jout_array(out, "mixed");
    for (const rung_bench_mixed_row *r = b->mixed; r < b->mixed + b->mixed_count; r++) {
        rung_jout_flat_object(out, NULL);
        rung_jout_string(out, "numbers", r->numbers);
        rung_jout_real(out, "mixed_ms", r->mixed_ms);
        rung_jout_real(out, "f32_ms", r->single_ms);
        rung_jout_real(out, "ratio", r->ratio);
        rung_jout_real(out, "bar", r->bar);
        rung_jout_bool(out, "too_slow", rung_bench_mixed_too_slow(r));
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

static void json_exact(rung_buf *text, const rung_bench_exact_report *b)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.bench/1", true);
    rung_jout_string(&out, "instruction_set", rung_isa_name(rung_cpu_isa()));
    rung_jout_int(&out, "tokens", (int64_t)b->tokens);
    rung_jout_int(&out, "dim", (int64_t)b->dim);
    rung_jout_int(&out, "threads", (int64_t)b->threads);
    rung_jout_int(&out, "runs", (int64_t)b->runs);
    rung_jout_array(&out, "rows");
    for (const rung_bench_exact_row *r = b->row; r < b->row + b->count; r++) {
        rung_jout_flat_object(&out, NULL);
        rung_jout_string(&out, "format", r->fmt.name);
        rung_jout_real(&out, "exact_ms", r->exact_ms);
        rung_jout_real(&out, "fp32_ms", r->fp32_ms);
        rung_jout_real(&out, "ratio", r->ratio);
        rung_jout_real(&out, "bar", r->bar);
        rung_jout_bool(&out, "too_slow", rung_bench_too_slow(r));
        rung_jout_int(&out, "state_bytes", (int64_t)r->state_bytes);
        rung_jout_int(&out, "state_bytes_at_twice_the_tokens", (int64_t)r->twice_bytes);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    json_mixed(&out, b);
    rung_jout_finish(&out);
}

static rung_status show_exact(void *context, const rung_bench_exact_report *report, rung_error *err)
{
    const tool_call *call = context;
    rung_buf text;
    if (call->json) return RUNG_OK;
    rung_buf_init(&text);
    if (report->mixed_count) {
        print_mixed_row(&text, &report->mixed[report->mixed_count - 1], report->mixed_count == 1);
        return put_now(&text, err);
    }
    if (report->count == 1) print_exact_head(&text, report);
    print_exact_row(&text, &report->row[report->count - 1]);
    return put_now(&text, err);
}

/* ---- break ----------------------------------------------------------------------------------------------------- */

static void print_attack(rung_buf *out, const rung_bench_attack *s, double check_bar)
{
    rung_buf_printf(out, "%-28s %-9s %3zu of %-3zu (bar %zu of %zu)  slowest %6.2f s (bar %3.0f)", s->name, s->attack,
                    s->found, s->seeds, s->needed, s->usual_seeds, s->slowest_s, s->bar_s);
    if (s->check_counts)
        rung_buf_printf(out, "  rung-check %.2f of a scalar pass (bar %.0f)", s->check_s / s->scalar_s, check_bar);
    else if (s->checked && s->accepted)
        rung_buf_printf(out, "  rung-check %.0f ms each", 1e3 * s->check_s / (double)s->accepted);
    rung_buf_puts(out, s->missed ? "  missed\n" : "\n");
}

static void json_break(rung_buf *text, const rung_bench_break_report *report)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.bench-break/1", true);
    rung_jout_array(&out, "rows");
    for (const rung_bench_attack *s = report->row; s < report->row + report->count; s++) {
        rung_jout_flat_object(&out, NULL);
        rung_jout_string(&out, "name", s->name);
        rung_jout_string(&out, "attack", s->attack);
        rung_jout_string(&out, "arch", s->arch);
        rung_jout_string(&out, "numbers", s->numbers);
        rung_jout_string(&out, "task", s->task);
        rung_jout_int(&out, "seeds", (int64_t)s->seeds);
        rung_jout_int(&out, "found", (int64_t)s->found);
        rung_jout_real(&out, "slowest_s", s->slowest_s);
        rung_jout_real(&out, "bar_s", s->bar_s);
        if (s->checked) {
            rung_jout_int(&out, "accepted", (int64_t)s->accepted);
            rung_jout_real(&out, "check_s", s->check_s);
            rung_jout_real(&out, "scalar_s", s->scalar_s);
        }
        rung_jout_bool(&out, "missed", s->missed);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_finish(&out);
}

static rung_status show_attack(void *context, const rung_bench_break_report *report, rung_error *err)
{
    const tool_call *call = context;
    rung_buf text;
    if (call->json) return RUNG_OK;
    rung_buf_init(&text);
    print_attack(&text, &report->row[report->count - 1], report->check_bar);
    return put_now(&text, err);
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

static void show_note(void *context, const char *text)
{
    tool_note(context, "%s", text);
}

rung_bench_watch tool_bench_shown(const tool_call *call)
{
    return (rung_bench_watch){
        .speed = show_speed, .exact = show_exact, .attacks = show_attack, .note = show_note, .context = (void *)call};
}

rung_status tool_bench_speed_end(const tool_call *call, const rung_bench_report *report, rung_error *err)
{
    rung_status status = RUNG_OK;
    if (call->json) {
        rung_buf text;
        rung_buf_init(&text);
        json_speed(&text, report);
        status = tool_out_buf(&text, err);
        rung_buf_clear(&text);
    }
    if (status == RUNG_OK && report->others > 0.1)
        tool_note(call, "other programs kept %.1f cores busy meanwhile%s", report->others,
                  *report->peer ? "; PyTorch suffers more from that, because its threads wait for each other" : "");
    return status;
}

rung_status tool_bench_exact_end(const tool_call *call, const rung_bench_exact_report *report, rung_error *err)
{
    rung_buf text;
    if (!call->json) return RUNG_OK;
    rung_buf_init(&text);
    json_exact(&text, report);
    return put_now(&text, err);
}

rung_status tool_bench_break_end(const tool_call *call, const rung_bench_break_report *report, rung_error *err)
{
    rung_buf text;
    if (!call->json) return RUNG_OK;
    rung_buf_init(&text);
    json_break(&text, report);
    return put_now(&text, err);
}
