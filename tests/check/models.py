# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# What the tests of rung-check share: random models (drawn by `rung build random`, then changed: other weights, biases, types),
# prompts of the tasks, and the program that prints what the checker computes.
import hashlib
import json
import os
import pathlib
import random
import struct
import subprocess

here = pathlib.Path(__file__).resolve().parent
fixtures = here.parent / "fixtures" / "check"
build = pathlib.Path(os.environ.get("BUILD", here.parent.parent / "build"))
rung_command = os.environ.get("RUNG", str(build / "rung"))
check_command = os.environ.get("RUNG_CHECK", str(build / "rung-check"))
dump_command = os.environ.get("CHECK_DUMP", str(build / "check-dump"))

CODES = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "I16": "h", "I8": "b", "U8": "B", "U16": "H", "U32": "I", "U64": "Q"}


def read(path):
    """Metadata and tensors {name: (dtype, shape, values)} of a safetensors file."""
    raw = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    data = raw[8 + length :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        if entry["dtype"] == "BF16":
            values = [struct.unpack("<f", b"\0\0" + data[i : i + 2])[0] for i in range(begin, end, 2)]
            tensors[name] = ("BF16", entry["shape"], values)
            continue
        code = CODES[entry["dtype"]]
        count = (end - begin) // struct.calcsize(code)
        tensors[name] = (entry["dtype"], entry["shape"], list(struct.unpack("<%d%s" % (count, code), data[begin:end])))
    return header["__metadata__"], tensors


def pack(dtype, values):
    if dtype == "BF16":  # cut off: any bfloat16 will do
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    return struct.pack("<%d%s" % (len(values), CODES[dtype]), *values)


def write(path, metadata, tensors):
    """Returns the digest."""
    header, data = {"__metadata__": metadata}, b""
    for name, (dtype, shape, values) in tensors.items():
        numbers = pack(dtype, values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header, separators=(",", ":")).encode()
    raw = struct.pack("<Q", len(text)) + text + data
    pathlib.Path(path).write_bytes(raw)
    return hashlib.sha256(raw).hexdigest()


def build_random(path, arch, task, *options):
    subprocess.run([rung_command, "build", "random", "--arch", arch, "--task", *task.split(), "-o", str(path), "--quiet", *options],
                   check=True, stdout=subprocess.DEVNULL)


def draw(rng, scale, dtype):
    if dtype.startswith("I"):
        return rng.randint(-3, 3)
    if rng.random() < 0.06:
        return rng.choice([0.0, -0.0, 1.0, -1.0, 2.0, 1e-9, -40.0])
    return rng.gauss(0, scale)


def change(metadata, tensors, rng, scale=0.5, identity=True):
    """Other weights, biases, element types; with `identity` a read-out that shows the residual stream itself."""
    changed = {}
    for name, (dtype, shape, values) in tensors.items():
        if name.startswith("rotary") or ".mlp.key" in name or name.endswith("coords"):
            changed[name] = (dtype, shape, values)
            continue
        kind = rng.choice(["F32", "F32", "F64", "F16", "BF16", "I8"])
        changed[name] = (kind, shape, [draw(rng, scale, kind) for _ in values])
        biased = name.endswith(".weight") and not name.startswith("embed") and "norm" not in name
        if (biased or ("norm" in name and '"norm":"layer"' in metadata["rung.config"] and name.endswith(".weight"))) and rng.random() < 0.5:
            changed[name[: -len("weight")] + "bias"] = ("F32", shape[:1], [draw(rng, scale, "F32") for _ in range(shape[0])])
    if rng.random() < 0.3:
        config = json.loads(metadata["rung.config"])
        config["norm_epsilon"] = rng.choice([1e-6, 1e-12, 0.0009765625, 0.3, 1])
        metadata = dict(metadata)
        metadata["rung.config"] = json.dumps(config, separators=(",", ":"))
    if identity:
        config = json.loads(metadata["rung.config"])
        d = config["d_model"]
        config["answers"] = d
        metadata = dict(metadata)
        metadata["rung.config"] = json.dumps(config, separators=(",", ":"))
        metadata["rung.task"] = ""
        changed["readout.weight"] = ("F32", [d, d], [float(i == j) for i in range(d) for j in range(d)])
        changed.pop("readout.bias", None)
    return metadata, changed


def dump(model, numbers, prompts):
    """What the checker computes: one dict per prompt."""
    text = "".join(" ".join(map(str, prompt)) + "\n" for prompt in prompts)
    done = subprocess.run([dump_command, str(model), numbers], input=text, capture_output=True, text=True, check=True)
    results, current = [], {}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word == "end":
            results.append(current)
            current = {}
        elif word in ("view", "readout"):
            current[word] = [float.fromhex(x) for x in rest.split()]
        elif word == "block":
            layer, block, summary = rest.split()
            current[word, int(layer), int(block)] = summary
        elif word:
            current[word] = rest
    return results


def check(certificate, model):
    """Exit code and output of rung-check."""
    done = subprocess.run([check_command, str(certificate), str(model)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def certificate(kind, digest, arch, numbers, task, *lines):
    head = ["rung-certificate 2" if "=" in numbers else "rung-certificate 1", "kind " + kind, "model " + digest, "arch " + arch, "numbers " + numbers, "task " + task]
    return "\n".join([*head, *lines, "end"]) + "\n"


def judge(model, texts):
    """(code, everything that was said) for each text, in one process."""
    if not texts:
        return []
    data = b"".join((t if isinstance(t, bytes) else t.encode()) + b"\0" for t in texts)
    done = subprocess.run([dump_command, str(model)], input=data, capture_output=True, check=True)
    results, said = [], []
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        if line.startswith("verdict "):
            _, code, reason = line.split(" ", 2)
            results.append((int(code), "\n".join([*said, reason])))
            said = []
        else:
            said.append(line)
    assert len(results) == len(texts), (len(results), len(texts))
    return results


def slug(reason):
    """A reason as a file name, without what may change with the weights."""
    words = "".join(c if c.isalnum() else " " for c in reason.lower()).split()
    return "-".join(word for word in words if word.isalpha() and len(word) > 2)[:44].rstrip("-")


def parse_certificate(text):
    """The lines by their first word; `prompt` is a list of prompts."""
    found = {"prompt": []}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "prompt":
            found[word].append([int(x) for x in rest.split()])
        else:
            found[word] = rest
    return found


def lines_of(prompt, given):
    """The end of a wrong-answer to a prompt of eva N=3 V=2."""
    right = prompt[prompt[-1] - 2] if len(prompt) == 4 else 0
    return f"prompt {' '.join(map(str, prompt))}\nposition {len(prompt) - 1}\nright {right}\ngiven {given}\nend\n"
