/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the layers provably can and cannot do. Every verdict is one of rung_decide. The work of this file is to ask few
 * questions: sizes at which a theorem holds come from closed forms and are then asked, and no question is asked about
 * which every theorem is silent for one of two reasons.
 *
 *   1. A theorem about looking up, composing or comparing counts bits. On its left side stand at most n log2 n bits,
 *      for a prompt of n tokens with at most n values. On its right side stand at least the bits of all states and of
 *      the largest accumulator.
 *   2. A theorem about F > 1 full layers is about at least F functions.
 *
 * Where a question is not asked the answer is UNKNOWN, with that reason.
 */
#include "card_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const rung_ability_names[] = {"look-up", "composition", "two-sum", "per-position", NULL};

enum {
    LOOKUP_ENTRIES = 64, /* of the tables that weights are proved for, unless the caller says more */
    LOOKUP_LEAST = 16,
    DEPTH_BUILT = 3, /* functions that weights are looked for */
    DEPTH_ASKED = 4  /* depths that theorems are asked about, from the first that they cover on */
};

/* Judging weights at the sizes below takes less. */
#define WORK 2e9

typedef struct asker {
    rung_card *card;
    const rung_subject *subject;
    const rung_card_options *options;
    rung_lookup_proofs *proofs;
    rung_pattern pattern; /* of the subject */
    rung_error *err;
} asker;

/* ---- one question ------------------------------------------------------------------------------------------------ */

static const char *keep_text(asker *a, const char *text)
{
    return rung_arena_strdup(&a->card->arena, text, a->err);
}

/* Why nothing was decided: a premise, or what the search for weights says. */
static const char *reason_of(const rung_decision *d)
{
    for (size_t i = 0; d->bounds && i < d->bounds->count; i++)
        if (d->bounds->answer[i].missing >= 0) return d->bounds->answer[i].premise;
    if (d->no_weights[0]) return d->no_weights;
    if (d->decisive) return d->decisive->statement;
    return d->bounds && d->bounds->count ? d->bounds->answer[0].premise : "no theorem is about this task";
}

static rung_claim_spec spec_of(const asker *a, const rung_task_conf *task, uint64_t n)
{
    rung_claim_spec about = rung_claim_spec_of_prompt(task, n);
    if (a->options->kv) about.cache_bits = a->options->kv->bits;
    if (a->options->state) about.state_bits = a->options->state->bits;
    return about;
}

static rung_status keep_decision(rung_card_verdict *out, asker *a, const rung_decision *d, const rung_task_conf *task,
                                 const char *asked, uint64_t n)
{
    rung_buf text;
    rung_buf_init(&text);
    if (n)
        rung_buf_puts(&text, asked);
    else
        rung_task_canonical(&text, task);
    rung_status status = rung_buf_ok(&text, a->err);
    *out = (rung_card_verdict){.verdict = d->verdict,
                               .basis = d->basis,
                               .any_size = n != 0,
                               .tokens = n ? n : task->tokens,
                               .trivial = d->trivial != NULL,
                               .by = keep_text(a, d->by),
                               .task = status == RUNG_OK ? keep_text(a, text.text) : NULL,
                               .statement = keep_text(a, d->verdict == RUNG_UNKNOWN ? reason_of(d) : d->statement),
                               .about = keep_text(a, d->about)};
    rung_buf_clear(&text);
    return out->by && out->task && out->statement && out->about ? RUNG_OK : RUNG_SYSTEM;
}

/* Decides about a task, given as text. With n the size is any up to n tokens. */
static rung_status ask(rung_card_verdict *out, asker *a, const rung_subject *subject, const char *task, uint64_t n,
                       bool weights)
{
    rung_task_conf conf;
    rung_claim *claim;
    rung_decision d;
    RUNG_TRY(rung_task_conf_parse(&conf, task, a->err));
    rung_claim_spec about = spec_of(a, &conf, n);
    rung_decide_options means = {
        .bounds = true, .weights = weights, .samples = 16, .threads = 1, .work = WORK, .proofs = a->proofs};
    RUNG_TRY(rung_claim_new(&claim, subject, &about, a->err));
    rung_status status = rung_decide(&d, claim, &means, a->err);
    RUNG_NEXT(status, keep_decision(out, a, &d, &conf, task, n));
    rung_decision_clear(&d);
    rung_claim_free(claim);
    return status;
}

/* ---- what theorems can reach ------------------------------------------------------------------------------------- */

static void write_arithmetic(rung_buf *out, const void *arithmetic)
{
    rung_arithmetic_print(out, arithmetic);
}

static rung_status pattern_of(rung_pattern *out, const asker *a, const rung_subject *subject)
{
    rung_claim_spec about = spec_of(a, NULL, 0);
    rung_claim *claim;
    RUNG_TRY(rung_claim_new(&claim, subject, &about, a->err));
    *out = rung_pattern_of(rung_subject_ledger(subject), rung_claim_arithmetic(claim));
    a->card->about = card_written(a->card, write_arithmetic, rung_claim_arithmetic(claim), a->err);
    rung_claim_free(claim);
    return a->card->about ? RUNG_OK : RUNG_SYSTEM;
}

/* Reason 1 at the head of this file. */
static bool can_reach(const rung_pattern *p, uint64_t tokens)
{
    double bits = (double)p->message + (double)p->all_state;
    return (double)tokens * log2((double)tokens + 2) > bits;
}

static bool keeps_all(const rung_pattern *p)
{
    return p->full || p->sparse || p->headwise;
}

/* ---- looking up -------------------------------------------------------------------------------------------------- */

/* The least N with N log2 N > bits, up to rounding. */
static uint64_t entries_of(double bits)
{
    double n = 2 + bits;
    for (int i = 0; i < 64; i++) n = fmax(2, bits / log2(fmax(n, 2)));
    return n < 0x1p60 ? (uint64_t)ceil(n) : 0;
}

/* CANNOT at `entries` entries? The size of the prompt is free up to that. */
static rung_status cannot_look_up(rung_card_verdict *out, asker *a, const rung_subject *subject, uint64_t entries)
{
    return ask(out, a, subject, "eva", entries + 1, false);
}

/* The least number of entries that layers without a full one cannot look up. *entries is 0, and `out` says why, if
 * nothing is proved. The closed form is right to a few entries; with log-linear levels, to a factor. */
static rung_status least_entries(uint64_t *entries, rung_card_verdict *out, asker *a, const rung_subject *subject,
                                 const rung_pattern *p)
{
    double levels = (double)p->levels_state;
    uint64_t low = entries_of((double)p->all_state + levels), high = entries_of((double)p->all_state + 62 * levels);
    *entries = 0;
    if (p->overflow || !high) return cannot_look_up(out, a, subject, UINT64_C(1) << 60);
    low = low > 8 ? low - 4 : 1, high += 4;
    RUNG_TRY(cannot_look_up(out, a, subject, high));
    if (out->verdict != RUNG_CANNOT) return RUNG_OK;
    while (high - low > 1) {
        rung_card_verdict tried;
        uint64_t middle = low + (high - low) / 2;
        RUNG_TRY(cannot_look_up(&tried, a, subject, middle));
        if (tried.verdict == RUNG_CANNOT)
            high = middle, *out = tried;
        else
            low = middle;
    }
    *entries = high;
    return RUNG_OK;
}

/* Weights for the largest table up to the size that was asked for. */
static rung_status entries_can(rung_card_ability *out, asker *a)
{
    uint64_t most = a->options->lookup_entries ? a->options->lookup_entries : LOOKUP_ENTRIES;
    for (uint64_t entries = most; entries && !out->can_at; entries = entries > LOOKUP_LEAST ? entries / 4 : 0) {
        char task[64];
        rung_card_verdict tried;
        snprintf(task, sizeof task, "eva N=%llu", (unsigned long long)entries);
        RUNG_TRY(ask(&tried, a, a->subject, task, 0, true));
        if (tried.verdict == RUNG_CAN)
            out->can_at = entries, out->can = tried;
        else if (entries == most)
            out->otherwise = tried.statement;
    }
    return RUNG_OK;
}

static rung_status look_up(rung_card_ability *out, asker *a)
{
    *out = (rung_card_ability){.unit = "entries", .otherwise = ""};
    RUNG_TRY(entries_can(out, a));
    if (out->can_at) out->otherwise = "other sizes were not proved here";
    if (keeps_all(&a->pattern)) return RUNG_OK;
    rung_card_verdict why;
    RUNG_TRY(least_entries(&out->cannot_from, &why, a, a->subject, &a->pattern));
    if (out->cannot_from)
        out->cannot = why, out->otherwise = "smaller tables fit into the state, and no weights are known here";
    return RUNG_OK;
}

/* ---- composition ------------------------------------------------------------------------------------------------- */

/* Whether the smallest instance with so many functions has at most `tokens` tokens. */
static bool exists(size_t functions, uint64_t tokens)
{
    rung_task_conf conf;
    char task[64];
    snprintf(task, sizeof task, "seqcomp L=%zu N0=1", functions);
    return rung_task_conf_parse(&conf, task, NULL) == RUNG_OK && conf.tokens <= tokens;
}

/* More functions need longer tables, so a verdict about some says nothing about more of them: each depth is asked. */
static rung_status depth_cannot(rung_card_ability *out, asker *a)
{
    size_t first = a->pattern.full > 1 ? a->pattern.full : 1, last = first + DEPTH_ASKED - 1;
    if (last > RUNG_DEPTH_MAX) last = RUNG_DEPTH_MAX;
    if (!can_reach(&a->pattern, a->card->context)) return RUNG_OK;
    for (size_t L = first; L <= last; L++) {
        char task[64];
        rung_card_verdict tried;
        snprintf(task, sizeof task, "seqcomp L=%zu", L);
        if (!exists(L, a->card->context)) break;
        RUNG_TRY(ask(&tried, a, a->subject, task, a->card->context, false));
        out->asked_up_to = L;
        if (tried.verdict != RUNG_CANNOT)
            out->cannot_from = 0;
        else if (!out->cannot_from)
            out->cannot_from = L, out->cannot = tried;
    }
    if (!out->cannot_from) out->cannot = (rung_card_verdict){0};
    return RUNG_OK;
}

/* Weights for the smallest tables, on which every prompt can be run. */
static rung_status depth_can(rung_card_ability *out, asker *a)
{
    static const char *const smallest[DEPTH_BUILT] = {"seqcomp L=1 N0=4", "seqcomp L=2 N0=2 n=2",
                                                      "seqcomp L=3 N0=2 n=2,2 flat=1"};
    for (size_t i = 0; i < DEPTH_BUILT; i++) {
        rung_card_verdict tried;
        RUNG_TRY(ask(&tried, a, a->subject, smallest[i], 0, true));
        if (tried.verdict != RUNG_CAN) break;
        out->can_at = i + 1, out->can = tried;
    }
    return RUNG_OK;
}

static rung_status compose(rung_card_ability *out, asker *a)
{
    char why[256];
    *out = (rung_card_ability){.unit = "functions"};
    RUNG_TRY(depth_cannot(out, a));
    if (rung_subject_arch_text(a->subject)) RUNG_TRY(depth_can(out, a));
    if (a->pattern.full > RUNG_DEPTH_MAX)
        snprintf(why, sizeof why, "theorems about %zu full layers need as many functions, and the task has up to %d",
                 a->pattern.full, RUNG_DEPTH_MAX);
    else if (!can_reach(&a->pattern, a->card->context))
        snprintf(why, sizeof why,
                 "no theorem reaches %llu tokens: states and the largest accumulator have %.3g bits, tables of that "
                 "length at most %.3g",
                 (unsigned long long)a->card->context, (double)a->pattern.message + (double)a->pattern.all_state,
                 (double)a->card->context * log2((double)a->card->context + 2));
    else
        snprintf(why, sizeof why, "no theorem holds at %llu tokens, and no weights are known here",
                 (unsigned long long)a->card->context);
    out->otherwise = keep_text(a, why);
    return out->otherwise ? RUNG_OK : RUNG_SYSTEM;
}

/* ---- partners ---------------------------------------------------------------------------------------------------- */

/* With M = 2N numbers and more, N of them are a subset of at least 2^(2N - 1) sorts. The task has moduli below 2^23. */
static rung_status partners(rung_card_ability *out, asker *a)
{
    enum { MODULUS_MAX = 8388607 };
    rung_card_verdict tried;
    double bits = (double)a->pattern.all_state;
    *out = (rung_card_ability){.unit = "numbers"};
    RUNG_TRY(ask(&tried, a, a->subject, "two-sum N=8 M=16 blank=1", 0, true));
    if (tried.verdict == RUNG_CAN) out->can_at = 8, out->can = tried;
    out->otherwise = tried.verdict == RUNG_CAN ? "other sizes were not asked" : tried.statement;
    if (keeps_all(&a->pattern) || a->pattern.levels_state) return RUNG_OK;
    if (2 * (bits / 2 + 2) > MODULUS_MAX) {
        out->otherwise = "the largest modulus of the task has fewer bits than the state";
        return RUNG_OK;
    }
    char task[64];
    uint64_t numbers = (uint64_t)(bits / 2) + 2;
    snprintf(task, sizeof task, "two-sum N=%llu M=%llu", (unsigned long long)numbers,
             (unsigned long long)(2 * numbers));
    RUNG_TRY(ask(&tried, a, a->subject, task, 0, false));
    if (tried.verdict == RUNG_CANNOT) out->cannot_from = numbers, out->cannot = tried;
    return RUNG_OK;
}

/* Asked at every number, where later ones have not been read. */
static rung_status each_number(rung_card_ability *out, asker *a)
{
    rung_card_verdict tried;
    *out = (rung_card_ability){.unit = "numbers", .otherwise = ""};
    RUNG_TRY(ask(&tried, a, a->subject, "two-sum form=position N=2 M=5", 0, false));
    if (tried.verdict == RUNG_CANNOT)
        out->cannot_from = 2, out->cannot = tried;
    else
        out->otherwise = tried.statement;
    return RUNG_OK;
}

/* ---- recall of the recurrent part -------------------------------------------------------------------------------- */

static rung_status recall(rung_card_recall *out, asker *a)
{
    const rung_ledger *ledger = rung_subject_ledger(a->subject);
    rung_ledger_layer *layer = rung_calloc(ledger->layer_count + 1, sizeof *layer, a->err);
    rung_subject *part;
    size_t count = 0;
    if (!layer) return RUNG_SYSTEM;
    for (size_t i = 0; i < ledger->layer_count; i++)
        if (ledger->layer[i].recurrent) layer[count++] = card_recurrent_part(&ledger->layer[i]);
    *out = (rung_card_recall){.layers = count};
    rung_status status = count ? rung_subject_replace(&part, a->subject, layer, count, a->err) : RUNG_OK;
    free(layer);
    if (status != RUNG_OK || !count) return status;
    rung_pattern p;
    status = pattern_of(&p, a, part);
    out->state_bits = p.all_state + p.levels_state;
    RUNG_NEXT(status, least_entries(&out->limit, &out->proved, a, part, &p));
    RUNG_NEXT(status, card_measured(out, a->options->law, ledger, a->err));
    rung_subject_free(part);
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

rung_status card_abilities(rung_card *card, const rung_subject *subject, const rung_card_options *options,
                           rung_error *err)
{
    static rung_status (*const find[RUNG_ABILITIES])(rung_card_ability *,
                                                     asker *) = {[RUNG_ABILITY_LOOKUP] = look_up,
                                                                 [RUNG_ABILITY_COMPOSITION] = compose,
                                                                 [RUNG_ABILITY_TWO_SUM] = partners,
                                                                 [RUNG_ABILITY_EACH] = each_number};
    asker a = {.card = card, .subject = subject, .options = options, .proofs = options->proofs, .err = err};
    rung_lookup_proofs *own = NULL;
    rung_status status = a.proofs ? RUNG_OK : rung_lookup_proofs_new(&own, err);
    if (own) a.proofs = own;
    RUNG_NEXT(status, pattern_of(&a.pattern, &a, subject));
    for (size_t i = 0; status == RUNG_OK && i < RUNG_ABILITIES; i++) status = find[i](&card->ability[i], &a);
    RUNG_NEXT(status, recall(&card->recall, &a));
    card->has_abilities = status == RUNG_OK;
    rung_lookup_proofs_free(own);
    return status;
}
