#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# card: bytes worked out a second way from the ledger, variants beside their model, and mistakes.
load common

FIXTURES=$BATS_TEST_DIRNAME/../fixtures/config

@test "a card has the bytes that the ledger gives" {
    for file in qwen3_next kimi_linear gemma3 jamba glm_dsa falcon_h1 mamba2_small; do
        rung bound "$FIXTURES/$file.json" --json >bound.json
        rung card "$FIXTURES/$file.json" --context 70001 --batch 3 --kv e4m3 --state f32 --json >card.json
        has_schema rung.card/1 <card.json
        python '
import json
bound, (card,) = json.load(open("bound.json")), json.load(open("card.json"))["cards"]
T, held = 70001, card["memory"]["held_by_one_sequence"]
layers = bound["per_layer"]
assert card["order"] == bound["order"] and card["layers"]["total"] == len(layers)
assert held["cache_bytes"] == sum(l["kv_elements_per_token"] * T for l in layers)
assert held["window_bytes"] == sum(l["window_elements"] for l in layers)
assert held["state_bytes"] == 4 * sum(l["state_elements"] + l["extra_elements"] for l in layers)
assert held["conv_bytes"] == sum(l["conv_elements"] for l in layers)
parts = [k for k in held if k != "total_bytes"]
assert held["total_bytes"] == sum(held[k] for k in parts)
assert card["memory"]["held_by_batch_bytes"] == 3 * held["total_bytes"]
for k in parts: assert held[k] == sum(kind["held_by_all_of_them"][k] for kind in card["memory"]["kinds"])
assert sum(kind["layers"] for kind in card["memory"]["kinds"]) == len(layers)
assert card["numbers"] == {"kv_bits": 8, "kv_bits_from": "asked for", "state_bits": 32, "state_bits_from": "asked for"}'
    done
}

@test "a card fits on a screen of 80 columns" {
    rung card "$FIXTURES/qwen3_next.json" --context 131072 --budget 80GiB >card
    grep -q '^  12 x full  *caches  *3.22 GB (3.00 GiB)' card
    grep -q '^  36 x gdelta  *states  *75.5 MB (72.0 MiB)' card
    grep -q 'keys and values in 16 bits' card
    [ "$(wc -l <card)" -le 40 ]
    awk 'length > 80 { print; bad = 1 } END { exit bad }' card
}

@test "variants stand beside their model" {
    rung card "$FIXTURES/qwen3_next.json" --context 131072 --set ratio=7:1,gdelta=mamba2/ratio=1:1,dense --json >cards.json
    rung card "$FIXTURES/qwen3_next.json" --context 131072 --set ratio=7:1,dense >table
    python '
import json
cards = json.load(open("cards.json"))["cards"]
assert [c["order"] for c in cards] == ["12*(3*gdelta,full)", "6*(7*gdelta,full)", "24*(mamba2,full)", "48*full"]
held = [c["memory"]["held_by_one_sequence"] for c in cards]
assert held[1]["cache_bytes"] * 2 == held[0]["cache_bytes"] and held[3]["cache_bytes"] == 4 * held[0]["cache_bytes"]
assert held[3]["total_bytes"] == cards[0]["memory"]["dense_equivalent"]["held_by_one_sequence"]["total_bytes"]
assert cards[1]["input"].endswith("qwen3_next.json ratio=7:1")'
    grep -q '^\[2\].*ratio=7:1' table
    grep -Eq '^held by a sequence: caches +3.22 GB +1.61 GB +12.9 GB$' table
}

@test "a server reserves what its rule says" {
    rung card "$FIXTURES/gemma3.json" --context 5000 --batch 2 --engine llama.cpp --json >card.json
    rung bound "$FIXTURES/gemma3.json" --json >bound.json
    python '
import json
bound, (card,) = json.load(open("bound.json")), json.load(open("card.json"))["cards"]
cells, want = 5120, 0
for l in bound["per_layer"]:
    per = l["window_elements"] // l["window_size"] if l["window_elements"] else 0
    window = -(-min(cells, l.get("window_size", 0) + 512) // 256) * 256
    want += 2 * (l["kv_elements_per_token"] * cells + per * window)
assert card["engine"]["reserved_by_batch_bytes"] == 2 * want > card["memory"]["held_by_batch_bytes"]
assert "llama-kv-cache-iswa.cpp" in card["engine"]["source"]'
    rung card "$FIXTURES/glm_dsa.json" --engine llama.cpp | grep -q 'not known for these layers'
}

@test "mistakes are named" {
    run -2 --separate-stderr rung card "$FIXTURES/qwen3_next.json" --set ratio=7
    [[ "$stderr" == *"--set: ratio=7: write two counts"* ]]
    run -2 --separate-stderr rung card "$FIXTURES/qwen3_next.json" --set mamba=full
    [[ "$stderr" == *"its layers are 12*(3*gdelta,full)"* ]]
    run -2 --separate-stderr rung card "$FIXTURES/qwen3_next.json" --budget 80Gb
    [[ "$stderr" == *"such as 80GiB"* ]]
    run -2 --separate-stderr rung card "$FIXTURES/qwen3_next.json" --kv bf17
    [[ "$stderr" == *"--kv"* ]]
    run -2 --separate-stderr rung card "$FIXTURES/qwen3_next.json" --engine llama
    [[ "$stderr" == *"llama.cpp"* ]]
    run -3 --separate-stderr rung card none.json
    run -2 --separate-stderr rung card
}
