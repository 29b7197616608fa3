/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Asks the questions: a number in every cell and its controls, then more at the depths that are not decided. The
 * questions are a function of the conf alone, so that the same command continues where it was stopped, with the replies
 * of the store.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe_internal.h"

#define STEP 8 /* questions between two decisions about the depth */

void probe_report_progress(const rung_probe *probe, const char *doing, const probe_cell *cell)
{
    rung_probe_progress progress = {
        .doing = doing, .cell = cell ? &cell->sum : NULL, .done = probe->done, .planned = probe->planned};
    if (probe->conf.on_progress) probe->conf.on_progress(probe->conf.context, &progress);
}

/* ---- a batch of one cell ----------------------------------------------------------------------------------------- */

typedef struct batch {
    rung_probe *probe;
    probe_cell *cell;
    size_t first, count;
    probe_question *question;
    rung_buf *body;
    rung_client_request *ask;
    rung_probe_answer *answer;
    char (*hash)[65];
    size_t answers;
    double *mass; /* [count]; NaN: not answered */
    rung_status status;
    rung_error *err;
} batch;

static void batch_clear(batch *b)
{
    for (size_t i = 0; b->question && b->body && i < b->count; i++) {
        probe_question_clear(&b->question[i]);
        rung_buf_clear(&b->body[i]);
    }
    free(b->question);
    free(b->body);
    free(b->ask);
    free(b->answer);
    free(b->hash);
    free(b->mass);
}

static rung_status word_question(batch *b, size_t i, rung_error *err)
{
    const rung_probe *probe = b->probe;
    const probe_cell *cell = b->cell;
    bool chain_of_thought = cell->mode == PROBE_CHAIN_OF_THOUGHT,
         cue = probe->dialect.api == RUNG_PROBE_COMPLETIONS && !chain_of_thought;
    RUNG_TRY(probe_question_init(&b->question[i], cell, &probe->conf, probe->pool, probe->pool_count, cue, b->first + i,
                                 err));
    probe_body(&b->body[i], &probe->dialect, &probe->conf, b->question[i].prompt.text,
               chain_of_thought ? probe->conf.chain_of_thought_tokens : 0);
    rung_status status = rung_buf_ok(&b->body[i], err);
    b->ask[i].path = probe_path(&probe->dialect);
    b->ask[i].body = b->body[i].text;
    return status;
}

static rung_status batch_init(batch *b, rung_error *err)
{
    b->question = rung_calloc(b->count, sizeof *b->question, err);
    b->body = rung_calloc(b->count, sizeof *b->body, err);
    b->ask = rung_calloc(b->count, sizeof *b->ask, err);
    b->answer = rung_calloc(b->count, sizeof *b->answer, err);
    b->hash = rung_calloc(b->count, sizeof *b->hash, err);
    b->mass = rung_calloc(b->count, sizeof *b->mass, err);
    if (!b->question || !b->body || !b->ask || !b->answer || !b->hash || !b->mass) return RUNG_SYSTEM;
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < b->count; i++) rung_buf_init(&b->body[i]), b->mass[i] = NAN;
    for (size_t i = 0; status == RUNG_OK && i < b->count; i++) status = word_question(b, i, err);
    return status;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void count_score(probe_cell *cell, const rung_score *score, const rung_reply *reply)
{
    cell->sum.asked++;
    cell->sum.right += score->right;
    cell->sum.text_right += score->text_right;
    cell->sum.off += score->off;
    cell->sum.cut += score->cut;
    if (reply->prompt_tokens < 0) return;
    cell->tokens_sum += (double)reply->prompt_tokens;
    cell->tokens_count++;
    cell->sum.prompt_tokens = cell->tokens_sum / (double)cell->tokens_count;
}

/* Finds out whether a reply is invalid, rather than wrong. */
static rung_status check_reply(const batch *b, const rung_reply *reply, rung_error *err)
{
    if (reply->truncated)
        return rung_fail(err, RUNG_INPUT, "the server cut a prompt of %s; give it a longer context, or use fewer facts",
                         b->cell->canonical.text);
    if (b->cell->mode != PROBE_CHAIN_OF_THOUGHT && !reply->logprobs)
        return rung_fail(err, RUNG_INPUT, "a reply has no log-probabilities, but earlier ones had");
    if (b->cell->mode != PROBE_CHAIN_OF_THOUGHT && *reply->reasoning)
        return rung_fail(err, RUNG_INPUT,
                         "the model used a chain of thought before its answer, but in earlier replies it did not");
    return RUNG_OK;
}

static rung_status take_reply(batch *b, size_t i, const rung_client_response *answer, rung_error *err)
{
    rung_reply reply;
    const probe_question *q = &b->question[i];
    rung_status status = rung_reply_take(&reply, answer, err);
    RUNG_NEXT(status, check_reply(b, &reply, err));
    if (status == RUNG_OK) {
        bool prefixes = b->probe->dialect.api == RUNG_PROBE_CHAT;
        rung_score score = b->cell->mode == PROBE_CHAIN_OF_THOUGHT
                               ? rung_score_chain_of_thought(&reply, q->answers, q->count, q->wanted)
                               : rung_score_first(&reply, q->answers, q->count, q->wanted, prefixes);
        count_score(b->cell, &score, &reply);
        /* If it is not among the likeliest, its probability counts as 0. */
        if (b->cell->mode != PROBE_CHAIN_OF_THOUGHT) b->mass[i] = isnan(score.mass) ? 0 : score.mass;
        char url[1024];
        snprintf(url, sizeof url, "%s%s", rung_client_root(b->probe->conf.client), b->ask[i].path);
        rung_exchange_hash(b->hash[i], url, b->ask[i].body);
        b->answer[b->answers++] = (rung_probe_answer){.cell = b->cell->sum.place,
                                                      .index = b->first + i,
                                                      .hash = b->hash[i],
                                                      .wanted = q->answers[q->wanted],
                                                      .said = score.said == SIZE_MAX ? "" : q->answers[score.said],
                                                      .right = score.right,
                                                      .text_right = score.text_right,
                                                      .off = score.off,
                                                      .cut = score.cut,
                                                      .mass = score.mass};
    }
    rung_reply_clear(&reply);
    return status;
}

static bool take_answer(void *context, size_t i, const rung_client_response *answer)
{
    batch *b = context;
    rung_error err;
    b->probe->done++;
    if (answer->http >= 400) {
        rung_buf_reset(&b->cell->refusal);
        rung_reply_complaint(&b->cell->refusal, answer->shown, answer->shown_len, 200);
        return false; /* the server would refuse the other questions of this cell as well */
    }
    rung_status status = take_reply(b, i, answer, &err);
    if (status != RUNG_OK && b->status == RUNG_OK) {
        b->status = status;
        rung_fail(b->err, status, "%s", err.text);
    }
    probe_report_progress(b->probe, b->cell->sum.mode, b->cell);
    return status == RUNG_OK;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Adds in the order of the questions, not of the replies, so that the sum is always the same. */
static void add_masses(const batch *b)
{
    probe_cell *cell = b->cell;
    for (size_t i = 0; b->mass && i < b->count; i++) {
        if (isnan(b->mass[i])) continue;
        cell->mass_sum += b->mass[i];
        cell->mass_count++;
    }
    if (cell->mass_count) cell->sum.mass = cell->mass_sum / (double)cell->mass_count;
}

static rung_status keep_batch(const batch *b, rung_error *err)
{
    rung_store *store = b->probe->conf.store;
    if (!store || !b->cell->sum.asked) return RUNG_OK;
    RUNG_TRY(rung_store_probe_answers_put(store, b->probe->number, b->answer, b->answers, err));
    return rung_store_probe_cell_put(store, b->probe->number, &b->cell->sum, err);
}

static rung_status ask_more(rung_probe *probe, probe_cell *cell, size_t count, rung_error *err)
{
    batch b = {.probe = probe, .cell = cell, .first = cell->next, .count = count, .err = err};
    rung_client_sum sum = {0};
    if (*rung_probe_refusal(probe, (size_t)(cell - probe->cell)) || probe->stopped || !count) return RUNG_OK;
    rung_status status = batch_init(&b, err);
    RUNG_NEXT(status, rung_client_run(&sum, probe->conf.client, b.ask, count, true, take_answer, &b, err));
    RUNG_NEXT(status, b.status);
    cell->next += count;
    add_masses(&b);
    bool refused = cell->refusal.len > 0;
    if (sum.stopped && !refused && status == RUNG_OK) probe->stopped = true;
    if (refused && probe->conf.go && !probe->conf.go(probe->conf.context)) probe->stopped = true;
    rung_error second;
    rung_status kept = keep_batch(&b, &second);
    if (status == RUNG_OK && kept != RUNG_OK) status = rung_fail(err, kept, "%s", second.text);
    batch_clear(&b);
    return status;
}

/* ---- depth ------------------------------------------------------------------------------------------------------- */

typedef struct ladder {
    probe_cell *cell[RUNG_LIST_MAX];
    rung_side side[RUNG_LIST_MAX];
    uint64_t asked[RUNG_LIST_MAX];
    size_t count;
} ladder;

static void look(ladder *l, const rung_probe_options *conf)
{
    for (size_t i = 0; i < l->count; i++) {
        const probe_cell *cell = l->cell[i];
        l->asked[i] = cell->refusal.len ? UINT64_MAX : cell->sum.asked; /* a refused cell stays undecided */
        if (l->side[i] == RUNG_SIDE_OPEN && cell->sum.asked)
            l->side[i] = rung_depth_side(cell->sum.right, cell->sum.asked - cell->sum.right, conf->threshold,
                                         conf->confidence, l->count);
    }
}

/* Cells are in the order of the grid, so the depths of one ladder rise. */
static void find_ladder(ladder *l, const rung_probe *probe, size_t index)
{
    const probe_grid *grid = &probe->grid;
    size_t axis = probe_grid_depth_axis(grid, probe->conf.task), stride = 1;
    for (size_t a = axis + 1; a < grid->count; a++) stride *= grid->axis[a].values.len;
    const size_t block = stride * grid->axis[axis].values.len;
    for (size_t i = 0; i < probe->cells; i++) {
        const probe_cell *cell = &probe->cell[i];
        size_t others = cell->grid_cell / block * stride + cell->grid_cell % stride;
        if (cell->mode == PROBE_DIRECT && others == index) l->cell[l->count++] = &probe->cell[i];
    }
}

static rung_status find_depth(rung_probe *probe, size_t index, rung_error *err)
{
    ladder l = {.count = 0};
    rung_probe_depth *depth = &probe->depth[index];
    rung_status status = RUNG_OK;
    find_ladder(&l, probe, index);
    look(&l, &probe->conf);
    while (status == RUNG_OK && !probe->stopped) {
        size_t at = rung_depth_next(l.side, l.asked, probe->conf.most, l.count);
        if (at == SIZE_MAX) break;
        probe->planned += STEP;
        status = ask_more(probe, l.cell[at], STEP, err);
        look(&l, &probe->conf);
    }
    rung_depth found = rung_depth_of(l.side, l.count);
    depth->low = found.low ? l.cell[found.low - 1]->sum.depth : 0;
    depth->high = found.high ? l.cell[found.high - 1]->sum.depth : 0;
    depth->settled = depth->low == depth->high;
    if (status == RUNG_OK && probe->conf.store && !probe->stopped)
        status = rung_store_probe_depth_put(probe->conf.store, probe->number, depth, err);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Everything that affects which questions are asked, and of which server. More questions of the same kind continue the
 * same probe. */
static void put_canonical(rung_buf *out, const rung_probe *probe)
{
    const rung_probe_options *c = &probe->conf;
    rung_buf_puts(out, "{\"model\": ");
    rung_buf_json_string(out, c->model);
    rung_buf_puts(out, ", \"server\": ");
    rung_buf_json_string(out, rung_client_root(c->client));
    rung_buf_printf(out, ", \"task\": \"%s\", \"words\": [", c->task);
    for (size_t i = 0; i < c->pair_count; i++) {
        if (i) rung_buf_puts(out, ", ");
        rung_buf_json_string(out, c->pairs[i]);
    }
    rung_buf_puts(out, "], \"grid\": ");
    rung_buf_json_string(out, c->grid ? c->grid : "");
    rung_buf_printf(
        out,
        ", \"spelling\": \"%s\", \"api\": \"%s\", \"shots\": %zu, \"chain_of_thought_tokens\": %zu, \"seed\": %llu",
        rung_text_spelling_names[c->spelling - 1], rung_probe_api_names[probe->dialect.api], c->shots,
        c->chain_of_thought_tokens, (unsigned long long)c->seed);
    rung_buf_puts(out, ", \"extra\": ");
    rung_buf_json_string(out, c->extra ? c->extra : "");
    rung_buf_putc(out, '}');
}

static rung_status enter_store(rung_probe *probe, rung_error *err)
{
    char hex[65];
    if (!probe->conf.store) return RUNG_OK;
    rung_buf_reset(&probe->canonical);
    put_canonical(&probe->canonical, probe);
    RUNG_TRY(rung_buf_ok(&probe->canonical, err));
    rung_sha256_hex(hex, probe->canonical.text, probe->canonical.len);
    hex[RUNG_RUN_ID - 1] = '\0';
    rung_probe_row row = {.id = hex,
                          .canonical = probe->canonical.text,
                          .source = "probe",
                          .model = probe->conf.model,
                          .server = rung_client_root(probe->conf.client),
                          .task = probe->conf.task};
    return rung_store_probe_put(&probe->number, probe->conf.store, &row, err);
}

rung_status rung_probe_run(rung_probe *probe, rung_error *err)
{
    rung_status status = probe->tested ? RUNG_OK : rung_probe_test(probe, err);
    if (status == RUNG_OK && !probe->stopped) status = enter_store(probe, err);
    for (size_t i = 0; i < probe->cells; i++) probe->planned += probe_wanted(&probe->conf, probe->cell[i].mode);
    for (size_t i = 0; status == RUNG_OK && i < probe->cells && !probe->stopped; i++)
        status = ask_more(probe, &probe->cell[i], probe_wanted(&probe->conf, probe->cell[i].mode), err);
    for (size_t i = 0; status == RUNG_OK && i < probe->depths && !probe->stopped; i++)
        status = find_depth(probe, i, err);
    return status;
}
