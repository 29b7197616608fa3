/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Where this program is: what belongs to it lies beside it.
 */
#include "rung/base.h"

#include <string.h>
#include <unistd.h>
#if defined(__APPLE__)
int _NSGetExecutablePath(char *path, uint32_t *size); /* of dyld */
#endif

static bool find_self(char *path, size_t size)
{
#if defined(__APPLE__)
    uint32_t room = (uint32_t)size;
    return _NSGetExecutablePath(path, &room) == 0;
#else
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
#endif
}

bool rung_beside_program(char *path, size_t size, const char *tail)
{
    char *slash = find_self(path, size) ? strrchr(path, '/') : NULL;
    const size_t room = slash ? size - (size_t)(slash + 1 - path) : 0;
    if (room <= strlen(tail)) {
        path[0] = '\0';
        return false;
    }
    memcpy(slash + 1, tail, strlen(tail) + 1);
    return true;
}
