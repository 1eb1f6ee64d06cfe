#!/usr/bin/env bash
# tidy.sh ROOT BUILD [PARTS]: clang-tidy over our sources, as BUILD compiles them (`./dev tidy`). With PARTS it reads what the newest
# commit has changed and one part of the others, another one with each commit: all of them take too long for every run of CI.
set -euo pipefail
root=$1 build=$2 parts=${3:-1}
cd -- "$root"
# As the program compiles them: what tests compile once more needs g++'s precompiled header, which clang can't read.
commands=$(mktemp -d)
trap 'rm -rf -- "$commands"' EXIT
awk '/^\{/ { entry = "" } { entry = entry $0 "\n" } /^\}/ && entry !~ / -o (tests|bench)\// {
  sub(/\},?\n$/, "}", entry); printf "%s%s", (written++ ? ",\n" : "[\n"), entry } END { print "\n]" }' \
  "$build/compile_commands.json" >"$commands/compile_commands.json"
mapfile -t sources < <(sed -nE "s|^ *\"file\": \"$PWD/(.*\.cc)\",?$|\1|p" "$commands/compile_commands.json" |
  grep -vE '^(tests|bench|build)/' | LC_ALL=C sort -u)
[[ ${#sources[@]} -gt 100 ]] || { echo "tidy: $build/compile_commands.json names ${#sources[@]} sources of ours"; exit 1; }
if [[ $parts != 1 ]]; then
  part=$((16#$(git rev-parse HEAD 2>/dev/null | cut -c1-4 | grep . || echo 0) % parts))
  changed=$(git log -1 --name-only --format= 2>/dev/null || true)
  chosen=()
  for i in "${!sources[@]}"; do
    if ((i % parts == part)) || grep -qxF -- "${sources[i]}" <<<"$changed"; then chosen+=("${sources[i]}"); fi
  done
  sources=("${chosen[@]}")
fi
echo "${#sources[@]} sources"
printf '%s\0' "${sources[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p "$commands" --quiet --extra-arg=-Wno-unknown-warning-option 2> >(grep -vE 'warnings? generated' >&2)
