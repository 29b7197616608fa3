/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Standard output, notes, colour, wrapping.
 */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rung/render.h"

/* ---- stdout ---------------------------------------------------------------------------------------------------- */

static rung_status write_failed(int error, rung_error *err)
{
    if (tool_pipe_broken() || error == EPIPE) {
        if (err) err->text[0] = '\0';
        return RUNG_SYSTEM;
    }
    return rung_fail(err, RUNG_SYSTEM, "cannot write to standard output: %s",
                     error ? strerror(error) : "an earlier write failed; is the disk full?");
}

rung_status tool_out_bytes(const void *bytes, size_t len, rung_error *err)
{
    errno = 0;
    if (fwrite(bytes, 1, len, stdout) != len) return write_failed(errno, err);
    return RUNG_OK;
}

rung_status tool_out_buf(const rung_buf *buf, rung_error *err)
{
    const rung_status status = rung_buf_ok(buf, err);
    return status || !buf->len ? status : tool_out_bytes(buf->text, buf->len, err);
}

rung_status tool_out_text(const tool_call *call, const rung_buf *text, const char *schema, const char *key,
                          rung_error *err)
{
    rung_status status = rung_buf_ok(text, err);
    if (status || !call->json) return status ? status : tool_out_buf(text, err);
    rung_buf object;
    rung_jout json;
    rung_buf_init(&object);
    rung_jout_begin(&json, &object, schema, true);
    rung_jout_string(&json, key, text->text);
    rung_jout_finish(&json);
    status = tool_out_buf(&object, err);
    rung_buf_clear(&object);
    return status;
}

rung_status tool_out_spares(const char *path, const char *input, rung_error *err)
{
    struct stat a, b;
    if (!path || !input || stat(path, &a) != 0 || stat(input, &b) != 0) return RUNG_OK;
    if (!S_ISREG(a.st_mode) || a.st_dev != b.st_dev || a.st_ino != b.st_ino) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "'%s' is read here, and the output would replace it; choose another name", path);
}

rung_status tool_out_place(const char *path, rung_error *err)
{
    rung_file_writer writer;
    rung_status status = rung_file_begin(&writer, path, err);
    if (status == RUNG_OK) rung_file_abandon(&writer);
    return status;
}

bool tool_out_is_stream(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

rung_status tool_out_finish(rung_error *err)
{
    const bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) != 0 || failed) return write_failed(errno, err);
    return RUNG_OK;
}

/* ---- stderr ---------------------------------------------------------------------------------------------------- */

void tool_note(const tool_call *call, const char *format, ...)
{
    if (call->quiet) return;
    va_list args;
    char text[4096];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rung_text_hide(text); /* names in it may come from anywhere */
    fprintf(stderr, "%s\n", text);
}

void tool_call_progress(const tool_call *call, rung_progress *progress, const char *what, uint64_t total)
{
    rung_progress_start(progress, what, total);
    if (call->quiet) progress->visible = false;
}

/* ---- style ----------------------------------------------------------------------------------------------------- */

bool tool_out_is_terminal(void)
{
    /* Open MPI gives its processes a terminal that ends in mpirun, whatever that writes to. */
    return isatty(STDOUT_FILENO) && !getenv("OMPI_COMM_WORLD_RANK");
}

static bool use_colour(void)
{
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_colour && *no_colour) return false;
    return term && strcmp(term, "dumb") != 0 && tool_out_is_terminal();
}

const char *tool_style_bold(void)
{
    return use_colour() ? "\033[1m" : "";
}

const char *tool_style_verdict(rung_verdict verdict)
{
    if (!use_colour()) return "";
    if (verdict == RUNG_CAN) return "\033[1;32m";
    if (verdict == RUNG_CANNOT) return "\033[1;31m";
    return verdict == RUNG_CAN_SAMPLED ? "\033[1m" : "\033[2m";
}

const char *tool_style_dim(void)
{
    return use_colour() ? "\033[2m" : "";
}

const char *tool_style_off(void)
{
    return use_colour() ? "\033[0m" : "";
}

/* Columns of UTF-8 text: bytes that do not continue a character. Wide characters do not occur in our texts. */
static size_t columns_of(const char *text, size_t len)
{
    size_t columns = 0;
    for (size_t i = 0; i < len; i++) columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

size_t tool_columns(int file)
{
    struct winsize size;
    if (ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    if (size.ws_col < 40) return 40;              /* words do not fit into less */
    return size.ws_col < 110 ? size.ws_col : 110; /* longer lines are hard to read */
}

static void new_line(rung_buf *out, size_t indent)
{
    rung_buf_printf(out, "\n%*s", (int)indent, "");
}

void tool_wrap(rung_buf *out, const char *text, size_t column, size_t indent)
{
    const size_t width = tool_columns(STDOUT_FILENO);
    bool line_empty = true;
    while (*text) {
        if (*text == '\n') {
            new_line(out, indent);
            column = indent;
            line_empty = true;
            text++;
            continue;
        }
        const size_t len = strcspn(text, " \n"), columns = columns_of(text, len);
        if (!line_empty && column + 1 + columns > width) {
            new_line(out, indent);
            column = indent;
            line_empty = true;
        }
        if (!line_empty) rung_buf_putc(out, ' ');
        rung_buf_add(out, text, len);
        column += columns + !line_empty;
        line_empty = false;
        text += len;
        while (*text == ' ') text++;
    }
}

void tool_two_columns(rung_buf *out, const char *left, const char *right, size_t indent)
{
    const size_t used = 2 + columns_of(left, strlen(left));
    rung_buf_printf(out, "  %s", left);
    if (used + 2 > indent)
        new_line(out, indent);
    else
        rung_buf_printf(out, "%*s", (int)(indent - used), "");
    tool_wrap(out, right, indent, indent);
    rung_buf_putc(out, '\n');
}
