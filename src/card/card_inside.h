/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to card.
 */
#ifndef RUNG_CARD_INSIDE_H
#define RUNG_CARD_INSIDE_H

#include "rung/card.h"

/* What `write` writes, kept in the card's arena; NULL after an error. */
char *card_written(rung_card *card, void (*write)(rung_buf *out, const void *what), const void *what, rung_error *err);

/* A layer without its full heads. */
rung_ledger_layer card_recurrent_part(const rung_ledger_layer *layer);

/* What the law says of the most frequent layer with a state. */
rung_status card_measured(rung_card_recall *recall, rung_card_law *law, const rung_ledger *ledger, rung_error *err);

/* Fills abilities and recall. */
rung_status card_abilities(rung_card *card, const rung_subject *subject, const rung_card_options *options,
                           rung_error *err);

#endif
