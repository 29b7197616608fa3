/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * nearest_name: misspellings and whole numbers. The distance is Damerau-Levenshtein: insertions, deletions,
 * substitutions and swaps of neighbours, in the unrestricted form (Lowrance and Wagner 1975). Letter case
 * does not count.
 */
#include "rung/base.h"

#include "familiar_name.h"

#include <string.h>

#define WORD_MAX 64 /* names are short, so a longer word is not a misspelling of one */

static unsigned char fold(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* d[i+1][j+1] is the distance of the first i letters of a and the first j letters of b. Row 0 and column 0 hold a
 * number larger than any distance. last_row[c] is the last row of a, so far, with letter c. match_col is the last
 * column of b in this row that equals the row's letter. A swap costs all that lies between the two. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t d[WORD_MAX + 2][WORD_MAX + 2], last_row[256] = {0}, never = a_len + b_len;
    d[0][0] = never;
    for (size_t i = 0; i <= a_len; i++) d[i + 1][0] = never, d[i + 1][1] = i;
    for (size_t j = 0; j <= b_len; j++) d[0][j + 1] = never, d[1][j + 1] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t match_col = 0;
        for (size_t j = 1; j <= b_len; j++) {
            size_t row = last_row[fold(b[j - 1])], col = match_col;
            bool same = fold(a[i - 1]) == fold(b[j - 1]);
            size_t swap = d[row][col] + (i - row - 1) + 1 + (j - col - 1);
            size_t gap = min(d[i][j + 1], d[i + 1][j]) + 1;
            d[i + 1][j + 1] = min(min(d[i][j] + !same, gap), swap);
            if (same) match_col = j;
        }
        last_row[fold(a[i - 1])] = i;
    }
    return d[a_len + 1][b_len + 1];
}

/* A candidate is near enough if at most a third of the name is wrong (or one letter), and at least one letter is
 * right. */
const char *rung_nearest_name(const char *name, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t len = strlen(name), least = len >= 6 ? len / 3 : 1;
    const char *familiar = rung_familiar_name(name, candidates, count);
    if (familiar) return familiar;
    if (len == 0 || len > WORD_MAX) return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t candidate_len = strlen(candidates[i]);
        if (candidate_len > WORD_MAX) continue;
        size_t wrong = distance(name, len, candidates[i], candidate_len);
        bool any_right = wrong < (len > candidate_len ? len : candidate_len);
        if (!any_right || wrong > least || (nearest && wrong == least)) continue;
        nearest = candidates[i];
        least = wrong;
    }
    return nearest;
}

const char *rung_guess_name(const char *name, const char *const *candidates, size_t count)
{
    const size_t len = strlen(name);
    for (size_t i = 0; len >= 2 && i < count; i++)
        if (strncmp(candidates[i], name, len) == 0) return candidates[i];
    return rung_nearest_name(name, candidates, count);
}

/* Accumulates downwards from zero, because INT64_MIN has no positive counterpart. */
bool rung_parse_int(int64_t *out, const char *text, int64_t low, int64_t high)
{
    bool negative = *text == '-';
    int64_t value = 0;
    text += negative;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, *text - '0', &value))
            return false;
    }
    if (!negative && __builtin_sub_overflow(0, value, &value)) return false;
    if (value < low || value > high) return false;
    *out = value;
    return true;
}
