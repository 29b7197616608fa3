/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What is there, and what is not. Each row asks the module that knows.
 */
#include "rung/doctor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rung/attack.h"
#include "rung/audit.h"
#include "rung/io.h"
#include "rung/kern.h"
#include "rung/lab.h"
#include "rung/num.h"
#include "rung/probe.h"
#include "rung/report.h"
#include "rung/serve.h"

#if defined(__x86_64__)
#define TARGET "x86_64"
#elif defined(__aarch64__)
#define TARGET "aarch64"
#else
#define TARGET "another processor"
#endif

const char *rung_health_name(rung_health health)
{
    static const char *const names[] = {"found", "unused", "absent", "broken"};
    return names[health];
}

static rung_doctor_row *add(rung_doctor *out, const char *group, const char *name, const char *gives,
                            rung_health health)
{
    assert(out->count < RUNG_DOCTOR_ROWS);
    rung_doctor_row *row = &out->row[out->count++];
    *row = (rung_doctor_row){.group = group, .name = name, .gives = gives, .health = health};
    return row;
}

/* ---- libraries --------------------------------------------------------------------------------------------------- */

static void look_at_libraries(rung_doctor *out)
{
    const rung_part part[] = {rung_part_gmp(),   rung_part_mpfr(),   rung_part_jansson(), rung_part_zlib(),
                              rung_part_flint(), rung_part_sqlite(), rung_part_curl(),    rung_part_microhttpd()};
    for (size_t i = 0; i < RUNG_COUNT(part); i++) {
        const rung_part *p = &part[i];
        rung_doctor_row *row =
            add(out, "library", p->name, p->gives, p->version ? RUNG_HEALTH_FOUND : RUNG_HEALTH_ABSENT);
        if (p->version)
            snprintf(row->detail, sizeof row->detail, "%s", p->version);
        else
            snprintf(row->remedy, sizeof row->remedy, "apt-get install %s && make", p->package);
    }
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* Why a set that was built in is not used. */
static void say_why(rung_doctor_row *row)
{
    const char *allowed = getenv("RUNG_ISA");
    if (allowed && *allowed)
        snprintf(row->detail, sizeof row->detail, "RUNG_ISA=%s, or this processor, does not allow it", allowed);
    else
        snprintf(row->detail, sizeof row->detail, "this processor does not have it");
}

#if defined(__aarch64__)
#define SECOND_SET "the same, 4 at a time"
#else
#define SECOND_SET "the same, 8 at a time"
#endif

static void look_at_kernels(rung_doctor *out)
{
    static const char *const gives[] = {"training and the fast evaluator, on every processor", SECOND_SET,
                                        "the same, 16 at a time"};
    const rung_isa best = rung_cpu_isa();
    for (int isa = RUNG_ISA_REF; rung_isa_name((rung_isa)isa); isa++) {
        bool built = isa == RUNG_ISA_REF || rung_kernels_of((rung_isa)isa) != rung_kernels_of(RUNG_ISA_REF);
        rung_health health = !built ? RUNG_HEALTH_ABSENT : isa > (int)best ? RUNG_HEALTH_UNUSED : RUNG_HEALTH_FOUND;
        rung_doctor_row *row = add(out, "kernels", rung_isa_name((rung_isa)isa), gives[isa], health);
        if (!built) snprintf(row->detail, sizeof row->detail, "not for " TARGET);
        if (health == RUNG_HEALTH_UNUSED) say_why(row);
        if (isa == (int)best) snprintf(row->detail, sizeof row->detail, "used");
    }
    const rung_bf16_kernels *bf16 = rung_bf16_kernels_get();
    rung_doctor_row *row =
        add(out, "kernels", "bf16", "rung train --compute bf16, the same bytes with any of them", RUNG_HEALTH_FOUND);
    snprintf(row->detail, sizeof row->detail, "%s", bf16->name);
}

/* ---- pages, and what stands beside this program ------------------------------------------------------------------ */

static void look_at_pages(rung_doctor *out)
{
    rung_doctor_row *row = add(out, "page", "rung-check.wasm", "pages of table and report check their certificates",
                               rung_checker_there() ? RUNG_HEALTH_FOUND : RUNG_HEALTH_ABSENT);
    if (row->health == RUNG_HEALTH_ABSENT)
        snprintf(row->remedy, sizeof row->remedy,
                 "apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32 && make");
    row = add(out, "page", "uPlot", "figures of rung report that one can move",
              rung_report_interactive() ? RUNG_HEALTH_FOUND : RUNG_HEALTH_ABSENT);
    if (row->health == RUNG_HEALTH_ABSENT) snprintf(row->remedy, sizeof row->remedy, "make plots && make (needs npm)");
}

static void look_at_checker(rung_doctor *out)
{
    char said[64] = "";
    rung_error err = {""};
    rung_doctor_row *row =
        add(out, "beside", "rung-check", "the second opinion on certificates: break, table", RUNG_HEALTH_FOUND);
    if (rung_second_opinion_version(said, sizeof said, &err) != RUNG_OK) {
        row->health = strstr(err.text, "neither") ? RUNG_HEALTH_ABSENT : RUNG_HEALTH_BROKEN;
        snprintf(row->remedy, sizeof row->remedy, "%s", err.text);
        return;
    }
    const char *version = strncmp(said, "rung-check ", 11) == 0 ? said + 11 : said;
    snprintf(row->detail, sizeof row->detail, "%s", version);
    if (strcmp(version, RUNG_VERSION) == 0) return;
    row->health = RUNG_HEALTH_BROKEN;
    snprintf(row->remedy, sizeof row->remedy, "install rung-check " RUNG_VERSION ", the version of this rung");
}

static void look_at_coq(rung_doctor *out)
{
    rung_error err = {""};
    rung_doctor_row *row =
        add(out, "beside", "coq", "proof files checked at once: rung bound --proof, rung table", RUNG_HEALTH_FOUND);
    if (rung_coq_look(&err) == RUNG_OK) return;
    row->health = RUNG_HEALTH_ABSENT;
    snprintf(row->remedy, sizeof row->remedy, "%s", err.text);
}

rung_status rung_doctor_look(rung_doctor *out, const rung_doctor_row *mpi, rung_error *err)
{
    *out = (rung_doctor){.target = TARGET, .threads = rung_cpu_threads()};
    RUNG_TRY(rung_cpu_check(err));
    look_at_libraries(out);
    look_at_kernels(out);
    look_at_pages(out);
    look_at_checker(out);
    look_at_coq(out);
    if (mpi) out->row[out->count++] = *mpi;
    for (size_t i = 0; i < out->count; i++) {
        const rung_doctor_row *row = &out->row[i];
        out->absent += row->health == RUNG_HEALTH_ABSENT && row->remedy[0];
        out->broken += row->health == RUNG_HEALTH_BROKEN;
    }
    return RUNG_OK;
}

void rung_doctor_json(rung_buf *text, const rung_doctor *doctor)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.doctor/1", true);
    rung_jout_string(&out, "version", RUNG_VERSION);
    rung_jout_string(&out, "target", doctor->target);
    rung_jout_count(&out, "threads", doctor->threads);
    rung_jout_count(&out, "absent", doctor->absent);
    rung_jout_count(&out, "broken", doctor->broken);
    rung_jout_array(&out, "findings");
    for (size_t i = 0; i < doctor->count; i++) {
        const rung_doctor_row *row = &doctor->row[i];
        rung_jout_object(&out, NULL);
        rung_jout_string(&out, "group", row->group);
        rung_jout_string(&out, "name", row->name);
        rung_jout_string(&out, "health", rung_health_name(row->health));
        if (row->detail[0]) rung_jout_string(&out, "detail", row->detail);
        rung_jout_string(&out, "gives", row->gives);
        if (row->remedy[0]) rung_jout_string(&out, "remedy", row->remedy);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_finish(&out);
}
