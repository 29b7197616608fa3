#!/bin/bash
# SPDX-License-Identifier: MIT
# Models trained on recall whose questions are near by Zipf's law (power=1) or equally often far (power=100), each tested on both; prints a CSV.
# The models are those of the sweep distribution-shift.json (with --full distribution-shift.full.json), which is run first if its store does not
# have them. Of every label the rate that the evaluation during training chose, all its seeds.
# Environment: RUNG, BUILD (build), COUNT (512: prompts per model), JOBS (0: runs at the same time).
set -eu
cd "$(dirname "$0")/.."

RUNG=${RUNG:-build/rung}
spec=distribution-shift
[ "${1:-}" != --full ] || spec=$spec.full
store=${BUILD:-build}/experiments/$spec.db
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$(dirname "$store")"
size=$(sed -n 's/.*"task": "mqar \(.*\) power=.*/\1/p' "experiments/$spec.json")

accuracy() { # model power
    # shellcheck disable=SC2086 # several words
    "$RUNG" run "$1" --task mqar $size power="$2" -n "${COUNT:-512}" --show 0 --json -q | sed -n 's/^ *"accuracy": \([0-9.e-]*\),*$/\1/p'
}

# Lines "natural uniform", one per seed, to a row: means with the 95 % interval of Student's t, and the mean difference with its own.
row() { # label rate
    awk -v label="$1" -v rate="$2" '
        function interval(k,    i, m, s) {
            for (i = 1; i <= NR; i++) m += x[k, i] / NR
            for (i = 1; i <= NR; i++) s += (x[k, i] - m)^2
            s = NR < 2 ? 0 : t[NR - 1] * sqrt(s / (NR - 1) / NR)
            return sprintf("%.4f,%.4f,%.4f", m, m - s, m + s)
        }
        BEGIN { split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ") }
        { x[1, NR] = $1; x[2, NR] = $2; x[3, NR] = $1 - $2; good += $1 >= 0.95; far += $2 >= 0.95 }
        END { printf "\"%s\",%s,%d,%s,%s,%s,%d,%d\n", label, rate, NR, interval(1), interval(2), interval(3), good, far }'
}

"$RUNG" sweep "experiments/$spec.json" -o "$store" -j "${JOBS:-0}" -q >&2
echo "label,rate,runs,natural,natural_low,natural_high,uniform,uniform_low,uniform_high,drop,drop_low,drop_high,reached_natural,reached_uniform"
sqlite3 "$store" "SELECT label, rate FROM results WHERE chosen GROUP BY label ORDER BY min(place)" | while IFS='|' read -r label rate; do
    for number in $(sqlite3 "$store" "SELECT number FROM results WHERE chosen AND label = '$label' ORDER BY seed"); do
        sqlite3 "$store" "SELECT writefile('$work/model', content) FROM artefacts WHERE run = $number AND kind = 'model'" >/dev/null
        echo "$(accuracy "$work/model" 1) $(accuracy "$work/model" 100)"
    done | row "$label" "$rate"
done
