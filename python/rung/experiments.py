# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Training, sweeps and their results."""
import json
import os
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union

from . import _command
from .models import Model
from .verdicts import Record

Path = Union[str, os.PathLike]


@dataclass(frozen=True)
class Training(Record):
    """A finished run."""

    path: str
    """The model file."""
    step: int
    loss: Optional[float]
    """On training data, an exponential mean over the last steps."""
    eval_accuracy: Optional[float]
    """On fresh prompts, by the fast evaluator."""
    test_accuracy: Optional[float]
    """On the prompts of test_prompts=, by which nothing is chosen; None: there was no test."""
    chance: float
    metrics: Any
    """The evaluations on the way: a DataFrame, or a list of dicts without pandas."""

    def model(self) -> Model:
        """Opens the trained model."""
        return Model(self.path)


def train(arch: str, task: Any, out: Path, *, seed: int = 0, **options: Any) -> Training:
    """Learns the weights of a model on a task: `rung train`. The same arguments give the same bytes.

    Options are those of `rung train --help` with _ for -, such as steps=1000, batch=32, d_model=64, rate=0.003.
    """
    with tempfile.TemporaryDirectory() as folder:
        metrics = os.fspath(options.pop("metrics", None) or os.path.join(folder, "metrics.jsonl"))
        raw, found = _command.record(["train", "--arch", arch, *_command.task(task), "-o", os.fspath(out), "--seed",
                                      str(seed), "--metrics", metrics, *_command.options(options)])
        with open(metrics, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
    return Training(raw, found, found["file"], found["step"], found["loss"], found["eval_accuracy"],
                    found["test_accuracy"], found["chance"], _command.table(rows))


def sweep(spec: Union[Path, Dict[str, Any]], store: Path, **options: Any) -> Any:
    """Does all runs of an experiment, and returns their results: `rung sweep`, then results().

    spec: a JSON file, or the object that it would hold (docs/lab.md). Finished runs are not done again.
    """
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(spec, dict):
            path = os.path.join(folder, spec.get("name", "sweep") + ".json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(spec, file)
            spec = path
        _command.run(["sweep", os.fspath(spec), "-o", os.fspath(store), "--quiet", *_command.options(options)], (0,))
    return results(store)


def results(*stores: Path, metrics: bool = False, probes: bool = False) -> Any:
    """What stores hold, one row per run: a DataFrame where pandas is installed, else a list of dicts.

    metrics: one row per evaluation during training. probes: one row per cell of a probe. docs/store.md has the columns.
    """
    lines = _command.run(["export", *map(os.fspath, stores), "--jsonl",
                          *_command.options({"metrics": metrics, "probes": probes})], (0,))
    return _command.table([_row(json.loads(line)) for line in lines.splitlines()])


def _row(run: Dict[str, Any]) -> Dict[str, Any]:
    """The keys of a run are columns like its results, as in the CSV of rung export."""
    return {"id": run["id"], **run["words"], **{k: v for k, v in run.items() if k not in ("id", "words")}} if "words" in run else run


def build(construction: str, out: Path, *pairs: str, **options: Any) -> Model:
    """Writes explicit weights, and opens them: build("lookup", "l.safetensors", "N=256", "keys=sign").

    `rung list constructions` names what there is; "random" takes arch=, heads=, dk= and the others of `rung build`.
    """
    words: List[str] = ["build", construction, *pairs]
    if "task" in options:
        words += _command.task(options.pop("task"))
    _command.run([*words, "-o", os.fspath(out), "--quiet", *_command.options(options)], (0,))
    return Model(out)
