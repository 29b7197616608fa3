#!/bin/bash
# SPDX-License-Identifier: MIT
# Takes away one premise after the other and expects a test to notice: each bit of what a theorem needs, each fact that a claim
# establishes or denies, each kind that a layer gets, each condition on which a theorem declines. A mutant is one changed source
# file, compiled alone and put before the libraries. Prints what survives. Environment: BUILD (build), ONLY (a pattern of mutants).
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=${BUILD:-build}
PYTHON=${PYTHON:-/usr/bin/python3}
# The quick ones first: the first that fails ends a mutant.
TESTS="bound/test_premises claim/test_facts bound/test_pattern bound/test_registry bound/test_counter_models bound/test_cut bound/test_contradict"
SCRATCH=$BUILD/mutants
rm -rf "$SCRATCH"
mkdir -p "$SCRATCH/tests"

variable() { make -s --no-print-directory BUILD="$BUILD" --eval "show:;@echo \$($1)" show; }
CC=${CC:-gcc}
read -ra flags <<<"$(variable ALL_CFLAGS)"
read -ra libs <<<"$(variable LIBS)"
read -ra modules <<<"$(variable MODULES)"
archives=()
for module in "${modules[@]}"; do
    archives=("$BUILD/lib/librung-$module.a" "${archives[@]}")
    [ "$module" != bound ] || break
done
for test in $TESTS; do
    make -s --no-print-directory BUILD="$BUILD" "$BUILD/test/$test" || exit 1
    "$CC" "${flags[@]}" -Itests -c "tests/$test.c" -o "$SCRATCH/tests/${test//\//-}.o" || exit 1
done

# One line for each mutant: file, first byte, length, then what stands there instead, in hexadecimal, and what it is called.
"$PYTHON" - >"$SCRATCH/list" <<'PYTHON' || exit 1
import glob, re

def emit(path, start, end, new, name):
    print(path, start, end - start, new.encode().hex() or "-", name.replace(" ", "_").replace("\n", "_"), sep="\t")

def function(text, name):
    """The first and the last byte of the body of a function."""
    start = re.search(r"^[a-z].*\b%s\(.*\n(?:.*\n)*?\{\n" % name, text, re.M).end()
    return start, text.index("\n}\n", start) + 1

def terms(condition, operator):
    """Places of the terms between operators that are in no parentheses."""
    depth, start, found = 0, 0, []
    for i, c in enumerate(condition):
        depth += (c == "(") - (c == ")")
        if depth == 0 and condition.startswith(operator, i):
            found.append((start, i))
            start = i + 2
    return found + [(start, len(condition))]

def conditions(text, low, high):
    for m in re.finditer(r"\bif \(", text[low:high]):
        start, depth = low + m.end(), 1
        end = start
        while depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        yield start, end - 1

# 1. What a row needs.
header = open("src/bound/bound_rows.h").read()
macros = {m[1]: m[2].replace("\\\n", " ") for m in re.finditer(r"#define (NEEDS_\w+)((?:.*\\\n)*.*)", header)}
def premises(expression):
    for _ in range(4):
        expression = re.sub(r"\bNEEDS_\w+", lambda m: macros[m[0]], expression)
    return re.findall(r"RUNG_NEEDS\((RUNG_PREMISE_\w+)\)", expression)
for path in sorted(glob.glob("src/bound/*.c")):
    text = open(path).read()
    for m in re.finditer(r"\.needs = ([^;]*?),\n    \.evaluate = (\w+)", text):
        for premise in premises(m[1]):
            emit(path, m.start(1), m.end(1), "(%s) & ~RUNG_NEEDS(%s)" % (m[1], premise), "%s %s does not need %s" % (path, m[2], premise))

# 2. Facts: what is violated or not established counts as established; a condition never holds; a statement is not there.
for path in ["src/claim/claim.c", "src/claim/arch_ledger.c", "src/claim/subject.c"]:
    text = open(path).read()
    for m in re.finditer(r"\{(RUNG_VIOLATED|RUNG_NOT_ESTABLISHED),", text):
        line = text.count("\n", 0, m.start()) + 1
        emit(path, m.start(1), m.end(1), "RUNG_ESTABLISHED", "%s:%d counts as established" % (path, line))
bodies = {"src/claim/claim.c": ["has_kind", "facts_of_layers", "facts_of_arithmetic", "asks_first", "facts_of_prompt", "arithmetic_of", "take_task"],
          "src/claim/arch_ledger.c": ["hold_heads", "hold_selection", "hold_class", "hold_group", "unmark_mixing"],
          "src/bound/pattern.c": ["message_bits", "state_bits", "add_recurrent", "add_full", "keeps_state", "add_attention", "add_layer"],
          "src/bound/bound.c": ["premises_hold"]}
for path, names in bodies.items():
    text = open(path).read()
    for name in names:
        low, high = function(text, name)
        for start, end in conditions(text, low, high):
            line = text.count("\n", 0, start) + 1
            what = "%s:%d %s" % (path, line, text[start:end])
            if not re.search(r"err|status|!ledger->|ledger->layer ", text[start:end]):
                emit(path, start, end, "false", what + " never")
            for operator, neutral in (("||", "false"), ("&&", "true")):
                parts = terms(text[start:end], operator)
                for a, b in parts if len(parts) > 1 else []:
                    emit(path, start + a, start + b, " %s " % neutral, what + " without " + text[start + a:start + b].strip())
        for m in re.finditer(r"^ +((?:held|ledger|c|p|\*?state|\*?order|\*?summary|about|a)(?:->|\.| =)[^;]*;)", text[low:high], re.M):
            line = text.count("\n", 0, low + m.start(1)) + 1
            emit(path, low + m.start(1), low + m.end(1), ";", "%s:%d without %s" % (path, line, m[1]))
        for m in re.finditer(r"return ([^;]*\|\|[^;]*);", text[low:high]):
            for a, b in terms(m[1], "||"):
                emit(path, low + m.start(1) + a, low + m.start(1) + b, " false ", "%s %s without %s" % (path, name, m[1][a:b].strip()))

# 3. Lengths that the options fix, and the smallest sizes of numbers.
path = "src/claim/claim.c"
text = open(path).read()
for m in re.finditer(r'"(N0|N|T|n)"', text):
    emit(path, m.start(), m.end(), '"none"', "%s %s fixes no length" % (path, m[0]))
for name, less in (("DEFAULT_BITS = 32", "DEFAULT_BITS = 31"), ("LEAST_CACHE_BITS = 16", "LEAST_CACHE_BITS = 15")):
    at = text.index(name)
    emit(path, at, at + len(name), less, "%s %s" % (path, less))

path = "src/bound/bound.c"
text = open(path).read()
for check in ("!premises_hold(answer, bound, claim)", "p->overflow"):
    at = text.index("if (%s)" % check) + 4
    emit(path, at, at + len(check), "false", "%s %s never" % (path, check))

# 4. Conditions on which a row declines. With too many full layers there are 64, which every row refuses for their number; the
# published rows refute no prompt of less than 2^64 tokens, whatever they say of layers.
for path in sorted(glob.glob("src/bound/*.c")):
    if path == "src/bound/published_bounds.c": continue
    text = open(path).read()
    for start, end in conditions(text, 0, len(text)):
        if not re.match(r"\)\s*((return )?bound_missing|why =)", text[end:end + 60]) or "no size" in text[end:end + 120]: continue
        line = text.count("\n", 0, start) + 1
        if path == "src/bound/bound.c": continue
        for a, b in terms(text[start:end], "||"):
            if "too_many" in text[start + a:start + b]: continue
            emit(path, start + a, start + b, " false ", "%s:%d declines not for %s" % (path, line, text[start + a:start + b].strip()))
PYTHON

run() { # test
    "$CC" "$SCRATCH/tests/${1//\//-}.o" "$SCRATCH/mutant.o" "${archives[@]}" -o "$SCRATCH/test" -lcmocka "${libs[@]}" >"$SCRATCH/link.log" 2>&1 &&
        timeout 300 "$SCRATCH/test" >"$SCRATCH/test.log" 2>&1
}

killed=0 broken=0
survivors=()
while IFS=$'\t' read -r path start length new name; do
    [ -z "${ONLY:-}" ] || [[ $name =~ $ONLY ]] || continue
    "$PYTHON" -c '
import os, sys
path, start, length, new, out = sys.argv[1:]
text = open(path).read()
start, length = int(start), int(length)
new = bytes.fromhex(new.replace("-", "")).decode()
here = os.path.abspath(os.path.dirname(path))
open(out, "w").write("#line 1 \"%s\"\n" % path + text[:start] + new + text[start + length:])' "$path" "$start" "$length" "$new" "$SCRATCH/mutant.c"
    if ! "$CC" "${flags[@]}" -w -iquote "$(dirname "$path")" -c "$SCRATCH/mutant.c" -o "$SCRATCH/mutant.o" 2>"$SCRATCH/compile.log"; then
        broken=$((broken + 1))
        continue
    fi
    survives=yes
    for test in $TESTS; do
        run "$test" || { survives= && break; }
    done
    if [ -n "$survives" ]; then survivors+=("$name"); else killed=$((killed + 1)); fi
    [ -z "${VERBOSE:-}" ] || { [ -n "$survives" ] && echo "survives: $name" || echo "killed by $test: $name"; }
done <"$SCRATCH/list"

for name in "${survivors[@]}"; do echo "survived: $name"; done
echo "$killed killed, ${#survivors[@]} survived, $broken did not compile"
[ ${#survivors[@]} -eq 0 ]
