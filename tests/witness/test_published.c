/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Weights for published layers: what is found is right when it is judged again on other prompts, the proof is refused where a
 * prompt goes wrong, and every premise that a file does not establish leaves the question open, with its reason.
 */
#include "rung/witness.h"
#include "testing.h"

/* Sizes as in a published file, smaller; %s is room for more members. */
#define LLAMA                                                                                                          \
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 512, "                    \
    "\"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"num_key_value_heads\": 2, \"vocab_size\": 32000, "        \
    "\"max_position_embeddings\": 131072, \"rms_norm_eps\": 1e-06"

static rung_ledger ledger_of(const char *members)
{
    char text[2048];
    rung_ledger ledger;
    snprintf(text, sizeof text, "%s}", members);
    CHECK(rung_ledger_open_bytes(&ledger, text, strlen(text), "config.json", &check_err));
    return ledger;
}

static rung_witness find(const char *members, const char *task_pairs, const char *numbers, rung_task_conf *task,
                         rung_fmt *fmt)
{
    char copy[128], *rest = copy;
    const char *words[8];
    size_t count = 0;
    rung_witness w;
    rung_ledger ledger = ledger_of(members);
    snprintf(copy, sizeof copy, "%s", task_pairs);
    for (char *word; (word = strtok_r(rest, " ", &rest));) words[count++] = word;
    CHECK(rung_task_conf_init(task, words[0], words + 1, count - 1, &check_err));
    CHECK(rung_fmt_parse(fmt, numbers, &check_err));
    rung_witness_options ask = {.task = task, .numbers = fmt, .samples = 50, .seed = 1, .threads = 1};
    double start = rung_wall_s();
    CHECK(rung_witness_published(&w, &ledger, &ask, &check_err));
    print_message("%s in %s: %s (%.2f s)\n", task_pairs, numbers, w.found ? w.finding.reason : w.why,
                  rung_wall_s() - start);
    rung_ledger_clear(&ledger);
    return w;
}

static void assert_found(const char *members, const char *task_pairs, const char *numbers, rung_evidence evidence)
{
    static rung_verify_result result;
    rung_task_conf task;
    rung_fmt fmt;
    rung_witness w = find(members, task_pairs, numbers, &task, &fmt);
    if (!w.found) fail_msg("%s in %s: %s", task_pairs, numbers, w.why);
    assert_int_equal(w.finding.evidence, evidence);
    rung_verify_options conf = {
        .method = RUNG_SAMPLED, .samples = 60, .seed = 4242, .how = {.numbers = &fmt, .threads = 1}};
    CHECK(rung_verify_run(&result, w.model, &task, &conf, &check_err));
    assert_int_equal(result.wrong, 0);
    assert_int_equal(result.prompts, 60);
    rung_verify_clear(&result);
    rung_witness_clear(&w);
}

static void assert_open(const char *members, const char *task_pairs, const char *numbers, const char *part)
{
    rung_task_conf task;
    rung_fmt fmt;
    rung_witness w = find(members, task_pairs, numbers, &task, &fmt);
    assert_false(w.found);
    assert_null(w.model);
    if (!strstr(w.why, part)) fail_msg("%s: '%s' without '%s'", task_pairs, w.why, part);
    rung_witness_clear(&w);
}

static void test_found(void **state)
{
    (void)state;
    assert_found(LLAMA ", \"rope_theta\": 10000.0", "eva N=8 V=8", "bf16", RUNG_PROVED);
    assert_found(LLAMA ", \"rope_theta\": 10000.0", "eva N=8 V=5", "f32", RUNG_PROVED);
    assert_found(LLAMA ", \"rope_theta\": 10000.0", "eva N=64", "f32", RUNG_PROVED);
    assert_found(LLAMA ", \"rope_theta\": 500000.0, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, "
                       "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, "
                       "\"original_max_position_embeddings\": 8192}",
                 "eva N=64 V=16", "f32", RUNG_PROVED);
    assert_found(LLAMA ", \"rope_theta\": 10000.0, \"partial_rotary_factor\": 0.5", "eva N=20", "e8m15", RUNG_PROVED);
    assert_found(LLAMA ", \"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}", "eva N=8", "f32",
                 RUNG_PROVED);
}

/* Every premise on its own. */
static void test_open(void **state)
{
    (void)state;
    assert_open(LLAMA ", \"rope_theta\": 10000.0", "index N=8", "f32", "only for eva form=position");
    assert_open(LLAMA ", \"rope_theta\": 10000.0", "eva N=8 form=pair", "f32", "only for eva form=position");
    assert_open(LLAMA, "eva N=8", "f32", "rope_theta");
    assert_open(LLAMA ", \"rope_theta\": 10000.0, \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4.0}", "eva N=8",
                "f32", "rescaled");
    assert_open(LLAMA ", \"rope_theta\": 10000.0, \"rope_scaling\": {\"factor\": 4.0}", "eva N=8", "f32", "rescaled");
    assert_open(LLAMA ", \"rope_theta\": 10000.0, \"auto_map\": {\"AutoModel\": \"x.Y\"}", "eva N=8", "f32",
                "auto_map");
    assert_open(LLAMA ", \"rope_theta\": 10000.0, \"quantization_config\": {\"bits\": 4}", "eva N=8", "f32",
                "quantized");
    assert_open(LLAMA ", \"rope_theta\": 10000.0", "eva N=20000", "f32", "vocabulary");
    assert_open("{\"model_type\": \"gemma2\", \"architectures\": [\"Gemma2ForCausalLM\"], \"hidden_size\": 512, "
                "\"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"head_dim\": 64, \"vocab_size\": 32000, "
                "\"rope_theta\": 10000.0",
                "eva N=8", "f32", "llama, mistral");
    assert_open("{\"model_type\": \"llama\", \"architectures\": [\"MyOwnModel\"], \"hidden_size\": 512, "
                "\"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"vocab_size\": 32000, \"rope_theta\": 10000.0",
                "eva N=8", "f32", "architectures");
    assert_open("{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 512, "
                "\"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"rope_theta\": 10000.0",
                "eva N=8", "f32", "vocab_size");
    assert_open("{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 16, "
                "\"num_hidden_layers\": 4, \"num_attention_heads\": 2, \"vocab_size\": 32000, \"rope_theta\": 10000.0",
                "eva N=64", "f32", "the stream has 16");
    assert_open("{\"model_type\": \"mistral\", \"architectures\": [\"MistralForCausalLM\"], \"hidden_size\": 512, "
                "\"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"vocab_size\": 32000, \"rope_theta\": 10000.0, "
                "\"sliding_window\": 16",
                "eva N=64", "f32", "sees all 65 tokens");
    assert_open("{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 512, "
                "\"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"vocab_size\": 32000, \"rope_theta\": 10000.0, "
                "\"max_position_embeddings\": 32",
                "eva N=64", "f32", "context");
    assert_open("{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 512, "
                "\"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"vocab_size\": 32000, \"rope_theta\": 10000.0, "
                "\"rms_norm_eps\": 0.001",
                "eva N=8", "f32", "rms_norm_eps");
}

/* Where numbers are too coarse nothing is claimed. */
static void test_coarse(void **state)
{
    (void)state;
    assert_open(LLAMA ", \"rope_theta\": 10000.0", "eva N=64", "e8m1", "wrong");
    assert_open(LLAMA ", \"rope_theta\": 10000.0", "eva N=64", "e4m3", "");
}

/* The proof and all prompts agree where both are possible. */
static void test_proof_against_all_prompts(void **state)
{
    static const char *const formats[] = {"e8m1", "e8m2", "e8m3", "e8m4", "e8m5", "bf16", "e8m10"};
    static rung_verify_result result;
    size_t proofs = 0;
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(formats); i++) {
        rung_task_conf task;
        rung_fmt fmt;
        rung_witness w = find(LLAMA ", \"rope_theta\": 10000.0", "eva N=4 V=4", formats[i], &task, &fmt);
        if (w.found && w.finding.evidence == RUNG_PROVED) {
            rung_verify_options conf = {.method = RUNG_EXHAUSTIVE, .how = {.numbers = &fmt, .threads = 2}};
            CHECK(rung_verify_run(&result, w.model, &task, &conf, &check_err));
            assert_int_equal(result.wrong, 0);
            assert_int_equal(result.prompts, 4 * 256);
            rung_verify_clear(&result);
            proofs++;
        }
        rung_witness_clear(&w);
    }
    assert_true(proofs >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_coarse),
        cmocka_unit_test(test_proof_against_all_prompts),
    };
    return cmocka_run_group_tests_name("published layers", tests, NULL, NULL);
}
