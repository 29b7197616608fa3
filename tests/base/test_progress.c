/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * progress: watched through a pseudo-terminal, and through a pipe, where it must be silent.
 */
#define _GNU_SOURCE
#include "rung/base.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char erase[] = "\r\033[K";

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Half a second of work in many small steps, then one more line that must follow on a clean line. */
static void work(uint64_t total)
{
    rung_progress progress;
    rung_progress_start(&progress, "counting", total);
    for (uint64_t i = 1; i <= 250; i++) {
        rung_progress_tick(&progress, i * 4);
        sleep_ms(2);
    }
    rung_progress_finish(&progress);
    fputs("done", stderr);
}

/* Runs `body` in a child whose stderr is `theirs` and collects everything from `ours`. */
static void collect(rung_buf *seen, int ours, int theirs, void (*body)(uint64_t), uint64_t total)
{
    pid_t child = fork();
    if (child == 0) {
        dup2(theirs, STDERR_FILENO);
        close(theirs);
        close(ours);
        body(total);
        _exit(0);
    }
    close(theirs);
    char piece[256];
    rung_buf_init(seen);
    for (ssize_t got; (got = read(ours, piece, sizeof piece)) > 0;) rung_buf_add(seen, piece, (size_t)got);
    close(ours);
    waitpid(child, NULL, 0);
    assert_non_null(seen->text);
}

static void collect_from_terminal(rung_buf *seen, void (*body)(uint64_t), uint64_t total)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0) skip(); /* a container without /dev/pts */
    assert_true(grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    collect(seen, master, slave, body, total);
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) count++;
    return count;
}

static void terminal_sees_a_few_redraws_and_a_clean_line(void **state)
{
    (void)state;
    rung_buf seen;
    setenv("TERM", "xterm", 1);
    double start_s = rung_wall_s();
    collect_from_terminal(&seen, work, 1000);
    double elapsed_s = rung_wall_s() - start_s; /* half a second, much more on a busy machine */
    size_t drawn = occurrences(seen.text, "counting");
    assert_true(drawn >= 2 && (double)drawn <= 10 * elapsed_s);
    assert_int_equal(occurrences(seen.text, erase), drawn + 1);
    assert_int_equal(occurrences(seen.text, "\n"), 0);
    assert_non_null(strstr(seen.text, "%"));
    assert_non_null(strstr(seen.text, " left"));
    assert_true(seen.len > 8 && strcmp(seen.text + seen.len - 8, "\r\033[Kdone") == 0);
    rung_buf_clear(&seen);
}

static void unknown_totals_show_a_count_and_no_percentage(void **state)
{
    (void)state;
    rung_buf seen;
    setenv("TERM", "xterm", 1);
    collect_from_terminal(&seen, work, 0);
    assert_true(occurrences(seen.text, "counting") >= 2);
    assert_null(strchr(seen.text, '%'));
    rung_buf_clear(&seen);
}

static void pipes_and_dumb_terminals_see_nothing(void **state)
{
    (void)state;
    rung_buf seen;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    collect(&seen, ends[0], ends[1], work, 1000);
    assert_string_equal(seen.text, "done");
    rung_buf_clear(&seen);
    setenv("TERM", "dumb", 1);
    collect_from_terminal(&seen, work, 1000);
    assert_string_equal(seen.text, "done");
    rung_buf_clear(&seen);
}

static void long_work(uint64_t total)
{
    char what[300];
    memset(what, 'w', sizeof what - 1);
    what[sizeof what - 1] = '\0';
    rung_progress progress;
    rung_progress_start(&progress, what, total);
    sleep_ms(120);
    rung_progress_tick(&progress, 1);
    sleep_ms(120);
    rung_progress_tick(&progress, UINT64_MAX);
    rung_progress_finish(&progress);
}

static void long_names_do_not_wrap(void **state)
{
    (void)state;
    for (uint64_t total = 0; total < 4; total += 3) {
        rung_buf seen;
        setenv("TERM", "xterm", 1);
        collect_from_terminal(&seen, long_work, total);
        assert_int_equal(occurrences(seen.text, erase), 3);
        for (const char *line = seen.text; (line = strstr(line, erase)); line += strlen(erase)) {
            const char *next = strstr(line + strlen(erase), erase);
            if (next) assert_in_range(next - line - (ptrdiff_t)strlen(erase), 40, 79);
        }
        rung_buf_clear(&seen);
    }
}

static void done_and_the_clock_advance_unseen(void **state)
{
    (void)state;
    rung_progress progress = {.visible = true};
    double before = rung_wall_s();
    sleep_ms(20);
    double after = rung_wall_s();
    assert_true(after - before >= 0.02 && after - before < 5);
    assert_true(rung_wall_s() >= after);
    rung_progress_start(&progress, "x", 10);
    progress.visible = false;
    rung_progress_tick(&progress, 7);
    assert_int_equal(progress.done, 7);
    assert_int_equal(progress.total, 10);
    rung_progress_finish(&progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminal_sees_a_few_redraws_and_a_clean_line),
        cmocka_unit_test(unknown_totals_show_a_count_and_no_percentage),
        cmocka_unit_test(pipes_and_dumb_terminals_see_nothing),
        cmocka_unit_test(long_names_do_not_wrap),
        cmocka_unit_test(done_and_the_clock_advance_unseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
