# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# rung-check as WebAssembly, run by the script of the pages, gives what the program gives: every stored certificate, and damaged ones.
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import models

here = pathlib.Path(__file__).resolve().parent
program = pathlib.Path(os.environ.get("BUILD", here.parents[1] / "build")) / "rung-check.wasm"


def pairs(folder):
    for kind in "accept", "reject", "malformed":
        for path in sorted((models.fixtures / kind).glob("*.cert")):
            model = models.fixtures / "models" / (path.name.split(".")[0] + ".safetensors")
            if model.exists():
                yield path, model
    swap = models.fixtures.parent / "cert"
    whole = (swap / "swap.safetensors").read_bytes()
    for size in 0, 7, 8, 100, len(whole) - 1:
        damaged = folder / f"{size}.safetensors"
        damaged.write_bytes(whole[:size])
        yield swap / "swap-view.cert", damaged
    for size in 0, 20, 300:
        damaged = folder / f"{size}.cert"
        damaged.write_bytes((swap / "swap-view.cert").read_bytes()[:size])
        yield damaged, swap / "swap.safetensors"
    changed = folder / "changed.cert"
    changed.write_bytes((swap / "swap-view.cert").read_bytes().replace(b"prompt ", b"prompt 0 ", 1))
    yield changed, swap / "swap.safetensors"


def native(certificate, model):
    done = subprocess.run([models.check_command, certificate, model], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr)


def main():
    if not program.exists() or not shutil.which("node"):
        print("SKIPPED: no WebAssembly compiler (clang, lld, wasi-libc) or no node")
        return
    with tempfile.TemporaryDirectory() as name:
        asked = list(pairs(pathlib.Path(name)))
        lines = "".join(f"{certificate}\t{model}\n" for certificate, model in asked)
        done = subprocess.run(["node", str(here / "web.mjs"), str(program)], input=lines, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(asked) > 100, len(answers)
        counts = {}
        for (certificate, model), answer in zip(asked, answers):
            code, said = native(certificate, model)
            assert answer["code"] == code, f"{certificate}: {answer} in the page, {code} {said} here"
            # Sizes that no machine of 32 bits can hold are refused a little earlier, with another reason.
            absurd = code == 20 and " is absurd" in answer["text"]
            counts["absurd"] = counts.get("absurd", 0) + absurd
            assert absurd or answer["text"].strip() == said.strip(), f"{certificate}: {answer['text']!r} in the page, {said!r} here"
            word = {10: "accepted", 20: "rejected", 3: "malformed"}[code]
            assert answer["said"].startswith(word + ": checked in this page, "), answer["said"]
            counts[word] = counts.get(word, 0) + 1
        assert counts.pop("absurd") < 10 and min(counts.values()) > 10, counts
        print(f"in a page as in a shell: {counts}")


main()
