/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Prose: the answer follows from reading it as a person would, its order gives nothing away, and spoilt prose is refused.
 */
#include "reading.h"

static const char *write_facts(reading *r, uint64_t index)
{
    prompts_make(&r->p, index);
    rung_buf_reset(&r->text);
    r->p.conf.task->story_write(&r->text, &r->p.in, &r->p.conf);
    return r->text.text;
}

static void named_answer_is(const prompts *p, const char *name)
{
    rung_buf answer;
    rung_buf_init(&answer);
    p->conf.task->story_answer(&answer, &p->conf, p->in.target[p->in.tokens - 1]);
    assert_string_equal(answer.text, name);
    rung_buf_clear(&answer);
}

/* Reads the prose as a person would: "Where does X live?" and "X lives in Y." */
static void answers_follow_from_the_prose_of_eva(void **state)
{
    (void)state;
    static const char *const cases[] = {"eva", "eva form=pair", "eva N=1", "eva N=3000 V=6000"};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        reading r;
        reading_open(&r, cases[c]);
        for (uint64_t i = 0; i < 20; i++) {
            char person[64], fact[128], place[64];
            const char *text = write_facts(&r, i);
            assert_true(text_after(person, sizeof person, text, "Where does ", " "));
            snprintf(fact, sizeof fact, "%s lives in ", person);
            assert_true(text_after(place, sizeof place, text, fact, "."));
            named_answer_is(&r.p, place);
        }
        reading_close(&r);
    }
}

/* "Ask for the traveller's guide, then for the mentor in P, ...", one relation after the other. */
static void follow_route(const prompts *p, const char *text)
{
    char person[64], fact[192];
    assert_true(text_after(person, sizeof person, text, "The traveller is ", "."));
    const char *route = strstr(text, "Ask for the traveller's ");
    assert_non_null(route);
    route += strlen("Ask for the traveller's ");
    for (bool more = true; more;) {
        size_t len = strcspn(route, ",."); /* "guide" or "mentor in P" */
        snprintf(fact, sizeof fact, "%s's %.*s is ", person, (int)len, route);
        if (!text_after(person, sizeof person, text, fact, ".")) fail_msg("no fact '%s' in: %.2000s", fact, text);
        more = route[len] == ',';
        route += len + (more ? strlen(", then for the ") : 0);
    }
    named_answer_is(p, person);
}

static void answers_follow_from_the_prose_of_seqcomp(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(compositions); c++) {
        reading r;
        reading_open(&r, compositions[c]);
        for (uint64_t i = 0; i < 20; i++) follow_route(&r.p, write_facts(&r, i));
        reading_close(&r);
    }
}

/* Names that served two levels would make the prose ambiguous and the same id recognisable. */
static void every_level_has_people_of_its_own(void **state)
{
    (void)state;
    reading r;
    reading_open(&r, "seqcomp L=2 N0=3 n=2");
    for (uint64_t i = 0; i < 50; i++) {
        char person[64], as_value[96];
        const char *text = write_facts(&r, i);
        assert_true(text_after(person, sizeof person, text, "The traveller is ", "."));
        snprintf(as_value, sizeof as_value, "guide is %s.", person);
        assert_null(strstr(text, as_value));
        snprintf(as_value, sizeof as_value, "%s's mentor", person);
        assert_null(strstr(text, as_value));
        snprintf(as_value, sizeof as_value, "stad is %s.", person);
        assert_null(strstr(text, as_value));
    }
    reading_close(&r);
}

/* If sentence i were about key i, the position would be readable from the prose. */
static void order_of_sentences_says_nothing_about_positions(void **state)
{
    (void)state;
    static const char *const cases[] = {"eva N=8", "seqcomp L=1 N0=8"};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        enum { RUNS = 800, N = 8 };
        char first[N][32], word[32];
        size_t count[N] = {0}, known = 0;
        reading r;
        reading_open(&r, cases[c]);
        for (uint64_t i = 0; i < RUNS; i++) {
            assert_int_equal(sscanf(write_facts(&r, i), "%31[A-Za-z]", word), 1);
            size_t k = 0;
            while (k < known && strcmp(first[k], word) != 0) k++;
            assert_true(k < N);
            if (k == known) strcpy(first[known++], word);
            count[k]++;
        }
        assert_int_equal(known, N);
        for (size_t k = 0; k < N; k++) assert_near_binomial(count[k], RUNS, 1.0 / N);
        reading_close(&r);
    }
}

static void spoilt_prose_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"eva N=4", "eva N=4 form=pair", "k-hop N=6", "seqcomp",
                                        "seqcomp form=pair order=first"};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        reading r;
        reading_open(&r, cases[c]);
        write_facts(&r, 0);
        const rung_task *task = r.p.conf.task;
        size_t refused = 0;
        for (size_t i = 0; i < r.text.len; i++) {
            char kept = r.text.text[i];
            r.text.text[i] = '#';
            assert_int_equal(task->story_read(&r.p.in, r.text.text, &r.p.conf, &r.p.err), RUNG_INPUT);
            assert_int_equal(r.p.in.tokens, 0);
            r.text.text[i] = 0; /* cut short */
            refused += task->story_read(&r.p.in, r.text.text, &r.p.conf, &r.p.err) == RUNG_INPUT;
            r.text.text[i] = kept;
        }
        assert_int_equal(refused, r.text.len);
        assert_int_equal(task->story_read(&r.p.in, r.text.text, &r.p.conf, &r.p.err), RUNG_OK);
        reading_close(&r);
    }
    prompts p;
    prompts_open(&p, "seqcomp L=1 N0=2"); /* a fact twice, another one never */
    const char *fact_twice = "Sekun's guide is Gupen. Sekun's guide is Gupen. The traveller is Sekun. Ask for the "
                             "traveller's guide. Who is it?";
    assert_int_equal(p.conf.task->story_read(&p.in, fact_twice, &p.conf, &p.err), RUNG_INPUT);
    if (!strstr(p.err.text, "fact not stated yet")) fail_msg("%s", p.err.text);
    prompts_close(&p);
    prompts_open(&p, "eva N=2 V=2"); /* a person of a larger prompt */
    const char *stranger = "Sekun lives in Gidostad. Gupen lives in Gidostad. Where does Sekun live?";
    assert_int_equal(p.conf.task->story_read(&p.in, stranger, &p.conf, &p.err), RUNG_INPUT);
    if (!strstr(p.err.text, "name that this prompt uses")) fail_msg("%s", p.err.text);
    prompts_close(&p);
    prompts_open(&p, "eva N=2 V=2"); /* the same person twice leaves another one without a home */
    const char *twice = "Sekun lives in Gidostad. Sekun lives in Gidostad. Where does Sekun live?";
    assert_int_equal(p.conf.task->story_read(&p.in, twice, &p.conf, &p.err), RUNG_INPUT);
    if (!strstr(p.err.text, "no home yet")) fail_msg("%s", p.err.text);
    prompts_close(&p);
}

static void numbers_that_would_wrap_around_are_refused(void **state)
{
    (void)state;
    reading r;
    rung_buf longer;
    reading_open(&r, "k-hop N=6 k=1");
    rung_buf_init(&longer);
    const char *text = write_facts(&r, 0), *number = strstr(text, "Make 1 hops");
    assert_non_null(number);
    rung_buf_add(&longer, text, (size_t)(number - text));
    rung_buf_printf(&longer, "Make 18446744073709551617 hops%s", number + strlen("Make 1 hops")); /* 2^64 + 1 */
    assert_int_equal(r.p.conf.task->story_read(&r.p.in, longer.text, &r.p.conf, &r.p.err), RUNG_INPUT);
    rung_buf_clear(&longer);
    reading_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_follow_from_the_prose_of_eva),
        cmocka_unit_test(answers_follow_from_the_prose_of_seqcomp),
        cmocka_unit_test(every_level_has_people_of_its_own),
        cmocka_unit_test(order_of_sentences_says_nothing_about_positions),
        cmocka_unit_test(spoilt_prose_is_refused),
        cmocka_unit_test(numbers_that_would_wrap_around_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
