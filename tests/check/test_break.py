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


def main():
    found = {}
    with tempfile.TemporaryDirectory() as directory:
        model, cert = pathlib.Path(directory) / "m.safetensors", pathlib.Path(directory) / "m.cert"
        for seed, arch in enumerate(ARCHS):
            models.build_random(model, arch, "eva N=12 V=2", "--d-model", "4", "--dk", "2", "--dv", "2", "--positions", "none", "--seed", str(seed))
            for kind in ("state-collision", "view-collision", "wrong-answer"):
                cert.unlink(missing_ok=True)
                subprocess.run([models.rung_command, "break", str(model), "--numbers", "e3m2", "--kind", kind, "--budget", "1", "--threads", "1", "-q",
                                "-o", str(cert)], stdout=subprocess.DEVNULL, check=True)
                if not cert.exists():
                    continue
                code, said = models.check(cert, model)
                if code != 10:
                    sys.exit(f"FAILED: {arch} {kind}: {code} {said}\n{cert.read_text()}")
                found[kind] = found.get(kind, 0) + 1
    if found.get("state-collision", 0) < 4 or found.get("wrong-answer", 0) < 6:
        sys.exit(f"FAILED: hardly anything was found: {found}")
    print("accepted:", found)


main()
