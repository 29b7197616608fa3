#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the unit tests of TSAN_TESTS that were built with ThreadSanitizer. Environment: BUILD (build), TSAN_TESTS.
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=$(realpath -m "${BUILD:-build}")
LOGS=$BUILD/tsan/test-logs
rm -rf "$LOGS"
mkdir -p "$LOGS"
. scripts/jobs.sh

for name in $TSAN_TESTS; do
    job cmocka "tsan/$name" env RUNG_SANITIZED=1 TSAN_OPTIONS=halt_on_error=1 "$BUILD/tsan/test/$name"
done
finish_jobs
