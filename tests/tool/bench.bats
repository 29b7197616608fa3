#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bench: both sides are run and the figures are there; whether a bar is met is for `make bench`, on a quiet machine.
load common

@test "bench exact measures every kind of format beside the yardstick, and memory grows as the tokens do" {
    rung bench exact --tokens 200 --dim 6 --threads 2 --json >bench.json
    has_schema rung.bench/1 <bench.json
    python '
import json
b = json.load(open("bench.json"))
assert (b["tokens"], b["dim"], b["threads"], b["runs"]) == (200, 6, 2, 5)
assert {r["format"] for r in b["rows"]} >= {"e8m3", "bf16", "f16", "f32", "e8m25", "f64", "q3.12"}
for r in b["rows"]:
    assert r["ratio"] > 0 and r["exact_ms"] > 0 and r["fp32_ms"] > 0
    assert r["bar"] is None and not r["too_slow"]  # no bar for these sizes
    assert r["state_bytes"] == 200 * (6 + 6) * 8 and r["state_bytes_at_twice_the_tokens"] == 2 * r["state_bytes"]'
}

@test "bench exact has a bar at the standard sizes, and its exit code says whether it is met" {
    without_sanitizers "seconds"
    status=0
    rung bench exact --numbers bf16 --json >bench.json || status=$?
    python '
import json, sys
(r,) = json.load(open("bench.json"))["rows"]
assert r["format"] == "bf16" and r["bar"] == 8 and r["too_slow"] == (r["ratio"] > 8)
assert int(sys.argv[1]) == (1 if r["too_slow"] else 0)' "$status"
}

@test "bench prints one line per format, in the units of its head" {
    run -0 rung bench exact --numbers q3.4 --tokens 70 --dim 3
    [[ ${lines[0]} == *"n = 70, dk = dv = 3"* ]]
    [[ ${lines[1]} == format*"exact ms"*"fp32 ms"*ratio*bar* ]]
    [[ ${lines[2]} == "q3.4 "* && ${#lines[@]} -eq 3 ]]
}

@test "bench refuses an unknown subject and sizes that are none" {
    run -2 --separate-stderr rung bench exakt
    [[ $stderr == *"exact"* ]]
    run -2 --separate-stderr rung bench exact --tokens 0
    run -2 --separate-stderr rung bench exact --runs 4
    run -2 --separate-stderr rung bench exact --numbers e99m1
    [[ $stderr == *"e99m1"* ]]
}

@test "bench break attacks random models, and rung-check accepts what is found" {
    status=0
    rung bench break --seeds 1 --json >bench.json || status=$?
    has_schema rung.bench-break/1 <bench.json
    python '
import json, sys
rows = json.load(open("bench.json"))["rows"]
assert {r["attack"] for r in rows} == {"swallow", "wagner", "relation", "block"}
assert any(r["found"] for r in rows) and all(r.get("accepted", 1) >= r["found"] for r in rows)
assert int(sys.argv[1]) == any(r["missed"] for r in rows)' "$status"
}
