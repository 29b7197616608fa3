#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# probe against a server that answers like vLLM, SGLang or llama.cpp's server (tests/probe/llm.py) with a model of known depth; servers
# that cannot give what a probe needs are refused with the reason; nothing is asked twice; keys stay where they belong.
load common

# llm ARGS: starts the server; PORT and BASE are set.
llm() {
    rm -f port
    "$PYTHON" "$BATS_TEST_DIRNAME/../probe/llm.py" --forever "$@" >port 2>llm.log 3>&- &
    LLM=$!
    for _ in $(seq 400); do [ -s port ] && break; sleep 0.05; done
    PORT=$(cat port)
    BASE=http://127.0.0.1:$PORT/v1
}

teardown() { [ -z "${LLM:-}" ] || kill "$LLM" 2>/dev/null || true; LLM=; }

probe() { rung probe --base-url "$BASE" --model toy "$@"; }
small=(--samples 16 --controls 8 --grid "n=6,L=1..3")

@test "every server shows the depth of its model" {
    for flavour in vllm sglang llama; do
        llm --flavour $flavour --depth 2
        probe "${small[@]}" -o $flavour.db --json --quiet >$flavour.json
        teardown
        has_schema rung.probe/1 <$flavour.json
        python '
import json, sys
p = json.load(open(sys.argv[1]))
assert p["server"]["api"] == "completions" and p["server"]["tokenizer"] == "/tokenize"
[d] = p["depths"]
assert d["low"] <= 2 <= d["high"] and d["high"] < 3, d
cells = {(c["mode"], c["depth"]): c for c in p["cells"]}
assert cells["direct", 2]["accuracy"] > 0.7 and cells["direct", 3]["accuracy"] < 0.6
assert cells["direct", 3]["finding"] == "fails" and cells["direct", 1]["finding"] == "does"
assert cells["one-hop", 3]["accuracy"] > 0.7 and abs(cells["direct", 3]["chance"] - 1 / 6) < 1e-9
assert ("one-hop", 1) not in cells
assert cells["direct", 1]["text_right"] == cells["direct", 1]["right"]' $flavour.json
    done
}

@test "the same command again asks nothing but the self-test, and says the same" {
    llm --depth 1
    probe "${small[@]}" --json --quiet >first.json
    python 'import json, sys, urllib.request
open("count", "w").write(urllib.request.urlopen(sys.argv[1] + "/count").read().decode())' "http://127.0.0.1:$PORT"
    probe "${small[@]}" --json --quiet >second.json
    cmp first.json second.json
    python 'import json, sys, urllib.request
before = json.load(open("count"))["requests"]
after = json.loads(urllib.request.urlopen(sys.argv[1] + "/count").read())["requests"]
assert after - before == 1, (before, after)' "http://127.0.0.1:$PORT"
}

@test "a signal finishes what is under way, and the same command goes on" {
    llm --depth 1
    "$RUNG" probe --base-url "$BASE" --model toy --rpm 1200 --concurrency 2 "${small[@]}" --quiet -o s.db >/dev/null 2>err & pid=$!
    for _ in $(seq 100); do [ -s s.db ] && break; sleep 0.05; done
    sleep 1.5
    kill -TERM $pid
    local code=0
    wait $pid || code=$?
    [ $code = 143 ]
    probe "${small[@]}" --json -o s.db >done.json 2>note
    grep -qE "replies from s.db" note
    ! grep -q " 0 replies from" note
    probe "${small[@]}" --json --quiet -o other.db >whole.json
    python '
import json
a, b = (json.load(open(f)) for f in ("done.json", "whole.json"))
assert a["cells"] == b["cells"] and a["depths"] == b["depths"]'
}

@test "a server that cannot give what is needed is refused with the reason" {
    llm --no-logprobs
    run -3 --separate-stderr probe "${small[@]}"
    [[ $stderr == *"no log-probabilities"* ]]
    teardown; llm --no-completions --thoughts text
    run -3 --separate-stderr probe "${small[@]}"
    [[ $stderr == *"adds a chain of thought"* ]]
    teardown; llm --no-completions --thoughts field
    run -3 --separate-stderr probe "${small[@]}"
    [[ $stderr == *"adds a chain of thought"* ]]
    teardown; llm --truncate 20
    run -3 --separate-stderr probe "${small[@]}"
    [[ $stderr == *"it cut the prompt"* ]]
    teardown; llm --flavour llama --truncate 100000 --context 5
    run -3 --separate-stderr probe "${small[@]}"
    [[ $stderr == *"maximum context length"* ]]
    teardown; llm --long-words abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ
    run -3 --separate-stderr probe "${small[@]}"
    [[ $stderr == *"0 are one token"* ]]
    teardown; llm
    run -2 --separate-stderr rung probe --base-url "$BASE" --model other
    [[ $stderr == *"it has toy"* ]]
}

@test "chat with thoughts switched off, fewer log-probabilities, words of two tokens, no /tokenize" {
    llm --no-completions --thoughts unless-told --depth 2
    probe "${small[@]}" --json --quiet -o a.db >a.json
    teardown; llm --most-logprobs 5 --long-words aeiou --no-tokenize --depth 2
    probe "${small[@]}" --json --quiet -o b.db >b.json
    python '
import json
a, b = (json.load(open(f)) for f in ("a.json", "b.json"))
assert a["server"]["api"] == "chat" and a["server"]["thinking_off_by"] == "chat_template_kwargs"
assert b["server"]["tokenizer"] == "usage.prompt_tokens" and b["server"]["logprobs"] == 5
for p in a, b: assert p["depths"][0]["low"] <= 2 <= p["depths"][0]["high"] < 3, p["depths"]'
    [ "$(python 'import sqlite3
print(sum(r[0][0] in "aeiou" for r in sqlite3.connect("b.db").execute("SELECT wanted FROM probe_answers")))')" = 0 ]
}

@test "a model that does not read the facts is no finding about composition" {
    llm --blind
    run -1 probe "${small[@]}" --samples 40 --controls 40 --grid "n=12,L=2..3" --json --quiet
    python '
import json, sys
assert {c["finding"] for c in json.load(sys.stdin)["cells"] if c["mode"] == "direct"} == {"unread"}' <<<"$output"
}

@test "a prompt that is too long is refused cell by cell" {
    llm --context 220 --depth 2
    probe --samples 16 --controls 8 --grid "n=4,24,L=1..2" --shots 0 --json --quiet >c.json
    python '
import json
cells = {(c["facts"], c["depth"]): c for c in json.load(open("c.json"))["cells"] if c["mode"] == "direct"}
assert cells[4, 2]["finding"] == "does" and cells[24, 2]["finding"] == "refused"
assert "context length" in cells[24, 2]["refusal"]'
}

@test "thinking beside it, the verdict of the bounds, and other tasks" {
    llm --depth 1
    cat >config.json <<'END'
{"model_type": "mamba2", "architectures": ["Mamba2ForCausalLM"], "num_hidden_layers": 2, "hidden_size": 64, "expand": 2,
 "head_dim": 16, "num_heads": 8, "state_size": 16, "conv_kernel": 4, "n_groups": 1}
END
    probe --grid "n=8,L=1..2" --samples 16 --controls 8 --thinking 200 --config config.json --json --quiet >p.json
    python '
import json
cells = {(c["mode"], c["depth"]): c for c in json.load(open("p.json"))["cells"]}
assert cells["thinking", 2]["accuracy"] == 1 and cells["direct", 2]["accuracy"] < 0.7
assert cells["direct", 1]["verdict"] in ("CANNOT", "UNKNOWN") and "verdict" not in cells["thinking", 1]'
    probe --grid "n=8,L=2" --samples 8 --controls 0 --thinking 10 --json --quiet -o cut.db >cut.json
    python '
import json
[c] = [c for c in json.load(open("cut.json"))["cells"] if c["mode"] == "thinking"]
assert c["cut"] == c["asked"] == 8 and c["right"] == 0'
    probe --task assoc-recall --grid n=4,8 --samples 16 --controls 8 --json --quiet -o r.db >r.json
    python '
import json
p = json.load(open("r.json"))
assert p["depths"] == [] and all(c["accuracy"] > 0.7 for c in p["cells"]) and {c["mode"] for c in p["cells"]} == {"direct", "shuffled"}'
    probe --task two-sum --grid n=4 --samples 4 --controls 0 --json --quiet -o t.db >/dev/null
}

@test "a key comes from the environment and stays out of sight" {
    llm --key sesame-123 --depth 1
    run -3 --separate-stderr probe "${small[@]}"
    [[ $stderr == *"--api-key-env"* ]]
    KEYVAR=sesame-123 probe "${small[@]}" --api-key-env KEYVAR -o k.db >out 2>err
    ! grep -q sesame out err
    ! grep -q sesame k.db*
    run -2 probe "${small[@]}" --api-key-env NO_SUCH_VARIABLE
}

@test "--dry-run asks nobody" {
    rung probe --model m --dry-run --grid n=8,16,L=1..4 --json >d.json
    python '
import json
d = json.load(open("d.json"))
assert d["requests"] == 8 * 40 + 6 * 20 + 8 * 20 and d["names"] == 17 and d["requests_most"] > d["requests"]'
    [ ! -e probe.db ]
}

@test "bad grids and options are refused" {
    for grid in L=3..1 L=x =3 L=1,L=2 5 L=2,2; do run -2 rung probe --model m --dry-run --grid $grid; done
    run -2 rung probe --model m --dry-run --task nosuch
    run -2 rung probe --model m --dry-run --threshold 1.5
    run -2 rung probe --model m --dry-run --extra '{"model": 1}'
    run -2 rung probe --model m --dry-run --extra '[1]'
    run -2 rung probe --dry-run
    run -2 rung probe --model m
    run -2 rung probe --model m --base-url 127.0.0.1:80
}

# serve MODEL: a model of ours; BASE is set.
serve() {
    rm -f served
    "$RUNG" serve "$@" --port 0 >served 2>&1 3>&- &
    LLM=$!
    for _ in $(seq 400); do grep -q listening served && break; sleep 0.05; done
    BASE=$(grep -o 'http://[0-9.:]*' served | tail -1)
}

@test "a constructed model over HTTP is right at its depth, random weights are not" {
    rung build seqcomp L=2 N0=4 n=1 flat=1 -o good.safetensors -q
    rung build random --arch 3*full --task seqcomp L=3 N0=4 n=1 flat=1 -o random.safetensors -q
    serve good.safetensors
    rung probe --base-url "$BASE" --model good --grid n=4,L=2..3 --samples 40 --controls 10 --json -q >good.json
    teardown
    serve random.safetensors
    rung probe --base-url "$BASE" --model random --grid n=4,L=2..3 --samples 40 --controls 0 --json -q >random.json
    python '
import json
good, random = ({(c["mode"], c["depth"]): c for c in json.load(open(f))["cells"]} for f in ("good.json", "random.json"))
assert good["direct", 2]["right"] == good["direct", 2]["text_right"] == 40 and good["shuffled", 2]["right"] == 10
assert good["direct", 3]["finding"] == "refused"    # not a prompt that it was built for
assert random["direct", 3]["wilson"][0] < 0.35 and random["direct", 3]["accuracy"] < 0.6, random["direct", 3]'
}

# 24 values of 3 bits are 72 bits; the state of the small layer has two numbers, 64 bits.
# bats test_tags=plain
@test "trained models over HTTP: full attention looks up, a state that is too small does not, as the bounds say" {
    without_sanitizers "training, serve and probe have their own cases"
    rung train --arch full --task eva N=24 V=8 --steps 400 --rate 0.005 -o full.safetensors -q >/dev/null
    rung train --arch linear --d-model 4 --dk 1 --dv 1 --mlp none --task eva N=24 V=8 --steps 400 --rate 0.005 -o small.safetensors -q >/dev/null
    for model in full small; do
        serve $model.safetensors --numbers f32 # the arithmetic that the theorems speak of
        rung probe --base-url "$BASE" --model $model --task eva --grid n=24 V=8 --samples 60 --controls 20 -c $model.safetensors -o $model.db \
            --kernel online --json -q >$model.json || [ "$?" = 1 ]
        # whoever does not say how the server adds up hears nothing of theorems
        rung probe --dry-run --base-url "$BASE" --model $model --task eva --grid n=24 V=8 -c $model.safetensors --json -q >unsaid.json
        ! grep -q '"CANNOT"' unsaid.json
        teardown
    done
    rung report full.db small.db -o page.html --csv out --json -q >report.json
    python '
import csv, json
full, small = ({c["mode"]: c for c in json.load(open(f))["cells"]} for f in ("full.json", "small.json"))
assert full["direct"]["finding"] == "does" and full["direct"]["right"] >= 57 and full["direct"]["verdict"] == "UNKNOWN", full
assert full["shuffled"]["right"] >= 18 and full["direct"]["text_right"] == full["direct"]["right"]
assert small["direct"]["finding"] == "below" and small["direct"]["verdict"] == "CANNOT", small
assert small["direct"]["wilson"][1] < full["direct"]["wilson"][0]
[task] = json.load(open("report.json"))["probes"]
assert task["task"] == "eva" and task["models"] == 2 and task["above_ceiling"] == 0
for c in task["cells"]: assert c["ceiling"] is None or c["accuracy"]["low"] <= c["ceiling"]
points = list(csv.DictReader(open("out/probe-eva-facts-1.csv")))
assert [(p["series"], p["facts n"], p["cannot"], p["answers"]) for p in points] == [("full", "24", "0", "60"), ("small", "24", "1", "60")], points'
}
