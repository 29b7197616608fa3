/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The libraries behind files.
 */
#include <jansson.h>
#include <zlib.h>

#include "rung/io.h"

rung_part rung_part_jansson(void)
{
    return (rung_part){
        .name = "jansson", .version = JANSSON_VERSION, .gives = "JSON files", .package = "libjansson-dev"};
}

rung_part rung_part_zlib(void)
{
    return (rung_part){.name = "zlib", .version = zlibVersion(), .gives = "packed files", .package = "zlib1g-dev"};
}
