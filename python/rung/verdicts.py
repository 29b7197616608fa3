# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""What the command says of layers and models, as dataclasses. `raw` is byte for byte what `rung ... --json` prints."""
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _command
from ._library import Error

Path = Union[str, os.PathLike]


@dataclass(frozen=True)
class Record:
    """What all records have."""

    raw: bytes = field(repr=False)
    """The bytes that the command prints with --json."""
    json: Dict[str, Any] = field(repr=False)
    """The same, read: everything that the attributes below do not name."""


@dataclass(frozen=True)
class Theorem:
    """One row of the registry of theorems, with the numbers of the claim filled in."""

    id: str
    applies: bool
    verdict: str
    statement: Optional[str]
    premise: Optional[str]
    """Why the theorem does not apply, or under which condition it does."""
    n_threshold: Optional[float]
    """The smallest number of tokens from which on it would say CANNOT; None: it was not found."""
    source: str
    checked: str
    """How far its proof has been checked."""


@dataclass(frozen=True)
class Bound(Record):
    """A verdict about layers and a task, and what the layers hold. Without a task the verdict is None."""

    layers: str
    verdict: Optional[str]
    """CANNOT, CAN, SAMPLED or UNKNOWN."""
    basis: Optional[str]
    """What it rests on: theorem, proof, every-prompt, sample, certificate."""
    by: Optional[str]
    """The theorem, or the arguments of `rung build` that make the weights."""
    shown: Optional[str]
    """What was shown, with its numbers."""
    about: Optional[str]
    """The arithmetic that the verdict is about."""
    theorems: Tuple[Theorem, ...] = field(repr=False)

    @property
    def ledger(self) -> Dict[str, Any]:
        """What the layers hold; numbers name their unit."""
        return self.json["ledger"]


def bound(layers: Any, task: Any = None, *, n: Optional[int] = None, **options: Any) -> Bound:
    """What layers hold, and what they provably can or cannot do: `rung bound`.

    layers: a text such as "full,4*linear", a config.json, a GGUF or .safetensors file, or a Model.
    task: a Task, or a text such as "seqcomp L=2"; None: the ledger alone.
    n: any size of the task with at most so many tokens.
    options: those of `rung bound --help` with _ for -, such as head_dim=2, bits=26, no_weights=True.
    """
    raw, found = _command.record(["bound", _command.subject(layers), *_command.task(task),
                                  *_command.options({"n": n, **options})])
    verdict = None if task is None else found["verdict"]
    return Bound(raw, found, found["order"], verdict, found.get("basis"), found.get("by"),
                 found.get("shown"), found.get("about"), tuple(_theorem(row) for row in found["theorems"]))


def decide(layers: Any, task: Any, *, n: Optional[int] = None, **options: Any) -> str:
    """The verdict alone: "CANNOT", "CAN", "SAMPLED" or "UNKNOWN"."""
    verdict = bound(layers, task, n=n, **options).verdict
    if verdict is None:
        raise ValueError("a verdict needs a task")
    return verdict


def _theorem(row: Dict[str, Any]) -> Theorem:
    return Theorem(**{name: row.get(name) for name in Theorem.__dataclass_fields__})


@dataclass(frozen=True)
class Card(Record):
    """What a model holds, reads, can and cannot do."""

    layers: str
    context: int
    """Tokens of one sequence."""
    held_bytes: int
    """What all layers hold of one sequence. Weights are not counted."""
    read_bytes: int
    """What all layers read to decode one token."""
    growth_bytes: int
    """What all caches gain per token."""


def card(layers: Any, *, context: Optional[int] = None, **options: Any) -> Card:
    """Memory, savings and abilities of a model: `rung card`. Options are those of `rung card --help`."""
    raw, found = _command.record(["card", _command.subject(layers), *_command.options({"context": context, **options})])
    first = found["cards"][0]
    memory = first["memory"]
    return Card(raw, found, first["order"], first["context_tokens"], memory["held_by_one_sequence"]["total_bytes"],
                memory["read_for_one_token"]["total_bytes"], memory["growth_bytes_per_token"])


@dataclass(frozen=True)
class Verification(Record):
    """How many prompts a model answers right, or a proof about all of them."""

    method: str
    """exhaustive, sampled or worst-case."""
    complete: bool
    numbers: str
    prompts: Optional[int]
    wrong: Optional[int]
    error_interval: Optional[Tuple[float, float]]
    """Share of wrong prompts: exact if every prompt was run, of a sample the 95 % interval. None for a worst case."""
    verdict: Optional[str]
    """Of a worst case: CAN, CANNOT or UNKNOWN."""
    reason: Optional[str]

    @property
    def right(self) -> bool:
        """Every prompt that was run was answered right, or the worst case is proved. A sample proves nothing."""
        return self.verdict == "CAN" if self.method == "worst-case" else self.complete and self.wrong == 0


def verify(model: Any, task: Any = None, **options: Any) -> Verification:
    """Is a model right: `rung verify`. Options such as numbers="e8m3", exhaustive=True, samples=1000, worst_case=True."""
    raw, found = _command.record(["verify", _command.subject(model), *_command.task(task), *_command.options(options)])
    interval = found.get("error_interval_95") or found.get("error_interval")
    return Verification(raw, found, found["method"], found["complete"], found["numbers"], found.get("prompts"),
                        found.get("wrong"), tuple(interval) if interval else None, found.get("verdict"),
                        found.get("reason"))


@dataclass(frozen=True)
class Break(Record):
    """What a search for a failure has found."""

    verdict: str
    """CANNOT: a failure was found. UNKNOWN: none was found, which says nothing about the model."""
    attack: Optional[str]
    kind: Optional[str]
    statement: Optional[str]
    certificate: Optional[str]
    """The file; None: nothing was found, or rung-check cannot check it."""

    @property
    def found(self) -> bool:
        """A failure was found."""
        return self.verdict == "CANNOT"


def break_(model: Any, out: Path, task: Any = None, **options: Any) -> Break:
    """Searches for prompts on which a model fails, and writes a certificate to `out`: `rung break`.

    Options such as numbers="e8m4", budget=10, attack="climb", kind="state-collision".
    """
    raw, found = _command.record(["break", _command.subject(model), *_command.task(task), "-o", os.fspath(out),
                                  *_command.options(options)])
    return Break(raw, found, found["verdict"], found.get("attack"), found.get("kind"), found.get("statement"),
                 found.get("certificate"))


@dataclass(frozen=True)
class Check:
    """What rung-check says of a certificate. It shares no code with the rest of rung."""

    accepted: bool
    text: str
    """All that it prints."""

    def __bool__(self) -> bool:
        return self.accepted


def check(certificate: Path, model: Any, *, max_work: Optional[int] = None) -> Check:
    """Checks a certificate of failure with rung-check. Error if a file cannot be read or has another form."""
    code, out, messages = _command.start("rung-check", [*_command.options({"max_work": max_work}), os.fspath(certificate),
                                                        _command.subject(model)])
    said = (out.decode("utf-8", "replace") + messages).strip()
    if code not in (10, 20):
        raise Error(code, said)
    return Check(code == 10, said)


@dataclass(frozen=True)
class Comparison(Record):
    """Ledgers of several architectures."""

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """One dict per architecture."""
        return self.json["results"]


def compare(*layers: Any, **options: Any) -> Comparison:
    """Ledgers of several architectures side by side: `rung compare`."""
    return Comparison(*_command.record(["compare", *map(_command.subject, layers), *_command.options(options)]))
