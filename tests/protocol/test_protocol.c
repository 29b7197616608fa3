/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The same bits as one evaluator that sees the whole prompt, for every mechanism and everything that a layer may have around it; and
 * the bits that were sent, counted a second way from the sizes of the architecture.
 */
#include "protocol_test.h"

/* ---- the formula ------------------------------------------------------------------------------------------------------------- */

static bool is(const rung_mech_conf *conf, const char *name)
{
    return strcmp(conf->mech->name, name) == 0;
}

/* Tokens from `cut` on that need an output of the layer. */
static size_t receivers(const match *m, size_t cut, bool last)
{
    size_t count = 0;
    for (size_t i = 0; i < m->asked; i++) count += m->at[i] >= cut;
    return last ? count : m->tokens - cut;
}

/* Bits of state, accumulators and summaries over the cut before token `cut`, of one group. */
static uint64_t group_bits(const match *m, const rung_mech_conf *conf, size_t cut, bool last)
{
    uint64_t p = (uint64_t)m->fmt.bits, H = conf->heads;
    uint64_t conv = conf->conv ? rung_head_group_conv_elements(conf) : 0;
    if (is(conf, "full")) return p * (conv + H * (conf->dv + 2) * receivers(m, cut, last));
    size_t summary = conf->dk + (is(conf, "sparse") && rung_mech_param(conf, "shared") ? 0 : conf->dv);
    if (is(conf, "sparse")) return p * (conv + cut / (size_t)rung_mech_param(conf, "B") * H * summary);
    if (is(conf, "window")) {
        size_t W = (size_t)rung_mech_param(conf, "W");
        return p * (conv + (cut < W ? cut : W) * H * (conf->dk + conf->dv));
    }
    rung_carry carry = conf->mech->carry(conf, cut);
    assert_true(carry.cache == 0 && carry.window == 0);
    return p * (conv + carry.recurrent);
}

/* Bits of window branches over cut c: of each later player the tokens before the cut that its first asking token sees. */
static uint64_t window_bits(const match *m, const rung_mech_conf *conf, size_t c, bool last)
{
    uint64_t tokens = 0;
    size_t W = is(conf, "sparse") ? (size_t)rung_mech_param(conf, "W") : 0, cut = m->player[c + 1].start;
    for (size_t i = c + 1; W && i < m->players; i++) {
        size_t end = m->player[i].start + m->player[i].len, first = last ? end : m->player[i].start;
        for (size_t n = m->asked; last && n-- > 0;)
            if (m->at[n] >= m->player[i].start && m->at[n] < end) first = m->at[n];
        if (first < end && first + 1 < cut + W) tokens += first + 1 >= W ? cut - (first + 1 - W) : cut;
    }
    return tokens * conf->heads * (conf->dk + conf->dv) * (uint64_t)m->fmt.bits;
}

static void check_ledger(const rung_transcript *t, const match *m)
{
    const rung_arch *arch = rung_model_get_arch(m->model);
    uint64_t all = 0, crossing = 0;
    assert_int_equal(t->layers, arch->layer_count);
    assert_int_equal(t->cuts, m->players - 1);
    for (size_t l = 0; l < arch->layer_count; l++)
        for (size_t c = 0; c < t->cuts; c++) {
            const uint64_t *bits = t->bits + (l * t->cuts + c) * RUNG_SENT_COUNTED;
            uint64_t expected = 0, windows = 0,
                     fixed = bits[RUNG_SENT_STATE] + bits[RUNG_SENT_ACCUMULATORS] + bits[RUNG_SENT_SUMMARIES];
            for (size_t g = 0; g < arch->layer[l].group_count; g++)
                expected += group_bits(m, &arch->layer[l].group[g], m->player[c + 1].start, l + 1 == arch->layer_count);
            for (size_t g = 0; g < arch->layer[l].group_count; g++)
                windows += window_bits(m, &arch->layer[l].group[g], c, l + 1 == arch->layer_count);
            assert_int_equal(bits[RUNG_SENT_WINDOW], windows);
            if (fixed != expected)
                fail_msg("layer %zu, cut %zu: %llu bits, the formula says %llu", l, c, (unsigned long long)fixed,
                         (unsigned long long)expected);
            assert_int_equal(rung_transcript_bits(t, l, c), fixed + bits[RUNG_SENT_OPENED] + bits[RUNG_SENT_WINDOW]);
            all += expected, crossing += rung_transcript_bits(t, l, c);
        }
    uint64_t far = t->sent[RUNG_SENT_OPENED] + t->sent[RUNG_SENT_WINDOW];
    assert_int_equal(rung_transcript_total(t), all + far);
    assert_true(crossing >= rung_transcript_total(t));
}

/* ---- matches ---------------------------------------------------------------------------------------------------------------------- */

static void check_match(const match *m, const char *what)
{
    rung_transcript t;
    CHECK(play_match(&t, m, &check_err));
    if (!same_as_whole(&t, m, true)) fail_msg("%s, %s: not the bits of one piece", what, m->fmt.name);
    check_ledger(&t, m);
    rung_transcript_clear(&t);
}

/* Splits into random players, at multiples of `step`; sometimes one asks in the middle. */
static void draw_players(match *m, size_t step, rung_rng *rng)
{
    size_t left = m->tokens;
    m->players = 0;
    while (left) {
        size_t len = step * (1 + rung_rng_below(rng, 3));
        if (len > left || m->players > 5) len = left;
        add_player(m, len);
        left -= len;
    }
    m->asked = 0;
    if (rung_rng_below(rng, 2) && m->tokens > 4) m->at[m->asked++] = m->tokens / 2;
    if (rung_rng_below(rng, 3) == 0 && m->tokens > 4) m->at[m->asked++] = m->tokens - 2;
    m->at[m->asked++] = m->tokens - 1;
}

static const char *const formats[] = {"bf16", "e8m3", "q7.8", "f32"};

static size_t matches_played, matches_stopped;

/* Random numbers make few NaN. */
static int most_were_played(void **state)
{
    (void)state;
    assert_true(matches_played > 10 * matches_stopped);
    return 0;
}

/* Every format; positions, norms and MLPs by turns. */
static void check_arch(const char *arch, size_t step, uint64_t seed)
{
    static const char *const mlps[] = {"none", "relu", "swiglu", "gelu"};
    rung_rng rng;
    rung_rng_init(&rng, seed, 77, 0);
    for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
        rung_model_spec spec = small_spec(arch);
        spec.positions = (rung_positions)(RUNG_POS_NONE + rung_rng_below(&rng, 4));
        spec.norm = (rung_norm)(RUNG_NORM_NONE + rung_rng_below(&rng, 3));
        spec.mlp = mlps[rung_rng_below(&rng, RUNG_COUNT(mlps))];
        match m = match_of(&spec, formats[f], rung_rng_u64(&rng));
        for (int repeat = 0; repeat < 3; repeat++) {
            double out[ASKED_MAX * ANSWERS_MAX];
            uint8_t *state;
            uint64_t bits;
            draw_tokens(&m, 1 + rung_rng_below(&rng, 26), rung_rng_u64(&rng));
            draw_players(&m, step, &rng);
            bool stops = run_whole(out, &state, &bits, &m, NULL) != RUNG_OK; /* a NaN: nothing to compare */
            free(state);
            matches_played += !stops, matches_stopped += stops;
            if (!stops) check_match(&m, arch);
        }
        match_clear(&m);
    }
}

static void every_mechanism_alone_has_the_bits_of_one_piece(void **state)
{
    (void)state;
    size_t played = 0;
    for (size_t i = 0; i < rung_mech_count(); i++) {
        const char *name = rung_mech_at(i)->name;
        if (strcmp(name, "dsa") == 0 || strcmp(name, "sparse") == 0) continue;
        for (uint64_t seed = 0; seed < 3; seed++) check_arch(name, 1, seed);
        played++;
    }
    assert_int_equal(played, 13);
}

static void hybrids_in_any_order_have_the_bits_of_one_piece(void **state)
{
    (void)state;
    static const char *const archs[] = {"linear,full,gla",      "full,full",         "window:W=3,full,mamba2",
                                        "full,rwkv7,full,rnn",  "loglinear,full",    "full,2*(delta,full)",
                                        "kda,window:W=5,mamba", "retnet,full,gdelta"};
    for (size_t a = 0; a < RUNG_COUNT(archs); a++)
        for (uint64_t seed = 0; seed < 3; seed++) check_arch(archs[a], 1, seed);
}

static void several_groups_in_a_layer_have_the_bits_of_one_piece(void **state)
{
    (void)state;
    static const char *const archs[] = {"full@1|linear@1",          "full@2|window:W=4@1|mamba2@1",
                                        "gla@1|full:dv=2@1,full@2", "loglinear@1|delta@1",
                                        "linear,full@1|gdelta@1",   "full:dv=2@1|full:dv=5@2"};
    for (size_t a = 0; a < RUNG_COUNT(archs); a++)
        for (uint64_t seed = 0; seed < 3; seed++) check_arch(archs[a], 1, seed);
}

static void convolutions_gates_and_units_have_the_bits_of_one_piece(void **state)
{
    (void)state;
    static const char *const archs[] = {"full:conv=3",
                                        "full:conv=4:gate=1:unit=1,full",
                                        "delta:conv=4:gate=1",
                                        "linear:unit=1,full:conv=2",
                                        "mamba2:conv=4:gate=1",
                                        "window:W=3:conv=3",
                                        "full:conv=3@1|gdelta:conv=2:gate=1@1"};
    for (size_t a = 0; a < RUNG_COUNT(archs); a++)
        for (uint64_t seed = 0; seed < 3; seed++) check_arch(archs[a], 1, seed);
}

static void sparse_layers_have_the_bits_of_one_piece(void **state)
{
    (void)state;
    static const char *const archs[] = {"sparse:B=4:k=1",
                                        "sparse:B=4:k=2:own=0",
                                        "sparse:B=4:k=1:comp=mlp",
                                        "sparse:B=4:k=1:shared=1:dv=4",
                                        "sparse:B=2:k=2:shared=1:comp=given:dv=4,full",
                                        "sparse:B=2:k=1:comp=given,full",
                                        "sparse:B=4:k=2:branches=nsa:W=5",
                                        "sparse:B=4:k=1:branches=nsa:W=11:comp=mlp:conv=3",
                                        "linear,sparse:B=2:k=2,sparse:B=4:k=1",
                                        "sparse:B=4:k=1@1|full@1,sparse:B=1:k=3",
                                        "sparse:B=4:k=1:lambda=0,sparse:B=4:k=9"};
    for (size_t a = 0; a < RUNG_COUNT(archs); a++)
        for (uint64_t seed = 0; seed < 4; seed++) check_arch(archs[a], 4, seed);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------------------------ */

static void players_of_tasks_have_the_bits_of_one_piece(void **state)
{
    (void)state;
    static const char *const tasks[] = {"eva N=8 V=6",          "index N=8 V=6",          "two-sum N=7 M=12 form=query",
                                        "seqcomp L=2 N0=3 n=3", "seqcomp L=3 N0=2 n=2,2", "assoc-recall N=6"};
    static const char *const archs[] = {"full", "linear,full,delta", "full@1|mamba2@1", "sparse:B=4:k=1"};
    for (size_t i = 0; i < RUNG_COUNT(tasks); i++)
        for (size_t a = 0; a < RUNG_COUNT(archs); a++) {
            rung_task_conf task;
            rung_instance instance;
            rung_span *player;
            char name[64], words[4][24];
            const char *word[4];
            int count = sscanf(tasks[i], "%63s %23s %23s %23s", name, words[0], words[1], words[2]);
            for (int w = 0; w < 4; w++) word[w] = words[w];
            CHECK(rung_task_conf_init(&task, name, word, (size_t)count - 1, &check_err));
            CHECK(rung_instance_init(&instance, &task, &check_err));
            CHECK(rung_task_make(&instance, &task, 3, a, &check_err));
            rung_model_spec spec = small_spec(archs[a]);
            spec.vocab = task.vocab, spec.answers = task.answers, spec.max_tokens = task.tokens;
            spec.positions = RUNG_POS_LEARNED;
            match m = match_of(&spec, formats[i % RUNG_COUNT(formats)], i);
            m.tokens = instance.tokens;
            memcpy(m.token, instance.token, m.tokens * sizeof *m.token);
            CHECK(rung_protocol_players(&player, &m.players, m.model, &instance, &check_err));
            memcpy(m.player, player, m.players * sizeof *player);
            m.at[m.asked++] = rung_instance_last_target(&instance);
            if (a < 3) assert_int_equal(m.players, instance.player_count);
            if (a == 3) assert_int_equal(m.players, (m.tokens + 3) / 4);
            check_match(&m, tasks[i]);
            free(player);
            match_clear(&m);
            rung_instance_clear(&instance);
        }
}

/* ---- refusals --------------------------------------------------------------------------------------------------------------------- */

static void refuse(const rung_model_spec *spec, const char *word)
{
    rung_error err = {""};
    rung_model *model = random_model(spec, 1);
    assert_int_equal(rung_protocol_covers(model, &err), RUNG_USAGE);
    if (!strstr(err.text, word)) fail_msg("'%s' does not say %s", err.text, word);
    rung_model_close(model);
}

static void what_is_not_covered_is_refused_with_the_reason(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full");
    spec.causal = false;
    refuse(&spec, "encoder");
    spec = small_spec("full"), spec.vocab = 0, spec.d_in = 3;
    refuse(&spec, "vectors");
    spec = small_spec("linear,dsa:k=2");
    refuse(&spec, "layer 1: dsa");
}

static void players_that_are_no_partition_are_refused(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("sparse:B=4:k=1");
    match m = match_of(&spec, "bf16", 1);
    rung_transcript t;
    draw_tokens(&m, 12, 1);
    m.at[m.asked++] = 11;
    static const size_t wrong[][3] = {{4, 7, 0}, {4, 9, 0}, {3, 9, 0}, {4, 4, 0}};
    for (size_t i = 0; i < RUNG_COUNT(wrong); i++) {
        m.players = 0;
        for (size_t j = 0; wrong[i][j]; j++) add_player(&m, wrong[i][j]);
        assert_int_equal(play_match(&t, &m, NULL), RUNG_USAGE);
        rung_transcript_clear(&t);
    }
    m.players = 0, add_player(&m, 4), add_player(&m, 8);
    m.player[1].start = 5;
    assert_int_equal(play_match(&t, &m, NULL), RUNG_USAGE);
    rung_transcript_clear(&t);
    m.player[1].start = 4, m.at[0] = 12;
    assert_int_equal(play_match(&t, &m, NULL), RUNG_USAGE);
    rung_transcript_clear(&t);
    m.at[0] = 11;
    check_match(&m, "repaired");
    match_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_mechanism_alone_has_the_bits_of_one_piece, most_were_played),
        cmocka_unit_test_teardown(hybrids_in_any_order_have_the_bits_of_one_piece, most_were_played),
        cmocka_unit_test_teardown(several_groups_in_a_layer_have_the_bits_of_one_piece, most_were_played),
        cmocka_unit_test_teardown(convolutions_gates_and_units_have_the_bits_of_one_piece, most_were_played),
        cmocka_unit_test_teardown(sparse_layers_have_the_bits_of_one_piece, most_were_played),
        cmocka_unit_test(players_of_tasks_have_the_bits_of_one_piece),
        cmocka_unit_test(what_is_not_covered_is_refused_with_the_reason),
        cmocka_unit_test(players_that_are_no_partition_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_test_file);
}
