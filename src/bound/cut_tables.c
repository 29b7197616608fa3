/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Pairwise distinguishable prefixes of tasks that look something up. Only keys that both prefixes contain can be asked,
 * so keys are fixed, and values free.
 *
 * Three families of sequences of P symbols out of V, for tasks that ask what follows a key of `key` symbols
 * (docs/theory.md, Cut):
 *
 *   blocks  a of the symbols make keys, V-a make values: (V-a)^r with r = min(P/(key+1), a^key).
 *   rows    key = 1: all different symbols, the last one fixed: (m-1)!, m = min(P, V).
 *   trees   key = 1, and the latest occurrence counts: trees on m symbols with a fixed root, children before parents,
 *           each followed by its parent: m^(m-2) (Cayley), 2(m-1) symbols.
 *
 * If the last token must be fixed, it is the last symbol of all keys: a^(key-1) keys are left, none for key = 1.
 */
#include "cut_tables.h"

static const char whole_query[] = "the last token is the whole query";

/* min(base^exponent, limit) */
static uint64_t power_up_to(uint64_t base, uint64_t exponent, uint64_t limit)
{
    uint64_t power = 1;
    for (uint64_t i = 0; i < exponent && power < limit; i++)
        if (__builtin_mul_overflow(power, base, &power)) return limit;
    return cut_least(power, limit);
}

/* ---- families of sequences --------------------------------------------------------------------------------------- */

typedef struct family {
    uint64_t symbols, alphabet, key; /* P, V, symbols of a key */
    bool last;                       /* all keys have the same last symbol */
    bool latest;                     /* the latest occurrence counts; otherwise all occurrences must agree */
} family;

static void take_better(cut_count *best, cut_count other)
{
    if (other.a > 0 && cut_log2_estimate(&other) > cut_log2_estimate(best)) *best = other;
}

static cut_count best_blocks(const family *f)
{
    cut_count best = {CUT_POWER, 1, 1};
    uint64_t room = f->symbols / (f->key + 1), letters = f->last ? f->key - 1 : f->key;
    for (uint64_t a = 1; a + 1 < f->alphabet && letters; a++) {
        uint64_t keys = power_up_to(a, letters, room);
        take_better(&best, (cut_count){CUT_POWER, f->alphabet - a, keys});
        if (keys == room) break; /* more symbols for keys would only leave fewer values */
    }
    return best;
}

static cut_count best_of(const family *f)
{
    cut_count best = best_blocks(f);
    if (f->key > 1 || f->last || f->symbols < 2) return best;
    uint64_t row = cut_least(f->symbols, f->alphabet), tree = cut_least(f->alphabet, f->symbols / 2 + 1);
    take_better(&best, (cut_count){CUT_FALLING, row - 1, row - 1});
    if (f->latest && tree > 2) take_better(&best, (cut_count){CUT_POWER, tree, tree - 2});
    return best;
}

/* c-1 symbols after a separator: the gram that they begin. */
const char *cut_c_gram(cut_point *point, const cut_question *q)
{
    uint64_t c = cut_param(q, "c");
    if (c == 2 && q->last) return whole_query;
    if (q->tokens && q->tokens < 2 * c) return cut_too_short;
    uint64_t symbols = q->tokens ? q->tokens - c : cut_param(q, "N");
    point->count = best_of(&(family){symbols, cut_param(q, "V"), c - 1, q->last, false});
    point->prefix = symbols;
    return NULL;
}

static const char *mkar_stream(cut_point *point, const cut_question *q, uint64_t tokens, uint64_t key)
{
    if (key == 1 && q->last) return whole_query;
    point->count = best_of(&(family){tokens - key, cut_param(q, "V"), key, q->last, true});
    point->prefix = tokens - key;
    return NULL;
}

static const char *mkar_pairs(cut_point *point, const cut_question *q, uint64_t tokens, uint64_t key)
{
    uint64_t V = cut_param(q, "V"), room = (tokens - key) / (key + 1);
    uint64_t pairs = power_up_to(V, key, room), open = q->last ? power_up_to(V, key - 1, pairs) : pairs;
    if (key == 1 && q->last) return whole_query;
    point->count = (cut_count){CUT_POWER, V, open};
    point->prefix = pairs * (key + 1);
    point->odd_lengths = (key & (key + 1)) != 0;
    if (!q->last) point->entries = pairs, point->values = V;
    return NULL;
}

const char *cut_mkar(cut_point *point, const cut_question *q)
{
    uint64_t key = cut_param(q, "key"), tokens = q->tokens ? q->tokens : q->task->tokens;
    if (tokens < 2 * key + 1) return cut_too_short;
    return (cut_param(q, "layout") ? mkar_pairs : mkar_stream)(point, q, tokens, key);
}

/* h hops, of which the last leads into the prefix: "b2 a, b3 b2, ..., bh b(h-1), bh" goes from bh to b(h-1) and so on
 * to a, because every b differs from its neighbours. If the last symbol bh is fixed, up to three symbols are set aside
 * for the b's. */
const char *cut_k_hop(cut_point *point, const cut_question *q)
{
    uint64_t k = cut_param(q, "k"), alphabet = cut_param(q, "alphabet"), hops = k;
    uint64_t tokens = q->tokens ? q->tokens : q->task->tokens;
    if (k == 0) return "k=0 asks for the symbol itself";
    if (k == 1 && q->last) return whole_query;
    if (cut_param(q, "hops")) hops = q->last ? 2 : 1;
    if (tokens < 2 * hops + 2) return cut_too_short;
    uint64_t symbols = tokens - 2 * hops, aside = q->last ? cut_least(hops - 1, 3) : 0;
    if (alphabet < aside + 1) return "the alphabet is too small";
    point->count = best_of(&(family){symbols, alphabet - aside, 1, false, true});
    point->prefix = symbols + 1;
    return NULL;
}

/* ---- tables of pairs --------------------------------------------------------------------------------------------- */

/* Keys in a fixed order, values free. */
static const char *table(cut_point *point, const cut_question *q, uint64_t entries, uint64_t values,
                         uint64_t tokens_each)
{
    if (q->last) return whole_query;
    if (!entries) return cut_too_short;
    point->count = (cut_count){CUT_POWER, values, entries};
    point->prefix = entries * tokens_each;
    point->entries = entries, point->values = values;
    return NULL;
}

const char *cut_assoc_recall(cut_point *point, const cut_question *q)
{
    uint64_t keys = cut_fixed(q, "K"), V = cut_param(q, "V");
    uint64_t pairs = q->tokens ? (q->tokens - 1) / 2 : cut_param(q, "N");
    if (keys) pairs = cut_least(pairs, keys);
    const char *why = table(point, q, pairs, V, 2);
    if (why || !cut_param(q, "dist")) return why;
    point->entries = 0; /* values that must differ are not independent */
    return NULL;
}

/* distinct=0: more entries than keys repeat one key, which is not asked for. Which entries may be asked for can then be
 * read off the keys before the cut, so bits are not spread over all of them, and there is no ceiling. */
const char *cut_retrieval(cut_point *point, const cut_question *q)
{
    uint64_t words = UINT64_C(1) << cut_param(q, "D");
    uint64_t entries = q->tokens ? cut_least(q->tokens - 1, words) : cut_param(q, "N");
    const char *why = table(point, q, entries, words, 1);
    if (entries > words) point->count.b = words - 1;
    if (!cut_param(q, "distinct")) point->entries = 0;
    return why;
}

/* sigma is the prefix, and tau = identity asks for all of it. The last token of tau asks for one entry of sigma and has
 * the whole query. Of uniform permutations each entry is uniform, and all of them together have log2 N! bits. */
const char *cut_percom(cut_point *point, const cut_question *q)
{
    uint64_t n = q->tokens ? q->tokens / 2 : cut_param(q, "N");
    const char *why = table(point, q, n, n, 1);
    point->count = (cut_count){CUT_FALLING, n, n};
    point->together = true;
    return why;
}

/* The values of a prompt differ. */
const char *cut_mqar(cut_point *point, const cut_question *q)
{
    uint64_t keys = (uint64_t)q->task->derived[0] - 1, values = (uint64_t)q->task->answers;
    uint64_t pairs = q->tokens ? cut_least(q->tokens / 4, keys) : cut_param(q, "pairs"), given = cut_fixed(q, "pairs");
    if (given && pairs < given) return cut_too_short;
    if (given) pairs = given;
    const char *why = table(point, q, pairs, values, 2);
    point->count = (cut_count){CUT_FALLING, values, pairs};
    point->entries = 0;
    return why;
}

/* ---- tables that a state selects from ---------------------------------------------------------------------------- */

/* A table at the beginning, of which any entry can be asked for although the last token is always the same. */
static const char *selected_table(cut_point *point, uint64_t entries, uint64_t values)
{
    if (!entries) return cut_too_short;
    point->count = (cut_count){CUT_POWER, values, entries};
    point->prefix = entries;
    point->entries = entries, point->values = values;
    return NULL;
}

/* Steps or bits that must follow: as many as the user says, else one. */
static uint64_t least_steps(const cut_question *q)
{
    uint64_t given = cut_fixed(q, "M");
    return given ? given : 1;
}

/* All registers point to the entry, so that no step matters. */
const char *cut_state_recall(cut_point *point, const cut_question *q)
{
    uint64_t others = cut_param(q, "K") + least_steps(q) + 1;
    if (q->tokens && q->tokens <= others) return cut_too_short;
    return selected_table(point, q->tokens ? q->tokens - others : cut_param(q, "N"), cut_param(q, "V"));
}

/* The key, and a first bit that chooses the table. */
const char *cut_parity_recall(cut_point *point, const cut_question *q)
{
    uint64_t others = least_steps(q) + 2;
    if (q->tokens && q->tokens <= others) return cut_too_short;
    return selected_table(point, q->tokens ? (q->tokens - others) / 2 * 2 : 2 * cut_param(q, "N"), cut_param(q, "V"));
}

/* Variables in a fixed order get values. Any can be asked for. With a fixed question x, the last assignment is x=y, and
 * any y of the others can be copied. */
const char *cut_variable_tracking(cut_point *point, const cut_question *q)
{
    uint64_t length = cut_param(q, "hops") + 1, names = cut_fixed(q, "K");
    uint64_t assignments = q->tokens ? q->tokens - 1 : q->task->tokens - 1;
    if (length == 1 && q->last) return whole_query;
    if (names) assignments = cut_least(assignments, names);
    assignments -= assignments % length; /* whole chains are a size of the task */
    if (!assignments) return cut_too_short;
    point->prefix = assignments - q->last;
    point->count = (cut_count){CUT_POWER, cut_param(q, "V"), point->prefix};
    point->odd_lengths = q->last || (length & (length - 1)) != 0;
    return NULL;
}

/* ---- copying ----------------------------------------------------------------------------------------------------- */

/* distance: number #n after j symbols asks for the token n - j places before the cut. With r tokens after the number, j
 * = 0..r, these are numbers + r places, r = min(first - 1, T - first - numbers). With a fixed symbol as last token: one
 * number, then the symbol; it asks for the token n - 1 places before the cut. list: the symbols in order. */
const char *cut_selective_copy(cut_point *point, const cut_question *q)
{
    uint64_t V = cut_param(q, "V"), numbers = cut_param(q, "numbers"), first = cut_param(q, "first");
    uint64_t tokens = q->tokens ? q->tokens : q->task->tokens;
    if (cut_param(q, "form") == 1) {
        if (q->last) return "each symbol is asked for by a token of its own";
        if (tokens < 2 * numbers) return cut_too_short;
        point->count = (cut_count){CUT_POWER, V, numbers};
        point->prefix = tokens - numbers;
        return NULL;
    }
    if (tokens < first + numbers) return cut_too_short;
    uint64_t after = q->last ? 1 : cut_least(first - 1, tokens - first - numbers);
    uint64_t places = q->last ? numbers - (first == 1) : numbers + after;
    point->count = (cut_count){CUT_POWER, V + numbers, places};
    point->prefix = tokens - 1 - after;
    return NULL;
}

/* Every symbol is asked for. */
const char *cut_palindrome(cut_point *point, const cut_question *q)
{
    uint64_t symbols = q->tokens ? q->tokens / 2 : cut_param(q, "N");
    if (q->last) return "each symbol is asked for by a question of its own";
    if (!symbols) return cut_too_short;
    point->count = (cut_count){CUT_POWER, cut_param(q, "V"), symbols};
    point->prefix = symbols;
    return NULL;
}
