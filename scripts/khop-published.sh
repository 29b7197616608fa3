#!/bin/bash
# SPDX-License-Identifier: MIT
# khop-published.sh FOLDER [PROMPTS]: the models of "Transformers, parallel computation, and logarithmic depth" (Sanford, Hsu,
# Telgarsky 2024; FOLDER has width4-depth2.pt to width4-depth5.pt) imported and measured: a table of depth and hops, with the
# error over the letters of PROMPTS (100) prompts whose answer is a letter, as the authors count it, and over all; in fp32.
set -eu
cd "$(dirname "$0")/.."
folder=${1:?name the folder that has the models}
prompts=${2:-100}
BUILD=${BUILD:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "label,hops,letters,error,all,error_of_all"
for depth in 2 3 4 5; do
    printf '{"model_type": "gpt2", "n_layer": %d, "n_embd": 128, "n_head": 4, "n_positions": 100, "vocab_size": 30}' $depth >"$scratch/config.json"
    for hops in $(seq 0 16); do
        # The letters have the ids 17 to 20, the hop count its own; "none" is 21. The last hidden numbers are the read-out.
        "$BUILD/rung" import-model "$folder/width4-depth$depth.pt" --config "$scratch/config.json" --read-out hidden --tokens 17-20,0-"$hops" \
            --answers 17-21 --task k-hop N=98 k="$hops" hops=fixed -o "$scratch/m.safetensors" >/dev/null
        "$BUILD/rung" run "$scratch/m.safetensors" --count "$prompts" --show $((98 * prompts)) --json | /usr/bin/python3 -c "
import json, sys
all = json.load(sys.stdin)['predictions']
letters = [p for p in all if p['target'] < 4]
error = lambda some: '%.4f' % (sum(p['answer'] != p['target'] for p in some) / len(some))
print('$depth layers', $hops, len(letters), error(letters), len(all), error(all), sep=',')"
    done
done
