#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Models trained in PyTorch, written as model files, broken with a certificate, and the certificates checked by the second
program.

    RUNG=build/rung RUNG_LIBRARY=build/librung.so.0 PYTHONPATH=python /usr/bin/python3 tests/parity/test_train_in_torch.py
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import torch  # noqa: F401
except ImportError as problem:
    print(f"skipped: {problem}; Debian has python3-torch, for /usr/bin/python3")
    raise SystemExit(0)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RUNG = os.path.abspath(os.environ.get("RUNG", "build/rung"))
CHECK = os.path.join(os.path.dirname(RUNG), "rung-check")
ACCEPTED, REJECTED = 10, 20


class Imported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([sys.executable, os.path.join(ROOT, "examples", "train_in_torch.py"), "--out", cls.folder.name,
                        "--steps", "150"], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def broken(self, model, *options):
        cert = self.path(model + ".cert")
        done = subprocess.run([RUNG, "break", self.path(model + ".safetensors"), "-o", cert, "--json", *options],
                              check=True, capture_output=True, text=True)
        return cert, json.loads(done.stdout)

    def check(self, cert, model):
        return subprocess.run([CHECK, cert, self.path(model + ".safetensors")], stdout=subprocess.DEVNULL).returncode

    def test_both_models_are_broken_in_float32(self):
        for model in ("linear", "hybrid"):
            cert, found = self.broken(model, "--numbers", "f32", "--attack", "climb")
            self.assertEqual(found["verdict"], "CANNOT")
            self.assertEqual(self.check(cert, model), ACCEPTED)

    def test_a_certificate_belongs_to_one_model(self):
        cert, _ = self.broken("linear", "--numbers", "f32", "--attack", "climb")
        self.assertEqual(self.check(cert, "hybrid"), REJECTED)


if __name__ == "__main__":
    unittest.main(verbosity=1)
