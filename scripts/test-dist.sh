#!/bin/bash
# SPDX-License-Identifier: MIT
# test-dist.sh ARCHIVE: unpacks what `make dist` made, builds it where git, npm, curl and apt-get fail when they are called, asks
# the command a few questions, installs it and uninstalls it again. Without network where the system allows that.
# Environment: CC, CFLAGS as for make.
set -euo pipefail
cd "$(dirname "$0")/.."

archive=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "test-dist: $1" >&2
    exit 1
}

mkdir "$scratch/refuse"
for program in git npm node npx curl wget apt-get sudo; do
    printf '#!/bin/sh\necho %s >>%s\nexit 1\n' $program "$scratch/called" >"$scratch/refuse/$program"
    chmod +x "$scratch/refuse/$program"
done
export PATH=$scratch/refuse:$PATH
offline=()
! unshare -n true 2>/dev/null || offline=(unshare -n)

tar -x -z -C "$scratch" -f "$archive"
cd "$scratch"/rung-*/
[ ! -e .git ] || fail "the archive has a .git"
# What a build here would take from elsewhere.
for file in report/plot.js report/plot.css check/rung-check.wasm; do
    [ -s $file ] || echo "test-dist: the archive has no $file (scripts/dist.sh says why)"
done

run_make() {
    "${offline[@]}" make --no-print-directory "$@" >"$scratch/make.log" 2>&1 || {
        tail -n 30 "$scratch/make.log" >&2
        fail "make $* failed"
    }
}

run_make -j2 CLANG=no-clang
[ ! -s check/rung-check.wasm ] || [ "$(stat -c %s build/gen/checker.wasm.inc)" -gt 100000 ] || fail "pages have no checker"
[ ! -s report/plot.js ] || [ "$(stat -c %s build/gen/plot.js.inc)" -gt 10000 ] || fail "pages have no plot library"
[ "$(build/rung --version)" = "rung $(basename "$PWD" | sed s/rung-//)" ] || fail "the archive has another version"
"${offline[@]}" build/rung bound full,4*linear --heads 1 --head-dim 2 --bits 26 --task seqcomp L=2 --n 542 --expect CANNOT \
    >"$scratch/out" || fail "rung bound: $(cat "$scratch/out")"
build/rung build lookup N=16 keys=sign -o "$scratch/m.safetensors" >/dev/null || fail "rung build"
build/rung verify "$scratch/m.safetensors" --worst-case --numbers e8m3 -q | grep -q '^CAN ' || fail "rung verify"
build/rung-check --exit-zero tests/fixtures/check/accept/gla.state-collision.cert tests/fixtures/check/models/gla.safetensors \
    >/dev/null || fail "rung-check"

find . -path ./build -prune -o -type f -print | sort >"$scratch/before"
run_make install PREFIX="$scratch/prefix" CLANG=no-clang
find . -path ./build -prune -o -type f -print | sort | cmp -s - "$scratch/before" || fail "make writes into the source tree"
"$scratch/prefix/bin/rung" doctor >/dev/null || fail "the installed rung is not well"
run_make uninstall PREFIX="$scratch/prefix"
left=$(find "$scratch/prefix" ! -type d)
[ -z "$left" ] || fail "make uninstall left $left"
[ ! -e "$scratch/called" ] || fail "the build called $(sort -u "$scratch/called" | paste -sd' ')"
echo "test-dist: $(basename "$archive") builds, works, installs and uninstalls without git, npm${offline:+ and network}"
