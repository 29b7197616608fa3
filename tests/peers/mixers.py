# SPDX-License-Identifier: MIT
"""Layers of transformers and mechanisms of flash-linear-attention (its plain functions for PyTorch), with random weights,
beside ours.

mixers.py layers          whole layers: Qwen3-Next and Mamba-2 (without its gate, norm and skip) of transformers
mixers.py mechanisms RUNG functions of transformers and flash-linear-attention, through `rung attn`, files by the package safetensors
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import safetensors.numpy
import torch

# transformers prefers the kernels of flash-linear-attention, which need a GPU; without it there are plain functions.
os.environ["USE_HUB_KERNELS"] = "NO"
sys.modules["fla"] = None
from transformers import Mamba2Config, Qwen3NextConfig
from transformers.models.kimi_linear import modeling_kimi_linear as kimi
from transformers.models.mamba2 import modeling_mamba2
from transformers.models.qwen3_next import modeling_qwen3_next as qwen
del sys.modules["fla"]

WORST = 1e-5
T, HEADS, DK, DV, WIDTH, CONV = 70, 3, 6, 5, 24, 4  # tokens: more than a chunk of 64 there and of 32 here


def agree(what, got, want):
    got, want = numpy.asarray(got), want.detach().numpy()
    assert got.shape == want.shape and abs(want).max() > 0.01, (what, got.shape, want.shape)
    difference = abs(got - want).max() / abs(want).max()
    print(f"{what}: {want.size} numbers, largest difference {difference:.2g} of the largest one")
    assert difference <= WORST, what


def randomize(module):
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            weight.copy_(1 + noise / 4 if name.startswith("norm") else noise / 2)
    return module


def same_layer(what, arch, mixer, weights, **spec):
    """The stream of every token after one layer of ours, and after `mixer`: the read-out is the identity."""
    import rung
    x = torch.randn(T, WIDTH, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        want = x + mixer(x[None])[0]
    names = {"embed.weight": x.numpy(), "readout.weight": numpy.eye(WIDTH, dtype="float32")}
    names.update({f"layers.0.{name}": value.detach().numpy().copy() for name, value in weights.items()})
    shape = {"arch": arch, "vocab": T, "answers": WIDTH, "max_tokens": T, "d_model": WIDTH, "heads": HEADS, "dk": DK, "dv": DV,
             "positions": "none", "norm": "none", "mlp": "none", **spec}
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder, "m.safetensors"))
        rung.save(path, shape, names)
        with rung.Model(path) as model:
            for step in (False, True):
                agree(f"{what}, {'step' if step else 'scan'}", model.run(numpy.arange(T), at=range(T), step=step), want)


def qwen3_next():
    config = Qwen3NextConfig(hidden_size=WIDTH, linear_num_value_heads=HEADS, linear_num_key_heads=HEADS, linear_key_head_dim=DK,
                             linear_value_head_dim=DV, linear_conv_kernel_dim=CONV, num_hidden_layers=1, rms_norm_eps=1e-6,
                             layer_types=["linear_attention"])
    layer = randomize(qwen.Qwen3NextGatedDeltaNet(config, 0)).eval()
    q, k, v, z = layer.in_proj_qkvz.weight.view(HEADS, -1, WIDTH).split([DK, DK, DV, DV], 1)
    beta, g = layer.in_proj_ba.weight.view(HEADS, 2, WIDTH).unbind(1)
    taps = layer.conv1d.weight[:, 0].split([HEADS * DK, HEADS * DK, HEADS * DV])
    group = {"q.weight": q.reshape(-1, WIDTH), "k.weight": k.reshape(-1, WIDTH), "v.weight": v.reshape(-1, WIDTH),
             "gate.weight": z.reshape(-1, WIDTH), "beta.weight": beta, "g.weight": g, "g.bias": layer.dt_bias, "g.A": layer.A_log,
             "q.conv": taps[0], "k.conv": taps[1], "v.conv": taps[2], "gate_norm": layer.norm.weight}
    weights = {f"mix.0.{name}": value for name, value in group.items()} | {"out.weight": layer.out_proj.weight}
    same_layer("transformers: Qwen3NextGatedDeltaNet", f"gdelta:conv={CONV}:gate=1:unit=1:scale={DK ** -0.5!r}", layer, weights,
               norm_epsilon=1e-6)


def mamba2():
    inner = WIDTH # expand is a whole number there
    config = Mamba2Config(hidden_size=WIDTH, num_heads=HEADS, head_dim=WIDTH // HEADS, state_size=DK, n_groups=1, expand=1,
                          conv_kernel=CONV, num_hidden_layers=1, use_conv_bias=False, chunk_size=16)
    layer = randomize(modeling_mamba2.Mamba2Mixer(config, 0)).eval()

    class Plain(torch.nn.Module):
        def forward(self, hidden, gate=None):
            return hidden

    layer.norm = Plain()
    with torch.no_grad():
        layer.D.zero_()
    _, x, b, c, dt = layer.in_proj.weight.split([inner, inner, DK, DK, HEADS])
    taps = layer.conv1d.weight[:, 0].split([inner, DK, DK])
    group = {"q.weight": c.repeat(HEADS, 1), "k.weight": b.repeat(HEADS, 1), "v.weight": x, "g.weight": dt, "g.bias": layer.dt_bias,
             "g.A": layer.A_log, "v.conv": taps[0], "k.conv": taps[1].repeat(HEADS, 1), "q.conv": taps[2].repeat(HEADS, 1)}
    weights = {f"mix.0.{name}": value for name, value in group.items()} | {"out.weight": layer.out_proj.weight}
    same_layer("transformers: Mamba2Mixer without gate, norm and skip", f"mamba2:conv={CONV}", layer, weights,
               dv=WIDTH // HEADS)


def inputs():
    generator = torch.Generator().manual_seed(3)
    make = lambda *shape: torch.randn(1, T, HEADS, *shape, generator=generator)
    q, k = (torch.nn.functional.normalize(make(DK), dim=-1) for _ in range(2))
    return {"q": q, "k": k, "v": make(DV), "beta": make().sigmoid(), "g": -make().exp() / 8, "channel": -make(DK).exp() / 8}


def same_mechanism(rung, what, mech, names, want, scale=DK ** -0.5, outputs="o"):
    x = inputs()
    with tempfile.TemporaryDirectory() as folder:
        given, made = (str(pathlib.Path(folder, name)) for name in ("in.safetensors", "out.safetensors"))
        safetensors.numpy.save_file({ours: x[theirs][0].numpy().copy() for ours, theirs in names.items()}, given)
        subprocess.run([rung, "attn", *mech.split(":"), "--in", given, "--out", made, "--scale", repr(scale)], check=True, capture_output=True)
        agree(what, safetensors.numpy.load_file(made)[outputs], want[0])


def mechanisms(rung):
    from fla.ops.gla.naive import naive_recurrent_gla
    from fla.ops.gated_delta_rule.naive import naive_recurrent_gated_delta_rule
    from fla.ops.kda.naive import naive_recurrent_kda
    from fla.ops.simple_gla.naive import naive_recurrent_simple_gla
    from fla.ops.linear_attn.naive import naive_recurrent_linear_attn
    x = inputs()
    q, k, v, beta, g, channel = x.values()
    plain = {name: name for name in "qkv"}
    gated, channels = plain | {"g": "g"}, plain | {"g": "channel"}
    for name, function in (("torch_recurrent", qwen.torch_recurrent_gated_delta_rule), ("torch_chunk", qwen.torch_chunk_gated_delta_rule)):
        same_mechanism(rung, f"transformers: {name}_gated_delta_rule", "gdelta", gated | {"beta": "beta"},
                       function(q, k, v, g=g, beta=beta)[0])
    for name in ("recurrent_kimi_delta_attention", "chunk_kimi_delta_attention"):
        same_mechanism(rung, f"transformers: {name}", "kda", channels | {"beta": "beta"}, getattr(kimi, name)(q, k, v, g=channel, beta=beta, initial_state=None, output_final_state=False)[0])
    same_mechanism(rung, "flash-linear-attention: gated_delta_rule", "gdelta", gated | {"beta": "beta"},
                   naive_recurrent_gated_delta_rule(q, k, v, beta, g)[0])
    same_mechanism(rung, "flash-linear-attention: kda", "kda", channels | {"beta": "beta"}, naive_recurrent_kda(q, k, v, channel, beta)[0])
    same_mechanism(rung, "flash-linear-attention: gla", "gla", channels, naive_recurrent_gla(q, k, v, channel)[0])
    same_mechanism(rung, "flash-linear-attention: simple_gla", "retnet", gated, naive_recurrent_simple_gla(q, k, v, g)[0])
    same_mechanism(rung, "flash-linear-attention: simple_gla", "mamba2", gated, naive_recurrent_simple_gla(q, k, v, g)[0])
    same_mechanism(rung, "flash-linear-attention: linear_attn", "linear:phi=identity:norm=0", plain,
                   naive_recurrent_linear_attn(q, k, v)[0])
    attention = torch.nn.functional.scaled_dot_product_attention(*(a.transpose(1, 2) for a in (q, k, v)), is_causal=True)
    same_mechanism(rung, "torch: scaled_dot_product_attention", "full", plain, attention.transpose(1, 2))


if sys.argv[1] == "layers":
    qwen3_next()
    mamba2()
else:
    mechanisms(sys.argv[2])
