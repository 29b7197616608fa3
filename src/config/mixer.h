/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A recurrent mechanism as a reader sees it: sizes of layer i out of the file, elements into the ledger.
 */
#ifndef RUNG_CONFIG_MIXER_H
#define RUNG_CONFIG_MIXER_H

#include "reader.h"
#include "state_sizes.h"

typedef void mixer_fn(rung_ledger_layer *held, cfg_reader *r, size_t i);

/* The mixers of flash-linear-attention: mixer_fla.c */
mixer_fn cfg_mix_fla_expand, cfg_mix_fla_delta, cfg_mix_fla_deltaproduct, cfg_mix_fla_gsa, cfg_mix_fla_hgrn,
    cfg_mix_fla_hgrn2;

#endif
