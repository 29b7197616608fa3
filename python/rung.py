# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""rung from Python: task batches, model files and both evaluators, through the C library.

    import rung
    task = rung.Task("eva", N=16)
    batch = task.batch(32, seed=1)              # batch.tokens, batch.targets
    model = rung.Model("m.safetensors")
    logits = model.run(batch.tokens[0])         # fast fp32, read-out at the last token
    logits = model.run(batch.tokens[0], numbers="e8m3", at=[3, 7])
    rung.save("copy.safetensors", model.spec, model.tensors())

Arrays are numpy arrays when numpy is installed and lists otherwise; torch tensors are accepted wherever numbers are.
The library is found through RUNG_LIBRARY, then beside this file's build directory, then by the system's loader.
"""
import ctypes as C
import json
import os
import struct

try:
    import numpy
except ImportError:
    numpy = None

__all__ = ["Error", "Task", "Batch", "Model", "save", "write_random", "version"]

_LIST_MAX, _PARAM_MAX, _RANK_MAX, _NO_TARGET = 16, 16, 8, -1
_PLAYERS_MAX = _LIST_MAX + 4


class Error(Exception):
    """An error of the library. str() is its message; `status` is the exit code of the command line tool."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


# ---- structs of the public headers; tests/python compares their sizes with the C compiler's ----------------------


class _Error(C.Structure):
    _fields_ = [("text", C.c_char * 512)]


class _Value(C.Structure):
    _fields_ = [("set", C.c_bool), ("number", C.c_int64), ("list", C.c_int64 * _LIST_MAX), ("list_len", C.c_size_t),
                ("real", C.c_double)]


class _TaskConf(C.Structure):
    _fields_ = [("task", C.c_void_p), ("params", _Value * _PARAM_MAX)] + \
        [(name, C.c_size_t) for name in ("tokens", "vocab", "answers", "d_in", "d_out")] + \
        [("chance", C.c_double), ("majority", C.c_double), ("derived", C.c_size_t * _LIST_MAX)]


class _Span(C.Structure):
    _fields_ = [("name", C.c_char * 16), ("start", C.c_size_t), ("len", C.c_size_t)]


class _Instance(C.Structure):
    _fields_ = [("tokens", C.c_size_t), ("token", C.POINTER(C.c_uint32)), ("feature", C.POINTER(C.c_float)),
                ("target", C.POINTER(C.c_int32)), ("target_value", C.POINTER(C.c_float)),
                ("player_count", C.c_size_t), ("player", _Span * _PLAYERS_MAX)]


class _Buf(C.Structure):
    _fields_ = [("text", C.c_char_p), ("len", C.c_size_t), ("cap", C.c_size_t), ("failed", C.c_bool)]


class _Fmt(C.Structure):
    _fields_ = [("kind", C.c_int), ("exponent_bits", C.c_int), ("mantissa_bits", C.c_int), ("integer_bits", C.c_int),
                ("fraction_bits", C.c_int), ("bits", C.c_int), ("name", C.c_char * 16), ("private", C.c_uint64 * 16)]


class _Spec(C.Structure):
    _fields_ = [("arch", C.c_char_p), ("task", C.c_char_p), ("mlp", C.c_char_p)] + \
        [(name, C.c_size_t) for name in ("vocab", "d_in", "answers", "max_tokens", "d_model", "d_mlp", "heads", "dk",
                                         "dv")] + \
        [("positions", C.c_int), ("norm", C.c_int), ("causal", C.c_bool), ("thoughts", C.c_size_t)]


class _Tensor(C.Structure):
    _fields_ = [("name", C.c_char_p), ("dtype", C.c_int), ("dtype_name", C.c_char_p), ("rank", C.c_size_t),
                ("shape", C.c_size_t * _RANK_MAX), ("elements", C.c_size_t), ("bytes", C.c_void_p),
                ("size_bytes", C.c_size_t)]


class _Prompt(C.Structure):
    _fields_ = [("token", C.POINTER(C.c_uint32)), ("feature", C.POINTER(C.c_float)), ("tokens", C.c_size_t)]


class _Evaluator(C.Structure):
    _fields_ = [("numbers", C.c_void_p), ("softmax", C.c_int), ("threads", C.c_size_t)]


STRUCTS = {"rung_error": _Error, "rung_value": _Value, "rung_task_conf": _TaskConf, "rung_span": _Span,
           "rung_instance": _Instance, "rung_buf": _Buf, "rung_model_spec": _Spec, "rung_tensor": _Tensor,
           "rung_prompt": _Prompt, "rung_evaluator": _Evaluator}
# rung_fmt is missing: only its first fields are declared, and the struct need only be large enough.

_POSITIONS = ["none", "learned", "sinusoidal", "rotary"]
_NORMS = ["none", "rms", "layer"]
_DTYPE_F32 = 2


# ---- the library -------------------------------------------------------------------------------------------------


def _find_library():
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (os.environ.get("RUNG_LIBRARY"), os.path.join(here, "..", "build", "librung.so.0")):
        if path and os.path.exists(path):
            return C.CDLL(path)
    try:
        return C.CDLL("librung.so.0")
    except OSError as problem:
        raise ImportError("librung.so.0 was not found: run 'make', or set RUNG_LIBRARY to its path") from problem


_lib = _find_library()
_p = C.POINTER
_STATUS_FUNCTIONS = {
    "rung_task_conf_init": [_p(_TaskConf), C.c_char_p, _p(C.c_char_p), C.c_size_t],
    "rung_task_conf_parse": [_p(_TaskConf), C.c_char_p],
    "rung_instance_init": [_p(_Instance), _p(_TaskConf)],
    "rung_task_make": [_p(_Instance), _p(_TaskConf), C.c_uint64, C.c_uint64],
    "rung_fmt_parse": [_p(_Fmt), C.c_char_p],
    "rung_model_open": [_p(C.c_void_p), C.c_char_p],
    "rung_model_write": [C.c_char_p, _p(_Spec), _p(_Tensor), C.c_size_t, C.c_char_p],
    "rung_model_write_random": [C.c_char_p, _p(_Spec), C.c_uint64],
    "rung_program_new": [_p(C.c_void_p), C.c_void_p, _p(_Evaluator)],
    "rung_session_new": [_p(C.c_void_p), C.c_void_p, C.c_size_t],
    "rung_session_run": [C.c_void_p, _p(C.c_double), _p(_Prompt), C.c_int, _p(C.c_size_t), C.c_size_t],
}
for _name, _types in _STATUS_FUNCTIONS.items():
    getattr(_lib, _name).argtypes = _types + [_p(_Error)]
    getattr(_lib, _name).restype = C.c_int
for _name in ("rung_model_close", "rung_program_free", "rung_session_free"):
    getattr(_lib, _name).argtypes, getattr(_lib, _name).restype = [C.c_void_p], None
_lib.rung_instance_clear.argtypes, _lib.rung_instance_clear.restype = [_p(_Instance)], None
_lib.rung_task_canonical.argtypes, _lib.rung_task_canonical.restype = [_p(_Buf), _p(_TaskConf)], None
_lib.rung_task_symbols_write.argtypes = [_p(_Buf), _p(_Instance), _p(_TaskConf)]
_lib.rung_task_symbols_write.restype = None
for _name in ("rung_buf_init", "rung_buf_clear"):
    getattr(_lib, _name).argtypes, getattr(_lib, _name).restype = [_p(_Buf)], None
_lib.rung_model_get_spec.argtypes, _lib.rung_model_get_spec.restype = [C.c_void_p], _p(_Spec)
_lib.rung_session_state_bits.argtypes, _lib.rung_session_state_bits.restype = [C.c_void_p], C.c_uint64


def _call(name, *arguments):
    error = _Error()
    status = getattr(_lib, name)(*arguments, C.byref(error))
    if status:
        raise Error(status, error.text.decode("utf-8", "replace"))


def _text(function, *arguments):
    buf = _Buf()
    _lib.rung_buf_init(C.byref(buf))
    try:
        function(C.byref(buf), *arguments)
        return (buf.text or b"").decode("utf-8")
    finally:
        _lib.rung_buf_clear(C.byref(buf))


def _array(pointer, shape, dtype):
    """Copies C memory into a numpy array, or into nested lists if numpy is missing."""
    count = 1
    for size in shape:
        count *= size
    flat = list(pointer[:count])
    if numpy:
        return numpy.array(flat, dtype=dtype).reshape(shape)
    for size in reversed(shape[1:]):
        flat = [flat[i:i + size] for i in range(0, len(flat), size)]
    return flat


def _flat(values):
    """Flattens nested numbers (lists, numpy, torch). Returns one list and the shape."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    if hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, (list, tuple)):
        return [values], ()
    if not values or not isinstance(values[0], (list, tuple)):
        return list(values), (len(values),)
    parts = [_flat(row) for row in values]
    if any(shape != parts[0][1] for _, shape in parts):
        raise ValueError("rows of different lengths")
    return [x for flat, _ in parts for x in flat], (len(values),) + parts[0][1]


# ---- tasks -------------------------------------------------------------------------------------------------------


class Batch:
    """Prompts of one task, padded to the longest: tokens (or features), targets (-1 at tokens without one), lengths."""

    def __init__(self, tokens, features, targets, target_values, lengths):
        self.tokens, self.features, self.targets = tokens, features, targets
        self.target_values, self.lengths = target_values, lengths

    def __len__(self):
        return len(self.lengths)


class Task:
    """A task with its parameters: Task("seqcomp", L=2, N0=4, n=[4])."""

    def __init__(self, name, **params):
        self._conf = _TaskConf()
        words = [f"{key}={','.join(map(str, v)) if isinstance(v, (list, tuple)) else v}" for key, v in params.items()]
        array = (C.c_char_p * max(1, len(words)))(*[word.encode() for word in words])
        _call("rung_task_conf_init", C.byref(self._conf), name.encode(), array, len(words))

    @classmethod
    def parse(cls, canonical):
        """Makes a task from the canonical text in a model file: Task.parse("eva N=16 V=16 ...")."""
        task = cls.__new__(cls)
        task._conf = _TaskConf()
        _call("rung_task_conf_parse", C.byref(task._conf), canonical.encode())
        return task

    tokens = property(lambda self: self._conf.tokens)
    vocab = property(lambda self: self._conf.vocab)
    answers = property(lambda self: self._conf.answers)
    d_in = property(lambda self: self._conf.d_in)
    d_out = property(lambda self: self._conf.d_out)
    chance = property(lambda self: self._conf.chance)
    majority = property(lambda self: self._conf.majority)

    def __str__(self):
        return _text(_lib.rung_task_canonical, C.byref(self._conf))

    def __repr__(self):
        return f"<rung.Task {self}>"

    def _make(self, seed, index, take):
        instance = _Instance()
        _call("rung_instance_init", C.byref(instance), C.byref(self._conf))
        try:
            _call("rung_task_make", C.byref(instance), C.byref(self._conf), seed, index)
            return take(instance)
        finally:
            _lib.rung_instance_clear(C.byref(instance))

    def text(self, seed=0, index=0):
        """Returns one prompt as words."""
        return self._make(seed, index, lambda i: _text(_lib.rung_task_symbols_write, C.byref(i), C.byref(self._conf)))

    def batch(self, count, seed=0, first=0):
        """Makes prompts first .. first+count-1 of the seed, padded with token 0 and target -1."""
        longest = self.tokens
        tokens, features, targets, values, lengths = [], [], [], [], []

        def take(instance):
            used, pad = instance.tokens, longest - instance.tokens
            lengths.append(used)
            targets.append(instance.target[:used] + [_NO_TARGET] * pad)
            if self.vocab:
                tokens.append(instance.token[:used] + [0] * pad)
            if self.d_in:
                features.append(instance.feature[:used * self.d_in] + [0.0] * (pad * self.d_in))
            if self.d_out:
                values.append(instance.target_value[:used * self.d_out] + [0.0] * (pad * self.d_out))

        for index in range(first, first + count):
            self._make(seed, index, take)
        return Batch(_rows(tokens, None, "int64"), _rows(features, self.d_in, "float32"),
                     _rows(targets, None, "int64"), _rows(values, self.d_out, "float32"), lengths)


def _rows(rows, width, dtype):
    if not rows:
        return None
    if numpy:
        array = numpy.array(rows, dtype=dtype)
        return array.reshape(len(rows), -1, width) if width else array
    if width:
        return [[row[i:i + width] for i in range(0, len(row), width)] for row in rows]
    return rows


# ---- models ------------------------------------------------------------------------------------------------------


def _spec_from_dict(spec):
    fields = {name for name, _ in _Spec._fields_}
    unknown = set(spec) - fields
    if unknown:
        raise ValueError(f"unknown keys in the spec: {', '.join(sorted(unknown))}; known: {', '.join(sorted(fields))}")
    defaults = {"task": "", "mlp": "none", "vocab": 0, "d_in": 0, "d_mlp": 0, "heads": 1, "positions": "none",
                "norm": "none", "causal": True, "thoughts": 0}
    merged = {**defaults, **spec}
    merged["positions"] = _POSITIONS.index(merged["positions"]) + 1
    merged["norm"] = _NORMS.index(merged["norm"]) + 1
    for name in ("arch", "task", "mlp"):
        merged[name] = merged[name].encode()
    return _Spec(**merged)


def _spec_to_dict(spec):
    result = {name: getattr(spec, name) for name, _ in _Spec._fields_}
    for name in ("arch", "task", "mlp"):
        result[name] = result[name].decode()
    result["positions"], result["norm"] = _POSITIONS[spec.positions - 1], _NORMS[spec.norm - 1]
    return result


def write_random(path, spec, seed=0):
    """Writes a model file with random weights. spec is a dict like Model.spec."""
    _call("rung_model_write_random", os.fsencode(path), C.byref(_spec_from_dict(spec)), seed)


def save(path, spec, tensors, made_by="rung.py"):
    """Writes a model file from a spec and a dict of tensors (numpy, torch or nested lists), stored as F32. Then opens
    the file once, which checks that no tensor is missing and none is superfluous."""
    rows, kept = (_Tensor * max(1, len(tensors)))(), []
    for row, (name, values) in zip(rows, tensors.items()):
        flat, shape = _flat(values)
        data = (C.c_float * max(1, len(flat)))(*flat)
        kept.append(data)
        row.name, row.dtype, row.dtype_name, row.rank = name.encode(), _DTYPE_F32, b"F32", len(shape)
        row.shape[:len(shape)] = shape
        row.elements, row.bytes, row.size_bytes = len(flat), C.addressof(data), 4 * len(flat)
    _call("rung_model_write", os.fsencode(path), C.byref(_spec_from_dict(spec)), rows, len(tensors), made_by.encode())
    Model(path).close()


class Model:
    """An open model file. run() evaluates prompts with the fast evaluator, or exactly in any number format."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self._handle, self._programs = C.c_void_p(), {}
        _call("rung_model_open", C.byref(self._handle), os.fsencode(path))
        self.spec = _spec_to_dict(_lib.rung_model_get_spec(self._handle).contents)

    def close(self):
        for program in self._programs.values():
            _lib.rung_program_free(program)
        self._programs = {}
        if self._handle:
            _lib.rung_model_close(self._handle)
            self._handle = C.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if hasattr(self, "_programs"):
            self.close()

    @property
    def task(self):
        return Task.parse(self.spec["task"])

    def tensors(self):
        """Returns all weights by name, as float arrays."""
        with open(self.path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
            data = file.read()
        header.pop("__metadata__", None)
        return {name: _decode(entry, data, name) for name, entry in header.items()}

    def _program(self, numbers):
        if numbers not in self._programs:
            program, fmt, how = C.c_void_p(), _Fmt(), _Evaluator()
            if numbers is not None:
                _call("rung_fmt_parse", C.byref(fmt), numbers.encode())
                how.numbers = C.addressof(fmt)
            _call("rung_program_new", C.byref(program), self._handle, C.byref(how))
            self._programs[numbers] = program
        return self._programs[numbers]

    def run(self, prompt, numbers=None, at=None, step=False):
        """Runs a prompt. Returns the read-out [len(at)][answers] at the positions `at` (default: the last one).

        prompt: token ids, or a [tokens][d_in] array of features. numbers: None for the fast fp32 evaluator, or a
        format of the exact one such as "bf16", "e8m3", "q3.12". step: True for the step form, else the scan form.
        Sets self.state_bits to the carried bits after the prompt."""
        flat, shape = _flat(prompt)
        count = shape[0] if shape else 0
        at = [count - 1] if at is None else [int(i) for i in at]
        row = _Prompt(tokens=count)
        if self.spec["vocab"]:
            row.token = (C.c_uint32 * max(1, len(flat)))(*[int(x) for x in flat])
        else:
            if len(flat) != count * self.spec["d_in"]:
                raise ValueError(f"features must be [tokens][{self.spec['d_in']}]")
            row.feature = (C.c_float * max(1, len(flat)))(*flat)
        answers, session = self.spec["answers"], C.c_void_p()
        out, where = (C.c_double * max(1, len(at) * answers))(), (C.c_size_t * max(1, len(at)))(*at)
        _call("rung_session_new", C.byref(session), self._program(numbers), max(1, count))
        try:
            _call("rung_session_run", session, out, C.byref(row), 2 if step else 1, where, len(at))
            self.state_bits = _lib.rung_session_state_bits(session)
        finally:
            _lib.rung_session_free(session)
        return _array(out, (len(at), answers), "float64")


def _decode(entry, data, name):
    letters = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "F16": "e"}
    start, end = entry["data_offsets"]
    if entry["dtype"] not in letters:
        raise Error(3, f"tensor {name}: {entry['dtype']} is not decoded in Python")
    letter = letters[entry["dtype"]]
    count = (end - start) // struct.calcsize(letter)
    values = struct.unpack(f"<{count}{letter}", data[start:end])
    return _array(values, tuple(entry["shape"]) or (1,), "int64" if letter in "qi" else "float32")


def version():
    """The version of the library."""
    return _lib.rung_version().decode()


_lib.rung_version.argtypes, _lib.rung_version.restype = [], C.c_char_p
