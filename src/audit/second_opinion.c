/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The second opinion.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beside.h"
#include "rung/audit.h"

void audit_beside(char *path, size_t size, const char *tail)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    size_t room = slash ? size - (size_t)(slash + 1 - path) : 0;
    if (room > strlen(tail))
        memcpy(slash + 1, tail, strlen(tail) + 1);
    else
        path[0] = '\0';
}

static _Noreturn void become_checker(const char *path, const char *cert, const char *model)
{
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
    execlp(path, "rung-check", cert, model, (char *)NULL);
    _exit(RUNG_SECOND_ABSENT);
}

rung_status rung_second_opinion(int *code, const char *cert, const char *model, rung_error *err)
{
    char path[4096];
    int status = 0;
    *code = 0;
    audit_beside(path, sizeof path, "rung-check");
    bool beside = access(path, X_OK) == 0;
    pid_t child = fork();
    if (child < 0) return rung_fail(err, RUNG_SYSTEM, "cannot start rung-check: %s", strerror(errno));
    if (child == 0) become_checker(beside ? path : "rung-check", cert, model);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return rung_fail(err, RUNG_SYSTEM, "cannot wait for rung-check: %s", strerror(errno));
    if (WIFEXITED(status)) *code = WEXITSTATUS(status);
    if (*code == RUNG_SECOND_ABSENT)
        return rung_fail(err, RUNG_SYSTEM, "rung-check is neither beside rung nor in PATH; `make all` builds both");
    if (!WIFEXITED(status))
        return rung_fail(err, RUNG_SYSTEM, "rung-check was stopped by signal %d on %s", WTERMSIG(status), cert);
    return RUNG_OK;
}
