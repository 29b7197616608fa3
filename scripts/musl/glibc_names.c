/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What static libraries that were compiled for glibc call and musl does not have: the checked forms of printf and strncpy.
 * Only for scripts/musl.sh, which links Debian's GMP, MPFR, jansson and zlib.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FORWARD(call)                                                                                                  \
    va_list list;                                                                                                      \
    va_start(list, format);                                                                                            \
    int written = call;                                                                                                \
    va_end(list);                                                                                                      \
    return written

int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __sprintf_chk(char *out, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *out, size_t size, int flag, size_t room, const char *format, ...);
int __vsnprintf_chk(char *out, size_t size, int flag, size_t room, const char *format, va_list list);
int __vsprintf_chk(char *out, int flag, size_t room, const char *format, va_list list);
char *__strncpy_chk(char *to, const char *from, size_t count, size_t room);

int __printf_chk(int flag, const char *format, ...)
{
    (void)flag;
    FORWARD(vprintf(format, list));
}

int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
    (void)flag;
    FORWARD(vfprintf(file, format, list));
}

int __sprintf_chk(char *out, int flag, size_t room, const char *format, ...)
{
    (void)flag;
    FORWARD(vsnprintf(out, room, format, list));
}

int __snprintf_chk(char *out, size_t size, int flag, size_t room, const char *format, ...)
{
    (void)flag, (void)room;
    FORWARD(vsnprintf(out, size, format, list));
}

int __vsnprintf_chk(char *out, size_t size, int flag, size_t room, const char *format, va_list list)
{
    (void)flag, (void)room;
    return vsnprintf(out, size, format, list);
}

int __vsprintf_chk(char *out, int flag, size_t room, const char *format, va_list list)
{
    (void)flag;
    return vsnprintf(out, room, format, list);
}

char *__strncpy_chk(char *to, const char *from, size_t count, size_t room)
{
    (void)room;
    return strncpy(to, from, count);
}
