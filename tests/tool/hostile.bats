#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Stores that come from others: no text in them leaves its directory, ends a command by a signal, steers a terminal or becomes a
# formula, and a file that cannot be written is read all the same.
load common
HOSTILE=$(realpath "$BATS_TEST_DIRNAME/../lab/hostile.py")

# A store with a run, its model and metrics, a sweep, a certificate and a probe: made once.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || exit 1
    cat >tiny.json <<'JSON'
{"name": "tiny", "question": "which?", "keep-models": true, "base": {"task": "eva N=3 V=2", "steps": 4, "batch": 4, "d-model": 8, "dk": 4, "dv": 4,
 "d-mlp": 8, "eval-every": 2, "eval-prompts": 8, "test-prompts": 8, "seed": 1}, "cases": [{"label": "one", "arch": "full"}]}
JSON
    "$RUNG" sweep tiny.json -o good.db --quiet
    "$PYTHON" "$HOSTILE" probe good.db
}

hostile() { "$PYTHON" "$HOSTILE" "$@"; }
take() { cp "$BATS_FILE_TMPDIR/good.db" "${1:-a.db}"; }

@test "a run id that is a path is refused, and nothing is written elsewhere" {
    take
    mkdir outside models
    echo precious >outside/m.safetensors
    hostile sql a.db "UPDATE runs SET id = '../outside/m'; UPDATE plan SET run = '../outside/m'"
    run rung export a.db --models models
    [ "$status" -eq 3 ]
    [[ $output == *"32 hexadecimal digits"* ]]
    [ "$(cat outside/m.safetensors)" = precious ]
    run rung merge -o b.db a.db
    [ "$status" -eq 3 ]
    [[ $output == *"32 hexadecimal digits"* ]]
    for id in "0123456789abcdef0123456789abcdeG" "0123456789ABCDEF0123456789ABCDEF" "0123456789abcdef0123456789abcdef0" "" '","x":"'; do
        hostile put a.db runs id "$id"
        run rung export a.db --jsonl
        [ "$status" -eq 3 ]
    done
}

@test "a plan that names a run by a path is not merged" {
    take
    hostile put a.db plan run ../x
    run rung merge -o b.db a.db
    [ "$status" -eq 3 ]
    [[ $output == *"no run id"* ]]
}

@test "words that are no object are refused by every reader, and by merge" {
    for words in '[1,2]' '3' '"x"' 'null' '{"a":' ''; do
        take
        hostile put a.db runs words "$words"
        for command in "export a.db" "export a.db --jsonl" "export a.db --metrics" "report a.db -o p.html" "merge -o b.db a.db"; do
            # shellcheck disable=SC2086
            run rung $command
            [ "$status" -eq 3 ] || { echo "$words: $command: $status: $output"; false; }
            [[ $output == *"should be a JSON object"* ]]
        done
    done
}

# bats test_tags=plain
@test "every text column with hostile text: no signal, nothing outside, nothing that steers a terminal" {
    take good.db
    mkdir inner
    cd inner
    run -0 "$PYTHON" "$HOSTILE" every ../good.db "$RUNG" "$(effort 1 0)"
    [ "${output% columns}" -ge 40 ]
}

@test "a cell that a spreadsheet would compute is text" {
    take
    hostile put a.db plan label '=HYPERLINK("http://x")'
    hostile put a.db machines host '@x'
    hostile put a.db versions kernels '-1+2'
    hostile sql a.db "UPDATE runs SET words = '{\"rate\": -0.5, \"a\": \"=1+1\", \"b\": \"+x\", \"c\": \"-5\"}'"
    rung export a.db --sweep tiny >table.csv
    python '
import csv
row = next(csv.DictReader(open("table.csv")))
assert row["label"].startswith("\x27=HYPERLINK"), row["label"]
assert (row["host"], row["kernels"]) == ("\x27@x", "\x27-1+2"), row
assert (row["a"], row["b"], row["c"], row["rate"]) == ("\x27=1+1", "\x27+x", "-5", "-0.5"), row
'
}

@test "a view, a computed column, a virtual table or a trigger in the place of ours is refused at once" {
    local sql
    for sql in "CREATE TABLE other AS SELECT * FROM metrics; DROP TABLE metrics;
                CREATE VIEW metrics AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT o.* FROM other o, n" \
        "DROP TABLE metrics; CREATE VIRTUAL TABLE metrics USING fts5(run, step, loss, accuracy, rate, gradient, eval_loss, eval_accuracy)" \
        "DROP TABLE metrics; CREATE TABLE metrics(run, step, loss, accuracy, rate, gradient, eval_loss, eval_accuracy AS (1))" \
        "ALTER TABLE metrics DROP COLUMN rate" \
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM metrics; END"; do
        take
        hostile sql a.db "$sql"
        for command in "report a.db -o p.html" "export a.db --metrics" "merge -o b.db a.db" "merge -o a.db $BATS_FILE_TMPDIR/good.db"; do
            # shellcheck disable=SC2086
            run timeout 20 "$RUNG" $command
            [ "$status" -eq 3 ] || { echo "$sql: $command: $status"; false; }
            [[ $output == *"docs/store.md"* || $output == *"triggers"* ]]
        done
    done
}

@test "a model whose bytes have changed is refused" {
    take
    hostile sql a.db "UPDATE artefacts SET content = zeroblob(length(content))"
    run rung export a.db --models out
    [ "$status" -eq 3 ]
    [[ $output == *"SHA-256"* ]]
    run rung merge -o b.db a.db
    [ "$status" -eq 3 ]
}

@test "a store where nothing can be written is read, and readers leave no files" {
    mkdir medium
    take medium/a.db
    rm -f medium/a.db-*
    rung export medium/a.db >first.csv
    rung report medium/a.db -o page.html
    rung merge -o b.db medium/a.db
    [ "$(ls medium)" = a.db ]
    # A directory of its own, because root may write anywhere, and another user cannot enter this one.
    local place
    place=$(mktemp -d)
    cp medium/a.db "$RUNG" "$place"
    chmod 555 "$place" "$place/rung"
    chmod 444 "$place/a.db"
    if [ "$(id -u)" != 0 ]; then
        run "$place/rung" export "$place/a.db"
    else
        run setpriv --reuid=65534 --clear-groups "$place/rung" export "$place/a.db"
    fi
    chmod 755 "$place"
    local files
    files=$(ls "$place")
    rm -rf "$place"
    [ "$status" -eq 0 ]
    [ "$output" = "$(cat first.csv)" ]
    [ "$files" = "a.db
rung" ]
}

@test "a store that somebody has open is read with what is in its log" {
    take
    "$PYTHON" - <<'PY' &
import sqlite3, time
db = sqlite3.connect("a.db", isolation_level=None)
db.execute("UPDATE machines SET host = 'from-the-log'")
open("ready", "w").close()
time.sleep(3)
PY
    for _ in $(seq 200); do [ -e ready ] && break; sleep 0.02; done
    rung export a.db | grep -q from-the-log
    wait
}

# bats test_tags=plain
@test "report takes time in proportion to the probes" {
    without_sanitizers "seconds are measured"
    for count in 500 2000; do
        take "$count.db"
        python '
import hashlib, json, sqlite3, sys
db, count = sqlite3.connect(sys.argv[1]), int(sys.argv[2])
for i in range(count):
    canonical = json.dumps({"model": "m", "server": "http://h", "task": "seqcomp", "seed": i + 2})
    number = db.execute("INSERT INTO probes(id, canonical, source, model, server, task, added) VALUES(?, ?, ?, ?, ?, ?, 1)",
        (hashlib.sha256(canonical.encode()).hexdigest()[:32], canonical, "probe", "m", "http://h", "seqcomp")).lastrowid
    db.execute("INSERT INTO probe_cells SELECT ?, 0, mode, words, canonical, depth, facts, chance, majority, asked, \"right\", text_right, off, cut, mass,"
        " prompt_tokens, verdict, bound, statement, ceiling, margin FROM probe_cells WHERE probe = 1 AND place = 0", (number,))
db.commit(); db.execute("PRAGMA wal_checkpoint(TRUNCATE)"); db.close()' "$count.db" "$count"
        local start end
        start=$(date +%s%N)
        rung report "$count.db" -o "$count.html" --quiet
        end=$(date +%s%N)
        eval "ms_$count=$(((end - start) / 1000000))"
    done
    # shellcheck disable=SC2154
    echo "500: $ms_500 ms, 2000: $ms_2000 ms"
    [ "$ms_2000" -lt $((8 * ms_500 + 2000)) ] # four times the probes; it was sixteen times the time, 39 s
}

@test "a configuration of 100 MB is refused before it is read" {
    python '
with open("config.json", "w") as file:
    file.write("{\"model_type\": \"llama\", \"x\": [")
    for _ in range(50): file.write("1," * 1000000)
    file.write("1]}")'
    run -3 rung bound config.json --task eva --n 1000
    [[ $output == *"a configuration has at most 16777216"* ]]
}
