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
    [ "$(wc -l <card)" -le 45 ]
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
    rung card "$FIXTURES/gemma3.json" --context 5000 --batch 2 --memory --engine llama.cpp --json >card.json
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
    # 36 states in 32 bits: blocks of 66 x 16 tokens, groups of 12 layers, 125 blocks of one group and a page of three
    rung card "$FIXTURES/qwen3_next.json" --context 131072 --memory --engine vllm --json >card.json
    python '
import json
(card,) = json.load(open("card.json"))["cards"]
state, token = 4 * 524288 + 2 * 24576, 2048
block = 16 * -(-state // (16 * token))
assert block == 1056
want = (-(-131072 // block) + 3) * block * token * 12
assert card["engine"]["reserved_by_batch_bytes"] == want > card["memory"]["held_by_batch_bytes"]'
    # 13 windows of 64 tokens beside 13 full layers of the same size, blocks of 16
    rung card '13*(window:W=64,full)' --heads 2 --head-dim 8 --context 1000 --memory --engine vllm --json >card.json
    python '
import json
(card,) = json.load(open("card.json"))["cards"]
assert card["engine"]["reserved_by_batch_bytes"] == (63 + 4 + 1) * 16 * 2 * 16 * 2 * 13'
    # 8 full and 9 windowed layers become groups of 9; 4 full and 9 windowed ones groups of 4
    rung card '8*full,9*window:W=64' '4*full,9*window:W=64' --heads 2 --head-dim 8 --context 1000 --memory --engine vllm --json >card.json
    python '
import json
a, b = (card["engine"]["reserved_by_batch_bytes"] for card in json.load(open("card.json"))["cards"])
page = 16 * 2 * 16 * 2
assert a == (63 + 5) * page * 9 and b == (63 + 3 * 5) * page * 4'
    rung card "$FIXTURES/glm_dsa.json" --memory --engine vllm | grep -q 'not known for these layers'
    rung card "$FIXTURES/glm_dsa.json" --memory --engine llama.cpp | grep -q 'not known for these layers'
}

@test "a page stands alone, and hostile names stay text" {
    name='<script>alert(1)<_script>"&.json'
    python '
import json, sys
d = json.load(open(sys.argv[1]))
d["layer_types"] = None
d["</style><img src=x onerror=alert(2)>"] = 3
json.dump({k: v for k, v in d.items() if v is not None}, open(sys.argv[2], "w"))' "$FIXTURES/qwen3_next.json" "$name"
    run -0 --separate-stderr rung card "$name" "$FIXTURES/gemma3.json" '2*(gdelta,full)' --entries 32 --set dense --budget 1GB --engine llama.cpp --html page.html
    [ "$stderr" = "wrote page.html" ]
    python '
import html.parser
allowed = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "div", "i", "table", "thead", "tbody", "tr",
           "th", "td", "a", "section", "article", "span", "dl", "dt", "dd", "details", "summary", "ul", "li"}
class Page(html.parser.HTMLParser):
    stack, text, cards = [], "", 0
    def handle_starttag(self, tag, attrs):
        assert tag in allowed, tag
        for key, value in attrs:
            assert key in {"lang", "charset", "name", "content", "class", "style", "title", "role", "aria-label", "id", "href",
                           "tabindex"}, (tag, key)
            if key == "href": assert value.startswith("#card"), value
        self.cards += tag == "article"
        if tag != "meta": self.stack.append(tag)
    def handle_endtag(self, tag): assert self.stack.pop() == tag, tag
    def handle_data(self, data): self.text += data
page = Page()
source = open("page.html").read()
page.feed(source)
assert not page.stack and page.cards == 6
assert "<script>alert(1)<_script>\"&.json" in page.text and "onerror=alert(2)" in page.text
assert "http" not in source.replace("github.com", "") and "@import" not in source and "url(" not in source
assert "prefers-color-scheme:dark" in source and "width=device-width" in source'
    run -2 --separate-stderr rung card "$name" --html "$name" # the page would replace what it is about
    run -4 --separate-stderr rung card full --html no/such/place.html
}

# bats test_tags=plain
@test "a thousand configurations in one call, each with a verdict" {
    files=()
    for i in $(seq "$(effort 50 2)"); do files+=("$FIXTURES"/{qwen3_next,kimi_linear,gemma3,jamba,nemotron_h,falcon_h1,glm_dsa,mamba2_small,mistral,qwen2,lfm2_vl,falcon_mamba,minimax_01,nsa,gemma3n,exaone4,deltanet_hybrid,granite_h,rwkv7,llama_small}.json); done
    rung card "${files[@]}" --json >cards.json
    python '
import json, sys
cards = json.load(open("cards.json"))["cards"]
assert len(cards) == int(sys.argv[1])
for card in cards:
    sizes = [a[k] for a in card["abilities"].values() for k in ("can_at", "cannot_from")]
    assert any(sizes), card["input"]
    for a in card["abilities"].values():
        assert (a["can_at"] is None) == (a["can"] is None) and (a["cannot_from"] is None) == (a["cannot"] is None)
        if a["can"]: assert a["can"]["verdict"] == "CAN"
        if a["cannot"]: assert a["cannot"]["verdict"] == "CANNOT" and a["cannot"]["basis"] == "theorem"
# the same file gives the same card, whatever was asked before
half = len(cards) // 2
assert cards[:20] == cards[half:half + 20] if half % 20 == 0 else True' "${#files[@]}"
}

@test "the measured law stands apart from what is proved" {
    rung card '8*gdelta' --heads 4 --head-dim 16 --json >card.json
    rung recall gdelta --heads 4 --dk 16 --dv 16 --values 32 --accuracy 0.9 --json >recall.json
    python '
import json
(card,), law = json.load(open("card.json"))["cards"], json.load(open("recall.json"))
r = card["recall_of_recurrent_part"]
m = r["measured_not_proved"]
assert m["status"] == "measured, not proved" and (m["heads"], m["dk"], m["dv"]) == (4, 16, 16)
def find(d, key):
    if isinstance(d, dict):
        for k, v in d.items():
            if k == key: yield v
            yield from find(v, key)
    elif isinstance(d, list):
        for v in d: yield from find(v, key)
assert any(isinstance(v, (int, float)) and abs(v - m["entries"]) < 1e-6 for v in find(law, "entries"))
assert m["entries_low"] <= m["entries"] <= m["entries_high"] < r["cannot_recall_from_entries"]
assert r["proved"]["by"] == "A"'
    rung card '8*gdelta' --heads 4 --head-dim 16 >card
    grep -q '^measured, not proved one trained layer' card
    rung card '2*rnn' | grep -q 'no law'
    run -0 rung card full
    [[ $output != *"measured, not proved"* ]]
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

@test "of several files one that cannot be read is complained about, and the others are shown" {
    echo '{}' >bad.json
    run -3 --separate-stderr rung card "$FIXTURES/qwen3_next.json" bad.json "$FIXTURES/llama_small.json" --memory --json
    has_schema rung.card/1 <<<"$output"
    [ "$(python 'import json, sys; print(len(json.load(sys.stdin)["cards"]))' <<<"$output")" = 2 ]
    [[ $stderr == *"bad.json: describes no model"*"1 of 3 inputs cannot be read"* ]]
    run -3 --separate-stderr rung bound bad.json full --json
    [ "$(python 'import json, sys; print(len(json.load(sys.stdin)["results"]))' <<<"$output")" = 1 ]
    run -3 --separate-stderr rung compare full bad.json
    [[ $output == *full* && $stderr == *"1 of 2 inputs"* ]]
    run -3 --separate-stderr rung bound bad.json bad.json
    [[ -z $output && $stderr != *"are shown"* ]]
    run -2 rung bound full no-such-layer
}
