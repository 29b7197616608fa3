/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Figures with their spread and their bars, and the subjects that make them.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench_inside.h"

/* ---- figures --------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *x, size_t count)
{
    qsort(x, count, sizeof *x, by_size);
    return count % 2 ? x[count / 2] : (x[count / 2 - 1] + x[count / 2]) / 2;
}

void bench_samples_add(bench_samples *samples, double value)
{
    if (samples->count < RUNG_BENCH_RUNS_MAX) samples->at[samples->count++] = value;
}

void bench_samples_divide(bench_samples *out, const bench_samples *above, const bench_samples *below)
{
    out->count = 0;
    for (size_t i = 0; i < above->count && i < below->count; i++) bench_samples_add(out, above->at[i] / below->at[i]);
}

rung_bench_figure *bench_row_number(rung_bench_row *row, const char *key, double value)
{
    rung_bench_figure *f = &row->figure[row->count < RUNG_BENCH_FIGURES_MAX - 1 ? row->count++ : row->count];
    *f = (rung_bench_figure){.key = key, .value = value, .bar = NAN};
    return f;
}

rung_bench_figure *bench_row_samples(rung_bench_row *row, const char *key, const bench_samples *samples)
{
    bench_samples sorted = *samples;
    rung_bench_figure *f = bench_row_number(row, key, bench_median(sorted.at, sorted.count));
    f->low = sorted.at[0], f->high = sorted.at[sorted.count - 1], f->rounds = true;
    return f;
}

bool rung_bench_figure_missed(const rung_bench_figure *f)
{
    return f->most ? f->value > f->bar : f->value < f->bar; /* false for NAN */
}

/* ---- the machine ----------------------------------------------------------------------------------------------- */

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

double bench_cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_processor_s(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           1e-6 * ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec);
}

static double own_s(void)
{
    return bench_processor_s(RUSAGE_SELF) + bench_processor_s(RUSAGE_CHILDREN);
}

size_t bench_peak_memory(void)
{
    char line[256];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %zu kB", &kib) == 1) break;
    if (file) fclose(file);
    return kib * 1024;
}

rung_status bench_file(char path[64], rung_error *err)
{
    snprintf(path, 64, "/tmp/rung-bench-XXXXXX");
    int file = mkstemp(path);
    if (file < 0) return rung_fail(err, RUNG_SYSTEM, "no file can be made in /tmp");
    close(file);
    return RUNG_OK;
}

size_t bench_or_usual(int64_t given, size_t usual)
{
    return given ? (size_t)given : usual;
}

size_t bench_times(double seconds, double wanted_s, const rung_bench_options *conf)
{
    return conf->quick || seconds > wanted_s ? 1 : 1 + (size_t)(wanted_s / fmax(seconds, 1e-3));
}

/* ---- report ---------------------------------------------------------------------------------------------------- */

rung_status bench_report_room(rung_bench_report *report, size_t capacity, rung_error *err)
{
    report->capacity = capacity;
    report->rows = rung_calloc(capacity, sizeof *report->rows, err);
    return report->rows ? RUNG_OK : RUNG_SYSTEM;
}

rung_status bench_report_row(rung_bench_report *report, const rung_bench_row *row, rung_error *err)
{
    rung_bench_row *kept = &report->rows[report->count++];
    *kept = *row;
    for (size_t i = 0; i < kept->count; i++) {
        if (!report->judged) kept->figure[i].bar = NAN;
        report->missed += rung_bench_figure_missed(&kept->figure[i]);
    }
    return report->watch->speed ? report->watch->speed(report->watch->context, report, err) : RUNG_OK;
}

void bench_note(const rung_bench_report *report, const char *format, ...)
{
    char text[512];
    va_list args;
    if (!report->watch->note) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    report->watch->note(report->watch->context, text);
}

void bench_report_peak(rung_bench_report *report)
{
    report->peak = fmax(report->peak, bench_peak_now(report->threads));
}

rung_bench_figure *bench_report_share(rung_bench_row *row, const char *key, const bench_samples *gflops,
                                      const rung_bench_report *report)
{
    bench_samples share = *gflops;
    for (size_t i = 0; i < share.count; i++) share.at[i] /= report->peak;
    bench_row_number(row, "peak_gflops", report->peak);
    return bench_row_samples(row, key, &share);
}

/* ---- subjects -------------------------------------------------------------------------------------------------- */

static rung_status (*const subjects[])(rung_bench_report *report, rung_error *err) = {
    bench_peak, bench_products, bench_step, bench_mixers, bench_length, bench_memory};
const char *const rung_bench_speeds[] = {"peak", "products", "step", "mixers", "length", "memory", NULL};

void rung_bench_report_clear(rung_bench_report *report)
{
    free(report->rows);
    report->rows = NULL;
}

rung_status rung_bench_speed(rung_bench_report *report, const char *subject, const rung_bench_options *conf,
                             const rung_bench_watch *watch, rung_error *err)
{
    size_t known = 0;
    *report = (rung_bench_report){.conf = conf,
                                  .watch = watch,
                                  .subject = subject,
                                  .threads = conf->threads ? (size_t)conf->threads : rung_cpu_threads(),
                                  .runs = conf->quick ? 2 : (size_t)conf->runs,
                                  .judged = !conf->quick,
                                  .started_s = rung_wall_s(),
                                  .busy_s = busy_s() - own_s()};
    while (rung_bench_speeds[known] && strcmp(rung_bench_speeds[known], subject) != 0) known++;
    if (!rung_bench_speeds[known])
        return rung_fail_unknown(err, "subject", subject, rung_bench_speeds, RUNG_COUNT(subjects));
    rung_status status = subjects[known](report, err);
    report->others = (busy_s() - own_s() - report->busy_s) / (rung_wall_s() - report->started_s);
    return status;
}
