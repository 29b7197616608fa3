#!/bin/sh
# SPDX-License-Identifier: MIT
# engines.sh DIR: installs the engines of tests/peers/package.json (llama.cpp and ONNX Runtime, built for node) into DIR with npm,
# 1 GB. Nothing of them runs while they are installed. Without npm or a network it says so and ends with 4.
set -eu

dir=$1
wanted=$(cat "$(dirname "$0")/../tests/peers/package.json")
skip() { echo "engines.sh: skipped: $*; the tests that need them are skipped too" >&2; exit 4; }

[ -f "$dir/package.json" ] && [ "$(cat "$dir/package.json")" = "$wanted" ] && [ -e "$dir/complete" ] && exit 0
command -v npm >/dev/null || skip 'npm is not installed (Debian: npm)'
mkdir -p "$dir"
rm -f "$dir/complete"
echo "$wanted" >"$dir/package.json"
echo "  npm   engines into $dir (1 GB)"
(cd "$dir" && npm install --ignore-scripts --no-audit --no-fund --fetch-retries=1) >"$dir/npm.log" 2>&1 ||
    skip "npm has failed, see $dir/npm.log"
touch "$dir/complete"
