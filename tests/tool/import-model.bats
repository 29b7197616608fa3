#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# rung import-model: messages and files. tests/parity/test_import.py compares logits with PyTorch.
load common

setup() { cd "$BATS_TEST_TMPDIR"; }

fixtures=$BATS_TEST_DIRNAME/../fixtures/io

@test "what is no model is refused with its name, and nothing is written" {
    run -3 "$RUNG" import-model "$fixtures/blocks.gguf" -o m.safetensors
    [[ $output == *"blocks.gguf: architecture 'none' is not one of llama, qwen2, qwen3, gpt2"* ]]
    run -3 "$RUNG" import-model "$fixtures/state.pt" -o m.safetensors
    [[ $output == *"config.json"* ]]
    echo '{"model_type": "gpt2", "n_layer": 1, "n_embd": 4, "n_head": 2, "n_positions": 8, "vocab_size": 5}' >config.json
    run -3 "$RUNG" import-model "$fixtures/state.pt" --config config.json -o m.safetensors
    [[ $output == *"state.pt: has no tensor wte.weight"* ]]
    mkdir empty
    run -3 "$RUNG" import-model empty -o m.safetensors
    [[ $output == *"empty: has neither model.safetensors nor model.safetensors.index.json"* ]]
    [ ! -e m.safetensors ]
}

@test "a pickle that asks for a call is not executed" {
    mkdir -p bad
    printf '\x80\x02}X\x01\x00\x00\x00wcos\nsystem\nX\x0e\x00\x00\x00touch executed\x85Rs.' >bad/data.pkl
    python3 -c "import zipfile; z = zipfile.ZipFile('bad.pt', 'w'); z.write('bad/data.pkl', 'bad/data.pkl')"
    echo '{"model_type": "gpt2"}' >config.json
    run -3 "$RUNG" import-model bad.pt -o m.safetensors
    [[ $output == *"entry 'w' asks to call 'os system', and nothing is called"* ]]
    [ ! -e executed ]
}

@test "an index that names a file elsewhere is refused" {
    mkdir folder
    echo '{"weight_map": {"a": "../secret.safetensors"}}' >folder/model.safetensors.index.json
    echo '{"model_type": "llama"}' >folder/config.json
    run -3 "$RUNG" import-model folder -o m.safetensors
    [[ $output == *"tensor 'a' is in no file of this folder"* ]]
}

@test "the lists of ids name the place of a mistake" {
    python3 "$BATS_TEST_DIRNAME/../foreign/small_gpt2.py" .
    run -0 "$RUNG" import-model . -o m.safetensors
    [[ $output == *"gpt2, 1 layer of width 4, 2 heads, 6 token ids, at most 8 tokens"* ]]
    run -0 "$RUNG" import-model . -o m.safetensors --tokens 2-5 --answers 0,1 --json
    [[ $output == *'"schema": "rung.import-model/1"'*'"vocab": 4'* ]]
    run -2 "$RUNG" import-model . -o n.safetensors --tokens 2-9
    [[ $output == *"--tokens 2-9: at character"*"ids from 0 to 5, each once"* ]]
    run -2 "$RUNG" import-model . -o n.safetensors --tokens 1,1
    run -2 "$RUNG" import-model . -o n.safetensors --max-tokens 9
    [[ $output == *"positions for 8 tokens, not for 9"* ]]
    run -2 "$RUNG" import-model . -o n.safetensors --task eva N=4
    [[ $output == *"--tokens and --answers say"* ]]
    run -2 "$RUNG" import-model . -o n.safetensors N=4
    [ ! -e n.safetensors ]
}

@test "a size that no layer has is named before anything is computed from it" {
    python3 "$BATS_TEST_DIRNAME/../foreign/small_gpt2.py" .
    for key in n_embd n_layer n_head n_positions vocab_size; do
        for size in 4611686018427387904 16777217 0 -1 1.5; do
            sed "s/\"$key\": [0-9]*/\"$key\": $size/" config.json >strange.json
            run -3 "$RUNG" import-model model.safetensors --config strange.json -o m.safetensors
            [[ $output == *"\"$key\" is not a whole number from 1 to 16777216"* ]]
        done
    done
    [ ! -e m.safetensors ]
}

# Models of Hugging Face transformers with random weights, and the logits that they gave (tests/peers/hf_models.py).
logits() { PYTHONPATH=$BATS_TEST_DIRNAME/../../python "$PYTHON" "$BATS_TEST_DIRNAME/../foreign/logits.py" "$@"; }

@test "stored models of transformers give their logits" {
    local folder count=0
    for folder in "$BATS_TEST_DIRNAME"/../fixtures/foreign/*; do
        run -0 "$RUNG" import-model "$folder" -o m.safetensors
        run -0 logits m.safetensors "$folder/expected.npz"
        count=$((count + 1))
    done
    [ "$count" -ge 7 ]
}

@test "an epsilon, a bias and a norm of queries change the logits: the comparison sees them" {
    local models=$BATS_TEST_DIRNAME/../fixtures/foreign
    cp -r "$models/qwen3" epsilon
    sed -i 's/"rms_norm_eps": 1e-06/"rms_norm_eps": 0.001/' epsilon/config.json
    run -0 "$RUNG" import-model epsilon -o m.safetensors
    run -1 logits m.safetensors epsilon/expected.npz
    run -0 "$RUNG" import-model "$models/qwen3" -o qwen3.safetensors
    for name in layers.1.mix.0.q_norm layers.0.mix.0.k_norm; do
        run -0 "$PYTHON" -c 'import sys; sys.path.insert(0, sys.argv[1]); import models
meta, tensors = models.read("qwen3.safetensors")
dtype, shape, values = tensors[sys.argv[2]]
tensors[sys.argv[2]] = (dtype, shape, [1.0] * len(values))
models.write("spoilt.safetensors", meta, tensors)' "$BATS_TEST_DIRNAME/../check" "$name"
        run -1 logits spoilt.safetensors "$models/qwen3/expected.npz"
    done
}

@test "layer_types and windows that contradict each other are refused" {
    cp -r "$BATS_TEST_DIRNAME/../fixtures/foreign/qwen2-slides" slides
    sed -i 's/"use_sliding_window": true/"use_sliding_window": false/' slides/config.json
    run -3 "$RUNG" import-model slides -o m.safetensors
    [[ $output == *"sliding attention without a window"* ]]
    sed -i 's/"sliding_attention"/"chunked_attention"/' slides/config.json
    run -3 "$RUNG" import-model slides -o m.safetensors
    [[ $output == *"others than full and sliding attention"* ]]
}

@test "rescaled rotations need their numbers, and others are refused" {
    local key
    cp -r "$BATS_TEST_DIRNAME/../fixtures/foreign/llama3" rotation
    for key in factor low_freq_factor high_freq_factor original_max_position_embeddings; do
        cp "$BATS_TEST_DIRNAME/../fixtures/foreign/llama3/config.json" rotation/
        sed -i "s/\"$key\": [0-9.]*/\"$key\": 0/" rotation/config.json
        run -3 "$RUNG" import-model rotation -o m.safetensors
        [[ $output == *"\"$key\" of a rotation is not a number above 0"* ]]
    done
    cp "$BATS_TEST_DIRNAME/../fixtures/foreign/llama3/config.json" rotation/
    sed -i 's/"factor": 4.0/"factor": 4.5/' rotation/config.json
    run -0 "$RUNG" import-model rotation -o m.safetensors
    run -1 logits m.safetensors rotation/expected.npz
    sed -i 's/"llama3"/"yarn"/' rotation/config.json
    run -3 "$RUNG" import-model rotation -o m.safetensors
    [[ $output == *'"rope_type" is '"'yarn'"* ]]
}

@test "heads that share keys are imported as such, and exported with a copy for every head" {
    local llama=$BATS_TEST_DIRNAME/../fixtures/foreign/llama
    run -0 "$RUNG" import-model "$llama" -o m.safetensors
    [[ $output == *"4 heads (2 of keys and values)"* ]]
    run -0 "$RUNG" export-model m.safetensors --format hf -o folder
    run -0 "$RUNG" import-model folder --tokens 0-12 --answers 13-25 -o back.safetensors
    [[ $output == *"4 heads,"* ]]
    run -0 logits back.safetensors "$llama/expected.npz"
}
