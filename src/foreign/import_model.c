/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * From the tensors of another program to those of a model file. What differs:
 * - the factor 1/sqrt(dk) of the scores goes into the query projection, or into the weights of the norm of queries;
 * - a rotation of neighbours becomes one of halves by another order of the rows of queries and keys;
 * - matrices that are stored as [in][out] are turned, and a joint projection of q, k, v is taken apart.
 * All values are floats then. A float times 1/sqrt(dk) is rounded once; everything else is copied.
 */
#include <math.h>
#include <string.h>

#include "foreign_inside.h"

enum { CONTEXT_DEFAULT_MAX = 4096, TENSORS_PER_LAYER = 20 };

typedef struct importer {
    foreign_weights weights;
    foreign_shape shape;
    rung_model_spec spec;
    rung_tensor *tensor;
    size_t count, room;
    size_t *token, tokens, *answer, answers;
    rung_readout readout;
    rung_arena arena;
    rung_error *err;
} importer;

const char *const rung_readout_names[] = {"own", "tied", "hidden", NULL};

/* rows x cols, [out][in] */
typedef struct matrix {
    float *value;
    size_t rows, cols;
} matrix;

/* ---- what the file has ------------------------------------------------------------------------------------------ */

static void foreign_name(char name[FOREIGN_NAME_MAX], const importer *m, const char *pattern, size_t layer,
                         const char *suffix)
{
    foreign_layer_name(name, m->shape.prefix, pattern, layer, suffix);
}

static float *floats(const importer *m, size_t rows, size_t cols)
{
    size_t count;
    if (!rung_size_mul(&count, rows, cols)) {
        (void)rung_fail(m->err, RUNG_INPUT, "%s: a matrix of %zu x %zu is too large", m->weights.path, rows, cols);
        return NULL;
    }
    return rung_arena_alloc((rung_arena *)&m->arena, count, sizeof(float), m->err);
}

static rung_status wrong_shape(const importer *m, const rung_tensor *tensor, size_t rows, size_t cols)
{
    char text[128];
    rung_tensor_describe(text, sizeof text, tensor);
    return rung_fail(m->err, RUNG_INPUT, "%s: tensor '%.100s' is %s, and [%zu,%zu] is needed", m->weights.path,
                     tensor->name, text, rows, cols);
}

static void transpose(float *to, const float *from, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) to[j * rows + i] = from[i * cols + j];
}

/* Loads a matrix [rows][cols], or [cols][rows] where the family stores [in][out]. */
static rung_status load_matrix(importer *m, matrix *out, const rung_tensor *tensor, size_t rows, size_t cols,
                               bool transposed)
{
    size_t first = transposed ? cols : rows, second = transposed ? rows : cols;
    if (tensor->rank != 2 || tensor->shape[0] != first || tensor->shape[1] != second)
        return wrong_shape(m, tensor, first, second);
    float *value = floats(m, rows, cols), *turned = transposed ? floats(m, rows, cols) : NULL;
    if (!value || (transposed && !turned)) return RUNG_SYSTEM;
    rung_status status = rung_tensor_to_f32(value, tensor, m->err);
    if (status) return rung_fail_at(m->err, status, "%s", m->weights.path);
    if (transposed) transpose(turned, value, first, second);
    *out = (matrix){transposed ? turned : value, rows, cols};
    return RUNG_OK;
}

/* Leaves out->value NULL where the file has no such tensor and it may be absent. */
static rung_status take_matrix(importer *m, matrix *out, const char *pattern, size_t layer, size_t rows, size_t cols)
{
    char name[FOREIGN_NAME_MAX];
    foreign_name(name, m, pattern, layer, ".weight");
    const rung_tensor *tensor = foreign_weights_use(&m->weights, name);
    if (!tensor) return rung_fail(m->err, RUNG_INPUT, "%s: has no tensor %s", m->weights.path, name);
    return load_matrix(m, out, tensor, rows, cols, m->shape.transposed);
}

static rung_status take_vector(importer *m, matrix *out, const char *pattern, size_t layer, const char *suffix,
                               size_t length)
{
    char name[FOREIGN_NAME_MAX];
    foreign_name(name, m, pattern, layer, suffix);
    const rung_tensor *tensor = foreign_weights_use(&m->weights, name);
    if (!tensor) return rung_fail(m->err, RUNG_INPUT, "%s: has no tensor %s", m->weights.path, name);
    if (tensor->elements != length || tensor->rank != 1) return wrong_shape(m, tensor, length, 1);
    float *value = floats(m, length, 1);
    if (!value) return RUNG_SYSTEM;
    rung_status status = rung_tensor_to_f32(value, tensor, m->err);
    if (status) return rung_fail_at(m->err, status, "%s", m->weights.path);
    *out = (matrix){value, length, 1};
    return RUNG_OK;
}

/* Leaves out->value NULL where there is no bias. A tensor that the published program would pass over is refused: it was
 * stored for another program, and which of the two is meant nobody says. */
static rung_status take_bias(importer *m, matrix *out, const char *pattern, size_t layer, size_t length,
                             foreign_bias rule)
{
    char name[FOREIGN_NAME_MAX];
    *out = (matrix){0};
    foreign_name(name, m, pattern, layer, ".bias");
    bool present = foreign_weights_has(&m->weights, name);
    if (present && rule == FOREIGN_BIAS_NEVER)
        return rung_fail(
            m->err, RUNG_INPUT,
            "%s: tensor %s is a bias, and by the configuration %s has none there (keys \"attention_bias\", "
            "\"mlp_bias\" of llama)",
            m->weights.path, name, m->shape.family);
    return present || rule == FOREIGN_BIAS_ALWAYS ? take_vector(m, out, pattern, layer, ".bias", length) : RUNG_OK;
}

/* ---- what the model gets ----------------------------------------------------------------------------------------- */

/* Rank 1 if there is one column, unless `is_matrix`. */
static rung_status put(importer *m, const char *name, matrix from, bool is_matrix)
{
    if (!from.value) return RUNG_OK;
    char *copy = rung_arena_strdup(&m->arena, name, m->err);
    if (!copy) return RUNG_SYSTEM;
    m->tensor[m->count++] = (rung_tensor){.name = copy,
                                          .dtype = RUNG_F32,
                                          .rank = is_matrix ? 2 : 1,
                                          .shape = {from.rows, is_matrix ? from.cols : 0},
                                          .elements = from.rows * from.cols,
                                          .bytes = (const uint8_t *)from.value,
                                          .size_bytes = from.rows * from.cols * sizeof(float)};
    return RUNG_OK;
}

static rung_status put_layer(importer *m, size_t layer, const char *what, matrix from, bool is_matrix)
{
    char name[96];
    snprintf(name, sizeof name, "layers.%zu.%s", layer, what);
    return put(m, name, from, is_matrix);
}

static matrix choose_rows(importer *m, matrix from, const size_t *row, size_t rows)
{
    matrix to = {floats(m, rows, from.cols), rows, from.cols};
    for (size_t i = 0; to.value && i < rows; i++)
        memcpy(to.value + i * to.cols, from.value + row[i] * from.cols, from.cols * sizeof(float));
    return to;
}

/* ---- one layer --------------------------------------------------------------------------------------------------- */

static rung_status copy_norm(importer *m, const char *pattern, size_t layer, const char *name)
{
    matrix weight, bias = {0};
    char text[80];
    RUNG_TRY(take_vector(m, &weight, pattern, layer, ".weight", m->shape.d_model));
    if (m->shape.norm == RUNG_NORM_LAYER) RUNG_TRY(take_vector(m, &bias, pattern, layer, ".bias", m->shape.d_model));
    for (size_t i = 0; m->shape.plus_one && i < weight.rows; i++) weight.value[i] += 1;
    snprintf(text, sizeof text, "%s.weight", name);
    RUNG_TRY(put(m, text, weight, false));
    snprintf(text, sizeof text, "%s.bias", name);
    return put(m, text, bias, false);
}

static rung_status copy_linear(importer *m, const char *pattern, size_t layer, const char *what, size_t rows,
                               size_t cols, foreign_bias rule)
{
    matrix weight, bias;
    char text[48];
    RUNG_TRY(take_matrix(m, &weight, pattern, layer, rows, cols));
    RUNG_TRY(take_bias(m, &bias, pattern, layer, rows, rule));
    snprintf(text, sizeof text, "%s.weight", what);
    RUNG_TRY(put_layer(m, layer, text, weight, true));
    snprintf(text, sizeof text, "%s.bias", what);
    return put_layer(m, layer, text, bias, false);
}

/* Which row of the file becomes row i of a head, in our order of a rotation. */
static size_t source_row(const foreign_shape *s, size_t head, size_t i, bool rotated)
{
    size_t half = s->head_dim / 2;
    size_t within = !rotated || !s->paired ? i : i < half ? 2 * i : 2 * (i - half) + 1;
    return head * s->head_dim + within;
}

static matrix order_heads(importer *m, matrix from, bool rotated, double factor)
{
    const foreign_shape *s = &m->shape;
    matrix to = {from.value ? floats(m, from.rows, from.cols) : NULL, from.rows, from.cols};
    for (size_t r = 0; to.value && r < from.rows; r++) {
        size_t row = source_row(s, r / s->head_dim, r % s->head_dim, rotated);
        for (size_t c = 0; c < from.cols; c++)
            to.value[r * to.cols + c] = (float)(factor * (double)from.value[row * from.cols + c]);
    }
    return to;
}

typedef struct projection {
    matrix weight, bias;
} projection;

static rung_status take_projection(importer *m, projection *p, const char *pattern, size_t layer, size_t rows)
{
    RUNG_TRY(take_matrix(m, &p->weight, pattern, layer, rows, m->shape.d_model));
    return take_bias(m, &p->bias, pattern, layer, rows, m->shape.qkv_bias);
}

/* Rows first .. first+rows of a joint projection. */
static projection part_of(projection joint, size_t first, size_t rows)
{
    projection p = {{joint.weight.value + first * joint.weight.cols, rows, joint.weight.cols}, {0}};
    if (joint.bias.value) p.bias = (matrix){joint.bias.value + first, rows, 1};
    return p;
}

static bool has_joint(const importer *m, size_t layer)
{
    char name[FOREIGN_NAME_MAX];
    if (!m->shape.names->qkv) return false;
    foreign_name(name, m, m->shape.names->qkv, layer, ".weight");
    return foreign_weights_has(&m->weights, name);
}

static rung_status take_heads(importer *m, projection qkv[3], size_t layer)
{
    const foreign_shape *s = &m->shape;
    size_t queries = s->heads * s->head_dim, keys = s->kv_heads * s->head_dim;
    if (has_joint(m, layer)) {
        projection joint;
        RUNG_TRY(take_projection(m, &joint, s->names->qkv, layer, queries + 2 * keys));
        qkv[0] = part_of(joint, 0, queries);
        qkv[1] = part_of(joint, queries, keys);
        qkv[2] = part_of(joint, queries + keys, keys);
        return RUNG_OK;
    }
    if (!s->names->q)
        return rung_fail(m->err, RUNG_INPUT, "%s: layer %zu has no projection of queries", m->weights.path, layer);
    RUNG_TRY(take_projection(m, &qkv[0], s->names->q, layer, queries));
    RUNG_TRY(take_projection(m, &qkv[1], s->names->k, layer, keys));
    return take_projection(m, &qkv[2], s->names->v, layer, keys);
}

/* The weights of the norm of a head, in our order of a rotation, times a factor. */
static rung_status copy_head_norm(importer *m, const char *pattern, size_t layer, const char *what, double factor)
{
    const foreign_shape *s = &m->shape;
    matrix stored;
    RUNG_TRY(take_vector(m, &stored, pattern, layer, ".weight", s->head_dim));
    matrix weight = {floats(m, s->head_dim, 1), s->head_dim, 1};
    for (size_t i = 0; weight.value && i < s->head_dim; i++)
        weight.value[i] = (float)(factor * (double)stored.value[source_row(s, 0, i, true)]);
    return weight.value ? put_layer(m, layer, what, weight, false) : RUNG_SYSTEM;
}

/* The factor of the scores is part of the last thing that multiplies a query: the norm, or else the projection. */
static rung_status copy_head_norms(importer *m, size_t layer)
{
    const foreign_shape *s = &m->shape;
    if (!s->qk_norm) return RUNG_OK;
    RUNG_TRY(copy_head_norm(m, s->names->q_norm, layer, "mix.0.q_norm", 1 / sqrt((double)s->head_dim)));
    return copy_head_norm(m, s->names->k_norm, layer, "mix.0.k_norm", 1);
}

static rung_status copy_attention(importer *m, size_t layer)
{
    static const char *const inputs[] = {"q", "k", "v"};
    const foreign_shape *s = &m->shape;
    projection qkv[3];
    RUNG_TRY(take_heads(m, qkv, layer));
    for (size_t i = 0; i < 3; i++) {
        char text[48];
        bool rotated = i < 2 && s->positions == RUNG_POS_ROTARY;
        double factor = i == 0 && !s->qk_norm ? 1 / sqrt((double)s->head_dim) : 1;
        matrix weight = order_heads(m, qkv[i].weight, rotated, factor);
        matrix bias = order_heads(m, qkv[i].bias, rotated, factor);
        if (!weight.value || (qkv[i].bias.value && !bias.value)) return RUNG_SYSTEM;
        snprintf(text, sizeof text, "mix.0.%s.weight", inputs[i]);
        RUNG_TRY(put_layer(m, layer, text, weight, true));
        snprintf(text, sizeof text, "mix.0.%s.bias", inputs[i]);
        RUNG_TRY(put_layer(m, layer, text, bias, false));
    }
    RUNG_TRY(copy_head_norms(m, layer));
    return copy_linear(m, s->names->out, layer, "out", s->d_model, s->heads * s->head_dim, s->out_bias);
}

/* Masks and frequencies: nothing is read from them. */
static void pass_over_constants(importer *m, size_t layer)
{
    for (const char *const *pattern = m->shape.names->constants; *pattern; pattern++) {
        char name[FOREIGN_NAME_MAX];
        foreign_name(name, m, *pattern, layer, "");
        (void)foreign_weights_use(&m->weights, name);
    }
}

static rung_status copy_layer(importer *m, size_t layer)
{
    const foreign_shape *s = &m->shape;
    char name[48];
    pass_over_constants(m, layer);
    snprintf(name, sizeof name, "layers.%zu.norm1", layer);
    RUNG_TRY(copy_norm(m, s->names->norm1, layer, name));
    RUNG_TRY(copy_attention(m, layer));
    snprintf(name, sizeof name, "layers.%zu.norm2", layer);
    RUNG_TRY(copy_norm(m, s->names->norm2, layer, name));
    RUNG_TRY(copy_linear(m, s->names->up, layer, "mlp.up", s->d_mlp, s->d_model, s->mlp_bias));
    if (rung_mlp_is_gated(s->mlp))
        RUNG_TRY(copy_linear(m, s->names->gate, layer, "mlp.gate", s->d_mlp, s->d_model, s->mlp_bias));
    return copy_linear(m, s->names->down, layer, "mlp.down", s->d_model, s->d_mlp, s->mlp_bias);
}

/* ---- around the layers ------------------------------------------------------------------------------------------- */

/* The angle of a position is its number times this, for pair i of a head. */
static double frequency_of(const foreign_shape *s, size_t i)
{
    const foreign_rescaling *r = &s->rescaling;
    double plain = pow(s->rotary_base, -2 * (double)i / (double)s->head_dim);
    if (r->kind == FOREIGN_ROTARY_PLAIN) return plain;
    if (r->kind == FOREIGN_ROTARY_LINEAR) return plain / r->factor;
    double waves = r->original * plain / (2 * acos(-1)); /* in the original context */
    double share = (waves - r->low) / (r->high - r->low);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return (1 - share) * plain / r->factor + share * plain;
}

/* cos and sin of position * frequency, rounded once. */
static rung_status make_rotation(importer *m)
{
    size_t half = m->shape.head_dim / 2, rows = m->spec.max_tokens;
    matrix cosine = {floats(m, rows, half), rows, half}, sine = {floats(m, rows, half), rows, half};
    if (!cosine.value || !sine.value) return RUNG_SYSTEM;
    for (size_t t = 0; t < rows; t++)
        for (size_t i = 0; i < half; i++) {
            double angle = (double)t * frequency_of(&m->shape, i);
            cosine.value[t * half + i] = (float)cos(angle);
            sine.value[t * half + i] = (float)sin(angle);
        }
    RUNG_TRY(put(m, "rotary.cos", cosine, true));
    return put(m, "rotary.sin", sine, true);
}

static rung_status copy_positions(importer *m)
{
    const foreign_shape *s = &m->shape;
    char name[FOREIGN_NAME_MAX];
    matrix table;
    if (s->positions == RUNG_POS_ROTARY) return make_rotation(m);
    foreign_name(name, m, s->names->positions, 0, ".weight");
    const rung_tensor *tensor = foreign_weights_use(&m->weights, name);
    if (!tensor) return rung_fail(m->err, RUNG_INPUT, "%s: has no tensor %s", m->weights.path, name);
    RUNG_TRY(load_matrix(m, &table, tensor, s->context, s->d_model, false));
    table.rows = m->spec.max_tokens;
    return put(m, "positions", table, true);
}

/* Coordinate i of what is read becomes answer i. */
static matrix identity(importer *m)
{
    size_t d = m->shape.d_model;
    matrix to = {floats(m, d, d), d, d};
    for (size_t i = 0; to.value && i < d; i++) to.value[i * d + i] = 1;
    return to;
}

/* The read-out of a file has no prefix. */
static rung_status take_readout(importer *m, matrix *out, matrix embed)
{
    const foreign_shape *s = &m->shape;
    char name[FOREIGN_NAME_MAX];
    snprintf(name, sizeof name, "%s.weight", s->names->readout);
    const rung_tensor *own = foreign_weights_use(&m->weights, name);
    if (own && m->readout == RUNG_READOUT_OWN) return load_matrix(m, out, own, s->vocab, s->d_model, false);
    if (own)
        return rung_fail(m->err, RUNG_USAGE, "%s: has a read-out of its own, %s; leave --read-out away",
                         m->weights.path, name);
    if (m->readout == RUNG_READOUT_OWN && !s->tied)
        return rung_fail(m->err, RUNG_INPUT,
                         "%s: has no tensor %s, and its configuration does not say that the embedding reads out; "
                         "--read-out says what does",
                         m->weights.path, name);
    *out = m->readout == RUNG_READOUT_HIDDEN ? identity(m) : embed;
    return out->value ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status copy_ends(importer *m)
{
    const foreign_shape *s = &m->shape;
    char name[FOREIGN_NAME_MAX];
    matrix embed, readout;
    foreign_name(name, m, s->names->embed, 0, ".weight");
    const rung_tensor *tensor = foreign_weights_use(&m->weights, name);
    if (!tensor) return rung_fail(m->err, RUNG_INPUT, "%s: has no tensor %s", m->weights.path, name);
    RUNG_TRY(load_matrix(m, &embed, tensor, s->vocab, s->d_model, false));
    RUNG_TRY(take_readout(m, &readout, embed));
    embed = choose_rows(m, embed, m->token, m->tokens);
    readout = choose_rows(m, readout, m->answer, m->answers);
    if (!embed.value || !readout.value) return RUNG_SYSTEM;
    for (size_t i = 0; s->embed_scale > 0 && i < embed.rows * embed.cols; i++) embed.value[i] *= (float)s->embed_scale;
    RUNG_TRY(put(m, "embed.weight", embed, true));
    RUNG_TRY(put(m, "readout.weight", readout, true));
    return copy_norm(m, s->names->final_norm, 0, "final_norm");
}

/* ---- the spec ---------------------------------------------------------------------------------------------------- */

static rung_status set_task(importer *m, const rung_task_conf *task)
{
    rung_buf canonical;
    m->spec.task = "";
    if (!task) return RUNG_OK;
    if (task->vocab != m->tokens || task->answers != m->answers)
        return rung_fail(m->err, RUNG_USAGE,
                         "the task has %zu tokens and %zu answers, the model %zu and %zu; --tokens and --answers say "
                         "which ids of the model they are",
                         task->vocab, task->answers, m->tokens, m->answers);
    rung_buf_init(&canonical);
    rung_task_canonical(&canonical, task);
    m->spec.task = canonical.failed ? NULL : rung_arena_strdup(&m->arena, canonical.text, m->err);
    rung_buf_clear(&canonical);
    return m->spec.task ? RUNG_OK : RUNG_SYSTEM;
}

static void print_layers(rung_buf *out, const foreign_shape *s, size_t count, bool slides)
{
    if (out->len) rung_buf_putc(out, ',');
    rung_buf_printf(out, "%zu*%s", count, slides ? "window" : "full");
    if (slides) rung_buf_printf(out, ":W=%zu", s->window);
    if (s->qk_norm) rung_buf_puts(out, ":qknorm=1");
    if (s->kv_heads < s->heads) rung_buf_printf(out, ":kv=%zu", s->kv_heads);
}

/* Equal layers in a row are written once. */
static const char *arch_of(importer *m)
{
    const foreign_shape *s = &m->shape;
    rung_buf text;
    rung_buf_init(&text);
    for (size_t i = 0, run; i < s->layers; i += run) {
        bool slides = s->slides ? s->slides[i] : s->window > 0;
        for (run = 1; i + run < s->layers && (!s->slides || s->slides[i + run] == slides);) run++;
        print_layers(&text, s, run, slides);
    }
    const char *copy = text.failed ? NULL : rung_arena_strdup(&m->arena, text.text, m->err);
    rung_buf_clear(&text);
    return copy;
}

static rung_status set_spec(importer *m, const rung_foreign_options *options)
{
    const foreign_shape *s = &m->shape;
    size_t most = s->context < CONTEXT_DEFAULT_MAX ? s->context : CONTEXT_DEFAULT_MAX;
    if (options->max_tokens > s->context && s->positions == RUNG_POS_LEARNED)
        return rung_fail(m->err, RUNG_USAGE, "the model has positions for %zu tokens, not for %zu", s->context,
                         options->max_tokens);
    RUNG_TRY(foreign_ids_read(&m->token, &m->tokens, &m->arena, options->tokens, "tokens", s->vocab, m->err));
    RUNG_TRY(foreign_ids_read(&m->answer, &m->answers, &m->arena, options->answers, "answers",
                              m->readout == RUNG_READOUT_HIDDEN ? s->d_model : s->vocab, m->err));
    m->spec = (rung_model_spec){.arch = arch_of(m),
                                .mlp = rung_mlp_names[s->mlp - 1],
                                .vocab = m->tokens,
                                .answers = m->answers,
                                .max_tokens = options->max_tokens ? options->max_tokens : most,
                                .d_model = s->d_model,
                                .d_mlp = s->d_mlp,
                                .heads = s->heads,
                                .dk = s->head_dim,
                                .dv = s->head_dim,
                                .positions = s->positions,
                                .norm = s->norm,
                                .causal = true,
                                .norm_epsilon = s->epsilon};
    if (!m->spec.arch) return RUNG_SYSTEM;
    RUNG_TRY(set_task(m, options->task));
    return rung_model_spec_check(&m->spec, m->err);
}

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

static void count_types(rung_foreign_report *report, const foreign_weights *w)
{
    size_t used = 0;
    for (size_t i = 0; i < w->count; i++) {
        const char *type = w->tensor[i]->dtype_name;
        size_t same = 0, before = 0;
        for (size_t j = 0; j < w->count; j++) {
            bool equal = strcmp(w->tensor[j]->dtype_name, type) == 0;
            same += equal;
            before += equal && j < i;
        }
        if (before || used >= sizeof report->types) continue;
        used += (size_t)snprintf(report->types + used, sizeof report->types - used, "%s%s %zu", used ? ", " : "", type,
                                 same);
    }
}

static rung_status read_shape(importer *m, const char *path, const rung_foreign_options *options)
{
    rung_buf beside;
    if (m->weights.gguf) return foreign_shape_from_gguf(&m->shape, &m->weights, m->err);
    if (options->config) return foreign_shape_from_json(&m->shape, &m->weights, options->config, &m->arena, m->err);
    const char *slash = strrchr(path, '/');
    bool is_folder = m->weights.shards && strcmp(rung_safetensors_name(m->weights.shard[0]), path) != 0;
    rung_buf_init(&beside);
    if (is_folder)
        rung_buf_printf(&beside, "%s/config.json", path);
    else
        rung_buf_printf(&beside, "%.*sconfig.json", slash ? (int)(slash - path + 1) : 0, path);
    rung_status status = beside.failed
                             ? rung_fail(m->err, RUNG_SYSTEM, "memory runs out")
                             : foreign_shape_from_json(&m->shape, &m->weights, beside.text, &m->arena, m->err);
    rung_buf_clear(&beside);
    return status;
}

static rung_status convert(importer *m)
{
    if (m->shape.layers > m->weights.count) /* before memory is taken for them */
        return rung_fail(m->err, RUNG_INPUT, "%s: %zu tensors are not %zu layers", m->weights.path, m->weights.count,
                         m->shape.layers);
    m->room = 8 + TENSORS_PER_LAYER * m->shape.layers;
    m->tensor = rung_arena_alloc(&m->arena, m->room, sizeof *m->tensor, m->err);
    if (!m->tensor) return RUNG_SYSTEM;
    RUNG_TRY(copy_ends(m));
    for (size_t i = 0; i < m->shape.layers; i++) RUNG_TRY(copy_layer(m, i));
    RUNG_TRY(copy_positions(m));
    return foreign_weights_check_all_used(&m->weights, m->err);
}

static rung_status write_model(const importer *m, const char *path, const char *out)
{
    const char *slash = strrchr(path, '/');
    char made_by[256];
    snprintf(made_by, sizeof made_by, "import-model %.120s (%s)", slash && slash[1] ? slash + 1 : path,
             m->shape.family);
    return rung_model_write(out, &m->spec, m->tensor, m->count, made_by, m->err);
}

static void fill_report(rung_foreign_report *report, const importer *m)
{
    *report = (rung_foreign_report){.layers = m->shape.layers,
                                    .d_model = m->shape.d_model,
                                    .heads = m->shape.heads,
                                    .kv_heads = m->shape.kv_heads,
                                    .vocab = m->tokens,
                                    .max_tokens = m->spec.max_tokens};
    memcpy(report->family, m->shape.family, sizeof report->family);
    count_types(report, &m->weights);
}

rung_status rung_foreign_import(rung_foreign_report *report, const char *path, const char *out,
                                const rung_foreign_options *options, rung_error *err)
{
    importer m = {.readout = options->readout, .err = err};
    rung_arena_init(&m.arena);
    rung_status status = foreign_weights_open(&m.weights, path, err);
    RUNG_NEXT(status, read_shape(&m, path, options));
    RUNG_NEXT(status, foreign_shape_check(&m.shape, path, err));
    RUNG_NEXT(status, set_spec(&m, options));
    RUNG_NEXT(status, convert(&m));
    RUNG_NEXT(status, write_model(&m, path, out));
    if (status == RUNG_OK) fill_report(report, &m);
    foreign_weights_close(&m.weights);
    rung_arena_clear(&m.arena);
    return status;
}
