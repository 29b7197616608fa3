#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Whole model files beside PyTorch: logits of every token within 1e-5 of the largest in fp32 and 1e-9 in f64, for
every mechanism and for everything that a layer puts around it. Without PyTorch everything is skipped, and the reason
is printed.

    RUNG_LIBRARY=build/librung.so.0 PYTHONPATH=python /usr/bin/python3 tests/parity/test_model.py
"""
import os
import sys
import tempfile
import unittest

try:
    import numpy
    import torch
except ImportError as problem:
    print(f"skipped: {problem}; Debian has python3-torch and python3-numpy, for /usr/bin/python3")
    raise SystemExit(0)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import rung  # noqa: E402
from mechanisms import MECHANISMS  # noqa: E402
from model import Network, layers_of  # noqa: E402

SPEC = {"arch": "full", "vocab": 13, "answers": 7, "max_tokens": 70, "d_model": 24, "d_mlp": 40, "heads": 2, "dk": 6,
        "dv": 5}
T = 66  # one more than the chunks of the scans
FAST, EXACT = 1e-5, 1e-9

EVERYTHING = ("full", "window:W=9", "linear", "linear:phi=taylor2:norm=0", "retnet", "gla", "mamba2", "delta:unit=1",
              "gdelta:unit=1:neg=1", "kda:unit=1", "mamba", "rwkv7", "rnn", "rnn:kind=lstm", "loglinear:base=gdelta:unit=1",
              "loglinear:base=mamba2:levels=8", "sparse:B=8:k=2", "sparse:B=4:k=3:comp=mlp:own=0",
              "sparse:B=4:k=2:shared=1:dv=6", "sparse:B=4:k=2:comp=mlp:shared=1:own=0:dv=6",
              "sparse:B=8:k=1:comp=given:shared=1:dv=6",
              "sparse:B=8:k=1:comp=given:branches=nsa:W=5:gate=1", "dsa:k=9:HI=3:DI=4")


class Models(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "m.safetensors")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def near(self, got, want, tolerance, what):
        error, size = abs(got - want).max(), abs(want).max()
        self.assertTrue(error <= tolerance * size, f"{what}: off by {error:.3g}, largest logit {size:.3g}")

    def with_biases(self, spec, seed):
        """Random weights have no biases and norms of ones: give all of them numbers of their own."""
        rung.write_random(self.path, spec, seed)
        rng, model = numpy.random.default_rng(seed), rung.Model(self.path)
        weights = dict(model.tensors())
        model.close()
        for name, array in list(weights.items()):
            if name.endswith((".weight", ".A", "_norm")) and array.ndim == 1:
                weights[name] = (array + 0.3 * rng.standard_normal(array.shape)).astype("float32")
            owner = name[:-len(".weight")]
            if name.endswith(".weight") and name != "embed.weight" and (array.ndim == 2 or spec.get("norm") == "layer"):
                weights[owner + ".bias"] = (0.3 * rng.standard_normal(array.shape[0])).astype("float32")
        rung.save(self.path, spec, weights)

    def compare(self, seed=0, prompt=None, **changes):
        spec = {**SPEC, **changes}
        self.with_biases(spec, seed)
        rng = numpy.random.default_rng(seed)
        prompt = rng.integers(0, spec["vocab"], T) if prompt is None else prompt
        want = Network(self.path)(torch.from_numpy(prompt)).numpy()
        with rung.Model(self.path) as model:
            for step in (False, True):
                got = model.run(prompt, at=range(len(prompt)), step=step)
                self.near(got, want, FAST, f"{changes} fp32, step={step}")
            self.near(model.run(prompt, numbers="f64", at=range(len(prompt))), want, EXACT, f"{changes} f64")

    def test_every_mechanism(self):
        self.assertEqual({text.partition(":")[0] for text in EVERYTHING}, set(MECHANISMS))
        for seed, arch in enumerate(EVERYTHING):
            self.compare(seed, arch=arch, positions="learned")

    def test_first_five_mechanisms_in_the_models_that_are_published_with_them(self):
        for seed, mech in enumerate(("full", "window:W=16", "linear", "delta:conv=4:unit=1:gate=1",
                                     "gdelta:conv=4:unit=1:gate=1")):
            self.compare(seed, arch=f"{mech},full", norm="rms", mlp="swiglu", positions="rotary")
            self.compare(seed, arch=f"2*{mech}", norm="layer", mlp="gelu", positions="sinusoidal")

    def test_convolutions_and_gates_around_the_others(self):
        for seed, mech in enumerate(("retnet:gate=1", "gla:gate=1", "mamba2:conv=4:gate=1", "kda:conv=3:unit=1:gate=1",
                                     "mamba:conv=4", "rwkv7:gate=1", "rnn:kind=lstm:conv=2")):
            self.compare(seed, arch=mech, norm="rms", mlp="relu")

    def test_norms_of_queries_and_keys_factors_and_epsilons(self):
        for seed, arch in enumerate(("full:qknorm=1", "full:qknorm=1:scale=0.3,window:W=9:unit=1:scale=2.5",
                                     "gdelta:unit=1:scale=0.447:conv=3:gate=1")):
            self.compare(seed, arch=arch, norm="rms", mlp="swiglu", positions="rotary", norm_epsilon=1e-6)
            self.compare(seed, arch=arch, norm="layer", mlp="gelu", positions="learned", norm_epsilon=0.01)

    def test_heads_that_share_keys(self):
        for seed, arch in enumerate(("full:kv=1@4,window:W=9:kv=2@4", "2*full:kv=2:qknorm=1:outgate=1@6", "full:kv=2:conv=3:unit=1@4")):
            self.compare(seed, arch=arch, norm="rms", mlp="swiglu", positions="rotary")
            self.compare(seed, arch=arch, causal=False, norm="layer", mlp="gelu", positions="learned")

    def test_heads_of_several_mechanisms_in_one_layer(self):
        self.compare(3, arch="full@1|gdelta:dk=3:dv=4:unit=1@2|mamba2@1,2*(linear,window:W=3@3|rnn@1)",
                     mlp="none,geglu_tanh,gelu,swiglu,gelu_tanh", norm="rms", positions="learned")

    def test_encoders(self):
        for seed, arch in enumerate(("full,window:W=5", "linear", "2*gdelta:unit=1", "dsa:k=5,kda:unit=1")):
            self.compare(seed, arch=arch, causal=False, norm="rms", mlp="gelu", positions="learned")

    def test_features_instead_of_tokens(self):
        features = numpy.random.default_rng(1).standard_normal((20, 3)).astype("float32")
        self.compare(1, features, arch="full,delta:unit=1", vocab=0, d_in=3, norm="layer", mlp="relu")

    def test_a_table_in_place_of_an_mlp(self):
        """Coordinate 0 holds the token id; the table sends it to its square in coordinate 1."""
        spec = {**SPEC, "d_model": 4, "vocab": 5, "arch": "full,linear", "mlp": "table", "answers": 3, "heads": 1}
        rung.write_random(self.path, {**spec, "mlp": "none"}, 3)
        model = rung.Model(self.path)
        weights = dict(model.tensors())
        model.close()
        weights["embed.weight"] = numpy.outer(numpy.arange(5), [1, 0, 0.25, -0.5]).astype("float32")
        for layer in (0, 1):
            weights[f"layers.{layer}.out.weight"] = weights[f"layers.{layer}.out.weight"] * [[0], [0], [1], [1]]
            weights[f"layers.{layer}.mlp.keys"] = numpy.arange(5, dtype="float32")[::-1, None]
            weights[f"layers.{layer}.mlp.key_coords"] = numpy.array([0], dtype="float32")
            weights[f"layers.{layer}.mlp.values"] = numpy.arange(5, dtype="float32")[::-1, None] ** 2
            weights[f"layers.{layer}.mlp.out_coords"] = numpy.array([1], dtype="float32")
        rung.save(self.path, spec, weights)
        prompt = numpy.random.default_rng(2).integers(0, 5, 40)
        want = Network(self.path)(torch.from_numpy(prompt)).numpy()
        with rung.Model(self.path) as model:
            self.near(model.run(prompt, at=range(40)), want, FAST, "table fp32")

    def test_stored_tables_of_positions_are_the_published_ones(self):
        for kind in ("rotary", "sinusoidal"):
            rung.write_random(self.path, {**SPEC, "positions": kind}, 0)
            weights = Network(self.path).weights
            width = SPEC["dk"] if kind == "rotary" else SPEC["d_model"]
            frequency = 10000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
            angle = torch.arange(SPEC["max_tokens"])[:, None] * frequency
            if kind == "rotary":
                found = weights["rotary.sin"], weights["rotary.cos"]
            else:
                found = weights["positions"][:, 0::2], weights["positions"][:, 1::2]
            for got, want in zip(found, (angle.sin(), angle.cos())):
                self.near(got.numpy(), want.numpy(), 1e-6, kind)

    def test_the_language_of_architectures(self):
        self.assertEqual(layers_of("2*(full, 2*delta:unit=1),linear@1|full@2"),
                         2 * ["full", "delta:unit=1", "delta:unit=1"] + ["linear@1|full@2"])


if __name__ == "__main__":
    unittest.main()
