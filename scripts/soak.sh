#!/bin/bash
# SPDX-License-Identifier: MIT
# The long runs: every executable soak_*, and every unit test whose source reads RUNG_SOAK, with RUNG_SOAK=1, which
# raises its counts.
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
finish_jobs
