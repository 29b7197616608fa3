/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Help about things that several commands take: rung help arch, numbers, tasks, verdicts.
 */
#ifndef RUNG_TOOL_TOPICS_H
#define RUNG_TOOL_TOPICS_H

#include "command.h"

typedef struct tool_topic {
    const char *name, *summary;
    const tool_example *examples;
    const tool_example *terms; /* what one writes or reads, and what it means */
    const char *more;          /* where there is more */
} tool_topic;

size_t tool_topic_count(void);
const tool_topic *tool_topic_at(size_t index);
const tool_topic *tool_topic_get(const char *name); /* NULL: there is none of this name */

#endif
