# SPDX-License-Identifier: MIT
"""spoil.py IN.safetensors TENSOR OUT.safetensors: the same file with one tensor of zeros."""
import json
import struct
import sys

source, name, out = sys.argv[1:]
data = bytearray(open(source, "rb").read())
length = struct.unpack("<Q", data[:8])[0]
first, last = json.loads(data[8:8 + length])[name]["data_offsets"]
data[8 + length + first:8 + length + last] = bytes(last - first)
open(out, "wb").write(data)
