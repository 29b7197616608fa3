#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# import: logs of lm-evaluation-harness, RULER and inspect become cells and answers of a store; what is no such log is refused with the
# place; the same log again changes nothing.
load common

logs() {
    cat >lm.jsonl <<'END'
{"doc_id": 0, "doc": {"input": "x"}, "target": "stone", "arguments": {"gen_args_0": {"arg_0": "x"}}, "resps": [["stone\n"]], "filtered_resps": ["stone"], "filter": "none", "metrics": ["exact_match"], "doc_hash": "a", "prompt_hash": "b", "target_hash": "c", "exact_match": 1.0}
{"doc_id": 1, "doc": {"input": "y"}, "target": 7, "resps": [["river"]], "filtered_resps": ["river"], "filter": "none", "metrics": ["exact_match"], "exact_match": 0.0, "loglikelihood": NaN}

{"doc_id": 0, "target": "stone", "resps": [["stone"]], "filtered_resps": ["stone"], "filter": "flexible", "metrics": ["exact_match"], "exact_match": 1.0}
END
    cat >ruler.jsonl <<'END'
{"index": 0, "input": "VAR", "outputs": ["AAAAA", "BBBBB"], "pred": "They are bbbbb and AAAAA.", "others": {"id": 1}, "truncation": -1, "length": 4096}
{"index": 1, "input": "VAR", "outputs": ["AAAAA", "CCCCC"], "pred": "AAAAA", "others": {}, "length": 4096}
{"index": 2, "input": "VAR", "outputs": ["AAAAA"], "pred": "AAAAA", "others": {}, "length": 4096}
END
    cat >inspect.json <<'END'
{"version": 2, "status": "success",
 "eval": {"task": "rung_eva", "model": "openai/m"},
 "samples": [
  {"id": 0, "epoch": 1, "input": "x", "target": "stone", "output": {"completion": "stone"}, "scores": {"match": {"value": "C", "answer": "stone"}}},
  {"id": 1, "epoch": 1, "input": "x", "target": ["stone"], "output": {"completion": "cat"}, "scores": {"match": {"value": "I"}}},
  {"id": 2, "epoch": 1, "input": "x", "target": "a", "output": {"completion": "a"}, "scores": {"f1": {"value": 0.9}}},
  {"id": 0, "epoch": 2, "input": "x", "target": "stone", "output": {"completion": "stone"}, "scores": {"match": {"value": "C"}}}]}
END
}

@test "logs of three harnesses become cells" {
    logs
    rung import lm.jsonl --model m --task x --depth 2 --chance 0.25 -o i.db --json >a.json
    has_schema rung.import/1 <a.json
    run -0 rung import ruler.jsonl --model m --task vt -o i.db
    [[ $output == *"ruler, 2 of 3 right"* ]]
    run -0 rung import inspect.json -o i.db
    [[ $output == *"inspect, 2 of 3 right"*"1 of further"* ]]
    rung import lm.jsonl --model m --task x --depth 2 --chance 0.25 -o i.db -q
    python '
import json, sqlite3
[a] = json.load(open("a.json"))["logs"]
assert (a["asked"], a["right"], a["left_out"]) == (2, 1, 1)
db = sqlite3.connect("i.db")
rows = db.execute("SELECT source, model, task, mode, depth, asked, \"right\", chance FROM probes JOIN probe_cells ON probe = number ORDER BY number").fetchall()
assert rows == [("lm-eval", "m", "x", "log", 2, 2, 1, 0.25), ("ruler", "m", "vt", "log", 0, 3, 2, None),
                ("inspect", "openai/m", "rung_eva", "log", 0, 3, 2, None)], rows
assert db.execute("SELECT wanted, said FROM probe_answers WHERE probe = 1 ORDER BY item").fetchall() == [("stone", "stone"), ("7", "river")]'
}

@test "stores with imports and probes merge" {
    logs
    rung import lm.jsonl --model m --task x -o one.db -q
    rung import ruler.jsonl --model m --task vt -o two.db -q
    rung merge -o all.db one.db two.db one.db
    python '
import sqlite3
db = sqlite3.connect("all.db")
assert db.execute("SELECT source, count(*) FROM probes JOIN probe_answers ON probe = number GROUP BY source ORDER BY source").fetchall() == [("lm-eval", 2), ("ruler", 3)]'
}

@test "a store of version 1 is read as it is and brought up to date when written" {
    logs
    rung import lm.jsonl --model m --task x -o old.db -q
    python '
import sqlite3
db = sqlite3.connect("old.db")
for table in "exchanges", "probes", "probe_cells", "probe_answers", "probe_depths": db.execute("DROP TABLE " + table)
db.execute("ALTER TABLE runs DROP COLUMN test_numbers")
db.execute("PRAGMA user_version = 1")
db.commit()'
    rung export old.db --jsonl
    rung merge -o new.db old.db
    rung import ruler.jsonl --model m --task vt -o old.db
    [ "$(python 'import sqlite3
print(*sqlite3.connect("old.db").execute("PRAGMA user_version").fetchone())')" = 3 ]
}

@test "what is no log is refused with the place" {
    logs
    echo '{"hello": 1}' >no.json
    run -3 --separate-stderr rung import no.json --model m --task x
    [[ $stderr == *"--kind"* ]]
    { head -1 lm.jsonl; echo '{"doc_id": 5, "filter": "none", "metrics": []}'; } >half.jsonl
    run -3 --separate-stderr rung import half.jsonl --model m --task x
    [[ $stderr == *"line 2: none of its metrics"* ]]
    { head -1 ruler.jsonl; echo '{"index": 1, "outputs": ["A"]}'; } >data.jsonl
    run -3 --separate-stderr rung import data.jsonl --model m --task x
    [[ $stderr == *"line 2: no 'pred'"* ]]
    { head -1 ruler.jsonl; echo '{"index": 1, '; } >broken.jsonl
    run -3 rung import broken.jsonl --model m --task x
    printf 'PK\003\004zip' >x.eval
    run -3 --separate-stderr rung import x.eval --model m --task x
    [[ $stderr == *"inspect log dump"* ]]
    : >empty
    run -3 rung import empty --model m --task x
    run -2 --separate-stderr rung import lm.jsonl --task x
    [[ $stderr == *"--model"* ]]
    run -2 rung import lm.jsonl --model m
}
