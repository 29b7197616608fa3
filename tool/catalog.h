/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the library has, by kind, in one shape for the list command: name, summary, source, parameters, and
 * the rest that only that kind has. A new registry is a row in catalog.c.
 */
#ifndef RUNG_TOOL_CATALOG_H
#define RUNG_TOOL_CATALOG_H

#include "rung/render.h"

typedef struct rung_item {
    const char *name, *summary, *source;
    const rung_param *params; /* NULL: none */
} rung_item;

typedef struct rung_catalog {
    const char *kind; /* plural, as in `rung list tasks` */
    const char *none; /* what to say when it is empty */
    size_t (*count)(void);
    rung_item (*at)(size_t index);
    /* What `rung list KIND` adds below the line of an item: whole lines, indented; NULL: nothing. */
    void (*brief)(rung_buf *out, size_t index);
    /* What is said once below the list of this kind alone; NULL: nothing. */
    void (*foot)(rung_buf *out);
    /* What only this kind has, below source and above parameters; NULL: nothing. */
    void (*detail)(rung_buf *out, size_t index);
    void (*detail_json)(rung_jout *out, size_t index);
} rung_catalog;

extern const rung_catalog rung_catalogs[]; /* ends with a NULL kind */

const rung_catalog *rung_catalog_get(const char *kind);                  /* NULL if unknown */
size_t rung_catalog_find(const rung_catalog *catalog, const char *name); /* SIZE_MAX if unknown */
/* "did you mean" among the items, or NULL. */
const char *rung_catalog_nearest(const rung_catalog *catalog, const char *name);

/* Everything about one item, as text or as one JSON object. */
void rung_catalog_print(rung_buf *out, const rung_catalog *catalog, size_t index);
void rung_catalog_json(rung_jout *out, const rung_catalog *catalog, size_t index);
/* The parameters alone: "  N=16   table entries (1 to 4096)". */
void rung_params_print(rung_buf *out, const rung_param *params);

#endif
