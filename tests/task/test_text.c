/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Text of every task: prompts come back the same, ids have words of their own, and other text is refused with its place.
 */
#include <ctype.h>

#include "every_task.h"

static void compare_read(prompts *q, const prompts *p, rung_status status, const char *what)
{
    if (status != RUNG_OK) fail_msg("%s of %s: %s", what, p->conf.task->name, q->err.text);
    assert_int_equal(q->in.tokens, p->in.tokens);
    assert_memory_equal(q->in.token, p->in.token, p->in.tokens * sizeof(uint32_t));
    for (size_t t = 0; t < q->in.tokens; t++) assert_int_equal(q->in.target[t], RUNG_NO_TARGET);
    assert_int_equal(prompts_solve(q), RUNG_OK);
    assert_memory_equal(q->in.target, p->in.target, p->in.tokens * sizeof(int32_t));
}

static void check_text(const char *text)
{
    prompts p, q;
    rung_buf buf;
    prompts_open(&p, text);
    prompts_open(&q, text);
    rung_buf_init(&buf);
    const rung_task *task = p.conf.task;
    for (uint64_t index = 0; index < 30 && task->token_word; index++) {
        prompts_make(&p, index);
        rung_buf_reset(&buf);
        rung_task_symbols_write(&buf, &p.in, &p.conf);
        compare_read(&q, &p, rung_task_symbols_read(&q.in, buf.text, &q.conf, &q.err), "symbols");
        if (!task->story_write) continue;
        rung_buf_reset(&buf);
        task->story_write(&buf, &p.in, &p.conf);
        compare_read(&q, &p, task->story_read(&q.in, buf.text, &q.conf, &q.err), "facts");
    }
    rung_buf_clear(&buf);
    prompts_close(&p);
    prompts_close(&q);
}

static void text_reads_back_as_the_same_prompt(void **state)
{
    (void)state;
    for_each_task(check_text);
    for (size_t i = 0; i < RUNG_COUNT(text_cases); i++) check_text(text_cases[i]);
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void words_are_distinct(char **words, size_t count, const char *what)
{
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++) {
        assert_true(words[i][0] != 0);
        for (const char *c = words[i]; *c; c++) assert_true(!isspace((unsigned char)*c));
        if (i > 0 && strcmp(words[i - 1], words[i]) == 0) fail_msg("%s: two ids are '%s'", what, words[i]);
    }
    for (size_t i = 0; i < count; i++) free(words[i]);
    free(words);
}

static void check_words(const char *text)
{
    prompts p;
    prompts_open(&p, text);
    const rung_task *task = p.conf.task;
    size_t ids = task->token_word ? p.conf.vocab : 0, answers = p.conf.answers;
    char **token = calloc(ids + 1, sizeof *token), **answer = calloc(answers + 1, sizeof *answer);
    char **named = calloc(answers + 1, sizeof *named);
    for (size_t i = 0; i < ids; i++) {
        rung_buf word = {0};
        task->token_word(&word, &p.conf, (uint32_t)i);
        token[i] = word.text;
    }
    for (size_t i = 0; i < answers; i++) {
        rung_buf word = {0}, name = {0};
        rung_task_answer_write(&word, &p.conf, (int32_t)i);
        if (task->story_answer)
            task->story_answer(&name, &p.conf, (int32_t)i);
        else
            rung_buf_printf(&name, "%zu", i);
        answer[i] = word.text;
        named[i] = name.text;
    }
    words_are_distinct(token, ids, text);
    words_are_distinct(answer, answers, text);
    words_are_distinct(named, answers, text);
    prompts_close(&p);
}

static void every_id_has_a_word_of_its_own_without_spaces(void **state)
{
    (void)state;
    for_each_task(check_words);
    for (size_t i = 0; i < RUNG_COUNT(text_cases); i++)
        if (!strstr(text_cases[i], "D=11")) check_words(text_cases[i]);
}

static void check_bad_text(const char *text)
{
    prompts p;
    prompts_open(&p, text);
    if (!p.conf.task->token_word) {
        assert_int_equal(rung_task_symbols_read(&p.in, "a b", &p.conf, &p.err), RUNG_USAGE);
        prompts_close(&p);
        return;
    }
    prompts_make(&p, 0);
    rung_buf buf;
    rung_buf_init(&buf);
    rung_task_symbols_write(&buf, &p.in, &p.conf);
    size_t space = strcspn(buf.text, " ");
    if (buf.text[space]) {
        memcpy(buf.text + space + 1, "!", 1); /* spoils the second word */
        assert_int_equal(rung_task_symbols_read(&p.in, buf.text, &p.conf, &p.err), RUNG_INPUT);
        if (!strstr(p.err.text, "position 1")) fail_msg("no place in: %s", p.err.text);
        assert_int_equal(p.in.tokens, 0);
    }
    assert_int_equal(rung_task_symbols_read(&p.in, " \n", &p.conf, &p.err), RUNG_INPUT);
    rung_buf_reset(&buf);
    for (size_t t = 0; t <= p.conf.tokens; t++) {
        p.conf.task->token_word(&buf, &p.conf, 0);
        rung_buf_putc(&buf, '\t');
    }
    assert_int_equal(rung_task_symbols_read(&p.in, buf.text, &p.conf, &p.err), RUNG_INPUT); /* one too many */
    if (p.conf.task->story_read) {
        assert_int_equal(p.conf.task->story_read(&p.in, "Once upon a time", &p.conf, &p.err), RUNG_INPUT);
        assert_true(strstr(p.err.text, "byte 0") != NULL);
    }
    rung_buf_clear(&buf);
    prompts_close(&p);
}

static void text_of_something_else_is_refused_with_its_place(void **state)
{
    (void)state;
    for_each_task(check_bad_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_reads_back_as_the_same_prompt),
        cmocka_unit_test(every_id_has_a_word_of_its_own_without_spaces),
        cmocka_unit_test(text_of_something_else_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
