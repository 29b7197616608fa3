/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tests by the exact evaluator. Theorems about scans hold for an evaluator that rounds every operation and adds from
 * left to right. The tape does neither: it takes the maximum of a whole row, clamps exponentials and works in chunks.
 * So an accuracy that is compared with a theorem is measured here, by sessions of the exact evaluator on the trained
 * weights. Questions about one prompt continue from one session that has read the prefix. Slice i of a batch has the
 * sequences i, i + RUNG_SLICES, ..., whichever process does it.
 */
#include "exact.h"

#include "net.h"
#include "share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Distance from a vector target that counts as right, as in the tape. */
#define NEAR 0.1
/* Largest number of multiplications of a test: about ten seconds on one core. */
#define MULTIPLICATIONS 0x1p33

typedef struct exact_slice {
    rung_session *stem, *branch; /* stem: has read the prefix that several questions share */
    size_t *at;                  /* [tokens of one run] */
    double *out;                 /* [tokens of one run][answers] */
    rung_status status;
    rung_error err;
} exact_slice;

struct train_exact {
    rung_model *model;
    rung_program *program;
    const rung_model_spec *spec;
    const rung_team *team;
    const rung_batch *batch; /* of the call */
    size_t tokens;           /* of one sequence */
    size_t threads;
    train_range mine; /* slices of this process */
    train_part part[RUNG_SLICES];
    exact_slice slice[RUNG_SLICES];
};

/* ---- cost -------------------------------------------------------------------------------------------------------- */

static size_t sequence_tokens(const rung_batch *batch)
{
    return batch->prefix + batch->queries * batch->each;
}

/* Multiplications for one token: its projections, and what it reads of all others. */
static double token_cost(const rung_net *net, size_t tokens)
{
    double cost = 0;
    for (size_t i = 0; i < net->model_tensors; i++)
        if (net->tensor[i].projects) cost += (double)net->tensor[i].elements;
    for (size_t l = 0; l < net->arch.layer_count; l++)
        for (size_t g = 0; g < net->arch.layer[l].group_count; g++) {
            const rung_mech_conf *conf = &net->arch.layer[l].group[g];
            cost += (double)tokens * (double)conf->heads * (double)(conf->dk + conf->dv);
        }
    return cost;
}

uint64_t train_exact_batches(const rung_net *net, const rung_batch *batch)
{
    size_t tokens = sequence_tokens(batch), reads = batch->prefix + batch->each;
    double most = MULTIPLICATIONS / ((double)batch->sequences * (double)tokens * token_cost(net, reads));
    return most < 1 ? 1 : (uint64_t)most;
}

/* ---- one answer -------------------------------------------------------------------------------------------------- */

static double cross_entropy(const double *logits, size_t classes, int32_t answer)
{
    double top = logits[rung_argmax(logits, classes)], sum = 0;
    for (size_t c = 0; c < classes; c++) sum += exp(logits[c] - top);
    return log(sum) - (logits[answer] - top);
}

/* The mean over the coordinates. */
static double squared_error(const double *y, const float *want, size_t count, bool *near)
{
    double sum = 0;
    for (size_t c = 0; c < count; c++) sum += (y[c] - (double)want[c]) * (y[c] - (double)want[c]);
    *near = sum <= NEAR * NEAR;
    return sum / (double)count;
}

/* Judges read-out `row` at a token of the batch. */
static bool judge(double *loss, const train_exact *e, const double *row, size_t token)
{
    const rung_batch *batch = e->batch;
    size_t answers = e->spec->answers;
    bool right = false;
    if (batch->target_value) {
        *loss += squared_error(row, batch->target_value + token * answers, answers, &right);
    } else {
        *loss += cross_entropy(row, answers, batch->target[token]);
        right = rung_argmax(row, answers) == (size_t)batch->target[token];
    }
    return right;
}

/* ---- one run ----------------------------------------------------------------------------------------------------- */

/* Tokens of the batch that a session reads in one run, up to the last one that is asked; those after it are padding. */
static size_t find_asked(exact_slice *s, size_t *tokens, const train_exact *e, size_t first)
{
    size_t asked = 0;
    for (size_t t = 0; t < *tokens; t++)
        if (e->batch->target[first + t] != RUNG_NO_TARGET) s->at[asked++] = t;
    if (e->spec->causal && asked) *tokens = s->at[asked - 1] + 1;
    return asked;
}

static rung_status read_tokens(exact_slice *s, rung_session *session, const train_exact *e, size_t first, size_t tokens,
                               size_t asked)
{
    const rung_batch *batch = e->batch;
    rung_prompt prompt = {.token = batch->token ? batch->token + first : NULL,
                          .feature = batch->feature ? batch->feature + first * e->spec->d_in : NULL,
                          .tokens = tokens};
    return rung_session_run(session, s->out, &prompt, RUNG_FORM_SCAN, s->at, asked, &s->err);
}

/* Runs tokens first, first+1, ... of the batch after what the session has read. `stopped`: the session has stopped at a
 * NaN. */
static rung_status answer(exact_slice *s, train_sum *sum, rung_session *session, const train_exact *e, size_t first,
                          size_t tokens, bool stopped)
{
    size_t asked = find_asked(s, &tokens, e, first), each = e->batch->thoughts + 1;
    bool all_right = true;
    rung_status status = stopped ? RUNG_INPUT : read_tokens(s, session, e, first, tokens, asked);
    if (status != RUNG_OK && status != RUNG_INPUT) return status;
    sum->targets += asked / each;
    if (status == RUNG_INPUT) sum->loss = NAN; /* NaN: there is no answer, so the question is wrong */
    for (size_t i = 0; status == RUNG_OK && i < asked; i++) {
        bool right = judge(&sum->loss, e, s->out + i * e->spec->answers, first + s->at[i]);
        all_right = right && (all_right || i % each == 0);
        sum->right += all_right && (i + 1) % each == 0;
    }
    return RUNG_OK;
}

/* Answers all questions about one prefix. */
static rung_status answer_queries(exact_slice *s, train_sum *sum, const train_exact *e, size_t first)
{
    const rung_batch *batch = e->batch;
    rung_session_reset(s->stem);
    rung_status status = read_tokens(s, s->stem, e, first, batch->prefix, 0);
    bool stopped = status == RUNG_INPUT;
    if (stopped) status = RUNG_OK;
    for (size_t q = 0; status == RUNG_OK && q < batch->queries; q++) {
        rung_session_reset(s->branch);
        if (!stopped) status = rung_session_copy(s->branch, s->stem, &s->err);
        RUNG_NEXT(status, answer(s, sum, s->branch, e, first + batch->prefix + q * batch->each, batch->each, stopped));
    }
    return status;
}

static void answer_slice(void *context, size_t item, size_t worker)
{
    train_exact *e = context;
    size_t number = e->mine.first + item;
    exact_slice *s = &e->slice[number];
    train_sum *sum = &e->part[number].sum;
    (void)worker;
    *sum = (train_sum){0};
    s->status = RUNG_OK;
    for (size_t q = number; s->status == RUNG_OK && q < e->batch->sequences; q += RUNG_SLICES) {
        sum->sequences++;
        if (e->batch->queries) {
            s->status = answer_queries(s, sum, e, q * e->tokens);
        } else {
            rung_session_reset(s->branch);
            s->status = answer(s, sum, s->branch, e, q * e->tokens, e->tokens, false);
        }
    }
}

rung_status train_exact_loss(rung_loss *loss, train_exact *e, const rung_batch *batch, rung_error *err)
{
    rung_status status = RUNG_OK;
    *loss = (rung_loss){0};
    e->batch = batch;
    rung_par_for(e->mine.end - e->mine.first, e->threads, answer_slice, e);
    for (size_t i = e->mine.first; status == RUNG_OK && i < e->mine.end; i++)
        if (e->slice[i].status != RUNG_OK) status = rung_fail(err, e->slice[i].status, "%s", e->slice[i].err.text);
    status = train_share_status(e->team, status, err);
    RUNG_TRY(status);
    train_share_parts(e->team, e->part);
    for (size_t i = 0; i < RUNG_SLICES; i++) {
        loss->loss += e->part[i].sum.loss;
        loss->targets += e->part[i].sum.targets;
        loss->right += e->part[i].sum.right;
    }
    loss->loss /= (double)(loss->targets * (batch->thoughts + 1));
    return RUNG_OK;
}

/* ---- whole ------------------------------------------------------------------------------------------------------- */

static rung_status open_slice(exact_slice *s, const train_exact *e, const rung_batch *batch, rung_error *err)
{
    size_t longest = batch->prefix + batch->each, answers = e->spec->answers;
    s->at = rung_calloc(longest, sizeof *s->at, err);
    s->out = rung_calloc(longest * answers, sizeof *s->out, err);
    rung_status status = s->at && s->out ? RUNG_OK : RUNG_SYSTEM;
    RUNG_NEXT(status, rung_session_new(&s->branch, e->program, longest, err));
    if (status == RUNG_OK && batch->queries) status = rung_session_new(&s->stem, e->program, longest, err);
    return status;
}

static rung_status open_exact(train_exact *e, const rung_net *net, const rung_fmt *numbers, const rung_batch *batch,
                              rung_error *err)
{
    rung_evaluator how = {.numbers = numbers, .threads = 1};
    RUNG_TRY(rung_net_model(&e->model, net, "rung train", err));
    e->spec = rung_model_get_spec(e->model);
    rung_status status = rung_program_new(&e->program, e->model, &how, err);
    for (size_t i = e->mine.first; status == RUNG_OK && i < e->mine.end; i++)
        status = open_slice(&e->slice[i], e, batch, err);
    return status;
}

rung_status train_exact_new(train_exact **out, const rung_net *net, const rung_fmt *numbers, const rung_batch *batch,
                            size_t threads, const rung_team *team, rung_error *err)
{
    train_exact *e = rung_calloc(1, sizeof *e, err);
    if (!e) return RUNG_SYSTEM;
    e->team = team;
    e->threads = threads;
    e->tokens = sequence_tokens(batch);
    e->mine = train_share(team, RUNG_SLICES);
    rung_status status = open_exact(e, net, numbers, batch, err);
    if (status != RUNG_OK) {
        train_exact_free(e);
        return status;
    }
    *out = e;
    return RUNG_OK;
}

void train_exact_free(train_exact *e)
{
    if (!e) return;
    for (size_t i = 0; i < RUNG_SLICES; i++) {
        rung_session_free(e->slice[i].stem);
        rung_session_free(e->slice[i].branch);
        free(e->slice[i].at);
        free(e->slice[i].out);
    }
    rung_program_free(e->program);
    rung_model_close(e->model);
    free(e);
}
