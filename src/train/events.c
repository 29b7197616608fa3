/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Event files of TensorBoard. A record is: length (8 bytes), masked CRC-32C of the length, the bytes, masked CRC-32C of
 * the bytes, all little endian. The bytes are a protocol buffer
 *   Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
 *   Summary { repeated Value value = 1; }  Value { string tag = 1; float simple_value = 2; }
 * of which only these fields are written.
 */
#include "rung/train.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct rung_events {
    FILE *stream;
    char *path;
    uint32_t table[256];
};

/* ---- checksums --------------------------------------------------------------------------------------------------- */

/* Castagnoli's polynomial, reflected. */
static void fill_table(uint32_t *table)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
        table[i] = c;
    }
}

static uint32_t masked_crc(const rung_events *events, const uint8_t *bytes, size_t count)
{
    uint32_t c = 0xffffffffu;
    for (size_t i = 0; i < count; i++) c = events->table[(c ^ bytes[i]) & 255] ^ c >> 8;
    c = ~c;
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

/* ---- protocol buffers -------------------------------------------------------------------------------------------- */

/* Messages are short: a tag and a few numbers. */
typedef struct message {
    uint8_t bytes[256];
    size_t count;
} message;

enum { WIRE_VARINT = 0, WIRE_DOUBLE = 1, WIRE_BYTES = 2, WIRE_FLOAT = 5, TAG_MAX = 128 };

static void put_fixed(message *m, uint64_t bits, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) m->bytes[m->count++] = (uint8_t)(bits >> 8 * i);
}

static void put_varint(message *m, uint64_t number)
{
    for (; number >= 128; number >>= 7) m->bytes[m->count++] = (uint8_t)(number | 128);
    m->bytes[m->count++] = (uint8_t)number;
}

static void put_key(message *m, unsigned field, unsigned wire)
{
    put_varint(m, field << 3 | wire);
}

static void put_bytes(message *m, unsigned field, const void *bytes, size_t count)
{
    put_key(m, field, WIRE_BYTES);
    put_varint(m, count);
    memcpy(m->bytes + m->count, bytes, count);
    m->count += count;
}

static void put_double(message *m, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(m, field, WIRE_DOUBLE);
    put_fixed(m, bits, 8);
}

static void put_float(message *m, unsigned field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(m, field, WIRE_FLOAT);
    put_fixed(m, bits, 4);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static rung_status write_record(rung_events *events, const message *m, rung_error *err)
{
    message head = {.count = 0}, tail = {.count = 0};
    put_fixed(&head, m->count, 8);
    put_fixed(&head, masked_crc(events, head.bytes, 8), 4);
    put_fixed(&tail, masked_crc(events, m->bytes, m->count), 4);
    bool ok = fwrite(head.bytes, 1, head.count, events->stream) == head.count &&
              fwrite(m->bytes, 1, m->count, events->stream) == m->count &&
              fwrite(tail.bytes, 1, tail.count, events->stream) == tail.count && fflush(events->stream) == 0;
    return ok ? RUNG_OK : rung_fail(err, RUNG_SYSTEM, "%s: %s", events->path, strerror(errno));
}

static rung_status begin_file(rung_events *events, double wall_s, rung_error *err)
{
    static const char version[] = "brain.Event:2";
    message m = {.count = 0};
    put_double(&m, 1, wall_s);
    put_bytes(&m, 3, version, strlen(version));
    return write_record(events, &m, err);
}

rung_status rung_events_open(rung_events **out, const char *directory, double wall_s, rung_error *err)
{
    rung_buf path;
    rung_events *events = rung_calloc(1, sizeof *events, err);
    if (!events) return RUNG_SYSTEM;
    rung_buf_init(&path);
    rung_buf_printf(&path, "%s/events.out.tfevents.%010.0f.rung", directory, wall_s);
    rung_status status = rung_buf_ok(&path, err);
    events->path = path.text; /* taken from the buffer */
    fill_table(events->table);
    RUNG_NEXT(status, rung_directory_make(directory, err));
    if (status == RUNG_OK && !(events->stream = fopen(events->path, "ab")))
        status = rung_fail(err, RUNG_SYSTEM, "%s: %s", events->path, strerror(errno));
    RUNG_NEXT(status, begin_file(events, wall_s, err));
    if (status != RUNG_OK) {
        rung_events_close(events);
        return status;
    }
    *out = events;
    return RUNG_OK;
}

rung_status rung_events_scalar(rung_events *events, const char *tag, float value, uint64_t step, double wall_s,
                               rung_error *err)
{
    message entry = {.count = 0}, summary = {.count = 0}, event = {.count = 0};
    if (strlen(tag) > TAG_MAX) return rung_fail(err, RUNG_USAGE, "the tag %.40s... is too long", tag);
    put_bytes(&entry, 1, tag, strlen(tag));
    put_float(&entry, 2, value);
    put_bytes(&summary, 1, entry.bytes, entry.count);
    put_double(&event, 1, wall_s);
    put_key(&event, 2, WIRE_VARINT);
    put_varint(&event, step);
    put_bytes(&event, 5, summary.bytes, summary.count);
    return write_record(events, &event, err);
}

void rung_events_close(rung_events *events)
{
    if (!events) return;
    if (events->stream) fclose(events->stream);
    free(events->path);
    free(events);
}
