#!/bin/sh
# SPDX-License-Identifier: MIT
# 14. The average of a named set.
#
# Position i names q positions; the answer is the mean of their vectors. The scores of the members must be exactly equal, or
# the mean is not a mean. The target is a vector, so being right has a tolerance.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build q-sparse-average N=3 q=2 d=1 -o qsa.safetensors
rung verify qsa.safetensors --exhaustive --numbers f32 --tolerance 0.01
