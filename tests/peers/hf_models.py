#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Small models with random weights, made and run by the classes of Hugging Face transformers:

    build/peers/bin/python tests/peers/hf_models.py FOLDER [name ...]

writes FOLDER/NAME/config.json, model.safetensors and expected.npz (ids, and the logits in f64 of every token). The stored
ones of tests/fixtures/foreign were made so; tests/foreign/logits.py compares them with what rung computes.
"""
import json
import pathlib
import sys

import numpy
import torch
import transformers

SIZES = {"num_hidden_layers": 2, "hidden_size": 16, "intermediate_size": 20, "vocab_size": 13, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 24}
MODELS = {
    "llama": {"model_type": "llama", **SIZES, "rms_norm_eps": 1e-6},
    "llama3": {"model_type": "llama", **SIZES, "head_dim": 12,
               "rope_parameters": {"rope_type": "llama3", "rope_theta": 500.0, "factor": 4.0, "low_freq_factor": 1.0,
                                   "high_freq_factor": 4.0, "original_max_position_embeddings": 16}},
    "linear": {"model_type": "llama", **SIZES, "rope_parameters": {"rope_type": "linear", "rope_theta": 1000.0, "factor": 3.0}},
    "qwen2": {"model_type": "qwen2", **SIZES, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "tie_word_embeddings": True},
    "qwen2-slides": {"model_type": "qwen2", **SIZES, "num_hidden_layers": 3, "use_sliding_window": True, "sliding_window": 5,
                     "max_window_layers": 1},
    "gemma": {"model_type": "gemma", **SIZES, "num_key_value_heads": 1, "head_dim": 6},
    "qwen3": {"model_type": "qwen3", **SIZES, "rms_norm_eps": 1e-6, "head_dim": 6},
}


def model_of(options):
    """Every parameter is random: norms and biases of a new model are ones and zeros, which would hide them."""
    config = transformers.AutoConfig.for_model(**options)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            near_one = weight.dim() == 1 and bool((weight == 1).all())
            weight.copy_(1 + noise / 4 if near_one else noise / (3 if weight.dim() > 1 else 4))
        if model.config.tie_word_embeddings:
            model.tie_weights()
    return model.eval()


def main():
    folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:] or list(MODELS)
    for name in wanted:
        model = model_of(MODELS[name])
        to = folder / name
        model.save_pretrained(to)
        config = json.loads((to / "config.json").read_text())
        (to / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
        (to / "generation_config.json").unlink(missing_ok=True)
        ids = numpy.random.default_rng(3).integers(0, SIZES["vocab_size"], 20)
        with torch.no_grad():
            logits = model.double()(torch.from_numpy(ids)[None]).logits[0]
        numpy.savez(to / "expected.npz", ids=ids, logits=logits.numpy())
        print(name, float(logits.abs().max()))


if __name__ == "__main__":
    main()
