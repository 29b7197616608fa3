/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung doctor: what is built in, what is missing, and which line installs it.
 */
#include <string.h>

#include "cluster.h"

/* Where the sentence begins that says what a part gives. */
#define SENTENCE 34

static const char *title_of(const char *group)
{
    static const char *const titles[][2] = {
        {"library", "Libraries"}, {"kernels", "Kernels"}, {"page", "Pages"}, {"beside", "Beside this program"}};
    for (size_t i = 0; i < RUNG_COUNT(titles); i++)
        if (strcmp(titles[i][0], group) == 0) return titles[i][1];
    return group;
}

static const char *style_of(rung_health health)
{
    if (health == RUNG_HEALTH_FOUND) return "";
    return health == RUNG_HEALTH_BROKEN ? tool_style_bold() : tool_style_dim();
}

static void print_row(rung_buf *out, const rung_doctor_row *row)
{
    const char *said = row->health == RUNG_HEALTH_FOUND ? row->detail : rung_health_name(row->health);
    const char *style = style_of(row->health);
    rung_buf_printf(out, "  %s%-15s  %-13s%s", style, row->name, *said ? said : "found",
                    *style ? tool_style_off() : "");
    rung_buf_printf(out, strlen(said) > 13 ? "\n%*s" : "%*s", strlen(said) > 13 ? SENTENCE : 2, "");
    tool_wrap(out, row->gives, SENTENCE, SENTENCE);
    rung_buf_puts(out, "\n");
    const char *more[] = {row->health == RUNG_HEALTH_FOUND ? "" : row->detail, row->remedy};
    for (size_t i = 0; i < RUNG_COUNT(more); i++) {
        if (!*more[i]) continue;
        rung_buf_printf(out, "%*s", SENTENCE, "");
        tool_wrap(out, more[i], SENTENCE, SENTENCE);
        rung_buf_puts(out, "\n");
    }
}

static void print_end(rung_buf *out, const rung_doctor *doctor)
{
    if (doctor->broken)
        rung_buf_printf(out, "\n%zu of them %s this rung. What to do is said there.\n", doctor->broken,
                        doctor->broken == 1 ? "does not fit" : "do not fit");
    else if (doctor->absent)
        rung_buf_printf(out, "\n%zu of them %s absent, with the line that changes it. All else works without.\n",
                        doctor->absent, doctor->absent == 1 ? "is" : "are");
    else
        rung_buf_puts(out, "\nNothing is missing.\n");
}

static void print_doctor(rung_buf *out, const rung_doctor *doctor)
{
    const char *group = "";
    rung_buf_printf(out, "rung " RUNG_VERSION " for %s, %zu thread%s\n", doctor->target, doctor->threads,
                    doctor->threads == 1 ? "" : "s");
    for (size_t i = 0; i < doctor->count; i++) {
        const rung_doctor_row *row = &doctor->row[i];
        if (strcmp(row->group, group) != 0)
            rung_buf_printf(out, "\n%s%s%s\n", tool_style_bold(), title_of(row->group), tool_style_off());
        group = row->group;
        print_row(out, row);
    }
    print_end(out, doctor);
}

static int run_doctor(const tool_call *call, rung_error *err)
{
    rung_doctor doctor;
    rung_doctor_row mpi;
    tool_team_find(&mpi);
    RUNG_TRY(rung_doctor_look(&doctor, &mpi, err));
    rung_buf text;
    rung_buf_init(&text);
    if (call->json)
        rung_doctor_json(&text, &doctor);
    else
        print_doctor(&text, &doctor);
    const rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status != RUNG_OK ? (int)status : doctor.broken ? RUNG_NEGATIVE : 0;
}

const tool_command tool_command_doctor = {
    .name = "doctor",
    .summary = "what is built in, what is missing, and which line installs it",
    .details = "Libraries with the versions that run, the kernels for this processor, what pages can do, and the "
               "programs that stand beside this one. What is absent has the line that changes it, for Debian and the "
               "source tree; what is there and does not fit is broken. It writes nothing and asks no network.",
    .examples =
        (const tool_example[]){
            {"rung doctor", "the list"},
            {"RUNG_ISA=avx2 rung doctor", "what is used when AVX-512 is masked"},
            {"rung doctor --json", "for programs"},
            {0},
        },
    .negative = "something is there that does not fit this rung",
    .helper = true,
    .run = run_doctor,
};
