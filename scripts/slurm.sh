#!/usr/bin/env bash
# A private Slurm cluster of one node for tests and for trying slurm:// out: its own munge daemon,
# controller and node daemon, with ports, keys, state and logs under one folder. The node has one
# GPU in name (--gres=gpu:1) and the partition "gpu". Needs no init system and no running Slurm.
# The daemons run as the user who starts them.
#
#   scripts/slurm.sh start DIR   starts it, waits until the node is idle, prints slurm.conf's path
#   scripts/slurm.sh stop DIR    ends it
#
# Programs find the cluster by SLURM_CONF=DIR/slurm.conf. The packages are munge, slurmctld, slurmd
# and slurm-client of Debian (scripts/install-deps.sh).
set -euo pipefail

usage() { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -eq 2 ] || usage
action=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
export PATH=$PATH:/usr/sbin:/sbin SLURM_CONF=$dir/slurm.conf
start_limit_s=120

say() { echo "slurm: $*" >&2; }

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

prepare() {
  local name user
  name=$(hostname -s)
  user=$(id -un)
  mkdir -p "$dir/munge" "$dir/state" "$dir/spool"
  chmod 700 "$dir/munge" "$dir/state"
  # The key is drawn once; munge wants it to be readable for its user alone.
  [ -e "$dir/munge/key" ] || (umask 077 && head -c 1024 /dev/urandom >"$dir/munge/key")
  cat >"$dir/slurm.conf" <<END
ClusterName=warpwright
SlurmctldHost=$name(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$dir/socket/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=2
InactiveLimit=0
GresTypes=gpu
NodeName=box NodeHostname=$name NodeAddr=127.0.0.1 Port=$(free_port) CPUs=1 Gres=gpu:1 State=UNKNOWN
PartitionName=gpu Nodes=box Default=YES MaxTime=INFINITE State=UP
END
  # Any file may be the device: it is named and not opened.
  printf 'AutoDetect=off\nName=gpu File=/dev/null\n' >"$dir/gres.conf"
  echo "CgroupPlugin=cgroup/v1" >"$dir/cgroup.conf"
}

# Each daemon is a child of no terminal, and its process id is written down.
daemon() {
  local name=$1
  shift
  setsid "$@" </dev/null >>"$dir/$name.out" 2>&1 &
  echo $! >"$dir/$name.running"
}

is_running() { [ -s "$dir/$1.running" ] && kill -0 "$(cat "$dir/$1.running")" 2>/dev/null; }

start() {
  for program in munged slurmctld slurmd srun; do
    command -v "$program" >/dev/null || { say "$program is not installed; scripts/install-deps.sh installs it"; exit 1; }
  done
  prepare
  # Clients of other users connect to the socket, so its folder is open to all.
  mkdir -p "$dir/socket"
  chmod 755 "$dir/socket"
  daemon munged munged --foreground --force --key-file="$dir/munge/key" --socket="$dir/socket/munge" \
    --pid-file="$dir/munge/pid" --seed-file="$dir/munge/seed" --log-file="$dir/munge/log"
  local deadline=$((SECONDS + start_limit_s))
  until munge --socket="$dir/socket/munge" --no-input >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] && is_running munged || fail_to_start munged
    sleep 0.1
  done
  daemon slurmctld slurmctld -D -f "$SLURM_CONF"
  daemon slurmd slurmd -D -N box -f "$SLURM_CONF"
  until [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; do
    is_running slurmctld || fail_to_start slurmctld
    is_running slurmd || fail_to_start slurmd
    [ $SECONDS -lt $deadline ] || fail_to_start slurmctld
    sleep 0.1
  done
  echo "$SLURM_CONF"
}

fail_to_start() {
  say "$1 does not serve:"
  for log in "$dir/$1.out" "$dir/munge/log"; do tail -n 20 "$log" >&2; done
  stop
  exit 1
}

stop() {
  local name deadline=$((SECONDS + 30))
  for name in slurmd slurmctld munged; do
    is_running "$name" || continue
    kill "$(cat "$dir/$name.running")"
    while is_running "$name" && [ $SECONDS -lt $deadline ]; do sleep 0.1; done
    ! is_running "$name" || kill -KILL "$(cat "$dir/$name.running")"
    rm -f "$dir/$name.running"
  done
}

case $action in
  start) start ;;
  stop) stop ;;
  *) usage ;;
esac
