/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Stores may come from other people. What can be checked without reading rows is checked when a store is opened: its
 * tables are tables, with the columns that we know. Every row is checked once, where it is read, so that callers can
 * rely on it: an id is 32 hexadecimal digits (it may become part of a file name), a name is printable and of bounded
 * length, and a text that should be a JSON object is one.
 */
#include "store.h"

#include <string.h>

/* The column names that we wrote. If a column is computed, hidden or missing, the list that SQLite reports does not
 * match. */
#define RUNS_COLUMNS                                                                                                   \
    "number,id,canonical,words,arch,task,seed,rate,random_labels,outcome,step,steps,loss,accuracy,eval_loss,"          \
    "eval_accuracy,test_loss,test_accuracy,test_targets,test_right,chance,majority,tokens,parameters,layers,"          \
    "full_layers,recurrent_layers,state_bits,level_bits,message_bits,kv_bits_per_token,seconds,resumed,finished_at,"   \
    "version,machine"

static const struct {
    int64_t since, until; /* versions of the schema that have it; until 0: all later ones */
    const char *table, *columns;
} tables[] = {
    {1, 0, "versions", "number,rung,sqlite,compiler,kernels"},
    {1, 0, "machines", "number,host,cpu,cores,memory_bytes,system"},
    {1, 2, "runs", RUNS_COLUMNS},
    {3, 0, "runs", RUNS_COLUMNS ",test_numbers"},
    {1, 0, "theory", "run,bits,verdict,bound,statement,margin,ceiling,n_threshold,log2_n,trivial"},
    {1, 0, "metrics", "run,step,loss,accuracy,rate,gradient,eval_loss,eval_accuracy"},
    {1, 0, "artefacts", "run,kind,name,sha256,size,content"},
    {1, 0, "sweeps", "number,id,name,question,success,text,added"},
    {1, 0, "plan", "sweep,place,run,label,cell,setting"},
    {1, 0, "claims", "run,host,boot,space,pid,started,beat"},
    {2, 0, "exchanges", "number,hash,url,request,http,problem,reply,attempt,seconds,at"},
    {2, 0, "probes", "number,id,canonical,source,model,server,task,added"},
    {2, 0, "probe_cells",
     "probe,place,mode,words,canonical,depth,facts,chance,majority,asked,right,text_right,off,cut,mass,prompt_tokens,"
     "verdict,bound,statement,ceiling,margin"},
    {2, 0, "probe_answers", "probe,cell,item,hash,wanted,said,right,text_right,off,cut,mass"},
    {2, 0, "probe_depths", "probe,words,facts,threshold,confidence,low,high,deepest"},
};

static rung_status check_table(const rung_store *store, const char *table, const char *columns, rung_error *err)
{
    int64_t same = 0;
    rung_status status =
        lab_sql_int(&same, store, 0, err,
                    "SELECT (SELECT type = 'table' FROM pragma_table_list WHERE schema = 'main' AND name = ?1) AND ?2 ="
                    " (SELECT group_concat(name) FROM (SELECT name FROM pragma_table_xinfo(?1, 'main')"
                    " WHERE hidden = 0 ORDER BY cid)) AND NOT EXISTS"
                    " (SELECT 1 FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 0)",
                    "ss", table, columns);
    if (status != RUNG_OK || same) return status;
    return rung_fail(
        err, RUNG_INPUT,
        "%s: table '%s' differs from the one that docs/store.md describes; an unmodified store has that one",
        store->path, table);
}

/* A trigger would run when we write, so a store with triggers is refused. */
static rung_status refuse_triggers(const rung_store *store, rung_error *err)
{
    int64_t count = 0;
    rung_status status =
        lab_sql_int(&count, store, 0, err, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'", "");
    if (status != RUNG_OK || !count) return status;
    return rung_fail(err, RUNG_INPUT, "%s has triggers, but rung never makes any; drop them if they are yours",
                     store->path);
}

rung_status lab_check_schema(const rung_store *store, int64_t version, rung_error *err)
{
    rung_status status = refuse_triggers(store, err);
    for (size_t i = 0; status == RUNG_OK && i < RUNG_COUNT(tables); i++)
        if (tables[i].since <= version && (!tables[i].until || version <= tables[i].until))
            status = check_table(store, tables[i].table, tables[i].columns, err);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

bool rung_run_id_ok(const char *id)
{
    return strnlen(id, RUNG_RUN_ID) == RUNG_RUN_ID - 1 && strspn(id, "0123456789abcdef") == RUNG_RUN_ID - 1;
}

rung_status lab_check_id(const rung_store *store, const char *table, int64_t number, const char *id, rung_error *err)
{
    if (rung_run_id_ok(id)) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT,
                     "%s: row %lld of %s has the id '%.40s', but an id is 32 hexadecimal digits; the store was damaged "
                     "or made by another program",
                     store->path, (long long)number, table, id);
}

rung_status lab_check_names(const rung_store *store, const char *table, int64_t number, const lab_name *names,
                            size_t count, rung_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!rung_text_is_plain(names[i].text, LAB_NAME_MOST))
            return rung_fail(err, RUNG_INPUT,
                             "%s: row %lld of %s: column '%s' should be a name, but has control characters or more "
                             "than %d bytes: '%.40s'",
                             store->path, (long long)number, table, names[i].column, LAB_NAME_MOST, names[i].text);
    return RUNG_OK;
}

rung_status lab_check_object(const rung_store *store, const char *table, int64_t number, const char *column,
                             bool is_object, rung_error *err)
{
    if (is_object) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT,
                     "%s: row %lld of %s: column '%s' should be a JSON object, but is not; the store was damaged or "
                     "made by another program",
                     store->path, (long long)number, table, column);
}
