#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench-dispatch.sh: what a sweep costs beside its training, from which docs/cluster.md calculates what 1,000 nodes would do: 1,000 runs
# of one step in one process and on two ranks, the start and end of two ranks, merges of few and of many stores. Seconds of wall and of
# processor time. RUNG is the command; make mpi comes first.
set -eu
rung=$(realpath "${RUNG:-build/rung}")
[ -e "$(dirname "$rung")/rung-mpi.so" ] || { echo "bench-dispatch.sh: make mpi first" >&2; exit 4; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm=isolated
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"

spec() { # SEEDS: twice as many runs
    echo '{"name": "tiny", "success": 0.9, "base": {"task": "eva N=3 V=2", "steps": 1, "batch": 8, "d-model": 8, "dk": 4, "dv": 4,
        "eval-every": 100, "eval-prompts": 16, "test-prompts": 32}, "grid": {"arch": ["full", "linear"], "seed": ['"$(seq -s, "$1")"']}}'
}

measure() { # NAME COMMAND...
    local name=$1 TIMEFORMAT='%R wall, %U user, %S system'
    shift
    printf '%-45s' "$name"
    { time "$@" >said 2>failed; } 2>&1 || { cat failed >&2; exit 1; }
}

shards() { # NAME COUNT
    local i
    for ((i = 0; i < $2; i++)); do "$rung" sweep tiny.json --no-estimate --shard "$i/$2" -o "$1.$i.db" >/dev/null 2>&1; done
}

spec 500 >tiny.json
spec 1 >two.json
measure "1,000 runs, one process" "$rung" sweep tiny.json --jobs 1 --no-estimate -o one.db
measure "1,000 runs, two ranks" mpirun -n 2 "$rung" sweep tiny.json --jobs 1 --no-estimate -o ranks.db
measure "2 runs, two ranks" mpirun -n 2 "$rung" sweep two.json --jobs 1 --no-estimate -o start.db
shards few 4
measure "merge of 4 stores, 1,000 runs" "$rung" merge -o few.db few.?.db
shards many 200
measure "merge of 200 stores, 1,000 runs" "$rung" merge -o many.db many.*.db
