#!/usr/bin/env bash
# package.sh BUILD OUT: packs the program of the folder BUILD into OUT in every form, and says what was made.
#
# The same program, commit and packages of Debian give the same bytes: times are the commit's (SOURCE_DATE_EPOCH), names are sorted,
# owners are 0, modes are ours.
set -euo pipefail
export LC_ALL=C.UTF-8 TZ=UTC
umask 022
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
build=$(cd -- "$1" && pwd -P)
npm_name=guard-ts
image_name=guard

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

die() {
  printf 'package: %s\n' "$*" >&2
  exit 1
}

[[ -x $build/guard ]] || die "$build/guard is not built"
[[ $(uname -m) == x86_64 ]] || die "the packages are for x86-64, and this is $(uname -m)"
! readelf -l "$build/guard" | grep -q 'INTERP' || die "$build/guard is not linked statically: use the preset release"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct)}
version=$(cached CMAKE_PROJECT_VERSION)
maintainer=$(cached GUARD_MAINTAINER)
platform=$npm_name-linux-x64

mkdir -p -- "$2"
out=$(cd -- "$2" && pwd -P)
work=$(mktemp -d -- "$out/.work.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
find "$out" -maxdepth 1 -type f -delete

# archive FOLDER NAME FILE: NAME, below FOLDER, as FILE.
archive() {
  tar --create --directory "$1" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --mode=u=rwX,go=rX "$2" | gzip -n >"$out/$3"
}

# filled FILE: with our names in place of @name@ and its like.
filled() { sed "s/@name@/$npm_name/g; s/@platform@/$platform/g; s/@version@/$version/g" "$here/npm/$1"; }

components=$work/components
mkdir -- "$components"
python3 "$here/components.py" "$build" "$components" --version "$version" --epoch "$SOURCE_DATE_EPOCH"
cp -- "$components/guard.spdx.json" "$out/guard-$version.spdx.json"

# ---- an archive of what is installed ----
folder=guard-$version-linux-x86_64
cmake --install "$build" --prefix "$work/tar/$folder" >/dev/null
cp -- "$here/../LICENSE" "$here/../README.md" "$here/../CHANGELOG.md" "$components/guard.spdx.json" "$work/tar/$folder/"
gzip -9n <"$components/NOTICES" >"$work/tar/$folder/NOTICES.gz"
git -C "$here/.." -c tar.umask=0022 archive HEAD examples/calculator | tar -x -C "$work/tar/$folder"
archive "$work/tar" "$folder" "$folder.tar.gz"

# ---- npm: a package with the launcher, and one with the program ----
npm=$work/npm
mkdir -p -- "$npm/main/package/bin" "$npm/platform/package/bin"
common='"version": "'$version'", "license": "Apache-2.0", "preferUnplugged": true'
cat >"$npm/main/package/package.json" <<END
{
  "name": "$npm_name", $common,
  "description": "Checks and runs machine-written TypeScript in a sandbox",
  "bin": { "guard": "bin/guard" },
  "optionalDependencies": { "$platform": "$version" }
}
END
cat >"$npm/platform/package/package.json" <<END
{
  "name": "$platform", $common,
  "description": "The program of $npm_name for Linux x86-64",
  "os": ["linux"],
  "cpu": ["x64"]
}
END
filled guard >"$npm/main/package/bin/guard"
filled README.md >"$npm/main/package/README.md"
chmod 755 -- "$npm/main/package/bin/guard"
cp -- "$build/guard" "$npm/platform/package/bin/guard"
echo "The program of the package $npm_name, which starts it." >"$npm/platform/package/README.md"
gzip -9n <"$components/NOTICES" >"$npm/platform/package/NOTICES.gz"
for part in main platform; do cp -- "$here/../LICENSE" "$npm/$part/package/LICENSE"; done
archive "$npm/main" package "$npm_name-$version.tgz"
archive "$npm/platform" package "$platform-$version.tgz"

# ---- a container image ----
gzip -9n <"$components/NOTICES" >"$work/NOTICES.gz"
python3 "$here/image.py" "$image_name" "$version" "$SOURCE_DATE_EPOCH" "$out/guard-$version-image.tar" \
  "/usr/bin/guard=$build/guard" "/usr/share/doc/guard/LICENSE=$here/../LICENSE" "/usr/share/doc/guard/NOTICES.gz=$work/NOTICES.gz"

# ---- Debian ----
export components version maintainer
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/deb" >"$work/cpack.log" 2>&1 || { cat -- "$work/cpack.log" >&2; exit 1; }
mv -- "$work"/deb/*.deb "$out/"

(cd -- "$out" && sha256sum -- * >"$work/sums" && mv -- "$work/sums" SHA256SUMS && ls -l --block-size=1 -- *)
echo; python3 "$here/sizes.py" "$build/guard.map"
