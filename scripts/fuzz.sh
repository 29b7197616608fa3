#!/bin/bash
# SPDX-License-Identifier: MIT
# fuzz.sh: every fuzzer for FUZZ_SECONDS (60) each; fuzz.sh NAME: fuzz_NAME alone, its output here. First the stored
# corpus fuzz/corpus/NAME must pass, then a copy of it grows. What crashes is kept in $BUILD/fuzz/artifacts. With SMOKE=1 the
# main is fuzz/smoke.c instead of libFuzzer, and the corpus does not grow.
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=$(realpath -m "${BUILD:-build}")
FUZZ_SECONDS=${FUZZ_SECONDS:-60}
export BUILD FUZZ_SECONDS
artifacts=$BUILD/fuzz/artifacts
mkdir -p "$artifacts"

# -timeout: one input may not take longer than that many seconds.
run_fuzzer() { # name
    local fuzzer=$BUILD/fuzz/fuzz_$1 corpus=fuzz/corpus/$1
    if [ -n "${SMOKE:-}" ]; then
        "$BUILD/asan/smoke/fuzz_$1" "$FUZZ_SECONDS" "$corpus" "$artifacts/$1-smoke"
        return
    fi
    scratch=$(mktemp -d) || return 1
    trap 'rm -rf "$scratch"' EXIT
    [ ! -d "$corpus" ] || cp -r "$corpus/." "$scratch/" || return 1
    local options=(-timeout=20 -artifact_prefix="$artifacts/$1-" -print_final_stats=1)
    "$fuzzer" "${options[@]}" -runs=0 "$scratch" || return 1
    "$fuzzer" "${options[@]}" -max_total_time="$FUZZ_SECONDS" "$scratch"
}

if [ $# -gt 0 ]; then
    run_fuzzer "$1"
    exit
fi
LOGS=$BUILD/fuzz/logs
mkdir -p "$LOGS"
JOB_SECONDS=$((FUZZ_SECONDS * 2 + 600))
. scripts/jobs.sh
for source in fuzz/fuzz_*.c; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .c)
    job other "fuzz/${name#fuzz_}" "$0" "${name#fuzz_}"
done
finish_jobs
