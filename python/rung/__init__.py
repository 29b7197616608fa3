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

Arrays are numpy arrays when numpy is installed and lists otherwise. Torch tensors are accepted wherever numbers are.
"""
from ._library import Error, version
from .models import Model, save, write_random
from .tasks import Batch, Task

__all__ = ["Error", "Task", "Batch", "Model", "save", "write_random", "version"]
