/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A certificate, the oracle and the model: what each says of its prompts.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rung/audit.h"

/* ---- tokens and answers ---------------------------------------------------------------------------------------- */

size_t rung_explained_merge(const rung_explained *x)
{
    return x->cert.kind == RUNG_CERT_STATE_COLLISION && x->cert.prefix < x->cert.tokens ? x->cert.prefix
                                                                                        : x->cert.tokens;
}

bool rung_explained_differs(const rung_explained *x, size_t token)
{
    return x->prompts == 2 && x->cert.prompt[0][token] != x->cert.prompt[1][token];
}

void rung_explained_token(rung_buf *out, const rung_explained *x, size_t prompt, size_t token)
{
    uint32_t id = x->cert.prompt[prompt][token];
    if (x->task.task->token_word && id < x->task.vocab)
        x->task.task->token_word(out, &x->task, id);
    else
        rung_buf_printf(out, "#%u", id);
}

void rung_explained_answer(rung_buf *out, const rung_explained *x, int32_t answer)
{
    if (answer >= 0 && (size_t)answer < x->task.answers)
        rung_task_answer_write(out, &x->task, answer);
    else
        rung_buf_printf(out, "#%d", (int)answer);
}

/* ---- what is claimed ------------------------------------------------------------------------------------------- */

const char *rung_explained_title(const rung_explained *x)
{
    switch (x->cert.kind) {
    case RUNG_CERT_WRONG_ANSWER:
        return "the model answers one prompt wrongly";
    case RUNG_CERT_STATE_COLLISION:
        return "two prefixes leave the model in the same state";
    case RUNG_CERT_VIEW_COLLISION:
        return "the last token ends up with the same numbers";
    case RUNG_CERT_BLOCK_COLLISION:
        return "two blocks have the same summary, and nobody opens them";
    }
    return "";
}

const char *rung_explained_hex(const rung_explained *x)
{
    return x->cert.kind == RUNG_CERT_STATE_COLLISION ? x->cert.state : x->cert.view;
}

/* The last digit is filled up with at most 3 bits, so the count is certain if a number has at least 4. */
size_t rung_explained_numbers(const rung_explained *x, const char *hex)
{
    const int bits = x->numbers.acc.bits;
    return !x->numbers.mixed && bits >= 4 ? 4 * strlen(hex) / (size_t)bits : 0;
}

static void put_amount(rung_buf *out, const rung_explained *x, const char *hex)
{
    size_t numbers = rung_explained_numbers(x, hex);
    if (numbers)
        rung_buf_printf(out, "%zu number%s of %s, %zu bits", numbers, numbers == 1 ? "" : "s", x->numbers.name,
                        numbers * (size_t)x->numbers.acc.bits);
    else
        rung_buf_printf(out, "%zu hexadecimal digits", strlen(hex));
}

void rung_explained_equal(rung_buf *out, const rung_explained *x)
{
    const rung_cert *c = &x->cert;
    switch (c->kind) {
    case RUNG_CERT_WRONG_ANSWER:
        rung_buf_printf(out, "At position %zu the model says ", c->position);
        rung_explained_answer(out, x, c->given);
        rung_buf_puts(out, ", and the right answer is ");
        rung_explained_answer(out, x, c->right[0]);
        rung_buf_putc(out, '.');
        return;
    case RUNG_CERT_STATE_COLLISION:
        rung_buf_printf(
            out, "After %zu token%s everything that any layer carries on is the same in both prompts, bit for bit: ",
            c->prefix, c->prefix == 1 ? "" : "s");
        put_amount(out, x, c->state);
        rung_buf_puts(out, ". The tokens that follow are the same, too, so from here on the two runs are one run.");
        return;
    case RUNG_CERT_VIEW_COLLISION:
        rung_buf_puts(out, "After the last layer the last token holds the same numbers in both prompts, bit for bit: ");
        break;
    case RUNG_CERT_BLOCK_COLLISION:
        rung_buf_printf(
            out,
            "Layer %zu sees a block that it does not open only through its summary, and the summary of block "
            "%zu is the same in both prompts (",
            c->layer, c->block);
        put_amount(out, x, c->summary);
        rung_buf_puts(out, "). No head of the last token opens it, so after the last layer that token holds the same "
                           "numbers: ");
        break;
    }
    put_amount(out, x, c->view);
    rung_buf_putc(out, '.');
}

const char *rung_explained_so(const rung_explained *x)
{
    switch (x->cert.kind) {
    case RUNG_CERT_WRONG_ANSWER:
        return "This read-out is wrong here; another one might be right. What the model carries is not at fault, as "
               "far as "
               "this certificate goes.";
    case RUNG_CERT_STATE_COLLISION:
        return "No read-out can tell the prompts apart, and no chain of thought can: its words would be the same "
               "words. "
               "Whatever is answered, it is wrong for one of the two.";
    default:
        return "No read-out of this token can tell the prompts apart: whatever is answered, it is wrong for one of the "
               "two. (More tokens might: what earlier tokens left behind may still differ.)";
    }
}

/* ---- what the oracle says -------------------------------------------------------------------------------------- */

/* The first thing that is seen to be untrue is kept. */
static void note_fault(rung_explained *x, const char *format, ...) RUNG_PRINTF(2, 3);
static void note_fault(rung_explained *x, const char *format, ...)
{
    va_list args;
    if (x->fault[0]) return;
    va_start(args, format);
    vsnprintf(x->fault, sizeof x->fault, format, args);
    va_end(args);
}

static rung_status ask_oracle(rung_explained *x, size_t prompt, rung_error *err)
{
    rung_instance instance;
    rung_error why = {{0}};
    if (x->cert.tokens > x->task.tokens) {
        note_fault(x, "prompt %zu has %zu tokens, and those of the task at most %zu", prompt + 1, x->cert.tokens,
                   x->task.tokens);
        return RUNG_OK;
    }
    rung_status status = rung_instance_init(&instance, &x->task, err);
    if (status != RUNG_OK) {
        rung_instance_clear(&instance);
        return status;
    }
    instance.tokens = x->cert.tokens;
    memcpy(instance.token, x->cert.prompt[prompt], x->cert.tokens * sizeof *instance.token);
    const rung_task *task = x->task.task;
    if (task->solve(&instance, &x->task, &why) != RUNG_OK)
        note_fault(x, "prompt %zu is no prompt of the task: %s", prompt + 1, why.text);
    else if (task->promise && !task->promise(&instance, &x->task))
        note_fault(x, "prompt %zu breaks the promise of the task", prompt + 1);
    else if (x->cert.position >= x->cert.tokens || instance.target[x->cert.position] == RUNG_NO_TARGET)
        note_fault(x, "prompt %zu is not asked at position %zu", prompt + 1, x->cert.position);
    else if (instance.target[x->cert.position] != x->cert.right[prompt])
        note_fault(x, "the right answer to prompt %zu is %d, not %d", prompt + 1,
                   (int)instance.target[x->cert.position], (int)x->cert.right[prompt]);
    rung_instance_clear(&instance);
    return RUNG_OK;
}

/* What can be seen without the model. */
static void check_claim(rung_explained *x)
{
    const rung_cert *c = &x->cert;
    if (c->position + 1 != c->tokens) note_fault(x, "position %zu is not the last token", c->position);
    if (x->prompts == 1) {
        if (c->given == c->right[0]) note_fault(x, "the answer given is the right one");
        return;
    }
    if (c->kind == RUNG_CERT_STATE_COLLISION && c->prefix > c->position)
        note_fault(x, "the prefix of %zu tokens reaches beyond position %zu", c->prefix, c->position);
    if (x->differ == 0) note_fault(x, "the prompts do not differ");
    if (c->right[0] == c->right[1]) note_fault(x, "the right answers are the same");
    for (size_t t = rung_explained_merge(x); t < c->tokens; t++)
        if (rung_explained_differs(x, t)) note_fault(x, "the prompts differ at token %zu, behind the prefix", t);
    if (c->prompt[0][c->tokens - 1] != c->prompt[1][c->tokens - 1]) note_fault(x, "the last tokens differ");
}

static rung_status open_certificate(rung_explained *x, const char *path, rung_error *err)
{
    RUNG_TRY(rung_cert_read(&x->cert, path, err));
    x->prompts = x->cert.kind == RUNG_CERT_WRONG_ANSWER ? 1 : 2;
    for (size_t t = 0; t < x->cert.tokens; t++) x->differ += rung_explained_differs(x, t);
    rung_status status = rung_numbers_parse(&x->numbers, x->cert.numbers, err);
    RUNG_NEXT(status, rung_task_conf_parse(&x->task, x->cert.task, err));
    if (status == RUNG_USAGE) status = RUNG_INPUT; /* the words of a file, not of the caller */
    if (status == RUNG_OK && !x->task.vocab)
        status = rung_fail(err, RUNG_INPUT, "task %s has no tokens, so no certificate is about it", x->task.task->name);
    if (status != RUNG_OK) return rung_fail_at(err, status, "%s", path);
    for (size_t p = 0; p < x->prompts && status == RUNG_OK; p++) status = ask_oracle(x, p, err);
    check_claim(x);
    return status;
}

/* ---- what the model says --------------------------------------------------------------------------------------- */

typedef struct runner {
    rung_explained *x;
    rung_program *program;
    rung_session *session;
    size_t d_model, answers;
    double *numbers; /* the read-out, then the view */
} runner;

static void compare_hex(runner *w, const uint8_t *packed, size_t bits, const char *claimed, const char *what,
                        size_t prompt)
{
    char *hex = rung_cert_hex(packed, bits, NULL);
    if (hex && strcmp(hex, claimed) != 0)
        note_fault(w->x, "run here, the %s of prompt %zu is %.40s%s, not what is claimed", what, prompt + 1, hex,
                   strlen(hex) > 40 ? "..." : "");
    free(hex);
}

static rung_status run_tokens(runner *w, size_t prompt, size_t tokens, bool ask, rung_error *err)
{
    const rung_prompt p = {.token = w->x->cert.prompt[prompt], .tokens = tokens};
    size_t last = tokens - 1;
    rung_session_reset(w->session);
    return rung_session_run(w->session, w->numbers, &p, RUNG_FORM_SCAN, &last, ask ? 1 : 0, err);
}

static rung_status check_state(runner *w, size_t prompt, rung_error *err)
{
    const rung_cert *c = &w->x->cert;
    rung_error why = {{0}};
    if (c->prefix == 0 || c->prefix > c->tokens) return note_fault(w->x, "there is no such prefix"), RUNG_OK;
    if (run_tokens(w, prompt, c->prefix, false, &why) != RUNG_OK)
        return note_fault(w->x, "run here, prompt %zu stops: %s", prompt + 1, why.text), RUNG_OK;
    uint64_t bits = rung_session_state_bits(w->session);
    uint8_t *packed = rung_calloc((size_t)(bits / 8 + 1), 1, err);
    if (!packed) return RUNG_SYSTEM;
    rung_status status = rung_session_pack(w->session, packed, err);
    if (status == RUNG_OK) compare_hex(w, packed, (size_t)bits, c->state, "state", prompt);
    free(packed);
    if (status == RUNG_INPUT) return note_fault(w->x, "run here, prompt %zu: %s", prompt + 1, err->text), RUNG_OK;
    return status;
}

static rung_status check_view(runner *w, size_t prompt, rung_error *err)
{
    double *view = w->numbers + w->answers;
    size_t bits = (size_t)rung_program_view_bits(w->program);
    uint8_t *packed = rung_calloc(bits / 8 + 1, 1, err);
    if (!packed) return RUNG_SYSTEM;
    rung_session_view(w->session, view);
    rung_program_pack_view(w->program, packed, view);
    compare_hex(w, packed, bits, w->x->cert.view, "last token", prompt);
    free(packed);
    return RUNG_OK;
}

static rung_status hear(runner *w, size_t prompt, rung_error *err)
{
    rung_explained *x = w->x;
    rung_error why = {{0}};
    rung_status status = RUNG_OK;
    if (run_tokens(w, prompt, x->cert.tokens, true, &why) == RUNG_OK) {
        x->given[prompt] = (int32_t)rung_argmax(w->numbers, w->answers);
        if (x->cert.view) status = check_view(w, prompt, err);
    } else if (!x->cert.state) {
        note_fault(x, "run here, prompt %zu stops: %s", prompt + 1, why.text);
    }
    if (status == RUNG_OK && x->cert.state) status = check_state(w, prompt, err);
    if (x->prompts == 1 && x->given[0] != x->cert.given)
        note_fault(x, "run here, the model answers %d, not %d", (int)x->given[0], (int)x->cert.given);
    return status;
}

static rung_status check_model(const rung_explained *x, const rung_model *model, const char *path, rung_error *err)
{
    char digest[65];
    const rung_model_spec *spec = rung_model_get_spec(model);
    rung_model_digest(digest, model);
    if (strcmp(digest, x->cert.model) != 0)
        return rung_fail(err, RUNG_INPUT,
                         "%s is another model: its sha256 is %.12s..., the certificate is about %.12s...", path, digest,
                         x->cert.model);
    if (strcmp(spec->arch, x->cert.arch) != 0)
        return rung_fail(err, RUNG_INPUT, "%s has the arch '%.80s', the certificate says '%.80s'", path, spec->arch,
                         x->cert.arch);
    if (!spec->causal || spec->thoughts)
        return rung_fail(err, RUNG_INPUT, "%s is not causal or has thoughts; certificates are about other models",
                         path);
    return rung_judge_fits(model, &x->task, err) == RUNG_OK ? RUNG_OK : RUNG_INPUT;
}

static rung_status ask_program(rung_explained *x, const rung_model *model, rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    const rung_evaluator how = {.numbers = &x->numbers.acc, .mixed = &x->numbers};
    runner w = {.x = x, .d_model = spec->d_model, .answers = spec->answers};
    w.numbers = rung_calloc(spec->d_model + spec->answers, sizeof *w.numbers, err);
    rung_status status = w.numbers ? rung_program_new(&w.program, model, &how, err) : RUNG_SYSTEM;
    RUNG_NEXT(status, rung_session_new(&w.session, w.program, x->cert.tokens, err));
    for (size_t p = 0; p < x->prompts && status == RUNG_OK; p++) status = hear(&w, p, err);
    rung_session_free(w.session);
    rung_program_free(w.program);
    free(w.numbers);
    return status;
}

static rung_status ask_model(rung_explained *x, const char *path, rung_error *err)
{
    rung_model *model = NULL;
    x->given[0] = x->given[1] = RUNG_NO_TARGET;
    rung_status status = rung_model_open(&model, path, err);
    RUNG_NEXT(status, check_model(x, model, path, err));
    RUNG_NEXT(status, ask_program(x, model, err));
    x->has_model = status == RUNG_OK;
    rung_model_close(model);
    return status;
}

rung_status rung_explain(rung_explained *x, const char *certificate, const char *model, rung_error *err)
{
    *x = (rung_explained){.prompts = 0};
    rung_status status = open_certificate(x, certificate, err);
    return status == RUNG_OK && model ? ask_model(x, model, err) : status;
}

void rung_explained_clear(rung_explained *x)
{
    rung_cert_clear(&x->cert);
}
