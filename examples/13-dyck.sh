#!/bin/sh
# SPDX-License-Identifier: MIT
# 13. Brackets in a tanh layer.
#
# What recurrence is good for: a stack of bounded depth in one recurrent layer.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build dyck N=6 k=2 -o dyck.safetensors
rung verify dyck.safetensors --exhaustive --numbers f32
