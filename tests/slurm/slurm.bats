#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A sweep of forty runs as a job array under a real Slurm of two nodes, which scripts/slurm.sh starts around this file (make test-slurm):
# elements are requeued by their own signal, by hand and because their node dies, one is killed. Nothing is lost, nothing is done twice.
load ../tool/common
export BATS_TEST_TIMEOUT=600 # seconds of a case: a Slurm that hangs ends it

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    [ -n "${SLURM_CONF:-}" ] || skip "make test-slurm starts a Slurm for it"
    slurm=$(realpath "$BATS_TEST_DIRNAME/../../scripts/slurm.sh")
    mkdir bin
    ln -s "$RUNG" bin/rung
    export PATH="$PWD/bin:$PATH"
    [ "$(sinfo -h -N -n n2 -o %T)" = idle ] || "$slurm" node n2 start # a case that failed may have left it dead
}

# script WORD...: the one script in docs/cluster.md that has all these words.
script() {
    python '
import re, sys
blocks = [b for b in re.findall("```sh\n(.*?)```", open(sys.argv[1]).read(), re.S) if all(word in b for word in sys.argv[2:])]
assert len(blocks) == 1, blocks
print(blocks[0])' "$BATS_TEST_DIRNAME/../../docs/cluster.md" "$@"
}

# spec STEPS: forty runs of so many steps.
spec() {
    cat >depth.json <<END
{"name": "depth", "success": 0.9,
 "base": {"task": "eva N=3 V=2", "steps": $1, "batch": 8, "d-model": 8, "dk": 4, "dv": 4, "eval-every": 100, "eval-prompts": 16,
          "test-prompts": 32, "checkpoint-every": 50},
 "grid": {"arch": ["full", "linear"], "seed": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}}
END
}

# patiently CONDITION...: waits for two minutes at most.
patiently() {
    for _ in $(seq 1200); do
        ! "$@" || return 0
        sleep 0.1
    done
    echo "waited in vain: $*"
    squeue --array --states=all
    return 1
}

field() { scontrol show job "$1" | grep -oE "(^|[[:space:]])$2=[^ ]*" | sed 's/.*=//'; } # JOB NAME
state_is() { [ "$(field "$1" JobState)" = "$2" ]; }
is_over() { [ -z "$(squeue -h --array)" ]; }
runs_of() { rung export "$1" --jsonl 2>/dev/null | wc -l; }

# finished: id and time of every finished run in any store. Copies, because reading may change files of a killed program.
finished() {
    rm -rf look && mkdir look && cp depth*.db* look/ 2>/dev/null || true
    python '
import glob, sqlite3
for path in glob.glob("look/*.db"):
    try: rows = sqlite3.connect(path).execute("SELECT id, finished_at FROM runs").fetchall()
    except sqlite3.OperationalError: rows = []
    for id, at in rows: print(id, at)' | sort
}

# in_the_middle ELEMENT: it runs, has finished a run and not all, and another one has a checkpoint.
in_the_middle() {
    state_is "${job}_$1" RUNNING && [ "$(runs_of "depth.$1-of-8.db")" -ge 1 ] && [ "$(runs_of "depth.$1-of-8.db")" -le 4 ] &&
        [ -n "$(ls "depth.$1-of-8.db.work/"*.checkpoint 2>/dev/null)" ]
}

# running: an element that is in the middle, on the given node if there is one.
running() {
    local element
    for element in $(squeue -h --array --states=R ${1:+-w "$1"} -o %K); do
        ! in_the_middle "$element" || { echo "$element" && return 0; }
    done
    return 1
}

# signal_of ELEMENT SIGNAL NAME: to the processes of an element that have this name.
signal_of() {
    local path sent=1
    for path in /proc/[0-9]*; do
        [ "$(cat "$path/comm" 2>/dev/null)" = "$3" ] && [ "$(readlink "$path/cwd")" = "$PWD" ] &&
            grep -qz "^SLURM_ARRAY_TASK_ID=$1\$" "$path/environ" 2>/dev/null && kill -s "$2" "${path#/proc/}" && sent=0
    done
    return $sent
}

# lost: what `finished` said before and does not say now.
lost() {
    finished >now
    comm -23 before now
}

@test "Slurm: an array of forty runs with requeues, a dead node and a killed process loses nothing and does nothing twice" {
    spec 6000
    rung sweep depth.json -o one.db --no-estimate >/dev/null
    [ "$(runs_of one.db)" = 40 ]
    results one.db >one
    rm -r one.db*
    script "--array" "scontrol requeue" | sed 's/--array=[^ ]*/--array=0-7/; s/--cpus-per-task=[^ ]*/--cpus-per-task=1/' >job.sh
    job=$(sbatch --parsable -o said.%a job.sh)

    # The signal that the script asks for, which Slurm sends to the script alone. The script requeues itself.
    patiently eval 'first=$(running)'
    finished >before
    signal_of "$first" USR1 slurm_script
    patiently eval '[ "$(field "${job}_$first" Restarts)" = 1 ]'
    grep -q 'stopped with .* runs left' "said.$first"
    [ -z "$(lost)" ]

    # By hand: Slurm sends SIGTERM.
    patiently eval 'second=$(running) && [ "$second" != "$first" ]'
    finished >before
    scontrol requeue "${job}_$second"
    patiently eval '[ "$(field "${job}_$second" Restarts)" = 1 ]'
    [ -z "$(lost)" ]

    # A power cut at a node. Slurm notices, and gives its job to another one or waits until it is back.
    patiently eval 'third=$(running n2)'
    finished >before
    "$slurm" node n2 kill
    patiently eval '[ "$(sinfo -h -N -n n2 -o %T)" = "down" ] || [ "$(sinfo -h -N -n n2 -o %T)" = "down*" ]'
    patiently eval '[ "$(field "${job}_$third" Restarts)" -ge 1 ]'
    [ -z "$(lost)" ]
    "$slurm" node n2 start

    # A killed process. Its element has failed, and the same command again does what is missing.
    patiently eval 'fourth=$(running)'
    finished >before
    signal_of "$fourth" KILL rung
    patiently state_is "${job}_$fourth" FAILED
    [ -z "$(lost)" ]
    patiently is_over
    finished >before
    [ "$(wc -l <before)" -lt 40 ]
    timeout 240 sbatch -W -o again.%a job.sh
    [ -z "$(lost)" ]
    [ "$(wc -l <now)" = 40 ]
    [ "$(cut -d' ' -f1 now | sort -u | wc -l)" = 40 ]
    grep -qE "^done +[1-5] now, [0-4] before\$" "again.$fourth"
    [ "$(cat again.? | grep -cE '^done +0 now, 5 before$')" = 7 ]

    # The stores have no run in common, and together the bytes of one process.
    run -0 rung merge -o depth.db depth.*-of-8.db
    [ "$output" = "depth.db: 40 runs added, 0 were there and are the same" ]
    results depth.db >all
    cmp one all
    [ -z "$(ls depth.*.work 2>/dev/null)" ]
}

@test "Slurm: the signal before the end of the time reaches the script, which requeues itself" {
    spec 2000000
    script "--array" "scontrol requeue" |
        sed 's/--array=[^ ]*/--array=0-0/; s/--cpus-per-task=[^ ]*/--cpus-per-task=1/; s/--time=.*/--time=2/; s/USR1@300/USR1@110/' >job.sh
    job=$(sbatch --parsable -o said.%a job.sh)
    patiently eval '[ "$(field "${job}_0" Restarts)" = 1 ]'
    grep -q 'stopped with 40 runs left' said.0
    patiently state_is "${job}_0" RUNNING
    scancel "$job"
    patiently is_over
}

@test "Slurm: srun without MPI divides the runs among its tasks" {
    spec 20
    rung sweep depth.json -o one.db --no-estimate >/dev/null
    timeout 120 srun --ntasks=2 "$RUNG" sweep depth.json --no-estimate --jobs 1 >said
    [ "$(grep -c '^done      20 now, 0 before$' said)" = 2 ]
    run -0 rung merge -o depth.db depth.*-of-2.db
    [ "$output" = "depth.db: 40 runs added, 0 were there and are the same" ]
    cmp <(results one.db) <(results depth.db)
}

@test "Slurm: only the address of this machine for itself is listened to" {
    ! ss -Hltnp | grep -E '"(munged|slurmctld|slurmd|slurmstepd)"' | grep -v '127\.0\.0\.1:'
    ss -Hltnp | grep -q '"slurmctld"'
}
