#!/usr/bin/env bash
# Start to exit over a folder of sources: guard check, and secretlint with its recommended rules (from npm, put into the
# bench cache). They look for other things; this says what a project pays for each on every commit.
#
#   bench/secretlint.sh FOLDER [GUARD]     LIMIT=1800: seconds after which secretlint is stopped, and the ratio is "at least"
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath "${1:?bench/secretlint.sh FOLDER [GUARD]}")
guard=$(realpath "${2:-$here/build/release/guard}")
limit=${LIMIT:-1800}
for tool in npm node /usr/bin/time; do command -v "$tool" >/dev/null || { echo "bench: $tool is missing" >&2; exit 2; }; done

place=${BENCH_CACHE:-$here/.cache/bench}/secretlint
if [ ! -x "$place/node_modules/.bin/secretlint" ]; then
  mkdir -p "$place"
  (cd "$place" && echo '{"private":true}' >package.json && npm install --silent secretlint @secretlint/secretlint-rule-preset-recommend)
fi
echo '{"rules":[{"id":"@secretlint/secretlint-rule-preset-recommend"}]}' >"$place/rules.json"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seconds() { # NAME COMMAND...: findings (status 1) are no failure; a stopped run is told by its status
  local name=$1 status=0
  shift
  /usr/bin/time -o "$work/$name" -f '%e' timeout "$limit" "$@" >/dev/null 2>&1 || status=$?
  echo "$status" >"$work/$name.status"
  tail -n 1 "$work/$name"
}
cd "$folder"
ours=$(seconds guard "$guard" check --mode host --no-ignore --allow-empty .)
theirs=$(seconds secretlint "$place/node_modules/.bin/secretlint" --secretlintrc "$place/rules.json" '**/*')
word=""
if [ "$(cat "$work/secretlint.status")" = 124 ]; then word="at least "; fi
awk -v ours="$ours" -v theirs="$theirs" -v word="$word" 'BEGIN { printf "guard %.2f s, secretlint %s%.1f s: %s%.0f times\n", ours, word, theirs, word, theirs / (ours > 0 ? ours : 0.01) }'
