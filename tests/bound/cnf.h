/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Clauses about functions with few values, and the solver cadical that decides them. A cell is one unknown value of an
 * alphabet: one variable for each letter, exactly one of which is true.
 */
#ifndef RUNG_TESTS_CNF_H
#define RUNG_TESTS_CNF_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

typedef struct cell {
    int first;   /* the variable of letter 0 */
    int letters; /* 0: there is no such cell */
} cell;

typedef struct cnf {
    int *literal; /* clauses one after the other, each ended by 0 */
    size_t count, room, clauses;
    int variables;
    /* differing(): an open hash table from two variables to the one that says that their cells differ */
    struct pair {
        int a, b, var;
    } * pair;
    size_t pairs, pair_room;
    unsigned char *value; /* after solving: of every variable */
} cnf;

typedef enum solved { SOLVED_SAT, SOLVED_UNSAT, SOLVED_TIMEOUT } solved;

static inline void *grown(void *old, size_t bytes)
{
    void *bigger = realloc(old, bytes);
    assert_non_null(bigger);
    return bigger;
}

static inline void cnf_clear(cnf *f)
{
    free(f->literal);
    free(f->pair);
    free(f->value);
    *f = (cnf){0};
}

static inline void say(cnf *f, int literal)
{
    if (f->count == f->room) f->literal = grown(f->literal, (f->room = 2 * f->room + 1024) * sizeof *f->literal);
    f->literal[f->count++] = literal;
    if (literal == 0) f->clauses++;
}

static inline void clause(cnf *f, size_t count, const int *literals)
{
    for (size_t i = 0; i < count; i++) say(f, literals[i]);
    say(f, 0);
}

#define CLAUSE(f, ...) clause(f, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__})

/* A new cell; `allowed` is the number of letters that it may take, from 0 on. Letters that only name things are given out in
 * the order in which they are met: the i-th thing needs none beyond i. */
static inline cell cell_new(cnf *f, int letters, int allowed)
{
    cell c = {f->variables + 1, letters};
    f->variables += letters;
    for (int k = 0; k < letters; k++) say(f, c.first + k);
    say(f, 0);
    for (int k = 0; k < letters; k++)
        for (int m = 0; m < k; m++) CLAUSE(f, -(c.first + k), -(c.first + m));
    for (int k = allowed; k < letters; k++) CLAUSE(f, -(c.first + k));
    return c;
}

/* If `which` has letter k, then `out` is `from`. */
static inline void select_cell(cnf *f, cell out, cell which, int k, cell from)
{
    for (int v = 0; v < out.letters; v++) CLAUSE(f, -(which.first + k), -(from.first + v), out.first + v);
}

static inline struct pair *pair_slot(const cnf *f, int a, int b)
{
    int key[2] = {a, b};
    size_t at = rung_hash64(key, sizeof key) & (f->pair_room - 1);
    while (f->pair[at].var && (f->pair[at].a != a || f->pair[at].b != b)) at = (at + 1) & (f->pair_room - 1);
    return &f->pair[at];
}

static inline void pairs_grow(cnf *f)
{
    struct pair *old = f->pair;
    size_t room = f->pair_room;
    f->pair_room = room ? 2 * room : 4096;
    f->pair = calloc(f->pair_room, sizeof *f->pair);
    assert_non_null(f->pair);
    for (size_t i = 0; i < room; i++)
        if (old[i].var) *pair_slot(f, old[i].a, old[i].b) = old[i];
    free(old);
}

/* A variable that may be true only if the cells differ; 0 when they never do. */
static inline int differing(cnf *f, cell a, cell b)
{
    if (a.letters <= 1) return 0;
    if (2 * f->pairs >= f->pair_room) pairs_grow(f);
    struct pair *p = pair_slot(f, a.first, b.first);
    if (p->var) return p->var;
    f->pairs++;
    *p = (struct pair){a.first, b.first, ++f->variables};
    for (int k = 0; k < a.letters; k++) CLAUSE(f, -p->var, -(a.first + k), -(b.first + k));
    return p->var;
}

/* ---- solving --------------------------------------------------------------------------------------------------------- */

static inline void cnf_write(const cnf *f, int file)
{
    FILE *out = fdopen(file, "w");
    assert_non_null(out);
    fprintf(out, "p cnf %d %zu\n", f->variables, f->clauses);
    for (size_t i = 0; i < f->count; i++) fprintf(out, f->literal[i] ? "%d " : "%d\n", f->literal[i]);
    assert_int_equal(fclose(out), 0);
}

static inline void read_values(cnf *f, const char *line)
{
    for (char *end; *line; line = end) {
        long literal = strtol(line, &end, 10);
        if (end == line) break;
        if (literal > 0 && literal <= f->variables) f->value[literal] = 1;
    }
}

/* Runs cadical for at most so many seconds; fails without it. */
static inline solved cnf_solve(cnf *f, int seconds)
{
    char path[] = "/tmp/rung-sat-XXXXXX", command[128];
    static char line[1 << 16];
    int file = mkstemp(path);
    assert_true(file >= 0);
    cnf_write(f, file);
    snprintf(command, sizeof command, "cadical -q -t %d %s", seconds, path);
    free(f->value);
    f->value = calloc((size_t)f->variables + 1, 1);
    assert_non_null(f->value);
    FILE *answer = popen(command, "r");
    assert_non_null(answer);
    while (fgets(line, sizeof line, answer))
        if (line[0] == 'v') read_values(f, line + 1);
    int status = pclose(answer), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    unlink(path);
    if (code != 0 && code != 10 && code != 20)
        fail_msg("cadical ended with %d; is it installed (scripts/deps.sh soak)?", code);
    return code == 10 ? SOLVED_SAT : code == 20 ? SOLVED_UNSAT : SOLVED_TIMEOUT;
}

/* The letter of a cell in the solution, checked to be one. */
static inline int letter_of(const cnf *f, cell c)
{
    int letter = -1;
    for (int k = 0; k < c.letters; k++)
        if (f->value[c.first + k]) {
            assert_int_equal(letter, -1);
            letter = k;
        }
    assert_true(letter >= 0);
    return letter;
}

#endif
