/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What an architecture of GGUF files fixes by its name.
 */
#ifndef RUNG_CONFIG_GGUF_ARCH_H
#define RUNG_CONFIG_GGUF_ARCH_H

#include "reader.h"

typedef enum cfg_windows {
    WINDOWS_UNKNOWN = 0, /* an architecture that is not known */
    WINDOWS_NONE,        /* attention.sliding_window is not looked at */
    WINDOWS_LAST,        /* the last layer of each period is dense; a list in the file decides instead */
    WINDOWS_FIRST,       /* the first one */
    WINDOWS_LIST,        /* the file has a list */
    WINDOWS_ALL,         /* every layer that attends */
    WINDOWS_COMPRESSED,  /* attention.compress_ratios decides */
    WINDOWS_CHUNKS,      /* chunks but for the last layer of each period */
} cfg_windows;

typedef struct cfg_arch {
    const char *name;
    cfg_windows windows;
    unsigned period;     /* where the file writes none */
    unsigned size;       /* of a window or chunk where the file writes none; 0: it must */
    const char *pattern; /* kinds, tiled: letters as in family.c; NULL: the file says */
    unsigned sees;       /* a flag of FAMILY_SEES, 0: not known */
    unsigned interval;   /* every such layer is full, the others recurrent; 0: the file says */
    unsigned owners;     /* only so many layers keep keys and values; 0: all, or the file says */
    bool layers_known;
} cfg_arch;

/* A row of zeros when the name is unknown. */
const cfg_arch *cfg_arch_of(const char *name);
/* The part of a key behind "{arch}.". */
bool cfg_arch_key_is_known(const char *key);

#endif
