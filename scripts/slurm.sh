#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slurm.sh COMMAND...: runs the command beside a Slurm of its own: munged, slurmctld and two nodes, n1 and n2, all on this machine and on
# 127.0.0.1 only, as root or as the user. Afterwards everything that it has started is stopped, jobs too, and its files are gone.
# The command finds them through SLURM_CONF. CPUS (1) is the number of processors of a node, SLURM_KEEP=DIR keeps the logs there.
#   slurm.sh node n1 start|kill: for the command. kill is what a power cut does: the daemon of the node and all it has started, by SIGKILL.
set -eu
export PATH=$PATH:/usr/sbin:/sbin
hold=/sys/nowhere

say() { echo "slurm.sh: $*" >&2; }

# ---- processes: those that have our SLURM_CONF in their environment, and the node's name where one is asked for ----

started_here() { # [NODE]
    local path id
    for path in /proc/[0-9]*/environ; do
        id=${path#/proc/}
        id=${id%/environ}
        [ "$id" != $$ ] && [ "$id" != $PPID ] || continue
        tr '\0' '\n' 2>/dev/null <"$path" | grep -qxF "SLURM_CONF=$SLURM_CONF" || continue
        if [ -n "${1:-}" ]; then
            tr '\0' '\n' 2>/dev/null <"$path" | grep -qxE "(SLURM_SH_NODE|SLURMD_NODENAME)=$1" || continue
        else # only daemons and steps: the command itself has this variable too
            case $(cat "/proc/$id/comm" 2>/dev/null) in munged | slurmctld | slurmd | slurmstepd) ;; *) continue ;; esac
        fi
        echo "$id"
    done 2>/dev/null
}

start_node() {
    SLURM_SH_NODE=$1 slurmd -D -N "$1" -f "$SLURM_CONF" >>"$hold/$1.out" 2>&1 </dev/null 3>&- &
    echo $! >"$hold/$1.pid"
    disown $! # or the shell would tell of its end
}

# slurmstepd writes its title over its environment: it is known as the parent of what it has started.
steps_of() { # PID...
    local id parent
    for id in "$@"; do
        parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$id/status" 2>/dev/null) || continue
        [ "$(cat "/proc/$parent/comm" 2>/dev/null)" != slurmstepd ] || echo "$parent"
    done
}

# The daemon and its slurmstepd first, so that nobody is left to report how the others end.
kill_node() {
    local all id
    all=$(started_here "$1")
    for id in $(cat "$hold/$1.pid") $(steps_of $all) $all; do kill -9 "$id" 2>/dev/null || true; done
}

# ---- the cluster ----

free_ports() { # four in a row
    python3 -c '
import random, socket
while True:
    first = random.randrange(20000, 30000)
    try:
        for port in range(first, first + 4):
            with socket.socket() as s: s.bind(("127.0.0.1", port))
    except OSError: continue
    print(first); break'
}

write_conf() {
    local port host
    port=$(free_ports)
    host=$(hostname -s)
    cat >"$SLURM_CONF" <<END
ClusterName=rung
SlurmctldHost=$host(127.0.0.1)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$hold/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$hold/state
SlurmdSpoolDir=$hold/spool-%n
SlurmctldPidFile=$hold/slurmctld.pid
SlurmdPidFile=$hold/slurmd-%n.pid
SlurmctldLogFile=$hold/slurmctld.log
SlurmdLogFile=$hold/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=5
SlurmdTimeout=6
BatchStartTimeout=10
KillWait=3
MinJobAge=3600
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 2))] CPUs=${CPUS:-1}
PartitionName=all Nodes=n[1-2] Default=YES MaxTime=UNLIMITED State=UP
END
}

start_all() {
    mkdir -p "$hold/state" "$hold/spool-n1" "$hold/spool-n2"
    head -c 128 /dev/urandom >"$hold/munge.key"
    chmod 600 "$hold/munge.key"
    write_conf
    munged -F --force --key-file="$hold/munge.key" --socket="$hold/munge.socket" --pid-file="$hold/munged.pid" \
        --log-file="$hold/munged.log" --seed-file="$hold/munged.seed" >"$hold/munged.out" 2>&1 </dev/null 3>&- &
    echo $! >"$hold/munged.started"
    wait_for "munged" test -S "$hold/munge.socket"
    slurmctld -D -f "$SLURM_CONF" >"$hold/slurmctld.out" 2>&1 </dev/null 3>&- &
    echo $! >"$hold/slurmctld.started"
    wait_for "slurmctld" eval 'scontrol ping 2>/dev/null | grep -q "is UP"'
    start_node n1
    start_node n2
    wait_for "the nodes" eval '[ "$(sinfo -h -N -o %T | grep -c "^idle")" = 2 ]'
}

wait_for() { # what condition...
    local what=$1 _
    shift
    for _ in $(seq 300); do
        ! "$@" || return 0
        sleep 0.1
    done
    say "$what does not start"
    tail -n 20 "$hold"/*.log "$hold"/*.out >&2 || true
    exit 4
}

# Jobs first, so that slurmstepd ends what it has started; then the daemons; what is left then goes by SIGKILL.
stop_all() {
    local id left _
    trap - EXIT INT TERM
    scancel --full -u "$(id -un)" 2>/dev/null || true
    for _ in $(seq 80); do
        [ -n "$(squeue -h 2>/dev/null)" ] || break
        sleep 0.1
    done
    for id in $(started_here); do kill "$id" 2>/dev/null || true; done
    for _ in $(seq 80); do
        [ -n "$(started_here)" ] || break
        sleep 0.1
    done
    left=$(started_here n1 && started_here n2 && started_here)
    for id in $(steps_of $left) $left; do kill -9 "$id" 2>/dev/null || true; done
    [ -z "${SLURM_KEEP:-}" ] || { mkdir -p "$SLURM_KEEP" && cp "$hold"/*.log "$hold"/*.out "$SLURM_CONF" "$SLURM_KEEP"; }
    rm -rf "$hold"
}

if [ "${1:-}" = node ]; then
    hold=$(dirname "$SLURM_CONF")
    case $3 in
    start) start_node "$2" ;;
    kill) kill_node "$2" ;;
    *) say "node $2: start or kill, not '$3'" && exit 2 ;;
    esac
    exit 0
fi

for program in munged slurmctld slurmd sbatch python3; do
    command -v $program >/dev/null || { say "$program is missing (Debian: slurm-wlm, munge)"; exit 4; }
done
[ $# -gt 0 ] || { say "a command is missing"; exit 2; }
hold=$(mktemp -d)
export SLURM_CONF=$hold/slurm.conf
command=
trap stop_all EXIT
trap '[ -z "$command" ] || kill "$command"; exit 130' INT TERM
start_all
"$@" <&0 & # a signal would wait for the end of a command in the foreground
command=$!
wait $command && code=0 || code=$?
exit $code
