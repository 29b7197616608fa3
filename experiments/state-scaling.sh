#!/bin/bash
# SPDX-License-Identifier: MIT
# The smallest state with which a layer learns to look up n values of four kinds; prints a CSV, a row for each run. A layer is trained with 1/4,
# 1/2, 1 and 2 key dimensions per entry, in this order (a window with as many tokens and the question), until a run is right on 0.99 of its test
# questions in exact 16-bit floats. A run that was done is not repeated. Then state-scaling.awk draws the figure of the page.
# Environment: RUNG, BUILD (build), SEEDS ("1 2 3"), SIZES ("2 8 32", and 128 for windows), LAYERS ("window linear delta:unit=1"), STEPS (1000).
set -eu
cd "$(dirname "$0")/.."

RUNG=${RUNG:-${BUILD:-build}/rung}
work=${BUILD:-build}/experiments/state-scaling
mkdir -p "$work"

field() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$2" | head -1; }

# One run; its answer is kept. Sets accuracy and steps.
train() { # arch n dk seed
    local out=$work/$1-$2-$3-$4 more=
    out=${out//[:=]/-}
    [[ $1 != window* ]] || [ "$2" -lt 32 ] || more="--position-base 12 --score-gain 3"
    # shellcheck disable=SC2086 # several words
    [ -s "$out.json" ] || {
        "$RUNG" train --task eva "N=$2" V=4 --arch "$1" --dk "$3" --dv 4 --d-model 128 --mlp none --norm layer --queries 32 --batch 8 \
            --few-values 0.7 --rate 0.006 --steps "${STEPS:-1000}" --eval-every 25 --eval-prompts 16 --stop-at 0.995 --test-prompts 64 \
            --test-numbers f16 --threads 1 --seed "$4" $more -q --json -o "$out.safetensors" >"$out.tmp"
        mv "$out.tmp" "$out.json"
        rm -f "$out.safetensors"
    }
    accuracy=$(field test_accuracy "$out.json")
    steps=$(field step "$out.json")
}

# Bits that cross from the table to the question, as the ledger of rung counts them: of full attention its cache.
carried() { # arch n dk
    "$RUNG" bound "$1" --heads 1 --dk "$3" --dv 4 --bits 16 --task eva "N=$2" V=4 --no-weights --json |
        awk -v n="$2" -F'[:,]' '/"layer": 1, "mechanism"/ {
            for (i = 1; i < NF; i++) { if ($i ~ /carried_bits"/) c = $(i + 1); if ($i ~ /kv_elements_per_token"/) k = $(i + 1) }
            print c + k * n * 16; exit }'
}

# Up to the first that learns.
search() { # layer n seed
    local part dk arch last=0
    for part in 1 2 4 8; do
        arch=$1 dk=$((($2 * part + 3) / 4))
        [ $dk -gt $last ] || continue
        last=$dk
        [ "$1" != window ] || { arch=window:W=$((dk + 1)); dk=8; } # the question takes a place, too
        train "$arch" "$2" $dk "$3"
        learnt=$(awk -v a="$accuracy" 'BEGIN { print (a >= 0.99) }')
        echo "$1,$2,$3,$(carried "$arch" "$2" $dk),$dk,$accuracy,$steps,$learnt,$((2 * $2))"
        [ "$learnt" = 0 ] || return 0
    done
}

all() {
    echo "label,n,seed,state_bits,dk,accuracy,steps,learnt,proved_bits"
    for layer in ${LAYERS:-window linear delta:unit=1}; do
        sizes="2 8 32"
        [ "$layer" != window ] || sizes="2 8 32 128"
        for n in ${SIZES:-$sizes}; do
            for seed in ${SEEDS:-1 2 3}; do search "$layer" "$n" "$seed"; done
        done
    done
}

all | tee "$work/rows.csv"
awk -f experiments/state-scaling.awk "$work/rows.csv" >docs/experiments/state-scaling.svg
