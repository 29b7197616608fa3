/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Scores an answer: by the log-probabilities of the first generated token, and by the text.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "rung/probe.h"

/* Skips a space before a word as tokenizers write it: a space, U+2581 of SentencePiece, U+0120 of byte-level BPE. */
static const char *skip_space(const char *token)
{
    static const char *const spaces[] = {"\xe2\x96\x81", "\xc4\xa0", "\xc4\x8a"};
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < RUNG_COUNT(spaces); i++) {
            size_t len = strlen(spaces[i]);
            if (strncmp(token, spaces[i], len) == 0) token += len, moved = true;
        }
        if (isspace((unsigned char)*token)) token++, moved = true;
    }
    return token;
}

static bool is_edge(char c)
{
    return isspace((unsigned char)c) || strchr(".,:;!?\"'*`|()", c);
}

/* The answer with which the text begins, as a whole word, in upper or lower case. */
static size_t answer_at(const char *text, const char *const *answers, size_t count)
{
    text = skip_space(text);
    while (*text && is_edge(*text)) text++;
    size_t len = 0;
    while (text[len] && !is_edge(text[len])) len++;
    for (size_t i = 0; i < count; i++)
        if (strlen(answers[i]) == len && strncasecmp(answers[i], text, len) == 0) return i;
    return SIZE_MAX;
}

/* The answer that a token means. */
static size_t answer_of_token(const char *token, const char *const *answers, size_t count, bool prefixes)
{
    const char *word = skip_space(token);
    size_t len = strlen(word), found = SIZE_MAX;
    if (!len) return SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (strcmp(answers[i], word) == 0) return i;
    for (size_t i = 0; prefixes && i < count; i++) {
        if (strncasecmp(answers[i], word, len) != 0) continue;
        if (found != SIZE_MAX) return SIZE_MAX; /* it could mean two of them, so it means none */
        found = i;
    }
    return found;
}

/* Total probability of the listed tokens that mean an answer. */
static double mass_of(const rung_reply *reply, size_t answer, const char *const *answers, size_t count, bool prefixes)
{
    double mass = 0;
    for (size_t i = 0; i < reply->tops; i++)
        if (answer_of_token(reply->top[i].text, answers, count, prefixes) == answer) mass += exp(reply->top[i].logprob);
    return mass < 1 ? mass : 1;
}

rung_score rung_score_first(const rung_reply *reply, const char *const *answers, size_t count, size_t wanted,
                            bool prefixes)
{
    rung_score score = {.mass = NAN, .said = SIZE_MAX};
    double best = -1;
    for (size_t i = 0; i < reply->tops; i++) {
        size_t answer = answer_of_token(reply->top[i].text, answers, count, prefixes);
        if (answer == SIZE_MAX) continue;
        double mass = mass_of(reply, answer, answers, count, prefixes);
        if (mass > best) best = mass, score.said = answer;
        if (answer == wanted) score.mass = mass;
    }
    score.off = score.said == SIZE_MAX;
    score.right = score.said == wanted;
    size_t text = answer_at(reply->text, answers, count);
    if (text == SIZE_MAX && prefixes) text = answer_of_token(reply->text, answers, count, true);
    score.text_right = text == wanted;
    return score;
}

rung_score rung_score_chain_of_thought(const rung_reply *reply, const char *const *answers, size_t count, size_t wanted)
{
    static const char cue[] = "answer:";
    rung_score score = {.mass = NAN, .said = SIZE_MAX, .cut = strcmp(reply->finish, "length") == 0};
    const char *last = NULL;
    for (const char *at = reply->text; *at; at++)
        if (strncasecmp(at, cue, sizeof cue - 1) == 0) last = at + sizeof cue - 1;
    if (last) score.said = answer_at(last, answers, count);
    score.off = score.said == SIZE_MAX && !score.cut;
    score.right = score.text_right = score.said == wanted && !score.cut;
    return score;
}
