#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Verdicts, training, sweeps and certificates from Python against the bytes of the command. With and without pandas."""
import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
if os.environ.get("RUNG_TEST_WITHOUT_PANDAS"):
    sys.modules["pandas"] = None
import rung  # noqa: E402
from rung import _command  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None

COMPOSE = {"n": 542, "heads": 1, "head_dim": 2, "bits": 26, "no_weights": True, "no_thresholds": True}
SWEEP = {"name": "two", "base": {"task": "eva", "task.N": 4, "steps": 5, "batch": 2, "d-model": 8, "dk": 2, "dv": 2},
         "grid": {"arch": ["full", "linear"], "seed": [1, 2]}}


def command(*words):
    return subprocess.run([_command.find("rung"), *words], capture_output=True, check=False).stdout


def rows_of(table):
    return table.to_dict("records") if pandas else table


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.back = os.getcwd()
        os.chdir(self.folder.name)

    def tearDown(self):
        os.chdir(self.back)
        self.folder.cleanup()


class Bounds(InFolder):
    def test_a_bound_is_what_the_command_prints(self):
        found = rung.bound("full,4*linear", rung.Task("seqcomp", L=2), **COMPOSE)
        self.assertEqual(found.raw, command("bound", "full,4*linear", "--task", "seqcomp", "L=2", "--n", "542", "--heads", "1", "--head-dim",
                                            "2", "--bits", "26", "--no-weights", "--no-thresholds", "--json"))
        self.assertEqual((found.verdict, found.by, found.basis, found.layers), ("CANNOT", "B0", "theorem", "full,4*linear"))
        self.assertEqual([t.id for t in found.theorems if t.verdict == "CANNOT" and t.id == "B0"], ["B0"])
        self.assertEqual(found.json, json.loads(found.raw))
        self.assertEqual(found.ledger["schema"], "rung.ledger/2")
        self.assertTrue(dataclasses.is_dataclass(found))

    def test_the_same_claim_in_words_and_as_a_task(self):
        self.assertEqual(rung.decide("full,4*linear", "seqcomp L=2", **COMPOSE), "CANNOT")
        self.assertEqual(rung.decide("full,4*linear", "seqcomp L=2", **{**COMPOSE, "n": 100}), "UNKNOWN")

    def test_without_a_task_there_is_no_verdict(self):
        self.assertIsNone(rung.bound("full").verdict)
        with self.assertRaisesRegex(ValueError, "task"):
            rung.decide("full", None)

    def test_an_error_is_the_message_of_the_command(self):
        with self.assertRaisesRegex(rung.Error, "ful") as caught:
            rung.bound("ful", "eva")
        self.assertEqual(caught.exception.status, 2)
        with self.assertRaisesRegex(rung.Error, "head-dim"):
            rung.bound("full", "eva", head_dims=2)
        with self.assertRaises(ValueError):
            rung.bound("--help")

    def test_a_card_and_a_comparison(self):
        found = rung.card("full,4*linear", memory=True, context=1000)
        self.assertEqual(found.raw, command("card", "full,4*linear", "--memory", "--context", "1000", "--json"))
        self.assertEqual((found.context, found.growth_bytes), (1000, 64))
        self.assertEqual(found.held_bytes, 64 * 1000 + 2176)
        self.assertEqual([row["input"] for row in rung.compare("full", "linear").rows], ["full", "linear"])


class Weights(InFolder):
    def test_verify_proves_runs_everything_or_samples(self):
        model = rung.build("lookup", "l.safetensors", "N=4", "keys=sign")
        proof = rung.verify(model, worst_case=True, numbers="e8m3")
        self.assertEqual(proof.raw, command("verify", "l.safetensors", "--worst-case", "--numbers", "e8m3", "--json"))
        self.assertEqual((proof.verdict, proof.right, proof.prompts), ("CAN", True, None))
        every = rung.verify(model, exhaustive=True)
        self.assertEqual((every.prompts, every.wrong, every.error_interval, every.right), (4 ** 5, 0, (0, 0), True))
        sample = rung.verify(model, samples=20)
        self.assertEqual((sample.method, sample.prompts, sample.verdict), ("sampled", 20, None))
        self.assertGreater(sample.error_interval[1], 0.1)

    def test_a_wrong_model_is_not_right(self):
        model = rung.build("random", "r.safetensors", task=rung.Task("eva", N=4), arch="linear")
        found = rung.verify(model, exhaustive=True)
        self.assertGreater(found.wrong, 0)
        self.assertFalse(found.right)

    def test_break_writes_what_rung_check_accepts(self):
        lost = rung.build("random", "lost.safetensors", task="eva N=64", arch="linear", dk=2, dv=2, d_model=8)
        found = rung.break_(lost, "lost.cert", numbers="e8m4", budget=30)
        self.assertEqual((found.verdict, found.kind, found.certificate, found.found), ("CANNOT", "state-collision", "lost.cert", True))
        self.assertTrue(rung.check("lost.cert", lost))
        self.assertIn("state-collision", rung.check("lost.cert", lost).text)
        other = rung.build("random", "other.safetensors", task="eva N=64", arch="linear", dk=2, dv=2, d_model=8, seed=1)
        self.assertFalse(rung.check("lost.cert", other).accepted)
        with open("lost.cert", "a", encoding="utf-8") as file:
            file.write("more\n")
        with self.assertRaises(rung.Error) as caught:
            rung.check("lost.cert", lost)
        self.assertEqual(caught.exception.status, 3)


class Runs(InFolder):
    def test_a_trained_model_has_the_bytes_of_the_command(self):
        found = rung.train("full", rung.Task("eva", N=4), "a.safetensors", seed=3, steps=6, batch=4, eval_every=3, threads=1)
        command("train", "--arch", "full", "--task", "eva", "N=4", "-o", "b.safetensors", "--seed", "3", "--steps", "6", "--batch", "4",
                "--eval-every", "3", "--threads", "1")
        self.assertEqual(digest("a.safetensors"), digest("b.safetensors"))
        self.assertEqual([row["step"] for row in rows_of(found.metrics)], [3, 6])
        self.assertEqual(found.eval_accuracy, rows_of(found.metrics)[-1]["eval_accuracy"])
        with found.model() as model:
            self.assertEqual(model.spec["arch"], "full")

    def test_a_sweep_gives_a_row_per_run(self):
        table = rung.sweep(SWEEP, "two.db", no_estimate=True, jobs=1)
        self.assertEqual(isinstance(table, list), pandas is None)
        rows = rows_of(table)
        self.assertEqual(sorted((row["arch"], row["seed"]) for row in rows),
                         [("full", 1), ("full", 2), ("linear", 1), ("linear", 2)])
        lines = [json.loads(line) for line in command("export", "two.db", "--jsonl").splitlines()]
        self.assertEqual([row["id"] for row in rows], [row["id"] for row in lines])
        self.assertEqual([row["eval_accuracy"] for row in rows], [row["eval_accuracy"] for row in lines])
        head = command("export", "two.db").splitlines()[0].decode().split(",")
        self.assertEqual(list(rows[0]), head)
        self.assertEqual(len(rows_of(rung.results("two.db", metrics=True))), 4)

    def test_a_spec_that_is_wrong_is_refused(self):
        with self.assertRaisesRegex(rung.Error, "base"):
            rung.sweep({"arch": "full"}, "bad.db")


if __name__ == "__main__":
    if pandas and "RUNG_TEST_WITHOUT_PANDAS" not in os.environ:
        again = subprocess.run([sys.executable, __file__], env={**os.environ, "RUNG_TEST_WITHOUT_PANDAS": "1"}, check=False)
        if again.returncode:
            sys.exit(again.returncode)
    unittest.main()
