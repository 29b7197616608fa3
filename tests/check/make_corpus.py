# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# Writes tests/fixtures/check. Run by hand after a change of the format; the result is stored. make_corpus.py NAME...: only what
# is accepted of these models, and what is malformed in mixed formats. The
# collisions are found by looking at all prompts of tiny tasks in tiny formats with what the checker itself computes; that rung
# computes the same is the business of test_forward.py.
import pathlib
import random
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import models
import oracles

EVA = "eva N=3 V=2 K=3 form=position dist=uniform"
SMALL = ["--d-model", "3", "--dk", "2", "--dv", "2", "--d-mlp", "3"]

# name, arch, options, numbers, task
MODELS = [
    ("full", "full", ["--positions", "learned"], "e3m2", EVA),
    ("window", "window:W=2", ["--positions", "rotary", "--norm", "rms"], "e4m2", EVA),
    ("linear", "linear", ["--norm", "layer"], "e3m2", EVA),
    ("relu", "linear:phi=relu:norm=0", ["--positions", "none"], "q2.2", EVA),
    ("taylor", "linear:phi=taylor2:norm=0", ["--positions", "none", "--mlp", "relu"], "q3.3", EVA),
    ("retnet", "retnet@2", ["--positions", "none"], "e3m1", EVA),
    ("gla", "gla", ["--positions", "none", "--norm", "rms"], "q3.2", EVA),
    ("mamba2", "mamba2:conv=2", ["--positions", "none"], "e3m2", EVA),
    ("delta", "delta:unit=1", ["--positions", "none"], "q2.2", EVA),
    ("gdelta", "gdelta:conv=3:gate=1:unit=1", ["--positions", "none"], "e4m2", EVA),
    ("kda", "kda", ["--positions", "none", "--mlp", "swiglu"], "e3m1", EVA),
    ("loglinear", "loglinear:levels=2", ["--positions", "none"], "q3.1", EVA),
    ("logmamba", "loglinear:base=mamba2", ["--positions", "none", "--mlp", "gelu"], "e3m1", EVA),
    ("loggdelta", "loglinear:base=gdelta@2", ["--positions", "none"], "q2.2", EVA),
    ("sparse", "sparse:B=2:k=1", ["--positions", "none"], "e3m2", "eva N=6 V=2 K=6 form=position dist=uniform"),
    ("nsa", "sparse:B=2:k=1:branches=nsa:W=1:own=0", ["--positions", "none"], "e3m2", "index N=6 V=2 dist=uniform"),
    ("mixed", "retnet:conv=2@1|window:W=1:gate=1@1,linear:phi=identity:norm=0", ["--positions", "none"], "q2.1", EVA),
    ("deep", "2*(delta,full:gate=1)", ["--positions", "sinusoidal", "--mlp", "none,relu,gelu,swiglu"], "e3m1", EVA),
    ("pair", "linear", ["--positions", "none"], "e3m1", "eva N=2 V=2 K=3 form=pair dist=uniform"),
    ("zipf", "gla", ["--positions", "none"], "e3m1", "eva N=3 V=3 K=3 form=position dist=zipf"),
    ("index", "delta", ["--positions", "none"], "q1.1", "index N=3 V=2 dist=uniform"),
    ("twosum", "linear:phi=identity:norm=0", ["--positions", "none"], "q3.1", "two-sum N=2 M=3 form=query self=1 blank=1 dist=uniform"),
    ("twohard", "retnet", ["--positions", "none"], "e2m1", "two-sum N=2 M=7 form=query self=1 blank=0 dist=hard"),
    ("recall", "gdelta", ["--positions", "none"], "q2.2", "assoc-recall N=2 K=3 V=2 dist=distinct"),
    ("seqcomp", "linear:phi=identity:norm=0,full", ["--positions", "learned"], "q3.1",
     "seqcomp L=2 N0=2 n=2 V=2 flat=0 order=last form=position dist=uniform"),
    ("seqpair", "retnet", ["--positions", "none"], "q2.1", "seqcomp L=3 N0=2 n=1,2 V=2 flat=1 order=first form=pair dist=uniform"),
    ("seqone", "full", ["--positions", "none"], "q4.2", "seqcomp L=1 N0=3 n= V=2 flat=0 order=last form=position dist=uniform"),
    ("wide", "full,gdelta", ["--positions", "learned", "--mlp", "gelu", "--norm", "rms"], "q6.40", EVA),
    ("e11", "full,kda", ["--positions", "learned", "--mlp", "swiglu", "--norm", "layer"], "e11m25", EVA),
    ("f32", "window:W=3,loglinear", ["--positions", "rotary", "--mlp", "gelu", "--norm", "rms"], "f32", EVA),
    ("bf16", "gla,mamba2", ["--positions", "rotary", "--norm", "layer"], "bf16", EVA),
    ("stored", "linear:norm=0", ["--positions", "none"], "weights=e5m2,act=e4m3,acc=e5m6,state=e2m1,cache=e3m2,gate=e3m2,beta=e3m2", EVA),
    ("scales", "retnet@2|window:W=1@1", ["--positions", "none"],
     "weights=int8/row,act=e3m2,acc=f32,state=int4/row*e8m0,cache=e2m1fn/2*bf16,gate=f32,beta=f32", EVA),
    ("chance", "gdelta:conv=2", ["--positions", "none"],
     "weights=f32,act=e3m2,acc=f32,state=e2m1,cache=f32,gate=bf16,beta=e3m2,round=stochastic,seed=5", EVA),
    ("chunkend", "kda:unit=1", ["--positions", "none", "--norm", "rms"],
     "weights=bf16,act=e3m2,acc=f32,state=e3m1,cache=bf16,gate=f32,beta=bf16,chunk=3", EVA),
    ("inchunk", "delta", ["--positions", "none"],
     "weights=e3m2,act=e3m2,acc=e3m3,state=e2m1,cache=e3m2,gate=e3m2,beta=e2m1,chunk=2,round=stochastic,seed=0", EVA),
    ("fp8", "full,mamba2", ["--positions", "learned"], "weights=mxfp8,act=bf16,acc=f32,state=bf16,cache=e4m3fn,gate=f32,beta=bf16", EVA),
]
ALL_KINDS = ["wrong-answer", "state-collision", "view-collision", "block-collision"]
WANTED = {name: set(ALL_KINDS[:3]) for name, *_ in MODELS}
for _name in ("wide", "e11", "f32", "bf16", "seqone", "fp8"):
    WANTED[_name] = {"wrong-answer"}
for _name in ("full", "deep", "seqcomp"):
    WANTED[_name] = {"wrong-answer", "view-collision"}
for _name in ("sparse", "nsa"):
    WANTED[_name] = {"wrong-answer", "view-collision", "block-collision"}


def line(word, values):
    return word + " " + " ".join(map(str, values))


def groups(rows, key):
    found = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found.values()


def candidates(rows, kind, equal_answers=False):
    """Lines after `task` of what may be a certificate; a row is (prompt, right, what was computed)."""
    position = len(rows[0][0]) - 1
    if kind == "wrong-answer":
        for prompt, right, got in rows:
            given = got["readout"].index(max(got["readout"]))
            if given != right:
                yield [line("prompt", prompt), f"position {position}", f"right {right}", f"given {given}"]
        return
    field = "prefix" if kind == "state-collision" else "packed"
    for same in groups(rows, lambda row: (row[0][-1], row[2][field])):
        for a in same:
            for b in same:
                if (a[1] == b[1]) != equal_answers or a[0] == b[0]:
                    continue
                lines = [line("prompt", a[0]), line("prompt", b[0])]
                ask = [f"position {position}", f"right {a[1]} {b[1]}"]
                if kind == "state-collision":
                    yield [*lines, f"prefix {position}", *ask, "state " + a[2]["prefix"]]
                elif kind == "view-collision":
                    yield [*lines, *ask, "view " + a[2]["packed"]]
                else:
                    for block in range(len(a[0]) // 2):
                        summary = a[2]["block", 0, block]
                        yield [*lines, *ask, "layer 0", f"block {block}", "summary " + summary, "view " + a[2]["packed"]]


def find(name, path, arch, numbers, task, digest, rng):
    rows = [(p, right, got) for (p, right), got in zip(*with_dump(path, numbers, oracles.prompts(task, rng))) if "rejected" not in got]
    found = {}
    for kind in sorted(WANTED[name]):
        texts = []
        for lines in candidates(rows, kind) if rows else []:
            texts.append(models.certificate(kind, digest, arch, numbers, task, *lines))
            if len(texts) == 3000:
                break
        good = [text for text, (code, _) in zip(texts, models.judge(path, texts)) if code == 10]
        if not good:
            return None
        found[kind] = good[len(good) // 2]
    return found


def with_dump(path, numbers, prompts):
    return prompts, models.dump(path, numbers, [p for p, _ in prompts])


def make_model(name, arch, options, numbers, task):
    path = models.fixtures / "models" / (name + ".safetensors")
    for seed in range(300):
        rng = random.Random(f"{name} {seed}")
        models.build_random(path, arch, task, *SMALL, *options, "--seed", str(seed))
        digest = models.write(path, *models.change(*models.read(path), rng, scale=rng.choice([0.4, 0.8, 1.5]), identity=False))
        found = find(name, path, arch, numbers, task, digest, rng)
        if found:
            return found
    sys.exit(f"{name}: nothing found")


def near_miss(name, kind, reason, equal_answers=False):
    """A candidate on a stored model for which everything holds but one thing."""
    path = models.fixtures / "models" / (name + ".safetensors")
    _, arch, _, numbers, task = next(row for row in MODELS if row[0] == name)
    digest = models.hashlib.sha256(path.read_bytes()).hexdigest()
    pairs = zip(*with_dump(path, numbers, oracles.prompts(task, random.Random(0))))
    rows = [(p, right, got) for (p, right), got in pairs if "rejected" not in got]
    texts = [models.certificate(kind, digest, arch, numbers, task, *lines) for lines in candidates(rows, kind, equal_answers)]
    return next(text for text, (_, said) in zip(texts, models.judge(path, texts)) if reason in said)


def spoil(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


def line_of(text, word):
    return next(x for x in text.split("\n") if x.startswith(word + " "))


def rejected(accepted):
    """(file name, text) of certificates that keep the grammar and say something untrue."""
    for name, kind, change in [
        ("full", "wrong-answer", lambda t: spoil(t, line_of(t, "given"), line_of(t, "right").replace("right", "given"))),
        ("full", "wrong-answer", lambda t: spoil(t, line_of(t, "given"), "given 7")),
        ("full", "wrong-answer", lambda t: spoil(t, line_of(t, "right"), "right 7")),
        ("full", "wrong-answer", lambda t: spoil(t, "position 3", "position 2")),
        ("full", "wrong-answer", lambda t: spoil(t, "numbers e3m2", "numbers e2m1")),
        ("full", "wrong-answer", lambda t: spoil(t, "arch full", "arch window")),
        ("full", "wrong-answer", lambda t: spoil(t, "N=3 V=2 K=3", "N=3 V=3 K=3")),
        ("full", "wrong-answer", lambda t: spoil(t, "N=3 V=2 K=3", "N=2 V=3 K=2")),
        ("full", "wrong-answer", lambda t: spoil(t, "task eva", "task parity")),
        ("full", "wrong-answer", lambda t: spoil(t, "dist=uniform", "dist=uniform more=1")),
        ("full", "wrong-answer", lambda t: spoil(t, "dist=uniform", "dist=hard")),
        ("index", "wrong-answer", lambda t: spoil(t, "dist=uniform", "dist=zipf")),
        ("full", "wrong-answer", lambda t: spoil(t, "model ", "model 0")[: t.index("model ") + 70] + t[t.index("\narch") :]),
        ("full", "view-collision", lambda t: spoil(t, line_of(t, "view"), line_of(t, "view")[:-1])),
        ("full", "view-collision", lambda t: spoil(t, line_of(t, "view"), line_of(t, "view") + "0")),
        ("full", "view-collision", lambda t: spoil(t, line_of(t, "view"), "view " + "0" * 5)),
        ("linear", "state-collision", lambda t: spoil(t, "prefix 3", "prefix 4")),
        ("linear", "state-collision", lambda t: spoil(t, "prefix 3", "prefix 1")),
        ("linear", "state-collision", lambda t: spoil(t, line_of(t, "state"), line_of(t, "state") + "00")),
        ("linear", "state-collision", lambda t: spoil(t, line_of(t, "state"), line_of(t, "state")[:-2])),
        ("retnet", "view-collision", lambda t: spoil(t, line_of(t, "right"), "right 0 0")),
        ("sparse", "block-collision", lambda t: spoil(t, "layer 0", "layer 1")),
        ("sparse", "block-collision", lambda t: spoil(t, line_of(t, "block"), "block 3")),
        ("sparse", "block-collision", lambda t: spoil(t, line_of(t, "summary"), "summary 00000000")),
        ("nsa", "block-collision", lambda t: spoil(t, line_of(t, "block"), "block 2")),
        ("pair", "wrong-answer", lambda t: spoil(t, line_of(t, "prompt"), "prompt 0 0 6")),
        ("pair", "wrong-answer", lambda t: spoil(t, line_of(t, "prompt"), "prompt 0 2 8")),
        ("recall", "wrong-answer", lambda t: spoil(t, line_of(t, "prompt"), "prompt 0 3 0 4 0")),
        ("recall", "wrong-answer", lambda t: spoil(t, line_of(t, "prompt"), "prompt 0 3 1 4 2")),
        ("recall", "wrong-answer", lambda t: spoil(t, "V=2", "V=1")),
        ("twosum", "wrong-answer", lambda t: spoil(t, line_of(t, "prompt"), "prompt 5 1 1 4")),
        ("twohard", "wrong-answer", lambda t: spoil(t, "M=7", "M=6")),
        ("seqpair", "wrong-answer", lambda t: spoil(t, "n=1,2", "n=1")),
        ("seqpair", "wrong-answer", lambda t: spoil(t, "n=1,2", "n=1,02")),
        ("seqpair", "wrong-answer", lambda t: spoil(t, "n=1,2", "n=16777216,16777216")),
        ("seqpair", "wrong-answer", lambda t: spoil(t, "V=2", "V=1")),
        ("seqone", "wrong-answer", lambda t: spoil(t, "n= ", "n=1 ")),
        ("seqone", "wrong-answer", lambda t: spoil(t, "dist=uniform", "dist=identity")),
    ]:
        text = change(accepted[name, kind])
        (_, reason), = models.judge(models.fixtures / "models" / (name + ".safetensors"), [text])
        yield f"{name}.{models.slug(reason)}.cert", text


def malformed(text):
    """What breaks the grammar, from an accepted state-collision."""
    yield "empty", ""
    yield "no-newline", text[:-1]
    yield "crlf", text.replace("\n", "\r\n")
    yield "empty-line", text.replace("\nkind", "\n\nkind")
    yield "after-end", text + "x\n"
    yield "version", text.replace("rung-certificate 1", "rung-certificate 2")
    yield "kind", text.replace("state-collision", "mind-collision")
    yield "digest-short", spoil(text, line_of(text, "model"), line_of(text, "model")[:-1])
    yield "digest-upper", spoil(text, line_of(text, "model"), "model " + "A" * 64)
    yield "two-spaces", text.replace("position ", "position  ")
    yield "trailing-space", text.replace("\nposition", " \nposition")
    yield "leading-space", text.replace("\nposition", "\n position")
    yield "tab", text.replace("position ", "position\t")
    yield "leading-zero", text.replace("prefix 3", "prefix 03")
    yield "sign", text.replace("prefix 3", "prefix +3")
    yield "too-large", text.replace("prefix 3", "prefix 1234567890123456789")
    yield "too-large-by-one", text.replace("prefix 3", "prefix 2147483648")
    yield "task-word", text.replace(" dist=uniform", " dist")
    yield "task-key", text.replace(" dist=uniform", " =uniform")
    yield "two-numbers", text.replace("prefix 3", "prefix 3 4")
    yield "missing-value", text.replace("prefix 3", "prefix")
    yield "order", text.replace("prefix 3\nposition 3", "position 3\nprefix 3")
    yield "twice", text.replace("prefix 3\n", "prefix 3\nprefix 3\n")
    yield "one-right", spoil(text, line_of(text, "right"), "right 0")
    yield "three-right", spoil(text, line_of(text, "right"), "right 0 1 0")
    yield "format", spoil(text, line_of(text, "numbers"), "numbers e8m23")
    yield "unequal-prompts", spoil(text, line_of(text, "prompt"), "prompt 0 1 2")
    yield "token-too-large", spoil(text, line_of(text, "prompt"), "prompt 0 1 0 4294967296")
    yield "hex-upper", spoil(text, line_of(text, "state"), line_of(text, "state") + "A")
    yield "not-ascii", text.replace("arch linear", "arch linéar")
    yield "cut", text[: len(text) // 2]


def malformed_mixture(text):
    """What breaks 3.5, from an accepted certificate in chunks of three tokens."""
    yield "version-1", text.replace("rung-certificate 2", "rung-certificate 1")
    yield "version-3", text.replace("rung-certificate 2", "rung-certificate 3")
    yield "order", text.replace("state=e3m1,cache=bf16", "cache=bf16,state=e3m1")
    yield "scale-in-act", text.replace("act=e3m2", "act=int8/row")
    yield "no-scale", text.replace("state=e3m1", "state=int8")
    yield "acc-too-narrow", text.replace("acc=f32", "acc=bf16").replace("gate=f32", "gate=e8m8")
    yield "long-name", text.replace("state=e3m1", "state=e4m3fn/32*e8m0")
    yield "scale-f32", text.replace("state=e3m1", "state=int8/row*f32")
    for chunk in ("1", "03", "1048577", "", "x", "-3"):
        yield "chunk-" + (chunk or "none"), text.replace("chunk=3", "chunk=" + chunk)
    yield "chunk-twice", text.replace("chunk=3", "chunk=3,chunk=3")
    yield "chunk-of-acc", text.replace("state=e3m1", "state=f32")
    yield "chunk-after-seed", text.replace("chunk=3", "round=stochastic,seed=1,chunk=3")
    yield "seed-alone", text.replace("chunk=3", "seed=1")
    yield "seed-too-large", text.replace("chunk=3", "round=stochastic,seed=9007199254740992")
    yield "comma", text.replace("chunk=3", "chunk=3,")
    yield "one-format", text.replace(line_of(text, "numbers"), "numbers " + ",".join(q + "=f32" for q in QUANTITIES))


QUANTITIES = ["weights", "act", "acc", "state", "cache", "gate", "beta"]


def write_malformed(name, texts):
    for reason, text in texts:
        (models.fixtures / "malformed" / f"{name}.{reason}.cert").write_text(text, newline="")


def some(names):
    for name, arch, options, numbers, task in MODELS:
        for kind, text in make_model(name, arch, options, numbers, task).items() if name in names else ():
            (models.fixtures / "accept" / f"{name}.{kind}.cert").write_text(text)
    write_malformed("chunkend", malformed_mixture((models.fixtures / "accept" / "chunkend.state-collision.cert").read_text()))


def main():
    if len(sys.argv) > 1:
        some(sys.argv[1:])
        return
    for folder in ("models", "accept", "reject", "malformed"):
        shutil.rmtree(models.fixtures / folder, ignore_errors=True)
        (models.fixtures / folder).mkdir()
    accepted = {}
    for name, arch, options, numbers, task in MODELS:
        for kind, text in make_model(name, arch, options, numbers, task).items():
            accepted[name, kind] = text
            (models.fixtures / "accept" / f"{name}.{kind}.cert").write_text(text)
        print(name, flush=True)
    for name, kind, reason, equal in [
        ("linear", "state-collision", "right answers are equal", True),
        ("full", "view-collision", "right answers are equal", True),
        ("sparse", "block-collision", "opens it", False),
        ("nsa", "block-collision", "opens it", False),
    ]:
        text = near_miss(name, kind, reason, equal)
        (models.fixtures / "reject" / f"{name}.{models.slug(models.judge(models.fixtures / 'models' / (name + '.safetensors'), [text])[0][1])}.cert").write_text(text)
    for name, text in rejected(accepted):  # the name holds the reason
        (models.fixtures / "reject" / name).write_text(text)
    write_malformed("linear", malformed(accepted["linear", "state-collision"]))
    write_malformed("chunkend", malformed_mixture(accepted["chunkend", "state-collision"]))


main()
