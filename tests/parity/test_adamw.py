#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Ten steps of training beside PyTorch: autograd on the networks of model.py and torch.optim.AdamW in double against the
gradients and the AdamW of librung in fp32, for hybrid models; every tensor moves the same way to 1e-4 of its largest number,
and the losses agree to 1e-5. Without PyTorch everything is skipped, and the reason is printed.

    RUNG_LIBRARY=build/librung.so.0 PYTHONPATH=python /usr/bin/python3 tests/parity/test_adamw.py
"""
import ctypes as C
import os
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
from model import Network  # noqa: E402

SPEC = {"vocab": 13, "answers": 7, "max_tokens": 20, "d_model": 24, "d_mlp": 40, "heads": 2, "dk": 6, "dv": 5}
SEQUENCES, TOKENS, STEPS = 3, 17, 10
RATE, BETAS, DECAY, CLIP, WARMUP = 3e-3, (0.9, 0.98), 0.1, 1.0, 3
NO_TARGET = -1


class Batch(C.Structure):
    _fields_ = [(name, C.c_size_t) for name in ("sequences", "prefix", "queries", "each")] + [
        (name, C.c_void_p) for name in ("token", "feature", "target", "target_value", "layer_target")]


class Loss(C.Structure):
    _fields_ = [("loss", C.c_double), ("targets", C.c_size_t), ("right", C.c_size_t)]


class Adamw(C.Structure):
    _fields_ = [(name, C.c_double) for name in ("rate", "beta1", "beta2", "epsilon", "decay", "clip")] + [
        ("schedule", C.c_int), ("warmup", C.c_uint64), ("steps", C.c_uint64)]


lib, handle, floats = rung._library.lib, C.c_void_p, C.POINTER(C.c_float)
lib.rung_net_from_model.argtypes = [C.POINTER(handle), handle, C.c_void_p]
lib.rung_net_parameters.argtypes, lib.rung_net_parameters.restype = [handle], C.c_size_t
lib.rung_net_write.argtypes = [handle, C.c_char_p, C.c_char_p, C.c_void_p]
lib.rung_tape_new.argtypes = [C.POINTER(handle), handle, C.POINTER(Batch), C.c_size_t, C.c_void_p]
lib.rung_net_gradient.argtypes = [C.POINTER(Loss), floats, handle, handle, C.POINTER(Batch), C.c_void_p]
lib.rung_adamw_step.argtypes = [handle, floats, floats, floats, C.POINTER(Adamw), C.c_uint64]
lib.rung_adamw_step.restype = C.c_double
lib.rung_tape_free.argtypes = lib.rung_net_free.argtypes = [handle]


def check(status):
    if status:
        raise RuntimeError(f"status {status}")


def draw(seed):
    rng = numpy.random.default_rng(seed)
    token = rng.integers(0, SPEC["vocab"], (STEPS, SEQUENCES, TOKENS)).astype(numpy.uint32)
    target = rng.integers(0, SPEC["answers"], token.shape).astype(numpy.int32)
    target[rng.random(token.shape) < 0.6] = NO_TARGET
    target[:, :, -1] = 3
    return token, target


def train_here(path, out, token, target):
    """The losses of librung; the trained weights are in `out`."""
    model, net, tape, loss, losses = rung.Model(path), handle(), handle(), Loss(), []
    check(lib.rung_net_from_model(C.byref(net), model._handle, None))
    count = lib.rung_net_parameters(net)
    grad, m, v = ((C.c_float * count)() for _ in range(3))
    conf = Adamw(RATE, *BETAS, 1e-8, DECAY, CLIP, 3, WARMUP, STEPS)
    for step in range(STEPS):
        batch = Batch(SEQUENCES, TOKENS, 0, 0, token[step].ctypes.data, None, target[step].ctypes.data, None, None)
        if not tape:
            check(lib.rung_tape_new(C.byref(tape), net, C.byref(batch), 2, None))
        check(lib.rung_net_gradient(C.byref(loss), grad, net, tape, C.byref(batch), None))
        lib.rung_adamw_step(net, m, v, grad, C.byref(conf), step)
        losses.append(loss.loss)
    check(lib.rung_net_write(net, out.encode(), b"test", None))
    lib.rung_tape_free(tape)
    lib.rung_net_free(net)
    model.close()
    return losses


def decays(name):
    return name.endswith(".weight") and name != "embed.weight"


def train_in_torch(path, token, target):
    """The losses of PyTorch, and the network."""
    net, losses = Network(path), []
    matrices = [w for name, w in net.weights.items() if w.dim() == 2 and decays(name)]
    others = [w for name, w in net.weights.items() if not (w.dim() == 2 and decays(name)) and "rotary" not in name]
    for w in matrices + others:
        w.requires_grad_(True)
    optimiser = torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY}, {"params": others, "weight_decay": 0}],
                                  lr=RATE, betas=BETAS, eps=1e-8)
    for step in range(STEPS):
        rate = RATE * (step + 1) / WARMUP if step < WARMUP else RATE * (1 - (step - WARMUP) / (STEPS - WARMUP))
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.zero_grad()
        logits = torch.cat([Network.forward.__wrapped__(net, torch.from_numpy(row.astype(numpy.int64)))
                            for row in token[step]])
        answers = torch.from_numpy(target[step].astype(numpy.int64)).flatten()
        loss = F.cross_entropy(logits, answers, ignore_index=NO_TARGET)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(matrices + others, CLIP)
        optimiser.step()
        losses.append(loss.item())
    return losses, net


class Steps(unittest.TestCase):
    def compare(self, seed, **changes):
        spec = {**SPEC, **changes}
        token, target = draw(seed)
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "m.safetensors"), os.path.join(folder, "t.safetensors")
            rung.write_random(path, spec, seed)
            before = {name: w.numpy() for name, w in Network(path).weights.items()}
            ours = train_here(path, out, token, target)
            theirs, net = train_in_torch(path, token, target)
            after = Network(out).weights
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-5, err_msg=spec["arch"])
        for name, w in net.weights.items():
            want, got = w.detach().numpy(), after[name].numpy()
            if "rotary" not in name:
                self.assertTrue(abs(want - before[name]).max() > 1e-4, f"{spec['arch']}: {name} has not moved")
            error = abs(want - got).max() / abs(want).max()
            self.assertTrue(error <= 1e-4, f"{spec['arch']}: {name} is off by {error:.2g}")

    def test_a_hybrid_of_full_and_delta_layers(self):
        self.compare(1, arch="full,gdelta:unit=1:conv=3:gate=1,linear", mlp="swiglu", positions="learned", norm="rms")

    def test_rotary_positions_layer_norms_and_two_mechanisms_in_a_layer(self):
        self.compare(2, arch="full@1|gla@2,window:W=5", mlp="gelu", positions="rotary", norm="layer")

    def test_state_space_layers(self):
        self.compare(3, arch="mamba2:conv=4,full,mamba", mlp="relu", positions="none", norm="rms")

    def test_recurrent_layers(self):
        self.compare(4, arch="rwkv7,retnet:gate=1,rnn,kda:unit=1", mlp="none", positions="learned", norm="rms")


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
