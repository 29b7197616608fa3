#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# break: every certificate that is written here is also given to rung-check, which shares nothing with this program.
load common

CHECK=$(dirname "$RUNG")/rung-check

# accepts CERT MODEL: rung-check confirms it; says nothing where it has not been built.
accepts() {
    [ -x "$CHECK" ] || return 0
    run -10 "$CHECK" "$1" "$2"
}

small() { rung build random --arch linear:dk=2:dv=2 --task eva N=64 V=16 -q -o m.safetensors >/dev/null; }

@test "break writes a certificate that rung-check accepts, and says how to check it" {
    small
    run -0 --separate-stderr rung break m.safetensors --numbers e8m4 -o m.cert
    [[ $output == *CANNOT* && $output == *"rung-check m.cert m.safetensors"* ]]
    head -1 m.cert | grep -qx "rung-certificate 1"
    accepts m.cert m.safetensors
}

@test "break --json has the verdict, the certificate, and every attack with what became of it" {
    small
    rung break m.safetensors --numbers e8m4 --kind state-collision -o m.cert --json >b.json
    has_schema rung.break/1 <b.json
    rung list attacks --json >list.json
    python '
import json
b, rows = json.load(open("b.json")), json.load(open("list.json"))["attacks"]
assert b["verdict"] == "CANNOT" and b["kind"] == "state-collision" and b["certificate"] == "m.cert"
assert b["why_no_certificate"] is None and b["evaluations"] > 0 and b["differing_tokens"] >= 1 and b["statement"]
assert [t["attack"] for t in b["tried"]] == [r["name"] for r in rows]
assert all(t["report"] for t in b["tried"]) and sum(t["found"] for t in b["tried"]) == 1'
    grep -qx "kind state-collision" m.cert
    accepts m.cert m.safetensors
}

@test "the same seed gives the same certificate, whatever the number of threads" {
    rung build random --arch linear:dk=4:dv=4 --task two-sum N=128 -q -o m.safetensors >/dev/null
    rung break m.safetensors --numbers e8m4 --attack swallow --threads 1 -q -o 1.cert
    rung break m.safetensors --numbers e8m4 --attack swallow --threads 3 -q -o 3.cert
    cmp 1.cert 3.cert
}

@test "every attack breaks its example and spares the other one" {
    for name in $(rung list attacks --json | python 'import json, sys
print(*[a["name"] for a in json.load(sys.stdin)["attacks"]])'); do
        rung list attacks "$name" --json >row.json
        python '
import json, os, subprocess, sys
rung, check, name = sys.argv[1:]
(row,) = json.load(open("row.json"))["attacks"]
for side, verdict, budget in ("breaks", "CANNOT", 30), ("spares", "UNKNOWN", 1):
    arch, numbers, task, *rest = row[side].split()
    how = [arch[6:]] if arch.startswith("build:") else ["random", "--arch", arch, "--task", task]
    subprocess.run([rung, "build", *how, *rest, "-q", "-o", "e.safetensors"], check=True, stdout=subprocess.DEVNULL)
    if os.path.exists("e.cert"): os.remove("e.cert")
    ran = subprocess.run([rung, "break", "e.safetensors", "--numbers", numbers, "--attack", name, "--budget", str(budget),
                          "-o", "e.cert", "--expect", verdict], capture_output=True, text=True)
    assert ran.returncode == 0, (name, side, row[side], ran.stdout, ran.stderr)
    assert os.path.exists("e.cert") == (verdict == "CANNOT")
    if verdict == "CANNOT" and os.access(check, os.X_OK):
        code = subprocess.run([check, "e.cert", "e.safetensors"], stdout=subprocess.DEVNULL).returncode
        assert code == 10, (name, code)' "$RUNG" "$CHECK" "$name"
    done
}

@test "finding nothing is UNKNOWN with what was tried, never safe, and leaves no file" {
    rung build lookup N=8 V=8 -q -o m.safetensors >/dev/null
    run -0 --separate-stderr rung break m.safetensors --numbers f32 --budget 2 -o m.cert
    [[ $output == *UNKNOWN* && $output == *"proves nothing"* && $output == *climb* && $output != *safe\ * ]]
    [ ! -e m.cert ]
    run -1 --separate-stderr rung break m.safetensors --numbers f32 --budget 1 -o m.cert --expect CANNOT
    [[ $stderr == *"expected CANNOT"* ]]
}

@test "what rung-check does not know is reported without a certificate, and why" {
    rung build random --arch rnn --task eva N=64 V=8 -q -o m.safetensors >/dev/null
    run -0 --separate-stderr rung break m.safetensors --numbers e8m4 --attack forget -o m.cert
    [[ $output == *CANNOT* && $output == *"no certificate"* && $output == *"rung-check does not support rnn"* ]]
    [ ! -e m.cert ]
    small
    run -0 --separate-stderr rung break m.safetensors --numbers f64 --attack climb -o m.cert
    [[ $output == *"25 mantissa bits"* ]]
}

@test "break refuses what makes no sense, and says what would" {
    small
    run -2 --separate-stderr rung break m.safetensors --numbers e8m4
    [[ $stderr == *"-o FILE"* ]]
    run -2 --separate-stderr rung break m.safetensors --numbers fp32 -o m.cert
    [[ $stderr == *"--numbers f32"* ]]
    run -2 --separate-stderr rung break m.safetensors --numbers e8m4 --attack swalow -o m.cert
    [[ $stderr == *swallow* ]]
    run -2 --separate-stderr rung break m.safetensors --numbers e8m4 --memory much -o m.cert
    [[ $stderr == *"2GiB"* ]]
    run -2 --separate-stderr rung break m.safetensors --numbers e8m4 --kind surprise -o m.cert
    run -3 --separate-stderr rung break missing.safetensors --numbers e8m4 -o m.cert
    run -4 --separate-stderr rung break m.safetensors --numbers e8m4 -o nowhere/m.cert
    [[ $stderr == *nowhere* ]]
}

@test "break does not write over the model" {
    small
    cp m.safetensors copy
    ln -s m.safetensors link.cert
    for out in m.safetensors ./m.safetensors link.cert; do
        run -2 --separate-stderr rung break m.safetensors --numbers e8m4 -o $out
        [[ $stderr == *"choose another name"* ]]
    done
    cmp m.safetensors copy
}

@test "with --attack only that one is listed, and no line is longer than 80 columns" {
    rung build lookup N=8 V=8 -q -o m.safetensors >/dev/null
    run -0 --separate-stderr rung break m.safetensors --numbers f32 --attack swallow --budget 1 -o m.cert
    [[ $output == *swallow*"does not apply"* && $output != *climb* && $output != *"not asked"* ]]
    run ! grep -E '.{81}' <<<"$output"
    rung build random --arch full --task eva N=8 --encoder -q -o m.safetensors >/dev/null
    run -0 --separate-stderr rung break m.safetensors --numbers f32 --budget 1 -o m.cert
    [ "$(grep -c 'does not apply' <<<"$output")" = 1 ] # the same reason is given once
    run ! grep -E '.{81}' <<<"$output"
}

@test "too little memory is said, not exceeded" {
    rung build random --arch linear --task eva N=3000 V=8 -q -o m.safetensors >/dev/null
    run -0 --separate-stderr rung break m.safetensors --numbers f32 --attack swallow --memory 100k --budget 1 -o m.cert
    [[ $output == *"not tried"* && $output == *"CANNOT   by a theorem; no attack has found"* ]]
    rung build random --arch linear --task eva N=30 V=8 -q -o m.safetensors >/dev/null # no theorem holds here
    run -0 --separate-stderr rung break m.safetensors --numbers f32 --attack swallow --memory 1k --budget 1 -o m.cert
    [[ $output == *"not tried"* && $output == *UNKNOWN* ]]
}

@test "an interrupted search ends with 130 and leaves no file, half-written or whole" {
    rung build random --arch 4*linear --task eva N=500 -q -o m.safetensors >/dev/null
    python '
import os, signal, subprocess, sys, time
before = set(os.listdir("."))
p = subprocess.Popen([sys.argv[1], "break", "m.safetensors", "--numbers", "f32", "--attack", "swallow", "-o", "m.cert"],
                     stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
time.sleep(1)
p.send_signal(signal.SIGINT)
p.wait(timeout=20)
assert p.returncode == 130, p.returncode
assert set(os.listdir(".")) == before, os.listdir(".")' "$RUNG"
}
