#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
load common

@test "list has every kind, and says honestly where there is nothing" {
    run -0 rung list
    for kind in mechanisms tasks constructions bounds attacks; do grep -qFx "$kind" <<<"$output"; done
    run -0 rung list attacks
    for name in swallow forget overwrite collide climb; do grep -q "^  $name " <<<"$output"; done
}

@test "list and list --json name the same things, one line each, with a source" {
    rung list --json >list.json
    has_schema rung.list/1 <list.json
    for kind in mechanisms tasks; do
        rung list "$kind" | sed 1d | grep -v '^      \|^$' >lines # deeper lines: equations, inputs, support
        python '
import json, sys
items = json.load(open("list.json"))[sys.argv[1]]
lines = open("lines").read().splitlines()
assert len(items) == len(lines) > 0
for item, line in zip(items, lines):
    assert line.split()[0] == item["name"]
    assert item["summary"] in line and item["source"] in line and item["source"]' "$kind"
    done
}

@test "list mechanisms states equation, inputs and what is carried of each" {
    rung list mechanisms | tr -s ' \n' '  ' >page
    rung list mechanisms --json >list.json
    python '
import json, re
page = open("page").read()
for item in json.load(open("list.json"))["mechanisms"]:
    assert re.sub(r"\s+", " ", item["equation"]) in page, item["name"]
    assert "; carries " + item["carries"] in page
    for i in item["inputs"]: assert " %s [" % i["name"] in page'
}

@test "list mechanisms says what is supported, in a table, in json and in the detail" {
    rung list mechanisms >page
    rung list mechanisms --json >list.json
    python '
import json
lines = open("page").read().splitlines()
start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["fast", "exact"])
columns = lines[start].split()
items = json.load(open("list.json"))["mechanisms"]
assert {"fast", "exact", "backward", "bf16", "quantised"} <= set(columns)
for item, line in zip(items, lines[start + 1:]):
    assert line.split() == [item["name"]] + ["yes" if item["support"][c] else "no" for c in columns], line
assert all(i["support"]["fast"] and i["support"]["exact"] for i in items)
assert not next(i for i in items if i["name"] == "sparse")["support"]["encoder"]
assert next(i for i in items if i["name"] == "full")["support"]["backward"]'
    rung list mechanisms full | grep -q '^  has .*fast, exact, backward'
}

@test "every item has a detail page with its parameters" {
    rung list --json >list.json
    for kind in mechanisms tasks; do
        for name in $(python 'import json,sys; print(*[i["name"] for i in json.load(open("list.json"))[sys.argv[1]]])' "$kind"); do
            rung list "$kind" "$name" >page
            rung list "$kind" "$name" --json | has_schema rung.list/1
            python '
import json, sys
kind, name = sys.argv[1:]
page = open("page").read()
item = next(i for i in json.load(open("list.json"))[kind] if i["name"] == name)
assert page.startswith(name + ": ")
for p in item["parameters"]:
    assert "\n  %s=" % p["name"] in page, p
    if p["kind"] == "word": assert p["default"] in p["words"]
    elif p["kind"] == "integer": assert p["low"] <= p["default"] <= p["high"], p
if kind == "mechanisms":
    assert "equation" in page and "carries" in page and item["inputs"]' "$kind" "$name"
        done
    done
}

@test "the detail of a task agrees with its instances" {
    rung list tasks eva --json >eva.json
    rung task eva --json -n 1 >one.json
    python '
import json
task = json.load(open("eva.json"))["tasks"][0]["at_defaults"]
one = json.load(open("one.json"))
assert task["vocab"] == one["vocab"] and task["answers"] == one["answers"] and task["chance"] == one["chance"]
assert task["tokens"] == len(one["instances"][0]["tokens"])'
}

@test "unknown kinds and names suggest the nearest and exit 2" {
    run -2 rung list tsaks
    [[ $output == *"did you mean 'tasks'?"* ]]
    run -2 rung list tasks evva
    [[ $output == *"did you mean 'eva'?"* ]]
    run -2 rung list bounds anything
    [[ $output == *"see 'rung list bounds'"* ]]
}
