#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# rung attn: values against numpy, both forms, both evaluators, and every kind of wrong input.
load common

# make NAME=SHAPE ...: writes x.safetensors with reproducible random tensors; DTYPE (F32) and NAN (name) from the
# environment. A name "g" gets negative numbers, "beta" numbers in (0, 1).
make_tensors() {
    python '
import json, os, struct, sys, numpy as np
rng, head, data = np.random.default_rng(7), {}, b""
kinds = {"F32": "<f4", "F64": "<f8", "F16": "<f2"}
dtype = os.environ.get("DTYPE", "F32")
for word in sys.argv[1:]:
    name, shape = word.split("=")
    shape = [int(n) for n in shape.split(",")]
    a = rng.standard_normal(shape) / 2
    if name == "g": a = -abs(a)
    if name == "beta": a = 1 / (1 + np.exp(-a))
    if os.environ.get("NAN") == name: a.flat[1] = np.nan
    raw = a.astype(kinds[dtype]).tobytes()
    head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
open("x.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)' "$@"
}

# compare EXPRESSION: python with x and y as dicts of numpy arrays (float64) of x.safetensors and y.safetensors.
compare() {
    python '
import json, struct, sys, numpy as np
def load(path):
    raw = open(path, "rb").read()
    (n,) = struct.unpack("<Q", raw[:8])
    head = json.loads(raw[8:8 + n]); head.pop("__metadata__", None)
    kinds = {"F32": "<f4", "F64": "<f8", "F16": "<f2"}
    out = {}
    for name, t in head.items():
        a, b = t["data_offsets"]
        if t["dtype"] == "BF16":
            bits = np.frombuffer(raw[8 + n + a:8 + n + b], "<u2").astype("<u4") << 16
            out[name] = bits.view("<f4").astype(float).reshape(t["shape"])
        else:
            out[name] = np.frombuffer(raw[8 + n + a:8 + n + b], kinds[t["dtype"]]).astype(float).reshape(t["shape"])
    return out
x, y = load("x.safetensors"), load("y.safetensors")
exec(sys.argv[1])' "$1"
}

@test "gdelta agrees with the equation, o and state" {
    make_tensors q=70,2,5 k=70,2,5 v=70,2,3 beta=70,2 g=70,2
    rung attn gdelta --in x.safetensors --out y.safetensors --state
    compare '
S = np.zeros((2, 5, 3))
for t in range(70):
    for h in range(2):
        S[h] *= np.exp(x["g"][t, h])
        u = x["beta"][t, h] * (x["v"][t, h] - S[h].T @ x["k"][t, h])
        S[h] += np.outer(x["k"][t, h], u)
        assert abs(y["o"][t, h] - S[h].T @ x["q"][t, h]).max() < 1e-5
assert y["state"].shape == (2, 5, 3) and abs(y["state"] - S).max() < 1e-5'
}

@test "full is the softmax of q.k, and --scale multiplies q" {
    make_tensors q=33,1,4 k=33,1,4 v=33,1,2
    for scale in 1 0.5; do
        rung attn full --in x.safetensors --out y.safetensors --scale "$scale"
        SCALE=$scale compare '
import os
for t in range(33):
    w = np.exp(float(os.environ["SCALE"]) * x["k"][:t + 1, 0] @ x["q"][t, 0])
    assert abs(y["o"][t, 0] - w @ x["v"][:t + 1, 0] / w.sum()).max() < 1e-5'
    done
}

@test "step and scan give the same bytes in an exact format" {
    make_tensors q=40,3,4 k=40,3,4 v=40,3,6 g=40,3,4 beta=40,3
    for numbers in bf16 e4m3 q5.10; do
        rung attn kda --in x.safetensors --out y.safetensors --numbers "$numbers" --dtype F64 --state
        rung attn kda --in x.safetensors --out z.safetensors --numbers "$numbers" --dtype F64 --state --form step
        cmp y.safetensors z.safetensors
    done
}

@test "F64 and F16 inputs are read, BF16 and F16 outputs are written" {
    for dtype in F64 F16; do
        DTYPE=$dtype make_tensors q=9,1,2 k=9,1,2 v=9,1,2
        for out in F32 BF16 F16; do
            rung attn linear phi=relu norm=0 --in x.safetensors --out y.safetensors --dtype "$out"
            compare '
S = np.zeros((2, 2))
for t in range(9):
    S += np.outer(np.maximum(x["k"][t, 0], 0), x["v"][t, 0])
    want = np.maximum(x["q"][t, 0], 0) @ S
    assert abs(y["o"][t, 0] - want).max() < 8e-3 * max(1, abs(want).max())'
        done
    done
}

@test "without a mask every query reads the state after the last token" {
    make_tensors q=12,1,3 k=12,1,3 v=12,1,2
    rung attn linear phi=identity norm=0 --encoder --in x.safetensors --out y.safetensors
    compare 'assert abs(y["o"][:, 0] - x["q"][:, 0] @ (x["k"][:, 0].T @ x["v"][:, 0])).max() < 1e-5'
}

@test "a missing tensor is named with its shape and the equation that needs it" {
    make_tensors q=8,1,2 k=8,1,2 v=8,1,2 beta=8,1
    run -3 --separate-stderr rung attn gdelta --in x.safetensors --out y.safetensors
    [[ $stderr == *"tensor g"*"missing"*"[8,1]"*"S <- e^g S"* ]]
    [ ! -e y.safetensors ]
}

@test "a misshapen tensor is named with what it has and what is needed" {
    make_tensors q=8,1,2 k=8,1,3 v=8,1,2
    run -3 --separate-stderr rung attn full --in x.safetensors --out y.safetensors
    [[ $stderr == *"tensor q"*"[8,1,2]"*"[8,1,3]"* ]]
    make_tensors q=8,1,2 k=8,1,2 v=7,1,2
    run -3 --separate-stderr rung attn full --in x.safetensors --out y.safetensors
    [[ $stderr == *"tensor v"*"[7,1,2]"*"[8,1,2]"* ]]
}

@test "a NaN is named with its tensor and element" {
    NAN=v make_tensors q=8,1,2 k=8,1,2 v=8,1,2
    run -3 --separate-stderr rung attn full --in x.safetensors --out y.safetensors
    [[ $stderr == *"tensor v, element 1 is NaN"* ]]
}

@test "a tensor without use is said, not refused" {
    make_tensors q=8,1,2 k=8,1,2 v=8,1,2 beta=8,1
    run -0 --separate-stderr rung attn full --in x.safetensors --out y.safetensors
    [[ $stderr == *"no input 'beta'"* ]]
}

@test "wrong words: mechanism, parameter, scale, file" {
    make_tensors q=8,1,2 k=8,1,2 v=8,1,2
    run -2 --separate-stderr rung attn gdelt --in x.safetensors --out y.safetensors
    [[ $stderr == *"did you mean 'gdelta'"* ]]
    run -2 --separate-stderr rung attn window V=3 --in x.safetensors --out y.safetensors
    [[ $stderr == *"'W'"* || $stderr == *"W="* || $stderr == *" W"* ]]
    run -2 --separate-stderr rung attn full --in x.safetensors --out y.safetensors --scale abc
    run -3 --separate-stderr rung attn full --in none.safetensors --out y.safetensors
    run -2 --separate-stderr rung attn full --in x.safetensors
}

@test "--json gives the sizes" {
    make_tensors q=8,3,2 k=8,3,2 v=8,3,5
    rung attn full --in x.safetensors --out y.safetensors --json --numbers e4m3 | tee out.json | has_schema rung.attn/1
    python '
import json
o = json.load(open("out.json"))
assert (o["tokens"], o["heads"], o["dk"], o["dv"]) == (8, 3, 2, 5)
assert o["cache_elements"] == 8 * 3 * 7 and o["state_bits"] == 8 * 3 * 7 * 8'
}

@test "gradients of full attention agree with its formula, for a given do and for ones, with a scale" {
    make_tensors q=70,2,5 k=70,2,5 v=70,2,3 do=70,2,3
    for scale in 1 0.5; do
        rung attn full --in x.safetensors --out y.safetensors --grad --scale $scale
        compare '
scale = '$scale'
for h in range(2):
    q, k, v, g = (x[n][:, h] for n in ("q", "k", "v", "do"))
    p = np.exp(scale * q @ k.T) * np.tri(70)
    p /= p.sum(1, keepdims=True)
    dp = g @ v.T
    ds = p * (dp - (p * dp).sum(1, keepdims=True)) * scale
    for name, want in ("dq", ds @ k), ("dk", ds.T @ q), ("dv", p.T @ g), ("o", p @ v):
        assert abs(y[name][:, h] - want).max() < 1e-5, name'
    done
    make_tensors q=9,1,2 k=9,1,2 v=9,1,1
    rung attn full --in x.safetensors --out y.safetensors --grad --json | grep '"gradients": \["q", "k", "v"\]'
    compare '
p = np.exp(x["q"][:, 0] @ x["k"][:, 0].T) * np.tri(9)
assert abs(y["dv"][:, 0, 0] - (p / p.sum(1, keepdims=True)).sum(0)).max() < 1e-5'
}

@test "a gradient has the shape of its input: constants, summaries one per block, a decay named g beside do" {
    make_tensors q=12,2,3 k=12,2,3 v=12,2,4 ck=3,2,3 cv=3,2,4 g=12,2 do=12,2,4
    rung attn sparse B=4 k=1 comp=given lambda=1000 --in x.safetensors --out y.safetensors --grad
    compare '
for n in "q", "k", "v", "ck", "cv": assert y["d" + n].shape == x[n].shape, n
p = np.exp(np.einsum("thd,bhd->thb", x["q"], x["ck"])) * (np.arange(12)[:, None, None] // 4 + (np.arange(12)[:, None, None] % 4 == 3) > np.arange(3))
p = p / np.maximum(p.sum(2, keepdims=True), 1e-30)
assert abs(y["dcv"] - np.einsum("thb,thd->bhd", p, x["do"])).max() < 1e-5
assert (y["dv"] == 0).all()'
    rung attn mamba2 --in x.safetensors --out y.safetensors --grad
    compare 'assert y["dg"].shape == (12, 2) and abs(y["dg"]).max() > 0'
}

@test "gradients that cannot be had are refused with a reason" {
    make_tensors q=4,1,2 k=4,1,2 v=4,1,2 do=4,1,3
    run -3 --separate-stderr rung attn full --in x.safetensors --out y.safetensors --grad
    [[ $stderr == *"tensor do"*"[4,1,2]"* ]]
    run -2 --separate-stderr rung attn full --in x.safetensors --out y.safetensors --grad --numbers bf16
    [[ $stderr == *"fp32"* ]]
    [ ! -e y.safetensors ]
}

@test "what is no number, or infinite, in an output or a gradient is named and not written" {
    python '
import json, struct
def write(path, **tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack("<%df" % len(values), *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
big = 3e38
write("grad.safetensors", q=([2, 1, 1], [1, 1]), k=([2, 1, 1], [1, 2]), v=([2, 1, 1], [big, -big]), do=([2, 1, 1], [big, big]))
write("narrow.safetensors", q=([1, 1, 1], [1]), k=([1, 1, 1], [1]), v=([1, 1, 1], [1e6]))'
    run -3 rung attn full --in grad.safetensors --grad --out o.safetensors
    [[ $output == *"tensor d"*"element"* ]]
    [ ! -e o.safetensors ]
    run -3 rung attn full --in narrow.safetensors --dtype F16 --out o.safetensors
    [[ $output == *"tensor o: element 0 is infinite in the type of the file"* ]]
    [ ! -e o.safetensors ]
}
