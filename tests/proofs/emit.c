/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Random CANNOT verdicts as proof files. emit DIR COUNT SEED writes
 *
 * DIR/all_0.v, all_1.v, ...  COUNT theorems, 50 in a file, so that coqc starts few times; it must accept all of them
 *   DIR/one.v                  the first of them as rung writes it
 * DIR/tampered.v             claims with one changed constant: more bits in a layer, or fewer tokens; Coq must
 * accept none
 *
 * It says how many there are of each kind, and fails if a kind was never written or a CANNOT was refused.
 */
#include <ctype.h>

#include "bound/proof_claims.h"

enum { BATCH = 50, TAMPERED = 20 };

typedef struct output {
    const char *directory;
    FILE *all, *tampered;
    size_t written, refused, changed, of[CLAIM_KINDS];
} output;

static FILE *open_file(const output *o, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", o->directory, name);
    FILE *file = fopen(path, "w");
    if (!file) perror(path), exit(4);
    return file;
}

static FILE *open_batch(const output *o, const char *name)
{
    FILE *file = open_file(o, name);
    fputs("From Rung Require Import Instance.\nLocal Open Scope N_scope.\n", file);
    return file;
}

/* The claim and the tactic of a file. */
typedef struct parts {
    char *claim, *tactic;
} parts;

static char *between(const char *text, const char *from, const char *to)
{
    const char *start = strstr(text, from), *end = start ? strstr(start, to) : NULL;
    if (!end) fprintf(stderr, "no '%s' ... '%s' in\n%s", from, to, text), exit(1);
    return strndup(start + strlen(from), (size_t)(end - start) - strlen(from));
}

static parts parts_of(const char *text)
{
    return (parts){between(text, "Theorem cannot : ", ".\nProof. "), between(text, ".\nProof. ", ". Qed.\n")};
}

static void parts_free(parts *p)
{
    free(p->claim);
    free(p->tactic);
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* One question about axioms for all of them: it takes longer than all proofs together. */
static void close_batch(output *o)
{
    if (!o->all) return;
    size_t first = (o->written - 1) / BATCH * BATCH;
    fprintf(o->all, "\nDefinition all : True :=");
    for (size_t i = first; i < o->written; i++) fprintf(o->all, "\n  let _ := cannot_%zu in", i);
    fprintf(o->all, " I.\nPrint Assumptions all.\n");
    fclose(o->all);
    o->all = NULL;
}

static void write_one(output *o, const char *text, const parts *p)
{
    char name[32];
    snprintf(name, sizeof name, "all_%zu.v", o->written / BATCH);
    if (o->written % BATCH == 0) close_batch(o), o->all = open_batch(o, name);
    if (o->written == 0) {
        FILE *one = open_file(o, "one.v");
        fputs(text, one);
        fclose(one);
    }
    fprintf(o->all, "\nTheorem cannot_%zu : %s.\nProof. %s. Qed.\n", o->written, p->claim, p->tactic);
}

/* ---- changed constants ----------------------------------------------------------------------------------------- */

/* Where a number follows `word` in the claim; NULL: nowhere. */
static char *number_after(char *claim, const char *word)
{
    for (char *at = claim; (at = strstr(at, word)); at++)
        if (isdigit((unsigned char)at[strlen(word)])) return at + strlen(word);
    return NULL;
}

/* Bits become 2^30 times as many, a number of tokens becomes 1. */
static void tamper(output *o, const parts *p)
{
    static const char *const words[] = {"F ", "R ", "within ", "LL ", "sparse_fits l ", "deep_fits D l "};
    for (size_t i = 0; i < sizeof words / sizeof words[0] && o->changed < TAMPERED; i++) {
        const char *word = words[(i + o->changed) % (sizeof words / sizeof words[0])];
        char *at = number_after(p->claim, word);
        if (!at) continue;
        char *after = at + strspn(at, "0123456789");
        unsigned long long changed = strcmp(word, "within ") == 0 ? 1 : strtoull(at, NULL, 10) << 30;
        fprintf(o->tampered, "\nFail Definition changed : %.*s%llu%s := ltac:(%s).\n", (int)(at - p->claim), p->claim,
                changed, after, p->tactic);
        o->changed++;
        return;
    }
}

/* ---- claims ---------------------------------------------------------------------------------------------------- */

static void write_claim(output *o, const random_claim *c, size_t kind)
{
    rung_error err;
    rung_proof proof;
    rung_bound_report *report = random_claim_ask(c, false);
    const rung_bound_answer *answer = rung_bound_decisive(report);
    if (answer->verdict != RUNG_CANNOT)
        fprintf(stderr, "%s, %s: no CANNOT from its threshold on\n", c->layers, c->words), exit(1);
    if (rung_proof_write(&proof, c->claim, answer, &err) != RUNG_OK) fprintf(stderr, "%s\n", err.text), exit(4);
    if (proof.written) {
        parts p = parts_of(proof.text.text);
        write_one(o, proof.text.text, &p);
        tamper(o, &p);
        parts_free(&p);
        o->written++, o->of[kind]++;
    } else {
        printf("refused %s, %s (%s): %s\n", c->layers, c->words, answer->bound->id, proof.why);
        o->refused++;
    }
    rung_proof_clear(&proof);
    free(report);
}

int main(int argc, char **argv)
{
    if (argc != 4) fprintf(stderr, "usage: emit DIR COUNT SEED\n"), exit(2);
    size_t count = strtoul(argv[2], NULL, 10);
    output o = {.directory = argv[1]};
    rung_rng rng;
    rung_rng_init(&rng, strtoull(argv[3], NULL, 10), 23, 0);
    o.tampered = open_batch(&o, "tampered.v");
    for (size_t turn = 0; o.written < count && turn < 4 * count + CLAIM_KINDS; turn++) {
        random_claim c;
        random_claim_make(&c, &claim_kinds[turn % CLAIM_KINDS], &rng);
        uint64_t n = random_claim_threshold(&c, claim_kinds[turn % CLAIM_KINDS].theorem);
        if (n) {
            random_claim_at(&c, n + (rung_rng_below(&rng, 2) ? rung_rng_below(&rng, n) : 0));
            write_claim(&o, &c, turn % CLAIM_KINDS);
        }
        random_claim_free(&c);
    }
    close_batch(&o);
    fclose(o.tampered);
    bool complete = o.written == count && o.refused == 0;
    for (size_t i = 0; i < CLAIM_KINDS; i++) {
        printf("%-10s %-18s %-22s %zu\n", claim_kinds[i].theorem, claim_kinds[i].layers, claim_kinds[i].task, o.of[i]);
        if (!o.of[i] && count >= 2 * CLAIM_KINDS) complete = false;
    }
    printf("%zu written, %zu refused, %zu tampered\n", o.written, o.refused, o.changed);
    return complete ? 0 : 1;
}
