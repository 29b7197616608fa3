#!/bin/sh
# SPDX-License-Identifier: MIT
# 1. Look a value up.
#
# A table f(0) ... f(N-1), then x: what is f(x)? One full layer with one head does it. The key of an entry is its address,
# the query is the wanted address, and the wanted score is a gap above all others.
#
# Two dimensions are enough if numbers are long (angles on a circle); bits of the address as +-1 need more dimensions but
# hardly any precision. `verify --worst-case` proves it for every table at once.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build lookup N=16 keys=trig -o trig.safetensors
rung verify trig.safetensors --worst-case --numbers e8m8
rung build lookup N=256 keys=sign gap=5 -o sign.safetensors
rung verify sign.safetensors --worst-case --numbers e8m3
rung precision lookup keys=sign --over N=16,64

# Two permutations: every entry of the second looks up the first, so the answers are their composition. The same head
# does it; the tokens that ask now see each other, which the proof takes into account.
rung build percom N=64 keys=trig -o percom.safetensors
rung verify percom.safetensors --worst-case --numbers e8m12
rung bound linear --head-dim 2 --bits 26 --task percom N=64
