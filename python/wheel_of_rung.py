# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""Builds the wheel of this tree (PEP 517), with the standard library and make alone: the package, librung, and the commands.

The variables BUILD, CC, CFLAGS, WITHOUT and MAKEFLAGS of the environment reach make.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY, COMMANDS = "librung.so.0", ("rung", "rung-check")
TIME = (1980, 1, 1, 0, 0, 0)  # the same tree gives the same bytes


def version():
    with open(os.path.join(ROOT, "include", "rung", "base.h"), encoding="utf-8") as file:
        numbers = dict(re.findall(r"#define RUNG_VERSION_(MAJOR|MINOR|PATCH) +(\d+)", file.read()))
    return "{MAJOR}.{MINOR}.{PATCH}".format(**numbers)


def metadata():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return ("Metadata-Version: 2.1\nName: rung\nVersion: " + version() +
            "\nSummary: What an attention architecture can and cannot compute, with proofs\nLicense: MIT\n"
            "Requires-Python: >=3.8\nProvides-Extra: arrays\nRequires-Dist: numpy; extra == 'arrays'\n"
            "Provides-Extra: tables\nRequires-Dist: pandas; extra == 'tables'\n"
            "Description-Content-Type: text/markdown\n\n" + readme)


def tag():
    return "py3-none-" + re.sub(r"[^a-z0-9]", "_", sysconfig.get_platform().lower())


def compile_all():
    """Runs make; returns the directory of what it made."""
    build = os.path.abspath(os.path.join(ROOT, os.environ.get("BUILD", "build")))
    goals = [os.path.join(build, name) for name in (LIBRARY,) + COMMANDS]
    variables = [f"{name}={os.environ[name]}" for name in ("CC", "CFLAGS", "WITHOUT") if name in os.environ]
    subprocess.run(["make", "-C", ROOT, "BUILD=" + build, *variables, *goals], check=True)
    return build


def stripped(path):
    """The bytes of a program without what debuggers read."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "program")
        if not shutil.which("strip") or subprocess.run(["strip", "--strip-debug", "-o", copy, path], check=False).returncode:
            copy = path
        with open(copy, "rb") as file:
            return file.read()


def files(build):
    """Name in the wheel, bytes, and whether it is a program."""
    package = os.path.join(ROOT, "python", "rung")
    for name in sorted(os.listdir(package)):
        if name.endswith(".py") or name == "py.typed":
            with open(os.path.join(package, name), "rb") as file:
                yield "rung/" + name, file.read(), False
    yield "rung/_native/" + LIBRARY, stripped(os.path.join(build, LIBRARY)), True
    for name in COMMANDS:
        yield f"rung-{version()}.data/scripts/{name}", stripped(os.path.join(build, name)), True


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, info, lines = f"rung-{version()}-{tag()}.whl", f"rung-{version()}.dist-info/", []

    def add(archive, path, data, program=False):
        entry = zipfile.ZipInfo(path, TIME)
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100755 if program else 0o100644) << 16
        archive.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")

    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as archive:
        for path, data, program in files(compile_all()):
            add(archive, path, data, program)
        add(archive, info + "METADATA", metadata().encode())
        add(archive, info + "WHEEL", f"Wheel-Version: 1.0\nGenerator: rung {version()}\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode())
        with open(os.path.join(ROOT, "LICENSE"), "rb") as file:
            add(archive, info + "LICENSE", file.read())
        archive.writestr(zipfile.ZipInfo(info + "RECORD", TIME), "".join(lines) + info + "RECORD,,\n")
    return name


class UnsupportedOperation(Exception):
    """The word of PEP 517 for what a backend does not do."""


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("'make dist' writes the archive of a release")
