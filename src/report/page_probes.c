/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Probed models in the page and as CSV.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "page.h"

const char report_probe_reading[] =
    "<details class=\"box\"><summary>How to read probed models</summary><ul>\n"
    "<li>A point is one kind of question asked of one <b>served model</b>: the share of answers that were right, by "
    "the first "
    "generated token, in one forward pass. Intervals are <b>Wilson's</b> at 95 %; where the depth asked for more "
    "questions "
    "they are nominal.</li>\n"
    "<li>Hollow squares: <b>one look</b> into the same facts. A model that fails there cannot read the text, and "
    "nothing follows "
    "about composing; one that passes there and fails the question reads, and does not compose. Dashed: answers after "
    "steps were "
    "written out (thinking). Facts in random order are in the table (shuffled).</li>\n"
    "<li>Chance is a uniform guess; the other line is the best guess without the question.</li>\n"
    "<li><b>Depth</b> is the largest one of the grid up to which the accuracy stays at the threshold or above; the "
    "interval holds "
    "it with the confidence that is named, however many questions were asked.</li>\n"
    "<li>A crossed point: <code>rung bound</code> proves, for the configuration that was given and the task as "
    "symbols, that no weights are right on "
    "every prompt; a bar is an accuracy that none exceeds on average. A wrong answer may have any cause, and a low "
    "accuracy "
    "proves nothing by itself.</li>\n"
    "</ul></details>\n";

/* ---- notes ------------------------------------------------------------------------------------------------------- */

static const char *ending(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void put_notes(rung_buf *out, const rung_probed *t)
{
    rung_buf_printf(out, "<p>%zu model%s, %" PRIu64 " answer%s in %zu cell%s", t->models, ending(t->models), t->answers,
                    ending(t->answers), t->cells, ending(t->cells));
    if (t->empty) rung_buf_printf(out, "; %zu without answers (refused, or not asked yet)", t->empty);
    rung_buf_puts(out, ".</p>\n");
    if (t->above)
        rung_buf_printf(out,
                        "<p class=\"box warn\"><b>%zu cell%s above a proved ceiling.</b> The configuration is not that "
                        "of the model, a premise does not hold for text, or a theorem is refuted: please investigate. "
                        "The table marks %s.</p>\n",
                        t->above, t->above == 1 ? " is" : "s are", t->above == 1 ? "it" : "them");
    if (t->unread)
        rung_buf_printf(out,
                        "<p class=\"box\"><b>In %zu cell%s one look into the facts is below the threshold too:</b> "
                        "nothing follows about composition there.</p>\n",
                        t->unread, ending(t->unread));
}

/* ---- depths ------------------------------------------------------------------------------------------------------ */

#define SHORT_NAME 32 /* longest name, in characters, that stays on one line */

static void put_td(rung_buf *out, const char *text, bool code)
{
    rung_buf_puts(out, strlen(text) <= SHORT_NAME ? "<td class=\"n\">" : "<td>");
    if (code) rung_buf_puts(out, "<code>");
    rung_text_escape(out, text);
    rung_buf_puts(out, code ? "</code></td>" : "</td>");
}

static void put_depth(rung_buf *out, const rung_probed_depth *d)
{
    rung_buf_puts(out, "<tr>");
    put_td(out, d->model, false);
    put_td(out, d->place, true);
    rung_buf_printf(out, "<td class=\"n\"><b>%" PRIu64, d->depth.low);
    if (!d->depth.settled) rung_buf_printf(out, " to %" PRIu64, d->depth.high);
    rung_buf_puts(out, "</b>");
    if (d->depth.high == d->depth.deepest) rung_buf_puts(out, " <span class=\"dim\">the grid goes no deeper</span>");
    rung_buf_printf(out, "</td><td class=\"n\">%g</td><td class=\"n\">%g</td></tr>\n", d->depth.threshold,
                    d->depth.confidence);
}

static void put_depths(rung_buf *out, const rung_probed *t)
{
    if (!t->depths) return;
    rung_buf_puts(out, "<h3>How deep</h3>\n<div class=\"scroll depths\"><table><thead><tr><th scope=\"col\">model</th>"
                       "<th scope=\"col\">at</th><th scope=\"col\">depth</th><th scope=\"col\">threshold</th>"
                       "<th scope=\"col\">confidence</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->depths; i++) put_depth(out, &t->depth[i]);
    rung_buf_puts(out, "</tbody></table></div>\n");
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void put_accuracy(rung_buf *out, const rung_probed_cell *c)
{
    if (!c->cell.asked) {
        rung_buf_puts(out, "<td class=\"n\" data-v=\"-1\">none</td>");
        return;
    }
    rung_buf_printf(out, "<td class=\"n\" data-v=\"%.9g\"><b%s>%.3f</b> <span class=\"dim\">[%.3f, %.3f]</span>",
                    c->accuracy.mean, c->above ? " class=\"bad\"" : "", c->accuracy.mean, c->accuracy.low,
                    c->accuracy.high);
    if (c->above) rung_buf_puts(out, " <span class=\"bad\">above the ceiling</span>");
    rung_buf_puts(out, "</td>");
}

static void put_theory(rung_buf *out, const rung_probe_cell *c)
{
    rung_buf_printf(out, "<td data-v=\"%.9g\">", isfinite(c->margin) ? c->margin : -1);
    bool cannot = strcmp(c->verdict, "CANNOT") == 0;
    if (cannot) rung_buf_puts(out, "<b class=\"cannot\">");
    rung_text_escape(out, c->verdict);
    if (cannot) rung_buf_puts(out, "</b>");
    if (c->bound[0]) {
        rung_buf_puts(out, "<details><summary>");
        rung_text_escape(out, c->bound);
        rung_buf_puts(out, "</summary>");
        rung_text_escape(out, c->statement);
        rung_buf_puts(out, "</details>");
    }
    rung_buf_puts(out, "</td>");
}

/* Optional columns: a column that no cell of the task has is left out. */
typedef struct columns {
    bool facts, depth, others, thinking, theory;
} columns;

static columns columns_of(const rung_probed *t)
{
    columns has = {0};
    for (size_t i = 0; i < t->cells; i++) {
        const rung_probed_cell *c = &t->cell[i];
        has.facts = has.facts || c->cell.facts;
        has.depth = has.depth || c->cell.depth;
        has.others = has.others || c->others[0];
        has.thinking = has.thinking || c->cell.cut;
        has.theory = has.theory || c->cell.verdict[0];
    }
    return has;
}

static void put_head(rung_buf *out, const columns *has)
{
    const struct {
        bool shown;
        const char *name;
    } heads[] = {
        {true, "model"},      {has->facts, "facts"},  {has->depth, "depth"},   {has->others, "words"},
        {true, "mode"},       {true, "accuracy"},     {true, "right"},         {true, "by text"},
        {true, "off"},        {has->thinking, "cut"}, {true, "mass"},          {true, "chance"},
        {true, "best guess"}, {true, "tokens"},       {has->theory, "theory"}, {has->theory, "ceiling"},
    };
    rung_buf_puts(out, "<thead><tr>");
    for (size_t i = 0; i < RUNG_COUNT(heads); i++)
        if (heads[i].shown)
            rung_buf_printf(out, "<th scope=\"col\"><button type=\"button\">%s</button></th>", heads[i].name);
    rung_buf_puts(out, "</tr></thead>\n");
}

/* 0 stands for "none". */
static double or_none(uint64_t count)
{
    return count ? (double)count : (double)NAN;
}

static void put_row(rung_buf *out, const rung_probed_cell *c, const columns *has)
{
    const rung_probe_cell *cell = &c->cell;
    bool control = strcmp(cell->mode, "one-hop") == 0 || strcmp(cell->mode, "shuffled") == 0;
    rung_buf_puts(out, control ? "<tr class=\"control\">" : "<tr>");
    put_td(out, c->model, false);
    if (has->facts) report_td_number(out, or_none(cell->facts));
    if (has->depth) report_td_number(out, or_none(cell->depth));
    if (has->others) put_td(out, c->others, true);
    put_td(out, cell->mode, false);
    put_accuracy(out, c);
    rung_buf_printf(out, "<td class=\"n\" data-v=\"%" PRIu64 "\">%" PRIu64 "/%" PRIu64 "</td>", cell->right,
                    cell->right, cell->asked);
    report_td_number(out, (double)cell->text_right);
    report_td_number(out, (double)cell->off);
    if (has->thinking) report_td_number(out, (double)cell->cut);
    report_td_share(out, cell->mass);
    report_td_share(out, cell->chance);
    report_td_share(out, cell->majority);
    report_td_number(out, round(cell->prompt_tokens));
    if (has->theory) {
        put_theory(out, cell);
        report_td_share(out, cell->ceiling > 0 ? cell->ceiling : (double)NAN);
    }
    rung_buf_puts(out, "</tr>\n");
}

static void put_cells(rung_buf *out, const rung_probed *t)
{
    size_t rows = t->cells < REPORT_ROWS ? t->cells : REPORT_ROWS;
    columns has = columns_of(t);
    report_open_table(out, rows, t->cells);
    put_head(out, &has);
    rung_buf_puts(out, "<tbody>\n");
    for (size_t i = 0; i < rows; i++) put_row(out, &t->cell[i], &has);
    rung_buf_puts(out, "</tbody></table></div>\n");
}

void report_page_probed(rung_buf *out, const rung_probed *t)
{
    rung_buf_printf(out, "<section id=\"%s\">\n<h2>Probed models: ", t->slug);
    rung_text_escape(out, t->task);
    rung_buf_puts(out, "</h2>\n");
    put_notes(out, t);
    put_depths(out, t);
    report_page_figures(out, t->figure, t->figures, "Curves", NULL);
    if (t->left_out[0]) rung_buf_printf(out, "<p class=\"dim\">%s</p>\n", t->left_out);
    put_cells(out, t);
    rung_buf_puts(out, "</section>\n");
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void put_texts(rung_buf *out, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i) rung_buf_putc(out, ',');
        rung_buf_csv(out, texts[i]);
    }
}

static void put_reals(rung_buf *out, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rung_buf_putc(out, ',');
        report_csv_real(out, values[i]);
    }
}

void rung_probed_csv(rung_buf *out, const rung_probed *t)
{
    rung_buf_puts(out, "model,source,server,mode,words,task,facts,depth,asked,right,text_right,off,cut,accuracy,"
                       "accuracy_low,accuracy_high,mass,chance,majority,prompt_tokens,margin,ceiling,verdict,bound,"
                       "above_ceiling\n");
    for (size_t i = 0; i < t->cells; i++) {
        const rung_probed_cell *p = &t->cell[i];
        const rung_probe_cell *c = &p->cell;
        const char *texts[] = {p->model, p->source, p->server, c->mode, p->others, c->canonical};
        const uint64_t counts[] = {c->facts, c->depth, c->asked, c->right, c->text_right, c->off, c->cut};
        double values[] = {p->accuracy.mean, p->accuracy.low, p->accuracy.high,
                           c->mass,          c->chance,       c->majority,
                           c->prompt_tokens, c->margin,       c->ceiling > 0 ? c->ceiling : (double)NAN};
        put_texts(out, texts, RUNG_COUNT(texts));
        for (size_t k = 0; k < RUNG_COUNT(counts); k++) rung_buf_printf(out, ",%" PRIu64, counts[k]);
        put_reals(out, values, RUNG_COUNT(values));
        rung_buf_putc(out, ',');
        put_texts(out, (const char *const[]){c->verdict, c->bound}, 2);
        rung_buf_printf(out, ",%d\n", p->above);
    }
}

void rung_probed_depths_csv(rung_buf *out, const rung_probed *t)
{
    rung_buf_puts(out, "model,words,facts,low,high,deepest,threshold,confidence\n");
    for (size_t i = 0; i < t->depths; i++) {
        const rung_probe_depth *d = &t->depth[i].depth;
        put_texts(out, (const char *const[]){t->depth[i].model, t->depth[i].place}, 2);
        rung_buf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, d->facts, d->low, d->high, d->deepest);
        put_reals(out, (const double[]){d->threshold, d->confidence}, 2);
        rung_buf_putc(out, '\n');
    }
}
