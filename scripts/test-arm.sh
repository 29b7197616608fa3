#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds librung for aarch64 and runs the unit tests of its modules under qemu-user: test-arm.sh [module...] (all of the core).
# The libraries for aarch64 are Debian's packages of this release, unpacked below $BUILD/arm: nothing of them is installed.
# Tests of single operations on millions of values take long in an emulator: one that takes more than ARM_SECONDS is stopped and
# counted as failed. Environment: BUILD (build), ARM_SECONDS (1800), ARM_CC (aarch64-linux-gnu-gcc), QEMU (qemu-aarch64-static).
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=$(realpath -m "${BUILD:-build}")
arm=$BUILD/arm
root=$arm/root
LOGS=$arm/test-logs
rm -rf "$LOGS"
mkdir -p "$LOGS" "$root"
JOB_SECONDS=${ARM_SECONDS:-1800}
packages='libgmp10 libgmp-dev libmpfr6 libmpfr-dev libjansson4 libjansson-dev zlib1g zlib1g-dev libflint17 libflint-dev
    libcmocka0 libcmocka-dev'

# A state of apt of its own: that of the machine stays as it is, and no rights are needed.
unpack() {
    local apt=$arm/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    printf 'APT::Architecture "arm64";\nAPT::Architectures { "arm64"; };\nDir::State "%s";\nDir::State::status "%s/status";\nDir::Cache "%s/cache";\n' \
        "$apt" "$apt" "$apt" >"$apt/apt.conf"
    export APT_CONFIG=$apt/apt.conf
    apt-get -q update >"$arm/apt.log" 2>&1 || return 1
    # shellcheck disable=SC2086 # words
    (cd "$apt" && apt-get -q download $packages >>"$arm/apt.log" 2>&1) || return 1
    unset APT_CONFIG
    for file in "$apt"/*.deb; do dpkg-deb -x "$file" "$root" || return 1; done
    touch "$arm/unpacked"
}
[ -e "$arm/unpacked" ] || unpack || { echo "test-arm: no libraries for aarch64; see $arm/apt.log" >&2; exit 4; }

libraries=$root/usr/lib/aarch64-linux-gnu
# A relative name: dependencies that a compiler cache has written are relative too.
target=$(realpath -m --relative-to=. "$arm")
build=(make --no-print-directory -j2 BUILD="$target" CC="${ARM_CC:-aarch64-linux-gnu-gcc}" PKG_CONFIG=false WITHOUT='sqlite3 curl microhttpd'
    CFLAGS="-O2 -g -isystem $root/usr/include -isystem $root/usr/include/aarch64-linux-gnu -L$libraries -Wl,-rpath-link,$libraries")
# The core, as the Makefile says.
modules=("$@")
[ ${#modules[@]} -gt 0 ] || read -ra modules <<<"$("${build[@]}" -s --eval 'show:;@echo $(CORE_MODULES)' show)"
[ ${#modules[@]} -gt 1 ] || [ $# = 1 ] || { echo "test-arm: the Makefile names no modules" >&2; exit 1; }
tests=()
for module in "${modules[@]}"; do
    for source in tests/"$module"/test_*.c; do [ ! -e "$source" ] || tests+=("${source#tests/}"); done
done
tests=("${tests[@]%.c}")
"${build[@]}" "$target/librung.a" "$target/librung.so.0" "${tests[@]/#/$target/test/}" || exit 1
readelf -h "$arm/librung.so.0" | grep -q AArch64 || { echo "test-arm: librung.so.0 is not for aarch64" >&2; exit 1; }

. scripts/jobs.sh
for name in "${tests[@]}"; do
    job cmocka "arm/$name" "${QEMU:-qemu-aarch64-static}" -L /usr/aarch64-linux-gnu \
        -E LD_LIBRARY_PATH="$libraries:/usr/aarch64-linux-gnu/lib" "$arm/test/$name"
done
finish_jobs
