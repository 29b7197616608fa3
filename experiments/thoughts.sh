#!/bin/bash
# SPDX-License-Identifier: MIT
# How many thoughts T replace how many full layers F: for L functions, models with F full layers and the least T that `rung build` offers, on every
# prompt of a small size and on random prompts of a larger one; and layers without a full one, for which no T helps. Prints a CSV.
# --full: more prompts, L up to 6.
# Environment: RUNG.
set -eu
cd "$(dirname "$0")/.."

RUNG=${RUNG:-build/rung}
most=4 prompts=200
[ "${1:-}" != --full ] || { most=6 prompts=5000; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

number() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$2" | head -1; }

# Prompts and right answers of the model that was built, in e8m3: every operation in 12-bit floats.
verified() {
    "$RUNG" verify "$work/model" --numbers e8m3 --json -q "$@" >"$work/verify" || [ $? = 1 ]
    prompts_run=$(number prompts "$work/verify")
    echo "$prompts_run,$((prompts_run - $(number wrong "$work/verify")))"
}

# A row for L functions and F full layers; the words say which construction.
row() { # name L F T construction words...
    local name=$1 functions=$2 full=$3 thoughts=$4 all=, some
    shift 4
    if [ "$functions" -le 2 ]; then
        "$RUNG" build "$@" L="$functions" N0=2 flat=1 -o "$work/model" -q >/dev/null
        all=$(verified --exhaustive)
    fi
    "$RUNG" build "$@" L="$functions" N0=4 flat=1 -o "$work/model" -q >/dev/null
    some=$(verified --samples "$prompts")
    echo "\"$name\",$functions,$full,$thoughts,$all,$some"
}

# One thought fewer makes fewer hops than L+1, and is refused: no construction is known, which is not a proof that none exists.
refused() { # L F T
    ! "$RUNG" build seqcomp-cot L="$1" N0=4 flat=1 full="$2" thoughts="$3" -o "$work/model" -q >/dev/null 2>&1
}

echo "name,L,full,thoughts,every_prompt,every_right,sample,sample_right"
for functions in $(seq "$most"); do
    for full in $(seq $((functions + 1))); do
        thoughts=$(((functions + full) / full - 1))
        row "L=$functions, $full full" "$functions" "$full" "$thoughts" seqcomp-cot full="$full" thoughts="$thoughts"
        [ $thoughts = 0 ] || refused "$functions" "$full" $((thoughts - 1)) ||
            { echo "thoughts.sh: L=$functions full=$full is built with fewer thoughts than known" >&2; exit 1; }
    done
    row "L=$functions, $functions full and a linear one" "$functions" "$functions" 0 seqcomp linear=first
done
