/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * All protocols of a kind as clauses: is there one that solves every instance of a tiny task? They can do more than layers
 * R^a F R^b with the same alphabets: the block of a table computes any function of it, and the last token is told every input
 * but the first table, and the first states after it. So what no such protocol does, no layers do. A solution is run on every
 * instance, without the solver.
 *
 * Two functions, Sa = 2^A, Sb = 2^B, C = 2^c. States of the first layers: sigma2 after z_2, sigma1 after z_1, sigma0 after
 * z_0. Accumulators of F over z_2: nu1 of w, which knows (w, sigma0); nu0 of z_0, which knows (z_0, sigma1); rho of the tokens of
 * z_1, which know sigma2 and the entries so far. States of the last layers: tau after z_2, and after z_1 `late`, a function
 * of tau, sigma2, z_1 and all rho. Sb = 1: no last layers, so nu0 and late are read by nobody.
 *
 * Without F: C = Sb = 1, and all that is known of the first table is sigma2.
 *
 * One function: sigma1 after the table, sigma0 after z_0, mu the accumulator of w over the table, late the last states after
 * z_0, any function of table and z_0.
 */
#ifndef RUNG_TESTS_SAT_PROTOCOL_H
#define RUNG_TESTS_SAT_PROTOCOL_H

#include "cnf.h"

typedef struct sat_sizes {
    int L, N0, n1, V, Sa, Sb, C;
} sat_sizes;

enum { FIRST_MAX = 256, SECOND_MAX = 27, N0_MAX = 4, W_MAX = 4, STATES_MAX = 4, PREFIX_MAX = 40 };

typedef struct sat_protocol {
    sat_sizes z;
    int first, second; /* how many tables z_L, and for two functions z_1 */
    cnf f;
    cell sigma2[FIRST_MAX], sigma1[STATES_MAX][SECOND_MAX], sigma0[STATES_MAX][N0_MAX];
    cell nu1[FIRST_MAX][W_MAX][STATES_MAX], nu0[FIRST_MAX][N0_MAX][STATES_MAX];
    cell tau[FIRST_MAX], rho[FIRST_MAX][PREFIX_MAX], late[FIRST_MAX][SECOND_MAX];
} sat_protocol;

static inline int power(int base, int exponent)
{
    int p = 1;
    while (exponent-- > 0) p *= base;
    return p;
}

static inline int digit(int number, int base, int place)
{
    return number / power(base, place) % base;
}

/* Entry (w, i) of the table z_2. */
static inline int entry(const sat_sizes *z, int table, int w, int i)
{
    return digit(table, z->V, w * z->N0 + i);
}

/* The first `count` >= 1 entries of z_1, all lengths numbered through. */
static inline int prefix(const sat_sizes *z, int table, int count)
{
    int before = 0;
    for (int k = 1; k < count; k++) before += power(z->N0, k);
    return before + table % power(z->N0, count);
}

/* from[letter of which] */
static inline cell looked_up(cnf *f, cell which, const cell *from)
{
    if (which.letters == 1) return from[0];
    cell out = cell_new(f, from[0].letters, from[0].letters);
    for (int k = 0; k < which.letters; k++) select_cell(f, out, which, k, from[k]);
    return out;
}

static inline int fewer(int a, int b)
{
    return a < b ? a : b;
}

/* Every letter is a name only, so that names can be given in the order of the tables: the i-th table needs none beyond i. */
static inline cell named_cell(cnf *f, int letters, int i)
{
    return cell_new(f, letters, fewer(i + 1, letters));
}

/* ---- two functions ---------------------------------------------------------------------------------------------------- */

static inline void two_early_cells(sat_protocol *p)
{
    const sat_sizes *z = &p->z;
    for (int i = 0; i < p->first; i++) p->sigma2[i] = named_cell(&p->f, z->Sa, i);
    for (int s = 0; s < z->Sa; s++) {
        for (int j = 0; j < p->second; j++) p->sigma1[s][j] = named_cell(&p->f, z->Sa, s ? z->Sa : j);
        for (int u = 0; u < z->N0; u++) p->sigma0[s][u] = named_cell(&p->f, z->Sa, s ? z->Sa : u);
    }
    for (int i = 0; i < p->first; i++)
        for (int s = 0; s < z->Sa; s++)
            for (int w = 0; w < z->n1; w++) p->nu1[i][w][s] = named_cell(&p->f, z->C, i);
}

static inline void two_late_cells(sat_protocol *p)
{
    const sat_sizes *z = &p->z;
    int prefixes = prefix(z, 0, z->N0 + 1);
    for (int i = 0; i < p->first; i++) {
        for (int u = 0; u < z->N0; u++)
            for (int s = 0; s < z->Sa; s++) p->nu0[i][u][s] = named_cell(&p->f, z->C, i);
        p->tau[i] = named_cell(&p->f, z->Sb, i);
        for (int k = 0; k < prefixes; k++) p->rho[i][k] = named_cell(&p->f, z->C, i);
        for (int j = 0; j < p->second; j++) p->late[i][j] = named_cell(&p->f, z->Sb, i);
    }
}

/* late differs between two first tables only if something does that it is made of. */
static inline void late_is_a_function(sat_protocol *p, int a, int b, int j)
{
    cnf *f = &p->f;
    int sources[N0_MAX + 2] = {differing(f, p->sigma2[a], p->sigma2[b]), differing(f, p->tau[a], p->tau[b])};
    for (int k = 1; k <= p->z.N0; k++) {
        int at = prefix(&p->z, j, k);
        sources[k + 1] = differing(f, p->rho[a][at], p->rho[b][at]);
    }
    for (int v = 0; v < p->z.Sb; v++) {
        for (int k = 0; k < p->z.N0 + 2; k++)
            if (sources[k]) say(f, sources[k]);
        CLAUSE(f, -(p->late[a][j].first + v), p->late[b][j].first + v);
    }
}

/* Two first tables with different answers must differ in something that the last token knows. */
static inline void told_apart(sat_protocol *p, int a, int b, size_t count, const cell (*known)[FIRST_MAX], cell late[2])
{
    cnf *f = &p->f;
    int ways[4] = {differing(f, p->sigma2[a], p->sigma2[b]), differing(f, late[0], late[1])};
    for (size_t k = 0; k < count; k++) ways[k + 2] = differing(f, known[k][a], known[k][b]);
    for (size_t k = 0; k < count + 2; k++)
        if (ways[k]) say(f, ways[k]);
    say(f, 0);
}

/* known[0][i], what w hears of the i-th first table, when z_1, z_0 and w are these, sigma0 is s0; known[1] is set already. */
static inline void two_answers(sat_protocol *p, cell (*known)[FIRST_MAX], const cell *s0, int j, int u, int w)
{
    int asked = digit(j, p->z.N0, u);
    for (int i = 0; i < p->first; i++) known[0][i] = looked_up(&p->f, s0[i], p->nu1[i][w]);
    for (int b = 0; b < p->first; b++)
        for (int a = 0; a < b; a++)
            if (entry(&p->z, a, w, asked) != entry(&p->z, b, w, asked))
                told_apart(p, a, b, 2, (const cell(*)[FIRST_MAX])known, (cell[]){p->late[a][j], p->late[b][j]});
}

static inline void two_run_of(sat_protocol *p, int j)
{
    const sat_sizes *z = &p->z;
    static cell s1[FIRST_MAX], s0[FIRST_MAX], known[2][FIRST_MAX];
    cell early[STATES_MAX], zero[STATES_MAX];
    for (int s = 0; s < z->Sa; s++) early[s] = p->sigma1[s][j];
    for (int i = 0; i < p->first; i++) s1[i] = looked_up(&p->f, p->sigma2[i], early);
    for (int u = 0; u < z->N0; u++) {
        for (int s = 0; s < z->Sa; s++) zero[s] = p->sigma0[s][u];
        for (int i = 0; i < p->first; i++) {
            s0[i] = looked_up(&p->f, s1[i], zero);
            known[1][i] = z->Sb > 1 ? looked_up(&p->f, s1[i], p->nu0[i][u]) : (cell){0};
        }
        for (int w = 0; w < z->n1; w++) two_answers(p, known, s0, j, u, w);
    }
}

static inline void two_encode(sat_protocol *p)
{
    const sat_sizes *z = &p->z;
    p->first = power(z->V, z->N0 * z->n1), p->second = power(z->N0, z->N0);
    assert_true(p->first <= FIRST_MAX && p->second <= SECOND_MAX && prefix(z, 0, z->N0 + 1) <= PREFIX_MAX);
    memset(p->late, 0, sizeof p->late);
    assert_true(z->Sa <= STATES_MAX);
    two_early_cells(p);
    if (z->Sb > 1) two_late_cells(p);
    for (int j = 0; j < p->second && z->Sb > 1; j++)
        for (int b = 0; b < p->first; b++)
            for (int a = 0; a < b; a++) late_is_a_function(p, a, b, j);
    for (int j = 0; j < p->second; j++) two_run_of(p, j);
}

/* ---- one function ------------------------------------------------------------------------------------------------------- */

/* sigma2 is sigma1, nu1[.][0] is mu, late[.][z_0]. */
static inline void one_answers(sat_protocol *p, int u)
{
    static cell heard[1][FIRST_MAX];
    cell zero[STATES_MAX];
    for (int s = 0; s < p->z.Sa; s++) zero[s] = p->sigma0[s][u];
    for (int i = 0; i < p->first; i++)
        heard[0][i] = looked_up(&p->f, looked_up(&p->f, p->sigma2[i], zero), p->nu1[i][0]);
    for (int b = 0; b < p->first; b++)
        for (int a = 0; a < b; a++)
            if (entry(&p->z, a, 0, u) != entry(&p->z, b, 0, u))
                told_apart(p, a, b, 1, (const cell(*)[FIRST_MAX])heard, (cell[]){p->late[a][u], p->late[b][u]});
}

static inline void one_encode(sat_protocol *p)
{
    const sat_sizes *z = &p->z;
    cnf *f = &p->f;
    p->first = power(z->V, z->N0);
    assert_true(p->first <= FIRST_MAX);
    memset(p->late, 0, sizeof p->late);
    for (int s = 0; s < z->Sa; s++)
        for (int u = 0; u < z->N0; u++) p->sigma0[s][u] = named_cell(f, z->Sa, s ? z->Sa : u);
    for (int i = 0; i < p->first; i++) {
        p->sigma2[i] = named_cell(f, z->Sa, i);
        for (int s = 0; s < z->Sa; s++) p->nu1[i][0][s] = named_cell(f, z->C, i);
        for (int u = 0; u < z->N0 && z->Sb > 1; u++) p->late[i][u] = named_cell(f, z->Sb, i);
    }
    for (int u = 0; u < z->N0; u++) one_answers(p, u);
}

/* ---- a solution at work --------------------------------------------------------------------------------------------------- */

/* The answer table of the last token: what it knows -> answer, -1 while unknown. False if it would have to answer twice. */
static inline bool answers(int *table, int at, int answer)
{
    if (table[at] >= 0) return table[at] == answer;
    table[at] = answer;
    return true;
}

static inline bool two_run(const sat_protocol *p, int *table, int i, int j, int u, int w)
{
    const sat_sizes *z = &p->z;
    const cnf *f = &p->f;
    int s2 = letter_of(f, p->sigma2[i]), s1 = letter_of(f, p->sigma1[s2][j]), s0 = letter_of(f, p->sigma0[s1][u]);
    int at = (j * z->N0 + u) * z->n1 + w;
    at = (at * z->Sa + s2) * z->C + letter_of(f, p->nu1[i][w][s0]);
    if (z->Sb > 1) at = (at * z->C + letter_of(f, p->nu0[i][u][s1])) * z->Sb + letter_of(f, p->late[i][j]);
    return answers(table, at, entry(z, i, w, digit(j, z->N0, u)));
}

/* late after z_1, from tau, sigma2 and rho. */
static inline bool late_follows(const sat_protocol *p, int a, int b, int j)
{
    const cnf *f = &p->f;
    bool same =
        letter_of(f, p->sigma2[a]) == letter_of(f, p->sigma2[b]) && letter_of(f, p->tau[a]) == letter_of(f, p->tau[b]);
    for (int k = 1; same && k <= p->z.N0; k++) {
        int at = prefix(&p->z, j, k);
        same = letter_of(f, p->rho[a][at]) == letter_of(f, p->rho[b][at]);
    }
    return !same || letter_of(f, p->late[a][j]) == letter_of(f, p->late[b][j]);
}

static inline bool one_run(const sat_protocol *p, int *table, int i, int u)
{
    const sat_sizes *z = &p->z;
    const cnf *f = &p->f;
    int s1 = letter_of(f, p->sigma2[i]), s0 = letter_of(f, p->sigma0[s1][u]);
    int at = (u * z->Sa + s1) * z->C + letter_of(f, p->nu1[i][0][s0]);
    if (z->Sb > 1) at = at * z->Sb + letter_of(f, p->late[i][u]);
    return answers(table, at, entry(z, i, 0, u));
}

/* Whether the protocol that was found answers every instance, and is one. */
static inline bool protocol_works(const sat_protocol *p)
{
    const sat_sizes *z = &p->z;
    int second = z->L == 2 ? p->second : 1;
    size_t room = (size_t)(second * z->N0 * z->n1 * z->Sa * z->C) * (size_t)(z->Sb > 1 ? z->C * z->Sb : 1);
    int *table = grown(NULL, room * sizeof *table);
    bool works = true;
    for (size_t i = 0; i < room; i++) table[i] = -1;
    for (int i = 0; works && i < p->first; i++)
        for (int u = 0; works && u < z->N0; u++) {
            if (z->L == 1) works = one_run(p, table, i, u);
            for (int j = 0; z->L == 2 && j < second; j++)
                for (int w = 0; works && w < z->n1; w++) works = two_run(p, table, i, j, u, w);
        }
    for (int j = 0; z->L == 2 && z->Sb > 1 && j < second; j++)
        for (int b = 0; works && b < p->first; b++)
            for (int a = 0; works && a < b; a++) works = late_follows(p, a, b, j);
    free(table);
    return works;
}

/* No full layer: the first table is known through Sa letters only. Sa may be large. */
static inline solved states_suffice(sat_protocol *p, const sat_sizes *z, int seconds)
{
    p->z = *z, p->first = power(z->V, z->N0 * z->n1);
    assert_true(p->first <= FIRST_MAX && z->C == 1 && z->Sb == 1);
    for (int i = 0; i < p->first; i++) p->sigma2[i] = named_cell(&p->f, z->Sa, i);
    for (int w = 0; w < z->n1; w++)
        for (int x = 0; x < z->N0; x++)
            for (int b = 0; b < p->first; b++)
                for (int a = 0; a < b; a++)
                    if (entry(z, a, w, x) != entry(z, b, w, x)) told_apart(p, a, b, 0, NULL, (cell[2]){{0}});
    solved s = cnf_solve(&p->f, seconds);
    for (int b = 0; s == SOLVED_SAT && b < p->first; b++)
        for (int a = 0; a < b; a++)
            assert_int_not_equal(letter_of(&p->f, p->sigma2[a]), letter_of(&p->f, p->sigma2[b]));
    cnf_clear(&p->f);
    return s;
}

static inline solved protocol_exists(sat_protocol *p, const sat_sizes *z, int seconds)
{
    p->z = *z;
    if (z->L == 2)
        two_encode(p);
    else
        one_encode(p);
    solved s = cnf_solve(&p->f, seconds);
    if (s == SOLVED_SAT && !protocol_works(p))
        fail_msg("L=%d N0=%d n1=%d V=%d Sa=%d Sb=%d C=%d: the protocol that was found is wrong", z->L, z->N0, z->n1,
                 z->V, z->Sa, z->Sb, z->C);
    cnf_clear(&p->f);
    return s;
}

#endif
