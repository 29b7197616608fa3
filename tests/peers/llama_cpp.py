# SPDX-License-Identifier: MIT
"""llama.cpp beside rung. MODULES is the folder that has node_modules/node-llama-cpp.

llama_cpp.py every MODULES FILE.gguf ANSWERS CACHE FORM SIZES...   every prompt of a form of prompts.py: is llama.cpp right?
llama_cpp.py same MODULES FILE.gguf MODEL.safetensors ANSWERS IDS CACHE WORST
    are its log-probabilities of the answers those of rung, behind all prefixes of a prompt, up to WORST?
llama_cpp.py text MODULES FILE.gguf TEXT ID...                    are these the ids of the text?
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import prompts
import rung

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "src/audit/llama-cpp.mjs"


def ask(modules, **question):
    with tempfile.TemporaryDirectory() as folder:
        asked, said = pathlib.Path(folder, "ask.json"), pathlib.Path(folder, "answer.json")
        asked.write_text(json.dumps(question))
        subprocess.run(["node", SCRIPT, modules, asked, said], check=True)
        return json.loads(said.read_text())


def read_ids(text):
    ids = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        ids += range(int(low), int(high or low) + 1)
    return ids


def every(modules, file, answers, cache, form, *sizes):
    answers = read_ids(answers)
    asked = list(prompts.FORMS[form](*map(int, sizes)))
    said = ask(modules, file=file, cache=cache, prompts=[prompt for prompt, _ in asked])
    rows = [[-numpy.inf if score is None else score for score in row] for row in said["scores"]]
    assert len(rows) == len(asked) > 0
    wrong = [prompt for (prompt, right), row in zip(asked, rows) if max(range(len(row)), key=row.__getitem__) != answers[right]]
    print(f"{said['engine']}, cache {cache}: {len(asked)} prompts, {len(wrong)} wrong answers")
    sys.exit(f"first wrong prompt: {wrong[0]}" if wrong else 0)


def log_shares(logits):
    shares = logits - logits.max(1, keepdims=True)
    return shares - numpy.log(numpy.exp(shares).sum(1, keepdims=True))


def same(modules, file, model_file, answers, ids, cache, worst):
    ids, answers = read_ids(ids), read_ids(answers)
    theirs = ask(modules, file=file, cache=cache, prompts=[ids[:i + 1] for i in range(len(ids))])
    with rung.Model(model_file) as model:
        ours = log_shares(numpy.array(model.run(numpy.array(ids, dtype="uint32"), at=range(len(ids)))))
    rows = log_shares(numpy.array(theirs["scores"], dtype=float)[:, answers])
    assert rows.shape == ours.shape, (rows.shape, ours.shape)
    difference = abs(ours - rows).max()
    print(f"{theirs['engine']}, cache {cache}: {rows.size} log-probabilities, largest difference {difference:.2g}")
    sys.exit(0 if difference <= float(worst) else "they do not agree")


def text(modules, file, text, *ids):
    said = ask(modules, file=file, texts=[text])["ids"][0]
    assert said == list(map(int, ids)), said
    print(f"{text!r}: ids {said}")


{"every": every, "same": same, "text": text}[sys.argv[1]](*sys.argv[2:])
