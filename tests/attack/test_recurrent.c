/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Attacks on states that do not grow: swallow, forget, overwrite, collide; and climb, which takes every model. What they find is
 * confirmed by other runs and by rung-check; where the mathematics forbids it they find nothing.
 */
#include "attacked_test.h"

static void finds(const char *attack, prey p)
{
    char report[400] = "does not apply";
    if (!prey_breaks(attack, p, 20, report)) fail_msg("%s on %s %s %s: %s", attack, p.arch, p.numbers, p.task, report);
}

static void finds_nothing(const char *attack, prey p)
{
    char report[400] = "";
    if (prey_breaks(attack, p, 1, report)) fail_msg("%s broke %s %s %s", attack, p.arch, p.numbers, p.task);
}

static void swallow_breaks_rounded_recurrences_of_any_depth(void **state)
{
    (void)state;
    finds("swallow", (prey){.arch = "linear", .numbers = "e8m4", .task = "eva N=64 V=16", .dk = 2, .dv = 2});
    finds("swallow", (prey){.arch = "2*linear", .numbers = "e8m3", .task = "eva N=200 V=60", .dk = 2, .dv = 2});
    finds("swallow", (prey){.arch = "linear", .numbers = "e8m4", .task = "two-sum N=200 M=500", .dk = 2, .dv = 2});
    finds("swallow", (prey){.arch = "linear", .numbers = "e8m3", .task = "assoc-recall N=60", .dk = 2, .dv = 2});
    finds("swallow", (prey){.arch = "linear", .numbers = "e8m3", .task = "seqcomp L=2 N0=8 n=8", .dk = 2, .dv = 2});
    finds("swallow", (prey){.arch = "linear", .numbers = "q3.4", .task = "eva N=64 V=8", .dk = 2, .dv = 2});
}

/* Positions of the size of tokens: no prefix that repeats itself makes all 84 numbers of both layers large. */
static void swallow_needs_a_steered_prefix_where_positions_are_random(void **state)
{
    (void)state;
    char report[400] = "";
    prey deep = {.arch = "2*linear", .numbers = "e8m6", .task = "eva N=700 V=700", .dk = 6, .dv = 6};
    if (!prey_breaks("swallow", deep, 30, report)) fail_msg("%s", report);
    assert_non_null(strstr(report, "a steered prefix"));
}

/* Six numbers of 32 bits hold 4 entries of 2 bits, and no state that small is met twice. */
static void swallow_spares_states_with_room(void **state)
{
    (void)state;
    /* It is not steered: at 16 tokens its state is as large as at one, but it has no update of its own. */
    finds_nothing("swallow", (prey){"loglinear", "f32", "eva N=16 V=4", 2, 2, false, 1});
    finds_nothing("swallow", (prey){.arch = "linear", .numbers = "f32", .task = "eva N=4 V=4", .dk = 2, .dv = 2});
    finds_nothing("swallow", (prey){.arch = "full", .numbers = "e8m4", .task = "eva N=64 V=16", .dk = 2, .dv = 2});
}

static void forget_breaks_every_decay_gate_and_window(void **state)
{
    (void)state;
    static const char *const fading[] = {"gdelta", "mamba", "mamba2", "rwkv7", "rnn", "window:W=4"};
    for (size_t i = 0; i < RUNG_COUNT(fading); i++)
        finds("forget", (prey){.arch = fading[i], .numbers = "e8m5", .task = "eva N=120 V=8", .dk = 4, .dv = 4});
    static const char *const slow[] = {"retnet", "gla", "kda"};
    for (size_t i = 0; i < RUNG_COUNT(slow); i++)
        finds("forget", (prey){.arch = slow[i], .numbers = "e8m4", .task = "eva N=500 V=8", .dk = 4, .dv = 4});
    finds("forget", (prey){.arch = "mamba2,window:W=4", .numbers = "e8m4", .task = "eva N=120 V=8", .dk = 4, .dv = 4});
}

static void forget_spares_what_keeps_everything(void **state)
{
    (void)state;
    finds_nothing("forget", (prey){.arch = "linear", .numbers = "e8m4", .task = "eva N=60 V=8", .dk = 4, .dv = 4});
    finds_nothing("forget", (prey){.arch = "window:W=8", .numbers = "e8m4", .task = "eva N=7 V=3", .dk = 4, .dv = 4});
    finds_nothing("forget", (prey){.arch = "mamba2,full", .numbers = "e8m4", .task = "eva N=60 V=8", .dk = 4, .dv = 4});
}

static void overwrite_breaks_the_delta_rule(void **state)
{
    (void)state;
    finds("overwrite", (prey){.arch = "delta:unit=1", .numbers = "e8m4", .task = "eva N=256 V=4", .dk = 3, .dv = 3});
    finds("overwrite", (prey){.arch = "gdelta:unit=1", .numbers = "e8m4", .task = "eva N=256 V=4", .dk = 3, .dv = 3});
    finds_nothing("overwrite", (prey){.arch = "linear", .numbers = "e8m4", .task = "eva N=64 V=4", .dk = 3, .dv = 3});
    finds_nothing("overwrite",
                  (prey){.arch = "delta:unit=1", .numbers = "f32", .task = "eva N=3 V=4", .dk = 3, .dv = 3});
}

static void collide_finds_states_and_views_of_few_bits(void **state)
{
    (void)state;
    prey small = {.arch = "linear", .numbers = "e5m4", .task = "eva N=20 V=4", .dk = 1, .dv = 1};
    finds("collide", small); /* 20 bits */
    small.task = "assoc-recall N=9";
    finds("collide", small); /* prompts must come from the generator: keys differ */
    small.numbers = "e5m6", small.dv = 2, small.task = "eva N=40 V=4";
    finds("collide", small); /* 36 bits */
    finds_nothing("collide", (prey){.arch = "linear", .numbers = "f32", .task = "eva N=40 V=4", .dk = 2, .dv = 2});
    /* e3m1 has 5 bits, and d_model is 12: a view of 60 bits behind a cache that cannot collide */
    char report[400];
    prey view = {.arch = "full", .numbers = "e3m1", .task = "eva N=40 V=4", .dk = 2, .dv = 2};
    if (!prey_breaks("collide", view, 20, report)) fail_msg("%s", report);
    assert_non_null(strstr(report, "view"));
}

static void climb_takes_any_model_and_finds_what_is_rare(void **state)
{
    (void)state;
    finds("climb", (prey){.arch = "full", .numbers = "e8m7", .task = "eva N=8 V=8", .dk = 4, .dv = 4});
    finds("climb", (prey){.arch = "linear,full", .numbers = "f16", .task = "k-hop", .dk = 4, .dv = 4});
    finds_nothing("climb",
                  (prey){.arch = "full", .numbers = "f16", .task = "mqar", .dk = 4, .dv = 4}); /* asks earlier */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swallow_breaks_rounded_recurrences_of_any_depth),
        cmocka_unit_test(swallow_needs_a_steered_prefix_where_positions_are_random),
        cmocka_unit_test(swallow_spares_states_with_room),
        cmocka_unit_test(forget_breaks_every_decay_gate_and_window),
        cmocka_unit_test(forget_spares_what_keeps_everything),
        cmocka_unit_test(overwrite_breaks_the_delta_rule),
        cmocka_unit_test(collide_finds_states_and_views_of_few_bits),
        cmocka_unit_test(climb_takes_any_model_and_finds_what_is_rare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
