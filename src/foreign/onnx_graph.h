/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A graph of ONNX in the making: nodes and initializers in the order in which they are added, as protocol buffers. A
 * value is a name. Where memory runs out the graph remembers it, and writing fails.
 */
#ifndef RUNG_FOREIGN_ONNX_GRAPH_H
#define RUNG_FOREIGN_ONNX_GRAPH_H

#include "rung/base.h"

typedef const char *onnx_value; /* "" where an optional input is left out */

typedef enum onnx_type { ONNX_FLOAT = 1, ONNX_INT64 = 7, ONNX_BOOL = 9 } onnx_type;

/* One attribute; the kind says which field holds. */
typedef struct onnx_attribute {
    const char *name; /* NULL ends a list */
    enum { ONNX_ATTRIBUTE_REAL = 1, ONNX_ATTRIBUTE_INT = 2, ONNX_ATTRIBUTE_TEXT = 3, ONNX_ATTRIBUTE_INTS = 7 } kind;
    double real;
    int64_t number;
    const char *text;
    const int64_t *numbers;
    size_t count;
} onnx_attribute;

typedef struct onnx_graph {
    rung_arena arena; /* names */
    rung_buf nodes, initializers, inputs, outputs, metadata;
    size_t values;
    bool contrib; /* an operator of com.microsoft is used */
    rung_status status;
    rung_error *err;
} onnx_graph;

void onnx_graph_init(onnx_graph *g, rung_error *err);
void onnx_graph_clear(onnx_graph *g);

/* in: up to a NULL; attributes: up to a nameless one, or NULL. */
onnx_value onnx_node(onnx_graph *g, const char *op, const onnx_value *in, const onnx_attribute *attributes);
/* An operator of com.microsoft with two outputs, of which the first is returned. */
onnx_value onnx_contrib_node(onnx_graph *g, const char *op, const onnx_value *in, const onnx_attribute *attributes);
#define ONNX(g, op, ...)             onnx_node(g, op, (const onnx_value[]){__VA_ARGS__, NULL}, NULL)
#define ONNX_WITH(g, op, attrs, ...) onnx_node(g, op, (const onnx_value[]){__VA_ARGS__, NULL}, attrs)

/* Constants. rank 0 is a scalar. The name is made unique by a number where it is NULL. */
onnx_value onnx_floats(onnx_graph *g, const char *name, const float *value, const size_t *shape, size_t rank);
onnx_value onnx_ints(onnx_graph *g, const int64_t *value, size_t count);
onnx_value onnx_bools(onnx_graph *g, const bool *value, size_t count);
onnx_value onnx_real(onnx_graph *g, double value);
onnx_value onnx_int(onnx_graph *g, int64_t value); /* a vector of one number */
onnx_value onnx_scalar_int(onnx_graph *g, int64_t value);

/* dims: a number, or a name of a size that the caller of the model chooses. */
typedef struct onnx_dim {
    const char *name;
    size_t size;
} onnx_dim;
onnx_value onnx_input(onnx_graph *g, const char *name, onnx_type type, const onnx_dim *dims, size_t rank);
void onnx_output(onnx_graph *g, const char *name, onnx_value from, const onnx_dim *dims, size_t rank);
void onnx_metadata(onnx_graph *g, const char *key, const char *text);

rung_status onnx_graph_write(const onnx_graph *g, const char *path, rung_error *err);

#endif
