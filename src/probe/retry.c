/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * When to repeat a request: after Retry-After (RFC 9110, 10.2.3), or by exponential backoff if there is none.
 */
#include <ctype.h>
#include <curl/curl.h>

#include "rung/probe.h"

#define BACKOFF_MOST_S 30.0

static double whole_seconds(const char *digits)
{
    double seconds = 0;
    for (; isdigit((unsigned char)*digits) && seconds < 1e9; digits++) seconds = 10 * seconds + (*digits - '0');
    while (isdigit((unsigned char)*digits)) digits++;
    while (isspace((unsigned char)*digits)) digits++;
    return *digits ? -1 : seconds;
}

double rung_retry_after(const char *value, double now)
{
    while (isspace((unsigned char)*value)) value++;
    if (isdigit((unsigned char)*value)) {
        double seconds = whole_seconds(value);
        if (seconds >= 0) return seconds;
    }
    /* curl_getdate would accept a bare number as a date. */
    if (!isalpha((unsigned char)*value)) return -1;
    time_t then = curl_getdate(value, NULL);
    if (then == -1) return -1;
    double wait = (double)then - now;
    return wait > 0 ? wait : 0;
}

double rung_retry_backoff(double base_s, size_t attempt, uint64_t seed)
{
    double wait = base_s;
    for (size_t i = 0; i < attempt && wait < BACKOFF_MOST_S; i++) wait *= 2;
    if (wait > BACKOFF_MOST_S) wait = BACKOFF_MOST_S;
    rung_rng rng;
    rung_rng_init(&rng, seed, 0x7265747279, attempt); /* "retry" */
    return wait * (0.5 + 0.5 * rung_rng_unit(&rng));
}
