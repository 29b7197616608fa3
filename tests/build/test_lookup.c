/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One head that looks a value up: every prompt at small sizes, samples at larger ones, and that what is broken is seen.
 */
#include "build_test.h"

#include "rung/num.h"

static const char *const keys[] = {"bits", "sign", "trig", "quadratic"};
static const char *const values[] = {"bits", "scalar"};

/* Every table and every query, in fp32, float32 and a narrow format that suffices for all four keys at this size. */
static void every_prompt_is_right(void **state)
{
    static const char *const sizes[] = {"N=2 V=2", "N=3 V=4", "N=4 V=3", "N=5 V=2", "N=1 V=5"};
    (void)state;
    for (size_t k = 0; k < RUNG_COUNT(keys); k++)
        for (size_t v = 0; v < RUNG_COUNT(values); v++)
            for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
                char text[128];
                snprintf(text, sizeof text, "lookup keys=%s values=%s %s", keys[k], values[v], sizes[i]);
                assert_int_equal(wrong_of(text, NULL, 0), 0);
                assert_int_equal(wrong_of(text, "f32", 0), 0);
                assert_int_equal(wrong_of(text, "e8m9", 0), 0);
            }
}

static void tables_that_carry_their_keys(void **state)
{
    (void)state;
    for (size_t k = 0; k < RUNG_COUNT(keys); k++) {
        char text[128];
        snprintf(text, sizeof text, "lookup form=pair keys=%s N=2 V=2 K=4", keys[k]);
        assert_int_equal(wrong_of(text, "e8m9", 0), 0);
        snprintf(text, sizeof text, "lookup task=retrieval keys=%s N=2 D=2", keys[k]);
        assert_int_equal(wrong_of(text, "e8m9", 0), 0);
        snprintf(text, sizeof text, "lookup task=index keys=%s N=6 V=2", keys[k]);
        assert_int_equal(wrong_of(text, "e8m9", 0), 0);
        snprintf(text, sizeof text, "lookup task=retrieval keys=%s N=200 D=8", keys[k]);
        assert_int_equal(wrong_of(text, "f32", 50), 0);
    }
}

/* A wrong key may be there N-1 times. */
static void keys_that_repeat(void **state)
{
    (void)state;
    for (size_t k = 0; k < RUNG_COUNT(keys); k++) {
        char text[128];
        for (size_t n = 1; n <= 4; n++) {
            snprintf(text, sizeof text, "lookup task=retrieval distinct=0 keys=%s N=%zu D=1", keys[k], n);
            assert_int_equal(wrong_of(text, "e8m9", 0), 0);
        }
        snprintf(text, sizeof text, "lookup task=retrieval distinct=0 keys=%s N=3 D=2", keys[k]);
        assert_int_equal(wrong_of(text, "e8m9", 0), 0);
        snprintf(text, sizeof text, "lookup task=retrieval distinct=0 keys=%s N=400 D=4", keys[k]);
        assert_int_equal(wrong_of(text, "f32", 30), 0);
    }
    assert_refused("lookup task=retrieval distinct=0 N=400 D=4 gap=4", "take gap=");
    assert_int_equal(build_of("lookup task=retrieval N=16 D=4 gap=4").task.tokens,
                     17); /* which all different keys allow */
}

/* Every pair of permutations of 1 to 4 numbers; each token of tau is a query. */
static void permutations_are_composed(void **state)
{
    (void)state;
    for (size_t k = 0; k < RUNG_COUNT(keys); k++)
        for (size_t v = 0; v < RUNG_COUNT(values); v++) {
            char text[128];
            for (size_t n = 1; n <= 4; n++) {
                snprintf(text, sizeof text, "percom keys=%s values=%s N=%zu", keys[k], values[v], n);
                assert_int_equal(wrong_of(text, NULL, 0), 0);
                assert_int_equal(wrong_of(text, "e8m9", 0), 0);
            }
            snprintf(text, sizeof text, "percom keys=%s values=%s N=200", keys[k], values[v]);
            assert_int_equal(wrong_of(text, "f32", 4), 0);
        }
    assert_int_equal(wrong_of("percom keys=sign N=128", "e8m3", 4), 0);
    assert_refused("percom N=16 gap=1", "take gap=");
    assert_refused("percom N=16 task=eva", "unknown parameter 'task'");
    assert_true(goes_wrong_with("percom keys=sign N=3", "f32", 0, "layers.0.mix.0.q.weight", 2, -1));
    assert_true(goes_wrong_with("percom keys=quadratic N=3", "f32", 0, "positions", 0, 1));
}

/* The tokens of tau count: with a gap that one query allows, N of them together outweigh the right key. */
static void many_queries_need_a_larger_gap(void **state)
{
    (void)state;
    assert_refused("percom keys=sign N=4 gap=1.3", "take gap=");
    rung_build one = build_of("lookup keys=sign N=4 V=4 gap=1.3");
    rung_model *model = model_of(&one);
    rung_model_close(model);
}

static void larger_tables_are_right_in_float32(void **state)
{
    (void)state;
    for (size_t k = 0; k < RUNG_COUNT(keys); k++)
        for (size_t v = 0; v < RUNG_COUNT(values); v++) {
            char text[128];
            snprintf(text, sizeof text, "lookup keys=%s values=%s N=300", keys[k], values[v]);
            assert_int_equal(wrong_of(text, "f32", 20), 0);
            assert_int_equal(wrong_of(text, NULL, 20), 0);
        }
}

/* Bits survive eight-bit numbers where d = 2 needs more than bfloat16. */
static void bit_keys_need_few_bits(void **state)
{
    (void)state;
    assert_int_equal(wrong_of("lookup keys=sign N=256", "e8m3", 40), 0);
    assert_true(goes_wrong("lookup keys=trig N=256", "bf16", 40));
    assert_true(goes_wrong("lookup keys=quadratic N=256", "bf16", 40));
}

static void too_small_a_gap_is_refused(void **state)
{
    (void)state;
    assert_refused("lookup N=16 gap=1", "take gap=");
    assert_refused("lookup N=16 values=scalar gap=3", "take gap=");
    assert_refused("lookup N=70000 V=70000", "2^17 rows");
    assert_refused("lookup kees=bits", "did you mean 'keys'");
    assert_refused("lookup task=eval", "did you mean 'eva'");
}

/* The refusal is not timid: a little above the least gap the worst table is right, and the analytic leak is what the
 * table of all wrong bits really shows. */
static void the_least_gap_is_enough(void **state)
{
    (void)state;
    assert_int_equal(wrong_of("lookup keys=bits N=4 V=4 gap=1.3", "f64", 0), 0);
    assert_refused("lookup keys=bits N=4 V=4 gap=0.7", "take gap=");
}

static void a_changed_weight_is_seen(void **state)
{
    static const struct {
        const char *tensor;
        size_t element; /* one that is 1 or -1 */
    } gone[] = {{"layers.0.mix.0.q.weight", 2},
                {"layers.0.mix.0.k.weight", 0},
                {"layers.0.mix.0.v.weight", 4},
                {"layers.0.out.weight", 12}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(gone); i++)
        assert_true(goes_wrong_with("lookup keys=sign N=4 V=4", "f32", 0, gone[i].tensor, gone[i].element, -1));
    assert_true(goes_wrong_with("lookup keys=sign N=4 V=4", "f32", 0, "readout.weight", 6, 1));
    assert_true(goes_wrong_with("lookup keys=trig N=4 V=4", "f32", 0, "positions", 0, -2));
    assert_true(goes_wrong_with("lookup keys=bits N=4 V=4", "f32", 0, "layers.0.mlp.values", 4, -1));
}

static void one_entry_too_many_is_seen(void **state)
{
    (void)state;
    rung_build small = build_of("lookup keys=trig N=15"), large = build_of("lookup keys=trig N=16");
    assert_int_not_equal(small.task.vocab, large.task.vocab); /* so a file of one size cannot run the other's prompts */
    assert_int_equal(wrong_of("lookup keys=trig N=16", "e8m8", 300), 0);
    assert_true(goes_wrong("lookup keys=trig N=200", "e8m8", 300));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prompt_is_right),
        cmocka_unit_test(tables_that_carry_their_keys),
        cmocka_unit_test(keys_that_repeat),
        cmocka_unit_test(permutations_are_composed),
        cmocka_unit_test(many_queries_need_a_larger_gap),
        cmocka_unit_test(larger_tables_are_right_in_float32),
        cmocka_unit_test(bit_keys_need_few_bits),
        cmocka_unit_test(too_small_a_gap_is_refused),
        cmocka_unit_test(the_least_gap_is_enough),
        cmocka_unit_test(a_changed_weight_is_seen),
        cmocka_unit_test(one_entry_too_many_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
