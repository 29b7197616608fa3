#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# drift: errors, proofs, curves, files, pictures, and what is refused. tests/drift checks the numbers.
load common

small=(--tokens 300 --dk 8 --dv 8 --pairs 2 --decays 1,0.9)

@test "drift: five mechanisms, measured and proved" {
    for mech in gdelta kda mamba2 delta rwkv7; do
        run -0 --separate-stderr rung drift "$mech" "${small[@]}" --json
        has_schema rung.drift/1 <<<"$output"
        python '
import json, sys
layer, = json.load(sys.stdin)["layers"]
parts = {p["part"]: p for p in layer["parts"]}
assert layer["mechanism"] == sys.argv[1] and layer["tokens"] == [64, 128, 256, 300]
assert {"all", "state", "act", "acc", "state=acc", "stochastic"} <= set(parts), parts.keys()
assert parts["all"]["state_error"][-1] > 10 * parts["acc"]["state_error"][-1] > 0
assert parts["state"]["numbers"].startswith("weights=f64") and "state=bf16" in parts["state"]["numbers"]
proved = layer["proved"]
assert proved["applies"] and proved["why_not"] is None
for i, error in enumerate(parts["all"]["state_error"]):
    if proved["run"][i] is None: assert sys.argv[1] == "rwkv7"
    else: assert error <= proved["run"][i] + proved["f64_from_reals"][i]
if sys.argv[1] != "rwkv7": assert all(r <= t for r, t in zip(proved["run"], proved["theorem"]))
for curve in layer["recall"]["curves"]:
    assert len(curve["kept"]) == len(layer["recall"]["age"]) and max(curve["kept"]) <= layer["recall"]["pairs"] == 2
    if curve["part"] == "f64" and curve["decay"] == 1: assert curve["all_read_up_to"] == layer["recall"]["age"][-1]
assert any(s.startswith("proved: ") for s in layer["verdict"]) and any(s.startswith("measured: ") for s in layer["verdict"])' "$mech" <<<"$output"
    done
}

@test "drift: a narrow state loses pairs, and the verdict says what to do" {
    run -0 --separate-stderr rung drift delta --numbers f32,state=e8m2 --tokens 2048 --dk 16 --dv 16 --pairs 4
    [[ $output == *"measured: state in e8m2, decay 1: all 4 pairs are read up to "* ]]
    [[ $output == *": keep the state in f32"* ]]
    [[ $output == *"proved: in this run the state is off by at most "* ]]
}

@test "drift: layers of an architecture, one by one" {
    run -0 rung drift '3*gdelta:dk=8:dv=8,full,mamba2:dk=4:dv=8' --tokens 100 --pairs 0
    [[ $output == *"note: full carries no state that is rounded at every token; it is left out"* ]]
    [[ $output == *"gdelta, 1 head of dk=8 dv=8"* && $output == *"mamba2, 1 head of dk=4 dv=8"* ]]
    [ "$(grep -c '^proved: ' <<<"$output")" = 2 ]
    run -0 --separate-stderr rung drift rnn --tokens 100 --dk 4 --dv 4
    [[ $output == *"proved: nothing; rnn does not state an affine step"* ]]
    [[ $output == *"measured: after 100 tokens the state is off by 0.00"* && $output != *inf* ]]
    [[ $output == *"No curve of recall: the row does not state keys and values."* ]]
}

@test "drift: tensors of a file, as safetensors and as npz" {
    "$PYTHON" -c 'import numpy' || skip "numpy is absent"
    python '
import numpy as np
r = np.random.default_rng(1)
unit = lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True)
T, H, d = 90, 2, 4
np.savez("x.npz", q=unit(r.normal(size=(T, H, d))), k=unit(r.normal(size=(T, H, d))), v=r.normal(size=(T, H, d)),
         beta=r.uniform(size=(T, H)))
np.savez("short.npz", q=np.zeros((T, H, d)), k=np.zeros((T, H, d)), v=np.zeros((T + 1, H, d)), beta=np.zeros((T, H)))
# The delta rule in numpy, the state in bf16 after every token and all else in f64.
x = np.load("x.npz")
def bf16(a):
    b = a.astype(np.float64).view(np.uint64)
    return ((b + ((b >> 45 & 1) + (1 << 44) - 1)) >> 45 << 45).view(np.float64)
off = size = 0
for h in range(H):
    S = np.zeros((d, d)); N = np.zeros((d, d))
    for t in range(T):
        q, k, v, b = x["q"][t, h], x["k"][t, h], x["v"][t, h], x["beta"][t, h]
        S = S + np.outer(k, b * (v - S.T @ k))
        N = bf16(N + np.outer(k, b * (v - N.T @ k)))
    off += ((N - S) ** 2).sum(); size += (S ** 2).sum()
open("expected", "w").write(repr(float(np.sqrt(off / size))))'
    run -0 --separate-stderr rung drift delta --in x.npz --numbers f64,state=bf16 --json
    python '
import json, sys
layer, = json.load(sys.stdin)["layers"]
assert layer["heads"] == 2 and layer["tokens"] == [64, 90] and layer["inputs"] == "file", layer
found, expected = layer["parts"][0]["state_error"][-1], float(open("expected").read())
assert abs(found - expected) < 1e-9 * expected, (found, expected)
assert "one head" in layer["recall"]["why_none"]' <<<"$output"
    # Without a proof all the same: S <- S + k v^T in numpy.
    python '
import numpy as np
x = np.load("x.npz")
def bf16(a):
    b = a.astype(np.float64).view(np.uint64)
    return ((b + ((b >> 45 & 1) + (1 << 44) - 1)) >> 45 << 45).view(np.float64)
S = np.zeros((2, 4, 4)); N = np.zeros((2, 4, 4))
for k, v in zip(x["k"], x["v"]):
    step = k[:, :, None] * v[:, None, :]
    S = S + step; N = bf16(N + step)
open("expected", "w").write(repr(float(np.sqrt(((N - S) ** 2).sum() / (S ** 2).sum()))))'
    run -0 --separate-stderr rung drift linear:phi=identity:norm=0 --in x.npz --numbers f64,state=bf16 --json
    python '
import json, sys
layer, = json.load(sys.stdin)["layers"]
found, expected = layer["parts"][0]["state_error"][-1], float(open("expected").read())
assert 0 < expected and abs(found - expected) < 1e-9 * expected, (found, expected)
assert not layer["proved"]["applies"] and layer["proved"]["run"][-1] is None' <<<"$output"
    run -3 rung drift delta --in short.npz
    [[ $output == *"tensor v"*"as many tokens as the others"* ]]
    run -3 rung drift gdelta --in x.npz
    [[ $output == *"no tensor g"* ]]
    run -2 rung drift delta --in x.npz --inputs worst
    [[ $output == *"leave --inputs out"* ]]
}

@test "drift: a certificate of a loss, which rung-check accepts" {
    for mech in mamba2 gdelta; do
        run -0 rung drift "$mech" --dk 4 --dv 4 --tokens 64 --pairs 0 --numbers f32,state=e8m7 --cert lost.cert --model lost.safetensors
        [[ $output == *"lost.cert: "*" keeps nothing of token "* ]]
        run -10 "$(dirname "$RUNG")/rung-check" lost.cert lost.safetensors
        grep -qx 'kind state-collision' lost.cert
        grep -q 'state=bf16' lost.cert
        sed -i 's/^state ./state f/' lost.cert
        run "$(dirname "$RUNG")/rung-check" lost.cert lost.safetensors
        [ "$status" != 10 ]
        rm lost.cert lost.safetensors
    done
    run -2 rung drift mamba2 --tokens 64 --cert lost.cert
    [[ $output == *"give --cert FILE and --model FILE"* ]]
    run -2 rung drift rwkv7 --tokens 64 --pairs 0 --cert lost.cert --model lost.safetensors
    [[ $output == *"rung-check cannot run rwkv7"* ]]
}

@test "drift: the layers of a configuration, and of a model on a prompt of its task" {
    echo '{"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_hidden_layers": 4,
        "full_attention_interval": 4, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
        "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
        "linear_conv_kernel_dim": 4}' >config.json
    run -0 rung drift config.json --tokens 100 --pairs 2
    [[ $output == *"gdelta, 1 head of dk=8 dv=16"* ]]
    [[ $output == *"note: full carries no state"* ]]
    rung build random --arch 'gdelta:dk=4:dv=4:unit=1,full,2*mamba2:dk=4:dv=4' --task eva N=16 V=4 -o model.safetensors
    run -0 --separate-stderr rung drift model.safetensors --json
    python '
import json, sys
layers = json.load(sys.stdin)["layers"]
assert [l["layer"] for l in layers] == ["layer 0, group 0", "layer 2, group 0", "layer 3, group 0"], layers
for l in layers:
    assert l["inputs"] == "prompt" and l["recall"]["curves"] == []
    assert 0 < l["parts"][0]["state_error"][-1] <= l["proved"]["run"][-1] + l["proved"]["f64_from_reals"][-1]' <<<"$output"
    run -2 rung drift model.safetensors --inputs worst
    [[ $output == *"leave --inputs out"* ]]
    run -3 rung drift none.safetensors
}

@test "drift: a picture that a program can draw" {
    rung drift gdelta "${small[@]}" --svg drift.svg >text
    python 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' drift.svg
    grep -q 'Pairs that are still read' drift.svg
    run -2 rung drift gdelta,mamba2 "${small[@]}" --svg drift.svg
    [[ $output == *"--svg shows one kind of layer"* ]]
}

@test "drift: what it refuses" {
    run -2 rung drift full
    [[ $output == *"no layer carries a state that is rounded at every token"* ]]
    run -2 rung drift gdelt
    [[ $output == *"gdelta"* ]]
    run -2 rung drift gdelta --decays 1,2
    [[ $output == *"--decays '1,2'"* ]]
    run -2 rung drift gdelta --numbers served:bf17
    [[ $output == *"--numbers"*"served:bf16"* ]]
    run -2 rung drift gdelta --decay 0
    [[ $output == *"decay"* ]]
    run -2 rung drift gdelta --pairs 33
    [[ $output == *"--pairs 1 to 32"* ]]
}
