#!/bin/bash
# SPDX-License-Identifier: MIT
# The machine-checked proofs: everything compiles, rests on no axiom and passes coqchk; the examples are accepted and changed ones are
# rejected; so are random verdicts that rung writes. Skipped, with exit code 0, where coqc is not installed.
# test.sh [full]. Environment: BUILD (build), RANDOM_PROOFS (48) and RANDOM_SEED (1).
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath -m "${BUILD:-build}")
export BUILD
out=$BUILD/proofs
mkdir -p "$out"
passed=0 failed=0

if ! command -v coqc >/dev/null; then
    echo "coqc is not installed: 0 passed, 0 failed"
    exit 0
fi

ok() { # name
    passed=$((passed + 1))
    echo "ok $1"
}

not_ok() { # name log
    failed=$((failed + 1))
    echo "not ok $1"
    [ ! -e "${2:-}" ] || sed 's/^/    /' "$2" | tail -n 12
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}

if ! scripts/proofs.sh >"$BUILD/proofs.log" 2>&1; then
    not_ok "the proofs compile" "$BUILD/proofs.log"
    finish
fi
ok "the proofs compile"

# ---- no axioms -----------------------------------------------------------------------------------------------------------

if grep -nE '\b(Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture)\b' proofs/*.v proofs/examples/*.v >"$BUILD/proofs.log"; then
    not_ok "nothing is admitted or assumed in the sources" "$BUILD/proofs.log"
else
    ok "nothing is admitted or assumed in the sources"
fi

# Every theorem, lemma and corollary of every file, by its full name, under one definition: to look for axioms takes a second, whatever
# it is asked about. Where there is one, the files are asked one by one.
work=$BUILD/proofs-test
rm -rf "$work"
mkdir -p "$work"
statements() { # file
    grep -oE '^(Theorem|Lemma|Corollary) [A-Za-z0-9_]+' "$1" | awk '{ print $2 }'
}

closed() { # file of coqc: true if it asks about at least one thing and everything is closed
    local named closed_ones
    named=$(grep -c '^Print Assumptions' "$1")
    (cd "$work" && coqc -q -Q "$out" Rung "$1") >"$work/log" 2>&1 || return 1
    closed_ones=$(grep -c 'Closed under the global context' "$work/log")
    [ "$named" -gt 0 ] && [ "$named" = "$closed_ones" ]
}

about() { # file of coqc, sources: one definition that mentions every statement of the sources
    local file=$1 source module name
    shift
    for source in "$@"; do echo "From Rung Require $(basename "$source" .v)."; done >"$file"
    echo "Definition all : True :=" >>"$file"
    for source in "$@"; do
        module=$(basename "$source" .v)
        for name in $(statements "$source"); do echo "  let _ := @Rung.$module.$name in"; done
    done >>"$file"
    printf '  I.\nPrint Assumptions all.\n' >>"$file"
}

about "$work/assumptions.v" proofs/*.v
if closed "$work/assumptions.v"; then
    ok "$(grep -c '^  let _ :=' "$work/assumptions.v") statements rest on no axiom"
else
    for source in proofs/*.v; do
        about "$work/assumptions_one.v" "$source"
        closed "$work/assumptions_one.v" || not_ok "$source: a statement rests on an axiom" "$work/log"
    done
    not_ok "no statement rests on an axiom"
fi

# The check itself must be able to fail.
printf '%s\n' 'Axiom anything : False.' 'Theorem t : 1 = 2.' 'Proof. destruct anything. Qed.' \
    'Definition all : True := let _ := @t in I.' 'Print Assumptions all.' >"$work/bad.v"
if closed "$work/bad.v"; then not_ok "an axiom is noticed"; else ok "an axiom is noticed"; fi

# coqchk checks our files again by another program; with `full` also the files of Coq's library that they use, which takes most of the
# time. It may find no axiom in our files; Print Assumptions has shown above that they rest on none of the library.
checked=(coqchk -silent -o -Q . Rung)
for file in "$out"/*.vo; do
    [ "${1:-}" = full ] || checked+=(-norec)
    checked+=("Rung.$(basename "$file" .vo)")
done
if (cd "$out" && "${checked[@]}") >"$work/log" 2>&1 && grep -q '^\* Axioms:' "$work/log" &&
    ! sed -n '/^\* Axioms:/,/^\* Constants/p' "$work/log" | grep -q 'Rung\.' &&
    { [ "${1:-}" != full ] || sed -n '/^\* Axioms:/,/^\* /p' "$work/log" | grep -q '<none>'; }; then
    ok "coqchk accepts all files, without axioms"
else
    not_ok "coqchk accepts all files, without axioms" "$work/log"
fi

# ---- examples --------------------------------------------------------------------------------------------------------------

limited() { # seconds file: within so much processor time, and 1 GB
    (ulimit -t "$1" -v 1048576 && cd "$work" && coqc -q -Q "$out" Rung "$2") >"$work/log" 2>&1
}

part() { # claim|tactic, of the file on stdin
    tr '\n' ' ' | case $1 in
    claim) sed -E 's/.*Theorem cannot : (.*)\. Proof\. .*/\1/' ;;
    tactic) sed -E 's/.*\. Proof\. (.*)\. Qed\. .*/\1/' ;;
    esac
}

# One process of coqc for all examples and one for all that must fail. Lines "(* not: a -> b *)" of an example name a change
# that makes the claim unproved or false.
good=$work/examples.v bad=$work/changed.v
printf 'From Rung Require Import Instance.\nLocal Open Scope N_scope.\n' | tee "$good" >"$bad"
examples=0 changes=0
for example in proofs/examples/*.v; do
    name=$(basename "$example" .v)
    text=$(grep -v '^(\* not: ' "$example")
    printf 'Definition example_%s : %s := ltac:(%s).\n' "$name" "$(part claim <<<"$text")" "$(part tactic <<<"$text")" >>"$good"
    examples=$((examples + 1))
    [ "$(wc -l <"$example")" -lt 30 ] || not_ok "$name has fewer than 30 lines"
    before=$changes
    while IFS='|' read -r from to; do
        if ! other=$(sed "s/$from/$to/" <<<"$text" 2>"$work/log"); then
            not_ok "$name: '$from' is no pattern" "$work/log"
        elif [ "$other" = "$text" ]; then
            not_ok "$name: '$from' does not occur"
        fi
        printf '(* %s: %s *)\nFail Definition changed : %s := ltac:(%s).\n' "$name" "$to" "$(part claim <<<"$other")" \
            "$(part tactic <<<"$other")" >>"$bad"
        changes=$((changes + 1))
    done < <(sed -nE 's/^\(\* not: (.*) -> (.*) \*\)$/\1|\2/p' "$example")
    [ "$changes" -gt "$before" ] || not_ok "$name: no change that must be rejected"
done
{
    echo "Definition all : True :="
    for example in proofs/examples/*.v; do echo "  let _ := example_$(basename "$example" .v) in"; done
    printf '  I.\nPrint Assumptions all.\n'
} >>"$good"

if limited 10 "$good" && grep -q 'Closed under the global context' "$work/log"; then
    ok "$examples examples are accepted, all together within 10 seconds of processor time and 1 GB"
else
    not_ok "$examples examples are accepted, all together within 10 seconds of processor time and 1 GB" "$work/log"
fi
if limited 60 "$bad"; then
    ok "$changes changed examples are rejected"
else
    not_ok "$changes changed examples are rejected" "$work/log"
fi
# As a file of its own, the way that people do it.
cp proofs/examples/B_many_groups.v "$work/alone.v"
if limited 5 "$work/alone.v" && grep -q 'Closed under the global context' "$work/log"; then
    ok "an example by itself is accepted within 5 seconds and 1 GB"
else
    not_ok "an example by itself is accepted within 5 seconds and 1 GB" "$work/log"
fi

# ---- what rung writes ------------------------------------------------------------------------------------------------------

# RANDOM_PROOFS random verdicts over all theorems that Coq has: make proofs-random takes 200.
emit=$BUILD/test/proofs/emit
if [ -x "$emit" ]; then
    count=${RANDOM_PROOFS:-48}
    if "$emit" "$work" "$count" "${RANDOM_SEED:-1}" >"$work/emitted"; then
        ok "rung writes $count proofs"
    else
        not_ok "rung writes $count proofs" "$work/emitted"
    fi
    accepted=0
    for file in "$work"/all_*.v; do closed "$file" && accepted=$((accepted + 1)); done
    if [ "$accepted" -gt 0 ] && [ "$accepted" = "$(ls "$work"/all_*.v | wc -l)" ]; then
        ok "coqc accepts $count random proofs"
    else
        not_ok "coqc accepts $count random proofs" "$work/log"
    fi
    if closed "$work/one.v"; then ok "coqc accepts a file as written"; else not_ok "coqc accepts a file as written" "$work/log"; fi
    if [ "$(grep -c '^Fail ' "$work/tampered.v")" -ge 20 ] && limited 60 "$work/tampered.v"; then
        ok "20 proofs with a changed constant are rejected"
    else
        not_ok "20 proofs with a changed constant are rejected" "$work/log"
    fi
fi

finish
