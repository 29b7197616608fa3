/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of config share: a ledger from a text or a fixture, and a refusal with its message.
 */
#ifndef RUNG_CONFIG_TEST_H
#define RUNG_CONFIG_TEST_H

#include <dirent.h>

#include "io/io_test.h"

#include "rung/config.h"

/* Tests run from the root of the tree. */
static inline const char *config_fixture(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "tests/fixtures/config/%s.json", name);
    return path;
}

/* Calls for every fixture, by its name; how many there are. */
static inline size_t for_every_fixture(void (*each)(const char *name, size_t index))
{
    size_t count = 0;
    char path[256];
    snprintf(path, sizeof path, "%s", config_fixture(""));
    *strrchr(path, '/') = '\0';
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        char *dot = strstr(entry->d_name, ".json");
        if (!dot) continue;
        *dot = '\0';
        each(entry->d_name, count++);
    }
    closedir(directory);
    return count;
}

/* From exactly as many bytes as the text has, at an odd address. */
static inline rung_ledger read_text(const char *text)
{
    rung_ledger ledger;
    rung_error err = {{0}};
    uint8_t *copy = odd_copy(text, strlen(text));
    if (rung_ledger_open_bytes(&ledger, copy, strlen(text), "m.json", &err)) print_error("%s\n", err.text);
    assert_string_equal(err.text, "");
    free_odd(copy);
    return ledger;
}

static inline void refused_text(const char *text, const char *fault)
{
    rung_ledger ledger;
    rung_error err = {{0}};
    uint8_t *copy = odd_copy(text, strlen(text));
    assert_int_equal(rung_ledger_open_bytes(&ledger, copy, strlen(text), "m.json", &err), RUNG_INPUT);
    assert_message(err, "m.json", fault);
    assert_null(ledger.layer);
    assert_int_equal(rung_ledger_open_bytes(&ledger, copy, strlen(text), "m.json", NULL), RUNG_INPUT);
    free_odd(copy);
}

/* One letter per layer: F full, W window, C chunk, S sparse, R recurrent, H recurrent and full, D recurrent and window,
 * M none. */
static inline char letter_of(const rung_ledger_layer *held)
{
    if (held->mlp) return held->full || held->recurrent || held->window || held->chunk || held->sparse ? '?' : 'M';
    if (held->recurrent) return held->full ? 'H' : held->window ? 'D' : 'R';
    return held->full ? 'F' : held->window ? 'W' : held->chunk ? 'C' : held->sparse ? 'S' : '?';
}

static inline void assert_layers(const rung_ledger *ledger, const char *letters)
{
    char found[256] = {0};
    assert_true(ledger->layer_count < sizeof found);
    for (size_t i = 0; i < ledger->layer_count; i++) found[i] = letter_of(&ledger->layer[i]);
    assert_string_equal(found, letters);
}

/* The value of a premise, and a part of its reason. */
static inline void assert_fact(const rung_ledger *ledger, rung_ledger_fact fact, rung_fact is, const char *why)
{
    const rung_known *known = &ledger->known[fact];
    if (!known->why) fail_msg("%s: premise %d has no reason", ledger->name, (int)fact);
    if (known->is != is || !strstr(known->why, why))
        fail_msg("%s: premise %d is %d (%s), not %d (%s)", ledger->name, (int)fact, (int)known->is, known->why, (int)is,
                 why);
}

static inline bool has_note(const rung_ledger *ledger, const char *part)
{
    for (size_t i = 0; i < ledger->note_count; i++)
        if (strstr(ledger->note[i], part)) return true;
    return false;
}

#endif
