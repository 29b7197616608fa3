#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bench: both sides are run and the figures are there; whether a bar is met is for `make bench`, on a quiet machine.
load common

@test "bench exact measures every format beside the yardstick" {
    rung bench exact --tokens 200 --dim 6 --repeats 3 --json >bench.json || [ $? = 1 ]
    has_schema rung.bench/1 <bench.json
    python '
import json
b = json.load(open("bench.json"))
assert {f["format"] for f in b["formats"]} >= {"e8m3", "bf16", "f32", "f64", "q3.12"}
assert all(f["ratio"] > 0 and f["exact_s"] > 0 and f["bar"] in (8, 16) for f in b["formats"])
assert b["bars_met"] == all(f["ratio"] <= f["bar"] for f in b["formats"])
assert b["state_numbers"][1] == 2 * b["state_numbers"][0]'
}

@test "bench refuses an unknown subject and sizes that are none" {
    run -2 --separate-stderr rung bench exakt
    [[ $stderr == *"exact"* ]]
    run -2 --separate-stderr rung bench exact --tokens 0
}
