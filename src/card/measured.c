/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The measured law beside the proved limit. A prediction resamples the measured cells, which takes milliseconds, so
 * cards of layers with the same sizes share it.
 */
#include <stdlib.h>
#include <string.h>

#include "card_inside.h"
#include "rung/par.h"

typedef struct kept {
    char mechanism[48];
    rung_recall_state state;
    rung_recall_answer answer;
} kept;

struct rung_card_law {
    rung_mutex mutex;
    rung_recall_law *law;
    kept *at;
    size_t count, room;
};

rung_status rung_card_law_new(rung_card_law **out, rung_error *err)
{
    size_t count;
    const rung_recall_cell *cells = rung_recall_cells(&count);
    *out = rung_calloc(1, sizeof **out, err);
    if (!*out) return RUNG_SYSTEM;
    rung_mutex_init(&(*out)->mutex);
    rung_status status = rung_recall_law_new(&(*out)->law, cells, count, err);
    if (status != RUNG_OK) {
        rung_card_law_free(*out);
        *out = NULL;
    }
    return status;
}

void rung_card_law_free(rung_card_law *law)
{
    if (!law) return;
    rung_mutex_clear(&law->mutex);
    rung_recall_law_free(law->law);
    free(law->at);
    free(law);
}

/* ---- one layer --------------------------------------------------------------------------------------------------- */

/* The sort of layer with a state that is there most often. */
static const rung_ledger_layer *most_frequent(const rung_ledger *ledger)
{
    const rung_ledger_layer *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < ledger->layer_count; i++) {
        size_t count = 0;
        if (!ledger->layer[i].recurrent) continue;
        for (size_t j = 0; j < ledger->layer_count; j++)
            count += rung_ledger_layer_same(&ledger->layer[i], &ledger->layer[j]);
        if (count > most) most = count, best = &ledger->layer[i];
    }
    return best;
}

static const kept *find(const rung_card_law *law, const kept *key)
{
    for (size_t i = 0; i < law->count; i++)
        if (strcmp(law->at[i].mechanism, key->mechanism) == 0 && law->at[i].state.heads == key->state.heads &&
            law->at[i].state.dk == key->state.dk && law->at[i].state.dv == key->state.dv)
            return &law->at[i];
    return NULL;
}

static rung_status keep(rung_card_law *law, const kept *one, rung_error *err)
{
    if (law->count == law->room) {
        size_t room = law->room ? 2 * law->room : 16;
        kept *at = rung_calloc(room, sizeof *at, err);
        if (!at) return RUNG_SYSTEM;
        if (law->count) memcpy(at, law->at, law->count * sizeof *at);
        free(law->at);
        law->at = at, law->room = room;
    }
    law->at[law->count++] = *one;
    return RUNG_OK;
}

static rung_status predict(kept *one, rung_card_law *law, rung_error *err)
{
    rung_recall_question question = {.mechanism = one->mechanism,
                                     .state = one->state,
                                     .values = RUNG_CARD_LAW_VALUES,
                                     .accuracy = RUNG_CARD_LAW_ACCURACY};
    rung_mutex_lock(&law->mutex);
    const kept *known = find(law, one);
    rung_status status = RUNG_OK;
    if (known) {
        *one = *known;
    } else {
        status = rung_recall_predict(&one->answer, law->law, &question, err);
        RUNG_NEXT(status, keep(law, one, err));
    }
    rung_mutex_unlock(&law->mutex);
    return status;
}

rung_status card_measured(rung_card_recall *recall, rung_card_law *law, const rung_ledger *ledger, rung_error *err)
{
    const rung_ledger_layer *layer = law ? most_frequent(ledger) : NULL;
    if (!layer) return RUNG_OK;
    kept one = {.state = {(size_t)layer->state_heads, (size_t)layer->state_key_dim, (size_t)layer->state_value_dim}};
    recall->asked_law = true;
    recall->law_mechanism = rung_held_mechanism(layer);
    recall->law_state = one.state;
    snprintf(one.mechanism, sizeof one.mechanism, "%s", recall->law_mechanism);
    if (!one.state.heads || !one.state.dk || !one.state.dv)
        one.answer.no_law = "its state is no matrix of keys by values, or the file does not say its shape";
    else
        RUNG_TRY(predict(&one, law, err));
    recall->measured = one.answer;
    return RUNG_OK;
}
