/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * How ranks divide work. Rank r of s begins at floor(r * count / s), computed without the product.
 */
#include "rung/par.h"

#include <assert.h>

size_t rung_team_first(const rung_team *team, size_t rank, size_t count)
{
    assert(team->size > 0 && rank <= team->size);
    return count / team->size * rank + count % team->size * rank / team->size;
}
