#!/usr/bin/env bash
# step.sh install|gate|run|sarif: one step of action.yml. What the workflow gives comes by environment variables, never as
# text of a script; what one step knows goes to the next by GITHUB_OUTPUT, GITHUB_ENV and GITHUB_PATH.
set -euo pipefail

output() { printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; }

fail() {
  printf '::error title=guard::%s\n' "$1"
  exit 64
}

# verdict COMMAND...: passes guard's exit status on; only 0 is a pass.
verdict() {
  local status=0
  "$@" || status=$?
  case $status in
    0) output verdict allowed ;;
    1) output verdict rejected ;;
    3) output verdict environment_unavailable ;;
    *) output verdict undecided ;;
  esac
  return "$status"
}

install_tools() {
  command -v bun >/dev/null || npm install --global --no-audit --no-fund bun
  local folder=$RUNNER_TEMP/guard-bin
  mkdir -p -- "$folder"
  if [[ -n $BINARY ]]; then
    [[ -f $BINARY ]] || fail "there is no file $BINARY; the input \"binary\" names a guard binary"
    install -m 755 -- "$BINARY" "$folder/guard"
  else
    npm install --global --ignore-scripts --no-audit --no-fund --prefix "$folder/npm" -- "$PACKAGE"
    ln -sfn -- "$folder/npm/bin/guard" "$folder/guard"
  fi
  printf '%s\n' "$folder" >>"$GITHUB_PATH"
  printf 'GUARD_CACHE_DIR=%s\n' "$RUNNER_TEMP/guard-cache" >>"$GITHUB_ENV"
  output cache-folder "$RUNNER_TEMP/guard-cache"
  local guard bun
  guard=$("$folder/guard" --version | head -n 1)
  bun=$(bun --version)
  output versions "$(printf '%s-bun-%s' "$guard" "$bun" | tr -c 'A-Za-z0-9.\n-' -)"
}

run_tests() {
  local options=(--format github --record "$EVIDENCE/")
  [[ $BACKEND == auto ]] || options+=(--backend "$BACKEND")
  local tests=()
  mapfile -t tests < <(printf '%s' "$TESTS" | sed '/^[[:space:]]*$/d')
  mkdir -p -- "$EVIDENCE"
  if [[ $BACKEND == namespace ]]; then guard image build --root-folder; else guard image build; fi
  verdict guard run "${options[@]}" -- ${tests[@]+"${tests[@]}"}
}

case ${1:-} in
  install) install_tools ;;
  gate) verdict guard gate --base "$BASE" --head HEAD --task-kind "$TASK_KIND" --format github ;;
  run) run_tests ;;
  sarif)
    # Its findings are what the file is for: only a file that could not be written fails the step.
    status=0
    guard check --format sarif . >"$SARIF" || status=$?
    [[ $status == [013] ]]
    ;;
  *) fail "step.sh takes install, gate, run or sarif" ;;
esac
