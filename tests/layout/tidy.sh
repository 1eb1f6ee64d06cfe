#!/usr/bin/env bash
# tidy.sh ROOT BUILD [SLICES]: clang-tidy over our sources, as BUILD compiles them. With SLICES only one part in so many, another for
# each commit: all of them take some 20 minutes, which `./dev tidy` spends and every run of the tests need not.
set -euo pipefail
root=$1 build=$2 slices=${3:-1}
cd -- "$root"
mapfile -t sources < <(sed -nE "s|^ *\"file\": \"$PWD/(.*\.cc)\",?$|\1|p" "$build/compile_commands.json" |
  grep -vE '^(tests|bench|build)/' | LC_ALL=C sort -u)
[[ ${#sources[@]} -gt 100 ]] || { echo "tidy: $build/compile_commands.json names ${#sources[@]} sources of ours"; exit 1; }
commit=$(git rev-parse --verify --quiet HEAD 2>/dev/null || echo 0)
chosen=$((16#${commit:0:7} % slices))
declare -a slice=()
for ((i = chosen; i < ${#sources[@]}; i += slices)); do slice+=("${sources[i]}"); done
echo "${#slice[@]} of ${#sources[@]} sources"
processes=1
[[ $slices -gt 1 ]] || processes=$(nproc)
printf '%s\0' "${slice[@]}" |
  xargs -0 -n 1 -P "$processes" clang-tidy-14 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option 2> >(grep -v 'warnings generated' >&2)
