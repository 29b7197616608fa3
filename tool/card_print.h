/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Cards for people: one screen each, or several side by side.
 */
#ifndef RUNG_TOOL_CARD_PRINT_H
#define RUNG_TOOL_CARD_PRINT_H

#include "rung/card.h"

void tool_card_print(rung_buf *out, const rung_card *card);
/* One column per card. */
void tool_cards_print(rung_buf *out, const rung_card *cards, size_t count);

#endif
