#!/bin/bash
# SPDX-License-Identifier: MIT
# table-certificates.sh STORE: a certificate for each cell of rung table that did not learn its task, in the store beside the run that it is about.
# The model is that of the first seed, at the rate that was chosen. Where a theorem forbids its size, the kind that the theorem promises is tried
# first. rung-check must accept what is found, or this fails. What has a certificate is not attacked again.
# Environment: RUNG (build/rung), RUNG_CHECK (beside it), BUDGET (20: seconds of one core for each kind).
set -eu
cd "$(dirname "$0")/.."

RUNG=${RUNG:-${BUILD:-build}/rung}
CHECK=${RUNG_CHECK:-$(dirname "$RUNG")/rung-check}
store=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

kind() { # bound
    case $1 in
    A | A-compose | cut) echo state-collision ;;
    sparse) echo block-collision ;;
    *) echo wrong-answer ;;
    esac
}

# rung break puts what it finds into the store.
attack() { # numbers kind
    rm -f "$work/cert"
    "$RUNG" break "$work/model" --numbers "$1" --kind "$2" --budget "${BUDGET:-20}" --threads 1 --store "$store" -q -o "$work/cert" >"$work/log" || true
    [ -e "$work/cert" ]
}

confirm() { # number
    local code=0
    "$CHECK" "$work/cert" "$work/model" >"$work/check" || code=$?
    [ $code = 10 ] || { cat "$work/check"; echo "table-certificates.sh: rung-check does not accept the certificate of run $1" >&2; return 1; }
}

cells="SELECT number, test_numbers, coalesce(verdict, ''), coalesce(bound, ''), arch, label FROM results
    WHERE chosen AND NOT random_labels AND test_accuracy IS NOT NULL
    AND seed = (SELECT min(seed) FROM results AS other WHERE other.cell = results.cell)
    AND (SELECT avg(test_accuracy) FROM results AS other WHERE other.setting = results.setting) < (SELECT success FROM sweeps WHERE number = results.sweep)
    AND NOT EXISTS (SELECT 1 FROM artefacts WHERE run = results.number AND kind = 'certificate') ORDER BY place"
sqlite3 -separator $'\x1f' "$store" "$cells" | while IFS=$'\x1f' read -r number numbers verdict bound arch label; do
    [ "$numbers" != fp32 ] || numbers=f32
    sqlite3 "$store" "SELECT writefile('$work/model', content) FROM artefacts WHERE run = $number AND kind = 'model'" >"$work/log"
    [ "$verdict" = CANNOT ] || bound=
    if attack "$numbers" "$(kind "$bound")" || attack "$numbers" wrong-answer; then
        confirm "$number"
        echo "$arch, $label: $(sed -n 's/^kind //p' "$work/cert") in $numbers"
    else
        echo "$arch, $label: none found"
    fi
done
