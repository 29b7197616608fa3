#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module against the C library: struct layouts, batches, runs, files. With and without numpy."""
import ctypes as C
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
if os.environ.get("RUNG_TEST_WITHOUT_NUMPY"):
    sys.modules["numpy"] = None
import rung  # noqa: E402
from rung import _library  # noqa: E402

SPEC = {"arch": "full@1|linear@1,gdelta", "task": str(rung.Task("eva", N=6)), "vocab": 12, "answers": 6,
        "max_tokens": 7, "d_model": 8, "dk": 4, "dv": 4, "mlp": "gelu", "d_mlp": 16, "positions": "learned",
        "norm": "rms"}


def to_list(values):
    return values.tolist() if hasattr(values, "tolist") else values


class Layout(unittest.TestCase):
    def test_struct_sizes_are_those_of_the_c_compiler(self):
        source = "#include <rung/rung.h>\nint main(void){\n"
        source += "".join(f'printf("{name} %zu\\n", sizeof({name}));\n' for name in _library.STRUCTS)
        source += 'printf("rung_fmt %zu\\n", sizeof(rung_fmt));'
        source += 'printf("rung_numbers %zu\\n", sizeof(rung_numbers));return 0;}'
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sizes.c")
            with open(path, "w") as file:
                file.write(source)
            subprocess.run(["cc", "-std=c17", "-I", os.path.join(ROOT, "include"), path, "-o", path + ".out"], check=True)
            lines = subprocess.run([path + ".out"], check=True, capture_output=True, text=True).stdout.split()
        sizes = dict(zip(lines[::2], map(int, lines[1::2])))
        fmt = sizes.pop("rung_fmt")
        self.assertLessEqual(fmt, C.sizeof(_library.Fmt))
        self.assertLessEqual(sizes.pop("rung_numbers"), C.sizeof(_library.Numbers))
        self.assertEqual(sizes, {name: C.sizeof(struct) for name, struct in _library.STRUCTS.items()})


class Tasks(unittest.TestCase):
    def test_batch_follows_the_definition_of_eva(self):
        batch = rung.Task("eva", N=8).batch(20, seed=3)
        for tokens, targets in zip(to_list(batch.tokens), to_list(batch.targets)):
            query = tokens[8] - 8
            self.assertEqual(targets, [-1] * 8 + [tokens[query]])

    def test_batch_is_a_pure_function_of_seed_and_index(self):
        task = rung.Task("seqcomp", L=2, N0=4, n=[4])
        whole, part = task.batch(6, seed=5), task.batch(2, seed=5, first=4)
        self.assertEqual(to_list(whole.tokens)[4:], to_list(part.tokens))
        self.assertNotEqual(to_list(whole.tokens)[0], to_list(whole.tokens)[1])

    def test_features_have_the_declared_shape(self):
        task = rung.Task("nearest-neighbour")
        features = to_list(task.batch(2).features)
        self.assertEqual((len(features), len(features[0]), len(features[0][0])), (2, task.tokens, task.d_in))

    def test_unknown_parameter_is_refused_with_the_nearest(self):
        with self.assertRaisesRegex(rung.Error, "eva"):
            rung.Task("eva", M=3)
        with self.assertRaises(rung.Error) as caught:
            rung.Task("eav")
        self.assertEqual(caught.exception.status, 2)

    def test_canonical_text_parses_back(self):
        task = rung.Task("two-sum", N=5, M=11)
        self.assertEqual(str(rung.Task.parse(str(task))), str(task))


class Models(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "m.safetensors")
        rung.write_random(self.path, SPEC, seed=7)
        self.model = rung.Model(self.path)
        self.prompt = to_list(rung.Task("eva", N=6).batch(1, seed=1).tokens)[0]

    def tearDown(self):
        self.model.close()
        self.folder.cleanup()

    def test_spec_survives_the_file(self):
        self.assertEqual({key: self.model.spec[key] for key in SPEC}, SPEC)
        self.assertEqual(self.model.task.vocab, 12)

    def test_fast_and_exact_evaluators_agree(self):
        fast = to_list(self.model.run(self.prompt))[0]
        exact = to_list(self.model.run(self.prompt, numbers="f64"))[0]
        coarse = to_list(self.model.run(self.prompt, numbers="e5m2"))[0]
        self.assertLess(max(abs(a - b) for a, b in zip(fast, exact)), 1e-4)
        self.assertGreater(max(abs(a - b) for a, b in zip(coarse, exact)), 1e-3)

    def test_step_and_scan_agree_to_the_bit(self):
        for numbers in ("bf16", "q5.10", "f32"):
            at = list(range(len(self.prompt)))
            self.assertEqual(to_list(self.model.run(self.prompt, numbers, at)),
                             to_list(self.model.run(self.prompt, numbers, at, step=True)))

    def test_saved_copy_gives_the_same_answers(self):
        copy = os.path.join(self.folder.name, "copy.safetensors")
        rung.save(copy, self.model.spec, self.model.tensors())
        with rung.Model(copy) as other:
            self.assertEqual(to_list(other.run(self.prompt, "bf16")), to_list(self.model.run(self.prompt, "bf16")))

    def test_a_changed_weight_changes_the_answer(self):
        tensors = {name: to_list(values) for name, values in self.model.tensors().items()}
        tensors["readout.weight"][0][0] += 1
        changed = os.path.join(self.folder.name, "changed.safetensors")
        rung.save(changed, self.model.spec, tensors)
        with rung.Model(changed) as other:
            self.assertNotEqual(to_list(other.run(self.prompt)), to_list(self.model.run(self.prompt)))

    def test_a_missing_tensor_is_refused_by_name(self):
        tensors = self.model.tensors()
        tensors.pop("layers.1.out.weight")
        with self.assertRaisesRegex(rung.Error, "layers.1.out.weight"):
            rung.save(os.path.join(self.folder.name, "bad.safetensors"), self.model.spec, tensors)

    def test_state_bits_are_reported(self):
        self.model.run(self.prompt, "e4m3")
        cache, linear, gdelta = len(self.prompt) * (4 + 4), 4 * 5, 4 * 4
        self.assertEqual(self.model.state_bits, 8 * (cache + linear + gdelta))

    def test_a_batch_is_its_prompts_one_by_one(self):
        batch = rung.Task("eva", N=6).batch(5, seed=2)
        for numbers in (None, "e4m3"):
            for at in (None, [0, 6], [-1, 2]):
                together = self.model.run(batch, numbers, at)
                bits = self.model.state_bits
                alone = []
                for row in to_list(batch.tokens):
                    alone.append(to_list(self.model.run(row, numbers, at)))
                    self.assertEqual(self.model.state_bits, bits[0])
                self.assertEqual(to_list(together), alone)
                self.assertEqual(to_list(self.model.run(batch.tokens, numbers, at)), alone)
                self.assertEqual(len(bits), 5)
        self.assertNotEqual(alone[0], alone[1])

    def test_a_padded_prompt_is_read_at_its_own_end(self):
        short = self.prompt[:4]
        padded = [short + [0] * 3, self.prompt]
        together = to_list(self.model.run(padded, "bf16", lengths=[4, 7]))
        self.assertEqual(together, [to_list(self.model.run(short, "bf16")), to_list(self.model.run(self.prompt, "bf16"))])
        self.assertNotEqual(together, to_list(self.model.run(padded, "bf16")))

    def test_wrong_shapes_are_refused(self):
        prompt = self.prompt
        for wrong, message in [(3, r"shape \[\]"), ([[prompt]], r"\[1, 1, 7\]; this model takes \[tokens\] or \[prompts, tokens\]"),
                               ([], "nothing to read"), ([[], []], "nothing to read"), ([prompt, prompt[:4]], "different lengths"),
                               ([0.5] * 7, "must be integers"), (["a"], "numbers are needed"), (prompt[:-1] + [12], "position 6"),
                               ([prompt, [0, -1] + prompt[2:]], "token -1 in prompt 1, position 1"), ([0] * 8, "8")]:
            with self.assertRaisesRegex((ValueError, rung.Error), message):
                self.model.run(wrong)
        for keywords, message in [({"at": [7]}, "position 7"), ({"at": [-8]}, "position -8"), ({"lengths": [8]}, "length 8"),
                                  ({"lengths": [1, 2]}, "2 lengths for 1 prompts")]:
            with self.assertRaisesRegex(ValueError, message):
                self.model.run(prompt, **keywords)

    def test_features_have_one_dimension_more(self):
        task = rung.Task("nearest-neighbour")
        path = os.path.join(self.folder.name, "f.safetensors")
        rung.write_random(path, {"arch": "full", "task": str(task), "d_in": task.d_in, "answers": max(1, task.d_out or task.answers),
                                 "max_tokens": task.tokens, "d_model": 8, "dk": 4, "dv": 4}, 1)
        batch = task.batch(3)
        with rung.Model(path) as model:
            together = to_list(model.run(batch))
            self.assertEqual(together, [to_list(model.run(row)) for row in to_list(batch.features)])
            one = to_list(batch.features)[0]
            for wrong in (one[0], [row + [0.0] for row in one], [[[one]]]):
                with self.assertRaisesRegex(ValueError, "this model takes"):
                    model.run(wrong)
            with self.assertRaisesRegex(ValueError, "reads features"):
                model.run(rung.Task("eva", N=6).batch(1))

    def test_a_closed_model_is_refused(self):
        self.model.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            self.model.run(self.prompt)

    def test_torch_tensors_are_accepted(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        self.assertEqual(to_list(self.model.run(torch.tensor(self.prompt))), to_list(self.model.run(self.prompt)))
        both = torch.tensor([self.prompt, self.prompt], dtype=torch.int32)
        self.assertEqual(to_list(self.model.run(both))[1], to_list(self.model.run(self.prompt)))
        tensors = {name: torch.tensor(to_list(values), requires_grad=True) for name, values in self.model.tensors().items()}
        copy = os.path.join(self.folder.name, "torch.safetensors")
        rung.save(copy, self.model.spec, tensors)
        with rung.Model(copy) as other:
            self.assertEqual(to_list(other.run(self.prompt)), to_list(self.model.run(self.prompt)))


if __name__ == "__main__":
    if "RUNG_TEST_WITHOUT_NUMPY" not in os.environ:
        again = subprocess.run([sys.executable, __file__], env={**os.environ, "RUNG_TEST_WITHOUT_NUMPY": "1"})
        if again.returncode:
            sys.exit(again.returncode)
    unittest.main()
