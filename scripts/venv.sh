#!/bin/sh
# SPDX-License-Identifier: MIT
# venv.sh DIR GIGABYTES MODULES PACKAGES...: a virtual environment in DIR in which Python imports MODULES (comma-separated); if it does
# not, pip installs PACKAGES, newest versions, which takes GIGABYTES for a while. pip's own settings count (PIP_INDEX_URL). Prints what
# is missing and ends with 4 where that cannot be done.
set -eu

dir=$1 gigabytes=$2 modules=$3
shift 3
skip() { echo "$*" >&2; exit 4; }

[ -x "$dir/bin/python" ] && "$dir/bin/python" -W ignore -c "import $modules" >/dev/null 2>&1 && exit 0
mkdir -p "$dir"
free=$(df -Pk "$dir" | awk 'NR == 2 { print int($4 / 1048576) }')
[ "$free" -ge "$gigabytes" ] || skip "$dir needs $gigabytes GB for a while, $free are free"
[ -x "$dir/bin/python" ] || python3 -m venv "$dir" >&2 || skip "python3 makes no virtual environment (Debian: python3-venv)"
"$dir/bin/pip" install --quiet --no-cache-dir --upgrade "$@" >&2 || skip "pip cannot install $*"
"$dir/bin/python" -W ignore -c "import $modules" >/dev/null 2>&1 || skip "Python of $dir does not import all of $modules"
