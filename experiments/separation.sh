#!/bin/bash
# SPDX-License-Identifier: MIT
# Two functions composed: what one full layer with four linear ones after it cannot do whatever its weights, and what a linear layer with two
# full ones does, at the same size with the same numbers; prints a CSV. --full: more prompts.
# Environment: RUNG.
set -eu
cd "$(dirname "$0")/.."

RUNG=${RUNG:-build/rung}
times=1
[ "${1:-}" != --full ] || times=10
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

number() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$2" | head -1; }

# Layers that theory speaks of: the verdict, the margin and the ceiling of the theorem that holds, if one does.
bound() { # name layers N0 n order
    "$RUNG" bound "$2" --task seqcomp L=2 N0="$3" n="$4" --bits 32 --kernel "$5" --no-weights --json >"$work/bound"
    awk -v name="$1" -v n0="$3" -v n="$4" '
        function value(s) { sub(/.*: /, "", s); sub(/,$/, "", s); gsub(/"/, "", s); return s == "null" ? "" : s }
        /^ *"n":/ { tokens = value($0) }
        /"applies":/ { applies = value($0) == "true"; }
        /"holds":/ { holds = applies && value($0) == "true" }
        holds && /"margin":/ && margin == "" { margin = value($0) }
        holds && /"average_accuracy_at_most":/ && ceiling == "" { ceiling = value($0) }
        /^  "verdict":/ { verdict = value($0) }
        END { printf "\"%s\",%d,%d,%d,%s,%s,%s,,,,\n", name, n0, n, tokens, verdict, margin, ceiling }' "$work/bound"
}

# Layers that were built: how many random prompts they answer, in float32 with every operation rounded.
built() { # name N0 n prompts words of rung build...
    local name=$1 n0=$2 n=$3 prompts=$(($4 * times)) wrong
    shift 4
    "$RUNG" build seqcomp L=2 N0="$n0" n="$n" "$@" -o "$work/model" -q >/dev/null
    "$RUNG" verify "$work/model" --numbers f32 --samples "$prompts" --json -q >"$work/verify" || [ $? = 1 ]
    wrong=$(number wrong "$work/verify")
    sed -n 's/.*"error_interval_95": \[\([0-9.e+-]*\), *\([0-9.e+-]*\)\].*/\1 \2/p' "$work/verify" |
        awk -v name="$name" -v n0="$n0" -v n="$n" -v prompts="$prompts" -v wrong="$wrong" '
            { printf "\"%s\",%d,%d,%d,%s,,,%d,%d,%.4f,%.4f\n", name, n0, n, n0 * n + n0 + 2, wrong == 0 ? "none wrong" : "wrong", prompts, prompts - wrong, 1 - $2, 1 - $1 }'
}

echo "name,N0,n1,tokens,verdict,margin,ceiling,prompts,right,accuracy_low,accuracy_high"
for size in "38 17 200" "39 17 200" "60 17 200" "60 60 100"; do
    read -r n0 n prompts <<<"$size"
    bound "full,4*linear, N0=$n0 n1=$n" 'full:dk=2:dv=2,4*linear:dk=2:dv=2' "$n0" "$n" online
    built "linear,2*full, N0=$n0 n1=$n" "$n0" "$n" "$prompts" keys=quadratic linear=first
    built "3*full, N0=$n0 n1=$n" "$n0" "$n" "$prompts" keys=quadratic
done
bound "full,4*linear, two-pass softmax" 'full:dk=2:dv=2,4*linear:dk=2:dv=2' 60 60 two-pass
