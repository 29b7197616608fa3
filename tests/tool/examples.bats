#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The examples are a course: each must run, say what it says, and cover every construction.
load common
ROOT=$BATS_TEST_DIRNAME/../..

@test "every example runs" {
    for script in "$ROOT"/examples/[0-9]*.sh; do
        run --separate-stderr env RUNG="$RUNG" "$script"
        if [ "$status" != 0 ]; then
            echo "$script: exit $status"
            echo "$output" | cut -c1-200 | tail -n 20
            echo "$stderr" | cut -c1-400 | tail -n 20
            return 1
        fi
    done
}

@test "every construction has an example, and the README lists every script" {
    for name in $(rung list constructions --json | python 'import json,sys; print(*[c["name"] for c in json.load(sys.stdin)["constructions"]])'); do
        grep -qE "rung build $name( |$)" "$ROOT"/examples/[0-9]*.sh || { echo "no example of $name"; return 1; }
    done
    for script in "$ROOT"/examples/[0-9]*.sh; do
        grep -q "($(basename "$script"))" "$ROOT/examples/README.md" || { echo "$script is not listed"; return 1; }
    done
}
