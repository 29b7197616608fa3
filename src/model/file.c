/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Model files: opening, which checks every tensor, and writing given or random weights.
 */
#include "model_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ----------------------------------------------------------------------------------------------------- */

typedef struct opening {
    rung_model *model;
    size_t found;
} opening;

static bool is_number(rung_dtype dtype)
{
    return dtype != RUNG_OTHER && dtype != RUNG_BOOL;
}

static rung_status check_tensor(const tensor_need *need, const rung_tensor *tensor, const char *file, rung_error *err)
{
    char has[96];
    bool fits = tensor->rank == need->rank;
    for (size_t i = 0; fits && i < need->rank; i++) fits = need->shape[i] == 0 || tensor->shape[i] == need->shape[i];
    rung_tensor_describe(has, sizeof has, tensor);
    if (!is_number(tensor->dtype))
        return rung_fail(err, RUNG_INPUT, "%s: tensor %s is %s; weights must be F64, F32, F16, BF16 or integers", file,
                         need->name, has);
    if (fits) return RUNG_OK;
    char wants[96];
    size_t len = 0;
    for (size_t i = 0; i < need->rank; i++)
        len += (size_t)snprintf(wants + len, sizeof wants - len, "%s%zu", i ? "," : "", need->shape[i]);
    return rung_fail(err, RUNG_INPUT, "%s: tensor %s is %s, the architecture needs [%s]%s", file, need->name, has,
                     wants, need->shape[0] && need->rank ? "" : " (0: any)");
}

static rung_status open_tensor(void *context, const tensor_need *need, rung_error *err)
{
    opening *o = context;
    const rung_tensor *tensor = rung_safetensors_get(o->model->file, need->name);
    const char *file = rung_safetensors_name(o->model->file);
    if (!tensor && need->optional) return RUNG_OK;
    if (!tensor)
        return rung_fail(err, RUNG_INPUT, "%s: tensor %s is missing; the architecture %.80s needs it", file, need->name,
                         o->model->spec.arch);
    o->found++;
    o->model->parameters += tensor->elements;
    return check_tensor(need, tensor, file, err);
}

typedef struct search {
    const char *name;
    bool found;
} search;

static rung_status match_tensor(void *context, const tensor_need *need, rung_error *err)
{
    search *s = context;
    (void)err;
    s->found = s->found || strcmp(s->name, need->name) == 0;
    return RUNG_OK;
}

/* Called only when the counts differ. Names the first tensor that the architecture does not have. */
static rung_status report_extra(const rung_model *model, rung_error *err)
{
    for (size_t i = 0; i < rung_safetensors_count(model->file); i++) {
        search s = {.name = rung_safetensors_at(model->file, i)->name};
        rung_model_visit_tensors(&model->spec, &model->arch, model->mlp, match_tensor, &s, NULL);
        if (!s.found)
            return rung_fail(
                err, RUNG_INPUT,
                "%s: tensor %.60s is not part of the architecture %.80s; remove it or correct the architecture",
                rung_safetensors_name(model->file), s.name, model->spec.arch);
    }
    return RUNG_OK;
}

static rung_status open_parts(rung_model *model, rung_error *err)
{
    RUNG_TRY(rung_model_spec_read(&model->spec, model->file, &model->arena, err));
    rung_status status = rung_model_spec_parse(&model->arch, &model->mlp, &model->spec, &model->arena, err);
    if (status == RUNG_USAGE) status = RUNG_INPUT; /* the words come from a file, not from the caller */
    if (status != RUNG_OK) return rung_fail_at(err, status, "%s", rung_safetensors_name(model->file));
    opening o = {.model = model};
    status = rung_model_visit_tensors(&model->spec, &model->arch, model->mlp, open_tensor, &o, err);
    if (status == RUNG_OK && o.found != rung_safetensors_count(model->file)) status = report_extra(model, err);
    return status;
}

/* Takes ownership of the file, even when it fails. */
static rung_status open_file(rung_model **out, rung_safetensors *file, rung_error *err)
{
    rung_model *model = rung_calloc(1, sizeof *model, err);
    if (!model) {
        rung_safetensors_close(file);
        return RUNG_SYSTEM;
    }
    model->file = file;
    rung_arena_init(&model->arena);
    rung_status status = open_parts(model, err);
    if (status != RUNG_OK) {
        rung_model_close(model);
        return status;
    }
    *out = model;
    return RUNG_OK;
}

rung_status rung_model_open(rung_model **out, const char *path, rung_error *err)
{
    rung_safetensors *file;
    RUNG_TRY(rung_safetensors_open(&file, path, err));
    return open_file(out, file, err);
}

rung_status rung_model_open_bytes(rung_model **out, const void *bytes, size_t size, const char *name, rung_error *err)
{
    rung_safetensors *file;
    RUNG_TRY(rung_safetensors_open_bytes(&file, bytes, size, name, err));
    return open_file(out, file, err);
}

void rung_model_close(rung_model *model)
{
    if (!model) return;
    rung_arch_clear(&model->arch);
    rung_arena_clear(&model->arena);
    rung_safetensors_close(model->file);
    free(model->bytes);
    free(model);
}

rung_status rung_model_save(const rung_model *model, const char *path, rung_error *err)
{
    return rung_safetensors_copy(path, model->file, err);
}

const rung_model_spec *rung_model_get_spec(const rung_model *model)
{
    return &model->spec;
}

const rung_arch *rung_model_get_arch(const rung_model *model)
{
    return &model->arch;
}

rung_mlp rung_model_mlp(const rung_model *model, size_t layer)
{
    return model->mlp[layer];
}

size_t rung_model_parameters(const rung_model *model)
{
    return model->parameters;
}

void rung_model_digest(char hex[65], const rung_model *model)
{
    rung_safetensors_digest(hex, model->file);
}

const rung_tensor *rung_model_tensor(const rung_model *model, const char *name)
{
    return rung_safetensors_get(model->file, name);
}

const char *rung_model_made_by(const rung_model *model)
{
    const char *text = rung_safetensors_meta(model->file, "rung.made_by");
    return text ? text : "";
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Where a file is written: to a path, or to memory. */
typedef struct destination {
    const char *path;
    uint8_t **bytes;
    size_t *size;
} destination;

/* A hybrid is short for its layers. Programs that read model files know the layers. */
static rung_status print_plain_arch(rung_buf *out, const rung_model_spec *spec, rung_error *err)
{
    rung_arch arch;
    if (!strstr(spec->arch, "hybrid")) {
        rung_buf_puts(out, spec->arch);
        return rung_buf_ok(out, err);
    }
    RUNG_TRY(
        rung_arch_parse(&arch, spec->arch, &(rung_arch_defaults){spec->heads, spec->dk, spec->dv, spec->causal}, err));
    rung_arch_print(out, &arch);
    rung_arch_clear(&arch);
    return rung_buf_ok(out, err);
}

static rung_status write_to(const destination *to, const rung_model_spec *spec, const rung_tensor *tensors,
                            size_t count, const char *made_by, rung_error *err)
{
    rung_buf config, layers;
    RUNG_TRY(rung_model_spec_check(spec, err));
    rung_buf_init(&config);
    rung_buf_init(&layers);
    rung_model_spec_print(&config, spec);
    rung_status status = rung_buf_ok(&config, err);
    RUNG_NEXT(status, print_plain_arch(&layers, spec, err));
    const rung_meta meta[] = {
        {"rung.format", RUNG_MODEL_FORMAT}, {"rung.arch", layers.text}, {"rung.config", config.text},
        {"rung.task", spec->task},          {"rung.made_by", made_by},
    };
    if (status == RUNG_OK && to->path)
        status = rung_safetensors_write(to->path, tensors, count, meta, RUNG_COUNT(meta), err);
    else if (status == RUNG_OK)
        status = rung_safetensors_encode(to->bytes, to->size, tensors, count, meta, RUNG_COUNT(meta), err);
    rung_buf_clear(&config);
    rung_buf_clear(&layers);
    return status;
}

rung_status rung_model_write(const char *path, const rung_model_spec *spec, const rung_tensor *tensors, size_t count,
                             const char *made_by, rung_error *err)
{
    return write_to(&(destination){.path = path}, spec, tensors, count, made_by, err);
}

rung_status rung_model_from_tensors(rung_model **out, const rung_model_spec *spec, const rung_tensor *tensors,
                                    size_t count, const char *made_by, rung_error *err)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    rung_status status = write_to(&(destination){.bytes = &bytes, .size = &size}, spec, tensors, count, made_by, err);
    RUNG_NEXT(status, rung_model_open_bytes(out, bytes, size, "(in memory)", err));
    if (status == RUNG_OK)
        (*out)->bytes = bytes;
    else
        free(bytes);
    return status;
}

typedef struct public_visit {
    rung_model_visit *visit;
    void *context;
} public_visit;

static rung_status visit_publicly(void *context, const tensor_need *need, rung_error *err)
{
    const public_visit *v = context;
    return v->visit(v->context, need->name, need->shape, need->rank, need->optional, err);
}

rung_status rung_model_each_tensor(const rung_model_spec *spec, rung_model_visit *visit, void *context, rung_error *err)
{
    public_visit v = {visit, context};
    rung_arena arena;
    rung_arch arch;
    rung_mlp *mlp;
    rung_arena_init(&arena);
    rung_status status = rung_model_spec_parse(&arch, &mlp, spec, &arena, err);
    if (status == RUNG_OK) {
        status = rung_model_visit_tensors(spec, &arch, mlp, visit_publicly, &v, err);
        rung_arch_clear(&arch);
    }
    rung_arena_clear(&arena);
    return status;
}

typedef struct writing {
    rung_tensor *tensor;
    size_t count, capacity;
    rung_arena arena;
    uint64_t seed;
} writing;

/* Position p, pair i: angle p / 10000^(2i/d), as published for both kinds of tables. */
static double table_angle(size_t position, size_t pair, size_t width)
{
    return (double)position * pow(10000.0, -2.0 * (double)pair / (double)width);
}

static void fill_sinusoidal(float *out, size_t rows, size_t cols)
{
    for (size_t p = 0; p < rows; p++)
        for (size_t i = 0; i < cols; i++) {
            double angle = table_angle(p, i / 2, cols);
            out[p * cols + i] = (float)(i % 2 ? cos(angle) : sin(angle));
        }
}

static void fill_rotary(float *out, size_t rows, size_t cols, bool sine)
{
    for (size_t p = 0; p < rows; p++)
        for (size_t i = 0; i < cols; i++) {
            double angle = table_angle(p, i, 2 * cols);
            out[p * cols + i] = (float)(sine ? sin(angle) : cos(angle));
        }
}

static void fill_random(float *out, const tensor_need *need, size_t elements, uint64_t seed)
{
    rung_rng rng;
    double scale = 1 / sqrt((double)(need->fan_in ? need->fan_in : 1));
    rung_rng_init(&rng, seed, rung_hash64(need->name, strlen(need->name)), 0);
    for (size_t i = 0; i < elements; i++) out[i] = (float)(scale * rung_rng_normal(&rng));
}

static void fill_tensor(float *out, const tensor_need *need, size_t elements, uint64_t seed)
{
    if (need->init == RUNG_INIT_RANDOM) fill_random(out, need, elements, seed);
    for (size_t i = 0; need->init != RUNG_INIT_RANDOM && i < elements; i++) {
        out[i] = need->fill;
        if (need->init == RUNG_INIT_RETENTION) out[i] = (float)log1p(-ldexp(1, -5 - (int)(i < 100 ? i : 100)));
        if (need->init == RUNG_INIT_RATES) out[i] = -(float)(i % need->shape[need->rank - 1] + 1);
    }
}

static rung_status grow(writing *w, rung_error *err)
{
    if (w->count < w->capacity) return RUNG_OK;
    size_t capacity = w->capacity ? 2 * w->capacity : 32;
    rung_tensor *grown = realloc(w->tensor, capacity * sizeof *grown);
    if (!grown) return rung_fail(err, RUNG_SYSTEM, "out of memory for %zu tensors", capacity);
    w->tensor = grown, w->capacity = capacity;
    return RUNG_OK;
}

static bool elements_of(size_t *out, const tensor_need *need)
{
    *out = 1;
    for (size_t i = 0; i < need->rank; i++)
        if (!rung_size_mul(out, *out, need->shape[i])) return false;
    return true;
}

static rung_status write_tensor(void *context, const tensor_need *need, rung_error *err)
{
    writing *w = context;
    size_t elements;
    if (need->optional) return RUNG_OK;
    if (!elements_of(&elements, need) || grow(w, err) != RUNG_OK)
        return rung_fail(err, RUNG_SYSTEM, "tensor %s is too large", need->name);
    float *data = rung_arena_alloc(&w->arena, elements, sizeof *data, err);
    char *name = rung_arena_strdup(&w->arena, need->name, err);
    if (!data || !name) return RUNG_SYSTEM;
    rung_tensor *tensor = &w->tensor[w->count++];
    *tensor = (rung_tensor){.name = name,
                            .dtype = RUNG_F32,
                            .dtype_name = "F32",
                            .rank = need->rank,
                            .shape = {need->shape[0], need->shape[1], need->shape[2]},
                            .elements = elements,
                            .bytes = (const uint8_t *)data,
                            .size_bytes = elements * sizeof *data};
    if (strcmp(name, "rotary.cos") == 0 || strcmp(name, "rotary.sin") == 0)
        fill_rotary(data, need->shape[0], need->shape[1], name[7] == 's');
    else
        fill_tensor(data, need, elements, w->seed);
    return RUNG_OK;
}

static void make_sinusoidal(writing *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->tensor[i].name, "positions") == 0)
            fill_sinusoidal((float *)w->tensor[i].bytes, w->tensor[i].shape[0], w->tensor[i].shape[1]);
}

/* Writes to a path, or makes a model in memory. */
static rung_status write_random(writing *w, const char *path, rung_model **out, const rung_model_spec *spec,
                                const rung_arch *arch, const rung_mlp *mlp, rung_error *err)
{
    char made_by[64];
    for (size_t i = 0; i < arch->layer_count; i++)
        if (mlp[i] == RUNG_MLP_TABLE)
            return rung_fail(err, RUNG_USAGE,
                             "layer %zu: a random model cannot have mlp=table; use relu, gelu or swiglu", i);
    RUNG_TRY(rung_model_visit_tensors(spec, arch, mlp, write_tensor, w, err));
    if (spec->positions == RUNG_POS_SINUSOIDAL) make_sinusoidal(w);
    snprintf(made_by, sizeof made_by, "rung build random, seed %llu", (unsigned long long)w->seed);
    return path ? rung_model_write(path, spec, w->tensor, w->count, made_by, err)
                : rung_model_from_tensors(out, spec, w->tensor, w->count, made_by, err);
}

static rung_status random_to(const char *path, rung_model **out, const rung_model_spec *spec, uint64_t seed,
                             rung_error *err)
{
    writing w = {.seed = seed};
    rung_arch arch;
    rung_mlp *mlp;
    rung_arena_init(&w.arena);
    rung_status status = rung_model_spec_parse(&arch, &mlp, spec, &w.arena, err);
    if (status == RUNG_OK) {
        status = write_random(&w, path, out, spec, &arch, mlp, err);
        rung_arch_clear(&arch);
    }
    free(w.tensor);
    rung_arena_clear(&w.arena);
    return status;
}

rung_status rung_model_write_random(const char *path, const rung_model_spec *spec, uint64_t seed, rung_error *err)
{
    return random_to(path, NULL, spec, seed, err);
}

rung_status rung_model_random(rung_model **out, const rung_model_spec *spec, uint64_t seed, rung_error *err)
{
    return random_to(NULL, out, spec, seed, err);
}
