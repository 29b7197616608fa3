#!/bin/sh
# SPDX-License-Identifier: MIT
# 9. Associative recall.
#
# k1 v1 k2 v2 ... k: which value followed k? The first layer hands every token its predecessor, the second finds the key. The
# first one may be recurrent: one recurrent and one full layer are enough.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build assoc-recall N=2 K=3 V=2 -o full.safetensors
rung verify full.safetensors --exhaustive --numbers e8m2
rung build assoc-recall N=2 K=3 V=2 by=delta -o hybrid.safetensors
rung verify hybrid.safetensors --exhaustive --numbers e8m2
