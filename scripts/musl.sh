#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the command and rung-check with musl, static, without the optional libraries, and compares what they say with the
# command that is linked with glibc. GMP, MPFR, jansson and zlib are Debian's static libraries: what they call that musl does
# not have is in scripts/musl/glibc_names.c. Environment: BUILD (build), RUNG (BUILD/rung), MUSL_CC (musl-gcc).
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath -m "${BUILD:-build}")
RUNG=$(realpath "${RUNG:-$BUILD/rung}")
CC=${MUSL_CC:-musl-gcc}
musl=$BUILD/musl
mkdir -p "$musl/root/include" "$musl/root/lib"
for header in gmp.h mpfr.h jansson.h jansson_config.h zlib.h zconf.h; do
    found=$(find /usr/include -name "$header" | head -n 1)
    [ -n "$found" ] || { echo "musl: no $header" >&2; exit 4; }
    cp "$found" "$musl/root/include/"
done
for library in gmp mpfr jansson z; do
    found=$(gcc -print-file-name=lib$library.a)
    [ -e "$found" ] || { echo "musl: no lib$library.a" >&2; exit 4; }
    cp "$found" "$musl/root/lib/"
done
# Headers of Linux, which belong to no C library.
for folder in linux asm asm-generic; do
    found=$(find /usr/include -maxdepth 2 -type d -name "$folder" | head -n 1)
    ln -sfn "$found" "$musl/root/include/$folder"
done
"$CC" -O2 -c scripts/musl/glibc_names.c -o "$musl/glibc_names.o"
"$CC" -E -x c /dev/null >/dev/null
# configure.sh links small programs, so the names are part of a library that each of them takes.
ar rcs "$musl/root/lib/libgmp.a" "$musl/glibc_names.o"
ar rcs "$musl/root/lib/libjansson.a" "$musl/glibc_names.o"
ar rcs "$musl/root/lib/libz.a" "$musl/glibc_names.o"
make --no-print-directory -j2 BUILD="$(realpath -m --relative-to=. "$musl")" PKG_CONFIG=false WITHOUT='flint sqlite3 curl microhttpd' CC="$CC" \
    CFLAGS="-O2 -g1 -isystem $musl/root/include -L$musl/root/lib" LDFLAGS=-static "$(realpath -m --relative-to=. "$musl")"/{rung,rung-check}
! readelf -d "$musl/rung" | grep -q NEEDED || { echo "musl: rung is not static" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
compared=0
same() { # the same output and files from both
    for who in glibc musl; do
        mkdir -p $who
        program=$RUNG
        [ $who = glibc ] || program=$musl/rung
        (cd $who && "$program" "$@" >out.txt 2>err.txt || echo "exit $?" >>out.txt
            sed -E 's/[0-9.]+ s$/... s/' out.txt >shown.txt && mv shown.txt out.txt)
    done
    diff -r glibc musl >differences || { echo "musl differs: rung $*"; head -n 20 differences; exit 1; }
    compared=$((compared + 1))
}
# sin, cos and log of two C libraries may differ in the last bit, so models that need them are made once; both run them.
made() { "$RUNG" build "$@" -q >/dev/null; }
made lookup N=64 keys=trig -o m.safetensors
same run ../m.safetensors --numbers e8m10 --count 50
same verify ../m.safetensors --worst-case --numbers e8m17
same build lookup N=64 keys=sign -o s.safetensors
made seqcomp L=2 N0=4 n=4 linear=first -o h.safetensors
same run ../h.safetensors --numbers bf16 --count 20 --json
same protocol ../h.safetensors --numbers e8m17
for arch in gdelta:unit=1 mamba2 rwkv7 'window:W=4,full' loglinear; do
    made random --arch "$arch" --task eva N=16 -o r.safetensors
    same run ../r.safetensors --numbers e5m10 --count 20 --json
    same run ../r.safetensors --numbers q3.12 --count 20 --json
    same run ../r.safetensors --count 20 --json
done
same bound 'full,4*linear' --head-dim 2 --bits 26 --task seqcomp L=2 --n 542
same bound 'full,4*linear' --head-dim 2 --task seqcomp L=2 --n 1000 --solve p
same task seqcomp L=2 N0=3 n=2 --format text --style facts --count 5
made random --arch linear --heads 1 --dk 2 --dv 2 --d-model 8 --task eva N=64 -o lost.safetensors
same break ../lost.safetensors --numbers e8m4 -o lost.cert -q
same explain lost.cert
same recall delta --dk 16 --dv 16 --values 32
code=0
"$musl/rung-check" musl/lost.cert lost.safetensors >checked || code=$?
[ "$code" = 10 ] && grep -q '^accepted' checked
echo "musl: $compared commands say the same as with glibc; rung-check accepts the certificate"
