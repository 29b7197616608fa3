#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`python3 -m pip install .` without network, into an empty directory: what comes out works without this tree."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PROGRAM = """
import rung
from rung import _command, _library
found = rung.bound("full,4*linear", "seqcomp L=2", n=542, heads=1, head_dim=2, bits=26, no_weights=True)
print(found.verdict, rung.__file__, _command.find("rung"), _command.find("rung-check"), _library.lib._name)
"""


class Wheel(unittest.TestCase):
    def test_pip_installs_it_offline(self):
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
            self.skipTest("pip is not installed (python3-pip)")
        clean = {name: value for name, value in os.environ.items() if name not in ("RUNG", "RUNG_LIBRARY", "RUNG_CHECK", "PYTHONPATH")}
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(os.path.realpath(folder), "packages")
            done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-cache-dir", "--target", target, ROOT],
                                  env=clean, cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            said = subprocess.run([sys.executable, "-c", PROGRAM], env={**clean, "PYTHONPATH": target}, cwd=folder,
                                  capture_output=True, text=True, check=True).stdout.split()
            self.assertEqual(said[0], "CANNOT")
            for path in said[1:]:
                self.assertTrue(os.path.realpath(path).startswith(target + os.sep), path)
            self.assertEqual(len(said), 5)


if __name__ == "__main__":
    unittest.main()
