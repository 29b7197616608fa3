# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""librung through ctypes: the structs of the public headers, and the functions that this package calls."""
import ctypes as C
import os
from typing import Any, Iterator

LIST_MAX, PARAM_MAX, RANK_MAX, NO_TARGET = 16, 16, 8, -1
_PLAYERS_MAX = LIST_MAX + 4
SONAME = "librung.so.0"


class Error(Exception):
    """An error of rung. str() is its message; `status` is the exit code of the command."""

    __module__ = "rung"

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


# ---- structs of the public headers; tests/python compares their sizes with the C compiler's ----------------------


class ErrorText(C.Structure):
    _fields_ = [("text", C.c_char * 512)]


class Value(C.Structure):
    _fields_ = [("set", C.c_bool), ("number", C.c_int64), ("list", C.c_int64 * LIST_MAX), ("list_len", C.c_size_t),
                ("real", C.c_double)]


class TaskConf(C.Structure):
    _fields_ = [("task", C.c_void_p), ("params", Value * PARAM_MAX)] + \
        [(name, C.c_size_t) for name in ("tokens", "vocab", "answers", "d_in", "d_out")] + \
        [("chance", C.c_double), ("majority", C.c_double), ("derived", C.c_size_t * LIST_MAX)]


class Span(C.Structure):
    _fields_ = [("name", C.c_char * 16), ("start", C.c_size_t), ("len", C.c_size_t)]


class Instance(C.Structure):
    _fields_ = [("tokens", C.c_size_t), ("token", C.POINTER(C.c_uint32)), ("feature", C.POINTER(C.c_float)),
                ("target", C.POINTER(C.c_int32)), ("target_value", C.POINTER(C.c_float)),
                ("player_count", C.c_size_t), ("player", Span * _PLAYERS_MAX)]


class Buf(C.Structure):
    _fields_ = [("text", C.c_char_p), ("len", C.c_size_t), ("cap", C.c_size_t), ("failed", C.c_bool)]


class Fmt(C.Structure):
    """rung_fmt. Only its first fields are declared; the struct need only be large enough."""
    _fields_ = [("kind", C.c_int), ("exponent_bits", C.c_int), ("mantissa_bits", C.c_int), ("integer_bits", C.c_int),
                ("fraction_bits", C.c_int), ("bits", C.c_int), ("name", C.c_char * 16), ("private", C.c_uint64 * 16)]


class Numbers(C.Structure):
    """rung_numbers, which begins with a rung_fmt. The struct need only be large enough."""
    _fields_ = [("acc", Fmt), ("private", C.c_uint64 * 512)]


class Spec(C.Structure):
    _fields_ = [("arch", C.c_char_p), ("task", C.c_char_p), ("mlp", C.c_char_p)] + \
        [(name, C.c_size_t) for name in ("vocab", "d_in", "answers", "max_tokens", "d_model", "d_mlp", "heads", "dk",
                                         "dv")] + \
        [("positions", C.c_int), ("norm", C.c_int), ("causal", C.c_bool), ("thoughts", C.c_size_t),
         ("norm_epsilon", C.c_double)]


class Tensor(C.Structure):
    _fields_ = [("name", C.c_char_p), ("dtype", C.c_int), ("dtype_name", C.c_char_p), ("rank", C.c_size_t),
                ("shape", C.c_size_t * RANK_MAX), ("elements", C.c_size_t), ("bytes", C.c_void_p),
                ("size_bytes", C.c_size_t)]


class Prompt(C.Structure):
    _fields_ = [("token", C.POINTER(C.c_uint32)), ("feature", C.POINTER(C.c_float)), ("tokens", C.c_size_t)]


class Evaluator(C.Structure):
    _fields_ = [("numbers", C.c_void_p), ("mixed", C.c_void_p), ("softmax", C.c_int), ("threads", C.c_size_t)]


STRUCTS = {"rung_error": ErrorText, "rung_value": Value, "rung_task_conf": TaskConf, "rung_span": Span,
           "rung_instance": Instance, "rung_buf": Buf, "rung_model_spec": Spec, "rung_tensor": Tensor,
           "rung_prompt": Prompt, "rung_evaluator": Evaluator}


# ---- the library -------------------------------------------------------------------------------------------------


def _places() -> Iterator[str]:
    """RUNG_LIBRARY, beside this file (a wheel), the build directory of a clone, the lib of the prefix."""
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.environ.get("RUNG_LIBRARY", "")
    yield os.path.join(here, "_native", SONAME)
    yield os.path.join(here, "..", "..", "build", SONAME)
    yield os.path.join(here, "..", "..", "..", SONAME)


def _find_library() -> C.CDLL:
    for path in _places():
        if path and os.path.exists(path):
            return C.CDLL(path)
    try:
        return C.CDLL(SONAME)
    except OSError as problem:
        raise ImportError(f"{SONAME} was not found: run 'make', or set RUNG_LIBRARY to its path") from problem


lib = _find_library()
_p = C.POINTER
_STATUS_FUNCTIONS = {
    "rung_task_conf_init": [_p(TaskConf), C.c_char_p, _p(C.c_char_p), C.c_size_t],
    "rung_task_conf_parse": [_p(TaskConf), C.c_char_p],
    "rung_instance_init": [_p(Instance), _p(TaskConf)],
    "rung_task_make": [_p(Instance), _p(TaskConf), C.c_uint64, C.c_uint64],
    "rung_numbers_parse": [_p(Numbers), C.c_char_p],
    "rung_model_open": [_p(C.c_void_p), C.c_char_p],
    "rung_model_write": [C.c_char_p, _p(Spec), _p(Tensor), C.c_size_t, C.c_char_p],
    "rung_model_write_random": [C.c_char_p, _p(Spec), C.c_uint64],
    "rung_program_new": [_p(C.c_void_p), C.c_void_p, _p(Evaluator)],
    "rung_session_new": [_p(C.c_void_p), C.c_void_p, C.c_size_t],
    "rung_session_run": [C.c_void_p, _p(C.c_double), _p(Prompt), C.c_int, _p(C.c_size_t), C.c_size_t],
}
_OTHER_FUNCTIONS = {
    "rung_model_close": (None, [C.c_void_p]),
    "rung_program_free": (None, [C.c_void_p]),
    "rung_session_free": (None, [C.c_void_p]),
    "rung_session_reset": (None, [C.c_void_p]),
    "rung_session_state_bits": (C.c_uint64, [C.c_void_p]),
    "rung_instance_clear": (None, [_p(Instance)]),
    "rung_task_canonical": (None, [_p(Buf), _p(TaskConf)]),
    "rung_task_symbols_write": (None, [_p(Buf), _p(Instance), _p(TaskConf)]),
    "rung_buf_init": (None, [_p(Buf)]),
    "rung_buf_clear": (None, [_p(Buf)]),
    "rung_model_get_spec": (_p(Spec), [C.c_void_p]),
    "rung_version": (C.c_char_p, []),
}
for _name, _types in _STATUS_FUNCTIONS.items():
    getattr(lib, _name).argtypes, getattr(lib, _name).restype = _types + [_p(ErrorText)], C.c_int
for _name, (_result, _types) in _OTHER_FUNCTIONS.items():
    getattr(lib, _name).argtypes, getattr(lib, _name).restype = _types, _result


def call(name: str, *arguments: Any) -> None:
    """Calls a function that returns a status, and raises Error with its message."""
    error = ErrorText()
    status = getattr(lib, name)(*arguments, C.byref(error))
    if status:
        raise Error(status, error.text.decode("utf-8", "replace"))


def text(function: Any, *arguments: Any) -> str:
    """What a function writes into a buffer."""
    buf = Buf()
    lib.rung_buf_init(C.byref(buf))
    try:
        function(C.byref(buf), *arguments)
        return (buf.text or b"").decode("utf-8")
    finally:
        lib.rung_buf_clear(C.byref(buf))


def version() -> str:
    """The version of the library."""
    return lib.rung_version().decode()
