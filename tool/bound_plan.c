/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Which construction to propose; see bound_plan.h.
 *
 * Every construction that solves the task, with every choice of its own words, is built at a small size and ordered by
 * what it costs. From the cheapest on: a format of at most p bits in which it is right at the wanted size. A size that
 * takes too long to run is judged by smaller ones: the smallest mantissa that is right is found at two sizes, the line
 * through them (in log2 of the tokens) must stay within the format, and the largest size that is affordable is run.
 */
#include "bound_plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "rung/verify.h"

enum { WORDS_MAX = 64, SMALL_TOKENS = 64, MEDIUM_TOKENS = 256, FEW_PROMPTS = 4, MANTISSA_MAX = 25 };

/* Products of a key or value with a query that are run at most, about five seconds of one core. */
#define WORK_MAX 2e10
/* Larger models are not built only to show their layers. */
#define PARAMETERS_MAX 3e8

/* ---- words ---------------------------------------------------------------------------------------------------------------- */

/* The words of one build: those of the user, the construction's own, and the size. */
typedef struct word_list {
    const char *at[WORDS_MAX];
    size_t count;
    char own[96], size[32], task[40];
} word_list;

/* The parameter that makes prompts longer, or NULL: the task has one size. */
static const char *size_name(const rung_task *task)
{
    static const char *const names[] = {"N0", "N", "T", "n"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        size_t at = rung_param_find(task->params, names[i]);
        if (at != SIZE_MAX && task->params[at].kind == RUNG_PARAM_INT) return names[i];
    }
    return NULL;
}

static bool names_size(const char *word, const char *name)
{
    size_t len = strlen(name);
    return strncmp(word, name, len) == 0 && word[len] == '=';
}

/* Sets the size word for the largest instance with at most `tokens` tokens; false when even the smallest is longer, or the
 * user has fixed the size. */
static bool size_for(char *word, size_t size, const rung_plan_conf *conf, size_t tokens)
{
    const rung_task *task = conf->ask->task->task;
    const char *name = size_name(task), *words[WORDS_MAX];
    if (!name || conf->call->words + 1 > WORDS_MAX) return false;
    const rung_param *param = &task->params[rung_param_find(task->params, name)];
    for (size_t i = 0; i < conf->call->words; i++) {
        if (names_size(conf->call->word[i], name)) return false;
        words[i] = conf->call->word[i];
    }
    words[conf->call->words] = word;
    int64_t low = param->low - 1, high = (int64_t)tokens < param->high ? (int64_t)tokens + 1 : param->high + 1;
    while (high - low > 1) {
        rung_task_conf probe;
        int64_t middle = low + (high - low) / 2;
        snprintf(word, size, "%s=%lld", name, (long long)middle);
        bool fits = rung_task_conf_init(&probe, task->name, words, conf->call->words + 1, NULL) == RUNG_OK &&
                    probe.tokens <= tokens;
        if (fits)
            low = middle;
        else
            high = middle;
    }
    snprintf(word, size, "%s=%lld", name, (long long)low);
    return low >= param->low;
}

/* tokens = 0: the size that the user's words say. */
static bool make_words(word_list *list, const rung_plan_conf *conf, const rung_plan_option *o, size_t tokens)
{
    *list = (word_list){0};
    if (conf->call->words + 20 > WORDS_MAX) return false;
    for (size_t i = 0; i < conf->call->words; i++) list->at[list->count++] = conf->call->word[i];
    memcpy(list->own, o->own, sizeof list->own);
    for (char *word = strtok(list->own, " "); word && list->count < WORDS_MAX - 2; word = strtok(NULL, " "))
        list->at[list->count++] = word;
    if (!tokens) return true;
    if (!size_for(list->size, sizeof list->size, conf, tokens)) return false;
    list->at[list->count++] = list->size;
    return true;
}

static rung_status build_at(rung_build *b, rung_model **model, const rung_plan_conf *conf, const rung_plan_option *o,
                            size_t tokens, rung_error *err)
{
    word_list list;
    if (!make_words(&list, conf, o, tokens))
        return rung_fail(err, RUNG_USAGE, "no instance has at most %zu tokens", tokens);
    rung_status status = rung_build_init(b, o->how->name, list.at, list.count, err);
    return status == RUNG_OK ? rung_build_model(model, b, err) : status;
}

/* ---- formats -------------------------------------------------------------------------------------------------------------- */

typedef struct format_choice {
    int exponent, mantissa;
} format_choice;

/* Floats of at most p bits: a wide exponent first, a long mantissa second. p numbers contain those of a smaller format. */
static size_t formats_of(format_choice out[2], int bits)
{
    size_t count = 0;
    if (bits >= 10) out[count++] = (format_choice){8, bits - 9 < MANTISSA_MAX ? bits - 9 : MANTISSA_MAX};
    if (bits >= 7) out[count++] = (format_choice){5, bits - 6 < MANTISSA_MAX ? bits - 6 : MANTISSA_MAX};
    return count;
}

static rung_status parse_format(rung_fmt *fmt, format_choice f, rung_error *err)
{
    char name[24];
    snprintf(name, sizeof name, "e%dm%d", f.exponent, f.mantissa);
    return rung_fmt_parse(fmt, name, err);
}

/* ---- candidates ------------------------------------------------------------------------------------------------------------ */

static bool has_word(const rung_param *param, const char *word)
{
    for (size_t i = 0; param->words[i]; i++)
        if (strcmp(param->words[i], word) == 0) return true;
    return false;
}

static bool solves(const rung_construction *how, const char *task)
{
    size_t at = rung_param_find(how->params, "task");
    return at == SIZE_MAX ? strcmp(how->task, task) == 0 : has_word(&how->params[at], task);
}

/* Values that are tried of one parameter: every word; of how values lie in numbers, also what fills a mantissa. */
static size_t choices_of(const rung_param *param)
{
    size_t count = 0;
    if (param->kind == RUNG_PARAM_INT && (strcmp(param->name, "bits") == 0 || strcmp(param->name, "pack") == 0))
        return 2;
    if (param->kind != RUNG_PARAM_WORD || strcmp(param->name, "task") == 0) return 1;
    while (param->words[count]) count++;
    return count;
}

static void put_choice(rung_buf *out, const rung_param *param, size_t choice, const char *task, int bits)
{
    format_choice formats[2] = {{0}};
    if (strcmp(param->name, "task") == 0) {
        rung_buf_printf(out, "%stask=%s", out->len ? " " : "", task);
        return;
    }
    if (choices_of(param) == 1) return;
    if (param->kind == RUNG_PARAM_WORD) {
        rung_buf_printf(out, "%s%s=%s", out->len ? " " : "", param->name, param->words[choice]);
        return;
    }
    formats_of(formats, bits);
    if (choice) rung_buf_printf(out, "%s%s=%d", out->len ? " " : "", param->name, formats[0].mantissa + 1);
}

static void measure(rung_plan_option *o, const rung_model *model, int bits, rung_message message)
{
    rung_ledger ledger;
    o->parameters = rung_model_parameters(model);
    if (rung_ledger_of_model(&ledger, model, "", NULL) != RUNG_OK) return;
    rung_pattern p = rung_pattern_of(&(rung_question){.ledger = &ledger, .bits = bits, .message = message});
    o->full = rung_ledger_total(&ledger).full;
    o->state_bits = p.all_state + p.levels_state, o->message_bits = p.message;
    rung_ledger_clear(&ledger);
}

/* Builds it small; thoughts and missing masks are another question. */
static void add_option(rung_plan *plan, const rung_plan_conf *conf, const rung_construction *how, const char *own)
{
    rung_plan_option *o = &plan->option[plan->count];
    rung_build b;
    rung_model *model = NULL;
    rung_error err = {{0}};
    *o = (rung_plan_option){.how = how};
    snprintf(o->own, sizeof o->own, "%s", own);
    size_t small = conf->ask->n ? conf->ask->n < SMALL_TOKENS ? conf->ask->n : SMALL_TOKENS : 0;
    if (build_at(&b, &model, conf, o, small, &err) != RUNG_OK) {
        plan->refused++;
        return;
    }
    const rung_model_spec *spec = rung_model_get_spec(model);
    if (spec->thoughts || !spec->causal) {
        plan->refused++;
    } else {
        measure(o, model, conf->bits, (rung_message)conf->ask->words->message);
        plan->count++;
    }
    rung_model_close(model);
}

static void add_construction(rung_plan *plan, const rung_plan_conf *conf, const rung_construction *how)
{
    size_t variants = 1;
    for (const rung_param *param = how->params; param->name; param++) variants *= choices_of(param);
    for (size_t v = 0; v < variants && plan->count < RUNG_PLAN_MAX; v++) {
        rung_buf own;
        size_t rest = v;
        rung_buf_init(&own);
        for (const rung_param *param = how->params; param->name; param++) {
            put_choice(&own, param, rest % choices_of(param), conf->ask->task->task->name, conf->bits);
            rest /= choices_of(param);
        }
        if (!own.failed) add_option(plan, conf, how, own.text ? own.text : "");
        rung_buf_clear(&own);
    }
}

/* By what is proposed to be cheap; then by what crosses a cut, then by size. */
static int by_cost(const void *left, const void *right)
{
    const rung_plan_option *a = left, *b = right;
    if (a->full != b->full) return a->full < b->full ? -1 : 1;
    if (a->state_bits != b->state_bits) return a->state_bits < b->state_bits ? -1 : 1;
    if (a->message_bits != b->message_bits) return a->message_bits < b->message_bits ? -1 : 1;
    if (a->parameters != b->parameters) return a->parameters < b->parameters ? -1 : 1;
    int names = strcmp(a->how->name, b->how->name);
    return names ? names : strcmp(a->own, b->own);
}

/* ---- right or not ------------------------------------------------------------------------------------------------------------ */

static bool interrupted(void)
{
    return rung_signal_pending() != 0;
}

/* Products of one prompt, all layers. */
static double work_of(const rung_model *model, size_t tokens)
{
    const rung_arch *arch = rung_model_get_arch(model);
    double each = 0;
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            double wide = (double)conf->heads * (double)(conf->dk + conf->dv + 8);
            each += conf->mech->recurrent ? (double)conf->heads * (double)conf->dk * (double)conf->dv
                                          : wide * (double)tokens / 2;
        }
    return each * (double)tokens;
}

typedef struct trial {
    bool right;
    uint64_t prompts, wrong;
    double error_high;
    size_t tokens;
} trial;

static rung_status try_model(trial *t, const rung_model *model, const rung_task_conf *task, const rung_fmt *fmt,
                             uint64_t samples, const rung_plan_conf *conf, rung_error *err)
{
    rung_verify_result *result = rung_calloc(1, sizeof *result, err);
    if (!result) return RUNG_SYSTEM;
    rung_verify_conf how = {.method = RUNG_SAMPLED,
                            .samples = samples,
                            .seed = (uint64_t)conf->call->seed,
                            .how = {.numbers = fmt, .softmax = conf->ask->softmax, .threads = conf->threads},
                            .tolerance = 0.001,
                            .interrupted = interrupted};
    rung_status status = rung_verify_run(result, model, task, &how, err);
    *t = (trial){.right = status == RUNG_OK && result->complete && result->prompts && !result->wrong,
                 .prompts = result->prompts,
                 .wrong = result->wrong,
                 .error_high = result->error_high,
                 .tokens = task->tokens};
    rung_verify_clear(result);
    free(result);
    return status;
}

/* At most `tokens` tokens (0: as the words say); prompts are fewer when that is too much work, and none when one is. */
static rung_status try_at(trial *t, const rung_plan_conf *conf, const rung_plan_option *o, size_t tokens,
                          const rung_fmt *fmt, rung_error *err)
{
    rung_build b;
    rung_model *model;
    *t = (trial){0};
    rung_status status = build_at(&b, &model, conf, o, tokens, err);
    if (status != RUNG_OK) return status;
    double afford = floor(WORK_MAX / work_of(model, b.task.tokens));
    uint64_t samples = afford < (double)conf->samples ? (uint64_t)afford : conf->samples;
    t->tokens = b.task.tokens;
    if (samples > FEW_PROMPTS) status = try_model(t, model, &b.task, fmt, FEW_PROMPTS, conf, err);
    bool go_on = samples <= FEW_PROMPTS || t->right; /* what is wrong is mostly wrong at once */
    if (status == RUNG_OK && samples && go_on) status = try_model(t, model, &b.task, fmt, samples, conf, err);
    rung_model_close(model);
    return status;
}

/* The smallest mantissa that is right, 0: none up to f's. */
static rung_status least_mantissa(int *least, size_t *tokens, const rung_plan_conf *conf, const rung_plan_option *o,
                                  size_t at, format_choice f, rung_error *err)
{
    rung_status status = RUNG_OK;
    *least = 0;
    for (int m = 1; status == RUNG_OK && !*least && m <= f.mantissa && !interrupted(); m++) {
        rung_fmt fmt;
        trial t = {0};
        status = parse_format(&fmt, (format_choice){f.exponent, m}, err);
        if (status == RUNG_OK) status = try_at(&t, conf, o, at, &fmt, err);
        *tokens = t.tokens;
        if (status == RUNG_OK && t.right) *least = m;
    }
    return status;
}

/* ---- one option ------------------------------------------------------------------------------------------------------------ */

typedef struct attempt {
    rung_plan *plan;
    const rung_plan_conf *conf;
    rung_plan_option *o;
    format_choice f;
    rung_fmt fmt;
} attempt;

/* One reason per format. */
static void give_up(const attempt *a, const char *format, ...) RUNG_PRINTF(2, 3);
static void give_up(const attempt *a, const char *format, ...)
{
    size_t used = strlen(a->o->why);
    va_list args;
    if (used) used += (size_t)snprintf(a->o->why + used, sizeof a->o->why - used, "; ");
    if (used >= sizeof a->o->why) return;
    va_start(args, format);
    vsnprintf(a->o->why + used, sizeof a->o->why - used, format, args);
    va_end(args);
}

/* Whether the line through the needs at two sizes stays within the format. */
static rung_status within_line(bool *within, const attempt *a, rung_error *err)
{
    rung_plan *plan = a->plan;
    int *need = plan->mantissa;
    size_t *at = plan->mantissa_tokens;
    *within = false;
    rung_status status = least_mantissa(&need[0], &at[0], a->conf, a->o, SMALL_TOKENS, a->f, err);
    if (status == RUNG_OK && need[0])
        status = least_mantissa(&need[1], &at[1], a->conf, a->o, MEDIUM_TOKENS, a->f, err);
    if (status != RUNG_OK) return status;
    if (!need[0] || !need[1]) {
        give_up(a, "wrong at %zu tokens in %s", at[need[0] ? 1 : 0], a->fmt.name);
        return RUNG_OK;
    }
    double slope = (need[1] - need[0]) / log2((double)at[1] / (double)at[0]);
    plan->mantissa_n = need[1] + fmax(slope, 0) * log2((double)plan->tokens / (double)at[1]);
    *within = plan->mantissa_n <= a->f.mantissa;
    if (!*within)
        give_up(a, "needs %d mantissa bits at %zu tokens and %d at %zu, so about %.0f at %zu, and %s has %d", need[0],
                at[0], need[1], at[1], plan->mantissa_n, plan->tokens, a->fmt.name, a->f.mantissa);
    return RUNG_OK;
}

/* The most tokens that FEW_PROMPTS prompts can be run at, from the work of a small model. */
static rung_status affordable(size_t *tokens, const attempt *a, rung_error *err)
{
    rung_build b;
    rung_model *model;
    rung_status status = build_at(&b, &model, a->conf, a->o, MEDIUM_TOKENS, err);
    if (status != RUNG_OK) return status;
    double ratio = WORK_MAX / FEW_PROMPTS / work_of(model, b.task.tokens) / 2; /* keys get longer, too */
    *tokens = (size_t)((double)b.task.tokens * sqrt(fmax(ratio, 1)));
    rung_model_close(model);
    return RUNG_OK;
}

static rung_status keep_run(const attempt *a, const trial *t, size_t tokens, rung_error *err)
{
    rung_plan_run *run = &a->plan->run;
    rung_build b;
    word_list list;
    rung_buf text;
    if (!make_words(&list, a->conf, a->o, tokens)) return rung_fail(err, RUNG_USAGE, "no such size");
    rung_status status = rung_build_init(&b, a->o->how->name, list.at, list.count, err);
    if (status != RUNG_OK) return status;
    rung_buf_init(&text);
    rung_task_canonical(&text, &b.task);
    status = rung_buf_ok(&text, err);
    *run = (rung_plan_run){.tokens = t->tokens, .prompts = t->prompts, .error_high = t->error_high};
    if (status == RUNG_OK) snprintf(run->task, sizeof run->task, "%s", text.text);
    snprintf(run->numbers, sizeof run->numbers, "%s", a->fmt.name);
    rung_buf_clear(&text);
    a->o->good = status == RUNG_OK;
    return status;
}

/* Right at the wanted size, or at an affordable one if the line allows it. */
static rung_status attempt_format(const attempt *a, size_t wanted, rung_error *err)
{
    trial t;
    bool within;
    size_t most;
    rung_status status = affordable(&most, a, err);
    if (status != RUNG_OK) return status;
    a->plan->extrapolated = wanted && most < a->plan->tokens;
    if (a->plan->extrapolated) {
        status = within_line(&within, a, err);
        if (status != RUNG_OK || !within) return status;
    } else {
        most = wanted;
    }
    status = try_at(&t, a->conf, a->o, most, &a->fmt, err);
    if (status != RUNG_OK) return status;
    if (t.right) return keep_run(a, &t, most, err);
    give_up(a, "%llu of %llu prompts wrong at %zu tokens in %s", (unsigned long long)t.wrong,
            (unsigned long long)t.prompts, t.tokens, a->fmt.name);
    return RUNG_OK;
}

/* A refusal (RUNG_USAGE) is a reason, not a failure. */
static rung_status attempt_option(rung_plan *plan, const rung_plan_conf *conf, rung_plan_option *o, rung_error *err)
{
    format_choice formats[2];
    size_t count = formats_of(formats, conf->bits);
    o->tried = true;
    for (size_t i = 0; i < count && !o->good; i++) {
        attempt a = {.plan = plan, .conf = conf, .o = o, .f = formats[i]};
        rung_error why = {{0}};
        rung_status status = parse_format(&a.fmt, formats[i], &why);
        if (status == RUNG_OK) status = attempt_format(&a, conf->ask->n ? (size_t)conf->ask->n : 0, &why);
        if (status == RUNG_OK) continue;
        if (status == RUNG_SYSTEM) return *err = why, status;
        give_up(&a, "%.200s", why.text);
        break;
    }
    return RUNG_OK;
}

/* ---- the proposal ---------------------------------------------------------------------------------------------------------- */

static rung_status describe(rung_plan *plan, const rung_plan_conf *conf, rung_error *err)
{
    rung_plan_option *o = &plan->option[plan->chosen];
    size_t wanted = conf->ask->n ? (size_t)conf->ask->n : 0;
    word_list list;
    rung_build b;
    rung_model *model;
    rung_buf text;
    if (!make_words(&list, conf, o, wanted)) return rung_fail(err, RUNG_USAGE, "no instance is so short");
    rung_buf_init(&text);
    rung_buf_puts(&text, o->how->name);
    for (size_t i = 0; i < list.count; i++) rung_buf_printf(&text, " %s", list.at[i]);
    rung_status status = rung_buf_ok(&text, err);
    if (status == RUNG_OK && !(plan->build = rung_arena_strdup(&plan->arena, text.text, err))) status = RUNG_SYSTEM;
    rung_buf_clear(&text);
    double grown = plan->extrapolated ? (double)plan->tokens / SMALL_TOKENS * 2 : 1;
    plan->full = o->full, plan->state_bits = o->state_bits, plan->message_bits = o->message_bits;
    if (status != RUNG_OK || (double)o->parameters * grown > PARAMETERS_MAX) return status;
    status = build_at(&b, &model, conf, o, wanted, err);
    if (status != RUNG_OK) return status;
    rung_plan_option full_size = *o;
    measure(&full_size, model, conf->bits, (rung_message)conf->ask->words->message);
    plan->full = full_size.full, plan->state_bits = full_size.state_bits, plan->message_bits = full_size.message_bits;
    plan->arch = rung_arena_strdup(&plan->arena, rung_model_get_spec(model)->arch, err);
    rung_model_close(model);
    return plan->arch ? RUNG_OK : RUNG_SYSTEM;
}

/* Tokens of the wanted instance. */
static rung_status wanted_tokens(rung_plan *plan, const rung_plan_conf *conf, rung_error *err)
{
    const char *words[WORDS_MAX];
    char size[32];
    rung_task_conf task;
    plan->tokens = conf->ask->task->tokens;
    if (!conf->ask->n) return RUNG_OK;
    if (conf->ask->n > (uint64_t)1 << 32 || conf->call->words + 1 > WORDS_MAX)
        return rung_fail(err, RUNG_USAGE, "--plan: n = %llu is longer than any prompt that can be built",
                         (unsigned long long)conf->ask->n);
    if (!size_for(size, sizeof size, conf, (size_t)conf->ask->n))
        return rung_fail(err, RUNG_USAGE,
                         "--plan: no %s has at most %llu tokens with these words; leave out its size, or "
                         "--n",
                         conf->ask->task->task->name, (unsigned long long)conf->ask->n);
    for (size_t i = 0; i < conf->call->words; i++) words[i] = conf->call->word[i];
    words[conf->call->words] = size;
    rung_status status = rung_task_conf_init(&task, conf->ask->task->task->name, words, conf->call->words + 1, err);
    plan->tokens = status == RUNG_OK ? task.tokens : 0;
    return status;
}

rung_status rung_plan_search(rung_plan *plan, const rung_plan_conf *conf, rung_error *err)
{
    const char *task = conf->ask->task->task->name;
    *plan = (rung_plan){.chosen = SIZE_MAX, .verdict = RUNG_UNKNOWN};
    rung_arena_init(&plan->arena);
    if (conf->bits < 7)
        return rung_fail(err, RUNG_USAGE, "--plan runs what it proposes in floats of p bits; take --bits 7 or more");
    rung_status status = wanted_tokens(plan, conf, err);
    if (status != RUNG_OK) return status;
    rung_signals_defer(true);
    for (size_t i = 0; i < rung_construction_count(); i++)
        if (solves(rung_construction_at(i), task)) add_construction(plan, conf, rung_construction_at(i));
    qsort(plan->option, plan->count, sizeof plan->option[0], by_cost);
    for (size_t i = 0; status == RUNG_OK && i < plan->count && !interrupted(); i++) {
        status = attempt_option(plan, conf, &plan->option[i], err);
        if (status == RUNG_OK && plan->option[i].good) {
            plan->chosen = i;
            break;
        }
    }
    if (status != RUNG_OK || plan->chosen == SIZE_MAX) return status;
    plan->verdict = plan->extrapolated ? RUNG_UNKNOWN : RUNG_CAN;
    return describe(plan, conf, err);
}

void rung_plan_clear(rung_plan *plan)
{
    rung_arena_clear(&plan->arena);
}
