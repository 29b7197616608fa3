#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# synthetic_probes.py STORE KIND: puts invented probes into a store. KIND plain: two models asked seqcomp (depths 1 to 5, 8 and 16 facts;
# controls, thinking, verdicts) and assoc-recall, one of them with two seeds. less: the first of these with fewer answers. hostile: names that
# would like to be markup. many: more models and panels than are drawn.
import hashlib
import json
import random
import sqlite3
import sys

NAN = None
db = sqlite3.connect(sys.argv[1])
kind = sys.argv[2]
draw = random.Random(7)


def probe(model, task, cells, depths=(), **way):
    canonical = json.dumps({"model": model, "server": "http://h", "task": task, "spelling": "facts", "seed": 1, **way})
    cursor = db.execute("INSERT INTO probes(id, canonical, source, model, server, task, added) VALUES(?, ?, 'probe', ?, 'http://h', ?, 1e9)",
                        (hashlib.sha256(canonical.encode()).hexdigest()[:32], canonical, model, task))
    for place, (mode, depth, facts, asked, right, chance, majority, verdict, ceiling) in enumerate(cells):
        words = {"n": facts, **({"L": depth} if depth else {})}
        db.execute("INSERT INTO probe_cells VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0.5, 100, ?, ?, ?, ?, ?)",
                   (cursor.lastrowid, place, mode, json.dumps(words), f"{task} n={facts}", depth, facts, chance, majority, asked, right, right // 2,
                    verdict, "A-x" if verdict else "", "a statement", ceiling, 2 if verdict else NAN))
    for facts, low, high, deepest in depths:
        db.execute("INSERT INTO probe_depths VALUES(?, ?, ?, 0.5, 0.95, ?, ?, ?)",
                   (cursor.lastrowid, json.dumps({"n": facts}), facts, low, high, deepest))


def composition(model, able, asked, theory=False, sizes=(8, 16), **way):
    cells = []
    for facts in sizes:
        for depth in range(1, 6):
            p = 0.95 if depth <= able else 1.2 / facts
            right = sum(draw.random() < p for _ in range(asked))
            cannot = theory and depth > 3
            ceiling = (0.2 if cannot else 0.3 if depth == 2 and facts == 8 else NAN) if theory else NAN
            guess = 1 - (1 - 1 / facts) ** (depth + 1)
            cells.append(("direct", depth, facts, asked, right, 1 / facts, guess, ("CANNOT" if cannot else "UNKNOWN") if theory else "", ceiling))
            if depth > 1: cells.append(("one-hop", depth, facts, 20, 19 if able else 1, 1 / facts, NAN, "", NAN))
            cells.append(("shuffled", depth, facts, 20, 10, 1 / facts, guess, "", NAN))
            if theory: cells.append(("thinking", depth, facts, 20, 20 - depth, 1 / facts, guess, "", NAN))
    cells.append(("direct", 6, sizes[0], 0, 0, 1 / sizes[0], NAN, "", NAN))
    probe(model, "seqcomp", cells, [(n, max(able - (n > 8), 0), able, 6) for n in sizes], **way)


if kind == "plain":
    composition("alpha-7B", 4, 40)
    composition("beta-linear", 2, 60, theory=True)
    composition("alpha-7B", 4, 24, seed=2)
    for model, right in ("alpha-7B", (40, 39, 35, 20)), ("beta-linear", (40, 30, 12, 3)):
        probe(model, "assoc-recall", [("direct", 0, n, 40, r, 1 / n, 1.5 / n, "", NAN) for n, r in zip((4, 16, 64, 256), right)])
elif kind == "less":
    composition("alpha-7B", 4, 10)
elif kind == "hostile":
    composition("<img src=x onerror=alert(1)>", 3, 30)
    composition("</script><script>alert(1)</script>" + "long-" * 30, 0, 30)
    probe("a", "\"><b>x", [("direct", 0, 4, 4, 2, 0.25, 0.5, "<i>CANNOT</i>", 0.1)])
elif kind == "many":
    for i in range(20): composition(f"model {i}", i % 6, 20, sizes=tuple(range(2, 30)) if i == 0 else (8,))
db.commit()
