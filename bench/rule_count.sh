#!/usr/bin/env bash
# What twice as many rules cost: the shipped docker and host rules as a folder of one's own, once and doubled under other names and
# other words, on the same files.
#
#   bench/rule_count.sh [GUARD] [FOLDER]     FOLDER: what is checked (default: the tree that bench/tree.sh has made)
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
guard=$(realpath "${1:-$here/build/release/guard}")
folder=${2:-${BENCH_CACHE:-$here/.cache/bench}/tree-${FILES:-50000}}
runs=${RUNS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GUARD_CACHE_DIR="$work/cache"
mkdir -p "$work/once" "$work/twice"
cp "$here"/rules/*.toml "$work/once"
cp "$here"/rules/*.toml "$work/twice"
# Facts can't be doubled (rules name them); each rule gets a twin whose id ends in _twin. Examples stay true: the patterns are the same.
for file in "$work"/once/*_block.toml; do
  sed -E 's/^id = "([a-z_]+)\.([a-z_0-9]+)"/id = "\1.\2_twin"/' "$file" >"$work/twice/twin_$(basename "$file")"
done
for set in once twice; do "$guard" check --mode host --rules "$work/$set" --allow-empty "$work/cache" >/dev/null 2>&1 || true; done
for _ in $(seq "$runs"); do
  for set in once twice; do
    status=0
    /usr/bin/time -a -o "$work/$set.times" -f %e "$guard" check --mode host --jobs 2 --rules "$work/$set" "$folder" >/dev/null 2>&1 || status=$?
    [ "$status" -le 1 ] || { echo "bench: guard failed with $status" >&2; exit 1; }
  done
done
median() { grep -E '^[0-9.]+$' "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
awk -v a="$(median "$work/once.times")" -v b="$(median "$work/twice.times")" 'BEGIN { printf "rules once %.2f s, twice %.2f s: %.2f x\n", a, b, b / a }'
