#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Completion scripts: that the shells accept them, and that bash completes what it should.
load common

# complete WORDS...: what bash offers for the last word.
complete_last() {
    bash --norc -c '
source <("$0" completion bash)
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { :; }
_rung
printf "%s\n" "${COMPREPLY[@]}"' "$RUNG" "$@"
}

@test "each script is accepted by its shell" {
    for shell in bash zsh fish; do
        rung completion "$shell" >script
        [ -s script ]
        if command -v "$shell" >/dev/null; then "$shell" -n script; fi
        rung completion "$shell" --json | has_schema rung.completion/1
    done
}

@test "the bash script is clean for shellcheck" {
    command -v shellcheck >/dev/null || skip "no shellcheck"
    rung completion bash >script
    shellcheck -s bash -S warning script
}

@test "bash completes commands, options, values, names and keys" {
    [[ $(complete_last rung tas) == task ]]
    [[ $(complete_last rung task eva --for) == --format ]]
    [[ $(complete_last rung task eva --format insp) == inspect ]]
    [[ $(complete_last rung task ev) == eva ]]
    complete_last rung task eva '' | grep -qx 'N='
    [[ $(complete_last rung list mech) == mechanisms ]]
    [[ $(complete_last rung completion fis) == fish ]]
    touch unique-file.jsonl
    [[ $(complete_last rung task eva -o unique) == unique-file.jsonl ]]
}

@test "bash completes what a kind has, layers, formats, and keys of constructions" {
    complete_last rung list tasks '' >offered
    grep -qx mqar offered
    run ! grep -qx mechanisms offered
    run ! grep -qx lookup offered
    complete_last rung list '' | grep -qx bounds
    run ! grep -qx eva <(complete_last rung list '')
    complete_last rung train --arch '' | grep -qx gdelta
    complete_last rung train --task '' | grep -qx mqar
    complete_last rung build seqcomp '' | grep -qx 'linear='
    run ! grep -qx 'linear=' <(complete_last rung task seqcomp '')
    rung build lookup N=4 -o m.safetensors >/dev/null
    for format in $(complete_last rung run m.safetensors --numbers ''); do
        rung run m.safetensors --numbers "$format" >/dev/null
    done
}

@test "every script knows every command and option" {
    rung help --json >help.json
    for shell in bash zsh fish; do
        rung completion "$shell" >script
        python '
import json, sys
script = open("script").read()
for c in json.load(open("help.json"))["commands"]:
    assert c["name"] in script, c["name"]
    for o in c["options"]:
        assert ("-l " + o["name"] if sys.argv[1] == "fish" else "--" + o["name"]) in script, o["name"]' "$shell"
    done
}

@test "an unknown shell suggests the nearest" {
    run -2 rung completion bsh
    [[ $output == *"did you mean 'bash'?"* ]]
}
