# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# small_gpt2.py FOLDER: writes config.json and model.safetensors of a GPT-2 with one layer of width 4, six tokens and
# eight positions. Its weights are counted up, so the file is always the same.
import json
import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])
shapes = {"wte.weight": (6, 4), "wpe.weight": (8, 4), "ln_f.weight": (4,), "ln_f.bias": (4,)}
for name, rows, columns in (("attn.c_attn", 4, 12), ("attn.c_proj", 4, 4), ("mlp.c_fc", 4, 16), ("mlp.c_proj", 16, 4)):
    shapes[f"h.0.{name}.weight"], shapes[f"h.0.{name}.bias"] = (rows, columns), (columns,)
for name in ("ln_1", "ln_2"):
    shapes[f"h.0.{name}.weight"], shapes[f"h.0.{name}.bias"] = (4,), (4,)
header, data = {}, b""
for name, shape in shapes.items():
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    raw = struct.pack(f"<{count}f", *((i * 37 % 19 - 9) / 16 for i in range(count)))
    header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(header).encode()
(folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
(folder / "config.json").write_text(json.dumps({
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": 1, "n_embd": 4, "n_head": 2, "n_positions": 8, "vocab_size": 6}))
