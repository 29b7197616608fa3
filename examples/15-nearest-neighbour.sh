#!/bin/sh
# SPDX-License-Identifier: MIT
# 15. The label of the closest point.
#
# Scores are inner products; the margin of the task decides how sharp the softmax must be.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build nearest-neighbour N=4 d=4 -o nearest.safetensors
rung verify nearest.safetensors --samples 200 --numbers bf16
