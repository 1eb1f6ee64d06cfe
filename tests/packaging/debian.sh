#!/usr/bin/env bash
# debian.sh PACKAGES: the package for Debian in a fresh root of this Debian, from this machine's own sources: installed by apt, the
# example's tests in the embedded sandbox, removed and purged. lintian reads it first, where there is one.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
packages=$1
deb=$(echo "$packages"/guard_*_amd64.deb)

if command -v lintian >/dev/null; then
  expect 0 lintian --fail-on error,warning --allow-root "$deb"
  [[ -z $said ]] || fail "lintian: $said"
fi
[[ $(id -u) == 0 ]] || skip GUARD_TEST_REQUIRE_DEBIAN_ROOT "it takes root"
command -v mmdebstrap >/dev/null || skip GUARD_TEST_REQUIRE_DEBIAN_ROOT "mmdebstrap is not installed"
[[ -n ${GUARD_BUN:-} ]] || skip GUARD_TEST_REQUIRE_DEBIAN_ROOT "GUARD_BUN is not set"

# In memory, and so gone with this process's mounts: half the time of installing is waiting for a disk.
if [[ -z ${GUARD_TEST_OWN_MOUNTS:-} ]]; then
  work=$(mktemp -d)
  trap 'rmdir -- "$work"' EXIT
  GUARD_TEST_OWN_MOUNTS=$work unshare --mount --propagation private bash "$0" "$@"
  exit
fi
work=$GUARD_TEST_OWN_MOUNTS
mount -t tmpfs -o mode=755 tests "$work"
root=$work/root
mapfile -t sources < <(ls /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null)
mmdebstrap --variant=apt --include=bubblewrap --format=directory --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt=force-unsafe-io "" "$root" "${sources[@]}" 2>"$work/log" ||
  { cat "$work/log"; fail "mmdebstrap"; }

# Not chroot: the kernel makes no user namespace for who was moved there. Processes and mounts end with the command.
inside() {
  unshare --mount --pid --fork --kill-child --propagation private sh -c '
    root=$1; shift
    mount --bind "$root" "$root" && cd "$root" && mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys &&
      mkdir -p old && pivot_root . old && old/bin/umount -l old && rmdir old || exit 99
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
      ${SSL_CERT_FILE:+SSL_CERT_FILE=/root/authorities.pem NODE_EXTRA_CA_CERTS=/root/authorities.pem} GUARD_TRUST_NAMESPACE=true sh -c "cd /; $*"' sh "$root" "$@"
}
listed() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./sys -o -path ./tmp \) -prune -o -print | sort); }

cp -- "$deb" "$root/tmp/guard.deb"
cp -L -- "$GUARD_BUN" "$root/usr/local/bin/bun"
# Where this machine has a way of its own to the npm registry.
[[ ! -e ${SSL_CERT_FILE:-} ]] || cp -L -- "$SSL_CERT_FILE" "$root/root/authorities.pem"
listed >"$work/before"

# Without git, which half of a Debian would come with.
[[ $(dpkg-deb -f "$deb" Recommends) == "bubblewrap, git" ]] || fail "another Recommends"
expect 0 inside apt-get -q -y install --no-install-recommends /tmp/guard.deb
says "Setting up guard"
expect 0 inside guard --version
# Debian 12's parser of AppArmor could not read the profile.
[[ -e $root/etc/apparmor.d/abi/4.0 || ! -e $root/etc/apparmor.d/guard ]] || fail "there is a profile that AppArmor can't read"
expect 3 inside 'cp -r /usr/share/doc/guard/examples/calculator /root/example; cd /root/example && guard doctor'
says "namespace      available"
expect 0 inside 'cd /root/example && guard image build --root-folder && guard run --backend namespace sandbox/*.test.ts'
says "verdict: allowed"
expect 0 inside 'zcat /usr/share/man/man1/guard.1.gz'
says ".TH"

expect 0 inside dpkg --purge guard
listed | comm -13 "$work/before" - | grep -v -e '^\./root/' -e '^\./run/' -e '^\./var/[a-z]*/apt/' -e '^\./var/log/' >"$work/left" || true
[[ ! -s $work/left ]] || fail "left after the purge: $(cat "$work/left")"
