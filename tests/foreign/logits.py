# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# logits.py MODEL EXPECTED.npz: the logits of a model of ours beside stored ones, at every token, in scan and in step form.
# Prints the largest difference, over the largest logit.
import os
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import rung

expected = numpy.load(sys.argv[2])
ids, want = expected["ids"], expected["logits"]
with rung.Model(sys.argv[1]) as model:
    runs = [model.run(ids, at=range(len(ids)), step=step) for step in (False, True)]
    runs.append(model.run(ids, numbers="f64", at=range(len(ids))))
worst = max(abs(numpy.array(got) - want).max() / abs(want).max() for got in runs)
print("%.3g" % worst)
sys.exit(not worst < 3e-6)
