#!/usr/bin/env bash
# finds_what_is_wrong.sh FOLDER [CLANG_FORMAT]: a tree in FOLDER that breaks each rule of layout.sh once has to be refused for each.
set -euo pipefail
here=$(cd -- "$(dirname -- "$0")" && pwd)
tree=$1/tree
rm -rf -- "$tree"
mkdir -p -- "$tree/common" "$tree/docs"
cp -- "$here/../../.clang-format" "$tree/"
for number in {1..26}; do echo "page $number" >"$tree/docs/page$number.md"; done
printf '// Uses common/missing.h.\nint  badly_laid_out( );\n// %0130d\n' 0 >"$tree/common/wrong.cc"
printf '#include <string>\n#include "common/late.h"\n' >"$tree/common/late.cc"
touch "$tree/common/late.h"
expected=("./common/late.cc: does not include common/late.h first" "./common/late.h: no #pragma once" "./common/wrong.cc:1: names common/missing.h, which does not exist" "./common/wrong.cc:3: over 120 columns"
  "./docs: 26 files; at most 25")
if [[ -n ${2:-} ]]; then expected+=("./common/wrong.cc: not laid out by .clang-format" "./common/late.cc: not laid out by .clang-format"); fi
if found=$(bash "$here/layout.sh" "$tree" "${2:-}"); then echo "nothing was found" && exit 1; fi
diff <(printf '%s\n' "${expected[@]}" | sort) <(sort <<<"$found")
rm "$tree/docs/page26.md" "$tree"/common/late.*
printf 'int laid_out();\n' >"$tree/common/wrong.cc"
bash "$here/layout.sh" "$tree" "${2:-}"
