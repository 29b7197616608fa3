/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The address of a server, as it was typed. http is used only if it was typed; nothing falls back to it.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client.h"

#define EXAMPLE "; for example http://127.0.0.1:8000/v1"

static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool there = curl_url_get(url, part, &text, 0) == CURLUE_OK && text && *text;
    curl_free(text);
    return there;
}

/* Decides by the address, not by the beginning of a name: 127.example.org is another machine. libcurl resolves
 * "localhost" to this machine without asking a name server. */
static bool is_loopback(const char *host)
{
    struct in_addr four;
    struct in6_addr six;
    char inner[64] = "";
    size_t len = strlen(host);
    if (strcasecmp(host, "localhost") == 0) return true;
    if (inet_pton(AF_INET, host, &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
    if (len < 2 || len - 2 >= sizeof inner || host[0] != '[' || host[len - 1] != ']') return false;
    memcpy(inner, host + 1, len - 2);
    return inet_pton(AF_INET6, inner, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* "/v1/", "/v1" and "/" all mean the root. */
static void cut_path(char *path)
{
    size_t len = strlen(path);
    while (len && path[len - 1] == '/') path[--len] = '\0';
    if (len >= 3 && strcmp(path + len - 3, "/v1") == 0) path[len - 3] = '\0';
    for (len = strlen(path); len && path[len - 1] == '/';) path[--len] = '\0';
}

static rung_status check_parts(CURLU *url, const char *base_url, rung_error *err)
{
    if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
        return rung_fail(err, RUNG_USAGE,
                         "the address of the server contains a user or password, which others could read; put the key "
                         "into an environment variable and name it with --api-key-env");
    if (has_part(url, CURLUPART_QUERY) || has_part(url, CURLUPART_FRAGMENT))
        return rung_fail(err, RUNG_USAGE,
                         "the address '%.200s' has a query or a fragment; give host, port and path" EXAMPLE, base_url);
    return RUNG_OK;
}

static rung_status take_parts(probe_place *place, CURLU *url, rung_error *err)
{
    char *path = NULL, *host = NULL, *whole = NULL;
    bool ok = curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
              curl_url_get(url, CURLUPART_PATH, &path, 0) == CURLUE_OK;
    if (ok) {
        place->loopback = is_loopback(host);
        cut_path(path);
        ok = curl_url_set(url, CURLUPART_PATH, path, 0) == CURLUE_OK &&
             curl_url_get(url, CURLUPART_URL, &whole, 0) == CURLUE_OK;
    }
    if (ok) cut_path(whole); /* curl writes an empty path as "/" */
    place->root = ok ? strdup(whole) : NULL;
    curl_free(path);
    curl_free(host);
    curl_free(whole);
    return place->root ? RUNG_OK : rung_fail(err, RUNG_SYSTEM, "out of memory");
}

rung_status probe_place_init(probe_place *place, const char *base_url, rung_error *err)
{
    *place = (probe_place){.https = strncasecmp(base_url, "https://", 8) == 0};
    if (!place->https && strncasecmp(base_url, "http://", 7) != 0)
        return rung_fail(err, RUNG_USAGE, "the address '%.200s' must begin with https:// or http://" EXAMPLE, base_url);
    CURLU *url = curl_url();
    if (!url) return rung_fail(err, RUNG_SYSTEM, "out of memory");
    rung_status status = RUNG_OK;
    CURLUcode code = curl_url_set(url, CURLUPART_URL, base_url, 0);
    if (code != CURLUE_OK)
        status = rung_fail(err, RUNG_USAGE, "'%.200s' is not the address of a server (%s)" EXAMPLE, base_url,
                           curl_url_strerror(code));
    RUNG_NEXT(status, check_parts(url, base_url, err));
    RUNG_NEXT(status, take_parts(place, url, err));
    curl_url_cleanup(url);
    return status;
}

void probe_place_clear(probe_place *place)
{
    free(place->root);
    place->root = NULL;
}
