#!/usr/bin/env bash
# kill_chaos.sh GUARD BUN [ROUNDS [SEED]]: guard, the container engine or the sandbox's init is killed with SIGKILL at a random moment
# of a run, ROUNDS times (200 unless given). After the next start of guard nothing of the run may be left: no container, process,
# control group, mount or folder, no half-written record; and no run may end allowed.
#
# Needs root, dockerd and bubblewrap. Starts an engine of its own below /tmp and ends it by pid. Exits with 1 at the first
# round that left something, and says what; the folder is kept then.
set -uo pipefail

guard=$(realpath -- "$1")
export GUARD_BUN=$2
rounds=${3:-200}
RANDOM=${4:-$((SECONDS + $$))}
seed=$RANDOM
RANDOM=$seed

[[ $(id -u) -eq 0 ]] || { echo "kill_chaos: this takes root" >&2; exit 77; }
work=$(mktemp -d /tmp/gchaos.XXXXXX)
chmod 755 -- "$work"
socket=$work/s
marker=guard-chaos-$$
engine_pid=
export GUARD_CACHE_DIR=$work/cache DOCKER_HOST=unix://$socket GUARD_RUN_GRACE_S=1 GUARD_TRUST_NAMESPACE=true
mkdir -m 755 -- "$GUARD_CACHE_DIR"

# A dockerd that was killed leaves a containerd that the next one may not get on with; then both start anew.
start_engine() {
  local tries
  for ((tries = 0; tries < 4; ++tries)); do
    if start_engine_once; then return 0; fi
    kill -KILL "$engine_pid" 2>/dev/null
    for pid in $(pids_naming "$work/e/containerd/containerd.toml"); do kill -KILL "$pid" 2>/dev/null; done
    sleep 1
    rm -f -- "$work"/e/containerd/*.pid
  done
  echo "kill_chaos: the engine did not start" >&2
  tail -n 5 -- "$work/engine.log" >&2
  return 1
}

start_engine_once() {
  rm -f -- "$work/p" "$socket"
  dockerd --data-root "$work/d" --exec-root "$work/e" --pidfile "$work/p" --host "unix://$socket" --iptables=false --bridge=none \
    >>"$work/engine.log" 2>&1 </dev/null &
  engine_pid=$!
  disown "$engine_pid"
  local waited
  for ((waited = 0; waited < 400; ++waited)); do
    if timeout -k 1 2 docker --host "unix://$socket" version >/dev/null 2>&1; then return 0; fi
    [[ -d /proc/$engine_pid ]] || return 1
    sleep 0.1
  done
  return 1
}

stop_engine() {
  [[ -n $engine_pid ]] || return 0
  kill -TERM "$engine_pid" 2>/dev/null
  local waited pid
  for ((waited = 0; waited < 150; ++waited)); do
    [[ -d /proc/$engine_pid ]] || break
    sleep 0.1
  done
  for pid in $(pids_naming "$work/"); do kill -KILL "$pid" 2>/dev/null; done
  awk -v below="$work/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r mounted; do
    umount --lazy -- "$mounted" 2>/dev/null
  done
}

# Processes whose command line holds the text.
pids_naming() {
  local folder
  for folder in /proc/[0-9]*; do
    if [[ ${folder#/proc/} != "$$" && ${folder#/proc/} != "$BASHPID" ]] && grep -qsaF -- "$1" "$folder/cmdline"; then printf '%s\n' "${folder#/proc/}"; fi
  done 2>/dev/null
}

# Processes of the run, by what its environment names.
pids_of_run() {
  local folder
  for folder in /proc/[0-9]*; do
    if grep -qsaF -- "$marker" "$folder/environ"; then printf '%s\n' "${folder#/proc/}"; fi
  done 2>/dev/null
}

inits() {
  local pid
  for pid in $(pids_of_run); do
    if grep -qs 'guard-init' "/proc/$pid/comm"; then printf '%s\n' "$pid"; fi
  done
}

# What is left of any run, a line each; nothing when all is well.
leftovers() {
  local pid
  timeout -k 1 10 docker --host "unix://$socket" ps --all --quiet --filter label=guard.run 2>&1 | sed 's/^/container /'
  for pid in $(pids_of_run); do printf 'process %s %s\n' "$pid" "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -c1-160)"; done
  find /sys/fs/cgroup -maxdepth 4 -type d -name 'guard-r*' 2>/dev/null | sed 's/^/control group /'
  awk -v below="$GUARD_CACHE_DIR/" 'index($5, below) == 1 || index($4, below "runs") { print "mount " $5 }' /proc/self/mountinfo
  find "$GUARD_CACHE_DIR/runs" -mindepth 1 -maxdepth 1 2>/dev/null | sed 's/^/folder /'
  find "$work/records" -type f ! -name '*.json' 2>/dev/null | sed 's/^/half a record /'
  for record in "$work"/records/*.json; do
    [[ -e $record ]] || continue
    jq -e '.verdict' "$record" >/dev/null 2>&1 || printf 'half a record %s\n' "$record"
    if jq -e '.verdict == "allowed"' "$record" >/dev/null 2>&1; then printf 'a pass in %s\n' "$record"; fi
  done
}

trap 'stop_engine; [[ -n ${keep:-} ]] || rm -rf --one-file-system -- "$work"' EXIT
trap 'exit 130' INT TERM

project=$work/project
mkdir -p -- "$project/src" "$project/sandbox" "$work/records"
printf '{"name":"chaos"}\n' >"$project/package.json"
cat >"$project/sandbox/a.test.ts" <<'T'
import { expect, test } from "bun:test";
test("lasts", async () => {
  const child = Bun.spawn(["/usr/local/bin/bun", "-e", "setTimeout(() => {}, 600000)"]);
  await Bun.sleep(600000);
  expect(child.pid).toBe(0);
}, 1e9);
T

start_engine || exit 1
"$guard" image build --project "$project" >/dev/null || exit 1
echo "kill_chaos: $rounds rounds, seed $seed"
declare -A counts
victims=(guard engine init)
for ((round = 1; round <= rounds; ++round)); do
  victim=${victims[RANDOM % 3]}
  backend=docker
  if [[ $victim != engine && $((RANDOM % 2)) -eq 0 ]]; then backend=namespace; fi
  moment=$(printf '0.%03d' $((RANDOM % 1000)))
  (cd -- "$project" && exec "$guard" run --quiet --backend "$backend" --env "MARK=$marker" --record "$work/records/$round.json" sandbox/a.test.ts) \
    >"$work/out" 2>&1 </dev/null &
  run=$!
  sleep "$moment"
  case $victim in
    guard) kill -KILL "$run" 2>/dev/null ;;
    engine)
      kill -KILL "$engine_pid" 2>/dev/null
      # Its containerd lives on, or goes as well.
      if [[ $((RANDOM % 2)) -eq 0 ]]; then for pid in $(pids_naming "$work/e/containerd/containerd.toml"); do kill -KILL "$pid" 2>/dev/null; done; fi
      ;;
    init)
      for ((tries = 0; tries < 60; ++tries)); do
        pids=$(inits)
        [[ -z $pids ]] || break
        [[ -d /proc/$run ]] || break
        sleep 0.05
      done
      for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
      ;;
  esac
  # Nobody but a dead guard may need its time-out to end.
  ended=0
  for ((waited = 0; waited < 900; ++waited)); do
    if [[ ! -d /proc/$run ]]; then ended=1; break; fi
    sleep 0.1
  done
  [[ $ended -eq 1 ]] || { echo "round $round ($victim, $backend, $moment s): guard still runs after 90 s" >&2; keep=1; kill -KILL "$run"; exit 1; }
  wait "$run" 2>/dev/null
  status=$?
  counts[$victim:$status]=$((${counts[$victim:$status]:-0} + 1))
  if [[ $status -eq 0 ]]; then
    echo "round $round ($victim, $backend, $moment s): allowed" >&2
    keep=1
    exit 1
  fi
  if [[ $victim == engine ]]; then
    wait "$engine_pid" 2>/dev/null
    start_engine || { keep=1; exit 1; }
  fi
  # The next start cleans up. Whatever notices a death needs a moment for it.
  for ((tries = 0; tries < 40; ++tries)); do
    "$guard" clean >"$work/clean" 2>&1
    left=$(leftovers)
    [[ -n $left ]] || break
    sleep 0.25
  done
  if [[ -n $left ]]; then
    echo "round $round ($victim, $backend, $moment s) left behind:" >&2
    printf '%s\n' "$left" >&2
    cat -- "$work/clean" >&2
    keep=1
    exit 1
  fi
  rm -f -- "$work"/records/*
  if [[ $((round % 20)) -eq 0 ]]; then echo "kill_chaos: $round rounds"; fi
done
echo "kill_chaos: nothing was left behind in $rounds rounds; who was killed, and guard's exit status:"
for key in "${!counts[@]}"; do printf '  %-12s %s\n' "$key" "${counts[$key]}"; done | sort
