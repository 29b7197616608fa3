# SPDX-License-Identifier: MIT
"""Reads an ONNX file and computes its graph with numpy: the operators that rung writes, from their definitions."""
import math
import struct

import numpy

DTYPES = {1: numpy.float32, 7: numpy.int64, 9: numpy.bool_}


def fields(data):
    """(number, value) of each field of a protocol buffer: an int, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            value = varint()
            yield key >> 3, value - (1 << 64) if value >> 63 else value
        else:
            size = varint() if key & 7 == 2 else {5: 4, 1: 8}[key & 7]
            yield key >> 3, data[at:at + size]
            at += size


def read_tensor(data):
    dims, parts = [], {}
    for number, value in fields(data):
        if number == 1:
            dims.append(value)
        else:
            parts[number] = value
    return parts[8].decode(), numpy.frombuffer(parts[9], DTYPES[parts[2]]).reshape(dims)


def read_attribute(data):
    parts, ints = {}, []
    for number, value in fields(data):
        if number == 8:
            ints.append(value)
        parts[number] = value
    kind = parts[20]
    value = {1: lambda: struct.unpack("<f", parts[2])[0], 2: lambda: parts.get(3, 0), 3: lambda: parts[4].decode(),
             7: lambda: ints}[kind]()
    return parts[1].decode(), value


def read_node(data):
    node = {1: [], 2: [], 5: []}
    for number, value in fields(data):
        if number in node and isinstance(node[number], list):
            node[number].append(value)
        else:
            node[number] = value
    return (node[4].decode(), [name.decode() for name in node[1]], [name.decode() for name in node[2]],
            dict(map(read_attribute, node[5])))


def softmax(x):
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def slice_of(x, first, end, axes):
    where = [slice(None)] * x.ndim
    for a, b, axis in zip(first, end, axes):
        where[axis] = slice(a, b)
    return x[tuple(where)]


def conv(x, taps, group, pads):
    assert group == x.shape[1] == taps.shape[0] and taps.shape[1] == 1
    padded = numpy.pad(x, ((0, 0), (0, 0), tuple(pads)))
    return sum(taps[None, :, 0, i, None] * padded[:, :, i:i + x.shape[2]] for i in range(taps.shape[2]))


def linear_attention(q, k, v, past, g, beta, kv_num_heads, q_num_heads, scale, update_rule):
    """The recurrence, token by token."""
    heads = kv_num_heads
    assert past is None and heads == q_num_heads and ("gated" in update_rule) == (g is not None)
    assert ("delta" in update_rule) == (beta is not None)
    rows = []
    q, k, v = (a.reshape(*a.shape[:2], heads, -1) for a in (q, k, v))
    state = numpy.zeros((q.shape[0], heads, k.shape[3], v.shape[3]), q.dtype)
    for t in range(q.shape[1]):
        if g is not None:
            state = state * numpy.exp(g[:, t].reshape(q.shape[0], heads, -1, 1))
        u = v[:, t]
        if beta is not None:
            u = beta[:, t, :, None] * (u - numpy.einsum("bhkv,bhk->bhv", state, k[:, t]))
        state = state + k[:, t, :, :, None] * u[:, :, None]
        rows.append(scale * numpy.einsum("bhkv,bhk->bhv", state, q[:, t]).reshape(q.shape[0], -1))
    return numpy.stack(rows, 1)


def reshape(x, shape):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape)])


def layer_norm(x, weight, bias=0, *, axis, epsilon):
    assert axis == -1
    return (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + numpy.float32(epsilon)) * weight + bias


def pad(x, pads, value):
    return numpy.pad(x, list(zip(pads[:x.ndim], pads[x.ndim:])), constant_values=value)


def reduce(how):
    return lambda x, axes, keepdims=1: how(x, axis=tuple(axes), keepdims=bool(keepdims))


OPS = {
    "Add": numpy.add, "Sub": numpy.subtract, "Mul": numpy.multiply, "Div": numpy.divide, "Sqrt": numpy.sqrt,
    "Exp": numpy.exp, "Neg": numpy.negative, "Round": numpy.rint, "Equal": numpy.equal, "Greater": numpy.greater,
    "Min": numpy.minimum, "Where": numpy.where, "MatMul": numpy.matmul, "Identity": lambda x: x,
    "Relu": lambda x: numpy.maximum(x, 0), "Erf": numpy.vectorize(math.erf, otypes=[numpy.float32]),
    "Sigmoid": lambda x: 1 / (1 + numpy.exp(-x)), "Softplus": lambda x: numpy.logaddexp(x, x.dtype.type(0)),
    "Softmax": lambda x, axis: softmax(x), "Gather": lambda x, at, axis=0: numpy.take(x, at, axis),
    "Shape": lambda x, start=0, end=None: numpy.array(x.shape[start:end]), "Slice": slice_of, "Reshape": reshape,
    "Transpose": lambda x, perm: x.transpose(perm), "Unsqueeze": lambda x, axes: numpy.expand_dims(x, tuple(axes)),
    "Expand": lambda x, shape: numpy.broadcast_to(x, shape), "Concat": lambda *x, axis: numpy.concatenate(x, axis),
    "Cast": lambda x, to: x.astype(DTYPES[to]), "Trilu": lambda x, k, upper: numpy.triu(x, k) if upper else numpy.tril(x, k),
    "ReduceMean": reduce(numpy.mean), "ReduceSum": reduce(numpy.sum), "ReduceMin": reduce(numpy.min),
    "ReduceMax": reduce(numpy.max), "LayerNormalization": layer_norm, "Pad": pad, "Conv": conv,
    "LinearAttention": linear_attention,
}


class Graph:
    def __init__(self, path):
        data = open(path, "rb").read()
        self.nodes, self.values, self.used = [], {}, set()
        graph = next(value for number, value in fields(data) if number == 7)
        for number, value in fields(graph):
            if number == 1:
                self.nodes.append(read_node(value))
            if number == 5:
                self.values.update([read_tensor(value)])

    def run(self, **inputs):
        """The logits. Every operator computes in the types of its inputs, so in float32."""
        values = {**self.values, **inputs, "": None}
        for op, names, outs, attributes in self.nodes:
            values[outs[0]] = OPS[op](*(values[name] for name in names), **attributes)
        return values["logits"]
