/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The libraries behind exact numbers.
 */
#include <gmp.h>
#include <mpfr.h>

#include "rung/num.h"

rung_part rung_part_gmp(void)
{
    return (rung_part){
        .name = "GMP", .version = gmp_version, .gives = "whole numbers of any size", .package = "libgmp-dev"};
}

rung_part rung_part_mpfr(void)
{
    return (rung_part){.name = "MPFR",
                       .version = mpfr_get_version(),
                       .gives = "numbers of any precision, with proved rounding",
                       .package = "libmpfr-dev"};
}
