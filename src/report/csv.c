/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Figures and cells as CSV tables with a header line. Missing values are empty.
 */
#include <math.h>

#include "report_internal.h"

static void put_reals(rung_buf *out, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rung_buf_putc(out, ',');
        report_csv_real(out, values[i]);
    }
}

/* 0 stands for "none" in ceilings and thresholds. */
static double or_none(double value)
{
    return value > 0 ? value : NAN;
}

void rung_chart_csv(rung_buf *out, const rung_chart *fig)
{
    rung_buf_puts(out, "series,detail,control,");
    rung_buf_csv(out, fig->x.name);
    rung_buf_putc(out, ',');
    rung_buf_csv(out, fig->y.name);
    rung_buf_printf(out, ",low,high,ceiling,%ss,cannot,chosen,above_ceiling\n", fig->unit ? fig->unit : "run");
    for (size_t s = 0; s < fig->series_count; s++)
        for (size_t i = 0; i < fig->series[s].count; i++) {
            const rung_series *series = &fig->series[s];
            const rung_point *p = &series->point[i];
            double values[] = {p->x, p->y, p->low, p->high, or_none(p->ceiling)};
            rung_buf_csv(out, series->name);
            rung_buf_putc(out, ',');
            rung_buf_csv(out, series->detail ? series->detail : "");
            rung_buf_printf(out, ",%d", series->control);
            put_reals(out, values, RUNG_COUNT(values));
            rung_buf_printf(out, ",%zu,%d,%d,%d\n", p->count, (p->marks & RUNG_MARK_CANNOT) != 0,
                            (p->marks & RUNG_MARK_CHOSEN) != 0, (p->marks & RUNG_MARK_ABOVE) != 0);
        }
}

void rung_heat_csv(rung_buf *out, const rung_heat *heat)
{
    rung_buf_csv(out, heat->y_name[0] ? heat->y_name : "cell");
    rung_buf_putc(out, ',');
    rung_buf_csv(out, heat->x_name[0] ? heat->x_name : "measure");
    rung_buf_puts(out, ",value,ceiling,runs,among,cannot\n");
    for (size_t r = 0; r < heat->rows; r++)
        for (size_t c = 0; c < heat->columns; c++) {
            const rung_heat_cell *cell = &heat->cell[r * heat->columns + c];
            double values[] = {cell->value, or_none(cell->ceiling)};
            if (!cell->among) continue;
            rung_buf_csv(out, heat->row[r]);
            rung_buf_putc(out, ',');
            rung_buf_csv(out, heat->column[c]);
            put_reals(out, values, RUNG_COUNT(values));
            rung_buf_printf(out, ",%zu,%zu,%d\n", cell->count, cell->among, (cell->marks & RUNG_MARK_CANNOT) != 0);
        }
}

static void put_counts(rung_buf *out, const rung_run_row *row)
{
    const uint64_t counts[] = {row->tokens,      row->parameters,       row->layers,
                               row->full_layers, row->recurrent_layers, row->state_bits,
                               row->level_bits,  row->message_bits,     row->kv_bits_per_token};
    for (size_t i = 0; i < RUNG_COUNT(counts); i++) rung_buf_printf(out, ",%llu", (unsigned long long)counts[i]);
}

static void put_theory(rung_buf *out, const rung_cell *cell)
{
    const rung_run_theory *t = &cell->row->theory;
    double values[] = {t->margin, or_none(cell->ceiling), or_none(t->n_threshold), or_none(t->log2_n)};
    rung_buf_puts(out, t->verdict == RUNG_CANNOT ? ",CANNOT," : ",UNKNOWN,");
    rung_buf_csv(out, t->bound);
    put_reals(out, values, RUNG_COUNT(values));
}

void rung_run_group_csv(rung_buf *out, const rung_run_group *g)
{
    for (size_t k = 0; k < g->key_count; k++) {
        rung_buf_csv(out, g->key[k].name);
        rung_buf_putc(out, ',');
    }
    rung_buf_puts(out,
                  "random_labels,runs,succeeded,diverged,settings,accuracy,accuracy_low,accuracy_high,success,"
                  "success_low,success_high,evaluated,evaluated_low,evaluated_high,chance,majority,tokens,parameters,"
                  "layers,full_layers,recurrent_layers,state_bits,level_bits,message_bits,kv_bits_per_token,verdict,"
                  "bound,margin,ceiling,n_threshold,log2_n,above_ceiling,test_numbers,certificate_sha256\n");
    for (size_t c = 0; c < g->cells; c++) {
        const rung_cell *cell = &g->cell[c];
        double values[] = {cell->accuracy.mean,  cell->accuracy.low, cell->accuracy.high,  cell->success.mean,
                           cell->success.low,    cell->success.high, cell->evaluated.mean, cell->evaluated.low,
                           cell->evaluated.high, cell->row->chance,  cell->row->majority};
        for (size_t k = 0; k < g->key_count; k++) {
            rung_buf_csv(out, rung_run_group_value(g, c, k));
            rung_buf_putc(out, ',');
        }
        rung_buf_printf(out, "%d,%zu,%zu,%zu,%zu", cell->row->random_labels, cell->runs, cell->succeeded,
                        cell->diverged, cell->settings);
        put_reals(out, values, RUNG_COUNT(values));
        put_counts(out, cell->row);
        put_theory(out, cell);
        rung_buf_printf(out, ",%d,", cell->above);
        rung_buf_csv(out, cell->row->test_numbers);
        rung_buf_putc(out, ',');
        rung_buf_csv(out, cell->certificate ? cell->certificate_sha256 : "");
        rung_buf_putc(out, '\n');
    }
}
