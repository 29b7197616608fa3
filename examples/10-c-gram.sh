#!/bin/sh
# SPDX-License-Identifier: MIT
# 10. The token after a c-gram.
#
# The same with the last c-1 tokens as the key: c-1 heads in the first layer.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build c-gram N=5 V=2 c=3 -o cgram.safetensors
rung verify cgram.safetensors --exhaustive --numbers e8m2
