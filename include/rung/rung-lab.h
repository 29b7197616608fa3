/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung: every public header of librung-lab at once, and those of librung, on which it stands: stores of runs and sweeps,
 * reports, probes of served models, and the server.
 */
#ifndef RUNG_RUNG_LAB_H
#define RUNG_RUNG_LAB_H

#include "rung/rung.h"

#include "rung/bench.h"
#include "rung/lab.h"

#include "rung/doctor.h"
#include "rung/explore.h"
#include "rung/probe.h"
#include "rung/report.h"
#include "rung/serve.h"
#include "rung/table.h"

#endif
