#!/bin/sh
# SPDX-License-Identifier: MIT
# 18. A sequence backwards.
#
# One full layer finds each symbol by its position. One recurrent layer does it too, with a state of exactly the N log2 V
# bits without which no recurrence can.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build lookup task=palindrome N=5 V=4 -o full.safetensors
rung verify full.safetensors --exhaustive --numbers e8m3

# Five numbers of two bits.
rung build eva-recurrent task=palindrome mech=delta N=5 V=4 -o delta.safetensors
rung verify delta.safetensors --exhaustive --numbers q1.0
rung bound linear:phi=identity:norm=0:dk=9:dv=1 --task palindrome N=10 V=4 --bits 2 --no-weights --expect CANNOT
