#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# verify: counts that a second program confirms, the same for any number of threads, and exit codes.
load common

# Random weights are wrong somewhere, and where does not matter.
random_model() { rung build random --arch full --dk 4 --dv 4 --d-model 8 --heads 1 "$@" >/dev/null; }

# A model that always answers 0: zero weights, in a file that Python writes from a random one.
constant_model() {
    random_model "$@" -o random.safetensors
    python '
import json, struct, sys
raw = open("random.safetensors", "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
open("zero.safetensors", "wb").write(raw[:8 + n] + bytes(len(raw) - 8 - n))'
}

@test "verify counts the wrong prompts of a constant answer, every one of them" {
    constant_model --task eva N=3 V=2
    run -1 --separate-stderr rung verify zero.safetensors --exhaustive --json --show 64
    has_schema rung.verify/1 <<<"$output"
    python '
import itertools, json, sys
doc = json.loads(sys.argv[1])
prompts = [(list(f) + [2 + x], f[x]) for f in itertools.product(range(2), repeat=3) for x in range(3)]
assert doc["method"] == "exhaustive" and doc["complete"]
assert doc["candidates"] == doc["prompts"] == doc["targets"] == len(prompts) == 24
wrong = [(i, tokens) for i, (tokens, answer) in enumerate(prompts) if answer != 0]
assert doc["wrong"] == len(wrong) == 12 and doc["error_interval_95"] == [0.5, 0.5]
assert [(w["prompt"], w["tokens"]) for w in doc["first_wrong"]] == wrong
assert all(w["answer"] == 0 and w["target"] == 1 and w["position"] == 3 for w in doc["first_wrong"])
assert doc["first_wrong"][0]["text"] == "v0 v0 v1 x2?"' "$output"
}

@test "verify chooses every prompt while there are few, else a sample, and says so before it starts" {
    constant_model --task parity N=10
    run -1 --separate-stderr rung verify zero.safetensors
    [[ $stderr == "every prompt, among 1024 candidates (chosen:"* ]]
    [[ $output == *"1024 prompts, 1024 answers, 512 prompts wrong: error rate 0.5"* ]]
    constant_model --task parity N=20
    run -1 --separate-stderr rung verify zero.safetensors
    [[ $stderr == "a sample of 1000 prompts (chosen:"* ]]
    [[ $output == *"95% interval ["* ]]
    run -1 --separate-stderr rung verify zero.safetensors --quiet
    [ -z "$stderr" ]
}

@test "verify exits with 0 when nothing is wrong" {
    constant_model --task eva N=4 V=1
    run -0 rung verify zero.safetensors --quiet
    [[ $output == *"4 prompts, 4 answers, all right"* ]]
    run -0 rung verify zero.safetensors --samples 7 --json --quiet
    python 'import json, sys; d = json.loads(sys.argv[1]); assert d["wrong"] == 0 and d["error_interval_95"][0] == 0
assert abs(d["error_interval_95"][1] - (1 - 0.025 ** (1 / 7))) < 1e-12' "$output"
}

@test "verify gives the same bytes for any number of threads, and those of run for a sample" {
    random_model --task two-sum N=3 M=6 -o m.safetensors
    for method in --exhaustive '--samples 400'; do
        for numbers in fp32 bf16; do
            for threads in 1 2 5; do
                run -1 --separate-stderr rung verify m.safetensors $method --numbers $numbers --threads $threads --show 64
                [ "$threads" = 1 ] && first=$output
                [ "$output" = "$first" ]
            done
        done
    done
    run -1 --separate-stderr rung verify m.safetensors --samples 400 --seed 3 --json
    wrong=$(python 'import json, sys; print(json.loads(sys.argv[1])["wrong"])' "$output")
    [ "$(rung run m.safetensors -n 400 --seed 3 --json | python 'import json, sys; d = json.load(sys.stdin); print(d["targets"] - d["right"])')" = "$wrong" ]
}

@test "verify: vector answers are right up to the tolerance" {
    constant_model --task q-sparse-average N=2 q=1 d=1
    run -1 --separate-stderr rung verify zero.safetensors --json --tolerance 0.5
    python '
import json, sys
d = json.loads(sys.argv[1])
z = [0, 1, -1]
want = sum(bool((a, b)[y0] or (a, b)[y1]) for a in z for b in z for y0 in (0, 1) for y1 in (0, 1))
assert d["prompts"] == 36 and d["wrong"] == want and d["max_distance"] == 1' "$output"
    run -0 rung verify zero.safetensors --quiet --tolerance 1
    run -2 rung verify zero.safetensors --tolerance near
    run -2 rung verify zero.safetensors --tolerance -1
}

@test "verify: a model that stops is wrong and the reason is printed" {
    random_model --task eva N=3 V=2 -o random.safetensors
    python '
import struct
raw = open("random.safetensors", "rb").read()
n = 8 + struct.unpack("<Q", raw[:8])[0]
open("huge.safetensors", "wb").write(raw[:n] + struct.pack("<f", 3e38) * ((len(raw) - n) // 4))'
    run -1 --separate-stderr rung verify huge.safetensors --show 1
    [[ $output == *"the model stops:"*"not a number"* ]]
    [[ $output == *"24 prompts wrong"* ]]
}

@test "verify --worst-case prints a verdict, and unknown is no failure" {
    random_model --task mkar T=9 -o m.safetensors
    run -0 --separate-stderr rung verify m.safetensors --worst-case --numbers f32
    [[ $output == *UNKNOWN* ]]
    run -0 --separate-stderr rung verify m.safetensors --worst-case --numbers f32 --json
    python 'import json, sys; d = json.loads(sys.argv[1]); assert d["verdict"] == "UNKNOWN" and d["reason"] and d["witness"] is None' "$output"
    constant_model --task eva N=4 V=2
    run -1 --separate-stderr rung verify zero.safetensors --worst-case --numbers f32
    [[ $output == *CANNOT* && $output == *"witness  v"* ]]
    run -1 --separate-stderr rung verify zero.safetensors --worst-case --numbers f32 --json
    python 'import json, sys; d = json.loads(sys.argv[1]); w = d["witness"]["tokens"]; assert d["verdict"] == "CANNOT" and w[w[-1] - 2] == 1' "$output"
}

@test "verify refuses two methods at once, too many prompts, a task that does not fit" {
    random_model --task parity N=70 -o m.safetensors
    run -2 --separate-stderr rung verify m.safetensors --exhaustive --samples 3
    [[ $stderr == *"choose one of"* ]]
    run -2 --separate-stderr rung verify m.safetensors --exhaustive
    [[ $stderr == *"2^64"* ]]
    run -2 --separate-stderr rung verify m.safetensors --task parity N=71
    [[ $stderr == *"made for: parity N=70"* ]]
    run -2 --separate-stderr rung verify m.safetensors --samples 0
    run -2 --separate-stderr rung verify m.safetensors --softmax reverse
    [[ $stderr == *"exact evaluator"* ]]
    run -2 --separate-stderr rung run m.safetensors --softmax two-pass
    run -0 --separate-stderr rung run m.safetensors --softmax two-pass --numbers bf16 -n 2
}

@test "verify prints what it has when it is interrupted" {
    random_model --task two-sum N=5 M=40 -o m.safetensors
    "$RUNG" verify m.safetensors --exhaustive --json --show 1 >part.json 2>/dev/null &
    pid=$!
    sleep 3
    kill -TERM $pid
    code=0
    wait $pid || code=$?
    [ "$code" = 143 ]
    python 'import json; d = json.load(open("part.json")); assert not d["complete"] and 0 < d["candidates"] < 40 ** 6
assert d["error_interval_95"] == [0, 1]'
}
