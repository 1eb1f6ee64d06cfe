#!/usr/bin/env bash
# image.sh PACKAGES GUARD: the container image, loaded into an engine of docker's or podman's: a check without any engine, and the example's
# tests in a container of the engine whose socket is passed in.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
packages=$1
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
archive=$(echo "$packages"/guard-*-image.tar)
[[ -n ${GUARD_TEST_DOCKER_SOCKET:-} ]] || skip GUARD_TEST_REQUIRE_DOCKER "GUARD_TEST_DOCKER_SOCKET is not set"
[[ -n ${GUARD_BUN:-} ]] || skip GUARD_TEST_REQUIRE_DOCKER "GUARD_BUN is not set"
guard=$2

work=$(mktemp -d)
chmod 755 "$work"
image=
trap 'if [[ -n $image ]]; then docker image rm --force "$image" >/dev/null; fi; rm -rf -- "$work"' EXIT
cp -r -- "$here/../../examples/calculator" "$work/example"
project=$work/example
socket=$GUARD_TEST_DOCKER_SOCKET
export DOCKER_HOST=unix://$socket
own=(--rm --network none --user "$(id -u):$(id -g)" --volume "$project:$project:ro" --workdir "$project")

expect 0 docker load --input "$archive"
image=${said#Loaded image: }
expect 0 docker run "${own[@]}" "$image" check sandbox/
expect 1 docker run "${own[@]}" "$image" check refused/always.test.ts
expect 3 docker run "${own[@]}" "$image" doctor
says "bubblewrap is not installed"

# What the tests run on comes from the machine: bun does not start in an image that holds guard alone.
mkdir "$work/cache" "$work/own"
chmod 711 "$work/cache"
expect 0 env GUARD_CACHE_DIR="$work/cache" "$guard" image build --project "$project"
runner=$(sed -nE 's/^image: +([^ ]+) .*/\1/p' <<<"$said")
expect 0 docker run "${own[@]}" --group-add "$(stat -c %g "$socket")" --volume "$socket:/var/run/docker.sock" \
  --volume "$work/own:$work/own" --env GUARD_CACHE_DIR="$work/own" "$image" run --image "$runner" sandbox/calculator.test.ts
says "verdict: allowed"

# As its own user, who is nobody in particular.
expect 0 docker run --rm --network none --volume "$project:$project:ro" --workdir "$project" "$image" check sandbox/

if [[ -n ${GUARD_TEST_PODMAN_SOCKET:-} ]]; then
  podman=(podman --remote --url "unix://$GUARD_TEST_PODMAN_SOCKET")
  expect 0 "${podman[@]}" load --input "$archive"
  expect 0 "${podman[@]}" image inspect --format '{{.Config.Entrypoint}} {{.Config.User}}' "localhost/$image"
  says "/usr/bin/guard"
  "${podman[@]}" image rm "localhost/$image" >/dev/null
fi
