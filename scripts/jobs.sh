# SPDX-License-Identifier: MIT
# Runs jobs two at a time, one log and one line each, and beside them one of those that mostly wait. Sourced by
# run-tests.sh, fuzz.sh and soak.sh, which set LOGS to the directory of the logs before the first job and call
# finish_jobs after the last one.
# shellcheck shell=bash

JOBS_AT_ONCE=${JOBS_AT_ONCE:-2}
JOB_SECONDS=${JOB_SECONDS:-1800} # a job that hangs is killed and counted as failed

passed=0 failed=0 skipped=0 processor_sum=0
failures= # what failed, for the end: whoever reads a long output begins there
declare -A job_name=() job_kind=() job_start=()
waiter=    # the process of a job that mostly waits
waiters=() # such jobs to come, each a line of words for start_job

cases_in() { # how many cases match: pattern log, where the first group of the pattern is a number
    sed -nE "s/.*$1.*/\\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# Sets ok, not_ok and skip from the log of a finished job. A kind that reports cases must report at least one.
count_cases() { # kind status log
    case $1 in
    cmocka)
        ok=$(cases_in '\[  PASSED  \] ([0-9]+) test' "$3")
        not_ok=$(cases_in '\[  FAILED  \] ([0-9]+) test' "$3")
        skip=$(cases_in '\[  SKIPPED \] ([0-9]+) test' "$3")
        ;;
    bats)
        skip=$(grep -cE '^ok [0-9]+ .*# skip' "$3")
        ok=$(($(grep -cE '^ok [0-9]+' "$3") - skip))
        not_ok=$(grep -cE '^not ok [0-9]+' "$3")
        ;;
    *) ok=1 not_ok=0 skip=0 ;;
    esac
    if [ "$2" != 0 ] && [ "$not_ok" = 0 ]; then
        not_ok=1 # it broke off: what it counted so far does not matter
        [ "$1" = other ] && ok=0
    elif [ "$2" = 0 ] && [ $((ok + not_ok + skip)) = 0 ]; then
        echo "no case was run" >>"$3"
        not_ok=1
    fi
}

report_job() { # name kind status seconds log
    local ok not_ok skip verdict=PASS cases= processor
    count_cases "$2" "$3" "$5"
    processor=$(processor_seconds "$5")
    processor_sum=$(awk -v a="$processor_sum" -v b="$processor" 'BEGIN { print a + b }')
    passed=$((passed + ok)) failed=$((failed + not_ok)) skipped=$((skipped + skip))
    [ "$2" = other ] || cases="$((ok + not_ok)) cases"
    [ "$skip" = 0 ] || cases="$cases, $skip skipped"
    [ "$not_ok" = 0 ] || verdict=FAIL
    printf '%s  %-44s %7.1f s %7.1f s cpu  %s\n' "$verdict" "$1" "$4" "$processor" "$cases"
    [ "$not_ok" = 0 ] && return
    [ "$3" = 124 ] && echo "      stopped after $JOB_SECONDS s"
    echo "      status $3; the end of $5:"
    tail -n 40 "$5" | sed 's/^/    | /'
    failures+="FAIL  $1"$'\n'$(failed_cases "$2" "$5")$'\n'
}

# The lines of a log that say what failed and where.
failed_cases() { # kind log
    case $1 in
    cmocka) grep -E '\[  ERROR   \]|\[   LINE   \]|\[  FAILED  \]|ERROR: |runtime error' "$2" ;;
    bats) awk '/^not ok/ { show = 1 } /^ok/ { show = 0 } show' "$2" ;;
    *) tail -n 5 "$2" ;;
    esac | head -n 25 | sed 's/^/    | /'
}

# Waits for one job to end and reports it.
reap_job() {
    local pid status=0 name log seconds
    { wait -n -p pid || status=$?; } 2>/dev/null # bash would announce a crash; the report does that
    name=${job_name[$pid]} log=$LOGS/${name//\//-}.log
    seconds=$(awk -v a="${job_start[$pid]}" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
    report_job "$name" "${job_kind[$pid]}" "$status" "$seconds" "$log"
    unset "job_name[$pid]"
    [ "$pid" != "$waiter" ] || waiter=
    start_waiter
}

# Runs a command and writes the processor time that it and its children took, in seconds, to the file: what a job costs, whatever
# else the machine does. The shell is of the process group of timeout, so that a signal to timeout ends both.
# shellcheck disable=SC2016 # for the inner shell
measured='file=$1; shift; TIMEFORMAT="%U %S"; { time "$@" 2>&3 3>&-; } 3>&2 2>"$file"'

processor_seconds() { # log; 0 for a job that was killed
    { tail -n 1 "${1%.log}.cpu" 2>/dev/null || echo 0; } | awk '{ print $1 + $2 }'
}

start_job() { # kind (cmocka, bats, other) name command...
    local kind=$1 name=$2 log=$LOGS/${2//\//-}.log
    shift 2
    timeout --kill-after=10 "$JOB_SECONDS" bash -c "$measured" measured "${log%.log}.cpu" "$@" >"$log" 2>&1 </dev/null &
    job_name[$!]=$name job_kind[$!]=$kind job_start[$!]=$EPOCHREALTIME
}

start_waiter() {
    [ -z "$waiter" ] && [ ${#waiters[@]} -gt 0 ] || return 0
    eval "start_job ${waiters[0]}"
    waiter=$!
    waiters=("${waiters[@]:1}")
}

job() { # as start_job, when fewer than JOBS_AT_ONCE are at work
    while [ $((${#job_name[@]} - (waiter ? 1 : 0))) -ge "$JOBS_AT_ONCE" ]; do reap_job; done
    start_job "$@"
}

waiting_job() { # as start_job, for one that waits for time to pass more than it computes
    waiters+=("${*@Q}")
    start_waiter
}

skip_job() { # name reason
    printf 'SKIP  %-44s %s\n' "$1" "$2"
    skipped=$((skipped + 1))
}

finish_jobs() {
    while [ ${#job_name[@]} -gt 0 ]; do reap_job; done # a waiter that ends starts the next
    local tail=
    [ "$skipped" = 0 ] || tail=", $skipped skipped"
    [ -z "$failures" ] || printf '\n%s' "$failures"
    printf '%.0f s of processor time\n' "$processor_sum"
    echo "$passed passed, $failed failed$tail"
    [ "$failed" = 0 ]
}

# timeout passes the signal on to its command.
stop_jobs() {
    trap - INT TERM
    [ ${#job_name[@]} = 0 ] || kill "${!job_name[@]}" 2>/dev/null
    exit 130
}
trap stop_jobs INT TERM
