#!/usr/bin/env bash
# A whole repository: guard check, plain reading and ripgrep over the TypeScript and JavaScript of well-known npm packages
# (bench/packages.txt), interleaved; medians, ratios and peak memory. Files over guard's size limit are left out for all.
#
#   bench/tree.sh [GUARD] [READ_FILES]     RUNS=5, FILES=50000, BENCH_CACHE=.cache/bench
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
guard=$(realpath "${1:-$here/build/release/guard}")
reader=$(realpath "${2:-$here/build/bench/bench/tools/read_files}")
runs=${RUNS:-5}
files_wanted=${FILES:-50000}
cache=${BENCH_CACHE:-$here/.cache/bench}
for tool in npm jq rg /usr/bin/time; do command -v "$tool" >/dev/null || { echo "bench: $tool is missing" >&2; exit 2; }; done
mkdir -p "$cache/packages"

while read -r package; do
  folder="$cache/packages/$(printf '%s' "$package" | tr '/@' '__')"
  [ ! -e "$folder/.complete" ] || continue
  rm -rf "$folder"
  mkdir -p "$folder"
  archive=$(cd "$folder" && npm pack --silent "$package" 2>/dev/null </dev/null | tail -n 1)
  tar -xzf "$folder/$archive" -C "$folder" --strip-components=1
  rm "$folder/$archive"
  touch "$folder/.complete"
done <"$here/bench/packages.txt"

# The same files in the same order for everybody: hard links in one tree, as many as asked for.
tree="$cache/tree-$files_wanted"
if [ ! -e "$tree/.complete" ]; then
  rm -rf "$tree"
  mkdir -p "$tree"
  (cd "$cache/packages" && find . -type f -size -2048k -regextype posix-extended -regex '.*\.([cm]?[jt]s|[jt]sx)' -not -path '*/node_modules/*' -not -path '*/sandbox/*' -print0 |
    LC_ALL=C sort -zr | { head -z -n "$files_wanted"; cat >/dev/null; } | xargs -0 cp -l --parents -t "$tree")
  touch "$tree/.complete"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$tree"
find . -type f -not -name .complete -print0 >"$work/list"
bash "$here/bench/rg_patterns.sh" "$guard" >"$work/patterns"
"$reader" 2 <"$work/list"

# Seconds and KB of one run; exit status 1 is findings, anything else a failure.
timed() { # NAME COMMAND...
  local name=$1 status=0
  shift
  /usr/bin/time -o "$work/time" -f '%e %M' "$@" >/dev/null 2>"$work/err" || status=$?
  [ "$status" -le 1 ] || { echo "bench: $name failed with $status" >&2; tail -n 3 "$work/err" >&2; exit 1; }
  tail -n 1 "$work/time" >>"$work/$name"
}
reading() { "$reader" "$1" <"$work/list"; }
export -f reading
export reader work
for _ in $(seq "$runs"); do
  timed read_1 bash -c 'exec "$reader" 1 <"$work/list"'
  timed read_2 bash -c 'exec "$reader" 2 <"$work/list"'
  timed guard_1 "$guard" check --mode host --jobs 1 .
  timed guard_2 "$guard" check --mode host --jobs 2 .
  timed rg_2 rg --no-unicode --no-ignore --hidden -j 2 -c -f "$work/patterns" .
done
median() { sort -n "$work/$1" | awk '{ v[NR] = $1; if ($2 > m) m = $2 } END { print v[int((NR + 1) / 2)], m }'; }
read -r base _ < <(median read_2)
printf '%-8s %8s %10s %10s\n' what seconds 'x read_2' 'peak MB'
for name in read_1 read_2 guard_1 guard_2 rg_2; do
  read -r seconds kb < <(median "$name")
  awk -v n="$name" -v s="$seconds" -v b="$base" -v k="$kb" 'BEGIN { printf "%-8s %8.2f %10.2f %10.0f\n", n, s, s / b, k / 1024 }'
done
