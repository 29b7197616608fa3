#!/bin/bash
# SPDX-License-Identifier: MIT
# The smallest state with which a layer learns to look up n values of four kinds, for n over two decades; prints a CSV, a row for each run. A layer
# is trained with 1/4, 1/2, 1, 2 key dimensions per entry, in this order (a window with as many tokens; full attention with 1, 2, 4, 8 key
# dimensions), until a run is right on 0.99 of its test questions in exact 16-bit floats. A run that was done is not repeated. Then
# state-scaling.awk draws the figure of the page.
# Environment: RUNG, BUILD (build), SEEDS ("1 2 3"), SIZES ("4 20 100 400"), LAYERS ("full window linear delta mamba2"), STEPS (600).
set -eu
cd "$(dirname "$0")/.."

RUNG=${RUNG:-${BUILD:-build}/rung}
work=${BUILD:-build}/experiments/state-scaling
mkdir -p "$work"

field() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$2" | head -1; }

# One run; its answer is kept. Sets accuracy and steps.
train() { # arch n dk seed
    local out=$work/$1-$2-$3-$4
    out=${out//:W=/-}
    [ -s "$out.json" ] || {
        "$RUNG" train --task eva "N=$2" V=4 --arch "$1" --dk "$3" --dv 4 --d-model 64 --mlp gelu --norm layer --queries 32 --batch 8 \
            --few-values 0.7 --rate 0.006 --steps "${STEPS:-600}" --eval-every 25 --eval-prompts 16 --stop-at 0.995 --test-prompts 64 \
            --test-numbers f16 --threads 1 --seed "$4" -q --json -o "$out.safetensors" >"$out.tmp"
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
    local part dk arch
    for part in 1 2 4 8; do
        arch=$1 dk=$((($2 * part + 3) / 4))
        [ "$1" != full ] || dk=$part
        [ "$1" != window ] || { arch=window:W=$((dk + 1)); dk=4; } # the question takes a place, too
        train "$arch" "$2" $dk "$3"
        learnt=$(awk -v a="$accuracy" 'BEGIN { print (a >= 0.99) }')
        echo "$1,$2,$3,$(carried "$arch" "$2" $dk),$dk,$accuracy,$steps,$learnt,$((2 * $2))"
        [ "$learnt" = 0 ] || return 0
    done
}

echo "label,n,seed,state_bits,dk,accuracy,steps,learnt,proved_bits"
for layer in ${LAYERS:-full window linear delta mamba2}; do
    for n in ${SIZES:-4 20 100 400}; do
        for seed in ${SEEDS:-1 2 3}; do search "$layer" "$n" "$seed"; done
    done
done | tee "$work/rows.csv"
{ echo "label,n,seed,state_bits,dk,accuracy,steps,learnt,proved_bits"; cat "$work/rows.csv"; } |
    awk -f experiments/state-scaling.awk >docs/experiments/state-scaling.svg
