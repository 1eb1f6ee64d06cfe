#!/usr/bin/env bash
# What a night costs beside its generators: guard's own time per task (all of it but generator and tests), and how long `status` and
# `report` take with 1,000 tasks in the journal, as a ratio to `git log` on the same repository.
#
#   bench/nightly.sh [TASKS]        needs build/release/guard, bun, bubblewrap, jq, hyperfine
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
guard=$root/build/release/guard
tasks=${1:-40}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GUARD_CACHE_DIR=$work/cache
chmod 0755 "$work"
git config --global user.email bench@example.invalid
git config --global user.name bench
git config --global init.defaultBranch main

mkdir -p "$work/repo/src" "$work/repo/sandbox"
cd "$work/repo"
printf '{"name":"bench","private":true,"type":"module"}\n' >package.json
printf '{"compilerOptions":{"strict":true}}\n' >tsconfig.json
printf 'export const add = (a: number, b: number): number => a + b;\n' >src/add.ts
printf 'import { expect, test } from "bun:test";\nimport { add } from "../src/add";\ntest("base", () => { expect(add(1, 2)).toBe(3); });\n' >sandbox/base.test.ts
printf 'backend = "namespace"\n[nightly]\nworth = false\nmin_free = "1m"\n' >guard.toml
git init -q . && git add -A && git commit -q -m base
"$guard" image build --root-folder >/dev/null

plan() { # COUNT BEHAVIOUR
  printf 'generator = ["%s/tests/nightly/scripted_generator.sh"]\nattempts = 1\n[budget]\nfailures_in_a_row = 10000\nattempts = 10000\n' "$root"
  for ((i = 0; i < $1; ++i)); do printf '[[task]]\nid = "task-%d"\nprompt = "%s\\n"\n' "$i" "$2"; done
}

plan "$tasks" good >"$work/plan.toml"
began=$(date +%s%N)
"$guard" nightly run "$work/plan.toml" --state "$work/state" --quiet
ended=$(date +%s%N)
"$guard" nightly report --state "$work/state" --format json >"$work/report.json"
printf '%d tasks in %d ms\n' "$tasks" $(((ended - began) / 1000000))
jq -r '
  [.. | objects | select(has("timings_ms") and has("started_ms")) | (.timings_ms | map({key: .stage, value: .ms}) | from_entries) as $t |
    {own: (.ended_ms - .started_ms - ($t.generator // 0) - ($t.run // 0) - ($t.worth // 0)), all: (.ended_ms - .started_ms), t: $t}] |
  "own time per task: median \(map(.own) | sort | .[length / 2 | floor]) ms, of \(map(.all) | sort | .[length / 2 | floor]) ms in all",
  (map(.t | to_entries[]) | group_by(.key) | map("  \(.[0].key): median \(map(.value) | sort | .[length / 2 | floor]) ms")[])' "$work/report.json"

plan 1000 nothing >"$work/plan.toml"
"$guard" nightly run "$work/plan.toml" --state "$work/state" --quiet >/dev/null || true
hyperfine -N -w 2 -r 15 --ignore-failure --export-json "$work/times.json" "git -C $work/repo log --oneline --all" \
  "$guard nightly status --state $work/state" "$guard nightly report --state $work/state --format text" \
  "$guard nightly report --state $work/state --format html" >/dev/null 2>&1
jq -r '.results[0].median as $git | .results[] | "\(.median * 1000 | round) ms (\(.median / $git * 100 | round / 100) x git log)  \(.command | sub("^.*/guard"; "guard") | sub(" --state [^ ]+"; ""))"' "$work/times.json"
