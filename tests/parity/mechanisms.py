# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Every mechanism in plain PyTorch, from the published equations and in their own form: parallel (masks) where the
paper is parallel, token by token with states in the orientation of the paper where it is recurrent.

A function takes the inputs as a dict of tensors [T,H,d] (constants of a layer without T), the parameters as a dict of
texts, and whether there is a causal mask; it gives o [T,H,dv]. Without a mask every token is absorbed before any query
reads.
"""
import torch
import torch.nn.functional as F

INFINITY = float("inf")


def softmax_over(scores, visible, values):
    """scores, visible [H,T,S]; values [S,H,dv]. A query that sees nothing gives zeros."""
    weights = torch.softmax(scores.masked_fill(~visible, -INFINITY), dim=-1)
    weights = torch.where(visible.any(-1, keepdim=True), weights, torch.zeros_like(weights))
    return torch.einsum("hts,shv->thv", weights, values)


def positions(T):
    return torch.arange(T)[:, None], torch.arange(T)[None, :]


def sees(T, causal, window=None):
    """[T,T]: may query t look at key s?"""
    t, s = positions(T)
    visible = s <= t if causal else torch.ones(T, T, dtype=torch.bool)
    return visible if window is None else visible & ((t - s).abs() < window)


def scores_of(q, k):
    return torch.einsum("thd,shd->hts", q, k)


# ---- softmax -----------------------------------------------------------------------------------------------------


def full(x, params, causal):
    """softmax(Q K^T + mask) V"""
    return softmax_over(scores_of(x["q"], x["k"]), sees(len(x["q"]), causal)[None], x["v"])


def window(x, params, causal):
    visible = sees(len(x["q"]), causal, int(params.get("W", 64)))
    return softmax_over(scores_of(x["q"], x["k"]), visible[None], x["v"])


def top(scores, allowed, k):
    """[..., S]: the k largest allowed scores, the earlier of two equal ones."""
    order = scores.masked_fill(~allowed, -INFINITY).sort(dim=-1, descending=True, stable=True).indices
    rank = torch.empty_like(order).scatter_(-1, order, torch.arange(order.shape[-1]).expand_as(order).contiguous())
    return allowed & (rank < k)


def index_choice(x, params, causal):
    """The indexer's scores [T,S], and which k tokens it takes."""
    index = torch.einsum("tj,tjs->ts", x["iw"], torch.relu(torch.einsum("tjd,sd->tjs", x["iq"], x["ik"])))
    return index, top(index, sees(len(index), causal), int(params.get("k", 64)))


def dsa(x, params, causal):
    """The indexer's k best tokens, then softmax over these."""
    _, chosen = index_choice(x, params, causal)
    return softmax_over(scores_of(x["q"], x["k"]), chosen[None], x["v"])


def dsa_loss(x, params, causal):
    """What the indexer learns from: KL of the heads' mean attention, a constant, from the softmax of its scores."""
    index, chosen = index_choice(x, params, causal)
    attention = torch.softmax(scores_of(x["q"], x["k"]).masked_fill(~chosen, -INFINITY), dim=-1).mean(0).detach()
    own = torch.log_softmax(index.masked_fill(~chosen, -INFINITY), dim=-1)
    return (torch.xlogy(attention, attention) - attention * own.masked_fill(~chosen, 0)).sum()


def compress(x, place, first, second, B):
    """[T,H,d] to [T//B,H,d]: W2 relu(W1 [x_i + p_i])."""
    blocks, H, d = len(x) // B, *x.shape[1:]
    x = x[:blocks * B].reshape(blocks, B, H, d) + place[None, :, None]
    return torch.relu(x.permute(0, 2, 1, 3).reshape(blocks, H, B * d) @ first.T) @ second.T


def sparse(x, params, causal):
    """NSA: blocks of B tokens, compressed; softmax over the compressed ones; softmax over the k best and the own block;
    softmax over a window. With shared=1 the compressed key of a block is its value too."""
    q, k, v = x["q"], x["k"], x["v"]
    B, T = int(params.get("B", 16)), len(q)
    blocks = T // B
    sides = {"k": k} if int(params.get("shared", 0)) else {"k": k, "v": v}
    if params.get("comp", "mean") == "mean":
        compressed = [y[:blocks * B].reshape(blocks, B, *y.shape[1:]).mean(1) for y in sides.values()]
    elif params["comp"] == "mlp":
        compressed = [compress(y, x["p" + n], x[f"w{n}1"], x[f"w{n}2"], B) for n, y in sides.items()]
    else:
        compressed = [x["c" + n][B - 1::B] for n in sides]
    ck, cv = compressed[0], compressed[-1]
    t, b = torch.arange(T)[:, None], torch.arange(blocks)[None, :]
    ended = (b + 1) * B <= t + 1
    own = int(params.get("own", 1))
    summary_scores = scores_of(q, ck)
    compressed = softmax_over(summary_scores, ended[None].expand_as(summary_scores), cv)
    candidates = b < t // B if own else ended
    chosen = top(summary_scores, candidates[None].expand_as(summary_scores), int(params.get("k", 2)))
    t, s = positions(T)
    block_of = torch.arange(T) // B
    seen = torch.zeros(len(chosen), T, T, dtype=torch.bool)
    seen[:, :, :blocks * B] = chosen[:, :, block_of[:blocks * B]]
    if own:
        seen |= ((block_of[t] == block_of[s]) & (s <= t))[None]
    selected = softmax_over(scores_of(q, k), seen, v)
    if params.get("branches", "lambda") == "lambda":
        weight = int(params.get("lambda", 500)) / 1000
        return weight * compressed + (1 - weight) * selected
    out = x["gates"][..., 0:1] * compressed + x["gates"][..., 1:2] * selected
    if int(params.get("W", 0)):
        out = out + x["gates"][..., 2:3] * window(x, {"W": params["W"]}, True)
    return out


# ---- linear attention with and without decay ---------------------------------------------------------------------


def features(x, kind):
    if kind == "elu1":
        return F.elu(x) + 1
    if kind == "relu":
        return torch.relu(x)
    if kind == "identity":
        return x
    ones, square = torch.ones_like(x[..., :1]), torch.einsum("thi,thj->thij", x, x).flatten(2)
    return torch.cat([ones, x, square / 2 ** 0.5], dim=-1)


def linear(x, params, causal):
    """(phi(Q) phi(K)^T . mask) V, divided by the sum of its weights."""
    q, k = (features(x[name], params.get("phi", "elu1")) for name in ("q", "k"))
    weights = scores_of(q, k) * sees(len(q), causal)
    if int(params.get("norm", 1)):
        weights = weights / weights.sum(-1, keepdim=True)
    return torch.einsum("hts,shv->thv", weights, x["v"])


def decay_between(g, causal):
    """[H,T,S]: e^(g_{s+1} + ... + g_t), each exponent summed on its own; without a mask t is the last token."""
    T = len(g)
    after = torch.tril(torch.ones(T, T, dtype=torch.bool), -1)  # [r,s]: r > s
    rows = torch.where(after, g.T[:, :, None], torch.zeros((), dtype=g.dtype))  # g_r where r > s
    sums = rows.cumsum(1)  # over r up to t
    if not causal:
        return torch.exp(sums[:, -1:, :]).expand(-1, T, -1)
    return torch.exp(sums) * sees(T, True)


def retnet(x, params, causal):
    """The parallel form of the paper, (Q K^T . D) V with D_ts the decays between s and t."""
    return torch.einsum("hts,shv->thv", scores_of(x["q"], x["k"]) * decay_between(x["g"], causal), x["v"])


def mamba2(x, params, causal):
    """State space duality: (L . C B^T) X with L_ts the product of the decays after s up to t."""
    a = torch.exp(x["g"])  # [T,H]
    T = len(a)
    L = torch.zeros(a.shape[1], T, T, dtype=a.dtype)
    row = torch.zeros(a.shape[1], T, dtype=a.dtype)
    for t in range(T):
        row = row * a[t][:, None]
        row[:, t] = 1
        L[:, t] = row
    if not causal:
        L = row[:, None].expand(-1, T, -1)
    return torch.einsum("hts,shv->thv", L * scores_of(x["q"], x["k"]), x["v"])


def recurrence(T, start, step, read, causal):
    """S_t = step(S_{t-1}, t), o_t = read(S_t, t)."""
    S, outputs = start, []
    for t in range(T):
        S = step(S, t)
        if causal:
            outputs.append(read(S, t))
    return torch.stack(outputs if causal else [read(S, t) for t in range(T)])


def zeros(x, *shape):
    return torch.zeros(*shape, dtype=x.dtype)


def outer(a, b):
    return a[..., :, None] * b[..., None, :]


def matrix_start(x):
    """[H,dv,dk]: the papers of the delta rule write v k^T."""
    return zeros(x["k"], x["k"].shape[1], x["v"].shape[2], x["k"].shape[2])


def gla(x, params, causal):
    """S_t = diag(alpha_t) S_{t-1} + k_t^T v_t, o_t = q_t S_t"""
    alpha = torch.exp(x["g"])
    start = matrix_start(x).transpose(1, 2)
    return recurrence(len(alpha), start, lambda S, t: alpha[t][:, :, None] * S + outer(x["k"][t], x["v"][t]),
                      lambda S, t: torch.einsum("hk,hkv->hv", x["q"][t], S), causal)


# ---- the delta rule ----------------------------------------------------------------------------------------------


def transition(x, t):
    """I - beta k k^T"""
    k = x["k"][t]
    return torch.eye(k.shape[-1], dtype=k.dtype) - x["beta"][t][:, None, None] * outer(k, k)


def enters(x, t):
    return x["beta"][t][:, None, None] * outer(x["v"][t], x["k"][t])


def reads(name, x):
    return lambda S, t: torch.einsum("hvk,hk->hv", S, x[name][t])


def delta(x, params, causal):
    """S_t = S_{t-1} (I - beta k k^T) + beta v k^T, o_t = S_t q_t"""
    return recurrence(len(x["q"]), matrix_start(x), lambda S, t: S @ transition(x, t) + enters(x, t), reads("q", x),
                      causal)


def gdelta(x, params, causal):
    """S_t = S_{t-1} (alpha (I - beta k k^T)) + beta v k^T"""
    return recurrence(len(x["q"]), matrix_start(x),
                      lambda S, t: S @ (torch.exp(x["g"][t])[:, None, None] * transition(x, t)) + enters(x, t),
                      reads("q", x), causal)


def kda(x, params, causal):
    """S_t = (I - beta k k^T) Diag(alpha) S_{t-1} + beta k v^T, here transposed."""
    return recurrence(len(x["q"]), matrix_start(x),
                      lambda S, t: S @ (torch.diag_embed(torch.exp(x["g"][t])) @ transition(x, t)) + enters(x, t),
                      reads("q", x), causal)


def rwkv7(x, params, causal):
    """S_t = S_{t-1} (diag(w) + a^T b) + v^T k with rows as vectors, o_t = S_t r_t"""
    def step(S, t):
        move = torch.diag_embed(x["w"][t]) + outer(x["a"][t], x["b"][t])
        return S @ move + outer(x["v"][t], x["k"][t])

    return recurrence(len(x["r"]), matrix_start(x), step, reads("r", x), causal)


def loglinear(x, params, causal):
    """(Q K^T . M) V with M_ts = lambda_t^(level) times what the transitions leave of k_s for q_t; the level of s for t
    is the number of binary digits of t xor s."""
    q, k, v, base = x["q"], x["k"], x["v"], params.get("base", "linear")
    T, levels = len(q), x["lambda"].shape[-1]
    decay = torch.exp(x["g"]) if base != "linear" else torch.ones(q.shape[:2], dtype=q.dtype)
    level = torch.tensor([[min((t ^ s).bit_length(), levels - 1) for s in range(T)] for t in range(T)])
    weights, query = zeros(q, q.shape[1], T, T), q.clone()
    for s in reversed(range(T)):  # query[t] has passed the transitions of t, t-1, ..., s+1
        seen = query[s:].clone()  # what autograd keeps must not change
        met = torch.einsum("thd,hd->th", seen, k[s])
        beta = x["beta"][s] if base == "gdelta" else torch.ones_like(decay[s])
        weights[:, s:, s] = (met * beta).T
        if base == "gdelta":
            seen = seen - (met * beta)[..., None] * k[s]
        query[s:] = decay[s][:, None] * seen
    M = torch.einsum("thl,tsl->hts", x["lambda"], F.one_hot(level, levels).to(q.dtype))
    return torch.einsum("hts,shv->thv", weights * M, v)


# ---- other recurrences -------------------------------------------------------------------------------------------


def mamba(x, params, causal):
    """h_t = exp(dt A) h_{t-1} + dt B x, y = C h + D x, a state of dk numbers for each channel [H,dv,dk]."""
    def step(h, t):
        dt = x["dt"][t][:, :, None]
        return torch.exp(dt * x["A"]) * h + dt * x["x"][t][:, :, None] * x["B"][t][:, None, :]

    return recurrence(len(x["x"]), torch.zeros_like(x["A"]), step,
                      lambda h, t: torch.einsum("hcn,hn->hc", h, x["C"][t]) + x["D"] * x["x"][t], causal)


def rnn(x, params, causal):
    """torch.nn.RNN and torch.nn.LSTM, with the identity where they project their input."""
    kind = torch.nn.LSTM if params.get("kind", "tanh") == "lstm" else torch.nn.RNN
    heads = []
    for h, U in enumerate(x["U"]):
        rows, dv = U.shape
        net = kind(rows, dv, bias=False).to(U.dtype)
        for name, matrix in (("weight_ih_l0", torch.eye(rows, dtype=U.dtype)), ("weight_hh_l0", U)):
            delattr(net, name)  # a parameter of its own, which U's gradient would not reach
            setattr(net, name, matrix)
        heads.append(net(x["x"][:, h])[0])
    out = torch.stack(heads, dim=1)
    return out if causal else out[-1:].expand_as(out)


MECHANISMS = {f.__name__: f for f in (full, window, linear, retnet, gla, mamba2, delta, gdelta, kda, mamba, rwkv7, rnn,
                                      loglinear, sparse, dsa)}
LOSSES = {"dsa": dsa_loss}  # of mechanisms that learn from more than the gradient of o
