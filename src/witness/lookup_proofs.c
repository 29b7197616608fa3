/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Proofs about look-ups by rotary positions. What is proved depends on the sizes of the block, the angles, the table
 * and the numbers, and on nothing else of a file. So a proof is made once and kept under these.
 */
#include "lookup_proofs.h"

#include <stdlib.h>
#include <string.h>

#include "rung/par.h"

typedef struct kept {
    rotary_lookup sizes;
    char numbers[16];
    rung_softmax softmax;
    rung_finding finding;
} kept;

struct rung_lookup_proofs {
    rung_mutex mutex;
    kept *at;
    size_t count, room;
};

rung_status rung_lookup_proofs_new(rung_lookup_proofs **out, rung_error *err)
{
    *out = rung_calloc(1, sizeof **out, err);
    if (!*out) return RUNG_SYSTEM;
    rung_mutex_init(&(*out)->mutex);
    return RUNG_OK;
}

void rung_lookup_proofs_free(rung_lookup_proofs *proofs)
{
    if (!proofs) return;
    rung_mutex_clear(&proofs->mutex);
    free(proofs->at);
    free(proofs);
}

size_t rung_lookup_proofs_count(const rung_lookup_proofs *proofs)
{
    return proofs->count;
}

/* Field by field: a struct may have bytes between its fields. */
static bool same_sizes(const rotary_lookup *a, const rotary_lookup *b)
{
    return a->hidden == b->hidden && a->head == b->head && a->rotated == b->rotated && a->theta == b->theta &&
           a->wave == b->wave && a->entries == b->entries && a->bits == b->bits && a->pairs == b->pairs &&
           a->sharp == b->sharp;
}

static const kept *find(const rung_lookup_proofs *p, const rotary_lookup *l, const rung_evaluator *how)
{
    for (size_t i = 0; i < p->count; i++)
        if (same_sizes(&p->at[i].sizes, l) && strcmp(p->at[i].numbers, how->numbers->name) == 0 &&
            p->at[i].softmax == how->softmax)
            return &p->at[i];
    return NULL;
}

static rung_status keep(rung_lookup_proofs *p, const rotary_lookup *l, const rung_evaluator *how,
                        const rung_finding *finding, rung_error *err)
{
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 16;
        kept *at = rung_calloc(room, sizeof *at, err);
        if (!at) return RUNG_SYSTEM;
        if (p->count) memcpy(at, p->at, p->count * sizeof *at);
        free(p->at);
        p->at = at, p->room = room;
    }
    kept *k = &p->at[p->count++];
    *k = (kept){.sizes = *l, .softmax = how->softmax, .finding = *finding};
    snprintf(k->numbers, sizeof k->numbers, "%s", how->numbers->name);
    return RUNG_OK;
}

static rung_status prove(rung_finding *found, const rotary_lookup *l, const rung_evaluator *how, rung_error *err)
{
    rotary_lookup all = *l;
    rung_model *model = NULL;
    all.values = (size_t)1 << l->bits;
    *found = (rung_finding){.evidence = RUNG_PROVED};
    rung_status status = rotary_build(&model, &all, NULL, err);
    RUNG_NEXT(status, rotary_prove(&found->right, found->reason, sizeof found->reason, model, &all, how, err));
    rung_model_close(model);
    return status;
}

/* The lock is held while a proof is made: other threads would make the same one. */
rung_status lookup_prove(rung_finding *found, rung_lookup_proofs *proofs, const rotary_lookup *l,
                         const rung_evaluator *how, rung_error *err)
{
    rung_status status = RUNG_OK;
    rung_mutex_lock(&proofs->mutex);
    const kept *known = find(proofs, l, how);
    if (known) {
        *found = known->finding;
    } else {
        status = prove(found, l, how, err);
        RUNG_NEXT(status, keep(proofs, l, how, found, err));
    }
    rung_mutex_unlock(&proofs->mutex);
    return status;
}
