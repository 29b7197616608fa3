#!/bin/bash
# SPDX-License-Identifier: MIT
# The machine-checked proofs: everything compiles, rests on no axiom and passes coqchk; every example is accepted within 5 seconds of processor
# time and 1 GB; every tampered example is rejected. Skipped, with exit code 0, where coqc is not installed.
# test.sh [full]. Environment: BUILD (build).
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

# Every theorem, lemma and corollary of every file, by its full name. A file that compiles prints one line for each that rests on nothing.
work=$BUILD/proofs-test
rm -rf "$work"
mkdir -p "$work"
statements() { # file
    grep -oE '^(Theorem|Lemma|Corollary) [A-Za-z0-9_]+' "$1" | awk '{ print $2 }'
}

closed() { # file of coqc: true if it names at least one thing and everything it names is closed
    local named closed_ones
    named=$(grep -c '^Print Assumptions' "$1")
    (cd "$work" && coqc -q -Q "$out" Rung "$1") >"$work/log" 2>&1 || return 1
    closed_ones=$(grep -c 'Closed under the global context' "$work/log")
    [ "$named" -gt 0 ] && [ "$named" = "$closed_ones" ]
}

for source in proofs/*.v; do
    module=$(basename "$source" .v)
    [ -n "$(statements "$source")" ] || continue
    {
        echo "From Rung Require Import $module."
        for name in $(statements "$source"); do echo "Print Assumptions Rung.$module.$name."; done
    } >"$work/assumptions_$module.v"
    if closed "$work/assumptions_$module.v"; then
        ok "$module: $(statements "$source" | wc -l) statements rest on no axiom"
    else
        not_ok "$module: a statement rests on an axiom" "$work/log"
    fi
done

# The check itself must be able to fail.
printf '%s\n' 'Axiom anything : False.' 'Theorem t : 1 = 2.' 'Proof. destruct anything. Qed.' 'Print Assumptions t.' >"$work/bad.v"
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

# ---- instances -----------------------------------------------------------------------------------------------------------

accepts() { # file: within 5 seconds of processor time and 1 GB
    (ulimit -t 5 -v 1048576 && cd "$work" && coqc -q -Q "$out" Rung "$1") >"$work/log" 2>&1
}

for example in proofs/examples/*.v; do
    name=$(basename "$example" .v)
    cp "$example" "$work/$name.v"
    if accepts "$work/$name.v" && grep -q 'Closed under the global context' "$work/log"; then
        ok "$name is accepted"
    else
        not_ok "$name is accepted" "$work/log"
    fi
    [ "$(wc -l <"$example")" -lt 30 ] || not_ok "$name has fewer than 30 lines"
    # Lines "(* not: a -> b *)" name a change that makes the claim unproved or false.
    number=0
    while IFS='|' read -r from to; do
        number=$((number + 1))
        if ! sed "/^(\* not: /! s/$from/$to/" "$example" >"$work/${name}_not_$number.v" 2>"$work/log"; then
            not_ok "$name: '$from' is no pattern" "$work/log"
        elif cmp -s <(grep -v '^(\* not: ' "$example") <(grep -v '^(\* not: ' "$work/${name}_not_$number.v"); then
            not_ok "$name: '$from' does not occur"
        elif accepts "$work/${name}_not_$number.v"; then
            not_ok "$name with '$to' for '$from' is rejected"
        elif ! grep -q '^Error' "$work/log"; then
            not_ok "$name with '$to' for '$from' is rejected for a reason" "$work/log"
        else
            ok "$name with '$to' for '$from' is rejected"
        fi
    done < <(sed -nE 's/^\(\* not: (.*) -> (.*) \*\)$/\1|\2/p' "$example")
    [ "$number" -gt 0 ] || not_ok "$name: no change that must be rejected"
done

finish
