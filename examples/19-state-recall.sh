#!/bin/sh
# SPDX-License-Identifier: MIT
# 19. What a state selects.
#
# Registers point into an array, steps exchange them, and one is asked for. Recurrent layers of small state cannot recall
# the array, one full layer cannot know where the registers are, and one of each can, in either order.
set -eu
RUNG=$(command -v "${RUNG:-rung}")
case $RUNG in /*) ;; *) RUNG=$PWD/$RUNG ;; esac
rung() { "$RUNG" "$@"; }
cd "$(mktemp -d)"

rung bound gdelta:dk=16:dv=24 --task state-recall N=2048 V=16 --bits 16 --no-weights --expect CANNOT
rung bound full:dk=24:dv=24 --task state-recall N=2048 V=16 --bits 16 --no-weights --expect CANNOT
rung build state-recall mech=gdelta N=3 V=2 K=3 M=2 -o both.safetensors
rung verify both.safetensors --exhaustive --numbers e8m3
rung build state-recall mech=gdelta first=recall N=3 V=2 K=3 M=2 -o other.safetensors
rung verify other.safetensors --exhaustive --numbers e8m3

# The parity of bits as the state.
rung build state-recall task=parity-recall N=3 V=2 M=4 -o parity.safetensors
rung verify parity.safetensors --exhaustive --numbers e8m3

# Two full layers average the bits instead. That takes numbers which are fine enough to count them.
rung build parity-recall N=3 V=2 M=4 -o average.safetensors
rung verify average.safetensors --exhaustive --numbers e8m3
rung precision parity-recall N=4 V=4 --over M=7,31
rung precision state-recall task=parity-recall N=4 V=4 --over M=7,31
