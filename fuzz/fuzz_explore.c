/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: what a page asks of the explorer, up to the bytes of a dropped file and the commands that it would
 * show. Reading the file itself is the target `config`; deciding takes too long here.
 */
#include "../src/explore/look.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

static void check_look(const explore_look *look)
{
    require((look->input != NULL) + (look->arch != NULL) + (look->file_name != NULL) == 1);
    require(look->heads > 0 && look->head_dim > 0 && look->context >= 0 && look->batch > 0 && look->n > 0);
    rung_buf word, bytes;
    rung_error err;
    rung_buf_init(&word);
    rung_buf_init(&bytes);
    const char *name = look->arch ? look->arch : look->file_name;
    if (name) {
        explore_put_word(&word, name);
        require(word.len >= strlen(name) && word.len > 0);
    }
    if (look->file_base64 && explore_base64(&bytes, look->file_base64, &err) == RUNG_OK)
        require(bytes.len <= strlen(look->file_base64) / 4 * 3 + 2);
    rung_buf_clear(&word);
    rung_buf_clear(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const explore_input input = {.name = "full"};
    const rung_explorer explorer = {.input = (explore_input *)&input, .inputs = 1, .heads = 1, .head_dim = 1};
    rung_json_doc *doc = NULL;
    rung_error err;
    explore_look look;
    if (rung_json_parse(&doc, (const char *)data, size, "request", &err) == RUNG_OK &&
        explore_look_read(&look, rung_json_root(doc), &explorer, &err) == RUNG_OK)
        check_look(&look);
    rung_json_free(doc);
    return 0;
}
