#!/bin/bash
# SPDX-License-Identifier: MIT
# A build with every optional part left out: it needs none of their libraries or headers, has all functions of the public
# headers, does what needs no part, and refuses the rest with the name of the package. Only what depends on a part is compiled.
# Environment: BUILD (build), CC, CFLAGS as for make.
set -euo pipefail
cd "$(dirname "$0")/.."

BUILD=$(realpath "${BUILD:-build}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
parts='flint sqlite3 curl libmicrohttpd'

fail() {
    echo "parts: $1" >&2
    exit 1
}

run_make() {
    ${MAKE:-make} --no-print-directory BUILD="$scratch/build" PLOTS="$BUILD/npm" "$@" >"$scratch/make.log" 2>&1
}

# Objects of the full build, with their times: make sees by the flags and by $BUILD/parts what is to be compiled again.
reuse_objects() {
    mkdir -p "$scratch/build"
    cp -a "$BUILD/obj" "$BUILD/gen" "$BUILD/flags" "$BUILD/parts" "$scratch/build/"
}

compiled() {
    grep -c '^  cc ' "$scratch/make.log" || true
}

check_needs() {
    local file
    for file in rung librung.so.0 librung-lab.so.0; do
        ! readelf -d "$scratch/build/$file" | grep -E 'NEEDED.*(flint|sqlite|curl|microhttpd)' || fail "$file needs a part that was left out"
        nm -D --defined-only "$scratch/build/$file" | awk '{ print $3 }' >"$scratch/here"
        nm -D --defined-only "$BUILD/$file" | awk '{ print $3 }' >"$scratch/there"
        [ "$file" = rung ] || cmp -s "$scratch/here" "$scratch/there" || fail "$file has other functions than with all parts"
    done
    ! grep -rlE '/usr/include[^ ]*/(flint/|sqlite3\.h|curl/|microhttpd\.h)' "$scratch/build/obj" --include='*.d' ||
        fail "an object includes the header of a part that was left out"
}

check_list() {
    local package
    for package in libflint-dev libsqlite3-dev libcurl4-openssl-dev libmicrohttpd-dev; do
        grep -qE "left out .* $package\$" "$scratch/build/config.txt" || fail "the list does not say that $package was left out"
    done
}

refused() { # package command...
    local package=$1 status=0
    shift
    "$scratch/build/rung" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" = 4 ] || fail "rung $1: exit $status instead of 4: $(cat "$scratch/err")"
    grep -q "$package" "$scratch/err" || fail "rung $1 does not name $package: $(cat "$scratch/err")"
}

check_refusals() {
    local rung=$scratch/build/rung model=$scratch/m.safetensors
    "$rung" build lookup N=4 V=4 -o "$model" >/dev/null 2>&1 || fail "rung build does not work without the parts"
    cp fuzz/corpus/store/whole.db "$scratch/old.db"
    refused libsqlite3-dev sweep experiments/table-quick.json -o "$scratch/new.db"
    refused libsqlite3-dev report "$scratch/old.db" -o "$scratch/page.html"
    refused libsqlite3-dev export "$scratch/old.db"
    refused libsqlite3-dev merge -o "$scratch/new.db" "$scratch/old.db"
    refused libsqlite3-dev probe --base-url http://127.0.0.1:1/v1 --model m -o "$scratch/new.db"
    refused libmicrohttpd-dev serve "$model" --port 0
    # An attack that is absent is no failure: it is in the list of those that were not tried.
    "$rung" build random --arch linear:dk=3:dv=4 --positions none --task two-sum N=256 M=256 -o "$model" >/dev/null || fail "no model"
    "$rung" break "$model" --attack relation --budget 1 --numbers q9.8 -o "$scratch/m.cert" >"$scratch/out" 2>&1 || true
    grep -q 'install libflint-dev' "$scratch/out" || fail "rung break does not name libflint-dev: $(cat "$scratch/out")"
    [ ! -e "$scratch/m.cert" ] || fail "rung break wrote a certificate with an attack that is absent"
}

# rung doctor names the parts that are absent, with their packages, and none of the others.
check_doctor() {
    "$scratch/build/rung" doctor --json >"$scratch/doctor.json" || fail "rung doctor fails"
    "${PYTHON:-/usr/bin/python3}" - "$scratch/doctor.json" <<'END' || fail "rung doctor does not list what is absent"
import json, sys
rows = [row for row in json.load(open(sys.argv[1]))["findings"] if row["group"] == "library"]
absent = {row["name"]: row["remedy"] for row in rows if row["health"] == "absent"}
want = {"FLINT": "libflint-dev", "SQLite": "libsqlite3-dev", "libcurl": "libcurl4-openssl-dev", "libmicrohttpd": "libmicrohttpd-dev"}
assert absent == {name: "apt-get install %s && make" % package for name, package in want.items()}, absent
assert len(rows) == 8, rows
END
}

# The command needs a store before it asks a server, so the client is asked by a program of its own.
check_client() {
    cat >"$scratch/client.c" <<'END'
#include <rung/rung-lab.h>

int main(void)
{
    rung_client *client = NULL;
    rung_error err = {""};
    rung_client_options conf = {.base_url = "http://127.0.0.1:1/v1"};
    if (rung_client_new(&client, &conf, &err) == RUNG_OK) return puts("there is a client"), 1;
    return puts(err.text) < 0;
}
END
    # shellcheck disable=SC2046,SC2086 # words
    ${CC:-cc} -std=c17 -Iinclude -o "$scratch/client" "$scratch/client.c" "$scratch/build/librung-lab.a" "$scratch/build/librung.a" \
        $(sed -n 's/^\(LAB\|CORE\)_LIBS := *//p' "$scratch/build/config.mk") || fail "a program does not link"
    "$scratch/client" | grep -q libcurl4-openssl-dev || fail "rung_client_new does not name libcurl4-openssl-dev"
}

check_rest() {
    "$scratch/build/rung" bound full,4*linear --heads 1 --head-dim 2 --bits 26 --task seqcomp L=2 --n 542 >"$scratch/out" 2>&1 ||
        [ $? = 1 ] || fail "rung bound: $(cat "$scratch/out")"
    grep -q '^CANNOT   B0' "$scratch/out" || fail "rung bound: $(cat "$scratch/out")"
}

reuse_objects
run_make WITHOUT="$parts" all || { cat "$scratch/make.log"; fail "it does not build without $parts"; }
count=$(compiled)
check_list
check_needs
check_refusals
check_doctor
check_client
check_rest
! run_make WITHOUT=zlib config || fail "zlib cannot be left out, but make says nothing"
echo "parts: built without $parts ($count files compiled), refused by name of the package"
