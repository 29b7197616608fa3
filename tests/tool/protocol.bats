#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# protocol: the bits of messages counted a second time from the trace and from the ledger of bound, and what is refused.
load common

random_model() { rung build random --dk 4 --dv 4 --d-model 16 --heads 2 "$@" >/dev/null; }

@test "protocol: the two players of eva, and the accumulator of one query" {
    random_model --arch full --task eva N=8 V=4 -o m.safetensors
    run -0 --separate-stderr rung protocol m.safetensors
    [[ $output == *"numbers  bf16"* ]]
    grep -qE '^layer +mechanism +message +table\|query$' <<<"$output"
    grep -qE '^ +0 +full +accumulators +192$' <<<"$output" # 2 heads, 4 + 2 numbers, 16 bits
    [[ $output == *"sent     192 bits in 1 message"* ]]
    [[ $output == *"are those of 'rung run', bit for bit"* ]]
    [[ $output == *"ledger   equals the ledger of rung bound"* ]]
    run -0 rung protocol m.safetensors --numbers e8m3
    grep -qE '^ +0 +full +accumulators +144$' <<<"$output"
}

@test "protocol: the trace has every message, and its bits add up to the table and to bound" {
    random_model --arch 'linear,full,full@1|mamba2@1' --task seqcomp L=2 N0=3 -o m.safetensors
    run -0 --separate-stderr rung protocol m.safetensors --json --trace t.jsonl
    has_schema rung.protocol/1 <<<"$output"
    rung bound m.safetensors --bits 16 --json >bound.json
    python '
import json, sys
doc, bound = json.loads(sys.argv[1]), json.load(open("bound.json"))
letters = [json.loads(line) for line in open("t.jsonl")]
names = [p["name"] for p in doc["players"]]
assert names == ["z_2", "z_1", "z_0", "w"] and doc["same_as_evaluator"] and doc["ledger"] == "equal"
kinds = ["state", "accumulators", "summaries", "opened", "window"]
cells = {}
for l in letters:
    assert len(l["hex"]) == -(-l["bits"] // 4) and int(l["hex"], 16) >= 0
    assert l["counted"] == (l["what"] in kinds) == (names.index(l["from"]) < names.index(l["to"]))
    if l["counted"]:
        assert names.index(l["to"]) == names.index(l["from"]) + 1
        key = (l["layer"], names.index(l["from"]), l["what"])
        cells[key] = cells.get(key, 0) + l["bits"]
for i, layer in enumerate(doc["layers"]):
    for c, cut in enumerate(layer["cuts"]):
        for kind in kinds: assert cut[kind] == cells.get((i, c, kind), 0)
        assert sum(cut[k] for k in kinds) == cut["ledger"]
assert doc["bits"] == sum(cells.values())
# what bound prints of these layers: carried past a position, and handed to a token
after = [5, 2, 1]
for i, (layer, held) in enumerate(zip(doc["layers"], bound["per_layer"])):
    for c, cut in enumerate(layer["cuts"]):
        receivers = 1 if i == 2 else after[c]
        assert cut["ledger"] == held["carried_bits"] + held["message_bits_per_token"] * receivers, (i, c, cut, held)
' "$output"
}

@test "protocol: seed and index choose the prompt, and the same call gives the same bytes" {
    random_model --arch full,linear --task eva N=8 V=4 -o m.safetensors
    rung protocol m.safetensors --json --seed 3 --index 2 --trace a.jsonl >a
    rung protocol m.safetensors --json --seed 3 --index 2 --trace b.jsonl --threads 1 >b
    cmp a b && cmp a.jsonl b.jsonl
    rung protocol m.safetensors --json --seed 3 --index 3 --trace c.jsonl >c
    ! cmp -s a c
    ! cmp -s a.jsonl c.jsonl
    [ "$(rung task eva N=8 V=4 --seed 3 -n 3 | tail -1 | python 'import json, sys; print(json.load(sys.stdin)["tokens"])')" = \
        "$(python 'import json; print(json.load(open("a"))["tokens"])')" ]
}

@test "protocol: sparse layers are played by blocks" {
    random_model --arch 'sparse:B=4:k=2' --task two-sum N=16 M=16 form=query -o m.safetensors
    run -0 rung protocol m.safetensors --json --numbers f32
    python '
import json, sys
doc = json.loads(sys.argv[1])
assert [p["tokens"] for p in doc["players"]] == [4, 4, 4, 4, 1]
cuts = doc["layers"][0]["cuts"]
block = 2 * (4 + 4) * 32
assert [c["summaries"] for c in cuts] == [block, 2 * block, 3 * block, 4 * block]
# the query alone is asked: each head opens 2 blocks of 4 tokens
assert cuts[-1]["opened"] == 2 * 2 * 4 * (4 + 4) * 32 and doc["messages"]["choice"] == 4' "$output"
}

@test "protocol: a chain of thought belongs to the last player" {
    rung build seqcomp-cot -o m.safetensors >/dev/null
    run -0 rung protocol m.safetensors --numbers f32
    [[ $output == *"thoughts, right"* ]]
    grep -qE '^ +w +3 tokens +w:[0-9]+ thought[0-9]+ thought[0-9]+$' <<<"$output"
}

@test "protocol: the picture is XML, and no words lie on others" {
    random_model --arch 'linear,full,sparse:B=4:k=2:branches=nsa:W=6' --task two-sum N=60 M=40 form=query -o s.safetensors
    random_model --arch 'full,full@1|mamba2@1' --task seqcomp L=3 N0=2 -o c.safetensors
    rung protocol s.safetensors --svg s.svg >/dev/null
    rung protocol c.safetensors --svg c.svg >/dev/null
    for file in s.svg c.svg; do
        python '
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
width, height = map(float, root.get("viewBox").split()[2:])
boxes = []
for t in root.iter("{http://www.w3.org/2000/svg}text"):
    size = {"small": 12, "bits": 13, "title": 17}.get(t.get("class"), 14)
    x, y, w = float(t.get("x")), float(t.get("y")), 0.56 * size * len(t.text)
    x -= {"start": 0, "middle": w / 2, "end": w}[t.get("text-anchor")]
    boxes.append((x, y - 0.75 * size, x + w, y + 0.2 * size, t.text))
assert len(boxes) > 12
for i, a in enumerate(boxes):
    assert a[0] >= 0 and a[2] <= width and a[1] >= 0 and a[3] <= height, a
    for b in boxes[:i]: assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)' "$file"
    done
}

@test "protocol refuses what it does not cover, and says why" {
    random_model --arch dsa:k=2 --task eva N=8 -o d.safetensors
    run -2 --separate-stderr rung protocol d.safetensors
    [[ $stderr == *"layer 0: dsa selects single tokens"* ]]
    random_model --arch full --task eva N=8 --encoder -o e.safetensors
    run -2 --separate-stderr rung protocol e.safetensors
    [[ $stderr == *"encoder"* ]]
    random_model --arch full --task q-sparse-average N=4 q=1 d=1 -o v.safetensors
    run -2 --separate-stderr rung protocol v.safetensors
    [[ $stderr == *"real vectors"* ]]
    random_model --arch full --task eva N=8 -o m.safetensors
    run -2 --separate-stderr rung protocol m.safetensors --numbers fp32
    [[ $stderr == *"--numbers f32"* ]]
}

@test "protocol leaves no trace behind when the game cannot be played" {
    random_model --arch dsa:k=2 --task eva N=8 -o d.safetensors
    run -2 rung protocol d.safetensors --trace t.jsonl --svg t.svg
    [ ! -e t.jsonl ] && [ ! -e t.svg ]
    random_model --arch full --task eva N=8 -o m.safetensors
    run -4 --separate-stderr rung protocol m.safetensors --trace missing/t.jsonl
    [[ $stderr == *"missing/t.jsonl"* ]]
    [ -z "$(ls | grep tmp-)" ]
}

@test "protocol: the count of the published game, by hand" {
    rung build seqcomp L=2 N0=2 n=2 linear=after -o after.safetensors >/dev/null
    run -0 --separate-stderr rung protocol after.safetensors --numbers e8m1
    # two full layers, dk = 8, p = 10: 160 bits for 1*2 + 2*1 + 3*1 tokens and players; a state of 40 bits over three cuts
    [[ $output == *"game     counts 2360 bits"* ]]
    random_model --arch sparse:B=4:k=1 --task eva N=8 V=4 -o s.safetensors
    run -0 --separate-stderr rung protocol s.safetensors
    [[ $output != *"game     counts"* ]]
}
