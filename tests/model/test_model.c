/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Model files: what is written is read back; the same seed gives the same bytes; and every way in which a file can
 * disagree with its architecture is refused with the name of the tensor or key.
 */
#include "model_test.h"

/* ---- round trips -------------------------------------------------------------------------------------------------------- */

static void assert_same_spec(const rung_model_spec *a, const rung_model_spec *b)
{
    assert_string_equal(a->arch, b->arch), assert_string_equal(a->task, b->task), assert_string_equal(a->mlp, b->mlp);
    assert_int_equal(a->vocab, b->vocab), assert_int_equal(a->d_in, b->d_in);
    assert_int_equal(a->answers, b->answers), assert_int_equal(a->max_tokens, b->max_tokens);
    assert_int_equal(a->d_model, b->d_model), assert_int_equal(a->d_mlp, b->d_mlp);
    assert_int_equal(a->heads, b->heads), assert_int_equal(a->dk, b->dk), assert_int_equal(a->dv, b->dv);
    assert_int_equal(a->positions, b->positions), assert_int_equal(a->norm, b->norm);
    assert_int_equal(a->causal, b->causal);
}

/* Numbers of the spec below with arch full,gdelta, written out: no biases. */
static size_t count_by_hand(const rung_model_spec *s, size_t mlp_matrices)
{
    size_t H = s->heads, d = s->d_model, norms = s->norm == RUNG_NORM_NONE ? 0 : 2 + (mlp_matrices ? 2 : 0) + 1;
    size_t attention = d * H * (2 * s->dk + s->dv) + H * s->dv * d;
    size_t positions = s->positions == RUNG_POS_NONE     ? 0
                       : s->positions == RUNG_POS_ROTARY ? 2 * s->max_tokens * s->dk / 2
                                                         : s->max_tokens * d;
    return (s->vocab + s->d_in) * d + positions + 2 * attention + 2 * H * d + H + 2 * mlp_matrices * d * s->d_mlp +
           norms * d + s->answers * d;
}

static void check_round_trip(const rung_model_spec *spec, size_t mlp_matrices, uint64_t seed)
{
    rung_model *model = random_model(spec, seed), *again = NULL;
    rung_file_map map;
    char digest[65], hash[65];
    assert_same_spec(rung_model_get_spec(model), spec);
    assert_int_equal(rung_model_get_arch(model)->layer_count, 2);
    assert_int_equal(rung_model_parameters(model), count_by_hand(spec, mlp_matrices));
    CHECK(rung_file_open_map(&map, test_path(), &check_err));
    rung_sha256_hex(hash, map.bytes, map.size);
    rung_model_digest(digest, model);
    assert_string_equal(digest, hash);
    CHECK(rung_model_open_bytes(&again, map.bytes, map.size, "bytes", &check_err));
    assert_same_spec(rung_model_get_spec(again), spec);
    rung_model_close(again), rung_file_close_map(&map), rung_model_close(model);
}

static void every_kind_of_spec_is_written_and_read_back(void **state)
{
    (void)state;
    static const char *const mlps[] = {"none", "relu", "gelu", "swiglu"};
    static const size_t matrices[] = {0, 2, 2, 3};
    for (uint64_t seed = 0; seed < 192; seed++) {
        rung_model_spec spec = small_spec("full,gdelta");
        spec.mlp = mlps[seed % 4];
        spec.positions = (rung_positions)(1 + seed / 4 % 4), spec.norm = (rung_norm)(1 + seed / 16 % 3);
        spec.causal = seed / 48 % 2, spec.task = seed % 7 ? "" : "eva n=8 \"quoted\"";
        if (seed / 96) spec.vocab = 0, spec.d_in = 6;
        check_round_trip(&spec, matrices[seed % 4], seed);
    }
}

static void hash_of_random(char hash[65], const rung_model_spec *spec, uint64_t seed)
{
    rung_model *model = random_model(spec, seed);
    rung_model_digest(hash, model);
    rung_model_close(model);
}

static void the_seed_decides_every_byte(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full@1|linear@1,gdelta"), wider = spec;
    char a[65], b[65], c[65], d[65];
    spec.positions = RUNG_POS_LEARNED, spec.mlp = "relu";
    wider = spec, wider.d_mlp = 13;
    hash_of_random(a, &spec, 5), hash_of_random(b, &spec, 6), hash_of_random(c, &spec, 5);
    hash_of_random(d, &wider, 5);
    assert_string_equal(a, c);
    assert_string_not_equal(a, b);
    assert_string_not_equal(a, d);
}

/* Each tensor has a stream of its own: no two matrices of the same shape are equal. */
static void no_two_tensors_share_their_numbers(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("2*full@2|delta@2");
    rung_safetensors *file;
    CHECK(rung_model_write_random(test_path(), &spec, 1, &check_err));
    CHECK(rung_safetensors_open(&file, test_path(), &check_err));
    for (size_t i = 0; i < rung_safetensors_count(file); i++)
        for (size_t j = 0; j < i; j++) {
            const rung_tensor *a = rung_safetensors_at(file, i), *b = rung_safetensors_at(file, j);
            size_t size = a->size_bytes < b->size_bytes ? a->size_bytes : b->size_bytes;
            if (memcmp(a->bytes, b->bytes, size) == 0) fail_msg("%s begins like %s", a->name, b->name);
        }
    rung_safetensors_close(file);
}

static void sinusoidal_and_rotary_tables_hold_the_published_angles(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full");
    for (int rotary = 0; rotary < 2; rotary++) {
        rung_safetensors *file;
        float table[32 * 8], sine[32 * 8];
        spec.positions = rotary ? RUNG_POS_ROTARY : RUNG_POS_SINUSOIDAL;
        CHECK(rung_model_write_random(test_path(), &spec, 1, &check_err));
        CHECK(rung_safetensors_open(&file, test_path(), &check_err));
        size_t d = rotary ? spec.dk : spec.d_model;
        const rung_tensor *t = rung_safetensors_get(file, rotary ? "rotary.cos" : "positions");
        CHECK(rung_tensor_to_f32(table, t, &check_err));
        if (rotary) CHECK(rung_tensor_to_f32(sine, rung_safetensors_get(file, "rotary.sin"), &check_err));
        for (size_t p = 0; p < 32; p++)
            for (size_t i = 0; i < d / 2; i++) {
                double angle = (double)p / pow(10000, 2.0 * (double)i / (double)d);
                float c = rotary ? table[p * d / 2 + i] : table[p * d + 2 * i + 1];
                float s = rotary ? sine[p * d / 2 + i] : table[p * d + 2 * i];
                assert_true(fabs(c - cos(angle)) < 1e-7 && fabs(s - sin(angle)) < 1e-7);
            }
        rung_safetensors_close(file);
    }
}

/* ---- edited files --------------------------------------------------------------------------------------------------------- */

enum { TENSORS = 64 };

/* A model file in pieces. */
typedef struct pieces {
    rung_safetensors *file;
    rung_tensor tensor[TENSORS];
    rung_meta meta[16];
    size_t tensors, metas;
} pieces;

static pieces take_apart(const rung_model_spec *spec)
{
    pieces p = {0};
    CHECK(rung_model_write_random(test_path(), spec, 3, &check_err));
    CHECK(rung_safetensors_open(&p.file, test_path(), &check_err));
    for (size_t i = 0; i < rung_safetensors_count(p.file); i++) p.tensor[p.tensors++] = *rung_safetensors_at(p.file, i);
    for (size_t i = 0; i < rung_safetensors_meta_count(p.file); i++) {
        const char *key = rung_safetensors_meta_key(p.file, i);
        p.meta[p.metas++] = (rung_meta){key, rung_safetensors_meta(p.file, key)};
    }
    return p;
}

static rung_tensor *piece(pieces *p, const char *name)
{
    for (size_t i = 0; i < p->tensors; i++)
        if (strcmp(p->tensor[i].name, name) == 0) return &p->tensor[i];
    fail_msg("no tensor %s", name);
    return NULL;
}

static const char **meta(pieces *p, const char *key)
{
    for (size_t i = 0; i < p->metas; i++)
        if (strcmp(p->meta[i].key, key) == 0) return &p->meta[i].value;
    fail_msg("no metadata %s", key);
    return NULL;
}

static const char *edited_path(void)
{
    static char path[160];
    snprintf(path, sizeof path, "%s.edited", test_path());
    return path;
}

/* Opens the edited file; status of opening, or of making a fast program of it. */
static rung_status open_edited(const pieces *p, rung_error *err)
{
    rung_model *model = NULL;
    rung_program *program = NULL;
    CHECK(rung_safetensors_write(edited_path(), p->tensor, p->tensors, p->meta, p->metas, &check_err));
    rung_status status = rung_model_open(&model, edited_path(), err);
    if (status == RUNG_OK) status = rung_program_new(&program, model, &(rung_evaluator){.threads = 1}, err);
    rung_program_free(program), rung_model_close(model);
    unlink(edited_path());
    return status;
}

static void assert_refused(const pieces *p, const char *phrase)
{
    rung_error err = {""};
    rung_status status = open_edited(p, &err);
    if (status != RUNG_INPUT) fail_msg("status %d instead of a message with '%s'", status, phrase);
    if (!strstr(err.text, phrase)) fail_msg("'%s' lacks '%s'", err.text, phrase);
    if (!strstr(err.text, edited_path())) fail_msg("'%s' lacks the name of the file", err.text);
}

static void assert_accepted(const pieces *p)
{
    rung_error err = {""};
    if (open_edited(p, &err) != RUNG_OK) fail_msg("refused: %s", err.text);
}

static rung_model_spec rich_spec(void)
{
    rung_model_spec spec = small_spec("full@1|linear@2,gdelta");
    spec.mlp = "swiglu", spec.positions = RUNG_POS_ROTARY, spec.norm = RUNG_NORM_LAYER;
    return spec;
}

static void each_missing_tensor_is_named(void **state)
{
    (void)state;
    rung_model_spec spec = rich_spec();
    pieces whole = take_apart(&spec);
    assert_accepted(&whole);
    assert_true(whole.tensors > 25);
    for (size_t i = 0; i < whole.tensors; i++) {
        char phrase[160];
        pieces p = whole;
        p.tensor[i] = p.tensor[--p.tensors];
        snprintf(phrase, sizeof phrase, "tensor %s is missing", whole.tensor[i].name);
        assert_refused(&p, phrase);
    }
    rung_safetensors_close(whole.file);
}

static void each_extra_tensor_is_named(void **state)
{
    (void)state;
    static const char *const names[] = {
        "layers.2.out.weight",        "layers.0.mix.2.q.weight",  "embed.bias", "positions", "layers.0.mlp.keys",
        "layers.0.mix.0.beta.weight", "layers.0.mix.0.q.weight2", "x"};
    static const float zeros[8];
    rung_model_spec spec = rich_spec();
    pieces whole = take_apart(&spec);
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        char phrase[160];
        pieces p = whole;
        p.tensor[p.tensors++] = tensor_of(names[i], zeros, 1, 8, 0);
        snprintf(phrase, sizeof phrase, "tensor %s is not part", names[i]);
        assert_refused(&p, phrase);
    }
    rung_safetensors_close(whole.file);
}

static void each_wrong_shape_is_named(void **state)
{
    (void)state;
    static const float zeros[4096];
    rung_model_spec spec = rich_spec();
    pieces whole = take_apart(&spec);
    for (size_t i = 0; i < whole.tensors; i++)
        for (int how = 0; how < 4; how++) {
            char phrase[160];
            pieces p = whole;
            rung_tensor *t = &p.tensor[i];
            size_t rows = t->shape[0], cols = t->rank == 2 ? t->shape[1] : 1;
            if (how == 0) *t = tensor_of(t->name, zeros, t->rank, rows + 1, cols);
            if (how == 1 && t->rank == 1) continue;
            if (how == 1) *t = tensor_of(t->name, zeros, 2, rows, cols + 1);
            if (how == 2) *t = tensor_of(t->name, zeros, 3 - t->rank, t->rank == 2 ? rows * cols : rows, 1);
            if (how == 3) *t = tensor_of(t->name, zeros, t->rank, 0, cols);
            snprintf(phrase, sizeof phrase, "tensor %s is F32 [", whole.tensor[i].name);
            assert_refused(&p, phrase);
        }
    rung_safetensors_close(whole.file);
}

static void biases_are_optional_and_checked(void **state)
{
    (void)state;
    static const float numbers[16] = {1, 2, 3, 4, 5, 6, 7, 8};
    rung_model_spec spec = rich_spec();
    pieces whole = take_apart(&spec), p = whole;
    p.tensor[p.tensors++] = tensor_of("layers.0.mix.1.k.bias", numbers, 1, 8, 0);
    p.tensor[p.tensors++] = tensor_of("readout.bias", numbers, 1, 5, 0);
    p.tensor[p.tensors++] = tensor_of("layers.1.norm2.bias", numbers, 1, 8, 0);
    p.tensor[p.tensors++] = tensor_of("layers.1.mix.0.g.bias", numbers, 1, 2, 0);
    assert_accepted(&p);
    *piece(&p, "readout.bias") = tensor_of("readout.bias", numbers, 1, 6, 0);
    assert_refused(&p, "tensor readout.bias is F32 [6], the architecture needs [5]");
    rung_safetensors_close(whole.file);
    spec.norm = RUNG_NORM_RMS; /* has no bias */
    whole = take_apart(&spec), p = whole;
    p.tensor[p.tensors++] = tensor_of("layers.1.norm2.bias", numbers, 1, 8, 0);
    assert_refused(&p, "tensor layers.1.norm2.bias is not part");
    rung_safetensors_close(whole.file);
}

static void kinds_of_numbers(void **state)
{
    (void)state;
    static const uint8_t bytes[8 * 64];
    static const struct {
        rung_dtype dtype;
        const char *name;
        bool good;
    } kinds[] = {{RUNG_F64, "F64", true}, {RUNG_F16, "F16", true}, {RUNG_BF16, "BF16", true}, {RUNG_I8, "I8", true},
                 {RUNG_I64, "I64", true}, {RUNG_U16, "U16", true}, {RUNG_BOOL, "BOOL", false}};
    rung_model_spec spec = rich_spec();
    pieces p = take_apart(&spec);
    rung_tensor *t = piece(&p, "readout.weight");
    t->bytes = bytes;
    for (size_t i = 0; i < RUNG_COUNT(kinds); i++) {
        t->dtype = kinds[i].dtype, t->dtype_name = kinds[i].name;
        t->size_bytes = t->elements * rung_dtype_bytes(t->dtype);
        if (kinds[i].good)
            assert_accepted(&p);
        else
            assert_refused(&p, "tensor readout.weight is BOOL");
    }
    rung_safetensors_close(p.file);
}

static void a_weight_that_is_not_a_number_is_named(void **state)
{
    (void)state;
    rung_model_spec spec = rich_spec();
    pieces whole = take_apart(&spec);
    for (size_t i = 0; i < whole.tensors; i++) {
        pieces p = whole;
        char phrase[160];
        float *data = calloc(whole.tensor[i].elements, sizeof *data);
        assert_non_null(data);
        data[whole.tensor[i].elements - 1] = NAN;
        p.tensor[i].bytes = (const uint8_t *)data;
        snprintf(phrase, sizeof phrase, "tensor %s, element %zu is NaN", p.tensor[i].name, p.tensor[i].elements - 1);
        assert_refused(&p, phrase);
        free(data);
    }
    rung_safetensors_close(whole.file);
}

/* ---- metadata ---------------------------------------------------------------------------------------------------------------- */

static void absent_or_foreign_metadata_is_refused(void **state)
{
    (void)state;
    static const char *const needed[] = {"rung.format", "rung.arch", "rung.config"};
    rung_model_spec spec = rich_spec();
    pieces whole = take_apart(&spec), p;
    for (size_t i = 0; i < RUNG_COUNT(needed); i++) {
        p = whole;
        for (size_t m = 0; m < p.metas; m++)
            if (strcmp(p.meta[m].key, needed[i]) == 0) p.meta[m] = p.meta[--p.metas];
        assert_int_equal(p.metas, whole.metas - 1);
        assert_refused(&p, needed[i]);
    }
    p = whole, *meta(&p, "rung.format") = "rung.model/2";
    assert_refused(&p, "rung.format is 'rung.model/2'");
    p = whole, p.metas = 0;
    assert_refused(&p, "not a model of ours");
    p = whole, *meta(&p, "rung.arch") = "full@1|liner@2,gdelta";
    assert_refused(&p, "did you mean 'linear'?");
    p = whole, *meta(&p, "rung.arch") = "full@1|linear@2,delta"; /* fits but for the decay */
    assert_refused(&p, "layers.1.mix.0.g");
    p = whole, *meta(&p, "rung.arch") = "65536*full";
    assert_refused(&p, "tensor layers.0.mix.0.q.weight is F32 [4,8], the architecture needs [8,8]");
    rung_safetensors_close(whole.file);
}

/* The configuration with the first `from` replaced by `to`. */
static void assert_config_refused(const pieces *whole, const char *from, const char *to, const char *phrase)
{
    pieces p = *whole;
    rung_buf text;
    const char *old = *meta(&p, "rung.config"), *at = strstr(old, from);
    if (!at) fail_msg("'%s' is not in %s", from, old);
    rung_buf_init(&text);
    rung_buf_add(&text, old, (size_t)(at - old)), rung_buf_puts(&text, to), rung_buf_puts(&text, at + strlen(from));
    *meta(&p, "rung.config") = text.text;
    assert_refused(&p, phrase);
    rung_buf_clear(&text);
}

static void wrong_configurations_are_told_which_key(void **state)
{
    (void)state;
    static const char *const sizes[] = {"vocab", "d_in",  "answers", "max_tokens", "d_model",
                                        "d_mlp", "heads", "dk",      "dv"};
    rung_model_spec spec = rich_spec();
    pieces whole = take_apart(&spec);
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
        char key[32], misspelt[32], negative[64], text[64], huge[64], phrase[64];
        snprintf(key, sizeof key, "\"%s\":", sizes[i]), snprintf(misspelt, sizeof misspelt, "\"%s_\":", sizes[i]);
        snprintf(negative, sizeof negative, "\"%s\":-", sizes[i]),
            snprintf(text, sizeof text, "\"%s\":0.5,\"q\":", sizes[i]);
        snprintf(huge, sizeof huge, "\"%s\":9999999999", sizes[i]), snprintf(phrase, sizeof phrase, "\"%s\"", sizes[i]);
        assert_config_refused(&whole, key, misspelt, "unknown key");
        if (strcmp(sizes[i], "d_in") != 0) assert_config_refused(&whole, key, negative, phrase);
        assert_config_refused(&whole, key, huge, sizes[i]);
        assert_config_refused(&whole, key, text, "unknown key \"q\"");
    }
    assert_config_refused(&whole, "\"d_model\"", "\"d_modle\"", "did you mean \"d_model\"?");
    assert_config_refused(&whole, "\"vocab\":11,", "", "needs \"vocab\"");
    assert_config_refused(&whole, "\"vocab\":11", "\"vocab\":\"11\"", "needs \"vocab\"");
    assert_config_refused(&whole, "\"vocab\":11", "\"vocab\":0", "exactly one of vocab (tokens) and d_in (features)");
    assert_config_refused(&whole, "\"d_in\":0", "\"d_in\":4", "exactly one of vocab (tokens) and d_in (features)");
    assert_config_refused(&whole, "\"vocab\":11", "\"vocab\":11,\"vocab\":11", "rung.config");
    assert_config_refused(&whole, "\"d_model\":8", "\"d_model\":0", "d_model = 0");
    assert_config_refused(&whole, "\"heads\":2", "\"heads\":2147483648", "heads = 2147483648 is outside");
    assert_config_refused(&whole, "\"dk\":4", "\"dk\":5", "rotary positions need the same even dk");
    assert_config_refused(&whole, "\"rotary\"", "\"rotory\"", "\"positions\" is missing or not a known word");
    assert_config_refused(&whole, "\"rotary\"", "3", "\"positions\" is missing or not a known word");
    assert_config_refused(&whole, "\"norm\":\"layer\"", "\"norm\":\"\"", "\"norm\" is missing or not a known word");
    assert_config_refused(&whole, "true", "1", "needs \"causal\": true or false");
    assert_config_refused(&whole, "\"swiglu\"", "\"relu,swiglu,relu\"", "mlp lists 3 kinds for 2 layers");
    spec.arch = "full,full,full", spec.mlp = "relu,relu"; /* one kind, or as many as layers */
    assert_int_equal(rung_model_spec_check(&spec, NULL), RUNG_USAGE);
    assert_config_refused(&whole, "\"swiglu\"", "\"swish\"", "mlp 'swish' is not one of");
    assert_config_refused(&whole, "\"swiglu\"", "\"relu,\"", "mlp '' is not one of");
    assert_config_refused(&whole, "\"swiglu\"", "7", "needs \"mlp\"");
    assert_config_refused(&whole, "\"d_mlp\":12", "\"d_mlp\":0", "d_mlp must be above 0");
    pieces p = whole;
    static const char *const broken[] = {"", "{", "[]", "[1,2]", "7", "\"text\"", "null"};
    for (size_t i = 0; i < RUNG_COUNT(broken); i++)
        *meta(&p, "rung.config") = broken[i], assert_refused(&p, "rung.config");
    rung_safetensors_close(whole.file);
}

/* ---- specs without files ------------------------------------------------------------------------------------------------------- */

static void assert_spec_refused(const rung_model_spec *spec, const char *phrase)
{
    rung_error err = {""};
    assert_int_equal(rung_model_spec_check(spec, &err), RUNG_USAGE);
    if (!strstr(err.text, phrase)) fail_msg("'%s' lacks '%s'", err.text, phrase);
    assert_int_equal(rung_model_write_random(test_path(), spec, 1, NULL), RUNG_USAGE);
}

static void specs_are_checked_before_anything_is_written(void **state)
{
    (void)state;
    rung_model_spec good = small_spec("full"), bad;
    CHECK(rung_model_spec_check(&good, &check_err));
    bad = good, bad.arch = "ful", assert_spec_refused(&bad, "did you mean 'full'?");
    bad = good, bad.arch = "full:dk=5", bad.positions = RUNG_POS_ROTARY, assert_spec_refused(&bad, "rotary");
    bad = good, bad.dk = 3, bad.positions = RUNG_POS_ROTARY, assert_spec_refused(&bad, "rotary");
    bad = good, bad.answers = 0, assert_spec_refused(&bad, "answers = 0");
    bad = good, bad.d_model = (size_t)1 << 40, assert_spec_refused(&bad, "d_model = 1099511627776");
    bad = good, bad.heads = 70000, assert_spec_refused(&bad, "heads = 70000");
    bad = good, bad.d_in = 3, assert_spec_refused(&bad, "exactly one");
    bad = good, bad.mlp = "relu", bad.d_mlp = 0, assert_spec_refused(&bad, "d_mlp must be above 0");
    rung_error err = {""};
    bad = good, bad.mlp = "table";
    CHECK(rung_model_spec_check(&bad, &check_err));
    assert_int_equal(rung_model_write_random(test_path(), &bad, 1, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "mlp=table"));
    bad = good, bad.d_model = (size_t)1 << 31, bad.vocab = (size_t)1 << 31; /* 2^64 bytes of embedding */
    assert_int_equal(rung_model_write_random(test_path(), &bad, 1, &err), RUNG_SYSTEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_spec_is_written_and_read_back),
        cmocka_unit_test(the_seed_decides_every_byte),
        cmocka_unit_test(no_two_tensors_share_their_numbers),
        cmocka_unit_test(sinusoidal_and_rotary_tables_hold_the_published_angles),
        cmocka_unit_test(each_missing_tensor_is_named),
        cmocka_unit_test(each_extra_tensor_is_named),
        cmocka_unit_test(each_wrong_shape_is_named),
        cmocka_unit_test(biases_are_optional_and_checked),
        cmocka_unit_test(kinds_of_numbers),
        cmocka_unit_test(a_weight_that_is_not_a_number_is_named),
        cmocka_unit_test(absent_or_foreign_metadata_is_refused),
        cmocka_unit_test(wrong_configurations_are_told_which_key),
        cmocka_unit_test(specs_are_checked_before_anything_is_written),
    };
    return cmocka_run_group_tests_name("model: files", tests, NULL, remove_test_file);
}
