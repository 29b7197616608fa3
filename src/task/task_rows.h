/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The rows that task files define: src/task/<name>.c, dashes as underscores, defines rung_task_<name>. One
 * exception: the row of the task "count" is rung_task_counting, because rung_task_count is a public function.
 * A row is part of the library only once task_registry.c lists it. Private to the module.
 */
#ifndef RUNG_TASK_ROWS_H
#define RUNG_TASK_ROWS_H

#include "rung/task.h"

extern const rung_task rung_task_eva;
extern const rung_task rung_task_index;
extern const rung_task rung_task_retrieval;
extern const rung_task rung_task_percom;
extern const rung_task rung_task_assoc_recall;
extern const rung_task rung_task_c_gram;
extern const rung_task rung_task_mqar;
extern const rung_task rung_task_mkar;
extern const rung_task rung_task_selective_copy;
extern const rung_task rung_task_palindrome;
extern const rung_task rung_task_counting;
extern const rung_task rung_task_is_tree;
extern const rung_task rung_task_two_sum;
extern const rung_task rung_task_three_sum;
extern const rung_task rung_task_q_sparse_average;
extern const rung_task rung_task_dyck;
extern const rung_task rung_task_string_equality;
extern const rung_task rung_task_disjointness;
extern const rung_task rung_task_nearest_neighbour;
extern const rung_task rung_task_k_hop;
extern const rung_task rung_task_parity;
extern const rung_task rung_task_group_word;
extern const rung_task rung_task_stacks;
extern const rung_task rung_task_state_recall;
extern const rung_task rung_task_parity_recall;
extern const rung_task rung_task_variable_tracking;
extern const rung_task rung_task_self_compose;
extern const rung_task rung_task_seqcomp;

#endif
