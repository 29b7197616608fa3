#!/bin/bash
# SPDX-License-Identifier: MIT
# What a program of somebody else relies on: every public header compiles alone as C17 and as C++17; the two shared libraries
# export what the headers declare and nothing else; a program in C and one in C++ link with the core alone, statically and
# dynamically, and run; the version is the same wherever it stands.
# Environment: BUILD (build), CC (cc), CXX (c++).
set -euo pipefail
cd "$(dirname "$0")/.."

BUILD=${BUILD:-build}
read -ra cc <<<"${CC:-cc}"
read -ra cxx <<<"${CXX:-c++}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "abi: $1" >&2
    exit 1
}

# ---- headers ---------------------------------------------------------------------------------------------------------------

warnings=(-Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -fsyntax-only)
check_headers() {
    local header
    for header in include/rung/*.h; do
        printf '#include <%s>\n#include <%s>\n' "${header#include/}" "${header#include/}" >"$scratch/alone.c"
        "${cc[@]}" -std=c17 "${warnings[@]}" "$scratch/alone.c" || fail "$header does not compile alone as C17"
        "${cxx[@]}" -std=c++17 "${warnings[@]}" -x c++ "$scratch/alone.c" || fail "$header does not compile alone as C++17"
    done
    # An umbrella that lacks a header would go unnoticed above.
    for header in include/rung/*.h; do
        grep -q "\"${header#include/}\"" include/rung/rung.h include/rung/rung-lab.h ||
            [ "$header" = include/rung/rung-lab.h ] || fail "$header is in no umbrella header"
    done
}

# ---- exports ---------------------------------------------------------------------------------------------------------------

# Functions by the compiler's own list; variables, which are not in it, as the lines that begin with extern.
declared() { # umbrella-header, as a pattern of the headers that count
    echo "#include <rung/rung-lab.h>" >"$scratch/all.c"
    "${GCC:-gcc}" -std=c17 -Iinclude -fsyntax-only -aux-info "$scratch/declared" "$scratch/all.c"
    {
        grep -E "^/\* include/rung/($1)\.h:" "$scratch/declared" | sed 's:^/\*[^*]*\*/::' | grep -v '^ static ' |
            grep -oE '\<rung_[a-z0-9_]+ \([^*]' | sed 's/ (.*//'
        for name in ${1//|/ }; do grep -hE '^extern ' "include/rung/$name.h" || true; done |
            grep -oE '\<rung_[a-z0-9_]+(\[|;)' | sed 's/[[;]$//'
    } | LC_ALL=C sort -u
}

exported() { # library
    nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u
}

check_exports() { # library headers
    declared "$2" >"$scratch/want"
    exported "$BUILD/$1" >"$scratch/have"
    [ "$(wc -l <"$scratch/want")" -gt 50 ] || fail "the headers of $1 declare almost nothing: this test is broken"
    diff "$scratch/want" "$scratch/have" >"$scratch/diff" ||
        fail "$1: declared but not exported (<), exported but not declared (>):
$(grep '^[<>]' "$scratch/diff")"
    printf 'abi: %s exports %s names, those of its headers\n' "$1" "$(wc -l <"$scratch/have")"
}

headers_of() { # umbrella
    grep -oE '"rung/[a-z]+\.h"' "include/rung/$1.h" | sed 's:"rung/::; s:\.h"::' | grep -vx rung | paste -sd'|'
}

# Nothing of ours but rung_ is global in the archives' core either way; the core knows nothing of the other library.
check_core_alone() {
    ! readelf -d "$BUILD/librung.so.0" | grep -E 'NEEDED.*(sqlite|curl|microhttpd|rung)' || fail "librung.so needs a library of librung-lab"
    readelf -d "$BUILD/librung-lab.so.0" | grep -q 'NEEDED.*\[librung\.so\.0\]' || fail "librung-lab.so does not need librung.so"
}

# ---- programs --------------------------------------------------------------------------------------------------------------

write_program() {
    cat >"$scratch/program.c" <<'END'
#include <rung/rung.h>

#include <string.h>

/* Numbers, tasks, an architecture and a verdict-free bound: something of each floor of the core. */
int main(void)
{
    rung_fmt fmt;
    rung_error err = {""};
    if (strcmp(rung_version(), RUNG_VERSION) != 0) return puts("the library is not of the header's version"), 1;
    if (RUNG_VERSION_NUMBER != RUNG_VERSION_MAJOR * 10000 + RUNG_VERSION_MINOR * 100 + RUNG_VERSION_PATCH) return 1;
    if (rung_fmt_parse(&fmt, "f16", &err) != RUNG_OK || fmt.bits != 16) return puts(err.text), 1;
    if (rung_num_add(&fmt, 2048, 1) != 2048) return puts("f16 has 11 significant bits"), 1;
    if (!rung_task_get("eva") || !rung_mech_get("full")) return puts("a registry is empty"), 1;
    return puts("works") < 0;
}
END
}

check_program() { # language compiler...
    local language=$1 libs
    shift
    libs=$(sed -n 's/^CORE_LIBS := //p' "$BUILD/config.mk")
    # shellcheck disable=SC2086 # words
    "$@" -Wall -Wextra -Wpedantic -Werror -Iinclude -o "$scratch/static" -x "$language" "$scratch/program.c" -x none "$BUILD/librung.a" $libs ||
        fail "a program in $language does not link with librung.a"
    "$@" -Wall -Wextra -Wpedantic -Werror -Iinclude -o "$scratch/shared" -x "$language" "$scratch/program.c" -x none "$BUILD/librung.so.0" ||
        fail "a program in $language does not link with librung.so"
    [ "$("$scratch/static")" = works ] || fail "a program in $language does not run (static)"
    [ "$(LD_LIBRARY_PATH=$BUILD "$scratch/shared")" = works ] || fail "a program in $language does not run (shared)"
    ! readelf -d "$scratch/static" | grep -qE 'NEEDED.*(sqlite|curl|microhttpd|librung)' || fail "the static program needs more than the core"
    readelf -d "$scratch/shared" | grep -q 'NEEDED.*\[librung\.so\.0\]' || fail "the shared program does not need librung.so.0"
}

# ---- version ---------------------------------------------------------------------------------------------------------------

# rung/base.h has it. Files that cannot take it from there say the same.
check_version() {
    [ "$("$BUILD/rung" --version)" = "rung $(scripts/version.sh)" ] || fail "the versions differ"
    ! scripts/version.sh 1.2 2>/dev/null || fail "1.2 is taken for a version"
    mkdir "$scratch/tree"
    cp -r --parents scripts/version.sh include/rung/base.h CITATION.cff CHANGELOG.md check debian "$scratch/tree"
    "$scratch/tree/scripts/version.sh" 12.3.4
    ! "$scratch/tree/scripts/version.sh" >/dev/null 2>&1 || fail "a version without notes in CHANGELOG.md is accepted"
    echo '## 12.3.4' >>"$scratch/tree/CHANGELOG.md"
    [ "$("$scratch/tree/scripts/version.sh")" = 12.3.4 ] || fail "scripts/version.sh does not write what it reads"
    sed -i 's/12\.3\.4/12.3.5/' "$scratch/tree/check/rung-check.1"
    ! "$scratch/tree/scripts/version.sh" >/dev/null 2>&1 || fail "a manual page of another version is accepted"
}

check_headers
check_exports librung.so.0 "$(headers_of rung)"
check_exports librung-lab.so.0 "$(headers_of rung-lab)"
check_core_alone
write_program
check_program c "${cc[@]}" -std=c17
check_program c++ "${cxx[@]}" -std=c++17
check_version
echo "abi: headers alone in C17 and C++17, exports, programs in C and C++ with the core alone"
