# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Tasks and batches of their prompts."""
import ctypes as C
from dataclasses import dataclass
from typing import Any, Callable, List, Optional

from . import _arrays
from ._library import NO_TARGET, Instance, TaskConf, call, lib, text


@dataclass(frozen=True)
class Batch:
    """Prompts of one task, padded to the longest.

    tokens [prompts][tokens], or features [prompts][tokens][d_in]; the other one is None.
    targets [prompts][tokens]: the right answers, -1 at tokens without one.
    target_values [prompts][tokens][d_out]: for tasks whose answers are vectors, else None.
    lengths: the number of tokens of each prompt before the padding.
    """

    tokens: Any
    features: Any
    targets: Any
    target_values: Any
    lengths: List[int]

    def __len__(self) -> int:
        return len(self.lengths)


class Task:
    """A task with its parameters: Task("seqcomp", L=2, N0=4, n=[4])."""

    def __init__(self, name: str, **params: Any):
        self._conf = TaskConf()
        self.name, self.words = name, [f"{key}={_word(value)}" for key, value in params.items()]
        array = (C.c_char_p * max(1, len(self.words)))(*[word.encode() for word in self.words])
        call("rung_task_conf_init", C.byref(self._conf), name.encode(), array, len(self.words))

    @classmethod
    def parse(cls, canonical: str) -> "Task":
        """Makes a task from the canonical text in a model file: Task.parse("eva N=16 V=16 ...")."""
        task = cls.__new__(cls)
        task._conf = TaskConf()
        call("rung_task_conf_parse", C.byref(task._conf), canonical.encode())
        task.name, *task.words = canonical.split()
        return task

    @property
    def tokens(self) -> int:
        """Tokens of the longest prompt."""
        return self._conf.tokens

    @property
    def vocab(self) -> int:
        """Number of different tokens; 0: the task has features."""
        return self._conf.vocab

    @property
    def answers(self) -> int:
        """Number of different answers; 0: answers are vectors."""
        return self._conf.answers

    @property
    def d_in(self) -> int:
        """Features of one token; 0: the task has token ids."""
        return self._conf.d_in

    @property
    def d_out(self) -> int:
        """Numbers of an answer that is a vector; 0: answers are ids."""
        return self._conf.d_out

    @property
    def chance(self) -> float:
        """Accuracy of a guess that does not look at the prompt."""
        return self._conf.chance

    @property
    def majority(self) -> float:
        """Accuracy of the most frequent answer."""
        return self._conf.majority

    def __str__(self) -> str:
        return text(lib.rung_task_canonical, C.byref(self._conf))

    def __repr__(self) -> str:
        return f"<rung.Task {self}>"

    def _make(self, seed: int, index: int, take: Callable[[Instance], Any]) -> Any:
        instance = Instance()
        call("rung_instance_init", C.byref(instance), C.byref(self._conf))
        try:
            call("rung_task_make", C.byref(instance), C.byref(self._conf), seed, index)
            return take(instance)
        finally:
            lib.rung_instance_clear(C.byref(instance))

    def text(self, seed: int = 0, index: int = 0) -> str:
        """Returns one prompt as words."""
        return self._make(seed, index, lambda i: text(lib.rung_task_symbols_write, C.byref(i), C.byref(self._conf)))

    def batch(self, count: int, seed: int = 0, first: int = 0) -> Batch:
        """Makes prompts first .. first+count-1 of the seed, padded with token 0 and target -1."""
        longest = self.tokens
        tokens, features, targets, values, lengths = [], [], [], [], []

        def take(instance):
            used, pad = instance.tokens, longest - instance.tokens
            lengths.append(used)
            targets.append(instance.target[:used] + [NO_TARGET] * pad)
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


def _word(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _rows(rows: List[List[Any]], width: Optional[int], dtype: str) -> Any:
    if not rows:
        return None
    flat = [x for row in rows for x in row]
    shape = (len(rows), len(rows[0]) // width, width) if width else (len(rows), len(rows[0]))
    return _arrays.copy(flat, shape, dtype)
