# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Numbers between Python and C: numpy arrays and torch tensors where they are installed, nested lists otherwise."""
import ctypes as C
from typing import Any, List, Sequence, Tuple

try:
    import numpy
except ImportError:
    numpy = None

TOKEN, REAL, WIDE = "uint32", "float32", "float64"
_CTYPES = {TOKEN: C.c_uint32, REAL: C.c_float, WIDE: C.c_double}
_DIFFERENT = "the rows have different lengths; pad them, and pass lengths="


class Numbers:
    """Numbers of any number of dimensions, in one row, with their shape."""

    def __init__(self, flat: Any, shape: Tuple[int, ...], whole: bool):
        self.flat, self.shape, self.whole = flat, shape, whole

    def c_array(self, kind: str) -> Tuple[Any, int]:
        """The numbers as C reads them: what keeps the memory alive, and its address."""
        if numpy:
            array = numpy.ascontiguousarray(self.flat, dtype=kind)
            return array, array.ctypes.data
        array = (_CTYPES[kind] * max(1, len(self.flat)))(*self.flat)
        return array, C.addressof(array)

    def smallest_and_largest(self) -> Tuple[int, int]:
        return int(min(self.flat)), int(max(self.flat))


def read(values: Any) -> Numbers:
    """Takes what people have: lists, numpy arrays, torch tensors. ValueError for rows of different lengths."""
    if hasattr(values, "detach"):  # torch
        values = values.detach().cpu()
        if "bfloat16" in str(values.dtype):
            values = values.float()
        values = values.numpy() if numpy else values.tolist()
    if numpy:
        return _read_numpy(values)
    flat, shape = _flatten(values.tolist() if hasattr(values, "tolist") else values)
    return Numbers(flat, shape, all(isinstance(x, int) and not isinstance(x, bool) for x in flat))


def _read_numpy(values: Any) -> Numbers:
    try:
        array = numpy.asarray(values)
    except ValueError:
        raise ValueError(_DIFFERENT) from None
    if array.dtype.kind not in "iuf":
        raise ValueError(_DIFFERENT if array.dtype.kind == "O" else f"numbers are needed, not {array.dtype}")
    return Numbers(array.reshape(-1), array.shape, array.dtype.kind in "iu" or array.size == 0)


def _flatten(values: Any) -> Tuple[List[Any], Tuple[int, ...]]:
    if not isinstance(values, (list, tuple, range)):
        if not isinstance(values, (int, float)):
            raise ValueError(f"numbers are needed, not {type(values).__name__}")
        return [values], ()
    if not values or all(not isinstance(row, (list, tuple, range)) for row in values):
        return [x for row in values for x in _flatten(row)[0]], (len(values),)
    parts = [_flatten(row) for row in values]
    if any(shape != parts[0][1] for _, shape in parts):
        raise ValueError(_DIFFERENT)
    return [x for flat, _ in parts for x in flat], (len(values),) + parts[0][1]


class Out:
    """Doubles that C fills in: [rows][...shape]."""

    def __init__(self, shape: Tuple[int, ...]):
        self.shape, self._count = shape, 1
        for size in shape:
            self._count *= size
        self._memory = numpy.empty(shape, dtype=WIDE) if numpy else (C.c_double * max(1, self._count))()

    def pointer(self, row: int) -> Any:
        """Where the part begins that has `row` as its first index."""
        start = self._memory.ctypes.data if numpy else C.addressof(self._memory)
        return C.cast(start + row * (self._count // max(1, self.shape[0])) * 8, C.POINTER(C.c_double))

    def array(self) -> Any:
        return self._memory if numpy else nest(list(self._memory)[:self._count], self.shape)


def nest(flat: Sequence[Any], shape: Sequence[int]) -> Any:
    """Nested lists of that shape."""
    for size in reversed(shape[1:]):
        flat = [flat[i:i + size] for i in range(0, len(flat), size)]
    return list(flat)


def copy(flat: Sequence[Any], shape: Tuple[int, ...], dtype: str) -> Any:
    """An array of our own."""
    return numpy.array(flat, dtype=dtype).reshape(shape) if numpy else nest(list(flat), shape)
