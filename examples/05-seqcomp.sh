#!/bin/sh
# SPDX-License-Identifier: MIT
# 5. Compose L functions with L+1 full layers.
#
# i_1 = z_1(z_0), i_2 = z_2(w_1, i_1), ...: the last token follows the pointer, one hop per layer. L layers are not enough.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build seqcomp L=2 N0=2 n=2 flat=1 -o three.safetensors
rung verify three.safetensors --exhaustive --numbers e8m4
rung build seqcomp L=3 N0=4 n=4 -o four.safetensors
rung verify four.safetensors --samples 100
