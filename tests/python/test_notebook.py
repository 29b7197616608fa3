#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples/notebook.ipynb says what it gives: every cell is executed, and its output is the one that is printed there."""
import ast
import contextlib
import io
import json
import os
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
NOTEBOOK = os.path.join(ROOT, "examples", "notebook.ipynb")


def run_cell(source, names):
    """What the cell prints, and the value of its last line if that is an expression."""
    tree, out = ast.parse(source), io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "cell", "exec"), names)  # pylint: disable=exec-used
        if last:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # pylint: disable=eval-used
            if value is not None:
                print(repr(value))
    return out.getvalue()


def execute(notebook):
    """Each cell of code with what it gives, in order, with shared names."""
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            yield cell, run_cell("".join(cell["source"]), names)


def printed(cell):
    return "".join("".join(output.get("text") or output["data"]["text/plain"]) for output in cell["outputs"])


class Notebook(unittest.TestCase):
    def test_every_cell_gives_what_is_printed(self):
        try:
            import numpy  # noqa: F401
            import pandas  # noqa: F401
        except ImportError as missing:
            self.skipTest(str(missing))
        with open(NOTEBOOK, encoding="utf-8") as file:
            notebook = json.load(file)
        back, cells = os.getcwd(), 0
        try:
            for cell, text in execute(notebook):
                cells += 1
                self.assertEqual(text, printed(cell), "".join(cell["source"]))
        finally:
            os.chdir(back)
        self.assertGreaterEqual(cells, 10)


if __name__ == "__main__":
    unittest.main()
