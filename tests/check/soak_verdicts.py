# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# Verdicts of rung-check against the truth as rung and oracles.py see it: random models of every mechanism in narrow formats, and for each of
# them true and false certificates of all four kinds, block-collision among them. Whatever is accepted must be true. A true wrong-answer
# must be accepted; a collision may be refused for what it states on the way (`true, not shown`).
# soak_verdicts.py [COUNT]: at least so many certificates; else RUNG_VERDICTS, else 1000000. RUNG_SEED=n: other models.
import collections
import functools
import itertools
import json
import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import models
import oracles
import rung

FORMATS = ["e2m1", "e3m1", "e3m2", "e4m3", "q1.1", "q0.2", "q2.1", "q1.3", "q3.2"]
ARCHES = ["full", "linear", "linear:phi=relu", "retnet", "gla", "mamba2", "delta", "gdelta", "kda", "loglinear", "window:W=2",
          "sparse:B=2:k=1", "sparse:B=2:k=1:own=0", "sparse:B=2:k=1:branches=nsa:W=1:own=0", "sparse:B=2:k=1:lambda=1000", "full,linear", "linear,full"]
TASKS = ["eva N=4 V=2 K=4 form=position dist=uniform", "index N=5 V=2 dist=uniform", "eva N=6 V=2 K=6 form=position dist=uniform"]
KINDS = ["wrong-answer", "state-collision", "view-collision", "block-collision"]


class Truth:
    """What rung says, each prompt once. The copy of the model with the identity as its read-out shows the view."""

    def __init__(self, path, shown, numbers):
        self.real, self.numbers, self.seen = rung.Model(path), numbers, {}
        metadata, tensors = models.read(path)
        config = json.loads(metadata["rung.config"])
        d, self.vocab = config["d_model"], config["vocab"]
        metadata.update({"rung.config": json.dumps({**config, "answers": d}), "rung.task": ""})
        tensors.pop("readout.bias", None)
        tensors["readout.weight"] = ("F32", [d, d], [float(i == j) for i in range(d) for j in range(d)])
        models.write(shown, metadata, tensors)
        self.shown = rung.Model(shown)

    def run(self, model, prompt):
        key = (model is self.real, tuple(prompt))
        if key not in self.seen:
            try:
                self.seen[key] = list(model.run(list(prompt), numbers=self.numbers)[0])
            except rung.Error:
                self.seen[key] = None
        return self.seen[key]

    def holds(self, text):
        c = models.parse_certificate(text)
        right = [int(x) for x in c["right"].split()]
        if [oracles.answer(c["task"], p) for p in c["prompt"]] != right or int(c["position"]) != len(c["prompt"][0]) - 1: return False
        if c["kind"] == "wrong-answer":
            y = self.run(self.real, c["prompt"][0])
            return y is not None and y.index(max(y)) == int(c["given"]) != right[0]
        a, b = c["prompt"]
        if right[0] == right[1] or a == b: return False
        if c["kind"] == "state-collision":
            cut = int(c["prefix"])
            return a[cut:] == b[cut:] and all(self.run(self.shown, a[:cut] + [x]) == self.run(self.shown, b[:cut] + [x]) for x in range(self.vocab))
        return a[-1] == b[-1] and self.run(self.shown, a) == self.run(self.shown, b)


@functools.lru_cache(maxsize=None)
def all_prompts(task):
    """(prompt, answer) pairs. In these tasks only the last token is a question."""
    tokens, ids, values = oracles.shape(task)
    rows = itertools.product(*[range(values)] * (tokens - 1), range(values, ids))
    return [(list(row), oracles.answer(task, row)) for row in rows]


def line(word, values):
    return word + " " + " ".join(map(str, values))


def other_digit(rng, text):
    at = rng.randrange(len(text))
    return text[:at] + rng.choice([d for d in "0123456789abcdef" if d != text[at]]) + text[at + 1 :]


def claims(rows, kind, rng, count):
    """Lines after `task`. Half of the pairs have the same numbers where the kind looks, half are any two prompts."""
    position = len(rows[0][0]) - 1
    field = "prefix" if kind == "state-collision" else "packed"
    same = collections.defaultdict(list)
    for row in rows: same[row[0][-1], row[2][field]].append(row)
    crowds = [crowd for crowd in same.values() if len(crowd) > 1]
    for _ in range(count):
        if kind == "wrong-answer":
            prompt, right, got = rng.choice(rows)
            given = got["readout"].index(max(got["readout"])) if rng.random() < 0.5 else rng.randrange(len(got["readout"]))
            yield [line("prompt", prompt), f"position {position}", f"right {right if rng.random() < 0.8 else 1 - right}", f"given {given}"]
            continue
        a, b = rng.sample(rng.choice(crowds) if crowds and rng.random() < 0.6 else rows, 2)
        hexes = rng.choice([a, a, a, b])[2][field]
        if rng.random() < 0.15: hexes = other_digit(rng, hexes)
        rights = [a[1], b[1]] if rng.random() < 0.9 else [b[1], a[1]]
        head, ask = [line("prompt", a[0]), line("prompt", b[0])], [f"position {position}", line("right", rights)]
        if kind == "state-collision":
            yield [*head, f"prefix {position if rng.random() < 0.9 else rng.randint(0, position)}", *ask, "state " + hexes]
        elif kind == "view-collision":
            yield [*head, *ask, "view " + hexes]
        else:
            apart = {i // 2 for i in range(position) if a[0][i] != b[0][i]}
            block = apart.pop() if len(apart) == 1 and rng.random() < 0.9 else rng.randrange(len(a[0]) // 2)
            summary = a[2].get(("block", 0, block), "00")
            if rng.random() < 0.1: summary = other_digit(rng, summary)
            yield [*head, *ask, "layer 0", f"block {block}", "summary " + summary, "view " + hexes]


def one_model(folder, rng, count, tally):
    arch, numbers, task = rng.choice(ARCHES), rng.choice(FORMATS), rng.choice(TASKS)
    path = folder / "m.safetensors"
    models.build_random(path, arch, task, "--d-model", "4", "--dk", "2", "--dv", "2", "--d-mlp", "4", "--seed", str(rng.randrange(1 << 30)),
                        "--positions", rng.choice(["none", "learned"]))
    metadata, tensors = models.change(*models.read(path), rng, scale=rng.choice([0.3, 1, 2]), identity=False)
    digest = models.write(path, metadata, tensors)
    prompts = rng.sample(all_prompts(task), min(120, len(all_prompts(task))))
    rows = [(p, right, got) for (p, right), got in zip(prompts, models.dump(path, numbers, [p for p, _ in prompts])) if "rejected" not in got]
    if len(rows) < 2: return
    kinds = KINDS if "sparse" in arch else KINDS[:3]
    texts = [(kind, models.certificate(kind, digest, metadata["rung.arch"], numbers, task, *lines))
             for kind in kinds for lines in claims(rows, kind, rng, count * (3 if kind == "block-collision" else 1))]
    truth = Truth(path, folder / "shown.safetensors", numbers)
    for (kind, text), (code, said) in zip(texts, models.judge(path, [t for _, t in texts])):
        assert code in (3, 10, 20), (code, said, text)
        true = truth.holds(text)
        assert true or code != 10, f"accepted, and not true:\n{text}\n{said}"
        assert not true or code == 10 or kind != "wrong-answer", f"refused, and true:\n{text}\n{said}"
        tally[kind, "true, accepted" if code == 10 else "true, not shown" if true else "false, refused"] += 1


def main():
    wanted = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RUNG_VERDICTS", 1000000))
    rng, tally, made = random.Random(int(os.environ.get("RUNG_SEED", 1))), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as name:
        while sum(tally.values()) < wanted:
            one_model(pathlib.Path(name), rng, 200, tally)
            made += 1
    for key in sorted(tally): print("%-16s %-20s %d" % (*key, tally[key]))
    assert all(tally[kind, "true, accepted"] for kind in KINDS) or wanted < 20000, tally
    mine, children = os.times()[:2], os.times()[2:4]
    print(f"{sum(tally.values())} certificates of {made} models, none accepted that is false; {sum(mine + children):.0f} s of the processor")


main()
