/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Blocks of sparse attention whose summaries collide. The attack needs two contents of one block with the same
 * compressed keys and values, prompts that differ only there, a query that needs different answers, and other blocks
 * that the query opens instead. In the order of cost it tries: tokens or pairs of tokens that add the same (antipodal
 * pairs of trigonometric features add nothing at all), relations among sums in fixed point, and a birthday search among
 * whole blocks.
 */
#include "block_attack.h"
#include "additive.h"
#include "attack_rows.h"
#include "certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- does it fit? ------------------------------------------------------------------------------------------------ */

typedef struct sparse_layer {
    const rung_mech_conf *conf;
    size_t B, k;
    size_t usable; /* number of first blocks that are complete before the last token and outside every window */
} sparse_layer;

static sparse_layer sparse_of(const rung_attacked *attacked)
{
    sparse_layer l = {.conf = rung_model_get_arch(attacked->model)->layer[0].group};
    size_t last = attacked->task->tokens - 1, window = (size_t)rung_mech_param(l.conf, "W");
    l.B = (size_t)rung_mech_param(l.conf, "B");
    l.k = (size_t)rung_mech_param(l.conf, "k");
    size_t before = window == 0 ? last : last + 1 > window ? last + 1 - window : 0;
    l.usable = (before < last ? before : last) / l.B;
    return l;
}

static bool suits(const rung_attacked *attacked, char *why, size_t size)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    const rung_mech_conf *conf = arch->layer[0].group;
    if (!rung_attacked_suits(attacked, why, size)) return false;
    if (arch->layer_count != 1 || arch->layer[0].group_count != 1 || conf->mech->class_of != RUNG_CLASS_BLOCKS) {
        snprintf(why, size, "the model is not one layer of sparse attention");
        return false;
    }
    if (rung_mech_param(conf, "comp") != 0 || rung_head_group_conv_elements(conf) > 0) {
        snprintf(why, size, "blocks are not compressed to means over their tokens");
        return false;
    }
    sparse_layer l = sparse_of(attacked);
    if (l.usable == 0 || attacked->task->tokens / l.B <= l.k) {
        snprintf(why, size, "the query opens or sees every block");
        return false;
    }
    return true;
}

static size_t summary_numbers(const rung_mech_conf *conf)
{
    return conf->heads * (conf->dk + conf->dv);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { CHOICES_MAX = 1024 };

static rung_ids ids_at(const rung_attacked *attacked, size_t pos)
{
    return attacked->task->task->ids(attacked->task, pos);
}

static rung_status table_init(block_table *table, const rung_attacked *attacked, size_t block, rung_arena *arena,
                              rung_error *err)
{
    sparse_layer l = sparse_of(attacked);
    *table = (block_table){.fmt = &attacked->numbers, .places = l.B, .dims = summary_numbers(l.conf)};
    table->count = rung_arena_alloc(arena, l.B, sizeof *table->count, err);
    if (!table->count) return RUNG_SYSTEM;
    for (size_t i = 0; i < l.B; i++) {
        size_t ids = ids_at(attacked, block * l.B + i).count;
        table->count[i] = ids < CHOICES_MAX ? ids : CHOICES_MAX;
        if (table->count[i] > table->most) table->most = table->count[i];
    }
    table->token = rung_arena_alloc(arena, l.B, table->most * sizeof *table->token, err);
    table->x = rung_arena_alloc(arena, l.B * table->dims, table->most * sizeof *table->x, err);
    return table->token && table->x ? RUNG_OK : RUNG_SYSTEM;
}

/* Keys and values of token `place` of the rows, head by head. */
static void put_column(block_table *table, const double *const *in, size_t place, size_t choice,
                       const rung_mech_conf *conf)
{
    enum { IN_K = 1, IN_V = 2 }; /* the query comes before them */
    size_t dim = 0;
    for (size_t h = 0; h < conf->heads; h++) {
        const double *k = in[IN_K] + (place * conf->heads + h) * conf->dk;
        const double *v = in[IN_V] + (place * conf->heads + h) * conf->dv;
        for (size_t i = 0; i < conf->dk; i++) table->x[(place * table->dims + dim++) * table->most + choice] = k[i];
        for (size_t i = 0; i < conf->dv; i++) table->x[(place * table->dims + dim++) * table->most + choice] = v[i];
    }
}

/* The c-th choice of every place, as a stretch of tokens. */
static rung_status fill_choice(block_table *table, uint32_t *token, const rung_attacked *attacked, size_t block,
                               size_t c, rung_error *err)
{
    const rung_mech_conf *conf = sparse_of(attacked).conf;
    const double *in[RUNG_MECH_INPUT_MAX];
    rung_rows *rows = NULL;
    for (size_t i = 0; i < table->places; i++) {
        rung_ids ids = ids_at(attacked, block * table->places + i);
        size_t at = c < table->count[i] ? c : 0;
        token[i] = (uint32_t)(ids.first + (ids.count <= CHOICES_MAX ? at : at * ids.count / CHOICES_MAX));
        table->token[i * table->most + at] = token[i];
    }
    RUNG_TRY(rung_rows_new(&rows, attacked->program, &(rung_prompt){.token = token, .tokens = table->places},
                           block * table->places, err));
    rung_rows_inputs(rows, in, NULL, 0, 0);
    for (size_t i = 0; i < table->places; i++) put_column(table, in, i, c < table->count[i] ? c : 0, conf);
    rung_rows_free(rows);
    return RUNG_OK;
}

static rung_status fill_table(block_table *table, const rung_attacked *attacked, size_t block, rung_arena *arena,
                              rung_error *err)
{
    rung_status status = table_init(table, attacked, block, arena, err);
    uint32_t *token = status == RUNG_OK ? rung_arena_alloc(arena, table->places, sizeof *token, err) : NULL;
    if (status == RUNG_OK && !token) status = RUNG_SYSTEM;
    for (size_t c = 0; status == RUNG_OK && c < table->most; c++)
        status = fill_choice(table, token, attacked, block, c, err);
    return status;
}

/* ---- prompts ----------------------------------------------------------------------------------------------------- */

typedef struct siege {
    runner h;
    const rung_budget *budget;
    double began;
    rung_rng rng;
    size_t block;
    block_table table;
    uint32_t *a, *b; /* prompts, [tokens] */
    uint32_t *f, *g; /* choices, [places] */
    char how[120];
    size_t collisions; /* collisions that were found but gave no certificate */
    uint64_t evaluations;
} siege;

static void random_prompt(siege *s)
{
    for (size_t pos = 0; pos < s->h.tokens; pos++) {
        rung_ids ids = ids_at(s->h.attacked, pos);
        s->a[pos] = (uint32_t)(ids.first + rung_rng_below(&s->rng, ids.count));
    }
}

/* From place `depth` on, both have the tokens of the prompt. */
static void put_contents(siege *s, size_t depth)
{
    size_t start = s->block * s->table.places;
    memcpy(s->b, s->a, s->h.tokens * sizeof *s->a);
    for (size_t i = 0; i < depth; i++) {
        s->a[start + i] = s->table.token[i * s->table.most + s->f[i]];
        s->b[start + i] = s->table.token[i * s->table.most + s->g[i]];
    }
}

/* Draws other blocks until the query opens k of them and not this one. */
static rung_status make_certificate(bool *found, rung_cert *cert, siege *s, size_t depth, rung_error *err)
{
    enum { DRAWS = 400 };
    rung_status status = RUNG_OK;
    *found = false;
    for (size_t draw = 0; draw < DRAWS && status == RUNG_OK && !*found; draw++) {
        if (rung_budget_left(s->budget, s->began) <= 0) break;
        random_prompt(s);
        put_contents(s, depth);
        if (!rung_runner_separate(&s->h, s->a, s->b, s->h.tokens - 1, &s->rng)) continue;
        status = rung_certify_block_collision(&s->h, cert, found, s->a, s->b, 0, s->block, err);
    }
    s->collisions += !*found;
    return status;
}

/* ---- what can collide -------------------------------------------------------------------------------------------- */

static rung_status try_birthday(bool *found, rung_cert *cert, siege *s, size_t depth, size_t elements, rung_error *err)
{
    block_find find = {.depth = depth, .elements = elements, .seed = rung_rng_u64(&s->rng), .a = s->f, .b = s->g};
    *found = false;
    bool collide = rung_block_search(&find, &s->table, s->budget, s->began);
    s->evaluations += find.evaluations;
    if (!collide) return RUNG_OK;
    snprintf(s->how, sizeof s->how, "%s, %zu contents",
             depth < s->table.places ? "tokens that add the same" : "birthday", elements);
    return make_certificate(found, cert, s, depth, err);
}

/* Tries one token, then two, in the first places of the block. */
static rung_status try_few_tokens(bool *found, rung_cert *cert, siege *s, rung_error *err)
{
    size_t elements = s->table.count[0];
    rung_status status = RUNG_OK;
    for (size_t depth = 1; depth <= 2 && depth < s->table.places && status == RUNG_OK && !*found; depth++) {
        status = try_birthday(found, cert, s, depth, elements, err);
        elements *= s->table.count[depth];
    }
    return status;
}

/* Sums in fixed point do not round: makes an additive table of the block's places. */
static rung_status as_additive(additive *sums, const block_table *table, rung_error *err)
{
    rung_status status = rung_additive_init(sums, table->places, table->count, table->dims, err);
    for (size_t i = 0; status == RUNG_OK && i < table->places; i++)
        for (size_t c = 0; c < table->count[i]; c++) {
            sums->token[sums->first[i] + c] = table->token[i * table->most + c];
            for (size_t d = 0; d < table->dims; d++)
                sums->row[(sums->first[i] + c) * sums->dims + d] =
                    (int64_t)(table->x[(i * table->dims + d) * table->most + c] / table->fmt->spacing);
        }
    if (status == RUNG_OK) rung_additive_seal(sums, table->fmt->largest / table->fmt->spacing);
    return status;
}

/* Converts a choice of the thinned table into one of the block's. */
static void find_choices(uint32_t *choice, const additive *sums, const block_table *table)
{
    for (size_t i = 0; i < table->places; i++) {
        uint32_t token = sums->token[sums->first[i] + choice[i]];
        for (choice[i] = 0; table->token[i * table->most + choice[i]] != token;) choice[i]++;
    }
}

static rung_status try_relations(bool *found, rung_cert *cert, siege *s, rung_error *err)
{
    additive_solver *const solver[] = {rung_additive_wagner, rung_additive_middle, rung_additive_relation};
    additive sums = {0};
    additive_note note = {""};
    rung_status status = as_additive(&sums, &s->table, err);
    rung_budget part = *s->budget;
    part.seconds = s->budget->seconds / 6;
    if (status == RUNG_OK) rung_additive_thin(&sums, part.seed);
    for (size_t i = 0; i < 3 * RUNG_COUNT(solver) && status == RUNG_OK && !*found; i++) {
        /* Uses other seeds than the budget's, because an exchange of tokens gives no other set. */
        if (rung_budget_left(s->budget, s->began) < part.seconds) break;
        if (!solver[i / 3](s->f, s->g, &note, &sums, &part, part.seed + 1 + i, rung_wall_s())) {
            i += 2 - i % 3; /* go on to the next solver */
            continue;
        }
        find_choices(s->f, &sums, &s->table);
        find_choices(s->g, &sums, &s->table);
        snprintf(s->how, sizeof s->how, "exact sums, %.100s", note.text);
        if (rung_block_differ_as_sets(&s->table, s->f, s->g, s->table.places))
            status = make_certificate(found, cert, s, s->table.places, err);
    }
    rung_additive_clear(&sums);
    return status;
}

/* Tries four times as many contents each time, up to `largest` or what fits into memory; then other ones, unless there
 * is a next stage. */
static rung_status try_whole_blocks(bool *found, rung_cert *cert, siege *s, double largest, bool once, rung_error *err)
{
    double memory = (double)s->budget->memory, room = 1 << 16, space = 0;
    rung_status status = RUNG_OK;
    while (largest > 1 && rung_block_search_bytes(largest) > memory) largest /= 2;
    for (size_t i = 0; i < s->table.places; i++) space += log2((double)s->table.count[i]);
    if (exp2(space) < largest) largest = exp2(space);
    while (status == RUNG_OK && !*found && rung_budget_left(s->budget, s->began) > 0) {
        if (room > largest) room = largest;
        if (room < 2) break;
        status = try_birthday(found, cert, s, s->table.places, (size_t)room, err);
        if (s->collisions > 16) break;
        if (room >= largest && (once || room >= exp2(space)))
            break; /* there are few contents, and nearly all have been seen */
        room *= 4;
    }
    return status;
}

static rung_status try_block(bool *found, rung_cert *cert, siege *s, rung_error *err)
{
    const double quick = 1 << 20, largest = 1 << 26;
    rung_status status = try_few_tokens(found, cert, s, err);
    if (status == RUNG_OK && !*found) status = try_whole_blocks(found, cert, s, quick, true, err);
    if (status == RUNG_OK && !*found && s->table.fmt->kind == RUNG_FMT_FIXED)
        status = try_relations(found, cert, s, err);
    if (status == RUNG_OK && !*found) status = try_whole_blocks(found, cert, s, largest, false, err);
    return status;
}

/* ---- the attack -------------------------------------------------------------------------------------------------- */

static rung_status siege_init(siege *s, rung_arena *arena, const rung_attacked *attacked, const rung_budget *budget,
                              rung_error *err)
{
    size_t B = sparse_of(attacked).B;
    *s = (siege){.budget = budget, .began = rung_wall_s()};
    rung_rng_init(&s->rng, budget->seed, 65, 0);
    s->a = rung_arena_alloc(arena, 2 * attacked->task->tokens, sizeof *s->a, err);
    s->f = rung_arena_alloc(arena, 2 * B, sizeof *s->f, err);
    if (!s->a || !s->f) return RUNG_SYSTEM;
    s->b = s->a + attacked->task->tokens;
    s->g = s->f + B;
    return rung_runner_init(&s->h, attacked, err);
}

static void report(rung_break *result, const siege *s)
{
    size_t bits = s->table.dims * (size_t)s->table.fmt->bits;
    if (result->found)
        snprintf(result->report, sizeof result->report, "summaries of %zu bits of block %zu collide: %s", bits,
                 s->block, s->how);
    else
        snprintf(result->report, sizeof result->report,
                 "%llu contents of block %zu, summaries of %zu bits: %zu collisions, but none in a block that a query "
                 "needs and does not open",
                 (unsigned long long)s->evaluations, s->block, bits, s->collisions);
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    siege s;
    rung_arena arena;
    rung_cert cert = {0};
    bool found = false;
    rung_arena_init(&arena);
    rung_status status = siege_init(&s, &arena, attacked, budget, err);
    rung_budget_progress(budget, "looking for blocks with the same summary", 0);
    RUNG_NEXT(status, fill_table(&s.table, attacked, s.block, &arena, err));
    RUNG_NEXT(status, try_block(&found, &cert, &s, err));
    if (found) rung_break_take(result, &cert);
    result->evaluations = s.h.evaluations + s.evaluations;
    if (status == RUNG_OK) report(result, &s);
    rung_runner_clear(&s.h);
    rung_arena_clear(&arena);
    return status;
}

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    (void)budget;
    if (!suits(attacked, why, size)) return -1;
    double bits = (double)summary_numbers(sparse_of(attacked).conf) * attacked->numbers.bits;
    return 0.01 + exp2(bits / 2) * 1e-7;
}

const rung_attack rung_attack_block = {
    .name = "block",
    .summary = "two contents of a block with the same compressed keys and values, and a query that does not open it",
    .source = "the counting argument for (B,k)-sparse attention and two-sum (Ye et al. 2026), as a search",
    .applies = "one layer of sparse attention with mean compression, blocks that the last token need not open",
    .cost = "2^(s/2) contents for s bits of summary; less where tokens or pairs add the same, or in fixed point",
    .kinds = 1u << RUNG_CERT_BLOCK_COLLISION,
    .breaks = "sparse:B=8:k=1:dk=3:dv=3 e4m3 two-sum N=64 M=128",
    .spares = "sparse:B=2:k=1:dk=4:dv=4 f32 two-sum N=8 M=9",
    .expect = expect,
    .run = run,
};
