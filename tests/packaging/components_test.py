"""components_test.py ROOT BUILD PACKAGES: the list of components says what SPDX 2.3 asks for, names what the linker was given, and the
script that makes it refuses a file that no package owns."""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

root, build, packages = map(pathlib.Path, sys.argv[1:])
(path,) = packages.glob("*.spdx.json")
document = json.loads(path.read_text())

assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0" and document["SPDXID"] == "SPDXRef-DOCUMENT"
assert re.fullmatch(r"https://[^#]+", document["documentNamespace"])
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"])
ids = [package["SPDXID"] for package in document["packages"]]
assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one) for one in ids)
for relation in document["relationships"]:
    assert relation["spdxElementId"] in ids + ["SPDXRef-DOCUMENT"] and relation["relatedSpdxElement"] in ids
    assert relation["relationshipType"] in ("DESCRIBES", "STATIC_LINK", "CONTAINS")
assert sorted(one["relatedSpdxElement"] for one in document["relationships"]) == sorted(ids)

# Each licence is a known name, or has its text here.
texts = {one["licenseId"]: one["extractedText"] for one in document["hasExtractedLicensingInfos"]}
assert all(texts.values())
known = re.compile(r"(Apache-2\.0|BSD-[23]-Clause|BSL-1\.0|CC0-1\.0|MIT|Zlib|L?GPL-\d\.\d-(only|or-later))")
named = set()
for package in document["packages"]:
    for name in re.findall(r"[^\s()]+", package["licenseDeclared"]):
        named.add(name)
        assert name in ("AND", "OR") or name in texts or known.fullmatch(name), name
assert set(texts) <= named

by_name = {package["name"]: package for package in document["packages"]}
program = by_name["guard"]
sums = {one["algorithm"]: one["checksumValue"] for one in program["checksums"]}
assert sums["SHA256"] == hashlib.sha256((build / "guard").read_bytes()).hexdigest()

# Every archive of the link line whose members were taken, by what dpkg says of it; libraries that are headers only; and nothing of the tests.
linked = re.findall(r"^LOAD (/\S+\.a)$", (build / "guard.map").read_text(errors="replace"), re.M)
taken = [one for one in linked if f"{one}(" in (build / "guard.map").read_text(errors="replace")]
assert len(taken) > 10
for archive in taken:
    if "/../" in archive:
        continue
    owner = subprocess.run(["dpkg", "-S", archive], capture_output=True, text=True).stdout.split(":")[0]
    assert f"{archive} (" in by_name[owner]["sourceInfo"], archive
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", owner], capture_output=True, text=True).stdout
    assert by_name[owner]["versionInfo"] == version
    purl = by_name[owner]["externalRefs"][0]["referenceLocator"]
    assert re.fullmatch(r"pkg:deb/debian/[a-z0-9.%B+-]+@[A-Za-z0-9.:~%_-]+\?arch=(amd64|all)&distro=[a-z]+", purl), purl
for headers_only in ("libboost1.81-dev", "nlohmann-json3-dev", "libcli11-dev"):
    assert headers_only in by_name, headers_only
assert not {"libgtest-dev", "libgmock-dev", "librapidcheck-dev"} & by_name.keys()

# A library that was put beside Debian's ends it.
with tempfile.TemporaryDirectory() as folder:
    stray = pathlib.Path(folder)
    (stray / "init").mkdir()
    (stray / "init/guard-init.map").write_text((build / "init/guard-init.map").read_text(errors="replace"))
    (stray / "guard.map").write_text("Archive member included to satisfy reference by file (symbol)\n\n"
                                     f"{folder}/libstray.a(a.o)\n      main.o (x)\nLOAD {folder}/libstray.a\n")
    (stray / "build.ninja").write_text("")
    refused = subprocess.run([sys.executable, str(root / "packaging/components.py"), folder, folder, "--version", "1", "--epoch", "1"],
                             capture_output=True, text=True)
    assert refused.returncode == 1 and "no package of Debian owns" in refused.stderr and "libstray.a" in refused.stderr, refused
