/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung precision: how few bits a construction needs, over a range of sizes, with the line through them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "rung/render.h"
#include "rung/witness.h"

enum { SIZES_MAX = 32 };

typedef struct precision_values {
    const char *over, *plot;
    int64_t exponent, most, samples, limit, threads, softmax;
    bool fixed;
} precision_values;

/* "N=16,64": the key and its values, as words. */
typedef struct sizes {
    char key[32];
    char word[SIZES_MAX][64];
    double number[SIZES_MAX];
    size_t count;
} sizes;

static rung_status read_over(sizes *out, const char *text, rung_error *err)
{
    const char *equals = text ? strchr(text, '=') : NULL;
    *out = (sizes){0};
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof out->key)
        return rung_fail(err, RUNG_USAGE, "--over wants a parameter and its values, as in --over N=16,64,256");
    memcpy(out->key, text, (size_t)(equals - text));
    for (const char *at = equals + 1;; at++) {
        char item[24];
        size_t len = strcspn(at, ",");
        int64_t number;
        snprintf(item, sizeof item, "%.*s", (int)(len < sizeof item ? len : sizeof item - 1), at);
        if (out->count == SIZES_MAX || !rung_parse_int(&number, item, 1, INT32_MAX))
            return rung_fail(err, RUNG_USAGE, "--over %s: '%s' is not one of at most %d whole numbers from 1 on", text,
                             item, SIZES_MAX);
        out->number[out->count] = (double)number;
        char *word = out->word[out->count++];
        memcpy(word, text, (size_t)(equals - text) + 1);
        memcpy(word + (equals - text) + 1, item, strlen(item) + 1);
        at += len;
        if (!*at) break;
    }
    return RUNG_OK;
}

static bool interrupted(void)
{
    return tool_signal_pending() != 0;
}

static rung_precision_options conf_of(const tool_call *call)
{
    const precision_values *v = call->values;
    return (rung_precision_options){.construction = call->argument[0],
                                    .pair = call->pair,
                                    .pairs = call->pairs,
                                    .exponent_bits = v->fixed ? 0 : (int)v->exponent,
                                    .most = (int)v->most,
                                    .samples = (uint64_t)v->samples,
                                    .seed = (uint64_t)call->seed,
                                    .exhaustive_limit = (uint64_t)v->limit,
                                    .softmax = (rung_softmax)v->softmax,
                                    .threads = (size_t)v->threads,
                                    .interrupted = interrupted};
}

/* ---- results --------------------------------------------------------------------------------------------------- */

typedef struct findings {
    sizes over;
    rung_precision row[SIZES_MAX];
    size_t rows; /* finished */
    double x[SIZES_MAX], y[SIZES_MAX];
    size_t points;
    bool fitted;
    double intercept, slope;
} findings;

/* Mantissa bits of a float, all bits of a fixed-point number. */
static int size_of(const rung_precision *row)
{
    return row->format.kind == RUNG_FMT_FIXED ? row->format.bits : row->format.mantissa_bits;
}

static void fit(findings *f)
{
    for (size_t i = 0; i < f->rows; i++) {
        if (!f->row[i].found) continue;
        f->x[f->points] = log2(f->over.number[i]);
        f->y[f->points++] = size_of(&f->row[i]);
    }
    f->fitted = rung_plot_fit(&f->intercept, &f->slope, f->x, f->y, f->points);
}

static void print_row(rung_buf *out, const rung_precision *row, const char *size)
{
    char gap[32] = "-", least[32] = "-";
    if (row->gap > 0) snprintf(gap, sizeof gap, "%g", row->gap);
    if (row->gap == 0) snprintf(gap, sizeof gap, "own");
    if (row->least_gap > 0) snprintf(least, sizeof least, "%.2f", row->least_gap);
    if (!row->found) {
        rung_buf_printf(out, "%10s %8zu  none of the formats that were tried\n", size, row->tokens);
        return;
    }
    rung_buf_printf(out, "%10s %8zu  %-8s %4d %6d  %6s %9s  %-6s  %s\n", size, row->tokens, row->format.name,
                    size_of(row), row->format.bits, gap, least, row->steady ? "yes" : "no",
                    rung_evidence_names[row->evidence - 1]);
}

static void print_text(rung_buf *out, const findings *f, const tool_call *call)
{
    const precision_values *v = call->values;
    rung_buf_printf(out, "%10s %8s  %-8s %4s %6s  %6s %9s  %-6s  %s\n", f->over.key, "tokens", "format",
                    v->fixed ? "bits" : "m", "p", "gap", "least gap", "steady", "shown by");
    for (size_t i = 0; i < f->rows; i++) print_row(out, &f->row[i], strchr(f->over.word[i], '=') + 1);
    if (f->fitted)
        rung_buf_printf(out, "\nleast squares: %s = %.2f log2(%s) %c %.2f\n", v->fixed ? "bits" : "m", f->slope,
                        f->over.key, f->intercept < 0 ? '-' : '+', fabs(f->intercept));
    for (size_t i = 0; i < f->rows; i++)
        if (f->row[i].found && f->row[i].evidence != RUNG_PROVED) {
            rung_buf_printf(out, "no proof at %s: %s\n", f->over.word[i], f->row[i].reason);
            break;
        }
}

static void print_json(rung_buf *text, const findings *f, const tool_call *call)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.precision/1", true);
    rung_jout_string(&out, "construction", call->argument[0]);
    rung_jout_string(&out, "over", f->over.key);
    rung_jout_array(&out, "rows");
    for (size_t i = 0; i < f->rows; i++) {
        const rung_precision *row = &f->row[i];
        rung_jout_flat_object(&out, NULL);
        rung_jout_int(&out, "size", (int64_t)f->over.number[i]);
        rung_jout_int(&out, "tokens", (int64_t)row->tokens);
        rung_jout_bool(&out, "found", row->found);
        if (row->found) {
            rung_jout_string(&out, "format", row->format.name);
            rung_jout_int(&out, "mantissa_or_bits", size_of(row));
            rung_jout_int(&out, "number_bits", row->format.bits);
            rung_jout_real(&out, "gap", row->gap);
            rung_jout_real(&out, "least_gap", row->least_gap);
            rung_jout_bool(&out, "steady", row->steady);
            rung_jout_string(&out, "evidence", rung_evidence_names[row->evidence - 1]);
        }
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    if (f->fitted) {
        rung_jout_flat_object(&out, "fit");
        rung_jout_real(&out, "slope_per_log2", f->slope);
        rung_jout_real(&out, "intercept", f->intercept);
        rung_jout_end(&out);
    }
    rung_jout_finish(&out);
}

static rung_status write_plot(const char *path, const findings *f, const tool_call *call, rung_error *err)
{
    const precision_values *v = call->values;
    char title[160], subtitle[200] = "", x_name[64], line[80];
    const char *marks[SIZES_MAX];
    size_t points = 0;
    rung_buf svg;
    for (size_t i = 0; i < f->rows; i++)
        if (f->row[i].found) marks[points++] = strchr(f->over.word[i], '=') + 1;
    snprintf(title, sizeof title, "%s: smallest %s that is still right", call->argument[0],
             v->fixed ? "fixed-point number" : "mantissa");
    for (size_t i = 0, len = 0; i < call->pairs && len < sizeof subtitle - 1; i++)
        len += (size_t)snprintf(subtitle + len, sizeof subtitle - len, "%s%s", i ? " " : "", call->pair[i]);
    snprintf(x_name, sizeof x_name, "%s (logarithmic)", f->over.key);
    snprintf(line, sizeof line, "%.2f log2 %s %c %.2f", f->slope, f->over.key, f->intercept < 0 ? '-' : '+',
             fabs(f->intercept));
    rung_buf_init(&svg);
    rung_plot_svg(&svg, &(rung_plot){.title = title,
                                     .subtitle = subtitle,
                                     .x_name = x_name,
                                     .y_name = v->fixed ? "bits in all" : "mantissa bits",
                                     .x = f->x,
                                     .y = f->y,
                                     .mark = marks,
                                     .count = f->points,
                                     .line = f->fitted,
                                     .intercept = f->intercept,
                                     .slope = f->slope,
                                     .line_name = line});
    rung_status status = rung_buf_ok(&svg, err);
    RUNG_NEXT(status, rung_file_write(path, svg.text, svg.len, err));
    rung_buf_clear(&svg);
    return status;
}

/* ---- command --------------------------------------------------------------------------------------------------- */

static rung_status search_all(findings *f, const tool_call *call, rung_error *err)
{
    rung_precision_options conf = conf_of(call);
    rung_progress progress;
    rung_status status = RUNG_OK;
    tool_call_progress(call, &progress, "sizes", f->over.count);
    for (size_t i = 0; status == RUNG_OK && i < f->over.count && !interrupted(); i++) {
        status = rung_precision_search(&f->row[i], &conf, f->over.word[i], err);
        if (status == RUNG_OK && !interrupted()) f->rows++;
        rung_progress_tick(&progress, i + 1);
    }
    rung_progress_finish(&progress);
    return status;
}

static int run_precision(const tool_call *call, rung_error *err)
{
    const precision_values *v = call->values;
    findings f = {0};
    rung_buf text;
    RUNG_TRY(read_over(&f.over, v->over, err));
    RUNG_TRY(search_all(&f, call, err));
    fit(&f);
    rung_buf_init(&text);
    if (call->json)
        print_json(&text, &f, call);
    else
        print_text(&text, &f, call);
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    if (status == RUNG_OK && v->plot) status = write_plot(v->plot, &f, call, err);
    return status;
}

#define INT_ROW(long_name, field, least, greatest, text, value)                                                        \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_INT, .at = offsetof(precision_values, field), .metavar = "N",           \
        .help = text, .fallback = value, .low = least, .high = greatest                                                \
    }

const tool_command tool_command_precision = {
    .name = "precision",
    .summary = "the smallest number format in which a construction is still right",
    .details =
        "Formats are tried upwards, eXm1, eXm2, ... (or fixed point by total bits), each with the construction's own "
        "gap "
        "of scores and a few others, unless the parameters name one. Right means: proved for all prompts where the "
        "worst "
        "case has a proof, else every prompt, else a sample; the last column says which. steady: the next two "
        "larger formats are right as well.",
    .examples =
        (const tool_example[]){
            {"rung precision lookup keys=sign --over N=16,64,256", "bit keys: hardly any bits"},
            {"rung precision lookup keys=trig --over N=16,64,256 --svg trig.svg", "two dimensions: 2 log2 N"},
            {"rung precision lookup keys=sign --over N=16,64 --fixed", "fixed point, all splits of the bits"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "CONSTRUCTION",
             .help = "a name of 'rung list constructions'",
             .least = 1,
             .most = 1,
             .names = tool_construction_name_at},
            {0},
        },
    .pairs = "parameters of the construction and of its task",
    .options =
        (const rung_option[]){
            {.name = "over",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(precision_values, over),
             .metavar = "KEY=A,B,...",
             .help = "the parameter that varies, and its values",
             .fallback = "N=16,64,256"},
            INT_ROW("exponent", exponent, 2, 11, "exponent bits of the floats", "8"),
            INT_ROW("most", most, 1, 25, "largest mantissa that is tried (fixed point: bits beside the sign)", "25"),
            {.name = "fixed",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(precision_values, fixed),
             .help = "fixed point qI.F instead of floats"},
            INT_ROW("samples", samples, 1, 1 << 30, "prompts of a sample, where there is neither proof nor enumeration",
                    "1000"),
            INT_ROW("limit", limit, 0, 1 << 30, "most candidates for trying every prompt", "20000"),
            {.name = "softmax",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(precision_values, softmax),
             .metavar = "ORDER",
             .help = "order of the sums",
             .fallback = "online",
             .choices = rung_softmax_names},
            {.name = "svg",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(precision_values, plot),
             .metavar = "FILE",
             .help = "write a picture (SVG)",
             .complete = RUNG_COMPLETE_FILE},
            RUNG_OPTION_THREADS(precision_values, threads),
            {0},
        },
    .values_size = sizeof(precision_values),
    .run = run_precision,
};
