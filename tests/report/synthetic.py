#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# synthetic.py STORE KIND [RUNS]: fills a store that `rung sweep` has made (so that the schema is the real one) with invented runs.
# The store's own sweeps and runs are removed. Kinds: capacity (two numbers, three architectures, rates, controls, theory), depth
# (layers only), hostile (labels that want to be markup), plain (architectures only), dense (many
# places at an axis), large (RUNS runs). Results are a pure function
# of the arguments.
import hashlib
import json
import random
import sqlite3
import sys

MARKUP = '<img src=x onerror=alert(1)></script><script>alert("2")</script>&amp;\'"<!--'
BASE = {"task.V": 4, "d-model": 32, "heads": 1, "mlp": "gelu", "positions": "learned", "steps": 2000, "batch": 32, "random-labels": False}


def number(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:13], 16)


class Store:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        for table in "runs", "theory", "metrics", "artefacts", "sweeps", "plan", "claims":
            self.db.execute("DELETE FROM " + table)
        self.sweeps = self.runs = 0
        self.version = self.db.execute("SELECT min(number) FROM versions").fetchone()[0]
        self.machine = self.db.execute("SELECT min(number) FROM machines").fetchone()[0]

    def sweep(self, name, question, success):
        self.sweeps += 1
        self.place = 0
        self.db.execute("INSERT INTO sweeps VALUES (?,?,?,?,?,?,?)",
                        (self.sweeps, "%032x" % number(name), name, question, success, "{}", 0))

    def insert(self, table, row):
        self.db.execute("INSERT INTO %s (%s) VALUES (%s)" % (table, ",".join(row), ",".join("?" * len(row))), list(row.values()))

    def run(self, words, result, label="", theory=None, planned=True, curve=20, certificate=None):
        words = {**BASE, **words}
        canonical = json.dumps(words, sort_keys=True)
        but = lambda *keys: json.dumps({k: v for k, v in words.items() if k not in keys}, sort_keys=True)
        self.runs += 1
        ident = "%032x" % int(hashlib.sha256(canonical.encode()).hexdigest()[:32], 16)
        row = {"number": self.runs, "id": ident, "canonical": canonical, "words": json.dumps(words), "arch": words["arch"],
               "task": words["task"], "seed": words["seed"], "rate": words["rate"], "random_labels": int(words["random-labels"]),
               "outcome": "finished", "step": words["steps"], "steps": words["steps"], "loss": 0.1, "accuracy": 0.9, "chance": 0.25,
               "majority": 0.25, "tokens": 9, "parameters": 10000, "layers": 1, "full_layers": 1, "recurrent_layers": 0,
               "state_bits": 0, "level_bits": 0, "message_bits": 64, "kv_bits_per_token": 0, "seconds": 1.5, "resumed": 0,
               "finished_at": 1.75e9 + self.runs, "version": self.version, "machine": self.machine, "test_targets": 1000}
        spoken = theory and (theory.get("verdict") == "CANNOT" or theory.get("ceiling"))
        row["test_numbers"] = "f32" if spoken else "fp32"
        row.update(result)
        if row["outcome"] == "diverged":
            row["test_accuracy"] = row["test_loss"] = None
        row["test_right"] = round(1000 * (row["test_accuracy"] or 0))
        self.insert("runs", row)
        self.insert("theory", {"run": self.runs, "bits": 32, "verdict": "UNKNOWN", "bound": "", "statement": "", "trivial": 0,
                               **(theory or {})})
        if planned:
            self.insert("plan", {"sweep": self.sweeps, "place": self.place, "run": ident, "label": label,
                                 "cell": number(label + but("seed", "rate")), "setting": number(label + but("seed"))})
            self.place += 1
        for i in range(curve):
            share = (i + 1) / curve
            self.insert("metrics", {"run": self.runs, "step": int(words["steps"] * share), "loss": 1 - share, "accuracy": share,
                                    "rate": words["rate"], "gradient": 1, "eval_loss": 1 - share,
                                    "eval_accuracy": 0.25 + ((row["eval_accuracy"] or 0.25) - 0.25) * share ** 2})
        if certificate:
            self.insert("artefacts", {"run": self.runs, "kind": "certificate", "name": "broken.cert",
                                      "sha256": hashlib.sha256(certificate).hexdigest(), "size": len(certificate),
                                      "content": certificate})

    def close(self):
        self.db.commit()
        self.db.close()


def measured(draw, mean, rate, best, spread=0.06):
    value = min(1, max(0.2, mean - 0.12 * abs(rate / best - 1) ** 0.5 + draw.gauss(0, spread)))
    return {"test_accuracy": round(min(1, max(0, value + draw.gauss(0, 0.01))), 4), "test_loss": 1 - value,
            "eval_accuracy": round(value, 4), "eval_loss": round(1 - value, 6)}


def capacity(store, draw):
    store.sweep("capacity", "How many facts does a state of b bits hold?", 0.95)
    for arch in "full", "linear", "delta:unit=1":
        for dk in 4, 8, 16:
            for size in 4, 8, 16, 32, 64:
                bits = 0 if arch == "full" else 32 * dk * dk
                ceiling = min(1.0, 0.25 + 0.9 * (bits / 40) / size) if bits and size > bits / 40 else None
                mean = 0.98 if arch == "full" else min(0.99, 0.3 + 0.62 * min(1.0, dk * (3 if arch[0] == "d" else 2) / size))
                if ceiling:
                    mean = min(mean, ceiling - 0.05)
                theory = {"verdict": "CANNOT" if ceiling else "UNKNOWN", "bound": "count" if bits else "", "margin": size * 40 / bits if bits else None,
                          "statement": "N log2 V = %d > %d bits" % (2 * size, bits) if bits else "", "ceiling": ceiling,
                          "n_threshold": bits // 40 + 2 if bits else None}
                for rate in 0.001, 0.003, 0.01:
                    for seed in range(1, 6):
                        words = {"arch": arch, "task": "eva", "task.N": size, "task.K": size, "dk": dk, "dv": dk, "max-tokens": size + 1,
                                 "rate": rate, "seed": seed}
                        result = {"tokens": size + 1, "state_bits": bits, "full_layers": int(not bits), "recurrent_layers": int(bits > 0),
                                  "parameters": 4000 + 100 * dk, **measured(draw, mean, rate, 0.003)}
                        if rate == 0.001:  # a choice by the test would be another one
                            result["test_accuracy"] = round(min(1, result["test_accuracy"] + 0.2), 4)
                        if arch == "full" and rate == 0.01 and seed == 3:
                            result["outcome"] = "diverged"
                        text = ("certificate of %s\nclaim <state-collision>\n" % arch).encode() if ceiling and dk == 4 and size == 64 else None
                        store.run(words, result, theory=theory, curve=20 if rate == 0.003 else 2, certificate=text)
    for size in 4, 64:
        for seed in range(1, 6):
            words = {"arch": "linear", "task": "eva", "task.N": size, "task.K": size, "dk": 16, "dv": 16, "max-tokens": size + 1, "rate": 0.003,
                     "seed": seed, "random-labels": True}
            value = round(0.25 + draw.gauss(0, 0.015), 4)
            store.run(words, {"tokens": size + 1, "state_bits": 8192, "full_layers": 0, "recurrent_layers": 1, "test_accuracy": value,
                              "eval_accuracy": value, "test_loss": 1.4, "eval_loss": 1.4})


def depth(store, draw):
    store.sweep("depth", "How many full layers does composition need, with linear ones beside them?", 0.99)
    for full in 1, 2, 3, 4:
        for linear in 0, 2, 4:
            places = ["%d*full" % full] if not linear else ["%d*full,%d*linear" % (full, linear), "%d*linear,%d*full" % (linear, full)]
            if full > 1 and linear: places.append("full,%d*linear,%d*full" % (linear, full - 1))
            for arch in places:
                good = full >= 3 or (linear and full >= 2 and arch.startswith("%d*linear" % linear))
                for seed in range(1, 6):
                    value = 1.0 if good and draw.random() < 0.8 else round(draw.uniform(0.3, 0.6), 3)
                    store.run({"arch": arch, "task": "seqcomp", "task.L": 2, "task.n": 8, "rate": 0.003, "seed": seed},
                              {"layers": full + linear, "full_layers": full, "recurrent_layers": linear, "state_bits": 2048 * linear,
                               "chance": 0.125, "majority": 0.16, "test_accuracy": value, "eval_accuracy": value, "test_loss": 1 - value,
                               "eval_loss": 1 - value})


def hostile(store, draw):
    store.sweep(MARKUP, "question " + MARKUP, 0.9)
    for size in 4, 8, 16:
        for arch in "full", MARKUP:
            for seed in 1, 2, 3:
                store.run({"arch": arch, "task": "eva" + MARKUP, "task.N": size, "rate": 0.003, "seed": seed, MARKUP: size},
                          {"tokens": size + 1, **measured(draw, 0.8, 0.003, 0.003)}, label="" if arch == "full" else MARKUP,
                          theory={"bound": MARKUP, "statement": MARKUP, "margin": 0.5}, certificate=MARKUP.encode() + b"\xff\x01")


def plain(store, draw):
    store.sweep("plain", "", 0.5)
    for arch in "full", "linear", "2*(gdelta,full)":
        for seed in 1, 2, 3:
            store.run({"arch": arch, "task": "eva", "task.N": 8, "rate": 0.003, "seed": seed}, measured(draw, 0.6, 0.003, 0.003))
    store.run({"arch": "rnn", "task": "eva", "task.N": 8, "rate": 0.003, "seed": 9}, measured(draw, 0.6, 0.003, 0.003), planned=False)


def dense(store, draw):
    store.sweep("dense", "", 0.5)
    for size in range(1000, 1040):
        for seed in 1, 2:
            store.run({"arch": "full", "task": "eva", "task.N": size, "rate": 0.003, "seed": seed},
                      {"tokens": size + 1, **measured(draw, 0.6, 0.003, 0.003)})


def large(store, draw, runs):
    store.sweep("large", "", 0.95)
    done = 0
    sizes = [2 ** i for i in range(2, 12)]
    combinations = [(arch, dk, size, rate, seed) for dk in range(1, 1000) for arch in ("full", "linear", "delta", "gdelta", "mamba2")
                    for size in sizes for rate in (0.001, 0.003, 0.01, 0.03) for seed in range(1, 6)]
    for arch, dk, size, rate, seed in combinations[:runs]:
        done += 1
        store.run({"arch": arch, "task": "eva", "task.N": size, "dk": dk, "max-tokens": size + 1, "rate": rate, "seed": seed},
                  {"tokens": size + 1, "state_bits": 0 if arch == "full" else 32 * dk * dk, **measured(draw, 0.7, rate, 0.003)}, curve=3)


def main(path, kind, *more):
    store = Store(path)
    draw = random.Random(kind)
    {"capacity": capacity, "depth": depth, "hostile": hostile, "plain": plain, "dense": dense,
     "large": lambda s, d: large(s, d, int(more[0]))}[kind](store, draw)
    store.close()


main(*sys.argv[1:])
