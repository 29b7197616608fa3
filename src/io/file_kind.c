/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a file is, from how it begins: for messages about a file that was given in the place of another.
 */
#include "io_internal.h"

#include <string.h>

/* Beginnings that no other kind has. */
static const struct {
    const char *begin;
    size_t len;
    const char *kind;
} kinds[] = {
    {"rung-certificate ", 17, "a certificate (for rung explain and rung-check)"},
    {"GGUF", 4, "a GGUF file"},
    {"SQLite format 3", 16, "an SQLite file, such as a store of runs"},
    {"PK\x03\x04", 4, "a zip file, such as an npz or a state dict of PyTorch"},
    {"\x93NUMPY", 6, "an npy file"},
    {"\x7f"
     "ELF",
     4, "a program or a library"},
    {"\x1f\x8b", 2, "a compressed file (gzip)"},
    {"%PDF", 4, "a PDF"},
};

/* Eight bytes of a length that fits, then a brace: JSON and texts have no such length. */
static bool is_safetensors(const unsigned char *bytes, size_t size)
{
    return size > 8 && io_le64(bytes) <= IO_HEADER_MAX && bytes[8] == '{';
}

static bool is_text(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size && i < 512; i++)
        if (bytes[i] < ' ' && !memchr("\t\n\r\f", bytes[i], 4)) return false;
    return size > 0;
}

const char *rung_file_kind(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < RUNG_COUNT(kinds); i++)
        if (size >= kinds[i].len && memcmp(at, kinds[i].begin, kinds[i].len) == 0) return kinds[i].kind;
    if (size == 0) return "empty";
    if (is_safetensors(at, size)) return "a safetensors file, such as a model";
    if (!is_text(at, size)) return NULL;
    size_t blank = 0;
    while (blank < size && memchr(" \t\n\r", at[blank], 4)) blank++;
    return blank < size && (at[blank] == '{' || at[blank] == '[') ? "JSON" : "text";
}
