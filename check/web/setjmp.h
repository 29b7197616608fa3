/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * WebAssembly has no longjmp. The page has: `leave` throws an exception that ends the call of judge(), and the page then
 * calls web_end(). An instance is used for one check, so nothing of the interrupted call is used again.
 */
#ifndef RUNG_CHECK_WEB_SETJMP_H
#define RUNG_CHECK_WEB_SETJMP_H

typedef int jmp_buf[1];
#define setjmp(buffer) 0
__attribute__((import_module("page"), import_name("leave"))) _Noreturn void longjmp(jmp_buf buffer, int value);

#endif
