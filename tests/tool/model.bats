#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# build, run and table: the same bytes for the same seed, the same answers in both forms, honest cells.
load common

@test "build writes the same bytes for the same seed and others for another" {
    rung build random --arch full,linear --task eva N=6 -o a.safetensors >/dev/null
    rung build random --arch full,linear --task eva N=6 -o b.safetensors >/dev/null
    rung build random --arch full,linear --task eva N=6 -o c.safetensors --seed 1 >/dev/null
    cmp a.safetensors b.safetensors
    ! cmp -s a.safetensors c.safetensors
    rung build random --arch full --task eva --json -o d.safetensors | has_schema rung.build/1
}

@test "build refuses a wrong arch with a caret under the place and writes nothing" {
    run -2 --separate-stderr rung build random --arch 'full,linaer' -o x.safetensors
    [[ $stderr == *"did you mean 'linear'"* ]]
    [[ $stderr == *$'full,linaer\n       ^'* ]]
    [ ! -e x.safetensors ]
}

@test "run: step and scan give the same predictions in every kind of format, for every mechanism" {
    for arch in $(rung list mechanisms --json | python 'import json,sys; print(*[m["name"] for m in json.load(sys.stdin)["mechanisms"]])') \
        'full@1|linear@2' 'gdelta:conv=4:gate=1:unit=1' 'rnn:kind=lstm'; do
        rung build random --arch "$arch" --task eva N=6 --norm rms --dk 4 --dv 4 -o m.safetensors >/dev/null
        for numbers in bf16 f32 q8.24; do
            rung run m.safetensors --numbers "$numbers" -n 5 --json --show 5 --form scan >scan
            rung run m.safetensors --numbers "$numbers" -n 5 --json --show 5 --form step --threads 1 >step
            cmp scan step
        done
    done
}

@test "run --step: carried bits follow the formulas" {
    rung build random --arch 'full:dk=3:dv=5@2,window:W=2:dk=1:dv=1@1,linear:dk=4:dv=2@3,gdelta:dk=2:dv=2:conv=4@1' \
        --task eva N=5 -o m.safetensors >/dev/null
    rung run m.safetensors --step --numbers bf16 --json | tee steps.json | has_schema rung.run/1
    python '
import json
for p in json.load(open("steps.json"))["positions"]:
    t = p["position"] + 1
    assert p["cache_bits"] == 16 * t * 2 * (3 + 5), p
    assert p["window_bits"] == 16 * min(t, 2) * 2, p
    assert p["recurrent_bits"] == 16 * (3 * 4 * (2 + 1) + 2 * 2), p
    assert p["conv_bits"] == 16 * 3 * (2 + 2 + 2), p
    assert p["carried_bits"] == sum(p[k] for k in ("cache_bits", "window_bits", "recurrent_bits", "conv_bits"))'
}

@test "run refuses a task that does not fit, a wrong format, a file that is no model" {
    rung build random --arch full --task eva N=6 -o m.safetensors >/dev/null
    run -2 --separate-stderr rung run m.safetensors --task eva N=7
    [[ $stderr == *"made for: eva N=6"* ]]
    run -2 --separate-stderr rung run m.safetensors --numbers e99m1
    run -2 --separate-stderr rung run m.safetensors --numbers f32,state=int8
    [[ $stderr == *"needs a scale: int8/row"* ]]
    run -2 --separate-stderr rung run m.safetensors N=6
    head -c 40 m.safetensors >cut.safetensors
    run -3 --separate-stderr rung run cut.safetensors
    [[ $stderr == *cut.safetensors* ]]
}

@test "run handles vector targets and features" {
    rung build random --arch full --task q-sparse-average -o q.safetensors >/dev/null
    rung run q.safetensors -n 3 --json >out.json
    python 'import json; assert json.load(open("out.json"))["rms_distance"] > 0'
}

# bats test_tags=plain
@test "table: every cell has a verdict with its reason, the page and the models are there" {
    local numbers=$(effort e8m17 e8m10) # with fewer bits less is left to search
    rung table -n 20 --numbers $numbers --no-depth --json >table.json
    has_schema rung.table/4 <table.json
    python '
import json, sys
cells = json.load(open("table.json"))["cells"]
certificates = {}
assert len(cells) == 60
for c in cells:
    if c["verdict"] in ("CAN", "SAMPLED"):
        assert c["proved"] if c["verdict"] == "CAN" else c["prompts"] == 20 and not c["proved"], c
        assert c["command"].startswith("rung build ") and c["model"].endswith(".safetensors")
    elif c["verdict"] == "CANNOT":
        assert c["lhs"] > c["rhs"] and c["bound"] and c["statement"] and not c["trivial"], c
        certificates[c["row"], c["task"].split()[0]] = c.get("certificate")
    else:
        assert c["verdict"] == "UNKNOWN" and c["why"], c
of = {(c["row"], c["task"].split()[0]): c for c in cells}
for row in ("linear attention", "delta rule", "gated delta rule", "Mamba-2", "log-linear attention"):
    for task in ("eva", "two-sum"):
        assert certificates[row, task]["kind"] == "state-collision", (row, task)
assert certificates["block-sparse attention", "two-sum"]["kind"] == "block-collision"
hybrid = certificates["hybrid: full, four linear", "seqcomp"]
assert hybrid["kind"] == "wrong-answer" and hybrid["numbers"] == sys.argv[1]
assert of["hybrid: full, four linear", "seqcomp"]["verdict"] == "CANNOT"
assert of["block-sparse attention", "two-sum"]["verdict"] == "CANNOT"
two = of["two full layers", "seqcomp"]
assert two["bound"] == "C0" and two["tokens"] == 75242 and two["task"] == "seqcomp L=2 N0=220 n=341"
levels = of["log-linear attention", "seqcomp"]
assert levels["bound"] == "A-compose" and levels["rhs"] == 8 * of["delta rule", "seqcomp"]["rhs"] # 510 has eight one-bits
# Five one-bits in 541. log2 541! by its definition.
import math
exact = math.log2(math.factorial(541))
for row in ("linear attention", "log-linear attention"):
    assert of[row, "percom"]["bound"] == "cut" and abs(of[row, "percom"]["lhs"] - exact) < 1e-6
assert of["log-linear attention", "percom"]["rhs"] == 5 * of["delta rule", "percom"]["rhs"]
if sys.argv[1] != "e8m17": sys.exit()
assert of["one full layer", "eva"]["proved"]
assert of["linear attention", "eva"]["rhs"] == 2 * 3 * 26
assert of["hybrid: linear, two full", "seqcomp"]["verdict"] == "SAMPLED"
assert of["three full layers", "seqcomp"]["verdict"] == of["hybrid: full, linear, full", "seqcomp"]["verdict"] == "SAMPLED"
assert of["two full layers", "percom"]["proved"] and of["one full layer", "percom"]["proved"]
assert of["three full layers", "eva"]["verdict"] == of["hybrid: full, four linear", "eva"]["verdict"] == "CAN"' $numbers
    grep -q 'class="cannot"' rung-table/index.html
    for cert in rung-table/*.cert; do
        [[ $cert != */trained-* ]] || continue # its model does not come along
        run -10 "$(dirname "$RUNG")/rung-check" "$cert" "rung-table/random-$(basename "$cert" .cert).safetensors"
    done
    rung run "rung-table/$(python 'import json; print(next(c["model"] for c in json.load(open("table.json"))["cells"] if c["verdict"] in ("CAN", "SAMPLED")))')" -n 3 >/dev/null
    run -4 --separate-stderr rung table -o /proc/nowhere
}

@test "mixed formats: both forms agree, carried bits follow the formats, and what cannot take them says so" {
    rung build random --arch 'gdelta:gate=1:unit=1,full' --task mqar --d-model 8 --heads 2 --dk 4 --dv 4 -o m.safetensors
    for numbers in served:bf16 f32,state=int8/row,cache=mxfp4 f32,state=bf16,round=stochastic,seed=3 served:bf16,chunk=16; do
        rung run m.safetensors --numbers $numbers -n 5 --json --show 5 --form scan >scan
        rung run m.safetensors --numbers $numbers -n 5 --json --show 5 --form step --threads 1 >step
        diff scan step
    done
    rung run m.safetensors --step --numbers served:bf16,state=int8/row --json >steps.json
    python3 - <<'END'
import json
steps = json.load(open("steps.json"))
for p in steps["positions"]:
    seen = p["position"] + 1
    assert p["recurrent_bits"] == 2 * 4 * (32 + 4 * 8), p
    assert p["cache_bits"] == seen * 2 * (4 + 4) * 16, p
END
    rung run m.safetensors --step --numbers served:bf16,state=int8/row,chunk=3 --json >steps.json
    python3 - <<'END'
import json
for p in json.load(open("steps.json"))["positions"]:
    stored = (p["position"] + 1) % 3 == 0
    assert p["recurrent_bits"] == (2 * 4 * (32 + 4 * 8) if stored else 2 * 4 * 4 * 32), p
END
    run -2 --separate-stderr rung run m.safetensors --numbers f32,chunk=3
    [[ $stderr == *"another format than acc=f32"* ]]
    rung run m.safetensors --numbers f32 -n 5 --json --show 5 >one
    rung run m.safetensors --numbers f32,state=f32 -n 5 --json --show 5 | sed 's/f32,state=f32/f32/' | diff one -
    rung build random --arch sparse --task mqar --d-model 8 --heads 2 --dk 4 --dv 4 -o s.safetensors
    run -2 --separate-stderr rung run s.safetensors --numbers served:bf16
    [[ $stderr == *"sparse takes one format for everything"* ]]
    run -2 --separate-stderr rung protocol m.safetensors --numbers served:bf16
    [[ $stderr == *"one number format for everything"* ]]
}
