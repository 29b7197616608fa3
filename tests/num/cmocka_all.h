/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * cmocka and the headers that it wants before itself.
 */
#ifndef TESTS_NUM_CMOCKA_ALL_H
#define TESTS_NUM_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
