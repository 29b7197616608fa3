/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Two-sum by DeepSeek sparse attention with k = 1: the query looks at one token. The indexer scores relu(cos(2 pi
 * (x+y)/M)), which is 1 at a partner of y and less elsewhere, so a partner is looked at if there is one. Otherwise some
 * other token is; where no score is positive all are 0 and the first token is taken. What it is must be checked: a
 * number returns the residue of its own partner, the query subtracts itself, and a table asks whether the difference is
 * 0. Other tokens return M, which is no residue.
 *
 * The softmax over one token returns its value exactly, so all that has to be right is that 1 beats cos(2 pi/M) after
 * rounding, and that numbers up to M are exact. One head of the indexer, DI = 2, dk = dv = 1.
 */
#include "address.h"
#include "two_sum_weights.h"

typedef struct coords {
    size_t key, query; /* of the indexer */
    size_t residue, difference, ones, zeros;
} coords;

static void write_tokens(rung_sheet *s, const two_sum_plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    address circle = address_init(ADDRESS_TRIG, p->modulus, 1);
    for (size_t x = 0; x < p->modulus; x++) {
        size_t partner = (p->modulus - x) % p->modulus, query = p->asking + x;
        address_key(&circle, &embed, x, c->key, x);
        sheet_set(&embed, x, c->residue, (double)partner);
        /* A key as a query: on the unit circle, where address_query would scale it. */
        address_key(&circle, &embed, query, c->query, partner);
        sheet_set(&embed, query, c->residue, (double)p->modulus);
        sheet_set(&embed, query, c->difference, -(double)x);
    }
    if (p->blank != SIZE_MAX) sheet_set(&embed, p->blank, c->residue, (double)p->modulus);
}

/* Differences of two numbers up to M, in a format that may have rounded M up to the next power of two. */
static void write_check(rung_sheet *s, const two_sum_plan *p, const coords *c)
{
    size_t most = (size_t)1 << sheet_bits_for(p->modulus), out[] = {c->ones, c->zeros};
    sheet_table table = sheet_add_table(s, 0, 2 * most + 1, &c->difference, 1, out, 2);
    for (size_t i = 0; i <= 2 * most; i++) {
        sheet_set(&table.keys, i, 0, (double)i - (double)most);
        sheet_set(&table.values, i, i == most ? 0 : 1, 1);
    }
}

void two_sum_build_dsa(rung_sheet *s, const two_sum_plan *p)
{
    coords c;
    c.key = sheet_coords(s, 2), c.query = sheet_coords(s, 2), c.residue = sheet_coords(s, 1);
    c.difference = sheet_coords(s, 1), c.ones = sheet_coords(s, 1), c.zeros = sheet_coords(s, 1);
    sheet_layers(s, "dsa:k=1:HI=1:DI=2:dk=1:dv=1");
    sheet_mlp(s, "table");
    write_tokens(s, p, &c);
    sheet_matrix iq = sheet_get(s, "layers.0.mix.0.iq.weight"), ik = sheet_get(s, "layers.0.mix.0.ik.weight");
    sheet_matrix iw = sheet_get(s, "layers.0.mix.0.iw.bias"), v = sheet_get(s, "layers.0.mix.0.v.weight");
    sheet_matrix out = sheet_get(s, "layers.0.out.weight");
    sheet_set_diagonal(&iq, 0, c.query, 2, 1);
    sheet_set_diagonal(&ik, 0, c.key, 2, 1);
    sheet_set(&iw, 0, 0, 1);
    sheet_set(&v, 0, c.residue, 1);
    sheet_set(&out, c.difference, 0, 1);
    write_check(s, p, &c);
    sheet_readout_numbers(s, c.ones, c.zeros, 1, 2);
}
