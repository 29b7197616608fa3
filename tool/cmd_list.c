/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung list: what there is, one line each with its source, or one item in detail.
 */
#include <string.h>

#include "catalog.h"
#include "output.h"

static const char *kind_at(size_t index)
{
    return tool_catalogs[index].kind; /* NULL ends both tables */
}

static const char *item_name_at(size_t index)
{
    for (const tool_catalog *row = tool_catalogs; row->kind; row++) {
        if (index < row->count()) return row->at(index).name;
        index -= row->count();
    }
    return NULL;
}

/* The columns of the names, so that the kinds line up below each other. */
static size_t name_columns(void)
{
    size_t width = 0;
    for (size_t i = 0; item_name_at(i); i++)
        if (strlen(item_name_at(i)) > width) width = strlen(item_name_at(i));
    return width;
}

/* One line each, for grep; a terminal gets it wrapped below the summary. */
static void print_item(rung_buf *out, const tool_item *item, size_t indent)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%s  [%s]", item->summary, item->source);
    if (tool_out_is_terminal() && !text.failed)
        tool_two_columns(out, item->name, text.text, indent);
    else
        rung_buf_printf(out, "  %-*s%s\n", (int)(indent - 2), item->name, text.failed ? "" : text.text);
    rung_buf_clear(&text);
}

/* brief: the kind stands alone, so there is room for a few lines on each item. */
static void print_kind(rung_buf *out, const tool_catalog *catalog, bool brief)
{
    const size_t indent = name_columns() + 4;
    rung_buf_printf(out, "%s%s%s\n", tool_style_bold(), catalog->kind, tool_style_off());
    if (catalog->count() == 0) rung_buf_printf(out, "  %s\n", catalog->none);
    for (size_t i = 0; i < catalog->count(); i++) {
        const tool_item item = catalog->at(i);
        print_item(out, &item, indent);
        if (brief && catalog->brief) catalog->brief(out, i);
    }
    if (brief && catalog->foot) catalog->foot(out);
}

static void print_all(rung_buf *out, const tool_catalog *only)
{
    if (only) {
        print_kind(out, only, true);
        return;
    }
    for (const tool_catalog *row = tool_catalogs; row->kind; row++) {
        if (row != tool_catalogs) rung_buf_putc(out, '\n');
        print_kind(out, row, false);
    }
    rung_buf_puts(out, "\nDetails of one: rung list tasks NAME\n");
}

static void print_json(rung_buf *text, const tool_catalog *only, size_t only_item)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.list/1", true);
    for (const tool_catalog *row = tool_catalogs; row->kind; row++) {
        if (only && only != row) continue;
        rung_jout_array(&out, row->kind);
        for (size_t i = 0; i < row->count(); i++)
            if (only_item == SIZE_MAX || only_item == i) tool_catalog_json(&out, row, i);
        rung_jout_end(&out);
    }
    rung_jout_finish(&out);
}

static rung_status find_kind(const tool_catalog **out, const char *name, rung_error *err)
{
    const char *kinds[16];
    size_t count = 0;
    while (kind_at(count) && count < RUNG_COUNT(kinds)) {
        kinds[count] = kind_at(count);
        count++;
    }
    *out = tool_catalog_get(name);
    if (*out) return RUNG_OK;
    const char *near = rung_guess_name(name, kinds, count);
    if (near) return rung_fail(err, RUNG_USAGE, "unknown kind '%s'; did you mean '%s'?", name, near);
    return rung_fail(err, RUNG_USAGE, "unknown kind '%s'; one of mechanisms, tasks, constructions, bounds, attacks",
                     name);
}

static rung_status find_item(size_t *out, const tool_catalog *catalog, const char *name, rung_error *err)
{
    *out = tool_catalog_find(catalog, name);
    if (*out != SIZE_MAX) return RUNG_OK;
    const char *near = tool_catalog_nearest(catalog, name);
    if (near) return rung_fail(err, RUNG_USAGE, "no '%s' among the %s; did you mean '%s'?", name, catalog->kind, near);
    return rung_fail(err, RUNG_USAGE, "no '%s' among the %s; see 'rung list %s'", name, catalog->kind, catalog->kind);
}

static int run_list(const tool_call *call, rung_error *err)
{
    const tool_catalog *catalog = NULL;
    size_t item = SIZE_MAX;
    rung_status status = RUNG_OK;
    if (call->arguments > 0) status = find_kind(&catalog, call->argument[0], err);
    if (!status && call->arguments > 1) status = find_item(&item, catalog, call->argument[1], err);
    RUNG_TRY(status);

    rung_buf text;
    rung_buf_init(&text);
    if (call->json)
        print_json(&text, catalog, item);
    else if (item != SIZE_MAX)
        tool_catalog_print(&text, catalog, item);
    else
        print_all(&text, catalog);
    status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

const tool_command tool_command_list = {
    .name = "list",
    .summary = "what there is: mechanisms, tasks, constructions, bounds, attacks",
    .examples =
        (const tool_example[]){
            {"rung list", "everything, one line each"},
            {"rung list tasks", "the problems"},
            {"rung list tasks eva", "one in detail, with parameters"},
            {"rung list mechanisms linear", "equation, inputs, what it carries"},
            {"rung list --json", "all details, for programs"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "KIND",
             .help = "mechanisms, tasks, constructions, bounds or attacks",
             .most = 1,
             .names = kind_at},
            {.metavar = "NAME", .help = "an item of that kind", .most = 1, .names = item_name_at},
            {0},
        },
    .run = run_list,
};
