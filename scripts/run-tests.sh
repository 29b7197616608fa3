#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs everything that `make test` built: run-tests.sh [asan]. With `asan`, only the part under the sanitizers.
# Environment: BUILD (build), PYTHON (python3), FUZZ_SMOKE (2: seconds per fuzzer). Logs go to $BUILD/test-logs. The
# last line is "N passed, N failed[, N skipped]", in cases where a job reports cases and in jobs elsewhere.
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=$(realpath -m "${BUILD:-build}")
PYTHON=${PYTHON:-python3}
export BUILD PYTHON
LOGS=$BUILD/test-logs
rm -rf "$LOGS"
mkdir -p "$LOGS"
. scripts/jobs.sh
shopt -s nullglob

# RUNG_SANITIZED: cases of the command line take smaller sizes.
asan_environment=(env RUNG_SANITIZED=1 ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1)

# Everything runs under the sanitizers. What does less there (tests/effort.h, `effort` and `without_sanitizers` of
# tests/tool/common.bash), and what depends on how the compiler optimised it, also runs without them.

# By source, not by executable: what is left over from a deleted test is not run, what was not built fails.
asan_unit_tests() {
    local source name
    for source in tests/*/test_*.c; do
        name=${source#tests/}
        name=${name%.c}
        job cmocka "asan/$name" "${asan_environment[@]}" "$BUILD/asan/test/$name"
    done
}

plain_unit_tests() {
    local name
    for name in $(scripts/plain-tests.sh); do job cmocka "unit/$name" "$BUILD/test/$name"; done
}

# Servers that are slow on purpose, and processes that are killed when they have come far enough.
mostly_wait=" cluster probe serve "

command_tests() { # waiting_job|job
    local file name kind
    for file in tests/tool/*.bats; do
        name=$(basename "$file" .bats)
        kind=job
        [[ $mostly_wait != *" $name "* ]] || kind=waiting_job
        [ $kind = "$1" ] || continue
        $1 bats "tool-asan/$name" "${asan_environment[@]}" env RUNG="$BUILD/asan/rung" bats --tap "$file"
        [ "${2:-}" = asan ] || ! grep -qE '^# bats (test|file)_tags=plain' "$file" ||
            $1 bats "tool/$name" env RUNG="$BUILD/rung" bats --tap --filter-tags plain "$file"
    done
}

python_tests() {
    local file
    for file in tests/python/test_*.py tests/parity/test_*.py; do
        job other "python/$(basename "$file" .py)" env RUNG_LIBRARY="$BUILD/librung.so.0" RUNG="$BUILD/rung" \
            PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1 "$PYTHON" "$file"
    done
    job other examples env RUNG="$BUILD/rung" "$PYTHON" tests/printed.py examples
}

# Threads under ThreadSanitizer: the tests that the Makefile has built. `make tsan` and `make soak` run more of them.
tsan_tests() {
    local name
    for name in ${TSAN_SHORT:-}; do
        job cmocka "tsan/$name" env RUNG_SANITIZED=1 TSAN_OPTIONS=halt_on_error=1 "$BUILD/tsan/test/$name"
    done
}

# rung-check: stored certificates, mutants, damaged models; the forward pass against rung.
check_tests() { # label directory [prefix words...]
    local label=$1 directory=$2 file
    shift 2
    for file in tests/check/test_*.py; do
        job other "$label/$(basename "$file" .py)" "$@" env RUNG_LIBRARY="$BUILD/librung.so.0" RUNG="$BUILD/rung" \
            RUNG_CHECK="$directory/rung-check" CHECK_DUMP="$directory/check-dump" PYTHONDONTWRITEBYTECODE=1 "$PYTHON" "$file"
    done
}

tree_checks() {
    [ ! -e tests/install.sh ] || job other install tests/install.sh
    job other abi tests/abi.sh
    job other parts tests/parts.sh
    job other layers scripts/layers.sh
    if ! command -v clang-format >/dev/null; then
        skip_job format "clang-format is not installed"
    else
        # shellcheck disable=SC2016 # for the inner shell
        job other format sh -c '{ git ls-files "*.c" "*.h" 2>/dev/null ||
            find bench check examples fuzz include mpi src tests tool -name "*.[ch]"; } | while read -r file; do
                [ ! -e "$file" ] || echo "$file"; done | xargs clang-format --dry-run -Werror'
    fi
}

# The proofs that a machine checks, where coq is installed; `make proofs` installs it.
proof_tests() {
    if command -v coqc >/dev/null; then
        job other proofs tests/proofs/test.sh
    else
        skip_job proofs "coqc is not installed"
    fi
}

# The documentation as a site, where the program that reads Markdown is installed.
site_tests() {
    if "$PYTHON" -c 'import markdown_it' 2>/dev/null; then
        job other site "$PYTHON" tests/site.py "$BUILD/rung"
    else
        skip_job site "python3-markdown-it is not installed"
    fi
}

fuzz_smoke() {
    local source name
    for source in fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        job other "fuzz/${name#fuzz_}" env SMOKE=1 FUZZ_SECONDS="${FUZZ_SMOKE:-2}" scripts/fuzz.sh "${name#fuzz_}"
    done
}

# Long jobs first and short ones last, so that no core waits at the end.
case ${1:-all} in
all)
    command_tests waiting_job
    proof_tests
    command_tests job
    check_tests check "$BUILD"
    check_tests check-asan "$BUILD/asan" "${asan_environment[@]}"
    python_tests
    tree_checks
    site_tests
    asan_unit_tests
    tsan_tests
    plain_unit_tests
    fuzz_smoke
    ;;
asan)
    command_tests waiting_job asan
    command_tests job asan
    check_tests check-asan "$BUILD/asan" "${asan_environment[@]}"
    asan_unit_tests
    tsan_tests
    ;;
*)
    echo "usage: run-tests.sh [asan]" >&2
    exit 2
    ;;
esac
finish_jobs
