/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The bodies of requests. They ask for one token, with the log-probabilities of the likeliest ones, at temperature 0:
 * what the model says after one forward pass. Scores from the first generated token work on every server.
 * Log-probabilities of prompts do not: llama.cpp has none, and does not report that.
 */
#include <string.h>

#include "probe_internal.h"
#include "rung/io.h"

const char *const rung_probe_api_names[] = {"auto", "completions", "chat", NULL};
const char *const probe_quiet_names[] = {"no template", "chat_template_kwargs",
                                         "chat_template_kwargs and reasoning_effort"};

const char *probe_path(const probe_dialect *dialect)
{
    return dialect->api == RUNG_PROBE_CHAT ? "/v1/chat/completions" : "/v1/completions";
}

static void put_string(rung_buf *out, const char *key, const char *value)
{
    rung_buf_printf(out, "\"%s\": ", key);
    rung_buf_json_string(out, value);
}

/* Appends the members between the braces of `extra`. */
static void put_extra(rung_buf *out, const char *extra)
{
    const char *open = extra ? strchr(extra, '{') : NULL, *close = extra ? strrchr(extra, '}') : NULL;
    if (!open || !close) return;
    for (open++; *open == ' ' || *open == '\n' || *open == '\t' || *open == '\r';) open++;
    if (open >= close) return;
    rung_buf_puts(out, ", ");
    rung_buf_add(out, open, (size_t)(close - open));
}

static bool extra_has(const char *extra, const char *quoted_key)
{
    return extra && strstr(extra, quoted_key);
}

static void put_chat(rung_buf *out, const probe_dialect *dialect, const char *extra, const char *prompt,
                     bool chain_of_thought)
{
    rung_buf_puts(out, ", \"messages\": [{\"role\": \"user\", ");
    put_string(out, "content", prompt);
    rung_buf_puts(out, "}]");
    if (chain_of_thought) return;
    rung_buf_printf(out, ", \"logprobs\": true, \"top_logprobs\": %zu", dialect->top);
    if (dialect->quiet >= PROBE_QUIET_KWARGS && !extra_has(extra, "\"chat_template_kwargs\""))
        rung_buf_puts(out, ", \"chat_template_kwargs\": {\"enable_thinking\": false, \"thinking\": false}");
    if (dialect->quiet >= PROBE_QUIET_EFFORT && !extra_has(extra, "\"reasoning_effort\""))
        rung_buf_puts(out, ", \"reasoning_effort\": \"none\"");
}

void probe_body(rung_buf *out, const probe_dialect *dialect, const rung_probe_options *conf, const char *prompt,
                size_t chain_of_thought_tokens)
{
    rung_buf_putc(out, '{');
    put_string(out, "model", conf->model);
    if (dialect->api == RUNG_PROBE_CHAT) {
        put_chat(out, dialect, conf->extra, prompt, chain_of_thought_tokens > 0);
    } else {
        rung_buf_puts(out, ", ");
        put_string(out, "prompt", prompt);
        if (!chain_of_thought_tokens) rung_buf_printf(out, ", \"logprobs\": %zu", dialect->top);
    }
    rung_buf_printf(out, ", \"max_tokens\": %zu, \"temperature\": 0, \"seed\": %u",
                    chain_of_thought_tokens ? chain_of_thought_tokens : 1, (unsigned)(conf->seed & 0x7fffffff));
    put_extra(out, conf->extra);
    rung_buf_putc(out, '}');
}

void probe_tokenize_body(rung_buf *out, const char *model, const char *text, bool content)
{
    rung_buf_putc(out, '{');
    put_string(out, "model", model);
    rung_buf_puts(out, ", ");
    put_string(out, content ? "content" : "prompt", text);
    rung_buf_puts(out, ", \"add_special_tokens\": false}");
}

rung_status probe_extra_check(const char *extra, rung_error *err)
{
    static const char *const ours[] = {"model",       "prompt", "messages", "logprobs", "top_logprobs", "max_tokens",
                                       "temperature", "seed",   "stream",   "n",        "echo"};
    rung_json_doc *doc = NULL;
    if (!extra) return RUNG_OK;
    rung_status status = rung_json_parse(&doc, extra, strlen(extra), "--extra", err);
    if (status != RUNG_OK) return RUNG_USAGE;
    const rung_json *root = rung_json_root(doc);
    if (rung_json_kind_of(root) != RUNG_JSON_OBJECT)
        status = rung_fail(err, RUNG_USAGE, "--extra must be a JSON object, for example '{\"cache_prompt\": false}'");
    for (size_t i = 0; status == RUNG_OK && i < RUNG_COUNT(ours); i++)
        if (rung_json_get(root, ours[i]))
            status = rung_fail(err, RUNG_USAGE, "--extra: '%s' is set by the probe itself", ours[i]);
    rung_json_free(doc);
    return status;
}
