#!/bin/sh
# SPDX-License-Identifier: MIT
# 11. Counting.
#
# Is #q > t? Attend to the copies of q and to one resting place with the same score: the resting place weighs 1/(#q + 1).
# Here precision does grow, with log2 N.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build count N=4 V=2 -o count.safetensors
rung verify count.safetensors --exhaustive --numbers e8m4
rung precision count V=2 --over N=2,4 --limit 500 --samples 100
