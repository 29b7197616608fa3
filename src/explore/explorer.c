/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The explorer: its inputs, its page, and its three routes.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "look.h"

/* ---- life ------------------------------------------------------------------------------------------------------ */

static rung_status open_input(explore_input *input, const char *text, rung_explorer *x, rung_error *err)
{
    struct stat there;
    const rung_arch_defaults sizes = {.heads = x->heads, .dk = x->head_dim, .dv = x->head_dim, .causal = true};
    input->name = rung_arena_strdup(&x->arena, text, err);
    if (!input->name) return RUNG_SYSTEM;
    if (stat(text, &there) == 0) return rung_subject_file(&input->subject, text, err);
    rung_status status = rung_subject_arch(&input->subject, text, &sizes, err);
    return status == RUNG_USAGE ? rung_fail_at(err, status, "no file has this name, so it is read as layers") : status;
}

static rung_status open_inputs(rung_explorer *x, const rung_explorer_options *options, rung_error *err)
{
    x->input = rung_arena_alloc(&x->arena, options->inputs + 1, sizeof *x->input, err);
    if (!x->input) return RUNG_SYSTEM;
    memset(x->input, 0, (options->inputs + 1) * sizeof *x->input);
    for (; x->inputs < options->inputs; x->inputs++)
        RUNG_TRY(open_input(&x->input[x->inputs], options->input[x->inputs], x, err));
    return RUNG_OK;
}

/* A page that shows our text as markup would still run no script: scripts need a number that only we know. */
static rung_status make_nonce(rung_explorer *x, rung_error *err)
{
    uint8_t random[16];
    if (getentropy(random, sizeof random) != 0)
        return rung_fail(err, RUNG_SYSTEM, "the system gives no random numbers");
    for (size_t i = 0; i < sizeof random; i++) snprintf(x->nonce + 2 * i, 3, "%02x", random[i]);
    return RUNG_OK;
}

static rung_status make_page(rung_explorer *x, rung_error *err)
{
    rung_buf_printf(
        &x->security,
        "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        x->nonce, x->nonce);
    rung_buf_printf(&x->page, "<!doctype html>\n<html lang=\"en\">\n<style nonce=\"%s\">\n", x->nonce);
    rung_buf_puts(&x->page, explore_css);
    rung_buf_puts(&x->page, "</style>\n");
    rung_buf_puts(&x->page, explore_html);
    rung_buf_printf(&x->page, "<script nonce=\"%s\">\n", x->nonce);
    rung_buf_puts(&x->page, explore_js);
    rung_buf_puts(&x->page, "</script>\n</html>\n");
    RUNG_TRY(rung_buf_ok(&x->security, err));
    return rung_buf_ok(&x->page, err);
}

rung_status rung_explorer_new(rung_explorer **out, const rung_explorer_options *options, rung_error *err)
{
    *out = NULL;
    rung_explorer *x = rung_calloc(1, sizeof *x, err);
    if (!x) return RUNG_SYSTEM;
    rung_arena_init(&x->arena);
    rung_buf_init(&x->page);
    rung_buf_init(&x->security);
    x->heads = options->heads;
    x->head_dim = options->head_dim;
    rung_status status = open_inputs(x, options, err);
    RUNG_NEXT(status, rung_card_law_new(&x->law, err));
    RUNG_NEXT(status, rung_lookup_proofs_new(&x->proofs, err));
    RUNG_NEXT(status, make_nonce(x, err));
    RUNG_NEXT(status, make_page(x, err));
    if (status == RUNG_OK)
        *out = x;
    else
        rung_explorer_free(x);
    return status;
}

void rung_explorer_free(rung_explorer *x)
{
    if (!x) return;
    /* The input that could not be opened has no subject. */
    for (size_t i = 0; x->input && i < x->inputs; i++) rung_subject_free(x->input[i].subject);
    rung_card_law_free(x->law);
    rung_lookup_proofs_free(x->proofs);
    rung_buf_clear(&x->page);
    rung_buf_clear(&x->security);
    rung_arena_clear(&x->arena);
    free(x);
}

/* ---- routes ---------------------------------------------------------------------------------------------------- */

static void reply_page(rung_service_reply *reply, const rung_explorer *x)
{
    reply->type = "text/html; charset=utf-8";
    reply->security = x->security.text;
    rung_buf_add(&reply->body, x->page.text, x->page.len);
}

static void reply_inputs(rung_service_reply *reply, const rung_explorer *x)
{
    rung_jout out;
    rung_jout_begin(&out, &reply->body, "rung.inputs/1", false);
    rung_jout_array(&out, "inputs");
    for (size_t i = 0; i < x->inputs; i++) rung_jout_string(&out, NULL, x->input[i].name);
    rung_jout_end(&out);
    rung_jout_int(&out, "heads", (int64_t)x->heads);
    rung_jout_int(&out, "head_dim", (int64_t)x->head_dim);
    rung_jout_array(&out, "tasks");
    for (size_t i = 0; i < rung_task_count(); i++) rung_jout_string(&out, NULL, rung_task_name_at(i));
    rung_jout_end(&out);
    rung_jout_finish(&out);
}

static void reply_error(rung_service_reply *reply, rung_status status, const rung_error *err)
{
    rung_jout out;
    reply->status = status == RUNG_SYSTEM ? 500 : 400;
    rung_buf_reset(&reply->body);
    rung_jout_begin(&out, &reply->body, "rung.error/1", false);
    rung_jout_string(&out, "message", err->text);
    rung_jout_finish(&out);
}

static void reply_look(rung_service_reply *reply, const rung_explorer *x, const rung_service_request *request)
{
    rung_json_doc *doc = NULL;
    rung_error err = {0};
    explore_look look;
    rung_status status = rung_json_parse(&doc, request->body, request->body_len, "the request", &err);
    RUNG_NEXT(status, explore_look_read(&look, rung_json_root(doc), x, &err));
    RUNG_NEXT(status, explore_look_show(&reply->body, &look, x, &err));
    if (status != RUNG_OK) reply_error(reply, status, &err);
    rung_json_free(doc);
}

typedef enum route_kind { ROUTE_PAGE, ROUTE_INPUTS, ROUTE_LOOK, ROUTES } route_kind;

static const struct {
    const char *path, *method;
} routes[ROUTES] = {[ROUTE_PAGE] = {"/", "GET"}, [ROUTE_INPUTS] = {"/inputs", "GET"}, [ROUTE_LOOK] = {"/look", "POST"}};

void rung_explorer_answer(rung_service_reply *reply, const void *explorer, const rung_service_request *request)
{
    size_t route = 0;
    *reply = (rung_service_reply){.status = 200};
    rung_buf_init(&reply->body);
    while (route < ROUTES && strcmp(routes[route].path, request->path) != 0) route++;
    if (route == ROUTES) {
        rung_service_refuse(reply, 404, "there is nothing of this name; the page is at /");
        return;
    }
    if (strcmp(routes[route].method, request->method) != 0) {
        rung_service_refuse(reply, 405, "this name takes another method");
        reply->allow = routes[route].method;
        return;
    }
    switch ((route_kind)route) {
    case ROUTE_PAGE:
        reply_page(reply, explorer);
        break;
    case ROUTE_INPUTS:
        reply_inputs(reply, explorer);
        break;
    default:
        reply_look(reply, explorer, request);
        break;
    }
}
