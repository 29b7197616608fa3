#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Probed models in report and export: the numbers are those that a second program computes from the store; the page looks right in a
# browser, whatever the models are called.
load common

HERE=$BATS_TEST_DIRNAME/../report

# store NAME KIND: NAME.db with invented probes in a real schema, and nothing else.
store() {
    echo '{"index": 0, "input": "x", "outputs": ["a"], "pred": "a"}' >one.jsonl
    rung import one.jsonl --kind ruler --model m --task x -o "$1.db" -q >/dev/null
    python 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for table in "probes", "probe_cells", "probe_answers": db.execute("DELETE FROM " + table)
db.commit()' "$1.db"
    "$PYTHON" "$HERE/synthetic_probes.py" "$1.db" "$2"
}

# What every check begins with: rows of the store, and Wilson's interval as the roots of (p - q)^2 = z^2 q (1 - q) / n.
SECOND='
import csv, glob, html, json, math, re, sqlite3, sys
def wilson(right, asked, z=1.959963984540054):
    if not asked: return (None,) * 3
    p, a = right / asked, z * z / asked
    b, c = 2 * p + a, p * p
    root = math.sqrt(b * b - 4 * (1 + a) * c)
    return p, (b - root) / (2 * (1 + a)), (b + root) / (2 * (1 + a))
def near(a, b): return (a is None and b in (None, "")) or abs(float(a) - float(b)) < 1e-9
def rows(path):
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    return db.execute("SELECT * FROM probes JOIN probe_cells ON probe = number ORDER BY number, place").fetchall()
'

@test "a store of probes alone makes a page with the numbers of the store" {
    store p plain
    rung report p.db -o page.html --csv out --svg out --json -q >report.json
    has_schema rung.report/1 <report.json
    python "$SECOND"'
seqcomp, recall = json.load(open("report.json"))["probes"]
assert json.load(open("report.json"))["sweeps"] == [] and (seqcomp["task"], recall["task"]) == ("seqcomp", "assoc-recall")
store = [r for r in rows("p.db") if r["task"] == "seqcomp"]
assert len(store) == len(seqcomp["cells"]) and seqcomp["models"] == 3
page = open("page.html").read()
table = list(csv.DictReader(open("out/probe-seqcomp-cells.csv")))
above = 0
for r, c, t in zip(store, seqcomp["cells"], table):
    p, low, high = wilson(r["right"], r["asked"])
    assert (c["mode"], c["depth"], c["facts"], c["asked"], c["right"]) == (r["mode"], r["depth"], r["facts"], r["asked"], r["right"])
    assert near(p, c["accuracy"]["mean"]) and near(low, c["accuracy"]["low"]) and near(high, c["accuracy"]["high"])
    assert near(p, t["accuracy"]) and near(low, t["accuracy_low"]) and near(high, t["accuracy_high"]) and int(t["right"]) == r["right"]
    assert p is None or "<b>%.3f</b> <span class=\"dim\">[%.3f, %.3f]</span>" % (p, low, high) in page.replace(" class=\"bad\"", "")
    expect = r["ceiling"] is not None and low > r["ceiling"]
    assert c["above_ceiling"] == expect
    above += expect
assert above == seqcomp["above_ceiling"] == 1 and "1 cell is above a proved ceiling" in page
assert {c["model"] for c in seqcomp["cells"]} == {"alpha-7B, seed 1", "alpha-7B, seed 2", "beta-linear"}
assert "No finished runs" not in page and "3 without answers" in page

# the figures: every point is a cell of the store
points = set()
for path in sorted(glob.glob("out/probe-seqcomp-depth-*.csv")):
    for t in csv.DictReader(open(path)):
        mode = "one-hop" if t["series"].endswith(", one look (control)") else "thinking" if t["series"].endswith(", thinking") else "direct"
        assert int(t["control"]) == (mode == "one-hop")
        hit = [c for c in seqcomp["cells"] if c["mode"] == mode and t["series"].startswith(c["model"]) and c["depth"] == int(t["depth L"])
               and near(c["accuracy"]["mean"], t["accuracy"]) and near(c["accuracy"]["low"], t["low"]) and c["asked"] == int(t["answers"])]
        assert hit, t
        assert any((c["verdict"] == "CANNOT") == (t["cannot"] == "1") and near(c["ceiling"], t["ceiling"]) for c in hit), (t, hit)
        points.add((path, t["series"], t["depth L"]))
assert len(points) == sum(c["asked"] > 0 and c["mode"] != "shuffled" for c in seqcomp["cells"]), len(points)
recalled = [(t["series"], int(t["facts n"]), int(t["answers"])) for t in csv.DictReader(open("out/probe-assoc-recall-facts-1.csv"))]
assert recalled == [(m, n, 40) for m in ("alpha-7B", "beta-linear") for n in (4, 16, 64, 256)], recalled

# depths
depths = sqlite3.connect("p.db").execute("SELECT facts, low, high, deepest FROM probe_depths ORDER BY probe, facts").fetchall()
assert depths == [(d["facts"], d["low"], d["high"], d["deepest"]) for d in seqcomp["depths"]]
assert depths == [tuple(int(t[k]) for k in ("facts", "low", "high", "deepest")) for t in csv.DictReader(open("out/probe-seqcomp-depths.csv"))]
shown = re.findall(r"<td class=\"n\"><code>n=(\d+)</code></td><td class=\"n\"><b>(\d+)(?: to (\d+))?</b>", page)
assert [(int(n), int(a), int(b or a)) for n, a, b in shown] == [d[:3] for d in depths], shown
svg = open("out/probe-seqcomp-depth-1.svg").read()
assert "chance 0.125" in svg and "best guess without the query" in svg and "crossed: theory says CANNOT" in svg and "answers</title>" in svg'
}

@test "of a probe that two stores have, the one with more answers counts" {
    store p plain
    store l less
    rung report p.db -o one.html --json -q >one.json
    rung report l.db p.db -o two.html --json -q >two.json
    rung report p.db l.db -o two.html --json -q >three.json
    python '
import json
a, b, c = ({(x["model"], x["mode"], x["facts"], x["depth"]): x for x in json.load(open(f))["probes"][0]["cells"]} for f in ("one.json", "two.json", "three.json"))
assert a == b == c'
    rung report p.db -q -o one.html >text
    grep -q "probed models: seqcomp: 3 models" text
    grep -q "beta-linear, n=16: 1 to 2" text
}

# bats test_tags=plain
@test "pages of probes in a browser: light, dark, wide, narrow, as pictures" {
    store p plain
    rung report p.db -o page.html --svg pictures -q >/dev/null
    browser page.html 1280 light live
    browser page.html 390 dark live
    browser page.html 390 light static
    browser pictures 800 dark pictures
}

# bats test_tags=plain
@test "names of models and tasks are text, whatever they say" {
    store h hostile
    rung report h.db -o page.html --svg svg --csv csv -q >text
    ! grep -q '<img' page.html
    [ "$(grep -c '<script' page.html)" -le 3 ]
    ! grep -q $'\033' text
    "$PYTHON" -c 'import glob, xml.dom.minidom as m
for f in glob.glob("svg/*.svg"): m.parse(f)
assert glob.glob("svg/*.svg")'
    browser page.html 1280 light live
    browser page.html 390 dark static
}

@test "many models and panels: what is not drawn is said" {
    store m many
    rung report m.db -o page.html -q --csv out >text
    grep -q "24 of 28 figures are drawn" page.html
    grep -q "16 of 20 models are drawn" page.html
    [ "$(ls out/*-depth-*.csv | wc -l)" = 24 ]
}

@test "export --probes writes every cell, as CSV and as JSON" {
    store p plain
    rung export p.db --probes >cells.csv
    rung export p.db --probes --jsonl -o cells.jsonl
    python "$SECOND"'
store, table, lines = rows("p.db"), list(csv.DictReader(open("cells.csv"))), [json.loads(l) for l in open("cells.jsonl")]
assert len(store) == len(table) == len(lines)
for r, t, j in zip(store, table, lines):
    assert list(t) == list(j)
    for key, value in zip(("accuracy", "low", "high"), wilson(r["right"], r["asked"])):
        if value is not None: assert near(value, t[key]) and near(value, j[key])
    assert j["accuracy"] is not None or not r["asked"]
    for key in j:
        if key in ("accuracy", "low", "high", "canonical"): continue
        assert j[key] == r[key] or near(r[key], j[key]), (key, j[key], r[key])
        assert t[key] == ("" if r[key] is None else t[key]) and (not isinstance(r[key], str) or t[key] == r[key])'
    run -2 rung export p.db --probes --metrics
    run -2 rung export p.db --probes --tensorboard d
    run -2 rung export p.db --probes --sweep s
}
