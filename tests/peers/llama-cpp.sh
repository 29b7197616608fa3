#!/bin/bash
# SPDX-License-Identifier: MIT
# llama-cpp.sh FILE.gguf [IDS]: imports the model, runs a prompt of token ids here and in llama.cpp (of `make npm-engines`), and
# compares the logarithms of all probabilities, with the cache of llama.cpp in F32 and in its usual F16. Fails if the first
# difference is above 1e-4.
set -eu
cd "$(dirname "$0")/../.."
file=${1:?name a GGUF file}
ids=${2:-1,403,407,261,378,500,7,30}
BUILD=$(realpath -m "${BUILD:-build}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
vocab=$("$BUILD/rung" import-model "$file" -o "$scratch/m.safetensors" --json | jq .vocab)
export RUNG_LIBRARY=$BUILD/librung.so.0 PYTHONPATH=python
for limit in "F32 1e-4" "F16 inf"; do
    # shellcheck disable=SC2086 # two words
    /usr/bin/python3 tests/peers/llama_cpp.py same "$BUILD/npm-engines" "$file" "$scratch/m.safetensors" 0-$((vocab - 1)) "$ids" $limit
done
