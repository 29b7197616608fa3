#!/bin/sh
# SPDX-License-Identifier: MIT
# plot-library.sh DIR: fetches the plot library of the report's page into DIR with npm, as report/package-lock.json pins it (npm
# compares its hash). Leaves DIR/plot.js and DIR/plot.css; both are empty when npm or the network is missing, which is no failure:
# the page then has its figures as SVG only.
set -eu
cd "$(dirname "$0")/.."
directory=$1
mkdir -p "$directory"

without() {
    : >"$directory/plot.js"
    : >"$directory/plot.css"
    echo "  npm   no plot library: $1; rung report draws without it ('make plots' tries again)"
    exit 0
}

command -v npm >/dev/null || without 'npm is not installed'
cp report/package.json report/package-lock.json "$directory/"
(cd "$directory" && timeout 60 npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 \
    --fetch-timeout=20000) >"$directory/npm.log" 2>&1 || without "npm has failed, see $directory/npm.log"
# The licence goes where the code goes.
{
    printf '/*! '
    sed 's/\*\///' "$directory/node_modules/uplot/LICENSE"
    printf '*/\n'
    # A script element ends at this tag, wherever it stands.
    sed 's#</script#<\\/script#g' "$directory/node_modules/uplot/dist/uPlot.iife.min.js"
} >"$directory/plot.js"
cp "$directory/node_modules/uplot/dist/uPlot.min.css" "$directory/plot.css"
