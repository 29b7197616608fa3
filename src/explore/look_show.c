/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What is shown of one look: the card, the claim with every theorem, memory against the context, and the commands that
 * print the same.
 */
#include <stdlib.h>
#include <string.h>

#include "look.h"

/* What a look is about, open. */
typedef struct opened {
    rung_ledger ledger; /* of a file that the page sent */
    bool has_ledger;
    rung_subject *own;            /* made for this look */
    const rung_subject *original; /* own, or an input of the command line */
    rung_subject *changed;        /* with the change, if there is one */
    const char *name;
} opened;

static const rung_subject *shown_of(const opened *o)
{
    return o->changed ? o->changed : o->original;
}

static rung_status open_file(opened *o, const explore_look *look, rung_error *err)
{
    rung_buf bytes;
    rung_buf_init(&bytes);
    rung_status status = explore_base64(&bytes, look->file_base64, err);
    if (status == RUNG_OK) {
        o->has_ledger = true;
        status = rung_ledger_open_bytes(&o->ledger, bytes.text ? bytes.text : "", bytes.len, look->file_name, err);
    }
    rung_buf_clear(&bytes);
    RUNG_TRY(status);
    return rung_subject_layers(&o->own, &o->ledger, err);
}

static rung_status open_look(opened *o, const explore_look *look, rung_error *err)
{
    *o = (opened){0};
    if (look->input) {
        o->original = look->input->subject;
        o->name = look->input->name;
    } else if (look->arch) {
        const rung_arch_defaults sizes = {
            .heads = (size_t)look->heads, .dk = (size_t)look->head_dim, .dv = (size_t)look->head_dim, .causal = true};
        RUNG_TRY(rung_subject_arch(&o->own, look->arch, &sizes, err));
        o->name = look->arch;
    } else {
        RUNG_TRY(open_file(o, look, err));
        o->name = look->file_name;
    }
    if (o->own) o->original = o->own;
    return look->change ? rung_card_variant(&o->changed, o->original, look->change, err) : RUNG_OK;
}

static void close_look(opened *o)
{
    rung_subject_free(o->changed);
    rung_subject_free(o->own);
    if (o->has_ledger) rung_ledger_clear(&o->ledger);
}

/* ---- the commands ---------------------------------------------------------------------------------------------- */

void explore_put_word(rung_buf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    if (*word && !word[strspn(word, plain)]) {
        rung_buf_puts(out, word);
        return;
    }
    rung_buf_putc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            rung_buf_puts(out, "'\\''");
        else
            rung_buf_putc(out, *word);
    }
    rung_buf_putc(out, '\'');
}

static void put_option(rung_buf *out, const char *option, const char *value)
{
    if (!value) return;
    rung_buf_printf(out, " %s ", option);
    explore_put_word(out, value);
}

static void put_number(rung_buf *out, const char *option, int64_t value)
{
    if (value) rung_buf_printf(out, " %s %lld", option, (long long)value);
}

static void put_sizes(rung_buf *out, const explore_look *look)
{
    if (!look->arch) return;
    put_number(out, "--heads", look->heads);
    put_number(out, "--head-dim", look->head_dim);
}

static void card_command(rung_buf *out, const void *what)
{
    const explore_look *look = what;
    rung_buf_puts(out, "rung card ");
    explore_put_word(out, look->input ? look->input->name : look->arch ? look->arch : look->file_name);
    put_sizes(out, look);
    put_number(out, "--context", look->context);
    put_number(out, "--batch", look->batch > 1 ? look->batch : 0);
    put_option(out, "--kv", look->kv);
    put_option(out, "--state", look->state);
    put_number(out, "--budget", look->budget);
    put_option(out, "--set", look->change);
}

static void bound_command(rung_buf *out, const void *what)
{
    const explore_look *look = what;
    rung_buf_puts(out, "rung bound ");
    explore_put_word(out, look->input ? look->input->name : look->arch ? look->arch : look->file_name);
    put_sizes(out, look);
    put_number(out, "--bits", look->bits);
    if (look->task) rung_buf_printf(out, " --task %s", look->task);
    put_number(out, "--n", look->n);
    rung_buf_puts(out, " --no-weights");
}

static void show_commands(rung_jout *out, const explore_look *look)
{
    rung_jout_object(out, "commands");
    rung_jout_written(out, "card", card_command, look);
    /* rung bound has no changed layers. */
    if (look->task && !look->change)
        rung_jout_written(out, "bound", bound_command, look);
    else
        rung_jout_null(out, "bound");
    rung_jout_end(out);
}

/* ---- memory against the context -------------------------------------------------------------------------------- */

enum { CURVE_LOW = 8, CURVE_HIGH = 22 }; /* 2^8 to 2^22 tokens */

static void show_curve(rung_jout *out, const char *key, const rung_ledger *ledger, const rung_card_numbers *numbers)
{
    rung_jout_flat_array(out, key);
    for (int at = CURVE_LOW; at <= CURVE_HIGH; at++) {
        uint64_t bytes = rung_card_held_by(ledger, UINT64_C(1) << at, numbers).total;
        rung_jout_count(out, NULL, bytes);
    }
    rung_jout_end(out);
}

/* The same for a variant of the layers, or null where there is none. */
static void show_variant_curve(rung_jout *out, const char *key, const rung_subject *from, const char *change,
                               const rung_card_numbers *numbers)
{
    rung_subject *variant = NULL;
    rung_error ignored;
    if (rung_card_variant(&variant, from, change, &ignored) == RUNG_OK)
        show_curve(out, key, rung_subject_ledger(variant), numbers);
    else
        rung_jout_null(out, key);
    rung_subject_free(variant);
}

static void show_curves(rung_jout *out, const opened *o, const rung_card *card)
{
    rung_jout_object(out, "held_bytes_by_context");
    rung_jout_flat_array(out, "tokens");
    for (int at = CURVE_LOW; at <= CURVE_HIGH; at++) rung_jout_int(out, NULL, INT64_C(1) << at);
    rung_jout_end(out);
    show_curve(out, "these_layers", rung_subject_ledger(shown_of(o)), &card->numbers);
    show_variant_curve(out, "dense_equivalent", shown_of(o), "dense", &card->numbers);
    show_variant_curve(out, "without_full_layers", shown_of(o), "recurrent", &card->numbers);
    if (o->changed)
        show_curve(out, "without_the_change", rung_subject_ledger(o->original), &card->numbers);
    else
        rung_jout_null(out, "without_the_change");
    rung_jout_end(out);
}

/* ---- the two parts --------------------------------------------------------------------------------------------- */

static rung_status read_format(rung_fmt *room, const rung_fmt **out, const char *field, const char *text,
                               rung_error *err)
{
    *out = NULL;
    if (!text) return RUNG_OK;
    if (rung_fmt_parse(room, text, err) != RUNG_OK) return rung_fail_at(err, RUNG_USAGE, "%s", field);
    *out = room;
    return RUNG_OK;
}

static rung_status show_card(rung_jout *out, const explore_look *look, const opened *o, const rung_explorer *x,
                             rung_error *err)
{
    rung_card card = {0};
    rung_fmt kv, state;
    enum { ENTRIES = 256 }; /* as rung card takes for few inputs */
    rung_card_options options = {.context = (uint64_t)look->context,
                                 .batch = (uint64_t)look->batch,
                                 .budget = (uint64_t)look->budget,
                                 .lookup_entries = ENTRIES,
                                 .law = x->law,
                                 .proofs = x->proofs};
    RUNG_TRY(read_format(&kv, &options.kv, "kv", look->kv, err));
    RUNG_TRY(read_format(&state, &options.state, "state", look->state, err));
    rung_status status = rung_card_make(&card, shown_of(o), o->name, &options, err);
    if (status == RUNG_OK) {
        rung_jout_object(out, "card");
        rung_card_json(out, &card);
        rung_jout_end(out);
        show_curves(out, o, &card);
    }
    rung_card_clear(&card);
    return status;
}

/* The layers alone, or the verdict on the task with every theorem. */
static rung_status show_claim(rung_jout *out, const explore_look *look, const opened *o, rung_error *err)
{
    rung_task_conf task;
    rung_claim *claim = NULL;
    rung_decision decision = {0};
    rung_claim_spec spec = rung_claim_spec_of_prompt(NULL, 0);
    if (look->task) {
        RUNG_TRY(rung_task_conf_parse(&task, look->task, err));
        spec = rung_claim_spec_of_prompt(&task, (uint64_t)look->n);
    }
    if (look->bits) rung_claim_spec_set_bits(&spec, (int)look->bits);
    RUNG_TRY(rung_claim_new(&claim, shown_of(o), &spec, err));
    /* Weights would take seconds; what is proved of them stands in the card. */
    const rung_decide_options theorems = {.bounds = true, .thresholds = true};
    rung_status status = look->task ? rung_decide(&decision, claim, &theorems, err) : RUNG_OK;
    if (status == RUNG_OK) {
        rung_jout_object(out, "claim");
        rung_decision_json(out, claim, o->name, look->task ? &decision : NULL);
        rung_jout_end(out);
    }
    if (look->task) rung_decision_clear(&decision);
    rung_claim_free(claim);
    return status;
}

/* One word per layer, in their order: its mechanism. */
static void show_layers(rung_jout *out, const rung_ledger *ledger)
{
    rung_jout_flat_array(out, "mechanisms");
    for (size_t i = 0; i < ledger->layer_count; i++)
        rung_jout_string(out, NULL, rung_held_mechanism(&ledger->layer[i]));
    rung_jout_end(out);
}

static rung_status show(rung_jout *out, const explore_look *look, const opened *o, const rung_explorer *x,
                        rung_error *err)
{
    rung_jout_string(out, "name", o->name);
    rung_jout_string(out, "set", look->change);
    show_layers(out, rung_subject_ledger(shown_of(o)));
    show_commands(out, look);
    RUNG_TRY(show_card(out, look, o, x, err));
    return show_claim(out, look, o, err);
}

rung_status explore_look_show(rung_buf *text, const explore_look *look, const rung_explorer *x, rung_error *err)
{
    opened o;
    rung_jout out;
    rung_status status = open_look(&o, look, err);
    if (status == RUNG_OK) {
        rung_jout_begin(&out, text, "rung.explore/1", false);
        status = show(&out, look, &o, x, err);
        if (status == RUNG_OK) rung_jout_finish(&out);
    }
    RUNG_NEXT(status, rung_buf_ok(text, err));
    close_look(&o);
    return status;
}
