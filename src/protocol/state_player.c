/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What does not grow with the position passes along the line. The player receives the carried numbers after the last
 * token before its own, continues from there, and passes them on. A window is such a state, and so is what short
 * convolutions need, whatever mechanism follows them.
 */
#include "player.h"

#include <string.h>

bool rung_state_of_mech(const rung_mech_conf *conf)
{
    return conf->mech->carry(conf, 1).cache == 0;
}

size_t rung_state_elements(const rung_mech_conf *conf, size_t tokens)
{
    size_t mech = rung_state_of_mech(conf) ? rung_mech_state_elements(conf, tokens) : 0;
    return mech + rung_head_group_conv_elements(conf);
}

/* Runs the player's tokens through the mechanism, from `state` after p->start tokens to its last token. */
static rung_status continue_from(player *p, double *state, epoch *e)
{
    size_t scratch = e->conf->mech->scratch(e->conf, p->start + p->tokens);
    rung_stretch_exact s = {.conf = e->conf,
                            .fmt = e->fmt,
                            .o = p->o,
                            .state = state,
                            .pos = p->start,
                            .tokens = p->tokens,
                            .scratch = rung_epoch_numbers(e, scratch, 1),
                            .scratch_size = scratch};
    if (!s.scratch) return RUNG_SYSTEM;
    memcpy(s.in, p->seen, sizeof s.in);
    rung_stretch_scan_exact(&s, 1);
    return RUNG_OK;
}

rung_status rung_state_turn(player *p, double **numbers, const rung_letter *in, epoch *e)
{
    bool mech = rung_state_of_mech(e->conf);
    size_t conv = rung_head_group_conv_elements(e->conf), end = p->start + p->tokens;
    size_t before = rung_state_elements(e->conf, p->start) - conv, after = rung_state_elements(e->conf, end) - conv;
    double *state = rung_epoch_numbers(e, mech ? rung_mech_state_capacity(e->conf, end) : 0, 1);
    double *received = rung_epoch_numbers(e, before + conv, 1);
    *numbers = rung_epoch_numbers(e, after + conv, 1);
    if (!state || !received || !*numbers) return RUNG_SYSTEM;
    if (in) {
        rung_letter_unpack(received, in, e);
        memcpy(state, received, before * sizeof *state);
        memcpy(p->conv, received + before, conv * sizeof *p->conv);
    }
    rung_player_inputs(p, e);
    rung_status status = mech ? continue_from(p, state, e) : RUNG_OK;
    memcpy(*numbers, state, after * sizeof *state);
    memcpy(*numbers + after, p->conv, conv * sizeof *p->conv);
    return status;
}
