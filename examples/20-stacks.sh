#!/bin/sh
# SPDX-License-Identifier: MIT
# 20. Several stacks.
#
# A linear layer counts how high each stack is, and a delta layer keeps a cell for every level.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build stacks T=5 S=2 V=2 -o stacks.safetensors
rung verify stacks.safetensors --exhaustive --numbers e8m3
