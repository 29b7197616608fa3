#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs an experiment and puts its numbers beside its page: experiment.sh NAME [--full] [OPTIONS of rung sweep].
# NAME is experiments/NAME.json, or with --full the larger experiments/NAME.full.json. The store is
# $BUILD/experiments/NAME.db: what is in it is not done again, so the same command goes on after an interruption.
# Then docs/experiments/NAME.csv has the cells, and figures whose names the page mentions (NAME-accuracy-....svg) lie
# beside it. All figures are in $BUILD/experiments/NAME/. An experiment that is no sweep is experiments/NAME.sh instead,
# which prints the CSV; it is called with the words after NAME, and RUNG in its environment. With --full and a spec NAME.full.json
# the CSV is NAME.full.csv there, too.
# Environment: BUILD (build), RUNG ($BUILD/rung).
set -eu
cd "$(dirname "$0")/.."

export RUNG=${RUNG:-${BUILD:-build}/rung}
pages=docs/experiments
[ $# -ge 1 ] || { sed -n '3,10s/^# //p' "$0" >&2; exit 2; }
name=$1
shift
results=${BUILD:-build}/experiments/$name

if [ -e "experiments/$name.sh" ]; then
    table=$pages/$name.csv
    [ "${1:-}" != --full ] || [ ! -e "experiments/$name.full.json" ] || table=$pages/$name.full.csv
    bash "experiments/$name.sh" "$@" >"$table.tmp" || { rm -f "$table.tmp"; exit 1; }
    mv "$table.tmp" "$table"
    exit
fi

[ "${1:-}" != --full ] || { name=$name.full; shift; results=$results.full; }
spec=experiments/$name.json
[ -e "$spec" ] || { echo "experiment.sh: no $spec; there are: $(cd experiments && echo *)" >&2; exit 2; }
mkdir -p "$results"
"$RUNG" sweep "$spec" -o "$results.db" "$@"
"$RUNG" report "$results.db" -q -o "$results/report.html" --csv "$results" --svg "$results" >"$results/report.log"

# A sweep is named like its spec, and so are the files of its report, with dashes for dots.
report=$results/${name//./-}
cp "$report-cells.csv" "$pages/$name.csv"
for figure in "$report"-*.svg; do
    ! grep -qsF "$(basename "$figure")" "$pages/${name%.full}.md" || cp "$figure" "$pages/"
done
echo "$pages/$name.csv; figures in $results"
