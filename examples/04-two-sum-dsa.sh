#!/bin/sh
# SPDX-License-Identifier: MIT
# 4. The same with a selection of single tokens.
#
# Block summaries cannot answer two-sum (a theorem), but an indexer that scores every token can: the partner has the largest
# score, and one selected token is enough.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung build two-sum M=5 N=3 by=dsa -o dsa.safetensors
rung verify dsa.safetensors --exhaustive --numbers bf16
