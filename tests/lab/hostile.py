#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# hostile.py every STORE RUNG TEXTS: puts hostile text into every text column, one at a time, each time into a copy of the store in the
#   current directory, and runs every command that reads stores on it: no signal, no file elsewhere than in out/, nothing on the
#   streams that steers a terminal. TEXTS: how many of the texts each column is given; 0: one, and only every third column.
# hostile.py put STORE TABLE COLUMN TEXT: puts the text into that column of the first row; the row must be there.
# hostile.py probe STORE: adds a probe with a cell, an answer and a depth, so that no table is empty.
# hostile.py sql STORE SQL: runs statements.
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

db = sqlite3.connect(sys.argv[2])


TEXTS = ["../../x", "a\x1b]0;b\x07\nc\x9b31m\u202e", "=cmd|x", "A" * 6000, '[[[{"', "%s%n'\");--", "/../x.safetensors\n"]
COMMANDS = ["export STORE", "export STORE --jsonl", "export STORE --metrics", "export STORE --jsonl --metrics --sweep tiny",
            "export STORE --probes", "export STORE --models out", "export STORE --tensorboard out", "report STORE -o out/page.html",
            "merge -o out/merged.db STORE"]
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def columns():
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name").fetchall()
    return [(table, row[1]) for (table,) in tables for row in db.execute(f"PRAGMA table_info({table})") if row[2] == "TEXT" and table != "claims"]


def run_all(rung, where):
    for command in COMMANDS:
        shutil.rmtree("out", ignore_errors=True)
        os.mkdir("out")
        before = sorted(os.listdir(".") + os.listdir(".."))
        done = subprocess.run([rung, *command.replace("STORE", "copy.db").split()], capture_output=True)
        out, err = (text.decode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr))
        assert 0 <= done.returncode <= 4, (where, command, done.returncode, err)
        assert done.returncode == 0 or err, (where, command)
        assert not STEERS.search(err.replace("\n", "")), (where, command, err)
        assert "\x1b" not in out, (where, command, out)
        assert sorted(os.listdir(".") + os.listdir("..")) == before, (where, command)


def every(rung, count):
    global db
    good, places = sys.argv[2], columns()
    for i, (table, column) in enumerate(places):
        for k in range(int(count) or (i % 3 == 0)):
            text = TEXTS[0] if k == 0 and column in ("id", "run", "kind", "name") else TEXTS[(i + 3 * k + 1) % len(TEXTS)]
            shutil.copy(good, "copy.db")
            db = sqlite3.connect("copy.db")
            put(table, column, text)
            close()
            run_all(rung, (table, column, text))
    db = sqlite3.connect(":memory:")
    print(len(places), "columns")


def close():
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def put(table, column, text):
    # Keyed by the row that comes first, because some tables have no rowid.
    keys = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5]]
    first = db.execute(f"SELECT {', '.join(keys)} FROM {table} ORDER BY {', '.join(keys)} LIMIT 1").fetchone()
    assert first is not None, table
    where = " AND ".join(f"{key} = ?" for key in keys)
    db.execute(f'UPDATE {table} SET "{column}" = ? WHERE {where}', (text, *first))


def probe():
    canonical = json.dumps({"model": "m", "server": "http://h", "task": "seqcomp", "seed": 1})
    number = db.execute("INSERT INTO probes(id, canonical, source, model, server, task, added) VALUES(?, ?, 'probe', 'm', 'http://h', 'seqcomp', 1)",
                        (hashlib.sha256(canonical.encode()).hexdigest()[:32], canonical)).lastrowid
    db.execute("INSERT INTO probe_cells VALUES(?, 0, 'direct', '{\"n\": 4, \"L\": 2}', 'seqcomp n=4', 2, 4, 0.25, 0.4, 8, 4, 4, 0, 0, 0.5, 100,"
               " 'UNKNOWN', 'b', 's', NULL, NULL)", (number,))
    db.execute("INSERT INTO probe_answers VALUES(?, 0, 0, 'h', 'a', 'a', 1, 1, 0, 0, 0.5)", (number,))
    db.execute("INSERT INTO probe_depths VALUES(?, '{\"n\": 4}', 4, 0.5, 0.95, 1, 2, 3)", (number,))
    db.execute("INSERT INTO exchanges(hash, url, request, http, problem, reply, attempt, seconds, at)"
               " VALUES('h', 'http://h', '{}', 200, '', '{}', 0, 0.1, 1)")


{"every": lambda: every(*sys.argv[3:]), "put": lambda: put(*sys.argv[3:]), "probe": probe, "sql": lambda: db.executescript(sys.argv[3])}[sys.argv[1]]()
close()
