/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Starts PyTorch with what makes it fast, and talks to it. Left to itself it starts with one thread and AVX2, on a
 * BLAS that does not recognise newer processors or fights over threads with it: a comparison with that would be
 * worth nothing.
 */
#include "bench_peer.h"

#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program[] =
#include "bench_peer.inc"
    ;

const char *const bench_spellings[BENCH_SPELLINGS] = {"usual", "best"};

/* ---- start and stop -------------------------------------------------------------------------------------------- */

/* The OpenMP build of OpenBLAS shares its threads with PyTorch; the other one fights with them. */
static void choose_blas(void)
{
    glob_t found;
    char path[8192];
    const char *others = getenv("LD_LIBRARY_PATH");
    if (glob("/usr/lib/*/openblas-openmp/libblas.so.3", 0, NULL, &found) == 0) {
        char *slash = strrchr(found.gl_pathv[0], '/');
        snprintf(path, sizeof path, "%.*s%s%s", (int)(slash - found.gl_pathv[0]), found.gl_pathv[0], others ? ":" : "",
                 others ? others : "");
        setenv("LD_LIBRARY_PATH", path, 1);
    }
    globfree(&found);
}

/* The python that --peer names: itself, or that of a virtual environment. false: there is neither. */
static bool find_python(char path[4096], const char *peer)
{
    struct stat info;
    snprintf(path, 4096, "%s", peer ? peer : "/usr/bin/python3");
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) snprintf(path, 4096, "%s/bin/python", peer);
    return access(path, X_OK) == 0;
}

/* MKL takes its slower kernels on processors of other makers than Intel, unless something that `make peer` puts into
 * the environment says that all are the same. */
static void choose_mkl(const char *peer)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lib/rung-mkl.so", peer ? peer : "");
    if (peer && access(path, R_OK) == 0) setenv("LD_PRELOAD", path, 1);
}

/* [instruction set]: names of it in OpenBLAS, in PyTorch, in its oneDNN and in MKL. */
static const char *const set_names[][4] = {
    [RUNG_ISA_REF] = {"Prescott", "default", "SSE41", "SSE4_2"},
    [RUNG_ISA_AVX2] = {"Haswell", "avx2", "AVX2", "AVX2"},
    [RUNG_ISA_AVX512] = {"SkylakeX", "avx512", "AVX512_CORE", "AVX512"},
};

static void prepare_environment(const char *peer, size_t threads)
{
    char count[24];
    const char *const *names = set_names[rung_cpu_isa()];
    snprintf(count, sizeof count, "%zu", threads);
    setenv("OMP_NUM_THREADS", count, 1);
    setenv("OPENBLAS_CORETYPE", names[0], 1);
    setenv("ATEN_CPU_CAPABILITY", names[1], 1);
    setenv("DNNL_MAX_CPU_ISA", names[2], 1);
    setenv("MKL_ENABLE_INSTRUCTIONS", names[3], 1);
    choose_blas();
    choose_mkl(peer);
}

static void become_peer(const int to[2], const int from[2], const char *python, const rung_bench_report *report)
{
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(to[0], 0);
    dup2(from[1], 1);
    if (nowhere >= 0) dup2(nowhere, 2);
    for (int i = 0; i < 2; i++) close(to[i]), close(from[i]);
    prepare_environment(report->conf->peer, report->threads);
    execl(python, python, "-c", program, (char *)NULL);
    _exit(127);
}

static rung_status start_process(bench_peer *peer, const rung_bench_report *report, rung_error *err)
{
    int to[2], from[2];
    char python[4096];
    if (!find_python(python, report->conf->peer) && report->conf->peer)
        return rung_fail(err, RUNG_USAGE, "--peer %s: neither a python nor a virtual environment; make peer makes one",
                         report->conf->peer);
    if (pipe(to) != 0) return rung_fail(err, RUNG_SYSTEM, "no pipe can be made");
    if (pipe(from) != 0) {
        close(to[0]), close(to[1]);
        return rung_fail(err, RUNG_SYSTEM, "no pipe can be made");
    }
    fflush(NULL);
    peer->process = fork();
    if (peer->process == 0) become_peer(to, from, python, report);
    close(to[0]), close(from[1]);
    peer->to = fdopen(to[1], "w"), peer->from = fdopen(from[0], "r");
    if (peer->process < 0 || !peer->to || !peer->from) {
        bench_peer_stop(peer);
        return rung_fail(err, RUNG_SYSTEM, "no process can be started for PyTorch");
    }
    return RUNG_OK;
}

void bench_peer_stop(bench_peer *peer)
{
    if (peer->to) fclose(peer->to); /* it ends when nobody can ask any more */
    if (peer->from) fclose(peer->from);
    if (peer->process > 0) waitpid(peer->process, NULL, 0);
    *peer = (bench_peer){0};
}

/* ---- questions ------------------------------------------------------------------------------------------------- */

void bench_peer_question(rung_jout *out, rung_buf *text, const char *what)
{
    rung_buf_init(text);
    rung_jout_begin(out, text, NULL, false);
    rung_jout_string(out, "ask", what);
}

/* Its answer as a line, NULL when it has gone. */
static char *exchange(bench_peer *peer, const rung_buf *question)
{
    char *line = NULL;
    size_t room = 0;
    if (fwrite(question->text, 1, question->len, peer->to) != question->len || fflush(peer->to) != 0) return NULL;
    if (getline(&line, &room, peer->from) > 0) return line;
    free(line);
    return NULL;
}

rung_status bench_peer_ask(rung_json_doc **answer, bench_peer *peer, rung_jout *question, rung_error *err)
{
    rung_buf *text = question->buf;
    rung_jout_finish(question);
    rung_status status = rung_buf_ok(text, err);
    char *line = status == RUNG_OK ? exchange(peer, text) : NULL;
    rung_buf_clear(text);
    RUNG_TRY(status);
    if (!line) return rung_fail(err, RUNG_SYSTEM, "PyTorch has ended; --no-peer measures without it");
    status = rung_json_parse(answer, line, strlen(line), "the answer of PyTorch", err);
    free(line);
    RUNG_TRY(status);
    const char *problem = rung_json_string(rung_json_get(rung_json_root(*answer), "problem"));
    if (!problem) return RUNG_OK;
    status = rung_fail(err, RUNG_SYSTEM, "PyTorch: %.300s; --no-peer measures without it", problem);
    rung_json_free(*answer);
    return status;
}

rung_status bench_peer_time(double *seconds, bench_peer *peer, size_t spelling, const char *work, size_t times,
                            rung_error *err)
{
    rung_jout question;
    rung_buf text;
    rung_json_doc *answer;
    bench_peer_question(&question, &text, "time");
    rung_jout_string(&question, "spelling", bench_spellings[spelling]);
    rung_jout_string(&question, "work", work);
    rung_jout_int(&question, "times", (int64_t)times);
    RUNG_TRY(bench_peer_ask(&answer, peer, &question, err));
    bool ok = rung_json_real(seconds, rung_json_get(rung_json_root(answer), "seconds"));
    rung_json_free(answer);
    return ok ? RUNG_OK : rung_fail(err, RUNG_SYSTEM, "PyTorch answered without a time");
}

void bench_peer_note_form(const rung_bench_report *report, const rung_bench_row *row, const rung_json *answer)
{
    const char *form = rung_json_string(rung_json_get(answer, "form"));
    double group = NAN;
    rung_json_real(&group, rung_json_get(answer, "group"));
    bench_note(report, "%s: the fastest form of PyTorch is %.60s, %g at a time", row->name, form ? form : "?", group);
}

/* ---- the first question ---------------------------------------------------------------------------------------- */

/* A BLAS that suits the processor computes a product of 1024 x 1024 x 1024 at 70 to 95 % of the peak; kernels for
 * another processor reach 40 % at most, a BLAS without vectors 2 %. */
static const double least_share = 0.5;

static const char *advice(const rung_bench_report *report)
{
    return report->conf->peer ? "make peer makes an environment that has what it needs"
                              : "Debian's needs libopenblas0-openmp: apt-get install libopenblas0-openmp";
}

/* The peak of this machine against the largest product of the peer. */
static rung_status judge_blas(rung_bench_report *report, const rung_json *hello, rung_error *err)
{
    double product = NAN;
    rung_json_real(&product, rung_json_get(hello, "product_gflops"));
    for (int i = 0; i < 3; i++) bench_report_peak(report);
    if (product >= least_share * report->peak) return RUNG_OK;
    if (report->judged)
        return rung_fail(err, RUNG_SYSTEM,
                         "%s multiplies matrices at %.3g GFLOP/s where this processor has %.3g: its BLAS does not suit "
                         "the processor, or other work disturbs it. Nothing is judged beside it. %s. --no-peer "
                         "measures without it",
                         report->peer, product, report->peak, advice(report));
    bench_note(report, "%s multiplies matrices at %.3g GFLOP/s where this processor has %.3g: compare nothing with it",
               report->peer, product, report->peak);
    return RUNG_OK;
}

static rung_status read_hello(bench_peer *peer, rung_bench_report *report, const rung_json *hello, rung_error *err)
{
    const char *torch = rung_json_string(rung_json_get(hello, "torch"));
    const char *blas = rung_json_string(rung_json_get(hello, "blas"));
    peer->current = torch && strtol(torch, NULL, 10) >= 2;
    snprintf(report->peer, sizeof report->peer, "PyTorch %.40s with %.60s", torch ? torch : "", blas ? blas : "");
    return judge_blas(report, hello, err);
}

rung_status bench_peer_start(bench_peer *peer, rung_bench_report *report, rung_error *err)
{
    const rung_bench_options *v = report->conf;
    rung_jout question;
    rung_buf text;
    rung_json_doc *answer;
    *peer = (bench_peer){0};
    if (v->no_peer) return RUNG_OK;
    RUNG_TRY(start_process(peer, report, err));
    bench_peer_question(&question, &text, "hello");
    rung_jout_int(&question, "threads", (int64_t)report->threads);
    if (bench_peer_ask(&answer, peer, &question, NULL) != RUNG_OK) {
        bench_peer_stop(peer);
        if (v->peer) return rung_fail(err, RUNG_SYSTEM, "--peer %s: it has no PyTorch that starts", v->peer);
        bench_note(report, "no PyTorch for /usr/bin/python3 (Debian: python3-torch): rung is measured alone");
        return RUNG_OK;
    }
    rung_status status = read_hello(peer, report, rung_json_root(answer), err);
    rung_json_free(answer);
    if (status != RUNG_OK) bench_peer_stop(peer);
    return status;
}
