#!/bin/bash
# SPDX-License-Identifier: MIT
# How many thoughts T replace how many full layers F: for L functions, models with F full layers, with and without a linear layer in front, and the
# least T that `rung build` offers, on every prompt of a small size and on random prompts of a larger one. Prints a CSV.
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

build() { "$RUNG" build seqcomp-cot "$@" flat=1 -o "$work/model" -q; }

# A row for L functions and F full layers with T thoughts.
row() { # name L F T linear
    local name=$1 functions=$2 full=$3 thoughts=$4 all=, some
    local words=(L="$functions" full="$full" thoughts="$thoughts" linear="$5")
    if [ "$functions" -le 2 ]; then
        build "${words[@]}" N0=2 >/dev/null
        all=$(verified --exhaustive)
    fi
    build "${words[@]}" N0=4 >/dev/null
    some=$(verified --samples "$prompts")
    echo "\"$name\",$functions,$full,$thoughts,$all,$some"
}

# One thought fewer makes too few hops, and is refused: no construction is known, which is not a proof that none exists.
one_fewer_is_refused() { # L F T linear
    [ "$3" != 0 ] || return 0
    if build L="$1" full="$2" thoughts=$(($3 - 1)) linear="$4" N0=4 >/dev/null 2>"$work/refusal" ||
        ! grep -q " hops, and L=$1 needs .*; take thoughts=$3" "$work/refusal"; then
        echo "thoughts.sh: L=$1 full=$2 linear=$4 thoughts=$(($3 - 1)) is not refused for its hops" >&2
        exit 1
    fi
}

# A row with as few thoughts as make so many hops, and the refusal of fewer.
checked_row() { # L F hops linear rest-of-the-name
    local thoughts=$((($3 + $2 - 1) / $2 - 1))
    row "L=$1, $2 full$5" "$1" "$2" $thoughts "$4"
    one_fewer_is_refused "$1" "$2" $thoughts "$4"
}

echo "name,L,full,thoughts,every_prompt,every_right,sample,sample_right"
for functions in $(seq "$most"); do
    for full in $(seq $((functions + 1))); do checked_row "$functions" "$full" $((functions + 1)) none ""; done
    for full in $(seq "$functions"); do checked_row "$functions" "$full" "$functions" first " and a linear one"; done
done
