#!/usr/bin/env bash
# action.sh ROOT GUARD: action.yml is valid for GitHub, and its steps do what they say (action.mjs).
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
[[ -n ${GUARD_BUN:-} ]] || skip GUARD_TEST_REQUIRE_NPM "GUARD_BUN is not set"
validator=${clients:-}/node_modules/.bin/action-validator
if [[ -x $validator ]]; then
  "$validator" "$1/action.yml"
  work=$(mktemp -d)
  trap 'rm -rf -- "$work"' EXIT
  sed 's/using: composite/using: composit/' "$1/action.yml" >"$work/action.yml"
  expect 1 "$validator" "$work/action.yml"
else
  [[ -z ${GUARD_TEST_REQUIRE_CLIENTS:-} ]] || fail "there is no $validator"
  echo "skipped: what GitHub says of action.yml: GUARD_CLIENTS is not set"
fi
"$GUARD_BUN" "$1/tests/packaging/action.mjs" "$1" "$2"
