#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# rung export-model: what is written is read back by rung import-model and computes the same; what has no place is refused by name.
# engines.bats runs the files in the engines themselves.
load common

# there_and_back MODEL FILE OPTIONS: exports, imports with the ids of the model's tokens and answers; leaves back.safetensors.
there_and_back() {
    local answers tokens task
    answers=$("$RUNG" export-model "$1" -o "$2" --json "${@:3}" | python 'import json, sys; print(json.load(sys.stdin)["answers"])')
    { read -r tokens; read -r task; } < <(python '
import json, struct, sys
data = open(sys.argv[1], "rb").read()
header = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])["__metadata__"]
print("0-%d" % (json.loads(header["rung.config"])["vocab"] - 1))
print(header["rung.task"])' "$1")
    # shellcheck disable=SC2086 # a task and its parameters
    "$RUNG" import-model "$2" -o back.safetensors --tokens "$tokens" --answers "$answers" --task $task
}

# all_right CONSTRUCTION: every prompt of the exported model.
all_right() {
    rung build "$@" -o m.safetensors
    there_and_back m.safetensors m.gguf
    run -0 "$RUNG" verify back.safetensors
    [[ $output == *"every prompt"*"all right"* ]]
}

@test "an exported construction answers every prompt right" {
    all_right lookup N=4 V=4
    all_right lookup N=4 V=4 keys=trig values=scalar
    all_right lookup task=eva form=pair N=2 K=3 V=3
    all_right percom N=3
    all_right seqcomp L=2 N0=2 n=2
    all_right seqcomp L=2 N0=2 n=2 keys=trig
    [[ $("$RUNG" export-model m.safetensors -o t.gguf) == *"gpt2, 4 layers"*"1 layer computes the second half of a table"* ]]
    all_right c-gram c=2 N=4 V=2
    all_right string-equality N=3
}

@test "without its constant channels an exported construction is wrong" {
    rung build lookup N=4 V=4 -o m.safetensors
    there_and_back m.safetensors m.gguf
    "$PYTHON" "$BATS_TEST_DIRNAME/../peers/spoil.py" back.safetensors embed.weight spoilt.safetensors
    run -1 "$RUNG" verify spoilt.safetensors
}

# bats test_tags=plain
@test "models with norms, MLPs and rotations compute the same logits" {
    without_sanitizers "Python loads the plain library"
    for options in \
        "--mlp swiglu --norm rms --positions rotary" "--mlp relu --norm rms --positions learned" \
        "--mlp relu --norm layer --positions sinusoidal" "--mlp relu --norm none --positions learned" \
        "--mlp relu --norm rms --positions none" "--mlp none --norm none --positions none"; do
        # shellcheck disable=SC2086 # several words
        rung build random --arch '2*full' --heads 2 --dk 4 --dv 4 $options --task eva N=4 V=4 --seed 3 -o m.safetensors
        there_and_back m.safetensors m.gguf
        RUNG_LIBRARY=$(dirname "$RUNG")/librung.so.0 PYTHONPATH=$BATS_TEST_DIRNAME/../../python python '
import numpy, rung
prompt = numpy.array([3, 1, 0, 2, 7], dtype="uint32")
ours, back = (numpy.array(rung.Model(name + ".safetensors").run(prompt, at=range(5))) for name in ("m", "back"))
assert ours.shape == (5, 4) and abs(ours).max() > 0.1
assert abs(ours - back).max() < 2e-6 * abs(ours).max(), abs(ours - back).max()' || return 1
    done
}

@test "folders of Hugging Face are read back: every prompt right, the same bytes every time" {
    for construction in "lookup N=4 V=4" "lookup task=eva form=pair N=2 K=3 V=3" "seqcomp L=2 N0=2 n=2 keys=trig"; do
        # shellcheck disable=SC2086 # several words
        rung build $construction -o m.safetensors
        there_and_back m.safetensors folder --format hf
        run -0 "$RUNG" verify back.safetensors
        [[ $output == *"every prompt"*"all right"* ]]
    done
    "$RUNG" export-model m.safetensors --format hf -o again
    diff -r folder again
    grep -q '"gelu_new"' folder/config.json
    python '
import json
words = json.load(open("folder/tokenizer.json"))["model"]["vocab"]
assert words["z2:3"] == 5 and words["w:1"] == 9 and sorted(words.values()) == list(range(15)), words'
    cp m.safetensors again/model.safetensors
    run -2 "$RUNG" export-model again/model.safetensors --format hf -o again
    cmp m.safetensors again/model.safetensors
}

# bats test_tags=plain
@test "folders of Hugging Face have the same logits when they are read back" {
    without_sanitizers "Python loads the plain library"
    export RUNG_LIBRARY PYTHONPATH=$BATS_TEST_DIRNAME/../../python
    RUNG_LIBRARY=$(dirname "$RUNG")/librung.so.0
    for options in "--mlp swiglu --norm rms --positions rotary" "--mlp gelu --norm layer" "--mlp gelu_tanh --norm layer" \
        "--mlp relu --norm rms" "--mlp relu --norm none" "--mlp none --norm none --positions none"; do
        # shellcheck disable=SC2086 # several words
        rung build random --arch '2*full' --heads 2 --dk 4 --dv 4 --d-model 8 $options --task eva N=4 V=4 --seed 3 -o m.safetensors
        there_and_back m.safetensors folder --format hf
        python '
import numpy, rung
prompt = numpy.array([3, 1, 0, 2, 7], dtype="uint32")
ours, back = (numpy.array(rung.Model(name + ".safetensors").run(prompt, at=range(5))) for name in ("m", "back"))
assert abs(ours).max() > 0.1 and abs(ours - back).max() < 2e-6 * abs(ours).max(), abs(ours - back).max()'
    done
}

# bats test_tags=plain
@test "a model with another epsilon goes out and comes back in every format" {
    without_sanitizers "Python loads the plain library"
    export RUNG_LIBRARY PYTHONPATH=$BATS_TEST_DIRNAME/../../python
    RUNG_LIBRARY=$(dirname "$RUNG")/librung.so.0
    local given=$BATS_TEST_DIRNAME/../fixtures/foreign/llama answers last
    grep -q '"rms_norm_eps": 1e-06' "$given/config.json"
    rung import-model "$given" -o m.safetensors
    for format in gguf hf; do
        answers=$("$RUNG" export-model m.safetensors --format "$format" -o "out.$format" --json | jq -r .answers)
        last=$(($(jq .vocab_size "$given/config.json") - 1))
        rung import-model "out.$format" -o back.safetensors --tokens "0-$last" --answers "$answers"
        python '
import numpy, rung
prompt = numpy.array([3, 1, 0, 2, 7], dtype="uint32")
ours, back = (numpy.array(rung.Model(name + ".safetensors").run(prompt, at=range(5))) for name in ("m", "back"))
assert abs(ours).max() > 0.01 and abs(ours - back).max() < 1e-6 * abs(ours).max(), abs(ours - back).max()'
    done
    rung export-model m.safetensors --format onnx -o m.onnx
    "$PYTHON" "$BATS_TEST_DIRNAME/../peers/onnx_runtime.py" same numpy m.onnx m.safetensors 5e-6 3,1,0,2,7
}

# bats test_tags=plain
@test "ONNX graphs of all layer forms compute the same logits, in numpy" {
    without_sanitizers "Python loads the plain library"
    local peers=$BATS_TEST_DIRNAME/../peers
    export RUNG_LIBRARY PYTHONPATH=$BATS_TEST_DIRNAME/../../python
    RUNG_LIBRARY=$(dirname "$RUNG")/librung.so.0
    while read -r options; do
        # shellcheck disable=SC2086 # several words
        rung build random $options --task eva N=4 V=4 --seed 5 -o m.safetensors
        rung export-model m.safetensors --format onnx -o m.onnx
        "$PYTHON" "$peers/onnx_runtime.py" same numpy m.onnx m.safetensors 5e-6 3,1,0,2,7
    done <"$peers/layers.txt"
    "$PYTHON" "$peers/spoil.py" m.safetensors layers.1.mix.0.beta.weight spoilt.safetensors
    run ! "$PYTHON" "$peers/onnx_runtime.py" same numpy m.onnx spoilt.safetensors 5e-6 3,1,0,2,7
}

@test "ONNX graphs of constructions answer every prompt right, in numpy" {
    local peers=$BATS_TEST_DIRNAME/../peers
    onnx_all_right() { # FORM SIZES -- CONSTRUCTION
        local form=()
        while [ "$1" != -- ]; do form+=("$1"); shift; done
        shift
        rung build "$@" -o m.safetensors
        rung export-model m.safetensors --format onnx -o m.onnx
        "$PYTHON" "$peers/onnx_runtime.py" every numpy m.onnx "${form[@]}"
    }
    onnx_all_right eva 4 4 -- lookup N=4 V=4
    onnx_all_right eva-pair 2 3 3 -- lookup task=eva form=pair N=2 K=3 V=3
    onnx_all_right composition 2 2 -- seqcomp L=2 N0=2 n=2 keys=trig
    onnx_all_right composition 2 2 -- seqcomp L=2 N0=2 n=2 keys=trig linear=first
    "$PYTHON" "$peers/spoil.py" m.safetensors layers.1.mix.0.k.weight spoilt.safetensors
    rung export-model spoilt.safetensors --format onnx -o spoilt.onnx
    run ! "$PYTHON" "$peers/onnx_runtime.py" every numpy spoilt.onnx composition 2 2
}

@test "ONNX: the same bytes every time, and what has no node is refused by name" {
    rung build random --arch full,linear --task eva N=4 -o m.safetensors
    run -0 "$RUNG" export-model m.safetensors --format onnx -o m.onnx
    [[ $output == *"m.onnx: onnx, 2 layers of width "*"com.microsoft.LinearAttention"*"ids of the answers: 0-3"* ]]
    "$RUNG" export-model m.safetensors --format onnx -o again.onnx
    cmp m.onnx again.onnx
    refused() { # MESSAGE OPTIONS...
        "$RUNG" build random --task eva N=4 "${@:2}" -o m.safetensors
        run -3 "$RUNG" export-model m.safetensors --format onnx -o none.onnx
        [[ $output == *"m.safetensors: $1 has no place in ONNX"* && ! -e none.onnx ]] || { echo "$output" && return 1; }
    }
    refused "layer 0: mechanism rwkv7" --arch rwkv7
    refused "layer 1: mechanism loglinear" --arch full,loglinear
    refused "layer 0: mechanism linear:phi=taylor2" --arch linear:phi=taylor2
    refused "layer 0: mechanism gla of an encoder (causal=false)" --arch gla --encoder
}

@test "what has no place is refused by name, and nothing is written" {
    refused() { # MESSAGE OPTIONS...
        local message=$1 task=(--task eva "N=4")
        shift
        [[ " $* " == *" --task "* ]] && task=()
        "$RUNG" build random "$@" "${task[@]}" -o m.safetensors
        run -3 "$RUNG" export-model m.safetensors -o m.gguf
        [[ $output == *"m.safetensors: "*"$message"* ]] || { echo "$output" && return 1; }
        [ ! -e m.gguf ]
    }
    refused "layer 1: mechanism linear has no place in gpt2" --arch full,linear
    refused "layer 0: mechanism window" --arch window:W=4
    refused "layer 0: conv has no place" --arch full:conv=4
    refused "layer 0: gate has no place" --arch full:gate=1
    refused "layer 0: unit has no place" --arch full:unit=1
    refused "encoder" --arch full --encoder
    refused "an MLP of swiglu has no place in gpt2" --arch full --mlp swiglu
    refused "an MLP of gelu has no place in gpt2 of GGUF" --arch full --mlp gelu
    refused "heads of dimension 16 have no place in gpt2 of width 32" --arch full --heads 4 --norm layer
    refused "features instead of tokens" --arch full --task nearest-neighbour
    refused "values that are longer than rotated keys" --arch full --positions rotary --norm rms --dk 4 --dv 8
    "$RUNG" build random --arch full --positions rotary --norm layer --task eva N=4 -o m.safetensors
    run -3 "$RUNG" export-model m.safetensors -o m.gguf
    [[ $output == *"norm=layer has no place in llama"* ]]
    run -3 "$RUNG" export-model m.safetensors --family gpt2 -o m.gguf
    [[ $output == *"positions=rotary has no place in gpt2"* ]]
    run -2 "$RUNG" export-model m.safetensors
    [[ $output == *"-o FILE"* ]]
    run -2 "$RUNG" export-model m.safetensors -o m.safetensors
    [ ! -e m.gguf ]
}

@test "the file names its vocabulary, its task and what made it" {
    rung build lookup N=4 V=4 -o m.safetensors
    run -0 "$RUNG" export-model m.safetensors -o m.gguf
    [[ $output == *"m.gguf: gpt2, 1 layer of width 32"*"ids of the answers: 0-3"* ]]
    for text in "eva N=4 V=4" "rung build lookup" " v3" " x3?" "rwkv"; do grep -qaF "$text" m.gguf; done
    "$RUNG" export-model m.safetensors -o again.gguf
    cmp m.gguf again.gguf
    run -0 "$RUNG" card m.gguf
}
