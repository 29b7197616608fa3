/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Figures of `rung bench`, with their spread and their bars, as text and as JSON.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "json_out.h"
#include "output.h"

/* ---- figures --------------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double rung_bench_median(double *x, size_t count)
{
    qsort(x, count, sizeof *x, by_size);
    return count % 2 ? x[count / 2] : (x[count / 2 - 1] + x[count / 2]) / 2;
}

void rung_samples_add(rung_samples *samples, double value)
{
    if (samples->count < RUNG_BENCH_RUNS_MAX) samples->at[samples->count++] = value;
}

void rung_samples_divide(rung_samples *out, const rung_samples *above, const rung_samples *below)
{
    out->count = 0;
    for (size_t i = 0; i < above->count && i < below->count; i++) rung_samples_add(out, above->at[i] / below->at[i]);
}

rung_figure *rung_row_number(rung_bench_row *row, const char *key, double value)
{
    rung_figure *f = &row->figure[row->count < RUNG_FIGURES_MAX - 1 ? row->count++ : row->count];
    *f = (rung_figure){.key = key, .value = value, .bar = NAN};
    return f;
}

rung_figure *rung_row_samples(rung_bench_row *row, const char *key, const rung_samples *samples)
{
    rung_samples sorted = *samples;
    rung_figure *f = rung_row_number(row, key, rung_bench_median(sorted.at, sorted.count));
    f->low = sorted.at[0], f->high = sorted.at[sorted.count - 1], f->rounds = true;
    return f;
}

static bool is_missed(const rung_figure *f)
{
    return f->most ? f->value > f->bar : f->value < f->bar; /* false for NAN */
}

/* ---- the machine ----------------------------------------------------------------------------------------------------- */

/* Processor time that everybody on this machine has used since it was started; 0 when the system does not say. */
static double busy_s(void)
{
    double user = 0, nice_ = 0, system = 0, busy = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (!file) return 0;
    if (fscanf(file, "cpu %lf %lf %lf", &user, &nice_, &system) == 3)
        busy = (user + nice_ + system) / (double)sysconf(_SC_CLK_TCK);
    fclose(file);
    return busy;
}

double rung_bench_cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double rung_bench_processor_s(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           1e-6 * ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec);
}

static double own_s(void)
{
    return rung_bench_processor_s(RUSAGE_SELF) + rung_bench_processor_s(RUSAGE_CHILDREN);
}

size_t rung_bench_peak_memory(void)
{
    char line[256];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %zu kB", &kib) == 1) break;
    if (file) fclose(file);
    return kib * 1024;
}

rung_status rung_bench_file(char path[64], rung_error *err)
{
    snprintf(path, 64, "/tmp/rung-bench-XXXXXX");
    int file = mkstemp(path);
    if (file < 0) return rung_fail(err, RUNG_SYSTEM, "no file can be made in /tmp");
    close(file);
    return RUNG_OK;
}

size_t rung_bench_or_usual(int64_t given, size_t usual)
{
    return given ? (size_t)given : usual;
}

size_t rung_bench_times(double seconds, double wanted_s, const rung_call *call)
{
    const rung_bench_values *v = call->values;
    return v->quick || seconds > wanted_s ? 1 : 1 + (size_t)(wanted_s / fmax(seconds, 1e-3));
}

/* ---- report ---------------------------------------------------------------------------------------------------------- */

rung_status rung_report_init(rung_bench_report *report, const rung_call *call, const char *subject, size_t capacity,
                             rung_error *err)
{
    const rung_bench_values *v = call->values;
    *report = (rung_bench_report){.call = call,
                                  .subject = subject,
                                  .threads = v->threads ? (size_t)v->threads : rung_cpu_threads(),
                                  .runs = v->quick ? 2 : (size_t)v->runs,
                                  .judged = !v->quick,
                                  .capacity = capacity,
                                  .started_s = rung_wall_s(),
                                  .busy_s = busy_s() - own_s()};
    report->rows = rung_calloc(capacity, sizeof *report->rows, err);
    return report->rows ? RUNG_OK : RUNG_SYSTEM;
}

void rung_report_peak(rung_bench_report *report)
{
    report->peak = fmax(report->peak, rung_bench_peak_now(report->threads));
}

rung_figure *rung_report_share(rung_bench_row *row, const char *key, const rung_samples *gflops,
                               const rung_bench_report *report)
{
    rung_samples share = *gflops;
    for (size_t i = 0; i < share.count; i++) share.at[i] /= report->peak;
    rung_row_number(row, "peak_gflops", report->peak);
    return rung_row_samples(row, key, &share);
}

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

static void print_figure(rung_buf *out, const rung_figure *f)
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
    rung_buf_puts(out, is_missed(f) ? ", missed\n" : "\n");
}

static void print_head(rung_buf *out, const rung_bench_report *report)
{
    rung_buf_printf(out, "%s, %zu %s, medians of %zu rounds (least to largest)%s%s\n", rung_isa_name(rung_cpu_isa()),
                    report->threads, report->threads == 1 ? "thread" : "threads", report->runs,
                    *report->peer ? "; beside " : "", report->peer);
}

rung_status rung_report_row(rung_bench_report *report, const rung_bench_row *row, rung_error *err)
{
    rung_bench_row *kept = &report->rows[report->count++];
    *kept = *row;
    for (size_t i = 0; i < kept->count; i++) {
        if (!report->judged) kept->figure[i].bar = NAN;
        report->missed += is_missed(&kept->figure[i]);
    }
    if (report->call->json) return RUNG_OK;
    rung_buf text;
    rung_buf_init(&text);
    if (report->count == 1) print_head(&text, report);
    rung_buf_printf(&text, "%s\n", kept->name);
    for (size_t i = 0; i < kept->count; i++) print_figure(&text, &kept->figure[i]);
    rung_status status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    return status == RUNG_OK ? rung_out_finish(err) : status;
}

static void json_figure(rung_jout *out, const rung_figure *f)
{
    rung_jout_flat_object(out, f->key);
    rung_jout_real(out, "value", f->value);
    if (f->rounds) {
        rung_jout_real(out, "low", f->low);
        rung_jout_real(out, "high", f->high);
    }
    if (!isnan(f->bar)) {
        rung_jout_real(out, f->most ? "at_most" : "at_least", f->bar);
        rung_jout_bool(out, "missed", is_missed(f));
    }
    rung_jout_end(out);
}

static void json_report(rung_buf *text, const rung_bench_report *report, double others)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.bench-speed/1", true);
    rung_jout_string(&out, "subject", report->subject);
    rung_jout_string(&out, "instruction_set", rung_isa_name(rung_cpu_isa()));
    rung_jout_int(&out, "threads", (int64_t)report->threads);
    rung_jout_int(&out, "rounds", (int64_t)report->runs);
    rung_jout_string(&out, "peer", *report->peer ? report->peer : NULL);
    rung_jout_real(&out, "cores_busy_with_other_programs", others);
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

int rung_report_finish(rung_bench_report *report, rung_status status, rung_error *err)
{
    double others = (busy_s() - own_s() - report->busy_s) / (rung_wall_s() - report->started_s);
    if (status == RUNG_OK && report->call->json) {
        rung_buf text;
        rung_buf_init(&text);
        json_report(&text, report, others);
        status = rung_out_buf(&text, err);
        rung_buf_clear(&text);
    }
    if (status == RUNG_OK && others > 0.1)
        rung_note(report->call, "other programs kept %.1f cores busy meanwhile%s", others,
                  *report->peer ? "; PyTorch suffers more from that, because its threads wait for each other" : "");
    free(report->rows);
    return status != RUNG_OK ? (int)status : report->missed ? RUNG_NEGATIVE : 0;
}
