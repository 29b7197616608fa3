# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""The command as a process of its own: words from keywords, JSON from what it prints."""
import json
import os
import shutil
import subprocess
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._library import Error
from .models import Model
from .tasks import Task


def _places(name: str) -> List[str]:
    """A variable (RUNG, RUNG_CHECK), a clone, pip install --target, the bin of the prefix."""
    here = os.path.dirname(os.path.abspath(__file__))
    return [os.environ.get(name.upper().replace("-", "_"), ""), os.path.join(here, "..", "..", "build", name), os.path.join(here, "..", "bin", name),
            os.path.join(here, "..", "..", "..", "..", "bin", name)]


def find(name: str) -> str:
    """The path of `rung` or `rung-check`."""
    for path in _places(name):
        if path and os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.abspath(path)
    found = shutil.which(name)
    if not found:
        raise Error(4, f"the command {name} was not found: run 'make', or set {name.upper().replace('-', '_')} to its path")
    return found


def start(name: str, words: Sequence[str]) -> Tuple[int, bytes, str]:
    """Exit code, stdout and stderr."""
    done = subprocess.run([find(name), *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def run(words: Sequence[str], good: Sequence[int] = (0, 1)) -> bytes:
    """What `rung` prints. Error with its message if the exit code is another than those of `good`."""
    code, out, messages = start("rung", words)
    if code not in good:
        raise Error(code, messages.strip() or f"rung ended with {code}")
    return out


def record(words: Sequence[str], good: Sequence[int] = (0, 1)) -> Tuple[bytes, Dict[str, Any]]:
    """The bytes of --json, and the object that they are."""
    out = run([*words, "--json", "--quiet"], good)
    return out, json.loads(out)


def options(given: Dict[str, Any]) -> List[str]:
    """head_dim=2 becomes --head-dim 2; True is an option without a value; None and False are left out."""
    words = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        words.append("--" + name.strip("_").replace("_", "-"))
        if value is not True:
            words.append(text(value))
    return words


def text(value: Any) -> str:
    """A value as a word of the command line. Numbers are written so that they read back as the same."""
    if isinstance(value, (list, tuple)):
        return ",".join(text(part) for part in value)
    if isinstance(value, Model):
        return value.path
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return repr(float(value)) if isinstance(value, float) else str(value)


def task(about: Any) -> List[str]:
    """A Task, or its words in one string: --task NAME key=value ..."""
    if about is None:
        return []
    name, *pairs = [about.name, *about.words] if isinstance(about, Task) else str(about).split()
    return ["--task", name, *pairs]


def subject(layers: Any) -> str:
    """Layers as text, a file, or an open model."""
    word = text(layers)
    if word.startswith("-"):
        raise ValueError(f"{word!r} are no layers and no file")
    return word


def table(rows: List[Dict[str, Any]], name: Optional[str] = None) -> Any:
    """A pandas DataFrame where pandas is installed, else the list of dicts."""
    try:
        import pandas
    except ImportError:
        return rows
    frame = pandas.DataFrame(rows)
    if name:
        frame.attrs["name"] = name
    return frame
