/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What `rung protocol` says, for people and as JSON.
 */
#include <string.h>

#include "output.h"
#include "protocol.h"

/* ---- text ------------------------------------------------------------------------------------------------------ */

enum { CUTS_SHOWN = 8, CUTS_FIRST = 3, CUTS_LAST = 4, PLAYERS_SHOWN = 12, WORDS_SHOWN = 60 };

/* Names need room, many columns do not have it. */
static int cut_width(const rung_played *p)
{
    return p->transcript.cuts <= 3 ? 16 : 11;
}

/* The cut in column i, or SIZE_MAX for dots; false past the end. */
static bool column(size_t *cut, size_t i, size_t cuts)
{
    *cut = i;
    if (cuts <= CUTS_SHOWN) return i < cuts;
    if (i > CUTS_FIRST) *cut = cuts - (CUTS_FIRST + CUTS_LAST + 1 - i);
    if (i == CUTS_FIRST) *cut = SIZE_MAX;
    return i < CUTS_FIRST + CUTS_LAST + 1;
}

static void print_players(rung_buf *out, const rung_played *p)
{
    for (size_t i = 0; i < p->players; i++) {
        bool dots = p->players > PLAYERS_SHOWN && i == PLAYERS_SHOWN / 2;
        if (dots) {
            size_t skipped = p->players - PLAYERS_SHOWN;
            rung_buf_printf(out, "         ... (%zu more)\n", skipped);
            i += skipped;
        }
        rung_buf_printf(out, "%s%-10s %5zu token%s  ", i ? "         " : "players  ", p->player[i].name,
                        p->player[i].len, p->player[i].len == 1 ? " " : "s");
        rung_played_words(out, p, i, WORDS_SHOWN);
        rung_buf_putc(out, '\n');
    }
}

static void print_heads(rung_buf *out, const rung_played *p)
{
    size_t cut;
    rung_buf_printf(out, "\n%s%5s  %-14s %-12s", tool_style_bold(), "layer", "mechanism", "message");
    for (size_t i = 0; column(&cut, i, p->transcript.cuts); i++) {
        char name[48] = "...";
        if (cut != SIZE_MAX) snprintf(name, sizeof name, "%s|%s", p->player[cut].name, p->player[cut + 1].name);
        if (cut != SIZE_MAX && strlen(name) > (size_t)cut_width(p))
            snprintf(name, sizeof name, "%zu|%zu", cut, cut + 1);
        rung_buf_printf(out, " %*s", cut_width(p), name);
    }
    rung_buf_printf(out, "%s\n", tool_style_off());
}

/* layer = SIZE_MAX: the sum over all; kind = RUNG_SENT_COUNTED: all kinds. */
static uint64_t cell(const rung_played *p, size_t layer, size_t kind, size_t cut)
{
    uint64_t sum = 0;
    for (size_t l = 0; l < p->transcript.layers; l++)
        for (size_t w = 0; w < RUNG_SENT_COUNTED; w++)
            if ((layer == SIZE_MAX || l == layer) && (kind == RUNG_SENT_COUNTED || w == kind))
                sum += rung_played_bits(p, l, cut, (rung_sent)w);
    return sum;
}

static void print_cells(rung_buf *out, const rung_played *p, size_t layer, size_t kind)
{
    size_t cut;
    for (size_t i = 0; column(&cut, i, p->transcript.cuts); i++) {
        if (cut == SIZE_MAX)
            rung_buf_printf(out, " %*s", cut_width(p), "...");
        else
            rung_buf_printf(out, " %*llu", cut_width(p), (unsigned long long)cell(p, layer, kind, cut));
    }
    rung_buf_putc(out, '\n');
}

static bool is_sent(const rung_played *p, size_t layer, size_t kind)
{
    for (size_t c = 0; c < p->transcript.cuts; c++)
        if (cell(p, layer, kind, c)) return true;
    return false;
}

static void print_layer(rung_buf *out, const rung_played *p, size_t layer)
{
    rung_buf mechanisms;
    bool first = true;
    rung_buf_init(&mechanisms);
    rung_played_mechanisms(&mechanisms, p, layer);
    for (size_t kind = 0; kind < RUNG_SENT_COUNTED; kind++) {
        if (!is_sent(p, layer, kind)) continue;
        if (first)
            rung_buf_printf(out, "%5zu  %-14s %-12s", layer, mechanisms.text ? mechanisms.text : "",
                            rung_sent_names[kind]);
        else
            rung_buf_printf(out, "%5s  %-14s %-12s", "", "", rung_sent_names[kind]);
        print_cells(out, p, layer, kind);
        first = false;
    }
    if (first) rung_buf_printf(out, "%5zu  %-14s nothing\n", layer, mechanisms.text ? mechanisms.text : "");
    out->failed = out->failed || mechanisms.failed;
    rung_buf_clear(&mechanisms);
}

static void print_sent(rung_buf *out, const rung_played *p)
{
    const rung_transcript *t = &p->transcript;
    uint64_t letters = 0;
    for (size_t w = 0; w < RUNG_SENT_COUNTED; w++) letters += t->letters[w];
    rung_buf_printf(out, "\nsent     %llu bits in %llu message%s", (unsigned long long)rung_transcript_total(t),
                    (unsigned long long)letters, letters == 1 ? "" : "s");
    if (t->sent[RUNG_SENT_QUERIES])
        rung_buf_printf(out, "\n         and %llu bits of queries, shown to earlier players and not counted",
                        (unsigned long long)t->sent[RUNG_SENT_QUERIES]);
    if (t->sent[RUNG_SENT_CHOICE])
        rung_buf_printf(out, "\n         and %llu bits that say which blocks to open, not counted",
                        (unsigned long long)t->sent[RUNG_SENT_CHOICE]);
    rung_buf_putc(out, '\n');
}

static void print_answers(rung_buf *out, const rung_played *p)
{
    const rung_judge *j = &p->judge;
    if (!j->task->answers || !j->targets) return;
    size_t right = 0;
    for (size_t i = 0; i < j->targets; i++) right += rung_judge_answer(j, i) == j->instance.target[j->at[i]];
    if (j->targets > 1) {
        rung_buf_printf(out, "answers  %zu of %zu right\n", right, j->targets);
        return;
    }
    rung_buf_puts(out, "answer   ");
    if (rung_judge_answer(j, 0) == RUNG_NO_TARGET)
        rung_buf_puts(out, "none, the chain of thought did not end");
    else
        rung_task_answer_write(out, j->task, rung_judge_answer(j, 0));
    if (j->thoughts) rung_buf_printf(out, " after %zu thoughts", j->thoughts);
    rung_buf_puts(out, right ? ", right\n" : ", and it is ");
    if (right) return;
    rung_task_answer_write(out, j->task, j->instance.target[j->at[0]]);
    rung_buf_putc(out, '\n');
}

static void print_ledger(rung_buf *out, const rung_played *p)
{
    if (p->agreement == RUNG_LEDGER_EQUAL) {
        rung_buf_puts(out, "ledger   equals the ledger of rung bound\n");
        return;
    }
    for (size_t l = 0; l < p->transcript.layers; l++) {
        uint64_t ours = 0, theirs = 0;
        for (size_t c = 0; c < p->transcript.cuts; c++) {
            ours += cell(p, l, RUNG_SENT_STATE, c) + cell(p, l, RUNG_SENT_ACCUMULATORS, c) +
                    cell(p, l, RUNG_SENT_SUMMARIES, c);
            theirs += p->ledger[l * p->transcript.cuts + c];
        }
        if (ours == theirs) continue;
        rung_buf_printf(out,
                        "ledger   layer %zu: %llu bits less than the ledger of rung bound, which takes all heads of a "
                        "mixed layer for the largest, and windows for full\n",
                        l, (unsigned long long)(theirs - ours));
    }
}

void tool_protocol_print(rung_buf *out, const tool_worker *s, const rung_played *p)
{
    tool_worker_print(out, s);
    print_players(out, p);
    if (p->transcript.cuts) {
        print_heads(out, p);
        for (size_t l = 0; l < p->transcript.layers; l++) print_layer(out, p, l);
        if (p->transcript.layers > 1) {
            rung_buf_printf(out, "%5s  %-27s", "", "all layers");
            print_cells(out, p, SIZE_MAX, RUNG_SENT_COUNTED);
        }
    }
    print_sent(out, p);
    print_answers(out, p);
    rung_buf_printf(out, "same     read-outs and %llu bits of states and caches are those of 'rung run', bit for bit\n",
                    (unsigned long long)p->transcript.state_bits);
    print_ledger(out, p);
    if (p->game_bits)
        rung_buf_printf(out, "game     counts %llu bits: 2Hdp for every pair of players and token, and the states\n",
                        (unsigned long long)p->game_bits);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void json_kinds(rung_jout *out, const char *key, const uint64_t *values)
{
    rung_jout_flat_object(out, key);
    for (size_t w = 0; w <= RUNG_SENT_CHOICE; w++) rung_jout_int(out, rung_sent_names[w], (int64_t)values[w]);
    rung_jout_end(out);
}

static void json_layer(rung_jout *out, const rung_played *p, size_t layer)
{
    rung_buf mechanisms;
    rung_buf_init(&mechanisms);
    rung_played_mechanisms(&mechanisms, p, layer);
    rung_jout_object(out, NULL);
    rung_jout_string(out, "mechanism", mechanisms.text);
    rung_jout_array(out, "cuts");
    for (size_t c = 0; c < p->transcript.cuts; c++) {
        rung_jout_flat_object(out, NULL);
        for (size_t w = 0; w < RUNG_SENT_COUNTED; w++)
            rung_jout_int(out, rung_sent_names[w], (int64_t)rung_played_bits(p, layer, c, (rung_sent)w));
        rung_jout_int(out, "ledger", (int64_t)p->ledger[layer * p->transcript.cuts + c]);
        rung_jout_end(out);
    }
    rung_jout_end(out);
    rung_jout_end(out);
    rung_buf_clear(&mechanisms);
}

static void json_answers(rung_jout *out, const rung_judge *j)
{
    rung_jout_array(out, "answers");
    for (size_t i = 0; i < j->targets && j->task->answers; i++) {
        int32_t answer = rung_judge_answer(j, i);
        rung_jout_flat_object(out, NULL);
        rung_jout_int(out, "position", (int64_t)j->at[i]);
        rung_jout_int(out, "target", j->instance.target[j->at[i]]);
        if (answer == RUNG_NO_TARGET)
            rung_jout_null(out, "answer");
        else
            rung_jout_int(out, "answer", answer);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

void tool_protocol_json(rung_buf *text, const tool_worker *s, const rung_played *p, const tool_call *call)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.protocol/1", true);
    tool_worker_json(&out, s, call);
    rung_jout_int(&out, "index", (int64_t)p->play.index);
    rung_jout_flat_array(&out, "tokens");
    for (size_t t = 0; t < p->tokens; t++) rung_jout_int(&out, NULL, (int64_t)p->token[t]);
    rung_jout_end(&out);
    rung_jout_int(&out, "thoughts", (int64_t)p->judge.thoughts);
    rung_jout_array(&out, "players");
    for (size_t i = 0; i < p->players; i++) {
        rung_jout_flat_object(&out, NULL);
        rung_jout_string(&out, "name", p->player[i].name);
        rung_jout_int(&out, "start", (int64_t)p->player[i].start);
        rung_jout_int(&out, "tokens", (int64_t)p->player[i].len);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_array(&out, "layers");
    for (size_t l = 0; l < p->transcript.layers; l++) json_layer(&out, p, l);
    rung_jout_end(&out);
    rung_jout_int(&out, "bits", (int64_t)rung_transcript_total(&p->transcript));
    json_kinds(&out, "sent_bits", p->transcript.sent);
    json_kinds(&out, "messages", p->transcript.letters);
    json_answers(&out, &p->judge);
    rung_jout_bool(&out, "same_as_evaluator", true);
    rung_jout_int(&out, "state_bits", (int64_t)p->transcript.state_bits);
    rung_jout_string(&out, "ledger", p->agreement == RUNG_LEDGER_EQUAL ? "equal" : "less");
    if (p->game_bits) rung_jout_int(&out, "game_bits", (int64_t)p->game_bits);
    rung_jout_finish(&out);
}
