/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Which process works on which run. A process is identified by its host, boot, pid namespace, pid and start time, so
 * that a pid which was reused since is not taken for the old process. A lease of a dead process is taken over. A claim
 * of a process that cannot be seen from here (another host, another container) is taken over after SILENT_S seconds
 * without a heartbeat.
 */
#include "store.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SILENT_S 600.0

typedef struct owner {
    char host[256], boot[64], space[64];
    int64_t pid, started;
} owner;

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void read_line(char *out, size_t size, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file || !fgets(out, (int)size, file)) *out = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (file) fclose(file);
}

/* Start time of a process in clock ticks since boot: field 22 of its stat, the twentieth after the name in parentheses.
 * 0: there is no such process, or it is a zombie. */
static int64_t start_of(int64_t pid)
{
    char path[64], line[1024];
    int64_t started = 0;
    char state = 'Z';
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    read_line(line, sizeof line, path);
    const char *rest = strrchr(line, ')');
    if (!rest ||
        sscanf(rest + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNd64, &state,
               &started) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : started;
}

static owner myself(void)
{
    owner me = {.pid = (int64_t)getpid()};
    if (gethostname(me.host, sizeof me.host - 1) != 0) strcpy(me.host, "?");
    read_line(me.boot, sizeof me.boot, "/proc/sys/kernel/random/boot_id");
    ssize_t len = readlink("/proc/self/ns/pid", me.space, sizeof me.space - 1);
    me.space[len > 0 ? len : 0] = '\0';
    me.started = start_of(me.pid);
    return me;
}

static bool is_alive(const owner *them, const owner *me, double beat)
{
    bool here = strcmp(them->host, me->host) == 0;
    if (here && strcmp(them->boot, me->boot) != 0) return false;
    if (here && strcmp(them->space, me->space) == 0)
        return me->started ? start_of(them->pid) == them->started : kill((pid_t)them->pid, 0) == 0;
    return lab_now() - beat < SILENT_S;
}

/* ---- claims ------------------------------------------------------------------------------------------------------ */

static void copy_column(char *out, size_t size, sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    snprintf(out, size, "%s", text ? text : "");
}

static rung_status is_taken(bool *taken, const rung_store *store, const char *id, const owner *me, rung_error *err)
{
    sqlite3_stmt *s;
    *taken = false;
    rung_status status =
        lab_sql_open(&s, store, err, "SELECT host, boot, space, pid, started, beat FROM claims WHERE run = ?", "s", id);
    RUNG_NEXT(status, lab_sql_next(taken, &s, store, err));
    if (status != RUNG_OK || !*taken) return status;
    owner them = {.pid = sqlite3_column_int64(s, 3), .started = sqlite3_column_int64(s, 4)};
    double beat = sqlite3_column_double(s, 5);
    copy_column(them.host, sizeof them.host, s, 0);
    copy_column(them.boot, sizeof them.boot, s, 1);
    copy_column(them.space, sizeof them.space, s, 2);
    sqlite3_finalize(s);
    *taken = is_alive(&them, me, beat);
    return RUNG_OK;
}

static rung_status take(rung_lab_did *did, const rung_store *store, const char *id, rung_error *err)
{
    int64_t done;
    bool taken = false;
    owner me = myself();
    rung_status status = lab_sql_int(&done, store, 0, err, "SELECT 1 FROM runs WHERE id = ?", "s", id);
    if (status == RUNG_OK && !done) status = is_taken(&taken, store, id, &me, err);
    *did = done ? RUNG_LAB_WAS_DONE : taken ? RUNG_LAB_ELSEWHERE : RUNG_LAB_DONE;
    if (status != RUNG_OK || done || taken) return status;
    return lab_sql_do(store, err, "INSERT OR REPLACE INTO claims VALUES(?, ?, ?, ?, ?, ?, ?)", "ssssiid", id, me.host,
                      me.boot, me.space, me.pid, me.started, lab_now());
}

rung_status lab_lease(rung_lab_did *did, const rung_store *store, const char *id, rung_error *err)
{
    RUNG_TRY(lab_sql_begin(store, err));
    rung_status status = take(did, store, id, err);
    return lab_sql_end(store, status, err);
}

void lab_lease_renew(const rung_store *store, const char *id)
{
    rung_error ignored;
    (void)lab_sql_do(store, &ignored, "UPDATE claims SET beat = ? WHERE run = ?", "ds", lab_now(), id);
}

rung_status lab_lease_drop(const rung_store *store, const char *id, rung_error *err)
{
    owner me = myself(); /* another process may have taken it over */
    return lab_sql_do(store, err, "DELETE FROM claims WHERE run = ? AND host = ? AND pid = ? AND started = ?", "ssii",
                      id, me.host, me.pid, me.started);
}

void lab_leases_renew(const rung_store *store)
{
    owner me = myself();
    rung_error ignored;
    (void)lab_sql_do(store, &ignored, "UPDATE claims SET beat = ? WHERE host = ? AND pid = ? AND started = ?", "dsii",
                     lab_now(), me.host, me.pid, me.started);
}

rung_status lab_leases_drop(const rung_store *store, rung_error *err)
{
    owner me = myself();
    return lab_sql_do(store, err, "DELETE FROM claims WHERE host = ? AND pid = ? AND started = ?", "sii", me.host,
                      me.pid, me.started);
}
