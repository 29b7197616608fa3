#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Programs and packages that people use beside rung, from PyPI: what they read of ours, what we read of theirs, and whether layers agree.
# `make test-peers` makes the virtual environment; without it every case is skipped.
# bats file_tags=plain
load common

peers=$BATS_TEST_DIRNAME/../peers
venv=${RUNG_PEERS:-$(dirname "$RUNG")/peers}

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    without_sanitizers "the peers are looked at, not the program"
    [ -x "$venv/bin/python" ] || skip "the packages are not installed: make test-peers"
    RUNG_LIBRARY=$(dirname "$RUNG")/librung.so.0
    PYTHONPATH=$BATS_TEST_DIRNAME/../../python:$peers
    export RUNG_LIBRARY PYTHONPATH
    export HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 TOKENIZERS_PARALLELISM=false TRANSFORMERS_VERBOSITY=error CUDA_VISIBLE_DEVICES=
}

peer() { "$venv/bin/python" -W ignore "$peers/$1.py" "${@:2}"; }

# export_to FORMAT OUT: sets `answers`, the ids of the answers.
export_to() { answers=$(rung export-model m.safetensors --format "$1" -o "$2" --json | jq -r .answers); }

@test "transformers answers every prompt right, from weights that rung built" {
    rung build lookup N=4 V=4 -o m.safetensors
    export_to hf folder
    peer hf_folder every folder "$answers" eva 4 4
    peer hf_folder text folder "v0 v3 v2 v0 x3?" 0 3 2 0 7
    rung build lookup task=eva form=pair N=2 K=3 V=3 -o m.safetensors
    export_to hf folder
    grep -q llama folder/config.json
    peer hf_folder every folder "$answers" eva-pair 2 3 3
    rung build seqcomp L=2 N0=2 n=2 keys=trig -o m.safetensors
    export_to hf folder
    peer hf_folder every folder "$answers" composition 2 2
    "$PYTHON" "$peers/spoil.py" m.safetensors layers.1.mix.0.k.weight spoilt.safetensors
    mv spoilt.safetensors m.safetensors
    export_to hf folder
    run ! peer hf_folder every folder "$answers" composition 2 2
}

@test "logits of transformers are those of rung, for llama and gpt2" {
    for options in "--mlp swiglu --norm rms --positions rotary" "--mlp gelu --norm layer" "--mlp gelu_tanh --norm layer" \
        "--mlp relu --norm rms" "--mlp relu --norm none" "--mlp none --norm none --positions none"; do
        # shellcheck disable=SC2086 # several words
        rung build random --arch '2*full' --heads 2 --dk 4 --dv 4 --d-model 8 $options --task eva N=4 V=4 --seed 3 -o m.safetensors
        export_to hf folder
        peer hf_folder same folder m.safetensors "$answers" 1e-5 3,1,0,2,7
    done
}

@test "onnxruntime of PyPI runs what rung exports, and onnx finds it well-formed" {
    while read -r options; do
        # shellcheck disable=SC2086 # several words
        rung build random $options --task eva N=4 V=4 --seed 2 -o m.safetensors
        rung export-model m.safetensors --format onnx -o m.onnx
        peer onnx_runtime same pypi m.onnx m.safetensors 1e-5 3,1,0,2,7
    done <"$peers/layers.txt"
    rung build seqcomp L=2 N0=2 n=2 keys=trig linear=first -o m.safetensors
    rung export-model m.safetensors --format onnx -o m.onnx
    peer onnx_runtime every pypi m.onnx composition 2 2
}

@test "gguf, safetensors and tensorboard read the files of rung" {
    rung build seqcomp L=2 N0=2 n=2 -o m.safetensors
    export_to gguf m.gguf
    export_to hf folder
    peer files gguf m.gguf folder
    peer files safetensors m.safetensors
    rung train --arch full --task eva N=4 V=4 --d-model 16 --dk 8 --dv 4 --steps 40 --eval-every 10 -o t.safetensors \
        --metrics t.jsonl --tensorboard logs -q
    peer files tensorboard logs t.jsonl
}

@test "layers of transformers and mechanisms of flash-linear-attention agree with ours" {
    peer mixers layers
    peer mixers mechanisms "$RUNG"
}

@test "a task goes through lm-eval, asked of a model that rung serves, and rung import reads its log" {
    rung build lookup N=4 V=4 -o m.safetensors
    rung task eva N=4 V=4 --format lm-eval --count 20 -o task -q
    serve m.safetensors
    "$venv/bin/lm-eval" run --include_path task --tasks rung_eva_N4_V4 --model local-completions --log_samples --output_path out \
        --model_args "model=m,base_url=$URL/v1/completions,tokenizer_backend=none,num_concurrent=1,max_retries=1" >said 2>&1 ||
        { cat said && return 1; }
    stop_server
    grep -q '|exact_match|↑  |    1|' said
    run -0 rung import out/m/samples_*.jsonl --model m --task eva --depth 1 -o probe.db
    [[ $output == *"lm-eval, 20 of 20 right"* ]]
}

@test "a task goes through inspect, and rung import reads its log" {
    rung build seqcomp L=2 N0=2 n=2 -o m.safetensors
    rung task seqcomp L=2 N0=2 n=2 --format inspect --count 10 -o task.jsonl -q
    serve m.safetensors
    INSPECT_LOG_LEVEL=error peer inspect_run "$URL" m task.jsonl logs
    stop_server
    run -0 rung import logs/*.json -o probe.db
    [[ $output == *"inspect, 10 of 10 right"* ]]
}
