/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A zip archive in memory: its members, found through the central directory and checked against the local
 * headers. Private to io.
 */
#ifndef RUNG_IO_ZIP_H
#define RUNG_IO_ZIP_H

#include "io_internal.h"

typedef struct io_zip_member {
    const char *name;
    bool deflated;
    uint32_t crc;
    size_t packed, unpacked;   /* bytes in the archive and after inflating */
    size_t header_at, data_at; /* of the local header and of the data that follow it */
} io_zip_member;

typedef struct io_zip {
    const uint8_t *bytes;
    size_t size;
    io_zip_member *members; /* in the order of the directory */
    size_t count;
} io_zip;

/* Members and names come from the arena; the bytes are borrowed. Messages do not name the archive; the caller adds its
 * name. */
rung_status io_zip_open(io_zip *zip, rung_arena *arena, const void *bytes, size_t size, rung_error *err);
/* Returns the content of a member: borrowed from the archive if stored, from the arena if deflated. Checks the CRC. */
rung_status io_zip_read(const uint8_t **out, rung_arena *arena, const io_zip *zip, const io_zip_member *member,
                        rung_error *err);

#endif
