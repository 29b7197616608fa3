/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Text over chosen names: it reads back, whatever the options; its answer follows from reading it as a person would; the
 * names are all that changes; spoilt text is refused.
 */
#include "every_task.h"

/* Names of which one may begin another. */
typedef struct name_list {
    char (*text)[24];
    const char **at;
    size_t count;
} name_list;

static void list_open(name_list *list, size_t count)
{
    list->count = count;
    list->text = calloc(count + 1, sizeof *list->text);
    list->at = calloc(count + 1, sizeof *list->at);
    for (size_t i = 0; i < count; i++) {
        snprintf(list->text[i], sizeof list->text[i], "w%zu", (i * 7 + 3) % count);
        list->at[i] = list->text[i];
    }
    /* 7 may divide the count: fall back to the plain order. */
    rung_error err;
    if (rung_text_names_check(list->at, count, &err) == RUNG_OK) return;
    for (size_t i = 0; i < count; i++) snprintf(list->text[i], sizeof list->text[i], "w%zu", i);
}

static void list_close(name_list *list)
{
    free(list->text);
    free(list->at);
}

typedef struct text_case {
    prompts written, read;
    name_list names;
    rung_text_options options;
    rung_buf text, answer, again;
    rung_text_book *book;
} text_case;

static void case_open(text_case *c, const char *task)
{
    memset(c, 0, sizeof *c);
    prompts_open(&c->written, task);
    prompts_open(&c->read, task);
    list_open(&c->names, rung_text_names(&c->written.conf, RUNG_TEXT_FACTS));
}

static void case_close(text_case *c)
{
    prompts_close(&c->written);
    prompts_close(&c->read);
    list_close(&c->names);
    rung_buf_clear(&c->text);
    rung_buf_clear(&c->answer);
    rung_buf_clear(&c->again);
}

static void case_write(text_case *c)
{
    rung_buf_reset(&c->text);
    rung_buf_reset(&c->answer);
    rung_text_write(&c->text, &c->written.in, &c->written.conf, c->names.at, &c->options);
    size_t answer = rung_text_answer(&c->written.in, &c->written.conf, &c->options);
    assert_true(answer < rung_text_answers(&c->written.conf, &c->options));
    rung_text_answer_write(&c->answer, &c->written.conf, c->names.at, &c->options, answer);
}

static void case_read(text_case *c, const char *text, const char *const *names)
{
    rung_status status = rung_text_read(&c->read.in, &c->book, text, &c->read.conf, names, &c->read.err);
    if (status != RUNG_OK) fail_msg("%s\n%.3000s", c->read.err.text, text);
}

/* The prompt that was read has the written answer, by name. */
static void case_same_answer(text_case *c)
{
    assert_int_equal(prompts_solve(&c->read), RUNG_OK);
    int32_t answer = c->read.in.target[rung_instance_last_target(&c->read.in)];
    rung_buf_reset(&c->again);
    rung_text_book_answer(&c->again, c->book, &c->read.conf, answer);
    if (strcmp(c->again.text, c->answer.text) != 0)
        fail_msg("'%s', not '%s': %.3000s", c->again.text, c->answer.text, c->text.text);
}

static void check_round_trip(text_case *c)
{
    case_write(c);
    assert_null(strstr(c->text.text, "\n\n"));
    /* With the names: the same tokens, unless the order of entries is part of the prompt and was changed. */
    case_read(c, c->text.text, c->names.at);
    assert_int_equal(c->read.in.tokens, c->written.in.tokens);
    bool moved = c->options.shuffled;
    if (!moved) assert_memory_equal(c->read.in.token, c->written.in.token, c->read.in.tokens * sizeof(uint32_t));
    case_same_answer(c);
    rung_text_book_free(c->book);
    /* Without: the same up to ids. */
    case_read(c, c->text.text, NULL);
    assert_int_equal(rung_text_book_spelling(c->book), c->options.spelling);
    case_same_answer(c);
    rung_text_book_free(c->book);
}

static size_t tasks_with_text;

static void reads_back(const char *task)
{
    text_case c;
    case_open(&c, task);
    for (unsigned code = 0; code < 64; code++) {
        c.options = (rung_text_options){
            .spelling = code & 1 ? RUNG_TEXT_TABLE : RUNG_TEXT_FACTS,
            .shuffled = code & 2,
            .seed = code,
            .question_first = code & 4,
            .chain_of_thought = code & 8,
            .cue = code & 16,
        };
        if (rung_text_check(&c.written.conf, &c.options, &c.read.err) != RUNG_OK) continue;
        tasks_with_text += code == 0;
        prompts_make(&c.written, code);
        check_round_trip(&c);
    }
    case_close(&c);
}

static void every_task_with_text_reads_back_with_any_options(void **state)
{
    (void)state;
    tasks_with_text = 0;
    for_each_task(reads_back);
    for (size_t i = 0; i < RUNG_COUNT(text_cases); i++) {
        if (strstr(text_cases[i], "5000") || strstr(text_cases[i], "2048")) continue; /* the same at a thousandth */
        reads_back(text_cases[i]);
    }
    assert_true(tasks_with_text >= 20);
}

static void words_read_back(const char *task)
{
    text_case c;
    case_open(&c, task);
    c.options = (rung_text_options){.spelling = RUNG_TEXT_WORDS};
    if (rung_text_check(&c.written.conf, &c.options, &c.read.err) == RUNG_OK) {
        prompts_make(&c.written, 3);
        if (rung_instance_last_target(&c.written.in) != SIZE_MAX) check_round_trip(&c);
    } else {
        assert_null(c.written.conf.task->token_word);
    }
    case_close(&c);
}

static void every_task_over_tokens_reads_back_from_words(void **state)
{
    (void)state;
    for_each_task(words_read_back);
}

static void a_lookup_is_answered_by_its_sentence(void **state)
{
    (void)state;
    static const char *const tasks[] = {"eva N=9", "eva form=pair", "retrieval", "assoc-recall N=12 V=30"};
    for (size_t t = 0; t < RUNG_COUNT(tasks); t++) {
        text_case c;
        case_open(&c, tasks[t]);
        for (uint64_t i = 0; i < 20; i++) {
            char key[32], fact[64], value[32];
            prompts_make(&c.written, i);
            c.options = (rung_text_options){.spelling = RUNG_TEXT_FACTS, .shuffled = i & 1, .seed = i};
            case_write(&c);
            assert_true(text_after(key, sizeof key, c.text.text, "What is the value of ", "?"));
            snprintf(fact, sizeof fact, "The value of %s is ", key);
            assert_true(text_after(value, sizeof value, c.text.text, fact, "."));
            assert_string_equal(value, c.answer.text);
            c.options.spelling = RUNG_TEXT_TABLE;
            case_write(&c);
            snprintf(fact, sizeof fact, "\n| %s | ", key);
            assert_true(text_after(value, sizeof value, c.text.text, fact, " "));
            assert_string_equal(value, c.answer.text);
        }
        case_close(&c);
    }
}

/* Walks "Start at X. Take its guide, then the mentor at P. Which name ..." through the sentences. */
static void walk(const text_case *c)
{
    char person[32], fact[160];
    const char *text = c->text.text;
    assert_true(text_after(person, sizeof person, text, "Start at ", "."));
    const char *route = strstr(text, "Take its ") + strlen("Take its ");
    for (bool more = true; more;) {
        char relation[32], place[48] = "";
        size_t len = strcspn(route, ",."), word = strcspn(route, " ,.");
        snprintf(relation, sizeof relation, "%.*s", (int)word, route);
        if (word < len) snprintf(place, sizeof place, "%.*s", (int)(len - word), route + word);
        snprintf(fact, sizeof fact, "The %s of %s%s is ", relation, person, place);
        if (!text_after(person, sizeof person, text, fact, ".")) fail_msg("no '%s' in %s", fact, text);
        more = route[len] == ',';
        route += len + (more ? strlen(", then the ") : 0);
    }
    assert_string_equal(person, c->answer.text);
}

static void a_composition_is_answered_by_following_its_sentences(void **state)
{
    (void)state;
    static const char *const tasks[] = {"seqcomp", "seqcomp L=1 N0=5", "seqcomp L=4 N0=4 n=3 flat=1 form=pair",
                                        "seqcomp L=3 N0=3 n=2,5 order=first", "seqcomp L=3 N0=2 V=5"};
    for (size_t t = 0; t < RUNG_COUNT(tasks); t++) {
        text_case c;
        case_open(&c, tasks[t]);
        size_t levels = (size_t)rung_task_param(&c.written.conf, "L");
        for (uint64_t i = 0; i < 40; i++) {
            prompts_make(&c.written, i);
            c.options = (rung_text_options){
                .spelling = RUNG_TEXT_FACTS, .shuffled = i & 1, .seed = i, .hops = i % (levels + 1)};
            assert_int_equal(rung_text_check(&c.written.conf, &c.options, NULL), RUNG_OK);
            case_write(&c);
            walk(&c);
        }
        c.options.hops = levels + 1;
        assert_int_equal(rung_text_check(&c.written.conf, &c.options, NULL), levels ? RUNG_USAGE : RUNG_OK);
        case_close(&c);
    }
}

/* "The value of b is that of a." leads from b to a, until there is a value. Fewer hops ask for a variable nearer to it. */
static void a_variable_is_answered_by_following_its_sentences(void **state)
{
    (void)state;
    text_case c;
    case_open(&c, "variable-tracking chains=3 hops=3 V=5 K=14");
    for (uint64_t i = 0; i < 60; i++) {
        char name[32], fact[80], next[64];
        size_t sentences = 0, hops = i % 5;
        prompts_make(&c.written, i);
        c.options = (rung_text_options){.spelling = i & 1 ? RUNG_TEXT_FACTS : RUNG_TEXT_TABLE, .hops = hops};
        assert_int_equal(rung_text_check(&c.written.conf, &c.options, NULL), RUNG_OK);
        case_write(&c);
        assert_true(text_after(name, sizeof name, c.text.text, "What is the value of ", "?"));
        for (bool more = true; more; sentences++) {
            const char *copy = i & 1 ? "that of " : "same as ";
            snprintf(fact, sizeof fact, i & 1 ? " The value of %s is " : "\n| %s | ", name);
            assert_true(text_after(next, sizeof next, c.text.text, fact, i & 1 ? "." : "|"));
            if (!(i & 1)) next[strlen(next) - 1] = '\0'; /* the space before the bar */
            more = strncmp(next, copy, strlen(copy)) == 0;
            snprintf(name, sizeof name, "%s", next + (more ? strlen(copy) : 0));
        }
        assert_string_equal(name, c.answer.text);
        assert_int_equal(sentences, hops ? hops : 4);
        case_read(&c, c.text.text, c.names.at);
        case_same_answer(&c);
        rung_text_book_free(c.book);
    }
    c.options.hops = 5;
    assert_int_equal(rung_text_check(&c.written.conf, &c.options, NULL), RUNG_USAGE);
    case_close(&c);
}

/* Fewer hops of k-hop are prompts of the same task; the oracle is asked. */
static void fewer_hops_are_answered_as_the_oracle_does(void **state)
{
    (void)state;
    text_case c;
    size_t none = 0;
    case_open(&c, "k-hop N=24 k=5 alphabet=5 targets=last");
    for (uint64_t i = 0; i < 200; i++) {
        prompts_make(&c.written, i);
        c.options = (rung_text_options){.spelling = RUNG_TEXT_FACTS, .hops = 1 + i % 5};
        case_write(&c);
        case_read(&c, c.text.text, c.names.at);
        assert_int_equal(c.read.in.token[0], 5 + 1 + i % 5);
        case_same_answer(&c);
        rung_text_book_free(c.book);
        none += strcmp(c.answer.text, "none") == 0;
    }
    assert_true(none > 0 && none < 200);
    case_close(&c);
}

/* The control of two-sum names the partner; the answer stays. */
static void the_control_of_two_sum_is_a_search(void **state)
{
    (void)state;
    text_case c;
    case_open(&c, "two-sum N=9 M=30 blank=1");
    for (uint64_t i = 0; i < 60; i++) {
        char number[16], item[32];
        prompts_make(&c.written, i);
        c.options = (rung_text_options){.spelling = RUNG_TEXT_TABLE, .hops = 1};
        check_round_trip(&c);
        assert_true(text_after(number, sizeof number, c.text.text, "Is in the list the number ", "?"));
        snprintf(item, sizeof item, "\n| %s |", number);
        assert_string_equal(c.answer.text, strstr(c.text.text, item) ? "yes" : "no");
    }
    case_close(&c);
}

static void examples_before_a_prompt_are_not_read(void **state)
{
    (void)state;
    text_case c;
    case_open(&c, "seqcomp");
    rung_buf all, line;
    rung_buf_init(&all);
    rung_buf_init(&line);
    c.options = (rung_text_options){.spelling = RUNG_TEXT_FACTS, .solved = true};
    for (uint64_t i = 0; i < 3; i++) {
        prompts_make(&c.written, i);
        case_write(&c);
        rung_buf_puts(&all, c.text.text);
        rung_buf_reset(&line);
        rung_buf_printf(&line, "\nAnswer: %s\n\n", c.answer.text);
        assert_string_equal(c.text.text + c.text.len - line.len, line.text);
    }
    c.options = (rung_text_options){.spelling = RUNG_TEXT_TABLE, .cue = true};
    prompts_make(&c.written, 9);
    case_write(&c);
    assert_string_equal(c.text.text + c.text.len - 7, "Answer:");
    rung_buf_puts(&all, c.text.text);
    rung_buf_puts(&all, " \n\n");
    case_read(&c, all.text, c.names.at);
    assert_memory_equal(c.read.in.token, c.written.in.token, c.read.in.tokens * sizeof(uint32_t));
    rung_text_book_free(c.book);
    rung_buf_clear(&all);
    rung_buf_clear(&line);
    case_close(&c);
}

static void names_that_could_be_confused_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {{"a", "a"},  {"a", ""},     {"a", "b c"}, {"a", "b."}, {"a|", "b"},
                                         {"a", "no"}, {"none", "b"}, {"a", "b\n"}, {"(a", "b"}, {"a", "b?"}};
    rung_error err;
    for (size_t i = 0; i < RUNG_COUNT(bad); i++) {
        err.text[0] = 0;
        assert_int_equal(rung_text_names_check(bad[i], 2, &err), RUNG_USAGE);
        assert_true(err.text[0]);
    }
    static const char *const good[] = {"a", "aa", "A", "\xc3\xa9t\xc3\xa9", "42", "a-b"};
    assert_int_equal(rung_text_names_check(good, RUNG_COUNT(good), &err), RUNG_OK);
    const char *candidates[4096];
    size_t count = 0;
    while (count < 4096 && (candidates[count] = rung_text_candidate_at(count))) count++;
    assert_true(count > 1000 && count < 4096);
    if (rung_text_names_check(candidates, count, &err) != RUNG_OK) fail_msg("%s", err.text);
}

/* Any byte changed, removed or doubled: refused, or a text that says the same or something else; never more. */
static void spoilt_text_is_refused_or_read(void **state)
{
    (void)state;
    static const char *const tasks[] = {
        "seqcomp form=pair", "eva N=5",    "index N=5",        "k-hop N=9",
        "two-sum N=5",       "parity N=5", "self-compose N=5", "variable-tracking chains=2 hops=1"};
    rung_rng rng;
    size_t refused = 0, total = 0;
    rung_rng_init(&rng, 11, 0, 0);
    for (size_t t = 0; t < RUNG_COUNT(tasks); t++) {
        text_case c;
        case_open(&c, tasks[t]);
        for (uint64_t i = 0; i < 1500; i++, total++) {
            prompts_make(&c.written, i);
            c.options =
                (rung_text_options){.spelling = i & 1 ? RUNG_TEXT_FACTS : RUNG_TEXT_TABLE, .question_first = i & 2};
            case_write(&c);
            size_t at = rung_rng_below(&rng, c.text.len);
            if (i % 3 == 0) c.text.text[at] = (char)(1 + rung_rng_below(&rng, 255));
            if (i % 3 == 1) memmove(c.text.text + at, c.text.text + at + 1, c.text.len - at);
            if (i % 3 == 2) c.text.text[at] = '\0';
            rung_status status = rung_text_read(&c.read.in, &c.book, c.text.text, &c.read.conf, NULL, &c.read.err);
            refused += status != RUNG_OK;
            if (status != RUNG_OK) assert_null(c.book);
            if (status != RUNG_OK) assert_int_equal(status, RUNG_INPUT);
            for (size_t k = 0; status == RUNG_OK && k < c.read.in.tokens; k++)
                assert_true(c.read.in.token[k] < c.read.conf.vocab);
            rung_text_book_free(c.book);
        }
        case_close(&c);
    }
    assert_true(refused > total / 2);
}

static void what_has_no_text_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *task;
        rung_text_options options;
        const char *says;
    } cases[] = {
        {"dyck", {.spelling = RUNG_TEXT_FACTS}, "words"},
        {"q-sparse-average", {.spelling = RUNG_TEXT_WORDS}, "feature"},
        {"k-hop", {.spelling = RUNG_TEXT_FACTS, .shuffled = true}, "order"},
        {"variable-tracking", {.spelling = RUNG_TEXT_TABLE, .shuffled = true}, "order"},
        {"stacks", {.spelling = RUNG_TEXT_FACTS}, "words"},
        {"eva", {.spelling = RUNG_TEXT_WORDS, .hops = 1}, "facts or table"},
        {"two-sum form=position", {.spelling = RUNG_TEXT_FACTS}, "form=query"},
        {"two-sum form=global", {.spelling = RUNG_TEXT_FACTS, .hops = 1}, "form=query"},
        {"self-compose ask=value", {.spelling = RUNG_TEXT_FACTS}, "ask=zero"},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_task_conf conf;
        rung_error err = {{0}};
        assert_int_equal(rung_task_conf_parse(&conf, cases[i].task, &err), RUNG_OK);
        assert_int_equal(rung_text_check(&conf, &cases[i].options, &err), RUNG_USAGE);
        if (!strstr(err.text, cases[i].says)) fail_msg("%s: %s", cases[i].task, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_with_text_reads_back_with_any_options),
        cmocka_unit_test(every_task_over_tokens_reads_back_from_words),
        cmocka_unit_test(a_lookup_is_answered_by_its_sentence),
        cmocka_unit_test(a_composition_is_answered_by_following_its_sentences),
        cmocka_unit_test(a_variable_is_answered_by_following_its_sentences),
        cmocka_unit_test(fewer_hops_are_answered_as_the_oracle_does),
        cmocka_unit_test(the_control_of_two_sum_is_a_search),
        cmocka_unit_test(examples_before_a_prompt_are_not_read),
        cmocka_unit_test(names_that_could_be_confused_are_refused),
        cmocka_unit_test(spoilt_text_is_refused_or_read),
        cmocka_unit_test(what_has_no_text_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
