/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Cards as one page that stands alone: no script, no network, light and dark, wide and narrow. Every text of a file is
 * escaped.
 */
#include <math.h>
#include <string.h>

#include "card_inside.h"

static const char style[] =
    ":root{color-scheme:light dark;--ink:#222;--dim:#5c5c5c;--back:#fff;--box:#f6f6f7;--line:#ccc;--can:#146c2e;"
    "--cannot:#a11a2f;--unknown:#5c5c5c;--cache:#c8374f;--index:#7b46c4;--window:#b07f00;--state:#2673c9;--conv:#"
    "2a8a76}"
    "@media(prefers-color-scheme:dark){:root{--ink:#eee;--dim:#aaa;--back:#111;--box:#1c1c1f;--line:#444;--can:#7bd88f;"
    "--cannot:#f0788c;--unknown:#aaa;--cache:#f0788c;--index:#b48cf0;--window:#f0c04a;--state:#6aaef5;--conv:#5fd0b8}}"
    "*{box-sizing:border-box}body{margin:0 auto;padding:1rem;max-width:66rem;font:16px/1.45 system-ui,sans-serif;"
    "color:var(--ink);background:var(--back)}h1{font-size:1.3rem}h2{font-size:1.1rem;margin:0;overflow-wrap:anywhere}"
    "h3{font-size:1rem;margin:1.2rem 0 .4rem}article{background:var(--box);border:1px solid var(--line);"
    "border-radius:8px;padding:1rem;margin:1rem 0}p{margin:.3rem 0}.dim{color:var(--dim)}.order{overflow-wrap:anywhere}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .6rem "
    ".25rem "
    "0;vertical-align:top;border-bottom:1px solid var(--line)}td.n,th.n{text-align:right;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}th.n{white-space:normal}.bar{display:flex;height:1.4rem;border-radius:4px;"
    "overflow:hidden;"
    "background:var(--line)}.bar i{display:block;min-width:2px}.cache{background:var(--cache)}"
    ".index{background:var(--index)}.window{background:var(--window)}.state{background:var(--state)}"
    ".conv{background:var(--conv)}.key{display:inline-block;width:.8rem;height:.8rem;border-radius:2px;"
    "margin-right:.35rem;vertical-align:-.05rem}.v{font-weight:600}.CAN{color:var(--can)}.CANNOT{color:var(--cannot)}"
    ".UNKNOWN{color:var(--unknown)}dl{margin:0}dt{font-weight:600;margin-top:.6rem}dd{margin:0;overflow-wrap:anywhere}"
    "details{color:var(--dim)}summary{cursor:pointer}ul{margin:.3rem 0;padding-left:1.2rem}";

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void put_tagged(rung_buf *out, const char *tag, const char *class, const char *text)
{
    rung_buf_printf(out, "<%s%s%s%s>", tag, class ? " class=\"" : "", class ? class : "", class ? "\"" : "");
    rung_text_escape(out, text);
    rung_buf_printf(out, "</%s>\n", tag);
}

static void put_bytes(rung_buf *out, const char *tag, uint64_t bytes)
{
    rung_buf_printf(out, "<%s class=\"n\">", tag);
    if (bytes)
        rung_card_put_bytes(out, bytes);
    else
        rung_buf_puts(out, "&middot;");
    rung_buf_printf(out, "</%s>", tag);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static const struct part {
    const char *class, *name;
    size_t at;
} parts[] = {{"cache", "caches", offsetof(rung_card_bytes, cache)},
             {"index", "index keys", offsetof(rung_card_bytes, index)},
             {"window", "windows", offsetof(rung_card_bytes, window)},
             {"state", "states", offsetof(rung_card_bytes, state)},
             {"conv", "convolutions", offsetof(rung_card_bytes, conv)}};

static uint64_t part_of(const rung_card_bytes *b, const struct part *part)
{
    uint64_t value;
    memcpy(&value, (const char *)b + part->at, sizeof value);
    return value;
}

static void put_bar(rung_buf *out, const rung_card *card)
{
    rung_buf_puts(out, "<div class=\"bar\" role=\"img\" aria-label=\"shares of what a sequence holds\">");
    for (size_t i = 0; i < RUNG_COUNT(parts); i++) {
        uint64_t bytes = part_of(&card->held, &parts[i]);
        if (bytes)
            rung_buf_printf(out, "<i class=\"%s\" style=\"flex:%.6f\" title=\"%s\"></i>", parts[i].class,
                            (double)bytes / (double)card->held.total, parts[i].name);
    }
    rung_buf_puts(out, "</div>\n");
}

static void put_part_row(rung_buf *out, const char *who, const struct part *part, uint64_t held, uint64_t read)
{
    rung_buf_puts(out, "<tr><td>");
    rung_text_escape(out, who);
    rung_buf_printf(out, "</td><td><span class=\"key %s\"></span>%s</td>", part->class, part->name);
    put_bytes(out, "td", held);
    put_bytes(out, "td", read);
    rung_buf_puts(out, "</tr>\n");
}

static void put_kind(rung_buf *out, const rung_card_kind *kind)
{
    char who[80];
    snprintf(who, sizeof who, "%zu \303\227 %s", kind->count, kind->mechanism);
    for (size_t i = 0; i < RUNG_COUNT(parts); i++) {
        uint64_t held = part_of(&kind->held, &parts[i]), read = part_of(&kind->read, &parts[i]);
        if (held || read) put_part_row(out, who, &parts[i], held, read);
    }
}

static void put_memory(rung_buf *out, const rung_card *card)
{
    put_tagged(out, "h3", NULL, "Memory of one sequence");
    put_bar(out, card);
    rung_buf_puts(
        out,
        "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>layers</th><th>what</th><th class=\"n\">held</th>"
        "<th class=\"n\">read for a new token</th></tr></thead><tbody>\n");
    for (size_t k = 0; k < card->kinds; k++) put_kind(out, &card->kind[k]);
    rung_buf_puts(out, "<tr><th>all layers</th><th>sum</th>");
    put_bytes(out, "th", card->held.total);
    put_bytes(out, "th", card->read.total);
    rung_buf_puts(out, "</tr></tbody></table></div>\n");
    put_tagged(out, "p", "dim", "Weights are not counted: layers do not say how many there are.");
}

/* ---- savings ----------------------------------------------------------------------------------------------------- */

static void open_row(rung_buf *out, const char *label)
{
    rung_buf_printf(out, "<dt>%s</dt><dd>", label);
}

static void close_row(rung_buf *out)
{
    rung_buf_puts(out, "</dd>\n");
}

static void put_dense(rung_buf *out, const rung_card *card)
{
    open_row(out, "Dense equivalent");
    if (card->dense.exists) {
        rung_card_put_bytes(out, card->dense.held.total);
        rung_buf_puts(out, " if every layer were full; ");
        if (card->break_even > 1)
            rung_buf_printf(out, "from %llu tokens on this model holds no more", (unsigned long long)card->break_even);
        else
            rung_buf_puts(out,
                          card->break_even ? "this model never holds more" : "this model holds more at any length");
    } else {
        rung_text_escape(out, card->dense.why);
    }
    close_row(out);
}

static void put_budget(rung_buf *out, const rung_card *card)
{
    if (!card->budget) return;
    open_row(out, "Budget");
    rung_card_put_bytes(out, card->budget);
    rung_buf_printf(out, " holds %llu sequences of %llu tokens", (unsigned long long)card->budget_sequences,
                    (unsigned long long)card->context);
    if (card->budget_tokens == UINT64_MAX)
        rung_buf_puts(out, "; nothing grows with the length");
    else
        rung_buf_printf(out, ", or %llu of up to %llu tokens", (unsigned long long)card->batch,
                        (unsigned long long)card->budget_tokens);
    close_row(out);
}

static void put_engine(rung_buf *out, const rung_card *card)
{
    if (!card->engine) return;
    open_row(out, "Reserved by a server");
    rung_buf_printf(out, "%s: ", card->engine->name);
    if (card->has_reserved)
        rung_card_put_bytes(out, card->reserved);
    else
        rung_text_escape(out, card->reserved_why);
    rung_buf_puts(out, "<details><summary>the rule</summary>");
    rung_text_escape(out, card->engine->rule);
    put_tagged(out, "p", NULL, card->engine->source);
    rung_buf_puts(out, "</details>");
    close_row(out);
}

static void put_savings(rung_buf *out, const rung_card *card)
{
    rung_buf_puts(out, "<dl>\n");
    open_row(out, "Growth");
    rung_card_put_bytes(out, card->growth);
    rung_buf_puts(out, " per token of a sequence, all layers");
    close_row(out);
    put_dense(out, card);
    if (card->recurrent.exists) {
        open_row(out, "Without full layers");
        rung_card_put_bytes(out, card->recurrent.held.total);
        rung_buf_puts(out, " if no layer kept every token");
        close_row(out);
    }
    if (card->batch > 1) {
        open_row(out, "The batch");
        rung_card_put_bytes(out, card->batch_held);
        rung_buf_printf(out, " for %llu sequences", (unsigned long long)card->batch);
        close_row(out);
    }
    put_budget(out, card);
    put_engine(out, card);
    if (card->reach_layers) {
        open_row(out, "Reach of windows");
        rung_buf_printf(out, "%llu tokens back through %zu windowed layers alone", (unsigned long long)card->reach,
                        card->reach_layers);
        close_row(out);
    }
    rung_buf_puts(out, "</dl>\n");
}

/* ---- abilities --------------------------------------------------------------------------------------------------- */

static void put_evidence(rung_buf *out, const rung_card_verdict *v)
{
    bool theorem = v->basis == RUNG_BASIS_THEOREM;
    rung_buf_puts(out, "<details><summary>");
    rung_text_escape(out, theorem ? "theorem " : "weights");
    if (theorem) rung_text_escape(out, v->by);
    rung_buf_printf(out, "%s</summary>", v->trivial ? ", for any layers" : "");
    rung_text_escape(out, v->statement);
    put_tagged(out, "p", NULL, v->about);
    rung_buf_puts(out, "</details>\n");
}

static void put_size(rung_buf *out, const char *verdict, const char *words, uint64_t size, const char *unit)
{
    rung_buf_printf(out, "<span class=\"v %s\">%s</span> %s %llu %s\n", verdict, verdict, words,
                    (unsigned long long)size, unit);
}

static void put_ability(rung_buf *out, const char *name, const rung_card_ability *a)
{
    open_row(out, name);
    if (a->can_at) {
        put_size(out, "CAN", "at", a->can_at, a->unit);
        put_evidence(out, &a->can);
    }
    if (a->cannot_from) {
        put_size(out, "CANNOT", "from", a->cannot_from, a->unit);
        if (a->asked_up_to) rung_buf_printf(out, " (asked up to %llu)", (unsigned long long)a->asked_up_to);
        put_evidence(out, &a->cannot);
    }
    if (a->otherwise[0]) {
        rung_buf_printf(
            out, "<span class=\"v UNKNOWN\">UNKNOWN</span>%s: ", a->can_at || a->cannot_from ? " otherwise" : "");
        rung_text_escape(out, a->otherwise);
    }
    close_row(out);
}

static void put_measured(rung_buf *out, const rung_card_recall *r)
{
    const rung_recall_answer *m = &r->measured;
    open_row(out, "Recall after training: " RUNG_RECALL_STATUS);
    if (m->no_law) {
        rung_buf_puts(out, "no law: ");
        rung_text_escape(out, m->no_law);
    } else {
        rung_buf_puts(out, "one layer of ");
        rung_text_escape(out, r->law_mechanism);
        rung_buf_printf(out, " looks up about %.0f entries of %d values at accuracy %g (95 %%: %.0f to %.0f)%s",
                        m->entries, RUNG_CARD_LAW_VALUES, RUNG_CARD_LAW_ACCURACY, m->low, m->high,
                        m->beyond ? ", extrapolated beyond the sizes that were measured" : "");
    }
    close_row(out);
}

static void put_recall(rung_buf *out, const rung_card_recall *r)
{
    if (!r->layers) return;
    open_row(out, "Recall of the recurrent part: proved");
    rung_buf_printf(out, "%zu layers with a state of %llu bits, alone: ", r->layers, (unsigned long long)r->state_bits);
    if (r->limit) {
        put_size(out, "CANNOT", "recall tables from", r->limit, "entries on");
        put_evidence(out, &r->proved);
    } else {
        rung_buf_puts(out, "<span class=\"v UNKNOWN\">UNKNOWN</span>: ");
        rung_text_escape(out, r->proved.statement);
    }
    close_row(out);
    if (r->asked_law) put_measured(out, r);
}

static void put_abilities(rung_buf *out, const rung_card *card)
{
    if (!card->has_abilities) return;
    put_tagged(out, "h3", NULL, "What the layers can and cannot do");
    rung_buf_puts(out, "<dl>\n");
    for (size_t i = 0; i < RUNG_ABILITIES; i++) put_ability(out, rung_ability_names[i], &card->ability[i]);
    put_recall(out, &card->recall);
    rung_buf_puts(out, "</dl>\n<p class=\"dim\">Theorems speak of layers ");
    rung_text_escape(out, card->about);
    rung_buf_puts(out, ".</p>\n");
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static void put_head(rung_buf *out, const rung_card *card)
{
    put_tagged(out, "h2", NULL, card->name);
    rung_buf_puts(out, "<p>");
    rung_text_escape(out, card->family);
    rung_buf_puts(out, card->family[0] ? ", " : "");
    rung_ledger_counts(out, &card->layers);
    rung_buf_puts(out, "</p>\n");
    put_tagged(out, "p", "order dim", card->order);
    rung_buf_printf(out, "<p class=\"dim\">%llu tokens, batch of %llu; keys and values in %d bits (%s)",
                    (unsigned long long)card->context, (unsigned long long)card->batch, card->numbers.kv_bits,
                    card->numbers.kv_from);
    if (card->held.state)
        rung_buf_printf(out, ", states in %d bits (%s)", card->numbers.state_bits, card->numbers.state_from);
    rung_buf_puts(out, "</p>\n");
}

static void put_card(rung_buf *out, const rung_card *card)
{
    rung_buf_puts(out, "<article>\n");
    put_head(out, card);
    put_memory(out, card);
    put_savings(out, card);
    put_abilities(out, card);
    if (card->notes) put_tagged(out, "h3", NULL, "Notes");
    if (card->notes) rung_buf_puts(out, "<ul>\n");
    for (size_t i = 0; i < card->notes; i++) put_tagged(out, "li", NULL, card->note[i]);
    if (card->notes) rung_buf_puts(out, "</ul>\n");
    rung_buf_puts(out, "</article>\n");
}

static void put_short(rung_buf *out, uint64_t bytes)
{
    rung_buf_puts(out, "<td class=\"n\">");
    rung_card_put_bytes_short(out, bytes);
    rung_buf_puts(out, "</td>");
}

static void put_overview(rung_buf *out, const rung_card *cards, size_t count)
{
    if (count < 2) return;
    rung_buf_puts(out, "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>model</th><th "
                       "class=\"n\">held</th><th class=\"n\">read "
                       "for a new token</th><th class=\"n\">growth per token</th><th class=\"n\">no more than dense "
                       "from</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        rung_buf_printf(out, "<tr><td><a href=\"#card%zu\">", i + 1);
        rung_text_escape(out, cards[i].name);
        rung_buf_puts(out, "</a></td>");
        put_short(out, cards[i].held.total);
        put_short(out, cards[i].read.total);
        put_short(out, cards[i].growth);
        if (cards[i].break_even)
            rung_buf_printf(out, "<td class=\"n\">%llu tokens</td></tr>\n", (unsigned long long)cards[i].break_even);
        else
            rung_buf_puts(out, "<td class=\"n\">&middot;</td></tr>\n");
    }
    rung_buf_puts(out, "</tbody></table></div>\n");
}

void rung_cards_html(rung_buf *out, const rung_card *cards, size_t count)
{
    rung_buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                       "content=\"width=device-width,initial-scale=1\">\n<title>Cards of models</title>\n<style>");
    rung_buf_puts(out, style);
    rung_buf_puts(out, "</style>\n</head>\n<body>\n<h1>What these models hold, read, can and cannot do</h1>\n");
    put_overview(out, cards, count);
    for (size_t i = 0; i < count; i++) {
        rung_buf_printf(out, "<section id=\"card%zu\">\n", i + 1);
        put_card(out, &cards[i]);
        rung_buf_puts(out, "</section>\n");
    }
    rung_buf_puts(out, "</body>\n</html>\n");
}
