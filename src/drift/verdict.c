/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a person should do, from what was measured and what is proved; and the record as JSON.
 */
#include <math.h>
#include <string.h>

#include "drift_inside.h"
#include "rung/render.h"

/* ---- sentences --------------------------------------------------------------------------------------------------- */

static const rung_drift_part *part_of(const rung_drift *d, const char *name)
{
    for (size_t p = 0; p < d->parts; p++)
        if (strcmp(d->part[p].name, name) == 0) return &d->part[p];
    return NULL;
}

/* The quantity that, alone, moves the state most; of those besides `but`. */
static const rung_drift_part *responsible(const rung_drift *d, const rung_drift_part *but)
{
    static const char *const names[] = {"state", "gate", "beta", "act", "acc"};
    const rung_drift_part *most = NULL;
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        const rung_drift_part *p = part_of(d, names[i]);
        if (p && p != but && (!most || p->state[d->points - 1] > most->state[d->points - 1])) most = p;
    }
    return most;
}

/* The value of "quantity=" in the canonical name of mixed formats, or the whole name. */
static void format_of(char *out, size_t size, const char *numbers, const char *quantity)
{
    const char *at = strstr(numbers, quantity);
    at = at ? at + strlen(quantity) : numbers;
    snprintf(out, size, "%.*s", (int)strcspn(at, ","), at);
}

static void put_alone(rung_buf *out, const rung_drift *d, const char *before, const rung_drift_part *p)
{
    char format[64], key[32];
    if (!p || !(p->state[d->points - 1] > 0)) return;
    snprintf(key, sizeof key, "%s=", p->name);
    format_of(format, sizeof format, d->numbers, key);
    rung_buf_printf(out, "%s%s in %s (%.2g alone)", before, p->name, format, p->state[d->points - 1]);
}

static void put_errors(rung_buf *out, const rung_drift *d)
{
    const size_t last = d->points - 1;
    const rung_drift_part *most = responsible(d, NULL);
    if (!(d->part[0].state[last] < INFINITY)) {
        rung_buf_printf(out, "measured: after %zu token%s the state %s.\n", d->at[last], d->at[last] == 1 ? "" : "s",
                        d->norm[last] == 0         ? "is 0 in f64, and not in these formats"
                        : d->norm[last] < INFINITY ? "holds numbers that are infinite or not a number"
                                                   : "has left the range of f64");
        return;
    }
    rung_buf_printf(out, "measured: after %zu token%s the state is off by %.2g of its norm, the outputs by %.2g",
                    d->at[last], d->at[last] == 1 ? "" : "s", d->part[0].state[last], d->part[0].output[last]);
    put_alone(out, d, "; most by ", most);
    if (most) put_alone(out, d, ", then by ", responsible(d, most));
    rung_buf_puts(out, ".\n");
}

static void put_proof(rung_buf *out, const rung_drift *d)
{
    const size_t last = d->points - 1;
    if (!d->proof.applies) {
        rung_buf_printf(out, "proved: nothing; %s\n", d->proof.why_not);
        return;
    }
    const char *no_run = d->proof.why_no_run, *no_theorem = d->proof.why_no_theorem;
    if (d->proof.run[last] < INFINITY)
        rung_buf_printf(out, "proved: in this run the state is off by at most %.2g of its norm after %zu tokens.",
                        d->proof.run[last], d->at[last]);
    else
        rung_buf_printf(out, "proved: no bound for this run: %s.", no_run ? no_run : "the state in f64 is 0");
    if (d->proof.theorem[last] < INFINITY)
        rung_buf_printf(out, " Runs with these norms never exceed %.2g.\n", d->proof.theorem[last]);
    else
        rung_buf_printf(out, " No bound for all runs with these norms: %s.\n",
                        no_theorem ? no_theorem : "the state in f64 is 0");
}

static const rung_drift_curve *curve_of(const rung_drift *d, const char *name, double decay)
{
    for (size_t i = 0; i < d->curves; i++)
        if (strcmp(d->curve[i].name, name) == 0 && d->curve[i].decay == decay) return &d->curve[i];
    return NULL;
}

/* Whether `a` reads fewer of the pairs than `b` at some age. */
static bool reads_less(const rung_drift *d, const rung_drift_curve *a, const rung_drift_curve *b)
{
    for (size_t i = 0; i < d->ages; i++)
        if (a->kept[i] < b->kept[i]) return true;
    return false;
}

static void put_age(rung_buf *out, const char *what, const rung_drift_curve *c)
{
    if (c && c->whole) rung_buf_printf(out, "; %s: all up to %zu", what, c->whole);
    if (c && !c->whole) rung_buf_printf(out, "; %s: never all", what);
}

static void put_loss(rung_buf *out, const rung_drift *d, const rung_drift_curve *c, const char *state, const char *wide)
{
    char with[96];
    rung_buf_printf(out, "measured: state in %s, decay %g: ", state, c->decay);
    if (c->whole)
        rung_buf_printf(out, "all %zu pairs are read up to %zu tokens later", d->pairs, c->whole);
    else
        rung_buf_printf(out, "some of %zu pairs are lost within %zu tokens", d->pairs, d->age[0]);
    if (c->half != SIZE_MAX) rung_buf_printf(out, ", at most half of them from %zu on", c->half);
    snprintf(with, sizeof with, "a state in %s", wide);
    put_age(out, with, curve_of(d, "state=acc", c->decay));
    snprintf(with, sizeof with, "%s with stochastic rounding", state);
    put_age(out, with, curve_of(d, "stochastic", c->decay));
    put_age(out, "everything in f64", curve_of(d, "f64", c->decay));
    rung_buf_puts(out, ".\n");
}

/* Whether these formats read all that f64 reads, or keep all pairs at least twice as long as those asked for. */
static bool helps(const rung_drift *d, const rung_drift_curve *c, const char *name)
{
    const rung_drift_curve *other = curve_of(d, name, c->decay);
    if (!other) return false;
    return !reads_less(d, other, curve_of(d, "f64", c->decay)) || other->whole >= 2 * c->whole + (c->whole == 0);
}

static bool loses(const rung_drift *d, const rung_drift_curve *c)
{
    return strcmp(c->name, "all") == 0 && reads_less(d, c, curve_of(d, "f64", c->decay));
}

/* "measured: decays 1, 0.9999: ", of the curves that lose pairs and for which the two others help or do not. */
static bool put_decays(rung_buf *out, const rung_drift *d, bool acc, bool stochastic)
{
    bool any = false;
    for (size_t i = 0; i < d->curves; i++) {
        const rung_drift_curve *c = &d->curve[i];
        if (!loses(d, c) || helps(d, c, "state=acc") != acc || helps(d, c, "stochastic") != stochastic) continue;
        rung_buf_printf(out, "%s%g", any ? ", " : "measured: decay ", c->decay), any = true;
    }
    return any;
}

static void put_advice(rung_buf *out, const rung_drift *d, const char *state, const char *wide)
{
    static const char longer[] = "; all pairs stay at least twice as long, or as long as in f64.\n";
    if (!part_of(d, "state=acc")) return;
    if (put_decays(out, d, true, true))
        rung_buf_printf(out, ": keep the state in %s, or in %s with stochastic rounding%s", wide, state, longer);
    if (put_decays(out, d, true, false)) rung_buf_printf(out, ": keep the state in %s%s", wide, longer);
    if (put_decays(out, d, false, true)) rung_buf_printf(out, ": %s with stochastic rounding%s", state, longer);
    if (put_decays(out, d, false, false))
        rung_buf_printf(out, ": in %s all pairs do not stay twice as long; other formats lose them as well.\n", wide);
}

static void put_recall(rung_buf *out, const rung_drift *d)
{
    char state[64], wide[64];
    bool lost = false;
    format_of(state, sizeof state, d->numbers, "state=");
    format_of(wide, sizeof wide, d->numbers, "acc=");
    for (size_t i = 0; i < d->curves; i++) {
        const rung_drift_curve *c = &d->curve[i];
        if (!loses(d, c)) continue;
        put_loss(out, d, c, state, wide), lost = true;
    }
    if (lost)
        put_advice(out, d, state, wide);
    else if (d->curves)
        rung_buf_printf(out, "measured: state in %s: every pair that f64 reads is read, up to %zu tokens later.\n",
                        state, d->age[d->ages - 1]);
}

void rung_drift_verdict(rung_buf *out, const rung_drift *d)
{
    put_recall(out, d);
    put_errors(out, d);
    put_proof(out, d);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_reals(rung_jout *out, const char *key, const double *x, size_t n)
{
    rung_jout_flat_array(out, key);
    for (size_t i = 0; i < n; i++) rung_jout_real(out, NULL, x[i]);
    rung_jout_end(out);
}

static void put_counts(rung_jout *out, const char *key, const size_t *x, size_t n)
{
    rung_jout_flat_array(out, key);
    for (size_t i = 0; i < n; i++) rung_jout_count(out, NULL, x[i]);
    rung_jout_end(out);
}

static void put_parts(rung_jout *out, const rung_drift *d)
{
    rung_jout_array(out, "parts");
    for (size_t p = 0; p < d->parts; p++) {
        rung_jout_object(out, NULL);
        rung_jout_string(out, "part", d->part[p].name);
        rung_jout_string(out, "numbers", d->part[p].numbers);
        put_reals(out, "state_error", d->part[p].state, d->points);
        put_reals(out, "output_error", d->part[p].output, d->points);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

static void put_proof_json(rung_jout *out, const rung_drift *d)
{
    rung_jout_object(out, "proved");
    rung_jout_bool(out, "applies", d->proof.applies);
    rung_jout_string(out, "why_not", d->proof.applies ? NULL : d->proof.why_not);
    put_reals(out, "f64_from_reals", d->proof.reference, d->points);
    put_reals(out, "run", d->proof.run, d->points);
    put_reals(out, "theorem", d->proof.theorem, d->points);
    rung_jout_end(out);
}

static void put_curves(rung_jout *out, const rung_drift *d)
{
    rung_jout_object(out, "recall");
    rung_jout_count(out, "pairs", d->pairs);
    rung_jout_count(out, "values", d->values);
    if (d->why_no_curve[0]) rung_jout_string(out, "why_none", d->why_no_curve);
    put_counts(out, "age", d->age, d->ages);
    rung_jout_array(out, "curves");
    for (size_t i = 0; i < d->curves; i++) {
        const rung_drift_curve *c = &d->curve[i];
        rung_jout_object(out, NULL);
        rung_jout_string(out, "part", c->name);
        rung_jout_string(out, "numbers", c->numbers);
        rung_jout_real(out, "decay", c->decay);
        rung_jout_count(out, "all_read_up_to", c->whole);
        if (c->half == SIZE_MAX)
            rung_jout_null(out, "half_lost_from");
        else
            rung_jout_count(out, "half_lost_from", c->half);
        put_counts(out, "kept", c->kept, d->ages);
        rung_jout_end(out);
    }
    rung_jout_end(out);
    rung_jout_end(out);
}

static void put_lost(rung_jout *out, const rung_drift *d)
{
    rung_jout_object(out, "swallowed");
    if (d->lost.first == SIZE_MAX)
        rung_jout_null(out, "first_token");
    else
        rung_jout_count(out, "first_token", d->lost.first);
    put_reals(out, "share_of_entries", d->lost.share, d->points);
    rung_jout_end(out);
}

static void put_sentences(rung_jout *out, const rung_drift *d)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_drift_verdict(&text, d);
    rung_jout_array(out, "verdict");
    for (const char *line = text.text; line && *line;) {
        char sentence[512];
        size_t len = strcspn(line, "\n");
        snprintf(sentence, sizeof sentence, "%.*s", (int)len, line);
        rung_jout_string(out, NULL, sentence);
        line += len + (line[len] == '\n');
    }
    rung_jout_end(out);
    rung_buf_clear(&text);
}

void rung_drift_json(rung_jout *out, const rung_drift *d)
{
    rung_jout_object(out, NULL);
    rung_jout_string(out, "mechanism", d->conf->mech->name);
    rung_jout_string(out, "layer", d->label);
    rung_jout_count(out, "heads", d->conf->heads);
    rung_jout_count(out, "dk", d->conf->dk);
    rung_jout_count(out, "dv", d->conf->dv);
    rung_jout_string(out, "numbers", d->numbers);
    rung_jout_string(out, "inputs", rung_drift_source_names[d->inputs]);
    rung_jout_real(out, "decay", d->decay);
    rung_jout_count(out, "seed", d->seed);
    put_counts(out, "tokens", d->at, d->points);
    put_reals(out, "state_norm", d->norm, d->points);
    put_parts(out, d);
    put_proof_json(out, d);
    put_lost(out, d);
    put_curves(out, d);
    put_sentences(out, d);
    rung_jout_end(out);
}
