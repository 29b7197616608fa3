#!/bin/bash
# SPDX-License-Identifier: MIT
# Models trained on tables whose values follow Zipf's law (dist=zipf) or are uniform, each tested on both and then attacked; prints a CSV.
# scripts/two-kinds.sh says how, and what the environment may set.
set -eu
export COUNT=${COUNT:-2048} ATTACK=${ATTACK:-climb}
exec bash "$(dirname "$0")/../scripts/two-kinds.sh" natural-values dist=zipf dist=uniform "$@"
