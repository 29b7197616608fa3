#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# train: the same bytes whatever happens on the way, runs written down as files, logs that others read, refusals that help, and
# a trained model that can be broken.
load common

SMALL=(--arch full --task eva N=4 V=4 --d-model 16 --dk 8 --dv 4 --batch 16)

@test "train gives the same bytes for the same seed and any number of threads and instruction set, and others for another seed" {
    rung train "${SMALL[@]}" --steps 30 -o a.safetensors --threads 1 >/dev/null
    rung train "${SMALL[@]}" --steps 30 -o b.safetensors --threads 2 >/dev/null
    rung train "${SMALL[@]}" --steps 30 -o c.safetensors --seed 1 >/dev/null
    RUNG_ISA=ref rung train "${SMALL[@]}" --steps 30 -o d.safetensors >/dev/null
    cmp a.safetensors b.safetensors
    cmp a.safetensors d.safetensors
    ! cmp -s a.safetensors c.safetensors
    [ ! -e a.safetensors.checkpoint ]
}

@test "train --compute bf16 gives the same bytes for threads and instruction sets, says what computed it, and differs from fp32" {
    rung train "${SMALL[@]}" --steps 30 -o plain.safetensors >/dev/null
    rung train "${SMALL[@]}" --steps 30 --compute bf16 -o a.safetensors --threads 1 | grep '^compute   bf16 products, by the '
    for isa in ref avx2 avx512 avx512_bf16; do
        RUNG_ISA=$isa rung train "${SMALL[@]}" --steps 30 --compute bf16 -o b.safetensors --threads 2 --json >$isa.json
        cmp a.safetensors b.safetensors
    done
    ! cmp -s a.safetensors plain.safetensors
    python '
import json
run = json.load(open("ref.json"))
assert run["compute"] == "bf16" and run["kernels"] == "ref" and " compute=bf16" in run["run"]'
    echo '{"arch": "full", "task": "eva N=4 V=4", "d-model": 16, "dk": 8, "dv": 4, "batch": 16, "compute": "bf16"}' >run.json
    rung train run.json --steps 30 -o c.safetensors >/dev/null
    cmp a.safetensors c.safetensors
    run -2 --separate-stderr rung train "${SMALL[@]}" --steps 1 --compute fp16 -o d.safetensors
    [[ $stderr == *"fp16"*"bf16"* ]]
}

# interrupt SIGNAL OUT: ends a run after some steps and prints its exit code. A shell would start it with SIGINT ignored.
interrupt() {
    python '
import os, signal, subprocess, sys, time
number, out, command = getattr(signal, "SIG" + sys.argv[1]), sys.argv[2], sys.argv[3:]
if os.path.exists("m.jsonl"): os.remove("m.jsonl")
run = subprocess.Popen(command + ["--steps", "600", "--checkpoint-every", "3", "-o", out, "--checkpoint", out + ".state",
                                  "--metrics", "m.jsonl", "--log-every", "1"], stderr=subprocess.DEVNULL)
while run.poll() is None and (not os.path.exists("m.jsonl") or len(open("m.jsonl").readlines()) % 100 < 20): time.sleep(0.005)
run.send_signal(number)
print(run.wait())' "$1" "$2" "$RUNG" train "${SMALL[@]}"
}

@test "SIGINT and SIGTERM leave a checkpoint and say so with 130 and 143; the same command goes on; a kill -9 changes nothing" {
    rung train "${SMALL[@]}" --steps 600 -o whole.safetensors --checkpoint whole.state >/dev/null
    [ "$(interrupt INT cut.safetensors)" = 130 ]
    [ ! -e cut.safetensors ] && [ -e cut.safetensors.state ]
    [ "$(interrupt TERM cut.safetensors)" = 143 ]
    [ "$(interrupt KILL cut.safetensors)" = -9 ]
    [ "$(interrupt KILL cut.safetensors)" = -9 ]
    rung train "${SMALL[@]}" --steps 600 --checkpoint-every 3 -o cut.safetensors --checkpoint cut.safetensors.state --json >end.json
    python 'import json; assert json.load(open("end.json"))["resumed"]'
    cmp whole.safetensors cut.safetensors
    cmp whole.state cut.safetensors.state
}

@test "a checkpoint of another run is refused with the words that differ" {
    rung train "${SMALL[@]}" --steps 10 -o a.safetensors --checkpoint a.state >/dev/null
    run -2 --separate-stderr rung train "${SMALL[@]}" --steps 10 --rate 0.01 -o a.safetensors --checkpoint a.state
    [[ $stderr == *"rate=0.003"* && $stderr == *"rate=0.01"* ]]
}

@test "a run from a file is the run of its options, and options win" {
    cat >run.json <<'END'
{"arch": "full", "task": "eva N=4 V=4", "d-model": 16, "dk": 8, "dv": 4, "batch": 16, "steps": 20, "out": "j.safetensors", "rate": 0.003}
END
    rung train run.json >/dev/null
    rung train "${SMALL[@]}" --steps 20 -o o.safetensors >/dev/null
    cmp j.safetensors o.safetensors
    rung train run.json --steps 25 --json -o k.safetensors | has_schema rung.train/1
    rung train run.json --steps 25 --json -o k.safetensors | python 'import json, sys; assert json.load(sys.stdin)["steps"] == 25'
}

@test "a spec with an unknown key, a wrong value or no object is refused by name" {
    echo '{"arch": "full", "raet": 0.1}' >a.json
    run -3 --separate-stderr rung train a.json
    [[ $stderr == *'a.json: unknown key "raet"; did you mean "rate"'* ]]
    echo '{"schedule": "cosin"}' >b.json
    run -3 --separate-stderr rung train b.json
    [[ $stderr == *b.json* && $stderr == *cosin* ]]
    echo '[1]' >c.json
    run -3 --separate-stderr rung train c.json
    [[ $stderr == *"no JSON object"* ]]
}

@test "metrics are lines of JSON, and TensorBoard gets an event file" {
    rung train "${SMALL[@]}" --steps 40 --eval-every 20 -o m.safetensors --metrics m.jsonl --tensorboard tb >/dev/null
    python '
import json
lines = [json.loads(line) for line in open("m.jsonl")]
assert [l["step"] for l in lines] == [10, 20, 30, 40], lines
assert [("eval_accuracy" in l) for l in lines] == [False, True, False, True]
assert all(0 <= l["accuracy"] <= 1 and l["loss"] > 0 for l in lines)'
    grep -aq 'train/loss' tb/events.out.tfevents.*.rung
    grep -aq 'brain.Event:2' tb/events.out.tfevents.*.rung
}

@test "a lookup is learnt, --require judges it, and verify agrees with training" {
    rung train "${SMALL[@]}" --rate 0.01 --steps 1500 --eval-every 50 --stop-at 1 --require 0.99 -o m.safetensors >/dev/null
    rung verify m.safetensors --json 2>/dev/null | python '
import json, sys
found = json.load(sys.stdin)
assert found["wrong"] <= 0.03 * found["prompts"], found'
    run -1 --separate-stderr rung train "${SMALL[@]}" --steps 3 --require 0.99 -o n.safetensors
    [[ $stderr == *"required an accuracy of 0.99"* ]]
    rung train "${SMALL[@]}" --steps 100 --random-labels --eval-prompts 2000 --json -o r.safetensors >r.json
    python 'import json; assert abs(json.load(open("r.json"))["eval_accuracy"] - 0.25) < 0.04'
}

@test "one full layer learns two looks with a thought between them, and verify lets it think for itself" {
    rung train --arch full --task seqcomp L=1 N0=4 flat=1 --thoughts 1 --queries 8 --batch 8 --d-model 32 --rate 0.003 --steps 800 --stop-at 0.999 --eval-every 100 \
        --test-prompts 64 --seed 1 -o thinks.safetensors --json >end.json
    python 'import json; end = json.load(open("end.json")); assert end["test_accuracy"] == 1, end'
    rung verify thinks.safetensors --exhaustive >v.txt
    grep -q "1024 prompts, 1024 answers, all right" v.txt
    rung run thinks.safetensors --count 3 | grep -qF "1.0 thoughts per prompt"
    run -2 rung train --arch full --task eva --thoughts 1 -o m.safetensors
    [[ $output == *"thoughts are only for the task seqcomp"* ]]
}

@test "a place that cannot be written is said before the run, and nothing is left behind" {
    mkdir -p work/place && cd work
    for where in "-o nowhere/m" "-o place" "-o nowhere/m --checkpoint c" "-o m --metrics nowhere/m.jsonl"; do
        run -4 --separate-stderr rung train --task eva N=4 --steps 1000000 $where
        [[ $stderr == *"cannot write"* ]]
    done
    echo '{"steps": 5, "out": "run.json"}' >run.json
    run -2 --separate-stderr rung train run.json
    [[ $stderr == *"choose another name"* ]]
    [ "$(echo *)" = "place run.json" ]
}

@test "directories are made with those above them" {
    rung train --task eva N=4 --steps 2 --tensorboard logs/of/eva -o m.safetensors
    [ -n "$(ls logs/of/eva/events.out.tfevents.*)" ]
    rung task eva -f lm-eval -o tasks/of/eva
    [ -e tasks/of/eva ]
}

@test "what cannot be trained is refused with a reason" {
    run -2 --separate-stderr rung train --arch full --task eva --mlp table -o m.safetensors
    [[ $stderr == *table* ]]
    run -2 --separate-stderr rung train --arch full --task eva --layer-targets 1 -o m.safetensors
    [[ $stderr == *seqcomp* ]]
    run -2 --separate-stderr rung train --arch full --task eva --rate fast -o m.safetensors
    [[ $stderr == *"--rate: 'fast' is no number"* ]]
    run -2 --separate-stderr rung train --arch full --task eva
    [[ $stderr == *"-o FILE"* ]]
    [ ! -e m.safetensors ]
}

@test "weights trained for a format are values of that format" {
    rung train "${SMALL[@]}" --steps 20 --numbers e4m3 -o q.safetensors >/dev/null
    python '
import json, struct
data = open("q.safetensors", "rb").read()
size = struct.unpack("<Q", data[:8])[0]
head = json.loads(data[8:8 + size])
begin, end = head["readout.weight"]["data_offsets"]
words = struct.unpack("<%dI" % ((end - begin) // 4), data[8 + size + begin:8 + size + end])
assert all(w & 0xfffff == 0 or (w >> 23 & 255) < 121 for w in words)'
}

@test "a trained linear model is broken with a certificate that rung-check confirms" {
    rung train --arch linear --task eva N=16 V=4 --d-model 16 --dk 2 --dv 2 --mlp none --steps 200 -o m.safetensors >/dev/null
    rung break m.safetensors --numbers e5m3 --budget 30 -o m.cert --expect CANNOT >/dev/null
    run -10 "$(dirname "$RUNG")/rung-check" m.cert m.safetensors
    [[ $output == "accepted: "* ]]
}

@test "the last test names the evaluator that did it" {
    train() { rung train --arch full --task eva N=6 V=4 --steps 20 --batch 8 --test-prompts 16 --d-model 16 -o m.safetensors "$@"; }
    train --metrics m.jsonl >fast
    grep -q '^test .*(16 answers, fast evaluator, fp32)' fast
    train --test-numbers bf16 --metrics b.jsonl >exact
    grep -q '^test .*(16 answers, exact evaluator, bf16)' exact
    train --test-numbers f32 --json >f32.json
    python '
import json
assert json.load(open("f32.json"))["test_numbers"] == "f32" and json.load(open("f32.json"))["test_targets"] == 16
for name, want in ("m", "fp32"), ("b", "bf16"):
    last = json.loads(open(name + ".jsonl").read().splitlines()[-1])
    assert last["test_numbers"] == want and last["test_targets"] == 16 and last["step"] == 20, last'
    run -2 --separate-stderr train --test-numbers f33
    [[ $stderr == *"f33"* ]]
}

@test "a checkpoint with one wrong bit, of a step beyond the end or of another version is refused with what to do" {
    words=(--task eva N=3 V=2 --arch full --d-model 8 --dk 4 --dv 4 --d-mlp 8 --batch 4 --eval-prompts 8 --test-prompts 8 --checkpoint-every 2 --quiet)
    rung train "${words[@]}" --steps 4 -o m.safetensors --checkpoint c.ckpt
    [ -e c.ckpt ]
    cp c.ckpt good
    # Bits of the weights, of both moments and of the progress.
    for place in 1 -1 3000 -3000 -9000; do
        python '
import struct, sys
raw, place = bytearray(open("good", "rb").read()), int(sys.argv[1])
start = 8 + struct.unpack("<Q", raw[:8])[0]
raw[start + place if place > 0 else len(raw) + place] ^= 1
open("c.ckpt", "wb").write(raw)' $place
        run -3 rung train "${words[@]}" --steps 4 -o n.safetensors --checkpoint c.ckpt
        [[ $output == *"damaged"*"remove it to start again"* ]] || { echo "$place: $output"; false; }
    done
    change() { python '
import json, struct, sys
raw = open("good", "rb").read()
size = struct.unpack("<Q", raw[:8])[0]
header = json.loads(raw[8:8 + size])
meta = header["__metadata__"]
exec(sys.argv[1])
text = json.dumps(header).encode()
open("c.ckpt", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + size:])' "$1"; }
    change 'meta["rung.progress"] = "9" + meta["rung.progress"]'
    run -3 rung train "${words[@]}" --steps 4 -o n.safetensors --checkpoint c.ckpt
    [[ $output == *"step 94 of a run of 4"* ]]
    change 'meta["rung.progress"] = meta["rung.progress"].replace("4", "2", 1)'
    run -3 rung train "${words[@]}" --steps 4 -o n.safetensors --checkpoint c.ckpt
    [[ $output == *"SHA-256"* ]]
    change 'del meta["rung.digest"]'
    run -3 rung train "${words[@]}" --steps 4 -o n.safetensors --checkpoint c.ckpt
    change 'meta["rung.format"] = "rung.checkpoint/1"'
    run -3 rung train "${words[@]}" --steps 4 -o n.safetensors --checkpoint c.ckpt
    [[ $output == *"another version"*"remove it to start again"* ]]
    [ ! -e n.safetensors ]
    cp good c.ckpt
    rung train "${words[@]}" --steps 4 -o n.safetensors --checkpoint c.ckpt
    cmp m.safetensors n.safetensors
}

@test "a recipe is the run of its options, which it prints; options and parameters that are given replace its own" {
    rung train --help >help.txt
    local name
    for name in eva mqar two-sum compose; do
        rung train --recipe "$name" --steps 2 --eval-prompts 8 --json -o r.safetensors 2>notes >run.json
        words=$(sed -n "s/.*recipe $name: //p" notes)
        [ -n "$words" ]
        grep -q "^  $name: " help.txt
        # The printed words alone are the same run.
        eval "rung train $words --steps 2 --eval-prompts 8 -q -o w.safetensors" >/dev/null
        cmp r.safetensors w.safetensors
        python '
import json, sys
run = json.load(open("run.json"))["run"].split()
assert "steps=2" in run and "eval_prompts=8" in run, run'
    done
    [[ $(rung train --recipe eva N=4 --steps 1 -q -o r.safetensors) == *"for eva N=4 V=64 "* ]]
    [[ $(rung train --recipe eva --task eva N=4 --steps 1 -q -o r.safetensors) == *"for eva N=4 V=4 "* ]]
    echo '{"recipe": "eva", "task": "eva N=4 V=64", "steps": 1, "out": "f.safetensors"}' >r.json
    rung train r.json -q >/dev/null
    rung train --recipe eva N=4 --steps 1 -q -o r.safetensors >/dev/null
    cmp f.safetensors r.safetensors
    run -2 --separate-stderr rung train --recipe evo -o r.safetensors
    [[ $stderr == *eva* ]]
}

# bats test_tags=plain
@test "recipes learn smaller forms of their tasks in little time" {
    without_sanitizers "training takes too long there"
    rung train --recipe eva N=16 V=16 --steps 300 --require 0.95 -q -o r.safetensors
    rung train --recipe mqar T=16 vocab=32 --steps 600 --batch 32 --require 0.9 -q -o r.safetensors
    rung train --recipe two-sum N=8 M=16 --steps 600 --require 0.9 -q -o r.safetensors
    rung train --recipe compose N0=4 n=4 V=4 --position-base 4 --steps 600 --require 0.95 -q -o r.safetensors
}

@test "a sweep takes a recipe, and its runs are those of the options" {
    echo '{"name": "a", "base": {"recipe": "eva", "task.N": 4, "steps": 1, "eval-prompts": 8}, "grid": {"seed": [1]}}' >a.json
    cat >b.json <<'END'
{"name": "a", "base": {"task": "eva N=4 V=64", "arch": "full", "queries": 64, "batch": 8, "few-values": 0.7, "rate": 0.004, "steps": 1,
 "stop-at": 0.995, "eval-prompts": 8}, "grid": {"seed": [1]}}
END
    rung sweep a.json --dry-run --no-estimate --json >a.plan
    rung sweep b.json --dry-run --no-estimate --json >b.plan
    python '
import json
a, b = (json.load(open(f))["plan"] for f in ("a.plan", "b.plan"))
assert a == b and len(a) == 1, (a, b)'
}

@test "a log that is no terminal gets a line about every ten seconds" {
    run timeout -s INT 15 "$RUNG" train --arch full --task eva N=32 --steps 10000000 --threads 1 -o m.safetensors
    [[ $output =~ step\ [0-9]+/10000000\ \ loss ]]
    [ "$(grep -c '^step [0-9]*/' <<<"$output")" -le 2 ]
    run timeout -s INT 12 "$RUNG" train --arch full --task eva N=32 --steps 10000000 --threads 1 --seed 1 -q -o n.safetensors
    ! grep -q '^step' <<<"$output"
}
