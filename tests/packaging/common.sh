# What the tests of the packages share: sourced, after `set -euo pipefail`.
export LC_ALL=C.UTF-8
unset NODE_OPTIONS
clients=${GUARD_CLIENTS:-}
for name in "${!GUARD_@}"; do
  case $name in
    GUARD_BUN | GUARD_TEST_*) ;;
    *) unset "$name" ;;  # settings of whoever runs the tests
  esac
done
npm_name=guard-ts

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# Where something is missing that only some machines have: 77 is "skipped" to ctest.
skip() {
  [[ -z ${!1:-} ]] || fail "$2, and $1 is set"
  printf 'skipped: %s\n' "$2"
  exit 77
}

# expect STATUS COMMAND...: runs it, keeps what it says in $said, and fails for another exit status.
expect() {
  local wanted=$1 status=0
  shift
  said=$("$@" 2>&1) || status=$?
  [[ $status == "$wanted" ]] || fail "exit status $status, not $wanted: $* said: $said"
}

says() { [[ $said == *"$1"* ]] || fail "does not say \"$1\": $said"; }
