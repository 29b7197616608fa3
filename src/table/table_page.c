/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table as one HTML page: the matrix, how deep the rows compose, the symbols, and below them the evidence of every
 * cell. Light and dark, readable on a phone, two pages on paper, nothing loaded from elsewhere.
 */
#include <math.h>
#include <string.h>

#include "rung/audit.h"
#include "table_cell.h"

static const char css[] = {
#include "table.css.inc"
    0};
static const char js[] = {
#include "table.js.inc"
    0};

/* ---- pieces ---------------------------------------------------------------------------------------------------- */

static void put_code(rung_buf *out, const char *text)
{
    rung_buf_puts(out, "<code>");
    rung_text_escape(out, text);
    rung_buf_puts(out, "</code>");
}

static void put_link(rung_buf *out, const char *file, const char *text)
{
    rung_buf_puts(out, "<a href=\"");
    rung_text_escape(out, file);
    rung_buf_printf(out, "\">%s</a>", text);
}

/* 75,242 */
static void put_count(rung_buf *out, double value)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%.0f", value);
    for (int i = 0; i < len; i++) rung_buf_printf(out, "%s%c", i && (len - i) % 3 == 0 ? "," : "", digits[i]);
}

static const char *class_of(rung_verdict verdict)
{
    static const char *const names[] = {
        [RUNG_CAN] = "can", [RUNG_CANNOT] = "cannot", [RUNG_CAN_SAMPLED] = "sampled", [RUNG_UNKNOWN] = "unknown"};
    return names[verdict];
}

/* A sign beside the word: colour alone says nothing. */
static const char *sign_of(rung_verdict verdict)
{
    static const char *const signs[] = {
        [RUNG_CAN] = "✓", [RUNG_CANNOT] = "✗", [RUNG_CAN_SAMPLED] = "≈", [RUNG_UNKNOWN] = "?"};
    return signs[verdict];
}

/* A phone has room for the word only. */
static void put_word(rung_buf *out, rung_verdict verdict)
{
    rung_buf_printf(out, "<span class=\"sign\">%s </span>%s", sign_of(verdict), rung_verdict_names[verdict - 1]);
}

static bool is_can(rung_verdict verdict)
{
    return verdict == RUNG_CAN || verdict == RUNG_CAN_SAMPLED;
}

/* ---- what was learned ------------------------------------------------------------------------------------------ */

/* From 0 to 1: the mean, its interval as a line, chance as a thin mark and a proved ceiling as a thick one. */
static void put_bar(rung_buf *out, const rung_table_trained *t)
{
    double low = fmax(t->accuracy.low, 0), high = fmin(t->accuracy.high, 1);
    rung_buf_printf(out, "<span class=\"bar\" aria-hidden=\"true\"><i style=\"width:%.1f%%\"></i>",
                    100 * fmin(fmax(t->accuracy.mean, 0), 1));
    if (isfinite(low) && isfinite(t->accuracy.low))
        rung_buf_printf(out, "<s style=\"left:%.1f%%;width:%.1f%%\"></s>", 100 * low, 100 * (high - low));
    if (isfinite(t->chance)) rung_buf_printf(out, "<u style=\"left:%.1f%%\"></u>", 100 * t->chance);
    if (isfinite(t->ceiling)) rung_buf_printf(out, "<b style=\"left:%.1f%%\"></b>", 100 * t->ceiling);
    rung_buf_puts(out, "</span>");
}

/* "≤ 0.91" and the like: what the accuracy stands beside. */
static void put_lesson(rung_buf *out, const rung_table *table, const rung_table_trained *t, rung_verdict verdict)
{
    switch (rung_table_learnt(table, t, verdict)) {
    case RUNG_TABLE_CEILING:
        rung_buf_printf(out, " ≤ %.2f", floor(100 * t->ceiling + 1) / 100);
        break;
    case RUNG_TABLE_NOT_ALWAYS:
        rung_buf_puts(out, " &lt; 1");
        break;
    case RUNG_TABLE_NOT_LEARNT:
        rung_buf_printf(out, " not learnt in %zu steps", t->steps);
        break;
    case RUNG_TABLE_LEARNT:
    case RUNG_TABLE_NOTHING_SAID:
        break;
    }
}

/* One line of the matrix. */
static void put_learned(rung_buf *out, const rung_table *table, const rung_table_trained *t, rung_verdict verdict)
{
    rung_buf_puts(out, "<div class=\"learned\">");
    if (!t)
        rung_buf_puts(out, "no run");
    else if (!isfinite(t->accuracy.mean))
        rung_buf_puts(out, "diverged");
    else {
        put_bar(out, t);
        rung_buf_printf(out, "<span>%.2f", t->accuracy.mean);
        put_lesson(out, table, t, verdict);
        rung_buf_puts(out, "</span>");
    }
    rung_buf_puts(out, "</div>");
}

static void put_accuracy(rung_buf *out, const rung_table_trained *t)
{
    if (!isfinite(t->accuracy.mean)) {
        rung_buf_puts(out, "trained: diverged");
        return;
    }
    rung_buf_printf(out, "trained: <b>%.3f</b>", t->accuracy.mean);
    if (isfinite(t->accuracy.low))
        rung_buf_printf(out, " [%.3f, %.3f]", fmax(t->accuracy.low, 0), fmin(t->accuracy.high, 1));
    if (isfinite(t->ceiling)) rung_buf_printf(out, "; proved: at most %.3f", t->ceiling);
    put_bar(out, t);
}

static void put_measured_by(rung_buf *out, const rung_table_trained *t)
{
    bool fast = !t->test_numbers[0] || strcmp(t->test_numbers, RUNG_TEST_FAST) == 0;
    if (fast)
        rung_buf_puts(out, "Measured by the fast evaluator. ");
    else
        rung_buf_printf(out, "Measured by the exact evaluator in <code>%s</code>. ", t->test_numbers);
}

static void put_theory_of(rung_buf *out, const rung_table_trained *t)
{
    if (t->verdict == RUNG_CANNOT && t->spoken)
        rung_buf_printf(out, "At this size too, theorem %s proves CANNOT%s.", t->bound,
                        isfinite(t->ceiling) ? "" : "; no ceiling is known");
    else if (t->verdict == RUNG_CANNOT)
        rung_buf_printf(out, "Theorem %s proves CANNOT at this size, but does not speak of this evaluator.", t->bound);
    else
        rung_buf_puts(out, "No theorem forbids it at this size.");
}

/* The model is not in this program, but the sweep makes the same bytes again. */
static void put_trained_certificate(rung_buf *out, const rung_table_trained *t)
{
    if (!t->cert) return;
    rung_buf_printf(out, "<p>The trained model of seed %llu fails (%s, %s). rung-check accepted the ",
                    (unsigned long long)t->cert_seed, t->cert_kind, t->cert_numbers);
    put_link(out, t->cert_file, "certificate");
    rung_buf_puts(out, "; <code>make table-trained</code> trains the same model again.</p>");
}

static void put_trained(rung_buf *out, const rung_table *table, const rung_table_trained *t, rung_verdict verdict)
{
    rung_buf_puts(out, "<p>");
    put_accuracy(out, t);
    if (rung_table_learnt(table, t, verdict) == RUNG_TABLE_NOT_LEARNT)
        rung_buf_printf(out, "Weights exist, not learnt in %zu steps. ", t->steps);
    rung_buf_printf(out, "%zu run%s, %zu tokens: ", t->runs, t->runs == 1 ? "" : "s", t->tokens);
    put_code(out, t->task);
    rung_buf_printf(out, ", d-model %zu, %zu head%s, d<sub>k</sub> = %zu, d<sub>v</sub> = %zu, ", t->d_model, t->heads,
                    t->heads == 1 ? "" : "s", t->dk, t->dv);
    if (t->thoughts) rung_buf_printf(out, "%zu thought%s, ", t->thoughts, t->thoughts == 1 ? "" : "s");
    rung_buf_printf(out, "at most %zu steps, rate %g%s, seeds %s. Chance %.3f; %zu of %zu runs succeeded. ", t->steps,
                    t->rate, t->settings > 1 ? " (chosen by the evaluations)" : "", t->seeds, t->chance, t->succeeded,
                    t->runs);
    put_measured_by(out, t);
    put_theory_of(out, t);
    rung_buf_puts(out, "</p>");
    put_trained_certificate(out, t);
}

/* ---- how deep -------------------------------------------------------------------------------------------------- */

/* "from 75,242 tokens", "from 2^79.1 tokens" */
static void put_from(rung_buf *out, const rung_table_depth *d)
{
    rung_buf_puts(out, "from ");
    if (d->log2_tokens > 0)
        rung_buf_printf(out, "2<sup>%.1f</sup>", d->log2_tokens);
    else if (d->tokens < 1e9)
        put_count(out, d->tokens);
    else
        rung_buf_printf(out, "2<sup>%.1f</sup>", log2(d->tokens));
    rung_buf_puts(out, " tokens");
}

static const char *depth_class(const rung_table_depth *d)
{
    if (d->cannot) return "cannot";
    return class_of(d->can);
}

/* What is known of L functions: refuted from some length on, solved by weights at a short one, or neither. */
static void put_depth(rung_buf *out, const rung_table *table, const rung_table_depth *d)
{
    rung_buf_puts(out, "<span class=\"w\">");
    put_word(out, d->cannot ? RUNG_CANNOT : d->can);
    rung_buf_puts(out, "</span>");
    if (d->cannot) {
        rung_buf_puts(out, "<div class=\"n\">");
        put_from(out, d);
        if (d->bound[0]) rung_buf_printf(out, " (<a href=\"#t-%s\">%s</a>)", d->bound, d->bound);
        rung_buf_puts(out, "</div>");
    }
    if (is_can(d->can)) {
        rung_buf_printf(out, "<div class=\"n\">%sat %zu tokens, ", d->cannot ? "weights " : "", d->can_tokens);
        if (d->proved)
            rung_buf_puts(out, "every prompt</div>");
        else
            rung_buf_printf(out, "%llu prompts</div>", (unsigned long long)d->prompts);
    }
    if (d->trained) put_learned(out, table, d->trained, d->can);
}

static void put_deep(rung_buf *out, const rung_table *table)
{
    rung_buf_puts(out,
                  "<h2 class=\"second\" id=\"deep\">How many functions do the layers compose?</h2>\n"
                  "<p class=\"dim\">L-SeqComp for L = 1 to 4. CANNOT: from so many tokens on, for some sizes of the "
                  "tables, whatever the weights of one head with d<sub>k</sub> = d<sub>v</sub> = 2. CAN and SAMPLED: "
                  "weights for a short prompt, in heads as large as they need. In the limit, L + 1 full layers are "
                  "enough and L are not.</p>\n<table class=\"deep\"><colgroup><col class=\"row\"><col span=\"4\">"
                  "</colgroup><thead><tr><th>layers</th>");
    for (size_t L = 1; L <= RUNG_TABLE_DEPTH; L++) rung_buf_printf(out, "<th><b>L = %zu</b></th>", L);
    rung_buf_puts(out, "</tr></thead>\n<tbody>\n");
    for (size_t r = 0; r < RUNG_TABLE_LAYERS; r++) {
        rung_buf_printf(out, "<tr><th>%s</th>", rung_table_rows[r].title);
        for (size_t L = 0; L < RUNG_TABLE_DEPTH; L++) {
            const rung_table_depth *d = &table->depth[r][L];
            rung_buf_printf(out, "<td class=\"%s\">", depth_class(d));
            put_depth(out, table, d);
            rung_buf_puts(out, "</td>");
        }
        rung_buf_puts(out, "</tr>\n");
    }
    rung_buf_puts(out, "</tbody></table>\n");
}

/* ---- the matrix ------------------------------------------------------------------------------------------------ */

static void put_tag(rung_buf *out, const char *text, const char *meaning)
{
    rung_buf_printf(out, "<abbr class=\"tag\" title=\"%s\">%s</abbr>", meaning, text);
}

/* How far the verdict is checked. */
static void put_tags(rung_buf *out, const rung_table_cell *cell)
{
    bool trained = cell->trained && cell->trained->cert;
    if (cell->verdict == RUNG_CANNOT && (trained || cell->cert[0]))
        put_tag(out, "cert",
                trained ? "a trained model of these layers fails; rung-check has accepted the certificate"
                        : "a model of these layers with random weights fails; rung-check has accepted the certificate");
    if (cell->verdict == RUNG_CANNOT && !cell->on_paper[0]) put_tag(out, "Coq", "Coq has checked the theorem");
    if (cell->verdict == RUNG_CANNOT && cell->on_paper[0]) put_tag(out, "paper", "the theorem is proved on paper only");
    if (is_can(cell->verdict) && cell->proved) put_tag(out, "proof", "these weights are proved right on every prompt");
}

static void put_reason(rung_buf *out, const rung_table_cell *cell, bool larger)
{
    if (cell->verdict == RUNG_CANNOT && larger) {
        rung_buf_puts(out, "at n = ");
        put_count(out, (double)cell->tokens);
    } else if (cell->verdict == RUNG_CANNOT) {
        put_count(out, floor(cell->lhs));
        rung_buf_puts(out, " &gt; ");
        put_count(out, ceil(cell->rhs));
        rung_buf_puts(out, cell->trivial ? " bits, trivial" : " bits");
    } else if (cell->proved) {
        rung_buf_puts(out, "every prompt");
    } else if (is_can(cell->verdict)) {
        rung_buf_printf(out, "%s%llu prompts", cell->verdict == RUNG_CAN ? "all " : "",
                        (unsigned long long)cell->prompts);
    } else {
        rung_buf_puts(out, "neither known");
    }
}

/* The published growth in front of what holds here. */
static void put_numbers(rung_buf *out, const rung_table_cell *cell, size_t r, size_t c)
{
    const char *claim = rung_table_rows[r].claim[c];
    rung_buf_puts(out, "<div class=\"n\">");
    if (claim) {
        rung_buf_puts(out, "<i title=\"");
        rung_text_escape(out, claim);
        rung_buf_printf(out, "\">%.*s</i>", (int)(strchr(claim, ')') - claim + 1), claim);
    }
    put_reason(out, cell, rung_table_rows[r].task[c] != NULL);
    rung_buf_puts(out, "</div>");
}

static void put_cell(rung_buf *out, const rung_table *table, size_t r, size_t c)
{
    const rung_table_cell *cell = &table->cell[r][c];
    bool slides = c == RUNG_TABLE_SEQCOMP && table->deep;
    rung_buf_printf(out, "<td class=\"%s\"", class_of(cell->verdict));
    if (slides) {
        rung_buf_puts(out, " data-depths=\"");
        for (size_t L = 1; L <= RUNG_TABLE_DEPTH; L++)
            rung_buf_printf(out, "%s%s", L == 1 ? "" : " ",
                            L == 2 ? class_of(cell->verdict) : depth_class(&table->depth[r][L - 1]));
        rung_buf_puts(out, "\"");
    }
    rung_buf_putc(out, '>');
    for (size_t L = 1; slides && L <= RUNG_TABLE_DEPTH; L++) {
        if (L == 2) continue;
        rung_buf_printf(out, "<div class=\"off %s\" data-depth=\"%zu\">", depth_class(&table->depth[r][L - 1]), L);
        put_depth(out, table, &table->depth[r][L - 1]);
        rung_buf_puts(out, "</div>");
    }
    if (slides) rung_buf_printf(out, "<div class=\"%s\" data-depth=\"2\">", class_of(cell->verdict));
    rung_buf_printf(out, "<a class=\"v\" href=\"#e%zu-%zu\">", r, c);
    put_tags(out, cell);
    put_word(out, cell->verdict);
    rung_buf_puts(out, "</a>");
    put_numbers(out, cell, r, c);
    put_learned(out, table, cell->trained, cell->verdict);
    rung_buf_puts(out, slides ? "</div></td>" : "</td>");
}

/* "n = 66, 146, 170" for L = 1, 2, 3 */
static void put_width(rung_buf *out, const rung_table_sizes *width)
{
    if (!width->runs) {
        rung_buf_puts(out, "not trained");
        return;
    }
    rung_buf_puts(out, "trained: n = ");
    for (size_t i = 0, shown = 0; i < RUNG_TABLE_TRAINED; i++)
        if (width->tokens[i]) rung_buf_printf(out, "%s%zu", shown++ ? ", " : "", width->tokens[i]);
    rung_buf_printf(out, "; H = %zu, ", width->heads);
    if (width->dk == width->dv)
        rung_buf_printf(out, "d<sub>k</sub> = d<sub>v</sub> = %zu", width->dk);
    else
        rung_buf_printf(out, "d<sub>k</sub> = %zu, d<sub>v</sub> = %zu", width->dk, width->dv);
}

static void put_column(rung_buf *out, const rung_table *table, size_t c)
{
    const rung_table_sizes width = rung_table_width(table, c);
    bool slides = c == RUNG_TABLE_SEQCOMP;
    rung_buf_printf(out, "<th><b>%s</b>%s<br><span class=\"dim long\">%s, %zu tokens<br>", rung_table_cols[c].symbol,
                    slides ? ", L = <span id=\"L-shown\">2</span>" : "", rung_table_cols[c].title,
                    table->task[c].tokens);
    put_width(out, &width);
    rung_buf_puts(out, "</span></th>");
}

static void put_matrix(rung_buf *out, const rung_table *table)
{
    rung_buf_puts(out, "<table class=\"matrix\"><colgroup><col class=\"row\"><col span=\"4\"></colgroup>\n"
                       "<thead><tr><th>layers</th>");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) put_column(out, table, c);
    rung_buf_puts(out, "</tr></thead>\n<tbody>\n");
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        rung_buf_printf(out, "<tr><th>%s<br><span class=\"dim\"><code>%s</code></span></th>", rung_table_rows[r].title,
                        rung_table_rows[r].arch);
        for (size_t c = 0; c < RUNG_TABLE_COLS; c++) put_cell(out, table, r, c);
        rung_buf_puts(out, "</tr>\n");
    }
    rung_buf_puts(out, "</tbody></table>\n");
}

static void put_legend(rung_buf *out, const rung_table *table)
{
    rung_buf_puts(out, "<p class=\"legend\">");
    if (table->deep)
        rung_buf_printf(out,
                        "<label class=\"slider\"><b>L</b> <input type=\"range\" id=\"L\" min=\"1\" max=\"%d\" "
                        "value=\"2\" aria-label=\"number of functions to compose\"></label>",
                        RUNG_TABLE_DEPTH);
    rung_buf_puts(out, "<span><b class=\"can\">✓ CAN</b> weights, right on every prompt</span>"
                       "<span><b class=\"sampled\">≈ SAMPLED</b> right on a sample</span>"
                       "<span><b class=\"cannot\">✗ CANNOT</b> a theorem: bits needed &gt; bits held</span>"
                       "<span><b class=\"unknown\">? UNKNOWN</b> neither</span>"
                       "<span>O, Ω: the published width Hdp</span>"
                       "<span>bar: accuracy after training, | chance, ≤ proved ceiling</span></p>\n");
}

/* ---- symbols and theorems -------------------------------------------------------------------------------------- */

static bool is_used(const rung_table *table, const char *id)
{
    for (size_t i = 0; i < RUNG_TABLE_ROWS * RUNG_TABLE_COLS; i++)
        if (strcmp(table->cell[i / RUNG_TABLE_COLS][i % RUNG_TABLE_COLS].bound, id) == 0) return true;
    for (size_t i = 0; table->deep && i < RUNG_TABLE_LAYERS * RUNG_TABLE_DEPTH; i++)
        if (strcmp(table->depth[i / RUNG_TABLE_DEPTH][i % RUNG_TABLE_DEPTH].bound, id) == 0) return true;
    return false;
}

static void put_symbols(rung_buf *out, const rung_table *table)
{
    rung_buf_printf(
        out,
        "<h2%s>Symbols</h2>\n<dl>\n"
        "<dt>Eva</dt><dd>a table f of N values, then a key x; answer f(x)</dd>\n"
        "<dt>2-Sum</dt><dd>N numbers below M, then a query; is there one that adds up with it to 0 modulo M</dd>\n"
        "<dt>L-SeqComp</dt><dd>tables z<sub>L</sub>, …, z<sub>1</sub>, then z<sub>0</sub> and w; follow all L "
        "tables</dd>\n"
        "<dt>PerCom</dt><dd>permutations σ and τ of N; answer σ(τ(i)) at every i</dd>\n"
        "<dt>n, H, d, p</dt><dd>tokens of the prompt, heads, dimension d<sub>k</sub> = d<sub>v</sub> of a head, bits "
        "of "
        "a number. Here H = 1, d = 2, p = %d (<code>%s</code>), where weights do not need larger heads</dd>\n"
        "<dt>a &gt; b bits</dt><dd>what the theorem says that the task needs, and what the layers hold; the sum of a "
        "softmax runs from left to right</dd>\n"
        "<dt>O, Ω</dt><dd>what Ye et al. (2026) and the papers that it builds on state of the width Hdp, in the limit; "
        "CoT: with chain of thought</dd>\n"
        "<dt>Coq, paper</dt><dd>a machine has checked the theorem, or it is proved on paper only; proof: of these "
        "weights, for every prompt</dd>\n"
        "<dt>cert</dt><dd>one model of these layers that fails, at the trained size a trained one; the program "
        "rung-check "
        "accepted the certificate</dd>\n"
        "<dt>bar</dt><dd>accuracy on fresh prompts, %s. The line is the interval, the thin mark chance, the thick one "
        "and “≤” a ceiling that is proved for what was trained; “&lt; 1”: proved not to be always right. It proves "
        "nothing: a low bar may be the fault of the recipe%s</dd>\n</dl>\n",
        table->deep ? "" : " class=\"second\"", table->fmt.bits, table->fmt.name,
        table->quick ? "one seed each, trained when this page was made" : "mean over seeds with its 95 % interval",
        table->shipped ? ". Sizes and steps were chosen in pilot runs, in part with these very seeds" : "");
}

static void put_theorems(rung_buf *out, const rung_table *table)
{
    rung_buf_puts(out,
                  "<h2 id=\"theorems\">Theorems</h2>\n<p class=\"dim\"><code>docs/theory.md</code> has the proofs, "
                  "in the sections named here. <code>rung list bounds</code> lists them all.</p>\n<dl>\n");
    for (size_t i = 0; i < rung_bound_count(); i++) {
        const rung_bound *bound = rung_bound_at(i);
        if (!is_used(table, bound->id)) continue;
        rung_buf_printf(out, "<dt id=\"t-%s\">%s</dt><dd>", bound->id, bound->id);
        rung_text_escape(out, bound->summary);
        rung_buf_puts(out, ". ");
        rung_text_escape(out, bound->source);
        rung_buf_printf(out, "; %s; <code>docs/theory.md#%s</code></dd>\n", bound->checked, bound->section);
    }
    rung_buf_puts(out, "</dl>\n");
}

/* ---- evidence -------------------------------------------------------------------------------------------------- */

static rung_status map_beside(rung_file_map *map, const char *directory, const char *name, rung_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return rung_file_open_map(map, path, err);
}

/* The page holds both files, so that it can check them wherever it is. */
static void put_checker(rung_buf *out, const rung_table_cell *cell, const char *directory)
{
    rung_file_map cert = {0}, model = {0};
    rung_error err = {""};
    if (map_beside(&cert, directory, cell->cert, &err) != RUNG_OK) return;
    if (map_beside(&model, directory, cell->cert_model, &err) == RUNG_OK) {
        rung_checker_put(out, (const char *)cert.bytes, cert.size, model.bytes, model.size);
        rung_file_close_map(&model);
    }
    rung_file_close_map(&cert);
}

static void put_certificate(rung_buf *out, const rung_table_cell *cell, const char *directory)
{
    if (!cell->cert[0]) return;
    rung_buf_printf(
        out, "<p>One model fails (%s, %s): attack <code>%s</code> on random weights at the size of the verdict, ",
        cell->cert_kind, cell->cert_numbers, cell->cert_attack);
    rung_text_escape(out, cell->cert_how);
    rung_buf_puts(out, ". Accepted by rung-check: ");
    put_link(out, cell->cert, "certificate");
    rung_buf_puts(out, ", ");
    put_link(out, cell->cert_model, "model");
    rung_buf_puts(out, ".</p>");
    put_checker(out, cell, directory);
}

static void put_theorem(rung_buf *out, const rung_table_cell *cell)
{
    rung_buf_printf(out, "<p>Theorem <a href=\"#t-%s\">%s</a>: ", cell->bound, cell->bound);
    rung_text_escape(out, cell->statement);
    rung_buf_puts(out, ". ");
    if (cell->proof[0]) {
        rung_buf_puts(out, "For coqc: ");
        put_link(out, cell->proof, cell->proof);
    } else if (cell->on_paper[0]) {
        rung_buf_puts(out, "Not in Coq: ");
        rung_text_escape(out, cell->on_paper);
    } else {
        rung_buf_puts(out, "Coq has checked this theorem");
    }
    rung_buf_puts(out, ".</p>");
}

static void put_weights(rung_buf *out, const rung_table_cell *cell)
{
    bool sampled = cell->verdict == RUNG_CAN_SAMPLED;
    rung_buf_puts(out, "<p>");
    put_link(out, cell->model, "Weights");
    rung_buf_puts(out, " of layers ");
    put_code(out, cell->arch);
    if (cell->proved)
        rung_buf_puts(out, ", proved right on every prompt");
    else
        rung_buf_printf(out, ", right on %s%llu prompts", sampled ? "a sample of " : "all ",
                        (unsigned long long)cell->prompts);
    rung_buf_puts(out, sampled ? ", which proves nothing about the others: " : ": ");
    put_code(out, cell->command);
    rung_buf_puts(out, "</p>");
}

/* Of L-SeqComp those of every L. */
static void put_runs(rung_buf *out, const rung_table *table, size_t r, size_t c)
{
    size_t shown = 0;
    for (size_t L = 1; L <= (c == RUNG_TABLE_SEQCOMP ? RUNG_TABLE_TRAINED : 1); L++) {
        const rung_table_trained *t = rung_table_run(table, r, c, L);
        bool deep = c == RUNG_TABLE_SEQCOMP && L != 2;
        if (t) put_trained(out, table, t, deep ? table->depth[r][L - 1].can : table->cell[r][c].verdict);
        shown += t != NULL;
    }
    if (!shown) rung_buf_puts(out, "<p class=\"dim\">trained: no run</p>");
}

static void put_evidence_of(rung_buf *out, const rung_table *table, size_t r, size_t c, const char *directory)
{
    const rung_table_cell *cell = &table->cell[r][c];
    const rung_table_row *row = &rung_table_rows[r];
    rung_buf_printf(out, "<details><summary>%s: <b class=\"%s\">%s %s</b></summary><div id=\"e%zu-%zu\">",
                    rung_table_cols[c].symbol, class_of(cell->verdict), sign_of(cell->verdict),
                    rung_verdict_names[cell->verdict - 1], r, c);
    rung_buf_puts(out, "<p class=\"dim\">");
    put_code(out, row->task[c] ? row->task[c] : rung_table_cols[c].task);
    rung_buf_printf(out, ", %zu tokens%s", cell->tokens, row->task[c] ? ", a larger instance than elsewhere" : "");
    if (row->claim[c]) rung_buf_printf(out, "; published: width %s", row->claim[c]);
    rung_buf_puts(out, "</p>");
    if (cell->verdict == RUNG_CANNOT) {
        put_theorem(out, cell);
        put_certificate(out, cell, directory);
    } else if (is_can(cell->verdict)) {
        put_weights(out, cell);
    } else {
        rung_buf_puts(out, "<p>");
        rung_text_escape(out, cell->nearest);
        rung_buf_puts(out, "</p>");
    }
    put_runs(out, table, r, c);
    rung_buf_puts(out, "</div></details>\n");
}

static void put_evidence(rung_buf *out, const rung_table *table, const char *directory)
{
    rung_buf_puts(out, "<div class=\"screen\"><h2 id=\"evidence\">Evidence</h2>\n");
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        rung_buf_printf(out, "<h3>%s <code class=\"dim\">%s</code></h3>\n<div class=\"evidence\">\n",
                        rung_table_rows[r].title, rung_table_rows[r].arch);
        for (size_t c = 0; c < RUNG_TABLE_COLS; c++) put_evidence_of(out, table, r, c, directory);
        rung_buf_puts(out, "</div>\n");
    }
    if (table->spec[0])
        rung_buf_printf(out, "<p class=\"dim\">Trained accuracies: sweep <code>%s</code>.</p>\n", table->spec);
    rung_buf_puts(out, "</div>\n");
}

/* ---- page ------------------------------------------------------------------------------------------------------ */

void rung_table_page(rung_buf *out, const rung_table *table, const char *directory)
{
    rung_buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<title>rung: table of results</title>\n<style>\n");
    rung_buf_puts(out, css);
    rung_buf_puts(out, "</style>\n<h1>What attention can and cannot compute</h1>\n");
    put_legend(out, table);
    put_matrix(out, table);
    rung_buf_puts(out, "<p class=\"dim screen\">A click on a verdict leads to its evidence. A larger architecture may "
                       "leave layers idle.</p>\n");
    if (table->deep) put_deep(out, table);
    put_symbols(out, table);
    put_theorems(out, table);
    put_evidence(out, table, directory);
    rung_buf_puts(out, "<script id=\"table\">\n");
    rung_buf_puts(out, js);
    rung_buf_puts(out, "</script>\n");
    rung_checker_put_script(out, NULL);
    rung_buf_puts(out, "</html>\n");
}
