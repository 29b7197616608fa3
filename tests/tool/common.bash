# SPDX-License-Identifier: MIT
# What the tests of the command share. RUNG is the binary under test.
bats_require_minimum_version 1.5.0
: "${RUNG:=build/rung}"
RUNG=$(realpath "$RUNG")
PYTHON=${PYTHON:-/usr/bin/python3}

# Once per file: what there is. TOKEN_TASKS have words, FACT_TASKS also prose.
setup_file() {
    "$RUNG" help --json >"$BATS_FILE_TMPDIR/help.json"
    "$RUNG" list tasks --json >"$BATS_FILE_TMPDIR/tasks.json"
    local lists
    lists=$(python '
import json, sys
tasks = json.load(open(sys.argv[2]))["tasks"]
print(*[c["name"] for c in json.load(open(sys.argv[1]))["commands"]])
print(*[t["name"] for t in tasks])
print(*[t["name"] for t in tasks if t["at_defaults"]["vocab"]])
print(*[t["name"] for t in tasks if t["facts"]])' "$BATS_FILE_TMPDIR/help.json" "$BATS_FILE_TMPDIR/tasks.json")
    { read -r COMMANDS; read -r TASKS; read -r TOKEN_TASKS; read -r FACT_TASKS; } <<<"$lists"
    export COMMANDS TASKS TOKEN_TASKS FACT_TASKS
    [ -n "$COMMANDS" ] && [ -n "$TOKEN_TASKS" ] && [ -n "$FACT_TASKS" ]
}

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

rung() { "$RUNG" "$@"; }

# Every case runs with the sanitized command (RUNG_SANITIZED is set). A case with "# bats test_tags=plain" before it also runs
# with the plain one; what does less under the sanitizers must have that tag.
tagged_plain() {
    grep -q '^# bats file_tags=plain$' "$BATS_TEST_FILENAME" ||
        grep -xF -B1 "@test \"$BATS_TEST_DESCRIPTION\" {" "$BATS_TEST_FILENAME" | grep -qx '# bats test_tags=plain' ||
        { echo "this case needs the line '# bats test_tags=plain' before it" >&2 && return 1; }
}

# effort FULL SANITIZED: how much of something, as in tests/effort.h.
effort() {
    tagged_plain || echo untagged
    if [ -n "${RUNG_SANITIZED:-}" ]; then echo "$2"; else echo "$1"; fi
}

# For a case that measures seconds, or that repeats computations which other cases take under the sanitizers.
without_sanitizers() {
    tagged_plain || return 1
    [ -z "${RUNG_SANITIZED:-}" ] || skip "not under the sanitizers: $1"
}

# browser PAGE WIDTH light|dark HOW: tests/report/browser.py looks at a page.
browser() {
    command -v chromium >/dev/null || skip "chromium is not installed"
    without_sanitizers "a browser looks at the page, not at the program"
    "$PYTHON" "$BATS_TEST_DIRNAME/../report/browser.py" "$@"
}

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

# What the runs of a store are and have given, without times and places.
results() { rung export "$1" --jsonl | python '
import json, sys
for line in sorted(sys.stdin):
    row = json.loads(line)
    for key in ("seconds", "resumed", "finished_at", "host"): del row[key]
    print(json.dumps(row, sort_keys=True))'; rung export "$1" --jsonl --metrics | sort; }

# What mpirun needs in a container: root, more ranks than cores, one host. Slurm around the tests must not matter.
mpi_environment() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
        OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl=self,vader \
        OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm=isolated
    export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # of MPI itself
    local name
    for name in $(env | sed -nE 's/^((SLURM|PMIX?)_[A-Z_]*)=.*/\1/p'); do unset "$name"; done
}

# For a case with ranks.
need_mpi() {
    command -v mpirun >/dev/null || skip "mpirun is not installed (openmpi-bin)"
    [ -e "$(dirname "$RUNG")/rung-mpi.so" ] || skip "rung-mpi.so was not built (libopenmpi-dev, make mpi)"
    mpi_environment
}
