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

/* Beside this program, else by its name, in PATH. */
static const char *find_checker(char *path, size_t size)
{
    (void)rung_beside_program(path, size, "rung-check");
    return access(path, X_OK) == 0 ? path : "rung-check";
}

static rung_status absent(rung_error *err)
{
    return rung_fail(err, RUNG_SYSTEM, "rung-check is neither beside rung nor in PATH; `make all` builds both");
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
    const char *checker = find_checker(path, sizeof path);
    pid_t child = fork();
    if (child < 0) return rung_fail(err, RUNG_SYSTEM, "cannot start rung-check: %s", strerror(errno));
    if (child == 0) become_checker(checker, cert, model);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return rung_fail(err, RUNG_SYSTEM, "cannot wait for rung-check: %s", strerror(errno));
    if (WIFEXITED(status)) *code = WEXITSTATUS(status);
    if (*code == RUNG_SECOND_ABSENT) return absent(err);
    if (!WIFEXITED(status))
        return rung_fail(err, RUNG_SYSTEM, "rung-check was stopped by signal %d on %s", WTERMSIG(status), cert);
    return RUNG_OK;
}

static _Noreturn void tell_version(const char *path, int into)
{
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(into, STDOUT_FILENO);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    execlp(path, "rung-check", "--version", (char *)NULL);
    _exit(RUNG_SECOND_ABSENT);
}

/* One line from a pipe; what does not fit is read and left out. */
static void read_line(char *text, size_t size, int from)
{
    char more[256];
    size_t used = 0;
    for (ssize_t got; (got = read(from, more, sizeof more)) != 0;) {
        if (got < 0 && errno != EINTR) break;
        for (ssize_t i = 0; i < got && used + 1 < size; i++) text[used++] = more[i];
    }
    text[used] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
}

rung_status rung_second_opinion_version(char *text, size_t size, rung_error *err)
{
    char path[4096];
    int ends[2], status = 0;
    const char *checker = find_checker(path, sizeof path);
    if (pipe(ends) != 0) return rung_fail(err, RUNG_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) tell_version(checker, ends[1]);
    close(ends[1]);
    if (child > 0) read_line(text, size, ends[0]);
    close(ends[0]);
    if (child < 0) return rung_fail(err, RUNG_SYSTEM, "cannot start rung-check: %s", strerror(errno));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return rung_fail(err, RUNG_SYSTEM, "cannot wait for rung-check: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == RUNG_SECOND_ABSENT) return absent(err);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !*text)
        return rung_fail(err, RUNG_SYSTEM, "%s does not say its version; `make all` builds it again", checker);
    return RUNG_OK;
}
