#!/usr/bin/env bash
# files.sh FOLDER: adds to what was installed below FOLDER what only the package for Debian has. ../package.sh exports what it needs.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
root=$1
: "${components:?run ./dev package, which sets what is needed here}"
doc=$root/usr/share/doc/guard

gzip -9n -- "$root/usr/share/man/man1/guard.1"

mkdir -p -- "$doc" "$root/usr/share/lintian/overrides" "$root/usr/share/guard" "$root/usr/lib/systemd/user"
cp -- "$components/copyright" "$doc/copyright"
for text in NOTICES guard.spdx.json; do gzip -9n <"$components/$text" >"$doc/$text.gz"; done
gzip -9n >"$doc/changelog.gz" <<END
guard ($version) unstable; urgency=medium

  * A release of guard; CHANGELOG.md in its sources says what is new.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
git -C ../.. -c tar.umask=0022 archive HEAD examples/calculator | tar -x -C "$doc"
cp -- lintian-overrides "$root/usr/share/lintian/overrides/guard"
# Not yet where AppArmor reads it: postinst copies it there if that AppArmor knows the words.
cp -- apparmor "$root/usr/share/guard/apparmor"

# The units that `guard serve install` writes, for whoever enables them: %h is the user's home, the socket makes guard's state folder,
# and systemd its cache. Their first lines speak of that verb.
home=/of-the-user
units=$root/usr/lib/systemd/user
env -i HOME="$home" PATH=/usr/local/bin:/usr/bin:/bin GUARD_STATE_DIR="$home/.local/state/guard" GUARD_CACHE_DIR="$home/.cache/guard" \
  "$root/usr/bin/guard" serve install --print --project / |
  sed -e "/^# Written by/d; /^# Changes belong/d; /^# Digest of/d; s,$root/usr/bin/guard,/usr/bin/guard,; s, \"--project\" \"/\",," \
    -e "s,^\(ReadWritePaths=.*\) \"$home/.cache/guard\",\1\nCacheDirectory=guard," \
    -e "s,^# Not PrivateTmp: .*,PrivateTmp=yes," -e "s,$home/.cache/guard,%C/guard,g; s,$home,%h,g" |
  awk -v folder="$units" '/^# .*\/guard-serve\.(socket|service)$/ { sub(/.*\//, ""); file = folder "/" $0; next }
    NF || written[file] { print >file; written[file] = 1 }'
# The words that were replaced must have been there.
grep -q '^ExecStart=":/usr/bin/guard" "serve"' "$units/guard-serve.service"
grep -q '^CacheDirectory=guard$' "$units/guard-serve.service"
grep -q '^PrivateTmp=yes$' "$units/guard-serve.service"  # whether or not this is being packed in /tmp
grep -q '^ListenStream=%h/.local/state/guard/sessions/socket$' "$units/guard-serve.socket"
if grep -qF -e "$home" -e "$root" "$units"/*; then exit 1; fi
