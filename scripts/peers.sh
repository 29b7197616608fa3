#!/bin/sh
# SPDX-License-Identifier: MIT
# peers.sh DIR: a virtual environment with the programs that people use beside rung, for `make test-peers`: 12 GB for a while, 7 GB
# that stay (PIP_INDEX_URL of an index of PyTorch without CUDA makes it 2). Without a network it says so and ends with 4.
set -eu

dir=$1
missing=$("$(dirname "$0")/venv.sh" "$dir" 12 \
    torch,transformers,safetensors,onnx,onnxruntime,gguf,lm_eval,inspect_ai,openai,tensorboard,pandas,fla \
    torch numpy setuptools transformers safetensors onnx onnxruntime gguf 'lm_eval[api]' inspect-ai openai tensorboard pandas \
    flash-linear-attention 2>&1) || {
    echo "peers.sh: skipped: $missing; the tests that need these packages are skipped too" >&2
    exit 4
}
