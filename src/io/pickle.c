/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A pickle is a program for a machine with a stack. Python runs it and calls whatever it names, which is why a pickle
 * of a stranger must never be loaded there. This machine knows only the opcodes that build plain values. Where the
 * program asks for a call it writes down which function and which arguments, and the caller decides what that means.
 *
 * Every opcode makes at most a few values, so memory is bounded by the size of the pickle. Values may be shared and may
 * even contain themselves (memo): whoever walks them limits depth and number of steps.
 */
#include "pickle.h"

#include <inttypes.h>
#include <stdlib.h>

typedef enum opcode {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_POP = '0',
    OP_BINFLOAT = 'G',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_NONE = 'N',
    OP_BINPERSID = 'Q',
    OP_REDUCE = 'R',
    OP_BINUNICODE = 'X',
    OP_EMPTY_LIST = ']',
    OP_APPEND = 'a',
    OP_BUILD = 'b',
    OP_GLOBAL = 'c',
    OP_APPENDS = 'e',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_BINPUT = 'q',
    OP_LONG_BINPUT = 'r',
    OP_SETITEM = 's',
    OP_TUPLE = 't',
    OP_EMPTY_TUPLE = ')',
    OP_SETITEMS = 'u',
    OP_EMPTY_DICT = '}',
    OP_PROTO = 0x80,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_STACK_GLOBAL = 0x93,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
} opcode;

typedef struct machine {
    rung_arena *arena;
    const uint8_t *at, *end, *start;
    pickle_value **stack; /* NULL is a mark; one place per byte of the pickle is enough */
    size_t depth;
    pickle_value **memo;
    size_t memo_size, memo_used;
    rung_error *err;
} machine;

static rung_status refuse(const machine *m, const char *what)
{
    return rung_fail(m->err, RUNG_INPUT, "pickle, byte %zu: %s", (size_t)(m->at - m->start), what);
}

static rung_status cut_short(const machine *m)
{
    return refuse(m, "ends in the middle; the file is damaged, fetch it again");
}

static bool take(machine *m, const uint8_t **bytes, size_t count)
{
    if ((size_t)(m->end - m->at) < count) return false;
    *bytes = m->at;
    m->at += count;
    return true;
}

/* ---- values ---- */

static pickle_value *new_value(machine *m, pickle_kind kind)
{
    pickle_value *value = rung_arena_alloc(m->arena, 1, sizeof *value, m->err);
    if (value) value->kind = kind;
    return value;
}

static rung_status push(machine *m, pickle_value *value)
{
    if (!value) return RUNG_SYSTEM;
    m->stack[m->depth++] = value;
    return RUNG_OK;
}

static rung_status push_int(machine *m, pickle_kind kind, int64_t integer)
{
    pickle_value *value = new_value(m, kind);
    if (value) value->integer = integer;
    return push(m, value);
}

static char *text_of(machine *m, const uint8_t *bytes, size_t len)
{
    char *text = rung_arena_alloc(m->arena, len + 1, 1, m->err);
    if (text && len) memcpy(text, bytes, len);
    return text;
}

static rung_status push_text(machine *m, size_t len)
{
    const uint8_t *bytes;
    if (!take(m, &bytes, len)) return cut_short(m);
    pickle_value *value = new_value(m, PICKLE_TEXT);
    char *text = value ? text_of(m, bytes, len) : NULL;
    if (!text) return RUNG_SYSTEM;
    if (strlen(text) != len || !io_utf8_valid(text)) return refuse(m, "a text is not UTF-8");
    value->text = text;
    return push(m, value);
}

static rung_status append(machine *m, pickle_value *list, const pickle_value *item)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 4;
        const pickle_value **grown = rung_arena_alloc(m->arena, room, sizeof *grown, m->err);
        if (!grown) return RUNG_SYSTEM;
        if (list->count) memcpy(grown, list->item, list->count * sizeof *grown);
        list->item = grown, list->room = room;
    }
    list->item[list->count++] = item;
    return RUNG_OK;
}

/* ---- the stack ---- */

static rung_status pop(machine *m, pickle_value **value)
{
    if (m->depth == 0 || !m->stack[m->depth - 1]) return refuse(m, "takes a value from an empty stack; it is damaged");
    *value = m->stack[--m->depth];
    return RUNG_OK;
}

/* The place behind the highest mark. */
static rung_status find_mark(const machine *m, size_t *first)
{
    for (*first = m->depth; *first > 0; (*first)--)
        if (!m->stack[*first - 1]) return RUNG_OK;
    return refuse(m, "looks for a mark that is not there; it is damaged");
}

/* Moves the values from `first` on to the end of `list`. */
static rung_status gather(machine *m, pickle_value *list, size_t first)
{
    for (size_t i = first; i < m->depth; i++) RUNG_TRY(append(m, list, m->stack[i]));
    m->depth = first;
    return RUNG_OK;
}

static rung_status make_tuple(machine *m, size_t first)
{
    pickle_value *tuple = new_value(m, PICKLE_TUPLE);
    if (!tuple) return RUNG_SYSTEM;
    RUNG_TRY(gather(m, tuple, first));
    return push(m, tuple);
}

static rung_status make_marked_tuple(machine *m)
{
    size_t first;
    RUNG_TRY(find_mark(m, &first));
    pickle_value *tuple = new_value(m, PICKLE_TUPLE);
    if (!tuple) return RUNG_SYSTEM;
    RUNG_TRY(gather(m, tuple, first));
    m->depth--; /* the mark */
    return push(m, tuple);
}

static rung_status make_short_tuple(machine *m, size_t count)
{
    if (m->depth < count) return refuse(m, "makes a tuple of values that are not there; it is damaged");
    for (size_t i = 1; i <= count; i++)
        if (!m->stack[m->depth - i]) return refuse(m, "makes a tuple across a mark; it is damaged");
    return make_tuple(m, m->depth - count);
}

/* Puts everything behind the mark into the list or dict before it. */
static rung_status put_marked(machine *m, pickle_kind kind)
{
    size_t first;
    RUNG_TRY(find_mark(m, &first));
    pickle_value *into = first >= 2 ? m->stack[first - 2] : NULL;
    if (!into || into->kind != kind) return refuse(m, "fills something that is not a list or dict");
    if (kind == PICKLE_DICT && (m->depth - first) % 2) return refuse(m, "has a key without a value");
    RUNG_TRY(gather(m, into, first));
    m->depth--;
    return RUNG_OK;
}

static rung_status put_last(machine *m, pickle_kind kind)
{
    size_t count = kind == PICKLE_DICT ? 2 : 1;
    pickle_value *into = m->depth > count ? m->stack[m->depth - count - 1] : NULL;
    for (size_t i = 1; i <= count && into; i++)
        if (!m->stack[m->depth - i]) into = NULL;
    if (!into || into->kind != kind) return refuse(m, "fills something that is not a list or dict");
    return gather(m, into, m->depth - count);
}

/* ---- memo ---- */

static rung_status remember(machine *m, size_t index)
{
    if (m->depth == 0 || !m->stack[m->depth - 1]) return refuse(m, "remembers a value that is not there");
    if (index >= m->memo_size) return refuse(m, "has more places in its memory than bytes; it is damaged");
    m->memo[index] = m->stack[m->depth - 1];
    return RUNG_OK;
}

static rung_status recall(machine *m, size_t index)
{
    if (index >= m->memo_size || !m->memo[index]) return refuse(m, "recalls a value that was never remembered");
    return push(m, m->memo[index]);
}

/* ---- globals and calls ---- */

static rung_status push_global(machine *m, const char *module, const char *name)
{
    pickle_value *value = new_value(m, PICKLE_GLOBAL);
    size_t size = strlen(module) + strlen(name) + 2;
    char *text = value ? rung_arena_alloc(m->arena, size, 1, m->err) : NULL;
    if (!text) return RUNG_SYSTEM;
    snprintf(text, size, "%s %s", module, name);
    value->text = text;
    return push(m, value);
}

/* Two lines: module and name. */
static rung_status read_global(machine *m)
{
    char *line[2];
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *stop = memchr(m->at, '\n', (size_t)(m->end - m->at));
        if (!stop) return cut_short(m);
        line[i] = text_of(m, m->at, (size_t)(stop - m->at));
        if (!line[i]) return RUNG_SYSTEM;
        m->at = stop + 1;
    }
    return push_global(m, line[0], line[1]);
}

static rung_status read_stacked_global(machine *m)
{
    pickle_value *module = NULL, *name = NULL;
    RUNG_TRY(pop(m, &name));
    RUNG_TRY(pop(m, &module));
    if (module->kind != PICKLE_TEXT || name->kind != PICKLE_TEXT) return refuse(m, "names a global without a text");
    return push_global(m, module->text, name->text);
}

bool io_pickle_is_global(const pickle_value *value, const char *name)
{
    return value->kind == PICKLE_GLOBAL && strcmp(value->text, name) == 0;
}

/* An OrderedDict is filled like a dict, so it becomes one at once. Any other call is only written down. */
static rung_status note_call(machine *m)
{
    pickle_value *arguments = NULL, *callee = NULL;
    RUNG_TRY(pop(m, &arguments));
    RUNG_TRY(pop(m, &callee));
    if (callee->kind != PICKLE_GLOBAL || arguments->kind != PICKLE_TUPLE)
        return refuse(m, "calls something that is not a global; it is not a state dict");
    if (io_pickle_is_global(callee, "collections OrderedDict") && arguments->count == 0)
        return push(m, new_value(m, PICKLE_DICT));
    pickle_value *call = new_value(m, PICKLE_CALL);
    if (!call) return RUNG_SYSTEM;
    RUNG_TRY(append(m, call, callee));
    RUNG_TRY(append(m, call, arguments));
    return push(m, call);
}

static rung_status note_persistent(machine *m)
{
    pickle_value *name;
    RUNG_TRY(pop(m, &name));
    if (name->kind != PICKLE_TUPLE) return refuse(m, "names an object outside without a tuple");
    pickle_value *value = new_value(m, PICKLE_PERSISTENT);
    if (!value) return RUNG_SYSTEM;
    RUNG_TRY(append(m, value, name));
    return push(m, value);
}

/* A state dict carries attributes such as _metadata, which are dropped. */
static rung_status drop_attributes(machine *m)
{
    pickle_value *attributes;
    RUNG_TRY(pop(m, &attributes));
    if (m->depth == 0 || !m->stack[m->depth - 1] || m->stack[m->depth - 1]->kind != PICKLE_DICT)
        return refuse(m, "sets attributes of an object; it is not a state dict");
    return RUNG_OK;
}

/* ---- numbers ---- */

/* Little endian, two's complement, at most 8 bytes. */
static rung_status push_long(machine *m)
{
    const uint8_t *len, *bytes;
    if (!take(m, &len, 1) || !take(m, &bytes, *len)) return cut_short(m);
    if (*len > 8) return refuse(m, "has an integer of more than 64 bits");
    uint64_t value = *len && bytes[*len - 1] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = *len; i-- > 0;) value = value << 8 | bytes[i];
    return push_int(m, PICKLE_INT, (int64_t)value);
}

static size_t little(const uint8_t *bytes, size_t count)
{
    return count == 1 ? bytes[0] : count == 2 ? io_le16(bytes) : io_le32(bytes);
}

/* The operand of `count` bytes, a size or an index. */
static rung_status operand(machine *m, size_t *value, size_t count)
{
    const uint8_t *bytes;
    if (!take(m, &bytes, count)) return cut_short(m);
    *value = little(bytes, count);
    return RUNG_OK;
}

static rung_status skip(machine *m, size_t count)
{
    const uint8_t *bytes;
    return take(m, &bytes, count) ? RUNG_OK : cut_short(m);
}

static rung_status push_number(machine *m, opcode op)
{
    size_t value = 0;
    RUNG_TRY(operand(m, &value, op == OP_BININT ? 4 : op == OP_BININT2 ? 2 : 1));
    return push_int(m, PICKLE_INT, op == OP_BININT ? (int32_t)(uint32_t)value : (int64_t)value);
}

/* ---- the program ---- */

static rung_status run_opcode(machine *m, opcode op)
{
    size_t value = 0;
    pickle_value *dropped;
    switch (op) {
    case OP_PROTO:
        RUNG_TRY(operand(m, &value, 1));
        return value >= 2 && value <= 5 ? RUNG_OK : refuse(m, "has a protocol other than 2 to 5");
    case OP_FRAME:
        return skip(m, 8);
    case OP_MARK:
        m->stack[m->depth++] = NULL;
        return RUNG_OK;
    case OP_POP:
        return pop(m, &dropped);
    case OP_NONE:
        return push(m, new_value(m, PICKLE_NONE));
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        return push_int(m, PICKLE_BOOL, op == OP_NEWTRUE);
    case OP_BININT:
    case OP_BININT1:
    case OP_BININT2:
        return push_number(m, op);
    case OP_LONG1:
        return push_long(m);
    case OP_BINFLOAT:
        RUNG_TRY(skip(m, 8));
        return push(m, new_value(m, PICKLE_REAL));
    case OP_BINUNICODE:
    case OP_SHORT_BINUNICODE:
        RUNG_TRY(operand(m, &value, op == OP_BINUNICODE ? 4 : 1));
        return push_text(m, value);
    case OP_EMPTY_TUPLE:
        return make_short_tuple(m, 0);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return make_short_tuple(m, (size_t)op - OP_TUPLE1 + 1);
    case OP_TUPLE:
        return make_marked_tuple(m);
    case OP_EMPTY_LIST:
        return push(m, new_value(m, PICKLE_LIST));
    case OP_EMPTY_DICT:
        return push(m, new_value(m, PICKLE_DICT));
    case OP_APPEND:
        return put_last(m, PICKLE_LIST);
    case OP_APPENDS:
        return put_marked(m, PICKLE_LIST);
    case OP_SETITEM:
        return put_last(m, PICKLE_DICT);
    case OP_SETITEMS:
        return put_marked(m, PICKLE_DICT);
    case OP_BINPUT:
    case OP_LONG_BINPUT:
        RUNG_TRY(operand(m, &value, op == OP_BINPUT ? 1 : 4));
        return remember(m, value);
    case OP_MEMOIZE:
        return remember(m, m->memo_used++);
    case OP_BINGET:
    case OP_LONG_BINGET:
        RUNG_TRY(operand(m, &value, op == OP_BINGET ? 1 : 4));
        return recall(m, value);
    case OP_GLOBAL:
        return read_global(m);
    case OP_STACK_GLOBAL:
        return read_stacked_global(m);
    case OP_REDUCE:
        return note_call(m);
    case OP_BINPERSID:
        return note_persistent(m);
    case OP_BUILD:
        return drop_attributes(m);
    default:
        return rung_fail(m->err, RUNG_INPUT, "pickle, byte %zu: opcode %d is not one of those that build a state dict",
                         (size_t)(m->at - m->start) - 1, (int)op);
    }
}

static rung_status run(machine *m, const pickle_value **out)
{
    const uint8_t *op;
    pickle_value *last;
    while (take(m, &op, 1)) {
        if (*op != OP_STOP) {
            RUNG_TRY(run_opcode(m, (opcode)*op));
            continue;
        }
        RUNG_TRY(pop(m, &last));
        *out = last;
        return m->depth == 0 ? RUNG_OK : refuse(m, "leaves values on its stack; it is damaged");
    }
    return cut_short(m);
}

rung_status io_pickle_read(const pickle_value **out, rung_arena *arena, const uint8_t *bytes, size_t size,
                           rung_error *err)
{
    machine m = {.arena = arena, .at = bytes, .end = bytes + size, .start = bytes, .memo_size = size, .err = err};
    m.stack = rung_calloc(size + 1, sizeof *m.stack, err);
    m.memo = m.stack ? rung_calloc(size + 1, sizeof *m.memo, err) : NULL;
    rung_status status = m.memo ? run(&m, out) : RUNG_SYSTEM;
    free(m.stack);
    free(m.memo);
    return status;
}
