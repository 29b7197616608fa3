# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# Writes tests/fixtures/cert: the two models and four certificates of docs/certificate.md, section 6. Run by hand after a change. The
# claims are written down, not computed: tests/model/test_certificates.c and rung-check compute them.
import hashlib
import json
import pathlib
import struct

fixtures = pathlib.Path(__file__).parent.parent / "fixtures" / "cert"


def model(name, arch, vocab, tensors):
    config = {"mlp": "none", "vocab": vocab, "d_in": 0, "answers": 2, "max_tokens": 8, "d_model": 2, "d_mlp": 0, "heads": 1, "dk": 1, "dv": 1,
              "positions": "none", "norm": "none", "causal": True, "thoughts": 0}
    header = {"__metadata__": {"rung.format": "rung.model/1", "rung.arch": arch, "rung.config": json.dumps(config, separators=(",", ":")),
                               "rung.task": "", "rung.made_by": "by hand, docs/certificate.md section 6"}}
    data = b""
    for tensor, (shape, values) in tensors.items():
        numbers = struct.pack("<%df" % len(values), *values)
        header[tensor] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    raw = struct.pack("<Q", len(text)) + text + data
    (fixtures / name).write_bytes(raw)
    return hashlib.sha256(raw).hexdigest()


def certificate(name, kind, digest, arch, task, *lines):
    head = ["rung-certificate 1", "kind " + kind, "model " + digest, "arch " + arch, "numbers e4m3", "task " + task]
    (fixtures / name).write_text("\n".join([*head, *lines, "end"]) + "\n")


def weights(entries, key):
    return {
        "embed.weight": ([2 + entries, 2], [1, 0, 1, 1] + [1, 0] * entries),
        "layers.0.mix.0.q.weight": ([1, 2], [1, 0]),
        "layers.0.mix.0.k.weight": ([1, 2], key),
        "layers.0.mix.0.v.weight": ([1, 2], [0, 1]),
        "layers.0.out.weight": ([2, 1], [0, 1]),
        "readout.weight": ([2, 2], [0.5, 0, 0, 1]),
    }


fixtures.mkdir(exist_ok=True)
arch, task = "linear:phi=identity:norm=0", "eva N=2 V=2 K=2 form=position dist=uniform"
digest = model("swap.safetensors", arch, 4, weights(2, [1, 0]))
certificate("swap-wrong.cert", "wrong-answer", digest, arch, task, "prompt 0 1 2", "position 2", "right 0", "given 1")
certificate("swap-state.cert", "state-collision", digest, arch, task, "prompt 0 1 2", "prompt 1 0 2", "prefix 2", "position 2", "right 0 1",
            "state 38")
certificate("swap-view.cert", "view-collision", digest, arch, task, "prompt 0 1 2", "prompt 1 0 2", "position 2", "right 0 1", "view 3838")

arch, task = "sparse:B=2:k=1", "eva N=4 V=2 K=4 form=position dist=uniform"
digest = model("block.safetensors", arch, 6, weights(4, [0, 1]))
certificate("block.cert", "block-collision", digest, arch, task, "prompt 0 1 1 1 2", "prompt 1 0 1 1 2", "position 4", "right 0 1", "layer 0",
            "block 0", "summary 3030", "view 3834")
