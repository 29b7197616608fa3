#!/bin/sh
# SPDX-License-Identifier: MIT
# 21. Variables that are copied.
#
# All variables are followed at once, so that every full layer doubles the number of copies: two layers for two, three for
# six.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build variable-tracking chains=1 hops=2 V=2 -o two.safetensors
rung verify two.safetensors --exhaustive --numbers e8m3
rung build variable-tracking chains=4 hops=6 -o six.safetensors
rung verify six.safetensors --samples 200 --numbers bf16
rung bound full:dk=16:dv=16 --task variable-tracking chains=64 hops=1 V=16 --bits 8 --no-weights --expect CANNOT
