/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A model among the layers of a larger architecture gives the same read-outs, bit for bit, in both forms and in several
 * formats: for constructions with random parameters in random larger architectures, and for random weights of every mechanism that
 * says that zeros do not count. Refusals name their reason. Broken embeddings are noticed.
 */
#include "build/random_build.h"
#include "effort.h"
#include "rung/witness.h"

static rung_agreement agreement(const rung_model *small, const rung_model *large, const rung_task_conf *task,
                                const char *format, rung_softmax softmax)
{
    rung_fmt fmt;
    rung_agreement a;
    CHECK(rung_fmt_parse(&fmt, format, &check_err));
    rung_evaluator how = {.numbers = &fmt, .softmax = softmax, .threads = 1};
    CHECK(rung_models_agree(&a, small, large, task, &how, 40, 5, &check_err));
    assert_true(a.prompts > 0);
    return a;
}

static bool same_bits(const rung_model *small, const rung_model *large, const rung_task_conf *task, const char *format,
                      rung_softmax softmax)
{
    return agreement(small, large, task, format, softmax).agree;
}

/* ---- random larger architectures --------------------------------------------------------------------------------------- */

/* One group of heads, some sizes larger where zeros do not count. Groups in a mix need their heads spelled out. */
static void put_group(rung_buf *out, const rung_mech_conf *conf)
{
    unsigned pads = conf->mech->pads ? conf->mech->pads(conf) : 0;
    size_t heads = conf->heads + (pads & RUNG_PADS_HEADS ? between(0, 2) : 0);
    size_t dk = conf->dk + (pads & RUNG_PADS_KEYS && !conf->qk_norm ? between(0, 3) : 0);
    size_t dv = conf->dv + (pads & RUNG_PADS_VALUES && !conf->gate ? between(0, 3) : 0);
    rung_buf_puts(out, conf->mech->name);
    if (conf->mech->params[0].name) {
        rung_buf_putc(out, ':');
        rung_param_print(out, conf->params, conf->mech->params, ":");
    }
    if (conf->conv) rung_buf_printf(out, ":conv=%zu", conf->conv + between(0, 2));
    if (conf->gate) rung_buf_puts(out, ":gate=1");
    if (conf->out_gate) rung_buf_puts(out, ":outgate=1");
    if (conf->unit) rung_buf_puts(out, ":unit=1");
    if (conf->qk_norm) rung_buf_puts(out, ":qknorm=1");
    if (conf->scale > 0) rung_buf_printf(out, ":scale=%.17g", conf->scale);
    if (conf->neg) rung_buf_puts(out, ":neg=1");
    if (conf->kv_heads) rung_buf_printf(out, ":kv=%zu", conf->kv_heads);
    rung_buf_printf(out, ":dk=%zu:dv=%zu@%zu", dk, dv, heads);
}

static void put_other(rung_buf *out, bool causal)
{
    static const char *const any[] = {"full:dk=2:dv=3@2", "linear:dk=3:dv=2@1", "window:W=3:dk=2:dv=2@2"};
    static const char *const masked[] = {
        "gdelta:dk=2:dv=2@1",        "mamba:dk=2:dv=3@1",         "loglinear:dk=2:dv=2@2", "rwkv7:dk=2:dv=2@1",
        "rnn:kind=lstm:dk=1:dv=2@1", "kda:dk=2:dv=2:unit=1@1",    "dsa:dk=2:dv=2@1",       "retnet:dk=2:dv=2:gate=1@2",
        "linear:conv=2:dk=2:dv=2@1", "sparse:B=2:k=1:dk=2:dv=2@1"};
    if (causal && between(0, 1))
        rung_buf_puts(out, masked[between(0, RUNG_COUNT(masked) - 1)]);
    else
        rung_buf_puts(out, any[between(0, RUNG_COUNT(any) - 1)]);
}

/* All layers in their order, each possibly beside other heads, and up to three others between them. */
static void put_arch(rung_buf *out, const rung_arch *small, bool causal)
{
    size_t others = between(0, 3);
    for (size_t i = 0; i <= small->layer_count; i++) {
        while (others && (i == small->layer_count || between(0, 2) == 0)) {
            if (out->len) rung_buf_putc(out, ',');
            put_other(out, causal);
            others--;
        }
        if (i == small->layer_count) break;
        if (out->len) rung_buf_putc(out, ',');
        bool before = between(0, 3) == 0, behind = between(0, 3) == 0;
        if (before) put_other(out, causal), rung_buf_putc(out, '|');
        for (size_t g = 0; g < small->layer[i].group_count; g++) {
            if (g) rung_buf_putc(out, '|');
            put_group(out, &small->layer[i].group[g]);
        }
        if (behind) rung_buf_putc(out, '|'), put_other(out, causal);
    }
}

typedef struct tally {
    int embedded, refused, formats, stopped;
} tally;

/* The formats in which weights of zero may be normalised: 1e-6 is not 0. */
static const char *const formats[] = {"e8m3", "bf16", "e5m10", "e8m1", "f32"};

/* The larger model may stop where a number of the small one is infinite (Lemma 1 of docs/contains.md), but never give
 * another answer. */
static void check_embedded(tally *n, const rung_model *small, const rung_task_conf *task, const char *text)
{
    rung_buf arch;
    rung_model *large = NULL;
    bool causal = rung_model_get_spec(small)->causal;
    rung_arch_defaults defaults = {.heads = 2, .dk = 3, .dv = 2, .causal = causal};
    rung_buf_init(&arch);
    put_arch(&arch, rung_model_get_arch(small), causal);
    if (rung_embed(&large, small, arch.text, &defaults, &check_err) != RUNG_OK)
        fail_msg("%s in %s: %s", text, arch.text, check_err.text);
    for (size_t i = 0; i < 2; i++, n->formats++) {
        const char *format = formats[between(0, RUNG_COUNT(formats) - 1)];
        rung_agreement a = agreement(small, large, task, format, RUNG_SOFTMAX_ONLINE);
        if (!a.agree && !a.stopped) fail_msg("%s in %s differs in %s", text, arch.text, format);
        n->stopped += !a.agree;
    }
    n->embedded++;
    rung_model_close(large);
    rung_buf_clear(&arch);
}

static void test_constructions(void **state)
{
    static tally n;
    (void)state;
    int rounds = getenv("RUNG_SOAK") ? 400 : (int)effort(12, 2);
    rung_rng_init(&rng, 19, 3, 0);
    for (size_t i = 0; i < RUNG_COUNT(templates); i++)
        for (int k = 0; k < rounds; k++) {
            rung_build b;
            rung_model *small = NULL;
            char text[512];
            if (!draw_build(&b, &small, text, sizeof text, templates[i])) {
                n.refused++;
                continue;
            }
            check_embedded(&n, small, &b.task, text);
            rung_model_close(small);
        }
    print_message("%d embedded (%d refused words), the same bits in %d formats\n", n.embedded, n.refused, n.formats);
    assert_int_equal(n.stopped, 0);
    assert_true(n.embedded >= 20 * rounds);
}

/* ---- random weights of every mechanism ------------------------------------------------------------------------------------ */

static rung_task_conf eva(void)
{
    rung_task_conf task;
    const char *words[] = {"N=6", "V=4"};
    CHECK(rung_task_conf_init(&task, "eva", words, 2, &check_err));
    return task;
}

/* NULL where the language refuses the layers (length 1 without queries and keys). */
static rung_model *random_model(const char *arch, const rung_task_conf *task, rung_positions positions, rung_norm norm,
                                const char *mlp, size_t dk)
{
    rung_model *model = NULL;
    rung_model_spec spec = {.arch = arch,
                            .task = "",
                            .mlp = mlp,
                            .vocab = task->vocab,
                            .answers = task->answers,
                            .max_tokens = task->tokens,
                            .d_model = 5,
                            .d_mlp = 4,
                            .heads = 2,
                            .dk = dk,
                            .dv = 2,
                            .positions = positions,
                            .norm = norm,
                            .causal = true};
    if (rung_model_random(&model, &spec, between(0, 1000000), &check_err) != RUNG_OK) return NULL;
    return model;
}

/* Every row of the registry, two layers of it, with what a layer may have around it. */
static void embed_every_mechanism(tally *n, uint64_t seed)
{
    static const char *const around[] = {"",           ":unit=1",  ":conv=2", ":gate=1", ":conv=3:unit=1:gate=1",
                                         ":scale=0.3", ":qknorm=1"};
    rung_task_conf task = eva();
    rung_rng_init(&rng, seed, 3, 0);
    for (size_t i = 0; i < rung_mech_count(); i++)
        for (size_t k = 0; k < RUNG_COUNT(around); k++)
            for (int round = 0; round < 3; round++) {
                char arch[128];
                snprintf(arch, sizeof arch, "2*%s%s", rung_mech_at(i)->name, around[k]);
                rung_model *small = random_model(arch, &task, RUNG_POS_LEARNED, round ? RUNG_NORM_RMS : RUNG_NORM_NONE,
                                                 round == 2 ? "swiglu" : "none", 2);
                if (small)
                    check_embedded(n, small, &task, arch);
                else
                    n->refused++;
                rung_model_close(small);
            }
    static const char *const more[] = {"linear:phi=relu:norm=0",
                                       "linear:phi=identity:norm=0",
                                       "linear:phi=taylor2",
                                       "rnn:kind=lstm",
                                       "rnn:kind=tanh",
                                       "loglinear:base=gdelta",
                                       "loglinear:base=mamba2",
                                       "gdelta:neg=1",
                                       "full@1|linear@1|gdelta@2",
                                       "full:outgate=1",
                                       "gdelta:unit=1:outgate=1"};
    for (size_t i = 0; i < RUNG_COUNT(more); i++)
        for (int round = 0; round < 4; round++) {
            rung_model *small = random_model(more[i], &task, RUNG_POS_NONE, RUNG_NORM_LAYER, "gelu", 2);
            check_embedded(n, small, &task, more[i]);
            rung_model_close(small);
        }
}

static void test_every_mechanism(void **state)
{
    (void)state;
    uint64_t last = getenv("RUNG_SOAK") ? 60 : 21;
    for (uint64_t seed = 20; seed <= last; seed++) {
        tally n = {0};
        embed_every_mechanism(&n, seed);
        print_message("%d models with random weights, the same bits in %d formats, %d stops\n", n.embedded,
                      n.formats - n.stopped, n.stopped);
        assert_true(n.embedded >= 200 && n.refused <= 40 && n.stopped * 50 <= n.formats);
    }
}

/* ---- refusals and mistakes ------------------------------------------------------------------------------------------------------ */

static void assert_refused(const char *small_arch, const char *arch, const char *part)
{
    rung_task_conf task = eva();
    rung_model *small = random_model(small_arch, &task, RUNG_POS_LEARNED, RUNG_NORM_NONE, "none", 2), *large = NULL;
    rung_arch_defaults defaults = {.heads = 2, .dk = 2, .dv = 2, .causal = true};
    rung_status status = rung_embed(&large, small, arch, &defaults, &check_err);
    if (status != RUNG_USAGE) fail_msg("%s in %s: status %d", small_arch, arch, (int)status);
    if (!strstr(check_err.text, part)) fail_msg("%s in %s: %s", small_arch, arch, check_err.text);
    rung_model_close(small);
}

static void test_refusals(void **state)
{
    (void)state;
    assert_refused("full", "linear", "it is linear");
    assert_refused("full", "full:dk=1", "dk = 1 is below 2");
    assert_refused("full", "full@1", "heads = 1 is below 2");
    assert_refused("full,linear", "linear,full", "layer 0 (full)");
    assert_refused("2*full", "full,gdelta", "layer 0 (full)");
    assert_refused("full", "full:conv=2", "silu");
    assert_refused("full:conv=3", "full:conv=2", "narrower");
    assert_refused("full:gate=1", "full:gate=1:dv=3", "gate divides by dv");
    assert_refused("full:unit=1", "full", "its unit is another");
    assert_refused("full:qknorm=1", "full", "its qknorm is another");
    assert_refused("full:outgate=1", "full", "its outgate is another");
    assert_refused("full:kv=1@2", "full@2", "its kv is another");
    assert_refused("full:kv=2@4", "full:kv=2@6", "zeros would count");
    assert_refused("full:scale=2", "full:scale=3", "its scale is another");
    assert_refused("window:W=2", "window:W=3", "its W is another");
    assert_refused("linear:phi=elu1", "linear:phi=elu1:dk=3", "zeros would count");
    assert_refused("linear:phi=relu", "linear:phi=relu@3", "zeros would count");
    assert_refused("full", "full,linear:phi=identity", "cannot be made idle");
    assert_refused("full", "full@2|linear:phi=relu@1", "cannot be made idle");
    assert_refused("full", "full:dk=100000:dv=100000@4096", "too many to write");
}

/* A mask is part of the layers. */
static void test_mask(void **state)
{
    rung_task_conf task = eva();
    rung_model *small = random_model("full", &task, RUNG_POS_LEARNED, RUNG_NORM_NONE, "none", 2), *large = NULL;
    rung_arch_defaults defaults = {.heads = 2, .dk = 2, .dv = 2, .causal = false};
    (void)state;
    assert_int_equal(rung_embed(&large, small, "full", &defaults, &check_err), RUNG_USAGE);
    assert_non_null(strstr(check_err.text, "mask"));
    rung_model_close(small);
}

/* Rotary positions: the same dk everywhere, and then more heads and layers. */
static void test_rotary(void **state)
{
    rung_task_conf task = eva();
    rung_model *small = random_model("full:dk=4", &task, RUNG_POS_ROTARY, RUNG_NORM_RMS, "relu", 4), *large = NULL;
    rung_arch_defaults defaults = {.heads = 3, .dk = 4, .dv = 5, .causal = true};
    (void)state;
    CHECK(rung_embed(&large, small, "linear,full,gdelta", &defaults, &check_err));
    assert_true(same_bits(small, large, &task, "bf16", RUNG_SOFTMAX_ONLINE));
    assert_true(same_bits(small, large, &task, "e5m10", RUNG_SOFTMAX_REVERSE));
    rung_model_close(large);
    defaults.dk = 6;
    assert_int_equal(rung_embed(&large, small, "full", &defaults, &check_err), RUNG_USAGE);
    assert_non_null(strstr(check_err.text, "rotary"));
    rung_model_close(small);
}

/* A table that knows the asked tokens only, behind the last layer: it must stay behind the last layer, where the others are
 * not looked up. */
static void test_table_of_asked_tokens(void **state)
{
    static const double embed[] = {5, 5, 1, 1}, zero[4], key[] = {1}, read[] = {1, -1};
    const struct {
        const char *name;
        const double *value;
        size_t rank, rows, cols;
    } parts[] = {
        {"embed.weight", embed, 2, 4, 1},           {"layers.0.mix.0.q.weight", zero, 2, 1, 1},
        {"layers.0.mix.0.k.weight", zero, 2, 1, 1}, {"layers.0.mix.0.v.weight", zero, 2, 1, 1},
        {"layers.0.out.weight", zero, 2, 1, 1},     {"layers.0.mlp.keys", key, 2, 1, 1},
        {"layers.0.mlp.key_coords", zero, 1, 1, 1}, {"layers.0.mlp.values", key, 2, 1, 1},
        {"layers.0.mlp.out_coords", zero, 1, 1, 1}, {"readout.weight", read, 2, 2, 1},
    };
    rung_tensor tensors[RUNG_COUNT(parts)];
    rung_task_conf task;
    const char *words[] = {"N=2", "V=2"};
    rung_model *small = NULL, *large = NULL;
    (void)state;
    CHECK(rung_task_conf_init(&task, "eva", words, 2, &check_err));
    for (size_t i = 0; i < RUNG_COUNT(parts); i++)
        tensors[i] = (rung_tensor){.name = parts[i].name,
                                   .dtype = RUNG_F64,
                                   .dtype_name = "F64",
                                   .rank = parts[i].rank,
                                   .shape = {parts[i].rows, parts[i].cols},
                                   .elements = parts[i].rows * parts[i].cols,
                                   .bytes = (const uint8_t *)parts[i].value,
                                   .size_bytes = parts[i].rows * parts[i].cols * sizeof(double)};
    rung_model_spec spec = {.arch = "full",
                            .task = "",
                            .mlp = "table",
                            .vocab = 4,
                            .answers = 2,
                            .max_tokens = 3,
                            .d_model = 1,
                            .heads = 1,
                            .dk = 1,
                            .dv = 1,
                            .positions = RUNG_POS_NONE,
                            .norm = RUNG_NORM_NONE,
                            .causal = true};
    CHECK(rung_model_from_tensors(&small, &spec, tensors, RUNG_COUNT(parts), "by hand", &check_err));
    rung_arch_defaults defaults = {.heads = 1, .dk = 1, .dv = 1, .causal = true};
    CHECK(rung_embed(&large, small, "full,linear,window:W=2", &defaults, &check_err));
    assert_true(same_bits(small, large, &task, "bf16", RUNG_SOFTMAX_ONLINE));
    assert_int_equal(rung_model_mlp(large, 2), RUNG_MLP_TABLE);
    rung_model_close(large);
    rung_model_close(small);
}

/* The comparison sees a model that is another one. */
static void test_agreement_can_fail(void **state)
{
    rung_task_conf task = eva();
    rung_model *a = random_model("full", &task, RUNG_POS_LEARNED, RUNG_NORM_NONE, "none", 2);
    rung_model *b = random_model("full", &task, RUNG_POS_LEARNED, RUNG_NORM_NONE, "none", 2);
    (void)state;
    assert_true(same_bits(a, a, &task, "bf16", RUNG_SOFTMAX_ONLINE));
    assert_false(same_bits(a, b, &task, "bf16", RUNG_SOFTMAX_ONLINE));
    rung_model_close(a);
    rung_model_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constructions),
        cmocka_unit_test(test_every_mechanism),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_mask),
        cmocka_unit_test(test_rotary),
        cmocka_unit_test(test_agreement_can_fail),
        cmocka_unit_test(test_table_of_asked_tokens),
    };
    return cmocka_run_group_tests_name("embedding", tests, NULL, NULL);
}
