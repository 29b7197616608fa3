#!/bin/sh
# SPDX-License-Identifier: MIT
# test-library.sh DIR: fetches what drives a browser in the tests of rung explore into DIR with npm, as
# tests/explore/package-lock.json pins it. Fails when npm, or what it fetches from, is missing; the cases are then skipped.
set -eu
cd "$(dirname "$0")/.."
directory=$1
[ ! -e "$directory/node_modules/puppeteer-core/package.json" ] || exit 0
command -v npm >/dev/null || { echo "npm is not installed" >&2; exit 1; }
mkdir -p "$directory"
cp tests/explore/package.json tests/explore/package-lock.json "$directory/"
(cd "$directory" && timeout 90 npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 \
    --fetch-timeout=20000) >"$directory/npm.log" 2>&1 || { echo "npm has failed, see $directory/npm.log" >&2; exit 1; }
