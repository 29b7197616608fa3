#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# rung replay: what is sent to an engine and what is made of its answer. The engine here is a package of node that says what a case
# wants; engines.bats asks the real ones.
load common

FIXTURES=$BATS_TEST_DIRNAME/../fixtures/cert

# A package onnxruntime-node that answers $SAID (JSON, a row per prompt) and keeps what it was asked.
setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    command -v node >/dev/null || skip "node is not installed"
    mkdir -p engines/node_modules/onnxruntime-node
    echo '{}' >engines/package.json
    cat >engines/node_modules/onnxruntime-node/index.js <<'JS'
const fs = require("node:fs");
const said = JSON.parse(process.env.SAID), asked = process.env.ASKED;
module.exports = {
    env: {versions: {node: "of a test"}},
    Tensor: class { constructor(type, data, dims) { Object.assign(this, {type, data, dims}); } },
    InferenceSession: {create: async file => {
        fs.copyFileSync(file, "model.onnx");
        return {run: async ({ids}) => {
            fs.appendFileSync(asked, JSON.stringify([ids.type, [...ids.data].map(Number), ids.dims]) + "\n");
            const row = said.shift();
            return {logits: {data: [...Array(row.length * (ids.dims[1] - 1)).fill(9), ...row]}};
        }};
    }},
};
JS
    export RUNG_ENGINES=$PWD/engines ASKED=$PWD/asked
}

replay() { rung replay "$FIXTURES/$1.cert" "$FIXTURES/swap.safetensors" --engine onnxruntime "${@:2}"; }

@test "the engine is asked the prompts of the certificate, and the score behind the last token counts" {
    SAID='[[1, 3.5]]' run -0 replay swap-wrong
    [[ $output == *"wrong-answer of e4m3, in ONNX Runtime of a test"* ]]
    [[ $output == *"ONNX Runtime of a test v1     wrong, 2.5 below the best other answer"*"errs on 1 of 1 prompt"* ]]
    [[ $output == *"so does fp32 in the order of rung"* ]]
    [ "$(cat asked)" = "[\"int64\",[$(sed -n 's/^prompt //p' "$FIXTURES/swap-wrong.cert" | tr ' ' ,)],[1,3]]" ]
    SAID='[[3.5, 1]]' run -0 replay swap-wrong
    [[ $output == *"v0     right, 2.5 above the best other answer"*"errs on 0 of 1 prompt"*"fp32 in the order of rung errs"* ]]
    SAID='[[1, 1]]' run -0 replay swap-wrong
    [[ $output == *"v0     right, as good as another answer"* ]]
    SAID='[[null, 1]]' run -0 replay swap-wrong
    [[ $output == *"v1     wrong, inf below"* ]]
}

@test "both prompts of a collision are asked, and --expect is the exit code" {
    SAID='[[0, 1], [0, 1]]' run -0 replay swap-state --json --expect errs
    has_schema rung.replay/1 <<<"$output"
    python '
import json, sys
x = json.loads(sys.argv[1])
assert x["errs"] == 1 and [p["right"] for p in x["prompts"]] == [0, 1]
assert [p["in_engine"] for p in x["prompts"]] == [{"answer": 1, "lead": -1}, {"answer": 1, "lead": 1}]
assert [p["fp32"]["answer"] for p in x["prompts"]] == [1, 1] == [p["certificate"]["answer"] for p in x["prompts"]]' "$output"
    [ "$(wc -l <asked)" = 2 ]
    SAID='[[0, 1], [0, 1]]' run -1 replay swap-state --expect right
    SAID='[[1, 0], [0, 1]]' run -0 replay swap-state --expect right
    SAID='[[1, 0], [0, 1]]' run -1 replay swap-state --expect errs
}

@test "an engine that is missing, fails or answers something else is an error with the reason" {
    SAID='[[1]]' run -4 replay swap-wrong
    [[ $output == *"does not answer with a score for every answer of every prompt"* ]]
    SAID='[["x", 1]]' run -4 replay swap-wrong
    [[ $output == *"does not answer with a score"* ]]
    SAID='[' run -4 replay swap-wrong
    [[ $output == *"onnxruntime fails:"*"JSON"* ]]
    RUNG_ENGINES=$PWD/none run -4 replay swap-wrong
    version=$(jq -r '.dependencies["onnxruntime-node"]' "$BATS_TEST_DIRNAME/../peers/package.json")
    [[ $output == *"npm install --ignore-scripts --prefix DIR onnxruntime-node@$version"*"make npm-engines"* ]]
    run -4 rung replay "$FIXTURES/swap-wrong.cert" "$FIXTURES/swap.safetensors" --engines engines
    version=$(jq -r '.dependencies["node-llama-cpp"]' "$BATS_TEST_DIRNAME/../peers/package.json")
    [[ $output == *"node-llama-cpp@$version"* ]]
}

@test "what is untrue or has no place in the engine is refused before the engine starts" {
    sed 's/^given 1/given 0/; s/^right 0/right 1/' "$FIXTURES/swap-wrong.cert" >untrue.cert
    SAID='[[1, 2]]' run -3 rung replay untrue.cert "$FIXTURES/swap.safetensors" --engine onnxruntime
    [[ $output == *"untrue.cert is untrue"* ]]
    SAID='[[1, 2]]' run -3 rung replay "$FIXTURES/block.cert" "$FIXTURES/block.safetensors" --engine onnxruntime
    [[ $output == *"layer 0: mechanism sparse has no place in ONNX"* ]]
    [ ! -e asked ]
}
