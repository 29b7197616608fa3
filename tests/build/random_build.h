/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Constructions with random words, for the tests that hold them against bounds and against larger architectures.
 */
#ifndef RUNG_TESTS_RANDOM_BUILD_H
#define RUNG_TESTS_RANDOM_BUILD_H

#include "rung/build.h"
#include "testing.h"

static rung_rng rng;

static inline uint64_t between(uint64_t low, uint64_t high)
{
    return low + rung_rng_below(&rng, high - low + 1);
}

/* a..b is a random number, x/y/z a random word. */
static const char *const templates[] = {
    "lookup task=eva N=2..6 V=2..4 keys=bits/sign/trig/quadratic values=bits/scalar",
    "lookup task=index N=2..8 keys=bits/sign/trig/quadratic",
    "eva-recurrent task=eva N=2..4 V=2..5 mech=linear/retnet/gla/mamba2/delta/gdelta/kda bits=0..2 pack=1..2",
    "eva-recurrent task=index N=2..8 mech=linear/loglinear/gdelta pack=1..3",
    "eva-recurrent task=eva N=2..5 V=2..3 mech=loglinear/linear",
    "seqcomp L=1 N0=2..4 V=2..4 linear=none/first/after keys=bits/trig/quadratic form=position/pair",
    "seqcomp L=1 N0=2..4 linear=first/after",
    "seqcomp L=1 N0=2..3 V=4..9 linear=none/first/after",
    "seqcomp L=1 N0=2..4 order=first form=position/pair",
    "lookup task=eva N=2..5 K=5..7 V=1..3 form=pair",
    "lookup task=index N=2..8 V=2..5",
    "eva-recurrent task=eva N=2..5 V=1..2 pack=1..5",
    "loophole N0=1..3",
    "c-gram c=2..3 N=3..5 V=2..3",
    "dyck N=2..8 types=1..2 k=1..3",
    "seqcomp L=2 N0=2 n=1..2 linear=none/first/after keys=bits/trig/quadratic",
    "seqcomp L=2 N0=2 n=1..2 V=2 linear=first/after flat=0/1",
    "seqcomp L=3 N0=2 n=1,1 V=2 linear=none/first/after",
    "seqcomp-cot L=1..2 N0=2 V=2 full=1..3 linear=none/first",
    "seqcomp-encoder L=1..2 N0=2 V=2",
    "two-sum N=2..4 M=3..7 form=query",
    "two-sum N=2..4 M=3..7 by=dsa form=query",
    "two-sum N=2..4 M=4..7 form=causal",
    "percom N=2..3 keys=bits/sign/trig/quadratic values=bits/scalar",
    "lookup task=retrieval N=2..3 D=1 distinct=0 keys=bits/sign/trig/quadratic",
    "string-equality N=2..5",
    "disjointness N=2..5",
    "assoc-recall by=full/window/delta/gdelta/kda/retnet/linear",
    "count by=full/window/linear",
    "lookup task=palindrome N=2..5 V=2..3 keys=bits/sign/trig/quadratic",
    "eva-recurrent task=palindrome N=2..5 V=2..3 mech=linear/mamba2/delta/kda",
    "state-recall task=state-recall N=2..3 V=2 K=2..3 M=1..2 mech=delta/gdelta/kda",
    "state-recall task=state-recall N=2..3 V=2 K=2..3 M=1..2 first=recall mech=delta/gdelta",
    "state-recall task=parity-recall N=1..2 V=2..3 M=1..3 mech=delta/gdelta/kda",
    "parity-recall N=1..2 V=2..3 M=1..3",
    "stacks T=2..5 S=1..2 V=2 count=linear/delta/kda mech=delta/gdelta/kda",
    "variable-tracking chains=1..2 hops=0 V=2..3",
    "variable-tracking chains=1 hops=1..2 V=2",
};

static inline const char *put_word(char *out, size_t room, const char *from)
{
    size_t len = strcspn(from, " "), value = strcspn(from, "=");
    char word[64];
    assert_true(len < sizeof word && room >= sizeof word);
    snprintf(word, sizeof word, "%.*s", (int)len, from);
    char *dots = strstr(word, ".."), *slash = strchr(word, '/');
    if (dots) {
        int64_t low = strtoll(word + value + 1, NULL, 10), high = strtoll(dots + 2, NULL, 10);
        snprintf(out, room, "%.*s=%d", (int)value, word, (int)between((uint64_t)low, (uint64_t)high));
    } else if (slash) {
        size_t choices = 1;
        for (const char *at = word; (at = strchr(at, '/')); at++) choices++;
        char *pick = word + value + 1;
        for (uint64_t k = between(0, choices - 1); k > 0; k--) pick = strchr(pick, '/') + 1;
        snprintf(out, room, "%.*s=%.*s", (int)value, word, (int)strcspn(pick, "/"), pick);
    } else {
        memcpy(out, word, sizeof word);
    }
    return from + len + strspn(from + len, " ");
}

/* False when the construction or the task refuses these words. */
static inline bool draw_build(rung_build *b, rung_model **model, char *text, size_t room, const char *template)
{
    char words[16][64];
    const char *at = template, *list[16];
    size_t count = 0, used = 0;
    for (; *at; count++) at = put_word(words[count], sizeof words[0], at), list[count] = words[count];
    for (size_t i = 0; i < count; i++) used += (size_t)snprintf(text + used, room - used, "%s ", words[i]);
    if (rung_build_init(b, words[0], list + 1, count - 1, &check_err) != RUNG_OK) return false;
    return rung_build_model(model, b, &check_err) == RUNG_OK;
}

#endif
