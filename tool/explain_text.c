/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A certificate in words, for the terminal.
 */
#include <string.h>

#include "explain.h"
#include "output.h"

/* ---- the prompts, line by line --------------------------------------------------------------------------------- */

enum { RUN_MOST = 4, COLUMN = 9, STRIP = 64 };

static void put_cell(rung_buf *out, const rung_explained *x, size_t prompt, size_t token, size_t width)
{
    rung_buf word;
    rung_buf_init(&word);
    rung_explained_token(&word, x, prompt, token);
    rung_buf_printf(out, "  %-*s", (int)width, word.text ? word.text : "");
    out->failed = out->failed || word.failed;
    rung_buf_clear(&word);
}

static void put_answers(rung_buf *out, const rung_explained *x)
{
    rung_buf_puts(out, "asked: ");
    for (size_t p = 0; p < x->prompts; p++) {
        if (p) rung_buf_puts(out, " and ");
        rung_explained_answer(out, x, x->cert.right[p]);
    }
    rung_buf_puts(out, x->prompts == 2 ? " are right" : " is right");
}

static void put_row(rung_buf *out, const rung_explained *x, size_t token, size_t width)
{
    bool differs = rung_explained_differs(x, token);
    if (differs) rung_buf_puts(out, tool_style_bold());
    rung_buf_printf(out, "%8zu ", token);
    for (size_t p = 0; p < x->prompts; p++) put_cell(out, x, p, token, width);
    if (differs) rung_buf_puts(out, "  <- differs");
    if (token == x->cert.position) rung_buf_puts(out, "  "), put_answers(out, x);
    if (differs) rung_buf_puts(out, tool_style_off());
    while (out->len && out->text[out->len - 1] == ' ') out->text[--out->len] = '\0';
    rung_buf_putc(out, '\n');
}

static void put_merge(rung_buf *out, const rung_explained *x)
{
    const char *hex = rung_explained_hex(x);
    size_t len = hex ? strlen(hex) : 0;
    if (!hex) return;
    rung_buf_printf(out, "-------- the same %s: %.40s%s\n", x->cert.state ? "state" : "numbers", hex,
                    len > 40 ? "..." : "");
}

/* The end of the run of tokens from `at` on that are all equal, or all different; a run ends at `end`. */
static size_t run_end(const rung_explained *x, size_t at, size_t end)
{
    size_t t = at + 1;
    while (t < end && rung_explained_differs(x, t) == rung_explained_differs(x, at)) t++;
    return t;
}

static void put_left_out(rung_buf *out, const rung_explained *x, size_t count, bool differs)
{
    const char *what = differs ? (count == 1 ? " that differs" : " that differ") : ", the same in both";
    rung_buf_printf(out, "     ...   %zu more%s\n", count, x->prompts == 1 ? "" : what);
}

/* Long runs of equal tokens are left out but for their ends; of different ones, what is beyond the rows. */
static void put_part(rung_buf *out, const rung_explained *x, size_t from, size_t end, size_t width, size_t *rows)
{
    for (size_t t = from, stop; t < end; t = stop) {
        stop = run_end(x, t, end);
        bool differs = rung_explained_differs(x, t);
        size_t most = differs || x->prompts == 1 ? *rows : RUN_MOST, count = stop - t;
        size_t head = count <= most ? count : differs ? most : most / 2, tail = count <= most || differs ? 0 : most / 2;
        for (size_t i = 0; i < head; i++) put_row(out, x, t + i, width);
        if (head + tail < count) put_left_out(out, x, count - head - tail, differs);
        for (size_t i = 0; i < tail; i++) put_row(out, x, stop - tail + i, width);
        if (differs || x->prompts == 1) *rows -= head;
    }
}

/* The end of the run of the same token from `at` on. */
static size_t repeat_end(const rung_explained *x, size_t at, size_t end)
{
    size_t t = at + 1;
    while (t < end && x->cert.prompt[0][t] == x->cert.prompt[0][at]) t++;
    return t;
}

/* A single prompt: a token that repeats is shown where its run begins and ends, if all runs fit into the rows. */
static void put_single(rung_buf *out, const rung_explained *x, size_t end, size_t width, size_t rows)
{
    size_t needed = 0, stop;
    for (size_t t = 0; t < end; t = stop) {
        stop = repeat_end(x, t, end);
        needed += stop - t < RUN_MOST ? stop - t : 3;
    }
    if (needed > rows) {
        put_part(out, x, 0, end, width, &rows);
        return;
    }
    for (size_t t = 0; t < end; t = stop) {
        stop = repeat_end(x, t, end);
        size_t left_out = stop - t < RUN_MOST ? 0 : stop - t - 2;
        for (size_t i = t; i < stop; i++)
            if (i == t || i > t + left_out)
                put_row(out, x, i, width);
            else if (i == t + 1)
                rung_buf_printf(out, "     ...   %zu more of the same\n", left_out);
    }
}

static size_t widest_word(const rung_explained *x)
{
    size_t width = strlen("prompt 1");
    rung_buf word;
    rung_buf_init(&word);
    for (size_t i = 0; i < x->prompts * x->cert.tokens; i++) {
        rung_buf_reset(&word);
        rung_explained_token(&word, x, i / x->cert.tokens, i % x->cert.tokens);
        if (word.len > width) width = word.len;
    }
    rung_buf_clear(&word);
    return width;
}

static void put_prompts(rung_buf *out, const rung_explained *x, size_t rows)
{
    size_t width = widest_word(x), merge = rung_explained_merge(x), last = x->cert.tokens - 1;
    rung_buf_puts(out, "position ");
    if (x->prompts == 1)
        rung_buf_puts(out, "  prompt");
    else
        rung_buf_printf(out, "  %-*s  prompt 2", (int)width, "prompt 1");
    rung_buf_putc(out, '\n');
    if (x->prompts == 1)
        put_single(out, x, last, width, rows);
    else
        put_part(out, x, 0, merge < last ? merge : last, width, &rows);
    if (merge <= last) {
        put_merge(out, x);
        put_part(out, x, merge, last, width, &rows);
    }
    put_row(out, x, last, width); /* the asked one is never left out */
    if (merge > last) put_merge(out, x);
}

/* The whole prompt in one line: a sign stands for one token, or for several. */
static void put_strip(rung_buf *out, const rung_explained *x)
{
    size_t tokens = x->cert.tokens, per = (tokens + STRIP - 1) / STRIP, merge = rung_explained_merge(x);
    rung_buf_printf(out, "%-*s", COLUMN, "where");
    for (size_t t = 0; t < tokens; t += per) {
        bool differs = false;
        for (size_t i = t; i < t + per && i < tokens; i++) differs = differs || rung_explained_differs(x, i);
        if (merge < tokens && t >= merge && t < merge + per) rung_buf_putc(out, '|');
        rung_buf_putc(out, differs ? '#' : t + per >= tokens ? '?' : '.');
    }
    rung_buf_printf(out, "\n%*s# differs, . the same%s, ? asked", COLUMN, "", merge < tokens ? ", | same state" : "");
    if (per > 1) rung_buf_printf(out, "; %zu tokens per sign", per);
    rung_buf_putc(out, '\n');
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static void put_text(rung_buf *out, const char *label, const char *text)
{
    rung_buf_printf(out, "%s%-*s%s", tool_style_bold(), COLUMN, label, tool_style_off());
    tool_wrap(out, text ? text : "", COLUMN, COLUMN);
    rung_buf_putc(out, '\n');
}

static void put_model(rung_buf *out, const rung_explained *x)
{
    rung_buf line;
    if (!x->has_model) return;
    rung_buf_init(&line);
    bool alike = x->prompts == 2 && x->given[0] == x->given[1];
    rung_buf_puts(&line, "the file has this sha256; run here, it answers ");
    for (size_t p = 0; p < (alike ? 1 : x->prompts); p++) {
        if (p) rung_buf_puts(&line, " to the first prompt and ");
        if (x->given[p] == RUNG_NO_TARGET)
            rung_buf_puts(&line, "nothing (it stops)");
        else
            rung_explained_answer(&line, x, x->given[p]);
    }
    if (x->prompts == 2) rung_buf_puts(&line, alike ? " to both prompts" : " to the second");
    put_text(out, "here", line.text);
    rung_buf_clear(&line);
}

void tool_explain_print(rung_buf *out, const rung_explained *x, size_t rows)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(out, "%s%s%s: %s\n\n", tool_style_bold(), rung_cert_kind_names[x->cert.kind - 1], tool_style_off(),
                    rung_explained_title(x));
    rung_buf_printf(&text, "%s, sha256 %.12s", x->cert.arch, x->cert.model);
    put_text(out, "model", text.text);
    rung_buf_reset(&text);
    if (x->numbers.mixed)
        rung_buf_printf(&text, "%s; every operation rounded once, to acc", x->numbers.name);
    else
        rung_buf_printf(&text, "%s, %d bits each, every operation rounded once", x->numbers.name, x->numbers.acc.bits);
    put_text(out, "numbers", text.text);
    rung_buf_reset(&text);
    rung_buf_printf(&text, "%s: %s", x->cert.task, x->task.task->summary);
    put_text(out, "task", text.text);
    rung_buf_putc(out, '\n');
    put_prompts(out, x, rows);
    rung_buf_putc(out, '\n');
    if (x->prompts == 2) put_strip(out, x);
    rung_buf_reset(&text);
    rung_explained_equal(&text, x);
    put_text(out, x->prompts == 2 ? "equal" : "wrong", text.text);
    put_text(out, "so", rung_explained_so(x));
    put_model(out, x);
    if (x->fault[0])
        put_text(out, "BUT", x->fault);
    else
        put_text(out, "oracle",
                 x->prompts == 2 ? "agrees: both are prompts of the task, and these are their answers"
                                 : "agrees: it is a prompt of the task, and this is its answer");
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}
