#!/bin/sh
# SPDX-License-Identifier: MIT
# configure.sh DIR [quiet]: looks for the libraries and instruction sets that rung can use. Writes DIR/config.mk, which the
# Makefile includes, DIR/config.txt, a list for people, and DIR/parts/<part> for each optional part; each only if it has
# changed. Prints the list when something has, unless `quiet`. Called by make; reaches for no network.
# Environment: CC, CLANG, CFLAGS, PKG_CONFIG, WITHOUT (optional parts to be left out), PLOTS (where the plot library would be).
set -eu
cd "$(dirname "$0")/.."

build=$1 quiet=${2:-}
CC=${CC:-cc} PKG_CONFIG=${PKG_CONFIG:-pkg-config} CLANG=${CLANG:-clang} CFLAGS=${CFLAGS:-} WITHOUT=${WITHOUT:-} PLOTS=${PLOTS:-}
mkdir -p "$build/parts"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "configure: $1" >&2
    exit 1
}

update() { # file: takes standard input if it differs
    cat >"$scratch/update"
    cmp -s "$scratch/update" "$1" || cp "$scratch/update" "$1"
}

# shellcheck disable=SC2086 # CC and CFLAGS are words
macros=$($CC $CFLAGS -dM -E -x c /dev/null) || fail "the compiler '$CC' does not run; 'make deps' installs gcc, CC=... chooses another"
# shellcheck disable=SC2086
target=$($CC -dumpmachine)

# ---- instruction sets: those of the target, not of this machine ----------------------------------------------------------

isas=ref
case $macros in
*'#define __x86_64__ 1'*) isas='ref avx2 avx512' ;;
*'#define __aarch64__ 1'*) isas='ref neon' ;;
esac

# ---- libraries -----------------------------------------------------------------------------------------------------------

# Sets cflags and libs; false if a program that includes the header and calls the function cannot be linked.
find_library() { # pkg-config-name libs header function
    packaged=true
    cflags=$($PKG_CONFIG --cflags "$1" 2>/dev/null) && libs=$($PKG_CONFIG --libs "$1" 2>/dev/null) ||
        { cflags='' libs=$2 packaged=false; }
    # The answer of the last time, if it was yes and nothing speaks against it.
    known="$1 $cflags $libs $CC $CFLAGS"
    [ "$(cat "$build/parts/.found-$1" 2>/dev/null)" != "$known" ] || { ! $packaged && ! header_is_there "$3"; } || return 0
    printf '#include <stdio.h>\n#include <%s>\nint main(void) { return (void *)%s == (void *)0; }\n' "$3" "$4" >"$scratch/try.c"
    # shellcheck disable=SC2086
    $CC $CFLAGS $cflags -o "$scratch/try" "$scratch/try.c" $libs >/dev/null 2>&1 || return 1
    echo "$known" >"$build/parts/.found-$1"
}

header_is_there() { # header
    # shellcheck disable=SC2086
    printf '#include <%s>\n' "$1" | $CC $CFLAGS -E -x c - >/dev/null 2>&1
}

left_out() { # part
    for word in $WITHOUT; do
        word=${word#lib}
        [ "$word" != sqlite ] || word=sqlite3
        [ "$word" != "$1" ] || return 0
    done
    return 1
}

for word in $WITHOUT; do
    case $word in flint | libflint | sqlite | sqlite3 | libsqlite3 | curl | libcurl | microhttpd | libmicrohttpd) ;;
    *) fail "WITHOUT=$word: the parts that can be left out are flint, sqlite3, curl, microhttpd" ;; esac
done

row() { # part state without package
    printf '  %-12s %-14s %-58s %s\n' "$1" "$2" "$3" "$4" >>"$scratch/list"
}

missing='' core_cflags='' core_libs='' core_requires=''
require() { # part pkg-config-name libs header function package
    if find_library "$2" "$3" "$4" "$5"; then
        core_cflags="$core_cflags $cflags" core_libs="$core_libs $libs" core_requires="$core_requires $2"
        row "$1" found 'needed' "$6"
    else
        missing="$missing $6"
        row "$1" MISSING 'nothing can be built' "$6"
    fi
}

parts='' absent='' lab_libs='' part_variables=''
optional() { # part library(core, lab) pkg-config-name libs header function package what-is-then-absent
    if left_out "$1"; then
        state='left out'
    elif find_library "$3" "$4" "$5" "$6"; then
        state=found
    else
        state=absent
    fi
    row "$1" "$state" "$8" "$7"
    if [ "$state" = found ]; then
        parts="$parts $1"
        [ "$2" = core ] && core_private="$libs" || lab_libs="$lab_libs $libs"
        part_variables="$part_variables$(echo "$1" | tr '[:lower:]' '[:upper:]')_CFLAGS := $cflags
"
        echo found | update "$build/parts/$1"
    else
        absent="$absent $1"
        echo absent | update "$build/parts/$1"
    fi
}

core_private=''
row part state 'without it' 'Debian package'
require gmp gmp -lgmp gmp.h mpz_init libgmp-dev
require mpfr mpfr '-lmpfr -lgmp' mpfr.h mpfr_init2 libmpfr-dev
require jansson jansson -ljansson jansson.h json_loads libjansson-dev
require zlib zlib -lz zlib.h inflate zlib1g-dev
optional flint core flint '-lflint' flint/fmpz_lll.h fmpz_lll libflint-dev \
    "no attack 'relation' (rung break)"
optional sqlite3 lab sqlite3 -lsqlite3 sqlite3.h sqlite3_open_v2 libsqlite3-dev \
    'no stores: sweep, report, export, merge, import, probe'
optional curl lab libcurl -lcurl curl/curl.h curl_easy_init libcurl4-openssl-dev \
    'no questions to served models: probe'
optional microhttpd lab libmicrohttpd -lmicrohttpd microhttpd.h MHD_start_daemon libmicrohttpd-dev \
    'no servers: serve, explore'
command -v "${MPICC:-mpicc}" >/dev/null && state=found || state=absent
row mpi $state "no 'make mpi': sweeps and training in one process only" libopenmpi-dev
# A compiler for WebAssembly has a libc of its own and what the compiler itself calls.
wasm=
wasm_part() { file=$($CLANG --target=wasm32-wasi "$@" 2>/dev/null) && [ -e "$file" ]; }
if command -v wasm-ld >/dev/null && wasm_part -print-file-name=libc.a && wasm_part -rtlib=compiler-rt -print-libgcc-file-name; then
    wasm=yes state=found
elif [ -s check/rung-check.wasm ]; then
    state=found
else
    state=absent
fi
row wasm $state 'pages do not check certificates themselves' 'clang lld wasi-libc libclang-rt-14-dev-wasm32'
[ -s "$PLOTS/plot.js" ] || [ -s report/plot.js ] && state=found || state=absent
row plots $state 'pages of rung report have their figures as SVG only' "npm, then 'make plots'"

{
    echo "rung for $target: instruction sets $isas"
    cat "$scratch/list"
} | sed 's/ *$//' >"$scratch/config.txt"
if [ -n "$missing" ]; then
    cat "$scratch/config.txt" >&2
    fail "missing:$missing. 'make deps' installs what is missing on Debian."
fi

if ! cmp -s "$scratch/config.txt" "$build/config.txt"; then
    cp "$scratch/config.txt" "$build/config.txt"
    [ -n "$quiet" ] || cat "$build/config.txt" >&2
fi
update "$build/config.mk" <<END
# Written by scripts/configure.sh.
TARGET := $target
ISAS := $isas
PARTS :=$parts
WASM := $wasm
ABSENT :=$absent
CORE_CFLAGS := $(echo $core_cflags)
CORE_LIBS := $(echo $core_private $core_libs) -lm -pthread
CORE_REQUIRES :=$core_requires
CORE_PRIVATE := $core_private -lm -pthread
LAB_LIBS :=$lab_libs
$part_variables
END
