# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""A model file as a PyTorch network: everything is read off the metadata and the tensors that docs/files.md lists.

    net = Network("m.safetensors")
    logits = net(torch.tensor([3, 1, 2]))        # [T, answers]

Per layer x += Out(mix(norm1 x)), x += MLP(norm2 x); logits = Readout(final_norm x).
"""
import json
import re

import torch
import torch.nn.functional as F

import layouts
import tensors
from mechanisms import MECHANISMS

UNIT_EPSILON = 1e-6
COMMON = ("dk", "dv", "conv", "gate", "unit", "neg", "qknorm", "scale", "kv", "outgate")


# ---- the architecture language -----------------------------------------------------------------------------------


class Group:
    """Heads of one mechanism: name:key=value:...@heads"""

    def __init__(self, text, config):
        body, _, heads = text.partition("@")
        self.mech, *words = body.split(":")
        self.params = dict(word.split("=") for word in words)
        self.heads = int(heads or config["heads"])
        common = {key: float(self.params.pop(key)) if key == "scale" else int(self.params.pop(key)) for key in COMMON
                  if key in self.params}
        self.dk, self.dv = common.get("dk", config["dk"]), common.get("dv", config["dv"])
        self.conv, self.gate, self.unit, self.neg = (common.get(key, 0) for key in ("conv", "gate", "unit", "neg"))
        self.qk_norm, self.scale = common.get("qknorm", 0), common.get("scale", 0)
        self.kv, self.out_gate = common.get("kv", 0) or self.heads, common.get("outgate", 0)
        self.inputs = layouts.inputs_of(self.mech, self.params)


def layers_of(text):
    """The layers as texts: 2*(full,3*delta) is full,delta,delta,delta twice."""
    words = re.findall(r"\d+\*|[(),]|[^(),*]+", text.replace(" ", ""))
    at = 0

    def item():
        nonlocal at
        count = 1
        if words[at].endswith("*"):
            count, at = int(words[at][:-1]), at + 1
        if words[at] != "(":
            at += 1
            return count * [words[at - 1]]
        at += 1
        inside = items()
        at += 1  # the closing bracket
        return count * inside

    def items():
        nonlocal at
        found = item()
        while at < len(words) and words[at] == ",":
            at += 1
            found += item()
        return found

    return items()


# ---- the network -------------------------------------------------------------------------------------------------


class Network(torch.nn.Module):
    def __init__(self, path, dtype=torch.float64):
        super().__init__()
        arrays, metadata = tensors.read(path)
        if metadata["rung.format"] != "rung.model/1":
            raise ValueError(f"{path} is no model")
        self.config = json.loads(metadata["rung.config"])
        self.epsilon = self.config.get("norm_epsilon", 1e-5)
        self.weights = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
        self.weights = {name: w.to(dtype) if w.is_floating_point() else w for name, w in self.weights.items()}
        texts = layers_of(metadata["rung.arch"])
        self.layers = [[Group(part, self.config) for part in text.split("|")] for text in texts]
        kinds = self.config["mlp"].split(",")
        self.mlps = kinds * len(texts) if len(kinds) == 1 else kinds

    def linear(self, name, x):
        return F.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias"))

    def norm(self, name, x):
        if self.config["norm"] == "none":
            return x
        weight, bias = self.weights[name + ".weight"], self.weights.get(name + ".bias")
        if self.config["norm"] == "layer":
            return F.layer_norm(x, x.shape[-1:], weight, bias, self.epsilon)
        return rms(x, weight, self.epsilon)

    def rotate(self, x):
        """x [T,H,dk]: the first half of the coordinates and the second are pairs."""
        cos, sin = (self.weights["rotary." + name][:len(x), None] for name in ("cos", "sin"))
        low, high = x.chunk(2, dim=-1)
        return torch.cat([low * cos - high * sin, high * cos + low * sin], dim=-1)

    def convolve(self, name, y):
        """Causal, per channel; the last tap is the token's own."""
        taps = self.weights[name + ".conv"]  # [row, width]
        padded = F.pad(y.T[None], (taps.shape[1] - 1, 0))
        return F.silu(F.conv1d(padded, taps[:, None], groups=len(taps))[0].T)

    def make_input(self, name, inp, group, made, h):
        heads = group.kv if inp.name in ("k", "v") else group.heads
        shape = layouts.shape_of(inp, heads, group.dk, group.dv, group.params)
        if inp.source == "parameter":
            return self.weights[name]
        if inp.source == "rate":
            return self.weights[name + ".A"].expand(len(h), -1)
        y = self.linear(name, h)
        if group.conv and inp.source in ("linear", "timed"):
            y = self.convolve(name, y)
        y = y.reshape(len(h), *shape)
        if inp.source == "gate":
            y = torch.sigmoid(y) * (1 + group.neg)
        elif inp.source in ("decay", "softplus"):
            y = F.softplus(y, threshold=100)
        elif inp.source == "log gate":
            y = F.logsigmoid(y) / 16
        elif inp.source == "keep":
            y = torch.exp(-torch.exp(torch.tensor(-0.5, dtype=y.dtype)) * torch.sigmoid(y))
        elif inp.source == "removal":
            y = -unit(y)
        elif inp.source == "replacement":
            y = -made["a"] * torch.sigmoid(y)
        if inp.name in ("q", "k"):
            y = unit(y) if group.unit else y
            if group.qk_norm:
                y = rms(y, self.weights[name + "_norm"], self.epsilon)
            if "rotary.cos" in self.weights and group.mech != "rwkv7":
                y = self.rotate(y)
            if inp.name == "q" and group.scale:
                y = y * group.scale
        return y

    def mix(self, prefix, group, h):
        made = {}
        for inp in group.inputs:
            made[inp.name] = self.make_input(f"{prefix}.{inp.name}", inp, group, made, h)
        for inp in group.inputs:
            if inp.source == "decay":  # until here it is the time step of the token
                if group.mech == "mamba2":
                    made["v"] = made["v"] * made["g"][..., None]
                rate = torch.exp(self.weights[f"{prefix}.g.A"])
                made["g"] = -(rate[:, None] if made["g"].dim() == 3 else rate) * made["g"]
        for name in ("k", "v") if group.kv < group.heads else ():
            made[name] = made[name].repeat_interleave(group.heads // group.kv, 1)
        out = MECHANISMS[group.mech](made, group.params, self.config["causal"])
        if group.out_gate:
            out = out * torch.sigmoid(self.linear(prefix + ".gate", h)).reshape(out.shape)
        if group.gate:
            gate = F.silu(self.linear(prefix + ".gate", h)).reshape(out.shape)
            out = rms(out, self.weights[prefix + ".gate_norm"], self.epsilon) * gate
        return out.flatten(1)

    def mlp(self, prefix, kind, x, norm):
        if kind == "none":
            return x
        if kind == "table":
            return self.table(prefix, x)
        h = self.norm(norm, x)
        up = self.linear(prefix + ".up", h)
        if kind == "swiglu":
            hidden = up * F.silu(self.linear(prefix + ".gate", h))
        elif kind == "geglu_tanh":
            hidden = up * F.gelu(self.linear(prefix + ".gate", h), approximate="tanh")
        else:
            hidden = {"relu": torch.relu, "gelu": F.gelu, "gelu_tanh": lambda u: F.gelu(u, approximate="tanh")}[kind](up)
        return x + self.linear(prefix + ".down", hidden)

    def table(self, prefix, x):
        keys, key_coords, values, out_coords = (self.weights[f"{prefix}.{part}"] for part in
                                                ("keys", "key_coords", "values", "out_coords"))
        rows = {tuple(key): row for key, row in zip(keys.long().tolist(), values)}
        missing = torch.full_like(values[0], torch.nan)  # an error where somebody reads it, and nowhere else
        x = x.clone()
        for token in x:
            key = tuple(torch.round(token[key_coords.long()]).nan_to_num(1e9, 1e9, 1e9).long().tolist())
            token[out_coords.long()] = rows.get(key, missing).to(x.dtype)
        return x

    @torch.no_grad()
    def forward(self, prompt):
        """Token ids [T], or features [T, d_in]; logits [T, answers]."""
        if self.config.get("vocab"):
            x = self.weights["embed.weight"][prompt]
        else:
            x = self.linear("embed", prompt.to(self.weights["embed.weight"].dtype))
        if "positions" in self.weights:
            x = x + self.weights["positions"][:len(x)]
        for i, (groups, kind) in enumerate(zip(self.layers, self.mlps)):
            h = self.norm(f"layers.{i}.norm1", x)
            mixed = torch.cat([self.mix(f"layers.{i}.mix.{g}", group, h) for g, group in enumerate(groups)], dim=-1)
            x = x + self.linear(f"layers.{i}.out", mixed)
            x = self.mlp(f"layers.{i}.mlp", kind, x, f"layers.{i}.norm2")
        return self.linear("readout", self.norm("final_norm", x))


def rms(y, weight, epsilon):
    return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + epsilon) * weight


def unit(y):
    """Each head's part scaled to length 1."""
    return y * torch.rsqrt((y * y).sum(-1, keepdim=True) + UNIT_EPSILON)
