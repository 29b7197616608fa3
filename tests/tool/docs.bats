#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The pages of the documentation show what the command really prints.
# bats file_tags=plain
load common

# check PAGE: runs each "$ " line of the fenced blocks in one directory, in order, and compares what follows it. A line
# that is or ends in "..." stands for whatever is there. A block "```json FILE" is that file.
check() {
    without_sanitizers "the same output again"
    mkdir -p bin build
    ln -sf "$RUNG" bin/rung
    ln -sf "$RUNG" build/rung
    ln -sf "$(dirname "$RUNG")/rung-check" build/rung-check
    PATH=$PWD/bin:$PATH python '
import re, subprocess, sys

def commands(page):
    fenced, command, want, file = False, None, [], None
    for line in open(page, encoding="utf-8").read().splitlines():
        if line.startswith("```"):
            if command: yield command, want
            if file: file.close()
            fenced, command, want = not fenced, None, []
            file = open(line.split()[1], "w") if fenced and line.startswith("```json ") else None
        elif file:
            print(line, file=file)
        elif fenced and line.startswith("$ "):
            if command: yield command, want
            command, want = line[2:], []
        elif command:
            want.append(line)

def pattern(want):
    parts = []
    for line in want:
        if line == "...": parts.append("(?:.*\n)*?")
        elif line.endswith("..."): parts.append(re.escape(line[:-3]) + ".*\n")
        else: parts.append(re.escape(line) + "\n")
    return "".join(parts)

ran = 0
for command, want in commands(sys.argv[1]):
    if not re.match(r"(mpirun -n \d+ )?(build/)?rung(-check)? |cmp ", command): continue
    ran += 1
    run = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not re.fullmatch(pattern(want), run.stdout):
        sys.exit("$ %s\n%s\nbut the page says\n%s" % (command, run.stdout, "\n".join(want)))
assert ran >= int(sys.argv[2]), "only %d commands found" % ran' "$1" "$2"
}

@test "docs/commands.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/commands.md" 14
}

@test "docs/attacks.md is what the command prints, and has a section for every attack" {
    check "$BATS_TEST_DIRNAME/../../docs/attacks.md" 2
    for name in $(rung list attacks --json | python 'import json, sys
print(*[a["name"] for a in json.load(sys.stdin)["attacks"]])'); do
        grep -qE "^### (.*, )?$name(\$|,)" "$BATS_TEST_DIRNAME/../../docs/attacks.md"
    done
}

@test "docs/training.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/training.md" 4
}

@test "docs/lab.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/lab.md" 5
}

@test "docs/cluster.md is what the command prints" {
    need_mpi
    check "$BATS_TEST_DIRNAME/../../docs/cluster.md" 4
}

@test "README.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../README.md" 3
}

@test "docs/commands.md has a section for every command" {
    for command in $COMMANDS; do
        grep -qE "^## .*rung $command(\$|,)" "$BATS_TEST_DIRNAME/../../docs/commands.md"
    done
}

# The page has a table "| theorem | causal | ... |" with an x for every premise that a theorem needs.
@test "docs/theory.md says of every theorem which premises it needs" {
    page=$BATS_TEST_DIRNAME/../../docs/theory.md
    grep -q "^| theorem | causal |" "$page" || skip "the page has no table of theorems and premises"
    rung list bounds --json >bounds.json
    python '
import json, sys
rows = [line.strip().strip("|").split("|") for line in open(sys.argv[1], encoding="utf-8") if line.startswith("|")]
rows = [[cell.strip() for cell in row] for row in rows]
start = next(i for i, row in enumerate(rows) if row[:2] == ["theorem", "causal"])
premises = rows[start][1:]
assert premises == "causal kinds once own-cache state order summary layout ends at-once".split(), premises
page = {}
for row in rows[start + 2:]:
    if len(row) != len(premises) + 1: break
    marks = dict(zip(premises, row[1:]))
    assert set(marks.values()) <= {"x", ""}, row
    for name in row[0].replace("`", "").split(", "):
        page[name] = [p for p in premises if marks[p]]
bounds = {b["name"]: b["needs"] for b in json.load(open("bounds.json"))["bounds"]}
assert bounds, "no bounds"
for name in bounds.keys() | page.keys():
    got, want = page.get(name), bounds.get(name)
    assert got is not None and want is not None and sorted(got) == sorted(want), (name, got, want)' "$page"
}
