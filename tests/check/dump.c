/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * dump MODEL: verdicts on certificates that come on stdin, each ended by a NUL; `verdict CODE REASON` after what the
 * checker prints. Thousands of them in a second.
 * dump MODEL FORMAT (or mixed formats): for each line of token ids on stdin what rung-check computes, for comparison with rung and for making
 * certificates: `view X...`, `readout X...`, `numbers COUNT` and `state HEX` after all tokens, `prefix HEX` after all but
 * the last; or `rejected REASON`. Numbers are hexadecimal floats. The checker is included as it is. */
int rung_check_main(int argc, char **argv);
#define main rung_check_main
#include "../../check/rung-check.c"
#undef main

/* The checker only compares hexadecimal digits; here they are written, bit by bit. */
struct packer {
    unsigned digit, filled;
    size_t count;
};

static void pack_code(struct packer *p, uint64_t code, int bits)
{
    for (int bit = bits - 1; bit >= 0; bit--) {
        p->digit = p->digit * 2 + (unsigned)(code >> bit & 1);
        if (++p->filled % 4 == 0) {
            putchar("0123456789abcdef"[p->digit]);
            p->digit = 0;
        }
    }
}

static void pack_as(struct packer *p, const struct format *format, const double *v, size_t count)
{
    struct format acc = num;
    num = *format;
    for (size_t i = 0; i < count; i++, p->count++) pack_code(p, code_of(v[i]), num.bits);
    num = acc;
}

static void pack(struct packer *p, const double *v, size_t count)
{
    pack_as(p, mixture.mixed ? &mixture.of[ACT].code : &num, v, count);
}

/* One row of a quantity: before each block its scale. */
static void pack_row(struct packer *p, enum quantity q, const double *v, size_t count, const double **scales)
{
    const struct stored *s = &mixture.of[q];
    if (!mixture.mixed || s->scale_bits == 0) {
        pack_as(p, mixture.mixed ? &s->code : &num, v, count);
        return;
    }
    size_t step = s->block < count ? s->block : count;
    for (size_t at = 0; at < count; at += step, (*scales)++) {
        double scale = **scales, code;
        if (s->scale_bits == 8) pack_code(p, (uint64_t)(ilogb(scale) + 127), 8);
        if (s->scale_bits != 8) pack_as(p, &s->scale, &scale, 1), p->count--;
        for (size_t i = at; i < count && i < at + step; i++) {
            code = scale > 0 ? v[i] / scale : 0;
            struct format acc = num;
            num = s->code;
            round_codes(s, &code, 1, NULL, 0);
            num = acc;
            pack_as(p, &s->code, &code, 1);
        }
    }
}

/* A slot of a group: heads of keys and values, or of rows of a state. */
static void pack_slot(struct packer *p, const struct group *g, size_t slot)
{
    const struct shape *s = &g->shape;
    const double *v = g->state + slot * g->slot, *scales = g->scales ? g->scales + slot * g->slot_scales : NULL;
    size_t head = g->slot / kept_heads(s);
    bool inside = mixture.mixed && g->tokens % mixture.chunk; /* a chunk: the state is in acc */
    enum quantity q = keeps_tokens(s) ? CACHE : inside ? ACC : STATE;
    for (size_t h = 0; h < kept_heads(s); h++)
        for (size_t at = 0; at < head;) {
            size_t row = !keeps_tokens(s) ? s->dv : at == 0 ? s->dk : s->dv;
            if (row > head - at) row = head - at;
            pack_row(p, q, v, row, &scales);
            at += row, v += row;
        }
}

static void pack_end(struct packer *p)
{
    if (p->filled % 4) putchar("0123456789abcdef"[p->digit << (4 - p->filled % 4)]);
    putchar('\n');
}

static void print_state(const char *label, const struct model *m)
{
    struct packer p = {0, 0, 0};
    printf("%s ", label);
    for (size_t l = 0; l < m->count; l++)
        for (size_t i = 0; i < m->layers[l].count; i++) {
            const struct group *g = &m->layers[l].groups[i];
            const struct shape *s = &g->shape;
            size_t slots = s->mechanism == FULL || s->mechanism == SPARSE ? g->tokens
                           : s->mechanism == LOGLINEAR                    ? g->matrices
                                                                          : g->slots;
            if (s->mechanism == WINDOW && g->tokens < slots) slots = g->tokens;
            for (size_t n = 0; n < slots; n++) {
                pack_slot(&p, g, n);
                if (s->mechanism == SPARSE && (n + 1) % s->block == 0)
                    pack(&p, g->summaries + n / s->block * g->slot, g->slot);
            }
            for (size_t n = 0; n < 3 && s->conv >= 2; n++)
                pack(&p, g->input[n].history, g->input[n].heads * g->input[n].width * (s->conv - 1));
        }
    size_t count = p.count;
    pack_end(&p);
    if (strcmp(label, "state") == 0) printf("numbers %zu\n", count);
    if (strcmp(label, "state") == 0) printf("bits %u\n", p.filled);
}

static void print_numbers(const char *label, const double *v, size_t count)
{
    printf("%s", label);
    for (size_t i = 0; i < count; i++) printf(" %a", v[i]);
    printf("\n");
}

static void dump_blocks(const struct model *m)
{
    for (size_t l = 0; l < m->count; l++) {
        const struct group *g = &m->layers[l].groups[0];
        if (m->layers[l].count != 1 || g->shape.mechanism != SPARSE) continue;
        for (size_t b = 0; b < g->tokens / g->shape.block; b++) {
            struct packer p = {0, 0, 0};
            printf("block %zu %zu ", l, b);
            pack(&p, g->summaries + b * g->slot, g->slot);
            pack_end(&p);
        }
    }
}

static void dump_prompt(struct model *m, const uint32_t *tokens, size_t count)
{
    make_room(m, count);
    run_tokens(m, tokens, count - 1, SIZE_MAX);
    print_state("prefix", m);
    run_tokens(m, tokens, count, count - 1);
    compare_state(m, (struct text){NULL, 0}); /* no NaN */
    print_state("state", m);
    struct packer p = {0, 0, 0};
    printf("packed ");
    pack(&p, m->x, m->config.d);
    pack_end(&p);
    print_numbers("view", m->x, m->config.d);
    dump_blocks(m);
    double *y = numbers(m->config.answers);
    norm(m->h, m, &m->final, m->x);
    project(y, &m->readout, m->h);
    no_nan(y, m->config.answers, "the read-out", m->count, count - 1);
    print_numbers("readout", y, m->config.answers);
}

static size_t read_tokens(uint32_t *tokens, size_t room, char *line)
{
    size_t count = 0;
    for (char *word = strtok(line, " \n"); word && count < room; word = strtok(NULL, " \n"))
        tokens[count++] = (uint32_t)strtoul(word, NULL, 10);
    return count;
}

static void judge_all(struct bytes model)
{
    static char text[1 << 20];
    for (;;) {
        size_t size = 0;
        int c = getchar();
        for (; c > 0 && size < sizeof text; c = getchar()) text[size++] = (char)c;
        if (c == EOF) return;
        enum verdict verdict = judge((struct bytes){(unsigned char *)text, size}, model, memory_limit);
        printf("verdict %d %s\n", (int)verdict, verdict == ACCEPTED ? "" : run.reason);
    }
}

static void dump_all(struct bytes model)
{
    static char line[1 << 20];
    static uint32_t tokens[1 << 17];
    run.limit = memory_limit;
    make_tables();
    while (fgets(line, sizeof line, stdin)) {
        run.work = 0;
        if (setjmp(run.leave) == 0) {
            struct file file = read_safetensors(model);
            struct arch arch = read_arch(text_of(file.metadata, "rung.arch", "model"));
            struct model m = load_model(&file, &arch);
            size_t count = read_tokens(tokens, sizeof tokens / sizeof *tokens, line);
            if (m.config.positions != NO_POSITIONS && count > m.config.max_tokens) reject("too long");
            dump_prompt(&m, tokens, count);
        } else {
            printf("\nrejected %s\n", run.reason);
        }
        printf("end\n");
        fflush(stdout);
        free_after(NULL);
    }
}

int main(int argc, char **argv)
{
    struct bytes model = {0};
    bool good = argc >= 2 && read_whole(&model, argv[1]);
    struct text format = {argc > 2 ? argv[2] : "", argc > 2 ? strlen(argv[2]) : 0};
    good = good && (argc == 2 || set_format(format) || set_mixture(format));
    if (good && argc == 2) judge_all(model);
    if (good && argc > 2) dump_all(model);
    free(model.data);
    return good ? 0 : 2;
}
