#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# table, the trained half: what is shown comes from the sweep that it says, no cell invents anything, and an accuracy above a proved ceiling
# stops everything.
load common

EXPERIMENTS=$BATS_TEST_DIRNAME/../../experiments

# table ARGS: without the searches and with short numbers; model.bats has the other half of the table.
table() { rung table --no-certificates --no-depth -n 2 --numbers e8m10 "$@"; }

@test "the summary that comes along is of experiments/table.json as it is now, and of runs of that spec" {
    table --json -q >table.json
    rung sweep "$EXPERIMENTS/table.json" -o plan.db --dry-run --no-estimate --json >plan.json
    python '
import hashlib, json, sys
spec = open(sys.argv[1] + "/table.json", "rb").read()
summary = json.load(open(sys.argv[1] + "/table-trained.json"))
sweep, = summary["sweeps"]
want = hashlib.sha256(spec).hexdigest()[:32]
assert sweep["spec"] == want, "experiments/table.json has changed: make table-trained"
assert json.load(open("table.json"))["trained"]["spec"] == want, "the program was built from another summary"
plan = json.load(open("plan.json"))
assert sweep["planned"] == len(plan["plan"])
# Every run of it is one of the plan.
runs = [run["run"] for run in plan["plan"]]
for cell in sweep["cells"]:
    assert cell["version"] and 0 < cell["runs"] == len(cell["seeds"]) == len(set(cell["seeds"]))
    for seed in cell["seeds"]:
        words = "arch=%s " % cell["arch"], "task=%s seed=%d steps=%d " % (cell["task"], seed, cell["steps"]), " dk=%d dv=%d " % (cell["dk"], cell["dv"])
        assert any(all(w in run for w in words) and abs(float(run.split(" rate=")[1].split()[0]) - cell["rate"]) < 1e-9 for run in runs), words
' "$EXPERIMENTS"
}

@test "every cell has what was trained, or says that nothing was" {
    table --json -q >table.json
    python '
import json, math, os, sys
doc = json.load(open("table.json"))
summary, = json.load(open(sys.argv[1] + "/table-trained.json"))["sweeps"]
key = lambda c: (c["arch"], c["task"], int(c["words"].get("thoughts") or 0))
cells = {key(c): c for c in summary["cells"]}
shown, widths = 0, {}
for cell in doc["cells"]:
    t = cell["trained"]
    if not t: continue
    want = cells[t["task"] and cell["arch"], t["task"], t["thoughts"]]
    assert t["task"].split()[0] == cell["task"].split()[0]
    assert (t["accuracy"], t["low"], t["high"]) == tuple(want["accuracy"][k] for k in ("mean", "low", "high"))
    assert (t["runs"], t["rate"], t["steps"], t["version"]) == (want["runs"], want["rate"], want["steps"], want["version"])
    # Theory is asked again. It says what it said when the runs were done, or more.
    assert t["verdict"] == want["verdict"], (t, want)
    assert want["ceiling"] is None or t["ceiling"] <= want["ceiling"], (t, want)
    if t["ceiling"] is not None and t["low"] is not None: assert t["low"] <= t["ceiling"], t
    # What is said beside the accuracy.
    weights = cell["verdict"] in ("CAN", "SAMPLED")
    if t["verdict"] == "CANNOT": lesson = "never always right" if t["ceiling"] is None else "ceiling"
    elif t["accuracy"] >= summary["success"]: lesson = "learnt"
    else: lesson = "not learnt" if weights else None
    assert t["lesson"] == lesson, (t, lesson)
    # The certificate is that of the summary.
    assert ("certificate" in t) == ("certificate" in want), t
    if "certificate" in t:
        assert open("rung-table/" + t["certificate"]["file"]).read() == want["certificate"]
        assert want["certificate"].split("\n")[1] == "kind " + t["certificate"]["kind"] and t["certificate"]["seed"] in want["seeds"]
    widths.setdefault(cell["task"].split()[0], set()).add((t["tokens"], t["d_model"], t["heads"], t["dk"], t["dv"]))
    shown += not (cell["row"].endswith("thought") and t["thoughts"] == 0)
assert shown == sum(" L=" not in c["task"] or " L=2 " in c["task"] for c in summary["cells"]) > 0
assert all(len(w) == 1 for w in widths.values()), widths' "$EXPERIMENTS"
    # 80 columns and 40 lines, of which the last two are the legend; nothing invented.
    table -q >text
    python '
lines = open("text", encoding="utf-8").read().splitlines()
assert len(lines) <= 40 and all(len(l) <= 80 and l == l.rstrip() for l in lines), [l for l in lines if len(l) > 80]
assert lines[-2].startswith("a>b: bits needed>held")'
    grep -q 'trained: <b>' rung-table/index.html
    run ! grep -qiE '(src|href)="?(https?:)?//' rung-table/index.html
}

# rung-check supports neither percom nor dsa nor thoughts.
@test "every cell that did not learn has a certificate of its trained model" {
    python '
import json, sys
summary, = json.load(open(sys.argv[1] + "/table-trained.json"))["sweeps"]
for c in summary["cells"]:
    assert c["test_numbers"] != "fp32", c["arch"]
    outside = c["task"].startswith("percom") or c["arch"].startswith("dsa") or int(c["words"].get("thoughts") or 0)
    if c["accuracy"]["mean"] < summary["success"] and not outside:
        assert c.get("certificate", "").startswith("rung-certificate 1\n"), (c["arch"], c["task"])' "$EXPERIMENTS"
}

# forged MEAN LOW HIGH [NUMBERS]: one linear cell that looks up 64 values, of which a state of 192 bits allows two thirds.
forged() {
    python '
import json, sys
cell = {"arch": "linear", "task": "eva N=64 V=64 K=64 form=position dist=uniform", "d-model": 64, "heads": 1, "dk": 2, "dv": 2, "random_labels": False,
        "runs": 5, "succeeded": 0, "settings": 2, "seeds": [1, 2, 3, 4, 5], "rate": 0.003, "steps": 10, "version": "0", "chance": 0.016}
if len(sys.argv) > 4: cell["test_numbers"] = sys.argv[4]
cell["accuracy"] = dict(zip(("mean", "low", "high"), map(float, sys.argv[1:4])), count=5)
print(json.dumps({"schema": "rung.report/1", "sweeps": [{"sweep": "forged", "spec": "0", "success": 0.99, "cells": [cell]}]}))' "$@"
}

@test "an interval above a proved ceiling stops the table, loudly" {
    forged 0.70 0.65 0.75 f32 >below.json
    table --trained below.json -q -o below >text
    grep -qE '^ +\.70≤\.66 ' text
    grep -qF 'trained: <b>0.700</b> [0.650, 0.750]' below/index.html
    grep -q 'proved: at most 0.654' below/index.html
    forged 0.72 0.67 0.77 f32 >above.json
    run -4 --separate-stderr table --trained above.json -o above
    [[ $stderr == *"above.json"*"linear"*"above 0.6538"*"theorem A"* ]]
    [ -z "$output" ]
    [ ! -e above/index.html ]
}

@test "a ceiling is not held against what the fast evaluator has measured" {
    for numbers in '' fp32 f64; do # f64: exact, but of more bits than the theorem has
        forged 0.99 0.98 1.00 $numbers >fast.json
        table --trained fast.json -q -o fast >text
        grep -qE '^ +\.99 ' text
        run ! grep -q 'proved: at most' fast/index.html
        grep -q 'does not speak of this evaluator' fast/index.html
        table --trained fast.json -q -o fast --json >table.json
        python '
import json
shown, = [c["trained"] for c in json.load(open("table.json"))["cells"] if c["trained"]]
assert shown["ceiling"] is None and shown["verdict"] == "CANNOT", shown'
    done
}

@test "two widths in one column are refused" {
    forged 0.50 0.45 0.55 f32 >one.json
    python '
import json
doc = json.load(open("one.json"))
cells = doc["sweeps"][0]["cells"]
cells.append(dict(cells[0], arch="delta", dk=4))
json.dump(doc, open("two.json", "w"))'
    run -3 --separate-stderr table --trained two.json
    [[ $stderr == *"two.json"*"look up f(x) was trained at two sizes"* ]]
}

@test "a trained model gets a certificate, which the summary carries and rung-check accepts" {
    command -v sqlite3 >/dev/null || skip "sqlite3 is not installed"
    cp -r "$BATS_TEST_DIRNAME/../../scripts" .
    cat >small.json <<'END'
{"name": "small", "base": {"task": "eva N=16 V=16", "arch": "delta", "d-model": 8, "dk": 1, "dv": 2, "steps": 5, "batch": 8, "test-prompts": 16, "test-numbers": "f16"},
 "grid": {"seed": [3, 4]}, "keep-models": true}
END
    rung sweep small.json -o small.db -q >/dev/null
    RUNG=$RUNG RUNG_CHECK=$(dirname "$RUNG")/rung-check BUDGET=10 scripts/table-certificates.sh small.db >found
    grep -q 'delta, : state-collision in f16' found
    RUNG=$RUNG RUNG_CHECK=$(dirname "$RUNG")/rung-check scripts/table-certificates.sh small.db >again
    [ ! -s again ]
    rung report small.db -q -o small.html --json >small-report.json
    table --trained small-report.json -q --json >table.json
    python '
import json
t, = [c["trained"] for c in json.load(open("table.json"))["cells"] if c["trained"]]
assert t["certificate"]["kind"] == "state-collision" and t["certificate"]["seed"] == 3 and t["lesson"] == "ceiling", t
print(t["certificate"]["file"])' >file
    rung export small.db --models models
    sha=$(sed -n 's/^model //p' "rung-table/$(cat file)")
    model=$(sha256sum models/*.safetensors | sed -n "s/^$sha  //p")
    run -10 "$(dirname "$RUNG")/rung-check" "rung-table/$(cat file)" "$model"
    table --trained small-report.json -q | grep -q '^delta rule   CANNOT\*'
}

@test "files that are no report, and two sources at once" {
    echo '{}' >empty.json
    run -3 --separate-stderr table --trained empty.json
    [[ $stderr == *"empty.json"*"rung report STORE --json"* ]]
    run -3 table --trained absent.json
    run -2 table --trained empty.json --train
}

# bats test_tags=plain
@test "a quick training fills the table, and is not done twice" {
    without_sanitizers "training is tested elsewhere"
    table --train -q --json >first.json
    python '
import json
doc = json.load(open("first.json"))
assert doc["trained"]["quick"]
of = {(c["row"], c["task"].split()[0]): c["trained"] for c in doc["cells"]}
one = of["one full layer", "eva"]
assert one["runs"] == 1 and one["low"] is None and one["accuracy"] > 0.9, one
assert of["linear attention", "eva"]["accuracy"] < 0.5'
    rung export rung-table/quick.db --jsonl -o first.jsonl
    [ "$(wc -l <first.jsonl)" -gt 1 ]
    table --train -q --json >second.json
    cmp first.json second.json
    rung export rung-table/quick.db --jsonl -o second.jsonl
    cmp first.jsonl second.jsonl # with the times at which runs ended
}

# bats test_tags=plain
@test "the page of the table has no overlaps and no messages" {
    without_sanitizers "a browser looks at the page, not at the program"
    table -q >/dev/null
    browser rung-table/index.html 1280 light static
    browser rung-table/index.html 390 dark static
}

# bats test_tags=plain
@test "table: how many functions the layers compose is what bound and verify say" {
    without_sanitizers "the same searches again"
    rung table --no-certificates -n 50 -q --json >table.json
    python '
import json, math, subprocess, sys
doc = json.load(open("table.json"))
depth = {(d["row"], d["L"]): d for d in doc["depth"]}
assert len(doc["depth"]) == 17 * 4 == len(depth)
def rung(*words):
    return json.loads(subprocess.run([sys.argv[1], *words, "--json"], stdout=subprocess.PIPE, check=True).stdout)
for d in doc["depth"]:
    L = d["L"]
    if d["row"].endswith("thought"): continue
    solve = rung("bound", d["arch"], "--heads", "1", "--head-dim", "2", "--bits", "26", "--task", "seqcomp", "L=%d" % L, "--solve", "n",
                 "--no-weights")["solve"] if L < 3 else None
    if solve: assert d["cannot"] == (solve["value"] is not None) and (not d["cannot"] or d["from_tokens"] == solve["value"]), (d, solve)
for d in doc["depth"]:
    if not d["weights"]: continue
    subprocess.run([sys.argv[1], "build", *d["build"].split(), "-o", "w.safetensors"], stdout=subprocess.DEVNULL, check=True)
    seen = rung("verify", "w.safetensors", "--numbers", "e8m17")
    assert seen["wrong"] == 0 and seen["prompts"] >= 512, (d, seen)
# Full layers: L + 1 can, L cannot. A thought for each function is as good.
names = ["one full layer", "two full layers", "three full layers", "four full layers", "five full layers"]
for layers, name in enumerate(names, 1):
    for L in range(1, 5):
        assert depth[name, L]["cannot"] == (layers <= L), (name, L)
        assert (depth[name, L]["weights"] is not None) == (layers > L), (name, L)
assert all(depth["one full layer with chain of thought", L]["weights"] for L in range(1, 5))
far = depth["four full layers", 4]
assert far["log2_from_tokens"] > 100' "$RUNG"
}

# bats test_tags=plain
@test "the page of the table: a click leads to evidence, L slides, the head sticks, two pages on paper" {
    without_sanitizers "a browser looks at the page, not at the program"
    command -v chromium >/dev/null || skip "chromium is not installed"
    command -v node >/dev/null || skip "node is not installed"
    MODULES=${BUILD:-$BATS_TEST_DIRNAME/../../build}/npm-explore
    "$BATS_TEST_DIRNAME/../../scripts/test-library.sh" "$MODULES" || skip "puppeteer-core could not be fetched"
    rung table --no-certificates -n 5 -q >/dev/null
    node "$BATS_TEST_DIRNAME/../table/page.mjs" rung-table/index.html "$MODULES"
}

@test "table writes a file for coqc for each CANNOT whose theorem Coq has, and the page links it" {
    table -o with -q --json >table.json
    python '
import json, os, re
cells = [c for c in json.load(open("table.json"))["cells"] if c["verdict"] == "CANNOT"]
page = open("with/index.html").read()
files = sorted(f for f in os.listdir("with") if f.endswith(".v"))
assert files == sorted(c["proof_file"] for c in cells if c["proof_file"]) and len(files) >= 8, files
for c in cells:
    assert c["proof_in_coq"] == (c["proof_file"] is not None) == (c["coq_missing"] is None), c
    if not c["proof_file"]: continue
    text = open("with/" + c["proof_file"]).read()
    assert re.fullmatch("[a-z][A-Za-z0-9_]*[.]v", c["proof_file"]) and "CANNOT by theorem %s." % c["bound"] in text
    assert "href=\"%s\"" % c["proof_file"] in page'
    table --no-proofs -o without -q
    ! ls without/*.v
}
