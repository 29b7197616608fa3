/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * All tasks of the registry in all their forms, for tests of what must hold for every one, present and future.
 */
#ifndef RUNG_TESTS_TASK_EVERY_TASK_H
#define RUNG_TESTS_TASK_EVERY_TASK_H

#include "prompts.h"

/* Every task at its default numbers, with every combination of its words (dist, form, ...) that the task accepts. The
 * first words are the defaults and must be accepted; every word must be accepted in some combination. */
typedef void visit(const char *text);

static inline size_t word_count(const rung_param *param)
{
    size_t count = 0;
    while (param->kind == RUNG_PARAM_CHOICE && param->choices[count]) count++;
    return count;
}

/* Writes combination number `code`, in mixed radix over the words; returns what is left of the number. */
static inline size_t write_combination(char *text, size_t size, const rung_task *task, size_t code)
{
    size_t len = (size_t)snprintf(text, size, "%s", task->name);
    for (const rung_param *p = task->params; p->name; p++) {
        size_t words = word_count(p);
        if (words == 0) continue;
        len += (size_t)snprintf(text + len, size - len, " %s=%s", p->name, p->choices[code % words]);
        assert_true(len < size);
        code /= words;
    }
    return code;
}

static inline void note_words(bool met[RUNG_PARAM_MAX][64], const rung_task *task, size_t code)
{
    for (size_t p = 0; task->params[p].name; p++) {
        size_t words = word_count(&task->params[p]);
        if (words == 0) continue;
        met[p][code % words] = true;
        code /= words;
    }
}

static inline void for_each_combination(visit *check, const rung_task *task)
{
    char text[512];
    bool met[RUNG_PARAM_MAX][64] = {{false}};
    for (size_t code = 0; write_combination(text, sizeof text, task, code) == 0; code++) {
        rung_task_conf conf;
        rung_error err = {{0}};
        rung_status status = rung_task_conf_parse(&conf, text, &err);
        if (status != RUNG_OK && (status != RUNG_USAGE || code == 0)) fail_msg("%s: %s", text, err.text);
        if (status != RUNG_OK) continue;
        note_words(met, task, code);
        check(text);
    }
    for (size_t p = 0; task->params[p].name; p++)
        for (size_t w = 0; w < word_count(&task->params[p]); w++)
            if (!met[p][w])
                fail_msg("%s: %s=%s is never accepted", task->name, task->params[p].name, task->params[p].choices[w]);
}

static inline void for_each_task(visit *check)
{
    assert_true(rung_task_count() > 0);
    for (size_t i = 0; i < rung_task_count(); i++) for_each_combination(check, rung_task_at(i));
}

/* Corner cases of the tasks with prose, for tests of text and garbage. */
static const char *const text_cases[] = {
    "eva N=1",
    "eva N=90 V=7",
    "eva N=40 K=41 form=pair",
    "eva N=5000 V=5000", /* names of three syllables */
    "retrieval N=1 D=1",
    "retrieval N=2048 D=11", /* a vocabulary above 2^22 */
    "k-hop N=2 k=0",
    "k-hop N=50 k=9 hops=uniform targets=last",
    "seqcomp L=1 N0=9",
    "seqcomp L=1 N0=9 form=pair order=first",
    "seqcomp L=3 N0=3 n=2,5",
    "seqcomp L=3 N0=3 n=2,5 order=first",
    "seqcomp L=3 N0=3 n=2,5 form=pair",
    "seqcomp L=4 N0=4 n=3 flat=1 form=pair order=first",
    "seqcomp L=16 N0=2 n=1",
};

#endif
