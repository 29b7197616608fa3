/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung-check inside a page. The build makes WebAssembly of check/rung-check.c where it finds a compiler for that; where it
 * does not, the text is empty and pages have no button.
 */
#include "rung/audit.h"

static const char program[] = {
#include "checker.wasm.inc"
    0};
static const char script[] = {
#include "checker.js.inc"
    0};

bool rung_checker_there(void)
{
    return sizeof program > 1;
}

void rung_checker_put_script(rung_buf *out, const char *nonce)
{
    if (!rung_checker_there()) return;
    rung_buf_puts(out, "<script");
    if (nonce) rung_buf_printf(out, " nonce=\"%s\"", nonce);
    rung_buf_puts(out, ">var rungChecker=\"");
    rung_buf_puts(out, program);
    rung_buf_puts(out, "\";\n");
    rung_buf_puts(out, script);
    rung_buf_puts(out, "</script>\n");
}

static void put_base64(rung_buf *out, const unsigned char *bytes, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned group = (unsigned)bytes[i] << 16;
        if (i + 1 < size) group |= (unsigned)bytes[i + 1] << 8;
        if (i + 2 < size) group |= bytes[i + 2];
        char text[4] = {letters[group >> 18], letters[group >> 12 & 63], letters[group >> 6 & 63], letters[group & 63]};
        for (size_t missing = size - i; missing < 3; missing++) text[missing + 1] = '=';
        rung_buf_add(out, text, sizeof text);
    }
}

void rung_checker_put(rung_buf *out, const char *certificate, size_t certificate_size, const void *model,
                      size_t model_size)
{
    if (!rung_checker_there()) return;
    rung_buf_puts(out, "<div class=\"checker\" hidden data-cert=\"");
    put_base64(out, (const unsigned char *)certificate, certificate_size);
    if (model) {
        rung_buf_puts(out, "\" data-model=\"");
        put_base64(out, model, model_size);
        rung_buf_puts(out, "\"><button type=\"button\">check in this page</button>");
    } else {
        rung_buf_puts(out, "\"><label>check in this page: choose the model file <input type=\"file\"></label>");
    }
    rung_buf_puts(out, " <output></output><pre hidden></pre></div>");
}
