/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * hash: the vectors of NIST, every length around the block size against a digest made by another
 * implementation, and every way to cut the input.
 */
#include "rung/base.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void sha256_gives_the_digests_of_nist(void **state)
{
    (void)state;
    static const struct {
        const char *message, *digest;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmno"
         "pqrst"
         "nopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char hex[65];
    for (size_t i = 0; i < RUNG_COUNT(vectors); i++) {
        rung_sha256_hex(hex, vectors[i].message, strlen(vectors[i].message));
        assert_string_equal(hex, vectors[i].digest);
    }
    enum { MILLION = 1000000 };
    char *as = malloc(MILLION);
    memset(as, 'a', MILLION);
    rung_sha256_hex(hex, as, MILLION);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(as);
}

/* SHA-256 over the digests of all lengths 0..299 of the bytes i*i + length; computed with Python's hashlib.
 */
static void sha256_pads_every_length_right(void **state)
{
    (void)state;
    rung_sha256 all, one;
    uint8_t digest[32], bytes[300];
    char hex[65] = "";
    rung_sha256_init(&all);
    for (size_t len = 0; len < 300; len++) {
        for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)(i * i + len);
        rung_sha256_init(&one);
        rung_sha256_add(&one, bytes, len);
        rung_sha256_final(&one, digest);
        rung_sha256_add(&all, digest, sizeof digest);
    }
    rung_sha256_final(&all, digest);
    for (int i = 0; i < 32; i++) sprintf(hex + 2 * i, "%02x", digest[i]);
    assert_string_equal(hex, "93e41dbd7fe8af4a932e975985b011847b05a4fac1f28ded25c78df8403bfa03");
}

static void sha256_does_not_depend_on_the_pieces(void **state)
{
    (void)state;
    uint8_t bytes[1000], whole[32], pieces[32];
    rung_rng rng;
    rung_rng_init(&rng, 1, 0, 0);
    for (int trial = 0; trial < 3000; trial++) {
        size_t len = rung_rng_below(&rng, sizeof bytes), most = 1 + rung_rng_below(&rng, 200);
        for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)rung_rng_u64(&rng);
        rung_sha256 sha;
        rung_sha256_init(&sha);
        rung_sha256_add(&sha, bytes, len);
        rung_sha256_final(&sha, whole);
        rung_sha256_init(&sha);
        for (size_t at = 0; at < len;) {
            size_t piece = rung_rng_below(&rng, most + 1);
            if (piece > len - at) piece = len - at;
            rung_sha256_add(&sha, bytes + at, piece);
            at += piece;
        }
        rung_sha256_final(&sha, pieces);
        assert_memory_equal(whole, pieces, sizeof whole);
    }
}

/* Streams of random numbers are named by this hash, so it must never change. */
static void hash64_never_changes(void **state)
{
    (void)state;
    uint8_t bytes[256];
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
    assert_true(rung_hash64("", 0) == 0xefd01f60ba992926);
    assert_true(rung_hash64("a", 1) == 0x82a2a958a9bece5b);
    assert_true(rung_hash64("rung", 4) == 0xb0ae6f2f647e6f36);
    assert_true(rung_hash64(bytes, 256) == 0x2067db6dbd4efa06);
}

/* One flipped bit of an 8-byte key flips each bit of the hash about half of the time: 1000 +- 5 * 22. */
static void hash64_spreads_every_input_bit(void **state)
{
    (void)state;
    static uint32_t flips[64][64];
    rung_rng rng;
    rung_rng_init(&rng, 2, 0, 0);
    for (int trial = 0; trial < 2000; trial++) {
        uint64_t key = rung_rng_u64(&rng), hash = rung_hash64(&key, sizeof key);
        for (int in = 0; in < 64; in++) {
            uint64_t other = key ^ (uint64_t)1 << in, changed = hash ^ rung_hash64(&other, sizeof other);
            for (int out = 0; out < 64; out++) flips[in][out] += changed >> out & 1;
        }
    }
    for (int in = 0; in < 64; in++)
        for (int out = 0; out < 64; out++) assert_in_range(flips[in][out], 890, 1110);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_digests_of_nist),     cmocka_unit_test(sha256_pads_every_length_right),
        cmocka_unit_test(sha256_does_not_depend_on_the_pieces), cmocka_unit_test(hash64_never_changes),
        cmocka_unit_test(hash64_spreads_every_input_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
