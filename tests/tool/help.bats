#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Help texts: there, examples first, and never wider than a terminal.
load common

# Line number of the first line that is exactly $2 in text $1.
line_of() { grep -nFx "$2" <<<"$1" | head -1 | cut -d: -f1; }

@test "rung alone and rung --help show the same overview, examples before commands" {
    run -0 rung
    alone=$output
    run -0 rung --help
    [ "$output" = "$alone" ]
    [ "$(line_of "$output" Examples)" -lt "$(line_of "$output" Commands)" ]
    for command in $COMMANDS; do grep -qE "^  $command " <<<"$output"; done
}

@test "every command has a help with examples first and exit codes" {
    for command in $COMMANDS; do
        run -0 --separate-stderr rung "$command" --help
        [ -z "$stderr" ]
        [ "$(line_of "$output" Examples)" -lt "$(line_of "$output" Usage)" ]
        [ "$(line_of "$output" Usage)" -lt "$(line_of "$output" Options)" ]
        grep -qFx 'Exit codes' <<<"$output"
        grep -qE '^  0 done; .*2 wrong usage' <<<"$output"
        grep -qE '130, 143|SIGINT' <<<"$output"
    done
}

@test "rung help COMMAND is rung COMMAND --help" {
    for command in $COMMANDS; do
        run -0 rung "$command" --help
        long=$output
        run -0 rung help "$command"
        [ "$output" = "$long" ]
        run -0 rung "$command" -h
        [ "$output" = "$long" ]
    done
}

@test "help fits into 80 columns and has no escape sequences in a pipe" {
    for command in '' $COMMANDS; do
        rung help ${command:+"$command"} >text
        run ! grep -nE '.{81}' text
        run ! grep -n "$(printf '\033')" text
    done
}

@test "topics: examples first, within 80 columns, and the examples run as they stand" {
    rung build lookup N=16 keys=sign -o m.safetensors >/dev/null
    mkdir bin
    ln -s "$RUNG" bin/rung
    PATH=$PWD/bin:$PATH
    for topic in arch numbers tasks verdicts; do
        rung help | grep -qE "^  help $topic "
        rung help "$topic" >text
        run ! grep -nE '.{81}' text
        [ "$(line_of "$(cat text)" Examples)" -lt "$(line_of "$(cat text)" Meaning)" ]
        joined <text >examples
        [ "$(wc -l <examples)" -ge 3 ]
        while read -r line; do
            bash -c "$line" >/dev/null </dev/null
        done <examples
    done
    run -2 rung help archh
    [[ $output == *"did you mean 'arch'"* ]]
    run -2 rung help arch --json
}

@test "--help wins over mistakes on the same line" {
    run -0 rung task --bogus --help
    [[ $output == *Examples* ]]
}

@test "the help of a command with a task names its parameters" {
    run -0 rung task eva --help
    [[ $output == *"Parameters of eva"*"N=16"* ]]
}

# The example lines of a help text, without their meaning, broken lines joined.
joined() {
    sed -n '/^Examples$/,/^$/p' | awk '
        /^  rung/ || joining {
            sub(/^ +/, ""); sub(/   .*/, ""); joining = sub(/ *\\$/, " ")
            printf "%s%s", $0, joining ? "" : "\n"
        }'
}

examples_of() { rung "$1" --help | joined; }

@test "every example of the help runs as it stands" {
    mkdir bin
    ln -s "$RUNG" bin/rung
    PATH=$PWD/bin:$PATH
    for command in list task help build run; do
        examples_of "$command" >examples
        [ -s examples ]
        run ! grep -v '^rung ' examples
        while read -r line; do
            run -0 bash -c "$line"
        done <examples
    done
}

@test "help --json describes every option once" {
    rung help --json | has_schema rung.help/1
    rung help --json | python '
import json, sys
for c in json.load(sys.stdin)["commands"]:
    names = [o["name"] for o in c["options"]]
    letters = [o["letter"] for o in c["options"] if "letter" in o]
    assert len(names) == len(set(names)), c["name"]
    assert len(letters) == len(set(letters)), c["name"]
    assert {"json", "seed", "quiet", "help"} <= set(names), c["name"]
    for o in c["options"]:
        assert o["kind"] and o["help"], o
        assert not o["help"].endswith("."), o'
}

@test "--version is one line" {
    run -0 rung --version
    [[ $output =~ ^rung\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "colour only on a terminal and not with NO_COLOR" {
    script -qec true /dev/null >/dev/null 2>&1 || skip "no script(1) or no pseudo-terminals"
    escape=$(printf '\033')
    TERM=xterm NO_COLOR='' script -qec "$RUNG help" /dev/null >colour
    grep -q "$escape" colour
    TERM=xterm NO_COLOR=1 script -qec "$RUNG help" /dev/null >plain
    run ! grep -q "$escape" plain
    TERM=dumb NO_COLOR='' script -qec "$RUNG help" /dev/null >dumb
    run ! grep -q "$escape" dumb
}

@test "the manual page names every command and option, and groff has nothing to say" {
    rung man >rung.1
    for command in $COMMANDS; do grep -qF "rung ${command//-/\\-}" rung.1; done
    grep -qF -- '\-\-leak' rung.1
    if command -v groff >/dev/null; then
        groff -man -Tutf8 -ww -z rung.1 2>complaints
        [ ! -s complaints ]
    fi
    if command -v man >/dev/null; then MANWIDTH=80 man -l rung.1 | grep -q 'EXIT STATUS'; fi
    rung man --json | has_schema rung.man/1
}

@test "a misspelt 'version' is recognised" {
    run -2 rung verison
    [[ $output == *"did you mean 'version'?"* ]]
}

# bats test_tags=plain
@test "verdicts have colours on a terminal, and what is printed fits 40 columns" {
    without_sanitizers "the same output again"
    command -v script >/dev/null || skip "script is not installed"
    on_terminal() { TERM=xterm script -qec "stty cols $1; $RUNG $2" /dev/null; }
    red=$'\033[1;31mCANNOT' green=$'\033[1;32mCAN' dim=$'\033[2mUNKNOWN'
    cannot="bound linear --head-dim 2 --bits 8 --task eva N=64"
    [[ $(on_terminal 80 "$cannot") == *"$red"* ]]
    [[ $(on_terminal 80 "bound full --task eva N=4") == *"$green"* ]]
    [[ $(on_terminal 80 "bound full --task eva N=4 --no-weights") == *"$dim"* ]]
    [[ $(NO_COLOR=1 on_terminal 80 "$cannot") != *$'\033[1;31m'* ]]
    [[ $(rung $cannot) != *$'\033'* ]]
    widest=$(NO_COLOR=1 on_terminal 40 "$cannot --no-weights" | tr -d '\r' | awk '!/^(task|each layer)/ && length($0) > most { most = length($0) } END { print most }')
    [ "$widest" -le 40 ] # the text of a task and the head of the table are not broken
    widest=$(rung $cannot | awk 'length($0) > most { most = length($0) } END { print most }')
    [ "$widest" -le 80 ]
}
