# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# rung-check on the stored certificates (accept, reject, malformed), on damaged models, and on mutants: each word of every accepted
# certificate is changed in several ways, and what is still accepted must be another true statement. Truth is found out with
# rung and with the oracles of oracles.py, not with the checker.
import itertools
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import models
import oracles
import rung

passed = 0


def expect(holds, message):
    global passed
    if not holds:
        sys.exit("FAILED: " + message)
    passed += 1


def model_of(path):
    return models.fixtures / "models" / (path.name.split(".")[0] + ".safetensors")


def stored(folder):
    found = sorted((models.fixtures / folder).glob("*.cert"))
    expect(len(found) > 20, f"{folder} is nearly empty")
    return found


# ---- the stored certificates ------------------------------------------------------------------------------------------------


def test_accept():
    fixtures = models.fixtures.parent / "cert"
    pairs = [(path, model_of(path)) for path in stored("accept")]
    pairs += [(path, fixtures / (path.stem.split("-")[0] + ".safetensors")) for path in sorted(fixtures.glob("*.cert"))]
    for path, model in pairs:
        code, said = models.check(path, model)
        expect(code == 10, f"{path}: {code} {said}")
        for line in path.read_text().splitlines():
            word, _, rest = line.partition(" ")
            if word in ("model", "arch", "numbers", "task", "prompt", "state", "view", "summary"):
                expect(rest in said, f"{path}: '{word}' is not in the statement: {said}")
        expect("follows" in said and said.startswith("accepted: "), f"{path}: {said}")


def test_reject():
    for path in stored("reject"):
        code, said = models.check(path, model_of(path))
        expect(code == 20, f"{path}: {code} {said}")
        expect(models.slug(said.removeprefix("rejected: ")) == path.name.split(".")[1], f"{path}: another reason: {said}")


def test_malformed():
    for path in stored("malformed"):
        code, said = models.check(path, model_of(path))
        expect(code == 3 and said.startswith("malformed: line "), f"{path}: {code} {said}")


# ---- mutants --------------------------------------------------------------------------------------------------------------------


def mutants_of_word(word):
    yield ""
    yield word + word
    yield word + " " + word
    yield word + "0"
    yield "0" + word
    yield word[:-1]
    yield word[1:]
    yield word.upper() if word.upper() != word else word.lower()
    yield "-" + word
    yield word.swapcase()
    if word.isdigit():
        for delta in (-2, -1, 1, 2, 100, 2**31, 2**62):
            if int(word) + delta >= 0:
                yield str(int(word) + delta)
    if "=" in word:
        key, _, value = word.partition("=")
        for other in ("0", "1", "2", "3", "4", "pair", "position", "hard", "zipf", "uniform", "first", "last", "distinct", "identity", "1,1", ""):
            yield key + "=" + other
        yield value + "=" + key
    if len(word) > 1 and all(c in "0123456789abcdef" for c in word):
        for at in range(min(len(word), 24)):
            digit = format(int(word[at], 16) ^ (1 << at % 4), "x")
            yield word[:at] + digit + word[at + 1 :]
    for other in ("wrong-answer", "state-collision", "view-collision", "block-collision", "f32", "e2m1", "q1.1", "full", "linear"):
        yield other


def mutants(text):
    lines = text.split("\n")[:-1]
    for i, line in enumerate(lines):
        words = line.split(" ")
        for j, word in enumerate(words):
            for other in mutants_of_word(word):
                yield "\n".join(lines[:i] + [" ".join(words[:j] + [other] + words[j + 1 :])] + lines[i + 1 :]) + "\n"
        yield "\n".join(lines[:i] + lines[i + 1 :]) + "\n"
        yield "\n".join(lines[: i + 1] + lines[i:]) + "\n"
        if i:
            yield "\n".join(lines[: i - 1] + [line, lines[i - 1]] + lines[i + 1 :]) + "\n"


class Truth:
    """Is a statement true, as far as rung can tell? The copy of the model with the identity as its read-out shows the view."""

    def __init__(self, path, scratch):
        self.real = rung.Model(path)
        metadata, tensors = models.read(path)
        config = json.loads(metadata["rung.config"])
        d = config["d_model"]
        config["answers"] = d
        metadata.update({"rung.config": json.dumps(config), "rung.task": ""})
        tensors.pop("readout.bias", None)
        tensors["readout.weight"] = ("F32", [d, d], [float(i == j) for i in range(d) for j in range(d)])
        models.write(scratch, metadata, tensors)
        self.shown = rung.Model(scratch)
        self.vocab = config["vocab"]

    def view(self, prompt, numbers):
        try:
            return list(self.shown.run(prompt, numbers=numbers)[0])
        except rung.Error:  # a NaN after the prefix; it comes up in both prompts or in none
            return None

    def holds(self, text):
        c = models.parse_certificate(text)
        right = [int(x) for x in c["right"].split()]
        if [oracles.answer(c["task"], p) for p in c["prompt"]] != right or int(c["position"]) != len(c["prompt"][0]) - 1:
            return False
        if c["kind"] == "wrong-answer":
            y = list(self.real.run(c["prompt"][0], numbers=c["numbers"])[0])
            return y.index(max(y)) == int(c["given"]) != right[0]
        a, b = c["prompt"]
        if right[0] == right[1] or a == b:
            return False
        if c["kind"] == "state-collision":  # whatever comes next, the views agree
            cut = int(c["prefix"])
            return cut < len(a) and a[cut:] == b[cut:] and all(
                self.view(a[:cut] + [x], c["numbers"]) == self.view(b[:cut] + [x], c["numbers"]) for x in range(self.vocab))
        return a[-1] == b[-1] and self.view(a, c["numbers"]) == self.view(b, c["numbers"])


def test_mutants(scratch):
    tried = others = 0
    for path in stored("accept"):
        original = path.read_text()
        texts = sorted(set(mutants(original)) - {original})
        tried += len(texts)
        truth = None
        for text, (code, said) in zip(texts, models.judge(model_of(path), texts)):
            expect(code in (3, 10, 20), f"{path}: {code} {said} for\n{text}")
            if code != 10:
                continue
            truth = truth or Truth(model_of(path), scratch / "shown.safetensors")
            expect(truth.holds(text), f"{path}: accepted, and not true:\n{text}")
            others += 1
    expect(tried > 10000 and others > 0, f"{tried} mutants, {others} accepted")
    print(f"{tried} mutants, {others} of them other true statements")


# ---- damaged models -----------------------------------------------------------------------------------------------------------


class Damage:
    """A certificate whose digest is that of the damaged model, so that it is the model that is refused."""

    def __init__(self, scratch):
        self.scratch, self.serial = scratch, 0

    def refuse(self, raw, reason, base="full.wrong-answer", edit=lambda text: text, code=20):
        path = self.scratch / "damaged.safetensors"
        path.write_bytes(raw)
        lines = (models.fixtures / "accept" / (base + ".cert")).read_text().split("\n")
        lines[2] = "model " + models.hashlib.sha256(raw).hexdigest()
        cert = self.scratch / "damaged.cert"
        cert.write_text(edit("\n".join(lines)))
        got, said = models.check(cert, path)
        expect(got == code and reason in said, f"{reason!r} expected: {got} {said}")


def raw_file(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_damaged_files(damage):
    t = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    meta = {"rung.format": "rung.model/1", "rung.arch": "full"}
    for raw, reason in [
        (b"", "shorter than the length"),
        (struct.pack("<Q", 9) + b"{}", "longer than the file"),
        (struct.pack("<Q", 1 << 60) + b"{}", "longer than the file"),
        (raw_file(b""), "does not begin with '{'"),
        (raw_file(b" {}"), "does not begin with '{'"),
        (raw_file(b"{} x"), "something follows"),
        (raw_file(b"{}"), "no '__metadata__'"),
        (raw_file(b"{} \n\t\r"), "no '__metadata__'"),
        (raw_file(b"{"), "a key expected"),
        (raw_file(b'{"a"'), "':' expected"),
        (raw_file(b'{"__metadata__":{"a":'), "a value expected"),
        (raw_file(b'{"__metadata__":{"a":1'), "',' or the end"),
        (raw_file(b'{"__metadata__":{"a":1,"a":2}}'), "comes twice"),
        (raw_file(b'{"__metadata__":{"a":1,"\\u0061":2}}'), "comes twice"),
        (raw_file(b'{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"\\u0061":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"__metadata__":{}}'), "comes twice"),
        (raw_file(b'{"__metadata__":{},"__metadata__":{}}'), "comes twice"),
        (raw_file(b'{"a":1}'), "no object"),
        (raw_file(b'{"a":[1]}'), "no object"),
        (raw_file(b'{"a":"'), "no object"),
        (raw_file(b'{"__metadata__":{"a":[1,2,3,4,5,6,7,8,9]}}'), "more than 8 elements"),
        (raw_file(b'{"a'), "does not end"),
        (raw_file(b'{"a\\'), "does not end"),
        (raw_file(b'{"a\\"'), "does not end"),
        (raw_file(b'{"\\x":1}'), "unknown escape"),
        (raw_file(b'{"\\u12g4":1}'), "four hexadecimal digits"),
        (raw_file(b'{"\\u0000":1}'), "NUL"),
        (raw_file(b'{"\\ud800":1}'), "surrogate"),
        (raw_file(b'{"\\ud800\\u0041":1}'), "surrogate"),
        (raw_file(b'{"\\udc00":1}'), "surrogate"),
        (raw_file(b'{"\\ud83d\\ude00\\u00e9\\u20ac\\n\\/":{}}'), "exactly dtype, shape and data_offsets"),
        (raw_file('{"é€😀":{}}'.encode()), "exactly dtype, shape and data_offsets"),
        (raw_file(b'{"\x01":1}'), "control character"),
        (raw_file(b'{"\xc3":1}'), "UTF-8"),
        (raw_file(b'{"\xff":1}'), "UTF-8"),
        (raw_file(b'{"\xc0\x80":1}'), "UTF-8"),
        (raw_file(b'{"\xe0\x80\x80":1}'), "UTF-8"),
        (raw_file(b'{"\xed\xa0\x80":1}'), "UTF-8"),
        (raw_file(b'{"\xf4\x90\x80\x80":1}'), "UTF-8"),
        (raw_file(b'{"__metadata__":{"a":-1}}'), "a value expected"),
        (raw_file(b'{"__metadata__":{"a":01}}'), "leading zeros"),
        (raw_file(b'{"__metadata__":{"a":1.5}}'), "not written as a whole one"),
        (raw_file(b'{"__metadata__":{"a":99999999999999999999}}'), "too large"),
        (raw_file(b'{"__metadata__":{"a":nul}}'), "a value expected"),
        (raw_file(b'{"__metadata__":{"a":[true,false,null]}}'), "something else than strings"),
        (raw_file(b'{"__metadata__":{"a":' + b"[" * 60 + b"]" * 60 + b"}}"), "nested too deep"),
        (raw_file(b"{}".replace(b"}", b'"__metadata__":[]}')), "is no object"),
        (raw_file({"__metadata__": {"a": 1}}), "else than strings"),
        (raw_file({"__metadata__": {}}), "'rung.format' is missing"),
        (raw_file({"__metadata__": {"rung.format": "rung.model/2"}}), "not rung.model/1"),
        (raw_file({"__metadata__": {"rung.format": "rung.model/1"}}), "'rung.arch' is missing"),
        (raw_file({"__metadata__": meta}), "'rung.config' is missing"),
        (raw_file({"__metadata__": meta, "w": dict(t, dtype="F31")}, b"1234"), "not for weights"),
        (raw_file({"__metadata__": meta, "w\naccepted: \x1b[2K\x7f\xe9": dict(t, dtype="F31")}, b"1234"), "tensor 'w?accepted: ?[2K???'"),
        (raw_file({"__metadata__": meta, "w": dict(t, dtype=4)}, b"1234"), "'dtype' is missing"),
        (raw_file({"__metadata__": meta, "w": dict(t, shape=[1] * 9)}, b"1234"), "more than 8 elements"),
        (raw_file({"__metadata__": meta, "w": dict(t, shape=["1"])}, b"1234"), "whole numbers"),
        (raw_file({"__metadata__": meta, "w": dict(t, shape=[2])}, b"1234"), "do not fit"),
        (raw_file({"__metadata__": meta, "w": dict(t, shape=[1 << 40, 1 << 40])}, b"1234"), "absurd"),
        (raw_file({"__metadata__": meta, "w": dict(t, data_offsets=[4, 0])}, b"1234"), "do not fit"),
        (raw_file({"__metadata__": meta, "w": dict(t, data_offsets=[0, 4, 8])}, b"1234"), "exactly dtype"),
        (raw_file({"__metadata__": meta, "w": t}, b"123"), "tile the data"),
        (raw_file({"__metadata__": meta, "w": t}, b"12345"), "1 bytes follow"),
        (raw_file({"__metadata__": meta, "w": t, "v": t}, b"1234"), "tile the data"),
        (raw_file({"__metadata__": meta, "w": dict(t, data_offsets=[4, 8])}, b"12345678"), "tile the data"),
        (raw_file({"__metadata__": meta, "w": t, "v": dict(t, shape=[0], data_offsets=[4, 4]), "u": dict(t, shape=[0], data_offsets=[4, 4])}, b"1234"),
         "'rung.config' is missing"),
    ]:
        damage.refuse(raw, reason)


def rewritten(name, arch=None, config=None, tensors=None):
    metadata, old = models.read(models.fixtures / "models" / (name + ".safetensors"))
    settings = json.loads(metadata["rung.config"])
    for key, value in (config or {}).items():
        if value is None:
            settings.pop(key)
        else:
            settings[key] = value
    metadata["rung.config"] = json.dumps(settings)
    if arch is not None:
        metadata["rung.arch"] = arch
    for key, value in (tensors or {}).items():
        if value is None:
            old.pop(key, None)
        else:
            old[key] = value
    path = pathlib.Path(tempfile.gettempdir()) / f"rung-check-{models.os.getpid()}.safetensors"
    models.write(path, metadata, old)
    raw = path.read_bytes()
    path.unlink()
    return raw


def test_configurations(damage):
    for config, reason in [
        ({"vocab": None}, "'vocab' is missing"),
        ({"vocab": 0}, "'vocab' is missing or out of range"),
        ({"vocab": "5"}, "'vocab' is missing or out of range"),
        ({"answers": 2**31 + 1}, "'answers' is missing or out of range"),
        ({"d_in": 3}, "features"),
        ({"thoughts": 3}, "thoughts"),
        ({"causal": False}, "causal"),
        ({"causal": None}, "causal"),
        ({"more": 1}, "not known"),
        ({"mlp": "silu"}, "unknown mlp"),
        ({"mlp": "none,none"}, "one for each layer"),
        ({"mlp": 1}, "'mlp' is missing"),
        ({"mlp": "relu", "d_mlp": 0}, "d_mlp"),
        ({"norm": "batch"}, "unknown norm"),
        ({"positions": "alibi"}, "unknown positions"),
        ({"positions": "rotary", "dk": 1}, "and even"),
        ({"heads": 65537}, "out of range"),
        ({"d_model": 2**31, "vocab": 2**31}, "shape ["),
        ({"max_tokens": 3, "positions": "none"}, "has no place"),
        ({"mlp": "table"}, "mlp.keys"),
    ]:
        damage.refuse(rewritten("full", config=config), reason)
    damage.refuse(rewritten("full", config={"thoughts": None}), "accepted", code=10)
    damage.refuse(rewritten("window", config={"dk": 3}), "and even", base="window.wrong-answer")
    long = rewritten("full", config={"max_tokens": 3}, tensors={"positions": ("F32", [3, 3], [0.0] * 9)})
    damage.refuse(long, "longer than the model's positions")


def test_architectures(damage):
    for arch, reason in [
        ("ful", "cannot be certified"),
        ("mamba", "cannot be certified"),
        ("full,", "expected"),
        ("full,,full", "expected"),
        ("(full", "')' expected"),
        ("full)", "something follows"),
        ("3full", "whole number"),
        ("3 full", "'*' expected"),
        ("0*full", "out of range"),
        ("65537*full", "out of range"),
        ("99999999999999999999999*full", "out of range"),
        ("65536*(full,full)", "65536 layers"),
        ("(" * 40 + "full" + ")" * 40, "too deep"),
        ("full|full", "@heads"),
        ("|".join(["full@1"] * 9), "8 groups"),
        ("full@0", "out of range"),
        ("full@x", "whole number"),
        ("full:dk", "'=' expected"),
        ("full:dk=", "1 to 63"),
        ("full:dk=" + "1" * 64, "1 to 63"),
        ("full:dk=1:dk=1", "twice"),
        ("full:dk=x", "whole number"),
        ("full:dk=0", "out of range"),
        ("full:W=1", "unknown key"),
        ("linear:phi=elu", "unknown value"),
        ("linear:phi=taylor2:dk=1025", "1024"),
        ("sparse:comp=mlp", "mean"),
        ("sparse:W=3", "nsa"),
        ("full:gate=1", "gate.weight' is missing"),
        ("full:conv=2", "conv' is missing"),
        ("retnet", "g.A' is missing"),
        ("full, full", "is missing"),
    ]:
        damage.refuse(rewritten("full", arch=arch), reason, edit=lambda text: text.replace("arch full", "arch " + arch))
    spaced = "1 * ( full : dk = 002 : dv = 2 @ 1 )"
    damage.refuse(rewritten("full", arch=spaced), "accepted", edit=lambda text: text.replace("arch full", "arch " + spaced), code=10)
    damage.refuse(rewritten("window", config={"dk": 4}), "shape [", base="window.wrong-answer")
    damage.refuse(rewritten("window", arch="window:W=2:dk=4"), "rotary", base="window.wrong-answer",
                  edit=lambda text: text.replace("arch window:W=2", "arch window:W=2:dk=4"))


def test_tensors(damage):
    d = 3
    for tensors, reason in [
        ({"embed.weight": None}, "'embed.weight' is missing"),
        ({"embed.weight": ("F32", [5, 2], [0.0] * 10)}, "shape [5,3] expected"),
        ({"embed.weight": ("F32", [15], [0.0] * 15)}, "shape [5,3] expected"),
        ({"embed.weight": ("F32", [5, d], [float("nan")] * 15)}, "not a number"),
        ({"embed.weight": ("F32", [5, d], [float("inf")] * 15)}, "not a number"),
        ({"embed.weight": ("I64", [5, d], [2**53 + 1] * 15)}, "beyond 2^53"),
        ({"embed.weight": ("I64", [5, d], [-(2**53) - 1] * 15)}, "beyond 2^53"),
        ({"embed.weight": ("U64", [5, d], [2**63] * 15)}, "beyond 2^63"),
        ({"extra": ("F32", [1], [0.0])}, "has no place"),
        ({"readout.bias": ("F32", [1], [0.0])}, "shape [2] expected"),
        ({"embed.bias": ("F32", [d], [0.0] * d)}, "has no place"),
    ]:
        damage.refuse(rewritten("full", tensors=tensors), reason)
    kinds = [("U8", [1] * 15), ("U16", [1] * 15), ("U32", [1] * 15), ("U64", [1] * 15), ("I16", [-1] * 15), ("I32", [-1] * 15), ("I8", [-1] * 15),
             ("F16", [float("inf")] * 15), ("F16", [float("nan")] * 15), ("F16", [1e-7] * 15), ("F64", [1e300] * 15)]
    for dtype, values in kinds:  # some statement about another model: no crash, an answer
        raw = rewritten("full", tensors={"embed.weight": (dtype, [5, 3], values)})
        path = damage.scratch / "other.safetensors"
        path.write_bytes(raw)
        text = (models.fixtures / "accept" / "full.wrong-answer.cert").read_text().split("\n")
        text[2] = "model " + models.hashlib.sha256(raw).hexdigest()
        (damage.scratch / "other.cert").write_text("\n".join(text))
        expect(models.check(damage.scratch / "other.cert", path)[0] in (10, 20), dtype)


def table_tensors(keys, key_coords, values, out_coords, dtype="F32"):
    return {"layers.0.mlp.keys": (dtype, [len(keys), len(keys[0])], [x for row in keys for x in row]),
            "layers.0.mlp.key_coords": ("I64", [len(key_coords)], key_coords),
            "layers.0.mlp.values": ("F32", [len(values), len(values[0])], [x for row in values for x in row]),
            "layers.0.mlp.out_coords": ("U8", [len(out_coords)], out_coords)}


def test_tables(damage):
    def table(reason, *arguments, code=20, change=None, **options):
        tensors = table_tensors(*arguments, **options)
        tensors.update(change or {})
        damage.refuse(rewritten("full", config={"mlp": "table"}, tensors=tensors), reason, code=code)

    everything = [[k] for k in range(-70, 70)]
    zeros = [[0.0]] * 140
    other = [[-9.0, 9.0]] * 140  # for out coordinates 0 and 1
    table("does not have the key", [[1000]], [0], [[0.0]], [0])
    table("key twice", [[1], [2], [1]], [0], [[0.0]] * 3, [0])
    table("not whole", [[0.5]], [0], [[0.0]], [0])
    table("not whole", [[float("nan")]], [0], [[0.0]], [0])
    table("no coordinate", [[1]], [3], [[0.0]], [0])
    table("no coordinate", [[1]], [-1], [[0.0]], [0])
    table("comes twice", [[1, 1]], [2, 2], [[0.0]], [0])
    table("comes twice", [[1]], [2], [[0.0, 0.0]], [1, 1])
    table("shape [140,1] expected", everything, [0], [[0.0]], [0])
    table("shape [1] expected", everything, [0, 1], zeros, [0])
    table("1 to 16 columns", [[1] * 17], [0], [[0.0]], [0])
    table("is missing", everything, [0], zeros, [0], change={"layers.0.mlp.key_coords": None})
    table("is missing", everything, [0], zeros, [0], change={"layers.0.mlp.out_coords": None})
    raw = rewritten("full", config={"mlp": "table"}, tensors=table_tensors(everything, [0], other, [0, 1], dtype="I16"))
    path = damage.scratch / "table.safetensors"
    path.write_bytes(raw)
    numbers = models.parse_certificate((models.fixtures / "accept" / "full.wrong-answer.cert").read_text())["numbers"]
    seen = models.dump(path, numbers, [[0, 1, 0, 2], [1, 1, 0, 3]])
    for prompt, ours in zip([[0, 1, 0, 2], [1, 1, 0, 3]], seen):
        expect(ours["view"][:2] == [-8.0, 8.0], "the values of a table are rounded and assigned")
        expect(list(rung.Model(path).run(prompt, numbers=numbers)[0]) == ours["readout"], "rung and the checker disagree on a table")
    prompts = [list(p) for p, _ in oracles.prompts("eva N=3 V=2 K=3 form=position dist=uniform", None)]
    answers = [x["readout"].index(max(x["readout"])) if "readout" in x else p[p[3] - 2] for p, x in zip(prompts, models.dump(path, numbers, prompts))]
    prompt, given = next((p, a) for p, a in zip(prompts, answers) if a != p[p[3] - 2])
    damage.refuse(raw, "accepted", code=10, edit=lambda text: text[: text.index("prompt")] + models.lines_of(prompt, given))


def test_other_claims(damage):
    """What the stored certificates do not say."""
    reaching = "sparse:B=2:k=1:branches=nsa:W=7:own=0"
    damage.refuse(rewritten("nsa", arch=reaching), "window of the last token reaches", base="nsa.block-collision",
                  edit=lambda text: text.replace("sparse:B=2:k=1:branches=nsa:W=1:own=0", reaching))
    own = (models.fixtures / "models" / "full.safetensors").read_bytes()
    damage.refuse(own, "3 tokens, and those of the task have 4", edit=lambda text: text[: text.index("prompt")] + models.lines_of([0, 1, 2], 0))
    padded = models.parse_certificate((models.fixtures / "accept" / "full.view-collision.cert").read_text())["view"]
    damage.refuse(own, "not filled up with zeros", base="full.view-collision",
                  edit=lambda text: text.replace("view " + padded, "view " + padded[:-1] + format(int(padded[-1], 16) ^ 1, "x")))
    damage.refuse(own + b"0" * (1 << 18), "bytes follow the last tensor")
    damage.refuse(own, "is not one group of sparse", base="full.view-collision",
                  edit=lambda text: text.replace("view-collision", "block-collision").replace("view ", "layer 0\nblock 0\nsummary 0\nview "))


def test_nan_that_is_only_carried(damage):
    """inf - inf in the state of the last layer, which nobody reads before the end of the prefix."""
    fixtures = models.fixtures.parent / "cert"
    metadata, tensors = models.read(fixtures / "swap.safetensors")
    tensors["embed.weight"] = ("F32", [4, 2], [240.0, 240.0, 240.0, -240.0, 1.0, 0.0, 1.0, 0.0])
    path = damage.scratch / "carried.safetensors"
    digest = models.write(path, metadata, tensors)
    text = (fixtures / "swap-state.cert").read_text().split("\n")
    text[2] = "model " + digest
    (code, said), = models.judge(path, ["\n".join(text)])
    expect(code == 20 and "not a number: state" in said, f"{code} {said}")


def test_blocks_with_the_last_token(damage):
    """One block of all seven tokens: the last token opens it, as its own or as the only one; last tokens must agree."""
    task = "eva N=6 V=2 K=6 form=position dist=uniform"
    prompts = [(list(bits) + [q], bits[q - 2]) for bits in itertools.product((0, 1), repeat=6) for q in range(2, 8)]
    for own in (0, 1):
        arch = f"sparse:B=7:k=1:own={own}"
        raw = rewritten("sparse", arch=arch)
        path = damage.scratch / "block.safetensors"
        path.write_bytes(raw)
        seen = set()
        for numbers in ("e3m2", "e3m1", "e2m1", "q2.1", "q2.0", "q1.0"):  # short enough for two prompts to look alike
            rows = [(p, right, x) for (p, right), x in zip(prompts, models.dump(path, numbers, [p for p, _ in prompts])) if "view" in x]
            for a, b in itertools.product(rows, rows):
                last = a[0][-1] == b[0][-1]
                if a[1] >= b[1] or last in seen or any(a[2][key] != b[2][key] for key in ("packed", ("block", 0, 0))):
                    continue
                seen.add(last)
                text = models.certificate("block-collision", models.hashlib.sha256(raw).hexdigest(), arch, numbers, task,
                                          "prompt " + " ".join(map(str, a[0])), "prompt " + " ".join(map(str, b[0])), "position 6",
                                          f"right {a[1]} {b[1]}", "layer 0", "block 0", "summary " + a[2]["block", 0, 0], "view " + a[2]["packed"])
                (code, said), = models.judge(path, [text])
                reason = "opens it" if last else "the prompts differ at token 6"
                expect(code == 20 and reason in said, f"own={own}: {reason!r} expected: {code} {said}")
        expect(seen == {True, False}, f"own={own}: no two prompts with the same view")


def test_sizes(damage):
    """Sizes that a small file can state are refused, not allocated."""
    big = "full:dv=1048576@65536"
    damage.refuse(rewritten("full", arch=big), "bytes of memory", edit=lambda text: text.replace("arch full", "arch " + big), code=3)
    for task in ("eva N=16777216 V=16777216 K=16777216 form=pair dist=uniform", "index N=67108864 V=1 dist=uniform",
                 "seqcomp L=16 N0=16777216 n=" + ",".join(["16777216"] * 15) + " V=2 flat=0 order=last form=pair dist=uniform",
                 "seqcomp L=2 N0=16777216 n=1 V=16777216 flat=0 order=last form=pair dist=uniform",
                 "seqcomp L=2 N0=2 n=33554432 V=2 flat=0 order=last form=pair dist=uniform",
                 "eva N=0 V=1 K=0 form=position dist=uniform", "eva N=01 V=1 K=1 form=position dist=uniform", "eva N=1 V= K=1 form=position dist=uniform",
                 "eva N=1 K=1 V=1 form=position dist=uniform", "eva N=x V=1 K=1 form=position dist=uniform", "eva", "eva N=2 V=2 K=1 form=pair dist=uniform",
                 "eva N=1234567890123456789 V=1 K=1 form=position dist=uniform", "two-sum N=2 M=3 form=global self=1 blank=0 dist=uniform",
                 "seqcomp L=3 N0=2 n=2 V=2 flat=0 order=last form=position dist=uniform"):
        text = (models.fixtures / "accept" / "full.wrong-answer.cert").read_text().split("\n")
        text[5] = "task " + task
        (damage.scratch / "task.cert").write_text("\n".join(text))
        code, said = models.check(damage.scratch / "task.cert", models.fixtures / "models" / "full.safetensors")
        expect(code == 20 and "task" in said, f"{task}: {code} {said}")


# ---- the command ----------------------------------------------------------------------------------------------------------------


def run(*arguments, **options):
    return subprocess.run([models.check_command, *map(str, arguments)], capture_output=True, text=True, **options)


def test_command():
    for words, code, out in [(["--help"], 0, "Examples"), (["-h"], 0, "Examples"), (["--version"], 0, "rung-check "), (["-q", "--help"], 0, "Examples")]:
        done = run(*words)
        expect(done.returncode == code and out in done.stdout, f"{words}: {done}")
    for words in ([], ["a"], ["a", "b", "c"], ["--what"], ["--what", "b"], ["a", "--what"]):
        done = run(*words)
        expect(done.returncode == 2 and not done.stdout and "--help" in done.stderr, f"{words}: {done}")
    model = models.fixtures / "models" / "full.safetensors"
    cert = models.fixtures / "accept" / "full.wrong-answer.cert"
    expect(run("/nonexistent", model).returncode == 3, "a missing certificate")
    expect(run(cert, "/nonexistent").returncode == 3, "a missing model")
    expect(run(cert, models.here).returncode == 3, "a directory as a model")
    with open("/dev/full", "w") as full:
        done = subprocess.run([models.check_command, str(cert), str(model)], stdout=full, stderr=subprocess.PIPE, text=True)
        expect(done.returncode == 4 and "cannot write" in done.stderr, f"a full disk: {done}")


def main():
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        damage = Damage(scratch)
        test_accept()
        test_reject()
        test_malformed()
        test_command()
        test_damaged_files(damage)
        test_configurations(damage)
        test_architectures(damage)
        test_tensors(damage)
        test_tables(damage)
        test_other_claims(damage)
        test_nan_that_is_only_carried(damage)
        test_blocks_with_the_last_token(damage)
        test_sizes(damage)
        test_mutants(scratch)
    print(f"{passed} checks passed")


main()
