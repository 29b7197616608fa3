# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""The inputs of every mechanism: name, shape of a row, and how a layer makes it from the residual stream. An input of
source "parameter" belongs to the layer and has no row per token."""
from collections import namedtuple

Input = namedtuple("Input", "name shape source")

Q, K, V = Input("q", "H dk", "linear"), Input("k", "H dk", "linear"), Input("v", "H dv", "linear")
BETA, DECAY = Input("beta", "H", "gate"), Input("g", "H", "decay")

FIXED = {
    "full": [Q, K, V],
    "window": [Q, K, V],
    "linear": [Q, K, V],
    "retnet": [Q, K, V, Input("g", "H", "rate")],
    "gla": [Q, K, V, Input("g", "H dk", "log gate")],
    "mamba2": [Q, K, Input("v", "H dv", "timed"), DECAY],
    "delta": [Q, K, V, BETA],
    "gdelta": [Q, K, V, BETA, DECAY],
    "kda": [Q, K, V, BETA, Input("g", "H dk", "decay")],
    "mamba": [Input("x", "H dv", "linear"), Input("dt", "H dv", "softplus"), Input("B", "H dk", "linear"),
              Input("C", "H dk", "linear"), Input("A", "H dv dk", "parameter"), Input("D", "H dv", "parameter")],
    "rwkv7": [Input("r", "H dk", "linear"), Input("w", "H dk", "keep"), K, V, Input("a", "H dk", "removal"),
              Input("b", "H dk", "replacement")],
    "dsa": [Q, K, V, Input("iq", "HI DI", "linear"), Input("ik", "DI", "linear"), Input("iw", "HI", "linear")],
}


def inputs_of(mech, params):
    """With these parameters; those that are not used are left out."""
    if mech in FIXED:
        return FIXED[mech]
    if mech == "rnn":
        wide = "4*dv" if params.get("kind") == "lstm" else "dv"
        return [Input("x", f"H {wide}", "linear"), Input("U", f"H {wide} dv", "parameter")]
    if mech == "loglinear":
        base = params.get("base", "linear")
        return [Q, K, V, Input("lambda", "H levels", "softplus")] + \
            ([DECAY] if base != "linear" else []) + ([BETA] if base == "gdelta" else [])
    extra = [Input("gates", "H 3", "gate")] if params.get("branches") == "nsa" else []
    if params.get("comp") == "given":
        extra += [Input("ck", "H dk", "linear"), Input("cv", "H dv", "linear")]
    if params.get("comp") == "mlp":
        extra += [Input(name, shape, "parameter") for name, shape in (
            ("pk", "B dk"), ("pv", "B dv"), ("wk1", "dk B*dk"), ("wv1", "dv B*dv"), ("wk2", "dk dk"), ("wv2", "dv dv"))]
    if int(params.get("shared", 0)):  # nothing is compressed to values
        extra = [inp for inp in extra if inp.name not in ("cv", "pv", "wv1", "wv2")]
    return [Q, K, V] + extra


def shape_of(inp, H, dk, dv, params):
    """The shape as numbers; what a parameter says stands in its default where it is not given."""
    sizes = {"H": H, "dk": dk, "dv": dv, "levels": int(params.get("levels", 24)), "HI": int(params.get("HI", 4)),
             "DI": int(params.get("DI", 32)), "B": int(params.get("B", 16)), "3": 3, "4": 4}
    shape = []
    for word in inp.shape.split():
        size = 1
        for factor in word.split("*"):
            size *= sizes[factor]
        shape.append(size)
    return tuple(shape)
