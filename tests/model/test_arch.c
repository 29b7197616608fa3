/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The architecture language: strings and the layers that they mean, wrong strings and the column and phrase that they
 * are told, limits, and random architectures whose layers are known before they are written down.
 */
#include "model_test.h"

static const rung_arch_defaults defaults = {.heads = 2, .dk = 4, .dv = 8, .causal = true};

/* ---- what a parsed arch says, in other words than the printer's ------------------------------------------------------- */

static void describe_group(rung_buf *out, const rung_mech_conf *conf)
{
    rung_buf_printf(out, "%s(", conf->mech->name);
    for (size_t i = 0; conf->mech->params[i].name; i++)
        rung_buf_printf(out, "%lld ", (long long)conf->params[i].number);
    rung_buf_printf(out, "%zu %zu %zu)", conf->dk, conf->dv, conf->heads);
}

static void describe(rung_buf *out, const rung_arch *arch)
{
    for (size_t i = 0; i < arch->layer_count; i++) {
        if (i) rung_buf_putc(out, ' ');
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            if (g) rung_buf_putc(out, '+');
            describe_group(out, &arch->layer[i].group[g]);
        }
    }
}

static void assert_parses_to(const char *text, const char *layers)
{
    rung_arch arch;
    rung_error err = {""};
    rung_buf said;
    rung_buf_init(&said);
    if (rung_arch_parse(&arch, text, &defaults, &err) != RUNG_OK) fail_msg("'%s': %s", text, err.text);
    describe(&said, &arch);
    assert_int_equal(rung_buf_ok(&said, NULL), RUNG_OK);
    if (strcmp(said.text, layers) != 0) fail_msg("'%s' means %s, not %s", text, said.text, layers);
    rung_buf_clear(&said), rung_arch_clear(&arch);
}

#define FULL   "full(4 8 2)"
#define LINEAR "linear(0 1 4 8 2)"

static void strings_mean_their_layers(void **state)
{
    (void)state;
    assert_parses_to("full", FULL);
    assert_parses_to("3*full", FULL " " FULL " " FULL);
    assert_parses_to("full,2*linear", FULL " " LINEAR " " LINEAR);
    assert_parses_to("2*(2*linear,full)", LINEAR " " LINEAR " " FULL " " LINEAR " " LINEAR " " FULL);
    assert_parses_to("(full)", FULL);
    assert_parses_to("((full),linear)", FULL " " LINEAR);
    assert_parses_to("1*full", FULL);
    assert_parses_to("window", "window(64 4 8 2)");
    assert_parses_to("window:W=7", "window(7 4 8 2)");
    assert_parses_to("window:W=1", "window(1 4 8 2)");
    assert_parses_to("window:W=2147483647", "window(2147483647 4 8 2)");
    assert_parses_to("window:dk=3:W=7:dv=5", "window(7 3 5 2)");
    assert_parses_to("full:dk=1048576", "full(1048576 8 2)");
    assert_parses_to("linear:phi=elu1", LINEAR);
    assert_parses_to("linear:phi=relu:norm=0", "linear(1 0 4 8 2)");
    assert_parses_to("linear:norm=1:phi=identity", "linear(2 1 4 8 2)");
    assert_parses_to("linear:phi=taylor2", "linear(3 1 4 8 2)");
    assert_parses_to("delta,gdelta:dk=9", "delta(4 8 2) gdelta(9 8 2)");
    assert_parses_to("full@65536", "full(4 8 65536)");
    assert_parses_to("full:dk=2@3", "full(2 8 3)");
    assert_parses_to("full@1|linear@2", "full(4 8 1)+linear(0 1 4 8 2)");
    assert_parses_to("2*full@1|delta:dv=1@2", "full(4 8 1)+delta(4 1 2) full(4 8 1)+delta(4 1 2)");
    assert_parses_to("full@1|full@1|full@1|full@1|full@1|full@1|full@1|full@1",
                     "full(4 8 1)+full(4 8 1)+full(4 8 1)+full(4 8 1)+full(4 8 1)+full(4 8 1)+full(4 8 1)+full(4 8 1)");
    assert_parses_to(" 2 * ( full , window : W = 7 ) ", FULL " window(7 4 8 2) " FULL " window(7 4 8 2)");
    assert_parses_to("\tfull @ 1 |\nlinear @ 2 ", "full(4 8 1)+linear(0 1 4 8 2)");
    assert_parses_to("hybrid(1;0)", FULL);
    assert_parses_to("hybrid(2;1,0)", FULL " " LINEAR " " FULL);
    assert_parses_to("hybrid ( 3 ; 0 , 2 , 1 )", FULL " " FULL " " LINEAR " " LINEAR " " FULL " " LINEAR);
    assert_parses_to("2*hybrid(1;1),linear", FULL " " LINEAR " " FULL " " LINEAR " " LINEAR);
    assert_parses_to("(linear,hybrid(1;0))", LINEAR " " FULL);
    assert_parses_to("007*full@01", "full(4 8 1) full(4 8 1) full(4 8 1) full(4 8 1) full(4 8 1) full(4 8 1) "
                                    "full(4 8 1)");
}

static void the_mask_comes_from_the_defaults(void **state)
{
    (void)state;
    for (int causal = 0; causal < 2; causal++) {
        rung_arch_defaults d = defaults;
        rung_arch arch;
        d.causal = causal;
        assert_int_equal(rung_arch_parse(&arch, "full@1|delta@1", &d, NULL), RUNG_OK);
        assert_int_equal(arch.layer[0].group[0].causal, causal);
        assert_int_equal(arch.layer[0].group[1].causal, causal);
        rung_arch_clear(&arch);
    }
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------ */

static void assert_refused(const char *text, size_t column, const char *phrase)
{
    rung_arch arch;
    rung_error err = {""};
    char place[64];
    rung_status status = rung_arch_parse(&arch, text, &defaults, &err);
    if (status == RUNG_OK) fail_msg("'%s' was accepted", text);
    assert_int_equal(status, RUNG_USAGE);
    snprintf(place, sizeof place, "arch string, column %zu:", column);
    if (strncmp(err.text, place, strlen(place)) != 0) fail_msg("'%s' should fail at %s but: %s", text, place, err.text);
    if (!strstr(err.text, phrase)) fail_msg("'%s' should be told '%s' but: %s", text, phrase, err.text);
    assert_int_equal(rung_arch_parse(&arch, text, &defaults, NULL), RUNG_USAGE); /* the message is optional */
}

static void wrong_strings_are_told_where_and_what(void **state)
{
    (void)state;
    assert_refused("", 1, "expected a mechanism, a count or '('");
    assert_refused("   ", 4, "expected a mechanism");
    assert_refused("full,", 6, "expected a mechanism");
    assert_refused(",full", 1, "expected a mechanism");
    assert_refused("full,,full", 6, "expected a mechanism");
    assert_refused("ful", 1, "unknown mechanism 'ful'; did you mean 'full'?");
    assert_refused("full,gdleta", 6, "did you mean 'gdelta'?");
    assert_refused("transformer", 1, "unknown mechanism 'transformer'; did you mean 'full'?");
    assert_refused("full linear", 6, "expected ',' or the end");
    assert_refused("full)", 5, "expected ',' or the end");
    assert_refused("(full", 6, "expected ',' or ')'");
    assert_refused("2*(full,linear", 15, "expected ',' or ')'");
    assert_refused("()", 2, "expected a mechanism");
    assert_refused("3full", 2, "expected '*' after the count");
    assert_refused("3", 2, "expected '*' after the count");
    assert_refused("3*", 3, "expected a mechanism");
    assert_refused("2*3*full", 3, "unknown mechanism '3'");
    assert_refused("0*full", 1, "a number from 1 to 65536");
    assert_refused("hybrid", 1, "unknown mechanism 'hybrid'");
    assert_refused("hybrid(0;0)", 8, "L, the full layers, a number from 1");
    assert_refused("hybrid(2,1,0)", 9, "expected ';'");
    assert_refused("hybrid(2;1)", 11, "one a_k for each full layer");
    assert_refused("hybrid(2;1,0,0)", 13, "one a_k for each full layer");
    assert_refused("hybrid(2;1,x)", 12, "a_k, the linear layers after a full one, a number from 0");
    assert_refused("hybrid(2;1,0", 13, "expected ')'");
    assert_refused("hybrid(1;65536)", 1, "more than 65536 layers");
    assert_refused("65537*full", 1, "a number from 1 to 65536");
    assert_refused("99999999999999999999999*full", 1, "a number from 1 to 65536");
    assert_refused("-1*full", 1, "unknown mechanism '-1'");
    assert_refused("full@", 6, "heads after '@', a number from 1 to 65536");
    assert_refused("full@0", 6, "heads after '@'");
    assert_refused("full@65537", 6, "heads after '@'");
    assert_refused("full@x", 6, "heads after '@'");
    assert_refused("full|linear@1", 6, "needs '@heads' after every mechanism");
    assert_refused("full@1|linear", 8, "needs '@heads' after every mechanism");
    assert_refused("full@1|", 8, "expected a mechanism");
    assert_refused("full@1|2*linear@1", 8, "unknown mechanism '2'");
    assert_refused("full@1|full@1|full@1|full@1|full@1|full@1|full@1|full@1|full@1", 57, "too many mechanisms");
    assert_refused("window:", 8, "expected key=value after ':'");
    assert_refused("window:W", 8, "expected key=value after ':'");
    assert_refused("window:=4", 8, "expected key=value after ':'");
    assert_refused("window:W=", 10, "expected a value");
    assert_refused("window:W=0", 8, "is not a whole number from 1 to");
    assert_refused("window:W=2147483648", 8, "is not a whole number from 1 to");
    assert_refused("window:W=4x", 8, "is not a whole number");
    assert_refused("window:W=4:W=5", 12, "given twice");
    assert_refused("full:dk=4:dk=4", 14, "given twice");
    assert_refused("full:W=4", 6, "unknown parameter 'W'");
    assert_refused("linear:phi=elu", 8, "did you mean 'elu1'?");
    assert_refused("linear:pi=elu1", 8, "did you mean 'phi'?");
    assert_refused("linear:norm=2", 8, "from 0 to 1");
    assert_refused("mamba:unit=1", 1, "unit=1 needs a mechanism with q and k");
    assert_refused("mamba:qknorm=1", 1, "qknorm=1 needs a mechanism with q and k");
    assert_refused("rwkv7:scale=2", 1, "scale needs a mechanism with q and k");
    assert_refused("full:gate=1:outgate=1", 1, "gate=1 and outgate=1 exclude each other");
    assert_refused("gdelta:kv=1@2", 1, "gdelta has no heads that share keys and values");
    assert_refused("full:kv=4@6", 1, "6 heads cannot share kv=4 heads of keys and values");
    assert_refused("full:unit=1:qknorm=1", 1, "unit=1 and qknorm=1 exclude each other");
    assert_refused("full:scale=nan", 12, "scale=nan is not a number from 0 to 65536");
    assert_refused("gla:neg=1", 1, "neg=1 needs a delta rule");
    assert_refused("loglinear:neg=1", 1, "neg=1 needs a delta rule");
    assert_refused("full:dk=0", 9, "is not a whole number from 1 to 1048576");
    assert_refused("full:dv=1048577", 9, "is not a whole number from 1 to 1048576");
    assert_refused("full:dk=1.5", 9, "is not a whole number");
    assert_refused("full@1:dk=4", 7, "expected ',' or the end");
    assert_refused("full,linear:phi=taylor2:dk=1025", 6, "dk=1025 is above 1024");
    assert_refused("full;linear", 5, "expected ',' or the end");
    assert_refused("full\xc3\xa9", 5, "expected ',' or the end");
}

/* 63 letters of a value would read as a good number; the rest of it may not be dropped. */
static void long_words_are_not_cut_short(void **state)
{
    (void)state;
    char text[400] = "window:W=";
    memset(text + 9, '0', 62);
    strcpy(text + 71, "4");
    assert_parses_to(text, "window(4 4 8 2)");
    strcpy(text + 71, "49");
    assert_refused(text, 10, "a value of 1 to 63 letters");
    memset(text, 'f', 300), text[300] = 0;
    assert_refused(text, 1, "expected a mechanism");
}

static void the_caret_points_into_long_texts(void **state)
{
    (void)state;
    char text[600] = "";
    rung_arch arch;
    rung_error err = {""};
    for (int i = 0; i < 50; i++) strcat(text, "full,");
    strcat(text, "oops,full,full,full,full,full,full,full,full,full");
    assert_int_equal(rung_arch_parse(&arch, text, &defaults, &err), RUNG_USAGE);
    const char *line = strstr(err.text, "\n  "), *caret = strrchr(err.text, '^');
    assert_non_null(line), assert_non_null(caret);
    const char *second = strstr(line + 3, "\n  ");
    assert_non_null(second);
    assert_memory_equal(line + (caret - second), "oops", 4); /* same column in both lines */
    assert_true(strlen(err.text) < 300);
}

static void defaults_are_checked_like_the_text(void **state)
{
    (void)state;
    rung_arch arch;
    rung_error err = {""};
    rung_arch_defaults d = defaults;
    d.heads = RUNG_HEADS_MAX + 1;
    assert_int_equal(rung_arch_parse(&arch, "full", &d, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "heads = 65537 is outside 1..65536"));
    assert_int_equal(rung_arch_parse(&arch, "full@1", &d, &err), RUNG_OK);
    rung_arch_clear(&arch);
    d = defaults, d.dk = SIZE_MAX;
    assert_int_equal(rung_arch_parse(&arch, "linear:dv=4", &d, &err), RUNG_USAGE);
    assert_int_equal(rung_arch_parse(&arch, "linear:dk=4", &d, &err), RUNG_OK);
    rung_arch_clear(&arch);
}

/* ---- limits ---------------------------------------------------------------------------------------------------------------- */

static void nesting_has_a_limit(void **state)
{
    (void)state;
    char text[20000];
    for (size_t depth = 32; depth <= 33; depth++) {
        memset(text, '(', depth), strcpy(text + depth, "full"), memset(text + depth + 4, ')', depth);
        text[2 * depth + 4] = 0;
        if (depth == 32)
            assert_parses_to(text, FULL);
        else
            assert_refused(text, 33, "deeper than 32");
    }
    memset(text, '(', sizeof text - 1), text[sizeof text - 1] = 0;
    assert_refused(text, 33, "deeper than 32");
    text[0] = 0; /* depth, not the number of parentheses */
    for (int i = 0; i < 100; i++) strcat(text, i ? ",(full)" : "(full)");
    rung_arch arch;
    assert_int_equal(rung_arch_parse(&arch, text, &defaults, NULL), RUNG_OK);
    assert_int_equal(arch.layer_count, 100);
    rung_arch_clear(&arch);
}

static void the_number_of_layers_has_a_limit_and_is_refused_quickly(void **state)
{
    (void)state;
    rung_arch arch;
    double started = rung_wall_s();
    assert_int_equal(rung_arch_parse(&arch, "65536*full", &defaults, NULL), RUNG_OK);
    assert_int_equal(arch.layer_count, RUNG_LAYERS_MAX);
    rung_arch_clear(&arch);
    assert_refused("65536*full,full", 12, "more than 65536 layers");
    assert_refused("65536*(full,linear)", 1, "more than 65536 layers");
    assert_refused("2*(32768*full,delta)", 1, "more than 65536 layers");
    assert_refused("65536*(65536*(65536*(65536*full)))", 15, "more than 65536 layers");
    assert_refused("full,65536*(65536*full)", 13, "more than 65536 layers");
    assert_true(rung_wall_s() - started < 5);
}

/* ---- random architectures -------------------------------------------------------------------------------------------------- */

typedef struct writer {
    rung_buf text;       /* an arch string */
    rung_buf layer[512]; /* what describe() must say of each layer */
    size_t count;
    rung_rng rng;
} writer;

static size_t pick(writer *w, size_t below)
{
    return (size_t)rung_rng_below(&w->rng, below);
}

static void blank(writer *w)
{
    if (pick(w, 6) == 0) rung_buf_putc(&w->text, ' ');
}

static void write_mech(writer *w, rung_buf *layer, bool needs_heads)
{
    static const char *const phis[] = {"elu1", "relu", "identity", "taylor2"};
    static const char *const names[] = {"full", "window", "linear", "delta", "gdelta"};
    size_t mech = pick(w, 5), dk = 4, dv = 8, heads = 2, W = 64, phi = 0, norm = 1;
    rung_buf_puts(&w->text, names[mech]);
    if (pick(w, 2)) dk = 1 + pick(w, 9), blank(w), rung_buf_printf(&w->text, ":dk=%zu", dk);
    if (mech == 1 && pick(w, 2)) W = 1 + pick(w, 99), rung_buf_printf(&w->text, ":W=%zu", W);
    if (mech == 2 && pick(w, 2)) norm = pick(w, 2), rung_buf_printf(&w->text, ":norm=%zu", norm);
    if (mech == 2 && pick(w, 2)) phi = pick(w, 4), rung_buf_printf(&w->text, ":phi=%s", phis[phi]);
    if (pick(w, 2)) dv = 1 + pick(w, 9), rung_buf_printf(&w->text, ":dv=%zu", dv);
    if (needs_heads || pick(w, 3) == 0) heads = 1 + pick(w, 5), rung_buf_printf(&w->text, "@%zu", heads);
    rung_buf_printf(layer, "%s(", names[mech]);
    if (mech == 1) rung_buf_printf(layer, "%zu ", W);
    if (mech == 2) rung_buf_printf(layer, "%zu %zu ", phi, norm);
    rung_buf_printf(layer, "%zu %zu %zu)", dk, dv, heads);
}

static void write_list(writer *w, int depth);

static void write_item(writer *w, int depth)
{
    size_t first = w->count, copies = pick(w, 3) ? 1 : 1 + pick(w, 3);
    if (copies > 1 || pick(w, 4) == 0) rung_buf_printf(&w->text, "%zu*", copies), blank(w);
    if (depth < 3 && pick(w, 3) == 0) {
        rung_buf_putc(&w->text, '('), blank(w);
        write_list(w, depth + 1);
        rung_buf_putc(&w->text, ')');
    } else {
        size_t groups = pick(w, 3) ? 1 : 2 + pick(w, 3);
        for (size_t g = 0; g < groups; g++) {
            if (g) rung_buf_putc(&w->text, '|'), rung_buf_putc(&w->layer[w->count], '+');
            write_mech(w, &w->layer[w->count], groups > 1);
        }
        w->count++;
    }
    for (size_t len = w->count - first, copy = 1; copy < copies; copy++)
        for (size_t i = 0; i < len; i++) rung_buf_puts(&w->layer[w->count++], w->layer[first + i].text);
}

/* Three layers end a list; four levels of three copies then stay far below the room for 512. */
static void write_list(writer *w, int depth)
{
    size_t items = 1 + pick(w, depth == 0 ? 3 : 2);
    for (size_t i = 0; i < items && w->count < 3; i++) {
        if (i) rung_buf_putc(&w->text, ','), blank(w);
        write_item(w, depth);
    }
}

static void round_trip(const char *text, const char *layers)
{
    rung_arch arch;
    rung_buf printed;
    rung_buf_init(&printed);
    assert_int_equal(rung_arch_parse(&arch, text, &defaults, NULL), RUNG_OK);
    rung_arch_print(&printed, &arch);
    assert_int_equal(rung_buf_ok(&printed, NULL), RUNG_OK);
    rung_arch_clear(&arch);
    assert_parses_to(printed.text, layers);
    rung_buf_clear(&printed);
}

static void random_architectures_parse_to_their_layers_and_print_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        writer w = {.count = 0};
        rung_buf all;
        rung_rng_init(&w.rng, seed, 1, 0), rung_buf_init(&w.text), rung_buf_init(&all);
        for (size_t i = 0; i < RUNG_COUNT(w.layer); i++) rung_buf_init(&w.layer[i]);
        write_list(&w, 0);
        for (size_t i = 0; i < w.count; i++) rung_buf_printf(&all, "%s%s", i ? " " : "", w.layer[i].text);
        assert_parses_to(w.text.text, all.text);
        round_trip(w.text.text, all.text);
        for (size_t i = 0; i < RUNG_COUNT(w.layer); i++) rung_buf_clear(&w.layer[i]);
        rung_buf_clear(&w.text), rung_buf_clear(&all);
    }
}

static void assert_prints(const char *text, const char *canonical)
{
    rung_arch arch;
    rung_buf printed;
    rung_buf_init(&printed);
    assert_int_equal(rung_arch_parse(&arch, text, &defaults, NULL), RUNG_OK);
    rung_arch_print(&printed, &arch);
    assert_string_equal(printed.text, canonical);
    rung_arch_clear(&arch), rung_buf_clear(&printed);
}

static void equal_layers_are_counted_wherever_they_come_from(void **state)
{
    (void)state;
    assert_prints("full", "full:dk=4:dv=8@2");
    assert_prints("full,full,2*full", "4*full:dk=4:dv=8@2");
    assert_prints("full,full@3,full", "full:dk=4:dv=8@2,full:dk=4:dv=8@3,full:dk=4:dv=8@2");
    assert_prints("full:kv=2@6,full:kv=6@6,full:kv=0@6", "full:dk=4:dv=8:kv=2@6,2*full:dk=4:dv=8@6");
    assert_prints("2*window", "2*window:W=64:dk=4:dv=8@2");
    assert_prints("linear@1|full@1", "linear:phi=elu1:norm=1:dk=4:dv=8@1|full:dk=4:dv=8@1");
    assert_prints("65536*delta", "65536*delta:dk=4:dv=8@2");
}

/* The factor of queries is printed so that it reads back as the same double. */
static void assert_keeps_factor(const char *mech)
{
    static const double factors[] = {0.125, 0.08838834764831845, 1e-9, 65536};
    for (size_t i = 0; i < RUNG_COUNT(factors); i++) {
        rung_arch arch;
        rung_buf printed;
        char text[96];
        rung_buf_init(&printed);
        snprintf(text, sizeof text, "%s:qknorm=1:scale=%.17g", mech, factors[i]);
        CHECK(rung_arch_parse(&arch, text, &defaults, &check_err));
        rung_arch_print(&printed, &arch), rung_arch_clear(&arch);
        CHECK(rung_arch_parse(&arch, printed.text, &defaults, &check_err));
        assert_true(arch.layer[0].group[0].qk_norm && !arch.layer[0].group[0].unit);
        assert_memory_equal(&arch.layer[0].group[0].scale, &factors[i], sizeof factors[i]);
        rung_arch_clear(&arch), rung_buf_clear(&printed);
    }
}

/* Whatever the registry holds can be said: defaults are printed and read back, every word of every parameter can be
 * given, and no parameter of a mechanism has the name of a key that all mechanisms have. */
static void every_mechanism_and_every_word_can_be_written(void **state)
{
    (void)state;
    static const char *const common[] = {"dk", "dv", "conv", "gate", "unit", "neg", "qknorm", "scale", "kv", "outgate"};
    for (size_t m = 0; m < rung_mech_count(); m++) {
        const rung_mech *mech = rung_mech_at(m);
        char text[128];
        for (size_t i = 0; i < RUNG_COUNT(common); i++)
            if (rung_param_find(mech->params, common[i]) != SIZE_MAX)
                fail_msg("%s has its own %s", mech->name, common[i]);
        rung_arch arch;
        rung_buf said, printed;
        rung_buf_init(&said), rung_buf_init(&printed);
        bool unit = strcmp(mech->inputs[0].name, "q") == 0; /* the others have no q and k to scale */
        snprintf(text, sizeof text, "%s:conv=4:gate=1%s", mech->name, unit ? ":unit=1" : "");
        CHECK(rung_arch_parse(&arch, text, &defaults, &check_err));
        assert_true(arch.layer[0].group[0].conv == 4 && arch.layer[0].group[0].gate);
        assert_true(arch.layer[0].group[0].unit == unit);
        describe(&said, &arch), rung_arch_print(&printed, &arch), rung_arch_clear(&arch);
        assert_parses_to(printed.text, said.text);
        CHECK(rung_arch_parse(&arch, printed.text, &defaults, &check_err));
        assert_true(arch.layer[0].group[0].conv == 4 && arch.layer[0].group[0].gate);
        assert_true(arch.layer[0].group[0].unit == unit);
        rung_arch_clear(&arch), rung_buf_clear(&said), rung_buf_clear(&printed);
        if (unit) assert_keeps_factor(mech->name);
        for (size_t i = 0; mech->params[i].name; i++)
            for (size_t v = 0; mech->params[i].kind == RUNG_PARAM_CHOICE && mech->params[i].choices[v]; v++) {
                snprintf(text, sizeof text, "%s:%s=%s", mech->name, mech->params[i].name, mech->params[i].choices[v]);
                CHECK(rung_arch_parse(&arch, text, &defaults, &check_err));
                assert_int_equal(arch.layer[0].group[0].params[i].number, v);
                rung_arch_clear(&arch);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_mean_their_layers),
        cmocka_unit_test(the_mask_comes_from_the_defaults),
        cmocka_unit_test(wrong_strings_are_told_where_and_what),
        cmocka_unit_test(long_words_are_not_cut_short),
        cmocka_unit_test(the_caret_points_into_long_texts),
        cmocka_unit_test(defaults_are_checked_like_the_text),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(the_number_of_layers_has_a_limit_and_is_refused_quickly),
        cmocka_unit_test(random_architectures_parse_to_their_layers_and_print_back),
        cmocka_unit_test(equal_layers_are_counted_wherever_they_come_from),
        cmocka_unit_test(every_mechanism_and_every_word_can_be_written),
    };
    return cmocka_run_group_tests_name("model: arch", tests, NULL, NULL);
}
