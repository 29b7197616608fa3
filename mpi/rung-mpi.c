/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A rung_team over MPI: the only file that includes mpi.h. A failure of MPI ends the whole job, which is the default of
 * MPI.
 */
#include "mpi_entry.h"

#include <mpi.h>

#include <stdlib.h>
#include <unistd.h>

/* A count in MPI is an int; larger parcels go in pieces. */
#define PIECE (1 << 30)

typedef struct lines {
    MPI_Comm exchange, messages; /* two communicators, so that a message is never taken for a parcel */
} lines;

static lines line;
static rung_team team;

/* ---- parcels ----------------------------------------------------------------------------------------------------- */

typedef struct flight {
    MPI_Request *request;
    size_t count, room;
} flight;

static MPI_Request *next_request(flight *f)
{
    if (f->count == f->room) {
        f->room = f->room ? 2 * f->room : 64;
        f->request = realloc(f->request, f->room * sizeof *f->request);
        if (!f->request) MPI_Abort(MPI_COMM_WORLD, RUNG_SYSTEM);
    }
    return &f->request[f->count++];
}

static void begin_parcel(flight *f, const rung_parcel *parcel, int tag)
{
    for (size_t at = 0; at < parcel->size; at += PIECE) {
        char *bytes = (char *)parcel->bytes + at;
        int size = parcel->size - at < PIECE ? (int)(parcel->size - at) : PIECE;
        if (parcel->from == team.rank)
            MPI_Isend(bytes, size, MPI_BYTE, (int)parcel->to, tag, line.exchange, next_request(f));
        else
            MPI_Irecv(bytes, size, MPI_BYTE, (int)parcel->from, tag, line.exchange, next_request(f));
    }
}

static void exchange(void *context, const rung_parcel *parcel, size_t parcels)
{
    static flight f; /* static, because a training step makes hundreds of these */
    (void)context;
    f.count = 0;
    for (size_t i = 0; i < parcels; i++)
        if (parcel[i].from == team.rank || parcel[i].to == team.rank) begin_parcel(&f, &parcel[i], (int)i);
    MPI_Waitall((int)f.count, f.request, MPI_STATUSES_IGNORE);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void send_message(void *context, size_t to, const void *bytes, size_t size)
{
    (void)context;
    MPI_Send(bytes, (int)size, MPI_BYTE, (int)to, 0, line.messages);
}

static bool receive_message(void *context, size_t *from, void *bytes, size_t size)
{
    int there = 0;
    MPI_Status status;
    (void)context;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, line.messages, &there, &status);
    if (!there) return false;
    *from = (size_t)status.MPI_SOURCE;
    MPI_Recv(bytes, (int)size, MPI_BYTE, status.MPI_SOURCE, 0, line.messages, MPI_STATUS_IGNORE);
    return true;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

static void complain(rung_error *err, size_t size, int seen)
{
    snprintf(
        err->text, sizeof err->text,
        "%zu processes were started together, but MPI sees %d: rung-mpi.so was built for another MPI than the one that "
        "started them; use the mpirun that belongs to its mpicc",
        size, seen);
}

static const rung_team *join(size_t size, rung_error *err)
{
    int level, rank, seen;
    /* One thread at a time calls MPI, but not always the same one. */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &seen);
    if ((size_t)seen != size || level < MPI_THREAD_SERIALIZED) {
        if ((size_t)seen != size)
            complain(err, size, seen);
        else
            snprintf(err->text, sizeof err->text, "this MPI does not allow threads (MPI_THREAD_SERIALIZED)");
        MPI_Finalize();
        return NULL;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &line.exchange);
    MPI_Comm_dup(MPI_COMM_WORLD, &line.messages);
    team = (rung_team){
        .rank = (size_t)rank, .size = size, .exchange = exchange, .send = send_message, .receive = receive_message};
    return &team;
}

static bool leave(double patience_s)
{
    MPI_Request all;
    int there = 0;
    double until = MPI_Wtime() + patience_s;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (;;) {
        MPI_Test(&all, &there, MPI_STATUS_IGNORE);
        if (there) break;
        if (patience_s >= 0 && MPI_Wtime() > until) return false;
        usleep(1000);
    }
    MPI_Finalize();
    return true;
}

static void abort_all(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

const rung_mpi rung_mpi_entry = {.version = RUNG_VERSION, .join = join, .leave = leave, .abort = abort_all};
