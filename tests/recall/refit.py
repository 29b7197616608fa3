#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The law of recall fitted a second time: refit.py CELLS.csv LAW.json [OTHERS.csv]

LAW.json is the answer of `rung recall --json`. Everything is computed from the CSV again, by other methods: probabilities by
Gauss-Hermite quadrature, parameters by a search that halves a simplex. They agree to 1e-6.
With OTHERS.csv, cells of eva that no fit has used: prints for each form, as rows of a table, how many cells of the measured mechanisms there
are, the root mean square error of its predictions, and the mean of measured less predicted accuracy.
"""
import csv
import json
import math
import re
import sys

import numpy

NODE, WEIGHT = numpy.polynomial.hermite_e.hermegauss(120)
WEIGHT = WEIGHT / WEIGHT.sum()
erfc = numpy.vectorize(math.erfc, otypes=[float])


def cells_of(path):
    cells = {}
    for row in csv.DictReader(open(path)):
        if re.fullmatch("[a-z0-9]+", row["label"]):
            sizes = [float(row[k]) for k in ("heads", "dk", "dv", "task.N", "task.V")]
            cells.setdefault(row["label"], []).append(sizes + [float(row["accuracy"])])
    return {name: numpy.array(rows) for name, rows in cells.items()}


def others_of(path, name):
    """An arch may state its own dv, which then takes the place of the column."""
    cells = []
    for row in csv.DictReader(open(path)):
        if row["label"] == name:
            dv = re.search(r":dv=(\d+)", row["arch"])
            sizes = [row.get("heads") or 1, row["dk"], dv.group(1) if dv else row["dv"], row["task.N"], round(1 / float(row["chance"]))]
            cells.append([float(x) for x in sizes + [row["accuracy"]]])
    return numpy.array(cells).reshape(-1, 6)


def overlap(cells, logs):
    heads, dk, dv, n, values = cells.T[:5]
    keys, accuracy = heads * dk, numpy.ones(len(cells))
    full = n > keys
    gamma = math.exp(logs[0]) * numpy.minimum(dv, values - 1)[full] * keys[full] / (n - keys)[full]
    distance = numpy.sqrt(gamma * values[full] / (values[full] - 1))
    below = 0.5 * erfc(-(NODE[None, :] + distance[:, None]) / math.sqrt(2))
    accuracy[full] = (below ** (values[full] - 1)[:, None] * WEIGHT).sum(axis=1)
    return accuracy


def load(kind):
    def accuracy(cells, logs):
        heads, dk, dv, n, values = cells.T[:5]
        size = heads * dk * (1 if kind == "keys" else dv)
        carried = {"keys": n, "pairs": 2 * n * numpy.log(n), "bits": n * numpy.log2(values)}[kind]
        share = 1 / (1 + numpy.exp(math.exp(logs[1]) * (numpy.log(carried / size) - logs[0])))
        return 1 / values + (1 - 1 / values) * share
    return accuracy


FORMS = {"keys": (load("keys"), 2), "pairs": (load("pairs"), 2), "bits": (load("bits"), 2), "overlap": (overlap, 1)}


def least(function, start, step):
    """Nelder and Mead, without their expansion: the simplex shrinks until it is a point."""
    size = len(start)
    corners = [numpy.array(start, float)] + [numpy.array(start, float) + step * numpy.eye(size)[i] for i in range(size)]
    found = sorted(((function(c), tuple(c)) for c in corners))
    while max(abs(a - b) for _, c in found for a, b in zip(c, found[0][1])) > 1e-9:
        worst = numpy.array(found[-1][1])
        middle = numpy.mean([c for _, c in found[:-1]], axis=0)
        for point in (2 * middle - worst, middle + 0.5 * (middle - worst), middle - 0.5 * (middle - worst)):
            value = function(point)
            if value < found[-1][0]:
                found[-1] = (value, tuple(point))
                break
        else:
            best = numpy.array(found[0][1])
            found = [found[0]] + [(function(p), tuple(p)) for p in (0.5 * (best + numpy.array(c)) for _, c in found[1:])]
        found.sort()
    return numpy.array(found[0][1])


def fit(form, cells):
    accuracy, size = FORMS[form]
    error = lambda logs: ((accuracy(cells, logs) - cells[:, 5]) ** 2).sum()
    # Near its minimum a sum of squares is flat to sqrt(epsilon): the slope is not, so the last digits come from it.
    logs = least(error, min(([a, b][:size] for a in (-1, 0, 1, 2) for b in (0, 0.5, 1)), key=error), 0.25)
    for _ in range(20):
        slopes = numpy.array([(accuracy(cells, logs + d) - accuracy(cells, logs - d)) / 2e-5 for d in 1e-5 * numpy.eye(size)]).T
        logs = logs + numpy.linalg.lstsq(slopes, cells[:, 5] - accuracy(cells, logs), rcond=None)[0]
    return logs, math.sqrt(error(logs) / len(cells))


def held_out(form, cells):
    left = numpy.zeros(len(cells))
    for state in numpy.unique(cells[:, :3], axis=0):
        out = (cells[:, :3] == state).all(axis=1)
        left[out] = cells[out, 5] - FORMS[form][0](cells[out], fit(form, cells[~out])[0])
    return left


def agree(mine, theirs, what):
    assert abs(mine - theirs) <= 1e-6 * max(1, abs(mine)), "%s: %r here, %r in the command" % (what, mine, theirs)


def main():
    cells, law = cells_of(sys.argv[1]), json.load(open(sys.argv[2]))
    assert [m["mechanism"] for m in law["mechanisms"]] == list(cells), "other mechanisms"
    held = {form: [] for form in FORMS}
    for mechanism in law["mechanisms"]:
        mine = cells[mechanism["mechanism"]]
        assert mechanism["cells"] == len(mine)
        for theirs in mechanism["fits"]:
            form, what = theirs["form"], "%s, %s" % (mechanism["mechanism"], theirs["form"])
            logs, error = fit(form, mine)
            for name, value in zip(("gain",) if form == "overlap" else ("half", "steepness"), numpy.exp(logs)):
                agree(value, theirs[name], what + ", " + name)
            agree(error, theirs["error"], what + ", error")
            held[form].extend(held_out(form, mine))
            agree(math.sqrt(numpy.mean(numpy.square(held[form][-len(mine):]))), theirs["held_out_error"], what + ", held out")
    for theirs in law["forms"]:
        agree(math.sqrt(numpy.mean(numpy.square(held[theirs["form"]]))), theirs["held_out_error"], theirs["form"])
    best = min(law["forms"], key=lambda f: f["held_out_error"])
    assert best["chosen"] and sum(f["chosen"] for f in law["forms"]) == 1, "another form was chosen"
    if len(sys.argv) > 3:
        others = {name: others_of(sys.argv[3], name) for name in cells}
        for form, (accuracy, _) in FORMS.items():
            left = numpy.concatenate([others[n][:, 5] - accuracy(others[n], fit(form, cells[n])[0]) for n in cells if len(others[n])])
            print("| %s | %d | %.3f | %+.3f |" % (form, len(left), math.sqrt((left ** 2).mean()), left.mean()))


main()
