#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench-commands.sh: processor time of whole commands that people wait for, with bars; fails when one is missed. RUNG is the command, RUNS
# the size of the large store (its bars follow).
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
rung=$(realpath "${RUNG:-build/rung}")
runs=${RUNS:-100000}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

missed=0
took=0

judge() { # what value bar unit
    local verdict=ok
    [ "$2" -le "$3" ] || { verdict=MISSED missed=1; }
    printf '%7d %s of at most %-7d %-6s %s\n' "$2" "$4" "$3" "$verdict" "$1"
}

# measure WHAT BAR COMMAND...: leaves the milliseconds in took.
measure() {
    local what=$1 bar=$2 TIMEFORMAT='%U %S' spent
    shift 2
    spent=$({ time "$@" >answer 2>&1; } 2>&1)
    took=$(awk '{ printf "%d", 1000 * ($1 + $2) }' <<<"$spent")
    judge "$what" "$took" "$bar" ms
}

bound() { # bar arguments...
    local bar=$1
    shift
    measure "bound $*" "$bar" "$rung" bound "$@"
}

bench_bounds() {
    local large=(--heads 32 --head-dim 128 --bits 32) layers task interleaved
    for layers in linear,full,linear gdelta,full,35*gdelta 18*gdelta,full,18*gdelta full,36*gdelta 2*full,gdelta; do
        bound 1000 "$layers" "${large[@]}" --task seqcomp L=2 --n 100000
    done
    for task in eva index two-sum three-sum q-sparse-average string-equality disjointness; do
        bound 1000 4*linear,full "${large[@]}" --task "$task" --n 100000
    done
    interleaved=$(printf '3*gdelta,full,%.0s' {1..12})
    bound 1000 "${interleaved%,}" "${large[@]}" --task seqcomp L=13 --n 100000
    bound 10000 linear,full,linear,full,linear --bits 16 --task seqcomp L=3 --n 100000
    bound 10000 4*full,linear --bits 16 --task seqcomp L=4 --n 100000
    bound 10000 linear,5*full,linear --bits 16 --task seqcomp L=6 --n 100000
    bound 20000 --plan --task seqcomp L=4 --n 100000 --bits 16 # it once took 41 s
    bench_thousand_configurations
}

bench_thousand_configurations() {
    local files=("$here"/tests/fixtures/config/*.json) i
    mkdir many
    for ((i = 0; i < 1000; i++)); do ln -s "${files[i % ${#files[@]}]}" many/$i.json; done
    measure "bound, 1000 configurations in one call" 5000 "$rung" bound many/*.json --task seqcomp L=2 --n 100000 --json --threads 1
}

make_store() { # name runs
    "$rung" sweep one.json -o "$1.db" -q >/dev/null
    python3 "$here/tests/report/synthetic.py" "$1.db" large "$2"
}

# A hundred microseconds per run, and four times the runs take at most six times as long.
store_command() { # command arguments...
    local command=$1 small
    shift
    measure "$command small.db $*" $((runs / 40)) "$rung" "$command" small.db "$@"
    small=$took
    measure "$command large.db $*" $((runs / 10)) "$rung" "$command" large.db "$@"
    judge "    the second over the first" $((100 * took / (small + 1))) 600 %
}

bench_stores() {
    echo '{"name": "one", "base": {"arch": "full", "task": "eva N=2 V=2", "steps": 2, "batch": 2, "d-model": 4, "dk": 2, "dv": 2,
        "test-prompts": 4}}' >one.json
    make_store small $((runs / 4))
    make_store large "$runs"
    echo "stores of $((runs / 4)) and $runs runs"
    store_command export
    store_command export --sweep large --jsonl
    store_command report -q -o page.html
}

bench_bounds
bench_stores
exit $missed
