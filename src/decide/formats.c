/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a change of number formats does to a claim: for each set of formats the bits that the layers carry and the least
 * number of tokens with CANNOT. Theorems alone are asked.
 */
#include "rung/decide.h"

#include <string.h>

static rung_status add(rung_formats *formats, const char *text, rung_error *err)
{
    if (formats->count == RUNG_FORMATS_MOST)
        return rung_fail(err, RUNG_USAGE, "at most %d sets of formats can be held against each other",
                         (int)RUNG_FORMATS_MOST);
    return rung_numbers_parse(&formats->row[formats->count++].numbers, text, err);
}

static rung_status add_named(rung_formats *formats, rung_error *err)
{
    char text[32];
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && rung_served_at(i); i++) {
        snprintf(text, sizeof text, "served:%s", rung_served_at(i)->name);
        status = add(formats, text, err);
    }
    return status;
}

rung_status rung_formats_parse(rung_formats *formats, const char *text, rung_error *err)
{
    enum { LONGEST = 256 };
    char word[LONGEST];
    while (*text) {
        const size_t len = strcspn(text, " ");
        if (len >= sizeof word)
            return rung_fail(err, RUNG_USAGE, "numbers: '%.40s...' is too long for a set of formats", text);
        memcpy(word, text, len);
        word[len] = '\0';
        if (len) RUNG_TRY(strcmp(word, "served") == 0 ? add_named(formats, err) : add(formats, word, err));
        text += len + (text[len] == ' ');
    }
    return RUNG_OK;
}

static rung_status ask(rung_formats_row *row, const rung_subject *subject, const rung_claim_spec *about,
                       rung_error *err)
{
    rung_claim_spec own = *about;
    rung_claim *claim;
    rung_claim_spec_set_numbers(&own, &row->numbers);
    RUNG_TRY(rung_claim_new(&claim, subject, &own, err));
    row->arithmetic = *rung_claim_arithmetic(claim);
    const rung_ledger_view view = rung_ledger_view_of(claim);
    row->carried_bits = view.carried_bits, row->message_bits = view.message_bits;
    rung_claim_free(claim);
    const rung_solve_options conf = {.what = RUNG_SOLVE_N, .subject = subject, .about = &own};
    return rung_solve_run(&row->solved, &conf, err);
}

rung_status rung_formats_ask(rung_formats *formats, const rung_subject *subject, const rung_claim_spec *about,
                             rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < formats->count; i++)
        status = ask(&formats->row[i], subject, about, err);
    return status;
}

void rung_formats_json(rung_jout *out, const rung_formats *formats)
{
    rung_jout_array(out, "formats");
    for (size_t i = 0; i < formats->count; i++) {
        const rung_formats_row *row = &formats->row[i];
        rung_jout_object(out, NULL);
        rung_jout_string(out, "numbers", row->numbers.name);
        rung_jout_count(out, "carried_bits", row->carried_bits);
        rung_jout_count(out, "message_bits", row->message_bits);
        rung_solved_json(out, &row->solved);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}
