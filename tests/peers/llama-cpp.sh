#!/bin/bash
# SPDX-License-Identifier: MIT
# llama-cpp.sh FILE.gguf [IDS]: imports the model, runs a prompt of token ids here and in llama.cpp (node-llama-cpp, installed by
# npm into $BUILD/llama-cpp, 700 MB), and compares the logarithms of all probabilities, with the cache of llama.cpp in F32 and
# in its usual F16. Fails if the first difference is above 1e-4.
set -eu
cd "$(dirname "$0")/../.."
file=${1:?name a GGUF file}
ids=${2:-1,403,407,261,378,500,7,30}
BUILD=$(realpath -m "${BUILD:-build}")
modules=$BUILD/llama-cpp
mkdir -p "$modules"
if [ ! -d "$modules/node_modules/node-llama-cpp" ]; then
    echo '{"private": true}' >"$modules/package.json"
    (cd "$modules" && npm install --no-audit --no-fund --ignore-scripts node-llama-cpp@3.22.1)
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$BUILD/rung" import-model "$file" -o "$scratch/m.safetensors"
for type in F32 F16; do
    node tests/peers/llama-cpp.mjs "$modules" "$file" "$ids" $type "$scratch/$type.json"
done
RUNG_LIBRARY=$BUILD/librung.so.0 PYTHONPATH=python /usr/bin/python3 - "$scratch" "$ids" <<'PY'
import json, sys
import numpy
import rung
ids = [int(i) for i in sys.argv[2].split(",")]
with rung.Model(sys.argv[1] + "/m.safetensors") as model:
    logits = numpy.array(model.run(numpy.array(ids, dtype="uint32"), at=range(len(ids))))
ours = logits - logits.max(1, keepdims=True)
ours -= numpy.log(numpy.exp(ours).sum(1, keepdims=True))
for kind in ("F32", "F16"):
    theirs = numpy.log(numpy.array(json.load(open(f"{sys.argv[1]}/{kind}.json"))))
    difference = abs(ours - theirs).max()
    print(f"cache of llama.cpp in {kind}: {theirs.size} log-probabilities, largest difference {difference:.2g}")
    if kind == "F32" and not difference <= 1e-4:
        sys.exit("the logits do not agree")
PY
