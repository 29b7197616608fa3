/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Abilities of cards: thresholds computed a second way, questions that a card does not ask put to the theorems, shared
 * proofs against proofs of one's own, and premises that are not established.
 */
#include "testing.h"

#include "rung/card.h"

static rung_card card_of(const rung_subject *subject, uint64_t context, rung_lookup_proofs *proofs)
{
    rung_card card;
    rung_card_options options = {.context = context, .proofs = proofs, .lookup_entries = 16};
    CHECK(rung_card_make(&card, subject, "m", &options, &check_err));
    return card;
}

static rung_subject *arch(const char *text, size_t heads, size_t dim)
{
    rung_subject *s;
    const rung_arch_defaults defaults = {.heads = heads, .dk = dim, .dv = dim, .causal = true};
    CHECK(rung_subject_arch(&s, text, &defaults, &check_err));
    return s;
}

static rung_verdict decide(const rung_subject *s, const char *task, uint64_t n)
{
    rung_task_conf conf;
    rung_claim *claim;
    rung_decision d;
    CHECK(rung_task_conf_parse(&conf, task, &check_err));
    rung_claim_spec about = rung_claim_spec_of_prompt(&conf, n);
    rung_decide_options means = {.bounds = true};
    CHECK(rung_claim_new(&claim, s, &about, &check_err));
    CHECK(rung_decide(&d, claim, &means, &check_err));
    rung_verdict verdict = d.verdict;
    rung_decision_clear(&d);
    rung_claim_free(claim);
    return verdict;
}

/* ---- look-up ----------------------------------------------------------------------------------------------------- */

/* Layers, heads, dimension, and bits of one layer in 32-bit numbers. */
static const struct {
    const char *text;
    size_t heads, dim;
    uint64_t bits;
} states[] = {{"gdelta", 1, 2, 2 * 2 * 32},
              {"3*gdelta", 2, 4, 3 * 2 * 16 * 32},
              {"5*mamba2", 4, 8, 5 * 4 * 64 * 32},
              {"2*kda,2*gla", 16, 64, UINT64_C(4) * 16 * 4096 * 32}};

static uint64_t least_by_hand(uint64_t bits)
{
    uint64_t n = bits / 32 > 2 ? bits / 32 : 2; /* no such n is above 2^32 */
    while ((long double)n * log2l((long double)n) <= (long double)bits) n++;
    return n;
}

static void recurrent_layers_look_up_no_more_than_their_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(states); i++) {
        rung_subject *s = arch(states[i].text, states[i].heads, states[i].dim);
        rung_card card = card_of(s, 4096, NULL);
        const rung_card_ability *a = &card.ability[RUNG_ABILITY_LOOKUP];
        uint64_t want = least_by_hand(states[i].bits);
        assert_int_equal(a->cannot_from, want);
        assert_int_equal(a->cannot.verdict, RUNG_CANNOT);
        assert_string_equal(a->cannot.by, "A");
        assert_int_equal(decide(s, "eva", want + 1), RUNG_CANNOT);
        assert_int_not_equal(decide(s, "eva", want), RUNG_CANNOT);
        assert_int_equal(card.recall.limit, want);
        assert_int_equal(card.recall.state_bits, states[i].bits);
        rung_card_clear(&card);
        rung_subject_free(s);
    }
}

/* The full layers are taken away, and nothing else. */
static void recall_is_about_the_recurrent_part_alone(void **state)
{
    (void)state;
    rung_subject *s = arch("2*(3*gdelta,full),gdelta@1|full@1", 2, 4);
    rung_card card = card_of(s, 4096, NULL);
    assert_int_equal(card.recall.layers, 7);
    assert_int_equal(card.recall.state_bits, (6 * 2 * 16 + 16) * 32);
    assert_int_equal(card.recall.limit, least_by_hand(card.recall.state_bits));
    assert_int_equal(card.ability[RUNG_ABILITY_LOOKUP].cannot_from, 0);
    rung_card_clear(&card);
    rung_subject_free(s);
}

static void log_linear_thresholds_are_edges(void **state)
{
    (void)state;
    rung_subject *s = arch("2*loglinear", 1, 2);
    rung_card card = card_of(s, 4096, NULL);
    uint64_t from = card.ability[RUNG_ABILITY_LOOKUP].cannot_from;
    assert_true(from > 2);
    assert_int_equal(decide(s, "eva", from + 1), RUNG_CANNOT);
    assert_int_not_equal(decide(s, "eva", from), RUNG_CANNOT);
    rung_card_clear(&card);
    rung_subject_free(s);
}

/* ---- composition ------------------------------------------------------------------------------------------------- */

/* What a card does not ask, no theorem answers: every depth up to three, at lengths around the edge. */
static void what_is_not_asked_is_unknown(void **state)
{
    static const char *const archs[] = {"2*linear", "full", "full,linear", "full@1|linear@1"};
    static const uint64_t lengths[] = {12, 60};
    size_t cannot = 0, silent = 0;
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(archs); i++) {
        rung_subject *s = arch(archs[i], 1, 1);
        for (size_t k = 0; k < RUNG_COUNT(lengths); k++) {
            rung_card card = card_of(s, lengths[k], NULL);
            const rung_card_ability *a = &card.ability[RUNG_ABILITY_COMPOSITION];
            for (size_t L = 1; L <= 3; L++) {
                char task[32];
                rung_task_conf conf;
                snprintf(task, sizeof task, "seqcomp L=%zu N0=1", L);
                CHECK(rung_task_conf_parse(&conf, task, &check_err));
                if (conf.tokens > lengths[k]) continue;
                snprintf(task, sizeof task, "seqcomp L=%zu", L);
                cannot += a->cannot_from && L >= a->cannot_from && L <= a->asked_up_to;
                if (L <= a->asked_up_to && (L > 1 || card.layers.full < 2)) continue;
                assert_int_not_equal(decide(s, task, lengths[k]), RUNG_CANNOT); /* it was not asked */
                silent++;
            }
            rung_card_clear(&card);
        }
        rung_subject_free(s);
    }
    assert_true(cannot > 2 && silent > 4);
}

/* ---- published layers -------------------------------------------------------------------------------------------- */

static const char llama[] = "{\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":64,"
                            "\"num_hidden_layers\":2,\"num_attention_heads\":2,\"num_key_value_heads\":2,"
                            "\"vocab_size\":500,\"rope_theta\":10000.0,\"rms_norm_eps\":1e-5,"
                            "\"max_position_embeddings\":%d,\"torch_dtype\":\"bfloat16\"}";

static void files_with_the_same_sizes_share_a_proof(void **state)
{
    (void)state;
    rung_lookup_proofs *proofs;
    CHECK(rung_lookup_proofs_new(&proofs, &check_err));
    for (int i = 0; i < 3; i++) {
        char json[512];
        rung_ledger ledger;
        rung_subject *s;
        snprintf(json, sizeof json, llama, 4096 + i);
        CHECK(rung_ledger_open_bytes(&ledger, json, strlen(json), "m.json", &check_err));
        CHECK(rung_subject_layers(&s, &ledger, &check_err));
        rung_card shared = card_of(s, 0, proofs), own = card_of(s, 0, NULL);
        const rung_card_ability *a = &shared.ability[RUNG_ABILITY_LOOKUP], *b = &own.ability[RUNG_ABILITY_LOOKUP];
        assert_int_equal(a->can_at, 16);
        assert_int_equal(a->can.basis, RUNG_BASIS_PROOF);
        assert_int_equal(b->can_at, 16);
        assert_string_equal(a->can.statement, b->can.statement);
        assert_int_equal(rung_lookup_proofs_count(proofs), 1);
        rung_card_clear(&shared), rung_card_clear(&own);
        rung_subject_free(s);
        rung_ledger_clear(&ledger);
    }
    rung_lookup_proofs_free(proofs);
}

/* The proof of a card is that of rung_decide, which also runs the model. */
static void the_model_of_a_shared_proof_is_right(void **state)
{
    (void)state;
    char json[512];
    rung_ledger ledger;
    rung_subject *s;
    rung_task_conf task;
    rung_claim *claim;
    rung_decision d;
    snprintf(json, sizeof json, llama, 4096);
    CHECK(rung_ledger_open_bytes(&ledger, json, strlen(json), "m.json", &check_err));
    CHECK(rung_subject_layers(&s, &ledger, &check_err));
    CHECK(rung_task_conf_parse(&task, "eva N=16", &check_err));
    rung_claim_spec about = rung_claim_spec_of_prompt(&task, 0);
    rung_decide_options means = {.bounds = true, .weights = true};
    CHECK(rung_claim_new(&claim, s, &about, &check_err));
    CHECK(rung_decide(&d, claim, &means, &check_err));
    assert_int_equal(d.verdict, RUNG_CAN);
    assert_non_null(d.model);
    rung_fmt fmt;
    rung_finding found;
    CHECK(rung_fmt_parse(&fmt, d.numbers, &check_err));
    rung_verify_options how = {.samples = 200, .how = {.numbers = &fmt}};
    CHECK(rung_finding_of(&found, d.model, &task, &how, 0, &check_err));
    assert_true(found.right);
    rung_decision_clear(&d);
    rung_claim_free(claim);
    rung_subject_free(s);
    rung_ledger_clear(&ledger);
}

/* A key that nobody knows: kinds are not established, and no theorem but that about causality speaks. */
static void nothing_is_claimed_of_layers_that_are_not_known(void **state)
{
    (void)state;
    static const char json[] = "{\"model_type\":\"mamba2\",\"hidden_size\":64,\"num_hidden_layers\":2,\"num_heads\":4,"
                               "\"head_dim\":32,\"state_size\":16,\"n_groups\":1,\"conv_kernel\":4,\"expand\":2,"
                               "\"strange_new_key\":7}";
    rung_ledger ledger;
    rung_subject *s;
    CHECK(rung_ledger_open_bytes(&ledger, json, strlen(json), "m.json", &check_err));
    CHECK(rung_subject_layers(&s, &ledger, &check_err));
    rung_card card = card_of(s, 4096, NULL);
    assert_int_not_equal(ledger.known[RUNG_LEDGER_KINDS].is, RUNG_ESTABLISHED);
    assert_int_equal(card.ability[RUNG_ABILITY_LOOKUP].cannot_from, 0);
    assert_int_equal(card.recall.limit, 0);
    assert_non_null(strstr(card.recall.proved.statement, "strange_new_key"));
    assert_int_equal(card.ability[RUNG_ABILITY_EACH].cannot_from, 2);
    assert_true(card.ability[RUNG_ABILITY_EACH].cannot.trivial);
    rung_card_clear(&card);
    rung_subject_free(s);
    rung_ledger_clear(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recurrent_layers_look_up_no_more_than_their_bits),
        cmocka_unit_test(recall_is_about_the_recurrent_part_alone),
        cmocka_unit_test(log_linear_thresholds_are_edges),
        cmocka_unit_test(what_is_not_asked_is_unknown),
        cmocka_unit_test(files_with_the_same_sizes_share_a_proof),
        cmocka_unit_test(the_model_of_a_shared_proof_is_right),
        cmocka_unit_test(nothing_is_claimed_of_layers_that_are_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
