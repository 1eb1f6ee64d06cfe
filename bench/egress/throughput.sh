#!/usr/bin/env bash
# How long a download takes through the network of an allowlist, as a ratio to the same download without it, in turns
# with Squid as the peer: curl's own time for the transfer, the median of the rounds.
#
#   bench/egress/throughput.sh [ROUNDS [MiB]]       needs build/release/guard, bun, curl, squid, bubblewrap, a container engine
#
# GUARDS="NAME=PROGRAM ...": further guards to be measured in the same run.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
rounds=${1:-5} size=$((${2:-1024} * 1048576))
bun=${GUARD_BUN:-bun} address=127.77.0.1 port=8077
work=$(mktemp -d)
chmod 0755 "$work"
export GUARD_CACHE_DIR=$work/cache

truncate -s $size "$work/file"
"$bun" -e "Bun.serve({ hostname: '$address', port: $port, fetch: () => new Response(Bun.file('$work/file')) })" &
server=$!
printf '%s\n' "http_port $address:3128" 'http_access allow all' 'cache deny all' 'access_log none' "cache_log $work/log" \
  'pid_filename none' 'pinger_enable off' 'shutdown_lifetime 0 seconds' >"$work/squid.conf"
/usr/sbin/squid -N -f "$work/squid.conf" 2>/dev/null &
squid=$!
trap 'kill $server $squid; wait; rm -rf -- "$work"' EXIT

project=$work/project
mkdir -p "$project/src" "$project/sandbox"
cd "$project"
echo '{"name":"bench","private":true}' >package.json
echo '{}' >tsconfig.json
printf '[network]\nallow = ["%s:%s"]\nmax_download = "1t"\n[image]\ntools = ["curl"]\n' $address $port >guard.toml
git init -q .
git add -A
git -c user.name=bench -c user.email=bench@example.invalid commit -qm base

guards=("guard=$root/build/release/guard")
for other in ${GUARDS-}; do guards+=("$other"); done
"$root/build/release/guard" image build --root-folder >/dev/null 2>&1
"$root/build/release/guard" image build >/dev/null 2>&1

get() { curl -sS --fail --noproxy '' -o /dev/null -w '%{time_total} %{size_download}\n' "$@" "http://$address:$port/"; }
measure() { # NAME COMMAND...
  local name=$1 seconds bytes
  shift
  read -r seconds bytes < <("$@")
  [[ $bytes == "$size" ]] || { echo "$name: $bytes bytes" >&2; exit 1; }
  echo "$seconds" >>"$work/times.$name"
}
through() { # GUARD BACKEND
  "$1" exec --backend "$2" --quiet -- curl -sS --fail -o /dev/null -w '%{time_total} %{size_download}\n' "http://$address:$port/" 2>/dev/null
}
until get >/dev/null 2>&1 && get -x $address:3128 >/dev/null 2>&1; do sleep 0.2; done

names=(direct squid)
for ((round = 0; round < rounds; ++round)); do
  measure direct get
  measure squid get -x $address:3128
  for guard in "${guards[@]}"; do
    for backend in namespace docker; do measure "${guard%%=*}-$backend" through "${guard#*=}" $backend; done
  done
done
for guard in "${guards[@]}"; do names+=("${guard%%=*}-namespace" "${guard%%=*}-docker"); done

median() { sort -g "$work/times.$1" | sed -n "$(((rounds + 1) / 2))p"; }
direct=$(median direct)
printf '| way | seconds | MB/s | x direct |\n|---|---|---|---|\n'
for name in "${names[@]}"; do
  awk -v name="$name" -v t="$(median "$name")" -v d="$direct" -v size=$size \
    'BEGIN { printf "| %s | %.2f | %.0f | %.1f |\n", name, t, size / t / 1e6, t / d }'
done
