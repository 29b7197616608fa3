/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The version, for programs that want to compare the library with the header they were compiled with.
 */
#include "rung/base.h"

const char *rung_version(void)
{
    return RUNG_VERSION;
}
