/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: the spec of a sweep. If it is accepted it must expand into runs: every run has the id that the list
 * says, and ids differ.
 */
#include "rung/lab.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

static void check_sweep(const rung_sweep *sweep)
{
    require(rung_sweep_name(sweep) && rung_sweep_question(sweep));
    require(rung_sweep_success(sweep) > 0 && rung_sweep_success(sweep) <= 1);
    require(rung_sweep_count(sweep) >= 1);
    for (size_t i = 0; i < rung_sweep_count(sweep); i++) {
        rung_sweep_run run;
        rung_error err = {{0}};
        require(rung_sweep_run_init(&run, sweep, i, &err) == RUNG_OK);
        require(strcmp(run.id, rung_sweep_id(sweep, i)) == 0 && strlen(run.id) == RUNG_RUN_ID - 1);
        require(run.keys[0] == '{' && run.canonical[0] && run.label);
        for (size_t k = 0; k < i; k++) require(strcmp(run.id, rung_sweep_id(sweep, k)) != 0);
        rung_sweep_run_clear(&run);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rung_sweep *sweep = NULL;
    rung_error err = {{0}};
    rung_status status = rung_sweep_parse(&sweep, (const char *)data, size, "fuzz", 32, &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    require(status == RUNG_OK || status == RUNG_INPUT);
    if (status == RUNG_OK) check_sweep(sweep);
    rung_sweep_free(sweep);
    return 0;
}
