/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Lookup and sequential composition for Coq. Each row computes what the checker of its theorem computes: the comment
 * names it. Where the form of proofs/ is weaker than the inequality of the tool, the row may say no to a CANNOT; it
 * never writes what Coq would not accept.
 */
#include "proof.h"
#include "spread.h"

#include <stdlib.h>
#include <string.h>

#define ULL(x) (unsigned long long)(x)

static const char weaker[] = "the form of this theorem in Coq is a little weaker, and does not hold at these numbers";
const char proof_beside_levels[] = "in Coq this theorem has no log-linear heads beside full ones";

/* How a layer is shown to have the heads that a theorem asks for (`heads` of TheoremC0.v). */
static const char *form_of(const rung_spec *l)
{
    return l->recurrent ? "right" : "left; split";
}

/* ---- the task -------------------------------------------------------------------------------------------------- */

static uint64_t n_at(const proof_job *job, uint64_t L, uint64_t l)
{
    const rung_value *n = rung_task_value(job->task, "n");
    if (job->point->free) return l + 1 < L ? 1 : job->point->n;
    return (uint64_t)n->list[n->list_len == L - 1 ? l - 1 : n->list_len - 1];
}

bool proof_seqcomp(proof_sizes *z, proof_job *job)
{
    bool flat = rung_task_param(job->task, "flat") == 1, given = !job->point->free;
    uint64_t range, entries;
    *z = (proof_sizes){.L = (uint64_t)rung_task_param(job->task, "L"), .last = 1};
    job->pair = rung_task_param(job->task, "form") != 0;
    z->N0 = given ? (uint64_t)rung_task_param(job->task, "N0") : job->point->N0;
    z->V = given ? (uint64_t)rung_task_param(job->task, "V") : job->point->V;
    /* z_1 has N_0 entries; z_{l+1} has n_l times as many as z_l, or n_l N_0 where values are flat */
    range = entries = z->N0;
    rung_buf_printf(&job->task_text, "(seqcomp%s %s %llu [", job->pair ? "_pair" : "", flat ? "true" : "false",
                    ULL(z->N0));
    for (uint64_t l = 1; l < z->L; l++) {
        z->last = n_at(job, z->L, l);
        if (l > 1) z->middle += entries;
        if (l > 1) rung_buf_puts(&job->task_text, "; ");
        rung_buf_printf(&job->task_text, "%llu", ULL(z->last));
        entries = z->last * (flat ? z->N0 : range), range = entries;
    }
    z->first = entries;
    rung_buf_printf(&job->task_text, "] %llu)", ULL(z->V));
    job->within = job->pair ? "seqcomp_pair_within" : "seqcomp_within";
    return true;
}

/* ---- A --------------------------------------------------------------------------------------------------------- */

static rung_status write_thinking(proof_job *job, const char *theorem, const char *tactic)
{
    rung_buf_puts(&job->claim_text, "forall T, ImpossibleThinking (");
    proof_put_layers(&job->claim_text, job, 0, job->specs);
    rung_buf_printf(&job->claim_text, ") T %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply %s; vm_compute; reflexivity", tactic);
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "%s", theorem);
    return RUNG_OK;
}

/* A_check: N log2 V > s. */
rung_status proof_lookup(proof_job *job, rung_error *err)
{
    uint64_t N = job->point->n, V = job->point->V;
    bool surely, eva = strcmp(job->task->task->name, "eva") == 0;
    RUNG_TRY(proof_exceeds(&surely, V, N, proof_bits(job, 0, job->specs, N), err));
    if (!surely) return proof_none(job, "%s", weaker);
    if (eva && rung_task_param(job->task, "form") != 0) {
        uint64_t keys = (uint64_t)rung_task_param(job->task, "K");
        rung_buf_printf(&job->task_text, "(pair_table %llu %llu %llu)", ULL(N), ULL(keys < N ? N : keys), ULL(V));
        job->within = "pair_table_within", job->proof->file = "CutTables.v";
        return write_thinking(job, "cut_pair_table", "cut_pair_table");
    }
    rung_buf_printf(&job->task_text, "(eva %llu %llu)", ULL(N), ULL(V));
    job->within = "eva_within";
    return write_thinking(job, "A", "A");
}

/* A_compose_check: the same with the first table. */
rung_status proof_passing(proof_job *job, rung_error *err)
{
    proof_sizes z;
    bool surely;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    RUNG_TRY(proof_exceeds(&surely, z.V, z.first, proof_bits(job, 0, job->specs, z.first), err));
    return surely ? write_thinking(job, "A_compose", "A_compose") : proof_none(job, "%s", weaker);
}

/* ---- one full layer -------------------------------------------------------------------------------------------- */

/* Impossible (BEFORE ++ F c :: AFTER) TASK, or RF s c in the place of F c. */
static rung_status write_around(proof_job *job, const char *theorem)
{
    rung_buf_puts(&job->claim_text, "Impossible (");
    proof_put_layers(&job->claim_text, job, 0, job->full);
    rung_buf_puts(&job->claim_text, " ++ ");
    proof_put_layer(&job->claim_text, job, job->full);
    rung_buf_puts(&job->claim_text, " :: ");
    proof_put_layers(&job->claim_text, job, job->full + 1, job->specs);
    rung_buf_printf(&job->claim_text, ") %s", job->task_text.text ? job->task_text.text : "");
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "%s", theorem);
    return RUNG_OK;
}

/* ceil(N 2^-bits) for N > 0. */
static uint64_t share_left(uint64_t N, proof_wide bits)
{
    return bits > 62 ? 1 : ((N - 1) >> (unsigned)bits) + 1;
}

/* A_prime_check: M = ceil(N_0 2^-A), and M log2 V > A + c + B M. */
rung_status proof_single(proof_job *job, rung_error *err)
{
    proof_sizes z;
    bool kept, surely;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    proof_wide A = proof_bits(job, 0, job->full, z.N0 + 1), B = proof_bits_after(job, job->full, z.N0 + 1);
    uint64_t c = job->spec[job->full].message, M = share_left(z.N0, A);
    RUNG_TRY(proof_kept(&kept, A, 1, M, z.N0, err));
    RUNG_TRY(proof_exceeds(&surely, z.V, M, A + c + B * M, err));
    if (!kept || !surely) return proof_none(job, "%s", weaker);
    rung_buf_printf(&job->tactic, "apply (A_prime _ _ _ _ _ _ %llu); vm_compute; reflexivity", ULL(M));
    return write_around(job, "A_prime");
}

/* B0_full_check: N_0 log2 V > c. */
static rung_status first_alone(proof_job *job, const proof_sizes *z, rung_error *err)
{
    bool surely;
    uint64_t c = job->spec[0].message;
    RUNG_TRY(proof_exceeds(&surely, z->V, z->N0, c, err));
    if (!surely) return proof_none(job, "%s", weaker);
    rung_buf_printf(&job->claim_text, "Impossible [F %llu] %s", ULL(c), job->task_text.text ? job->task_text.text : "");
    rung_buf_puts(&job->tactic, "apply B0_full; vm_compute; reflexivity");
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "B0_full");
    return RUNG_OK;
}

/* B0_check: x_0 <= N_0 <= x_0 x_1, and n_1 N_0 log2 V > c (n_1 + x_0) + B x_1. */
rung_status proof_first(proof_job *job, rung_error *err)
{
    proof_sizes z;
    const rung_bound_point *p = job->point;
    bool surely;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    if (job->specs == 1 && !job->apart) return first_alone(job, &z, err);
    uint64_t c = job->spec[0].message;
    proof_wide B = proof_bits_after(job, 0, z.first + z.middle + z.N0);
    rung_status status =
        proof_exceeds(&surely, z.V, (proof_wide)z.last * z.N0, c * ((proof_wide)z.last + p->x0) + B * p->x1, err);
    RUNG_TRY(status);
    if (!surely || p->x0 > z.N0) return proof_none(job, "%s", weaker);
    rung_buf_puts(&job->claim_text, "Impossible (");
    proof_put_layer(&job->claim_text, job, 0);
    rung_buf_puts(&job->claim_text, " :: ");
    proof_put_layers(&job->claim_text, job, 1, job->specs);
    rung_buf_printf(&job->claim_text, ") %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply (B0 _ _ _ _ _ _ %llu %llu); vm_compute; reflexivity", ULL(p->x0), ULL(p->x1));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "B0");
    return RUNG_OK;
}

/* ---- lemma S --------------------------------------------------------------------------------------------------- */

enum { RUNS_MAX = 4000 };

typedef struct climb {
    spread_run run[RUNS_MAX];
    size_t count;
    uint64_t x, theta; /* functions and pairs, the first function included */
} climb;

/* Coq computes the logarithms of a run with gain above 1 to 24 places: what that can lose, and more. */
#define ROUGH_SLACK 0x1p-20

/* The first function takes t pairs in any case, and the list of Coq begins after it. */
static void without_first(climb *c, uint64_t t)
{
    if (c->count == 0 || c->run[0].gain != t) {
        c->count = 0, c->x = 1, c->theta = t;
        return;
    }
    c->x = c->theta = 0;
    for (size_t i = 0; i < c->count; i++) c->x += c->run[i].count, c->theta += c->run[i].gain * c->run[i].count;
    if (--c->run[0].count == 0) memmove(c->run, c->run + 1, --c->count * sizeof *c->run);
}

/* A class of density 2^-(bits/g), up to x functions. For t = 1 the number of values is checked as `kept` is. */
static rung_status climb_up(climb *c, uint64_t t, uint64_t q, uint64_t g, proof_wide bits, uint64_t x, double ladder,
                            rung_error *err)
{
    rung_certified *s;
    bool kept = true;
    rung_status status = rung_certified_new(&s, 128, err);
    RUNG_TRY(status);
    rung_ival D = rung_ival_div(s, rung_ival_real(s, (double)bits), rung_ival_u64(s, g));
    if ((proof_wide)(double)bits < bits) D = rung_ival_mul(s, D, rung_ival_real(s, 1 + 0x1p-50));
    if (t > 1) D = rung_ival_add(s, D, rung_ival_real(s, (double)t * ROUGH_SLACK));
    c->count = spread_runs(c->run, RUNS_MAX, s, (double)t, (double)q, D, (double)x, ladder);
    if (rung_certified_failed(s)) status = rung_fail(err, RUNG_SYSTEM, "out of memory for certified numbers");
    rung_certified_free(s);
    without_first(c, t);
    if (status == RUNG_OK && t == 1) status = proof_kept(&kept, bits, g, c->theta, q, err);
    if (!kept && c->count && --c->run[0].count == 0) c->count = 0;
    if (!kept) c->x--, c->theta--;
    return status;
}

/* About 20 lines, whatever their length. */
static void put_runs(rung_buf *out, const climb *c)
{
    size_t from = out->len, width = 100, total = 16 * c->count;
    if (total / 20 > width) width = total / 20;
    rung_buf_putc(out, '[');
    for (size_t i = 0; i < c->count; i++) {
        const char *space = "";
        if (i) space = out->len - from > width ? ";\n  " : "; ";
        if (i && out->len - from > width) from = out->len;
        rung_buf_printf(out, "%s(%llu, %llu)", space, ULL(c->run[i].gain), ULL(c->run[i].count));
    }
    rung_buf_putc(out, ']');
}

/* Coarse ladders make short files; the last one is the one of the verdict. */
static const double ladders[] = {0.7, 0.85, 0.9, SPREAD_ROUGH, 0.96, 0.97, 0.98, 0.985, 0.99, SPREAD_FINE, 0.999};

/* ---- B --------------------------------------------------------------------------------------------------------- */

/* B_check: n_1 Theta log2 V > A + c t n_1 + rest, where rest is 0 (nothing follows), c t + B x, or c t + B + c M. */
static rung_status between_holds(bool *surely, const char **rest, const proof_job *job, const proof_sizes *z,
                                 const climb *up, rung_error *err)
{
    const rung_bound_point *p = job->point;
    proof_wide c = job->spec[job->full].message, t = p->t, cells = t * p->g, left = z->N0 - cells;
    proof_wide each = c * t + proof_bits_after(job, job->full, z->first + z->middle + z->N0) * up->x;
    proof_wide once = c * t + proof_bits_after(job, job->full, z->first) + c * (z->middle + left + up->x * cells);
    proof_wide bits = proof_bits(job, 0, job->full, z->first) + c * (t * z->last);
    bool follows = job->apart || job->full + 1 < job->specs;
    *rest = !follows ? "Nothing" : each <= once ? "PerFunction" : "Once";
    if (follows) bits += each <= once ? each : once;
    return proof_exceeds(surely, z->V, (proof_wide)z->last * up->theta, bits, err);
}

static rung_status write_between(proof_job *job, const climb *up, const char *rest)
{
    const rung_bound_point *p = job->point;
    rung_buf_printf(&job->tactic, "apply (B _ _ _ _ _ _ _ %llu %llu %llu\n  ", ULL(p->t), ULL(p->q), ULL(p->g));
    put_runs(&job->tactic, up);
    rung_buf_printf(&job->tactic, " %s); vm_compute; reflexivity", rest);
    return write_around(job, "B");
}

static bool shape_is_wrong(const proof_job *job, const proof_sizes *z)
{
    const rung_bound_point *p = job->point;
    return !p->t || !p->g || p->g > p->q || (proof_wide)p->t * p->q > z->N0 || (proof_wide)p->t * p->q >> 50;
}

rung_status proof_between(proof_job *job, rung_error *err)
{
    proof_sizes z;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    if (shape_is_wrong(job, &z)) return proof_none(job, "%s", weaker);
    climb *up = rung_calloc(1, sizeof *up, err);
    rung_status status = up ? RUNG_OK : RUNG_SYSTEM;
    const rung_bound_point *p = job->point;
    proof_wide A = proof_bits(job, 0, job->full, z.first + z.middle + z.N0);
    bool surely = false;
    const char *rest = "";
    for (size_t i = 0; status == RUNG_OK && !surely && i < RUNG_COUNT(ladders); i++) {
        status = climb_up(up, p->t, p->q, p->g, A, p->x, ladders[i], err);
        RUNG_NEXT(status, between_holds(&surely, &rest, job, &z, up, err));
    }
    RUNG_NEXT(status, surely ? write_between(job, up, rest) : proof_none(job, "%s", weaker));
    free(up);
    return status;
}

/* ---- two full layers ------------------------------------------------------------------------------------------- */

/* ceil(t q 2^(-c/(g t))), or one less where logarithms do not decide. */
static rung_status values_kept(uint64_t *theta, proof_wide c, const rung_bound_point *p, rung_error *err)
{
    rung_certified *s;
    bool kept = false;
    rung_status status = rung_certified_new(&s, 256, err);
    RUNG_TRY(status);
    rung_ival loss = rung_ival_div(s, rung_ival_u64(s, (uint64_t)c), rung_ival_real(s, (double)(p->g * p->t)));
    rung_ival share = rung_ival_exp2(s, rung_ival_sub(s, rung_ival_u64(s, 0), loss));
    rung_ival values = rung_ival_ceil(s, rung_ival_mul(s, rung_ival_real(s, (double)(p->t * p->q)), share));
    double low = rung_ival_low(s, values);
    *theta = low > 1 ? (uint64_t)low : 1;
    rung_certified_free(s);
    for (int i = 0; status == RUNG_OK && !kept && *theta > 1 && i < 2; i++) {
        status = proof_kept(&kept, c, p->t * p->g, *theta, p->t * p->q, err);
        if (!kept) --*theta;
    }
    return status;
}

/* C0_check: n_1 Theta log2 V > c n_1 + c' n_1 t + c (g t + middle + N_0 - g t + g t q). */
rung_status proof_two_full(proof_job *job, rung_error *err)
{
    proof_sizes z;
    const rung_bound_point *p = job->point;
    uint64_t theta = 1;
    bool surely = false;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    if (job->specs != 2 || shape_is_wrong(job, &z)) return proof_none(job, "%s", weaker);
    proof_wide c = job->spec[0].message, after = job->spec[1].message, n1 = z.last, cells = (proof_wide)p->t * p->g;
    RUNG_TRY(values_kept(&theta, c, p, err));
    RUNG_TRY(proof_exceeds(&surely, z.V, n1 * theta,
                           c * n1 + after * (n1 * p->t) + c * (z.middle + z.N0 + cells * p->q), err));
    if (!surely) return proof_none(job, "%s", weaker);
    rung_buf_printf(&job->claim_text, "Impossible [F %llu; F %llu] %s", ULL(c), ULL(after),
                    job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply (C0 _ _ _ _ _ _ %llu %llu %llu %llu); vm_compute; reflexivity", ULL(p->t),
                    ULL(p->q), ULL(p->g), ULL(theta));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "C0");
    return RUNG_OK;
}

/* C1_check: Theta = ceil(ceil(t q 2^(-c/(g t))) 2^-r), and n_1 Theta log2 V > c (n_1 + N_0 + g t q + middle) + r + c' n_1 t.
 * The states between are those that leave z_2 on the right, and those between z_0 and w in Theta. */
rung_status proof_relay(proof_job *job, rung_error *err)
{
    proof_sizes z;
    const rung_bound_point *p = job->point;
    uint64_t all = 1;
    bool kept, surely;
    size_t last = job->specs - 1;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    if (job->specs < 3 || shape_is_wrong(job, &z)) return proof_none(job, "%s", weaker);
    proof_wide c = job->spec[0].message, after = job->spec[last].message, n1 = z.last, cells = (proof_wide)p->t * p->g;
    proof_wide passed = proof_bits(job, 1, last, z.first + z.middle + z.N0 + 1);
    RUNG_TRY(values_kept(&all, c, p, err));
    uint64_t theta = share_left(all, passed);
    RUNG_TRY(proof_kept(&kept, passed, 1, theta, all, err));
    proof_wide fixed = c * (n1 + z.middle + z.N0 + cells * p->q) + proof_bits(job, 1, last, z.first);
    RUNG_TRY(proof_exceeds(&surely, z.V, n1 * theta, fixed + after * (n1 * p->t), err));
    if (!kept || !surely) return proof_none(job, "%s", weaker);
    rung_buf_printf(&job->claim_text, "Impossible (F %llu :: ", ULL(c));
    proof_put_layers(&job->claim_text, job, 1, last);
    rung_buf_printf(&job->claim_text, " ++ [F %llu]) %s", ULL(after), job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply (C1 _ _ _ _ _ _ _ %llu %llu %llu %llu %llu); vm_compute; reflexivity",
                    ULL(p->t), ULL(p->q), ULL(p->g), ULL(all), ULL(theta));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "C1");
    return RUNG_OK;
}

/* Ce_check: s + c (n_1 + g t + middle + N_0 - g t + min(G x, q) g t) + c' (n_1 t + G x t) + the least of G x B and B + c'
 * (middle + N_0 - g t + G x g t). */
static rung_status full_then_holds(bool *surely, bool *once, const proof_job *job, const proof_sizes *z,
                                   const climb *up, rung_error *err)
{
    const rung_bound_point *p = job->point;
    proof_wide c = job->spec[0].message, after = job->spec[1].message, t = p->t, cells = t * p->g;
    proof_wide n1 = (proof_wide)p->G * p->beta, Gx = (proof_wide)p->G * up->x, rest = z->middle + z->N0 - cells;
    proof_wide each = proof_bits_after(job, 1, z->first + z->middle + z->N0) * Gx;
    proof_wide all = proof_bits_after(job, 1, z->first) + after * (rest + Gx * cells);
    proof_wide shown = Gx < p->q ? Gx : p->q;
    proof_wide bits = c * n1 + job->spec[0].state + after * (n1 * t) + c * (cells + rest + cells * shown);
    bits += after * (Gx * t);
    *once = all < each;
    return proof_exceeds(surely, z->V, n1 * up->theta, bits + (*once ? all : each), err);
}

static rung_status write_full_then(proof_job *job, const climb *up, bool once)
{
    const rung_bound_point *p = job->point;
    const rung_spec *l = job->spec;
    bool beside = l[0].recurrent || l[1].recurrent;
    rung_buf_puts(&job->claim_text, "Impossible (");
    for (size_t i = 0; i < 2; i++) proof_put_layer(&job->claim_text, job, i), rung_buf_puts(&job->claim_text, " :: ");
    proof_put_layers(&job->claim_text, job, 2, job->specs);
    rung_buf_printf(&job->claim_text, ") %s", job->task_text.text ? job->task_text.text : "");
    if (l[1].recurrent) {
        rung_buf_puts(&job->tactic, "apply (heads_after _ ");
        proof_put_layers(&job->tactic, job, 0, 1);
        rung_buf_puts(&job->tactic, "); ");
    }
    if (beside)
        rung_buf_printf(&job->tactic, "apply (headwise_then _ _ _ _ %llu %llu _ _", ULL(l[0].state), ULL(l[0].message));
    else
        rung_buf_puts(&job->tactic, "apply (Ce _ _ _ _ _ _ _");
    rung_buf_printf(&job->tactic, " %llu %llu %llu %llu %llu\n  ", ULL(p->t), ULL(p->q), ULL(p->g), ULL(p->G),
                    ULL(p->beta));
    put_runs(&job->tactic, up);
    rung_buf_printf(&job->tactic, " %s); ", once ? "true" : "false");
    if (beside)
        rung_buf_printf(&job->tactic, "[%s; reflexivity|vm_compute; reflexivity]", form_of(&l[0]));
    else
        rung_buf_puts(&job->tactic, "vm_compute; reflexivity");
    snprintf(job->proof->theorem, sizeof job->proof->theorem, beside ? "headwise_then" : "Ce");
    return RUNG_OK;
}

static rung_status full_then(proof_job *job, const proof_sizes *z, rung_error *err)
{
    const rung_bound_point *p = job->point;
    if (shape_is_wrong(job, z) || !p->beta || (proof_wide)p->G * p->beta > z->last)
        return proof_none(job, "%s", weaker);
    climb *up = rung_calloc(1, sizeof *up, err);
    rung_status status = up ? RUNG_OK : RUNG_SYSTEM;
    bool surely = false, once = false;
    for (size_t i = 0; status == RUNG_OK && !surely && i < RUNG_COUNT(ladders); i++) {
        proof_wide bits = (proof_wide)job->spec[0].message * p->beta + job->spec[0].state;
        status = climb_up(up, p->t, p->q, p->g, bits, p->x, ladders[i], err);
        RUNG_NEXT(status, full_then_holds(&surely, &once, job, z, up, err));
    }
    RUNG_NEXT(status, surely ? write_full_then(job, up, once) : proof_none(job, "%s", weaker));
    free(up);
    return status;
}

rung_status proof_full_then(proof_job *job, rung_error *err)
{
    proof_sizes z;
    return proof_seqcomp(&z, job) ? full_then(job, &z, err) : RUNG_OK;
}

/* ---- one full layer otherwise ------------------------------------------------------------------------------------ */

/* Lemma S' by blocks of the same lengths as in Thoughts.v, and weights a/b. */
typedef struct step {
    uint64_t q, x, a, theta;
} step;

#define STEP_B (UINT64_C(1) << 52)

/* x + sum_{j<x} log2(q a + (b-a) j), each block by its mean. */
static rung_ival block_logs(rung_certified *s, const step *v)
{
    rung_ival sum = rung_ival_u64(s, 0), qa = rung_ival_mul(s, rung_ival_u64(s, v->q), rung_ival_u64(s, v->a));
    for (uint64_t j = 0, len; j < v->x; j += len) {
        len = 1 + j / 256 < v->x - j ? 1 + j / 256 : v->x - j;
        rung_ival twice = rung_ival_mul(s, rung_ival_u64(s, STEP_B - v->a), rung_ival_u64(s, 2 * j + len - 1));
        rung_ival mean = rung_ival_add(s, rung_ival_mul(s, rung_ival_u64(s, 2), qa), twice);
        sum = rung_ival_add(s, sum, rung_ival_mul(s, rung_ival_u64(s, len), rung_ival_log2(s, mean)));
    }
    return sum;
}

/* The most values that random_ok surely grants: T coordinates, `budget` bits. */
static rung_status step_values(step *v, uint64_t T, proof_wide budget, rung_error *err)
{
    rung_certified *s;
    rung_status status = rung_certified_new(&s, 256, err);
    RUNG_TRY(status);
    rung_ival xT = rung_ival_mul(s, rung_ival_u64(s, v->x), rung_ival_u64(s, T));
    rung_ival each = rung_ival_add(s, rung_ival_u64(s, 1 + 52), proof_log2(s, v->q)); /* 1 + log2 q + log2 b */
    each = rung_ival_sub(s, each, rung_ival_real(s, 0x1p-55));                        /* all that Coq rounds */
    rung_ival room =
        rung_ival_sub(s, rung_ival_mul(s, xT, each), rung_ival_mul(s, rung_ival_u64(s, T), block_logs(s, v)));
    room = rung_ival_sub(s, room, proof_wide_ival(s, budget));
    rung_ival loss = rung_ival_sub(s, rung_ival_u64(s, 52), proof_log2(s, v->a));
    double values = rung_ival_low(s, rung_ival_ceil(s, rung_ival_div(s, room, loss)));
    v->theta = values >= 1 && values < 0x1p52 ? (uint64_t)values : 0;
    if ((proof_wide)v->theta > (proof_wide)v->x * T) v->theta = v->x * T;
    if (rung_certified_failed(s)) status = rung_fail(err, RUNG_SYSTEM, "out of memory for certified numbers");
    rung_certified_free(s);
    return status;
}

/* D_2 = s + c (1 + t), and D_{l+1} = x_l D_l + 1 + c X with X contexts: steps_ok. */
static rung_status climb_steps(bool *surely, step *steps, const proof_job *job, const proof_sizes *z, const climb *up,
                               rung_error *err)
{
    const rung_bound_point *p = job->point;
    proof_wide c = job->spec[0].message, D = job->spec[0].state + c * (1 + p->t), X = (proof_wide)p->t * up->x;
    uint64_t theta = up->theta;
    *surely = false;
    for (size_t i = 0; i < p->steps; i++) {
        uint64_t a = (uint64_t)(p->step[i].y * (double)STEP_B);
        steps[i] = (step){p->step[i].q, p->step[i].x, a ? a : 1, 0};
        if (D >> 60 || X >> 60) return RUNG_OK;
        D = D * steps[i].x + 1;
        RUNG_TRY(step_values(&steps[i], theta, D, err));
        if (!(theta = steps[i].theta)) return RUNG_OK;
        D += c * X, X *= steps[i].x;
    }
    return proof_exceeds(surely, z->V, theta, D, err);
}

static rung_status write_thoughts(proof_job *job, const climb *up, const step *steps)
{
    const rung_bound_point *p = job->point;
    const rung_spec *l = &job->spec[0];
    rung_buf *out = &job->tactic;
    rung_buf_printf(&job->claim_text, "forall T, (T <= %zu)%%nat -> ImpossibleThinking ", p->steps + 1);
    proof_put_layers(&job->claim_text, job, 0, 1);
    rung_buf_printf(&job->claim_text, " T %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(out, "apply (thoughts _ _ _ _ %llu %llu %llu %llu %llu\n  ", ULL(l->state), ULL(l->message),
                    ULL(p->t), ULL(p->q), ULL(p->g));
    put_runs(out, up);
    for (size_t i = 0; i < p->steps; i++)
        rung_buf_printf(out, "%sStep %llu %llu %llu %llu %llu", i ? "; " : "\n  [", ULL(steps[i].q), ULL(steps[i].x),
                        ULL(steps[i].theta), ULL(steps[i].a), ULL(STEP_B));
    rung_buf_printf(out, "]); [%s; reflexivity|vm_compute; reflexivity]", form_of(l));
    job->proof->file = "Thoughts.v";
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "thoughts");
    return RUNG_OK;
}

/* thoughts_check: Theta_{L-1} log2 V > D_L. */
static rung_status proof_thoughts(proof_job *job, const proof_sizes *z, rung_error *err)
{
    const rung_bound_point *p = job->point;
    step steps[RUNG_COUNT(p->step)];
    if (job->spec[0].level) return proof_none(job, "%s", proof_beside_levels);
    climb *up = rung_calloc(1, sizeof *up, err);
    rung_status status = up ? RUNG_OK : RUNG_SYSTEM;
    proof_wide bits = (proof_wide)job->spec[0].message + job->spec[0].state;
    bool surely = false;
    for (size_t i = 0; status == RUNG_OK && !surely && i < RUNG_COUNT(ladders); i++) {
        status = climb_up(up, p->t, p->q, p->g, bits, p->x, ladders[i], err);
        RUNG_NEXT(status, climb_steps(&surely, steps, job, z, up, err));
    }
    RUNG_NEXT(status, surely ? write_thoughts(job, up, steps) : proof_none(job, "%s", weaker));
    free(up);
    return status;
}

/* thought_check: n_1 Theta log2 V > c n_1 + s + c n_1 t. */
rung_status proof_thought(proof_job *job, rung_error *err)
{
    proof_sizes z;
    const rung_bound_point *p = job->point;
    uint64_t theta = 1;
    bool surely = false;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    if (job->specs != 1)
        return proof_none(job, "of theorem K1 Coq has one layer, with full heads and perhaps recurrent ones beside");
    if (p->steps) return proof_thoughts(job, &z, err);
    if (job->spec[0].level) return proof_none(job, "%s", proof_beside_levels);
    if (shape_is_wrong(job, &z)) return proof_none(job, "%s", weaker);
    proof_wide c = job->spec[0].message, s = job->spec[0].state, n1 = z.last;
    RUNG_TRY(values_kept(&theta, c + s, p, err));
    RUNG_TRY(proof_exceeds(&surely, z.V, n1 * theta, c * n1 + s + c * (n1 * p->t), err));
    if (!surely) return proof_none(job, "%s", weaker);
    rung_buf_puts(&job->claim_text, "forall T, (T <= 1)%nat -> ImpossibleThinking ");
    proof_put_layers(&job->claim_text, job, 0, 1);
    rung_buf_printf(&job->claim_text, " T %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic,
                    "apply (one_thought _ _ _ _ %llu %llu %llu %llu %llu %llu); [%s; reflexivity|vm_compute; "
                    "reflexivity]",
                    ULL(s), ULL(c), ULL(p->t), ULL(p->q), ULL(p->g), ULL(theta), form_of(&job->spec[0]));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "one_thought");
    return RUNG_OK;
}

static uint64_t heads_of_full(const proof_job *job)
{
    const rung_ledger *ledger = rung_claim_ledger(job->claim);
    for (size_t i = 0; i < ledger->layer_count; i++)
        if (ledger->layer[i].full) return ledger->layer[i].heads;
    return 0;
}

/* Bits of the accumulator without a running maximum, which Coq does not count either. */
static uint64_t without_maximum(const proof_job *job, uint64_t heads)
{
    const rung_arithmetic *a = rung_claim_arithmetic(job->claim);
    bool carried = a->kernel == RUNG_KERNEL_ONLINE && a->message == RUNG_MESSAGE_ONLINE;
    return job->spec[0].message - (carried ? heads * (uint64_t)a->accumulator_bits : 0);
}

/* two_pass_check: (N_0 - H) log2 V > c. */
rung_status proof_two_pass(proof_job *job, rung_error *err)
{
    proof_sizes z;
    bool surely, before = rung_claim_arithmetic(job->claim)->kernel == RUNG_KERNEL_TWO_PASS;
    uint64_t heads = heads_of_full(job);
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    if (job->specs != 1 || !heads || heads >= z.N0) return proof_none(job, "%s", weaker);
    uint64_t c = without_maximum(job, heads);
    const char *claim = before ? "ImpossibleTwoPass" : "ImpossibleOnePass";
    const char *theorem = before ? "two_passes" : "one_pass_maximum";
    RUNG_TRY(proof_exceeds(&surely, z.V, z.N0 - heads, c, err));
    if (!surely) return proof_none(job, "%s", weaker);
    rung_buf_printf(&job->claim_text, "%s %llu %llu %s", claim, ULL(heads), ULL(c),
                    job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply (%s _ _ _ _ %llu %llu); vm_compute; reflexivity", theorem, ULL(heads), ULL(c));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "%s", theorem);
    return RUNG_OK;
}

/* eager_check: r = ceil((N_0 - H) 2^-d), and r log2 V > d + a. */
rung_status proof_eager(proof_job *job, rung_error *err)
{
    proof_sizes z;
    bool kept, surely;
    uint64_t heads = heads_of_full(job), d = heads * (uint64_t)rung_claim_arithmetic(job->claim)->accumulator_bits;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    uint64_t c = job->spec[0].message;
    if (job->specs != 1 || !heads || heads >= z.N0 || d > c) return proof_none(job, "%s", weaker);
    uint64_t entries = share_left(z.N0 - heads, d);
    RUNG_TRY(proof_kept(&kept, d, 1, entries, z.N0 - heads, err));
    RUNG_TRY(proof_exceeds(&surely, z.V, entries, c, err));
    if (!kept || !surely) return proof_none(job, "%s", weaker);
    rung_buf_printf(&job->claim_text, "ImpossibleEager %llu %llu %llu %s", ULL(heads), ULL(d), ULL(c - d),
                    job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply (rounded_weights _ _ _ _ %llu _ _ %llu); vm_compute; reflexivity", ULL(heads),
                    ULL(entries));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "rounded_weights");
    return RUNG_OK;
}

/* ---- side by side ---------------------------------------------------------------------------------------------- */

/* C0_check with recurrent heads: n_1 Theta log2 V > c n_1 + s + c' n_1 t + c (middle + N_0 + g t q) + s'. */
rung_status proof_headwise_two(proof_job *job, rung_error *err)
{
    proof_sizes z;
    const rung_bound_point *p = job->point;
    uint64_t theta = 1;
    bool surely = false;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    const rung_spec *l = job->spec;
    if (job->specs > 2) job->proof->file = "TheoremCe.v";
    if (l[0].level || l[1].level) return proof_none(job, "%s", proof_beside_levels);
    if (job->specs > 2) return full_then(job, &z, err);
    if (shape_is_wrong(job, &z)) return proof_none(job, "%s", weaker);
    proof_wide c = l[0].message, after = l[1].message, n1 = z.last, cells = (proof_wide)p->t * p->g;
    RUNG_TRY(values_kept(&theta, c + l[0].state, p, err));
    RUNG_TRY(proof_exceeds(
        &surely, z.V, n1 * theta,
        c * n1 + l[0].state + after * (n1 * p->t) + c * (z.middle + z.N0 + cells * p->q) + l[1].state, err));
    if (!surely) return proof_none(job, "%s", weaker);
    rung_buf_puts(&job->claim_text, "Impossible ");
    proof_put_layers(&job->claim_text, job, 0, 2);
    rung_buf_printf(&job->claim_text, " %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic,
                    "apply (headwise_two _ _ _ _ %llu %llu %llu %llu %llu %llu %llu %llu);\n  [%s; reflexivity|%s; "
                    "reflexivity|vm_compute; reflexivity]",
                    ULL(l[0].state), ULL(c), ULL(l[1].state), ULL(after), ULL(p->t), ULL(p->q), ULL(p->g), ULL(theta),
                    form_of(&l[0]), form_of(&l[1]));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "headwise_two");
    return RUNG_OK;
}

/* headwise_check: N_{L-1} log2 V > c W + s, W = N_{L-1}/N_0, and s the bits of the other heads after z_L. */
rung_status proof_headwise(proof_job *job, rung_error *err)
{
    proof_sizes z;
    bool surely;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    const rung_spec *l = job->spec;
    if (job->specs != 1 || !l->full) return proof_none(job, "%s", weaker);
    proof_wide s = proof_bits(job, 0, 1, z.first);
    rung_status status = proof_exceeds(&surely, z.V, z.first, (proof_wide)l->message * (z.first / z.N0) + s, err);
    RUNG_TRY(status);
    if (!surely) return proof_none(job, "%s", weaker);
    rung_buf_puts(&job->claim_text, "Impossible ");
    proof_put_layers(&job->claim_text, job, 0, 1);
    rung_buf_printf(&job->claim_text, " %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply (headwise _ _ _ _ %llu %llu); vm_compute; reflexivity", ULL(l->message),
                    ULL(s));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "headwise");
    return RUNG_OK;
}
