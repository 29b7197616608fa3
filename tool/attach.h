/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A certificate goes into the store beside the run whose model it is about; rung report shows it in the cell of that run.
 */
#ifndef RUNG_TOOL_ATTACH_H
#define RUNG_TOOL_ATTACH_H

#include "rung/cert.h"

/* The run is found by the SHA-256 of its model, so the store must have kept it ("keep-models": true). `path`: the certificate. */
rung_status rung_attach_certificate(const char *store, const rung_cert *cert, const char *path, rung_error *err);

#endif
