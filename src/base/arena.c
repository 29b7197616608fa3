/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * size, arena, heap: memory with checked products. An arena is a list of zeroed blocks; nothing in it is
 * freed or reused before rung_arena_clear, so fresh memory is zero without a memset. A large item is a mapping of its
 * own, for which we ask the system for huge pages.
 */
#include "rung/base.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGN 64 /* a cache line, and the widest vector */

/* The size of a block. A small arena takes one block, and a thousand small items need few. */
#define BLOCK_SIZE ((size_t)64 * 1024)

/* A processor remembers the places of a few thousand pages, and 4096 tokens with their gradients have more pages of 4
 * KiB than that. Blocks of at least one huge page begin near the beginning of one, and their whole huge pages are asked
 * for. The last part of a block has small pages, so a block does not take more memory than it has. */
#define HUGE_PAGE ((size_t)2 * 1024 * 1024)

/* Rows of several large arrays are read together. If all arrays began at the same place of a page, these rows would
 * share few sets of every cache. So each begins some rows further than the one before. */
enum { STAGGER = 4096 + 256, STAGGERED = 16 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#endif

/* Under AddressSanitizer the bytes between allocations are poisoned, so an overrun inside an arena is found. */
#ifdef WITH_ASAN
void __asan_poison_memory_region(const volatile void *, size_t);
void __asan_unpoison_memory_region(const volatile void *, size_t);
#define FORBID(memory, size) __asan_poison_memory_region(memory, size)
#define PERMIT(memory, size) __asan_unpoison_memory_region(memory, size)
#define GAP                  ALIGN
#else
#define FORBID(memory, size) ((void)0)
#define PERMIT(memory, size) ((void)0)
#define GAP                  0
#endif

bool rung_size_mul(size_t *out, size_t a, size_t b)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

bool rung_size_add(size_t *out, size_t a, size_t b)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

static void *fail_overflow(size_t count, size_t size, rung_error *err)
{
    rung_fail(err, RUNG_SYSTEM, "%zu items of %zu bytes do not fit into the address space; try a smaller size", count,
              size);
    return NULL;
}

static void *fail_memory(size_t bytes, rung_error *err)
{
    rung_fail(err, RUNG_SYSTEM, "out of memory for %zu more bytes; try a smaller size", bytes);
    return NULL;
}

void *rung_calloc(size_t count, size_t size, rung_error *err)
{
    size_t bytes;
    if (!rung_size_mul(&bytes, count, size)) return fail_overflow(count, size, err);
    void *memory = calloc(bytes ? bytes : 1, 1);
    return memory ? memory : fail_memory(bytes, err);
}

/* ---- arena ------------------------------------------------------------------------------------------------------- */

struct rung_arena_block {
    struct rung_arena_block *next;
    char *free; /* aligned */
    size_t room;
    void *mapping; /* NULL: the block is from the heap */
    size_t mapped; /* bytes of the mapping */
};

/* The sanitizer looks for pointers in the heap only, and would call what they point to leaked. */
static bool is_mapped(size_t room)
{
#ifdef WITH_ASAN
    (void)room;
    return false;
#else
    return room >= HUGE_PAGE;
#endif
}

/* A block of zeroed memory, or NULL. A system without huge pages gives small ones. The head of the block is elsewhere:
 * what nobody writes shall take no memory. */
static struct rung_arena_block *map_block(size_t room, size_t number)
{
    size_t skip = number % STAGGERED * STAGGER, whole;
    if (!rung_size_add(&whole, room, HUGE_PAGE + skip)) return NULL;
    struct rung_arena_block *block = calloc(1, sizeof *block);
    char *mapping = block ? mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (mapping == MAP_FAILED) {
        free(block);
        return NULL;
    }
    char *aligned = mapping + (HUGE_PAGE - (uintptr_t)mapping % HUGE_PAGE) % HUGE_PAGE;
#ifdef MADV_HUGEPAGE
    (void)madvise(aligned, skip + room, MADV_HUGEPAGE); /* advice: without it the memory is the same, but slower */
#endif
    *block = (struct rung_arena_block){.free = aligned + skip, .room = room, .mapping = mapping, .mapped = whole};
    return block;
}

static struct rung_arena_block *heap_block(size_t room)
{
    size_t bytes;
    if (!rung_size_add(&bytes, room, sizeof(struct rung_arena_block) + ALIGN)) return NULL;
    struct rung_arena_block *block = calloc(bytes, 1);
    if (!block) return NULL;
    uintptr_t after = (uintptr_t)(block + 1);
    block->free = (char *)(block + 1) + (ALIGN - after % ALIGN) % ALIGN;
    block->room = room;
    FORBID(block->free, room);
    return block;
}

static struct rung_arena_block *new_block(size_t room, size_t number)
{
    assert(room > 0 && room % ALIGN == 0);
    return is_mapped(room) ? map_block(room, number) : heap_block(room);
}

static void free_block(struct rung_arena_block *block)
{
    if (block->mapping) munmap(block->mapping, block->mapped);
    free(block);
}

void rung_arena_init(rung_arena *arena)
{
    *arena = (rung_arena){0};
}

void rung_arena_clear(rung_arena *arena)
{
    while (arena->head) {
        struct rung_arena_block *block = arena->head;
        arena->head = block->next;
        free_block(block);
    }
    rung_arena_init(arena);
}

/* Returns a block with room for `need` more bytes, or NULL. The block is the head of the list, except for a large item:
 * that gets a block of its own behind the head, so that the free room of the head stays in use. */
static struct rung_arena_block *block_with_room(rung_arena *arena, size_t need)
{
    if (arena->head && arena->head->room >= need) return arena->head;
    bool large = need > BLOCK_SIZE / 4;
    struct rung_arena_block *block = new_block(large ? need : BLOCK_SIZE, arena->mapped);
    if (!block) return NULL;
    arena->mapped += block->mapping != NULL;
    if (large && arena->head) {
        block->next = arena->head->next;
        arena->head->next = block;
    } else {
        block->next = arena->head;
        arena->head = block;
    }
    return block;
}

void *rung_arena_alloc(rung_arena *arena, size_t count, size_t size, rung_error *err)
{
    size_t bytes, need;
    if (!rung_size_mul(&bytes, count, size) || !rung_size_add(&need, bytes, GAP + ALIGN - 1))
        return fail_overflow(count, size, err);
    need -= need % ALIGN;
    if (need == 0) need = ALIGN; /* an item of no bytes still gets an address of its own */
    struct rung_arena_block *block = block_with_room(arena, need);
    if (!block) return fail_memory(bytes, err);
    char *memory = block->free;
    block->free += need;
    block->room -= need;
    arena->bytes += bytes;
    PERMIT(memory, bytes);
    return memory;
}

char *rung_arena_strdup(rung_arena *arena, const char *text, rung_error *err)
{
    size_t len = strlen(text);
    char *copy = rung_arena_alloc(arena, len + 1, 1, err);
    if (copy) memcpy(copy, text, len);
    return copy;
}
