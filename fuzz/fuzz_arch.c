/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: an architecture string. What is read has legal sizes, and what is printed reads back to the same
 * layers; what is refused has a message that fits.
 */
#include "rung/model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

static void check_layers(const rung_arch *arch)
{
    require(arch->layer_count >= 1 && arch->layer_count <= RUNG_LAYERS_MAX);
    for (size_t i = 0; i < arch->layer_count; i++) {
        require(arch->layer[i].group_count >= 1 && arch->layer[i].group_count <= RUNG_GROUPS_MAX);
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            require(rung_mech_check(conf, NULL) == RUNG_OK);
            require(rung_mech_state_elements(conf, 1) > 0);
            rung_mech_state_elements(conf, SIZE_MAX); /* may saturate, may not overflow */
        }
    }
}

static bool print_and_parse(rung_buf *text, const rung_arch *arch, const rung_arch_defaults *defaults)
{
    rung_arch again;
    rung_buf second;
    rung_buf_init(&second);
    rung_arch_print(text, arch);
    require(rung_buf_ok(text, NULL) == RUNG_OK);
    require(rung_arch_parse(&again, text->text, defaults, NULL) == RUNG_OK);
    bool same = again.layer_count == arch->layer_count;
    rung_arch_print(&second, &again);
    same = same && second.len == text->len && memcmp(second.text, text->text, text->len) == 0;
    rung_arch_clear(&again), rung_buf_clear(&second);
    return same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const rung_arch_defaults defaults = {.heads = 2, .dk = 4, .dv = 8, .causal = true};
    rung_arch arch;
    rung_error err = {""};
    rung_buf text;
    rung_buf_init(&text);
    char *input = calloc(size + 1, 1);
    require(input != NULL);
    if (size) memcpy(input, data, size);
    rung_status status = rung_arch_parse(&arch, input, &defaults, &err);
    if (status == RUNG_OK) {
        check_layers(&arch);
        require(print_and_parse(&text, &arch, &defaults));
    } else {
        require(status == RUNG_USAGE && strncmp(err.text, "arch string, column ", 20) == 0);
        require(arch.layer_count == 0 && !arch.layer);
    }
    rung_arch_clear(&arch);
    rung_buf_clear(&text);
    free(input);
    return 0;
}
