#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages of the named sets (build, mpi, test, soak, bench, proofs, browser, site, musl, slurm, arm, packages) that are missing. As root or with a sudo that needs no
# password it calls apt-get; otherwise it prints the one line to run. Silent and offline when nothing is missing.
set -eu

build='gcc pkg-config libjansson-dev libgmp-dev libmpfr-dev libflint-dev zlib1g-dev libsqlite3-dev libcurl4-openssl-dev libmicrohttpd-dev'
test_='g++ libcmocka-dev bats curl wrk clang clang-format libclang-rt-14-dev lld wasi-libc libclang-rt-14-dev-wasm32 nodejs python3 python3-numpy python3-pandas python3-pip python3-markdown-it python3-torch libopenmpi-dev openmpi-bin gcc-multilib locales faketime'
mpi='libopenmpi-dev openmpi-bin'
soak='cadical'
bench='python3 python3-numpy python3-torch libopenblas0-openmp'
proofs='coq'
browser='chromium'
site='python3 python3-markdown-it'
musl='musl-tools'
slurm='slurm-wlm munge iproute2'
packages='dpkg-dev debhelper dh-python fakeroot lintian clang lld wasi-libc libclang-rt-14-dev-wasm32'
arm='gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static'

wanted=
for set_name in "$@"; do
    case $set_name in
    build) wanted="$wanted $build" ;;
    mpi) wanted="$wanted $mpi" ;;
    test) wanted="$wanted $test_" ;;
    soak) wanted="$wanted $soak" ;;
    bench) wanted="$wanted $bench" ;;
    proofs) wanted="$wanted $proofs" ;;
    browser) wanted="$wanted $browser" ;;
    site) wanted="$wanted $site" ;;
    musl) wanted="$wanted $musl" ;;
    slurm) wanted="$wanted $slurm" ;;
    arm) wanted="$wanted $arm" ;;
    packages) wanted="$wanted $build $packages" ;;
    *) echo "deps.sh: unknown set '$set_name' (build, mpi, test, soak, bench, proofs, browser, site, musl, slurm, arm, packages)" >&2; exit 2 ;;
    esac
done

command -v dpkg-query >/dev/null || {
    echo "This is no Debian: make sure that what these packages hold is installed.$wanted" >&2
    echo "make says what it finds; docs/build.md has the names on other systems." >&2
    exit 0
}
missing=
for package in $wanted; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

install="apt-get install -y --no-install-recommends$missing"
echo "rung needs:$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "run this once, then the same make command again:"
    echo "    sudo apt-get update && sudo $install"
    exit 4
fi
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root $install >/dev/null
