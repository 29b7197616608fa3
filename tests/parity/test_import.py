#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Weights of other programs through `rung import-model`: llama and GPT-2 written here in PyTorch from their published
equations, stored as GGUF, as safetensors in one file and in shards, and as a state dict; the logits of the model file
must be those of the network, within 1e-5 of the largest.

    RUNG=build/rung RUNG_LIBRARY=build/librung.so.0 PYTHONPATH=python /usr/bin/python3 tests/parity/test_import.py
"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import torch
    import torch.nn.functional as F
except ImportError as problem:
    print(f"skipped: {problem}; Debian has python3-torch and python3-numpy, for /usr/bin/python3")
    raise SystemExit(0)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import rung  # noqa: E402

RUNG = os.environ.get("RUNG", "build/rung")
LAYERS, D, HEADS, KEYS, DK, MLP, VOCAB, CONTEXT = 2, 24, 4, 2, 6, 32, 19, 40
BASE = 5000.0


# ---- the networks --------------------------------------------------------------------------------------------------


def attend(q, k, v, window=0):
    """[heads][tokens][dk]"""
    tokens = q.shape[1]
    at = torch.arange(tokens)
    hidden = at[None, :] > at[:, None]
    if window:
        hidden = hidden | (at[None, :] <= at[:, None] - window)
    scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(hidden, -math.inf)
    return scores.softmax(-1) @ v


def rms(x, weight):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * weight


def rotate_halves(x):
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * BASE ** (-torch.arange(half, dtype=torch.float64) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1)


def heads_of(x, count):
    return x.view(x.shape[0], count, -1).transpose(0, 1)


def llama(w, ids, window=0):
    """HF names; rotation of halves."""
    x = w["model.embed_tokens.weight"][ids]
    for i in range(LAYERS):
        p = f"model.layers.{i}."
        h = rms(x, w[p + "input_layernorm.weight"])
        q, k, v = (F.linear(h, w[p + f"self_attn.{n}_proj.weight"], w.get(p + f"self_attn.{n}_proj.bias")) for n in "qkv")
        q, k, v = rotate_halves(heads_of(q, HEADS)), rotate_halves(heads_of(k, KEYS)), heads_of(v, KEYS)
        k, v = (t.repeat_interleave(HEADS // KEYS, 0) for t in (k, v))
        o = attend(q, k, v, window).transpose(0, 1).reshape(len(ids), -1)
        x = x + F.linear(o, w[p + "self_attn.o_proj.weight"], w.get(p + "self_attn.o_proj.bias"))
        h = rms(x, w[p + "post_attention_layernorm.weight"])
        gate, up = (F.linear(h, w[p + f"mlp.{n}_proj.weight"], w.get(p + f"mlp.{n}_proj.bias")) for n in ("gate", "up"))
        x = x + F.linear(F.silu(gate) * up, w[p + "mlp.down_proj.weight"], w.get(p + "mlp.down_proj.bias"))
    return F.linear(rms(x, w["model.norm.weight"]), w.get("lm_head.weight", w["model.embed_tokens.weight"]))


def gpt2(w, ids):
    def norm(x, name):
        return F.layer_norm(x, (D,), w[name + ".weight"], w[name + ".bias"], 1e-5)

    def conv1d(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    x = w["wte.weight"][ids] + w["wpe.weight"][:len(ids)]
    for i in range(LAYERS):
        q, k, v = conv1d(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").split(D, -1)
        o = attend(*(heads_of(t, HEADS) for t in (q, k, v))).transpose(0, 1).reshape(len(ids), -1)
        x = x + conv1d(o, f"h.{i}.attn.c_proj")
        hidden = F.gelu(conv1d(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate="tanh")
        x = x + conv1d(hidden, f"h.{i}.mlp.c_proj")
    return norm(x, "ln_f")


def random_weights(shapes, seed):
    torch.manual_seed(seed)
    return {name: (1 + torch.randn(shape) / 4 if "norm" in name and name.endswith("weight") else torch.randn(shape) / 3)
            for name, shape in shapes.items()}


def llama_weights(seed, tied=False, bias=""):
    shapes = {"model.embed_tokens.weight": (VOCAB, D), "model.norm.weight": (D,)}
    if not tied:
        shapes["lm_head.weight"] = (VOCAB, D)
    for i in range(LAYERS):
        p = f"model.layers.{i}."
        rows = {"q": HEADS * DK, "k": KEYS * DK, "v": KEYS * DK}
        for n, r in rows.items():
            shapes[p + f"self_attn.{n}_proj.weight"] = (r, D)
            if "attention" in bias:
                shapes[p + f"self_attn.{n}_proj.bias"] = (r,)
        if "attention" in bias:
            shapes[p + "self_attn.o_proj.bias"] = (D,)
        if "mlp" in bias:
            shapes.update({p + "mlp.gate_proj.bias": (MLP,), p + "mlp.up_proj.bias": (MLP,), p + "mlp.down_proj.bias": (D,)})
        shapes.update({p + "self_attn.o_proj.weight": (D, HEADS * DK), p + "input_layernorm.weight": (D,),
                       p + "post_attention_layernorm.weight": (D,), p + "mlp.gate_proj.weight": (MLP, D),
                       p + "mlp.up_proj.weight": (MLP, D), p + "mlp.down_proj.weight": (D, MLP)})
    return random_weights(shapes, seed)


def gpt2_weights(seed):
    shapes = {"wte.weight": (VOCAB, D), "wpe.weight": (CONTEXT, D), "ln_f.weight": (D,), "ln_f.bias": (D,)}
    for i in range(LAYERS):
        p = f"h.{i}."
        for name, rows, columns in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D), ("mlp.c_fc", D, MLP), ("mlp.c_proj", MLP, D)):
            shapes[p + name + ".weight"], shapes[p + name + ".bias"] = (rows, columns), (columns,)
        for name in ("ln_1", "ln_2"):
            shapes[p + name + ".weight"], shapes[p + name + ".bias"] = (D,), (D,)
    return random_weights(shapes, seed)


LLAMA = {"model_type": "llama", "num_hidden_layers": LAYERS, "hidden_size": D, "intermediate_size": MLP, "vocab_size": VOCAB,
         "num_attention_heads": HEADS, "num_key_value_heads": KEYS, "head_dim": DK, "max_position_embeddings": CONTEXT,
         "rms_norm_eps": 1e-5, "rope_theta": BASE, "hidden_act": "silu", "torch_dtype": "float32"}
GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": LAYERS, "n_embd": D, "n_inner": MLP,
        "n_head": HEADS, "n_positions": CONTEXT, "vocab_size": VOCAB}


# ---- the files -------------------------------------------------------------------------------------------------------


def write_safetensors(path, weights):
    header, data = {}, b""
    for name, value in weights.items():
        raw = value.numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def gguf_text(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def write_gguf(path, keys, weights):
    """keys: name -> int, float or str. F32 tensors; a GGUF dimension list runs from the innermost to the outermost."""
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(weights), len(keys))
    for name, value in keys.items():
        kind, raw = ((8, gguf_text(value)) if isinstance(value, str) else
                     (6, struct.pack("<f", value)) if isinstance(value, float) else (4, struct.pack("<I", value)))
        head += gguf_text(name) + struct.pack("<I", kind) + raw
    data = b""
    for name, value in weights.items():
        data += b"\0" * (-len(data) % 32)
        head += gguf_text(name) + struct.pack(f"<I{value.dim()}QIQ", value.dim(), *reversed(value.shape), 0, len(data))
        data += value.contiguous().numpy().astype("<f4").tobytes()
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % 32) + data)


def pairs_of(matrix, count):
    """The rows of each head in the order of a rotation of neighbours, as GGUF files of llama have them."""
    rows = matrix.view(count, 2, DK // 2, *matrix.shape[1:])
    return rows.transpose(1, 2).reshape(matrix.shape)


GGUF_NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
              "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
              "mlp.down_proj": "ffn_down"}


def gguf_weights(weights):
    out = {}
    for name, value in weights.items():
        stem = name.replace("model.embed_tokens", "token_embd").replace("model.norm", "output_norm").replace("lm_head", "output")
        stem = stem.replace("model.layers.", "blk.")
        for old, new in GGUF_NAMES.items():
            stem = stem.replace(old, new)
        if "attn_q" in stem:
            value = pairs_of(value, HEADS)
        if "attn_k" in stem:
            value = pairs_of(value, KEYS)
        out[stem] = value
    return out


GGUF_KEYS = {"general.architecture": "llama", "llama.block_count": LAYERS, "llama.embedding_length": D, "llama.feed_forward_length": MLP,
             "llama.attention.head_count": HEADS, "llama.attention.head_count_kv": KEYS, "llama.context_length": CONTEXT,
             "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.dimension_count": DK, "llama.rope.freq_base": BASE}


# ---- the tests -------------------------------------------------------------------------------------------------------


class Import(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)
        self.folder = tempfile.TemporaryDirectory()
        self.ids = numpy.random.default_rng(7).integers(0, VOCAB, CONTEXT - 3)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_import(self, *words, status=0):
        done = subprocess.run([RUNG, "import-model", *words, "-o", self.path("out.safetensors")], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def logits_are(self, want, ids=None):
        with rung.Model(self.path("out.safetensors")) as model:
            got = numpy.array(model.run(self.ids if ids is None else ids, at=range(len(want))))
        error, size = abs(got - want.numpy()).max(), abs(want).max()
        self.assertLess(error, 1e-5 * size)

    def wide(self, weights):
        return {name: value.double() for name, value in weights.items()}

    def test_llama_in_one_file(self):
        for seed, options in enumerate(({}, {"tied": True}, {"bias": "attention"}, {"bias": "mlp"}, {"bias": "attention and mlp"})):
            weights = llama_weights(seed, **options)
            write_json(self.path("config.json"), {**LLAMA, "tie_word_embeddings": bool(options.get("tied")),
                                                  "attention_bias": "attention" in options.get("bias", ""),
                                                  "mlp_bias": "mlp" in options.get("bias", "")})
            write_safetensors(self.path("model.safetensors"), weights)
            self.run_import(self.folder.name)
            self.logits_are(llama(self.wide(weights), torch.from_numpy(self.ids)))

    def test_llama_in_shards(self):
        weights = llama_weights(3)
        names = list(weights)
        parts = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
        for file, part in parts.items():
            write_safetensors(self.path(file), {n: weights[n] for n in part})
        write_json(self.path("model.safetensors.index.json"), {"weight_map": {n: f for f, part in parts.items() for n in part}})
        write_json(self.path("config.json"), LLAMA)
        self.run_import(self.folder.name)
        self.logits_are(llama(self.wide(weights), torch.from_numpy(self.ids)))

    def test_mistral_sees_a_window(self):
        weights = llama_weights(4)
        write_json(self.path("config.json"), {**LLAMA, "model_type": "mistral", "sliding_window": 5})
        write_safetensors(self.path("model.safetensors"), weights)
        self.run_import(self.folder.name)
        self.logits_are(llama(self.wide(weights), torch.from_numpy(self.ids), window=5))

    def test_llama_as_gguf(self):
        weights = llama_weights(5)
        write_gguf(self.path("m.gguf"), GGUF_KEYS, gguf_weights(weights))
        self.run_import(self.path("m.gguf"))
        self.logits_are(llama(self.wide(weights), torch.from_numpy(self.ids)))

    def test_gpt2_as_a_state_dict(self):
        weights = gpt2_weights(6)
        torch.save({"backbone." + name: value for name, value in weights.items()}, self.path("m.pt"))
        write_json(self.path("config.json"), GPT2)
        self.run_import(self.path("m.pt"))
        hidden = gpt2(self.wide(weights), torch.from_numpy(self.ids))
        self.logits_are(hidden @ weights["wte.weight"].double().T)
        self.run_import(self.path("m.pt"), "--read-out", "hidden", "--answers", "3-5,0", "--tokens", "4-18")
        some = self.ids[self.ids >= 4]
        self.logits_are(gpt2(self.wide(weights), torch.from_numpy(some))[:, [3, 4, 5, 0]], some - 4)

    def test_gpt2_as_safetensors_with_masks(self):
        weights = gpt2_weights(8)
        stored = {"transformer." + name: value for name, value in weights.items()}
        stored["transformer.h.0.attn.bias"] = torch.ones(1, 1, 4, 4).tril()
        write_safetensors(self.path("model.safetensors"), stored)
        write_json(self.path("config.json"), GPT2)
        self.run_import(self.path("model.safetensors"))
        self.logits_are(gpt2(self.wide(weights), torch.from_numpy(self.ids)) @ weights["wte.weight"].double().T)

    def refused(self, fault, config=None, change=None, drop=None, **more):
        weights = llama_weights(9)
        if drop:
            del weights[drop]
        weights.update(change or {})
        write_safetensors(self.path("model.safetensors"), weights)
        write_json(self.path("config.json"), {**(config or LLAMA), **more})
        self.assertIn(fault, self.run_import(self.folder.name, status=3))
        self.assertFalse(os.path.exists(self.path("out.safetensors")))

    def test_what_has_no_place_is_refused(self):
        self.refused("rms_norm_eps", rms_norm_eps=0)
        self.refused("rms_norm_eps", rms_norm_eps=1.5)
        self.refused("low_freq_factor", rope_scaling={"rope_type": "llama3", "factor": 8.0})
        self.refused("factor", rope_scaling={"rope_type": "linear"})
        self.refused("rope_type", rope_scaling={"rope_type": "dynamic", "factor": 2.0})
        self.refused("hidden_act", hidden_act="gelu")
        self.refused("num_experts", num_experts=8)
        self.refused("layer_types", layer_types=["full_attention", "sliding_attention"])
        self.refused("model_type 'gemma3_text'", model_type="gemma3_text")
        self.refused("[24,24]", num_attention_heads=2, num_key_value_heads=2, head_dim=12)
        self.refused("cannot share", num_attention_heads=4, num_key_value_heads=3)
        self.refused("q_norm.weight' has no place", change={"model.layers.0.self_attn.q_norm.weight": torch.ones(DK)})
        self.refused("has no tensor model.layers.1.mlp.up_proj.weight", drop="model.layers.1.mlp.up_proj.weight")
        self.refused("does not say that the embedding reads out", drop="lm_head.weight")
        self.refused('"num_hidden_layers" is not a whole number from 1 to 16777216', num_hidden_layers=2**62)
        self.refused("layers.2", change={"model.layers.2.mlp.up_proj.weight": torch.ones(MLP, D)})

    def test_a_bias_that_the_published_class_does_not_have_is_refused(self):
        for at, key in (("self_attn.k_proj", "attention_bias"), ("self_attn.o_proj", "attention_bias"), ("mlp.down_proj", "mlp_bias")):
            name = f"model.layers.1.{at}.bias"
            bias = {name: torch.ones(KEYS * DK if "k_proj" in at else D)}
            for config in (LLAMA, {**LLAMA, key: False}, {**LLAMA, key: None}, {**LLAMA, "model_type": "mistral"}):
                self.refused(f"tensor {name} is a bias", config=config, change=bias)
            self.refused(".bias", **{key: True})  # and one that it has, but the file has not
            self.refused(f'"{key}" is true', model_type="mistral", **{key: True})

    def test_gguf_biases_are_added_if_present_as_llama_cpp_does(self):
        weights = llama_weights(11, bias="attention and mlp")
        write_gguf(self.path("m.gguf"), GGUF_KEYS, gguf_weights(weights))
        self.run_import(self.path("m.gguf"))
        self.logits_are(llama(self.wide(weights), torch.from_numpy(self.ids)))

    def test_gguf_keys_that_change_the_layers_are_refused(self):
        weights = gguf_weights(llama_weights(10))
        for key, value in (("llama.rope.scaling.factor", 2.0), ("llama.expert_count", 8), ("llama.attention.sliding_window", 64)):
            write_gguf(self.path("m.gguf"), {**GGUF_KEYS, key: value}, weights)
            self.assertIn(key, self.run_import(self.path("m.gguf"), status=3))


if __name__ == "__main__":
    unittest.main()
