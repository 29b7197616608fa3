#!/bin/bash
# SPDX-License-Identifier: MIT
# Lines of check/rung-check.c that its tests do not reach: the corpora and mutants, the forward pass, the arithmetic. Prints them and
# fails if there are any that are not marked with "cannot happen" or "out of memory".
# Environment: BUILD (build), PYTHON (python3), CC (gcc).
set -eu
cd "$(dirname "$0")/../.."

BUILD=$(realpath -m "${BUILD:-build}")
work=$BUILD/check-coverage
rm -rf "$work"
mkdir -p "$work"
flags=(-std=c17 -O0 -g --coverage -ffp-contract=off -Itests)
compile() { # name source [libraries]
    "${CC:-gcc}" "${flags[@]}" -o "$work/$1" "$2" "${@:3}" -lm
}
compile command check/rung-check.c
compile dump tests/check/dump.c
compile arith tests/check/test_arith.c -lcmocka -lmpfr -lgmp

run_python() {
    env BUILD="$BUILD" RUNG="${RUNG:-$BUILD/rung}" RUNG_LIBRARY="${RUNG_LIBRARY:-$BUILD/librung.so.0}" RUNG_CHECK="$work/command" \
        CHECK_DUMP="$work/dump" PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$1" >/dev/null
}
run_python tests/check/test_corpus.py
run_python tests/check/test_forward.py
"$work/arith" >/dev/null 2>&1

for name in command dump arith; do
    gcov -t "$work/$name"*.gcda 2>/dev/null | awk '/Source:/ { ours = /rung-check\.c$/ } ours' >"$work/$name.gcov"
done
# A line is reached if one of the three programs reaches it.
awk -F: '{ count = $1; gsub(/[ *]/, "", count); line = $2 + 0; text[line] = substr($0, index($0, $2) + length($2) + 1)
           if (count == "-" || line == 0) next
           lines[line] = 1; if (count != "#####" && count != "=====") reached[line] = 1 }
     END { for (l in lines) { total++; if (l in reached) { good++; continue }
               if (text[l] ~ /out of memory|cannot happen/) { excused++; continue }
               printf "%d:%s\n", l, text[l] > "/dev/stderr"; missed++ }
           printf "%d of %d lines reached, %d excused, %d missed\n", good, total, excused, missed
           exit missed > 0 }' "$work"/*.gcov
