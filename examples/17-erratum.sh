#!/bin/sh
# SPDX-License-Identifier: MIT
# 17. One linear layer in the right place.
#
# A published theorem says that L full layers do not compose L functions, also with one linear layer after the first. A
# protocol of three messages does it, and so do weights of two full layers with a linear one between them. Without that layer,
# or with it behind the second full one, the theorem is right (docs/erratum.md).
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung game relay L=2 N0=2 n=2 --head-dim 1 --bits 1 --svg relay.svg
rung build seqcomp L=2 N0=2 n=2 linear=after -o after.safetensors
rung verify after.safetensors --exhaustive --numbers e8m1
rung protocol after.safetensors --numbers e8m1 --svg after.svg

# Three functions, three full layers, one linear one.
rung game relay L=3 N0=2 n=2,2 flat=1 --head-dim 1 --bits 1
rung build seqcomp L=3 N0=2 n=2,2 flat=1 linear=after -o three.safetensors
rung verify three.safetensors --exhaustive --numbers e8m1

# Two full layers alone cannot at this size; the relay needs 17 of the 104 bits.
rung bound full,full --heads 1 --head-dim 2 --bits 26 --task seqcomp L=2 --n 75242 --message paper --no-weights --expect CANNOT
rung game relay L=2 N0=220 n=341 --head-dim 2 --bits 26 --samples 20
