/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Properties that the name of a GGUF architecture determines.
 */
#ifndef RUNG_CONFIG_GGUF_ARCH_H
#define RUNG_CONFIG_GGUF_ARCH_H

#include "reader.h"

typedef enum cfg_windows {
    WINDOWS_UNKNOWN = 0, /* unknown architecture */
    WINDOWS_NONE,        /* attention.sliding_window is ignored */
    WINDOWS_LAST,        /* the last layer of each period is dense, unless the file has a list */
    WINDOWS_FIRST,       /* the first layer of each period is dense */
    WINDOWS_LIST,        /* the file has a list */
    WINDOWS_ALL,         /* every layer that attends */
    WINDOWS_COMPRESSED,  /* attention.compress_ratios decides */
    WINDOWS_CHUNKS,      /* chunks but for the last layer of each period */
} cfg_windows;

typedef struct cfg_arch {
    const char *name;
    cfg_windows windows;
    unsigned period;     /* where the file writes none */
    unsigned size;       /* size of a window or chunk if the file states none; 0: the file must state it */
    const char *pattern; /* kinds, tiled: letters as in family.c; NULL: the file states them */
    unsigned sees;       /* a flag of FAMILY_SEES; 0: unknown */
    unsigned interval;   /* every interval-th layer is full, the others are recurrent; 0: the file states it */
    unsigned owners;     /* only this many layers keep keys and values; 0: all, or the file states it */
    bool layers_known;
} cfg_arch;

/* Returns a row of zeros when the name is unknown. */
const cfg_arch *cfg_arch_of(const char *name);
/* Keys after "{arch}." that every file has, separated by blanks. */
const char *cfg_arch_needs(const char *name);
/* `key` is the part after "{arch}.". */
bool cfg_arch_key_is_known(const char *key);

#endif
