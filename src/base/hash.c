/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * hash: SHA-256 (FIPS 180-4) for artefacts that others check, and a fast 64-bit hash for tables. The latter
 * is not for anything that an adversary chooses.
 */
#include "rung/base.h"

#include <assert.h>
#include <string.h>

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static uint32_t load_be32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store_be32(uint8_t *bytes, uint32_t x)
{
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(x >> (24 - 8 * i));
}

/* FIPS 180-4, 6.2.2, step 1. */
static void expand_schedule(uint32_t w[64], const uint8_t block[64])
{
    for (int t = 0; t < 16; t++) w[t] = load_be32(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/* FIPS 180-4, 6.2.2, steps 2 to 4; v holds a..h of the standard. */
static void compress(uint32_t h[8], const uint8_t block[64])
{
    uint32_t w[64], v[8];
    expand_schedule(w, block);
    memcpy(v, h, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t s1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
        uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + choose + round_constants[t] + w[t];
        uint32_t s0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (int i = 0; i < 8; i++) h[i] += v[i];
}

void rung_sha256_init(rung_sha256 *sha)
{
    /* FIPS 180-4, 5.3.3: the same of the square roots of the first eight primes. */
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->h, first, sizeof first);
    sha->bytes = 0;
}

void rung_sha256_add(rung_sha256 *sha, const void *bytes, size_t len)
{
    assert(bytes || len == 0);
    const uint8_t *in = bytes;
    while (len > 0) {
        size_t used = sha->bytes % 64, take = 64 - used < len ? 64 - used : len;
        if (take == 64) {
            compress(sha->h, in);
        } else {
            memcpy(sha->block + used, in, take);
            if (used + take == 64) compress(sha->h, sha->block);
        }
        sha->bytes += take;
        in += take;
        len -= take;
    }
}

/* FIPS 180-4, 5.1.1: a one bit, zeros up to 56 modulo 64 bytes, the length in bits. */
void rung_sha256_final(rung_sha256 *sha, uint8_t digest[32])
{
    static const uint8_t padding[64] = {0x80};
    uint8_t length[8];
    uint64_t bits = sha->bytes * 8;
    store_be32(length, (uint32_t)(bits >> 32));
    store_be32(length + 4, (uint32_t)bits);
    rung_sha256_add(sha, padding, 1 + (119 - sha->bytes % 64) % 64);
    rung_sha256_add(sha, length, sizeof length);
    for (int i = 0; i < 8; i++) store_be32(digest + 4 * i, sha->h[i]);
}

void rung_sha256_hex(char hex[65], const void *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    rung_sha256 sha;
    uint8_t digest[32];
    rung_sha256_init(&sha);
    rung_sha256_add(&sha, bytes, len);
    rung_sha256_final(&sha, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[64] = '\0';
}

uint64_t rung_hash64(const void *bytes, size_t len)
{
    const uint8_t *in = bytes;
    uint64_t h = 0xcbf29ce484222325u; /* FNV offset basis and prime */
    for (size_t i = 0; i < len; i++) h = (h ^ in[i]) * 0x100000001b3u;
    /* The finalizer of MurmurHash3: FNV alone leaves the high bits of short keys poorly mixed. */
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}
