#!/bin/bash
# SPDX-License-Identifier: MIT
# agreement.sh: the table of docs/import.md: model by model, how far the logits of rung are from those of other programs. It needs
# build/peers (make test-peers) and build/npm-engines (make npm-engines); a row says so where one of them is missing.
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath -m "${BUILD:-build}")
rung=$BUILD/rung venv=$BUILD/peers engines=$BUILD/npm-engines
PYTHON=${PYTHON:-/usr/bin/python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export RUNG_LIBRARY=$BUILD/librung.so.0 PYTHONPATH=$PWD/python:$PWD/tests/peers
export HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error CUDA_VISIBLE_DEVICES= PYTHONWARNINGS=ignore

row() { echo "| $1 | $2 | $3 |"; }
# The number behind "largest difference" in what a peer says, and the name before the colon.
number() { sed -n 's/.*largest difference \([^ ]*\).*/\1/p' | tail -1; }
peer() { "$venv/bin/python" "tests/peers/$1.py" "${@:2}" 2>/dev/null; }

theirs_here() { # transformers makes and runs, rung imports
    local name said
    peer hf_models "$scratch" >/dev/null
    for config in "$scratch"/*/config.json; do
        name=$(basename "$(dirname "$config")")
        "$rung" import-model "$scratch/$name" -o "$scratch/m.safetensors" >/dev/null
        said=$("$PYTHON" tests/foreign/logits.py "$scratch/m.safetensors" "$scratch/$name/expected.npz")
        row "$name, random weights, imported" "transformers, f64" "$said"
    done
}

ours_there() { # rung makes, exports; the others run
    local options=$1 what=$2 ids=3,1,0,2,7 answers said
    # shellcheck disable=SC2086 # several words
    "$rung" build random $options --task eva N=4 V=4 --seed 3 -o "$scratch/m.safetensors" >/dev/null
    if [ "${3:-}" != onnx ]; then
        answers=$("$rung" export-model "$scratch/m.safetensors" --format hf -o "$scratch/folder" --json | jq -r .answers)
        [ ! -x "$venv/bin/python" ] || row "$what, exported" "transformers" \
            "$(peer hf_folder same "$scratch/folder" "$scratch/m.safetensors" "$answers" inf "$ids" | number)"
        rm -rf "$scratch/folder"
        if [ -d "$engines/node_modules/node-llama-cpp" ] && [[ $options != *"gelu "* ]]; then
            "$rung" export-model "$scratch/m.safetensors" -o "$scratch/m.gguf" >/dev/null
            said=$("$PYTHON" tests/peers/llama_cpp.py same "$engines" "$scratch/m.gguf" "$scratch/m.safetensors" "$answers" "$ids" F32 inf)
            row "$what, exported" "llama.cpp, cache in F32" "$(number <<<"$said") in log-probability"
        fi
    fi
    "$rung" export-model "$scratch/m.safetensors" --format onnx -o "$scratch/m.onnx" >/dev/null
    if [ -d "$engines/node_modules/onnxruntime-node" ]; then
        said=$("$PYTHON" tests/peers/onnx_runtime.py same "$engines" "$scratch/m.onnx" "$scratch/m.safetensors" inf "$ids")
        row "$what, exported" "${said%%:*}" "$(number <<<"$said")"
    fi
}

layers_there() {
    peer mixers layers | grep -v ', step' | sed -n 's/^\([^:]*\): \(.*\), scan: .*difference \([^ ]*\) .*/| layer \2 | \1 | \3 |/p'
    peer mixers mechanisms "$rung" | sed -n 's/^\([^:]*\): \([^:]*\): .*difference \([^ ]*\) .*/| mechanism \2 | \1 | \3 |/p' | uniq
}

echo "| model | beside | largest difference |"
echo "|---|---|---|"
if [ -x "$venv/bin/python" ]; then theirs_here; else echo "| (make test-peers installs transformers) | | |"; fi
[ -d "$engines/node_modules" ] || echo "| (make npm-engines installs llama.cpp and ONNX Runtime) | | |"
heads="--heads 2 --dk 4 --dv 4 --d-model 8"
ours_there "--arch 2*full $heads --mlp swiglu --norm rms --positions rotary" "llama (RMSNorm, rotary, swiglu)"
ours_there "--arch 2*full $heads --mlp gelu_tanh --norm layer" "gpt2 (LayerNorm, table, gelu_tanh)"
ours_there "--arch 2*full $heads --mlp relu --norm rms" "RMSNorm, table, relu"
ours_there "--arch 2*full $heads --mlp relu --norm none" "no norm, table, relu"
ours_there "--arch window:W=3,full:qknorm=1 --norm rms --mlp gelu --positions rotary" "window, qknorm" onnx
ours_there "--arch 3*gdelta:conv=4:unit=1:gate=1,full --norm rms --mlp swiglu" "hybrid: 3 gdelta, full" onnx
ours_there "--arch mamba2:conv=4,gla:gate=1,kda:unit=1,linear --norm rms" "mamba2, gla, kda, linear" onnx
[ ! -x "$venv/bin/python" ] || layers_there
