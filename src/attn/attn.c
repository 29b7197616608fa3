/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reading the inputs of a mechanism, running it, writing what it gives.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attn_inside.h"

const char *const rung_attn_dtypes[] = {"F32", "F64", "BF16", "F16", NULL};
static const char *const dtype_formats[] = {"f32", "f64", "bf16", "f16"};
static const rung_dtype dtype_codes[] = {RUNG_F32, RUNG_F64, RUNG_BF16, RUNG_F16};

/* ---- sizes ----------------------------------------------------------------------------------------------------- */

static void set_param(rung_mech_conf *conf, const char *name, size_t value)
{
    size_t index = rung_param_find(conf->mech->params, name);
    if (index != SIZE_MAX && !conf->params[index].set) conf->params[index].number = (int64_t)value;
}

/* Reads H, dk, dv, T and the sizes of lambda and indexer off the shapes; what contradicts is found afterwards. */
static void infer_sizes(rung_attn *a)
{
    rung_mech_conf *conf = &a->conf;
    size_t of_keys = 0;
    for (const rung_mech_input *input = conf->mech->inputs; input->name; input++) {
        const rung_tensor *t = rung_safetensors_get(a->file, input->name);
        if (!t || (input->used && !input->used(conf)) || rung_mech_is_constant(input) || t->rank < 1) continue;
        bool given_blocks = strcmp(input->name, "ck") == 0 || strcmp(input->name, "cv") == 0;
        if (!given_blocks && !a->tokens) a->tokens = t->shape[0];
        size_t last = t->shape[t->rank - 1];
        bool own = !conf->mech->shares_keys || rung_mech_is_query(input); /* a head for every head of queries */
        if (input->dim == RUNG_DIM_KEY && t->rank == 3) conf->dk = last;
        if (input->dim == RUNG_DIM_VALUE && t->rank == 3) conf->dv = last;
        if ((input->dim == RUNG_DIM_KEY || input->dim == RUNG_DIM_VALUE) && t->rank == 3)
            *(own ? &conf->heads : &of_keys) = t->shape[1];
        if (input->dim == RUNG_DIM_FOUR_VALUES && t->rank == 3) conf->heads = t->shape[1], conf->dv = last / 4;
        if (input->dim == RUNG_DIM_LEVELS) set_param(conf, "levels", last);
        if (input->dim == RUNG_DIM_INDEX_QUERY && t->rank == 3)
            set_param(conf, "HI", t->shape[1]), set_param(conf, "DI", last);
    }
    conf->kv_heads = of_keys == conf->heads ? 0 : of_keys;
}

static rung_status configure(rung_attn *a, rung_error *err)
{
    const rung_attn_options *v = a->ask;
    const char *name = v->mech;
    char owner[64];
    rung_status status = RUNG_OK;
    a->conf.mech = rung_mech_get(name);
    if (!a->conf.mech) {
        const char *near = rung_mech_nearest(name);
        return rung_fail(err, RUNG_USAGE, "unknown mechanism '%s'%s%s%s; see 'rung list mechanisms'", name,
                         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    rung_param_defaults(a->conf.params, a->conf.mech->params);
    snprintf(owner, sizeof owner, "mechanism %s", name);
    for (size_t i = 0; status == RUNG_OK && i < v->pairs; i++)
        status = rung_param_set(a->conf.params, a->conf.mech->params, v->pair[i], owner, err);
    RUNG_TRY(status);
    a->conf.heads = a->conf.dk = a->conf.dv = 1;
    a->conf.causal = !v->encoder;
    infer_sizes(a);
    status = rung_mech_check(&a->conf, err);
    if (status != RUNG_OK) return rung_fail_at(err, status, "%s", v->in);
    if (!a->tokens)
        return rung_fail(err, RUNG_INPUT, "%s: no tokens: %s needs tensor %s [T%s", v->in, name,
                         a->conf.mech->inputs[0].name, ",...]");
    return RUNG_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

static rung_status wrong_input(const rung_attn *a, const rung_mech_input *input, const rung_tensor *tensor,
                               rung_error *err)
{
    char has[96] = "missing", wants[96];
    rung_shape shape = rung_mech_shape(input, &a->conf);
    size_t len = 0;
    if (tensor) rung_tensor_describe(has, sizeof has, tensor);
    if (!rung_mech_is_constant(input)) len += (size_t)snprintf(wants, sizeof wants, "%zu,", a->tokens);
    for (size_t i = 0; i < shape.rank && len < sizeof wants - 24; i++)
        len += (size_t)snprintf(wants + len, sizeof wants - len, "%zu%s", shape.dim[i], i + 1 < shape.rank ? "," : "");
    return rung_fail(err, RUNG_INPUT, "%s: tensor %s (%s) is %s; %s needs it as [%s]%s: %s",
                     rung_safetensors_name(a->file), input->name, input->meaning, has, a->conf.mech->name, wants,
                     rung_mech_is_constant(input) ? ", one for the layer" : "", a->conf.mech->equation);
}

/* Rows of summaries may come one per block; they are spread to the blocks' last tokens, where they are read. */
size_t attn_rows_per_block(const rung_attn *a, const rung_mech_input *input, const rung_tensor *tensor)
{
    if (strcmp(input->name, "ck") != 0 && strcmp(input->name, "cv") != 0) return 0;
    size_t block = (size_t)rung_mech_param(&a->conf, "B");
    return tensor->rank == 3 && tensor->shape[0] == a->tokens / block && block > 1 ? block : 0;
}

static bool shape_fits(const rung_attn *a, const rung_mech_input *input, const rung_tensor *tensor)
{
    rung_shape shape = rung_mech_shape(input, &a->conf);
    size_t lead = rung_mech_is_constant(input) ? 0 : 1;
    if (tensor->rank != shape.rank + lead) return false;
    if (lead && tensor->shape[0] != a->tokens && !attn_rows_per_block(a, input, tensor)) return false;
    for (size_t i = 0; i < shape.rank; i++)
        if (tensor->shape[lead + i] != shape.dim[i]) return false;
    return true;
}

static void spread_blocks(double *to, const double *from, size_t blocks, size_t block, size_t row)
{
    for (size_t b = 0; b < blocks; b++) memcpy(to + ((b + 1) * block - 1) * row, from + b * row, row * sizeof *to);
}

static rung_status read_input(rung_attn *a, size_t index, rung_error *err)
{
    const rung_mech_input *input = &a->conf.mech->inputs[index];
    size_t row = rung_mech_row(input, &a->conf), count;
    if (row == 0) return RUNG_OK;
    const rung_tensor *tensor = rung_safetensors_get(a->file, input->name);
    if (!tensor || !shape_fits(a, input, tensor)) return wrong_input(a, input, tensor, err);
    if (!rung_size_mul(&count, row, rung_mech_is_constant(input) ? 1 : a->tokens))
        return rung_fail(err, RUNG_SYSTEM, "tensor %s does not fit into memory", input->name);
    double *raw = rung_arena_alloc(&a->arena, tensor->elements, sizeof *raw, err);
    if (!raw) return RUNG_SYSTEM;
    rung_status status = rung_tensor_to_f64(raw, tensor, err);
    if (status != RUNG_OK) return rung_fail_at(err, status, "%s", rung_safetensors_name(a->file));
    size_t nan = rung_num_find_nan(raw, tensor->elements);
    if (nan != SIZE_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: tensor %s, element %zu is NaN; %s: %s", rung_safetensors_name(a->file),
                         input->name, nan, a->conf.mech->name, a->conf.mech->equation);
    if (a->exact) rung_num_kernels_get()->round(&a->fmt, raw, raw, tensor->elements);
    a->in[index] = raw;
    size_t block = rung_mech_is_constant(input) ? 0 : attn_rows_per_block(a, input, tensor);
    if (!block) return RUNG_OK;
    a->in[index] = rung_arena_alloc(&a->arena, count, sizeof *raw, err);
    if (!a->in[index]) return RUNG_SYSTEM;
    spread_blocks(a->in[index], raw, tensor->shape[0], block, row);
    return RUNG_OK;
}

/* One file may serve several mechanisms, so a tensor without use is no error; but it is said. */
static void note_unused(const rung_attn *a)
{
    char text[256];
    for (size_t i = 0; i < rung_safetensors_count(a->file); i++) {
        const char *name = rung_safetensors_at(a->file, i)->name;
        bool used = a->ask->grad && strcmp(name, ATTN_GRADIENT) == 0;
        for (const rung_mech_input *input = a->conf.mech->inputs; input->name; input++)
            used = used || (rung_mech_row(input, &a->conf) && strcmp(name, input->name) == 0);
        if (used || !a->ask->note) continue;
        snprintf(text, sizeof text, "note: %s has no input '%s'; it is not used", a->conf.mech->name, name);
        a->ask->note(a->ask->context, text);
    }
}

static rung_status scale_query(rung_attn *a, const char *text, rung_error *err)
{
    static const char *const queries[] = {"q", "r", "C"};
    char *end;
    if (!text) return RUNG_OK;
    double scale = strtod(text, &end);
    if (*text == 0 || *end || !isfinite(scale))
        return rung_fail(err, RUNG_USAGE, "--scale takes a number such as 0.125, not '%s'", text);
    for (size_t i = 0; a->conf.mech->inputs[i].name; i++)
        for (size_t k = 0; k < RUNG_COUNT(queries); k++) {
            if (strcmp(a->conf.mech->inputs[i].name, queries[k]) != 0 || !a->in[i]) continue;
            size_t count = a->tokens * rung_mech_row(&a->conf.mech->inputs[i], &a->conf);
            a->scale = scale, a->scaled = i;
            double factor = a->exact ? rung_num_round(&a->fmt, scale) : scale;
            for (size_t e = 0; e < count; e++)
                a->in[i][e] = a->exact ? rung_num_mul(&a->fmt, a->in[i][e], factor) : a->in[i][e] * factor;
            return RUNG_OK;
        }
    return rung_fail(err, RUNG_USAGE, "%s has no query to scale", a->conf.mech->name);
}

/* ---- running --------------------------------------------------------------------------------------------------- */

float *attn_floats(rung_arena *arena, const double *from, size_t count, rung_error *err)
{
    float *to = rung_arena_alloc(arena, count, sizeof *to, err);
    for (size_t i = 0; to && from && i < count; i++) to[i] = (float)from[i];
    return to;
}

size_t attn_input_count(const rung_attn *a, size_t i)
{
    const rung_mech_input *input = &a->conf.mech->inputs[i];
    return rung_mech_row(input, &a->conf) * (rung_mech_is_constant(input) ? 1 : a->tokens);
}

static rung_status run_fast(rung_attn *a, size_t out, size_t state, size_t scratch, const rung_attn_options *v,
                            rung_error *err)
{
    size_t threads = v->threads ? v->threads : rung_cpu_threads();
    rung_stretch_f32 s = {.conf = &a->conf, .tokens = a->tokens, .scratch_size = scratch};
    s.o = rung_arena_alloc(&a->arena, out, sizeof *s.o, err);
    s.state = rung_arena_alloc(&a->arena, state, sizeof *s.state, err);
    s.scratch = rung_arena_alloc(&a->arena, scratch * threads, sizeof *s.scratch, err);
    if (!s.o || !s.state || !s.scratch) return RUNG_SYSTEM;
    for (size_t i = 0; a->conf.mech->inputs[i].name; i++) {
        if (!a->in[i]) continue;
        s.in[i] = attn_floats(&a->arena, a->in[i], attn_input_count(a, i), err);
        if (!s.in[i]) return RUNG_SYSTEM;
    }
    if (v->step)
        rung_stretch_step_f32(&s);
    else
        rung_stretch_scan_f32(&s, threads);
    for (size_t i = 0; i < out; i++) a->o[i] = (double)s.o[i];
    for (size_t i = 0; i < a->state_elements; i++) a->state[i] = (double)s.state[i];
    return RUNG_OK;
}

static rung_status run_exact(rung_attn *a, size_t scratch, const rung_attn_options *v, rung_error *err)
{
    size_t threads = v->threads ? v->threads : rung_cpu_threads();
    rung_stretch_exact s = {.conf = &a->conf, .fmt = &a->fmt, .o = a->o, .state = a->state, .tokens = a->tokens};
    memcpy(s.in, a->in, sizeof s.in);
    s.scratch = rung_arena_alloc(&a->arena, scratch * threads, sizeof *s.scratch, err);
    s.scratch_size = scratch;
    if (!s.scratch) return RUNG_SYSTEM;
    if (v->step)
        rung_stretch_step_exact(&s);
    else
        rung_stretch_scan_exact(&s, threads);
    return RUNG_OK;
}

static rung_status run_mech(rung_attn *a, const rung_attn_options *v, rung_error *err)
{
    const rung_mech *mech = a->conf.mech;
    size_t out = a->tokens * a->conf.heads * a->conf.dv, scratch = mech->scratch(&a->conf, a->tokens);
    size_t state = rung_mech_state_capacity(&a->conf, a->tokens);
    a->state_elements = rung_mech_state_elements(&a->conf, a->tokens);
    a->o = rung_arena_alloc(&a->arena, out, sizeof *a->o, err);
    a->state = rung_arena_alloc(&a->arena, state, sizeof *a->state, err);
    if (!a->o || !a->state) return RUNG_SYSTEM;
    RUNG_TRY(a->exact ? run_exact(a, scratch, v, err) : run_fast(a, out, state, scratch, v, err));
    size_t nan = rung_num_find_nan(a->o, out), row = a->conf.heads * a->conf.dv;
    if (nan != SIZE_MAX)
        return rung_fail(err, RUNG_INPUT,
                         "%s: o is not a number from token %zu, head %zu on (inf - inf, 0 * inf or 0 / 0 in %s)",
                         mech->name, nan / row, nan % row / a->conf.dv, v->numbers);
    return RUNG_OK;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* The numbers as the chosen type of the file: codes of that format, little endian. */
static rung_status encode(rung_tensor *tensor, const char *name, const double *x, size_t count, size_t dtype,
                          rung_arena *arena, rung_error *err)
{
    rung_fmt fmt;
    size_t size = rung_dtype_bytes(dtype_codes[dtype]);
    rung_status status = rung_fmt_parse(&fmt, dtype_formats[dtype], err);
    uint8_t *bytes = rung_arena_alloc(arena, count, size, err);
    if (status != RUNG_OK || !bytes) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) {
        double rounded = rung_num_round(&fmt, x[i]);
        if (!isfinite(rounded))
            return rung_fail(
                err, RUNG_INPUT,
                "tensor %s: element %zu is %s%s; nothing was written. Are the inputs too large, or is --dtype "
                "too narrow?",
                name, i, isnan(rounded) ? "not a number" : "infinite",
                isfinite(x[i]) ? " in the type of the file" : "");
        uint64_t code = rung_num_encode(&fmt, rounded);
        for (size_t b = 0; b < size; b++) bytes[i * size + b] = (uint8_t)(code >> (8 * b));
    }
    *tensor = (rung_tensor){.name = name,
                            .dtype = dtype_codes[dtype],
                            .dtype_name = rung_attn_dtypes[dtype],
                            .rank = 1,
                            .shape = {count},
                            .elements = count,
                            .bytes = bytes,
                            .size_bytes = count * size};
    return RUNG_OK;
}

/* d and the name of the input, in its shape. */
static rung_status encode_gradient(rung_tensor *tensor, rung_attn *a, size_t input, size_t dtype, rung_error *err)
{
    char name[64];
    const rung_tensor *like = rung_safetensors_get(a->file, a->conf.mech->inputs[input].name);
    snprintf(name, sizeof name, "d%s", like->name);
    const char *kept = rung_arena_strdup(&a->arena, name, err);
    rung_status status = encode(tensor, kept, a->din[input], like->elements, dtype, &a->arena, err);
    tensor->rank = like->rank;
    memcpy(tensor->shape, like->shape, sizeof tensor->shape);
    return kept ? status : RUNG_SYSTEM;
}

static rung_status write_result(rung_attn *a, const rung_attn_options *v, rung_error *err)
{
    rung_tensor tensors[2 + RUNG_MECH_INPUT_MAX];
    const rung_mech_conf *conf = &a->conf;
    const rung_meta meta[] = {{"rung.attn", conf->mech->name}, {"rung.numbers", v->numbers}};
    size_t count = 1;
    rung_status status = encode(&tensors[0], "o", a->o, a->tokens * conf->heads * conf->dv, v->dtype, &a->arena, err);
    RUNG_TRY(status);
    tensors[0].rank = 3;
    memcpy(tensors[0].shape, (size_t[]){a->tokens, conf->heads, conf->dv}, 3 * sizeof(size_t));
    if (v->state) {
        status = encode(&tensors[count], "state", a->state, a->state_elements, v->dtype, &a->arena, err);
        RUNG_TRY(status);
        if (a->state_elements == conf->heads * conf->dk * conf->dv) {
            tensors[count].rank = 3;
            memcpy(tensors[count].shape, (size_t[]){conf->heads, conf->dk, conf->dv}, 3 * sizeof(size_t));
        }
        count++;
    }
    for (size_t i = 0; status == RUNG_OK && conf->mech->inputs[i].name; i++)
        if (a->din[i]) status = encode_gradient(&tensors[count++], a, i, v->dtype, err);
    RUNG_TRY(status);
    return rung_safetensors_write(v->out, tensors, count, meta, RUNG_COUNT(meta), err);
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static rung_status run_opened(rung_attn *a, rung_error *err)
{
    const rung_attn_options *v = a->ask;
    rung_status status = configure(a, err);
    if (status == RUNG_OK && v->grad) status = attn_can_grad(a, err);
    for (size_t i = 0; status == RUNG_OK && a->conf.mech->inputs[i].name; i++) status = read_input(a, i, err);
    if (status == RUNG_OK) note_unused(a);
    RUNG_NEXT(status, scale_query(a, v->scale, err));
    RUNG_NEXT(status, run_mech(a, v, err));
    if (status == RUNG_OK && v->grad) status = attn_grad(a, err);
    RUNG_TRY(status);
    return write_result(a, v, err);
}

rung_status rung_attn_run(rung_attn *a, const rung_attn_options *ask, rung_error *err)
{
    *a = (rung_attn){.ask = ask, .exact = strcmp(ask->numbers, "fp32") != 0, .scaled = SIZE_MAX};
    rung_arena_init(&a->arena);
    RUNG_TRY(a->exact ? rung_fmt_parse(&a->fmt, ask->numbers, err) : RUNG_OK);
    RUNG_TRY(rung_safetensors_open(&a->file, ask->in, err));
    return run_opened(a, err);
}

void rung_attn_clear(rung_attn *a)
{
    rung_arena_clear(&a->arena);
    rung_safetensors_close(a->file);
}
