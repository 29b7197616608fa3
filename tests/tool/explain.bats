#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# explain: the claims of the worked examples in words, as a picture and as JSON; and what is untrue is said.
load common

FIXTURES=$BATS_TEST_DIRNAME/../fixtures/cert
PAGE=$BATS_TEST_DIRNAME/../../docs/commands.md

@test "explain puts the prompts side by side and marks where they differ" {
    run -0 --separate-stderr rung explain "$FIXTURES/swap-state.cert"
    [ -z "$stderr" ]
    grep -qE '^ +0 +v0 +v1 +<- differs$' <<<"$output"
    grep -qE '^ +1 +v1 +v0 +<- differs$' <<<"$output"
    grep -qE '^ +2 +x0\? +x0\? +asked: v0 and v1 are right$' <<<"$output"
    grep -qE '^-------- the same state: 38$' <<<"$output"
    grep -qE '^where +##\|\?$' <<<"$output"
    [[ $output == *"1 number of e4m3, 8 bits"*"no chain of thought can"*"agrees"* ]]
    run ! grep -E ' $|.{81}' <<<"$output"
}

@test "explain has words of its own for every kind" {
    run -0 rung explain "$FIXTURES/swap-view.cert"
    [[ $output == *"the last token ends up with the same numbers"*"No read-out"*"More"* ]]
    run -0 rung explain "$FIXTURES/swap-wrong.cert"
    [[ $output == *"the model says v1, and the right answer is v0"*"another one might be right"* ]]
    run -0 rung explain "$FIXTURES/block.cert"
    [[ $output == *"the summary of block 0 is the same"* ]]
}

@test "docs/commands.md shows what explain prints" {
    rung explain "$FIXTURES/swap-state.cert" --model "$FIXTURES/swap.safetensors" >text
    python '
import sys
page, text = open(sys.argv[1], encoding="utf-8").read(), open("text").read()
assert text in page, text' "$PAGE"
}

@test "explain --model runs the model on the prompts" {
    run -0 rung explain "$FIXTURES/swap-state.cert" --model "$FIXTURES/swap.safetensors"
    [[ $output == *"it answers v1 to both prompts"* ]]
    run -0 rung explain "$FIXTURES/block.cert" -m "$FIXTURES/block.safetensors"
    [[ $output == *"it answers v1 to both prompts"* ]]
    for cert in swap-view swap-wrong; do run -0 rung explain "$FIXTURES/$cert.cert" -m "$FIXTURES/swap.safetensors"; done
    run -3 rung explain "$FIXTURES/block.cert" --model "$FIXTURES/swap.safetensors"
    [[ $output == *"is another model"* ]]
    run -3 rung explain "$FIXTURES/block.cert" --model missing.safetensors
}

# changed FROM TO CERT: the certificate with something else in it.
changed() {
    sed "s/$1/$2/" "$FIXTURES/$3.cert" >changed.cert
    run ! cmp -s changed.cert "$FIXTURES/$3.cert"
}

@test "explain says what it sees to be untrue, and exits with 1" {
    changed '^right 0 1' 'right 1 1' swap-state
    run -1 rung explain changed.cert
    [[ $output == *"BUT      the right answer to prompt 1 is 0, not 1"* ]]
    changed '^prompt 1 0 2' 'prompt 1 0 3' swap-state
    run -1 rung explain changed.cert
    changed '^prompt 1 0 2' 'prompt 0 1 2' swap-state
    run -1 rung explain changed.cert
    changed '^prefix 2' 'prefix 1' swap-state
    run -1 rung explain changed.cert
    [[ $output == *"behind the prefix"* ]]
    changed '^prefix 2' 'prefix 3' swap-state
    run -1 rung explain changed.cert
    changed '^position 2' 'position 1' swap-wrong
    run -1 rung explain changed.cert
    sed -i 's/^task .*/task two-sum N=2 M=5 form=position self=1 blank=0 dist=uniform/; s/^prompt .*/prompt 1 4/
        s/^position .*/position 0/; s/^right .*/right 1/; s/^given .*/given 0/' changed.cert
    run -1 rung explain changed.cert
    [[ $output == *"position 0 is not the last token"* ]]
    changed '^given 1' 'given 0' swap-wrong
    run -1 rung explain changed.cert
    [[ $output == *"the answer given is the right one"* ]]
    changed '^prompt 0 1 2' 'prompt 0 1 99' swap-wrong
    run -1 rung explain changed.cert
    [[ $output == *"#99"* ]]
    changed '^state 38' 'state 40' swap-state
    run -0 rung explain changed.cert
    run -1 rung explain changed.cert --model "$FIXTURES/swap.safetensors"
    [[ $output == *"the state of prompt 1 is 38, not what is claimed"* ]]
    changed '^view 3838' 'view 3830' swap-view
    run -1 rung explain changed.cert --model "$FIXTURES/swap.safetensors"
}

@test "explain refuses what it cannot read, with the line" {
    changed '^kind .*' 'kind odd' swap-state
    run -3 rung explain changed.cert
    [[ $output == *"changed.cert:2: "* ]]
    changed '^task eva' 'task evo' swap-state
    run -3 rung explain changed.cert
    [[ $output == *"did you mean 'eva'"* ]]
    changed '^numbers e4m3' 'numbers e99m3' swap-state
    run -3 rung explain changed.cert
    run -3 rung explain missing.cert
    run -2 rung explain
    run -2 rung explain "$FIXTURES/block.cert" --mdoel x
    run -4 rung explain "$FIXTURES/block.cert" --svg no/such/place.svg
}

@test "explain --json has what the text has" {
    for cert in swap-state swap-view swap-wrong block; do
        rung explain "$FIXTURES/$cert.cert" --json | has_schema rung.explain/1
    done
    rung explain "$FIXTURES/swap-state.cert" --json --model "$FIXTURES/swap.safetensors" | python '
import json, sys
doc = json.load(sys.stdin)
assert doc["kind"] == "state-collision" and doc["prefix"] == 2 and doc["position"] == 2 and doc["state"] == "38"
assert doc["differ"] == [0, 1] and doc["fault"] is None and doc["model_run"]
assert [p["text"] for p in doc["prompts"]] == ["v0 v1 x0?", "v1 v0 x0?"]
assert [p["tokens"] for p in doc["prompts"]] == [[0, 1, 2], [1, 0, 2]]
assert [p["right_word"] for p in doc["prompts"]] == ["v0", "v1"] and [p["answered_here"] for p in doc["prompts"]] == [1, 1]'
}

# A certificate about 200 entries that differ where they are listed.
long_cert() {
    python '
import sys
places = [int(w) for w in sys.argv[1:]]
a = [i * 7 % 16 for i in range(200)]
b = [(v + 1) % 16 if i in places else v for i, v in enumerate(a)]
print("rung-certificate 1\nkind state-collision\nmodel " + "ab" * 32 + "\narch 40*(3*gdelta:gate=1:conv=4,window:W=16),linear\nnumbers bf16")
print("task eva N=200 V=16 K=200 form=position dist=uniform")
for t in a, b: print("prompt", *t, 16 + places[0])
print("prefix 199\nposition 200\nright", a[places[0]], b[places[0]])
print("state", "0123456789abcdef" * 40 + "\nend")' "$@" >long.cert
}

@test "explain leaves out what is the same, and never the asked token" {
    long_cert 3 17 18 90 151
    run -0 rung explain long.cert
    [ "$(grep -c 'differs$' <<<"$output")" = 5 ]
    [[ $output == *"more, the same in both"*"200   x3?"* ]]
    [ "$(wc -l <<<"$output")" -lt 60 ]
    run -0 rung explain long.cert --show 2
    [ "$(grep -c -- '<- differs$' <<<"$output")" = 2 ]
    [[ $output == *"1 more that differs"* ]]
    long_cert $(seq 0 198)
    run -0 rung explain long.cert
    [ "$(grep -c -- '<- differs$' <<<"$output")" = 32 ]
    [[ $output == *"167 more that differ"* ]]
}

@test "explain shows a repeated token of a single prompt once at either end" {
    printf '%s\n' "rung-certificate 1" "kind wrong-answer" "model $(printf 'ab%.0s' {1..32})" "arch linear" "numbers bf16" \
        "task eva N=40 V=4 K=40 form=position dist=uniform" "prompt $(printf '0 %.0s' {1..20})3$(printf ' 0%.0s' {1..19}) 4" \
        "position 40" "right 0" "given 1" end >one.cert
    run -0 rung explain one.cert
    [[ $output == *"18 more of the same"*" 20   v3"*"17 more of the same"*" 40   x0?"* ]]
    [ "$(grep -c '   v0$' <<<"$output")" = 4 ]
    run -0 rung explain one.cert --show 4
    [[ $output != *"of the same"* && $output == *"36 more"* ]]
}

@test "explain does not draw its picture onto what it reads" {
    cp "$FIXTURES/swap-state.cert" "$FIXTURES/swap.safetensors" .
    run -2 rung explain swap-state.cert --svg ./swap-state.cert
    [[ $output == *"choose another name"* ]]
    run -2 rung explain swap-state.cert --model swap.safetensors --svg swap.safetensors
    cmp swap-state.cert "$FIXTURES/swap-state.cert"
    cmp swap.safetensors "$FIXTURES/swap.safetensors"
}

# No word on another, every box inside, as many boxes of each colour as arguments say: first prompt, second, same.
picture() {
    python '
import sys, xml.etree.ElementTree as tree
ns = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
width, height = map(float, root.get("viewBox").split()[2:])
boxes = []
for t in root.iter(ns + "text"):
    size = {"small": 11, "name": 16}.get(t.get("class"), 13)
    x, y, w = float(t.get("x")), float(t.get("y")), 0.53 * size * len(t.text)
    x -= {"start": 0, "middle": w / 2, "end": w}[t.get("text-anchor")]
    boxes.append((x, y - 0.75 * size, x + w, y + 0.2 * size, t.text))
for i, a in enumerate(boxes):
    assert a[0] >= 0 and a[2] <= width + 6 and a[1] >= 0 and a[3] <= height, a
    for b in boxes[:i]:
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
classes = []
for r in root.iter(ns + "rect"):
    x, y, w, h = (float(r.get(k) or 0) for k in ("x", "y", "width", "height"))
    assert w > 0 and h > 0 and x >= 0 and y >= 0 and x + w <= width and y + h <= height, r.attrib
    classes.append(r.get("class"))
assert classes.count("box") == 1
assert [classes.count(c) for c in ("p0", "p1", "same")] == [int(w) for w in sys.argv[2:]], classes' "$@"
}

@test "explain --svg: both prompts, what is the same between them, two answers" {
    run -0 --separate-stderr rung explain "$FIXTURES/swap-state.cert" --svg a.svg
    [ "$stderr" = "wrote a.svg" ]
    picture a.svg 3 3 1
    rung explain "$FIXTURES/block.cert" --svg a.svg --quiet >/dev/null
    picture a.svg 3 3 6
    rung explain "$FIXTURES/swap-wrong.cert" --svg a.svg --quiet >/dev/null
    picture a.svg 1 0 3
    grep -q 'prefers-color-scheme:dark' a.svg
    long_cert 3 17 18 90 151
    rung explain long.cert --svg a.svg --quiet >/dev/null
    picture a.svg 6 6 4
    long_cert $(seq 0 198)
    rung explain long.cert --svg a.svg --quiet >/dev/null
    picture a.svg 11 11 2
}

@test "a model that carries a NaN which nobody reads is told so, not died of" {
    rung build random --arch '2*sparse:B=8:k=1:own=0:unit=1' --task eva N=4 V=2 -o m.safetensors -q
    python '
import sys
sys.path.insert(0, sys.argv[1])
import models
meta, tensors = models.read("m.safetensors")
for name, (dtype, shape, values) in tensors.items():  # keys of length 0: 0 / 0 in the cache of the first layer
    if name.startswith("layers.0.") and ".k." in name: tensors[name] = (dtype, shape, [0.0] * len(values))
digest = models.write("n.safetensors", meta, tensors)
open("n.cert", "w").write(f"""rung-certificate 1
kind state-collision
model {digest}
arch {meta["rung.arch"]}
numbers q3.4
task {meta["rung.task"]}
prompt 0 0 0 0 2
prompt 1 0 0 0 2
prefix 4
position 4
right 0 1
state 00
end
""")' "$BATS_TEST_DIRNAME/../check"
    run -1 rung explain n.cert --model n.safetensors
    [[ $output == *"number 0 of the state of layer 0 is NaN"* ]]
}
