/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Checks the headers Host and Origin. A foreign web page can make its own name resolve to 127.0.0.1 and then send
 * requests as the same origin, or send requests across origins. Both show in these headers, which a page cannot set.
 */
#include "origin.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NAME_MOST 256

/* Extracts the host without brackets and port. False if the text is no host. */
static bool take_host(char out[NAME_MOST], const char *text)
{
    bool six = *text == '[';
    size_t len = six ? strcspn(++text, "]") : strcspn(text, ":");
    if (len == 0 || len >= NAME_MOST || (six && text[len] != ']')) return false;
    memcpy(out, text, len);
    out[len] = '\0';
    const char *rest = text + len + six;
    if (*rest == '\0') return true;
    if (*rest++ != ':' || !*rest) return false;
    while (isdigit((unsigned char)*rest)) rest++;
    return *rest == '\0';
}

static bool is_numeric(const char *host)
{
    unsigned char address[16];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

static bool is_listed(const char *host, const char *list)
{
    size_t size = strlen(host);
    while (list && *list) {
        size_t len = strcspn(list, ",");
        if ((len == 1 && *list == '*') || (len == size && strncasecmp(list, host, len) == 0)) return true;
        list += len + (list[len] == ',');
    }
    return false;
}

bool serve_host_allowed(const char *host, const char *allow)
{
    char name[NAME_MOST];
    if (!take_host(name, host)) return false;
    return strcasecmp(name, "localhost") == 0 || is_numeric(name) || is_listed(name, allow);
}

bool serve_origin_allowed(const char *origin, const char *allow)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t len = strlen(schemes[i]);
        if (strncasecmp(origin, schemes[i], len) == 0) return serve_host_allowed(origin + len, allow);
    }
    return false;
}
