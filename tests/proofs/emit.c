/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Random CANNOT verdicts as proof files: emit DIR COUNT SEED writes DIR/all_0.v, ..., each with 25 of COUNT theorems, so that coqc
 * starts few times, DIR/one.v, the first file as rung writes it, and DIR/tampered.v, in which 20 of the claims have one changed
 * constant and Coq must fail. Says how many there are of each theorem, and fails if a theorem was never written.
 */
#include <ctype.h>

#include "bound/proof_claims.h"

enum { BATCH = 25, TAMPERED = 20 };

static const char head[] = "From Rung Require Import Instance.\nLocal Open Scope N_scope.\n";

static FILE *open_file(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (!file) perror(path), exit(4);
    return file;
}

/* The claim and the tactic of a file. */
typedef struct parts {
    const char *claim, *tactic;
    int claim_len, tactic_len;
} parts;

static parts parts_of(const char *text)
{
    static const char claim[] = "Theorem cannot : ", proof[] = ".\nProof. ", end[] = " Qed.\n";
    parts p = {.claim = strstr(text, claim)};
    if (p.claim) p.claim += strlen(claim), p.tactic = strstr(p.claim, proof);
    if (!p.tactic) fprintf(stderr, "the file has another form:\n%s", text), exit(1);
    p.claim_len = (int)(p.tactic - p.claim), p.tactic += strlen(proof);
    p.tactic_len = (int)(strstr(p.tactic, end) - p.tactic);
    return p;
}

/* Where the constant to change is: a number of bits of a layer, the number of values, or the bound on the length. */
static const char *constant(const char *claim, int which)
{
    static const char *const before[] = {"F ", "R ", "LL ", "within "};
    const char *at = strstr(claim, before[which % 4]);
    while (at && !isdigit((unsigned char)at[strlen(before[which % 4])])) at = strstr(at + 1, before[which % 4]);
    if (!at) at = strstr(claim, "sparse_fits l "), at = at ? at + strlen("sparse_fits l ") : NULL;
    else at += strlen(before[which % 4]);
    return at;
}

/* Bits become 2^30 times as many, a bound on the length becomes 1. */
static bool tamper(FILE *out, const parts *p, int which)
{
    char claim[4096];
    snprintf(claim, sizeof claim, "%.*s", p->claim_len, p->claim);
    const char *at = constant(claim, which);
    if (!at) return false;
    size_t digits = strspn(at, "0123456789");
    bool length = at - claim >= 7 && strncmp(at - 7, "within ", 7) == 0;
    unsigned long long changed = length ? 1 : strtoull(at, NULL, 10) << 30;
    fprintf(out, "\nGoal %.*s%llu%s.\nProof. Fail (%.*s). Abort.\n", (int)(at - claim), claim, changed, at + digits,
            p->tactic_len - 1, p->tactic);
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 4) fprintf(stderr, "usage: emit DIR COUNT SEED\n"), exit(2);
    size_t count = strtoul(argv[2], NULL, 10), written = 0, refused = 0, of[CLAIM_KINDS] = {0};
    rung_rng rng;
    rung_rng_init(&rng, strtoull(argv[3], NULL, 10), 23, 0);
    FILE *all = NULL, *tampered = open_file(argv[1], "tampered.v");
    int changed = 0;
    fputs(head, tampered);
    for (size_t turn = 0; written < count && turn < 20 * count; turn++) {
        const claim_kind *kind = &claim_kinds[turn % CLAIM_KINDS];
        random_claim c;
        rung_error err;
        rung_proof proof;
        random_claim_make(&c, kind, &rng);
        uint64_t n = random_claim_threshold(&c, kind->theorem);
        if (!n) {
            random_claim_free(&c);
            continue;
        }
        random_claim_at(&c, n + (rung_rng_below(&rng, 2) ? rung_rng_below(&rng, n) : 0));
        rung_bound_report *report = random_claim_ask(&c, false);
        const rung_bound_answer *answer = rung_bound_decisive(report);
        if (answer->verdict != RUNG_CANNOT) fprintf(stderr, "%s %s: no CANNOT at its threshold\n", c.layers, c.words), exit(1);
        if (rung_proof_write(&proof, c.claim, answer, &err) != RUNG_OK) fprintf(stderr, "%s\n", err.text), exit(4);
        if (!proof.written) {
            printf("refused %s %s (%s): %s\n", c.layers, c.words, answer->bound->id, proof.why);
            refused++;
        } else {
            parts p = parts_of(proof.text.text);
            char name[32];
            snprintf(name, sizeof name, "all_%zu.v", written / BATCH);
            if (written % BATCH == 0) {
                if (all) fclose(all);
                all = open_file(argv[1], name), fputs(head, all);
            }
            if (written == 0) {
                FILE *one = open_file(argv[1], "one.v");
                fputs(proof.text.text, one), fclose(one);
            }
            fprintf(all, "\n(* %s %s: %s *)\nTheorem cannot_%zu : %.*s.\nProof. %.*s Qed.\nPrint Assumptions cannot_%zu.\n",
                    c.words, answer->bound->id, kind->theorem, written, p.claim_len, p.claim, p.tactic_len, p.tactic,
                    written);
            if (changed < TAMPERED && tamper(tampered, &p, changed)) changed++;
            of[turn % CLAIM_KINDS]++;
            written++;
        }
        rung_proof_clear(&proof), free(report), random_claim_free(&c);
    }
    if (all) fclose(all);
    fclose(tampered);
    bool complete = written == count && changed == TAMPERED;
    for (size_t i = 0; i < CLAIM_KINDS; i++) {
        printf("%s %s %s: %zu\n", claim_kinds[i].theorem, claim_kinds[i].layers, claim_kinds[i].task, of[i]);
        if (!of[i] && count >= 4 * CLAIM_KINDS) complete = false;
    }
    printf("%zu written, %zu refused, %d tampered\n", written, refused, changed);
    return complete ? 0 : 1;
}
