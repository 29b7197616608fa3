# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""rung says what an attention architecture can and cannot compute, and proves it.

    import rung
    task = rung.Task("eva", N=16)
    batch = task.batch(32, seed=1)                  # batch.tokens, batch.targets, batch.lengths
    model = rung.Model("m.safetensors")
    logits = model.run(batch)                       # fast fp32: [32][1][answers], at the last token of each prompt
    logits = model.run(batch.tokens[0], numbers="e8m3", at=[3, 7])
    rung.save("copy.safetensors", model.spec, model.tensors())

    rung.bound("full,4*linear", "seqcomp L=2", n=542, head_dim=2, bits=26).verdict        # "CANNOT"
    lost = rung.build("random", "lost.safetensors", arch="linear", dk=2, dv=2, d_model=8, task="eva N=64")
    rung.break_(lost, "lost.cert", numbers="e8m4")
    rung.check("lost.cert", lost).accepted                                                # True

Arrays are numpy arrays when numpy is installed and lists otherwise. Torch tensors are accepted wherever numbers are.
Tables are pandas DataFrames when pandas is installed and lists of dicts otherwise. Tasks, models and read-outs come from
the library. Verdicts, training and stores come from the command, which runs as a process of its own.
"""
from ._library import Error, version
from .experiments import Training, build, results, sweep, train
from .models import Model, save, write_random
from .tasks import Batch, Task
from .verdicts import (Bound, Break, Card, Check, Comparison, Record, Theorem, Verification, bound, break_, card, check,
                       compare, decide, verify)

__all__ = ["Error", "Task", "Batch", "Model", "save", "write_random", "version", "Record", "Bound", "Theorem", "bound",
           "decide", "Card", "card", "Comparison", "compare", "Verification", "verify", "Break", "break_", "Check", "check",
           "Training", "train", "sweep", "results", "build"]
