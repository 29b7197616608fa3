#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# sweep, export and merge: a run of a sweep is a run of train; whatever interrupts, nothing finished is lost or repeated; bad specs
# and bad stores are refused with the place; what others read is what was stored.
load common

# spec FILE [STEPS [MEMBERS]]: six runs.
spec() {
    cat >"$1" <<END
{"name": "small", "question": "which learns?", "success": 0.9, ${3:-}
 "base": {"task": "eva N=3 V=2", "steps": ${2:-30}, "batch": 8, "d-model": 8, "dk": 4, "dv": 4, "eval-every": 10, "eval-prompts": 16,
          "test-prompts": 32, "checkpoint-every": 5},
 "grid": {"arch": ["full", "linear"], "seed": [1, 2, 3]}}
END
}

@test "a run of a sweep is the run of train with the same words" {
    spec s.json
    rung sweep s.json --json | has_schema rung.sweep/1
    rung train --arch linear --task eva N=3 V=2 --steps 30 --batch 8 --d-model 8 --dk 4 --dv 4 --eval-every 10 --eval-prompts 16 \
        --test-prompts 32 --seed 2 -o m.safetensors --json >train.json
    rung export s.db --jsonl >runs.jsonl
    rung sweep s.json --dry-run --json >plan.json
    python '
import hashlib, json
train = json.load(open("train.json"))
id = hashlib.sha256(("rung.run/1\n" + train["run"]).encode()).hexdigest()[:32]
plan = {r["id"]: r["run"] for r in json.load(open("plan.json"))["plan"]}
assert plan[id] == train["run"]
rows = {r["id"]: r for r in map(json.loads, open("runs.jsonl"))}
assert set(rows) == set(plan) and len(rows) == 6
for key in "loss", "accuracy", "eval_loss", "eval_accuracy", "test_loss", "test_accuracy", "parameters", "step":
    assert rows[id][key] == train[key], key'
}

@test "the plan is printed before anything is done, and a dry run does nothing" {
    spec s.json
    rung sweep s.json --dry-run >plan
    grep -q '^small: 6 runs, 0 in s.db$' plan
    grep -q '^question  which learns?$' plan
    grep -qE '^to do     6, at most about .* \(.* 2 of 2 kinds measured\)$' plan
    [ "$(grep -c 'seed' plan)" = 6 ]
    [ ! -e s.db ]
    rung sweep s.json >first
    grep -q '^done      6 now, 0 before$' first
    rung sweep s.json >second
    grep -q '^small: 6 runs, 6 in s.db$' second
    grep -q '^done      0 now, 6 before$' second
    [ "$(echo *)" = "first plan s.db s.json second" ]
}

@test "mistakes in a spec are named with their place" {
    echo '{"base": {"ratee": 0.1}}' >bad.json
    run -3 --separate-stderr rung sweep bad.json
    [[ $stderr == *'bad.json: base: unknown key "ratee"; did you mean "rate"?'* ]]
    echo '{"base": {"arch": "rnn", "task": "eva", "steps": 5, "numbers": "e99m1"}}' >bad.json
    run -3 --separate-stderr rung sweep bad.json
    [[ $stderr == *'bad.json'*e99m1* ]]
    echo '{"base": {' >bad.json
    run -3 --separate-stderr rung sweep bad.json
    [[ $stderr == *"bad.json:2:"* ]]
    run -3 rung sweep absent.json
    run -2 rung sweep
    spec s.json
    run -2 --separate-stderr rung sweep s.json --shard 4/4
    [[ $stderr == *"0 <= i < n"* ]]
    run -2 rung sweep s.json -o s.json
    [ ! -e bad.db ] && [ ! -e s.db ]
}

# interrupt SIGNAL STORE: ends a sweep when it has written a checkpoint, prints its exit code.
interrupt() {
    python '
import glob, os, signal, subprocess, sys, time
def stand(): return {f: os.stat(f).st_mtime_ns for f in glob.glob(sys.argv[2] + ".work/*.checkpoint") if os.path.exists(f)}
before = stand()
run = subprocess.Popen(sys.argv[3:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while run.poll() is None and stand() == before: time.sleep(0.002)
run.send_signal(getattr(signal, "SIG" + sys.argv[1]))
print(run.wait())' "$1" "$2" "$RUNG" sweep long.json -o "$2" --no-estimate --jobs 1
}

# bats test_tags=plain
@test "SIGINT and SIGTERM leave checkpoints and say so with 130 and 143; kill -9 changes nothing" {
    spec long.json "$(effort 300 60)"
    rung sweep long.json -o whole.db >/dev/null
    [ "$(interrupt INT cut.db)" = 130 ]
    [ -n "$(ls cut.db.work/*.checkpoint)" ]
    [ "$(interrupt TERM cut.db)" = 143 ]
    [ "$(interrupt KILL cut.db)" = -9 ]
    [ "$(interrupt KILL cut.db)" = -9 ]
    rung sweep long.json -o cut.db >/dev/null
    [ ! -e cut.db.work ]
    results whole.db >whole
    results cut.db >cut
    cmp whole cut
}

@test "two sweeps on one store share the work and repeat nothing" {
    spec s.json
    rung sweep s.json -o both.db --json >a.json &
    rung sweep s.json -o both.db --json >b.json
    wait $!
    python '
import json
a, b = json.load(open("a.json")), json.load(open("b.json"))
assert a["left"] == b["left"] == 0
assert a["done"] + b["done"] == 6, (a, b)'
    rung sweep s.json -o one.db >/dev/null
    cmp <(results both.db) <(results one.db)
}

@test "shards are parts, also in a job array, and merge to the whole" {
    spec s.json
    rung sweep s.json -o whole.db >/dev/null
    rung sweep s.json -o 0.db --shard 0/2 >/dev/null
    SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_COUNT=2 rung sweep s.json -o 1.db >said
    grep -q '^shard     1/2, from SLURM_ARRAY_TASK_ID$' said
    grep -q '^small: 3 runs' said
    run -0 rung merge -o all.db 0.db 1.db
    [ "$output" = "all.db: 6 runs added, 0 were there and are the same" ]
    run -0 rung merge -o all.db whole.db
    [ "$output" = "all.db: 0 runs added, 6 were there and are the same" ]
    cmp <(results whole.db) <(results all.db)
    rung merge -o all.db 0.db --json | has_schema rung.merge/1
    run -2 rung merge whole.db
    run -2 rung merge -o whole.db whole.db
    python 'import sqlite3; db = sqlite3.connect("1.db"); db.execute("UPDATE runs SET test_right = test_right + 1 WHERE number = 1"); db.commit()
print(db.execute("SELECT id FROM runs WHERE number = 1").fetchone()[0])' >id
    run -3 --separate-stderr rung merge -o all.db 1.db
    [[ $stderr == *"run $(cat id) differs"* ]]
}

@test "a store that is locked, foreign, damaged or on a full disk gives a message and keeps what it has" {
    spec s.json
    rung sweep s.json >/dev/null
    python '
import sqlite3, subprocess, sys
db = sqlite3.connect("s.db", isolation_level=None)
db.execute("BEGIN IMMEDIATE")
run = subprocess.run([sys.argv[1], "sweep", "s.json", "--wait", "1"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
assert run.returncode == 4 and "locked by another program" in run.stderr, run' "$RUNG"
    head -c 5000 "$RUNG" >noise.db
    run -3 --separate-stderr rung export noise.db
    [[ $stderr == *"noise.db is no store: it is a program"* ]]
    run -3 --separate-stderr rung sweep s.json -o noise.db
    [[ $stderr == *"noise.db is no store: it is a program"* ]]
    head -c 9000 s.db >short.db
    run -3 --separate-stderr rung export short.db
    [[ $stderr == *"short.db is damaged"* ]]
    run -3 --separate-stderr rung export nothing.db
    [[ $stderr == *"nothing.db does not exist"* ]]
}

@test "a full disk: a clear message, and the same command goes on when there is room" {
    mkdir small
    mount -t tmpfs -o size=400k tmpfs small 2>/dev/null || skip "no tmpfs can be mounted here"
    spec s.json
    dd if=/dev/zero of=small/ballast bs=1k count=340 2>/dev/null
    run --separate-stderr rung sweep s.json -o small/s.db
    [ "$status" = 4 ]
    said=$stderr
    rm small/ballast
    rung sweep s.json -o small/s.db >/dev/null || { umount small; return 1; }
    results small/s.db >full
    umount small
    rung sweep s.json -o roomy.db >/dev/null
    cmp full <(results roomy.db)
    [[ $said == *small/s.db* && ( $said == *"full"* || $said == *"No space left"* ) ]]
}

@test "export writes CSV, lines of JSON and events that other programs read" {
    spec s.json 30 '"choose": [],'
    rung sweep s.json >/dev/null
    rung export s.db --sweep small -o runs.csv
    rung export s.db --metrics >metrics.csv
    rung export s.db --jsonl >runs.jsonl
    rung export s.db --tensorboard tb 2>note
    grep -q '6 runs in tb' note
    python '
import csv, glob, json, sqlite3, struct
rows = list(csv.DictReader(open("runs.csv")))
lines = [json.loads(l) for l in open("runs.jsonl")]
db = sqlite3.connect("s.db"); db.row_factory = sqlite3.Row
stored = {r["id"]: r for r in db.execute("SELECT * FROM results")}
assert len(rows) == len(lines) == len(stored) == 6
lines = {l["id"]: l for l in lines}
for row in rows:
    s, line = stored[row["id"]], lines[row["id"]]
    assert json.loads(s["words"]) == line["words"]
    for key in "loss", "eval_accuracy", "test_accuracy", "test_loss":
        assert float(row[key]) == s[key] == line[key], key
    assert row["arch"] == s["arch"] and int(row["seed"]) == s["seed"] and row["task.N"] == "3" and row["chosen"] == "true"
    assert row["verdict"] == "UNKNOWN" and line["ceiling"] is None and row["ceiling"] == ""
steps = list(csv.DictReader(open("metrics.csv")))
assert len(steps) == 18 and {r["step"] for r in steps} == {"10", "20", "30"}
curve = {(r["id"], int(r["step"])): float(r["eval_loss"]) for r in steps}
for run, step, loss in db.execute("SELECT id, metrics.step, metrics.eval_loss FROM metrics JOIN runs ON runs.number = metrics.run"):
    assert curve[run, step] == loss
files = glob.glob("tb/*/events.out.tfevents.*")
assert len(files) == 6
for f in files:
    data, records = open(f, "rb").read(), 0
    while data:
        size, = struct.unpack("<Q", data[:8]); data = data[12 + size + 4:]; records += 1
    assert records == 1 + 3 * 6 + 1, records'
    run -3 --separate-stderr rung export s.db --sweep smal
    [[ $stderr == *"it has: small"* ]]
    run -2 rung export s.db --csv --jsonl
    run -2 rung export s.db -o s.db
}

@test "theorems about full layers do not speak of runs with thoughts, that about states does" {
    echo '{"name": "small", "base": {"task": "seqcomp L=1 N0=64", "steps": 2, "batch": 2, "d-model": 8, "dk": 2, "dv": 2},
        "grid": {"arch": ["full", "linear:dk=1:dv=1"], "thoughts": [0, 1]}}' >s.json
    rung sweep s.json --no-estimate >/dev/null
    rung export s.db --jsonl >runs.jsonl
    python '
import json
said = {(r["words"]["arch"], r["words"]["thoughts"]): r["verdict"] for r in map(json.loads, open("runs.jsonl"))}
assert said == {("full", 0): "CANNOT", ("full", 1): "UNKNOWN", ("linear:dk=1:dv=1", 0): "CANNOT", ("linear:dk=1:dv=1", 1): "CANNOT"}, said
assert {r["words"]["max-tokens"] for r in map(json.loads, open("runs.jsonl"))} == {66}'
    rung report s.db -q -o r.html --csv cells
    head -n 1 cells/small-cells.csv | grep -qF thoughts
    ! grep -qF max-tokens cells/small-cells.csv
}

# A run counts an answer only after its own number of thoughts, so what is proved of so many is said of it, and no more.
@test "a theorem about one thought speaks of runs with one thought" {
    echo '{"name": "thought", "base": {"task": "seqcomp L=2 N0=96 n=1 V=96", "arch": "full:dk=1:dv=1", "steps": 1, "batch": 1, "d-model": 4, "mlp": "none",
        "test-prompts": 1}, "grid": {"thoughts": [1, 2]}, "cases": [{}, {"arch": "window:W=2:dk=1:dv=1,full:dk=1:dv=1"}]}' >s.json
    rung sweep s.json --no-estimate >/dev/null
    rung export s.db --jsonl >runs.jsonl
    rung bound full:dk=1:dv=1 --bits 32 --thoughts 1 --task seqcomp L=2 N0=96 n=1 V=96 --json >said.json
    python '
import json
k1, = [t for t in json.load(open("said.json"))["theorems"] if t["id"] == "K1"]
assert k1["holds"] and k1["average_accuracy_at_most"] < 0.99, k1
runs = list(map(json.loads, open("runs.jsonl")))
assert len(runs) == 4
for run in runs:
    spoken = run["words"]["thoughts"] == 1 and run["words"]["arch"] == "full:dk=1:dv=1"
    assert (run["verdict"], run["ceiling"]) == (("CANNOT", k1["average_accuracy_at_most"]) if spoken else ("UNKNOWN", None)), run
    assert not spoken or run["bound"] == "K1", run'
}

@test "a store keeps what bound says of its runs" {
    echo '{"name": "small", "base": {"task": "eva N=64 V=64", "steps": 2, "batch": 2, "d-model": 8, "test-prompts": 4},
        "grid": {"arch": ["linear:dk=1:dv=1", "linear:dk=16:dv=16", "full:dk=1:dv=1"]}}' >s.json
    rung sweep s.json --no-estimate >/dev/null
    rung export s.db --jsonl >runs.jsonl
    for arch in linear:dk=1:dv=1 linear:dk=16:dv=16 full:dk=1:dv=1; do rung bound $arch --bits 32 --task eva N=64 V=64 --json >"$arch.json"; done
    python '
import json
ceilings = []
for run in map(json.loads, open("runs.jsonl")):
    said = json.load(open(run["words"]["arch"] + ".json"))
    assert run["verdict"] == said["verdict"]
    held = [t for t in said["theorems"] if t["holds"]]
    ceilings.append(run["ceiling"])
    assert run["ceiling"] == min((t["average_accuracy_at_most"] for t in held if t.get("average_accuracy_at_most")), default=None), run
    if held: assert (run["bound"], run["margin"]) in [(t["id"], t["margin"]) for t in held]
assert len(ceilings) == 3 and sum(c is not None for c in ceilings) == 1, ceilings'
}

@test "where theory speaks of a run its test is exact, unless the spec says otherwise" {
    echo '{"name": "small", "base": {"task": "eva N=64 V=64", "steps": 2, "batch": 2, "d-model": 8, "test-prompts": 4},
        "grid": {"arch": ["linear:dk=1:dv=1", "full:dk=1:dv=1"]}, "cases": [{}, {"test-numbers": "fp32"}, {"test-numbers": "bf16"}]}' >s.json
    rung sweep s.json --no-estimate >/dev/null
    rung export s.db --jsonl >runs.jsonl
    python '
import json
runs = [json.loads(line) for line in open("runs.jsonl")]
got = sorted((r["words"]["arch"][:4], r["words"].get("test-numbers", ""), r["test_numbers"], r["verdict"]) for r in runs)
assert got == [("full", "", "fp32", "UNKNOWN"), ("full", "bf16", "bf16", "UNKNOWN"), # "fp32" is the run that says nothing
               ("line", "", "f32", "CANNOT"), ("line", "bf16", "bf16", "CANNOT"), ("line", "fp32", "fp32", "CANNOT")], got
assert all(r["test_targets"] == 4 for r in runs)'
    # What is in the store is not done again.
    rung sweep s.json --no-estimate | grep -q '^done      0 now, 5 before'
}

@test "a sweep of an earlier rung is measured anew where theory speaks" {
    echo '{"name": "small", "base": {"task": "eva N=64 V=64", "steps": 2, "batch": 2, "d-model": 8, "test-prompts": 4},
        "grid": {"arch": ["linear:dk=1:dv=1", "full:dk=1:dv=1"]}}' >s.json
    rung sweep s.json --no-estimate >/dev/null
    python '
import sqlite3
db = sqlite3.connect("s.db")
db.execute("UPDATE runs SET id = ? WHERE test_numbers = ?", ["0" * 32, "f32"])
db.execute("UPDATE plan SET run = ? WHERE run NOT IN (SELECT id FROM runs)", ["0" * 32])
db.execute("ALTER TABLE runs DROP COLUMN test_numbers")
db.execute("PRAGMA user_version = 2")
db.commit()'
    cp s.db old.db
    rung export old.db --jsonl | grep -c '"test_numbers": "fp32"' | grep -qx 2
    rung sweep s.json --no-estimate | grep -q '^done      1 now, 1 before'
    rung export s.db --sweep small --jsonl >runs.jsonl
    python '
import json
runs = [json.loads(line) for line in open("runs.jsonl")]
assert sorted((r["verdict"], r["test_numbers"]) for r in runs) == [("CANNOT", "f32"), ("UNKNOWN", "fp32")], runs'
    # Merging takes a store without the column for a fast one.
    rung merge -o all.db old.db
    rung export all.db --jsonl | grep -c '"test_numbers": "fp32"' | grep -qx 2
    rung merge -o all.db s.db
    rung export all.db --jsonl | grep -c '"test_numbers": "f32"' | grep -qx 1
}

@test "a ceiling over prompts that the task does not draw is not held against a run" {
    echo '{"name": "hard", "base": {"arch": "full:dk=1:dv=1,4*linear:dk=1:dv=1", "steps": 1, "batch": 1, "d-model": 4, "mlp": "none", "test-prompts": 1, "queries": 3},
        "grid": {"task": ["seqcomp L=2 N0=26 n=26", "seqcomp L=2 N0=26 n=26 dist=identity"]}}' >s.json
    rung sweep s.json --no-estimate >/dev/null
    rung export s.db --jsonl >runs.jsonl
    for dist in uniform identity; do
        rung bound full:dk=1:dv=1,4*linear:dk=1:dv=1 --bits 32 --task seqcomp L=2 N0=26 n=26 dist=$dist --json >$dist.json
    done
    python '
import json
runs = {r["words"]["task.dist"]: r for r in map(json.loads, open("runs.jsonl"))}
for dist, over in ("uniform", "prompts with z_1 = identity, the rest uniform"), ("identity", "prompts of the task"):
    said = json.load(open(dist + ".json"))
    b0, = [t for t in said["theorems"] if t["id"] == "B0"]
    assert b0["average_over"] == over and 0.88 < b0["average_accuracy_at_most"] < 0.89, b0
    assert said["verdict"] == runs[dist]["verdict"] == "CANNOT"
    assert runs[dist]["ceiling"] == (b0["average_accuracy_at_most"] if dist == "identity" else None), runs[dist]'
}

# make bench-commands does it with 100,000 runs, and has bars.
@test "a store of many runs is listed whole" {
    spec s.json 10
    rung sweep s.json -o many.db --shard 0/6 >/dev/null
    "$PYTHON" "$BATS_TEST_DIRNAME/../report/synthetic.py" many.db large 2000
    rung export many.db -o all.csv
    rung export many.db --sweep large --jsonl -o all.jsonl
    [ "$(wc -l <all.csv)" = 2001 ]
    [ "$(wc -l <all.jsonl)" = 2000 ]
    [ "$(sort -u all.jsonl | wc -l)" = 2000 ]
}
