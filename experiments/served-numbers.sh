#!/bin/bash
# SPDX-License-Identifier: MIT
# Trained recurrent models in the number formats of servers; prints a CSV. The models are those of the sweep experiments/served-numbers.json (with
# --full served-numbers.full.json), which is run first if its store does not have them: of every label the seeds that reached
# 0.97 with the rate that the evaluation during training chose. The exact evaluator runs each in every format and at every length, on the same prompts. What has been measured is kept
# beside the store and not measured again.
# Environment: RUNG, BUILD (build), JOBS (2: at the same time), TRAIN (1; 0: take the models that the store has), RATE (instead of the chosen one), ANSWERS (256: of a model in a cell; a quarter of them from 1024 tokens on, a sixteenth from 4096 on).
set -eu
cd "$(dirname "$0")/.."

export RUNG=${RUNG:-${BUILD:-build}/rung}
spec=served-numbers
[ "${1:-}" != --full ] || spec=$spec.full
store=${BUILD:-build}/experiments/$spec.db
export kept=${BUILD:-build}/experiments/$spec.measured
mkdir -p "$kept"
lengths="64 1024 4096"
formats="f32 served:bf16 served:state32
    f32,state=bf16 f32,state=bf16,chunk=64 f32,state=bf16,round=stochastic
    f32,state=f16 f32,state=e4m3fn f32,state=e4m3fn,chunk=64 f32,state=int8/row
    f32,state=int4/row f32,state=int4/row,chunk=64 f32,state=int4/row,round=stochastic
    f32,gate=bf16 f32,gate=e4m3 f32,beta=bf16 f32,beta=e4m3"

[ "${TRAIN:-1}" = 0 ] || "$RUNG" sweep "experiments/$spec.json" -o "$store" -j "${JOBS:-2}" -q >&2
export task
task=$(sed -n 's/.*"base": {"task": "\([^"]*\)".*/\1/p' "experiments/$spec.json" | sed 's/ T=[0-9]*//')
pairs=${task##*pairs=}
pairs=${pairs%% *}

# How many prompts of so many tokens a model gets. Long ones take longer.
prompts() { # tokens
    local answers=${ANSWERS:-256}
    [ "$1" -lt 1024 ] || answers=$((answers / 4))
    [ "$1" -lt 4096 ] || answers=$((answers / 4))
    echo $((answers / pairs))
}

place() { # number tokens numbers
    echo "$kept/$1-$2-${3//\//_}"
}

# The share of right answers, into the file of this measurement.
measure() { # number tokens numbers count
    local file
    file=$kept/$1-$2-${3//\//_}
    [ ! -s "$file" ] || return 0
    # shellcheck disable=SC2086 # several words
    "$RUNG" run "$kept/$1.safetensors" --task $task T="$2" -n "$4" --numbers "$3" --threads 1 --show 0 --json -q |
        sed -n 's/^ *"accuracy": \([0-9.e-]*\),*$/\1/p' >"$file.tmp"
    [ -s "$file.tmp" ] || { echo "served-numbers.sh: no accuracy of run $1 in $3" >&2; return 1; }
    mv "$file.tmp" "$file"
}
export -f measure

if [ -n "${RATE:-}" ]; then with="rate = $RATE"; else with=chosen; fi
taken="sweep = (SELECT max(number) FROM sweeps WHERE name = '$spec') AND $with
    AND (random_labels OR eval_accuracy >= 0.97)"
chosen() { # columns [condition]
    sqlite3 "$store" "SELECT $1 FROM results WHERE $taken $2"
}

# A model whose labels were random shows what is right by chance: one format and length.
for number in $(chosen number ""); do
    [ -e "$kept/$number.safetensors" ] ||
        sqlite3 "$store" "SELECT writefile('$kept/$number.safetensors', content) FROM artefacts WHERE run = $number AND kind = 'model'" >/dev/null
done
{
    for number in $(chosen number "AND random_labels"); do echo "$number 64 f32 $(prompts 64)"; done
    for tokens in $lengths; do
        for numbers in $formats; do
            for number in $(chosen number "AND NOT random_labels"); do echo "$number $tokens $numbers $(prompts "$tokens")"; done
        done
    done
} | xargs -P "${JOBS:-2}" -L 1 bash -c 'measure "$@"' measure

# Lines "accuracy accuracy-in-f32" of the seeds to means with the 95 % interval of Student's t, and the mean fall with its own.
row() { # label rate tokens numbers answers
    awk -v begin="\"$1\",$2,$3,\"$4\",$5" '
        function interval(k,    i, m, s) {
            for (i = 1; i <= NR; i++) m += x[k, i] / NR
            for (i = 1; i <= NR; i++) s += (x[k, i] - m)^2
            s = NR < 2 ? 0 : t[NR - 1] * sqrt(s / (NR - 1) / NR)
            return sprintf("%.4f,%.4f,%.4f", m, m - s, m + s)
        }
        BEGIN { split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ") }
        { x[1, NR] = $1; x[2, NR] = $2 - $1; if (NR == 1 || $1 < least) least = $1 }
        END { printf "%s,%d,%s,%s,%.4f\n", begin, NR, interval(1), interval(2), least }'
}

echo "label,rate,tokens,numbers,answers,runs,accuracy,accuracy_low,accuracy_high,fall,fall_low,fall_high,least"
sqlite3 -separator '|' "$store" "SELECT label, rate, max(random_labels) FROM results WHERE $taken
    GROUP BY label ORDER BY min(place)" | while IFS='|' read -r label rate random; do
    for tokens in $lengths; do
        for numbers in $formats; do
            [ "$random" = 0 ] || [ "$tokens $numbers" = "64 f32" ] || continue
            for number in $(chosen number "AND label = '$label' ORDER BY seed"); do
                echo "$(cat "$(place "$number" "$tokens" "$numbers")") $(cat "$(place "$number" "$tokens" f32)")"
            done | row "$label" "$rate" "$tokens" "$numbers" $(($(prompts "$tokens") * pairs))
        done
    done
done
