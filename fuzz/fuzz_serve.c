/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: requests. The first byte chooses the path, the rest is the body; a small constructed model answers.
 * Every reply must be JSON, an error must have the shape of one, and the same request must be answered the same. The
 * seeds (fuzz/corpus/serve) are a request for every route and spelling.
 */
#include "rung/build.h"
#include "rung/io.h"
#include "rung/serve.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

static const rung_service *service(void)
{
    static rung_service *made;
    static rung_build build;
    static const char *const words[] = {"L=2", "N0=2"};
    rung_model *model = NULL;
    rung_program *program = NULL;
    rung_error err;
    if (made) return made;
    require(rung_build_init(&build, "seqcomp", words, RUNG_COUNT(words), &err) == RUNG_OK);
    require(rung_build_model(&model, &build, &err) == RUNG_OK);
    require(rung_program_new(&program, model, &(rung_evaluator){.threads = 1}, &err) == RUNG_OK);
    rung_service_options options = {.name = "m", .max_tokens = 512};
    require(rung_service_new(&made, model, program, &build.task, &options, &err) == RUNG_OK);
    return made;
}

static void check_reply(const rung_service_reply *reply)
{
    rung_json_doc *doc = NULL;
    rung_error err;
    require(reply->body.len > 0);
    require(rung_json_parse(&doc, reply->body.text, reply->body.len, "reply", &err) == RUNG_OK);
    const rung_json *error = rung_json_get(rung_json_root(doc), "error");
    require((reply->status != 200) == (error != NULL));
    if (error) require(rung_json_string(rung_json_get(error, "message")) && rung_json_len(error) == 4);
    require(reply->status != 500);
    rung_json_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"/v1/completions", "/v1/chat/completions", "/tokenize", "/detokenize"};
    if (size < 1) return 0;
    rung_service_request request = {
        .method = "POST",
        .path = paths[data[0] % RUNG_COUNT(paths)],
        .body = (const char *)data + 1,
        .body_len = size - 1,
    };
    rung_service_reply reply, again;
    rung_service_answer(&reply, service(), &request);
    check_reply(&reply);
    rung_service_answer(&again, service(), &request);
    require(again.status == reply.status && again.body.len == reply.body.len);
    require(memcmp(again.body.text, reply.body.text, reply.body.len) == 0);
    rung_service_reply_clear(&reply);
    rung_service_reply_clear(&again);
    return 0;
}
