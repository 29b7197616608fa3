#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The pages of the documentation show what the command really prints.
# bats file_tags=plain
load common

# check PAGE LEAST: runs each "$ " line of the fenced blocks in one directory, in order, and compares what follows it. A line
# that is or ends in "..." stands for whatever is there. A block "```json FILE" is that file. Blocks "```console nightly" take
# long: `make nightly` runs them.
check() {
    without_sanitizers "the same output again"
    RUNG=$RUNG "$PYTHON" "$BATS_TEST_DIRNAME/../printed.py" page "$1" "$2"
}

@test "docs/commands.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/commands.md" 15
}

@test "docs/paper.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/paper.md" 25
}

@test "docs/game.md and docs/erratum.md are what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/game.md" 2
    check "$BATS_TEST_DIRNAME/../../docs/erratum.md" 8
}

@test "docs/open-problems.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/open-problems.md" 3
}

@test "docs/recall.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/recall.md" 4
}

@test "docs/attacks.md is what the command prints, and has a section for every attack" {
    check "$BATS_TEST_DIRNAME/../../docs/attacks.md" 4
    for name in $(rung list attacks --json | python 'import json, sys
print(*[a["name"] for a in json.load(sys.stdin)["attacks"]])'); do
        grep -qE "^### (.*, )?$name(\$|,)" "$BATS_TEST_DIRNAME/../../docs/attacks.md"
    done
}

@test "pages of constructions are what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/constructions/states.md" 4
    check "$BATS_TEST_DIRNAME/../../docs/constructions/recurrent.md" 2
}

# A page that has prompts is one of those above.
@test "no page has commands with output that nothing runs" {
    cd "$BATS_TEST_DIRNAME/../.."
    for page in $(grep -lE '^\$ (build/)?rung' README.md docs/*.md docs/*/*.md); do
        grep -qF "/$page\"" tests/tool/docs.bats || grep -q '^```console nightly' "$page" || { echo "$page is not run"; return 1; }
    done
}

@test "docs/export.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/export.md" 8
}

@test "docs/replay.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/replay.md" 2
}

@test "docs/training.md is what the command prints" {
    check "$BATS_TEST_DIRNAME/../../docs/training.md" 4
}

@test "docs/probing.md is what the command prints" {
    rung doctor --json | grep -A3 libmicrohttpd | grep -q found || skip "built without servers"
    check "$BATS_TEST_DIRNAME/../../docs/probing.md" 3
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
assert premises == "causal kinds once own-cache state order summary layout ends at-once counted".split(), premises
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

# The Markdown files of the tree, without hidden directories and what a build makes or fetches.
pages() {
    root=$(realpath "$BATS_TEST_DIRNAME/../..")
    (cd "$root" && find . -name '*.md' -not -path './build/*' -not -path '*/node_modules/*' -not -path './.*') | sed "s,^\.,$root,"
}

# Tables, fenced blocks, indented formulas and lines that are one link or picture may be wider.
@test "no line of prose is wider than 100 columns" {
    pages >pages
    [ "$(wc -l <pages)" -ge 80 ]
    python '
import re, sys
wide, lines = [], 0
for page in open("pages").read().splitlines():
    fenced = False
    for number, line in enumerate(open(page, encoding="utf-8").read().splitlines(), 1):
        if line.lstrip().startswith("```"): fenced = not fenced
        elif not fenced and not re.match(r"\s*\|.*\|$|    \S|\s*(- )?!?\[[^]]*\]\(\S*\)$|\s*<?https?://\S*$", line):
            lines += 1
            if len(line) > 100: wide.append("%s:%d: %d columns" % (page, number, len(line)))
    assert not fenced, page + ": a fence is not closed"
assert lines > 3000, "only %d lines of prose" % lines
if wide: sys.exit("\n".join(wide))'
}

# A link to a file leads to a file, a link to a heading to a heading.
@test "every link inside the documentation leads somewhere" {
    pages >pages
    python '
import os, re, sys
def text(page): return re.sub(r"^```.*?^```", "", open(page, encoding="utf-8").read(), flags=re.M | re.S)
def anchors(page):
    heads = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", h) for h in re.findall(r"^#+ +(.*)$", text(page), re.M)]
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in heads}
dead, links = [], 0
for page in open("pages").read().splitlines():
    for target in re.findall(r"\]\(([^()\s]+)\)", re.sub(r"`[^`\n]*`", "", text(page))):
        if re.match(r"[a-z]+:", target): continue
        links += 1
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(file): dead.append("%s: %s" % (page, target))
        elif anchor and file.endswith(".md") and anchor not in anchors(file): dead.append("%s: %s" % (page, target))
assert links > 200, "only %d links" % links
if dead: sys.exit("\n".join(dead))'
}

@test "docs/README.md lists every page of docs" {
    cd "$BATS_TEST_DIRNAME/../../docs"
    for page in *.md */README.md; do
        [ "$page" = README.md ] || grep -qF "($page" README.md || { echo "$page is not listed"; return 1; }
    done
}

@test "every source file that the documentation names exists" {
    pages >pages
    python '
import os, re, sys
root, missing, named = sys.argv[1], [], 0
for page in open("pages").read().splitlines():
    for path in re.findall(r"(?<![\w/.-])((?:src|tests|tool|include|scripts|fuzz|check|proofs|mpi)/[\w/.-]+\.\w+)", open(page, encoding="utf-8").read()):
        named += 1
        if not os.path.exists(os.path.join(root, path)): missing.append("%s: %s" % (page, path))
assert named > 100, "only %d files named" % named
if missing: sys.exit("\n".join(missing))' "$(realpath "$BATS_TEST_DIRNAME/../..")"
}
