#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# game: protocols in the game behind the bounds, at the sizes of docs/erratum.md, and what is refused.
load common

@test "game: the relay composes with one linear round, on every prompt" {
    run -0 --separate-stderr rung game relay L=2 N0=2 n=2 --head-dim 1 --bits 1
    [[ $output == *"(2;1,0)"* && $output == *"4096 of 4096 prompts right, which are all"* ]]
    [[ $output == *"held another prompt: all the same"* ]]
    run -0 --separate-stderr rung game relay L=3 N0=2 n=2,2 flat=1 --head-dim 1 --bits 1 --json
    has_schema rung.game/1 <<<"$output"
    python '
import json, sys
doc = json.loads(sys.argv[1])
assert doc["won"] and doc["prompts"] == doc["right"] == 8192 and doc["every_prompt"]
assert doc["linear_rounds"] == [1, 0, 0] and doc["messages_leaked"] == 0 and doc["messages_repeated"] > 0
assert [(m["epoch"], m["kind"], m["from"], m["to"]) for m in doc["messages_of_first_prompt"]] == [
    (1, "soft", "z1", "z0"), (1, "linear", "z0", "w"), (2, "soft", "z2", "w"), (3, "soft", "z3", "w")]
' "$output"
}

@test "game: a message that is too long breaks the rules" {
    run -1 --separate-stderr rung game relay N0=16 n=16 --head-dim 1 --bits 1 --samples 3
    [[ $output == *"against the rules: epoch 1, soft round: z1 sends 4 bits to z0, and 2 are allowed"* ]]
}

@test "game: without the linear round the relay does not fit, the pointer needs an epoch more" {
    run -2 rung game relay L=2 N0=2 n=2 --a 0,0
    [[ $output == *"a_1 >= 1"* ]]
    run -2 rung game pointer L=2 N0=2 n=2 --a 0,0
    [[ $output == *"needs 3 epochs"* ]]
    run -0 rung game pointer L=2 N0=2 n=2 --a 0,0,0
}

@test "game: names are listed and completed, and a picture is drawn" {
    run -0 --separate-stderr rung game
    for name in relay pointer bitmap columns; do [[ $output == *"$name "* ]]; done
    run -2 rung game rely
    [[ $output == *"did you mean 'relay'"* ]]
    run -0 --separate-stderr rung game columns L=2 N0=4 n=3 --bits 8 --samples 10 --svg c.svg
    python '
import sys, xml.dom.minidom
text = xml.dom.minidom.parse("c.svg").toxml()
assert text.count("48 bits") == 1 and "epoch 2, soft" in text
'
}

@test "game: blocks, sparse attention finds a member while the query opens few blocks" {
    run -0 --separate-stderr rung game sort-six N=1024 M=2048 --block 64
    [[ $output == *"16 blocks of 64 numbers"* && $output == *"20 of 20 prompts right"* ]]
    run -0 --separate-stderr rung game sort-four N=1638 M=1000 --block 182 --samples 5 --json
    has_schema rung.blocks/1 <<<"$output"
    python '
import json, sys
doc = json.loads(sys.argv[1])
assert doc["won"] and doc["prompts"] == doc["right"] == 5 and doc["broken_rule"] is None and len(doc["layers"]) == 4
assert sum(layer["query_opens"] for layer in doc["layers"]) <= 15
' "$output"
    run -2 rung game sort-six N=1000 M=50 --block 64
    [[ $output == *"do not fill blocks of 64"* ]]
    run -2 rung game sort-six N=1024 M=50 --block 16
    [[ $output == *"at least (m/2)^2 tokens"* ]]
    run -2 rung game sort-six N=1024 M=50 --block 64 --svg x.svg
    [[ $output == *"has fixed layers"* ]]
}
