#!/bin/sh
# SPDX-License-Identifier: MIT
# 6. One linear layer is worth one full layer.
#
# A recurrent layer hands z_0 to the last token (or what z_0 found), and one full layer is saved: L full and ONE linear layer
# compose L functions. More linear layers save nothing more.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build seqcomp L=2 N0=2 n=2 flat=1 linear=first -o first.safetensors
rung verify first.safetensors --exhaustive --numbers f32
rung build seqcomp L=2 N0=2 n=2 flat=1 linear=after -o after.safetensors
rung verify after.safetensors --exhaustive --numbers f32
