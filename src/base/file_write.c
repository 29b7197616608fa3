/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * file, writing: writes a temporary file beside the target, flushes it to disk, and renames it over the target. After a
 * crash there is the old file or the new one, never a part of one. Devices and pipes are written directly, because
 * renaming would replace /dev/null.
 */
#include "rung/base.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static rung_status fail_write(const char *path, int code, rung_error *err)
{
    const char *advice = code == ENOENT || code == ENOTDIR  ? "; create the directory first"
                         : code == EACCES || code == EPERM  ? "; check the permissions of file and directory"
                         : code == ENOSPC || code == EDQUOT ? "; free some space"
                         : code == EISDIR                   ? "; name a file inside it"
                                                            : "";
    return rung_fail(err, RUNG_SYSTEM, "cannot write '%s': %s%s", path, strerror(code), advice);
}

static void release(rung_file_writer *writer)
{
    free(writer->path);
    free(writer->temporary);
    *writer = (rung_file_writer){0};
}

/* Returns the path of the file that will be replaced. A symbolic link is followed, so it keeps pointing to that
 * file. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}

/* Creates a new file beside path and returns its descriptor, or -1. Not mkstemp, whose mode 0600 could be
 * corrected only by setting the umask of the whole process for a moment; here the umask applies by itself. */
static int create_beside(char **name, const char *path)
{
    size_t size = strlen(path) + sizeof ".tmp-0123456789abcdef";
    *name = malloc(size);
    if (!*name) return -1;
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        double now = rung_wall_s();
        uint64_t salt[4] = {(uint64_t)getpid(), (uint64_t)(now * 1e9), attempt, (uint64_t)(uintptr_t)*name};
        snprintf(*name, size, "%s.tmp-%08x", path, (unsigned)(uint32_t)rung_hash64(salt, sizeof salt));
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* Returns a descriptor to write to, or -1 with errno. An existing file must be writable, and keeps its permission
 * bits. */
static int open_target(rung_file_writer *writer)
{
    struct stat info;
    bool exists = stat(writer->path, &info) == 0;
    /* without this test a file without a name would be written, and only the rename would fail */
    if (!*writer->path) return errno = ENOENT, -1;
    if (exists && S_ISDIR(info.st_mode)) return errno = EISDIR, -1;
    if (exists && !S_ISREG(info.st_mode)) return open(writer->path, O_WRONLY | O_CLOEXEC);
    if (exists && access(writer->path, W_OK) != 0) return -1;
    int fd = create_beside(&writer->temporary, writer->path);
    if (fd >= 0 && exists) (void)!fchmod(fd, info.st_mode & 0777);
    return fd;
}

rung_status rung_file_begin(rung_file_writer *writer, const char *path, rung_error *err)
{
    *writer = (rung_file_writer){.path = resolve(path)};
    if (!writer->path) return fail_write(path, ENOMEM, err);
    int fd = open_target(writer), code = errno;
    if (fd < 0) {
        release(writer);
        return fail_write(path, code, err);
    }
    writer->stream = fdopen(fd, "wb");
    if (writer->stream) return RUNG_OK;
    code = errno;
    close(fd);
    rung_file_abandon(writer);
    return fail_write(path, code, err);
}

/* Closes the stream in any case. Returns 0 or the errno of the first failure. A write that failed earlier has set the
 * error flag of the stream, but its errno is lost. EINVAL and EROFS from fsync only mean that the target is a pipe or a
 * terminal. */
static int flush_and_close(FILE *stream)
{
    assert(stream);
    int code = ferror(stream) ? EIO : 0;
    if (fflush(stream) != 0 && code == 0) code = errno;
    if (code == 0 && fsync(fileno(stream)) != 0 && errno != EINVAL && errno != EROFS) code = errno;
    if (fclose(stream) != 0 && code == 0) code = errno;
    return code;
}

rung_status rung_file_commit(rung_file_writer *writer, rung_error *err)
{
    int code = flush_and_close(writer->stream);
    writer->stream = NULL;
    if (code == 0 && writer->temporary && rename(writer->temporary, writer->path) != 0) code = errno;
    if (code == 0) {
        release(writer);
        return RUNG_OK;
    }
    rung_status status = fail_write(writer->path, code, err);
    rung_file_abandon(writer);
    return status;
}

void rung_file_abandon(rung_file_writer *writer)
{
    if (writer->stream) fclose(writer->stream);
    if (writer->temporary) unlink(writer->temporary);
    release(writer);
}

rung_status rung_file_write(const char *path, const void *bytes, size_t len, rung_error *err)
{
    rung_file_writer writer;
    RUNG_TRY(rung_file_begin(&writer, path, err));
    if (fwrite(bytes, 1, len, writer.stream) == len) return rung_file_commit(&writer, err);
    rung_status status = fail_write(path, errno, err);
    rung_file_abandon(&writer);
    return status;
}

/* ---- directories ----------------------------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Cuts the path at each '/' in turn, makes what stands before it, and puts the '/' back. */
rung_status rung_directory_make(const char *path, rung_error *err)
{
    char *part = strdup(path);
    if (!part) return rung_fail(err, RUNG_SYSTEM, "%s: %s", path, strerror(ENOMEM));
    int code = *path ? 0 : ENOENT;
    for (char *at = part; code == 0 && *at;) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        char cut = *at;
        *at = '\0';
        if (mkdir(part, 0777) != 0) code = errno;
        if (code && is_directory(part)) code = 0;
        *at = cut;
    }
    free(part);
    if (code == 0) return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM, "cannot make the directory '%s': %s", path, strerror(code));
}
