#!/usr/bin/env bash
# Writes the shipped rules' own patterns, one a line, to standard output: what `rg -f` is given to do the same work without views.
# Those that ripgrep's engine refuses are counted and left out.
#
#   bench/rg_patterns.sh [GUARD] >patterns
set -euo pipefail
guard=${1:-build/release/guard}
refused=0
usable=0
for id in $("$guard" rules list --format json | jq -r '.rules[] | select(.tier != "secret") | .id'); do
  while IFS= read -r pattern; do
    status=0
    rg --no-unicode -e "$pattern" /dev/null >/dev/null 2>&1 || status=$?
    if [ "$status" -le 1 ]; then
      printf '%s\n' "$pattern"
      usable=$((usable + 1))
    else
      refused=$((refused + 1))
    fi
  done < <("$guard" rules show "$id" --format json | jq -r '.patterns[]')
done
echo "rg: $usable patterns, $refused refused" >&2
