#!/bin/bash
# SPDX-License-Identifier: MIT
# The same weights under three orders of the softmax, in several formats; prints a CSV. Constructions are built here; trained models
# are those of the sweep summation-order.json (with --full summation-order.full.json), which is run first if its store does not have them.
# A row: how many answers are right with each order, and how many differ from the online order. Trained models: the rate that the evaluation
# during training chose, all its seeds; mean accuracy over them with the 95 % interval of Student's t.
# Environment: RUNG, BUILD (build), COUNT (300: prompts per model and format), JOBS (0: runs at the same time).
set -eu
cd "$(dirname "$0")/.."

RUNG=${RUNG:-build/rung}
COUNT=${COUNT:-300}
spec=summation-order
[ "${1:-}" != --full ] || spec=$spec.full
store=${BUILD:-build}/experiments/$spec.db
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$(dirname "$store")"

# Answers of a model with one order, one per line: "target answer".
answers() { # model format order
    "$RUNG" run "$1" --numbers "$2" --softmax "$3" -n "$COUNT" --show "$COUNT" --json -q |
        sed -n 's/.*"target": \([0-9]*\), "answer": \(-*[0-9]*\).*/\1 \2/p'
}

# One line per model: right online, two-pass, reverse; answers of two-pass and of reverse that differ from online; prompts.
compare() { # model format
    local order
    for order in online two-pass reverse; do answers "$1" "$2" $order >"$work/$order"; done
    paste -d' ' "$work/online" "$work/two-pass" "$work/reverse" |
        awk '{ a += $1 == $2; b += $3 == $4; c += $5 == $6; d += $2 != $4; e += $2 != $6 } END { print a, b, c, d, e, NR }'
}

# Lines of compare, one per seed, to a row of the CSV. Student's t for 95 %, by degrees of freedom.
row() { # name format
    awk -v name="$1" -v format="$2" '
        function interval(k,    i, m, s) {
            for (i = 1; i <= NR; i++) m += x[k, i] / NR
            for (i = 1; i <= NR; i++) s += (x[k, i] - m)^2
            if (NR < 2) return sprintf("%.4f,,", m)
            s = t[NR - 1] * sqrt(s / (NR - 1) / NR)
            return sprintf("%.4f,%.4f,%.4f", m, m - s, m + s)
        }
        BEGIN { split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ") }
        { for (k = 1; k <= 3; k++) { x[k, NR] = $k / $6; right[k] += $k }; two += $4; reverse += $5; prompts += $6 }
        END { printf "\"%s, %s\",%d,%d,%d,%d,%d,%d,%d,%s,%s,%s\n", name, format, NR, prompts, right[1], right[2], right[3],
              two, reverse, interval(1), interval(2), interval(3) }'
}

construction() { # name formats words of rung build...
    local name=$1 formats=$2 format
    shift 2
    "$RUNG" build "$@" -o "$work/built.safetensors" -q >/dev/null
    for format in $formats; do compare "$work/built.safetensors" "$format" | row "$name" "$format"; done
}

trained() { # label formats
    local format number
    for number in $(sqlite3 "$store" "SELECT number FROM results WHERE chosen AND label = '$1' ORDER BY seed"); do
        sqlite3 "$store" "SELECT writefile('$work/trained-$number.safetensors', content) FROM artefacts
            WHERE run = $number AND kind = 'model'" >/dev/null
    done
    for format in $2; do
        for number in "$work"/trained-*.safetensors; do compare "$number" "$format"; done | row "trained" "$format"
    done
    rm -f "$work"/trained-*
}

"$RUNG" sweep "experiments/$spec.json" -o "$store" -j "${JOBS:-0}" -q >&2
echo "name,models,prompts,right_online,right_two_pass,right_reverse,differ_two_pass,differ_reverse,online,online_low,online_high,two_pass,two_pass_low,two_pass_high,reverse,reverse_low,reverse_high"
construction "loophole" "f32 f64 e8m22 bf16" loophole N0=118
construction "look-up" "e8m1 e8m2 bf16 f32" lookup N=64
construction "two-sum" "e8m8 e8m9 e8m10 f32" two-sum N=16 M=64
construction "composition" "e8m13 e8m14 f32" seqcomp L=2 N0=16 n=16 flat=1 keys=quadratic
trained full "f32 bf16 f16 q7.8 e8m3 e5m2 e4m3"
