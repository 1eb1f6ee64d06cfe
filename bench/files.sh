#!/usr/bin/env bash
# `guard run` in the embedded sandbox over 1, 10 and 50 small test files beside bare `bun test`: what a further file costs, where each
# file has a process of its own. Prints medians, and the ratio to bun in the same run: machines differ, ratios less so.
#
#   bench/files.sh [GUARD] [OTHER]    GUARD: the program to measure (default: build/release/guard); OTHER: one to set beside it
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
guard=$(realpath "${1:-$here/build/release/guard}")
other=${2:+$(realpath "$2")}
runs=${RUNS:-20}
for tool in hyperfine jq; do command -v "$tool" >/dev/null || { echo "bench: $tool is missing (apt-get install hyperfine jq)" >&2; exit 2; }; done
bun=${GUARD_BUN:-$(command -v bun)} || { echo "bench: bun is missing; set GUARD_BUN" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"  # root's sandbox runs as another user
mkdir -p "$work/project/sandbox" "$work/project/src"
cd "$work/project"
printf '{"name":"bench","private":true}\n' >package.json
printf 'trust_namespace = true\n' >guard.toml
echo 'export const add = (a: number, b: number) => a + b;' >src/add.ts
for i in $(seq 50); do
  printf 'import { expect, test } from "bun:test";\nimport { add } from "../src/add";\ntest("adds %d", () => {\n  expect(add(%d, 2)).toBe(%d);\n});\n' "$i" "$i" $((i + 2)) >"sandbox/f$i.test.ts"
done
export GUARD_CACHE_DIR="$work/cache"
git init -q .
git add -A
git -c user.name=bench -c user.email=bench@example.org commit -qm bench

measured=(-n bun-1 "$bun test sandbox/f1.test.ts")
for name in guard ${other:+other}; do
  program=${!name}
  "$program" image build --root-folder >/dev/null 2>&1 || { echo "bench: $program built no image" >&2; exit 2; }
  for count in 1 10 50; do
    files=$(printf ' sandbox/f%d.test.ts' $(seq "$count"))
    measured+=(-n "$name-$count" "$program run --backend namespace$files")
  done
done
hyperfine -N --warmup 3 --runs "$runs" --export-json "$work/files.json" "${measured[@]}" >/dev/null 2>&1 || {
  echo "bench: a run did not pass" >&2
  exit 1
}
jq -r '(.results | map({(.command): (.median * 1000)}) | add) as $ms | $ms["bun-1"] as $bun |
  def hundredths: (. * 100 | round) / 100;
  (["bun test FILE", ($bun | hundredths), 1] | @tsv),
  ("guard", "other" | select($ms[. + "-1"]) as $name |
    ([$name + ": first file", ($ms[$name + "-1"] | hundredths), ($ms[$name + "-1"] / $bun | hundredths)] | @tsv),
    ([10, 50] | .[] as $n | (($ms[$name + "-\($n)"] - $ms[$name + "-1"]) / ($n - 1)) as $each |
      [$name + ": each further of \($n)", ($each | hundredths), ($each / $bun | hundredths)] | @tsv))' "$work/files.json" |
  awk -F '\t' '{ printf "%-28s %8.2f ms %7.2f x bun\n", $1, $2, $3 }'
