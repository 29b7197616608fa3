/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * PyTorch as another process (bench_peer.py), asked line by line in JSON.
 */
#ifndef RUNG_BENCH_PEER_H
#define RUNG_BENCH_PEER_H

#include <sys/types.h>

#include "bench_inside.h"
#include "rung/io.h"
#include "rung/render.h"

typedef struct bench_peer {
    pid_t process; /* 0: there is none */
    FILE *to, *from;
    bool current; /* PyTorch 2 or later */
} bench_peer;

/* Both spellings of bench_peer.py. */
enum { BENCH_SPELLINGS = 2 };
extern const char *const bench_spellings[BENCH_SPELLINGS];

/* Without Python or PyTorch, or with --no-peer, the peer does not run, and a note says so: no error, unless --peer
 * names it. A peer whose products are too slow for this processor has the wrong BLAS: an error that says what it
 * needs, or with --quick, which judges nothing, a note. Describes the peer in the report. The instruction set is that
 * of rung_cpu_isa(), for both. */
rung_status bench_peer_start(bench_peer *peer, rung_bench_report *report, rung_error *err);
void bench_peer_stop(bench_peer *peer);
/* Begins a question; more members may follow before bench_peer_ask, which ends it. */
void bench_peer_question(rung_jout *out, rung_buf *text, const char *what);
/* The answer; a problem on the other side is an error. */
rung_status bench_peer_ask(rung_json_doc **answer, bench_peer *peer, rung_jout *question, rung_error *err);
/* Says which form of PyTorch was the fastest in this row, from an answer that has a "form" and a "group". */
void bench_peer_note_form(const rung_bench_report *report, const rung_bench_row *row, const rung_json *answer);
/* How long the work that was agreed on takes, as the mean of `times`. */
rung_status bench_peer_time(double *seconds, bench_peer *peer, size_t spelling, const char *work, size_t times,
                            rung_error *err);

#endif
