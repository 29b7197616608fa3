#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""`rung attn` beside PyTorch, for every mechanism: the fast evaluator in fp32 within 1e-5 of the largest value, in both
forms, and the exact evaluator in f64. Without PyTorch everything is skipped, and the reason is printed.

    RUNG=build/rung /usr/bin/python3 tests/parity/test_parity.py
"""
import json
import os
import subprocess
import tempfile
import unittest

try:
    import numpy
    import torch
except ImportError as problem:
    print(f"skipped: {problem}; Debian has python3-torch and python3-numpy, for /usr/bin/python3")
    raise SystemExit(0)

import layouts
import tensors
from mechanisms import MECHANISMS

HERE = os.path.dirname(os.path.abspath(__file__))
RUNG = os.environ.get("RUNG", os.path.join(HERE, "..", "..", "build", "rung"))

LENGTHS = (1, 2, 63, 64, 65, 200)
SHAPES = ((1, 1, 1), (3, 1, 5), (1, 16, 16), (3, 8, 3), (3, 5, 1), (1, 17, 33), (1, 128, 8), (1, 4, 128))  # H, dk, dv
LONG = (1000, (1, 4, 3))
CAUSAL_ONLY = ("loglinear", "sparse")
FAST, EXACT = 1e-5, 1e-11  # of the largest value

CASES = [
    ("full", ""), ("window", "W=1"), ("window", "W=7"), ("window", "W=64"), ("linear", ""),
    ("linear", "phi=relu norm=1"), ("linear", "phi=identity norm=0"), ("linear", "phi=taylor2 norm=1"),
    ("retnet", ""), ("gla", ""), ("mamba2", ""), ("delta", ""), ("gdelta", ""), ("kda", ""), ("mamba", ""),
    ("rwkv7", ""), ("rnn", "kind=tanh"), ("rnn", "kind=lstm"), ("loglinear", "base=linear"),
    ("loglinear", "base=mamba2"), ("loglinear", "base=gdelta levels=9"), ("sparse", ""),
    ("sparse", "B=8 k=3 own=0 lambda=250"), ("sparse", "B=16 k=2 comp=given branches=nsa W=20"),
    ("sparse", "B=5 k=2 comp=mlp branches=nsa W=7"), ("dsa", "k=7 HI=2 DI=3"), ("dsa", "k=40 HI=4 DI=16"),
]


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def unit(x):
    return x / numpy.sqrt((x * x).sum(-1, keepdims=True) + 1e-12)


def draw_parameter(name, shape, rng):
    noise = rng.standard_normal(shape)
    if name == "A":
        return -numpy.exp(noise)
    if name in ("D", "pk", "pv"):
        return noise
    return 0.9 * noise / numpy.sqrt(shape[-1])


def draw(inp, shape, drawn, mech, params, rng):
    """Numbers as a layer would make them: keys of length 1 keep the delta rules stable, decays are mild and strong."""
    noise = rng.standard_normal(shape)
    if inp.source == "linear" and inp.name in ("q", "k", "r", "B", "C", "iq", "ik", "ck"):
        if params.get("phi") in ("identity", "relu"):
            noise = abs(noise) + 0.1  # keeps the normaliser away from zero
        return unit(noise) * (2 if mech in ("full", "window", "sparse", "dsa") else 1)
    if inp.source == "gate":
        return sigmoid(2 * noise)
    if inp.source in ("decay", "log gate", "rate"):
        return -numpy.log1p(numpy.exp(3 * noise - 3))
    if inp.source == "keep":
        return numpy.exp(-numpy.exp(-0.5) * sigmoid(noise))
    if inp.source == "removal":
        return -unit(noise)
    if inp.source == "replacement":
        return -drawn["a"] * sigmoid(noise)
    if inp.source == "softplus":
        return numpy.log1p(numpy.exp(noise))
    return noise


def make_inputs(mech, params, T, shape, seed):
    rng, drawn = numpy.random.default_rng(seed), {}
    for inp in layouts.inputs_of(mech, params):
        size = layouts.shape_of(inp, *shape, params)
        if inp.source == "parameter":
            array = draw_parameter(inp.name, size, rng)
        else:
            array = draw(inp, (T,) + size, drawn, mech, params, rng)
        drawn[inp.name] = array.astype("float32")
    return drawn


def run_ours(mech, words, arrays, folder, *options):
    source, target = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    tensors.write(source, arrays)
    done = subprocess.run([RUNG, "attn", mech, *words, "--in", source, "--out", target, "-q", *options],
                          capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"rung attn {mech} {' '.join(words)}: {done.stderr}")
    return tensors.read(target)[0]["o"]


def run_theirs(mech, params, arrays, causal):
    with torch.no_grad():
        return MECHANISMS[mech]({name: torch.from_numpy(x).double() for name, x in arrays.items()}, params,
                                causal).numpy()


class InFolder(unittest.TestCase):
    """A folder for the files of all tests."""
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


class Parity(InFolder):
    def near(self, got, want, tolerance, what):
        self.assertEqual(got.shape, want.shape, what)
        error, size = abs(got - want).max(), abs(want).max()
        self.assertTrue(error <= tolerance * size + 1e-30, f"{what}: off by {error:.3g}, largest value {size:.3g}")

    def compare(self, mech, text, T, shape, causal):
        words = text.split()
        params = dict(word.split("=") for word in words)
        arrays = make_inputs(mech, params, T, shape, 1000 * T + len(text))
        want = run_theirs(mech, params, arrays, causal)
        mask = () if causal else ("--encoder",)
        what = f"{mech} {text} T={T} H,dk,dv={shape} causal={causal}"
        for form in ("scan", "step"):
            got = run_ours(mech, words, arrays, self.folder.name, "--form", form, *mask)
            self.near(got, want, FAST, f"{what} fp32 {form}")
        if T * shape[0] * shape[1] * shape[2] < 5000:
            got = run_ours(mech, words, arrays, self.folder.name, "--numbers", "f64", "--dtype", "F64", *mask)
            self.near(got, want, EXACT, f"{what} f64")

    def test_every_mechanism_has_a_module_and_a_case(self):
        listed = json.loads(subprocess.run([RUNG, "list", "mechanisms", "--json"], check=True, capture_output=True,
                                           text=True).stdout)["mechanisms"]
        self.assertEqual({row["name"] for row in listed}, set(MECHANISMS))
        self.assertEqual({name for name, _ in CASES}, set(MECHANISMS))
        for row in listed:
            names = {inp["name"] for inp in row["inputs"]}
            used = {inp.name for name, text in CASES if name == row["name"]
                    for inp in layouts.inputs_of(name, dict(word.split("=") for word in text.split()))}
            self.assertEqual(used, names, row["name"])

    def test_queries_are_scaled_by_what_the_option_says(self):
        arrays = make_inputs("full", {}, 20, (2, 16, 4), 7)
        got = run_ours("full", [], arrays, self.folder.name, "--scale", "0.25")
        arrays["q"] = arrays["q"] / 4
        self.near(got, run_theirs("full", {}, arrays, True), FAST, "full --scale 0.25")


def add_case(index, mech, text):
    """One test per case: all shapes at one length, two of them at the others, and one long prompt."""
    def run(self):
        for i, T in enumerate(LENGTHS):
            some = {SHAPES[(index + 3 * i) % len(SHAPES)], SHAPES[(5 * index + i) % len(SHAPES)]}
            for shape in SHAPES if T == 65 else some:
                for causal in (True, False) if mech not in CAUSAL_ONLY else (True,):
                    if params_fit(text, shape):
                        self.compare(mech, text, T, shape, causal)
        self.compare(mech, text, *LONG, True)

    setattr(Parity, f"test_{mech}_{text.replace(' ', '_').replace('=', '')}", run)


def params_fit(text, shape):
    return "taylor2" not in text or shape[1] < 128  # 16513 features


for number, (name, words_) in enumerate(CASES):
    add_case(number, name, words_)

if __name__ == "__main__":
    unittest.main()
