/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A player knows its tokens and its messages: with every other token replaced and the same messages it says and answers the same. And
 * the messages matter: who is lied to about one gets something else, so the comparison with one piece would notice.
 */
#include "protocol_test.h"

/* ---- recorded messages ----------------------------------------------------------------------------------------------------- */

typedef struct record {
    rung_letter *letter;
    size_t count, room;
} record;

static rung_status keep_letter(void *context, rung_letter *letter, rung_error *err)
{
    (void)err;
    record *r = context;
    if (r->count == r->room) {
        r->room = 2 * r->room + 64;
        r->letter = realloc(r->letter, r->room * sizeof *r->letter);
    }
    rung_letter *copy = &r->letter[r->count++];
    *copy = *letter;
    copy->bytes = malloc((size_t)letter->bits / 8 + 1);
    memcpy(copy->bytes, letter->bytes, (size_t)(letter->bits + 7) / 8);
    return RUNG_OK;
}

static void record_clear(record *r)
{
    for (size_t i = 0; i < r->count; i++) free(r->letter[i].bytes);
    free(r->letter);
    *r = (record){0};
}

static const rung_letter *find(const record *r, const rung_letter *like)
{
    for (size_t i = 0; i < r->count; i++) {
        const rung_letter *l = &r->letter[i];
        if (l->what == like->what && l->layer == like->layer && l->group == like->group && l->from == like->from &&
            l->to == like->to && l->whose == like->whose)
            return l;
    }
    return NULL;
}

/* ---- nobody knows more than it is told -------------------------------------------------------------------------------------- */

typedef struct deception {
    const record *truth; /* of the prompt that player `whom` believes in */
    size_t whom, told, said, different;
} deception;

static rung_status deceive(void *context, rung_letter *letter, rung_error *err)
{
    (void)err;
    deception *d = context;
    if (letter->to != d->whom && letter->from != d->whom) return RUNG_OK;
    const rung_letter *truth = find(d->truth, letter);
    if (!truth || truth->bits != letter->bits)
        fail_msg("%s of layer %zu from %zu to %zu: another size", rung_sent_names[letter->what], letter->layer,
                 letter->from, letter->to);
    size_t bytes = (size_t)(letter->bits + 7) / 8;
    if (letter->from == d->whom) {
        if (memcmp(letter->bytes, truth->bytes, bytes) != 0)
            fail_msg("player %zu knows more than it was told: %s of layer %zu", d->whom, rung_sent_names[letter->what],
                     letter->layer);
        d->said++;
        return RUNG_OK;
    }
    d->different += memcmp(letter->bytes, truth->bytes, bytes) != 0;
    memcpy(letter->bytes, truth->bytes, bytes);
    d->told++;
    return RUNG_OK;
}

/* Other tokens for everybody but `whom`. */
static void scramble(match *m, size_t whom, uint64_t seed)
{
    match other = *m;
    draw_tokens(&other, m->tokens, seed);
    memcpy(other.token + m->player[whom].start, m->token + m->player[whom].start,
           m->player[whom].len * sizeof *m->token);
    memcpy(m->token, other.token, m->tokens * sizeof *m->token);
}

static void check_player(const match *m, const record *truth, const rung_transcript *believed, size_t whom)
{
    match lie = *m;
    rung_transcript t;
    deception d = {.truth = truth, .whom = whom};
    size_t answers = rung_model_get_spec(m->model)->answers, heard = 0;
    scramble(&lie, whom, 1000 + whom);
    lie.tap = deceive, lie.context = &d;
    CHECK(play_match(&t, &lie, &check_err));
    for (size_t i = 0; i < m->asked; i++) {
        const rung_span *span = &m->player[whom];
        if (m->at[i] < span->start || m->at[i] >= span->start + span->len) continue;
        assert_memory_equal(t.out + i * answers, believed->out + i * answers, answers * sizeof *t.out);
        heard++;
    }
    assert_true(d.said + heard > 0 && (whom == 0 || d.different > 0)); /* the lie was one */
    rung_transcript_clear(&t);
}

static void a_player_knows_its_tokens_and_its_messages_only(void **state)
{
    (void)state;
    static const char *const archs[] = {"full",
                                        "linear,full,delta",
                                        "full,full",
                                        "mamba2@1|full@1,gla",
                                        "rwkv7,rnn",
                                        "window:W=3,full",
                                        "loglinear,kda",
                                        "full:conv=3,delta:conv=2:gate=1",
                                        "sparse:B=4:k=1,sparse:B=4:k=1",
                                        "sparse:B=2:k=2:branches=nsa:W=3,full,linear"};
    for (size_t a = 0; a < RUNG_COUNT(archs); a++) {
        rung_model_spec spec = small_spec(archs[a]);
        spec.mlp = "relu", spec.positions = RUNG_POS_LEARNED;
        match m = match_of(&spec, "bf16", a);
        record truth = {0};
        rung_transcript t;
        draw_tokens(&m, 14, a);
        add_player(&m, 4), add_player(&m, 4), add_player(&m, 4), add_player(&m, 2);
        m.at[m.asked++] = 9, m.at[m.asked++] = 13;
        m.tap = keep_letter, m.context = &truth;
        CHECK(play_match(&t, &m, &check_err));
        m.tap = NULL;
        assert_true(same_as_whole(&t, &m, true));
        for (size_t i = 0; i < m.players; i++) check_player(&m, &truth, &t, i);
        rung_transcript_clear(&t);
        record_clear(&truth);
        match_clear(&m);
    }
}

/* ---- every part of a message matters ------------------------------------------------------------------------------------------ */

typedef struct mutant {
    const char *arch, *what;
    rung_protocol_tap *change;
} mutant;

/* Field i of every accumulator becomes zero. */
static void blank_field(rung_letter *letter, const rung_fmt *fmt, size_t each, size_t field)
{
    size_t count = (size_t)letter->bits / (size_t)fmt->bits;
    double *x = calloc(count, sizeof *x);
    rung_num_unpack(x, fmt, letter->bytes, count);
    for (size_t i = field; i < count; i += each) x[i] = 0;
    rung_num_pack(letter->bytes, fmt, x, count);
    free(x);
}

enum { ACCUMULATOR = 5 }; /* m, den and the dv = 3 of small_spec */

static rung_status drop_maximum(void *context, rung_letter *letter, rung_error *err)
{
    (void)err;
    if (letter->what == RUNG_SENT_ACCUMULATORS) blank_field(letter, context, ACCUMULATOR, 0);
    return RUNG_OK;
}

static rung_status drop_denominator(void *context, rung_letter *letter, rung_error *err)
{
    (void)err;
    if (letter->what == RUNG_SENT_ACCUMULATORS) blank_field(letter, context, ACCUMULATOR, 1);
    return RUNG_OK;
}

static rung_status drop_numerator(void *context, rung_letter *letter, rung_error *err)
{
    (void)err;
    if (letter->what == RUNG_SENT_ACCUMULATORS) blank_field(letter, context, ACCUMULATOR, 4);
    return RUNG_OK;
}

static rung_status blank(rung_letter *letter, rung_sent what)
{
    if (letter->what == what) memset(letter->bytes, 0, (size_t)(letter->bits + 7) / 8);
    return RUNG_OK;
}

static rung_status forget_state(void *context, rung_letter *letter, rung_error *err)
{
    (void)context, (void)err;
    return blank(letter, RUNG_SENT_STATE);
}

static rung_status forget_summaries(void *context, rung_letter *letter, rung_error *err)
{
    (void)context, (void)err;
    return blank(letter, RUNG_SENT_SUMMARIES);
}

static rung_status forget_opened(void *context, rung_letter *letter, rung_error *err)
{
    (void)context, (void)err;
    return blank(letter, RUNG_SENT_OPENED);
}

static rung_status forget_window(void *context, rung_letter *letter, rung_error *err)
{
    (void)context, (void)err;
    return blank(letter, RUNG_SENT_WINDOW);
}

static rung_status hide_queries(void *context, rung_letter *letter, rung_error *err)
{
    (void)context, (void)err;
    return blank(letter, RUNG_SENT_QUERIES);
}

static void a_lie_in_any_kind_of_message_is_seen(void **state)
{
    (void)state;
    static const mutant mutants[] = {
        {"full", "accumulators without their maximum", drop_maximum},
        {"full", "accumulators without their denominator", drop_denominator},
        {"full", "accumulators without a numerator", drop_numerator},
        {"full,full", "queries that are not shown", hide_queries},
        {"linear", "a player that starts from a zero state", forget_state},
        {"delta,full", "a player that starts from a zero state", forget_state},
        {"full:conv=3", "a convolution that starts from zeros", forget_state},
        {"window:W=4", "a window that begins with the player", forget_state},
        {"sparse:B=4:k=1", "blocks without summaries", forget_summaries},
        {"sparse:B=4:k=1", "opened blocks of zeros", forget_opened},
        {"sparse:B=4:k=1:branches=nsa:W=6", "a window of zeros", forget_window},
    };
    for (size_t i = 0; i < RUNG_COUNT(mutants); i++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            rung_model_spec spec = small_spec(mutants[i].arch);
            spec.positions = RUNG_POS_LEARNED;
            match m = match_of(&spec, "f32", seed);
            rung_transcript t;
            draw_tokens(&m, 15, seed);
            add_player(&m, 4), add_player(&m, 8), add_player(&m, 3);
            m.at[m.asked++] = seed % 2 ? 14 : 12;
            CHECK(play_match(&t, &m, &check_err));
            assert_true(same_as_whole(&t, &m, true));
            rung_transcript_clear(&t);
            m.tap = mutants[i].change, m.context = &m.fmt;
            CHECK(play_match(&t, &m, &check_err));
            if (same_as_whole(&t, &m, false)) fail_msg("%s: nobody notices %s", mutants[i].arch, mutants[i].what);
            rung_transcript_clear(&t);
            match_clear(&m);
        }
}

/* NaN in the n-th letter of opened keys and values. */
typedef struct poison {
    const rung_fmt *fmt;
    size_t next, at;
} poison;

static rung_status poison_opened(void *context, rung_letter *letter, rung_error *err)
{
    (void)err;
    poison *x = context;
    if (letter->what != RUNG_SENT_OPENED || x->next++ != x->at) return RUNG_OK;
    double nan[8 * PROMPT_MAX];
    size_t count = (size_t)letter->bits / (size_t)x->fmt->bits;
    assert_true(count <= RUNG_COUNT(nan));
    for (size_t i = 0; i < count; i++) nan[i] = NAN;
    rung_num_pack(letter->bytes, x->fmt, nan, count);
    return RUNG_OK;
}

/* One head, and a player for every block: a letter is one opened block. */
static void nothing_is_opened_that_is_not_read(void **state)
{
    (void)state;
    static const char *const archs[] = {"sparse:B=4:k=2:own=0@1", "sparse:B=4:k=1:own=0@1", "sparse:B=2:k=3@1",
                                        "sparse:B=4:k=2@1,sparse:B=4:k=1:own=0@1"};
    size_t opened = 0;
    for (uint64_t seed = 0; seed < 24; seed++) {
        rung_model_spec spec = small_spec(archs[seed % RUNG_COUNT(archs)]);
        spec.positions = RUNG_POS_LEARNED;
        match m = match_of(&spec, "bf16", seed);
        poison x = {.fmt = &m.fmt, .at = SIZE_MAX};
        rung_transcript t;
        draw_tokens(&m, 20, seed);
        for (int i = 0; i < 5; i++) add_player(&m, 4);
        m.at[m.asked++] = 19;
        CHECK(play_match(&t, &m, &check_err));
        size_t letters = (size_t)t.letters[RUNG_SENT_OPENED];
        rung_transcript_clear(&t);
        m.tap = poison_opened, m.context = &x;
        for (size_t n = 0; n < letters; n++, opened++) {
            x.next = 0, x.at = n;
            assert_int_equal(play_match(&t, &m, NULL), RUNG_INPUT);
            rung_transcript_clear(&t);
        }
        match_clear(&m);
    }
    assert_true(opened > 20);
}

/* Without positions the same keys in another order are the same real numbers, but not the same bits: players that add in the wrong
 * order do not get through. */
static void the_order_of_the_players_is_in_the_bits(void **state)
{
    (void)state;
    size_t different = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        rung_model_spec spec = small_spec("full");
        match m = match_of(&spec, "e8m3", seed);
        rung_transcript t, swapped;
        uint32_t half[6];
        draw_tokens(&m, 13, seed);
        add_player(&m, 6), add_player(&m, 6), add_player(&m, 1);
        m.at[m.asked++] = 12;
        CHECK(play_match(&t, &m, &check_err));
        memcpy(half, m.token, sizeof half);
        memmove(m.token, m.token + 6, sizeof half);
        memcpy(m.token + 6, half, sizeof half);
        CHECK(play_match(&swapped, &m, &check_err));
        different += memcmp(t.out, swapped.out, spec.answers * sizeof *t.out) != 0;
        rung_transcript_clear(&t), rung_transcript_clear(&swapped);
        match_clear(&m);
    }
    assert_true(different >= 8);
}

/* The last layer computes nothing for tokens that nobody asks, and hears nothing for them. */
static void tokens_that_nobody_asks_get_no_accumulators_in_the_last_layer(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full,full");
    match m = match_of(&spec, "bf16", 5);
    rung_transcript t;
    draw_tokens(&m, 10, 5);
    add_player(&m, 4), add_player(&m, 5), add_player(&m, 1);
    m.at[m.asked++] = 9;
    CHECK(play_match(&t, &m, &check_err));
    uint64_t each = 2 * (3 + 2) * 16; /* H (dv+2) p */
    assert_int_equal(rung_transcript_bits(&t, 0, 0), 6 * each);
    assert_int_equal(rung_transcript_bits(&t, 0, 1), 1 * each);
    assert_int_equal(rung_transcript_bits(&t, 1, 0), 1 * each);
    assert_int_equal(rung_transcript_bits(&t, 1, 1), 1 * each);
    rung_transcript_clear(&t);
    match_clear(&m);
}

/* A tap that refuses ends the game with its message. */
static rung_status refuse(void *context, rung_letter *letter, rung_error *err)
{
    (void)context, (void)letter;
    return rung_fail(err, RUNG_SYSTEM, "the wire is cut");
}

static void a_wire_that_fails_ends_the_game(void **state)
{
    (void)state;
    static const char *const archs[] = {"full", "linear", "sparse:B=4:k=1"};
    for (size_t a = 0; a < RUNG_COUNT(archs); a++) {
        rung_model_spec spec = small_spec(archs[a]);
        match m = match_of(&spec, "bf16", 1);
        rung_transcript t;
        rung_error err = {""};
        draw_tokens(&m, 9, 1);
        add_player(&m, 8), add_player(&m, 1);
        m.at[m.asked++] = 8, m.tap = refuse;
        assert_int_equal(play_match(&t, &m, &err), RUNG_SYSTEM);
        assert_string_equal(err.text, "the wire is cut");
        rung_transcript_clear(&t);
        match_clear(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_player_knows_its_tokens_and_its_messages_only),
        cmocka_unit_test(a_lie_in_any_kind_of_message_is_seen),
        cmocka_unit_test(nothing_is_opened_that_is_not_read),
        cmocka_unit_test(the_order_of_the_players_is_in_the_bits),
        cmocka_unit_test(tokens_that_nobody_asks_get_no_accumulators_in_the_last_layer),
        cmocka_unit_test(a_wire_that_fails_ends_the_game),
    };
    return cmocka_run_group_tests(tests, NULL, remove_test_file);
}
