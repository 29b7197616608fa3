/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Values of the block types of GGUF: a block holds small integers and the scales that turn them into numbers. Every
 * value is computed in float in the order in which ggml computes it, so the same floats come out.
 *
 * Blocks of 32 with a scale d (half): Q8_0, Q4_0, Q5_0, and with an offset m (half): Q4_1, Q5_1. Blocks of 256 with
 * scales of their own for 16 or 32 values, in units of d (and of a second half for offsets): Q4_K, Q5_K, Q6_K.
 */
#include "block.h"

#include <string.h>

enum { SMALL = 32, LARGE = 256 };

static float half_at(const uint8_t *byte)
{
    return (float)io_half_to_double(io_le16(byte));
}

static void decode_q8_0(float *out, const uint8_t *block)
{
    float scale = half_at(block);
    for (size_t i = 0; i < SMALL; i++) out[i] = scale * (float)(int8_t)block[2 + i];
}

/* Low nibbles are the first half of the block, high nibbles the second. */
static int nibble(const uint8_t *nibbles, size_t i)
{
    return i < SMALL / 2 ? nibbles[i] & 15 : nibbles[i - SMALL / 2] >> 4;
}

/* The same with a fifth bit from a word of 32 bits. */
static int five_bits(const uint8_t *fifth, const uint8_t *nibbles, size_t i)
{
    return nibble(nibbles, i) | (int)(io_le32(fifth) >> i & 1) << 4;
}

static void decode_q4_0(float *out, const uint8_t *block)
{
    float scale = half_at(block);
    for (size_t i = 0; i < SMALL; i++) out[i] = scale * (float)(nibble(block + 2, i) - 8);
}

static void decode_q4_1(float *out, const uint8_t *block)
{
    float scale = half_at(block), offset = half_at(block + 2);
    for (size_t i = 0; i < SMALL; i++) out[i] = scale * (float)nibble(block + 4, i) + offset;
}

static void decode_q5_0(float *out, const uint8_t *block)
{
    float scale = half_at(block);
    for (size_t i = 0; i < SMALL; i++) out[i] = scale * (float)(five_bits(block + 2, block + 6, i) - 16);
}

static void decode_q5_1(float *out, const uint8_t *block)
{
    float scale = half_at(block), offset = half_at(block + 2);
    for (size_t i = 0; i < SMALL; i++) out[i] = scale * (float)five_bits(block + 4, block + 8, i) + offset;
}

/* Q4_K and Q5_K: eight groups of 32 values with a 6-bit scale and a 6-bit offset each, packed into 12 bytes. */
typedef struct group_scale {
    int scale, offset;
} group_scale;

static group_scale group_scale_of(const uint8_t *packed, size_t group)
{
    if (group < 4) return (group_scale){packed[group] & 63, packed[group + 4] & 63};
    return (group_scale){(packed[group + 4] & 15) | packed[group - 4] >> 6 << 4,
                         packed[group + 4] >> 4 | packed[group] >> 6 << 4};
}

/* `fifth`: one bit a value (32 bytes), or NULL. Two groups share 32 bytes of nibbles: the first the low ones. */
static void decode_groups(float *out, const uint8_t *block, const uint8_t *fifth, const uint8_t *nibbles)
{
    float unit = half_at(block), offset_unit = half_at(block + 2);
    for (size_t group = 0; group < LARGE / SMALL; group++) {
        group_scale own = group_scale_of(block + 4, group);
        float scale = unit * (float)own.scale, offset = offset_unit * (float)own.offset;
        for (size_t i = 0; i < SMALL; i++) {
            int value = nibbles[group / 2 * SMALL + i] >> (group % 2 ? 4 : 0) & 15;
            if (fifth) value |= (fifth[i] >> group & 1) << 4;
            out[group * SMALL + i] = scale * (float)value - offset;
        }
    }
}

static void decode_q4_k(float *out, const uint8_t *block)
{
    decode_groups(out, block, NULL, block + 16);
}

static void decode_q5_k(float *out, const uint8_t *block)
{
    decode_groups(out, block, block + 16, block + 48);
}

/* Two halves of 128 values: 64 bytes of nibbles, 32 bytes of two further bits, 8 signed scales for 16 values each. */
static void decode_q6_k(float *out, const uint8_t *block)
{
    float unit = half_at(block + 208);
    for (size_t i = 0; i < LARGE; i++) {
        size_t half = i / 128, within = i % 128, quarter = within / 32, column = within % 32;
        int low = block[half * 64 + within % 64] >> (quarter / 2 ? 4 : 0) & 15;
        int high = block[128 + half * 32 + column] >> 2 * quarter & 3;
        int scale = (int8_t)block[192 + i / 16];
        out[i] = unit * (float)scale * (float)((low | high << 4) - 32);
    }
}

static const io_block BLOCKS[] = {
    {"Q4_0", SMALL, 18, decode_q4_0},  {"Q4_1", SMALL, 20, decode_q4_1},  {"Q5_0", SMALL, 22, decode_q5_0},
    {"Q5_1", SMALL, 24, decode_q5_1},  {"Q8_0", SMALL, 34, decode_q8_0},  {"Q4_K", LARGE, 144, decode_q4_k},
    {"Q5_K", LARGE, 176, decode_q5_k}, {"Q6_K", LARGE, 210, decode_q6_k},
};

const io_block *io_block_named(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(BLOCKS); i++)
        if (strcmp(BLOCKS[i].name, name) == 0) return &BLOCKS[i];
    return NULL;
}
