/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Makes a certificate of a finding: runs the model again on the prompts, and claims only what is true.
 */
#include "certify.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the common part --------------------------------------------------------------------------------------------- */

/* The parts of a claim; texts are borrowed. */
typedef struct draft {
    rung_cert cert;
    rung_buf task;
} draft;

static void draft_init(draft *c, const runner *h, rung_cert_kind kind, const uint32_t *a, const uint32_t *b)
{
    const rung_attacked *attacked = h->attacked;
    memset(c, 0, sizeof *c);
    rung_buf_init(&c->task);
    rung_task_canonical(&c->task, attacked->task);
    c->cert.kind = kind;
    c->cert.arch = (char *)rung_model_get_spec(attacked->model)->arch;
    c->cert.numbers = (char *)(attacked->mixed ? attacked->mixed->name : attacked->numbers.name);
    c->cert.tokens = h->tokens;
    c->cert.position = h->tokens - 1;
    c->cert.prompt[0] = (uint32_t *)a;
    c->cert.prompt[1] = (uint32_t *)b;
}

/* Copies the claim into the certificate and frees temporary data. */
static rung_status draft_end(draft *c, rung_cert *cert, bool holds, rung_status status, const runner *h,
                             rung_error *err)
{
    if (status == RUNG_OK && holds) {
        status = rung_buf_ok(&c->task, err);
        c->cert.task = c->task.text;
        rung_model_digest(c->cert.model, h->attacked->model);
        RUNG_NEXT(status, rung_cert_copy(cert, &c->cert, err));
    }
    rung_buf_clear(&c->task);
    free(c->cert.state);
    free(c->cert.summary);
    free(c->cert.view);
    return status;
}

/* Asks the oracle about both. False if the answers are equal, or the tokens are no prompts. */
static bool answers_differ(draft *c, runner *h)
{
    c->cert.right[0] = rung_runner_oracle(h, c->cert.prompt[0]);
    c->cert.right[1] = rung_runner_oracle(h, c->cert.prompt[1]);
    return c->cert.right[0] != RUNG_NO_TARGET && c->cert.right[1] != RUNG_NO_TARGET &&
           c->cert.right[0] != c->cert.right[1];
}

/* A prompt that stops the model makes a claim untrue; that is no failure of this program. */
static rung_status stopped_is_untrue(rung_status status, bool *holds)
{
    if (status != RUNG_OK) *holds = false;
    return status == RUNG_INPUT ? RUNG_OK : status;
}

/* ---- wrong answer ------------------------------------------------------------------------------------------------ */

rung_status rung_certify_wrong_answer(runner *h, rung_cert *cert, bool *holds, const uint32_t *token, rung_error *err)
{
    draft c;
    draft_init(&c, h, RUNG_CERT_WRONG_ANSWER, token, NULL);
    rung_status status = rung_runner_answer(h, &c.cert.given, &c.cert.right[0], token, err);
    *holds = c.cert.given != RUNG_NO_TARGET && c.cert.given != c.cert.right[0];
    status = stopped_is_untrue(status, holds);
    return draft_end(&c, cert, *holds, status, h, err);
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

rung_status rung_certify_state_collision(runner *h, rung_cert *cert, bool *holds, const uint32_t *a, const uint32_t *b,
                                         size_t prefix, rung_error *err)
{
    draft c;
    char *other = NULL;
    draft_init(&c, h, RUNG_CERT_STATE_COLLISION, a, b);
    c.cert.prefix = prefix;
    *holds = prefix < h->tokens && memcmp(a + prefix, b + prefix, (h->tokens - prefix) * sizeof *a) == 0 &&
             answers_differ(&c, h);
    rung_status status = RUNG_OK;
    if (*holds) {
        status = rung_runner_prefix(h, a, prefix, err);
        if (status == RUNG_OK && !(c.cert.state = rung_cert_hex(h->state, h->state_bits, err))) status = RUNG_SYSTEM;
        RUNG_NEXT(status, rung_runner_prefix(h, b, prefix, err));
        if (status == RUNG_OK && !(other = rung_cert_hex(h->state, h->state_bits, err))) status = RUNG_SYSTEM;
        *holds = status == RUNG_OK && strcmp(c.cert.state, other) == 0;
        status = stopped_is_untrue(status, holds);
        free(other);
    }
    return draft_end(&c, cert, *holds, status, h, err);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

static rung_status view_hex(char **hex, runner *h, const uint32_t *token, rung_error *err)
{
    size_t bits = (size_t)rung_program_view_bits(h->attacked->program);
    RUNG_TRY(rung_runner_view(h, token, err));
    uint8_t *packed = rung_calloc(bits / 8 + 1, 1, err);
    if (!packed) return RUNG_SYSTEM;
    rung_program_pack_view(h->attacked->program, packed, h->view);
    *hex = rung_cert_hex(packed, bits, err);
    free(packed);
    return *hex ? RUNG_OK : RUNG_SYSTEM;
}

/* True if the last tokens and the views agree, and the answers do not. */
static rung_status same_view(draft *c, runner *h, bool *holds, rung_error *err)
{
    const uint32_t *a = c->cert.prompt[0], *b = c->cert.prompt[1];
    char *other = NULL;
    *holds = a[h->tokens - 1] == b[h->tokens - 1] && answers_differ(c, h);
    if (!*holds) return RUNG_OK;
    rung_status status = view_hex(&c->cert.view, h, a, err);
    RUNG_NEXT(status, view_hex(&other, h, b, err));
    *holds = status == RUNG_OK && strcmp(c->cert.view, other) == 0;
    free(other);
    return stopped_is_untrue(status, holds);
}

rung_status rung_certify_view_collision(runner *h, rung_cert *cert, bool *holds, const uint32_t *a, const uint32_t *b,
                                        rung_error *err)
{
    draft c;
    draft_init(&c, h, RUNG_CERT_VIEW_COLLISION, a, b);
    rung_status status = same_view(&c, h, holds, err);
    return draft_end(&c, cert, *holds, status, h, err);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static bool differ_inside_only(const uint32_t *a, const uint32_t *b, size_t tokens, size_t first, size_t end)
{
    for (size_t t = 0; t < tokens; t++)
        if (a[t] != b[t] && (t < first || t >= end)) return false;
    return end <= tokens;
}

rung_status rung_certify_block_collision(runner *h, rung_cert *cert, bool *holds, const uint32_t *a, const uint32_t *b,
                                         size_t layer, size_t block, rung_error *err)
{
    draft c;
    char *other = NULL;
    size_t size = 0;
    draft_init(&c, h, RUNG_CERT_BLOCK_COLLISION, a, b);
    c.cert.layer = layer, c.cert.block = block;
    rung_status status = RUNG_OK;
    *holds = rung_block_size(&size, h->attacked, layer) &&
             differ_inside_only(a, b, h->tokens, block * size, (block + 1) * size);
    if (*holds) status = same_view(&c, h, holds, err);
    if (*holds) status = rung_block_summary(&c.cert.summary, h->attacked, a, layer, block, err);
    if (*holds && status == RUNG_OK) status = rung_block_summary(&other, h->attacked, b, layer, block, err);
    *holds = *holds && c.cert.summary && other && strcmp(c.cert.summary, other) == 0;
    status = stopped_is_untrue(status, holds);
    free(other);
    return draft_end(&c, cert, *holds, status, h, err);
}

rung_status rung_certify_again(runner *h, rung_cert *cert, bool *holds, const rung_cert *like, const uint32_t *a,
                               const uint32_t *b, rung_error *err)
{
    switch (like->kind) {
    case RUNG_CERT_WRONG_ANSWER:
        return rung_certify_wrong_answer(h, cert, holds, a, err);
    case RUNG_CERT_STATE_COLLISION:
        return rung_certify_state_collision(h, cert, holds, a, b, like->prefix, err);
    case RUNG_CERT_VIEW_COLLISION:
        return rung_certify_view_collision(h, cert, holds, a, b, err);
    case RUNG_CERT_BLOCK_COLLISION:
        return rung_certify_block_collision(h, cert, holds, a, b, like->layer, like->block, err);
    }
    *holds = false;
    return RUNG_OK;
}

void rung_break_take(rung_break *result, rung_cert *cert)
{
    assert(!result->found && cert->kind >= RUNG_CERT_WRONG_ANSWER && cert->kind <= RUNG_CERT_BLOCK_COLLISION);
    rung_cert_clear(&result->cert);
    result->cert = *cert;
    result->found = true;
    memset(cert, 0, sizeof *cert);
}
