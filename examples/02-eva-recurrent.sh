#!/bin/sh
# SPDX-License-Identifier: MIT
# 2. The same with a state that does not grow.
#
# A recurrent layer must carry the whole table past its end: N log2 V bits. These weights carry that much and hardly more:
# one number per entry, and in fixed point one bit above log2 V for each.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build eva-recurrent N=16 mech=delta -o delta.safetensors
rung verify delta.safetensors --samples 200 --numbers q4.0
rung run delta.safetensors --step --numbers q4.0 | tail -n 3
