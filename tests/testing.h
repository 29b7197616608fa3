/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a test includes: cmocka with the headers that it needs, and the assertions that it lacks.
 */
#ifndef RUNG_TESTS_TESTING_H
#define RUNG_TESTS_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rung/base.h"

/* Give this to the call inside CHECK, so that a failure shows the message. */
static rung_error check_err __attribute__((unused));

/* The call returns RUNG_OK. */
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        check_err.text[0] = '\0';                                                                                      \
        rung_status check_status = (call);                                                                             \
        if (check_status != RUNG_OK) fail_msg("%s: status %d, %s", #call, check_status, check_err.text);               \
    } while (0)

/* The message contains every one of the fragments. */
#define assert_message(err, ...) check_message(&(err), (const char *[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)

static inline void check_message(const rung_error *err, const char *const *fragments, const char *file, int line)
{
    for (; *fragments; fragments++) {
        if (strstr(err->text, *fragments)) continue;
        print_error("message '%s' lacks '%s'\n", err->text, *fragments);
        _fail(file, line);
    }
}

/* cmocka compares floats; these are doubles. */
#define assert_near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

#endif
