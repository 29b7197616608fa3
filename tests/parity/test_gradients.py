#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""`rung attn --grad` beside PyTorch's autograd on the modules of mechanisms.py: the gradients of all inputs for a given
gradient of the outputs. Ours are fp32, theirs double; they differ by no more than 1e-4 of the largest value of a gradient.

    RUNG=build/rung /usr/bin/python3 tests/parity/test_gradients.py
"""
import os
import subprocess
import unittest

try:
    import numpy
    import torch
except ImportError as problem:
    print(f"skipped: {problem}; Debian has python3-torch and python3-numpy, for /usr/bin/python3")
    raise SystemExit(0)

import tensors
from mechanisms import LOSSES, MECHANISMS
from test_parity import CASES, CAUSAL_ONLY, InFolder, RUNG, make_inputs

LENGTHS = (1, 2, 17, 64, 65, 150)
SHAPES = ((1, 1, 1), (3, 1, 5), (1, 8, 8), (3, 4, 3), (2, 5, 1), (1, 9, 17))  # H, dk, dv
TOLERANCE = 1e-4
UPSTREAM = "do"  # the gradient of o, by the rule that names all others


def run_ours(mech, words, arrays, upstream, folder, *options):
    source, target = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    tensors.write(source, {**arrays, UPSTREAM: upstream})
    done = subprocess.run([RUNG, "attn", mech, *words, "--in", source, "--out", target, "-q", "--grad", *options],
                          capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"rung attn {mech} {' '.join(words)} --grad: {done.stderr}")
    return {name[1:]: array for name, array in tensors.read(target)[0].items() if name.startswith("d")}


def run_theirs(mech, params, arrays, upstream, causal):
    inputs = {name: torch.from_numpy(x).double().requires_grad_() for name, x in arrays.items()}
    loss = (MECHANISMS[mech](inputs, params, causal) * torch.from_numpy(upstream).double()).sum()
    if mech in LOSSES:
        loss = loss + LOSSES[mech](inputs, params, causal)
    loss.backward()
    return {name: numpy.zeros(x.shape) if x.grad is None else x.grad.numpy() for name, x in inputs.items()}


def draw_upstream(T, shape, seed):
    heads, _, dv = shape
    return numpy.random.default_rng(seed).standard_normal((T, heads, dv)).astype("float32")


class Gradients(InFolder):
    def compare(self, mech, text, T, shape, causal):
        words = text.split()
        params = dict(word.split("=") for word in words)
        arrays = make_inputs(mech, params, T, shape, 1000 * T + len(text))
        upstream = draw_upstream(T, shape, T)
        want = run_theirs(mech, params, arrays, upstream, causal)
        got = run_ours(mech, words, arrays, upstream, self.folder.name, *(() if causal else ("--encoder",)))
        self.assertEqual(set(arrays) - set(got), set(), f"{mech} {text}: inputs without a gradient")
        largest = max(abs(x).max() for x in want.values())
        for name, theirs in want.items():
            error, size = abs(got[name] - theirs).max(), abs(theirs).max()
            self.assertEqual(got[name].shape, theirs.shape)
            self.assertTrue(error <= TOLERANCE * size + 1e-6 * largest,
                            f"d{name} of {mech} {text} T={T} H,dk,dv={shape} causal={causal}: off by {error:.3g}, "
                            f"largest value {size:.3g}")


def add_case(index, mech, text):
    def run(self):
        for i, T in enumerate(LENGTHS):
            for shape in {SHAPES[(index + i) % len(SHAPES)], SHAPES[(5 * index + 2 * i) % len(SHAPES)]}:
                for causal in (True, False) if mech not in CAUSAL_ONLY else (True,):
                    self.compare(mech, text, T, shape, causal)

    setattr(Gradients, f"test_{mech}_{text.replace(' ', '_').replace('=', '')}", run)


for number, (name_, words_) in enumerate(CASES):
    add_case(number, name_, words_)

if __name__ == "__main__":
    unittest.main()
