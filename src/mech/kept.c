/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * How the carried numbers of a mechanism are stored when every quantity has its own format: units, rows, bits.
 */
#include "mech_rows.h"

rung_quantity rung_mech_kept_quantity(const rung_mech *mech)
{
    return mech->keeps == RUNG_KEEPS_TOKENS ? RUNG_QUANTITY_CACHE : RUNG_QUANTITY_STATE;
}

const rung_stored *rung_mech_stored(const rung_mech *mech, const rung_numbers *numbers, size_t tokens)
{
    if (rung_mech_kept_quantity(mech) == RUNG_QUANTITY_CACHE) return &numbers->of[RUNG_QUANTITY_CACHE];
    return rung_numbers_state_after(numbers, tokens);
}

rung_kept rung_mech_kept(const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv;
    if (conf->mech->keeps == RUNG_KEEPS_TOKENS) return (rung_kept){{{1, dk}, {1, dv}}};
    size_t head = rung_mech_state_elements(conf, 1) / conf->heads;
    return (rung_kept){{{head / dv, dv}, {1, head % dv}}};
}

size_t rung_kept_elements(const rung_kept *kept)
{
    return kept->part[0].rows * kept->part[0].row + kept->part[1].rows * kept->part[1].row;
}

size_t rung_kept_scales(const rung_kept *kept, const rung_stored *stored)
{
    size_t scales = 0;
    for (size_t p = 0; p < 2; p++) scales += kept->part[p].rows * rung_stored_scales(stored, kept->part[p].row);
    return scales;
}

uint64_t rung_kept_bits(const rung_kept *kept, const rung_stored *stored)
{
    uint64_t bits = 0;
    for (size_t p = 0; p < 2; p++) bits += rung_stored_bits(stored, kept->part[p].rows, kept->part[p].row);
    return bits;
}

uint64_t rung_mech_state_bits(const rung_mech_conf *conf, const rung_numbers *numbers, size_t tokens)
{
    size_t elements = rung_mech_state_elements(conf, tokens), bits;
    if (!numbers->mixed) return rung_size_mul(&bits, elements, (size_t)numbers->acc.bits) ? bits : UINT64_MAX;
    rung_kept kept = rung_mech_kept(conf);
    uint64_t each = rung_kept_bits(&kept, rung_mech_stored(conf->mech, numbers, tokens));
    if (elements == SIZE_MAX) return UINT64_MAX;
    return rung_size_mul(&bits, elements / rung_kept_elements(&kept), (size_t)each) ? bits : UINT64_MAX;
}
