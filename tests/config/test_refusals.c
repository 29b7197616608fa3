/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What is refused, and in which words: files of another kind are named for what they are, numbers that contradict each
 * other are named with their keys, and nothing large is parsed.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_test.h"

#define SIZES "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4"

/* ---- other files ---- */

static void test_files_of_another_kind_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } others[] = {
        {"{\"metadata\":{\"total_size\":1},\"weight_map\":{\"a\":\"b\"}}", "index of weights"},
        {"{\"version\":\"1.0\",\"added_tokens\":[{\"id\":0}],\"model\":{\"type\":\"BPE\"}}", "tokenizer"},
        {"{\"tokenizer_class\":\"LlamaTokenizer\",\"model_max_length\":4096}", "tokenizer"},
        {"{\"bos_token_id\":1,\"eos_token_id\":2,\"temperature\":0.6,\"do_sample\":true}", "generating text"},
        {"{\"_from_model_config\":true,\"transformers_version\":\"4\"}", "generating text"},
        {"{\"peft_type\":\"LORA\",\"base_model_name_or_path\":\"x\",\"r\":8}", "adapter"},
        {"{\"image_processor_type\":\"X\",\"do_resize\":true}", "preprocessor"},
        {"{\"_class_name\":\"FluxPipeline\",\"_diffusers_version\":\"0.30\"}", "image generator"},
        {"{\"_class_name\":\"FluxTransformer2DModel\",\"num_attention_heads\":24,\"num_layers\":19,"
         "\"attention_head_dim\":128}",
         "image generator"},
        {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 700\n", "git lfs pull"},
        {"\n <!DOCTYPE html><html></html>", "web page"},
        {"<html>", "web page"},
        {"PK\x03\x04zip", "zip archive"},
        {"\x93NUMPY\x01", "array of NumPy"},
        {"\x80\x04\x95pickled", "is a pickle"},
        {"\x1f\x8b\x08", "gzip"},
        {"\x89PNG\r\n", "picture"},
        {"lmgg", "old format GGML"},
        {"\x20\x01", "invalid token"}, /* neither text nor any of these */
        {"", "is empty"},
        {" \n", "is empty"},
        {"{\"bos_token\":\"<s>\",\"eos_token\":\"</s>\"}", "special tokens"},
        {"{\"chat_template\":\"x\"}", "template for chats"},
        {"{\"lora_alpha\":16,\"target_modules\":[\"q\"]}", "adapter"},
        {"{\"global_step\":5,\"log_history\":[1]}", "state of a training run"},
        {"{\"zero_optimization\":{\"stage\":2}}", "options of a training run"},
        {"{\"<pad>\":32000,\"[SEP]\":32001}", "list of tokens"},
        {"{\"compression\":{\"mode\":\"int4\"}}", "describes no model"},
        {"{\"quant_method\":\"awq\",\"bits\":4}", "quantized"},
    };
    for (size_t i = 0; i < RUNG_COUNT(others); i++) refused_text(others[i].text, others[i].what);
    /* a model may have keys of the others too */
    rung_ledger ledger = read_text("{\"model_type\":\"llama\",\"eos_token_id\":2,\"temperature\":0.6,"
                                   "\"tokenizer_class\":\"X\"," SIZES "}");
    rung_ledger_clear(&ledger);
}

static void test_a_large_file_is_not_parsed(void **state)
{
    (void)state;
    size_t size = (16 << 20) + 1;
    rung_ledger ledger;
    rung_error err = {{0}};
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, ' ', size);
    text[0] = '{', text[size - 1] = '}';
    assert_int_equal(rung_ledger_open_bytes(&ledger, text, size, "m.json", &err), RUNG_INPUT);
    assert_message(err, "m.json", "at most 16777216");
    free(text);
}

/* ---- directories ---- */

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[512];
    rung_error err = {{0}};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(rung_file_write(path, text, strlen(text), &err), RUNG_OK);
}

static void remove_file(const char *directory, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(unlink(path), 0);
}

static void test_a_directory_stands_for_its_configuration(void **state)
{
    (void)state;
    char path[] = "/tmp/rung-config-XXXXXX";
    rung_ledger ledger;
    rung_error err = {{0}};
    assert_non_null(mkdtemp(path));
    assert_int_equal(rung_ledger_open(&ledger, path, &err), RUNG_INPUT);
    assert_message(err, "directory without a config.json", path);
    write_file(path, "model-q4.gguf", "GGUF");
    assert_int_equal(rung_ledger_open(&ledger, path, &err), RUNG_INPUT);
    assert_message(err, "give the file: model-q4.gguf", path);
    write_file(path, "config.json", "{\"model_type\":\"llama\"," SIZES "}");
    assert_int_equal(rung_ledger_open(&ledger, path, &err), RUNG_OK);
    assert_int_equal(ledger.layer_count, 2);
    rung_ledger_clear(&ledger);
    remove_file(path, "config.json"), remove_file(path, "model-q4.gguf");
    assert_int_equal(rmdir(path), 0);
}

/* ---- numbers that contradict each other ---- */

static void test_contradictions_are_named_with_their_keys(void **state)
{
    (void)state;
    refused_text("{\"model_type\":\"llama\",\"num_key_value_heads\":8," SIZES "}", "num_key_value_heads");
    refused_text("{\"model_type\":\"llama\",\"num_key_value_heads\":3," SIZES "}", "num_key_value_heads");
    refused_text("{\"model_type\":\"gpt2\",\"n_layer\":12,\"num_hidden_layers\":2,\"n_embd\":64,\"n_head\":4}",
                 "two names of one number");
    refused_text("{\"model_type\":\"llama\",\"n_heads\":16," SIZES "}", "two names of one number");
    refused_text("{\"model_type\":\"jamba\",\"attn_layer_period\":4,\"attn_layer_offset\":4,\"mamba_d_state\":16," SIZES
                 "}",
                 "'attn_layer_offset' is 4");
    refused_text("{\"model_type\":\"llama\",\"layer_types\":[]," SIZES "}", "'layer_types' is an empty list");
    refused_text("{\"model_type\":\"zamba2\",\"layers_block_type\":[]," SIZES "}",
                 "'layers_block_type' is an empty list");
    refused_text("{\"model_type\":7," SIZES "}", "'model_type' must be a text");
    refused_text("{\"model_type\":\"ouro\",\"total_ut_steps\":0," SIZES "}", "'total_ut_steps'");
    refused_text("{\"model_type\":\"ouro\",\"total_ut_steps\":4000," SIZES "}", "4000 passes");
    refused_text("{\"model_type\":\"llama\",\"per_layer_config\":{\"2\":{}}," SIZES "}", "'per_layer_config'");
    refused_text("{\"model_type\":\"llama\",\"per_layer_config\":{\"x\":{}}," SIZES "}", "'per_layer_config'");
    refused_text("{\"model_type\":\"llama\",\"per_layer_config\":[]," SIZES "}", "'per_layer_config'");
    refused_text("{\"model_type\":\"mllama_text_model\",\"cross_attention_layers\":[2]," SIZES "}",
                 "entry 0 of 'cross_attention_layers'");
    refused_text("{\"model_type\":\"ttt\",\"ttt_layer_type\":\"cubic\"," SIZES "}", "'ttt_layer_type' is 'cubic'");
    refused_text("{\"model_type\":\"t5\",\"is_encoder_decoder\":true,\"d_model\":64,\"num_layers\":1,\"num_heads\":1}",
                 "'is_encoder_decoder' is true");
}

/* A size of 0, and values of another type. */
static void test_values_that_cannot_be_meant_are_refused(void **state)
{
    (void)state;
    static const char mamba[] = "{\"model_type\":\"mamba2\",\"hidden_size\":64,\"num_hidden_layers\":2,\"num_heads\":2,"
                                "\"head_dim\":64,\"n_groups\":1,\"conv_kernel\":4,%s}";
    static const struct {
        const char *key, *fault;
    } faults[] = {{"\"state_size\":0", "'state_size' is 0"},
                  {"\"state_size\":-1", "'state_size'"},
                  {"\"state_size\":false", "'state_size'"},
                  {"\"state_size\":\"16\"", "'state_size'"},
                  {"\"state_size\":[16]", "'state_size'"}};
    for (size_t i = 0; i < RUNG_COUNT(faults); i++) {
        char text[256];
        snprintf(text, sizeof text, mamba, faults[i].key);
        refused_text(text, faults[i].fault);
    }
    refused_text("{\"model_type\":\"bamba\",\"attn_layer_indices\":1," SIZES "}", "must be a list of layer numbers");
    refused_text("{\"model_type\":\"falcon\",\"multi_query\":\"yes\"," SIZES "}", "must be true or false");
    refused_text("{\"model_type\":\"zamba\",\"attn_layer_period\":6,\"attn_layer_offset\":4," SIZES "}", "at least 3");
}

/* Nothing is invented from the defaults of a class alone. */
static void test_a_file_that_says_nothing_is_refused(void **state)
{
    (void)state;
    refused_text("{\"model_type\":\"gemma3\",\"text_config\":null}", "'text_config' is null");
    refused_text("{\"model_type\":\"qwen3_5\"}", "holds a text model, and the file has none");
    refused_text("{\"model_type\":\"llama\"}", "says nothing of its layers");
    refused_text("{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma3_text\"}}", "says nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_another_kind_are_named),
        cmocka_unit_test(test_a_large_file_is_not_parsed),
        cmocka_unit_test(test_a_directory_stands_for_its_configuration),
        cmocka_unit_test(test_contradictions_are_named_with_their_keys),
        cmocka_unit_test(test_values_that_cannot_be_meant_are_refused),
        cmocka_unit_test(test_a_file_that_says_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
