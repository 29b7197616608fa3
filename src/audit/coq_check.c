/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * coqc on one file, in a directory of its own, because it writes beside what it reads.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beside.h"
#include "rung/audit.h"

enum { PATH_SIZE = 4096 };

bool rung_coq_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = strlen(name);
    if (len < 3 || strcmp(name + len - 2, ".v") != 0 || isdigit((unsigned char)name[0])) return false;
    for (size_t i = 0; i < len - 2; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_') return false;
    return true;
}

/* ---- the compiled proofs --------------------------------------------------------------------------------------- */

static bool has(const char *directory, const char *file)
{
    char path[PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return access(path, R_OK) == 0;
}

static rung_status find_proofs(char *path, size_t size, rung_error *err)
{
    static const char *const places[] = {"proofs", "../share/rung/proofs"};
    const char *given = getenv("RUNG_PROOFS");
    char sources[PATH_SIZE] = "";
    if (given) {
        snprintf(path, size, "%s", given);
        if (has(path, "Instance.vo")) return RUNG_OK;
        return rung_fail(err, RUNG_SYSTEM, "RUNG_PROOFS is %s, which has no Instance.vo; run `make -C` there", given);
    }
    for (size_t i = 0; i < RUNG_COUNT(places); i++) {
        (void)rung_beside_program(path, size, places[i]);
        if (has(path, "Instance.vo")) return RUNG_OK;
        if (!sources[0] && has(path, "Instance.v")) snprintf(sources, sizeof sources, "%s", path);
    }
    if (sources[0]) return rung_fail(err, RUNG_SYSTEM, "the proofs are not compiled; run `make -C %s` once", sources);
    return rung_fail(err, RUNG_SYSTEM,
                     "the compiled proofs are not there; run `make proofs` once in the source tree of "
                     "rung, or set RUNG_PROOFS to their directory");
}

static bool in_path(const char *program)
{
    const char *places = getenv("PATH");
    char path[PATH_SIZE + 32];
    for (size_t len; places && *places; places += len + (places[len] == ':')) {
        len = strcspn(places, ":");
        if (len >= PATH_SIZE) continue;
        snprintf(path, sizeof path, "%.*s/%s", len ? (int)len : 1, len ? places : ".", program);
        if (access(path, X_OK) == 0) return true;
    }
    return false;
}

static rung_status no_coqc(rung_error *err)
{
    return rung_fail(err, RUNG_SYSTEM,
                     "coqc is not installed; `make proofs` in the source tree of rung installs it, or the package coq "
                     "of the system");
}

rung_status rung_coq_look(rung_error *err)
{
    char proofs[PATH_SIZE];
    if (!in_path("coqc")) return no_coqc(err);
    return find_proofs(proofs, sizeof proofs, err);
}

static rung_status run_coqc(int *code, const char *directory, char *const words[], rung_error *err)
{
    RUNG_TRY(audit_run(code, directory, words, err));
    return *code == AUDIT_ABSENT ? no_coqc(err) : RUNG_OK;
}

static rung_status check_in(rung_proof *proof, const char *directory, char *proofs, rung_error *err)
{
    char path[PATH_SIZE + 16], log[2048];
    int code = 0;
    snprintf(path, sizeof path, "%s/claim.v", directory);
    RUNG_TRY(rung_file_write(path, proof->text.text, proof->text.len, err));
    RUNG_TRY(run_coqc(&code, directory, (char *[]){"coqc", "-q", "-Q", proofs, "Rung", "claim.v", NULL}, err));
    audit_read_log(log, sizeof log, directory);
    if (code != 0 || !strstr(log, "Closed under the global context"))
        return rung_fail(err, RUNG_SYSTEM, "coqc does not accept the proof file: %.600s", log);
    RUNG_TRY(run_coqc(&code, directory, (char *[]){"coqc", "--print-version", NULL}, err));
    audit_read_log(log, sizeof log, directory);
    log[strcspn(log, " \n")] = '\0';
    snprintf(proof->checked, sizeof proof->checked, "coqc %.20s", log);
    return RUNG_OK;
}

rung_status rung_coq_check(rung_proof *proof, rung_error *err)
{
    char proofs[PATH_SIZE], whole[PATH_SIZE], directory[PATH_SIZE];
    static const char *const names[] = {"claim.v",    "claim.vo",   "claim.vok", "claim.vos",
                                        "claim.glob", ".claim.aux", "log",       NULL};
    RUNG_TRY(find_proofs(proofs, sizeof proofs, err));
    if (!realpath(proofs, whole)) return rung_fail(err, RUNG_SYSTEM, "%s: %s", proofs, strerror(errno));
    RUNG_TRY(audit_make_directory(directory, sizeof directory, "rung-coq", err));
    rung_status status = check_in(proof, directory, whole, err);
    audit_remove_directory(directory, names);
    return status;
}
