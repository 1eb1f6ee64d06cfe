#!/usr/bin/env bash
# artefacts.sh ROOT BUILD PACKAGES: packs the program twice into the same bytes (the second time elsewhere, at another hour, with
# another umask), and looks into what came of it.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
root=$1 build=$2 packages=$3
again=$(mktemp -d)
trap 'rm -rf -- "$again"' EXIT

bash "$root/packaging/package.sh" "$build" "$packages" >/dev/null
(cd / && umask 077 && TZ=Pacific/Auckland bash "$root/packaging/package.sh" "$build" "$again" >/dev/null)
diff -r "$packages" "$again" || fail "two runs give two results"
(cd "$packages" && sha256sum --check --quiet SHA256SUMS && [[ $(wc -l <SHA256SUMS) == $(($(ls | wc -l) - 1)) ]]) || fail "SHA256SUMS"

# Every file belongs to root, has the commit's time, and is readable by everybody.
epoch=$(git -C "$root" log -1 --format=%ct)
for archive in "$packages"/*.tar.gz "$packages"/*.tgz "$packages"/*.tar; do
  lines=$(TZ=UTC tar --numeric-owner --full-time -tvf "$archive")
  if grep -v " 0/0 .* $(date -u -d "@$epoch" '+%Y-%m-%d %H:%M:%S') " <<<"$lines"; then fail "$archive"; fi
  if grep -vE '^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|drwxrwxrwt) ' <<<"$lines"; then fail "$archive: modes"; fi
done

# The archive is guard with manual and completions.
tar -xzf "$packages"/guard-*-linux-x86_64.tar.gz -C "$again" --strip-components=1
expect 0 "$again/bin/guard" --version
cmp "$again/bin/guard" "$build/guard"
for file in share/man/man1/guard.1 share/bash-completion/completions/guard share/zsh/site-functions/_guard LICENSE NOTICES.gz; do
  [[ -s $again/$file ]] || fail "the archive has no $file"
done

# The units are systemd's words, where there is a systemd to ask.
mkdir "$again/deb"
dpkg-deb -R "$packages"/*.deb "$again/deb"
if command -v systemd-analyze >/dev/null; then
  sed -i "s,/usr/bin/guard,$build/guard," "$again"/deb/usr/lib/systemd/user/*.service
  mkdir "$again/runtime"
  said=$(XDG_RUNTIME_DIR=$again/runtime HOME=$again systemd-analyze verify --user "$again"/deb/usr/lib/systemd/user/guard-serve.{socket,service} 2>&1 |
    grep guard-serve || true)
  [[ -z $said ]] || fail "systemd-analyze: $said"
fi

python3 "$root/tests/packaging/components_test.py" "$root" "$build" "$packages"
