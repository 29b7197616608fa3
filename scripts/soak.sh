#!/bin/bash
# SPDX-License-Identifier: MIT
# The long runs: every executable soak_*, and every unit test whose source reads RUNG_SOAK, with RUNG_SOAK=1, which
# raises its counts. And rung-check against rung: a million certificates, true and false (RUNG_VERDICTS=n: n), and 100
# rounds of random models, 25 each (RUNG_CHECK_ROUNDS=n: n; `make test` does 2). And the threaded unit tests under
# ThreadSanitizer (TSAN_TESTS).
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=$(realpath -m "${BUILD:-build}")
LOGS=$BUILD/soak-logs
mkdir -p "$LOGS"
JOB_SECONDS=${JOB_SECONDS:-86400}
. scripts/jobs.sh
shopt -s nullglob

for source in tests/*/soak_*.c $(grep -l RUNG_SOAK tests/*/test_*.c); do
    name=${source#tests/}
    name=${name%.c}
    job cmocka "$name" env RUNG_SOAK=1 "$BUILD/test/$name"
done
for name in ${TSAN_TESTS:-}; do
    job cmocka "tsan/$name" env TSAN_OPTIONS=halt_on_error=1 "$BUILD/tsan/test/$name"
done
check=(env RUNG_LIBRARY="$BUILD/librung.so.0" RUNG="$BUILD/rung" RUNG_CHECK="$BUILD/rung-check" CHECK_DUMP="$BUILD/check-dump"
    PYTHONDONTWRITEBYTECODE=1)
job other check/verdicts "${check[@]}" RUNG_VERDICTS="${RUNG_VERDICTS:-1000000}" "${PYTHON:-python3}" tests/check/soak_verdicts.py
job other check/forward "${check[@]}" RUNG_CHECK_ROUNDS="${RUNG_CHECK_ROUNDS:-100}" "${PYTHON:-python3}" tests/check/test_forward.py
finish_jobs
