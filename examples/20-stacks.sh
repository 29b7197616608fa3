#!/bin/sh
# SPDX-License-Identifier: MIT
# 20. Several stacks.
#
# A recurrent layer counts how high each stack is, and another keeps a cell for every level.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build stacks T=5 S=2 V=2 -o stacks.safetensors
rung verify stacks.safetensors --exhaustive --numbers e8m3

# The delta rule can do both.
rung build stacks T=5 S=2 V=2 count=kda mech=kda -o kda.safetensors
rung verify kda.safetensors --exhaustive --numbers e8m3
