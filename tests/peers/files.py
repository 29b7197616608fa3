# SPDX-License-Identifier: MIT
"""Files of rung, read by the libraries that their formats come from.

files.py gguf FILE.gguf FOLDER              the package gguf reads keys and tensors; they are those of the folder of Hugging Face
files.py safetensors MODEL.safetensors      the package safetensors reads what the Python package of rung reads
files.py tensorboard LOGS METRICS.jsonl     tensorboard reads the numbers of the log
"""
import json
import pathlib
import sys

import numpy

GPT2 = {"token_embd.weight": "transformer.wte.weight", "position_embd.weight": "transformer.wpe.weight",
        "output_norm.weight": "transformer.ln_f.weight", "output_norm.bias": "transformer.ln_f.bias", "output.weight": "lm_head.weight"}
GPT2_LAYER = {"attn_norm": "ln_1", "attn_qkv": "attn.c_attn", "attn_output": "attn.c_proj", "ffn_norm": "ln_2", "ffn_up": "mlp.c_fc",
              "ffn_down": "mlp.c_proj"}


def theirs(name):
    if name in GPT2:
        return GPT2[name], False
    _, layer, part, kind = name.split(".")
    turned = kind == "weight" and "norm" not in part  # stored as [in][out] there
    return f"transformer.h.{layer}.{GPT2_LAYER[part]}.{kind}", turned


def gguf(file, folder):
    import gguf as package
    import safetensors.numpy
    reader = package.GGUFReader(file)
    config = json.loads(pathlib.Path(folder, "config.json").read_text())
    there = safetensors.numpy.load_file(pathlib.Path(folder, "model.safetensors"))
    assert reader.get_field("general.architecture").contents() == "gpt2" == config["model_type"]
    for key, name in (("block_count", "n_layer"), ("embedding_length", "n_embd"), ("context_length", "n_positions")):
        assert reader.get_field("gpt2." + key).contents() == config[name], key
    words = reader.get_field("tokenizer.ggml.tokens").contents()
    vocabulary = json.loads(pathlib.Path(folder, "tokenizer.json").read_text())["model"]["vocab"]
    assert [word.strip() for word in words][:-1] == list(vocabulary)[:-1] and len(words) == config["vocab_size"]
    assert len(reader.tensors) == len(there) > 5
    for tensor in reader.tensors:
        name, turned = theirs(tensor.name)
        assert tensor.tensor_type == package.GGMLQuantizationType.F32
        assert numpy.array_equal(tensor.data, there[name].T if turned else there[name]), tensor.name
    print(f"gguf: {len(reader.tensors)} tensors are those of the folder")


def safetensors_(file):
    import rung
    import safetensors
    with rung.Model(file) as model, safetensors.safe_open(file, "numpy") as there:
        ours = dict(model.tensors())
        assert set(there.keys()) == set(ours) and "rung.arch" in there.metadata(), there.metadata()
        for name, array in ours.items():
            assert array.dtype == there.get_tensor(name).dtype and numpy.array_equal(array, there.get_tensor(name)), name
    print(f"safetensors {safetensors.__version__}: {len(ours)} tensors are the same")


def tensorboard(logs, metrics):
    import tensorboard
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    events = EventAccumulator(logs)
    events.Reload()
    rows = [json.loads(line) for line in open(metrics)]
    compared = 0
    for tag in events.Tags()["scalars"]:
        name = tag.replace("/", "_").removeprefix("train_")
        said = {event.step: event.value for event in events.Scalars(tag)}
        for row in rows:
            if row.get("step") in said and isinstance(row.get(name), (int, float)):
                assert abs(said[row["step"]] - row[name]) <= 1e-6 * max(1, abs(row[name])), (tag, row)
                compared += 1
    assert compared >= 2, (events.Tags(), rows[:2])
    print(f"tensorboard {tensorboard.__version__}: {compared} numbers are those of the log")


{"gguf": gguf, "safetensors": safetensors_, "tensorboard": tensorboard}[sys.argv[1]](*sys.argv[2:])
