/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung-check in a page: the same file, with functions in place of the command. src/audit/checker.js calls them:
 * web_room for both files, then web_judge, and web_end if the check was left early. What is printed goes to the page.
 */
#define main rung_check_command
int rung_check_command(int argc, char **argv);
#include "../rung-check.c"
#undef main

void *web_room(size_t size);
int web_judge(unsigned char *certificate, size_t certificate_size, unsigned char *model, size_t model_size,
              double work);
int web_end(void);

void *web_room(size_t size)
{
    return malloc(size ? size : 1);
}

int web_judge(unsigned char *certificate, size_t certificate_size, unsigned char *model, size_t model_size, double work)
{
    max_work = (uint64_t)work;
    enum verdict verdict =
        judge((struct bytes){certificate, certificate_size}, (struct bytes){model, model_size}, memory_limit);
    return finish(verdict);
}

/* The verdict of a check that was left early: never ACCEPTED. */
int web_end(void)
{
    const char *word = run.verdict == REJECTED ? "rejected: " : run.given_up ? "given up: " : "malformed: ";
    printf("%s%s\n", word, run.reason);
    return run.verdict == ACCEPTED ? SYSTEM : finish(run.verdict);
}
