/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung card: what a model holds, reads, saves, can and cannot do, on one page.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound_input.h"
#include "card_print.h"
#include "output.h"
#include "rung/par.h"

typedef struct card_values {
    tool_ledger_options options;
    int64_t context, batch, entries, threads;
    bool memory;
    const char *kv, *state, *budget, *engine, *set, *html;
} card_values;

/* Entries of the tables that weights are proved for: more where there is time. */
enum { FEW = 4, ENTRIES_OF_FEW = 256, ENTRIES_OF_MANY = 64 };

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

typedef struct asked {
    rung_card_options options;
    rung_fmt kv, state;
} asked;

/* "80GiB", "24GB", "1048576". */
static rung_status read_size(uint64_t *bytes, const char *text, rung_error *err)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1},      {"B", 1},      {"kB", 1e3},        {"MB", 1e6},           {"GB", 1e9},
                 {"TB", 1e12}, {"KiB", 1024}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; end != text && i < RUNG_COUNT(units); i++)
        if (strcmp(end, units[i].name) == 0 && isfinite(value) && value * units[i].bytes >= 1 &&
            value * units[i].bytes < 0x1p62) {
            *bytes = (uint64_t)(value * units[i].bytes);
            return RUNG_OK;
        }
    return rung_fail(err, RUNG_USAGE, "--budget '%s': write a size such as 80GiB, 24GB or 500MiB", text);
}

static rung_status read_format(const rung_fmt **out, rung_fmt *fmt, const char *option, const char *name,
                               rung_error *err)
{
    *out = NULL;
    if (!name) return RUNG_OK;
    rung_status status = rung_fmt_parse(fmt, name, err);
    if (status != RUNG_OK) return rung_fail_at(err, RUNG_USAGE, "--%s", option);
    *out = fmt;
    return RUNG_OK;
}

static rung_status read_engine(const rung_engine **out, const char *name, rung_error *err)
{
    const char *names[16];
    size_t count = 0;
    *out = name ? rung_engine_get(name) : NULL;
    if (!name || *out) return RUNG_OK;
    while (count < RUNG_COUNT(names) && rung_engine_name_at(count)) names[count] = rung_engine_name_at(count), count++;
    return rung_fail_unknown(err, "engine", name, names, count);
}

static rung_status read_asked(asked *a, const card_values *v, rung_error *err)
{
    *a = (asked){.options = {.context = (uint64_t)v->context,
                             .batch = (uint64_t)v->batch,
                             .memory_only = v->memory,
                             .lookup_entries = (uint64_t)v->entries}};
    RUNG_TRY(read_format(&a->options.kv, &a->kv, "kv", v->kv, err));
    RUNG_TRY(read_format(&a->options.state, &a->state, "state", v->state, err));
    RUNG_TRY(v->budget ? read_size(&a->options.budget, v->budget, err) : RUNG_OK);
    return read_engine(&a->options.engine, v->engine, err);
}

/* ---- subjects: every input, and its variants --------------------------------------------------------------------- */

typedef struct subject {
    rung_subject *made[8]; /* one after each change; the last one is meant */
    size_t changes;
    const rung_subject *meant;
    char *name;
} subject;

typedef struct job {
    const rung_card_options *options;
    subject *subjects;
    rung_card *cards;
    rung_status *status;
    rung_error *err;
    size_t count;
} job;

/* The number of variants in "ratio=7:1,window=4096/ratio=3:1". */
static size_t variants_in(const char *set)
{
    size_t count = set && set[0] ? 1 : 0;
    for (; set && *set; set++) count += *set == ',';
    return count;
}

static rung_status apply_changes(subject *s, const rung_subject *from, char *changes, rung_error *err)
{
    s->meant = from;
    for (char *slash; changes; changes = slash) {
        slash = strchr(changes, '/');
        if (slash) *slash++ = 0;
        if (s->changes == RUNG_COUNT(s->made))
            return rung_fail(err, RUNG_USAGE, "--set: at most %zu changes in one variant", RUNG_COUNT(s->made));
        RUNG_TRY(rung_card_variant(&s->made[s->changes], s->meant, changes, err));
        s->meant = s->made[s->changes++];
    }
    return RUNG_OK;
}

/* Variant number `which` of --set. */
static rung_status make_variant(subject *s, const tool_bound_input *input, const char *set, size_t which,
                                rung_error *err)
{
    for (; which; which--) set = strchr(set, ',') + 1;
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%s %.*s", input->text, (int)strcspn(set, ","), set);
    rung_status status = rung_buf_ok(&text, err);
    s->name = status == RUNG_OK ? text.text : NULL;
    if (status != RUNG_OK) return rung_buf_clear(&text), status;
    rung_buf changes;
    rung_buf_init(&changes);
    rung_buf_add(&changes, set, strcspn(set, ","));
    rung_buf_putc(&changes, 0);
    status = rung_buf_ok(&changes, err);
    RUNG_NEXT(status, apply_changes(s, input->subject, changes.text, err));
    rung_buf_clear(&changes);
    return status == RUNG_USAGE ? rung_fail_at(err, status, "--set") : status;
}

static rung_status make_subjects(job *j, const tool_call *call, const tool_bound_inputs *inputs, rung_error *err)
{
    const card_values *v = call->values;
    size_t each = 1 + variants_in(v->set);
    j->subjects = rung_calloc(each * inputs->count, sizeof *j->subjects, err);
    rung_status status = j->subjects ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < each * inputs->count; i++, j->count++) {
        const tool_bound_input *input = &inputs->at[i / each];
        if (i % each)
            status = make_variant(&j->subjects[i], input, v->set, i % each - 1, err);
        else
            j->subjects[i].meant = input->subject;
    }
    return status;
}

static void free_subjects(job *j, size_t room)
{
    for (size_t i = 0; j->subjects && i < room; i++) {
        for (size_t c = j->subjects[i].changes; c > 0; c--) rung_subject_free(j->subjects[i].made[c - 1]);
        free(j->subjects[i].name);
    }
    free(j->subjects);
}

/* ---- cards ------------------------------------------------------------------------------------------------------- */

static void fill_card(void *context, size_t item, size_t worker)
{
    const job *j = context;
    const subject *s = &j->subjects[item];
    (void)worker;
    j->status[item] = rung_card_make(&j->cards[item], s->meant, s->name ? s->name : rung_subject_ledger(s->meant)->name,
                                     j->options, &j->err[item]);
}

static rung_status fill_cards(job *j, size_t threads, rung_error *err)
{
    j->cards = rung_calloc(j->count, sizeof *j->cards, err);
    j->status = rung_calloc(j->count, sizeof *j->status, err);
    j->err = rung_calloc(j->count, sizeof *j->err, err);
    if (!j->cards || !j->status || !j->err) return RUNG_SYSTEM;
    rung_par_for(j->count, threads, fill_card, j);
    for (size_t i = 0; i < j->count; i++) {
        if (j->status[i] == RUNG_OK) continue;
        *err = j->err[i];
        return j->status[i];
    }
    return RUNG_OK;
}

static rung_status show(const job *j, const tool_call *call, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    if (call->json)
        rung_cards_json(&text, j->cards, j->count);
    else if (j->count == 1)
        tool_card_print(&text, &j->cards[0]);
    else
        tool_cards_print(&text, j->cards, j->count);
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

static rung_status write_page(const job *j, const tool_call *call, rung_error *err)
{
    const card_values *v = call->values;
    rung_buf page;
    if (!v->html) return RUNG_OK;
    rung_buf_init(&page);
    rung_cards_html(&page, j->cards, j->count);
    rung_status status = rung_buf_ok(&page, err);
    RUNG_NEXT(status, rung_file_write(v->html, page.text, page.len, err));
    rung_buf_clear(&page);
    if (status == RUNG_OK) tool_note(call, "wrote %s", v->html);
    return status;
}

/* The page must not replace a file that the card is about. */
static rung_status check_page(const tool_call *call, rung_error *err)
{
    const card_values *v = call->values;
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < call->arguments; i++) RUNG_NEXT(status, tool_out_spares(v->html, call->argument[i], err));
    return status;
}

static int run_card(const tool_call *call, rung_error *err)
{
    const card_values *v = call->values;
    tool_bound_inputs inputs;
    asked a;
    RUNG_TRY(read_asked(&a, v, err));
    RUNG_TRY(check_page(call, err));
    if (!v->entries) a.options.lookup_entries = call->arguments <= FEW ? ENTRIES_OF_FEW : ENTRIES_OF_MANY;
    rung_claim_spec about = rung_claim_spec_of_prompt(NULL, 0);
    RUNG_TRY(tool_bound_inputs_open(&inputs, call, &v->options, &about, err));
    job j = {.options = &a.options};
    size_t room = (1 + variants_in(v->set)) * inputs.count;
    rung_status status = rung_lookup_proofs_new(&a.options.proofs, err);
    if (status == RUNG_OK && !v->memory) status = rung_card_law_new(&a.options.law, err);
    RUNG_NEXT(status, make_subjects(&j, call, &inputs, err));
    RUNG_NEXT(status, fill_cards(&j, (size_t)v->threads, err));
    RUNG_NEXT(status, show(&j, call, err));
    RUNG_NEXT(status, write_page(&j, call, err));
    for (size_t i = 0; j.cards && i < j.count; i++) rung_card_clear(&j.cards[i]);
    free(j.cards), free(j.status), free(j.err);
    free_subjects(&j, room);
    rung_card_law_free(a.options.law);
    rung_lookup_proofs_free(a.options.proofs);
    return tool_bound_inputs_close(&inputs, (int)status, err);
}

#define SIZE_ROW(row, field, most, text, value)                                                                        \
    {                                                                                                                  \
        .name = row, .kind = RUNG_OPTION_INT, .at = offsetof(card_values, field), .metavar = "N", .help = text,        \
        .fallback = value, .low = 0, .high = most                                                                      \
    }

#define TEXT_ROW(row, field, meta, text)                                                                               \
    {                                                                                                                  \
        .name = row, .kind = RUNG_OPTION_STRING, .at = offsetof(card_values, field), .metavar = meta, .help = text     \
    }

const tool_command tool_command_card = {
    .name = "card",
    .summary = "what a model holds, reads and saves at a context, and what it can and cannot do",
    .details =
        "Bytes that the layers of a model hold of a sequence and read for a new token, by kind of layer; the length "
        "from which on it holds no more than the same model with full layers everywhere; what fits into a budget.\n"
        "What the layers can and cannot do, each with its evidence: CAN with weights that are proved for every prompt, "
        "CANNOT by a theorem, UNKNOWN elsewhere. A card asks little, so that a thousand take seconds; 'rung bound' "
        "asks "
        "about any task and size.\n"
        "--set shows variants of the same model beside it: ratio=7:1 (layers that do not grow to full ones), "
        "window=4096, NAME=OTHER (another mechanism with a state of the same size; full; window:W), dense, recurrent. "
        "Commas separate variants, a slash joins changes of one variant.\n"
        "Weights are not counted: a configuration does not say how many there are.",
    .examples =
        (const tool_example[]){
            {"rung card config.json --context 131072 --budget 80GiB", "a real model on one screen"},
            {"rung card config.json --set ratio=7:1,dense,recurrent", "what if fewer layers kept every token?"},
            {"rung card a/config.json b.gguf --html cards.html", "as a page to send around"},
            {"rung card '12*(3*gdelta,full)' '48*full' --heads 16 --head-dim 128", "two designs side by side"},
            {"rung card config.json --kv e4m3 --state f32 --engine llama.cpp --json", "for programs"},
            {0},
        },
    .arguments = (const tool_argument[]){RUNG_LEDGER_ARGUMENT(1), {0}},
    .options =
        (const rung_option[]){
            SIZE_ROW("context", context, INT64_C(1) << 40, "tokens of a sequence; 0: what the file says, else 131072",
                     "0"),
            SIZE_ROW("batch", batch, 1 << 24, "sequences at once", "1"),
            TEXT_ROW("kv", kv, "F", "format of keys and values: bf16, f16, e4m3, f32; else what the file says"),
            TEXT_ROW("state", state, "F", "format of recurrent states; else what the file or its code says"),
            TEXT_ROW("budget", budget, "SIZE", "memory for what layers hold, such as 80GiB, without weights"),
            {.name = "engine",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(card_values, engine),
             .metavar = "E",
             .help = "what this server reserves, by its page rule",
             .names = rung_engine_name_at},
            TEXT_ROW("set", set, "CHANGES", "variants to show beside each input"),
            {.name = "html",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(card_values, html),
             .metavar = "FILE",
             .help = "write a page that stands alone",
             .complete = RUNG_COMPLETE_FILE},
            SIZE_ROW("entries", entries, 1024,
                     "largest table that weights for a look-up are proved for; 0: 256, and 64 for more than 4 inputs",
                     "0"),
            {.name = "memory",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(card_values, memory),
             .help = "memory alone: ask nothing about abilities"},
            RUNG_LEDGER_ROW(card_values, "heads", options.heads, 1, 1 << 16, "heads where an arch names none", "1"),
            RUNG_LEDGER_ROW(card_values, "head-dim", options.head_dim, 1, 1 << 20, "dk and dv where an arch names none",
                            "16"),
            RUNG_LEDGER_ROW(card_values, "dk", options.dk, 0, 1 << 20, "key dimension alone, 0: as --head-dim", "0"),
            RUNG_LEDGER_ROW(card_values, "dv", options.dv, 0, 1 << 20, "value dimension alone, 0: as --head-dim", "0"),
            RUNG_OPTION_THREADS(card_values, threads),
            {0},
        },
    .values_size = sizeof(card_values),
    .run = run_card,
};
