#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# compare: the same numbers as bound, and a picture whose bars and words are where they should be.
load common

FIXTURES=$BATS_TEST_DIRNAME/../fixtures/config

@test "compare shows the numbers of bound, one column each" {
    inputs=('2*(3*gdelta,full)' "$FIXTURES/gemma3.json" 'full@1|linear@2' "$FIXTURES/nemotron_h.json")
    rung compare "${inputs[@]}" --heads 4 --head-dim 8 >table
    rung bound "${inputs[@]}" --heads 4 --head-dim 8 --json >bound.json
    rung compare "${inputs[@]}" --heads 4 --head-dim 8 --json >compare.json
    has_schema rung.compare/3 <compare.json
    python '
import json, re
bound, compare = json.load(open("bound.json"))["results"], json.load(open("compare.json"))["results"]
assert bound == compare
rows = {}
for line in open("table"):
    m = re.match(r"(\S.*?)((?:\s{2,}\S+)+)$", line.rstrip())
    if m: rows[m.group(1)] = [0 if w == "." else int(w) for w in m.group(2).split() if w == "." or w.isdigit()]
def column(get): return [get(r) for r in bound]
assert rows["layers"] == column(lambda r: r["layers"]["total"])
assert rows["full"] == column(lambda r: r["layers"]["full"])
assert rows["recurrent"] == column(lambda r: r["layers"]["recurrent"])
assert rows["window"] == column(lambda r: r["layers"]["window"])
assert rows["no token mixing"] == column(lambda r: r["layers"]["mlp"])
assert rows["all layers: carried, bits"] == column(lambda r: r["ledger"]["sum_over_layers"]["carried_bits"])
assert rows["all layers: handed to a token, bits"] == column(lambda r: r["ledger"]["sum_over_layers"]["message_bits_per_token"])
assert rows["all layers: growth a token, elements"] == column(lambda r: sum(l["kv_elements_per_token"] for l in r["per_layer"]))
assert rows["largest layer: growth a token, elements"] == column(lambda r: max(l["kv_elements_per_token"] for l in r["per_layer"]))
assert "chunk" not in rows'
}

@test "compare with a task shows the verdicts of bound" {
    run -0 rung compare full,4*linear 3*full 4*linear --head-dim 2 --bits 26 --task seqcomp L=2 --n 542
    grep -qE '^verdict +CANNOT +SAMPLED +CANNOT$' <<<"$output"
    grep -qE '^CANNOT from n on +542 ' <<<"$output"
}

# Every word of the picture as a box (a letter is at most 0.64 of the size of its font), and none on another.
no_overlaps() {
    python '
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
width, height = map(float, root.get("viewBox").split()[2:])
boxes = []
for t in root.iter("{http://www.w3.org/2000/svg}text"):
    size = 12 if t.get("class") == "small" else 14
    x, y, w = float(t.get("x")), float(t.get("y")), 0.56 * size * len(t.text)
    x -= {"start": 0, "middle": w / 2, "end": w}[t.get("text-anchor")]
    boxes.append((x, y - 0.75 * size, x + w, y + 0.2 * size, t.text))
assert len(boxes) > 8
for i, a in enumerate(boxes):
    assert a[0] >= 0 and a[2] <= width + 6 and a[1] >= 0 and a[3] <= height, a
    for b in boxes[:i]:
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
for r in root.iter("{http://www.w3.org/2000/svg}rect"):
    x, y, w, h = (float(r.get(k) or 0) for k in ("x", "y", "width", "height"))
    assert w > 0 and h > 0 and x >= 0 and y >= 0 and x + w <= width and y + h <= height
    if "open" in r.get("class"): # the words above a panel stay free
        assert not any(b[0] < x + w and x < b[2] and b[1] < y + h and y - 6 < b[3] for b in boxes), r.attrib' "$1"
}

# bars FILE: layers, open bars, solid bars below the line.
bars() {
    python '
import sys, xml.etree.ElementTree as tree
ns = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
kinds = [r.get("class").split()[0] for g in root.iter(ns + "g") for r in g.iter(ns + "rect")]
print(len(list(root.iter(ns + "g"))), kinds.count("open"), kinds.count("cross"))' "$1"
}

@test "compare --plot: a bar per layer, open where a cache grows, no word on another, light and dark" {
    run -0 --separate-stderr rung compare '12*(3*gdelta,full)' '12*(7*gdelta,full)' 48*full --heads 32 --head-dim 128 --plot a.svg
    [ "$stderr" = "wrote a.svg" ]
    no_overlaps a.svg
    [ "$(bars a.svg)" = "192 72 192" ]
    grep -q 'prefers-color-scheme:dark' a.svg
    rung compare full,linear 2*full linear --head-dim 2 --plot b.svg --quiet >/dev/null
    no_overlaps b.svg
    [ "$(bars b.svg)" = "5 3 5" ]
    rung compare "$FIXTURES"/{qwen3_next,nemotron_h,gemma3,falcon_h1,glm_dsa,llama4}.json --plot c.svg --quiet >/dev/null
    no_overlaps c.svg
    rung compare 600*linear full --plot d.svg --quiet >/dev/null
    no_overlaps d.svg
    [ "$(bars d.svg)" = "601 1 601" ]
}

@test "compare --plot: the same scale for all, taller is more" {
    rung compare linear 'linear:dk=32:dv=32' --plot a.svg --quiet >/dev/null
    python '
import xml.etree.ElementTree as tree
ns = "{http://www.w3.org/2000/svg}"
bars = [float(r.get("height")) for g in tree.parse("a.svg").getroot().iter(ns + "g") for r in g.iter(ns + "rect")
        if r.get("class").startswith("bar")]
assert len(bars) == 2 and bars[1] > bars[0] > 0'
}

@test "compare: names with signs of XML stay words" {
    cp "$FIXTURES/jamba.json" 'a<b&c.json'
    rung compare 'a<b&c.json' --plot a.svg --quiet >/dev/null
    no_overlaps a.svg
}

@test "compare: what is wrong has the exit codes of bound" {
    run -2 rung compare
    run -2 rung compare fool
    run -2 rung compare full L=2
    run -2 rung compare full --n 10
    run -2 rung compare full --task sqcomp
    [[ $output == *"did you mean 'seqcomp'"* ]]
    run -3 rung compare full missing.json
    run -4 rung compare full --plot no/such/place.svg
}
