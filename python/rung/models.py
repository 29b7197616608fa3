# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Model files: reading, writing, and the fast and the exact evaluator."""
import ctypes as C
import json
import os
import struct
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _arrays
from ._library import Error, Evaluator, Numbers, Prompt, Spec, Tensor, call, lib
from .tasks import Batch, Task

_POSITIONS = ["none", "learned", "sinusoidal", "rotary"]
_NORMS = ["none", "rms", "layer"]
_DTYPE_F32 = 2
_SCAN, _STEP = 1, 2
_LETTERS = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "F16": "e"}


def _spec_from_dict(spec: Dict[str, Any]) -> Spec:
    fields = {name for name, _ in Spec._fields_}
    unknown = set(spec) - fields
    if unknown:
        raise ValueError(f"unknown keys in the spec: {', '.join(sorted(unknown))}; known: {', '.join(sorted(fields))}")
    defaults = {"task": "", "mlp": "none", "vocab": 0, "d_in": 0, "d_mlp": 0, "heads": 1, "positions": "none",
                "norm": "none", "causal": True, "thoughts": 0, "norm_epsilon": 0.0}
    merged = {**defaults, **spec}
    merged["positions"] = _POSITIONS.index(merged["positions"]) + 1
    merged["norm"] = _NORMS.index(merged["norm"]) + 1
    for name in ("arch", "task", "mlp"):
        merged[name] = str(merged[name]).encode()
    return Spec(**merged)


def _spec_to_dict(spec: Spec) -> Dict[str, Any]:
    result = {name: getattr(spec, name) for name, _ in Spec._fields_}
    for name in ("arch", "task", "mlp"):
        result[name] = result[name].decode()
    result["positions"], result["norm"] = _POSITIONS[spec.positions - 1], _NORMS[spec.norm - 1]
    return result


def write_random(path: Union[str, os.PathLike], spec: Dict[str, Any], seed: int = 0) -> None:
    """Writes a model file with random weights. spec is a dict like Model.spec."""
    call("rung_model_write_random", os.fsencode(path), C.byref(_spec_from_dict(spec)), seed)


def save(path: Union[str, os.PathLike], spec: Dict[str, Any], tensors: Dict[str, Any],
         made_by: str = "rung from Python") -> None:
    """Writes a model file from a spec and a dict of tensors (numpy, torch or nested lists), stored as F32. Then opens
    the file once, which checks that no tensor is missing and none is superfluous."""
    rows, kept = (Tensor * max(1, len(tensors)))(), []
    for row, (name, values) in zip(rows, tensors.items()):
        numbers = _arrays.read(values)
        memory, address = numbers.c_array(_arrays.REAL)
        kept.append(memory)
        row.name, row.dtype, row.dtype_name, row.rank = name.encode(), _DTYPE_F32, b"F32", len(numbers.shape)
        row.shape[:len(numbers.shape)] = numbers.shape
        row.elements, row.bytes, row.size_bytes = len(numbers.flat), address, 4 * len(numbers.flat)
    call("rung_model_write", os.fsencode(path), C.byref(_spec_from_dict(spec)), rows, len(tensors), made_by.encode())
    Model(path).close()


class Model:
    """An open model file. run() evaluates prompts with the fast evaluator, or exactly in any number format."""

    def __init__(self, path: Union[str, os.PathLike]):
        self.path = os.fspath(path)
        self._handle, self._programs = C.c_void_p(), {}
        self.state_bits: Any = None
        call("rung_model_open", C.byref(self._handle), os.fsencode(path))
        self.spec = _spec_to_dict(lib.rung_model_get_spec(self._handle).contents)

    def close(self) -> None:
        """Frees the model. It may be called twice."""
        for program in self._programs.values():
            lib.rung_program_free(program)
        self._programs = {}
        if self._handle:
            lib.rung_model_close(self._handle)
            self._handle = C.c_void_p()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_programs"):
            self.close()

    def __repr__(self) -> str:
        return f"<rung.Model {self.path}: {self.spec['arch']} for {self.spec['task'] or 'no task'}>"

    @property
    def task(self) -> Task:
        """The task that the file names."""
        return Task.parse(self.spec["task"])

    def tensors(self) -> Dict[str, Any]:
        """Returns all weights by name, as float arrays."""
        with open(self.path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
            data = file.read()
        header.pop("__metadata__", None)
        return {name: _decode(entry, data, name) for name, entry in header.items()}

    def run(self, prompts: Any, numbers: Optional[str] = None, at: Optional[Sequence[int]] = None, step: bool = False,
            lengths: Optional[Sequence[int]] = None) -> Any:
        """Runs one prompt or a batch, and returns the read-outs.

        prompts: one prompt [tokens], or a batch [prompts][tokens]; for a model over features one more dimension of
            size d_in; or a Batch. Any other shape is refused.
        numbers: None for the fast fp32 evaluator, or a format of the exact one such as "bf16", "e8m3", "q3.12".
        at: the positions that are read, the same ones in every prompt; -1 is the last one, which is the default.
        step: True for the step form, False for the scan form.
        lengths: of a batch that is padded, how many tokens of each prompt count. A Batch has its own.

        Returns [len(at)][answers] for one prompt, [prompts][len(at)][answers] for a batch. self.state_bits is then the
        number of carried bits after the prompt, or a list with one number for each prompt.
        """
        if not self._handle:
            raise ValueError("the model is closed")
        if isinstance(prompts, Batch):
            lengths = prompts.lengths if lengths is None else lengths
            prompts = prompts.tokens if self.spec["vocab"] else prompts.features
            if prompts is None:
                raise ValueError("the batch is of another kind: this model reads " +
                                 ("token ids" if self.spec["vocab"] else "features"))
        given = _arrays.read(prompts)
        batch, count, tokens = self._sizes(given)
        used = self._lengths(lengths, count, tokens)
        kind = _arrays.TOKEN if self.spec["vocab"] else _arrays.REAL
        if self.spec["vocab"]:
            self._check_tokens(given, tokens)
        memory, address = given.c_array(kind)
        reads = [-1] if at is None else [int(i) for i in at]
        out = _arrays.Out((count, len(reads), self.spec["answers"]))
        bits = self._run_all(out, address, tokens, used, reads, numbers, _STEP if step else _SCAN)
        del memory
        self.state_bits = bits if batch else bits[0]
        result = out.array()
        return result if batch else result[0]

    def _sizes(self, given: _arrays.Numbers) -> Tuple[bool, int, int]:
        """Whether it is a batch, how many prompts, how many tokens each."""
        inner = () if self.spec["vocab"] else (self.spec["d_in"],)
        outer = given.shape[:len(given.shape) - len(inner)]
        if given.shape[len(outer):] != inner or len(outer) not in (1, 2):
            tail = f", {self.spec['d_in']}" if inner else ""
            raise ValueError(f"the prompts have the shape {list(given.shape)}; this model takes [tokens{tail}] or "
                             f"[prompts, tokens{tail}]")
        if 0 in outer:
            raise ValueError(f"the prompts have the shape {list(given.shape)}: there is nothing to read")
        return len(outer) == 2, outer[0] if len(outer) == 2 else 1, outer[-1]

    @staticmethod
    def _lengths(lengths: Optional[Sequence[int]], count: int, tokens: int) -> List[int]:
        if lengths is None:
            return [tokens] * count
        lengths = [int(n) for n in lengths]
        if len(lengths) != count:
            raise ValueError(f"{len(lengths)} lengths for {count} prompts")
        for index, length in enumerate(lengths):
            if not 1 <= length <= tokens:
                raise ValueError(f"length {length} of prompt {index} is not in 1..{tokens}")
        return lengths

    def _check_tokens(self, given: _arrays.Numbers, tokens: int) -> None:
        if not given.whole:
            raise ValueError("tokens must be integers")
        low, high = given.smallest_and_largest()
        if low < 0 or high >= self.spec["vocab"]:
            bad = low if low < 0 else high
            where = [int(x) for x in given.flat].index(bad)
            raise ValueError(f"token {bad} in prompt {where // tokens}, position {where % tokens}: this model knows the "
                             f"tokens 0 to {self.spec['vocab'] - 1}")

    def _run_all(self, out: _arrays.Out, address: int, tokens: int, used: List[int], reads: List[int],
                 numbers: Optional[str], form: int) -> List[int]:
        session, bits = C.c_void_p(), []
        features = self.spec["d_in"]
        call("rung_session_new", C.byref(session), self._program(numbers), max(used))
        try:
            for row, length in enumerate(used):
                prompt = Prompt(tokens=length)
                start = address + row * tokens * (features or 1) * 4
                if features:
                    prompt.feature = C.cast(start, C.POINTER(C.c_float))
                else:
                    prompt.token = C.cast(start, C.POINTER(C.c_uint32))
                where = (C.c_size_t * max(1, len(reads)))(*_positions(reads, length, row))
                lib.rung_session_reset(session)
                call("rung_session_run", session, out.pointer(row), C.byref(prompt), form, where, len(reads))
                bits.append(lib.rung_session_state_bits(session))
        finally:
            lib.rung_session_free(session)
        return bits

    def _program(self, numbers: Optional[str]) -> C.c_void_p:
        if numbers not in self._programs:
            program, formats, how = C.c_void_p(), Numbers(), Evaluator()
            if numbers is not None:
                call("rung_numbers_parse", C.byref(formats), numbers.encode())
                how.numbers = how.mixed = C.addressof(formats)
            call("rung_program_new", C.byref(program), self._handle, C.byref(how))
            self._programs[numbers] = program
        return self._programs[numbers]


def _positions(reads: List[int], length: int, row: int) -> List[int]:
    for position in reads:
        if not -length <= position < length:
            raise ValueError(f"position {position} of prompt {row}, which has {length} tokens")
    return [position % length for position in reads]


def _decode(entry: Dict[str, Any], data: bytes, name: str) -> Any:
    start, end = entry["data_offsets"]
    if entry["dtype"] not in _LETTERS:
        raise Error(3, f"tensor {name}: {entry['dtype']} is not decoded in Python")
    letter = _LETTERS[entry["dtype"]]
    count = (end - start) // struct.calcsize(letter)
    values = struct.unpack(f"<{count}{letter}", data[start:end])
    return _arrays.copy(values, tuple(entry["shape"]) or (1,), "int64" if letter in "qi" else "float32")
