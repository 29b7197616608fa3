#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# recall: the measured law, what it refuses, and that it is labelled as measured.
load common

@test "recall: a prediction has an interval and says that it is measured" {
    run -0 --separate-stderr rung recall delta --heads 2 --dk 8 --dv 8 --values 32 --accuracy 0.8
    [[ $output == *"measured, not proved"* ]]
    [[ $output != *CANNOT* && $output != *CAN* ]]
    run -0 --separate-stderr rung recall delta --heads 2 --dk 8 --dv 8 --values 32 --accuracy 0.8 --json
    has_schema rung.recall/1 <<<"$output"
    python '
import json, sys
answer = json.load(sys.stdin)
p = answer["prediction"]
assert answer["status"] == "measured, not proved"
assert p["low"] <= p["entries"] <= p["high"] and p["entries"] >= 16 and p["no_law"] is None and not p["beyond_measured"]' <<<"$output"
    run -0 --separate-stderr rung recall delta --dk 4096 --json
    python 'import json, sys; assert json.load(sys.stdin)["prediction"]["beyond_measured"]' <<<"$output"
}

@test "recall: a mechanism that was not measured has no law, an unknown one is refused" {
    run -0 --separate-stderr rung recall full
    [[ $output == *"no law      this mechanism was not measured"* ]]
    run -2 rung recall delt
    [[ $output == *"did you mean 'delta'?"* ]]
    run -2 rung recall delta --values 4 --accuracy 0.25
    [[ $output == *"above chance, 0.25"* ]]
    run -2 rung recall delta --dk 0
}

# A page has the whole output of the command (docs.bats); here is that the command says what the table of runs says.
@test "recall: a second fit with numpy finds the same parameters, errors and form" {
    root=$(realpath "$BATS_TEST_DIRNAME/../..")
    "$PYTHON" -c 'import numpy' || skip "numpy is absent"
    rung recall --json >law.json
    "$PYTHON" "$root/tests/recall/refit.py" "$root/docs/experiments/recall-law.full.csv" law.json
    # What the page says of cells that no fit has used.
    "$PYTHON" "$root/tests/recall/refit.py" "$root/docs/experiments/recall-law.full.csv" law.json "$root/docs/experiments/capacity-size.full.csv" >rows
    [ "$(wc -l <rows)" = 4 ]
    while IFS= read -r row; do grep -qxF "$row" "$root/docs/recall.md"; done <rows
    # It notices a parameter that is off by a millionth part of itself, and twice.
    "$PYTHON" -c '
import json
law = json.load(open("law.json"))
law["mechanisms"][0]["fits"][3]["gain"] *= 1 + 3e-6
json.dump(law, open("off.json", "w"))'
    run -1 "$PYTHON" "$root/tests/recall/refit.py" "$root/docs/experiments/recall-law.full.csv" off.json
    [[ $output == *"overlap, gain"* ]]
}

@test "recall: published accuracies are compared, with and without a law" {
    rung recall --json >law.json
    python '
import csv, json, sys
rows = json.load(open("law.json"))["published"]
source = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == len(source) and len(rows) > 10
for row, mine in zip(rows, source):
    assert row["model"] == mine["model"] and row["published"] == float(mine["accuracy"]), row
    assert row["entries"] == [int(n) for n in mine["entries"].split()]
    assert ("overlap" in row) == (row["mechanism"] != "window"), row
    if "low" in row: assert row["low"] <= row["high"]' "$BATS_TEST_DIRNAME/../../experiments/recall-published.csv"
}
