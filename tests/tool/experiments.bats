#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The experiments keep their rules: what a default form must have (seeds, rates, a control, few runs), and pages whose numbers
# are those of the runs.
load common

root=$(realpath "$BATS_TEST_DIRNAME/../..")

# Of experiments that have a page and are sweeps.
names() {
    local page name
    for page in "$root"/docs/experiments/*.md; do
        name=$(basename "$page" .md)
        [ ! -e "$root/experiments/$name.json" ] || echo "$name"
    done
}

# plan NAME: into plan.json, under its own name and with a question.
plan() {
    rung sweep "$root/experiments/$1.json" -o plan.db --dry-run --no-estimate --json >plan.json || { echo "$1 does not plan"; return 1; }
    python '
import json, sys
plan = json.load(open("plan.json"))
assert plan["name"] == sys.argv[1], "the sweep is called %s, not %s" % (plan["name"], sys.argv[1])
assert plan["question"], sys.argv[1] + " asks nothing"
assert plan["repeated"] == 0, sys.argv[1] + " has runs twice"' "$1"
}

# bats test_tags=plain
@test "every experiment has a full form that plans" {
    without_sanitizers "the levels of a task are computed for every run of a plan"
    local name
    for name in $(names); do plan "$name.full"; done
}

# Controls may have a single rate: what random labels reach does not depend on it, and nothing is chosen there.
@test "a default form has at most 100 runs, five seeds, several rates per architecture and a control" {
    local name
    for name in $(names); do
        plan "$name"
        python '
import collections, json, re, sys
name = sys.argv[1]
runs = [(r["label"], r["run"]) for r in json.load(open("plan.json"))["plan"]]
assert len(runs) <= 100, "%s has %d runs" % (name, len(runs))
seeds, rates, controls = collections.defaultdict(set), collections.defaultdict(set), 0
for label, run in runs:
    word = lambda key: re.findall(r"(?:^| )%s=(\S+)" % key, run)[-1]  # after those of the task, which may have a rate of its own
    control = word("random_labels") == "1"
    controls += control
    setting = re.sub(r" seed=\S+", "", run)
    seeds[setting].add(word("seed"))
    if not control:
        rates[re.sub(r" rate=\S+", "", setting)].add(word("rate"))
assert controls, name + " has no run with random labels"
for setting, values in seeds.items():
    assert len(values) >= 5, "%s: fewer than five seeds of %s" % (name, setting)
for cell, values in rates.items():
    assert len(values) >= 2, "%s: a single rate for %s" % (name, cell)' "$name"
    done
}

# Headers aside, the first cell of a row names a label or an architecture of the CSV; every other number of the row is a value of that cell, rounded
# to the digits that the page shows.
@test "every number in the result tables of a page is in its CSV" {
    local page
    for page in "$root"/docs/experiments/*.md; do
        [ "$(basename "$page")" != README.md ] || continue
        echo "$page"
        python '
import csv, os, re, sys
page = sys.argv[1]
text, table, larger = open(page).read(), page[:-2] + "csv", "Result of the larger form"
sections = re.findall(r"^## (Results?\b.*?)(?=^## |\Z)", text, re.M | re.S)
if "not run yet" in text.split("\n")[0]:
    assert not sections and not os.path.exists(table), page + " was not run and has results"
    sys.exit()
assert sections, page + " has no section Result"
names, checked = ("label", "arch", "name"), 0
rows = [(s.startswith(larger), r) for s in sections for r in re.findall(r"^\|(.*)\|$(?!\n\|[ :|-]+\|$)", s, re.M)]
for full, row in rows:
    table = page[:-2] + ("full.csv" if full else "csv")
    cells = list(csv.DictReader(open(table)))
    first, *rest = [c.strip().replace("\\|", "|").replace("`", "").replace("**", "") for c in re.split(r"(?<!\\)\|", row)]
    words = {c.get(n) for c in cells for n in names}
    numbers = re.findall(r"(?<![\w.])(?<!\d-)-?\d+(?:\.\d+)?(?!\w)", " ".join(c for c in rest if c not in words))
    if re.fullmatch(r":?-+:?", first) or not numbers: continue
    mine = [c for c in cells if first in [c.get(n) for n in names]]
    assert mine, "%s: no cell of %s is called %r" % (page, table, first)
    values = []
    for value in (v for c in mine for v in c.values()):
        try: values.append(float(value))
        except (TypeError, ValueError): pass
    for number in numbers:
        half = 0.5 * 10.0 ** -len(number.partition(".")[2])
        assert any(abs(v - float(number)) <= half * (1 + 1e-9) for v in values), "%s: %s of %r is not in %s" % (page, number, first, table)
        checked += 1
assert checked, page + " shows no number"' "$page"
    done
}

# What theory says of a run does not depend on training, so runs of one step must have the same verdicts, margins, ceilings and bits.
@test "what theory says in the CSVs of trained separations is what it says now" {
    local name
    for name in two-layers separation-trained thoughts-proved; do
        python '
import json, sys
spec = json.load(open(sys.argv[1]))
cases = spec["cases"]
for part in [spec["base"]] + cases: part.pop("steps", 0), part.pop("eval-every", 0), part.pop("stop-at", 0)
spec["base"].update({"steps": 1, "eval-every": 0, "batch": 1, "eval-prompts": 1, "test-prompts": 1, "checkpoint-every": 0})
for part in [spec] + cases:
    if "grid" in part: part["grid"].update({"rate": [0.001], "seed": [1]})
for part in cases: part.pop("batch", 0), part.pop("rate", 0)
json.dump(spec, open(sys.argv[2], "w"))' "$root/experiments/$name.json" "$name.json"
        rung sweep "$name.json" --no-estimate -j 1 >/dev/null
        rung report "$name.db" -q -o r.html --csv cells >/dev/null
        python '
import csv, sys
kept, now = (list(csv.DictReader(open(path))) for path in sys.argv[1:])
said = "tokens state_bits level_bits message_bits verdict bound margin ceiling n_threshold log2_n test_numbers".split()
settings = [c for c in kept[0] if c == "label" or c.startswith("task.")]
of = {tuple(r.get(c, "") for c in settings): r for r in now}
assert len(of) == len(kept) == len(now), (len(of), len(kept), len(now))
for row in kept:
    new = of[tuple(row[c] for c in settings)]
    assert [row[c] for c in said] == [new[c] for c in said], (row, new)' "$root/docs/experiments/$name.csv" "cells/$name-cells.csv"
    done
}

@test "the effective bits on the page are those of the runs, and the fit finds what was put in" {
    awk -f "$root/experiments/capacity-fit.awk" "$root/docs/experiments/capacity-size.full.csv" >rows
    [ "$(wc -l <rows)" -ge 10 ]
    while IFS= read -r row; do grep -qxF "$row" "$root/docs/experiments/capacity-size.md"; done <rows
    # 0.5 bits per number: 8 numbers carry 4 of 8 bits, 64 numbers all of them.
    python '
import math
def carried(a): return 4 * (2 + (1 - a) * math.log2(1 - a) + a * math.log2(a) - (1 - a) * math.log2(3))
low, high = 0.25, 1 - 1e-9
for _ in range(60):
    middle = (low + high) / 2
    low, high = (middle, high) if carried(middle) < 4 else (low, middle)
print("label,task.N,random_labels,accuracy,chance,state_bits,level_bits")
print("x,4,0,%.9f,0.25,256,0\nx,4,0,1,0.25,2048,0\nx,4,1,0.25,0.25,256,0" % low)' >made.csv
    [ "$(awk -f "$root/experiments/capacity-fit.awk" made.csv)" = "| x | 2 | 0.50 | 0.0 |" ]
}

@test "an experiment can be run by its name, goes on where it was, and writes beside its page" {
    cp -r "$root/scripts" .
    mkdir -p experiments docs/experiments
    cat >experiments/tiny.json <<END
{"name": "tiny", "question": "which?", "base": {"task": "eva N=3 V=2", "steps": 5, "batch": 8, "d-model": 8, "dk": 4, "dv": 4, "test-prompts": 16},
 "grid": {"arch": ["full", "2*full"], "seed": [1, 2]}}
END
    echo '![](tiny-success-full-layers-1.svg)' >docs/experiments/tiny.md
    BUILD=b RUNG=$RUNG scripts/experiment.sh tiny -j 1
    [ "$(cd docs/experiments && echo *)" = "tiny-success-full-layers-1.svg tiny.csv tiny.md" ]
    [ "$(wc -l <docs/experiments/tiny.csv)" = 3 ]
    BUILD=b RUNG=$RUNG scripts/experiment.sh tiny -j 1 | grep -q '^done      0 now, 4 before$'
    sed 's/"tiny"/"tiny.full"/; s/\[1, 2\]/[1, 2, 3]/' experiments/tiny.json >experiments/tiny.full.json
    BUILD=b RUNG=$RUNG scripts/experiment.sh tiny --full -j 1
    [ "$(cut -d, -f5 docs/experiments/tiny.full.csv | sort -u | head -1)" != "" ] && [ "$(wc -l <docs/experiments/tiny.full.csv)" = 3 ]
    run -2 --separate-stderr scripts/experiment.sh absent
    [[ $stderr == *"no experiments/absent.json"* ]]
    echo 'echo "name,value"; echo "$1,$RUNG"' >experiments/other.sh
    RUNG=r scripts/experiment.sh other --full
    [ "$(tail -1 docs/experiments/other.csv)" = --full,r ]
    [ ! -e docs/experiments/other.full.csv ]
    touch experiments/other.full.json
    RUNG=s scripts/experiment.sh other --full
    [ "$(tail -1 docs/experiments/other.full.csv)" = --full,s ] && [ "$(tail -1 docs/experiments/other.csv)" = --full,r ]
}

@test "models of two kinds are tested on both, attacked, and what is found is checked" {
    cp -r "$root/scripts" .
    mkdir experiments
    cat >experiments/tiny.json <<END
{"name": "tiny", "question": "which?",
 "base": {"task": "eva N=6 V=4 dist=zipf", "arch": "delta", "steps": 5, "batch": 8, "d-model": 8, "dk": 2, "dv": 2, "eval-every": 5},
 "grid": {"rate": [0.003, 0.002], "seed": [1, 2]},
 "cases": [{"label": "natural"}, {"label": "uniform", "task.dist": "uniform"}],
 "success": 0.01, "keep-models": true}
END
    export BUILD=b RUNG RUNG_CHECK COUNT=32 JOBS=1 BUDGET=1
    RUNG_CHECK=$(dirname "$RUNG")/rung-check
    ATTACK=climb LOG=$PWD/log scripts/two-kinds.sh tiny dist=zipf dist=uniform >attacked.csv
    scripts/two-kinds.sh tiny dist=zipf dist=uniform >plain.csv
    # The same numbers without the last columns, and by hand from the models.
    cut -d, -f1-14 attacked.csv | cmp - plain.csv
    [[ $(head -1 attacked.csv) == *,reached_uniform,broken,broken_random,broken_climbed,other_succeeded,other_broken ]]
    [ "$(wc -l <attacked.csv)" = 3 ] && [ "$(grep -c ',2,2,0,2,2$' attacked.csv)" = 2 ]
    [ "$(grep -c ' random$' log)" = 8 ] && [ "$(grep -c 'not chosen' log)" = 4 ]
    rung export b/experiments/tiny.db --models m >/dev/null
    python '
import csv, glob, json, os, subprocess
def accuracy(model, dist):
    words = [os.environ["RUNG"], "run", model, "--task", "eva", "N=6", "V=4", "dist=" + dist, "-n", "32", "--show", "0", "--json", "-q"]
    return json.loads(subprocess.check_output(words))["accuracy"]
seen = [(accuracy(m, "zipf"), accuracy(m, "uniform")) for m in glob.glob("m/*.safetensors")]
lines = [line.split() for line in open("log") if "not chosen" not in line]
assert len(seen) == 8 and len(set(seen)) > 1 and len(lines) == 4 and all((float(x[3]), float(x[4])) in seen for x in lines), (seen, lines)
for row in csv.DictReader(open("attacked.csv")):
    mine = [(float(x[3]), float(x[4])) for x in lines if x[0] == row["label"]]
    for key, value in ("natural", [a for a, _ in mine]), ("uniform", [b for _, b in mine]), ("drop", [a - b for a, b in mine]):
        assert abs(float(row[key]) - sum(value) / len(value)) <= 6e-5, (row, mine)'
    run -1 env RUNG_CHECK=false ATTACK=climb scripts/two-kinds.sh tiny dist=zipf dist=uniform
    [[ $output == *"does not accept"* ]]
}
