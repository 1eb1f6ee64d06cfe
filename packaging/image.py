#!/usr/bin/env python3
"""A container image of guard, from nothing: the archive that `docker load` and `podman load` take, without an engine.

image.py NAME VERSION EPOCH OUT PATH=FILE...: the same input gives the same bytes.
"""
import gzip
import hashlib
import io
import json
import sys
import datetime
import tarfile

USER = 1000


def add(archive, name, data=None, mode=0o644, mtime=0):
    entry = tarfile.TarInfo(name)
    entry.mtime = mtime
    entry.mode = mode
    if data is None:
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    else:
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))


def layer_of(files, mtime):
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        folders = {"tmp": 0o1777}
        for name in files:
            parts = name.split("/")[:-1]
            folders.update({"/".join(parts[: n + 1]): 0o755 for n in range(len(parts))})
        for folder in sorted(folders):
            add(archive, folder, mode=folders[folder], mtime=mtime)
        for name, (data, mode) in sorted(files.items()):
            add(archive, name, data, mode, mtime)
    return layer.getvalue()


def main():
    name, version, epoch, out, *pairs = sys.argv[1:]
    epoch = int(epoch)
    # User names for programs that ask; who starts the container says with --user which one it is.
    files = {"etc/passwd": (f"root:x:0:0::/:/usr/bin/guard\nguard:x:{USER}:{USER}::/tmp:/usr/bin/guard\n".encode(), 0o644),
             "etc/group": (f"root:x:0:\nguard:x:{USER}:\n".encode(), 0o644)}
    for pair in pairs:
        path, _, source = pair.partition("=")
        with open(source, "rb") as file:
            files[path.lstrip("/")] = (file.read(), 0o755 if "/bin/" in path else 0o644)
    layer = layer_of(files, epoch)
    layer_id = hashlib.sha256(layer).hexdigest()
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = json.dumps({
        "architecture": "amd64", "os": "linux", "created": created,
        "config": {"Entrypoint": ["/usr/bin/guard"], "Cmd": ["--help"], "User": f"{USER}:{USER}", "WorkingDir": "/tmp",
                   "Env": ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp"],
                   "Labels": {"org.opencontainers.image.title": "guard", "org.opencontainers.image.version": version,
                              "org.opencontainers.image.licenses": "Apache-2.0"}},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_id}"]},
        "history": [{"created": created, "created_by": "packaging/image.py"}]}, sort_keys=True).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = json.dumps([{"Config": config_name, "RepoTags": [f"{name}:{version}"], "Layers": [f"{layer_id}/layer.tar"]}]).encode()
    with tarfile.open(out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        add(archive, config_name, config, mtime=epoch)
        add(archive, layer_id, mode=0o755, mtime=epoch)
        # Packed within: podman takes no archive that is packed as a whole.
        add(archive, f"{layer_id}/layer.tar", gzip.compress(layer, compresslevel=6, mtime=0), mtime=epoch)
        add(archive, "manifest.json", manifest, mtime=epoch)


main()
