#!/bin/sh
# SPDX-License-Identifier: MIT
# 16. What a known maximum is worth.
#
# One full layer that does what one full layer provably cannot: if the sum goes from left to right. With the maximum known
# beforehand (two passes) or from right to left, underflow cuts the sum exactly behind the wanted entry. So a theorem
# about attention is a theorem about a kernel.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build loophole N0=118 -o loophole.safetensors
rung verify loophole.safetensors --samples 100 --numbers f32 --softmax two-pass
rung verify loophole.safetensors --samples 100 --numbers f32 --softmax reverse
! rung verify loophole.safetensors --samples 100 --numbers f32 --show 0
