/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The mutex of par: what several threads add to plain numbers under it is all there, and a thread waits for the one inside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rung/par.h"

enum { THREADS = 4, ITEMS = 64, ROUNDS = 2000 };

typedef struct counter {
    rung_mutex mutex;
    uint64_t first, second; /* equal whenever nobody is inside */
    uint64_t unequal;
} counter;

static void add(void *context, size_t item, size_t worker)
{
    counter *c = context;
    (void)worker;
    for (size_t round = 0; round < ROUNDS; round++) {
        rung_mutex_lock(&c->mutex);
        c->unequal += c->first != c->second;
        c->first += item;
        c->second += item;
        rung_mutex_unlock(&c->mutex);
    }
}

static void threads_take_turns(void **state)
{
    counter c = {.first = 0};
    (void)state;
    rung_mutex_init(&c.mutex);
    rung_par_for(ITEMS, THREADS, add, &c);
    rung_mutex_clear(&c.mutex);
    assert_int_equal(c.unequal, 0);
    assert_int_equal(c.first, (uint64_t)ROUNDS * ITEMS * (ITEMS - 1) / 2);
    assert_int_equal(c.second, c.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_take_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
