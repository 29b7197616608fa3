/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A certificate with everything that is known of it, as JSON.
 */
#include "rung/audit.h"
#include "rung/render.h"

static void json_answer(rung_jout *out, const char *key, const rung_explained *x, int32_t answer)
{
    rung_buf word;
    rung_buf_init(&word);
    if (answer != RUNG_NO_TARGET) rung_explained_answer(&word, x, answer);
    rung_jout_string(out, key, answer == RUNG_NO_TARGET ? NULL : word.text);
    rung_buf_clear(&word);
}

static void json_prompt(rung_jout *out, const rung_explained *x, size_t p)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_jout_object(out, NULL);
    rung_jout_flat_array(out, "tokens");
    for (size_t t = 0; t < x->cert.tokens; t++) rung_jout_int(out, NULL, x->cert.prompt[p][t]);
    rung_jout_end(out);
    for (size_t t = 0; t < x->cert.tokens; t++) {
        if (t) rung_buf_putc(&text, ' ');
        rung_explained_token(&text, x, p, t);
    }
    rung_jout_string(out, "text", text.text);
    rung_jout_int(out, "right", x->cert.right[p]);
    json_answer(out, "right_word", x, x->cert.right[p]);
    if (x->has_model && x->given[p] != RUNG_NO_TARGET) rung_jout_int(out, "answered_here", x->given[p]);
    rung_jout_end(out);
    out->buf->failed = out->buf->failed || text.failed;
    rung_buf_clear(&text);
}

static void json_places(rung_jout *out, const rung_explained *x)
{
    const rung_cert *c = &x->cert;
    rung_jout_int(out, "position", (int64_t)c->position);
    rung_jout_flat_array(out, "differ");
    for (size_t t = 0; t < c->tokens; t++)
        if (rung_explained_differs(x, t)) rung_jout_int(out, NULL, (int64_t)t);
    rung_jout_end(out);
    if (c->kind == RUNG_CERT_STATE_COLLISION) rung_jout_int(out, "prefix", (int64_t)c->prefix);
    if (c->kind == RUNG_CERT_WRONG_ANSWER) rung_jout_int(out, "given", c->given);
    if (c->kind == RUNG_CERT_BLOCK_COLLISION) {
        rung_jout_int(out, "layer", (int64_t)c->layer);
        rung_jout_int(out, "block", (int64_t)c->block);
        rung_jout_string(out, "summary", c->summary);
    }
    if (c->state) rung_jout_string(out, "state", c->state);
    if (c->view) rung_jout_string(out, "view", c->view);
}

void rung_explain_json(rung_buf *text, const rung_explained *x)
{
    rung_jout out;
    rung_buf said;
    rung_buf_init(&said);
    rung_cert_statement(&said, &x->cert);
    rung_jout_begin(&out, text, "rung.explain/1", true);
    rung_jout_string(&out, "kind", rung_cert_kind_names[x->cert.kind - 1]);
    rung_jout_string(&out, "statement", said.text);
    rung_jout_string(&out, "sha256", x->cert.model);
    rung_jout_string(&out, "arch", x->cert.arch);
    rung_jout_string(&out, "numbers", x->numbers.name);
    rung_jout_int(&out, "number_bits", x->numbers.acc.bits);
    rung_jout_string(&out, "task", x->cert.task);
    rung_jout_array(&out, "prompts");
    for (size_t p = 0; p < x->prompts; p++) json_prompt(&out, x, p);
    rung_jout_end(&out);
    json_places(&out, x);
    rung_buf_reset(&said);
    rung_explained_equal(&said, x);
    rung_jout_string(&out, "equal", said.text);
    rung_jout_string(&out, "so", rung_explained_so(x));
    rung_jout_bool(&out, "model_run", x->has_model);
    rung_jout_string(&out, "fault", x->fault[0] ? x->fault : NULL);
    rung_jout_finish(&out);
    text->failed = text->failed || said.failed;
    rung_buf_clear(&said);
}
