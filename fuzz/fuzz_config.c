/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: a configuration, JSON or GGUF by its first bytes. The promises of a ledger are checked on whatever
 * is read: kinds that exclude each other, elements only where a mechanism holds them, sums that are the sums, a reason
 * for every premise.
 */
#include "rung/config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

static void check_layer(const rung_ledger_layer *held)
{
    bool attends = held->full || held->window || held->chunk || held->sparse;
    require(held->mlp != (attends || held->recurrent));
    require(held->full + held->window + held->chunk + held->sparse <= 1);
    require(held->mechanism[0] && memchr(held->mechanism, '\0', sizeof held->mechanism));
    require((held->heads > 0) == attends);
    require(held->state_elements == 0 || held->recurrent);
    require(held->extra_elements == 0 || held->recurrent);
    require(held->window_elements == 0 || held->window || held->chunk);
    require(held->kv_per_token == 0 || held->full || held->sparse);
    require(!(held->window || held->chunk) || held->window_size > 0);
    require((held->block > 0) == held->sparse);
    require(!held->levels || held->recurrent);
}

static void check_ledger(const rung_ledger *ledger)
{
    rung_ledger_sum sum = rung_ledger_total(ledger);
    uint64_t most = 0;
    require(ledger->layer_count > 0 && sum.total == ledger->layer_count);
    require(ledger->family && ledger->spelling && ledger->spelling[0] && strcmp(ledger->name, "fuzz") == 0);
    for (size_t i = 0; i < ledger->layer_count; i++) {
        check_layer(&ledger->layer[i]);
        if (ledger->layer[i].kv_per_token > most) most = ledger->layer[i].kv_per_token;
    }
    require(sum.largest.kv_per_token == most);
    require(sum.both <= sum.recurrent && sum.mlp + sum.recurrent <= sum.total);
    for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++)
        require(ledger->known[f].is <= RUNG_VIOLATED && ledger->known[f].why && ledger->known[f].why[0]);
    for (size_t i = 0; i < ledger->note_count; i++) require(ledger->note[i][0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rung_ledger ledger;
    rung_error err = {{0}};
    rung_status status = rung_ledger_open_bytes(&ledger, data, size, "fuzz", &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    require(status == RUNG_OK || status == RUNG_INPUT);
    if (status == RUNG_OK) check_ledger(&ledger);
    rung_ledger_clear(&ledger);
    return 0;
}
