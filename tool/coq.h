/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Runs coqc on a proof file, as a process of its own.
 */
#ifndef RUNG_TOOL_COQ_H
#define RUNG_TOOL_COQ_H

#include "rung/bound.h"

/* Fills proof->checked with "coqc 8.16.1" if coqc accepts the file and it rests on no axiom. RUNG_SYSTEM with what
 * to install or to run where coqc or the compiled proofs are missing, and with what coqc says where it does not
 * accept the file. The proofs are looked for in the directory RUNG_PROOFS, in `proofs` beside this program, and in
 * ../share/rung/proofs. */
rung_status rung_coq_check(rung_proof *proof, rung_error *err);

/* The last part of a path that coqc accepts: a name of letters, digits and _ that does not begin with a digit, then
 * ".v". */
bool rung_coq_name(const char *path);

#endif
