#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What rung exports, in the engines that people serve with. `make test-engines` installs them; without them every case is
# skipped.
# bats file_tags=plain
load common

peers=$BATS_TEST_DIRNAME/../peers
engines=${RUNG_ENGINES:-$(dirname "$RUNG")/npm-engines}

need() {
    without_sanitizers "the engine is looked at, not the program"
    [ -d "$engines/node_modules/$1" ] || skip "$1 is not installed: make test-engines"
    RUNG_LIBRARY=$(dirname "$RUNG")/librung.so.0
    PYTHONPATH=$BATS_TEST_DIRNAME/../../python
    export RUNG_LIBRARY PYTHONPATH
}

# export_gguf MODEL FILE OPTIONS: sets `answers`, the ids of the answers.
export_gguf() {
    answers=$("$RUNG" export-model "$1" -o "$2" --json "${@:3}" | python 'import json, sys; print(json.load(sys.stdin)["answers"])')
}

llama_cpp() { "$PYTHON" "$peers/llama_cpp.py" "$1" "$engines" "${@:2}"; }

# every_prompt FORM SIZES -- CONSTRUCTION: builds, exports, asks llama.cpp every prompt, with both kinds of cache.
every_prompt() {
    local form=()
    while [ "$1" != -- ]; do form+=("$1"); shift; done
    shift
    rung build "$@" -o m.safetensors
    export_gguf m.safetensors m.gguf
    for cache in F32 F16; do llama_cpp every m.gguf "$answers" $cache "${form[@]}"; done
}

# same_logits IDS -- MODEL OPTIONS: a random model in llama.cpp and here.
same_logits() {
    rung build random "${@:3}" -o m.safetensors
    export_gguf m.safetensors m.gguf
    llama_cpp same m.gguf m.safetensors "$answers" "$1" F32 1e-5
}

@test "llama.cpp looks up right on every prompt, from weights that rung built" {
    need node-llama-cpp
    every_prompt eva 4 4 -- lookup N=4 V=4
    every_prompt eva 4 4 -- lookup N=4 V=4 keys=trig values=scalar
    every_prompt eva-pair 2 3 3 -- lookup task=eva form=pair N=2 K=3 V=3
    every_prompt eva-pair 2 3 3 -- lookup task=eva form=pair N=2 K=3 V=3 keys=quadratic values=scalar
}

@test "llama.cpp composes two functions right on every prompt" {
    need node-llama-cpp
    every_prompt composition 2 2 -- seqcomp L=2 N0=2 n=2
    every_prompt composition 2 2 -- seqcomp L=2 N0=2 n=2 keys=trig
    every_prompt composition 2 2 -- seqcomp L=2 N0=2 n=2 keys=quadratic
    "$RUNG" build seqcomp L=2 N0=2 n=2 -o m.safetensors
    export_gguf m.safetensors m.gguf
    llama_cpp text m.gguf " z2:3 z2:0 z2:0 z2:0 z1:0 z1:0 z0:1 w:0" 5 2 2 2 0 0 7 8
    llama_cpp text m.gguf " z2:3 not a word" 5 14 14 14 14 14 14 14 14 14 14 14
}

@test "an export with a wrong weight makes llama.cpp err" {
    need node-llama-cpp
    rung build lookup N=4 V=4 gap=2 -o m.safetensors
    export_gguf m.safetensors m.gguf
    "$PYTHON" "$peers/spoil.py" m.safetensors layers.0.mix.0.k.weight spoilt.safetensors
    export_gguf spoilt.safetensors spoilt.gguf
    llama_cpp every m.gguf "$answers" F16 eva 4 4
    run ! llama_cpp every spoilt.gguf "$answers" F16 eva 4 4
    [[ $output == *" wrong answers"* ]]
}

@test "log-probabilities of llama.cpp are those of rung, with and without norms" {
    need node-llama-cpp
    local eva="--task eva N=4 V=4"
    for options in \
        "--arch 2*full --heads 2 --dk 4 --dv 4 --mlp swiglu --norm rms --positions rotary" \
        "--arch 2*full --heads 2 --dk 4 --dv 4 --mlp relu --norm rms --positions learned" \
        "--arch 2*full --heads 2 --dk 4 --dv 8 --mlp none,relu --norm layer --positions learned" \
        "--arch 2*full --heads 2 --dk 4 --dv 8 --mlp relu --norm none --positions learned" \
        "--arch full,full@1|full:dk=2@1 --heads 2 --dk 4 --dv 8 --mlp none --norm none --positions none" \
        "--arch 2*full --heads 3 --dk 4 --dv 8 --mlp relu --norm rms --positions none" \
        "--arch 2*full --heads 3 --dk 8 --dv 6 --mlp none --norm none --positions rotary"; do
        # shellcheck disable=SC2086 # several words
        same_logits 3,1,0,2,7 -- $options $eva
    done
}

onnx_runtime() { "$PYTHON" "$peers/onnx_runtime.py" "$1" "$engines" "${@:2}"; }

# onnx_every_prompt FORM SIZES -- CONSTRUCTION
onnx_every_prompt() {
    local form=()
    while [ "$1" != -- ]; do form+=("$1"); shift; done
    shift
    rung build "$@" -o m.safetensors
    rung export-model m.safetensors --format onnx -o m.onnx
    onnx_runtime every m.onnx "${form[@]}"
}

@test "ONNX Runtime looks up and composes right on every prompt" {
    need onnxruntime-node
    onnx_every_prompt eva 4 4 -- lookup N=4 V=4
    onnx_every_prompt eva 4 4 -- lookup N=4 V=4 keys=trig values=scalar
    onnx_every_prompt eva-pair 2 3 3 -- lookup task=eva form=pair N=2 K=3 V=3
    onnx_every_prompt composition 2 2 -- seqcomp L=2 N0=2 n=2
    onnx_every_prompt composition 2 2 -- seqcomp L=2 N0=2 n=2 keys=trig
    onnx_every_prompt composition 2 2 -- seqcomp L=2 N0=2 n=2 keys=trig linear=first
    "$PYTHON" "$peers/spoil.py" m.safetensors layers.1.mix.0.k.weight spoilt.safetensors
    rung export-model spoilt.safetensors --format onnx -o spoilt.onnx
    run ! onnx_runtime every spoilt.onnx composition 2 2
    [[ $output == *" wrong answers"* ]]
}

@test "logits of ONNX Runtime are those of rung, for all layer forms" {
    need onnxruntime-node
    while read -r options; do
        for seed in 1 2 3; do
            # shellcheck disable=SC2086 # several words
            rung build random $options --task eva N=4 V=4 --seed "$seed" -o m.safetensors
            rung export-model m.safetensors --format onnx -o m.onnx
            onnx_runtime same m.onnx m.safetensors 1e-5 3,1,0,2,7
        done
    done <"$peers/layers.txt"
    "$PYTHON" "$peers/spoil.py" m.safetensors layers.1.mix.0.beta.weight spoilt.safetensors
    run ! onnx_runtime same m.onnx spoilt.safetensors 1e-5 3,1,0,2,7
}

@test "certificates are replayed: llama.cpp errs with a cache in F16 and not in F32, ONNX Runtime errs where the weights do" {
    need node-llama-cpp
    need onnxruntime-node
    export RUNG_ENGINES=$engines
    rung build lookup N=256 V=16 keys=quadratic -o m.safetensors
    rung break m.safetensors --numbers e8m10 -q -o m.cert
    rung replay m.cert m.safetensors --expect errs
    rung replay m.cert m.safetensors --cache f32 --expect right
    rung replay m.cert m.safetensors --engine onnxruntime --expect right
    rung build random --arch full --heads 1 --dk 4 --dv 4 --d-model 16 --task eva N=8 V=8 -o r.safetensors
    rung break r.safetensors --numbers bf16 -q -o r.cert
    rung replay r.cert r.safetensors --expect errs
    rung replay r.cert r.safetensors --engine onnxruntime --expect errs
    rung replay "$BATS_TEST_DIRNAME/../fixtures/cert/swap-state.cert" "$BATS_TEST_DIRNAME/../fixtures/cert/swap.safetensors" \
        --engine onnxruntime --expect errs
}
