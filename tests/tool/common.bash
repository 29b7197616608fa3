# SPDX-License-Identifier: MIT
# What the tests of the command share. RUNG is the binary under test.
bats_require_minimum_version 1.5.0
: "${RUNG:=build/rung}"
RUNG=$(realpath "$RUNG")
PYTHON=${PYTHON:-/usr/bin/python3}
COMMANDS=$("$RUNG" help --json | "$PYTHON" -c 'import json,sys; print(*[c["name"] for c in json.load(sys.stdin)["commands"]])')

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

rung() { "$RUNG" "$@"; }

# python CODE ARGS: runs an assertion program; its failure is the failure of the test.
python() { "$PYTHON" -c "$@"; }

# Strict JSON, one object with the schema.
has_schema() {
    python '
import json, sys
def pairs(items):
    keys = [k for k, _ in items]
    assert len(keys) == len(set(keys)), "duplicate key"
    return dict(items)
def no_constant(x): raise ValueError(x)
doc = json.load(sys.stdin, object_pairs_hook=pairs, parse_constant=no_constant)
assert doc["schema"] == sys.argv[1], doc["schema"]
' "$1"
}
