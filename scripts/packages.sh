#!/bin/bash
# SPDX-License-Identifier: MIT
# packages.sh ARCHIVE: Debian packages of what `make dist` made, in $BUILD/packages. Fails if lintian finds an error, if two
# packages have the same file, if a file that make installs is in none, or if what is in them does not work together.
# Environment: BUILD (build), DEB_BUILD_OPTIONS (parallel=2).
set -euo pipefail
cd "$(dirname "$0")/.."

archive=$(realpath "$1")
out=$(realpath -m "${BUILD:-build}")/packages
export DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-parallel=2}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "packages: $1" >&2
    exit 1
}

tar -x -z -C "$scratch" -f "$archive"
(cd "$scratch"/rung-*/ && dpkg-buildpackage -us -uc -b) >"$scratch/log" 2>&1 || {
    tail -n 40 "$scratch/log" >&2
    fail "dpkg-buildpackage failed"
}
! grep -E '^dh_missing: (warning|error)' "$scratch/log" || fail "a file that make installs is in no package"
rm -rf "$out"
mkdir -p "$out"
cp "$scratch"/*.deb "$scratch"/*.changes "$scratch"/*.buildinfo "$out"

cd "$out"
for package in librung0 librung-lab0 librung-dev rung rung-check python3-rung rung-doc; do
    ls "${package}"_*.deb >/dev/null || fail "there is no package $package"
done
# The project has no mailbox that debian/ could name, so the two tags about its address are left out; all others count.
lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs,bogus-mail-host,bogus-mail-host-in-debian-changelog ./*.changes || fail "lintian finds errors"
for file in *.deb; do dpkg -c "$file" | awk '$1 !~ /^d/ { print $6 }'; done | sort | uniq -d >"$scratch/twice"
[ ! -s "$scratch/twice" ] || fail "two packages have $(cat "$scratch/twice")"

# What is in them works, unpacked into one directory.
for file in *.deb; do case $file in *-dbgsym_*) ;; *) dpkg -x "$file" "$scratch/root" ;; esac; done
root=$scratch/root/usr
export LD_LIBRARY_PATH=$root/lib
"$root/bin/rung" doctor >"$scratch/out" || fail "rung doctor: $(cat "$scratch/out")"
cp "$scratch"/rung-*/tests/fixtures/check/{accept/gla.state-collision.cert,models/gla.safetensors} "$scratch"
"$root/bin/rung-check" --exit-zero "$scratch/gla.state-collision.cert" "$scratch/gla.safetensors" >/dev/null || fail "rung-check"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/lib/python3/dist-packages /usr/bin/python3 -c '
import sys, rung
from rung import _library
assert sys.argv[1] in _library.lib._name, _library.lib._name
assert rung.bound("full,4*linear", "seqcomp L=2", n=542, head_dim=2, bits=26).verdict == "CANNOT"' "$root" || fail "python3-rung"
printf '#include <rung/rung.h>\nint main(void) { return !rung_task_get("eva"); }\n' >"$scratch/program.c"
# shellcheck disable=SC2046 # words
gcc -o "$scratch/program" "$scratch/program.c" -I"$root/include" -L"$root/lib" $(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config --libs rung) ||
    fail "a program does not link with librung-dev"
"$scratch/program" || fail "a program does not run with librung0"
man -l --warnings "$root/share/man/man1/rung.1.gz" >/dev/null 2>"$scratch/man" || true
[ ! -s "$scratch/man" ] || fail "the manual page: $(cat "$scratch/man")"
echo "packages: $(ls "$out"/*.deb | wc -l) in $out, no errors of lintian; unpacked, they work"
