#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of the unit tests that `make test` runs twice, as <module>/test_<name>: under the sanitizers like all tests, and
# without them. These are the tests of modules whose results depend on how the compiler optimised them, and the tests that
# include tests/effort.h, directly or by another header of tests/, because they do less under the sanitizers.
set -u
cd "$(dirname "$0")/../tests" || exit 1
numbers="num kern mech model train"

headers=effort.h # those that include effort.h, as a pattern
while :; do
    more=$(grep -lE "#include \"([^\"]*/)?($headers)\"" ./*/*.h | xargs -rn1 basename | sort -u | paste -sd'|')
    more="effort.h|$more"
    [ "$more" != "$headers" ] || break
    headers=$more
done
{
    grep -lE "#include \"([^\"]*/)?($headers)\"" ./*/test_*.c
    for module in $numbers; do ls ./"$module"/test_*.c; done
} | sed 's|^\./||; s|\.c$||' | sort -u
