#!/usr/bin/env bash
# What the size of a project costs: one test file in projects of 100 to 50,000 files, `guard run` in the embedded sandbox beside bare
# `bun test` of the same file, in the same run. Prints medians and what a further thousand files costs.
#
#   bench/staging.sh [GUARD]    RUNS=5, BACKEND=namespace (or docker, with an engine)
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
guard=$(realpath "${1:-$here/build/release/guard}")
runs=${RUNS:-5}
backend=${BACKEND:-namespace}
for tool in hyperfine jq; do command -v "$tool" >/dev/null || { echo "bench: $tool is missing (apt-get install hyperfine jq)" >&2; exit 2; }; done
bun=${GUARD_BUN:-$(command -v bun)} || { echo "bench: bun is missing; set GUARD_BUN" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"  # root's sandbox runs as another user
export GUARD_CACHE_DIR="$work/cache"
measured=()
for count in 100 1000 10000 50000; do
  mkdir -p "$work/$count/lib" "$work/$count/test"
  cd "$work/$count"
  printf '{"name":"bench","private":true}\n' >package.json
  printf 'trust_namespace = true\n' >guard.toml
  for ((i = 0; i < count; ++i)); do
    (( i % 100 )) || mkdir -p "lib/$((i / 100))"
    echo "export const value$i = $i;" >"lib/$((i / 100))/f$i.ts"
  done
  printf 'import { expect, test } from "bun:test";\nimport { value7 } from "../lib/0/f7";\ntest("is seven", () => {\n  expect(value7).toBe(7);\n});\n' >test/a.test.ts
  git init -q .
  git add -A
  git -c user.name=bench -c user.email=bench@example.org commit -qm bench
  "$guard" image build >/dev/null 2>&1 || { echo "bench: no image" >&2; exit 2; }
  measured+=(-n "bun-$count" "sh -c 'cd $work/$count && $bun test test/a.test.ts'")
  measured+=(-n "guard-$count" "sh -c 'cd $work/$count && $guard run --backend $backend test/a.test.ts'")
done
hyperfine -N --warmup 1 --runs "$runs" --export-json "$work/staging.json" "${measured[@]}" >/dev/null 2>&1 || { echo "bench: a run did not pass" >&2; exit 1; }
jq -r '(.results | map({(.command): (.median * 1000 | round)}) | add) as $ms | 100, 1000, 10000, 50000 | tostring as $n | [$n, $ms["bun-" + $n], $ms["guard-" + $n]] | @tsv' "$work/staging.json" |
  awk -F '\t' '{ printf "%6d files %8d ms bun alone %8d ms guard\n", $1, $2, $3 }'
