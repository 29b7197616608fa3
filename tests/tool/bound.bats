#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bound: numbers that were computed by hand or that a second program confirms, honest UNKNOWNs, exit codes.
load common

FIXTURES=$BATS_TEST_DIRNAME/../fixtures/config

# threshold ID ARGS...: the n_threshold of one theorem.
threshold() {
    local id=$1
    shift
    rung bound "$@" --json | python '
import json, sys
found = [t for t in json.load(sys.stdin)["theorems"] if t["id"] == sys.argv[1]]
assert len(found) == 1 and found[0]["applies"], found
print(found[0]["n_threshold"])' "$id"
}

# verdict ARGS...
verdict() { rung bound "$@" --json | python 'import json, sys; print(json.load(sys.stdin)["verdict"])'; }

toy=(--heads 1 --head-dim 2 --bits 8 --message numerator)
headline=(--heads 1 --head-dim 2 --bits 26 --task seqcomp L=2)

# ---- numbers ------------------------------------------------------------------------------------------------------------

@test "bound: the smallest prompts with a proof, as computed by hand or smaller" {
    [ "$(threshold B0 full,linear "${toy[@]}" --task seqcomp L=2)" = 79 ]
    [ "$(threshold B0 full,4*linear "${toy[@]}" --task seqcomp L=2)" = 114 ]
    [ "$(threshold B linear,full,linear "${toy[@]}" --task seqcomp L=2)" -le 321 ]
    [ "$(threshold C0 2*full "${toy[@]}" --task seqcomp L=2)" -le 2354 ]
    [ "$(threshold B0 full,4*linear --head-dim 2 --bits 26 --message numerator --task seqcomp L=2)" -le 434 ]
    [ "$(threshold B0 full,4*linear "${headline[@]}")" -le 542 ]
}

@test "bound: a theorem with sizes of its own says from which length on it holds, asked for a length or not" {
    local layers=linear,full,linear,full,linear
    for arch in $layers 3*full; do
        id=$([ $arch = $layers ] && echo D || echo D-pure)
        [ "$(threshold $id $arch "${toy[@]}" --task seqcomp L=3)" = "$(threshold $id $arch "${toy[@]}" --task seqcomp L=3 --n 1000)" ]
    done
    [ "$(verdict $layers "${toy[@]}" --task seqcomp L=3)" = UNKNOWN ]
    run -0 rung bound $layers "${toy[@]}" --task seqcomp L=3
    [[ $output == *"closest is D"* && $output == *"needs more tokens"* ]]
    run -0 rung bound $layers "${toy[@]}" --task seqcomp L=3 --no-thresholds
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"ask for a length with --n"* ]]
}

@test "bound: the published theorem with its numbers" {
    run -0 rung bound full,linear --head-dim 2 --bits 8 --task seqcomp L=2 --n 50 --published
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"L = 2, H d p = 16, log K = 64, log m = 640, prompt 2^897 tokens"* ]]
    [[ $output == *"the theorem holds"* ]]
    run -0 rung bound full,linear,full --head-dim 2 --bits 8 --task seqcomp L=2 --n 50 --published
    [[ $output == *"does not apply: linear layers stand between the first two full ones"* ]]
    run -0 rung bound full,full,linear --head-dim 2 --bits 8 --task seqcomp L=2 --n 50 --published --json
    python3 -c 'import json,sys; p = json.load(sys.stdin)["published"]; assert p["holds"] and p["Hdp"] == 16' <<<"$output"
    run -2 rung bound full --task eva --published
    [[ $output == *"--task seqcomp"* ]]
}

@test "bound: eva with one to four linear layers" {
    local want=(14 23 31 38)
    for layers in 1 2 3 4; do
        [ "$(threshold A "$layers*linear" "${toy[@]}" --task eva)" = "${want[layers - 1]}" ]
    done
}

@test "bound: 36 recurrent layers of 2^24 bits look up 24599875 values and not one more" {
    big=('36*linear:norm=0' --heads 32 --head-dim 128 --bits 32 --task eva)
    [ "$(threshold A "${big[@]}")" = 24599877 ]
    [ "$(verdict "${big[@]}" --n 24599877)" = CANNOT ]
    [ "$(verdict "${big[@]}" --n 24599876)" = UNKNOWN ]
}

# bats test_tags=plain
@test "bound: one full and four linear layers cannot what three full ones, or a linear and two full ones, do" {
    run -0 rung bound full,4*linear "${headline[@]}" --n 542 --expect CANNOT
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"verdict CANNOT in exact 26-bit arithmetic, softmax from left to right: whatever their weights"*"at most 542 tokens wrongly (B0)"* ]]
    run -0 rung bound full,4*linear "${headline[@]}" N0=30 n=17 --expect CANNOT # the very same sizes
    [[ $output == *"542 tokens"* ]]
    for linear in none first; do
        rung build seqcomp L=2 N0=30 n=17 keys=trig linear=$linear -o m.safetensors >/dev/null
        rung bound m.safetensors --bits 26 --json | python '
import json, sys
d = json.load(sys.stdin)
assert d["layers"]["full"] == (3 if sys.argv[1] == "none" else 2) and d["layers"]["total"] == 3
for layer in d["per_layer"]:
    assert layer["message_bits_per_token"] <= 1 * (2 + 2) * 26 and layer["carried_bits"] <= 1 * 2 * 3 * 26
    if "full" in layer["kinds"]: assert (layer["heads"], layer["key_dim"]) == (1, 2) and layer["value_dim"] <= 2' $linear
        samples=$(effort 40 3)
        run -0 rung verify m.safetensors --samples $samples --numbers e8m17 --quiet # 1 + 8 + 17 = 26 bits
        [[ $output == *"$samples prompts, $samples answers, all right"* ]]
    done
}

# bats test_tags=plain
@test "bound: verdicts are monotone in n, p and the number of layers" {
    python '
import json, random, subprocess, sys
random.seed(5)
def cannot(arch, task, n, p):
    out = subprocess.run([sys.argv[1], "bound", arch, "--head-dim", "2", "--bits", str(p), "--task", *task, "--n", str(n),
                          "--json", "--no-thresholds"], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)["verdict"] == "CANNOT"
seen = set()
for _ in range(int(sys.argv[2])):
    layers = random.randint(1, 4)
    arch = random.choice(["%d*linear", "full,%d*linear", "%d*linear,full", "%d*gdelta"])
    task = random.choice([["eva"], ["seqcomp", "L=2"], ["index"], ["two-sum", "M=64"]])
    n, p = random.randint(3, 400), random.randint(1, 12)
    base = cannot(arch % layers, task, n, p)
    seen.add(base)
    if base: assert cannot(arch % layers, task, n + random.randint(1, 50), p), (arch, layers, task, n, p)
    else: assert not cannot(arch % (layers + 1), task, n, p + 1), (arch, layers, task, n, p)
assert len(seen) == 2' "$RUNG" "$(effort 25 8)"
}

# ---- shape of the output --------------------------------------------------------------------------------------------------

@test "bound --json has the members that it promises, and its totals are sums" {
    rung bound "$FIXTURES/qwen3_next.json" --task seqcomp L=2 --n 1000 --json >out.json
    has_schema rung.bound/3 <out.json
    python '
import json
d = json.load(open("out.json"))
assert set(d["layers"]) == {"total", "full", "recurrent", "window", "chunk", "sparse", "mlp", "both"}
elements = {"state_elements", "conv_elements", "window_elements", "extra_elements", "kv_elements_per_token",
            "index_elements_per_token", "carried_bits", "carried_bytes", "message_bits_per_token"}
assert d["ledger"]["schema"] == "rung.ledger/2"
assert set(d["ledger"]["largest_layer"]) == elements and elements < set(d["ledger"]["sum_over_layers"])
for t in d["theorems"]:
    assert {"id", "statement", "premise", "lhs", "rhs", "holds", "trivial", "verdict", "margin", "n_threshold", "exact",
            "source", "checked"} <= set(t)
    assert t["verdict"] in ("CANNOT", "UNKNOWN") and (t["verdict"] == "CANNOT") == t["holds"]
per, ledger, numbers = d["per_layer"], d["ledger"]["sum_over_layers"], d["ledger"]["bits_per_number"]
assert len(per) == d["layers"]["total"] == 48 and d["layers"]["full"] == 12 and d["layers"]["recurrent"] == 36
for key in elements - {"carried_bytes"}:
    assert ledger[key] == sum(layer[key] for layer in per), key
    assert d["ledger"]["largest_layer"][key] == max(layer[key] for layer in per), key
assert ledger["kv_elements_per_token"] == 12 * 1024 and d["ledger"]["largest_layer"]["kv_elements_per_token"] == 1024
assert ledger["growth_bytes_per_token"] * 8 == ledger["growth_bits_per_token"] == 12 * 1024 * numbers["caches"]
assert ledger["carried_bits"] == 8 * ledger["carried_bytes"] == numbers["states"] * ledger["state_elements"] + numbers["caches"] * (ledger["conv_elements"] + ledger["window_elements"])
assert set(d["premises"]) == {"causal", "kinds", "once", "own-cache", "state", "order", "summary", "layout", "ends", "at-once", "counted"}
full = [layer for layer in per if "full" in layer["kinds"]]
assert ledger["message_bits_per_token"] == sum(l["heads"] * (l["value_dim"] + 2) * numbers["accumulators"] for l in full)
assert d["verdict"] == "UNKNOWN" and not any(t["applies"] for t in d["theorems"])'
}

@test "bound: the message is what --message says" {
    for kind in 'online 4' 'numerator 3' 'paper 4'; do
        set -- $kind
        rung bound 2*full --heads 3 --head-dim 2 --bits 10 --message $1 --json | python '
import json, sys
assert json.load(sys.stdin)["ledger"]["sum_over_layers"]["message_bits_per_token"] == 2 * 3 * int(sys.argv[1]) * 10' $2
    done
}

@test "bound: several inputs give results in order, one gives none; without a task the ledger alone" {
    rung bound full linear "$FIXTURES/jamba.json" --json >out.json
    has_schema rung.bound/3 <out.json
    python '
import json
d = json.load(open("out.json"))
assert [r["input"].split("/")[-1] for r in d["results"]] == ["full", "linear", "jamba.json"]
assert [r["layers"]["full"] > 0 for r in d["results"]] == [True, False, True]
assert all(r["theorems"] == [] for r in d["results"])'
    rung bound full --json | python 'import json, sys; assert "results" not in json.load(sys.stdin)'
    run -0 rung bound full,linear
    [[ $output != *verdict* && $output == *"2 layers: 1 full, 1 recurrent"* ]]
}

@test "bound: accumulators have 32 bits whatever the dtype; states and caches what the file says; --bits and its parts win" {
    bits() { rung bound "$@" --json | python 'import json, sys; print(*json.load(sys.stdin)["ledger"]["bits_per_number"].values())'; }
    [ "$(bits full)" = "32 32 32" ]
    [ "$(bits "$FIXTURES/jamba.json")" = "32 32 16" ]      # bfloat16
    [ "$(bits "$FIXTURES/nemotron_h.json")" = "32 32 16" ] # and a state in float32
    sed 's/"bfloat16"/"float8_e4m3fn"/' "$FIXTURES/jamba.json" >fp8.json
    [ "$(bits fp8.json)" = "32 32 16" ] # weights of 8 bits: nothing else is that narrow
    [ "$(bits "$FIXTURES/jamba.json" --bits 8)" = "8 8 8" ]
    [ "$(bits "$FIXTURES/jamba.json" --bits 8 --accumulator-bits 20 --cache-bits 4)" = "20 8 4" ]
    run -0 rung bound "$FIXTURES/jamba.json"
    [[ $output == *"bits per number: accumulators 32, states 32, caches 16 (the file says 16; servers choose: --bits)"* ]]
    run -0 rung bound "$FIXTURES/jamba.json" --bits 8
    [[ $output == *"p = 8 bits per number"* ]]
    # what is carried follows the bits of its kind
    rung bound 'full@2|linear:conv=3@2' window:W=5 --head-dim 4 --accumulator-bits 7 --state-bits 11 --cache-bits 13 --json | python '
import json, sys
both, window = json.load(sys.stdin)["results"]
l = both["per_layer"][0]
assert l["carried_bits"] == l["state_elements"] * 11 + l["conv_elements"] * 13, l
assert l["message_bits_per_token"] == 2 * (4 + 2) * 7, l
assert window["per_layer"][0]["carried_bits"] == window["per_layer"][0]["window_elements"] * 13'
}

@test "bound: a directory stands for its config.json, and a model of ours for its layers" {
    mkdir model
    cp "$FIXTURES/jamba.json" model/config.json
    [ "$(rung bound model --json | grep -v '"input"')" = "$(rung bound model/config.json --json | grep -v '"input"')" ]
    rung build random --arch full,2*linear --dk 4 --dv 3 --heads 2 --task eva -o m.safetensors >/dev/null
    ledger() { rung bound "$@" --json | python 'import json, sys; d = json.load(sys.stdin); print(d["ledger"], d["layers"], d["order"])'; }
    [ "$(ledger m.safetensors)" = "$(ledger full,2*linear --heads 2 --dk 4 --dv 3)" ]
}

@test "bound: text names theorem, numbers, margin, threshold, order of sums, and what does not apply" {
    run -0 rung bound full,4*linear "${headline[@]}" --n 100
    [[ $output == *"UNKNOWN  B0: "* && $output == *"holds from n = 542 on"* ]]
    [[ $output == *"not applicable"* && $output == *"C0, Ce, C1, H2"*"about two full layers"* ]]
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"verdict UNKNOWN in exact 26-bit arithmetic, softmax from left to right: no theorem holds at this size; closest is B0"*"B0 holds from n = 542 on"* ]]
    run -0 rung bound full,4*linear "${headline[@]}" --n 600
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"holds if "*"a full layer adds its keys up from left to right in one pass"*"nothing follows the last token of the task"* ]]
    run -0 rung bound linear --head-dim 2 --bits 1 --task eva --n 5000
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"holds if between two tokens a recurrent layer carries its state"* && $output != *"adds its keys up"* ]]
}

@test "bound: a failure for want of room for the answer is called trivial" {
    run -0 rung bound full --head-dim 1 --bits 1 --task seqcomp L=1 N0=500
    output=$(tr -s ' \n' ' ' <<<"$output") # lines are wrapped
    [[ $output == *"; trivial: the answer does not fit"* && $output == *"wrongly (A'), trivially:"* ]]
    rung bound full --head-dim 1 --bits 1 --task seqcomp L=1 N0=500 --json | python '
import json, sys
d = json.load(sys.stdin)
assert d["verdict"] == "CANNOT" and d["trivial"] and any(t["trivial"] for t in d["theorems"])'
}

@test "bound: orders of summation and tokens after the task leave full layers open, not recurrent ones" {
    for how in '--kernel two-pass' '--kernel reverse' --tokens-after --thoughts; do
        run -0 rung bound full,4*linear "${headline[@]}" --n 5000 $how --expect UNKNOWN
        [[ $output != *"CANNOT"*"B0"* ]]
        [ "$(verdict 4*linear --head-dim 2 --bits 8 --task eva --n 100 $how)" = CANNOT ]
    done
    run -0 rung bound full,4*linear "${headline[@]}" --n 5000 --kernel reverse
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"B0, B, "*"needs that a full layer adds its keys up from left to right in one pass: the sum runs from right to left"* ]]
    run -0 rung bound full,4*linear "${headline[@]}" --n 5000 --tokens-after
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"nothing follows the last token of the task: tokens follow the last one of the task; each is a new receiver"* ]]
    # of the fast evaluator nothing is proved
    [ "$(verdict 4*linear --head-dim 2 --bits 8 --task eva --n 100 --kernel fast)" = UNKNOWN ]
}

@test "bound: theorems about full layers do not speak of a model file that thinks" {
    rung build seqcomp-cot L=1 N0=64 full=1 -o thinks.safetensors >/dev/null
    rung verify thinks.safetensors --samples 50 --numbers e8m3 | grep -q 'all right'
    [ "$(verdict full:dk=14:dv=12 --heads 1 --bits 12 --task seqcomp L=1 N0=64)" = CANNOT ]
    run -0 rung bound thinks.safetensors --bits 12 --task seqcomp L=1 N0=64 --no-weights --expect UNKNOWN
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"without a chain of thought: the model has a chain of thought before it answers"* ]]
    run -0 rung bound thinks.safetensors --bits 12 --task seqcomp L=1 N0=64 --samples 50 --expect SAMPLED
}

@test "bound: 36 recurrent layers among 12 full ones: nothing applies, and it says so" {
    run -0 rung bound '12*(3*gdelta,full)' --heads 32 --head-dim 128 --task seqcomp L=2 --n 1000000000 --expect UNKNOWN
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"no theorem applies to these layers and this task"*"UNKNOWN does not say that they can"* ]]
}

# ---- the inverse -----------------------------------------------------------------------------------------------------------

# solve WHAT ARGS...
solve() {
    rung bound "${@:2}" --solve "$1" --json | python '
import json, sys
s = json.load(sys.stdin)["solve"]
assert s["both_sides_checked"], s
print("%d" % s["value"])'
}

@test "bound --solve finds the edge: CANNOT there, UNKNOWN one further" {
    [ "$(solve n full,4*linear "${headline[@]}")" = 542 ]
    n=$(solve n full,4*linear "${toy[@]}" --task seqcomp L=2)
    [ "$(verdict full,4*linear "${toy[@]}" --task seqcomp L=2 --n $n)" = CANNOT ]
    [ "$(verdict full,4*linear "${toy[@]}" --task seqcomp L=2 --n $((n - 1)))" = UNKNOWN ]
    p=$(solve p 2*linear --head-dim 2 --task eva --n 200)
    [ "$(verdict 2*linear --head-dim 2 --bits $p --task eva --n 200)" = CANNOT ]
    [ "$(verdict 2*linear --head-dim 2 --bits $((p + 1)) --task eva --n 200)" = UNKNOWN ]
    d=$(solve d full,2*linear --bits 8 --task seqcomp L=2 --n 1000)
    [ "$(verdict full,2*linear --head-dim $d --bits 8 --task seqcomp L=2 --n 1000)" = CANNOT ]
    [ "$(verdict full,2*linear --head-dim $((d + 1)) --bits 8 --task seqcomp L=2 --n 1000)" = UNKNOWN ]
    r=$(solve layers full,linear --head-dim 2 --bits 8 --task seqcomp L=2 --n 1000)
    [ "$(verdict full,$r*linear --head-dim 2 --bits 8 --task seqcomp L=2 --n 1000)" = CANNOT ]
    [ "$(verdict full,$((r + 1))*linear --head-dim 2 --bits 8 --task seqcomp L=2 --n 1000)" = UNKNOWN ]
}

@test "bound --solve says why there is no edge, and what it cannot vary" {
    run -0 rung bound 4*full --head-dim 2 --task seqcomp L=2 --n 1000 --solve p --no-weights
    [[ $output == *"CANNOT: none"* ]]
    run -2 rung bound "$FIXTURES/jamba.json" --task eva --n 100 --solve d
    [[ $output == *"its own head dimension"* ]]
    run -2 rung bound '2*(linear,full)' --task eva --n 100 --solve layers
    [[ $output == *"several places (1 and 3)"* ]]
    run -2 rung bound 2*full --task eva --n 100 --solve layers
    run -2 rung bound linear --solve n
    [[ $output == *"--solve for which task?"* ]]
    run -2 rung bound linear --task eva --solve m
}

# ---- plans ------------------------------------------------------------------------------------------------------------------

# bats test_tags=plain
@test "bound --plan proposes layers that verify confirms, and nothing cheaper is right" {
    for task in 'seqcomp L=2' 'eva form=pair' index 'two-sum blank=1' assoc-recall 'retrieval N=20'; do
        rung bound --plan --task $task --n 30 --bits 16 --samples $(effort 300 10) --json >plan.json
        has_schema rung.bound/3 <plan.json
        build=$(python '
import json
d = json.load(open("plan.json"))
p, v = d["plan"], d["plan"]["verified"]
assert d["verdict"] == ("SAMPLED" if v["evidence"] == "sample" else "CAN"), (d["verdict"], v)
assert v["at_wanted_size"] and v["tokens"] == d["n"] <= 30 and v["wrong"] == 0
assert all(r["full_layers"] + r["sparse_layers"] <= p["full_layers"] + p["sparse_layers"] and r["why"] for r in p["rejected"])
print(p["build"] + " -o m.safetensors " + v["numbers"])')
        numbers=${build##* }
        rung build ${build% *} >/dev/null
        run -0 rung verify m.safetensors --samples $(effort 50 5) --seed 9 --numbers "$numbers" --quiet
        [ "$(rung bound m.safetensors --bits 16 --json | python 'import json, sys; d = json.load(sys.stdin); print(d["layers"]["full"], d["ledger"]["sum_over_layers"]["carried_bits"])')" \
            = "$(python 'import json; p = json.load(open("plan.json"))["plan"]; print(p["full_layers"], p["state_bits"])')" ]
    done
}

# bats test_tags=plain
@test "bound --plan: composition needs one full layer less with a linear one, whatever the number of functions" {
    for levels in 2 3; do
        rung bound --plan --task seqcomp L=$levels --n $(effort 60 30) --bits 16 --samples $(effort 10 2) --json | python '
import json, sys
d = json.load(sys.stdin)
assert d["verdict"] == "SAMPLED" and d["plan"]["full_layers"] == int(sys.argv[1]) and "linear" in d["plan"]["arch"]' $levels
    done
}

@test "bound --plan says so where it knows nothing, or was asked for the impossible" {
    run -0 rung bound --plan --task parity --n 20
    [[ $output == *"UNKNOWN: no construction was right: none of them is about this task"* ]]
    run -0 rung bound --plan --task two-sum --n 20 --expect UNKNOWN # a task that the construction alters
    [[ $output == *"with blank=1; UNKNOWN without"* ]]
    run -2 rung bound --plan full --task eva
    run -2 rung bound --plan
    run -2 rung bound --plan --task seqcomp N0=50 --n 20
    run -2 rung bound --plan --task eva --bits 3
    run -1 rung bound --plan --task parity --n 20 --expect CAN
}

# ---- what is wrong --------------------------------------------------------------------------------------------------------

@test "bound --expect: exit code 1 and a line when the verdict is another, for any input" {
    run -1 --separate-stderr rung bound full,4*linear "${headline[@]}" --n 541 --no-weights --expect CANNOT
    [[ $stderr == "expected CANNOT, and full,4*linear is UNKNOWN" ]]
    run -0 rung bound full,4*linear "${headline[@]}" --n 542 --expect CANNOT
    run -1 rung bound full,4*linear 3*full "${headline[@]}" --n 542 --no-weights --no-thresholds --expect CANNOT
    run -0 rung bound 3*full "${headline[@]}" --n 542 --no-weights --expect UNKNOWN
    run -2 rung bound 3*full "${headline[@]}" --n 542 --expect CANOT
    [[ $output == *"did you mean 'CANNOT'"* ]]
}

@test "bound: misspelt words are answered with the nearest" {
    run -2 rung bound full --task seqcmp
    [[ $output == *"did you mean 'seqcomp'"* ]]
    run -2 rung bound full --task seqcomp M0=4
    [[ $output == *"unknown"*"'M0'"* && $output == *"N0"* ]]
    run -2 rung bound full,linaer --task eva
    [[ $output == *"linear"* && $output == *"column 6"* ]]
    run -2 rung bound full --taks eva
    [[ $output == *"did you mean '--task'"* || $output == *"--task"* ]]
    run -2 rung bound full --task eva --message onlin
    [[ $output == *"did you mean 'online'"* ]]
    run -2 rung bound full N=4
    [[ $output == *"add --task"* ]]
    run -2 rung bound
    [[ $output == *"needs ARCH|FILE"* ]]
}

@test "bound: files that are missing, no configuration, cut off or absurd exit with 3 and a name" {
    echo '{"model_type": "qwen3", ' >broken.json
    echo '[1, 2]' >list.json
    echo '{}' >empty.json
    : >nothing.json
    printf 'GGUF\3\0\0\0\1\0\0' >cut.gguf
    rung build random --task eva -o m.safetensors >/dev/null
    head -c 200 m.safetensors >cut.safetensors
    for file in missing.json missing/config.json broken.json list.json empty.json nothing.json cut.gguf cut.safetensors; do
        run -3 rung bound "$file" --task eva
        [[ $output == *"${file%%/*}"* ]]
        run -3 rung bound full "$file" --json
    done
    mkdir nomodel
    run -3 rung bound nomodel
}

@test "bound: sizes that do not fit are no proof of anything" {
    run -0 rung bound '60000*linear' --heads 65536 --head-dim 1048576 --bits 65536 --task eva --n 100 --expect UNKNOWN
    [[ $output == *"2^62"* ]]
}

@test "bound: a hundred configurations in one call, each answered under its name" {
    files=("$FIXTURES"/*.json)
    mkdir many
    for ((i = 0; i < 100; i++)); do ln -s "${files[i % ${#files[@]}]}" many/$((100 + i)).json; done
    rung bound many/*.json --task seqcomp L=2 --n 100000 --json --threads 2 >two.json
    rung bound many/*.json --task seqcomp L=2 --n 100000 --json --threads 1 >one.json
    cmp one.json two.json
    python '
import json
results = json.load(open("one.json"))["results"]
assert [r["input"] for r in results] == ["many/%d.json" % (100 + i) for i in range(100)], results[0].keys()'
}

@test "list bounds: every theorem that bound can name, with a section of its proof" {
    rung list bounds --json >list.json
    rung bound full --task seqcomp --json >seqcomp.json
    rung bound full --task eva --json >eva.json
    python '
import json
rows = {r["name"]: r for r in json.load(open("list.json"))["bounds"]}
assert rows
for name in ("seqcomp", "eva"):
    theorems = json.load(open(name + ".json"))["theorems"]
    assert theorems
    for t in theorems:
        row = rows[t["id"]]
        assert name in row["tasks"].split() and row["section"] and row["source"] == t["source"] and row["checked"]'
    run -0 rung list bounds B0
    [[ $output == *"proof"*"docs/theory.md#"* && $output == *"about"*"seqcomp"* ]]
}

@test "self-compose: neither a theorem nor a construction speaks of it, and every command says so" {
    local arch
    for arch in full '2*full' linear linear,full; do
        rung bound "$arch" --task self-compose --bits 4 --expect UNKNOWN | tr -s ' \n' ' ' | grep -q 'no theorem applies'
        rung bound "$arch" --task self-compose ask=value --n 1000000 --bits 4 --expect UNKNOWN >out
    done
    rung bound --plan --task self-compose --n 100 --bits 16 | grep -q 'none of them is about this task'
    run -2 --separate-stderr rung train --arch full --task self-compose --queries 4 --steps 1 -o m.safetensors
    [[ $stderr == *"no questions that can be drawn at random; leave out --queries"* ]]
    rung build random --arch full --task self-compose N=4 -o m.safetensors -q
    rung break m.safetensors -o m.cert | grep -q 'rung-check does not support the task self-compose'
    [ ! -e m.cert ]
}

# ---- proofs for Coq -----------------------------------------------------------------------------------------------------

@test "bound: --proof writes the claim as it is printed, and nothing where there is none" {
    run -0 rung bound full,4*linear "${headline[@]}" --n 542 --no-weights --proof claim.v
    [[ $output == *"proof    in Coq (TheoremB0.v)"* ]]
    [ "$(wc -l <claim.v)" -lt 30 ]
    grep -qxF 'Theorem cannot : within 542 (seqcomp false 30 [17] 510) /\' claim.v
    grep -qxF '  Impossible (F 104 :: repeat (R 156) 4) (seqcomp false 30 [17] 510).' claim.v
    grep -q '^Print Assumptions cannot\.$' claim.v
    # One token less: no CANNOT, no file, exit code 1.
    run -1 rung bound full,4*linear "${headline[@]}" --n 541 --no-weights --proof none.v
    [[ $output == *"UNKNOWN"* && $output == *"there is no proof for Coq"* ]]
    [ ! -e none.v ]
    # A theorem that is proved on paper.
    run -1 rung bound full "${toy[@]}" --task q-sparse-average N=256 q=8 --no-weights --proof none.v
    [[ $output == *"proof    on paper (docs/theory.md#average)"* && $output == *"there is no proof for Coq"* ]]
    [ ! -e none.v ]
}

@test "bound: --json says whether Coq has the theorem" {
    rung bound full,4*linear "${headline[@]}" --n 542 --no-weights --json >a.json
    rung bound full "${toy[@]}" --task q-sparse-average N=256 q=8 --no-weights --json >b.json
    python '
import json
a, b = json.load(open("a.json")), json.load(open("b.json"))
assert a["proof_in_coq"] is True and a["coq_file"] == "TheoremB0.v" and a["coq_missing"] is None and a["checked_by"] is None, a
assert b["verdict"] == "CANNOT" and b["proof_in_coq"] is False and b["coq_file"] is None and "paper" in b["coq_missing"], b'
}

@test "bound: --proof and --check want one claim and a name that coqc takes" {
    run -2 rung bound linear full --task eva --proof a.v
    [[ $output == *"one claim"* ]]
    run -2 rung bound linear --task eva --solve n --check
    [[ $output == *"one claim"* ]]
    for name in claim 1.v a-b.v .v; do
        run -2 rung bound linear --task eva N=64 --bits 2 --proof "$name"
        [[ $output == *"coqc wants a name"* ]]
    done
    run -2 rung bound linear --check
    [[ $output == *"for which task"* ]]
}

@test "bound: --check has coqc check it, and says what is missing" {
    claim=(full,4*linear "${headline[@]}" --n 542 --no-weights --check)
    mkdir -p nothing compiled
    run -4 env RUNG_PROOFS=nothing "$RUNG" bound "${claim[@]}"
    [[ $output == *CANNOT* && $output == *"no Instance.vo"* ]]
    # Something that is there, but no coqc.
    touch compiled/Instance.vo
    run -4 env RUNG_PROOFS=compiled PATH=/nowhere "$RUNG" bound "${claim[@]}"
    [[ $output == *"coqc is not installed"*"make proofs"* ]]
    # A coqc that rejects, one that accepts without the sentence, and one that accepts.
    mkdir -p fake
    coqc() { printf '#!/bin/sh\ncase $1 in --print-version) echo 9.9.9 4.1; exit 0 ;; esac\n%s\n' "$1" >fake/coqc && chmod +x fake/coqc; }
    coqc 'echo "Error: no"; exit 1'
    run -4 env RUNG_PROOFS=compiled PATH="$PWD/fake:$PATH" "$RUNG" bound "${claim[@]}"
    [[ $output == *"does not accept"*"Error: no"* ]]
    coqc 'echo "Axioms: x"'
    run -4 env RUNG_PROOFS=compiled PATH="$PWD/fake:$PATH" "$RUNG" bound "${claim[@]}"
    [[ $output == *"does not accept"* ]]
    coqc 'grep -q "Theorem cannot : within 542" claim.v && echo "Closed under the global context"'
    run -0 env RUNG_PROOFS=compiled PATH="$PWD/fake:$PATH" "$RUNG" bound "${claim[@]}"
    [[ $output == *"this claim was checked by coqc 9.9.9"* ]]
}

@test "bound --thoughts: a number of thoughts, any number, and none" {
    one=(full --head-dim 2 --bits 4 --message numerator --task seqcomp L=2 --n 28 --no-weights)
    run -0 rung bound "${one[@]}" --thoughts 1 --expect CANNOT
    [[ $output == *"CANNOT   K1: "* && $output == *"holds from n = 28 on"* ]]
    run -0 rung bound "${one[@]}" --thoughts=2 --expect UNKNOWN
    [[ $output == *"about more functions than thoughts"* ]]
    run -0 rung bound --thoughts "${one[@]}" --expect UNKNOWN
    [[ $output == *"any number of thoughts may come before the"* ]]
    run -0 rung bound "${one[@]}" --thoughts 0 --expect CANNOT
    [[ $output == *"B0: "* ]]
    run -2 rung bound "${one[@]}" --thoughts=few
    [[ $output == *"is no number from 0 to"* ]]
    # two thoughts suffice, one does not: the same layers, with weights
    run -0 rung bound full:dk=16:dv=12 --bits 10 --task seqcomp L=2 N0=128 n=1 --thoughts 1 --expect CANNOT
    run -0 rung bound full:dk=20:dv=16 --bits 10 --task seqcomp L=2 N0=128 n=1 --thoughts 2 --expect SAMPLED
}

@test "bound: formats give accumulators, states and caches their bits, those that the evaluator carries" {
    of() { rung bound "$@" --json | python 'import json, sys; a = json.load(sys.stdin)["ledger"]["bits_per_number"]; print(a)'; }
    [ "$(of gdelta --numbers served:bf16)" = "$(of gdelta --accumulator-bits 32 --state-bits 16 --cache-bits 16)" ]
    [ "$(of gdelta --numbers f16)" = "$(of gdelta --bits 16)" ]
    # Inside a chunk a state has the bits of acc.
    [ "$(of gdelta --numbers served:bf16,chunk=64)" = "$(of gdelta --accumulator-bits 32 --state-bits 32 --cache-bits 16)" ]
    rung build random --arch 'gdelta:unit=1:conv=3,window:W=4' --task eva N=8 --d-model 8 --heads 2 --dk 4 --dv 4 -o m.safetensors >/dev/null
    for numbers in served:bf16 served:fp8 f32,state=e4m3,act=f16,cache=bf16 q9.6 f32,state=int8/row,cache=int4/2*f16 \
        f32,state=e4m3,chunk=3; do
        rung run m.safetensors --step --numbers $numbers --json >run.json
        rung bound m.safetensors --numbers $numbers --json >bound.json
        python3 - $numbers <<'END'
import json, sys
last = json.load(open("run.json"))["positions"][-1]
carried = last["recurrent_bits"] + last["window_bits"] + last["conv_bits"]
bound = sum(layer["carried_bits"] for layer in json.load(open("bound.json"))["per_layer"])
assert carried <= bound, (sys.argv, carried, bound)
if sys.argv[1] in ("served:bf16", "q9.6"): assert carried == bound, (sys.argv, carried, bound)
END
    done
    run -2 --separate-stderr rung bound gdelta --numbers served:bf16 --bits 8
    [ "$(rung bound full --head-dim 2 --numbers served:bf16 --task eva --n 20 --json | python 'import json, sys; print(json.load(sys.stdin)["verdict"])')" = UNKNOWN ]
}
