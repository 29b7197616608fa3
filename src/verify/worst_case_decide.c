/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What follows the attention layer at one token: output projection and residual sum, the table, the answer. Takes
 * intervals and returns a decision.
 */
#include "worst_case_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The evaluator refuses larger keys; see src/model/mlp_table.c. */
#define KEY_LIMIT 9e15

wc_span wc_coordinate(const wc_weights *w, size_t c, wc_span x, const wc_span *y)
{
    return wc_add(&w->fmt, x, wc_project_span(w, &w->out, c, y));
}

/* The same function as in the evaluator. It is monotone: if both ends round to one integer, so does everything
 * between. */
bool wc_one_integer(int64_t *out, double *margin, wc_span x)
{
    double low = nearbyint(x.lo), high = nearbyint(x.hi);
    if (!(fabs(low) < KEY_LIMIT) || low != high) return false;
    double room = fmin(x.lo - (low - 0.5), low + 0.5 - x.hi);
    if (room < *margin) *margin = room;
    *out = (int64_t)low;
    return true;
}

/* ---- table ------------------------------------------------------------------------------------------------------- */

static int compare_keys(const int64_t *a, const int64_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

size_t wc_table_find(const wc_table *t, const int64_t *key)
{
    size_t low = 0, high = t->entries;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys(t->key + middle * t->key_count, key, t->key_count);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

static bool in_box(const int64_t *key, const int64_t *low, const int64_t *high, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (key[i] < low[i] || key[i] > high[i]) return false;
    return true;
}

/* Keys differ, so all points of the box are keys if it contains as many keys as points. */
bool wc_table_covers(const wc_table *t, const int64_t *low, const int64_t *high)
{
    size_t points = 1, met = 0;
    for (size_t i = 0; i < t->key_count; i++) {
        uint64_t width = (uint64_t)(high[i] - low[i]) + 1;
        if (width > t->entries || !rung_size_mul(&points, points, (size_t)width) || points > t->entries) return false;
    }
    for (size_t n = 0; n < t->entries; n++) met += in_box(t->key + n * t->key_count, low, high, t->key_count);
    return met == points;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* The evaluator takes the lowest index among equals. */
bool wc_answer_wins(const wc_weights *w, const wc_span *x, size_t answer, double *margin)
{
    wc_span right = wc_project_span(w, &w->readout, answer, x);
    if (!wc_finite(right)) return false;
    for (size_t a = 0; a < w->readout.rows; a++) {
        if (a == answer) continue;
        wc_span other = wc_project_span(w, &w->readout, a, x);
        if (!wc_finite(other) || other.hi > right.lo || (other.hi == right.lo && a < answer)) return false;
        if (right.lo - other.hi < *margin) *margin = right.lo - other.hi;
    }
    return true;
}

static wc_outcome assign_row(const wc_weights *w, wc_span *x, double *margin)
{
    const wc_table *t = &w->table;
    int64_t key[16]; /* the evaluator refuses tables with more */
    for (size_t i = 0; i < t->key_count; i++)
        if (!wc_one_integer(&key[i], margin, x[t->key_coord[i]])) return WC_SPLIT;
    size_t row = wc_table_find(t, key);
    if (row == SIZE_MAX) return WC_NO_KEY;
    for (size_t i = 0; i < t->out_count; i++) x[t->out_coord[i]] = wc_point(t->value[row * t->out_count + i]);
    return WC_RIGHT;
}

/* With a table, the margin is that of its keys: everything after it is exact. */
wc_outcome wc_decide(const wc_weights *w, const double *x, const wc_span *y, size_t answer, double *margin,
                     wc_span *scratch)
{
    double gap = INFINITY;
    for (size_t c = 0; c < w->d; c++) {
        scratch[c] = wc_coordinate(w, c, wc_point(x[c]), y);
        if (!wc_finite(scratch[c])) return WC_NOT_FINITE;
    }
    wc_outcome outcome = w->has_table ? assign_row(w, scratch, margin) : WC_RIGHT;
    if (outcome != WC_RIGHT) return outcome;
    if (!wc_answer_wins(w, scratch, answer, w->has_table ? &gap : margin)) return WC_CLOSE;
    return WC_RIGHT;
}

const char *wc_outcome_text(wc_outcome outcome)
{
    switch (outcome) {
    case WC_RIGHT:
        return "right";
    case WC_NOT_FINITE:
        return "a number may overflow";
    case WC_SPLIT:
        return "a key coordinate of the table may round to two integers";
    case WC_NO_KEY:
        return "the table has no such key";
    case WC_CLOSE:
        return "another answer may win the read-out";
    case WC_VARIES:
        return "a key coordinate of the table rounds differently for different queries";
    }
    return "";
}

/* ---- all answers at once ----------------------------------------------------------------------------------------- */

/* Sets of read coordinates as bit strings: supports of the rows of the read-out, and of the states. */
typedef struct supports {
    size_t words;    /* per set */
    size_t read;     /* coordinates that are read */
    size_t *index;   /* [d]: index of a coordinate among them */
    uint64_t *row;   /* [answers][words] */
    double least;    /* least magnitude of a weight */
    size_t row_size; /* elements of every row set */
    const wc_weights *w;
} supports;

static size_t set_size(const uint64_t *set, size_t words)
{
    size_t size = 0;
    for (size_t i = 0; i < words; i++) size += (size_t)__builtin_popcountll(set[i]);
    return size;
}

static void set_put(uint64_t *set, size_t element)
{
    set[element / 64] |= UINT64_C(1) << element % 64;
}

/* False if the argument does not apply: a positive weight, a bias, or supports of different sizes. */
static bool take_rows(supports *s)
{
    const wc_linear *l = &s->w->readout;
    s->least = INFINITY;
    for (size_t a = 0; a < l->rows; a++) {
        uint64_t *set = s->row + a * s->words;
        if (l->bias && l->bias[a] != 0) return false;
        for (size_t n = l->start[a]; n < l->start[a + 1]; n++) {
            if (l->w[n] > 0) return false;
            s->least = fmin(s->least, -l->w[n]);
            set_put(set, s->index[l->col[n]]);
        }
        if (a == 0) s->row_size = set_size(set, s->words);
        if (set_size(set, s->words) != s->row_size) return false;
    }
    return true;
}

/* Collects the ones of the state of one table row. Checks that the state is disjoint from the support of its answer,
 * not negative, large enough that no product vanishes, and has the complementary number of ones. */
static bool state_fits(const supports *s, const size_t table_row, size_t answer, uint64_t *set)
{
    const wc_table *t = &s->w->table;
    memset(set, 0, s->words * sizeof *set);
    for (size_t i = 0; i < t->out_count; i++) {
        double z = t->value[table_row * t->out_count + i];
        if (!s->w->read[t->out_coord[i]] || z == 0) continue;
        if (z < 0 || rung_num_mul(&s->w->fmt, z, s->least) == 0) return false;
        set_put(set, s->index[t->out_coord[i]]);
    }
    for (size_t i = 0; i < s->words; i++)
        if (set[i] & s->row[answer * s->words + i]) return false;
    return set_size(set, s->words) + s->row_size == s->read;
}

/* Checks that all supports differ: sorts them (heap sort) and compares neighbours. */
static void sift(uint64_t *set, size_t words, size_t root, size_t count, uint64_t *spare)
{
    size_t bytes = words * sizeof *set;
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && memcmp(set + child * words, set + (child + 1) * words, bytes) < 0) child++;
        if (memcmp(set + root * words, set + child * words, bytes) >= 0) return;
        memcpy(spare, set + root * words, bytes);
        memcpy(set + root * words, set + child * words, bytes);
        memcpy(set + child * words, spare, bytes);
    }
}

static bool all_differ(uint64_t *set, size_t words, size_t count, uint64_t *spare)
{
    size_t bytes = words * sizeof *set;
    for (size_t i = count / 2; i-- > 0;) sift(set, words, i, count, spare);
    for (size_t end = count; end-- > 1;) {
        memcpy(spare, set, bytes);
        memcpy(set, set + end * words, bytes);
        memcpy(set + end * words, spare, bytes);
        sift(set, words, 0, end, spare);
    }
    for (size_t i = 1; i < count; i++)
        if (memcmp(set + (i - 1) * words, set + i * words, bytes) == 0) return false;
    return true;
}

/* All weights <= 0 and all states >= 0, so no rounded partial sum ever rises: the right row has exactly 0, and a row
 * whose support meets the state's is below 0 from there on. Support and state together have as many elements as
 * coordinates are read, so a row that avoids the state is its complement, and only one row is. */
static rung_status read_by_supports(bool *proved, const wc_weights *w, const size_t *row, size_t count, rung_error *err)
{
    rung_arena arena;
    rung_arena_init(&arena);
    supports s = {.w = w};
    s.index = rung_arena_alloc(&arena, w->d, sizeof *s.index, err);
    for (size_t c = 0; s.index && c < w->d; c++)
        if (w->read[c]) s.index[c] = s.read++;
    s.words = s.read / 64 + 1;
    size_t all = SIZE_MAX; /* so that the allocation refuses it */
    rung_size_mul(&all, w->readout.rows, s.words);
    s.row = rung_arena_alloc(&arena, all, sizeof *s.row, err);
    uint64_t *set = rung_arena_alloc(&arena, s.words, sizeof *set, err);
    bool memory = s.index && s.row && set;
    *proved = memory && take_rows(&s);
    for (size_t v = 0; *proved && v < count; v++) *proved = state_fits(&s, row[v], v, set);
    if (*proved) *proved = all_differ(s.row, s.words, w->readout.rows, set);
    rung_arena_clear(&arena);
    return memory ? RUNG_OK : RUNG_SYSTEM;
}

/* Pairs of state and weight that are checked one by one: a few seconds. */
#define PAIRS_MAX 400000000u

rung_status wc_read_all(wc_reading *reading, size_t *state, const wc_weights *w, const size_t *row, size_t count,
                        rung_error *err)
{
    const wc_table *t = &w->table;
    bool proved;
    double gap = INFINITY;
    rung_status status = read_by_supports(&proved, w, row, count, err);
    *reading = WC_READ_RIGHT;
    if (status != RUNG_OK || proved) return status;
    *reading = WC_READ_TOO_MANY;
    if ((double)count * (double)(w->readout.start[w->readout.rows] + w->readout.rows) > PAIRS_MAX) return RUNG_OK;
    wc_span *x = rung_calloc(w->d, sizeof *x, err);
    if (!x) return RUNG_SYSTEM;
    *reading = WC_READ_RIGHT;
    for (size_t v = 0; v < count && *reading == WC_READ_RIGHT; v++) {
        for (size_t i = 0; i < t->out_count; i++) x[t->out_coord[i]] = wc_point(t->value[row[v] * t->out_count + i]);
        if (!wc_answer_wins(w, x, v, &gap)) *reading = WC_READ_WRONG, *state = v;
    }
    free(x);
    return RUNG_OK;
}
