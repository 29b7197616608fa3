/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A certificate in three arithmetics: that of the certificate, fp32 in the order of rung, and that of an engine.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine_ask.h"
#include "rung/render.h"

static rung_replayed_answer judge(const double *score, size_t answers, int32_t right)
{
    rung_replayed_answer a = {(int32_t)rung_argmax(score, answers), 0};
    double other = -INFINITY;
    for (size_t i = 0; i < answers; i++) {
        if (isnan(score[i])) return (rung_replayed_answer){RUNG_NO_TARGET, 0};
        if ((int32_t)i != right && score[i] > other) other = score[i];
    }
    a.lead = score[right] == other ? 0 : score[right] - other; /* -inf beside -inf */
    return a;
}

static rung_status ask_here(rung_replayed *x, const rung_model *model, double *scores, size_t answers, rung_error *err)
{
    const rung_cert *c = &x->explained.cert;
    rung_program *program = NULL;
    rung_session *session = NULL;
    rung_status status = rung_program_new(&program, model, &(rung_evaluator){.threads = 1}, err);
    RUNG_NEXT(status, rung_session_new(&session, program, c->tokens, err));
    for (size_t p = 0; p < x->explained.prompts && status == RUNG_OK; p++) {
        const rung_prompt prompt = {.token = c->prompt[p], .tokens = c->tokens};
        rung_error why = {{0}};
        rung_session_reset(session);
        if (rung_session_run(session, scores, &prompt, RUNG_FORM_SCAN, &c->position, 1, &why) == RUNG_OK)
            x->here[p] = judge(scores, answers, c->right[p]);
        else
            x->here[p].answer = RUNG_NO_TARGET;
    }
    rung_session_free(session);
    rung_program_free(program);
    return status;
}

static rung_status ask_there(rung_replayed *x, const rung_model *model, double *scores, size_t answers, rung_error *err)
{
    const rung_cert *c = &x->explained.cert;
    const engine_question question = {.options = &x->options,
                                      .model = model,
                                      .prompt = (const uint32_t *const *)c->prompt,
                                      .prompts = x->explained.prompts,
                                      .tokens = c->tokens,
                                      .answers = answers};
    RUNG_TRY(engine_ask(scores, x->engine, sizeof x->engine, &question, err));
    for (size_t p = 0; p < x->explained.prompts; p++) {
        x->there[p] = judge(scores + p * answers, answers, c->right[p]);
        x->errs += x->there[p].answer != c->right[p];
    }
    return RUNG_OK;
}

static rung_status ask_both(rung_replayed *x, const char *path, rung_error *err)
{
    rung_model *model;
    RUNG_TRY(rung_model_open(&model, path, err));
    size_t answers = rung_model_get_spec(model)->answers;
    double *scores = rung_calloc(2 * answers, sizeof *scores, err);
    rung_status status = scores ? ask_here(x, model, scores, answers, err) : RUNG_SYSTEM;
    RUNG_NEXT(status, ask_there(x, model, scores, answers, err));
    if (status == RUNG_INPUT) status = rung_fail_at(err, status, "%s", path);
    free(scores);
    rung_model_close(model);
    return status;
}

rung_status rung_replay(rung_replayed *x, const char *certificate, const char *model,
                        const rung_replay_options *options, rung_error *err)
{
    *x = (rung_replayed){.options = *options};
    RUNG_TRY(rung_explain(&x->explained, certificate, model, err));
    if (x->explained.fault[0])
        return rung_fail(err, RUNG_INPUT, "%s is untrue, so there is nothing to replay: %s", certificate,
                         x->explained.fault);
    return ask_both(x, model, err);
}

void rung_replayed_clear(rung_replayed *x)
{
    rung_explained_clear(&x->explained);
}

static bool errs_here(const rung_replayed *x)
{
    for (size_t p = 0; p < x->explained.prompts; p++)
        if (x->here[p].answer != x->explained.cert.right[p]) return true;
    return false;
}

const char *rung_replayed_so(const rung_replayed *x)
{
    if (x->errs && errs_here(x))
        return "The engine errs, and so does fp32 in the order of rung: it does not take the certificate's arithmetic "
               "to "
               "fail.";
    if (x->errs)
        return "The engine errs, and fp32 in the order of rung does not: its cache, its order of roundings or the form "
               "of its layers decides.";
    if (errs_here(x))
        return "The engine is right, and fp32 in the order of rung errs: the order of roundings or the form of the "
               "layers decides.";
    return "The engine is right, and so is fp32 in the order of rung: the failure is one of the certificate's "
           "arithmetic.";
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void json_answer(rung_jout *out, const char *key, const rung_replayed_answer *a, bool leads)
{
    rung_jout_flat_object(out, key);
    if (a->answer == RUNG_NO_TARGET)
        rung_jout_null(out, "answer");
    else
        rung_jout_int(out, "answer", a->answer);
    if (leads && a->answer != RUNG_NO_TARGET) rung_jout_real(out, "lead", a->lead);
    rung_jout_end(out);
}

void rung_replay_json(rung_buf *text, const rung_replayed *x)
{
    rung_jout out;
    const rung_explained *e = &x->explained;
    rung_jout_begin(&out, text, "rung.replay/1", true);
    rung_jout_string(&out, "engine", x->engine);
    rung_jout_string(&out, "kind", rung_cert_kind_names[e->cert.kind - 1]);
    rung_jout_string(&out, "numbers", e->cert.numbers);
    rung_jout_string(&out, "task", e->cert.task);
    rung_jout_array(&out, "prompts");
    for (size_t p = 0; p < e->prompts; p++) {
        const rung_replayed_answer certified = {e->given[p], 0};
        rung_jout_object(&out, NULL);
        rung_jout_flat_array(&out, "tokens");
        for (size_t t = 0; t < e->cert.tokens; t++) rung_jout_int(&out, NULL, e->cert.prompt[p][t]);
        rung_jout_end(&out);
        rung_jout_int(&out, "right", e->cert.right[p]);
        json_answer(&out, "certificate", &certified, false);
        json_answer(&out, "fp32", &x->here[p], true);
        json_answer(&out, "in_engine", &x->there[p], true);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_int(&out, "errs", (int64_t)x->errs);
    rung_jout_string(&out, "so", rung_replayed_so(x));
    rung_jout_finish(&out);
}
