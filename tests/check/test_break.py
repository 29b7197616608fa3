# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# What `rung break` writes, `rung-check` accepts: every mechanism, every kind of certificate that is found within a second. This
# is where the order of the carried numbers meets a program that packs them itself.
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import models

ARCHS = ["linear", "linear:phi=taylor2", "retnet", "gla", "mamba2", "kda", "gdelta", "loglinear", "window:W=3", "linear@1|delta:conv=2@2", "full",
         "sparse:B=2:k=1"]


MIXED = ["e3m2,state=e2m1", "f32,act=e3m2,state=int4/row*bf16,cache=int4/row*f16", "f32,act=e3m2,state=mxfp4,cache=mxfp4",
         "f32,act=e3m2,state=e3m2,cache=e4m3fn,round=stochastic,seed=5", "f32,act=q2.3,state=int4/3*f16,cache=e2m1fn/2*bf16,gate=e3m2,beta=e3m2",
         "e3m2,state=e2m1,chunk=4", "f32,act=e3m2,state=int4/row*bf16,cache=mxfp4,chunk=3,round=stochastic,seed=1"]
KINDS = ("state-collision", "view-collision", "wrong-answer")


def attack(directory, arch, numbers, kind, seed, found):
    model, cert = pathlib.Path(directory) / "m.safetensors", pathlib.Path(directory) / "m.cert"
    models.build_random(model, arch, "eva N=12 V=2", "--d-model", "4", "--dk", "2", "--dv", "2", "--positions", "none", "--seed", str(seed))
    cert.unlink(missing_ok=True)
    subprocess.run([models.rung_command, "break", str(model), "--numbers", numbers, "--kind", kind, "--budget", "1", "--threads", "1", "-q", "-o", str(cert)],
                   stdout=subprocess.DEVNULL, check=True)
    if not cert.exists():
        return
    code, said = models.check(cert, model)
    if code != 10:
        sys.exit(f"FAILED: {arch} {numbers} {kind}: {code} {said}\n{cert.read_text()}")
    found[kind] = found.get(kind, 0) + 1
    spoil(cert, model)


def spoil(cert, model):
    """One digit of the state or the view changed: rejected."""
    lines = cert.read_text().splitlines(keepends=True)
    for i, line in enumerate(lines):
        if line.startswith(("state ", "view ")):
            at = len(line) // 2 if len(line) > 12 else line.index(" ") + 1
            lines[i] = line[:at] + ("0" if line[at] != "0" else "1") + line[at + 1:]
            cert.write_text("".join(lines))
            code, said = models.check(cert, model)
            if code != 20:
                sys.exit(f"FAILED: another digit in '{line}' is not rejected: {code} {said}")


def main():
    found, mixed = {}, {}
    with tempfile.TemporaryDirectory() as directory:
        for seed, arch in enumerate(ARCHS):
            for kind in KINDS:
                attack(directory, arch, "e3m2", kind, seed, found)
            if arch.startswith(("loglinear", "sparse")):
                continue
            for numbers in MIXED:
                attack(directory, arch, numbers, KINDS[(seed + len(numbers)) % 3] if seed % 2 else "state-collision", seed, mixed)
    if found.get("state-collision", 0) < 4 or found.get("wrong-answer", 0) < 6:
        sys.exit(f"FAILED: hardly anything was found: {found}")
    if mixed.get("state-collision", 0) < 4:
        sys.exit(f"FAILED: hardly anything was found in mixed formats: {mixed}")
    print("accepted:", found, "in mixed formats:", mixed)


main()
