/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * file, reading: a whole file as one read-only mapping. Pipes and devices cannot be mapped; they are read into
 * anonymous memory, so that closing works in the same way. If another process shortens a file while it is mapped, the
 * reader is killed by a signal. rung itself never shortens a file in place (see file_write.c).
 */
#include "rung/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t empty_file[1];

static const char *advice(int code)
{
    switch (code) {
    case ENOENT:
    case ENOTDIR:
        return "; check the path";
    case EACCES:
    case EPERM:
        return "; check its permissions";
    case EISDIR:
        return "; name a file inside it";
    case EMFILE:
    case ENFILE:
        return "; raise ulimit -n";
    default:
        return "";
    }
}

static bool is_shortage(int code)
{
    return code == ENOMEM || code == EMFILE || code == ENFILE;
}

static rung_status fail_read(const char *path, int code, rung_error *err)
{
    return rung_fail(err, is_shortage(code) ? RUNG_SYSTEM : RUNG_INPUT, "cannot read '%s': %s%s", path, strerror(code),
                     advice(code));
}

static int read_all(rung_buf *buf, int fd)
{
    char chunk[16384];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got == 0) return buf->failed ? ENOMEM : 0;
        if (got > 0) rung_buf_add(buf, chunk, (size_t)got);
        if (buf->failed) return ENOMEM;
        if (got < 0 && errno != EINTR) return errno;
    }
}

static int map_copy(rung_file_map *map, const rung_buf *buf)
{
    if (buf->len == 0) return 0;
    void *bytes = mmap(NULL, buf->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return errno;
    memcpy(bytes, buf->text, buf->len);
    *map = (rung_file_map){bytes, buf->len};
    return 0;
}

static int map_stream(rung_file_map *map, int fd)
{
    rung_buf buf;
    rung_buf_init(&buf);
    int code = read_all(&buf, fd);
    if (code == 0) code = map_copy(map, &buf);
    rung_buf_clear(&buf);
    return code;
}

static int map_regular(rung_file_map *map, int fd, off_t size)
{
    if (size == 0) return 0;
    if ((uintmax_t)size > SIZE_MAX) return ENOMEM;
    void *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) return errno;
    *map = (rung_file_map){bytes, (size_t)size};
    return 0;
}

/* Returns 0 or an errno. */
static int map_descriptor(rung_file_map *map, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return errno;
    if (S_ISDIR(info.st_mode)) return EISDIR;
    return S_ISREG(info.st_mode) ? map_regular(map, fd, info.st_size) : map_stream(map, fd);
}

rung_status rung_file_open_map(rung_file_map *map, const char *path, rung_error *err)
{
    *map = (rung_file_map){empty_file, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_read(path, errno, err);
    int code = map_descriptor(map, fd);
    close(fd);
    return code == 0 ? RUNG_OK : fail_read(path, code, err);
}

void rung_file_close_map(rung_file_map *map)
{
    if (map->size > 0) munmap((void *)(uintptr_t)map->bytes, map->size);
    *map = (rung_file_map){empty_file, 0};
}
