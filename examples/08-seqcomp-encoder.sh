#!/bin/sh
# SPDX-License-Identifier: MIT
# 8. Without a mask: pointers that double.
#
# When every token sees w, each can follow its own pointer, and each layer doubles the distance: about log2 L layers.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build seqcomp-encoder L=3 N0=2 n=2 flat=1 -o encoder.safetensors
rung verify encoder.safetensors --samples 300 --numbers f32
