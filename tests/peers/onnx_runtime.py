# SPDX-License-Identifier: MIT
"""ONNX files beside rung. ENGINE is the folder that has node_modules/onnxruntime-node, or `pypi` for the package of
this Python, or `numpy` for onnx_numpy.py.

onnx_runtime.py every ENGINE FILE.onnx FORM SIZES...           every prompt of a form of prompts.py: is the answer right?
onnx_runtime.py same ENGINE FILE.onnx MODEL.safetensors WORST IDS
    are the logits behind all tokens those of rung, up to WORST times the largest one?
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import prompts

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "src/audit/onnx-runtime.mjs"


def ask_node(modules, file, asked):
    with tempfile.TemporaryDirectory() as folder:
        question, answer = pathlib.Path(folder, "ask.json"), pathlib.Path(folder, "answer.json")
        question.write_text(json.dumps({"file": file, "prompts": asked, "everywhere": True}))
        subprocess.run(["node", SCRIPT, modules, question, answer], check=True)
        said = json.loads(answer.read_text())
    return said["engine"], [numpy.array(row).reshape(len(ids), -1) for row, ids in zip(said["scores"], asked, strict=True)]


def ask_pypi(file, asked):
    import onnx
    import onnxruntime
    onnx.checker.check_model(onnx.load(file))
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    rows = [session.run(None, {"ids": numpy.array([ids], dtype="int64")})[0][0] for ids in asked]
    return f"onnxruntime {onnxruntime.__version__} of PyPI", rows


def ask_numpy(file, asked):
    import onnx_numpy
    graph = onnx_numpy.Graph(file)
    lengths = {len(ids) for ids in asked}
    assert len(lengths) == 1 or len(asked) == 1
    return "numpy", list(graph.run(ids=numpy.array(asked, dtype="int64")))


def ask(engine, file, asked):
    """The name of the engine, and the logits [tokens][answers] of each prompt."""
    if engine == "pypi":
        return ask_pypi(file, asked)
    return ask_numpy(file, asked) if engine == "numpy" else ask_node(engine, file, asked)


def every(engine, file, form, *sizes):
    asked = list(prompts.FORMS[form](*map(int, sizes)))
    name, rows = ask(engine, file, [ids for ids, _ in asked])
    assert len(rows) == len(asked) > 0
    wrong = [ids for (ids, right), row in zip(asked, rows) if row[-1].argmax() != right]
    print(f"{name}: {len(asked)} prompts, {len(wrong)} wrong answers")
    sys.exit(f"first wrong prompt: {wrong[0]}" if wrong else 0)


def same(engine, file, model_file, worst, ids):
    import rung
    ids = list(map(int, ids.split(",")))
    name, (theirs,) = ask(engine, file, [ids])
    with rung.Model(model_file) as model:
        ours = numpy.array(model.run(numpy.array(ids, dtype="uint32"), at=range(len(ids))))
    assert theirs.shape == ours.shape and abs(ours).max() > 0.01, (theirs.shape, ours.shape)
    difference = abs(ours - theirs).max() / abs(ours).max()
    print(f"{name}: {ours.size} logits, largest difference {difference:.2g} of the largest logit")
    sys.exit(0 if difference <= float(worst) else "they do not agree")


if __name__ == "__main__":
    {"every": every, "same": same}[sys.argv[1]](*sys.argv[2:])
