# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# The checker's forward pass against rung's, bit for bit: random models of every mechanism with every option, in many formats.
# The read-out is made the identity, so the residual stream after the last layer is compared, number by number; the number of
# carried numbers too. Where rung stops at a NaN, the checker must reject. RUNG_CHECK_ROUNDS=n: n rounds (2), each with
# its own model for every mechanism.
import math
import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import models
import rung

FORMATS = ["f32", "bf16", "f16", "e8m3", "e4m3", "e5m2", "e3m4", "e11m25", "e8m25", "e6m12", "e11m2", "q3.4", "q4.12", "q0.7", "q8.8", "q10.30",
           "q6.46", "q15.0"]
MECHANISMS = ["full", "window:W=3", "full:kv=1", "window:W=2:kv=1", "window:W=1", "window:W=100", "linear", "linear:phi=relu", "linear:phi=identity:norm=0",
              "linear:phi=taylor2:norm=0", "linear:phi=taylor2", "retnet", "gla", "mamba2", "delta", "gdelta", "kda", "loglinear",
              "loglinear:base=mamba2", "loglinear:base=gdelta:levels=3", "loglinear:levels=1", "sparse:B=2:k=1", "sparse:B=3:k=2:own=0",
              "sparse:B=4:branches=nsa:W=5", "sparse:B=1:k=3:lambda=250", "sparse:B=2:branches=nsa:k=1:own=0", "sparse:B=3:lambda=1000"]
MLPS = ["none", "relu", "gelu", "gelu_tanh", "swiglu", "geglu_tanh"]
PLAIN = [name for name in MECHANISMS if not name.startswith(("loglinear", "sparse"))]
MIXED = ["weights=bf16,act=bf16,acc=f32,state=bf16,cache=bf16,gate=f32,beta=bf16",
         "weights=bf16,act=bf16,acc=f32,state=f32,cache=e4m3fn,gate=f32,beta=bf16",
         "weights=int8/row,act=bf16,acc=f32,state=int8/row,cache=int8/row,gate=f32,beta=bf16",
         "weights=int4/4*f16,act=f32,acc=f32,state=int4/3*bf16,cache=int4/2,gate=bf16,beta=e4m3",
         "weights=mxfp8,act=bf16,acc=f32,state=mxfp4,cache=mxfp8,gate=f32,beta=f32",
         "weights=f32,act=f32,acc=f32,state=e4m3fn/2*bf16,cache=e2m1fn/3,gate=f32,beta=f32",
         "weights=f32,act=f32,acc=f32,state=int8/3*e8m0,cache=int4/row*e8m0,gate=f32,beta=f32",
         "weights=f32,act=f32,acc=f32,state=bf16,cache=f32,gate=f32,beta=f32,round=stochastic,seed=7",
         "weights=f32,act=f16,acc=f32,state=int4/3,cache=bf16,gate=bf16,beta=e4m3,round=stochastic,seed=0",
         "weights=e5m4,act=bf16,acc=e8m12,state=q3.4,cache=q7.4,gate=e6m5,beta=q1.7",
         "weights=q5.17,act=q15.12,acc=q20.20,state=q9.3,cache=q9.9,gate=q12.20,beta=q0.9",
         "weights=q5.17,act=q15.12,acc=q20.20,state=q9.3,cache=q9.9,gate=q12.20,beta=q0.9,round=stochastic,seed=9007199254740991",
         "weights=e5m2,act=e8m3,acc=e11m25,state=e4m3,cache=e5m2,gate=e8m20,beta=e3m2",
         "weights=f32,act=f32,acc=e11m25,state=e4m3fn,cache=mxfp4,gate=f32,beta=f32",
         "weights=bf16,act=bf16,acc=f32,state=bf16,cache=bf16,gate=f32,beta=bf16,chunk=4",
         "weights=f32,act=bf16,acc=f32,state=int8/row,cache=int8/row,gate=f32,beta=bf16,chunk=2",
         "weights=e5m4,act=e5m4,acc=e8m12,state=e4m3,cache=e5m6,gate=e5m6,beta=e4m3,chunk=3,round=stochastic,seed=5"]
KEYS = ["", "", ":conv=1", ":conv=2", ":conv=4", ":gate=1", ":unit=1", ":conv=3:gate=1:unit=1", ":qknorm=1", ":outgate=1", ":unit=1:scale=0.2",
        ":qknorm=1:conv=2:scale=3.5"]


def random_arch(rng, first, others=MECHANISMS):
    layers = []
    for i in range(rng.randint(1, 3)):
        groups = []
        for g in range(rng.choice([1, 1, 1, 2, 3])):
            name = first if i == 0 and g == 0 else rng.choice(others)
            groups.append(name + rng.choice(KEYS))
        if len(groups) == 1:
            layers.append(groups[0] + rng.choice(["", "@2"]))
        else:
            layers.append("|".join(g + "@%d" % rng.randint(1, 2) for g in groups))
    return ",".join(layers)


def same(a, b):
    """Equal numbers; the identity read-out turns -0 into +0."""
    return len(a) == len(b) and all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(a, b))


def compare(path, numbers, prompts, what):
    """The number of prompts that agree, that both refuse, and that the checker alone refuses."""
    model = rung.Model(path)
    agreed = refused = strict = 0
    for prompt, ours in zip(prompts, models.dump(path, numbers, prompts)):
        try:
            theirs = list(model.run(prompt, numbers=numbers, step=True)[0])
            bits = model.state_bits
        except rung.Error as problem:
            assert "rejected" in ours, f"{what} {numbers} {prompt}: rung stops: {problem}; the checker does not"
            refused += 1
            continue
        if ours.get("rejected", "").startswith(("not a number: an input", "not a number: state")):
            strict += 1  # a NaN that nothing has read so far; a certificate must not carry it, rung may
            continue
        assert "rejected" not in ours, f"{what} {numbers} {prompt}: {ours['rejected']}; rung goes on"
        assert same(ours["readout"], theirs), f"{what} {numbers} {prompt}:\n{ours['readout']}\n{theirs}"
        if "=" in numbers:
            assert int(ours["bits"]) == bits, f"{what} {numbers}: carries {ours['bits']} bits, rung says {bits} bits"
            agreed += 1
            continue
        p = width_of(numbers)
        assert int(ours["numbers"]) * p == bits, f"{what} {numbers}: carries {ours['numbers']} numbers of {p} bits, rung says {bits} bits"
        agreed += 1
    model.close()
    return agreed, refused, strict


def width_of(numbers):
    known = {"f32": 32, "bf16": 16, "f16": 16}
    if numbers in known:
        return known[numbers]
    a, b = numbers[1:].replace("m", ".").split(".")
    return 1 + int(a) + int(b)


def random_model(path, rng, first, others=MECHANISMS):
    arch = random_arch(rng, first, others)
    layers = arch.count(",") + 1
    mlp = rng.choice(MLPS + [",".join(rng.choice(MLPS) for _ in range(layers))])
    options = ["--d-model", str(rng.randint(1, 7)), "--dk", str(rng.choice([2, 4])), "--dv", str(rng.randint(1, 4)), "--d-mlp", "5", "--heads",
               str(rng.randint(1, 2)), "--mlp", mlp, "--positions", rng.choice(["none", "learned", "sinusoidal", "rotary"]), "--norm",
               rng.choice(["none", "rms", "layer"]), "--max-tokens", "20", "--seed", str(rng.randint(0, 10**6))]
    models.build_random(path, arch, "eva N=4 V=3", *options)
    metadata, tensors = models.change(*models.read(path), rng, scale=rng.choice([0.3, 0.8, 3.0]))
    models.write(path, metadata, tensors)
    return arch + " " + " ".join(options)


def table_models(path, rng):
    """Constructions, which have tables, with their own read-out."""
    for words in (["lookup", "N=8", "keys=trig"], ["seqcomp", "L=2", "N0=2", "n=2", "linear=first"]):
        models.subprocess.run([models.rung_command, "build", *words, "-o", str(path), "--quiet"], check=True, stdout=models.subprocess.DEVNULL)
        task = rung.Task.parse(models.read(path)[0]["rung.task"])
        batch = task.batch(4)
        prompts = [[int(x) for x in row] for row in batch.tokens]
        for numbers in ["f32", "bf16", "e8m3", "e3m1", "q8.20"]:
            yield compare(path, numbers, prompts, " ".join(words))


def main():
    rounds = int(os.environ.get("RUNG_CHECK_ROUNDS", "2"))
    total = [0, 0, 0]
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "m.safetensors"
        for round_ in range(rounds):
            rng = random.Random(round_)
            for first in MECHANISMS:
                what = random_model(path, rng, first)
                prompts = [[rng.randrange(7) for _ in range(n)] for n in (1, 2, rng.randint(3, 9), rng.randint(10, 20))]
                for numbers in rng.sample(FORMATS, 5):
                    total = [x + y for x, y in zip(total, compare(path, numbers, prompts, what))]
        mixed = [0, 0, 0]
        for round_ in range(rounds):
            rng = random.Random(1000 + round_)
            for first in PLAIN:
                what = random_model(path, rng, first, PLAIN)
                prompts = [[rng.randrange(7) for _ in range(n)] for n in (1, 2, rng.randint(3, 9), rng.randint(10, 20))]
                for numbers in rng.sample(MIXED, 6):
                    mixed = [x + y for x, y in zip(mixed, compare(path, numbers, prompts, what))]
        assert mixed[0] > 100 * rounds and mixed[1] < mixed[0], mixed
        print(f"mixed formats: {mixed[0]} prompts agree bit for bit, {mixed[1]} are refused by both, {mixed[2]} by the checker alone")
        for counts in table_models(path, random.Random(0)):
            total = [x + y for x, y in zip(total, counts)]
    agreed, refused, strict = total
    assert agreed > 200 * rounds and 0 < refused < agreed and strict * 20 < agreed
    print(f"{rounds} rounds of {len(MECHANISMS)} models: {agreed} prompts agree bit for bit, {refused} are refused by both, {strict} by the checker alone")


main()
