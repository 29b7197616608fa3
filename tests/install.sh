#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into an empty directory, builds a program against what is there, shared and static, and uninstalls.
# Environment: BUILD (build), CC (cc).
set -eu
cd "$(dirname "$0")/.."

BUILD=${BUILD:-build}
CC=${CC:-cc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

fail() {
    echo "install: $1" >&2
    exit 1
}

run_make() {
    ${MAKE:-make} --no-print-directory BUILD="$BUILD" PREFIX="$prefix" DESTDIR= "$@" >"$scratch/make.log" 2>&1 || {
        cat "$scratch/make.log" >&2
        fail "make $* failed"
    }
}

check_files() {
    for file in bin/rung bin/rung-check share/man/man1/rung-check.1 lib/librung.a lib/librung.so lib/librung.so.0 \
        lib/librung-lab.a lib/librung-lab.so lib/librung-lab.so.0 lib/pkgconfig/rung.pc lib/pkgconfig/rung-lab.pc share/man/man1/rung.1 \
        share/bash-completion/completions/rung share/zsh/site-functions/_rung \
        share/fish/vendor_completions.d/rung.fish; do
        [ -s "$prefix/$file" ] || fail "$file is missing or empty"
    done
    for header in include/rung/*.h; do
        cmp -s "$header" "$prefix/$header" || fail "$header is missing or differs"
    done
    for source in proofs/*.v proofs/Makefile; do
        cmp -s "$source" "$prefix/share/rung/$source" || fail "$source is missing or differs"
    done
    [ -x "$prefix/bin/rung" ] || fail "bin/rung is not executable"
    for link in librung.so librung.so.0 librung-lab.so librung-lab.so.0; do
        [ -L "$prefix/lib/$link" ] || fail "$link is no symbolic link"
    done
    readelf -d "$prefix/lib/librung.so" | grep -q 'SONAME.*\[librung\.so\.0\]' || fail "wrong soname"
    readelf -d "$prefix/lib/librung-lab.so" | grep -q 'SONAME.*\[librung-lab\.so\.0\]' || fail "wrong soname"
    ! grep -q @ "$prefix"/lib/pkgconfig/rung*.pc || fail "a .pc file has a placeholder left"
}

# Nothing but rung_* is visible from outside.
check_symbols() {
    foreign=$(nm -D --defined-only "$prefix/lib/librung.so" "$prefix/lib/librung-lab.so" | awk 'NF == 3 && $2 != "A" && $3 !~ /^rung_/ { print $3 }')
    [ -z "$foreign" ] || fail "the libraries export $foreign"
}

write_program() {
    cat >"$scratch/program.c" <<'END'
#include <rung/rung.h>

int main(void)
{
    rung_fmt fmt;
    rung_error err = {""};
    if (rung_fmt_parse(&fmt, "f16", &err) != RUNG_OK || fmt.bits != 16) return puts(err.text), 1;
    if (rung_num_add(&fmt, 2048, 1) != 2048) return puts("f16 has 11 significant bits"), 1;
    if (!rung_task_get("eva")) return puts("no task eva"), 1;
    return puts("works") < 0;
}
END
    cat >"$scratch/lab.c" <<'END'
#include <rung/rung-lab.h>

int main(void)
{
    rung_store *store = NULL;
    rung_error err = {""};
    if (rung_store_open(&store, "there is no such store", RUNG_STORE_READ, 0, &err) == RUNG_OK) return puts("no error"), 1;
    rung_store_close(store);
    return puts(err.text[0] ? "works" : "no message") < 0;
}
END
}

# Compiles with the words that pkg-config gives and runs the result.
check_program() { # name source package pkg-config-option [linker words...]
    name=$1 source=$2 package=$3 option=$4
    shift 4
    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
    pkg-config --modversion "$package" >/dev/null || fail "pkg-config does not know $package"
    # shellcheck disable=SC2046,SC2086 # words on purpose
    $CC -std=c17 -Wall -Wextra -Werror -o "$scratch/$name" "$scratch/$source.c" "$@" \
        $(pkg-config --cflags --libs $option "$package") || fail "a program does not link ($name)"
    [ "$(LD_LIBRARY_PATH="$prefix/lib" "$scratch/$name")" = works ] || fail "a program does not run ($name)"
}

# The Python package finds the library and the command of its prefix.
check_python() {
    module=$(find "$prefix/lib" -path '*-packages/rung' -type d)
    [ -d "$module" ] || fail "the Python package is missing"
    for source in python/rung/*.py python/rung/py.typed; do
        cmp -s "$source" "$module/${source##*/}" || fail "$source is missing or differs"
    done
    said=$(cd "$scratch" && env -u RUNG_LIBRARY -u RUNG PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="${module%/rung}" \
        "${PYTHON:-/usr/bin/python3}" -c 'import rung; from rung import _command, _library
print(rung.Task("eva", N=4).tokens, _command.find("rung"), _library.lib._name)') || fail "the Python package does not run"
    [ "$(echo "$said" | cut -d" " -f1)" = 5 ] || fail "the Python package says $said"
    for path in $(echo "$said" | cut -d" " -f2-); do
        case $(realpath "$path") in "$(realpath "$prefix")"/*) ;; *) fail "the Python package uses $path" ;; esac
    done
}

# Pages and examples are there; an example runs with the installed command.
check_documents() {
    for file in README.md LICENSE docs/README.md docs/theory.md docs/constructions/README.md examples/README.md examples/01-lookup.sh; do
        cmp -s "$file" "$prefix/share/doc/rung/$file" || fail "$file is missing or differs"
    done
}

# MPI is there if it was built, and nothing else needs it.
check_mpi() {
    [ ! -e "$BUILD/rung-mpi.so" ] || [ -x "$prefix/lib/rung/rung-mpi.so" ] || fail "lib/rung/rung-mpi.so is missing"
    ! readelf -d "$prefix/bin/rung" "$prefix/lib/librung.so" | grep -q 'NEEDED.*mpi' || fail "rung is linked with MPI"
}

run_make install
check_files
check_mpi
check_python
check_documents
check_symbols
write_program
check_program shared program rung ""
readelf -d "$scratch/shared" | grep -q 'NEEDED.*\[librung\.so\.0\]' || fail "the shared program does not use librung.so.0"
! readelf -d "$scratch/shared" | grep -q 'librung-lab' || fail "a program with the core alone uses librung-lab.so"
check_program shared-lab lab rung-lab ""
readelf -d "$scratch/shared-lab" | grep -q 'NEEDED.*\[librung-lab\.so\.0\]' || fail "the shared program does not use librung-lab.so.0"
rm "$prefix/lib/librung.so" "$prefix/lib/librung-lab.so" # now -lrung can only mean librung.a
# All of the archive, so that no library is forgotten in the .pc file.
check_program static program rung --static -Wl,--whole-archive "$prefix/lib/librung.a" -Wl,--no-whole-archive
! readelf -d "$scratch/static" | grep -qE 'librung|sqlite|curl|microhttpd' || fail "the static program needs more than the core"
check_program static-lab lab rung-lab --static -Wl,--whole-archive "$prefix/lib/librung-lab.a" -Wl,--no-whole-archive
! readelf -d "$scratch/static-lab" | grep -q librung || fail "the static program needs librung.so"
"$prefix/bin/rung" --version >/dev/null || fail "the installed command does not run"

run_make install
run_make uninstall
left=$(find "$prefix" ! -type d)
[ -z "$left" ] || fail "make uninstall left $left"
for directory in include/rung share/rung share/doc/rung; do
    [ ! -e "$prefix/$directory" ] || fail "make uninstall left $directory"
done
echo "install: installed, used from C (shared, static), and uninstalled without a trace"
