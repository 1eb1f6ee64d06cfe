#!/usr/bin/env bash
# guard redact beside what is usually written instead of it: ripgrep, a script for node and GNU sed, each replacing what
# the secret kinds' own patterns match in the first megabytes of a log. A peer reads as much as it is worth waiting for;
# one that does not end in time is told by the speed that it had at most.
#
#   bench/redact_peers.sh LOG [GUARD]     LIMIT=60 seconds; GUARD_MB=100 RG_MB=20 NODE_MB=2 SED_MB=1
#
# LOG: what build/bench/bench/tools/redact_log writes. Patterns that a peer's engine refuses are left out and counted,
# which is in its favour; so is that none of them looks at prefixes' neighbours, exceptions or split secrets.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
log=$(realpath "${1:?bench/redact_peers.sh LOG [GUARD]}")
guard=$(realpath "${2:-$here/build/release/guard}")
limit=${LIMIT:-60}
for tool in jq rg node sed /usr/bin/time; do command -v "$tool" >/dev/null || { echo "bench: $tool is missing" >&2; exit 2; }; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for id in $("$guard" rules list --format json | jq -r '.rules[] | select(.tier == "secret") | .id'); do
  "$guard" rules show "$id" --format json | jq -r '.patterns[]'
done >"$work/all"

# Those that an engine takes, one call for each.
accepted() { # NAME COMMAND... with {} for the pattern
  local name=$1 pattern refused=0 status
  shift
  : >"$work/$name.patterns"
  while IFS= read -r pattern; do
    status=0
    "${@//\{\}/$pattern}" </dev/null >/dev/null 2>&1 || status=$?
    if [ "$status" -le 1 ]; then printf '%s\n' "$pattern" >>"$work/$name.patterns"; else refused=$((refused + 1)); fi
  done
  echo "$name: $(wc -l <"$work/$name.patterns") patterns, $refused refused" >&2
}
accepted rg rg --no-unicode -e '{}' <"$work/all"

cat >"$work/redact.mjs" <<'END'
import { readFileSync, writeFileSync } from 'node:fs';
const [patterns, log] = process.argv.slice(2);
let refused = 0;
const kinds = readFileSync(patterns, 'utf8').split('\n').filter(Boolean).flatMap((pattern) => {
  const folded = pattern.startsWith('(?i)');
  try {
    return [new RegExp((folded ? pattern.slice(4) : pattern).replaceAll('\\z', '$'), folded ? 'gi' : 'g')];
  } catch {
    refused += 1;
    return [];
  }
});
console.error(`node: ${kinds.length} patterns, ${refused} refused`);
let text = readFileSync(log, 'latin1');
for (const kind of kinds) text = text.replace(kind, '[REDACTED]');
writeFileSync('/dev/null', text, 'latin1');
END

# As extended regular expressions; inside of brackets these know no escapes.
cat >"$work/to_sed.mjs" <<'END'
import { readFileSync } from 'node:fs';
const classes = { s: ' \t', d: '0-9', w: 'A-Za-z0-9_', t: '\t' };
const inside = (set) => {
  const negated = set.startsWith('^') ? '^' : '';
  let rest = set.slice(negated.length).replace(/\\x([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
  rest = rest.replace(/\\([sdwt])/g, (_, letter) => classes[letter]);
  let bracket = '', backslash = '', dash = '';
  rest = rest.replace(/\\(.)/g, (_, c) => {
    if (c === ']') bracket = ']';
    else if (c === '\\') backslash = '\\';
    else if (c === '-') dash = '-';
    else return c;
    return '';
  });
  const last = rest.endsWith('-') || rest.startsWith('-') ? '-' : dash;
  return `[${negated}${bracket}${rest.replace(/^-|-$/g, '')}${backslash}${last}]`;
};
for (const line of readFileSync(process.argv[2], 'latin1').split('\n').filter(Boolean)) {
  const folded = line.startsWith('(?i)');
  const pattern = (folded ? line.slice(4) : line)
    .replace(/\[(\^?\]?(?:\\.|[^\]\\])*)\]|\\z|\(\?:|\\d|\\x([0-9a-fA-F]{2})/g, (all, set, hex) =>
      set !== undefined ? inside(set) : hex ? String.fromCharCode(parseInt(hex, 16)) : all === '\\z' ? '$' : all === '\\d' ? '[0-9]' : '(');
  process.stdout.write(Buffer.from(`s\x01${pattern}\x01[REDACTED]\x01g${folded ? 'I' : ''}\n`, 'latin1'));
}
END
node "$work/to_sed.mjs" "$work/all" >"$work/sed.all"
LC_ALL=C accepted sed sed -E -e '{}' <"$work/sed.all"

# Megabytes a second of the first MB megabytes; "<" before it if the time was up.
speed() { # NAME MB COMMAND...
  local name=$1 mb=$2 status=0
  shift 2
  head -c "$((mb * 1000000))" "$log" >"$work/log"
  LC_ALL=C /usr/bin/time -o "$work/time" -f '%e' timeout "$limit" "$@" >/dev/null 2>"$work/err" || status=$?
  grep -E '^(node|rg|sed): ' "$work/err" >&2 || true
  case $status in 0 | 124) ;; *) echo "bench: $name failed with $status" >&2; tail -n 3 "$work/err" >&2; exit 1 ;; esac
  awk -v name="$name" -v mb="$mb" -v up="$status" '
    { s = $1 } END { print name, mb / (s > 0.01 ? s : 0.01), (up == 124 ? "<" : "") }' "$work/time" >>"$work/speeds"
}
speed guard "${GUARD_MB:-100}" "$guard" redact "$work/log"
speed rg "${RG_MB:-20}" rg --no-unicode --text --passthru -N --no-filename -r '[REDACTED]' -f "$work/rg.patterns" "$work/log"
speed node "${NODE_MB:-2}" node "$work/redact.mjs" "$work/all" "$work/log"
speed sed "${SED_MB:-1}" sed -E -f "$work/sed.patterns" "$work/log"
awk '$1 == "guard" { ours = $2 }
  { printf "%-6s %1s%9.2f MB/s   guard: %s%.1f times\n", $1, $3, $2, $3 == "<" ? "more than " : "", ours / $2 }' "$work/speeds"
