#!/usr/bin/env bash
# Start to exit of `guard check` on one 4 KB file, beside /bin/true, ripgrep with the shipped rules' own patterns, and node; and
# `guard run` beside the docker client with the same flags and bare bun. Reports medians and ratios of one run: machines differ,
# ratios less so.
#
#   bench/startup.sh [GUARD]      GUARD: the program to measure (default: build/release/guard)
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
guard=$(realpath "${1:-$here/build/release/guard}")
runs=${RUNS:-200}
for tool in hyperfine jq rg node; do command -v "$tool" >/dev/null || { echo "bench: $tool is missing (apt-get install hyperfine jq ripgrep nodejs)" >&2; exit 2; }; done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"  # root's sandbox runs as another user
mkdir -p "$work/project/sandbox"
cd "$work/project"
printf '[limits]\nmemory = "2g"\n' >guard.toml
printf '{"name":"bench","private":true}\n' >package.json
{
  echo 'import { expect, test } from "bun:test";'
  for i in $(seq 40); do printf 'test("adds %d", () => {\n  const sum = [%d, 2, 3].reduce((a, b) => a + b, 0);\n  expect(sum).toBe(%d);\n});\n' "$i" "$i" $((i + 5)); done
} >sandbox/a.test.ts
echo "input: $(wc -c <sandbox/a.test.ts) bytes"
# ripgrep's copy ends in something to find: its exit status tells matches apart from failures.
{ cat sandbox/a.test.ts; echo 'JSON.stringify(process.env);'; } >rg.ts

bash "$here/bench/rg_patterns.sh" "$guard" >"$work/usable"
# Five files that are found guilty: excerpts, masks, and a second look at each.
mkdir -p guilty
for i in 1 2 3 4 5; do { cat sandbox/a.test.ts; printf 'eval("%d");\nrequire("child_process");\n' "$i"; } >"guilty/$i.ts"; done

hyperfine -N -i --warmup 20 --runs "$runs" --export-json "$work/check.json" \
  -n true /bin/true \
  -n guard "$guard check sandbox/a.test.ts" \
  -n guard-5-guilty "$guard check --mode host guilty" \
  -n rg "rg --no-unicode -c -f $work/usable rg.ts" \
  -n node "node -e 0" >/dev/null 2>&1
jq -r '(.results[0].median) as $true | (.results[1].median) as $guard | .results[] |
  "\(.command)\t\((.median*1000*100|round)/100) ms\t\((.median/$true*100|round)/100) x true\t\((.median/$guard*100|round)/100) x guard"' "$work/check.json" | column -t -s "$(printf '\t')"

if [ -n "${GUARD_BUN:-}" ]; then
  export GUARD_CACHE_DIR="$work/cache"
  "$guard" image build --root-folder >/dev/null 2>&1
  commands=(-n bun "$GUARD_BUN test ./sandbox/a.test.ts" -n guard-namespace "$guard run --quiet --backend namespace sandbox/a.test.ts")
  if [ -n "${GUARD_TEST_DOCKER_SOCKET:-}" ] && command -v docker >/dev/null; then
    export DOCKER_HOST="unix://$GUARD_TEST_DOCKER_SOCKET"
    "$guard" image build --engine >/dev/null 2>&1
    image=$("$guard" image build --engine --format json 2>/dev/null | jq -r .reference)
    commands+=(-n guard-docker "$guard run --quiet --backend docker sandbox/a.test.ts"
      -n docker-client "docker run --rm --network=none --memory=2g --cpus=2 --pids-limit=256 --cap-drop=ALL --security-opt=no-new-privileges --read-only --tmpfs /tmp:rw,noexec,size=500m -e HOME=/tmp -v $PWD/package.json:/app/package.json:ro -v $PWD/sandbox:/app/sandbox:rw --user 1000:1000 $image /usr/local/bin/bun test /app/sandbox/a.test.ts")
  fi
  hyperfine -N --warmup 2 --runs 20 --export-json "$work/run.json" "${commands[@]}" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; exit 1; }
  jq -r '(.results[0].median) as $bun | .results[] | "\(.command)\t\((.median*1000*10|round)/10) ms\t\((.median/$bun*100|round)/100) x bun"' "$work/run.json" | column -t -s "$(printf '\t')"
fi
