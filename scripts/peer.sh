#!/bin/sh
# SPDX-License-Identifier: MIT
# peer.sh DIR: a virtual environment with the newest PyTorch that pip finds, for `rung bench --peer DIR`. pip's own settings
# count (PIP_INDEX_URL for an index of builds without CUDA): the builds of the usual index load 4 GB of CUDA libraries that a
# processor never uses, and do not start without them. Without a network it says so and ends with 4.
set -eu

dir=$1
skip() { echo "peer.sh: skipped: $*; rung bench compares with the PyTorch of /usr/bin/python3 only" >&2; exit 4; }

if [ -x "$dir/bin/python" ] && "$dir/bin/python" -c 'import numpy, torch' 2>/dev/null; then
    echo "$dir has PyTorch $("$dir/bin/python" -c 'import torch; print(torch.__version__)') already"
    exit 0
fi
# setuptools and a C++ compiler are what torch.compile needs.
missing=$("$(dirname "$0")/venv.sh" "$dir" 12 numpy,torch torch numpy setuptools 2>&1) || skip "$missing"

# MKL takes kernels for AVX-512 on processors of Intel alone, unless this function says that it is on one. The library is linked
# into PyTorch, and its symbols can be replaced.
shim=$dir/lib/rung-mkl.so
echo 'int mkl_serv_intel_cpu_true(void) { return 1; }' | ${CC:-cc} -shared -fPIC -x c -o "$shim" -
"$dir/bin/python" -c 'import torch; print("PyTorch", torch.__version__)' || skip "PyTorch does not start"
