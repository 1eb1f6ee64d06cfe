#!/usr/bin/env bash
# tidy.sh ROOT BUILD: clang-tidy over our sources, as BUILD compiles them (`./dev tidy`).
set -euo pipefail
root=$1 build=$2
cd -- "$root"
mapfile -t sources < <(sed -nE "s|^ *\"file\": \"$PWD/(.*\.cc)\",?$|\1|p" "$build/compile_commands.json" |
  grep -vE '^(tests|bench|build)/' | LC_ALL=C sort -u)
[[ ${#sources[@]} -gt 100 ]] || { echo "tidy: $build/compile_commands.json names ${#sources[@]} sources of ours"; exit 1; }
echo "${#sources[@]} sources"
printf '%s\0' "${sources[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option 2> >(grep -v 'warnings generated' >&2)
