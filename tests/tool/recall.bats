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
