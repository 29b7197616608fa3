#!/bin/sh
# SPDX-License-Identifier: MIT
# bench-store.sh: a store of 100,000 runs is listed and reported within ten seconds each, or this fails. RUNS changes the number, and the
# bar with it. RUNG is the command.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
rung=$(realpath "${RUNG:-build/rung}")
runs=${RUNS:-100000}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

echo '{"name": "one", "base": {"arch": "full", "task": "eva N=2 V=2", "steps": 2, "batch": 2, "d-model": 4, "dk": 2, "dv": 2,
    "test-prompts": 4}}' >one.json
"$rung" sweep one.json -o large.db -q >/dev/null
python3 "$here/tests/report/synthetic.py" large.db large "$runs"

missed=0
measure() {
    name=$1
    shift
    start=$(date +%s%N)
    "$@" >answer
    took=$((($(date +%s%N) - start) / 1000000))
    most=$((runs / 10))
    verdict=ok
    [ "$took" -le "$most" ] || { verdict=MISSED; missed=1; }
    printf '%-28s %7d ms for %d runs, bar %d ms: %s\n' "$name" "$took" "$runs" "$most" "$verdict"
}
measure "rung export" "$rung" export large.db
measure "rung export --sweep --jsonl" "$rung" export large.db --sweep large --jsonl
measure "rung report" "$rung" report large.db -o large.html -q
exit $missed
