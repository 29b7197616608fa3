# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# Writes the seeds of fuzz/corpus/{safetensors,npy,npz,json,gguf,torch,config,cert,check,serve,explore}: small legal files that reach every branch of the
# readers, and one of each kind that is refused late. Those of config are tests/fixtures/config, one line each. The bytes do not depend on the machine. Run by hand after a change.
import io
import json
import pathlib
import struct
import zipfile

corpus = pathlib.Path(__file__).parent / "corpus"


def put(kind, name, content):
    path = corpus / kind / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def safetensors(header, data):
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
        "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
        "C64": 64, "F64": 64, "I64": 64, "U64": 64}


def every_dtype():
    header, at = {}, 0
    for name, bits in BITS.items():
        header[name] = entry(name, [2, 2], at, at + bits // 2)
        at += bits // 2
    return safetensors(header, bytes(i % 251 for i in range(at)))


def npy(descr, shape, data, version=1, fortran=False):
    text = "{'descr': %r, 'fortran_order': %r, 'shape': %r, }" % (descr, fortran, shape)
    text = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def npz(members, method, zip64=False, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.comment = comment
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            with archive.open(info, "w", force_zip64=zip64) as member:
                member.write(content)
    return out.getvalue()


put("safetensors", "empty", safetensors({}, b""))
put("safetensors", "every_dtype", every_dtype())
put("safetensors", "metadata", safetensors({"__metadata__": {"format": "pt", "a": ""}, "w": entry("F32", [2], 0, 8)}, bytes(8)))
put("safetensors", "order", safetensors({"z": entry("F16", [2], 4, 8), "a": entry("I8", [4], 0, 4)}, bytes(8)))
put("safetensors", "scalar_and_empty", safetensors({"s": entry("F64", [], 0, 8), "e": entry("U8", [0, 3], 8, 8)}, bytes(8)))
put("safetensors", "overlap", safetensors({"a": entry("U8", [4], 0, 4), "b": entry("U8", [4], 2, 6)}, bytes(6)))

put("npy", "f4", npy("<f4", (2, 3), bytes(24)))
put("npy", "scalar_v2", npy("<f8", (), bytes(8), version=2))
put("npy", "vector_v3", npy("<i2", (3,), bytes(6), version=3, fortran=True))
put("npy", "bool", npy("|b1", (0, 5), b""))
put("npy", "big_endian", npy(">f4", (1,), bytes(4)))
put("npy", "object", npy("|O", (1,), bytes(4)))
put("npy", "python2", npy("<u8", (2,), bytes(16)).replace(b"(2,), }  ", b"(2L, ), }"))
put("npy", "rank8", npy("<f2", (1,) * 8, bytes(2)))

arrays = {"a.npy": npy("<f4", (2, 3), bytes(24)), "b.npy": npy("<i8", (100,), bytes(800))}
put("npz", "stored", npz(arrays, zipfile.ZIP_STORED))
put("npz", "deflated", npz(arrays, zipfile.ZIP_DEFLATED))
put("npz", "zip64", npz(arrays, zipfile.ZIP_STORED, zip64=True))
put("npz", "comment", npz({"a.npy": arrays["a.npy"]}, zipfile.ZIP_DEFLATED, comment=b"PK\5\6"))
put("npz", "empty", npz({}, zipfile.ZIP_STORED))
put("npz", "pickle", npz({"data.pkl": b"x"}, zipfile.ZIP_STORED))

put("json", "config", b'{"model_type":"x","layers":[1,2.5e-3,true,null],"rope":{"t":"\\u00e9"},"hidden_size":4096}')
put("json", "python", b'{"time_step_limit":[0.0,Infinity],"low":-Infinity,"nan":NaN,"s":"NaN \\" Infinity"}')
put("json", "nested", b"[" * 40 + b"]" * 40)
put("json", "scalar", b"-9223372036854775808")
put("json", "duplicate", b'{"a":1,"\\u0061":2}')
put("json", "mark", '["\uffff","\\uffff",NaN]'.encode())


U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
LAYOUT = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", I64: "q", F64: "d"}


def text(word):
    return struct.pack("<Q", len(word)) + word.encode()


def value(kind, content):
    if kind == STRING:
        return text(content)
    if kind == ARRAY:
        inner, items = content
        return struct.pack("<IQ", inner, len(items)) + b"".join(value(inner, item) for item in items)
    return struct.pack("<" + LAYOUT[kind], content)


def gguf(keys, tensors=(), version=3):
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    for name, (kind, content) in keys.items():
        out += text(name) + struct.pack("<I", kind) + value(kind, content)
    data = b""
    for name, shape, kind, content in tensors:
        out += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", d) for d in shape)
        out += struct.pack("<IQ", kind, len(data))
        data += content + b"\0" * (-len(content) % 32)
    return out + (b"\0" * (-len(out) % 32) + data if tensors else b"")


def model(arch, sizes, lists={}):
    keys = {"general.architecture": (STRING, arch)}
    keys.update({arch + "." + k: (U32, v) for k, v in sizes.items()})
    keys.update({arch + "." + k: (ARRAY, (U32, v)) for k, v in lists.items()})
    return gguf(keys)


SCALARS = {"u8": (U8, 1), "i8": (I8, -1), "u16": (U16, 2), "i16": (I16, -2), "u32": (U32, 3), "i32": (I32, -3), "f32": (F32, 4.0),
           "bool": (BOOL, True), "string": (STRING, "s"), "u64": (U64, 5), "i64": (I64, -5), "f64": (F64, 0.5)}
put("gguf", "empty", gguf({}))
put("gguf", "scalars", gguf(SCALARS))
put("gguf", "arrays", gguf({k: (ARRAY, (v[0], [v[1]] * 3)) for k, v in SCALARS.items()}, version=2))
put("gguf", "tensors", gguf({"general.alignment": (U32, 32)}, [("w", (8, 2), 0, bytes(64)), ("q", (32,), 2, bytes(18)), ("s", (), 1, bytes(2))]))
put("gguf", "blocks", (pathlib.Path(__file__).parents[1] / "tests/fixtures/io/blocks.gguf").read_bytes())
put("torch", "state", (pathlib.Path(__file__).parents[1] / "tests/fixtures/io/state.pt").read_bytes())
# A pickle alone: {"w": a view of storage 0}, as protocol 2 and, with a dict in the dict, as protocol 4.
STORAGE = b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0000X\3\0\0\0cpuK\x10tQ"
VIEW = b"ctorch._utils\n_rebuild_tensor_v2\n(" + STORAGE + b"K\1K\2K\3\x86K\4K\1\x86\x89)tR"
put("torch", "pickle2", b"\x80\2}q\1X\1\0\0\0w" + VIEW + b"s.")
put("torch", "pickle4", b"\x80\4}\x94(\x8c\1a}\x94\x8c\1w\x94" + VIEW + b"s\x8c\1bh\1\x8c\1c" + VIEW + b"u.")
put("gguf", "twice", gguf({}, [("w", (1,), 0, bytes(4)), ("w", (1,), 0, bytes(4))]))

ATTENTION = {"block_count": 4, "embedding_length": 64, "context_length": 99, "attention.head_count": 4}
SSM = {"ssm.conv_kernel": 4, "ssm.inner_size": 128, "ssm.state_size": 16, "ssm.group_count": 1}
MODELS = {
    "jamba": model("jamba", {**ATTENTION, **SSM}, {"attention.head_count_kv": [0, 0, 2, 0]}),
    "nemotron": model("nemotron_h", {**ATTENTION, **SSM}, {"attention.head_count_kv": [0, 0, 2, 0], "feed_forward_length": [0, 9, 0, 9]}),
    "qwen": model("qwen3next", {**ATTENTION, **SSM, "full_attention_interval": 2, "nextn_predict_layers": 1}),
    "falcon": model("falcon-h1", {**ATTENTION, **SSM}),
    "listed": model("x", {**ATTENTION, **SSM}, {"attention.recurrent_layers": [1, 0, 1, 0]}),
    "kimi": model("kimi", {**ATTENTION, "kda.head_dim": 8, "ssm.conv_kernel": 4, "attention.kv_lora_rank": 8, "rope.dimension_count": 4},
                  {"attention.head_count_kv": [0, 1, 0, 1]}),
    "rwkv": model("rwkv7", {"block_count": 2, "embedding_length": 64, "wkv.head_size": 8, "token_shift_count": 2}),
    "lfm": model("lfm2", {**ATTENTION, "shortconv.l_cache": 3}, {"attention.head_count_kv": [0, 2, 0, 2]}),
    "gemma": model("gemma3n", {**ATTENTION, "attention.sliding_window": 9, "attention.shared_kv_layers": 1}),
    "windows": model("x", {**ATTENTION, "attention.sliding_window": 9}, {"attention.sliding_window_pattern": [1, 0, 1, 0]}),
    "chunks": model("llama4", ATTENTION),
    "compressed": model("x", {**ATTENTION, "attention.indexer.top_k": 4, "attention.indexer.key_length": 8, "attention.sliding_window": 9},
                        {"attention.compress_ratios": [0, 4, 128, 4]}),
    "indexed": model("x", {**ATTENTION, "attention.indexer.top_k": 4, "attention.indexer.key_length": 8}),
}
for name, content in MODELS.items():
    put("config", "gguf_" + name, content)
for path in sorted((pathlib.Path(__file__).parent.parent / "tests/fixtures/config").glob("*.json")):
    put("config", path.stem, " ".join(path.read_text().split()).encode())


def certificate(kind, *lines):
    head = ["rung-certificate 1", "kind " + kind, "model " + "0123456789abcdef" * 4, "arch full, 2*linear:phi=relu", "numbers bf16",
            "task seqcomp L=1 N0=4 n= V=4 flat=0 order=last form=position dist=uniform"]
    return ("\n".join(head + list(lines) + ["end"]) + "\n").encode()


put("cert", "wrong_answer", certificate("wrong-answer", "prompt 0 4294967295 7", "position 2", "right 1", "given 2147483647"))
put("cert", "state", certificate("state-collision", "prompt 0 1 7", "prompt 1 0 7", "prefix 2", "position 2", "right 1 2", "state 00ff3"))
put("cert", "view", certificate("view-collision", "prompt 5", "prompt 5", "position 0", "right 0 1", "view 9"))
put("cert", "block", certificate("block-collision", "prompt 1 2", "prompt 3 2", "position 1", "right 0 1", "layer 0", "block 0", "summary ab", "view cd"))
put("cert", "cut", certificate("wrong-answer", "prompt 0", "position 0", "right 1", "given 2")[:-1])

# A certificate, a NUL, its model.
stored = pathlib.Path(__file__).parent.parent / "tests/fixtures/check"
for name in ("full.view-collision", "window.state-collision", "taylor.wrong-answer", "gla.state-collision", "gdelta.view-collision",
             "loggdelta.state-collision", "nsa.block-collision", "mixed.state-collision", "seqpair.wrong-answer", "recall.view-collision", "e11.wrong-answer"):
    text = (stored / "accept" / (name + ".cert")).read_bytes()
    put("check", name.replace(".", "_"), text + b"\0" + (stored / "models" / (name.split(".")[0] + ".safetensors")).read_bytes())


# serve: the first byte is the path; prompts of seqcomp L=2 N0=2 in every spelling.
WORDS = "z2:0 z2:3 z2:2 z2:1 z1:0 z1:1 z0:1 w:1"
FACTS = ("Facts: The mentor of apple at chair is stone. The mentor of river at chair is cloud. The mentor of apple at house is cloud. "
         "The mentor of river at house is apple. The guide of apple is river. The guide of river is river.")
TABLE = ("Table:\n| mentor | a | p | b |\n| mentor | c | p | d |\n| mentor | a | q | d |\n| mentor | c | q | a |\n| guide | a | c |\n"
         "| guide | c | c |")
ASK = "Question: Start at %s. Take its guide, then the mentor at %s. Which name do you reach?"
ONE, STEPS = " Answer with one name only.", " Think step by step. End with a line that says Answer: and one name."


def request(name, path, body):
    put("serve", name, bytes([path]) + json.dumps(body).encode())


request("words", 0, {"prompt": WORDS, "max_tokens": 1, "temperature": 0, "logprobs": 5, "stop": ["a", "\n"]})
request("facts", 0, {"prompt": FACTS + "\n" + ASK % ("apple", "house") + ONE + "\nAnswer:", "seed": 3, "temperature": 1.5})
request("table", 0, {"prompt": ["x\n\n" + ASK % ("a", "q") + STEPS + "\n" + TABLE, [265, 300]], "model": "m", "n": 1, "echo": False})
request("chat", 1, {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": WORDS}]}],
                    "logprobs": True, "top_logprobs": 2, "max_completion_tokens": 3, "chat_template_kwargs": {"enable_thinking": False}})
request("tokenize", 2, {"prompt": "The guide of apple zz\u00e9 z2:0", "return_token_strs": True})
request("tokenize-chat", 2, {"messages": [{"role": "user", "content": "apple"}]})
request("detokenize", 3, {"tokens": [84, 256, 257, 1000]})
request("refused", 0, {"prompt": WORDS, "stream": True})

# task_text: texts over names; the other seeds are what rung task prints.
put("task_text", "names-facts", ("nseqcomp L=2 N0=2\n" + FACTS + "\n" + ASK % ("apple", "house") + ONE + "\nAnswer:").encode())
put("task_text", "names-table", ("nseqcomp L=2 N0=2 form=pair\n" + ASK % ("a", "q") + STEPS + "\n" + TABLE).encode())
put("task_text", "names-list", b"nk-hop N=4 k=2\nFacts: a, b, a, b.\nQuestion: A hop goes from a place in the list to the place right after the "
    b"latest earlier place that has the same name. Start at the last place. Number of hops: 1. Which name do you reach, or none? "
    b"Answer with one name only.")
put("task_text", "names-sum", b"ntwo-sum N=2 M=8\nTable:\n| 3 |\n| 5 |\nQuestion: Is in the list the number 5? Answer with yes or no only.")
put("task_text", "names-function", b"nself-compose N=2\nFacts: f maps 1 to 0. f maps 0 to 1.\nQuestion: Start at 0, apply f, and apply f again. "
    b"Do you reach 0? Answer with yes or no only.")


# explore: what the page asks.
for number, look in enumerate([
        {"input": 0},
        {"arch": "4*(3*linear,full)", "heads": 2, "head_dim": 8, "context": 1024, "batch": 2, "kv": "bf16", "state": "f32", "set": "ratio=1:1"},
        {"arch": "full", "task": "seqcomp L=2", "n": 512, "bits": 16, "budget_bytes": 1 << 30},
        {"file": {"name": "it's.json", "base64": "eyJtb2RlbF90eXBlIjogImxsYW1hIn0="}, "context": None}]):
    put("explore", "look-%d" % number, json.dumps(look).encode())
