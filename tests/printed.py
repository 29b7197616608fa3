#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Runs what documents and help texts print.

    printed.py page PAGE LEAST   the "$ " lines of a page, in this directory, beside the output that the page shows
    printed.py examples [NAME..] the examples of every command's help (of these), but those that take long
    printed.py nightly [NAME...] the long blocks of all pages ("```console nightly") and all examples; with names, all
                                 examples of these commands

RUNG is the command (build/rung). What cannot be run here is in ELSEWHERE, with the reason, and is listed at the end: an example
that is neither run nor listed there is an error.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
RUNG = os.path.realpath(os.environ.get("RUNG", os.path.join(ROOT, "build", "rung")))
FIXTURES = os.path.join(ROOT, "tests", "fixtures")


def place_commands(folder):
    """rung and rung-check in the PATH, and as build/rung below the folder."""
    for place in ("bin", "build"):
        os.makedirs(os.path.join(folder, place), exist_ok=True)
        for name in ("rung", "rung-check"):
            link = os.path.join(folder, place, name)
            if not os.path.lexists(link):
                os.symlink(os.path.join(os.path.dirname(RUNG), name), link)
    return {**os.environ, "PATH": os.path.join(folder, "bin") + ":" + os.environ["PATH"], "COLUMNS": "80"}


# ---- pages ----------------------------------------------------------------------------------------------------------

def blocks(page):
    """The fenced blocks of a page: (words after the fence, lines)."""
    info, lines = None, []
    with open(page, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("```"):
                if info is not None:
                    yield info, lines
                    info = None
                else:
                    info, lines = line[3:].split(), []
            elif info is not None:
                lines.append(line)


def commands(lines):
    """(command, lines that must follow) of a block. A command that ends in a backslash goes on."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] = found[-1][0][:-1] + line.lstrip()
        elif found:
            found[-1][1].append(line)
    return found


def pattern(want):
    """A line that is or ends in "..." stands for whatever is there."""
    parts = []
    for line in want:
        if line == "...":
            parts.append("(?:.*\n)*?")
        elif line.endswith("..."):
            parts.append(re.escape(line[:-3]) + ".*\n")
        else:
            parts.append(re.escape(line) + "\n")
    return "".join(parts)


OURS = re.compile(r"([A-Z_]+=\S+ )*(mpirun -n \d+ )?(build/)?rung(-check)? |cmp |cat ")


def run_page(page, wanted):
    """Runs the commands of the blocks that `wanted` chooses; a block "json FILE" is that file. Returns how many were run."""
    environment, ran = place_commands(os.getcwd()), 0
    for info, lines in blocks(page):
        if info[:1] == ["json"] and len(info) > 1:
            with open(info[1], "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            continue
        if not wanted(info):
            continue
        for command, want in commands(lines):
            if not OURS.match(command):
                continue
            ran += 1
            run = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
            if not re.fullmatch(pattern(want), run.stdout):
                sys.exit("$ %s\n%s\nbut %s says\n%s" % (command, run.stdout, page, "\n".join(want)))
    return ran


# ---- examples of the help ---------------------------------------------------------------------------------------------

# Examples that cannot be run here: pattern, reason.
ELSEWHERE = [
    (r"import-model hops\.pt", "a file of the reader"),
    (r"--peer build/peer", "make peer, 5 GB"),
    (r"rung replay", "make npm-engines, 1 GB; make test-engines runs it"),
    (r"--api-key-env OPENAI_API_KEY --rpm 60", "60 questions a minute"),
    (r"^RUNG_KEY=", "listens on all addresses"),
]
# Those that take more than some seconds; with `nightly` they are run too.
LONG = r"rung (table|bench|sweep|report|export|merge|probe) |rung table$|train --recipe|train run|mpirun|break .*600|drift (kda|config)|samples 100000"

SPEC = {"name": "depth", "success": 0.9, "keep-models": True, "base": {"task": "eva N=4 V=4", "d-model": 16, "steps": 20, "eval-prompts": 32},
        "grid": {"arch": ["full", "linear"], "seed": [1, 2]}}
LOG = '{"index": 0, "input": "VAR", "outputs": ["AAAAA", "BBBBB"], "pred": "They are bbbbb and AAAAA.", "others": {}, "length": 64}\n'
LM = ('{"doc_id": 0, "target": "stone", "resps": [["stone"]], "filtered_resps": ["stone"], "filter": "none", "metrics": '
      '["exact_match"], "exact_match": 1.0}\n')
INSPECT = ('{"version": 2, "status": "success", "eval": {"task": "rung_eva", "model": "m"}, "samples": [{"id": 0, "epoch": 1, '
           '"input": "x", "target": "stone", "output": {"completion": "stone"}, "scores": {"match": {"value": "C"}}}]}')
ARRAYS = """
import numpy as np, json, struct, sys
rng, head, data = np.random.default_rng(7), {}, b""
for name, shape in json.loads(sys.argv[2]).items():
    a = rng.standard_normal(shape).astype("<f4") / 2
    a = 1 / (1 + np.exp(-a)) if name in ("beta", "dt") else -abs(a) if name == "g" else a
    raw = a.astype("<f4").tobytes()
    head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + data)
"""
QKV = {"q": [9, 2, 4], "k": [9, 2, 4], "v": [9, 2, 4]}
GATES = {"gdelta": {"g": [9, 2], "beta": [9, 2]}, "gla": {"g": [9, 2, 4]}, "mamba2": {"g": [9, 2], "beta": [9, 2]}}


def write(name, text):
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


class Examples:
    def __init__(self):
        self.environment = place_commands(os.getcwd())
        self.ran = 0

    def quiet(self, *words):
        subprocess.run(["bash", "-c", " ".join(words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment)

    def prepare(self, command, line):
        """The files that the line names, as a reader would have them."""
        for name in set(re.findall(r"\b(?:[ab]/)?config\.json\b", line)):
            write(name, open(os.path.join(FIXTURES, "config", "qwen3_next.json"), encoding="utf-8").read())
        for name in re.findall(r"\b(?:b|c|tinyllm)\.gguf\b", line):
            self.quiet("rung build lookup N=4 keys=sign -o g.safetensors && rung export-model g.safetensors -o", name)
        if "lookup.safetensors" in line:
            self.quiet("rung build lookup N=4 keys=sign -o lookup.safetensors")
        if "Llama-3.2-1B" in line:
            shutil.copytree(os.path.join(FIXTURES, "foreign", "llama"), "Llama-3.2-1B", dirs_exist_ok=True)
        if command in ("sweep", "export", "merge", "report"):
            write("depth.json", json.dumps(SPEC))
        if command in ("export", "merge", "report"):
            self.quiet("rung sweep depth.json -o depth.db && cp depth.db node-1.db && cp depth.db a.db && cp depth.db b.db")
            write("vt.jsonl", LOG)
            self.quiet("for m in qwen kimi; do rung import vt.jsonl --model $m --task vt --depth 4 -o $m.db; done")
        if command == "import":
            write("samples_x.jsonl", LM), write("pred/vt.jsonl", LOG), write("log.json", INSPECT)
        if "run.json" in line:
            write("run.json", json.dumps({"recipe": "eva", "task": "eva N=8 V=8", "steps": 50}))
        if command == "attn":
            write_arrays = json.dumps({**QKV, **GATES.get(line.split()[2], {})})
            subprocess.run(["/usr/bin/python3", "-c", ARRAYS, "x.safetensors", write_arrays], check=True)
        if "layer.npz" in line:
            subprocess.run(["/usr/bin/python3", "-c", "import numpy as np; r = np.random.default_rng(1); np.savez('layer.npz', **{n: "
                            "r.standard_normal((1, 64, 2, 8)[1:]).astype('f4') / 3 for n in 'qkv'}, beta=r.random((64, 2)).astype('f4'))"], check=True)
        if command == "protocol":
            self.quiet("rung build seqcomp L=2 -o m.safetensors")
        elif command in ("run", "verify", "serve"):
            self.quiet("rung build lookup N=%d keys=sign -o m.safetensors" % (16 if command == "run" else 4))
        elif command == "explain":
            self.quiet("rung build random --arch linear --dk 2 --dv 2 --d-model 8 --task eva N=64 -o m.safetensors; "
                       "rung break m.safetensors --numbers e8m4 -o m.cert")
        elif command == "break":
            self.quiet("rung build random --arch linear --dk 2 --dv 2 --d-model 8 --task eva N=64 V=8 -o m.safetensors")

    def serves(self, line):
        """A server: it must say where it listens, and end when it is told to."""
        process = subprocess.Popen(["bash", "-c", "exec " + line], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.environment)
        said = ""
        for out in process.stdout:
            said += out
            if "http://" in out:
                break
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        return "http://" in said, said

    def probed(self, line):
        server = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests", "probe", "llm.py"), "--forever", "--depth", "2"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = server.stdout.readline().strip()
        model = "toy"
        line = line.replace("http://127.0.0.1:8000", "http://127.0.0.1:" + port)
        line = re.sub(r"--model \S+", "--model " + model, line)
        try:
            return self.plain(line)
        finally:
            server.kill()
            server.wait()

    def plain(self, line):
        shell, first = "bash", ""
        if "completion zsh" in line:
            shell, first = "zsh", "autoload -Uz compinit; compinit -u; "
        elif "completion fish" in line:
            shell = "fish"
        run = subprocess.run([shell, "-c", first + line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=self.environment)
        text = run.stdout.decode(errors="replace")
        return run.returncode == 0, "exit code %d\n%s" % (run.returncode, text[-2000:])

    def run(self, command, line):
        start = time.monotonic()
        self.prepare(command, line)
        if command in ("serve", "explore"):
            right, said = self.serves(line)
        elif command == "probe":
            right, said = self.probed(line)
        else:
            right, said = self.plain(line)
        if not right:
            sys.exit("%s\n%s" % (line, said))
        self.ran += 1
        seconds = time.monotonic() - start
        print("%6.1f s  %s" % (seconds, line), flush=True)


def elsewhere(line):
    for shell in ("zsh", "fish"):
        if shell in line and not shutil.which(shell):
            return shell + " is not installed"
    if "| man" in line and not shutil.which("man"):
        return "man is not installed"
    if line.startswith("mpirun") and not (shutil.which("mpirun") and os.path.exists(os.path.join(os.path.dirname(RUNG), "rung-mpi.so"))):
        return "MPI is not there"
    return next((why for expression, why in ELSEWHERE if re.search(expression, line)), None)


def run_examples(everything, only):
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                      OMPI_MCA_plm="isolated", OMPI_MCA_btl="self,vader", OMPI_MCA_btl_vader_single_copy_mechanism="none")
    text = subprocess.run([RUNG, "help", "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    ran, left = 0, []
    for command in json.loads(text)["commands"]:
        if only and command["name"] not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            examples = Examples()
            for example in command["examples"]:
                line = example["line"]
                why = elsewhere(line)
                if why:
                    left.append("%s: %s" % (why, line))
                elif everything or not re.search(LONG, line):
                    examples.run(command["name"], line)
            ran += examples.ran
            os.chdir("/")
    print("\n".join(["not run here:"] + left))
    print("%d examples" % ran)
    assert only or ran >= 80, ran


def run_nightly_pages():
    total = 0
    for here, _, files in os.walk(os.path.join(ROOT, "docs")):
        for page in sorted(os.path.join(here, f) for f in files if f.endswith(".md")):
            if not any("nightly" in info for info, _ in blocks(page)):
                continue
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                start = time.monotonic()
                ran = run_page(page, lambda info: "nightly" in info)
                print("%s: %d commands, %.0f s" % (os.path.relpath(page, ROOT), ran, time.monotonic() - start), flush=True)
                total += ran
                os.chdir("/")
    assert total >= 4, total


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode == "page" and len(sys.argv) == 4:
        ran = run_page(sys.argv[2], lambda info: "nightly" not in info)
        assert ran >= int(sys.argv[3]), "only %d commands found" % ran
    elif mode == "examples":
        run_examples(False, sys.argv[2:])
    elif mode == "nightly":
        if len(sys.argv) == 2:
            run_nightly_pages()
        run_examples(True, sys.argv[2:])
    else:
        sys.exit(__doc__)


main()
