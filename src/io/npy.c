/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One numpy array: magic, version, header length, a Python dict literal with exactly the keys descr,
 * fortran_order and shape, then the data. The literal is parsed by a grammar of its own, never evaluated.
 * Versions 1, 2 and 3 are read, 1.0 is written, byte for byte as numpy writes it. Objects (pickles),
 * structured types and swapped bytes are not read.
 */
#include "io_internal.h"

static const struct npy_type {
    const char *descr;
    rung_dtype dtype;
} TYPES[] = {
    {"<f8", RUNG_F64}, {"<f4", RUNG_F32}, {"<f2", RUNG_F16}, {"<i8", RUNG_I64}, {"<i4", RUNG_I32}, {"<i2", RUNG_I16},
    {"|i1", RUNG_I8},  {"<u8", RUNG_U64}, {"<u4", RUNG_U32}, {"<u2", RUNG_U16}, {"|u1", RUNG_U8},  {"|b1", RUNG_BOOL},
};

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_LEN = 6 };

typedef struct npy_header {
    char descr[40];
    bool fortran;
    size_t rank, shape[RUNG_RANK_MAX];
} npy_header;

/* ---- the dict literal ---- */

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\n')) in->at++;
}

static bool accept(cursor *in, const char *token)
{
    size_t len = strlen(token);
    skip_space(in);
    if ((size_t)(in->end - in->at) < len || memcmp(in->at, token, len) != 0) return false;
    in->at += len;
    return true;
}

/* Reads a quoted string without escapes that fits into `out`. */
static bool read_string(char *out, size_t size, cursor *in)
{
    char quote = accept(in, "'") ? '\'' : '"';
    if (quote == '"' && !accept(in, "\"")) return false;
    for (size_t i = 0; i < size && in->at < in->end; i++) {
        char c = *in->at++;
        out[i] = c == quote ? '\0' : c;
        if (c == quote) return true;
        if (c == '\\' || c < ' ') return false;
    }
    return false;
}

static bool read_size(size_t *out, cursor *in)
{
    size_t value = 0;
    skip_space(in);
    const char *first = in->at;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++)
        if (!rung_size_mul(&value, value, 10) || !rung_size_add(&value, value, (size_t)(*in->at - '0'))) return false;
    if (in->at == first || (*first == '0' && in->at - first > 1)) return false;
    if (in->at < in->end && *in->at == 'L') in->at++; /* Python 2 wrote long integers with an L */
    *out = value;
    return true;
}

/* Each reader below returns NULL, or a text that says what is wrong. */

static const char *read_descr(npy_header *out, cursor *in)
{
    skip_space(in);
    if (in->at < in->end && *in->at == '[')
        return "is a structured array, which is not read; save each field as an array of its own";
    return read_string(out->descr, sizeof out->descr, in) ? NULL : "has a damaged header ('descr' is not a string)";
}

static const char *read_order(npy_header *out, cursor *in)
{
    out->fortran = accept(in, "True");
    return out->fortran || accept(in, "False") ? NULL : "has a damaged header ('fortran_order' is not True or False)";
}

static const char *read_shape(npy_header *out, cursor *in)
{
    static const char damaged[] = "has a damaged header ('shape' is not a tuple of whole numbers)";
    bool comma = true;
    if (!accept(in, "(")) return damaged;
    for (out->rank = 0; !accept(in, ")"); out->rank++) {
        size_t size;
        if (!comma || !read_size(&size, in)) return damaged;
        if (out->rank == RUNG_RANK_MAX) return "has more than 8 dimensions, which are not read; reshape it";
        out->shape[out->rank] = size;
        comma = accept(in, ",");
    }
    return out->rank == 1 && !comma ? damaged : NULL; /* (3) is a number, (3,) is a tuple */
}

static const struct npy_key {
    const char *name;
    const char *(*read)(npy_header *out, cursor *in);
} KEYS[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};

static const char *read_member(npy_header *out, bool seen[], cursor *in)
{
    char key[16];
    if (!read_string(key, sizeof key, in) || !accept(in, ":")) return "has a damaged header (no key and colon)";
    for (size_t i = 0; i < RUNG_COUNT(KEYS); i++) {
        if (strcmp(key, KEYS[i].name) != 0) continue;
        if (seen[i]) return "has a damaged header (a key occurs twice)";
        seen[i] = true;
        return KEYS[i].read(out, in);
    }
    return "has a damaged header (a key other than descr, fortran_order and shape)";
}

static const char *read_literal(npy_header *out, const char *text, size_t len)
{
    cursor in = {text, text + len};
    bool seen[RUNG_COUNT(KEYS)] = {0}, comma = true;
    if (!accept(&in, "{")) return "has a damaged header (it is no dict)";
    while (!accept(&in, "}")) {
        if (!comma) return "has a damaged header (a comma is missing)";
        const char *wrong = read_member(out, seen, &in);
        if (wrong) return wrong;
        comma = accept(&in, ",");
    }
    skip_space(&in);
    if (in.at != in.end) return "has a damaged header (text after the dict)";
    for (size_t i = 0; i < RUNG_COUNT(KEYS); i++)
        if (!seen[i]) return "has a damaged header (descr, fortran_order or shape is missing)";
    return NULL;
}

/* ---- the array ---- */

static const struct npy_type *type_named(const char *descr)
{
    if (descr[0] == '\0' || !strchr("<|>", descr[0])) return NULL;
    for (size_t i = 0; i < RUNG_COUNT(TYPES); i++)
        if (strcmp(TYPES[i].descr + 1, descr + 1) == 0) return &TYPES[i];
    return NULL;
}

static rung_status find_type(rung_tensor *out, const npy_header *header, rung_error *err)
{
    const struct npy_type *type = type_named(header->descr);
    if (strchr(header->descr, 'O'))
        return rung_fail(err, RUNG_INPUT, "array '%s' holds Python objects, which are never loaded; save it as numbers",
                         LABEL(out->name));
    if (!type)
        return rung_fail(err, RUNG_INPUT, "array '%s' has dtype '%s'; convert it to f2, f4, f8, i1-i8, u1-u8 or bool",
                         LABEL(out->name), LABEL(header->descr));
    bool one_byte = type->descr[0] == '|';
    if (!one_byte && header->descr[0] != '<')
        return rung_fail(err, RUNG_INPUT, "array '%s' has dtype '%s', which is not little endian; save a.astype('%s')",
                         LABEL(out->name), LABEL(header->descr), type->descr);
    out->dtype = type->dtype;
    out->dtype_name = type->descr;
    return RUNG_OK;
}

static rung_status take_data(rung_tensor *out, const npy_header *header, const uint8_t *data, size_t size,
                             rung_error *err)
{
    RUNG_TRY(find_type(out, header, err));
    if (header->fortran && header->rank > 1)
        return rung_fail(err, RUNG_INPUT, "array '%s' is in Fortran order; save numpy.ascontiguousarray(a)",
                         LABEL(out->name));
    out->rank = header->rank;
    memcpy(out->shape, header->shape, sizeof out->shape);
    if (!io_tensor_count_elements(out) || !rung_size_mul(&out->size_bytes, out->elements, rung_dtype_bytes(out->dtype)))
        return rung_fail(err, RUNG_INPUT, "array '%s': the product of its shape overflows", LABEL(out->name));
    if (out->size_bytes != size)
        return rung_fail(err, RUNG_INPUT,
                         "array '%s' needs %zu bytes of data and has %zu; it is damaged, save it again",
                         LABEL(out->name), out->size_bytes, size);
    out->bytes = data;
    return RUNG_OK;
}

rung_status rung_npy_read(rung_tensor *out, const void *bytes, size_t size, const char *name, rung_error *err)
{
    const uint8_t *p = bytes;
    *out = (rung_tensor){.name = name};
    if (size < MAGIC_LEN + 2 || memcmp(p, MAGIC, MAGIC_LEN) != 0)
        return rung_fail(err, RUNG_INPUT, "array '%s' is not an npy file (its magic number is missing)", LABEL(name));
    uint8_t major = p[MAGIC_LEN], minor = p[MAGIC_LEN + 1];
    if (major < 1 || major > 3 || minor != 0)
        return rung_fail(err, RUNG_INPUT, "array '%s' has npy version %d.%d; 1.0, 2.0 and 3.0 are read", LABEL(name),
                         major, minor);
    size_t start = MAGIC_LEN + 2 + (major == 1 ? 2 : 4);
    size_t length = size < start ? 0 : major == 1 ? io_le16(p + MAGIC_LEN + 2) : io_le32(p + MAGIC_LEN + 2);
    if (size < start || length > size - start)
        return rung_fail(err, RUNG_INPUT, "array '%s' ends inside its header; it is cut short", LABEL(name));
    npy_header header = {0};
    const char *wrong = read_literal(&header, (const char *)p + start, length);
    if (wrong) return rung_fail(err, RUNG_INPUT, "array '%s' %s", LABEL(name), wrong);
    return take_data(out, &header, p + start + length, size - start - length, err);
}

/* ---- writing ---- */

static void add_literal(rung_buf *out, const char *descr, const rung_tensor *tensor)
{
    rung_buf_printf(out, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t i = 0; i < tensor->rank; i++) rung_buf_printf(out, i ? ", %zu" : "%zu", tensor->shape[i]);
    rung_buf_puts(out, tensor->rank == 1 ? ",), }" : "), }");
}

rung_status io_npy_header(rung_buf *out, const rung_tensor *tensor, rung_error *err)
{
    const struct npy_type *type = NULL;
    for (size_t i = 0; i < RUNG_COUNT(TYPES); i++)
        if (TYPES[i].dtype == tensor->dtype) type = &TYPES[i];
    if (!type)
        return rung_fail(err, RUNG_USAGE, "tensor '%s': numpy has no type %s; convert it to F32", LABEL(tensor->name),
                         rung_dtype_name(tensor->dtype));
    RUNG_TRY(io_tensor_check(tensor, rung_dtype_bytes(tensor->dtype) * 8, err));
    rung_buf literal;
    rung_buf_init(&literal);
    add_literal(&literal, type->descr, tensor);
    /* The data start at a multiple of 64 bytes, which counts the newline and everything before the literal. For every
     * array that numpy can hold this is byte 128, as in the files that numpy writes. */
    while ((MAGIC_LEN + 4 + literal.len + 1) % 64 != 0 && !literal.failed) rung_buf_putc(&literal, ' ');
    rung_buf_putc(&literal, '\n');
    uint16_t length = (uint16_t)literal.len; /* at most a few hundred, because rank <= 8 */
    rung_buf_add(out, MAGIC, MAGIC_LEN);
    rung_buf_add(out, "\1\0", 2);
    rung_buf_add(out, &length, sizeof length);
    rung_buf_add(out, literal.text, literal.len);
    rung_status status = rung_buf_ok(&literal, err);
    rung_buf_clear(&literal);
    return status ? status : rung_buf_ok(out, err);
}

rung_status rung_npy_append(rung_buf *out, const rung_tensor *tensor, rung_error *err)
{
    RUNG_TRY(io_npy_header(out, tensor, err));
    rung_buf_add(out, tensor->bytes, tensor->size_bytes);
    return rung_buf_ok(out, err);
}
