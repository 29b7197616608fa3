/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * L-SeqComp as prose: "Mirun's mentor in Talostad is Kelen." i_l are people, one set of names for each l; w_l
 * are places; each level has a word for its relation. Levels appear in prompt order. In the form of positions
 * the sentences of a level are shuffled (the argument is named, so the order is no part of the prompt); in
 * the form of pairs they stand as in the prompt, which is shuffled already.
 */
#include <stdlib.h>
#include <string.h>

#include "seqcomp.h"
#include "story.h"

const char *const rung_seqcomp_relations[RUNG_SEQCOMP_LEVELS_MAX + 1] = {
    NULL,     "guide",  "mentor", "tailor", "healer", "lawyer", "tutor", "banker", "porter",
    "warden", "singer", "farmer", "sailor", "editor", "patron", "rival", "cousin",
};

/* The first names of the people of i_l and of the places of w_l among all names. The universes are the totals. */
typedef struct cast {
    rung_seqcomp shape;
    size_t person[RUNG_SEQCOMP_LEVELS_MAX + 1], people;
    size_t place[RUNG_SEQCOMP_LEVELS_MAX], places;
} cast;

static cast cast_of(const rung_task_conf *conf)
{
    cast c = {0};
    rung_seqcomp_shape(&c.shape, conf);
    for (size_t l = 0; l <= c.shape.levels; l++) {
        c.person[l] = c.people;
        c.people += c.shape.range[l];
    }
    for (size_t l = 1; l < c.shape.levels; l++) {
        c.place[l] = c.places;
        c.places += c.shape.n[l];
    }
    return c;
}

static void write_person(rung_buf *out, const cast *c, size_t level, size_t i)
{
    rung_name_write(out, RUNG_NAME_PERSON, c->person[level] + i, c->people);
}

static void write_place(rung_buf *out, const cast *c, size_t level, size_t w)
{
    rung_name_write(out, RUNG_NAME_PLACE, c->place[level] + w, c->places);
}

/* Reads a name of [first, first + count) and returns its distance from `first`. */
static size_t scan_member(rung_scan *scan, rung_name_kind kind, size_t universe, size_t first, size_t count)
{
    const char *before = scan->at;
    size_t name = rung_scan_name(scan, kind, universe);
    if (scan->status != RUNG_OK) return 0;
    if (name >= first && name - first < count) return name - first;
    scan->at = before;
    rung_scan_fail(scan, "a name of this level");
    return 0;
}

static size_t scan_person(rung_scan *scan, const cast *c, size_t level)
{
    return scan_member(scan, RUNG_NAME_PERSON, c->people, c->person[level], c->shape.range[level]);
}

static size_t scan_place(rung_scan *scan, const cast *c, size_t level)
{
    return scan_member(scan, RUNG_NAME_PLACE, c->places, c->place[level], c->shape.n[level]);
}

/* "Mirun's guide is Kelen. " and from level 2 on "Mirun's mentor in Talostad is Kelen. " */
static void write_entry(rung_buf *out, const cast *c, size_t level, size_t u, size_t value)
{
    size_t below = c->shape.range[level - 1];
    write_person(out, c, level - 1, u % below);
    rung_buf_printf(out, "'s %s", rung_seqcomp_relations[level]);
    if (level > 1) {
        rung_buf_puts(out, " in ");
        write_place(out, c, level - 1, u / below);
    }
    rung_buf_puts(out, " is ");
    write_person(out, c, level, value);
    rung_buf_puts(out, ". ");
}

static void scan_entry(rung_scan *scan, size_t *u, size_t *value, const cast *c, size_t level)
{
    *u = scan_person(scan, c, level - 1);
    rung_scan_literal(scan, "'s ");
    rung_scan_literal(scan, rung_seqcomp_relations[level]);
    if (level > 1) {
        rung_scan_literal(scan, " in ");
        *u += scan_place(scan, c, level - 1) * c->shape.range[level - 1];
    }
    rung_scan_literal(scan, " is ");
    *value = scan_person(scan, c, level);
    rung_scan_literal(scan, ". ");
}

static void write_level(rung_buf *out, const rung_instance *instance, const cast *c, size_t level)
{
    const rung_seqcomp *shape = &c->shape;
    uint32_t *order = rung_facts_order(instance, shape->args[level], level);
    if (!order) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < shape->args[level]; i++) {
        size_t u, value, position = shape->start[level] + (shape->pairs ? i : order[i]);
        rung_seqcomp_decode(&u, &value, shape, level, position, instance->token[position]);
        write_entry(out, c, level, u, value);
    }
    free(order);
}

static void scan_level(rung_scan *scan, rung_instance *instance, const cast *c, size_t level)
{
    const rung_seqcomp *shape = &c->shape;
    for (size_t i = 0; i < shape->args[level] && scan->status == RUNG_OK; i++) {
        size_t u, value;
        scan_entry(scan, &u, &value, c, level);
        if (scan->status != RUNG_OK) return;
        uint32_t *token = &instance->token[shape->start[level] + (shape->pairs ? i : u)];
        if (*token != UINT32_MAX) rung_scan_fail(scan, "before this a fact not stated yet");
        *token = rung_seqcomp_entry(shape, level, u, value);
    }
}

/* "Ask for the traveller's guide, then for the mentor in Talostad. Who is it?" */
static void write_w(rung_buf *out, const cast *c, size_t w)
{
    rung_buf_printf(out, "Ask for the traveller's %s", rung_seqcomp_relations[1]);
    for (size_t l = 1; l < c->shape.levels; l++) {
        rung_buf_printf(out, ", then for the %s in ", rung_seqcomp_relations[l + 1]);
        write_place(out, c, l, w % c->shape.n[l]);
        w /= c->shape.n[l];
    }
    rung_buf_puts(out, ". Who is it?");
}

static size_t scan_w(rung_scan *scan, const cast *c)
{
    size_t w = 0, weight = 1;
    rung_scan_literal(scan, "Ask for the traveller's ");
    rung_scan_literal(scan, rung_seqcomp_relations[1]);
    for (size_t l = 1; l < c->shape.levels; l++) {
        rung_scan_literal(scan, ", then for the ");
        rung_scan_literal(scan, rung_seqcomp_relations[l + 1]);
        rung_scan_literal(scan, " in ");
        w += weight * scan_place(scan, c, l);
        weight *= c->shape.n[l];
    }
    rung_scan_literal(scan, ". Who is it?");
    return w;
}

void rung_seqcomp_facts_write(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf)
{
    cast c = cast_of(conf);
    size_t w = instance->token[c.shape.w_at] - c.shape.w_id;
    if (c.shape.w_first) {
        write_w(out, &c, w);
        rung_buf_putc(out, ' ');
    }
    for (size_t l = c.shape.levels; l >= 1; l--) write_level(out, instance, &c, l);
    rung_buf_puts(out, "The traveller is ");
    write_person(out, &c, 0, instance->token[c.shape.z0_at] - c.shape.z0_id);
    rung_buf_putc(out, '.');
    if (c.shape.w_first) return;
    rung_buf_putc(out, ' ');
    write_w(out, &c, w);
}

rung_status rung_seqcomp_facts_read(rung_instance *instance, const char *text, const rung_task_conf *conf,
                                    rung_error *err)
{
    cast c = cast_of(conf);
    size_t w = 0;
    rung_scan scan;
    rung_scan_init(&scan, text, err);
    rung_facts_begin(instance, conf);
    if (c.shape.w_first) {
        w = scan_w(&scan, &c);
        rung_scan_literal(&scan, " ");
    }
    for (size_t l = c.shape.levels; l >= 1; l--) scan_level(&scan, instance, &c, l);
    rung_scan_literal(&scan, "The traveller is ");
    size_t z0 = scan_person(&scan, &c, 0);
    rung_scan_literal(&scan, ".");
    if (!c.shape.w_first) {
        rung_scan_literal(&scan, " ");
        w = scan_w(&scan, &c);
    }
    if (rung_scan_end(&scan) != RUNG_OK) return scan.status;
    instance->token[c.shape.z0_at] = (uint32_t)(c.shape.z0_id + z0);
    instance->token[c.shape.w_at] = (uint32_t)(c.shape.w_id + w);
    instance->tokens = conf->tokens;
    return RUNG_OK;
}

void rung_seqcomp_facts_answer(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    cast c = cast_of(conf);
    write_person(out, &c, c.shape.levels, (size_t)answer);
}
