#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/python.md shows what Python really prints. Prompts after >>> are executed, in order, in an empty directory."""
import doctest
import os
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
PAGE = os.path.abspath(os.path.join(ROOT, "docs", "python.md"))


class Page(unittest.TestCase):
    def test_it_is_what_python_prints(self):
        try:
            import numpy  # noqa: F401
            import pandas  # noqa: F401
        except ImportError as missing:
            self.skipTest(str(missing))
        with open(PAGE, encoding="utf-8") as file:
            text = file.read().replace("```", "")
        test = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", PAGE, 0)
        said, back = [], os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
                result = runner.run(test, out=said.append)
            finally:
                os.chdir(back)
        self.assertEqual(result.failed, 0, "".join(said))
        self.assertGreaterEqual(result.attempted, 20)


if __name__ == "__main__":
    unittest.main()
