/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Other programs, in a directory of their own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beside.h"

enum { PATH_SIZE = 4096 };

static _Noreturn void become(const char *directory, char *const words[])
{
    if (chdir(directory) != 0) _exit(AUDIT_ABSENT - 1);
    int nowhere = open("/dev/null", O_RDONLY);
    int log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (nowhere >= 0) dup2(nowhere, STDIN_FILENO);
    if (log >= 0) dup2(log, STDOUT_FILENO), dup2(log, STDERR_FILENO);
    execvp(words[0], words);
    _exit(AUDIT_ABSENT);
}

rung_status audit_run(int *code, const char *directory, char *const words[], rung_error *err)
{
    int status = 0;
    pid_t child = fork();
    if (child < 0) return rung_fail(err, RUNG_SYSTEM, "cannot start %s: %s", words[0], strerror(errno));
    if (child == 0) become(directory, words);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return rung_fail(err, RUNG_SYSTEM, "cannot wait for %s: %s", words[0], strerror(errno));
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return RUNG_OK;
}

void audit_read_log(char *text, size_t size, const char *directory)
{
    char path[PATH_SIZE + 8];
    snprintf(path, sizeof path, "%s/log", directory);
    FILE *file = fopen(path, "r");
    size_t got = file ? fread(text, 1, size - 1, file) : 0;
    text[got] = '\0';
    if (file) fclose(file);
}

rung_status audit_make_directory(char *path, size_t size, const char *what, rung_error *err)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(path, size, "%.4000s/%s-XXXXXX", temporary ? temporary : "/tmp", what);
    if (mkdtemp(path)) return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM, "cannot make %s: %s", path, strerror(errno));
}

void audit_remove_directory(const char *path, const char *const *names)
{
    char full[PATH_SIZE + 64];
    for (; *names; names++) {
        snprintf(full, sizeof full, "%s/%s", path, *names);
        unlink(full);
    }
    rmdir(path);
}
