#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles proofs/*.v with coqc into $BUILD/proofs (build/proofs), so that the source tree stays clean. Only what has changed.
set -eu
cd "$(dirname "$0")/.."
command -v coqc >/dev/null || { echo "proofs.sh: coqc is not installed; 'make proofs' installs Debian's coq" >&2; exit 4; }
out=${BUILD:-build}/proofs
mkdir -p "$out"
for copy in "$out"/*.v; do # what was deleted must not linger
    [ ! -e "$copy" ] || [ -e "proofs/$(basename "$copy")" ] || rm -f "${copy%.v}".*
done
for source in proofs/*.v proofs/Makefile; do
    cmp -s "$source" "$out/$(basename "$source")" || cp "$source" "$out/"
done
exec make --no-print-directory -s -C "$out"
