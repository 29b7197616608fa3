/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung merge: several stores into one.
 */
#include "output.h"
#include "rung/lab.h"
#include "rung/render.h"

typedef struct merge_values {
    const char *out;
    int64_t wait;
} merge_values;

static rung_status merge_all(size_t *added, size_t *same, const tool_call *call, rung_error *err)
{
    const merge_values *v = call->values;
    rung_store *store;
    rung_status status = rung_store_open(&store, v->out, RUNG_STORE_WRITE, (double)v->wait, err);
    RUNG_TRY(status);
    for (size_t i = 0; status == RUNG_OK && i < call->arguments; i++) {
        size_t fresh = 0, both = 0;
        status = rung_store_merge(store, call->argument[i], &fresh, &both, (double)v->wait, err);
        *added += fresh, *same += both;
    }
    rung_store_close(store);
    return status;
}

static int run_merge(const tool_call *call, rung_error *err)
{
    const merge_values *v = call->values;
    size_t added = 0, same = 0;
    rung_buf text;
    rung_jout out;
    if (!v->out) return rung_fail(err, RUNG_USAGE, "where to? give -o STORE, for example -o all.db");
    rung_status status = tool_out_place(v->out, err);
    for (size_t i = 0; status == RUNG_OK && i < call->arguments; i++)
        status = tool_out_spares(v->out, call->argument[i], err);
    RUNG_TRY(status);
    status = merge_all(&added, &same, call, err);
    RUNG_TRY(status);
    rung_buf_init(&text);
    if (call->json) {
        rung_jout_begin(&out, &text, "rung.merge/1", true);
        rung_jout_string(&out, "store", v->out);
        rung_jout_int(&out, "added", (int64_t)added);
        rung_jout_int(&out, "same", (int64_t)same);
        rung_jout_finish(&out);
    } else {
        rung_buf_printf(&text, "%s: %zu runs added, %zu were there and are the same\n", v->out, added, same);
    }
    status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

const tool_command tool_command_merge = {
    .name = "merge",
    .summary = "put several stores of sweeps together",
    .details =
        "Copies runs with metrics, artefacts and plans into one store, made if need be. A run that is in several "
        "must be the same in all of them, to the last bit; times and machines may differ. Otherwise it is named, "
        "and nothing of that store is taken.",
    .examples =
        (const tool_example[]){
            {"rung merge -o all.db node-*.db", "what several machines have done"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "STORE",
             .help = "stores to read",
             .least = 1,
             .most = SIZE_MAX,
             .complete = RUNG_COMPLETE_FILE},
            {0},
        },
    .options =
        (const rung_option[]){
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(merge_values, out),
             .metavar = "STORE",
             .help = "the store to add to; must be given",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "wait",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(merge_values, wait),
             .metavar = "S",
             .help = "seconds to wait for a store that another program holds",
             .fallback = "60",
             .low = 0,
             .high = 86400},
            {0},
        },
    .values_size = sizeof(merge_values),
    .run = run_merge,
};
