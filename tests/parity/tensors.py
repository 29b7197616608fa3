# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Safetensors with numpy, as small as the format: eight bytes of length, a JSON header, the data."""
import json
import struct

import numpy

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def write(path, arrays):
    """A dict of arrays; floats keep their width."""
    header, blobs, at = {}, [], 0
    for name, array in arrays.items():
        array = numpy.ascontiguousarray(array)
        kind = {numpy.dtype(code): word for word, code in TYPES.items()}[array.dtype]
        blob = array.tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def read(path):
    """The arrays by name, and the metadata."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        arrays[name] = numpy.frombuffer(data[start:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays, metadata
