#!/bin/sh
# SPDX-License-Identifier: MIT
# 7. Chain of thought instead of layers.
#
# One full layer and L thoughts: every thought is a token that says where the pointer is. With F full layers per pass, T
# thoughts suffice when F (T+1) >= L+1. A linear layer that hands z_0 over saves a hop: F (T+1) >= L.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build seqcomp-cot L=2 N0=2 n=2 flat=1 -o one.safetensors
rung verify one.safetensors --exhaustive --numbers f32
rung build seqcomp-cot L=3 N0=2 n=2 flat=1 full=2 -o two.safetensors
rung verify two.safetensors --samples 200 --numbers f32
rung build seqcomp-cot L=2 N0=2 n=2 flat=1 linear=first -o hybrid.safetensors
rung verify hybrid.safetensors --exhaustive --numbers f32
