# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# rung-check takes neither more memory nor more time than it says, cannot be compiled so that it is unsound, and is the same program on
# machines of 32 bits. CHECK_CC: another compiler than cc.
import hashlib
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import models

passed = 0
sanitized = "RUNG_SANITIZED" in os.environ
source = models.here.parent.parent / "check" / "rung-check.c"
compiler = os.environ.get("CHECK_CC", "cc")


def expect(holds, message):
    global passed
    if not holds:
        sys.exit("FAILED: " + message)
    passed += 1


def certificate(digest):
    return f"rung-certificate 1\nkind wrong-answer\nmodel {digest}\narch full\nnumbers f32\ntask eva N=3 V=2\nprompt 0 2 4 6\nposition 3\nright 0\ngiven 1\nend\n"


def run(*arguments):
    child = subprocess.Popen([str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, said, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


# ---- headers -----------------------------------------------------------------------------------------------------------------

EMPTY = b'"%07d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
HEADERS = {  # head, piece, tail, part of the full size
    "numbers of a shape": (b'{"a":{"dtype":"F32","shape":[', b"1,", b"1]}}", 1),
    "numbers as members": (b"{", b'"a":1,', b'"b":1}', 1),
    "members of an entry": (b'{"a":{', b'"%07d":1,', b'"b":1}}', 3),
    "metadata": (b'{"__metadata__":{', b'"%07d":"",', b'"b":""}}', 3),
    "tensors": (b"{", EMPTY + b",", EMPTY % 9999999 + b"}", 2),
    "brackets in a string": (b'{"', b"{", b'":{}}', 1),
    "brackets": (b'{"a":', b"[", b"}", 1),
}


def write_header(path, head, piece, tail, size):
    """In parts, because the memory of this process would count as memory of the checker that it starts. The digest."""
    numbered = b"%" in piece
    count = (size - len(head) - len(tail)) // len(piece % 0 if numbered else piece)
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        def put(part):
            digest.update(part)
            file.write(part)
        put(struct.pack("<Q", len(head) + count * len(piece % 0 if numbered else piece) + len(tail)) + head)
        for first in range(0, count, 10000):
            part = range(first, min(first + 10000, count))
            put(b"".join(piece % i for i in part) if numbered else piece * len(part))
        put(tail)
    return digest.hexdigest()


def test_headers(folder):
    """100 MB that are no tensors."""
    size = 4_000_000 if sanitized else 99_999_992
    for name, (head, piece, tail, share) in HEADERS.items():
        model, cert = folder / "m.safetensors", folder / "m.cert"
        cert.write_text(certificate(write_header(model, head, piece, tail, size // share)))
        code, said, seconds, megabytes = run(models.check_command, cert, model)
        wanted = (3, "given up: ") if name == "brackets in a string" else (20, "rejected: ")  # each could begin a tensor
        expect(code == wanted[0] and said.startswith(wanted[1]), f"{name}: {code} {said[:200]}")
        if sanitized: continue
        millions = model.stat().st_size / 1e6
        print(f"{name}: {millions:.0f} MB, {seconds:.2f} s, {megabytes:.0f} MB: {said.strip()[:70]}")
        # Seconds of the processor; SHA-256 alone takes half of one.
        first = name.startswith("numbers")
        expect(seconds < (1.5 if first else 8), f"{name}: {seconds} s")
        expect(megabytes < (200 if first else 100 + 10 * millions), f"{name}: {megabytes} MB")


# ---- work --------------------------------------------------------------------------------------------------------------------


def test_work(folder):
    model, cert = models.fixtures / "models" / "bf16.safetensors", models.fixtures / "accept" / "bf16.wrong-answer.cert"
    code, said, _, _ = run(models.check_command, "--max-work", 10, cert, model)
    expect(code == 3 and "given up: " in said and "--max-work" in said, f"{code} {said}")
    code, said, _, _ = run(models.check_command, "--max-work", 10**9, cert, model)
    expect(code == 10, f"{code} {said}")
    for words in ["x"], ["-1"], ["1x"], [""], []:
        code, said, _, _ = run(models.check_command, "--max-work", *words, cert, model)
        expect(code == 2, f"--max-work {words}: {code} {said}")


def test_work_grows(folder):
    """A long prompt and a small model: whatever the budget is, the time is in proportion to it."""
    task = "eva N=8000 V=2"
    models.build_random(folder / "long.safetensors", "2*full", task, "--d-model", "4", "--dk", "2", "--dv", "2", "--d-mlp", "4")
    model = (folder / "long.safetensors").read_bytes()
    prompt = "0 " * 8000 + "2"
    cert = f"rung-certificate 1\nkind wrong-answer\nmodel {hashlib.sha256(model).hexdigest()}\narch full\nnumbers f32\ntask eva N=8000 V=2 dist=uniform\nprompt {prompt}\nposition 8000\nright 0\ngiven 1\nend\n"
    meta, _ = models.read(folder / "long.safetensors")
    cert = cert.replace("arch full", "arch " + meta["rung.arch"]).replace("task eva N=8000 V=2 dist=uniform", "task " + meta["rung.task"])
    (folder / "long.cert").write_text(cert)
    code, said, seconds, _ = run(models.check_command, "--max-work", 5_000_000, folder / "long.cert", folder / "long.safetensors")
    expect(code == 3 and "given up: " in said, f"{code} {said[:300]}")
    expect(seconds < 5, f"{seconds} s for five million operations")


# ---- memory of the evaluation ------------------------------------------------------------------------------------------------


def run_random(folder, arch, tokens, *options):
    """A certificate with a prompt of zeros for a random model that is one number wide."""
    model, cert = folder / "wide.safetensors", folder / "wide.cert"
    models.build_random(model, arch, f"eva N={tokens} V=2", "--d-model", "1", "--mlp", "none", *options)
    meta, _ = models.read(model)
    lines = ["prompt " + "0 " * tokens + "2", f"position {tokens}", "right 0", "given 1"]
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    cert.write_text(models.certificate("wrong-answer", digest, meta["rung.arch"], "f32", meta["rung.task"], *lines))
    return *run(models.check_command, cert, model), model.stat().st_size / 1e6


def test_evaluation(folder):
    """A state of dk times dv numbers comes from dk + dv weights: it must not cost what no file of that size should. A cache is in
    proportion to the prompt and the widths, and has its room."""
    code, said, _, megabytes, size = run_random(folder, "linear", 4, "--dk", "16384", "--dv", "16384")
    expect(code == 3 and "given up: " in said and "bytes of memory" in said, f"{code} {said}")
    print(f"a state of 2 GB of a model of {size:.1f} MB: given up with {megabytes:.0f} MB")
    expect(sanitized or megabytes < 100 + 160 * size, f"{megabytes} MB")
    code, said, _, megabytes, size = run_random(folder, "full", 12000, "--dk", "1024", "--dv", "1024")
    expect(code in (10, 20) and "bytes of memory" not in said, f"{code} {said[:300]}")
    expect(sanitized or 160 * size + 67 < 180 < megabytes, f"{megabytes} MB: the cache is no test of the limit")


# ---- builds ------------------------------------------------------------------------------------------------------------------


def compiled(flags, out):
    return subprocess.run([compiler, "-std=c17", "-O2", *flags, "-o", str(out), str(source), "-lm"], capture_output=True, text=True)


def test_unsound_builds(folder):
    """Either it does not compile, or it says itself that it does not work; it never accepts."""
    model, cert = models.fixtures / "models" / "bf16.safetensors", models.fixtures / "accept" / "bf16.wrong-answer.cert"
    for flags in ["-Ofast"], ["-ffast-math"], ["-ffinite-math-only"], ["-funsafe-math-optimizations"], ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]:
        done = compiled(flags, folder / "unsound")
        if done.returncode == 0:
            code, said, _, _ = run(folder / "unsound", cert, model)
            expect(code == 4 and "compiled" in said, f"{flags}: compiled, and {code} {said}")
        else:
            expect("#error" in done.stderr or "error:" in done.stderr and "false certificates" in done.stderr, f"{flags}: {done.stderr[:300]}")
    for flags in ["-O3", "-march=native", "-ffp-contract=off"], ["-O0", "-ffp-contract=off"]:
        expect(compiled(flags, folder / "sound").returncode == 0, f"{flags}")
        code, said, _, _ = run(folder / "sound", cert, model)
        expect(code == 10, f"{flags}: {code} {said}")


def test_32_bits(folder):
    out = folder / "check32"
    done = compiled(["-m32", "-msse2", "-mfpmath=sse", "-ffp-contract=off", "-Wall", "-Wextra", "-Wconversion", "-Werror"], out)
    if done.returncode:
        print("32 bits: not compiled here (gcc-multilib?):", done.stderr.splitlines()[0][:120] if done.stderr else "")
        return
    count = 0
    for kind in "accept", "reject", "malformed":
        for path in sorted((models.fixtures / kind).glob("*.cert")):
            model = models.fixtures / "models" / (path.name.split(".")[0] + ".safetensors")
            if not model.exists(): continue
            one, other = run(out, path, model), run(models.check_command, path, model)
            same = one[0] == other[0] and (kind != "accept" or one[1] == other[1])
            expect(same, f"{path}: {one[:2]} with 32 bits, {other[:2]} here")
            count += 1
    expect(count > 100, f"only {count} certificates")
    print(f"32 bits: {count} certificates, the same verdicts")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test_work(folder)
        test_work_grows(folder)
        test_evaluation(folder)
        test_headers(folder)
        if not sanitized:
            test_unsound_builds(folder)
            test_32_bits(folder)
    print(f"{passed} expectations hold")


main()
