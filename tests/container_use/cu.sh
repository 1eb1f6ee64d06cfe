#!/bin/bash
# A stand-in for the cu program, as the design note describes that one. It is started by a small script that a test writes, with
#
#   CU_STATE   a folder: `calls` gets a line for each call, `environments/ID` stands for an environment
#   CU_FAULT   what goes wrong: STEP-WHAT, such as create-hang; empty: nothing
#   CU_INSIDE  how a command is run: plain (an unprivileged user, and that is all) or sandbox (bubblewrap with the filter that lies in
#              $CU_STATE/filter)
#   CU_BUN     the bun of the environment; empty: none
set -u
printf '%s\n' "$*" >>"$CU_STATE/calls"

fault() { [[ $CU_FAULT == "$1" ]]; }
flood() { while :; do printf '%0999d\n' 0; done; }
# Without a shell's own children, so that killing this process is all there is to kill.
hang() { exec sleep 600; }

if [[ ${1:-} == --version ]]; then
  if fault version-fails; then echo "no engine" >&2; exit 1; fi
  if fault version-hang; then hang; fi
  if fault version-flood; then flood; fi
  echo "container-use version 0.4.2"
  exit 0
fi

[[ ${1:-} == environment ]] || { echo "unknown command" >&2; exit 64; }
step=${2:-}
shift 2
id= source= title= command= json=
while [[ $# -gt 0 ]]; do
  case $1 in
    --id) id=$2; shift 2 ;;
    --source) source=$2; shift 2 ;;
    --title) title=$2; shift 2 ;;
    --command) command=$2; shift 2 ;;
    --json) json=1; shift ;;
    *) echo "unknown option $1" >&2; exit 64 ;;
  esac
done
[[ -d $source ]] || { echo "no source" >&2; exit 64; }

inside_plain() {
  cd -- "$source" || exit 1
  if [[ $(id -u) -ne 0 ]]; then exec sh -c "$command"; fi
  exec setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all sh -c "$command"
}

inside_sandbox() {
  local -a words=(bwrap --unshare-user --unshare-all --uid 1000 --gid 1000 --cap-drop ALL --die-with-parent --new-session
    --as-pid-1 --seccomp 9 --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp --ro-bind "$source" /mnt --chdir /mnt)
  if [[ -n $CU_BUN ]]; then words+=(--tmpfs /usr/local/bin --ro-bind "$CU_BUN" /usr/local/bin/bun); fi
  if [[ $(id -u) -eq 0 ]]; then words=(setpriv --reuid 1000 --regid 1000 --clear-groups "${words[@]}"); fi
  exec "${words[@]}" -- sh -c "$command" 9<"$CU_STATE/filter"
}

case $step in
  create)
    [[ -n $title && -n $json ]] || { echo "no title" >&2; exit 64; }
    made=fancy-cat.1/x_Y
    case $CU_FAULT in
      create-fails) printf 'the engine is \033[31mdown\n' >&2; exit 1 ;;
      create-hang) hang ;;
      create-flood) flood ;;
      create-dies) kill -KILL $$ ;;
      create-nonsense) echo "Environment created: $made"; exit 0 ;;
      create-half) printf '{"environment_id": "fancy'; exit 0 ;;
      create-twice) printf '{"environment_id": "a"}\n{"environment_id": "b"}\n'; exit 0 ;;
      create-silent) exit 0 ;;
      create-list) echo "[\"$made\"]"; exit 0 ;;
      create-without-id) echo '{"id": "fancy-cat"}'; exit 0 ;;
      create-number) echo '{"environment_id": 7}'; exit 0 ;;
      create-option) echo '{"environment_id": "--all"}'; exit 0 ;;
      create-blank) echo '{"environment_id": "fancy cat"}'; exit 0 ;;
      create-command) echo '{"environment_id": "$(reboot)"}'; exit 0 ;;
      create-empty) echo '{"environment_id": ""}'; exit 0 ;;
      create-long) printf '{"environment_id": "%0129d"}\n' 0; exit 0 ;;
    esac
    mkdir -p -- "$CU_STATE/environments" && : >"$CU_STATE/environments/${made//\//%}"
    printf '{"environment_id": "%s", "title": "%s"}\n' "$made" "$title"
    if fault create-fails-late; then exit 1; fi
    if fault create-hangs-late; then hang; fi
    ;;
  run)
    case $CU_FAULT in
      run-fails) echo "no such environment" >&2; exit 125 ;;
      run-hang) hang ;;
      run-flood) flood ;;
      run-complains) flood >&2 ;;
      run-noise) echo "pulling image..." ;;
      run-dies) kill -KILL $$ ;;
      # The hello has some 300 bytes; what follows is lost, and so is the program.
      run-dies-late) (inside_sandbox) | head -c 400; kill -KILL $$ ;;
      run-cut) (inside_sandbox) | head -c 400; exit 0 ;;
      run-more) (inside_sandbox); echo "done"; exit 0 ;;
      run-status) (inside_sandbox); exit 3 ;;
    esac
    "inside_$CU_INSIDE"
    ;;
  delete)
    if fault delete-fails; then echo "busy" >&2; exit 1; fi
    if fault delete-hang; then hang; fi
    rm -- "$CU_STATE/environments/${id//\//%}"
    ;;
  *) echo "unknown step $step" >&2; exit 64 ;;
esac
