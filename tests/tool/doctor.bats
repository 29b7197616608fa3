#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# doctor: what it says is there is there, asked in other ways; what is not there is named with a line that helps.
load common

# finding NAME KEY: one value of the document on standard input, "-" if it has none.
finding() {
    python '
import json, sys
rows = {row["name"]: row for row in json.load(sys.stdin)["findings"]}
print(rows[sys.argv[1]].get(sys.argv[2], "-"))' "$@"
}

# A copy of the command in a directory of its own: nothing stands beside it.
alone() {
    mkdir -p alone
    cp "$RUNG" alone/rung
}

@test "doctor: versions are those of the libraries that other programs load" {
    rung doctor --json >doctor.json
    has_schema rung.doctor/1 <doctor.json
    [ "$(finding zlib detail <doctor.json)" = "$(python 'import zlib; print(zlib.ZLIB_RUNTIME_VERSION)')" ]
    if [ "$(finding SQLite health <doctor.json)" = found ]; then
        [ "$(finding SQLite detail <doctor.json)" = "$(python 'import sqlite3; print(sqlite3.sqlite_version)')" ]
    fi
    command -v pkg-config >/dev/null || skip "pkg-config is not installed"
    for pair in GMP:gmp MPFR:mpfr FLINT:flint libcurl:libcurl libmicrohttpd:libmicrohttpd; do
        [ "$(finding "${pair%:*}" health <doctor.json)" = found ] || continue
        case $(pkg-config --modversion "${pair#*:}" 2>/dev/null || echo unknown) in
        unknown) ;; # a library may be there without its description
        "$(finding "${pair%:*}" detail <doctor.json)"*) ;;
        *) echo "${pair%:*} is of another version" && return 1 ;;
        esac
    done
}

@test "doctor: RUNG_ISA masks kernels, and another word is refused" {
    RUNG_ISA=ref rung doctor --json >doctor.json
    [ "$(finding ref detail <doctor.json)" = used ]
    [ "$(finding bf16 detail <doctor.json)" = ref ]
    for isa in avx2 avx512; do
        [[ $(finding $isa health <doctor.json) == unused || $(finding $isa health <doctor.json) == absent ]]
        [ "$(finding $isa detail <doctor.json)" != - ]
    done
    if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
        RUNG_ISA=avx2 rung doctor --json >doctor.json
        [ "$(finding avx2 detail <doctor.json)" = used ]
    fi
    RUNG_ISA=mmx run -2 rung doctor
    [[ $output == *"RUNG_ISA is 'mmx'"* ]]
}

@test "doctor: a rung-check that is absent, that fits, of another version, and that says nothing" {
    alone
    none=$PWD/none
    mkdir none
    PATH=$none run -0 alone/rung doctor --json
    [ "$(finding rung-check health <<<"$output")" = absent ]
    [[ $(finding rung-check remedy <<<"$output") == *"neither beside rung nor in PATH"* ]]
    [ "$(finding coq health <<<"$output")" = absent ]
    [[ $(finding coq remedy <<<"$output") == *"make proofs"* ]]
    [ "$(finding rung-mpi.so remedy <<<"$output")" = "make mpi" ]

    cp "$(dirname "$RUNG")/rung-check" alone/rung-check
    PATH=$none run -0 alone/rung doctor --json
    [ "$(finding rung-check health <<<"$output")" = found ]
    [ "rung $(finding rung-check detail <<<"$output")" = "$(rung --version)" ]

    printf '#!/bin/sh\necho rung-check 9.9.9\n' >alone/rung-check
    run -1 alone/rung doctor --json
    [ "$(finding rung-check health <<<"$output")" = broken ]
    run -1 alone/rung doctor
    [[ $output == *"does not fit this rung"* ]]

    printf '#!/bin/sh\nexit 0\n' >alone/rung-check
    run -1 alone/rung doctor --json
    [[ $(finding rung-check remedy <<<"$output") == *"does not say its version"* ]]
}

@test "doctor: coqc in PATH needs the compiled proofs too" {
    alone
    mkdir bin proofs
    printf '#!/bin/sh\nexit 1\n' >bin/coqc
    chmod +x bin/coqc
    PATH=$PWD/bin:$PATH RUNG_PROOFS=$PWD/proofs run rung doctor --json
    [[ $(finding coq remedy <<<"$output") == *"has no Instance.vo"* ]]
    touch proofs/Instance.vo
    PATH=$PWD/bin:$PATH RUNG_PROOFS=$PWD/proofs run rung doctor --json
    [ "$(finding coq health <<<"$output")" = found ]
}

@test "doctor: a library of MPI that is none is broken" {
    alone
    echo 'no library' >alone/rung-mpi.so
    run -1 alone/rung doctor --json
    [ "$(finding rung-mpi.so health <<<"$output")" = broken ]
    python 'import json, sys
document = json.load(sys.stdin)
broken = [row["name"] for row in document["findings"] if row["health"] == "broken"]
assert document["broken"] == len(broken), document' <<<"$output"
}

@test "doctor: the list has every row of the document, within 80 columns" {
    rung doctor --json >doctor.json || true
    rung doctor >text || true
    run ! grep -nE '.{81}' text
    python '
import json
text = open("text").read()
rows = json.load(open("doctor.json"))["findings"]
assert len(rows) >= 14
for row in rows:
    assert "\n  %-15s" % row["name"] in text, row' 
}
