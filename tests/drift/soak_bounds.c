/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ten million adversarial trials of the theorem of docs/drift.md (RUNG_TRIALS=n: n; RUNG_TRIALS_SEED: others). Prints how
 * near to the bound they came, by mechanism and by formats.
 */
#include "drift/trials.h"

#include "rung/par.h"

enum { TRIES = 200, WORKERS = 256 };

typedef struct tally {
    trial_result most[RUNG_COUNT(trial_mechs)][TRIAL_NUMBERS], beyond;
    uint64_t beyond_seed;
} tally;

typedef struct soak {
    rung_numbers numbers[TRIAL_NUMBERS];
    uint64_t seed;
    tally *by; /* [WORKERS] */
} soak;

static void add(tally *to, const tally *from)
{
    for (size_t m = 0; m < RUNG_COUNT(trial_mechs); m++)
        for (size_t n = 0; n < TRIAL_NUMBERS; n++) {
            trial_result *x = &to->most[m][n];
            const trial_result *y = &from->most[m][n];
            x->state = fmax(x->state, y->state), x->output = fmax(x->output, y->output);
        }
    if (from->beyond.state > 1 || from->beyond.output > 1)
        to->beyond = from->beyond, to->beyond_seed = from->beyond_seed;
}

static void climb(void *context, size_t item, size_t worker)
{
    soak *s = context;
    trial best;
    const uint64_t seed = s->seed + item;
    const trial_result found = trial_climb(s->numbers, seed, TRIES, 1, &best);
    tally *t = &s->by[worker];
    size_t m = 0;
    while (strcmp(trial_mechs[m], best.conf.mech->name) != 0) m++;
    trial_result *most = &t->most[m][best.numbers - s->numbers];
    most->state = fmax(most->state, found.state), most->output = fmax(most->output, found.output);
    if (!(found.state <= 1 && found.output <= 1)) t->beyond = found, t->beyond_seed = seed;
}

static uint64_t setting(const char *name, uint64_t standard)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : standard;
}

static void never_exceeded(void **state)
{
    (void)state;
    static tally by[WORKERS], all;
    static soak s;
    trial_formats(s.numbers);
    s.seed = setting("RUNG_TRIALS_SEED", 1000000), s.by = by;
    const size_t climbs = (size_t)(setting("RUNG_TRIALS", 10000000) + TRIES - 1) / TRIES;
    rung_par_for(climbs, 0, climb, &s);
    for (size_t w = 0; w < WORKERS; w++) add(&all, &by[w]);
    printf("%zu trials; largest part of the bound that was reached: state, output\n", climbs * TRIES);
    for (size_t m = 0; m < RUNG_COUNT(trial_mechs); m++) {
        printf("%-8s", trial_mechs[m]);
        for (size_t n = 0; n < TRIAL_NUMBERS; n++) printf("  %.4f %.4f", all.most[m][n].state, all.most[m][n].output);
        printf("\n");
    }
    for (size_t n = 0; n < TRIAL_NUMBERS; n++) printf("%zu: %s\n", n, trial_numbers[n]);
    if (all.beyond.state > 1 || all.beyond.output > 1)
        fail_msg("seed %llu: %g of the bound of the state, %g of that of the output",
                 (unsigned long long)all.beyond_seed, all.beyond.state, all.beyond.output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(never_exceeded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
