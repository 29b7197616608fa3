/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Every prompt of a task by number: as many as a formula says, all different, in order, and everything that the
 * generator draws among them.
 */
#include <math.h>

#include "prompts.h"

/* ---- formulas ----------------------------------------------------------------------------------------------------- */

static uint64_t power(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;
    while (exponent-- > 0) result *= base;
    return result;
}

static uint64_t falling(uint64_t n, uint64_t k) /* n (n-1) ... (n-k+1) */
{
    uint64_t result = 1;
    while (k-- > 0) result *= n--;
    return result;
}

/* Sequences of len symbols below `alphabet` for which the test holds. */
static uint64_t count_sequences(size_t len, uint32_t alphabet, bool (*holds)(const uint32_t *x, size_t len))
{
    uint32_t x[16] = {0};
    uint64_t count = 0;
    assert_true(len <= RUNG_COUNT(x));
    for (uint64_t code = 0; code < power(alphabet, len); code++) {
        uint64_t rest = code;
        for (size_t i = 0; i < len; i++, rest /= alphabet) x[i] = (uint32_t)(rest % alphabet);
        count += holds(x, len);
    }
    return count;
}

/* c-gram with c=2, N=3: the symbol x[3] is followed in x[0..2] by one symbol only. */
static bool one_continuation(const uint32_t *x, size_t len)
{
    bool first = x[0] == x[3], second = x[1] == x[3];
    (void)len;
    return first && second ? x[1] == x[2] : first || second;
}

/* mkar with key=2: some pair of neighbours occurs twice. */
static bool some_pair_recurs(const uint32_t *x, size_t len)
{
    for (size_t i = 0; i + 1 < len; i++)
        for (size_t j = i + 1; j + 1 < len; j++)
            if (x[i] == x[j] && x[i + 1] == x[j + 1]) return true;
    return false;
}

/* selective-copy with two symbols and the numbers #2 and #3, whose ids are 2 and 3: one of them points to a token. */
static bool some_number_reaches(const uint32_t *x, size_t len)
{
    size_t distance = len;
    for (size_t t = 0; t < len; t++) {
        if (x[t] >= 2) distance = x[t];
        if (distance <= t) return true;
    }
    return false;
}

/* Two points of the eight directions with two labels, a query of the sixteen: the nearer one wins by gamma in inner
 * product. Computed with angles. */
static uint64_t margins_on_the_circle(double gamma)
{
    const int ring[16][2] = {{2, 0},  {2, 1},   {2, 2},   {1, 2},   {0, 2},  {-1, 2}, {-2, 2}, {-2, 1},
                             {-2, 0}, {-2, -1}, {-2, -2}, {-1, -2}, {0, -2}, {1, -2}, {2, -2}, {2, -1}};
    uint64_t count = 0;
    for (int q = 0; q < 16; q++)
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                double angle = atan2(ring[q][1], ring[q][0]);
                double lead = cos(angle - a * acos(-1) / 4) - cos(angle - b * acos(-1) / 4);
                count += fabs(lead) >= gamma;
            }
    return count * 2 * 2;
}

static uint64_t binomial(uint64_t n, uint64_t k)
{
    return falling(n, k) / falling(k, k);
}

/* ---- enumeration --------------------------------------------------------------------------------------------------- */

/* All prompts of a task as rows of bytes. */
typedef struct collection {
    prompts p;
    size_t row_bytes, count;
    uint64_t space;
    char *rows;
} collection;

static size_t width_of_rows;

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, width_of_rows);
}

static const void *row_of(const prompts *p)
{
    return p->conf.vocab ? (const void *)p->in.token : p->in.feature;
}

static void collect(collection *c, const char *text)
{
    memset(c, 0, sizeof *c);
    prompts_open(&c->p, text);
    c->space = rung_task_space(&c->p.conf);
    if (c->space == 0 || c->space > 1u << 20) fail_msg("%s: a space of %llu", text, (unsigned long long)c->space);
    c->row_bytes = c->p.conf.tokens * (c->p.conf.vocab ? sizeof(uint32_t) : c->p.conf.d_in * sizeof(float));
    c->rows = malloc(c->space * c->row_bytes);
    for (uint64_t i = 0; i < c->space; i++) {
        bool is_prompt;
        if (rung_task_unrank(&c->p.in, &is_prompt, &c->p.conf, i, &c->p.err) != RUNG_OK) fail_msg("%s", c->p.err.text);
        if (!is_prompt) continue;
        assert_int_equal(c->p.in.tokens, c->p.conf.tokens);
        assert_true(rung_instance_last_target(&c->p.in) != SIZE_MAX && c->p.in.player_count > 0);
        memcpy(c->rows + c->count++ * c->row_bytes, row_of(&c->p), c->row_bytes);
    }
    assert_string_equal(c->p.err.text, "");
    width_of_rows = c->row_bytes;
}

static void collection_close(collection *c)
{
    free(c->rows);
    prompts_close(&c->p);
}

/* The last position varies fastest: the rows of tokens rise. */
static void assert_rising(const collection *c, const char *text)
{
    for (size_t i = 1; i < c->count && c->p.conf.vocab; i++) {
        const uint32_t *a = (const uint32_t *)(const void *)(c->rows + (i - 1) * c->row_bytes);
        const uint32_t *b = (const uint32_t *)(const void *)(c->rows + i * c->row_bytes);
        size_t t = 0;
        while (t < c->p.conf.tokens && a[t] == b[t]) t++;
        if (t == c->p.conf.tokens || a[t] > b[t])
            fail_msg("%s: prompt %zu does not come after the one before", text, i);
    }
}

static void assert_all_different(collection *c, const char *text)
{
    qsort(c->rows, c->count, c->row_bytes, by_bytes);
    for (size_t i = 1; i < c->count; i++)
        if (memcmp(c->rows + (i - 1) * c->row_bytes, c->rows + i * c->row_bytes, c->row_bytes) == 0)
            fail_msg("%s: two prompts are equal", text);
}

static void assert_generated_are_there(collection *c, const char *text)
{
    for (uint64_t i = 0; i < 300; i++) {
        prompts_make(&c->p, i);
        if (!bsearch(row_of(&c->p), c->rows, c->count, c->row_bytes, by_bytes))
            fail_msg("%s: instance %llu is not among the prompts", text, (unsigned long long)i);
    }
}

static void the_number_of_prompts_is_that_of_a_formula(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t prompts;
    } cases[] = {
        {"eva N=3 V=2", power(2, 3) * 3},
        {"eva N=2 V=2 K=3 form=pair", falling(3, 2) * power(2, 2) * 2},
        {"index N=4 V=3", power(3, 4) * 4},
        {"retrieval N=3 D=2", falling(4, 3) * power(4, 3) * 3},
        {"retrieval N=3 D=1 distinct=0", 3 * 2 * power(2, 3)}, /* the place and the key that is asked for */
        {"retrieval N=3 D=2 distinct=0", 3 * 4 * power(3, 2) * power(4, 3)},
        {"percom N=1", 1},
        {"percom N=3", falling(3, 3) * falling(3, 3)},
        {"assoc-recall N=3 K=4 V=2", falling(4, 3) * power(2, 3) * 3},
        {"c-gram c=2 N=3 V=3", count_sequences(4, 3, one_continuation)},
        {"count N=4 V=3", power(3, 4) * 3 * 5},
        {"two-sum N=3 M=5", power(5, 3) * 5},
        {"two-sum N=3 M=5 blank=1", power(5, 3) * 5},
        {"two-sum N=3 M=5 form=position self=0", power(5, 3)},
        {"two-sum N=3 M=5 form=position blank=1", power(5, 3)},
        {"two-sum N=3 M=5 form=causal blank=1", power(5, 3)},
        {"two-sum N=4 M=7 form=global dist=hard blank=1", power(7, 4)},
        {"three-sum N=3 M=30", power(30, 3)},
        {"three-sum N=3 M=31 form=last", power(31, 3)},
        {"string-equality N=4", power(2, 8)},
        {"disjointness N=5", power(2, 10)},
        {"dyck N=6 types=2 k=2", power(4, 6)},
        {"parity N=7 targets=all", power(2, 7)},
        {"group-word group=S3 N=4", power(6, 4)},
        {"group-word group=S5 N=3 letters=swaps", power(10, 3)},
        {"group-word group=Zn n=3 N=5 letters=generators targets=last", power(2, 5)},
        {"seqcomp L=3 N0=2 n=2,2 flat=1", 8192},
        {"seqcomp L=3 N0=2 n=2,2 flat=1 order=first", 8192},
        {"seqcomp L=2 N0=2 n=2", power(4, 4) * power(2, 2) * 2 * 2},
        {"seqcomp L=2 N0=2 n=2 dist=identity", power(4, 4) * power(2, 2) * 2 * 2}, /* dist is about what is drawn */
        {"seqcomp L=2 N0=2 n=2 flat=1 form=pair", falling(4, 4) * power(2, 4) * falling(2, 2) * power(2, 2) * 2 * 2},
        {"seqcomp L=2 N0=1 n=3 form=pair order=first", falling(3, 3) * power(3, 3) * 3},
        {"self-compose N=4", power(4, 4)},
        {"self-compose N=5 ask=value", power(5, 5)},
        {"k-hop N=4 alphabet=3 k=2", power(3, 4)},
        {"k-hop N=4 alphabet=3 k=2 hops=uniform targets=last", 3 * power(3, 4)},
        {"mqar T=4 pairs=1 vocab=5", 1 * 3 * (power(2, 2) - 1)},
        {"mqar T=8 pairs=2 vocab=6", falling(2, 2) * power(3, 2) * (power(3, 4) - 1)},
        {"mqar T=8 pairs=2 vocab=6 filler=random", falling(2, 2) * power(3, 2) * (power(6, 4) - power(4, 4))},
        {"mkar T=5 V=3 key=2", count_sequences(5, 3, some_pair_recurs)},
        {"mkar T=5 V=3 key=1 layout=pairs", falling(3, 2) * power(3, 2) * 2},
        {"mkar T=8 V=2 key=2 layout=pairs", falling(4, 2) * power(2, 2) * 2},
        {"selective-copy T=5 V=2 numbers=2 first=2", count_sequences(5, 4, some_number_reaches)},
        {"selective-copy T=6 V=3 numbers=2 form=list", binomial(4, 2) * power(3, 2)},
        {"is-tree n=4", power(4, 6)},
        {"palindrome N=4 V=3", power(3, 4)},
        {"stacks T=4 S=1 V=3", 2 * power(3, 2) + 3 * power(3, 3)}, /* paths above 0 with 2 and 3 steps up */
        {"state-recall N=2 V=3 K=3 M=2", power(3, 2) * power(2, 3) * power(3, 2) * 3},
        {"parity-recall N=2 V=2 M=3", power(2, 4) * 2 * power(2, 3)},
        {"variable-tracking chains=1 hops=2 V=2", falling(3, 3) * 2 * 3 * 4 * 3},
        {"variable-tracking chains=3 hops=0 V=2", falling(3, 3) * power(2, 3) * 3},
        {"variable-tracking chains=1 hops=1 V=3 K=3", falling(3, 2) * 3 * 4 * 2},
        {"nearest-neighbour N=2 d=2 labels=2", margins_on_the_circle(0.1)},
        {"nearest-neighbour N=2 d=2 labels=2 gamma=54", margins_on_the_circle(0.054)}, /* there is a lead of 0.0543 */
        {"nearest-neighbour N=2 d=2 labels=2 gamma=55 form=split", margins_on_the_circle(0.055)},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        collection c;
        collect(&c, cases[i].text);
        if (c.count != cases[i].prompts)
            fail_msg("%s: %zu prompts, not %llu", cases[i].text, c.count, (unsigned long long)cases[i].prompts);
        assert_rising(&c, cases[i].text);
        assert_all_different(&c, cases[i].text);
        if (c.p.conf.vocab) assert_generated_are_there(&c, cases[i].text);
        collection_close(&c);
    }
}

/* ---- grids of vectors ---------------------------------------------------------------------------------------------- */

/* N=2, q=1: three vectors and two subsets per position; N=3, q=2, d=2: five and three. */
static void sparse_averages_have_every_vector_with_every_subset(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t per_position;
    } cases[] = {{"q-sparse-average N=2 q=1 d=1", 6}, {"q-sparse-average N=3 q=2 d=2", 15}};
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        collection c;
        collect(&c, cases[i].text);
        assert_int_equal(c.space, power(cases[i].per_position, c.p.conf.tokens));
        assert_int_equal(c.count, c.space); /* the oracle takes them all */
        assert_all_different(&c, cases[i].text);
        collection_close(&c);
    }
}

/* Subsets of a large set come in the order of their lists, the first and the last where they must be. */
static void subsets_are_numbered_in_the_order_of_their_lists(void **state)
{
    (void)state;
    prompts p;
    bool is_prompt;
    float before[3] = {-1, -1, -1};
    prompts_open(&p, "q-sparse-average N=9 q=3 d=1");
    uint64_t subsets = binomial(9, 3);
    assert_int_equal(p.conf.task->choices(&p.conf, 0), 3 * subsets);
    for (uint64_t i = 0; i < subsets; i++) {
        assert_int_equal(rung_task_unrank(&p.in, &is_prompt, &p.conf, i, &p.err), RUNG_OK);
        const float *now = p.in.feature + 8 * p.conf.d_in + 1;
        assert_true(is_prompt && now[0] < now[1] && now[1] < now[2]);
        assert_true(now[0] > before[0] || (now[0] == before[0] && now[1] > before[1]) ||
                    (now[0] == before[0] && now[1] == before[1] && now[2] > before[2]));
        memcpy(before, now, sizeof before);
    }
    assert_true(before[0] == 6 && before[1] == 7 && before[2] == 8);
    prompts_close(&p);
}

/* Every direction of {-1,0,1}^3 for the points, and of the surface of {-2..2}^3 for the queries, of length 1. */
static void points_are_on_the_sphere_in_every_direction(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "nearest-neighbour N=2 d=3 labels=2 gamma=10 form=split");
    const uint64_t directions[5] = {26, 2, 26, 2, 125 - 27};
    for (size_t t = 0; t < 5; t++) {
        assert_int_equal(p.conf.task->choices(&p.conf, t), directions[t]);
        double sum[3] = {0};
        for (uint64_t i = 0; i < directions[t] && t % 2 == 0; i++) {
            const float *x = p.in.feature + t * p.conf.d_in;
            memset(p.in.feature, 0, p.conf.tokens * p.conf.d_in * sizeof(float));
            p.conf.task->choose(&p.in, &p.conf, t, i);
            double square = (double)x[0] * x[0] + (double)x[1] * x[1] + (double)x[2] * x[2];
            if (square > 1 || square < 0.9998) fail_msg("position %zu, choice %d: square %g", t, (int)i, square);
            for (int c = 0; c < 3; c++) sum[c] += (double)x[c];
        }
        assert_true(sum[0] == 0 && sum[1] == 0 && sum[2] == 0); /* with every direction its opposite */
    }
    prompts_close(&p);
}

/* ---- limits --------------------------------------------------------------------------------------------------------- */

static void numbers_beyond_the_space_are_refused(void **state)
{
    (void)state;
    prompts p;
    bool is_prompt;
    prompts_open(&p, "eva N=3 V=2");
    assert_int_equal(rung_task_unrank(&p.in, &is_prompt, &p.conf, 23, &p.err), RUNG_OK);
    assert_int_equal(rung_task_unrank(&p.in, &is_prompt, &p.conf, 24, &p.err), RUNG_USAGE);
    assert_non_null(strstr(p.err.text, "24"));
    prompts_close(&p);
}

static void spaces_that_do_not_fit_are_called_so(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t space;
    } cases[] = {
        {"parity N=63", (uint64_t)1 << 63},
        {"parity N=64", UINT64_MAX},
        {"parity N=100000", UINT64_MAX},
        {"eva N=1 V=1", 1},
        {"q-sparse-average N=1000 q=500", UINT64_MAX},
        {"nearest-neighbour N=2 d=1000 labels=2", UINT64_MAX},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        prompts p;
        bool is_prompt;
        prompts_open(&p, cases[i].text);
        assert_true(rung_task_space(&p.conf) == cases[i].space);
        assert_int_equal(rung_task_unrank(&p.in, &is_prompt, &p.conf, cases[i].space - 1, &p.err), RUNG_OK);
        prompts_close(&p);
    }
}

static void every_task_can_be_enumerated(void **state)
{
    (void)state;
    for (size_t i = 0; i < rung_task_count(); i++) {
        prompts p;
        bool is_prompt;
        prompts_open(&p, rung_task_at(i)->name);
        uint64_t space = rung_task_space(&p.conf);
        assert_true(space > 0);
        for (uint64_t n = 0; n < 300; n++)
            assert_int_equal(rung_task_unrank(&p.in, &is_prompt, &p.conf, n * 0x123456789abcdu % space, &p.err),
                             RUNG_OK);
        prompts_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_prompts_is_that_of_a_formula),
        cmocka_unit_test(sparse_averages_have_every_vector_with_every_subset),
        cmocka_unit_test(subsets_are_numbered_in_the_order_of_their_lists),
        cmocka_unit_test(points_are_on_the_sphere_in_every_direction),
        cmocka_unit_test(numbers_beyond_the_space_are_refused),
        cmocka_unit_test(spaces_that_do_not_fit_are_called_so),
        cmocka_unit_test(every_task_can_be_enumerated),
    };
    return cmocka_run_group_tests_name("task: every prompt", tests, NULL, NULL);
}
