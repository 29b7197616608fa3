# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""The other side of `rung bench step` and `rung bench mixers`: the same computations in PyTorch. rung starts this program with
the settings that make PyTorch fast on this machine, asks line by line (JSON) on standard input and is answered line by line,
so that both take turns in one run.

Everything exists in two spellings. "usual": the whole batch at once, as one writes it. "best": equal sizes and values, but what
shares an input is one product, and the batch goes through in groups whose intermediate tensors stay in the cache. The fastest
of several forms is tried out first: sizes of a group, attention by products or by scaled_dot_product_attention, interpreted or
by torch.compile, where this PyTorch has them. Recurrent mechanisms are in the chunked forms of their papers in both.
"""
import json
import math
import struct
import sys
import time

import numpy
import torch
import torch.nn.functional as F

EPSILON = 1e-5
CHUNK = 64


# ---- numbers that both sides make ------------------------------------------------------------------------------------


def hashed(count, stream):
    """32 mixed bits for each index; tool/bench_peak.c has the same lines."""
    h = numpy.arange(count, dtype=numpy.uint32)
    h *= numpy.uint32(2654435761)
    h += numpy.uint32(stream * 2246822519 % 2**32)
    for shift, factor in ((15, 2246822519), (13, 3266489917)):
        h ^= h >> numpy.uint32(shift)
        h *= numpy.uint32(factor)
    return h ^ (h >> numpy.uint32(16))


def noise(count, stream, low, high):
    unit = (hashed(count, stream) >> numpy.uint32(8)).astype(numpy.float32) * numpy.float32(2.0**-24)
    return numpy.float32(low) + (numpy.float32(high) - numpy.float32(low)) * unit


def whole(count, stream, below):
    return (hashed(count, stream) >> numpy.uint32(8)).astype(numpy.int64) % below


def read_model(path):
    """The tensors of a safetensors file by name."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    header.pop("__metadata__", None)
    return {name: torch.from_numpy(numpy.frombuffer(data[slice(*entry["data_offsets"])], "<f4").copy())
            .reshape(entry["shape"]) for name, entry in header.items()}


# ---- a decoder -------------------------------------------------------------------------------------------------------


def causal_mask(tokens):
    return torch.full((tokens, tokens), -math.inf).triu_(1)


def newest_adamw():
    """The fastest AdamW that this PyTorch has."""
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    return {"fused": True} if version >= (2, 4) else {"foreach": True}


class Usual:
    """Pre-norm decoder; every projection a product of its own, the whole batch at once."""
    fused = False

    def __init__(self, path, ask):
        self.path, self.heads, self.vocab = path, ask["heads"], ask["vocab"]
        weights = self.read()
        self.layers = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("layers."))
        self.weights = {name: w.requires_grad_() for name, w in weights.items()}
        decays = {name: w.dim() == 2 and name not in ("embed.weight", "positions") for name, w in weights.items()}
        groups = [{"params": [w for name, w in weights.items() if decays[name] == flag],
                   "weight_decay": ask["decay"] if flag else 0.0} for flag in (True, False)]
        self.adamw = torch.optim.AdamW(groups, lr=ask["rate"], betas=(ask["beta1"], ask["beta2"]), eps=ask["epsilon"],
                                       **(newest_adamw() if self.fused else {"foreach": False}))
        count = ask["batch"] * ask["tokens"]
        shape = ask["batch"], ask["tokens"]
        self.token = torch.from_numpy(whole(count, 1, self.vocab)).reshape(shape)
        self.target = torch.from_numpy(whole(count, 2, self.vocab)).reshape(shape)
        self.mask = causal_mask(ask["tokens"])
        self.hidden = self.mask.isinf()
        self.group, self.run = ask["batch"], self.loss

    def read(self):
        weights = read_model(self.path)
        for name in [name for name in weights if self.fused and name.endswith(".mix.0.q.weight")]:
            prefix = name[:-len("q.weight")]
            weights[prefix + "qkv.weight"] = torch.cat([weights.pop(f"{prefix}{part}.weight") for part in "qkv"])
        return weights

    def restart(self):
        """From the weights of the file again, as if no step had been done."""
        with torch.no_grad():
            for name, w in self.read().items():
                self.weights[name].copy_(w)
        self.adamw.state.clear()

    def linear(self, name, x):
        return F.linear(x, self.weights[name + ".weight"])

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.weights[name + ".weight"], None, EPSILON)

    def mix(self, prefix, h):
        B, T, _ = h.shape
        q, k, v = (self.linear(f"{prefix}.mix.0.{part}", h).view(B, T, self.heads, -1).transpose(1, 2) for part in "qkv")
        scores = (q @ k.transpose(-2, -1)).masked_fill(self.hidden, -math.inf)
        return (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(B, T, -1)

    def loss(self, token, target):
        x = self.weights["embed.weight"][token] + self.weights["positions"][:token.shape[1]]
        for i in range(self.layers):
            prefix = f"layers.{i}"
            x = x + self.linear(prefix + ".out", self.mix(prefix, self.norm(prefix + ".norm1", x)))
            hidden = F.gelu(self.linear(prefix + ".mlp.up", self.norm(prefix + ".norm2", x)))
            x = x + self.linear(prefix + ".mlp.down", hidden)
        logits = self.linear("readout", self.norm("final_norm", x))
        return F.cross_entropy(logits.flatten(0, 1), target.flatten())

    def step(self):
        self.adamw.zero_grad(set_to_none=True)
        total, share = 0.0, self.group / len(self.token)
        for token, target in zip(self.token.split(self.group), self.target.split(self.group)):
            loss = self.run(token, target)
            if share != 1:
                loss = loss * (len(token) / len(self.token))
            loss.backward()
            total += loss.item()
        self.adamw.step()
        return total


class Best(Usual):
    """Queries, keys and values in one product, masks added inside a product, groups of sequences."""
    fused = True

    def __init__(self, path, ask, attend):
        super().__init__(path, ask)
        self.attend = attend

    def mix(self, prefix, h):
        B, T, _ = h.shape
        qkv = self.linear(prefix + ".mix.0.qkv", h).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.attend == "sdpa":
            mixed = F.scaled_dot_product_attention(*qkv.unbind(0), is_causal=True, scale=1.0)
            return mixed.transpose(1, 2).reshape(B, T, -1)
        q, k, v = qkv.reshape(3, B * self.heads, T, -1).unbind(0)
        scores = torch.baddbmm(self.mask.expand(len(q), T, T), q, k.transpose(1, 2))
        mixed = torch.bmm(torch.softmax(scores, dim=-1), v)
        return mixed.view(B, self.heads, T, -1).transpose(1, 2).reshape(B, T, -1)


# ---- mechanisms; q, k, v = [N,T,d], a number per token = [N,T] ----------------------------------------------------------


def chunks(x):
    """[N,T,...] as [N,T/C,C,...]."""
    return x.reshape(len(x), -1, min(CHUNK, x.shape[1]), *x.shape[2:])


def full(x):
    q, k, v = x["q"], x["k"], x["v"]
    scores = torch.baddbmm(x["mask"].expand(len(q), *x["mask"].shape), q, k.transpose(1, 2))
    return torch.bmm(torch.softmax(scores, dim=-1), v)


def full_sdpa(x):
    q, k, v = (x[name][None] for name in "qkv")
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)[0]


def linear(x):
    """elu + 1 features and normalised, within chunks by a masked product, between them by sums of k^T v."""
    q, k = (F.elu(x[name]) + 1 for name in "qk")
    below = (q * k.cumsum(1)).sum(-1, keepdim=True)
    q, k, v = chunks(q), chunks(k), chunks(x["v"])
    state = (k.transpose(-2, -1) @ v).cumsum(1)
    state = torch.cat([torch.zeros_like(state[:, :1]), state[:, :-1]], dim=1)
    return (q @ state + (q @ k.transpose(-2, -1)).tril() @ v).flatten(1, 2) / below


def decays(g):
    """[..,C] logarithms to their sums up to each token and [..,C,C] e^(g_{s+1} + .. + g_t), 0 above the diagonal."""
    total = g.cumsum(-1)
    between = total[..., :, None] - total[..., None, :]
    return total, torch.exp(between + causal_mask(g.shape[-1]))


def scalar_decay(x):
    """State space duality: masked products within a chunk, and one small product over all chunks between them."""
    q, k, v, g = (chunks(x[name]) for name in "qkvg")
    total, between = decays(g)
    last = total[..., -1]
    state = (k * torch.exp(last[..., None] - total)[..., None]).transpose(-2, -1) @ v
    carry = decays(last)[1]  # [N,chunks,chunks]: what is left of a chunk's state after another chunk
    N, n, dk, dv = state.shape
    state = (carry @ state.reshape(N, n, dk * dv)).view(N, n, dk, dv)
    state = torch.cat([torch.zeros_like(state[:, :1]), state[:, :-1]], dim=1)
    inside = (q @ k.transpose(-2, -1) * between) @ v
    return (torch.exp(total)[..., None] * (q @ state) + inside).flatten(1, 2)


def gla(x):
    q, k, v, g = (chunks(x[name]) for name in "qkvg")
    total = g.cumsum(2)
    last = total[:, :, -1:]
    q = q * torch.exp(total)
    inside = (q @ (k * torch.exp(-total)).transpose(-2, -1)).tril() @ v
    states, state = [], torch.zeros(len(q), q.shape[-1], v.shape[-1])
    enters = (k * torch.exp(last - total)).transpose(-2, -1) @ v
    fade = torch.exp(last).transpose(-2, -1)
    for fades, new in zip(fade.unbind(1), enters.unbind(1)):  # x[:, c] would be a whole tensor of zeros in the backward pass
        states.append(state)
        state = fades * state + new
    return (q @ torch.stack(states, dim=1) + inside).flatten(1, 2)


class Inverse(torch.autograd.Function):
    """(I + A)^-1 of strictly lower triangular matrices; the gradient is two products, and not another system."""

    @staticmethod
    def forward(ctx, below):
        identity = torch.eye(below.shape[-1]).expand_as(below)
        inverse = torch.linalg.solve_triangular(below, identity, upper=False, unitriangular=True)
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx, upstream):
        flipped = ctx.saved_tensors[0].transpose(-2, -1)
        return (flipped @ upstream @ flipped).neg_()


def delta_rule(x):
    """The WY form: inside a chunk a triangular system turns the values into what is really written."""
    q, k, v, beta = (chunks(x[name]) for name in ("q", "k", "v", "beta"))
    scores, pairs, beta = q @ k.transpose(-2, -1), k @ k.transpose(-2, -1), beta[..., None]
    writes, reads, fade = k, k, [1] * q.shape[1]
    if "g" in x:
        total, between = decays(chunks(x["g"]))
        last, grown = total[..., -1:], torch.exp(total)[..., None]
        q, reads, writes = q * grown, k * grown, k * torch.exp(last - total)[..., None]
        scores, pairs, fade = scores * between, pairs * between, torch.exp(last)[..., None].unbind(1)
    else:
        scores = scores.tril()
    inverse = Inverse.apply((beta * pairs).tril(-1))
    u, w = (inverse @ (beta * torch.cat([v, reads], dim=-1))).split([v.shape[-1], k.shape[-1]], dim=-1)
    out, state = [], torch.zeros(len(q), k.shape[-1], v.shape[-1])
    parts = (y.unbind(1) for y in (q, scores, u, w, writes.transpose(-2, -1)))
    for fades, q_, scores_, u_, w_, writes_ in zip(fade, *parts):
        new = torch.baddbmm(u_, w_, state, alpha=-1)
        out.append(torch.baddbmm(torch.bmm(q_, state), scores_, new))
        state = torch.baddbmm(fades * state, writes_, new)
    return torch.cat(out, dim=1)


MECHANISMS = {"full": full, "linear": linear, "retnet": scalar_decay, "mamba2": scalar_decay, "gla": gla,
              "delta": delta_rule, "gdelta": delta_rule}


class Mixer:
    """Inputs lie as [B H,T,d], the layout that suits PyTorch best: no transposition is timed."""

    def __init__(self, ask, attend="products"):
        self.run = full_sdpa if attend == "sdpa" else MECHANISMS[ask["mech"]]
        self.shape = ask["batch"], ask["tokens"], ask["heads"]
        self.inputs = {entry["name"]: self.take(entry) for entry in ask["inputs"]}
        self.upstream = self.take(ask["upstream"])
        self.mask = causal_mask(ask["tokens"])
        self.group = len(self.upstream)

    def take(self, entry):
        B, T, H = self.shape
        rows = noise(B * T * H * entry["width"], entry["stream"], entry["low"], entry["high"])
        rows = rows.reshape(B, T, H, entry["width"]).transpose(0, 2, 1, 3).reshape(B * H, T, entry["width"])
        return torch.from_numpy(numpy.ascontiguousarray(rows[..., 0] if entry["scalar"] else rows))

    def groups(self):
        for first in range(0, len(self.upstream), self.group):
            part = slice(first, first + self.group)
            yield {name: x[part] for name, x in self.inputs.items()}, self.upstream[part]

    def forward(self):
        with torch.no_grad():
            return [self.run({**x, "mask": self.mask}) for x, _ in self.groups()]

    def backward(self):
        out = []
        for x, upstream in self.groups():
            leaves = {name: y.detach().requires_grad_() for name, y in x.items()}
            o = self.run({**leaves, "mask": self.mask})
            out.append((o.detach(), torch.autograd.grad(o, list(leaves.values()), upstream)))
        return out

    def sums(self):
        """Of the outputs and of every gradient, in the order of rung's rows: the squares, and the product with noise."""
        out = self.backward()
        found = {"o": torch.cat([o for o, _ in out])}
        for i, name in enumerate(self.inputs):
            found["d" + name] = torch.cat([gradients[i] for _, gradients in out])
        B, T, H = self.shape
        result = {}
        for name, x in found.items():
            rows = x.reshape(B, H, T, -1).permute(0, 2, 1, 3).reshape(-1).double().numpy()
            result[name] = [float(rows @ rows), float(rows @ noise(rows.size, 200, -1, 1).astype(numpy.float64))]
        return result


# ---- answers ---------------------------------------------------------------------------------------------------------


def seconds(work, times):
    start = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - start) / times


def try_groups(subject, work, sizes):
    """Keeps the fastest size of a group; how long it takes."""
    found = {}
    for subject.group in sizes:
        found[min(seconds(work, 1) for _ in range(2))] = subject.group
    subject.group = found[min(found)]
    return min(found)


def smaller(most):
    """most, most/4, ..., down to 1."""
    sizes = [most]
    while sizes[-1] // 4:
        sizes.append(sizes[-1] // 4)
    return sizes


def ways_to_attend():
    return ["products"] + ["sdpa"] * hasattr(F, "scaled_dot_product_attention")


def compiled(subject, work, group, most):
    """How long the subject takes through the compiler, for the fastest group; None where the compiler does not work."""
    plain = subject.run
    try:
        subject.run = torch.compile(plain, dynamic=False)
        return try_groups(subject, work, sorted({group, most}))
    except Exception:  # no compiler for C++, no such function, something that it cannot compile
        subject.run, subject.group = plain, group
        return None


def fastest(makers, work_of, most, compiles):
    """The fastest subject of these forms, and what it is."""
    tried = []
    for form, make in makers.items():
        subject = make()
        tried.append((try_groups(subject, work_of(subject), smaller(most)), form, subject))
    took, form, subject = min(tried, key=lambda row: row[0])
    if compiles and hasattr(torch, "compile"):
        plain, group = subject.run, subject.group
        faster = compiled(subject, work_of(subject), group, most)
        if faster is not None and faster < took:
            return subject, form + ", compiled"
        subject.run, subject.group = plain, group
    return subject, form


def product_speed():
    """GFLOP/s of one large product, the best of half a second: tells a BLAS that does not suit the processor."""
    n, best, end = 1024, math.inf, time.perf_counter() + 0.5
    a, b = torch.ones(n, n), torch.ones(n, n)
    while time.perf_counter() < end:
        best = min(best, seconds(lambda: a @ b, 1))
    return 2e-9 * n**3 / best


class Peer:
    def hello(self, ask):
        torch.set_num_threads(ask["threads"])
        with open("/proc/self/maps", encoding="utf-8") as maps:
            openblas = any("openblas-openmp" in line for line in maps)
        own = torch.__config__.show().split("BLAS_INFO=")[-1].split(",")[0]
        return {"torch": torch.__version__, "threads": torch.get_num_threads(), "product_gflops": product_speed(),
                "blas": "MKL" if own == "mkl" else "OpenBLAS (OpenMP)" if openblas else "a BLAS that is not OpenBLAS (OpenMP)"}

    def step(self, ask):
        """Losses of the first steps, from the same weights in each spelling."""
        forms = {way: lambda way=way: Best(ask["model"], ask, way) for way in ways_to_attend()}
        best, form = fastest(forms, lambda s: s.step, ask["batch"], ask["compile"])
        best.restart()
        self.subjects = {"usual": Usual(ask["model"], ask), "best": best}
        self.work = {name: {"step": subject.step} for name, subject in self.subjects.items()}
        losses = {name: [s.step() for _ in range(ask["steps"])] for name, s in self.subjects.items()}
        return {"losses": losses, "group": best.group, "form": form}

    def mixer(self, ask):
        if ask["mech"] not in MECHANISMS:
            return {"absent": True}
        ways = ways_to_attend() if ask["mech"] == "full" else ["products"]
        best, form = fastest({way: lambda way=way: Mixer(ask, way) for way in ways}, lambda s: s.backward,
                             ask["batch"] * ask["heads"], ask["compile"])
        self.subjects = {"usual": Mixer(ask), "best": best}
        self.work = {name: {"forward": s.forward, "backward": s.backward} for name, s in self.subjects.items()}
        best.forward()  # what is compiled for its own sake
        return {"sums": {name: s.sums() for name, s in self.subjects.items()}, "group": best.group, "form": form}

    def time(self, ask):
        return {"seconds": seconds(self.work[ask["spelling"]][ask["work"]], ask["times"])}


def main():
    peer = Peer()
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            answer = getattr(peer, ask["ask"])(ask)
        except Exception as problem:  # whatever it is, the other side must hear of it
            answer = {"problem": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(answer), flush=True)


main()
