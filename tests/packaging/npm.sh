#!/usr/bin/env bash
# npm.sh PACKAGES: the packages for npm as npm and bun install them from a registry, without scripts: the launcher finds the program in
# each layout, becomes it, and says what to do where there is none.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
packages=$1
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
command -v npm >/dev/null && command -v node >/dev/null || skip GUARD_TEST_REQUIRE_NPM "npm is not installed"
[[ -n ${GUARD_BUN:-} ]] || skip GUARD_TEST_REQUIRE_NPM "GUARD_BUN is not set"
version=$(tar -xzOf "$packages"/$npm_name-linux-x64-*.tgz package/package.json | sed -nE 's/.*"version": "([^"]+)".*/\1/p')

work=$(mktemp -d)
chmod 755 "$work"
registry_pid=
trap 'if [[ -n $registry_pid ]]; then kill "$registry_pid"; fi; rm -rf -- "$work"' EXIT
elsewhere=$(npm config get registry)
node "$here/registry.mjs" "$packages" "$elsewhere" >"$work/address" &
registry_pid=$!
for ((waited = 0; waited < 300; ++waited)); do
  if [[ -s $work/address ]]; then break; fi
  sleep 0.1
done
mkdir "$work/home" "$work/cache"
chmod 711 "$work/cache"
export npm_config_registry npm_config_cache=$work/home/npm BUN_INSTALL_CACHE_DIR=$work/home/bun GUARD_CACHE_DIR=$work/cache GUARD_TRUST_NAMESPACE=true
npm_config_registry=$(<"$work/address")
export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
bunx() { "$GUARD_BUN" x "$@"; }

# fresh NAME: a copy of the example, and we are in it.
fresh() {
  cp -r -- "$here/../../examples/calculator" "$work/$1"
  cd -- "$work/$1"
}

# finds_it COMMAND...: COMMAND is guard, with guard's exit statuses.
finds_it() {
  expect 0 "$@" --version
  [[ $said == "guard $version" ]] || fail "$* --version says $said"
  expect 1 "$@" check refused/always.test.ts
  expect 64 "$@" --no-such-option
}

# ---- npm ----
fresh npm
expect 0 npm install --ignore-scripts --no-package-lock --save-dev "$npm_name"
expect 1 npx --no-install guard check refused/always.test.ts
finds_it node_modules/.bin/guard
finds_it sh node_modules/.bin/guard
(PATH=node_modules/.bin:$PATH && finds_it guard)
! grep -q '"scripts"' node_modules/$npm_name*/package.json || fail "there are install scripts"

# A link to the link, from elsewhere.
ln -s ../npm/node_modules/.bin/guard "$work/home/linked"
expect 0 "$work/home/linked" --version

# It becomes guard: the same process, and its end on a signal is guard's own.
mkfifo "$work/input"
node_modules/.bin/guard redact <"$work/input" >/dev/null 2>&1 &
guard_pid=$!
exec 7>"$work/input"
for ((waited = 0; waited < 300; ++waited)); do
  if [[ $(readlink "/proc/$guard_pid/exe") == */$npm_name-linux-x64/bin/guard ]]; then break; fi
  sleep 0.1
done
[[ $(readlink "/proc/$guard_pid/exe") == */$npm_name-linux-x64/bin/guard ]] || fail "it did not become guard"
exec 7>&-
wait "$guard_pid" || fail "guard redact failed"

# ---- a package that is nested in another, with the program beside that one or within it ----
mkdir -p nested/node_modules/other/node_modules
mv node_modules/$npm_name nested/node_modules/other/node_modules/
mv node_modules/$npm_name-linux-x64 nested/node_modules/
finds_it nested/node_modules/other/node_modules/$npm_name/bin/guard
mkdir nested/node_modules/other/node_modules/$npm_name/node_modules
mv nested/node_modules/$npm_name-linux-x64 nested/node_modules/other/node_modules/$npm_name/node_modules/
finds_it nested/node_modules/other/node_modules/$npm_name/bin/guard

# ---- where there is none ----
fresh omitted
expect 0 npm install --ignore-scripts --no-package-lock --omit=optional "$npm_name"
expect 3 npx --no-install guard --version
says "npm install $npm_name-linux-x64@$version"
mkdir "$work/elsewhere"
printf '#!/bin/sh\n[ "$1" = -s ] && echo Darwin || echo arm64\n' >"$work/elsewhere/uname"
chmod 755 "$work/elsewhere/uname"
PATH=$work/elsewhere:$PATH expect 3 node_modules/.bin/guard --version
says "WSL"
# What lies in a folder above, and not in a node_modules of it, is not taken.
mkdir -p "$work/node_modules/$npm_name-linux-x64/bin"
printf '#!/bin/sh\necho planted\n' >"$work/node_modules/$npm_name-linux-x64/bin/guard"
chmod 755 "$work/node_modules/$npm_name-linux-x64/bin/guard"
expect 3 node_modules/.bin/guard --version
rm -r "$work/node_modules"

# ---- bun, flat and with each package in a folder of its own, as pnpm has them ----
for linker in hoisted isolated; do
  fresh "bun-$linker"
  expect 0 "$GUARD_BUN" install --ignore-scripts --linker "$linker"
  expect 0 "$GUARD_BUN" add --ignore-scripts --linker "$linker" --dev "$npm_name"
  finds_it bunx guard
done
expect 0 bunx guard image build --root-folder
expect 0 bunx guard run --backend namespace sandbox/*.test.ts
says "verdict: allowed"
# Ctrl-C, as a terminal sends it: to the whole group. Nothing is left of it.
printf 'import { test } from "bun:test";\ntest("x", async () => { await Bun.sleep(100_000); }, 200_000);\n' >sandbox/long.test.ts
setsid --wait "$GUARD_BUN" x guard run --backend namespace sandbox/long.test.ts >"$work/long" 2>&1 &
waiter=$!
program=
for ((waited = 0; waited < 600; ++waited)); do
  program=$(pgrep --full --newest "^[^ ]*$npm_name-linux-x64/bin/guard run --backend namespace sandbox/long.test.ts" || true)
  if [[ -n $program ]] && grep -q "running" "$work/long"; then break; fi
  sleep 0.1
done
[[ -n $program ]] || fail "guard does not run: $(cat "$work/long")"
kill -INT -- "-$(ps -o pgid= -p "$program" | tr -d ' ')"
status=0
wait "$waiter" || status=$?
[[ $status == 130 ]] || fail "exit status $status after Ctrl-C: $(cat "$work/long")"
[[ ! -d /proc/$program ]] || fail "guard runs on"
