#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# rung task: every format as its readers see it, the same bytes for any number of threads, and whole files only.
load common

@test "jsonl: every task gives valid records whose ids are in range and whose players cover the prompt" {
    for task in $TASKS; do rung task "$task" -n 7 --first 5 --seed 3 >"$task.jsonl"; done
    python '
import json, sys

def check(r, conf):
    n = len(r["tokens"] if conf["vocab"] else r["features"])
    assert 0 < n <= conf["tokens"]
    if conf["vocab"]:
        assert all(0 <= t < conf["vocab"] for t in r["tokens"])
        assert len(r["text"].split()) == n
    else:
        assert all(len(f) == conf["d_in"] for f in r["features"])
    asked = [r["answer"]] if "answer" in r else [t for t in r["targets"] if t is not None]
    assert asked, "no target"
    for a in asked:
        if conf["answers"]: assert 0 <= a < conf["answers"]
        else: assert len(a) == conf["d_out"]
    if "targets" in r: assert len(r["targets"]) == n
    else: assert 0 <= r["position"] < n
    at = 0
    for p in r["players"]:
        assert p["start"] == at
        at += p["len"]
    assert at == n

for task in json.load(open(sys.argv[1]))["tasks"]:
    rows = [json.loads(line) for line in open(task["name"] + ".jsonl")]
    assert [r["index"] for r in rows] == list(range(5, 12))
    for r in rows: check(r, task["at_defaults"])' "$BATS_FILE_TMPDIR/tasks.json"
}

@test "the answers of eva are right" {
    rung task eva N=9 V=5 -n 200 >out.jsonl
    python '
import json
for line in open("out.jsonl"):
    r = json.loads(line)
    table, query = r["tokens"][:9], r["tokens"][9] - 5
    assert r["answer"] == table[query] and r["answer_text"] == "v%d" % table[query]'
}

@test "--json without a file holds the records of jsonl" {
    for task in eva q-sparse-average; do
        rung task $task -n 3 >lines
        rung task $task -n 3 --json >object
        has_schema rung.task/1 <object
        python '
import json
assert json.load(open("object"))["instances"] == [json.loads(l) for l in open("lines")]'
    done
}

@test "--first continues the same sequence and --seed starts another" {
    rung task eva -n 10 >all
    { rung task eva -n 4; rung task eva -n 6 --first 4; } | cmp - all
    run ! cmp <(rung task eva -n 10 --seed 1) all
}

@test "batches join without a seam" {
    # A batch has at most 4096 instances.
    rung task eva N=4 -n 5000 >all
    rung task eva N=4 -n 1 --first 4500 | cmp - <(sed -n 4501p all)
    python 'import numpy' || skip "no numpy"
    rung task eva N=4 -n 5000 -f npz -o all.npz -q
    python '
import json, numpy as np
z = np.load("all.npz")
rows = [json.loads(line) for line in open("all")]
assert [r["index"] for r in rows] == list(range(5000))
assert (z["inputs"] == np.array([r["tokens"] for r in rows])).all()'
}

@test "text: one prompt and its answer for every task with tokens, in both styles" {
    for task in $TOKEN_TASKS; do
        rung task "$task" -n 4 -f text >out
        [ "$(grep -c '^   -> .' out)" = 4 ]
        head -1 out | grep -q "^# $task .*, seed 0$"
    done
    for task in $FACT_TASKS; do
        rung task "$task" -n 4 -f text --style facts >out
        [ "$(grep -c '^   -> .' out)" = 4 ]
    done
}

@test "facts: the answer is a name of the prose" {
    rung task eva -n 50 --style facts >out.jsonl
    python '
import json
for line in open("out.jsonl"):
    r = json.loads(line)
    asked = r["text"].split("Where does ")[1].split(" live?")[0]
    assert "%s lives in %s." % (asked, r["answer_text"]) in r["text"]'
}

@test "inspect: input, target, id, metadata" {
    for task in $TOKEN_TASKS; do rung task "$task" -n 3 -f inspect >>out.jsonl; done
    python '
import json
for i, line in enumerate(open("out.jsonl")):
    r = json.loads(line)
    assert set(r) == {"input", "target", "id", "metadata"} and r["id"] == i % 3
    assert r["target"] and " " not in r["target"] and isinstance(r["input"], str)'
}

@test "lm-eval: a directory with a task file and its data" {
    rung task eva N=8 -n 5 -f lm-eval -o eval -q
    [ "$(ls eval)" = "$(printf 'rung_eva_N8.jsonl\nrung_eva_N8.yaml')" ]
    python '
import json
rows = [json.loads(l) for l in open("eval/rung_eva_N8.jsonl")]
assert len(rows) == 5 and all(r["input"].endswith("Answer:") and r["target"] for r in rows)
try:
    import yaml
except ImportError:
    raise SystemExit
t = yaml.safe_load(open("eval/rung_eva_N8.yaml"))
assert t["task"] == "rung_eva_N8" and t["dataset_path"] == "json" and t["test_split"] == "test"
assert t["dataset_kwargs"]["data_files"]["test"] == "eval/rung_eva_N8.jsonl"
assert t["output_type"] == "generate_until" and t["generation_kwargs"]["until"] == []
assert t["filter_list"][0]["filter"][0]["regex_pattern"] == r"(\S+)"
assert t["doc_to_text"] == "{{input}}" and t["doc_to_target"] == "{{target}}"'
    rung task eva N=16 -n 5 -f lm-eval -o eval -q
    [ "$(find eval -name '*.yaml' | wc -l)" = 2 ]
}

@test "ruler: <dir>/<task>/validation.jsonl with its fields" {
    rung task k-hop -n 5 -f ruler -o ruler -q
    python '
import json
for i, line in enumerate(open("ruler/rung_k_hop/validation.jsonl")):
    r = json.loads(line)
    assert r["index"] == i and isinstance(r["outputs"], list) and len(r["outputs"]) == 1
    assert r["length"] == len(r["input"].split()) and r["answer_prefix"].endswith("Answer:")
    assert not r["input"].endswith("Answer:")'
}

@test "npz: numpy reads what jsonl says, for every task" {
    python 'import numpy' || skip "no numpy"
    for task in $TASKS; do
        rung task "$task" -n 6 -f npz -o "$task.npz" -q
        rung task "$task" -n 6 >"$task.jsonl"
    done
    python '
import json, sys, numpy as np

def check(z, i, r):
    n = int(z["lengths"][i])
    want = np.array(r["tokens"] if "tokens" in r else r["features"], z["inputs"].dtype)
    assert n == len(want) and (z["inputs"][i, :n] == want).all()
    targets = r.get("targets") or [r["answer"] if t == r["position"] else None for t in range(n)]
    targets += [None] * (z["labels"].shape[1] - n)
    for t, target in enumerate(targets):
        if "mask" in z:
            assert z["mask"][i, t] == (target is not None)
            if target is not None: assert (z["labels"][i, t] == np.array(target, np.float32)).all()
        else:
            assert z["labels"][i, t] == (-100 if target is None else target)
    if "tokens" in r: assert z["inputs"].dtype == z["labels"].dtype == np.int64

for task in sys.argv[1:]:
    z = dict(np.load(task + ".npz"))
    for i, line in enumerate(open(task + ".jsonl")): check(z, i, json.loads(line))
    assert i == 5' $TASKS
}

@test "the same bytes for any number of threads, in every format" {
    for threads in 1 2 5; do
        mkdir $threads
        for format in jsonl text inspect npz lm-eval ruler; do
            (cd $threads && rung task eva N=4 -n 5000 -f $format -o out-$format --threads $threads -q)
        done
        (cd $threads && RUNG_THREADS=$threads rung task seqcomp -n 300 >stdout)
    done
    diff -r 1 2
    diff -r 1 5
}

@test "a file and stdout hold the same bytes" {
    for format in jsonl text inspect; do
        rung task eva -n 20 -f $format >stdout
        rung task eva -n 20 -f $format -o file -q
        cmp stdout file
    done
}

@test "notes go to stderr, --quiet silences them, --json says where the file is" {
    run -0 --separate-stderr rung task eva -o file
    [ -z "$output" ]
    [[ $stderr == "wrote 10 instances of eva "*" to file" ]]
    run -0 --separate-stderr rung task eva -o file -q
    [ -z "$output$stderr" ]
    rung task eva -o file --json | has_schema rung.task/1
}

@test "features have no words" {
    for format in text inspect; do
        run -2 rung task nearest-neighbour -f $format
        [[ $output == *"use --format jsonl or npz"* ]]
    done
    run -2 rung task nearest-neighbour -f lm-eval -o dir
    [ ! -e dir ]
}

@test "combinations without a meaning are refused" {
    run -2 rung task eva -f npz
    [[ $output == *"-o FILE.npz"* ]]
    run -2 rung task eva -f lm-eval
    [[ $output == *"-o DIR"* ]]
    run -2 rung task eva --json -f text
    run -2 rung task eva --leak -o file
    run -2 rung task string-equality --style facts
    run -2 rung task eva --style facts -f npz -o x.npz
    [ -z "$(ls)" ]
}

@test "wrong task names and parameters name the nearest" {
    run -2 rung task evva
    [[ $output == *"did you mean 'eva'"* ]]
    run -2 rung task eva N=0
    [[ $output == *N* ]]
    run -2 rung task eva Q=3
    [[ $output == *"unknown parameter 'Q'"* ]]
}

@test "the leak probe: levels, verdict, and exit code 0 where there is none" {
    for task in eva k-hop seqcomp; do
        run -0 rung task "$task" --leak -n 1000
        [[ $output == *"no leak"* ]]
    done
    rung task eva --leak --json | has_schema rung.task/1
    rung task eva N=8 --leak --json | python '
import json, sys
leak = json.load(sys.stdin)["leak"]
assert leak["verdict"] == "no leak" and leak["tested"] == 2048
limit = leak["declared"] + leak["slack"]
assert all(0 <= leak[k] <= limit for k in ("majority", "position", "frequency"))'
}

@test "a place that cannot be written exits 4 and names it" {
    run -4 rung task eva -o missing/file.jsonl
    [[ $output == *missing/file.jsonl* ]]
    touch plain
    run -4 rung task eva -f lm-eval -o plain/dir
    [[ $output == *plain/dir* ]]
    run -4 rung task eva -f ruler -o plain
    [[ $output == *plain* ]]
}

@test "an interrupt leaves no file behind and exits 130 or 143" {
    for signal in INT:130 TERM:143; do
        python '
import os, signal, subprocess, sys, time
name, code = sys.argv[2].split(":")
number = getattr(signal, "SIG" + name)
for format in ("jsonl", "npz"):
    p = subprocess.Popen([sys.argv[1], "task", "eva", "N=64", "-n", "2000000", "-f", format, "-o", "big." + format],
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(0.5)
    assert p.poll() is None, "finished before the signal"
    p.send_signal(number)
    assert p.wait(30) == int(code), p.returncode
assert os.listdir(".") == [], os.listdir(".")' "$RUNG" "$signal"
    done
}
