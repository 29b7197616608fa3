#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Trains two small models on eva in PyTorch, one of linear layers and one hybrid, and writes them as model files of rung.

    PYTHONPATH=python /usr/bin/python3 examples/train_in_torch.py --out . --steps 1500
    rung break linear.safetensors --numbers f32 -o linear.cert && rung-check linear.cert linear.safetensors

The networks are ordinary modules; export() is the whole mapping of names (docs/files.md, "From PyTorch").
"""
import argparse
import os

import torch
import torch.nn.functional as F
from torch import nn

import rung

EPSILON = 1e-5  # of the norms, as rung has it


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.weight * x / torch.sqrt((x * x).mean(-1, keepdim=True) + EPSILON)


class Attention(nn.Module):
    """Full (softmax) or linear (elu+1, normalised) causal attention; scores are not divided by sqrt(dk): rung scales nothing."""

    def __init__(self, kind, d, heads, dk):
        super().__init__()
        self.kind, self.heads = kind, heads
        self.q, self.k, self.v = (nn.Linear(d, heads * dk, bias=False) for _ in range(3))
        self.out = nn.Linear(heads * dk, d, bias=False)

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        tokens = x.shape[1]
        if self.kind == "linear":
            q, k = F.elu(q) + 1, F.elu(k) + 1
        scores = q @ k.transpose(-1, -2)
        future = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
        if self.kind == "linear":
            weights = scores.masked_fill(future, 0)
            weights = weights / weights.sum(-1, keepdim=True)
        else:
            weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(-2))


class Block(nn.Module):
    def __init__(self, kind, d, heads, dk, hidden):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(d), RMSNorm(d)
        self.mix = Attention(kind, d, heads, dk)
        self.up, self.down = nn.Linear(d, hidden), nn.Linear(hidden, d)

    def forward(self, x):
        x = x + self.mix(self.norm1(x))
        return x + self.down(F.relu(self.up(self.norm2(x))))


class Network(nn.Module):
    def __init__(self, task, kinds, d=24, heads=1, dk=24, hidden=32):
        super().__init__()
        self.kinds, self.task, self.heads, self.dk, self.hidden = kinds, task, heads, dk, hidden
        self.embed = nn.Embedding(task.vocab, d)
        self.positions = nn.Parameter(torch.randn(task.tokens, d))
        self.layers = nn.ModuleList(Block(kind, d, heads, dk, hidden) for kind in kinds)
        self.final_norm = RMSNorm(d)
        self.readout = nn.Linear(d, task.answers)

    def forward(self, tokens):
        x = self.embed(tokens) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.readout(self.final_norm(x))


def export(net, path, made_by):
    """Names of PyTorch to names of rung; all orientations are those of nn.Linear and nn.Embedding."""
    tensors = {}
    for name, value in net.state_dict().items():
        name = name.replace(".mix.out.", ".out.")
        for projection in "qkv":
            name = name.replace(f".mix.{projection}.", f".mix.0.{projection}.")
        name = name.replace(".up.", ".mlp.up.").replace(".down.", ".mlp.down.")
        tensors[name] = value
    d = net.embed.embedding_dim
    rung.save(path, {"arch": ",".join(net.kinds), "task": str(net.task), "mlp": "relu", "vocab": net.task.vocab,
                     "answers": net.task.answers, "max_tokens": net.task.tokens, "d_model": d, "d_mlp": net.hidden,
                     "heads": net.heads, "dk": net.dk, "dv": net.dk, "positions": "learned", "norm": "rms"},
              tensors, made_by=made_by)


def examples_of(task, count):
    """Uniform tables and queries: what rung.Task("eva").batch draws, made here because it is a thousand times faster."""
    n = task.tokens - 1
    values = task.answers
    table = torch.randint(values, (count, n))
    query = torch.randint(n, (count, 1))
    return torch.cat([table, values + query], 1), table.gather(1, query)[:, 0]


def train(net, steps, batch=64, rate=3e-3):
    optimizer = torch.optim.AdamW(net.parameters(), rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    for _ in range(steps):
        tokens, answers = examples_of(net.task, batch)
        loss = F.cross_entropy(net(tokens)[:, -1], answers)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        tokens, answers = examples_of(net.task, 4096)
        return (net(tokens)[:, -1].argmax(-1) == answers).float().mean().item()


def same_as_rung(net, path, prompts=16):
    """The file gives the numbers that the network gives."""
    batch = net.task.batch(prompts, seed=1)
    with torch.no_grad():
        wanted = net(torch.as_tensor(batch.tokens))[:, -1]
    with rung.Model(path) as model:
        got = torch.stack([torch.as_tensor(model.run(row, at=[net.task.tokens - 1])[0]) for row in batch.tokens.tolist()])
    return bool(torch.allclose(wanted.double(), got.double(), atol=1e-3, rtol=1e-3))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=".")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)  # so small that a second thread costs more than it does
    task = rung.Task("eva", N=16, V=8)
    for name, kinds in (("linear", ["linear", "linear"]), ("hybrid", ["linear", "full"])):
        torch.manual_seed(args.seed)
        net = Network(task, kinds)
        accuracy = train(net, args.steps)
        path = os.path.join(args.out, name + ".safetensors")
        export(net, path, made_by=f"train_in_torch.py --steps {args.steps} --seed {args.seed}")
        assert same_as_rung(net, path), "rung reads the file in another way than PyTorch"
        print(f"{path}: {','.join(kinds)}, {100 * accuracy:.2f} % of 4096 fresh prompts")


if __name__ == "__main__":
    main()
