#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# bench-ranks.py: training by two processes (mpirun -n 2) beside one process, one thread each, in turns; medians of the ratios of
# their tokens per second. Beside it the machine's own limit, in the same rounds: two processes that know nothing of each other.
# Fails when a shape with a bar misses it. RUNG is the command, ROUNDS how often (7).
import json, os, statistics, subprocess, sys, tempfile

RUNG = os.path.realpath(os.environ.get("RUNG", "build/rung"))
ROUNDS = int(os.environ.get("ROUNDS", "7"))
BAR = 1.7
LARGE = "--d-model 128 --heads 4 --dk 32 --dv 32 --batch 64"
SHAPES = [ # name, words, steps, bar
    ("2 layers of 128, 64 tokens", f"--arch 2*full {LARGE} --task eva N=63 V=64", 20, BAR),
    ("2 layers of 128, 256 tokens", f"--arch 2*full {LARGE} --task eva N=255 V=64", 6, BAR),
    ("4 layers of 128, 64 tokens", f"--arch 4*full {LARGE} --task eva N=63 V=64", 10, BAR),
    ("2 layers of 64, 9 tokens, batch 32", "--arch 2*full --task eva N=8 V=8", 500, None),
]
# A container: root, as many ranks as cores or more, one host, no ptrace, no ssh.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                  OMPI_MCA_hwloc_base_binding_policy="none", OMPI_MCA_btl="self,vader",
                  OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_plm="isolated")


def start(words, steps, threads, out, launcher=()):
    return subprocess.Popen([*launcher, RUNG, "train", *words.split(), "--steps", str(steps), "--eval-every", "0", "--eval-prompts", "0",
                             "--threads", str(threads), "--json", "--quiet", "-o", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def speed(run):
    out, err = run.communicate()
    if run.returncode:
        sys.exit("bench-ranks.py: " + err.decode())
    return json.loads(out)["tokens_per_second"]


def measure(words, steps):
    names = ["two ranks", "two threads", "two strangers"]
    ratios = {name: [] for name in names}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as d:
            one = speed(start(words, steps, 1, f"{d}/one"))
            ratios["two ranks"].append(speed(start(words, steps, 1, f"{d}/ranks", ("mpirun", "-n", "2"))) / one)
            ratios["two threads"].append(speed(start(words, steps, 2, f"{d}/threads")) / one)
            pair = [start(words, steps, 1, f"{d}/{i}") for i in range(2)]
            ratios["two strangers"].append(sum(map(speed, pair)) / one)
            with open(f"{d}/one", "rb") as a, open(f"{d}/ranks", "rb") as b:
                if a.read() != b.read():
                    sys.exit("bench-ranks.py: two ranks did not make the bytes of one process")
    return {name: (statistics.median(ratios[name]), min(ratios[name]), max(ratios[name])) for name in names}


missed = False
print("tokens per second over those of one process with one thread, median (least to largest) of", ROUNDS, "rounds")
for name, words, steps, bar in SHAPES:
    found = measure(words, steps)
    verdict = "" if bar is None else f"bar {bar}: " + ("reached" if found["two ranks"][0] >= bar else "MISSED")
    missed = missed or verdict.endswith("MISSED")
    print(f"{name:36}", *(f"{what} {m:.2f} ({low:.2f} to {high:.2f})" for what, (m, low, high) in found.items()), verdict, flush=True)
sys.exit(missed)
