/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * In the place of libcurl's header where libcurl is absent. rung_client_new refuses, so there is never a transfer, and
 * none of these functions is reached; they are here so that the rest of the module compiles and the library has all its functions.
 */
#ifndef RUNG_PROBE_WITHOUT_CURL_H
#define RUNG_PROBE_WITHOUT_CURL_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define RUNG_WITHOUT_CURL                                                                                              \
    "this rung was built without libcurl and asks no servers; install libcurl4-openssl-dev and build it again"

typedef struct rung_without_easy CURL;
typedef struct rung_without_multi CURLM;
typedef struct rung_without_url CURLU;
typedef int64_t curl_off_t;
struct curl_slist;

typedef enum CURLcode {
    CURLE_OK,
    CURLE_FAILED_INIT,
    CURLE_UNSUPPORTED_PROTOCOL,
    CURLE_URL_MALFORMAT,
    CURLE_OUT_OF_MEMORY,
    CURLE_TOO_MANY_REDIRECTS,
    CURLE_SSL_CERTPROBLEM,
    CURLE_PEER_FAILED_VERIFICATION,
    CURLE_FILESIZE_EXCEEDED,
    CURLE_SSL_CACERT_BADFILE,
    CURLE_SSL_ISSUER_ERROR,
} CURLcode;
typedef enum CURLUcode { CURLUE_OK, CURLUE_BAD_HANDLE } CURLUcode;
typedef enum CURLUPart {
    CURLUPART_URL,
    CURLUPART_USER,
    CURLUPART_PASSWORD,
    CURLUPART_HOST,
    CURLUPART_PATH,
    CURLUPART_QUERY,
    CURLUPART_FRAGMENT,
} CURLUPart;
typedef struct CURLMsg {
    enum { CURLMSG_DONE = 1 } msg;
    CURL *easy_handle;
    union {
        CURLcode result;
    } data;
} CURLMsg;

enum { CURL_ERROR_SIZE = 256, CURLM_OK = 0, CURLM_BAD_HANDLE, CURL_REDIR_POST_ALL, CURLAUTH_BEARER };

#define curl_global_init(flags)                 (CURLE_FAILED_INIT)
#define curl_global_cleanup()                   ((void)0)
#define curl_easy_init()                        ((CURL *)NULL)
#define curl_easy_cleanup(easy)                 ((void)(easy))
#define curl_easy_setopt(easy, option, value)   ((void)(easy), (void)(value))
#define curl_easy_getinfo(easy, info, out)      ((void)(easy), (void)(out))
#define curl_easy_strerror(code)                ((void)(code), "")
#define curl_multi_init()                       ((CURLM *)NULL)
#define curl_multi_cleanup(multi)               ((void)(multi))
#define curl_multi_add_handle(multi, easy)      ((void)(multi), (void)(easy), CURLM_BAD_HANDLE)
#define curl_multi_remove_handle(multi, easy)   ((void)(multi), (void)(easy))
#define curl_multi_perform(multi, running)      ((void)(multi), *(running) = 0, CURLM_BAD_HANDLE)
#define curl_multi_poll(multi, fds, n, ms, out) ((void)(multi), CURLM_BAD_HANDLE)
#define curl_multi_info_read(multi, left)       ((void)(multi), *(left) = 0, (CURLMsg *)NULL)
#define curl_slist_append(list, text)           ((void)(list), (struct curl_slist *)NULL)
#define curl_slist_free_all(list)               ((void)(list))
#define curl_url()                              ((CURLU *)NULL)
#define curl_url_cleanup(url)                   ((void)(url))
#define curl_url_get(url, part, out, flags)     ((void)(url), (void)(part), *(out) = NULL, CURLUE_BAD_HANDLE)
#define curl_url_set(url, part, text, flags)    ((void)(url), (void)(text), CURLUE_BAD_HANDLE)
#define curl_url_strerror(code)                 ((void)(code), "")
#define curl_free(text)                         ((void)(text))
#define curl_getdate(text, now)                 ((void)(text), (time_t)-1)

#endif
