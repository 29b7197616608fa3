/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * doctor: what this rung was built with, what of it this machine can use, what stands beside it, and what to do about
 * what is not there. Layer 10.
 */
#ifndef RUNG_DOCTOR_H
#define RUNG_DOCTOR_H

#include "rung/base.h"
#include "rung/render.h"

RUNG_API_BEGIN

typedef enum rung_health {
    RUNG_HEALTH_FOUND,
    RUNG_HEALTH_UNUSED, /* built in, but this machine or RUNG_ISA does not allow it */
    RUNG_HEALTH_ABSENT, /* what it gives is not there; nothing else is wrong */
    RUNG_HEALTH_BROKEN, /* it is there and does not fit this rung */
} rung_health;

/* "found", "unused", "absent", "broken" */
const char *rung_health_name(rung_health health);

enum { RUNG_DOCTOR_ROWS = 32 };

typedef struct rung_doctor_row {
    const char *group; /* "library", "kernels", "page" or "beside" */
    const char *name;
    rung_health health;
    char detail[96];   /* a version, or why it is not used; may be "" */
    const char *gives; /* what there is with it */
    char remedy[320];  /* what to do when it is absent or broken; may be "" */
} rung_doctor_row;

typedef struct rung_doctor {
    const char *target; /* "x86_64" */
    size_t threads;
    size_t count, absent, broken;
    rung_doctor_row row[RUNG_DOCTOR_ROWS];
} rung_doctor;

/* Looks. `mpi` is what the program knows of its library of MPI; NULL: the program has none. Fails only when RUNG_ISA is
 * no instruction set. */
rung_status rung_doctor_look(rung_doctor *out, const rung_doctor_row *mpi, rung_error *err);
/* The document rung.doctor/1. */
void rung_doctor_json(rung_buf *out, const rung_doctor *doctor);

RUNG_API_END

#endif
