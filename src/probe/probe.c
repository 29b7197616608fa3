/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Prepares a probe without asking anything: its cells with their controls, the verdict of each, and the cost.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe_internal.h"
#include "rung/decide.h"
#include "rung/verify.h"

const char *const probe_mode_names[] = {"direct", "one-hop", "shuffled", "thinking"};
const char *const rung_probe_finding_names[] = {"open", "does", "fails", "unread", "below", "refused"};

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void put_keys(rung_buf *out, const probe_grid *grid, size_t cell, size_t without)
{
    bool first = true;
    rung_buf_putc(out, '{');
    for (size_t i = 0; i < grid->count; i++) {
        if (i == without) continue;
        rung_buf_printf(out, "%s\"%s\": %lld", first ? "" : ", ", grid->axis[i].key,
                        (long long)probe_grid_value(grid, cell, i));
        first = false;
    }
    rung_buf_putc(out, '}');
}

static void take_decision(probe_cell *cell, const rung_decision *d)
{
    const rung_bound_answer *best = d->decisive;
    cell->sum.verdict = d->verdict == RUNG_CANNOT ? "CANNOT" : "UNKNOWN";
    if (!best) return;
    snprintf(cell->bound, sizeof cell->bound, "%s", best->bound->id);
    snprintf(cell->statement, sizeof cell->statement, "%s", best->statement);
    cell->sum.bound = cell->bound;
    cell->sum.statement = cell->statement;
    cell->sum.margin = best->margin;
    if (d->ceiling > 0) cell->sum.ceiling = d->ceiling;
}

static rung_status ask_bounds(probe_cell *cell, const rung_probe_options *conf, rung_error *err)
{
    cell->sum.verdict = cell->sum.bound = cell->sum.statement = "";
    cell->sum.ceiling = cell->sum.margin = NAN;
    if (!conf->subject || cell->mode == PROBE_CHAIN_OF_THOUGHT || cell->mode == PROBE_ONE_HOP) return RUNG_OK;
    rung_claim_spec about = conf->about;
    rung_claim *claim;
    rung_decision d;
    about.task = &cell->task;
    about.layout = cell->options.question_first ? RUNG_VIOLATED : RUNG_ESTABLISHED;
    about.ends = RUNG_VIOLATED;       /* "Answer:" follows the question */
    about.at_once = RUNG_ESTABLISHED; /* the first generated token is the answer */
    RUNG_TRY(rung_claim_new(&claim, conf->subject, &about, err));
    rung_status status = rung_decide(&d, claim, &(rung_decide_options){.bounds = true}, err);
    if (status == RUNG_OK) take_decision(cell, &d);
    rung_decision_clear(&d);
    rung_claim_free(claim);
    return status;
}

static rung_status fill_task(rung_probe *probe, probe_cell *cell, rung_error *err)
{
    const rung_probe_options *conf = &probe->conf;
    RUNG_TRY(probe_grid_task(&cell->task, &probe->grid, cell->grid_cell, conf, false, err));
    RUNG_TRY(probe_grid_task(&cell->example, &probe->grid, cell->grid_cell, conf, true, NULL));
    cell->options = (rung_text_options){.spelling = conf->spelling,
                                        .hops = cell->mode == PROBE_ONE_HOP ? 1 : 0,
                                        .shuffled = cell->mode == PROBE_SHUFFLED,
                                        .chain_of_thought = cell->mode == PROBE_CHAIN_OF_THOUGHT};
    return rung_text_check(&cell->task, &cell->options, err);
}

static rung_status fill_cell(rung_probe *probe, probe_cell *cell, rung_error *err)
{
    const probe_grid *grid = &probe->grid;
    const char *task = probe->conf.task;
    size_t depth = probe_grid_depth_axis(grid, task), facts = probe_grid_facts_axis(grid, task);
    cell->names = rung_text_names(&cell->task, cell->options.spelling);
    cell->answers = rung_text_answers(&cell->task, &cell->options);
    if (cell->names > probe->names_needed) probe->names_needed = cell->names;
    size_t more = probe->conf.shots ? rung_text_names(&cell->example, cell->options.spelling) : 0;
    if (more > probe->names_needed) probe->names_needed = more;
    rung_buf_init(&cell->keys);
    rung_buf_init(&cell->canonical);
    rung_buf_init(&cell->refusal);
    put_keys(&cell->keys, grid, cell->grid_cell, SIZE_MAX);
    rung_task_canonical(&cell->canonical, &cell->task);
    rung_status status = rung_buf_ok(&cell->keys, err);
    RUNG_NEXT(status, rung_buf_ok(&cell->canonical, err));
    cell->sum = (rung_probe_cell){.mode = probe_mode_names[cell->mode],
                                  .keys = cell->keys.text,
                                  .canonical = cell->canonical.text,
                                  .chance = 1 / (double)cell->answers,
                                  .majority = cell->mode == PROBE_ONE_HOP ? (double)NAN : cell->task.majority,
                                  .mass = NAN,
                                  .prompt_tokens = NAN};
    if (depth != SIZE_MAX) cell->sum.depth = (uint64_t)probe_grid_value(grid, cell->grid_cell, depth);
    if (facts != SIZE_MAX) cell->sum.facts = (uint64_t)probe_grid_value(grid, cell->grid_cell, facts);
    RUNG_TRY(status);
    return ask_bounds(cell, &probe->conf, err);
}

/* A control that the task does not support is left out; the cell itself must be valid. */
static rung_status add_cell(rung_probe *probe, size_t grid_cell, probe_mode mode, rung_error *err)
{
    probe_cell *cell = &probe->cell[probe->cells];
    *cell = (probe_cell){.mode = mode, .grid_cell = grid_cell};
    rung_status status = fill_task(probe, cell, mode == PROBE_DIRECT ? err : NULL);
    if (status != RUNG_OK) return mode == PROBE_DIRECT ? status : RUNG_OK;
    status = fill_cell(probe, cell, err);
    cell->sum.place = grid_cell * PROBE_MODES + mode;
    probe->cells++;
    return status;
}

/* At depth 1, and for tasks of one look, the one-hop question is the question itself. */
static bool has_control(const rung_probe *probe, size_t grid_cell, probe_mode mode)
{
    size_t axis = probe_grid_depth_axis(&probe->grid, probe->conf.task);
    switch (mode) {
    case PROBE_DIRECT:
        return true;
    case PROBE_ONE_HOP:
        return probe->conf.controls && axis != SIZE_MAX && probe_grid_value(&probe->grid, grid_cell, axis) > 1;
    case PROBE_SHUFFLED:
        return probe->conf.controls && probe->conf.spelling != RUNG_TEXT_WORDS;
    default:
        return probe->conf.chain_of_thought_tokens > 0;
    }
}

static rung_status make_cells(rung_probe *probe, rung_error *err)
{
    size_t cells = probe_grid_cells(&probe->grid);
    rung_status status = RUNG_OK;
    probe->cell = rung_calloc(cells * PROBE_MODES, sizeof *probe->cell, err);
    if (!probe->cell) return RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < cells; i++)
        for (int mode = 0; status == RUNG_OK && mode < PROBE_MODES; mode++)
            if (has_control(probe, i, (probe_mode)mode)) status = add_cell(probe, i, (probe_mode)mode, err);
    return status;
}

/* ---- depths: one for each choice of the other keys --------------------------------------------------------------- */

static rung_status make_depths(rung_probe *probe, rung_error *err)
{
    const probe_grid *grid = &probe->grid;
    size_t axis = probe_grid_depth_axis(grid, probe->conf.task);
    if (axis == SIZE_MAX) return RUNG_OK;
    size_t cells = probe_grid_cells(grid), count = cells / grid->axis[axis].values.len;
    const rung_sizes *depths = &grid->axis[axis].values;
    probe->depth = rung_calloc(count, sizeof *probe->depth, err);
    probe->depth_keys = rung_calloc(count, sizeof *probe->depth_keys, err);
    if (!probe->depth || !probe->depth_keys) return RUNG_SYSTEM;
    for (size_t i = 0; i < cells; i++) {
        if (probe_grid_value(grid, i, axis) != depths->at[0]) continue;
        size_t facts = probe_grid_facts_axis(grid, probe->conf.task);
        rung_buf *keys = &probe->depth_keys[probe->depths];
        rung_buf_init(keys);
        put_keys(keys, grid, i, axis);
        if (rung_buf_ok(keys, err) != RUNG_OK) return RUNG_SYSTEM;
        probe->depth[probe->depths++] =
            (rung_probe_depth){.keys = keys->text,
                               .facts = facts == SIZE_MAX ? 0 : (uint64_t)probe_grid_value(grid, i, facts),
                               .threshold = probe->conf.threshold,
                               .confidence = probe->conf.confidence,
                               .high = (uint64_t)depths->at[depths->len - 1],
                               .deepest = (uint64_t)depths->at[depths->len - 1]};
    }
    return RUNG_OK;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

rung_status rung_probe_new(rung_probe **out, const rung_probe_options *conf, rung_error *err)
{
    rung_probe *probe = rung_calloc(1, sizeof *probe, err);
    if (!probe) return RUNG_SYSTEM;
    probe->conf = *conf;
    rung_buf_init(&probe->fingerprint);
    rung_buf_init(&probe->canonical);
    rung_status status = probe_extra_check(conf->extra, err);
    if (status == RUNG_OK && !rung_task_get(conf->task)) {
        rung_task_conf unknown;
        status = rung_task_conf_init(&unknown, conf->task, NULL, 0, err); /* its message names the nearest task */
    }
    RUNG_NEXT(status, probe_grid_parse(&probe->grid, conf->grid ? conf->grid : "", err));
    RUNG_NEXT(status, make_cells(probe, err));
    RUNG_NEXT(status, make_depths(probe, err));
    if (status == RUNG_OK)
        *out = probe;
    else
        rung_probe_free(probe);
    return status;
}

void rung_probe_free(rung_probe *probe)
{
    if (!probe) return;
    for (size_t i = 0; i < probe->cells; i++) {
        rung_buf_clear(&probe->cell[i].keys);
        rung_buf_clear(&probe->cell[i].canonical);
        rung_buf_clear(&probe->cell[i].refusal);
    }
    for (size_t i = 0; i < probe->depths; i++) rung_buf_clear(&probe->depth_keys[i]);
    free(probe->cell);
    free(probe->depth);
    free(probe->depth_keys);
    free(probe->pool);
    rung_buf_clear(&probe->fingerprint);
    rung_buf_clear(&probe->canonical);
    free(probe);
}

/* ---- cost -------------------------------------------------------------------------------------------------------- */

size_t probe_wanted(const rung_probe_options *conf, probe_mode mode)
{
    return mode == PROBE_ONE_HOP || mode == PROBE_SHUFFLED ? conf->controls : conf->samples;
}

static uint64_t count_pieces(const char *text)
{
    uint64_t pieces = 0;
    for (bool inside = false; *text; text++) {
        bool letter = isalnum((unsigned char)*text);
        pieces += letter ? !inside : *text != ' ';
        inside = letter;
    }
    return pieces;
}

static rung_status cost_of_cell(uint64_t *tokens, const rung_probe *probe, const probe_cell *cell, rung_error *err)
{
    const char **words = rung_calloc(probe->names_needed, sizeof *words, err);
    if (!words) return RUNG_SYSTEM;
    probe_question question;
    for (size_t i = 0; i < probe->names_needed; i++) {
        words[i] = rung_text_candidate_at(i);
        if (words[i]) continue;
        free(words);
        return rung_fail(err, RUNG_USAGE, "the grid needs %zu names, but there are %zu words; use fewer facts",
                         probe->names_needed, i);
    }
    rung_status status = probe_question_init(&question, cell, &probe->conf, words, probe->names_needed, true, 0, err);
    if (status == RUNG_OK) *tokens = count_pieces(question.prompt.text);
    probe_question_clear(&question);
    free(words);
    return status;
}

rung_status rung_probe_estimate(rung_probe_cost *cost, const rung_probe *probe, rung_error *err)
{
    const rung_probe_options *conf = &probe->conf;
    rung_status status = RUNG_OK;
    *cost = (rung_probe_cost){.cells = probe->cells, .names = probe->names_needed};
    for (size_t i = 0; status == RUNG_OK && i < probe->cells; i++) {
        const probe_cell *cell = &probe->cell[i];
        uint64_t tokens = 0, count = probe_wanted(conf, cell->mode);
        uint64_t most = cell->mode == PROBE_DIRECT && probe->depths && conf->most > count ? conf->most : count;
        status = cost_of_cell(&tokens, probe, cell, err);
        if (tokens > cost->longest) cost->longest = tokens;
        tokens += cell->mode == PROBE_CHAIN_OF_THOUGHT ? conf->chain_of_thought_tokens : 1;
        cost->requests += count;
        cost->requests_most += most;
        cost->tokens += count * tokens;
        cost->tokens_most += most * tokens;
    }
    return status;
}

/* ---- what was found ---------------------------------------------------------------------------------------------- */

size_t rung_probe_cell_count(const rung_probe *probe)
{
    return probe->cells;
}

const rung_probe_cell *rung_probe_cell_at(const rung_probe *probe, size_t index)
{
    return &probe->cell[index].sum;
}

const char *rung_probe_refusal(const rung_probe *probe, size_t index)
{
    const rung_buf *refusal = &probe->cell[index].refusal;
    return refusal->text ? refusal->text : "";
}

size_t rung_probe_control_of(const rung_probe *probe, size_t index, const char *mode)
{
    for (size_t i = 0; i < probe->cells; i++)
        if (probe->cell[i].grid_cell == probe->cell[index].grid_cell && strcmp(probe->cell[i].sum.mode, mode) == 0)
            return i;
    return SIZE_MAX;
}

static rung_side side_of(const rung_probe_cell *cell, double threshold)
{
    if (!cell->asked) return RUNG_SIDE_OPEN;
    rung_interval interval = rung_wilson(cell->right, cell->asked);
    return interval.low > threshold ? RUNG_SIDE_ABOVE : interval.high < threshold ? RUNG_SIDE_BELOW : RUNG_SIDE_OPEN;
}

rung_probe_finding rung_probe_finding_of(const rung_probe *probe, size_t index)
{
    const rung_probe_cell *cell = &probe->cell[index].sum;
    double threshold = probe->conf.threshold;
    if (*rung_probe_refusal(probe, index)) return RUNG_FINDING_REFUSED;
    rung_side side = side_of(cell, threshold);
    if (side != RUNG_SIDE_BELOW) return side == RUNG_SIDE_ABOVE ? RUNG_FINDING_DOES : RUNG_FINDING_OPEN;
    size_t control = rung_probe_control_of(probe, index, probe_mode_names[PROBE_ONE_HOP]);
    rung_side read = control == SIZE_MAX ? RUNG_SIDE_OPEN : side_of(&probe->cell[control].sum, threshold);
    if (read == RUNG_SIDE_ABOVE) return RUNG_FINDING_FAILS;
    return read == RUNG_SIDE_BELOW ? RUNG_FINDING_UNREAD : RUNG_FINDING_BELOW;
}

size_t rung_probe_depth_count(const rung_probe *probe)
{
    return probe->depths;
}

const rung_probe_depth *rung_probe_depth_at(const rung_probe *probe, size_t index)
{
    return &probe->depth[index];
}

bool rung_probe_stopped(const rung_probe *probe)
{
    return probe->stopped;
}

int64_t rung_probe_number(const rung_probe *probe)
{
    return probe->number;
}
