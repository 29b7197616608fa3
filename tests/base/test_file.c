/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * file: what a reader, a crash, a full disk, a link or a foreign umask would see.
 */
#include "rung/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64];

/* A path inside the directory of this run; valid until eight more calls. */
static const char *in_directory(const char *name)
{
    static char paths[8][400];
    static size_t next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static size_t entries(void)
{
    size_t count = 0;
    DIR *dir = opendir(directory);
    for (struct dirent *entry; (entry = readdir(dir));) count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/rung-test-file-XXXXXX");
    return mkdtemp(directory) && chmod(directory, 0755) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    DIR *dir = opendir(directory);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            unlink(in_directory(entry->d_name));
            rmdir(in_directory(entry->d_name));
        }
    closedir(dir);
    return rmdir(directory);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void assert_content(const char *path, const void *bytes, size_t size)
{
    rung_file_map map;
    assert_int_equal(rung_file_open_map(&map, path, NULL), RUNG_OK);
    assert_int_equal(map.size, size);
    assert_non_null(map.bytes);
    assert_memory_equal(map.bytes, bytes, size);
    rung_file_close_map(&map);
}

/* Runs the check as a user without privileges, whoever runs the test. */
static void as_nobody(void (*check)(void))
{
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(9);
        check();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* cmocka's asserts do not work in a child; this says which line was wrong through the exit status of the child. */
#define CHILD_EXPECT(condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* ---- reading ------------------------------------------------------------------------------------------------------- */

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 300000};
    uint8_t *bytes = malloc(300000);
    rung_rng rng;
    rung_rng_init(&rng, 1, 0, 0);
    for (size_t i = 0; i < 300000; i++) bytes[i] = (uint8_t)rung_rng_u64(&rng);
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
        assert_int_equal(rung_file_write(in_directory("data"), bytes, sizes[i], NULL), RUNG_OK);
        assert_content(in_directory("data"), bytes, sizes[i]);
    }
    assert_int_equal(entries(), 1);
    free(bytes);
}

static void expect_no_map(const char *path, const char *reason)
{
    rung_file_map map;
    rung_error err = {""};
    assert_int_equal(rung_file_open_map(&map, path, &err), RUNG_INPUT);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, reason));
    assert_int_equal(map.size, 0);
    rung_file_close_map(&map); /* harmless */
}

static void missing_files_and_directories_are_refused_by_name(void **state)
{
    (void)state;
    expect_no_map(in_directory("missing"), "No such file");
    expect_no_map(directory, "directory");
    rung_file_write(in_directory("plain"), "x", 1, NULL);
    expect_no_map(in_directory("plain/below"), "Not a directory");
}

static void check_unreadable(void)
{
    rung_file_map map;
    rung_error err = {""};
    CHILD_EXPECT(rung_file_open_map(&map, in_directory("secret"), &err) == RUNG_INPUT);
    CHILD_EXPECT(strstr(err.text, in_directory("secret")));
    CHILD_EXPECT(strstr(err.text, "permission"));
}

static void unreadable_files_are_refused_by_name(void **state)
{
    (void)state;
    rung_file_write(in_directory("secret"), "x", 1, NULL);
    chmod(in_directory("secret"), 0);
    as_nobody(check_unreadable);
}

static void pipes_are_read_to_their_end(void **state)
{
    (void)state;
    enum { SIZE = 200000 };
    static uint8_t bytes[SIZE];
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (uint8_t)(i * i >> 3);
    assert_int_equal(mkfifo(in_directory("pipe"), 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        FILE *pipe = fopen(in_directory("pipe"), "wb");
        _exit(fwrite(bytes, 1, SIZE, pipe) == SIZE && fclose(pipe) == 0 ? 0 : 1);
    }
    assert_content(in_directory("pipe"), bytes, SIZE);
    waitpid(child, NULL, 0);
    assert_content("/dev/null", "", 0);
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static void readers_see_the_old_file_until_commit(void **state)
{
    (void)state;
    const char *path = in_directory("table");
    rung_file_writer writer;
    rung_file_write(path, "old", 3, NULL);
    assert_int_equal(rung_file_begin(&writer, path, NULL), RUNG_OK);
    fputs("half of it", writer.stream);
    fflush(writer.stream);
    assert_content(path, "old", 3);
    assert_int_equal(strncmp(writer.temporary, writer.path, strlen(writer.path)), 0);
    assert_non_null(strstr(writer.temporary, ".tmp-"));
    fputs(" and the rest", writer.stream);
    assert_int_equal(rung_file_commit(&writer, NULL), RUNG_OK);
    assert_content(path, "half of it and the rest", 23);
    assert_int_equal(entries(), 1);
    assert_null(writer.stream);
}

static void abandoning_leaves_no_trace(void **state)
{
    (void)state;
    rung_file_writer writer;
    rung_file_write(in_directory("kept"), "old", 3, NULL);
    assert_int_equal(rung_file_begin(&writer, in_directory("kept"), NULL), RUNG_OK);
    fputs("new", writer.stream);
    rung_file_abandon(&writer);
    assert_content(in_directory("kept"), "old", 3);
    assert_int_equal(rung_file_begin(&writer, in_directory("never"), NULL), RUNG_OK);
    rung_file_abandon(&writer);
    rung_file_abandon(&writer); /* harmless */
    assert_int_equal(entries(), 1);
}

static void two_writers_of_one_file_do_not_meet(void **state)
{
    (void)state;
    rung_file_writer writers[20];
    for (int i = 0; i < 20; i++) {
        assert_int_equal(rung_file_begin(&writers[i], in_directory("same"), NULL), RUNG_OK);
        fprintf(writers[i].stream, "%02d", i);
    }
    assert_int_equal(entries(), 20);
    for (int i = 0; i < 20; i++) {
        char text[16];
        assert_int_equal(rung_file_commit(&writers[i], NULL), RUNG_OK);
        snprintf(text, sizeof text, "%02d", i);
        assert_content(in_directory("same"), text, 2);
    }
    assert_int_equal(entries(), 1);
}

static void mode_follows_the_umask_and_old_modes_stay(void **state)
{
    (void)state;
    mode_t old = umask(027);
    rung_file_write(in_directory("new"), "x", 1, NULL);
    umask(0);
    rung_file_write(in_directory("open"), "x", 1, NULL);
    umask(old);
    assert_int_equal(mode_of(in_directory("new")), 0640);
    assert_int_equal(mode_of(in_directory("open")), 0666);
    chmod(in_directory("open"), 0600);
    rung_file_write(in_directory("open"), "y", 1, NULL);
    assert_int_equal(mode_of(in_directory("open")), 0600);
}

static void links_stay_links(void **state)
{
    (void)state;
    struct stat info;
    rung_file_write(in_directory("target"), "old", 3, NULL);
    assert_int_equal(symlink("target", in_directory("link")), 0);
    assert_int_equal(rung_file_write(in_directory("link"), "new", 3, NULL), RUNG_OK);
    assert_int_equal(lstat(in_directory("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_content(in_directory("target"), "new", 3);
}

static void devices_are_written_and_not_replaced(void **state)
{
    (void)state;
    struct stat info;
    assert_int_equal(rung_file_write("/dev/null", "gone", 4, NULL), RUNG_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void full_disks_are_reported_by_name(void **state)
{
    (void)state;
    rung_error err = {""};
    rung_file_writer writer;
    assert_int_equal(rung_file_write("/dev/full", "x", 1, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "/dev/full"));
    assert_non_null(strstr(err.text, "space"));
    /* A failure in the middle, long forgotten by the last call. */
    err.text[0] = '\0';
    assert_int_equal(rung_file_begin(&writer, "/dev/full", &err), RUNG_OK);
    for (int i = 0; i < 100000; i++) fputc('x', writer.stream);
    assert_int_equal(rung_file_commit(&writer, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "/dev/full"));
}

/* The limit on the file size stands for a disk that was full for a moment only. */
static void a_hole_in_the_middle_is_never_committed(void **state)
{
    (void)state;
    struct rlimit before, low;
    rung_file_writer writer;
    rung_error err = {""};
    assert_int_equal(rung_file_begin(&writer, in_directory("hole"), &err), RUNG_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    low = before;
    low.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &low);
    for (int i = 0; i < 100000; i++) fputc('x', writer.stream);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(rung_file_commit(&writer, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "hole"));
    assert_int_equal(entries(), 0);
}

static void expect_no_begin(const char *path)
{
    rung_file_writer writer;
    rung_error err = {""};
    assert_int_equal(rung_file_begin(&writer, path, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, path));
    assert_null(writer.stream);
    assert_int_equal(rung_file_write(path, "x", 1, NULL), RUNG_SYSTEM);
}

static void impossible_targets_are_refused_by_name(void **state)
{
    (void)state;
    expect_no_begin(in_directory("no/such/place"));
    expect_no_begin(directory);
    expect_no_begin("");
}

static void directories_are_made_with_their_parents(void **state)
{
    (void)state;
    struct stat info;
    rung_error err = {""};
    assert_int_equal(rung_directory_make(in_directory("a/b//c/"), &err), RUNG_OK);
    assert_true(stat(in_directory("a/b/c"), &info) == 0 && S_ISDIR(info.st_mode));
    assert_int_equal(rung_directory_make(in_directory("a/b"), &err), RUNG_OK); /* there already */
    assert_int_equal(rung_file_write(in_directory("a/file"), "x", 1, &err), RUNG_OK);
    assert_int_equal(rung_directory_make(in_directory("a/file/d"), &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "a/file/d"));
    assert_int_equal(rung_directory_make(in_directory("a/file"), &err), RUNG_SYSTEM);
    assert_int_equal(rung_directory_make("", &err), RUNG_SYSTEM);
    assert_int_equal(unlink(in_directory("a/file")) | rmdir(in_directory("a/b/c")) | rmdir(in_directory("a/b")), 0);
}

static void failed_rename_leaves_no_temporary_file(void **state)
{
    (void)state;
    rung_file_writer writer;
    rung_error err = {""};
    assert_int_equal(rung_file_begin(&writer, in_directory("late"), &err), RUNG_OK);
    fputs("x", writer.stream);
    assert_int_equal(mkdir(in_directory("late"), 0755), 0); /* somebody was faster */
    assert_int_equal(rung_file_commit(&writer, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "late"));
    assert_int_equal(entries(), 1);
}

static void check_forbidden(void)
{
    rung_error err = {""};
    CHILD_EXPECT(rung_file_write(in_directory("new"), "x", 1, &err) == RUNG_SYSTEM);
    CHILD_EXPECT(strstr(err.text, in_directory("new")) && strstr(err.text, "permissions"));
    CHILD_EXPECT(rung_file_write(in_directory("dir/fixed"), "x", 1, &err) == RUNG_SYSTEM);
}

/* A directory that others may write does not make its read-only files replaceable. */
static void permissions_are_respected(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_directory("dir"), 0755), 0);
    chmod(in_directory("dir"), 0777);
    rung_file_write(in_directory("dir/fixed"), "old", 3, NULL);
    chmod(in_directory("dir/fixed"), 0444);
    chmod(directory, 0555);
    as_nobody(check_forbidden);
    chmod(directory, 0755);
    assert_content(in_directory("dir/fixed"), "old", 3);
    unlink(in_directory("dir/fixed"));
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(what_is_written_is_read),
        FILE_TEST(missing_files_and_directories_are_refused_by_name),
        FILE_TEST(unreadable_files_are_refused_by_name),
        FILE_TEST(pipes_are_read_to_their_end),
        FILE_TEST(readers_see_the_old_file_until_commit),
        FILE_TEST(abandoning_leaves_no_trace),
        FILE_TEST(two_writers_of_one_file_do_not_meet),
        FILE_TEST(mode_follows_the_umask_and_old_modes_stay),
        FILE_TEST(links_stay_links),
        FILE_TEST(devices_are_written_and_not_replaced),
        FILE_TEST(full_disks_are_reported_by_name),
        FILE_TEST(a_hole_in_the_middle_is_never_committed),
        FILE_TEST(impossible_targets_are_refused_by_name),
        FILE_TEST(directories_are_made_with_their_parents),
        FILE_TEST(failed_rename_leaves_no_temporary_file),
        FILE_TEST(permissions_are_respected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
