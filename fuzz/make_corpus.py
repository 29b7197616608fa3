# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# Writes the seeds of fuzz/corpus/{safetensors,npy,npz,json}: small legal files that reach every branch of the readers,
# and one of each kind that is refused late. The bytes do not depend on the machine. Run by hand after a change.
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
