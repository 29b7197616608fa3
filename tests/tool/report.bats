#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# report: cells and intervals are those that a second program computes from the store; pages load nothing, show hostile names as text,
# and look right in a browser.
load common

HERE=$BATS_TEST_DIRNAME/../report

# store KIND [RUNS]: KIND.db with invented runs in a real schema.
store() {
    echo '{"name": "one", "base": {"arch": "full", "task": "eva N=2 V=2", "steps": 2, "batch": 2, "d-model": 4, "dk": 2, "dv": 2,
        "test-prompts": 4}}' >one.json
    rung sweep one.json -o "$1.db" -q >/dev/null
    "$PYTHON" "$HERE/synthetic.py" "$1.db" "$@"
}

@test "every cell is what a second program computes from the store" {
    store capacity
    rung report capacity.db -o page.html --json >report.json
    has_schema rung.report/1 <report.json
    python '
import json, math, sqlite3
T = {2: 12.706204736, 3: 4.302652730, 4: 3.182446305, 5: 2.776445105}
Z = 1.959963984540054
rows = {}
for arch, words, random, test, eval_, loss in sqlite3.connect("capacity.db").execute(
        "SELECT arch, words, random_labels, test_accuracy, eval_accuracy, eval_loss FROM runs"):
    w = json.loads(words)
    rows.setdefault((arch, w["task.N"], w["dk"], random), {}).setdefault(w["rate"], []).append((test, eval_, loss))
mean = lambda v: sum(v) / len(v)
sweep, = json.load(open("report.json"))["sweeps"]
assert sweep["chosen"] == ["rate"] and sweep["controls"] == 2 and sweep["controls_above_chance"] == 0 and sweep["diverged"] == 15
assert len(sweep["cells"]) == len(rows) == 47
for cell in sweep["cells"]:
    w = cell["words"]
    settings = rows.pop((w["arch"], int(w["task.N"]), int(w["dk"]), int(cell["random_labels"])))
    rate = max(settings, key=lambda r: (mean([e for _, e, _ in settings[r]]), -mean([l for _, _, l in settings[r]])))
    assert float(w["rate"]) == rate and cell["settings"] == len(settings)
    runs = settings[rate]
    test = [t for t, _, _ in runs if t is not None]
    m = mean(test)
    half = T[len(test)] * math.sqrt(sum((t - m) ** 2 for t in test) / (len(test) - 1) / len(test))
    a, s = cell["accuracy"], cell["success"]
    for got, want in (a["mean"], m), (a["low"], m - half), (a["high"], m + half): assert abs(got - want) < 1e-8, (got, want)
    n, k = len(runs), sum(t is not None and t >= 0.95 for t, _, _ in runs)
    assert (cell["runs"], cell["succeeded"], cell["diverged"]) == (n, k, n - len(test))
    for limit in s["low"], s["high"]: assert abs((k / n - limit) ** 2 * n - Z * Z * limit * (1 - limit)) < 1e-9
assert not rows'
}

@test "the terminal has the cells of the JSON, within 80 columns, and sweep ends with them" {
    store capacity
    rung report capacity.db -o page.html -q >text
    rung report capacity.db -o page.html --json >report.json
    run ! grep -nE '.{81}' text
    grep -qF "and 7 more: see the page, or --json" text
    python '
import json, re
rows = [l for l in open("text") if re.search(r" of \d+  ", l)]
cells = json.load(open("report.json"))["sweeps"][0]["cells"]
assert len(cells) == 47 and len(rows) == 40
clip = lambda x: min(max(x, 0), 1)
for row, cell in zip(rows, cells):
    w, a = cell["words"], cell["accuracy"]
    assert "N=%s " % w["task.N"] in row and " %d of %d " % (cell["succeeded"], cell["runs"]) in row, (row, w)
    assert (" - " if a["mean"] is None else " %.3f " % a["mean"]) in row, (row, a)
    if a["low"] is not None: assert "%.3f to %.3f" % (clip(a["low"]), clip(a["high"])) in row, (row, a)
    assert ("control" in row) == cell["random_labels"]'
    echo '{"name": "two", "base": {"task": "eva N=2 V=2", "steps": 2, "batch": 2, "d-model": 4, "dk": 2, "dv": 2, "test-prompts": 4},
        "cases": [{"label": "scan", "arch": "linear"}, {"label": "all", "arch": "full"}]}' >two.json
    rung sweep two.json -o capacity.db -q >end
    grep -qE "^  scan +[01]\.[0-9]+ .* of 1 " end
    run ! grep -q "N=" end
}

@test "figures are the same as SVG, as CSV and in the page" {
    store capacity
    rung report capacity.db -o page.html --svg figures --csv figures --json >report.json 2>notes
    python '
import csv, glob, json, os
import xml.etree.ElementTree as tree
ids = json.load(open("report.json"))["sweeps"][0]["figures"]
page = open("page.html").read()
assert {os.path.basename(f)[:-4] for f in glob.glob("figures/*.svg")} == set(ids)
for id in ids:
    assert "id=\"%s\"" % id in page
    tree.parse("figures/%s.svg" % id)
    rows = list(csv.DictReader(open("figures/%s.csv" % id)))
    assert rows, id
cells = list(csv.DictReader(open("figures/capacity-cells.csv")))
assert len(cells) == 47 and cells[0]["arch"] == "full"
points = [r for r in csv.DictReader(open("figures/capacity-accuracy-N-1.csv")) if r["series"] == "linear"]
want = [c for c in cells if c["arch"] == "linear" and c["dk"] == "4"]
assert [(p["N"], p["test accuracy"], p["low"], p["ceiling"]) for p in points] == \
    [(c["task.N"], c["accuracy"], c["accuracy_low"], c["ceiling"]) for c in want]
assert sum(p["cannot"] == "1" for p in points) == 3'
    run ! grep -qiE '(src|href)="?(https?:)?//' page.html
    grep -q 'Wilson' page.html
    grep -q "Student's t" page.html
        grep -q 'certificate of linear' page.html
    grep -q 'random labels' page.html
    [ "$(grep -c '<details><summary>certificate</summary>' page.html)" = 2 ]
}

@test "figures have their colours also where there are no variables" {
    store capacity
    rung report capacity.db -o page.html --svg figures -q >text
    python '
import glob, re
files = glob.glob("figures/*.svg")
assert files
for file in files:
    text = open(file).read()
    style = re.search("<style>(.*?)</style>", text, re.S)
    assert "var(" not in text.replace(style.group(0), ""), file
    used = re.findall("([a-z]+):var\\(--([a-z0-9]+)\\)", style.group(1))
    plain = re.findall("([a-z]+):#[0-9a-f]+;\\1:var\\(--([a-z0-9]+)\\)", style.group(1))
    assert used == plain and len(used) > 8, (file, used, plain)
    named = set(re.findall("class=\"([^\"]*)\"", text.replace(style.group(0), "")))
    for name in {n for names in named for n in names.split()}:
        assert re.search(r"\.%s\b" % name, style.group(1)), (file, name)'
}

@test "layers, architectures alone and runs of no sweep have figures too" {
    store depth
    rung report depth.db -o depth.html --csv depth --json >depth.json
    [ -e depth/depth-map-full-layers-1.csv ]
    # A series is a line: the order of layers tells series apart, and none has two values at one place.
    python '
import collections, csv
places = collections.defaultdict(list)
for row in csv.DictReader(open("depth/depth-accuracy-full-layers-1.csv")): places[row["series"]].append(row["full layers"])
kinds = {name.split(",")[0] for name in places}
assert kinds == {"full", "full+linear", "linear+full", "full+linear+full"}, kinds
for name, at in places.items(): assert len(at) == len(set(at)) > 1, (name, at)'
    store plain
    rung report plain.db -o plain.html --csv plain >text
    grep -q '^runs of no sweep: 1 run, 1 cell' text
    [ "$(wc -l <plain/plain-cells-1.csv)" = 7 ]
}

@test "several stores are one report, and a run of both counts once" {
    store capacity
    cp capacity.db other.db
    rung report capacity.db -o a.html --json >a.json
    rung report capacity.db other.db -o b.html --json >b.json
    cmp a.json b.json
}

# bats test_tags=plain
@test "names of a store are text, wherever they stand" {
    store hostile
    rung report hostile.db -o page.html --svg pictures --csv tables >text 2>notes
    run ! grep -qE '<img|alert\("2"\)|<!--' page.html
    run ! grep -rqE '<img|<script' pictures
    for file in pictures/*.svg; do python 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$file"; done
    [ -z "$(find . -path '*<*')" ]
    browser page.html 1280 light live
    browser page.html 390 dark static
}

# bats test_tags=plain
@test "a page has no overlaps and no messages, on a desk and on a phone, light and dark" {
    store capacity
    rung report capacity.db -o page.html -q >text
    browser page.html 1280 light live
    browser page.html 390 dark live
    browser page.html 1280 dark static
    browser page.html 390 light static
}

# bats test_tags=plain
@test "pictures that stand alone have no overlaps, with many places at an axis too" {
    store dense
    rung report dense.db -o page.html --svg dense -q >text
    browser dense 800 light pictures
    browser page.html 390 dark static
    store capacity
    rung report capacity.db -o page.html --svg capacity -q >text
    browser capacity 800 dark pictures
}

@test "what cannot be read or written is said" {
    run -3 --separate-stderr rung report absent.db
    [[ $stderr == *"absent.db does not exist"* ]]
    echo text >no.db
    run -3 --separate-stderr rung report no.db
    [[ $stderr == *"no.db"* ]]
    store plain
    run -2 rung report plain.db -o plain.db
    run -2 rung report
    run ! rung report plain.db -o absent/page.html
    [ ! -e report.html ]
}

@test "a line of theory stands where the verdict changes, for the parameters of the series" {
    # A state of 4 numbers, 128 bits, holds 32 values of 4 bits and not 33; 5 numbers hold 40.
    echo '{"name": "line", "base": {"task": "eva N=8 V=16", "d-model": 8, "steps": 1, "batch": 1, "warmup": 0, "eval-every": 0, "eval-prompts": 1,
        "test-prompts": 2}, "grid": {"task.N": [16, 64, 128], "seed": [1, 2]}, "cases": [{"arch": "linear:dk=2:dv=1"}, {"arch": "delta:dk=5:dv=1"},
        {"arch": "full"}]}' >line.json
    rung sweep line.json --no-estimate -q >/dev/null
    rung report line.db -o page.html --svg line --csv line -q >text
    grep -q 'linear:dk=2:dv=1: CANNOT is proved from N = 33 on' page.html
    grep -q 'exact evaluator (f32) where theory speaks, else fast' line/line-accuracy-N-1.svg
    grep -q 'delta:dk=5:dv=1: CANNOT is proved from N = 41 on' page.html
    run ! grep -q 'full: CANNOT is proved' page.html
    # Against the state: N log2 V bits are needed.
    echo '{"name": "state", "base": {"task": "eva N=32 V=16", "d-model": 8, "steps": 1, "batch": 1, "warmup": 0, "eval-every": 0, "eval-prompts": 1,
        "test-prompts": 2, "arch": "delta", "dv": 1}, "grid": {"dk": [2, 4, 8], "seed": [1, 2]}}' >state.json
    rung sweep state.json --no-estimate -q >/dev/null
    rung report state.db -o state.html -q >text
    grep -q 'CANNOT is proved up to dk = 3' state.html
    grep -q 'CANNOT is proved below 128 bits' state.html
}

# evaluator STORE NUMBERS: says who has measured the runs of a store, and raises them above every ceiling.
evaluator() {
    python '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE runs SET test_numbers = ?, test_accuracy = 0.999, test_right = 999", [sys.argv[2] or None])
db.commit()' "$@"
}

@test "a ceiling is drawn and held against accuracies of its own arithmetic only" {
    # A state of 4 numbers, 128 bits, and tables of 64 to 512 bits: a ceiling at two of the three sizes.
    echo '{"name": "line", "base": {"task": "eva N=8 V=16", "d-model": 8, "steps": 1, "batch": 1, "warmup": 0, "eval-every": 0, "eval-prompts": 1,
        "test-prompts": 2}, "grid": {"task.N": [16, 64, 128], "seed": [1, 2]}, "cases": [{"arch": "linear:dk=2:dv=1"}]}' >line.json
    rung sweep line.json --no-estimate -q >/dev/null
    for numbers in f32 e8m10 fp32 f64 old; do
        cp line.db $numbers.db
        evaluator $numbers.db "${numbers/old/}"
        [ $numbers != old ] || python '
import sqlite3
db = sqlite3.connect("old.db")
db.execute("ALTER TABLE runs DROP COLUMN test_numbers")
db.execute("PRAGMA user_version = 2")
db.commit()'
        rung report $numbers.db -o $numbers.html --svg $numbers --csv $numbers --json -q >$numbers.json
    done
    python '
import csv, glob, json
for numbers in "f32", "e8m10", "fp32", "f64", "old":
    spoken = numbers in ("f32", "e8m10")
    sweep, = json.load(open(numbers + ".json"))["sweeps"]
    ceilings = [c["ceiling"] is not None for c in sweep["cells"]]
    assert ceilings == ([False, True, True] if spoken else [False] * 3), (numbers, ceilings)
    assert [c["verdict"] for c in sweep["cells"]] == ["UNKNOWN", "CANNOT", "CANNOT"] # of the layers, whoever measures
    assert sweep["above_ceiling"] == (2 if spoken else 0), numbers
    assert {c["test_numbers"] for c in sweep["cells"]} == {"fp32" if numbers == "old" else numbers}
    cells = list(csv.DictReader(open(numbers + "/line-cells.csv")))
    assert sum(c["ceiling"] != "" for c in cells) == sum(c["above_ceiling"] == "1" for c in cells) == (2 if spoken else 0)
    page = open(numbers + ".html").read()
    assert ("above a proved ceiling" in page) == ("CANNOT is proved from N = 33 on" in page) == spoken, numbers
    figure = open(numbers + "/line-accuracy-N-1.svg").read()
    assert ("; ceiling" in figure) == ("theory: CANNOT" in figure) == ("triangle: above" in figure) == spoken, numbers
    assert ("measured by the exact evaluator, " + numbers in figure) == (numbers in ("f32", "e8m10", "f64")), numbers
    assert ("fast evaluator, of which theory does not speak" in figure) == (numbers in ("fp32", "old")), numbers
    for path in glob.glob(numbers + "/line-curves-*.csv"): # evaluations while training are fast
        assert not any(float(r["ceiling"] or 0) for r in csv.DictReader(open(path))), path'
}

@test "the same words measured by two evaluators are two cells" {
    echo '{"name": "two", "base": {"task": "eva N=64 V=64", "arch": "linear:dk=1:dv=1", "d-model": 8, "steps": 1, "batch": 1, "warmup": 0,
        "eval-every": 0, "eval-prompts": 1, "test-prompts": 2}, "grid": {"seed": [1, 2]}}' >two.json
    rung sweep two.json --no-estimate -q >/dev/null
    cp two.db fast.db
    python '
import sqlite3
db = sqlite3.connect("fast.db") # as an earlier rung has done it: the same sweep, other runs
db.execute("UPDATE runs SET test_numbers = ?, id = replace(id, substr(id, 1, 4), ?), canonical = replace(canonical, ?, ?)", ["fp32", "beef", " test_numbers=f32", ""])
db.execute("UPDATE plan SET run = (SELECT id FROM runs WHERE substr(runs.id, 5) = substr(plan.run, 5))")
db.commit()'
    rung report two.db fast.db -o page.html --json -q >report.json
    python '
import json
cells = json.load(open("report.json"))["sweeps"][0]["cells"]
assert sorted((c["test_numbers"], c["runs"], c["ceiling"] is None) for c in cells) == [("f32", 2, False), ("fp32", 2, True)], cells'
}

@test "a report of a store that is damaged, foreign, locked or not to be written" {
    store capacity
    head -c 9000 capacity.db >short.db
    run -3 --separate-stderr rung report short.db -o page.html
    [[ $stderr == *"short.db is damaged"* ]]
    head -c 5000 "$RUNG" >noise.db
    run -3 --separate-stderr rung report noise.db -o page.html
    [[ $stderr == *"noise.db is no store: it is a program"* ]]
    [ ! -e page.html ]
    cp capacity.db torn.db
    python '
import os
size = os.path.getsize("torn.db")
with open("torn.db", "r+b") as f:
    f.seek(8192)
    f.write(os.urandom(size - 8192))'
    run -3 --separate-stderr rung report torn.db -o page.html
    [[ $stderr == *torn.db* ]]
    [ ! -e page.html ]
    # Somebody writes: what is finished can be read all the same. Somebody holds everything: that is said.
    python '
import sqlite3, subprocess, sys
db = sqlite3.connect("capacity.db", isolation_level=None)
db.execute("BEGIN IMMEDIATE")
report = lambda page: subprocess.run([sys.argv[1], "report", "capacity.db", "-o", page, "--wait", "1"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
assert report("reading.html").returncode == 0
db.execute("ROLLBACK")
db.execute("PRAGMA journal_mode=DELETE")
db.execute("BEGIN EXCLUSIVE")
run = report("locked.html")
assert run.returncode == 4 and "locked by another program" in run.stderr, run' "$RUNG"
    [ -s reading.html ]
    [ ! -e locked.html ]
    chmod a-w capacity.db
    rung report capacity.db -o readonly.html -q >text
    cmp <(sed 1,40d reading.html | wc -c) <(sed 1,40d readonly.html | wc -c)
}

@test "a full disk leaves no half page, and the one before as it was" {
    store capacity
    mkdir small
    mount -t tmpfs -o size=300k tmpfs small 2>/dev/null || skip "no tmpfs can be mounted here"
    dd if=/dev/zero of=small/ballast bs=1k count=260 2>/dev/null
    echo "the page before" >small/page.html
    run --separate-stderr rung report capacity.db -o small/page.html
    page=$status said=$stderr
    run --separate-stderr rung report capacity.db -o out.html --svg small/figures -q
    figures=$status
    before=$(cat small/page.html)
    left=$(ls -A small)
    rm small/ballast
    umount small
    [ "$page" = 4 ]
    [[ $said == *small/page.html* && ( $said == *"full"* || $said == *"No space left"* ) ]]
    [ "$before" = "the page before" ]
    [ "$figures" = 4 ]
    [[ $left != *tmp* && $left != *.new* ]]
}

@test "a certificate goes into the store beside its run, and stands in the cell" {
    echo '{"name": "kept", "base": {"task": "eva N=16 V=4", "d-model": 8, "dk": 2, "dv": 2, "mlp": "none", "steps": 5, "batch": 4, "test-prompts": 8},
        "grid": {"arch": ["linear", "full"]}, "keep-models": true}' >kept.json
    rung sweep kept.json --no-estimate -q >/dev/null
    rung export kept.db --models models
    [ "$(ls models | wc -l)" = 2 ]
    linear=$(sqlite3 kept.db "SELECT id FROM runs WHERE arch = 'linear'" 2>/dev/null || python 'import sqlite3; print(*sqlite3.connect("kept.db").execute("SELECT id FROM runs WHERE arch = \"linear\"").fetchone())')
    rung break "models/$linear.safetensors" --numbers e5m3 -o l.cert --store kept.db -q >/dev/null
    "$(dirname "$RUNG")/rung-check" l.cert "models/$linear.safetensors" >/dev/null || [ $? = 10 ]
    rung report kept.db -o page.html --json >report.json
    python '
import hashlib, json
sweep, = json.load(open("report.json"))["sweeps"]
of = {c["arch"]: c["certificate_sha256"] for c in sweep["cells"]}
assert of["full"] is None and of["linear"] == hashlib.sha256(open("l.cert", "rb").read()).hexdigest(), of'
    [ "$(grep -c '<details><summary>certificate</summary>' page.html)" = 1 ]
    rung build random --arch linear --task eva N=16 V=4 --d-model 8 -o other.safetensors >/dev/null
    run -3 --separate-stderr rung break other.safetensors --numbers e5m3 -o other.cert --store kept.db
    [[ $stderr == *"none of its 2 models is this one"* ]]
    store plain
    run -3 --separate-stderr rung export plain.db --models none
    [[ $stderr == *"keep-models"* ]]
}
