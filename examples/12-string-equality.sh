#!/bin/sh
# SPDX-License-Identifier: MIT
# 12. Equal strings, disjoint sets.
#
# Two layers: fetch the bit of the other half, then look for one place that differs (or where both are 1). One layer would
# need as many bits as the strings have.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build string-equality N=4 -o equal.safetensors
rung verify equal.safetensors --exhaustive --numbers e8m1
rung build disjointness N=4 -o disjoint.safetensors
rung verify disjoint.safetensors --exhaustive --numbers e8m1
