/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Claims from everything that the language of architectures, the tasks and a caller can say: mechanisms with convolutions and gates,
 * several in one layer, encoders, windows, alphabets, forms, orders, kernels, accumulators, states and caches of different widths,
 * thoughts, tokens after the prompt. What is said of a claim is compared with what is known without any theorem: which rows may
 * speak at all, and protocols that solve the task. A length must not refute more than the sizes that it stands for.
 */
#include "effort.h"
#include "rows_test.h"

static rung_rng rng;

static uint64_t between(uint64_t low, uint64_t high)
{
    return low + rung_rng_below(&rng, high - low + 1);
}

static bool one_in(uint64_t times)
{
    return between(1, times) == 1;
}

/* ---- drawing ------------------------------------------------------------------------------------------------------------------ */

static void draw_group(rung_buf *out, bool causal)
{
    const rung_mech *mech;
    do mech = rung_mech_at(between(0, rung_mech_count() - 1));
    while (!causal && mech->causal_only);
    uint64_t dim = between(1, 6);
    rung_buf_printf(out, "%s:dk=%d:dv=%d", mech->name, (int)dim, (int)(one_in(2) ? dim : between(1, 6)));
    if (mech->class_of == RUNG_CLASS_WINDOW) rung_buf_printf(out, ":W=%d", (int)between(1, 40));
    if (mech->class_of == RUNG_CLASS_BLOCKS)
        rung_buf_printf(out, ":B=%d:k=%d", (int)between(2, 16), (int)between(1, 2));
    if (causal && one_in(5)) rung_buf_printf(out, ":conv=%d", (int)between(2, 4));
    if (one_in(8)) rung_buf_puts(out, ":gate=1");
}

static void draw_arch(rung_buf *out, bool causal)
{
    uint64_t layers = between(1, 4);
    for (uint64_t i = 0; i < layers; i++) {
        if (i) rung_buf_putc(out, ',');
        if (one_in(8)) rung_buf_printf(out, "%d*", (int)between(2, 3));
        draw_group(out, causal);
        if (!one_in(4)) continue;
        rung_buf_puts(out, "@1|");
        draw_group(out, causal);
        rung_buf_puts(out, "@1");
    }
}

/* a..b is a random number. */
static const char *const tasks[] = {
    "eva N=2..40",
    "eva N=2..30 V=1..600",
    "eva N=2..12 form=pair K=12..30 V=1..9",
    "eva N=2..12 dist=zipf V=2..9",
    "index N=2..40 V=2..9",
    "retrieval N=2..30",
    "assoc-recall N=2..20 V=2..20",
    "assoc-recall N=2..8 K=8..20 V=2..6",
    "c-gram c=2..4 N=20..60 V=4..9",
    "mqar T=32..64 pairs=2..4 vocab=32..64",
    "mkar T=20..60 V=3..8",
    "mkar T=20..60 V=3..8 layout=pairs",
    "count N=2..60 V=2..8",
    "is-tree n=3..20",
    "two-sum N=2..60 M=5..200",
    "two-sum N=2..20 M=5..60 form=position",
    "two-sum N=2..20 M=5..60 form=global",
    "three-sum N=4..20 M=40..100",
    "q-sparse-average N=4..30 q=1..3",
    "dyck N=4..40 types=1..3 k=1..6",
    "string-equality N=2..60",
    "disjointness N=8..60",
    "k-hop N=8..40 alphabet=3..6 k=1..3",
    "parity N=2..20",
    "seqcomp L=1 N0=1..60",
    "seqcomp L=1 N0=1..30 V=1..2000",
    "seqcomp L=1 N0=1..30 order=first",
    "seqcomp L=1 N0=1..30 form=pair",
    "seqcomp L=2 N0=1..12 n=1..6",
    "seqcomp L=2 N0=1..8 n=1..3 V=1..600",
    "seqcomp L=2 N0=1..8 n=1..3 order=first dist=identity",
    "seqcomp L=2..3 N0=1..6 flat=1",
    "seqcomp L=3..4 N0=1..4 n=1..2",
    "selective-copy T=30..60",
    "palindrome N=2..40 V=2..9",
    "stacks T=4..40 S=1..4 V=2..6",
    "state-recall N=2..30 V=2..6 K=2..4 M=1..5",
    "parity-recall N=2..15 V=2..6 M=1..5",
    "variable-tracking chains=1..6 hops=0..3 V=2..6",
};

/* Writes a template with its numbers drawn. */
static void draw_words(char *out, size_t room, const char *from)
{
    size_t used = 0;
    while (*from) {
        char *end;
        const char *dots = strstr(from, "..");
        size_t digits = strcspn(from, "0123456789");
        memcpy(out + used, from, digits);
        used += digits, from += digits;
        if (!*from) break;
        uint64_t low = strtoull(from, &end, 10), high = low;
        if (dots == end) high = strtoull(dots + 2, &end, 10);
        used += (size_t)snprintf(out + used, room - used, "%d", (int)between(low, high));
        from = end;
    }
    out[used] = '\0';
}

static rung_fact draw_fact(void)
{
    return one_in(12) ? (rung_fact)between(RUNG_NOT_ESTABLISHED, RUNG_VIOLATED) : RUNG_ESTABLISHED;
}

static rung_claim_spec draw_about(const rung_task_conf *task)
{
    rung_claim_spec about = rung_claim_spec_of_prompt(task, 0);
    about.accumulator_bits = (int)between(1, 34);
    about.state_bits = (int)between(1, 34), about.cache_bits = (int)between(1, 34);
    about.layout = draw_fact(), about.ends = draw_fact(), about.at_once = draw_fact();
    if (one_in(6)) about.kernel = (rung_kernel)between(0, RUNG_KERNEL_FAST);
    return about;
}

/* ---- what is known without theorems -------------------------------------------------------------------------------------------- */

static bool is_any(const char *name, const char *names)
{
    size_t len = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += len)
        if ((at == names || at[-1] == ' ') && (at[len] == ' ' || !at[len])) return true;
    return false;
}

/* Whether a row may refute at all, said once more. */
static bool may_speak(const char *id, const rung_claim_spec *about, const rung_task_conf *task, bool causal)
{
    bool first = strcmp(task->task->name, "seqcomp") == 0 && rung_task_param(task, "order") == 1;
    if (!causal || about->layout != RUNG_ESTABLISHED || first) return false;
    if (strcmp(id, "causal") == 0) return about->at_once == RUNG_ESTABLISHED;
    if (about->kernel == 0 || about->kernel == RUNG_KERNEL_FAST) return false;
    if (is_any(id, "A A-compose cut")) return true;
    if (about->ends != RUNG_ESTABLISHED || about->at_once != RUNG_ESTABLISHED) return false;
    if (about->kernel == RUNG_KERNEL_SPLIT || about->kernel == RUNG_KERNEL_TILES) return strcmp(id, "sparse") == 0;
    if (strcmp(id, "two-pass") == 0 && about->kernel == RUNG_KERNEL_TWO_PASS) return true;
    if (strcmp(id, "eager") == 0 && about->kernel == RUNG_KERNEL_EAGER) return true;
    return strcmp(id, "sparse") == 0 || about->kernel == RUNG_KERNEL_ONLINE;
}

static uint64_t bits_for(uint64_t count)
{
    uint64_t bits = 1;
    while (bits < 63 && count > UINT64_C(1) << bits) bits++;
    return bits;
}

/* What the layers hand on, layer by layer and without the pattern of the theorems. */
typedef struct flow {
    uint64_t most;        /* bits that one layer carries over a cut, or in one accumulator */
    uint64_t full;        /* layers that scan everything */
    uint64_t least_scan;  /* bits of the smallest of their accumulators */
    uint64_t first_state; /* bits of a state in a layer before the first of them */
    bool selects;
} flow;

static flow flow_of(const rung_ledger *ledger, const rung_claim_spec *about)
{
    flow f = {.least_scan = UINT64_MAX};
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_ledger_layer *held = &ledger->layer[i];
        uint64_t scan = held->full ? held->heads * (held->value_dim + 2) * (uint64_t)about->accumulator_bits : 0;
        uint64_t state = held->state_elements * (uint64_t)about->state_bits;
        uint64_t kept = (held->window_elements + held->conv_elements) * (uint64_t)about->cache_bits;
        uint64_t here = scan > state ? scan : state;
        if (kept > here) here = kept;
        if (here > f.most) f.most = here;
        if (!held->full && !f.full && state > f.first_state) f.first_state = state;
        if (held->full) f.full++;
        if (held->full && scan < f.least_scan) f.least_scan = scan;
        f.selects = f.selects || held->sparse;
    }
    return f;
}

/* Someone carries the whole prompt: then nothing is forbidden but what no causal model can. */
static bool carries_prompt(const flow *f, const rung_task_conf *task)
{
    return task->vocab && !f->selects && f->most >= task->tokens * bits_for(task->vocab) + 8;
}

/* Pointers are followed by one scan each, and one more, or a state before the first of them, brings z_0 to the last token. A table is
 * looked up by one scan, a pair of neighbours by two, what a state points to by one after it, a variable by one scan for each copy
 * and one more. */
static bool follows(const flow *f, const rung_task_conf *task)
{
    const char *name = task->task->name;
    uint64_t pointer = 2 * bits_for(task->vocab) + 8;
    if (!f->full || f->least_scan < pointer) return false;
    if (strcmp(name, "seqcomp") == 0) {
        uint64_t L = (uint64_t)rung_task_param(task, "L");
        return f->full > L || (f->full == L && f->first_state >= pointer);
    }
    if (is_any(name, "eva index palindrome")) return true;
    if (strcmp(name, "parity-recall") == 0) return f->first_state >= pointer;
    if (strcmp(name, "state-recall") == 0) return f->first_state / pointer >= (uint64_t)rung_task_param(task, "K");
    if (strcmp(name, "variable-tracking") == 0) return f->full > (uint64_t)rung_task_param(task, "hops");
    if (strcmp(name, "two-sum") == 0) return rung_task_param(task, "form") == 0 && !f->selects;
    return f->full >= 2 && is_any(name, "assoc-recall c-gram");
}

/* ---- the check ------------------------------------------------------------------------------------------------------------------ */

typedef struct tally {
    uint64_t claims, refused, solved, refuted[RUNG_BOUND_MAX];
} tally;

static void check_answer(tally *n, const rung_bound_answer *answer, const rung_claim_spec *about, const flow *f,
                         bool causal, const char *text)
{
    const char *id = answer->bound->id;
    if (answer->verdict != RUNG_CANNOT) return;
    for (size_t k = 0; k < rung_bound_count(); k++)
        if (rung_bound_at(k) == answer->bound) n->refuted[k]++;
    if (!may_speak(id, about, about->task, causal)) fail_msg("%s: %s may not speak: %s", text, id, answer->statement);
    if (strcmp(id, "causal") == 0) return;
    if (carries_prompt(f, about->task) || follows(f, about->task))
        fail_msg("%s: %s refutes what a protocol solves: %s", text, id, answer->statement);
}

static void check_claim(tally *n, const rung_subject *subject, const rung_claim_spec *about, bool causal,
                        const char *text)
{
    static rung_bound_report report;
    rung_claim *claim;
    flow f = flow_of(rung_subject_ledger(subject), about);
    CHECK(rung_claim_new(&claim, subject, about, &check_err));
    CHECK(rung_bound_answers(&report, claim, false, &check_err));
    rung_claim_free(claim);
    n->claims++;
    n->solved += carries_prompt(&f, about->task) || follows(&f, about->task);
    for (size_t i = 0; i < report.count; i++) check_answer(n, &report.answer[i], about, &f, causal, text);
}

/* Tasks are drawn once: their own levels of guessing cost more than a claim. */
typedef struct asked {
    char words[160];
    rung_task_conf task;
} asked;

enum { OF_EACH = 8 };
static asked pool[OF_EACH * RUNG_COUNT(tasks)];
static size_t pool_size;

static void draw_pool(tally *n)
{
    for (size_t i = 0; i < RUNG_COUNT(pool); i++) {
        asked *a = &pool[pool_size];
        draw_words(a->words, sizeof a->words, tasks[i % RUNG_COUNT(tasks)]);
        if (try_task(&a->task, a->words))
            pool_size++;
        else
            n->refused++;
    }
    assert_true(pool_size > RUNG_COUNT(pool) / 2);
}

/* One architecture, and a few questions about it. */
static void check_drawn(tally *n)
{
    char text[640];
    bool causal = !one_in(10);
    rung_buf arch;
    rung_subject *subject;
    rung_buf_init(&arch);
    draw_arch(&arch, causal);
    rung_status status = rung_subject_arch(&subject, arch.text, &(rung_arch_defaults){1, 4, 4, causal}, &check_err);
    if (status != RUNG_OK) n->refused++;
    for (int i = 0; status == RUNG_OK && i < 8; i++) {
        const asked *a = &pool[between(0, pool_size - 1)];
        rung_claim_spec about = draw_about(&a->task);
        snprintf(text, sizeof text, "%s, bits %d %d %d, --task %s", arch.text, about.accumulator_bits, about.state_bits,
                 about.cache_bits, a->words);
        check_claim(n, subject, &about, causal, text);
    }
    if (status == RUNG_OK) rung_subject_free(subject);
    rung_buf_clear(&arch);
}

/* Rows that must have refuted something, or the check would be about nothing. */
static void assert_spoken(const tally *n, const char *ids)
{
    if (SANITIZED) return; /* too few claims */
    for (size_t k = 0; k < rung_bound_count(); k++)
        if (is_any(rung_bound_at(k)->id, ids) && !n->refuted[k]) fail_msg("%s refuted nothing", rung_bound_at(k)->id);
}

static void test_no_claim_is_refuted_that_must_not_be(void **state)
{
    static tally n;
    uint64_t claims = getenv("RUNG_SOAK") ? 10000000 : effort(100000, 3000);
    (void)state;
    rung_rng_init(&rng, 23, 5, 0);
    draw_pool(&n);
    while (n.claims < claims) check_drawn(&n);
    print_message("%d claims, %d of them solved by a protocol, %d draws refused\n", (int)n.claims, (int)n.solved,
                  (int)n.refused);
    for (size_t k = 0; k < rung_bound_count(); k++)
        if (n.refuted[k]) print_message("%s refutes %d\n", rung_bound_at(k)->id, (int)n.refuted[k]);
    assert_true(n.solved > n.claims / 20 && n.refused < n.claims);
    assert_spoken(&n, "A A-compose A' B0 cut cut-one causal");
}

/* ---- lengths ---------------------------------------------------------------------------------------------------------------------- */

/* A task with its length left open, and the words that make it longer: a size from low on, and for L = 2 a second one. */
typedef struct lengthened {
    const char *fixed;
    const char *grow; /* "N" */
    uint64_t low;
    const char *second; /* NULL: none */
} lengthened;

static const lengthened open_lengths[] = {
    {"eva V=1..9", "N", 1, NULL},
    {"eva", "N", 1, NULL},
    {"eva form=pair K=16..24 V=1..9", "N", 1, NULL},
    {"index V=2..9", "N", 1, NULL},
    {"assoc-recall K=16..30 V=2..5", "N", 1, NULL},
    {"assoc-recall V=2..20", "N", 1, NULL},
    {"count V=2..8", "N", 1, NULL},
    {"c-gram c=2..3 V=4..9", "N", 4, NULL},
    {"two-sum M=5..40", "N", 1, NULL},
    {"two-sum M=5..40 form=global", "N", 1, NULL},
    {"three-sum M=40..80", "N", 3, NULL},
    {"string-equality", "N", 1, NULL},
    {"disjointness", "N", 4, NULL},
    {"disjointness k=1..3", "N", 4, NULL},
    {"is-tree", "n", 2, NULL},
    {"dyck types=1..3 k=1..5", "N", 2, NULL},
    {"q-sparse-average q=1..3", "N", 3, NULL},
    {"palindrome V=2..9", "N", 1, NULL},
    {"stacks S=1..3 V=2..5", "T", 2, NULL},
    {"state-recall K=2..4 M=1..3 V=2..5", "N", 1, NULL},
    {"parity-recall M=1..3 V=2..5", "N", 1, NULL},
    {"variable-tracking hops=0..2 V=2..5", "chains", 1, NULL},
    {"seqcomp L=1", "N0", 1, NULL},
    {"seqcomp L=1 V=1..9", "N0", 1, NULL},
    {"seqcomp L=1 V=200..900", "N0", 1, NULL},
    {"seqcomp L=2", "N0", 1, "n"},
    {"seqcomp L=2 V=1..9", "N0", 1, "n"},
    {"seqcomp L=2 flat=1", "N0", 1, "n"},
};

static bool row_holds(const rung_ledger *ledger, const rung_claim_spec *about, const char *id)
{
    question q = {.ledger = ledger, .task = about->task, .n = about->n, .bits = 1, .kernel = RUNG_KERNEL_ONLINE};
    rung_bound_answer answer = answer_of(&q, id);
    return answer.applies && answer.holds;
}

/* Whether some size with at most n tokens is refuted by the same row. */
static bool some_size_holds(const lengthened *t, const char *fixed, const rung_ledger *ledger, uint64_t n,
                            const char *id)
{
    for (uint64_t size = n; size >= t->low && size > 0; size--)
        for (uint64_t other = 1; other <= (t->second ? n / size : 1); other++) {
            char words[200], more[32] = "";
            rung_task_conf task;
            if (t->second) snprintf(more, sizeof more, " %s=%d", t->second, (int)other);
            snprintf(words, sizeof words, "%s %s=%d%s", fixed, t->grow, (int)size, more);
            if (!try_task(&task, words) || task.tokens > n) continue;
            rung_claim_spec about = rung_claim_spec_of_prompt(&task, 0);
            if (row_holds(ledger, &about, id)) return true;
        }
    return false;
}

static rung_ledger *draw_small(stack *s)
{
    rung_ledger_layer layer[2] = {recurrent_bits(between(1, 40)), full_bits(between(2, 30), between(1, 8))};
    uint64_t kind = between(0, 4);
    if (kind == 0) layer[1].recurrent = true, layer[1].state_elements = between(1, 9);
    if (one_in(6)) layer[0].levels = true;
    if (kind == 4) {
        rung_ledger_layer first = layer[0];
        layer[0] = layer[1], layer[1] = first;
    }
    size_t from = kind == 0 || kind == 1 ? 1 : 0, count = kind == 0 || kind == 1 || kind == 2 ? 1 : 2;
    return stack_of(s, count, layer + from);
}

static uint64_t check_lengths(const lengthened *t)
{
    char fixed[160];
    stack s;
    rung_task_conf task;
    static rung_bound_report report;
    rung_ledger *ledger = draw_small(&s);
    uint64_t n = between(4, t->second ? 40 : 60), held = 0;
    draw_words(fixed, sizeof fixed, t->fixed);
    if (!try_task(&task, fixed)) return 0;
    question q = question_of(ledger, &task, n);
    run_bounds(&report, &q);
    for (size_t i = 0; i < report.count; i++) {
        const rung_bound_answer *a = &report.answer[i];
        if (a->verdict != RUNG_CANNOT) continue;
        held++;
        if (!some_size_holds(t, fixed, ledger, n, a->bound->id))
            fail_msg("%s --n %d: %s, and no size of this task is refuted: %s", fixed, (int)n, a->bound->id,
                     a->statement);
    }
    return held;
}

static void test_a_length_refutes_no_more_than_its_sizes(void **state)
{
    uint64_t each = getenv("RUNG_SOAK") ? 20000 : effort(20, 4), held = 0;
    (void)state;
    rung_rng_init(&rng, 24, 5, 0);
    for (size_t i = 0; i < RUNG_COUNT(open_lengths); i++) {
        uint64_t here = 0;
        for (uint64_t k = 0; k < each; k++) here += check_lengths(&open_lengths[i]);
        held += here;
    }
    print_message("%d refutations at a length have a size\n", (int)held);
    assert_true(held > each);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_claim_is_refuted_that_must_not_be),
        cmocka_unit_test(test_a_length_refutes_no_more_than_its_sizes),
    };
    return cmocka_run_group_tests_name("claims of every kind", tests, NULL, NULL);
}
