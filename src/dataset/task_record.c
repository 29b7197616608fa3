/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One instance as a record of each text format. The formats for language models ask for the last target only:
 * one prompt, one answer of one word.
 */
#include <string.h>

#include "maker.h"

const char *const rung_task_formats[] = {"jsonl", "text", "lm-eval", "ruler", "inspect", "npz", NULL};

/* ---- pieces ---------------------------------------------------------------------------------------------------- */

static void put_prompt(rung_buf *out, const rung_dataset *job, const rung_instance *instance)
{
    if (job->facts)
        job->conf.task->story_write(out, instance, &job->conf);
    else
        rung_task_symbols_write(out, instance, &job->conf);
}

static void put_answer(rung_buf *out, const rung_dataset *job, int32_t answer)
{
    if (job->facts && job->conf.task->story_answer)
        job->conf.task->story_answer(out, &job->conf, answer);
    else
        rung_task_answer_write(out, &job->conf, answer);
}

static size_t count_targets(const rung_instance *instance)
{
    size_t count = 0;
    for (size_t t = 0; t < instance->tokens; t++) count += instance->target[t] != RUNG_NO_TARGET;
    return count;
}

/* Everything up to the last question. Symbols that follow it would be noise; prose has its question at the
 * end. */
static rung_instance up_to_last_target(const rung_dataset *job, const rung_instance *instance)
{
    rung_instance view = *instance;
    const size_t last = rung_instance_last_target(instance);
    if (!job->facts && last != SIZE_MAX) view.tokens = last + 1;
    return view;
}

/* ---- jsonl ----------------------------------------------------------------------------------------------------- */

static void json_floats(rung_jout *json, const char *key, const float *x, size_t count)
{
    rung_jout_array(json, key);
    for (size_t i = 0; i < count; i++) rung_jout_float(json, NULL, x[i]);
    rung_jout_end(json);
}

static void json_input(rung_jout *json, const rung_dataset *job, const rung_instance *instance)
{
    const size_t d_in = job->conf.d_in;
    rung_jout_array(json, job->conf.vocab ? "tokens" : "features");
    for (size_t t = 0; t < instance->tokens; t++) {
        if (job->conf.vocab)
            rung_jout_int(json, NULL, (int64_t)instance->token[t]);
        else
            json_floats(json, NULL, instance->feature + t * d_in, d_in);
    }
    rung_jout_end(json);
}

static void json_text(rung_jout *json, const char *key, const rung_dataset *job, const rung_instance *instance)
{
    rung_buf text;
    rung_buf_init(&text);
    put_prompt(&text, job, instance);
    if (text.failed) json->buf->failed = true;
    rung_jout_string(json, key, text.text ? text.text : "");
    rung_buf_clear(&text);
}

static void json_answer_text(rung_jout *json, const char *key, const rung_dataset *job, int32_t answer)
{
    rung_buf text;
    rung_buf_init(&text);
    put_answer(&text, job, answer);
    if (text.failed) json->buf->failed = true;
    rung_jout_string(json, key, text.text ? text.text : "");
    rung_buf_clear(&text);
}

static void json_target_at(rung_jout *json, const char *key, const rung_dataset *job, const rung_instance *instance,
                           size_t t)
{
    const size_t d_out = job->conf.d_out;
    if (instance->target[t] == RUNG_NO_TARGET)
        rung_jout_null(json, key);
    else if (d_out)
        json_floats(json, key, instance->target_value + t * d_out, d_out);
    else
        rung_jout_int(json, key, instance->target[t]);
}

/* One question: "answer" and where it is asked. Several: "targets", one per token, null where nothing is
 * asked. */
static void json_targets(rung_jout *json, const rung_dataset *job, const rung_instance *instance)
{
    const size_t last = rung_instance_last_target(instance);
    if (count_targets(instance) == 1) {
        json_target_at(json, "answer", job, instance, last);
        rung_jout_int(json, "position", (int64_t)last);
        if (job->conf.answers) json_answer_text(json, "answer_text", job, instance->target[last]);
        return;
    }
    rung_jout_array(json, "targets");
    for (size_t t = 0; t < instance->tokens; t++) json_target_at(json, NULL, job, instance, t);
    rung_jout_end(json);
}

static void json_players(rung_jout *json, const rung_instance *instance)
{
    rung_jout_array(json, "players");
    for (size_t i = 0; i < instance->player_count; i++) {
        rung_jout_object(json, NULL);
        rung_jout_string(json, "name", instance->player[i].name);
        rung_jout_int(json, "start", (int64_t)instance->player[i].start);
        rung_jout_int(json, "len", (int64_t)instance->player[i].len);
        rung_jout_end(json);
    }
    rung_jout_end(json);
}

static void record_jsonl(rung_jout *json, const rung_dataset *job, const rung_instance *instance, uint64_t index)
{
    rung_jout_int(json, "index", (int64_t)index);
    rung_jout_string(json, "task", job->canonical);
    rung_jout_int(json, "seed", job->seed);
    json_input(json, job, instance);
    json_targets(json, job, instance);
    if (job->conf.vocab) json_text(json, "text", job, instance);
    json_players(json, instance);
}

/* ---- language models ------------------------------------------------------------------------------------------- */

/* The whole prompt: what is asked, the instance, and the form of the answer. A model that has to answer in
 * one forward pass gets the prefix too, so that its first token is the answer. */
static void put_question(rung_buf *out, const rung_dataset *job, const rung_instance *instance, bool prefix)
{
    const rung_instance view = up_to_last_target(job, instance);
    if (!job->facts) rung_buf_printf(out, "Task: %s.\n\n", job->conf.task->summary);
    put_prompt(out, job, &view);
    rung_buf_puts(out, "\n\n" RUNG_TEXT_REPLY_FORM);
    if (prefix) rung_buf_puts(out, "\n" RUNG_TEXT_REPLY_CUE);
}

static size_t count_words(const char *text)
{
    size_t count = 0;
    for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
        text += strcspn(text, " \n");
        count++;
    }
    return count;
}

static int32_t last_answer(const rung_instance *instance)
{
    const size_t last = rung_instance_last_target(instance);
    return last == SIZE_MAX ? RUNG_NO_TARGET : instance->target[last];
}

static void record_ruler(rung_jout *json, const rung_dataset *job, const rung_instance *instance, const char *question)
{
    /* RULER counts tokens of the model's tokenizer, which is not known here: words are counted instead. */
    const int64_t words = (int64_t)count_words(question);
    rung_jout_string(json, "input", question);
    rung_jout_array(json, "outputs");
    json_answer_text(json, NULL, job, last_answer(instance));
    rung_jout_end(json);
    rung_jout_int(json, "length", words);
    rung_jout_int(json, "length_w_model_temp", words);
    rung_jout_string(json, "answer_prefix", "\n" RUNG_TEXT_REPLY_CUE);
}

static void record_lm_eval(rung_jout *json, const rung_dataset *job, const rung_instance *instance,
                           const char *question)
{
    rung_jout_string(json, "input", question);
    json_answer_text(json, "target", job, last_answer(instance));
}

static void record_inspect(rung_jout *json, const rung_dataset *job, const rung_instance *instance,
                           const char *question, uint64_t index)
{
    rung_jout_string(json, "input", question);
    json_answer_text(json, "target", job, last_answer(instance));
    rung_jout_int(json, "id", (int64_t)index);
    rung_jout_object(json, "metadata");
    rung_jout_string(json, "task", job->canonical);
    rung_jout_int(json, "seed", job->seed);
    rung_jout_real(json, "chance", job->conf.chance);
    rung_jout_real(json, "majority", job->conf.majority);
    rung_jout_end(json);
}

static void record_question(rung_jout *json, const rung_dataset *job, const rung_instance *instance, uint64_t index)
{
    rung_buf question;
    rung_buf_init(&question);
    put_question(&question, job, instance, job->format == RUNG_TASK_LM_EVAL);
    if (question.failed) json->buf->failed = true;
    const char *text = question.text ? question.text : "";
    if (job->format != RUNG_TASK_INSPECT) rung_jout_int(json, "index", (int64_t)index);
    if (job->format == RUNG_TASK_RULER)
        record_ruler(json, job, instance, text);
    else if (job->format == RUNG_TASK_LM_EVAL)
        record_lm_eval(json, job, instance, text);
    else
        record_inspect(json, job, instance, text, index);
    rung_buf_clear(&question);
}

/* ---- people ---------------------------------------------------------------------------------------------------- */

static void record_text(rung_buf *out, const rung_dataset *job, const rung_instance *instance, uint64_t index)
{
    const bool one = count_targets(instance) == 1;
    rung_buf_printf(out, "%llu  ", (unsigned long long)index);
    put_prompt(out, job, instance);
    rung_buf_puts(out, "\n   ->");
    for (size_t t = 0; t < instance->tokens; t++) {
        if (instance->target[t] == RUNG_NO_TARGET) continue;
        rung_buf_putc(out, ' ');
        if (!one) rung_buf_printf(out, "%zu:", t);
        put_answer(out, job, instance->target[t]);
    }
}

void dataset_record(rung_buf *out, const rung_dataset *job, const rung_instance *instance, uint64_t index)
{
    if (job->format == RUNG_TASK_TEXT) {
        record_text(out, job, instance, index);
        return;
    }
    rung_jout json;
    rung_jout_begin(&json, out, NULL, false);
    if (job->format == RUNG_TASK_JSONL)
        record_jsonl(&json, job, instance, index);
    else
        record_question(&json, job, instance, index);
    rung_jout_end(&json);
}
