#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""The exact evaluator against rational arithmetic: the delta rule, which has only sums and products, in fractions, rounded
by the definition of eXmY. Every output must be equal to the bit. Shares no arithmetic with the library or with MPFR.

    RUNG=build/rung /usr/bin/python3 tests/parity/test_rational.py
"""
import os
import random
import subprocess
import tempfile
import unittest
from fractions import Fraction

try:
    import numpy
except ImportError as problem:
    print(f"skipped: {problem}; Debian has it as python3-numpy, for /usr/bin/python3")
    raise SystemExit(0)

import tensors

HERE = os.path.dirname(os.path.abspath(__file__))
RUNG = os.environ.get("RUNG", os.path.join(HERE, "..", "..", "build", "rung"))
FORMATS = ((2, 2), (4, 3), (5, 2), (6, 1), (8, 7), (8, 12), (11, 25))  # X, Y


def rounded(x, X, Y):
    """x to eXmY: to nearest, ties to even, subnormals below 2^emin. The inputs here are too small to overflow."""
    if x == 0:
        return x
    size, exponent = abs(x), 2 - 2 ** (X - 1)
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    unit = Fraction(2) ** (exponent - Y)
    whole, rest = divmod(size / unit, 1)
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2):
        whole += 1
    result = whole * unit
    assert result < Fraction(2) ** (2 ** (X - 1)), "overflow"
    return result if x > 0 else -result


def delta_rule(inputs, T, H, dk, dv, r):
    """o[t][h][i], in the order that docs/mechanisms/delta.md states."""
    stored = {name: [r(Fraction(float(x))) for x in array.flat] for name, array in inputs.items()}
    out = {}

    def against(matrix, x, i):
        total = Fraction(0)
        for j in range(dk):
            total = r(total + r(matrix[j][i] * x[j]))
        return total

    for h in range(H):
        S = [[Fraction(0)] * dv for _ in range(dk)]
        for t in range(T):
            row = t * H + h
            q, k = (stored[name][row * dk:(row + 1) * dk] for name in "qk")
            v, beta = stored["v"][row * dv:(row + 1) * dv], stored["beta"][row]
            u = [r(beta * r(v[i] - against(S, k, i))) for i in range(dv)]
            for j in range(dk):
                for i in range(dv):
                    S[j][i] = r(S[j][i] + r(k[j] * u[i]))
            for i in range(dv):
                out[t, h, i] = against(S, q, i)
    return out


class Rational(unittest.TestCase):
    def test_every_bit_of_the_delta_rule(self):
        with tempfile.TemporaryDirectory() as folder:
            for trial in range(42):
                self.compare(trial, folder)

    def compare(self, trial, folder):
        draw, rng = random.Random(trial), numpy.random.default_rng(trial)
        X, Y = FORMATS[trial % len(FORMATS)]
        T, H, dk, dv = draw.randint(1, 12), draw.randint(1, 2), draw.randint(1, 4), draw.randint(1, 4)
        scale = 0.1 if X == 2 else 0.5
        shapes = {"q": (T, H, dk), "k": (T, H, dk), "v": (T, H, dv), "beta": (T, H)}
        inputs = {name: (scale * rng.standard_normal(shape)).astype("float32") for name, shape in shapes.items()}
        source, target = (os.path.join(folder, name) for name in ("in.safetensors", "out.safetensors"))
        tensors.write(source, inputs)
        subprocess.run([RUNG, "attn", "delta", "--in", source, "--out", target, "--numbers", f"e{X}m{Y}", "--dtype", "F64",
                        "-q", "--form", draw.choice(("scan", "step"))], check=True, stdout=subprocess.DEVNULL)
        got = tensors.read(target)[0]["o"]
        for place, want in delta_rule(inputs, T, H, dk, dv, lambda x: rounded(x, X, Y)).items():
            self.assertEqual(Fraction(float(got[place])), want, f"e{X}m{Y}, trial {trial}, t,h,i = {place}")


if __name__ == "__main__":
    unittest.main()
