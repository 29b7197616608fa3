/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The catalogues: mechanisms, tasks, constructions, bounds, attacks.
 */
#include "catalog.h"

#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "rung/attack.h"
#include "rung/bound.h"
#include "rung/build.h"
#include "rung/mech.h"
#include "rung/task.h"

#define LABEL_COLUMNS 12

/* ---- mechanisms ------------------------------------------------------------------------------------------------ */

static tool_item mech_item(size_t index)
{
    const rung_mech *mech = rung_mech_at(index);
    return (tool_item){mech->name, mech->summary, mech->source, mech->params};
}

static const char *source_text(rung_mech_source source)
{
    switch (source) {
    case RUNG_FROM_LINEAR:
        return "W x + b";
    case RUNG_FROM_GATE:
        return "sigmoid(W x + b)";
    case RUNG_FROM_DECAY:
        return "-e^A softplus(W x + b)";
    case RUNG_FROM_TIMED:
        return "(W x + b) dt";
    case RUNG_FROM_LOG_GATE:
        return "log sigmoid(W x + b)/16";
    case RUNG_FROM_SOFTPLUS:
        return "softplus(W x + b)";
    case RUNG_FROM_KEEP:
        return "e^-(.61 sigmoid(W x + b))";
    case RUNG_FROM_REMOVAL:
        return "-(W x + b)/|W x + b|";
    case RUNG_FROM_REPLACEMENT:
        return "-a sigmoid(W x + b)";
    case RUNG_FROM_RATE:
        return "a parameter per head";
    case RUNG_FROM_PARAMETER:
        return "a parameter";
    }
    return "";
}

static void mech_brief(rung_buf *out, size_t index)
{
    const rung_mech *mech = rung_mech_at(index);
    rung_buf line;
    rung_buf_init(&line);
    rung_buf_puts(&line, mech->equation);
    rung_buf_puts(&line, "\nfrom");
    for (const rung_mech_input *input = mech->inputs; input->name; input++) {
        const char *shape = rung_mech_dim_text(input->dim) + 1;
        rung_buf_printf(&line, "%s %s [%s%s", input == mech->inputs ? "" : ",", input->name,
                        rung_mech_is_constant(input) ? "" : "T,", shape);
    }
    rung_buf_printf(&line, "; carries %s", mech->carries);
    rung_buf_puts(out, "      ");
    tool_wrap(out, line.text ? line.text : "", 6, 6);
    rung_buf_putc(out, '\n');
    out->failed = out->failed || line.failed;
    rung_buf_clear(&line);
}

static size_t longer(size_t width, const char *text)
{
    return strlen(text) > width ? strlen(text) : width;
}

/* ---- what can be done with a mechanism: what its row has ---- */

static bool is_fast(const rung_mech *mech)
{
    return mech->scan_f32 && (mech->step_f32 || (mech->update_f32 && mech->read_f32));
}

/* The format is an argument of the exact forms: one that has them has them in every format. */
static bool is_exact(const rung_mech *mech)
{
    return mech->scan_exact && (mech->step_exact || (mech->update_exact && mech->read_exact));
}

static bool has_backward(const rung_mech *mech)
{
    return mech->backward_f32 && mech->backward_scratch;
}

static bool has_encoder(const rung_mech *mech)
{
    return !mech->causal_only;
}

static bool has_forks(const rung_mech *mech)
{
    return has_backward(mech) && mech->forks;
}

static const struct support {
    const char *name;
    bool (*has)(const rung_mech *mech);
} supports[] = {
    {"fast", is_fast},       {"exact", is_exact},      {"backward", has_backward}, {"bf16", is_exact},
    {"quantised", is_exact}, {"encoder", has_encoder}, {"prefixes", has_forks},
};

/* Below the list: a row per mechanism. Indented as what belongs to an item. */
static void mech_foot(rung_buf *out)
{
    size_t name = 0;
    for (size_t i = 0; i < rung_mech_count(); i++) name = longer(name, rung_mech_at(i)->name);
    rung_buf_printf(out, "\n      %-*s", (int)name, "");
    for (size_t c = 0; c < RUNG_COUNT(supports); c++) rung_buf_printf(out, "  %s", supports[c].name);
    for (size_t i = 0; i < rung_mech_count(); i++) {
        const rung_mech *mech = rung_mech_at(i);
        rung_buf_printf(out, "\n      %-*s", (int)name, mech->name);
        for (size_t c = 0; c < RUNG_COUNT(supports); c++) {
            bool last = c + 1 == RUNG_COUNT(supports);
            rung_buf_printf(out, "  %-*s", last ? 0 : (int)strlen(supports[c].name),
                            supports[c].has(mech) ? "yes" : "no");
        }
    }
    rung_buf_puts(out, "\n\n      ");
    tool_wrap(
        out,
        "fast: fp32. exact: every operation rounded to the chosen format; bf16 and quantised (f16, eXmY, qI.F) are "
        "such formats, and nothing else computes in them. backward: gradients in fp32, so it can be trained. encoder: "
        "without a causal mask. prefixes: gradients of prompts that share a prefix pass through its state.",
        6, 6);
    rung_buf_putc(out, '\n');
}

static void print_support(rung_buf *out, const rung_mech *mech)
{
    const char *comma = "";
    rung_buf line;
    rung_buf_init(&line);
    for (size_t c = 0; c < RUNG_COUNT(supports); c++) {
        if (!supports[c].has(mech)) continue;
        rung_buf_printf(&line, "%s%s", comma, supports[c].name);
        comma = ", ";
    }
    tool_two_columns(out, "has", line.text ? line.text : "", LABEL_COLUMNS);
    out->failed = out->failed || line.failed;
    rung_buf_clear(&line);
}

static void mech_detail(rung_buf *out, size_t index)
{
    const rung_mech *mech = rung_mech_at(index);
    size_t name = 1, shape = 3, source = 7;
    for (const rung_mech_input *input = mech->inputs; input->name; input++) {
        name = longer(name, input->name);
        shape = longer(shape, rung_mech_dim_text(input->dim));
        source = longer(source, source_text(input->source));
    }
    tool_two_columns(out, "equation", mech->equation, LABEL_COLUMNS);
    tool_two_columns(out, "carries", mech->carries, LABEL_COLUMNS);
    print_support(out, mech);
    rung_buf_puts(out, "\nInputs, per token unless they belong to the layer\n");
    for (const rung_mech_input *input = mech->inputs; input->name; input++) {
        size_t column = 2 + name + 1 + shape + 2 + source + 2;
        rung_buf_printf(out, "  %-*s %-*s  %-*s  ", (int)name, input->name, (int)shape, rung_mech_dim_text(input->dim),
                        (int)source, source_text(input->source));
        tool_wrap(out, input->meaning, column, column);
        rung_buf_putc(out, '\n');
    }
}

static void mech_detail_json(rung_jout *out, size_t index)
{
    const rung_mech *mech = rung_mech_at(index);
    rung_jout_string(out, "equation", mech->equation);
    rung_jout_string(out, "carries", mech->carries);
    rung_jout_bool(out, "recurrent", mech->recurrent);
    rung_jout_flat_object(out, "support");
    for (size_t c = 0; c < RUNG_COUNT(supports); c++) rung_jout_bool(out, supports[c].name, supports[c].has(mech));
    rung_jout_end(out);
    rung_jout_array(out, "inputs");
    for (const rung_mech_input *input = mech->inputs; input->name; input++) {
        rung_jout_flat_object(out, NULL);
        rung_jout_string(out, "name", input->name);
        rung_jout_string(out, "shape", rung_mech_dim_text(input->dim));
        rung_jout_string(out, "made_by", source_text(input->source));
        rung_jout_bool(out, "rotary", input->rotary);
        rung_jout_string(out, "meaning", input->meaning);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

static tool_item task_item(size_t index)
{
    const rung_task *task = rung_task_at(index);
    return (tool_item){task->name, task->summary, task->source, task->params};
}

static void task_detail(rung_buf *out, size_t index)
{
    rung_task_conf conf;
    if (rung_task_conf_init(&conf, rung_task_at(index)->name, NULL, 0, NULL)) return;
    char text[160];
    if (conf.vocab)
        snprintf(text, sizeof text, "%zu tokens of %zu kinds", conf.tokens, conf.vocab);
    else
        snprintf(text, sizeof text, "%zu vectors of dimension %zu", conf.tokens, conf.d_in);
    tool_two_columns(out, "prompt", text, LABEL_COLUMNS);
    if (conf.answers)
        snprintf(text, sizeof text, "one of %zu; a guess is right with probability %.4g", conf.answers, conf.chance);
    else
        snprintf(text, sizeof text, "a vector of dimension %zu", conf.d_out);
    tool_two_columns(out, "answer", text, LABEL_COLUMNS);
    rung_buf_puts(out, "  (at the defaults)\n");
}

static void task_detail_json(rung_jout *out, size_t index)
{
    rung_task_conf conf;
    if (rung_task_conf_init(&conf, rung_task_at(index)->name, NULL, 0, NULL)) return;
    rung_jout_flat_object(out, "at_defaults");
    rung_jout_int(out, "tokens", (int64_t)conf.tokens);
    rung_jout_int(out, "vocab", (int64_t)conf.vocab);
    rung_jout_int(out, "answers", (int64_t)conf.answers);
    rung_jout_int(out, "d_in", (int64_t)conf.d_in);
    rung_jout_int(out, "d_out", (int64_t)conf.d_out);
    rung_jout_real(out, "chance", conf.chance);
    rung_jout_real(out, "majority", conf.majority);
    rung_jout_end(out);
    rung_jout_bool(out, "facts", rung_task_at(index)->story_write != NULL);
}

/* ---- constructions --------------------------------------------------------------------------------------------- */

static tool_item construction_item(size_t index)
{
    const rung_construction *how = rung_construction_at(index);
    return (tool_item){how->name, how->summary, how->source, how->params};
}

/* The architecture that the default parameters give; "" when they are refused, which no row should do. */
static void default_arch(rung_buf *out, const rung_construction *how)
{
    rung_error err = {{0}};
    rung_build b;
    rung_model *model;
    if (rung_build_init(&b, how->name, NULL, 0, &err) != RUNG_OK) return;
    if (rung_build_model(&model, &b, &err) != RUNG_OK) return;
    rung_buf_puts(out, rung_model_get_spec(model)->arch);
    rung_model_close(model);
}

static void construction_detail(rung_buf *out, size_t index)
{
    rung_buf arch;
    rung_buf_init(&arch);
    default_arch(&arch, rung_construction_at(index));
    tool_two_columns(out, "solves", rung_construction_at(index)->task, LABEL_COLUMNS);
    if (!arch.failed && arch.len) tool_two_columns(out, "layers", arch.text, LABEL_COLUMNS);
    rung_buf_clear(&arch);
}

static void construction_detail_json(rung_jout *out, size_t index)
{
    rung_buf arch;
    rung_buf_init(&arch);
    default_arch(&arch, rung_construction_at(index));
    rung_jout_string(out, "task", rung_construction_at(index)->task);
    rung_jout_string(out, "arch", arch.failed || !arch.len ? "" : arch.text);
    rung_buf_clear(&arch);
}

/* ---- bounds ---------------------------------------------------------------------------------------------------- */

static tool_item bound_item(size_t index)
{
    const rung_bound *bound = rung_bound_at(index);
    return (tool_item){bound->id, bound->summary, bound->source, NULL};
}

static void bound_detail(rung_buf *out, size_t index)
{
    const rung_bound *bound = rung_bound_at(index);
    char section[96];
    snprintf(section, sizeof section, "docs/theory.md#%s", bound->section);
    tool_two_columns(out, "about", bound->task, LABEL_COLUMNS);
    for (int p = 0; p < RUNG_PREMISES; p++)
        if (bound->needs & RUNG_NEEDS(p))
            tool_two_columns(out, "needs that", rung_premise_text((rung_premise)p), LABEL_COLUMNS);
    char kernels[96] = "";
    for (int k = 0; rung_kernel_names[k]; k++)
        if (rung_bound_covers(bound, (rung_kernel)(k + 1)))
            snprintf(kernels + strlen(kernels), sizeof kernels - strlen(kernels), "%s%s", kernels[0] ? ", " : "",
                     rung_kernel_names[k]);
    bool any = !(bound->needs & RUNG_NEEDS(RUNG_PREMISE_ORDER));
    tool_two_columns(out, "kernels", any ? "any: the order of sums plays no role" : kernels, LABEL_COLUMNS);
    tool_two_columns(out, "checked", bound->checked, LABEL_COLUMNS);
    tool_two_columns(out, "proof", section, LABEL_COLUMNS);
}

static void bound_detail_json(rung_jout *out, size_t index)
{
    const rung_bound *bound = rung_bound_at(index);
    rung_jout_string(out, "tasks", bound->task);
    rung_jout_array(out, "needs");
    for (int p = 0; p < RUNG_PREMISES; p++)
        if (bound->needs & RUNG_NEEDS(p)) rung_jout_string(out, NULL, rung_premise_names[p]);
    rung_jout_end(out);
    rung_jout_array(out, "kernels");
    for (int k = 0; rung_kernel_names[k]; k++)
        if (rung_bound_covers(bound, (rung_kernel)(k + 1))) rung_jout_string(out, NULL, rung_kernel_names[k]);
    rung_jout_end(out);
    rung_jout_string(out, "checked", bound->checked);
    rung_jout_string(out, "section", bound->section);
}

/* ---- attacks --------------------------------------------------------------------------------------------------- */

static tool_item attack_item(size_t index)
{
    const rung_attack *attack = rung_attack_at(index);
    return (tool_item){attack->name, attack->summary, attack->source, NULL};
}

static void attack_detail(rung_buf *out, size_t index)
{
    const rung_attack *attack = rung_attack_at(index);
    tool_two_columns(out, "applies to", attack->applies, LABEL_COLUMNS);
    tool_two_columns(out, "cost", attack->cost, LABEL_COLUMNS);
    tool_two_columns(out, "breaks", attack->breaks, LABEL_COLUMNS);
    tool_two_columns(out, "spares", attack->spares, LABEL_COLUMNS);
}

static void attack_detail_json(rung_jout *out, size_t index)
{
    const rung_attack *attack = rung_attack_at(index);
    rung_jout_string(out, "applies", attack->applies);
    rung_jout_string(out, "cost", attack->cost);
    rung_jout_string(out, "breaks", attack->breaks);
    rung_jout_string(out, "spares", attack->spares);
    rung_jout_flat_array(out, "kinds");
    for (size_t kind = RUNG_CERT_WRONG_ANSWER; kind <= RUNG_CERT_BLOCK_COLLISION; kind++)
        if (attack->kinds & 1u << kind) rung_jout_string(out, NULL, rung_cert_kind_names[kind - 1]);
    rung_jout_end(out);
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

const tool_catalog tool_catalogs[] = {
    {.kind = "mechanisms",
     .count = rung_mech_count,
     .at = mech_item,
     .brief = mech_brief,
     .foot = mech_foot,
     .detail = mech_detail,
     .detail_json = mech_detail_json},
    {.kind = "tasks",
     .count = rung_task_count,
     .at = task_item,
     .detail = task_detail,
     .detail_json = task_detail_json},
    {.kind = "constructions",
     .count = rung_construction_count,
     .at = construction_item,
     .detail = construction_detail,
     .detail_json = construction_detail_json},
    {.kind = "bounds",
     .count = rung_bound_count,
     .at = bound_item,
     .detail = bound_detail,
     .detail_json = bound_detail_json},
    {.kind = "attacks",
     .count = rung_attack_count,
     .at = attack_item,
     .detail = attack_detail,
     .detail_json = attack_detail_json},
    {0},
};

const tool_catalog *tool_catalog_get(const char *kind)
{
    for (const tool_catalog *row = tool_catalogs; row->kind; row++)
        if (strcmp(row->kind, kind) == 0) return row;
    return NULL;
}

size_t tool_catalog_find(const tool_catalog *catalog, const char *name)
{
    for (size_t i = 0; i < catalog->count(); i++)
        if (strcmp(catalog->at(i).name, name) == 0) return i;
    return SIZE_MAX;
}

const char *tool_catalog_nearest(const tool_catalog *catalog, const char *name)
{
    const char *names[256];
    size_t count = catalog->count() < RUNG_COUNT(names) ? catalog->count() : RUNG_COUNT(names);
    for (size_t i = 0; i < count; i++) names[i] = catalog->at(i).name;
    return rung_guess_name(name, names, count);
}

/* ---- parameters ------------------------------------------------------------------------------------------------ */

static void param_help(rung_buf *out, const rung_param *param)
{
    rung_buf_puts(out, param->help);
    if (param->kind == RUNG_PARAM_CHOICE) {
        rung_buf_puts(out, ": ");
        for (size_t i = 0; param->choices[i]; i++) rung_buf_printf(out, "%s%s", i ? ", " : "", param->choices[i]);
    } else {
        rung_buf_printf(out, " (%s%lld to %lld)", param->kind == RUNG_PARAM_LIST ? "each " : "", (long long)param->low,
                        (long long)param->high);
    }
}

static void param_default(rung_buf *out, const rung_param *param)
{
    rung_param one[2] = {*param, {0}};
    rung_value value;
    if (param->kind == RUNG_PARAM_SWITCH) one[0].kind = RUNG_PARAM_INT; /* a switch at its default is not printed */
    rung_buf_reset(out);
    rung_param_defaults(&value, one);
    rung_param_print(out, &value, one, "");
}

void tool_params_print(rung_buf *out, const rung_param *params)
{
    rung_buf left, right;
    rung_buf_init(&left);
    rung_buf_init(&right);
    size_t width = 0;
    for (size_t i = 0; params[i].name; i++) {
        param_default(&left, &params[i]);
        if (left.len > width) width = left.len;
    }
    for (size_t i = 0; params[i].name; i++) {
        param_default(&left, &params[i]);
        rung_buf_reset(&right);
        param_help(&right, &params[i]);
        if (!left.failed && !right.failed) tool_two_columns(out, left.text, right.text, width + 4);
    }
    rung_buf_clear(&left);
    rung_buf_clear(&right);
}

static void param_json(rung_jout *out, const rung_param *param)
{
    static const char *const kinds[] = {"integer", "integers", "word", "number", "integer"};
    rung_jout_flat_object(out, NULL);
    rung_jout_string(out, "name", param->name);
    rung_jout_string(out, "kind", kinds[param->kind]);
    if (param->kind == RUNG_PARAM_CHOICE) {
        rung_jout_string(out, "default", param->choices[param->fallback]);
        rung_jout_array(out, "words");
        for (size_t i = 0; param->choices[i]; i++) rung_jout_string(out, NULL, param->choices[i]);
        rung_jout_end(out);
    } else {
        rung_jout_int(out, "default", param->fallback);
        rung_jout_int(out, "low", param->low);
        rung_jout_int(out, "high", param->high);
    }
    rung_jout_string(out, "help", param->help);
    rung_jout_end(out);
}

/* ---- one item -------------------------------------------------------------------------------------------------- */

void tool_catalog_print(rung_buf *out, const tool_catalog *catalog, size_t index)
{
    const tool_item item = catalog->at(index);
    rung_buf_printf(out, "%s%s%s: ", tool_style_bold(), item.name, tool_style_off());
    tool_wrap(out, item.summary, strlen(item.name) + 2, 2);
    rung_buf_puts(out, "\n\n");
    tool_two_columns(out, "source", item.source, LABEL_COLUMNS);
    if (catalog->detail) catalog->detail(out, index);
    if (!item.params || !item.params->name) return;
    rung_buf_puts(out, "\nParameters, with their defaults\n");
    tool_params_print(out, item.params);
}

void tool_catalog_json(rung_jout *out, const tool_catalog *catalog, size_t index)
{
    const tool_item item = catalog->at(index);
    rung_jout_object(out, NULL);
    rung_jout_string(out, "name", item.name);
    rung_jout_string(out, "summary", item.summary);
    rung_jout_string(out, "source", item.source);
    if (catalog->detail_json) catalog->detail_json(out, index);
    rung_jout_array(out, "parameters");
    for (const rung_param *param = item.params; param && param->name; param++) param_json(out, param);
    rung_jout_end(out);
    rung_jout_end(out);
}
