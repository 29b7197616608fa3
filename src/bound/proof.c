/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A CANNOT as a file that Coq checks: the frame of the file, the layers in bits, and the two comparisons that all
 * checkers are made of. the other proof_*.c have the theorems.
 */
#include "proof.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *id, *file;
    proof_row *write;
} theorems[] = {
    {"A", "TheoremA.v", proof_lookup},           {"A-compose", "TheoremA.v", proof_passing},
    {"A'", "TheoremAPrime.v", proof_single},     {"B0", "TheoremB0.v", proof_first},
    {"B", "TheoremB.v", proof_between},          {"C0", "TheoremC0.v", proof_two_full},
    {"Ce", "TheoremCe.v", proof_full_then},      {"cut", "Cut.v", proof_cut},
    {"cut-one", "CutOne.v", proof_cut_one},      {"headwise", "Headwise.v", proof_headwise},
    {"sparse", "Sparse.v", proof_sparse},        {"H2", "TheoremC0.v", proof_headwise_two},
    {"K1", "Thought.v", proof_thought},          {"two-pass", "TwoPass.v", proof_two_pass},
    {"split", "TheoremSplit.v", proof_split},    {"dsa-one", "TheoremTop.v", proof_choice},
    {"causal", "TheoremCausal.v", proof_causal}, {"eager", "Eager.v", proof_eager},
    {"C1", "TheoremC1.v", proof_relay},          {"SP", "TheoremSP.v", proof_sparse_deep},
};

bool proof_has(const char *id)
{
    for (size_t i = 0; i < RUNG_COUNT(theorems); i++)
        if (strcmp(theorems[i].id, id) == 0) return true;
    return false;
}

rung_status proof_none(proof_job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(job->proof->why, sizeof job->proof->why, format, args);
    va_end(args);
    return RUNG_OK;
}

/* ---- layers ---------------------------------------------------------------------------------------------------- */

/* A layer that carries nothing past a position is left out, like one that mixes no tokens. */
static bool carries(const rung_spec *s)
{
    return s->full || s->sparse || s->state || s->level;
}

/* A layer that selects single tokens is a scan: proofs/Choice.v. */
static rung_status take_layers(proof_job *job, rung_error *err)
{
    const rung_ledger *ledger = rung_claim_ledger(job->claim);
    bool overflow;
    job->spec = rung_calloc(2 * ledger->layer_count + 1, sizeof *job->spec, err);
    if (!job->spec) return RUNG_SYSTEM;
    size_t all = rung_specs_of(job->spec, ledger, rung_claim_arithmetic(job->claim), &overflow);
    for (size_t i = 0; i < all; i++)
        if (carries(&job->spec[i])) job->spec[job->specs++] = job->spec[i];
    for (job->full = 0; job->full < job->specs && !job->spec[job->full].full;) job->full++;
    return overflow ? proof_none(job, "the layers hold more bits than 2^62") : RUNG_OK;
}

static bool same(const rung_spec *a, const rung_spec *b)
{
    return a->full == b->full && a->recurrent == b->recurrent && a->state == b->state && a->level == b->level &&
           a->message == b->message;
}

/* Of a log-linear layer first what else it carries: both read the input of the layer, so one after the other is as
 * good. */
static void put_spec(rung_buf *out, const rung_spec *s)
{
    if (s->full && s->level)
        rung_buf_printf(out, "LF %llu %llu %llu", (unsigned long long)s->state, (unsigned long long)s->level,
                        (unsigned long long)s->message);
    else if (s->full && s->recurrent)
        rung_buf_printf(out, "RF %llu %llu", (unsigned long long)s->state, (unsigned long long)s->message);
    else if (s->full)
        rung_buf_printf(out, "F %llu", (unsigned long long)s->message);
    else if (s->level && s->state)
        rung_buf_printf(out, "R %llu; LL %llu", (unsigned long long)s->state, (unsigned long long)s->level);
    else
        rung_buf_printf(out, s->level ? "LL %llu" : "R %llu", (unsigned long long)(s->level ? s->level : s->state));
}

void proof_put_layer(rung_buf *out, const proof_job *job, size_t at)
{
    put_spec(out, &job->spec[at]);
}

static size_t alike(const proof_job *job, size_t from, size_t to)
{
    size_t count = 1;
    while (from + count < to && same(&job->spec[from], &job->spec[from + count])) count++;
    return count;
}

/* A stretch of equal layers, or all layers up to the next such stretch. */
static size_t put_stretch(rung_buf *out, const proof_job *job, size_t from, size_t to)
{
    size_t count = alike(job, from, to), at = from;
    bool plain = job->spec[from].full || !(job->spec[from].level && job->spec[from].state);
    if (count > 2 && plain) {
        rung_buf_puts(out, "repeat (");
        put_spec(out, &job->spec[from]);
        rung_buf_printf(out, ") %zu", count);
        return from + count;
    }
    for (rung_buf_putc(out, '['); at < to && (at == from || alike(job, at, to) < 3); at++) {
        if (at > from) rung_buf_puts(out, "; ");
        put_spec(out, &job->spec[at]);
    }
    rung_buf_putc(out, ']');
    return at;
}

void proof_put_layers(rung_buf *out, const proof_job *job, size_t from, size_t to)
{
    if (from >= to) rung_buf_puts(out, "[]");
    for (size_t at = from; at < to;) {
        if (at > from) rung_buf_puts(out, " ++ ");
        at = put_stretch(out, job, at, to);
    }
}

proof_wide proof_bits(const proof_job *job, size_t from, size_t to, uint64_t tokens)
{
    proof_wide bits = 0;
    unsigned ones = (unsigned)__builtin_popcountll(tokens);
    for (size_t i = from; i < to; i++) bits += job->spec[i].state + (proof_wide)job->spec[i].level * ones;
    return bits;
}

proof_wide proof_bits_after(const proof_job *job, size_t full, uint64_t tokens)
{
    return job->spec[full].state + proof_bits(job, full + 1, job->specs, tokens);
}

/* ---- comparisons ----------------------------------------------------------------------------------------------- */

rung_ival proof_wide_ival(rung_certified *s, proof_wide x)
{
    rung_ival high = rung_ival_mul(s, rung_ival_u64(s, (uint64_t)(x >> 64)), rung_ival_real(s, 0x1p64));
    return rung_ival_add(s, high, rung_ival_u64(s, (uint64_t)x));
}

/* Logarithms to 64 places are wrong by a few units of the last one; this is much more. */
#define SLACK 0x1p-58

typedef struct comparison {
    uint64_t V, theta;
    proof_wide n, bits;
} comparison;

rung_ival proof_log2(rung_certified *s, uint64_t x)
{
    return rung_ival_log2(s, rung_ival_u64(s, x));
}

static bound_sides exceeds_sides(rung_certified *s, const void *context)
{
    const comparison *c = context;
    bool exact = (c->V & (c->V - 1)) == 0;
    rung_ival each = rung_ival_sub(s, proof_log2(s, c->V), rung_ival_real(s, exact ? 0 : SLACK));
    return (bound_sides){rung_ival_mul(s, proof_wide_ival(s, c->n), each), proof_wide_ival(s, c->bits)};
}

rung_status proof_exceeds(bool *surely, uint64_t V, proof_wide n, proof_wide bits, rung_error *err)
{
    comparison c = {.V = V, .n = n, .bits = bits};
    *surely = false;
    return V ? bound_surely(surely, exceeds_sides, &c, err) : RUNG_OK;
}

static bool power_of_two(uint64_t x)
{
    return x && (x & (x - 1)) == 0;
}

static bound_sides kept_sides(rung_certified *s, const void *context)
{
    const comparison *c = context;
    bool exact = power_of_two(c->V) && power_of_two(c->theta - 1);
    rung_ival gap = rung_ival_sub(s, proof_log2(s, c->V), proof_log2(s, c->theta - 1));
    rung_ival each = rung_ival_sub(s, gap, rung_ival_real(s, exact ? 0 : SLACK));
    return (bound_sides){rung_ival_mul(s, proof_wide_ival(s, c->n), each), proof_wide_ival(s, c->bits)};
}

rung_status proof_kept(bool *surely, proof_wide A, uint64_t g, uint64_t theta, uint64_t N, rung_error *err)
{
    comparison c = {.V = N, .theta = theta, .n = g, .bits = A};
    *surely = g > 0 && N > 0 && theta == 1;
    return theta > 1 && N ? bound_surely(surely, kept_sides, &c, err) : RUNG_OK;
}

/* ---- the file -------------------------------------------------------------------------------------------------- */

/* Text inside of a comment of Coq: no comment begins or ends in it, and no string. */
static void put_comment(rung_buf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        bool opens = *c == '*' && c > text && c[-1] == '(', closes = *c == ')' && c > text && c[-1] == '*';
        if (opens || closes) rung_buf_putc(out, ' ');
        rung_buf_putc(out, *c == '"' ? '\'' : *c);
    }
}

static void put_head(rung_buf *out, const proof_job *job, const char *id)
{
    rung_buf about;
    rung_buf_init(&about);
    rung_buf_printf(&about, "%s: ", rung_claim_ledger(job->claim)->name);
    if (job->n)
        rung_buf_printf(&about, "%s of some size with at most %llu tokens", job->task->task->name,
                        (unsigned long long)job->n);
    else
        rung_task_canonical(&about, job->task);
    rung_buf_printf(&about, ",\n   ");
    rung_arithmetic_print(&about, rung_claim_arithmetic(job->claim));
    rung_buf_puts(out, "(* SPDX-License-Identifier: MIT\n   ");
    if (about.text) put_comment(out, about.text);
    rung_buf_printf(out,
                    ".\n   CANNOT by theorem %s. To check it: coqc -Q DIR Rung THIS.v, which must print \"Closed under "
                    "the\n   global context\". DIR has the compiled proofs of rung: build/proofs after `make proofs`. "
                    "*)\n",
                    id);
    out->failed = out->failed || about.failed;
    rung_buf_clear(&about);
}

/* From prompts whose entries name their arguments to those whose entries do not, by how the claim begins. */
static const struct {
    const char *claim, *tactic;
} without_arguments[] = {
    {"forall T, (T <=", "intros T HT; apply pair_form_thinking; revert T HT; "},
    {"forall T, ", "intros T; apply pair_form_thinking; "},
    {"ImpossibleTwoPass ", "apply pair_form_two_pass; "},
    {"ImpossibleOnePass ", "apply pair_form_one_pass; "},
    {"ImpossibleEager ", "apply pair_form_eager; "},
    {"ImpossibleSplit ", "apply pair_form_split; "},
    {"ImpossibleTop ", "apply pair_form_top; "},
    {"Impossible ", "apply pair_form; "},
};

static const char *take_arguments_away(const char *claim)
{
    for (size_t i = 0; i < RUNG_COUNT(without_arguments); i++)
        if (strncmp(claim, without_arguments[i].claim, strlen(without_arguments[i].claim)) == 0)
            return without_arguments[i].tactic;
    return "";
}

/* From the form of the prompts and of the layers that Coq has proved it for to those of the claim. */
static void put_reduction(rung_buf *out, const proof_job *job)
{
    if (job->pair) rung_buf_puts(out, take_arguments_away(job->claim_text.text));
    if (job->apart) {
        rung_buf_puts(out, "apply (heads_after _ (");
        proof_put_layers(out, job, 0, job->full);
        rung_buf_puts(out, ")); ");
    }
}

static rung_status finish(proof_job *job, const char *id, rung_error *err)
{
    rung_buf *out = &job->proof->text;
    put_head(out, job, id);
    rung_buf_puts(out, "From Rung Require Import Instance.\nLocal Open Scope N_scope.\n\nTheorem cannot : ");
    if (job->within) rung_buf_printf(out, "within %llu %s /\\\n  ", (unsigned long long)job->n, job->task_text.text);
    rung_buf_printf(out, "%s.\nProof. ", job->claim_text.text);
    if (job->within) rung_buf_printf(out, "split; [apply %s; vm_compute; reflexivity|\n  ", job->within);
    put_reduction(out, job);
    rung_buf_printf(out, job->within ? "%s]." : "%s.", job->tactic.text);
    rung_buf_puts(out, " Qed.\n\nPrint Assumptions cannot.\n");
    job->proof->written = true;
    return rung_buf_ok(out, err);
}

static rung_status write_with(proof_job *job, size_t row, rung_error *err)
{
    rung_status status = theorems[row].write(job, err);
    RUNG_NEXT(status, rung_buf_ok(&job->task_text, err));
    RUNG_NEXT(status, rung_buf_ok(&job->claim_text, err));
    RUNG_NEXT(status, rung_buf_ok(&job->tactic, err));
    if (status != RUNG_OK || job->proof->why[0]) return status;
    if (!job->n) job->within = NULL;
    return finish(job, theorems[row].id, err);
}

/* Rows of Coq that are about layers with full and recurrent heads. The others are stated for one or the other. */
static bool about_heads_beside(const char *id)
{
    return strcmp(id, "headwise") == 0 || strcmp(id, "cut-one") == 0 || strcmp(id, "H2") == 0 || strcmp(id, "K1") == 0;
}

/* The theorems of one full layer hold for heads beside it as for a layer after it. */
static bool takes_them_apart(const char *id)
{
    return strcmp(id, "A'") == 0 || strcmp(id, "B0") == 0 || strcmp(id, "B") == 0;
}

static bool has_heads_beside(const proof_job *job)
{
    for (size_t i = 0; i < job->specs; i++)
        if (job->spec[i].full && job->spec[i].recurrent) return true;
    return false;
}

static rung_status judge_heads_beside(proof_job *job, const char *id)
{
    if (!has_heads_beside(job) || about_heads_beside(id)) return RUNG_OK;
    job->apart = takes_them_apart(id);
    if (!job->apart) return proof_none(job, "in Coq theorem %s has no recurrent heads beside full ones", id);
    if (job->spec[job->full].level) return proof_none(job, "%s", proof_beside_levels);
    return RUNG_OK;
}

/* The others name no layers. */
static bool about_layers(const char *id)
{
    return strcmp(id, "causal") != 0;
}

/* Layers that select single tokens are scans whatever softmax does with them. */
static bool any_order(const rung_claim *claim)
{
    rung_pattern layers = rung_pattern_of(rung_claim_ledger(claim), rung_claim_arithmetic(claim));
    return layers.full && layers.top == layers.full;
}

/* Premises that a theorem of the tool does not need, but that the statements of Coq have. */
static const char *missing(const rung_claim *claim, const rung_bound *bound)
{
    if (rung_claim_premise(claim, RUNG_PREMISE_ENDS).is != RUNG_ESTABLISHED)
        return "in Coq nothing but a chain of thought follows the last token of the task";
    /* their own forms of a layer, and no other order */
    bool own_form =
        strcmp(bound->id, "two-pass") == 0 || strcmp(bound->id, "eager") == 0 || strcmp(bound->id, "split") == 0;
    if (rung_claim_arithmetic(claim)->kernel != RUNG_KERNEL_ONLINE && !own_form && !any_order(claim) &&
        (bound->needs & RUNG_NEEDS(RUNG_PREMISE_ORDER)))
        return "the form that Coq has is about sums from left to right in one accumulator";
    return NULL;
}

rung_status rung_proof_write(rung_proof *proof, const rung_claim *claim, const rung_bound_answer *answer,
                             rung_error *err)
{
    *proof = (rung_proof){0};
    rung_buf_init(&proof->text);
    if (!answer) return proof_none(&(proof_job){.proof = proof}, "no theorem is about this claim");
    proof_job job = {.claim = claim,
                     .task = rung_claim_task(claim),
                     .n = rung_claim_n(claim),
                     .point = &answer->point,
                     .proof = proof};
    rung_buf_init(&job.task_text), rung_buf_init(&job.claim_text), rung_buf_init(&job.tactic);
    size_t row = 0;
    while (row < RUNG_COUNT(theorems) && strcmp(theorems[row].id, answer->bound->id) != 0) row++;
    bool there = row < RUNG_COUNT(theorems);
    const char *lacks = missing(claim, answer->bound);
    if (there) proof->file = theorems[row].file;
    if (answer->verdict != RUNG_CANNOT) return proof_none(&job, "no theorem says CANNOT");
    if (!there) return proof_none(&job, "theorem %s is proved on paper, not in Coq", answer->bound->id);
    if (lacks) return proof_none(&job, "%s", lacks);
    if (!answer->point.known)
        return proof_none(&job, "the form that Coq has does not cover these numbers or this order of sums");
    rung_status status = take_layers(&job, err);
    if (about_layers(answer->bound->id) && !proof->why[0])
        RUNG_NEXT(status, judge_heads_beside(&job, answer->bound->id));
    if (status == RUNG_OK && !proof->why[0]) status = write_with(&job, row, err);
    free(job.spec);
    rung_buf_clear(&job.task_text), rung_buf_clear(&job.claim_text), rung_buf_clear(&job.tactic);
    return status;
}

void rung_proof_clear(rung_proof *proof)
{
    rung_buf_clear(&proof->text);
    *proof = (rung_proof){0};
}
