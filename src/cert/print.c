/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Certificates as text: the file, and its statement in one sentence.
 */
#include "lines.h"

#include <inttypes.h>
#include <string.h>

static void print_prompt(rung_buf *out, const rung_cert *cert, size_t which)
{
    rung_buf_puts(out, "prompt");
    for (size_t t = 0; t < cert->tokens; t++) rung_buf_printf(out, " %" PRIu32, cert->prompt[which][t]);
    rung_buf_putc(out, '\n');
}

static void print_line(rung_buf *out, const rung_cert *cert, cert_line_id id)
{
    rung_cert *source = (rung_cert *)cert; /* the source is only read */
    const char *keyword = rung_cert_lines[id].keyword;
    if (rung_cert_text_of(source, id)) {
        rung_buf_puts(out, keyword); /* not printf, because texts may be very long */
        rung_buf_putc(out, ' ');
        rung_buf_puts(out, *rung_cert_text_of(source, id));
        rung_buf_putc(out, '\n');
        return;
    }
    if (rung_cert_number_of(source, id)) {
        rung_buf_printf(out, "%s %zu\n", keyword, *rung_cert_number_of(source, id));
        return;
    }
    switch (id) {
    case LINE_FIRST:
        rung_buf_printf(out, "%s %d\n", keyword, cert_version(cert->numbers, strlen(cert->numbers)));
        break;
    case LINE_KIND:
        rung_buf_printf(out, "%s %s\n", keyword, rung_cert_kind_names[cert->kind - 1]);
        break;
    case LINE_MODEL:
        rung_buf_printf(out, "%s %s\n", keyword, cert->model);
        break;
    case LINE_PROMPT:
    case LINE_PROMPT_2:
        print_prompt(out, cert, id == LINE_PROMPT_2);
        break;
    case LINE_RIGHT:
        rung_buf_printf(out, "%s %" PRId32, keyword, cert->right[0]);
        if (cert_prompts(cert->kind) == 2) rung_buf_printf(out, " %" PRId32, cert->right[1]);
        rung_buf_putc(out, '\n');
        break;
    case LINE_GIVEN:
        rung_buf_printf(out, "%s %" PRId32 "\n", keyword, cert->given);
        break;
    default:
        rung_buf_printf(out, "%s\n", keyword);
    }
}

void rung_cert_print(rung_buf *out, const rung_cert *cert)
{
    for (cert_line_id id = 0; id < LINE_COUNT; id++)
        if (cert_has_line(cert->kind, id)) print_line(out, cert, id);
}

rung_status rung_cert_write(const char *path, const rung_cert *cert, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_cert_print(&text, cert);
    rung_status status = rung_buf_ok(&text, err);
    RUNG_NEXT(status, rung_file_write(path, text.text, text.len, err));
    rung_buf_clear(&text);
    return status;
}

/* ---- in one sentence --------------------------------------------------------------------------------------------- */

static size_t differences(const rung_cert *cert)
{
    size_t count = 0;
    for (size_t t = 0; t < cert->tokens; t++) count += cert->prompt[0][t] != cert->prompt[1][t];
    return count;
}

static void state_wrong(rung_buf *out, const rung_cert *cert)
{
    rung_buf_printf(out, "it answers %" PRId32 " to a prompt of %zu tokens whose answer is %" PRId32 ".", cert->given,
                    cert->tokens, cert->right[0]);
}

static void state_pair(rung_buf *out, const rung_cert *cert, const char *so)
{
    rung_buf_printf(out, "the right answers are %" PRId32 " and %" PRId32 ": %s", cert->right[0], cert->right[1], so);
}

void rung_cert_statement(rung_buf *out, const rung_cert *cert)
{
    rung_buf_puts(out, "The model ");
    rung_buf_puts(out, cert->arch);
    rung_buf_printf(out, " (SHA-256 %.12s...), evaluated in %s, fails on the task %s: ", cert->model, cert->numbers,
                    cert->task);
    switch (cert->kind) {
    case RUNG_CERT_WRONG_ANSWER:
        state_wrong(out, cert);
        break;
    case RUNG_CERT_STATE_COLLISION:
        rung_buf_printf(out,
                        "after two prefixes of %zu tokens, which differ in %zu, all numbers that it carries are the "
                        "same bit for bit; the same %zu tokens follow, and ",
                        cert->prefix, differences(cert), cert->prefix < cert->tokens ? cert->tokens - cert->prefix : 0);
        state_pair(out, cert, "with any read-out and any chain of thought it is wrong on one of the two prompts.");
        break;
    case RUNG_CERT_VIEW_COLLISION:
        rung_buf_printf(out,
                        "for two prompts that differ in %zu of %zu tokens the last token ends up with the same numbers "
                        "bit for bit, and ",
                        differences(cert), cert->tokens);
        state_pair(out, cert, "with any read-out it is wrong on one of the two prompts.");
        break;
    case RUNG_CERT_BLOCK_COLLISION:
        rung_buf_printf(out,
                        "two prompts differ in %zu tokens of block %zu of layer %zu only, whose summaries are the same "
                        "bit for bit and which the last token does not open; it ends up with the same numbers, and ",
                        differences(cert), cert->block, cert->layer);
        state_pair(out, cert, "with any read-out it is wrong on one of the two prompts.");
        break;
    }
}
