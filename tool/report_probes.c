/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Probed models in the output of rung report: for the terminal and as JSON.
 */
#include <inttypes.h>
#include <math.h>

#include "output.h"
#include "report_print.h"

static void print_depth(rung_buf *out, const rung_probed_depth *d)
{
    rung_buf_puts(out, "  depth     ");
    tool_report_print_text(out, d->model);
    rung_buf_puts(out, ", ");
    tool_report_print_text(out, d->place);
    rung_buf_printf(out, ": %" PRIu64, d->depth.low);
    if (!d->depth.settled) rung_buf_printf(out, " to %" PRIu64, d->depth.high);
    rung_buf_puts(out, d->depth.high == d->depth.deepest ? " (the grid goes no deeper)\n" : "\n");
}

void tool_report_print_probed(rung_buf *out, const rung_probed *t)
{
    rung_buf_printf(out, "%sprobed models: ", tool_style_bold());
    tool_report_print_text(out, t->task);
    rung_buf_printf(out, "%s: %zu model%s, %zu cell%s, %" PRIu64 " answers, %zu figure%s\n", tool_style_off(),
                    t->models, t->models == 1 ? "" : "s", t->cells, t->cells == 1 ? "" : "s", t->answers, t->figures,
                    t->figures == 1 ? "" : "s");
    for (size_t i = 0; i < t->depths; i++) print_depth(out, &t->depth[i]);
    if (t->unread) rung_buf_printf(out, "  controls  %zu of one look are below the threshold\n", t->unread);
    if (t->above)
        rung_buf_printf(out, "  theory    %zu cell%s ABOVE a ceiling: a fault or news\n", t->above,
                        t->above == 1 ? "" : "s");
    if (t->left_out[0]) rung_buf_printf(out, "  left out  %s\n", t->left_out);
}
