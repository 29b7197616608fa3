#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Several processes: mpirun gives the store and the weights of one process to the last bit, also after kill -9 of a rank and with
# another number of ranks; what Slurm says is taken as its users mean it; SIGUSR1 asks to be started again.
load common

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    mpi_environment
}

ranks() { # NUMBER WORDS...: a rank that hangs is a failure
    local number=$1
    shift
    timeout 300 mpirun -n "$number" "$RUNG" "$@"
}

# spec FILE STEPS [LONG]: ten runs; with LONG the first of them, which takes so many steps, outlasts the others whoever does them.
spec() {
    local runs='"grid": {"arch": ["full", "linear"], "seed": [1, 2, 3, 4, 5]}'
    [ -z "${3:-}" ] || runs='"cases": [{"label": "long", "arch": "full", "seed": 9, "steps": '$3'},
           {"label": "short", "grid": {"arch": ["full", "linear", "gla"], "seed": [1, 2, 3]}}]'
    cat >"$1" <<END
{"name": "small", "success": 0.9,
 "base": {"task": "eva N=3 V=2", "steps": $2, "batch": 8, "d-model": 8, "dk": 4, "dv": 4, "eval-every": 10, "eval-prompts": 16,
          "test-prompts": 32, "checkpoint-every": 5},
 $runs}
END
}

# ---- sweeps ------------------------------------------------------------------------------------------------------------------

@test "mpirun: two and four ranks leave the store of one process, and no file of their own" {
    need_mpi
    spec s.json 30
    rung sweep s.json -o one.db >/dev/null
    results one.db >one
    [ "$(rung export one.db --jsonl | wc -l)" = 10 ]
    for n in 2 4; do
        ranks $n sweep s.json -o all.db >said
        grep -q "^ranks     $n, from mpirun\$" said
        grep -q '^done      10 now, 0 before$' said
        [ "$(grep -c '^done' said)" = 1 ]
        [ "$(echo all.db*)" = all.db ]
        results all.db >all
        cmp one all
        ranks $n sweep s.json -o all.db --json | has_schema rung.sweep/1
        ranks $n sweep s.json -o all.db | grep -q '^done      0 now, 10 before$'
        rm all.db*
    done
}

# kill_rank NUMBER RANK: kills that rank, which mpirun has started, when a rank has finished a run and another is unfinished. The others
# are stopped before: until mpirun notices, which may take a second, they would finish everything.
kill_rank() {
    python '
import glob, os, signal, sqlite3, subprocess, sys, time
ranks, killed, rung = int(sys.argv[1]), sys.argv[2], sys.argv[3]
def finished(path):
    try: return {id for (id,) in sqlite3.connect(path, timeout=1).execute("SELECT id FROM runs")}
    except sqlite3.Error: return set()
def all_finished(): return set().union(*map(finished, glob.glob("cut.db.rank?")))
def processes(): # rank to process
    found = {}
    for path in glob.glob("/proc/[0-9]*"):
        try:
            words = open(path + "/cmdline").read().split("\0")
            about = open(path + "/environ").read().split("\0")
            here = os.readlink(path + "/cwd") == os.getcwd()
        except OSError: continue
        rank = [word[21:] for word in about if word.startswith("OMPI_COMM_WORLD_RANK=")]
        if words[0] == rung and rank and here: found[rank[0]] = int(path[6:])
    return found
old = all_finished() # of an earlier job
run = subprocess.Popen(["mpirun", "-n", str(ranks), rung, "sweep", "s.json", "-o", "cut.db", "--no-estimate"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
until = time.time() + 120
while run.poll() is None and time.time() < until:
    if all_finished() - old and glob.glob("cut.db.work/*.checkpoint"): break
    time.sleep(0.005)
assert run.poll() is None, "it was over too soon"
for rank, process in processes().items():
    if rank != killed: os.kill(process, signal.SIGSTOP)
os.kill(processes()[killed], signal.SIGKILL)
code = run.wait()
assert code != 0, "mpirun has not noticed"' "$1" "$2" "$RUNG"
}

# finished: id and time of every finished run in any store. Copies, because reading may change files of a killed program.
finished() {
    rm -rf look && mkdir look && cp cut.db* look/ 2>/dev/null || true
    python '
import glob, sqlite3
for path in glob.glob("look/cut.db") + glob.glob("look/cut.db.rank?"):
    try: rows = sqlite3.connect(path).execute("SELECT id, finished_at FROM runs").fetchall()
    except sqlite3.OperationalError: rows = []
    for id, at in rows: print(id, at)' | sort
}

# bats test_tags=plain
@test "mpirun: after kill -9 of a rank nothing finished is lost or repeated, with any number of ranks or none" {
    need_mpi
    spec s.json "$(effort 1000 300)" "$(effort 20000 3000)"
    rung sweep s.json -o one.db >/dev/null
    results one.db >one
    kill_rank 3 2
    finished >first
    [ -s first ]
    kill_rank 2 0
    finished >second
    [ -z "$(comm -23 first second)" ]
    ranks 4 sweep s.json -o cut.db >said
    finished >third
    [ -z "$(comm -23 second third)" ]
    [ "$(wc -l <third)" = 10 ]
    results cut.db >cut
    cmp one cut
    [ -z "$(ls -d cut.db.* 2>/dev/null)" ]
}

# bats test_tags=plain
@test "what a killed rank has finished is also taken in by a sweep without mpirun" {
    need_mpi
    spec s.json "$(effort 500 150)" "$(effort 10000 2000)"
    kill_rank 2 1
    finished >first
    [ -s first ]
    [ -n "$(ls cut.db.rank1)" ]
    rung sweep s.json -o cut.db >said
    before=$(sed -n 's/^small: 10 runs, \(.*\) in cut.db$/\1/p' said)
    [ "$before" -ge "$(wc -l <first)" ]
    finished >second
    [ -z "$(comm -23 first second)" ]
    [ "$(wc -l <second)" = 10 ]
    [ -z "$(ls -d cut.db.* 2>/dev/null)" ]
}

# bats test_tags=plain
@test "mpirun: ranks of two jobs do not take each other's files" {
    without_sanitizers "claims are the same"
    need_mpi
    spec s.json 1500
    ranks 2 sweep s.json -o both.db --no-estimate >a &
    while [ ! -e both.db.rank1 ]; do sleep 0.01; kill -0 $!; done
    run -4 --separate-stderr ranks 2 sweep s.json -o both.db --no-estimate --wait 0
    [[ $stderr == *"ranks of another job are at work on both.db"* ]]
    rung sweep s.json -o both.db --no-estimate >b
    wait $!
    rung sweep s.json -o both.db | grep -q '^done      0 now, 10 before$'
    python 'import re; count = lambda f: int(re.search("done +([0-9]+) now", open(f).read())[1]); assert count("a") + count("b") == 10'
}

@test "mpirun: a failure of one rank is told once, by rank 0, and ends all" {
    need_mpi
    spec s.json 30
    mkdir s.db.rank1
    run -4 --separate-stderr ranks 2 sweep s.json
    [ "$(grep -c '^rung sweep: ' <<<"$stderr")" = 1 ]
    [[ $stderr == *s.db.rank1* ]]
    run -3 --separate-stderr ranks 2 sweep absent.json
    [[ $stderr == *"rung sweep: cannot read 'absent.json'"* ]]
}

# ---- one model -----------------------------------------------------------------------------------------------------------------

train() { # NAME
    echo train --arch 2*full,gdelta --task eva N=8 V=8 --steps "$(effort 40 12)" --eval-every 7 --batch 30 --log-every 1 --test-prompts 30 \
        --checkpoint "$1.checkpoint" --metrics "$1.jsonl" -o "$1.safetensors"
}

curve() { python 'import json, sys
for line in open(sys.argv[1]): print(sorted((k, v) for k, v in json.loads(line).items() if k not in ("seconds", "tokens_per_second")))' "$1"; }

# bats test_tags=plain
@test "mpirun: one, two, three, four and eight ranks train the same model along the same curve to the last bit" {
    need_mpi
    set -f
    rung $(train one) >/dev/null
    for n in $(effort '1 2 3 4 8' 2); do
        ranks $n $(train many) 2>err >out
        [ "$n" = 1 ] || grep -q "^$n ranks, from mpirun, with . thread" err
        [ "$(grep -c '^steps' out)" = 1 ]
        cmp one.safetensors many.safetensors
        cmp one.checkpoint many.checkpoint
        cmp <(curve one.jsonl) <(curve many.jsonl)
        set +f
        rm many.*
        set -f
    done
    run -2 --separate-stderr ranks 9 $(train many)
    [[ $stderr == *"9 processes are too many for one model"* ]]
}

# bats test_tags=plain
@test "mpirun: training goes on after kill -9 of a rank, with another number of ranks, to the same bytes" {
    need_mpi
    words=(train --arch full --task eva N=8 V=8 --steps "$(effort 400 60)" --checkpoint-every 10 --checkpoint cut.checkpoint)
    rung "${words[@]}" --checkpoint one.checkpoint -o one.safetensors >/dev/null
    mpirun -n 2 "$RUNG" "${words[@]}" -o cut.safetensors >/dev/null 2>&1 &
    while [ ! -e cut.checkpoint ]; do sleep 0.01; kill -0 $!; done
    for path in /proc/[0-9]*; do
        [ "$(readlink "$path/cwd")" = "$PWD" ] && grep -qz '^OMPI_COMM_WORLD_RANK=1$' "$path/environ" 2>/dev/null && kill -9 "${path#/proc/}"
    done
    run ! wait $!
    [ ! -e cut.safetensors ]
    ranks 3 "${words[@]}" -o cut.safetensors --json >said
    python 'import json; assert json.load(open("said"))["resumed"]'
    cmp one.safetensors cut.safetensors
    cmp one.checkpoint cut.checkpoint
}

@test "mpirun: SIGUSR1 stops all ranks with checkpoints and 138" {
    need_mpi
    words=(train --arch full --task eva N=8 V=8 --steps 200000 --checkpoint-every 10 -o cut.safetensors)
    mpirun -n 2 "$RUNG" "${words[@]}" >/dev/null 2>err &
    while [ ! -e cut.safetensors.checkpoint ]; do sleep 0.01; kill -0 $!; done
    kill -USR1 $!
    code=0
    wait $! || code=$?
    [ "$code" = 138 ]
    grep -q "^stopped at step .*; the same command goes on from cut.safetensors.checkpoint" err
    spec s.json 200000
    mpirun -n 2 "$RUNG" sweep s.json --no-estimate >/dev/null 2>err &
    while [ "$(ls s.db.work/*.checkpoint 2>/dev/null | wc -l)" -lt 2 ]; do sleep 0.01; kill -0 $!; done
    kill -USR1 $!
    code=0
    wait $! || code=$?
    [ "$code" = 138 ]
    grep -q "stopped with 10 runs left; the same command goes on" err
}

@test "without rung-mpi.so mpirun is told what to install, and --alone takes no notice" {
    command -v mpirun >/dev/null || skip "mpirun is not installed (openmpi-bin)"
    mkdir bin
    cp "$RUNG" bin/rung
    spec s.json 5
    run --separate-stderr mpirun -n 2 bin/rung sweep s.json
    [ "$status" = 4 ]
    [[ $stderr == *"Install libopenmpi-dev and openmpi-bin and run 'make mpi'; or use --alone"* ]]
    [ ! -e s.db ]
    mpirun -n 1 bin/rung sweep s.json --alone >/dev/null
    mpirun -n 1 bin/rung sweep s.json | grep -q '^done      0 now, 10 before$'
}

# ---- signals ---------------------------------------------------------------------------------------------------------------------

# usr1 FILE WORDS...: sends SIGUSR1 three times when FILE is there, and then SIGTERM; prints the exit code.
usr1() {
    python '
import glob, os, signal, subprocess, sys, time
run = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while run.poll() is None and not glob.glob(sys.argv[1]): time.sleep(0.002)
for number in signal.SIGUSR1, signal.SIGUSR1, signal.SIGUSR1, signal.SIGTERM:
    if run.poll() is None: run.send_signal(number)
print(run.wait())' "$@"
}

@test "SIGUSR1 leaves a checkpoint and 138, also when it comes again with SIGTERM after it; what is finished exits with 0" {
    spec s.json 200000
    [ "$(usr1 's.db.work/*.checkpoint' "$RUNG" sweep s.json --no-estimate --jobs 1)" = 138 ]
    [ -n "$(ls s.db.work/*.checkpoint)" ]
    words=(train --arch full --task eva N=8 V=8 --checkpoint-every 10 -o cut.safetensors)
    [ "$(usr1 cut.safetensors.checkpoint "$RUNG" "${words[@]}" --steps 200000)" = 138 ]
    [ -e cut.safetensors.checkpoint ]
    rm cut.safetensors.checkpoint
    [ "$(usr1 cut.safetensors.checkpoint "$RUNG" "${words[@]}" --steps 10)" = 0 ] || [ -e cut.safetensors ]
}

# bats test_tags=plain
@test "the script for requeueing in docs/cluster.md requeues while something is left, and then no more" {
    without_sanitizers "a shell script"
    need_mpi
    mkdir bin
    ln -s "$RUNG" bin/rung
    printf '#!/bin/sh\necho "$@" >>requeued\n' >bin/scontrol
    chmod +x bin/scontrol
    python '
import re, sys
blocks = [b for b in re.findall("```sh\n(.*?)```", open(sys.argv[1]).read(), re.S) if "scontrol" in b and "mpirun" in b]
assert len(blocks) == 1
open("job.sh", "w").write(blocks[0])' "$BATS_TEST_DIRNAME/../../docs/cluster.md"
    spec depth.json 1500
    export PATH="$PWD/bin:$PATH" SLURM_JOB_ID=17
    sh job.sh >/dev/null 2>&1 &
    while [ "$(ls depth.db.work/*.checkpoint 2>/dev/null | wc -l)" = 0 ]; do sleep 0.01; kill -0 $!; done
    kill -USR1 $!
    code=0
    wait $! || code=$?
    [ "$code" = 138 ]
    [ "$(cat requeued)" = "requeue 17" ]
    sh job.sh >said
    grep -qE '^done      [0-9]+ now, [0-9]+ before$' said
    [ "$(wc -l <requeued)" = 1 ]
    [ "$(rung export depth.db --jsonl | wc -l)" = 10 ]
}

# ---- Slurm -----------------------------------------------------------------------------------------------------------------------

plan() { rung sweep s.json --dry-run --no-estimate --json "$@" | python 'import json, sys; d = json.load(sys.stdin); print(d["shard"], d["shards"], d["jobs"], d["runs"], d["store"])'; }

@test "Slurm: arrays, steps of srun and cpus become shards and jobs, each shard with a store of its own" {
    spec s.json 5
    [ "$(RUNG_THREADS=3 plan)" = "0 1 3 10 s.db" ]
    export SLURM_CPUS_PER_TASK=4
    [ "$(plan)" = "0 1 4 10 s.db" ]
    [ "$(plan --threads 2)" = "0 1 2 10 s.db" ]
    [ "$(plan --jobs 7)" = "0 1 7 10 s.db" ]
    export SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_MAX=16 SLURM_ARRAY_TASK_STEP=4
    [ "$(plan)" = "2 4 4 2 s.2-of-4.db" ]
    [ "$(plan --shard 1/3)" = "1 3 4 3 s.db" ]
    [ "$(plan -o my.db)" = "2 4 4 2 my.db" ]
    RUNG_THREADS=1 plan --alone | grep -q '^0 1 1 10 s.db$'
    rung sweep s.json --dry-run --no-estimate >said
    grep -q '^shard     2/4, from SLURM_ARRAY_TASK_ID$' said
    grep -q '^cpus      4, from SLURM_CPUS_PER_TASK$' said
    # Two tasks of srun in each element of the array; a batch script has SLURM_PROCID and SLURM_NTASKS as well, and runs once.
    export SLURM_PROCID=1 SLURM_NTASKS=2
    [ "$(plan)" = "2 4 4 2 s.2-of-4.db" ]
    export SLURM_STEP_NUM_TASKS=2
    [ "$(plan)" = "5 8 4 1 s.5-of-8.db" ]
    rung sweep s.json --dry-run --no-estimate | grep -q '^shard     5/8, from SLURM_ARRAY_TASK_ID and SLURM_PROCID$'
    unset SLURM_ARRAY_TASK_ID
    [ "$(plan)" = "1 2 4 5 s.1-of-2.db" ]
    OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 plan | grep -q '^0 1 4 10 s.db$' # mpirun -n 1, which srun has started
    # srun --mpi: ranks where there is MPI, otherwise shards.
    mkdir bin
    cp "$RUNG" bin/rung
    PMI_RANK=1 PMI_SIZE=2 bin/rung sweep s.json --dry-run --no-estimate | grep -q '^shard     1/2, from SLURM_PROCID$'
    [ ! -e "$(dirname "$RUNG")/rung-mpi.so" ] || SLURM_PROCID=0 PMIX_RANK=0 rung sweep s.json --dry-run --no-estimate | grep -q '^ranks     2, from srun$'
    run -2 --separate-stderr rung train --steps 5 -o m.safetensors
    [[ $stderr == *"srun has started 2 processes without MPI"* ]]
    rung train --task eva N=3 V=2 --steps 5 -o m.safetensors --alone >/dev/null
    unset SLURM_STEP_NUM_TASKS
    rung train --task eva N=3 V=2 --steps 5 -o m.safetensors 2>&1 >/dev/null | grep -q '^4 threads, from SLURM_CPUS_PER_TASK$'
}

@test "Slurm: the tasks of an array do all runs once, and a list without order is refused" {
    spec s.json 5
    rung sweep s.json -o one.db >/dev/null
    export SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=5 SLURM_ARRAY_TASK_STEP=2
    for id in 1 3 5; do SLURM_ARRAY_TASK_ID=$id rung sweep s.json --no-estimate >/dev/null; done
    run -0 rung merge -o all.db s.*-of-3.db
    [ "$output" = "all.db: 10 runs added, 0 were there and are the same" ]
    cmp <(results one.db) <(results all.db)
    for bad in "ID=4" "ID=7" "MAX=9" "MIN=x" "STEP=0" "COUNT=none"; do
        run -2 --separate-stderr env SLURM_ARRAY_TASK_ID=3 "SLURM_ARRAY_TASK_$bad" "$RUNG" sweep s.json
        [[ $stderr == *"give --shard, or --alone"* ]]
    done
    SLURM_ARRAY_TASK_ID=7 rung sweep s.json --shard 0/10 -o ten.db >/dev/null
    rung export ten.db --jsonl | wc -l | grep -qx 1
    # A task that is started alone is not every task.
    SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3 plan | grep -q '^0 1 .* 10 s.db$'
}
