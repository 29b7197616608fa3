/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Layers of a claim summed up: kinds counted a second way, orders that read back as the same layers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rung/bound.h"

static rung_error err;
static const rung_arch_defaults small = {.heads = 2, .dk = 4, .dv = 4, .causal = true};

typedef struct asked {
    rung_subject *subject;
    rung_claim *claim;
} asked;

static asked ask(const char *arch)
{
    asked a;
    rung_claim_spec about = rung_claim_spec_of_prompt(NULL, 0);
    rung_claim_spec_set_bits(&about, 16);
    if (rung_subject_arch(&a.subject, arch, &small, &err) != RUNG_OK) fail_msg("%s", err.text);
    if (rung_claim_new(&a.claim, a.subject, &about, &err) != RUNG_OK) fail_msg("%s", err.text);
    return a;
}

static void forget(asked *a)
{
    rung_claim_free(a->claim);
    rung_subject_free(a->subject);
}

static void kinds_partition_the_layers(void **state)
{
    (void)state;
    asked a = ask("3*(2*linear,full),window:W=4,full,mamba2,linear");
    const rung_ledger *ledger = rung_claim_ledger(a.claim);
    rung_ledger_kind kind[8];
    assert_int_equal(rung_ledger_kinds(kind, 8, ledger), 4);
    static const rung_ledger_kind want[] = {{0, 7}, {2, 4}, {9, 1}, {11, 1}};
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(kind[k].first, want[k].first);
        assert_int_equal(kind[k].count, want[k].count);
    }
    assert_int_equal(rung_ledger_kinds(kind, 2, ledger), 3); /* more than there is room for */
    assert_int_equal(rung_ledger_kinds(kind, 4, ledger), 4);
    forget(&a);
}

static void sums_are_those_of_the_layers(void **state)
{
    uint64_t carried = 0, message = 0, growth = 0, caches = 0;
    (void)state;
    asked a = ask("3*(2*linear,full),window:W=4,full,loglinear");
    const rung_ledger *ledger = rung_claim_ledger(a.claim);
    rung_ledger_view view = rung_ledger_view_of(a.claim);
    for (size_t i = 0; i < ledger->layer_count; i++) {
        rung_layer_bits bits = rung_layer_bits_of(&ledger->layer[i], rung_claim_arithmetic(a.claim));
        carried += bits.carried, message += bits.message;
        growth += ledger->layer[i].kv_per_token, caches += ledger->layer[i].kv_per_token != 0;
    }
    assert_true(carried > 0 && message == 4 * 2 * (4 + 2) * 16);
    assert_int_equal(view.carried_bits, carried);
    assert_int_equal(view.message_bits, message);
    assert_int_equal(view.sum.all.kv_per_token, growth);
    assert_int_equal(view.caches, caches);
    assert_true(view.levels);
    forget(&a);
}

static void orders_read_back(void **state)
{
    static const struct {
        const char *arch, *order;
    } cases[] = {
        {"linear,linear,full,linear,linear,full,full", "2*(2*linear,full),full"},
        {"full", "full"},
        {"4*full", "4*full"},
        {"full,linear,full,linear,gla", "2*(full,linear),gla"},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        asked a = ask(cases[i].arch), b = ask(cases[i].order);
        const rung_ledger *x = rung_claim_ledger(a.claim), *y = rung_claim_ledger(b.claim);
        rung_buf out;
        rung_buf_init(&out);
        rung_ledger_order(&out, x);
        assert_string_equal(out.text, cases[i].order);
        assert_int_equal(x->layer_count, y->layer_count);
        for (size_t l = 0; l < x->layer_count; l++) assert_true(rung_ledger_layer_same(&x->layer[l], &y->layer[l]));
        rung_buf_clear(&out);
        forget(&a), forget(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_partition_the_layers),
        cmocka_unit_test(sums_are_those_of_the_layers),
        cmocka_unit_test(orders_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
