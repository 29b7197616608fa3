/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of recall, word and structure tasks share: comparison with a second oracle, prompts written by hand,
 * refusals, and binomial bounds.
 */
#ifndef RUNG_TESTS_TASK_SEQUENCES_H
#define RUNG_TESTS_TASK_SEQUENCES_H

#include <math.h>

#include "prompts.h"

/* Fills the positions that have a target; the others are RUNG_NO_TARGET already. */
typedef void brute_oracle(int32_t *want, const rung_instance *prompt, const rung_task_conf *conf);

typedef struct sequence_case {
    const char *text;
    brute_oracle *brute;
} sequence_case;

/* Five standard deviations: one in two million by accident. */
static inline void assert_near_binomial(size_t hits, size_t runs, double p)
{
    double mean = (double)runs * p, deviation = sqrt(mean * (1 - p));
    if (fabs((double)hits - mean) > 5 * deviation + 1)
        fail_msg("%zu of %zu, expected %.1f +- %.1f", hits, runs, mean, deviation);
}

/* Compares with the second oracle; checks that something is asked and that the players cover the prompt. */
static inline void check_instance(int32_t *want, const prompts *p, const sequence_case *c, size_t run)
{
    size_t covered = 0;
    assert_int_equal(p->in.tokens, p->conf.tokens);
    for (size_t t = 0; t < p->conf.tokens; t++) want[t] = RUNG_NO_TARGET;
    c->brute(want, &p->in, &p->conf);
    for (size_t t = 0; t < p->conf.tokens; t++) {
        assert_true(p->in.token[t] < p->conf.vocab);
        if (p->in.target[t] != want[t])
            fail_msg("%s, instance %zu, position %zu: %d instead of %d", c->text, run, t, (int)p->in.target[t],
                     (int)want[t]);
    }
    assert_true(rung_instance_last_target(&p->in) != SIZE_MAX);
    for (size_t i = 0; i < p->in.player_count; covered += p->in.player[i++].len)
        assert_int_equal(p->in.player[i].start, covered);
    assert_int_equal(covered, p->in.tokens);
}

static inline void check_against_brute_force(const sequence_case *c, size_t runs)
{
    prompts p;
    prompts_open(&p, c->text);
    assert_true(fabs(p.conf.chance * (double)p.conf.answers - 1) < 1e-12);
    assert_true(p.conf.majority >= p.conf.chance - 1e-12 && p.conf.majority <= 1 + 1e-12);
    int32_t *want = calloc(p.conf.tokens, sizeof *want);
    assert_non_null(want);
    for (size_t run = 0; run < runs; run++) {
        prompts_make(&p, run);
        check_instance(want, &p, c, run);
    }
    free(want);
    prompts_close(&p);
}

/* Ids outside the vocabulary are refused wherever they are, and so are prompts that are too short. */
static inline void check_refusals(const sequence_case *c)
{
    prompts p;
    prompts_open(&p, c->text);
    for (size_t t = 0; t < p.conf.tokens; t++) {
        const uint32_t above[] = {(uint32_t)p.conf.vocab, (uint32_t)p.conf.vocab + 1000, UINT32_MAX};
        char place[40];
        prompts_make(&p, t);
        p.in.token[t] = above[t % 3];
        snprintf(place, sizeof place, "position %zu ", t);
        prompts_refused(&p, place);
    }
    prompts_make(&p, 0);
    p.in.tokens--;
    prompts_refused(&p, "tokens");
    prompts_close(&p);
}

/* Random ids are refused or solved, never read out of bounds, and what is solved agrees with the second oracle. */
static inline void check_random_ids(const sequence_case *c, size_t runs)
{
    prompts p;
    rung_rng rng;
    prompts_open(&p, c->text);
    rung_rng_init(&rng, 4, 0, 0);
    int32_t *want = calloc(p.conf.tokens, sizeof *want);
    assert_non_null(want);
    prompts_make(&p, 0);
    for (size_t run = 0; run < runs; run++) {
        for (size_t t = 0; t < p.conf.tokens; t++) p.in.token[t] = (uint32_t)rung_rng_below(&rng, p.conf.vocab);
        rung_status status = prompts_solve(&p);
        assert_true(status == RUNG_OK || (status == RUNG_INPUT && p.err.text[0]));
        if (status == RUNG_OK) check_instance(want, &p, c, run);
    }
    free(want);
    prompts_close(&p);
}

/* `answers` are the words of all targets in order. */
static inline void check_by_hand(const char *text, const char *prompt, const char *answers)
{
    prompts p;
    rung_buf got;
    prompts_open(&p, text);
    rung_buf_init(&got);
    prompts_answer(&p, prompt);
    for (size_t t = 0; t < p.in.tokens; t++) {
        if (p.in.target[t] == RUNG_NO_TARGET) continue;
        if (got.len > 0) rung_buf_putc(&got, ' ');
        rung_task_answer_write(&got, &p.conf, p.in.target[t]);
    }
    assert_non_null(got.text);
    assert_string_equal(got.text, answers);
    rung_buf_clear(&got);
    prompts_close(&p);
}

static inline void check_no_prompt(const char *text, const char *prompt)
{
    prompts p;
    prompts_open(&p, text);
    assert_int_equal(rung_task_symbols_read(&p.in, prompt, &p.conf, &p.err), RUNG_OK);
    if (prompts_solve(&p) != RUNG_INPUT || !p.err.text[0]) fail_msg("%s was accepted", prompt);
    prompts_close(&p);
}

#endif
