/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the library has, by kind, in one shape for the list command: name, summary, source, parameters, and
 * the rest that only that kind has. A new registry is a row in catalog.c.
 */
#ifndef RUNG_TOOL_CATALOG_H
#define RUNG_TOOL_CATALOG_H

#include "rung/render.h"

typedef struct tool_item {
    const char *name, *summary, *source;
    const rung_param *params; /* NULL: none */
} tool_item;

typedef struct tool_catalog {
    const char *kind; /* plural, as in `rung list tasks` */
    const char *none; /* what to say when it is empty */
    size_t (*count)(void);
    tool_item (*at)(size_t index);
    /* What `rung list KIND` adds below the line of an item: whole lines, indented; NULL: nothing. */
    void (*brief)(rung_buf *out, size_t index);
    /* What is said once below the list of this kind alone; NULL: nothing. */
    void (*foot)(rung_buf *out);
    /* What only this kind has, below source and above parameters; NULL: nothing. */
    void (*detail)(rung_buf *out, size_t index);
    void (*detail_json)(rung_jout *out, size_t index);
} tool_catalog;

extern const tool_catalog tool_catalogs[]; /* ends with a NULL kind */

const tool_catalog *tool_catalog_get(const char *kind);                  /* NULL if unknown */
size_t tool_catalog_find(const tool_catalog *catalog, const char *name); /* SIZE_MAX if unknown */
/* "did you mean" among the items, or NULL. */
const char *tool_catalog_nearest(const tool_catalog *catalog, const char *name);

/* Everything about one item, as text or as one JSON object. */
void tool_catalog_print(rung_buf *out, const tool_catalog *catalog, size_t index);
void tool_catalog_json(rung_jout *out, const tool_catalog *catalog, size_t index);
/* The parameters alone: "  N=16   table entries (1 to 4096)". */
void tool_params_print(rung_buf *out, const rung_param *params);

#endif
