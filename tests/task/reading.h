/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Instances as text, for tests that find the answer by reading; and the compositions that several tests share.
 */
#ifndef RUNG_TESTS_TASK_READING_H
#define RUNG_TESTS_TASK_READING_H

#include "sequences.h"

typedef struct reading {
    prompts p;
    rung_buf text;
} reading;

static inline void reading_open(reading *r, const char *text)
{
    prompts_open(&r->p, text);
    rung_buf_init(&r->text);
}

static inline void reading_close(reading *r)
{
    prompts_close(&r->p);
    rung_buf_clear(&r->text);
}

static inline const char *write_words(reading *r, uint64_t index)
{
    prompts_make(&r->p, index);
    rung_buf_reset(&r->text);
    rung_task_symbols_write(&r->text, &r->p.in, &r->p.conf);
    return r->text.text;
}

static inline int32_t last_target(const prompts *p)
{
    for (size_t t = 0; t + 1 < p->in.tokens; t++) assert_int_equal(p->in.target[t], RUNG_NO_TARGET);
    return p->in.target[p->in.tokens - 1];
}

static inline void answer_is(const prompts *p, const char *word)
{
    rung_buf answer;
    rung_buf_init(&answer);
    rung_task_answer_write(&answer, &p->conf, last_target(p));
    assert_string_equal(answer.text, word);
    rung_buf_clear(&answer);
}

static inline double majority_of(const char *text)
{
    rung_task_conf conf;
    rung_error err = {{0}};
    if (rung_task_conf_parse(&conf, text, &err) != RUNG_OK) fail_msg("%s: %s", text, err.text);
    return conf.majority;
}

static const char *const compositions[] = {
    "seqcomp",
    "seqcomp L=1 N0=7",
    "seqcomp L=1 N0=1",
    "seqcomp L=2 N0=1 n=1",
    "seqcomp L=2 N0=3 n=5 V=2",
    "seqcomp L=3 N0=3 n=2,3 order=first",
    "seqcomp L=3 N0=3 n=3,2 form=pair",
    "seqcomp L=4 N0=2 n=2,1,3 form=pair order=first",
    "seqcomp L=5 N0=4 n=3 flat=1",
    "seqcomp L=5 N0=4 n=3 flat=1 form=pair",
    "seqcomp L=16 N0=3 n=1",
    "seqcomp L=2 N0=3 n=5 V=2 dist=identity",
    "seqcomp L=3 N0=3 n=3,2 form=pair order=first dist=identity",
};

#endif
