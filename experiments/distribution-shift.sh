#!/bin/bash
# SPDX-License-Identifier: MIT
# Models trained on recall whose questions are near by Zipf's law (power=1) or equally often far (power=100), each tested on both; prints a CSV.
# scripts/two-kinds.sh says how, and what the environment may set.
set -eu
exec bash "$(dirname "$0")/../scripts/two-kinds.sh" distribution-shift power=1 power=100 "$@"
