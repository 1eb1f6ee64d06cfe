#!/usr/bin/env bash
# layout.sh ROOT [CLANG_FORMAT]: what every file and folder of the tree keeps to. Names what does not, a line each, and fails then.
#
#   - at most 120 columns in C++ and JavaScript outside of the tests, where samples of code stand in their own lines
#   - at most 25 files in a folder
#   - a header is guarded, and the source of its name includes it first, which shows that it compiles alone
#   - a file that a comment or a page names with its folder exists
#   - C++ is laid out by .clang-format (where CLANG_FORMAT is given)
set -euo pipefail
export LC_ALL=C.UTF-8
cd -- "$1"
clang_format=${2:-}
columns_max=120
files_max=25
wrong=0

say() {
  printf '%s\n' "$1"
  wrong=1
}

# What is ours to lay out: not what is built, fetched, generated or kept as a sample.
mapfile -d '' -t files < <(find . \( -path ./build -o -path ./.cache -o -path ./.git \
  -o -path ./tests/layering/refused -o -path ./tests/corpus -o -path ./tests/fuzz/corpus -o -path ./tests/forgeries -o -name node_modules \) \
  -prune -o -type f -print0 | LC_ALL=C sort -z)
[[ ${#files[@]} -gt 2 ]] || { echo "layout: no files in $1"; exit 1; }

declare -A in_folder
declare -a cpp=() text=() product=()
for file in "${files[@]}"; do
  folder=${file%/*}
  in_folder[$folder]=$((${in_folder[$folder]:-0} + 1))
  case $file in *.cc | *.h) cpp+=("$file") ;; esac
  case $file in
    ./tests/*) ;;
    *.cc | *.h) product+=("$file") text+=("$file") ;;
    *.mjs | *.cmake) text+=("$file") ;;
  esac
done

for folder in "${!in_folder[@]}"; do
  [[ ${in_folder[$folder]} -le $files_max ]] || say "$folder: ${in_folder[$folder]} files; at most $files_max"
done

while IFS= read -r place; do say "$place: over $columns_max columns"; done < <(
  awk -v max=$columns_max 'length($0) > max { print FILENAME ":" FNR }' "${text[@]}")

for file in "${product[@]}"; do
  source=${file%.h}.cc
  if [[ $file != *.h ]]; then continue; fi
  grep -q '^#pragma once$' "$file" || say "$file: no #pragma once"
  if [[ -e $source && $(grep -m 1 '^#include' "$source") != "#include \"${file#./}\"" ]]; then say "$source: does not include ${file#./} first"; fi
done

# path/name.ending, where the path begins with one of our folders.
mapfile -t folders < <(find . -mindepth 1 -maxdepth 1 -type d -not -name '.*' -not -name build -printf '%f\n')
named=$(IFS='|'; printf '%s' "${folders[*]}")
while IFS=: read -r file number path; do
  [[ -e $path || -e ${file%/*}/$path ]] || say "$file:$number: names $path, which does not exist"
done < <(grep -HnoE "(^|[^A-Za-z0-9_./-])($named)(/[a-z0-9_-]+)+\.(h|cc|md|toml|mjs|sh|json)\b" "${product[@]}" ./[!C]*.md ./CONTRIBUTING.md docs/*.md 2>/dev/null |
  sed -E 's/^([^:]*:[0-9]+:)[^A-Za-z0-9_]/\1/' | grep -vE ':(\.\.?/|[^/]*\*[^/]*/)*(packages/[a-z]+/)?(sandbox|src)/' || true)

if [[ -n $clang_format ]]; then
  if ! found=$("$clang_format" --dry-run "${cpp[@]}" 2>&1); then say "$clang_format: $found"; fi
  while IFS= read -r line; do say "$line"; done < <(
    sed -nE 's/^(.*):[0-9]+:[0-9]+: warning: code should be clang-formatted.*/\1: not laid out by .clang-format/p' <<<"$found" | sort -u)
fi
exit $wrong
