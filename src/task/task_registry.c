/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The registry of tasks: one line per task, in the order in which the user sees them (lookups first, then sets and
 * languages, composition last). Adding a task is: its file, a line in task_rows.h, a line here, its section in
 * docs/tasks.md, and the bytes of its first instances in tests/task/golden.inc, which test_core prints.
 */
#include <string.h>

#include "common.h"
#include "task_rows.h"

/* clang-format off */
static const rung_task *const registry[] = {
    &rung_task_eva,
    &rung_task_index,
    &rung_task_retrieval,
    &rung_task_percom,
    &rung_task_assoc_recall,
    &rung_task_c_gram,
    &rung_task_mqar,
    &rung_task_mkar,
    &rung_task_selective_copy,
    &rung_task_palindrome,
    &rung_task_counting,
    &rung_task_is_tree,
    &rung_task_two_sum,
    &rung_task_three_sum,
    &rung_task_q_sparse_average,
    &rung_task_dyck,
    &rung_task_string_equality,
    &rung_task_disjointness,
    &rung_task_nearest_neighbour,
    &rung_task_k_hop,
    &rung_task_parity,
    &rung_task_group_word,
    &rung_task_stacks,
    &rung_task_state_recall,
    &rung_task_parity_recall,
    &rung_task_variable_tracking,
    &rung_task_self_compose,
    &rung_task_seqcomp,
};
/* clang-format on */

size_t rung_task_count(void)
{
    return RUNG_COUNT(registry);
}

const rung_task *rung_task_at(size_t index)
{
    return index < RUNG_COUNT(registry) ? registry[index] : NULL;
}

const rung_task *rung_task_get(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(registry); i++)
        if (strcmp(registry[i]->name, name) == 0) return registry[i];
    return NULL;
}

static void all_names(const char *names[RUNG_COUNT(registry)])
{
    for (size_t i = 0; i < RUNG_COUNT(registry); i++) names[i] = registry[i]->name;
}

const char *rung_task_name_at(size_t index)
{
    return index < rung_task_count() ? rung_task_at(index)->name : NULL;
}

const char *rung_task_nearest(const char *name)
{
    const char *names[RUNG_COUNT(registry)];
    all_names(names);
    return rung_nearest_name(name, names, RUNG_COUNT(registry));
}

rung_status rung_task_unknown(const char *name, rung_error *err)
{
    const char *names[RUNG_COUNT(registry)];
    all_names(names);
    return rung_fail_unknown(err, "task", name, names, RUNG_COUNT(registry));
}
