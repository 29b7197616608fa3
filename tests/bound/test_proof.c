/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Proof files for Coq: the layers in them are those of the ledger, the sizes those of the claim, nothing is written
 * below a threshold or where Coq has no such theorem. Whether coqc accepts them is for tests/proofs/test.sh.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "effort.h"
#include "proof_claims.h"

/* ---- layers, read back ----------------------------------------------------------------------------------------- */

typedef struct layer {
    char kind[3];
    unsigned long long first, second, third;
} layer;

typedef struct layers {
    layer at[256];
    size_t count;
} layers;

static const char *read_layer(layer *l, const char *text)
{
    int used = 0;
    *l = (layer){0};
    if (sscanf(text, "RF %llu %llu%n", &l->first, &l->second, &used) == 2)
        strcpy(l->kind, "RF");
    else if (sscanf(text, "LF %llu %llu %llu%n", &l->first, &l->second, &l->third, &used) == 3)
        strcpy(l->kind, "LF");
    else if (sscanf(text, "LL %llu%n", &l->first, &used) == 1)
        strcpy(l->kind, "LL");
    else if (sscanf(text, "%1[RF] %llu%n", l->kind, &l->first, &used) != 2)
        return NULL;
    return text + used;
}

/* The task follows the layers, in parentheses and in small letters, as `repeat` does. */
static bool is_task(const char *at)
{
    return at[-1] == '(' && islower((unsigned char)*at) && strncmp(at, "repeat", 6) != 0;
}

/* Every layer of the claim, `repeat` written out. */
static void read_claim(layers *all, const char *text)
{
    all->count = 0;
    for (const char *at = strstr(text, "Impossible"); *at && !is_task(at);) {
        layer l;
        int times = 1, used = 0;
        bool repeated = at[-1] == '(' && strncmp(at - 8, "repeat (", 8) == 0;
        const char *next = isalpha((unsigned char)at[-1]) ? NULL : read_layer(&l, at);
        if (!next) {
            at++;
            continue;
        }
        if (repeated) assert_int_equal(sscanf(next, ") %d%n", &times, &used), 1);
        for (int i = 0; i < times; i++) assert_true(all->count < 256), all->at[all->count++] = l;
        at = next + used;
    }
}

/* The layers a second time, from the elements that the ledger counts. */
static void expect_layers(layers *all, const random_claim *c)
{
    const rung_ledger *ledger = rung_claim_ledger(c->claim);
    const rung_arithmetic *a = rung_claim_arithmetic(c->claim);
    all->count = 0;
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_ledger_layer *h = &ledger->layer[i];
        uint64_t each = a->message == RUNG_MESSAGE_PAPER       ? 2 * h->value_dim
                        : a->message == RUNG_MESSAGE_NUMERATOR ? h->value_dim + 1
                                                               : h->value_dim + 2;
        uint64_t conv = h->conv_elements * (uint64_t)a->cache_bits;
        uint64_t state = (h->extra_elements + (h->levels ? 0 : h->state_elements)) * (uint64_t)a->state_bits +
                         h->window_elements * (uint64_t)a->cache_bits;
        uint64_t message = h->heads * each * (uint64_t)a->accumulator_bits;
        /* of each chosen token an index score, and for each head a score and a value; here all numbers have as many
         * bits */
        if (h->top) message = h->top * (1 + h->heads * (h->value_dim + 1)) * (uint64_t)a->accumulator_bits;
        bool full = h->full || h->top;
        layer *l = &all->at[all->count];
        if (full && conv) *l++ = (layer){"R", conv, 0, 0};
        if (full && h->levels)
            *l++ = (layer){"LF", state, h->state_elements * (uint64_t)a->state_bits, message};
        else if (full && state)
            *l++ = (layer){"RF", state, message, 0};
        else if (full)
            *l++ = (layer){"F", message, 0, 0};
        else if (h->levels)
            *l++ = (layer){"LL", h->state_elements * (uint64_t)a->state_bits, 0, 0};
        else if (state + conv)
            *l++ = (layer){"R", state + conv, 0, 0};
        all->count = (size_t)(l - all->at);
    }
}

static void same_layers(const char *text, const random_claim *c)
{
    static layers written, expected;
    read_claim(&written, text);
    expect_layers(&expected, c);
    assert_true(expected.count > 0);
    assert_int_equal(written.count, expected.count);
    for (size_t i = 0; i < written.count; i++) {
        assert_string_equal(written.at[i].kind, expected.at[i].kind);
        assert_int_equal(written.at[i].first, expected.at[i].first);
        assert_int_equal(written.at[i].second, expected.at[i].second);
        assert_int_equal(written.at[i].third, expected.at[i].third);
    }
}

/* ---- random claims --------------------------------------------------------------------------------------------- */

static size_t lines_of(const char *text)
{
    size_t lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    return lines;
}

/* Not where the claim has a form of a layer of its own. */
static bool names_layers(const char *text)
{
    return strstr(text, "Impossible [") || strstr(text, "Impossible (") || strstr(text, "ImpossibleThinking ");
}

static bool is_by(const char *text, const char *theorem)
{
    char words[64];
    snprintf(words, sizeof words, "CANNOT by theorem %s. ", theorem);
    return strstr(text, words) != NULL;
}

/* Of one full layer two-pass, for a running maximum, may hold from the same n on as B0. */
static bool is_expected(const char *text, const char *theorem)
{
    return is_by(text, theorem) || (strcmp(theorem, "B0") == 0 && is_by(text, "two-pass"));
}

static rung_proof proof_of(const random_claim *c)
{
    rung_error err;
    rung_proof proof;
    rung_bound_report *report = random_claim_ask(c, false);
    const rung_bound_answer *answer = rung_bound_decisive(report);
    assert_int_equal(rung_proof_write(&proof, c->claim, answer, &err), RUNG_OK);
    assert_true(!proof.written || (answer && answer->verdict == RUNG_CANNOT));
    assert_true(proof.written == !proof.why[0]);
    free(report);
    return proof;
}

/* At its threshold every claim has a file; one token below none of this theorem. */
static void test_random_claims(void **state)
{
    (void)state;
    rung_rng rng;
    size_t above = 0, below = 0, count = effort(200, 2 * CLAIM_KINDS);
    rung_rng_init(&rng, 7, 23, 1);
    for (size_t turn = 0; turn < 2 * count && (above < count || below < count); turn++) {
        const claim_kind *kind = &claim_kinds[turn % CLAIM_KINDS];
        random_claim c;
        random_claim_make(&c, kind, &rng);
        uint64_t n = random_claim_threshold(&c, kind->theorem);
        if (n > 1) {
            char within[64];
            random_claim_at(&c, n);
            rung_proof proof = proof_of(&c);
            if (!proof.written) fail_msg("%s, %s: %s", c.layers, c.words, proof.why);
            assert_true(is_expected(proof.text.text, kind->theorem));
            assert_true(lines_of(proof.text.text) < 30);
            snprintf(within, sizeof within, "within %llu (", (unsigned long long)n);
            assert_true(strcmp(kind->theorem, "sparse") == 0 || strcmp(kind->theorem, "SP") == 0 ||
                        strstr(proof.text.text, within));
            if (names_layers(proof.text.text)) same_layers(proof.text.text, &c);
            rung_proof_clear(&proof);
            above++;
            random_claim_at(&c, n - 1);
            proof = proof_of(&c);
            bool still = proof.written && is_by(proof.text.text, kind->theorem);
            if (still)
                print_message("%s, %s at %llu\n%s", c.layers, c.words, (unsigned long long)n - 1, proof.text.text);
            assert_false(still);
            rung_proof_clear(&proof);
            below++;
        }
        random_claim_free(&c);
    }
    assert_true(above >= count && below >= count);
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

typedef struct refusal {
    const char *layers, *task, *why;
    uint64_t n;
    bool after;
} refusal;

static const refusal refusals[] = {
    {"linear", "eva N=64", "last token", 0, true},
    {"linear", "eva N=2", "CANNOT", 0, false},
    {"3*full", "q-sparse-average q=3", "CANNOT", 2, false},
    {"full", "q-sparse-average N=64 q=8", "proved on paper", 0, false},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(refusals); i++) {
        const rung_arch_defaults defaults = {.heads = 1, .dk = 1, .dv = 1, .causal = true};
        const refusal *r = &refusals[i];
        random_claim c = {0};
        rung_error err;
        assert_int_equal(rung_subject_arch(&c.subject, r->layers, &defaults, &err), RUNG_OK);
        assert_int_equal(rung_task_conf_parse(&c.task, r->task, &err), RUNG_OK);
        c.about = rung_claim_spec_of_prompt(&c.task, r->n);
        rung_claim_spec_set_bits(&c.about, 1);
        if (r->after) c.about.ends = RUNG_VIOLATED;
        random_claim_at(&c, r->n);
        rung_proof proof = proof_of(&c);
        assert_false(proof.written);
        if (!strstr(proof.why, r->why)) fail_msg("%s, %s: %s", r->layers, r->task, proof.why);
        rung_proof_clear(&proof);
        random_claim_free(&c);
    }
}

/* A claim without --n is about the words of the task, and says nothing about lengths. */
static void test_given_sizes(void **state)
{
    (void)state;
    const rung_arch_defaults defaults = {.heads = 1, .dk = 2, .dv = 2, .causal = true};
    random_claim c = {0};
    rung_error err;
    assert_int_equal(rung_subject_arch(&c.subject, "full,4*linear", &defaults, &err), RUNG_OK);
    assert_int_equal(rung_task_conf_parse(&c.task, "seqcomp L=3 N0=30 n=2,17 V=1000", &err), RUNG_OK);
    c.about = rung_claim_spec_of_prompt(&c.task, 0);
    rung_claim_spec_set_bits(&c.about, 26);
    random_claim_at(&c, 0);
    rung_proof proof = proof_of(&c);
    assert_true(proof.written);
    assert_non_null(strstr(proof.text.text, "Theorem cannot : Impossible (F 104 :: repeat (R 156) 4) "
                                            "(seqcomp false 30 [2; 17] 1000).\n"));
    assert_string_equal(proof.file, "TheoremB0.v");
    rung_proof_clear(&proof);
    random_claim_free(&c);
}

/* The task of the file has the sizes that the user fixed, with --n too. */
static const struct worded {
    const char *layers, *task, *written;
    uint64_t n;
} worded[] = {
    {"linear", "palindrome N=300 V=5", "(palindrome 300 5)", 0},
    {"linear", "stacks T=641 S=1 V=5", "(stacks 641 1 5)", 0},
    {"linear", "state-recall N=300 V=5 K=4 M=7", "(state_recall 300 5 4 7)", 0},
    {"linear", "state-recall V=5 K=4 M=7", "(state_recall 288 5 4 7)", 300},
    {"full", "parity-recall V=5 M=6", "(parity_recall 146 5 6)", 300},
    {"linear", "variable-tracking chains=50 hops=3 V=5 K=700", "(variable_tracking 200 3 5 700)", 0},
    {"full", "variable-tracking chains=50 hops=3 V=5", "(variable_tracking 200 3 5 200)", 0},
    {"linear", "retrieval N=300 D=5 distinct=0", "(once_table 300 32 32)", 0},
    {"full", "selective-copy T=100 V=26 numbers=40 first=1", "(selective_copy 100 26 40 1)", 0},
    {"full", "disjointness N=40 k=20", "(cut_one_disjointness_half", 0},
    {"full", "mkar T=400 V=5 key=3 layout=pairs", "(mkar_pairs 99 3 5)", 0},
    {"full", "k-hop N=300 k=3 alphabet=40", "(k_hop false 300 40 3)", 0},
    {"linear", "q-sparse-average N=40 q=40", "(averages 40 40)", 0},
    {"full@1|loglinear@1", "string-equality N=300", "Impossible [LF 0 1 3] (string_equality 300)", 0},
    {"full,loglinear", "seqcomp L=2 N0=64 n=64", "Impossible (F 3 :: [LL 1]) (seqcomp false 64 [64] 4096)", 0},
    {"loglinear,full", "seqcomp L=2 N0=640 n=64", "Impossible ([LL 1] ++ F 3 :: [])", 0},
    {"full,full,loglinear", "seqcomp L=2 N0=6400 n=640", "Impossible (F 3 :: F 3 :: [LL 1])", 0},
    {"dsa:k=2,linear", "seqcomp L=2 N0=640 n=64", "Impossible (F 6 :: [R 2])", 0},
    {"full,linear", "seqcomp L=2 N0=30 n=8 form=pair", "apply pair_form; ", 0},
    {"full", "seqcomp L=2 N0=30 n=8 form=pair", "apply pair_form_one_pass; ", 0},
    {"full,linear,rnn:dv=1,full", "seqcomp L=2 N0=1000 n=800", "Impossible (F 3 :: [R 2; R 1] ++ [F 3])", 0},
};

static void test_worded(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(worded); i++) {
        const rung_arch_defaults defaults = {.heads = 1, .dk = 1, .dv = 1, .causal = true};
        random_claim c = {0};
        rung_error err;
        assert_int_equal(rung_subject_arch(&c.subject, worded[i].layers, &defaults, &err), RUNG_OK);
        assert_int_equal(rung_task_conf_parse(&c.task, worded[i].task, &err), RUNG_OK);
        c.about = rung_claim_spec_of_prompt(&c.task, worded[i].n);
        rung_claim_spec_set_bits(&c.about, 1);
        random_claim_at(&c, worded[i].n);
        rung_proof proof = proof_of(&c);
        if (!proof.written) fail_msg("%s, %s: %s", worded[i].layers, worded[i].task, proof.why);
        if (!strstr(proof.text.text, worded[i].written)) fail_msg("%s in\n%s", worded[i].written, proof.text.text);
        rung_proof_clear(&proof);
        random_claim_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_claims),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_given_sizes),
        cmocka_unit_test(test_worded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
