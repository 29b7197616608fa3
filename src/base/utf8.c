/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * utf8: well-formed sequences, after table 3-7 of the Unicode standard.
 */
#include "utf8.h"

#include <stdbool.h>

static bool within(unsigned char byte, unsigned char low, unsigned char high)
{
    return byte >= low && byte <= high;
}

/* The second byte has a narrower range after four of the lead bytes; all later ones are 80..BF. */
static bool second_byte_ok(unsigned char lead, unsigned char second)
{
    switch (lead) {
    case 0xe0:
        return within(second, 0xa0, 0xbf); /* below: overlong */
    case 0xed:
        return within(second, 0x80, 0x9f); /* above: surrogates */
    case 0xf0:
        return within(second, 0x90, 0xbf); /* below: overlong */
    case 0xf4:
        return within(second, 0x80, 0x8f); /* above: beyond U+10FFFF */
    default:
        return within(second, 0x80, 0xbf);
    }
}

static size_t length_by_lead(unsigned char lead)
{
    if (lead < 0x80) return 1;
    if (within(lead, 0xc2, 0xdf)) return 2;
    if (within(lead, 0xe0, 0xef)) return 3;
    if (within(lead, 0xf0, 0xf4)) return 4;
    return 0;
}

size_t rung_utf8_sequence(const char *text, size_t len)
{
    if (len == 0) return 0;
    const unsigned char *bytes = (const unsigned char *)text;
    size_t need = length_by_lead(bytes[0]);
    if (need > len) return 0;
    if (need >= 2 && !second_byte_ok(bytes[0], bytes[1])) return 0;
    for (size_t i = 2; i < need; i++)
        if (!within(bytes[i], 0x80, 0xbf)) return 0;
    return need;
}
