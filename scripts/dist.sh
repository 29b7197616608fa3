#!/bin/sh
# SPDX-License-Identifier: MIT
# dist.sh BUILD VERSION: BUILD/rung-VERSION.tar.gz, the last commit and what a build would otherwise fetch or not have (the plot
# library, if `make plots` has fetched it to PLOTS; rung-check as WebAssembly, if it has been built). It builds without git, npm and network. The same commit gives the same bytes.
set -eu
cd "$(dirname "$0")/.."

build=$1 name=rung-$2
git rev-parse --verify -q HEAD >/dev/null || { echo "dist: this is no git checkout; the archive is made from a commit" >&2; exit 2; }
[ -z "$(git status --porcelain --untracked-files=no)" ] || echo "dist: changes that are not committed are left out"
mkdir -p "$build"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git archive --format=tar --prefix="$name/" HEAD | tar -x -C "$scratch"
if [ -s "$PLOTS/plot.js" ]; then
    cp "$PLOTS/plot.js" "$PLOTS/plot.css" "$scratch/$name/report/"
else
    echo "dist: without the plot library; 'make plots' fetches it"
fi
if [ -s "$build/rung-check.wasm" ]; then
    cp "$build/rung-check.wasm" "$scratch/$name/check/"
else
    echo "dist: without rung-check for pages; 'make deps-test' installs a compiler for WebAssembly"
fi
tar -c -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" "$name" |
    gzip -n -9 >"$build/$name.tar.gz"
echo "$build/$name.tar.gz: $(tar -tzf "$build/$name.tar.gz" | wc -l) entries"
