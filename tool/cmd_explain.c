/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung explain: a certificate of failure, shown to a person.
 */
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "json_out.h"
#include "output.h"
#include "rung/verify.h"

typedef struct explain_values {
    const char *model, *svg;
    int64_t show;
} explain_values;

/* ---- what the oracle says ----------------------------------------------------------------------------------------------- */

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
    rung_status status = rung_cert_read(&x->cert, path, err);
    if (status != RUNG_OK) return status;
    x->prompts = x->cert.kind == RUNG_CERT_WRONG_ANSWER ? 1 : 2;
    for (size_t t = 0; t < x->cert.tokens; t++) x->differ += rung_explained_differs(x, t);
    status = rung_fmt_parse(&x->fmt, x->cert.numbers, err);
    if (status == RUNG_OK) status = rung_task_conf_parse(&x->task, x->cert.task, err);
    if (status == RUNG_USAGE) status = RUNG_INPUT; /* the words of a file, not of the caller */
    if (status == RUNG_OK && !x->task.vocab)
        status = rung_fail(err, RUNG_INPUT, "task %s has no tokens, so no certificate is about it", x->task.task->name);
    if (status != RUNG_OK) return rung_fail_at(err, status, "%s", path);
    for (size_t p = 0; p < x->prompts && status == RUNG_OK; p++) status = ask_oracle(x, p, err);
    check_claim(x);
    return status;
}

/* ---- what the model says ------------------------------------------------------------------------------------------------ */

typedef struct witness {
    rung_explained *x;
    rung_program *program;
    rung_session *session;
    size_t d_model, answers;
    double *numbers; /* the read-out, then the view */
} witness;

static void compare_hex(witness *w, const uint8_t *packed, size_t bits, const char *claimed, const char *what,
                        size_t prompt)
{
    char *hex = rung_cert_hex(packed, bits, NULL);
    if (hex && strcmp(hex, claimed) != 0)
        note_fault(w->x, "run here, the %s of prompt %zu is %.40s%s, not what is claimed", what, prompt + 1, hex,
                   strlen(hex) > 40 ? "..." : "");
    free(hex);
}

static rung_status run_tokens(witness *w, size_t prompt, size_t tokens, bool ask, rung_error *err)
{
    const rung_prompt p = {.token = w->x->cert.prompt[prompt], .tokens = tokens};
    size_t last = tokens - 1;
    rung_session_reset(w->session);
    return rung_session_run(w->session, w->numbers, &p, RUNG_FORM_SCAN, &last, ask ? 1 : 0, err);
}

static rung_status check_state(witness *w, size_t prompt, rung_error *err)
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

static rung_status check_view(witness *w, size_t prompt, rung_error *err)
{
    double *view = w->numbers + w->answers;
    size_t bits = w->d_model * (size_t)w->x->fmt.bits;
    uint8_t *packed = rung_calloc(bits / 8 + 1, 1, err);
    if (!packed) return RUNG_SYSTEM;
    rung_session_view(w->session, view);
    rung_num_pack(packed, &w->x->fmt, view, w->d_model);
    compare_hex(w, packed, bits, w->x->cert.view, "last token", prompt);
    free(packed);
    return RUNG_OK;
}

static rung_status hear(witness *w, size_t prompt, rung_error *err)
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
    const rung_evaluator how = {.numbers = &x->fmt};
    witness w = {.x = x, .d_model = spec->d_model, .answers = spec->answers};
    w.numbers = rung_calloc(spec->d_model + spec->answers, sizeof *w.numbers, err);
    rung_status status = w.numbers ? rung_program_new(&w.program, model, &how, err) : RUNG_SYSTEM;
    if (status == RUNG_OK) status = rung_session_new(&w.session, w.program, x->cert.tokens, err);
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
    if (status == RUNG_OK) status = check_model(x, model, path, err);
    if (status == RUNG_OK) status = ask_program(x, model, err);
    x->has_model = status == RUNG_OK;
    rung_model_close(model);
    return status;
}

/* ---- output ------------------------------------------------------------------------------------------------------------- */

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

static void print_json(rung_buf *text, const rung_explained *x)
{
    rung_jout out;
    rung_buf said;
    rung_buf_init(&said);
    rung_cert_statement(&said, &x->cert);
    rung_jout_begin(&out, text, "rung.explain/1", true);
    rung_jout_string(&out, "kind", rung_cert_kind_words[x->cert.kind - 1]);
    rung_jout_string(&out, "statement", said.text);
    rung_jout_string(&out, "sha256", x->cert.model);
    rung_jout_string(&out, "arch", x->cert.arch);
    rung_jout_string(&out, "numbers", x->fmt.name);
    rung_jout_int(&out, "number_bits", x->fmt.bits);
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

static rung_status write_picture(const rung_explained *x, const char *path, rung_error *err)
{
    rung_buf svg;
    rung_buf_init(&svg);
    rung_explain_svg(&svg, x);
    rung_status status = rung_buf_ok(&svg, err);
    if (status == RUNG_OK) status = rung_file_write(path, svg.text, svg.len, err);
    rung_buf_clear(&svg);
    return status;
}

static rung_status explain(const rung_explained *x, const rung_call *call, rung_error *err)
{
    const explain_values *v = call->values;
    rung_buf text;
    rung_buf_init(&text);
    if (call->json)
        print_json(&text, x);
    else
        rung_explain_print(&text, x, (size_t)v->show);
    rung_status status = v->svg ? write_picture(x, v->svg, err) : RUNG_OK;
    if (status == RUNG_OK) status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    if (status == RUNG_OK && v->svg) rung_note(call, "wrote %s", v->svg);
    return status;
}

static int run_explain(const rung_call *call, rung_error *err)
{
    const explain_values *v = call->values;
    rung_explained *x = rung_calloc(1, sizeof *x, err);
    if (!x) return RUNG_SYSTEM;
    rung_status status = rung_out_spares(v->svg, call->argument[0], err);
    if (status == RUNG_OK) status = rung_out_spares(v->svg, v->model, err);
    if (status == RUNG_OK) status = open_certificate(x, call->argument[0], err);
    if (status == RUNG_OK && v->model) status = ask_model(x, v->model, err);
    if (status == RUNG_OK) status = explain(x, call, err);
    int code = status == RUNG_OK && x->fault[0] ? RUNG_NEGATIVE : (int)status;
    rung_cert_clear(&x->cert);
    free(x);
    return code;
}

const rung_command rung_command_explain = {
    .name = "explain",
    .summary = "show a certificate of failure: the prompts, what is the same, why nothing helps",
    .details =
        "Reads a certificate, puts its prompts side by side in the words of the task, marks where they differ, asks "
        "the "
        "oracle, and says what is equal and what follows from it. With --model it also runs the model on the prompts. "
        "Whether a certificate is true is for rung-check to say, which shares no code with this.",
    .examples =
        (const rung_example[]){
            {"rung explain m.cert", "the claim, the prompts side by side, the reason"},
            {"rung explain m.cert --model m.safetensors", "also what the model answers to each prompt"},
            {"rung explain m.cert --svg m.svg", "a picture of the two prompts and of what collides"},
            {0},
        },
    .arguments = (const rung_argument[]){{.metavar = "CERT",
                                          .help = "a certificate, as docs/certificate.md describes it",
                                          .least = 1,
                                          .most = 1,
                                          .complete = RUNG_COMPLETE_FILE},
                                         {0}},
    .options =
        (const rung_option[]){
            {.name = "model",
             .letter = 'm',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(explain_values, model),
             .metavar = "FILE",
             .help = "the model, to run it on the prompts",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "svg",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(explain_values, svg),
             .metavar = "FILE",
             .help = "write a picture (SVG)",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "show",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(explain_values, show),
             .metavar = "K",
             .help = "differing tokens to print, each on its line",
             .fallback = "32",
             .low = 1,
             .high = INT32_MAX},
            {0},
        },
    .values_size = sizeof(explain_values),
    .negative = "something in it is seen to be untrue",
    .run = run_explain,
};
