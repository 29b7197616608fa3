#!/bin/bash
# SPDX-License-Identifier: MIT
# Models trained on natural or on uniform prompts of one task, each tested on both; prints a CSV: two-kinds.sh NAME NATURAL UNIFORM [--full].
# NATURAL and UNIFORM are the words KEY=VALUE of the task that make the difference. The models are those of the sweep experiments/NAME.json (with
# --full NAME.full.json), which is run first if its store does not have them. Of every label the rate that the evaluation during training chose,
# all its seeds. With ATTACK, each of these models is also attacked, and so are those of the other rates that succeeded; rung-check must accept
# what is found.
# Environment: RUNG, RUNG_CHECK, BUILD (build), COUNT (512: prompts per model), JOBS (0: runs at the same time), ATTACK (none: an attack of
# rung break), BUDGET (10: seconds of one core for each model), LOG (none: a file for one line per model).
set -eu
cd "$(dirname "$0")/.."

RUNG=${RUNG:-${BUILD:-build}/rung}
CHECK=${RUNG_CHECK:-${BUILD:-build}/rung-check}
spec=$1 natural=$2 uniform=$3
[ "${4:-}" != --full ] || spec=$spec.full
store=${BUILD:-build}/experiments/$spec.db
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$(dirname "$store")"
task=$(sed -n 's/.*"base": {"task": "\([^"]*\)".*/\1/p' "experiments/$spec.json" | sed "s/ ${natural%%=*}=[^ ]*//")

accuracy() { # model word
    # shellcheck disable=SC2086 # several words
    "$RUNG" run "$1" --task $task "$2" -n "${COUNT:-512}" --show 0 --json -q | sed -n 's/^ *"accuracy": \([0-9.e-]*\),*$/\1/p'
}

# How a model was broken: none, random (a prompt as they are drawn) or climbed (one that was searched for).
broken() { # model
    [ -n "${ATTACK:-}" ] || return 0
    rm -f "$work/cert"
    "$RUNG" break "$1" --attack "$ATTACK" --budget "${BUDGET:-10}" --threads 1 --json -q -o "$work/cert" >"$work/break"
    [ -e "$work/cert" ] || { echo none; return; }
    "$CHECK" "$work/cert" "$1" >"$work/check" || [ $? = 10 ] # accepted
    grep -q '^accepted: ' "$work/check" || { echo "two-kinds.sh: rung-check does not accept a certificate" >&2; return 1; }
    if grep -q '"how": "a random prompt' "$work/break"; then echo random; else echo climbed; fi
}

model() { # run
    sqlite3 "$store" "SELECT writefile('$work/model', content) FROM artefacts WHERE run = $1 AND kind = 'model'" >/dev/null
}

note() { # words
    [ -z "${LOG:-}" ] || echo "$*" >>"$LOG"
}

# Of the models of other rates that succeeded: how many there are, and how many of them are broken.
others() { # label
    local all=0 bad=0 number how
    for number in $(sqlite3 "$store" "SELECT number FROM results WHERE NOT chosen AND label = '$1' AND success ORDER BY place"); do
        model "$number"
        how=$(broken "$work/model") || return 1
        note "$1 (rate not chosen) $number $how"
        all=$((all + 1))
        [ "$how" = none ] || bad=$((bad + 1))
    done
    echo "$all,$bad"
}

# Lines "natural uniform [how]", one per seed, to a row: means with the 95 % interval of Student's t, and the mean difference with its own.
row() { # label rate others
    awk -v label="$1" -v rate="$2" -v others="$3" '
        function interval(k,    i, m, s) {
            for (i = 1; i <= NR; i++) m += x[k, i] / NR
            for (i = 1; i <= NR; i++) s += (x[k, i] - m)^2
            s = NR < 2 ? 0 : t[NR - 1] * sqrt(s / (NR - 1) / NR)
            return sprintf("%.4f,%.4f,%.4f", m, m - s, m + s)
        }
        BEGIN { split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ") }
        { x[1, NR] = $1; x[2, NR] = $2; x[3, NR] = $1 - $2; good += $1 >= 0.95; far += $2 >= 0.95; how[$3]++ }
        END {
            printf "\"%s\",%s,%d,%s,%s,%s,%d,%d", label, rate, NR, interval(1), interval(2), interval(3), good, far
            if (others) printf ",%d,%d,%d,%s", how["random"] + how["climbed"], how["random"], how["climbed"], others
            print ""
        }'
}

"$RUNG" sweep "experiments/$spec.json" -o "$store" -j "${JOBS:-0}" -q >&2
header="label,rate,runs,natural,natural_low,natural_high,uniform,uniform_low,uniform_high,drop,drop_low,drop_high,reached_natural,reached_uniform"
echo "$header${ATTACK:+,broken,broken_random,broken_climbed,other_succeeded,other_broken}"
sqlite3 "$store" "SELECT label, rate FROM results WHERE chosen GROUP BY label ORDER BY min(place)" | while IFS='|' read -r label rate; do
    for number in $(sqlite3 "$store" "SELECT number FROM results WHERE chosen AND label = '$label' ORDER BY seed"); do
        model "$number"
        first=$(accuracy "$work/model" "$natural")
        second=$(accuracy "$work/model" "$uniform")
        how=$(broken "$work/model")
        echo "$first $second $how" >>"$work/lines"
        note "$label $rate $number $first $second $how"
    done
    others=
    [ -z "${ATTACK:-}" ] || others=$(others "$label")
    row "$label" "$rate" "$others" <"$work/lines"
    rm "$work/lines"
done
