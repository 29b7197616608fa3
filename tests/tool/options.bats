#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The option parser: what it accepts, what it refuses, and with which words and exit code.
load common

# refuses CODE PATTERN ARGS...: exit code, nothing on stdout, the message on stderr.
refuses() {
    local code=$1 pattern=$2
    shift 2
    run "-$code" --separate-stderr rung "$@"
    [ -z "$output" ]
    [[ $stderr == *$pattern* ]] || { echo "stderr: $stderr" >&2; false; }
}

@test "an unknown command suggests the nearest and exits 2" {
    refuses 2 "did you mean 'task'?" tsak
    refuses 2 "did you mean 'completion'?" compl
    refuses 2 "unknown command 'zzzzzz'" zzzzzz
    refuses 2 "did you mean 'list'?" help lisst
}

@test "an unknown option suggests the nearest and exits 2" {
    refuses 2 "did you mean '--count'?" task eva --cuont 3
    refuses 2 "did you mean '--threads'?" task eva --thr=3
    refuses 2 "did you mean '--json'?" list --jsno
    refuses 2 "unknown option '-z'" list -z
    refuses 2 "Try 'rung list --help'" list --jsno
}

@test "words of other programs lead to ours" {
    refuses 2 "did you mean '--rate'?" train --arch full --lr 0.1
    refuses 2 "did you mean '--batch'?" train --arch full --batch_size 8
    refuses 2 "have no dashes, as in L=2" train --arch full --L 2
    refuses 2 "did you mean 'gdelta'?" bound gated_deltanet --task eva N=4
    refuses 2 "did you mean 'full'?" bound mha --task eva N=4
    refuses 2 "did you mean 'verify'?" evaluate
    refuses 2 "did you mean '--help'?" --hlep
    for word in version -V --version; do
        run -0 rung "$word"
        [[ $output == "rung "* ]]
    done
}

@test "options before the command say where they belong" {
    refuses 2 "comes after the command" --json list
    refuses 2 "unknown option '--bogus'" --bogus
}

@test "numbers outside their range or not numbers are refused with the range" {
    refuses 2 "'0' is not a whole number from 1 to" task eva --count 0
    refuses 2 "'-3' is not a whole number" task eva --count -3
    refuses 2 "'3x' is not a whole number" task eva --count=3x
    refuses 2 "'' is not a whole number" task eva --count=
    refuses 2 "'99999999999999999999' is not a whole number of at least 0" task eva --seed 99999999999999999999
    refuses 2 "from 0 to 256" task eva --threads 257
}

@test "a choice names the nearest, or all" {
    refuses 2 "did you mean 'jsonl'?" task eva --format jsnol
    refuses 2 "one of jsonl, text, lm-eval, ruler, inspect, npz" task eva --format xxxxxxxxx
}

@test "a forgotten value is not taken from the next option" {
    refuses 2 "--out needs a value: --out PATH" task eva --out --json
    refuses 2 "--count needs a value" task eva --count
    refuses 2 "--leak takes no value" task eva --leak=yes
}

@test "a dash makes no file; a model may go to a pipe" {
    run -2 --separate-stderr rung task eva -o -
    [[ $stderr == *"name a file"* ]]
    run -2 --separate-stderr rung build random --arch full --task eva --out=-
    [ ! -e - ]
    rung build random --arch full --task eva N=4 -o m.safetensors -q >/dev/null
    timeout 60 "$RUNG" build random --arch full --task eva N=4 -o /dev/stdout | cmp - m.safetensors
}

@test "missing and surplus arguments exit 2" {
    refuses 2 "needs NAME" task
    refuses 2 "unexpected argument 'surplus'" task eva surplus
    refuses 2 "unexpected argument 'N=3'" list tasks eva N=3
    refuses 2 "needs SHELL" completion
}

@test "every spelling of an option means the same" {
    rung task eva --count 2 --format text >a
    for spelling in '--count=2 --format=text' '-n 2 -f text' '-n2 -ftext' '-qn2 -f text'; do
        # shellcheck disable=SC2086
        rung task $spelling eva >b
        cmp a b
    done
    rung task --count 2 -f text -- eva >b
    cmp a b
}

@test "the last of a repeated option counts" {
    [ "$(rung task eva -n 5 -n 2 | wc -l)" = 2 ]
}

@test "common options are accepted by every command" {
    for command in list help man 'completion bash' 'task eva'; do
        # shellcheck disable=SC2086
        run -0 rung $command --seed 3 --quiet
        # shellcheck disable=SC2086
        rung $command --json | has_schema "rung.${command%% *}/1"
    done
}

@test "a full disk behind stdout is noticed by every command" {
    [ -w /dev/full ] || skip "no /dev/full"
    for command in list help man 'completion zsh' 'task eva' 'task eva --leak' '--version' '--help' 'list --json'; do
        # shellcheck disable=SC2086
        run -4 bash -c '"$0" "$@" 2>&1 >/dev/full' "$RUNG" $command
        [[ $output == *"cannot write to standard output"* ]]
    done
}

@test "a reader that leaves early ends the run quietly" {
    run -0 bash -c '"$0" task eva -n 1000000 2>err | head -1; echo "${PIPESTATUS[0]}"' "$RUNG"
    [ "${lines[1]}" = 4 ]
    [ ! -s err ]
    [[ ${lines[0]} == '{"index":0,'* ]]
}

@test "a closed stdout is an error, not a success" {
    run -4 bash -c '"$0" list >&- 2>err' "$RUNG"
}

@test "an instruction set that does not exist is refused, not ignored" {
    RUNG_ISA=bogus run -2 rung list tasks
    [[ $output == *"RUNG_ISA is 'bogus'"*"avx2"* ]]
    RUNG_ISA=ref run -0 rung list tasks
    RUNG_ISA='' run -0 rung list tasks
}

@test "options that mean the same have one meaning under both names" {
    rung compare full linear --svg a.svg -q >/dev/null
    rung compare full linear --plot b.svg -q >/dev/null
    cmp a.svg b.svg
    [[ $(rung build random --arch full --head-dim 4 --task eva N=4 -o m.safetensors) == *" 1056 parameters"* ]]
    [[ $(rung build random --arch full --dk 4 --dv 4 --task eva N=4 -o m.safetensors) == *" 1056 parameters"* ]]
    rung run m.safetensors --samples 3 >a
    rung run m.safetensors --count 3 >b
    cmp a b
    [[ $(rung verify m.safetensors --count 10 || [ $? = 1 ]) == *"10 prompts"* ]]
    run -2 rung compare full --head-dimm 4
    [[ $output == *"did you mean '--head-dim'"* ]]
}

@test "a file of another kind is named by its kind" {
    rung build random --arch linear --dk 2 --dv 2 --d-model 8 --task eva N=64 -q -o m.safetensors >/dev/null
    rung break m.safetensors --numbers e8m4 -q -o m.cert >/dev/null
    echo '{"model_type": "qwen2"}' >c.json
    echo 'root:x:0:0' >t.txt
    check=$(dirname "$RUNG")/rung-check
    run -3 "$check" m.safetensors m.cert
    [[ $output == *"the second file is the certificate"* ]]
    run -10 "$check" m.cert m.safetensors
    run -3 rung explain m.safetensors
    [[ $output == *"is a safetensors file"*"a certificate was expected"* ]]
    run -3 rung explain c.json
    [[ $output == *"is JSON, and a certificate was expected"* ]]
    run -3 rung bound m.cert
    [[ $output == *"is a certificate"*"JSON was expected"* ]]
    run -3 rung bound t.txt
    [[ $output == *"t.txt:1:"*"the file is text, and no JSON"* ]]
    run -3 rung run m.cert
    [[ $output == *"is a certificate"*"a safetensors file"*"was expected"* ]]
    run -3 rung run c.json
    [[ $output == *"is JSON, and a safetensors file"* ]]
    if rung doctor --json | grep -A3 '"SQLite"' | grep -q found; then
        run -3 rung report m.safetensors
        [[ $output == *"m.safetensors is no store: it is a safetensors file"* ]]
    fi
}
