/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung break: searches for a failure of a model on a task, and writes it as a certificate that rung-check confirms.
 * Finding nothing is UNKNOWN, never "safe".
 */
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "rung/decide.h"
#include "rung/lab.h"
#include "worker.h"

typedef struct break_values {
    tool_worker_options subject;
    const char *out, *attack, *memory, *store;
    int64_t budget, kind, expect;
} break_values;

enum { REPORT_COLUMN = 24 };

/* What the output is made of. */
typedef struct report {
    const tool_call *call;
    const tool_worker *subject;
    const rung_decision *decision;
    const rung_break *result; /* NULL: no attack succeeded */
    const rung_break *tried;
    size_t tried_count;
    char theorem[800]; /* that refutes all models of these layers, or "" */
    char why_not[200]; /* there is no certificate; "" when there is one, or nothing was found */
    double seconds;
} report;

static bool interrupted(void)
{
    return tool_signal_pending() != 0;
}

/* ---- options --------------------------------------------------------------------------------------------------- */

/* "2GiB", "512MiB", "64k", or a number of bytes. */
static rung_status read_memory(size_t *bytes, const char *text, rung_error *err)
{
    static const char units[] = "kmgt";
    char *end;
    double number = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
    double size = number;
    for (const char *u = units; unit && u <= unit; u++) size *= 1024;
    if (unit) end++;
    if (unit && (strcmp(end, "iB") == 0 || strcmp(end, "B") == 0)) end += strlen(end);
    if (end == text || *end || !(size >= 1) || size > 0x1p60)
        return rung_fail(err, RUNG_USAGE, "--memory %s is no amount of memory; give a number such as 512MiB or 2GiB",
                         text);
    *bytes = (size_t)size;
    return RUNG_OK;
}

static rung_status check_options(const tool_call *call, rung_error *err)
{
    const break_values *v = call->values;
    if (!v->out) return rung_fail(err, RUNG_USAGE, "where does the certificate go? add -o FILE");
    if (strcmp(v->subject.numbers, "fp32") == 0)
        return rung_fail(err, RUNG_USAGE,
                         "fp32 is the fast evaluator, and a certificate is about exact numbers; say --numbers f32");
    RUNG_TRY(tool_out_spares(v->out, call->argument[0], err));
    return tool_out_place(v->out, err);
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

static void put_token(rung_buf *out, const rung_task_conf *task, uint32_t token)
{
    if (task->task->token_word)
        task->task->token_word(out, task, token);
    else
        rung_buf_printf(out, "%u", token);
}

static size_t count_differing(const rung_cert *cert)
{
    size_t count = 0;
    for (size_t t = 0; cert->prompt[1] && t < cert->tokens; t++) count += cert->prompt[0][t] != cert->prompt[1][t];
    return count;
}

/* Where the prompts differ, up to a few positions, and what is asked. */
static void print_prompts(rung_buf *out, const rung_cert *cert, const rung_task_conf *task)
{
    enum { SHOWN = 4 };
    size_t differing = count_differing(cert), shown = 0;
    if (cert->prompt[1]) {
        rung_buf_printf(out, "prompts  %zu tokens, %zu of them different:", cert->tokens, differing);
        for (size_t t = 0; t < cert->tokens && shown < SHOWN; t++) {
            if (cert->prompt[0][t] == cert->prompt[1][t]) continue;
            rung_buf_printf(out, "%s at %zu ", shown++ ? "," : "", t);
            put_token(out, task, cert->prompt[0][t]);
            rung_buf_puts(out, " or ");
            put_token(out, task, cert->prompt[1][t]);
        }
        rung_buf_puts(out, differing > SHOWN ? ", ...\n" : "\n");
    } else {
        rung_buf_printf(out, "prompt   %zu tokens\n", cert->tokens);
    }
    rung_buf_puts(out, "asked    ");
    put_token(out, task, cert->prompt[0][cert->position]);
    rung_buf_puts(out, ": right is ");
    rung_task_answer_write(out, task, cert->right[0]);
    rung_buf_puts(out, cert->prompt[1] ? " or " : ", given is ");
    rung_task_answer_write(out, task, cert->prompt[1] ? cert->right[1] : cert->given);
    rung_buf_putc(out, '\n');
}

/* A label of up to eight letters, and a text beside it. */
static void print_labelled(rung_buf *out, const char *label, const char *style, const char *format, ...)
    RUNG_PRINTF(4, 5);
static void print_labelled(rung_buf *out, const char *label, const char *style, const char *format, ...)
{
    enum { COLUMN = 9 };
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rung_buf_printf(out, "%s%s%s%*s", style, label, *style ? tool_style_off() : "", COLUMN - (int)strlen(label), "");
    tool_wrap(out, text, COLUMN, COLUMN);
    rung_buf_putc(out, '\n');
}

/* Of all attacks, and of what came after them. */
static unsigned long long count_runs(const report *r)
{
    unsigned long long runs = r->result ? r->result->evaluations : 0;
    for (size_t i = 0; i < r->tried_count; i++) runs += r->tried[i].found ? 0 : r->tried[i].evaluations;
    return runs;
}

static void print_found(rung_buf *out, const report *r)
{
    const rung_break *result = r->result;
    const break_values *v = r->call->values;
    print_labelled(out, "CANNOT", tool_style_verdict(RUNG_CANNOT), "%s: %s", result->attack, result->report);
    print_prompts(out, &result->cert, &r->subject->task);
    rung_buf_puts(out, "claim    ");
    rung_buf statement;
    rung_buf_init(&statement);
    rung_cert_statement(&statement, &result->cert);
    if (statement.text) tool_wrap(out, statement.text, 9, 9);
    out->failed = out->failed || statement.failed;
    rung_buf_clear(&statement);
    rung_buf_printf(out, "\nsearch   %llu runs, %.2f s\n", count_runs(r), r->seconds);
    if (r->why_not[0])
        print_labelled(out, "written", "", "no certificate: %s", r->why_not);
    else
        rung_buf_printf(out, "written  %s; check it with: rung-check %s %s\n", v->out, v->out, r->call->argument[0]);
}

/* Attacks that did not run for the same reason, beside it; `from` is the first of them. */
static void print_untried(rung_buf *out, const report *r, size_t from)
{
    rung_buf names;
    const char *why = r->tried[from].report;
    for (size_t i = 0; i < from; i++)
        if (r->tried[i].seconds <= 0 && strcmp(r->tried[i].report, why) == 0) return; /* named already */
    rung_buf_init(&names);
    for (size_t i = from; i < r->tried_count; i++)
        if (r->tried[i].seconds <= 0 && strcmp(r->tried[i].report, why) == 0)
            rung_buf_printf(&names, "%s%s", names.len ? ", " : "", r->tried[i].attack);
    if (names.len + 4 <= REPORT_COLUMN) {
        tool_two_columns(out, names.text ? names.text : "", why, REPORT_COLUMN);
    } else {
        rung_buf_puts(out, "  ");
        tool_wrap(out, names.text, 2, 2);
        rung_buf_printf(out, "\n%*s", REPORT_COLUMN, "");
        tool_wrap(out, why, REPORT_COLUMN, REPORT_COLUMN);
        rung_buf_putc(out, '\n');
    }
    out->failed = out->failed || names.failed;
    rung_buf_clear(&names);
}

/* What has run, then what has not; with --attack that one only. */
static void print_tried(rung_buf *out, const report *r)
{
    const char *only = ((const break_values *)r->call->values)->attack;
    bool any = false;
    for (size_t i = 0; i < r->tried_count; i++) any = any || r->tried[i].seconds > 0;
    if (r->decision->verdict == RUNG_CANNOT)
        print_labelled(out, "CANNOT", tool_style_verdict(RUNG_CANNOT),
                       "by a theorem; no attack has found a prompt on which this model fails, in %.1f s:", r->seconds);
    else if (any)
        print_labelled(out, "UNKNOWN", tool_style_verdict(RUNG_UNKNOWN),
                       "no attack found a failure, which proves nothing. Tried in %.1f s:", r->seconds);
    else
        print_labelled(out, "UNKNOWN", tool_style_verdict(RUNG_UNKNOWN),
                       "no attack could be tried, which proves nothing.");
    for (size_t i = 0; i < r->tried_count; i++) {
        const rung_break *t = &r->tried[i];
        char left[48];
        snprintf(left, sizeof left, "%-11s %6.1f s", t->attack, t->seconds);
        if (t->seconds > 0) tool_two_columns(out, left, t->report, REPORT_COLUMN);
    }
    for (size_t i = 0; i < r->tried_count; i++)
        if (r->tried[i].seconds <= 0 && (!only || strcmp(only, r->tried[i].attack) == 0)) print_untried(out, r, i);
}

static void print_report(rung_buf *out, const report *r)
{
    tool_worker_print(out, r->subject);
    rung_buf_putc(out, '\n');
    if (r->result)
        print_found(out, r);
    else
        print_tried(out, r);
    if (r->theorem[0]) print_labelled(out, "theorem", "", "%s", r->theorem);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void json_found(rung_jout *out, const report *r)
{
    const rung_break *result = r->result;
    const rung_cert *cert = &result->cert;
    const break_values *v = r->call->values;
    rung_buf statement;
    rung_buf_init(&statement);
    rung_cert_statement(&statement, cert);
    rung_jout_string(out, "attack", result->attack);
    rung_jout_string(out, "how", result->report);
    rung_jout_string(out, "kind", rung_cert_kind_names[cert->kind - 1]);
    rung_jout_string(out, "statement", statement.text);
    rung_jout_string(out, "certificate", r->why_not[0] ? NULL : v->out);
    rung_jout_string(out, "why_no_certificate", r->why_not[0] ? r->why_not : NULL);
    rung_jout_int(out, "tokens", (int64_t)cert->tokens);
    rung_jout_int(out, "differing_tokens", (int64_t)count_differing(cert));
    rung_jout_int(out, "evaluations", (int64_t)result->evaluations);
    out->buf->failed = out->buf->failed || statement.failed;
    rung_buf_clear(&statement);
}

static void json_report(rung_buf *text, const report *r)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.break/1", true);
    tool_worker_json(&out, r->subject, r->call);
    rung_jout_string(&out, "verdict", rung_verdict_names[r->decision->verdict - 1]);
    rung_jout_string(&out, "basis", rung_basis_names[r->decision->basis]);
    rung_jout_string(&out, "about", r->decision->about);
    rung_jout_real(&out, "seconds", r->seconds);
    if (r->result) json_found(&out, r);
    rung_jout_string(&out, "theorem", r->theorem[0] ? r->theorem : NULL);
    rung_jout_array(&out, "tried");
    for (size_t i = 0; i < r->tried_count; i++) {
        rung_jout_flat_object(&out, NULL);
        rung_jout_string(&out, "attack", r->tried[i].attack);
        rung_jout_bool(&out, "found", r->tried[i].found);
        rung_jout_string(&out, "report", r->tried[i].report);
        rung_jout_int(&out, "evaluations", (int64_t)r->tried[i].evaluations);
        rung_jout_real(&out, "seconds", r->tried[i].seconds);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_finish(&out);
}

/* ---- command --------------------------------------------------------------------------------------------------- */

/* The theorem beside what a search found: it speaks of all models of these layers. */
static void take_theorem(report *r)
{
    const rung_bound_report *bounds = r->decision->bounds;
    const rung_bound_answer *a = r->decision->decisive;
    if (bounds->verdict != RUNG_CANNOT || bounds->trivial) return;
    int used = snprintf(r->theorem, sizeof r->theorem, "%s: %s, no model of these layers can: %s", a->bound->id,
                        r->decision->about, a->statement);
    if (a->ceiling > 0 && used > 0 && (size_t)used < sizeof r->theorem)
        snprintf(r->theorem + used, sizeof r->theorem - (size_t)used, "; at most %.4g right on average%s%s", a->ceiling,
                 a->ceiling_over ? " over " : "", a->ceiling_over ? a->ceiling_over : "");
}

static rung_status claim_of(rung_claim **claim, rung_subject **subject, const tool_worker *s, rung_error *err)
{
    rung_claim_spec about = rung_claim_spec_of_prompt(&s->task, 0);
    rung_claim_spec_set_numbers(&about, &s->numbers);
    *claim = NULL;
    RUNG_TRY(rung_subject_model(subject, s->model, "model", err));
    return rung_claim_new(claim, *subject, &about, err);
}

static rung_status search(rung_decision *d, const tool_worker *s, const rung_attacked *attacked, const tool_call *call,
                          rung_error *err)
{
    const break_values *v = call->values;
    rung_progress progress = {0};
    rung_budget budget = {.seconds = (double)v->budget,
                          .threads = (size_t)v->subject.threads,
                          .seed = (uint64_t)call->seed,
                          .kinds = tool_call_given(call, "kind") ? 1u << (v->kind + 1) : 0,
                          .progress = call->quiet ? NULL : &progress,
                          .interrupted = interrupted};
    rung_decide_options means = {.bounds = true, .attacked = attacked, .budget = &budget, .attack = v->attack};
    rung_subject *subject = NULL;
    rung_claim *claim = NULL;
    rung_status status = read_memory(&budget.memory, v->memory, err);
    RUNG_NEXT(status, claim_of(&claim, &subject, s, err));
    tool_signals_defer(true);
    RUNG_NEXT(status, rung_decide(d, claim, &means, err));
    rung_progress_finish(&progress);
    rung_claim_free(claim);
    rung_subject_free(subject);
    return status;
}

/* What was found before a signal came is not written: who interrupts wants nothing any more. */
static rung_status write_certificate(report *r, const rung_attacked *attacked, rung_error *err)
{
    const break_values *v = r->call->values;
    if (!r->result || tool_signal_pending()) return RUNG_OK;
    if (!rung_attack_certifiable(attacked, r->result->cert.kind, r->why_not, sizeof r->why_not)) return RUNG_OK;
    r->why_not[0] = 0;
    rung_status status = rung_cert_write(v->out, &r->result->cert, err);
    return status == RUNG_OK && v->store ? rung_store_attach_certificate(v->store, r->result->cert.model, v->out, err)
                                         : status;
}

static rung_status print(const report *r, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    if (r->call->json)
        json_report(&text, r);
    else
        print_report(&text, r);
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

static bool as_expected(const tool_call *call, rung_verdict verdict)
{
    const break_values *v = call->values;
    if (!tool_call_given(call, "expect") || (int64_t)verdict == v->expect + 1) return true;
    tool_note(call, "expected %s, and the verdict is %s", rung_verdict_names[v->expect],
              rung_verdict_names[verdict - 1]);
    return false;
}

static int break_subject(const tool_worker *s, const rung_program *program, const tool_call *call, rung_error *err)
{
    const rung_attacked attacked = {
        .model = s->model, .program = program, .task = &s->task, .numbers = s->fmt, .mixed = s->how.mixed};
    rung_decision d = {0};
    report r = {.call = call, .subject = s, .decision = &d};
    double began = rung_wall_s();
    rung_status status = search(&d, s, &attacked, call, err);
    r.seconds = rung_wall_s() - began;
    r.result = d.found, r.tried = d.tried, r.tried_count = d.tried_count;
    RUNG_NEXT(status, write_certificate(&r, &attacked, err));
    if (status == RUNG_OK) take_theorem(&r);
    if (status == RUNG_OK && !tool_signal_pending()) status = print(&r, err);
    if (status == RUNG_OK && tool_signal_pending()) tool_note(call, "stopped after %.1f s", r.seconds);
    bool expected = tool_signal_pending() || status != RUNG_OK || as_expected(call, d.verdict);
    rung_decision_clear(&d);
    return status != RUNG_OK ? (int)status : expected ? 0 : RUNG_NEGATIVE;
}

static int run_break(const tool_call *call, rung_error *err)
{
    const break_values *v = call->values;
    tool_worker s = {0};
    rung_program *program = NULL;
    RUNG_TRY(check_options(call, err));
    rung_status status = tool_worker_open(&s, call, &v->subject, err);
    rung_evaluator alone = s.how;
    alone.threads = 1; /* attacks share the cores among their own runs */
    RUNG_NEXT(status, rung_program_new(&program, s.model, &alone, err));
    int code = status == RUNG_OK ? break_subject(&s, program, call, err) : (int)status;
    rung_program_free(program);
    tool_worker_close(&s);
    return code;
}

static const char *attack_name_at(size_t index)
{
    return index < rung_attack_count() ? rung_attack_at(index)->name : NULL;
}

const tool_command tool_command_break = {
    .name = "break",
    .summary = "search for a failure of a model, and write a certificate of it",
    .details =
        "Attacks that apply to the model are tried in the order of their expected cost until one finds a failure or "
        "the "
        "budget is gone. What is found is shrunk and written as a certificate, which rung-check confirms without "
        "trusting this program. The strongest kind, state-collision, shows two prefixes after which all carried "
        "numbers agree although they need different answers: no read-out and no chain of thought can repair it.\n"
        "The verdict is CANNOT with a certificate, or UNKNOWN with a list of what was tried and how far. UNKNOWN says "
        "nothing about the model. What is found in models or tasks that rung-check does not know is reported without a "
        "certificate.",
    .examples =
        (const tool_example[]){
            {"rung break m.safetensors --numbers bf16 -o m.cert", "everything that applies, for a minute"},
            {"rung break m.safetensors --numbers e8m4 --kind state-collision -o m.cert", "what no read-out can repair"},
            {"rung break m.safetensors --numbers f16 --attack climb --budget 600 -o m.cert", "one attack, ten minutes"},
            {"rung break m.safetensors --task eva N=64 V=8 --numbers q3.8 -o m.cert --json", "for programs"},
            {0},
        },
    .arguments = (const tool_argument[]){RUNG_SUBJECT_ARGUMENT, {0}},
    .pairs = "parameters of the task",
    .options =
        (const rung_option[]){
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(break_values, out),
             .metavar = "FILE",
             .help = "where the certificate goes; must be given",
             .complete = RUNG_COMPLETE_FILE},
            RUNG_OPTION_TASK(break_values, subject.task),
            {.name = "numbers",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(break_values, subject.numbers),
             .metavar = "FORMAT",
             .help = "exact format in which the model is run: f32, bf16, f16, eXmY, qI.F, or mixed ones",
             .fallback = "f32"},
            {.name = "store",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(break_values, store),
             .metavar = "STORE",
             .help = "put the certificate also into the store, beside the run of this model",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "attack",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(break_values, attack),
             .metavar = "NAME",
             .help = "this one only ('rung list attacks')",
             .names = attack_name_at},
            {.name = "kind",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(break_values, kind),
             .metavar = "KIND",
             .help = "only this kind of certificate",
             .choices = rung_cert_kind_names},
            {.name = "budget",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(break_values, budget),
             .metavar = "SECONDS",
             .help = "time for all attacks together",
             .fallback = "60",
             .low = 1,
             .high = 1 << 30},
            {.name = "memory",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(break_values, memory),
             .metavar = "SIZE",
             .help = "what an attack may allocate at once",
             .fallback = "2GiB"},
            {.name = "expect",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(break_values, expect),
             .metavar = "VERDICT",
             .help = "exit with 1 when the verdict is another",
             .choices = rung_verdict_names},
            RUNG_OPTION_THREADS(break_values, subject.threads),
            {0},
        },
    .values_size = sizeof(break_values),
    .negative = "the verdict is not that of --expect",
    .run = run_break,
};
