#!/bin/sh
# SPDX-License-Identifier: MIT
# 3. Two numbers that sum to zero.
#
# x_1 ... x_N modulo M, then y: is there an x_j with x_j + y = 0? Angles again: the score is the cosine of the sum. A blank
# token lies between a match and the closest miss, and catches the head when nothing matches.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build two-sum M=5 N=3 -o query.safetensors
rung verify query.safetensors --exhaustive --numbers bf16
rung build two-sum M=5 N=3 form=global -o global.safetensors
rung verify global.safetensors --exhaustive --numbers f32
