/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Weights: finds a construction whose layers the subject contains, with the other layers idle (docs/contains.md).
 * Judges it in the exact evaluator, at the very instance, in a format of at most the bits of the claim. Weights that
 * were judged by a sample are SAMPLED, never CAN.
 */
#include "weights.h"
#include "rung/witness.h"

#include <math.h>
#include <string.h>

/* Longer prompts are not run here. */
enum { TOKENS_MAX = 1 << 13 };

static int fewest_bits(const rung_arithmetic *a)
{
    int bits = a->accumulator_bits < a->state_bits ? a->accumulator_bits : a->state_bits;
    return bits < a->cache_bits ? bits : a->cache_bits;
}

static rung_softmax softmax_of(rung_kernel kernel)
{
    return kernel == RUNG_KERNEL_TWO_PASS  ? RUNG_SOFTMAX_TWO_PASS
           : kernel == RUNG_KERNEL_REVERSE ? RUNG_SOFTMAX_REVERSE
                                           : RUNG_SOFTMAX_ONLINE;
}

/* Why no construction can answer this claim, or NULL. */
static const char *out_of_reach(const rung_claim *claim)
{
    rung_claim_spec about = rung_claim_get_spec(claim);
    if (about.kernel == RUNG_KERNEL_FAST) return "weights are judged by the exact evaluator only";
    if (about.kernel == RUNG_KERNEL_EAGER || about.kernel == RUNG_KERNEL_SPLIT || about.kernel == RUNG_KERNEL_TILES)
        return "the exact evaluator, which judges weights, has the orders online, two-pass and reverse";
    if (!about.kernel) return "the order in which numbers are added is not stated";
    if (about.layout != RUNG_ESTABLISHED || about.ends != RUNG_ESTABLISHED)
        return "constructions are for prompts as the task writes them, with no tokens after them";
    return NULL;
}

/* Describes what was judged right. */
static void say_shown(rung_decision *d, const rung_finding *finding)
{
    rung_buf task;
    bool sample = finding->evidence == RUNG_A_SAMPLE;
    rung_buf_init(&task);
    rung_task_canonical(&task, &d->task);
    int used = snprintf(d->statement, sizeof d->statement, "%.200s, %zu tokens, in %s: ", task.text ? task.text : "",
                        d->task.tokens, d->numbers);
    size_t at = used > 0 && (size_t)used < sizeof d->statement ? (size_t)used : 0;
    if (finding->evidence == RUNG_PROVED)
        snprintf(d->statement + at, sizeof d->statement - at, "proved, %s", finding->reason);
    else
        snprintf(d->statement + at, sizeof d->statement - at, "%s%llu %sprompts right", sample ? "" : "all ",
                 (unsigned long long)finding->prompts, sample ? "random " : "");
    rung_buf_clear(&task);
}

static rung_status take_weights(rung_decision *d, const rung_finding *finding, const char *by, const rung_fmt *fmt,
                                rung_kernel kernel, rung_error *err)
{
    static const rung_basis bases[] = {[RUNG_PROVED] = RUNG_BASIS_PROOF,
                                       [RUNG_ALL_PROMPTS] = RUNG_BASIS_EVERY_PROMPT,
                                       [RUNG_A_SAMPLE] = RUNG_BASIS_SAMPLE};
    d->has_weights = true;
    d->prompts = finding->prompts, d->error_high = finding->error_high;
    snprintf(d->numbers, sizeof d->numbers, "%s", fmt->name);
    d->weights = rung_arena_strdup(&d->arena, by, err);
    if (!d->weights) return RUNG_SYSTEM;
    if (d->verdict == RUNG_CANNOT) return RUNG_OK; /* rung_decide compares both afterwards */
    d->by = d->weights;
    /* Weights are right in the format in which they were judged, and in no other, not even in one with more bits. */
    snprintf(d->about, sizeof d->about, "in exact %s arithmetic, %s", fmt->name, rung_kernel_text(kernel));
    d->basis = bases[finding->evidence], d->verdict = rung_finding_verdict(finding);
    say_shown(d, finding);
    return RUNG_OK;
}

static rung_status look_in(rung_decision *d, const rung_claim *claim, const rung_decide_options *means,
                           const rung_fmt *fmt, rung_error *err)
{
    const rung_subject *subject = rung_claim_subject(claim);
    rung_witness_options ask = {.arch = rung_subject_arch_text(subject),
                                .defaults = rung_subject_arch_defaults(subject),
                                .task = &d->task,
                                .numbers = fmt,
                                .softmax = softmax_of(rung_claim_arithmetic(claim)->kernel),
                                .given = means->given,
                                .given_by = means->given_by,
                                .thoughts = rung_claim_premise(claim, RUNG_PREMISE_AT_ONCE).is == RUNG_VIOLATED,
                                .most_thoughts = rung_claim_thoughts(claim),
                                .samples = means->samples,
                                .seed = means->seed,
                                .threads = means->threads,
                                .work = means->work,
                                .interrupted = means->interrupted,
                                .proofs = means->proofs};
    rung_witness w;
    rung_status status = ask.arch ? rung_witness_find(&w, &ask, err)
                                  : rung_witness_published(&w, rung_subject_ledger(subject), &ask, err);
    if (status == RUNG_OK && w.found) {
        status = take_weights(d, &w.finding, w.build ? w.build : "", fmt, rung_claim_arithmetic(claim)->kernel, err);
        d->model = w.model, w.model = NULL;
    } else if (status == RUNG_OK) {
        snprintf(d->no_weights, sizeof d->no_weights, "%s", w.why);
    }
    rung_witness_clear(&w);
    return status;
}

rung_status decide_weights(rung_decision *d, const rung_claim *claim, const rung_decide_options *means, rung_error *err)
{
    const char *why = out_of_reach(claim);
    rung_fmt formats[2];
    rung_error none = {{0}};
    if (!why && rung_claim_n(claim) > TOKENS_MAX) why = "prompts of this length are too long to run here";
    if (!why && rung_decide_instance(&d->task, rung_claim_task(claim), rung_claim_n(claim), &none) != RUNG_OK)
        why = none.text;
    if (!why && d->task.tokens > TOKENS_MAX) why = "prompts of this length are too long to run here";
    if (!why && rung_claim_arithmetic(claim)->mixed) why = "weights are judged in one number format, not in mixed ones";
    size_t count = why ? 0 : rung_witness_formats(formats, fewest_bits(rung_claim_arithmetic(claim)));
    if (count && means->given_in) formats[0] = *means->given_in, count = 1;
    if (!why && !count) why = "constructions are run in floats of 7 bits or more";
    if (why) snprintf(d->no_weights, sizeof d->no_weights, "%s", why);
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < count && status == RUNG_OK && !d->has_weights; i++)
        status = look_in(d, claim, means, &formats[i], err);
    return status;
}
